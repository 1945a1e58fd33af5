"""`x[...]` and `x[...] = value`: ints, slices, None and `...` make views, tensors copy.

Source: torch's `python_variable_indexing` and `TensorAdvancedIndexing`: an index is worked off from
left to right as select, slice and unsqueeze views; what is left over as tensors goes to `index` or
`index_put_`.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from ..base import (
    CPU,
    check_no_overlap,
    contiguous_strides,
    copy_with_strides,
    dtypes,
    is_expanded,
    make_absence_error,
    strides_of_result,
    type_name,
    view_strides,
    warn_in_torch,
)
from ..tensor import Tensor, device_of, make_tensor
from .choosing import fill_where, write_into_copy
from .copies import alias, copy_
from .creation import new_zeros
from .define import offer_member, op
from .from_data import array_from_data as array_from
from .kernels import array_to_fill, write
from .parts import END, select, slice_
from .schema import check_long
from .sums import expand
from .views import unsqueeze, view

# index tensors ------------------------------------------------------------------------------------

_BYTES_WARNING = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
)


def is_mask(i: np.ndarray) -> bool:
    """Return True if an index tensor chooses where it is true: bytes were PyTorch's bools once."""
    return i.dtype.char in "?B"


def _read_index_arrays(a: np.ndarray, indices: Any) -> list[np.ndarray | None]:
    """Return index tensors as int64 arrays: masks become the indices where they are true.

    IndexError in PyTorch's words.
    """
    out: list[np.ndarray | None] = []
    for i in indices:
        if i is None:
            out.append(None)
        elif is_mask(i):
            if i.dtype != bool:
                warn_in_torch(_BYTES_WARNING, "aten/src/ATen/native/IndexingUtils.h:37")
            _check_mask(i.shape, a.shape, len(out))
            out.extend(i.nonzero())
        # int32 and int64. PyTorch refuses the smaller ones, which NumPy takes.
        elif i.dtype.kind == "i" and i.dtype.itemsize >= 4:
            out.append(i if i.dtype == np.int64 else i.astype(np.int64))
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if len(out) > a.ndim:
        raise IndexError(f"too many indices for tensor of dimension {a.ndim} (got {len(out)})")
    return out


def _check_mask(mask: tuple, shape: tuple, at: int) -> None:
    """Raise PyTorch's IndexError unless a mask fits the dimensions from number `at` on."""
    for j, n in enumerate(mask):
        if at + j >= len(shape) or n != shape[at + j]:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {j} does not match the shape of "
                f"the indexed tensor {list(shape)} at index {at + j}"
            )


class IndexGeometry(NamedTuple):
    """The shapes of an index and of what is read with it."""

    index_shape: tuple  # the shape that the index arrays broadcast to
    indexed_dims: list[int]  # the dimensions that have an index array
    position: int  # where the index's dimensions begin among those of the result
    result_shape: tuple


def _broadcast_indices(shape: tuple, places: list) -> IndexGeometry:
    """Broadcast index arrays against each other, and work out the shape of the result."""
    used = [d for d, i in enumerate(places) if i is not None]
    index_shapes = [places[d].shape for d in used]
    try:
        # One shape broadcasts to itself, and `broadcast_shapes` takes long to say so.
        together = index_shapes[0] if len(used) == 1 else np.broadcast_shapes(*index_shapes)
    except ValueError:
        shapes = ", ".join([str(list(index_shape)) for index_shape in index_shapes])
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    # PyTorch says this before it looks at any index, and without naming one.
    if 0 not in together and any(shape[d] == 0 for d in used):
        raise IndexError("index is out of bounds for dimension with size 0")
    # Indices of adjacent dimensions stay in their place; others go to the front.
    at = used[0] if used and used == list(range(used[0], used[-1] + 1)) else 0
    rest = [n for d, n in enumerate(shape) if d not in used]
    return IndexGeometry(together, used, at, (*rest[:at], *together, *rest[at:]))


