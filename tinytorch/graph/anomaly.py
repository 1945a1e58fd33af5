"""Anomaly mode: nodes remember where they were made, and backward says where what failed was made.

Source: `torch.autograd.set_detect_anomaly`. Outside the mode it costs nothing: entering it puts another initialiser
into the class of nodes.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ..naming import type_name
from .modes import MODES
from .node import TRACED, Node

_PACKAGE = __name__.partition(".")[0]
_plain_init = Node.__init__
_running: list[Node] = []


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode, for all threads. TypeError unless given bools. Source: `torch.set_anomaly_enabled`."""
    for at, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {at}) must be bool, not {type_name(value)}"
            )
    type(MODES).anomaly, type(MODES).check_nan = enabled, check_nan
    TRACED[:] = [True] if enabled else []
    Node.__init__ = _remembering_init if enabled else _plain_init  # type: ignore[method-assign]


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode holds."""
    return MODES.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode also looks for nan in gradients."""
    return MODES.check_nan


def _remembering_init(self: Node, edges: tuple, saved: tuple | None = None) -> None:
    _plain_init(self, edges, saved)
    frames = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != _PACKAGE:  # our own frames say nothing to the user
            frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    import traceback  # loaded in this mode alone

    self.metadata["traceback_"] = traceback.StackSummary.extract(reversed(frames)).format()
    if _running:
        self.metadata["parent_"] = _running[-1]


def run(fn: Node, call: Any, *args: Any) -> Any:
    """Run one node of a backward, knowing it as the parent of the nodes made meanwhile; its results are looked at."""
    _running.append(fn)
    try:
        outputs = call(fn, *args)
    finally:
        _running.pop()
    if MODES.check_nan:
        for i, grad in enumerate(outputs):
            if grad is not None and grad._data.dtype.kind == "f" and (grad._data != grad._data).any():
                raise RuntimeError(f"Function '{fn.name()}' returned nan values in its {i}th output.")
    return outputs


def explain(fn: Node, warnings: list) -> None:
    """Add to `warnings` where the node that failed was made, and the nodes that it came from."""
    said = "Error detected in {}. Traceback of forward call that caused the error:\n{}"
    line = 122
    node: Node | None = fn
    while node is not None:
        place = "torch/csrc/autograd/python_anomaly_mode.cpp:"
        stack = node.metadata.get("traceback_")
        if stack is None:
            unknown = (
                f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            )
            warnings.append((unknown + "forward pass for more information.", f"{place}100"))
            return
        warnings.append((said.format(node.name(), "".join(stack)), f"{place}{line}"))
        said = (
            "\n\nPrevious calculation was induced by {}. Traceback of forward call that induced the previous "
            "calculation:\n{}"
        )
        line = 129
        node = node.metadata.get("parent_")
