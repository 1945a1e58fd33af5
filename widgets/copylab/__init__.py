"""Pictures and widgets that show what copying a tensor does: over tinytorch and over PyTorch.

    from copylab import steps
    steps("x = torch.ones(3); y = x.clone()")

`steps` runs code line by line and shows memory and graph after each line; `memory`, `graph` and `snapshot` look at
tensors as they are now, and `explain` says what backward would do. Nothing is loaded before it is used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch.viz import explain, graph, memory, snapshot

    from .facts import Fact, Facts, facts
    from .methods import METHODS, Method, method
    from .sources import Source
    from .stepping import Steps, steps

__all__ = [
    "METHODS",
    "Fact",
    "Facts",
    "Method",
    "Source",
    "Steps",
    "explain",
    "facts",
    "graph",
    "memory",
    "method",
    "snapshot",
    "steps",
]

_HOMES = {
    "Fact": ".facts",
    "Facts": ".facts",
    "METHODS": ".methods",
    "Method": ".methods",
    "Source": ".sources",
    "Steps": ".stepping",
    "steps": ".stepping",
    "explain": "tinytorch.viz",
    "facts": ".facts",
    "graph": "tinytorch.viz",
    "memory": "tinytorch.viz",
    "method": ".methods",
    "snapshot": "tinytorch.viz",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    """A package in which `facts` is the function, whether or not the module of the same name has been loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOMES):  # import leaves each loaded module here
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
