"""The order of elements: `sort`, `argsort`, `topk`, and one element in it: `median`, `kthvalue`.

The order of equal elements is kept, as PyTorch's `sort` keeps it if asked; the others promise none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import convert_values, dense_strides, empty_like_strides, size_of_dim, wrap_dim
from .choosing import scatter_from_
from .define import op
from .filling import written_zeros
from .kernels import check_kernel, composite, row_major
from .reductions import check_chosen_from, grad_shared_by_equals, grad_to_chosen


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
    composite(
        lambda *how: _sort_stable(*how)[1],
        into_out=lambda out, self, *how: _sort_stable.run_into_out(
            (self.new_empty((0,)), out), (self, *how)
        )[1],
    ),
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
    if not 0 <= k <= size_of_dim(a.shape, d):
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

# one element in order -----------------------------------------------------------------------------


def _take_in_order(a: np.ndarray, d: int, k: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements at place `k` of the order along a dimension, and their indices."""
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    order = np.take(_find_order(a, d, False), [k], d)
    values = np.take_along_axis(a, order, d)
    return (values, order) if keepdim else (values.squeeze(d), order.squeeze(d))


def _find_kth(a: np.ndarray, k: int, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the k-th smallest elements along a dimension, and their indices."""
    d = wrap_dim(dim, a.ndim)
    check_chosen_from(a, d, "kthvalue")
    if not 1 <= k <= size_of_dim(a.shape, d):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    check_kernel(a.dtype, "if", "kthvalue_cpu")
    return _take_in_order(a, d, k - 1, keepdim)


def _find_median(a: np.ndarray) -> np.ndarray:
    """Return the middle element, of two the lower one; nan if there is one, or no element."""
    if not a.size:
        return convert_values(np.array(np.nan), a.dtype)
    check_kernel(a.dtype, "if", "median_cpu")
    is_nan = a != a
    place = (a.size - 1) // 2
    return a[is_nan][0] if is_nan.any() else np.sort(a, axis=None)[place]


def _find_median_along(a: np.ndarray, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle elements along a dimension, and their indices. The first nan is the median."""
    d = wrap_dim(dim, a.ndim)
    check_chosen_from(a, d, "median")
    check_kernel(a.dtype, "if", "median_out")
    values, indices = _take_in_order(a, d, (size_of_dim(a.shape, d) - 1) // 2, keepdim)
    is_nan = a != a
    if not (a.ndim and is_nan.any()):
        return values, indices
    found = is_nan.any(d, keepdims=keepdim)
    return (
        np.where(found, a.dtype.type(np.nan), values),
        np.where(found, is_nan.argmax(d, keepdims=keepdim), indices),
    )


op("median(Tensor self)", row_major(_find_median), out=False, self=grad_shared_by_equals)
op(
    f"median(Tensor self, int dim, bool keepdim=False) {_SORTED}",
    row_major(_find_median_along),
    out="Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but "
    "type torch.{1}Tensor does not equal torch.{0}Tensor (while checking arguments for median)",
    backward="MedianBackward1",
    self=grad_to_chosen,
)
op(
    f"kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) {_SORTED}",
    row_major(_find_kth, checks_overlap=True),
    out="output values must be of same type as input",
    self=grad_to_chosen,
)
