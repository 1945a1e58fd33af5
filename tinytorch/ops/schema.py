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
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import (
    as_device,
    as_dtype,
    check_c_number,
    device,
    dtype,
    dtypes,
    is_dtype,
    make_absence_error,
    type_name,
)
from ..graph import needs_grad
from ..tensor import Layout, Tensor

# the default of what must be given
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()
# what a function of users has in the place of an argument that it was not given
NOT_GIVEN: Any = type("NotGiven", (), {"__repr__": lambda self: "NOT_GIVEN"})()


# what the types of a schema take ------------------------------------------------------------------


def is_number(x: Any) -> bool:
    """Return True if torch would take `x` as a Python number."""
    return isinstance(x, (numbers.Number, np.number, np.bool_))


def _is_int(x: Any) -> bool:
    """Return True if torch would take `x` as an int: also a 0-d tensor without history."""
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and x._data.dtype.kind in "iu" and not needs_grad(x)
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def is_symint(x: Any) -> bool:
    """Return True if torch would take `x` as one of its sizes."""
    if isinstance(x, Tensor):
        return x._data.size == 1 and x._data.dtype.kind in "iub"
    return hasattr(type(x), "__index__") and not isinstance(x, bool) and getattr(x, "ndim", 0) == 0


def _is_float(x: Any) -> bool:
    """Return True if torch would take `x` as a float: also a 0-d tensor without history."""
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and not needs_grad(x)
    return isinstance(x, (int, float, np.number, np.bool_))


def _number(x: Any) -> Any:
    """Return a Python number for what `_is_float` or `is_number` accepts."""
    if isinstance(x, Tensor):
        return x.item()
    # As PyTorch reads it: `torch.tensor([1]) * np.bool_(True)` is of float32.
    if isinstance(x, np.bool_):
        return float(x)
    return x.item() if isinstance(x, np.generic) else x


def _read_number(x: Any) -> Any:
    """Return a Python number. OverflowError for one that C++ has no type for."""
    check_c_number(x)
    return _number(x)


def read_operand(x: Any) -> Any:
    """Return a tensor as it is, and of a number that stands for one Python's number.

    NotImplementedError for a complex one, of which tinytorch makes no tensor.
    """
    if isinstance(x, Tensor):
        return x
    if dtypes.is_complex_number(x):
        raise make_absence_error("a complex number")
    return _read_number(x)


def _int(x: Any) -> int:
    """Return a Python int for what `_is_int` or `is_symint` accepts."""
    return int(x.item()) if isinstance(x, Tensor) else x.__index__()


def check_long(x: Any) -> None:
    """Raise the ValueError of PyTorch's parser for an int that is none of 64 bits."""
    if isinstance(x, int) and not -(1 << 63) <= x < 1 << 63:
        raise ValueError("Overflow when unpacking long long")


def _find_error_of_element(n: Any) -> str:
    """Return what is wrong with an element of a tuple of ints, in PyTorch's words; "" if nothing."""
    if type(n) is not int and not (is_symint(n) or isinstance(n, bool)):
        return f"type must be tuple of ints,but got {type_name(n)}"
    try:
        check_long(n)
    except ValueError as error:
        return str(error)
    return ""


class _Type:
    """A type of a schema.

    `shown`: its name in errors. `accepts`: a test of a value, or the classes that fit. `read`: makes
    of a value that fits what kernels take. `plain_types`: the classes whose instances need no
    reading. `is_row`: it is a sequence, and `accepts` and `read` are for its elements.
    """

    def __init__(
        self,
        shown: str,
        accepts: Callable[[Any], bool] | tuple[type, ...],
        read: Callable[[Any], Any] = lambda x: x,
        plain_types: tuple[type, ...] = (),
        is_row: bool = False,
    ) -> None:
        self.shown, self.read, self.is_row = shown, read, is_row
        self.plain_types: frozenset[type] = frozenset(plain_types)
        self.accepts: Callable[[Any], bool] = (
            accepts if callable(accepts) else lambda x: isinstance(x, accepts)
        )