def _find_out_of_bounds(
    shape: tuple, places: list, used: list[int], together: tuple
) -> tuple[int, IndexError]:
    """Find the first element with an index out of range, and make PyTorch's error for it.

    PyTorch goes from element to element, and for each by dimension.
    """
    columns = [np.broadcast_to(places[d], together).reshape(-1) for d in used]
    sizes = [shape[d] for d in used]
    for position, element in enumerate(zip(*columns, strict=True)):
        for nr, (index, size) in enumerate(zip(element, sizes, strict=True)):
            if not -size <= index < size:
                # PyTorch, too, counts the dimensions that have an index, and no others.
                return position, IndexError(
                    f"index {index} is out of bounds for dimension {nr} with size {size}"
                )
    raise AssertionError("no index is out of range")


def _put_values(a: np.ndarray, cells: tuple, values: np.ndarray, add: bool) -> None:
    """Write values, or add them, at NumPy's index."""
    if not add:
        a[cells] = values
        return
    # PyTorch would then add values that it has already written to.
    if np.shares_memory(a, values):
        raise make_absence_error(
            "adding elements of a tensor to the tensor itself by index",
            "please clone() the values first",
        )
    np.add.at(a, cells, values)


def _write_before(
    a: np.ndarray, places: list, shapes: IndexGeometry, values: np.ndarray, count: int, add: bool
) -> None:
    """Write, or add, what PyTorch has written when it meets an index out of range: `count` elements.

    It goes row by row: where dimensions come before those with an index, that is in their first row.
    """
    first_row = (0,) * shapes.position
    rows = np.broadcast_to(values, shapes.result_shape)[first_row]
    rows = rows.reshape(-1, *rows.shape[len(shapes.index_shape) :])[:count]
    cells: list = []
    for index in places[shapes.position :]:
        if index is None:
            cells.append(slice(None))
        else:
            cells.append(np.broadcast_to(index, shapes.index_shape).reshape(-1)[:count])
    _put_values(a[first_row], tuple(cells), rows, add)


def _as_numpy_index(places: list) -> tuple:
    """Return an index for NumPy: all of each dimension that has no index array."""
    return tuple([slice(None) if i is None else i for i in places])


def _read_at_indices(a: np.ndarray, indices: list) -> np.ndarray:
    """Return the elements at index arrays, with PyTorch's shape and strides. The kernel of `index`."""
    places = _read_index_arrays(a, indices)
    together, used, at, shape = _broadcast_indices(a.shape, places)
    try:
        data = a[_as_numpy_index(places)] if 0 not in shape else np.empty(shape, a.dtype)
    except IndexError:
        raise _find_out_of_bounds(a.shape, places, used, together)[1] from None
    # One dimension has one layout, but NumPy gives an empty array strides of 0.
    if data.ndim < 2:
        return data if data.size else np.empty(shape, a.dtype)
    if (
        data.size
        and 1 not in shape
        and a.flags.c_contiguous
        and all(places[d].flags.c_contiguous for d in used)
    ):
        return np.ascontiguousarray(data)
    # torch's iterator finds the order of dimensions, with the source's indexed steps as 0
    rest = [a.strides[d] for d in range(a.ndim) if d not in used]
    cell = np.empty(1, a.dtype)
    looks = [
        np.lib.stride_tricks.as_strided(
            cell, shape, (*rest[:at], *(0,) * len(together), *rest[at:])
        )
    ]
    for d in used:
        i = places[d]
        own = ((1,) * at) + together + (1,) * (len(rest) - at)
        steps = view_strides(
            together, np.broadcast_to(i, together).strides, 8, own
        ) or contiguous_strides(own, 8)
        looks.append(np.lib.stride_tricks.as_strided(np.empty(1, np.int64), own, steps))
    return copy_with_strides(data, strides_of_result(shape, a.itemsize, tuple(looks)))


def _find_single_mask(a: np.ndarray, indices: list, value: np.ndarray) -> np.ndarray | None:
    """Return the mask if the indices are one mask and the value is one number.

    PyTorch then fills instead of indexing.
    """
    masks = [n for n, i in enumerate(indices) if i is not None]
    if value.size != 1 or len(masks) != 1 or not is_mask(indices[masks[0]]):
        return None
    before, mask = masks[0], indices[masks[0]]
    _check_mask(mask.shape, a.shape, before)
    return mask.reshape(mask.shape + (1,) * (a.ndim - before - mask.ndim))


