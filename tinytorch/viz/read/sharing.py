"""What the arguments of a call have in common: objects that are one, and memory that is one.

Things are known by identity as long as the call lasts, storages by their blocks (`Blocks`), cells
by geometry (`overlaps`). No graph is read and no version counter touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice, product
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..wording import gettext, join_attribute, join_names, parenthesize_name
from .array_views import ArrayView
from .blocks import BlockGeometry, Blocks, IdSequence
from .call_source import argument_names
from .identity import hold_identities
from .naming import (
    CONTAINERS,
    MAX_NAMES,
    NAMES_OF_IPYTHON,
    PARAM_GROUPS,
    is_data,
    is_module,
    is_optimizer,
    make_type_error,
    things_in,
)
from .overlaps import (
    count_cells,
    count_common_cells,
    count_elements,
    count_repeats,
    has_overlapping_elements,
    normalize_geometry,
    share_bytes,
)
from .probe import disable_overrides, grad_fn_or_none, grad_or_none, is_tensor

_MOST_COMPARED = 20_000
"""Pairs of views of one storage that are compared: a tenth of a second."""
_MOST_PICTURED = 6
_PLAIN_VALUES = (int, float, complex, str, bytes, type(None))
_BETWEEN_PARTS = re.compile(r"\.(?![^\[]*\])")
"""A dot between the parts of a name: not one in the brackets of `opt.state[net.weight].step`."""
_NAMELESS = ("locals()", "globals()", "vars()")
"""What holds the caller's variables, which have names without it."""


class SharedFact(NamedTuple):
    """Names that stand for one object, or for memory that is one.

    kind: "object" (one module, dict, list), "steps" (the first name is an optimizer, which steps
    the others), "tensor" (one tensor or array), "cells" (several over the same cells), "overlap"
    (two that have some cells in common), "storage" (one storage, no cell in common), "repeat" (one
    that sees its cells several times).
    """

    kind: str
    names: tuple[str, ...]
    """Those for which it holds."""
    noun: str = ""
    """The class of what is one object."""
    parts: tuple[str, ...] = ()
    """The ends of names, where the same holds of each of these parts of all `names`."""
    counts: tuple[int | None, ...] = ()
    """cells: how many. overlap: cells in common, of the first, of the second. storage: pairs.
    repeat: how often each cell is seen. None where that is not known."""
    repeats: tuple[tuple[str, int], ...] = ()
    """cells, overlap: those of the names that see each cell several times, and how often."""


class FoundSharing(NamedTuple):
    """All that the arguments have in common."""

    labels: tuple[str, ...]
    """What the caller called the arguments."""
    facts: tuple[SharedFact, ...]
    """One for each thing or stretch of memory that is shared."""
    notes: tuple[str, ...]
    """What could not be compared."""
    pictured: dict[str, Any]
    """Some of the tensors that share memory, by name. The caller keeps them no longer than it."""


class _UseOfName(NamedTuple):
    """A name of a thing, and the position of the argument in which it was found."""

    argument: int
    name: str


@dataclass(eq=False)
class _Thing:
    """An object among the arguments, with all its names."""

    value: Any
    """The object itself."""
    uses: dict[_UseOfName, None] = field(default_factory=dict)
    """In the order of the arguments. A dict, because one tensor may have thousands of names."""
    steps: dict[_UseOfName, None] = field(default_factory=dict)
    """The paths to it in optimizers, which step it."""
    geometry: BlockGeometry = field(default_factory=BlockGeometry)
    """Of a tensor or array: where it is in memory."""

    @property
    def names(self) -> list[str]:
        return [use.name for use in self.uses]

    @property
    def arguments(self) -> frozenset[int]:
        """The positions of the arguments that it is in."""
        return frozenset(use.argument for use in self.uses)

    @property
    def label(self) -> str:
        """Its names, as `a = b`."""
        name = " = ".join(self.names)
        if isinstance(self.value, np.ndarray):
            return gettext("{name} (a NumPy array)", name=name)
        return name


def find_sharing(
    args: tuple[Any, ...], named: Mapping[str, Any], frame: FrameType | None
) -> FoundSharing:
    """Find what the arguments share with each other; of a single one, what is shared inside of it.

    `frame` is the caller's, in which positional arguments are named as they are written. Raises
    TypeError for an argument that is not a tensor and can hold none.
    """
    call_names = None if frame is None else argument_names(frame, args)
    labels = []
    for index, name in enumerate(call_names or [""] * len(args)):
        label = name or gettext("argument {index}", index=index)
        labels.append("" if label in _NAMELESS else label)
    with disable_overrides(), hold_identities():
        search = _Search([*zip(labels, args, strict=True), *named.items()])
        facts = (
            *_fold_facts(search.find_shared_objects()),
            *search.find_shared_memory(),
            *search.find_stepped(),
        )
        return FoundSharing(
            (*labels, *named), facts, tuple(search.notes), search.select_pictured(facts)
        )


