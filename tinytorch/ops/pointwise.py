"""Pointwise arithmetic: elements one by one, of operands that broadcast against each other.

A row is torch's schema, the NumPy function and the derivative. Derivatives follow torch's `derivatives.yaml`. Where
that has a Python number beside a tensor, it calls the overload for numbers, which saves the number and no tensor:
`plus`, `minus`, `times` and `over`. Source: `torch.mul` and so on, by name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.node import not_differentiable
from ..tensor import Tensor
from .choosing import masked_fill_, where
from .comparisons import logical_and, logical_or, reflected
from .creation import full_like, new_zeros, zeros_like
from .define import op, python
from .kernels import Kernel, check_kernel, composite, pointwise, result_dtype, write
from .layout import contiguous_strides, laid_out, result_layout

# one operand ----------------------------------------------------------------------------------------------------------


def in_double(ufunc: np.ufunc) -> Any:
    """A kernel that computes few float32 in float64: NumPy's own is off by a bit where torch's is rounded right."""
    return lambda a: ufunc(a.astype(np.float64)).astype(a.dtype) if a.dtype.char == "f" and a.size < 1000 else ufunc(a)


def _floating(ufunc: np.ufunc) -> pointwise:
    return pointwise(in_double(ufunc), "float")


exp_of = in_double(np.exp)
exp = op("exp(Tensor self)", _floating(np.exp), self=lambda grad, result: grad * result)
expm1 = op("expm1(Tensor self)", _floating(np.expm1), self=lambda grad, result: grad * plus(result, 1))
log = op("log(Tensor self)", _floating(np.log), self=lambda grad, self: grad / self)
log1p = op("log1p(Tensor self)", _floating(np.log1p), backward="Log1PBackward0",
           self=lambda grad, self: grad / plus(self, 1))  # fmt: skip
sin = op("sin(Tensor self)", _floating(np.sin), self=lambda grad, self: grad * cos(self))
cos = op("cos(Tensor self)", _floating(np.cos), self=lambda grad, self: grad * -sin(self))
tanh = op("tanh(Tensor self)", _floating(np.tanh), self=lambda grad, result: tanh_backward(grad, result))
sigmoid = op("sigmoid(Tensor self)", pointwise(lambda a: np.reciprocal(1 + exp_of(-a)), "float"),
             self=lambda grad, result: sigmoid_backward(grad, result))  # fmt: skip
sqrt = op("sqrt(Tensor self)", pointwise(np.sqrt, "float"), self=lambda grad, result: grad / times(result, 2))
rsqrt = op("rsqrt(Tensor self)", pointwise(lambda a: 1 / np.sqrt(a), "float"),
           self=lambda grad, result: times(grad, -0.5) * power(result, 3))  # fmt: skip
reciprocal = op("reciprocal(Tensor self)", pointwise(np.reciprocal, "float"),
                self=lambda grad, result: -grad * (result * result))  # fmt: skip

_INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
_NO = "{}, the `-` operator, {} not supported. {}"


def _no_bools(one: str, all_: str = "") -> Any:
    """A check that raises torch's RuntimeError where an operand is bool, or all are."""

    def check(*given: Any) -> None:
        bools = [isinstance(x, bool) if type(x) in (bool, int, float) else x.dtype.kind == "b" for x in given]
        if any(bools):
            raise RuntimeError(all_ if all_ and all(bools) else one)

    return check


def _sign(a: Any) -> Any:
    return a.copy() if a.dtype.kind == "b" else np.where(a != a, a.dtype.type(0), np.sign(a))


neg = op("neg(Tensor self)", pointwise(np.negative, takes="if", stub="neg_cpu", check=_no_bools(
             _NO.format("Negation", "on a bool tensor is", _INVERT))), out="found", operator="neg",
         self=lambda grad: -grad)  # fmt: skip
absolute = op("abs(Tensor self)", pointwise(np.abs, takes="if", stub="abs_cpu"), out="found", operator="abs",
              self=lambda grad, self: grad * sgn(self))  # fmt: skip
sgn = op("sgn(Tensor self)", pointwise(_sign, takes="bif", stub="sign_cpu"), out="found", also=("self", "result"),
         self=lambda grad: zeros_like(grad))  # fmt: skip
