"""Pointwise operations: what turns a row (name, forward, derivative) into function, method and in-place form.

The rows stand in `pointwise_table`, `arithmetic` and `bitwise`. A derivative's parameter names say what is saved, see
`graph.node`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes
from ..buffers import empty
from ..devices import CPU, device
from ..graph.history import check_inplace, grad_fn_of, needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor, fresh, of_array
from .arguments import ABSENT, again, is_misplaced, is_number
from .core import (
    SavedNumber,
    as_array,
    as_method_of,
    broadcast_error,
    check_overlap,
    common_device,
    op,
    quiet,
    recording,
    result,
    result_dtype,
    result_like,
    write_in_place,
    write_out,
)
from .large import MANY, pointwise
from .precedence import WITHOUT_HISTORY, say_first
from .recording import node_for, records_pointwise, wants_grad
from .short import short_of_two

ndarray = np.ndarray
KEEP, FLOAT, BOOL = "keep", "float", "bool"
_HALF = np.dtype(np.float16)
_FLOAT32 = np.dtype(np.float32).num
_SINGLE, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_IN_ONE_PIECE = 256  # elements up to which three plain calls are quicker than one that converts
MOST_IN_DOUBLE = 1 << 18  # elements; see through_double

# For which dtypes torch has a kernel: b for bool, i for the usual integers, w for uint16 to uint64, f for floats.
EVERY = "biwf"
LETTER = {
    d.np.num: "w" if d.called in ("uint16", "uint32", "uint64") else d.np.kind.replace("u", "i") for d in dtypes.ALL
}


def check_kernel(a: np.ndarray, takes: str, stub: str, *others: np.ndarray) -> None:
    """Raise torch's NotImplementedError if it has no such kernel for this dtype (after the error of shapes, if any)."""
    if LETTER[a.dtype.num] not in takes:
        for b in others:
            try:
                np.broadcast_shapes(a.shape, b.shape)
            except ValueError:
                raise broadcast_error(a.shape, b.shape) from None
        raise NotImplementedError(f"\"{stub}\" not implemented for '{dtypes.BY_NUM[a.dtype.num].scalar_name}'")


def check_fits(number: Any, d: dtypes.dtype) -> None:
    """Raise torch's error if a number is too large for an integer dtype (a negative one wraps in an unsigned dtype)."""
    if d.np == _HALF:
        dtypes.check_range(number, d, in_c=True)
    if d.np.kind in "iu" and not (np.iinfo(d.np).min or -np.iinfo(d.np).max) <= number <= np.iinfo(d.np).max:
        name = {"int32": "int"}.get(d.called, f"{d.called}_t")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def half(data: Any) -> Any:
    """A result computed in float32 rounded to float16, without a warning where it becomes infinite."""
    return quiet.run(np.asarray(data).astype, np.float16)


def through_double(kernel: Callable) -> Callable:
    """A kernel that computes float32 in float64: NumPy's own is off by a bit or two where torch's is rounded right.

    In double it takes three times as long, so the largest arrays make do with NumPy's own.
    """
    if isinstance(kernel, np.ufunc):  # which converts piece by piece as it goes along

        def run(a: np.ndarray) -> np.ndarray:
            if a.dtype.num != _FLOAT32:
                return kernel(a)
            if a.size < _IN_ONE_PIECE:
                return kernel(a.astype(_FLOAT64)).astype(_SINGLE)
            if a.size >= MOST_IN_DOUBLE:
                return pointwise(kernel, a)
            out = np.empty_like(a) if a.size < MANY or not a.flags.c_contiguous else empty(a.shape, a.dtype)
            return kernel(a, out, dtype=np.float64, casting="unsafe")

    else:

        def run(a: np.ndarray) -> np.ndarray:
            if a.dtype.num != _FLOAT32 or a.size >= MOST_IN_DOUBLE:
                return kernel(a)
            return kernel(a.astype(np.float64)).astype(np.float32)

    run.whole = isinstance(kernel, np.ufunc)  # type: ignore[attr-defined]
    return run


def cannot_cast(d: dtypes.dtype, target: dtypes.dtype) -> RuntimeError:
    """torch's words for a result that may not be written into a tensor of another category."""
    return RuntimeError(f"result type {d.scalar_name} can't be cast to the desired output type {target.scalar_name}")


