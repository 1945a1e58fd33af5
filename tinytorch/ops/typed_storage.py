"""`x.storage()`: the storage of a tensor, with its elements in place of bytes.

PyTorch has it for old programs. Source: `torch.storage.TypedStorage`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import (
    ShownAs,
    UntypedStorage,
    device,
    dtypes,
    make_absence_error,
    make_attribute_error,
    warn_user,
)
from ..graph import no_grad
from ..tensor import Tensor, make_tensor
from .copies import CONVERSIONS
from .define import offer_member

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
    "only storage class. This should only matter to you if you are using storages directly.  To "
    "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


class TypedStorage(metaclass=ShownAs):
    """A storage, and the type of its elements.

    Each call of `x.storage()` makes another one, and two are never equal; the memory is one.
    """

    shown_as = "torch.storage.TypedStorage"

    def __init__(self, storage: UntypedStorage, dtype: dtypes.dtype) -> None:
        self._untyped_storage, self.dtype = storage, dtype

    @property
    def device(self) -> device:
        """The device of the memory."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """True if the memory is on the simulated cuda device."""
        return self._untyped_storage.is_cuda

    def untyped(self) -> UntypedStorage:
        """Return the storage of bytes."""
        return self._untyped_storage

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._untyped_storage.data_ptr()

    @property
    def _cdata(self) -> int:
        """The number of the storage."""
        return self._untyped_storage._cdata

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """Return the size of an element in bytes."""
        return self.dtype.itemsize

    def size(self) -> int:
        """Return the number of elements."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def is_shared(self) -> bool:
        """Return True for memory that processes share."""
        return self._untyped_storage.is_shared()

    def resizable(self) -> bool:
        """Return True if `resize_` may change the size."""
        return self._untyped_storage.resizable()

    @property
    def filename(self) -> None:
        """The file whose bytes the memory shows: none, as tinytorch maps no files."""
        return self._untyped_storage.filename

    def type(self, dtype: Any = None, non_blocking: bool = False) -> str:
        """Return the name of the class that PyTorch once had for it.

        NotImplementedError for a dtype, with which PyTorch's raises, too, for most of its arguments.
        """
        if dtype is not None:
            raise make_absence_error("type(dtype) of a storage", "use double() and its kin")
        place = "torch.cuda" if self.is_cuda else "torch"
        return f"{place}.{self.dtype.tensor_type.replace('Tensor', 'Storage')}"

    # reading and writing elements ---------------------------------------------------------------

    def _view_elements(self) -> Tensor:
        """Return a tensor over all elements, with a counter of its own."""
        empty = make_tensor(np.empty(0, self.dtype.np), self.device)
        return empty.set_(self._untyped_storage)  # type: ignore[attr-defined]

    def _make_index_error(self, index: Any, error: Any = RuntimeError) -> Exception:
        return error(f"can't index a {type(self)} with {type(index)}")

    def __getitem__(self, index: int) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if type(index) is not int:
            raise self._make_index_error(
                index, TypeError if isinstance(index, int) else RuntimeError
            )
        n = self.size()
        if not -n <= index < n:
            raise IndexError(f"index {index} out of range for storage of size {n}")
        return self._view_elements()[index % n].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise self._make_index_error(index)
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._view_elements()[index] = value

    def tolist(self) -> list:
        """Return the elements as a list."""
        return self._view_elements().tolist()  # type: ignore[return-value]

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Copy another storage's bytes into this one. RuntimeError for another size."""
        self._untyped_storage.copy_(getattr(source, "_untyped_storage", source))
        return self

    def resize_(self, size: int) -> None:
        """Grow or shrink to so many elements."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    # other storages -----------------------------------------------------------------------------

    def clone(self) -> TypedStorage:
        """Return a storage with the same elements in memory of its own."""
        return TypedStorage(self._untyped_storage.clone(), self.dtype)

    __copy__ = clone

    def cpu(self) -> TypedStorage:
        """Return a storage on the CPU: one over the same memory, if it is there already."""
        return TypedStorage(self._untyped_storage.cpu(), self.dtype)

    def _convert(self, d: dtypes.dtype) -> TypedStorage:
        """Return a copy with elements of a dtype, which may be the one that they have."""
        with no_grad():
            converted = self._view_elements().to(d, copy=True)  # type: ignore[attr-defined]
        return TypedStorage(converted.untyped_storage(), d)

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        return TypedStorage(self._untyped_storage.__deepcopy__(memo), self.dtype)

    def share_memory_(self) -> TypedStorage:
        """Move to memory that processes share which are forked from this one."""
        self._untyped_storage.share_memory_()
        return self

    def __getattr__(self, name: str) -> Any:
        raise make_attribute_error(
            "'torch.storage.TypedStorage' object has no attribute '{}'", name
        )

    def __repr__(self) -> str:
        elements = "\n ".join(map(str, self.tolist()))
        return (
            f" {elements}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) "
            f"of size {self.size()}]"
        )


def _add_conversion(name: str, d: dtypes.dtype) -> None:
    """Put the method on TypedStorage that converts to a dtype."""

    def convert(self: TypedStorage) -> TypedStorage:
        return self._convert(d)

    convert.__name__, convert.__qualname__ = name, f"TypedStorage.{name}"
    convert.__doc__ = f"Return a copy with elements of torch.{d.called}."
    setattr(TypedStorage, name, convert)


for _name, _d in CONVERSIONS.items():
    _add_conversion(_name, _d)


def storage(self: Tensor) -> TypedStorage:
    """Return the storage of a tensor, with its elements. Source: `torch.Tensor.storage`."""
    warn_user(_DEPRECATED, once=True)
    return TypedStorage(self.untyped_storage(), self.dtype)


storage.__qualname__ = "Tensor.storage"
offer_member("storage", storage, function=False)
