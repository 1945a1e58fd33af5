"""Devices: the CPU, and a simulated second device with the name `cuda:0`.

The simulated device has storages of its own, and torch's rules for mixing devices apply. Its
memory is ordinary memory; nothing runs on a GPU.
"""

from __future__ import annotations

from typing import Any, Self

from .errors import ShownAs, make_absence_error, type_name

_DEVICE_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
    "vulkan, mps, meta, hpu, mtia, privateuseone"
)


_NOTHING = object()


def _refuse_device(type: Any) -> TypeError:
    """Make PyTorch's error for what is no device."""
    is_given = type is not _NOTHING
    given = type_name(type) if is_given else ""
    reason = "      didn't match because some of the arguments have invalid types: "
    return TypeError(
        f"device() received an invalid combination of arguments - got ({given}), but expected one "
        f"of:\n * (torch.device device)\n{reason + f'(!{given}!)' + chr(10) if is_given else ''}"
        " * (str type, int index = -1)\n"
    )


def _is_index(text: str) -> bool:
    """Return True for the number of a device in a string, which has no leading zero."""
    # A regular expression would be made at import, and that takes longer than all else here.
    return text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0")


class device(metaclass=ShownAs):
    """The device of a storage: `device("cpu")`, `device("cuda", 0)`, or `device(0)`, which is `cuda:0`.

    RuntimeError, in torch's words, for a string that is no device, and for a negative index.
    """

    shown_as = "torch.device"

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = _NOTHING, index: int | None = None) -> None:
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            raise TypeError(
                f"device(): argument 'index' (position 2) must be int, not {type_name(index)}"
            )
        if index is None and isinstance(type, int) and not isinstance(type, bool):
            # PyTorch takes it for a device of the accelerator that is there.
            type, index = "cuda", type
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        if index is None and isinstance(type, device):
            type, index = type.type, type.index
        if not isinstance(type, str):
            raise _refuse_device(type)
        name, colon, number = type.partition(":")
        if not (name.isascii() and name.isalpha()) or (colon and not _is_index(number)):
            raise RuntimeError(
                f"Invalid device string: '{type}'" if type else "Device string must not be empty"
            )
        if colon and index is not None:
            raise RuntimeError(
                "type (string) must not include an index because index was passed explicitly: "
                f"{type}"
            )
        type, index = name, int(number) if colon else index
        if type not in _DEVICE_TYPES.split(", "):
            raise RuntimeError(
                f"Expected one of {_DEVICE_TYPES} device type at start of device string: {type}"
            )
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "index", index)

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> Self:
        _default_devices.append(as_device(self))
        return self

    def __exit__(self, *exc: object) -> None:
        _default_devices.pop()

    def __reduce__(self) -> tuple:
        return device, (self.type,) if self.index is None else (self.type, self.index)


CPU = device("cpu")
CUDA = device("cuda", 0)
_default_devices = [CPU]  # of new tensors; `with torch.device(...)` adds one


def as_given_device(d: device | str | int | None) -> device | None:
    """Return what `as_device` returns; None if no device was given."""
    return None if d is None else as_device(d)


def as_device(d: device | str | int | None) -> device:
    """Return the object that the engine compares by identity, CPU or CUDA.

    None is for the default device.
    """
    if d is None:
        return _default_devices[-1]
    d = d if isinstance(d, device) else device(d)
    if d.type == "cpu":
        return CPU
    if d.type == "cuda" and d.index in (None, 0):
        return CUDA
    raise make_absence_error(f"the device '{d}'", "there are 'cpu' and a simulated 'cuda'")
