// The end of a widget's script, which a page does not have: what anywidget calls. The script before it defines
// render().
export default {
  render(context) {
    const { model, el } = context;
    if (FROM_PYTHON.language) el.lang = FROM_PYTHON.language;
    // In a shadow tree (marimo) the selectors for the page's theme match nothing: see _VIEW_HOST in ui/theme.py.
    el.dataset.theme = getComputedStyle(document.body).colorScheme;
    // ipywidgets gives its own views this class when the kernel is gone, but not those of anywidget.
    model.on("comm_live_update", function () {
      // `this` is the view.
      el.classList.toggle("jupyter-widgets-disconnected", this?.model?.comm_live === false);
    });
    addSheetOnce(el.getRootNode(), model.get("sheet"));
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
