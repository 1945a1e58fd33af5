"""Pointwise operations: comparisons, logic, bits, arithmetic, on operands that broadcast.

A declaration has torch's schema, the NumPy function, and a formula for each gradient. The formulas
follow torch's `derivatives.yaml`. Where that has a Python number beside a tensor, PyTorch calls the
overload for numbers, which saves the number and no tensor; here this is `plus`, `minus`, `times` or
`divide`. Source: the function of the same name in torch.

A kernel that several declarations have in common has a name such as `_add_kernel`; a function on
arrays of which a kernel is made, one such as `_power_of_arrays` or `_clamp_array`.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from ..base import dtypes, lay_out_result, make_absence_error, refuse_operand
from ..graph import run_silenced
from ..tensor import Tensor
from .choosing import masked_fill_, where
from .copies import convert_in_formula
from .creation import empty_like, new_zeros, zeros_like
from .define import make_operator, offer_member, op
from .filling import fill_, written_zeros
from .from_data import from_numpy
from .kernels import (
    Kernel,
    as_array,
    check_kernel,
    composite,
    delegating,
    pointwise,
    result_dtype,
    row_major,
    write,
)
from .late import LaterMethod
from .out_argument import OutArgument, OutRule
from .schema import NOT_GIVEN, is_number, read_operand


def offer_reflected(symbol: str, of_tensors: Any, of_number: Any) -> None:
    """Offer Python's operator for a number on the left, where it does not commute.

    Both functions get the operands as they stand: what is on the left, then the tensor. On the left
    is a tensor only if somebody calls the method by its name. `of_number` may be an overload for two
    tensors, if its kernel takes a number on either side.
    """

    def method(self: Tensor, other: Any = NOT_GIVEN, *surplus: Any) -> Any:
        if surplus:  # as in PyTorch, for a call that no operator makes
            return NotImplemented
        if isinstance(other, Tensor):
            return of_tensors(other, self)
        if is_number(other):
            return of_number(read_operand(other), self)
        return refuse_operand(self, other)

    offer_member(f"__r{symbol}__", method, function=False)


# comparisons --------------------------------------------------------------------------------------


def _declare_writing_comparison(name: str, kernel: pointwise) -> None:
    """Declare a comparison in place: the truth is written as 0 and 1, and no gradient gets past it."""
    for other, node in (("Tensor", "Backward1"), ("Scalar", "Backward0")):
        op(
            f"{name}_(Tensor(a!) self, {other} other)",
            write(kernel.values_to_write),
            function=False,
            backward=name.title() + node,
            self=lambda grad, _self_sizes, _self_dtype: written_zeros(
                grad, _self_sizes, _self_dtype
            ),
            **({"other": _zeros_of_other} if other == "Tensor" else {}),
        )


def _zeros_of_other(grad: Any, _other_sizes: tuple, _other_dtype: Any) -> Any:
    """Return the gradient of what was compared with: zeros."""
    return written_zeros(grad, _other_sizes, _other_dtype)


# Of arrays, too, this gives an array, where `==` of 0-d arrays gives a number.
_equal_kernel = pointwise(np.equal, "bool")
eq = op("eq(Tensor self, Tensor other)", _equal_kernel)
op("eq(Tensor self, Scalar other)", _equal_kernel)
_declare_writing_comparison("eq", _equal_kernel)
for _name, _ufunc in (
    ("ne", np.not_equal),
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
):
    _comparison_kernel = pointwise(_ufunc, "bool")
    op(f"{_name}(Tensor self, Tensor other)", _comparison_kernel, operator=_name)
    op(f"{_name}(Tensor self, Scalar other)", _comparison_kernel)
    _declare_writing_comparison(_name, _comparison_kernel)


def _contains_element(self: Tensor, element: Any) -> bool:
    """Return `element in self`. RuntimeError for what is neither tensor nor number."""
    if isinstance(element, (Tensor, numbers.Number)):
        return bool((element == self)._data.any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def _make_equality() -> Any:
    """Make `__eq__`, which alone takes an array, too, in torch."""
    equals_tensor = make_operator("eq", eq)

    def equals_tensor_or_array(self: Tensor, other: Any = NOT_GIVEN, *surplus: Any) -> Any:
        found = equals_tensor(self, other, *surplus)
        if found is NotImplemented and isinstance(other, np.ndarray):
            return self == from_numpy(other)
        return found

    return equals_tensor_or_array


offer_member("__eq__", LaterMethod(Tensor, "__eq__", _make_equality), function=False)
_contains_element.__qualname__ = "Tensor.__contains__"
offer_member("__contains__", _contains_element, function=False)
isnan = op("isnan(Tensor self)", pointwise(np.isnan, "bool"), out=False)
isinf = op("isinf(Tensor self)", pointwise(np.isinf, "bool"), out=False)
isfinite = op("isfinite(Tensor self)", pointwise(np.isfinite, "bool"), out=False)

# logic and bits -----------------------------------------------------------------------------------

# `in_place=True`: functions that give bools have no `name_` by default. In PyTorch these have one.
logical_not = op(
    "logical_not(Tensor self)",
    pointwise(np.logical_not, "bool", resizes_once=True),
    in_place=True,
)


def _declare_logical(ufunc: np.ufunc) -> Any:
    """Declare an operation on the truth of two tensors; it has the ufunc's name."""
    schema = f"{ufunc.__name__}(Tensor self, Tensor other)"
    return op(schema, pointwise(ufunc, "bool", resizes_once=True), in_place=True)


