"""Automatic differentiation: gradients, custom functions, and the graph they run on.

The tensor itself needs half of this package, and the other half needs the tensor; so the public names are found when
they are first asked for. Source: `torch.autograd`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import missing

if TYPE_CHECKING:
    from . import function as function, graph as graph, modes as _modes
    from .api import Variable as Variable, backward as backward, grad as grad, gradcheck as gradcheck
    from .function import Function as Function
    from .modes import (
        detect_anomaly as detect_anomaly,
        enable_grad as enable_grad,
        inference_mode as inference_mode,
        no_grad as no_grad,
        set_detect_anomaly as set_detect_anomaly,
        set_grad_enabled as set_grad_enabled,
    )
    from .saved import SavedTensor as SavedTensor

    anomaly_mode = _modes
    grad_mode = _modes

_MODULES = {"anomaly_mode": "modes", "function": "function", "grad_mode": "modes", "graph": "graph"}
_HOME = {
    "api": "Variable backward grad gradcheck",
    "function": "Function",
    "modes": "detect_anomaly enable_grad inference_mode no_grad set_detect_anomaly set_grad_enabled",
    "saved": "SavedTensor",
}


def _find_later(name: str) -> object:
    if name in _MODULES:
        return import_module("." + _MODULES[name], __name__)
    for home, names in _HOME.items():
        if name in names.split():
            return getattr(import_module("." + home, __name__), name)
    raise missing("module 'torch.autograd' has no attribute '{}'", name)


if not TYPE_CHECKING:  # to type checkers a name that is not above is an error
    __getattr__ = _find_later
    __all__ = [name for names in (_MODULES, *map(str.split, _HOME.values())) for name in names]