_INTS = _Type("tuple of ints", is_symint, _int, is_row=True)
_TENSORS = _Type("tuple of Tensors", (tuple, list), list)
_TYPES = {
    "Tensor": _Type("Tensor", (Tensor,), read_operand, (Tensor,)),
    "Scalar": _Type(
        "Number", lambda x: is_number(x) or _is_float(x), _read_number, (int, float, bool)
    ),
    "int": _Type("int", _is_int, _int, (int,)),
    "SymInt": _Type("int", is_symint, _int, (int,)),
    # a double, whatever number it is: `torch.isclose(x, x, 2**70)` is no overflow
    "float": _Type("float", _is_float, lambda x: float(_number(x)), (int, float)),
    "bool": _Type("bool", (bool,), plain_types=(bool,)),
    "str": _Type("str", (str,), plain_types=(str,)),
    "ScalarType": _Type("torch.dtype", lambda x: x is not None and is_dtype(x), as_dtype, (dtype,)),
    "Layout": _Type("torch.layout", (Layout,), plain_types=(Layout,)),
    "MemoryFormat": _Type(
        # By the name of its class, as it is defined in a file that imports this one.
        "torch.memory_format",
        lambda x: type(x).__name__ in ("MemoryFormat", "memory_format"),
    ),
    "Device": _Type(
        "torch.device",
        lambda x: isinstance(x, (str, int, device)) and not isinstance(x, bool),
        as_device,
        (device, str, int),
    ),
    "Generator": _Type("torch.Generator", lambda x: type(x).__name__ == "Generator"),
    "Storage": _Type(
        # One of them is defined in a file that imports this one.
        "torch.Storage",
        lambda x: type(x).__name__ in ("UntypedStorage", "TypedStorage"),
    ),
    "Tensor[]": _TENSORS,
    "Tensor?[]": _TENSORS,
    "int[]": _INTS,
    "SymInt[]": _INTS,
    "PyObject": _Type("object", (object,)),
}


# NumPy's names, with PyTorch's. A number `self` is not called `input`, and so has none of NumPy's:
# `torch.pow(x=2, exponent=y)` raises.
_NUMPY_NAMES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
}
# `Tensor(a!)[]? name=default`. A text, as `re` compiles it when a schema is first parsed.
_PARAM = r"(\w+)(?:\((\w!?).*?\))?(\??\[(\d?)\])?(\??) (\w+)=?(.*)"
# Most are one of these, for which no `literal_eval` is needed: it takes long.
_DEFAULTS: dict[str, Any] = {"": REQUIRED, "contiguous_format": None, "[]": (), "[0, 1]": (0, 1)}
_DEFAULTS |= {"None": None, "False": False, "True": True}
# between two parameters, and not within a default
_COMMA = r", (?!\d)"


