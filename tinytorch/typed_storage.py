"""The old typed storage, `tensor.storage()`: a storage counted in elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .naming import ShownAs
from .ops.core import op
from .storage import UntypedStorage
from .tensor import Tensor
from .warn import warn_user


class TypedStorage(metaclass=ShownAs):
    """A storage seen as elements of one dtype. Source: `torch.TypedStorage` (deprecated there)."""

    shown_as = "torch.storage.TypedStorage"

    _warned = False

    def __init__(self, storage: UntypedStorage, dtype: dtypes.dtype) -> None:
        self._untyped = storage
        self.dtype = dtype

    def _array(self) -> np.ndarray:
        return self._untyped._bytes().view(self.dtype.np)

    def untyped(self) -> UntypedStorage:
        """The storage in bytes."""
        return self._untyped

    def data_ptr(self) -> int:
        """Address of the first element."""
        return self._untyped.data_ptr()

    def nbytes(self) -> int:
        """Size in bytes."""
        return self._untyped.nbytes()

    def __len__(self) -> int:
        return self._untyped.nbytes() // self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return len(self)

    def element_size(self) -> int:
        """Bytes an element takes."""
        return self.dtype.itemsize

    def tolist(self) -> list:
        """The elements as a list of Python numbers."""
        return self._array().tolist()

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __getitem__(self, i: int) -> Any:
        return self._array()[i].item()

    def __setitem__(self, i: Any, value: Any) -> None:
        self._array()[i] = value

    @property
    def device(self) -> Any:
        """Where the storage lies."""
        return self._untyped.device

    def __repr__(self) -> str:
        lines = "".join(f" {v}\n" for v in self.tolist())
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype!r}, device={self.device}) of size {len(self)}]"


@op(function=False)
def storage(self: Tensor) -> TypedStorage:
    """The storage counted in elements; warns, once, that `untyped_storage()` replaces it.

    Source: `torch.Tensor.storage`.
    """
    if not TypedStorage._warned:
        TypedStorage._warned = True
        warn_user(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
            "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
            "directly, use tensor.untyped_storage() instead of tensor.storage()"
        )
    return TypedStorage(self._own_storage(), self.dtype)
