"""Activations, dropout and losses as modules: each calls its function and shows its options.

Source: `torch.nn`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from ..warn import warn_user
from . import functional as F
from .module import Module


def _layer(name: str, function: Callable, what: str, shown: str = "{}", **defaults: Any) -> type:
    """A module without parameters: `function(input, **options)`. `shown` says how its options print."""
    names = list(defaults)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - becomes the class's
        Module.__init__(self)
        values = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        unknown = set(values) - set(names)
        if unknown or len(args) > len(names):
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(unknown), len(args))}'")
        if name == "Dropout" and not 0 <= values["p"] <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {values['p']}")
        if values.get("size_average") is not None or values.get("reduce") is not None:
            values["reduction"] = (
                "none" if values["reduce"] is False else "sum" if values["size_average"] is False else "mean"
            )
            warn_user(
                f"size_average and reduce args will be deprecated, please use reduction='{values['reduction']}' instead."
            )
        for option, value in values.items():
            if option in ("weight", "pos_weight"):
                self.register_buffer(option, value)
            elif option not in ("size_average", "reduce"):
                setattr(self, option, value)

    def forward(self: Any, *inputs: Tensor) -> Tensor:
        """Call the layer's function on the inputs with the layer's options."""
        return function(self, *inputs)

    def extra_repr(self: Any) -> str:
        """The options, as the layer prints them."""
        if shown == "inplace":
            return "inplace=True" if self.inplace else ""
        return ", ".join(f"{n}={getattr(self, n)!r}" for n in names if n in shown.split())

    body = {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": f"{what}\n\nSource: `torch.nn.{name}`.",
            "__module__": __name__, "__constants__": names}  # fmt: skip
    return type(name, (Module,), body)


ReLU = _layer("ReLU", lambda m, x: F.relu(x, m.inplace), "x where positive, else 0.", "inplace", inplace=False)
Sigmoid = _layer("Sigmoid", lambda m, x: x.sigmoid(), "1 / (1 + exp(-x)).")
Tanh = _layer("Tanh", lambda m, x: x.tanh(), "Hyperbolic tangent.")
LeakyReLU = _layer("LeakyReLU", lambda m, x: F.leaky_relu(x, m.negative_slope), "x, with a small slope below 0.",
                   "negative_slope", negative_slope=0.01, inplace=False)  # fmt: skip
ELU = _layer(
    "ELU",
    lambda m, x: F.elu(x, m.alpha),
    "x where positive, else alpha (exp(x) - 1).",
    "alpha",
    alpha=1.0,
    inplace=False,
)
GELU = _layer("GELU", lambda m, x: F.gelu(x, approximate=m.approximate), "x times the normal distribution function of x.",
              "approximate", approximate="none")  # fmt: skip
LogSigmoid = _layer("LogSigmoid", lambda m, x: F.logsigmoid(x), "The logarithm of sigmoid(x).")
Unflatten = _layer("Unflatten", lambda m, x: x.unflatten(m.dim, m.unflattened_size), "One dimension into several.",
                   "dim unflattened_size", dim=None, unflattened_size=None)  # fmt: skip
Softmin = _layer("Softmin", lambda m, x: F.softmin(x, m.dim), "Softmax of -x.", "dim", dim=None)
SiLU = _layer("SiLU", lambda m, x: F.silu(x), "x times sigmoid(x).", "inplace", inplace=False)
Softplus = _layer("Softplus", lambda m, x: F.softplus(x, m.beta, m.threshold), "A smooth ReLU.", "beta threshold",
                  beta=1.0, threshold=20.0)  # fmt: skip
Softmax = _layer("Softmax", lambda m, x: F.softmax(x, m.dim), "exp(x) scaled to sum to 1.", "dim", dim=None)
LogSoftmax = _layer("LogSoftmax", lambda m, x: F.log_softmax(x, m.dim), "The logarithm of softmax.", "dim", dim=None)
Flatten = _layer("Flatten", lambda m, x: x.flatten(m.start_dim, m.end_dim), "Several dimensions into one.",
                 "start_dim end_dim", start_dim=1, end_dim=-1)  # fmt: skip
Dropout = _layer("Dropout", lambda m, x: F.dropout(x, m.p, m.training, m.inplace), "In training, zeroes elements at random.",
                 "p inplace", p=0.5, inplace=False)  # fmt: skip

_LOSS = {"size_average": None, "reduce": None, "reduction": "mean"}
MSELoss = _layer("MSELoss", lambda m, x, t: F.mse_loss(x, t, reduction=m.reduction), "Squared differences.", **_LOSS)
L1Loss = _layer("L1Loss", lambda m, x, t: F.l1_loss(x, t, reduction=m.reduction), "Absolute differences.", **_LOSS)
SmoothL1Loss = _layer("SmoothL1Loss", lambda m, x, t: F.smooth_l1_loss(x, t, reduction=m.reduction, beta=m.beta),
                      "Squared differences near 0, absolute ones beyond.", **_LOSS, beta=1.0)  # fmt: skip
HuberLoss = _layer("HuberLoss", lambda m, x, t: F.huber_loss(x, t, m.reduction, m.delta),
                   "Squared differences near 0, linear beyond.", reduction="mean", delta=1.0)  # fmt: skip
BCELoss = _layer("BCELoss", lambda m, x, t: F.binary_cross_entropy(x, t, m.weight, reduction=m.reduction),
                 "Cross entropy of probabilities.", weight=None, **_LOSS)  # fmt: skip
BCEWithLogitsLoss = _layer(
    "BCEWithLogitsLoss",
    lambda m, x, t: F.binary_cross_entropy_with_logits(x, t, m.weight, reduction=m.reduction, pos_weight=m.pos_weight),
    "Cross entropy of sigmoid(input).", weight=None, **_LOSS, pos_weight=None,
)  # fmt: skip
NLLLoss = _layer("NLLLoss", lambda m, x, t: F.nll_loss(x, t, m.weight, ignore_index=m.ignore_index, reduction=m.reduction),
                 "Minus the log-probability of the right class.", weight=None, size_average=None, ignore_index=-100,
                 reduce=None, reduction="mean")  # fmt: skip
CrossEntropyLoss = _layer(
    "CrossEntropyLoss",
    lambda m, x, t: F.cross_entropy(
        x, t, m.weight, ignore_index=m.ignore_index, reduction=m.reduction, label_smoothing=m.label_smoothing
    ),
    "Cross entropy of softmax(input).", weight=None, size_average=None, ignore_index=-100, reduce=None,
    reduction="mean", label_smoothing=0.0,
)  # fmt: skip
KLDivLoss = _layer("KLDivLoss", lambda m, x, t: F.kl_div(x, t, reduction=m.reduction, log_target=m.log_target),
                   "The Kullback-Leibler divergence.", **_LOSS, log_target=False)  # fmt: skip

__all__ = ["ELU", "GELU", "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "Dropout", "Flatten", "HuberLoss", "KLDivLoss",
           "L1Loss", "LeakyReLU", "LogSigmoid", "LogSoftmax", "MSELoss", "NLLLoss", "ReLU", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "Softmin",
           "Softplus", "Tanh", "Unflatten"]  # fmt: skip
