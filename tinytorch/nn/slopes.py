"""Activations that torch records as one node each, in both directions.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..fused import multiply_add
from ..graph.modes import MODES
from ..graph.node import node
from ..ops.composite import in_float, one_node
from ..ops.core import expect_tensor, quiet, record, recording, result, write_in_place
from ..ops.pointwise import half, through_double
from ..ops.pointwise_table import sigmoid_backward, sigmoid_kernel
from ..ops.scalars import times, where
from ..tensor import Tensor
from ..vector_math import exp32, in_blocks, log1p32

_exp, _expm1, _log1p = through_double(np.exp), through_double(np.expm1), through_double(np.log1p)
exponential = in_blocks(exp32, _exp)
_log1p_exp = in_blocks(lambda z: log1p32(exp32(z)), lambda z: _log1p(_exp(z)))


def activation(name: str, kind: type, kernel: Callable, in_place: type | None = None, stub: str = "") -> Callable:
    """A function of one tensor and of numbers that its node saves; `in_place` is the node of the in-place form.

    Integers and booleans are refused in the name of torch's kernel, `stub`.
    """
    stub = stub or f"{name}_cpu"

    def compute(a: np.ndarray, numbers: tuple) -> np.ndarray:
        if a.dtype == np.float16:
            return half(quiet.run(kernel, a.astype(np.float32), *numbers))
        return quiet.run(kernel, a, *numbers)

    def function(input: Tensor, inplace: bool = False, **values: Any) -> Tensor:
        expect_tensor(input, name)
        if input._data.dtype.kind != "f":
            raise NotImplementedError(f"\"{stub}\" not implemented for '{input.dtype.scalar_name}'")
        numbers = tuple(values.values())
        if inplace:
            saved = {"self": input, **values} if in_place is None else values
            return write_in_place(input, (input,), in_place or kind, saved, lambda: compute(input._data, numbers))
        made = result(compute(input._data, numbers), input._device, input._data)
        return record(made, kind, (input,), self=input, **values) if recording(input) else made

    return function


def sloped(name: str, slope: Callable, *shows: str, at: str = "self", linear: bool = False, passes: bool = False,
           kernel: Callable | None = None, **more: Any) -> Callable:  # fmt: skip
    """An activation's backward as one node: the gradient times the slope at the input (or at the result).

    The node shows the options under the names `shows`, and what is in `more`; a `linear` one has no use for the gradient.
    One that `passes` the gradient on, or does not, has a condition for its slope: where it fails there is 0, not -0.
    `kernel` gives the product of float32 arrays in torch's steps, for where nothing is recorded.
    """
    names = ("" if linear else "grad_output", at) if shows or more or linear else ()

    def backward(grad: Tensor, x: Tensor, *options: Any, **extra: Any) -> Tensor:
        if kernel and grad._data.dtype == x._data.dtype == np.float32 and not recording(grad, x):
            return result(quiet.run(kernel, grad._data, x._data, *options), x._device, grad._data, x._data)
        numbers = {**dict(zip(shows, options, strict=False)), **more, **extra}
        return one_node(
            name,
            lambda g, x: where(slope(x, *options), g, 0) if passes else g * slope(x, *options),
            names or (extra and ("grad_output", at)) or (),
            **numbers,
        )(grad, x)

    return backward


def _slope(x: Tensor, below: float) -> Tensor:
    return x.new_ones(()).where(x > 0, x.new_ones(()) * below)


_leaky_backward = sloped("LeakyReluBackwardBackward0", _slope, "negative_slope", linear=True)
_leaky = activation(
    "leaky_relu",
    node("LeakyReluBackward0", lambda grad, self, negative_slope: _leaky_backward(grad, self, negative_slope)),
    lambda a, s: np.where(a > 0, a, a * a.dtype.type(s)),
    node("LeakyReluBackward1", lambda grad, result, negative_slope: _leaky_backward(grad, result, negative_slope)),
)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else x times a small slope."""
    return _leaky(input, inplace, negative_slope=negative_slope)


