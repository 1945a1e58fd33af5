"""Pointwise operations of two and three operands other than arithmetic: extremes, bounds, angles, blends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..fused import multiply_add
from ..graph.history import check_inplace, needs_grad
from ..graph.node import node, not_differentiable
from ..tensor import Tensor
from .arguments import is_number, unfit
from .core import (
    FUNCTIONS,
    as_array,
    broadcast_error,
    check_overlap,
    common_device,
    op,
    quiet,
    record,
    recording,
    result,
    result_dtype,
    write_in_place,
    write_out,
)  # fmt: skip
from .outputs import OUT_DTYPE
from .pointwise import (
    EITHER,
    FLOAT,
    RIGHT,
    TENSORS,
    binary,
    cannot_cast,
    check_broadcast_into,
    check_fits,
    check_kernel,
    half,
    through_double,
)
from .recording import node_for
from .scalars import minus_from, over, over_from, plus, times, where, zeros

_CPP = {"bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
        "int64": "long int", "float16": "c10::Half", "float32": "float", "float64": "double"}  # fmt: skip


# extremes -------------------------------------------------------------------------------------------------------------


def _halved(self: Tensor, other: Tensor, grad: Tensor) -> Tensor:
    return where(self == other, over(grad, 2), grad)


def _kept(self: Tensor, other: Tensor, order: Any) -> Tensor:
    return order(self, other).logical_or(other.isnan())


binary("The larger one.", "maximum", np.maximum,
       lambda grad, self, other: _halved(self, other, grad).masked_fill_(self < other, 0),
       lambda grad, self, other: _halved(self, other, grad).masked_fill_(self > other, 0),
       numbers=TENSORS, in_place=False, takes="bif", stub="maximum_cpu")  # fmt: skip
binary("The smaller one.", "minimum", np.minimum,
       lambda grad, self, other: _halved(self, other, grad).masked_fill_(self > other, 0),
       lambda grad, self, other: _halved(self, other, grad).masked_fill_(self < other, 0),
       numbers=TENSORS, in_place=False, takes="bif", stub="minimum_cpu")  # fmt: skip
binary("The larger one, the other where one is nan.", "fmax", np.fmax,
       lambda grad, self, other: grad.masked_fill(_kept(self, other, Tensor.ge).logical_not(), 0),
       lambda grad, self, other: grad.masked_fill(_kept(self, other, Tensor.ge), 0), numbers=TENSORS, in_place=False,
       takes="bif", stub="maximum_cpu")  # fmt: skip
binary("The smaller one, the other where one is nan.", "fmin", np.fmin,
       lambda grad, self, other: grad.masked_fill(_kept(self, other, Tensor.le).logical_not(), 0),
       lambda grad, self, other: grad.masked_fill(_kept(self, other, Tensor.le), 0), numbers=TENSORS, in_place=False,
       takes="bif", stub="minimum_cpu")  # fmt: skip

# angles, logarithms, signs --------------------------------------------------------------------------------------------


def _angle_backward(grad: Tensor, self: Tensor, other: Tensor) -> tuple:
    squares = self * self + other * other
    per_square = squares.reciprocal().masked_fill(squares == 0, 0)
    return grad * other * per_square, grad * -self * per_square


_Both = node("Atan2Backward0", _angle_backward, spread=True)


def _for_those_who_need_it(self: Any, grads: tuple) -> tuple:
    both = _Both.apply(self, grads)
    return tuple([g if edge is not None else None for g, edge in zip(both, self._edges, strict=True)])


_Atan2Backward0 = type("Atan2Backward0", (_Both,),
                       {"__slots__": (), "__module__": "builtins", "apply": _for_those_who_need_it})  # fmt: skip


def _angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NumPy's own in float32 is off by a bit where torch's is rounded right."""
    return np.arctan2(a.astype(np.float64), b).astype(a.dtype) if a.dtype == np.float32 else np.arctan2(a, b)


binary("The angle of the point (other, self).", "atan2", _angle,
       kind=_Atan2Backward0, to=FLOAT, numbers=TENSORS,
       aliases=("arctan2",))  # fmt: skip