def _write_at_indices(
    a: np.ndarray, indices: list, values: np.ndarray, accumulate: bool = False, unsafe: bool = False
) -> None:
    """Write values at index arrays, or add them with `accumulate`. The kernel of `index_put_`.

    `unsafe`: a gradient is written; PyTorch then does not fill where a single mask is true.
    """
    if is_expanded(a):
        warn_in_torch(
            "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation. This also applies to advanced indexing e.g. "
            "tensor[indices] = tensor",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:976",
        )
    if len(indices) > a.ndim:
        raise IndexError(f"too many indices for tensor of dimension {a.ndim} (got {len(indices)})")
    if not (accumulate or unsafe) and (mask := _find_single_mask(a, indices, values)) is not None:
        fill_where(a, mask, values.item())
        return
    check_no_overlap(a, values, *indices)
    places = _read_index_arrays(a, indices)
    shapes = _broadcast_indices(a.shape, places)
    together, used, want = shapes.index_shape, shapes.indexed_dims, shapes.result_shape
    lead = len(want) - values.ndim
    if lead < 0 or any(n not in (1, want[i + lead]) for i, n in enumerate(values.shape)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast "
            f"to indexing result of shape {list(want)}"
        )
    if values.dtype != a.dtype:
        ours, theirs = (dtypes.BY_NUM[x.dtype.num].scalar_name for x in (a, values))
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {ours} for the "
            f"destination and {theirs} for the source."
        )
    if 0 in want:
        return
    try:
        _put_values(a, _as_numpy_index(places), values, accumulate)
    except IndexError:
        count, error = _find_out_of_bounds(a.shape, places, used, together)
        _write_before(a, places, shapes, values, count, accumulate)
        raise error from None


index = op(
    "index(Tensor self, Tensor?[] indices)",
    _read_at_indices,
    method=False,
    function=False,
    out=False,
    self=lambda grad, self_sym_sizes, indices: _index_put_impl(
        new_zeros(grad, self_sym_sizes), list(indices), grad, True, True
    ),
)
_index_put_impl = op(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool "
    "accumulate=False, bool unsafe=False)",
    write(_write_at_indices),
    method=False,
    function=False,
    backward="IndexPutImplBackward0",
    self=lambda grad: grad,
    values=lambda grad, indices: index(grad, list(indices)),
    also_saved=("accumulate",),
)
_INDEX_PUT_FORMULAS = {
    "self": lambda grad, indices, accumulate, _values_sizes: (
        grad if accumulate else index_put(grad, list(indices), new_zeros(grad, _values_sizes))
    ),
    "values": lambda grad, indices: index(grad, list(indices)),
}
_put_schema = "Tensor?[] indices, Tensor values, bool accumulate=False)"
index_put = op(
    f"index_put(Tensor self, {_put_schema}",
    write_into_copy(_write_at_indices, None),
    out=False,
    **_INDEX_PUT_FORMULAS,
)
index_put_ = op(
    f"index_put_(Tensor(a!) self, {_put_schema}",
    write(_write_at_indices),
    backward="IndexPutBackward0",
    **_INDEX_PUT_FORMULAS,
)

# reading and writing with any index ---------------------------------------------------------------


def _check_index_device(self: Tensor, indices: list) -> None:
    """Raise PyTorch's RuntimeError for index tensors on a device other than the CPU or the tensor's."""
    where = device_of(self)
    if any(i is not None and device_of(i) not in (CPU, where) for i in indices):
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({where})"
        )


