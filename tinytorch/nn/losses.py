"""Loss functions that compare element by element, with the nodes and reductions torch gives them.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.modes import MODES, no_grad
from ..graph.node import node
from ..ops.composite import Composite, in_float, one_node
from ..ops.core import FUNCTIONS, broadcast_error, common_device, quiet, record, recording, result
from ..ops.pointwise import through_double
from ..ops.scalars import over, over_in_place, times
from ..ops.summing import add_reduce
from ..tensor import Tensor
from ..warn import warn_user
from .slopes import log_sigmoid_kernel, logsigmoid

_NONE, _MEAN, _SUM = range(3)
_log, _log1p = through_double(np.log), through_double(np.log1p)
MEAN, SUM = _MEAN, _SUM


def reduction_of(size_average: Any, reduce: Any) -> str:
    """The reduction that torch's two switches of old stand for, with torch's warning."""
    reduced = reduce is None or bool(reduce)
    mean = size_average is None or bool(size_average)
    reduction = "none" if not reduced else "mean" if mean else "sum"
    warn_user(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def _reduction(reduction: str, size_average: Any = None, reduce: Any = None) -> int:
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ("none", "mean", "sum").index(reduction)


reduction_number = _reduction


def refuse_grad(function: str, **tensors: Tensor | None) -> None:
    """RuntimeError, in torch's words, for an argument that requires grad and that torch has no derivative for."""
    for name, t in tensors.items():
        if t is not None and t.requires_grad and MODES.here.grad:
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                "have requires_grad True."
            )


def _weighted(losses: Tensor, weight: Tensor, reduction: str, by_weight: bool = True) -> Tensor:
    """What torch makes in Python of losses and weights: with `by_weight` a mean divides by the sum of the weights."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "mean":
        return losses.sum() / weight.sum() if by_weight else losses.mean()
    return losses.sum()


def _check_weight(weight: Tensor, input: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _whole(name: str, slope: Callable, writes: Callable) -> Callable:
    """A loss's backward as one node: `slope(grad, operands..., count)`, count being 1 unless the losses are averaged.

    `writes(reduction, weighted)`: how often torch's second derivatives write to each of the gradients that they give.
    """

    def formula(grad: Tensor, *operands: Any, reduction: int, **options: Any) -> Tensor:
        count = operands[0].numel() if reduction == _MEAN else 1
        names = ("grad_output", "self", "target", "weight")[: 1 + len(operands)]
        formula_ = lambda g, *xs: slope(g, *xs, count, **options)  # noqa: E731
        made = one_node(name, formula_, names, reduction=reduction, **options)(grad, *operands)
        if isinstance(made._fn, Composite):
            made._fn.writes = writes(reduction, options.get("weight") is not None)
        return made

    return formula


def _reduced(data: np.ndarray, reduction: int) -> np.ndarray:
    """A sum or a mean of losses."""
    if reduction == _NONE:
        return data
    out = add_reduce(data, tuple(range(data.ndim))) if data.itemsize > 2 else np.add.reduce(data, None)
    return np.asarray(out / data.dtype.type(data.size) if reduction == _MEAN else out)


def _spread(values: Tensor, grad: Any, weight: Any, reduction: int, always: bool = False) -> Tensor:
    """Each element's derivative times the gradient, divided by the count at the end.

    In place where nothing can be recorded, or `always`, as torch has it: the gradients' versions show it.
    """
    for factor in (grad, weight):
        if factor is not None:
            values = values.mul_(factor) if always or not MODES.here.grad else values * factor
    return _averaged(values, reduction)


def _averaged(t: Tensor, reduction: int) -> Tensor:
    return over_in_place(t, t.numel()) if reduction == _MEAN else t


def _sizes_differ(input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warn_user(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    try:
        shape = np.broadcast_shapes(input._data.shape, target._data.shape)
    except ValueError:
        raise broadcast_error(input._data.shape, target._data.shape) from None
    return tuple(t if t._data.shape == shape else t.expand(shape) for t in (input, target))  # type: ignore[return-value]


def fit(a: Tensor, b: Tensor) -> None:
    """RuntimeError in torch's words unless two tensors broadcast."""
    try:
        np.broadcast_shapes(a._data.shape, b._data.shape)
    except ValueError:
        raise broadcast_error(a._data.shape, b._data.shape) from None


