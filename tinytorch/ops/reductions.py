"""Reductions by arithmetic and logic: sums, means, products, truth, counts.

The derivative formulas are torch's (`FunctionsManual.cpp`), in tensors, so that they can be differentiated again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph.history import needs_grad, set_history
from ..graph.modes import MODES
from ..graph.node import node
from ..graph.saved import SavedResult
from ..tensor import Size, Tensor, fresh, wrap_dim
from .arguments import ABSENT, called_as_method, in_full, unfit
from .core import FUNCTIONS, node_for, op, quiet, recording, result, write_out
from .outputs import check_same_dtype
from .pointwise import check_kernel
from .scalars import over, zeros
from .summing import add_reduce, multiply_reduce
from .viewing import as_view, viewed

_EVERY = [tuple(range(n)) for n in range(8)]


def wrap_dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce: all if none are named."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return _EVERY[ndim] if ndim < len(_EVERY) else tuple(range(ndim))
    dims = tuple([wrap_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))])
    if len(set(dims)) != len(dims):
        twice = next(d for d in dims if dims.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return dims


def given_dims(dim: Any) -> tuple[int, ...] | None:
    """The dimensions as the user gave them, the way nodes show them."""
    if dim is None:
        return None
    return tuple([int(d) for d in dim]) if isinstance(dim, (tuple, list)) else (int(dim),)


def restored(t: Tensor, dim: Any, keepdim: bool, sizes: tuple) -> Tensor:
    """A reduced tensor with its reduced dimensions back, as size 1."""
    if keepdim or not sizes or (dim is not None and given_dims(dim) == ()):
        return t
    dims = given_dims(dim) or ()
    for d in dims if len(dims) == 1 else sorted(wrap_dims(dim, len(sizes))):
        t = t.unsqueeze(d)
    return t


def spread(grad: Tensor, shape: tuple, dims: Any, keepdim: bool) -> Tensor:
    """The gradient of a sum: the same value for every element that was summed."""
    return (grad if dims is None else restored(grad, dims, keepdim, shape)).expand(shape)


UNSET: Any = object()


def unset(keepdim: Any) -> Any:
    """No dimension was named; `keepdim` may not be either."""
    if keepdim is not False:
        raise TypeError


def record_all(kind: type, input: Tensor, made: tuple[Tensor, ...], results: tuple[str, ...], values: dict) -> None:
    """Make several tensors the outputs of one node, which saves some of them under the names of `results`."""
    fn: Any = node_for(kind, (input,), values)
    saved = dict(zip(fn.saved_names, fn._saved, strict=True))
    for nr, name in enumerate(results):
        saved[name] = SavedResult(made[nr], nr)
    fn._saved = tuple(saved.values())
    fn.describe_all(made)
    for nr, t in enumerate(made):
        set_history(t, fn, nr)


def count(shape: tuple, dims: tuple[int, ...]) -> int:
    """How many elements go into one."""
    return math.prod([shape[d] for d in dims]) if shape else 1


def reduced(a: np.ndarray, dims: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes as NumPy takes them, which has none for an array without dimensions."""
    return dims if a.ndim else None


_NO_FLOAT = "{}(): could not infer output dtype. {} dtype must be either a floating point or complex dtype. Got: {}"

# sums and means -------------------------------------------------------------------------------------------------------


def _to_all(grad: Tensor, self_sym_sizes: tuple) -> Tensor:
    if grad._data.ndim or MODES.here.grad:
        return grad.expand(self_sym_sizes)
    return as_view(grad, self_sym_sizes, (0,) * len(self_sym_sizes), grad._offset, None)  # what `expand` comes to


_SumBackward0 = node("SumBackward0", _to_all)
_SumBackward1 = node(
    "SumBackward1", lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim)
)
_MeanBackward0 = node(
    "MeanBackward0", lambda grad, self_sym_sizes, self_sym_numel: over(grad.expand(self_sym_sizes), self_sym_numel)
)
_MeanBackward1 = node(
    "MeanBackward1",
    lambda grad, self_sym_sizes, dim, keepdim: over(
        spread(grad, self_sym_sizes, dim, keepdim), count(self_sym_sizes, wrap_dims(dim, len(self_sym_sizes)))
    ),
    also=("self_sym_numel",),
)
_NansumBackward0 = node(
    "NansumBackward0",
    lambda grad, self, dim, keepdim: spread(grad, self.shape, dim, keepdim) * self.isnan().logical_not(),
)


