"""micrograd: one Python number a node. It has no arrays, so it takes part where the size is 1."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

from micrograd.engine import Value


def start(threads: int) -> str:
    """Say which version runs. Its backward is recursive: the limit goes up for the chain."""
    sys.setrecursionlimit(1_000_000)
    return f"micrograd {version('micrograd')}, numbers instead of arrays"


def _chain(count: int) -> Any:
    x = Value(1.0)

    def run() -> None:
        y = x
        for _ in range(count):
            y = y * 1.0
        y.backward()

    return run


def case(name: str) -> Any:
    """The action of a case, or None."""
    group, what, size = name.split("/")
    if group == "chain":
        return _chain(int(size)) if int(size) <= 10_000 else None
    if group not in ("ops", "size") or size != "1":
        return None
    x, y = Value(0.5), Value(0.25)
    return {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "(x*y).sum() + backward": lambda: (x * y).backward(),
        "relu + backward": lambda: x.relu().backward(),
    }.get(what)
