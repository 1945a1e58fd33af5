"""Largest, smallest and middle elements: those reductions that choose an element, and say which.

Where torch chooses along a dimension the gradient goes to the chosen element; where it reduces everything, or by `amax`
and `amin`, the gradient is shared among equal elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, return_types
from ..graph.node import MultiNode, node
from ..tensor import Size, Tensor, wrap_dim
from .core import FUNCTIONS, op, quiet, record, recording, result, result_like, write_out
from .outputs import check_pair, check_same_dtype
from .pointwise import check_kernel
from .reductions import UNSET, given_dims, record_all, reduced, unset, wrap_dims
from .scalars import written_twice
from .selection import middle, most_common, nth

# gradients ------------------------------------------------------------------------------------------------------------


def selecting_backward(grad: Tensor, dim: int, indices: Tensor, sizes: tuple, keepdim: bool = True) -> Tensor:
    """Each gradient goes to the element that was chosen."""
    if not keepdim and sizes:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return written_twice(grad.new_zeros(sizes).scatter(dim, indices, grad))


def _shared(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    value = result._data
    mask = self.isnan() if value != value else self == result
    return grad.new_zeros(self.shape).masked_fill_(mask, grad / mask.sum())


def _restored(t: Tensor, dim: Any, keepdim: bool, sizes: tuple) -> Tensor:
    if keepdim:
        return t
    named = given_dims(dim) or ()
    ndim = t._data.ndim + len(named)
    dims, rest = wrap_dims(named, ndim) if named else (), iter(t._data.shape)
    return t.reshape(tuple(1 if d in dims else next(rest) for d in range(ndim)))


def _scaled(grad: Tensor, self: Tensor, result: Tensor, dim: Any, keepdim: bool) -> Tensor:
    grad, result = (_restored(t, dim, keepdim, self.shape) for t in (grad, result))
    mask = result == self
    return (grad / mask.sum(() if dim is None else dim, True)) * mask


def _kinds(name: str) -> tuple[type, type]:
    """The kinds of nodes of an operation along a dimension, and of all elements."""
    first = int(name in ("Median", "Nanmedian"))  # torch numbers the overloads in the order of its list

    def of_chosen(grad: Tensor, dim: int, indices: Tensor, self_sym_sizes: tuple, keepdim: bool) -> Tensor:
        return selecting_backward(grad, dim, indices, self_sym_sizes, keepdim)

    return node(f"{name}Backward{first}", of_chosen), node(f"{name}Backward{1 - first}", _shared)


def choose(
    input: Tensor, dim: int, values: np.ndarray, indices: np.ndarray, kind: type, pair: type, name: str,
    out: Any = None, layout: bool = False, **saved: Any,
) -> Any:  # fmt: skip
    """The pair of chosen values and their indices, recorded; with `layout` they keep their strides."""
    if out is not None:
        check_pair(name, out, input.dtype)
        return pair.out((write_out(out[0], values, name, input), write_out(out[1], indices, name)))
    made, where = (result_like(x, input) if layout else result(x, input._device) for x in (values, indices))
    if recording(input):
        record(made, kind, (input,), dim=dim, indices=where, self_sym_sizes=Size(input._data.shape), **saved)
    return pair((made, where))


def _not_empty(name: str, a: np.ndarray, d: int) -> None:
    if a.ndim and a.shape[wrap_dim(d, a.ndim)] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


# max and min ----------------------------------------------------------------------------------------------------------


def _extreme(name: str, ufunc: np.ufunc, arg: Any) -> None:
    """`max` or `min`: of everything, along a dimension, or of two tensors."""
    along, of_all = _kinds(name.title())
    pair = getattr(return_types, name)

    def function(input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
        if other is not None or isinstance(dim, Tensor):
            return FUNCTIONS[f"{name}imum"](input, dim if other is None else other, out=out)
        a = input._data
        if dim is UNSET:
            unset(keepdim)
            check_kernel(a, "bif", f"{name}_all")
            if not a.size:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                    "dim with the 'dim' argument."
                )
            data = np.asarray(ufunc.reduce(a, None))
            if out is not None:
                return write_out(out, data, name, input)
            made = result(data, input._device)
            return record(made, of_all, (input,), self=input) if recording(input) else made
        d = wrap_dim(dim, a.ndim)
        _not_empty(name, a, d)
        check_kernel(a, "bif", f"{name}_cpu")
        indices = np.asarray(arg(a, d, keepdims=True), np.int64) if a.ndim else np.zeros((), np.int64)
        values = np.take_along_axis(a, indices, d) if a.ndim else a.copy()
        if not keepdim and a.ndim:
            values, indices = values.squeeze(d), indices.squeeze(d)
        return choose(input, dim, values, indices, along, pair, name, out, keepdim=keepdim)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {name}imum of all elements, along a dimension (with indices), or of two tensors.\n\nSource: `torch.{name}`."
    op(name)(function)

    kind = node(f"A{name}Backward0", lambda grad, self, result, dim, keepdim: _scaled(grad, self, result, dim, keepdim))

    def along_dims(input: Tensor, dim: Any = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
        a = input._data
        if not a.size:
            if dim is None or dim == ():
                raise RuntimeError(
                    f"a{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                    "dim with the 'dim' argument."
                )
            for d in given_dims(dim) or ():
                _not_empty(f"a{name}", a, d)
        dims = wrap_dims(dim, a.ndim)
        check_kernel(a, "bif", f"{name}_values_cpu")
        data = np.asarray(ufunc.reduce(a, reduced(a, dims), keepdims=keepdim))
        if out is not None:
            return write_out(out, data, f"a{name}", input)
        made = result(data, input._device)
        if recording(input):
            record(made, kind, (input,), self=input, dim=given_dims(() if dim is None else dim), keepdim=keepdim)
        return made

    along_dims.__name__ = along_dims.__qualname__ = f"a{name}"
    along_dims.__doc__ = f"The {name}imum of all elements, or along dimensions; equal ones share the gradient.\n\nSource: `torch.a{name}`."
    op(f"a{name}")(along_dims)

    def where(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
        a = input._data
        if a.dtype.kind == "b":
            raise RuntimeError(f"arg{name}(): does not support bool input")
        d = None if dim is None else wrap_dim(dim, a.ndim)
        if dim is None and not a.size:
            raise IndexError(f"arg{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        if d is not None:
            _not_empty(f"arg{name}", a, d)
        check_kernel(a, "if", f"arg{name}_cpu")
        data = np.asarray(arg(a, d, keepdims=keepdim) if a.ndim else 0, np.int64)
        if out is not None:
            check_same_dtype(out, dtypes.int64)
            return write_out(out, data, f"arg{name}", input)
        return result(data, input._device)

    where.__name__ = where.__qualname__ = f"arg{name}"
    where.__doc__ = (
        f"The index of the {name}imum, of all elements or along a dimension; the first of equal ones.\n\n"
        f"Source: `torch.arg{name}`."
    )
    op(f"arg{name}")(where)


_extreme("max", np.maximum, np.argmax)
_extreme("min", np.minimum, np.argmin)


def _aminmax_backward(grads: tuple, self: Tensor, min: Tensor, max: Tensor, dim: Any, keepdim: bool) -> Tensor:
    parts = []
    for given, extreme in zip(grads, (min, max), strict=True):
        if given is not None:
            grad, value = (t if dim is None else _restored(t, dim, keepdim, self.shape) for t in (given, extreme))
            mask = value == self
            count = mask.sum() if dim is None else mask.sum(dim, True)
            parts.append((grad / count) * mask)
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


_AminmaxBackward0 = node("AminmaxBackward0", _aminmax_backward, base=MultiNode)


@op()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> Any:
    """The minimum and the maximum, of all elements or along a dimension.

    Source: `torch.aminmax`.
    """
    a = input._data
    d = None if dim is None else wrap_dim(dim, a.ndim)
    if d is not None and a.ndim and not a.shape[d]:
        raise IndexError(f"aminmax: Expected reduction dim {d} to have non-zero size.")
    if not a.size and d is None:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    check_kernel(a, "bif", "aminmax_cpu")
    data = [np.asarray(f.reduce(a, d if a.ndim else None, keepdims=keepdim)) for f in (np.minimum, np.maximum)]
    if out is not None:
        if len(out) != 2:
            raise TypeError(f"expected tuple of 2 elements but got {len(out)}")
        return return_types.aminmax.out(write_out(o, x, "aminmax", input) for o, x in zip(out, data, strict=True))
    made = tuple(result(x, input._device) for x in data)
    if recording(input):
        values = {"self": input, "dim": dim, "keepdim": keepdim}
        record_all(_AminmaxBackward0, input, made, ("min", "max"), values)
    return return_types.aminmax(made)


# median, mode, kthvalue -----------------------------------------------------------------------------------------------


def _median(name: str, nan_counts: bool, what: str) -> None:
    along, of_all = _kinds(name.title())
    pair = getattr(return_types, name)

    def function(input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, out: Any = None) -> Any:
        a = input._data
        if dim is UNSET:
            unset(keepdim)
            if a.size:
                check_kernel(a, "if", "median_cpu")
            value, _ = middle(a.reshape(-1), nan_counts) if a.size else (quiet.run(np.array(np.nan).astype, a.dtype), 0)
            made = result(np.asarray(value, a.dtype), input._device)
            return record(made, of_all, (input,), self=input) if recording(input) else made
        d = wrap_dim(dim, a.ndim)
        _not_empty("median", a, d)
        check_kernel(a, "if", "median_out")
        values, indices = _along(a, d, keepdim, lambda row: middle(row, nan_counts))
        return choose(input, dim, values, indices, along, pair, name, out, keepdim=keepdim)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nSource: `torch.{name}`."
    op(name)(function)


def _along(a: np.ndarray, d: int, keepdim: bool, pick: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pick one element from every row along a dimension: values and indices."""
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    rows = np.moveaxis(a, d, -1)
    values, indices = np.empty(rows.shape[:-1], a.dtype), np.empty(rows.shape[:-1], np.int64)
    for at in np.ndindex(*rows.shape[:-1]):
        values[at], indices[at] = pick(rows[at])
    return (np.expand_dims(values, d), np.expand_dims(indices, d)) if keepdim else (values, indices)


