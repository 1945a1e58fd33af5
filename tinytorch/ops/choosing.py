"""Elements chosen by a mask, or by an index along one dimension: reading, writing, adding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..base import (
    broadcast_shape,
    check_broadcast_into,
    check_memory,
    check_no_overlap,
    check_overlap,
    dtypes,
    is_expanded,
    lay_out_result,
    warn_in_torch,
    wrap_dim,
)
from ..tensor import Tensor
from .calling import Overloads
from .copies import contiguous_format, copy_array
from .creation import new_zeros, number_array, zeros_like
from .define import offer_member, op
from .filling import written_zeros
from .kernels import as_array, composite, result_dtype, shape_of_all, write
from .late import LaterMethod
from .out_argument import OutArgument, OutRule
from .parts import unbind
from .sums import expand, sum_all

_INDICES = (np.dtype(np.int64), np.dtype(np.int32))


def write_into_copy(f: Any, layout: Any = contiguous_format, masked: bool = False) -> Any:
    """Make the kernel that copies its first array and lets `f` write into the copy.

    `masked`: the copy has the shape in which the array meets the mask.
    """

    def kernel(a: np.ndarray, *args: Any) -> np.ndarray:
        # NumPy computes numbers of 0-d arrays, and a number can not be written to.
        a = np.asarray(a)
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


def declare_with_in_place(
    name: str,
    rest: str,
    f: Any,
    masked: bool = False,
    layout: Any = contiguous_format,
    out: bool | str | OutRule = "exact",
    **how: Any,
) -> tuple[Any, Any]:
    """Declare an operation by a function that writes: on a copy, and in place."""
    kernel = write_into_copy(f, layout, masked)
    return (
        op(f"{name}(Tensor self, {rest})", kernel, out=False if masked else out, **how),
        op(f"{name}_(Tensor(a!) self, {rest})", write(f), function=False, **how),
    )


# Two overloads of one name: the value is a tensor, or a number. The second has the plain names, as
# formulas mostly call that.
_, masked_fill_with_tensor_ = declare_with_in_place(
    "masked_fill",
    "Tensor mask, Tensor value",
    fill_where,
    True,
    backward="MaskedFillBackward1",
    self=lambda grad, mask: masked_fill(grad, mask, 0),
    value=lambda grad, mask: sum_all(masked_select(grad, mask)),
)
masked_fill, masked_fill_ = declare_with_in_place(
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
    if condition.dtype == np.uint8:
        warn_in_torch(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed "
            "in a future version of PyTorch. Use a boolean condition instead.",
            "aten/src/ATen/native/TensorCompare.cpp:621",
            once=True,
        )
        condition = condition.astype(bool)
    elif condition.dtype != bool:
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


def _prepare_chosen(out: OutArgument, condition: np.ndarray, a: Any, b: Any) -> None:
    """Prepare the `out=` of `where`."""
    out.check_dtype(result_dtype(a, b))
    if condition.dtype.char in "?B":
        out.check_overlap(condition, a, b)
        out.resize(shape_of_all(condition, a, b))


where = op(
    _CONDITION.format("Tensor", "Tensor"),
    _select_by_condition,
    out=OutRule("Expected out type to be {0} but got {1}", prepare=_prepare_chosen),
    backward="WhereBackward0",
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad),
)
for _self, _other in (("Scalar", "Tensor"), ("Tensor", "Scalar"), ("Scalar", "Scalar")):
    op(
        _CONDITION.format(_self, _other),
        composite(lambda condition, self, other: where(condition, self, other)),
    )


def _prepare_nonzero(out: OutArgument, a: np.ndarray) -> None:
    """Prepare the `out=` of `nonzero`."""
    out.check_dtype(dtypes.int64)
    out.check_no_overlap(a)
    out.resize((int(np.count_nonzero(a)), a.ndim))


_nonzero_indices = op(
    "nonzero(Tensor self)",
    _find_nonzero,
    out=OutRule(
        "nonzero: Expected out tensor to have scalar type {0} but got scalar type{1}",
        keeps_strides=True,
        prepare=_prepare_nonzero,
    ),
    method=False,
    function=False,
)


def _indices_where_true(self: Tensor, as_tuple: bool) -> Any:
    """Return a row of indices for each element that is not zero, or a tensor for each dimension."""
    if not as_tuple:
        return _nonzero_indices(self)
    # As a tuple, PyTorch takes a 0-d tensor for one of a single element.
    return unbind(_nonzero_indices(self if self._data.ndim else self.detach().reshape(1)), 1)


def _write_nonzero(out: Any, self: Tensor, as_tuple: bool) -> Any:
    """Write a row of indices for each element that is not zero into `out`."""
    if as_tuple:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return _nonzero_indices.run_into_out(out, (self,))


nonzero = op(
    "nonzero(Tensor self, *, bool as_tuple=False)",
    composite(_indices_where_true, into_out=_write_nonzero),
    out=True,
    method=False,
)
# PyTorch's method has two overloads in their place, which its errors list.
_nonzero_as_tuple = op(
    "nonzero(Tensor self, *, bool as_tuple)",
    composite(_indices_where_true),
    method=False,
    function=False,
)


def _make_nonzero() -> Any:
    """Make the method."""
    overloads = Overloads("nonzero")
    for overload in (_nonzero_indices, _nonzero_as_tuple):
        overloads.add(overload, method=True)
    return overloads.make_function(method=True)


offer_member("nonzero", LaterMethod(Tensor, "nonzero", _make_nonzero), function=False)
op("argwhere(Tensor self)", composite(_nonzero_indices))

# by an index along one dimension ------------------------------------------------------------------


def check_index_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
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
    _check_index_shape(x, d, i, None, is_gathered=True)
    check_index_range(x, d, i)
    return lay_out_result(x[_cells_of_index(i, d)]).reshape(index.shape)


def _prepare_gathered(
    out: OutArgument, a: np.ndarray, dim: int, index: np.ndarray, *_: Any
) -> None:
    """Prepare the `out=` of `gather`."""
    wrap_dim(dim, a.ndim)
    out.resize_for(index.shape, a.dtype)
    out.check_no_overlap(a)
    out.check_overlap(index)


gather = op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False)",
    _gather_elements,
    out=OutRule("exact", prepare=_prepare_gathered),
    self=lambda grad, self, dim, index, sparse_grad: scatter_add_(
        new_zeros(grad, self.shape), dim, index, grad
    ),
)


def _select_where(a: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return a vector of the elements at which a mask is true."""
    if mask.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = shape_of_all(mask, a)
    check_memory(shape, 8)  # of the places that PyTorch counts first
    return np.atleast_1d(np.broadcast_to(a, shape)[np.broadcast_to(mask, shape)])


