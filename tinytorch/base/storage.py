"""Storage: a piece of memory that tensors share. Source: `torch.UntypedStorage`."""

from __future__ import annotations

import gc
import math
import mmap
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from .devices import CPU, as_device
from .errors import ShownAs, make_absence_error, make_attribute_error, type_name


def contiguous_strides(shape: tuple[int, ...], itemsize: int = 1) -> tuple[int, ...]:
    """Return the row-major strides of a shape, in elements, or in bytes if an item size is given."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n or 1  # torch counts a size of 0 as 1, where NumPy's strides become 0
    return tuple(reversed(strides))


def byte_extent(shape: tuple, strides: tuple, itemsize: int) -> int:
    """Return the number of bytes from the first element to the end of the last one."""
    if 0 in shape:
        return 0
    return itemsize + sum([s * (n - 1) for s, n in zip(strides, shape, strict=True)])


def check_extent(size: tuple, stride: tuple, offset: int, itemsize: int) -> int:
    """Return how many bytes of a storage elements need. RuntimeError for more than can be counted.

    Strides and offset are in elements.
    """
    need = 0 if 0 in size else (offset + byte_extent(size, stride, 1)) * itemsize
    if need >= 1 << 63:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    return need


def check_room(size: tuple, stride: tuple, offset: int, itemsize: int, room: int) -> None:
    """Raise PyTorch's RuntimeError if elements would lie outside of so many bytes of memory.

    Strides and offset are in elements.
    """
    need = check_extent(size, stride, offset, itemsize)
    if need > room:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {itemsize} requiring a storage size of {need} are out of bounds for storage "
            f"of size {room}"
        )


def check_numel(shape: tuple[int, ...]) -> None:
    """Raise PyTorch's RuntimeError for more elements than can be counted, or sizes below 0.

    PyTorch multiplies from the first size to the last one, so that a 0 behind two large ones is too late.
    """
    numel = 1
    for n in shape:
        numel *= n
        if n < 0 or numel >= 1 << 63:
            raise RuntimeError("numel: integer multiplication overflow")


# Bytes. Of less memory NumPy says soon enough that it is not there.
_LARGE = 1 << 30


def check_memory(shape: tuple, itemsize: int) -> None:
    """Raise torch's RuntimeError for an array that no memory holds, before anything is computed.

    A tensor that has its cells more than once, as `expand` gives it, may be larger than any memory, and to
    compute with each of its elements takes for ever.
    """
    nbytes = math.prod(shape) * itemsize
    if not nbytes and len(shape) > 2:
        _check_empty_shape(shape)
    if nbytes >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    if nbytes >= _LARGE:
        try:
            np.empty(nbytes, np.uint8)
        except MemoryError as error:
            raise as_torch_error(error) from None


def _check_empty_shape(shape: tuple) -> None:
    """Raise torch's RuntimeError for sizes beside a 0 whose product, or whose strides, are too large."""
    product = 1
    for n in shape:
        product *= n
        if product >= 1 << 64:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    if any([step >= 1 << 63 for step in contiguous_strides(shape)]):
        raise RuntimeError("Stride calculation overflowed")


def as_torch_error(error: Exception) -> Exception:
    """Return torch's RuntimeError for NumPy's MemoryError, and any other error as it is."""
    # NumPy's has the shape of the array, Python's own has none.
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if not isinstance(error, MemoryError) or shape is None or dtype is None:
        return error
    return RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
        f"tried to allocate {math.prod(shape) * dtype.itemsize} bytes. Error code 12 (Cannot allocate "
        "memory)"
    )


def address_of(a: np.ndarray) -> int:
    """Return the address of the first element of an array."""
    return a.__array_interface__["data"][0]


# So far behind its memory an empty array may begin, in bytes: addresses have 64 bits.
_FARTHEST = 2**62


def make_array_over(
    buffer: np.ndarray, shape: tuple, dtype: np.dtype, strides: tuple, offset: int
) -> np.ndarray:
    """Return an array over a part of a buffer. `strides` and `offset` are in bytes."""
    if 0 in shape and offset > buffer.nbytes:
        # torch lets an empty tensor begin behind the end of its memory. NumPy does not, but a column
        # of an empty matrix begins wherever the strides say.
        steps = (1, min(offset, _FARTHEST))
        buffer, offset = np.ndarray((0, 2), np.uint8, buffer, 0, steps)[:, 1:], 0
    try:
        return np.ndarray(shape, dtype, buffer, offset, strides)
    except (ValueError, OverflowError) as error:
        raise as_absence_error(error) from None


