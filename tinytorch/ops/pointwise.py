"""Pointwise operations: machinery that turns one row (name, forward, derivative) into function, method and in-place form.

The rows stand in `pointwise_table`. A derivative's parameter names say what is saved, see `graph.node`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..devices import device
from ..graph.history import needs_grad
from ..graph.modes import MODES
from ..graph.node import node
from ..tensor import Tensor
from .core import (
    SavedNumber,
    as_array,
    broadcast_error,
    check_overlap,
    common_device,
    expect_tensor,
    is_number,
    op,
    quiet,
    record,
    recording,
    result,
    result_dtype,
    tensor_type,
    write_in_place,
    write_out,
)

KEEP, FLOAT, BOOL = "keep", "float", "bool"


def _floating(d: dtypes.dtype) -> dtypes.dtype:
    return d if d.is_floating_point else dtypes.get_default_dtype()


def _document(f: Callable, name: str, what: str) -> None:
    f.__name__ = f.__qualname__ = name
    base = name.rstrip("_")
    f.__doc__ = f"{what}{' In place.' if name.endswith('_') else ''}\n\nSource: `torch.{base}`."


def unary(
    what: str, name: str, kernel: Callable, derivative: Callable | None = None, *, to: str = FLOAT,
    backward: str | None = None, aliases: tuple[str, ...] = (), refuse: Callable[[Tensor], None] | None = None,
) -> Callable:  # fmt: skip
    """Declare a function of one tensor. `to`: the result's dtype is kept, made floating, or bool."""
    kind = node(backward or f"{name.title().replace('_', '')}Backward0", derivative) if derivative else None

    def compute(t: Tensor) -> Any:
        a = t._data
        if to is FLOAT and a.dtype.kind != "f":
            a = a.astype(dtypes.get_default_dtype().np)
        if a.dtype == np.float16:
            return a, quiet.run(kernel, a.astype(np.float32)).astype(np.bool_ if to is BOOL else np.float16)
        return a, quiet.run(kernel, a)

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if not isinstance(input, Tensor):
            expect_tensor(input, name)
        if refuse is not None:
            refuse(input)
        a, data = compute(input)
        if out is not None:
            return write_out(out, data, name, input)
        made = result(data, input._device, a)
        if kind is not None and MODES.grad and needs_grad(input):
            record(made, kind, (input,), self=input)
        return made

    def in_place(self: Tensor) -> Tensor:
        if refuse is not None:
            refuse(self)
        if to is FLOAT and self._data.dtype.kind != "f":
            d = _floating(self.dtype)
            raise RuntimeError(f"result type {d.scalar_name} can't be cast to the desired output type {self.dtype.scalar_name}")  # fmt: skip
        check_overlap(self)
        return write_in_place(self, (self,), kind, {"self": self}, lambda: compute(self)[1])

    for f, n in ((function, name), (in_place, f"{name}_")):
        _document(f, n, what)
    op(name, *aliases)(function)
    op(f"{name}_", *[f"{a}_" for a in aliases])(in_place)
    return function


def operands(name: str, self: Any, other: Any, floating: bool = False) -> tuple[np.ndarray, np.ndarray, device]:
    """Two operands as arrays of the dtype they meet in, and the device of the result."""
    for position, (argument, x) in enumerate((("input", self), ("other", other)), 1):
        if not isinstance(x, Tensor) and not is_number(x):
            expect_tensor(x, name, argument, position)
    d = result_dtype(self, other)
    if floating:
        d = _floating(d)
    tensors = [x for x in (self, other) if isinstance(x, Tensor)]
    where = common_device(name, *tensors) if tensors else dtypes_cpu
    return as_array(self, d), as_array(other, d), where


dtypes_cpu = device("cpu")


