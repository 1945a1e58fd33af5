"""Parts of a tensor, which are views: one index, a range, a diagonal, several at once.

Tensors put together, which copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import (
    dense_strides,
    empty_like_strides,
    lay_out_result,
    restride_array,
    wrap_dim,
    wrap_dims,
)
from ..tensor import Tensor
from .creation import new_zeros
from .define import offer_member, op
from .filling import written_zeros
from .kernels import as_array, composite, result_dtype
from .kernels import view as view_kernel
from .sums import sum_dims
from .views import array_of, reshape

# The end that PyTorch saves for a slice without one.
END = (1 << 63) - 1
_FORMULA_ONLY = {"method": False, "function": False}


# a part of the elements ---------------------------------------------------------------------------


def _index_at_dim(ndim: int, dim: int, index: Any) -> tuple:
    """Return NumPy's index for one dimension: all of the dimensions before it and after it."""
    return (slice(None),) * (dim % ndim) + (index, ...)


def _select_array(a: np.ndarray, dim: int, index: int) -> np.ndarray:
    """Return the view at one index of a dimension. IndexError if it is out of range."""
    if dim == 0:
        try:
            return a[index, ...]
        except IndexError:  # said below, in torch's words
            pass
    shape = a.shape
    n = len(shape)
    if not n:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = dim if 0 <= dim < n else wrap_dim(dim, n)
    if not -shape[d] <= index < shape[d]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at "
            f"dimension {d}"
        )
    return a[_index_at_dim(n, d, index)]


def _slice_array(
    a: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> np.ndarray:
    """Return the view of a slice along a dimension; bounds beyond its ends are those ends."""
    shape = a.shape
    ndim = len(shape)
    if not ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    d = dim if 0 <= dim < ndim else wrap_dim(dim, ndim)
    n, start, end = shape[d], start or 0, END if end is None else end
    first = start if 0 <= start <= n else min(max(start + n if start < 0 else start, 0), n)
    last = n if end >= n else min(max(end + n if end < 0 else end, first), n)
    if first < last:
        return a[first:last:step] if d == 0 else a[_index_at_dim(ndim, d, slice(first, last, step))]
    # An empty slice has an offset and strides in torch, which NumPy does not compute.
    strides = a.strides
    return restride_array(
        a,
        (*shape[:d], 0, *shape[d + 1 :]),
        (*strides[:d], strides[d] * step, *strides[d + 1 :]),
        first * strides[d],
    )


def _narrow_checked(self: Any, dim: int, start: Any, length: int) -> Any:
    """Return `length` elements of a dimension as a view. Errors if they go beyond its end."""
    shape = array_of(self).shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    n = shape[wrap_dim(dim, len(shape))]
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    start += n if start < 0 else 0
    if start > n - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return slice_(self, dim, start, start + length, 1)


def _diagonal_of_array(a: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
    """Return the diagonals over two dimensions as a view, in a last dimension of its own."""
    d1, d2 = wrap_dim(dim1, a.ndim), wrap_dim(dim2, a.ndim)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if offset >= 0:
        n = max(min(a.shape[d1], a.shape[d2] - offset), 0)
        start = offset * a.strides[d2]
    else:
        n = max(min(a.shape[d1] + offset, a.shape[d2]), 0)
        start = -offset * a.strides[d1]
    if not n:
        # The diagonal would start beyond the memory.
        start = 0
    rest = [i for i in range(a.ndim) if i not in (d1, d2)]
    return restride_array(
        a,
        (*[a.shape[i] for i in rest], n),
        (*[a.strides[i] for i in rest], a.strides[d1] + a.strides[d2]),
        start,
    )


def _make_view_backward(look: Callable) -> Callable:
    """Make the kernel of a partial view's gradient: zeros but in the cells of the view."""

    def kernel(grad: np.ndarray, sizes: tuple, *where: Any) -> np.ndarray:
        data = np.zeros(sizes, grad.dtype)
        look(data, *where)[...] = grad
        return data

    return kernel


_select_backward = op(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index)",
    _make_view_backward(_select_array),
    **_FORMULA_ONLY,
    grad_output=lambda grad, dim, index: select(grad, dim, index),
)
_slice_backward = op(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt "
    "end, SymInt step)",
    _make_view_backward(_slice_array),
    **_FORMULA_ONLY,
    grad_output=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)
_diagonal_backward = op(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2)",
    _make_view_backward(_diagonal_of_array),
    **_FORMULA_ONLY,
    grad_output=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)