def _pointwise(kind: type, forward: Callable, input: Tensor, target: Tensor, reduction: int, **saved: Any) -> Tensor:
    """One loss that compares elements: broadcast, computed, reduced, recorded."""
    input, target = _broadcast(input, target)
    from ..dtypes import promote_types

    a, b, d = input._data, target._data, input.dtype
    if d is not target.dtype and kind is not _BinaryCrossEntropyWithLogitsBackward0:
        wide = promote_types(d, target.dtype)
        a, b = a.astype(wide.np), b.astype(wide.np)
        d = d if kind is _HuberLossBackward0 else wide
    if d.np.kind != "f":
        name = {
            "MseLossBackward0": "mse_cpu",
            "SmoothL1LossBackward0": "smooth_l1_cpu",
            "HuberLossBackward0": "huber_cpu",
        }
        raise NotImplementedError(f"\"{name.get(kind.__name__, 'loss')}\" not implemented for '{d.scalar_name}'")
    losses = quiet.run(forward, a, b)
    data = quiet.run(_reduced, losses.astype(d.np, copy=False) if kind is _HuberLossBackward0 else losses, reduction)
    made = result(data, common_device(kind.__name__, input, target), *((a, b) if reduction == _NONE else ()))
    if reduction != _NONE and kind in _REDUCED_IN_PLACE and losses.size:
        made._own_storage().buffer = room = losses.ravel()
        room[0] = data
        made._data = room[:1].reshape(())
    if recording(input, target):
        record(made, kind, (input, target), self=input, target=target, reduction=reduction, **saved)
    return made


# The kernels that put their sum where the losses stood, whose memory a program can see.
_REDUCED_IN_PLACE: set[type] = set()


def _difference(a: Tensor, b: Tensor) -> Tensor:
    return a - (b.to(a.dtype) if b._data.dtype.kind == "b" else b)


def _compared(slope: Callable, alike: bool = False) -> Callable:
    """The backward of a loss that compares elements, as one node: `slope(grad, self, target, count, ...)`.

    `backward.kind` is the node's kind, which its own derivatives, made of `backward`, are known for. RuntimeError for
    two dtypes where they have to be `alike`.
    """

    def backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int, **options: Any) -> Tensor:
        count = self.numel() if reduction == _MEAN else 1
        if alike and self.dtype is not target.dtype:
            raise RuntimeError(f"Found dtype {target.dtype.scalar_name} but expected {self.dtype.scalar_name}")
        with no_grad():
            made = in_float(lambda g, a, b: slope(g, a, b, count, **options), (grad, self, target)).to(self.dtype)
        if recording(grad, self, target):
            values = {"grad_output": grad, "self": self, "target": target, "reduction": reduction, **options}
            record(made, backward.kind, (grad, self, target), **values)  # type: ignore[attr-defined]
        return made

    return backward


def _to_gradient(
    backward: Callable, grad: Tensor, self: Tensor, target: Tensor, reduction: int, **options: Any
) -> Tensor:
    """What the second derivative gives the gradient of the losses, or of their sum or mean."""
    made = backward(grad, self, target, reduction, **options)
    return made if reduction == _NONE else made.sum()


_mse_backward: Any = _compared(lambda g, a, b, n: times(_difference(a, b), 2.0 / n) * g)
_mse_backward.kind = node(
    "MseLossBackwardBackward0",
    lambda grad, self, target, reduction: _to_gradient(_mse_backward, grad, self, target, reduction),
    lambda grad, grad_output, reduction: _averaged(times(grad * grad_output, 2), reduction),
    lambda grad, grad_output, reduction: -_averaged(times(grad * grad_output, 2), reduction),
)
_MseLossBackward0 = node(
    "MseLossBackward0",
    lambda grad, self, target, reduction: _mse_backward(grad, self, target, reduction=reduction),
    lambda grad, self, target, reduction: _mse_backward(grad, target, self, reduction=reduction),
)


def mse_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
             weight: Any = None) -> Tensor:  # fmt: skip
    """The squared differences, averaged, summed or as they are; `weight` has a factor for each element.

    ValueError for weights of another size than the input's.
    """
    _sizes_differ(input, target)
    if weight is not None:
        if size_average is not None or reduce is not None:
            reduction = reduction_of(size_average, reduce)
        a, b = _broadcast(input, target)
        _check_weight(weight, input)
        return _weighted((a - b).pow(2), weight, reduction)
    return _pointwise(
        _MseLossBackward0, lambda a, b: (a - b) * (a - b), input, target, _reduction(reduction, size_average, reduce)
    )