def _document(f: Callable, name: str, what: str) -> None:
    f.__name__ = f.__qualname__ = name
    base = name.rstrip("_")
    f.__doc__ = f"{what}{' In place.' if name.endswith('_') else ''}\n\nSource: `torch.{base}`."


def _title(name: str) -> str:
    """`log1p` as torch names its node: `Log1PBackward0`."""
    return f"{name.title().replace('_', '')}Backward0"


def offer(f: Callable, name: str, aliases: Iterable[str], function: bool = True) -> None:
    """Offer a function that calls `again` for what it does not take, and under its other names one with a guard."""
    op(name, function=function, guard=False)(f)
    for alias in aliases:
        op(alias, function=function)(f)


def unary(
    what: str, name: str, kernel: Callable, derivative: Callable | None = None, *, to: str = FLOAT,
    backward: str | None = None, aliases: tuple[str, ...] = (), takes: str = EVERY, stub: str = "",
    bools: str | None = None, also: tuple[str, ...] = (), in_place: str = "both", like: bool = False,
    kind_in_place: type | None = None, adapt: Callable[[type], None] | None = None,
) -> Callable:  # fmt: skip
    """Declare a function of one tensor.

    `to`: the result's dtype is kept, made floating, or bool. `takes` and `stub`: the dtypes that torch has a kernel
    for, and its name. `bools`: the RuntimeError for bool tensors. `in_place`: "both" `torch.name_` and the method, the
    "method" alone, or "". `like`: laid out as `empty_like` does. `kind_in_place`: the in-place form's own kind of node.
    `adapt` is given the kind of node, to change how it runs.
    """
    kind = node(backward or _title(name), derivative, also=also) if derivative else None
    if adapt is not None:
        adapt(kind)  # type: ignore[arg-type]

    def compute(t: Tensor) -> Any:
        a = t._data
        if a.dtype.kind != "f":
            if bools and a.dtype.kind == "b":
                raise RuntimeError(bools)
            if takes is not EVERY:
                check_kernel(a, takes, stub)
            if to is FLOAT:
                a = as_array(t, dtypes.get_default_dtype())
        elif takes is not EVERY and "f" not in takes:
            check_kernel(a, takes, stub)
        elif a.dtype == _HALF:
            data = quiet.run(kernel, a.astype(np.float32))
            return a, data if to is BOOL else half(data)
        return a, quiet.run(kernel, a) if a.size < MANY else quiet.run(pointwise, kernel, a)

    straight = {  # the dtypes for which the kernel alone is all there is to do
        d.np.num for d in dtypes.ALL
        if LETTER[d.np.num] in takes and d.np != _HALF and (d.is_floating_point or (to is not FLOAT and d.np.kind != "b"))
    }  # fmt: skip

    saves_straight = records_pointwise(kind, 1)

    def function(input: Tensor = ABSENT, *rest: Any, out: Tensor | None = None, **named: Any) -> Tensor:
        if rest or named or not isinstance(input, Tensor) or (out is not None and is_misplaced(out)):
            return again(function, name, (input, *rest), named, out)
        here, a = MODES.here, input._data
        if a.dtype.num in straight and 0 < a.size < MANY:
            data = here.run(kernel, a)
            if a.ndim < 2 and out is None:  # the short way, see `short`
                made = of_array(data if type(data) is ndarray else np.asarray(data), input._device, here.inference)
                if kind is not None and here.grad:
                    base = input._view
                    if input._requires_grad or (base is not None and base._requires_grad):
                        kind.record_pointwise(made, input) if saves_straight else kind.record(
                            made, (input,), self=input
                        )
                return made
        else:
            try:
                a, data = compute(input)
            except RuntimeError:
                say_first(name, False, (input,), {"out": out})
                raise
        if out is not None:
            return write_out(out, data, name, input, layout=(a,))
        if a.ndim < 2:
            made = fresh(data, input._device, here.inference)
        elif like:
            made = result_like(data, input)
        else:
            made = result(data, input._device, a)
        if kind is not None and here.grad and (input._requires_grad or needs_grad(input)):
            kind.record(made, (input,), self=input)
        return made

    def inplace(self: Tensor = ABSENT, *rest: Any, **named: Any) -> Tensor:
        if rest or named or not isinstance(self, Tensor):
            return again(inplace, f"{name}_", (self, *rest), named)
        if bools and self._data.dtype.kind == "b":
            raise RuntimeError(bools)
        check_overlap(self, histories=to is not BOOL)  # `logical_not_` looks at none
        if to is FLOAT and self._data.dtype.kind != "f":
            raise cannot_cast(dtypes.get_default_dtype(), self.dtype)
        try:
            return write_in_place(self, (self,), kind_in_place or kind, {"self": self}, lambda: compute(self)[1])
        except NotImplementedError:
            say_first(f"{name}_", False, (self,), {})
            raise

    _document(function, name, what)
    offer(function, name, aliases)
    if in_place:
        _document(inplace, f"{name}_", what)
        offer(inplace, f"{name}_", [f"{a}_" for a in aliases], function=in_place == "both")
    return function