class _Search:
    """The things in the arguments of one call."""

    def __init__(self, arguments: Sequence[tuple[str, Any]]) -> None:
        self.is_single = len(arguments) == 1
        self.notes: list[str] = []
        self.data: dict[int, _Thing] = {}
        """Tensors and arrays, by identity: all of them live as long as the call."""
        self.containers: dict[int, _Thing] = {}
        known_names: dict[int, str] = {}
        # Optimizers last: what they step is called by the names that it has elsewhere.
        order = sorted(range(len(arguments)), key=lambda k: is_optimizer(arguments[k][1]))
        for index in order:
            self._add_argument(index, *arguments[index], known_names)
        for table in (self.data, self.containers):
            for thing in table.values():
                # What has no name but a path in an optimizer is known by that.
                if not thing.uses:
                    thing.uses, thing.steps = thing.steps, {}
                by_argument = sorted(thing.uses, key=lambda use: use.argument)
                thing.uses = dict.fromkeys(by_argument)
        self._add_grads()
        self._read_geometries()

    def _add_argument(
        self, index: int, label: str, argument: Any, known_names: dict[int, str]
    ) -> None:
        is_iterator = isinstance(argument, Iterator)
        value = list(islice(argument, MAX_NAMES)) if is_iterator else argument
        # `In`, `Out` and `_` of a notebook hold whatever was shown.
        if not label:
            value = {
                key: entry for key, entry in value.items() if not NAMES_OF_IPYTHON.fullmatch(key)
            }
        can_hold = isinstance(value, CONTAINERS) or is_module(value) or is_optimizer(value)
        found = 0
        for name, thing in things_in(label, value, known_names, objects=True):
            # CPython has one object for equal small ints and short strings, which nobody shares on
            # purpose.
            if not name or isinstance(thing, _PLAIN_VALUES):
                continue
            if is_data(thing):
                found += 1
                self._note_use(self.data, thing, _UseOfName(index, name))
                continue
            self._note_use(self.containers, thing, _UseOfName(index, name))
            if is_module(thing):
                for path, module in thing.named_modules(remove_duplicate=False):
                    if path:
                        inner = f"{parenthesize_name(name)}.{path}"
                        self._note_use(self.containers, module, _UseOfName(index, inner))
            if found > MAX_NAMES:
                note = gettext(
                    "there may be more tensors: only the first {number} were read",
                    number=f"{MAX_NAMES:,}",
                )
                self.notes.append(note)
                break
        if not found and not can_hold:
            raise make_type_error(label, argument)

    def _note_use(self, table: dict[int, _Thing], value: Any, use: _UseOfName) -> None:
        thing = table.setdefault(id(value), _Thing(value))
        uses = thing.steps if PARAM_GROUPS in use.name else thing.uses
        uses[use] = None

    def _add_grads(self) -> None:
        """Add the `.grad` of each tensor under the first of its names."""
        for thing in list(self.data.values()):
            if not is_tensor(thing.value):
                continue
            grad = grad_or_none(thing.value, grad_fn_or_none(thing.value))
            if grad is not None:
                argument, name = next(iter(thing.uses))
                self._note_use(self.data, grad, _UseOfName(argument, join_attribute(name, "grad")))

    def _read_geometries(self) -> None:
        things = list(self.data.values())
        views = [
            thing.value if is_tensor(thing.value) else ArrayView(thing.value) for thing in things
        ]
        blocks = Blocks(views, IdSequence("S", {}, 0))
        for thing, geometry in zip(things, blocks.geometries, strict=True):
            thing.geometry = geometry
            if geometry.storage is None:
                self.notes.append(f"{thing.label}: {'; '.join(geometry.notes)}")

    def _have_different_arguments(self, group: Sequence[_Thing]) -> bool:
        """Return True if two things are in different arguments; of a single argument, for any two.

        What is in both arguments anyway is one object there, and that is said.
        """
        if self.is_single:
            return len(group) > 1
        pairs = combinations({thing.arguments for thing in group}, 2)
        return any(first.isdisjoint(second) for first, second in pairs)

    def _is_across(self, uses: Iterable[_UseOfName]) -> bool:
        """Return True for names of different arguments; of a single argument, for any two."""
        arguments = [use.argument for use in uses]
        if self.is_single:
            return len(arguments) > 1
        return len(set(arguments)) > 1

    # -- one object ----------------------------------------------------------------------

    def find_shared_objects(self) -> list[SharedFact]:
        """Return the facts on things that are one object under several names."""
        group_by_name: dict[str, set[str]] = {}
        facts: list[SharedFact] = []
        shared = [thing for thing in self.containers.values() if self._is_across(thing.uses)]
        # The outermost first: what is inside of one object is one, too, and goes without saying.
        for thing in sorted(shared, key=lambda thing: len(thing.names[0])):
            names = tuple(thing.names)
            if not self._names_around_data.isdisjoint(names) and not _is_implied(
                names, group_by_name
            ):
                facts.append(SharedFact("object", names, type(thing.value).__name__))
                group_by_name |= {name: set(names) for name in names}
        for thing in self.data.values():
            names = tuple(thing.names)
            if self._is_across(thing.uses) and not _is_implied(names, group_by_name):
                noun = "" if is_tensor(thing.value) else type(thing.value).__name__
                facts.append(SharedFact("tensor", names, noun))
        return facts

    @cached_property
    def _names_around_data(self) -> set[str]:
        """The names of all that holds a tensor or an array, as far as they can be told."""
        around: set[str] = set()
        for thing in self.data.values():
            for name in thing.names:
                around.update(name[:end] for end in _ends_of_parts(name))
        return around

    def find_stepped(self) -> Iterator[SharedFact]:
        """Yield, for each optimizer, what it steps of other arguments."""
        names_by_optimizer: dict[str, list[str]] = {}
        for thing in self.data.values():
            for step in thing.steps:
                other_names = [use.name for use in thing.uses if use.argument != step.argument]
                if other_names:
                    optimizer = step.name.partition(PARAM_GROUPS)[0]
                    names_by_optimizer.setdefault(optimizer, []).append(other_names[0])
        for optimizer, names in names_by_optimizer.items():
            yield SharedFact("steps", (optimizer, *names))

    # -- one memory ----------------------------------------------------------------------

    def find_shared_memory(self) -> Iterator[SharedFact]:
        """Yield the facts on things that are several objects over one memory."""
        by_storage: dict[str, list[_Thing]] = {}
        for thing in self.data.values():
            # What has no elements has no cell to share.
            if thing.geometry.storage is not None and count_elements(thing.geometry):
                by_storage.setdefault(thing.geometry.storage, []).append(thing)
        same: list[SharedFact] = []
        apart: list[SharedFact] = []
        for things in by_storage.values():
            by_cells: dict[Any, list[_Thing]] = {}
            for thing in things:
                by_cells.setdefault(normalize_geometry(thing.geometry), []).append(thing)
            groups = list(by_cells.values())
            same += map(_describe_same_cells, filter(self._have_different_arguments, groups))
            apart += self._compare_groups(groups)
        yield from _fold_facts(same)
        # First what a write through one of the two would show in the other.
        yield from sorted(apart, key=lambda fact: fact.kind == "storage")
        if self.is_single:
            # Of several arguments it is asked what they share with each other, and not within
            # themselves.
            already: set[str] = set()
            for fact in (*same, *apart):
                already |= {name for name, _ in fact.repeats}
            yield from (fact for fact in self._find_repeats() if fact.names[0] not in already)

    def _compare_groups(self, groups: Sequence[list[_Thing]]) -> Iterator[SharedFact]:
        """Yield what holds of views of one storage that are not over the same cells."""
        count_without_cells = 0
        names_without_cells: dict[str, None] = {}
        pairs = self._pair_groups(groups)
        for first, second in islice(pairs, _MOST_COMPARED):
            if share_bytes(first[0].geometry, second[0].geometry):
                yield _describe_overlap(first, second)
            else:
                count_without_cells += 1
                names_without_cells |= dict.fromkeys((_label_of(first), _label_of(second)))
        if next(pairs, None) is not None:
            note = gettext(
                "only the first {number} pairs of views of one storage were compared",
                number=f"{_MOST_COMPARED:,}",
            )
            self.notes.append(note)
        if count_without_cells:
            names = tuple(names_without_cells)
            yield SharedFact("storage", names, counts=(count_without_cells,))

    def _pair_groups(
        self, groups: Sequence[list[_Thing]]
    ) -> Iterator[tuple[list[_Thing], list[_Thing]]]:
        """Yield the pairs that belong to different arguments; of a single argument, all."""
        if self.is_single:
            yield from combinations(groups, 2)
        # Sorted out by arguments first: thousands of parts of one list make millions of pairs.
        by_arguments: dict[frozenset[int], list[list[_Thing]]] = {}
        for group in groups:
            arguments = frozenset[int]().union(*(thing.arguments for thing in group))
            by_arguments.setdefault(arguments, []).append(group)
        for first, second in combinations(by_arguments, 2):
            if first.isdisjoint(second):
                yield from product(by_arguments[first], by_arguments[second])

    def _find_repeats(self) -> Iterator[SharedFact]:
        for thing in self.data.values():
            if thing.geometry.storage is not None and has_overlapping_elements(thing.geometry):
                times = count_repeats(thing.geometry)
                count = times if times > 1 else None
                yield SharedFact("repeat", (thing.label,), counts=(count,))

    # -- to be drawn -----------------------------------------------------------------------

    def select_pictured(self, facts: Sequence[SharedFact]) -> dict[str, Any]:
        """Return the tensors of the first facts by name, for a picture of their memory."""
        tensors: dict[str, Any] = {}
        arrays: dict[str, tuple[str, Any]] = {}
        for thing in self.data.values():
            if is_tensor(thing.value):
                tensors |= dict.fromkeys(thing.names, thing.value)
            else:
                arrays[thing.label] = (thing.names[0], thing.value)
        pictured: dict[str, Any] = {}
        for fact in facts:
            if fact.kind == "steps" or len(pictured) >= _MOST_PICTURED:
                continue
            end = f".{fact.parts[0]}" if fact.parts else ""
            names: list[str] = []
            for label in fact.names:
                # Of memory, facts have the labels of things: `a = b` is two names.
                names += f"{label}{end}".split(" = ")
            for name in names[: _MOST_PICTURED - len(pictured)]:
                if name in tensors:
                    pictured[name] = tensors[name]
                elif name in arrays:
                    pictured.setdefault(*arrays[name])
        return pictured


