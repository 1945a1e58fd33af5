// What stands at the end of a widget's script, and not of a page's: render(), and the view is told when the kernel is gone.
export default {
  render(given) {
    const { model, el } = given;
    const lang = "";
    if (lang) el.lang = lang;
    // A view in a shadow tree (marimo) sees nothing of what the page says of its theme.
    el.dataset.theme = getComputedStyle(document.body).colorScheme;
    // ipywidgets marks its own views so, but not those of anywidget; `this` is the view.
    model.on("comm_live_update", function () {
      el.classList.toggle("jupyter-widgets-disconnected", this?.model?.comm_live === false);
    });
    // anywidget would set `_css` anew for each model, after which the browser styles the whole page anew.
    const root = el.getRootNode();
    const home = root instanceof ShadowRoot ? root : document.head;
    const text = model.get("sheet");
    if (![...home.querySelectorAll("style.cl-sheet")].some((sheet) => sheet.textContent === text)) {
      const sheet = document.createElement("style");
      sheet.className = "cl-sheet";
      sheet.textContent = text;
      home.append(sheet);
    }
    return render(given);
  },
};
