"""Activations that torch records as one node each, in both directions.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.node import node
from ..ops.composite import one_node
from ..ops.core import expect_tensor, quiet, record, recording, result, write_in_place
from ..ops.pointwise import through_double
from ..tensor import Tensor

_exp, _expm1, _log1p = through_double(np.exp), through_double(np.expm1), through_double(np.log1p)


def _activation(name: str, kind: type, kernel: Callable, in_place: type | None = None) -> Callable:
    """A function of one tensor and of numbers that its node saves; `in_place` is the node of the in-place form."""

    def function(input: Tensor, inplace: bool = False, **values: Any) -> Tensor:
        expect_tensor(input, name)
        numbers = tuple(values.values())
        if inplace:
            saved = {"self": input, **values} if in_place is None else values
            return write_in_place(
                input, (input,), in_place or kind, saved, lambda: quiet.run(kernel, input._data, *numbers)
            )
        made = result(quiet.run(kernel, input._data, *numbers), input._device, input._data)
        return record(made, kind, (input,), self=input, **values) if recording(input) else made

    return function


def _sloped(name: str, slope: Callable) -> Callable:
    """An activation's backward as one node: the gradient times the slope at the input (or at the result)."""
    return lambda grad, at, *options: one_node(name, lambda g, x: g * slope(x, *options))(grad, at)


def _slope(x: Tensor, below: float) -> Tensor:
    return x.new_ones(()).where(x > 0, x.new_ones(()) * below)


_leaky_backward = _sloped("LeakyReluBackwardBackward0", _slope)
_leaky = _activation(
    "leaky_relu",
    node("LeakyReluBackward0", lambda grad, self, negative_slope: _leaky_backward(grad, self, negative_slope)),
    lambda a, s: np.where(a > 0, a, a * a.dtype.type(s)),
    node("LeakyReluBackward1", lambda grad, result, negative_slope: _leaky_backward(grad, result, negative_slope)),
)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else x times a small slope."""
    return _leaky(input, inplace, negative_slope=negative_slope)


def _softplus_slope(x: Tensor, beta: float, threshold: float) -> Tensor:
    z = x * beta
    return z.sigmoid().where(z <= threshold, x.new_ones(()))


_softplus_backward = _sloped("SoftplusBackwardBackward0", _softplus_slope)
_softplus = _activation(
    "softplus",
    node("SoftplusBackward0", lambda grad, self, beta, threshold: _softplus_backward(grad, self, beta, threshold)),
    lambda a, b, t: np.where(a * b > t, a, _log1p(_exp(a * a.dtype.type(b))) / a.dtype.type(b)),
)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself above the threshold."""
    return _softplus(input, beta=beta, threshold=threshold)


def _log_sigmoid(a: np.ndarray) -> np.ndarray:
    return np.minimum(a, 0) - _log1p(_exp(-np.abs(a)))


_log_sigmoid_backward = _sloped("LogSigmoidBackwardBackward0", lambda x: (-x).sigmoid())
_log_sigmoid_forward = _activation(
    "logsigmoid",
    node("LogSigmoidBackward0", lambda grad, self: _log_sigmoid_backward(grad, self), also=("buffer",)),
    lambda a, _: _log_sigmoid(a),
)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of sigmoid(x)."""
    expect_tensor(input, "log_sigmoid")
    return _log_sigmoid_forward(input, buffer=result(quiet.run(np.exp, -np.abs(input._data)), input._device))


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu_kernel(a: np.ndarray, approximate: str) -> np.ndarray:
    x = a.astype(np.float64) if a.dtype != np.float64 else a
    if approximate == "tanh":
        inner = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    else:
        half, one, root = (a.dtype.type(c) for c in (0.5, 1, math.sqrt(0.5)))
        return a * half * (one + _erf(a * root).astype(a.dtype)) if a.size else a
    return (x * 0.5 * (1 + inner)).astype(a.dtype)


def _gelu_slope(x: Tensor, approximate: str) -> Tensor:
    if approximate == "tanh":
        inner = (math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)).tanh()
        return 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return 0.5 * (1 + (x * math.sqrt(0.5)).erf()) + x * (x * x * -0.5).exp() * (1 / math.sqrt(2 * math.pi))


_gelu_backward = _sloped("GeluBackwardBackward0", _gelu_slope)
_gelu = _activation(
    "gelu", node("GeluBackward0", lambda grad, self, approximate: _gelu_backward(grad, self, approximate)), _gelu_kernel
)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x, exact or by tanh. RuntimeError for another approximation."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _gelu(input, approximate=approximate)


_SiluBackward0 = node("SiluBackward0", lambda grad, self: grad * self.sigmoid() * (1 + self * (1 - self.sigmoid())))
_silu = _activation("silu", _SiluBackward0, lambda a: a / (1 + _exp(-a)))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times sigmoid(x)."""
    return _silu(input, inplace)


def _elu_slope(self: Tensor, alpha: float) -> Tensor:
    return self.new_ones(()).where(self > 0, self.exp() * alpha)


_elu_backward = _sloped("EluBackwardBackward0", _elu_slope)
_elu_backward_at_result = _sloped("EluBackwardBackward0", lambda y, alpha: y.new_ones(()).where(y > 0, y + alpha))
_elu = _activation(
    "elu",
    node("EluBackward0", lambda grad, self, alpha: _elu_backward(grad, self, alpha), also=("input_scale", "scale")),
    lambda a, s, *_: np.where(a > 0, a, _expm1(a) * a.dtype.type(s)),
    node(
        "EluBackward1",
        lambda grad, result, alpha: _elu_backward_at_result(grad, result, alpha),
        also=("input_scale", "scale"),
    ),
)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha (exp(x) - 1)."""
    return _elu(input, inplace, alpha=alpha, input_scale=1, scale=1)
