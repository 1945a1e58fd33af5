"""Reading and writing along one dimension by index: index_select, gather, take, index_*_, scatter_."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.node import node
from ..tensor import Tensor, fresh, wrap_dim
from ..warn import warn_in_torch
from .arguments import Number, signatures, typed
from .copying import contiguous_format
from .core import (
    broadcast_error,
    check_no_overlap,
    check_overlap,
    expect_tensor,
    float_to_int,
    is_internally_overlapping,
    number_array,
    on_a_copy,
    op,
    quiet,
    record,
    recording,
    write_in_place,
    write_out,
)
from .memory import not_differentiable
from .views import expand

_INDEXING_FILE = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"


def _along(ndim: int, d: int, index: np.ndarray) -> tuple:
    return (slice(None),) * d + (index,) if ndim else (...,)


def _check_bounds(index: np.ndarray, n: int, least: int, message: str, kind: type[Exception] = RuntimeError) -> None:
    bad = (index < least) | (index >= n)
    if bad.any():
        raise kind(message.format(index[bad].flat[0]))


# index_select ------------------------------------------------------------------------------------------------------------

_IndexSelectBackward0 = node(
    "IndexSelectBackward0",
    lambda grad, self_sym_sizes, dim, index: index_add(grad.new_zeros(self_sym_sizes), dim, index, grad),
)


@op()
@typed
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The parts at the given indices of one dimension, in a copy.

    Source: `torch.index_select`.
    """
    a, i = input._data, index._data
    d = wrap_dim(dim, a.ndim)
    if i.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if i.dtype != np.int64 and i.dtype != np.int32:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not a.ndim and i.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {i.size} value(s)")
    n = a.shape[d] if a.ndim else 1
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


# gather and take ---------------------------------------------------------------------------------------------------------

_GatherBackward0 = node(
    "GatherBackward0",
    lambda grad, self, dim, index, sparse_grad: scatter_add(grad.new_zeros(self.shape), dim, index, grad),
)
_TakeBackward0 = node(
    "TakeBackward0",
    lambda grad, self, index: put(grad.new_zeros(self.shape), index, grad, accumulate=True),
)


def _points(a: np.ndarray, d: int, index: np.ndarray) -> tuple:
    """NumPy's index for the elements that `gather` reads and `scatter` writes."""
    if not a.ndim:
        return (...,)
    at = list(np.ogrid[tuple(slice(n) for n in index.shape)]) if index.ndim else [()]
    at[d] = index
    return tuple(at)


def _check_index(name: str, a: np.ndarray, d: int, index: np.ndarray, words: str = "int32/int64") -> None:
    if index.dtype != np.int64 and index.dtype != np.int32:
        raise RuntimeError(f"{name}(): Expected dtype {words} for index")


def _in_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
    n = a.shape[d] if a.ndim else 1
    _check_bounds(index, n, 0, f"index {{}} is out of bounds for dimension {d} with size {n}")


@op()
@typed
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
@typed
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
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.scalar_name}")  # fmt: skip
    if dim is None:
        return gather(input.view(-1) if a.flags.c_contiguous else input.reshape(-1), 0, indices.view(-1))
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


# index_add, index_copy, index_fill ------------------------------------------------------------------------------------------


def _source_grad(grad: Tensor, source: Tensor, dim: int, index: Tensor, source_dim: int) -> Tensor:
    if source_dim > 0:
        return expand(index_select(grad, dim, index), source.shape)
    return index_select(grad, dim, index.squeeze(0))


_IndexAddBackward0 = node(
    "IndexAddBackward0",
    lambda grad: grad,
    lambda grad, source, dim, index, source_dim, alpha: _times(_source_grad(grad, source, dim, index, source_dim), alpha),
)
_IndexCopyBackward0 = node(
    "IndexCopyBackward0",
    lambda grad, dim, index: index_fill(grad, dim, index, 0),
    lambda grad, source, dim, index, source_dim: _source_grad(grad, source, dim, index, source_dim),
)
_IndexFillBackward0 = node("IndexFillBackward0", lambda grad, dim, index: index_fill(grad, dim, index, 0))
_IndexFillBackward1 = node(
    "IndexFillBackward1",
    lambda grad, dim, index: index_fill(grad, dim, index, 0),
    lambda grad, dim, index: index_select(grad, dim, index).sum(),
)


