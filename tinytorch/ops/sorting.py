"""Elements in order: sorting, the largest ones, what is unique. Source: `torch.sort` and so on, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from .define import op, python
from .kernels import Kernel, row_major
from .layout import dense_strides, laid_out, wrap_dim
from .reductions import PAIR, chosen, to_chosen
from .views import view

_CHOSEN: dict[str, Any] = {
    "self": lambda grads, dim, indices, self_sym_sizes: to_chosen(grads, dim, indices, self_sym_sizes, True),
    "writes": 2,
}


def _order(a: Any, dim: int, descending: bool) -> Any:
    """The order along a dimension, nan above everything; equal ones keep theirs."""
    if not a.ndim or not descending:
        return np.argsort(a, dim, kind="stable") if a.ndim else np.zeros((), np.int64)
    return np.flip(a.shape[dim] - 1 - np.argsort(np.flip(a, dim), dim, kind="stable"), dim)


class like_input(Kernel):
    """A function whose results, one or several, lie as its first array does."""

    def __call__(self, a: Any, *values: Any) -> Any:
        """The results of the function, laid out."""
        out = self.function(a, *values)
        if type(out) is not tuple:
            return laid_out(out, dense_strides(a, out.itemsize))
        return tuple([laid_out(x, dense_strides(a, x.itemsize)) for x in out])


def _sort(a: Any, dim: int, descending: bool) -> tuple:
    d = wrap_dim(dim, a.ndim)
    a = a if a.dtype.kind != "b" else a.view(np.uint8) != 0  # memory read as bools may hold any byte
    return chosen(a, d, True, _order(a, d, descending))


def _argsort(a: Any, dim: int, descending: bool) -> Any:
    a = a if a.dtype.kind != "b" else a.view(np.uint8) != 0
    return _order(a, wrap_dim(dim, a.ndim), descending)


def _topk(a: Any, k: int, dim: int, largest: bool, sorted: bool) -> tuple:
    d = wrap_dim(dim, a.ndim)
    if not 0 <= k <= (a.shape[d] if a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    return chosen(a, d, True, np.take(_order(a, d, largest), range(k), d) if a.ndim else None)


op(f"sort(Tensor self, *, bool? stable, int dim=-1, bool descending=False) {PAIR}",
   like_input(lambda a, stable, dim, descending: _sort(a, dim, descending)), backward="SortBackward1", **_CHOSEN)  # fmt: skip
op(
    f"sort(Tensor self, int dim=-1, bool descending=False) {PAIR}",
    like_input(_sort),
    backward="SortBackward0",
    **_CHOSEN,
)
op("argsort(Tensor self, *, bool stable, int dim=-1, bool descending=False)",
   like_input(lambda a, stable, dim, descending: _argsort(a, dim, descending)))  # fmt: skip
op("argsort(Tensor self, int dim=-1, bool descending=False)", like_input(_argsort))
op(f"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) {PAIR}", row_major(_topk), **_CHOSEN)

# what is unique -------------------------------------------------------------------------------------------------------


def _unique(a: Any, return_inverse: bool, return_counts: bool, dim: int | None) -> tuple:
    if dim is not None and not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = None if dim is None else wrap_dim(dim, a.ndim)
    if d is not None and not a.size and (a.shape[d] or a.shape.count(0) > 1):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if d is not None and not a.size:
        values, inverse, counts = a.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    else:
        rows = a.reshape(-1) if d is None else a
        values, inverse, counts = np.unique(rows, return_inverse=True, return_counts=True, axis=d, equal_nan=False)
    inverse = inverse.reshape(a.shape if d is None else -1) if return_inverse else np.empty(0, np.int64)
    return values, inverse, counts if return_counts else np.empty(0, np.int64)


def _refuse(name: str) -> Any:
    def refuse(grads: tuple) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


_THREE = "-> (Tensor, Tensor, Tensor)"
_unique2 = op(f"_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) {_THREE}",
              lambda a, sorted, return_inverse, return_counts: _unique(a, return_inverse, return_counts, None), method=False, out=False,
              self=_refuse("_unique2"))  # fmt: skip
unique_dim = op(
    f"unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) {_THREE}",
    lambda a, dim, sorted, return_inverse, return_counts: _unique(a, return_inverse, return_counts, dim), method=False, out=False,
    self=_refuse("unique_dim"))  # fmt: skip


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different elements in order (or slices along a dimension); if asked, where each went and how often it occurs."""
    flags = (sorted, return_inverse, return_counts)
    found = _unique2(input, *flags) if dim is None else unique_dim(input, dim, *flags)
    wanted = [t for t, asked in zip(found, (True, return_inverse, return_counts), strict=True) if asked]
    return tuple(wanted) if len(wanted) > 1 else wanted[0]


python("unique", unique)


def _isin(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Any:
    for a in (elements, test_elements):
        if isinstance(a, np.ndarray) and a.dtype.kind == "b":
            raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    if isinstance(test_elements, np.ndarray) and test_elements.size < 10 * np.size(elements) ** 0.145:
        view(test_elements, (-1,))  # raises, as in torch, for what is not row-major
    return np.isin(elements, test_elements, invert=invert)


_FLAGS = "*, bool assume_unique=False, bool invert=False"
op(f"isin(Tensor elements, Tensor test_elements, {_FLAGS})", _isin, method=False)
op(f"isin(Scalar element, Tensor test_elements, {_FLAGS})", _isin, method=False)
op(f"isin(Tensor elements, Scalar test_element, {_FLAGS})", _isin, method=False)
