"""Storage, the memory that tensors look at, and the version counter, which counts the writes that autograd sees."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

from .devices import CPU, as_device
from .missing import missing
from .naming import ShownAs, type_name


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

    is_sparse = False
    filename = None

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

    is_hpu = False

    def new(self) -> UntypedStorage:
        """An empty storage on the same device."""
        return UntypedStorage(0, self.device)

    def cpu(self) -> UntypedStorage:
        """The storage itself on the CPU, else a copy there."""
        return self if self.device is CPU else UntypedStorage(self.buffer.copy())

    def data_ptr(self) -> int:
        """Address of the first byte; 0 for an empty storage."""
        return self.buffer.__array_interface__["data"][0] if self.buffer.nbytes else 0

    def _place(self, i: Any, error: type[Exception]) -> int | slice:
        """An index as NumPy takes it. `error` for what is none."""
        if isinstance(i, slice):
            start, stop, step = i.indices(self.nbytes())
            if step != 1:
                raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
            return slice(start, stop)
        if isinstance(i, (bool, np.bool_)) or not isinstance(i, (int, np.integer)):
            raise error(f"can't index a torch.UntypedStorage with {type_name(i)}")
        return int(i)

    def __getitem__(self, i: int | slice) -> int | UntypedStorage:
        at = self._place(i, TypeError)
        if isinstance(at, slice):
            return UntypedStorage(self._bytes()[at], self.device, resizable=False)
        n = self.nbytes()
        if not -n <= at < n:
            raise IndexError(f"index {at if at >= 0 else at + n} out of range for storage of size {n}")
        return int(self._bytes()[at])

    def __setitem__(self, i: int | slice, value: int) -> None:
        at = self._place(i, RuntimeError)
        if not isinstance(value, (int, np.integer)):
            name = type_name(value)
            raise RuntimeError(f"can only set storage content with a int types, but got {name} instead")
        if isinstance(at, int) and not 0 <= at < self.nbytes():
            raise RuntimeError("out of bounds")
        self._bytes()[at] = int(value) % 256

    def __iter__(self):
        return iter(self._bytes().tolist())

    def tolist(self) -> list[int]:
        """The bytes as a list of ints."""
        return self._bytes().tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise RuntimeError(f"fill_ expects int, but got {type_name(value)}")
        self._bytes()[...] = int(value) % 256
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Copy another storage's bytes into this one. RuntimeError for another size."""
        if not hasattr(source, "untyped"):
            raise TypeError(f"copy_(): argument 'src' (position 1) must be torch.Storage, not {type_name(source)}")
        source = source.untyped()
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._bytes()[...] = source._bytes()
        return self

    def byteswap(self, dtype: Any) -> None:
        """Turn the order of the bytes of each element of a dtype."""
        self._bytes().view(dtype.np).byteswap(inplace=True)

    def get_device(self) -> int | None:
        """The index of the device, None for the CPU."""
        return self.device.index

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is pinned: never."""
        return False

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """The storage itself if it is on the device, else a copy there."""
        where = as_device(device)
        return self if where is self.device else UntypedStorage(self.buffer.copy(), where)

    def clone(self) -> UntypedStorage:
        """A storage with the same bytes and memory of its own."""
        return UntypedStorage(self.buffer.copy(), self.device)

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Grow or shrink to `nbytes`, keeping the bytes; every tensor on this storage follows to the new memory.

        RuntimeError for memory that is not ours to resize (shared with a NumPy array).
        """
        if isinstance(nbytes, bool) or not isinstance(nbytes, (int, np.integer)):
            raise RuntimeError(f"resize_ expects an int, but got {type_name(nbytes)}")
        if not self._resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        old = self._bytes()
        new = _bytes_of(nbytes)
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

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __getattr__(self, name: str) -> Any:
        raise missing("'torch.storage.UntypedStorage' object has no attribute '{}'", name)

    def __repr__(self) -> str:
        lines = "".join(f" {b}\n" for b in self.tolist()) or " \n"
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


def _bytes_of(given: Any) -> np.ndarray:
    """New bytes: that many, or those of a sequence of ints. RuntimeError, in torch's words, for anything else."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if given < 0:
            raise RuntimeError(
                "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with "
                f"negative number: {2**64 + int(given)}"
            )
        return np.zeros(int(given), np.uint8)
    what = "torch.UntypedStorage(): "
    if not hasattr(given, "__len__") or hasattr(given, "untyped_storage"):
        raise RuntimeError(f"{what}Expected a sequence type, but got {type_name(given)}")
    for item in given:
        if not isinstance(item, (int, np.integer)) or isinstance(item, bool):
            raise RuntimeError(
                f"{what}tried to construct a storage from a sequence ({type_name(given)}), but one of the items was of "
                f"type {type_name(item)} instead of int"
            )
    return np.array([int(item) % 256 for item in given], np.uint8)


def contiguous_strides(shape: tuple[int, ...], itemsize: int = 1) -> tuple[int, ...]:
    """Row-major strides of a shape, in elements or, given an item size, in bytes (torch's rule for sizes 0 and 1)."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))
