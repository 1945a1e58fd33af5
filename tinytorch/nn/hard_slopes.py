"""Activations made of straight pieces, and those made of several others.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.modes import MODES
from ..graph.node import node, not_differentiable
from ..ops.composite import in_float, one_node
from ..ops.core import expect_tensor, quiet, record, recording, result, write_in_place
from ..ops.pointwise import through_double
from ..tensor import Tensor
from .slopes import activation, sloped, softplus

# hardtanh and threshold: flat where the input is out of bounds ------------------------------------------------------------


def _inside(x: Any, low: float, high: float) -> Any:
    return ~((x <= low) | (x >= high))


_hardtanh_backward = sloped("HardtanhBackwardBackward0", _inside, passes=True)
_HardtanhBackward0 = node(
    "HardtanhBackward0", lambda grad, self, min_val, max_val: _hardtanh_backward(grad, self, min_val, max_val)
)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x held between two bounds. ValueError if they are the wrong way round, RuntimeError for booleans."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    expect_tensor(input, "hardtanh")
    if input._data.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    saved = {"self": input, "min_val": min_val, "max_val": max_val}

    def kernel() -> np.ndarray:
        kind = input._data.dtype.type
        return quiet.run(np.clip, input._data, kind(min_val), kind(max_val))

    if inplace:
        return write_in_place(input, (input,), _HardtanhBackward0, saved, kernel)
    made = result(kernel(), input._device, input._data)
    return record(made, _HardtanhBackward0, (input,), **saved) if recording(input) else made


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh in place."""
    return hardtanh(input, min_val, max_val, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x held between 0 and 6."""
    expect_tensor(input, "relu6")
    return hardtanh(input, 0, 6, inplace)


_threshold_backward = sloped("ThresholdBackwardBackward0", lambda x, bound: ~(x <= bound), passes=True)
_ThresholdBackward0, _ThresholdBackward1 = (
    node(f"ThresholdBackward{i}", lambda grad, self, threshold: _threshold_backward(grad, self, threshold))
    for i in range(2)
)


def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where above a bound, else a value."""
    expect_tensor(input, "threshold")
    if input._data.dtype.kind == "b":
        raise NotImplementedError("\"threshold_cpu\" not implemented for 'Bool'")
    bound = threshold

    def kernel() -> np.ndarray:
        a = input._data
        return quiet.run(lambda: np.where(a <= a.dtype.type(bound), a.dtype.type(value), a))

    if inplace:
        return write_in_place(input, (input,), _ThresholdBackward1, {"self": input, "threshold": bound}, kernel)
    made = result(kernel(), input._device, input._data)
    return record(made, _ThresholdBackward0, (input,), self=input, threshold=bound) if recording(input) else made


threshold = _threshold


def threshold_(input: Tensor, threshold_: float, value: float) -> Tensor:
    """threshold in place."""
    return threshold(input, threshold_, value, True)


# shrinking --------------------------------------------------------------------------------------------------------------


def _outside(x: Any, lambd: float) -> Any:
    return ~((x >= -lambd) & (x <= lambd))


_shrunk = {name: sloped(f"{name}BackwardBackward0", _outside, passes=True) for name in ("Hardshrink", "Softshrink")}
_hardshrink = activation(
    "hardshrink",
    node("HardshrinkBackward0", lambda grad, self, lambd: _shrunk["Hardshrink"](grad, self, lambd)),
    lambda a, b: np.where((a >= -b) & (a <= b), a.dtype.type(0), a),
)
_softshrink = activation(
    "softshrink",
    node("SoftshrinkBackward0", lambda grad, self, lambd: _shrunk["Softshrink"](grad, self, lambd)),
    lambda a, b: np.where(a > b, a - a.dtype.type(b), np.where(a < -b, a + a.dtype.type(b), a * a.dtype.type(0))),
    stub="softshrink_check",
)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x where it is further from 0 than lambd, else 0."""
    return _hardshrink(input, lambd=lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd, and 0 where it would pass it. RuntimeError for a negative lambd."""
    expect_tensor(input, "softshrink")
    if input._data.dtype.kind == "f" and lambd < 0:
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(input._data.dtype).max:g}] for input dtype "
            f"{input.dtype.scalar_name}, but found {lambd:g}"
        )
    return _softshrink(input, lambd=lambd)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


# straight pieces for the sigmoid and for silu ------------------------------------------------------------------------------

_NoSlope = not_differentiable("aten::hardsigmoid_backward")


def _hardsigmoid_backward(grad: Tensor, self: Tensor) -> Tensor:
    a, g = self._data, grad._data
    sixth = g.dtype.type(1 / 6)
    made = result(quiet.run(lambda: np.where((a > -3) & (a < 3), g * sixth, g.dtype.type(0))), grad._device, g)
    return record(made, _NoSlope, (grad, self)) if recording(grad, self) else made


