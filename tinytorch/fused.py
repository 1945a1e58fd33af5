"""Arithmetic as torch's compiled CPU code rounds it: fused multiply-add, and sine, cosine and logarithm in float32.

NumPy rounds after every operation; torch's AVX2 code multiplies and adds with one rounding. The last bit of random
numbers depends on it. In what follows float32 numbers are carried in float64 arrays: a product of two is then exact,
and rounding back to float32 after each `+`, `-`, `*` and square root gives what float32 arithmetic gives.

Source: the operations of torch 2.13's normal kernel as compiled for AVX2; exact sums after Knuth, products after
Dekker, correctly rounded float64 fused multiply-add after Boldo and Melquiond (2008); polynomials from the Cephes
library.
"""

from __future__ import annotations

import functools

import numpy as np

from .buffers import empty

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


def _size(x: np.ndarray | float) -> float:
    """The largest absolute value."""
    return float(np.max(np.abs(x), initial=0.0))


def fma64(a: np.ndarray, b: float | np.ndarray, c: float | np.ndarray) -> np.ndarray:
    """Return a*b + c in float64 with one rounding, wherever all of it is finite. a, b, c: float64, well below 1e290."""
    if not np.isfinite(_size(a) * _size(b) + _size(c)):
        return a * b + c
    product, product_error = _two_product(a, np.asarray(b, np.float64))
    high, low = _two_sum(np.asarray(c, np.float64), product_error)
    total, error = _two_sum(product, high)
    return total + _toward_odd(*_two_sum(low, error))


def fma32(a: np.ndarray, b: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
    """Return a*b + c in float32 with one rounding. All are float32 numbers, carried in float64."""
    product = a * b
    total = product + c
    # rounding to float64 on the way matters only where it lands halfway between two float32 numbers
    if ((total.view(np.int64) & 0x1FFFFFFF) == 0x10000000).any():
        total = _toward_odd(*_two_sum(product, np.broadcast_to(c, product.shape)))
    return round32(total)


def multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a*b + c rounded once, in the dtype of `c`. All broadcast; float32 or float64."""
    kind = c.dtype
    if kind == np.float32:
        wide = np.asarray(np.multiply(a, b, dtype=np.float64) + c)  # the product is exact
        if not ((wide.view(np.int64) & 0x1FFFFFFF) == 0x10000000).any():  # see fma32
            return wide.astype(np.float32)
    shape = np.broadcast_shapes(a.shape, b.shape, c.shape)
    a, b, c = (np.atleast_1d(np.broadcast_to(x, shape)).astype(np.float64) for x in (a, b, c))
    return (fma64(a, b, c) if kind == np.float64 else fma32(a, b, c).astype(np.float32)).reshape(shape)


def one_less_square(a: np.ndarray) -> np.ndarray:
    """Return 1 - a*a rounded once, in the dtype of `a`: float16, float32 or float64."""
    if a.dtype != np.float32:
        return 1 - a * a if a.itemsize < 4 else multiply_add(-a, a, np.ones((), a.dtype))
    wide = np.asarray(1.0 - np.multiply(a, a, dtype=np.float64))  # the product is exact
    if ((wide.view(np.int64) & 0x1FFFFFFF) == 0x10000000).any():  # see fma32
        return multiply_add(-a, a, np.ones((), a.dtype))
    return wide.astype(np.float32)


_NEGATIVE_ZERO = np.iinfo(np.int32).min  # its bits
_PIECE = 1 << 15  # elements that a matrix product takes at a time; their copies stay in the processor's cache


def add_scaled(a: np.ndarray, b: np.ndarray, factor: float, out: np.ndarray | None = None) -> np.ndarray:
    """Return a + factor*b rounded once. a, b: float arrays of one dtype that broadcast; `out`, if given, may be a."""
    alike = a.shape == b.shape and a.flags.c_contiguous and b.flags.c_contiguous
    if a.dtype != np.float32 or not alike or (out is not None and not out.flags.c_contiguous):
        return _into(out, multiply_add(b, np.asarray(factor, a.dtype), a))
    factor = float(np.float32(factor))
    # BLAS multiplies a column of one number in another way; and it begins with 0.0, by which a -0.0 would be lost
    if (
        a.size
        and a.size % _PIECE != 1
        and _product_fuses()
        and np.minimum.reduce(a.view(np.int32), None) != _NEGATIVE_ZERO
    ):
        return _product(a, b, factor, empty(a.shape, a.dtype) if out is None else out)
    wide = np.multiply(b, factor, dtype=np.float64)  # exact
    wide += a
    if ((wide.view(np.int64) & 0x1FFFFFFF) == 0x10000000).any():  # see fma32
        return _into(out, multiply_add(b, np.asarray(factor, np.float32), a))
    return wide.astype(np.float32) if out is None else _into(out, wide)


def _into(out: np.ndarray | None, data: np.ndarray) -> np.ndarray:
    if out is None:
        return data
    np.copyto(out, data, "unsafe")
    return out


def _product(a: np.ndarray, b: np.ndarray, factor: float, out: np.ndarray) -> np.ndarray:
    factors, n = np.array([1.0, factor], a.dtype), a.size
    if a.ndim != 1:
        a, b, into = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    else:
        into = out
    rows = np.empty((2, min(n, _PIECE)), a.dtype)
    if n <= _PIECE:
        rows[0], rows[1] = a, b
        np.matmul(factors, rows, into)
        return out
    for start in range(0, n, _PIECE):
        part = a[start : start + _PIECE]
        if part.size != rows.shape[1]:
            rows = rows[:, : part.size]
        rows[0], rows[1] = part, b[start : start + _PIECE]
        np.matmul(factors, rows, into[start : start + _PIECE])
    return out


@functools.cache
def _product_fuses() -> bool:
    """Whether the matrix product of NumPy's BLAS adds to the first product the second one with a single rounding.

    It does where its kernel for this processor is written with AVX-512. Looked at are sums in which rounding twice
    shows, in rows of any length that may be left over at the end of a vector.
    """
    n, factor = np.arange(50_001, dtype=np.float32), np.float32(-0.01)
    a, b = np.sin(n), np.cos(n) * np.float32(0.3)
    wide = np.multiply(b, float(factor), dtype=np.float64) + a
    once = wide.astype(np.float32)
    shows = (once != a + b * factor) & ((wide.view(np.int64) & 0x1FFFFFFF) != 0x10000000)
    a, b, once = a[shows], b[shows], once[shows]
    return bool(once.size) and all(
        np.array_equal(_product(np.resize(a, n), np.resize(b, n), -0.01, np.empty(n, np.float32)), np.resize(once, n))
        for n in (*range(2, 65), 1000, *range(4096, 4128), _PIECE)
    )


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
