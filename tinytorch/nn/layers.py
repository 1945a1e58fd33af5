"""Layers, losses and containers: each layer calls a function of `functional`. Source: `torch.nn.modules`."""

from __future__ import annotations

import inspect
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import index
from typing import Any, Self

from ..ops.creation import empty
from ..ops.define import elsewhere
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module, ModuleMeta
from .parameter import Parameter

_empty = elsewhere(empty)


class Linear(Module):
    """`x @ weight.T + bias`: x (..., in_features), weight (out_features, in_features), bias (out_features)."""

    shown_as = "torch.nn.modules.linear.Linear"

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_empty((out_features, in_features), dtype=dtype, device=device))
        self.register_parameter("bias", Parameter(_empty((out_features,), dtype=dtype, device=device)) if bias else None)  # fmt: skip
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill weight and bias with torch's initial numbers."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """`input @ weight.T + bias`, of shape (..., out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _layer(name: str, place: str, what: str, forward: Callable, **options: Any) -> type:
    """A module without parameters of its own, whose options are attributes and are printed."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(n, kind, default=v) for n, v in options.items()])

    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    def extra_repr(self: Any) -> str:
        """The options, as the layer prints them."""
        shown = {n: getattr(self, n) for n in options if n != "reduction"}
        return ", ".join([f"{n}={v}" for n, v in shown.items() if v or len(options) > 1])  # of ReLU not `inplace=False`

    forward.__doc__, forward.__name__, forward.__qualname__ = what, "forward", f"{name}.forward"
    construct.__signature__ = signature  # type: ignore[attr-defined]
    body = {"__init__": construct, "forward": forward, "extra_repr": extra_repr, "__doc__": what}
    return ModuleMeta(name, (Module,), {**body, "__module__": __name__, "shown_as": f"torch.nn.modules.{place}.{name}"})


def _loss(function: Callable, name: str, what: str) -> type:
    def forward(self: Any, input: Tensor, target: Tensor) -> Tensor:
        return function(input, target, reduction=self.reduction)

    return _layer(name, "loss", what, forward, reduction="mean")


# fmt: off
Identity = _layer("Identity", "linear", "Gives its input back.", lambda self, input: input)
Dropout = _layer("Dropout", "dropout", "In training, zeroes elements at random.",
                 lambda self, input: F.dropout(input, self.p, self.training, self.inplace), p=0.5, inplace=False)
ReLU = _layer("ReLU", "activation", "x where positive, else 0.", lambda self, input: F.relu(input, self.inplace), inplace=False)
Sigmoid = _layer("Sigmoid", "activation", "1 / (1 + exp(-x)).", lambda self, input: input.sigmoid())
Tanh = _layer("Tanh", "activation", "Hyperbolic tangent.", lambda self, input: input.tanh())
Softmax = _layer("Softmax", "activation", "exp(x) scaled to sum to 1 along a dimension.",
                 lambda self, input: F.softmax(input, self.dim), dim=None)
Flatten = _layer("Flatten", "flatten", "Several dimensions into one.",
                 lambda self, input: input.flatten(self.start_dim, self.end_dim), start_dim=1, end_dim=-1)
MSELoss = _loss(F.mse_loss, "MSELoss", "Squared differences.")
BCEWithLogitsLoss = _loss(F.binary_cross_entropy_with_logits, "BCEWithLogitsLoss", "Cross entropy of sigmoid(input).")
NLLLoss = _loss(F.nll_loss, "NLLLoss", "Minus the log-probability of the right class.")
CrossEntropyLoss = _loss(F.cross_entropy, "CrossEntropyLoss", "Cross entropy of softmax(input).")
# fmt: on


class _Numbered(Module):
    """What Sequential and ModuleList share: modules by their position."""

    def _name_at(self, i: int) -> str:
        if not -len(self) <= index(i) < len(self):
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, i: int | slice) -> Any:
        return self._sliced(i) if isinstance(i, slice) else self._modules[self._name_at(i)]

    def __setitem__(self, i: int, module: Module) -> None:
        setattr(self, self._name_at(i), module)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self


class Sequential(_Numbered):
    """Modules one after another: given in order, or as an OrderedDict with names."""

    shown_as = "torch.nn.modules.container.Sequential"

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else ((str(i), m) for i, m in enumerate(args)):
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Call the modules one after another, each on what the one before returned."""
        for module in self:
            input = module(input)
        return input

    def _sliced(self, i: slice) -> Sequential:
        return type(self)(OrderedDict(list(self._modules.items())[i]))


class ModuleList(_Numbered):
    """Modules in a list that registers them."""

    shown_as = "torch.nn.modules.container.ModuleList"

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def _sliced(self, i: slice) -> ModuleList:
        return type(self)(list(self)[i])

    def _shown(self) -> list[str]:
        lines = []
        for text, run in groupby(range(len(self)), [repr(module) for module in self].__getitem__):
            first, *rest = run  # equal modules in a row print as one
            lines.append(f"({first}-{rest[-1]}): {len(rest) + 1} x {text}" if rest else f"({first}): {text}")
        return lines
