"""Pointwise operations that are asked for more rarely: angle, sinc, nextafter, frexp, renorm, float_power_."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes, return_types
from ..graph.node import MultiNode, node
from ..tensor import Tensor, wrap_dim
from .core import FUNCTIONS, op, quiet, record, recording, result, write_in_place, write_out
from .norms import vector_norm
from .outputs import check_out_dtype
from .pointwise import TENSORS, binary, unary
from .reductions import record_all
from .scalars import times, where, zeros


def _angle(a: np.ndarray) -> np.ndarray:
    return np.where(a != a, a, np.where(a < 0, a.dtype.type(math.pi), a.dtype.type(0)))


def _sinc(a: np.ndarray) -> np.ndarray:
    product = a * a.dtype.type(math.pi)
    sine = np.sin(product.astype(np.float64)).astype(a.dtype)
    return np.where(a == 0, a.dtype.type(1), sine / product)


def _sinc_backward(grad: Tensor, self: Tensor) -> Tensor:
    inner = times(self, math.pi)
    square = times(self * self, math.pi)
    return where(square == 0, 0, grad * ((inner * inner.cos() - inner.sin()) / square))


unary(
    "The angle of real numbers: pi for negative ones, else 0.",
    "angle",
    _angle,
    lambda grad, self: zeros(grad),
    in_place="",
)
unary("sin(pi x) / (pi x), 1 at 0.", "sinc", _sinc, _sinc_backward)


def _next(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.nextafter(a, b)


binary("The next number towards another one.", "nextafter", _next, lambda grad, self, other: where(self == other, 0, grad), lambda grad, self, other: zeros(grad).zero_(),
       numbers=TENSORS, takes="f", stub="nextafter_cpu", stays_half=True)  # fmt: skip


_FrexpBackward0 = node(
    "FrexpBackward0", lambda grads, exponent: grads[0] / exponent.exp2(), base=MultiNode,
)  # fmt: skip


@op()
def frexp(input: Tensor, *, out: Any = None) -> Any:
    """Mantissas from [0.5, 1) and exponents (int32) with mantissa * 2**exponent = input. RuntimeError for integers.

    Source: `torch.frexp`.
    """
    a = input._data
    if a.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(a)
    exponent = np.where(np.isfinite(a), exponent, 0).astype(np.int32)
    if out is not None:
        if len(out) != 2:
            raise TypeError(f"expected tuple of 2 elements but got {len(out)}")
        for given, d in zip(out, (input.dtype, dtypes.int32), strict=True):
            if given.dtype is not d:
                what = (
                    f"mantissa to have dtype {input.dtype.scalar_name}"
                    if d is input.dtype
                    else "exponent to have int dtype"
                )
                raise RuntimeError(f"torch.frexp() expects {what} but got {dtypes.cpp_name(given.dtype)}")
        return return_types.frexp.out(
            (write_out(out[0], mantissa, "frexp", input), write_out(out[1], exponent, "frexp"))
        )
    made = (result(mantissa, input._device, a), result(exponent, input._device, a))
    if recording(input):
        record_all(_FrexpBackward0, input, (made[0],), (), {"exponent": made[1]})
    return return_types.frexp(made)


@op("float_power_", function=False)
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """Each element to the power of an exponent, in double precision. In place. RuntimeError for other dtypes.

    Source: `torch.Tensor.float_power_`.
    """
    if self.dtype is not dtypes.float64:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the operation's result requires dtype "
            "Double"
        )
    return self.pow_(exponent.to(dtypes.float64) if isinstance(exponent, Tensor) else float(exponent))


# norms that may not grow beyond a bound -------------------------------------------------------------------------------------


def _factors(t: Tensor, p: Any, d: int, most: Any) -> np.ndarray:
    norms = vector_norm(t.detach(), p, tuple(k for k in range(t.dim()) if k != d), True)._data
    wide = norms.astype(np.float32) if norms.dtype == np.float16 else norms
    return quiet.run(
        lambda: np.where(wide > most, wide.dtype.type(most) / (wide + wide.dtype.type(1e-7)), wide.dtype.type(1))
    )


def _renorm_backward(grad: Tensor, self: Tensor, p: Any, dim: int, maxnorm: Any) -> Tensor:
    d = wrap_dim(dim, self.dim())
    rest = tuple(k for k in range(self.dim()) if k != d)
    norm = vector_norm(self, p, rest, True)
    to_norm = (self * grad).sum(rest, True)
    if p == 2:
        slope = self / norm
    elif math.isinf(p):
        largest = self.abs() == norm
        slope = self.sgn() * largest / largest.sum(rest, True)
    elif p == 1:
        slope = self.sgn()
    else:
        slope = self * self.abs().pow(p - 2) / norm.pow(p - 1)
    inverse = (norm + 1e-7).reciprocal()
    shrunk = times(inverse * (grad - inverse * to_norm * slope.masked_fill(norm == 0, 0)), maxnorm)
    return FUNCTIONS["where"](norm > maxnorm, shrunk, grad)


_RenormBackward0 = node("RenormBackward0", _renorm_backward)


def _renormed(self: Tensor, p: Any, dim: int, maxnorm: Any) -> np.ndarray:
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if self.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    factors = _factors(self, p, wrap_dim(dim, self.dim()), maxnorm)
    return (self._data * factors).astype(self._data.dtype)


@op()
def renorm(input: Tensor, p: Any, dim: int, maxnorm: Any, *, out: Tensor | None = None) -> Tensor:
    """Slices along a dimension scaled down to a largest p-norm. RuntimeError for less than two dimensions.

    Source: `torch.renorm`.
    """
    data = _renormed(input, p, dim, maxnorm)
    if out is not None:
        check_out_dtype("matmul", input.dtype, out.dtype)
        return write_out(out, data, "renorm", input)
    made = result(data, input._device, input._data)
    if recording(input):
        record(made, _RenormBackward0, (input,), self=input, p=p, dim=dim, maxnorm=maxnorm)
    return made


@op(function=False)
def renorm_(self: Tensor, p: Any, dim: int, maxnorm: Any) -> Tensor:
    """Slices along a dimension scaled down to a largest p-norm. In place.

    Source: `torch.Tensor.renorm_`.
    """
    data = _renormed(self, p, dim, maxnorm)
    values = {"self": self, "p": p, "dim": dim, "maxnorm": maxnorm}
    return write_in_place(self, (self,), _RenormBackward0, values, lambda: data)
