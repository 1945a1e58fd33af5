"""Tensors put together: cat, stack and their kin, grids and products of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..devices import CPU as _CPU
from ..graph.node import node
from ..tensor import Size, Tensor, fresh, wrap_dim
from ..warn import warn_in_torch
from .arguments import unfit
from .copying import channels_last_strides, contiguous_format, suggested
from .core import (
    broadcast_error,
    common_device,
    op,
    quiet,
    record,
    recording,
    result,
    write_out,
)  # fmt: skip
from .layouts import laid_out
from .pointwise import read_histories
from .rejected import all_tensors
from .views import _UnsafeViewBackward0, view_strides

_WHERE = "aten/src/ATen/native/TensorShape.cpp:4215"


def _tensors(name: str, tensors: Any) -> tuple[Tensor, ...]:
    if not isinstance(tensors, (tuple, list)):
        raise unfit(name)
    if not all(isinstance(t, Tensor) for t in tensors):
        raise unfit(name)
    return tuple(tensors)


def _common(tensors: tuple[Tensor, ...]) -> dtypes.dtype:
    first = tensors[0].dtype
    if all(t.dtype is first for t in tensors):
        return first
    from .core import result_dtype

    return result_dtype(*tensors)


def _legacy_empty(t: Tensor) -> bool:
    return t._data.shape == (0,)


def _cat_backward(grad: Tensor, dim: int, _shapes: tuple) -> tuple:
    at, parts, dim = 0, [], wrap_dim(dim, grad._data.ndim)
    for shape in _shapes:
        if shape == (0,):
            parts.append(grad.new_zeros(0))
            parts[-1]._vc.version = 1  # torch zeroes it in place, which counts here
            continue
        n = shape[dim]
        parts.append(grad.narrow(dim, at, n))
        at += n
    return tuple(parts)


_CatBackward0 = node("CatBackward0", _cat_backward, spread=True)
_StackBackward0 = node(
    "StackBackward0", lambda grad, dim, _shapes: tuple(grad.select(dim, i) for i in range(len(_shapes))), spread=True
)


def _concatenated(arrays: list[np.ndarray], d: int, alike: bool = True) -> np.ndarray:
    """The arrays one after the other, row-major; torch joins channels-last tensors into one, if all are `alike`."""
    data = np.concatenate(arrays, d)
    if (
        alike
        and data.ndim in (4, 5)
        and len({(last := suggested(a)) for a in arrays}) == 1
        and last is not contiguous_format
    ):
        steps = channels_last_strides(data.shape, last, data.itemsize)
        return laid_out(data, tuple([s // data.itemsize for s in steps]))
    return np.ascontiguousarray(data)


@op("cat", "concat", "concatenate", method=False)
def cat(tensors: Any, dim: int = 0, *, out: Tensor | None = None, axis: int | None = None) -> Tensor:
    """Tensors one after the other along a dimension, in the dtype in which they meet.

    RuntimeError unless all other sizes are equal. Source: `torch.cat`.
    """
    dim = dim if axis is None else axis
    parts = _tensors("cat", tensors)
    if not parts:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(parts):
        if not t._data.ndim:
            read_histories(*parts)
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    used = [t for t in parts if not _legacy_empty(t)] or [parts[0]]
    first = used[0]._data
    d = 0 if _legacy_empty(used[0]) else wrap_dim(dim, first.ndim)
    for i, t in enumerate(parts):
        a = t._data
        if _legacy_empty(t):
            continue
        if a.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}")
        for k in range(a.ndim):
            if k != d and a.shape[k] != first.shape[k]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size {first.shape[k]} but got size "
                    f"{a.shape[k]} for tensor number {i} in the list."
                )
    kind = _common(parts)
    data = quiet.run(
        lambda: _concatenated([t._data.astype(kind.np, copy=False) for t in used], d, len(used) == len(parts))
    )
    if out is not None:
        return write_out(out, data, "cat", *parts)
    made = fresh(data, common_device("cat", *parts))
    if recording(*parts):
        _joined(made, _CatBackward0, parts, dim=int(dim))
    return made


def _joined(made: Tensor, kind: type, parts: tuple[Tensor, ...], **saved: Any) -> None:
    record(made, kind, parts, _shapes=tuple(t._data.shape for t in parts), **saved)


@op(method=False)
def stack(tensors: Any, dim: int = 0, *, out: Tensor | None = None, axis: int | None = None) -> Tensor:
    """Tensors of one shape along a new dimension. RuntimeError for different shapes.

    Source: `torch.stack`.
    """
    dim = dim if axis is None else axis
    parts = _tensors("stack", tensors)
    if not parts:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = parts[0]._data
    d = wrap_dim(dim, first.ndim + 1)
    for i, t in enumerate(parts):
        if t._data.shape != first.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and "
                f"{list(t._data.shape)} at entry {i}"
            )
    kind = _common(parts)
    arrays = quiet.run(lambda: [t._data.astype(kind.np, copy=False) for t in parts])
    if d < first.ndim:  # torch joins along the next dimension, which it splits then
        data = _concatenated(arrays, d).reshape(*first.shape[:d], len(parts), *first.shape[d:])
    else:
        data = np.ascontiguousarray(np.stack(arrays, d))
    if out is not None:
        return write_out(out, data, "stack", *parts)
    made = fresh(data, common_device("stack", *parts))
    if recording(*parts):
        _joined(made, _StackBackward0, parts, dim=int(dim))
    return made


def _at_least(n: int, t: Tensor) -> Tensor:
    """The tensor with at least n dimensions, as torch adds them for `vstack` and `dstack`."""
    k = t._data.ndim
    if k == 0:
        return t.reshape((1,) * n)
    if n >= 2 and k == 1:
        t, k = t.unsqueeze(0), 2
    if n >= 3 and k == 2:
        t = t.unsqueeze(-1)
    return t


def _stacking(name: str, n: int, dim: int, what: str, *aliases: str) -> None:
    def function(tensors: Any, *, out: Tensor | None = None) -> Tensor:
        parts = _tensors(name, tensors)
        if not parts:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        d = 0 if name == "hstack" and parts[0]._data.ndim <= 1 else dim
        return cat([_at_least(n, t) for t in parts], d, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nSource: `torch.{name}`."
    op(name, *aliases, method=False)(function)


_stacking("hstack", 1, 1, "Tensors side by side: along dimension 1, vectors along 0.")
_stacking("vstack", 2, 0, "Tensors one below the other, vectors as rows.", "row_stack")
_stacking("dstack", 3, 2, "Tensors one behind the other, along dimension 2.")


@op(method=False)
def column_stack(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """Vectors as the columns of a matrix, matrices side by side.

    Source: `torch.column_stack`.
    """
    parts = _tensors("column_stack", tensors)
    if not parts:
        raise RuntimeError("column_stack expects a non-empty TensorList")
    return cat([t.reshape(t._data.size, 1) if t._data.ndim <= 1 else t for t in parts], 1, out=out)


# grids and products ---------------------------------------------------------------------------------------------------


@op(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Every tensor expanded to the shape in which all meet (those that have it already are returned themselves).

    Source: `torch.broadcast_tensors`.
    """
    tensors = all_tensors(tensors)
    shape: tuple[int, ...] = ()
    for t in tensors:
        try:
            shape = np.broadcast_shapes(shape, t._data.shape)
        except ValueError:
            raise broadcast_error(shape, t._data.shape) from None
    return tuple(t if t._data.shape == shape else t.expand(shape) for t in tensors)


