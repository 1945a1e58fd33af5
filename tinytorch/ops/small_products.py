"""Products of small float32 matrices in the order in which torch's BLAS adds on the CPU, to the last bit.

Where both factors lie with the summed dimension side by side, as in a layer's `x @ weight.T` and in `matrix @ vector`,
MKL takes sixteen products at a time into the lanes of a register and adds the lanes up at the end; everywhere else it
adds one product after another, fused, and so does NumPy's. Which of the two, and in which steps, was found by giving
it numbers of which only some are absorbed (as in FPRev, Xie et al. 2024), for torch 2.13 with AVX-512.
"""

from __future__ import annotations

import numpy as np

from ..fused import multiply_add

_LANES = 16
_MOST = 1 << 15  # elements of a matrix; above that the order does not pay its price


def _into(lanes: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`lanes` (..., w) with products of a and b (..., k) added, w at a time."""
    width = lanes.shape[-1]
    for start in range(0, a.shape[-1], width):
        x, y = a[..., start : start + width], b[..., start : start + width]
        n = x.shape[-1]
        lanes[..., :n] = multiply_add(x, y, lanes[..., :n])
    return lanes


def _started(shape: tuple[int, ...], first: np.ndarray | None = None, width: int = _LANES) -> np.ndarray:
    lanes = np.zeros((*shape, width), np.float32)
    if first is not None:
        lanes[..., 0] = first
    return lanes


def _folded(lanes: np.ndarray) -> np.ndarray:
    lanes = lanes[..., :8] + lanes[..., 8:]
    return lanes[..., :4] + lanes[..., 4:]


def _crosswise(lanes: np.ndarray) -> np.ndarray:
    """The sum of sixteen lanes (..., 16)."""
    four = _folded(lanes)
    return (four[..., 0] + four[..., 2]) + (four[..., 1] + four[..., 3])


def _alternating(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sums of products over the last dimension of (rows, ..., k): every other row with two registers at a time."""
    shape, k = np.broadcast_shapes(a.shape, b.shape)[:-1], a.shape[-1]
    pairs = k - k % (2 * _LANES)
    if not pairs:
        return _crosswise(_into(_started(shape), a, b))
    two = _into(_started(shape, width=2 * _LANES), a[..., :pairs], b[..., :pairs])
    out = _crosswise(_into(two[..., :_LANES] + two[..., _LANES:], a[..., pairs:], b[..., pairs:]))
    one = _crosswise(_into(_started(shape), a, b))
    out[1::2] = one[1::2]
    return out


def _by_vector(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """a (rows, k) times x (k): four rows at a time, each sum begun with its first product; then the rows left over."""
    rows, k = a.shape
    first = a[:, 0] * x[0]
    out = np.empty(rows, np.float32)
    fours = rows - rows % 4
    if fours:
        total, whole = first[:fours], 1 + (k - 1) // _LANES * _LANES
        for start, stop in ((1, whole), (whole, k)):
            if start < stop:
                total = _crosswise(_into(_started((fours,), total), a[:fours, start:stop], x[start:stop]))
        out[:fours] = total
    if fours < rows:
        out[fours:] = first[fours:] + _alternating(a[fours:, 1:], x[1:])
    return out


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The inner product of two vectors (n), with up to four registers at a time."""
    n = a.size
    start = n - n % (4 * _LANES)
    lanes = _into(_started((), width=4 * _LANES), a[:start], b[:start])
    if n - start >= 2 * _LANES:
        stop = start + 2 * _LANES
        _into(lanes[: 2 * _LANES], a[start:stop], b[start:stop])
        start = stop
    _into(lanes[:_LANES], a[start:], b[start:])
    lanes = lanes.reshape(4, _LANES)
    four = _folded((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
    return np.asarray((four[0] + four[1]) + (four[2] + four[3]))


def _dot_of_steps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The inner product of vectors whose elements do not lie side by side, in four sums."""
    n = a.size - a.size % 4
    four = _into(_started((), width=4), a[:n], b[:n])
    total = (four[0] + four[2]) + (four[1] + four[3])
    if a.size - n > 1:
        total = total + (a[n] * b[n] + a[n + 1] * b[n + 1])
    return np.asarray(multiply_add(a[-1], b[-1], total) if a.size % 2 else total)


def _is_turned(rows: int, columns: int, height: int, width: int, else_: bool) -> bool:
    """Whether BLAS, which goes by columns, takes a matrix as turned; torch copies one that fits neither way."""
    if rows == 1 and columns >= max(1, height):
        return False
    return True if columns == 1 and rows >= max(1, width) else else_


def in_order(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """a @ b of float32 arrays, (n, k) by (k, m) or (k), or (k) by (k); None where NumPy's own order is as good."""
    if a.size > _MOST or b.size > _MOST:
        return None
    if a.ndim == 1:
        return (
            (dot if a.strides == b.strides == (4,) else _dot_of_steps)(a, b)
            if b.ndim == 1 and 1 < a.size == b.size
            else None
        )
    n, k = a.shape
    if not (n and 1 < k == b.shape[0]):
        return None
    down, across = (s // a.itemsize for s in a.strides)
    if b.ndim == 1:
        if down != 1 or across < n:
            return _by_vector(a, b)
        made = _one_by_one(a, b[:, None]) if b.strides[0] == b.itemsize else None
        return made if made is None else made[:, 0]
    m = b.shape[1]
    if not m:
        return None
    below, beside = (s // b.itemsize for s in b.strides)
    if m == 1:
        turned, other = _is_turned(down, across, n, k, True), _is_turned(below, beside, k, 1, True)
        lanes = turned and (n > 1 or not other)
        return _by_vector(a, b[:, 0]).reshape(n, 1) if lanes else _one_by_one(a, b)
    turned, other = _is_turned(beside, below, m, k, False), _is_turned(across, down, k, n, False)
    if n == 1:
        return _by_vector(b.T, a[0]).reshape(1, m) if turned else _one_by_one(a, b)
    few = n < 16 and m < 12 and k < 48 and (m != 3 or n < 11) and (m < 4 or (m > n and m >= k))
    return _alternating(a[:, None], b.T[None]) if turned and not other and few else _one_by_one(a, b)


def _one_by_one(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """a @ b with one product added after another, as NumPy's BLAS has it where `a` goes by columns; else only for few."""
    (n, k), m = a.shape, b.shape[1]
    if n > 1 and m > 1:
        return np.matmul(np.asfortranarray(a), b) if 32 <= k < 384 else None
    if k > 7 and n + m > _LANES:
        return _by_columns(a[0], b)[None] if n == 1 else _by_columns(b[:, 0], a.T)[:, None]
    if k != 4 and k < 32 and n + m > 2:
        return None
    rows, columns = a.repeat(2, 0) if n == 1 else a, b.repeat(2, 1) if m == 1 else b
    return np.matmul(np.asfortranarray(rows), columns)[:n, :m]


def _by_columns(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x (k) times b (k, m): for sixteen columns at a time eight rows together, what is left one by one."""
    k, m = b.shape
    eights, sixteens = k - k % 8, m - m % _LANES
    parts, left = b[:, :sixteens], b[:, sixteens:]
    y = np.zeros(sixteens, np.float32)
    for s in range(0, eights, 8):
        pairs = [multiply_add(x[i], parts[i], x[i + 2] * parts[i + 2]) for i in (s, s + 1, s + 5)]
        y = multiply_add(x[s + 4], parts[s + 4], multiply_add(x[s + 6], parts[s + 6], y))
        y = (y + pairs[2]) + (pairs[0] + pairs[1])
    for i in range(eights, k):
        y = multiply_add(x[i], parts[i], y)
    if sixteens == m:
        return y
    rest = np.matmul(np.asfortranarray(np.stack([x, x])), left if m - sixteens > 1 else left.repeat(2, 1))[0]
    return np.concatenate([y, rest[: m - sixteens]])
