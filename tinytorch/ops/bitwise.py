"""Comparisons, logic and bits: pointwise operations without derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..graph.node import node
from ..tensor import Tensor, fresh
from .arguments import is_number, unfit
from .core import FUNCTIONS, broadcast_error, op, quiet, result
from .pointwise import BOOL, EITHER, EVERY, KEEP, RIGHT, TENSORS, binary, operator, read_histories, unary


def _filled_zeros(like: tuple) -> Tensor:
    made = fresh(np.zeros(*like[:2]), like[2])
    made._own_counter().version = 1  # filling them counts
    return made


def _comparison(what: str, name: str, ufunc: np.ufunc, aliases: tuple[str, ...] = (), takes: str = "bif") -> Any:
    """Declare a comparison; in place it has nodes, whose gradients are zero."""
    kinds = (
        node(
            f"{name.title()}Backward1",
            lambda grad, _self: _filled_zeros(_self),
            lambda grad, _other: _filled_zeros(_other),
        ),
        node(f"{name.title()}Backward0", lambda grad, _self: _filled_zeros(_self)),
    )
    return binary(what, name, ufunc, to=BOOL, numbers=RIGHT, aliases=aliases, takes=takes, stub=f"{name}_cpu",
                  kind_in_place=kinds[0], number_in_place=kinds[1])  # fmt: skip


eq = _comparison("Whether equal.", "eq", np.equal, takes=EVERY)
ne = _comparison("Whether different.", "ne", np.not_equal, ("not_equal",), EVERY)
lt = _comparison("Whether less.", "lt", np.less, ("less",))
le = _comparison("Whether less or equal.", "le", np.less_equal, ("less_equal",))
gt = _comparison("Whether greater.", "gt", np.greater, ("greater",))
ge = _comparison("Whether greater or equal.", "ge", np.greater_equal, ("greater_equal",))

for _name, _ufunc, _what in (
    ("logical_and", np.logical_and, "Whether both are nonzero."),
    ("logical_or", np.logical_or, "Whether one is nonzero."),
    ("logical_xor", np.logical_xor, "Whether exactly one is nonzero."),
):
    binary(_what, _name, _ufunc, to=BOOL, numbers=TENSORS, takes="bif", stub=f"{_name}_cpu")
unary("Whether zero.", "logical_not", np.logical_not, to=BOOL, takes="bif", stub="logical_not_cpu", in_place="method")
bitwise_not = unary("Every bit flipped.", "bitwise_not", np.invert, to=KEEP, takes="bi", stub="bitwise_not_cpu",
                    in_place="method")  # fmt: skip
for _name, _ufunc, _what in (
    ("bitwise_and", np.bitwise_and, "The bits that both have."),
    ("bitwise_or", np.bitwise_or, "The bits that one has."),
    ("bitwise_xor", np.bitwise_xor, "The bits that exactly one has."),
):
    binary(_what, _name, _ufunc, numbers=EITHER, takes="biw", stub=f"{_name}_cpu")


def _left_shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    bits = a.dtype.itemsize * 8
    outside = (b < 0) | (b >= bits)
    return np.where(outside, a.dtype.type(0), np.left_shift(a, np.where(outside, b.dtype.type(0), b)))


def _right_shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    most = a.dtype.itemsize * 8 - (a.dtype.kind == "i")
    outside = (b < 0) | (b >= most)
    by = np.where(outside, b.dtype.type(min(most, a.dtype.itemsize * 8 - 1)), b)
    shifted = np.right_shift(a, by)
    return np.where(outside, a.dtype.type(0), shifted) if a.dtype.kind == "u" else shifted


binary("Shifted left by so many bits.", "bitwise_left_shift", _left_shift, numbers=EITHER, takes="i", stub="lshift_cpu")
binary(
    "Shifted right by so many bits.", "bitwise_right_shift", _right_shift, numbers=EITHER, takes="i", stub="rshift_cpu"
)
binary("Greatest common divisor.", "gcd", np.gcd, numbers=TENSORS, takes="i", stub="gcd_cpu")
binary("Least common multiple.", "lcm", np.lcm, numbers=TENSORS, takes="i", stub="lcm_cpu")

for _symbol, _name in (("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor"),
                       ("lshift", "bitwise_left_shift"), ("rshift", "bitwise_right_shift")):  # fmt: skip
    _f = getattr(Tensor, _name)
    operator(_symbol, _f, lambda self, other, f=_f: f(other, self), getattr(Tensor, f"{_name}_"))
for _symbol, _f in (("lt", lt), ("le", le), ("gt", gt), ("ge", ge)):
    operator(_symbol, _f)


def _invert(self: Tensor) -> Tensor:
    if self._data.dtype.kind == "f":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


def _equal(self: Tensor, other: Any) -> Any:
    if isinstance(other, np.ndarray):  # here alone torch takes an array
        other = FUNCTIONS["from_numpy"](other)
    return eq(self, other) if isinstance(other, Tensor) or is_number(other) else NotImplemented


def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, Tensor) or is_number(element):
        return bool(eq(element, self)._data.any() if isinstance(element, Tensor) else eq(self, element)._data.any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


operator("ne", ne)
Tensor.__eq__ = _equal  # type: ignore[method-assign]
Tensor.__invert__ = _invert  # type: ignore[attr-defined]
Tensor.__contains__ = _contains  # type: ignore[attr-defined]


# whole tensors --------------------------------------------------------------------------------------------------------


@op()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    Source: `torch.equal`.
    """
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise unfit("equal")
    if input._device is not other._device:
        raise RuntimeError(f"Cannot compare two tensors on different devices. Got: {input._device} and {other._device}")
    return input._data.shape == other._data.shape and bool((input._data == other._data).all())


def _number(tolerance: Any) -> Any:
    return tolerance.item() if isinstance(tolerance, Tensor) else tolerance


def _close(name: str, a: Tensor, b: Tensor, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        raise unfit(name)
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{a.dtype.scalar_name} did not match {b.dtype.scalar_name}")
    for tolerance, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{tolerance} must be greater than or equal to zero, but got {value}")
    x, y = a._data, b._data
    close: Any
    try:
        close = x == y
    except ValueError:
        raise broadcast_error(x.shape, y.shape) from None
    if equal_nan and x.dtype.kind == "f":
        close = close | ((x != x) & (y != y))
    if rtol or atol:
        if x.dtype.kind != "f":
            x, y = (v.astype(dtypes.get_default_dtype().np) for v in (x, y))
        allowed = atol + np.abs(rtol * y)
        error = np.abs(x - y)
        close = close | (np.isfinite(error) & (error <= allowed))
    return close


@op()
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|, element by element.

    RuntimeError for two dtypes. Source: `torch.isclose`.
    """
    read_histories(other, input)
    data = quiet.run(_close, "isclose", input, other, _number(rtol), _number(atol), equal_nan)
    out = result(data, input._device, input._data, other._data)
    writes = (equal_nan and input._data.dtype.kind == "f") + (not rtol == atol == 0)
    if writes and not out._inference:  # torch makes it in place, in steps
        out._own_counter().version = writes
    return out


@op()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close, see `isclose`.

    Source: `torch.allclose`.
    """
    return bool(quiet.run(_close, "allclose", input, other, _number(rtol), _number(atol), equal_nan).all())
