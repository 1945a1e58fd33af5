"""From the arguments of a user's call to (name, tensor) pairs.

Tensors given by position are named as the caller wrote them: `memory(x, net.weight)` is read from
the source of the call. Containers give dotted names: `net.0.weight`.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..wording import gettext, parenthesize_name
from .call_source import argument_names
from .probe import inner_tensors, is_tensor
from .snapshots import Snapshot

NAMES_OF_IPYTHON = re.compile(r"In|Out|_+|_i?\d+|_(?:i|ii|iii|ih|oh|dh)|__\w+__")
"""What IPython and Python add to the user's names: In, Out, _, __, _12, _i3, _oh, __name__."""
_MAX_DEPTH = 6
MAX_NAMES = 10_000
_MAX_THINGS = 10 * MAX_NAMES
_NEVER_SEARCHED = (ModuleType, FunctionType, type, Snapshot)
"""Contains nothing of the user's, or far too much."""
PARAM_GROUPS = ".param_groups["
"""In the names of an optimizer's parameters, used only for those that have no other name.

As Python writes it: nobody who reads one needs to guess what is a key and what an index.
"""
_SERIES = (list, tuple, deque, set, frozenset)
CONTAINERS = (Mapping, *_SERIES)

Pairs = list[tuple[str, Any]]
ObjectChoice = Callable[[Any], bool]
"""Says of an object that is neither a container nor of an engine if its attributes are searched."""


class KnownNames(dict[int, str]):
    """The names of the tensors that were found, by identity."""

    def __init__(self) -> None:
        super().__init__()
        self.held_by_modules: set[int] = set()
        """Identities of what modules hold besides parameters: buffers, tensors in attributes."""


class CollectedThings(NamedTuple):
    """What the arguments of a call hold."""

    tensors: Pairs
    """Names with tensors."""
    arrays: Pairs
    """Names with NumPy arrays."""
    array_arguments: list[str]
    """The names of arguments that are arrays."""
    held_by_modules: set[int]
    """See `KnownNames`."""
    optimizer_paths: dict[int, tuple[str, ...]]
    """The paths to tensors in optimizers, as `opt.param_groups[0]["params"][2]`, by identity."""


def collect_tensors(
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    frame: FrameType | None,
    preceding: tuple[Any, ...] = (),
) -> Pairs:
    """Return all tensors among the arguments, with their names, in order; `frame` is the caller's.

    `preceding`: positional arguments of the call that come before these, and are not searched.

    Raises TypeError for an argument that is not a tensor and contains none.
    """
    return collect_tensors_and_arrays(args, named, frame, preceding).tensors


def collect_tensors_by_name(
    variables: Mapping[str, Any], objects: bool | ObjectChoice = False
) -> Pairs:
    """Return all tensors among some variables, with their names, as `snapshot(locals())` does.

    Those in lists, modules and the like have names, too: `pair.0`, `net.weight`. `objects`: those
    whose attributes are searched as well.
    """
    return collect_tensors_and_arrays((dict(variables),), {}, None, objects=objects).tensors


def collect_tensors_and_arrays(
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    frame: FrameType | None,
    preceding: tuple[Any, ...] = (),
    objects: bool | ObjectChoice | None = None,
) -> CollectedThings:
    """Return tensors and NumPy arrays with names, and the names of arguments that are arrays.

    `objects`: among variables, those whose attributes are searched, by default those of classes that
    the program defines; of an argument they always are.
    """
    objects = choose_objects_of_program(frame) if objects is None else objects
    call_names = None
    # The entries of `locals()` have names of their own, and the source need not be read.
    if frame is not None and not all(isinstance(argument, Mapping) for argument in args):
        call_names = argument_names(frame, (*preceding, *args))
    if call_names is not None:
        call_names = call_names[len(preceding) :]
    arguments = [*zip(call_names or [""] * len(args), args, strict=True), *named.items()]
    pairs: Pairs = []
    known_names = KnownNames()
    for index, (name, argument) in enumerate(arguments):
        is_positional = index < len(args)
        # `net.parameters()` is an iterator: read once, and not to the end if that never comes.
        is_iterator = isinstance(argument, Iterator)
        thing = list(islice(argument, MAX_NAMES)) if is_iterator else argument
        # An argument by keyword has a name, and what is in it is named by that. `params` is the one
        # by which optimizers take named parameters.
        entries = _named_entries(thing) if is_positional or name == "params" else None
        if entries is not None:
            for key, entry in entries:
                # snapshot(locals()): names are the keys, and what is not a tensor is passed over.
                if not NAMES_OF_IPYTHON.fullmatch(key) and not issubclass(type(entry), type):
                    # `params` may be an optimizer's dicts, so that its objects are searched, too.
                    pairs += tensors_in(
                        key, entry, known_names, objects=name == "params" or objects
                    )
            continue
        label = name or gettext("argument {index}", index=index)
        found = list(tensors_in(label, thing, known_names, objects=True))
        if not found:
            raise make_type_error(label, argument)
        pairs += found
    paths = _list_optimizer_paths(pairs)
    tensors, arrays = _part_arrays_from_tensors(_without_second_names(pairs)[:MAX_NAMES])
    array_arguments = [name for name, argument in arguments if isinstance(argument, np.ndarray)]
    return CollectedThings(tensors, arrays, array_arguments, known_names.held_by_modules, paths)