def as_absence_error(error: Exception) -> Exception:
    """Return the error for an array that NumPy cannot describe, and any other error as it is.

    It counts bytes where PyTorch counts elements, also of what takes no memory: `x.expand(2**62)`.
    """
    text = str(error)
    if "array is too big" in text or "Maximum allowed dimension exceeded" in text:
        return make_absence_error("a tensor of 2**63 bytes and more")
    return error


class UntypedStorage(metaclass=ShownAs):
    """A flat piece of memory on one device, in bytes.

    `buffer` is a one-dimensional array of any dtype over the whole memory.
    """

    shown_as = "torch.storage.UntypedStorage"

    __slots__ = ("__weakref__", "_resizable", "buffer", "device")

    def __init__(self, size: Any = 0, device: Any = CPU, resizable: bool = True) -> None:
        self.buffer = size if isinstance(size, np.ndarray) else _allocate(size)
        self.device = as_device(device)
        self._resizable = resizable

    def _as_bytes(self) -> np.ndarray:
        return self.buffer.view(np.uint8)

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return self.buffer.nbytes

    size = __len__ = nbytes

    def element_size(self) -> int:
        """Return 1: the elements of a storage are bytes, whatever the tensors on it have."""
        return 1

    def data_ptr(self) -> int:
        """Return the address of the first byte; 0 for an empty storage."""
        return address_of(self.buffer) if self.buffer.nbytes else 0

    @property
    def _cdata(self) -> int:
        """A number that storages alive at the same time do not share."""
        return id(self)

    def resizable(self) -> bool:
        """Return True if `resize_` may change the size.

        Not if the memory is shared with a NumPy array.
        """
        return self._resizable

    @property
    def is_cuda(self) -> bool:
        """True if the storage is on the simulated cuda device."""
        return self.device is not CPU

    def make_array(self, shape: tuple, dtype: np.dtype, strides: tuple, offset: int) -> np.ndarray:
        """Return an array over a part of the memory. `strides` and `offset` are in bytes."""
        return make_array_over(self.buffer, shape, dtype, strides, offset)

    # reading and writing bytes ------------------------------------------------------------------

    def _take_part(self, part: slice) -> np.ndarray:
        start, stop, step = part.indices(self.nbytes())
        if step != 1:
            raise RuntimeError(
                f"Trying to slice with a step of {step}, but only a step of 1 is supported"
            )
        return self._as_bytes()[start:stop]

    @overload
    def __getitem__(self, i: int) -> int: ...
    @overload
    def __getitem__(self, i: slice) -> UntypedStorage: ...
    def __getitem__(self, i: int | slice) -> int | UntypedStorage:
        if isinstance(i, slice):
            # Another storage over a part of the same memory.
            return UntypedStorage(self._take_part(i), self.device, resizable=False)
        n = self.nbytes()
        if not _is_int(i):
            raise TypeError(f"can't index a torch.UntypedStorage with {type_name(i)}")
        if not -n <= i < n:
            raise IndexError(f"index {i if i >= 0 else i + n} out of range for storage of size {n}")
        return int(self._as_bytes()[i])

    def __setitem__(self, i: int | slice, value: int) -> None:
        if not (isinstance(i, slice) or _is_int(i)):
            raise RuntimeError(f"can't index a torch.UntypedStorage with {type_name(i)}")
        if not isinstance(value, (int, np.integer)):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type_name(value)} instead"
            )
        if isinstance(i, slice):
            self._take_part(i)[...] = int(value) % 256
            return
        if not 0 <= i < self.nbytes():
            raise RuntimeError("out of bounds")
        self._as_bytes()[i] = int(value) % 256

    def tolist(self) -> list[int]:
        """Return the bytes as a list of ints."""
        return self._as_bytes().tolist()

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._as_bytes()[...] = int(value) % 256
        return self

    def copy_(self, src: Any, non_blocking: bool = False) -> UntypedStorage:
        """Copy another storage's bytes into this one. RuntimeError for another size."""
        if not isinstance(src, UntypedStorage):
            raise TypeError(
                f"copy_(): argument 'src' (position 1) must be torch.Storage, not {type_name(src)}"
            )
        theirs, n = src.nbytes(), self.nbytes()
        if theirs != n:
            raise RuntimeError(
                f"size does not match, self was {n} bytes but src was {theirs} bytes"
            )
        self._as_bytes()[...] = src._as_bytes()
        return self

    # other storages -----------------------------------------------------------------------------

    # As PyTorch's, which shows bytes of a file where it maps one: tinytorch maps none.
    filename = None

    def cpu(self) -> UntypedStorage:
        """Return a storage on the CPU, which is this one if it is there already."""
        return self if self.device is CPU else UntypedStorage(self.buffer.copy())

    def clone(self) -> UntypedStorage:
        """Return a storage with the same bytes in memory of its own."""
        return UntypedStorage(self.buffer.copy(), self.device)

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> UntypedStorage:
        return memo.setdefault(id(self), self.clone())

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Grow or shrink to `nbytes`; every tensor on this storage then uses the new memory.

        RuntimeError if the memory is shared with a NumPy array, or for what is no int.
        """
        if not isinstance(nbytes, (int, np.integer)) or isinstance(nbytes, bool):
            raise RuntimeError(f"resize_ expects an int, but got {type_name(nbytes)}")
        return self.resize_with_tensors(nbytes, None)

    def resize_with_tensors(self, nbytes: int, tensors: list[Any] | None) -> UntypedStorage:
        """Grow or shrink to `nbytes`, with the tensors on this storage; None: they are searched for."""
        if not self._resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")
        old = self._as_bytes()
        if tensors is None:
            tensors = self._find_tensors()
        # It may shrink below what a tensor needs. torch then reads freed memory; here such a
        # tensor keeps cells.
        start = address_of(self.buffer)
        arrays = [t._data for t in tensors]
        ends = [address_of(a) - start + byte_extent(a.shape, a.strides, a.itemsize) for a in arrays]
        memory = _allocate(max(nbytes, *ends) if nbytes >= 0 and ends else nbytes)
        keep = min(nbytes, old.size)
        memory[:keep] = old[:keep]
        self._move_to(memory, nbytes, tensors)
        return self

    def is_shared(self) -> bool:
        """Return True for memory that processes share: after `share_memory_`, and on cuda."""
        memory: Any = self.buffer
        while isinstance(memory, np.ndarray):
            memory = memory.base
        # Not what NumPy has over a file or over shared memory: its memoryview is of an array, and
        # to PyTorch that is memory like any other.
        if isinstance(memory, memoryview):
            memory = memory.obj
        return isinstance(memory, mmap.mmap) or self.device is not CPU

    def share_memory_(self) -> UntypedStorage:
        """Move to memory that processes share which are forked from this one, tensors and all."""
        if not self.is_shared():
            n, old = self.nbytes(), self._as_bytes()
            memory = np.frombuffer(mmap.mmap(-1, max(n, 1)), np.uint8)
            memory[:n] = old
            self._move_to(memory, n, self._find_tensors())
        return self

    def _find_tensors(self) -> list[Any]:
        """Return the tensors on this storage."""
        # Tensors refer to the memory directly, through their arrays, and that makes them fast.
        # Resizing is rare, so the tensors of a storage are searched for here, instead of being
        # registered with each view.
        return [t for t in gc.get_referrers(self) if getattr(t, "_storage", None) is self]

    def _move_to(self, memory: np.ndarray, nbytes: int, tensors: list[Any]) -> None:
        """Look at other memory from now on, with all tensors."""
        start = address_of(self.buffer)
        self.buffer = memory[:nbytes]
        for t in tensors:
            a = t._data
            t._data = np.ndarray(a.shape, a.dtype, memory, address_of(a) - start, a.strides)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.buffer is other.buffer

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        raise make_attribute_error(
            "'torch.storage.UntypedStorage' object has no attribute '{}'", name
        )

    def __repr__(self) -> str:
        lines = "".join(f" {b}\n" for b in self.tolist()) or " \n"
        return (
            f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"
        )


def _is_int(n: Any) -> bool:
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def _allocate(size: Any) -> np.ndarray:
    """Return new bytes: `size` of them, or those of a sequence of ints."""
    if _is_int(size):
        if size < 0:
            raise RuntimeError(
                "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() "
                f"seems to have been called with negative number: {2**64 + int(size)}"
            )
        if size >= 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        try:
            return np.zeros(int(size), np.uint8)
        except MemoryError as error:
            raise as_torch_error(error) from None
    if isinstance(size, bool) or not isinstance(size, Sequence):
        raise RuntimeError(
            f"torch.UntypedStorage(): Expected a sequence type, but got {type_name(size)}"
        )
    for item in size:
        if not isinstance(item, (int, np.integer)):
            raise RuntimeError(
                "torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type_name(size)}), but one of the items was of type {type_name(item)} instead of int"
            )
    return np.array([int(item) % 256 for item in size], np.uint8)
