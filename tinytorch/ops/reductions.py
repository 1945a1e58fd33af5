"""Reductions: many elements to few."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Size, Tensor, wrap_dim
from .core import op, quiet, record, result, write_out


def wrap_dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce: all if none are named."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    dims = tuple(wrap_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))
    if len(set(dims)) != len(dims):
        twice = next(d for d in dims if dims.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return dims


def spread(grad: Tensor, shape: tuple, dims: tuple, keepdim: bool) -> Tensor:
    """The gradient of a sum: the same value for every element that was summed."""
    if not keepdim and shape:
        for d in sorted(wrap_dims(dims, len(shape))):
            grad = grad.unsqueeze(d)
    return grad.expand(shape)


_SumBackward0 = node("SumBackward0", lambda grad, self_sym_sizes: grad.expand(self_sym_sizes))
_SumBackward1 = node("SumBackward1", lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim))
_MeanBackward0 = node(
    "MeanBackward0", lambda grad, self_sym_sizes, self_sym_numel: grad.expand(self_sym_sizes) / self_sym_numel
)


def _mean_backward(grad: Tensor, sizes: tuple, dim: tuple, keepdim: bool) -> Tensor:
    n = 1
    for d in wrap_dims(dim, len(sizes)):
        n *= sizes[d] if sizes else 1
    return spread(grad, sizes, dim, keepdim) / n


_MeanBackward1 = node(
    "MeanBackward1", lambda grad, self_sym_sizes, dim, keepdim: _mean_backward(grad, self_sym_sizes, dim, keepdim)
)


def _sum_kind(t: Tensor, dtype: Any) -> np.dtype:
    if dtype is not None:
        return dtype.np
    return t._data.dtype if t._data.dtype.kind == "f" else np.dtype(np.int64)


@op()
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum of all elements, or along dimensions; integers are summed as int64.

    Source: `torch.sum`.
    """
    a = input._data
    kind = _sum_kind(input, dtype)
    dims = wrap_dims(dim, a.ndim)
    acc = np.float32 if kind == np.float16 else kind
    data = quiet.run(np.add.reduce, a, dims if a.ndim else None, acc, None, keepdim)
    if acc != kind:
        data = data.astype(kind)
    if out is not None:
        return write_out(out, np.asarray(data), "sum", input)
    made = result(data, input._device)
    if MODES.grad and needs_grad(input) and kind.kind == "f":
        source = input if dtype is None or dtype is input.dtype else input.to(dtype)
        if dim is None:
            record(made, _SumBackward0, (source,), self_sym_sizes=Size(a.shape))
        else:
            given = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
            record(made, _SumBackward1, (source,), self_sym_sizes=Size(a.shape), dim=given, keepdim=keepdim)
    return made


@op()
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The mean of all elements, or along dimensions. RuntimeError for integers.

    Source: `torch.mean`.
    """
    source = input if dtype is None else input.to(dtype)
    a = source._data
    if a.dtype.kind != "f":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype.scalar_name}"
        )
    dims = wrap_dims(dim, a.ndim)
    n = 1
    for d in dims:
        n *= a.shape[d] if a.ndim else 1
    acc = np.float32 if a.dtype == np.float16 else a.dtype
    data = np.asarray(quiet.run(np.add.reduce, a, dims if a.ndim else None, acc, None, keepdim))
    data = quiet.run(np.divide, data, data.dtype.type(n))
    data = np.asarray(data).astype(a.dtype, copy=False)
    if out is not None:
        return write_out(out, data, "mean", input)
    made = result(data, input._device)
    if MODES.grad and needs_grad(source):
        if dim is None:
            record(made, _MeanBackward0, (source,), self_sym_sizes=Size(a.shape), self_sym_numel=a.size)
        else:
            given = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
            record(made, _MeanBackward1, (source,), self_sym_sizes=Size(a.shape), dim=given, keepdim=keepdim)
    return made


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
    out = self
    dims = tuple(range(lead)) + tuple(lead + i for i, w in enumerate(want) if w == 1 and have[lead + i] != 1)
    if dims:
        out = sum(out, dims, True)
    return out.view(want) if lead > 0 else out


__all__ = ["dtypes", "mean", "spread", "sum", "sum_to_size", "wrap_dims"]
