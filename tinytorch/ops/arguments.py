"""Arguments as torch's parser takes them: its names and NumPy's for them, and its words for calls that do not fit.

How torch lets an operation be called stands in `signatures.txt`, in the parser's own notation. A call that goes well
pays nothing for that; one that fails is looked at again, and torch's error is raised if it fits no signature.
Source: torch's `python_arg_parser.cpp` and `invalid_arguments.cpp`.
"""

from __future__ import annotations

import functools
import numbers
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from .. import dtypes
from ..devices import device
from ..naming import type_name
from ..storage import UntypedStorage
from ..tensor import Layout, Tensor
from ..warn import warn_in_torch
from .combinations import invalid_combination
from .precedence import say_first

ABSENT: Any = object()  # the default of a parameter that must be given


def is_number(x: Any) -> bool:
    """Whether torch would take `x` as a Python number."""
    return isinstance(x, (numbers.Number, np.number, np.bool_))


# what a parameter takes ---------------------------------------------------------------------------------------------------


def _is_index(x: Any) -> bool:
    if isinstance(x, Tensor):
        return _is_int(x)
    return hasattr(x, "__index__") and not isinstance(x, bool) and getattr(x, "ndim", 0) == 0


def _is_int(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and x._data.dtype.kind in "iu" and not x.requires_grad
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def is_symint(x: Any) -> bool:
    """Whether torch would take `x` as one of its sizes."""
    return (x._data.size == 1 and x._data.dtype.kind in "iub") if isinstance(x, Tensor) else _is_index(x)


def _is_float(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and not x.requires_grad
    return isinstance(x, (int, float, np.number, np.bool_))


_TAKES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "Tensor": ("Tensor", lambda x: isinstance(x, Tensor)),
    "Scalar": ("Number", lambda x: is_number(x) or _is_float(x)),
    "int64_t": ("int", _is_int),
    "SymInt": ("int", is_symint),
    "double": ("float", _is_float),
    "bool": ("bool", lambda x: isinstance(x, bool)),
    "c10::string_view": ("str", lambda x: isinstance(x, str)),
    "ScalarType": ("torch.dtype", lambda x: x is not None and dtypes.is_dtype(x)),
    "Layout": ("torch.layout", lambda x: isinstance(x, Layout)),
    "MemoryFormat": ("torch.memory_format", lambda x: type(x).__name__ in ("MemoryFormat", "memory_format")),
    "Device": ("torch.device", lambda x: isinstance(x, (str, int, device)) and not isinstance(x, bool)),
    "Generator": ("torch.Generator", lambda x: type(x).__name__ == "Generator"),
    "Storage": ("torch.Storage", lambda x: isinstance(x, UntypedStorage) or hasattr(x, "untyped")),
    "TensorList": ("tuple of Tensors", lambda x: isinstance(x, (tuple, list))),
    "c10::List<::std::optional<Tensor>>": ("tuple of Tensors", lambda x: isinstance(x, (tuple, list))),
    "IntArrayRef": ("tuple of ints", _is_index),
    "SymIntArrayRef": ("tuple of ints", is_symint),
    "ArrayRef<double>": ("tuple of floats", _is_float),
    "ArrayRef<Scalar>": ("tuple of Scalars", is_number),
    "PyObject*": ("object", lambda x: True),
    "Dimname": ("name", lambda x: isinstance(x, str)),
    "DimnameList": ("tuple of names", lambda x: isinstance(x, str)),
}
_SEQUENCES = ("IntArrayRef", "SymIntArrayRef", "ArrayRef<double>", "ArrayRef<Scalar>", "DimnameList")
_NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_NUMBERS_AS_TENSORS = {
    f"{n}{end}" for n in ["add", "div", "divide", "mul", "multiply", "sub", "subtract", "true_divide", "floor_divide", "copy"] for end in ("", "_")
} | {"to"}  # fmt: skip


def _parts(inner: str) -> list[str]:
    """The parameters between a signature's brackets."""
    return re.split(r", (?![^{]*\})", inner) if inner else []


class MisfitError(Exception):
    """Why a call does not fit a signature."""


class _Parameter:
    """One parameter of a signature, as it can be given."""

    def __init__(self, text: str, named: bool) -> None:
        kind, _, name = text.partition(" ")
        self.name, self.optional, self.default = *name.partition("=")[:2], name.partition("=")[2]
        self.none = kind.endswith("?") or self.default == "None"
        self.kind, _, size = kind.rstrip("?").partition("[")
        self.broadcast = bool(size)
        self.named = named
        self.type, self.takes = _TAKES[self.kind]

    def fits(self, x: Any, function: str, position: int) -> int | None:
        """None if the parameter takes `x`, else the index of the element that is at fault, or -1."""
        if self.kind in _SEQUENCES:
            if isinstance(x, (tuple, list)):
                return None if not x or self.takes(x[0]) else 0
            return None if self.broadcast and self.takes(x) else -1
        if self.type == "tuple of Tensors" and self.takes(x):
            for i, t in enumerate(x):
                if not isinstance(t, Tensor):
                    raise TypeError(f"expected Tensor as element {i} in argument {position}, but got {type_name(t)}")
            return None
        if self.takes(x) or (self.kind == "Tensor" and function in _NUMBERS_AS_TENSORS and is_number(x)):
            return None
        return -1

    def given_by_name(self, kwargs: dict) -> str | None:
        """The name under which it was given."""
        return next((n for n in (self.name, *_NUMPY_NAMES.get(self.name, ())) if n in kwargs), None)

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + (f" = {self.default}" if self.optional else "")


class _Signature:
    """One way to call an operation."""

    def __init__(self, text: str) -> None:
        text, _, flag = text.partition("|")
        self.hidden, self.deprecated, self.alone = (
            flag in ("hidden", "deprecated"),
            flag == "deprecated",
            flag == "alone",
        )
        head, _, inner = text.partition("(")
        self.name = head.rpartition(".")[2]
        self.params: list[_Parameter] = []
        positional, _, named = inner[:-1].partition("*, ")
        for part, only in ((positional, False), (named, True)):
            self.params += [_Parameter(p, only) for p in _parts(part.removesuffix(", "))]
        self.least = sum(not p.optional for p in self.params)
        self.positional = sum(not p.named for p in self.params)

    def __str__(self) -> str:
        parts = [str(p) for p in self.params]
        if self.positional < len(parts):
            parts.insert(self.positional, "*")
        return f"({', '.join(parts)})"

    def match(self, args: tuple, kwargs: dict) -> tuple[list, dict]:
        """The arguments by position and by name. MisfitError, with torch's words for it, if the call does not fit."""
        name, n, params = self.name, len(args), self.params
        sizes = (
            bool(args)
            and self.positional == 1
            and params[0].kind in ("IntArrayRef", "SymIntArrayRef")
            and params[0].takes(args[0])
        )
        if n > self.positional and not sizes:
            raise MisfitError(self._too_many(n))
        at, left, by_position, by_name = 0, len(kwargs), [], {}
        for i, p in enumerate(params):
            called = None
            if at < n:
                if p.named:
                    raise MisfitError(self._too_many(n))
                x = args[at]
            else:
                called = p.given_by_name(kwargs)
                x = kwargs[called] if called is not None else ABSENT
            bad: int | None
            if x is ABSENT and not p.optional:
                absent = [q.name for q in params[i:] if not q.optional]  # those given by name, too
                s = "s" * (len(absent) == 1)  # torch's, the wrong way round
                raise MisfitError(
                    f"{name}() missing {len(absent)} required positional argument{s}: "
                    + ", ".join(f'"{a}"' for a in absent)
                )
            if x is not ABSENT and not (x is None and p.none) and (bad := p.fits(x, name, i)) is not None:
                if not (sizes and at == 0):
                    self._wrong_type(p, x, called, at, bad)
                at, by_position = n, list(args)
            elif called is None:
                at += x is not ABSENT
            else:
                left -= 1
            if x is not ABSENT and not (sizes and i == 0):
                if p.named or (called is not None and len(by_position) < i):
                    by_name[p.name] = x
                else:
                    by_position.append(x)
        if left or (self.alone and kwargs):
            self._unknown(kwargs, n)
        return by_position, by_name

    def unpack(self, by_position: list, by_name: dict) -> None:
        """Raise torch's TypeError for sizes that turn out not to be ints after the first."""
        for p, x in [*zip(self.params, by_position, strict=False), *((p, by_name.get(p.name)) for p in self.params)]:
            if p.kind in ("int64_t", "SymInt") and isinstance(x, int) and not -(1 << 63) <= x < 1 << 63:
                raise ValueError("Overflow when unpacking long long")
            if p.kind in ("IntArrayRef", "SymIntArrayRef"):
                one_by_one = p is self.params[0] and self.positional == 1 and x is not None
                sizes = x if isinstance(x, (tuple, list)) else by_position if one_by_one else ()
                for i, n in enumerate(sizes):
                    if not (is_symint(n) or isinstance(n, bool)):
                        raise TypeError(
                            f"{self.name}(): argument '{p.name}' failed to unpack the object at pos {i + 1} with error "
                            f'"type must be tuple of ints,but got {type_name(n)}"'
                        )

    def _too_many(self, n: int) -> str:
        takes, least = self.positional, self.least
        if least != takes:
            return f"{self.name}() takes from {least} to {takes} positional arguments but {n} were given"
        return f"{self.name}() takes {takes} positional argument{'s' * (takes != 1)} but {n} {'was' if n == 1 else 'were'} given"

    def _wrong_type(self, p: _Parameter, x: Any, called: str | None, at: int, bad: int) -> NoReturn:
        if called is not None:
            raise MisfitError(f"{self.name}(): argument '{p.name}' must be {p.type}, not {type_name(x)}")
        where = f"{self.name}(): argument '{p.name}' (position {at + 1}) must be {p.type}, "
        if bad < 0:
            raise MisfitError(f"{where}not {type_name(x)}")
        raise MisfitError(f"{where}but found element of type {type_name(x[bad])} at pos {bad}")

    def _unknown(self, kwargs: dict, n: int) -> NoReturn:
        known = [p.name for p in self.params]
        for k in kwargs:
            if k not in known:
                raise MisfitError(f"{self.name}() got an unexpected keyword argument '{k}'")
            if known.index(k) < n:
                raise MisfitError(f"{self.name}() got multiple values for argument '{k}'")
        raise MisfitError("invalid keyword arguments")


# the table ---------------------------------------------------------------------------------------------------------------


@functools.cache
def _table() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    from pathlib import Path  # which takes as long to load as ten modules of this package, and few programs come here

    for line in Path(__file__).with_name("signatures.txt").read_text("utf-8").splitlines():
        table.setdefault(line.partition("(")[0], []).append(line)
    return table


def _as_method(line: str) -> Iterator[str]:
    """The method's line, from the function's: without the tensor itself and `out`."""
    head, _, rest = line.partition("(")
    inner, _, flag = rest.rpartition(")")
    parts = [p for p in _parts(inner) if p != "Tensor input" and " out=" not in p]
    if "Tensor input" in _parts(inner):
        yield f"Tensor.{head}({', '.join(parts[:-1] if parts and parts[-1] == '*' else parts)}){flag}"


def derived(key: str, table: dict[str, list[str]]) -> list[str]:
    """The lines of a method that has none of its own: its function's, or those of the operation that is not in place."""
    name = key.removeprefix("Tensor.")
    lines = [m for line in table.get(name, ()) for m in _as_method(line)]
    if not lines and name.endswith("_"):
        lines = [m.replace("(", "_(", 1) for m in table.get(key[:-1]) or derived(key[:-1], table)]
    return lines


@functools.cache
def signatures_of(key: str) -> tuple[_Signature, ...]:
    """The ways to call `add`, or as a method `Tensor.add`; none if torch's function is written in Python."""
    table = _table()
    lines = table.get(key) or (derived(key, table) if key.startswith("Tensor.") else [])
    return tuple(_Signature(line) for line in lines if "(" in line)


def mismatch(key: str, found: tuple[_Signature, ...], args: tuple, kwargs: dict) -> TypeError:
    """torch's TypeError for a call that fits none of these signatures."""
    n = len(args) + len(kwargs)
    name = key.removeprefix("Tensor.").removeprefix("nn.")
    if len(found) == 1 and (found[0].alone or not found[0].params):
        place = "TensorBase" if name != key else "torch._VariableFunctionsClass"
        takes = "exactly one argument" if found[0].alone else "no arguments"
        return TypeError(f"{place}.{name}() takes {'no keyword arguments' if kwargs else f'{takes} ({n} given)'}")
    plausible = [s for s in found if s.least <= n <= len(s.params) and not s.hidden]
    if len(found) == 1 or len(plausible) == 1:
        try:
            (plausible if len(found) > 1 else found)[0].match(args, kwargs)
        except MisfitError as why:
            return TypeError(str(why))
    return invalid_combination(name, args, kwargs, [str(s) for s in found if not s.hidden])


def parsed(key: str, args: tuple, kwargs: dict) -> tuple[list, dict] | None:
    """A call's arguments by position and by name, under torch's names; None if torch does not parse them itself.

    TypeError, in torch's words, if they fit no signature.
    """
    found = signatures_of(key)
    for s in found:
        try:
            out = s.match(args, kwargs)
        except MisfitError:
            continue
        s.unpack(*out)
        return _as_now(s, out, found) if s.deprecated else out
    if found:
        raise mismatch(key, found, args, kwargs)
    return None


def _as_now(used: _Signature, given: tuple[list, dict], found: tuple[_Signature, ...]) -> tuple[list, dict]:
    """The arguments of a call in an order that torch has given up, as it takes them now; and torch's warning."""
    visible = [s for s in found if not s.hidden]
    ways = "".join(f"\n\t{used.name}{s}" for s in visible)
    warn_in_torch(
        f"This overload of {used.name} is deprecated:\n\t{used.name}{used}\nConsider using one of the following "
        f"signatures instead:{ways}", "torch/csrc/utils/python_arg_parser.cpp:1841", once=True,
    )  # fmt: skip
    values = dict(zip((p.name for p in used.params), given[0], strict=False)) | given[1]
    return [values.pop(p.name) for p in visible[0].params if not p.named and p.name in values], values


# calls -------------------------------------------------------------------------------------------------------------------


def called_as_method() -> bool:
    """Whether the user called the running operation as a method."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_back.f_globals.get("__name__", "").startswith("tinytorch.ops"):
        frame = frame.f_back
    return frame.f_code.co_qualname.startswith("Tensor.")


def _check_self(name: str, method: bool, args: tuple) -> None:
    """What Python says of a method that was taken from the class and called with something else than a tensor."""
    if method and not args:
        raise TypeError(f"unbound method TensorBase.{name}() needs an argument")
    if method and not isinstance(args[0], Tensor):
        kind = type(args[0]).__name__
        raise TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{kind}' object")


def is_misplaced(out: Any) -> bool:
    """Whether `out` is what no operation writes to: it is no tensor, or given to a method, which takes none."""
    return not isinstance(out, Tensor) or called_as_method()


def with_alpha(named: dict, alpha: Any) -> dict:
    """The arguments by name, with `alpha` unless it is what it is where nobody gives it."""
    return named if type(alpha) is int and alpha == 1 else {**named, "alpha": alpha}


def again(f: Callable, name: str, args: tuple, kwargs: dict, out: Any = None) -> Any:
    """Call an operation that has no guard as torch's parser understands the call, or raise torch's TypeError for it."""
    if out is not None:
        kwargs = {**kwargs, "out": out}
    given = tuple(a for a in args if a is not ABSENT)
    method = called_as_method()
    _check_self(name, method, given)
    found = parsed(f"Tensor.{name}" if method else name, given[method:], kwargs)
    if found is None or _same(given[method:], kwargs, *found):
        raise TypeError(f"{name}(): tinytorch does not take ({', '.join(map(type_name, given))})")
    return f(*given[:method], *found[0], **found[1])


def _same(args: tuple, kwargs: dict, by_position: list, by_name: dict) -> bool:
    """Whether a call was parsed to what it was."""
    return kwargs.keys() == by_name.keys() and [*map(id, args)] == [*map(id, by_position)]


def unfit(name: str) -> TypeError:
    """An operation's error for arguments that it cannot take: its guard then says what torch says of them."""
    return TypeError(f"{name}(): invalid arguments")


def _bool_parameters(f: Callable) -> dict[str, int]:
    """The names and positions of parameters that are declared as bool."""
    kinds = f.__annotations__
    return {n: i for i, n in enumerate(f.__code__.co_varnames) if kinds.get(n) == "bool"} if "bool" in kinds.values() else {}  # fmt: skip


def _not_bool(bools: dict[str, int], args: tuple, kwargs: dict) -> bool:
    """Whether something else than a bool was given for a bool, which Python would take for true or false."""
    for name, at in bools.items():
        if name in kwargs:
            if type(kwargs[name]) is not bool:
                return True
        elif at < len(args) and type(args[at]) is not bool:
            return True
    return False


def guarded(f: Callable, name: str, method: bool, of_view: bool = False, strict: bool = False) -> Callable:
    """`f` with torch's rules for arguments: other names for them are accepted, and errors are torch's.

    `of_view`: the operation is one of torch's own views, which look at their input's history before other arguments.
    `strict`: it would take more than torch takes, so that the arguments are looked at first.
    """
    key = f"Tensor.{name}" if method else name
    no_out = method and "out" in f.__code__.co_varnames
    bools = _bool_parameters(f)

    def call(*args: Any, **kwargs: Any) -> Any:
        if strict or (no_out and "out" in kwargs) or (bools and _not_bool(bools, args, kwargs)):
            parsed(key, args[method:], kwargs)
        try:
            return f(*args, **kwargs) if kwargs else f(*args)
        except Exception as e:
            if _is_own(sys._getframe(1)):
                raise
            failed = [e]
        return _once_more(f, name, method, args, kwargs, failed, of_view)

    # what `functools.wraps` does, which takes longer; there are some six hundred of these
    call.__name__, call.__qualname__, call.__doc__, call.__module__ = (
        f.__name__,
        f.__qualname__,
        f.__doc__,
        f.__module__,
    )
    call.__wrapped__ = f  # type: ignore[attr-defined]
    return call


def in_full(f: Callable, name: str, args: tuple, kwargs: dict, of_view: bool = True) -> Any:
    """Call an operation from its short way, which did not lead to the result; as `guarded` calls others."""
    args = tuple([a for a in args if a is not ABSENT])
    _check_self(name, called_as_method(), args)
    if kwargs and _not_bool(_bool_parameters(f), args, kwargs):
        parsed(f"Tensor.{name}" if called_as_method() else name, args[called_as_method() :], kwargs)
    try:
        return f(*args, **kwargs)
    except Exception as e:
        if _is_own(sys._getframe(2)):
            raise
        failed = [e]
    return _once_more(f, name, called_as_method(), args, kwargs, failed, of_view)


_FIRST = re.compile("functions with out=|^Inplace update to inference tensor")  # said in its turn already


def _is_own(caller: FrameType) -> bool:
    """Whether the engine itself made a call: then its errors are as they are."""
    return caller.f_globals.get("__name__", "").startswith(("tinytorch.ops", "tinytorch.graph"))


_IN_PYTHON = {"unique": "_return_output", "unique_consecutive": "_consecutive_return_output"}


def _renamed(error: Exception, name: str, method: bool) -> Exception:
    """What Python says of a call that does not fit, under the name of torch's function where that is written in Python."""
    said = str(error)
    if type(error) is not TypeError or not said.startswith((f"{name}() got", f"{name}() missing", f"{name}() takes")):
        return error
    return TypeError((f"Tensor.{name}" if method else _IN_PYTHON.get(name, name)) + said.removeprefix(name))


def _once_more(f: Callable, name: str, method: bool, args: tuple, kwargs: dict, failed: list, of_view: bool) -> Any:
    """A call that failed, looked at as torch looks at it: called again as torch takes it, or torch's error.

    The error comes in a list and is taken out: a frame that kept it would keep the tensors of the call in a circle.
    """
    error = failed.pop()
    try:
        _check_self(name, method, args)
        found = parsed(f"Tensor.{name}" if method else name, args[method:], kwargs)
        if found is None:
            error = _renamed(error, name, method)
        at_the_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
        if found is None or not at_the_call or _same(args[method:], kwargs, *found):
            if not _FIRST.search(str(error)):
                say_first(name, of_view, args, kwargs)
            raise error
    finally:
        del error
    return f(*args[:method], *found[0], **found[1])
