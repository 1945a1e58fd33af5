"""The controls of a CopyLab: stock widgets that share their layouts.

Each layout and each style is a model of its own in the kernel and in the page. Shared, they make a
lab of at most 34 models, all of which are freed when it is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import ipywidgets
from ipywidgets.widgets.widget_description import DescriptionStyle

from ..copying import Source
from ..wording import current_language, gettext, gettext_noop, join_sentences

KINDS = {
    gettext_noop("a leaf"): "leaf",
    gettext_noop("a result"): "result",
    gettext_noop("without grad"): "plain",
}
SHAPES = {
    gettext_noop("one number ()"): (),
    gettext_noop("three numbers (3,)"): (3,),
    gettext_noop("two rows (2, 3)"): (2, 3),
}
DTYPES = ("float32", "float64", "int64", "bool")
GIVEN = "given"
"""The kind that is chosen for the tensor or source that a CopyLab was given."""
WRITES: Mapping[str, str] = {
    "in place": "{name}.add_(10)",
    ".data": "{name}.data.add_(10)",
    "NumPy": "{name}.detach().numpy()[...] += 10",
    "no_grad": "with torch.no_grad():\n    {name}.add_(10)",
}
"""Ways to write into a tensor, by the name that `CopyLab.write` takes."""
_WAYS = {
    gettext_noop("in place"): "in place",
    gettext_noop("through .data"): ".data",
    gettext_noop("through NumPy"): "NumPy",
    gettext_noop("under no_grad"): "no_grad",
}
"""The same ways, each as it is offered: it ends the sentence of its label."""


class ButtonText(NamedTuple):
    """What a button says.

    label: on the button. tooltip: what it does; `{name}` is the tensor's, `{code}` computes a loss.
    """

    label: str
    tooltip: str


_WRITE = gettext_noop("Write into the memory of {name}, in the way chosen under “More choices”")
_LOSS = gettext_noop("Compute {code}")
# A key is a method of CopyLab and, after a space, the name of the tensor that it acts on.
_ACTIONS = {
    "write x": ButtonText(gettext_noop("Write through x"), _WRITE),
    "write y": ButtonText(gettext_noop("Write through y"), _WRITE),
    "loss x": ButtonText(gettext_noop("Loss from x"), _LOSS),
    "loss y": ButtonText(gettext_noop("Loss from y"), _LOSS),
    "backward": ButtonText(gettext_noop("Backward"), gettext_noop("Call loss.backward()")),
    "undo": ButtonText(gettext_noop("Undo"), gettext_noop("Take the last action back")),
    "start_over": ButtonText(gettext_noop("Start over"), gettext_noop("Take all actions back")),
    "take_anew": ButtonText(gettext_noop("Take x anew"), gettext_noop("Look at your tensor again")),
}
_MORE_ACTIONS = {
    "clear": ButtonText(gettext_noop("Clear grads"), gettext_noop("Set every .grad to None")),
    "track": ButtonText(gettext_noop("y.requires_grad_()"), gettext_noop("Ask y to require grad")),
}


class Controls:
    """The box with two rows of controls, and a third for those who ask for more choices.

    act: called with the key of a button that was clicked.
    choose: called with the name of a choice and its new value.
    methods: the names of the copy methods that are offered.
    given_label: what the tensor or source that the lab was given is called; empty if there is none.
    can_read_again: True if that was a tensor, which the button `take_anew` reads again.
    """

    def __init__(
        self,
        act: Callable[[str], None],
        choose: Callable[[str, Any], None],
        methods: Iterable[str],
        given_label: str,
        *,
        can_read_again: bool,
    ) -> None:
        self._act = act
        self._choose = choose
        self._is_showing = False
        # Stock buttons are 148 px wide and cut longer words.
        self._tight = ipywidgets.Layout(width="auto", height="auto", margin="0")
        # Else a label has 80 px, whatever it says.
        self._label_style = DescriptionStyle(description_width="initial")
        self._button_style = ipywidgets.ButtonStyle()
        kinds = {given_label: GIVEN} if given_label else {}
        kinds |= {gettext(label): kind for label, kind in KINDS.items()}
        shapes = {gettext(label): shape for label, shape in SHAPES.items()}
        ways = {gettext(label): way for label, way in _WAYS.items()}
        # Labels and values are read as one sentence, from left to right.
        self.method = self._make_dropdown(gettext("Copy x with"), {name: name for name in methods})
        self.kind = self._make_dropdown(gettext("where x is"), kinds)
        self.shape = self._make_dropdown(gettext("made of"), shapes)
        self.dtype = self._make_dropdown(gettext("of dtype"), {dtype: dtype for dtype in DTYPES})
        self.transposed = ipywidgets.Checkbox(
            description=gettext("transposed"), indent=False, layout=self._tight
        )
        self.way_to_write = self._make_dropdown(gettext("Writes go"), ways)
        choices = [self.method, self.kind, self.shape, self.dtype, self.transposed]
        for name, control in zip(
            ("method", "kind", "shape", "dtype", "transposed"), choices, strict=True
        ):
            self._report_changes(control, name)
        actions = self._make_buttons(_ACTIONS, () if can_read_again else ("take_anew",))
        others = self._make_buttons(_MORE_ACTIONS)
        self.buttons: dict[str, Any] = actions | others
        self.more = ipywidgets.Button(layout=self._tight, style=self._button_style)
        # What is asked of a learner first needs one choice and four buttons.
        self._lay_out_rows(
            [*choices[:2], self.more],
            [*actions.values()],
            [
                self._keep_together(choices[2:]),
                self.way_to_write,
                *others.values(),
            ],
        )

    def _keep_together(self, controls: list[Any]) -> Any:
        """Return controls that go on to the next row together, so that none is there alone."""
        return ipywidgets.HBox(controls, layout=self._tight)

    def _lay_out_rows(self, *rows: list[Any]) -> None:
        """Put the controls into their box. Rows wrap: nobody knows how wide a notebook's output is."""
        line = ipywidgets.Layout(flex_flow="row wrap", align_items="center", width="100%")
        # A panel as the one below, so that its buttons and choices look like those of a player.
        # Labels are as wide as the longest one in the language.
        classes = ("cl-panel", "cl-lab-controls", f"cl-lab-{current_language()}")
        *first_rows, last_row = rows
        boxes = [ipywidgets.HBox(row, layout=line) for row in first_rows]
        # Hidden and not left out: what is closed is closed with its box.
        more = ipywidgets.Layout(flex_flow="row wrap", width="100%")
        boxes.append(ipywidgets.HBox(last_row, layout=more))
        self.box = ipywidgets.VBox(boxes, layout=line, _dom_classes=classes)

        self._show_more(more, is_shown=False)
        self.more.on_click(lambda _: self._show_more(more, is_shown=more.display == "none"))

    def _show_more(self, layout: Any, *, is_shown: bool) -> None:
        """Show or hide the last row, by its layout, and say on the button which comes next."""
        layout.display = "" if is_shown else "none"
        self.more.description = gettext("Fewer choices") if is_shown else gettext("More choices")

    def _make_dropdown(self, label: str, options: Mapping[str, Any]) -> Any:
        return ipywidgets.Dropdown(
            description=label,
            options=list(options.items()),
            layout=self._tight,
            style=self._label_style,
        )

    def _make_buttons(
        self, texts: Mapping[str, ButtonText], left_out: Iterable[str] = ()
    ) -> dict[str, Any]:
        buttons = {}
        for key, text in texts.items():
            if key not in left_out:
                tensor = key.partition(" ")[2]
                tooltip = gettext(text.tooltip).format(
                    name=tensor, code=f"loss = ({tensor} ** 2).sum()"
                )
                buttons[key] = ipywidgets.Button(
                    description=gettext(text.label),
                    tooltip=tooltip,
                    layout=self._tight,
                    style=self._button_style,
                )
                # `key=key` takes the key of this round: the variable itself has the last one when a
                # button is clicked.
                buttons[key].on_click(lambda _, key=key: self._act(key))
        return buttons

    def _report_changes(self, control: Any, name: str) -> None:
        def pass_on(change: Mapping[str, Any]) -> None:
            if not self._is_showing:
                self._choose(name, change["new"])

        control.observe(pass_on, names="value")

    def show_choices(self, method: str, source: Source, *, is_given: bool) -> None:
        """Set the choices to what is shown, without calling back.

        is_given: `source` is that of the lab; its shape, dtype and strides cannot be chosen.
        """
        # Each value that is set here calls the observers, which would run the program again, with
        # half of the choices still those of the run before.
        self._is_showing = True
        try:
            _select_option(self.method, method, method)
            self.kind.value = GIVEN if is_given else source.kind
            _select_option(self.shape, str(source.shape), source.shape)
            _select_option(self.dtype, source.dtype, source.dtype)
            self.transposed.value = source.transposed
            for control in (self.shape, self.dtype, self.transposed):
                control.disabled = is_given
        finally:
            self._is_showing = False


