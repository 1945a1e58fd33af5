"""Losses over classes: nll_loss, cross_entropy, and the Kullback-Leibler divergence.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..ops.arguments import parsed
from ..ops.composite import one_node
from ..ops.core import common_device, expect_tensor, quiet
from ..ops.scalars import over, plus, times
from ..ops.softmax import log_softmax
from ..tensor import Tensor, fresh
from ..warn import warn_user
from .losses import _MEAN, _NONE, _SUM, _reduction, refuse_grad


def _class_dim(t: Tensor) -> int:
    return 0 if t.dim() == 1 else 1


def _nll_backward(name: str) -> Any:
    def backward(
        grad: Tensor, self: Tensor, target: Tensor, weight: Any, total_weight: Tensor, reduction: int, ignore_index: int
    ) -> Tensor:
        ignore = ignore_index - (1 << 64) if ignore_index >= 1 << 63 else ignore_index
        if weight is None and self._data.ndim == 2 and reduction == _MEAN and not MODES.here.grad:
            return _to_rows(grad, self, target, total_weight, ignore)
        dim = _class_dim(self)
        where = target.unsqueeze(dim) if target.dim() or self.dim() > 1 else target.reshape(1)
        kept = where != ignore
        index = where.where(kept, where.new_zeros(()))

        def formula(g: Tensor, s: Tensor) -> Tensor:
            per = (
                g / total_weight
                if reduction == _MEAN
                else g.unsqueeze(dim)
                if reduction == _NONE and s.dim() > 1
                else g
            )
            value = -per if weight is None else weight[index] * -per
            value = value.expand(index.shape).where(kept, value.new_zeros(()))
            return s.new_zeros(s.shape).scatter(dim, index, value)

        numbers = {"ignore_index": ignore % (1 << 64), "reduction": reduction, "target": target, "weight": weight}
        return one_node(name, formula, **numbers)(grad, self)

    return backward


def _to_rows(grad: Tensor, self: Tensor, target: Tensor, total_weight: Tensor, ignore: int) -> Tensor:
    """The gradient of a mean without weights: one value at each row's class. The usual case, in few steps."""
    a, classes = self._data, target._data
    out = np.zeros(a.shape, a.dtype)
    rows = np.arange(classes.size)
    if total_weight._data != classes.size:  # some were ignored
        rows = rows[classes != ignore]
        classes = classes[rows]
    out[rows, classes] = -MODES.here.run(np.divide, grad._data, total_weight._data)
    return fresh(out, self._device)


def _nll_kind(name: str) -> type:
    backward = _nll_backward(f"{name}BackwardBackward0")
    return node(
        f"{name}Backward0",
        lambda grad, self, target, weight, total_weight, reduction, ignore_index: backward(
            grad, self, target, weight, total_weight, reduction, ignore_index
        ),
    )


_NllLossBackward0, _NllLoss2DBackward0 = _nll_kind("NllLoss"), _nll_kind("NllLoss2D")


def _check_places(a: tuple[int, ...], t: tuple[int, ...]) -> None:
    """Whether there is one class for each place of the input; the batch is known to fit."""
    if len(a) <= 2:
        if len(t) > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif len(a) != 4:
        if a[2:] != t[1:]:
            raise RuntimeError(f"Expected target size {[a[0], *a[2:]]}, got {list(t)}")
    elif len(t) != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(t)}"
        )
    elif a[2:] != t[1:]:
        raise RuntimeError(f"size mismatch (got input: {list(a)} , target: {list(t)}")


def _check_nll(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    a, t = input._data, target._data
    if a.ndim == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {a.ndim})")
    if a.ndim == 1 and t.ndim == 1 and t.shape[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.shape[0]}")
    batch = t.shape[0] if t.ndim else 0
    if a.ndim > 1 and a.shape[0] != batch:
        raise ValueError(f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({batch}).")
    _check_places(a.shape, t.shape)
    if target.dtype.called not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")
    classes = a.shape[_class_dim(input)]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.scalar_name} but found {weight.dtype.scalar_name}")


def _class_number(function: str, input: Tensor, target: Tensor, given: Any) -> int:
    parsed(function, (input, target, None, 1, given), {})
    return int(given)


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
             reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """Minus the log-probability of the right class: input (N, C, ...) or (C), target int64 (N, ...) or ()."""
    how = _reduction(reduction, size_average, reduce)
    expect_tensor(input, "nll_loss_nd")
    expect_tensor(target, "nll_loss_nd", "target", 2)
    _check_nll(input, target, weight)
    if type(ignore_index) is not int:
        ignore_index = _class_number("nn.nll_loss_nd", input, target, ignore_index)
    shape = target.shape
    if input.dim() > 2 and input.dim() != 4:
        n, c = input.shape[:2]
        input = input.contiguous().view(n, c, 1, -1) if target.numel() else input.contiguous().view(n, c, 0, 0)
        target = target.contiguous().view(n, 1, -1) if target.numel() else target.contiguous().view(n, 0, 0)
    made = _nll(input, target, weight, ignore_index, how)
    return made.view(shape) if how == _NONE and made.shape != shape else made


def _in_levels(terms: np.ndarray) -> np.ndarray:
    """A sum as torch's nll_loss adds it: the first aside, the rest by sixteen, and these by sixteen again.

    Source: `nll_loss_out_frame` in `aten/src/ATen/native/LossNLL.cpp`.
    """
    total, first, rest = terms.dtype.type(0), terms[:1], terms[1:]
    while rest.size:
        whole = rest.size - rest.size % 16
        if whole < rest.size:
            total = total + np.add.accumulate(rest[whole:])[-1]
        rest = np.add.accumulate(rest[:whole].reshape(-1, 16), 1)[:, -1]
    return total + first[0] if first.size else total


