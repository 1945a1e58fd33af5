"""Strides of results by torch's rules, other strides over the same memory, and overlaps.

All functions work on arrays. Strides are in bytes, as in NumPy, unless it is said otherwise.
Source: torch's `TensorIterator` (`compute_strides`, `reorder_dimensions`), `infer_dense_strides`
and `is_non_overlapping_and_dense`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .storage import address_of, byte_extent, contiguous_strides, make_array_over

ndarray = np.ndarray


def wrap_dim(dim: Any, ndim: int) -> int:
    """Return a dimension counted from the start; negative ones count from the end.

    IndexError, in torch's words, out of range.
    """
    n = ndim or 1  # torch takes dim 0 and -1 of a 0-d tensor
    if type(dim) is not int:
        dim = operator.index(dim)
    if not -n <= dim < n:
        if not -(1 << 63) <= dim < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim + n if dim < 0 else dim


def size_of_dim(shape: tuple, dim: int) -> int:
    """Return the size of a dimension, counted from the start; 1 of a 0-d tensor, as in torch."""
    return shape[dim] if shape else 1


def wrap_given_dims(dims: Any, ndim: int) -> tuple[int, ...]:
    """Return what `wrap_dims` returns; no dimension for None or ()."""
    return wrap_dims(dims, ndim) if dims else ()


def wrap_dims(dims: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions of a reduction, counted from the start; all of them for None or ().

    RuntimeError if one is there twice.
    """
    if dims is None or dims == ():
        return tuple(range(ndim))
    out: list[int] = []
    for dim in dims if isinstance(dims, (tuple, list)) else (dims,):
        d = wrap_dim(dim, ndim)
        if d in out:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        out.append(d)
    return tuple(out) if ndim else ()


