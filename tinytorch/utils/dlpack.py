"""Memory handed on by the DLPack protocol, under torch's names. Source: `torch.utils.dlpack`."""

from typing import Any

from ..ops.exchange import DLDeviceType, from_dlpack
from ..tensor import Tensor


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule over the tensor's memory, to be taken up once. BufferError for a tensor that requires grad.

    Source: `torch.utils.dlpack.to_dlpack`.
    """
    return tensor.__dlpack__(max_version=(1, 0))  # of the old kind NumPy says that it cannot be written to


__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
