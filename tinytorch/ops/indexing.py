"""`x[...]` and `x[...] = value`: ints, slices, None and Ellipsis make views; tensors, lists and masks copy.

Source: torch's `python_variable_indexing` and `TensorIndexing`: an index is worked off from left to right as select,
slice and unsqueeze views; what is left over as tensors goes to `index` or `index_put_`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..devices import CPU
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch
from .arguments import unfit
from .copying import copied, copy_
from .core import (
    check_no_overlap,
    is_internally_overlapping,
    number_array,
    record,
    recording,
    tensor_type,
    write_in_place,
)
from .layouts import index_layout
from .masking import fill_where
from .memory import fill_
from .pointwise import read_histories
from .selecting import END, selected, slice_
from .views import alias, expand, unsqueeze, view
from .writing import both_forms

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
            return _index(out, indices)
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
    write_in_place(part, (part, value), _IndexPutBackward0, saved, lambda: _put(part, indices, value, False))


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
        kind = type(value)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"can't assign a {name} to a {tensor_type(self)}")
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
        kind = type(item)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {name})"
        )
    return operator.index(item)


def _as_mask_index(value: bool) -> Tensor:
    return fresh(np.zeros(int(value), np.int64))


def _as_index_tensor(item: Any) -> Tensor:
    """A list as an index: booleans make a mask, all other numbers become int64."""
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    from .creation import tensor

    made = tensor(item if isinstance(item, np.ndarray) else list(item))
    if made._data.dtype.kind == "b" or (isinstance(item, np.ndarray) and made._data.dtype == np.uint8):
        return made
    return made.long()


# tensors as indices --------------------------------------------------------------------------------------------------


def _expanded(self: Tensor, indices: Any) -> list[np.ndarray | None]:
    """Index tensors as int64 arrays: masks replaced by where they are true. IndexError in torch's words."""
    a = self._data
    if len(indices) > a.ndim:
        raise IndexError(f"too many indices for tensor of dimension {a.ndim} (got {len(indices)})")
    out: list[np.ndarray | None] = []
    for given in indices:
        if given is None:
            out.append(None)
            continue
        i = given._data
        if given._device is not self._device and given._device is not CPU:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({self._device})"
            )
        if i.dtype.kind == "b" or i.dtype == np.uint8:
            if i.dtype.kind != "b":
                warn_in_torch(
                    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
                    "aten/src/ATen/native/IndexingUtils.h:37",
                )
            _check_mask(i.shape, a.shape, len(out))
            out.extend(i.nonzero())
        elif i.dtype.kind == "i" and i.dtype.itemsize >= 4:
            out.append(i if i.dtype == np.int64 else i.astype(np.int64))
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if len(out) > a.ndim:
        raise IndexError(f"too many indices for tensor of dimension {a.ndim} (got {len(out)})")
    return out


def _check_mask(mask: tuple, shape: tuple, at: int) -> None:
    for j, n in enumerate(mask):
        if at + j >= len(shape) or n != shape[at + j]:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {j} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {at + j}"
            )


def _broadcast(shape: tuple, indices: list[np.ndarray | None]) -> tuple[int, ...]:
    """The shape that index arrays broadcast to; IndexError in torch's words, for a dimension without indices too."""
    used = [i for i in indices if i is not None]
    try:
        together = np.broadcast_shapes(*[i.shape for i in used])
    except ValueError:
        found = ", ".join(str(list(i.shape)) for i in used)
        what = "shape mismatch: indexing tensors could not be broadcast together with shapes"
        raise IndexError(f"{what} {found}") from None
    if 0 not in together and any(shape[d] == 0 for d, i in enumerate(indices) if i is not None):
        raise IndexError("index is out of bounds for dimension with size 0")
    return together


def _check_bounds(shape: tuple, indices: list[np.ndarray | None], together: tuple) -> None:
    """Raise torch's IndexError if an index lies outside its dimension."""
    rest = [n for d, n in enumerate(shape) if d >= len(indices) or indices[d] is None]
    if 0 in together or 0 in rest:
        return
    used = [(i, shape[d]) for d, i in enumerate(indices) if i is not None]
    if not any(bool(((i < -n) | (i >= n)).any()) for i, n in used):
        return
    every = [(np.broadcast_to(i, together).reshape(-1), n) for i, n in used]
    for k in range(every[0][0].size):  # torch goes from element to element and through the indices of each
        for where, (i, n) in enumerate(every):
            if not -n <= i[k] < n:
                raise IndexError(f"index {i[k]} is out of bounds for dimension {where} with size {n}")


