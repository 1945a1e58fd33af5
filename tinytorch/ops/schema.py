"""PyTorch's schemas, and its errors for calls that do not fit.

One line of PyTorch's own schema says how an operation may be called, as a function and as a method;
what it shares and what it writes: a result `Tensor(a)` looks at the memory of the argument
`Tensor(a)`, and `Tensor(a!)` is written to. Source: torch's `FunctionSchema`,
`python_arg_parser.cpp` and `invalid_arguments.cpp`.
"""

from __future__ import annotations

import ast
import functools
import numbers
import re
from typing import Any

import numpy as np

from ..base import UntypedStorage, as_device, as_dtype, device, dtype, is_dtype, type_name
from ..graph import needs_grad
from ..tensor import Layout, Tensor

# the default of what must be given
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()


# what the types of a schema take ------------------------------------------------------------------


def is_number(x: Any) -> bool:
    """Return True if torch would take `x` as a Python number."""
    return isinstance(x, (numbers.Number, np.number, np.bool_))


def _is_int(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and x._data.dtype.kind in "iu" and not needs_grad(x)
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def is_symint(x: Any) -> bool:
    """Return True if torch would take `x` as one of its sizes."""
    if isinstance(x, Tensor):
        return x._data.size == 1 and x._data.dtype.kind in "iub"
    return hasattr(x, "__index__") and not isinstance(x, bool) and getattr(x, "ndim", 0) == 0


def _is_float(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and not needs_grad(x)
    return isinstance(x, (int, float, np.number, np.bool_))


def _number(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.item()
    if isinstance(x, np.bool_):
        return float(x)
    return x.item() if isinstance(x, np.generic) else x


def _int(x: Any) -> int:
    return int(x.item()) if isinstance(x, Tensor) else x.__index__()


class _Type:
    """A type of a schema: its name in errors, the values it accepts, and how they are read."""

    def __init__(
        self, shown: str, takes: Any, read: Any = lambda x: x, plain: tuple = (), many: bool = False
    ) -> None:
        self.shown, self.read, self.plain, self.many = shown, read, frozenset(plain), many
        self.takes = takes if not isinstance(takes, tuple) else lambda x: isinstance(x, takes)


_INTS = _Type("tuple of ints", is_symint, _int, many=True)
_TENSORS = _Type("tuple of Tensors", (tuple, list), list)
_TYPES = {
    "Tensor": _Type(
        "Tensor", (Tensor,), lambda x: x if isinstance(x, Tensor) else _number(x), (Tensor,)
    ),
    "Scalar": _Type("Number", lambda x: is_number(x) or _is_float(x), _number, (int, float, bool)),
    "int": _Type("int", _is_int, _int, (int,)),
    "SymInt": _Type("int", is_symint, _int, (int,)),
    "float": _Type("float", _is_float, _number, (int, float)),
    "bool": _Type("bool", (bool,), plain=(bool,)),
    "str": _Type("str", (str,), plain=(str,)),
    "ScalarType": _Type("torch.dtype", lambda x: x is not None and is_dtype(x), as_dtype, (dtype,)),
    "Layout": _Type("torch.layout", (Layout,), plain=(Layout,)),
    "MemoryFormat": _Type(
        "torch.memory_format", lambda x: type(x).__name__ in ("MemoryFormat", "memory_format")
    ),
    "Device": _Type(
        "torch.device",
        lambda x: isinstance(x, (str, int, device)) and not isinstance(x, bool),
        as_device,
        (device, str, int),
    ),
    "Generator": _Type("torch.Generator", lambda x: type(x).__name__ == "Generator"),
    "Storage": _Type("torch.Storage", (UntypedStorage,)),
    "Tensor[]": _TENSORS,
    "Tensor?[]": _TENSORS,
    "int[]": _INTS,
    "SymInt[]": _INTS,
    "PyObject": _Type("object", (object,)),
}


_NUMPY_NAMES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "self",
    "a": "self",
    "x1": "self",
    "x2": "other",
    "input": "self",
}
# `Tensor(a!)[]? name=default`
_PARAM = re.compile(r"(\w+)(?:\((\w!?).*?\))?(\??\[(\d?)\])?(\??) (\w+)=?(.*)")
_DEFAULTS = {"": REQUIRED, "contiguous_format": None, "[]": ()}


class Param:
    """One parameter of a schema, such as `SymInt[] size` or `Tensor(a!) self`."""

    def __init__(self, text: str, named: bool) -> None:
        groups = [g or "" for g in _PARAM.fullmatch(text).groups()]  # type: ignore[union-attr]
        kind, mark, brackets, count, none, self.name, self.default_text = groups
        self.named, self.none = named, bool(none)
        self.written = mark.endswith("!")
        # `int[1]`: one number will do
        self.one = bool(count)
        self.kind = kind + brackets.replace(count, "")
        self.type = _TYPES[self.kind]
        self.is_tensor = self.kind == "Tensor"
        self.is_list = self.kind in ("Tensor[]", "Tensor?[]")
        self.is_sizes = self.type.many and not self.one
        self.default = (
            _DEFAULTS[text] if (text := self.default_text) in _DEFAULTS else ast.literal_eval(text)
        )
        if self.kind == "int[]" and type(self.default) is int:
            self.default = (self.default,)
        self.plain = self.type.plain | {type(None)} if self.none else self.type.plain
        # whose default torch writes as None
        self.none = self.none or self.default_text == "[]"

    def read(self, x: Any, function: str) -> Any:
        """Convert an argument that the parser has accepted to what kernels take.

        TypeError and ValueError for what PyTorch notices only here.

        What is only seen here raises torch's errors.
        """
        if x is None and self.none:
            return () if self.default == () else None
        if self.type.many:
            if not isinstance(x, (tuple, list)):
                return (self.type.read(x),)
            for i, n in enumerate(x):
                if type(n) is not int and not (is_symint(n) or isinstance(n, bool)):
                    what = f"argument '{self.name}' failed to unpack the object at pos {i + 1}"
                    why = f'with error "type must be tuple of ints,but got {type_name(n)}"'
                    raise TypeError(f"{function}(): {what} {why}")
            return tuple([n if type(n) is int else self.type.read(n) for n in x])
        if self.type.shown == "int" and isinstance(x, int) and not -(1 << 63) <= x < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        return self.type.read(x)

    def fits(self, x: Any, position: int, numbers: bool) -> int | None:
        """Return None if the parameter accepts `x`, else the index of the wrong element, or -1."""
        if self.type.many:
            if isinstance(x, (tuple, list)):
                return None if not x or self.type.takes(x[0]) else 0
            return None if self.one and self.type.takes(x) else -1
        if self.is_list and self.type.takes(x):
            for i, t in enumerate(x):
                if not isinstance(t, Tensor):
                    raise TypeError(
                        f"expected Tensor as element {i} in argument {position}, but got "
                        f"{type_name(t)}"
                    )
            return None
        return None if self.type.takes(x) or (numbers and self.is_tensor and is_number(x)) else -1

    def line(self, name: str) -> str:
        """Return the parameter as PyTorch's errors show it, under this name."""
        text = f"{self.type.shown} {name}"
        if not self.default_text:
            return text
        default = self.default_text.removesuffix(".") if self.kind == "float" else self.default_text
        default = {"contiguous_format": "torch.contiguous_format", "[]": "None"}.get(
            default, default
        )
        # PyTorch shows these two otherwise than its schemas write them
        if self.name == "pin_memory":
            default = "False"
        elif self.kind == "ScalarType":
            default = "None"
        return f"{text} = {default}"


# most operations have a `Tensor self`
_param = functools.cache(Param)


class Schema:
    """A schema such as `mul(Tensor self, Tensor other)`, parsed."""

    def __init__(self, text: str) -> None:
        self.text = text
        head, _, rest = text.partition("(")
        # an argument may say `Tensor(a -> *)`
        inner, arrow, returns = rest.partition(") -> ")
        inner = inner if arrow else rest[:-1]
        self.name = head
        positional, _, named = (
            inner.partition("*, ") if not inner.startswith("*, ") else ("", "", inner[3:])
        )
        self.params = [
            _param(p, n)
            for text, n in ((positional, False), (named, True))
            for p in text.split(", ")
            if p
        ]
        self.names = [p.name for p in self.params]
        self.positional = len([p for p in self.params if not p.named])
        self.defaults = tuple([p.default for p in self.params])
        self.least = self.defaults.count(REQUIRED)
        self.kinds = [p.plain for p in self.params[: self.positional]]
        self.returns = (
            returns[1:-1].split(", ") if returns.startswith("(") else [returns or "Tensor"]
        )
        self.several = len(self.returns) > 1 or "[]" in self.returns[0]
        self.result_names = [r.rpartition(" ")[2] if " " in r else "" for r in self.returns]
        self.writes = bool(self.params) and self.params[0].written
        self.has_self = bool(self.params) and self.names[0] == "self" and self.params[0].is_tensor
        self.is_factory = "pin_memory" in self.names and "requires_grad" not in self.names


class Signature:
    """A schema as PyTorch's parser reads it: of a function, or of a method, without `self`."""

    def __init__(
        self, schema: Schema, name: str, method: bool, out: bool, numbers: bool, older: bool = False
    ) -> None:
        self.name, self.method, self.numbers = name, method, numbers
        # True if torch counts a form of old as well, which it does not show
        self.older = older
        params = schema.params[1:] if method else list(schema.params)
        self.params = [
            p for p in params if p.name != "pin_memory" or not method or schema.is_factory
        ]
        self.positional = sum(not p.named for p in self.params)
        own = (
            [Param(f"Tensor{'[]' if len(schema.returns) > 1 else ''}? out=None", True)]
            if out
            else []
        )
        # what all such functions take comes last
        if schema.is_factory:
            at = next(i for i, p in enumerate(self.params) if p.name == "dtype")
            options, rest = self.params[at : at + 4], self.params[at + 4 :]
            self.params = [
                *self.params[:at],
                *rest,
                *own,
                *options,
                Param("bool? requires_grad=False", True),
            ]
        else:
            self.params += own
        self.least = sum(p.default is REQUIRED for p in self.params)
        # the names by which they are called
        self.shown = [
            "input" if p.name == "self" and p.is_tensor and not method else p.name
            for p in self.params
        ]
        aliases = {
            k: i
            for k, name in _NUMPY_NAMES.items()
            for i, p in enumerate(self.params)
            if p.name == name
        }
        self.places = aliases | {name: i for i, name in enumerate(self.shown)}

    def __str__(self) -> str:
        parts = [p.line(name) for p, name in zip(self.params, self.shown, strict=True)]
        if self.positional < len(parts):
            parts.insert(self.positional, "*")
        return f"({', '.join(parts)})"

    def match(self, args: tuple, named: dict) -> dict[str, Any] | str:
        """Return the arguments by name, or PyTorch's reason why the call does not fit."""
        n, found = len(args), {}
        names, unread = {self.places.get(k): k for k in named} if named else {}, len(named)
        sizes = self.takes_sizes(args)
        if n > self.positional and not sizes:
            return self._too_many(n)
        for i, p in enumerate(self.params):
            by_name = p.named or i >= n
            if not by_name:
                x = args if sizes else args[i]
            elif i in names:
                x, unread = named[names[i]], unread - 1
            elif p.default is REQUIRED:
                return self._missing(i)
            else:
                continue
            found[p.name] = x
            if type(x) in p.plain or (x is None and (p.none or p.default is None)):
                continue
            bad = p.fits(x, i, self.numbers and p.name != "out")
            if bad is not None:
                place, bad = ("", -1) if by_name else (f" (position {i + 1})", bad)
                what = f"not {type_name(x)}"
                what = (
                    what
                    if bad < 0
                    else f"but found element of type {type_name(x[bad])} at pos {bad}"
                )
                return (
                    f"{self.name}(): argument '{self.shown[i]}'{place} must be {p.type.shown}, "
                    f"{what}"
                )
        return self._unknown(named, n) if unread else found

    def takes_sizes(self, args: tuple) -> bool:
        """Return True if the arguments are sizes that are given one by one."""
        first = self.params[0] if self.positional == 1 else None
        return bool(args) and first is not None and first.is_sizes and is_symint(args[0])

    def _missing(self, at: int) -> str:
        rest = zip(self.params[at:], self.shown[at:], strict=True)
        # those given by name, too
        absent = [f'"{name}"' for p, name in rest if p.default is REQUIRED]
        # torch's, the wrong way round
        s = "s" * (len(absent) == 1)
        return (
            f"{self.name}() missing {len(absent)} required positional argument{s}: "
            f"{', '.join(absent)}"
        )

    def _unknown(self, named: dict, n: int) -> str:
        for k in named:
            if k not in self.shown:
                return f"{self.name}() got an unexpected keyword argument '{k}'"
            if self.shown.index(k) < n:
                return f"{self.name}() got multiple values for argument '{k}'"
        return "invalid keyword arguments"

    def _too_many(self, n: int) -> str:
        takes, least = self.positional, self.least
        if least != takes:
            return (
                f"{self.name}() takes from {least} to {takes} positional arguments but {n} were "
                "given"
            )
        s, were = "s" * (takes != 1), "was" if n == 1 else "were"
        return f"{self.name}() takes {takes} positional argument{s} but {n} {were} given"


# torch's words for a call that fits nothing -------------------------------------------------------


def mismatch(name: str, signatures: list[Signature], args: tuple, named: dict) -> TypeError:
    """Make PyTorch's TypeError for a call that fits none of these signatures."""
    n, first = len(args) + len(named), signatures[0]
    kinds = [p.kind for p in first.params]
    if len(signatures) == 1 and (not kinds or (kinds == ["PyObject"] and (n != 1 or named))):
        place = "TensorBase" if first.method else "torch._VariableFunctionsClass"
        takes = "exactly one argument" if kinds else "no arguments"
        return TypeError(
            f"{place}.{name}() takes {'no keyword arguments' if named else f'{takes} ({n} given)'}"
        )
    plausible = [s for s in signatures if s.least <= n <= len(s.params)]
    if len(plausible) == 1 or (len(signatures) == 1 and not first.older):
        return TypeError((plausible if len(signatures) > 1 else signatures)[0].match(args, named))
    return _invalid_combination(name, args, named, [str(s) for s in signatures])


def _invalid_combination(name: str, args: tuple, kwargs: dict, lines: list[str]) -> TypeError:
    # as torch's hash table mostly has them
    named = dict(reversed(kwargs.items()))
    head = f"{name}() received an invalid combination of arguments - got "
    given = [type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in named.items()]
    got = f"({', '.join(given)}{', ' if named and not args else ''}), but expected "
    text = [f"{head}{got}one of:"]
    for line in lines:
        params = [p.rpartition(" ")[::2] for p in line[1:-1].split(", ")]
        # of those with a default, the default, which torch takes for the name
        options = [n for _, n in params]
        wrong = ", ".join(
            [k for k in named if k not in options[max(len(options) - len(named), 0) :]]
        )
        # torch counts the star as well, and nothing as one
        as_many = len(options) == len(given)
        why = _described(params, args, named) if as_many and not wrong else ""
        if len(lines) == 1:
            said = (
                f"unrecognized keyword arguments: {wrong}"
                if wrong
                else (f"{why}, but expected " if why else got) + line
            )
            return TypeError(head + said)
        text.append(f" * {line}")
        if as_many and wrong:
            text.append(f"      didn't match because some of the keywords were incorrect: {wrong}")
        elif as_many:
            text.append(
                f"      didn't match because some of the arguments have invalid types: {why}"
            )
    return TypeError("\n".join(text) + "\n")


_SIMPLE = {"float": ("float", "int", "long"), "int": ("int", "long")}


def _described(params: list, args: tuple, named: dict) -> str:
    """List the types of the arguments, those that do not fit in exclamation marks."""
    out = []
    for i, (kind, name) in enumerate(params):
        if i >= len(args) and name not in named:
            continue
        x = named[name] if i >= len(args) else args[i]
        shown = type_name(x)
        fits = shown in _SIMPLE.get(kind, (kind,))
        if isinstance(x, (tuple, list)):
            inner = ", ".join(type_name(e) for e in x)
            shown += (
                f" of ({inner}{',' * (len(x) == 1)})" if isinstance(x, tuple) else f" of [{inner}]"
            )
        shown = (f"{name}=" if i >= len(args) else "") + shown
        out.append(shown if fits else f"!{shown}!")
    return f"({', '.join(out)}{', ' if out and not args else ''})"
