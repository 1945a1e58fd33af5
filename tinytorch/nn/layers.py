"""Layers and losses as modules: each calls a function of `functional` with its options. Source: `torch.nn.modules`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from ..ops.creation import empty
from ..ops.define import elsewhere
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

_empty = elsewhere(empty)


class Identity(Module):
    """Gives its input back."""

    _place = "linear"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input itself."""
        return input


class Linear(Module):
    """`x @ weight.T + bias`: x (..., in_features), weight (out_features, in_features), bias (out_features)."""

    _place = "linear"

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_empty((out_features, in_features), dtype=dtype, device=device))
        self.register_parameter(
            "bias", Parameter(_empty((out_features,), dtype=dtype, device=device)) if bias else None
        )
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


def _layer(
    name: str,
    place: str,
    what: str,
    forward: Callable,
    shown: str = "",
    check: Any = None,
    base: str = "",
    **options: Any,
) -> type:
    """A module without parameters of its own. `shown` says which of its options it prints, `inplace` only if it is on."""
    takes = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v) for n, v in options.items()]
    signature = inspect.Signature(takes)

    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{base or name}.__init__() {error}") from None
        bound.apply_defaults()
        values = check(bound.arguments) if check else bound.arguments
        for option, value in values.items():
            self.register_buffer(option, value) if option.endswith("weight") else setattr(self, option, value)

    def extra_repr(self: Any) -> str:
        if shown == "inplace":
            return "inplace=True" if self.inplace else ""
        return ", ".join([f"{n}={vars(self)[n]}" for n in shown.split()])

    forward.__doc__, extra_repr.__doc__ = what, "The options, as the layer prints them."
    forward.__name__, forward.__qualname__ = "forward", f"{name}.forward"
    construct.__name__, construct.__qualname__ = "__init__", f"{name}.__init__"
    extra_repr.__qualname__, construct.__signature__ = f"{name}.extra_repr", signature  # type: ignore[attr-defined]
    body = {"__init__": construct, "forward": forward, "extra_repr": extra_repr, "_place": place, "__doc__": what}
    return type(name, (Module,), {**body, "__module__": __name__})


def _probability(options: dict[str, Any]) -> dict[str, Any]:
    if options["p"] < 0 or options["p"] > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {options['p']}")
    return options


ReLU = _layer("ReLU", "activation", "x where positive, else 0.", lambda self, input: F.relu(input, self.inplace), "inplace",
              inplace=False)  # fmt: skip
Sigmoid = _layer("Sigmoid", "activation", "1 / (1 + exp(-x)).", lambda self, input: input.sigmoid())
Tanh = _layer("Tanh", "activation", "Hyperbolic tangent.", lambda self, input: input.tanh())
Softmax = _layer("Softmax", "activation", "exp(x) scaled to sum to 1 along a dimension.",
                 lambda self, input: F.softmax(input, self.dim), "dim", dim=None)  # fmt: skip
Flatten = _layer("Flatten", "flatten", "Several dimensions into one.",
                 lambda self, input: input.flatten(self.start_dim, self.end_dim), "start_dim end_dim", start_dim=1, end_dim=-1)  # fmt: skip
Dropout = _layer("Dropout", "dropout", "In training, zeroes elements at random.",
                 lambda self, input: F.dropout(input, self.p, self.training, self.inplace), "p inplace", _probability,
                 "_DropoutNd", p=0.5, inplace=False)  # fmt: skip


def _loss(function: Callable, name: str, what: str, base: str = "", **options: Any) -> type:
    """A loss, whose function gets all its options."""

    def forward(self: Any, input: Tensor, target: Tensor) -> Tensor:
        return function(input, target, **{n: getattr(self, n) for n in options})

    return _layer(name, "loss", what, forward, "", None, base, **options)


MSELoss = _loss(F.mse_loss, "MSELoss", "Squared differences.", "_Loss", reduction="mean")
L1Loss = _loss(F.l1_loss, "L1Loss", "Absolute differences.", "_Loss", reduction="mean")
BCELoss = _loss(F.binary_cross_entropy, "BCELoss", "Cross entropy of probabilities.", weight=None, reduction="mean")
BCEWithLogitsLoss = _loss(F.binary_cross_entropy_with_logits, "BCEWithLogitsLoss", "Cross entropy of sigmoid(input).",
                          weight=None, reduction="mean", pos_weight=None)  # fmt: skip
NLLLoss = _loss(F.nll_loss, "NLLLoss", "Minus the log-probability of the right class.", weight=None, ignore_index=-100,
                reduction="mean")  # fmt: skip
CrossEntropyLoss = _loss(F.cross_entropy, "CrossEntropyLoss", "Cross entropy of softmax(input).", weight=None,
                         ignore_index=-100, reduction="mean")  # fmt: skip