def _sum_dtype(t: Tensor, dtype: Any) -> np.dtype:
    if dtype is not None:
        if needs_grad(t) and not dtype.is_floating_point and MODES.here.grad:
            raise RuntimeError(f"Autograd not support dtype: {dtype.scalar_name}")
        return dtype.np
    return t._data.dtype if t._data.dtype.kind == "f" else np.dtype(np.int64)


def dtype_for(dtype: Any, out: Any) -> Any:
    """The dtype to add up or multiply in: what is asked for, else that of `out=`. RuntimeError if both are and differ."""
    if dtype is not None and isinstance(out, Tensor):
        check_same_dtype(out, dtype)
    return dtype if dtype is not None else getattr(out, "dtype", None)


def _add(a: np.ndarray, dims: tuple[int, ...], kind: np.dtype, keepdim: bool) -> np.ndarray:
    wide = np.float32 if kind == np.float16 else kind
    if a.dtype is kind and kind.kind == "f" and wide is kind:
        return MODES.here.run(add_reduce, a, dims, keepdim)
    data = quiet.run(np.add.reduce, a, reduced(a, dims), wide, None, keepdim)
    return data if wide is kind else quiet.run(np.asarray(data).astype, kind)


@op(guard=False)
def sum(input: Tensor = ABSENT, /, *dims: Any, **named: Any) -> Tensor:
    """The sum of all elements, or along dimensions; integers are summed as int64.

    Source: `torch.sum`.
    """
    if not (dims or named) and isinstance(input, Tensor) and input._data.dtype.char in "fd":
        here, a = MODES.here, input._data
        data = here.run(add_reduce, a, _EVERY[a.ndim] if a.ndim < len(_EVERY) else tuple(range(a.ndim)))
        made = fresh(data, input._device, here.inference)
        if here.grad and (input._requires_grad or needs_grad(input)):
            _SumBackward0.record(made, (input,), self_sym_sizes=a.shape)
        return made
    return in_full(_sum, "sum", (input, *dims), named, of_view=False)


