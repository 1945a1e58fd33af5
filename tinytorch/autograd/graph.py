"""Looking at the autograd graph and reaching into it: version counters, and what saving a tensor does.

Source: `torch.autograd.graph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import lacking
from ..graph import InferenceCounter, Node, count_write, saved_tensors_hooks
from ..tensor import Tensor, fresh


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that autograd has not seen, so that backward notices it; inference tensors count nothing.

    RuntimeError unless given a tensor or an iterable of tensors. Source: `torch.autograd.graph.increment_version`.
    """
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if type(t._counter) is not InferenceCounter:
            count_write(t)


def unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the version counters of tensors; nothing stops a write from going unnoticed then.

    Source: `torch._C._autograd._unsafe_set_version_counter`.
    """
    for t, version in zip(tensors, versions, strict=True):
        t._counter.version = version


class save_on_cpu(saved_tensors_hooks):
    """Inside, what is saved for backward is kept on the CPU and brought back when it is read.

    With `pin_memory` always as a copy, which here lies in memory like any other.
    Source: `torch.autograd.graph.save_on_cpu`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> tuple[Any, Tensor]:
            return t.device, fresh(np.empty(t.shape, t._data.dtype)).copy_(
                t
            ) if pin_memory else t.cpu()

        super().__init__(pack, lambda packed: packed[1].to(packed[0]))


if not TYPE_CHECKING:  # type checkers say so themselves
    __getattr__ = lacking("torch.autograd.graph")
__all__ = ["Node", "increment_version", "save_on_cpu", "saved_tensors_hooks"]