logical_and = _declare_logical(np.logical_and)
logical_or = _declare_logical(np.logical_or)
logical_xor = _declare_logical(np.logical_xor)
bitwise_not = op(
    "bitwise_not(Tensor self)",
    pointwise(np.invert, takes="bi", stub="bitwise_not_cpu"),
    out="found",
    undifferentiable=True,
)


def _invert(self: Tensor) -> Tensor:
    """Return `~self`. TypeError for floats."""
    if self.dtype.is_floating_point:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return bitwise_not(self)


offer_member("__invert__", _invert, function=False)


def _declare_bitwise(name: str, operator: str, kernel: Kernel) -> Any:
    """Declare an operation on bits, of two tensors or of a tensor and a number."""
    of_two = op(
        f"{name}(Tensor self, Tensor other)", kernel, operator=operator, undifferentiable=True
    )
    op(f"{name}(Scalar self, Tensor other)", kernel, out=False, undifferentiable=True)
    op(f"{name}(Tensor self, Scalar other)", kernel, undifferentiable=True)
    return of_two


bitwise_and = _declare_bitwise(
    "bitwise_and", "and", pointwise(np.bitwise_and, takes="bi", stub="bitwise_and_cpu")
)
_declare_bitwise("bitwise_or", "or", pointwise(np.bitwise_or, takes="bi", stub="bitwise_or_cpu"))
_declare_bitwise(
    "bitwise_xor", "xor", pointwise(np.bitwise_xor, takes="bi", stub="bitwise_xor_cpu")
)
for _name, _symbol, _ufunc in (
    ("left", "lshift", np.left_shift),
    ("right", "rshift", np.right_shift),
):
    # Of a shift by less than 0, or by all bits and more, NumPy gives what PyTorch gives.
    _declare_bitwise(
        f"bitwise_{_name}_shift", _symbol, pointwise(_ufunc, takes="i", stub=f"{_symbol}_cpu")
    )

# whole tensors ------------------------------------------------------------------------------------


