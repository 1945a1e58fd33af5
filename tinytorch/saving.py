"""`torch.save` and `torch.load`: a file holds tensors and plain containers, and what the tensors share.

A file is one of Python's `pickle`, which PyTorch does not read, nor its files are read here. Loading makes tensors and plain
containers, and refuses all else unless `weights_only=False` says that the file is to be trusted. Source: `torch.serialization`.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter, OrderedDict
from contextlib import nullcontext
from typing import Any

import numpy as np

from . import dtypes, nn
from .autograd.hooks import warn_of_hooks
from .devices import as_device, device
from .ops.copies import over_storage, place
from .storage import UntypedStorage
from .tensor import Size, Tensor

_PLAIN = (
    over_storage,
    dtypes.named,
    np.dtype,
    Tensor,
    nn.Parameter,
    Size,
    device,
    OrderedDict,
    Counter,
    set,
    complex,
    bytearray,
)
_ALLOWED = {(thing.__module__, thing.__qualname__) for thing in _PLAIN}


def storage_of(data: bytes, where: device) -> UntypedStorage:
    """A storage of these bytes."""
    return UntypedStorage(np.frombuffer(bytearray(data), np.uint8), where)


class _Writer(pickle.Pickler):
    """Writes each storage once, as pickle does with all objects, and tensors as looks at storages."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, UntypedStorage):
            return storage_of, (obj._bytes().tobytes(), obj.device)
        if not isinstance(obj, Tensor):
            return NotImplemented
        if not isinstance(obj, nn.Parameter):
            warn_of_hooks(obj)
        return over_storage, (obj._own_storage(), place(obj), obj.requires_grad, type(obj), dict(obj.__dict__))


def _opened(f: Any, mode: str) -> Any:
    return open(f, mode) if isinstance(f, (str, os.PathLike)) else nullcontext(f)  # noqa: PTH123 - loading `pathlib` takes long


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 4) -> None:
    """Write an object of tensors, numbers, strings and containers to a path or a binary file. Source: `torch.save`."""
    with _opened(f, "wb") as file:
        _Writer(file, pickle_protocol).dump(obj)
        file.flush()


_REFUSED = "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m. \n\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source.\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {0} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{0}])` or the `torch.serialization.safe_globals([{0}])` context manager to allowlist this global if you trust this class/function.\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only https://pytorch.org/docs/stable/generated/torch.load.html."


class _Reader(pickle.Unpickler):
    """Makes what a file names, and puts storages where `map_location` says."""

    def __init__(self, file: Any, map_location: Any, weights_only: bool) -> None:
        super().__init__(file)
        self.to, self.weights_only = map_location, weights_only

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (__name__, storage_of.__name__):
            return self.storage
        if self.weights_only and (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(_REFUSED.format(name if module == "builtins" else f"{module}.{name}"))
        return super().find_class(module, name)

    def storage(self, data: bytes, where: device) -> UntypedStorage:
        """The storage, where it is to be."""
        if not callable(self.to):
            return storage_of(data, where if self.to is None else as_device(self.to))
        made = storage_of(data, where)
        return self.to(made, str(where)) or made


def load(f: Any, map_location: Any = None, *, weights_only: bool | None = None, **options: Any) -> Any:
    """Read what `save` wrote; pickle.UnpicklingError for anything but tensors and plain containers.

    `map_location`: the device to put tensors on, or a function of storage and device. `weights_only=False` makes
    whatever the file names, and so may run code from it. Source: `torch.load`.
    """
    with _opened(f, "rb") as file:
        return _Reader(file, map_location, weights_only is None or weights_only).load()
