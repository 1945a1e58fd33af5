"""The controls of a CopyLab: stock widgets that share their layouts, so that a lab is few models and frees them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_description import DescriptionStyle

from tinytorch.viz import gettext, gettext_noop

from ..copying import Source

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
YOURS = "yours"
WRITES: Mapping[str, str] = {
    gettext_noop("in place"): "{name}.add_(10)",
    gettext_noop(".data"): "{name}.data.add_(10)",
    gettext_noop("NumPy"): "{name}.detach().numpy()[...] += 10",
    gettext_noop("no_grad"): "with torch.no_grad():\n    {name}.add_(10)",
}
"""Ways to write into a tensor, by the name under which they are offered."""

_WRITE = gettext_noop("Write into the memory of {name}, in the way chosen beside")
_LOSS = gettext_noop("Compute {code}")
_BUTTONS = (
    {
        "write x": (gettext_noop("Write through x"), _WRITE),
        "write y": (gettext_noop("Write through y"), _WRITE),
        "loss x": (gettext_noop("Loss from x"), _LOSS),
        "loss y": (gettext_noop("Loss from y"), _LOSS),
        "backward": (gettext_noop("Backward"), gettext_noop("Call loss.backward()")),
        "clear": (gettext_noop("Clear grads"), gettext_noop("Set every .grad to None")),
    },
    {
        "track": (gettext_noop("y.requires_grad_()"), gettext_noop("Ask y to require grad")),
        "undo": (gettext_noop("Undo"), gettext_noop("Take the last action back")),
        "start_over": (gettext_noop("Start over"), gettext_noop("Take all actions back")),
        "take_anew": (gettext_noop("Take x anew"), gettext_noop("Look at your tensor again")),
    },
)
"""The two rows of buttons: the method of the lab that each calls, and with what; its label, and what it does."""


class Controls:
    """The rows of controls. `act(name)` is called for a button, `choose(name, value)` for a choice."""

    def __init__(
        self,
        act: Callable[[str], None],
        choose: Callable[[str, Any], None],
        methods: Iterable[str],
        own: str,
    ) -> None:
        self._quiet = False
        self._choose = choose
        self._tight = ipywidgets.Layout(width="auto", margin="2px 4px 2px 0")
        self._label = DescriptionStyle(description_width="initial")
        kinds = ({own: YOURS} if own else {}) | {
            gettext(said): kind for said, kind in KINDS.items()
        }
        self.method = self._dropdown(
            gettext("Copy with"), {name: name for name in methods}, "method"
        )
        self.kind = self._dropdown(gettext("x is"), kinds, "kind")
        self.shape = self._dropdown(
            gettext("Shape"), {gettext(said): one for said, one in SHAPES.items()}, "shape"
        )
        self.dtype = self._dropdown("dtype", {name: name for name in DTYPES}, "dtype")
        self.transposed = ipywidgets.Checkbox(
            description=gettext("transposed"), indent=False, layout=self._tight
        )
        self._listen(self.transposed, "transposed")
        self.how = self._dropdown(gettext("Write by"), {gettext(name): name for name in WRITES}, "")
        self.buttons: dict[str, Any] = {}
        face = ipywidgets.ButtonStyle()
        for name, (label, does) in (_BUTTONS[0] | _BUTTONS[1]).items():
            if name != "take_anew" or own == gettext("your tensor"):
                of = name.partition(" ")[2]
                tip = gettext(does).format(name=of, code=f"loss = ({of} ** 2).sum()")
                made = ipywidgets.Button(
                    description=gettext(label), tooltip=tip, layout=self._tight, style=face
                )
                made.on_click(lambda _, name=name: act(name))
                self.buttons[name] = made
        doing, taking_back = (
            [self.buttons[name] for name in row if name in self.buttons] for row in _BUTTONS
        )
        line = ipywidgets.Layout(flex_flow="row wrap", align_items="center", width="100%")
        self.rows = [
            ipywidgets.HBox(row, layout=line)
            for row in (
                [self.method, self.kind, self.shape, self.dtype, self.transposed],
                [self.how, *doing],
                taking_back,
            )
        ]

    def _dropdown(self, label: str, options: Mapping[str, Any], name: str) -> Any:
        made = ipywidgets.Dropdown(
            description=label, options=list(options.items()), layout=self._tight, style=self._label
        )
        if name:
            self._listen(made, name)
        return made

    def _listen(self, control: Any, name: str) -> None:
        def changed(change: Mapping[str, Any]) -> None:
            if not self._quiet:
                self._choose(name, change["new"])

        control.observe(changed, names="value")

    def show(self, method: str, source: Source, *, own: bool) -> None:
        """Set the choices to what is shown, without calling back."""
        self._quiet = True
        try:
            _offer(self.method, method, method)
            self.kind.value = YOURS if own else source.kind
            _offer(self.shape, str(source.shape), source.shape)
            _offer(self.dtype, source.dtype, source.dtype)
            self.transposed.value = source.transposed
            for control in (self.shape, self.dtype, self.transposed):
                control.disabled = own
        finally:
            self._quiet = False


def _offer(dropdown: Any, label: str, value: Any) -> None:
    """Choose a value, and offer it first if it is a new one."""
    if all(value != known for _, known in dropdown.options):
        dropdown.options = [*dropdown.options, (label, value)]
    dropdown.value = value


def fitting(source: Source, name: str, value: Any) -> tuple[Source, str]:
    """The source with one thing changed and whatever has to change with it, and what to say of that."""
    kind, shape, dtype = source.kind, source.shape, source.dtype
    chosen: dict[str, Any] = {
        "kind": kind,
        "shape": shape,
        "dtype": dtype,
        "transposed": source.transposed,
    }
    chosen[name] = value
    kind, shape, dtype, transposed = chosen.values()
    said = []
    if kind != "plain" and not dtype.startswith(("float", "bfloat", "complex")):
        if name == "kind":
            dtype = "float32"
            said.append(
                gettext(
                    "Only tensors of floating point or complex dtype can require gradients, so x is now float32."
                )
            )
        else:
            kind = "plain"
            said.append(
                gettext(
                    "Only tensors of floating point or complex dtype can require gradients, so x is now without grad."
                )
            )
    if transposed and len(shape) < 2:
        if name == "transposed":
            shape = (2, 3)
            said.append(
                gettext("Two dimensions are needed to transpose, so x now has shape (2, 3).")
            )
        else:
            transposed = False
            said.append(
                gettext("Two dimensions are needed to transpose, so x is no longer transposed.")
            )
    return Source(kind, shape, dtype, transposed), " ".join(said)
