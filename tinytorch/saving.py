"""`torch.save` and `torch.load`, in PyTorch's own file format.

A file is a zip archive: `data.pkl` describes the objects, `data/0`, `data/1` ... hold a storage each, so that tensors
saved together keep what they share. Loading makes tensors and plain containers, and refuses everything else unless
`weights_only=False` says that the file is to be trusted. Source: `torch.serialization`, `torch._utils`.
"""

from __future__ import annotations

import functools
import io
import os
import pickle
import sys
import zipfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from types import FunctionType
from typing import Any

import numpy as np

from . import dtypes, nn
from .autograd.hooks import warn_of_hooks
from .devices import as_device, device
from .errors import missing
from .ops.copies import over_storage
from .storage import UntypedStorage
from .tensor import Size, Tensor
from .typed_storage import LEGACY, TypedStorage, storage_name, storage_of

# making tensors of what a file says --------------------------------------------------------------


def rebuild_storage(data: bytes, where: str) -> UntypedStorage:
    """A storage from its bytes."""
    return UntypedStorage(np.frombuffer(bytearray(data), np.uint8), where)


def rebuild_tensor(storage: Any, offset: int, size: tuple, stride: tuple, requires_grad: bool, *_: Any) -> Tensor:
    """A tensor that looks at a typed storage."""
    kind = storage.dtype.np
    steps = tuple([k * kind.itemsize for k in stride])
    return over_storage(storage.untyped(), (kind, size, steps, offset * kind.itemsize), requires_grad)


def rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any) -> Tensor:
    """A parameter."""
    return nn.Parameter(data, requires_grad)


def rebuild_parameter_with_state(data: Tensor, requires_grad: bool, hooks: Any, state: dict) -> Tensor:
    """A parameter with what was set on it."""
    return rebuild_from_type(nn.Parameter, nn.Parameter, (data, requires_grad), state)


def rebuild_from_type(make: Any, kind: type, args: tuple, state: dict) -> Any:
    """A tensor on which attributes were set, or of a class of one's own."""
    made = make(*args)
    if type(made) is not kind:
        made.__class__ = kind
    made.__dict__.update(state)
    return made


_BY_NAME: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter_with_state,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild_from_type,
    ("torch", "Tensor"): Tensor,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch.nn.parameter", "Parameter"): nn.Parameter,
    ("torch.storage", "UntypedStorage"): LEGACY["ByteStorage"],
    **{("torch", d.called): d for d in dtypes.ALL},
    **{("torch", name): kind for name, kind in LEGACY.items()},
    **{(f.__module__, f.__name__): f for f in (OrderedDict, Counter, set, complex, bytearray)},
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
}  # fmt: skip
_FUNCTIONS = {f: place for place, f in _BY_NAME.items() if place[0].startswith("torch._")}


class _Writer(pickle._Pickler):  # type: ignore[name-defined]
    """Writes storages by number, and names as torch has them."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=2)
        self.storages: dict[UntypedStorage, tuple[str, dtypes.dtype]] = {}

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, Tensor):
            return obj.called if isinstance(obj, dtypes.dtype) else NotImplemented
        state, storage = dict(obj.__dict__), storage_of(obj, quietly=True)
        if isinstance(obj, nn.Parameter):
            args: tuple = obj.data, obj.requires_grad, OrderedDict()
            return (rebuild_parameter_with_state, (*args, state)) if state else (rebuild_parameter, args)
        warn_of_hooks(obj)
        geometry: tuple = obj.storage_offset(), tuple(obj.shape), obj.stride(), obj.requires_grad, OrderedDict()
        if state or type(obj) is not Tensor:
            return rebuild_from_type, (rebuild_tensor, type(obj), (storage, *geometry), state)
        return rebuild_tensor, (storage, *geometry)

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, (TypedStorage, UntypedStorage)):
            return None
        s, d = obj.untyped(), getattr(obj, "dtype", dtypes.uint8)
        key, before = self.storages.setdefault(s, (str(len(self.storages)), d))
        if before is not d and s.nbytes():
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return "storage", LEGACY[storage_name(d)], key, str(s.device), s.nbytes() // d.itemsize

    def save_global(self, obj: Any, name: str | None = None) -> None:
        shown = repr(obj).split("'")[1] if isinstance(obj, type) else ""
        place = ("torch", name) if isinstance(obj, dtypes.dtype) else _FUNCTIONS.get(obj)
        if place is None and shown.startswith("torch."):
            place = shown.rpartition(".")[::2]
        if place is not None:
            self.write(pickle.GLOBAL + f"{place[0]}\n{place[1]}\n".encode())
            self.memoize(obj)
            return
        called, home = name or obj.__qualname__, sys.modules.get(obj.__module__)
        try:
            found = functools.reduce(getattr, called.split("."), home)
        except AttributeError:  # which the pickler in Python says in other words, for which it prints the module
            found = None
        if found is None:
            where = f"attribute lookup {called} on {obj.__module__} failed"
            raise pickle.PicklingError(f"Can't pickle {obj!r}: {where}") from None
        super().save_global(obj, name)  # type: ignore[misc]

    dispatch = pickle._Pickler.dispatch | {FunctionType: save_global}  # type: ignore[attr-defined]


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write an object of tensors, numbers, strings and containers to a path or a binary file. Source: `torch.save`."""
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    if path is None and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    folder = os.path.dirname(path or "")  # noqa: PTH120 - whatever names a file, as torch takes it
    if folder and not os.path.isdir(folder):  # noqa: PTH112
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    pickled, whole = io.BytesIO(), io.BytesIO()
    writer = _Writer(pickled)
    writer.dump(obj)
    with zipfile.ZipFile(whole, "w") as archive:
        parts = {"data.pkl": pickled.getvalue(), "byteorder": b"little", "version": b"3\n"}
        for name, content in (parts | {f"data/{k}": s._bytes().data for s, (k, _) in writer.storages.items()}).items():
            archive.writestr(f"archive/{name}", content)
    if path is None:
        f.write(whole.getbuffer())
        f.flush()  # whoever opens the file by its name finds it whole
        return
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(whole.getbuffer())


