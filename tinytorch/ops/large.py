"""Pointwise kernels on large arrays: results lie in kept memory, and what stands between goes through the cache.

A kernel made of several NumPy calls makes an array for each. Over a million elements every one of these travels to
memory and back; block by block they stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..buffers import empty

MANY = 1 << 15  # elements from which on this pays
_BLOCK = 1 << 13
_WHOLE = {np.broadcast}  # looks at the shapes alone; kernels with the attribute `whole` see to all this themselves


def pointwise(kernel: Callable, *arrays: np.ndarray) -> np.ndarray:
    """`kernel(*arrays)`, for a kernel that computes each element from those at its place; ValueError as it raises."""
    if max([a.size for a in arrays]) < MANY or getattr(kernel, "whole", False) or kernel in _WHOLE:
        return kernel(*arrays)
    model = next((a for a in arrays if a.ndim and any(a.strides)), None)
    if model is None or not model.flags.forc:
        return _broadcast(kernel, arrays)
    flat: list[Any] = []
    for a in arrays:
        if a.ndim == 0 or (a.shape == model.shape and not any(a.strides)):
            flat.append(a[(0,) * a.ndim])  # one value for all
        elif a.shape == model.shape and a.strides == model.strides:
            flat.append(a.ravel("K"))
        else:
            return _broadcast(kernel, arrays)
    # A ufunc makes nothing in between, and is only asked for the dtype.
    piece = 1 if isinstance(kernel, np.ufunc) else _BLOCK
    first = kernel(*[a[:piece] if a.ndim else a for a in flat])
    out = empty(model.shape, first.dtype)
    line = out.reshape(-1)
    if piece == 1:
        kernel(*flat, out=line)
    else:
        line[:_BLOCK] = first
        for start in range(_BLOCK, line.size, _BLOCK):
            line[start : start + _BLOCK] = kernel(*[a[start : start + _BLOCK] if a.ndim else a for a in flat])
    if out.strides == model.strides or model.flags.c_contiguous:
        return out
    steps = tuple([s // model.itemsize * out.itemsize for s in model.strides])
    return np.ndarray(model.shape, out.dtype, out, 0, steps)


def _broadcast(kernel: Callable, arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    if not isinstance(kernel, np.ufunc) or not any(a.shape == shape and a.flags.c_contiguous for a in arrays):
        return kernel(*arrays)
    kind = kernel(*[a[(slice(0, 1),) * a.ndim] for a in arrays]).dtype
    return kernel(*arrays, out=empty(shape, kind))