def _find_close(self: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Return where two tensors are close, in PyTorch's steps: each `|=` counts as a write.

    RuntimeError for two dtypes, and for tolerances below 0.
    """
    if self.dtype != other.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        # Not `<`, as PyTorch refuses nan, too.
        if not tolerance >= 0:
            raise RuntimeError(
                f"{name} must be greater than or equal to zero, but got {tolerance:g}"
            )
    close, is_floating = self == other, self.is_floating_point()
    if equal_nan and is_floating:
        close |= self.isnan() & other.isnan()
    if rtol == atol == 0:
        return close
    # Bools have no difference. Tolerances are floats, so `other` becomes one before they meet.
    left = self.to(dtypes.get_default_dtype()) if self.dtype is dtypes.bool_ else self
    right = other if is_floating else other.to(dtypes.get_default_dtype())
    allowed, distance = (right * rtol).abs() + atol, (left - right).abs()
    # An infinite distance is never close, not even with an infinite tolerance.
    close |= distance.isfinite() & (distance <= allowed)
    return close


_TOLERANCES = "float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False"
op(f"isclose(Tensor self, Tensor other, {_TOLERANCES})", composite(_find_close))
op(
    f"allclose(Tensor self, Tensor other, {_TOLERANCES}) -> bool",
    # Below autograd, as PyTorch has it: it asks no history of a view, which `isclose` does.
    composite(
        lambda self, other, *how: bool(_find_close(self.detach(), other.detach(), *how).all())
    ),
)
op(
    "equal(Tensor self, Tensor other) -> bool",
    composite(
        lambda self, other: (
            self.shape == other.shape
            and bool(run_silenced(np.equal, self._data, other._data).all())
        )
    ),
)

op("is_nonzero(Tensor self) -> bool", composite(bool))

# what dtype operands meet in ----------------------------------------------------------------------


def _result_type(left: Any, right: Any) -> dtypes.dtype:
    """Return the dtype that two tensors or numbers meet in."""
    if dtypes.is_complex_number(left) or dtypes.is_complex_number(right):
        raise make_absence_error("a complex number")
    return result_dtype(*[x._data if isinstance(x, Tensor) else x for x in (left, right)])


for _operands in (
    "Tensor tensor, Tensor other",
    "Scalar scalar, Tensor tensor",
    "Tensor tensor, Scalar other",
    "Scalar scalar1, Scalar scalar2",
):
    op(f"result_type({_operands}) -> ScalarType", composite(_result_type), method=False)
op(
    "promote_types(ScalarType type1, ScalarType type2) -> ScalarType",
    composite(dtypes.promote_types),
    method=False,
)
op("can_cast(ScalarType from_, ScalarType to) -> bool", composite(dtypes.can_cast), method=False)

# one operand --------------------------------------------------------------------------------------


exp = op("exp(Tensor self)", pointwise(np.exp, "float"), self=lambda grad, result: grad * result)
log = op("log(Tensor self)", pointwise(np.log, "float"), self=lambda grad, self: grad / self)
sin = op("sin(Tensor self)", pointwise(np.sin, "float"), self=lambda grad, self: grad * cos(self))
cos = op("cos(Tensor self)", pointwise(np.cos, "float"), self=lambda grad, self: grad * -sin(self))
tanh = op(
    "tanh(Tensor self)",
    pointwise(np.tanh, "float"),
    self=lambda grad, result: tanh_backward(grad, result),
)
sigmoid = op(
    "sigmoid(Tensor self)",
    pointwise(lambda a: np.reciprocal(1 + np.exp(-a)), "float"),
    self=lambda grad, result: sigmoid_backward(grad, result),
)
sqrt = op(
    "sqrt(Tensor self)",
    pointwise(np.sqrt, "float"),
    self=lambda grad, result: grad / times(result, 2),
)
reciprocal = op(
    "reciprocal(Tensor self)",
    pointwise(np.reciprocal, "float"),
    self=lambda grad, result: -grad * (result * result),
)

_INVERT_ADVICE = (
    "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
)
_MINUS_REFUSED = "{}, the `-` operator, {} not supported. {}"


def _is_bool_operand(x: Any) -> bool:
    """Return True for a bool, and for an array of bools."""
    if type(x) in (bool, int, float, complex):
        return type(x) is bool
    return bool(x.dtype.kind == "b")


def _make_bool_check(message: str, message_if_all: str = "") -> Any:
    """Make a check that raises PyTorch's RuntimeError if an operand is bool, or if all are."""

    def check(*operands: Any) -> None:
        bools = [_is_bool_operand(x) for x in operands]
        if any(bools):
            raise RuntimeError(message_if_all if message_if_all and all(bools) else message)

    return check


def _sign_of_array(a: Any) -> Any:
    """Return -1, 0 or 1 for each element; 0 for nan, where NumPy gives nan."""
    return a.copy() if a.dtype.kind == "b" else np.where(a != a, a.dtype.type(0), np.sign(a))


neg = op(
    "neg(Tensor self)",
    pointwise(
        np.negative,
        takes="if",
        stub="neg_cpu",
        check=_make_bool_check(
            _MINUS_REFUSED.format("Negation", "on a bool tensor is", _INVERT_ADVICE)
        ),
    ),
    out="found",
    operator="neg",
    self=lambda grad: -grad,
)
absolute = op(
    "abs(Tensor self)",
    pointwise(np.abs, takes="if", stub="abs_cpu"),
    out="found",
    operator="abs",
    self=lambda grad, self: grad * sgn(self),
)
sgn = op(
    "sgn(Tensor self)",
    pointwise(_sign_of_array, takes="bif", stub="sign_cpu"),
    out="found",
    also_saved=("self", "result"),
    self=lambda grad: zeros_like(grad),
)
sign = op(
    "sign(Tensor self)",
    pointwise(_sign_of_array, takes="bif", stub="sign_cpu"),
    out="found",
    self=lambda grad: zeros_like(grad),
)
relu = op(
    "relu(Tensor self)",
    pointwise(
        # In this order: of equal zeros the second is taken, and PyTorch gives -0 for -0.
        lambda a: np.maximum(a.dtype.type(0), a),
        takes="if",
        stub="clamp_min_scalar_cpu",
        check=_make_bool_check("Boolean inputs not supported for relu"),
    ),
    in_place=False,
    out=False,
    self=lambda grad, result: threshold_backward(grad, result, 0),
)


op("relu_(Tensor(a!) self)", composite(lambda self: relu.run_in_place(self)))

for _name, _ufunc in (
    ("floor", np.floor),
    ("ceil", np.ceil),
    ("trunc", np.trunc),
    ("round", np.rint),
):
    op(
        f"{_name}(Tensor self)",
        pointwise(
            # NumPy's `rint` would make floats of integers.
            lambda a, f=_ufunc: f(a) if a.dtype.kind == "f" else a.copy(),
            takes="if",
            stub=f"{_name}_vml_cpu",
        ),
        out="found",
        self=lambda grad: zeros_like(grad),
    )


def _round_array(a: Any, decimals: int) -> Any:
    """Round to so many places behind the point, or in front of it."""
    power = a.dtype.type(10.0 ** abs(decimals) if abs(decimals) < 309 else np.inf)
    return np.rint(a * power) / power if decimals >= 0 else np.rint(a / power) * power


op(
    "round(Tensor self, *, int decimals)",
    pointwise(_round_array, takes="f", stub="round_cpu"),
    out="found",
    self=lambda grad: zeros_like(grad),
)


def _positive(self: Tensor) -> Tensor:
    """Return `+self`: the tensor itself. RuntimeError for bools."""
    if self.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


op("positive(Tensor(a) self)", composite(_positive), operator="pos")


_INT_OF_SIZE = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}  # by bytes


