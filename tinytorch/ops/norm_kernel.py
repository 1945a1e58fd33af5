"""Norms of floats, each sum in the order in which torch adds it on the CPU, so that they agree to the last bit.

Source: `aten/src/ATen/native/cpu/ReduceOpsKernel.cpp` as compiled for AVX2.
"""

from __future__ import annotations

import math

import numpy as np

from ..fused import multiply_add
from .summing import by_stride, groups

_REGISTER = 32  # bytes


def norm(a: np.ndarray, p: float, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    """The p-norm of a float array over axes, in its dtype; float16 is added up in float32."""
    kind = np.dtype(np.float32 if a.itemsize < 4 else a.dtype)
    if math.isinf(p) or not a.ndim:
        extreme = np.maximum if p > 0 else np.minimum
        whole = extreme.reduce(np.abs(a), axes if a.ndim else None, keepdims=keepdim)
        return np.asarray((whole != 0) if p == 0 else whole, a.dtype)
    gone = by_stride(a, [d for d in axes if a.shape[d] != 1])
    left = [d for d in range(a.ndim) if d not in gone]
    _, strides = groups(a, gone)
    x = a.transpose(left + gone).reshape(*[a.shape[d] for d in left], math.prod([a.shape[d] for d in gone]))
    if p == 2 and strides == [a.itemsize]:
        total = np.sqrt(_squares(x, kind))
    else:
        x = np.abs(x.astype(kind, copy=False))
        total = _in_turn((x != 0) if p == 0 else x if p == 1 else x * x if p == 2 else _power(x, p), kind)
        if p not in (0, 1):
            total = np.sqrt(total) if p == 2 else _power(total, kind.type(1) / kind.type(p))
    return total.astype(a.dtype).reshape(
        [1 if d in axes else n for d, n in enumerate(a.shape) if keepdim or d not in axes]
    )


def _in_turn(terms: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The terms along the last dimension, one after another; 0 where there are none."""
    return np.add.accumulate(terms, -1, kind).take(-1, -1) if terms.shape[-1] else np.zeros(terms.shape[:-1], kind)


def _power(x: np.ndarray, p: float) -> np.ndarray:
    """x**p; NumPy's own in float32 is off by a bit where the C library's is rounded right."""
    return np.power(x.astype(np.float64), p).astype(x.dtype)


def _squares(x: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The sum of squares along the last dimension: in the lanes of a register, then fours, then fused, one by one."""
    lanes, n = _REGISTER // kind.itemsize, x.shape[-1]
    whole = n - n % (_REGISTER // x.itemsize)
    fours = n - (n - whole) % 4
    x = x.astype(kind, copy=False)
    terms = np.square(x[..., whole:fours])
    if whole:
        sums = np.add.reduce(np.square(x[..., :whole]).reshape(*x.shape[:-1], -1, lanes), -2)
        terms = np.concatenate([sums, terms], -1)
    total = _in_turn(terms, kind)
    for i in range(fours, n):
        total = multiply_add(x[..., i], x[..., i], total)
    return total
