"""Parts of a tensor, which are views: one index, a range, a diagonal, several at once.

Tensors put together, which copies.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import (
    CPU,
    check_broadcast_into,
    contiguous_strides,
    copy_with_strides,
    is_channels_last,
    lay_out_result,
    restride_array,
    size_of_dim,
    view_strides,
    wrap_dim,
)
from ..tensor import Tensor, device_of
from .copies import contiguous_format, copy_array
from .creation import new_zeros
from .define import make_function_of, offer_member, op
from .filling import written_zeros
from .kernels import Kernel, as_array, composite, result_dtype, row_major
from .kernels import view as view_kernel
from .late import LaterFunction
from .out_argument import OutArgument, OutRule
from .views import array_of

# The end that PyTorch saves for a slice without one.
END = (1 << 63) - 1
_FORMULA_ONLY = {"method": False, "function": False}


# a part of the elements ---------------------------------------------------------------------------


def _index_at_dim(ndim: int, dim: int, index: Any) -> tuple:
    """Return NumPy's index for one dimension: all of the dimensions before it and after it."""
    return (slice(None),) * (dim % ndim) + (index, ...)


def select_array(a: np.ndarray, dim: int, index: int) -> np.ndarray:
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


def slice_array(
    a: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> np.ndarray:
    """Return the view of a slice along a dimension; bounds beyond its ends are those ends."""
    shape = a.shape
    ndim = len(shape)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if not ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    d = dim if 0 <= dim < ndim else wrap_dim(dim, ndim)
    n, first, last = shape[d], start or 0, END if end is None else end
    if first < 0:
        first = max(first + n, 0)
    elif first > n:
        first = n
    if last < 0:
        last += n
    if last >= n:
        last = n
    elif last < first:
        last = first
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
    return slice_.run_on_tensors(self, dim, start, start + length, 1)


def _narrow_from_tensor(self: Any, dim: int, start: Tensor, length: int) -> Any:
    """Narrow from a start that a 0-d tensor holds. RuntimeError for any other tensor."""
    if start._data.ndim or start._data.dtype.kind not in "iu":
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return narrow(self, dim, int(start.item()), length)


def _copy_narrow(a: np.ndarray, dim: int, start: int, length: int) -> np.ndarray:
    """Return a copy of `length` elements of a dimension, row by row."""
    if not a.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, a.ndim)
    n = a.shape[d]
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    # Unlike `narrow`, PyTorch's function for the copy checks the start first, and has no words of its own
    # for a negative length.
    start += n if start < 0 else 0
    if length < 0 or start > n - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return copy_array(slice_array(a, d, start, start + length), contiguous_format)


def _unfold_array(a: np.ndarray, dimension: int, size: int, step: int) -> np.ndarray:
    """Return windows of a dimension as a view, in a last dimension of its own.

    Where they overlap, several elements are one cell.
    """
    d = wrap_dim(dimension, a.ndim)
    n = size_of_dim(a.shape, d)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    # A number is unfolded like a vector of one element.
    if not a.ndim:
        return restride_array(a, (size,), (a.itemsize,))
    shape, strides = [*a.shape, size], [*a.strides, a.strides[d]]
    shape[d], strides[d] = (n - size) // step + 1, strides[d] * step
    return restride_array(a, tuple(shape), tuple(strides))


def _add_windows(
    grad_in: np.ndarray, input_sizes: tuple, dim: int, size: int, step: int
) -> np.ndarray:
    """Return what was unfolded again, each cell the sum of its elements."""
    data = np.zeros(input_sizes, grad_in.dtype)
    windows = _unfold_array(data, dim, size, step)
    # Of another shape only if somebody calls the node: PyTorch then reads foreign memory.
    check_broadcast_into(windows.shape, grad_in.shape)
    grad_in = np.broadcast_to(grad_in, windows.shape)
    # An element at a time: those at one place of all windows are different cells.
    for i in range(size):
        windows[..., i] += grad_in[..., i]
    return data


