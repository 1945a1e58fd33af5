"""Calling operations: the overload that a call means.

`Overloads` reads a call as PyTorch's parser does and hands the arguments to `Op.run`, the *general
way*. That alone is right for every call. Most calls are plain, and do not come so far: ops/short_ways.py
makes the functions that take these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..base import (
    as_device,
    dtype,
    make_absence_error,
    type_name,
    warn_in_torch,
)
from ..tensor import Tensor, device_of, make_tensor
from .schema import NOT_GIVEN, Schema, Signature, is_number, mismatch, read_operand
from .short_ways import make_plain_call

_DESCRIPTIONS = {
    "view": "A view: the same memory, the same version counter.",
    "write": "Writes into its first argument, and counts the write.",
    "restride": "Gives the tensor itself another shape and strides over its memory.",
    "composite": "Made of other operations.",
    "fresh": "A result with memory of its own.",
}


class Offer(NamedTuple):
    """One overload under a name."""

    op: Any
    # as a function it takes `out=`
    has_out: bool
    # it is a method of tensors, too
    is_method: bool


class AbsentForm(NamedTuple):
    """A form that PyTorch has under a name and tinytorch lacks."""

    # where PyTorch's errors list it; -1 if only its `out=` is absent
    place: int
    # its schema
    text: str
    # it is one of the method, too
    is_method: bool


class Overloads:
    """The overloads of one name, in the order in which PyTorch tries them."""

    def __init__(self, name: str, in_place: bool = False) -> None:
        self.name = name
        self.in_place = in_place
        self.offers: list[Offer] = []
        # Schemas that the last of all tries take, see ops/deprecated.py.
        self.deprecated_forms: list[str] = []
        self._absent_forms: list[AbsentForm] = []
        # The signatures of the method under True, those of the function under False.
        self._signatures: dict[bool, list[tuple[Signature, Any]]] = {}

    def add(self, op: Any, out: bool = False, method: bool = False) -> None:
        """Add one more overload."""
        self.offers.append(Offer(op, out, method))
        # They were made of fewer overloads, and are made anew when a call needs them.
        self._signatures.clear()

    def add_absent(self, place: int, text: str, is_method: bool = True) -> None:
        """Add an `AbsentForm`: a call of it says that tinytorch lacks it."""
        self._absent_forms.append(AbsentForm(place, text, is_method))

    def make_function(self, method: bool) -> Callable:
        """Make the function, or the method, that users call."""

        def call_as_parsed(*args: Any, **named: Any) -> Any:
            # A short way passes NOT_GIVEN on for an argument that it was not given.
            given = tuple([x for x in args if x is not NOT_GIVEN])
            return self._parse_and_run(method, given, named)

        ops = [offer.op for offer in self.offers]
        call: Any = call_as_parsed
        qualified_name = f"Tensor.{self.name}" if method else self.name
        # Short ways are tried first, as their tests of types are the cheapest; the parser is last.
        # (Any order gives the right values: where two overloads take the same types, as both of
        # `floor_divide` take a number, they compute the same.) Each call hands what it does not
        # take to the next one, so they are made from the last to the first.
        in_order = sorted(ops, key=lambda op: not op.has_short_way)
        for op in reversed(in_order):
            call = make_plain_call(op, call, method, self.in_place)
        call.__name__ = self.name
        call.__qualname__ = qualified_name
        call.__module__ = "tinytorch"
        description = _DESCRIPTIONS["write" if self.in_place else ops[0].kind]
        call.__doc__ = f"{ops[0].schema.text}\n\n{description} Source: `torch.{ops[0].name}`."
        call.overloads = ops
        return call

    def _signatures_of(self, method: bool) -> list[tuple[Signature, Any]]:
        """Return the signatures that the parser tries.

        They are made when a call first needs them, to import quickly.
        """
        if method not in self._signatures:
            signatures = []
            for op, has_out, is_method in self.offers:
                if is_method or not method:
                    takes_out = has_out and not method
                    signature = Signature(op.schema, self.name, method, takes_out, op.numbers)
                    signatures.append((signature, op))
            self._signatures[method] = signatures
        return self._signatures[method]

    def _parse_and_run(self, method: bool, args: tuple, named: dict) -> Any:
        """Call the first overload that fits, as PyTorch's parser does.

        TypeError in its words if none fits.
        """
        if method and not (args and isinstance(args[0], Tensor)):
            raise make_error_of_no_tensor(self.name, args)
        signatures = self._signatures_of(method)
        for signature, op in signatures:
            arguments = signature.match(args[method:], named)
            # a string is PyTorch's reason why the call does not fit
            if isinstance(arguments, str):
                continue
            if method:
                arguments["self"] = args[0]
            return self._run(op, arguments)
        listed = self._list_with_absent(method, args, named)
        return self._run_deprecated(method, args, named, listed)

    def _list_with_absent(self, method: bool, args: tuple, named: dict) -> list[Signature]:
        """Return the forms that PyTorch's errors list.

        NotImplementedError if the call is of one that tinytorch lacks.
        """
        listed = [s for s, _ in self._signatures_of(method)]
        for place, text, is_method in self._absent_forms:
            if method and not is_method:
                continue
            absent = Signature(Schema(text), self.name, method, not method, numbers=False)
            if isinstance(absent.match(args[method:], named), dict):
                raise make_absence_error(f"{self.name}{absent}")
            if place >= 0:
                listed.insert(place, absent)
        return listed

    def _run_deprecated(
        self, method: bool, args: tuple, named: dict, listed: list[Signature]
    ) -> Any:
        """Run the first deprecated form that fits. TypeError in PyTorch's words if none fits."""
        op, has_out, _ = self.offers[0]
        for text in self.deprecated_forms:
            form = Signature(Schema(text), self.name, method, has_out and not method, op.numbers)
            arguments = form.match(args[method:], named)
            if isinstance(arguments, dict):
                self._warn_of_deprecated(form, listed)
                if method:
                    arguments["self"] = args[0]
                if "async" in arguments:  # a word of Python's own by now
                    arguments["non_blocking"] = arguments.pop("async")
                return self._run(op, arguments)
        raise mismatch(self.name, listed, args[method:], named, bool(self.deprecated_forms))

    def _warn_of_deprecated(self, form: Signature, listed: list[Signature]) -> None:
        """Warn of a deprecated form: once in a process, whichever it is, as PyTorch does."""
        others = "".join(f"\n\t{self.name}{signature}" for signature in listed)
        warn_in_torch(
            f"This overload of {self.name} is deprecated:\n\t{self.name}{form}\n"
            f"Consider using one of the following signatures instead:{others}",
            "torch/csrc/utils/python_arg_parser.cpp:1841",
            once=True,
        )

    def _run(self, op: Any, arguments: dict[str, Any]) -> Any:
        """Run one overload on arguments by name."""
        out = arguments.pop("out", None)
        # No kernel knows of it: PyTorch, too, makes the tensor first and then asks it to require
        # grad.
        requires_grad = op.schema.is_factory and arguments.pop("requires_grad", False)
        values = []
        for param in op.schema.params:
            if param.name in arguments:
                values.append(param.read(arguments[param.name], self.name))
            else:
                values.append(param.default)
        if out is not None:
            if op.numbers and is_number(out):
                # As for an operand, PyTorch makes a tensor of it, which then is resized.
                out = make_tensor(np.asarray(read_operand(out)))
            if op.schema.is_factory:
                _check_out_options(out, arguments)
            result = op.run_into_out(out, tuple(values))
            if op.schema.is_factory and result.is_leaf:
                _set_requires_grad(result, requires_grad)
            return result
        result = op.run_in_place(*values) if self.in_place else op.run(*values)
        if requires_grad:
            _set_requires_grad(result, True)
        return result


def make_error_of_no_tensor(name: str, args: tuple) -> TypeError:
    """Make Python's error for a method of a class in C that is called with no instance of it."""
    if not args:
        return TypeError(f"unbound method TensorBase.{name}() needs an argument")
    return TypeError(
        f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a "
        f"'{type_name(args[0])}' object"
    )


def _check_out_options(out: Tensor, arguments: dict[str, Any]) -> None:
    """Raise PyTorch's error for a dtype or a device beside an `out=` of another one."""
    d, where = arguments.get("dtype"), arguments.get("device")
    if isinstance(d, dtype) and d is not out.dtype:
        raise RuntimeError(
            f"dtype {d.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
        )
    if where is not None and as_device(where).type != device_of(out).type:
        raise RuntimeError(
            f"device type {as_device(where).type} does not match device type of out parameter "
            f"({device_of(out).type})"
        )


def _set_requires_grad(made: Tensor, requires_grad: bool) -> None:
    """Let a tensor that was made, or written as `out=`, require grad or not."""
    if requires_grad and made._data.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if requires_grad != made.requires_grad:
        made.requires_grad_(requires_grad)


__all__ = ["Offer", "Overloads", "make_error_of_no_tensor"]
