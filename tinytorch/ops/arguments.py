"""Arguments as torch's parser takes them: NumPy's names for some, and its words for those that it cannot take.

An operation says with `@signatures(...)` how torch lets it be called, a line for each way. A call that goes well pays
nothing for that; one that fails is looked at again, and torch's error is raised if it does not fit.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from .. import dtypes
from ..devices import device
from ..graph.history import grad_fn_of
from ..graph.modes import MODES
from ..tensor import Layout, Tensor
from .core import is_number

_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def called_as_method() -> bool:
    """Whether the user called the running operation as a method, which torch's messages count positions without."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_back.f_globals.get("__name__", "").startswith("tinytorch.ops"):
        frame = frame.f_back
    return frame.f_code.co_qualname.startswith("Tensor.")


def type_name(x: Any, inside: bool = False) -> str:
    """The type of an argument as torch's messages name it; with `inside`, that of a sequence's elements too."""
    if isinstance(x, Tensor):
        return "Tensor"
    if isinstance(x, dtypes.dtype):
        return "torch.dtype"
    name = type(x).__name__
    if inside and isinstance(x, (list, tuple)) and x:
        inner = ", ".join(type_name(e) for e in x)
        return f"{name} of ({inner}{',' if len(x) == 1 else ''})" if name == "tuple" else f"list of [{inner}]"
    return name


def _is_int(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x._data.ndim == 0 and x._data.dtype.kind in "iu"
    return hasattr(x, "__index__") and not isinstance(x, bool)


_ACCEPTS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda x: isinstance(x, Tensor),
    "Number": is_number,
    "int": _is_int,
    "float": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "bool": lambda x: isinstance(x, bool),
    "str": lambda x: isinstance(x, str),
    "torch.dtype": lambda x: dtypes.is_dtype(x),
    "torch.device": lambda x: isinstance(x, (str, int, device)) and not isinstance(x, bool),
    "torch.layout": lambda x: isinstance(x, Layout),
    "torch.memory_format": lambda x: type(x).__name__ == "MemoryFormat",
    "torch.Generator": lambda x: type(x).__name__ == "Generator",
    "tuple of ints": lambda x: _is_int(x) or (isinstance(x, (tuple, list)) and all(map(_is_int, x))),
    "tuple of Tensors": lambda x: isinstance(x, (tuple, list)),
}


class _Parameter:
    """One parameter of a signature, as it can be given."""

    def __init__(self, text: str) -> None:
        head, _, default = text.partition(" = ")
        self.kind, _, self.name = head.rpartition(" ")
        self.optional = default != ""
        self.none = default == "None" or self.name in ("device", "requires_grad")

    def takes(self, x: Any) -> bool:
        return (self.none and x is None) or _ACCEPTS.get(self.kind, lambda x: True)(x)


def _parts(signature: str) -> list[str]:
    return [p.strip() for p in signature[1:-1].split(",")]


def _parameters(signature: str) -> tuple[list[_Parameter], list[_Parameter]]:
    """The parameters that may be given by position, and those by name alone."""
    positional, _, named = signature[1:-1].partition("*")
    return tuple([_Parameter(p.strip()) for p in part.split(",") if p.strip()] for part in (positional, named))  # type: ignore[return-value]


def _mismatch(signature: str, name: str, args: tuple, kwargs: dict, method: bool) -> str | None:
    """What torch says of a call that does not fit a signature, or None if it fits."""
    positional, named = _parameters(signature)
    everything = {p.name: p for p in positional + named}
    if len(args) > len(positional):
        n, least = len(positional), sum(not p.optional for p in positional)
        count = f"{n}" if n == least else f"from {least} to {n}"
        was = "was" if len(args) == 1 else "were"
        return f"{name}() takes {count} positional argument{'s' if n != 1 else ''} but {len(args)} {was} given"
    absent = [p.name for p in positional[len(args) :] if not p.optional and p.name not in kwargs]
    if absent:
        return f"{name}() missing {len(absent)} required positional arguments: " + ", ".join(f'"{a}"' for a in absent)
    for i, (p, x) in enumerate(zip(positional, args, strict=False)):
        if not p.takes(x):
            return _wrong_type(name, p, i + 1, x)
    for k, x in kwargs.items():
        if k not in everything:
            return f"{name}() got an unexpected keyword argument '{k}'"
        if not everything[k].takes(x):
            return f"{name}(): argument '{k}' must be {everything[k].kind}, not {type_name(x)}"
    return None