def operands(name: str, self: Any, other: Any, floating: bool = False) -> tuple[np.ndarray, np.ndarray, device]:
    """Two operands as arrays of the dtype they meet in, and the device of the result."""
    d = result_dtype(self, other)
    if floating and not d.is_floating_point:
        d = dtypes.get_default_dtype()
    tensors = [x for x in (self, other) if isinstance(x, Tensor)]
    where = common_device(name, *tensors) if tensors else CPU
    return as_array(self, d), as_array(other, d), where


def in_place_operands(name: str, target: Tensor, other: Any, floating: bool, compares: bool, kind: Any = None) -> tuple:
    """The operands of an in-place operation, after torch's checks of dtype and shape."""
    a = target._data
    if a.dtype.kind == "f" and 0 not in a.strides:  # the common cases, for which there is a short way
        if isinstance(other, Tensor):
            b = other._data
            if (
                b.dtype is a.dtype and b.shape == a.shape and other._device is target._device
                and (other._storage is None or target._storage is None)  # then they cannot share memory
            ):  # fmt: skip
                return a, b
        elif (type(other) is float or (type(other) is int and -(1 << 63) <= other < 1 << 63)) and a.dtype != _HALF:
            return a, quiet.run(np.array, other, a.dtype)
    a, b, _ = operands(name, target, other, floating)
    try:
        check_overlap(target, other, histories=False)
        if b.shape != a.shape:
            check_broadcast_into(target, b.shape)
        if not compares and not dtypes.can_cast(d := dtypes.BY_NUM[a.dtype.num], target.dtype):
            raise cannot_cast(d, target.dtype)
    except RuntimeError:
        if f"{name}_" in WITHOUT_HISTORY:
            raise
        check_inplace(target, recording(target, other))  # which torch would have said first
        read_histories(target, other)
        if kind is not None and recording(target, other):  # then it says what may not be saved
            node_for(kind, (target, other), {"other": other, "exponent": other, "result": target})
        raise
    return a, b


def written_straight(ufunc: Callable, target: Tensor, other: Any) -> bool:
    """Write `ufunc(target, other)` into the target, if there is nothing to check; else do nothing and return False.

    There is nothing to check for two dense float tensors of one shape that share no memory, with nothing to record.
    """
    if isinstance(other, Tensor):
        here, a, b = MODES.here, target._data, other._data
        if (
            a.dtype is b.dtype and a.dtype.char in "fd" and a.shape == b.shape and target._device is other._device
            and (target._storage is None or (other._storage is None and a.flags.forc))
            and not (here.grad and (wants_grad(target) or wants_grad(other)))
        ):  # fmt: skip
            here.run(ufunc, a, b, a)
            target._own_counter().version += 1
            return True
    return False


def read_histories(*operands: Any) -> None:
    """Raise what a stale view's history raises, which torch looks at before shapes and dtypes."""
    tensors = [t for t in operands if isinstance(t, Tensor)]
    if recording(*tensors):
        for t in tensors:
            grad_fn_of(t)


def check_broadcast_into(target: Tensor, *shapes: tuple) -> None:
    """Raise torch's error unless shapes broadcast to the target's own shape."""
    both = shape = target._data.shape
    for other in shapes:
        if other == shape:
            continue
        try:
            both = np.broadcast_shapes(both, other)
        except ValueError:
            raise broadcast_error(both, other) from None
    if both != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(both)}")


WRAPPED, TENSORS, RIGHT, EITHER = "wrapped", "tensors", "right", "either"


