"""The pointwise operations, one row each: what it does, torch's name, forward on arrays, derivative.

Derivatives follow torch's table, in tensors, so that they can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node
from ..tensor import Tensor, fresh
from .core import SavedNumber, as_array, is_number, op, quiet, record, recording, result, result_dtype, write_in_place
from .core import check_overlap, expect_tensor  # isort: skip
from .pointwise import BOOL, FLOAT, KEEP, binary, in_place_operands, operands, operator, unary

# one operand ---------------------------------------------------------------------------------------------------------


def _sigmoid(a: np.ndarray) -> np.ndarray:
    return np.reciprocal(1 + np.exp(-a))


def _refuse_bool_neg(t: Tensor) -> None:
    if t._data.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )


exp = unary("e to the power of each element.", "exp", np.exp, lambda grad, result: grad * result)
log = unary("Natural logarithm.", "log", np.log, lambda grad, self: grad.div(self))
sqrt = unary("Square root.", "sqrt", np.sqrt, lambda grad, result: grad / (2 * result))
sin = unary("Sine.", "sin", np.sin, lambda grad, self: grad * self.cos())
cos = unary("Cosine.", "cos", np.cos, lambda grad, self: grad * -self.sin())
tanh = unary("Hyperbolic tangent.", "tanh", np.tanh, lambda grad, result: grad * (1 - result * result))
sigmoid = unary("1 / (1 + exp(-x)).", "sigmoid", _sigmoid, lambda grad, result: grad * (1 - result) * result)
reciprocal = unary("1 / x.", "reciprocal", np.reciprocal, lambda grad, result: -grad * (result * result))
neg = unary("-x.", "neg", np.negative, lambda grad: grad.neg(), to=KEEP, aliases=("negative",), refuse=_refuse_bool_neg)
abs_ = unary("Absolute value.", "abs", np.abs, lambda grad, self: grad * self.sgn(), to=KEEP, aliases=("absolute",))
sgn = unary("Sign: -1, 0 or 1.", "sgn", np.sign, lambda grad: grad.new_zeros(grad.shape), to=KEEP)
sign = unary("Sign: -1, 0 or 1.", "sign", np.sign, lambda grad: grad.new_zeros(grad.shape), to=KEEP)
relu = unary("x where positive, else 0.", "relu", lambda a: np.maximum(a, a.dtype.type(0)),
             lambda grad, result: _threshold_backward(grad, result), to=KEEP)  # fmt: skip

_ThresholdBackwardBackward0 = node("ThresholdBackwardBackward0", lambda grad, self: _threshold_backward(grad, self), None)


def _threshold_backward(grad: Tensor, self: Tensor) -> Tensor:
    out = fresh(np.where(self._data > 0, grad._data, grad._data.dtype.type(0)), grad._device)
    if recording(grad):
        record(out, _ThresholdBackwardBackward0, (grad, None), self=self)
    return out


# two operands --------------------------------------------------------------------------------------------------------


def _refuse_bool_sub(d: np.dtype) -> None:
    if d.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )


mul = binary("Product.", "mul", np.multiply, lambda grad, other: grad * other, lambda grad, self: grad * self,
             aliases=("multiply",))  # fmt: skip
_true_div = binary("Quotient.", "div", np.true_divide, lambda grad, other: grad / other,
             lambda grad, self, other: -grad * ((self / other) / other), to=FLOAT,
             aliases=("divide", "true_divide"))  # fmt: skip
eq = binary("Whether equal.", "eq", np.equal, to=BOOL)
ne = binary("Whether different.", "ne", np.not_equal, to=BOOL, aliases=("not_equal",))
lt = binary("Whether less.", "lt", np.less, to=BOOL, aliases=("less",))
le = binary("Whether less or equal.", "le", np.less_equal, to=BOOL, aliases=("less_equal",))
gt = binary("Whether greater.", "gt", np.greater, to=BOOL, aliases=("greater",))
ge = binary("Whether greater or equal.", "ge", np.greater_equal, to=BOOL, aliases=("greater_equal",))


def _scaled(alpha: Any) -> Any:
    return lambda grad, alpha: grad if alpha == 1 else grad * alpha


def _additive(name: str, ufunc: np.ufunc, sign: int, what: str, aliases: tuple[str, ...]) -> None:
    """`add` and `sub`, which scale their second operand by `alpha`."""

    def to_other(grad: Tensor, alpha: Any) -> Tensor:
        if sign < 0:
            return grad.neg() if alpha == 1 else grad * -alpha
        return grad if alpha == 1 else grad * alpha

    kind = node(f"{name.title()}Backward0", lambda grad: grad, to_other, also=("alpha",))

    def compute(a: np.ndarray, b: np.ndarray, alpha: Any) -> Any:
        if sign < 0:
            _refuse_bool_sub(a.dtype)
        if alpha != 1:
            if a.dtype.kind in "iu" and isinstance(alpha, float):
                raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
            b = quiet.run(np.multiply, b, np.array(alpha, b.dtype))
        try:
            return quiet.run(ufunc, a, b)
        except ValueError:
            from .core import broadcast_error

            raise broadcast_error(a.shape, b.shape) from None

    def function(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
        if (
            isinstance(other, Tensor) and isinstance(input, Tensor)
            and input._data.dtype is other._data.dtype and input._device is other._device
        ):  # fmt: skip
            a, b, where = input._data, other._data, input._device
        else:
            a, b, where = operands(name, input, other)
        data = compute(a, b, alpha)
        if out is not None:
            from .core import write_out

            return write_out(out, data, name, input, other)
        made = result(data, where, a, b)
        if recording(*[x for x in (input, other) if isinstance(x, Tensor)]):
            record(made, kind, (input, other), alpha=alpha)
        return made

    def in_place(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        a, b = in_place_operands(name, self, other, False, False)
        return write_in_place(self, (self, other), kind, {"alpha": alpha}, lambda: compute(a, b, alpha))

    for f, n in ((function, name), (in_place, f"{name}_")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what} `alpha` scales the second operand.\n\nSource: `torch.{name}`."
    op(name, *aliases)(function)
    op(f"{name}_", *[f"{a}_" for a in aliases], function=False)(in_place)


_additive("add", np.add, 1, "Sum.", ())
_additive("sub", np.subtract, -1, "Difference.", ("subtract",))

_RsubBackward1 = node("RsubBackward1", lambda grad, alpha: grad.neg() if alpha == 1 else grad * -alpha)


@op()
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """`other - alpha * input`.

    Source: `torch.rsub`.
    """
    if isinstance(other, Tensor):
        return other.sub(input, alpha=alpha)
    a, b, where = operands("rsub", input, other)
    _refuse_bool_sub(a.dtype)
    made = result(quiet.run(np.subtract, b, a if alpha == 1 else a * alpha), where, a)
    return record(made, _RsubBackward1, (input,), alpha=alpha) if recording(input) else made


# powers: a kind of node for each combination of tensor and number --------------------------------------------------------


def _pow_self(grad: Tensor, self: Any, exponent: Any) -> Tensor:
    if not isinstance(exponent, Tensor) and exponent == 0:
        return self.new_zeros(self.shape)
    if isinstance(exponent, Tensor):
        out = grad * (exponent * self.pow(exponent - 1))
        return out.masked_fill(exponent == 0, 0.0) if bool((exponent == 0).any()) else out
    return grad * (exponent * self.pow(exponent - 1))


def _pow_exponent(grad: Tensor, self: Any, exponent: Tensor, result: Tensor) -> Tensor:
    base = self if isinstance(self, Tensor) else grad.new_full((), float(self))
    cond = (base == 0).logical_and(exponent >= 0) if isinstance(self, Tensor) else None
    out = grad * (result * base.log())
    if cond is not None and bool(cond.any()):
        out = out.masked_fill(cond, 0.0)
    return out if isinstance(self, Tensor) or self != 0 else out.masked_fill(exponent >= 0, 0.0)


_PowBackward0 = node("PowBackward0", lambda grad, self, exponent: _pow_self(grad, self, exponent))
_PowBackward1 = node(
    "PowBackward1",
    lambda grad, self, exponent: _pow_self(grad, self, exponent),
    lambda grad, self, exponent, result: _pow_exponent(grad, self, exponent, result),
)
_PowBackward2 = node("PowBackward2", lambda grad, exponent, result, self: _pow_exponent(grad, self, exponent, result))


def _power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind in "iu" and b.size and b.dtype.kind == "i" and b.ndim == 0 and b < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if a.dtype.kind in "iu" and b.dtype.kind == "i" and (b < 0).any():
        out = np.power(a, np.where(b < 0, 0, b))
        small = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2, -1, 1), 0))
        return np.where(b < 0, small, out).astype(a.dtype)
    if a.dtype == np.float32 and b.ndim == 0 and b in (2, 3):
        return a * a if b == 2 else a * a * a
    return np.power(a, b)


def _pow(self: Any, exponent: Any) -> tuple[Any, Any, Any]:
    a, b, where = operands("pow", self, exponent)
    if isinstance(self, Tensor) and a.dtype == np.bool_:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    return a, b, where


@op()
def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """Each element to the power of an exponent; either may be a number.

    Source: `torch.pow`.
    """
    a, b, where = _pow(input, exponent)
    data = quiet.run(_power, a, b)
    if out is not None:
        from .core import write_out

        return write_out(out, data, "pow", input, exponent)
    made = result(data, where, a, b)
    if recording(*[x for x in (input, exponent) if isinstance(x, Tensor)]):
        if not isinstance(exponent, Tensor):
            record(made, _PowBackward0, (input,), self=input, exponent=exponent)
        elif not isinstance(input, Tensor):
            record(made, _PowBackward2, (exponent,), self=input, exponent=exponent)
        else:
            record(made, _PowBackward1, (input, exponent), self=input, exponent=exponent)
    return made


@op(function=False)
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """Each element to the power of an exponent. In place.

    Source: `torch.Tensor.pow_`.
    """
    a, b = in_place_operands("pow", self, exponent, False, False)
    both = isinstance(exponent, Tensor)
    kind, inputs = (_PowBackward1, (self, exponent)) if both else (_PowBackward0, (self,))
    return write_in_place(self, inputs, kind, {"self": self, "exponent": exponent}, lambda: quiet.run(_power, a, b))


operator("add", Tensor.add, Tensor.add, Tensor.add_)
operator("sub", Tensor.sub, rsub, Tensor.sub_)
operator("mul", mul, mul, Tensor.mul_)
operator("truediv", Tensor.div, lambda self, other: self.reciprocal() * other, Tensor.div_)
operator("pow", pow, lambda self, other: pow(other, self), Tensor.pow_)
operator("lt", lt)
operator("le", le)
operator("gt", gt)
operator("ge", ge)


def _equal(self: Tensor, other: Any) -> Any:
    if isinstance(other, (Tensor, np.ndarray)) or is_number(other):
        return eq(self, other if not isinstance(other, np.ndarray) else fresh(other.copy()))
    return NotImplemented


def _different(self: Tensor, other: Any) -> Any:
    if isinstance(other, (Tensor, np.ndarray)) or is_number(other):
        return ne(self, other if not isinstance(other, np.ndarray) else fresh(other.copy()))
    return NotImplemented


Tensor.__eq__ = _equal  # type: ignore[method-assign,assignment]
Tensor.__ne__ = _different  # type: ignore[method-assign,assignment]
Tensor.__neg__ = neg
Tensor.__abs__ = abs_
Tensor.__pos__ = lambda self: self

__all__ = ["SavedNumber", "as_array", "check_overlap", "expect_tensor", "result_dtype"]