def _threshold_array(g: Any, a: Any, threshold: Any) -> Any:
    """Return the gradient where an array is above the threshold, else 0."""
    # The bits of the gradient times 0 or 1: several times faster than np.where. The gradient
    # itself times 0 would make nan of inf.
    g, int_of_bits = np.asarray(g), _INT_OF_SIZE[g.itemsize]
    result = np.empty_like(g)
    np.multiply(g.view(int_of_bits), ~(a <= threshold), result.view(int_of_bits))
    return lay_out_result(result, a, g)


# gradients that are operations of their own: differentiated again they show as one node
threshold_backward = op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold)",
    _threshold_array,
    function=False,
    method=False,
    grad_output=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    self=lambda grad: zeros_like(grad),
)
sigmoid_backward = op(
    "sigmoid_backward(Tensor grad_output, Tensor output)",
    pointwise(lambda g, a: g * (1 - a) * a),
    function=False,
    method=False,
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * plus(times(output, -2), 1),
)
tanh_backward = op(
    "tanh_backward(Tensor grad_output, Tensor output)",
    pointwise(lambda g, a: g * (1 - a * a)),
    function=False,
    method=False,
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, grad_output, output: grad * (times(output, -2) * grad_output),
)

# sum and difference, whose second operand is scaled -----------------------------------------------

_check_subtraction = _make_bool_check(
    _MINUS_REFUSED.format("Subtraction", "with a bool tensor is", _INVERT_ADVICE),
    _MINUS_REFUSED.format(
        "Subtraction",
        "with two bool tensors is",
        "Use the `^` or `logical_xor()` operator instead.",
    ),
)


def check_factor(value: Any, dtype: np.dtype, name: str) -> None:
    """Raise PyTorch's RuntimeError for a number that does not scale a result of that dtype."""
    if isinstance(value, bool) and dtype.kind != "b":
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if dtype.kind in "iub" and isinstance(value, float):
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )
    if isinstance(value, complex):
        raise RuntimeError(
            f"For non-complex input tensors, argument {name} must not be a complex number."
        )


def _scale_addend(a: Any, b: Any, alpha: Any) -> Any:
    """Return `alpha * b`, to be added to `a`."""
    if type(alpha) is int and alpha == 1:
        return b
    # of two errors torch raises that of the shapes
    np.broadcast(a, b)
    check_factor(alpha, b.dtype, "alpha")
    return np.multiply(b, np.array(alpha).astype(b.dtype))


def scale_grad(grad: Any, alpha: Any) -> Any:
    """Multiply a gradient by a number. It is mostly 1, and then makes no node."""
    return grad if alpha == 1 else times(grad, alpha)


_add_kernel = pointwise(
    lambda a, b, alpha: np.add(a, _scale_addend(a, b, alpha)),
    takes="bif",
    stub="add_stub",
    function_at_defaults=np.add,
)
_sub_kernel = pointwise(
    lambda a, b, alpha: np.subtract(a, _scale_addend(a, b, alpha)),
    takes="if",
    stub="add_stub",
    check=_check_subtraction,
    function_at_defaults=np.subtract,
)
# A bare Kernel, which exchanges `a` and `b` and leaves the rest to `_sub_kernel`: the strides of the result
# go by the order of subtraction, `b` first.
_rsub_kernel = Kernel(lambda a, b, alpha: _sub_kernel(b, a, alpha))
add = op(
    "add(Tensor self, Tensor other, *, Scalar alpha=1)",
    _add_kernel,
    numbers=True,
    operator="add",
    self=lambda grad: grad,
    other=lambda grad, alpha: scale_grad(grad, alpha),
)
sub = op(
    "sub(Tensor self, Tensor other, *, Scalar alpha=1)",
    _sub_kernel,
    numbers=True,
    operator="sub",
    self=lambda grad: grad,
    other=lambda grad, alpha: scale_grad(-grad, alpha),
)
rsub = op(
    "rsub(Tensor self, Tensor other, *, Scalar alpha=1)",
    _rsub_kernel,
    method=False,
    in_place=False,
    out=False,
    self=lambda grad, alpha: scale_grad(-grad, alpha),
    other=lambda grad: grad,
)
_subtract_from_number = op(
    "rsub(Tensor self, Scalar other, Scalar alpha=1)",
    _rsub_kernel,
    method=False,
    in_place=False,
    out=False,
    self=lambda grad, alpha: scale_grad(-grad, alpha),
)
offer_reflected(
    "sub",
    # `rsub(a, b)` is `b - a`.
    of_tensors=lambda left, right: rsub(right, left),
    of_number=lambda left, right: _subtract_from_number(right, left),
)

# product and quotients ----------------------------------------------------------------------------


def _refuse_zero_divisor(function: Any) -> Any:
    """Make a function for `pointwise` that raises for integers divided by 0, and else divides."""

    def divide_or_raise(a: Any, b: Any) -> Any:
        # NumPy gives 0 and warns. Where nothing is divided, PyTorch does not raise either.
        if a.dtype.kind in "iu" and not np.all(b) and np.broadcast(a, b).size:
            raise RuntimeError("ZeroDivisionError")
        return function(a, b)

    return divide_or_raise


