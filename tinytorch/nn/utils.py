"""Helpers over parameters: clipping gradients, parameters as one vector.

Source: `torch.nn.utils`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ..graph.modes import no_grad
from ..missing import missing
from ..ops.core import FUNCTIONS
from ..ops.norms import vector_norm
from ..tensor import Tensor
from ..warn import warn_user
from . import stateless


def _checked(parameters: Any) -> list[Tensor]:
    """The parameters in a list, with torch's warning if a generator is used up already."""
    if isinstance(parameters, Tensor):
        return [parameters]
    found = list(parameters)
    if not found and isinstance(parameters, Generator):
        warn_user("`parameters` is an empty generator, no gradient clipping will occur.")
    return found


def _grads(parameters: Any) -> list[Tensor]:
    found = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in found if p.grad is not None]


@no_grad()
def get_total_norm(tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of the norms of several tensors, as if they were one vector."""
    found = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not found:
        return FUNCTIONS["tensor"](0.0)
    norms = [vector_norm(t, float(norm_type)) for t in found]
    total = vector_norm(FUNCTIONS["stack"]([n.to(norms[0].device) for n in norms]), float(norm_type))
    if error_if_nonfinite and not total.isfinite().item():
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """Scale the gradients so that their norm is at most `max_norm`; the norm before is returned."""
    found = _checked(parameters)
    total = get_total_norm(_grads(found), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(found, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """The old name of `clip_grad_norm_`, which warns."""
    warn_user(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: Any = None) -> None:
    """Scale the gradients by `max_norm / total_norm`, where that is below 1."""
    scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for g in _grads(parameters):
        g.mul_(scale.to(g.device))


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Cut every gradient's elements off at plus and minus `clip_value`."""
    for g in _grads(parameters):
        g.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The parameters' elements in one vector, recorded."""
    return FUNCTIONS["cat"]([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters look at slices of a vector. TypeError if it is no tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[at : at + n].view_as(p).data
        at += n


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.utils' has no attribute '{}'", name)


__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
           "parameters_to_vector", "stateless", "vector_to_parameters"]  # fmt: skip