def _select_option(dropdown: Any, label: str, value: Any) -> None:
    """Select a value, and offer it first if it is a new one, such as a dtype set from Python."""
    if all(value != option for _, option in dropdown.options):
        dropdown.options = [*dropdown.options, (label, value)]
    dropdown.value = value


def change_source(source: Source, name: str, value: Any) -> tuple[Source, str]:
    """Change one thing of a source. Return the new source and a notice of what changed with it.

    PyTorch raises for an integer tensor that requires grad, and a transpose needs two dimensions.
    What was chosen last stays; what does not go with it is changed.
    """
    chosen: dict[str, Any] = {
        "kind": source.kind,
        "shape": source.shape,
        "dtype": source.dtype,
        "transposed": source.transposed,
    }
    chosen[name] = value
    kind, shape, dtype, transposed = chosen.values()
    # Said and not refused: a learner finds out by it that such a tensor cannot be.
    notices = []
    if kind != "plain" and not dtype.startswith(("float", "bfloat", "complex")):
        if name == "kind":
            dtype = "float32"
            notice = gettext(
                "Only tensors of floating point or complex dtype can require gradients, "
                "so x is now float32."
            )
        else:
            kind = "plain"
            notice = gettext(
                "Only tensors of floating point or complex dtype can require gradients, "
                "so x is now without grad."
            )
        notices.append(notice)
    if transposed and len(shape) < 2:
        if name == "transposed":
            shape = (2, 3)
            notice = gettext("Two dimensions are needed to transpose, so x now has shape (2, 3).")
        else:
            transposed = False
            notice = gettext(
                "Two dimensions are needed to transpose, so x is no longer transposed."
            )
        notices.append(notice)
    return Source(kind, shape, dtype, transposed), join_sentences(notices)