binary("The length of the hypotenuse.", "hypot", np.hypot, lambda grad, self, result: grad * self / result,
       lambda grad, other, result: grad * other / result, numbers=TENSORS, takes="f", stub="hypot_cpu")  # fmt: skip
binary("log(exp(a) + exp(b)).", "logaddexp", np.logaddexp,
       lambda grad, self, other: grad / plus((other - self).exp(), 1),
       lambda grad, self, other: grad / plus((self - other).exp(), 1), numbers=TENSORS, in_place=False, takes="f",
       stub="logaddexp_cpu")  # fmt: skip
binary("log2(2 ** a + 2 ** b).", "logaddexp2", np.logaddexp2,
       lambda grad, self, other: grad / plus(FUNCTIONS["pow"](2, other - self), 1),
       lambda grad, self, other: grad / plus(FUNCTIONS["pow"](2, self - other), 1), numbers=TENSORS, in_place=False,
       takes="f", stub="logaddexp2_cpu")  # fmt: skip


_log = through_double(np.log)


def _xlogy(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b != b, b, np.where(a == 0, b.dtype.type(0), a * _log(b)))


def _xlogy_self(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    return FUNCTIONS["xlogy"](grad, other).masked_fill((self == 0).logical_and(other <= 0), 0)


binary("a * log(b), 0 where a is 0.", "xlogy", _xlogy, _xlogy_self,
       lambda grad, self, other: grad * self / other, to=FLOAT, numbers=EITHER, stays_half=True,
       number_right=node("XlogyBackward2",
                         lambda grad, other, self: FUNCTIONS["xlogy"](grad, other if other > 0 else 1.0)),
       number_left=node("XlogyBackward1", lambda grad, other, self: times(grad, self) / other))  # fmt: skip


def _copysign_self(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    return grad * (result / self).masked_fill_(self == 0, 0)


binary("The first with the second's sign.", "copysign", np.copysign, _copysign_self, lambda grad: zeros(grad).zero_(),
       to=FLOAT, numbers=RIGHT, number_right=node("CopysignBackward1", _copysign_self))  # fmt: skip
binary("The first times 2 to the second.", "ldexp", lambda a, b: a * np.exp2(b),
       lambda grad, other: grad * FUNCTIONS["pow"](2, other),
       lambda grad, result: times(grad * result, math.log(2)), to=FLOAT, numbers=TENSORS)  # fmt: skip


def _heaviside(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a == 0, b, (a > 0).astype(a.dtype))


binary("0 below zero, 1 above, the second operand at zero.", "heaviside", _heaviside,
       numbers=TENSORS, takes="bif", stub="heaviside_cpu", kind=not_differentiable("aten::heaviside"),
       kind_in_place=not_differentiable("aten::heaviside_"))  # fmt: skip
_heaviside_any = FUNCTIONS["heaviside"]


@op("heaviside")
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above, `values` at zero. RuntimeError for two dtypes.

    Source: `torch.heaviside`.
    """
    if not (isinstance(input, Tensor) and isinstance(values, Tensor)):
        raise unfit("heaviside")
    if input.dtype is not values.dtype:
        raise RuntimeError(OUT_DTYPE["heaviside"])
    return _heaviside_any(input, values, out=out)


def _check_shapes(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for x, y in ((a, b), (a, c), (b, c)):
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            raise broadcast_error(x.shape, y.shape) from None


# bounds ---------------------------------------------------------------------------------------------------------------


def _inside(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    condition = None if min is None else self >= min
    if max is not None:
        condition = self <= max if condition is None else condition.logical_and_(self <= max)
    return where(condition, grad, 0)  # type: ignore[arg-type]


def _below(grad: Tensor, self: Tensor, min: Tensor, max: Tensor | None) -> Tensor:
    return where(self < min if max is None else (self < min).logical_and_(min < max), grad, 0)


def _above(grad: Tensor, self: Tensor, min: Tensor | None, max: Tensor) -> Tensor:
    return where(self > max if min is None else (self > max).logical_or_(max < min), grad, 0)


_ClampBackward0 = node("ClampBackward0", _inside, _below, _above)
_ClampBackward1 = node("ClampBackward1", _inside)
_ClampMinBackward0 = node("ClampMinBackward0", lambda grad, self, min: where(self >= min, grad, 0))
_ClampMinBackward1 = node("ClampMinBackward1", lambda grad, self, min: where(self >= min, grad, 0),
                          lambda grad, self, min: where(self < min, grad, 0))  # fmt: skip
_ClampMaxBackward0 = node("ClampMaxBackward0", lambda grad, self, max: where(self <= max, grad, 0))
_ClampMaxBackward1 = node("ClampMaxBackward1", lambda grad, self, max: where(self <= max, grad, 0),
                          lambda grad, self, max: where(self > max, grad, 0))  # fmt: skip

_KINDS = {
    ("clamp", True): _ClampBackward0, ("clamp", False): _ClampBackward1, ("clamp_min", True): _ClampMinBackward1,
    ("clamp_min", False): _ClampMinBackward0, ("clamp_max", True): _ClampMaxBackward1,
    ("clamp_max", False): _ClampMaxBackward0,
}  # fmt: skip
_STUBS = {("clamp", True): "clamp_cpu", ("clamp", False): "clamp_scalar_cpu", ("clamp_min", True): "maximum_cpu",
          ("clamp_min", False): "clamp_min_scalar_cpu", ("clamp_max", True): "minimum_cpu",
          ("clamp_max", False): "clamp_max_scalar_cpu"}  # fmt: skip


def _as_number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) and not x._data.ndim and not x.requires_grad else x


def _clamped(name: str, self: Tensor, low: Any, high: Any, out: Tensor | None, into: bool) -> Tensor:
    """`clamp` and its one-sided forms, out of place or into `self`."""
    if not isinstance(self, Tensor):
        raise unfit(name)
    if isinstance(low, Tensor) != isinstance(high, Tensor):
        # a number goes with a 0-d tensor, which then counts as a number, and with no other
        low, high = (_as_number(x) if None not in (low, high) else x for x in (low, high))
    mixed = (is_number(low) and isinstance(high, Tensor)) or (is_number(high) and isinstance(low, Tensor))
    if mixed or not all(x is None or isinstance(x, Tensor) or is_number(x) for x in (low, high)):
        raise unfit(name)
    if low is None and high is None:
        raise RuntimeError(f"torch.{name}: At least one of 'min' or 'max' must not be None")
    tensors = isinstance(low, Tensor) or isinstance(high, Tensor)
    given = [x for x in (self, low, high) if x is not None]
    d = result_dtype(*given)
    values = {"self": self, "min": low, "max": high}
    sources = (self, low, high) if name == "clamp" else (self, low if name == "clamp_min" else high)
    inputs = sources if tensors else (self,)
    if into and tensors:
        try:
            check_overlap(self, low, high)
            check_broadcast_into(self, *[x._data.shape for x in (low, high) if x is not None])
        except RuntimeError:
            if recording(*given):
                check_inplace(self, True)
                node_for(_KINDS[name, tensors], inputs, values | {"self": None})  # says what may not be saved
            raise
    if (into or out is self) and not dtypes.can_cast(d, self.dtype):
        target = self.dtype.scalar_name if tensors else _CPP[self.dtype.called]
        raise RuntimeError(f"result type {d.scalar_name} can't be cast to the desired output type {target}")
    arrays = []
    for x in (low, high):
        if x is not None and not tensors:
            check_fits(x, d)
            if d is dtypes.float32:
                dtypes.check_range(x, d, in_c=True)
        arrays.append(None if x is None else as_array(x, d))
    a = as_array(self, d)
    both = name == "clamp" and (not tensors or None not in (low, high))
    stub = name if tensors or None not in (low, high) else "clamp_min" if high is None else "clamp_max"
    check_kernel(a, "if" if both or not tensors else "bif", _STUBS[stub, tensors])

    def compute() -> Any:
        data = a
        try:
            if arrays[0] is not None:
                data = np.maximum(data, arrays[0])
            return data if arrays[1] is None else np.minimum(data, arrays[1])
        except ValueError:
            _check_shapes(*(x if x is not None else a for x in (a, *arrays)))  # raises torch's error
            raise

    if into:
        check_overlap(self)
        return write_in_place(self, inputs, _KINDS[name, tensors], values, compute)
    data = compute()
    if out is not None:
        what = "maximum" if tensors else name  # as which torch converts into `out`
        return write_out(out, data, what, *given, layout=tuple(x for x in (a, *arrays) if x is not None))
    where_ = common_device(name, *[x for x in given if isinstance(x, Tensor)])
    made = result(data, where_, *[x for x in (a, *arrays) if x is not None and (tensors or x is a)])
    if recording(*[x for x in given if isinstance(x, Tensor)]):
        record(made, _KINDS[name, tensors], inputs, **values)
    return made


@op("clamp", "clip")
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Each element moved between two bounds, numbers or tensors; one may be left out.

    RuntimeError if both are. Source: `torch.clamp`.
    """
    return _clamped("clamp", input, min, max, out, False)


@op("clamp_", "clip_")
def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Each element moved between two bounds. In place.

    Source: `torch.clamp`.
    """
    return _clamped("clamp", self, min, max, None, True)


@op()
def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Tensor:
    """Each element, but at least `min`.

    Source: `torch.clamp_min`.
    """
    if not isinstance(input, Tensor):
        raise unfit("clamp_min")
    return _clamped("clamp_min", input, min, None, out, False)


@op()
def clamp_min_(self: Tensor, min: Any) -> Tensor:
    """Each element, but at least `min`. In place.

    Source: `torch.clamp_min`.
    """
    return _clamped("clamp_min", self, min, None, None, True)


@op()
def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Tensor:
    """Each element, but at most `max`.

    Source: `torch.clamp_max`.
    """
    if not isinstance(input, Tensor):
        raise unfit("clamp_max")
    return _clamped("clamp_max", input, None, max, out, False)


@op()
def clamp_max_(self: Tensor, max: Any) -> Tensor:
    """Each element, but at most `max`. In place.

    Source: `torch.clamp_max`.
    """
    return _clamped("clamp_max", self, None, max, None, True)


# blends of three ------------------------------------------------------------------------------------------------------


def _by(grad: Tensor, weight: Any) -> Tensor:
    return grad * weight if isinstance(weight, Tensor) else times(grad, weight)


_LerpBackward0 = node(
    "LerpBackward0", lambda grad, weight: _by(grad, 1 - weight), lambda grad, weight: _by(grad, weight)
)
_LerpBackward1 = node("LerpBackward1",
                      lambda grad, weight: grad * minus_from(1, weight), lambda grad, weight: grad * weight,
                      lambda grad, self, end: grad * (end - self))  # fmt: skip


def _lerp(self: Tensor, end: Tensor, weight: Any, into: bool = False) -> tuple[Any, tuple]:
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x.dtype is not self.dtype and (x is end or x._data.ndim):
            raise RuntimeError(
                f"expected dtype {_CPP[self.dtype.called]} for `{name}` but got dtype {_CPP[x.dtype.called]}"
            )
    a, b = self._data, end._data
    w = weight._data if isinstance(weight, Tensor) else np.array(weight, np.float64)
    if into:
        check_overlap(self, end, weight)
    _check_shapes(a, b, w)
    if into:
        check_broadcast_into(self, b.shape, w.shape)
    check_kernel(a, "f", f"lerp_kernel_{'tensor' if isinstance(weight, Tensor) else 'scalar'}")
    w = weight._data.astype(a.dtype, copy=False) if isinstance(weight, Tensor) else np.array(weight, a.dtype)
    wide = [x.astype(np.float32) if a.dtype == np.float16 else x for x in (a, b, w)]

    def kernel() -> np.ndarray:
        x, y, t = wide
        far = y - x
        return np.where(np.abs(t) < 0.5, multiply_add(t, far, x), multiply_add(-far, 1 - t, y)).astype(a.dtype)

    common_device("lerp", self, end, *((weight,) if isinstance(weight, Tensor) else ()))
    return quiet.run(kernel), (a, b, w) if isinstance(weight, Tensor) else (a, b)


@op()
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """`input + weight * (end - input)`. RuntimeError for different dtypes.

    Source: `torch.lerp`.
    """
    data, arrays = _lerp(input, end, weight)
    if out is not None:
        return write_out(out, data, "lerp", input, end, weight, layout=arrays)
    made = result(data, input._device, *arrays)
    if isinstance(weight, Tensor):
        if recording(input, end, weight):
            others = {"self": input, "end": end} if needs_grad(weight) else {"self": None, "end": None}
            record(made, _LerpBackward1, (input, end, weight), weight=weight, **others)
    elif recording(input, end):
        record(made, _LerpBackward0, (input, end), weight=weight)
    return made


@op(function=False)
def lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Moved towards `end` by `weight`. In place.

    Source: `torch.lerp`.
    """
    data, _ = _lerp(self, end, weight, into=True)
    both = isinstance(weight, Tensor)
    inputs = (self, end, weight) if both else (self, end)
    values = {"self": self, "end": end, "weight": weight}
    return write_in_place(self, inputs, _LerpBackward1 if both else _LerpBackward0, values, lambda: data)


def _triple(name: str, combine: Any, for_first: Any, for_second: Any, what: str) -> None:
    """`addcmul` and `addcdiv`: a tensor plus a number times a product or quotient of two others."""
    kind = node(f"{name.title()}Backward0", lambda grad: grad, for_first, for_second)

    def compute(self: Tensor, one: Tensor, two: Tensor, value: Any, into: bool = False) -> tuple[Any, tuple]:
        if not all(isinstance(x, Tensor) for x in (self, one, two)):
            raise unfit(name)
        if name == "addcdiv" and one._data.dtype.kind != "f" and two._data.dtype.kind != "f":
            raise RuntimeError(_NO_INTEGER_ADDCDIV)
        if into:
            check_overlap(self, one, two)
            _check_shapes(self._data, one._data, two._data)
            check_broadcast_into(self, one._data.shape, two._data.shape)
        d = result_dtype(self, one, two)
        common_device(name, self, one, two)
        arrays = tuple(as_array(x, d) for x in (self, one, two))
        check_kernel(arrays[0], "if", f"{name}_cpu_out")
        wide = [a.astype(np.float32) for a in arrays] if d is dtypes.float16 else arrays
        factor = np.array(value).astype(wide[0].dtype)
        _check_shapes(*arrays)
        data = quiet.run(combine, *wide, factor)  # type: ignore[call-arg]
        return half(data) if d is dtypes.float16 else data, arrays

    def function(input: Tensor, one: Any, two: Any, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
        data, arrays = compute(input, one, two, value)
        if out is not None:
            return write_out(out, data, name, input, one, two, layout=arrays)
        made = result(data, input._device, *arrays)
        if recording(input, one, two):
            record(made, kind, (input, one, two), tensor1=one, tensor2=two, value=value)
        return made

    def in_place(self: Tensor, one: Any, two: Any, *, value: Any = 1) -> Tensor:
        data, _ = compute(self, one, two, value, into=True)
        d = dtypes.BY_NUM[data.dtype.num]
        if not dtypes.can_cast(d, self.dtype):
            raise cannot_cast(d, self.dtype)
        values = {"tensor1": one, "tensor2": two, "value": value}
        return write_in_place(self, (self, one, two), kind, values, lambda: data)

    for f, n in ((function, name), (in_place, f"{name}_")):
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}\n\nSource: `torch.{name}`."
        op(n, function=n == name)(f)


_NO_INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
    "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes."
)


def _product_added(a: np.ndarray, b: np.ndarray, c: np.ndarray, v: np.ndarray) -> np.ndarray:
    return multiply_add(v * b, c, a) if a.dtype.kind == "f" else a + v * b * c


_triple("addcmul", _product_added, lambda grad, tensor2, value: grad * times(tensor2, value),
        lambda grad, tensor1, value: grad * times(tensor1, value), "`input + value * tensor1 * tensor2`.")  # fmt: skip
_triple("addcdiv", lambda a, b, c, v: a + v * b / c, lambda grad, tensor2, value: grad * over_from(value, tensor2),
        lambda grad, tensor1, tensor2, value: -grad * (times(tensor1, value) / (tensor2 * tensor2)),
        "`input + value * tensor1 / tensor2`.")  # fmt: skip
