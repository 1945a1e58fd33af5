"""Tensors as indices: `index` reads, `index_put_` writes; masks stand for the places where they are true.

Source: torch's `TensorAdvancedIndexing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import CPU
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch
from .arguments import unfit
from .copying import copied
from .core import check_no_overlap, is_internally_overlapping, record, recording, write_in_place
from .layouts import index_layout
from .masking import fill_where
from .writing import both_forms


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
IndexPutBackward0 = node(
    "IndexPutBackward0",
    lambda grad, indices, accumulate: grad if accumulate else _with_zeros(grad, indices),
    lambda grad, indices: read_at(grad, indices),
)


_IndexPutImplBackward0 = node(
    "IndexPutImplBackward0",
    lambda grad, indices, accumulate: grad,
    lambda grad, indices: read_at(grad, indices),
)


def _with_zeros(grad: Tensor, indices: Any) -> Tensor:
    """The gradient of what was not overwritten: zeros where the indices point."""
    out, zero = copied(grad), grad.new_zeros(())
    put_at(out, indices, zero, False if all(i is None or i._data.dtype != np.uint8 for i in indices) else None)
    if recording(grad):
        record(out, IndexPutBackward0, (grad, zero), indices=tuple(indices), accumulate=False)
    return out


def _index_backward(grad: Tensor, sizes: tuple, indices: Any) -> Tensor:
    """Zeros with the gradient added where it was read, as one recorded operation."""
    out, saved = grad.new_zeros(sizes), {"indices": tuple(indices), "accumulate": True}
    return write_in_place(out, (out, grad), _IndexPutImplBackward0, saved, lambda: put_at(out, indices, grad, True))


def read_at(self: Tensor, indices: Any) -> Tensor:
    """The elements where index tensors point, in a copy."""
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


def put_at(self: Tensor, indices: Any, values: Tensor, accumulate: bool | None) -> None:
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
    at = used[0] if used and used == list(range(used[0], used[-1] + 1)) else 0
    rest = [n for d, n in enumerate(a.shape) if d not in used]
    want, have = (*rest[:at], *together, *rest[at:]), values._data.shape
    lead = len(want) - len(have)
    if lead < 0 or any(n not in (1, want[i + lead]) for i, n in enumerate(have)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to indexing result of shape "
            f"{list(want)}"
        )
    if not used:
        raise RuntimeError(
            'ntensor >= 3 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/cpu/IndexKernelUtils.h":8, '
            "please report a bug to PyTorch. "
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
    if accumulate and np.may_share_memory(a, values._data):  # then each addition sees those before it
        v = np.moveaxis(np.broadcast_to(values._data, want), range(at, at + len(together)), range(len(together)))
        full = [i if i is None else np.broadcast_to(i, together) for i in arrays]
        for m in np.ndindex(*together):
            one = tuple([slice(None) if i is None else i[m] for i in full])
            a[one] = a[one] + v[m]
    elif accumulate:
        np.add.at(a, place, values._data)
    else:
        a[place] = values._data


@both_forms("`values` written where index tensors point (`x[indices] = values`), or added with `accumulate`.",
            lambda self, values: (IndexPutBackward0, (self, values["values"]), {"indices": tuple(values["indices"])}),
            function_too=True)  # fmt: skip
def _index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> None:
    if isinstance(indices, Tensor) or not (isinstance(values, Tensor) and all(isinstance(i, Tensor) for i in indices)):
        raise unfit("index_put")
    put_at(self, indices, values, accumulate)
