"""Reading, adding, copying and filling by an index of one dimension, or of all elements in a row.

Source: torch's `TensorAdvancedIndexing.cpp`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..base import (
    address_of,
    broadcast_shape,
    check_no_overlap,
    check_overlap,
    check_room,
    dtypes,
    is_expanded,
    lay_out_result,
    memory_owner,
    size_of_dim,
    warn_in_torch,
    wrap_dim,
)
from ..tensor import Tensor, make_tensor
from .choosing import (
    SCATTERED_OUT,
    check_index_range,
    declare_with_in_place,
    gather,
    masked_fill,
    masked_fill_,
    prepare_scatter,
    reduce_at_cells,
    scatter,
    scatter_add,
    where,
    write_into_copy,
)
from .copies import clone, contiguous_format, convert_in_formula, preserve_format
from .creation import new_ones, new_zeros, number_array, ones_like, zeros_like
from .define import op
from .filling import written_zeros
from .kernels import ALL_LETTERS, check_kernel, composite, delegating, row_major, write
from .out_argument import OutArgument, OutRule
from .pointwise import bitwise_and, div, eq, mul, scale_grad
from .sums import expand, sum_all, sum_array
from .views import array_of, flatten, reshape, squeeze, unsqueeze, view

_LONG = np.dtype(np.int64)
_INDICES = (_LONG, np.dtype(np.int32))


def _name_dtype(a: np.ndarray) -> str:
    """Return the dtype of an array as PyTorch's errors have it."""
    return dtypes.BY_NUM[a.dtype.num].scalar_name


def _count_before_first(is_bad: np.ndarray) -> int:
    """Return how many elements come before the first bad one: all, if none is bad."""
    return int(is_bad.argmax()) if is_bad.any() else is_bad.size


def _index_dim(d: int, index: Any) -> tuple:
    """Return NumPy's index for the elements at an index of dimension `d`."""
    return (slice(None),) * d + (index,)


# an index of one dimension ------------------------------------------------------------------------


def _check_selected(a: np.ndarray, dim: int, index: np.ndarray) -> int:
    """Raise PyTorch's errors for what `index_select` does not take, and return the dimension."""
    d = wrap_dim(dim, a.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in _INDICES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not a.ndim and index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    return d


def _prepare_selected(out: OutArgument, a: np.ndarray, dim: int, index: np.ndarray) -> None:
    """Prepare the `out=` of `index_select`."""
    d = _check_selected(a, dim, index)
    out.check_dtype(dtypes.BY_NUM[a.dtype.num])
    out.check_no_overlap(a, index)
    out.resize((*a.shape[:d], index.size, *a.shape[d + 1 :]) if a.ndim else ())


def _select_indices(a: np.ndarray, dim: int, index: np.ndarray) -> np.ndarray:
    """Return copies of the parts of a dimension that a vector of indices names, row by row."""
    d = _check_selected(a, dim, index)
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    bad = i[(i < 0) | (i >= x.shape[d])]
    # Of the second dimension, and of what has dimensions and no cells, PyTorch's indices are checked
    # by other code, in other words.
    if bad.size and a.ndim > 1 and (d == 1 or not a.size):
        if not a.shape[d]:
            raise RuntimeError("index_select(): self indexing axis dim should be positive")
        raise RuntimeError(
            f"INDICES element is out of DATA bounds, id={bad[0]} axis_dim={a.shape[d]}"
        )
    if bad.size:
        raise IndexError("index out of range in self")
    if not a.ndim:
        return a.copy()
    # `np.take` copies all of what has another layout, which may be more than there is memory.
    is_row_major = x.flags.c_contiguous
    return lay_out_result(np.take(x, i, d) if is_row_major else x[(slice(None),) * d + (i,)])


index_select = op(
    "index_select(Tensor self, int dim, Tensor index)",
    _select_indices,
    out=OutRule(
        "index_select(): self and result must have the same scalar type",
        prepare=_prepare_selected,
    ),
    self=lambda grad, self_sym_sizes, dim, index: index_add_(
        new_zeros(grad, self_sym_sizes), dim, index, grad
    ),
)


def _grad_of_source(grad: Any, source: Any, source_dim: int, dim: int, index: Any) -> Any:
    """Return the gradient of what was written at the indices of one dimension."""
    # A source without dimensions may have an index of the shape [1], and then its gradient would have
    # a dimension: PyTorch's table squeezes the index, too.
    if not source_dim:
        return index_select(grad, dim, squeeze(index))
    return expand(index_select(grad, dim, index), tuple(source.shape))


def _check_combined(
    name: str, a: np.ndarray, d: int, index: np.ndarray, source: np.ndarray
) -> None:
    """Raise PyTorch's errors for what `index_add` and `index_reduce` do not take."""
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: "
            f"{index.ndim} with type: {_name_dtype(index)} and size: {list(index.shape)}"
        )
    if index.dtype not in _INDICES:
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {_name_dtype(index)}"
        )
    if source.dtype != a.dtype:
        raise RuntimeError(
            f"{name}(): self ({_name_dtype(a)}) and source ({_name_dtype(source)}) must have the same "
            "scalar type"
        )
    if d and d >= source.ndim:
        raise RuntimeError(
            f"{name}(): Indexing dim {d} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    count = size_of_dim(source.shape, d)
    if count != index.size:
        if not source.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {d}"
        )
    ours, theirs = list(a.shape), list(source.shape)
    if len(ours) != len(theirs) or ours[:d] + ours[d + 1 :] != theirs[:d] + theirs[d + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {ours} source.shape = {theirs}"
        )


