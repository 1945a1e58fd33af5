"""The plain data that a snapshot is made of.

Everything here is numbers, strings and tuples. No record holds a tensor, a
storage or a graph node, so keeping a snapshot keeps nothing of the user's alive,
and a picture can be drawn from it long after the tensors are gone.

Ids count up in the order in which things were first seen: T1 for tensors, S1 for
storages, C1 for version counters, N1 for graph nodes. They are never addresses,
so the same program gives the same snapshot in every run and under every engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

# Identity across snapshots: a serial number (see identity.py), never shown.
Key = Any


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor object: its geometry, its place in a storage, its place in the graph."""

    id: str
    names: tuple[str, ...]
    shape: tuple[int, ...] | None
    """None for a nested tensor, which has no one shape."""
    stride: tuple[int, ...] | None
    offset: int | None
    dtype: str
    itemsize: int
    device: str
    requires_grad: bool
    is_leaf: bool | None
    """None where the engine refuses to say (a view whose history became invalid)."""
    storage: str | None
    start_byte: int
    """Where element 0 lies in the storage record, in bytes from its beginning."""
    counter: str | None
    version: int | None
    grad_fn: str | None
    grad_fn_name: str | None
    grad: str | None
    grad_of: str | None
    base: str | None
    """The tensor that this one is a view of, if the snapshot knows it."""
    is_view: bool
    role: str = "named"
    """"named", "grad" (reached as .grad), "leaf" (reached through AccumulateGrad) or "saved"."""
    notes: tuple[str, ...] = ()
    key: Key = field(default=None, compare=False, repr=False)

    @property
    def numel(self) -> int:
        """How many elements the tensor has (1 for a 0-d tensor; 0 where its shape is not known)."""
        return 0 if self.shape is None else math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells of a storage: the index of the first one and their values."""

    start: int
    values: tuple[Any, ...]

    @property
    def stop(self) -> int:
        """The cell after the last one."""
        return self.start + len(self.values)


@dataclass(frozen=True, slots=True)
class Storage:
    """One block of memory. `runs` holds only the cells that are worth showing."""

    id: str
    nbytes: int
    device: str
    dtype: str
    itemsize: int
    cells: int
    runs: tuple[Run, ...]
    tensors: tuple[str, ...]
    objects: int = 1
    """How many storage objects see this memory (2 and more after from_numpy and the like)."""
    notes: tuple[str, ...] = ()
    key: Key = field(default=None, compare=False, repr=False)

    def value(self, cell: int) -> tuple[bool, Any]:
        """Whether `cell` was read, and its value."""
        for run in self.runs:
            if run.start <= cell < run.stop:
                return True, run.values[cell - run.start]
        return False, None


@dataclass(frozen=True, slots=True)
class Counter:
    """One version counter and the tensors that share it."""

    id: str
    version: int
    tensors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """Something that a node keeps for backward.

    `state` is "live", "stale" (the memory was written after it was saved: backward
    raises), "freed" (a backward used it up), "number" (plain data), "packed" (a
    saved-tensor hook holds it, and looking would call the hook), "once" (a custom
    Function gives it out a single time, and looking would use that up) or "unreadable".
    """

    name: str
    state: str
    tensor: str | None = None
    saved_version: int | None = None
    version: int | None = None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Edge:
    """Entry `index` of a node's next_functions; `node` is None where no gradient is needed."""

    index: int
    node: str | None
    input: int


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the autograd graph."""

    id: str
    name: str
    edges: tuple[Edge, ...]
    saved: tuple[Saved, ...]
    variable: str | None
    """The leaf whose .grad this node (an AccumulateGrad) adds to."""
    tensors: tuple[str, ...]
    """The known tensors that have this node as their grad_fn."""
    cut: bool = False
    """True where the reader stopped here because the graph is too large."""
    key: Key = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Snapshot:
    """What is known about some tensors at one moment. See `snapshot()`."""

    names: tuple[tuple[str, str], ...]
    """(name, tensor id) in the order in which they were given."""
    tensors: tuple[Tensor, ...]
    storages: tuple[Storage, ...]
    counters: tuple[Counter, ...]
    nodes: tuple[Node, ...]
    counters_known: bool = True
    """False where the engine offers no way to find out who shares a version counter."""
    notes: tuple[str, ...] = ()
    last_ids: tuple[int, int, int] = field(default=(0, 0, 0), compare=False, repr=False)
    """The highest number given so far to a tensor, a storage and a counter."""

    @cached_property
    def _records(self) -> dict[str, Any]:
        everything = (*self.tensors, *self.storages, *self.counters, *self.nodes)
        return {record.id: record for record in everything}

    @cached_property
    def _named(self) -> dict[str, str]:
        return dict(self.names)

    def tensor(self, which: str) -> Tensor:
        """The tensor with this id or else this name; KeyError if there is none."""
        found = self._records.get(which)
        if not isinstance(found, Tensor):
            found = self._records[self._named[which]]
        return cast("Tensor", found)

    def storage(self, which: str) -> Storage:
        """The storage with this id; KeyError if there is none."""
        return cast("Storage", self._records[which])

    def counter(self, which: str) -> Counter:
        """The version counter with this id; KeyError if there is none."""
        return cast("Counter", self._records[which])

    def node(self, which: str) -> Node:
        """The graph node with this id; KeyError if there is none."""
        return cast("Node", self._records[which])

    def without(self, *names: str) -> Snapshot:
        """The same snapshot with these names left out (their tensors stay known)."""
        left = tuple((name, tid) for name, tid in self.names if name not in names)
        return replace(self, names=left)
