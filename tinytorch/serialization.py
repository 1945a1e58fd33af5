"""Saving and loading tensors, and pickling them.

Tensors saved together keep what they share: two views of one storage are two views of one storage again. Loading runs
no code from the file: only tensors, parameters and Python's plain containers are made, all else is refused.
The file format is tinytorch's own. Source: `torch.save`, `torch.load(weights_only=True)`.
"""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from typing import Any

import numpy as np

from . import dtypes
from .devices import as_device, device
from .graph.hooks import warn_of_hooks
from .storage import UntypedStorage
from .tensor import Size, Tensor, fresh

_MAGIC = b"tinytorch-1\n"


def _rebuild_storage(data: bytes, device: str) -> UntypedStorage:
    return UntypedStorage(np.frombuffer(bytearray(data), np.uint8), as_device(device))


def _rebuild_tensor(storage: UntypedStorage, d: str, shape: tuple, strides: tuple, offset: int, requires_grad: bool) -> Tensor:  # fmt: skip
    data = np.ndarray(shape, dtypes.BY_NAME[d].np, storage.buffer, offset, strides)
    t = fresh(data, storage.device)
    t._data = data  # an empty one keeps its strides too
    t._storage, t._offset = storage, offset
    t._requires_grad = requires_grad
    t._vc.version = 1  # torch makes an empty tensor and then sets its storage
    return t


def _reduce_storage(self: UntypedStorage, protocol: Any) -> tuple:
    return _rebuild_storage, (self._bytes().tobytes(), str(self.device))


def _parts(t: Tensor, storage: Any) -> tuple:
    warn_of_hooks(t)
    a = t._data
    return storage, t.dtype.name, a.shape, a.strides, t._offset, t.requires_grad


class _Alone:
    """A storage as plain pickle writes it, once for each tensor: what tensors share is not kept, in torch as well."""

    def __init__(self, storage: UntypedStorage) -> None:
        self.storage = storage

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return _reduce_storage(self.storage, protocol)


def _reduce_tensor(self: Tensor, protocol: Any) -> tuple:
    state = (dict(self.__dict__),) if self.__dict__ else ()
    return _rebuild_tensor, _parts(self, _Alone(self._own_storage())), *state


def _parameter(name: str) -> Any:
    from .nn import parameter  # `nn` is loaded when it is first needed

    return getattr(parameter, name)


class _Writer(pickle.Pickler):
    """Writes each storage once, so that tensors saved together keep what they share."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor) and not isinstance(obj, _parameter("Parameter")):
            return _rebuild_tensor, _parts(obj, obj._own_storage())
        return NotImplemented


UntypedStorage.__reduce_ex__ = _reduce_storage  # type: ignore[method-assign,assignment]
Tensor.__reduce_ex__ = _reduce_tensor  # type: ignore[method-assign,assignment]

_ALLOWED = {
    (f.__module__, f.__name__): f
    for f in (
        _rebuild_storage,
        _rebuild_tensor,
        OrderedDict,
        Size,
        set,
        complex,
        device,
        device,
    )
} | {("tinytorch.dtypes", d.name): d for d in dtypes.ALL}


class _Reader(pickle.Unpickler):
    """Makes tensors and plain containers, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        if module == "tinytorch.nn.parameter" and name in ("Parameter", "_rebuild"):
            return _parameter(name)
        raise pickle.UnpicklingError(
            f"Weights only load failed. The file asks for {module}.{name}; tinytorch loads tensors and plain containers "
            "alone and runs no code from a file."
        )


def save(obj: Any, f: Any, **options: Any) -> None:
    """Write an object of tensors, numbers, strings and plain containers to a path or a binary file.

    Source: `torch.save`.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    data = io.BytesIO()
    data.write(_MAGIC)
    _Writer(data, protocol=4).dump(obj)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as file:  # noqa: PTH123 - whatever names a file, as torch takes it
            file.write(data.getvalue())
    else:
        f.write(data.getvalue())


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, **options: Any) -> Any:
    """Read what `save` wrote; pickle.UnpicklingError for anything but tensors and plain containers.

    `map_location`: the device to put tensors on. Source: `torch.load`.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:  # noqa: PTH123
            return load(file, map_location)
    if f.read(len(_MAGIC)) != _MAGIC:
        raise RuntimeError("not a file that tinytorch.save wrote (PyTorch's own files cannot be read)")
    found = _Reader(f).load()
    return found if map_location is None else _mapped(found, map_location)


def _mapped(x: Any, where: Any) -> Any:
    if isinstance(x, Tensor):
        return x.to(where)
    if isinstance(x, dict):
        return type(x)((k, _mapped(v, where)) for k, v in x.items())
    return type(x)(_mapped(v, where) for v in x) if type(x) in (list, tuple) else x
