"""Elements chosen by a mask, or by an index along one dimension: reading, writing, adding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import (
    broadcast_shape,
    check_broadcast_into,
    check_no_overlap,
    check_overlap,
    dtypes,
    is_expanded,
    lay_out_result,
    warn_in_torch,
    wrap_dim,
)
from ..tensor import Tensor
from .copies import clone, contiguous_format, copy_array, preserve_format
from .creation import empty_like, new_zeros, number_array
from .define import op
from .filling import written_zeros, zero_
from .kernels import as_array, composite, result_dtype, shape_of_all, write
from .parts import unbind
from .sums import expand
from .views import array_of, flatten, reshape, squeeze_dim, unsqueeze, view

_INDICES = (np.dtype(np.int64), np.dtype(np.int32))


def write_into_copy(f: Any, layout: Any = contiguous_format, masked: bool = False) -> Any:
    """Make the kernel that copies its first array and lets `f` write into the copy.

    `masked`: the copy has the shape in which the array meets the mask.
    """

    def kernel(a: np.ndarray, *args: Any) -> np.ndarray:
        shape = shape_of_all(args[0], a) if masked and args[0].shape != a.shape else a.shape
        out = copy_array(a if shape == a.shape else np.broadcast_to(a, shape), layout)
        f(out, *args)
        return out

    return kernel


# masked -------------------------------------------------------------------------------------------


def fill_where(a: np.ndarray, mask: np.ndarray, value: Any) -> None:
    """Write one value where the mask is true."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if mask.dtype != bool:
        name = dtypes.cpp_name(dtypes.BY_NUM[mask.dtype.num])
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {name}"
        )
    if is_expanded(a):
        warn_in_torch(
            "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation. This also applies to advanced indexing e.g. "
            "tensor[mask] = scalar",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:2450",
        )
    check_broadcast_into(a.shape, mask.shape)
    number = value.item() if isinstance(value, np.ndarray) else value
    np.copyto(a, number_array(number, dtypes.BY_NUM[a.dtype.num]), where=mask)


def _declare_with_in_place(
    name: str, rest: str, f: Any, masked: bool = False, **how: Any
) -> tuple[Any, Any]:
    """Declare an operation by a function that writes: on a copy, and in place."""
    return (
        op(
            f"{name}(Tensor self, {rest})", write_into_copy(f, masked=masked), out=not masked, **how
        ),
        op(f"{name}_(Tensor(a!) self, {rest})", write(f), function=False, **how),
    )


_, masked_fill_with_ = _declare_with_in_place(
    "masked_fill",
    "Tensor mask, Tensor value",
    fill_where,
    True,
    backward="MaskedFillBackward1",
    self=lambda grad, mask: masked_fill(grad, mask, 0),
    value=lambda grad, mask: where(mask, grad, 0).sum(),
)
masked_fill, masked_fill_ = _declare_with_in_place(
    "masked_fill",
    "Tensor mask, Scalar value",
    fill_where,
    True,
    backward="MaskedFillBackward0",
    self=lambda grad, mask: masked_fill(grad, mask, 0),
)

# where and nonzero --------------------------------------------------------------------------------


def _select_by_condition(condition: np.ndarray, self: Any, other: Any) -> np.ndarray:
    """Return `self` where a condition is true, `other` elsewhere, in the dtype that they meet in."""
    if condition.dtype != bool:
        name = dtypes.BY_NUM[condition.dtype.num].scalar_name
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}"
        )
    d = result_dtype(self, other)
    a, b = as_array(self, d), as_array(other, d)
    if not condition.shape == a.shape == b.shape:
        # For its error alone: NumPy's is in other words.
        shape_of_all(condition, a, b)
    return lay_out_result(np.where(condition, a, b), condition, a, b)


def _find_nonzero(a: np.ndarray) -> np.ndarray:
    """Return a row of indices for each element that is not 0, one column for each dimension."""
    # NumPy's `nonzero` refuses 0-d arrays; PyTorch has a row without indices for each.
    found = np.array(a.nonzero() if a.ndim else np.empty((0, int(a != 0))), np.int64)
    n, count = found.shape
    # PyTorch's result is transposed in memory, too.
    return np.ndarray((count, n), np.int64, found, 0, (8, 8 * count))


