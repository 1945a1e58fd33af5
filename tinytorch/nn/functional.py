"""Functions behind the layers.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from ..ops.linalg import linear
from ..tensor import Tensor


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """x where positive, else 0."""
    return input.relu_() if inplace else input.relu()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


__all__ = ["linear", "relu", "sigmoid", "tanh"]
