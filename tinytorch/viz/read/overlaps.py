"""Which bytes of one storage views have in common: asked of their geometry, so that no memory is read.

The exact answer is `numpy.shares_memory`'s, which solves for indices instead of listing them: the
columns of a matrix of ten million rows are told apart in microseconds.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, Protocol

import numpy as np

_FIRST_ADDRESS = 1 << 12
"""Where the storage is said to begin: address 0 would be no address."""
_MOST_WORK = 10_000_000
"""Strides that nearly fit may need exponential time; after so many steps bytes are listed."""
_MOST_LISTED = 1_000_000
"""The elements of larger views are not listed one by one."""


class ViewGeometry(Protocol):
    """A view of a storage: `start_byte` counts from where that begins, `stride` in elements."""

    @property
    def start_byte(self) -> int: ...  # noqa: D102
    @property
    def shape(self) -> tuple[int, ...] | None: ...  # noqa: D102
    @property
    def stride(self) -> tuple[int, ...] | None: ...  # noqa: D102
    @property
    def itemsize(self) -> int: ...  # noqa: D102


class _ArrayInterface:
    """What NumPy asks of an object to make an array over memory that is never touched."""

    def __init__(self, view: ViewGeometry) -> None:
        self.__array_interface__ = {
            "version": 3,
            # Bytes of no dtype, as addresses alone are compared; True below: not to be written.
            "typestr": f"|V{view.itemsize}",
            "shape": view.shape,
            "strides": tuple(step * view.itemsize for step in view.stride or ()),
            "data": (_FIRST_ADDRESS + view.start_byte, True),
        }


def count_elements(view: ViewGeometry) -> int:
    """Return how many elements a view has: 0 where its geometry is not known."""
    if view.shape is None or view.stride is None:
        return 0
    return math.prod(view.shape)


def share_bytes(first: ViewGeometry, second: ViewGeometry) -> bool:
    """Return True if some byte belongs to an element of both; both are views of one storage."""
    if not count_elements(first) or not count_elements(second):
        return False
    # As sets of bytes, two columns of ten million rows took 5 s.
    array, other = np.asarray(_ArrayInterface(first)), np.asarray(_ArrayInterface(second))
    try:
        return np.shares_memory(array, other, max_work=_MOST_WORK)
    except RuntimeError:  # numpy.exceptions.TooHardError
        return not set(_list_bytes(first).tolist()).isdisjoint(_list_bytes(second).tolist())


def shares_memory(array: Any, start: int, stop: int) -> bool:
    """Return True if some byte of a NumPy array is at an address from `start` to before `stop`."""
    memory = np.frombuffer((ctypes.c_char * (stop - start)).from_address(start), np.uint8)
    try:
        return bool(np.shares_memory(array, memory, max_work=_MOST_WORK))
    except RuntimeError:  # numpy.exceptions.TooHardError
        return True  # between its first and last element, at least


def normalize_geometry(view: ViewGeometry) -> tuple[Any, ...]:
    """Return a key that is equal only for views of the same bytes, in whatever order."""
    axes = [(1, view.itemsize)]
    moving = zip(view.shape or (), view.stride or (), strict=True)
    # From the smallest step: an axis that goes on where the last one ends is a part of it.
    for step, size in sorted((step, size) for size, step in moving if step and size > 1):
        last_step, last_size = axes[-1]
        if step * view.itemsize == last_step * last_size:
            axes[-1] = (last_step, last_size * size)
        else:
            axes.append((step * view.itemsize, size))
    return (view.start_byte, *axes)


def count_repeats(view: ViewGeometry) -> int:
    """Return how many elements share each cell through strides of 0: 1 unless it is expanded."""
    axes = zip(view.shape or (), view.stride or (), strict=True)
    return math.prod(size for size, step in axes if not step and size > 1)


def has_overlapping_elements(view: ViewGeometry) -> bool:
    """Return True if elements are known to share a byte, as those of `unfold` and `expand` do."""
    count = count_elements(view)
    if count <= 1 or count_repeats(view) > 1:
        return count > 1
    furthest, is_nested = 0, True
    axes = zip(view.stride or (), view.shape or (), strict=True)
    for step, size in sorted((step, size) for step, size in axes if size > 1):
        is_nested = is_nested and step > furthest
        furthest += (size - 1) * step
    # Steps that go beyond all of the smaller ones, as those of nearly every view.
    if is_nested:
        return False
    # More elements than cells between the first and the last.
    if count > furthest + 1:
        return True
    return count <= _MOST_LISTED and len(np.unique(_list_starts(view))) < count


def count_common_cells(first: ViewGeometry, second: ViewGeometry) -> int | None:
    """Return how many cells belong to both; None for large views and cells of unequal size."""
    is_aligned = (first.start_byte - second.start_byte) % first.itemsize == 0
    is_small = max(count_elements(first), count_elements(second)) <= _MOST_LISTED
    # Cells are only the same where they begin at the same bytes and are of one size.
    if first.itemsize != second.itemsize or not is_aligned or not is_small:
        return None
    stretches = normalize_geometry(first), normalize_geometry(second)
    are_unbroken = len(stretches[0]) == len(stretches[1]) == 2
    if are_unbroken and count_elements(first) and count_elements(second):
        # Each is one stretch of bytes: nothing has to be listed.
        (first_start, (_, first_size)), (second_start, (_, second_size)) = stretches
        start = max(first_start, second_start)
        stop = min(first_start + first_size, second_start + second_size)
        return max(0, stop - start) // first.itemsize
    return len(np.intersect1d(_list_starts(first), _list_starts(second)))


def count_cells(view: ViewGeometry) -> int | None:
    """Return how many different cells a view has; None for a large one whose elements overlap."""
    if not has_overlapping_elements(view):
        return count_elements(view)
    if count_elements(view) // count_repeats(view) <= _MOST_LISTED:
        return len(np.unique(_list_starts(view)))
    return None


def _list_starts(view: ViewGeometry) -> Any:
    """Return the first byte of each element; of those that share a cell by a stride of 0, once."""
    starts = np.array([view.start_byte])
    for size, step in zip(view.shape or (), view.stride or (), strict=True):
        if step or not size:
            starts = np.add.outer(starts, np.arange(size) * step * view.itemsize).ravel()
    return starts


def _list_bytes(view: ViewGeometry) -> Any:
    return np.add.outer(_list_starts(view), np.arange(view.itemsize)).ravel()
