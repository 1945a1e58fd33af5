"""`torch.save` and `torch.load`, in PyTorch's own file format.

A file is a zip archive: `data.pkl` describes the objects, `data/0`, `data/1` ... hold a storage each, so that tensors
saved together keep what they share. Loading makes tensors and plain containers, and refuses everything else unless
`weights_only=False` says that the file is to be trusted. Whatever stands in a file, reading it calls nothing from it,
ends, and takes a small multiple of the file in memory. Source: `torch.serialization`, `torch._utils`,
`torch._weights_only_unpickler`.
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
import zlib
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from . import nn
from .base import HAS_NOT, Generator, UntypedStorage, as_device, device, dtypes, reach, type_name
from .graph import warn_of_hooks
from .ops import over_storage
from .tensor import Layout, Size, Tensor

_Storage = tuple[
    UntypedStorage, dtypes.dtype
]  # with the type of its elements, by which files name it


def rebuild_tensor(
    storage: _Storage, offset: int, size: tuple, stride: tuple, requires_grad: bool, *_: Any
) -> Tensor:
    """A tensor that looks at a storage."""
    kind = storage[1].np
    n, steps = kind.itemsize, tuple([k * kind.itemsize for k in stride])
    need = 0 if 0 in size else offset * n + reach(size, steps, n)
    if min(0, offset, *size, *stride) < 0 or need > storage[0].nbytes():
        raise RuntimeError("Trying to resize storage that is not resizable")
    out = over_storage(storage[0], (kind, size, steps, offset * n), False)
    return out.requires_grad_() if requires_grad else out


def rebuild_parameter(
    data: Tensor, requires_grad: bool, hooks: Any, state: dict | None = None
) -> Tensor:
    """A parameter, with what was set on it."""
    made = nn.Parameter(data, requires_grad)
    made.__dict__.update(state or {})
    return made


def rebuild_from_type(make: Any, kind: type, args: tuple, state: dict) -> Any:
    """A tensor on which attributes were set, or of a class of one's own."""
    if make not in (rebuild_tensor, rebuild_parameter):
        raise pickle.UnpicklingError(f"a tensor is not made by an object of type {type_name(make)}")
    made = make(*args)
    made.__class__ = kind
    made.__dict__.update(state)
    return made


_FUNCTIONS: dict[Any, tuple[str, str]] = {
    rebuild_tensor: ("torch._utils", "_rebuild_tensor_v2"),
    rebuild_parameter: ("torch._utils", "_rebuild_parameter"),
    rebuild_from_type: ("torch._tensor", "_rebuild_from_type_v2"),
}
# classes by which files name what storages hold: `torch.FloatStorage`
_STORAGES = {
    d: type(d.tensor_type.replace("Tensor", "Storage"), (), {"__module__": "torch"})
    for d in dtypes.ALL
}
_BY_NAME: dict[tuple[str, str], Any] = {
    **{place: f for f, place in _FUNCTIONS.items()},
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter,
    **{("torch", name): d for d, kind in _STORAGES.items() for name in (kind.__name__, d.called)},
    **{("torch", kind.__name__): kind for kind in (Tensor, Size, device)},
    **{(kind.__module__, kind.__name__): kind for kind in (OrderedDict, Counter, set, complex)},
    ("torch.nn.parameter", "Parameter"): nn.Parameter,
    ("_codecs", "encode"): lambda text, encoding: text.encode("latin1"),  # as pickle has bytes
    ("builtins", "bytearray"): lambda data=b"", _="": bytearray(
        data.encode("latin1")
        if isinstance(data, str)
        else b"".join([data])  # never so many bytes as a number says
    ),
}
_OPCODES = b"\x80.cRb\x81aesu(t\x85\x86\x87N\x89\x88)]}\x8fJKMGXUQhjqr\x8a"  # those that PyTorch's reader knows


