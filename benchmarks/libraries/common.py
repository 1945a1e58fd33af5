"""What the cases of several libraries are made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SHAPES = ((784, 128), (128,), (128, 10), (10,))
"""Of the parameters of the network: weights and bias of two layers."""


def operands(n: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Two vectors of n random numbers, and two matrices that take about as long to multiply."""
    rng, side = np.random.default_rng(0), max(int(n**0.5) // 4, 1)
    vectors = [rng.standard_normal(n, np.float32) for _ in "xy"]
    return vectors, [rng.standard_normal((side, side)).astype(np.float32) for _ in "mw"]


def training(batch: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The parameters of the network, a batch of its inputs, and their classes."""
    rng = np.random.default_rng(0)
    parameters = [rng.standard_normal(shape).astype(np.float32) * 0.05 for shape in SHAPES]
    return (
        parameters,
        rng.standard_normal((batch, 784)).astype(np.float32),
        rng.integers(0, 10, batch),
    )


def chain(x: Any, count: int, clear: Callable[[], None] = lambda: None) -> Callable[[], None]:
    """Multiply by one so many times, and go backward."""

    def run() -> None:
        clear()
        y = x
        for _ in range(count):
            y = y * 1.0
        y.backward()

    return run


def chosen(
    name: str, makers: dict[str, Callable[[int], Any]], *, longest_chain: int = 10_000
) -> Any:
    """The action of a case named "group/what/size", or None; `makers` has "network", "chain" and tables of actions."""
    group, case, size = name.split("/")
    n = int(size)
    if group not in makers or (group == "chain" and n > longest_chain):
        return None
    if group == "network":
        return makers[group](n) if case == "step" else None
    return makers[group](n) if group == "chain" else makers[group](n).get(case)
