"""Functions behind the layers.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.node import node
from ..ops.composite import one_node
from ..ops.core import quiet, record, recording, result
from ..ops.added import linear
from ..ops.softmax import implicit_dim
from ..tensor import Tensor
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """x where positive, else 0."""
    return input.relu_() if inplace else input.relu()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) scaled to sum to 1 along a dimension."""
    return input.softmax(implicit_dim("softmax", dim, input.dim()), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax."""
    return input.log_softmax(implicit_dim("log_softmax", dim, input.dim()), dtype)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, elements set to zero with probability p and the others scaled by 1 / (1 - p).

    ValueError for p outside [0, 1].
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not training or not input.numel():
        return input
    if p == 1:
        return input.mul_(input.new_zeros(())) if inplace else input * input.new_zeros(())
    mask = _empty_like(input).bernoulli_(1 - p).div_(1 - p)
    return input.mul_(mask) if inplace else input * mask


def _empty_like(t: Tensor) -> Tensor:
    from ..ops.core import FUNCTIONS

    return FUNCTIONS["empty_like"](t)


def _activation(name: str, kind: type, kernel: Callable) -> Callable:
    """A function of one tensor and of numbers that its node saves under their names."""

    def function(input: Tensor, **values: Any) -> Tensor:
        made = result(quiet.run(kernel, input._data, *values.values()), input._device, input._data)
        return record(made, kind, (input,), self=input, **values) if recording(input) else made

    function.__name__ = function.__qualname__ = name
    return function


def _sloped(name: str, slope: Callable) -> Callable:
    """An activation's backward as one node: the gradient times the slope at the input."""
    return lambda grad, self, *options: one_node(name, lambda g, x: g * slope(x, *options))(grad, self)


_leaky_backward = _sloped("LeakyReluBackwardBackward0", lambda x, below: _slope(x, below))
_LeakyReluBackward0 = node(
    "LeakyReluBackward0", lambda grad, self, negative_slope: _leaky_backward(grad, self, negative_slope)
)


def _slope(self: Tensor, below: float) -> Tensor:
    positive = (self > 0).to(self.dtype)
    return positive + (1 - positive) * below


_leaky = _activation(
    "leaky_relu", _LeakyReluBackward0, lambda a, s: np.where(a > 0, a, a * a.dtype.type(s))
)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else x times a small slope."""
    return _leaky(input, negative_slope=negative_slope)


def _softplus_slope(self: Tensor, beta: float, threshold: float) -> Tensor:
    z = self * beta
    return z.sigmoid().where(z <= threshold, self.new_ones(()))


_softplus_backward = _sloped("SoftplusBackwardBackward0", _softplus_slope)
_SoftplusBackward0 = node(
    "SoftplusBackward0", lambda grad, self, beta, threshold: _softplus_backward(grad, self, beta, threshold)
)
_softplus = _activation(
    "softplus", _SoftplusBackward0,
    lambda a, b, t: np.where(a * b > t, a, np.log1p(np.exp(a * a.dtype.type(b))) / a.dtype.type(b)),
)  # fmt: skip


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself above the threshold."""
    return _softplus(input, beta=beta, threshold=threshold)


_SiluBackward0 = node("SiluBackward0", lambda grad, self: grad * self.sigmoid() * (1 + self * (1 - self.sigmoid())))
_silu = _activation("silu", _SiluBackward0, lambda a: a / (1 + np.exp(-a)))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times sigmoid(x)."""
    return _silu(input)


def _elu_slope(self: Tensor, alpha: float) -> Tensor:
    return self.new_ones(()).where(self > 0, self.exp() * alpha)


_elu_backward = _sloped("EluBackwardBackward0", _elu_slope)
_EluBackward0 = node(
    "EluBackward0", lambda grad, self, alpha: _elu_backward(grad, self, alpha), also=("input_scale", "scale")
)
_elu = _activation("elu", _EluBackward0, lambda a, s, *_: np.where(a > 0, a, np.expm1(a) * a.dtype.type(s)))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha (exp(x) - 1)."""
    return _elu(input, alpha=alpha, input_scale=1, scale=1)


__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "dropout", "elu", "huber_loss",
           "kl_div", "l1_loss", "leaky_relu", "linear", "log_softmax", "mse_loss", "nll_loss", "relu", "sigmoid", "silu",
           "smooth_l1_loss", "softmax", "softplus", "tanh"]  # fmt: skip
