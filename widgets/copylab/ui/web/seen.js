/**
 * Call `act` on a static form: at once, or for the static twin of a live view, which is hidden while that view is there,
 * when it is first seen.
 */
function whenSeen(root, act) {
  if (!root.closest(".copylab-twin")) return act();
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    act();
  });
  // A live view takes a moment to appear.
  setTimeout(() => watcher.observe(root), 1000);
}
