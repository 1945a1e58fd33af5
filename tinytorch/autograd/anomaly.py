"""Anomaly mode: nodes remember where they were made, and backward says where what failed was made.

Outside the mode it costs nothing but the question whether it holds. Source: `torch.autograd.anomaly_mode`,
torch's `anomaly_mode.cpp`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .modes import MODES
from .node import MADE

_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - `pathlib` takes long to load
_running: list[Any] = []


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode, for all threads. Source: `torch.set_anomaly_enabled`."""
    type(MODES).anomaly, type(MODES).check_nan = enabled, check_nan
    MADE[:] = [_remember] if enabled else []


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode holds."""
    return MODES.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode also looks for nan in gradients."""
    return MODES.check_nan


class set_detect_anomaly:
    """Switch anomaly mode: at once when called, until the block ends when used as a context manager."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = MODES.anomaly, MODES.check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(*self.before)


class detect_anomaly(set_detect_anomaly):
    """Inside, backward says where what failed was made, and raises if a gradient is nan (with `check_nan`)."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, check_nan: bool = True) -> None:
        self.before, self.check_nan = (MODES.anomaly, MODES.check_nan), check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.", stacklevel=2)  # fmt: skip

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


# what the graph calls while the mode holds ----------------------------------------------------------------------------


def _remember(node: Any) -> None:
    """Note on a new node where the user made it, and which node of a running backward did."""
    import traceback

    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(_PACKAGE)]
    node.metadata["traceback_"] = traceback.StackSummary.from_list(frames).format()
    if _running:
        node.metadata["parent_"] = _running[-1]


def run(node: Any, call: Callable, *args: Any) -> Any:
    """Run one node of a backward, knowing it as the parent of the nodes made meanwhile; its results are looked at."""
    _running.append(node)
    try:
        outputs = call(node, *args)
    finally:
        _running.pop()
    if MODES.check_nan:
        for i, grad in enumerate(outputs):
            array = getattr(grad, "_data", grad)  # results are tensors only where they are recorded
            if array is not None and np.isnan(array).any():
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
    return outputs


def explain(node: Any, say: list) -> None:
    """Add to `say`, pairs of a warning and its place, where the node that failed was made, and what it came from."""
    said, line = "Error detected in {}. Traceback of forward call that caused the error:\n{}", 122
    while node is not None:
        place = "torch/csrc/autograd/python_anomaly_mode.cpp:"
        stack = node.metadata.get("traceback_")
        if stack is None:
            unknown = f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward pass for more information."
            say.append((unknown, f"{place}100"))
            return
        say.append((said.format(node.name(), "".join(stack)), f"{place}{line}"))
        said = "\n\nPrevious calculation was induced by {}. Traceback of forward call that induced the previous calculation:\n{}"
        line, node = 129, node.metadata.get("parent_")