_CONDITION = "where(Tensor condition, {} self, {} other)"
op(
    "where(Tensor condition) -> Tensor[]",
    composite(lambda condition: _indices_where_true(condition, True)),
)
where = op(
    _CONDITION.format("Tensor", "Tensor"),
    _select_by_condition,
    backward="WhereBackward0",
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad),
)
for _self, _other in (("Scalar", "Tensor"), ("Tensor", "Scalar"), ("Scalar", "Scalar")):
    op(
        _CONDITION.format(_self, _other),
        composite(lambda condition, self, other: where(condition, self, other)),
    )

_nonzero_indices = op("nonzero(Tensor self)", _find_nonzero, method=False, function=False)


def _indices_where_true(self: Tensor, as_tuple: bool) -> Any:
    """Return a row of indices for each element that is not zero, or a tensor for each dimension."""
    if not as_tuple:
        return _nonzero_indices(self)
    # As a tuple, PyTorch takes a 0-d tensor for one of a single element.
    return unbind(_nonzero_indices(self if self._data.ndim else self.detach().reshape(1)), 1)


nonzero = op(
    "nonzero(Tensor self, *, bool as_tuple=False)", composite(_indices_where_true), out=False
)

# by an index along one dimension ------------------------------------------------------------------


def _check_index_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
    """Raise torch's error for an index that lies outside of its dimension."""
    bad = (index < 0) | (index >= a.shape[d])
    if bad.any():
        raise RuntimeError(
            f"index {index[bad].flat[0]} is out of bounds for dimension {d} with size {a.shape[d]}"
        )


def _cells_of_index(index: np.ndarray, d: int) -> tuple:
    """NumPy's index for the elements that `gather` reads and `scatter` writes."""
    at = list(np.ogrid[tuple([slice(n) for n in index.shape])])
    at[d] = index
    return tuple(at)


def _gather_elements(
    a: np.ndarray, dim: int, index: np.ndarray, sparse_grad: bool = False
) -> np.ndarray:
    """Return the elements at an index along a dimension, in the shape of the index."""
    d = wrap_dim(dim, a.ndim)
    # Before the dtype is asked: PyTorch takes any empty index, `gather(x, 0, torch.empty(0))`.
    if not index.size:
        return np.empty(index.shape, a.dtype)
    if index.dtype not in _INDICES:
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    _check_index_shape(x, d, i, None)
    _check_index_range(x, d, i)
    return lay_out_result(x[_cells_of_index(i, d)]).reshape(index.shape)


gather = op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False)",
    _gather_elements,
    out="exact",
    self=lambda grad, self, dim, index, sparse_grad: scatter_add_(
        new_zeros(grad, self.shape), dim, index, grad
    ),
)