def _softplus_kernel(g: np.ndarray, x: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    scaled = x * x.dtype.type(beta)
    z = exponential(np.minimum(scaled, threshold))
    return np.where(scaled > threshold, g, g * z / (z + 1))


def _softplus_backward(grad: Tensor, self: Tensor, beta: float, threshold: float) -> Tensor:
    made = in_float(lambda g, x: _softplus_product(g, x, beta, threshold), (grad.detach(), self.detach()))
    if not recording(grad, self):
        return made
    return record(
        made, _SoftplusBackwardBackward0, (grad, self), grad_output=grad, self=self, beta=beta, threshold=threshold
    )


def _softplus_product(g: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    return result(quiet.run(_softplus_kernel, g._data, x._data, beta, threshold), x._device, g._data, x._data)


def _softplus_twice(grad: Tensor, self: Tensor, beta: float, threshold: float) -> Tensor:
    x = times(self, beta)
    return times(sigmoid_backward(grad, x.sigmoid()) * (x < threshold).type_as(grad), beta)


_SoftplusBackwardBackward0 = node(
    "SoftplusBackwardBackward0",
    lambda grad, self, beta, threshold: _softplus_backward(grad, self, beta, threshold),
    lambda grad, grad_output, self, beta, threshold: _softplus_twice(grad * grad_output, self, beta, threshold),
)
_softplus = activation(
    "softplus",
    node("SoftplusBackward0", lambda grad, self, beta, threshold: _softplus_backward(grad, self, beta, threshold)),
    lambda a, b, t: np.where(a * b > t, a, _log1p_exp(np.minimum(a * a.dtype.type(b), t)) / a.dtype.type(b)),
)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself above the threshold."""
    return _softplus(input, beta=beta, threshold=threshold)


def log_sigmoid_kernel(a: np.ndarray) -> np.ndarray:
    """The logarithm of sigmoid, as an array."""
    if a.dtype == np.float32:
        return np.minimum(a, 0) - log1p32(exp32(-np.abs(a)))
    return np.minimum(a, 0) - _log1p(_exp(-np.abs(a)))


def _log_sigmoid_product(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    z = exp32(-np.abs(x))
    z = z / (1 + z)
    return g * np.where(x < 0, 1 - z, z)


_log_sigmoid_backward = sloped("LogSigmoidBackwardBackward0", lambda x: (-x).sigmoid(), kernel=_log_sigmoid_product)
_log_sigmoid_forward = activation(
    "logsigmoid",
    node("LogSigmoidBackward0", lambda grad, self, buffer: _log_sigmoid_backward(grad, self, buffer=buffer)),
    lambda a, _: log_sigmoid_kernel(a),
    stub="log_sigmoid_cpu",
)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of sigmoid(x)."""
    expect_tensor(input, "log_sigmoid")
    floats = input._data if input._data.dtype.kind == "f" else np.empty(0, np.float32)
    return _log_sigmoid_forward(input, buffer=result(quiet.run(np.exp, -np.abs(floats)), input._device))


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


_gelu_backward = sloped("GeluBackwardBackward0", _gelu_slope, "approximate")
_gelu = activation(
    "gelu",
    node("GeluBackward0", lambda grad, self, approximate: _gelu_backward(grad, self, approximate)),
    _gelu_kernel,
    stub="GeluKernelImpl",
)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x, exact or by tanh. RuntimeError for another approximation."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _gelu(input, approximate=approximate)


def _silu_backward(grad: Tensor, self: Tensor) -> Tensor:
    if MODES.here.grad:
        return grad * self.sigmoid() * (1 + self * (1 - self.sigmoid()))
    return in_float(
        lambda g, x: result(quiet.run(_silu_slope, g._data, x._data), x._device, g._data, x._data), (grad, self)
    )


def _silu_slope(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    s = sigmoid_kernel(x)
    return g * s * (multiply_add(x, 1 - s, np.float32(1)) if x.dtype == np.float32 else 1 + x * (1 - s))


_SiluBackward0 = node("SiluBackward0", _silu_backward)
_silu = activation("silu", _SiluBackward0, in_blocks(lambda a: a / (1 + exp32(-a)), lambda a: a / (1 + _exp(-a))))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times sigmoid(x)."""
    return _silu(input, inplace)


def elu_slope(x: Tensor, alpha: float, scale: float = 1, input_scale: float = 1) -> Tensor:
    """The slope of elu at an input: that of the exponential below 0, a constant at 0 and above."""
    below = (x * input_scale).exp() * (alpha * scale * input_scale)
    above = x.new_ones(()).where(~(x <= 0), x.new_full((), alpha * input_scale)) * scale
    return below.where(x < 0, above)


def _elu_slope_at_result(y: Tensor, alpha: float, scale: float = 1, input_scale: float = 1) -> Tensor:
    above = (y.new_ones(()) * scale).where(~(y <= 0), y.new_full((), alpha * scale * input_scale))
    return ((y + alpha * scale) * input_scale).where(y < 0, above)


def _elu_kernel_backward(
    g: np.ndarray, x: np.ndarray, alpha: float, scale: float = 1, input_scale: float = 1
) -> np.ndarray:
    of_input, below = np.float32(input_scale), np.float32(alpha) * np.float32(scale)
    return np.where(x <= 0, g * of_input * below * exponential(x * of_input), g * np.float32(scale))


elu_backward = sloped(
    "EluBackwardBackward0", elu_slope, "alpha", "scale", "input_scale", at="self_or_result", is_result=False,
    kernel=_elu_kernel_backward,
)  # fmt: skip
elu_backward_at_result = sloped(
    "EluBackwardBackward0", _elu_slope_at_result, "alpha", "scale", "input_scale", at="self_or_result", is_result=True
)


def elu_kernel(a: np.ndarray, alpha: float, input_scale: float = 1, scale: float = 1) -> np.ndarray:
    """scale x where positive, else scale alpha (exp(input_scale x) - 1)."""
    kind = a.dtype.type
    below = _expm1(a if input_scale == 1 else a * kind(input_scale)) * kind(alpha * scale)
    return np.where(a <= 0, below, a if scale == 1 else a * kind(scale))


_elu = activation(
    "elu",
    node(
        "EluBackward0",
        lambda grad, self, alpha, scale, input_scale: elu_backward(grad, self, alpha, scale, input_scale),
    ),
    elu_kernel,
    node(
        "EluBackward1",
        lambda grad, result, alpha, scale, input_scale: elu_backward_at_result(grad, result, alpha, scale, input_scale),
    ),
)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha (exp(x) - 1)."""
    return _elu(input, inplace, alpha=alpha, input_scale=1, scale=1)


_SCALE, _ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the two numbers that keep mean 0 and variance 1."""
    expect_tensor(input, "selu")
    return _elu(input, inplace, alpha=_ALPHA, input_scale=1, scale=_SCALE)


_celu = activation(
    "celu",
    node("CeluBackward0", lambda grad, self, alpha: elu_backward(grad, self, alpha, 1, 1 / alpha)),
    lambda a, alpha: elu_kernel(a, alpha, 1 / alpha),
    node("CeluBackward1", lambda grad, result, alpha: elu_backward_at_result(grad, result, alpha, 1, 1 / alpha)),
    stub="elu_cpu",
)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha (exp(x / alpha) - 1). RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _celu(input, inplace, alpha=alpha)
