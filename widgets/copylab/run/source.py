"""What can be stepped: a text, or a function with its arguments; each in a namespace of its own."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from .instrument import Instrumented, Into

FILENAME = "<steps>"


@dataclass(frozen=True)
class Program:
    """Marked code, the namespace to run it in, and how to start it."""

    marked: Instrumented
    namespace: dict[str, Any]
    start: Callable[[CodeType, dict[str, Any]], object]
    entry: str | None = None  # the function that is stepped, if it is one


def tidy(code: str) -> str:
    """`code` without empty lines around it, and moved to the left: as one writes it between triple quotes."""
    text = re.sub(r"\A(?:[ \t]*\r?\n)+", "", code).rstrip()
    return textwrap.dedent(text) if text[:1] in (" ", "\t") else text


def from_code(source: str, namespace: Mapping[str, Any] | None, into: Into = True) -> Program:
    """A program given as text, to run in a copy of `namespace`. Raises SyntaxError if it is none."""

    def start(code: CodeType, names: dict[str, Any]) -> None:
        exec(code, names)  # running the user's code is what this package is for

    return Program(Instrumented(source, FILENAME, into), dict(namespace or {}), start)


def from_function(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], into: Into = True
) -> Program:
    """A call of a function or method, its body to be stepped.

    It runs as a copy of the function, over a copy of its globals and with cells of its own, so that `global` and
    `nonlocal` rebind nothing of the caller's.

    Raises:
        TypeError: it is no plain function or method, or its source cannot be found.

    """
    function: Any = call
    if isinstance(call, MethodType):
        function, args = call.__func__, (call.__self__, *args)
    if not isinstance(function, FunctionType):
        raise TypeError(f"steps() takes code as a string, or a function written with def, not {type(call).__name__}")
    name, cells = function.__name__, _cells(function)

    def start(code: CodeType, names: dict[str, Any]) -> object:
        before = {name: names[name]} if name in names else {}
        exec(code, names)
        made = names[name](*cells.values()) if cells else names[name]
        if function.__qualname__ != name:  # a method or an inner function is no global name
            del names[name]
            names.update(before)
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return made(*args, **kwargs)

    marked = Instrumented.function(source_of(function), FILENAME, tuple(cells), into)
    return Program(marked, dict(function.__globals__), start, name)


def source_of(function: FunctionType) -> str:
    """The text of a function, moved to the left. Raises TypeError, with what to do, if it cannot be had."""
    name = function.__name__
    if name == "<lambda>":
        raise TypeError("steps() cannot step a lambda: write a function with def, or pass the code as a string")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(f"steps() cannot step {name}(): a generator or coroutine runs only later, piece by piece")
    try:
        return textwrap.dedent(inspect.getsource(function)).rstrip() + "\n"
    except (OSError, TypeError):
        raise TypeError(f"steps() cannot find the source of {name}(): pass the code as a string") from None


def _cells(function: FunctionType) -> dict[str, Any]:
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # not yet filled: an unbound name in the function, and in its copy
            continue
    return cells