class Param:
    """One parameter of a schema, such as `SymInt[] size` or `Tensor(a!) self`."""

    def __init__(self, text: str, is_keyword_only: bool) -> None:
        match = re.fullmatch(_PARAM, text)
        if match is None:
            raise ValueError(f"{text!r} is no parameter of a schema")
        groups = [g or "" for g in match.groups()]
        word, mark, brackets, count, question_mark, self.name, self.default_text = groups
        self.is_keyword_only = is_keyword_only
        self.accepts_none = bool(question_mark)
        # `Tensor(a!)`
        self.is_written = mark.endswith("!")
        # `int[1]`
        self.accepts_one_number = bool(count)
        self.schema_type = word + brackets.replace(count, "")
        if self.schema_type not in _TYPES:
            raise ValueError(f"{text!r} has no type of a schema")
        self.type = _TYPES[self.schema_type]
        self.is_tensor = self.schema_type == "Tensor"
        self.is_list = self.schema_type in ("Tensor[]", "Tensor?[]")
        # sizes may be given one by one, as in `x.view(2, 3)`
        self.is_sizes = self.type.is_row and not self.accepts_one_number
        if self.default_text in _DEFAULTS:
            self.default = _DEFAULTS[self.default_text]
        else:
            self.default = ast.literal_eval(self.default_text)
        if self.schema_type == "int[]" and type(self.default) is int:
            self.default = (self.default,)
        self.plain_types = self.type.plain_types
        if self.accepts_none:
            self.plain_types |= {type(None)}
        # an empty tuple by default, which torch's errors show as None
        self.accepts_none = self.accepts_none or self.default_text == "[]"

    def read(self, x: Any, function: str) -> Any:
        """Convert an argument that the parser has accepted to what kernels take.

        TypeError and ValueError for what PyTorch notices only here.
        """
        if x is None and self.accepts_none:
            return () if self.default == () else None
        if self.type.is_row:
            if not isinstance(x, (tuple, list)):
                check_long(x)
                return (self.type.read(x),)
            for i, n in enumerate(x):
                error = _find_error_of_element(n)
                if error:
                    raise TypeError(
                        f"{function}(): argument '{self.name}' failed to unpack the object at pos "
                        f'{i + 1} with error "{error}"'
                    )
            return tuple([n if type(n) is int else self.type.read(n) for n in x])
        if self.type.shown == "int":
            check_long(x)
        return self.type.read(x)

    def fits(self, x: Any, position: int, numbers: bool) -> int | None:
        """Return None if the parameter accepts `x`, else the index of the wrong element, or -1."""
        if self.type.is_row:
            if isinstance(x, (tuple, list)):
                return None if not x or self.type.accepts(x[0]) else 0
            return None if self.accepts_one_number and self.type.accepts(x) else -1
        if self.is_list and self.type.accepts(x):
            for i, t in enumerate(x):
                if not isinstance(t, Tensor):
                    raise TypeError(
                        f"expected Tensor as element {i} in argument {position}, but got "
                        f"{type_name(t)}"
                    )
            return None
        return None if self.type.accepts(x) or (numbers and self.is_tensor and is_number(x)) else -1

    def line(self, name: str) -> str:
        """Return the parameter as PyTorch's errors show it, under this name."""
        text = f"{self.type.shown} {name}"
        if not self.default_text:
            return text
        default = self.default_text
        if self.schema_type == "float":
            default = default.removesuffix(".")
        # PyTorch's errors show some defaults otherwise than its schemas write them.
        if default == "contiguous_format":
            default = "torch.contiguous_format"
        elif default == "[]":
            default = "None"
        elif self.name == "base":
            default += ".0"
        if self.name == "pin_memory":
            default = "False"
        elif self.schema_type == "ScalarType":
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
        self.params: list[Param] = []
        is_keyword_only = False
        for part in re.split(_COMMA, inner) if inner else ():
            if part == "*":
                is_keyword_only = True
            else:
                self.params.append(_param(part, is_keyword_only))
        self.names = [p.name for p in self.params]
        self.positional_count = len([p for p in self.params if not p.is_keyword_only])
        self.defaults = tuple([p.default for p in self.params])
        self.required_count = self.defaults.count(REQUIRED)
        self.returns = [returns or "Tensor"]
        if returns.startswith("("):
            self.returns = returns[1:-1].split(", ")
        self.has_several_results = len(self.returns) > 1 or "[]" in self.returns[0]
        self.result_names = [r.rpartition(" ")[2] if " " in r else "" for r in self.returns]
        self.writes_self = bool(self.params) and self.params[0].is_written
        self.is_factory = "pin_memory" in self.names and "requires_grad" not in self.names

    def position_of(self, name: str) -> int:
        """Return the position of a parameter. ValueError if there is none of this name."""
        if name not in self.names:
            raise ValueError(f"{self.text} has no parameter {name!r}")
        return self.names.index(name)


def has_tensor_self(text: str) -> bool:
    """Return True if an operation can be a method, by the text of its schema: `self` is a tensor.

    Mostly it is the first parameter; of `where(condition, self, other)` it is the second.
    """
    # `Tensor self`, `Tensor(a!) self`, and not `Scalar self`
    return "Tensor self" in text or ") self" in text


