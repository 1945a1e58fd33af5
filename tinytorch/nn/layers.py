"""Layers that hold parameters.

Source: `torch.nn`.
"""

from __future__ import annotations

import math
from typing import Any

from ..ops.added import linear
from ..ops.core import FUNCTIONS
from ..tensor import Tensor
from . import init
from .hard_slopes import prelu
from .init import constant_
from .module import Module
from .parameter import Parameter


class Identity(Module):
    """Gives its input back."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input itself."""
        return input


class Linear(Module):
    """`x @ weight.T + bias`: x (..., in_features), weight (out_features, in_features), bias (out_features)."""

    __constants__ = ["in_features", "out_features"]  # noqa: RUF012 - as it is in torch

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        empty = FUNCTIONS["empty"]
        self.weight = Parameter(empty((out_features, in_features), dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill weight and bias with torch's initial numbers."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.size(1)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """`input @ weight.T + bias`, of shape (..., out_features)."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class PReLU(Module):
    """x where positive, else x times a weight that is trained: one, or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = Parameter(FUNCTIONS["empty"](num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill the weight with its first value."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """The activation, in the input's shape."""
        return prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        return f"num_parameters={self.num_parameters}"


__all__ = ["Identity", "Linear", "PReLU"]
