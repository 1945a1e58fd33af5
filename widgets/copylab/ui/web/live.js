// The end of a widget's script, which a page does not have: what anywidget calls. The script before it defines
// render().
export default {
  render(context) {
    const { model, el } = context;
    if (FROM_PYTHON.language) el.lang = FROM_PYTHON.language;
    // The prose around a view is of the same language, and is laid out by panel.css, too. Not in the page as yet: later.
    requestAnimationFrame(() => el.closest(".jp-Notebook")?.classList.toggle("copylab-ko", el.lang === "ko"));
    // In a shadow tree (marimo) the selectors for the page's theme match nothing: see _VIEW_HOST in ui/theme.py.
    el.dataset.theme = getComputedStyle(document.body).colorScheme;
    // ipywidgets gives its own views this class when the kernel is gone, but not those of anywidget.
    model.on("comm_live_update", function () {
      // `this` is the view.
      el.classList.toggle("jupyter-widgets-disconnected", this?.model?.comm_live === false);
    });
    addSheetOnce(el.getRootNode(), model.get("sheet"));
    // The window keeps one listener, however often it is given.
    window.addEventListener("keydown", leaveRunKeyToJupyter, true);
    return render(context);
  },
};

/**
 * Put a style sheet into the page, or into the shadow tree of a view, unless it is there.
 *
 * Not by anywidget's `_css`: that sets it anew for each model, after which the browser styles the whole page anew.
 */
function addSheetOnce(root, text) {
  const parent = root instanceof ShadowRoot ? root : document.head;
  if ([...parent.querySelectorAll("style.cl-sheet")].some((sheet) => sheet.textContent === text)) return;
  const sheet = document.createElement("style");
  sheet.className = "cl-sheet";
  sheet.textContent = text;
  parent.append(sheet);
}

/**
 * Let Shift+Enter run the cell and go on to the next one, also while a part of a widget has the focus.
 *
 * Widgets keep JupyterLab's other keys from it, by an attribute of what has the focus. It asks for that attribute after
 * this listener, which is on the window. In a field for code the key runs that code.
 */
function leaveRunKeyToJupyter({ key, shiftKey, isComposing, target }) {
  const attribute = "data-lm-suppress-shortcuts";
  const isOfWidget = target.getAttribute?.(attribute) === "true" && !target.matches("textarea");
  if (key !== "Enter" || !shiftKey || isComposing || !isOfWidget) return;
  target.removeAttribute(attribute);
  setTimeout(() => target.setAttribute(attribute, "true"));
}
