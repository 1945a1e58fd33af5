"""Calls that do not fit of what PyTorch has written in C, and tinytorch in Python without a schema.

Python would say in its own words how many arguments a function of Python takes. What `op()` declares
refuses calls itself, see ops/calling.py, and so do `x.detach()`, of which programs make many calls, and
the methods that Python calls itself, such as `__bool__` and `__getitem__`: another call around each would cost time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .. import base, graph
from ..tensor import Tensor
from .calling import make_error_of_no_tensor
from .define import offer_member
from .schema import REQUIRED, Schema, Signature

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _refuse_arguments(function: _Function) -> _Function:
    """Return the function, which refuses arguments as one of PyTorch's module does."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if args or named:
            raise base.make_error_of_arguments(f"torch.{function.__name__}", len(args), named)
        return function()

    return call  # type: ignore[return-value]


def _refuse_arguments_of_method(name: str) -> None:
    """Have a method refuse arguments, and what is no tensor, as PyTorch's does."""
    method = getattr(Tensor, name)

    @functools.wraps(method)
    def call(self: Any = REQUIRED, *surplus: Any, **named: Any) -> Any:
        # First what is quick to ask: `x.item()` is called often.
        if type(self) is Tensor and not surplus and not named:
            return method(self)
        if not isinstance(self, Tensor):
            raise make_error_of_no_tensor(name, () if self is REQUIRED else (self,))
        if surplus or named:
            raise base.make_error_of_arguments(f"TensorBase.{name}", len(surplus), named)
        return method(self)

    offer_member(name, call, function=False)


def _read_by_schema(text: str, function: _Function) -> _Function:
    """Return the function, which refuses what a schema does not take in the words of PyTorch's parser."""
    schema = Schema(text)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return _read_and_call(schema, function, (), args, named)

    return call  # type: ignore[return-value]


def _read_by_schema_of_method(text: str, plain_type: type) -> None:
    """Have a method refuse what a schema does not take, as `_read_by_schema` does.

    `plain_type`: an argument of it needs no reading.
    """
    schema = Schema(text)
    method = getattr(Tensor, schema.name)
    may_be_alone, may_have_argument = schema.required_count == 1, schema.positional_count == 2

    @functools.wraps(method)
    def call(self: Any = REQUIRED, argument: Any = REQUIRED, /, *surplus: Any, **named: Any) -> Any:
        # First most calls: the tensor alone, or with one argument that needs no reading.
        if isinstance(self, Tensor) and not surplus and not named:
            if argument is REQUIRED:
                if may_be_alone:
                    return method(self)
            elif may_have_argument and type(argument) is plain_type:
                return method(self, argument)
        if not isinstance(self, Tensor):
            raise make_error_of_no_tensor(schema.name, () if self is REQUIRED else (self,))
        args = surplus if argument is REQUIRED else (argument, *surplus)
        return _read_and_call(schema, method, (self,), args, named)

    offer_member(schema.name, call, function=False)


def _read_and_call(
    schema: Schema, function: Callable, of_method: tuple, args: tuple, named: dict
) -> Any:
    """Call a function with arguments that the parser has read. TypeError in its words if none fits.

    `of_method`: the tensor of which it is a method, which is not read; else nothing.
    """
    signature = Signature(schema, schema.name, bool(of_method), False, False)
    arguments = signature.match(args, named)
    if isinstance(arguments, str):
        raise TypeError(arguments)
    read = {
        p.name: p.read(arguments[p.name], schema.name)
        for p in signature.params
        if p.name in arguments
    }
    return function(*of_method, **read)


for _name in (
    *(
        "__invert__",
        "_is_view",
        "data_ptr",
        "detach_",
        "dim",
        "element_size",
        "get_device",
        "is_complex",
    ),
    *("is_inference", "is_signed", "item", "ndimension", "nelement", "retain_grad"),
    *("storage_offset", "tolist", "untyped_storage"),
):
    _refuse_arguments_of_method(_name)
for _text, _plain_type in (
    ("size(Tensor self, int? dim=None)", int),
    ("stride(Tensor self, int? dim=None)", int),
    ("requires_grad_(Tensor self, bool requires_grad=True)", bool),
    ("is_contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format)", Tensor),
    ("_view_func(Tensor self, Tensor new_base)", Tensor),
):
    _read_by_schema_of_method(_text, _plain_type)
get_default_dtype = _refuse_arguments(base.get_default_dtype)
is_anomaly_check_nan_enabled = _refuse_arguments(graph.is_anomaly_check_nan_enabled)
is_anomaly_enabled = _refuse_arguments(graph.is_anomaly_enabled)
is_grad_enabled = _refuse_arguments(graph.is_grad_enabled)
is_inference_mode_enabled = _refuse_arguments(graph.is_inference_mode_enabled)
set_anomaly_enabled = _read_by_schema(
    "set_anomaly_enabled(bool enabled, bool check_nan=True)", graph.set_anomaly_enabled
)


__all__ = [
    "get_default_dtype",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "set_anomaly_enabled",
]
