"""`x[...]` and `x[...] = value`: ints, slices, None and Ellipsis make views; tensors, lists and masks copy.

Source: torch's `python_variable_indexing` and `TensorIndexing`: an index is worked off from left to right as select,
slice and unsqueeze views; what is left over as tensors goes to `index` or `index_put_`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..naming import type_name
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch
from .copying import copy_
from .core import (
    number_array,
    tensor_type,
    write_in_place,
)
from .index_tensors import IndexPutBackward0, put_at, read_at
from .memory import fill_
from .pointwise import read_histories
from .selecting import END, selected, slice_
from .views import alias, expand, unsqueeze, view

# reading and writing with any index ----------------------------------------------------------------------------------


def _getitem(self: Tensor, index: Any) -> Tensor:
    kind = type(index)
    if kind is int:
        try:
            return selected(self, 0, index)
        except IndexError:
            return _select(self, 0, index, 0)  # which says why
    if kind is slice:
        return _slice(self, 0, index, keep=False)
    if isinstance(index, np.integer):
        return _select(self, 0, int(index), 0)
    if kind is tuple and 0 < len(index) <= self._data.ndim and {*map(type, index)} == {int}:
        for position, item in enumerate(index):
            self = _select(self, 0, item, position)
        return self
    if index is None or index is Ellipsis:
        return unsqueeze(self, 0) if index is None else alias(self)
    out, indices = _worked_off(self, _as_tuple(index))
    if indices:
        try:
            return read_at(out, indices)
        except IndexError:
            read_histories(out)  # which torch would have said first
            raise
    return alias(out) if out is self else out


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    value = _as_value(self, value)
    if index is False:
        return
    kind = type(index)
    if kind is int or isinstance(index, np.integer):
        _assign(_select(self, 0, int(index), 0), value)
        return
    if kind is slice:
        _assign(_slice(self, 0, index, keep=True), value)
        return
    if index is Ellipsis:
        _assign(self, value)
        return
    if index is None or index is True:
        _assign(unsqueeze(self, 0), value)
        return
    part, indices = _worked_off(self, _as_tuple(index))
    if not indices:
        _assign(part, value)
        return
    if value._data.ndim > part._data.ndim or value._data.shape[:1] == (1,):
        value = _without_leading_ones(value)
    saved = {"indices": tuple(indices), "accumulate": False}
    write_in_place(part, (part, value), IndexPutBackward0, saved, lambda: put_at(part, indices, value, False))


def _delitem(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


Tensor.__getitem__ = _getitem  # type: ignore[misc]
Tensor.__setitem__ = _setitem
Tensor.__delitem__ = _delitem


def _as_value(self: Tensor, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type float without overflow")
    if not isinstance(value, (bool, int, float, np.integer)):
        raise TypeError(f"can't assign a {type_name(value)} to a {tensor_type(self)}")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    if self._data.dtype == np.float16:  # torch fills half tensors here without its check of the range
        with np.errstate(over="ignore"):
            return fresh(np.array(value, np.float16), self._device)
    return fresh(number_array(value, self.dtype), self._device)


def _without_leading_ones(value: Tensor) -> Tensor:
    shape = value._data.shape
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return view(value, shape[first:]) if first else value


def _assign(part: Tensor, value: Tensor) -> None:
    shape = part._data.shape
    if value._data.shape == shape:
        copy_(part, value)
    elif not value._data.ndim:
        fill_(part, value)
    else:
        value = view(value, _without_leading_ones(value.detach())._data.shape)
        copy_(part, value if value._data.shape == shape else expand(value, shape))


def _as_tuple(index: Any) -> tuple:
    """The items of an index; torch takes a short list that holds more than numbers for a tuple, and warns."""
    if type(index) is tuple:
        return index
    if isinstance(index, (Tensor, np.ndarray)) or not _is_sequence(index):
        return (index,)
    if isinstance(index, tuple):
        return tuple(index)
    if len(index) >= 32:
        return (index,)
    for item in index:
        if item is None or item is Ellipsis or isinstance(item, (slice, Tensor)) or _is_sequence(item):
            warn_in_torch(
                "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
                "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
                "x[torch.tensor(seq)], which will result either in an error or a different result",
                "torch/csrc/autograd/python_variable_indexing.cpp:349",
            )
            return tuple(index)
    return (index,)


def _is_sequence(x: Any) -> bool:
    return hasattr(type(x), "__getitem__") and not isinstance(x, (dict, np.generic))


def _select(self: Tensor, d: int, i: int, position: int) -> Tensor:
    a = self._data
    if not a.ndim:
        if i == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a 0-dim tensor to a number"
            )
        if not -END - 1 <= i <= END:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(f"index {i} is out of bounds for dimension {position} with size 0")
    n = a.shape[d]
    if not -n <= i < n:
        if not -END - 1 <= i <= END:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(f"index {i} is out of bounds for dimension {position} with size {n}")
    return selected(self, d, i)


def _slice(self: Tensor, d: int, s: slice, keep: bool) -> Tensor:
    """A slice of dimension `d`; with `keep`, a slice that takes all is the tensor itself."""
    start, end, step = s.start, s.stop, 1 if s.step is None else _slice_number(s.step)
    if start is None:
        start = 0
    if end is None:
        end = END
    if not (step == 1 and type(start) is int and type(end) is int and -END <= start <= END and -END <= end <= END):
        if step == 0:
            raise ValueError("slice step cannot be zero")
        start, end = _cut_off(start), _cut_off(end)
        if step < 0:
            raise ValueError("step must be greater than zero")
    a = self._data
    if not a.ndim:
        read_histories(self)  # which torch looks at first
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if keep and start == 0 and step == 1 and end >= a.shape[d]:
        return self
    return slice_(self, d, start, end, step)


def _cut_off(x: Any) -> int:
    n = min(_slice_number(x), END)
    if n < -END:
        n = -END
        warn_in_torch(
            "Truncating the start/stop/step of slice. This is likely because of saved old models when the "
            "start/stop/step were larger.",
            "torch/csrc/autograd/python_variable_indexing.cpp:71",
        )
    return n


def _slice_number(x: Any) -> int:
    if type(x) is int:
        return x
    if not hasattr(x, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return operator.index(x)


def _reaches(t: Tensor, d: int, index: Any, position: int) -> Tensor:
    """The tensor if it has dimension `d`; a second Ellipsis can lead beyond the last one, which torch says so."""
    if d >= t._data.ndim:
        raise IndexError(f"index {index} is out of bounds for dimension {position} with size 0")
    return t


def _worked_off(self: Tensor, items: tuple) -> tuple[Tensor, list[Tensor | None]]:
    """What is left of an index after selects, slices and new dimensions: a view, and tensors to index it with."""
    named = 0
    for item in items:
        if isinstance(item, Tensor):
            named += item._data.ndim if item._data.dtype.kind == "b" or item._data.dtype == np.uint8 else 1
        elif item is not None and item is not Ellipsis and not isinstance(item, bool):
            named += 1
    ndim = self._data.ndim
    if named > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    out, d = self, 0
    indices: list[Any] = []

    def use(tensor: Tensor) -> None:
        indices.extend([None] * (d - len(indices)))
        indices.append(tensor)

    for position, item in enumerate(items):
        if isinstance(item, (list, range, np.ndarray, str, bytes, tuple)):
            item = _as_index_tensor(item)  # noqa: PLW2901
        if isinstance(item, slice):
            out = _slice(out, d, item, keep=True)
            d += 1
        elif item is Ellipsis:
            d += ndim - named
        elif item is None:
            out = unsqueeze(out, d)
            d += 1
        elif isinstance(item, bool):
            out = unsqueeze(out, d)
            use(_as_mask_index(item))
            d += 1
        elif isinstance(item, Tensor):
            kind = item._data.dtype
            if item._data.ndim or kind.kind not in "iub":
                use(item)
                d += item._data.ndim if kind.kind == "b" or kind == np.uint8 else 1
            elif kind.kind == "b" or kind == np.uint8:
                out = unsqueeze(out, d)
                use(_as_mask_index(bool(item._data)))
                d += 1
            else:
                out = _select(_reaches(out, d, int(item._data), position), d, int(item._data), position)
        else:
            out = _select(_reaches(out, d, item, position), d, _as_int(item), position)
    return out, indices


def _as_int(item: Any) -> int:
    if isinstance(item, np.bool_) or not hasattr(item, "__index__"):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type_name(item)})"
        )
    return operator.index(item)


def _as_mask_index(value: bool) -> Tensor:
    index = fresh(np.zeros(int(value), np.int64))
    index._own_counter().version = int(value)  # torch fills it
    return index


def _as_index_tensor(item: Any) -> Tensor:
    """A list as an index: booleans make a mask, all other numbers become int64."""
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type_name(item)}'")
    from .creation import tensor

    made = tensor(item if isinstance(item, np.ndarray) else list(item))
    if made._data.dtype.kind == "b" or (isinstance(item, np.ndarray) and made._data.dtype == np.uint8):
        return made
    return made.long()
