"""The order of elements along a dimension: `sort`, `argsort` and `topk`.

The order of equal elements is kept, as PyTorch's `sort` keeps it; its `topk` promises no order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dense_strides, empty_like_strides, wrap_dim
from .choosing import scatter_from_
from .define import op
from .filling import written_zeros
from .kernels import composite, row_major


def _find_order(a: np.ndarray, d: int, descending: bool) -> np.ndarray:
    """Return the indices that sort along a dimension; nan counts as the largest."""
    if not descending:
        return np.argsort(a, d, kind="stable")
    # Turned around before and after, so that equal elements stay in their order.
    backwards = np.argsort(np.flip(a, d), d, kind="stable")
    return np.flip(a.shape[d] - 1 - backwards, d)


def _sort_array(a: np.ndarray, dim: int, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted values and their indices, laid out as the array is."""
    d = wrap_dim(dim, a.ndim)
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    order = _find_order(a, d, descending)
    values = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    indices = empty_like_strides(a.shape, order.dtype, dense_strides(a, order.itemsize))
    values[...], indices[...] = np.take_along_axis(a, order, d), order
    return values, indices


def _grad_to_places(grads: tuple, dim: int, indices: Any, self_sym_sizes: tuple) -> Any:
    """Return the gradient of elements that were taken: each to the place that it came from."""
    return scatter_from_(written_zeros(grads[0], self_sym_sizes), dim, indices, grads[0])


_SORTED = "-> (Tensor values, Tensor indices)"
_sort_stable = op(
    f"sort(Tensor self, *, bool? stable, int dim=-1, bool descending=False) {_SORTED}",
    lambda a, stable, dim, descending: _sort_array(a, dim, descending),
    backward="SortBackward1",
    self=_grad_to_places,
)
sort = op(
    f"sort(Tensor self, int dim=-1, bool descending=False) {_SORTED}",
    _sort_array,
    backward="SortBackward0",
    self=_grad_to_places,
)
op(
    "argsort(Tensor self, *, bool stable, int dim=-1, bool descending=False)",
    composite(lambda self, stable, dim, descending: _sort_stable(self, stable, dim, descending)[1]),
    out=True,
)
op(
    "argsort(Tensor self, int dim=-1, bool descending=False)",
    composite(lambda self, dim, descending: sort(self, dim, descending)[1]),
)


def _find_largest(
    a: np.ndarray, k: int, dim: int, largest: bool, is_sorted: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the `k` largest or smallest values along a dimension, in order, and their indices."""
    d = wrap_dim(dim, a.ndim)
    if not 0 <= k <= (a.shape[d] if a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    order = np.take(_find_order(a, d, largest), range(k), d)
    return np.take_along_axis(a, order, d), order


op(
    f"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) {_SORTED}",
    row_major(_find_largest, checks_overlap=True),
    self=_grad_to_places,
)
