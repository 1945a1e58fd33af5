"""Reading and writing along one dimension by index: index_select, gather, take, scatter, index_add and their kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.node import NotImplementedNode
from ..errors import warn_in_torch
from .copies import contiguous_format, preserve_format
from .creation import new_zeros, number_array, zeros_like
from .define import op
from .kernels import write
from .layout import check_no_overlap, check_overlap, is_expanded, result_layout, wrap_dim
from .masks import in_copy, one_value
from .views import expand, reshape, squeeze_dim, strided

_FILE = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"


def _name(a: np.ndarray) -> str:
    return dtypes.BY_NUM[a.dtype.num].scalar_name


def _check(index: np.ndarray, n: int, least: int, message: str, kind: type[Exception] = IndexError) -> None:
    """Raise an error of this kind, with the index put into the message, if one lies outside."""
    bad = (index < least) | (index >= n)
    if bad.any():
        raise kind(message.format(index[bad].flat[0]))


def _along(ndim: int, d: int, index: np.ndarray) -> tuple:
    """NumPy's index for what lies at the given indices of one dimension."""
    return (slice(None),) * d + (index.reshape(-1),) if ndim else (...,)


def _length(a: np.ndarray, d: int) -> int:
    return a.shape[d] if a.ndim else 1


# reading --------------------------------------------------------------------------------------------------------------


def _selected(a: np.ndarray, dim: int, index: np.ndarray) -> np.ndarray:
    d = wrap_dim(dim, a.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not a.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    n = _length(a, d)
    if not n and index.size and a.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if a.ndim > 1 and (d == 1 or not a.size):
        _check(index, n, 0, f"INDICES element is out of DATA bounds, id={{}} axis_dim={n}", RuntimeError)
    else:
        _check(index, n, 0, "index out of range in self")
    return result_layout(np.take(a, index.reshape(-1), d)) if a.ndim else a.copy()


def _points(a: np.ndarray, d: int, index: np.ndarray) -> tuple:
    """NumPy's index for the elements that `gather` reads and `scatter` writes."""
    if not a.ndim:
        return (...,)
    at = list(np.ogrid[tuple([slice(n) for n in index.shape])]) if index.ndim else [()]
    at[d] = index
    return tuple(at)


def _check_dtype(name: str, index: np.ndarray) -> None:
    if index.size and index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def _in_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
    n = _length(a, d)
    _check(index, n, 0, f"index {{}} is out of bounds for dimension {d} with size {n}", RuntimeError)


def _gathered(a: np.ndarray, dim: int, index: np.ndarray, sparse_grad: bool = False) -> np.ndarray:
    d = wrap_dim(dim, a.ndim)
    _check_dtype("gather", index)
    if index.size:
        if max(index.ndim, 1) != max(a.ndim, 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
        for k, n in enumerate(index.shape):
            if k != d and a.ndim and n > a.shape[k]:
                raise RuntimeError(
                    f"Size does not match at dimension {k} expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}"
                )
    _in_range(a, d, index)
    if not index.size:
        return np.empty(index.shape, a.dtype)
    if not a.ndim:
        return np.full(index.shape, a)
    return result_layout(a[_points(a, d, index.reshape(index.shape or (1,)))]).reshape(index.shape)


def _flat(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    n = a.size
    _check(index, n, -n, f"out of range: tried to access index {{}} on a tensor of {n} elements.")
    return index


def _taken(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    if index.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {_name(index)}")
    if not a.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    return np.asarray(a.reshape(-1)[_flat(a, index)])


index_select = op(
    "index_select(Tensor self, int dim, Tensor index)", _selected, writes=1,
    self=lambda grad, self_sym_sizes, dim, index: index_add_(new_zeros(grad, self_sym_sizes), dim, index, grad))  # fmt: skip
gather = op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False)", _gathered, writes=1,
    self=lambda grad, self, dim, index, sparse_grad: scatter_add_(new_zeros(grad, self.shape), dim, index, grad))  # fmt: skip
take = op("take(Tensor self, Tensor index)", _taken, writes=1,
          self=lambda grad, self, index: put_(zeros_like(self), index, grad, True))  # fmt: skip

# scatter --------------------------------------------------------------------------------------------------------------


def _check_shapes(a: np.ndarray, d: int, index: np.ndarray, src: np.ndarray | None) -> None:
    """Raise torch's error unless `index` lies within the tensor, but for dimension `d`, and within the source."""
    size, ndim = index.shape or (1,), max(index.ndim, 1)
    if max(a.ndim, 1) != ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    too_big = any(k != d and n > m for k, (n, m) in enumerate(zip(size, a.shape or (1,), strict=True)))
    if src is not None:
        if not too_big and 0 < src.ndim < ndim and all(n <= m for n, m in zip(size, src.shape, strict=False)):
            wrap_dim(src.ndim, src.ndim)  # torch asks the source for a size that it does not have
        if max(src.ndim, 1) != ndim:
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        too_big = too_big or any(n > m for n, m in zip(size, src.shape or (1,), strict=True))
    if too_big:
        more = f" and to be no larger size than src {list(src.shape)}" if src is not None else ""
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}{more}"
        )


