"""Layers' functions and losses, with the nodes torch gives them. Source: `torch.nn.functional`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import BY_NUM
from ..errors import missing, warn_user
from ..ops import filling as _filling
from ..ops import pointwise as _pointwise
from ..ops.creation import zeros_like
from ..ops.define import elsewhere, op
from ..ops.kernels import as_array, check_kernel, composite, result_dtype
from ..ops.layout import result_layout
from ..ops.linalg import addmm, matmul
from ..ops.parts import broadcast_tensors
from ..ops.pointwise import clamp_min, log, over, times
from ..ops.pointwise import sigmoid as _sigmoid
from ..ops.reductions import log_softmax as _log_softmax
from ..ops.views import reshape, t, view
from ..tensor import Tensor, fresh

_HIDDEN = {"function": False, "method": False, "out": False}

# layers ---------------------------------------------------------------------------------------------------------------


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    n = input.ndim
    if not (n and weight.ndim):
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {n}D and {weight.ndim}D")
    if bias is None:
        return matmul(input, t(weight))
    if n == 2:
        return addmm(bias, input, t(weight))
    if not input.is_contiguous():
        return matmul(input, t(weight)).add_(bias)
    sizes = input.shape
    return view(addmm(bias, reshape(input, (-1, sizes[-1])), t(weight)), (*sizes[:-1], weight.shape[0]))


linear = elsewhere(op("linear(Tensor input, Tensor weight, Tensor? bias=None)", composite(_linear), **_HIDDEN))
_relu = elsewhere(_pointwise.relu)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """x where positive, else 0."""
    return input.relu_() if inplace else _relu(input)


relu_, sigmoid, tanh = Tensor.relu_, Tensor.sigmoid, Tensor.tanh


def _along(name: str, input: Tensor, dim: int | None, dtype: Any) -> Tensor:
    if dim is None:
        warn_user(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")  # fmt: skip
        dim = 0 if input.dim() in (0, 1, 3) else 1
    return getattr(input, name)(dim, dtype=dtype)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) scaled to sum to 1 along a dimension."""
    return _along("softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax."""
    return _along("log_softmax", input, dim, dtype)


_dropout, _dropout_ = elsewhere(_filling.dropout), elsewhere(_filling.dropout_)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, elements set to zero with probability p and the others scaled. ValueError for p outside [0, 1]."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return (_dropout_ if inplace else _dropout)(input, p, training)


# losses that compare elements -----------------------------------------------------------------------------------------

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
    d = result_layout(np.subtract(as_array(a, kind), as_array(b, kind)), a, b)
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
    return broadcast_tensors(input, target)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The squared differences, averaged, summed or as they are."""
    return _mse_loss(*_alike(input, target), _number(reduction))


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The absolute differences, averaged, summed or as they are."""
    input, target = _alike(input, target)
    how, losses = _number(reduction), (input - target).abs()
    return losses.mean() if how == _MEAN else losses.sum() if how == _SUM else losses


def _bce(p: np.ndarray, y: np.ndarray, weight: Any, reduction: int) -> np.ndarray:
    for a, what in ((p, "input"), (y, "target")):
        if not ((a >= 0) & (a <= 1)).all():
            raise RuntimeError(f"all elements of {what} should be between 0 and 1")
    losses = (y - 1) * np.maximum(np.log1p(-p), p.dtype.type(-100)) - y * np.maximum(np.log(p), p.dtype.type(-100))
    return _reduced(losses if weight is None else losses * weight, reduction)


def _slope(slope: Any, grad: Any, weight: Any, reduction: int) -> Any:
    slope = slope * grad if weight is None else slope * grad * weight
    return over(slope, math.prod(slope.shape)) if reduction == _MEAN else slope


_bce_loss = op(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1)", _bce, **_HIDDEN,
    self=lambda grad, self, target, weight, reduction: _slope(
        (self - target) / clamp_min((1 - self) * self, 1e-12), grad, weight, reduction),
    target=lambda grad, self, weight, reduction: _slope(-(log(self) - log(1 - self)), grad, weight, reduction),
)  # fmt: skip


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean") -> Tensor:
    """The cross entropy of probabilities with targets between 0 and 1. ValueError for shapes that differ."""
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. Please ensure they have the same size.")  # fmt: skip
    if input.dtype is not target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.scalar_name} but expected {input.dtype.scalar_name}")
    return _bce_loss(input, target, weight, _number(reduction))


def _logits(x: np.ndarray, y: np.ndarray, weight: Any, pos_weight: Any, reduction: int) -> np.ndarray:
    far = np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0)  # log(1 + exp(-x)) without overflow
    losses = (1 - y) * x + (far if pos_weight is None else ((pos_weight - 1) * y + 1) * far)
    return _reduced((losses if weight is None else losses * weight).astype(y.dtype, copy=False), reduction)