def _wrong_type(name: str, p: _Parameter, position: int, x: Any) -> str:
    bad = -1
    if p.kind == "tuple of ints" and isinstance(x, (tuple, list)):
        bad = next(i for i, e in enumerate(x) if not _is_int(e))
    if bad > 0:
        return (
            f"{name}(): argument '{p.name}' failed to unpack the object at pos {bad + 1} with error \"type must be tuple "
            f'of ints,but got {type_name(x[bad])}"'
        )
    not_ = f"but found element of type {type_name(x[0])} at pos 0" if bad == 0 else f"not {type_name(x)}"
    return f"{name}(): argument '{p.name}' (position {position}) must be {p.kind}, {not_}"


def invalid_combination(name: str, args: tuple, kwargs: dict, lines: tuple[str, ...]) -> TypeError:
    """torch's TypeError for arguments that fit none of several signatures."""
    given = [type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in reversed(kwargs.items())]
    got = ", ".join(given) + (", " if kwargs and not args else "")
    text = [f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:"]
    for line in lines:
        text.append(f" * {line}")
        parts = _parts(line)
        if len(parts) != len(given):  # torch counts the star as well
            continue
        split = [p.rpartition(" ") for p in parts]  # so a default takes the place of the name, in torch as well
        wrong = [k for k in reversed(kwargs) if k not in [s[2] for s in split]]
        if wrong:
            text.append(f"      didn't match because some of the keywords were incorrect: {', '.join(wrong)}")
            continue
        shown = []
        for (kind, _, _), x in zip(split, args, strict=False):
            fits = kind in _ACCEPTS and not kind.startswith(("Number", "tuple")) and _ACCEPTS[kind](x)
            shown.append(type_name(x, True) if fits else f"!{type_name(x, True)}!")
        text.append(f"      didn't match because some of the arguments have invalid types: ({', '.join(shown)})")
    return TypeError("\n".join(text) + "\n")


def as_method(line: str) -> str:
    """The signature of the method: without the tensor itself and without `out`."""
    parts = [p for p in _parts(line) if p not in ("Tensor input", "Tensor out = None", "tuple of Tensors out = None")]
    return f"({', '.join(parts[:-1] if parts and parts[-1] == '*' else parts)})"


def refusal(name: str, args: tuple, kwargs: dict, lines: tuple[str, ...], method: bool) -> TypeError | None:
    """torch's TypeError for a call that fits none of the signatures, None if it fits one."""
    if method:
        args, lines = args[1:], tuple(as_method(s) for s in lines)
        if args and lines == ("()",):
            return TypeError(f"TensorBase.{name}() takes no arguments ({len(args)} given)")
    if args and not isinstance(args[0], Tensor) and all(s.startswith("(Tensor input") for s in lines):
        return TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(args[0])}")
    if any(_mismatch(s, name, args, kwargs, method) is None for s in lines):
        return None
    given = args
    if args and _is_int(args[0]) and any(_takes_sizes(s) for s in lines):
        args = (args,)
    found = [_mismatch(s, name, args, kwargs, method) for s in lines]
    if None in found:
        return None
    unpacked = next((m for m in found if m is not None and "failed to unpack" in m), None)
    if unpacked is not None:
        return TypeError(unpacked)
    plausible = [m for s, m in zip(lines, found, strict=True) if _fits_in_number(s, len(args) + len(kwargs))]
    if len(lines) > 1 and len(plausible) != 1:
        return invalid_combination(name, given, kwargs, lines)
    return TypeError((plausible or found)[0])


