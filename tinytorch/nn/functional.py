"""Functions behind the layers.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..missing import missing
from ..ops.added import linear
from ..ops.core import (
    FUNCTIONS,
    expect_tensor,
    result,
)
from ..ops.softmax import implicit_dim
from ..tensor import Tensor
from .class_losses import cross_entropy, kl_div, nll_loss
from .compiled import PASSED, compiled
from .distance_losses import (
    cosine_embedding_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    poisson_nll_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from .distances import cosine_similarity, gumbel_softmax, pad, pairwise_distance
from .dropouts import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .embedding import embedding
from .hard_slopes import (
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    mish,
    prelu,
    relu6,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
    threshold_,
)
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from .normalization import batch_norm, layer_norm
from .slopes import celu, elu, gelu, leaky_relu, logsigmoid, selu, silu, softplus


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """x where positive, else 0."""
    expect_tensor(input, "relu")
    return input.relu_() if inplace else input.relu()


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu in place."""
    return elu(input, alpha, True)


def selu_(input: Tensor) -> Tensor:
    """selu in place."""
    return selu(input, True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu in place."""
    return celu(input, alpha, True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu in place."""
    return leaky_relu(input, negative_slope, True)


def relu_(input: Tensor) -> Tensor:
    """x where positive, else 0. In place."""
    return FUNCTIONS["relu_"](input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) scaled to sum to 1 along a dimension."""
    return input.softmax(implicit_dim("softmax", dim, input.dim()), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax."""
    return input.log_softmax(implicit_dim("log_softmax", dim, input.dim()), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Softmax of -x."""
    return (-input).softmax(implicit_dim("softmin", dim, input.dim()), dtype=dtype)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """x divided by its norm along a dimension, or by `eps` where the norm is smaller."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 at each number's place: input int64 (...), output int64 (..., num_classes). RuntimeError out of range."""
    if tensor.dtype.called != "int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    a = tensor._data
    if not a.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if a.size and a.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    n = int(a.max()) + 1 if num_classes == -1 else num_classes
    if a.size and a.max() >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return result((a[..., None] == np.arange(n)).astype(np.int64), tensor._device)


for _name in PASSED:
    globals()[_name] = compiled(_name, globals()[_name])


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.functional' has no attribute '{}'", name)


__all__ = [
    "alpha_dropout",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "feature_alpha_dropout",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
]
