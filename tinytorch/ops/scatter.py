"""Reading and writing along one dimension by index: index_select, gather, take, index_add, scatter and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node, not_differentiable
from ..tensor import Tensor, fresh, wrap_dim
from ..warn import warn_in_torch
from .copying import contiguous_format
from .core import (
    FUNCTIONS,
    broadcast_error,
    check_no_overlap,
    check_overlap,
    expect_tensor,
    is_internally_overlapping,
    number_array,
    op,
    quiet,
    record,
    recording,
    write_out,
)
from .views import as_strided, expand
from .writing import Recorded, both_forms

_INDEXING_FILE = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"


def _along(ndim: int, d: int, index: np.ndarray) -> tuple:
    return (slice(None),) * d + (index,) if ndim else (...,)


def _check_bounds(index: np.ndarray, n: int, least: int, message: str, kind: type[Exception] = RuntimeError) -> None:
    bad = (index < least) | (index >= n)
    if bad.any():
        raise kind(message.format(index[bad].flat[0]))


# index_select --------------------------------------------------------------------------------------------------------

_IndexSelectBackward0 = node(
    "IndexSelectBackward0",
    lambda grad, self_sym_sizes, dim, index: index_add(grad.new_zeros(self_sym_sizes), dim, index, grad),
)


@op()
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The parts at the given indices of one dimension, in a copy.

    Source: `torch.index_select`.
    """
    a, i = input._data, index._data
    d = wrap_dim(dim, a.ndim)
    if i.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if i.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not a.ndim and i.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {i.size} value(s)")
    n = a.shape[d] if a.ndim else 1
    if not n and i.size and a.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if d == 0 or a.ndim == 1:
        _check_bounds(i, n, 0, "index out of range in self", IndexError)
    else:
        _check_bounds(i, n, 0, f"INDICES element is out of DATA bounds, id={{}} axis_dim={n}")
    data = np.ascontiguousarray(np.take(a, i.reshape(-1), d)) if a.ndim else a.copy()
    if out is not None:
        return write_out(out, data, "index_select", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _IndexSelectBackward0, (input,), self_sym_sizes=a.shape, dim=dim, index=index)
    return made


# gather and take -----------------------------------------------------------------------------------------------------

_GatherBackward0 = node(
    "GatherBackward0",
    lambda grad, self, dim, index, sparse_grad: scatter_add(grad.new_zeros(self.shape), dim, index, grad),
)
_TakeBackward0 = node(
    "TakeBackward0",
    lambda grad, self, index: put(FUNCTIONS["zeros_like"](self), index, grad, accumulate=True),
)


def _points(a: np.ndarray, d: int, index: np.ndarray) -> tuple:
    """NumPy's index for the elements that `gather` reads and `scatter` writes."""
    if not a.ndim:
        return (...,)
    at = list(np.ogrid[tuple(slice(n) for n in index.shape)]) if index.ndim else [()]
    at[d] = index
    return tuple(at)


def _check_index(name: str, a: np.ndarray, d: int, index: np.ndarray, words: str = "int32/int64") -> None:
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype {words} for index")


def _in_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
    n = a.shape[d] if a.ndim else 1
    _check_bounds(index, n, 0, f"index {{}} is out of bounds for dimension {d} with size {n}")


