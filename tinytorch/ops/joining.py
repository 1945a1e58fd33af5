"""Tensors put together, repeated and turned: cat and stack, repeat and roll, grids. All of these copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import type_name, warn_in_torch
from ..tensor import Size, Tensor, device_of, fresh
from .copies import clone, contiguous_format
from .creation import new_zeros
from .define import op, python
from .kernels import as_array, composite, result_dtype
from .layout import (
    broadcast_error,
    dense_strides,
    empty_like_strides,
    laid_out,
    result_layout,
    wrap_dim,
    wrap_dims,
)
from .parts import narrow, select
from .views import array_of, expand, flatten, reshape, unsqueeze, view

# one after the other --------------------------------------------------------------------------------------------------


def _meeting(arrays: list[np.ndarray], all_of_them: list[np.ndarray]) -> list[np.ndarray]:
    """The arrays in the dtype in which all of them meet."""
    if all(a.dtype is all_of_them[0].dtype for a in all_of_them):
        return arrays
    d = result_dtype(*all_of_them)
    return [as_array(a, d) for a in arrays]


def _cat(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    used, shape = tensors, tensors[0].shape
    if not shape or shape == (0,) or any(a.shape != shape for a in tensors):
        used = _that_can_be_joined(tensors, dim)
    d = wrap_dim(dim, used[0].ndim) if used[0].shape != (0,) else 0
    return result_layout(np.concatenate(_meeting(used, tensors), d))


def _that_can_be_joined(tensors: list[np.ndarray], dim: int) -> list[np.ndarray]:
    """All but vectors without elements, which are passed over. RuntimeError in torch's words if shapes do not fit."""
    for i, a in enumerate(tensors):
        if not a.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    used = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    first = used[0]
    d = wrap_dim(dim, first.ndim) if first.shape != (0,) else 0
    for i, a in enumerate(tensors):
        if a.shape == (0,):
            continue
        if a.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}")
        for k in range(a.ndim):
            if k != d and a.shape[k] != first.shape[k]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size {first.shape[k]} but got size {a.shape[k]} for tensor number {i} in the list."
                )
    return used


def _cat_back(grad: Any, dim: int, _tensors_sizes: list) -> list:
    from .filling import zero_

    at, parts = 0, []
    for shape in _tensors_sizes:
        if shape == (0,):
            parts.append(zero_(new_zeros(grad, (0,))))
        else:
            d = wrap_dim(dim, len(shape))
            n = shape[d]
            parts.append(narrow(grad, d, at, n))
            at += n
    return parts


def _stack(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0].shape
    d = wrap_dim(dim, len(first) + 1)
    for i, a in enumerate(tensors):
        if a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(a.shape)} at entry {i}"
            )
    arrays = _meeting(tensors, tensors)
    if d < len(first):  # torch joins along the next dimension, which it splits then
        return result_layout(np.concatenate(arrays, d)).reshape(*first[:d], len(arrays), *first[d:])
    return result_layout(np.stack(arrays, d))


cat = op("cat(Tensor[] tensors, int dim=0)", _cat, method=False, aka=("concat", "concatenate"), writes=1,
         tensors=_cat_back)  # fmt: skip
stack = op("stack(Tensor[] tensors, int dim=0)", _stack, method=False,
           tensors=lambda grad, dim: [select(grad, dim, i) for i in range(grad.shape[dim])])  # fmt: skip


def at_least(n: int, x: Any) -> Any:
    """The tensor with at least n dimensions, as torch adds them for `hstack` and `vstack`."""
    have = array_of(x).ndim
    return x if have >= n else unsqueeze(x, 0) if have else reshape(x, (1,) * n)


def _side_by_side(name: str, n: int, tensors: list) -> Any:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    parts = [at_least(n, t) for t in tensors]
    return cat(parts, 1 if n == 1 and array_of(parts[0]).ndim > 1 else 0)


op("hstack(Tensor[] tensors)", composite(lambda tensors: _side_by_side("hstack", 1, tensors)), method=False)
op("vstack(Tensor[] tensors)", composite(lambda tensors: _side_by_side("vstack", 2, tensors)), method=False)

# more than once -------------------------------------------------------------------------------------------------------


