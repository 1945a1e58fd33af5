"""Dropout: noise drawn and multiplied in torch's order, of elements or of whole channels.

Source: torch's `Dropout.cpp`.
"""

from __future__ import annotations

import math

from ..tensor import Tensor
from .core import FUNCTIONS, op

_SATURATION = 1.7580993408473766  # of SELU, for very negative inputs
WRONG = "dropout probability has to be between 0 and 1, but got "


def _mask(t: Tensor, channels: bool) -> Tensor:
    if not channels:
        return FUNCTIONS["empty_like"](t)
    if t.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return t.new_empty((*t.shape[:2], *[1] * (t.dim() - 2)))


def dropped(t: Tensor, p: float, training: bool, inplace: bool, channels: bool = False, selu: bool = False) -> Tensor:
    """`t` with elements (or `channels`) zeroed with probability p; for `selu`, set to what keeps mean and variance."""
    if p == 0 or not training or not t.numel():
        return t
    times = t.mul_ if inplace else t.mul
    if p == 1:
        return times(t.new_zeros(()))
    noise = _mask(t, channels).bernoulli_(1 - p)
    if not selu:
        return times(noise.div_(1 - p))
    a = 1.0 / math.sqrt((_SATURATION * _SATURATION * p + 1) * (1 - p))
    shift = noise.add(-1).mul_(_SATURATION * a).add_(_SATURATION * a * p)
    return times(noise.mul_(a)).add_(shift)


def _function(name: str, channels: bool, selu: bool, what: str) -> None:
    def function(input: Tensor, p: float, train: bool) -> Tensor:
        if not 0 <= p <= 1:
            raise RuntimeError(f"{WRONG}{p:g}")
        return dropped(input, p, train, False, channels, selu)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what} RuntimeError for p outside [0, 1].\n\nSource: `torch.{name}`."
    op(name, method=False, strict=True)(function)


_function("dropout", False, False, "In training, elements set to zero with probability p and the others scaled.")
_function("feature_dropout", True, False, "Dropout of whole channels: input (N, C, ...).")
_function("alpha_dropout", False, True, "Dropout that keeps mean 0 and variance 1 of what SELU gives.")
_function("feature_alpha_dropout", True, True, "`alpha_dropout` of whole channels: input (N, C, ...).")
