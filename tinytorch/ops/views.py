"""Views: tensors that look at another tensor's storage with a shape, strides and offset of their own.

Every view op is geometry (in bytes) and a backward node; `viewing.as_view` does the rest.

Most are called with what makes their geometry plain, and have a short way for that; `in_full` leads all other calls to
the operation as a whole, whose name has an underscore.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..graph.history import AsStridedBackward0, Geometry, needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..storage import contiguous_strides
from ..tensor import Tensor, wrap_dim
from .arguments import ABSENT, in_full, is_symint, parsed, unfit
from .core import op, tensor_type
from .geometry import dense_in_shape, infer_size, shape_argument
from .layouts import view_strides
from .viewing import as_view, viewed


def _list_argument(given: Any) -> tuple[int, ...]:
    """A list of ints, of which one alone is not taken for a list."""
    if not isinstance(given, (tuple, list)):
        raise unfit("size")
    return shape_argument((given,))


_ViewBackward0 = node("ViewBackward0", lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
_ReshapeAliasBackward0 = node("ReshapeAliasBackward0", lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
_UnsafeViewBackward0 = node("UnsafeViewBackward0", lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
_AliasBackward0 = node("AliasBackward0", lambda grad: grad)


@op(function=False, guard=False)
def view(self: Tensor = ABSENT, /, *shape: Any, **named: Any) -> Tensor:
    """The same memory in another shape (one size may be -1). RuntimeError if the strides do not allow it.

    With a dtype, the same bytes read as elements of that dtype, which autograd does not follow.
    Source: `torch.Tensor.view`.
    """
    if not named and isinstance(self, Tensor) and (data := dense_in_shape(self._data, shape)) is not None:
        return viewed(self, data, self._offset, _ViewBackward0, (self._data.shape,))
    return in_full(_view, "view", (self, *shape), named)


def _view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    if size is not None or dtype is not None:
        shape = (dtype if size is None else size,)
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return _reread(self, shape[0])
    a = self._data
    new = infer_size(shape_argument(shape, "view"), a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return as_view(self, new, strides, self._offset, _ViewBackward0, a.shape)


def _check_last_step(a: np.ndarray, name: str) -> None:
    if a.strides[-1] != a.itemsize:
        raise RuntimeError(f"self.stride(-1) must be 1 to view {name}, but got {a.strides[-1] // a.itemsize}")


def _reread(self: Tensor, kind: dtypes.dtype) -> Tensor:
    a, old, new = self._data, self._data.itemsize, kind.itemsize
    shape, strides, name = (
        a.shape,
        a.strides,
        f"{self.dtype.scalar_name} as {kind.scalar_name} (different element sizes)",
    )
    if old != new:
        if not a.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {name}")
        if new > old:
            times = new // old
            if shape[-1] % times:
                raise RuntimeError(f"self.size(-1) must be divisible by {times} to view {name}, but got {shape[-1]}")
            if self._offset % new:
                raise RuntimeError(
                    f"self.storage_offset() must be divisible by {times} to view {name}, but got {self._offset // old}"
                )
            _check_last_step(a, name)
            for i, s in enumerate(strides[:-1]):
                if s % new:
                    raise RuntimeError(
                        f"self.stride({i}) must be divisible by {times} to view {name}, but got {s // old}"
                    )
        else:
            _check_last_step(a, name)
        shape, strides = (*shape[:-1], shape[-1] * old // new), (*strides[:-1], new)
    out = self._alias()
    start = (
        min(self._offset, out._storage.nbytes()) if 0 in shape else self._offset
    )  # an empty one may lie beyond the end
    out._data = np.ndarray(shape, kind.np, out._storage.buffer, start, strides)
    return out


@op(function=False)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """The same memory in another tensor's shape.

    Source: `torch.Tensor.view_as`.
    """
    return view(self, other._data.shape)


@op(guard=False)
def reshape(input: Tensor = ABSENT, /, *sizes: Any, _as_method: bool = False, **named: Any) -> Tensor:
    """Another shape: a view where the strides allow it, else a copy.

    Source: `torch.reshape`.
    """
    if sizes and not (_as_method or (len(sizes) == 1 and isinstance(sizes[0], (tuple, list)))):
        parsed("reshape", (input, *sizes), named)
    if not named and isinstance(input, Tensor) and (data := dense_in_shape(input._data, sizes)) is not None:
        return viewed(input, data, input._offset, _ViewBackward0, (input._data.shape,))
    return in_full(_reshape, "reshape", (input, *sizes), named, of_view=False)


def _reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    a = input._data
    new = infer_size(shape_argument(sizes if shape is None else (shape,), "reshape"), a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is not None:
        kind = _ViewBackward0 if a.flags.c_contiguous else _ReshapeAliasBackward0
        return as_view(input, new, strides, input._offset, kind, a.shape)
    from .copying import clone, contiguous_format

    dense = clone(input, memory_format=contiguous_format)
    out = dense._strided(new, contiguous_strides(new, a.itemsize), 0)
    if not out._inference:
        out._counter = None  # the copy's own: whatever counted while it was made
    if MODES.here.grad and needs_grad(dense):
        _UnsafeViewBackward0.record(out, (dense,), self_sym_sizes=a.shape)
    return out


@op(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Another tensor's shape.

    Source: `torch.Tensor.reshape_as`.
    """
    return reshape(self, other._data.shape)