def _sum(
    input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    a, whole = input._data, dim is UNSET
    if type(keepdim) is not bool:
        raise unfit("sum")
    if whole:
        dim = unset(keepdim)
        if out is not None:
            raise TypeError
    if out is not None:
        dtype = dtype_for(dtype, out)
    kind = a.dtype if dtype is None and a.dtype.kind == "f" else _sum_dtype(input, dtype)
    data = _add(a, wrap_dims(dim, a.ndim), kind, keepdim)
    if out is not None:
        return write_out(out, data, "sum", input)
    made = result(data, input._device)
    if MODES.here.grad and (input._requires_grad or needs_grad(input)):
        if whole:
            _SumBackward0.record(made, (input,), self_sym_sizes=a.shape)
        else:
            _SumBackward1.record(made, (input,), self_sym_sizes=Size(a.shape), dim=given_dims(dim), keepdim=keepdim)
    return made


@op()
def mean(
    input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """The mean of all elements, or along dimensions. RuntimeError for integers.

    Source: `torch.mean`.
    """
    a, whole = input._data, dim is UNSET
    if whole:
        dim = unset(keepdim)
    kind = a.dtype if dtype is None else dtype.np
    if kind.kind != "f":
        whose = "Input" if dtype is None else "Optional"
        raise RuntimeError(_NO_FLOAT.format("mean", whose, (dtype or input.dtype).scalar_name))
    dims = wrap_dims(dim, a.ndim)
    if out is not None and (wanted := dtype_for(dtype, out)) is not None:
        if dim is None and not wanted.is_floating_point:
            raise RuntimeError(
                f"mean.dtype_out(): input types can't be cast to the desired output type {wanted.scalar_name}"
            )
        kind = wanted.np if wanted.is_floating_point else kind
    wide = np.dtype(np.float32) if kind == np.float16 else kind
    data = quiet.run(np.divide, _add(a, dims, wide, keepdim), wide.type(count(a.shape, dims)))
    data = np.asarray(data).astype(kind, copy=False)
    if out is not None:
        return write_out(out, data, "mean", input)
    made = result(data, input._device)
    if MODES.here.grad and needs_grad(input):
        if whole:
            _MeanBackward0.record(made, (input,), self_sym_sizes=Size(a.shape), self_sym_numel=a.size)
        else:
            _MeanBackward1.record(made, (input,), self_sym_sizes=Size(a.shape), dim=given_dims(dim), keepdim=keepdim,
                   self_sym_numel=a.size)  # fmt: skip
    return made


def _numbers_of(a: np.ndarray) -> np.ndarray:
    """The array with zero for nan, in the same layout: the order of a sum's additions follows the strides."""
    if not a.size:
        return a
    room = int(np.dot(np.array(a.shape) - 1, a.strides)) + a.itemsize
    out = np.ndarray(a.shape, a.dtype, np.empty(room, np.uint8), 0, a.strides)
    out[...] = a
    out[a != a] = 0
    return out


@op()
def nansum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """The sum of the elements that are numbers.

    Source: `torch.nansum`.
    """
    a = input._data
    if a.dtype.kind != "f":
        return sum(input, dim, keepdim, dtype=dtype, out=out)
    if out is not None:
        if dtype is not None and dtype is not out.dtype:
            both = f"Got {out.dtype.scalar_name} and {dtype.scalar_name}."
            raise RuntimeError(f"nansum: provided dtype must match dtype of result. {both}")
        check_kernel(out._data, "f", "nansum_cpu")
        dtype = out.dtype
    data = _add(_numbers_of(a), wrap_dims(dim, a.ndim), _sum_dtype(input, dtype), keepdim)
    if out is not None:
        return write_out(out, data, "nansum", input)
    made = result(data, input._device)
    if recording(input):
        _NansumBackward0.record(made, (input,), self=input, dim=given_dims(dim), keepdim=keepdim)
    return made


@op()
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """The mean of the elements that are numbers. RuntimeError for integers.

    Source: `torch.nanmean`.
    """
    if input._data.dtype.kind != "f":
        if out is not None:
            raise RuntimeError(
                "nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors."
            )
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got " + input.dtype.scalar_name
        )
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(_NO_FLOAT.format("nanmean", "Optional", dtype.scalar_name))
    numbers = sum(input.detach().isnan().logical_not(), dim, keepdim)
    if out is not None:
        return nansum(input, dim, keepdim, dtype=dtype, out=out).div_(numbers)
    return nansum(input, dim, keepdim, dtype=dtype).div(numbers)


@op(function=False)
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed down to a shape that broadcasts to this one. RuntimeError if it does not.

    Source: `torch.Tensor.sum_to_size`.
    """
    from .views import shape_argument

    want, have = shape_argument(size), self._data.shape
    lead = len(have) - len(want)
    if lead < 0 or any(w not in (1, h) for w, h in zip(want, have[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(want)}}} is not expandable to size {{{list(have)}}}.")
    if not want:
        return sum(self)
    out, data = self, self._data
    dense = data.dtype.char in "fd" and data.flags.c_contiguous
    if lead == 1 and want == have[1:] and dense and not (MODES.here.grad and needs_grad(self)):
        summed = quiet.run(add_reduce, data, (0,), True)
        return viewed(fresh(summed, self._device), summed.reshape(want), 0, None, ())
    dims = tuple(range(lead)) + tuple(lead + i for i, w in enumerate(want) if w == 1 and have[lead + i] != 1)
    if dims:
        out = sum(out, dims, True)
    return out.view(want) if lead > 0 else out


# products -------------------------------------------------------------------------------------------------------------


def _safe_products(grad: Tensor, t: Tensor, dim: int) -> Tensor:
    """The gradient of a product with zeros in it: each element's is the product of all others."""
    n = t.shape[dim]
    if n == 0:
        return zeros(t)
    if n == 1:
        return grad
    ones = FUNCTIONS["ones_like"](t.narrow(dim, 0, 1))
    before = FUNCTIONS["cat"]((ones, t.narrow(dim, 0, n - 1)), dim).cumprod(dim)
    after = FUNCTIONS["cat"]((ones, t.narrow(dim, 1, n - 1).flip((dim,))), dim).cumprod(dim).flip((dim,))
    return grad * (before * after)


def _prod_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    self = self.to(grad.dtype)
    if not self._data.ndim:
        return grad
    if self._data.all():
        return grad * (result / self)
    if not MODES.here.grad and self._data.size - np.count_nonzero(self._data) > 1:
        return FUNCTIONS["zeros"](tuple(self.shape), dtype=self.dtype, device=self.device)  # rows in order, as in torch
    return _safe_products(grad, self.contiguous().view(-1), 0).view_as(self)


def _prod_dim_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Tensor:
    self = self.to(grad.dtype)
    if not self._data.ndim:
        return grad
    dim = wrap_dim(dim, self._data.ndim)
    if not keepdim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    return grad * (result / self) if self._data.all() else _safe_products(grad, self, dim)


_ProdBackward0 = node("ProdBackward0", lambda grad, self, result: _prod_backward(grad, self, result))
_ProdBackward1 = node("ProdBackward1", _prod_dim_backward)


@op()
def prod(
    input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """The product of all elements, or along a dimension; integers are multiplied as int64.

    Source: `torch.prod`.
    """
    a = input._data
    if dim is UNSET:
        dim = unset(keepdim)
        if out is not None:
            raise TypeError
    elif dim is None:
        raise TypeError
    kind = _sum_dtype(input, dtype if out is None else dtype_for(dtype, out))
    dims = tuple(range(a.ndim)) if dim is None else (wrap_dim(dim, a.ndim),)
    wide = np.float32 if kind == np.float16 else kind
    if a.dtype.kind == "f" and np.dtype(wide).kind == "f":
        data = quiet.run(lambda: multiply_reduce(a.astype(wide, copy=False), dims, keepdim).astype(kind))
    else:
        data = quiet.run(lambda: np.asarray(np.multiply.reduce(a, reduced(a, dims), wide, None, keepdim)).astype(kind))
    if out is not None:
        return write_out(out, data, "prod", input)
    made = result(data, input._device)
    if recording(input):
        if dim is None:
            _ProdBackward0.record(made, (input,), self=input)
        else:
            _ProdBackward1.record(made, (input,), self=input, dim=int(dim), keepdim=keepdim)
    return made


# truth and counts -----------------------------------------------------------------------------------------------------


def _truth(name: str, ufunc: np.ufunc, what: str) -> None:
    def function(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
        a = input._data
        dims = () if isinstance(dim, (tuple, list)) and not dim else wrap_dims(dim, a.ndim)
        data = quiet.run(ufunc.reduce, a, reduced(a, dims), np.bool_, None, keepdim)  # type: ignore[call-arg]
        data = np.asarray(data).astype(np.uint8 if a.dtype == np.uint8 else np.bool_)
        return write_out(out, data, name, input) if out is not None else result(data, input._device)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nSource: `torch.{name}`."
    op(name)(function)


_truth("all", np.logical_and, "Whether all elements are nonzero, or all along dimensions.")
_truth("any", np.logical_or, "Whether some element is nonzero, or some along dimensions.")


@op()
def count_nonzero(input: Tensor, dim: Any = None, *more: int) -> Tensor:
    """How many elements are nonzero, in all or along dimensions.

    Source: `torch.count_nonzero`.
    """
    a = input._data
    if more:
        if not called_as_method():
            raise unfit("count_nonzero")
        dim = (dim, *more)
    check_kernel(a, "bif", "nonzero_count_cpu")
    dims = wrap_dims(dim, a.ndim)
    return result(np.asarray(np.add.reduce(a != 0, reduced(a, dims), np.int64)), input._device)
