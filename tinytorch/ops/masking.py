"""Choosing by a mask: where, masked_fill, masked_select, masked_scatter, nonzero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import cpp_name
from ..graph.node import node
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch
from .arguments import ABSENT, in_full, is_number, unfit
from .copying import contiguous_format
from .core import (
    FUNCTIONS,
    as_array,
    broadcast_error,
    check_no_overlap,
    check_overlap,
    common_device,
    is_internally_overlapping,
    number_array,
    op,
    record,
    recording,
    result,
    result_dtype,
    shared_memory,
    write_out,
)
from .index_writes import from_value, one_value
from .pointwise import check_broadcast_into
from .splitting import unbind
from .views import expand
from .writing import both_forms


def _broadcast(a: Tensor, b: Tensor) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a._data.shape, b._data.shape)
    except ValueError:
        raise broadcast_error(a._data.shape, b._data.shape) from None


def _whole(input: Tensor, values: dict) -> Tensor:
    """The input expanded to the shape that it and the mask broadcast to."""
    shape = _broadcast(values["mask"], input)
    return input if shape == input._data.shape else expand(input, shape)


# masked_fill ---------------------------------------------------------------------------------------------------------

_MaskedFillBackward0 = node("MaskedFillBackward0", lambda grad, mask: masked_fill(grad, mask, 0))
_MaskedFillBackward1 = node(
    "MaskedFillBackward1",
    lambda grad, mask: masked_fill(grad, mask, 0),
    lambda grad, mask: masked_select(grad, mask).sum(),
)


@both_forms("One value where the mask is true.", from_value(_MaskedFillBackward0, _MaskedFillBackward1),
            layout=contiguous_format, whole=_whole)  # fmt: skip
def _masked_fill(self: Tensor, mask: Tensor, value: Any) -> None:
    value = one_value("masked_fill_", value)
    if not is_number(value):
        raise unfit("masked_fill")
    if mask._device is not self._device:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask._device} and self on {self._device}"
        )
    if mask._data.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {cpp_name(mask.dtype)}")
    if is_internally_overlapping(self):
        warn_in_torch(
            "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
            "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:2450",
        )
    if shared_memory(self, mask) == "partial":
        check_no_overlap(self, mask)
    check_broadcast_into(self, mask._data.shape)
    np.copyto(self._data, number_array(value, self.dtype), where=mask._data)


masked_fill, fill_where = _masked_fill, _masked_fill.write

# masked_select and masked_scatter ------------------------------------------------------------------------------------

_MaskedSelectBackward0 = node("MaskedSelectBackward0", lambda grad, self, mask: _unselected(grad, self, mask))
_MaskedScatterBackward0 = node(
    "MaskedScatterBackward0",
    lambda grad, mask: masked_fill(grad, mask, 0),
    lambda grad, mask, source_sym_sizes: _unscattered(grad, mask, source_sym_sizes),
)
_MaskedScatterBackwardBackward0 = node(
    "MaskedScatterBackwardBackward0",
    lambda grad, _sizes, mask: masked_scatter(grad.new_zeros(_sizes), mask, grad),
)


def _unselected(grad: Tensor, self: Tensor, mask: Tensor) -> Tensor:
    shape = _broadcast(self, mask)
    out = FUNCTIONS["zeros_like"](self.detach().expand(shape)).masked_scatter_(mask, grad)
    return out if shape == self._data.shape else out.sum_to_size(self.shape)


def _unscattered(grad: Tensor, mask: Tensor, sizes: tuple) -> Tensor:
    """What `masked_scatter` took from its source, and zeros for what it left, as one recorded operation."""
    data = np.zeros(sizes, grad._data.dtype)
    taken = grad._data[np.broadcast_to(mask._data, grad._data.shape)]
    data.reshape(-1)[: taken.size] = taken
    out = fresh(data, grad._device)
    if recording(grad):
        record(out, _MaskedScatterBackwardBackward0, (grad,), _sizes=grad._data.shape, mask=mask)
    return out


@op()
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where the mask is true, in one dimension; the two broadcast against each other.

    Source: `torch.masked_select`.
    """
    if mask._data.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = _broadcast(mask, input)
    data = np.broadcast_to(input._data, shape)[np.broadcast_to(mask._data, shape)]
    if out is not None:
        return write_out(out, data, "masked_select", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _MaskedSelectBackward0, (input,), self=input, mask=mask)
    return made


@both_forms("The source's elements, in order, where the mask is true.",
            lambda self, values: (_MaskedScatterBackward0, (self, values["source"]),
                                  {"source_sym_sizes": values["source"]._data.shape}),
            layout=contiguous_format, whole=_whole)  # fmt: skip
def _masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> None:
    a = self._data
    check_overlap(self)
    if self.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{self.dtype.scalar_name} and "
            f"{source.dtype.scalar_name}"
        )
    expand(mask.detach(), a.shape)  # raises if it cannot be expanded
    if mask._data.dtype == np.uint8:
        warn_in_torch(
            "masked_scatter_ received a mask with dtype torch.uint8, this behavior is now deprecated,please use a mask "
            "with dtype torch.bool instead.",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:2810",
        )
    if mask._data.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.scalar_name}"
        )
    at = np.broadcast_to(mask._data, a.shape)
    n = int(at.sum())
    if n > source._data.size:
        a.flat[np.flatnonzero(at)[: source._data.size]] = source._data.reshape(
            -1
        )  # torch finds out when it has run out
        raise RuntimeError("Number of elements of source < number of ones in mask")
    a[at] = source._data.reshape(-1)[:n]


masked_scatter = _masked_scatter

