"""Handing memory to and from other array libraries by the DLPack protocol: nothing is copied."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ..devices import CPU, as_device
from ..tensor import Tensor
from .copying import numpy
from .core import op
from .creation import from_numpy

_VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class DLDeviceType(enum.IntEnum):
    """The protocol's numbers for kinds of devices."""

    kDLCPU = 1  # noqa: N815 - the protocol's names
    kDLCUDA = 2  # noqa: N815


class _Handed:
    """A capsule in the dress that NumPy takes it in."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **how: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return int(DLDeviceType.kDLCPU), 0


def _taken_up(capsule: Any) -> np.ndarray:
    try:
        return np.from_dlpack(_Handed(capsule))
    except (TypeError, ValueError, RuntimeError):  # NumPy's words for what is no capsule, or no fresh one
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might "
            "have already constructed a tensor from it once."
        ) from None


class _Writable:
    """Shows NumPy the memory of an array that it took up as read-only, as it does with older capsules; torch writes."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array  # whose memory lives as long as it
        shown = array.__array_interface__
        self.__array_interface__ = {**shown, "data": (shown["data"][0], False)}


@op("__dlpack__", function=False, guard=False)
def dlpack(
    self: Tensor, *, stream: Any = -1, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
) -> Any:
    """A capsule over the tensor's memory, for another library's `from_dlpack`. It can be taken up once.

    BufferError if the tensor requires grad or lies on the simulated device. Source: `torch.Tensor.__dlpack__`.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self._device is not CPU:
        raise BufferError("the simulated device's memory cannot be handed on: use tensor.cpu()")
    if dl_device is not None and tuple(dl_device) != dlpack_device(self):
        raise BufferError(f"memory on the CPU cannot be handed to the device {tuple(dl_device)}")
    if stream not in (-1, None):
        raise AssertionError("stream should be None on cpu.")
    data = numpy(self.clone() if copy else self)
    return data.__dlpack__(max_version=max_version) if max_version and _VERSIONED else data.__dlpack__()


@op("__dlpack_device__", function=False, guard=False)
def dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]:
    """The kind and the number of the device that the tensor lies on. Source: `torch.Tensor.__dlpack_device__`."""
    return (DLDeviceType.kDLCPU if self._device is CPU else DLDeviceType.kDLCUDA), 0


@op(method=False, guard=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array, of a capsule or of a tensor, with a new version counter.

    `copy=True` copies. RuntimeError for what does not speak the protocol or a capsule that was taken up before,
    BufferError for tensors that require grad. Source: `torch.from_dlpack`.
    """
    if isinstance(ext_tensor, Tensor):
        dlpack(ext_tensor)  # for its refusals
        array = numpy(ext_tensor)
    elif isinstance(ext_tensor, np.ndarray):
        array = ext_tensor  # NumPy's own way out refuses arrays that are not writeable
    elif hasattr(ext_tensor, "__dlpack__"):
        array = np.from_dlpack(ext_tensor)
    else:
        array = _taken_up(ext_tensor)
    t = from_numpy(array if array.flags.writeable or array is ext_tensor else np.asarray(_Writable(array)))
    t = t.clone() if copy else t
    return t if device is None else t.to(as_device(device))
