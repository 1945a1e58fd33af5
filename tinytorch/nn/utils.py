"""Clipping gradients. Source: `torch.nn.utils`."""

from __future__ import annotations

from typing import Any

from ..autograd.modes import no_grad
from ..errors import missing
from ..ops.from_data import tensor
from ..ops.parts import stack
from ..ops.reductions import vector_norm
from ..tensor import Tensor


def _grads(parameters: Any) -> list[Tensor]:
    return [p.grad for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.grad is not None]


@no_grad()
def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale the gradients so that their norm is at most `max_norm`; the norm before is returned."""
    grads, order = _grads(parameters), float(norm_type)
    if not grads:
        return tensor(0.0)
    total = vector_norm(stack([vector_norm(g, order) for g in grads]), order)
    scale = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
    for g in grads:
        g.mul_(scale)
    return total


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Cut every gradient's elements off at plus and minus `clip_value`."""
    for g in _grads(parameters):
        g.clamp_(-float(clip_value), float(clip_value))


__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.utils' has no attribute '{}'", name)