# where ---------------------------------------------------------------------------------------------------------------

_WhereBackward0 = node(
    "WhereBackward0",
    lambda grad, condition: where(condition, grad, 0),
    lambda grad, condition: where(condition, 0, grad),
)


@op("where", method=False, guard=False)
def where(condition: Tensor = ABSENT, /, *choices: Any, **named: Any) -> Any:
    """`input` where the condition is true, else `other` (tensors or numbers); with the condition alone, its indices.

    Source: `torch.where`.
    """
    if len(choices) == 2 and not named and isinstance(condition, Tensor):
        input, other = choices
        if isinstance(input, Tensor) and isinstance(other, Tensor):
            c, a, b, device = condition._data, input._data, other._data, condition._device
            if (
                a.dtype is b.dtype
                and c.dtype.kind == "b"
                and c.shape == a.shape == b.shape
                and device is input._device is other._device
            ):
                made = result(np.where(c, a, b), device, c, a, b)
                if recording(input, other):
                    _WhereBackward0.record(made, choices, condition=condition)
                return made
    return in_full(_where, "where", (condition, *choices), named, of_view=False)


def _where(condition: Tensor, input: Any = ABSENT, other: Any = ABSENT, *, out: Tensor | None = None) -> Any:
    if input is ABSENT and other is ABSENT:
        return nonzero(condition, as_tuple=True)
    if not all(isinstance(x, Tensor) or is_number(x) for x in (input, other)):
        raise unfit("where")
    if out is not None and not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise unfit("where")
    if condition._data.dtype == np.uint8:
        warn_in_torch(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead.",
            "aten/src/ATen/native/TensorCompare.cpp:621",
            once=True,
        )
    elif condition._data.dtype.kind != "b":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    d = result_dtype(input, other)
    input, other = (_recorded_cast(x, d) for x in (input, other))
    a, b = _operand(input, d), _operand(other, d)
    device = common_device("where", *[t for t in (condition, input, other) if isinstance(t, Tensor)])
    shape = ()
    for x in (condition._data, a, b):
        try:
            shape = np.broadcast_shapes(shape, x.shape)
        except ValueError:
            raise broadcast_error(shape, x.shape) from None
    data = np.where(condition._data.astype(bool, copy=False), a, b)
    if out is not None:
        return write_out(out, data, "where", *[t for t in (input, other) if isinstance(t, Tensor)])
    made = result(data, device, condition._data, a, b)
    if recording(*[t for t in (input, other) if isinstance(t, Tensor)]):
        record(made, _WhereBackward0, (input, other), condition=condition)
    return made


def _recorded_cast(x: Any, d: dtypes.dtype) -> Any:
    """Integers that require grad, as a view of a tensor does that got other `.data`, are cast in the open."""
    return (
        x.to(d) if isinstance(x, Tensor) and x.requires_grad and x._data.dtype.kind != "f" and x.dtype is not d else x
    )


def _operand(x: Any, d: dtypes.dtype) -> np.ndarray:
    return as_array(x, d) if isinstance(x, Tensor) else number_array(x, d)


@op("where", function=False)
def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The tensor where the condition is true, else `other`.

    Source: `torch.Tensor.where`.
    """
    return where(condition, self, other)


# nonzero -------------------------------------------------------------------------------------------------------------


@op()
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of all elements that are not zero: a row for each, or a tensor for each dimension.

    Source: `torch.nonzero`.
    """
    a = input._data
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return unbind(nonzero(input if a.ndim else input.detach().reshape(1)), 1)
    found = np.array(a.nonzero() if a.ndim else np.empty((0, int(a != 0))), np.int64, ndmin=2)
    found = found.reshape(a.ndim, -1) if a.ndim else np.empty((0, int(a != 0)), np.int64)
    n, count = found.shape
    steps = (8, 8 * (count if found.size else max(n and 0, min(count, 1))))
    if out is not None:
        fits = out._data.shape == (count, n)
        write_out(out, found.T, "nonzero", layout=(found.T,))
        if not fits:
            out._data = np.ndarray((count, n), out._data.dtype, out._own_storage().buffer, out._offset, steps)
        return out
    made = fresh(found, input._device)
    made._own_storage()
    return made._strided((count, n), steps, 0)


@op()
def argwhere(input: Tensor) -> Tensor:
    """The indices of all elements that are not zero, a row for each.

    Source: `torch.argwhere`.
    """
    return nonzero(input)


@op()
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """The indices of the first `size` elements that are not zero, a row for each; rows of `fill_value` if there are fewer.

    Source: `torch.nonzero_static`.
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = np.argwhere(input._data)[:size] if input._data.ndim else np.empty((0, 0), np.int64)
    data = np.full((size, input._data.ndim), fill_value, np.int64)
    data[: len(found)] = found
    if out is None:
        return result(data, input._device)
    if out._data.dtype != np.int64:
        raise RuntimeError(
            f"nonzero_static: Expected out tensor to have scalar type Long but got scalar type{out.dtype.scalar_name}"
        )
    return write_out(out, data, "nonzero_static")


@op(method=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Numbers of elements as indices, a tensor for each dimension of `shape`; they wrap around.

    TypeError for indices that are no integers and shapes that are none. Source: `torch.unravel_index`.
    """
    if indices._data.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    sizes: Any = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    sizes = tuple(sizes)
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [int(np.prod(sizes[i + 1 :], dtype=np.int64)) for i in range(len(sizes))]
    a = indices._data.astype(np.int64)
    found = [a // step % n for n, step in zip(sizes, steps, strict=True)]
    return unbind(result(np.stack(found, -1), indices._device), -1) if found else ()
