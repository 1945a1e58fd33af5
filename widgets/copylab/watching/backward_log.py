"""Parameters of modules that have no gradient after the backwards of a program without an optimizer.

Of what an optimizer steps, `missing` says more. Nothing here says that a gradient should be there: a
part may be frozen by not using it, or wait for another loss.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from tinytorch.viz import (
    GraphExit,
    getattr_or_none,
    is_added_name,
    is_library_frame,
    is_module,
    things_in,
)

from .aliases import copy_locals
from .missing import MissingGradient, can_miss
from .places import Place, PlaceFinder, iterate_callers

_MAX_FRAMES = 30
_MAX_THINGS, _MAX_THINGS_OF_LIBRARY = 200, 20
"""How many things are looked at that are in a caller's variables, the nearest first: a module is
rarely far in. The frames of a notebook or a test lead to hundreds of thousands of others: a look at
200 of each took longer than the rest of a small step."""
_CUTS = frozenset({"detach", "new leaf", "parameter", "checkpoint"})
"""How a module is cut off by mistake while others learn. Grad mode is off on purpose around a
teacher or a validation, and numbers are logged."""

FindExits = Callable[[Any], Iterable[GraphExit]]


class _Member(NamedTuple):
    """A parameter by its place. No reference to the tensor: PyTorch swaps none that has a weak one."""

    module: weakref.ref[Any]
    """The module that has it."""
    key: str
    """Its attribute."""

    @property
    def place_id(self) -> tuple[int, str]:
        """What tells it from all others while the module lives, whatever the program calls it."""
        return id(self.module()), self.key

    def find(self) -> Any:
        """Return the parameter; None if it is gone."""
        module = self.module()
        return None if module is None else module._parameters.get(self.key)


class _NamedParameter(NamedTuple):
    """A parameter with the name that the program has for it."""

    name: str
    """The name."""
    member: _Member
    """The place."""
    parameter: Any
    """The parameter itself, as long as one look takes."""


@dataclass
class _WithoutGradient:
    """Parameters of one module that have had no gradient since a backward was first looked at."""

    name: str
    """What the program called the module then. Another function may call it otherwise."""
    place: Place | None
    """The line of that backward."""
    first: int
    """The number of that backward, from 1."""
    last: int
    """The number of the last backward after which the module was there."""
    module: weakref.ref[Any]
    """The module itself."""
    members: dict[str, _Member]
    """The parameters by name."""
    exits: dict[str, tuple[GraphExit, ...]] = field(default_factory=dict)
    """Where their values were seen to leave the graph."""
    is_part: bool = False
    """True once another parameter of the module had a gradient."""


class BackwardLog:
    """The backwards of a program, and what its modules had no gradient for after each of them."""

    def __init__(self, place_finder: PlaceFinder, find_exits: FindExits) -> None:
        self._place_finder = place_finder
        self._find_exits = find_exits
        self._modules: list[_WithoutGradient] = []
        """One for each module that was looked at."""
        self._seen: dict[tuple[int, str], _Member] = {}
        """All parameters that were looked at, also those which had a gradient then."""
        self._has_reached_module = False
        """True once a parameter of any module had a gradient."""
        self._count = 0
        self._lock = threading.Lock()

    def record(self) -> None:
        """Note what has no gradient after a backward, which has just ended."""
        with self._lock:
            self._count += 1
            self._forget_reached()
            # At powers of two, as going through all that the program has takes as long as many small
            # backwards.
            if not self._count & (self._count - 1):
                # What objects of the program raise when they are looked through must not end it.
                with suppress(Exception):
                    self._look_through_modules()

    def _forget_reached(self) -> None:
        """Drop the parameters that have a gradient by now, or are gone."""
        for entry in self._modules:
            if entry.module() is None:
                continue  # with the module its parameters got their last gradient
            entry.last = self._count
            for name, member in list(entry.members.items()):
                parameter = member.find()
                if parameter is None or not _is_without_gradient(parameter):
                    del entry.members[name]
                    # It may be frozen by now, or another one in its place.
                    entry.is_part |= parameter is not None and parameter.grad is not None

    def _look_through_modules(self) -> None:
        """Note the modules of the callers, and which of their parameters have no gradient."""
        # A part of a module is a module of the callers, too: what is in both is counted once.
        known_ids: set[int] = set()
        for name, module in self._find_modules().items():
            entry = self._find_entry(name, module)
            label = name if entry is None else entry.name
            found = [
                each
                for each in _list_parameters(label, module)
                if id(each.parameter) not in known_ids
            ]
            known_ids.update(id(each.parameter) for each in found)
            # Of a parameter nothing is missing again: what was given may have been reset.
            new = {each.name for each in found if not self._has_seen(each.member)}
            self._seen |= {each.member.place_id: each.member for each in found}
            missing = [each for each in found if _is_without_gradient(each.parameter)]
            has_reached = any(each.parameter.grad is not None for each in found)
            self._has_reached_module |= has_reached
            if entry is None:
                place, at = self._place_finder.find_place(), self._count
                members = {each.name: each.member for each in missing if each.name in new}
                entry = _WithoutGradient(label, place, at, at, weakref.ref(module), members)
                self._modules.append(entry)
            elif entry.module() is not module:
                continue  # another module of this name: of the first one it will be said
            entry.is_part |= has_reached
            for each in missing:
                exits = tuple(exit_ for exit_ in self._find_exits(each.parameter) if exit_.is_use)
                entry.exits[each.name] = exits

    def _find_entry(self, name: str, module: Any) -> _WithoutGradient | None:
        """Return that of this module, whatever its name; else of another of this name to be told."""
        for entry in self._modules:
            if entry.module() is module:
                return entry
        return next((each for each in self._modules if each.name == name and each.members), None)

    def _has_seen(self, member: _Member) -> bool:
        # The identity may be that of a module which is gone by now.
        earlier = self._seen.get(member.place_id)
        return earlier is not None and earlier.module() is member.module()

    def _find_modules(self) -> dict[str, Any]:
        """Return the modules that the callers of backward know, the largest first."""
        modules: dict[str, Any] = {}
        callers = islice(iterate_callers(self._place_finder.find_frame()), _MAX_FRAMES)
        # Those of the program come before those of libraries, which may have other names for its modules.
        for frame in sorted(callers, key=is_library_frame):
            variables = {
                key: value for key, value in copy_locals(frame).items() if not is_added_name(key)
            }
            limit = _MAX_THINGS_OF_LIBRARY if is_library_frame(frame) else _MAX_THINGS
            things = things_in("", variables, objects=True, nearest_first=True)
            for path, thing in islice(things, len(variables) + limit):
                if is_module(thing) and path:
                    modules.setdefault(path, thing)
            # The frames above may be those of the machinery of a notebook or a test.
            if modules:
                break
        sizes = {name: len(list(module.parameters())) for name, module in modules.items()}
        return {name: modules[name] for name in sorted(modules, key=lambda name: -sizes[name])}

    def list_missing(self) -> Iterator[MissingGradient]:
        """Yield what had no gradient after any backward, grouped by what took it."""
        with self._lock:
            self._forget_reached()
            for entry in self._modules:
                groups: dict[tuple[GraphExit, ...], list[str]] = {}
                for name in entry.members:
                    exits = entry.exits.get(name, ())
                    if self._is_worth_saying(entry, exits):
                        groups.setdefault(exits, []).append(name)
                for exits, names in groups.items():
                    times = entry.last - entry.first + 1
                    yield MissingGradient("", entry.place, tuple(names), exits, times=times)

    def _is_worth_saying(self, entry: _WithoutGradient, exits: Iterable[GraphExit]) -> bool:
        """Return True of a part of a module, and of a module whose values were cut off."""
        # A module without any gradient may belong to another step: a teacher, a generator.
        if entry.is_part:
            return True
        if not self._has_reached_module:
            return any(exits)
        return any(each.kind in _CUTS for each in exits)


def _list_parameters(name: str, module: Any) -> Iterator[_NamedParameter]:
    for path, part in module.named_modules():
        for key, parameter in part._parameters.items():
            if parameter is not None:
                label = ".".join(filter(None, (name, path, key)))
                yield _NamedParameter(label, _Member(weakref.ref(part), key), parameter)


def _is_without_gradient(parameter: Any) -> bool:
    # A hook that runs once a gradient was added may step, and free it (an optimizer in backward).
    meta = getattr_or_none(parameter, "_meta")
    hooks = getattr_or_none(parameter, "_post_accumulate_grad_hooks")
    return not (hooks or getattr_or_none(meta, "post_accumulate_hooks")) and can_miss(parameter)
