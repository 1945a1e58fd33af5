"""Views: tensors that look at another tensor's storage with a shape, strides and offset of their own.

Every view op is geometry (in bytes) and a backward node; `as_view` does the rest: it shares the storage and the version
counter, and remembers the base.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.history import MULTI_OUTPUT, needs_grad, make_view, set_history
from ..graph.modes import MODES
from ..graph.node import MultiNode, node
from ..storage import contiguous_strides
from ..tensor import Size, Tensor, wrap_dim
from .core import node_for, op, record


def as_view(self: Tensor, shape: tuple, strides: tuple, offset: int, kind: type, **saved: Any) -> Tensor:
    """A view of `self` with this geometry (strides and offset in bytes), recorded as a node of this kind."""
    out = make_view(self._strided(shape, strides, offset), self)
    if MODES.grad and needs_grad(self):
        record(out, kind, (self,), **saved)
    return out


def shape_argument(args: tuple, name: str = "size") -> tuple[int, ...]:
    """A shape given as separate ints, as one tuple or list, or as 0-d tensors."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    try:
        return tuple(int(a.__index__()) for a in args)
    except (AttributeError, TypeError):
        bad = next(a for a in args if not hasattr(a, "__index__") or isinstance(a, float))
        raise TypeError(f"{name}(): argument must be tuple of ints, not {type(bad).__name__}") from None