@op(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape in which shapes meet.

    Source: `torch.broadcast_shapes`.
    """
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
                    f"Attempting to broadcast a dimension of length {s[i]} at {i}! Mismatching argument at index {at} "
                    f"had {s if isinstance(given, int) else given}; but expected shape should be broadcastable to "
                    f"{shape}"
                )
            if s[i] != 1:
                shape[i] = s[i]
    return Size(shape)


def _as_cpp_prints(t: Tensor) -> str:
    """A matrix as torch's C++ prints it, which some of its errors do; of more dimensions, the last line alone."""
    kind = "CPUBoolType" if t.dtype is dtypes.bool_ else f"torch.{t.dtype.tensor_type}"
    end = f"[ {kind}{{{','.join(map(str, t.shape))}}} ]"
    if t._data.ndim != 2 or not t._data.size:
        return end
    a = t._data.astype(np.float64)
    large = np.abs(a[np.isfinite(a)])
    exponents = np.floor(np.log10(large, out=np.zeros_like(large), where=large > 0)).astype(int) + 1
    most, least = (int(exponents.max()), int(exponents.min())) if exponents.size else (1, 1)
    if (large == np.ceil(large)).all():
        wide, show = (11, "{:.4e}") if most > 9 else (most + 1, "{:.0f}")
    else:
        wide, show = (11, "{:.4e}") if most - least > 4 else (most + 6, "{:.4f}")
    rows = [" ".join(show.format(x).rjust(max(wide, 3 if np.isnan(a).any() else 0)) for x in row) for row in a.tolist()]
    return "\n".join([*rows, end])


@op(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid, a tensor for each axis, as expanded views.

    Warns without `indexing`. RuntimeError for tensors of more dimensions or several dtypes. Source: `torch.meshgrid`.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    tensors = all_tensors(tensors)
    if indexing is None:
        warn_in_torch(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            _WHERE,
            once=True,
        )
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    for t in tensors:
        if t._data.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {_as_cpp_prints(t)}"
            )
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) >= 2
    order = [tensors[1], tensors[0], *tensors[2:]] if swap else list(tensors)
    shape = [t._data.size for t in order]
    grids = []
    for i, t in enumerate(order):
        own = [1] * len(order)
        own[i] = -1
        grids.append(t.view(own).expand(shape))
    return (grids[1], grids[0], *grids[2:]) if swap else tuple(grids)


