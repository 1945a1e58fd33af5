"""Choices by the sign of each element, without branches: `np.where` guesses, and guesses wrong half of the time.

They work on the bits, so that -0.0 and NaN come out as they do in torch.
"""

from __future__ import annotations

import numpy as np

from ..buffers import empty

_FEW = 512  # elements below which `np.where` is as quick
_BLOCK = 1 << 14
_BITS = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}
_LOWEST = {n: int(np.iinfo(bits).min) for n, bits in _BITS.items()}


def _in_bits(a: np.ndarray) -> bool:
    return a.size >= _FEW and a.dtype.kind == "f" and a.itemsize in _BITS and a.flags.c_contiguous


def rectified(a: np.ndarray) -> np.ndarray:
    """0 where negative, else the element: -0.0 and NaN stay."""
    if not _in_bits(a):
        return np.where(a < 0, a.dtype.type(0), a)
    out = np.maximum(a, a.dtype.type(0), out=empty(a.shape, a.dtype))
    bits, lowest = a.view(_BITS[a.itemsize]), _LOWEST[a.itemsize]  # -0.0, of which either zero may have come out
    if np.minimum.reduce(bits, None) == lowest:
        out[bits == lowest] = -0.0
    return out


def where_positive(values: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The element of `values`, but 0 where `a` is not above 0 (NaN counts as above).

    Both have one shape; `values` may be one value repeated.
    """
    if values.size and not any(values.strides):
        values = values[(0,) * values.ndim]
    if not (_in_bits(a) and values.dtype == a.dtype and (not values.ndim or values.flags.c_contiguous)):
        return np.where(a <= 0, values.dtype.type(0), values)
    out = empty(a.shape, a.dtype)
    kind = _BITS[a.itemsize]
    flat, into, kept = a.reshape(-1), out.reshape(-1).view(kind), values.reshape(-1).view(kind)
    if flat.size <= _BLOCK:
        _masked(flat, kept, into)
    else:
        for start in range(0, flat.size, _BLOCK):
            end = start + _BLOCK
            _masked(flat[start:end], kept[start:end] if kept.size > 1 else kept, into[start:end])
    return out


def _masked(a: np.ndarray, kept: np.ndarray, into: np.ndarray) -> None:
    positive = np.logical_not(a <= 0)
    np.negative(positive.view(np.int8), into, dtype=into.dtype)  # all bits set, or none
    np.bitwise_and(into, kept, into)


rectified.whole = True  # type: ignore[attr-defined]