@op()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """For each place of `index`, the element at that place with the index put in for one dimension.

    Source: `torch.gather`.
    """
    a, i = input._data, index._data
    d = wrap_dim(dim, a.ndim)
    _check_index("gather", a, d, i)
    if i.size:
        if max(i.ndim, 1) != max(a.ndim, 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
        for k, n in enumerate(i.shape):
            if k != d and a.ndim and n > a.shape[k]:
                raise RuntimeError(
                    f"Size does not match at dimension {k} expected index {list(i.shape)} to be no larger than self "
                    f"{list(a.shape)} apart from dimension {d}"
                )
    _in_range(a, d, i)
    if not i.size:
        data = np.empty(i.shape, a.dtype)
    elif not a.ndim:
        data = np.full(i.shape, a)
    else:
        data = np.ascontiguousarray(a[_points(a, d, i.reshape(i.shape or (1,)))]).reshape(i.shape)
    if out is not None:
        return write_out(out, data, "gather", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _GatherBackward0, (input,), self=input, dim=dim, index=index, sparse_grad=sparse_grad)
    return made


def _flat(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    n = a.size
    _check_bounds(index, n, -n, f"out of range: tried to access index {{}} on a tensor of {n} elements.", IndexError)
    return index


@op()
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements by their number in row-major order, in the shape of `index`.

    Source: `torch.take`.
    """
    a, i = input._data, index._data
    if i.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if not a.size and i.size:
        raise IndexError("take(): tried to take from an empty tensor")
    data = a.reshape(-1)[_flat(a, i)]
    if out is not None:
        return write_out(out, data, "take", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _TakeBackward0, (input,), self=input, index=index)
    return made


@op()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` whose operands broadcast against each other; without `dim`, elements by number.

    Source: `torch.take_along_dim`.
    """
    a, i = input._data, indices._data
    if i.dtype != np.int64:
        kind = indices.dtype.scalar_name
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {kind}")
    if dim is None:
        return gather(input.view(-1), 0, indices.view(-1))
    if a.ndim != i.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{a.ndim} dimensions for input, and {i.ndim} dimensions for indices"
        )
    d = wrap_dim(dim, a.ndim)
    ones = lambda s: (*s[:d], 1, *s[d + 1 :])  # noqa: E731
    try:
        both = np.broadcast_shapes(ones(a.shape), ones(i.shape))
    except ValueError:
        raise broadcast_error(ones(a.shape), ones(i.shape)) from None
    whole = lambda s: (*both[:d], s[d], *both[d + 1 :])  # noqa: E731
    return gather(expand(input, whole(a.shape)), d, expand(indices, whole(i.shape)))


# index_add, index_copy, index_fill, put ------------------------------------------------------------------------------


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
    lambda grad, dim, index: index_select(grad, dim, index).sum(),
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
    d, n = wrap_dim(dim, a.ndim), i.size
    if i.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {i.ndim} with type: "
            f"{index.dtype.scalar_name} and size: {list(i.shape)}"
        )
    if i.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({self.dtype.scalar_name}) and source ({source.dtype.scalar_name}) must have the same "
            "scalar type"
        )
    if not s.ndim and (a.ndim or n != 1):
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    if s.ndim and d >= s.ndim:
        raise RuntimeError(f"index_add_(): Indexing dim {d} is out of bounds of the source tensor with dim {s.ndim}")
    if s.ndim and s.shape[d] != n:
        raise RuntimeError(
            f"index_add_(): Number of indices ({n}) should be equal to source.size(dim): ({s.shape[d]}), for dim: {d}"
        )
    if (a.shape[:d] + a.shape[d + 1 :]) != (s.shape[:d] + s.shape[d + 1 :]) or (not a.ndim and s.ndim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(a.shape)} source.shape = {list(s.shape)}"
        )
    check_overlap(self)
    check_no_overlap(self, index, source)
    _in_range(a, d, i)
    if alpha != 1:
        s = quiet.run(np.multiply, s, np.asarray(int(alpha) if a.dtype.kind in "iu" else alpha, a.dtype))
    quiet.run(np.add.at, a, _along(a.ndim, d, i.reshape(-1)), s)


index_add = _index_add


@both_forms("Parts of the source written at the given indices of one dimension.", _from_source(_IndexCopyBackward0),
            layout=contiguous_format)  # fmt: skip
def _index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    a, i, s = self._data, index._data, source._data
    d = wrap_dim(dim, a.ndim)
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
    check_overlap(self)
    check_no_overlap(self, index, source)
    n = a.shape[d] if a.ndim else 1
    _check_bounds(i, n, 0, f"index_copy_(): index {{}} is out of bounds for dimension {d} with size {n}", IndexError)
    a[_along(a.ndim, d, i.reshape(-1))] = s if a.ndim else s.reshape(())


index_copy = _index_copy


@both_forms("One value written at the given indices of one dimension.",
            from_value(_IndexFillBackward0, _IndexFillBackward1))  # fmt: skip