class _Writer(pickle._Pickler):  # type: ignore[name-defined]
    """Writes storages by number, and names as torch has them."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=2)
        self.storages: dict[UntypedStorage, tuple[str, dtypes.dtype]] = {}

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (dtypes.dtype, FunctionType)):
            return obj.called if isinstance(obj, dtypes.dtype) else obj.__qualname__
        if isinstance(
            obj, (Generator, UntypedStorage, Layout)
        ):  # which PyTorch would not read from what pickle writes
            raise TypeError(f"cannot pickle '{type_name(obj)}' object")
        if not isinstance(obj, Tensor):
            return NotImplemented
        state = dict(obj.__dict__)
        grads: tuple = obj.requires_grad, OrderedDict()
        if isinstance(obj, nn.Parameter):
            make, args = rebuild_parameter, (obj.data, *grads)
        else:
            warn_of_hooks(obj)
            storage = obj.untyped_storage(), obj.dtype
            make, args = (
                rebuild_tensor,
                (storage, obj.storage_offset(), tuple(obj.shape), obj.stride(), *grads),
            )
        if state or type(obj) not in (Tensor, nn.Parameter):
            return rebuild_from_type, (make, type(obj), args, state)
        return make, args

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) is not tuple or not obj or type(obj[0]) is not UntypedStorage:
            return None
        s, d = obj
        key, before = self.storages.setdefault(s, (str(len(self.storages)), d))
        if before is not d and s.nbytes():
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )
        return "storage", _STORAGES[d], key, str(s.device), s.nbytes() // d.itemsize

    def save_global(self, obj: Any, name: str | None = None) -> None:
        place = _FUNCTIONS.get(obj) or (("torch", name) if isinstance(obj, dtypes.dtype) else None)
        if isinstance(obj, type) and (shown := repr(obj).split("'")[1]).startswith("torch."):
            place = shown.rpartition(".")[::2]  # type: ignore[assignment]
        if place is None:
            return super().save_global(obj, name)  # type: ignore[misc]
        self.write(pickle.GLOBAL + f"{place[0]}\n{place[1]}\n".encode())
        return self.memoize(obj)


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write an object of tensors, numbers, strings and containers to a path or a binary file. Source: `torch.save`."""
    pickled = io.BytesIO()
    writer = _Writer(pickled)
    writer.dump(obj)
    with zipfile.ZipFile(f, "w") as archive:
        parts = {"data.pkl": pickled.getvalue(), "byteorder": b"little", "version": b"3\n"}
        for name, content in (
            parts | {f"data/{k}": s._bytes().data for s, (k, _) in writer.storages.items()}
        ).items():
            archive.writestr(f"archive/{name}", content)


_REFUSED = "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m. \n\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source.\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {0} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{0}])` or the `torch.serialization.safe_globals([{0}])` context manager to allowlist this global if you trust this class/function.\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only https://pytorch.org/docs/stable/generated/torch.load.html."

_NO_ZIP = (zipfile.BadZipFile, NotImplementedError, ValueError, ArithmeticError, struct.error)
_DAMAGED = (*_NO_ZIP, LookupError, SystemError, AttributeError, TypeError, EOFError, zlib.error)
_DEEP, _MANY = (
    100,
    1_000_000,
)  # tuples in a tuple: hashing what is nested may take for ever, or the stack


class _Reader(pickle._Unpickler):  # type: ignore[name-defined]
    """Makes whatever a file names, and puts storages where `map_location` says."""

    def __init__(self, archive: zipfile.ZipFile, map_location: Any) -> None:
        self.folder = archive.namelist()[0].partition("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{self.folder}/data.pkl")))
        self.archive, self.to = archive, map_location
        said = f"{self.folder}/byteorder"
        order = archive.read(said) if said in archive.namelist() else b"little"
        if order not in (b"little", b"big"):
            raise ValueError(f"Unknown endianness type: {order.decode(errors='replace')}")
        self.swapped = order.decode() != sys.byteorder
        self.storages: dict[str, UntypedStorage] = {}
        self.nested: dict[
            int, tuple[int, int, tuple]
        ] = {}  # tuples by id: how deep, how many in it

    def find_class(self, module: str, name: str) -> Any:
        module, name = NAME_MAPPING.get(
            (module, name), (IMPORT_MAPPING.get(module, module), name)
        )  # since Python 2
        found = _BY_NAME.get((module, name))
        if found is not None:
            return found
        if module == "torch":  # a dtype that PyTorch alone has
            raise pickle.UnpicklingError(
                f"module 'torch' has no attribute '{name}'. {HAS_NOT.format(name)}"
            )
        return self.foreign(module, name)

    def foreign(self, module: str, name: str) -> Any:
        return (
            getattr(nn, name)
            if module.startswith("torch.nn.")
            else super().find_class(module, name)
        )

    def persistent_load(self, pid: Any) -> _Storage:
        _, kind, key, where, n = pid
        if not (isinstance(key, str) and isinstance(where, str) and isinstance(n, int)):
            raise pickle.UnpicklingError("Only persistent_load of storage is allowed")
        if key not in self.storages:
            content, size = self.archive.read(f"{self.folder}/data/{key}"), n * kind.itemsize
            if len(content) != size:
                raise RuntimeError(f"record size ({len(content)} bytes) does not match expected size ({size} bytes = {size} elements * 1 bytes/element) for dtype Byte")  # fmt: skip
            moved = self.to is not None and not callable(self.to)
            cells = np.frombuffer(content, f"u{kind.itemsize}")
            cells = cells.byteswap() if self.swapped else cells.copy()
            made = UntypedStorage(cells.view(np.uint8), as_device(self.to if moved else where))
            self.storages[key] = (self.to(made, where) or made) if callable(self.to) else made
        return self.storages[key], kind