def _taken(a: np.ndarray, indices: list[np.ndarray | None]) -> np.ndarray:
    together = _broadcast(a.shape, indices)
    _check_bounds(a.shape, indices, together)
    used = [d for d, i in enumerate(indices) if i is not None]
    if 0 in a.shape or 0 in together:
        adjacent = used == list(range(used[0], used[-1] + 1))
        rest = [n for d, n in enumerate(a.shape) if d not in used]
        at = used[0] if adjacent else 0
        data = np.empty((*rest[:at], *together, *rest[at:]), a.dtype)
    else:
        data = a[tuple(slice(None) if i is None else i for i in indices)]
    if data.ndim < 2:
        return data if data.size else np.ndarray(data.shape, data.dtype, data, 0, (data.itemsize,) * data.ndim)
    if 0 not in data.shape and 1 not in data.shape and a.flags.c_contiguous and all(i is None or i.flags.c_contiguous for i in indices):  # fmt: skip
        return np.ascontiguousarray(data)
    return index_layout(data, a, indices, together)


_IndexBackward0 = node(
    "IndexBackward0",
    lambda grad, self_sym_sizes, indices: _index_backward(grad, self_sym_sizes, indices),
)
_IndexPutBackward0 = node(
    "IndexPutBackward0",
    lambda grad, indices, accumulate: grad if accumulate else _with_zeros(grad, indices),
    lambda grad, indices: _index(grad, indices),
)


_IndexPutImplBackward0 = node(
    "IndexPutImplBackward0",
    lambda grad, indices, accumulate: grad,
    lambda grad, indices: _index(grad, indices),
)


def _with_zeros(grad: Tensor, indices: Any) -> Tensor:
    """The gradient of what was not overwritten: zeros where the indices point."""
    out, zero = copied(grad), grad.new_zeros(())
    _put(out, indices, zero, None)
    if recording(grad):
        record(out, _IndexPutBackward0, (grad, zero), indices=tuple(indices), accumulate=False)
    return out


def _index_backward(grad: Tensor, sizes: tuple, indices: Any) -> Tensor:
    """Zeros with the gradient added where it was read, as one recorded operation."""
    out, saved = grad.new_zeros(sizes), {"indices": tuple(indices), "accumulate": True}
    return write_in_place(out, (out, grad), _IndexPutImplBackward0, saved, lambda: _put(out, indices, grad, True))


def _index(self: Tensor, indices: Any) -> Tensor:
    data = _taken(self._data, _expanded(self, indices))
    out = fresh(data, self._device)
    if not data.size:
        out._data = data
    if MODES.here.grad and needs_grad(self):
        record(out, _IndexBackward0, (self,), self_sym_sizes=self._data.shape, indices=tuple(indices))
    return out


def _as_one_mask(self: Tensor, indices: Any, value: Tensor) -> Tensor | None:
    """The mask, if the indices are one mask and the value is one number: torch then fills instead of indexing."""
    mask = None
    before = 0
    if value._data.size != 1:
        return None
    for i in indices:
        if i is None:
            before += mask is None
        elif mask is not None or not (i._data.dtype.kind == "b" or i._data.dtype == np.uint8):
            return None
        else:
            mask = i
            _check_mask(i._data.shape, self._data.shape, before)
    if mask is None:
        return None
    after = self._data.ndim - before - mask._data.ndim
    return fresh(mask._data.reshape(mask._data.shape + (1,) * after))


def _put(self: Tensor, indices: Any, values: Tensor, accumulate: bool | None) -> None:
    """Write `values` where `indices` point, in the memory of `self`; None: never by filling."""
    if is_internally_overlapping(self):
        warn_in_torch(
            "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
            "operation. This also applies to advanced indexing e.g. tensor[indices] = tensor",
            "aten/src/ATen/native/TensorAdvancedIndexing.cpp:976",
        )
    if len(indices) > self._data.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._data.ndim} (got {len(indices)})")
    if accumulate is False:
        mask = _as_one_mask(self, indices, values)
        if mask is not None:
            fill_where(self, mask, values._data.item())
            return
    check_no_overlap(self, values, *[i for i in indices if i is not None])
    a = self._data
    arrays = _expanded(self, indices)
    together = _broadcast(a.shape, arrays)
    used = [d for d, i in enumerate(arrays) if i is not None]
    at = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    rest = [n for d, n in enumerate(a.shape) if d not in used]
    want, have = (*rest[:at], *together, *rest[at:]), values._data.shape
    lead = len(want) - len(have)
    if lead < 0 or any(n not in (1, want[i + lead]) for i, n in enumerate(have)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to indexing result of shape "
            f"{list(want)}"
        )
    if values.dtype is not self.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{self.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for the source."
        )
    _check_bounds(a.shape, arrays, together)
    if 0 in want:
        return
    place = tuple(slice(None) if i is None else i for i in arrays)
    if accumulate:
        np.add.at(a, place, values._data)
    else:
        a[place] = values._data


@both_forms("`values` written where index tensors point (`x[indices] = values`), or added with `accumulate`.",
            lambda self, values: (_IndexPutBackward0, (self, values["values"]), {"indices": tuple(values["indices"])}),
            function_too=True)  # fmt: skip
def _index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> None:
    if not (isinstance(values, Tensor) and all(isinstance(i, Tensor) for i in indices)):
        raise unfit("index_put")
    _put(self, indices, values, accumulate)
