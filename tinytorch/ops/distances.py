"""Distances between all pairs of rows: cdist and pdist."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph.node import node
from ..tensor import Tensor
from .arguments import is_number, type_name
from .core import FUNCTIONS, broadcast_error, expect_tensor, op, quiet, record, recording, result

_MANY = 25  # rows from which on torch takes Euclidean distances from a matrix product


def _distances(a: np.ndarray, p: float) -> np.ndarray:
    """The p-norms of differences along the last dimension."""
    size = np.abs(a)
    if p == 0:
        return (size != 0).sum(-1).astype(a.dtype)
    if p == 1:
        return size.sum(-1, dtype=a.dtype)
    if p == 2:
        return np.sqrt((a * a).sum(-1, dtype=a.dtype))
    if math.isinf(p):
        return size.max(-1, initial=0)
    return ((size**p).sum(-1, dtype=a.dtype) ** (1 / p)).astype(a.dtype)


def _slopes(difference: np.ndarray, distance: np.ndarray, p: float) -> np.ndarray:
    """The derivative of each distance with respect to each difference; 0 where the distance is 0."""
    d = distance[..., None]
    if p == 0:
        return np.zeros_like(difference)
    if p == 1:
        return np.sign(difference)
    if p == 2:
        return np.where(d == 0, 0, difference / d)
    if math.isinf(p):
        return np.sign(difference) * (np.abs(difference) == d)
    if p < 2:
        grown = np.sign(difference) * np.abs(difference) ** (p - 1)
        return np.where((d == 0) | ((difference == 0) & (p < 1)), 0, grown / d ** (p - 1))
    return np.where(d == 0, 0, difference * np.abs(difference) ** (p - 2) / d ** (p - 1))


def _once(name: str) -> Any:
    """A gradient's kind of node: there is no second derivative."""

    def refuse(grad: Tensor) -> Tensor:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return node(f"{name.title().replace('_', '')}Backward0", refuse, refuse, refuse)


_CdistBackwardBackward0, _PdistBackwardBackward0 = _once("_cdist_backward"), _once("_pdist_backward")


def _pairs(x1: Tensor, x2: Tensor) -> np.ndarray:
    return x1._data[..., :, None, :] - x2._data[..., None, :, :]


def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, result_: Tensor) -> Tensor:
    def compute() -> np.ndarray:
        return (_slopes(_pairs(x1, x2), result_._data, p) * grad._data[..., None]).sum(-2).astype(x1._data.dtype)

    made = quiet.run(compute)
    while made.ndim > x1._data.ndim:
        made = made.sum(0)
    axes = tuple(i for i, n in enumerate(x1._data.shape) if n == 1 != made.shape[i])
    out = result(made.sum(axes, keepdims=True) if axes else made, grad._device)
    return record(out, _CdistBackwardBackward0, (grad, x1, x2)) if recording(grad, x1, x2) else out


_CdistBackward0 = node(
    "CdistBackward0",
    lambda grad, x1, x2, p, result: _cdist_backward(grad, x1, x2, p, result),
    lambda grad, x1, x2, p, result: _cdist_backward(grad.mT.contiguous(), x2, x1, p, result.mT),
)


def _over(grad: Tensor, result: Tensor) -> Tensor:
    return (grad / result).masked_fill_(result == 0, 0)


_EuclideanDistBackward0 = node(
    "EuclideanDistBackward0",
    lambda grad, x1, x2, result: x1 * _over(grad, result).sum(-1, True) - _over(grad, result).matmul(x2),
    lambda grad, x1, x2, result: x2 * _over(grad, result).sum(-2).unsqueeze(-1) - _over(grad, result).mT.matmul(x1),
)


def _euclidean(x1: Tensor, x2: Tensor) -> Tensor:
    """Distances from |x|^2 - 2xy + |y|^2, all in one matrix product."""
    a, b = x1.detach(), x2.detach()
    cat, ones = FUNCTIONS["cat"], FUNCTIONS["ones_like"]
    norms = [t.pow(2).sum(-1, True) for t in (a, b)]
    left, right = cat((a * -2, norms[0], ones(norms[0])), -1), cat((b, ones(norms[1]), norms[1]), -1)
    made = left.matmul(right.mT).clamp_min(0).sqrt()
    return record(made, _EuclideanDistBackward0, (x1, x2), x1=x1, x2=x2) if recording(x1, x2) else made


_WHEN = {
    "use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": True, "donot_use_mm_for_euclid_dist": False,
}  # fmt: skip


@op(method=False, guard=False)
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:  # fmt: skip
    """The p-norm distances between all rows of (..., m, k) and (..., n, k): (..., m, n).

    RuntimeError for fewer dimensions, other widths or dtypes. Source: `torch.cdist`.
    """
    if compute_mode not in _WHEN:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    expect_tensor(x1, "cdist", "x1", 1)
    expect_tensor(x2, "cdist", "x2", 2)
    if not is_number(p):
        raise TypeError(f"cdist(): argument 'p' (position 3) must be float, not {type_name(p)}")
    for name, t in (("X1", x1), ("X2", x2)):
        if t.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {t.dim()}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    for name, t in (("X1", x1), ("X2", x2)):
        if not t.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {t.dtype.scalar_name}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"expected scalar type {x1.dtype.scalar_name} but found {x2.dtype.scalar_name}")
    try:
        batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    except ValueError:
        raise broadcast_error(x1._data.shape[:-2], x2._data.shape[:-2]) from None
    m, n, k = x1.shape[-2], x2.shape[-2], x1.shape[-1]
    product = _WHEN[compute_mode]
    if p == 2 and k and m and n and (product or (product is None and (m > _MANY or n > _MANY))):
        both = [
            t.expand(*batch, *t.shape[-2:]).reshape(-1 if batch else 1, *t.shape[-2:]) if batch else t for t in (x1, x2)
        ]
        return _euclidean(*both).view(*batch, m, n)
    made = result(quiet.run(lambda: _distances(_pairs(x1, x2), p)), x1._device)
    return record(made, _CdistBackward0, (x1, x2), x1=x1, x2=x2, p=float(p)) if recording(x1, x2) else made


def _pdist_backward(grad: Tensor, self: Tensor, p: float, result_: Tensor) -> Tensor:
    i, j = np.triu_indices(self.shape[0], 1)

    def compute() -> np.ndarray:
        part = _slopes(self._data[i] - self._data[j], result_._data, p) * grad._data[:, None]
        out = np.zeros_like(self._data)
        np.add.at(out, i, part)
        np.subtract.at(out, j, part)
        return out

    out = result(quiet.run(compute), grad._device)
    return record(out, _PdistBackwardBackward0, (grad, self, result_)) if recording(grad, self) else out


_PdistBackward0 = node("PdistBackward0", lambda grad, self, p, result: _pdist_backward(grad, self, p, result))


@op(method=False)
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distances between all pairs of rows of (n, k), one after another.

    RuntimeError for other dimensions. Source: `torch.pdist`.
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    i, j = np.triu_indices(input.shape[0], 1)
    made = result(quiet.run(lambda: _distances(input._data[i] - input._data[j], p)), input._device)
    return record(made, _PdistBackward0, (input,), self=input, p=float(p)) if recording(input) else made
