"""Giving a tensor another shape over its own storage, which grows if it must.

`resize_` and `out=` do it.
"""

from __future__ import annotations

import math
from typing import Any

from ..base import contiguous_strides
from ..graph import VersionCounter, count_write, gradient_spec_of, note_data_assigned
from ..tensor import Tensor


def look_at_storage(self: Tensor, storage: Any, shape: tuple, strides: tuple, offset: int) -> None:
    """Make the tensor a look at a storage; `strides` and `offset` in bytes."""
    self._data = storage.make_array(shape, self._data.dtype, strides, offset)
    self._storage = storage


def resize_tensor(self: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Give the tensor another shape, row-major from the same offset, and count that as a write."""
    a = self._data
    if shape == a.shape:
        return self
    strides = contiguous_strides(shape, a.itemsize)
    # A storage that is made only now has no other tensor. To search for others takes a look at all
    # objects of the process, and `out=torch.empty(0)` is a usual call.
    tensors = [self] if self._storage is None else None
    storage, offset = self._materialize_storage(), self.storage_offset() * a.itemsize
    needed_bytes = 0 if 0 in shape else offset + math.prod(shape) * a.itemsize
    if needed_bytes > storage.nbytes():
        storage.resize_with_tensors(needed_bytes, tensors)
    before = gradient_spec_of(self)
    look_at_storage(self, storage, shape, strides, offset)
    note_data_assigned(self, before)
    count_write(self)
    return self


def resize_out(out: Tensor, shape: tuple[int, ...]) -> None:
    """Resize an `out=` argument. PyTorch counts only the write of the result, not the resizing."""
    counter, out._counter = out._counter, VersionCounter()
    resize_tensor(out, shape)
    out._counter = counter
