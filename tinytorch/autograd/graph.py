"""Looking at the autograd graph and reaching into it.

Source: `torch.autograd.graph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..graph.node import Node
from ..graph.saved import saved_tensors_hooks
from ..tensor import Tensor


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
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not t._inference:
            t._vc.version += 1


def _unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the version counters of tensors; nothing stops a write from going unnoticed then.

    RuntimeError for negative versions, other lengths, inference tensors.
    Source: `torch._C._autograd._unsafe_set_version_counter`.
    """
    name = "_unsafe_set_version_counter"
    if not (
        isinstance(tensors, Sequence) and isinstance(versions, Sequence)
        and all(isinstance(t, Tensor) for t in tensors) and all(isinstance(v, int) for v in versions)
    ):  # fmt: skip
        raise TypeError(
            f"{name}(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: "
            "collections.abc.Sequence[torch.Tensor], arg1: collections.abc.Sequence[typing.SupportsInt | "
            f"typing.SupportsIndex]) -> None\n\nInvoked with: {tensors!r}, {versions!r}"
        )
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for t, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        if t._inference:
            raise RuntimeError(
                "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. "
                "Was it created in inference mode?"
            )
        t._vc.version = version


__all__ = ["Node", "increment_version", "saved_tensors_hooks"]
