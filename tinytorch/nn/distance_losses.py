"""Losses over pairs and triplets of vectors, and likelihoods: compositions of operations, as they are in torch.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

import math
from typing import Any

from ..graph.modes import no_grad
from ..graph.node import node
from ..ops.composite import Composite, one_node
from ..ops.core import FUNCTIONS, quiet, record, recording, result
from ..ops.pointwise import through_double
from ..ops.scalars import minus, minus_from, plus
from ..tensor import Tensor
from .distances import pairwise_distance
from .losses import MEAN, SUM, reduction_number, refuse_grad


def _reduced(t: Tensor, how: int) -> Tensor:
    return t.mean() if how == MEAN else t.sum() if how == SUM else t


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None,
                        reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """How far two scores are from the order that a target of 1 or -1 wants. RuntimeError for different dimensions."""
    how = reduction_number(reduction, size_average, reduce)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduced(plus(-target * (input1 - input2), margin).clamp_min_(0), how)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:  # fmt: skip
    """The distance itself where the target is 1, how much it is short of a margin where it is -1."""
    how = reduction_number(reduction, size_average, reduce)
    zeros = FUNCTIONS["zeros_like"](input)
    short = minus_from(margin, input).clamp_min_(0)
    return _reduced(short.where(target != 1, zeros) + input.where(target != -1, zeros), how)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None,
                          reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """1 minus the cosine where the target is 1, the cosine above a margin where it is -1."""
    how = reduction_number(reduction, size_average, reduce)
    if target.dim() > 1 or input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        kind = "multi-target not supported" if target.dim() > 1 else None
        raise RuntimeError(
            f"0D or 1D target tensor expected, {kind}"
            if kind
            else f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    dim = target.dim()
    lengths = [plus((x * x).sum(dim), 1e-12) for x in (input1, input2)]
    cos = (input1 * input2).sum(dim) / (lengths[0] * lengths[1]).sqrt_()
    zeros = FUNCTIONS["zeros_like"](cos)
    alike, apart = minus_from(1, cos), minus(cos, margin).clamp_min_(0)
    return _reduced(alike.where(target == 1, zeros) + apart.where(target == -1, zeros), how)


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
                        swap: bool = False, size_average: Any = None, reduce: Any = None,
                        reduction: str = "mean") -> Tensor:  # fmt: skip
    """By how much the positive is not nearer than the negative by a margin. ValueError for a margin that is not positive."""
    how = reduction_number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = [t.dim() for t in (anchor, positive, negative)]
    if len({*dims}) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            "anchor {}D, positive {}D, and negative {}D inputs".format(*dims)
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return _reduced((plus(near, margin) - far).clamp_min(0), how)


def _soft_slope(g: Tensor, x: Tensor, target: Tensor, how: int) -> Tensor:
    z = (-target * x).exp()
    slope = g * -target * z / (z + 1)
    return slope / x.numel() if how == MEAN else slope


def _soft_backward(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    made = one_node("SoftMarginLossBackwardBackward0", lambda g, x: _soft_slope(g, x, target, reduction))(grad, self)
    if isinstance(made._fn, Composite):
        made._fn.writes = (0, int(reduction == MEAN))
    return made


_SoftMarginLossBackward0 = node(
    "SoftMarginLossBackward0",
    lambda grad, self, target, reduction: _soft_backward(grad, self, target, reduction),
)


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                     reduction: str = "mean") -> Tensor:  # fmt: skip
    """log(1 + exp(-target input)), targets 1 and -1."""
    how = reduction_number(reduction, size_average, reduce)
    refuse_grad("soft_margin_loss", target=target)
    with no_grad():
        z = (-input * target).exp()
    out = _reduced(result(quiet.run(through_double(_log1p), z._data), input._device), how)
    if recording(input):
        record(out, _SoftMarginLossBackward0, (input,), self=input, target=target, reduction=how)
    return out


def _log1p(a: Any) -> Any:
    import numpy as np

    return np.log1p(a)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Any = None,
                     eps: float = 1e-8, reduce: Any = None, reduction: str = "mean") -> Tensor:  # fmt: skip
    """Minus the log-likelihood of counts under a Poisson distribution of rate `input`, or exp(input)."""
    how = reduction_number(reduction, size_average, reduce)
    loss = input.exp() - target * input if log_input else input - target * plus(input, eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss += stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, how)


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Tensor:  # fmt: skip
    """Minus the log-likelihood under a normal distribution of mean `input` and variance `var`. ValueError below 0."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * FUNCTIONS["ones_like"](input)
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1) and var.numel() != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


__all__ = ["cosine_embedding_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss", "poisson_nll_loss",
           "soft_margin_loss", "triplet_margin_loss"]  # fmt: skip
