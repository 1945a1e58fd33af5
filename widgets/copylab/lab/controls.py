"""The controls of a CopyLab: stock widgets that share their layouts, so that a lab is few models and frees them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_description import DescriptionStyle

from ..copying.sources import Kind, Source
from .actions import WRITES

KINDS = {"a leaf": "leaf", "a result": "result", "without grad": "plain"}
SHAPES = {"one number ()": (), "three numbers (3,)": (3,), "two rows (2, 3)": (2, 3)}
COMMON = ("float32", "float64", "int64", "bool")
YOURS = "yours"

_ACTIONS = {
    "write_x": ("Write through x", "Write into the memory of x, in the way chosen beside"),
    "write_y": ("Write through y", "Write into the memory of y, in the way chosen beside"),
    "loss_x": ("Loss from x", "Compute loss = (x ** 2).sum()"),
    "loss_y": ("Loss from y", "Compute loss = (y ** 2).sum()"),
    "backward": ("Backward", "Call loss.backward()"),
    "clear": ("Clear grads", "Set every .grad to None"),
    "track": ("y.requires_grad_()", "Ask y to require grad"),
    "undo": ("Undo", "Take the last action back"),
    "start_over": ("Start over", "Take all actions back"),
}


class Controls:
    """The rows of controls. `act(name)` is called for a button, `choose(name, value)` for a choice."""

    def __init__(
        self, act: Callable[[str], None], choose: Callable[[str, Any], None], methods: Iterable[str], own: str | None
    ) -> None:
        self._quiet = False
        self._choose = choose
        self._tight = ipywidgets.Layout(width="auto", margin="2px 4px 2px 0")
        self._row = ipywidgets.Layout(flex_flow="row wrap", align_items="center", width="100%")
        self._label = DescriptionStyle(description_width="initial")
        self._face = ipywidgets.ButtonStyle()
        kinds = ({own: YOURS} if own else {}) | KINDS
        self.method = self._dropdown("Copy with", {name: name for name in methods}, "method")
        self.kind = self._dropdown("x is", kinds, "kind")
        self.shape = self._dropdown("Shape", SHAPES, "shape")
        self.dtype = self._dropdown("dtype", {name: name for name in COMMON}, "dtype")
        self.transposed = ipywidgets.Checkbox(description="transposed", indent=False, layout=self._tight)
        self._listen(self.transposed, "transposed")
        self.how = self._dropdown("Write by", dict(zip(WRITES, WRITES, strict=True)), "")
        self.buttons = {name: self._button(name, act) for name in _ACTIONS}
        if own:
            self.buttons["take_anew"] = self._button("take_anew", act, ("Take x anew", "Look at your tensor again"))
        there = [name for name in ("track", "undo", "start_over", "take_anew") if name in self.buttons]
        doing = [button for name, button in self.buttons.items() if name not in there]
        self.rows = [
            ipywidgets.HBox(row, layout=self._row)
            for row in (
                [self.method, self.kind, self.shape, self.dtype, self.transposed],
                [self.how, *doing],
                [self.buttons[name] for name in there],
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

    def _button(self, name: str, act: Callable[[str], None], words: tuple[str, str] | None = None) -> Any:
        label, tip = words or _ACTIONS[name]
        made = ipywidgets.Button(description=label, tooltip=tip, layout=self._tight, style=self._face)
        made.on_click(lambda _: act(name))
        return made

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
    kind: Kind = value if name == "kind" else source.kind
    shape = value if name == "shape" else source.shape
    dtype = value if name == "dtype" else source.dtype
    transposed = bool(value) if name == "transposed" else source.transposed
    said = ""
    if kind != "plain" and not dtype.startswith(("float", "bfloat", "complex")):
        if name == "kind":
            dtype = "float32"
        else:
            kind = "plain"
        said = "Only tensors of floating point or complex dtype can require gradients, so x is now "
        said += "float32." if name == "kind" else "without grad."
    if transposed and len(shape) < 2:
        if name == "transposed":
            shape = (2, 3)
        else:
            transposed = False
        said += " Two dimensions are needed to transpose, so x " + (
            "now has shape (2, 3)." if name == "transposed" else "is no longer transposed."
        )
    return Source(kind, shape, dtype, transposed), said.strip()
