"""Layers' functions and losses, with the nodes torch gives them. Source: `torch.nn.functional`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import BY_NUM, broadcast_shape, dtype, lacking, result_layout, warn_user
from ..ops import (
    addmm,
    as_array,
    check_kernel,
    composite,
    elsewhere,
    expand,
    matmul,
    op,
    over,
    reshape,
    result_dtype,
    t,
    times,
    view,
    zeros_like,
)
from ..ops import filling as _filling
from ..ops import log_softmax as _log_softmax
from ..ops import pointwise as _pointwise
from ..ops import sigmoid as _sigmoid
from ..ops import softmax as _softmax
from ..tensor import Tensor, fresh

_HIDDEN = {"function": False, "method": False, "out": False}

# layers ---------------------------------------------------------------------------------------------------------------


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    n = input.ndim
    if not (n and weight.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {n}D and {weight.ndim}D"
        )
    if bias is None:
        return matmul(input, t(weight))
    if n == 2:
        return addmm(bias, input, t(weight))
    if not input.is_contiguous():
        return matmul(input, t(weight)).add_(bias)
    sizes = input.shape
    return view(
        addmm(bias, reshape(input, (-1, sizes[-1])), t(weight)), (*sizes[:-1], weight.shape[0])
    )


_linear_op = op(
    "linear(Tensor input, Tensor weight, Tensor? bias=None)", composite(_linear), **_HIDDEN
)
_relu = elsewhere(_pointwise.relu)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """x where positive, else 0."""
    return input.relu_() if inplace else _relu(input)


if TYPE_CHECKING:  # what these are called with, by their schemas

    def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """`input @ weight.T + bias`."""

    def relu_(input: Tensor) -> Tensor:
        """x where positive, else 0, in place."""

    def sigmoid(input: Tensor) -> Tensor:
        """1 / (1 + exp(-x))."""

    def tanh(input: Tensor) -> Tensor:
        """Hyperbolic tangent."""

    def softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
        """exp(x) scaled to sum to 1 along a dimension."""

    def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
        """The logarithm of softmax along a dimension."""

else:
    linear, softmax, log_softmax = (
        elsewhere(_linear_op),
        elsewhere(_softmax),
        elsewhere(_log_softmax),
    )
    relu_, sigmoid, tanh = Tensor.relu_, Tensor.sigmoid, Tensor.tanh
_dropout, _dropout_ = elsewhere(_filling.dropout), elsewhere(_filling.dropout_)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, elements set to zero with probability p and the others scaled. ValueError for p outside [0, 1]."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return (_dropout_ if inplace else _dropout)(input, p, training)


# losses ---------------------------------------------------------------------------------------------------------------

_NONE, _MEAN, _SUM = range(3)
_NUMBERS = {"none": _NONE, "mean": _MEAN, "sum": _SUM}


def _number(reduction: str) -> int:
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def _reduced(losses: np.ndarray, reduction: int) -> np.ndarray:
    if reduction == _NONE:
        return losses
    total = np.add.reduce(losses, None)
    return total / losses.dtype.type(losses.size) if reduction == _MEAN else total


def _mse(a: np.ndarray, b: np.ndarray, reduction: int) -> np.ndarray:
    kind = result_dtype(a, b)
    check_kernel(kind.np, "f", "mse_cpu")
    a, b = as_array(a, kind), as_array(b, kind)
    d = result_layout(np.subtract(a, b), a, b)
    return _reduced(np.multiply(d, d, d if d.ndim else None), reduction)


def _mse_slope(grad: Any, a: Any, b: Any, reduction: int) -> Any:
    return (a - b) * (over(grad, math.prod(a.shape) / 2) if reduction == _MEAN else times(grad, 2))


_mse_loss = op("mse_loss(Tensor self, Tensor target, int reduction=1)", _mse, **_HIDDEN,
               self=lambda grad, self, target, reduction: _mse_slope(grad, self, target, reduction),
               target=lambda grad, self, target, reduction: _mse_slope(grad, target, self, reduction))  # fmt: skip


def _alike(input: Tensor, target: Tensor) -> tuple:
    if target.shape == input.shape:
        return input, target
    warn_user(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.")  # fmt: skip
    shape = broadcast_shape(input.shape, target.shape)
    return tuple([x if x.shape == shape else expand(x, shape) for x in (input, target)])


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The squared differences, averaged, summed or as they are."""
    return _mse_loss(*_alike(input, target), _number(reduction))