def _getitem(self: Tensor, item: Any, *surplus: Any) -> Tensor:
    """Return `self[item]`: a view for ints, slices, None and Ellipsis, a copy for index tensors."""
    if surplus:
        raise TypeError(f"expected 1 argument, got {1 + len(surplus)}")
    item_type = type(item)
    if item_type is int:
        shape = self._data.shape
        if shape and -shape[0] <= item < shape[0]:
            return select.run_on_tensors(self, 0, item)
        # PyTorch checks the index before it selects: it makes no node, and has an error of its own.
        return _select_index(self, 0, item, 0)
    if item_type is slice:
        return _slice_dim(self, 0, item, keep=False)
    if item is None or item is Ellipsis:
        return unsqueeze(self, 0) if item is None else alias(self)
    if isinstance(item, np.integer):
        return _select_index(self, 0, int(item), 0)
    out, indices = _apply_basic_indices(self, _index_as_tuple(item))
    if indices:
        _check_index_device(out, indices)
        return index(out, indices)
    return alias(out) if out is self else out


def _setitem(self: Tensor, item: Any, value: Any, *surplus: Any) -> None:
    """Run `self[item] = value`: a copy into the view `self[item]`, or `index_put_` for index tensors."""
    if surplus:
        raise TypeError(f" expected 2 arguments, got {2 + len(surplus)}")
    value = _value_as_tensor(self, value)
    # PyTorch chooses nothing, and assigns nothing.
    if item is False:
        return
    indices: list = []
    if type(item) is int:
        part = _select_index(self, 0, item, 0)
    elif type(item) is slice:
        part = _slice_dim(self, 0, item, keep=True)
    elif item is Ellipsis:
        part = self
    elif item is None or item is True:
        part = unsqueeze(self, 0)
    else:
        part, indices = _apply_basic_indices(self, _index_as_tuple(item))
    if not indices:
        _assign_value(part, value)
        return
    if value._data.ndim > part._data.ndim or value._data.shape[:1] == (1,):
        shape = _without_leading_ones(value)
        value = view(value, shape) if shape != value._data.shape else value
    _check_index_device(part, indices)
    index_put_(part, indices, value)


offer_member("__getitem__", _getitem, function=False)
offer_member("__setitem__", _setitem, function=False)


def _delitem(self: Tensor, index: Any) -> None:
    """Refuse `del x[i]`, which PyTorch does not have. TypeError always."""
    raise TypeError("Tensor does not support deleting items")


offer_member("__delitem__", _delitem, function=False)


def _value_as_tensor(self: Tensor, value: Any) -> Tensor:
    """Return a value to assign as a tensor. TypeError unless it is a tensor or a number."""
    if isinstance(value, Tensor):
        return value
    if dtypes.is_complex_number(value):
        raise make_absence_error("a complex number")
    if not isinstance(value, (bool, int, float, np.integer)):
        raise TypeError(f"can't assign a {type_name(value)} to a {self.type()}")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    return make_tensor(array_to_fill(value, self.dtype, 1), device_of(self))


# Of a real tensor `x.real` is the tensor itself, so that `x.real = value` writes into it.
offer_member(
    "real",
    property(
        lambda self: self,
        lambda self, value: copy_(self, _value_as_tensor(self, value)),
        doc="The tensor itself, as its numbers are real.",
    ),
    function=False,
)


def _without_leading_ones(value: Tensor) -> tuple:
    """Return the shape of a value without its leading dimensions of size 1."""
    shape = value._data.shape
    first = 0
    while first < len(shape) and shape[first] == 1:
        first += 1
    return shape[first:]


def _assign_value(part: Tensor, value: Tensor) -> None:
    """Copy a value into a view, after PyTorch's rule that drops its leading dimensions of size 1."""
    shape = part._data.shape
    if value._data.shape == shape:
        copy_(part, value)
    elif not value._data.ndim:
        part.fill_(value)
    else:
        value = view(value, _without_leading_ones(value))
        copy_(part, value if value._data.shape == shape else expand(value, shape))


def _is_more_than_a_number(x: Any) -> bool:
    """Return True for an item by which a list is taken for a tuple: `x[[0, None]]`."""
    return x is None or x is ... or isinstance(x, (slice, Tensor)) or _is_index_sequence(x)


