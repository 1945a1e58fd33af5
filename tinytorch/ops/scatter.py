"""Reading and writing along one dimension by index: index_select and gather, scatter and the sums of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .creation import new_zeros, number_array
from .define import op
from .kernels import write
from .layout import check_no_overlap, check_overlap, result_layout, wrap_dim
from .masks import in_copy
from .views import expand, squeeze_dim

_INDICES = (np.dtype(np.int64), np.dtype(np.int32))


def _name(a: np.ndarray) -> str:
    return dtypes.BY_NUM[a.dtype.num].scalar_name


def _check(index: np.ndarray, n: int, message: str, kind: type[Exception] = IndexError) -> None:
    """Raise an error of this kind, with the index put into the message, if one lies outside."""
    bad = (index < 0) | (index >= n)
    if bad.any():
        raise kind(message.format(index[bad].flat[0]))


def _in_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
    n = a.shape[d]
    _check(index, n, f"index {{}} is out of bounds for dimension {d} with size {n}", RuntimeError)


def _points(index: np.ndarray, d: int) -> tuple:
    """NumPy's index for the elements that `gather` reads and `scatter` writes."""
    at = list(np.ogrid[tuple([slice(n) for n in index.shape])])
    at[d] = index
    return tuple(at)


# reading --------------------------------------------------------------------------------------------------------------


def _selected(a: np.ndarray, dim: int, index: np.ndarray) -> np.ndarray:
    d = wrap_dim(dim, a.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not a.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    if index.dtype not in _INDICES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    x = np.atleast_1d(a)
    if not x.shape[d] and index.size and x.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if x.ndim > 1 and (d == 1 or not a.size):
        _check(index, x.shape[d], f"INDICES element is out of DATA bounds, id={{}} axis_dim={x.shape[d]}", RuntimeError)
    else:
        _check(index, x.shape[d], "index out of range in self")
    return result_layout(np.take(x, index.reshape(-1), d)) if a.ndim else a.copy()


def _gathered(a: np.ndarray, dim: int, index: np.ndarray, sparse_grad: bool = False) -> np.ndarray:
    d = wrap_dim(dim, a.ndim)
    if not index.size:
        return np.empty(index.shape, a.dtype)
    if index.dtype not in _INDICES:
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    if i.ndim != x.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for k, n in enumerate(i.shape):
        if k != d and n > x.shape[k]:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}"
            )
    _in_range(x, d, i)
    return result_layout(x[_points(i, d)]).reshape(index.shape)


index_select = op(
    "index_select(Tensor self, int dim, Tensor index)", _selected, writes=1,
    self=lambda grad, self_sym_sizes, dim, index: index_add_(new_zeros(grad, self_sym_sizes), dim, index, grad))  # fmt: skip
gather = op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False)", _gathered, writes=1,
    self=lambda grad, self, dim, index, sparse_grad: scatter_add_(new_zeros(grad, self.shape), dim, index, grad))  # fmt: skip

# writing --------------------------------------------------------------------------------------------------------------


def _check_shapes(a: np.ndarray, d: int, index: np.ndarray, src: Any) -> None:
    """Raise torch's error unless `index` lies within the tensor, but for dimension `d`, and within the source."""
    for x, name in ((a, "self"), (src, "src")):
        if isinstance(x, np.ndarray) and max(x.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")
    more = f" and to be no larger size than src {list(src.shape)}" if isinstance(src, np.ndarray) else ""
    for k, n in enumerate(index.shape):
        if (k != d and a.ndim and n > a.shape[k]) or (more and n > (src.shape or (1,))[k]):
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}{more}"
            )


def _scattered(a: np.ndarray, dim: int, index: np.ndarray, src: Any, add: bool = False) -> None:
    """Write or add the source's elements, or one number, where `index` points."""
    d = wrap_dim(dim, a.ndim)
    if index.size and index.dtype not in _INDICES:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if isinstance(src, np.ndarray) and src.dtype != a.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.size:
        _check_shapes(a, d, index, src)
    check_overlap(a)
    check_no_overlap(a, index, src)
    if not index.size:
        return
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    _in_range(x, d, i)
    if isinstance(src, np.ndarray):
        src = np.atleast_1d(src)[tuple([slice(n) for n in i.shape])]
    else:
        src = number_array(src, dtypes.BY_NUM[a.dtype.num])
    if add:
        np.add.at(x, _points(i, d), src)
    else:
        x[_points(i, d)] = src


def _added(a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, alpha: Any = 1) -> None:
    d, n = wrap_dim(dim, a.ndim), index.size
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {_name(index)} and size: {list(index.shape)}"
        )
    if index.dtype not in _INDICES:
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {_name(index)}")
    if a.dtype != source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({_name(a)}) and source ({_name(source)}) must have the same scalar type"
        )
    if not source.ndim and n != 1:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    x, rows = np.atleast_1d(a), np.atleast_1d(source)
    if d < rows.ndim and rows.shape[d] != n:
        raise RuntimeError(
            f"index_add_(): Number of indices ({n}) should be equal to source.size(dim): ({rows.shape[d]}), for dim: {d}"
        )
    if a.ndim != source.ndim or x.shape[:d] + x.shape[d + 1 :] != rows.shape[:d] + rows.shape[d + 1 :]:
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {list(a.shape)} source.shape = {list(source.shape)}"
        )
    check_overlap(a)
    check_no_overlap(a, index, source)
    if a.ndim > 1 and alpha == 1:
        _in_range(x, d, index)
    else:
        _check(index, x.shape[d], "index out of range in self")
    if alpha != 1:
        rows = rows * np.asarray(int(alpha) if a.dtype.kind in "iu" else alpha).astype(a.dtype)
    np.add.at(x, (slice(None),) * d + (index.reshape(-1),), rows)


def _both(name: str, rest: str, f: Any, **how: Any) -> tuple[Any, Any]:
    """An operation by a function that writes into its first array: on a copy, and in place."""
    return (op(f"{name}(Tensor self, {rest})", in_copy(f), **how),
            op(f"{name}_(Tensor(a!) self, {rest})", write(f), function=False, **how))  # fmt: skip


def _index_add_back(grad: Any, source: Any, dim: int, index: Any, source_dim: int, alpha: Any) -> Any:
    from .pointwise import times

    if source_dim > 0:
        grad = expand(index_select(grad, dim, index), tuple(source.shape))
    else:
        grad = index_select(grad, dim, squeeze_dim(index, 0))
    return grad if alpha == 1 else times(grad, alpha)


_ZERO = {"self": lambda grad, dim, index: scatter(grad, dim, index, 0)}
_GATHER = {"src": lambda grad, dim, index: gather(grad, dim, index)}
scatter_from, _ = _both("scatter", "int dim, Tensor index, Tensor src", _scattered, backward="ScatterBackward0", **_ZERO, **_GATHER)  # fmt: skip
scatter, _ = _both("scatter", "int dim, Tensor index, Scalar value", _scattered, backward="ScatterBackward1", **_ZERO)
_, scatter_add_ = _both("scatter_add", "int dim, Tensor index, Tensor src", lambda a, dim, index, src: _scattered(a, dim, index, src, True),
                        backward="ScatterAddBackward0", self=lambda grad: grad, **_GATHER)  # fmt: skip
_, index_add_ = _both("index_add", "int dim, Tensor index, Tensor source, *, Scalar alpha=1", _added,
                      backward="IndexAddBackward0", self=lambda grad: grad, source=_index_add_back)  # fmt: skip
