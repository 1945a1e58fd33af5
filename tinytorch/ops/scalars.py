"""A tensor and a Python number inside torch's own formulas: there it records other nodes than user code does.

`mean` differentiated twice shows `DivBackward1`, not `DivBackward0`: torch's C++ formulas call the overloads for
numbers, which save the number and no tensor. Source: `add.Scalar`, `sub.Scalar`, `mul.Scalar`, `div.Scalar`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor
from .core import FUNCTIONS, quiet, result

_AddBackward1 = node("AddBackward1", lambda grad: grad)
_SubBackward1 = node("SubBackward1", lambda grad: grad)
_MulBackward1 = node("MulBackward1", lambda grad, other: times(grad, other))
_DivBackward1 = node("DivBackward1", lambda grad, other: over(grad, other))


_NUMBER = np.zeros(())  # torch's iterator sees the number as a 0-d operand, which counts in the layout of the result


def _with_number(ufunc: np.ufunc, kind: type, t: Tensor, number: Any) -> Tensor:
    a = t._data
    if a.dtype.kind != "f":
        return FUNCTIONS[{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div"}[ufunc.__name__]](
            t, number
        )
    data = quiet.run(ufunc, a, float(number)) if a.dtype != np.float16 else _half(ufunc, a, number)
    out = result(data, t._device, a, _NUMBER)
    if MODES.here.grad and needs_grad(t):
        kind.record(out, (t,), other=number)
    return out


def _half(ufunc: np.ufunc, a: np.ndarray, number: Any) -> np.ndarray:
    return quiet.run(lambda: ufunc(a.astype(np.float32), np.float32(number)).astype(np.float16))


def plus(t: Tensor, number: Any) -> Tensor:
    """`t + number`."""
    return _with_number(np.add, _AddBackward1, t, number)


def minus(t: Tensor, number: Any) -> Tensor:
    """`t - number`."""
    return _with_number(np.subtract, _SubBackward1, t, number)


def times(t: Tensor, number: Any) -> Tensor:
    """`t * number`."""
    return _with_number(np.multiply, _MulBackward1, t, number)


def over(t: Tensor, number: Any) -> Tensor:
    """`t / number`."""
    return _with_number(np.divide, _DivBackward1, t, number)


def over_in_place(t: Tensor, number: Any) -> Tensor:
    """`t.div_(number)` of a `t` that nobody else has: a new tensor with the version that the old would have."""
    out = over(t, number)
    out._own_counter().version = t._version + 1
    return out


def _filled(t: Tensor, number: Any) -> Tensor:
    """torch's formulas put a number on the left by filling a tensor like the one on the right."""
    out = FUNCTIONS["empty_like"](t)
    out._data[...] = number
    out._own_counter().version = 1  # of the filling
    return out


def minus_from(number: Any, t: Tensor) -> Tensor:
    """`number - t`."""
    return _filled(t, number).sub_(t)


def over_from(number: Any, t: Tensor) -> Tensor:
    """`number / t`."""
    return _filled(t, number).div_(t)


def written_twice(made: Tensor) -> Tensor:
    """What torch's formula fills with zeros and then writes to: both count, where nobody shares the counter yet."""
    made._own_counter().version = 2
    return made


def zeros(t: Tensor) -> Tensor:
    """Zeros in the layout of `t`."""
    return FUNCTIONS["zeros_like"](t)


def where(condition: Tensor, one: Any, other: Any) -> Tensor:
    """Elements of `one` where the condition holds, else of `other`; a number stands for a 0-d tensor."""
    if not isinstance(other, Tensor):
        other = one.new_full((), other)
    elif not isinstance(one, Tensor):
        one = other.new_full((), one)
    return FUNCTIONS["where"](condition, one, other)
