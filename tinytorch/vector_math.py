"""exp and log in float32 as torch's vectorised loops on the CPU compute them, to the last bit.

torch leaves them to the Sleef library, which reduces the argument and evaluates a polynomial with fused multiply-adds.
Here a product of two float32 numbers is exact in float64, and is rounded back after each addition; that this rounds
twice shows in one of 2**29 additions, which is not looked for. Source: `xexpf` and `xlogf` in Sleef 3 (`sleefsimdsp.c`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .fused import constants32, round32

_ONE = np.float32(1)
_BLOCK = 32  # elements that torch's vectorised loops take at a time, in two registers; what is left goes one by one
_MOST = 1 << 15  # elements that torch leaves to one thread


_PER_LN2 = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = constants32(0.693145751953125, 1.428606765330187045e-06)
_EXP_FIRST, *_EXP = constants32(1.98527617612853646278381e-4, 1.39304355252534151077271e-3, 8.33336077630519866943359e-3,
                               4.16664853692054748535156e-2, 1.66666671633720397949219e-1, 0.5)  # fmt: skip
_LOG_FIRST, *_LOG = constants32(0.3027294874, 0.3996108174, 0.6666694880)
_LN2 = sum(constants32(0.69314718246459960938, -1.904654323148236017e-09))


def _rounded(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32)


def exp32(x: np.ndarray) -> np.ndarray:
    """Return exp(x). float32, any shape and layout."""
    whole = np.rint(x * _PER_LN2)
    wide = whole.astype(np.float64)
    s = round32(round32(x - wide * _LN2_HIGH) - wide * _LN2_LOW)
    y = s * _EXP_FIRST
    for c in _EXP[:-1]:
        y += c
        y = round32(y)
        y *= s
    y = round32(y + _EXP[-1])
    y *= round32(s * s)
    y += s
    out = _rounded(y)
    out += _ONE
    if x.size and np.minimum.reduce(x, None) > -87 and np.maximum.reduce(x, None) < 88:
        return np.ldexp(out, whole.astype(np.int32))
    out = np.ldexp(out, np.clip(np.nan_to_num(whole), -400, 400).astype(np.int32))
    return np.where(x < -104, np.float32(0), np.where(x > 100, np.float32(np.inf), out))


def log32(x: np.ndarray) -> np.ndarray:
    """Return log(x) of normal positive numbers. float32, any shape and layout."""
    exponent = np.frexp(x * np.float32(1 / 0.75))[1] - 1
    m = np.ldexp(x, -exponent).astype(np.float64)
    return _log(exponent, m - 1, m + 1)


def log1p32(x: np.ndarray) -> np.ndarray:
    """Return log(1 + x) of numbers from 0 to 1e38. float32, any shape and layout."""
    exponent = np.frexp((x + _ONE) * np.float32(1 / 0.75))[1] - 1
    scale = np.ldexp(_ONE, -exponent).astype(np.float64)
    m = round32(x * scale + (scale - 1))
    return _log(exponent, m, m + 2)


def _log(exponent: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """exponent*log(2) + log((above + below) / (above - below)); `below` is overwritten."""
    ratio = _rounded(below) * (_ONE / _rounded(above))
    square = ratio * ratio
    wide = square.astype(np.float64)
    y = wide * _LOG_FIRST
    for c in _LOG[:-1]:
        y += c
        y = round32(y)
        y *= wide
    y = square * ratio * _rounded(y + _LOG[-1])
    below /= above
    below += below
    below += exponent * _LN2
    below += y
    return _rounded(below)


def in_blocks(many: Callable, one: Callable) -> Callable:
    """A pointwise kernel: `many` for whole blocks of float32 numbers that lie side by side, `one` for all else."""

    def run(a: np.ndarray) -> np.ndarray:
        if a.dtype != np.float32 or not _BLOCK <= a.size < _MOST:
            return one(a)
        turned = not a.flags.c_contiguous and a.flags.f_contiguous
        x = (a.T if turned else a).reshape(-1) if a.flags.forc else a  # else row by row
        n = x.shape[-1]
        whole = n - n % _BLOCK
        if not whole or x.strides[-1] != a.itemsize:
            return one(a)
        out = many(x[..., :whole])
        if whole < n:
            out = np.concatenate([out, one(x[..., whole:])], -1)
        return out.reshape(a.T.shape).T if turned else out.reshape(a.shape)

    return run