select = op(
    "select(Tensor(a) self, int dim, SymInt index)",
    view_kernel(_select_array),
    self=lambda grad, self_sym_sizes, dim, index: _select_backward(
        grad, self_sym_sizes, dim, index
    ),
)
_slice = op(
    "slice(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1)",
    view_kernel(_slice_array),
    **_FORMULA_ONLY,
    self=lambda grad, self_sym_sizes, dim, start, end, step: _slice_backward(
        grad, self_sym_sizes, dim, start or 0, END if end is None else end, step
    ),
)
slice_ = _slice.run_on_tensors
narrow = op(
    "narrow(Tensor(a) self, int dim, SymInt start, SymInt length)", composite(_narrow_checked)
)
diagonal = op(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1)",
    view_kernel(_diagonal_of_array),
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: _diagonal_backward(
        grad, self_sym_sizes, offset, dim1, dim2
    ),
)
# several views at once ----------------------------------------------------------------------------


def _join_grads(grads: tuple, sizes: tuple, lengths: Any, dim: int) -> Any:
    """Return the gradient of what was split, zeros for the parts that none reached."""
    d, like = dim % len(sizes), next(g for g in grads if g is not None)
    shapes = [(*sizes[:d], n, *sizes[d + 1 :]) for n in lengths]
    return cat(
        [new_zeros(like, s) if g is None else g for g, s in zip(grads, shapes, strict=True)], d
    )


def _stack_grads(grads: tuple, dim: int) -> Any:
    """Return the gradient of what `unbind` took apart, zeros for the parts that none reached."""
    like = next(g for g in grads if g is not None)
    return stack([new_zeros(like, tuple(like.shape)) if g is None else g for g in grads], dim)


