"""Choosing the k-th element of a row, and among equal ones the very one that torch chooses.

Without ties any method gives the same index. With ties the order in which elements are compared and swapped decides:
these are the classical partitions that torch runs (quickselect for `kthvalue`, the C++ library's sorting and
selection for `sort`, `mode` and `topk`), on lists of positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Less = Callable[[int, int], bool]
_LONG = 20000  # from here on ties go to the first index: a partition in Python would take too long


def _has_ties(row: np.ndarray) -> bool:
    return len(np.unique(row)) < len(row)


def nth(row: np.ndarray, k: int) -> tuple[Any, int]:
    """The k-th smallest element (from 0) and its index, by quickselect with a median of three."""
    if len(row) > _LONG or not _has_ties(row):
        at = int(np.argsort(row, kind="stable")[k])
        return row[at], at
    v, at = row.tolist(), list(range(len(row)))

    def above(x: Any, y: Any) -> bool:
        return (x != x and y == y) or x > y

    def swap(i: int, j: int) -> None:
        v[i], v[j], at[i], at[j] = v[j], v[i], at[j], at[i]

    low, high = 0, len(v) - 1
    while high > low:
        if high == low + 1:
            if above(v[low], v[high]):
                swap(low, high)
            break
        swap(low + (high - low) // 2, low + 1)
        if above(v[low + 1], v[high]):
            swap(low + 1, high)
        if above(v[low], v[high]):
            swap(low, high)
        if above(v[low + 1], v[low]):
            swap(low + 1, low)
        i, j, pivot = low + 1, high, v[low]
        while True:
            i += 1
            while above(pivot, v[i]):
                i += 1
            j -= 1
            while above(v[j], pivot):
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(low, j)
        if j <= k:
            low = i
        if j >= k:
            high = j - 1
    return row[at[k]], at[k]


# the C++ library's selection ------------------------------------------------------------------------------------------


def insertion_sort(p: list[int], first: int, last: int, less: Less) -> None:
    """Sort positions first..last in place, keeping the order of equal ones."""
    for i in range(first + 1, last):
        x, j = p[i], i
        while j > first and less(x, p[j - 1]):
            p[j] = p[j - 1]
            j -= 1
        p[j] = x


def _partition(p: list[int], first: int, last: int, less: Less) -> int:
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    if less(p[a], p[b]):
        m = b if less(p[b], p[c]) else c if less(p[a], p[c]) else a
    else:
        m = a if less(p[a], p[c]) else c if less(p[b], p[c]) else b
    p[first], p[m] = p[m], p[first]
    i, j = first + 1, last
    while True:
        while less(p[i], p[first]):
            i += 1
        j -= 1
        while less(p[first], p[j]):
            j -= 1
        if i >= j:
            return i
        p[i], p[j] = p[j], p[i]
        i += 1


def select(p: list[int], k: int, less: Less) -> None:
    """Bring the k-th position to its place, smaller ones before it, as `std::nth_element` does."""
    first, last = 0, len(p)
    while last - first > 3:
        cut = _partition(p, first, last, less)
        if cut <= k:
            first = cut
        else:
            last = cut
    insertion_sort(p, first, last, less)


def sort_positions(p: list[int], first: int, last: int, less: Less) -> None:
    """Sort positions first..last, as `std::sort` does: by partitions down to 16, then by insertion."""
    stack = [(first, last)]
    while stack:
        low, high = stack.pop()
        while high - low > 16:
            cut = _partition(p, low, high, less)
            stack.append((cut, high))
            high = cut
    insertion_sort(p, first, last, less)


def sorted_positions(row: np.ndarray, descending: bool) -> np.ndarray:
    """The order of a row, nan above everything, with ties as `std::sort` leaves them."""
    n = len(row)
    if n <= 16 or n > _LONG or not _has_ties(row):
        if not descending:
            return np.argsort(row, kind="stable")
        return (n - 1 - np.argsort(row[::-1], kind="stable"))[::-1]
    v, p = row.tolist(), list(range(n))
    if descending:
        sort_positions(p, 0, n, lambda i, j: (v[i] != v[i] and v[j] == v[j]) or v[i] > v[j])
    else:
        sort_positions(p, 0, n, lambda i, j: (v[j] != v[j] and v[i] == v[i]) or v[i] < v[j])
    return np.array(p)


def middle(row: np.ndarray, nan_counts: bool) -> tuple[Any, int]:
    """The median and its index: the first nan if nans count, else the lower median of the numbers."""
    nans = row != row
    if nan_counts and nans.any():
        at = int(np.argmax(nans))
        return row[at], at
    k = (len(row) - int(nans.sum()) - 1) // 2 if not nans.all() else 0
    at = int(np.argsort(row, kind="stable")[k])
    return row[at], at


def most_common(row: np.ndarray) -> tuple[Any, int]:
    """The most frequent element, the smallest of equally frequent ones, and its last index."""
    order = sorted_positions(row, False)
    if row.dtype.kind == "f" and np.isnan(row).any():  # which this search does not put last
        v, positions = row.tolist(), list(range(len(row)))
        sort_positions(positions, 0, len(row), lambda i, j: v[i] < v[j])
        order = np.array(positions)
    ordered = row[order]
    best, at, start = 0, 0, 0
    for i in range(1, len(row) + 1):
        if i == len(row) or ordered[i] != ordered[start]:
            if i - start > best:
                best, at = i - start, int(order[i - 1])
            start = i
    return row[at], at


def top(row: np.ndarray, k: int, largest: bool, ordered: bool) -> list[int]:
    """The positions of the k largest (or smallest) elements."""
    n = len(row)
    if k == 0:
        return []
    if n > _LONG or not _has_ties(row):
        keys = np.argsort(row, kind="stable")
        if not largest:
            return keys[:k].tolist()
        return keys[::-1][:k].tolist()
    v = row.tolist()
    if largest:

        def less(i: int, j: int) -> bool:
            return (v[i] != v[i] and v[j] == v[j]) or v[i] > v[j]
    else:

        def less(i: int, j: int) -> bool:
            return (v[i] == v[i] and v[j] != v[j]) or v[i] < v[j]

    p = list(range(n))
    if k * 64 <= n:
        return _partial_sort(p, k, less)
    select(p, k - 1, less)
    if ordered:
        sort_positions(p, 0, k - 1, less)
    return p[:k]


def _partial_sort(p: list[int], k: int, less: Less) -> list[int]:
    """The first k positions in order, by a heap, as `std::partial_sort` does."""
    heap = p[:k]

    def sift(hole: int, size: int, x: int) -> None:
        top, child = hole, hole
        while child < (size - 1) // 2:
            child = 2 * (child + 1)
            if less(heap[child], heap[child - 1]):
                child -= 1
            heap[hole] = heap[child]
            hole = child
        if size % 2 == 0 and child == (size - 2) // 2:
            child = 2 * (child + 1)
            heap[hole] = heap[child - 1]
            hole = child - 1
        while hole > top and less(heap[(hole - 1) // 2], x):
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = x

    for i in range((k - 2) // 2, -1, -1):
        sift(i, k, heap[i])
    for i in range(k, len(p)):
        if less(p[i], heap[0]):
            sift(0, k, p[i])
    for size in range(k - 1, 0, -1):
        x, heap[size] = heap[size], heap[0]
        sift(0, size, x)
    return heap
