"""Writing along one dimension by index: index_add, index_copy, index_fill and put."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph.node import node
from ..tensor import Tensor, wrap_dim
from ..warn import warn_in_torch
from .arguments import is_number, unfit
from .copying import contiguous_format
from .core import (
    check_no_overlap,
    check_overlap,
    common_device,
    is_internally_overlapping,
    number_array,
    quiet,
    record,
    recording,
)
from .scatter import INDEXING_FILE, along, check_bounds, flat, in_range, index_select, take
from .views import as_strided, expand
from .writing import Recorded, both_forms


def _same_device(method: str, self: Tensor, index: Tensor, source: Tensor) -> None:
    if index._device is not self._device or source._device is not self._device:
        common_device(method, self, index, source, names=("self", "index", "source"))


def check_indexed(name: str, self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """What torch looks at before it adds or reduces by index: the index, dtypes, how many parts there are."""
    _same_device(name, self, index, source)
    a, i, s = self._data, index._data, source._data
    d, n = wrap_dim(dim, a.ndim), i.size
    if i.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {i.ndim} with type: "
            f"{index.dtype.scalar_name} and size: {list(i.shape)}"
        )
    if i.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise RuntimeError(
            f"{name}_(): self ({self.dtype.scalar_name}) and source ({source.dtype.scalar_name}) must have the same "
            "scalar type"
        )
    if d and d >= s.ndim:
        raise RuntimeError(f"{name}_(): Indexing dim {d} is out of bounds of the source tensor with dim {s.ndim}")
    if not s.ndim and n != 1:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    if s.ndim and s.shape[d] != n:
        raise RuntimeError(
            f"{name}_(): Number of indices ({n}) should be equal to source.size(dim): ({s.shape[d]}), for dim: {d}"
        )


def _source_grad(grad: Tensor, source: Tensor, dim: int, index: Tensor, source_dim: int) -> Tensor:
    if source_dim > 0:
        return expand(index_select(grad, dim, index), source.shape)
    return index_select(grad, dim, index.squeeze(0))


def _added(grad: Tensor, source: Tensor, dim: int, index: Tensor, source_dim: int, alpha: Any) -> Tensor:
    grad = _source_grad(grad, source, dim, index, source_dim)
    return grad if alpha == 1 else _times(grad, alpha)


def _times(grad: Tensor, other: Any) -> Tensor:
    out = grad.detach() * other
    return record(out, _MulBackward1, (grad,), other=other) if recording(grad) else out


_MulBackward1 = node("MulBackward1", _times)


_IndexAddBackward0 = node("IndexAddBackward0", lambda grad: grad, _added)
_IndexCopyBackward0 = node("IndexCopyBackward0", lambda grad, dim, index: index_fill(grad, dim, index, 0), _source_grad)
_IndexFillBackward0 = node("IndexFillBackward0", lambda grad, dim, index: index_fill(grad, dim, index, 0))
_IndexFillBackward1 = node(
    "IndexFillBackward1",
    lambda grad, dim, index: index_fill(grad, dim, index, 0),
    lambda grad, dim, index: index_select(grad, dim, index.unique()).sum(),
)
_PutBackward0 = node(
    "PutBackward0",
    lambda grad, index, accumulate: grad if accumulate else put(grad, index, grad.new_zeros(index.shape)),
    lambda grad, source, index: take(grad, index).reshape(source.shape),
)


def _from_source(kind: type) -> Any:
    def recorded(self: Tensor, values: dict) -> Recorded:
        source = values["source"]
        return kind, (self, source), {"source_dim": source._data.ndim}

    return recorded


def from_value(of_number: type, of_tensor: type) -> Any:
    """What is recorded when a number, or a tensor without dimensions, is written in many places."""

    def recorded(self: Tensor, values: dict) -> Recorded:
        value = values["value"]
        return (of_tensor, (self, value), {}) if isinstance(value, Tensor) else (of_number, (self,), {})

    return recorded


@both_forms("Parts of the source, times `alpha`, added at the given indices of one dimension.",
            _from_source(_IndexAddBackward0), layout=contiguous_format)  # fmt: skip
def _index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> None:
    a, i, s = self._data, index._data, source._data
    d = wrap_dim(dim, a.ndim)
    check_indexed("index_add", self, dim, index, source)
    if (a.shape[:d] + a.shape[d + 1 :]) != (s.shape[:d] + s.shape[d + 1 :]) or a.ndim != s.ndim:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(a.shape)} source.shape = {list(s.shape)}"
        )
    check_overlap(self)
    check_no_overlap(self, index, source)
    if a.ndim > 1 and alpha == 1:
        in_range(a, d, i)
    else:
        check_bounds(i, a.shape[d] if a.ndim else 1, 0, "index out of range in self", IndexError)
    if alpha != 1:
        s = quiet.run(np.multiply, s, np.asarray(int(alpha) if a.dtype.kind in "iu" else alpha).astype(a.dtype))
    quiet.run(np.add.at, a, along(a.ndim, d, i.reshape(-1)), s)


index_add = _index_add


@both_forms("Parts of the source written at the given indices of one dimension.", _from_source(_IndexCopyBackward0),
            layout=contiguous_format)  # fmt: skip
def _index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    _same_device("index_copy", self, index, source)
    a, i, s = self._data, index._data, source._data
    d = wrap_dim(dim, a.ndim)
    check_overlap(self)
    check_no_overlap(self, index, source)
    if i.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {i.ndim})")
    if not s.ndim and i.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {i.size})")
    if s.ndim and a.ndim and s.ndim != a.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({s.ndim}), destination dimensionality ({a.ndim})"
        )
    if i.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{self.dtype.scalar_name} and (source) {source.dtype.scalar_name}"
        )
    mine, other = (" ".join(map(str, x.shape[:d] + x.shape[d + 1 :])) for x in (a, s))
    if mine != other:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{mine} at dimension {d} and source slice shape: {other} at dimension 0."
        )
    if s.ndim and i.size != s.shape[d]:
        raise IndexError(
            f"index_copy_(): Number of indices ({i.size}) should be equal to source.size(dim) ({s.shape[d]})"
        )
    n = a.shape[d] if a.ndim else 1
    check_bounds(i, n, 0, f"index_copy_(): index {{}} is out of bounds for dimension {d} with size {n}", IndexError)
    a[along(a.ndim, d, i.reshape(-1))] = s if a.ndim else s.reshape(())


index_copy = _index_copy


@both_forms("One value written at the given indices of one dimension.",
            from_value(_IndexFillBackward0, _IndexFillBackward1))  # fmt: skip
def _index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> None:
    a, i = self._data, index._data
    value = one_value("index_fill_", value)
    if not is_number(value):
        raise unfit("index_fill")
    if i.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if is_internally_overlapping(self):
        warn_in_torch(
            "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
            "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar",
            f"{INDEXING_FILE}:1913",
        )
    if isinstance(value, complex):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    d = wrap_dim(dim, a.ndim)
    if i.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not a.size:  # what torch looks at here is not in an empty storage, and that is what it says
        at = self.stride()
        as_strided(self.detach(), (*a.shape[:d], i.size, *a.shape[d + 1 :]), (*at[:d], 0, *at[d + 1 :]))
    n = a.shape[d] if a.ndim else 1
    number = number_array(value, self.dtype)
    if not i.size * math.prod((*a.shape[:d], *a.shape[d + 1 :])):
        return
    check_no_overlap(self, index)
    check_bounds(i, n, -n, f"index {{}} is out of bounds for dimension {d} with size {n}", IndexError)
    a[along(a.ndim, d, i.reshape(-1))] = number


index_fill = _index_fill


def one_value(name: str, value: Any) -> Any:
    """The number to fill with. RuntimeError in torch's words for a tensor of dimensions."""
    if not isinstance(value, Tensor):
        return value
    if value._data.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {value._data.ndim} dimension(s)."
        )
    return value._data.item()


@both_forms("Elements written, or added, by their number in row-major order.", _from_source(_PutBackward0))
def _put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> None:
    a, i, s = self._data, index._data, source._data
    if i.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype.scalar_name} and source.dtype = {source.dtype.scalar_name}"
        )
    where = (self._device, index._device, source._device)
    if len(set(where)) > 1:
        raise RuntimeError(
            f"put_(): self, index and source expected to be in the same device, but got self.device = {where[0]}, "
            f"index.device = {where[1]}, and source.device = {where[2]}"
        )
    if i.size != s.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {s.size},"
            f" index.numel() = {i.size}"
        )
    if not a.size and i.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    check_overlap(self)
    check_no_overlap(self, index, source)
    i = flat(a, i.reshape(-1)) % max(a.size, 1)
    at = np.unravel_index(i, a.shape) if a.ndim else (...,)
    if accumulate:
        np.add.at(a, at, s.reshape(-1) if a.ndim else s.sum())
    else:
        a[at] = s.reshape(-1) if a.ndim else s.reshape(-1)[-1]


put = _put