def choose_objects_of_program(frame: FrameType | None) -> ObjectChoice:
    """Return a function that says of an object whether the main file or that of a frame has its class."""
    modules = {"__main__"}
    if frame is not None and not is_library_frame(frame):
        modules.add(str(frame.f_globals.get("__name__")))
    read_module = type.__dict__["__module__"].__get__

    def is_of_program(thing: Any) -> bool:
        # Not `type(thing).__module__`, which a metaclass of the program's may answer.
        module = read_module(type(thing))
        return type(module) is str and module in modules

    return is_of_program


def is_library_frame(frame: FrameType) -> bool:
    """Return True for a frame that runs no code of the program.

    Its objects may hold far too much.
    """
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    is_ours = package in ("torch", "tinytorch", "copylab") or package in sys.stdlib_module_names
    return is_ours or "-packages" in frame.f_code.co_filename  # site-packages, dist-packages


def make_type_error(label: str, argument: object) -> TypeError:
    """Make the error for an argument that is not a tensor and contains none."""
    return TypeError(
        f"{label} is of type {type(argument).__name__}, which is neither a tensor nor contains one: "
        f"give tensors, a module, an optimizer, or lists, dicts and objects "
        f"that hold tensors"
    )


def _list_optimizer_paths(pairs: Pairs) -> dict[int, tuple[str, ...]]:
    """Return where optimizers have tensors, also those that are known by other names."""
    paths: dict[int, tuple[str, ...]] = {}
    for name, value in pairs:
        if PARAM_GROUPS in name:
            paths[id(value)] = (*paths.get(id(value), ()), name)
    return paths


def _without_second_names(pairs: Pairs) -> Pairs:
    """Leave out `opt.param_groups[0]["params"][0]` for a parameter that has a name of its own."""
    # It is a path of the optimizer, and no name that somebody has given it.
    with_own_name = {id(value) for name, value in pairs if PARAM_GROUPS not in name}
    return [
        (name, value)
        for name, value in pairs
        if PARAM_GROUPS not in name or id(value) not in with_own_name
    ]


def _part_arrays_from_tensors(pairs: Pairs) -> tuple[Pairs, Pairs]:
    """Return the pairs with a tensor, and those with a NumPy array."""
    tensors: Pairs = []
    arrays: Pairs = []
    for name, value in pairs:
        if is_tensor(value):
            tensors.append((name, value))
        else:
            arrays.append((name, value))
    return tensors, arrays


def _named_entries(thing: Any) -> Pairs | None:
    """Return the entries of what `locals()` or `net.named_parameters()` give; None for others."""
    if isinstance(thing, Mapping) and not is_tensor(thing):
        return [(_key_as_text(key), entry) for key, entry in list(thing.items())]
    if isinstance(thing, list) and thing and all(map(_is_named_pair, thing)):
        return thing
    return None


def _is_named_pair(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)


class _Waiting(NamedTuple):
    """Something whose inside is still to be searched."""

    name: str
    """The path to it."""
    thing: Any
    """The thing itself."""
    depth: int
    """How many steps the path has."""


