// A place for what Python shows: HTML that is swapped without losing the focus, and a live region that stays.

/** What is open, scrolled and focused below `root`, by the names in data-keep, so that it survives a swap of its content. */
function keep(root) {
  const kept = [...root.querySelectorAll("[data-keep]")].map((e) => [e.dataset.keep, e.open, e.scrollLeft, e.scrollTop]);
  const at = document.activeElement.closest("[data-keep]");
  const focused = root.contains(at) && at.dataset.keep;
  return () => {
    for (const [name, open, left, top] of kept) {
      const now = root.querySelector(`[data-keep="${CSS.escape(name)}"]`);
      if (!now) continue;
      now.open = open;
      now.scrollTo(left, top);
      if (name === focused) (now.querySelector(":scope > summary") ?? now).focus({ preventScroll: true });
    }
  };
}

// JupyterLab takes Enter, the arrows and letters for itself unless what has the focus says that it wants them.
const once = Symbol.for("copylab.panel.keys");
if (!window[once]) {
  window[once] = true;
  window.addEventListener("focusin", (event) => {
    // The element itself is asked before those around it.
    if (event.target.closest?.(".cl-live")) event.target.setAttribute("data-lm-suppress-shortcuts", "true");
  });
}

function render({ model, el }) {
  const root = document.createElement("div");
  const body = document.createElement("div");
  const says = document.createElement("div");
  root.className = "cl-panel";
  says.className = "cl-only-heard";
  says.setAttribute("role", "status");
  says.setAttribute("aria-live", "polite");
  root.append(body, says);
  root.addEventListener("click", ({ target }) => target.dataset.do && model.send({ do: target.dataset.do }));
  el.append(root);
  const shows = {
    html(html) {
      const restore = keep(body);
      body.innerHTML = html;
      root.hidden = !html;
      restore();
    },
    says(text) {
      says.textContent = text;
    },
    label(name) {
      if (name) root.setAttribute("role", "group");
      if (name) root.setAttribute("aria-label", name);
    },
  };
  const follow = Object.entries(shows).map(([name, show]) => [`change:${name}`, () => show(model.get(name))]);
  for (const [change, show] of follow) {
    show();
    model.on(change, show);
  }
  return () => follow.forEach(([change, show]) => model.off(change, show));
}
