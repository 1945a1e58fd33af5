"""The names that hold memory: of variables, containers and attributes that a function can reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from types import FrameType
from typing import Any, NamedTuple

from tinytorch.viz import is_added_name, is_tensor, list_tensors_behind, things_in

from ..wording import gettext
from .aliases import copy_locals

_MOST_GRAPHS = 500
"""Graphs that are searched for memory without a name."""
_SERIES = (list, tuple, set, dict)


class _NamedMemory(NamedTuple):
    """A tensor by a name, with the key of its memory."""

    name: str
    tensor: Any
    key: int | None


class HolderSearch:
    """All tensors with a name that a function and its caller can reach, at one moment."""

    def __init__(
        self, function: Any, frame: FrameType | None, memory_key: Callable[[Any], int | None]
    ) -> None:
        self.memory_key = memory_key
        self.kinds: dict[str, str] = {}
        """The classes of containers, by name."""
        self.memories: list[_NamedMemory] = []
        known_names: dict[int, str] = {}
        for name, value in _list_variables(function, frame).items():
            for path, thing in things_in(name, value, known_names, objects=True):
                if is_tensor(thing):
                    self.memories.append(_NamedMemory(path, thing, memory_key(thing)))
                elif isinstance(thing, _SERIES):
                    self.kinds[path] = type(thing).__name__
        # The shortest way to each: `total`, and not `window.variables.total`.
        self.memories.sort(key=lambda memory: memory.name.count("."))

    def find_holders(self, keys: Collection[int]) -> list[str]:
        """Return what holds pieces of memory, in words: by a name, or by the graph behind one."""
        all_keys = set(keys)
        name_by_key = _choose_names([memory for memory in self.memories if memory.key in all_keys])
        holders = [self._describe_holder(names) for names in _group_names(name_by_key.values())]
        keys_without_name = all_keys - name_by_key.keys()
        roots: list[str] = []
        # Backwards, and backwards again below: of several names of a tensor the first one stays.
        tensors = {id(memory.tensor): memory for memory in reversed(self.memories)}
        with_graph = [memory for memory in tensors.values() if memory.tensor.requires_grad]
        for memory in list(reversed(with_graph))[:_MOST_GRAPHS] if keys_without_name else []:
            keys_behind = {self.memory_key(tensor) for tensor in list_tensors_behind(memory.tensor)}
            if not keys_without_name.isdisjoint(keys_behind):
                roots.append(memory.name)
        return holders + [
            gettext("the graph behind {name}", name=_common_start(names))
            for names in _group_names(roots)
        ]

    def _describe_holder(self, names: list[str]) -> str:
        start = _common_start(names)
        kind = self.kinds.get(start)
        # The class says what to empty: "the list acts".
        return start if kind is None else gettext("the {kind} {name}", kind=kind, name=start)


def _list_variables(function: Any, frame: FrameType | None) -> dict[str, Any]:
    """Return what a function can reach by name: its caller's variables, its own globals and cells."""
    variables: dict[str, Any] = {}
    while hasattr(function, "func"):  # functools.partial
        variables["step.args"] = (function.args, function.keywords)
        function = function.func
    # Of a bound method: what its object holds has a name that begins with `self`.
    if getattr(function, "__self__", None) is not None:
        variables["self"] = function.__self__
        function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        variables["step"] = function  # an object that can be called, with attributes of its own
    for name, cell in zip(
        getattr(code, "co_freevars", ()), getattr(function, "__closure__", None) or (), strict=True
    ):
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    # Of two names of one object the first is taken: those of the caller are what it knows best.
    caller = {} if frame is None else copy_locals(frame)
    scopes = (caller, variables, getattr(function, "__globals__", {}))
    merged: dict[str, Any] = {}
    for scope in scopes:
        for name, value in list(scope.items()):
            if not is_added_name(name):
                merged.setdefault(name, value)
    return merged


def _choose_names(memories: Collection[_NamedMemory]) -> dict[int | None, str]:
    """Return one name for each piece of memory: the one in the container that has most of them.

    So what `trainer.history` holds is not told as `trainer.last`, which is the last of it.
    """
    pairs = {(memory.key, _owner_of(memory.name)) for memory in memories}
    sizes = Counter(owner for _, owner in pairs)
    chosen: dict[int | None, str] = {}
    for memory in memories:
        best = chosen.get(memory.key)
        # Of equal ones the first: `self.history` is `trainer.history` of the caller.
        if best is None or sizes[_owner_of(memory.name)] > sizes[_owner_of(best)]:
            chosen[memory.key] = memory.name
    return chosen


def _owner_of(name: str) -> str:
    return name.rpartition(".")[0]


def _group_names(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield the names that belong to one variable together."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.partition(".")[0], []).append(name)
    yield from groups.values()


def _common_start(names: list[str]) -> str:
    """Return the parts that dotted names have in common."""
    if len(names) == 1:
        return names[0]
    split = [name.split(".") for name in names]
    common = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    return ".".join(common)
