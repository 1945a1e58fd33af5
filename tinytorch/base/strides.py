"""How elements lie in memory: strides of results by torch's rules, and other looks at the same memory.

Everything here is about plain arrays; strides are in bytes, as NumPy has them. Source: torch's `TensorIterator`
(`compute_strides`, `reorder_dimensions`), `infer_dense_strides` and `is_non_overlapping_and_dense`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .storage import address, contiguous_strides, look, reach

ndarray = np.ndarray


def wrap_dim(dim: Any, ndim: int) -> int:
    """A dimension counted from the end brought to one from the start. IndexError in torch's words out of range."""
    n = ndim or 1
    if type(dim) is not int:
        dim = operator.index(dim)
    if not -n <= dim < n:
        if not -(1 << 63) <= dim < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim + n if dim < 0 else dim


def wrap_dims(dims: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions of a reduction, counted from the start; all of them for None or (). RuntimeError if one is twice."""
    if dims is None or dims == ():
        return tuple(range(ndim))
    out: list[int] = []
    for dim in dims if isinstance(dims, (tuple, list)) else (dims,):
        d = wrap_dim(dim, ndim)
        if d in out:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        out.append(d)
    return tuple(out) if ndim else ()


def owner(a: ndarray) -> ndarray:
    """The array that owns the memory that this one looks at."""
    while (base := a.base) is not None:
        if not isinstance(base, ndarray):
            base = getattr(
                base, "buffer", None
            )  # of an empty array that begins outside of its memory
            if base is None:
                break
        a = base
    return a


def memory_of(a: ndarray) -> ndarray:
    """All the memory that an array looks at, flat."""
    if a.base is None and a.ndim == 1:
        return a
    whole = owner(a)
    if (
        not whole.flags.forc and whole.base is not None
    ):  # a strided array whose memory is flat below
        whole = ndarray((reach(whole.shape, whole.strides, whole.itemsize),), np.uint8, whole.base)
    return whole.ravel("K")


def is_dense(a: ndarray) -> bool:
    """Whether the elements fill their memory without gaps and none is reached twice."""
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


def overlaps(a: ndarray) -> bool:
    """Whether two indices may reach one element."""
    extent = a.itemsize
    for step, n in _by_stride(a):
        if step < extent:
            return True
        extent = step * (n - 1) + extent
    return False


def is_expanded(a: ndarray) -> bool:
    """Whether torch sees that elements share memory: strides of 0 alone, any other overlap is "too hard"."""
    return (
        a.size > 0
        and 0 in a.strides
        and any([s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)])
    )


def restride(a: ndarray, shape: tuple, strides: tuple, offset: int = 0) -> ndarray:
    """Another look at the memory of an array: shape, strides and offset from its first element, in bytes."""
    if a.flags.c_contiguous and offset >= 0:
        try:
            return ndarray(shape, a.dtype, a, offset, strides)
        except (
            ValueError
        ):  # it reaches beyond the array, and has to be taken from the memory as a whole
            pass
    whole = memory_of(a)
    return look(whole, shape, a.dtype, strides, address(a) - address(whole) + offset)


def empty_like_strides(shape: tuple, dtype: np.dtype, strides: tuple) -> ndarray:
    """An array of its own with these strides, not initialised."""
    if strides == contiguous_strides(shape, dtype.itemsize):
        made = np.empty(shape, dtype)
        return made if made.strides == strides else ndarray(shape, dtype, made, 0, strides)
    room = np.empty(reach(shape, strides, dtype.itemsize) // dtype.itemsize, dtype)
    return ndarray(shape, dtype, room, 0, strides)


def laid_out(data: ndarray, strides: tuple) -> ndarray:
    """The same values with these strides, which are dense."""
    if data.strides == strides:
        return data
    out = empty_like_strides(data.shape, data.dtype, strides)
    out[...] = data
    return out


def _inner_first(n: int, compare: Callable[[int, int], int]) -> list[int]:
    """Dimensions from the innermost on: sorted by insertion, for a comparison that may leave two as they are (0)."""
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
    """The strides that `empty_like` gives: the array's own if it is dense, else dense ones in the same order."""
    shape, n = a.shape, itemsize or a.itemsize
    if 0 in shape or is_dense(a):
        return a.strides if n == a.itemsize else tuple([s // a.itemsize * n for s in a.strides])
    return torch_strides(shape, n, (a,))


def _shared_strides(shape: tuple, operands: tuple) -> tuple | None:
    """The strides in elements that operands of one shape share, where torch takes its short way; None if there is none."""
    for a in operands:
        if a.shape != shape:
            return None
    if all([a.flags.c_contiguous for a in operands]):
        return contiguous_strides(shape)
    steps = [tuple([s // a.itemsize for s in a.strides]) for a in operands]
    if len(shape) == 4:
        _, c, h, w = shape
        last = (h * w * c, 1, w * c, c)
        if all(n == 1 or s == t for own in steps for n, s, t in zip(shape, own, last, strict=True)):
            return last
    return steps[0] if all(own == steps[0] for own in steps) and is_dense(operands[0]) else None


def torch_strides(shape: tuple, itemsize: int, operands: tuple) -> tuple:
    """The strides of a result: torch goes by the first operand that says which of two dimensions is the inner one."""
    strides = _shared_strides(shape, operands)
    if strides is not None:
        return tuple([s * itemsize for s in strides])
    n, steps = len(shape), []
    for a in operands:
        lead = n - a.ndim
        own = [
            0 if k == 1 and shape[lead + i] != 1 else a.strides[i] for i, k in enumerate(a.shape)
        ]
        steps.append([0] * lead + own)

    def compare(d0: int, d1: int) -> int:
        for s in steps:
            if s[d0] and s[d1]:
                if s[d0] != s[d1]:
                    return -1 if s[d0] < s[d1] else 1
                if shape[d0] > shape[d1]:
                    return 1
        return 0

    order = _inner_first(n, compare)
    plain, strides, step = order == list(range(n - 1, -1, -1)), [0] * n, itemsize
    for d in order:
        strides[d] = step
        step *= shape[d] or int(plain)
    return tuple(strides)


def result_layout(data: Any, *operands: ndarray) -> ndarray:
    """What NumPy computed from `operands`, laid out as torch lays it out."""
    if type(data) is not ndarray:
        return np.asarray(data)
    if data.ndim < 2 and data.size:
        return data
    for a in operands:
        if not data.size or (
            a.ndim and (a.ndim != data.ndim or 1 in a.shape or not a.flags.c_contiguous)
        ):
            return laid_out(data, torch_strides(data.shape, data.itemsize, operands))
    if data.flags.c_contiguous and 1 not in data.shape and data.size:
        return data
    return laid_out(data, contiguous_strides(data.shape, data.itemsize))


def view_strides(shape: tuple, strides: tuple, itemsize: int, new: tuple) -> tuple | None:
    """The strides (bytes) with which `new` looks at the same memory, or None if a copy is needed.

    Source: torch's `computeStride`.
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


_SHARED = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."


def shared_memory(a: ndarray, b: ndarray) -> str:
    """Whether two arrays cover the same memory: "full", "partial", or "" if not (or if it is too hard to say)."""
    if owner(a) is not owner(b) or not (a.size and b.size and is_dense(a) and is_dense(b)):
        return ""
    a0, b0 = address(a), address(b)
    if a0 == b0 and a.nbytes == b.nbytes:
        return "full" if a.strides == b.strides else "partial"
    return "partial" if a0 < b0 + b.nbytes and b0 < a0 + a.nbytes else ""


def check_overlap(target: ndarray, *sources: Any) -> None:
    """Raise torch's error if elements of `target` share memory, with each other or partly with a source."""
    if is_expanded(target):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")  # fmt: skip
    for s in sources:
        aside = (
            type(s) is ndarray
            and s is not target
            and (target.base is not None or s.base is not None)
        )
        if aside and shared_memory(target, s) == "partial":
            raise RuntimeError(_SHARED)


def check_no_overlap(target: ndarray, *sources: Any) -> None:
    """Raise torch's error if `target` shares memory with a source, partly or fully."""
    for s in sources:
        if type(s) is ndarray and shared_memory(target, s):
            raise RuntimeError(_SHARED)


def broadcast_error(a: tuple, b: tuple) -> RuntimeError:
    """torch's words for two shapes that do not broadcast."""
    n = max(len(a), len(b))
    for i, x, y in zip(range(n - 1, -1, -1), (*a[::-1], *[1] * (n - len(a))), (*b[::-1], *[1] * (n - len(b))), strict=True):  # fmt: skip
        if x != y and 1 not in (x, y):
            return RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}")  # fmt: skip
    return RuntimeError("shapes do not broadcast")


def broadcast_shape(shape: tuple, *others: tuple) -> tuple:
    """The shape that shapes broadcast to. RuntimeError in torch's words if they do not."""
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


def convert(data: Any, kind: np.dtype) -> ndarray:
    """Values in another dtype, as torch converts them: floats go through int64 to unsigned integers and wrap."""
    if data.dtype.kind == "f" and kind.kind == "u":
        data = data.astype(np.int64)
    return data.astype(kind)


def store(a: ndarray, data: Any) -> None:
    """Put values into an array's memory, converted to its dtype as torch converts."""
    if type(data) is ndarray:
        if data.dtype is a.dtype:
            a[...] = (
                data if data.dtype.kind != "b" else data.view(np.uint8) != 0
            )  # bools may hold any byte
            return
        if data.dtype.kind == "f" and a.dtype.kind == "u":
            data = data.astype(np.int64)
    np.copyto(a, data, "unsafe")


def store_in_turn(a: ndarray, data: Any, again: Callable[[], Any]) -> None:
    """Write into overlapping windows as torch does, element after element: each sees what the ones before it wrote."""
    room = reach(a.shape, a.strides, a.itemsize) // a.itemsize
    steps = tuple([s // a.itemsize * 8 for s in a.strides])
    cells = np.ndarray(a.shape, np.int64, np.arange(room), 0, steps).reshape(-1)
    turn, seen = np.empty(cells.size, np.int64), dict.fromkeys(range(room), -1)
    for i, cell in enumerate(cells.tolist()):
        turn[i] = seen[cell] = seen[cell] + 1
    for i in range(max(seen.values()) + 1):
        np.copyto(a, data if i == 0 else again(), "unsafe", where=(turn == i).reshape(a.shape))