@op(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of the elements of vectors, one a row.

    Source: `torch.cartesian_prod`.
    """
    for t in all_tensors(tensors):
        if t._data.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return stack([g.flatten() for g in grids], 1)


@op(method=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector, one a row. RuntimeError for other dimensions.

    Source: `torch.combinations`.
    """
    if input._data.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_zeros(0)
    n = input._data.size
    places = np.indices((n,) * r)
    chosen = np.ones((n,) * r, bool)
    for i in range(r - 1):
        chosen &= places[i] <= places[i + 1] if with_replacement else places[i] < places[i + 1]
    mask = result(chosen, input._device)
    return stack([g.masked_select(mask) for g in meshgrid(*[input] * r, indexing="ij")], 1)


@op(method=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, one a row, from the highest down unless `increasing`.

    RuntimeError for other dimensions. Source: `torch.vander`.
    """
    if x._data.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x._data.size if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    whole = x._data.dtype.kind != "f"
    made = x.new_empty((x._data.size, n), dtype=dtypes.int64 if whole else x.dtype)
    if n > 0:
        made.select(1, 0).fill_(1)
    if n > 1:
        made[:, 1:].copy_(x.unsqueeze(1))
        made[:, 1:].copy_(made[:, 1:].cumprod(1))
    return made if increasing else made.flip((1,))


@op(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """Matrices along the diagonal of a larger one, zero elsewhere.

    Source: `torch.block_diag`.
    """
    for i, t in enumerate(all_tensors(tensors)):
        if t._data.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {t._data.ndim} dimensions"
            )
    if not tensors:
        return result(np.zeros((1, 0), dtypes.get_default_dtype().np), _CPU)
    parts = [
        t.expand(1, 1) if not t._data.ndim else t.expand(1, t._data.size) if t._data.ndim == 1 else t for t in tensors
    ]
    rows, columns = (sum(p.shape[k] for p in parts) for k in (0, 1))
    out = np.zeros((rows, columns), _common(tuple(parts)).np)
    r = c = 0
    for p in parts:
        h, w = p.shape
        out[r : r + h, c : c + w] = p._data
        r, c = r + h, c + w
    made = result(out, parts[0]._device)
    if recording(*tensors):
        _joined(made, _BlockDiagBackward0, tuple(tensors))
    return made


def _block_diag_backward(grad: Tensor, _shapes: tuple) -> tuple:
    r = c = 0
    parts = []
    for shape in _shapes:
        h, w = (1, 1) if not shape else (1, shape[0]) if len(shape) == 1 else shape
        part = grad.narrow(0, r, h).narrow(1, c, w)
        parts.append(part if shape else part.squeeze(-1).squeeze(-1))
        r, c = r + h, c + w
    return tuple(parts)


_BlockDiagBackward0 = node("BlockDiagBackward0", _block_diag_backward, spread=True)


def _unsafe_view(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same memory in another shape, recorded as a result of its own and not as a view."""
    a = t._data
    strides = view_strides(a.shape, a.strides, a.itemsize, shape)
    if strides is None:
        return t.view(shape)  # raises torch's error
    made = t._strided(shape, strides, t._offset)
    return record(made, _UnsafeViewBackward0, (t,), self_sym_sizes=Size(a.shape)) if recording(t) else made


@op()
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: every element of one times all of the other.

    Source: `torch.kron`.
    """
    n = max(input._data.ndim, other._data.ndim)
    a, b = ((1,) * (n - t._data.ndim) + tuple(t.shape) for t in (input, other))
    one = _unsafe_view(input, tuple(k for s in a for k in (s, 1)))
    two = _unsafe_view(other, tuple(k for s in b for k in (1, s)))
    made = _unsafe_view(one * two, tuple(x * y for x, y in zip(a, b, strict=True)))
    return made if out is None else write_out(out, made._data, "mul", input, other)
