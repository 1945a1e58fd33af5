"""Elements by their order: extremes and sorting.

Where torch chooses an element along a dimension the gradient goes to that element; where it reduces everything, or by
`amax` and `amin`, equal elements share it. Source: `torch.max` and so on, by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .choosing import masked_fill_with_, scatter_from
from .comparisons import isnan
from .creation import new_zeros
from .define import op
from .kernels import composite, row_major
from .layout import dense_strides, laid_out, wrap_dim, wrap_dims
from .pointwise import maximum, minimum
from .reductions import axes, sum_all, sum_dims
from .views import reshape, unsqueeze

# extremes -------------------------------------------------------------------------------------------------------------


def _to_chosen(grads: tuple, dim: int, indices: Any, self_sym_sizes: tuple, keepdim: bool) -> Any:
    """Each gradient goes to the element that was chosen."""
    grad = grads[0]
    if not keepdim and self_sym_sizes:
        grad, indices = unsqueeze(grad, dim), unsqueeze(indices, dim)
    return scatter_from(new_zeros(grad, self_sym_sizes), dim, indices, grad)


def _shared(grad: Any, self: Any, result: Any) -> Any:
    """The gradient of the one value of a whole tensor, shared among the elements that have it."""
    mask = isnan(self) if (result != result).any() else self == result
    return masked_fill_with_(new_zeros(grad, self.shape), mask, grad / sum_all(mask))


def _shared_along(grad: Any, self: Any, result: Any, dim: tuple, keepdim: bool) -> Any:
    if not keepdim:
        gone, rest = wrap_dims(dim, result.ndim + len(dim)) if dim else (), iter(result.shape)
        sizes = tuple(1 if d in gone else next(rest) for d in range(result.ndim + len(dim)))
        grad, result = reshape(grad, sizes), reshape(result, sizes)
    mask = result == self
    return grad / sum_dims(mask, dim, True) * mask


_PAIR = "-> (Tensor values, Tensor indices)"


def _not_empty(name: str, a: Any, dim: int) -> None:
    """Raise torch's error for a dimension without elements to choose from."""
    if a.ndim and a.shape[wrap_dim(dim, a.ndim)] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


_EMPTY = "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
_MATCH = "Expected the dtype for input and out to match, but got {0} for input's dtype and {1} for out's dtype."


def _chosen(a: Any, dim: int, keepdim: bool, indices: Any) -> tuple:
    """Elements of an array by their index along a dimension, which is kept in `indices`: values and indices."""
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    values = np.take_along_axis(a, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _extreme(name: str, ufunc: np.ufunc, arg: Any, of_two: Any) -> None:
    """`max`, `amax` and `argmax`, or the same for the smallest."""

    def whole(a: Any) -> Any:
        if not a.size:
            raise RuntimeError(_EMPTY.format(name))
        return np.asarray(ufunc.reduce(a, None))

    def along(a: Any, dim: int, keepdim: bool) -> tuple:
        d = wrap_dim(dim, a.ndim)
        _not_empty(name, a, d)
        return _chosen(a, d, keepdim, np.asarray(arg(a, d, keepdims=True), np.int64) if a.ndim else None)

    def along_dims(a: Any, dim: tuple, keepdim: bool) -> Any:
        if not a.size and not dim:
            raise RuntimeError(_EMPTY.format(f"a{name}"))
        for d in dim:
            _not_empty(f"a{name}", a, d)
        return np.asarray(ufunc.reduce(a, axes(a, wrap_dims(dim, a.ndim)), keepdims=keepdim))

    def position(a: Any, dim: int | None, keepdim: bool) -> Any:
        if a.dtype.kind == "b":
            raise RuntimeError(f"arg{name}(): does not support bool input")
        if dim is None and not a.size:
            raise IndexError(f"arg{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        if dim is not None:
            _not_empty(f"arg{name}", a, wrap_dim(dim, a.ndim))
        return np.asarray(arg(a, dim, keepdims=keepdim) if a.ndim else 0, np.int64)

    op(f"{name}(Tensor self)", whole, out=True, backward=f"{name.title()}Backward1", writes=1, self=_shared)
    op(f"{name}(Tensor self, Tensor other)", composite(of_two), out=True)
    op(f"{name}(Tensor self, int dim, bool keepdim=False) {_PAIR}", row_major(along), writes=2,
       backward=f"{name.title()}Backward0", self=_to_chosen)  # fmt: skip
    op(f"a{name}(Tensor self, int[1] dim=[], bool keepdim=False)", row_major(along_dims), out=_MATCH,
       self=_shared_along)  # fmt: skip
    op(f"arg{name}(Tensor self, int? dim=None, bool keepdim=False)", row_major(position), out="exact")


_extreme("max", np.maximum, np.argmax, maximum)
_extreme("min", np.minimum, np.argmin, minimum)

# sorting --------------------------------------------------------------------------------------------------------------


def _order(a: Any, dim: int, descending: bool) -> Any:
    """The order along a dimension, nan above everything; equal ones keep theirs."""
    if not a.ndim or not descending:
        return np.argsort(a, dim, kind="stable") if a.ndim else np.zeros((), np.int64)
    return np.flip(a.shape[dim] - 1 - np.argsort(np.flip(a, dim), dim, kind="stable"), dim)


def _sort(a: Any, dim: int, descending: bool) -> tuple:
    d = wrap_dim(dim, a.ndim)
    x = a if a.dtype.kind != "b" else a.view(np.uint8) != 0  # memory read as bools may hold any byte
    chosen = _chosen(x, d, True, _order(x, d, descending))
    return tuple([laid_out(x, dense_strides(a, x.itemsize)) for x in chosen])


def _topk(a: Any, k: int, dim: int, largest: bool, sorted: bool) -> tuple:
    d = wrap_dim(dim, a.ndim)
    if not 0 <= k <= (a.shape[d] if a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    return _chosen(a, d, True, np.take(_order(a, d, largest), range(k), d) if a.ndim else None)


def _to_sorted(grads: tuple, dim: int, indices: Any, self_sym_sizes: tuple) -> Any:
    return _to_chosen(grads, dim, indices, self_sym_sizes, True)


op(f"sort(Tensor self, *, bool? stable, int dim=-1, bool descending=False) {_PAIR}",
   lambda a, stable, dim, descending: _sort(a, dim, descending), backward="SortBackward1", writes=2, self=_to_sorted)  # fmt: skip
op(f"sort(Tensor self, int dim=-1, bool descending=False) {_PAIR}", _sort, backward="SortBackward0", writes=2,
   self=_to_sorted)  # fmt: skip
op("argsort(Tensor self, *, bool stable, int dim=-1, bool descending=False)",
   lambda a, stable, dim, descending: _sort(a, dim, descending)[1])  # fmt: skip
op("argsort(Tensor self, int dim=-1, bool descending=False)", lambda a, dim, descending: _sort(a, dim, descending)[1])
op(f"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) {_PAIR}", row_major(_topk), writes=2,
   self=_to_sorted)  # fmt: skip