def _index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> None:
    a, i = self._data, index._data
    number = number_array(one_value("index_fill_", value), self.dtype)
    if i.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if is_internally_overlapping(self):
        warn_in_torch(
            "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
            "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar",
            f"{_INDEXING_FILE}:1913",
        )
    d = wrap_dim(dim, a.ndim)
    if i.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not a.size:  # what torch looks at here is not in an empty storage, and that is what it says
        at = self.stride()
        as_strided(self.detach(), (*a.shape[:d], i.size, *a.shape[d + 1 :]), (*at[:d], 0, *at[d + 1 :]))
    n = a.shape[d] if a.ndim else 1
    _check_bounds(i, n, -n, f"index {{}} is out of bounds for dimension {d} with size {n}", IndexError)
    a[_along(a.ndim, d, i.reshape(-1))] = number


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
    if i.size != s.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {s.size},"
            f" index.numel() = {i.size}"
        )
    if i.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype.scalar_name} and source.dtype = {source.dtype.scalar_name}"
        )
    if not a.size and i.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    check_overlap(self)
    check_no_overlap(self, index, source)
    i = _flat(a, i.reshape(-1)) % max(a.size, 1)
    at = np.unravel_index(i, a.shape) if a.ndim else (...,)
    if accumulate:
        np.add.at(a, at, s.reshape(-1) if a.ndim else s.sum())
    else:
        a[at] = s.reshape(-1) if a.ndim else s.reshape(-1)[-1]


put = _put

# scatter -------------------------------------------------------------------------------------------------------------

_ScatterBackward0 = node(
    "ScatterBackward0",
    lambda grad, dim, index: scatter(grad, dim, index, 0),
    lambda grad, dim, index: gather(grad, dim, index),
)
_ScatterBackward1 = node("ScatterBackward1", lambda grad, dim, index: scatter(grad, dim, index, 0))
_ScatterAddBackward0 = node("ScatterAddBackward0", lambda grad: grad, lambda grad, dim, index: gather(grad, dim, index))
_NoBackward = not_differentiable("aten::scatter")
_NoBackward.in_place = not_differentiable("aten::scatter_")  # type: ignore[attr-defined]


def _write_scattered(self: Tensor, dim: int, index: Tensor, src: Any, how: Any) -> None:
    a, i = self._data, index._data
    d = wrap_dim(dim, a.ndim)
    _check_index("scatter", a, d, i)
    tensor = isinstance(src, Tensor)
    if tensor and src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not i.size:
        return
    shapes = [("self", a.shape)] + ([("src", src._data.shape)] if tensor else [])
    for word, shape in shapes:
        if max(len(shape), 1) != max(i.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {word} tensor")
    size = i.shape or (1,)
    too_big = any(k != d and n > m for k, (n, m) in enumerate(zip(size, a.shape or (1,), strict=True)))
    if tensor:
        too_big = too_big or any(n > m for n, m in zip(size, src._data.shape or (1,), strict=True))
    if too_big:
        more = f" and to be no larger size than src {list(src._data.shape)}" if tensor else ""
        raise RuntimeError(
            f"Expected index {list(i.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}{more}"
        )
    check_overlap(self)
    check_no_overlap(self, index, *([src] if tensor else []))
    _in_range(a, d, i)
    if tensor:
        values = src._data.reshape(src._data.shape or (1,))[tuple(slice(n) for n in size)]
        values = values if a.ndim else values.reshape(-1)[-1]
    else:
        values = number_array(src, self.dtype)
    at = _points(a, d, i.reshape(size))
    if how is None:
        a[at] = values
    else:
        quiet.run(how.at, a, at, values)


def _scatter_node(self: Tensor, values: dict) -> Recorded:
    src = values["value"] if values["src"] is None else values["src"]
    inputs = (self, src) if isinstance(src, Tensor) else (self,)
    if values["reduce"] is not None:
        return _NoBackward, inputs, {}
    return (_ScatterBackward0 if len(inputs) > 1 else _ScatterBackward1), inputs, {}


@both_forms(
    "The source's elements, or one value, written at the places that `index` names along one dimension.", _scatter_node,
    layout=contiguous_format,
)  # fmt: skip
def _scatter(self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None) -> None:
    src = value if src is None else src
    if reduce is not None:
        if isinstance(src, Tensor):
            warn_in_torch(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
                "PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
                f"{_INDEXING_FILE}:225",
                once=True,
            )
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
    _write_scattered(self, dim, index, src, {"add": np.add, "multiply": np.multiply}.get(reduce))


scatter = _scatter


@both_forms("The source's elements added at the places that `index` names along one dimension.",
            lambda self, values: (_ScatterAddBackward0, (self, values["src"]), {}),
            layout=contiguous_format)  # fmt: skip
def _scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    _write_scattered(self, dim, index, expect_tensor(src, "scatter_add"), np.add)


scatter_add = _scatter_add