class Signature:
    """A schema as PyTorch's parser reads it: of a function, or of a method, without `self`."""

    def __init__(
        self,
        schema: Schema,
        name: str,
        is_method: bool,
        has_out: bool,
        numbers: bool,
    ) -> None:
        self.name, self.is_method, self.numbers = name, is_method, numbers
        self.params = [p for p in schema.params if not (is_method and p.name == "self")]
        self.positional_count = sum(not p.is_keyword_only for p in self.params)
        # torch shows what all functions that make tensors take after all else, `out` before that
        options: list[Param] = []
        if schema.is_factory:
            at = [p.name for p in self.params].index("dtype")
            options = [*self.params[at : at + 4], Param("bool? requires_grad=False", True)]
            del self.params[at : at + 4]
        if has_out:
            brackets = "[]" if schema.has_several_results else ""
            self.params.append(Param(f"Tensor{brackets}? out=None", True))
        self.params += options
        self.required_count = sum(p.default is REQUIRED for p in self.params)
        # The names by which they are called: a tensor `self` of a function is `input`.
        self.names_shown = []
        for p in self.params:
            is_input = p.name == "self" and p.is_tensor and not is_method
            self.names_shown.append("input" if is_input else p.name)
        # position of a parameter, by each name that torch or NumPy has for it
        self.positions: dict[str, int] = {}
        for alias, original in _NUMPY_NAMES.items():
            if original in self.names_shown:
                self.positions[alias] = self.names_shown.index(original)
        for i, shown in enumerate(self.names_shown):
            self.positions[shown] = i

    def __str__(self) -> str:
        parts = [p.line(name) for p, name in zip(self.params, self.names_shown, strict=True)]
        if self.positional_count < len(parts):
            parts.insert(self.positional_count, "*")
        return f"({', '.join(parts)})"

    def match(self, args: tuple, named: dict) -> dict[str, Any] | str:
        """Return the arguments by name, or PyTorch's reason why the call does not fit."""
        n, found = len(args), {}
        names, unread = {self.positions.get(k): k for k in named} if named else {}, len(named)
        sizes = self.takes_sizes(args)
        if n > self.positional_count and not sizes:
            return self._too_many(n)
        for i, p in enumerate(self.params):
            by_name = p.is_keyword_only or i >= n
            if not by_name:
                x = args if sizes else args[i]
            elif i in names:
                x, unread = named[names[i]], unread - 1
            elif p.default is REQUIRED:
                return self._missing(i)
            else:
                continue
            found[p.name] = x
            if type(x) in p.plain_types or (x is None and (p.accepts_none or p.default is None)):
                continue
            bad = p.fits(x, i, self.numbers)
            if bad is not None:
                place, bad = ("", -1) if by_name else (f" (position {i + 1})", bad)
                reason = f"not {type_name(x)}"
                if bad >= 0:
                    reason = f"but found element of type {type_name(x[bad])} at pos {bad}"
                return (
                    f"{self.name}(): argument '{self.names_shown[i]}'{place} must be {p.type.shown}, "
                    f"{reason}"
                )
        return self._unknown(named, n) if unread else found

    def takes_sizes(self, args: tuple) -> bool:
        """Return True if the arguments are sizes that are given one by one."""
        first = self.params[0] if self.positional_count == 1 else None
        return bool(args) and first is not None and first.is_sizes and is_symint(args[0])

    def _missing(self, at: int) -> str:
        """Return torch's reason if an argument is missing, parameter number `at` the first."""
        rest = zip(self.params[at:], self.names_shown[at:], strict=True)
        # torch counts those that were given by name, too
        absent = [f'"{name}"' for p, name in rest if p.default is REQUIRED]
        # torch has the plural the wrong way round
        s = "s" * (len(absent) == 1)
        return (
            f"{self.name}() missing {len(absent)} required positional argument{s}: "
            f"{', '.join(absent)}"
        )

    def _unknown(self, named: dict, n: int) -> str:
        """Return torch's reason for arguments by name that no parameter takes."""
        for k in named:
            if k not in self.names_shown:
                return f"{self.name}() got an unexpected keyword argument '{k}'"
            if self.names_shown.index(k) < n:
                return f"{self.name}() got multiple values for argument '{k}'"
        return "invalid keyword arguments"

    def _too_many(self, n: int) -> str:
        """Return torch's reason for `n` arguments by position."""
        takes, least = self.positional_count, self.required_count
        if least != takes:
            return (
                f"{self.name}() takes from {least} to {takes} positional arguments but {n} were "
                "given"
            )
        s, were = "s" * (takes != 1), "was" if n == 1 else "were"
        return f"{self.name}() takes {takes} positional argument{s} but {n} {were} given"


# torch's words for a call that fits nothing -------------------------------------------------------