def diagonal_of_array(a: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
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


def _make_view_backward(view_kernel: Callable) -> Callable:
    """Make the kernel of a partial view's gradient: zeros but in the cells of the view."""

    def kernel(grad: np.ndarray, sizes: tuple, *where: Any) -> np.ndarray:
        data = np.zeros(sizes, grad.dtype)
        part = view_kernel(data, *where)
        if part.shape != grad.shape:
            # A node that is called by hand may be given any gradient.
            check_broadcast_into(part.shape, grad.shape)
        part[...] = grad
        return data

    return kernel


_select_backward = op(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index)",
    _make_view_backward(select_array),
    **_FORMULA_ONLY,
    grad_output=lambda grad, dim, index: select(grad, dim, index),
)
_slice_backward = op(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt "
    "end, SymInt step)",
    _make_view_backward(slice_array),
    **_FORMULA_ONLY,
    grad_output=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)
_diagonal_backward = op(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2)",
    _make_view_backward(diagonal_of_array),
    **_FORMULA_ONLY,
    grad_output=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)


def find_diagonal_grad(grad: Any, self_sym_sizes: tuple, offset: int, dim1: int, dim2: int) -> Any:
    """Return the gradient of `diagonal` and its copy: zeros beside the diagonal."""
    return _diagonal_backward(grad, self_sym_sizes, offset, dim1, dim2)


select = op(
    "select(Tensor(a) self, int dim, SymInt index)",
    view_kernel(select_array),
    self=lambda grad, self_sym_sizes, dim, index: _select_backward(
        grad, self_sym_sizes, dim, index
    ),
)
slice_ = op(
    "slice(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1)",
    view_kernel(slice_array),
    **_FORMULA_ONLY,
    self=lambda grad, self_sym_sizes, dim, start, end, step: _slice_backward(
        grad, self_sym_sizes, dim, start or 0, END if end is None else end, step
    ),
)
op("narrow(Tensor(a) self, int dim, Tensor start, SymInt length)", composite(_narrow_from_tensor))
narrow = op(
    "narrow(Tensor(a) self, int dim, SymInt start, SymInt length)", composite(_narrow_checked)
)
op(
    "narrow_copy(Tensor self, int dim, SymInt start, SymInt length)",
    row_major(_copy_narrow),
    out=OutRule(
        "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error "
        "message be improved?  If so, please report an enhancement request to PyTorch.)",
        is_silent=True,
    ),
    self=lambda grad, self_sym_sizes, dim, start, length: _slice_backward(
        grad, self_sym_sizes, dim, start, start + length, 1
    ),
)
diagonal = op(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1)",
    view_kernel(diagonal_of_array),
    self=find_diagonal_grad,
)
_unfold_backward = op(
    "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step)",
    _add_windows,
    **_FORMULA_ONLY,
    grad_in=lambda grad, dim, size, step: unfold(grad, dim, size, step),
)
unfold = op(
    "unfold(Tensor(a) self, int dimension, int size, int step)",
    view_kernel(_unfold_array),
    function=False,
    self=lambda grad, self_sym_sizes, dimension, size, step: _unfold_backward(
        grad, self_sym_sizes, dimension, size, step
    ),
)

# several views at once ----------------------------------------------------------------------------


def _find_grad(grads: tuple) -> Any:
    """Return the first gradient that arrived, to make zeros like it: a formula runs if one did."""
    for grad in grads:
        if grad is not None:
            return grad
    raise AssertionError("a formula runs although no gradient has arrived")


def _join_grads(grads: tuple, sizes: tuple, lengths: Any, dim: int) -> Any:
    """Return the gradient of what was split, zeros for the parts that none reached."""
    split_dim, some_grad = dim % len(sizes), _find_grad(grads)
    parts = []
    for grad, length in zip(grads, lengths, strict=True):
        if grad is None:
            shape = (*sizes[:split_dim], length, *sizes[split_dim + 1 :])
            parts.append(new_zeros(some_grad, shape))
        else:
            parts.append(grad)
    return cat(parts, split_dim)


def _stack_grads(grads: tuple, dim: int) -> Any:
    """Return the gradient of what `unbind` took apart, zeros for the parts that none reached."""
    some_grad = _find_grad(grads)
    shape = tuple(some_grad.shape)
    return stack([new_zeros(some_grad, shape) if grad is None else grad for grad in grads], dim)


