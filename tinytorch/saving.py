"""`torch.save` and `torch.load`, in PyTorch's own file format.

A file is a zip archive: `data.pkl` describes the objects, `data/0`, `data/1` ... are the bytes of
one storage each, so tensors that are saved together go on sharing memory. Unless
`weights_only=False` says that a file is to be trusted, loading makes tensors and plain containers
and refuses every other name that a file mentions. A file that is damaged may raise any error.
Source: `torch.serialization`, `torch._utils`.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from . import nn
from .base import ABSENT_NOTE, UntypedStorage, as_device, device, dtypes, make_absence_error
from .graph import warn_of_hooks
from .ops import TypedStorage, tensor_over_storage
from .tensor import Size, Tensor


class StorageType(NamedTuple):
    """What files name as `torch.FloatStorage`: the element type of a storage."""

    element_type: dtypes.dtype


def rebuild_tensor(
    typed: TypedStorage, offset: int, size: tuple, stride: tuple, requires_grad: bool, *_: Any
) -> Tensor:
    """Make a tensor over a storage. `offset` and `stride` are in elements."""
    dtype = typed.dtype.np
    strides = tuple([step * dtype.itemsize for step in stride])
    return tensor_over_storage(
        typed.untyped(), (dtype, size, strides, offset * dtype.itemsize), requires_grad
    )


def rebuild_parameter(
    data: Tensor, requires_grad: bool, hooks: Any, state: dict | None = None
) -> Tensor:
    """Make a parameter, with the attributes that were set on it."""
    parameter = nn.Parameter(data, requires_grad)
    parameter.__dict__.update(state or {})
    return parameter


def rebuild_from_type(rebuild: Any, cls: type, arguments: tuple, state: dict) -> Any:
    """Make a tensor on which attributes were set, or of a class of the user's own."""
    tensor = rebuild(*arguments)
    tensor.__class__ = cls
    tensor.__dict__.update(state)
    return tensor


_NAMES: dict[Any, tuple[str, str]] = {
    rebuild_tensor: ("torch._utils", "_rebuild_tensor_v2"),
    rebuild_parameter: ("torch._utils", "_rebuild_parameter"),
    rebuild_from_type: ("torch._tensor", "_rebuild_from_type_v2"),
    nn.Parameter: ("torch.nn.parameter", "Parameter"),
}
"""What files name, by module and name in PyTorch."""
_NAMES |= {kind: ("torch", kind.__name__) for kind in (Tensor, Size, device)}
_NAMES |= {d: ("torch", d.called) for d in dtypes.ALL}
for _dtype in dtypes.ALL:
    _NAMES[StorageType(_dtype)] = "torch", _dtype.tensor_type.replace("Tensor", "Storage")

_READABLE: dict[tuple[str, str], Any] = {name: value for value, name in _NAMES.items()} | {
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): bytearray,
    ("_codecs", "encode"): lambda text, encoding: text.encode("latin1"),  # how pickle writes bytes
}
"""The names that a file may mention that is not trusted."""