def l1_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
            weight: Any = None) -> Tensor:  # fmt: skip
    """The absolute differences, averaged, summed or as they are; `weight` has a factor for each element.

    ValueError for weights of another size than the input's.
    """
    _sizes_differ(input, target)
    if weight is not None:
        if size_average is not None or reduce is not None:
            reduction = reduction_of(size_average, reduce)
        a, b = _broadcast(input, target)
        _check_weight(weight, input)
        return _weighted((a - b).abs(), weight, reduction)
    how = _reduction(reduction, size_average, reduce)
    input, target = _broadcast(input, target)
    out = (input - target).abs()
    return out.mean() if how == _MEAN else out.sum() if how == _SUM else out


def _smooth_slope(g: Tensor, d: Tensor, n: int, near: float, inside: float, outside: float) -> Tensor:
    """`g / n` times the slope of a loss that is quadratic while |d| < near: d times `inside`, then `outside`."""
    quadratic = times(d, 1.0 / n * inside) * g
    linear = times(d.detach().sign() * g, outside / n)
    here = (d.detach().abs() < near).to(d.dtype)
    return quadratic * here + linear * (1 - here)


def _near(grad: Tensor, a: Tensor, b: Tensor, beta: float) -> Tensor:
    return over(grad * ((a - b).abs() < beta).type_as(grad), beta)


