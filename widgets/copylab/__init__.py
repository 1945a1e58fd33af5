"""Pictures and widgets that show what copying a tensor does: over tinytorch and over PyTorch.

    from copylab import steps
    steps("x = torch.ones(3); y = x.clone()")

`steps` runs code line by line and shows memory and graph after each line; `memory`, `graph` and `snapshot` look at
tensors as they are now, and `explain` says what backward would do. Nothing is loaded before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch.viz import explain, graph, memory, snapshot

    from .stepping import Steps, steps

__all__ = ["Steps", "explain", "graph", "memory", "snapshot", "steps"]

_HOMES = {
    "Steps": ".stepping",
    "steps": ".stepping",
    "explain": "tinytorch.viz",
    "graph": "tinytorch.viz",
    "memory": "tinytorch.viz",
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