_TransposeBackward0 = node("TransposeBackward0", lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
_TBackward0 = node("TBackward0", lambda grad: grad.t())
_PermuteBackward0 = node("PermuteBackward0", lambda grad, dims: grad.permute(_inverse(dims)))


def _inverse(dims: tuple) -> tuple:
    at = [d % len(dims) for d in dims]
    return tuple(at.index(d) for d in range(len(dims)))


def _swapped(values: tuple, i: int, j: int) -> tuple:
    out = list(values)
    if out:
        out[i], out[j] = out[j], out[i]
    return tuple(out)


@op(guard=False)
def transpose(input: Tensor = ABSENT, /, *dims: int, **named: Any) -> Tensor:
    """Two dimensions swapped.

    Source: `torch.transpose`.
    """
    if len(dims) == 2 and not named and isinstance(input, Tensor) and type(dims[0]) is int and type(dims[1]) is int:
        try:
            return viewed(input, input._data.swapaxes(*dims), input._offset, _TransposeBackward0, dims)
        except (ValueError, OverflowError):
            pass
    return in_full(_transpose, "transpose", (input, *dims), named)


@op("swapaxes", "swapdims", view=True)
def _transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped.

    Source: `torch.transpose`.
    """
    a = input._data
    i, j = wrap_dim(dim0, a.ndim), wrap_dim(dim1, a.ndim)
    return as_view(
        input, _swapped(a.shape, i, j), _swapped(a.strides, i, j), input._offset, _TransposeBackward0,
        dim0, dim1,
    )  # fmt: skip


@op(guard=False)
def t(input: Tensor = ABSENT, /, *rest: Any, **named: Any) -> Tensor:
    """A matrix transposed; tensors of fewer dimensions as they are. RuntimeError for more than two.

    Source: `torch.t`.
    """
    if not (rest or named) and isinstance(input, Tensor) and input._data.ndim < 3:
        return viewed(input, input._data.T, input._offset, _TBackward0, ())
    return in_full(_t, "t", (input, *rest), named)


def _t(input: Tensor) -> Tensor:
    if input._data.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._data.ndim}D")
    return t(input)


@op(guard=False)
def permute(input: Tensor = ABSENT, /, *order: Any, _as_method: bool = False, **named: Any) -> Tensor:
    """The dimensions in another order.

    Source: `torch.permute`.
    """
    if order and not (_as_method or (len(order) == 1 and isinstance(order[0], (tuple, list)))):
        parsed("permute", (input, *order), named)
    if not named and isinstance(input, Tensor):
        given = order[0] if len(order) == 1 and type(order[0]) is tuple else order
        for d in given:
            if type(d) is not int:
                break
        else:
            if given:  # none at all is all of them for NumPy
                try:
                    return viewed(input, input._data.transpose(given), input._offset, _PermuteBackward0, (given,))
                except (ValueError, OverflowError):
                    pass
    return in_full(_permute, "permute", (input, *order), named)


def _permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    a = input._data
    given = shape_argument(order if dims is None else (dims,), "permute")
    order = given
    if len(order) != a.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {a.ndim} is not equal to len(dims) = {len(order)}"
        )
    order = tuple(wrap_dim(d, a.ndim) for d in order)
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return as_view(
        input, tuple(a.shape[d] for d in order), tuple(a.strides[d] for d in order), input._offset, _PermuteBackward0,
        given,
    )  # fmt: skip


_ExpandBackward0 = node("ExpandBackward0", lambda grad, self_sym_sizes: grad.sum_to_size(self_sym_sizes))


@op(function=False, guard=False)
def expand(self: Tensor = ABSENT, /, *sizes: Any, **named: Any) -> Tensor:
    """Dimensions of size 1 (and new leading ones) repeated with stride 0, without a copy; -1 keeps a size.

    Source: `torch.Tensor.expand`.
    """
    if not named and isinstance(self, Tensor):
        want = sizes[0] if len(sizes) == 1 and type(sizes[0]) is tuple else sizes
        shape, strides = self._data.shape, self._data.strides
        at = len(shape) - len(want)  # where the shapes are aligned, of this tensor's dimensions
        steps = []
        for n in want:
            if type(n) is not int:
                break
            if at >= 0 and n == shape[at]:
                steps.append(strides[at])
            elif n > 1 and (at < 0 or shape[at] == 1):
                steps.append(0)
            else:
                break
            at += 1
        else:
            if shape and len(steps) >= len(shape):
                return as_view(self, want, tuple(steps), self._offset, _ExpandBackward0, shape)
    return in_full(_expand, "expand", (self, *sizes), named)


def _expand(self: Tensor, *sizes: Any, size: Any = None, implicit: bool = False) -> Tensor:
    a = self._data
    want = shape_argument(sizes if size is None else (size,), "expand")
    if not a.ndim and (not want or min(want) >= 0):
        return as_view(self, want, (0,) * len(want), self._offset, _ExpandBackward0, ())
    lead = len(want) - a.ndim
    if lead < 0:
        name = "CPUBoolType" if a.dtype.kind == "b" else tensor_type(self)
        raise RuntimeError(
            f"expand({name}{{{list(a.shape)}}}, size={list(want)}): the number of sizes provided "
            f"({len(want)}) must be greater or equal to the number of dimensions in the tensor ({a.ndim})"
        )
    shape, strides = list(want), [0] * len(want)
    for i in range(len(want) - 1, -1, -1):
        n, d = want[i], i - lead
        if d >= 0:
            have, step = a.shape[d], a.strides[d]
        else:
            have, step = 1, shape[i + 1] * strides[i + 1] if a.ndim else 0
        if n == -1:
            if d < 0 and a.ndim:
                raise RuntimeError(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}"
                )
            n = shape[i] = have if a.ndim else -1
        if have == n:
            strides[i] = step
        elif have != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(want)}.  Tensor sizes: {list(a.shape)}"
            )
    if any(n < 0 for n in shape):
        raise RuntimeError("numel: integer multiplication overflow")
    return as_view(self, tuple(shape), tuple(strides), self._offset, _ExpandBackward0, a.shape)


@op(view=True)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with any shape, strides and offset (in elements) that the storage holds. RuntimeError if it does not.

    Source: `torch.as_strided`.
    """
    a = input._data
    shape, steps = _list_argument(size), _list_argument(stride)
    if storage_offset is not None and type(storage_offset) is not int and not is_symint(storage_offset):
        raise unfit("as_strided")
    if len(shape) != len(steps):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in steps):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}")
    offset = input.storage_offset() if storage_offset is None else int(storage_offset)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    room = input._own_storage().nbytes()
    reach = 0 if 0 in shape else 1 + sum(s * (n - 1) for s, n in zip(steps, shape, strict=True))
    if reach and (offset + reach) * a.itemsize > room:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {offset}, and itemsize "
            f"{a.itemsize} requiring a storage size of {(offset + reach) * a.itemsize} are out of bounds for storage "
            f"of size {room}"
        )
    n = a.itemsize
    return as_view(
        input, shape, tuple(s * n for s in steps), offset * n, AsStridedBackward0,
        Geometry.of(input), shape, storage_offset, steps,
    )  # fmt: skip


