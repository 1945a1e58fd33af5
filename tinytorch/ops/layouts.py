"""How results lie in memory: the strides that torch gives a new tensor, from those of the operands.

Source: torch's `TensorIterator` (`reorder_dimensions`, `fast_set_up`) and `infer_dense_strides`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..buffers import empty
from ..storage import contiguous_strides


def _ordered(n: int, compare: Callable[[int, int], int]) -> list[int]:
    """Dimensions from the innermost on: sorted by insertion, for a comparison that may leave two as they are (0)."""
    perm = list(range(n - 1, -1, -1))
    for i in range(1, n):
        at = i
        for j in range(i - 1, -1, -1):
            swap = compare(perm[j], perm[at])
            if swap > 0:
                perm[j], perm[at] = perm[at], perm[j]
                at = j
            elif swap < 0:
                break
    return perm


def _steps(a: np.ndarray) -> tuple[int, ...]:
    return tuple([s // a.itemsize for s in a.strides])


def _like_all(shape: tuple, operands: tuple) -> tuple[int, ...] | None:
    """The strides that operands of one shape share, where torch takes its short way; None if there is none."""
    for a in operands:
        if a.shape != shape:
            return None
    if all(a.flags.c_contiguous for a in operands):
        return contiguous_strides(shape)
    steps = [_steps(a) for a in operands]
    if len(shape) == 4:
        last, expected = [0, 0, 0, 0], 1
        for d in (1, 3, 2, 0):
            last[d] = expected
            expected *= shape[d]
        if all(all(n == 1 or s == t for n, s, t in zip(shape, own, last, strict=True)) for own in steps):
            return tuple(last)
    if any(own != steps[0] for own in steps):
        return None
    expected = 1
    for step, n in sorted([(s, n) for s, n in zip(steps[0], shape, strict=True) if n > 1]):
        if step != expected:
            return None
        expected *= n
    return steps[0]


def torch_layout(data: np.ndarray, operands: tuple) -> np.ndarray:
    """A pointwise result laid out as torch's TensorIterator lays it out: in the operands' order of dimensions."""
    shape, n = data.shape, data.ndim
    strides = _like_all(shape, operands)
    if strides is None:
        steps = []
        for a in operands:
            lead = n - a.ndim
            own = [0 if k == 1 and shape[lead + i] != 1 else a.strides[i] for i, k in enumerate(a.shape)]
            steps.append([0] * lead + own)

        def compare(d0: int, d1: int) -> int:
            for s in steps:
                if s[d0] and s[d1]:
                    if s[d0] != s[d1]:
                        return -1 if s[d0] < s[d1] else 1
                    if shape[d0] > shape[d1]:
                        return 1
            return 0

        perm = _ordered(n, compare)
        if perm == list(range(n - 1, -1, -1)):
            strides = contiguous_strides(shape)
        else:
            found, step = [0] * n, 1
            for d in perm:
                found[d] = step
                step *= shape[d]
            strides = tuple(found)
    return laid_out(data, strides)


def laid_out(data: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """The same values with these strides (in elements), which must be dense."""
    steps = tuple([s * data.itemsize for s in strides])
    if steps == data.strides:
        return data
    out = np.ndarray(data.shape, data.dtype, empty((data.size,), data.dtype), 0, steps)
    out[...] = data
    return out


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


def _is_dense(a: np.ndarray) -> bool:
    """Whether the elements fill their memory without gaps or repeats."""
    expected = a.itemsize
    for step, n in sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if step != expected:
            return False
        expected *= n
    return True


def inner_first(steps: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """The dimensions of a tensor from the innermost on."""

    def compare(d0: int, d1: int) -> int:
        if steps[d0] == 0 or steps[d1] == 0:
            return 0
        if steps[d0] != steps[d1]:
            return -1 if steps[d0] < steps[d1] else 1
        return 1 if shape[d0] > shape[d1] else 0

    return _ordered(len(shape), compare)


def dense_strides(a: np.ndarray) -> tuple[int, ...]:
    """The strides (bytes) of a dense tensor with this array's order of dimensions; its own if it is dense."""
    shape = a.shape
    if 0 in shape or _is_dense(a):
        return a.strides
    out, step = [0] * a.ndim, a.itemsize
    for d in inner_first(a.strides, shape):
        out[d] = step
        step *= max(shape[d], 1)
    return tuple(out)


def index_layout(data: np.ndarray, a: np.ndarray, indices: list, together: tuple) -> np.ndarray:
    """The result in the order of dimensions that torch's iterator finds, with the source's indexed steps as 0."""
    used = [d for d, i in enumerate(indices) if i is not None]
    at = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    rest = [d for d in range(a.ndim) if d not in used]
    steps = [a.strides[d] for d in rest]
    operands = [_strided_as(data.shape, a.dtype, (*steps[:at], *(0,) * len(together), *steps[at:]))]
    for i in indices:
        if i is not None:
            shape = ((1,) * at) + together + (1,) * (len(rest) - at)
            strides = view_strides(together, np.broadcast_to(i, together).strides, i.itemsize, shape)
            operands.append(_strided_as(shape, i.dtype, strides or contiguous_strides(shape, i.itemsize)))
    return torch_layout(data, tuple(operands))


def _strided_as(shape: tuple, kind: np.dtype, strides: tuple) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(np.empty(1, kind), shape, strides, writeable=False)