def _times(grad: Tensor, alpha: Any) -> Tensor:
    return grad if alpha == 1 else grad * alpha


def _add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> None:
    a, i, s = self._data, index._data, source._data
    d = wrap_dim(dim, a.ndim)
    n = i.size
    if i.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {i.ndim} with type: "
            f"{index.dtype.scalar_name} and size: {list(i.shape)}"
        )
    if i.dtype != np.int64 and i.dtype != np.int32:
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({self.dtype.scalar_name}) and source ({source.dtype.scalar_name}) must have the same "
            "scalar type"
        )
    if a.ndim and not s.ndim:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    if s.ndim and (s.shape[d] if d < s.ndim else 0) != n and a.ndim:
        raise RuntimeError(f"index_add_(): Number of indices ({n}) should be equal to source.size(dim): ({s.shape[d]}), for dim: {d}")  # fmt: skip
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


@op(function=False)
@typed
def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """Add parts of the source, times `alpha`, at the given indices of one dimension.

    Source: `torch.Tensor.index_add_`.
    """
    return _index_write(self, True, _IndexAddBackward0, _add, dim, index, source, alpha)


@op()
@typed
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """A copy with parts of the source, times `alpha`, added at the given indices of one dimension.

    Source: `torch.index_add`.
    """
    return _index_write(input, False, _IndexAddBackward0, _add, dim, index, source, alpha)


def _index_write(
    self: Tensor, in_place: bool, kind: type, write: Callable, dim: int, index: Tensor, source: Tensor, *rest: Any
) -> Tensor:
    name = write.__name__.strip("_")
    saved = {"dim": dim, "index": index, "source": source, "source_dim": source._data.ndim}
    if rest:
        saved["alpha"] = rest[0]
    if in_place:
        return write_in_place(self, (self, source), kind, saved, lambda: write(self, dim, index, source, *rest))
    return on_a_copy(
        self, (self, source), kind, saved, lambda out: write(out, dim, index, source, *rest), contiguous_format
    )


def _copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
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
    if s.ndim and i.size != s.shape[d]:
        raise IndexError(f"index_copy_(): Number of indices ({i.size}) should be equal to source.size(dim) ({s.shape[d]})")  # fmt: skip
    mine, other = a.shape[:d] + a.shape[d + 1 :], s.shape[:d] + s.shape[d + 1 :]
    if mine != other:
        show = lambda shape: " ".join(map(str, shape))  # noqa: E731
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{show(mine)} at dimension {d} and source slice shape: {show(other)} at dimension 0."
        )
    check_overlap(self)
    check_no_overlap(self, index, source)
    n = a.shape[d] if a.ndim else 1
    _check_bounds(i, n, 0, f"index_copy_(): index {{}} is out of bounds for dimension {d} with size {n}", IndexError)
    a[_along(a.ndim, d, i.reshape(-1))] = s if a.ndim else s.reshape(())


@op(function=False)
@typed
def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write parts of the source at the given indices of one dimension.

    Source: `torch.Tensor.index_copy_`.
    """
    return _index_write(self, True, _IndexCopyBackward0, _copy, dim, index, source)


@op()
@typed
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with parts of the source written at the given indices of one dimension.

    Source: `torch.index_copy`.
    """
    return _index_write(input, False, _IndexCopyBackward0, _copy, dim, index, source)