def tensors_in(
    name: str,
    thing: Any,
    known_names: dict[int, str] | None = None,
    objects: bool | ObjectChoice = False,
) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and arrays inside of something, with dotted names.

    `objects`: also inside of objects of any class, or of those that it is True of. `known_names` (identity -> name) gets the names
    of the tensors that are found, and is asked by an optimizer for those of its parameters.
    """
    for path, part in things_in(name, thing, known_names, objects):
        if is_data(part):
            yield path, part


def is_data(thing: Any) -> bool:
    """Return True for a tensor and for a NumPy array."""
    # Not isinstance, which asks the object for its class, and so may run code of the user's.
    return is_tensor(thing) or issubclass(type(thing), np.ndarray)


def things_in(
    name: str,
    thing: Any,
    known_names: dict[int, str] | None = None,
    objects: bool | ObjectChoice = False,
    nearest_first: bool = False,
) -> Iterator[tuple[str, Any]]:
    """Yield something and all that is inside of it, with dotted names: tensors, containers, others.

    A container that is there twice is yielded twice, but searched once. The modules in a module
    are not yielded, as it names all its tensors itself. `nearest_first`: a thing comes before all
    that is nested more deeply, for who takes only the first few; by default, before all that comes
    after it. The other arguments are those of `tensors_in`.
    """
    # No recursion: containers may contain themselves, or be nested very deeply.
    waiting = deque([_Waiting(name, thing, 0)])
    known_names = {} if known_names is None else known_names
    searched: set[int] = set()
    # Of a program with lists of millions of numbers all would be looked at, for seconds.
    for _ in range(_MAX_THINGS):
        if not waiting:
            return
        name, thing, depth = waiting.popleft()
        yield name, thing
        if is_data(thing):
            known_names.setdefault(id(thing), name)
            inner = inner_tensors(thing) if depth <= _MAX_DEPTH else []
        elif depth > _MAX_DEPTH or id(thing) in searched or len(searched) > MAX_NAMES:
            continue
        else:
            searched.add(id(thing))
            inner = _find_parts(thing, known_names, objects)
        # Of an argument that is an expression: `(a or b).weight`.
        start = name if depth else parenthesize_name(name)
        parts = []
        for key, part in inner:
            parts.append(_Waiting(f"{start}.{key}" if start else key, part, depth + 1))
        if nearest_first:
            waiting.extend(parts)
        else:
            waiting.extendleft(reversed(parts))


# -- what is inside of what ------------------------------------------------------------


def _find_parts(value: Any, known_names: dict[int, str], objects: bool | ObjectChoice) -> Pairs:
    """Return the parts of something, by the first row of `_PARTS` that fits it."""
    # What a container or module raises of its own is no reason to show nothing else.
    with suppress(Exception):
        for row in _PARTS:
            if row.fits(value):
                parts = () if row.parts is None else row.parts(value, known_names)
                return list(islice(parts, _MAX_THINGS))
        if objects is True or (objects and objects(value)):
            return list(_parts_of_object(value, known_names))
    return []


def _parts_of_object(owner: Any, _known_names: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object. Properties, which run code of the user's, are not read."""
    # Not `getattr`, which asks a `__getattribute__` of the user's.
    with suppress(AttributeError):
        yield from object.__getattribute__(owner, "__dict__").items()
    for base in type(owner).__mro__:
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            # It may not be set; __dict__ and __weakref__ in `__slots__` are no slots.
            with suppress(AttributeError, KeyError):
                yield slot, vars(base)[slot].__get__(owner)