def _label_of(things: Sequence[_Thing]) -> str:
    return join_names([thing.label for thing in things])


def _describe_same_cells(things: Sequence[_Thing]) -> SharedFact:
    return SharedFact(
        "cells",
        tuple(thing.label for thing in things),
        counts=(count_cells(things[0].geometry),),
        repeats=_list_repeats(things),
    )


def _describe_overlap(first: Sequence[_Thing], second: Sequence[_Thing]) -> SharedFact:
    geometries = first[0].geometry, second[0].geometry
    return SharedFact(
        "overlap",
        (_label_of(first), _label_of(second)),
        counts=(count_common_cells(*geometries), *map(count_cells, geometries)),
        repeats=_list_repeats([*first, *second]),
    )


def _list_repeats(things: Iterable[_Thing]) -> tuple[tuple[str, int], ...]:
    repeats = [(thing.label, count_repeats(thing.geometry)) for thing in things]
    return tuple((label, times) for label, times in repeats if times > 1)


# -- names -----------------------------------------------------------------------------


def _ends_of_parts(name: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[.\[]", name)]


def _is_implied(names: tuple[str, ...], group_by_name: Mapping[str, set[str]]) -> bool:
    """Return True if the names have one end, and what is before it is one object already."""
    for end in _ends_of_parts(names[0]):
        start, suffix = names[0][:end], names[0][end:]
        ends_alike = all(name.endswith(suffix) for name in names)
        starts = {name.removesuffix(suffix) for name in names}
        if ends_alike and starts <= group_by_name.get(start, set()):
            return True
    return False


def _fold_facts(facts: Sequence[SharedFact]) -> list[SharedFact]:
    """Return the facts, those joined into one that say the same of parts with the same names.

    So `net.weight` and `copy.weight`, `net.bias` and `copy.bias` are one sentence.
    """
    folded: dict[Any, list[tuple[SharedFact, str]]] = {}
    for fact in facts:
        starts, end = _split_common_end(fact.names)
        # Repeats are told by whole names, which a joined fact has no more.
        is_foldable = fact.kind in ("object", "tensor", "cells") and end and not fact.repeats
        key = (fact.kind, starts) if is_foldable else fact
        folded.setdefault(key, []).append((fact, end))
    joined = []
    for key, group in folded.items():
        if len(group) == 1:
            joined.append(group[0][0])
        else:
            kind, starts = key
            joined.append(SharedFact(kind, starts, parts=tuple(end for _, end in group)))
    return joined


def _split_common_end(names: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return what is different in dotted names, and the parts at their end that are not."""
    # Of a tensor with two names there is no one end.
    if any(" = " in name for name in names):
        return names, ""
    split = [_BETWEEN_PARTS.split(name) for name in names]
    # One part is left of each, or nothing would tell the names apart.
    most_equal = min(map(len, split)) - 1
    equal_count = 0
    while equal_count < most_equal and len({parts[-1 - equal_count] for parts in split}) == 1:
        equal_count += 1
    if not equal_count:
        return names, ""
    starts = tuple(".".join(parts[:-equal_count]) for parts in split)
    return starts, ".".join(split[0][-equal_count:])