_median(
    "median",
    True,
    "The median of all elements, or along a dimension with its index: the lower of two; nan if there is one.",
)
_median("nanmedian", False, "The median of the elements that are numbers.")

_ModeBackward0, _KthvalueBackward0 = _kinds("Mode")[0], _kinds("Kthvalue")[0]


@op(strict=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent element along a dimension (the smallest of equally frequent ones), and where it stands last.

    Source: `torch.mode`.
    """
    a = input._data
    d = wrap_dim(dim, a.ndim)
    _not_empty("mode", a, d)
    check_kernel(a, "bif", "mode_cpu")
    values, indices = _along(a, d, keepdim, most_common)
    return choose(input, dim, values, indices, _ModeBackward0, return_types.mode, "mode", out, keepdim=keepdim)


@op()
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The k-th smallest element along a dimension, and its index. RuntimeError if there are fewer.

    Source: `torch.kthvalue`.
    """
    a = input._data
    d = wrap_dim(dim, a.ndim)
    _not_empty("kthvalue", a, d)
    if not 1 <= k <= (a.shape[d] if a.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    check_kernel(a, "if", "kthvalue_cpu")
    values, indices = _along(a, d, keepdim, lambda row: nth(row, k - 1))
    return choose(input, dim, values, indices, _KthvalueBackward0, return_types.kthvalue, "kthvalue", out,
                  keepdim=keepdim)  # fmt: skip