def _parts_of_module(net: Any, known_names: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Yield parameters, buffers and plain attributes, of its class, too, under all names that weights share.

    `named_parameters` gives only the first of these names.
    """
    modules = [
        (f"{path}." if path else "", module)
        for path, module in net.named_modules(remove_duplicate=False)
    ]
    values: list[Any] = []
    for group in ("_parameters", "_buffers"):
        for path, module in modules:
            for name, tensor in getattr(module, group).items():
                yield path + name, tensor
                if group == "_buffers":
                    values.append(tensor)
    for path, name, tensor in _list_tensors_of_classes(modules):
        yield path + name, tensor
        values.append(tensor)
    for path, module in modules:
        for name, value in vars(module).items():
            # `_parameters`, `_buffers` and `_modules` were gone through above.
            is_own_container = name[0] != "_" and isinstance(value, CONTAINERS)
            if is_own_container or is_tensor(value):
                yield path + name, value
                values.append(value)
                if is_own_container:
                    values += value.values() if isinstance(value, Mapping) else value
    # A plain dict, as a caller of `things_in` may give, has no place for it.
    if isinstance(known_names, KnownNames):
        known_names.held_by_modules |= {id(value) for value in values if is_tensor(value)}


def _list_tensors_of_classes(modules: list[tuple[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """Yield the tensors that all modules of a class have in common, with the path of each module."""
    tensors_by_class: dict[type, dict[str, Any]] = {}
    for path, module in modules:
        kind = type(module)
        if kind not in tensors_by_class:
            attributes: dict[str, Any] = {}
            for base in reversed(kind.__mro__):
                attributes |= vars(base)
            tensors = {name: value for name, value in attributes.items() if is_tensor(value)}
            tensors_by_class[kind] = tensors
        for name, tensor in tensors_by_class[kind].items():
            if name not in vars(module):
                yield path, name, tensor


def _parts_of_optimizer(optimizer: Any, known_names: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Yield its parameters, and its state under the parameters' own names where they are known."""
    state_names: dict[int, str] = {}
    for group, settings in enumerate(optimizer.param_groups):
        for index, parameter in enumerate(settings["params"]):
            name = known_names.get(id(parameter))
            state_names[id(parameter)] = f".{len(state_names)}" if name is None else f"[{name}]"
            # The dot in front is put there by the search, between a thing and its part.
            yield f'{PARAM_GROUPS[1:]}{group}]["params"][{index}]', parameter
    for parameter, state in optimizer.state.items():
        yield f"state{state_names.get(id(parameter), '.?')}", state


def _parts_of_mapping(mapping: Any, _known_names: dict[int, str]) -> Iterator[tuple[str, Any]]:
    return ((_key_as_text(key), value) for key, value in mapping.items())


def _parts_of_series(series: Any, _known_names: dict[int, str]) -> Iterator[tuple[str, Any]]:
    return ((str(index), value) for index, value in enumerate(series))


def is_added_name(name: str) -> bool:
    """Return True for a name that IPython or Python has added to the user's."""
    return NAMES_OF_IPYTHON.fullmatch(name) is not None


def _has_methods(value: Any, *names: str) -> bool:
    # Of the class: a Mock, or what answers for any attribute, has them all.
    return all(callable(getattr(type(value), name, None)) for name in names)


def is_module(value: Any) -> bool:
    """Return True for a module of either engine."""
    # By its methods, not by its class: the modules of both engines are meant, and neither imported.
    return _has_methods(value, "named_parameters", "named_modules")


def is_optimizer(value: Any) -> bool:
    """Return True for an optimizer of either engine."""
    if not _has_methods(value, "zero_grad"):
        return False
    return isinstance(getattr(value, "param_groups", None), list)


def _is_of_ipython(value: Any) -> bool:
    """Return True for the shell's own: its `exit`, in each notebook, leads to all variables."""
    return type(value).__module__.partition(".")[0] in ("IPython", "ipykernel")


class _PartsRow(NamedTuple):
    """How to find what is inside of one kind of thing."""

    fits: Callable[[Any], bool]
    """Says if something is of this kind."""
    parts: Callable[[Any, dict[int, str]], Iterable[tuple[str, Any]]] | None
    """Returns names and parts of something, given the names that are known by id; None if it
    is never searched."""


_PARTS = (
    _PartsRow(lambda value: isinstance(value, _NEVER_SEARCHED), None),
    _PartsRow(_is_of_ipython, None),
    _PartsRow(lambda value: isinstance(value, Mapping), _parts_of_mapping),
    _PartsRow(lambda value: isinstance(value, _SERIES), _parts_of_series),
    _PartsRow(is_module, _parts_of_module),
    _PartsRow(is_optimizer, _parts_of_optimizer),
    _PartsRow(is_dataclass, _parts_of_object),
)
"""The first row that fits is used. Objects that fit none are searched only if asked for."""


def _key_as_text(key: Any) -> str:
    try:
        return str(key)
    except Exception:  # noqa: BLE001 - as an int of very many digits does
        return f"<{type(key).__name__}>"
