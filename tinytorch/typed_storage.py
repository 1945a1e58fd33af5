"""The old typed storage, `tensor.storage()`, a storage counted in elements; and its classes, `torch.FloatStorage` and kin."""

from __future__ import annotations

from collections.abc import Sequence
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
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return len(self)

    def type(self) -> str:
        """The name of the old class of such storages."""
        return f"torch.{storage_name(self.dtype)}"

    def tolist(self) -> list:
        """The elements as a list of Python numbers."""
        return self._elements().tolist()

    def __getitem__(self, i: int) -> Any:
        if isinstance(i, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(i, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(i)}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return self._elements()[i].item()

    def __setitem__(self, i: Any, value: Any) -> None:
        if not isinstance(i, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(i)}")
        self._elements()[i] = value

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self[:] = value
        return self

    def resize_(self, size: int) -> None:
        """Grow or shrink to that many elements; every tensor on the storage follows."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def __getattr__(self, name: str) -> Any:
        if name in ("data_ptr", "nbytes", "device", "is_cuda"):
            return getattr(self._untyped_storage, name)
        raise missing("'torch.storage.TypedStorage' object has no attribute '{}'", name)

    def __repr__(self) -> str:
        lines = "".join(f" {v}\n" for v in self.tolist()) or " \n"
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype!r}, device={self.device}) of size {len(self)}]"


class _Legacy(ShownAs, type):
    """The class of `torch.FloatStorage`: calling it makes a typed storage, and it answers `isinstance` by dtype."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any) -> TypedStorage:
        """Make a typed storage of that many elements, or of a sequence of numbers; RuntimeError for anything else."""
        if len(args) > 1:
            raise RuntimeError(f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\nToo many positional arguments")  # fmt: skip
        given = args[0] if args else 0
        data = np.array(given, cls.dtype.np) if isinstance(given, Sequence) else np.zeros(given, cls.dtype.np)
        return TypedStorage(wrap_storage=UntypedStorage(data), dtype=cls.dtype)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, TypedStorage) and obj.dtype is cls.dtype


LEGACY = {
    name: _Legacy(name, (), {"dtype": d, "__module__": "torch", "__doc__": f"The old storage of {d!r} elements.",
                             "shown_as": f"torch.{name}"})
    for d in dtypes.ALL for name in [storage_name(d)]
}  # fmt: skip
"""The classes by name, as `torch` offers them."""
globals().update(LEGACY)


def storage_of(t: Any, quietly: bool = False) -> TypedStorage:
    """The storage of a tensor counted in elements; warns, once, that `untyped_storage()` replaces it."""
    return TypedStorage(wrap_storage=t.untyped_storage(), dtype=t.dtype, _internal=quietly)