def _repeated(a: np.ndarray, repeats: tuple) -> np.ndarray:
    if len(repeats) < a.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(repeats) - a.ndim) + a.shape
    sizes = [t * n for t, n in zip(repeats, shape, strict=True)]
    if min(sizes, default=0) < 0:
        negative = next(s for s in sizes if s < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {sizes}")
    return result_layout(np.tile(a.reshape(shape), repeats)) if 0 not in sizes else np.empty(sizes, a.dtype)


def _repeat_back(grad: Any, repeats: tuple, self_sym_sizes: tuple) -> Any:
    from .reductions import sum_dims

    if 0 in repeats:
        return new_zeros(grad, self_sym_sizes)
    lead = len(repeats) - len(self_sym_sizes)
    for _ in range(lead):
        grad = sum_dims(grad, (0,))
    shape: list[int] = []
    dims: list[int] = []
    for times, n in zip(repeats[lead:], self_sym_sizes, strict=True):
        if times != 1:
            dims.append(len(shape))
            shape.append(times)
        shape.append(n)
    return sum_dims(reshape(grad, tuple(shape)), tuple(dims)) if dims else grad


repeat = op("repeat(Tensor self, SymInt[] repeats)", _repeated, function=False, self=_repeat_back)
op("tile(Tensor self, SymInt[] dims)",
   composite(lambda self, dims: repeat(self, (1,) * (array_of(self).ndim - len(dims)) + dims)))  # fmt: skip


def _counted(counts: np.ndarray, repeats: np.ndarray, output_size: int | None) -> np.ndarray:
    """How often each index is to come, written out."""
    if counts.dtype.kind == "f":
        name = dtypes.BY_NUM[counts.dtype.num].scalar_name
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    found = np.repeat(np.arange(repeats.size), repeats)
    if output_size not in (None, found.size):
        raise RuntimeError("allocated size does not match required size")
    return found


def _counts_alone(repeats: np.ndarray, output_size: int | None) -> np.ndarray:
    if repeats.dtype.kind != "f" and repeats.dtype.itemsize < 4:
        name = dtypes.BY_NUM[repeats.dtype.num].scalar_name
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    return _counted(repeats, repeats, output_size).astype(repeats.dtype)


def _interleaved(self: Any, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    from .scatter import index_select

    x = flatten(self) if dim is None else self
    shape = array_of(x).shape
    if not shape and not isinstance(repeats, int):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim or 0, len(shape))
    if isinstance(repeats, int):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        wide = expand(unsqueeze(x, d + 1), (*shape[: d + 1], repeats, *shape[d + 1 :]))
        return flatten(clone(wide, contiguous_format), d, d + 1)
    counts = array_of(repeats)
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size not in (1, shape[d]):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and input.size({d}) = {shape[d]}"
        )
    every = np.broadcast_to(counts.reshape(-1), (shape[d],))
    return index_select(x, d, fresh(_counted(counts, every, output_size), device_of(self)))


_TAIL = "int? dim=None, *, SymInt? output_size=None)"
op(f"repeat_interleave(Tensor self, Tensor repeats, {_TAIL}", composite(_interleaved))
op("repeat_interleave(Tensor repeats, *, SymInt? output_size=None)", _counts_alone, out=False)
op(f"repeat_interleave(Tensor self, SymInt repeats, {_TAIL}", composite(_interleaved))

# elsewhere ------------------------------------------------------------------------------------------------------------


def _flipped(a: np.ndarray, dims: tuple) -> np.ndarray:
    at = wrap_dims(dims, a.ndim) if dims else ()
    if a.dtype == bool:
        a = a.view(np.uint8) != 0  # memory read as bools may hold any byte
    out = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    out[...] = np.flip(a, at)
    return out


def _rolled(a: np.ndarray, shifts: tuple, dims: tuple = ()) -> np.ndarray:
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if dims and not a.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if not a.size:
        return laid_out(a.copy(), dense_strides(a))
    return result_layout(np.roll(a, shifts, tuple([wrap_dim(d, a.ndim) for d in dims]) or None))


flip = op("flip(Tensor self, int[] dims)", _flipped, out=False, self=lambda grad, dims: flip(grad, dims))
roll = op("roll(Tensor self, SymInt[1] shifts, int[1] dims=[])", _rolled, out=False,
          self=lambda grad, shifts, dims: roll(grad, tuple([-s for s in reversed(shifts)]), tuple(reversed(dims))))  # fmt: skip


# grids ----------------------------------------------------------------------------------------------------------------


def _given(name: str, tensors: tuple) -> tuple:
    """Tensors given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(t)}")
    return tensors


def broadcast_tensors(*tensors: Any) -> tuple:
    """Every tensor expanded to the shape in which all meet; those that have it already are given back."""
    tensors = _given("broadcast_tensors", tensors)
    shape: tuple[int, ...] = ()
    for t in tensors:
        try:
            shape = np.broadcast_shapes(shape, t._data.shape)
        except ValueError:
            raise broadcast_error(shape, t._data.shape) from None
    return tuple([t if t._data.shape == shape else expand(t, shape) for t in tensors])


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape in which shapes meet."""
    shape = [1] * max((len(s) for s in shapes if isinstance(s, (tuple, list))), default=0)
    for at, given in enumerate(shapes):
        if isinstance(given, (float, Tensor)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {given}")
        s = (given,) if isinstance(given, int) else tuple(given or ())
        if any(n < 0 for n in s):
            raise ValueError("Attempting to broadcast a dimension with negative length!")
        shape = [1] * (len(s) - len(shape)) + shape
        for i in range(-1, -len(s) - 1, -1):
            if s[i] != 1 and shape[i] not in (1, s[i]):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {s[i]} at {i}! Mismatching argument at index {at} had {s if isinstance(given, int) else given}; but expected shape should be broadcastable to {shape}"
                )
            if s[i] != 1:
                shape[i] = s[i]
    return Size(shape)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple:
    """The coordinates of a grid, a tensor for each axis, as expanded views."""
    tensors = _given("meshgrid", tensors)
    if indexing is None:
        warn_in_torch(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            "aten/src/ATen/native/TensorShape.cpp:4215", once=True,
        )  # fmt: skip
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    for t in tensors:
        if t._data.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) >= 2
    order = [tensors[1], tensors[0], *tensors[2:]] if swap else list(tensors)
    shape = tuple([t._data.size for t in order])
    grids = []
    for i, t in enumerate(order):
        own = [1] * len(order)
        own[i] = -1
        grids.append(expand(view(t, tuple(own)), shape))
    return (grids[1], grids[0], *grids[2:]) if swap else tuple(grids)


for _f in (broadcast_tensors, broadcast_shapes, meshgrid):
    python(_f.__name__, _f, method=False)
