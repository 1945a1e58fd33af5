"""Access to the autograd graph: version counters, and hooks on saved tensors.

Source: `torch.autograd.graph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import make_module_getattr
from ..graph import (
    InferenceCounter,
    Node,
    count_write,
    disable_saved_tensors_hooks,
    saved_tensors_hooks,
)
from ..tensor import Tensor, make_tensor


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that autograd has not seen, so that backward notices it.

    Inference tensors have no version; nothing is counted for them.

    RuntimeError unless given a tensor or an iterable of tensors.
    Source: `torch.autograd.graph.increment_version`.
    """
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for element in tensor:
        if not isinstance(element, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if type(element._counter) is not InferenceCounter:
            count_write(element)


def unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the version counters of tensors, which may hide writes from backward.

    TypeError for what are no tensors. Source: `torch._C._autograd._unsafe_set_version_counter`.
    """
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise TypeError(
            "_unsafe_set_version_counter(): incompatible function arguments. The following argument "
            "types are supported:\n    1. (arg0: collections.abc.Sequence[torch.Tensor], arg1: "
            "collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None\n\n"
            f"Invoked with: {tensors!r}, {versions!r}"
        )
    for tensor, version in zip(tensors, versions, strict=True):
        tensor._counter.version = version


class _unsafe_preserve_version_counter:
    """Context manager after which tensors have the versions again that they had before.

    Backward then does not notice what was written. AssertionError for what is no tensor or tuple.
    Source: `torch.autograd._unsafe_preserve_version_counter`.
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.prev_versions = tuple(t._version for t in self.tensors)

    def __enter__(self) -> None: ...

    def __exit__(self, *exc: object) -> None:
        unsafe_set_version_counter(self.tensors, self.prev_versions)


class save_on_cpu(saved_tensors_hooks):
    """Context manager that moves saved tensors to the CPU, and back when they are read.

    With `pin_memory` they are always copied; the copy is in ordinary memory.
    Source: `torch.autograd.graph.save_on_cpu`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack_to_cpu(tensor: Tensor) -> tuple[Any, Tensor]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            pinned = make_tensor(np.empty(tensor.shape, tensor._data.dtype))
            return tensor.device, pinned.copy_(tensor)

        def unpack_from_cpu(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device)

        super().__init__(pack_to_cpu, unpack_from_cpu)


if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.autograd.graph")
__all__ = [
    "Node",
    "disable_saved_tensors_hooks",
    "increment_version",
    "save_on_cpu",
    "saved_tensors_hooks",
]
