"""Layers that hold parameters.

Source: `torch.nn`.
"""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..devices import as_device
from ..ops.added import linear
from ..ops.core import FUNCTIONS
from ..ops.shaped import filled
from ..tensor import Tensor
from . import init
from .functional import embedding
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

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        empty = FUNCTIONS["empty"]
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
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


class Embedding(Module):
    """Rows of a table, by their numbers: input int64 (...), output (..., embedding_dim)."""

    def __init__(self, num_embeddings: int, embedding_dim: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        d, where = dtype or dtypes.get_default_dtype(), as_device(device)
        self.weight = Parameter(filled((num_embeddings, embedding_dim), None, d, where))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill the table with torch's initial numbers."""
        init.normal_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """The rows that the indices name, of shape (*input.shape, embedding_dim)."""
        return embedding(input, self.weight)

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        return f"{self.num_embeddings}, {self.embedding_dim}"


__all__ = ["Embedding", "Identity", "Linear"]