def in_place_operands(name: str, target: Tensor, other: Any, floating: bool, compares: bool) -> tuple:
    """The operands of an in-place operation, after torch's checks of dtype and shape."""
    a, b, _ = operands(name, target, other, floating)
    d = dtypes.BY_NUM[a.dtype.num]
    if not compares and not dtypes.can_cast(d, target.dtype):
        raise RuntimeError(
            f"result type {d.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        )
    check_broadcast_into(target, b.shape)
    check_overlap(target, other)
    return a, b


def check_broadcast_into(target: Tensor, *shapes: tuple) -> None:
    """Raise torch's error unless shapes broadcast to the target's own shape."""
    shape = target._data.shape
    for other in shapes:
        if other == shape:
            continue
        try:
            both = np.broadcast_shapes(shape, other)
        except ValueError:
            raise broadcast_error(shape, other) from None
        if both != shape:
            raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(both)}")


def binary(
    what: str, name: str, kernel: Callable, for_self: Callable | None = None, for_other: Callable | None = None, *,
    to: str = KEEP, backward: str | None = None, aliases: tuple[str, ...] = (), in_place_too: bool = True,
    refuse: Callable[[np.dtype], None] | None = None,
) -> Callable:  # fmt: skip
    """Declare a function of two operands, tensors or numbers, that broadcast against each other."""
    title = backward or f"{name.title().replace('_', '')}Backward0"
    kind = node(title, for_self, for_other) if for_self or for_other else None
    floating = to is FLOAT

    def compute(a: np.ndarray, b: np.ndarray) -> Any:
        if refuse is not None:
            refuse(a.dtype)
        try:
            if a.dtype == np.float16:
                data = quiet.run(kernel, a.astype(np.float32), b.astype(np.float32))
                return data if to is BOOL else data.astype(np.float16)
            return quiet.run(kernel, a, b)
        except ValueError:
            raise broadcast_error(a.shape, b.shape) from None

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        if (
            isinstance(other, Tensor) and isinstance(input, Tensor) and input._device is other._device
            and input._data.dtype is other._data.dtype and (not floating or input._data.dtype.kind == "f")
        ):  # fmt: skip
            a, b, where = input._data, other._data, input._device
        else:
            a, b, where = operands(name, input, other, floating)
        data = compute(a, b)
        if out is not None:
            return write_out(out, data, name, input, other)
        made = result(data, where, a, b)
        if kind is not None and MODES.grad and recording(*[x for x in (input, other) if isinstance(x, Tensor)]):
            record(made, kind, (input, other), self=_saveable(input), other=_saveable(other))
        return made

    def in_place(self: Tensor, other: Any) -> Tensor:
        a, b = in_place_operands(name, self, other, floating, to is BOOL)
        values = {"self": self, "other": _saveable(other)}
        return write_in_place(self, (self, other), kind, values, lambda: compute(a, b))

    _document(function, name, what)
    op(name, *aliases)(function)
    if in_place_too:
        _document(in_place, f"{name}_", what)
        op(f"{name}_", *[f"{a}_" for a in aliases], function=False)(in_place)
    return function


def _saveable(x: Any) -> Any:
    return x if isinstance(x, Tensor) else SavedNumber(x)


def operator(symbol: str, function: Callable, swapped: Callable | None = None, in_place: Callable | None = None) -> None:
    """Attach a function to Tensor as a Python operator; operands that are neither tensor nor number are refused."""

    def check(other: Any) -> bool:
        return isinstance(other, Tensor) or is_number(other) or isinstance(other, np.ndarray)

    def forward(self: Tensor, other: Any) -> Any:
        if not check(other):
            return NotImplemented
        return function(self, _tensor(other))

    setattr(Tensor, f"__{symbol}__", forward)
    if swapped is not None:

        def backward(self: Tensor, other: Any) -> Any:
            if not check(other):
                return NotImplemented
            return swapped(self, _tensor(other))

        setattr(Tensor, f"__r{symbol}__", backward)
    if in_place is not None:

        def assign(self: Tensor, other: Any) -> Any:
            if not check(other):
                return NotImplemented
            return in_place(self, _tensor(other))

        setattr(Tensor, f"__i{symbol}__", assign)


def _tensor(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        from .creation import from_numpy

        return from_numpy(x)
    return x


__all__ = ["BOOL", "FLOAT", "KEEP", "binary", "operator", "tensor_type", "unary"]