def _index_as_tuple(item: Any) -> tuple:
    """Return the items of an index.

    PyTorch takes a short list that holds more than numbers for a tuple, and warns.
    """
    if isinstance(item, tuple):
        return item
    if isinstance(item, (Tensor, np.ndarray)) or not _is_index_sequence(item):
        return (item,)
    # Fewer than 32, as in NumPy, from which PyTorch took the rule.
    if len(item) < 32 and any(map(_is_more_than_a_number, item)):
        warn_in_torch(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will "
            "be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 "
            "this will be interpreted as tensor index, x[torch.tensor(seq)], which will "
            "result either in an error or a different result",
            "torch/csrc/autograd/python_variable_indexing.cpp:349",
        )
        return tuple(item)
    return (item,)


def _is_index_sequence(x: Any) -> bool:
    """Return True for what PyTorch reads as a sequence of indices."""
    return hasattr(type(x), "__getitem__") and not isinstance(x, (dict, np.generic))


def _select_index(self: Tensor, d: int, i: int, position: int) -> Tensor:
    """Select index `i` of dimension `d`. IndexError names the `position` in the whole index."""
    shape = self._data.shape
    n = shape[d] if d < len(shape) else 0
    if -n <= i < n:
        return select(self, d, i)
    if not shape and i == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    check_long(i)
    raise IndexError(f"index {i} is out of bounds for dimension {position} with size {n}")


def _read_bound(bound: Any, default: int) -> int:
    """Return where a slice begins or ends, as an int of 64 bits; `default` for None."""
    if bound is None:
        return default
    return max(min(operator.index(bound), END), -END)


def _slice_dim(self: Tensor, d: int, s: slice, keep: bool) -> Tensor:
    """Slice dimension `d`. With `keep`, a slice that takes all is the tensor itself."""
    try:
        step = 1 if s.step is None else operator.index(s.step)
        start, end = _read_bound(s.start, 0), _read_bound(s.stop, END)
    except TypeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None
    if step < 1:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    if keep and start == 0 and step == 1 and self._data.ndim and end >= self._data.shape[d]:
        return self
    return slice_.run_on_tensors(self, d, start, end, step)


def _apply_basic_indices(self: Tensor, items: tuple) -> tuple[Tensor, list[Tensor | None]]:
    """Apply selects, slices and new dimensions of an index.

    Return the view that they give, and the tensors to index it with.
    """
    dims_named = 0
    for item in items:
        if isinstance(item, Tensor):
            dims_named += item._data.ndim if is_mask(item._data) else 1
        elif item is not None and item is not Ellipsis and not isinstance(item, bool):
            dims_named += 1
    ndim = self._data.ndim
    if dims_named > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    out, d = self, 0
    indices: list[Any] = []

    def use(t: Tensor) -> None:
        indices.extend([None] * (d - len(indices)))
        indices.append(t)

    for position, item in enumerate(items):
        if isinstance(item, (list, range, np.ndarray, str, bytes, tuple)):
            item = _index_from_sequence(item)  # noqa: PLW2901
        if isinstance(item, slice):
            out = _slice_dim(out, d, item, keep=True)
            d += 1
        elif item is Ellipsis:
            d += ndim - dims_named
        elif item is None:
            out = unsqueeze(out, d)
            d += 1
        elif isinstance(item, bool) or (
            isinstance(item, Tensor) and not item._data.ndim and is_mask(item._data)
        ):
            out = unsqueeze(out, d)
            # True chooses the one index of a new dimension, False chooses none.
            chosen = make_tensor(
                np.zeros(int(bool(item)), np.int64),
                version=int(bool(item)),  # torch fills it
            )
            use(chosen)
            d += 1
        elif isinstance(item, Tensor) and (item._data.ndim or item._data.dtype.kind not in "iu"):
            use(item)
            d += item._data.ndim if is_mask(item._data) else 1
        else:
            out = _select_index(out, d, _index_as_int(item), position)
    return out, indices


def _index_as_int(item: Any) -> int:
    if isinstance(item, np.bool_) or not hasattr(type(item), "__index__"):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
            f"are valid indices (got {type_name(item)})"
        )
    return operator.index(item)


def _index_from_sequence(item: Any) -> Tensor:
    """Convert a list to an index tensor: booleans make a mask, all other numbers become int64."""
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type_name(item)}'")
    index = make_tensor(array_from(item if isinstance(item, np.ndarray) else list(item), None))
    return index if index._data.dtype == bool else index.long()
