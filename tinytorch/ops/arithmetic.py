"""Sums, products, quotients, remainders and powers, and the Python operators for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..fused import add_scaled
from ..graph.history import check_inplace
from ..graph.modes import MODES, no_grad
from ..graph.node import node, not_differentiable
from ..tensor import Tensor, fresh
from .arguments import ABSENT, again, is_misplaced, is_number, with_alpha
from .core import FUNCTIONS, broadcast_error, op, quiet, recording, result, write_in_place, write_out
from .large import MANY, pointwise
from .outputs import check_out_dtype
from .pointwise import (
    EITHER,
    FLOAT,
    LETTER,
    OPERATORS,
    RIGHT,
    WRAPPED,
    _saveable,
    binary,
    called_as_operator,
    check_broadcast_into,
    check_fits,
    check_kernel,
    half,
    in_place_operands,
    offer,
    operands,
    operator,
    takes_operands,
    written_straight,
)  # fmt: skip
from .precedence import say_first
from .recording import wants_grad
from .scalars import minus, times, where, zeros
from .short import short_of_two
from .spare import product_in_spare_memory

# sum and difference, whose second operand is scaled -------------------------------------------------------------------

_BOOL_SUB = "Subtraction, the `-` operator, with {} not supported. "
_TWO_BOOLS = _BOOL_SUB.format("two bool tensors is") + "Use the `^` or `logical_xor()` operator instead."
_ONE_BOOL = _BOOL_SUB.format("a bool tensor is") + (
    "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
)


def _bools(*operands: Any) -> list[bool]:
    return [x._data.dtype.kind == "b" if isinstance(x, Tensor) else isinstance(x, bool) for x in operands]


def _refuse_bools(*operands: Any) -> None:
    bools = _bools(*operands)
    if any(bools):
        say_first("sub", False, operands, {})
        raise RuntimeError(_TWO_BOOLS if all(bools) else _ONE_BOOL)


def _scaled(b: np.ndarray, alpha: Any) -> np.ndarray:
    if isinstance(alpha, bool) and b.dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if b.dtype.kind in "iub" and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if alpha == 1 or (b.dtype.kind == "b" and alpha):
        return b
    return quiet.run(np.multiply, b, np.array(alpha).astype(b.dtype))


def _additive(name: str, ufunc: np.ufunc, what: str, aliases: tuple[str, ...]) -> None:
    """`add` and `sub`."""
    minus = name == "sub"

    def to_other(grad: Tensor, alpha: Any) -> Tensor:
        grad = grad.neg() if minus else grad
        return grad if alpha == 1 else times(grad, alpha)

    kind = node(f"{name.title()}Backward0", lambda grad: grad, to_other, also=("alpha",))
    straight = {d.np.num for d in dtypes.ALL if LETTER[d.np.num] in ("if" if minus else "bif") and d.np.char != "e"}

    def compute(a: np.ndarray, b: np.ndarray, alpha: Any, into: np.ndarray | None = None) -> Any:
        check_kernel(a, "bif", "add_stub", b)
        if a.dtype == np.float16:
            wide = _scaled(b.astype(np.float32), alpha)
            return half(_broadcast(ufunc, a.astype(np.float32), wide))
        if type(alpha) is not int or alpha != 1:
            if b.shape != a.shape:
                _broadcast(np.broadcast, a, b)  # type: ignore[arg-type]
            if a.dtype.kind == "f" and b.dtype == a.dtype and type(alpha) is not bool:
                return quiet.run(add_scaled, a, b, -alpha if minus else alpha, into)
            b = _scaled(b, alpha)
        return _broadcast(ufunc, a, b, into)

    def function(
        input: Any = ABSENT, other: Any = ABSENT, *rest: Any, alpha: Any = 1, out: Tensor | None = None, **named: Any
    ) -> Tensor:
        if rest or named or (out is not None and is_misplaced(out)):
            return again(function, name, (input, other, *rest), with_alpha(named, alpha), out)
        if type(alpha) is int and alpha == 1 and out is None and (short := shortly(input, other)) is not None:
            return short
        here = MODES.here
        if not takes_operands(input, other, WRAPPED) or isinstance(alpha, (str, list, tuple)):
            if not is_number(other) and called_as_operator():
                return NotImplemented
            return again(function, name, (input, other), with_alpha({}, alpha), out)
        if minus:
            _refuse_bools(input, other)
        a, b, where = operands(name, input, other)
        d = a.dtype
        if d == np.float16 and is_number(other):
            b = quiet.run(np.array, other, np.float32)
        try:
            if type(alpha) is int and alpha == 1 and d.num in straight and a.size < MANY > b.size:
                data = here.run(ufunc, a, b)
            else:
                data = compute(a, b, alpha)
        except ValueError:
            say_first(name, False, (input, other), {"out": out})
            raise broadcast_error(a.shape, b.shape) from None
        except RuntimeError:
            say_first(name, False, (input, other), {"out": out})
            raise
        if out is not None:
            return write_out(out, data, name, input, other, layout=(a, b))
        made = fresh(data, where, here.inference) if data.ndim < 2 else result(data, where, a, b)
        if here.grad and (wants_grad(input) or wants_grad(other)):
            kind.record(made, (input, other), alpha=alpha)
        return made

    def in_place(self: Tensor, other: Any = ABSENT, *rest: Any, alpha: Any = 1, **named: Any) -> Tensor:
        if not rest and not named and type(alpha) is int and alpha == 1 and written_straight(ufunc, self, other):
            return self
        if rest or named or not (isinstance(other, Tensor) or takes_operands(self, other, WRAPPED)):
            return again(in_place, f"{name}_", (self, other, *rest), named)
        if minus and any(_bools(self, other)):
            check_inplace(self, recording(*[t for t in (self, other) if isinstance(t, Tensor)]))  # said first
            _refuse_bools(self, other)
        a, b = in_place_operands(name, self, other, False, False)
        target = self._data
        into = target if a.dtype == target.dtype and a.dtype != np.float16 and target.flags.forc else None

        def values() -> Any:
            data = compute(a, b, alpha, into)
            return None if data is into else data

        return write_in_place(self, (self, other), kind, {"alpha": alpha}, values)

    for f, n in ((function, name), (in_place, f"{name}_")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what} `alpha` scales the second operand.\n\nSource: `torch.{name}`."
    offer(function, name, aliases)
    offer(in_place, f"{name}_", [f"{a}_" for a in aliases], function=False)

    def attach(made: Tensor, input: Tensor, other: Any) -> None:
        kind.record(made, (input, other), alpha=1)

    shortly = short_of_two(ufunc, straight, True, kind, attach)
    OPERATORS[function] = lambda whole: short_of_two(ufunc, straight, True, kind, attach, whole)


def _broadcast(ufunc: np.ufunc, a: np.ndarray, b: np.ndarray, into: np.ndarray | None = None) -> Any:
    try:
        if into is None and (a.size >= MANY or b.size >= MANY):
            return quiet.run(pointwise, ufunc, a, b)
        return quiet.run(ufunc, a, b) if into is None else quiet.run(ufunc, a, b, into)
    except ValueError:
        raise broadcast_error(a.shape, b.shape) from None


_additive("add", np.add, "Sum.", ())
_additive("sub", np.subtract, "Difference.", ("subtract",))


def _to_subtracted(grad: Tensor, alpha: Any) -> Tensor:
    return grad.neg() if alpha == 1 else times(grad.neg(), alpha)


_RsubBackward0 = node("RsubBackward0", _to_subtracted, lambda grad: grad)
_RsubBackward1 = node("RsubBackward1", _to_subtracted)


@op(method=False, strict=True)
def rsub(input: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """`other - alpha * input`.

    Source: `torch.rsub`.
    """
    _refuse_bools(other, input)
    a, b, where = operands("rsub", input, other)
    check_kernel(a, "bif", "add_stub")
    made = result(_broadcast(np.subtract, b, _scaled(a, alpha)), where, b, a)
    if recording(input, *([other] if isinstance(other, Tensor) else [])):
        if isinstance(other, Tensor):
            _RsubBackward0.record(made, (input, other), alpha=alpha)
        else:
            _RsubBackward1.record(made, (input,), alpha=alpha)
    return made


# product and quotients ------------------------------------------------------------------------------------------------

mul = binary("Product.", "mul", np.multiply, lambda grad, other: grad * other, lambda grad, self: grad * self,
             aliases=("multiply",), exact_numbers=True, adapt=product_in_spare_memory)  # fmt: skip
true_divide = binary(
    "Quotient.", "div", np.true_divide, lambda grad, other: grad / other,
    lambda grad, self, other: -grad * ((self / other) / other), to=FLOAT, aliases=("true_divide",), exact_numbers=True,
)  # fmt: skip


def _not_by_zero(a: np.ndarray, b: np.ndarray) -> None:
    if a.dtype.kind in "iu" and not np.all(b) and np.broadcast(a, b).size:
        raise RuntimeError("ZeroDivisionError")


def _truncating(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.char == "e" and b.size == 1:  # by one number torch divides without rounding to half in between
        return np.trunc(a.astype(np.float32) / b.astype(np.float32)).astype(a.dtype)
    if a.dtype.kind == "f":
        return np.trunc(a / b)
    return a // b + ((a % b != 0) & ((a < 0) != (b < 0)))


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind != "f":
        return np.remainder(a, b)
    m = np.fmod(a, b)  # keeps the sign of a zero, as torch does and NumPy does not
    return np.where((m != 0) & ((b < 0) != (m < 0)), m + b, m)


_NoFloorDivide, _NoFloorDivide_ = not_differentiable("aten::floor_divide"), not_differentiable("aten::floor_divide_")
floor_divide = binary(
    "Quotient, rounded down.", "floor_divide", np.floor_divide, takes="if", stub="div_floor_cpu", checks=_not_by_zero,
    kind=_NoFloorDivide, number_right=_NoFloorDivide, number_left=_NoFloorDivide, kind_in_place=_NoFloorDivide_,
    number_in_place=_NoFloorDivide_,
)  # fmt: skip
remainder = binary(
    "What is left of the division, with the divisor's sign.", "remainder", _remainder, lambda grad: grad,
    lambda grad, self, other: -grad * div(self, other, rounding_mode="floor"), takes="if", stub="remainder_cpu",
    checks=_not_by_zero, backward="RemainderBackward1", numbers=EITHER,
    number_right=node("RemainderBackward0", lambda grad: grad),
    number_left=not_differentiable("aten::remainder"),
)  # fmt: skip
fmod = binary(
    "What is left of the division, with the dividend's sign.", "fmod", np.fmod, lambda grad: grad,
    lambda grad, self, other: -grad * div(self, other, rounding_mode="trunc"), takes="if", stub="fmod_cpu",
    checks=_not_by_zero, backward="FmodBackward1", numbers=RIGHT, number_right=node("FmodBackward0", lambda grad: grad),
)  # fmt: skip
for _name in ("floor", "trunc"):
    binary(f"Quotient, {_name} of it.", f"_{_name}ed", np.floor_divide if _name == "floor" else _truncating,
           takes="if", stub=f"div_{_name}_cpu", checks=_not_by_zero, stays_half=_name == "trunc")  # fmt: skip
_MODES = {"floor": Tensor._floored, "trunc": Tensor._trunced}  # type: ignore[attr-defined]
_MODES_IN_PLACE = {"floor": Tensor._floored_, "trunc": Tensor._trunced_}  # type: ignore[attr-defined]
_plain_in_place = Tensor.div_
_UNSET: Any = object()


def _div_self(grad: Tensor, other: Any, rounding_mode: str | None) -> Tensor:
    return zeros(grad) if rounding_mode else grad / other


def _div_other(grad: Tensor, self: Any, other: Any, rounding_mode: str | None) -> Tensor:
    return zeros(grad) if rounding_mode else -grad * ((self / other) / other)


_DivBackward2 = node("DivBackward2", _div_self, _div_other)


def _check_mode(mode: Any) -> None:
    if mode not in (None, "trunc", "floor"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'")


@op("div", "divide")
def div(input: Any, other: Any, *, rounding_mode: Any = _UNSET, out: Tensor | None = None) -> Tensor:
    """Quotient; `rounding_mode` "floor" rounds it down, "trunc" towards zero.

    RuntimeError for integers divided by zero with rounding. Source: `torch.div`.
    """
    if rounding_mode is _UNSET:
        return true_divide(input, other, out=out)
    _check_mode(rounding_mode)
    if out is not None:
        return (true_divide if rounding_mode is None else _MODES[rounding_mode])(input, other, out=out)
    with no_grad():
        made = (true_divide if rounding_mode is None else _MODES[rounding_mode])(input, other)
    tensors = [x for x in (input, other) if isinstance(x, Tensor)]
    if recording(*tensors):
        values = {"self": _saveable(input), "other": _saveable(other), "rounding_mode": rounding_mode}
        _DivBackward2.record(made, (input, other), **values)
    return made


@op("div_", "divide_", function=False)
def div_(self: Tensor, other: Any, *, rounding_mode: Any = _UNSET) -> Tensor:
    """Quotient. In place.

    Source: `torch.div`.
    """
    if rounding_mode is _UNSET:
        return _plain_in_place(self, other)
    _check_mode(rounding_mode)
    if recording(self, *([other] if isinstance(other, Tensor) else [])):
        if isinstance(other, Tensor):
            check_broadcast_into(self, other._data.shape)
        data = div(self.detach(), other.detach() if isinstance(other, Tensor) else other, rounding_mode=rounding_mode)
        values = {"self": self, "other": _saveable(other), "rounding_mode": rounding_mode}
        return write_in_place(self, (self, other), _DivBackward2, values, lambda: data._data)
    return (_plain_in_place if rounding_mode is None else _MODES_IN_PLACE[rounding_mode])(self, other)


for _name in ("_floored", "_trunced"):
    delattr(Tensor, _name)
    delattr(Tensor, f"{_name}_")


# powers: a kind of node for each combination of tensor and number -----------------------------------------------------


def _pow_number(grad: Tensor, self: Tensor, exponent: Any) -> Tensor:
    power = float(exponent)
    return self.new_zeros(self.shape) if exponent == 0 else grad * times(self.pow(power - 1), power)


def _pow_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    return where(exponent == 0, 0, grad * (exponent * self.pow(minus(exponent, 1))))


def _pow_exponent(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    return grad * where(
        (self == 0).logical_and(exponent >= 0), 0, result * self.to(FUNCTIONS["result_type"](self, exponent)).log()
    )


def _pow_of_number(grad: Tensor, self: Any, exponent: Tensor, result: Tensor) -> Tensor:
    if self == 0:
        return grad * where(exponent >= 0, 0, times(result, -math.inf))
    return grad * times(result, math.log(self) if self > 0 else math.nan)


_PowBackward0 = node("PowBackward0", _pow_number)
_PowBackward1 = node("PowBackward1", _pow_self, _pow_exponent)
_PowBackward2 = node("PowBackward2", lambda grad, exponent, result, self: _pow_of_number(grad, self, exponent, result))


def _power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    kind, number = a.dtype.kind, b.item() if b.ndim == 0 else None
    if kind == "b":
        return a | ~b
    if kind in "iu":
        if kind == "i" and b.size and (b < 0).any():
            odd = np.where(a == -1, np.where(b % 2, -1, 1), 0)
            return np.where(b < 0, np.where(a == 1, 1, odd), np.power(a, np.where(b < 0, 0, b))).astype(a.dtype)
        return np.power(a, b)
    if number == 2:
        return a * a
    if number == 3:
        return a * a * a
    if number == -2:
        return 1 / (a * a)
    if a.dtype == np.float32 and number not in (-1, 0, 0.5, 1):
        return np.power(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    return np.power(a, b)


def _pow(name: str, self: Any, exponent: Any) -> tuple[Any, Any, Any]:
    second = isinstance(exponent, Tensor)
    if not (takes_operands(self, exponent, EITHER)):
        raise TypeError(f"{name}() of what is neither a tensor nor a number")
    if type(exponent) is int and exponent >= 1 << 63 and self._data.dtype.kind != "f":
        check_fits(exponent, dtypes.int64)
    a, b, where = operands(name, self, exponent)
    if not second:
        if a.dtype.kind in "iu" and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        check_fits(exponent, dtypes.BY_NUM[a.dtype.num])
    if second or exponent not in (0, 1):
        check_kernel(a, "if", "pow", b)
    return a, b, where


def _powered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        if a.dtype == np.float16:
            return half(quiet.run(_power, a.astype(np.float32), b.astype(np.float32)))
        return quiet.run(_power, a, b)
    except ValueError:
        raise broadcast_error(a.shape, b.shape) from None


@op()
def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """Each element to the power of an exponent; either may be a number.

    RuntimeError for integers to a negative number. Source: `torch.pow`.
    """
    a, b, where = _pow("pow", input, exponent)
    data = _powered(a, b)
    if out is not None:
        return write_out(out, data, "pow", input, exponent, layout=(a, b))
    # a number to the power of a tensor comes out row-major
    made = (
        result(data, where, *((a, b) if isinstance(exponent, Tensor) else (a,)))
        if isinstance(input, Tensor)
        else result(np.ascontiguousarray(data).reshape(b.shape), where)
    )
    if recording(*[x for x in (input, exponent) if isinstance(x, Tensor)]):
        if not isinstance(exponent, Tensor):
            _PowBackward0.record(made, (input,), self=input, exponent=exponent)
        elif not isinstance(input, Tensor):
            _PowBackward2.record(made, (exponent,), self=input, exponent=exponent)
        else:
            _PowBackward1.record(made, (input, exponent), self=input, exponent=exponent)
    return made


@op(function=False)
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """Each element to the power of an exponent. In place.

    Source: `torch.Tensor.pow_`.
    """
    both = isinstance(exponent, Tensor)
    if not both:
        _pow("pow_", self, exponent)
    kind, inputs = (_PowBackward1, (self, exponent)) if both else (_PowBackward0, (self,))
    a, b = in_place_operands("pow", self, exponent, False, False, kind if both else None)
    if both:
        _pow("pow_", self, exponent)
    return write_in_place(self, inputs, kind, {"self": self, "exponent": exponent}, lambda: _powered(a, b))


@op()
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element times itself.

    Source: `torch.square`.
    """
    return pow(input, 2, out=out)


