"""Kernels of functions that NumPy lacks: erf and its inverse, the gamma function's logarithm and derivatives.

They compute in double precision with Python's `math` where it has the function, else with classical expansions
(Abramowitz and Stegun, chapters 6 and 7).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..fused import multiply_add


def _each(f: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of one number, applied to every element in double precision."""
    over_all = np.frompyfunc(f, 1, 1)

    def kernel(a: np.ndarray) -> np.ndarray:
        return np.asarray(over_all(a.astype(np.float64)), np.float64).astype(a.dtype)

    return kernel


def _log(a: np.ndarray) -> np.ndarray:
    return np.log(a.astype(np.float64)).astype(a.dtype)


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


erf = _each(math.erf)
erfc = _each(math.erfc)
lgamma = _each(_lgamma)


def erfinv(a: np.ndarray) -> np.ndarray:
    """The inverse of erf: an approximation by S. Winitzki, polished by Halley's steps."""
    x = a.astype(np.float64)
    log = np.log1p(-x * x)
    half = 2 / (math.pi * 0.147) + log / 2
    y = np.copysign(np.sqrt(np.sqrt(half * half - log / 0.147) - half), x)
    for _ in range(3):
        error = np.where(np.abs(x) < 0.5, erf(y) - x, np.sign(x) * (1 - np.abs(x) - erfc(np.abs(y))))
        step = error / (2 / math.sqrt(math.pi) * np.exp(-y * y))
        y = y - step / (1 + y * step)
    y = np.where(np.abs(x) == 1, np.copysign(np.inf, x), y)
    return np.where(np.abs(x) > 1, np.nan, np.where(x == 0, x, y)).astype(a.dtype)


# Bernoulli numbers B(2k), the coefficients of the asymptotic series below
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def digamma(a: np.ndarray) -> np.ndarray:
    """The derivative of lgamma: shifted up to 10, then its asymptotic series; reflected for negative numbers.

    In the dtype it is given, as torch rounds every step of it to that.
    """
    kind = a.dtype.type
    x = np.where(a < 0, 1 - a, a)
    total = np.zeros_like(x)
    while (low := x < 10).any():
        total = np.where(low, total - 1 / x, total)
        x = np.where(low, x + 1, x)
    square = 1 / (x * x)
    series = np.zeros_like(x)
    for k in range(len(_BERNOULLI), 0, -1):
        series = multiply_add(series, square, np.full_like(x, _BERNOULLI[k - 1] / (2 * k)))
    out = total + _log(x) - kind(0.5) / x - square * series
    out = np.where(x == 10, total + kind(2.25175258906672110764), out)
    out = np.where(a < 0, out - (math.pi / np.tan(math.pi * np.fmod(a, 1).astype(np.float64))).astype(kind), out)
    poles = (a < 0) & (a == np.floor(a))
    return np.where(poles, np.nan, np.where(a == 0, np.copysign(np.inf, -a), out)).astype(a.dtype)


def polygamma(n: int, a: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma (n at least 1): a sum over the poles, the tail by Euler and Maclaurin."""
    x = a.astype(np.float64)
    s = n + 1
    total = np.zeros_like(x)
    while (low := x < 12).any():
        total = np.where(low, total + x**-s, total)
        x = np.where(low, x + 1, x)
    tail = x ** (1 - s) / (s - 1) + 0.5 * x**-s
    rising = float(s)
    for k, b in enumerate(_BERNOULLI, 1):
        tail = tail + b / math.factorial(2 * k) * rising * x ** (1 - s - 2 * k)
        rising *= (s + 2 * k - 1) * (s + 2 * k)
    sign = 1 if n % 2 else -1
    return (sign * math.factorial(n) * (total + tail)).astype(a.dtype)