def _add_at_index(
    a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, alpha: Any = 1
) -> None:
    """Add slices of the source at the indices of one dimension, each as often as it is named."""
    d = wrap_dim(dim, a.ndim)
    _check_combined("index_add_", a, d, index, source)
    check_overlap(a)
    check_no_overlap(a, index, source)
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    values = np.atleast_1d(source if alpha == 1 else source * source.dtype.type(alpha))
    # Without cells PyTorch does not look at the index, be it out of range or not.
    if x.ndim > 1 and not x.size:
        return
    is_bad = (i < 0) | (i >= x.shape[d])
    # As in PyTorch, what comes before an index that is out of range has been added by then.
    count = _count_before_first(is_bad)
    np.add.at(x, _index_dim(d, i[:count]), values[_index_dim(d, slice(count))])
    # As in PyTorch, which takes `scatter_add` for the first and the last dimension.
    is_scattered = x.ndim > 1 and d in (0, x.ndim - 1) and index.dtype == _LONG
    if count < i.size and not is_scattered:
        raise IndexError("index out of range in self")
    check_index_range(x, d, i)


def _prepare_combined(
    out: OutArgument, name: str, a: Any, dim: int, index: Any, source: Any
) -> None:
    """Prepare the `out=` of `index_add` or `index_reduce`."""
    _check_combined(name, a, wrap_dim(dim, a.ndim), index, source)
    out.resize_for(a.shape, a.dtype)
    out.check_no_overlap(index, source)
    out.check_overlap(a)


index_add, index_add_ = declare_with_in_place(
    "index_add",
    "int dim, Tensor index, Tensor source, *, Scalar alpha=1",
    _add_at_index,
    out=OutRule("exact", prepare=lambda out, *how: _prepare_combined(out, "index_add_", *how[:-1])),
    self=lambda grad: grad,
    source=lambda grad, alpha, dim, index, source, source_dim: scale_grad(
        _grad_of_source(grad, source, source_dim, dim, index), alpha
    ),
)


