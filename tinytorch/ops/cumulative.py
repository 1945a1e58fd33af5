"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, return_types
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor, fresh, wrap_dim
from .core import FUNCTIONS, check_overlap, op, quiet, record, recording, result, write_in_place, write_out
from .outputs import check_pair
from .pointwise import check_kernel
from .reductions import _sum_dtype, dtype_for
from .scalars import where, written_twice
from .selecting import slice_, slice_from


def _reversed_cumsum(t: Tensor, dim: int) -> Tensor:
    return t.flip((dim,)).cumsum(dim).flip((dim,))


def _cumsum_backward(grad: Tensor, dim: int, _kind: Any) -> Tensor:
    grad = grad.to(_kind)
    if grad._data.size <= 1 or grad.shape[dim] == 1:
        return grad
    return _reversed_cumsum(grad, dim)


def _cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    grad = grad.to(self.dtype)
    if self._data.size <= 1 or self.shape[dim] == 1:
        return grad
    dim = wrap_dim(dim, self._data.ndim)
    if self._data.all():
        return _reversed_cumsum(result * grad, dim).div(self)
    if not MODES.here.grad:
        data = quiet.run(_over_zeros, *[np.moveaxis(t._data, dim, -1) for t in (grad, self, result)])
        return fresh(np.array(np.moveaxis(data, -1, dim), order="C"), grad._device)
    # for every element, the products that it is part of, without it
    last, out = self.shape[dim] - 1, self.new_zeros(self.shape).zero_()
    one = grad.new_ones(()).expand(*self.shape[:dim], 1, *self.shape[dim + 1 :])
    for k in range(last + 1):
        without = before = slice_(self, dim, 0, k, 1).prod(dim, True) if k else one
        if k < last:
            after = slice_from(self, dim, k + 1).cumprod(dim)
            without = FUNCTIONS["cat"]((before, before.expand(after.shape) * after if k else after), dim)
        out.select(dim, k).copy_((slice_from(grad, dim, k) * without).sum(dim))
    return out


def _over_zeros(grad: np.ndarray, a: np.ndarray, result: np.ndarray) -> np.ndarray:
    """The gradient of a running product along the last axis: nothing depends on what comes after the first zero."""
    zero = a == 0
    zeros = np.add.accumulate(zero, -1, np.int64)
    sooner = np.add.accumulate(np.where(zeros == 0, result * grad, 0)[..., ::-1], -1)[..., ::-1] / a
    products = np.multiply.accumulate(np.where(zero, 1, np.where(zeros == 1, a, 1)), -1)
    at_it = np.where(zeros == 1, products * grad, 0).sum(-1, keepdims=True)
    at_it = at_it * np.concatenate([np.ones_like(a[..., :1]), result[..., :-1]], -1)
    return np.where(zeros == 0, sooner, np.where(zero & (zeros == 1), at_it, 0)).astype(grad.dtype)


def _logcumsumexp_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    if not grad._data.ndim or not grad._data.size:
        return grad
    lowest = float(np.finfo(grad._data.dtype).min)
    log = grad.abs().log()

    def part(t: Tensor) -> Tensor:
        return ((t - result).flip((dim,)).logcumsumexp(dim).flip((dim,)) + self).exp()

    return part(where(grad > 0, log, lowest)) - part(where(grad < 0, log, lowest))


def _cumextreme_backward(grad: Tensor, self: Tensor, dim: int, indices: Tensor) -> Tensor:
    return written_twice(grad.new_zeros(self.shape).scatter_add(dim, indices, grad)) if self._data.size else self


_LOG = "(Tensor input, int dim, *, Tensor out = None)"


def _check_running(a: np.ndarray, kind: np.dtype, name: str) -> None:
    if a.ndim and a.size:
        check_kernel(np.empty(0, kind), "iwf", f"{name}_out_cpu")