_UnsqueezeBackward0 = node("UnsqueezeBackward0", lambda grad, dim: grad.squeeze(dim))


@op(guard=False)
def unsqueeze(input: Tensor = ABSENT, /, *where: int, **named: Any) -> Tensor:
    """A new dimension of size 1.

    Source: `torch.unsqueeze`.
    """
    if len(where) == 1 and not named and isinstance(input, Tensor) and type(dim := where[0]) is int:
        shape, strides = input._data.shape, input._data.strides
        n = len(shape)
        if -n - 2 < dim <= n:
            d = dim if dim >= 0 else dim + n + 1
            step = input._data.itemsize if d == n else shape[d] * strides[d]
            return as_view(
                input, (*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]), input._offset,
                _UnsqueezeBackward0, dim,
            )  # fmt: skip
    return in_full(_unsqueeze, "unsqueeze", (input, *where), named)


def _unsqueeze(input: Tensor, dim: int) -> Tensor:
    return unsqueeze(input, int(wrap_dim(dim, input._data.ndim + 1)))


def _unsqueezed(grad: Tensor, sizes: tuple, dims: Any) -> Tensor:
    for d in sorted(d % len(sizes) for d in dims) if sizes else ():
        if sizes[d] == 1:
            grad = grad.unsqueeze(d)
    return grad


