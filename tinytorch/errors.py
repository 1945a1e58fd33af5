"""What tinytorch says in torch's words: names of types, warnings, and what it has not.

Everything here is loaded first and needs nothing else of the package.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

_name_of: Any = type.__dict__["__name__"]
_MADE_BY_A_CLASS_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class ShownAs(type):
    """A class with `shown_as` prints as the class of that name; one derived from it prints as itself.

    torch's classes are written in C and have their module in their name, which Python's own errors print: `can only
    concatenate str (not "torch.Size") to str`. Such a name is given to the class when it is made, and `__name__`
    answers without the module, as torch's do.
    """

    def __new__(mcs, name: str, bases: tuple, body: dict) -> ShownAs:
        """Make a class under the name that it is shown as."""
        body.setdefault("__qualname__", name)
        return super().__new__(mcs, body.get("shown_as", name), bases, body)

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return _name_of.__get__(cls).rpartition(".")[2]

    def __repr__(cls) -> str:
        name = cls.__dict__.get("shown_as")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"


def type_name(x: Any) -> str:
    """The type of an object as CPython and torch name it in errors: what is written in C has its module before its name."""
    kind = type(x)
    name = _name_of.__get__(kind)
    in_c = not kind.__flags__ & _MADE_BY_A_CLASS_STATEMENT
    return f"{kind.__module__}.{name}" if in_c and kind.__module__ != "builtins" else name


# Warnings, which point at the user's line.

_said: set[str] = set()
_always = False


def set_warn_always(b: bool, /) -> None:
    """Give every time the warnings that torch gives once a process. Source: `torch.set_warn_always`."""
    global _always  # noqa: PLW0603 - torch's switch is one for the process
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type_name(b)}")
    _always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings that come once a process come every time."""
    return _always


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest frame outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tinytorch"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_in_torch(message: str, place: str, once: bool = False) -> None:
    """Warn as torch's C++ side does, which adds where in its sources the warning is raised; `once` a process."""
    if once and not _always:
        if place in _said:
            return
        _said.add(place)
    warn_user(f"{message} (Triggered internally at /__w/pytorch/pytorch/{place}.)")


# Names that are not here.


def missing(template: str, name: str) -> AttributeError:
    """An AttributeError in torch's words; a note, shown in tracebacks, says in one sentence what to do."""
    error = AttributeError(template.format(name))
    if not name.startswith("__"):
        error.add_note(
            f"tinytorch has no '{name}'; if PyTorch has, run the program with PyTorch: the pictures and widgets work on its "
            "tensors too."
        )
    return error


class Absent:
    """Stands in a class for a name that torch has there: reading it is the error, and it is no attribute to Python.

    A `__getattr__` would say the same, but makes every attribute of the class slower to read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, cls: type) -> Any:
        what = f"type object '{cls.__name__}'" if obj is None else f"'{cls.__name__}' object"
        raise missing(what + " has no attribute '{}'", self.name)


def absent(names: str) -> Any:
    """A class to derive from, which has none of these names and says so; a class below it may have them yet."""
    return type("Lacking", (), {"__slots__": (), **{name: Absent(name) for name in names.split()}})