def _running(name: str, ufunc: np.ufunc, kind: type, what: str) -> None:
    """`cumsum` and `cumprod`, and their in-place forms."""

    def compute(a: np.ndarray, d: int, dtype: np.dtype) -> np.ndarray:
        if not a.ndim:
            return a.astype(dtype)
        _check_running(a, dtype, name)
        if ufunc is np.add and dtype.kind == "f":
            a = a + a.dtype.type(0)  # torch starts from 0, so that no sum is -0.0
        if dtype == np.float16:
            return quiet.run(lambda: ufunc.accumulate(a, d, np.float32).astype(np.float16))
        if dtype == np.float32:  # torch's running sum is a double
            return quiet.run(lambda: ufunc.accumulate(a, d, np.float64).astype(np.float32))
        return quiet.run(ufunc.accumulate, a, d, dtype)

    def function(input: Tensor, dim: int, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
        a = input._data
        if out is not None:
            dtype = dtype_for(dtype, out)
            _check_running(a, out._data.dtype, name)
        data = compute(a, wrap_dim(dim, a.ndim), _sum_dtype(input, dtype))
        if out is not None:
            return write_out(out, data, name, input)
        made = result(data, input._device)
        return record(made, kind, (input,), self=input, dim=int(dim), _kind=input.dtype) if recording(input) else made

    def in_place(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        a = self._data
        d = wrap_dim(dim, a.ndim)
        if dtype is not None and dtype is not self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {dtypes.cpp_name(self.dtype)} and output tensor dtype "
                f"{dtypes.cpp_name(dtype)} should match"
            )
        _check_running(a, a.dtype, name)
        check_overlap(self)
        values = {"self": self, "dim": int(dim), "_kind": self.dtype}
        return write_in_place(self, (self,), kind, values, lambda: compute(a, d, a.dtype))

    for f, n in ((function, name), (in_place, f"{name}_")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}{' In place.' if n != name else ''}\n\nSource: `torch.{name}`."
        op(n, function=n == name)(f)


_running(
    "cumsum", np.add, node("CumsumBackward0", _cumsum_backward), "Sums of all elements up to each, along a dimension."
)
_running("cumprod", np.multiply, node("CumprodBackward0", _cumprod_backward),
         "Products of all elements up to each, along a dimension.")  # fmt: skip

_LogcumsumexpBackward0 = node("LogcumsumexpBackward0", _logcumsumexp_backward)


@op()
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) of all elements up to each, along a dimension.

    Source: `torch.logcumsumexp`.
    """
    a = input._data
    d = wrap_dim(dim, a.ndim)
    check_kernel(a, "f", "logcumsumexp_out_cpu")
    wide = a.astype(np.float32 if a.dtype == np.float16 else np.float64)
    data = quiet.run(np.logaddexp.accumulate, wide, d).astype(a.dtype) if a.ndim else a.copy()
    if out is not None:
        if out.dtype is not input.dtype:
            words = (input.dtype.scalar_name, out.dtype.scalar_name)
            raise RuntimeError("expected scalar_type {} but found {}".format(*words))
        return write_out(out, data, "logcumsumexp", input)
    made = result(data, input._device)
    return record(made, _LogcumsumexpBackward0, (input,), self=input, dim=int(dim)) if recording(input) else made


def _running_extreme(name: str, beats: np.ufunc, what: str) -> None:
    """`cummax` and `cummin`: values, and the index each stands at, the last of equal ones."""
    kind = node(f"{name.title()}Backward0", _cumextreme_backward)
    pair = getattr(return_types, name)

    def function(input: Tensor, dim: int, *, out: Any = None) -> Any:
        a = input._data
        if not a.ndim and not -1 <= dim <= 0:
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        d = wrap_dim(dim, a.ndim) if a.size else 0
        check_kernel(a, "bif", f"{name}_cpu")
        values, indices = a.copy(order="C"), np.zeros(a.shape, np.int64)
        if a.ndim and a.size:
            rows, at = np.moveaxis(values, d, 0), np.moveaxis(indices, d, 0)
            for i in range(1, len(rows)):
                new = beats(rows[i], rows[i - 1]) | (rows[i] != rows[i])
                new &= (rows[i - 1] == rows[i - 1]) | (rows[i] != rows[i])
                rows[i] = np.where(new, rows[i], rows[i - 1])
                at[i] = np.where(new, i, at[i - 1])
        if out is not None:
            check_pair(name, out, input.dtype)
            return pair.out((write_out(out[0], values, name, input), write_out(out[1], indices, name)))
        made, where_ = result(values, input._device), result(indices, input._device)
        if recording(input):
            record(made, kind, (input,), self=input, dim=int(dim), indices=where_)
        return pair((made, where_))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nSource: `torch.{name}`."
    op(name, strict=True)(function)


_running_extreme("cummax", np.greater_equal, "The largest element up to each, along a dimension, and its index.")
_running_extreme("cummin", np.less_equal, "The smallest element up to each, along a dimension, and its index.")


def _check_ends(input: Tensor, ends: tuple[Tensor | None, ...], dim: int) -> None:
    """RuntimeError for what cannot be put before or behind a tensor along a dimension."""
    d = wrap_dim(dim, input._data.ndim)
    for end in ends:
        if end is None:
            continue
        if end._data.ndim != input._data.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        for i, (n, m) in enumerate(zip(input.shape, end.shape, strict=True)):
            if n != m and i != d:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the "
                    f"differencing dimension; input.size({i}) = {n}, but got tensor.size({i}) = {m}"
                )


@op(strict=True)
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Differences of neighbours along a dimension, taken n times; logical_xor for bool tensors.

    RuntimeError for a 0-d tensor. Source: `torch.diff`.
    """
    if not input._data.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    ends = [t for t in (prepend, input, append) if t is not None]
    if len(ends) > 1:
        _check_ends(input, (prepend, append), dim)
    t = FUNCTIONS["cat"](ends, dim) if len(ends) > 1 else input
    d = wrap_dim(dim, t._data.ndim)
    if n == 0:
        return FUNCTIONS["zeros_like"](input).copy_(input)
    for _ in range(min(n, t.shape[d])):
        rest = max(t.shape[d] - 1, 0)
        sooner, later = t.narrow(dim, 0, rest), t.narrow(dim, t.shape[d] - rest, rest)
        t = later.logical_xor(sooner) if t._data.dtype.kind == "b" else later - sooner
    return t if out is None else write_out(out, t._data, "sub", input)
