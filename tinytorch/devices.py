"""Devices: the CPU, and a simulated second device that calls itself `cuda:0`.

The simulated device has storages of its own and torch's rules for mixing devices; its memory is ordinary memory and
nothing runs on a GPU.
"""

from __future__ import annotations

import re
from typing import Any, Self

from .errors import ShownAs, type_name

_KNOWN = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
)
_NOT_GIVEN: Any = object()


class device(metaclass=ShownAs):
    """Where a storage lies: `device("cpu")` or `device("cuda", 0)`.

    Raises RuntimeError, in torch's words, for a string that names no device.
    """

    shown_as = "torch.device"

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = _NOT_GIVEN, index: int | None = None) -> None:
        if index is not None and not isinstance(index, int):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type_name(index)}")
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            type, index = "cuda", type
        elif isinstance(type, str):
            m = re.fullmatch(r"([a-zA-Z]+)(?::(0|[1-9]\d*))?", type)
            if not m:
                raise RuntimeError(f"Invalid device string: '{type}'" if type else "Device string must not be empty")
            if m[2] is not None and index is not None:
                what = f"type (string) must not include an index because index was passed explicitly: {type}"
                raise RuntimeError(what)
            type, index = m[1], index if m[2] is None else int(m[2])
        else:
            given = "" if type is _NOT_GIVEN else type_name(type)
            why = f"\n      didn't match because some of the arguments have invalid types: (!{given}!)" if given else ""
            raise TypeError(
                f"device() received an invalid combination of arguments - got ({given}), but expected one of:\n"
                f" * (torch.device device){why}\n * (str type, int index = -1)\n"
            )
        if type not in _KNOWN.split(", "):
            raise RuntimeError(f"Expected one of {_KNOWN} device type at start of device string: {type}")
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "index", index)

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __setattr__(self, name: str, value: Any) -> None:
        if name in device.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    def __lt__(self, other: object) -> bool:
        if isinstance(other, device):
            raise TypeError("comparison not implemented")
        return NotImplemented

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> Self:
        _DEFAULT.append(as_device(self))
        return self

    def __exit__(self, *exc: object) -> None:
        _DEFAULT.pop()

    def __reduce__(self) -> tuple:
        return device, (self.type,) if self.index is None else (self.type, self.index)


CPU = device("cpu")
CUDA = device("cuda", 0)
_DEFAULT = [CPU]  # where new tensors lie; `with torch.device(...)` puts another on top


def as_device(d: device | str | int | None) -> device:
    """The one object for a device, so that the engine can compare devices by identity. None means the default one."""
    if d is None:
        return _DEFAULT[-1]
    d = d if isinstance(d, device) else device(d)
    if d.type == "cpu":
        return CPU
    if d.type == "cuda" and d.index in (None, 0):
        return CUDA
    if d.type == "cuda":
        raise RuntimeError("CUDA error: invalid device ordinal (tinytorch simulates one device, cuda:0)")
    if d.type == "meta":
        raise RuntimeError("tinytorch has no 'meta' device: it has 'cpu' and a simulated 'cuda'")
    raise RuntimeError(f"PyTorch is not linked with support for {d.type} devices")


def get_default_device() -> device:
    """Where new tensors lie unless said otherwise. Source: `torch.get_default_device`."""
    return _DEFAULT[-1]


def set_default_device(d: device | str | int | None) -> None:
    """Make new tensors lie on `d` unless said otherwise; None means the CPU. Source: `torch.set_default_device`."""
    _DEFAULT[0] = CPU if d is None else as_device(d)
