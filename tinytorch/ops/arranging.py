"""The same elements elsewhere or more than once: repeat, tile, flip, roll, rot90, tril and triu; and cross products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node
from ..tensor import Size, Tensor, wrap_dim
from ..warn import warn_in_torch
from .arguments import called_as_method, unfit
from .copying import contiguous_format
from .core import (  # fmt: skip
    FUNCTIONS,
    broadcast_error,
    check_overlap,
    op,
    quiet,
    record,
    recording,
    result,
    result_dtype,
    result_like,
    write_in_place,
    write_out,
)
from .pointwise import check_kernel
from .reductions import wrap_dims
from .views import shape_argument

# repeated -------------------------------------------------------------------------------------------------------------


def _repeat_backward(grad: Tensor, repeats: tuple, self_sym_sizes: tuple) -> Tensor:
    if 0 in repeats:
        return grad.new_zeros(self_sym_sizes)
    lead = grad._data.ndim - len(self_sym_sizes)
    for _ in range(lead):
        grad = grad.sum(0, False)
    shape: list[int] = []
    dims: list[int] = []
    for times, n in zip(repeats[lead:], self_sym_sizes, strict=True):
        if times != 1:
            dims.append(len(shape))
            shape.append(times)
        shape.append(n)
    return grad.reshape(shape).sum(dims) if dims else grad


_RepeatBackward0 = node("RepeatBackward0", _repeat_backward)


@op(function=False)
def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """The tensor copied so many times along each dimension. RuntimeError for fewer numbers than dimensions.

    Source: `torch.Tensor.repeat`.
    """
    if not repeats:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    times, a = shape_argument(repeats, "repeat"), self._data
    if len(times) < a.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(times) - a.ndim) + a.shape
    sizes = [t * n for t, n in zip(times, shape, strict=True)]
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {next(s for s in sizes if s < 0)}: {sizes}"
        )
    made = result(np.tile(a.reshape(shape), times) if 0 not in sizes else np.empty(sizes, a.dtype), self._device)
    if recording(self):
        record(made, _RepeatBackward0, (self,), repeats=times, self_sym_sizes=Size(a.shape))
    return made


@op(strict=True)
def tile(input: Tensor, *dims: Any) -> Tensor:
    """The tensor copied so many times; missing numbers count as 1.

    Source: `torch.tile`.
    """
    times = shape_argument(dims, "tile")
    return repeat(input, (1,) * (input._data.ndim - len(times)) + times)


def _check_counted(counts: Tensor) -> None:
    if counts._data.dtype.kind == "f":
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{counts.dtype.scalar_name}'")
    if (counts._data < 0).any():
        raise RuntimeError("repeats can not be negative")


def _repeated(n: int, counts: np.ndarray, output_size: int | None) -> np.ndarray:
    found = np.repeat(np.arange(n), counts)
    if output_size is not None and output_size != found.size:
        raise RuntimeError("allocated size does not match required size")
    return found


@op()
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Every element repeated in its place; how often each, may be said by a tensor. Without `dim`, of all elements.

    RuntimeError for negative numbers. Source: `torch.repeat_interleave`.
    """
    counted = input if repeats is None else repeats
    if repeats is None:  # the numbers alone: the indices they stand for
        _check_counted(counted)
        if input._data.dtype.itemsize < 4:
            raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{input.dtype.scalar_name}'")
        if input._data.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        found = _repeated(input._data.size, input._data, output_size)
        return result(found.astype(input._data.dtype), input._device)
    if not isinstance(repeats, Tensor) and not hasattr(repeats, "__index__"):
        raise unfit("repeat_interleave")
    t = input.flatten() if dim is None else input
    if not t._data.ndim and isinstance(repeats, Tensor):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(0 if dim is None else dim, t._data.ndim)
    n = t.shape[d] if t._data.ndim else 1
    if not isinstance(repeats, Tensor):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        shape = list(t.shape)
        wide = t.unsqueeze(d + 1).expand([*shape[: d + 1], int(repeats), *shape[d + 1 :]])
        return wide.clone(memory_format=contiguous_format).flatten(d, d + 1)
    if not t._data.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    counts = repeats._data
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size not in (1, n):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size({d}) = {n}"
        )
    _check_counted(counted)
    index = _repeated(n, np.broadcast_to(counts.reshape(-1), (n,)), output_size)
    return t.index_select(d, result(index, input._device))


