"""Functions of the user's own files as programs: a call of one, and the others that it steps into.

The called function runs as a copy. The others stay the same objects: for the length of the run each
has marked code, and afterwards its own again. So no class, no module and no reference to a function
changes.
"""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import tinytorch

from .cells import CELL_NUMBERS
from .program import (
    FunctionChoice,
    FunctionKey,
    FunctionNode,
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
"""What `into` can name to be stepped into, beside functions of the program itself."""


def program_from_function(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    into: FunctionChoice = True,
    things: Iterable[Steppable] = (),
) -> Program:
    """Make a program of a call of a function or method.

    Its body is stepped, and of what it calls its own file, as `into` says, and `things`. A copy of
    it runs, over copies of its globals and cells: nothing of the caller's is bound anew.

    Raises:
        TypeError: it is no plain function or method, or a source cannot be found.

    """
    function = _require_function(call)
    CELL_NUMBERS.follow_shell()
    # The copy of a method is a plain function, to which `self` is an argument like any other.
    args = (call.__self__, *args) if isinstance(call, MethodType) else args
    _refuse_unsteppable(function)
    sites: list[Site] = []
    neighbours = [] if into is False else _find_neighbours(function, (*args, *kwargs.values()))
    files = _FileMarker(sites, neighbours, into, function, list(_find_functions_of_things(things)))
    if function not in files.marked_codes:
        raise TypeError(
            f"steps() cannot find the source of {function.__name__}(): pass the code as a string"
        )
    names, code = dict(function.__globals__), files.marked_codes[function]
    if into is False:
        # Its copy is stepped, calls of itself are not.
        del files.marked_codes[function]

    def start(bind_marks: Callable[[CodeType], CodeType]) -> object:
        return _copy_function(function, bind_marks(code), names)(*args, **kwargs)

    return Program(
        files.text,
        sites,
        files.scopes,
        files.functions,
        names,
        start,
        entry=function.__name__,
        marked_codes=files.marked_codes,
        hidden_functions=files.hidden_functions,
    )


def _require_function(call: object) -> FunctionType:
    """Return a function, or that of a method. Raises TypeError for anything else."""
    function = call.__func__ if isinstance(call, MethodType) else call
    if isinstance(function, FunctionType):
        return function
    raise TypeError(
        f"steps() takes code as a string, or a function written with def, not {type(call).__name__}"
    )


def _find_neighbours(function: FunctionType, args: tuple[Any, ...]) -> list[FunctionType]:
    """Return the functions of the same file that a call may step into.

    They are found among the globals and in the classes of the arguments.
    """
    if _is_installed(function.__code__.co_filename):
        return []
    namespace = function.__globals__
    neighbours: list[FunctionType] = []
    for holder in [function, *map(type, args), *namespace.values()]:
        neighbours += _find_held_functions(holder, namespace)
    return neighbours


def _copy_function(function: FunctionType, code: CodeType, names: dict[str, Any]) -> FunctionType:
    """Return a copy of a function that runs `code` in `names`, with a copy of each of its cells."""
    name = function.__name__
    cells = tuple([CellType(*_content_of_cell(cell)) for cell in function.__closure__ or ()])
    copy = FunctionType(code, names, name, function.__defaults__, cells)
    # `FunctionType` takes all but these.
    copy.__kwdefaults__ = function.__kwdefaults__
    if names.get(name) is function:  # recursion calls the copy
        names[name] = copy
    return copy


def add_stepped_functions(program: Program, things: Iterable[Steppable]) -> Program:
    """Return the program, stepping into functions of these modules and classes as well.

    Raises TypeError as above.
    """
    named = list(_find_functions_of_things(things))
    return replace(program, marked_codes=_FileMarker(program.sites, (), named=named).marked_codes)


class _FileMarker:
    """Marks functions in their files; each file is read once.

    entry: the function that is called. neighbours: others, of which `into` chooses. named:
    functions that are stepped into in any case. `marked_codes` then has the marked code of each.
    """

    text: SourceText
    scopes: Scopes

    def __init__(
        self,
        sites: list[Site],
        neighbours: Iterable[FunctionType],
        into: FunctionChoice = True,
        entry: FunctionType | None = None,
        named: Iterable[FunctionType] = (),
    ) -> None:
        self.marked_codes: dict[FunctionType, CodeType] = {}
        self.functions: frozenset[str] = frozenset()
        self.hidden_functions: frozenset[str] = frozenset()
        self._sites, self._into, self._entry = sites, into, entry
        self._named = frozenset(named)
        own = [*([entry] if entry else []), *neighbours]
        by_file: dict[str, list[FunctionType]] = {}
        for function in dict.fromkeys([*own, *named]):
            by_file.setdefault(function.__code__.co_filename, []).append(function)
        # Where only the entry is stepped, other functions of its file are not missed.
        searched = {function.__code__.co_filename for function in own} if len(own) > 1 else set()
        for file, members in by_file.items():
            self._mark_file(file, members, is_searched=file in searched)
        self.hidden_functions -= self.functions

    def _mark_file(self, file: str, members: list[FunctionType], *, is_searched: bool) -> None:
        try:
            source = "".join(inspect.findsource(members[0])[0])
            marker = Marker(source, SourceText(source, file=file), self._sites, self._into)
        except (OSError, TypeError, SyntaxError, ValueError):
            # No source, or not that of the running code: they run without steps.
            return
        nodes = dict(find_functions(marker.tree))
        if self._entry in members:
            self._mark_entry(marker, nodes, source)
        keys = {_key_of_code(function.__code__) for function in members}
        named = {_key_of_code(member.__code__) for member in members if member in self._named}
        # Outer functions come first: the lines of a function inside of one are counted from the
        # outer's.
        for key, node in nodes.items():
            if key in keys:
                marker.mark_function(node, whole=key in named)
                self.functions |= {display_name(key), node.name}
            elif is_searched and node.decorator_list and "<locals>" not in key[0]:
                self.hidden_functions |= {key[0]}
        codes = {_key_of_code(code): code for code in _walk_codes(marker.compile_tree())}
        for function in members:
            code = codes.get(_key_of_code(function.__code__))
            # Other free variables: the file was edited since it was loaded.
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                self.marked_codes[function] = code

    def _mark_entry(
        self, marker: Marker, nodes: dict[FunctionKey, FunctionNode], source: str
    ) -> None:
        assert self._entry is not None
        key = _key_of_code(self._entry.__code__)
        if node := nodes.get(key):
            self.text = marker.mark_function(node, whole=True)
            file = self._entry.__code__.co_filename
            self.scopes = find_scopes(source, file, (node.name, node.lineno))
            self.functions |= names_of_functions(node)


def _key_of_code(code: CodeType) -> FunctionKey:
    return code.co_qualname, code.co_firstlineno


def _walk_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in compiled code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _walk_codes(constant)


def _content_of_cell(cell: CellType) -> tuple[Any, ...]:
    """Return the content of a cell as arguments of `CellType`; none if the name is not bound."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


# -- which functions ---------------------------------------------------------------


def _refuse_unsteppable(function: FunctionType) -> None:
    """Raise TypeError, with what to do, for a function that cannot be stepped."""
    name = function.__name__
    if name == "<lambda>":
        raise TypeError(
            "steps() cannot step a lambda: write a function with def, or pass the code as a string"
        )
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(
            f"steps() cannot step {name}(): "
            "a generator or coroutine runs only later, piece by piece"
        )
    if hasattr(function, "__wrapped__") and _is_installed(function.__code__.co_filename):
        raise TypeError(
            f"steps() cannot step {name}() itself, which is decorated: "
            "step a function that calls it, "
            f"or steps('{name}(...)', namespace=globals(), into={name})"
        )


def _is_installed(file: str) -> bool:
    """Return True for a file of the standard library, an installed package, or this package."""
    path = Path(file)
    return any(folder in path.parents for folder in (*_INSTALLED_FOLDERS, *_OWN_FOLDERS))


def _find_functions_of_things(things: Iterable[Steppable]) -> Iterator[FunctionType]:
    """Yield the functions of modules, of classes with their own bases, and functions.

    TypeError for one without any.
    """
    for thing in things:
        functions = _find_functions_of_thing(thing)
        if not functions or any(_is_of_copylab(function) for function in functions):
            raise TypeError(
                "into takes True, False, names of functions of the code, "
                "and modules, classes and functions "
                f"that are written in Python, not {thing!r}"
            )
        yield from functions


def _is_of_copylab(function: FunctionType) -> bool:
    return _OWN_FOLDERS[0] in Path(function.__code__.co_filename).parents


def _find_functions_of_thing(thing: Steppable) -> list[FunctionType]:
    functions: list[FunctionType] = []
    if isinstance(thing, ModuleType):
        for holder in list(vars(thing).values()):
            functions += _find_held_functions(holder, vars(thing))
    elif isinstance(thing, type):
        for base in thing.__mro__:
            module = vars(sys.modules.get(base.__module__, sys))
            # A base of an installed package (torch.nn.Module) is stepped into only if it is named
            # itself.
            if base is thing or not _is_installed(str(module.get("__file__", ""))):
                functions += _find_held_functions(base, module)
    else:
        function = inspect.unwrap(getattr(thing, "__func__", thing))
        if isinstance(function, FunctionType):
            functions += _find_held_functions(function, function.__globals__)
    return functions


def _find_held_functions(
    holder: Any, namespace: dict[str, Any], visited: set[int] | None = None
) -> Iterator[FunctionType]:
    """Yield the functions over the globals `namespace` that an object consists of.

    It may be a function, a class, or the result of a decorator.
    """
    visited = set() if visited is None else visited
    # A recursive inner function has itself in its closure: the walk would not end.
    if id(holder) in visited:
        return
    visited.add(id(holder))
    if type(holder) is FunctionType and holder.__globals__ is namespace:
        yield holder
    for inner in _list_inner_holders(holder, namespace):
        yield from _find_held_functions(inner, namespace, visited)


def _list_inner_holders(holder: Any, namespace: dict[str, Any]) -> list[Any]:
    """Return what may hold functions inside of `holder`."""
    # isinstance() would ask the object itself, which may answer anything.
    kind = type(holder)
    if kind is FunctionType:
        # What a decorator calls, for example.
        contents = chain.from_iterable(map(_content_of_cell, holder.__closure__ or ()))
        called = [value for value in contents if type(value) in (FunctionType, MethodType)]
        return [holder.__dict__.get("__wrapped__"), *called]
    if kind is property:
        return [holder.fget, holder.fset, holder.fdel]
    if issubclass(kind, type):
        # A class that was imported is of another file, and so are its methods.
        if holder.__module__ != namespace.get("__name__"):
            return []
        return [*vars(holder).values(), *holder.__bases__]
    if issubclass(kind, staticmethod | classmethod | MethodType):
        return [holder.__func__]
    if issubclass(kind, functools.partial | functools.cached_property):
        return [holder.func]
    # getattr() would run a `__getattr__` of the user's, which may answer any name.
    return [inspect.getattr_static(holder, "__wrapped__", None)]