_smooth_backward: Any = _compared(
    lambda g, a, b, n, beta: _smooth_slope(g, _difference(a, b), n, beta, 1.0 / beta, 1.0)
)
_smooth_backward.kind = node(
    "SmoothL1LossBackwardBackward0",
    lambda grad, self, target, reduction, beta: _to_gradient(
        _smooth_backward, grad, self, target, reduction, beta=beta
    ),
    lambda grad, grad_output, self, target, reduction, beta: _averaged(
        _near(grad * grad_output, self, target, beta), reduction
    ),
    lambda grad, grad_output, self, target, reduction, beta: (
        -_averaged(_near(grad * grad_output, self, target, beta), reduction)
    ),
)
_SmoothL1LossBackward0 = node(
    "SmoothL1LossBackward0",
    lambda grad, self, target, reduction, beta: _smooth_backward(grad, self, target, reduction=reduction, beta=beta),
    lambda grad, self, target, reduction, beta: _smooth_backward(grad, target, self, reduction=reduction, beta=beta),
)


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
                   beta: float = 1.0) -> Tensor:  # fmt: skip
    """Squared differences below `beta`, absolute ones above. RuntimeError for a negative `beta`."""
    _sizes_differ(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0.0:
        return l1_loss(input, target, reduction=reduction)

    def forward(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        z = np.abs(a - b)
        return np.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta).astype(a.dtype)

    return _pointwise(
        _SmoothL1LossBackward0, forward, input, target, _reduction(reduction, size_average, reduce), beta=beta
    )


_huber_backward: Any = _compared(lambda g, a, b, n, delta: _smooth_slope(g, a - b, n, delta, 1.0, delta), alike=True)


def _huber_to_gradient(
    grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Tensor:
    if reduction == _NONE:
        return _huber_backward(grad, self, target, reduction, delta=delta)
    return (_huber_backward(grad_output.new_ones(grad_output.shape), self, target, reduction, delta=delta) * grad).sum()


_huber_backward.kind = node(
    "HuberLossBackwardBackward0",
    lambda grad, grad_output, self, target, reduction, delta: _huber_to_gradient(
        grad, grad_output, self, target, reduction, delta
    ),
    lambda grad, grad_output, self, target, reduction, delta: _averaged(
        grad * grad_output * ((self - target).abs() < delta), reduction
    ),
    lambda grad, grad_output, self, target, reduction, delta: (
        -_averaged(grad * grad_output * ((self - target).abs() < delta), reduction)
    ),
)
_HuberLossBackward0 = node(
    "HuberLossBackward0",
    lambda grad, self, target, reduction, delta: _huber_backward(grad, self, target, reduction=reduction, delta=delta),
    lambda grad, self, target, reduction, delta: _huber_backward(grad, target, self, reduction=reduction, delta=delta),
)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Tensor:
    """Squared differences below `delta`, linear ones above; `weight` has a factor for each element.

    RuntimeError for a `delta` that is not positive, ValueError for weights of another size than the input's.
    """
    _sizes_differ(input, target)
    if weight is not None:
        _broadcast(input, target)
        _check_weight(weight, input)
        return _weighted(_huber(input, target, _NONE, delta), weight, reduction, by_weight=False)
    return _huber(input, target, _reduction(reduction), delta)


def _huber(input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")

    def forward(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        z = np.abs(a - b)
        return np.where(z < delta, 0.5 * z * z, delta * (z - 0.5 * delta)).astype(a.dtype)

    return _pointwise(_HuberLossBackward0, forward, input, target, reduction, delta=delta)


def _bce_slope(g: Tensor, p: Tensor, target: Tensor, n: int, weight: Any) -> Tensor:
    slope = g * (p - target) / ((1 - p) * p).clamp_min(1e-12)
    if weight is not None:
        slope = slope * weight
    return slope if n == 1 else slope / n


def _bce_writes(how: int, weighted: bool) -> tuple[int, ...]:
    once = 1 + weighted
    return (0 if how else once, 0 if how == _MEAN else once, once + (how == _MEAN))


_bce_backward = _whole("BinaryCrossEntropyBackwardBackward0", _bce_slope, _bce_writes)
_BinaryCrossEntropyBackward0 = node(
    "BinaryCrossEntropyBackward0",
    lambda grad, self, target, weight, reduction: _bce_backward(grad, self, target, weight=weight, reduction=reduction),
    lambda grad, self, weight, reduction: _spread(self.logit().neg_(), grad, weight, reduction, always=True),
)
_REDUCED_IN_PLACE |= {_MseLossBackward0, _SmoothL1LossBackward0, _BinaryCrossEntropyBackward0}


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
                         reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """The cross entropy of probabilities with targets between 0 and 1. ValueError for shapes that differ."""
    how = _reduction(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None:
        size = FUNCTIONS["broadcast_shapes"](target.shape, weight.size())
        weight = weight.expand(size)
        refuse_grad("binary_cross_entropy", weight=weight)
    if input.dtype is not target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.scalar_name} but expected {input.dtype.scalar_name}")
    if not input.is_floating_point():
        raise NotImplementedError(f"\"binary_cross_entropy\" not implemented for '{input.dtype.scalar_name}'")
    if input._data.size and not bool(((input._data >= 0) & (input._data <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if target._data.size and not bool(((target._data >= 0) & (target._data <= 1)).all()):
        raise RuntimeError("all elements of target should be between 0 and 1")

    def forward(p: np.ndarray, t: np.ndarray) -> np.ndarray:
        low = p.dtype.type(-100)
        loss = (t - 1) * np.maximum(_log1p(-p), low) - t * np.maximum(_log(p), low)
        return loss if weight is None else loss * weight._data

    return _pointwise(_BinaryCrossEntropyBackward0, forward, input, target, how, weight=weight)


def _logits_slope(self: Tensor, target: Tensor, pos_weight: Any) -> Tensor:
    recorded = MODES.here.grad
    if pos_weight is None:
        return self.sigmoid() - target if recorded else self.sigmoid().sub_(target)
    t = pos_weight * target
    if recorded:
        return (t + 1 - target) * self.sigmoid() - t
    return (t + 1).sub_(target).mul_(self.sigmoid()).sub_(t)


def _logits_target(grad: Tensor, self: Tensor, weight: Any, pos_weight: Any, reduction: int) -> Tensor:
    if pos_weight is None:
        return _spread(-self * grad, None, weight, reduction, always=True)
    return _spread(logsigmoid(-self).sub_(logsigmoid(self).mul_(pos_weight)), grad, weight, reduction, always=True)


_BinaryCrossEntropyWithLogitsBackward0 = node(
    "BinaryCrossEntropyWithLogitsBackward0",
    lambda grad, self, target, weight, pos_weight, reduction: _spread(
        _logits_slope(self, target, pos_weight), grad, weight, reduction
    ),
    lambda grad, self, weight, pos_weight, reduction: _logits_target(grad, self, weight, pos_weight, reduction),
)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of sigmoid(input) with targets between 0 and 1. ValueError for shapes that differ."""
    how = _reduction(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    refuse_grad("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if not input.is_floating_point():
        raise NotImplementedError(f"\"log_sigmoid_cpu\" not implemented for '{input.dtype.scalar_name}'")
    if not target.is_floating_point():
        raise RuntimeError(
            f"result type {input.dtype.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        )

    for factor in (pos_weight, weight):
        if factor is not None:
            fit(factor, target) if factor is pos_weight else fit(target, factor)

    def forward(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        log_weight = 1 if pos_weight is None else (pos_weight._data - 1) * t + 1
        loss = (1 - t) * x - log_weight * log_sigmoid_kernel(x)
        loss = loss if weight is None else loss * weight._data
        return loss.astype(target._data.dtype, copy=False)  # as torch computes it in the target's place

    return _pointwise(
        _BinaryCrossEntropyWithLogitsBackward0, forward, input, target, how, weight=weight, pos_weight=pos_weight
    )


__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
]