class _ReaderOfWeights(_Reader):
    """Makes tensors and plain containers, with the opcodes that these need; calls what makes them and nothing else."""

    def foreign(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(
            _REFUSED.format(name if module == "builtins" else f"{module}.{name}")
        )

    def load_reduce(self) -> None:
        args, make = self.stack.pop(), self.stack.pop()
        if make is Tensor or make is nn.Parameter:
            raise pickle.UnpicklingError(f"Trying to call reduce for {make}")
        self.append(make(*args))

    def load_build(self) -> None:
        state, made = self.stack.pop(), self.stack[-1]
        if type(made) is not OrderedDict:
            raise pickle.UnpicklingError(f"Can only build OrderedDict, but got {type(made)}")
        made.__dict__.update(state)

    def load_nested(self, read: Any) -> None:
        """Read a tuple, and count what is in it."""
        read(self)
        made = self.stack[-1]
        inside = [self.nested[id(x)][:2] for x in made if id(x) in self.nested]
        deep, many = 1 + max([d for d, _ in inside], default=0), 1 + sum([m for _, m in inside])
        if deep > _DEEP or many > _MANY:
            raise pickle.UnpicklingError(f"Too many tuples within a tuple: {many}, {deep} deep")
        self.nested[id(made)] = deep, many, made  # kept, so that no other gets its id

    dispatch = {code: pickle._Unpickler.dispatch[code] for code in _OPCODES}  # type: ignore[attr-defined]
    dispatch |= {ord("R"): load_reduce, 0x81: load_reduce, ord("b"): load_build}  # type: ignore[dict-item]


for _code in b"t\x85\x86\x87":
    _ReaderOfWeights.dispatch[_code] = partial(
        _ReaderOfWeights.load_nested, read=_ReaderOfWeights.dispatch[_code]
    )


def load(
    f: Any, map_location: Any = None, *, weights_only: bool | None = None, **options: Any
) -> Any:
    """Read what `save` wrote, here or in PyTorch; pickle.UnpicklingError for anything but tensors and plain containers.

    `map_location`: the device to put tensors on, or a function of storage and device. `weights_only=False` makes
    whatever the file names, and so may run code from it. Source: `torch.load`.
    """
    try:
        archive = zipfile.ZipFile(f)
    except _NO_ZIP:
        raise pickle.UnpicklingError("this is no file that torch.save wrote (PyTorch 1.6 or later, or tinytorch)") from None  # fmt: skip
    with archive:
        parts = archive.infolist()
        known = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} >= {p.compress_type for p in parts}
        if not known or sum([p.file_size for p in parts]) > 8 * archive.start_dir + 1_000_000:
            raise pickle.UnpicklingError("this file would take much more memory than it has bytes")
        if not (weights_only is None or weights_only):
            return _Reader(archive, map_location).load()
        try:
            return _ReaderOfWeights(archive, map_location).load()
        except _DAMAGED as error:
            raise pickle.UnpicklingError(
                f"this file cannot be read ({type_name(error)}: {error})"
            ) from error
