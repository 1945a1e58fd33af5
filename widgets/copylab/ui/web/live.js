// What stands at the end of a widget's script, and not of a page's: render(), and the view is told when the kernel is gone.
export default {
  render(given) {
    const { model, el } = given;
    const lang = "";
    if (lang) el.lang = lang;
    // ipywidgets marks its own views so, but not those of anywidget; `this` is the view.
    model.on("comm_live_update", function () {
      el.classList.toggle("jupyter-widgets-disconnected", this?.model?.comm_live === false);
    });
    return render(given);
  },
};