def _slope(slope: Any, grad: Any, reduction: int) -> Any:
    slope = slope * grad
    return over(slope, math.prod(slope.shape)) if reduction == _MEAN else slope


def _logits(
    x: np.ndarray, y: np.ndarray, weight: None, pos_weight: None, reduction: int
) -> np.ndarray:
    far = np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0)  # log(1 + exp(-x)) without overflow
    return _reduced(((1 - y) * x + far).astype(y.dtype, copy=False), reduction)


_logits_loss = op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)",
    _logits, **_HIDDEN, also=("weight", "pos_weight"),
    self=lambda grad, self, target, reduction: _slope(_sigmoid(self) - target, grad, reduction),
    target=lambda grad, self, reduction: _slope(-self, grad, reduction))  # fmt: skip


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, *, reduction: str = "mean"
) -> Tensor:
    """The cross entropy of sigmoid(input) with targets between 0 and 1. ValueError for shapes that differ."""
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _logits_loss(input, target, None, None, _number(reduction))


def _places(a: np.ndarray, y: np.ndarray) -> tuple:
    """Where the right classes are in rows of the input. IndexError for one that is none."""
    batch = y.shape[0] if y.ndim else 0
    if a.shape[:-1] != y.shape and a.ndim == 2:
        raise ValueError(
            f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({batch})."
        )
    if a.ndim not in (1, 2) or y.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if y.dtype.char not in "lqB":
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {BY_NUM[y.dtype.num].scalar_name}"
        )
    index = y.reshape(-1)
    bad = (index < 0) | (index >= a.shape[-1])
    if bad.any():
        raise IndexError(f"Target {int(index[bad][0])} is out of bounds.")
    return np.arange(index.size), index


def _nll_slope(
    grad: Any, a: Any, y: Any, weight: None, reduction: int, ignore_index: int, total: Any
) -> np.ndarray:
    out = np.zeros(a.shape, a.dtype)
    out.reshape(-1, a.shape[-1])[_places(a, y)] = -grad.reshape(-1) / (
        total if reduction == _MEAN else 1
    )
    return out


# what torch saves beside the rest: a number without a sign, and what the targets count together
_SAVED = {
    "ignore_index": lambda values: -100 % (1 << 64),
    "total_weight": lambda values: fresh(
        np.asarray(values[1]._data.size, values[0]._data.dtype), values[0].device
    ),
}
_nll_backward = op(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight)",
    _nll_slope, **_HIDDEN, backward="NllLossBackwardBackward0", keeps={"ignore_index": _SAVED["ignore_index"]},
    self=lambda grad: zeros_like(grad),
    grad_output=lambda grad, target, weight, reduction, ignore_index: (
        _nll_loss(grad, target, weight, reduction, ignore_index)))  # fmt: skip
_nll_loss = op(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100)",
    lambda a, y, weight, reduction, ignore_index: _reduced(
        -a.reshape(-1, a.shape[-1])[_places(a, y)].reshape(y.shape), reduction), **_HIDDEN,
    keeps=_SAVED, self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: _nll_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight))  # fmt: skip


def nll_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Minus the log-probability of the right class: input (N, C) or (C), target int64 (N) or ()."""
    return _nll_loss(input, target, None, _number(reduction))


def cross_entropy(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The cross entropy of softmax(input) with classes: input (N, C) or (C), target int64 (N) or ()."""
    return nll_loss(_log_softmax(input, 0 if input.ndim == 1 else 1), target, reduction=reduction)


__all__ = ["binary_cross_entropy_with_logits", "cross_entropy", "dropout", "linear",
           "log_softmax", "mse_loss", "nll_loss", "relu", "relu_", "sigmoid", "softmax", "tanh"]  # fmt: skip
if not TYPE_CHECKING:  # type checkers say so themselves
    __getattr__ = lacking("torch.nn.functional")
