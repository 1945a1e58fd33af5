"""The few names under `torch._C` that programs and pictures use."""

from __future__ import annotations

from types import SimpleNamespace

from .autograd import unsafe_set_version_counter
from .graph import (
    AccumulateGrad,
    CreationMeta,
    SavedTensor,
    TensorBase,
    get_creation_meta,
    is_grad_enabled,
    is_inference_mode_enabled,
    next_number,
    set_creation_meta,
    set_grad_enabled,
)


def _set_grad_enabled(enabled: bool, /) -> None:
    """Switch grad mode. Source: `torch._C._set_grad_enabled`."""
    set_grad_enabled(enabled)


_functions = SimpleNamespace(AccumulateGrad=AccumulateGrad)
_autograd = SimpleNamespace(
    CreationMeta=CreationMeta,
    SavedTensor=SavedTensor,
    _get_creation_meta=get_creation_meta,
    _get_sequence_nr=next_number,  # it takes a number, and the order of the others stays
    _set_creation_meta=set_creation_meta,
    _unsafe_set_version_counter=unsafe_set_version_counter,
)

__all__ = [
    "TensorBase",
    "_autograd",
    "_functions",
    "_set_grad_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]
