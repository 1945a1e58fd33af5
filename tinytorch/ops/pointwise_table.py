"""The pointwise operations of one operand, one row each: what it does, torch's name, forward on arrays, derivative.

Derivatives follow torch's table, in tensors, so that they can be differentiated again; `times` and its like stand where
torch's formula calls an overload for numbers, which records another node.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..fused import one_less_square
from ..graph.node import node
from ..tensor import Tensor
from ..vector_math import exp32, in_blocks
from . import special
from .arguments import ABSENT, unfit
from .core import (
    FUNCTIONS,
    check_overlap,
    op,
    quiet,
    record,
    recording,
    result,
    result_like,
    takes_out,
    write_in_place,
    write_out,
)
from .large import pointwise
from .pointwise import BOOL, KEEP, cannot_cast, check_kernel, half, through_double, unary
from .scalars import minus, minus_from, over, plus, times, where, zeros
from .signs import rectified, where_positive
from .spare import scaled_in_spare_memory

# activations whose backward is an operation of its own ----------------------------------------------------------------


_exp = through_double(np.exp)


sigmoid_kernel = in_blocks(lambda a: np.reciprocal(1 + exp32(-a)), lambda a: np.reciprocal(1 + _exp(-a)))


def _threshold_backward(grad: Tensor, self: Tensor) -> Tensor:
    g, a = grad._data, self._data
    out = result(where_positive(g, a), grad._device, a, g)
    if recording(grad, self):
        record(out, _ThresholdBackwardBackward0, (grad, self), self=self, threshold=0)
    return out


def sigmoid_backward(grad: Tensor, output: Tensor) -> Tensor:
    """The gradient of sigmoid from its result, as one node."""
    g, a = grad._data, output._data
    out = result(quiet.run(pointwise, lambda g, a: g * (1 - a) * a, g, a), grad._device, g, a)
    if recording(grad, output):
        record(out, _SigmoidBackwardBackward0, (grad, output), grad_output=grad, output=output)
    return out


def _tanh_backward(grad: Tensor, output: Tensor) -> Tensor:
    g, a = grad._data, output._data
    if a.dtype == np.float16:
        data = half(quiet.run(lambda: g * one_less_square(a.astype(np.float32))))
    else:
        data = quiet.run(pointwise, lambda g, a: g * one_less_square(a), g, a)
    out = result(data, grad._device, g, a)
    if recording(grad, output):
        record(out, _TanhBackwardBackward0, (grad, output), grad_output=grad, output=output)
    return out


_ThresholdBackwardBackward0 = node(
    "ThresholdBackwardBackward0",
    lambda grad, self: _threshold_backward(grad, self),
    lambda grad: zeros(grad),
    also=("threshold",),
)
_SigmoidBackwardBackward0 = node(
    "SigmoidBackwardBackward0", lambda grad, output: sigmoid_backward(grad, output),
    lambda grad, grad_output, output: grad * grad_output * plus(times(output, -2), 1),
)  # fmt: skip
_TanhBackwardBackward0 = node(
    "TanhBackwardBackward0", lambda grad, output: _tanh_backward(grad, output),
    lambda grad, grad_output, output: grad * (times(output, -2) * grad_output),
)  # fmt: skip

# the rows -------------------------------------------------------------------------------------------------------------


def _without_in_place(name: str) -> type:
    def refuse(grad: Tensor) -> Tensor:
        raise NotImplementedError(f"the derivative for 'inplace version of {name}' is not implemented.")

    return node(f"{name.title()}Backward1", refuse)


_NEG = ("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
        "`~` or `logical_not()` operator instead.")  # fmt: skip
_ROOT_PI = math.sqrt(math.pi)


def _same_if_whole(ufunc: np.ufunc) -> Any:
    """Rounding, which leaves integers as they are."""
    return lambda a: ufunc(a) if a.dtype.kind == "f" else a.copy()


def _sign(a: np.ndarray) -> np.ndarray:
    return a.copy() if a.dtype.kind == "b" else np.where(a != a, a.dtype.type(0), np.sign(a))


exp = unary("e to the power of each element.", "exp", through_double(np.exp), lambda grad, result: grad * result,
            adapt=scaled_in_spare_memory)  # fmt: skip
unary("2 to the power of each element.", "exp2", through_double(np.exp2),
      lambda grad, result: times(grad * result, math.log(2)))  # fmt: skip
unary("exp(x) - 1, exact near 0.", "expm1", through_double(np.expm1), lambda grad, result: grad * plus(result, 1))
unary("Natural logarithm.", "log", through_double(np.log), lambda grad, self: grad.div(self))
unary("log(1 + x), exact near 0.", "log1p", through_double(np.log1p), lambda grad, self: grad / plus(self, 1))
unary("Logarithm to base 2.", "log2", through_double(np.log2), lambda grad, self: grad / times(self, math.log(2)))
unary("Logarithm to base 10.", "log10", through_double(np.log10), lambda grad, self: grad / times(self, math.log(10)))
unary("Square root.", "sqrt", np.sqrt, lambda grad, result: grad / times(result, 2))
unary("1 / sqrt(x).", "rsqrt", lambda a: 1 / np.sqrt(a), lambda grad, result: times(grad, -0.5) * result.pow(3))
unary("1 / x.", "reciprocal", np.reciprocal, lambda grad, result: -grad * (result * result))
unary("Sine.", "sin", through_double(np.sin), lambda grad, self: grad * self.cos())
unary("Cosine.", "cos", through_double(np.cos), lambda grad, self: grad * -self.sin())
unary("Tangent.", "tan", through_double(np.tan), lambda grad, result: grad * plus(result.pow(2), 1))
unary("Inverse sine.", "asin", through_double(np.arcsin),
      lambda grad, self: grad * plus(-self * self, 1).rsqrt(), aliases=("arcsin",))  # fmt: skip
unary("Inverse cosine.", "acos", through_double(np.arccos), lambda grad, self: grad * -plus(-self * self, 1).rsqrt(),
      aliases=("arccos",))  # fmt: skip
unary("Inverse tangent.", "atan", through_double(np.arctan),
      lambda grad, self: grad / plus(self * self, 1), aliases=("arctan",))  # fmt: skip
unary("Hyperbolic sine.", "sinh", through_double(np.sinh), lambda grad, self: grad * self.cosh())
unary("Hyperbolic cosine.", "cosh", through_double(np.cosh), lambda grad, self: grad * self.sinh())
tanh = unary("Hyperbolic tangent.", "tanh", through_double(np.tanh), lambda grad, result: _tanh_backward(grad, result))
unary("Inverse hyperbolic sine.", "asinh", np.arcsinh, lambda grad, self: grad * plus(self.pow(2), 1).rsqrt(),
      aliases=("arcsinh",), kind_in_place=_without_in_place("asinh"))  # fmt: skip
unary("Inverse hyperbolic cosine.", "acosh", np.arccosh, lambda grad, self: grad * minus(self * self, 1).rsqrt(),
      aliases=("arccosh",), kind_in_place=_without_in_place("acosh"))  # fmt: skip
unary("Inverse hyperbolic tangent.", "atanh", through_double(np.arctanh),
      lambda grad, self: times(grad, 1) / minus_from(1, self.pow(2)),
      aliases=("arctanh",), kind_in_place=_without_in_place("atanh"))  # fmt: skip
sigmoid = unary("1 / (1 + exp(-x)).", "sigmoid", sigmoid_kernel, lambda grad, result: sigmoid_backward(grad, result))
unary("Error function.", "erf", special.erf,
      lambda grad, self: times((-self.pow(2)).exp(), 2 / _ROOT_PI) * grad)  # fmt: skip
unary("1 - erf(x).", "erfc", special.erfc, lambda grad, self: times((-self.pow(2)).exp(), -2 / _ROOT_PI) * grad)
unary("Inverse of the error function.", "erfinv", special.erfinv,
      lambda grad, self: times(self.erfinv().pow(2).exp(), 0.5 * _ROOT_PI) * grad, in_place="method")  # fmt: skip
unary("Logarithm of the absolute value of the gamma function.", "lgamma", special.lgamma,
      lambda grad, self: grad * self.digamma(), in_place="method")  # fmt: skip
unary("Derivative of lgamma.", "digamma", special.digamma, lambda grad, self: grad * polygamma(1, self),
      in_place="method")  # fmt: skip
unary("Degrees as radians.", "deg2rad", np.deg2rad, lambda grad: times(grad, math.pi / 180),
      backward="Deg2RadBackward0",       like=True)  # fmt: skip
unary("Radians as degrees.", "rad2deg", lambda a: a * a.dtype.type(180 / math.pi), lambda grad: times(grad, 180 / math.pi),
      backward="Rad2DegBackward0",       like=True)  # fmt: skip

neg = unary("-x.", "neg", np.negative, lambda grad: grad.neg(), to=KEEP, aliases=("negative",), bools=_NEG, takes="if",
            stub="neg_cpu")  # fmt: skip
abs_ = unary("Absolute value.", "abs", np.abs, lambda grad, self: grad * self.sgn(), to=KEEP, aliases=("absolute",),
             takes="if", stub="abs_cpu")  # fmt: skip
unary("Sign: -1, 0 or 1.", "sgn", _sign, lambda grad, self, result: zeros(grad), to=KEEP, takes="bif", stub="sign_cpu",
      in_place="method")  # fmt: skip
unary("Sign: -1, 0 or 1.", "sign", _sign, lambda grad: zeros(grad), to=KEEP, takes="bif", stub="sign_cpu",
      in_place="method")  # fmt: skip
relu = unary("x where positive, else 0.", "relu", rectified,
             lambda grad, result: _threshold_backward(grad, result), to=KEEP, takes="if", stub="clamp_min_scalar_cpu",
             bools="Boolean inputs not supported for relu")  # fmt: skip
unary("The largest whole number not above x.", "floor", _same_if_whole(np.floor), lambda grad: zeros(grad), to=KEEP,
      takes="iwf", stub="floor_vml_cpu")  # fmt: skip
unary("The smallest whole number not below x.", "ceil", _same_if_whole(np.ceil), lambda grad: zeros(grad), to=KEEP,
      takes="iwf", stub="ceil_vml_cpu")  # fmt: skip
unary("x without its fraction.", "trunc", _same_if_whole(np.trunc), lambda grad: zeros(grad), to=KEEP, aliases=("fix",),
      takes="iwf", stub="trunc_vml_cpu")  # fmt: skip
unary("The fraction of x, with its sign.", "frac", lambda a: a - np.trunc(a), lambda grad: grad, to=KEEP, takes="f",
      stub="frac_cpu")  # fmt: skip

isnan = unary("Whether not a number.", "isnan", np.isnan, to=BOOL, in_place="")
unary("Whether infinite.", "isinf", np.isinf, to=BOOL, in_place="")
unary("Whether neither infinite nor not a number.", "isfinite", np.isfinite, to=BOOL, in_place="")
unary("Whether plus infinity.", "isposinf", lambda a: a == np.inf, to=BOOL, in_place="")
unary("Whether minus infinity.", "isneginf", lambda a: a == -np.inf, to=BOOL, in_place="")
unary(
    "Whether real; every dtype here is.",
    "isreal",
    lambda a: np.ones(a.shape, np.bool_),
    to=BOOL,
    in_place="",
    like=True,
)
unary("Whether the sign bit is set.", "signbit",
      lambda a: np.signbit(a) if a.dtype.kind == "f" else a < np.zeros((), a.dtype),
      to=BOOL, in_place="")  # fmt: skip


# rows with arguments --------------------------------------------------------------------------------------------------


_RoundBackward0 = node("RoundBackward0", lambda grad: zeros(grad))
_RoundBackward1 = node("RoundBackward1", lambda grad: zeros(grad))


def _round(t: Tensor, decimals: Any) -> np.ndarray:
    a = t._data
    whole = decimals is ABSENT
    check_kernel(a, "iwf" if whole else "f", "round_cpu" if not whole and decimals else "round_vml_cpu")
    if a.dtype.kind != "f":
        return a.copy()
    if whole or not decimals:
        return np.rint(a)
    scale = a.dtype.type(10.0 ** abs(decimals))
    b = a.astype(np.float32) if a.dtype == np.float16 else a
    return quiet.run(
        lambda: (np.rint(b * scale) / scale if decimals > 0 else np.rint(b / scale) * scale).astype(a.dtype)
    )


@op()
def round(input: Tensor, *, decimals: Any = ABSENT, out: Tensor | None = None) -> Tensor:
    """The nearest whole number (the even one of two), or the nearest with that many decimals.

    Source: `torch.round`.
    """
    if decimals is None:
        raise unfit("round")
    data = _round(input, decimals)
    if out is not None:
        return write_out(out, data, "round", input)
    made = result(data, input._device, input._data)
    return (
        record(made, _RoundBackward0 if decimals is ABSENT else _RoundBackward1, (input,)) if recording(input) else made
    )


@op()
def round_(self: Tensor, *, decimals: Any = ABSENT) -> Tensor:
    """Rounded. In place.

    Source: `torch.round`.
    """
    kind = _RoundBackward0 if decimals is ABSENT else _RoundBackward1
    check_overlap(self)
    return write_in_place(self, (self,), kind, {}, lambda: _round(self, decimals))


def _logit(t: Tensor, eps: float | None) -> np.ndarray:
    a = t._data if t._data.dtype.kind == "f" else FUNCTIONS["true_divide"](t, 1)._data
    b = a.astype(np.float32) if a.dtype == np.float16 else a
    if eps is not None and eps >= 0:
        low, high = b.dtype.type(eps), b.dtype.type(1 - eps)
        b = np.where(b < low, low, np.where(b > high, high, b))
    return quiet.run(lambda: np.log(b / (1 - b))).astype(a.dtype)


def _logit_backward(grad: Tensor, self: Tensor, eps: float | None) -> Tensor:
    low, other = (0.0, math.nan) if eps is None or eps < 0 else (eps, 0.0)
    inside = (self >= low).logical_and(self <= 1 - low)
    return where(inside, grad / (self * minus_from(1, self)), other)


_LogitBackward0 = node("LogitBackward0", lambda grad, self, eps: _logit_backward(grad, self, eps))


@op()
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; `eps` keeps x away from 0 and 1.

    Source: `torch.logit`.
    """
    data = _logit(input, eps)
    if out is not None:
        return write_out(out, data, "logit", input)
    made = result(data, input._device, input._data)
    return record(made, _LogitBackward0, (input,), self=input, eps=eps) if recording(input) else made