def _truncate_quotient_of_arrays(a: Any, b: Any) -> Any:
    """Return the quotient without its fraction, as C has it."""
    if a.dtype.kind == "f":
        return np.trunc(a / b)
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient < 0) & (quotient * b != a))


def _remainder_of_arrays(a: Any, b: Any) -> Any:
    """Return the remainder, with the sign of the divisor."""
    if a.dtype.kind != "f":
        return np.remainder(a, b)
    # keeps the sign of a zero, as torch does and NumPy does not
    m = np.fmod(a, b)
    return np.where((m != 0) & ((b < 0) != (m < 0)), m + b, m)


def _divide_number_by(self: Tensor, other: Any = NOT_GIVEN, *surplus: Any) -> Any:
    """Return `other / self`, as PyTorch computes it: by the reciprocal."""
    if surplus:
        return NotImplemented
    try:
        return reciprocal(self) * other
    except TypeError:
        return refuse_operand(self, other)


def _floor_divide_in_place(self: Any, other: Any = NOT_GIVEN, *surplus: Any) -> Any:
    """Write the floor of `self / other` into `self`, for `self //= other`."""
    if surplus:
        return NotImplemented
    try:
        return self.floor_divide_(other)
    except TypeError:
        return refuse_operand(self, other)


_div_kernel = pointwise(np.true_divide, "float")
_floor_divide_kernel = pointwise(
    _refuse_zero_divisor(np.floor_divide), takes="if", stub="div_floor_cpu", resizes_once=True
)
_remainder_kernel = pointwise(
    _refuse_zero_divisor(_remainder_of_arrays), takes="if", stub="remainder_cpu"
)
_fmod_kernel = pointwise(_refuse_zero_divisor(np.fmod), takes="if", stub="fmod_cpu")
mul = op(
    "mul(Tensor self, Tensor other)",
    pointwise(np.multiply),
    numbers=True,
    operator="mul",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)
div = op(
    "div(Tensor self, Tensor other)",
    _div_kernel,
    numbers=True,
    operator="truediv",
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)
op(
    "true_divide(Tensor self, Tensor other)",
    delegating(div, lambda self, other: (self, other)),
    numbers=True,
    out=True,
)
op(
    "true_divide(Tensor self, Scalar other)",
    composite(lambda self, other: div(self, other)),
    out=False,
)
for _other in ("Tensor", "Scalar"):
    op(
        f"true_divide_(Tensor(a!) self, {_other} other)",
        composite(lambda self, other: div.run_in_place(self, other)),
        function=False,
    )
# Not in place by default: the node of `floor_divide_` has a name of its own in PyTorch.
floor_divide = op(
    "floor_divide(Tensor self, Tensor other)",
    _floor_divide_kernel,
    numbers=True,
    operator="floordiv",
    in_place=False,
    undifferentiable=True,
)
op(
    "floor_divide_(Tensor(a!) self, Tensor other)",
    write(_floor_divide_kernel.values_to_write),
    numbers=True,
    function=False,
    undifferentiable=True,
)
op(
    "floor_divide(Tensor self, Scalar other)",
    _floor_divide_kernel,
    in_place=False,
    out=False,
    undifferentiable=True,
)
op(
    "floor_divide_(Tensor(a!) self, Scalar other)",
    write(_floor_divide_kernel.values_to_write),
    function=False,
    undifferentiable=True,
)
remainder = op(
    "remainder(Tensor self, Tensor other)",
    _remainder_kernel,
    operator="mod",
    backward="RemainderBackward1",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div_rounded(self, other, "floor"),
)
remainder_of_number = op(
    "remainder(Scalar self, Tensor other)",
    _remainder_kernel,
    out=False,
    undifferentiable=True,
)
op(
    "remainder(Tensor self, Scalar other)",
    _remainder_kernel,
    backward="RemainderBackward0",
    self=lambda grad: grad,
)
offer_member("__rtruediv__", _divide_number_by, function=False)
offer_member("__ifloordiv__", _floor_divide_in_place, function=False)
_QUOTIENTS = {
    None: _div_kernel,
    "floor": _floor_divide_kernel,
    "trunc": pointwise(
        _refuse_zero_divisor(_truncate_quotient_of_arrays), takes="if", stub="div_trunc_cpu"
    ),
}


class rounded_quotient(pointwise):
    """A quotient by its `rounding_mode`: None, "floor" or "trunc"."""

    def convert_operands(self, values: tuple, target: Any = None) -> list:
        """Convert operands as the quotient of that mode does. RuntimeError for another mode."""
        a, b, mode = values
        if mode not in _QUOTIENTS:
            raise RuntimeError(
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                f"'{mode}'"
            )
        return _QUOTIENTS[mode].convert_operands((a, b), target)


def _grad_of_rounded(grad: Any, other: Any, rounding_mode: str | None) -> Any:
    """Return the gradient of what is divided: none gets past a quotient that is rounded."""
    return grad / other if rounding_mode is None else zeros_like(grad)