def _scattered(a: np.ndarray, dim: int, index: np.ndarray, src: Any, reduce: str | None = None) -> None:
    """Write the source's elements, or one number, where `index` points."""
    tensor, d = isinstance(src, np.ndarray), wrap_dim(dim, a.ndim)
    if tensor and reduce not in (None, "sum"):
        warn_in_torch(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
            f"{_FILE}:225", once=True,
        )  # fmt: skip
    _check_dtype("scatter", index)
    if tensor and src.dtype != a.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.size:
        _check_shapes(a, d, index, src if tensor else None)
    check_overlap(a)
    check_no_overlap(a, index, src)
    if reduce not in (None, "add", "multiply", "sum"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not index.size:
        return
    how, size = {"add": np.add, "sum": np.add, "multiply": np.multiply}.get(reduce or ""), index.shape or (1,)
    _in_range(a, d, index)
    if tensor:
        values = src.reshape(src.shape or (1,))[tuple([slice(n) for n in size])]
        values = values if a.ndim else values.reshape(-1)[-1] if how is None else how.reduce(values, None, a.dtype)
    else:
        values = number_array(src, dtypes.BY_NUM[a.dtype.num])
    at = _points(a, d, index.reshape(size))
    if how is None:
        a[at] = values
    else:
        how.at(a, at, values)


def _both(
    name: str, rest: str, f: Any, layout: Any = contiguous_format, out: bool = True, **how: Any
) -> tuple[Any, Any]:
    """An operation by a function that writes into its first array: on a copy, and in place."""
    return (op(f"{name}(Tensor self, {rest})", in_copy(f, layout), out=out, **how),
            op(f"{name}_(Tensor(a!) self, {rest})", write(f), function=False, **how))  # fmt: skip


def _reducing(kind: str, **inputs: Any) -> None:
    """`scatter` that adds or multiplies, for which torch has no derivative."""
    for name, of, kernel in (("scatter", "Tensor", in_copy(_scattered)), ("scatter_", "Tensor(a!)", write(_scattered))):
        body = {"__slots__": (), "__module__": "builtins", "what": f"aten::{name}", "users": ()}
        op(f"{name}({of} self, int dim, Tensor index, {kind}, *, str reduce)", kernel, function=name == "scatter",
           node=type("NotImplemented", (NotImplementedNode,), body), self=None, **inputs)  # fmt: skip


_ZERO = {"self": lambda grad, dim, index: scatter(grad, dim, index, 0)}
scatter_from, _ = _both(
    "scatter", "int dim, Tensor index, Tensor src", _scattered, backward="ScatterBackward0", **_ZERO,
    src=lambda grad, dim, index: gather(grad, dim, index))  # fmt: skip
_reducing("Tensor src", src=None)
scatter, _ = _both("scatter", "int dim, Tensor index, Scalar value", _scattered, backward="ScatterBackward1", **_ZERO)
_reducing("Scalar value")
scatter_add, scatter_add_ = _both(
    "scatter_add", "int dim, Tensor index, Tensor src", lambda a, dim, index, src: _scattered(a, dim, index, src, "sum"),
    backward="ScatterAddBackward0", self=lambda grad: grad, src=lambda grad, dim, index: gather(grad, dim, index),
)  # fmt: skip

# writing along a dimension --------------------------------------------------------------------------------------------


def _added(a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, alpha: Any = 1) -> None:
    d, n = wrap_dim(dim, a.ndim), index.size
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {_name(index)} and size: {list(index.shape)}"
        )
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {_name(index)}")
    if a.dtype != source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({_name(a)}) and source ({_name(source)}) must have the same scalar type"
        )
    if d and d >= source.ndim:
        raise RuntimeError(
            f"index_add_(): Indexing dim {d} is out of bounds of the source tensor with dim {source.ndim}"
        )
    if not source.ndim and n != 1:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    if source.ndim and source.shape[d] != n:
        raise RuntimeError(
            f"index_add_(): Number of indices ({n}) should be equal to source.size(dim): ({source.shape[d]}), for dim: {d}"
        )
    if a.ndim != source.ndim or a.shape[:d] + a.shape[d + 1 :] != source.shape[:d] + source.shape[d + 1 :]:
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {list(a.shape)} source.shape = {list(source.shape)}"
        )
    check_overlap(a)
    check_no_overlap(a, index, source)
    if a.ndim > 1 and alpha == 1:
        _in_range(a, d, index)
    else:
        _check(index, _length(a, d), 0, "index out of range in self")
    if alpha != 1:
        source = source * np.asarray(int(alpha) if a.dtype.kind in "iu" else alpha).astype(a.dtype)
    np.add.at(a, _along(a.ndim, d, index), source)