sign = op("sign(Tensor self)", pointwise(_sign, takes="bif", stub="sign_cpu"), out="found",
          self=lambda grad: zeros_like(grad))  # fmt: skip
relu = op("relu(Tensor self)", pointwise(lambda a: np.maximum(a, a.dtype.type(0)), takes="if",
                                         stub="clamp_min_scalar_cpu", check=_no_bools("Boolean inputs not supported for relu")), out=False,
          self=lambda grad, result: threshold_backward(grad, result, 0))  # fmt: skip


def _unless_whole(ufunc: np.ufunc) -> Any:
    return lambda a: ufunc(a) if a.dtype.kind == "f" else a.copy()


for _name, _ufunc in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.rint)):
    op(f"{_name}(Tensor self)", pointwise(_unless_whole(_ufunc), takes="iwf", stub=f"{_name}_vml_cpu"), out="found",
       self=lambda grad: zeros_like(grad))  # fmt: skip


def _positive(self: Tensor) -> Tensor:
    if self.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


op("positive(Tensor(a) self)", composite(_positive), operator="pos")


def _cut_off(g: Any, a: Any, threshold: Any) -> Any:
    # the bits of the gradient times 0 or 1: several times faster than np.where, and no inf becomes nan
    bits = np.multiply(np.asarray(g).view(f"i{g.itemsize}"), ~(a <= threshold))
    return result_layout(np.asarray(bits).view(g.dtype), a, g)


# gradients that are operations of their own: differentiated again they show as one node
threshold_backward = op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold)",
    _cut_off, function=False, method=False,
    grad_output=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    self=lambda grad: zeros_like(grad))  # fmt: skip
sigmoid_backward = op(
    "sigmoid_backward(Tensor grad_output, Tensor output)", pointwise(lambda g, a: g * (1 - a) * a), function=False,
    method=False, grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * plus(times(output, -2), 1))  # fmt: skip
tanh_backward = op(
    "tanh_backward(Tensor grad_output, Tensor output)", pointwise(lambda g, a: g * (1 - a * a)), function=False,
    method=False, grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, grad_output, output: grad * (times(output, -2) * grad_output))  # fmt: skip

# sum and difference, whose second operand is scaled -------------------------------------------------------------------

_SUB = _no_bools(_NO.format("Subtraction", "with a bool tensor is", _INVERT),
                 _NO.format("Subtraction", "with two bool tensors is", "Use the `^` or `logical_xor()` operator instead."))  # fmt: skip


def _scaled(a: Any, b: Any, alpha: Any) -> Any:
    """`alpha * b`, to be added to `a`."""
    if type(alpha) is int and alpha == 1:
        return b
    np.broadcast(a, b)  # of two errors that of the shapes is said
    if alpha is True and b.dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if b.dtype.kind in "iub" and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return np.multiply(b, np.array(alpha).astype(b.dtype))


def _by(grad: Any, alpha: Any) -> Any:
    return grad if alpha == 1 else times(grad, alpha)


_add = pointwise(lambda a, b, alpha: np.add(a, _scaled(a, b, alpha)), takes="bif", stub="add_stub", plain=np.add)
_sub = pointwise(lambda a, b, alpha: np.subtract(a, _scaled(a, b, alpha)), takes="if", stub="add_stub", check=_SUB,
                 plain=np.subtract)  # fmt: skip
_rsub = Kernel(lambda a, b, alpha: _sub(b, a, alpha))  # whose layout goes by the operands in that order
add = op("add(Tensor self, Tensor other, *, Scalar alpha=1)", _add, numbers=True, older=True, operator="add",
         also=("alpha",), self=lambda grad: grad, other=lambda grad, alpha: _by(grad, alpha))  # fmt: skip
sub = op("sub(Tensor self, Tensor other, *, Scalar alpha=1)", _sub, numbers=True, older=True, operator="sub",
         also=("alpha",), self=lambda grad: grad, other=lambda grad, alpha: _by(-grad, alpha))  # fmt: skip