_div_rounded_kernel = rounded_quotient(lambda a, b, mode: _QUOTIENTS[mode].function(a, b))
div_rounded = op(
    "div(Tensor self, Tensor other, *, str? rounding_mode)",
    _div_rounded_kernel,
    numbers=True,
    in_place=True,
    backward="DivBackward2",
    self=_grad_of_rounded,
    other=lambda grad, self, other, rounding_mode: (
        -grad * ((self / other) / other) if rounding_mode is None else zeros_like(grad)
    ),
)
op(
    "div(Tensor self, Scalar other, *, str? rounding_mode)",
    _div_rounded_kernel,
    out=False,
    in_place=True,
    backward="DivBackward3",
    self=_grad_of_rounded,
)
op(
    "fmod(Tensor self, Tensor other)",
    _fmod_kernel,
    backward="FmodBackward1",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div_rounded(self, other, "trunc"),
)
op(
    "fmod(Tensor self, Scalar other)",
    _fmod_kernel,
    backward="FmodBackward0",
    self=lambda grad: grad,
)
offer_reflected("floordiv", of_tensors=floor_divide, of_number=floor_divide)
offer_reflected("mod", of_tensors=remainder, of_number=remainder_of_number)

# the overloads for a tensor and a number, which torch's own formulas call
_FORMULA_ONLY = {"function": False, "method": False, "in_place": False, "out": False}
plus = op(
    "add(Tensor self, Scalar other, Scalar alpha=1)",
    _add_kernel,
    **_FORMULA_ONLY,
    backward="AddBackward1",
    self=lambda grad: grad,
)
minus = op(
    "sub(Tensor self, Scalar other, Scalar alpha=1)",
    _sub_kernel,
    **_FORMULA_ONLY,
    backward="SubBackward1",
    self=lambda grad: grad,
)
times = op(
    "mul(Tensor self, Scalar other)",
    pointwise(np.multiply),
    **_FORMULA_ONLY,
    backward="MulBackward1",
    self=lambda grad, other: times(grad, other),
)
divide = op(
    "div(Tensor self, Scalar other)",
    pointwise(np.true_divide, "float"),
    **_FORMULA_ONLY,
    backward="DivBackward1",
    self=lambda grad, other: divide(grad, other),
)

# powers: a kind of node for each combination of tensor and number ---------------------------------


def _power_of_arrays(a: Any, b: Any) -> Any:
    """Return powers as PyTorch's kernels compute them."""
    kind, number = a.dtype.kind, b.item() if b.ndim == 0 else None
    if kind == "b":
        # False to the power of True is the only one that is False.
        return a | ~b
    if kind == "i" and b.size and (b < 0).any():
        odd = np.where(a == -1, np.where(b % 2, -1, 1), 0)
        # NumPy refuses negative exponents of integers; 1 and -1 alone have a power that is not 0.
        return np.where(b < 0, np.where(a == 1, 1, odd), np.power(a, np.where(b < 0, 0, b))).astype(
            a.dtype
        )
    # PyTorch's kernel multiplies for these exponents, which rounds otherwise than `pow`
    if kind == "f" and number == 2:
        return a * a
    if kind == "f" and number == 3:
        return a * a * a
    if kind == "f" and number == -2:
        return 1 / (a * a)
    if kind == "f" and number == 0.5:
        # NumPy takes the square root, which of -0. is -0. and of -inf nan; C has neither for `pow`
        return np.where(a == -np.inf, np.inf, np.sqrt(a) + 0.0)
    return np.power(a, b)


class _PowerByNumber(pointwise):
    """Powers by a number: in float32 and float64 PyTorch takes the square root for two of them."""

    def compute_in_one_dtype(self, arrays: list[np.ndarray], rest: tuple) -> Any:
        """Return the powers; roots have another sign of 0 than `pow` has, and are nan of -inf."""
        a, exponent = arrays[0], arrays[1].item()
        if a.dtype.char in "fd" and abs(exponent) == 0.5:
            return np.sqrt(a) if exponent > 0 else 1 / np.sqrt(a)
        return super().compute_in_one_dtype(arrays, rest)


def _check_exponent(a: Any, exponent: Any) -> None:
    """Raise torch's RuntimeError for an exponent that is a number and does not fit the base."""
    whole = a.dtype.kind != "f" and type(exponent) is int
    if whole and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    d = dtypes.int64 if whole and exponent >= 1 << 63 else result_dtype(a, exponent)
    dtypes.check_range(exponent, d, in_c=True)


def _grad_of_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    """Return the gradient of `exponent` in `self ** exponent`, where `self` is a number.

    Where that is 0, its logarithm would be infinite: PyTorch has a rule for it.
    """
    if self == 0:
        return grad * where(exponent >= 0, 0, times(result, -math.inf))
    return grad * times(result, math.log(self) if self > 0 else math.nan)


_pow_kernel = pointwise(_power_of_arrays, takes="if", stub="pow")

power_of_tensors = op(
    "pow(Tensor self, Tensor exponent)",
    _pow_kernel,
    operator="pow",
    backward="PowBackward1",
    self=lambda grad, self, exponent: where(
        exponent == 0, 0, grad * (exponent * power_of_tensors(self, minus(exponent, 1)))
    ),
    exponent=lambda grad, self, exponent, result: (
        grad
        * where(
            logical_and(self == 0, exponent >= 0),
            0,
            result * log(convert_in_formula(self, _result_type(self, exponent))),
        )
    ),
)