def _check_copied(a: np.ndarray, d: int, index: np.ndarray, source: np.ndarray) -> None:
    """Raise PyTorch's errors for what `index_copy` does not take."""
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element (got "
            f"{index.size})"
        )
    if source.ndim and a.ndim and source.ndim != a.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.ndim}), destination dimensionality ({a.ndim})"
        )
    if index.dtype != _LONG:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {_name_dtype(index)}"
        )
    if source.dtype != a.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_name_dtype(a)} and (source) {_name_dtype(source)}"
        )
    # The text says dimension 0 of the source, whatever `dim` is: so do PyTorch's words.
    ours, theirs = (x.shape[:d] + x.shape[d + 1 :] for x in (a, source))
    if ours != theirs:
        own_sizes, their_sizes = (" ".join(map(str, sizes)) for sizes in (ours, theirs))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {own_sizes} at dimension {d} and source slice shape: {their_sizes} at dimension 0."
        )
    if source.ndim and index.size != source.shape[d]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({source.shape[d]})"
        )


def _copy_at_index(a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray) -> None:
    """Copy slices of the source to the indices of one dimension."""
    d = wrap_dim(dim, a.ndim)
    # PyTorch looks at memory before it looks at shapes.
    check_overlap(a)
    check_no_overlap(a, index, source)
    _check_copied(a, d, index, source)
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    values = np.atleast_1d(source)
    try:
        check_index_range(x, d, i)
    except RuntimeError as error:
        # As in PyTorch, what comes before it in the first row has been written by then.
        count = int(((i < 0) | (i >= x.shape[d])).argmax())
        x[(0,) * d][i[:count]] = values[(0,) * d][:count]
        raise IndexError(f"index_copy_(): {error}") from None
    x[_index_dim(d, i)] = values


def _prepare_copied(
    out: OutArgument, a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray
) -> None:
    """Prepare the `out=` of `index_copy`, which is before all its checks."""
    d = wrap_dim(dim, a.ndim)
    out.resize_for(a.shape, a.dtype)
    out.check_no_overlap(index, source)
    _check_copied(a, d, index, source)
    out.check_overlap(a)


declare_with_in_place(
    "index_copy",
    "int dim, Tensor index, Tensor source",
    _copy_at_index,
    out=OutRule("exact", prepare=_prepare_copied),
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0),
    source=lambda grad, dim, index, source, source_dim: _grad_of_source(
        grad, source, source_dim, dim, index
    ),
)


