"""Storage: the memory that tensors look at. Source: `torch.UntypedStorage`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np

from .devices import CPU, as_device
from .errors import ShownAs, missing, type_name


def contiguous_strides(shape: tuple[int, ...], itemsize: int = 1) -> tuple[int, ...]:
    """Row-major strides of a shape, in elements or, given an item size, in bytes (torch's rule for sizes 0 and 1)."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n or 1
    return tuple(reversed(strides))


def reach(shape: tuple, strides: tuple, itemsize: int) -> int:
    """How many bytes lie from the first element to the end of the last."""
    return (
        0
        if 0 in shape
        else itemsize + sum([s * (n - 1) for s, n in zip(strides, shape, strict=True)])
    )


def address(a: np.ndarray) -> int:
    """Where an array's first element lies."""
    return a.__array_interface__["data"][0]


def look(
    buffer: np.ndarray, shape: tuple, kind: np.dtype, strides: tuple, offset: int
) -> np.ndarray:
    """An array that looks at a buffer from a byte on; strides in bytes. An empty one begins at the end at the latest."""
    return np.ndarray(
        shape, kind, buffer, min(offset, buffer.nbytes) if 0 in shape else offset, strides
    )


class UntypedStorage(metaclass=ShownAs):
    """One flat piece of memory on one device, counted in bytes.

    `buffer` is a one-dimensional NumPy array of any dtype that spans the whole memory.
    """

    shown_as = "torch.storage.UntypedStorage"

    __slots__ = ("__weakref__", "_resizable", "buffer", "device")

    def __init__(self, size: Any = 0, device: Any = CPU, resizable: bool = True) -> None:
        self.buffer = size if isinstance(size, np.ndarray) else _bytes_of(size)
        self.device = as_device(device)
        self._resizable = resizable

    def _bytes(self) -> np.ndarray:
        return self.buffer.view(np.uint8)

    def nbytes(self) -> int:
        """Size in bytes."""
        return self.buffer.nbytes

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Address of the first byte; 0 for an empty storage."""
        return address(self.buffer) if self.buffer.nbytes else 0

    def resizable(self) -> bool:
        """Whether `resize_` may change the size: not where the memory is shared with NumPy."""
        return self._resizable

    @property
    def is_cuda(self) -> bool:
        """Whether the storage lies on the simulated cuda device."""
        return self.device is not CPU

    def look(self, shape: tuple, kind: np.dtype, strides: tuple, offset: int) -> np.ndarray:
        """An array that looks at the memory from a byte on; strides in bytes."""
        return look(self.buffer, shape, kind, strides, offset)

    # reading and writing bytes ---------------------------------------------------------------------

    def __getitem__(self, i: int) -> int:
        n = self.nbytes()
        if not _is_int(i):
            raise TypeError(f"can't index a torch.UntypedStorage with {type_name(i)}")
        if not -n <= i < n:
            raise IndexError(f"index {i if i >= 0 else i + n} out of range for storage of size {n}")
        return int(self._bytes()[i])

    def __setitem__(self, i: int, value: int) -> None:
        if not _is_int(i):
            raise RuntimeError(f"can't index a torch.UntypedStorage with {type_name(i)}")
        if not isinstance(value, (int, np.integer)):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type_name(value)} instead"
            )
        if not 0 <= i < self.nbytes():
            raise RuntimeError("out of bounds")
        self._bytes()[i] = int(value) % 256

    def tolist(self) -> list[int]:
        """The bytes as a list of ints."""
        return self._bytes().tolist()

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._bytes()[...] = int(value) % 256
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Copy another storage's bytes into this one. RuntimeError for another size."""
        theirs, n = source.nbytes(), self.nbytes()
        if theirs != n:
            raise RuntimeError(
                f"size does not match, self was {n} bytes but src was {theirs} bytes"
            )
        self._bytes()[...] = source._bytes()
        return self

    # other storages --------------------------------------------------------------------------------

    def clone(self) -> UntypedStorage:
        """A storage with the same bytes and memory of its own."""
        return UntypedStorage(self.buffer.copy(), self.device)

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> UntypedStorage:
        return memo.setdefault(id(self), self.clone())

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Grow or shrink to `nbytes`, keeping the bytes; every tensor on this storage follows to the new memory.

        RuntimeError for memory that is not ours to resize (shared with a NumPy array).
        """
        if not self._resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        old, start = self._bytes(), address(self.buffer)
        # Tensors point at the memory directly, which is what makes them fast. Moving it is rare, so the few that
        # must follow are looked up here instead of being registered on every view.
        tensors = [t for t in gc.get_referrers(self) if getattr(t, "_storage", None) is self]
        ends = [
            address(a) - start + reach(a.shape, a.strides, a.itemsize)
            for a in (t._data for t in tensors)
        ]
        memory = _bytes_of(
            max(nbytes, *ends) if nbytes >= 0 and ends else nbytes
        )  # nobody looks beyond what is there
        self.buffer = memory[:nbytes]
        keep = min(nbytes, old.size)
        memory[:keep] = old[:keep]
        for t in tensors:
            a = t._data
            t._data = np.ndarray(a.shape, a.dtype, memory, address(a) - start, a.strides)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.buffer is other.buffer

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        raise missing("'torch.storage.UntypedStorage' object has no attribute '{}'", name)

    def __repr__(self) -> str:
        lines = "".join(f" {b}\n" for b in self.tolist()) or " \n"
        return (
            f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"
        )


def _is_int(n: Any) -> bool:
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def _bytes_of(given: Any) -> np.ndarray:
    """New bytes: that many, or those of a sequence of ints."""
    if _is_int(given):
        if given < 0:
            raise RuntimeError(f"[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with negative number: {2**64 + int(given)}")  # fmt: skip
        return np.zeros(int(given), np.uint8)
    return np.array([int(item) % 256 for item in given], np.uint8)