# turned ---------------------------------------------------------------------------------------------------------------

_FlipBackward0 = node("FlipBackward0", lambda grad, dims: grad.flip(dims))


@op()
def flip(input: Tensor, *dims: Any) -> Tensor:
    """The elements in reverse along dimensions, copied.

    Source: `torch.flip`.
    """
    if not dims or isinstance(dims[0], str) or (isinstance(dims[0], int) and not called_as_method()):
        raise unfit("flip")
    given = shape_argument(dims, "flip")
    a = input._data
    at = wrap_dims(given, a.ndim) if given else ()
    check_kernel(a, "bif", "flip_cpu")
    if a.dtype == bool:
        a = a.view(np.uint8) != 0  # memory read as bools may hold any byte
    made = result_like(np.flip(a, at).copy("K") if a.ndim else a.copy(), input)
    return record(made, _FlipBackward0, (input,), dims=given) if recording(input) else made


@op()
def fliplr(input: Tensor) -> Tensor:
    """The columns in reverse. RuntimeError for fewer than two dimensions.

    Source: `torch.fliplr`.
    """
    if input._data.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, (1,))


@op()
def flipud(input: Tensor) -> Tensor:
    """The rows in reverse. RuntimeError for a 0-d tensor.

    Source: `torch.flipud`.
    """
    if input._data.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, (0,))


Tensor.__reversed__ = lambda self: flip(self, (0,)) if self._data.ndim else self  # type: ignore[attr-defined]

_RollBackward0 = node(
    "RollBackward0", lambda grad, shifts, dims: grad.roll(tuple(-s for s in reversed(shifts)), tuple(reversed(dims)))
)


@op()
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """The elements moved along dimensions, those pushed out coming in at the other end; without dims, all in a row.

    RuntimeError unless there is a shift for each dimension. Source: `torch.roll`.
    """
    by = shape_argument((shifts,) if not isinstance(shifts, (tuple, list)) else (tuple(shifts),), "roll")
    dims = () if dims is None else dims
    along = shape_argument((dims,) if not isinstance(dims, (tuple, list)) else (tuple(dims),), "roll")
    a = input._data
    if not by:
        raise RuntimeError("`shifts` required")
    if len(by) != len(along) and not (len(by) == 1 and not along):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(along)}")
    if along and not a.ndim:
        raise IndexError(f"Dimension specified as {along[0]} but tensor has no dimensions")
    at = tuple(wrap_dim(d, a.ndim) for d in along) if a.size else (0,) * len(along)
    data = np.roll(a, by, at) if along and a.ndim else np.roll(a, by[0])
    made = result(np.asarray(data, order="C"), input._device) if a.size else result_like(a, input)
    return record(made, _RollBackward0, (input,), shifts=by, dims=along) if recording(input) else made


_Rot90Backward0 = node("Rot90Backward0", lambda grad, k, dims: grad.rot90(-k, dims))


