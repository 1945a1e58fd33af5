"""Views of a part: one index, a range, a diagonal, sliding windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node
from ..storage import VersionCounter
from ..tensor import Tensor, fresh, wrap_dim
from .arguments import ABSENT, in_full, unfit
from .core import FUNCTIONS, is_internally_overlapping, op, record, recording, result, write_out
from .viewing import as_view, viewed
from .views import as_strided

END = (1 << 63) - 1  # what a slice without an end saves


def _placed(name: str, put: Any, backward: Any) -> Any:
    """The gradient of a partial view: zeros, with the gradient where the view lies; itself a recorded operation."""
    kind = node(name, backward)

    def place(grad: Tensor, sizes: tuple, *where: Any) -> Tensor:
        data = np.zeros(sizes, grad._data.dtype)
        put(data, grad._data, *where)
        out = fresh(data, grad._device)
        if recording(grad):
            record(out, kind, (grad,), self_sym_sizes=sizes, **dict(zip(names, where, strict=True)))
        return out

    names = backward.__code__.co_varnames[1 : backward.__code__.co_argcount]
    return place


def _at(ndim: int, dim: int, index: Any) -> tuple:
    return (slice(None),) * (dim % ndim) + (index,)


def _put_selected(data: np.ndarray, grad: np.ndarray, dim: int, index: int) -> None:
    data[_at(data.ndim, dim, index)] = grad


def _put_slice(data: np.ndarray, grad: np.ndarray, dim: int, start: int, end: int, step: int) -> None:
    data[_at(data.ndim, dim, slice(start, end, step))] = grad


def _put_diagonal(data: np.ndarray, grad: np.ndarray, offset: int, dim1: int, dim2: int) -> None:
    shape, strides, start = diagonal_geometry(data, offset, dim1 % data.ndim, dim2 % data.ndim)
    np.ndarray(shape, data.dtype, data, start, strides)[...] = grad


def _put_windows(data: np.ndarray, grad: np.ndarray, dim: int, size: int, step: int) -> None:
    if not data.ndim:
        data[...] = grad.sum()
        return
    d = dim % data.ndim
    for i in range(grad.shape[d]):
        window = _at(data.ndim, d, slice(i * step, i * step + size))
        data[window] += np.moveaxis(np.take(grad, i, d), -1, d)


_select_backward = _placed("SelectBackwardBackward0", _put_selected, lambda grad, dim, index: grad.select(dim, index))
_slice_backward = _placed(
    "SliceBackwardBackward0", _put_slice, lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step)
)
_diagonal_backward = _placed(
    "DiagonalBackwardBackward0", _put_diagonal, lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2)
)
_unfold_backward = _placed(
    "UnfoldBackwardBackward0", _put_windows, lambda grad, dim, size, step: grad.unfold(dim, size, step)
)

_SelectBackward0 = node(
    "SelectBackward0", lambda grad, self_sym_sizes, dim, index: _select_backward(grad, self_sym_sizes, dim, index)
)
_SliceBackward0 = node(
    "SliceBackward0",
    lambda grad, self_sym_sizes, dim, start, end, step: _slice_backward(
        grad, self_sym_sizes, dim, start, END if end is None else end, step
    ),
)
_DiagonalBackward0 = node(
    "DiagonalBackward0",
    lambda grad, self_sym_sizes, offset, dim1, dim2: _diagonal_backward(grad, self_sym_sizes, offset, dim1, dim2),
)
_UnfoldBackward0 = node(
    "UnfoldBackward0",
    lambda grad, self_sym_sizes, dimension, size, step: _unfold_backward(grad, self_sym_sizes, dimension, size, step),
)


@op(guard=False)
def select(input: Tensor = ABSENT, /, *where: int, **named: Any) -> Tensor:
    """The part at one index, without that dimension.

    Source: `torch.select`.
    """
    if len(where) == 2 and not named and isinstance(input, Tensor):
        dim, index = where
        n = input._data.ndim
        if type(dim) is int and type(index) is int and -n <= dim < n:
            try:
                return selected(input, dim if dim >= 0 else dim + n, index, dim)
            except IndexError:
                pass
    return in_full(_select, "select", (input, *where), named)


def _select(input: Tensor, dim: int, index: int) -> Tensor:
    a = input._data
    if not a.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if type(index) is bool:
        raise unfit("select")
    d, i = wrap_dim(dim, a.ndim), index.__index__()
    n = a.shape[d]
    if not -n <= i < n:
        raise IndexError(f"select(): index {i} out of range for tensor of size {list(a.shape)} at dimension {d}")
    return selected(input, d, i, dim)


def selected(self: Tensor, d: int, i: int, dim: int | None = None) -> Tensor:
    """`select` with its arguments checked; `dim` as it was given."""
    a = self._data
    shape, strides = a.shape, a.strides
    if d == 0:  # which NumPy does by itself, and raises IndexError
        offset = self._offset + (i + shape[0] if i < 0 else i) * strides[0]
        return viewed(self, a[i, ...], offset, _SelectBackward0, (0 if dim is None else dim, i, shape))
    if not -shape[d] <= i < shape[d]:
        raise IndexError
    return as_view(
        self, shape[:d] + shape[d + 1 :], strides[:d] + strides[d + 1 :],
        self._offset + (i + shape[d] if i < 0 else i) * strides[d], _SelectBackward0,
        d if dim is None else dim, i, shape,
    )  # fmt: skip


def slice_(self: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    """Every `step`-th index from `start` up to `end`, which are clamped to the size."""
    a = self._data
    shape, strides = a.shape, a.strides
    d = dim + len(shape) if dim < 0 else dim
    n = shape[d]
    first = start if 0 <= start <= n else min(max(start + n if start < 0 else start, 0), n)
    last = end if first <= end <= n else n if end > n else min(max(end + n if end < 0 else end, first), n)
    if d == 0 and first < last:
        saved = (dim, end, shape, start, step)
        return viewed(self, a[first:last:step], self._offset + first * strides[0], _SliceBackward0, saved)
    shape, strides = list(shape), list(strides)
    shape[d] = (last - first + step - 1) // step
    offset = self._offset + first * strides[d]
    strides[d] *= step
    return as_view(
        self, tuple(shape), tuple(strides), offset, _SliceBackward0,
        dim, end, a.shape, start, step,
    )  # fmt: skip


def slice_from(self: Tensor, dim: int, start: int) -> Tensor:
    """The indices from `start` on, as torch slices within its formulas: the node saves that there is no end."""
    a = self._data
    shape = (*a.shape[:dim], a.shape[dim] - start, *a.shape[dim + 1 :])
    return as_view(
        self, shape, a.strides, self._offset + start * a.strides[dim], _SliceBackward0, dim, None, a.shape, start, 1
    )


@op(guard=False)
def narrow(input: Tensor = ABSENT, /, *where: Any, **named: Any) -> Tensor:
    """`length` indices of a dimension, from `start` on.

    Source: `torch.narrow`.
    """
    if len(where) == 3 and not named and isinstance(input, Tensor):
        dim, start, length = where
        shape = input._data.shape
        if (
            type(dim) is type(start) is type(length) is int
            and -len(shape) <= dim < len(shape)
            and 0 <= start <= start + length <= shape[dim]
        ):
            return slice_(input, dim, start, start + length, 1)
    return in_full(_narrow, "narrow", (input, *where), named, of_view=False)


def _narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    a = input._data
    if isinstance(start, Tensor):
        if start._data.ndim or start._data.dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = start.item()
    if type(start) is bool or type(length) is bool:
        raise unfit("narrow")
    if not a.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    n = a.shape[wrap_dim(dim, a.ndim)]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    if start < 0:
        start += n
    if start > n - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return slice_(input, dim, start, start + length, 1)


def _is_int(x: Any) -> bool:
    return hasattr(x, "__index__") and not isinstance(x, bool)


_NarrowCopyBackward0 = node(
    "NarrowCopyBackward0",
    lambda grad, self_sym_sizes, dim, start, length: _slice_backward(
        grad, self_sym_sizes, dim, start, start + length, 1
    ),
)


@op()
def narrow_copy(input: Tensor, dim: int, start: Any, length: int, *, out: Tensor | None = None) -> Tensor:
    """What `narrow` looks at, in a copy.

    Source: `torch.narrow_copy`.
    """
    if isinstance(start, Tensor):
        start = start.item()
    if not (_is_int(start) and _is_int(length)):
        raise unfit("narrow_copy")
    if dim >= input._data.ndim > 0:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    n = input._data.shape[wrap_dim(dim, input._data.ndim)] if input._data.ndim else 0
    if length < 0 and -n <= start <= n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    data = np.ascontiguousarray(narrow(input.detach(), dim, start, length)._data)
    if out is not None:
        return write_out(out, data, "narrow_copy", input)
    made = result(data if data.base is not input._data and data.base is None else data.copy(), input._device)
    if recording(input):
        record(made, _NarrowCopyBackward0, (input,), self_sym_sizes=input._data.shape, dim=dim, start=start,
               length=length)  # fmt: skip
    return made


def diagonal_geometry(a: np.ndarray, offset: int, d1: int, d2: int) -> tuple[tuple, tuple, int]:
    """Shape, strides and offset (bytes, from the array's first element) of a diagonal."""
    n = max(min(a.shape[d1], a.shape[d2] - offset) if offset >= 0 else min(a.shape[d1] + offset, a.shape[d2]), 0)
    start = 0 if not n else offset * a.strides[d2] if offset >= 0 else -offset * a.strides[d1]
    rest = [i for i in range(a.ndim) if i not in (d1, d2)]
    shape = (*(a.shape[i] for i in rest), n)
    return shape, (*(a.strides[i] for i in rest), a.strides[d1] + a.strides[d2]), start


@op(view=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as a last dimension. RuntimeError if they are the same.

    Source: `torch.diagonal`.
    """
    a = input._data
    d1, d2 = wrap_dim(dim1, a.ndim), wrap_dim(dim2, a.ndim)
    if not hasattr(offset, "__index__") or type(offset) is bool:
        raise unfit("diagonal")
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape, strides, start = diagonal_geometry(a, offset, d1, d2)
    return as_view(
        input, shape, strides, input._offset + start, _DiagonalBackward0,
        dim1, dim2, offset, a.shape,
    )  # fmt: skip


@op(function=False, view=True)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` indices along a dimension, `step` apart, as a new last dimension. They may overlap.

    Source: `torch.Tensor.unfold`.
    """
    a = self._data
    d = wrap_dim(dimension, a.ndim)
    if type(size) is bool or type(step) is bool:
        raise unfit("unfold")
    n, stride = (a.shape[d], a.strides[d]) if a.ndim else (1, a.itemsize)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    shape, strides = (*a.shape, size), (*a.strides, stride)
    if a.ndim:
        shape = (*shape[:d], (n - size) // step + 1, *shape[d + 1 :])
        strides = (*strides[:d], step * stride, *strides[d + 1 :])
    return as_view(
        self, shape, strides, self._offset, _UnfoldBackward0,
        dimension, a.shape, size, step,
    )  # fmt: skip


# copies with one part replaced ---------------------------------------------------------------------------------------

_SelectScatterBackward0 = node(
    "SelectScatterBackward0",
    lambda grad, dim, index: select_scatter(grad, grad.new_zeros(grad.select(dim, index).shape), dim, index),
    lambda grad, dim, index: grad.select(dim, index),
)
_SliceScatterBackward0 = node(
    "SliceScatterBackward0",
    lambda grad, dim, start, end, step: slice_scatter(
        grad, grad.new_zeros(_sliced(grad, dim, start, end, step).shape), dim, start, end, step
    ),
    lambda grad, dim, start, end, step: _sliced(grad, dim, start, end, step),
)
_DiagonalScatterBackward0 = node(
    "DiagonalScatterBackward0",
    lambda grad, offset, dim1, dim2: diagonal_scatter(
        grad, grad.new_zeros(grad.diagonal(offset, dim1, dim2).shape), offset, dim1, dim2
    ),
    lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)


_AsStridedScatterBackward0 = node(
    "AsStridedScatterBackward0",
    lambda grad, size, stride, storage_offset: as_strided_scatter(
        FUNCTIONS["zeros_like"](grad),
        as_strided(grad.contiguous(), size, stride, storage_offset),
        size,
        stride,
        storage_offset,
    ),
    lambda grad, size, stride, storage_offset: as_strided(grad.contiguous(), size, stride, storage_offset),
)


def _sliced(t: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    return slice_(t, wrap_dim(dim, t._data.ndim), start or 0, END if end is None else end, step)


def _with_part(input: Tensor, src: Tensor, part: Any, kind: type, **where: Any) -> Tensor:
    out = input.detach()
    if is_internally_overlapping(out):
        out = out.clone()
    else:  # the copy keeps the strides, gaps included, and with them the whole storage
        out._storage, out._vc = out._storage.clone(), VersionCounter()
        out._follow_storage()
    view = part(out)
    if view._data.shape != src._data.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(view.shape)}"
        )
    view._data[...] = src._data
    if recording(input, src):
        record(out, kind, (input, src), **where)
    return out


@op()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy with the part at one index replaced by `src`.

    Source: `torch.select_scatter`.
    """
    return _with_part(input, src, lambda t: select(t, dim, index), _SelectScatterBackward0, dim=dim, index=index)


@op()
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy with a range of indices replaced by `src`.

    Source: `torch.slice_scatter`.
    """
    if not input._data.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    where = {"dim": dim, "start": start, "end": end, "step": step}
    return _with_part(input, src, lambda t: _sliced(t, **where), _SliceScatterBackward0, **where)


@op()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy with a diagonal replaced by `src`.

    Source: `torch.diagonal_scatter`.
    """
    where = {"offset": offset, "dim1": dim1, "dim2": dim2}
    return _with_part(input, src, lambda t: diagonal(t, **where), _DiagonalScatterBackward0, **where)


@op()
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy in which what `as_strided` looks at is replaced by `src`.

    Source: `torch.as_strided_scatter`.
    """
    if type(storage_offset) is bool:
        raise unfit("as_strided_scatter")
    where = {"size": tuple(size), "stride": tuple(stride), "storage_offset": storage_offset}
    return _with_part(input, src, lambda t: as_strided(t, **where), _AsStridedScatterBackward0, **where)
