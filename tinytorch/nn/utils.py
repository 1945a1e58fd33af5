"""Helpers over parameters: clipping gradients, parameters as one vector. Source: `torch.nn.utils`."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ..autograd.modes import no_grad
from ..errors import missing, warn_user
from ..ops.from_data import tensor
from ..ops.joining import cat, stack
from ..ops.linalg import vector_norm
from ..tensor import Tensor


def _grads(parameters: Any) -> list[Tensor]:
    return [p.grad for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.grad is not None]


@no_grad()
def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """Scale the gradients so that their norm is at most `max_norm`; the norm before is returned."""
    if isinstance(parameters, Generator):
        parameters = list(parameters)
        if not parameters:
            warn_user("`parameters` is an empty generator, no gradient clipping will occur.")
    grads, order = _grads(parameters), float(norm_type)
    if not grads:
        return tensor(0.0)
    norms = [vector_norm(g, order) for g in grads]
    total = vector_norm(stack([n.to(norms[0].device) for n in norms]), order)
    if error_if_nonfinite and not total.isfinite().item():
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    scale = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
    for g in grads:
        g.mul_(scale.to(g.device))
    return total


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Cut every gradient's elements off at plus and minus `clip_value`."""
    for g in _grads(parameters):
        g.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The parameters' elements in one vector, recorded."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters look at slices of a vector. TypeError if it is no tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for p in parameters:
        p.data = vec[at : at + p.numel()].view_as(p).data
        at += p.numel()


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.utils' has no attribute '{}'", name)