def _select_indices(a: np.ndarray, dim: int, index: np.ndarray) -> np.ndarray:
    """Return copies of the parts of a dimension that a vector of indices names, row by row."""
    d = wrap_dim(dim, a.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in _INDICES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not a.ndim and index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    bad = i[(i < 0) | (i >= x.shape[d])]
    if bad.size and a.ndim > 1 and not a.size:
        raise RuntimeError(
            f"INDICES element is out of DATA bounds, id={bad[0]} axis_dim={a.shape[d]}"
            if a.shape[d]
            else "index_select(): self indexing axis dim should be positive"
        )
    if bad.size:
        raise IndexError("index out of range in self")
    return lay_out_result(np.take(x, i, d)) if a.ndim else a.copy()


def _take_elements(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the elements at indices that count all elements, in the shape of the index."""
    if index.dtype != np.int64:
        name = dtypes.BY_NUM[index.dtype.num].scalar_name
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {name}")
    if not a.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _check_element_numbers(a, index)
    return lay_out_result(np.asarray(np.take(a, index)))


def _check_element_numbers(a: np.ndarray, index: np.ndarray) -> None:
    """Raise PyTorch's IndexError for an index beyond the number of elements."""
    bad = index[(index < -a.size) | (index >= a.size)]
    if bad.size:
        raise IndexError(
            f"out of range: tried to access index {bad[0]} on a tensor of {a.size} elements."
        )


def _put_elements(
    a: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool = False
) -> None:
    """Write the source's elements at indices that count all elements, or add them."""
    if index.dtype != np.int64:
        name = dtypes.BY_NUM[index.dtype.num].scalar_name
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {name}")
    if a.dtype != source.dtype:
        ours, theirs = (dtypes.BY_NUM[x.dtype.num].scalar_name for x in (a, source))
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{ours} and source.dtype = {theirs}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    check_overlap(a)
    check_no_overlap(a, index, source)
    if not index.size:
        return
    if not a.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    _check_element_numbers(a, index)
    x = np.atleast_1d(a)
    cells = np.unravel_index(index.ravel() % x.size, x.shape)
    if accumulate:
        np.add.at(x, cells, source.ravel())
    else:
        x[cells] = source.ravel()


def _take_along_dim(self: Any, indices: Any, dim: int | None) -> Any:
    """Gather along a dimension, with the index and the tensor broadcast along the others."""
    if dim is None:
        return gather(view(self, (-1,)), 0, view(indices, (-1,)))
    n, given = array_of(self).ndim, array_of(indices)
    if n != given.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of "
            f"dimensions, but got {n} dimensions for input, and {given.ndim} dimensions for "
            "indices"
        )
    if given.dtype != np.int64:
        name = dtypes.BY_NUM[given.dtype.num].scalar_name
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {name}"
        )
    d, shape = wrap_dim(dim, n), array_of(self).shape
    whole, part = (*shape[:d], *given.shape[d : d + 1], *shape[d + 1 :]), given.shape
    # The remainder lets indices count from the end, and ones beyond it from the start again.
    index = expand(indices, broadcast_shape(whole, part)) % shape[d]
    whole, part = shape, (*part[:d], *shape[d : d + 1], *part[d + 1 :])
    return gather(expand(self, broadcast_shape(part, whole)), d, index)


index_select = op(
    "index_select(Tensor self, int dim, Tensor index)",
    _select_indices,
    out="index_select(): self and result must have the same scalar type",
    self=lambda grad, self_sym_sizes, dim, index: index_add_(
        new_zeros(grad, self_sym_sizes), dim, index, grad
    ),
)
op(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None)",
    composite(_take_along_dim),
    out="exact",
)
take = op(
    "take(Tensor self, Tensor index)",
    _take_elements,
    out="take(): self and out expected to have the same dtype, but got self.dtype = {0} and "
    "out.dtype = {1}",
    self=lambda grad, self, index: put_(zero_(empty_like(self)), index, grad, True),
)
_PUT_FORMULAS = {
    "self": lambda grad, index, _source_sizes, accumulate: (
        grad if accumulate else put(grad, index, written_zeros(grad, _source_sizes))
    ),
    "source": lambda grad, index, source: reshape(take(grad, index), source.shape),
}
_put_schema = "Tensor index, Tensor source, bool accumulate=False)"
put = op(
    f"put(Tensor self, {_put_schema}",
    write_into_copy(_put_elements, preserve_format),
    out=False,
    **_PUT_FORMULAS,
)
put_ = op(
    f"put_(Tensor(a!) self, {_put_schema}",
    write(_put_elements),
    function=False,
    backward="PutBackward0",
    **_PUT_FORMULAS,
)