class TorchPickler(pickle._Pickler):  # type: ignore[name-defined] # the one in C looks PyTorch's modules up
    """Describes objects under PyTorch's names, and refers to storages by number."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=2)
        self.storages: dict[UntypedStorage, tuple[str, dtypes.dtype]] = {}

    def reducer_override(self, value: Any) -> Any:
        """Return how to make a tensor again; a text for what is written by name."""
        if isinstance(value, (dtypes.dtype, StorageType, FunctionType)):
            return getattr(value, "__qualname__", "")
        if isinstance(value, UntypedStorage):  # PyTorch would not read what pickle writes for it
            raise make_absence_error("saving of a storage", "save a tensor over it")
        if not isinstance(value, Tensor):
            return NotImplemented
        grad: tuple = value.requires_grad, OrderedDict()
        if isinstance(value, nn.Parameter):
            rebuild, arguments = rebuild_parameter, (value.data, *grad)
        else:
            warn_of_hooks(value)
            typed = TypedStorage(value.untyped_storage(), value.dtype)
            geometry = value.storage_offset(), tuple(value.shape), value.stride()
            rebuild, arguments = rebuild_tensor, (typed, *geometry, *grad)
        if value.__dict__ or type(value) not in (Tensor, nn.Parameter):
            return rebuild_from_type, (rebuild, type(value), arguments, dict(value.__dict__))
        return rebuild, arguments

    def persistent_id(self, value: Any) -> Any:
        """Return what is written for a storage; None for anything else."""
        if type(value) is not TypedStorage:
            return None
        storage, kind = value.untyped(), value.dtype
        key, earlier = self.storages.setdefault(storage, (str(len(self.storages)), kind))
        if earlier is not kind and storage.nbytes():
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as "
                "different types"
            )
        count = storage.nbytes() // kind.itemsize
        return "storage", StorageType(kind), key, str(storage.device), count

    def save_global(self, value: Any, name: str | None = None) -> None:
        """Write a function or class by its name in PyTorch, if it has one."""
        place = _NAMES.get(value)
        if isinstance(value, type) and repr(value).startswith("<class 'torch."):
            place = tuple(repr(value).split("'")[1].rsplit(".", 1))  # type: ignore[assignment]
        if place is None:
            return super().save_global(value, name)  # type: ignore[misc]
        self.write(pickle.GLOBAL + f"{place[0]}\n{place[1]}\n".encode())
        return self.memoize(value)


def _check_target(f: Any) -> None:
    """Raise torch's error for what is no file to write to."""
    if not isinstance(f, (str, os.PathLike)):
        if not hasattr(f, "write"):
            raise AttributeError(
                "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
            )
        return
    folder = os.path.dirname(os.fspath(f))  # noqa: PTH120 - of "x" it is "", of "/x" "/"
    if folder and not Path(folder).is_dir():
        raise RuntimeError(f"Parent directory {folder} does not exist.")


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write an object of tensors, numbers, strings and containers to a path or a binary file.

    Source: `torch.save`.
    """
    _check_target(f)
    description = io.BytesIO()
    pickler = TorchPickler(description)
    pickler.dump(obj)
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("archive/data.pkl", description.getvalue())
        archive.writestr("archive/byteorder", b"little")
        archive.writestr("archive/version", b"3\n")
        for storage, (key, _) in pickler.storages.items():
            archive.writestr(f"archive/data/{key}", storage._as_bytes().data)


_REFUSED = (
    "Weights only load failed. This file can still be loaded, to do so you have two "
    "options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m. "
    "\n\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in "
    "`torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set "
    "to `False` will likely succeed, but it can result in arbitrary code execution. Do it "
    "only if you got the file from a trusted source.\n\t(2) Alternatively, to load with "
    "`weights_only=True` please check the recommended steps in the following error "
    "message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {0} was not an allowed "
    "global by default. Please use `torch.serialization.add_safe_globals([{0}])` or the "
    "`torch.serialization.safe_globals([{0}])` context manager to allowlist this global if "
    "you trust this class/function.\n\nCheck the documentation of torch.load to learn more "
    "about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)


class TorchUnpickler(pickle.Unpickler):
    """Makes what a file describes, with storages on the device that `map_location` names."""

    def __init__(self, archive: zipfile.ZipFile, map_location: Any, weights_only: bool) -> None:
        self.folder = archive.namelist()[0].partition("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{self.folder}/data.pkl")))
        self.archive, self.map_location, self.weights_only = archive, map_location, weights_only
        self.storages: dict[str, UntypedStorage] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name in the file means. pickle.UnpicklingError if that is not allowed."""
        # Files have the names of Python 2, which is what protocol 2 writes.
        current = IMPORT_MAPPING.get(module, module), name
        module, name = NAME_MAPPING.get((module, name), current)
        if (module, name) in _READABLE:
            return _READABLE[module, name]
        if module == "torch":  # a dtype that PyTorch alone has
            raise pickle.UnpicklingError(
                f"module 'torch' has no attribute '{name}'. {ABSENT_NOTE.format(name)}"
            )
        if self.weights_only:
            full = name if module == "builtins" else f"{module}.{name}"
            raise pickle.UnpicklingError(_REFUSED.format(full))
        if module.startswith("torch.nn."):
            return getattr(nn, name)
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> TypedStorage:
        """Return a storage of the file."""
        _, storage_type, key, location, _ = pid
        if key not in self.storages:
            data = np.frombuffer(self.archive.read(f"{self.folder}/data/{key}"), np.uint8)
            self.storages[key] = self._move_to_location(UntypedStorage(data.copy()), location)
        return TypedStorage(self.storages[key], storage_type.element_type)

    def _move_to_location(self, storage: UntypedStorage, location: str) -> UntypedStorage:
        """Return a storage, or a copy of it, where `map_location` wants what was at a location."""
        choice = self.map_location
        if isinstance(choice, dict):
            location = choice.get(location, location)
        elif isinstance(choice, (str, device)):
            location = str(choice)
        elif choice is not None:
            result = choice(storage, location)
            if result is not None:
                return result
        try:
            where = as_device(location)
        except RuntimeError:
            raise RuntimeError(
                "don't know how to restore data location of torch.storage.UntypedStorage (tagged "
                f"with {location})"
            ) from None
        return storage if where is storage.device else UntypedStorage(storage.buffer, where)


def _is_at_end(f: Any) -> bool:
    """Return True if nothing is left to read of a file, given by its name or opened.

    Raise torch's AttributeError or io.UnsupportedOperation for a file that cannot be sought.
    """
    if isinstance(f, (str, os.PathLike)):
        return not Path(f).stat().st_size
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the "
            "data into a buffer like io.BytesIO and try to load from it instead."
        ) from None
    start = f.tell()
    end = f.seek(0, os.SEEK_END)
    f.seek(start)
    return start == end


def load(
    f: Any, map_location: Any = None, *, weights_only: bool | None = None, **options: Any
) -> Any:
    """Read what `save` wrote, here or in PyTorch.

    Raises pickle.UnpicklingError for other files, and other classes in one.

    `map_location`: the device to put all tensors on. `weights_only=False` makes whatever the file
    names, and so may run code from it. Source: `torch.load`.
    """
    if _is_at_end(f):
        # What Python's unpickler says, and PyTorch's own, which reads safely, does not.
        raise EOFError("Ran out of input" if weights_only is False else "")
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile:
        raise pickle.UnpicklingError("this is no file that torch.save wrote (PyTorch 1.6 or later, or tinytorch)") from None  # fmt: skip
    with archive:
        is_safe = weights_only is None or weights_only
        return TorchUnpickler(archive, map_location, is_safe).load()