def _lengths_of_parts(n: int, split_size: int) -> list[int]:
    """Return the lengths of parts of `split_size`, of which the last may be shorter."""
    if not split_size:
        return [n]
    # An empty dimension has one part, which is empty.
    count = max(-(-n // split_size), 1)
    return [split_size] * (count - 1) + [n - split_size * (count - 1)]


def _cut_array(a: np.ndarray, lengths: Any, d: int) -> list[np.ndarray]:
    """Return views of a dimension, of these lengths, one after the other."""
    out, at = [], 0
    for n in lengths:
        out.append(_slice_array(a, d, at, at + n, 1))
        at += n
    return out


def _unbind_array(a: np.ndarray, dim: int = 0) -> list[np.ndarray]:
    """Return a view for each index of a dimension."""
    d = wrap_dim(dim, a.ndim)
    if not a.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return [a[_index_at_dim(a.ndim, d, i)] for i in range(a.shape[d])]


def _split_array(a: np.ndarray, split_size: int, dim: int = 0) -> list[np.ndarray]:
    """Return views of `split_size` along a dimension. RuntimeError for a size that does not fit."""
    if not a.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    d = wrap_dim(dim, a.ndim)
    n = a.shape[d]
    if not split_size and n:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
        )
    return _cut_array(a, _lengths_of_parts(n, split_size), d)


def _split_array_with_sizes(a: np.ndarray, split_sizes: tuple, dim: int = 0) -> list[np.ndarray]:
    """Return views of these sizes along a dimension. RuntimeError unless they add up to it."""
    if not a.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, a.ndim)
    if min(split_sizes, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != a.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {a.shape[d]} (input "
            f"tensor's size at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return _cut_array(a, split_sizes, d)


def _chunk_tensor(self: Any, chunks: int, dim: int) -> tuple:
    """Split into so many parts of equal size; there are fewer where they do not fit."""
    shape = array_of(self).shape
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = -(-shape[wrap_dim(dim, len(shape))] // chunks)
    # `split` would give one part of an empty dimension, and `chunk` gives as many as it was asked
    # for.
    return _split_by_size(self, size, dim) if size else _split_by_sizes(self, (0,) * chunks, dim)


unbind = op(
    "unbind(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    view_kernel(_unbind_array),
    self=_stack_grads,
)
_split_by_size = op(
    "split(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    view_kernel(_split_array),
    function=False,
    self=lambda grads, self_sym_sizes, split_size, dim: _join_grads(
        grads,
        self_sym_sizes,
        _lengths_of_parts(self_sym_sizes[dim % len(self_sym_sizes)], split_size),
        dim,
    ),
)
_split_by_sizes = op(
    "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    view_kernel(_split_array_with_sizes),
    **_FORMULA_ONLY,
    self=lambda grads, self_sym_sizes, split_sizes, dim: _join_grads(
        grads, self_sym_sizes, split_sizes, dim
    ),
)
op(
    "split(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    composite(lambda self, split_size, dim: _split_by_sizes(self, split_size, dim)),
    function=False,
)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple:
    """Split a tensor into views along a dimension.

    They have `split_size_or_sections` indices each (the last may have less), or the lengths in a
    list.
    """
    return tensor.split(split_size_or_sections, dim)  # type: ignore[attr-defined]


offer_member("split", split, method=False)
chunk = op(
    "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", composite(_chunk_tensor)
)

# put together -------------------------------------------------------------------------------------


def _convert_to_common_dtype(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Convert arrays to the dtype in which all of them meet."""
    if all(a.dtype is arrays[0].dtype for a in arrays):
        return arrays
    d = result_dtype(*arrays)
    return [as_array(a, d) for a in arrays]


def _concatenate_arrays(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
    """Join arrays along a dimension, in the dtype that they meet in."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    used, shape = _convert_to_common_dtype(tensors), tensors[0].shape
    # PyTorch leaves out empty vectors, whatever the shape of the others.
    if not shape or shape == (0,) or any(a.shape != shape for a in tensors):
        used = _check_joinable(used, dim)
    d = wrap_dim(dim, used[0].ndim) if used[0].shape != (0,) else 0
    return lay_out_result(np.concatenate(used, d))


def _check_joinable(tensors: list[np.ndarray], dim: int) -> list[np.ndarray]:
    """Return all arrays but empty vectors. RuntimeError in PyTorch's words if shapes do not fit."""
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
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}"
            )
        for k in range(a.ndim):
            if k != d and a.shape[k] != first.shape[k]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size "
                    f"{first.shape[k]} but got size {a.shape[k]} for tensor number {i} in the "
                    "list."
                )
    return used


def _cat_backward(grad: Any, dim: int, _tensors_sizes: list) -> list:
    """Return the gradient of each tensor that was joined: its part of the gradient, a view."""
    at, parts = 0, []
    for shape in _tensors_sizes:
        if shape == (0,):
            parts.append(written_zeros(grad, shape))
        else:
            d = wrap_dim(dim, len(shape))
            parts.append(narrow(grad, d, at, shape[d]))
            at += shape[d]
    return parts


def _stack_arrays(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
    """Join arrays of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0].shape
    d = wrap_dim(dim, len(first) + 1)
    for i, a in enumerate(tensors):
        if a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry "
                f"0 and {list(a.shape)} at entry {i}"
            )
    arrays = _convert_to_common_dtype(tensors)
    # torch joins along the next dimension, which it splits then
    if d < len(first):
        return lay_out_result(np.concatenate(arrays, d)).reshape(
            *first[:d], len(arrays), *first[d:]
        )
    return lay_out_result(np.stack(arrays, d))


cat = op(
    "cat(Tensor[] tensors, int dim=0)",
    _concatenate_arrays,
    method=False,
    aka=("concat", "concatenate"),
    tensors=_cat_backward,
)
stack = op(
    "stack(Tensor[] tensors, int dim=0)",
    _stack_arrays,
    method=False,
    tensors=lambda grad, dim: [select(grad, dim, i) for i in range(grad.shape[dim])],
)


# repeated and turned ------------------------------------------------------------------------------


def _repeat_array(a: np.ndarray, repeats: tuple) -> np.ndarray:
    """Return copies of an array beside each other, so many along each dimension."""
    if len(repeats) < a.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    shape = (1,) * (len(repeats) - a.ndim) + a.shape
    sizes = [t * n for t, n in zip(repeats, shape, strict=True)]
    if min(sizes, default=0) < 0:
        negative = next(s for s in sizes if s < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {sizes}")
    return (
        lay_out_result(np.tile(a.reshape(shape), repeats))
        if 0 not in sizes
        else np.empty(sizes, a.dtype)
    )


def _repeat_backward(grad: Any, repeats: tuple, self_sym_sizes: tuple) -> Any:
    """Sum the gradient over the copies that `repeat` made."""
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


repeat = op(
    "repeat(Tensor self, SymInt[] repeats)", _repeat_array, function=False, self=_repeat_backward
)


def _flip_array(a: np.ndarray, dims: tuple) -> np.ndarray:
    """Return a copy with dimensions in reverse order, laid out as the array is."""
    at = wrap_dims(dims, a.ndim) if dims else ()
    out = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    out[...] = np.flip(a, at)
    return out


def _roll_array(a: np.ndarray, shifts: tuple, dims: tuple = ()) -> np.ndarray:
    """Return a copy with elements moved along dimensions, from the end to the beginning."""
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    # Without dimensions, None: elements are moved as if they were in one row.
    return lay_out_result(np.roll(a, shifts, tuple([wrap_dim(d, a.ndim) for d in dims]) or None))


flip = op(
    "flip(Tensor self, int[] dims)",
    _flip_array,
    out=False,
    self=lambda grad, dims: flip(grad, dims),
)
roll = op(
    "roll(Tensor self, SymInt[1] shifts, int[1] dims=[])",
    _roll_array,
    out=False,
    self=lambda grad, shifts, dims: roll(
        grad, tuple([-s for s in reversed(shifts)]), tuple(reversed(dims))
    ),
)