def _scatter_where(a: np.ndarray, mask: np.ndarray, source: np.ndarray) -> None:
    """Write the elements of a source, one after the other, where a mask is true."""
    check_overlap(a)
    if a.dtype != source.dtype:
        ours, theirs = (dtypes.BY_NUM[x.dtype.num].scalar_name for x in (a, source))
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{ours} and {theirs}"
        )
    where_true = expand(mask, a.shape)
    if mask.dtype == np.uint8:
        warn_in_torch(
            "masked_scatter_ received a mask with dtype torch.uint8, this behavior is now "
            "deprecated,please use a mask with dtype torch.bool instead.",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:3130",
        )
    if mask.dtype != bool:
        name = dtypes.BY_NUM[mask.dtype.num].scalar_name
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {name}"
        )
    # Where the source ends too early PyTorch has written what there is before it notices.
    places = np.nonzero(np.atleast_1d(where_true))
    n = min(places[0].size, source.size)
    x, values = np.atleast_1d(a), source.ravel()[:n]
    cells = tuple([d[:n] for d in places])
    if np.may_share_memory(x, values):
        # One after the other, as PyTorch does: a value may have been written to before it is read.
        for i, cell in enumerate(zip(*cells, strict=True)):
            x[cell] = values[i]
    else:
        x[cells] = values
    if n < places[0].size:
        raise RuntimeError("Number of elements of source < number of ones in mask")


