"""Tensors put together, repeated and turned: cat and stack, repeat, roll and flip. All of these copy."""

from __future__ import annotations

from typing import Any

import numpy as np

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
from .views import array_of, expand, flatten, reshape, unsqueeze

# one after the other --------------------------------------------------------------------------------------------------


def _meeting(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The arrays in the dtype in which all of them meet."""
    if all(a.dtype is arrays[0].dtype for a in arrays):
        return arrays
    d = result_dtype(*arrays)
    return [as_array(a, d) for a in arrays]


def _cat(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    used, shape = _meeting(tensors), tensors[0].shape
    if not shape or shape == (0,) or any(a.shape != shape for a in tensors):
        used = _that_can_be_joined(used, dim)
    d = wrap_dim(dim, used[0].ndim) if used[0].shape != (0,) else 0
    return result_layout(np.concatenate(used, d))


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
    arrays = _meeting(tensors)
    if d < len(first):  # torch joins along the next dimension, which it splits then
        return result_layout(np.concatenate(arrays, d)).reshape(*first[:d], len(arrays), *first[d:])
    return result_layout(np.stack(arrays, d))


cat = op("cat(Tensor[] tensors, int dim=0)", _cat, method=False, aka=("concat", "concatenate"), writes=1,
         tensors=_cat_back)  # fmt: skip
stack = op("stack(Tensor[] tensors, int dim=0)", _stack, method=False,
           tensors=lambda grad, dim: [select(grad, dim, i) for i in range(grad.shape[dim])])  # fmt: skip


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
    shape, dims = [], []  # type: ignore[var-annotated]
    for times, n in zip(repeats[lead:], self_sym_sizes, strict=True):
        if times != 1:
            dims.append(len(shape))
            shape.append(times)
        shape.append(n)
    return sum_dims(reshape(grad, tuple(shape)), tuple(dims)) if dims else grad


repeat = op("repeat(Tensor self, SymInt[] repeats)", _repeated, function=False, self=_repeat_back)
op("tile(Tensor self, SymInt[] dims)",
   composite(lambda self, dims: repeat(self, (1,) * (array_of(self).ndim - len(dims)) + dims)))  # fmt: skip


def _interleaved(self: Any, repeats: int, dim: int | None, output_size: int | None) -> Any:
    x = flatten(self) if dim is None else self
    shape = array_of(x).shape
    d = wrap_dim(dim or 0, len(shape))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    wide = expand(unsqueeze(x, d + 1), (*shape[: d + 1], repeats, *shape[d + 1 :]))
    return flatten(clone(wide, contiguous_format), d, d + 1)


op(
    "repeat_interleave(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None)",
    composite(_interleaved),
)

# elsewhere ------------------------------------------------------------------------------------------------------------


def _flipped(a: np.ndarray, dims: tuple) -> np.ndarray:
    at = wrap_dims(dims, a.ndim) if dims else ()
    out = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    out[...] = np.flip(a, at)
    return out


def _rolled(a: np.ndarray, shifts: tuple, dims: tuple = ()) -> np.ndarray:
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


def broadcast_tensors(*tensors: Any) -> tuple:
    """Every tensor expanded to the shape in which all meet; those that have it already are given back."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    shape: tuple[int, ...] = ()
    for t in tensors:
        try:
            shape = np.broadcast_shapes(shape, t._data.shape)
        except ValueError:
            raise broadcast_error(shape, t._data.shape) from None
    return tuple([t if t._data.shape == shape else expand(t, shape) for t in tensors])


python("broadcast_tensors", broadcast_tensors, method=False)