_hardsigmoid = activation(
    "hardsigmoid",
    node("HardsigmoidBackward0", lambda grad, self: _hardsigmoid_backward(grad, self)),
    lambda a: np.clip(a + a.dtype.type(3), a.dtype.type(0), a.dtype.type(6)) / a.dtype.type(6),
)
_hardswish_backward = sloped(
    "HardswishBackwardBackward0", lambda x: (x / 3 + 0.5).where((x > -3) & (x < 3), (~(x <= -3)).to(x.dtype))
)
_hardswish = activation(
    "hardswish",
    node("HardswishBackward0", lambda grad, self: _hardswish_backward(grad, self)),
    lambda a: a * np.clip(a + a.dtype.type(3), a.dtype.type(0), a.dtype.type(6)) / a.dtype.type(6),
)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1/2, held between 0 and 1."""
    return _hardsigmoid(input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times hardsigmoid(x)."""
    return _hardswish(input, inplace)


# mish, glu, prelu -----------------------------------------------------------------------------------------------------


def _mish_backward(grad: Tensor, self: Tensor) -> Tensor:
    return _mish_formula(grad, self) if MODES.here.grad else in_float(_mish_formula, (grad, self))


def _mish_formula(grad: Tensor, self: Tensor) -> Tensor:
    inner = softplus(self).tanh()
    return grad * (inner + self * self.sigmoid() * (1 - inner * inner))


_mish = activation(
    "mish",
    node("MishBackward0", lambda grad, self: _mish_backward(grad, self)),
    through_double(lambda a: a * np.tanh(np.log1p(np.exp(a)))),
)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times tanh(softplus(x))."""
    return _mish(input, inplace)


def _glu(x: Tensor, dim: int) -> Tensor:
    left, right = x.chunk(2, dim)
    return left * right.sigmoid()


def _glu_slope(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    left, right = self.chunk(2, dim)
    gate = right.sigmoid()
    from ..ops.joining import cat

    return cat([grad * gate, grad * left * gate * (1 - gate)], dim)


_GluBackward0 = node(
    "GluBackward0",
    lambda grad, self, dim: one_node(
        "GluBackwardBackward0", lambda g, x: _glu_slope(g, x, dim - (1 << 64) if dim >> 63 else dim)
    )(grad, self),
)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second. RuntimeError if it is odd."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if not -input.dim() <= dim < input.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})"
        )
    if input.size(dim) % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % input.dim()} is size {input.size(dim)}"
        )
    if input._data.dtype.kind != "f":
        raise NotImplementedError(f"\"glu_cpu\" not implemented for '{input.dtype.scalar_name}'")
    made = _glu(input.detach(), dim)
    return record(made, _GluBackward0, (input,), self=input, dim=dim % (1 << 64)) if recording(input) else made


def _prelu_slope(x: Tensor, weight: Tensor) -> Tensor:
    return x.new_ones(()).where(x > 0, weight)


_PreluKernelBackward0: Any = node(
    "PreluKernelBackward0",
    lambda grad, self, weight: one_node("PreluKernelBackwardBackward0", lambda g, x, w: g * _prelu_slope(x, w))(
        grad, self, weight
    ),
    lambda grad, self, weight: one_node(
        "PreluKernelBackwardBackward0", lambda g, x: (g * x).where(~(x > 0), g.new_zeros(()))
    )(grad, self).sum_to_size(weight.shape),
)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where positive, else x times a weight: one number, or one for each channel (dimension 1)."""
    expect_tensor(input, "prelu")
    expect_tensor(weight, "prelu", "weight", 2)
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.scalar_name} and {weight.dtype.scalar_name}"
        )
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if weight.numel() != 1 and not input.dim():
        raise RuntimeError("Not allow zero-dim input tensor.")
    channels = input.size(1) if input.dim() > 1 else 1
    if weight.numel() not in (1, channels) or (weight.numel() != 1 and input.dim() < 2):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel "
            f"size = {channels}."
        )
    shape = [weight.numel() if i == 1 else 1 for i in range(input.dim())]
    weight = weight if list(weight.shape) == shape else weight.view(shape)
    a, w = input._data, weight._data
    made = result(quiet.run(lambda: np.where(a > 0, a, a * w)), input._device, a)
    return (
        record(made, _PreluKernelBackward0, (input, weight), self=input, weight=weight)
        if recording(input, weight)
        else made
    )


__all__ = ["glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "mish", "prelu", "relu6", "softshrink",
           "softsign", "tanhshrink", "threshold", "threshold_"]  # fmt: skip
