"""Activations and dropout as modules.

Source: `torch.nn`.
"""

from __future__ import annotations

from typing import Any

from ..warn import warn_user
from . import functional as F
from .layer import REQUIRED, layer

# pointwise ------------------------------------------------------------------------------------------------------------

ReLU = layer("ReLU", lambda m, x: F.relu(x, m.inplace), "x where positive, else 0.", "inplace", inplace=False)
ReLU6 = layer("ReLU6", lambda m, x: F.relu6(x, m.inplace), "x held between 0 and 6.", "inplace", inplace=False)
Sigmoid = layer("Sigmoid", lambda m, x: x.sigmoid(), "1 / (1 + exp(-x)).")
Tanh = layer("Tanh", lambda m, x: x.tanh(), "Hyperbolic tangent.")
LeakyReLU = layer("LeakyReLU", lambda m, x: F.leaky_relu(x, m.negative_slope, m.inplace), "x, with a small slope below 0.",
                  "negative_slope inplace", negative_slope=0.01, inplace=False)  # fmt: skip
ELU = layer("ELU", lambda m, x: F.elu(x, m.alpha, m.inplace), "x where positive, else alpha (exp(x) - 1).", "alpha inplace",
            alpha=1.0, inplace=False)  # fmt: skip
SELU = layer(
    "SELU", lambda m, x: F.selu(x, m.inplace), "ELU that keeps mean 0 and variance 1.", "inplace", inplace=False
)
CELU = layer("CELU", lambda m, x: F.celu(x, m.alpha, m.inplace), "ELU whose slope is continuous.", "alpha inplace",
             alpha=1.0, inplace=False)  # fmt: skip
GELU = layer("GELU", lambda m, x: F.gelu(x, approximate=m.approximate), "x times the normal distribution function of x.",
             "approximate={approximate!r}", approximate="none")  # fmt: skip
SiLU = layer("SiLU", lambda m, x: F.silu(x, m.inplace), "x times sigmoid(x).", "inplace", inplace=False)
Mish = layer("Mish", lambda m, x: F.mish(x, m.inplace), "x times tanh(softplus(x)).", "inplace", inplace=False)
Softplus = layer("Softplus", lambda m, x: F.softplus(x, m.beta, m.threshold), "A smooth ReLU.", "beta threshold",
                 beta=1.0, threshold=20.0)  # fmt: skip
LogSigmoid = layer("LogSigmoid", lambda m, x: F.logsigmoid(x), "The logarithm of sigmoid(x).")
Softsign = layer("Softsign", lambda m, x: F.softsign(x), "x / (1 + |x|).")
Tanhshrink = layer("Tanhshrink", lambda m, x: F.tanhshrink(x), "x - tanh(x).")
Hardshrink = layer("Hardshrink", lambda m, x: F.hardshrink(x, m.lambd), "x further from 0 than lambd, else 0.", "{lambd}",
                   lambd=0.5)  # fmt: skip
Softshrink = layer(
    "Softshrink", lambda m, x: F.softshrink(x, m.lambd), "x moved towards 0 by lambd.", "{lambd}", lambd=0.5
)
Hardsigmoid = layer(
    "Hardsigmoid", lambda m, x: F.hardsigmoid(x, m.inplace), "x / 6 + 1/2 between 0 and 1.", inplace=False
)
Hardswish = layer("Hardswish", lambda m, x: F.hardswish(x, m.inplace), "x times hardsigmoid(x).", inplace=False)
Threshold = layer("Threshold", lambda m, x: F.threshold(x, m.threshold, m.value, m.inplace), "x above a bound, else a value.",
                  "threshold value inplace", threshold=REQUIRED, value=REQUIRED, inplace=False)  # fmt: skip


def _hardtanh_options(module: Any, values: dict[str, Any]) -> None:
    for old, new in (("min_value", "min_val"), ("max_value", "max_val")):
        given = values.pop(old)
        if given is not None:
            warn_user(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning)
            values[new] = given
    low, high = values["min_val"], values["max_val"]
    if high <= low:
        raise AssertionError(f"max_val ({high}) must be greater than min_val ({low})")
    vars(module).update(values)


