"""Sums and products of floats in torch's order on the CPU, so that they agree to the last bit.

torch keeps four running sums, each as wide as a vector register, and closes them every 16 steps so that fewer
roundings pile up. Source: `aten/src/ATen/native/cpu/SumKernel.cpp`.
"""

from __future__ import annotations

import math

import numpy as np

_REGISTER = 32  # bytes: torch has no kernel for wider ones here
_MANY = 1 << 13


def _in_turn(x: np.ndarray) -> np.ndarray:
    """(b, n, k) summed over n, one after another."""
    if x.size >= _MANY and x.strides[2] == x.itemsize and x.strides[1] >= x.shape[2] * x.itemsize > x.itemsize:
        return np.einsum("bnk->bk", x)  # the same additions in a third of the time
    return np.add.reduce(x, 1) if x.shape[2] > 1 else np.add.accumulate(x, 1).take(-1, 1) + 0


def _cascade(x: np.ndarray) -> np.ndarray:
    """(b, n, k) summed over n: in blocks, then blocks of blocks."""
    b, n, k = x.shape
    step = 1 << max(4, (n - 1).bit_length() // 4)
    if n < step:
        return _in_turn(x)
    out: np.ndarray | None = None
    for _ in range(3):
        whole = x.shape[1] // step
        if whole * step < x.shape[1]:
            rest = _in_turn(x[:, whole * step :])
            out = rest if out is None else out + rest
        if not whole:
            return out  # type: ignore[return-value]
        x = _in_turn(x[:, : whole * step].reshape(b * whole, step, k)).reshape(b, whole, k)
    top = _in_turn(x)
    return top if out is None else out + top


def _row(x: np.ndarray) -> np.ndarray:
    """(b, n, k) summed over n in four running sums."""
    b, n, k = x.shape
    quarter = n // 4
    if not quarter:
        return _in_turn(x)
    four = _cascade(x[:, : 4 * quarter].reshape(b, quarter, 4 * k)).reshape(b, 4, k)
    first = four[:, 0]
    for i in range(4 * quarter, n):
        first = first + x[:, i]
    return first + four[:, 1] + four[:, 2] + four[:, 3]


def _inner(x: np.ndarray, dense: bool) -> np.ndarray:
    """(b, n) summed over n, whose elements lie side by side if `dense`."""
    b, n = x.shape
    width = _REGISTER // x.itemsize
    if n < width or not dense:
        return _row(x[:, :, None])[:, 0]
    vectors = n // width
    lanes = _row(x[:, : vectors * width].reshape(b, vectors, width)) if vectors > 1 else x[:, :width]
    return np.add.accumulate(np.concatenate([x[:, vectors * width :], lanes], 1), 1).take(-1, 1)


def _outer(x: np.ndarray, dense: bool) -> np.ndarray:
    """(b, n, m) summed over n, with m columns side by side if `dense`."""
    m = x.shape[2]
    width = _REGISTER // x.itemsize
    four = 4 * width if m >= width and dense else 4
    cut = m // four * four
    if cut == m:
        return _cascade(x)
    return np.concatenate([_cascade(x[:, :, :cut]), _row(x[:, :, cut:])], 1) if cut else _row(x)


def groups(a: np.ndarray, order: list[int]) -> tuple[list[int], list[int]]:
    """Sizes and strides as torch walks them, where dimensions that continue one another are one."""
    sizes: list[int] = []
    strides: list[int] = []
    for d in order:
        if sizes and strides[-1] == a.strides[d] * a.shape[d]:
            sizes[-1] *= a.shape[d]
            strides[-1] = a.strides[d]
        else:
            sizes.append(a.shape[d])
            strides.append(a.strides[d])
    return sizes, strides


def by_stride(a: np.ndarray, axes: list[int]) -> list[int]:
    """The axes with the smallest stride last; one that is expanded, of stride 0, stays where it is."""
    inner = sorted(axes, reverse=True)
    for i in range(1, len(inner)):
        at = i
        for j in range(i - 1, -1, -1):
            here, before = a.strides[inner[at]], a.strides[inner[j]]
            if here and before and here != before:
                if before < here:
                    break
                inner[at], inner[j], at = inner[j], inner[at], j
    return inner[::-1]


def _few(x: np.ndarray, width: int) -> np.ndarray:
    """The sum of less than four registers full, number by number, which is quicker for so few."""
    n = x.size
    if n == 1:
        return np.asarray(x.dtype.type(0) + x[0])
    whole = n // width * width
    if whole:
        items = [*x[whole:], *(x[:whole] if whole == width else np.add.reduce(x[:whole].reshape(-1, width), 0))]
    else:
        items = [x[0], *x[4:], *x[1:4]] if n > 3 else [*x]
    return np.asarray(sum(items, x.dtype.type(0)))


def _one_row(x: np.ndarray, width: int) -> np.ndarray:
    """The sum of so few registers full that the four running sums are never closed."""
    vectors = x.size // width
    whole, whole4 = vectors * width, vectors // 4 * 4 * width
    four = np.add.reduce(x[:whole4].reshape(-1, 4, width), 0)
    if whole != whole4:
        for start in range(whole4, whole, width):
            four[0] += x[start : start + width]
    lanes = np.add.reduce(four, 0)
    return np.asarray(sum([*x[whole:], *lanes], x.dtype.type(0)))


def add_reduce(a: np.ndarray, axes: tuple[int, ...], keepdim: bool = False) -> np.ndarray:
    """The sum of a float32 or float64 array over axes; in NumPy's order where torch's is not followed."""
    shape = a.shape
    if len(axes) == a.ndim and not keepdim and a.flags.c_contiguous:
        width, n = _REGISTER // a.itemsize, a.size
        if n < 64 * width:
            return (_few if n < 4 * width else _one_row)(a if a.ndim == 1 else a.reshape(-1), width)
    if axes == (0,) and a.ndim == 2 and a.flags.c_contiguous and shape[0] > 1 and shape[1] > 1 and a.size >= 4:
        out = _outer(a[None], True)  # what the rest comes to for the sum of rows, such as a bias's gradient
        return out if keepdim else out[0]
    if axes == (1,) and a.ndim == 2 and a.flags.c_contiguous and shape[0] > 1 and shape[1] > 1 and a.size >= 4:
        out = _inner(a, True)  # and for the sum of each row
        return out.reshape(-1, 1) if keepdim else out
    # torch walks what is left in the order of the result, which is dense, whatever the layout of the operand
    left = [d for d in range(a.ndim) if shape[d] != 1 and d not in axes]
    gone = by_stride(a, [d for d in axes if a.ndim and shape[d] != 1])
    if not gone or a.size < 4 or min([a.strides[d] for d in left + gone]) < 0:
        return np.asarray(np.add.reduce(a, axes if a.ndim else None, None, None, keepdim))
    kept, kept_strides = groups(a, left)
    summed, strides = groups(a, gone)
    x = a.transpose(left + gone + [d for d in range(a.ndim) if shape[d] == 1]).reshape(kept + summed)
    n, stride = summed[-1], strides[-1]
    m, across = (kept + summed[:-1] or [1])[-1], (kept_strides + strides[:-1] or [0])[-1]
    width = _REGISTER // a.itemsize
    inner, outer = stride == a.itemsize and n >= width, across == a.itemsize
    if inner or (stride < across and not (outer and m >= width)):
        out = _inner(x.reshape(-1, n), inner)
    else:
        out = _outer(np.ascontiguousarray(x.reshape(-1, m, n).transpose(0, 2, 1)), outer)
    if len(summed) > 1:
        out = np.add.accumulate(out.reshape(*kept, -1), -1).take(-1, -1)
    return out.reshape([1 if d in axes else n for d, n in enumerate(shape) if keepdim or d not in axes])


def multiply_reduce(a: np.ndarray, axes: tuple[int, ...], keepdim: bool = False) -> np.ndarray:
    """The product of a float32 or float64 array over axes; one after another, but four registers at a time where dense.

    Source: `binary_kernel_reduce_vec` in `aten/src/ATen/native/cpu/Reduce.h`.
    """
    shape = a.shape
    if not a.ndim:
        return a.copy()
    gone = by_stride(a, [d for d in axes if shape[d] != 1])
    left = [d for d in range(a.ndim) if d not in gone]
    sizes, strides = groups(a, gone)
    kept = [shape[d] for d in left]
    x = a.transpose(left + gone).reshape(kept + sizes)
    lanes = _REGISTER // a.itemsize
    if strides and strides[-1] == a.itemsize and sizes[-1] >= 4 * lanes:
        whole = sizes[-1] - sizes[-1] % (4 * lanes)
        four = np.multiply.reduce(x[..., :whole].reshape(*x.shape[:-1], -1, 4, lanes), -3)
        one = (four[..., 0, :] * four[..., 1, :]) * (four[..., 2, :] * four[..., 3, :])
        x = np.concatenate([np.multiply.accumulate(one, -1)[..., -1:], x[..., whole:]], -1)
    x = x.reshape(*kept, math.prod(x.shape[len(kept) :]))
    out = np.multiply.accumulate(x, -1).take(-1, -1) if x.shape[-1] else np.ones(kept, a.dtype)
    return out.reshape([1 if d in axes else n for d, n in enumerate(shape) if keepdim or d not in axes])


def lane_sum(x: np.ndarray) -> np.ndarray:
    """(..., n) summed over n, which stays as 1, the way softmax adds: in the lanes of one register, then in halves."""
    n, width = x.shape[-1], 64 // x.itemsize
    if n < width:
        return np.add.accumulate(x, -1)[..., -1:]
    whole = n // width * width
    lanes = x[..., :width].copy()
    for start in range(width, whole, width):
        lanes += x[..., start : start + width]
    lanes[..., : n - whole] += x[..., whole:]
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes
