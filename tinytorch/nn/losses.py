"""Loss functions, with the nodes and reductions torch gives them.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.node import node
from ..ops.composite import one_node
from ..ops.core import common_device, quiet, record, recording, result
from ..tensor import Size, Tensor, fresh
from ..warn import warn_user

_NONE, _MEAN, _SUM = range(3)


def _reduction(reduction: str) -> int:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ("none", "mean", "sum").index(reduction)


def _whole(name: str, slope: Callable) -> Callable:
    """A loss's backward as one node: `slope` of the operands, times the gradient of each element's loss."""

    def formula(grad: Tensor, *operands: Any, reduction: int, options: dict) -> Tensor:
        operation = one_node(name, lambda g, *xs: _spread(g, slope(*xs, **options), reduction))
        return operation(grad, *operands)

    return lambda grad, *operands, reduction, **options: formula(grad, *operands, reduction=reduction, options=options)


def _reduced(data: np.ndarray, reduction: int) -> np.ndarray:
    if reduction == _NONE:
        return data
    out = np.add.reduce(data, None)
    return np.asarray(out / data.dtype.type(data.size) if reduction == _MEAN else out)


def _spread(grad: Tensor, values: Tensor, reduction: int) -> Tensor:
    """The gradient of each element's loss times its derivative."""
    if reduction == _MEAN:
        return values * (grad / max(values.numel(), 1))
    return values * grad


def _sizes_differ(input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warn_user(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    from ..ops.core import broadcast_error

    if input._data.shape == target._data.shape:
        return input, target
    try:
        shape = np.broadcast_shapes(input._data.shape, target._data.shape)
    except ValueError:
        raise broadcast_error(input._data.shape, target._data.shape) from None
    return input.expand(shape), target.expand(shape)


def _pointwise(kind: type, forward: Callable, input: Tensor, target: Tensor, reduction: int, **saved: Any) -> Tensor:
    """One loss that compares elements: broadcast, computed, reduced, recorded."""
    input, target = _broadcast(input, target)
    if input.dtype is not target.dtype:
        from ..dtypes import promote_types

        d = promote_types(input.dtype, target.dtype)
        input, target = input.to(d), target.to(d)
    data = quiet.run(lambda a, b: _reduced(forward(a, b), reduction), input._data, target._data)
    made = result(data, common_device(kind.__name__, input, target))
    if recording(input, target):
        record(made, kind, (input, target), self=input, target=target, reduction=reduction, **saved)
    return made


_mse_backward = _whole("MseLossBackwardBackward0", lambda a, b: 2 * (a - b))
_MseLossBackward0 = node(
    "MseLossBackward0",
    lambda grad, self, target, reduction: _mse_backward(grad, self, target, reduction=reduction),
    lambda grad, self, target, reduction: _mse_backward(grad, target, self, reduction=reduction),
)


def mse_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
             weight: Any = None) -> Tensor:  # fmt: skip
    """The squared differences, averaged, summed or as they are."""
    _sizes_differ(input, target)
    return _pointwise(_MseLossBackward0, lambda a, b: (a - b) * (a - b), input, target, _reduction(reduction))


def l1_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Tensor:
    """The absolute differences, averaged, summed or as they are."""
    _sizes_differ(input, target)
    how = _reduction(reduction)
    input, target = _broadcast(input, target)
    out = (input - target).abs()
    return out.mean() if how == _MEAN else out.sum() if how == _SUM else out


def _smooth_slope(d: Tensor, beta: float) -> Tensor:
    near = (d.detach().abs() < beta).to(d.dtype)
    return d / beta * near + d.detach().sign() * (1 - near)


_smooth_backward = _whole("SmoothL1LossBackwardBackward0", lambda a, b, beta: _smooth_slope(a - b, beta))
_SmoothL1LossBackward0 = node(
    "SmoothL1LossBackward0",
    lambda grad, self, target, reduction, beta: _smooth_backward(grad, self, target, reduction=reduction, beta=beta),
    lambda grad, self, target, reduction, beta: _smooth_backward(grad, target, self, reduction=reduction, beta=beta),
)


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
                   beta: float = 1.0) -> Tensor:  # fmt: skip
    """Squared differences below `beta`, absolute ones above."""
    _sizes_differ(input, target)
    if beta == 0.0:
        return l1_loss(input, target, reduction=reduction)

    def forward(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        z = np.abs(a - b)
        return np.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta).astype(a.dtype)

    return _pointwise(_SmoothL1LossBackward0, forward, input, target, _reduction(reduction), beta=beta)


