"""Sorting, the largest elements, what is unique, and searching in what is sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..dtypes import check_range, cpp_name
from ..graph.node import node, not_differentiable
from ..tensor import Tensor, fresh, wrap_dim
from ..warn import warn_in_torch
from .arguments import type_name, unfit
from .core import op, record, recording, result, result_like, takes_out, write_out
from .extremes import choose, selecting_backward
from .pointwise import check_kernel
from .selection import sorted_positions, top

_SortBackward0, _SortBackward1, _TopkBackward0 = (
    node(f"{name}", lambda grad, dim, indices, self_sym_sizes: selecting_backward(grad, dim, indices, self_sym_sizes))
    for name in ("SortBackward0", "SortBackward1", "TopkBackward0")
)


def _order(a: np.ndarray, d: int, descending: bool, stable: bool) -> np.ndarray:
    """The order along a dimension, nan above everything; ties keep theirs if stable (or few), else torch's."""
    if not a.ndim:
        return np.zeros((), np.int64)
    if not stable and a.shape[d] > 16:
        rows = np.moveaxis(a, d, -1)
        found = np.empty(rows.shape, np.int64)
        for at in np.ndindex(*rows.shape[:-1]):
            found[at] = sorted_positions(rows[at], descending)
        return np.moveaxis(found, -1, d)
    if not descending:
        return np.argsort(a, d, kind="stable")
    turned = np.argsort(np.flip(a, d), d, kind="stable")
    return np.flip(a.shape[d] - 1 - turned, d)


def _sorted(input: Tensor, dim: int, descending: bool, stable: bool) -> tuple[np.ndarray, np.ndarray]:
    a = input._data
    if a.dtype == bool:
        a = a.view(np.uint8) != 0  # memory read as bools may hold any byte
    d = wrap_dim(dim, a.ndim)
    order = _order(a, d, descending, stable)
    return np.take_along_axis(a, order, d) if a.ndim else a.copy(), order


_UNSET: Any = object()


@op(strict=True)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: Any = _UNSET, out: Any = None) -> Any:
    """The elements in order along a dimension, and the indices they come from.

    Source: `torch.sort`.
    """
    if not isinstance(descending, bool):
        raise unfit("sort")
    values, indices = _sorted(input, dim, descending, stable is True)
    kind = _SortBackward0 if stable is _UNSET else _SortBackward1
    return choose(input, dim, values, indices, kind, return_types.sort, "sort", out, True)


@op()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices that sort along a dimension.

    Source: `torch.argsort`.
    """
    return result_like(_sorted(input, dim, descending, stable)[1], input)


@op()
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first dimension.

    Source: `torch.msort`.
    """
    made = sort(input, 0)[0]
    return made if out is None else write_out(out, made._data, "sort", input)