def takes_operands(self: Any, other: Any, numbers: str) -> bool:
    """Whether an operation takes these: tensors, and the numbers that it has a way for."""
    first, second = isinstance(self, Tensor), isinstance(other, Tensor)
    if numbers is WRAPPED:
        return (first or is_number(self)) and (second or is_number(other))
    if first and second:
        return True
    return (first and numbers in (RIGHT, EITHER) and is_number(other)) or (
        second and numbers is EITHER and is_number(self)
    )


def binary(
    what: str, name: str, kernel: Callable, for_self: Callable | None = None, for_other: Callable | None = None, *,
    to: str = KEEP, backward: str | None = None, aliases: tuple[str, ...] = (), in_place: bool = True,
    takes: str = EVERY, stub: str = "", numbers: str = WRAPPED, also: tuple[str, ...] = (),
    checks: Callable | None = None, number_right: type | None = None, number_left: type | None = None, exact_numbers: bool = False,
    kind: type | None = None, kind_in_place: type | None = None, number_in_place: type | None = None, stays_half: bool = False,
    adapt: Callable[[type], None] | None = None,
) -> Callable:  # fmt: skip
    """Declare a function of two operands that broadcast against each other.

    `numbers`: WRAPPED takes them as torch takes 0-d tensors, RIGHT and EITHER have overloads for them (and kinds of
    nodes, `number_right` and `number_left`), TENSORS takes none. `checks(a, b)` raises what torch raises.
    `kind`: of the nodes, if there are no formulas. `exact_numbers`: with float16, a number is not rounded first. `kind_in_place`, `number_in_place`: the kinds of nodes
    of the in-place form, where they are others. `stays_half`: torch rounds to float16 between its steps.
    """
    if for_self or for_other:
        kind = node(backward or _title(name), for_self, for_other, also=also)
    if adapt is not None:
        adapt(kind)  # type: ignore[arg-type]
    differentiable = kind is not None and kind.__name__ != "NotImplemented"
    floating = to is FLOAT
    is_ufunc = isinstance(kernel, np.ufunc)
    straight = {  # the dtypes for which the kernel alone is all there is to do
        d.np.num for d in dtypes.ALL
        if checks is None and LETTER[d.np.num] in takes and (d.np != _HALF or stays_half)
        and (not floating or d.is_floating_point)
    }  # fmt: skip

    quick = is_ufunc and checks is None and to is not BOOL and "f" in takes

    def compute(a: Any, b: Any, into: np.ndarray | None = None) -> Any:
        if takes is not EVERY:
            check_kernel(a, takes, stub, b)
        if checks is not None:
            checks(a, b)
        try:
            if a.dtype == _HALF and not stays_half:
                data = quiet.run(kernel, a.astype(np.float32), b.astype(np.float32))
                return data if to is BOOL else half(data)
            if into is not None:
                return quiet.run(kernel, a, b, into)
            if a.size < MANY and b.size < MANY:
                return quiet.run(kernel, a, b)
            return quiet.run(pointwise, kernel, a, b)
        except ValueError:
            raise broadcast_error(a.shape, b.shape) from None

    def function(
        input: Any = ABSENT, other: Any = ABSENT, *rest: Any, out: Tensor | None = None, **named: Any
    ) -> Tensor:
        if rest or named or (out is not None and is_misplaced(out)):
            return again(function, name, (input, other, *rest), named, out)
        if out is None and (short := shortly(input, other)) is not None:
            return short
        here = MODES.here
        if not takes_operands(input, other, numbers):
            if not is_number(other) and called_as_operator():
                return NotImplemented
            return again(function, name, (input, other), named, out)
        a, b, where = operands(name, input, other, floating)
        d = a.dtype
        if exact_numbers and d == _HALF and type(other) is float:
            return _exact_half(input, other, a, where, out)
        try:
            data = here.run(kernel, a, b) if d.num in straight and a.size < MANY > b.size else compute(a, b)
        except (ValueError, RuntimeError) as error:
            say_first(name, False, (input, other), {"out": out})
            if isinstance(error, RuntimeError):
                raise
            raise broadcast_error(a.shape, b.shape) from None
        if out is not None:
            return write_out(out, data, name, input, other, layout=(a, b))
        made = fresh(data, where, here.inference) if data.ndim < 2 else result(data, where, a, b)
        if kind is not None and here.grad and (wants_grad(input) or wants_grad(other)):
            if differentiable and isinstance(input, Tensor) and isinstance(other, Tensor):
                kind.record(made, (input, other), self=input, other=other)
            else:
                attach(made, input, other)
        return made

    def _exact_half(input: Any, other: float, a: np.ndarray, where: device, out: Tensor | None) -> Tensor:
        data = half(quiet.run(lambda: kernel(a.astype(np.float32), np.float32(other))))
        if out is not None:
            return write_out(out, data, name, input, other, layout=(a,))
        made = result(data, where, a)
        if kind is not None and recording(input):
            attach(made, input, other)
        return made

    def attach(made: Tensor, input: Any, other: Any) -> None:
        if number_right is not None and not isinstance(other, Tensor):
            number_right.record(made, (input,), self=input, other=other)
        elif number_left is not None and not isinstance(input, Tensor):
            number_left.record(made, (other,), self=input, other=other)
        elif not differentiable:
            kind.record(made, tuple(t for t in (input, other) if recording(t)))  # type: ignore[arg-type]
        else:
            kind.record(made, (input, other), self=_saveable(input), other=_saveable(other))  # type: ignore[union-attr]

    def inplace(self: Tensor, other: Any = ABSENT, *rest: Any, **named: Any) -> Tensor:
        if quick and not rest and not named and written_straight(kernel, self, other):
            return self
        if rest or named or not (isinstance(other, Tensor) or takes_operands(self, other, numbers)):
            return again(inplace, f"{name}_", (self, other, *rest), named)
        a, b = in_place_operands(name, self, other, floating, to is BOOL, kind)
        target = self._data
        straight = is_ufunc and to is not BOOL and a.dtype == target.dtype != _HALF and target.flags.forc

        def values() -> Any:
            data = compute(a, b, target if straight else None)
            return None if straight else data

        saved: dict[str, Any] = {"self": self, "other": other}
        if to is BOOL:
            saved |= {f"_{n}": (t._data.shape, t._data.dtype, t._device) for n, t in saved.items() if isinstance(t, Tensor)}  # fmt: skip
        one = (number_in_place or number_right) if not isinstance(other, Tensor) else None
        if one is not None:
            return write_in_place(self, (self,), one, saved, values)
        saved["other"] = _saveable(other)
        try:
            return write_in_place(self, (self, other), kind_in_place or kind, saved, values)
        except NotImplementedError:
            say_first(f"{name}_", False, (self, other), {})
            raise

    _document(function, name, what)
    offer(function, name, aliases)
    numbered = numbers is not TENSORS
    shortly = short_of_two(kernel, straight, numbered, kind, attach)
    OPERATORS[function] = lambda whole: short_of_two(kernel, straight, numbered, kind, attach, whole)
    if in_place:
        _document(inplace, f"{name}_", what)
        offer(inplace, f"{name}_", [f"{a}_" for a in aliases], function=False)
    return function


