"""Variances, standard deviations, norms and logsumexp.

The derivative formulas are torch's (`FunctionsManual.cpp`), in tensors, so that they can be differentiated again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..graph.node import MultiNode, node
from ..tensor import Tensor
from ..warn import warn_in_torch
from .core import FUNCTIONS, op, quiet, record, recording, result, write_out
from .norm_kernel import norm
from .pointwise import read_histories, through_double
from .reductions import count, given_dims, record_all, reduced, restored, spread, wrap_dims
from .scalars import over, times
from .summing import add_reduce

# variances ------------------------------------------------------------------------------------------------------------

_FEW = ("{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
        "divided by output numel).")  # fmt: skip


def _var_backward(grad: Tensor, self: Tensor, dim: Any, correction: Any, keepdim: bool) -> Tensor:
    correction = 1 if correction is None else correction
    shape = self._data.shape
    if not shape or dim is None:
        n = self._data.size - correction
        if n <= 0:
            undefined, infinite = (FUNCTIONS["tensor"](x) for x in (math.nan, math.inf))
            return grad * FUNCTIONS["where"](self == self.mean(), undefined, infinite)
        return times(grad, 2 / n) * (self - self.mean())
    n = (count(shape, wrap_dims(dim, len(shape))) if given_dims(dim) else 1) - correction
    grad = restored(grad, dim, keepdim or len(shape) == 1, shape)
    return times(grad, 2 / n if n else math.inf) * (self - self.mean(dim, True))


def _std_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Any, correction: Any, keepdim: bool) -> Tensor:
    grad = (grad / times(result, 2)).masked_fill_(result == 0, 0)
    return _var_backward(grad, self, dim, correction, keepdim)


def _mean_backward(grad: Tensor, self: Tensor, dim: Any, keepdim: bool) -> Tensor:
    n = count(self._data.shape, wrap_dims(dim, self._data.ndim))
    return over(spread(grad, self.shape, dim, keepdim), n)


def _two(grads: tuple, first: Any, second: Any) -> Tensor:
    found = [f(g) for f, g in zip((first, second), grads, strict=True) if g is not None]
    return found[0] if len(found) == 1 else found[0] + found[1]


_VarBackward0 = node("VarBackward0", _var_backward)
_StdBackward0 = node("StdBackward0", _std_backward)
_VarMeanBackward0 = node(
    "VarMeanBackward0",
    lambda grads, self, dim, correction, keepdim: _two(
        grads,
        lambda g: _var_backward(g, self, dim, correction, keepdim),
        lambda g: _mean_backward(g, self, dim, keepdim),
    ),
    base=MultiNode,
)
_StdMeanBackward0 = node(
    "StdMeanBackward0",
    lambda grads, self, result0, dim, correction, keepdim: _two(
        grads, lambda g: _std_backward(g, self, result0, dim, correction, keepdim),
        lambda g: _mean_backward(g, self, dim, keepdim),
    ),
    base=MultiNode,
)  # fmt: skip


_UNSET: Any = object()


def _moments(name: str, root: bool, both: bool, what: str) -> None:
    """`var`, `std`, and their forms that return the mean too."""
    kinds = {(False, False): _VarBackward0, (True, False): _StdBackward0, (False, True): _VarMeanBackward0,
             (True, True): _StdMeanBackward0}  # fmt: skip

    def function(
        input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = _UNSET,
        out: Tensor | None = None,
    ) -> Any:  # fmt: skip
        given = correction is not _UNSET
        correction = correction if given else None
        if unbiased is not None and given:
            raise TypeError
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = 1 if unbiased else 0
        elif dim is not None and correction is None and not given:
            correction = 1
        a = input._data
        if a.dtype.kind != "f":
            raise RuntimeError(f"{name if both else 'std and var'} only support floating point and complex dtypes")
        dims = wrap_dims(dim, a.ndim)
        n = count(a.shape, dims)
        off = 1 if correction is None else correction
        out_of = math.prod([k for d, k in enumerate(a.shape) if d not in dims])
        if a.size // max(out_of, 1) - off <= 0:
            read_histories(input)
            warn_in_torch(_FEW.format(name), "aten/src/ATen/native/ReduceOps.cpp:1861")
        wide = a.astype(np.float64)

        def compute() -> tuple:
            mean_ = np.add.reduce(wide, reduced(a, dims), None, None, True) / n if a.ndim else wide
            squares = np.add.reduce((wide - mean_) ** 2, reduced(a, dims), None, None, keepdim)
            var = np.asarray(squares) / np.float64(max(n - off, 0))
            shaped = mean_ if keepdim or not a.ndim else np.squeeze(mean_, dims)
            return (np.sqrt(var) if root else var).astype(a.dtype), np.asarray(shaped).astype(a.dtype)

        spread_, center = quiet.run(compute)
        if out is not None:
            return write_out(out, spread_, name, input)
        made = result(spread_, input._device)
        middle = result(center, input._device)
        if recording(input):
            values = {"self": input, "dim": given_dims(dim), "correction": correction, "keepdim": keepdim}
            if not both:
                record(made, kinds[root, both], (input,), **values)
            else:
                record_all(kinds[root, both], input, (made, middle), ("result0",) if root else (), values)
        return (made, middle) if both else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nWarns if there are too few elements. Source: `torch.{name}`."
    op(name, method=not both, strict=True)(function)


_moments("var", False, False, "The variance of all elements, or along dimensions; divided by n - `correction`.")
_moments("std", True, False, "The standard deviation of all elements, or along dimensions.")
_moments("var_mean", False, True, "The variance and the mean.")
_moments("std_mean", True, True, "The standard deviation and the mean.")

# norms ----------------------------------------------------------------------------------------------------------------


def norm_backward(grad: Tensor, self: Tensor, p: float, result: Tensor, dim: Any, keepdim: bool) -> Tensor | None:
    """The gradient of a vector norm; where the norm is 0, torch's subgradient."""
    shape = self._data.shape
    grad, norm_ = (restored(t, dim, keepdim, shape) if dim is not None else t for t in (grad, result))
    if p == 0:
        return None
    if p == 1:
        return self.sgn() * grad
    if p == 2:
        return grad * (self / norm_).masked_fill_(norm_ == 0, 0)
    if math.isinf(p):
        size = self.abs()
        mask = size.eq(norm_).logical_or(size.isnan())
        return self.sgn() * ((grad / (mask.sum() if dim is None else mask.sum(dim, True))) * mask)
    if p < 1:
        scaled = self.sgn() * self.abs().pow_(p - 1).masked_fill_(self == 0, 0)
        return scaled * grad * norm_.pow(1 - p)
    scaled = self.sgn() * self.abs().pow_(p - 1) if p < 2 else self * (self.abs() if p == 3 else self.abs().pow_(p - 2))
    return scaled * (grad / norm_.pow(p - 1)).masked_fill_(norm_ == 0, 0)


