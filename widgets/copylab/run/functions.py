"""Functions of the user's own files as programs: a call of one, and the others that it steps into.

The one that is called runs as a copy. The others stay what they are, wherever they are held: for the length of the run
each has marked code, and afterwards its own again. So no class, no module and no reference to a function changes.
"""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import tinytorch

from .program import (
    FunctionChoice,
    FunctionKey,
    Marker,
    Program,
    Site,
    SourceText,
    display_name,
    find_functions,
    names_of_functions,
)
from .scopes import Scopes, find_scopes

_OWN_FOLDERS = (Path(__file__).parents[1], Path(tinytorch.__file__).parent)
_INSTALLED_FOLDERS = tuple(
    {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
Steppable = ModuleType | type | FunctionType | MethodType
"""What can be named to be stepped into, beside functions of the program itself."""


def program_from_function(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    into: FunctionChoice = True,
    things: Iterable[Steppable] = (),
) -> Program:
    """A call of a function or method, its body to be stepped, and what it calls of its own file and of `things`.

    It runs as a copy of the function, over a copy of its globals and with cells of its own, so that `global` and
    `nonlocal` rebind nothing of the caller's.

    Raises:
        TypeError: it is no plain function or method, or its source cannot be found; or there is none for a thing.

    """
    function: Any = call
    if isinstance(call, MethodType):
        function, args = call.__func__, (call.__self__, *args)
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"steps() takes code as a string, or a function written with def, not {type(call).__name__}"
        )
    _refuse_unsteppable(function)
    home = function.__globals__
    own: list[FunctionType] = []
    if into is not False and not _is_installed(function.__code__.co_filename):
        beside = [function, *map(type, (*args, *kwargs.values())), *home.values()]
        own = [one for value in beside for one in _find_held_functions(value, home)]
    sites: list[Site] = []
    files = _FileMarker(sites, own, into, function, list(_find_functions_of_things(things)))
    if function not in files.stepped:
        raise TypeError(
            f"steps() cannot find the source of {function.__name__}(): pass the code as a string"
        )
    names, name = dict(home), function.__name__
    code = files.stepped[function]
    if into is False:
        del files.stepped[function]  # but its copy

    def start(marked: Callable[[CodeType], CodeType]) -> object:
        # Its own, with what is in them.
        cells = tuple([CellType(*_content_of_cell(cell)) for cell in function.__closure__ or ()])
        made = FunctionType(marked(code), names, name, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        if names.get(name) is function:
            names[name] = made
        return made(*args, **kwargs)

    return Program(
        files.text,
        sites,
        files.scopes,
        files.functions,
        names,
        start,
        name,
        files.stepped,
        files.hidden,
    )


def add_stepped_functions(program: Program, things: Iterable[Steppable]) -> Program:
    """The program, stepping into functions of these modules and classes as well. Raises TypeError as above."""
    return replace(
        program,
        stepped=_FileMarker(
            program.sites, (), named=list(_find_functions_of_things(things))
        ).stepped,
    )


class _FileMarker:
    """Marks functions in the files where they stand; each file is read once.

    entry: the function that is called. own: those beside it, of which `into` chooses. named: those that are asked for.
    """

    text: SourceText
    scopes: Scopes

    def __init__(
        self,
        sites: list[Site],
        own: Iterable[FunctionType],
        into: FunctionChoice = True,
        entry: FunctionType | None = None,
        named: Iterable[FunctionType] = (),
    ) -> None:
        self.stepped: dict[FunctionType, CodeType] = {}
        self.functions: frozenset[str] = frozenset()
        self.hidden: frozenset[str] = frozenset()
        self._sites, self._into, self._entry = sites, into, entry
        own, self._named = [*([entry] if entry else []), *own], frozenset(named)
        files: dict[str, list[FunctionType]] = {}
        for function in dict.fromkeys([*own, *named]):
            files.setdefault(function.__code__.co_filename, []).append(function)
        searched = {function.__code__.co_filename for function in own} if len(own) > 1 else set()
        for file, held in files.items():
            self._mark(file, held, searched=file in searched)
        self.hidden -= self.functions

    def _mark(self, file: str, held: list[FunctionType], *, searched: bool) -> None:
        try:
            source = "".join(inspect.findsource(held[0])[0])
            marker = Marker(source, SourceText(source, file=file), self._sites, self._into)
        except (
            OSError,
            TypeError,
            SyntaxError,
            ValueError,
        ):  # no source, or another by now: they run in one go
            return
        nodes = dict(find_functions(marker.tree))
        places = {_key_of_code(one.__code__) for one in held}
        named = {_key_of_code(one.__code__) for one in held if one in self._named}
        for key, node in nodes.items():
            if self._entry in held and key == _key_of_code(self._entry.__code__):
                self.text = marker.function(node, whole=True)
                self.scopes = find_scopes(source, file, (node.name, node.lineno))
                self.functions |= names_of_functions(node)
        for (
            key,
            node,
        ) in (
            nodes.items()
        ):  # the outer ones come first: lines of what stands in them count from theirs
            if key in places:
                marker.function(node, whole=key in named)
                self.functions |= {display_name(key), node.name}
            elif searched and node.decorator_list and "<locals>" not in key[0]:
                self.hidden |= {key[0]}
        codes = {_key_of_code(code): code for code in _walk_codes(marker.code())}
        for one in held:
            code = codes.get(_key_of_code(one.__code__))
            if code is not None and code.co_freevars == one.__code__.co_freevars:
                self.stepped[one] = code


def _key_of_code(code: CodeType) -> FunctionKey:
    return code.co_qualname, code.co_firstlineno


def _walk_codes(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions in compiled code."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _walk_codes(one)


def _content_of_cell(cell: CellType) -> tuple[Any, ...]:
    """What is in a cell; nothing while it is not yet filled: an unbound name in the function, and in its copy."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


# Which functions


def _refuse_unsteppable(function: FunctionType) -> None:
    """Raise TypeError, with what to do, for a function that cannot be stepped."""
    name = function.__name__
    if name == "<lambda>":
        raise TypeError(
            "steps() cannot step a lambda: write a function with def, or pass the code as a string"
        )
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(
            f"steps() cannot step {name}(): a generator or coroutine runs only later, piece by piece"
        )
    if hasattr(function, "__wrapped__") and _is_installed(function.__code__.co_filename):
        raise TypeError(
            f"steps() cannot step {name}() itself, which is decorated: step a function that calls it, "
            f"or steps('{name}(...)', namespace=globals(), into={name})"
        )


def _is_installed(file: str) -> bool:
    """Whether a file is none of the user's: the standard library, an installed package, this one."""
    path = Path(file)
    return any(folder in path.parents for folder in (*_INSTALLED_FOLDERS, *_OWN_FOLDERS))


def _find_functions_of_things(things: Iterable[Steppable]) -> Iterator[FunctionType]:
    """The functions of modules, classes with their own bases, and functions. TypeError for one without a source."""
    for thing in things:
        found: list[FunctionType] = []
        if isinstance(thing, ModuleType):
            found = [
                one
                for value in list(vars(thing).values())
                for one in _find_held_functions(value, vars(thing))
            ]
        elif isinstance(thing, type):
            for base in thing.__mro__:
                home = vars(sys.modules.get(base.__module__, sys))
                if base is thing or not _is_installed(str(home.get("__file__", ""))):
                    found += _find_held_functions(base, home)
        elif isinstance(
            function := inspect.unwrap(getattr(thing, "__func__", thing)), FunctionType
        ):
            found = list(_find_held_functions(function, function.__globals__))
        if not found or any(
            _OWN_FOLDERS[0] in Path(one.__code__.co_filename).parents for one in found
        ):
            raise TypeError(
                f"into takes True, False, names of functions of the code, and modules, classes and functions "
                f"that are written in Python, not {thing!r}"
            )
        yield from found


def _find_held_functions(
    thing: Any, home: dict[str, Any], seen: set[int] | None = None
) -> Iterator[FunctionType]:
    """The functions over the globals `home` that a function, a class or a decorator's work holds."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    kind = type(thing)  # and not isinstance(), which asks the thing itself
    inside: list[Any] = []
    if kind is FunctionType:
        if thing.__globals__ is home:
            yield thing
        # What a decorator calls, for example.
        held = [one for cell in thing.__closure__ or () for one in _content_of_cell(cell)]
        inside = [
            thing.__dict__.get("__wrapped__"),
            *(one for one in held if type(one) in (FunctionType, MethodType)),
        ]
    elif kind is property:
        inside = [thing.fget, thing.fset, thing.fdel]
    elif issubclass(kind, type):
        if thing.__module__ == home.get("__name__"):
            inside = [*vars(thing).values(), *thing.__bases__]
    elif issubclass(kind, staticmethod | classmethod | MethodType):
        inside = [thing.__func__]
    elif issubclass(kind, functools.partial | functools.cached_property):
        inside = [thing.func]
    else:
        inside = [inspect.getattr_static(thing, "__wrapped__", None)]
    for one in inside:
        yield from _find_held_functions(one, home, seen)