# The functions that return NotImplemented where they are called as Python's operators, and how to make their short way.
OPERATORS: dict[Callable, Callable[[Callable], Callable]] = {}


def called_as_operator() -> bool:
    """Whether the function that asks was called under the name of one of Python's operators."""
    return sys._getframe(1).f_code.co_qualname.startswith("Tensor.__")


def _saveable(x: Any) -> Any:
    return x if isinstance(x, Tensor) else SavedNumber(x)


def operator(
    symbol: str, function: Callable, swapped: Callable | None = None, in_place: Callable | None = None
) -> None:
    """Attach a function to Tensor as a Python operator; operands that are neither tensor nor number are refused."""

    def attach(name: str, f: Callable) -> None:
        if f in OPERATORS:
            method = as_method_of(OPERATORS[f](as_method_of(f, name)), name)
        else:

            def method(self: Tensor, other: Any) -> Any:
                try:
                    return f(self, other) if isinstance(other, Tensor) or is_number(other) else NotImplemented
                except RuntimeError:
                    say_first(f.__name__, False, (self, other), {})
                    raise

        method.__name__ = method.__qualname__ = name
        setattr(Tensor, name, method)

    attach(f"__{symbol}__", function)
    if swapped is not None:
        attach(f"__r{symbol}__", swapped)
    if in_place is not None:
        attach(f"__i{symbol}__", in_place)
