"""HIPS autograd: NumPy's functions traced. It has no tensors of its own, so what it has is forward + backward."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import autograd.numpy as np
from autograd import grad, value_and_grad

from .common import chosen, operands, training


def start(threads: int) -> str:
    """Say which version runs."""
    return f"HIPS autograd {version('autograd')}"


def _ops(n: int) -> dict[str, Any]:
    (x, y), (m, w) = operands(n)
    product = value_and_grad(lambda x, y: np.sum(x * y), (0, 1))
    exponential = value_and_grad(lambda x, y: np.sum(np.exp(x * y)), (0, 1))
    relu = value_and_grad(lambda x: np.sum(np.maximum(x, 0)))
    sigmoid = value_and_grad(lambda x: np.sum(1 / (1 + np.exp(-x))))
    mean = value_and_grad(lambda x: np.mean(x))
    matrices = value_and_grad(lambda m, w: np.sum(m @ w), (0, 1))
    return {
        "(x*y).sum() + backward": lambda: product(x, y),
        "(x*y).exp().sum() + backward": lambda: exponential(x, y),
        "relu + backward": lambda: relu(x),
        "sigmoid + backward": lambda: sigmoid(x),
        "mean + backward": lambda: mean(x),
        "matmul + backward": lambda: matrices(m, w),
    }


def _step(batch: int) -> Any:
    parameters, inputs, classes = training(batch)
    rows, rate = np.arange(batch), np.float32(0.01)

    def loss(parameters: list) -> Any:
        w1, b1, w2, b2 = parameters
        scores = np.maximum(inputs @ w1 + b1, 0) @ w2 + b2
        shifted = scores - np.max(scores, 1, keepdims=True)
        return -np.mean(
            (shifted - np.log(np.sum(np.exp(shifted), 1, keepdims=True)))[rows, classes]
        )

    slopes = grad(loss)

    def step() -> None:
        for p, g in zip(parameters, slopes(parameters), strict=True):
            p -= rate * g

    return step


def _chain(count: int) -> Any:
    def forward(x: Any) -> Any:
        for _ in range(count):
            x = x * 1.0
        return np.sum(x)

    slope, x = grad(forward), np.ones(1, np.float32)
    return lambda: slope(x)


def case(name: str) -> Any:
    """The action of a case, or None."""
    return chosen(name, {"network": _step, "chain": _chain, "ops": _ops, "size": _ops})