def _prepare_power(out: OutArgument, a: Any, exponent: Any) -> None:
    """Prepare the `out=` of a number's power, which is resized before its dtype is looked at."""
    out.resize(exponent.shape)
    out.check_overlap(exponent)


power_of_number = op(
    "pow(Scalar self, Tensor exponent)",
    # PyTorch makes a result row by row for this overload alone
    row_major(_pow_kernel),
    out=OutRule(prepare=_prepare_power),
    backward="PowBackward2",
    exponent=_grad_of_exponent,
)
power = op(
    "pow(Tensor self, Scalar exponent)",
    _PowerByNumber(_power_of_arrays, takes="bif", stub="pow", check=_check_exponent),
    backward="PowBackward0",
    self=lambda grad, self, exponent: (
        grad * times(power(self, float(exponent) - 1), float(exponent))
        if exponent
        else new_zeros(self, self.shape)
    ),
)
offer_reflected("pow", of_tensors=power_of_tensors, of_number=power_of_number)
op("square(Tensor self)", delegating(power, lambda self: (self, 2)), out=True)
op("square_(Tensor(a!) self)", composite(lambda self: power.run_in_place(self, 2)))

# other functions of two operands ------------------------------------------------------------------


def _interpolate_arrays(a: Any, b: Any, weight: Any) -> Any:
    """Return what is between `a` and `b`, by the weight of `b`."""
    # NumPy would leave out a part of the result, with a warning.
    if isinstance(weight, complex):
        raise make_absence_error("a complex number")
    # in PyTorch's two forms, so that a weight of 1 gives exactly `b`
    return np.where(abs(weight) < 0.5, a + weight * (b - a), b - (b - a) * (1 - weight))


def _check_end(a: Any, end: Any, weight: Any = None) -> None:
    """Raise PyTorch's RuntimeError for an end or a weight of another dtype."""
    ours = dtypes.cpp_name(dtypes.BY_NUM[a.dtype.num])
    for x, name in ((end, "end"), (weight, "weight")):
        theirs = ours if x is None else dtypes.cpp_name(dtypes.BY_NUM[x.dtype.num])
        if ours != theirs:
            raise RuntimeError(f"expected dtype {ours} for `{name}` but got dtype {theirs}")


op(
    "lerp(Tensor self, Tensor end, Tensor weight)",
    pointwise(_interpolate_arrays, takes="f", stub="lerp_kernel_tensor", check=_check_end),
    out="found",
    backward="LerpBackward1",
    # `1 - weight`, as C++ computes it: by a subtraction in place from a tensor of ones.
    self=lambda grad, weight: grad * sub.run_in_place(fill_(empty_like(weight), 1), weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)
op(
    "lerp(Tensor self, Tensor end, Scalar weight)",
    pointwise(_interpolate_arrays, takes="f", stub="lerp_kernel_scalar", check=_check_end),
    in_place=True,
    backward="LerpBackward0",
    self=lambda grad, weight: times(grad, 1.0 - weight),
    end=lambda grad, weight: times(grad, weight),
)


def convert_factor(value: Any, dtype: np.dtype) -> Any:
    """Return a number in the dtype of the operands. RuntimeError in PyTorch's words if it does not fit."""
    d = dtypes.BY_NUM[dtype.num]
    dtypes.check_factor_range(value, d)
    return as_array(value.real, d)


_ADDED_TO = "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1)"
op(
    "addcmul" + _ADDED_TO,
    pointwise(
        lambda a, b, c, value: a + convert_factor(value, a.dtype) * b * c,
        takes="if",
        stub="addcmul_cpu_out",
    ),
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * times(tensor2, value),
    tensor2=lambda grad, tensor1, value: grad * times(tensor1, value),
)


def _check_integer_division(a: Any, b: Any, c: Any) -> None:
    """Raise PyTorch's RuntimeError for integers that are divided by integers."""
    if b.dtype.kind != "f" and c.dtype.kind != "f":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / "
            "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter "
            "implementation: (input + value * tensor1 / tensor2), for all dtypes."
        )


op(
    "addcdiv" + _ADDED_TO,
    pointwise(
        lambda a, b, c, value: a + convert_factor(value, a.dtype) * b / c,
        check=_check_integer_division,
    ),
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: (
        grad * div.run_in_place(fill_(empty_like(tensor2), value), tensor2)
    ),
    tensor2=lambda grad, tensor1, tensor2, value: (
        -grad * (times(tensor1, value) / (tensor2 * tensor2))
    ),
)

# extremes and bounds ------------------------------------------------------------------------------


def _grad_of_extreme(grad: Any, self: Any, other: Any, is_other_taken: Any) -> Any:
    """Return the gradient of a maximum or minimum of two tensors.

    It is halved where both are equal, and 0 where the other one was taken.
    """
    # `where` saves no more than its mask, so its result may be written to, as PyTorch does.
    return masked_fill_(where(self == other, divide(grad, 2), grad), is_other_taken, 0)


