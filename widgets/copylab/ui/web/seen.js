/** Do something to a static form at once; to the twin of a live view, hidden while that is there, when it comes to be seen. */
function whenSeen(root, act) {
  if (!root.closest(".copylab-twin")) return act();
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    act();
  });
  setTimeout(() => watcher.observe(root), 1000); // a live view takes a moment to appear
}