def _lengths_of_parts(n: int, split_size: int) -> list[int]:
    """Return the lengths of parts of `split_size`, of which the last may be shorter."""
    if not split_size:
        return [n]
    # An empty dimension has one part, which is empty.
    count = max(-(-n // split_size), 1)
    _check_number_of_views(count)
    return [split_size] * (count - 1) + [n - split_size * (count - 1)]


def _cut_array(a: np.ndarray, lengths: Any, d: int) -> list[np.ndarray]:
    """Return views of a dimension, of these lengths, one after the other."""
    out, at = [], 0
    for n in lengths:
        out.append(slice_array(a, d, at, at + n, 1))
        at += n
    return out


def _unbind_array(a: np.ndarray, dim: int = 0) -> list[np.ndarray]:
    """Return a view for each index of a dimension."""
    # In this order: a number has a dimension 0 as long as dimensions are counted, as in all of PyTorch, and
    # is refused afterwards.
    d = wrap_dim(dim, a.ndim)
    if not a.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    _check_number_of_views(a.shape[d])
    return [a[_index_at_dim(a.ndim, d, i)] for i in range(a.shape[d])]


def _check_number_of_views(count: int) -> None:
    """Raise MemoryError for more views than are made at once, in PyTorch's words where it has no room."""
    if count >= 1 << 36:
        # Their addresses alone take 512 GiB.
        raise RuntimeError("std::bad_alloc")
    if count >= 1 << 24:
        raise MemoryError(f"tinytorch makes no {count} views at once")


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
    **_FORMULA_ONLY,
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
    self=lambda grads, self_sym_sizes, split_sizes, dim: _join_grads(
        grads, self_sym_sizes, split_sizes, dim
    ),
)
_split_by_list = op(
    "split(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    composite(lambda self, split_size, dim: _split_by_sizes(self, split_size, dim)),
    **_FORMULA_ONLY,
)
_later_split = LaterFunction(lambda: make_function_of(_split_by_size, _split_by_list))
_later_split_by_sizes = LaterFunction(lambda: make_function_of(_split_by_sizes))


def split_tensor(self: Tensor, split_size: Any, dim: int = 0) -> tuple:
    """Split a tensor into views along a dimension, as `split` does.

    What is no int is a list of lengths, as in PyTorch's own method, which is written in Python.
    """
    if isinstance(split_size, Tensor):
        with contextlib.suppress(ValueError):
            split_size = int(split_size)
    later = _later_split if isinstance(split_size, int) else _later_split_by_sizes
    return later.function(self, split_size, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple:
    """Split a tensor into views along a dimension.

    They have `split_size_or_sections` indices each (the last may have less), or the lengths in a
    list.
    """
    return tensor.split(split_size_or_sections, dim)  # type: ignore[attr-defined]


split_tensor.__name__, split_tensor.__qualname__ = "split", "Tensor.split"
offer_member("split", split_tensor, function=False)
offer_member("split", split, method=False)
chunk = op(
    "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", composite(_chunk_tensor)
)


def _split_at(self: Any, indices: tuple, dim: int) -> tuple:
    """Return views of a dimension that begin at its start and at each index.

    They are slices, each with a node of its own: unlike those of `split` they may be written to.
    """
    shape = array_of(self).shape
    _check_splittable(len(shape))
    d = wrap_dim(dim, len(shape))
    bounds = zip((0, *indices), (*indices, shape[d]), strict=True)
    return tuple([slice_.run_on_tensors(self, d, start, end, 1) for start, end in bounds])


def _split_evenly(self: Any, sections: int, dim: int) -> tuple:
    """Return so many views of a dimension, the first ones longer by 1 if it is no multiple."""
    shape = array_of(self).shape
    _check_splittable(len(shape))
    n = shape[wrap_dim(dim, len(shape))]
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    _check_number_of_views(sections)
    length, more = divmod(n, sections)
    starts = [i * length + min(i, more) for i in range(1, sections)]
    return _split_at(self, tuple(starts), dim)


def _check_splittable(ndim: int) -> None:
    """Raise PyTorch's error for `tensor_split` of a tensor without dimensions."""
    if not ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )


def _split_as_tensor_says(self: Any, tensor_indices_or_sections: Tensor, dim: int) -> tuple:
    """Split at the indices that a vector holds, or into as many parts as a 0-d tensor says."""
    said = tensor_indices_or_sections
    what = "tensor_split expected tensor_indices_or_sections to"
    _check_splittable(array_of(self).ndim)
    if device_of(said) is not CPU:
        raise RuntimeError(f"{what} be on cpu, but it's on {device_of(said)}")
    if said._data.dtype != np.int64:
        raise RuntimeError(f"{what} have dtype of long, but got {said.dtype.scalar_name}")
    if said._data.ndim > 1:
        raise RuntimeError(
            f"{what} be a zero-dimensional or one-dimensional tensor, but got a tensor with "
            f"{said._data.ndim} dims"
        )
    if said._data.ndim:
        return _split_at(self, tuple(said.tolist()), dim)
    return _split_evenly(self, said.item(), dim)  # type: ignore[arg-type]


op(
    "tensor_split(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    composite(_split_at),
)
op(
    "tensor_split(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> "
    "Tensor(a)[]",
    composite(_split_as_tensor_says),
)
op(
    "tensor_split(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    composite(_split_evenly),
)


def _dim_of_split(self: Any, name: str, least: int) -> int:
    """Return the dimension along which `hsplit` and its kin split. RuntimeError without it."""
    n = array_of(self).ndim
    if n < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {n} dimensions!"
        )
    # Side by side a vector has one dimension only.
    return {"hsplit": min(n - 1, 1), "vsplit": 0, "dsplit": 2}[name]