def _nll(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, how: int) -> Tensor:
    common_device(
        "nll_loss_forward" if input.dim() < 3 else "_nll_loss2d_forward", input, target, names=("self", "target")
    )
    if weight is not None:
        refuse_grad("nll_loss_forward" if input.dim() < 3 else "nll_loss2d_forward", weight=weight)
    a, t = input._data, target._data
    if a.dtype.kind != "f":
        raise NotImplementedError(f"\"nll_loss_out_frame\" not implemented for '{input.dtype.scalar_name}'")
    dim = _class_dim(input)
    if (
        a.ndim == 2 and weight is None and how == _MEAN and t.size and np.minimum.reduce(t) >= 0
        and np.maximum.reduce(t) < a.shape[1] and (ignore_index < 0 or ignore_index not in t)
    ):  # fmt: skip
        total = fresh(np.array(t.size, a.dtype), input._device)  # the usual case, in few steps
        losses = -a[np.arange(t.size), t]
        data = MODES.here.run(np.divide, _in_levels(losses), total._data)
        return _nll_recorded(data, total, input, target, weight, ignore_index, how)
    index = t.reshape(1) if a.ndim == 1 else np.expand_dims(t, dim)
    kept = index != ignore_index
    bad = kept & ((index < 0) | (index >= a.shape[dim]))
    if bad.any():
        raise IndexError(f"Target {int(index[bad][0])} is out of bounds.")
    where = np.where(kept, index, 0).astype(np.int64)
    w = kept.astype(a.dtype) if weight is None else weight._data[where] * kept
    losses = np.where(kept, -np.take_along_axis(a, where, dim) * w, a.dtype.type(0))
    total = fresh(np.asarray(_in_levels(w.reshape(-1)), a.dtype), input._device)
    if how == _NONE:
        data = losses.reshape(t.shape)
    else:
        summed = _in_levels(losses.reshape(-1))
        data = quiet.run(np.divide, summed, total._data) if how == _MEAN else summed
    return _nll_recorded(data, total, input, target, weight, ignore_index, how)


def _nll_recorded(
    data: Any, total: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, how: int
) -> Tensor:
    a = input._data
    made = fresh(np.asarray(data, a.dtype), input._device)
    if MODES.here.grad and needs_grad(input):
        kind: Any = _NllLossBackward0 if a.ndim < 3 else _NllLoss2DBackward0
        kind.record(
            made,
            (input,),
            self=input,
            target=target,
            weight=weight,
            total_weight=total,
            reduction=how,
            ignore_index=ignore_index % (1 << 64),
        )
    return made


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of softmax(input) with classes (int64) or with probabilities of each class."""
    if (
        isinstance(input, Tensor) and isinstance(target, Tensor)
        and (a := input._data).ndim == 2 and (t := target._data).ndim == 1 and weight is None and label_smoothing == 0.0 and reduction == "mean"
        and size_average is None and reduce is None and a.shape[0] == t.shape[0] and t.dtype.char in "lqB" and type(ignore_index) is int
    ):  # fmt: skip
        return _nll(log_softmax(input, 1), target, None, ignore_index, _MEAN)  # what all that follows comes to
    how = _reduction(reduction, size_average, reduce)
    expect_tensor(input, "cross_entropy_loss")
    expect_tensor(target, "cross_entropy_loss", "target", 2)
    if type(ignore_index) is not int:
        ignore_index = _class_number("nn.cross_entropy_loss", input, target, ignore_index)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.shape == target.shape:
        if not target.is_floating_point():
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.scalar_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _with_probabilities(input.log_softmax(_class_dim(input)), target, weight, how, label_smoothing)
    logp = input.log_softmax(_class_dim(input))
    hard = nll_loss(logp, target, weight, ignore_index=ignore_index, reduction=("none", "mean", "sum")[how])
    if not label_smoothing:
        return hard
    return _smoothed(hard, logp, target, weight, ignore_index, how, label_smoothing)


def _with_weight(logp: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return logp
    return (
        logp * weight.view([-1 if d == _class_dim(logp) else 1 for d in range(logp.dim())])
        if logp.dim() > 2
        else logp * weight
    )


def _with_probabilities(logp: Tensor, target: Tensor, weight: Tensor | None, how: int, smoothing: float) -> Tensor:
    dim = _class_dim(logp)
    classes = logp.size(dim)
    if smoothing:
        target = plus(times(target, 1 - smoothing), smoothing / classes)
    product = _with_weight(logp * target, weight)
    if how == _NONE:
        return -product.sum(dim)
    total = -product.sum()
    return total if how == _SUM else over(total, logp.numel() // classes if classes else 0)


def _smoothed(
    hard: Tensor, logp: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, how: int, smoothing: float
) -> Tensor:
    dim = _class_dim(logp)
    smooth = -_with_weight(logp, weight).sum(dim)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if how == _MEAN:
        if weight is None:
            smooth = smooth.sum() / (~ignored).sum()
        else:
            kept = target.where(~ignored, target.new_zeros(()))
            smooth = smooth.sum() / weight[kept].masked_fill(ignored, 0.0).sum()
    elif how == _SUM:
        smooth = smooth.sum()
    return times(hard, 1 - smoothing) + times(smooth, smoothing / logp.size(dim))


def kl_div(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:  # fmt: skip
    """The Kullback-Leibler divergence of log-probabilities `input` from probabilities `target`."""
    if reduction == "mean":
        warn_user(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release."
        )
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    out = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    if reduction == "batchmean":
        return out.sum() / input.size(0)
    how = _reduction(reduction, size_average, reduce)
    return out.mean() if how == _MEAN else out.sum() if how == _SUM else out


__all__ = ["cross_entropy", "kl_div", "nll_loss"]