Hardtanh = layer("Hardtanh", lambda m, x: F.hardtanh(x, m.min_val, m.max_val, m.inplace), "x held between two bounds.",
                 "min_val max_val inplace", set_up=_hardtanh_options, min_val=-1.0, max_val=1.0, inplace=False, min_value=None,
                 max_value=None)  # fmt: skip

# along a dimension ------------------------------------------------------------------------------------------------------

Softmin = layer("Softmin", lambda m, x: F.softmin(x, m.dim), "Softmax of -x.", "dim", dim=None)
Softmax = layer("Softmax", lambda m, x: F.softmax(x, m.dim), "exp(x) scaled to sum to 1.", "dim", dim=None)
LogSoftmax = layer("LogSoftmax", lambda m, x: F.log_softmax(x, m.dim), "The logarithm of softmax.", "dim", dim=None)


def _softmax_of_channels(x: Any) -> Any:
    if x.dim() not in (3, 4):
        raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {x.dim()}D instead")
    return F.softmax(x, -3)


Softmax2d = layer(
    "Softmax2d", lambda m, x: _softmax_of_channels(x), "Softmax over channels: x (N, C, H, W) or (C, H, W)."
)
GLU = layer("GLU", lambda m, x: F.glu(x, m.dim), "Half of a dimension, gated by the other half.", "dim", dim=-1)

# shapes and dropout ---------------------------------------------------------------------------------------------------

Flatten = layer("Flatten", lambda m, x: x.flatten(m.start_dim, m.end_dim), "Several dimensions into one.",
                "start_dim end_dim", start_dim=1, end_dim=-1)  # fmt: skip


def _unflatten_options(module: Any, values: dict[str, Any]) -> None:
    size = values["unflattened_size"]
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(size).__name__}")
    for i, n in enumerate(size):
        if not isinstance(n, int):
            raise TypeError(
                f"unflattened_size must be tuple of ints, but found element of type {type(n).__name__} at pos {i}"
            )
    vars(module).update(values)


Unflatten = layer("Unflatten", lambda m, x: x.unflatten(m.dim, m.unflattened_size), "One dimension into several.",
                  "dim unflattened_size", set_up=_unflatten_options, dim=REQUIRED, unflattened_size=REQUIRED)  # fmt: skip


def _dropout_options(module: Any, values: dict[str, Any]) -> None:
    if values["p"] < 0 or values["p"] > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {values['p']}")
    vars(module).update(values)


def _dropout(name: str, function: str, what: str) -> type:
    return layer(name, lambda m, x: getattr(F, function)(x, m.p, m.training, m.inplace), what, "p={p}, inplace={inplace}",
                 base="_DropoutNd", set_up=_dropout_options, p=0.5, inplace=False)  # fmt: skip


Dropout = _dropout("Dropout", "dropout", "In training, zeroes elements at random.")
Dropout1d = _dropout("Dropout1d", "dropout1d", "In training, zeroes channels at random: input (N, C, L) or (C, L).")
Dropout2d = _dropout("Dropout2d", "dropout2d", "In training, zeroes channels at random: input (N, C, H, W).")
Dropout3d = _dropout("Dropout3d", "dropout3d", "In training, zeroes channels at random: input (N, C, D, H, W).")
AlphaDropout = layer("AlphaDropout", lambda m, x: F.alpha_dropout(x, m.p, m.training), "Dropout for SELU networks.",
                     "p={p}, inplace={inplace}", base="_DropoutNd", set_up=_dropout_options, p=0.5, inplace=False)  # fmt: skip
FeatureAlphaDropout = layer("FeatureAlphaDropout", lambda m, x: F.feature_alpha_dropout(x, m.p, m.training),
                            "`AlphaDropout` of whole channels.", "p={p}, inplace={inplace}", base="_DropoutNd",
                            set_up=_dropout_options, p=0.5, inplace=False)  # fmt: skip

__all__ = ["CELU", "ELU", "GELU", "GLU", "SELU", "AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
           "FeatureAlphaDropout", "Flatten", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
           "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin",
           "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold", "Unflatten"]  # fmt: skip