def strides_in_elements(a: ndarray) -> tuple[int, ...]:
    """Return the steps from one index to the next, in elements as PyTorch counts them."""
    itemsize = a.itemsize
    return tuple([step // itemsize for step in a.strides])


def memory_owner(a: ndarray) -> ndarray:
    """Return the array that owns the memory of this one."""
    while (base := a.base) is not None:
        if not isinstance(base, ndarray):
            # It may be an UntypedStorage, whose buffer has the memory.
            base = getattr(base, "buffer", None)
            if base is None:
                break
        a = base
    return a


def whole_memory(a: ndarray) -> ndarray:
    """Return a flat array over all of the memory that an array is a part of."""
    if a.base is None:
        return a if a.ndim == 1 else a.ravel("K")
    whole = memory_owner(a)
    # An array with gaps over some other object's memory.
    if not whole.flags.forc and whole.base is not None:
        whole = ndarray(
            (byte_extent(whole.shape, whole.strides, whole.itemsize),), np.uint8, whole.base
        )
    return whole.ravel("K")


def is_dense(a: ndarray) -> bool:
    """Return True if the elements fill their memory without gaps, and no two share a cell."""
    if a.flags.forc:
        return True
    expected = a.itemsize
    for step, n in _by_stride(a):
        if step != expected:
            return False
        expected *= n
    return True


def _by_stride(a: ndarray) -> list[tuple[int, int]]:
    return sorted([(s, n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1])


def has_overlap(a: ndarray) -> bool:
    """Return True if two indices may reach the same cell."""
    extent = a.itemsize
    for step, n in _by_stride(a):
        if step < extent:
            return True
        extent = step * (n - 1) + extent
    return False


def is_expanded(a: ndarray) -> bool:
    """Return True if torch sees that elements share cells. It looks for strides of 0.

    Any other overlap is "too hard" for it.
    """
    if not a.size or 0 not in a.strides:
        return False
    return any([step == 0 and n > 1 for step, n in zip(a.strides, a.shape, strict=True)])


def restride_array(a: ndarray, shape: tuple, strides: tuple, offset: int = 0) -> ndarray:
    """Return an array over the same memory. `offset` is from the first element of `a`, in bytes."""
    if a.flags.c_contiguous and offset >= 0:
        try:
            return ndarray(shape, a.dtype, a, offset, strides)
        except (ValueError, OverflowError):
            # It reaches beyond `a`, and has to be made over the whole memory.
            pass
    whole = whole_memory(a)
    return make_array_over(
        whole, shape, a.dtype, strides, address_of(a) - address_of(whole) + offset
    )


def empty_like_strides(shape: tuple, dtype: np.dtype, strides: tuple) -> ndarray:
    """Return a new array with these strides, not initialised."""
    if 0 not in shape and strides == contiguous_strides(shape, dtype.itemsize):
        return np.empty(shape, dtype)
    if 0 in shape:
        # NumPy has other strides for empty arrays. This one is over no array, so that it is itself the
        # `base` of its views.
        return ndarray(shape, dtype, bytearray(), 0, strides)
    cells = np.empty(byte_extent(shape, strides, dtype.itemsize) // dtype.itemsize, dtype)
    return ndarray(shape, dtype, cells, 0, strides)


def copy_with_strides(data: ndarray, strides: tuple) -> ndarray:
    """Return the same values with these strides, which must be dense."""
    if data.strides == strides:
        return data
    out = empty_like_strides(data.shape, data.dtype, strides)
    out[...] = data
    return out


def _sort_inner_first(n: int, compare: Callable[[int, int], int]) -> list[int]:
    """Return the dimensions, the innermost first.

    An insertion sort like torch's `reorder_dimensions`: `compare` gives 0 for "either order", so
    that other ways of sorting would end with another order.
    """
    order = list(range(n - 1, -1, -1))
    for i in range(1, n):
        at = i
        for j in range(i - 1, -1, -1):
            swap = compare(order[j], order[at])
            if swap > 0:
                order[j], order[at], at = order[at], order[j], j
            elif swap < 0:
                break
    return order


def dense_strides(a: ndarray, itemsize: int = 0) -> tuple:
    """Return the strides that `empty_like` gives.

    Those of a dense array, else dense ones in the same order.
    """
    shape, n = a.shape, itemsize or a.itemsize
    if 0 in shape or is_dense(a):
        return a.strides if n == a.itemsize else tuple([s // a.itemsize * n for s in a.strides])
    return strides_of_result(shape, n, (a,))


def _shared_strides(shape: tuple, operands: tuple) -> tuple | None:
    """Return the strides, in elements, that a result has in common with all of its operands.

    None unless all operands have the shape of the result and the same dense layout: then torch
    compares dimensions one by one.
    """
    for a in operands:
        if a.shape != shape:
            return None
    if all([a.flags.c_contiguous for a in operands]):
        return contiguous_strides(shape)
    steps = [tuple([s // a.itemsize for s in a.strides]) for a in operands]
    if len(shape) == 4:
        _, c, h, w = shape
        channels_last = (h * w * c, 1, w * c, c)
        if all([_strides_agree(shape, own, channels_last) for own in steps]):
            return channels_last
    if all([own == steps[0] for own in steps]) and is_dense(operands[0]):
        return steps[0]
    return None


def _strides_agree(shape: tuple, strides: tuple, others: tuple) -> bool:
    """Return True if strides are the same but for dimensions of size 1, where they have no effect."""
    return all([n == 1 or s == t for n, s, t in zip(shape, strides, others, strict=True)])


def strides_of_result(shape: tuple, itemsize: int, operands: tuple) -> tuple:
    """Return the strides of a result of operands, as torch's TensorIterator chooses them.

    The order of two dimensions is that of the first operand that has different strides for them.
    """
    strides = _shared_strides(shape, operands)
    if strides is not None:
        return tuple([s * itemsize for s in strides])
    n, steps = len(shape), []
    for a in operands:
        lead = n - a.ndim
        # A dimension along which the operand is repeated has stride 0, and no say in the order.
        is_repeated = [k == 1 and shape[lead + i] != 1 for i, k in enumerate(a.shape)]
        own = [0 if is_repeated[i] else step for i, step in enumerate(a.strides)]
        steps.append([0] * lead + own)

    def compare(d0: int, d1: int) -> int:
        for s in steps:
            if s[d0] and s[d1]:
                if s[d0] != s[d1]:
                    return -1 if s[d0] < s[d1] else 1
                if shape[d0] > shape[d1]:
                    return 1
        return 0

    order = _sort_inner_first(n, compare)
    is_row_major = order == list(range(n - 1, -1, -1))
    result, step = [0] * n, itemsize
    for d in order:
        result[d] = step
        # In row-major order alone, torch counts a size of 0 as 1.
        step *= shape[d] or int(is_row_major)
    return tuple(result)


def lay_out_result(data: Any, *operands: ndarray) -> ndarray:
    """Return what NumPy computed from `operands`, with the strides that torch gives the result."""
    if type(data) is not ndarray:
        return np.asarray(data)
    ndim = data.ndim
    if ndim < 2 and data.size:
        return data
    if not data.size:
        return copy_with_strides(data, strides_of_result(data.shape, data.itemsize, operands))
    # Along a size of 1 any stride is as good, so that for such a shape NumPy calls an array
    # contiguous whose strides are not those that torch gives: below, a 1 counts as not contiguous.
    for a in operands:
        # An operand without dimensions has no say.
        if a.ndim and (a.ndim != ndim or 1 in a.shape or not a.flags.c_contiguous):
            return copy_with_strides(data, strides_of_result(data.shape, data.itemsize, operands))
    if data.flags.c_contiguous and 1 not in data.shape:
        return data
    return copy_with_strides(data, contiguous_strides(data.shape, data.itemsize))


def view_strides(shape: tuple, strides: tuple, itemsize: int, new: tuple) -> tuple | None:
    """Return the strides of a view of shape `new`, or None if there can be no view.

    Source: torch's `computeStride`.

    A chunk is a group of dimensions whose elements are evenly spaced; only within one can sizes be
    split or joined.
    """
    if 0 in shape:
        return strides if new == shape else contiguous_strides(new, itemsize)
    if not shape:
        return (itemsize,) * len(new)
    out = [0] * len(new)
    at = len(new) - 1
    chunk = strides[-1]
    elements = left = 1
    for d in range(len(shape) - 1, -1, -1):
        elements *= shape[d]
        if d == 0 or (shape[d - 1] != 1 and strides[d - 1] != elements * chunk):
            while at >= 0 and (left < elements or new[at] == 1):
                out[at] = left * chunk
                left *= new[at]
                at -= 1
            if left != elements:
                return None
            if d > 0:
                chunk = strides[d - 1]
                elements = left = 1
    return tuple(out) if at == -1 else None


_SHARED_MEMORY_ERROR = (
    "unsupported operation: some elements of the input tensor and the written-to tensor "
    "refer to a single memory location. Please clone() the tensor before performing the "
    "operation."
)


def find_shared_memory(a: ndarray, b: ndarray) -> str:
    """Return how two arrays overlap, as far as torch sees it: "full", "partial", or ""."""
    if memory_owner(a) is not memory_owner(b) or not (
        a.size and b.size and is_dense(a) and is_dense(b)
    ):
        return ""
    a0, b0 = address_of(a), address_of(b)
    if a0 == b0 and a.nbytes == b.nbytes:
        return "full" if a.strides == b.strides else "partial"
    return "partial" if a0 < b0 + b.nbytes and b0 < a0 + a.nbytes else ""


def check_overlap(target: ndarray, *sources: Any) -> None:
    """Raise torch's error if `target` overlaps with itself, or partly with a source."""
    if is_expanded(target):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers "
            "to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )
    for s in sources:
        # Two arrays that both own their memory cannot overlap, which is the usual case.
        may_overlap = (
            type(s) is ndarray
            and s is not target
            and (target.base is not None or s.base is not None)
        )
        if may_overlap and find_shared_memory(target, s) == "partial":
            raise RuntimeError(_SHARED_MEMORY_ERROR)


def check_no_overlap(target: ndarray, *sources: Any) -> None:
    """Raise torch's error if `target` shares memory with a source, partly or fully."""
    for s in sources:
        if type(s) is ndarray and find_shared_memory(target, s):
            raise RuntimeError(_SHARED_MEMORY_ERROR)


def broadcast_error(a: tuple, b: tuple) -> RuntimeError:
    """Return torch's error for two shapes that do not broadcast, or to more than any memory holds.

    It names the last dimension that does not fit.
    """
    n = max(len(a), len(b))
    sizes_a = (1,) * (n - len(a)) + a
    sizes_b = (1,) * (n - len(b)) + b
    for i in range(n - 1, -1, -1):
        x, y = sizes_a[i], sizes_b[i]
        if x != y and 1 not in (x, y):
            return RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at "
                f"non-singleton dimension {i}"
            )
    # They fit, and NumPy has refused more elements than can be counted.
    sizes = [y if x == 1 else x for x, y in zip(sizes_a, sizes_b, strict=True)]
    return RuntimeError(f"Storage size calculation overflowed with sizes={sizes}")


def broadcast_shape(shape: tuple, *others: tuple) -> tuple:
    """Return the shape that shapes broadcast to. RuntimeError, in torch's words, if they do not."""
    for other in others:
        try:
            shape = np.broadcast_shapes(shape, other)
        except ValueError:
            raise broadcast_error(shape, other) from None
    return shape


def check_broadcast_into(shape: tuple, *others: tuple) -> None:
    """Raise torch's error unless other shapes broadcast to `shape` itself."""
    both = broadcast_shape(shape, *[other for other in others if other != shape])
    if both != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape {list(both)}"
        )


def convert_values(data: Any, dtype: np.dtype) -> ndarray:
    """Return values in another dtype, as torch converts them.

    Floats become unsigned integers by way of int64, and wrap.
    """
    if data.dtype.kind == "f" and dtype.kind == "u":
        data = data.astype(np.int64)
    return data.astype(dtype)


def store_values(a: ndarray, data: Any) -> None:
    """Write values to an array, converted to its dtype as torch converts them."""
    if type(data) is ndarray:
        if data.dtype is a.dtype:
            # The bytes of a bool tensor may have any value (by `view(dtype)`); torch writes 0 or 1.
            a[...] = data.view(np.uint8) != 0 if data.dtype.kind == "b" else data
            return
        if data.dtype.kind == "f" and a.dtype.kind == "u":
            data = data.astype(np.int64)
    np.copyto(a, data, "unsafe")


def store_one_by_one(a: ndarray, data: Any, compute_anew: Callable[[], Any]) -> None:
    """Write to elements that overlap as torch does, one after the other.

    Each sees what the ones before it wrote.

    `compute_anew`: computes the data once more, after the elements of one turn were written.
    """
    count = byte_extent(a.shape, a.strides, a.itemsize) // a.itemsize
    steps = tuple([s // a.itemsize * 8 for s in a.strides])
    cells = np.ndarray(a.shape, np.int64, np.arange(count), 0, steps).reshape(-1)
    # An element's turn: how many elements before it have the same cell. Those of one turn do not
    # overlap.
    turns, last_turn = np.empty(cells.size, np.int64), dict.fromkeys(range(count), -1)
    for i, cell in enumerate(cells.tolist()):
        turns[i] = last_turn[cell] = last_turn[cell] + 1
    for turn in range(max(last_turn.values()) + 1):
        is_written = (turns == turn).reshape(a.shape)
        np.copyto(a, data if turn == 0 else compute_anew(), "unsafe", where=is_written)


def is_channels_last(a: np.ndarray) -> bool:
    """Return True if dimension 1 of images or volumes comes last in memory.

    By strides alone, gaps or not; of several readings that fit, row by row is preferred. Source:
    c10's MemoryFormat.h.
    """
    if a.ndim not in (4, 5) or a.strides[1] == 0:
        return False
    least = 0
    for d in (1, *range(a.ndim - 1, 1, -1), 0):
        if not a.shape[d] or a.strides[d] < least or (d == 0 and least == a.strides[1]):
            return False
        least = a.strides[d] * max(a.shape[d], 1)
    return True
