"""Automatic differentiation: gradients, custom functions, and the graph they run on.

The tensor itself needs half of this package, and the other half needs the tensor; so the public names are found when
they are first asked for. Source: `torch.autograd`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import missing

if TYPE_CHECKING:
    from .function import Function as Function

_MODULES = {"anomaly_mode": "modes", "function": "function", "grad_mode": "modes", "graph": "graph"}
_HOME = {
    "api": "Variable backward grad gradcheck",
    "function": "Function",
    "modes": "detect_anomaly enable_grad inference_mode no_grad set_detect_anomaly set_grad_enabled",
    "saved": "SavedTensor",
}
__all__ = [name for names in (_MODULES, *map(str.split, _HOME.values())) for name in names]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module("." + _MODULES[name], __name__)
    for home, names in _HOME.items():
        if name in names.split():
            return getattr(import_module("." + home, __name__), name)
    raise missing("module 'torch.autograd' has no attribute '{}'", name)