def _masked_scatter_grad(grad_output: np.ndarray, mask: np.ndarray, sizes: tuple) -> np.ndarray:
    """Return the gradient of the source: what it was not read for has none."""
    data = np.zeros(sizes, grad_output.dtype)
    read = _select_where(grad_output, mask)
    data.reshape(-1)[: read.size] = read
    return data


def _prepare_selected(out: OutArgument, a: np.ndarray, mask: np.ndarray) -> None:
    """Prepare the `out=` of `masked_select`, which takes its shape only after it was counted."""
    if mask.dtype == bool:
        out.check_dtype(dtypes.BY_NUM[a.dtype.num])
        out.check_no_overlap(a, mask)
        out.resize(_select_where(a, mask).shape)


masked_select = op(
    "masked_select(Tensor self, Tensor mask)",
    _select_where,
    out=OutRule(
        "masked_select(): self and result must have the same scalar type",
        prepare=_prepare_selected,
    ),
    self=lambda grad, self, mask: masked_scatter_(
        zeros_like(expand(self, broadcast_shape(self.shape, mask.shape))), mask, grad
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
masked_scatter, masked_scatter_ = declare_with_in_place(
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

# writing ------------------------------------------------------------------------------------------


def _check_index_shape(
    a: np.ndarray, d: int, index: np.ndarray, src: Any, is_gathered: bool = False
) -> None:
    """Raise PyTorch's error unless `index` fits tensor and source, except in dimension `d`.

    `is_gathered`: the error has the words of `gather`.
    """
    for x, name in ((a, "input" if src is None else "self"), (src, "src")):
        if isinstance(x, np.ndarray) and max(x.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(
                f"Index tensor must have the same number of dimensions as {name} tensor"
            )
    more = ""
    if isinstance(src, np.ndarray):
        more = f" and to be no larger size than src {list(src.shape)}"
    for k, n in enumerate(index.shape):
        if (k != d and a.ndim and n > a.shape[k]) or (more and n > (src.shape or (1,))[k]):
            start = f"Size does not match at dimension {k} expected" if is_gathered else "Expected"
            raise RuntimeError(
                f"{start} index {list(index.shape)} to be no larger than self "
                f"{list(a.shape)} apart from dimension {d}{more}"
            )


class Scattering(NamedTuple):
    """Values that are written by an index along one dimension, and their places."""

    target: np.ndarray  # with one dimension at least
    cells: tuple  # NumPy's index
    values: Any  # an array of the index's shape, or one number
    # What is raised when they are written; the rest is then what comes before an index out of range.
    error: RuntimeError | None = None

    def raise_error(self) -> None:
        """Raise the error of an index out of range, if there is one."""
        if self.error is not None:
            raise self.error


def check_scattered(a: np.ndarray, dim: int, index: np.ndarray, src: Any) -> int:
    """Check the dtypes and shapes that `scatter` and its kin were given, and return the dimension."""
    d = wrap_dim(dim, a.ndim)
    if index.size and index.dtype not in _INDICES:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if isinstance(src, np.ndarray) and src.dtype != a.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.size:
        _check_index_shape(a, d, index, src)
    return d


def prepare_scatter(
    a: np.ndarray, dim: int, index: np.ndarray, src: Any, error: str = ""
) -> Scattering | None:
    """Check what `scatter` and its kin were given. None if the index is empty.

    `error`: what is wrong with the name of a reduction, which PyTorch says of two faults unless the
    other one is in dtypes, shapes or memory.
    """
    d = check_scattered(a, dim, index, src)
    check_overlap(a)
    check_no_overlap(a, index, src)
    if error:
        raise RuntimeError(error)
    if not index.size:
        return None
    x, i = np.atleast_1d(a), np.atleast_1d(index)
    if isinstance(src, np.ndarray):
        # The source may be larger than the index, and what is beyond it is not read.
        src = np.atleast_1d(src)[tuple([slice(n) for n in i.shape])]
    else:
        src = number_array(src, dtypes.BY_NUM[a.dtype.num])
    cells = _cells_of_index(i, d)
    try:
        check_index_range(x, d, i)
    except RuntimeError as bad_index:
        count = int(((i < 0) | (i >= x.shape[d])).argmax())
        cells = tuple([np.broadcast_to(c, i.shape).ravel()[:count] for c in cells])
        return Scattering(x, cells, src.ravel()[:count] if src.ndim else src, bad_index)
    return Scattering(x, cells, src)


def _prepare_scattered(
    out: OutArgument, a: np.ndarray, dim: int, index: np.ndarray, src: Any, *_: Any
) -> None:
    """Prepare the `out=` of `scatter` and its kin."""
    check_scattered(a, dim, index, src)
    out.check_no_overlap(index, src)
    out.resize_for(a.shape, a.dtype)
    out.check_overlap(a)


def _scatter_elements(a: np.ndarray, dim: int, index: np.ndarray, src: Any) -> None:
    """Write the source's elements, or one number, where `index` points."""
    where_to = prepare_scatter(a, dim, index, src)
    if where_to is not None:
        where_to.target[where_to.cells] = where_to.values
        where_to.raise_error()


def _combine_scattered(a: np.ndarray, dim: int, index: np.ndarray, src: Any, reduce: str) -> None:
    """Add the source's elements to what is there, or multiply it by them."""
    ufunc = {"add": np.add, "multiply": np.multiply}.get(reduce)
    if isinstance(src, np.ndarray):
        warn_in_torch(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options.",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:225",
            once=True,
        )
    error = "" if ufunc else "reduce argument must be either add or multiply."
    where_to = prepare_scatter(a, dim, index, src, error)
    if where_to is not None:
        reduce_at_cells(ufunc, *where_to[:3])
        where_to.raise_error()


def _add_scattered(a: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> None:
    """Add the source's elements where `index` points, each time that it does."""
    where_to = prepare_scatter(a, dim, index, src)
    if where_to is not None:
        reduce_at_cells(np.add, *where_to[:3])
        where_to.raise_error()


def reduce_at_cells(ufunc: Any, a: np.ndarray, cells: Any, values: Any) -> None:
    """Combine values with what the cells hold, each time that a cell is named."""
    # `a[cells] += values` would add once where an index occurs several times.
    if a.dtype.char != "e":
        ufunc.at(a, cells, values)
        return
    # In float16 a growing sum soon ignores what is added: 256 + 0.1 is 256.
    wide = a.astype(np.float32)
    ufunc.at(wide, cells, values)
    a[...] = wide


SCATTERED_OUT = OutRule("exact", prepare=_prepare_scattered)


def _declare_combining(source: str) -> None:
    """Declare `scatter` with `reduce=`, which has no derivative in PyTorch."""
    rest = f"int dim, Tensor index, {source}, *, str reduce)"
    op(
        f"scatter(Tensor self, {rest}",
        write_into_copy(_combine_scattered),
        out=SCATTERED_OUT,
        undifferentiable=True,
    )
    op(
        f"scatter_(Tensor(a!) self, {rest}",
        write(_combine_scattered),
        function=False,
        undifferentiable=True,
    )


_ZERO_AT_INDEX = {"self": lambda grad, dim, index: scatter(grad, dim, index, 0)}
_GATHER_SOURCE = {"src": lambda grad, dim, index: gather(grad, dim, index)}
_, scatter_from_ = declare_with_in_place(
    "scatter",
    "int dim, Tensor index, Tensor src",
    _scatter_elements,
    out=SCATTERED_OUT,
    backward="ScatterBackward0",
    **_ZERO_AT_INDEX,
    **_GATHER_SOURCE,
)
_declare_combining("Tensor src")
scatter, _ = declare_with_in_place(
    "scatter",
    "int dim, Tensor index, Scalar value",
    _scatter_elements,
    out=SCATTERED_OUT,
    backward="ScatterBackward1",
    **_ZERO_AT_INDEX,
)
_declare_combining("Scalar value")
# By this one, formulas also add gradients to the elements that an operation has read.
scatter_add, scatter_add_ = declare_with_in_place(
    "scatter_add",
    "int dim, Tensor index, Tensor src",
    _add_scattered,
    out=SCATTERED_OUT,
    self=lambda grad: grad,
    **_GATHER_SOURCE,
)