rsub = op("rsub(Tensor self, Tensor other, *, Scalar alpha=1)", _rsub, method=False, in_place=False, out=False,
          self=lambda grad, alpha: _by(-grad, alpha), other=lambda grad: grad)  # fmt: skip
_from_number = op("rsub(Tensor self, Scalar other, Scalar alpha=1)", _rsub, method=False, in_place=False, out=False,
                  self=lambda grad, alpha: _by(-grad, alpha))  # fmt: skip
reflected("sub", lambda other, self: (rsub if isinstance(other, Tensor) else _from_number)(self, other))

# product and quotients ------------------------------------------------------------------------------------------------


def _by_no_zero(kernel: Any) -> Any:
    """A quotient that integers have not for 0."""

    def divide(a: Any, b: Any) -> Any:
        if a.dtype.kind in "iu" and not np.all(b) and np.broadcast(a, b).size:
            raise RuntimeError("ZeroDivisionError")
        return kernel(a, b)

    return divide


def _truncated(a: Any, b: Any) -> Any:
    return np.trunc(a / b) if a.dtype.kind == "f" else a // b + ((a % b != 0) & ((a < 0) != (b < 0)))


def _remainder(a: Any, b: Any) -> Any:
    if a.dtype.kind != "f":
        return np.remainder(a, b)
    m = np.fmod(a, b)  # keeps the sign of a zero, as torch does and NumPy does not
    return np.where((m != 0) & ((b < 0) != (m < 0)), m + b, m)


def _divided(a: Any, b: Any, rounding_mode: str | None) -> Any:
    if rounding_mode not in _QUOTIENTS:
        modes = "None, 'trunc', or 'floor'"
        raise RuntimeError(f"div expected rounding_mode to be one of {modes} but found '{rounding_mode}'")
    return _QUOTIENTS[rounding_mode](a, b)


def _divided_from_the_right(self: Tensor, other: Any) -> Any:
    try:
        return reciprocal(self) * other
    except TypeError:
        return NotImplemented


_QUOTIENTS = {
    None: pointwise(np.true_divide, "float"),
    "trunc": pointwise(_by_no_zero(_truncated), takes="if", stub="div_trunc_cpu"),
    "floor": pointwise(_by_no_zero(np.floor_divide), takes="if", stub="div_floor_cpu")}  # fmt: skip
_modulo = pointwise(_by_no_zero(_remainder), takes="if", stub="remainder_cpu")
mul = op("mul(Tensor self, Tensor other)", pointwise(np.multiply), numbers=True, operator="mul",
         self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)  # fmt: skip
div = op("div(Tensor self, Tensor other)", _QUOTIENTS[None], numbers=True, operator="truediv",
         self=lambda grad, other: grad / other,
         other=lambda grad, self, other: -grad * ((self / other) / other))  # fmt: skip
div_rounded = op(
    "div(Tensor self, Tensor other, *, str? rounding_mode)", _divided, numbers=True, in_place=True, backward="DivBackward2",
    self=lambda grad, other, rounding_mode: zeros_like(grad) if rounding_mode else grad / other,
    other=lambda grad, self, other, rounding_mode: (
        zeros_like(grad) if rounding_mode else -grad * ((self / other) / other)))  # fmt: skip
floor_divide = op("floor_divide(Tensor self, Tensor other)", _QUOTIENTS["floor"], numbers=True, operator="floordiv",
                  in_place=False, node=not_differentiable("aten::floor_divide"))  # fmt: skip
op("floor_divide_(Tensor(a!) self, Tensor other)", write(_QUOTIENTS["floor"].written), numbers=True, function=False,
   node=not_differentiable("aten::floor_divide_"))  # fmt: skip
remainder = op("remainder(Tensor self, Tensor other)", _modulo, operator="mod", backward="RemainderBackward1",
               self=lambda grad: grad,
               other=lambda grad, self, other: -grad * div_rounded(self, other, "floor"))  # fmt: skip
remainder_of_number = op("remainder(Scalar self, Tensor other)", _modulo, method=False, in_place=False, out=False,
                         node=not_differentiable("aten::remainder"))  # fmt: skip
