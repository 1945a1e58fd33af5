"""Initializing parameters, with PyTorch's numbers. Source: `torch.nn.init`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base import make_module_getattr, refuse_keywords, warn_user
from ..graph import no_grad
from ..tensor import Tensor


def _fan_in_and_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive_field, tensor.shape[0] * receptive_field


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from the uniform distribution on [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from the normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill uniformly so that forward and backward keep the variance (Glorot)."""
    # Computed in PyTorch's order, so that the bounds agree to the last bit.
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(sum(_fan_in_and_out(tensor))))
    return uniform_(tensor, -bound, bound, generator)


@refuse_keywords("mode", "nonlinearity")
def kaiming_uniform_(tensor: Tensor, a: float = 0, *, generator: Any = None) -> Tensor:
    """Fill uniformly, scaled for a leaky rectifier whose negative slope is `a` (He)."""
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return tensor
    fan_in, _ = _fan_in_and_out(tensor)
    bound = math.sqrt(3.0) * (math.sqrt(2.0 / (1 + a**2)) / math.sqrt(fan_in))
    return uniform_(tensor, -bound, bound, generator)


__all__ = [
    "constant_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "uniform_",
    "xavier_uniform_",
    "zeros_",
]
if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.nn.init")
