"""The old typed storage, `tensor.storage()`, a storage counted in elements; and the names of its classes in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .errors import ShownAs, missing, warn_user
from .storage import UntypedStorage


def storage_name(d: dtypes.dtype) -> str:
    """The old name of a storage of such elements, `FloatStorage`."""
    return d.tensor_type.replace("Tensor", "Storage")


class TypedStorage(metaclass=ShownAs):
    """A storage seen as elements of one dtype. Source: `torch.TypedStorage` (deprecated there)."""

    shown_as = "torch.storage.TypedStorage"
    _warned = False

    def __init__(self, *, wrap_storage: UntypedStorage, dtype: dtypes.dtype, _internal: bool = False) -> None:
        self._untyped_storage, self.dtype = wrap_storage, dtype
        if not _internal and not TypedStorage._warned:
            TypedStorage._warned = True
            warn_user("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()")  # fmt: skip

    def _elements(self) -> np.ndarray:
        return np.ndarray(len(self), self.dtype.np, self._untyped_storage.buffer)

    def untyped(self) -> UntypedStorage:
        """The storage in bytes."""
        return self._untyped_storage

    def __len__(self) -> int:
        """The number of elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    size = __len__

    def tolist(self) -> list:
        """The elements as a list of Python numbers."""
        return self._elements().tolist()

    def __getitem__(self, i: int) -> Any:
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return self._elements()[i].item()

    def __setitem__(self, i: Any, value: Any) -> None:
        self._elements()[i] = value

    def __getattr__(self, name: str) -> Any:
        if name in ("data_ptr", "nbytes", "device", "is_cuda"):
            return getattr(self._untyped_storage, name)
        raise missing("'torch.storage.TypedStorage' object has no attribute '{}'", name)

    def __repr__(self) -> str:
        lines = "".join(f" {v}\n" for v in self.tolist()) or " \n"
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype!r}, device={self.device}) of size {len(self)}]"


LEGACY: dict[str, Any] = {
    name: ShownAs(name, (), {"dtype": d, "__module__": "torch", "__doc__": f"The old storage of {d!r} elements, as files name it.",
                             "shown_as": f"torch.{name}"})
    for d in dtypes.ALL for name in [storage_name(d)]
}  # fmt: skip


def storage_of(t: Any, quietly: bool = False) -> TypedStorage:
    """The storage of a tensor counted in elements; warns, once, that `untyped_storage()` replaces it."""
    return TypedStorage(wrap_storage=t.untyped_storage(), dtype=t.dtype, _internal=quietly)