_LinalgVectorNormBackward0 = node(
    "LinalgVectorNormBackward0",
    lambda grad, self, ord, result, dim, keepdim: norm_backward(grad, self, ord, result, dim, keepdim),
)
_DistBackward0 = node(
    "DistBackward0", lambda grad, self, other, p, result: norm_backward(grad, self - other, p, result, None, False),
    lambda grad, self, other, p, result: -norm_backward(grad, self - other, p, result, None, False),
)  # fmt: skip


def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The p-norm of all elements as one vector, or along dimensions. RuntimeError for integers.

    Source: `torch.linalg.vector_norm`.
    """
    a = x._data if dtype is None else x._data.astype(dtype.np)
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be floating point or complex, but got {dtype.scalar_name}"
        )
    if x._data.dtype.kind != "f":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype.scalar_name}"
        )
    dims = wrap_dims(dim, a.ndim)
    if (ord < 0 or math.isinf(ord)) and count(a.shape, dims) == 0:
        what = "on an empty tensor because the operation does not have an identity"
        if dim is not None:
            what = (
                "on the dimension "
                + str(dims[0])
                + "because this dimension is empty and the operation does not have an identity"
            )
        raise RuntimeError(f"linalg.vector_norm cannot compute the {_number(ord)} norm {what}")
    data = quiet.run(lambda: norm(a, ord, dims, keepdim))
    if out is not None:
        return write_out(out, data, "linalg_vector_norm", x)
    made = result(data, x._device)
    if recording(x):
        record(made, _LinalgVectorNormBackward0, (x,), self=x, ord=ord, dim=given_dims(dim), keepdim=keepdim)
    return made


def _number(p: float) -> str:
    return f"{p:g}"


@op()
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference.

    Source: `torch.dist`.
    """
    difference = input.detach() - other.detach()
    if difference._data.dtype.kind != "f":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{difference.dtype.scalar_name} instead."
        )
    made = vector_norm(difference, p)
    return (
        record(made, _DistBackward0, (input, other), self=input, other=other, p=p) if recording(input, other) else made
    )


# sums of exponentials -----------------------------------------------------------------------------------------

_LogsumexpBackward0 = node(
    "LogsumexpBackward0",
    lambda grad, self, result, dim, keepdim: (
        restored(grad, dim, keepdim, self.shape) * (self - restored(result, dim, keepdim, self.shape)).exp()
    ),
)


_exp, _log = through_double(np.exp), through_double(np.log)


@op()
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) along dimensions, without overflow.

    Source: `torch.logsumexp`.
    """
    if dim is None:
        raise TypeError
    a = input._data if input._data.dtype.kind == "f" else input._data.astype(dtypes.get_default_dtype().np)
    if isinstance(dim, (tuple, list)) and not dim and a.size and a.ndim:
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * a.ndim}")
    wide = a.astype(np.float32) if a.dtype == np.float16 else a
    axes = reduced(a, wrap_dims(dim, a.ndim))

    def rounded(step: np.ndarray) -> np.ndarray:
        return step.astype(a.dtype).astype(wide.dtype)

    def compute() -> np.ndarray:
        top = np.maximum.reduce(wide, axes, keepdims=True, initial=-np.inf)
        top = np.where(np.isinf(top), wide.dtype.type(0), top)
        total = rounded(_log(rounded(add_reduce(rounded(_exp(rounded(wide - top))), axes or (), True)))) + top
        return (total if keepdim or axes is None else np.squeeze(total, axes)).astype(a.dtype)

    data = quiet.run(compute)
    if out is not None:
        return write_out(out, data, "logsumexp", input)
    made = result(data, input._device)
    if recording(input):
        record(made, _LogsumexpBackward0, (input,), self=input, dim=given_dims(dim), keepdim=keepdim)
    return made