def infer_size(shape: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """Fill in the one -1 of a shape. RuntimeError in torch's words if the shape does not fit."""
    product, unknown = 1, None
    for i, n in enumerate(shape):
        if n == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n}")
        else:
            product *= n
    if unknown is None:
        if product != numel:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
        return shape
    if product == 0 or numel % product:
        if product == 0 and numel == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return (*shape[:unknown], numel // product, *shape[unknown + 1 :])


def view_strides(shape: tuple, strides: tuple, itemsize: int, new: tuple) -> tuple | None:
    """The strides (bytes) with which `new` looks at the same memory, or None if a copy is needed.

    Source: torch's `computeStride`.
    """
    if 0 in shape:
        return contiguous_strides(new, itemsize)
    if not shape:
        return (itemsize,) * len(new)
    out = [0] * len(new)
    at = len(new) - 1
    chunk = strides[-1]
    elements = left = 1
    for d in range(len(shape) - 1, -1, -1):
        elements *= shape[d]
        if d == 0 or (shape[d - 1] != 1 and strides[d - 1] != elements * chunk):
            while at >= 0 and (left < elements or new[at] == 1):
                out[at] = left * chunk
                left *= new[at]
                at -= 1
            if left != elements:
                return None
            if d > 0:
                chunk = strides[d - 1]
                elements = left = 1
    return tuple(out) if at == -1 else None


_ViewBackward0 = node("ViewBackward0", lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
_UnsafeViewBackward0 = node("UnsafeViewBackward0", lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
_ReshapeAliasBackward0 = node("ReshapeAliasBackward0", lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
_AliasBackward0 = node("AliasBackward0", lambda grad: grad)


@op(function=False)
def view(self: Tensor, *shape: Any) -> Tensor:
    """The same memory in another shape (one size may be -1). RuntimeError if the strides do not allow it.

    Source: `torch.Tensor.view`.
    """
    a = self._data
    new = infer_size(shape_argument(shape, "view"), a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return as_view(self, new, strides, self._offset, _ViewBackward0, self_sym_sizes=Size(a.shape))


@op(function=False)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """The same memory in another tensor's shape.

    Source: `torch.Tensor.view_as`.
    """
    return view(self, other._data.shape)


@op()
def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Another shape: a view where the strides allow it, else a copy.

    Source: `torch.reshape`.
    """
    a = input._data
    new = infer_size(shape_argument(shape, "reshape"), a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is not None:
        return as_view(input, new, strides, input._offset, _ViewBackward0, self_sym_sizes=Size(a.shape))
    from .copying import clone, contiguous_format

    dense = clone(input, memory_format=contiguous_format)
    out = dense._strided(new, contiguous_strides(new, a.itemsize), 0)
    if MODES.grad and needs_grad(dense):
        record(out, _UnsafeViewBackward0, (dense,), self_sym_sizes=Size(a.shape))
    return out


@op(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Another tensor's shape.

    Source: `torch.Tensor.reshape_as`.
    """
    return reshape(self, other._data.shape)


_TransposeBackward0 = node("TransposeBackward0", lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
_TBackward0 = node("TBackward0", lambda grad: grad.t())
_PermuteBackward0 = node("PermuteBackward0", lambda grad, dims: grad.permute(tuple(np.argsort(dims).tolist())))


def _swapped(values: tuple, i: int, j: int) -> tuple:
    out = list(values)
    if out:
        out[i], out[j] = out[j], out[i]
    return tuple(out)


@op("transpose", "swapaxes", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped.

    Source: `torch.transpose`.
    """
    a = input._data
    i, j = wrap_dim(dim0, a.ndim), wrap_dim(dim1, a.ndim)
    return as_view(
        input, _swapped(a.shape, i, j), _swapped(a.strides, i, j), input._offset, _TransposeBackward0, dim0=i, dim1=j
    )


@op()
def t(input: Tensor) -> Tensor:
    """A matrix transposed; tensors of fewer dimensions as they are. RuntimeError for more than two.

    Source: `torch.t`.
    """
    a = input._data
    if a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return as_view(input, a.shape[::-1], a.strides[::-1], input._offset, _TBackward0)


@op()
def permute(input: Tensor, *dims: Any) -> Tensor:
    """The dimensions in another order.

    Source: `torch.permute`.
    """
    a = input._data
    order = shape_argument(dims, "permute")
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
        dims=order,
    )  # fmt: skip


_ExpandBackward0 = node("ExpandBackward0", lambda grad, self_sym_sizes: grad.sum_to_size(self_sym_sizes))


@op(function=False)
def expand(self: Tensor, *size: Any) -> Tensor:
    """Dimensions of size 1 (and new leading ones) repeated with stride 0, without a copy; -1 keeps a size.

    Source: `torch.Tensor.expand`.
    """
    a = self._data
    want = shape_argument(size, "expand")
    lead = len(want) - a.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({tensor_name(self)}{{{list(a.shape)}}}, size={list(want)}): the number of sizes provided "
            f"({len(want)}) must be greater or equal to the number of dimensions in the tensor ({a.ndim})"
        )
    shape, strides = [], []
    for i, n in enumerate(want):
        have = a.shape[i - lead] if i >= lead else None
        if n == -1:
            if have is None:
                raise RuntimeError(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}"
                )
            n = have
        if have is None or (have == 1 and n != 1):
            shape.append(n)
            strides.append(0)
        elif have == n:
            shape.append(n)
            strides.append(a.strides[i - lead])
        else:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(want)}.  Tensor sizes: {list(a.shape)}"
            )
    return as_view(
        self, tuple(shape), tuple(strides), self._offset, _ExpandBackward0, self_sym_sizes=Size(a.shape)
    )


def tensor_name(t: Tensor) -> str:
    """The type as C++ messages say it: `torch.FloatTensor`."""
    from .core import tensor_type

    return tensor_type(t)


_AsStridedBackward0: Any = None


@op()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with any shape, strides and offset (in elements) that the storage holds. RuntimeError if it does not.

    Source: `torch.as_strided`.
    """
    from ..graph.history import AsStridedBackward0, Geometry

    a = input._data
    shape, steps = shape_argument((size,)), shape_argument((stride,))
    if len(shape) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape")  # noqa: F541
    if any(s < 0 for s in steps):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}"
        )
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
        input, shape, tuple(s * n for s in steps), min(offset * n, room), AsStridedBackward0,
        self_geometry=Geometry.of(input), size=Size(shape), stride=steps, storage_offset=storage_offset,
    )  # fmt: skip


def several_views(self: Tensor, views: list[Tensor], kind: type, **saved: Any) -> tuple[Tensor, ...]:
    """Views that come from one operation, as outputs of one node; they refuse in-place writes in grad mode."""
    for v in views:
        make_view(v, self, MULTI_OUTPUT if MODES.grad else None)
    if MODES.grad and needs_grad(self) and views:
        fn = node_for(kind, (self,), saved)
        fn.describe_all(tuple(views))  # type: ignore[attr-defined]
        for i, v in enumerate(views):
            set_history(v, fn, i)
    return tuple(views)


_UnbindBackward0 = node(
    "UnbindBackward0", lambda grads, dim: _stacked(grads, dim), base=MultiNode
)


def _stacked(grads: tuple, dim: int) -> Tensor:
    from .core import FUNCTIONS

    like = next(g for g in grads if g is not None)
    return FUNCTIONS["stack"]([like.new_zeros(like.shape) if g is None else g for g in grads], dim)


@op()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, as a tuple of views.

    Source: `torch.unbind`.
    """
    a = input._data
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    d = wrap_dim(dim, a.ndim)
    shape, strides = a.shape[:d] + a.shape[d + 1 :], a.strides[:d] + a.strides[d + 1 :]
    parts = [input._strided(shape, strides, input._offset + i * a.strides[d]) for i in range(a.shape[d])]
    return several_views(input, parts, _UnbindBackward0, dim=d)


_UnsqueezeBackward0 = node("UnsqueezeBackward0", lambda grad, dim: grad.squeeze(dim))


@op()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1.

    Source: `torch.unsqueeze`.
    """
    a = input._data
    d = wrap_dim(dim, a.ndim + 1)
    step = a.itemsize if d >= a.ndim else a.shape[d] * a.strides[d]
    shape = (*a.shape[:d], 1, *a.shape[d:])
    strides = (*a.strides[:d], step, *a.strides[d:])
    return as_view(input, shape, strides, input._offset, _UnsqueezeBackward0, dim=d)


def _unsqueezed(grad: Tensor, sizes: tuple, dims: tuple[int, ...]) -> Tensor:
    for d in dims:
        if sizes[d] == 1:
            grad = grad.unsqueeze(d)
    return grad


_SqueezeBackward0 = node(
    "SqueezeBackward0", lambda grad, self_sym_sizes: _unsqueezed(grad, self_sym_sizes, tuple(range(len(self_sym_sizes))))
)
_SqueezeBackward1 = node(
    "SqueezeBackward1", lambda grad, self_sym_sizes, dim: _unsqueezed(grad, self_sym_sizes, (dim,) if self_sym_sizes else ())
)
_SqueezeBackward2 = node(
    "SqueezeBackward2",
    lambda grad, self_sym_sizes, dim: _unsqueezed(grad, self_sym_sizes, tuple(sorted(dim)) if self_sym_sizes else ()),
)


@op()
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without the dimensions of size 1 (all, or those named).

    Source: `torch.squeeze`.
    """
    a = input._data
    if dim is None:
        dims, kind, saved = tuple(range(a.ndim)), _SqueezeBackward0, {}
    elif isinstance(dim, (tuple, list)):
        dims = tuple(wrap_dim(d, a.ndim) for d in dim)
        kind, saved = _SqueezeBackward2, {"dim": dims}
    else:
        dims = (wrap_dim(dim, a.ndim),)
        kind, saved = _SqueezeBackward1, {"dim": dims[0]}
    keep = [i for i in range(a.ndim) if not (i in dims and a.shape[i] == 1)]
    return as_view(
        input, tuple(a.shape[i] for i in keep), tuple(a.strides[i] for i in keep), input._offset, kind,
        self_sym_sizes=Size(a.shape), **saved,
    )  # fmt: skip