def _split_along(self: Any, sections: int, name: str, least: int) -> tuple:
    """Split a dimension, which must be a multiple, into so many views."""
    d = _dim_of_split(self, name, least)
    n = array_of(self).shape[d]
    if not sections or n % sections:
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {d}, but the size of the dimension "
            f"{n} is not divisible by the split_size {sections}!"
        )
    return _split_evenly(self, sections, d)


for _name, _least in ("hsplit", 1), ("vsplit", 2), ("dsplit", 3):
    op(
        f"{_name}(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
        composite(lambda self, sections, how=(_name, _least): _split_along(self, sections, *how)),
    )
    op(
        f"{_name}(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
        composite(
            lambda self, indices, how=(_name, _least): _split_at(
                self, indices, _dim_of_split(self, *how)
            )
        ),
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
    d = _wrap_dim_of_join(dim, used[0].shape)
    return _lay_out_joined(np.concatenate(used, d), tensors)


def _lay_out_joined(joined: np.ndarray, tensors: list[np.ndarray]) -> np.ndarray:
    """Lay out what was joined: channels last if all tensors are like that, else row by row."""
    n = joined.ndim
    if n not in (4, 5) or not all([is_channels_last(a) for a in tensors]):
        return lay_out_result(joined)
    batches, channels, *sizes = joined.shape
    strides = contiguous_strides((batches, *sizes, channels), joined.itemsize)
    return copy_with_strides(joined, (strides[0], strides[-1], *strides[1:-1]))


def _wrap_dim_of_join(dim: int, shape: tuple) -> int:
    """Return the dimension to join along; of empty vectors alone PyTorch does not look at `dim`."""
    return wrap_dim(dim, len(shape)) if shape != (0,) else 0


def _leave_out_empty_vectors(tensors: list[np.ndarray]) -> list[np.ndarray]:
    """Return all arrays but empty vectors, which join with any shape; of those alone, the first."""
    return [a for a in tensors if a.shape != (0,)] or tensors[:1]


def _check_joinable(tensors: list[np.ndarray], dim: int) -> list[np.ndarray]:
    """Return all arrays but empty vectors. RuntimeError in PyTorch's words if shapes do not fit."""
    for i, a in enumerate(tensors):
        if not a.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    used = _leave_out_empty_vectors(tensors)
    first = used[0]
    d = _wrap_dim_of_join(dim, first.shape)
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


def _prepare_joined(out: OutArgument, tensors: list[np.ndarray], dim: int) -> None:
    """Prepare the `out=` of `cat`."""
    if not tensors or any(not a.ndim for a in tensors):
        return
    shape = _leave_out_empty_vectors(tensors)[0].shape
    d = _wrap_dim_of_join(dim, shape)
    out.check_dtype(result_dtype(*tensors))
    used = _check_joinable(tensors, dim)
    out.resize((*shape[:d], sum([a.shape[d] for a in used]), *shape[d + 1 :]))
    out.check_no_overlap(*tensors)


def _cat_backward(grad: Any, dim: int, _tensors_sizes: list) -> list:
    """Return the gradient of each tensor that was joined: its part of the gradient, a view."""
    at, parts = 0, []
    for shape in _tensors_sizes:
        # It was left out, so no part of the gradient is its own.
        if shape == (0,):
            parts.append(written_zeros(grad, shape))
        else:
            d = wrap_dim(dim, len(shape))
            parts.append(narrow(grad, d, at, shape[d]))
            at += shape[d]
    return parts


def _check_stackable(tensors: list[np.ndarray], dim: int) -> int:
    """Raise PyTorch's errors for what `stack` does not take, and return the new dimension."""
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
    return d


def _prepare_stacked(out: OutArgument, tensors: list[np.ndarray], dim: int) -> None:
    """Prepare the `out=` of `stack`."""
    d, shape = _check_stackable(tensors, dim), tensors[0].shape
    if d == len(shape):
        # Joined after the last dimension: `cat` compares the dtypes before it resizes.
        out.check_dtype(result_dtype(*tensors))
    out.resize((*shape[:d], len(tensors), *shape[d:]))
    if d < len(shape) and len(tensors) > 1:
        _check_resized_inputs(out, tensors, d)
    out.check_dtype(result_dtype(*tensors))
    out.check_no_overlap(*tensors)


def _check_resized_inputs(out: OutArgument, tensors: list[np.ndarray], d: int) -> None:
    """Raise PyTorch's errors of `stack` where `out` is an input, which has another shape now.

    PyTorch finds the shape anew if that is the first of them; else it joins, which fails.
    """
    now = out.look_again(tuple(tensors))
    shape, old = now[0].shape, tensors[0].shape
    if shape != old:
        _check_stackable(now, d)
        out.resize((*shape[:d], len(now), *shape[d:]))
    elif any(a.shape != old for a in now):
        raise RuntimeError(
            f"Tensors must have same number of dimensions: got {len(old)} and {len(old) + 1}"
        )


def _stack_arrays(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
    """Join arrays of one shape along a new dimension."""
    d, first = _check_stackable(tensors, dim), tensors[0].shape
    arrays = _convert_to_common_dtype(tensors)
    # torch joins along the next dimension, which it splits then
    if d < len(first):
        joined = _lay_out_joined(np.concatenate(arrays, d), tensors)
        shape = (*first[:d], len(arrays), *first[d:])
        # NumPy has other strides for a dimension of size 1.
        strides = view_strides(joined.shape, joined.strides, joined.itemsize, shape)
        return restride_array(joined, shape, strides)  # type: ignore[arg-type]
    # After the last one there is none, so each gets one of size 1: an image may look like a volume.
    rows = [restride_array(a, (*first, 1), (*a.strides, a.itemsize)) for a in tensors]
    return _lay_out_joined(np.stack(arrays, d), rows)


class joining(Kernel):
    """`cat`, or `stack`: what makes one array of several."""

    def lays_out(self, tensors: list[np.ndarray], dim: int) -> bool:
        """Return True for `cat`, and for `stack` after the last dimension, which is one.

        Before another one `stack` resizes `out` itself, and joins into a view of it.
        """
        return self.function is _concatenate_arrays or dim in (-1, tensors[0].ndim)


_NOT_CAST = "torch.cat(): input types can't be cast to the desired output type {1}"
cat = op(
    "cat(Tensor[] tensors, int dim=0)",
    joining(_concatenate_arrays),
    out=OutRule(cast_error=_NOT_CAST, cast_error_class=TypeError, prepare=_prepare_joined),
    method=False,
    aka=("concat", "concatenate"),
    tensors=_cat_backward,
)
stack = op(
    "stack(Tensor[] tensors, int dim=0)",
    joining(_stack_arrays),
    out=OutRule(cast_error=_NOT_CAST, cast_error_class=TypeError, prepare=_prepare_stacked),
    method=False,
    tensors=lambda grad, dim: [select(grad, dim, i) for i in range(grad.shape[dim])],
)