@op()
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None) -> Any:
    """The k largest (or smallest) elements along a dimension, and their indices. RuntimeError if there are fewer.

    Source: `torch.topk`.
    """
    a = input._data
    d = wrap_dim(dim, a.ndim)
    if not 0 <= k <= (a.shape[d] if a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    check_kernel(a, "if", "topk_cpu")
    if a.ndim:
        rows = np.moveaxis(a, d, -1)
        at = np.empty((*rows.shape[:-1], k), np.int64)
        for i in np.ndindex(*rows.shape[:-1]):
            at[i] = top(rows[i], k, largest, sorted)
        indices = np.asarray(np.moveaxis(at, -1, d), order="C")
        values = np.asarray(np.take_along_axis(a, indices, d), order="C")
    else:
        indices, values = np.zeros((), np.int64), a.copy()
    return choose(input, dim, values, indices, _TopkBackward0, return_types.topk, "topk", out)


# what is unique -------------------------------------------------------------------------------------------------------


def _no_derivative(name: str, what: str) -> type:
    def refuse(grad: Tensor) -> Tensor:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return node(name, refuse)


_Unique2Backward0 = _no_derivative("Unique2Backward0", "_unique2")
_UniqueDimBackward0 = _no_derivative("UniqueDimBackward0", "unique_dim")
_UniqueConsecutiveBackward0 = _no_derivative("UniqueConsecutiveBackward0", "unique_consecutive")


def _refuse_empty(a: np.ndarray, d: int | None) -> None:
    if d is not None and not a.size and (a.shape[d] or a.shape.count(0) > 1):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")


def _check(of: str, input: Any, dim: Any, position: str, **flags: Any) -> None:
    """Raise torch's TypeError for arguments of a wrong type, in the words of the function behind."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{of}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    if dim is not None and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"{of}(): argument 'dim'{position} must be int, not {type_name(dim)}")
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{of}(): argument '{name}' must be bool, not {type_name(flag)}")


def _dimension(dim: int, a: np.ndarray) -> int:
    if not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, a.ndim)


def _several(input: Tensor, kind: type, values: np.ndarray, inverse: Any, counts: Any) -> Any:
    made = fresh(values, input._device)
    if recording(input):
        record(made, kind, (input,))
    extra = [result(np.asarray(x, np.int64, order="C"), input._device) for x in (inverse, counts) if x is not None]
    return (made, *extra) if extra else made


@op()
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:  # fmt: skip
    """The different elements in order (or slices along a dimension); if asked, where each went and how often it occurs.

    Source: `torch.unique`.
    """
    of = "_unique2" if dim is None else "unique_dim"
    _check(of, input, dim, " (position 2)", sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    a = input._data
    d = None if dim is None else _dimension(dim, a)
    _refuse_empty(a, d)
    if d is not None and not a.size:
        values, inverse, counts = a, np.empty(0, np.int64), np.empty(0, np.int64)
    else:
        values, inverse, counts = np.unique(
            a.reshape(-1) if d is None else a, return_inverse=True, return_counts=True, axis=d, equal_nan=False
        )
    inverse = inverse.reshape(a.shape if d is None else -1)
    kind = _Unique2Backward0 if dim is None else _UniqueDimBackward0
    return _several(input, kind, values, inverse if return_inverse else None, counts if return_counts else None)


@op()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:  # fmt: skip
    """One of every run of equal elements (or slices); if asked, where each went and the runs' lengths.

    Source: `torch.unique_consecutive`.
    """
    _check("unique_consecutive", input, dim, "", return_inverse=return_inverse, return_counts=return_counts)
    a = input._data
    d = None if dim is None else _dimension(dim, a)
    _refuse_empty(a, d)
    rows = a.reshape(-1) if d is None else np.moveaxis(a, d, 0)
    flat = rows.reshape(len(rows), -1) if rows.size else rows.reshape(len(rows), 0)
    starts = np.ones(len(rows), bool)
    if len(rows):
        starts[1:] = (flat[1:] != flat[:-1]).any(1)
    inverse = np.cumsum(starts) - 1
    counts = np.diff(np.append(np.flatnonzero(starts), len(rows)))
    values = rows[starts]
    if d is not None:
        values = np.moveaxis(np.asarray(values, order="C"), 0, d)
    shaped = inverse.reshape(a.shape) if d is None else inverse
    found = _several(
        input,
        _UniqueConsecutiveBackward0,
        values,
        shaped if return_inverse else None,
        counts if return_counts else None,
    )
    if d is None and len(rows):
        made = found if isinstance(found, tuple) else (found,)
        for t in made if not return_inverse else made[::2]:
            _with_room(t, len(rows))
    return found


def _with_room(t: Tensor, count: int) -> None:
    """Give a result, of one dimension, the memory that torch had for `count` elements before it knew how many they are."""
    data = t._data
    room = np.zeros(count, data.dtype)
    room[: data.size] = data
    t._own_storage().buffer, t._data = room, room[: data.size]


_NoBincount = not_differentiable("aten::bincount")


# searching and counting -----------------------------------------------------------------------------------------------


def _search(name: str, sequence: np.ndarray, values: np.ndarray, right: bool, kind: type) -> np.ndarray:
    check_kernel(sequence if sequence.dtype == values.dtype else values, "if", "searchsorted_out_cpu")
    side = "right" if right else "left"
    if sequence.ndim == 1:
        return np.asarray(np.searchsorted(sequence, values, side)).astype(kind)
    out: np.ndarray = np.empty(values.shape, kind)
    for at in np.ndindex(*sequence.shape[:-1]):
        out[at] = np.searchsorted(sequence[at], values[at], side)
    return out


@op(method=False)
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where values would go in a sorted sequence (its last dimension) to keep it sorted.

    RuntimeError for two dtypes, or shapes that do not go together. Source: `torch.searchsorted`.
    """
    if isinstance(input, (list, tuple)):
        raise unfit("searchsorted")
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    s = sorted_sequence._data
    v = input._data if isinstance(input, Tensor) else np.array(input)
    if s.ndim != 1 and not v.ndim:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({s.ndim}) and input value's dim({v.ndim}) numel({v.size})"
        )
    for what, x, line in (("input value", v, 32), ("boundary", s, 38)):
        if not x.flags.c_contiguous:
            warn_in_torch(
                f"torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to extra "
                f"data copy when converting non-contiguous tensor to contiguous, please use contiguous {what} tensor if "
                "possible. This message will only appear once per program.", f"aten/src/ATen/native/BucketizationUtils.h:{line}", once=True,
            )  # fmt: skip
    if isinstance(input, Tensor) and s.ndim != 1 and (s.ndim != v.ndim or s.shape[:-1] != v.shape[:-1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor {list(s.shape)} and "
            f"input value tensor {list(v.shape)}"
        )
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape:
            raise RuntimeError(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                f"{list(s.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter._data.dtype != np.int64:
            raise RuntimeError(
                f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar_name}"
            )
        if sorter._data.size and not (sorter._data.min() >= 0 and sorter._data.max() < s.shape[-1]):
            raise RuntimeError("torch.searchsorted(): sorter index out of range")
        s = np.take_along_axis(s, sorter._data, -1)
    data = _search("searchsorted", s, v, right or side == "right", np.int32 if out_int32 else np.int64)
    return write_out(out, data, "searchsorted") if out is not None else result(data, sorted_sequence._device)


@op(method=False)
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Which interval between sorted boundaries each value falls into.

    Source: `torch.bucketize`.
    """
    if boundaries._data.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._data.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


@op()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each whole number from 0 on occurs, or the sums of weights. RuntimeError for negative numbers.

    Source: `torch.bincount`.
    """
    a = input._data
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    check_kernel(a, "i", "bincount_cpu")
    if a.ndim != 1 or (a.size and a.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return result(np.bincount(a, minlength=minlength).astype(np.int64), input._device)
    w = weights._data
    if w.shape != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    data = np.bincount(a, w.astype(np.float64), minlength)
    made = result(data.astype(np.float32 if w.dtype == np.float32 else np.float64), input._device)
    return record(made, _NoBincount, (weights,)) if recording(weights) else made


@op()
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Tensor | None = None) -> Tensor:
    """How many elements fall into each of equal bins between two numbers (those of the tensor, if both are 0).

    Source: `torch.histc`.
    """
    a = input._data
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = (float(a.min()), float(a.max())) if min == max and a.size else (float(min), float(max))
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    for x in (low, high):
        check_range(x, input.dtype, in_c=True)
    check_kernel(a, "f", "linspace_cpu" if a.dtype.kind == "b" else "histogram_cpu")
    if out is not None and out.dtype is not input.dtype:
        raise RuntimeError(
            "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
            f"{cpp_name(input.dtype)} and hist {cpp_name(out.dtype)}"
        )
    data = np.histogram(a.astype(np.float64).reshape(-1), bins, (low, high))[0].astype(a.dtype)
    return write_out(out, data, "histc", input) if out is not None else result(data, input._device)


@op(method=False, strict=True)
@takes_out("isin")
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element is among the others; either may be a number.

    Source: `torch.isin`.
    """
    a, b = (x._data if isinstance(x, Tensor) else np.array(x) for x in (elements, test_elements))
    for x in (a, b):
        if x.dtype.kind == "b":
            raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    if isinstance(test_elements, Tensor) and b.size < 10 * a.size**0.145:
        test_elements.view(-1)  # raises, as torch does, for a tensor that is not row-major
    where = next(x._device for x in (elements, test_elements) if isinstance(x, Tensor))
    return result(np.isin(a, b, invert=invert), where)