def _overwritten(a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray) -> None:
    d = wrap_dim(dim, a.ndim)
    check_overlap(a)
    check_no_overlap(a, index, source)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if source.ndim and a.ndim and source.ndim != a.ndim:
        raise IndexError(
            f"index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality ({source.ndim}), destination dimensionality ({a.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {_name(index)}")
    if a.dtype != source.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {_name(a)} and (source) {_name(source)}"
        )
    mine, other = (" ".join(map(str, x.shape[:d] + x.shape[d + 1 :])) for x in (a, source))
    if mine != other:
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {mine} at dimension {d} and source slice shape: {other} at dimension 0."
        )
    if source.ndim and index.size != source.shape[d]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({source.shape[d]})"
        )
    n = _length(a, d)
    _check(index, n, 0, f"index_copy_(): index {{}} is out of bounds for dimension {d} with size {n}")
    a[_along(a.ndim, d, index)] = source if a.ndim else source.reshape(())


def _filled(a: np.ndarray, dim: int, index: np.ndarray, value: Any) -> None:
    value = one_value("index_fill_", value)
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if is_expanded(a):
        warn_in_torch(
            "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar",
            f"{_FILE}:1913",
        )
    if isinstance(value, complex):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    d = wrap_dim(dim, a.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not a.size:  # what torch looks at here is not in an empty storage, and that is what it says
        at = [k // a.itemsize for k in a.strides]
        strided(a, (*a.shape[:d], index.size, *a.shape[d + 1 :]), (*at[:d], 0, *at[d + 1 :]))
    n, number = _length(a, d), number_array(value, dtypes.BY_NUM[a.dtype.num])
    if not index.size * math.prod((*a.shape[:d], *a.shape[d + 1 :])):
        return
    check_no_overlap(a, index)
    _check(index, n, -n, f"index {{}} is out of bounds for dimension {d} with size {n}")
    a[_along(a.ndim, d, index)] = number


def _put(a: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool = False) -> None:
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {_name(index)}")
    if a.dtype != source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {_name(a)} and source.dtype = {_name(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {source.size}, index.numel() = {index.size}"
        )
    if not a.size and index.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    check_overlap(a)
    check_no_overlap(a, index, source)
    index = _flat(a, index.reshape(-1)) % max(a.size, 1)
    at, values = np.unravel_index(index, a.shape) if a.ndim else (...,), source.reshape(-1)
    if accumulate:
        np.add.at(a, at, values if a.ndim else values.sum())
    else:
        a[at] = values if a.ndim else values[-1]


def _source_grad(grad: Any, source: Any, dim: int, index: Any, source_dim: int) -> Any:
    if source_dim > 0:
        return expand(index_select(grad, dim, index), tuple(source.shape))
    return index_select(grad, dim, squeeze_dim(index, 0))


def _times(grad: Any, alpha: Any) -> Any:
    from .pointwise import times

    return grad if alpha == 1 else times(grad, alpha)


def _unique(index: Any) -> Any:
    return np.unique(index) if isinstance(index, np.ndarray) else index.unique()


def _index_filled(grad: Any, dim: int, index: Any) -> Any:
    return index_fill(grad, dim, index, 0)


index_add, index_add_ = _both(
    "index_add", "int dim, Tensor index, Tensor source, *, Scalar alpha=1", _added, backward="IndexAddBackward0",
    self=lambda grad: grad,
    source=lambda grad, source, dim, index, source_dim, alpha: _times(
        _source_grad(grad, source, dim, index, source_dim), alpha),
)  # fmt: skip
_both("index_copy", "int dim, Tensor index, Tensor source", _overwritten, backward="IndexCopyBackward0",
      self=_index_filled, source=_source_grad)  # fmt: skip
_both("index_fill", "int dim, Tensor index, Tensor value", _filled, preserve_format, False, backward="IndexFillBackward1",
      self=_index_filled, value=lambda grad, dim, index: index_select(grad, dim, _unique(index)).sum())  # fmt: skip
index_fill, _ = _both("index_fill", "int dim, Tensor index, Scalar value", _filled, preserve_format, False,
                      backward="IndexFillBackward0", self=_index_filled)  # fmt: skip
put, put_ = _both(
    "put", "Tensor index, Tensor source, bool accumulate=False", _put, preserve_format, False, backward="PutBackward0",
    self=lambda grad, index, accumulate: grad if accumulate else put(grad, index, new_zeros(grad, tuple(index.shape))),
    source=lambda grad, source, index: reshape(take(grad, index), tuple(source.shape)),
)  # fmt: skip