def squeeze_kinds(first: int) -> tuple[type, type, type]:
    """The nodes of `squeeze` without, with one and with several dimensions; the in-place forms count on from 3."""
    formulas = (
        lambda grad, self_sym_sizes: _unsqueezed(grad, self_sym_sizes, range(len(self_sym_sizes))),
        lambda grad, self_sym_sizes, dim: _unsqueezed(grad, self_sym_sizes, (dim,)),
        lambda grad, self_sym_sizes, dim: _unsqueezed(grad, self_sym_sizes, dim),
    )
    return tuple(node(f"SqueezeBackward{first + i}", f) for i, f in enumerate(formulas))  # type: ignore[return-value]


_SQUEEZES = squeeze_kinds(0)


@op(guard=False)
def squeeze(input: Tensor = ABSENT, /, *dims: Any, _as_method: bool = False, **named: Any) -> Tensor:
    """Without the dimensions of size 1 (all, or those named).

    Source: `torch.squeeze`.
    """
    if len(dims) < 2 and not named and isinstance(input, Tensor):
        a = input._data
        if not dims:
            return viewed(input, a.squeeze(), input._offset, _SQUEEZES[0], (a.shape,))
        dim = dims[0]
        if type(dim) is int and -a.ndim <= dim < a.ndim:
            data = a.squeeze(dim) if a.shape[dim] == 1 else a
            return viewed(input, data, input._offset, _SQUEEZES[1], (dim, a.shape))
    if len(dims) > 1 and not _as_method:
        parsed("squeeze", (input, *dims), named)
    return in_full(_squeeze, "squeeze", (input, *dims), named)


def _squeeze(input: Tensor, dim: Any = ABSENT, *more: int) -> Tensor:
    a = input._data
    dim = (dim, *more) if more else dim
    if dim is ABSENT:
        which, dims = 0, tuple(range(a.ndim))
    elif dim is None:
        raise unfit("squeeze")
    elif isinstance(dim, (tuple, list)):
        which, dim = 2, tuple(dim)
        dims = tuple(wrap_dim(d, a.ndim) for d in dim)
        twice = next((d for d in dims if dims.count(d) > 1), None)
        if twice is not None:
            raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    else:
        which, dims = 1, (wrap_dim(dim, a.ndim),)
    keep = [i for i in range(a.ndim) if not (i in dims and a.shape[i] == 1)]
    shape, strides = tuple(a.shape[i] for i in keep), tuple(a.strides[i] for i in keep)
    saved = (dim, a.shape) if which else (a.shape,)
    return as_view(input, shape, strides, input._offset, _SQUEEZES[which], *saved)


def alias(self: Tensor) -> Tensor:
    """A view of the whole tensor."""
    return as_view(self, self._data.shape, self._data.strides, self._offset, _AliasBackward0)
