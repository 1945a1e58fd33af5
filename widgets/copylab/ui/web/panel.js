// A place for what Python shows: HTML that is swapped without losing the focus, and a live region that stays.

/**
 * Note what is open, scrolled and focused below `root`, by the names in data-keep. Returns a function that restores it
 * after the content was exchanged.
 */
function saveViewState(root) {
  const states = [...root.querySelectorAll("[data-keep]")].map((element) => ({
    name: element.dataset.keep,
    isOpen: element.open,
    left: element.scrollLeft,
    top: element.scrollTop,
  }));
  const focused = document.activeElement.closest("[data-keep]");
  const focusedName = root.contains(focused) && focused.dataset.keep;
  return () => {
    for (const { name, isOpen, left, top } of states) {
      const element = root.querySelector(`[data-keep="${CSS.escape(name)}"]`);
      if (!element) continue;
      element.open = isOpen;
      element.scrollTo(left, top);
      if (name === focusedName) (element.querySelector(":scope > summary") ?? element).focus({ preventScroll: true });
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

/** Make the elements of a panel: its content, and a live region, which stays when the content is exchanged. */
function makePanel() {
  const root = document.createElement("div");
  const body = document.createElement("div");
  const status = document.createElement("div");
  root.className = "cl-panel";
  status.className = "cl-only-heard";
  status.setAttribute("role", "status");
  status.setAttribute("aria-live", "polite");
  root.append(body, status);
  return { root, body, status };
}

function render({ model, el }) {
  const { root, body, status } = makePanel();
  const lost = document.createElement("p");
  lost.className = "cl-lost";
  lost.setAttribute("role", "alert");
  let isLost = false;
  root.addEventListener("click", ({ target }) => {
    // A name in a button is an element of its own.
    const action = target.closest("[data-do]")?.dataset.do;
    if (!action) return;
    if (!isLost) return model.send({ do: action });
    // Said above the view, too, which may be off the screen.
    root.append(lost);
    lost.textContent = say("The kernel is gone: run the imports at the top, then this cell.");
  });
  model.on("comm_live_update", function () {
    // `this` is the view.
    isLost = this?.model?.comm_live === false;
    if (!isLost) lost.remove();
  });
  el.append(root);
  const showTrait = {
    html(html) {
      const restoreViewState = saveViewState(body);
      body.innerHTML = html;
      root.hidden = !html;
      restoreViewState();
    },
    says(text) {
      status.textContent = text;
    },
    label(name) {
      if (!name) return;
      root.setAttribute("role", "group");
      root.setAttribute("aria-label", name);
    },
  };
  const listeners = Object.entries(showTrait).map(([name, show]) => [`change:${name}`, () => show(model.get(name))]);
  for (const [event, listener] of listeners) {
    listener();
    model.on(event, listener);
  }
  return () => listeners.forEach(([event, listener]) => model.off(event, listener));
}