@op()
def logit_(self: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)). In place.

    Source: `torch.logit`.
    """
    if self._data.dtype.kind != "f":
        raise cannot_cast(FUNCTIONS["true_divide"](self, 1).dtype, self.dtype)
    check_overlap(self)
    return write_in_place(self, (self,), _LogitBackward0, {"self": self, "eps": eps}, lambda: _logit(self, eps))


def _nan_to_num(t: Tensor, nan: float | None, posinf: float | None, neginf: float | None) -> np.ndarray:
    a = t._data
    if a.dtype.kind != "f":
        return a.copy()
    limits = np.finfo(a.dtype)
    kind = a.dtype.type
    with np.errstate(all="ignore"):
        values = [kind(d if v is None else v) for v, d in ((nan, 0), (posinf, limits.max), (neginf, limits.min))]
    return np.where(np.isnan(a), values[0], np.where(a == np.inf, values[1], np.where(a == -np.inf, values[2], a)))


_NanToNumBackward0 = node("NanToNumBackward0", lambda grad, self: grad * self.isfinite())


@op(strict=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None, *,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """nan replaced by 0 and the infinities by the dtype's limits, or by the given numbers.

    Source: `torch.nan_to_num`.
    """
    data = _nan_to_num(input, nan, posinf, neginf)
    if out is not None:
        return write_out(out, data, "nan_to_num", input)
    made = result_like(data, input)
    return record(made, _NanToNumBackward0, (input,), self=input) if recording(input) else made


@op(strict=True)
def nan_to_num_(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """nan and infinities replaced. In place.

    Source: `torch.nan_to_num`.
    """
    check_overlap(self)
    return write_in_place(
        self, (self,), _NanToNumBackward0, {"self": self}, lambda: _nan_to_num(self, nan, posinf, neginf)
    )


_PolygammaBackward0 = node("PolygammaBackward0", lambda grad, n, self: grad * polygamma(n + 1, self))


@op("polygamma", method=False)
@takes_out("polygamma")
def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma.

    Source: `torch.polygamma`.
    """
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    a = input._data if input._data.dtype.kind == "f" else over(input, 1)._data
    made = result(quiet.run(lambda: special.polygamma(n, a) if n else special.digamma(a)), input._device, a)
    return record(made, _PolygammaBackward0, (input,), n=n, self=input) if recording(input) else made


@op()
def positive(input: Tensor) -> Tensor:
    """The very tensor. RuntimeError for bool tensors.

    Source: `torch.positive`.
    """
    if input._data.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


Tensor.__neg__ = neg  # type: ignore[attr-defined]
Tensor.__abs__ = abs_  # type: ignore[attr-defined]
Tensor.__pos__ = positive  # type: ignore[attr-defined]
