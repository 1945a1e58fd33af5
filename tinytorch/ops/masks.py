"""Choosing by a mask: where, masked_fill, masked_select, nonzero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import warn_in_torch
from ..tensor import Tensor
from .copies import contiguous_format, copied
from .creation import number_array, zeros_like
from .define import op, python
from .kernels import as_array, composite, result_dtype, shape_of_all, write
from .layout import broadcast_error, check_broadcast_into, check_no_overlap, is_expanded, result_layout, shared_memory
from .parts import unbind
from .views import array_of, expand


def in_copy(f: Any, layout: Any = contiguous_format, masked: bool = False) -> Any:
    """The operation that a writing function is on a copy of its first array, in the shape in which that meets a mask."""

    def kernel(a: np.ndarray, *args: Any) -> np.ndarray:
        shape = _together(args[0], a) if masked else a.shape
        out = copied(a if shape == a.shape else np.broadcast_to(a, shape), layout)
        f(out, *args)
        return out

    return kernel


def _together(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    if a.shape == b.shape:
        return a.shape
    try:
        return np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise broadcast_error(a.shape, b.shape) from None


# masked ---------------------------------------------------------------------------------------------------------------


def fill_where(a: np.ndarray, mask: np.ndarray, value: Any) -> None:
    """Write one value where the mask is true."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    if mask.dtype != bool:
        name = dtypes.cpp_name(dtypes.BY_NUM[mask.dtype.num])
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {name}")
    if is_expanded(a):
        warn_in_torch(
            "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:2450",
        )
    if shared_memory(a, mask) == "partial":
        check_no_overlap(a, mask)
    check_broadcast_into(a.shape, mask.shape)
    number = value.item() if isinstance(value, np.ndarray) else value
    np.copyto(a, number_array(number, dtypes.BY_NUM[a.dtype.num]), where=mask)


def _put_back(a: np.ndarray, mask: np.ndarray, source: np.ndarray) -> None:
    a[np.broadcast_to(mask, a.shape)] = source


def _masked_select(a: np.ndarray, mask: np.ndarray) -> np.ndarray:
    if mask.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = _together(mask, a)
    chosen = np.broadcast_to(a, shape)[np.broadcast_to(mask, shape)]
    return chosen if chosen.size else np.empty(0, a.dtype)


def _unselected(grad: Any, self: Any, mask: Any) -> Any:
    whole = expand(self, _together(array_of(self), array_of(mask)))
    return _masked_scatter_(zeros_like(whole), mask, grad)


def _fills(kind: str, **back: Any) -> tuple:
    """`masked_fill` and its in-place form, by a tensor of no dimensions or by a number."""
    back["self"] = lambda grad, mask: masked_fill(grad, mask, 0)
    return (op(f"masked_fill(Tensor self, Tensor mask, {kind} value)", in_copy(fill_where, masked=True), out=False, **back),
            op(f"masked_fill_(Tensor(a!) self, Tensor mask, {kind} value)", write(fill_where), function=False, **back))  # fmt: skip


_, masked_fill_with_ = _fills("Tensor", backward="MaskedFillBackward1", self=None,
                              value=lambda grad, mask: masked_select(grad, mask).sum())  # fmt: skip
masked_fill, masked_fill_ = _fills("Scalar", backward="MaskedFillBackward0")
masked_select = op("masked_select(Tensor self, Tensor mask)", _masked_select, writes=1, self=_unselected,
                   out="masked_select(): self and result must have the same scalar type")  # fmt: skip
_masked_scatter_ = op(
    "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source)", write(_put_back), function=False, method=False,
    self=lambda grad, mask: masked_fill(grad, mask, 0), source=lambda grad, mask, source_sym_sizes: masked_select(grad, mask))  # fmt: skip

# where and nonzero ----------------------------------------------------------------------------------------------------------------


def _chosen(condition: np.ndarray, self: Any, other: Any) -> np.ndarray:
    if condition.dtype != bool:
        name = dtypes.BY_NUM[condition.dtype.num].scalar_name
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}")
    d = result_dtype(self, other)
    a, b = as_array(self, d), as_array(other, d)
    if not condition.shape == a.shape == b.shape:
        shape_of_all(condition, a, b)
    return result_layout(np.where(condition, a, b), condition, a, b)


def _nonzero(a: np.ndarray) -> np.ndarray:
    found = np.array(a.nonzero() if a.ndim else np.empty((0, int(a != 0))), np.int64)
    n, count = found.shape
    return np.ndarray((count, n), np.int64, found, 0, (8, 8 * count))  # torch's is turned, too


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The indices of all elements that are not zero: a row for each, or a tensor for each dimension."""
    if not as_tuple:
        return _indices(input) if out is None else _indices.into(out, (input,))
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return unbind(_indices(input if input._data.ndim else input.detach().reshape(1)), 1)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The tensor where the condition is true, else `other`."""
    return where(condition, self, other)


_CONDITION = "where(Tensor condition, {} self, {} other)"
op("where(Tensor condition) -> Tensor[]", composite(lambda condition: nonzero(condition, as_tuple=True)))
where = op(_CONDITION.format("Tensor", "Tensor"), _chosen, backward="WhereBackward0",
           self=lambda grad, condition: where(condition, grad, 0), other=lambda grad, condition: where(condition, 0, grad))  # fmt: skip
for _self, _other in (("Scalar", "Tensor"), ("Tensor", "Scalar"), ("Scalar", "Scalar")):
    op(_CONDITION.format(_self, _other), composite(lambda condition, self, other: where(condition, self, other)))
python("where", _where_method, function=False)

_indices = op("nonzero(Tensor self)", _nonzero, method=False, function=False)
python("nonzero", nonzero)