op("remainder(Tensor self, Scalar other)", _modulo, backward="RemainderBackward0", self=lambda grad: grad)
python("__rtruediv__", _divided_from_the_right, function=False)
reflected("floordiv", floor_divide)
reflected("mod", lambda other, self: (remainder if isinstance(other, Tensor) else remainder_of_number)(other, self))

# the overloads for a tensor and a number, which torch's own formulas call
_HIDDEN = {"function": False, "method": False, "in_place": False, "out": False}
plus = op("add(Tensor self, Scalar other, Scalar alpha=1)", _add, **_HIDDEN, backward="AddBackward1",
          self=lambda grad: grad)  # fmt: skip
minus = op("sub(Tensor self, Scalar other, Scalar alpha=1)", _sub, **_HIDDEN, backward="SubBackward1",
           self=lambda grad: grad)  # fmt: skip
times = op("mul(Tensor self, Scalar other)", pointwise(np.multiply), **_HIDDEN, backward="MulBackward1",
           self=lambda grad, other: times(grad, other))  # fmt: skip
over = op("div(Tensor self, Scalar other)", pointwise(np.true_divide, "float"), **_HIDDEN, backward="DivBackward1",
          self=lambda grad, other: over(grad, other))  # fmt: skip

# powers: a kind of node for each combination of tensor and number -----------------------------------------------------


def _power(a: Any, b: Any) -> Any:
    kind, number = a.dtype.kind, b.item() if b.ndim == 0 else None
    if kind == "b":
        return a | ~b
    if kind == "i" and b.size and (b < 0).any():
        odd = np.where(a == -1, np.where(b % 2, -1, 1), 0)
        return np.where(b < 0, np.where(a == 1, 1, odd), np.power(a, np.where(b < 0, 0, b))).astype(a.dtype)
    if kind == "f" and number in (2, 3, -2):
        return a * a if number == 2 else a * a * a if number == 3 else 1 / (a * a)
    return np.power(a, b)


def _fitting_exponent(a: Any, exponent: Any) -> None:
    """Raise torch's RuntimeError for an exponent that is a number and does not fit the base."""
    whole = a.dtype.kind != "f" and type(exponent) is int
    if whole and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    d = dtypes.int64 if whole and exponent >= 1 << 63 else result_dtype(a, exponent)
    dtypes.check_range(exponent, d, in_c=True)


def _row_by_row(a: Any, b: Any) -> Any:
    data = _powers(a, b)
    return laid_out(data, contiguous_strides(data.shape, data.itemsize))


def _pow_number(grad: Any, self: Any, exponent: Any) -> Any:
    n = float(exponent)
    return new_zeros(self, self.shape) if n == 0 else grad * times(power(self, n - 1), n)


def _pow_self(grad: Any, self: Any, exponent: Any) -> Any:
    return where(exponent == 0, 0, grad * (exponent * power_of(self, minus(exponent, 1))))


def _pow_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    return grad * where(logical_and(self == 0, exponent >= 0), 0, result * log(self))


