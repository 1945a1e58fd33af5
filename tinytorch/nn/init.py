"""Initializing parameters, with PyTorch's numbers. Source: `torch.nn.init`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base import make_module_getattr, refuse_keywords, warn_user
from ..graph import no_grad
from ..ops import empty_like, eye, make_function_of, where
from ..tensor import Tensor

_eye = make_function_of(eye, out=True)


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


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill from the normal distribution, with numbers from `a` to `b` only."""
    if tensor.is_meta:  # never; but PyTorch asks it first, also of what is no tensor
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warn_user(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect."
        )
    share = _normal_share_below((b - mean) / std) - _normal_share_below((a - mean) / std)
    draw = _draw_normal_until_within if share > 0.3 else _draw_uniform_until_accepted
    with no_grad():
        draw(tensor, mean, std, a, b, generator)
    return tensor


def _normal_share_below(x: float) -> float:
    """Return the probability that a standard normal number is below `x`."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _draw_normal_until_within(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Draw normal numbers, and draw all anew as long as some are out of bounds."""
    # As the tensor's dtype rounds them.
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    drawn = tensor.normal_(mean, std, generator=generator)
    while (is_outside := (drawn < low) | (drawn > high)).any():
        drawn = where(is_outside, empty_like(drawn).normal_(mean, std, generator=generator), drawn)
    if drawn is not tensor:
        tensor.copy_(drawn)


def _draw_uniform_until_accepted(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Draw uniform numbers, and accept each with the probability that its density has there."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    chances, candidates = empty_like(tensor), empty_like(tensor)

    def is_refused() -> Tensor:
        candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chances.uniform_(generator=generator).log_().gt(candidates)

    drawn = tensor.uniform_(a, b, generator=generator)
    candidates.copy_(tensor)
    is_pending = is_refused()
    while is_pending.any():
        candidates.uniform_(a, b, generator=generator)
        drawn = where(is_pending, candidates, drawn)
        is_pending = where(is_pending, is_refused(), is_pending)
    if drawn is not tensor:
        tensor.copy_(drawn)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return tensor.fill_(val)


@no_grad()
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return tensor.zero_()


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it preserves its input, in each of the groups.

    ValueError unless the tensor has 3 to 5 dimensions, and groups of one size.
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    channels_of_group = tensor.shape[0] // groups
    middle = tuple([n // 2 for n in tensor.shape[2:]])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(channels_of_group, tensor.shape[1])):
                tensor[(group * channels_of_group + channel, channel, *middle)] = 1
    return tensor


def eye_(tensor: Tensor) -> Tensor:
    """Fill with the identity matrix. ValueError unless the tensor has two dimensions."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        _eye(*tensor.shape, out=tensor, requires_grad=tensor.requires_grad)
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill uniformly so that forward and backward keep the variance (Glorot)."""
    # Computed in PyTorch's order, so that the bounds agree to the last bit.
    std = gain * math.sqrt(2.0 / float(sum(_fan_in_and_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers so that forward and backward keep the variance (Glorot)."""
    std = gain * math.sqrt(2.0 / float(sum(_fan_in_and_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def _find_std_for_rectifier(tensor: Tensor, a: float | None) -> float | None:
    """Return the standard deviation for a leaky rectifier whose negative slope is `a` (He).

    None, with PyTorch's warning, for a tensor without elements.
    """
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return None
    fan_in, _ = _fan_in_and_out(tensor)
    if a is None:
        a = 0.01
    elif isinstance(a, bool) or not isinstance(a, (int, float)):
        raise ValueError(f"negative_slope {a} not a valid number")
    return math.sqrt(2.0 / (1 + a**2)) / math.sqrt(fan_in)


@refuse_keywords("mode", "nonlinearity")
def kaiming_uniform_(tensor: Tensor, a: float = 0, *, generator: Any = None) -> Tensor:
    """Fill uniformly, scaled for a leaky rectifier whose negative slope is `a` (He)."""
    std = _find_std_for_rectifier(tensor, a)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


@refuse_keywords("mode", "nonlinearity")
def kaiming_normal_(tensor: Tensor, a: float = 0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers, scaled for a leaky rectifier whose negative slope is `a` (He)."""
    std = _find_std_for_rectifier(tensor, a)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


__all__ = [
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]
if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.nn.init")
