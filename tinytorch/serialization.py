"""Saving and loading tensors, and pickling them.

Tensors saved together keep what they share: two views of one storage are two views of one storage again. Loading runs
no code from the file: only tensors, parameters and Python's plain containers are made, all else is refused.
The file format is tinytorch's own. Source: `torch.save`, `torch.load(weights_only=True)`.
"""

from __future__ import annotations

import io
import os
import pickle
from typing import Any

import numpy as np

from . import dtypes
from .devices import Transfers, as_device, device
from .graph.hooks import warn_of_hooks
from .safe_globals import (  # noqa: F401 - torch has them in its module of this name
    add_safe_globals,
    clear_safe_globals,
    found,
    get_safe_globals,
    refusal_to_read,
    safe_globals,
)
from .storage import UntypedStorage
from .tensor import Tensor, fresh
from .typed_storage import TypedStorage
from .warn import warn_user

_MAGIC = b"tinytorch-1\n"


def _rebuild_storage(data: bytes, device: str) -> UntypedStorage:
    return UntypedStorage(np.frombuffer(bytearray(data), np.uint8), as_device(device))


def _rebuild_tensor(storage: UntypedStorage, d: str, shape: tuple, strides: tuple, offset: int, requires_grad: bool) -> Tensor:  # fmt: skip
    data = np.ndarray(shape, dtypes.BY_NAME[d].np, storage.buffer, 0 if 0 in shape else offset, strides)
    t = fresh(data, storage.device)
    t._data = data  # an empty one keeps its strides too
    t._storage, t._offset = storage, offset
    t._requires_grad = requires_grad
    t._vc.version = 1  # torch makes an empty tensor and then sets its storage
    return t


def _rebuild_typed(storage: UntypedStorage, d: str) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtypes.BY_NAME[d], _internal=True)


def _reduce_storage(self: UntypedStorage, protocol: Any) -> tuple:
    return _rebuild_storage, (self._bytes().tobytes(), str(self.device))


def _parts(t: Tensor, storage: Any) -> tuple:
    warn_of_hooks(t)
    a = t._data
    return storage, t.dtype.called, a.shape, a.strides, t._offset, t.requires_grad


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kinds: dict[UntypedStorage, Any] = {}  # of which dtype each storage is seen

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor) and not isinstance(obj, _parameter("Parameter")):
            storage = self._seen(obj._own_storage(), obj.dtype)
            state = (dict(obj.__dict__),) if obj.__dict__ else ()
            return _rebuild_tensor, _parts(obj, storage), *state
        if isinstance(obj, TypedStorage):
            return _rebuild_typed, (self._seen(obj._untyped, obj.dtype), obj.dtype.called)
        return NotImplemented

    def _seen(self, storage: UntypedStorage, kind: dtypes.dtype) -> UntypedStorage:
        if storage.nbytes() and self.kinds.setdefault(storage, kind) is not kind:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return storage


UntypedStorage.__reduce_ex__ = _reduce_storage  # type: ignore[method-assign,assignment]
Tensor.__reduce_ex__ = _reduce_tensor  # type: ignore[method-assign,assignment]


class _Reader(pickle.Unpickler):
    """Makes tensors and plain containers, puts storages where `map_location` says, and refuses everything else."""

    def __init__(self, file: Any, map_location: Any, weights_only: bool) -> None:
        super().__init__(file)
        self.map_location, self.weights_only = map_location, weights_only

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__ and name.startswith("_rebuild"):
            return self.storage if name == "_rebuild_storage" else globals()[name]
        if module == "tinytorch.nn.parameter" and name in ("Parameter", "_rebuild"):
            return _parameter(name)
        if (module, name) == ("tinytorch", "Tensor"):
            return Tensor
        return found(module, name, self.weights_only)

    def storage(self, data: bytes, location: str) -> UntypedStorage:
        """A storage from its bytes, on the device that `map_location` gives for where it was."""
        to, made = self.map_location, _rebuild_storage(data, location)
        if callable(to):
            own = to(made, location)
            return made if own is None else own.untyped()
        if isinstance(to, dict):
            to = to.get(location, location)
        if to is not None and not isinstance(to, (str, device)):
            raise TypeError(f"'{type(to).__name__}' object is not callable")
        if isinstance(to, str) and to.partition(":")[0] not in ("cpu", "cuda", "meta"):
            raise RuntimeError(
                f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {to})"
            )
        if to is None or as_device(to) is made.device:
            return made
        made.device = as_device(to)
        Transfers.count(made.device, made.nbytes())
        return made


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True) -> None:  # fmt: skip
    """Write an object of tensors, numbers, strings and plain containers to a path or a binary file.

    RuntimeError if the folder is not there. Source: `torch.save`.
    """
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    if path is None and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if path is None and not callable(f.write):
        raise TypeError(f"Buffer of {str(type(f)).strip('<>')} has no callable attribute 'write'")
    data = io.BytesIO()
    data.write(_MAGIC)
    _Writer(data, protocol=3).dump(obj)  # in which sets go by name, as they do in torch's files
    if path is None:
        f.write(data.getbuffer())
        f.flush()  # whoever opens the file by its name finds it whole
        return
    folder = os.path.dirname(path)  # noqa: PTH120 - whatever names a file, as torch takes it
    if not path:
        raise RuntimeError("[enforce fail at inline_container.cc:720] . invalid file name: ")
    if folder and not os.path.isdir(folder):  # noqa: PTH112
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(data.getbuffer())


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Read what `save` wrote; pickle.UnpicklingError for anything but tensors and plain containers.

    `map_location`: the device to put tensors on, a mapping of devices or a function of storage and device. With
    `weights_only=False` modules are made as well. Source: `torch.load`.
    """
    weights_only = weights_only is None or weights_only
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if pickle_load_args:
        raise TypeError(f"load() got an unexpected keyword argument '{next(iter(pickle_load_args))}'")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:  # noqa: PTH123
            return load(file, map_location, weights_only=weights_only)
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not hasattr(f, "seek"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is seekable. "
            "Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
        )
    head = f.read(len(_MAGIC))
    if head != _MAGIC:
        raise _not_ours(f, head, weights_only)
    return _Reader(f, map_location, weights_only).load()


def _not_ours(f: Any, head: bytes, weights_only: bool) -> Exception:
    """What torch says of a file that is no checkpoint; of its own files, that they cannot be read here."""
    if not head:
        return EOFError("" if weights_only else "Ran out of input")
    if head.startswith(b"PK\x03\x04"):
        import zipfile

        if zipfile.is_zipfile(f):
            return RuntimeError("not a file that tinytorch.save wrote (PyTorch's own files cannot be read)")
        return RuntimeError(
            "PytorchStreamReader failed reading zip archive: not a ZIP archive. This is an internal miniz error. If you "
            "are seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can happen if "
            "the checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
        )
    if head[0] == 0x80 and (head[1] == 2 or not weights_only):
        return RuntimeError("Invalid magic number; corrupt file?")
    if not weights_only:
        return pickle.UnpicklingError("pickle data was truncated")
    if head[0] == 0x80:
        warn_user(
            f"Detected pickle protocol {head[1]} in the checkpoint, which was not the default pickle protocol used by "
            "`torch.load` (2). The weights_only Unpickler might not support all instructions implemented by this protocol, "
            "please file an issue for adding support if you encounter this."
        )
        return refusal_to_read(head[2])
    return refusal_to_read(head[head[0] == ord("(")])