def _fill(self: Tensor, dim: int, index: Tensor, value: Any) -> None:
    a, i = self._data, index._data
    if isinstance(value, Tensor) and value._data.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._data.ndim} dimension(s)."
        )
    number = value._data if isinstance(value, Tensor) else number_array(value, self.dtype)
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
    n = a.shape[d] if a.ndim else 1
    _check_bounds(i, n, -n, f"index {{}} is out of bounds for dimension {d} with size {n}", IndexError)
    if number.dtype.kind == "f" and a.dtype.kind in "iu":
        number = float_to_int(number, a.dtype)
    a[_along(a.ndim, d, i.reshape(-1))] = number


def _index_fill(self: Tensor, in_place: bool, dim: int, index: Tensor, value: Any) -> Tensor:
    tensor = isinstance(value, Tensor)
    inputs, kind = ((self, value), _IndexFillBackward1) if tensor else ((self,), _IndexFillBackward0)
    saved = {"dim": dim, "index": index}
    if in_place:
        return write_in_place(self, inputs, kind, saved, lambda: _fill(self, dim, index, value))
    return on_a_copy(self, inputs, kind, saved, lambda out: _fill(out, dim, index, value))


@op(function=False)
@signatures(
    "(Tensor input, int dim, Tensor index, Tensor value)", "(Tensor input, int dim, Tensor index, Number value)", name="index_fill_"
)
def index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Write one value at the given indices of one dimension.

    Source: `torch.Tensor.index_fill_`.
    """
    return _index_fill(self, True, dim, index, value)


@op()
@signatures(
    "(Tensor input, int dim, Tensor index, Tensor value)", "(Tensor input, int dim, Tensor index, Number value)", name="index_fill"
)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with one value at the given indices of one dimension.

    Source: `torch.index_fill`.
    """
    return _index_fill(input, False, dim, index, value)


# put ------------------------------------------------------------------------------------------------------------------------

_PutBackward0 = node(
    "PutBackward0",
    lambda grad, index, accumulate: grad if accumulate else put(grad, index, grad.new_zeros(index.shape)),
    lambda grad, source, index: take(grad, index).reshape(source.shape),
)


