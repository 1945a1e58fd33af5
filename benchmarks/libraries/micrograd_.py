"""micrograd: one Python number a node. It has no arrays, so it takes part where the size is 1."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

from micrograd.engine import Value

from .common import chain, chosen


def start(threads: int) -> str:
    """Say which version runs. Its backward is recursive: the limit goes up for the chain."""
    sys.setrecursionlimit(1_000_000)
    return f"micrograd {version('micrograd')}, numbers instead of arrays"


def _ops(n: int) -> dict[str, Any]:
    x, y = Value(0.5), Value(0.25)
    actions: dict[str, Any] = {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "(x*y).sum() + backward": lambda: (x * y).backward(),
        "relu + backward": lambda: x.relu().backward(),
    }
    return actions if n == 1 else {}


def case(name: str) -> Any:
    """The action of a case, or None."""
    return chosen(
        name, {"chain": lambda count: chain(Value(1.0), count), "ops": _ops, "size": _ops}
    )