@op(strict=True)
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Turned k times by 90 degrees in the plane of two dimensions.

    RuntimeError unless the dimensions are two and different. Source: `torch.rot90`.
    """
    a, given = input._data, tuple(dims)
    if len(given) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(given)}")
    if a.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {a.ndim}")
    at = tuple(wrap_dim(d, a.ndim) for d in given)
    if at[0] == at[1]:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {given[0]} and dim1 = {given[1]}")
    turned = input.detach()
    k_ = k % 4
    if k_ == 1:
        made = flip(turned, (at[1],)).transpose_(*at)
    elif k_ == 2:
        made = flip(turned, at)
    elif k_ == 3:
        made = flip(turned, (at[0],)).transpose_(*at)
    else:
        made = turned.clone(memory_format=contiguous_format)
    made._counter = None  # it was turned before anyone saw it
    return record(made, _Rot90Backward0, (input,), k=k, dims=given) if recording(input) else made


def _one_after_another(t: Tensor) -> bool:
    """Whether the matrices of a batch follow each other in memory."""
    step = t.shape[-1] * t.shape[-2]
    for d in range(t.dim() - 3, -1, -1):
        if d or (t.stride(0) and t.shape[0] != 1):
            if t.stride(d) != step:
                return False
            step *= t.shape[d]
    return True


def _triangle(name: str, keep: Any, what: str) -> None:
    """`tril` and `triu`."""
    kind = node(f"{name.title()}Backward0", lambda grad, diagonal: FUNCTIONS[name](grad, diagonal))

    def compute(a: np.ndarray, diagonal: int) -> np.ndarray:
        if not hasattr(diagonal, "__index__"):
            raise unfit(name)
        if a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        check_kernel(a, "bif", name)
        return np.asarray(keep(a, diagonal))

    def function(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
        data = compute(input._data, diagonal)
        if out is not None:
            return write_out(out, data, name, input)
        made = result(np.asarray(data, order="C"), input._device)
        return record(made, kind, (input,), diagonal=diagonal) if recording(input) else made

    def in_place(self: Tensor, diagonal: int = 0) -> Tensor:
        if self._data.ndim > 3 and not _one_after_another(self):
            check_overlap(self)  # else the kernel takes the matrices as they lie
        return write_in_place(self, (self,), kind, {"diagonal": diagonal}, lambda: compute(self._data, diagonal))

    for f, n in ((function, name), (in_place, f"{name}_")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}{' In place.' if n != name else ''}\n\nSource: `torch.{name}`."
        op(n, function=n == name)(f)


_triangle("tril", np.tril, "The part on and below a diagonal, zero elsewhere.")
_triangle("triu", np.triu, "The part on and above a diagonal, zero elsewhere.")

# the cross product ----------------------------------------------------------------------------------------------------

_LinalgCrossBackward0 = node(
    "LinalgCrossBackward0", lambda grad, other, dim: linalg_cross(other, grad, dim=dim),
    lambda grad, self, dim: linalg_cross(grad, self, dim=dim),
)  # fmt: skip


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three along a dimension. RuntimeError for other lengths.

    Source: `torch.linalg.cross`.
    """
    n, m = input._data.ndim, other._data.ndim
    if n != m:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if not n:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim, n)
    if input.shape[d] != 3 or other.shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[d]} and {other.shape[d]}"
        )
    kind = result_dtype(input, other).np
    check_kernel(np.empty(0, kind), "if", "cross")
    try:
        shape = np.broadcast_shapes(input._data.shape, other._data.shape)
    except ValueError:
        raise broadcast_error(input._data.shape, other._data.shape) from None
    a, b = (np.moveaxis(np.broadcast_to(t._data, shape), d, 0).astype(kind) for t in (input, other))
    rows = quiet.run(lambda: [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)])
    data = np.moveaxis(np.stack(rows), 0, d)
    if out is not None:
        return write_out(out, data, "linalg_cross", input, other)
    made = result(data, input._device)
    if recording(input, other):
        record(made, _LinalgCrossBackward0, (input, other), self=input, other=other, dim=dim)
    return made


@op(strict=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three; without `dim` along the first dimension of size 3, which warns.

    Source: `torch.cross`.
    """
    if dim is None:
        warn_in_torch(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
            "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in "
            "a future release.", "aten/src/ATen/native/Cross.cpp:63", once=True,
        )  # fmt: skip
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim, out=out)
