// A place for what Python shows: HTML that is swapped without losing the focus, and a live region that stays.

/** Where the focus and the scrolling are below `root`, so that both survive a swap of its content. */
function keep(root) {
  const focused = root.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = [...root.querySelectorAll("[id]")].filter((e) => e.scrollTop || e.scrollLeft);
  const places = scrolled.map((e) => [e.id, e.scrollLeft, e.scrollTop]);
  const details = [...root.querySelectorAll("details[id]")].map((e) => [e.id, e.open]);
  const find = (id) => root.querySelector(`#${CSS.escape(id)}`);
  return () => {
    for (const [id, open] of details) if (find(id)) find(id).open = open;
    for (const [id, left, top] of places) find(id)?.scrollTo(left, top);
    if (focused) find(focused)?.focus({ preventScroll: true });
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
  el.append(root);
  const draw = () => {
    const restore = keep(body);
    body.innerHTML = model.get("html");
    root.hidden = !model.get("html");
    restore();
  };
  const speak = () => {
    says.textContent = model.get("says");
  };
  const name = () => {
    if (model.get("label")) {
      root.setAttribute("role", "group");
      root.setAttribute("aria-label", model.get("label"));
    }
  };
  draw();
  speak();
  name();
  model.on("change:html", draw);
  model.on("change:says", speak);
  model.on("change:label", name);
  return () => {
    model.off("change:html", draw);
    model.off("change:says", speak);
    model.off("change:label", name);
  };
}