def _select_where(a: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return a vector of the elements at which a mask is true."""
    if mask.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = shape_of_all(mask, a)
    return np.atleast_1d(np.broadcast_to(a, shape)[np.broadcast_to(mask, shape)])


def _scatter_where(a: np.ndarray, mask: np.ndarray, source: np.ndarray) -> None:
    """Write the elements of a source, one after the other, where a mask is true."""
    where_true = expand(mask, a.shape)
    check_overlap(a)
    if a.dtype != source.dtype:
        ours, theirs = (dtypes.BY_NUM[x.dtype.num].scalar_name for x in (a, source))
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{ours} and {theirs}"
        )
    if mask.dtype != bool:
        name = dtypes.BY_NUM[mask.dtype.num].scalar_name
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {name}"
        )
    count = np.count_nonzero(where_true)
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    values = source.ravel()[:count]
    if not np.may_share_memory(a, values):
        a[where_true] = values
        return
    # One after the other, as PyTorch does: a value may have been written to before it is read.
    for i, cell in enumerate(np.argwhere(where_true)):
        a[tuple(cell)] = values[i]


def _masked_scatter_grad(grad_output: np.ndarray, mask: np.ndarray, sizes: tuple) -> np.ndarray:
    """Return the gradient of the source: what it was not read for has none."""
    data = np.zeros(sizes, grad_output.dtype)
    read = _select_where(grad_output, mask)
    data.reshape(-1)[: read.size] = read
    return data


masked_select = op(
    "masked_select(Tensor self, Tensor mask)",
    _select_where,
    out="masked_select(): self and result must have the same scalar type",
    self=lambda grad, self, mask: masked_scatter_(
        zero_(empty_like(expand(self, broadcast_shape(self.shape, mask.shape)))), mask, grad
    ),
)
_masked_scatter_backward = op(
    "masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes)",
    _masked_scatter_grad,
    function=False,
    method=False,
    grad_output=lambda grad, _grad_output_sizes, mask: masked_scatter(
        written_zeros(grad, _grad_output_sizes), mask, grad
    ),
)
masked_scatter, masked_scatter_ = _declare_with_in_place(
    "masked_scatter",
    "Tensor mask, Tensor source",
    _scatter_where,
    True,
    backward="MaskedScatterBackward0",
    self=lambda grad, mask: masked_fill(grad, mask, 0),
    source=lambda grad, mask, source_sym_sizes: _masked_scatter_backward(
        grad, mask, source_sym_sizes
    ),
)

# repeated by index --------------------------------------------------------------------------------


def _repeat_indices(repeats: np.ndarray, output_size: int | None = None) -> np.ndarray:
    """Return each index as often as it is repeated."""
    if repeats.dtype not in _INDICES:
        name = dtypes.BY_NUM[repeats.dtype.num].scalar_name
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size != repeats.sum():
        raise RuntimeError("allocated size does not match required size")
    return np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)


def _repeat_as_tensor_says(
    self: Any, repeats: Tensor, dim: int | None, output_size: int | None
) -> Any:
    """Repeat each part of a dimension as often as a vector of numbers says; a copy."""
    given = flatten(self) if dim is None else self
    d = 0 if dim is None else dim
    n = given.size(d) if given._data.ndim else 1
    if repeats._data.size == 1 and repeats._data.ndim < 2:
        repeats = expand(reshape(repeats, (1,)), (n,))
    elif repeats._data.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    elif repeats._data.size != n:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._data.size} and input.size({d}) = {n}"
        )
    return index_select(given, d, _repeats_of_indices(repeats, output_size))


def _repeat_each(self: Any, repeats: int, dim: int | None, output_size: int | None) -> Any:
    """Repeat each part of a dimension equally often: a view of a copy that nobody else has."""
    given = flatten(self) if dim is None else self
    d = wrap_dim(0 if dim is None else dim, given._data.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = list(unsqueeze(given, d + 1)._data.shape)
    shape[d + 1] = repeats
    if output_size is not None and output_size != repeats * shape[d]:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {repeats * shape[d]} but got "
            f"{output_size}"
        )
    repeated = expand(unsqueeze(given, d + 1), tuple(shape))
    return flatten(clone(repeated, contiguous_format), d, d + 1)


op(
    "repeat_interleave(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None)",
    composite(_repeat_as_tensor_says),
)
_repeats_of_indices = op(
    "repeat_interleave(Tensor repeats, *, SymInt? output_size=None)", _repeat_indices, out=False
)
op(
    "repeat_interleave(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None)",
    composite(_repeat_each),
)

# writing ------------------------------------------------------------------------------------------


def _check_index_shape(a: np.ndarray, d: int, index: np.ndarray, src: Any) -> None:
    """Raise PyTorch's error unless `index` fits tensor and source, except in dimension `d`."""
    for x, name in ((a, "input" if src is None else "self"), (src, "src")):
        if isinstance(x, np.ndarray) and max(x.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(
                f"Index tensor must have the same number of dimensions as {name} tensor"
            )
    more = (
        f" and to be no larger size than src {list(src.shape)}"
        if isinstance(src, np.ndarray)
        else ""
    )
    for k, n in enumerate(index.shape):
        if (k != d and a.ndim and n > a.shape[k]) or (more and n > (src.shape or (1,))[k]):
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self "
                f"{list(a.shape)} apart from dimension {d}{more}"
            )


def _scatter_elements(a: np.ndarray, dim: int, index: np.ndarray, src: Any) -> None:
    """Write the source's elements, or one number, where `index` points."""
    d = wrap_dim(dim, a.ndim)
    if index.size and index.dtype not in _INDICES:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if isinstance(src, np.ndarray) and src.dtype != a.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.size:
        _check_index_shape(a, d, index, src)
    check_overlap(a)
    check_no_overlap(a, index, src)
    if not index.size:
        return
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    _check_index_range(x, d, i)
    if isinstance(src, np.ndarray):
        # The source may be larger than the index, and what is beyond it is not read.
        src = np.atleast_1d(src)[tuple([slice(n) for n in i.shape])]
    else:
        src = number_array(src, dtypes.BY_NUM[a.dtype.num])
    x[_cells_of_index(i, d)] = src


_ZERO_AT_INDEX = {"self": lambda grad, dim, index: scatter(grad, dim, index, 0)}
_GATHER_SOURCE = {"src": lambda grad, dim, index: gather(grad, dim, index)}
_, scatter_from_ = _declare_with_in_place(
    "scatter",
    "int dim, Tensor index, Tensor src",
    _scatter_elements,
    backward="ScatterBackward0",
    **_ZERO_AT_INDEX,
    **_GATHER_SOURCE,
)
scatter, _ = _declare_with_in_place(
    "scatter",
    "int dim, Tensor index, Scalar value",
    _scatter_elements,
    backward="ScatterBackward1",
    **_ZERO_AT_INDEX,
)
# by these, formulas add gradients to the elements that an operation has read
_FORMULA_ONLY: dict[str, Any] = {"function": False, "method": False, "self": lambda grad: grad}
scatter_add_ = op(
    # `np.add.at`, since `a[i] += src` adds once where an index occurs several times.
    "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src)",
    write(
        lambda a, dim, index, src: np.add.at(
            np.atleast_1d(a), _cells_of_index(np.atleast_1d(index), dim), src
        )
    ),
    **_FORMULA_ONLY,
    **_GATHER_SOURCE,
)


def _index_add_source_grad(
    grad: Any, dim: int, index: Any, source: Any, source_dim: int, alpha: Any
) -> Any:
    """Return the gradient of what was added: that of the cells to which it was added."""
    if source_dim:
        grad = expand(index_select(grad, dim, index), tuple(source.shape))
    else:
        grad = index_select(grad, dim, squeeze_dim(index, 0))
    return grad if alpha == 1 else grad * alpha


def _add_at_indices(
    a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, alpha: Any
) -> None:
    """Add the parts of a source to the parts of a dimension that a vector of indices names."""
    x = np.atleast_1d(a)
    at = (slice(None),) * wrap_dim(dim, a.ndim)
    np.add.at(x, (*at, np.atleast_1d(index)), source if alpha == 1 else source * alpha)


index_add_ = op(
    "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1)",
    write(_add_at_indices),
    **_FORMULA_ONLY,
    backward="IndexAddBackward0",
    source=_index_add_source_grad,
)