def _fill_at_index(a: np.ndarray, dim: int, index: np.ndarray, value: Any) -> None:
    """Write one value at the indices of one dimension, which may count from the end."""
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        value = value.item()
    if index.dtype != _LONG:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if is_expanded(a):
        warn_in_torch(
            "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation. This also applies to advanced indexing e.g. "
            "tensor[mask] = scalar",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:1913",
        )
    d = wrap_dim(dim, a.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    n = x.shape[d]
    if not x.size and _has_no_place(x, d, len(i)):
        return
    number = number_array(value, dtypes.BY_NUM[a.dtype.num])
    for position, k in enumerate(i.tolist()):
        if not -n <= k < n:
            # As in PyTorch, what comes before it in the first row has been written by then.
            x[(0,) * d][i[:position]] = number
            raise IndexError(f"index {k} is out of bounds for dimension {d} with size {n}")
    x[_index_dim(d, i)] = number


def _has_no_place(a: np.ndarray, d: int, count: int) -> bool:
    """Return True if so many indices of a dimension lead to no element of an empty tensor.

    RuntimeError if its memory is too small for a look at it with one place for each index: PyTorch
    takes that look before it reads the indices, and reads none where it has no element.
    """
    size = (*a.shape[:d], count, *a.shape[d + 1 :])
    stride = [step // a.itemsize for step in a.strides]
    stride[d] = 0
    whole = memory_owner(a)
    offset = (address_of(a) - address_of(whole)) // a.itemsize
    check_room(size, tuple(stride), offset, a.itemsize, whole.nbytes)
    return 0 in size


# An index that is there twice wrote the value to one place, so that place counts once. Sorted: the
# gradient is a sum over them, and PyTorch's order is not fixed.
def _find_distinct(index: Any) -> Any:
    """Return the indices, each once."""
    if isinstance(index, np.ndarray):
        return np.unique(index)
    return make_tensor(np.unique(index._data))


_FILLED = {"self": lambda grad, dim, index: index_fill(grad, dim, index, 0)}
_, _index_fill_with_ = declare_with_in_place(
    "index_fill",
    "int dim, Tensor index, Tensor value",
    _fill_at_index,
    layout=None,
    out=False,
    backward="IndexFillBackward1",
    **_FILLED,
    value=lambda grad, dim, index: sum_all(index_select(grad, dim, _find_distinct(index))),
)
index_fill, _ = declare_with_in_place(
    "index_fill",
    "int dim, Tensor index, Scalar value",
    _fill_at_index,
    layout=None,
    out=False,
    backward="IndexFillBackward0",
    **_FILLED,
)


def _sum_diagonal(a: np.ndarray) -> Any:
    """Return the sum of a matrix's diagonal. RuntimeError for what is no matrix."""
    if a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.ndim}")
    if a.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return sum_array(a.diagonal(), None, False, None)


def _find_diagonal(grad: Any, rows: int, columns: int) -> Any:
    """Return the indices of a matrix's diagonal in its elements in a row, of the gradient's kind."""
    places = np.arange(min(rows, columns)) * (columns + 1)
    return places if isinstance(grad, np.ndarray) else make_tensor(places)


def _fill_diagonal(grad: Any, self_sym_sizes: tuple) -> Any:
    """Return the gradient of `trace`, which PyTorch writes in a row and views as a matrix."""
    rows, columns = self_sym_sizes
    zeros = written_zeros(grad, (rows * columns,))
    filled = _index_fill_with_(zeros, 0, _find_diagonal(grad, rows, columns), grad)
    return view(filled, self_sym_sizes)


op("trace(Tensor self)", row_major(_sum_diagonal), out=False, self=_fill_diagonal)

# an index of all elements in a row ----------------------------------------------------------------


def _check_taken(index: np.ndarray) -> None:
    """Raise PyTorch's RuntimeError for an index that `take` does not take."""
    if index.dtype != np.int64:
        name = dtypes.BY_NUM[index.dtype.num].scalar_name
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {name}")


def _take_elements(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the elements at indices that count all elements, in the shape of the index."""
    _check_taken(index)
    if not a.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _check_element_numbers(a, index)
    if a.flags.c_contiguous:
        return lay_out_result(np.asarray(np.take(a, index)))
    # NumPy's would copy all of it first, which may be more than there is memory.
    places = np.unravel_index(np.where(index < 0, index + a.size, index), a.shape)
    return lay_out_result(np.asarray(a[places]))


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
    x, at, values = np.atleast_1d(a), index.ravel(), source.ravel()
    is_bad = (at < -a.size) | (at >= a.size)
    # As in PyTorch, what comes before an index that is out of range has been written by then.
    count = _count_before_first(is_bad)
    cells = np.unravel_index(at[:count] % x.size, x.shape)
    if accumulate:
        np.add.at(x, cells, values[:count])
    else:
        x[cells] = values[:count]
    _check_element_numbers(a, index)


def _prepare_taken(out: OutArgument, a: np.ndarray, index: np.ndarray) -> None:
    """Prepare the `out=` of `take`."""
    _check_taken(index)
    out.check_dtype(dtypes.BY_NUM[a.dtype.num])
    if a.size or not index.size:
        out.check_no_overlap(a, index)
        out.resize(index.shape)


take = op(
    "take(Tensor self, Tensor index)",
    _take_elements,
    out=OutRule(
        "take(): self and out expected to have the same dtype, but got self.dtype = {0} and "
        "out.dtype = {1}",
        prepare=_prepare_taken,
    ),
    self=lambda grad, self, index: put_(zeros_like(self), index, grad, True),
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


# along a dimension, with an index that broadcasts -------------------------------------------------


def _find_gathered(self: Any, indices: Any, dim: int | None) -> tuple[Any, int, Any]:
    """Return what to gather from along a dimension: both broadcast along the others."""
    if dim is None:
        return view(self, (-1,)), 0, view(indices, (-1,))
    n, index_array = array_of(self).ndim, array_of(indices)
    if n != index_array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of "
            f"dimensions, but got {n} dimensions for input, and {index_array.ndim} dimensions for "
            "indices"
        )
    if index_array.dtype != np.int64:
        name = dtypes.BY_NUM[index_array.dtype.num].scalar_name
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {name}"
        )
    d, shape = wrap_dim(dim, n), array_of(self).shape
    whole, part = (*shape[:d], *index_array.shape[d : d + 1], *shape[d + 1 :]), index_array.shape
    # The remainder lets indices count from the end, and ones beyond it from the start again.
    index = expand(indices, broadcast_shape(whole, part)) % shape[d]
    whole, part = shape, (*part[:d], *shape[d : d + 1], *part[d + 1 :])
    return expand(self, broadcast_shape(part, whole)), d, index


op(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None)",
    delegating(gather, _find_gathered),
    out=True,
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
    # The result has the dtype of the numbers, not always int64: `index_select` takes both.
    return np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)


def _repeat_as_tensor_says(
    self: Any, repeats: Tensor, dim: int | None, output_size: int | None
) -> Any:
    """Repeat each part of a dimension as often as a vector of numbers says; a copy."""
    if dim is None:
        self, dim = flatten(self), 0
    if repeats._data.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    n = self.size(dim)
    if repeats._data.size == 1:
        repeats = expand(reshape(repeats, (1,)), (n,))
    elif repeats._data.size != n:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._data.size} and input.size({dim}) = {n}"
        )
    return index_select(self, dim, _repeats_of_indices(repeats, output_size))


def _repeat_each(self: Any, repeats: int, dim: int | None, output_size: int | None) -> Any:
    """Repeat each part of a dimension equally often: a view of a copy that nobody else has."""
    if dim is None:
        self, dim = flatten(self), 0
    d = wrap_dim(dim, self._data.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = list(unsqueeze(self, d + 1)._data.shape)
    shape[d + 1] = repeats
    if output_size is not None and output_size != repeats * shape[d]:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {repeats * shape[d]} but got "
            f"{output_size}"
        )
    # As PyTorch: the copy is made of the expanded view, so its node is CloneBackward0, and `flatten`
    # gives a view of that.
    repeated = expand(unsqueeze(self, d + 1), tuple(shape))
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

# reducing what is written to one place ------------------------------------------------------------

_REDUCERS = {
    "sum": np.add,
    "prod": np.multiply,
    # summed, and divided when all is there
    "mean": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
    # without a gradient, and in no error that lists the others
    "max": np.maximum,
    "min": np.minimum,
}


def _reduce_scattered(
    a: np.ndarray,
    dim: int,
    index: np.ndarray,
    src: np.ndarray,
    reduce: str,
    include_self: bool = True,
) -> None:
    """Reduce the source's elements that come to one place, there with what it held."""
    error = ""
    if reduce not in _REDUCERS:
        error = f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    where_to = prepare_scatter(a, dim, index, src, error)
    if where_to is None:
        return
    # Only the mean refuses a dtype: of bools there is none.
    check_kernel(
        a.dtype, "if" if reduce == "mean" else ALL_LETTERS, "scatter_gather_tensor_cpu_reduce_mean"
    )
    x, cells, values, error = where_to
    ufunc = _REDUCERS[reduce]
    if not include_self:
        # The first that comes is taken as it is.
        x[cells] = _find_neutral(reduce, x.dtype)
    if include_self or error is None:
        reduce_at_cells(ufunc, x, cells, values)
    where_to.raise_error()
    if reduce == "mean":
        _divide_by_counts(x, cells, include_self)


def _divide_by_counts(x: np.ndarray, where: Any, include_self: bool) -> None:
    """Divide sums by the number of their terms."""
    counts = np.full(x.shape, int(include_self), np.int64)
    np.add.at(counts, where, 1)
    # Where nothing came, what was there stays.
    counts[counts == 0] = 1
    divided = np.divide if x.dtype.kind == "f" else np.floor_divide
    x[...] = divided(x, counts.astype(x.dtype))


def _check_reduction(reduce: str) -> None:
    """Raise PyTorch's RuntimeError for the name of a reduction that `index_reduce` does not have."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )


def _prepare_reduced(out: OutArgument, *how: Any) -> None:
    """Prepare the `out=` of `index_reduce`."""
    _check_reduction(how[4])
    _prepare_combined(out, "index_reduce_", *how[:4])


def _reduce_at_index(
    a: np.ndarray,
    dim: int,
    index: np.ndarray,
    source: np.ndarray,
    reduce: str,
    include_self: bool = True,
) -> None:
    """Reduce slices of the source at the indices of one dimension, there with what it held."""
    _check_reduction(reduce)
    d = wrap_dim(dim, a.ndim)
    _check_combined("index_reduce_", a, d, index, source)
    check_overlap(a)
    check_no_overlap(a, index, source)
    warn_in_torch(
        "index_reduce() is in beta and the API may change at any time.",
        "aten/src/ATen/native/TensorAdvancedIndexing.cpp:1523",
        once=True,
    )
    if not include_self:
        check_kernel(a.dtype, "if", "index_reduce_func_exclude_input_init")
    elif a.ndim < 2:
        check_kernel(a.dtype, "if", "index_func_")
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    if not include_self:
        _fill_at_index(a, dim, index.astype(_LONG), _find_neutral(reduce, x.dtype))
    is_bad = (i < 0) | (i >= x.shape[d])
    # As in PyTorch, what comes before an index that is out of range has been reduced by then.
    count = _count_before_first(is_bad)
    where_to = _index_dim(d, i[:count])
    _REDUCERS[reduce].at(x, where_to, np.atleast_1d(source)[_index_dim(d, slice(count))])
    if count < i.size:
        raise IndexError("index out of range in self")
    if reduce == "mean":
        # Of bools there is no quotient, and of no bools none is needed.
        check_kernel(a.dtype, "if" if a.size else ALL_LETTERS, "div_floor_cpu")
        _divide_by_counts(x, where_to, include_self)


def _find_neutral(reduce: str, dtype: np.dtype) -> Any:
    """Return the value that changes nothing when it is reduced with another one."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    is_largest = reduce in ("amin", "min")
    if dtype.kind == "b":
        return is_largest
    if dtype.kind == "f":
        return np.inf if is_largest else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if is_largest else limits.min


class _Places(NamedTuple):
    """How a kind of index reads, adds, reduces and writes one number, by (x, dim, index, ...)."""

    read: Any
    add: Any
    reduce: Any
    fill: Any
    # What tells the extremes is a tensor of the gradient's dtype, else of bools.
    has_typed_masks: bool


def _count_at_places(
    at: _Places, grad: Any, dim: int, index: Any, src_sizes: tuple, include_self: bool
) -> Any:
    """Return of how many elements each place has the mean."""
    start = ones_like(grad) if include_self else zeros_like(grad)
    counts = at.add(start, dim, index, new_ones(grad, src_sizes))
    return masked_fill_(counts, eq(counts, 0), 1)


def _share_grad(
    at: _Places, grad: Any, self: Any, dim: int, index: Any, src: Any, result: Any, dtype: Any
) -> Any:
    """Divide the gradient of an extreme by the number of elements that have its value."""
    is_self, is_src = eq(self, result), eq(src, at.read(result, dim, index))
    counts = at.add(
        convert_in_formula(is_self, dtype), dim, index, convert_in_formula(is_src, dtype)
    )
    return div(grad, counts)


def _find_extremes(at: _Places, x: Any, extremes: Any, dtype: Any) -> Any:
    """Return a mask of the elements that are the extremes of their places."""
    mask = eq(x, extremes)
    return convert_in_formula(mask, dtype) if at.has_typed_masks else mask


def _check_has_gradient(reduce: str) -> None:
    """Raise PyTorch's RuntimeError for the names that its forward knows, and its backward not."""
    if reduce in ("max", "min"):
        raise RuntimeError(
            "Expected 'reduce' to be one of 'sum', 'prod', 'mean', 'amax', 'amin' but got "
            f"{reduce}."
        )


def _grads_of_reduced(
    at: _Places,
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
    dtype: Any,
) -> tuple:
    """Return the gradients of what was there before, and of the source."""
    _check_has_gradient(reduce)
    if reduce == "sum":
        of_self, of_src = grad, at.read(grad, dim, index)
    elif reduce == "mean":
        counts = _count_at_places(at, grad, dim, index, tuple(src.shape), include_self)
        of_self = div(grad, counts)
        of_src = div(at.read(grad, dim, index), at.read(counts, dim, index))
    elif reduce == "prod":
        of_self, of_src = _grads_of_product(
            at, grad, self, dim, index, src, include_self, result, dtype
        )
    else:
        shared = _share_grad(at, grad, self, dim, index, src, result, dtype)
        of_self = mul(_find_extremes(at, self, result, dtype), shared)
        is_extreme = _find_extremes(at, src, at.read(result, dim, index), dtype)
        of_src = mul(is_extreme, at.read(shared, dim, index))
    # What was there was replaced where something came, and has no part in the result.
    return of_self if include_self else at.fill(of_self, dim, index, 0), of_src


def _grads_of_product(
    at: _Places,
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    include_self: bool,
    result: Any,
    dtype: Any,
) -> tuple:
    """Return the gradients of factors: where one alone is 0, its gradient is the product of the others."""
    masked = masked_fill(self, eq(self, 0), 1)
    others = at.reduce(masked, dim, index, src, "prod", include_self)
    of_self = div(mul(grad, others), masked)
    is_zero = eq(src, 0)
    zeros = at.add(zeros_like(self), dim, index, convert_in_formula(is_zero, dtype))
    is_only_zero = bitwise_and(is_zero, eq(at.read(zeros, dim, index), 1))
    others = at.reduce(self, dim, index, masked_fill(src, is_only_zero, 1), "prod", include_self)
    of_src = where(
        is_only_zero,
        at.read(mul(grad, others), dim, index),
        div(at.read(mul(grad, result), dim, index), masked_fill(src, is_zero, 1)),
    )
    return of_self, of_src


_SCATTERED = _Places(gather, scatter_add, lambda *how: scatter_reduce(*how), scatter, False)
_BY_VECTOR = _Places(index_select, index_add, lambda *how: index_reduce(*how), index_fill, True)

scatter_reduce, _ = declare_with_in_place(
    "scatter_reduce",
    "int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True",
    _reduce_scattered,
    out=SCATTERED_OUT,
    **{
        "self, src": lambda grad, self, dim, index, src, reduce, include_self, result, _self_dtype: (
            _grads_of_reduced(
                _SCATTERED, grad, self, dim, index, src, reduce, include_self, result, _self_dtype
            )
        )
    },
)
index_reduce, _ = declare_with_in_place(
    "index_reduce",
    "int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True",
    _reduce_at_index,
    out=OutRule("exact", prepare=_prepare_reduced),
    **{
        "self, source": lambda grad, self, dim, index, source, reduce, include_self, result, _self_dtype: (
            _grads_of_reduced(
                _BY_VECTOR,
                grad,
                self,
                dim,
                index,
                source,
                reduce,
                include_self,
                result,
                _self_dtype,
            )
        )
    },
)