_huber_backward = _whole("HuberLossBackwardBackward0", lambda a, b, delta: _smooth_slope(a - b, delta) * delta)
_HuberLossBackward0 = node(
    "HuberLossBackward0",
    lambda grad, self, target, reduction, delta: _huber_backward(grad, self, target, reduction=reduction, delta=delta),
    lambda grad, self, target, reduction, delta: _huber_backward(grad, target, self, reduction=reduction, delta=delta),
)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Tensor:
    """Squared differences below `delta`, linear ones above."""
    _sizes_differ(input, target)

    def forward(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        z = np.abs(a - b)
        return np.where(z < delta, 0.5 * z * z, delta * (z - 0.5 * delta)).astype(a.dtype)

    return _pointwise(_HuberLossBackward0, forward, input, target, _reduction(reduction), delta=delta)


def _bce_slope(self: Tensor, target: Tensor, weight: Any) -> Tensor:
    slope = (self - target) / ((1 - self) * self).clamp_min(1e-12)
    return slope if weight is None else slope * weight


_bce_backward = _whole("BinaryCrossEntropyBackwardBackward0", lambda a, t, weight: _bce_slope(a, t, weight))
_BinaryCrossEntropyBackward0 = node(
    "BinaryCrossEntropyBackward0",
    lambda grad, self, target, weight, reduction: _bce_backward(grad, self, target, weight=weight, reduction=reduction),
    lambda grad, self, weight, reduction: _spread(grad, _bce_target(self, weight), reduction),
)


def _bce_target(self: Tensor, weight: Any) -> Tensor:
    slope = (1.0 - self).log().clamp_min(-100.0) - self.log().clamp_min(-100.0)
    return slope if weight is None else slope * weight


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
                         reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """The cross entropy of probabilities with targets between 0 and 1. ValueError for shapes that differ."""
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if input._data.size and not bool(((input._data >= 0) & (input._data <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")

    def forward(p: np.ndarray, t: np.ndarray) -> np.ndarray:
        low = p.dtype.type(-100)
        loss = (t - 1) * np.maximum(np.log1p(-p), low) - t * np.maximum(np.log(p), low)
        return loss if weight is None else loss * weight._data

    return _pointwise(_BinaryCrossEntropyBackward0, forward, input, target, _reduction(reduction), weight=weight)


def _logits_slope(self: Tensor, target: Tensor, weight: Any, pos_weight: Any) -> Tensor:
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        t = pos_weight * target
        slope = (t + 1 - target) * self.sigmoid() - t
    return slope if weight is None else slope * weight


_BinaryCrossEntropyWithLogitsBackward0 = node(
    "BinaryCrossEntropyWithLogitsBackward0",
    lambda grad, self, target, weight, pos_weight, reduction: _spread(
        grad, _logits_slope(self, target, weight, pos_weight), reduction
    ),
    lambda grad, self, weight, reduction: _spread(grad, -self if weight is None else -self * weight, reduction),
)


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
                                     reduce: Any = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:  # fmt: skip
    """The cross entropy of sigmoid(input) with targets between 0 and 1. ValueError for shapes that differ."""
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")

    def forward(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        log_weight = 1 if pos_weight is None else (pos_weight._data - 1) * t + 1
        loss = (1 - t) * x - log_weight * (np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))))
        return loss if weight is None else loss * weight._data

    return _pointwise(
        _BinaryCrossEntropyWithLogitsBackward0, forward, input, target, _reduction(reduction), weight=weight,
        pos_weight=pos_weight,
    )  # fmt: skip


# classes ---------------------------------------------------------------------------------------------------------------------


def _nll_backward(grad: Tensor, self: Tensor, target: Tensor, weight: Any, total_weight: Tensor, reduction: int, ignore_index: int) -> Tensor:  # fmt: skip
    ignore = ignore_index - (1 << 64) if ignore_index >= 1 << 63 else ignore_index
    t = target.unsqueeze(-1) if self.dim() == 2 else target.reshape(1)
    kept = (t != ignore).to(self.dtype)
    where = t.where(t != ignore, t.new_zeros(t.shape))
    w = kept if weight is None else weight[where] * kept
    per = grad.unsqueeze(-1) if reduction == _NONE and self.dim() == 2 else grad
    if reduction == _MEAN:
        per = per / total_weight
    backward = one_node("NllLossBackwardBackward0", lambda g, s: s.new_zeros(s.shape).scatter(-1, where, -(w * g)))
    return backward(per, self.detach())


_NllLossBackward0 = node(
    "NllLossBackward0",
    lambda grad, self, target, weight, total_weight, reduction, ignore_index: _nll_backward(
        grad, self, target, weight, total_weight, reduction, ignore_index
    ),
)


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
             reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """Minus the log-probability of the right class: input (N, C) or (C), target int64 (N) or ()."""
    how = _reduction(reduction)
    a, t = input._data, target._data
    if a.ndim not in (1, 2):
        raise NotImplementedError("tinytorch's nll_loss takes input of shape (C) or (N, C)")
    if a.ndim - 1 != t.ndim or (a.ndim == 2 and a.shape[0] != t.shape[0]):
        if a.ndim == 2 and t.ndim == 1:
            raise ValueError(f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({t.shape[0]}).")
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.scalar_name}")
    rows, classes = np.atleast_2d(a), np.atleast_1d(t)
    kept = classes != ignore_index
    bad = kept & ((classes < 0) | (classes >= rows.shape[1]))
    if bad.any():
        raise IndexError(f"Target {int(classes[bad][0])} is out of bounds.")
    where = np.where(kept, classes, 0)
    w = kept.astype(a.dtype) if weight is None else weight._data[where] * kept
    losses = -rows[np.arange(len(where)), where] * w
    total = fresh(np.asarray(w.sum(dtype=a.dtype)), input._device)
    if how == _NONE:
        data = losses if a.ndim == 2 else losses[0]
    else:
        data = quiet.run(np.divide, losses.sum(), total._data) if how == _MEAN else losses.sum()
    made = result(np.asarray(data, a.dtype), input._device)
    if recording(input):
        record(
            made, _NllLossBackward0, (input,), self=input, target=target, weight=weight, total_weight=total,
            reduction=how, ignore_index=ignore_index % (1 << 64),
        )  # fmt: skip
    return made


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
                  ignore_index: int = -100, reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0) -> Tensor:  # fmt: skip
    """The cross entropy of softmax(input) with classes (int64) or with probabilities of each class."""
    logp = input.log_softmax(0 if input.dim() == 1 else 1)
    if target.is_floating_point():
        how = _reduction(reduction)
        classes = input.size(0 if input.dim() == 1 else 1)
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        out = -(logp * target if weight is None else logp * target * weight)
        if how == _NONE:
            return out.sum(0 if input.dim() == 1 else 1)
        return out.sum() if how == _SUM else out.sum() / (1 if input.dim() == 1 else input.size(0))
    hard = nll_loss(logp, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return hard
    dim = 0 if input.dim() == 1 else 1
    smooth = -(logp if weight is None else logp * weight).sum(dim)
    smooth = smooth.masked_fill(target == ignore_index, 0.0)
    if reduction == "mean":
        kept = (target != ignore_index).sum() if weight is None else weight[target].sum()
        smooth = smooth.sum() / kept
    elif reduction == "sum":
        smooth = smooth.sum()
    return hard * (1 - label_smoothing) + smooth * (label_smoothing / input.size(dim))


def kl_div(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:  # fmt: skip
    """The Kullback-Leibler divergence of log-probabilities `input` from probabilities `target`."""
    if reduction == "mean":
        warn_user(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release."
        )
    if log_target:
        out = target.exp() * (target - input)
    else:
        out = target.xlogy(target) - target * input
    if reduction == "batchmean":
        return out.sum() / input.size(0)
    how = _reduction(reduction)
    return out.mean() if how == _MEAN else out.sum() if how == _SUM else out


__all__ = ["Size", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "huber_loss", "kl_div",
           "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss"]  # fmt: skip
