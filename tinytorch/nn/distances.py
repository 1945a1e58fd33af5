"""How far two batches of vectors are apart, padding, and samples of softmax.

Source: `torch.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.modes import no_grad
from ..graph.node import node
from ..ops.core import FUNCTIONS, record, recording, result
from ..ops.norms import norm_backward, vector_norm
from ..ops.reductions import given_dims
from ..ops.scalars import plus
from ..tensor import Tensor
from .layer import layer


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension: x1 and x2 broadcast, the result lacks `dim`."""
    if not (x1.is_floating_point() and x2.is_floating_point()):
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {FUNCTIONS['result_type'](x1, x2).scalar_name}"
        )
    x1, x2 = FUNCTIONS["broadcast_tensors"](x1, x2)
    lengths = [vector_norm(x, 2, dim, True).clone() for x in (x1, x2)]
    with no_grad():  # the gradient takes no notice of eps
        for length in lengths:
            length.clamp_min_(eps)
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


_NormBackward1 = node(
    "NormBackward1",
    lambda grad, self, p, result, dim, keepdim: norm_backward(grad, self, p, result, dim, keepdim),
)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of the difference of vectors along the last dimension, `eps` added to each element."""
    gap = plus(x1 - x2, eps)
    made = vector_norm(gap.detach(), p, -1, keepdim)
    return (
        record(made, _NormBackward1, (gap,), self=gap, p=p, dim=given_dims(-1), keepdim=keepdim)
        if recording(gap)
        else made
    )


CosineSimilarity = layer("CosineSimilarity", lambda m, a, b: cosine_similarity(a, b, m.dim, m.eps), "The cosine of an angle.",
                         inputs="x1, x2", dim=1, eps=1e-8)  # fmt: skip
PairwiseDistance = layer(
    "PairwiseDistance", lambda m, a, b: pairwise_distance(a, b, m.norm, m.eps, m.keepdim), "The length of a difference.",
    inputs="x1, x2", set_up=lambda m, v: vars(m).update(norm=v["p"], eps=v["eps"], keepdim=v["keepdim"]), p=2.0, eps=1e-6,
    keepdim=False,
)  # fmt: skip


# padding -----------------------------------------------------------------------------------------------------------------

_ConstantPadNdBackward0 = node("ConstantPadNdBackward0", lambda grad, pad: _padded(grad, [-n for n in pad], 0))


def _padded(input: Tensor, pad: Sequence[int], value: float) -> Tensor:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    a = input._data
    if len(pad) > 2 * a.ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} "
            f"and input of dimension {a.ndim}"
        )
    widths = [(0, 0)] * (a.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    if any(n + min(low, 0) + min(high, 0) < 0 for n, (low, high) in zip(a.shape, widths, strict=True)):
        raise RuntimeError("narrow(): length must be non-negative.")
    cut = tuple(slice(max(-low, 0), n - max(-high, 0)) for n, (low, high) in zip(a.shape, widths, strict=True))
    more = [(max(low, 0), max(high, 0)) for low, high in widths]
    made = result(np.pad(a[cut], more, constant_values=a.dtype.type(value)), input._device)
    return record(made, _ConstantPadNdBackward0, (input,), pad=tuple(pad)) if recording(input) else made


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """More elements at the ends of the last dimensions: `pad` has a pair for each, the last dimension first.

    Negative numbers cut. NotImplementedError for a mode other than "constant".
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode != "constant":
        raise NotImplementedError(f"tinytorch pads with a constant alone, not with mode={mode!r}")
    return _padded(input, pad, 0 if value is None else value)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Samples from a softmax by adding noise; `hard` rounds them to one-hot with the gradient of the soft ones."""
    noise = -FUNCTIONS["empty_like"](logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    at = soft.max(dim, keepdim=True)[1]
    return FUNCTIONS["zeros_like"](logits).scatter_(dim, at, 1.0) - soft.detach() + soft


__all__: list[Any] = ["CosineSimilarity", "PairwiseDistance"]
