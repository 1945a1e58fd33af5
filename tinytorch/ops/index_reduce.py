"""Reducing into places that an index names: scatter_reduce and index_reduce, with one backward for both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node
from ..tensor import Tensor, wrap_dim
from ..warn import warn_in_torch
from .by_hand import DelayedError
from .copying import contiguous_format
from .core import FUNCTIONS, check_no_overlap, check_overlap, common_device, expect_tensor, quiet
from .index_writes import check_indexed
from .scatter import INDEXING_FILE, along, check_bounds, check_scattered, in_range, points
from .writing import both_forms

_KERNELS = {"sum": np.add, "prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}


class _Along:
    """How one of the two operations reads and writes along its index, for the backward."""

    NO_SECOND: str

    def __init__(self, dim: int, index: Tensor) -> None:
        self.at = dim, index


class _Scattered(_Along):
    NO_SECOND = (
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self"
    )

    def get(self, t: Tensor) -> Tensor:
        return t.gather(*self.at)

    def add(self, t: Tensor, src: Tensor) -> Tensor:
        return t.scatter_add(*self.at, src)

    def clear(self, t: Tensor) -> Tensor:
        return t.scatter(*self.at, 0)

    def reduce(self, t: Tensor, src: Tensor, *how: Any) -> Tensor:
        return t.scatter_reduce(*self.at, src, how[0], include_self=how[1])


class _Indexed(_Along):
    NO_SECOND = (
        "index_reduce(): Double backward is unsupported for source when >1 zeros in source are scattered to the same "
        "position in self"
    )

    def get(self, t: Tensor) -> Tensor:
        return t.index_select(*self.at)

    def add(self, t: Tensor, src: Tensor) -> Tensor:
        return t.index_add(*self.at, src)

    def clear(self, t: Tensor) -> Tensor:
        return t.index_fill(*self.at, 0)

    def reduce(self, t: Tensor, src: Tensor, *how: Any) -> Tensor:
        return t.index_reduce(*self.at, src, how[0], include_self=how[1])


def _counted(at: _Along, like: Tensor, src: Tensor, include_self: bool) -> Tensor:
    """How many values meet at each place, 1 where there are none."""
    start = FUNCTIONS["ones_like" if include_self else "zeros_like"](like)
    n = at.add(start, FUNCTIONS["ones_like"](src))
    return n.masked_fill(n == 0, 1)


def _grad_of_self(at: _Along, grad: Tensor, self: Tensor, src: Tensor, reduce: str, include_self: bool, result: Tensor) -> Tensor:  # fmt: skip
    out = grad
    if reduce == "prod":
        without_zeros = self.masked_fill(self == 0, 1)
        out = grad * at.reduce(without_zeros, src, reduce, include_self) / without_zeros
    elif reduce == "mean":
        out = grad / _counted(at, grad, src, include_self)
    elif reduce in ("amax", "amin"):
        out = (self == result) * _shared_out(at, grad, self, src, result)
    return out if include_self else at.clear(out)


def _grad_of_source(at: _Along, grad: Tensor, self: Tensor, src: Tensor, reduce: str, include_self: bool, result: Tensor) -> Tensor:  # fmt: skip
    if reduce == "sum":
        return at.get(grad)
    if reduce == "mean":
        return at.get(grad / _counted(at, grad, src, include_self))
    if reduce in ("amax", "amin"):
        return (src == at.get(result)) * at.get(_shared_out(at, grad, self, src, result))
    zero = src == 0
    zeros_there = at.get(at.add(FUNCTIONS["zeros_like"](self), zero.to(self.dtype)))
    only_zero = zero & (zeros_there == 1)
    others = at.reduce(self, src.masked_fill(only_zero, 1), reduce, include_self)
    out = FUNCTIONS["where"](only_zero, at.get(grad * others), at.get(grad * result) / src.masked_fill(zero, 1))
    if (zeros_there._data > 1).any():
        return DelayedError(at.NO_SECOND, 1)(out)
    return out


def _shared_out(at: _Along, grad: Tensor, self: Tensor, src: Tensor, result: Tensor) -> Tensor:
    """The gradient divided among those that reached the extreme value."""
    mine, theirs = (self == result).to(self.dtype), (src == at.get(result)).to(self.dtype)
    return grad / at.add(mine, theirs)


_ScatterReduceBackward0 = node(
    "ScatterReduceBackward0",
    lambda grad, self, dim, index, src, reduce, include_self, result: _grad_of_self(
        _Scattered(dim, index), grad, self, src, reduce, include_self, result
    ),
    lambda grad, self, dim, index, src, reduce, include_self, result: _grad_of_source(
        _Scattered(dim, index), grad, self, src, reduce, include_self, result
    ),
)
_IndexReduceBackward0 = node(
    "IndexReduceBackward0",
    lambda grad, self, dim, index, source, reduce, include_self, result: _grad_of_self(
        _Indexed(dim, index), grad, self, source, reduce, include_self, result
    ),
    lambda grad, self, dim, index, source, reduce, include_self, result: _grad_of_source(
        _Indexed(dim, index), grad, self, source, reduce, include_self, result
    ),
)


def _reduce_at(a: np.ndarray, at: Any, values: np.ndarray, reduce: str, include_self: bool) -> None:
    """Reduce values into `a[at]`; without `include_self`, as if nothing had been there."""
    if not include_self:
        a[at] = _start(reduce, a.dtype)
    quiet.run(_KERNELS[reduce].at, a, at, values)
    if reduce == "mean":
        n = np.full(a.shape, int(include_self), a.dtype)
        np.add.at(n, at, np.ones(values.shape, a.dtype))
        np.maximum(n, 1, out=n)
        quiet.run(np.floor_divide if a.dtype.kind in "iu" else np.true_divide, a, n, out=a)


def _start(reduce: str, kind: np.dtype) -> Any:
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    highest = reduce == "amin"
    if kind.kind in "fb":
        return (np.inf if highest else -np.inf) if kind.kind == "f" else highest
    return np.iinfo(kind).max if highest else np.iinfo(kind).min


@both_forms("The source's elements reduced into the places that `index` names along one dimension.",
            lambda self, values: (_ScatterReduceBackward0, (self, values["src"]), {"self": self}),
            layout=contiguous_format)  # fmt: skip
def _scatter_reduce(self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> None:  # fmt: skip
    expect_tensor(src, "scatter_reduce")
    if index._device is not self._device or src._device is not self._device:
        common_device("scatter_reduce_two", self, index, src, names=("self", "index", "src"))
    check_scattered(self, dim, index, src)
    if reduce not in _KERNELS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    a, i, s = self._data, index._data, src._data
    if not i.size:
        return
    d, size = wrap_dim(dim, a.ndim), i.shape or (1,)
    in_range(a, d, i)
    if reduce == "mean" and a.dtype.kind == "b":
        raise NotImplementedError("\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'")
    values = s.reshape(s.shape or (1,))[tuple(slice(n) for n in size)]
    if a.ndim:
        _reduce_at(a, points(a, d, i.reshape(size)), values, reduce, include_self)
    else:  # one place, for any number of values
        _reduce_at(a.reshape(1), np.zeros(values.size, np.int64), values.reshape(-1), reduce, include_self)


@both_forms("Parts of the source reduced into those at the given indices of one dimension.",
            lambda self, values: (_IndexReduceBackward0, (self, values["source"]), {"self": self}),
            layout=contiguous_format)  # fmt: skip
def _index_reduce(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> None:  # fmt: skip
    expect_tensor(source, "index_reduce")
    if reduce not in _KERNELS or reduce == "sum":
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    check_indexed("index_reduce", self, dim, index, source)
    check_overlap(self)
    check_no_overlap(self, index, source)
    warn_in_torch("index_reduce() is in beta and the API may change at any time.", f"{INDEXING_FILE}:1409", once=True)
    a, i, s = self._data, index._data, source._data
    d = wrap_dim(dim, a.ndim)
    if not i.size:
        return
    check_bounds(i, a.shape[d] if a.ndim else 1, 0, "index out of range in self", IndexError)
    if a.ndim:
        _reduce_at(a, along(a.ndim, d, i.reshape(-1)), s if s.ndim else s.reshape(1), reduce, include_self)
    else:
        _reduce_at(a.reshape(1), i.reshape(-1), s.reshape(-1), reduce, include_self)
