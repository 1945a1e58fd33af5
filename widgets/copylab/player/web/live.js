// What stands at the end of the player's script when it is a widget's: the page is told when the kernel is gone.
export default {
  render(given) {
    const { model, el } = given;
    // ipywidgets marks its own views so, but not those of anywidget; `this` is the view.
    model.on("comm_live_update", function () {
      el.classList.toggle("jupyter-widgets-disconnected", this?.model?.comm_live === false);
    });
    return render(given);
  },
};