def _clamp_array(a: Any, low: Any, high: Any) -> Any:
    """Return an array with all elements between two bounds; None for no bound."""
    # in this order: of equal zeros it gives the second
    if low is not None:
        a = np.maximum(low, a)
    if high is not None:
        a = np.minimum(high, a)
    return a


def _check_any_bound(a: Any, *bounds: Any) -> None:
    """Raise torch's RuntimeError if there is no bound."""
    if all(x is None for x in bounds):
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")


def _check_bound_tensors(a: Any, *bounds: Any) -> None:
    """Raise torch's RuntimeError if there is no bound, its NotImplementedError for two of bools."""
    _check_any_bound(a, *bounds)
    # With one bound it is a maximum or minimum, which takes bools.
    if all(x is not None for x in bounds):
        check_kernel(result_dtype(a, *bounds).np, "if", "clamp_cpu")


def _check_bounds(a: Any, *bounds: Any) -> None:
    """Raise torch's RuntimeError for bounds that are numbers and do not fit the dtype."""
    _check_any_bound(a, *bounds)
    numbers = [x for x in bounds if x is not None]
    d = result_dtype(a, *numbers)
    for x in numbers:
        if dtypes.is_complex_number(x):
            raise make_absence_error("a complex number")
        dtypes.check_range(x, d, in_c=True)


def _grad_inside_bounds(grad: Any, self: Any, min: Any, max: Any) -> Any:
    """Return the gradient where an element is inside of the bounds, else 0."""
    if min is None:
        inside = self <= max
    else:
        inside = self >= min
        if max is not None:
            inside = logical_and.run_in_place(inside, self <= max)
    return where(inside, grad, 0)


_maximum_kernel = pointwise(np.maximum, takes="bif", stub="maximum_cpu")
_minimum_kernel = pointwise(np.minimum, takes="bif", stub="minimum_cpu")
maximum = op(
    "maximum(Tensor self, Tensor other)",
    _maximum_kernel,
    in_place=False,
    self=lambda grad, self, other: _grad_of_extreme(grad, self, other, self < other),
    other=lambda grad, self, other: _grad_of_extreme(grad, self, other, self > other),
)
minimum = op(
    "minimum(Tensor self, Tensor other)",
    _minimum_kernel,
    in_place=False,
    self=lambda grad, self, other: _grad_of_extreme(grad, self, other, self > other),
    other=lambda grad, self, other: _grad_of_extreme(grad, self, other, self < other),
)


def _grad_of_bound(grad: Any, self: Any, min: Any, max: Any, lower: bool) -> Any:
    """Return the gradient of a bound that is a tensor: where it was taken, and no other one."""
    if lower:
        is_taken = self < min
        # Of two bounds in the wrong order PyTorch takes the upper one.
        if max is not None:
            is_taken = logical_and.run_in_place(is_taken, min < max)
    else:
        is_taken = self > max
        if min is not None:
            is_taken = logical_or.run_in_place(is_taken, max < min)
    return where(is_taken, grad, 0)


op(
    "clamp(Tensor self, Tensor? min=None, Tensor? max=None)",
    pointwise(_clamp_array, check=_check_bound_tensors),
    aka=("clip",),
    backward="ClampBackward0",
    self=_grad_inside_bounds,
    min=lambda grad, self, min, max: _grad_of_bound(grad, self, min, max, True),
    max=lambda grad, self, min, max: _grad_of_bound(grad, self, min, max, False),
)
op(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None)",
    pointwise(_clamp_array, takes="if", stub="clamp_scalar_cpu", check=_check_bounds, in_c=True),
    out="found",
    aka=("clip",),
    backward="ClampBackward1",
    self=_grad_inside_bounds,
)
# No ufunc, which would be handed what it writes to as a third argument: NumPy advises against that
# for these two.
op(
    "clamp_min(Tensor self, Tensor min)",
    pointwise(lambda a, b: np.maximum(a, b), takes="bif", stub="maximum_cpu"),
    backward="ClampMinBackward1",
    self=lambda grad, self, min: where(self >= min, grad, 0),
    min=lambda grad, self, min: where(self < min, grad, 0),
)
op(
    "clamp_min(Tensor self, Scalar min)",
    pointwise(
        lambda a, low: _clamp_array(a, low, None),
        takes="if",
        stub="clamp_min_scalar_cpu",
        check=_check_bounds,
        in_c=True,
    ),
    out="found",
    backward="ClampMinBackward0",
    self=lambda grad, self, min: where(self >= min, grad, 0),
)
op(
    "clamp_max(Tensor self, Tensor max)",
    pointwise(lambda a, b: np.minimum(a, b), takes="bif", stub="minimum_cpu"),
    backward="ClampMaxBackward1",
    self=lambda grad, self, max: where(self <= max, grad, 0),
    max=lambda grad, self, max: where(self > max, grad, 0),
)
op(
    "clamp_max(Tensor self, Scalar max)",
    pointwise(
        lambda a, high: _clamp_array(a, None, high),
        takes="if",
        stub="clamp_max_scalar_cpu",
        check=_check_bounds,
        in_c=True,
    ),
    out="found",
    backward="ClampMaxBackward0",
    self=lambda grad, self, max: where(self <= max, grad, 0),
)
