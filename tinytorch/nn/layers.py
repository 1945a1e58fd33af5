"""Layers, losses and containers.

Each layer calls a function of `functional`. Source: `torch.nn.modules`.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import index
from typing import Any, Self, overload

from ..base import device, dtype, refuse_keywords
from ..ops import empty, make_function_of, pointwise
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

_empty = make_function_of(empty)
_sigmoid, _tanh = make_function_of(pointwise.sigmoid), make_function_of(pointwise.tanh)


class Linear(Module):
    """`x @ weight.T + bias`.

    Shapes: x (..., in_features), weight (out_features, in_features), bias (out_features).
    """

    shown_as = "torch.nn.modules.linear.Linear"
    in_features: int
    out_features: int
    weight: Tensor
    bias: Parameter

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: device | str | int | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_empty((out_features, in_features), dtype=dtype, device=device))
        # Registered even if it is None, so that `layer.bias` exists.
        bias_parameter = None
        if bias:
            bias_parameter = Parameter(_empty((out_features,), dtype=dtype, device=device))
        self.register_parameter("bias", bias_parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill weight and bias with PyTorch's initial numbers."""
        # With this slope the bound is 1 / sqrt(in_features), as it is for the bias.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return `input @ weight.T + bias`, of shape (..., out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the options, as the layer prints them."""
        features = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{features}, bias={self.bias is not None}"


class Identity(Module):
    """Returns its input."""

    shown_as = "torch.nn.modules.linear.Identity"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Dropout(Module):
    """In training, zeroes elements at random."""

    shown_as = "torch.nn.modules.dropout.Dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Zero elements at random, in training."""
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the options, as the layer prints them."""
        return f"p={self.p}, inplace={self.inplace}"


class ReLU(Module):
    """x where positive, else 0."""

    shown_as = "torch.nn.modules.activation.ReLU"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return x where positive, else 0."""
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return the options, as the layer prints them."""
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    shown_as = "torch.nn.modules.activation.Sigmoid"

    def forward(self, input: Tensor) -> Tensor:
        """Return 1 / (1 + exp(-x))."""
        return _sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent."""

    shown_as = "torch.nn.modules.activation.Tanh"

    def forward(self, input: Tensor) -> Tensor:
        """Return the hyperbolic tangent."""
        return _tanh(input)


class Softmax(Module):
    """exp(x) scaled to sum to 1 along a dimension."""

    shown_as = "torch.nn.modules.activation.Softmax"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return exp(x), scaled to sum to 1 along the dimension."""
        return F.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """Return the options, as the layer prints them."""
        return f"dim={self.dim}"


class Flatten(Module):
    """Flattens several dimensions into one."""

    shown_as = "torch.nn.modules.flatten.Flatten"

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Flatten the dimensions from `start_dim` to `end_dim`."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the options, as the layer prints them."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class _Loss(Module):
    """A loss with a reduction: "mean", "sum" or "none"."""

    # By keyword only: PyTorch has older positional arguments before it.
    @refuse_keywords(
        "weight", "size_average", "reduce", "ignore_index", "label_smoothing", "pos_weight"
    )
    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    """Squared differences."""

    shown_as = "torch.nn.modules.loss.MSELoss"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the squared differences, reduced."""
        return F.mse_loss(input, target, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of sigmoid(input)."""

    shown_as = "torch.nn.modules.loss.BCEWithLogitsLoss"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the cross entropy of sigmoid(input), reduced."""
        return F.binary_cross_entropy_with_logits(input, target, reduction=self.reduction)


class NLLLoss(_Loss):
    """Minus the log-probability of the right class."""

    shown_as = "torch.nn.modules.loss.NLLLoss"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return minus the log-probability of the right class, reduced."""
        return F.nll_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss(_Loss):
    """Cross entropy of softmax(input)."""

    shown_as = "torch.nn.modules.loss.CrossEntropyLoss"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the cross entropy of softmax(input), reduced."""
        return F.cross_entropy(input, target, reduction=self.reduction)


class _IndexedContainer(Module):
    """Base of Sequential and ModuleList: modules by their position."""

    def _name_at(self, i: int) -> str:
        if not -len(self) <= index(i) < len(self):
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, i: slice) -> Self: ...
    @overload
    def __getitem__(self, i: int) -> Module: ...
    def __getitem__(self, i: int | slice) -> Any:
        return self._make_slice(i) if isinstance(i, slice) else self._modules[self._name_at(i)]

    def __setitem__(self, i: int, module: Module) -> None:
        setattr(self, self._name_at(i), module)

    def __delitem__(self, i: int | slice) -> None:
        names = list(self._modules)[i] if isinstance(i, slice) else [self._name_at(i)]
        for name in names:
            delattr(self, name)
        # Those behind it move up, and all have numbers then, as in PyTorch.
        self._modules = OrderedDict((str(k), module) for k, module in enumerate(self))

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self


class Sequential(_IndexedContainer):
    """Chain of modules: given in order, or as an OrderedDict with names."""

    shown_as = "torch.nn.modules.container.Sequential"

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """Call the modules in order, each on the result of the previous module."""
        for module in self:
            input = module(input)
        return input

    def _make_slice(self, i: slice) -> Sequential:
        return type(self)(OrderedDict(list(self._modules.items())[i]))


class ModuleList(_IndexedContainer):
    """A list of modules, which registers them."""

    shown_as = "torch.nn.modules.container.ModuleList"

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is None:
            return
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for module in modules:
            self.append(module)

    def _make_slice(self, i: slice) -> ModuleList:
        return type(self)(list(self)[i])

    def _child_lines(self) -> list[str]:
        # As in PyTorch, equal modules in a row print as one line: `(0-2): 3 x Linear(...)`.
        lines = []
        texts = [repr(module) for module in self]
        for text, group in groupby(range(len(texts)), texts.__getitem__):
            start, *others = group
            if others:
                lines.append(f"({start}-{others[-1]}): {len(others) + 1} x {text}")
            else:
                lines.append(f"({start}): {text}")
        return lines