def _pow_of_number(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    if self == 0:
        return grad * where(exponent >= 0, 0, times(result, -math.inf))
    return grad * times(result, math.log(self) if self > 0 else math.nan)


_powers = pointwise(_power, takes="if", stub="pow")


def _of_one_dtype(a: Any, end: Any, weight: Any = None) -> None:
    for name, x in (("end", end), ("weight", weight)):
        if x is not None and x.dtype != a.dtype and (x is end or x.ndim):
            mine, its = (dtypes.cpp_name(dtypes.BY_NUM[y.dtype.num]) for y in (a, x))
            raise RuntimeError(f"expected dtype {mine} for `{name}` but got dtype {its}")


def _lerp(a: Any, end: Any, weight: Any) -> Any:
    return np.where(np.abs(weight) < 0.5, a + weight * (end - a), end - (end - a) * (1 - weight))


op("lerp(Tensor self, Tensor end, Tensor weight)", in_place=True, out="found", backward="LerpBackward1",
   kernel=pointwise(_lerp, takes="f", stub="lerp_kernel_tensor", check=_of_one_dtype),
   self=lambda grad, weight: grad * sub.inplace(full_like(weight, 1), weight), end=lambda grad, weight: grad * weight,
   weight=lambda grad, self, end: grad * (end - self))  # fmt: skip
op("lerp(Tensor self, Tensor end, Scalar weight)", in_place=True, backward="LerpBackward0",
   kernel=pointwise(_lerp, takes="f", stub="lerp_kernel_scalar", check=_of_one_dtype),
   self=lambda grad, weight: times(grad, 1.0 - weight), end=lambda grad, weight: times(grad, weight))  # fmt: skip
power_of = op("pow(Tensor self, Tensor exponent)", _powers, operator="pow",
              backward="PowBackward1", self=_pow_self, exponent=_pow_exponent)  # fmt: skip
of_number = op("pow(Scalar self, Tensor exponent)", _row_by_row, method=False, backward="PowBackward2",
               exponent=_pow_of_number)  # fmt: skip
power = op("pow(Tensor self, Scalar exponent)", pointwise(_power, takes="bif", stub="pow", check=_fitting_exponent),
           backward="PowBackward0", self=_pow_number)  # fmt: skip
reflected("pow", lambda other, self: (power_of if isinstance(other, Tensor) else of_number)(other, self))
op("square(Tensor self)", composite(lambda self: power(self, 2)), out=True)
op("square_(Tensor(a!) self)", composite(lambda self: power.inplace(self, 2)))

# extremes and bounds --------------------------------------------------------------------------------------------------


def _shared(grad: Any, self: Any, other: Any, lost: Any) -> Any:
    """The gradient of a maximum or minimum: half of it where both are equal, none where the other one was taken."""
    return masked_fill_(where(self == other, over(grad, 2), grad), lost, 0)


def _clamp(a: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if low is not None and high is not None:
        check_kernel(a.dtype, "if", "clamp_cpu")
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _fitting_bounds(a: Any, *bounds: Any) -> None:
    """Raise torch's RuntimeError for bounds that are numbers and do not fit the dtype."""
    given = [x for x in bounds if x is not None]
    d = result_dtype(a, *given)
    for x in given:
        dtypes.check_range(x, d, in_c=True)


def _inside(grad: Any, self: Any, min: Any, max: Any) -> Any:
    inside = None if min is None else self >= min
    if max is not None:
        inside = self <= max if inside is None else logical_and.inplace(inside, self <= max)
    return where(inside, grad, 0)


def _below(grad: Any, self: Any, min: Any, max: Any) -> Any:
    return where(self < min if max is None else logical_and.inplace(self < min, min < max), grad, 0)


def _above(grad: Any, self: Any, min: Any, max: Any) -> Any:
    return where(self > max if min is None else logical_or.inplace(self > max, max < min), grad, 0)


_largest, _smallest = (pointwise(f, takes="bif", stub=f"{f.__name__}_cpu") for f in (np.maximum, np.minimum))
maximum = op("maximum(Tensor self, Tensor other)", _largest, in_place=False, writes=1,
             self=lambda grad, self, other: _shared(grad, self, other, self < other),
             other=lambda grad, self, other: _shared(grad, self, other, self > other))  # fmt: skip
minimum = op("minimum(Tensor self, Tensor other)", _smallest, in_place=False, writes=1,
             self=lambda grad, self, other: _shared(grad, self, other, self > other),
             other=lambda grad, self, other: _shared(grad, self, other, self < other))  # fmt: skip
op("clamp(Tensor self, Tensor? min=None, Tensor? max=None)", pointwise(_clamp), aka=("clip",),
   backward="ClampBackward0", self=_inside, min=_below, max=_above)  # fmt: skip
op("clamp(Tensor self, Scalar? min=None, Scalar? max=None)", pointwise(
    _clamp, takes="if", stub="clamp_scalar_cpu", check=_fitting_bounds, in_c=True), out="found", aka=("clip",),
   backward="ClampBackward1", self=_inside)  # fmt: skip
clamp_min = op("clamp_min(Tensor self, Scalar min)", pointwise(np.maximum), backward="ClampMinBackward0", **_HIDDEN,
               self=lambda grad, self, min: where(self >= min, grad, 0))  # fmt: skip
