"""NumPy arrays with the questions that are asked of tensors about their view of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds


class ArrayStorage:
    """The memory of the array that owns it, as a storage."""

    def __init__(self, owner: np.ndarray) -> None:
        self.start, self.stop = byte_bounds(owner)

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return self.start

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return self.stop - self.start


class ArrayView:
    """A NumPy array, asked as a tensor is: for `Blocks`, which keeps nothing of it.

    Its elements are in another order if a stride is negative, and bytes if they are no multiple of
    the item size apart (a field of records): only which bytes are there is asked.
    """

    device = "cpu"

    def __init__(self, array: np.ndarray) -> None:
        owner = array
        # Below the last array may be an object of any kind, a memoryview for example.
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self._storage = ArrayStorage(owner)
        self.dtype = array.dtype
        shape, steps, itemsize = list(array.shape), list(array.strides), array.itemsize
        start = byte_bounds(array)[0] - self._storage.start
        # A view from the end (`a[::-1]`) begins at its last byte, which `byte_bounds` has found.
        steps = [abs(step) for step in steps]
        # Bytes as one more dimension: strides of tensors are whole elements.
        if start % itemsize or any(step % itemsize for step in steps):
            shape, steps, itemsize = [*shape, itemsize], [*steps, 1], 1
        self.shape = tuple(shape)
        self._stride = tuple(step // itemsize for step in steps)
        self._offset, self._itemsize = start // itemsize, itemsize

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self._itemsize

    def stride(self) -> tuple[int, ...]:
        """Return the steps between elements, in elements."""
        return self._stride

    def storage_offset(self) -> int:
        """Return where the elements begin in the storage."""
        return self._offset

    def untyped_storage(self) -> Any:
        """Return the memory of the array that owns it."""
        return self._storage
