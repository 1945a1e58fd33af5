"""The softmax family, and the activations that are no plain pointwise row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..fused import multiply_add
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..settings import get_num_threads
from ..tensor import Tensor, fresh, wrap_dim
from ..vector_math import exp32, log32
from ..warn import warn_user
from .composite import in_float, one_node
from .core import op, quiet, recording, result, write_out
from .pointwise import through_double
from .summing import lane_sum


def _unsigned(dim: int) -> int:
    """A dimension as torch's nodes show it: negative ones as 64-bit unsigned numbers."""
    return dim % (1 << 64)


def _signed(dim: int) -> int:
    return dim - (1 << 64) if dim >= 1 << 63 else dim


def _softmax_backward(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    if _plain(grad, result):
        return _from_kernel(_softmax_slope, grad, result, dim)
    return result * (grad - (grad * result).sum(_signed(dim), keepdim=True))


def _along(name: str, formula: Any) -> Any:
    """A backward along a dimension, as one node."""

    def backward(grad: Tensor, result: Tensor, dim: int) -> Tensor:
        if not MODES.here.grad:  # no node at all
            return in_float(lambda g, r: formula(g, r, dim), (grad, result))
        return one_node(name, lambda g, r: formula(g, r, dim), ("grad_output", "output"), dim=dim)(grad, result)

    return backward


def _log_softmax_backward(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    if _plain(grad, result):
        return _from_kernel(_log_softmax_slope, grad, result, dim)
    return grad - result.exp() * grad.sum(_signed(dim), keepdim=True)


def _plain(grad: Tensor, result: Tensor) -> bool:
    """Whether torch's kernel is followed to the last bit."""
    g, r = grad._data, result._data
    return bool(g.dtype == r.dtype == np.float32 and g.ndim and g.size) and not recording(grad, result)


def _from_kernel(kernel: Any, grad: Tensor, result: Tensor, dim: int) -> Tensor:
    g, r = np.ascontiguousarray(grad._data), np.ascontiguousarray(result._data)
    return fresh(quiet.run(kernel, g, r, _signed(dim) % g.ndim), grad._device)


def _softmax_slope(g: np.ndarray, r: np.ndarray, axis: int) -> np.ndarray:
    if axis < g.ndim - 1:
        total = np.zeros_like(g.take([0], axis))
        for i in range(g.shape[axis]):
            total = multiply_add(g.take([i], axis), r.take([i], axis), total)
    else:
        total = lane_sum(g * r)
    return (g - total) * r


def _log_softmax_slope(g: np.ndarray, r: np.ndarray, axis: int) -> np.ndarray:
    if axis < g.ndim - 1:
        return multiply_add(-_exp_across(r, axis).reshape(r.shape), _sum_in_turn(g, axis), g)
    return multiply_add(-_exp(r), lane_sum(g), g)


_SoftmaxBackward0 = node("SoftmaxBackward0", _along("SoftmaxBackwardDataBackward0", _softmax_backward))
_LogSoftmaxBackward0 = node("LogSoftmaxBackward0", _along("LogSoftmaxBackwardDataBackward0", _log_softmax_backward))


_exp_singly = through_double(np.exp)
_LANES = 16  # numbers in one of the widest registers


def _exp(a: np.ndarray) -> np.ndarray:
    return exp32(a) if a.dtype == np.float32 else np.exp(a)


def _log(a: np.ndarray) -> np.ndarray:
    return log32(a) if a.dtype == np.float32 else np.log(a)


def _shifted(a: np.ndarray, axis: int) -> np.ndarray:
    return a - np.maximum.reduce(a, axis, None, None, True) if a.size else a


def _exp_across(x: np.ndarray, axis: int) -> np.ndarray:
    """exp where the sum goes along another dimension than the last: torch takes columns by sixteen, the rest singly."""
    columns = math.prod(x.shape[axis + 1 :])
    x = np.ascontiguousarray(x).reshape(-1, columns)
    whole = columns - columns % _LANES
    parts = [_exp(x[:, :whole])] if whole else []
    return np.concatenate([*parts, _exp_singly(x[:, whole:])], 1) if whole < columns else parts[0]


def _sum_in_turn(e: np.ndarray, axis: int) -> np.ndarray:
    return np.add.accumulate(e, axis).take([-1], axis)


def _softmax(a: np.ndarray, axis: int, kind: Any = None) -> np.ndarray:
    if a.ndim == 0:
        return np.exp(a - a)  # nan for infinities
    shifted = _shifted(a, axis)
    if not a.size:
        return shifted
    if axis == a.ndim - 1:
        e = _exp(shifted)
        return e * np.reciprocal(lane_sum(e))
    vector = np.expand_dims(
        _in_vectors(math.prod(a.shape[:axis]), math.prod(a.shape[axis + 1 :]), get_num_threads()), 1
    )
    e = shifted.reshape(-1, a.shape[axis], vector.shape[-1])
    e = np.where(vector, _exp(e), _exp_singly(e)).reshape(a.shape) if vector.any() else _exp_singly(shifted)
    total = _sum_in_turn(e, axis)
    return (
        e if kind != np.float16 else e.astype(kind).astype(e.dtype)
    ) / total  # torch keeps the exponentials as halves


def _in_vectors(outer: int, inner: int, threads: int) -> np.ndarray:
    """Of (outer, inner) columns, which torch's softmax takes sixteen at a time: its threads share them in even parts."""
    vector = np.zeros(outer * inner, bool)
    part = -(-vector.size // threads)
    for start in range(0, vector.size, part):
        at, stop = start, min(start + part, vector.size)
        while at < stop:
            row_ends = min((at // inner + 1) * inner, stop)
            whole = at + (row_ends - at) // _LANES * _LANES
            vector[at:whole] = True
            at = row_ends
    return vector.reshape(outer, inner)


def _log_softmax(a: np.ndarray, axis: int, kind: Any = None) -> np.ndarray:
    if a.ndim == 0:
        return np.asarray(a - a)
    shifted = _shifted(a, axis)
    if not a.size:
        return shifted
    if axis != a.ndim - 1:
        return shifted - _log(_sum_in_turn(_exp_across(shifted, axis).reshape(a.shape), axis))
    e = _exp(shifted)
    if kind == np.float16:  # torch keeps the sum and its logarithm as such along the last dimension
        return shifted - _log(lane_sum(e).astype(kind).astype(a.dtype)).astype(kind)
    return shifted - _log(lane_sum(e))


def _normalised(name: str, kernel: Any, kind: type, what: str) -> Any:
    def function(input: Tensor, dim: int, dtype: Any = None, *, out: Any = None) -> Tensor:
        d = dtype if dtype is None else dtypes.as_dtype(dtype, name)
        source = input if d is None else input.to(d)
        axis = wrap_dim(dim, input._data.ndim)
        if source._data.dtype.kind != "f" and source._data.size:
            kernel_name = (
                "softmax_lastdim_kernel_impl" if axis == max(input._data.ndim, 1) - 1 else "softmax_kernel_impl"
            )
            if name != "softmax":
                kernel_name = "log_" + kernel_name
            raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{source.dtype.scalar_name}'")
        a, here = source._data, MODES.here
        if a.dtype.char in "fd" and a.ndim and a.size:
            data = here.run(kernel, a, axis)
            data = data if data.flags.c_contiguous else np.ascontiguousarray(data)
        else:
            wide = a.astype(np.float32) if a.dtype.itemsize < 4 else a
            data = (
                np.ascontiguousarray(quiet.run(kernel, wide, axis, a.dtype))
                .astype(a.dtype, copy=False)
                .reshape(a.shape)
            )
        if out is not None:
            return write_out(out, data, name, source)
        made = fresh(data, source._device, here.inference) if a.size else result(data, source._device)
        if here.grad and needs_grad(source):
            kind.record(made, (source,), dim=_unsigned(dim))
        return made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nSource: `torch.{name}`."
    return op(name)(function)


softmax = _normalised("softmax", _softmax, _SoftmaxBackward0, "exp(x) scaled to sum to 1 along a dimension.")
log_softmax = _normalised("log_softmax", _log_softmax, _LogSoftmaxBackward0, "The logarithm of softmax.")


def implicit_dim(name: str, dim: int | None, ndim: int) -> int:
    """The dimension a softmax without one takes, after torch's warning."""
    if dim is not None:
        return dim
    warn_user(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument."
    )
    return 0 if ndim in (0, 1, 3) else 1


__all__ = ["implicit_dim", "log_softmax", "softmax"]