def mismatch(
    name: str,
    signatures: list[Signature],
    args: tuple,
    named: dict,
    has_hidden_form: bool = False,
) -> TypeError:
    """Make PyTorch's TypeError for a call that fits none of these signatures.

    `has_hidden_form`: it has a deprecated form, too, which its errors count and do not list.
    """
    count, first = len(args) + len(named), signatures[0]
    types = [param.schema_type for param in first.params]
    # Of what PyTorch has not written by its parser: `from_numpy`, and methods without arguments.
    takes_one_object = types == ["PyObject"] and not first.is_method
    if len(signatures) == 1 and (not types or (takes_one_object and (count != 1 or named))):
        place = "TensorBase" if first.is_method else "torch._VariableFunctionsClass"
        if named:
            takes = "no keyword arguments"
        elif types:
            takes = f"exactly one argument ({count} given)"
        else:
            takes = f"no arguments ({count} given)"
        return TypeError(f"{place}.{name}() takes {takes}")
    if len(signatures) == 1 and not has_hidden_form:
        return TypeError(first.match(args, named))
    # One alone that takes so many arguments is the one that was meant.
    plausible = [s for s in signatures if s.required_count <= count <= len(s.params)]
    if len(plausible) == 1:
        return TypeError(plausible[0].match(args, named))
    return _invalid_combination(name, args, named, [str(s) for s in signatures])


def _invalid_combination(name: str, args: tuple, kwargs: dict, lines: list[str]) -> TypeError:
    """Make PyTorch's TypeError that lists all signatures, in `lines`, with what is wrong in each."""
    # torch lists them in the order of its hash table, which mostly is this one
    named = dict(reversed(kwargs.items()))
    head = f"{name}() received an invalid combination of arguments - got "
    type_names = [type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in named.items()]
    got = f"({', '.join(type_names)}{', ' if named and not args else ''}), but expected "
    text = [f"{head}{got}one of:"]
    for line in lines:
        params = [p.rpartition(" ")[::2] for p in line[1:-1].split(", ")]
        # For a parameter with a default torch takes the default for the name.
        options = [n for _, n in params]
        wrong = ", ".join(
            [k for k in named if k not in options[max(len(options) - len(named), 0) :]]
        )
        # torch counts the `*` as a parameter, and an empty list as one parameter
        as_many = len(options) == len(type_names)
        why = _list_types(params, args, named) if as_many and not wrong else ""
        if len(lines) == 1:
            if wrong:
                return TypeError(f"{head}unrecognized keyword arguments: {wrong}")
            return TypeError(head + (f"{why}, but expected " if why else got) + line)
        text.append(f" * {line}")
        if as_many and wrong:
            text.append(f"      didn't match because some of the keywords were incorrect: {wrong}")
        elif as_many:
            text.append(
                f"      didn't match because some of the arguments have invalid types: {why}"
            )
    return TypeError("\n".join(text) + "\n")


_SIMPLE = {"float": ("float", "int", "long"), "int": ("int", "long")}


def _list_types(params: list, args: tuple, named: dict) -> str:
    """List the types of the arguments, those that do not fit in exclamation marks."""
    texts = []
    for position, (expected_type, name) in enumerate(params):
        is_named = position >= len(args)
        if is_named and name not in named:
            continue
        argument = named[name] if is_named else args[position]
        given_type = type_name(argument)
        fits = given_type in _SIMPLE.get(expected_type, (expected_type,))
        text = given_type + _list_item_types(argument)
        if is_named:
            text = f"{name}={text}"
        texts.append(text if fits else f"!{text}!")
    # torch ends the list with a comma where all arguments are named: `(dim=str, )`.
    end = ", " if texts and not args else ""
    return f"({', '.join(texts)}{end})"


def _list_item_types(argument: Any) -> str:
    """Return ` of (int, str)` for a tuple, ` of [int]` for a list, and nothing for all else."""
    if not isinstance(argument, (tuple, list)):
        return ""
    inner = ", ".join(type_name(item) for item in argument)
    if isinstance(argument, list):
        return f" of [{inner}]"
    # As Python writes a tuple of one.
    comma = "," if len(argument) == 1 else ""
    return f" of ({inner}{comma})"
