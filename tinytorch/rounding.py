"""Arithmetic as torch's AVX2 code rounds it, on which the last bit of random numbers depends.

NumPy rounds after every operation, torch multiplies and adds with one rounding. float32 numbers are carried in float64
arrays here: a product of two is then exact, and rounding back to float32 after each `+`, `-`, `*` and square root gives
what float32 arithmetic gives.

Source: exact sums after Knuth, products after Dekker, the correctly rounded float64 fused multiply-add after Boldo and
Melquiond (2008); polynomials from the Cephes library, as torch's normal kernel has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SPLIT = 2.0**27 + 1  # halves the 53 bits of a float64


def round32(x: np.ndarray) -> np.ndarray:
    """Round to the nearest float32, kept as float64."""
    return x.astype(np.float32).astype(np.float64)


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the float64 sum of `a` and `b` and its exact error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the float64 product of `a` and `b` and its exact error."""
    p = a * b
    a_high = a * _SPLIT - (a * _SPLIT - a)
    b_high = b * _SPLIT - (b * _SPLIT - b)
    a_low, b_low = a - a_high, b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _toward_odd(total: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return an inexact sum with its last bit odd, on the error's side, so that it cannot mislead a later rounding."""
    even = (total.view(np.int64) & 1) == 0
    return np.where(even & (error != 0), np.nextafter(total, np.copysign(np.inf, error)), total)


def fma64(a: Any, b: Any, c: Any) -> np.ndarray:
    """Return a*b + c in float64 with one rounding, wherever all of it is finite. a, b, c: float64, well below 1e290."""
    a, b, c = np.broadcast_arrays(np.asarray(a, np.float64), b, c)
    if not np.isfinite(np.max(np.abs(a) * np.abs(b) + np.abs(c), initial=0.0)):
        return a * b + c
    product, product_error = _two_product(a, b)
    high, low = _two_sum(c, product_error)
    total, error = _two_sum(product, high)
    return total + _toward_odd(*_two_sum(low, error))


def fma32(a: np.ndarray, b: Any, c: Any) -> np.ndarray:
    """Return a*b + c in float32 with one rounding. All are float32 numbers, carried in float64."""
    product = a * b
    total = product + c
    # rounding to float64 on the way matters only where it lands halfway between two float32 numbers
    if ((total.view(np.int64) & 0x1FFFFFFF) == 0x10000000).any():
        total = _toward_odd(*_two_sum(product, np.broadcast_to(c, product.shape)))
    return round32(total)


def constants32(*constants: float) -> list[float]:
    """Return the nearest float32 numbers, as Python's."""
    return [float(np.float32(c)) for c in constants]


_SQRT_HALF, _LN2_LOW, _LN2_HIGH = constants32(0.707106781186547524, -2.12194440e-4, 0.693359375)
_LOG = constants32(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)  # fmt: skip
_SIN = constants32(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = constants32(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_MINUS_PI_4 = constants32(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # pi/4 in three pieces
_PER_PI_4 = constants32(1.27323954473516)[0]


def _polynomial(coefficients: list[float], x: np.ndarray) -> np.ndarray:
    """Evaluate by Horner's rule, one rounding a step; the highest power comes first."""
    y = fma32(x, coefficients[0], coefficients[1])
    for c in coefficients[2:]:
        y = fma32(y, x, c)
    return y


def log32(u: np.ndarray) -> np.ndarray:
    """Return the natural logarithm of normal positive float32 numbers."""
    x, e = np.frexp(u)
    low = x < _SQRT_HALF
    e = e - low.astype(np.float64)
    x = np.where(low, x + (x - 1.0), x - 1.0)  # exact either way
    square = round32(x * x)
    y = round32(_polynomial(_LOG, x) * x)
    y = fma32(y, square, round32(e * _LN2_LOW))
    y = fma32(square, -0.5, y)
    return fma32(e, _LN2_HIGH, round32(x + y))


def sincos32(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sine and cosine of float32 angles from 0 to 8192, in radians."""
    octant = (round32(x * _PER_PI_4).astype(np.int64) + 1) & ~1
    for piece in _MINUS_PI_4:
        x = fma32(octant.astype(np.float64), piece, x)
    square = round32(x * x)
    cos = round32(_polynomial(_COS, square) * square)
    cos = round32(fma32(cos, square, -0.5 * square) + 1.0)
    sin = fma32(round32(_polynomial(_SIN, square) * square), x, x)
    swap = (octant & 2) != 0
    sin, cos = np.where(swap, cos, sin), np.where(swap, sin, cos)
    return np.where(octant & 4, -sin, sin), np.where((octant - 2) & 4, cos, -cos)