_FAILED = "Weights only load failed."
_CHANGED = "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source."
_DOCUMENT = "Check the documentation of torch.load to learn more about types accepted by default with weights_only https://pytorch.org/docs/stable/generated/torch.load.html."


class _Reader(pickle.Unpickler):
    """Makes what a file names, and puts storages where `map_location` says."""

    def __init__(self, archive: zipfile.ZipFile, folder: str, map_location: Any, weights_only: bool) -> None:
        super().__init__(io.BytesIO(archive.read(f"{folder}/data.pkl")))
        self.archive, self.folder, self.to, self.weights_only = archive, folder, map_location, weights_only
        self.storages: dict[str, UntypedStorage] = {}

    def find_class(self, module: str, name: str) -> Any:
        module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))  # since Python 2
        found = _BY_NAME.get((module, name))
        if found is None and module == "torch":  # a dtype that PyTorch alone has
            raise missing("module 'torch' has no attribute '{}'", name)
        if found is None and self.weights_only:
            name = name if module == "builtins" else f"{module}.{name}"
            raise pickle.UnpicklingError(f"{_FAILED} This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {_CHANGED}\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {name} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{name}])` or the `torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust this class/function.\n\n{_DOCUMENT}")  # fmt: skip
        if found is None:
            found = getattr(nn, name) if module.startswith("torch.nn.") else super().find_class(module, name)
        return found

    def persistent_load(self, pid: Any) -> TypedStorage:
        _, kind, key, where, _ = pid
        if key not in self.storages:
            self.storages[key] = self._placed(self.archive.read(f"{self.folder}/data/{key}"), where)
        return TypedStorage(wrap_storage=self.storages[key], dtype=kind.dtype, _internal=True)

    def _placed(self, data: bytes, where: str) -> UntypedStorage:
        to = self.to
        if callable(to):
            made = rebuild_storage(data, where)
            return to(made, where) or made
        to = to.get(where, where) if isinstance(to, dict) else where if to is None else to
        return rebuild_storage(data, str(as_device(to)))


def load(f: Any, map_location: Any = None, *, weights_only: bool | None = None, **options: Any) -> Any:
    """Read what `save` wrote, here or in PyTorch; pickle.UnpicklingError for anything but tensors and plain containers.

    `map_location`: the device to put tensors on, a mapping of devices or a function of storage and device.
    `weights_only=False` makes whatever the file names, and so may run code from it. Source: `torch.load`.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:  # noqa: PTH123
            return load(file, map_location, weights_only=weights_only)
    if not hasattr(f, "seek"):
        raise AttributeError(f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.")  # fmt: skip
    whole = f.read()
    if not whole:
        raise EOFError
    if not zipfile.is_zipfile(io.BytesIO(whole)):
        raise pickle.UnpicklingError(f"{_FAILED} {_CHANGED}\nPlease file an issue with the following so that we can make `weights_only=True` compatible with your use case: WeightsUnpickler error: \n\nUnsupported operand {whole[0]}\n\n{_DOCUMENT}")  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        folder = archive.namelist()[0].partition("/")[0]
        return _Reader(archive, folder, map_location, weights_only is None or weights_only).load()
