"""The old typed storage, `tensor.storage()`, a storage counted in elements; and its classes, `torch.FloatStorage` and kin."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import dtypes, storage
from .devices import CPU, as_device, device
from .naming import ShownAs
from .ops.core import FUNCTIONS, op
from .storage import UntypedStorage
from .tensor import Tensor, fresh
from .warn import warn_user

_WAYS = """TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""


def _warn() -> None:
    """Say, once, that typed storages are deprecated."""
    if not TypedStorage._warned:
        TypedStorage._warned = True
        warn_user(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
            "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
            "directly, use tensor.untyped_storage() instead of tensor.storage()"
        )


class TypedStorage(metaclass=ShownAs):
    """A storage seen as elements of one dtype. Source: `torch.TypedStorage` (deprecated there)."""

    shown_as = "torch.storage.TypedStorage"
    is_sparse = False
    filename = None

    _warned = False

    def __init__(
        self, *args: Any, dtype: Any = None, device: Any = None, wrap_storage: Any = None, _internal: bool = False
    ) -> None:
        if not _internal:
            _warn()
        if wrap_storage is not None:
            for wrong, said in (
                (args, "No positional arguments should be given when using 'wrap_storage'"),
                (dtype is None, "Argument 'dtype' must be specified"),
            ):
                if wrong:
                    raise RuntimeError(_WAYS + said)
            if not isinstance(dtype, dtypes.dtype):
                raise TypeError(f"{_WAYS}Argument 'dtype' must be torch.dtype, not {type(dtype)}")
            if device is not None:
                raise RuntimeError(f"{_WAYS}Argument 'device' should not be specified when 'wrap_storage' is given")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"{_WAYS}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
            self._untyped, self.dtype = wrap_storage, dtype
            return
        if len(args) > 1:
            raise RuntimeError(f"{_WAYS}Too many positional arguments")
        self.dtype = dtypes.get_default_dtype() if dtype is None else dtype
        if not isinstance(self.dtype, dtypes.dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        given = args[0] if args else 0
        where = CPU if device is None else as_device(device)
        if isinstance(given, (int, np.integer)):
            self._untyped = UntypedStorage(int(given) * self.dtype.itemsize, where)
        elif isinstance(given, Sequence):
            self._untyped = FUNCTIONS["tensor"](given, dtype=self.dtype, device=where).untyped_storage()
        else:
            raise TypeError(f"{_WAYS}Argument type not recognized: {type(given)}")

    def _tensor(self) -> Tensor:
        """A tensor that looks at all of it."""
        s = self._untyped
        t = fresh(np.ndarray(len(self), self.dtype.np, s.buffer), s.device)
        t._storage = s
        return t

    def _like(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)

    def untyped(self) -> UntypedStorage:
        """The storage in bytes."""
        return self._untyped

    _untyped_storage = property(untyped)

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
        return self._tensor().tolist()

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __getitem__(self, i: int) -> Any:
        if isinstance(i, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(i, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(i)}")
        if isinstance(i, bool):
            raise TypeError(f"can't index a {type(self)} with {type(i)}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return self._tensor()[i].item()

    def __setitem__(self, i: Any, value: Any) -> None:
        if not isinstance(i, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(i)}")
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._tensor()[i] = value

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """Copy another storage's bytes into this one. RuntimeError for another size."""
        self._untyped.copy_(source)
        return self

    def resize_(self, size: int) -> None:
        """Grow or shrink to that many elements; every tensor on the storage follows."""
        self._untyped.resize_(size * self.dtype.itemsize)

    def clone(self) -> TypedStorage:
        """A storage with the same elements and memory of its own."""
        return self._like(self._untyped.clone())

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        return self._like(copy.deepcopy(self._untyped, memo))

    def cpu(self) -> TypedStorage:
        """Itself on the CPU, else a copy there."""
        return self._like(self._untyped.cpu())

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """On a device: a copy, unless it is there."""
        return self._like(self._untyped.to(device=device))

    def pickle_storage_type(self) -> str:
        """That name without the module."""
        return self.dtype.tensor_type.replace("Tensor", "Storage")

    def resizable(self) -> bool:
        """Whether `resize_` may change the size."""
        return self._untyped.resizable()

    def is_shared(self) -> bool:
        """Whether other processes see this memory."""
        return self._untyped.is_shared()

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is pinned: never."""
        return False

    def get_device(self) -> int | None:
        """The index of the device, None for the CPU."""
        return self._untyped.get_device()

    @property
    def is_cuda(self) -> bool:
        """Whether the storage lies on the simulated cuda device."""
        return self._untyped.is_cuda

    @property
    def device(self) -> device:
        """Where the storage lies."""
        return self._untyped.device

    def __getattr__(self, name: str) -> Any:
        raise storage.missing("'torch.storage.TypedStorage' object has no attribute '{}'", name)

    def __repr__(self) -> str:
        lines = "".join(f" {v}\n" for v in self.tolist()) or " \n"
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype!r}, device={self.device}) of size {len(self)}]"


def _as_dtype(d: dtypes.dtype) -> Any:
    def converted(self: UntypedStorage | TypedStorage) -> TypedStorage:
        _warn()
        bytes_ = self._tensor() if isinstance(self, TypedStorage) else _byte_tensor(self)
        return TypedStorage(wrap_storage=bytes_.to(d, copy=True).untyped_storage(), dtype=d, _internal=True)

    converted.__doc__ = f"A copy whose elements are converted to {d!r} (those of an untyped storage are its bytes)."
    return converted


def _byte_tensor(s: UntypedStorage) -> Tensor:
    return TypedStorage(wrap_storage=s, dtype=dtypes.BY_NAME["uint8"], _internal=True)._tensor()


_NAMES = {"double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
          "char": "int8", "byte": "uint8", "bool": "bool"}  # fmt: skip
for _name, _kind in _NAMES.items():
    for _class in (TypedStorage, UntypedStorage):
        setattr(_class, _name, _as_dtype(dtypes.BY_NAME[_kind]))


class _Legacy(ShownAs, type):
    """The class of `torch.FloatStorage`: calling it makes a typed storage, and it answers `isinstance` by dtype."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any, dtype: Any = None, device: Any = None, wrap_storage: Any = None) -> TypedStorage:
        """Make a typed storage of the class's dtype. RuntimeError for arguments that it does not take."""
        _warn()
        ways = (
            f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n"
            " * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n"
        )
        for name, given in (("device", device), ("dtype", dtype)):
            if given is not None:
                raise RuntimeError(f"{ways}Keyword argument '{name}' cannot be specified")
        if wrap_storage is not None:
            if args:
                raise RuntimeError(f"{ways}No positional arguments should be given when using 'wrap_storage'")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"{ways}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
            return TypedStorage(wrap_storage=wrap_storage, dtype=cls.dtype)
        if len(args) > 1:
            raise RuntimeError(f"{ways}Too many positional arguments")
        if args and not isinstance(args[0], (int, np.integer, Sequence)):
            raise TypeError(f"{ways}Argument type not recognized: {type(args[0])}")
        return TypedStorage(*args, dtype=cls.dtype)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, TypedStorage) and obj.dtype is cls.dtype


for _kind in _NAMES.values():
    _d = dtypes.BY_NAME[_kind]
    _name = _d.tensor_type.replace("Tensor", "Storage")
    _doc = f"The old name of a storage of `{_d!r}` elements."
    FUNCTIONS[_name] = _Legacy(
        _name, (), {"dtype": _d, "_dtype": _d, "__module__": "torch", "__doc__": _doc, "shown_as": f"torch.{_name}"}
    )  # type: ignore[assignment]
storage.TypedStorage = TypedStorage  # type: ignore[attr-defined]


def _class_name(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the class: of a typed storage the old one of its dtype, such as `torch.FloatStorage`.

    With such a class or its name: a storage of that class with the same bytes, RuntimeError for another size.
    """
    if dtype is None:
        return f"torch.{self.pickle_storage_type()}" if isinstance(self, TypedStorage) else self.shown_as
    kind = FUNCTIONS.get(dtype.rpartition(".")[2]) if isinstance(dtype, str) else dtype
    if not isinstance(kind, _Legacy):
        raise RuntimeError(f"Cannot cast storage to {dtype}")
    made = kind(self.untyped().nbytes())
    return made.copy_(self)


TypedStorage.type = UntypedStorage.type = _class_name  # type: ignore[attr-defined]


@op("_typed_storage", function=False)
def _typed(self: Tensor) -> TypedStorage:
    """The storage counted in elements."""
    return TypedStorage(wrap_storage=self._own_storage(), dtype=self.dtype, _internal=True)


@op("storage", function=False)
def _storage(self: Tensor) -> TypedStorage:
    """The storage counted in elements; warns, once, that `untyped_storage()` replaces it.

    Source: `torch.Tensor.storage`.
    """
    _warn()
    return _typed(self)


@op(function=False)
def storage_type(self: Tensor) -> Any:
    """The old class of the tensor's storage, such as `torch.FloatStorage`.

    Source: `torch.Tensor.storage_type`.
    """
    return FUNCTIONS[self.dtype.tensor_type.replace("Tensor", "Storage")]
