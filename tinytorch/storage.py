"""Storage, the memory that tensors look at, and the version counter, which counts the writes that autograd sees."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

from .devices import CPU, device
from .missing import missing
from .naming import ShownAs


class VersionCounter:
    """Counts in-place writes. Tensors that share one counter see each other's writes as changes.

    Views and `detach()` share their source's counter; `.data`, `copy.copy` and `from_numpy(t.numpy())` look at the
    same memory with a counter of their own. Source: `c10::VariableVersion`.
    """

    version = 0  # a class attribute: a fresh counter costs no more than the object


class UntypedStorage(metaclass=ShownAs):
    """One flat piece of memory on one device, counted in bytes.

    `buffer` is a one-dimensional NumPy array of any dtype that spans the whole memory. Source: `torch.UntypedStorage`.
    """

    shown_as = "torch.storage.UntypedStorage"

    __slots__ = ("__weakref__", "_resizable", "buffer", "device")

    def __init__(self, buffer: np.ndarray | int = 0, device: device = CPU, resizable: bool = True) -> None:
        if not isinstance(buffer, np.ndarray):
            buffer = np.zeros(buffer, np.uint8) if isinstance(buffer, int) else np.array(buffer, np.uint8)
        self.buffer = buffer
        self.device = device
        self._resizable = resizable

    def _bytes(self) -> np.ndarray:
        return self.buffer.view(np.uint8)

    def nbytes(self) -> int:
        """Size in bytes."""
        return self.buffer.nbytes

    size = __len__ = nbytes

    def resizable(self) -> bool:
        """Whether `resize_` may change the size: not where the memory is shared with NumPy."""
        return self._resizable

    def element_size(self) -> int:
        """Bytes an element takes: 1."""
        return 1

    @property
    def is_cuda(self) -> bool:
        """Whether the storage lies on the simulated cuda device."""
        return self.device is not CPU

    def is_shared(self) -> bool:
        """Whether other processes see this memory: never on the CPU here."""
        return self.is_cuda

    def cpu(self) -> UntypedStorage:
        """The storage itself on the CPU, else a copy there."""
        return self if self.device is CPU else UntypedStorage(self.buffer.copy())

    def data_ptr(self) -> int:
        """Address of the first byte; 0 for an empty storage."""
        return self.buffer.__array_interface__["data"][0] if self.buffer.nbytes else 0

    def __getitem__(self, i: int | slice) -> int | UntypedStorage:
        if isinstance(i, slice):
            start, stop, step = i.indices(self.nbytes())
            if step != 1:
                raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
            return UntypedStorage(self._bytes()[start:stop], self.device, resizable=False)
        if not hasattr(i, "__index__"):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(i).__name__}")
        if not -self.nbytes() <= i < self.nbytes():
            raise IndexError(f"index {i} out of range for storage of size {self.nbytes()}")
        return int(self._bytes()[i])

    def __setitem__(self, i: int | slice, value: int) -> None:
        self._bytes()[i] = value

    def __iter__(self):
        return iter(self._bytes().tolist())

    def tolist(self) -> list[int]:
        """The bytes as a list of ints."""
        return self._bytes().tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._bytes()[...] = value
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copy another storage's bytes into this one."""
        self._bytes()[...] = source._bytes()
        return self

    def clone(self) -> UntypedStorage:
        """A storage with the same bytes and memory of its own."""
        return UntypedStorage(self.buffer.copy(), self.device)

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Grow or shrink to `nbytes`, keeping the bytes; every tensor on this storage follows to the new memory.

        RuntimeError for memory that is not ours to resize (shared with a NumPy array).
        """
        if not self._resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        old = self._bytes()
        new = np.zeros(nbytes, np.uint8)
        keep = min(nbytes, old.size)
        new[:keep] = old[:keep]
        self.buffer = new
        # Tensors point at the buffer directly, which is what makes them fast. Moving it is rare, so the few that
        # must follow are looked up here instead of being registered on every view.
        for owner in gc.get_referrers(self):
            follow = getattr(owner, "_follow_storage", None)
            if follow is not None and getattr(owner, "_storage", None) is self:
                follow()
        return self

    def untyped(self) -> UntypedStorage:
        """Itself, as torch's typed storages offer."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.buffer is other.buffer

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        raise missing("'torch.storage.UntypedStorage' object has no attribute '{}'", name)

    def __repr__(self) -> str:
        lines = "".join(f" {b}\n" for b in self.tolist()) or " \n"
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


def contiguous_strides(shape: tuple[int, ...], itemsize: int = 1) -> tuple[int, ...]:
    """Row-major strides of a shape, in elements or, given an item size, in bytes (torch's rule for sizes 0 and 1)."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))