def _logits_slope(self: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return _sigmoid(self) - target
    positive = pos_weight * target
    return (positive + 1 - target) * _sigmoid(self) - positive


_logits_loss = op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)",
    _logits, **_HIDDEN,
    self=lambda grad, self, target, weight, pos_weight, reduction: _slope(
        _logits_slope(self, target, pos_weight), grad, weight, reduction),
    target=lambda grad, self, weight, pos_weight, reduction: _slope(
        -self if pos_weight is None else log(_sigmoid(-self)) - log(_sigmoid(self)) * pos_weight, grad, weight, reduction),
)  # fmt: skip


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """The cross entropy of sigmoid(input) with targets between 0 and 1. ValueError for shapes that differ."""
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return _logits_loss(input, target, weight, pos_weight, _number(reduction))


# losses over classes --------------------------------------------------------------------------------------------------


def _check_classes(a: np.ndarray, y: np.ndarray, weight: Any) -> None:
    batch = y.shape[0] if y.ndim else 0
    if a.shape[:-1] != y.shape and a.ndim == 2:
        raise ValueError(f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({batch}).")
    if a.ndim not in (1, 2) or y.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if y.dtype.char not in "lqB":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {BY_NUM[y.dtype.num].scalar_name}")
    if weight is not None and weight.shape != a.shape[-1:]:
        raise RuntimeError(f"weight tensor should be defined either for all {a.shape[-1]} classes or no classes but got weight tensor of shape: {list(weight.shape)}")  # fmt: skip


def _picked(a: np.ndarray, y: np.ndarray, weight: Any, ignore_index: int) -> tuple:
    """Where the right classes are in rows of the input, and what each counts (None: 1). IndexError for one that is not."""
    index = y.reshape(-1).astype(np.int64, copy=False)
    if weight is None and (index.view(np.uint64) < a.shape[-1]).all() and not 0 <= ignore_index < a.shape[-1]:
        return (np.arange(index.size), index), None
    ignored = index == ignore_index - ((ignore_index >> 63 == 1) << 64)  # saved as torch shows it, without a sign
    bad = ((index < 0) | (index >= a.shape[-1])) & ~ignored
    if bad.any():
        raise IndexError(f"Target {int(index[bad][0])} is out of bounds.")
    index = np.where(ignored, 0, index)
    return (np.arange(index.size), index), ~ignored * (a.dtype.type(1) if weight is None else weight[index])


def _nll(a: np.ndarray, y: np.ndarray, weight: Any, reduction: int, ignore_index: int) -> np.ndarray:
    _check_classes(a, y, weight)
    where, counts = _picked(a, y, weight, ignore_index)
    losses = -a.reshape(-1, a.shape[-1])[where]
    if counts is not None:
        losses = np.where(counts, losses * counts, a.dtype.type(0))
    if reduction == _MEAN and counts is not None:
        return np.add.reduce(losses) / np.add.reduce(counts)
    return _reduced(losses.reshape(y.shape), reduction)


def _total_weight(values: tuple) -> Tensor:
    """What the targets count together, which torch keeps for the mean's gradient."""
    input, target, weight, _, ignore_index = values
    y, kept = target._data, target._data != ignore_index
    total = np.count_nonzero(kept) if weight is None else np.add.reduce(weight._data.take(y[kept], mode="clip"))
    return fresh(np.asarray(total, input._data.dtype), input.device)


def _nll_slope(grad: Any, a: Any, y: Any, weight: Any, reduction: int, ignore_index: int, total: Any) -> np.ndarray:
    where, counts = _picked(a, y, weight, ignore_index)
    grad = -grad.reshape(-1) / (total if reduction == _MEAN else 1)
    out = np.zeros(a.shape, a.dtype)
    out.reshape(-1, a.shape[-1])[where] = grad if counts is None else np.where(counts, grad * counts, a.dtype.type(0))
    return out


_nll_backward = op(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight)",
    _nll_slope, **_HIDDEN, backward="NllLossBackwardBackward0", keeps={"ignore_index": lambda values: values[5] % (1 << 64)},
    self=lambda grad: zeros_like(grad),
    grad_output=lambda grad, target, weight, reduction, ignore_index: (
        _nll_loss(grad, target, weight, reduction, ignore_index)))  # fmt: skip
_nll_loss = op(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100)", _nll, **_HIDDEN,
    keeps={"ignore_index": lambda values: values[4] % (1 << 64), "total_weight": _total_weight},
    self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: _nll_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight))  # fmt: skip


def nll_loss(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Minus the log-probability of the right class: input (N, C) or (C), target int64 (N) or ()."""
    return _nll_loss(input, target, weight, _number(reduction), ignore_index)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """The cross entropy of softmax(input) with classes: input (N, C) or (C), target int64 (N) or ()."""
    logp = _log_softmax(input, 0 if input._data.ndim == 1 else 1)
    return _nll_loss(logp, target, weight, _number(reduction), ignore_index)


__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "dropout", "l1_loss", "linear",
           "log_softmax", "mse_loss", "nll_loss", "relu", "relu_", "sigmoid", "softmax", "tanh"]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.functional' has no attribute '{}'", name)