@op()
def square_(self: Tensor) -> Tensor:
    """Each element times itself. In place.

    Source: `torch.square`.
    """
    return pow_(self, 2)


@op()
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """Each element to the power of an exponent, in double precision.

    Source: `torch.float_power`.
    """
    base = input.to(dtypes.float64) if isinstance(input, Tensor) else float(input)
    power = exponent.to(dtypes.float64) if isinstance(exponent, Tensor) else float(exponent)
    if out is not None and out.dtype is not dtypes.float64:
        check_out_dtype("float_power", dtypes.float64, out.dtype)
    return pow(base, power, out=out)


# operators ------------------------------------------------------------------------------------------------------------

operator("add", FUNCTIONS["add"], FUNCTIONS["add"], Tensor.add_)
operator("sub", FUNCTIONS["sub"], rsub, Tensor.sub_)
operator("mul", mul, mul, Tensor.mul_)
operator("truediv", true_divide, None, Tensor.div_)
operator("floordiv", floor_divide, lambda self, other: floor_divide(other, self), Tensor.floor_divide_)
operator("mod", remainder, lambda self, other: remainder(other, self), Tensor.remainder_)
operator("pow", pow, lambda self, other: pow(other, self), Tensor.pow_)
operator("div", true_divide, None, Tensor.div_)


def _divided_from_the_right(self: Tensor, other: Any) -> Any:
    try:
        return self.reciprocal() * other
    except TypeError:
        return NotImplemented


Tensor.__rtruediv__ = Tensor.__rdiv__ = _divided_from_the_right  # type: ignore[attr-defined]


def _array_wrap(self: Tensor, array: np.ndarray) -> Tensor:
    """What NumPy's functions give when called with tensors: a tensor without history. Source: `torch.Tensor`."""
    from .creation import from_numpy

    return from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)


Tensor.__array_wrap__ = _array_wrap  # type: ignore[attr-defined]