def _put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> None:
    a, i, s = self._data, index._data, source._data
    if i.size != s.size:
        raise RuntimeError(
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
    at = np.unravel_index(_flat(a, i.reshape(-1)) % max(a.size, 1), a.shape) if a.ndim else (...,)
    if accumulate:
        np.add.at(a, at, s.reshape(-1) if a.ndim else s.sum())
    else:
        a[at] = s.reshape(-1) if a.ndim else s.reshape(-1)[-1]


@op(function=False)
@typed
def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write elements by their number in row-major order, or add them.

    Source: `torch.Tensor.put_`.
    """
    saved = {"index": index, "source": source, "accumulate": accumulate}
    return write_in_place(self, (self, source), _PutBackward0, saved, lambda: _put(self, index, source, accumulate))


@op()
@typed
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with elements written, or added, by their number in row-major order.

    Source: `torch.Tensor.put`.
    """
    saved = {"index": index, "source": source, "accumulate": accumulate}
    return on_a_copy(input, (input, source), _PutBackward0, saved, lambda out: _put(out, index, source, accumulate))


# scatter ---------------------------------------------------------------------------------------------------------------------

_ScatterBackward0 = node(
    "ScatterBackward0",
    lambda grad, dim, index: scatter(grad, dim, index, 0),
    lambda grad, dim, index: gather(grad, dim, index),
)
_ScatterBackward1 = node("ScatterBackward1", lambda grad, dim, index: scatter(grad, dim, index, 0))
_ScatterAddBackward0 = node(
    "ScatterAddBackward0", lambda grad: grad, lambda grad, dim, index: gather(grad, dim, index)
)


def _scatter(name: str, self: Tensor, dim: int, index: Tensor, src: Any, how: str | None) -> None:
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
        if too_big or any(n > m for n, m in zip(size, src._data.shape or (1,), strict=True)):
            raise RuntimeError(
                f"Expected index {list(i.shape)} to be no larger than self {list(a.shape)} apart from dimension {d} "
                f"and to be no larger size than src {list(src._data.shape)}"
            )
    elif too_big:
        raise RuntimeError(
            f"Expected index {list(i.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}"
        )
    check_overlap(self)
    check_no_overlap(self, index, *([src] if tensor else []))
    _in_range(a, d, i)
    if tensor:
        values = src._data.reshape(src._data.shape or (1,))[tuple(slice(n) for n in size)]
    else:
        values = number_array(src, self.dtype)
    at = _points(a, d, i.reshape(size))
    if not a.ndim:
        values = values.reshape(-1)[-1] if tensor else values
    if how is None:
        a[at] = values
    else:
        quiet.run((np.add if how == "add" else np.multiply).at, a, at, values)


def _scattered(self: Tensor, in_place: bool, dim: int, index: Tensor, src: Any, how: str | None) -> Tensor:
    name = "scatter_" if in_place else "scatter"
    tensor = isinstance(src, Tensor)
    if how is not None:
        if tensor:
            warn_in_torch(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
                "PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
                f"{_INDEXING_FILE}:225",
            )
        if how not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        return _reduced(self, in_place, dim, index, src, how)
    kind = _ScatterBackward0 if tensor else _ScatterBackward1
    inputs, saved = (self, src) if tensor else (self,), {"dim": dim, "index": index}
    if in_place:
        return write_in_place(self, inputs, kind, saved, lambda: _scatter(name, self, dim, index, src, None))
    return on_a_copy(
        self, inputs, kind, saved, lambda out: _scatter(name, out, dim, index, src, None), contiguous_format
    )


def _reduced(self: Tensor, in_place: bool, dim: int, index: Tensor, src: Any, how: str) -> Tensor:
    """`scatter` with `reduce`, for which torch has no derivative."""
    from ..graph.history import check_inplace, edge_of, rebase_history

    inputs = (self, src) if isinstance(src, Tensor) else (self,)
    recorded = recording(*inputs)
    edges = tuple(edge_of(t) for t in inputs) if recorded else ()
    out = self
    if in_place:
        check_inplace(self, recorded)
    else:
        out = self.detach().clone()
    _scatter("scatter", out, dim, index, src, how)
    if in_place:
        self._vc.version += 1
    if recorded:
        rebase_history(out, not_differentiable(out, "scatter", edges))
    return out


_SCATTERS = (
    "(Tensor input, int dim, Tensor index, Tensor src)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce)",
    "(Tensor input, int dim, Tensor index, Number value)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce)",
)


@op(function=False)
@signatures(*_SCATTERS, name="scatter_")
def scatter_(self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None) -> Tensor:
    """Write the source's elements, or one value, at the places that `index` names along one dimension.

    Source: `torch.Tensor.scatter_`.
    """
    return _scattered(self, True, dim, index, value if src is None else src, reduce)


@op()
@signatures(*_SCATTERS, name="scatter")
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None) -> Tensor:
    """A copy with the source's elements, or one value, at the places that `index` names along one dimension.

    Source: `torch.scatter`.
    """
    return _scattered(input, False, dim, index, value if src is None else src, reduce)


@op(function=False)
@typed
def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add the source's elements at the places that `index` names along one dimension.

    Source: `torch.Tensor.scatter_add_`.
    """
    expect_tensor(src, "scatter_add_")
    saved = {"dim": dim, "index": index}
    return write_in_place(
        self, (self, src), _ScatterAddBackward0, saved, lambda: _scatter("scatter_add_", self, dim, index, src, "add")
    )


@op()
@typed
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with the source's elements added at the places that `index` names along one dimension.

    Source: `torch.scatter_add`.
    """
    expect_tensor(src, "scatter_add")
    saved = {"dim": dim, "index": index}
    return on_a_copy(
        input, (input, src), _ScatterAddBackward0, saved,
        lambda out: _scatter("scatter_add", out, dim, index, src, "add"), contiguous_format,
    )  # fmt: skip
