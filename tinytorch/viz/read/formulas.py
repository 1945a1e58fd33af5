"""What formulas read of what their nodes saved: all values, comparisons alone, or nothing.

A node saves more than its formula reads: for its shape, or for an input that needs no gradient here.
A write to that spoils nothing. The tables were found by running: each saved tensor of PyTorch 2.13's
own samples of its operations was overwritten, and the gradients compared with those before.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Any

from ...graph import name_of_node
from .gradient_specs import gradient_specs_of
from .probe import getattr_or_none


class FormulaUse(Enum):
    """What a formula reads of a saved tensor."""

    VALUES = 0
    """All of it, or it is not known."""
    COMPARISONS = 1
    """Signs, or which of two is larger: where they are the same, the gradient is."""
    NOTHING = 2
    """None of its values."""


_ENDING = "Backward"
_UNREAD: dict[str, tuple[str, ...]] = {
    "AdaptiveAvgPool2D": ("self",),
    "AdaptiveAvgPool3D": ("self",),
    "AdaptiveMaxPool2D": ("self",),
    "AdaptiveMaxPool3D": ("self",),
    "AvgPool2D": ("self",),
    "AvgPool3D": ("self",),
    "Complex": ("real", "imag"),
    "Cummax": ("self",),
    "Cummin": ("self",),
    "FftR2C": ("self",),
    "FractionalMaxPool2D": ("self",),
    "FractionalMaxPool3D": ("self",),
    "Gather": ("self",),
    "IndexAdd": ("source",),
    "IndexCopy": ("source",),
    "MaskedSelect": ("self",),
    "MaxPool2DWithIndices": ("self",),
    "MaxPool3DWithIndices": ("self",),
    "MkldnnRnnLayer": ("weight2", "weight3"),  # its biases
    "NativeLayerNorm": ("bias",),
    "NllLoss": ("self",),
    "NllLoss2D": ("self",),
    "Put": ("source",),
    "ReflectionPad1D": ("self",),
    "ReflectionPad2D": ("self",),
    "ReflectionPad3D": ("self",),
    "ReplicationPad1D": ("self",),
    "ReplicationPad2D": ("self",),
    "ReplicationPad3D": ("self",),
    "Take": ("self",),
}
"""Kind of node without "Backward" -> names of what it saves and its formula never reads."""
_COMPARED: dict[str, tuple[str, ...]] = {
    "Abs": ("self",),
    "Amax": ("self", "result"),
    "Amin": ("self", "result"),
    "Clamp": ("self", "min", "max"),
    "ClampMax": ("self", "max"),
    "ClampMin": ("self", "min"),
    "Fmax": ("self", "other"),
    "Fmin": ("self", "other"),
    "Hardshrink": ("self",),
    "Hardsigmoid": ("self",),
    "Hardtanh": ("self",),
    "LeakyRelu": ("self", "result"),
    "Max": ("self", "result"),
    "Maximum": ("self", "other"),
    "Min": ("self", "result"),
    "Minimum": ("self", "other"),
    "NanToNum": ("self",),
    "Nansum": ("self",),
    "Relu": ("result",),
    "Softshrink": ("self",),
    "Threshold": ("self", "result"),
}
"""The same for what its formula only compares. Of complex numbers it reads more: `abs` a direction."""
_NORMS = ("BatchNormWithUpdate", "NativeBatchNorm", "NativeBatchNormLegit")
_READ_FOR: dict[str, dict[str, int]] = {
    "Convolution": {"weight": 0, "input": 1},
    "MkldnnRnnLayer": {"weight0": 0},
    "NativeGroupNorm": {"weight": 0},
    "NativeLayerNorm": {"weight": 0},
    **{norm: {"weight": 0} for norm in _NORMS},
}
"""Kind -> name of what is read for the gradient of one input alone -> number of that input."""


def find_formula_use(node: Any, name: str) -> FormulaUse:
    """Return what the formula of a node reads of what it saved under a name ("self", "result")."""
    kind = _find_kind(name_of_node(node))
    # Of code that is no formula of the engine it is not known what it reads.
    if not kind:
        return FormulaUse.VALUES
    if name in _COMPARED.get(kind, ()):
        if _is_real(node):
            return FormulaUse.COMPARISONS
        return FormulaUse.VALUES
    input_nr = _READ_FOR.get(kind, {}).get(name)
    # A weight is read for the gradient of its input alone: where that needs none, it is not.
    is_for_nothing = input_nr is not None and node.next_functions[input_nr][0] is None
    # In training the batch's own statistics are used.
    is_running = kind in _NORMS and name.startswith("running_")
    if (
        name in _UNREAD.get(kind, ())
        or is_for_nothing
        or (is_running and getattr_or_none(node, "_saved_training") is not False)
    ):
        return FormulaUse.NOTHING
    return FormulaUse.VALUES


@lru_cache(1024)
def _find_kind(node_name: str) -> str:
    """Return `Mul` for `MulBackward0`; empty for a node of no formula, as `torch::autograd::CopySlices`."""
    kind, ending, number = node_name.rpartition("::")[2].rpartition(_ENDING)
    if ending and not number.strip("0123456789"):
        return kind
    return ""


def _is_real(node: Any) -> bool:
    """Return True if all gradients that a node computes are known to be of real numbers."""
    # What it saved is not read here: a hook would be called, or what was written would raise.
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    # A slice, since a node may not say what gradients it expects.
    specs = [gradient_specs_of(follower)[nr:][:1] for follower, nr in edges]
    return all(spec and spec[0] and not spec[0].dtype.startswith("complex") for spec in specs)