def _takes_sizes(signature: str) -> bool:
    """Whether sizes may be given one by one: the first parameter is a tuple of ints, and the only one by position."""
    positional = _parameters(signature)[0]
    return len(positional) == 1 and positional[0].kind == "tuple of ints"


def _fits_in_number(signature: str, n: int) -> bool:
    everything = [p for part in _parameters(signature) for p in part]
    return sum(not p.optional for p in everything) <= n <= len(everything)


def _refuse_stale(args: tuple) -> None:
    """Raise torch's error for a view whose base was written to although that is forbidden."""
    for t in args:
        if MODES.grad and isinstance(t, Tensor) and t._view is not None:
            grad_fn_of(t)


def signatures(*lines: str, name: str | None = None, of_view: bool = False) -> Callable:
    """Let an operation take NumPy's names for its arguments, and raise torch's TypeErrors for those that do not fit.

    `of_view`: the operation is one of torch's own views, which look at their input's history before other arguments.
    """

    def declare(f: Callable) -> Callable:
        known = name or f.__name__.rstrip("_")

        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return f(*args, **kwargs)
            except Exception:
                if sys._getframe(1).f_globals.get("__name__", "").startswith("tinytorch.ops"):
                    raise
                renamed = {_NUMPY_NAMES.get(k, k): v for k, v in kwargs.items()}
                error = None
                if renamed.keys() == kwargs.keys():
                    error = refusal(known, args, kwargs, lines, called_as_method())
                    if error is None:
                        recorded = MODES.grad and any(isinstance(a, Tensor) and a.requires_grad for a in args)
                        if of_view or (recorded and not f.__name__.endswith("_")):
                            _refuse_stale(args)  # a recorded operation looks at histories before shapes
                        raise
            if error is not None:
                raise error
            return call(*args, **renamed)

        return call

    return declare


_KINDS = {"Tensor": "Tensor", "int": "int", "bool": "bool", "float": "float", "Number": "Number", "Sizes": "tuple of ints",
          "Tensors": "tuple of Tensors"}  # fmt: skip
Number: TypeAlias = Any
Sizes: TypeAlias = Any
Tensors: TypeAlias = Any


def line_of(f: Callable) -> str:
    """The signature of an operation in torch's words, made from its own parameters and their annotations."""
    parts = []
    for p in inspect.signature(f).parameters.values():
        if p.kind is p.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        kind = _KINDS[str(p.annotation).partition(" | ")[0]]
        default = "" if p.default is p.empty else f" = {p.default}"
        parts.append(f"{kind} {'input' if p.name == 'self' else p.name}{default}")
    return f"({', '.join(parts)})"


def typed(f: Callable, of_view: bool = False) -> Callable:
    """`signatures` with the one line that the operation's own parameters make."""
    return signatures(line_of(f), name=f.__name__, of_view=of_view)(f)


typed_view = functools.partial(typed, of_view=True)


def argument_error(name: str, argument: str, position: int, x: Any, kind: str = "Tensor") -> TypeError:
    """torch's TypeError for one argument of a wrong type; `position` counts as in the function."""
    place = position - called_as_method()
    return TypeError(f"{name}(): argument '{argument}' (position {place}) must be {kind}, not {type_name(x)}")


def size_error(name: str, size: tuple) -> TypeError:
    """torch's TypeError for a size with something else than ints in it."""
    whole = size[0] if len(size) == 1 else size
    if len(size) > 1 and not _is_int(size[0]):
        return TypeError(f"{name}() takes 1 positional argument but {len(size)} were given")
    return TypeError(_wrong_type(name, _Parameter("tuple of ints size"), 1, whole))
