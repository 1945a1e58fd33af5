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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from typing import Any, cast

from ..wording import (
    cut_middle,
    escape_name,
    format_repr,
    format_shape,
    gettext,
    join_few_names,
    ngettext,
)

MANY = 3
"""More leaves without a name than these are told together."""

# Identity across snapshots: a serial number (see probe.identity_key), never shown.
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

    def elements(self, limit: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """(index, byte in the storage) of the tensor's elements in order, at most `limit` of them."""
        if self.stride is None or self.shape is None:
            return
        # product() writes each range out: no more of it than is asked for, or ten million elements take seconds.
        for index in islice(product(*(range(min(size, limit)) for size in self.shape)), limit):
            steps = sum(i * step for i, step in zip(index, self.stride, strict=True))
            yield index, self.start_byte + steps * self.itemsize

    def index_at(self, byte: int) -> tuple[int, ...] | None:
        """An index whose element begins at `byte` of the storage; None if no element does."""
        if self.stride is None or self.shape is None or not self.numel:
            return None
        rest, odd = divmod(byte - self.start_byte, self.itemsize)
        if odd or rest < 0:
            return None
        index = [0] * len(self.shape)
        for step, d in sorted(
            ((step, -d) for d, (_, step) in enumerate(self._axes()) if step), reverse=True
        ):
            index[-d] = min(rest // step, self.shape[-d] - 1)
            rest -= index[-d] * step
        return None if rest else tuple(index)

    def elements_per_cell(self) -> int:
        """How many elements share one cell because of strides of 0 (1 for most tensors)."""
        return math.prod(size for size, step in self._axes() if not step and size > 1)

    def is_in_order(self) -> bool:
        """Whether walking the tensor row by row walks its storage forwards, each cell once."""
        reach = 1
        for size, step in reversed([axis for axis in self._axes() if axis[0] != 1]):
            if step < reach:
                return False
            reach = step * size
        return True

    def jumps_in_storage(self) -> bool:
        """Whether walking the tensor goes back and forth in its storage, to each cell once."""
        return self.stride is not None and self.elements_per_cell() == 1 and not self.is_in_order()

    def stop_byte(self) -> int:
        """Where the furthest of its elements ends, in bytes from the beginning of the storage record."""
        return (
            self.start_byte
            + (1 + sum((size - 1) * step for size, step in self._axes())) * self.itemsize
        )

    def overlaps(self, other: Tensor) -> bool:
        """Whether the stretches of memory that two tensors of one storage reach over have a byte in common."""
        if not self.numel or not other.numel or self.stride is None or other.stride is None:
            return False
        return self.start_byte < other.stop_byte() and other.start_byte < self.stop_byte()

    def bytes_in_storage(self) -> set[int]:
        """The numbers of all bytes of the storage record that belong to an element."""
        starts = (byte for _, byte in self.elements(self.numel))
        return {byte for start in starts for byte in range(start, start + self.itemsize)}

    def as_part(self, whole: Tensor, name: str) -> str:
        """What this tensor is of another one that shares its counter, said with that one's name: `w transposed`."""
        here, there = self._axes(), whole._axes()
        away = self.start_byte - whole.start_byte
        if self.itemsize != whole.itemsize or here == there:
            return gettext("a view of {name}", name=name)
        if not away and sorted(here) == sorted(there):
            if sum(a != b for a, b in zip(here, there, strict=True)) == 2:
                return gettext("{name} transposed", name=name)
            return gettext("{name} with its dimensions in another order", name=name)
        if (
            not away
            and self.elements_per_cell() > 1
            and [a for a in here if a[1]] == [a for a in there if a[0] > 1]
        ):
            return gettext("{name} expanded", name=name)
        for d, (size, step) in enumerate(there):
            first, odd = divmod(away, step * self.itemsize or 1)
            if odd or not step or not 0 <= first < size:
                continue
            if here == there[:d] + there[d + 1 :]:
                return f"{name}[{':, ' * d}{first}]"
            last = first + (here[d][0] if d < len(here) else 0)
            if last <= size and here == [*there[:d], (last - first, step), *there[d + 1 :]]:
                return f"{name}[{':, ' * d}{first}:{last}]"
        return gettext("a view of {name}", name=name)

    def _axes(self) -> list[tuple[int, int]]:
        """Size and stride of each dimension."""
        return list(zip(self.shape or (), self.stride or (), strict=False))


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
    arrays: tuple[str, ...] = ()
    """The NumPy arrays that see this memory, too."""
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
    "live" says that no write was counted; whether there was none is what `kept` says.
    """

    name: str
    state: str
    tensor: str | None = None
    saved_version: int | None = None
    version: int | None = None
    value: Any = None
    used: bool = True
    """False for what backward does not read: the running statistics of a BatchNorm in training."""
    bytes_now: tuple[str, int] | None = field(default=None, compare=False, repr=False)
    """Its geometry and a checksum of its bytes; None where they were not read."""
    bytes_then: tuple[str, int] | None = field(default=None, compare=False, repr=False)
    """The same at the first of the looks that `since` leads back to; None where it was not yet there."""
    not_read: str = field(default="", compare=False, repr=False)
    """Why its bytes were not read."""

    @property
    def bytes_unchanged(self) -> bool | None:
        """Whether its bytes are those of the first look at it; None where that could not be compared."""
        now, then = self.bytes_now, self.bytes_then
        return None if now is None or then is None or now[0] != then[0] else now == then


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the autograd graph."""

    id: str
    name: str
    edges: tuple[str | None, ...]
    """Its next_functions, in order; None where no gradient is needed."""
    saved: tuple[Saved, ...]
    variable: str | None
    """The leaf whose .grad this node (an AccumulateGrad) adds to."""
    tensors: tuple[str, ...]
    """The known tensors that have this node as their grad_fn."""
    cut: bool = False
    """True where the reader stopped here because the graph is too large."""
    module: str | None = None
    """The path of the module whose forward made it ("layers.3.attn"); None where that was not noted, see `modules`."""
    doubts: tuple[str, ...] = ()
    """Why it is not known what the node will do in backward."""
    key: Key = field(default=None, compare=False, repr=False)

    @property
    def ends(self) -> list[str]:
        """The nodes that its edges go to."""
        return [edge for edge in self.edges if edge is not None]


@dataclass(frozen=True)
class Snapshot:
    """What is known about some tensors at one moment. See `snapshot()`."""

    names: tuple[tuple[str, str], ...]
    """(name, tensor id) in the order in which they were given."""
    tensors: tuple[Tensor, ...]
    storages: tuple[Storage, ...]
    counters: tuple[Counter, ...]
    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    """The NumPy arrays that were given and see no memory of a tensor that is shown."""
    doubts: tuple[str, ...] = ()
    """Why it is not known what backward will do, for all nodes alike: hooks, and modes that hold."""
    last_ids: tuple[int, int, int] = field(default=(0, 0, 0), compare=False, repr=False)
    """The highest number given so far to a tensor, a storage and a counter."""

    def __repr__(self) -> str:
        if not self.names:
            return "<snapshot>"
        tensors, storages = self.counts
        said = gettext(
            "snapshot of {names}: {tensors} in {storages}",
            names=self.title,
            tensors=tensors,
            storages=storages,
        )
        return format_repr(said)

    @property
    def title(self) -> str:
        """The names of what is shown, the first of many."""
        return cut_middle(join_few_names(escape_name(name) for name, _ in self.names), 50)

    @property
    def counts(self) -> tuple[str, str]:
        """How many tensors and storages a reader can reach, each in words."""
        loose = {tensor.id for tensor in self.named if tensor.storage is None}
        return (
            ngettext("{number} tensor", "{number} tensors", len(self.shown | loose)),
            ngettext("{number} storage", "{number} storages", len(self.shown_storages)),
        )

    @cached_property
    def _records(self) -> dict[str, Any]:
        everything = (*self.tensors, *self.storages, *self.counters, *self.nodes)
        return {record.id: record for record in everything}

    def tensor(self, which: str) -> Tensor:
        """The tensor with this id or else this name; KeyError if there is none."""
        found = self._records.get(which)
        if not isinstance(found, Tensor):
            found = self._records[dict(self.names)[which]]
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

    # -- questions about two tensors: each takes their records, ids or names ------------

    def _record_of(self, tensor: Tensor | str) -> Tensor:
        return self.tensor(tensor) if isinstance(tensor, str) else tensor

    def is_same_tensor(self, a: Tensor | str, b: Tensor | str) -> bool:
        """Return True if `a` and `b` are one tensor object (`a is b`)."""
        return self._record_of(a).id == self._record_of(b).id

    def shares_storage(self, a: Tensor | str, b: Tensor | str) -> bool:
        """Return True if both are views of one storage; False for a tensor without a storage."""
        storage = self._record_of(a).storage
        # Two sparse or nested tensors have None here, and nothing in common.
        return storage is not None and storage == self._record_of(b).storage

    def shares_counter(self, a: Tensor | str, b: Tensor | str) -> bool:
        """Return True if both have one version counter; False for inference tensors, without one."""
        counter = self._record_of(a).counter
        return counter is not None and counter == self._record_of(b).counter

    def shares_cells(self, a: Tensor | str, b: Tensor | str) -> bool:
        """Return True if a write to one can be seen in the other: some byte belongs to both.

        Two rows of one matrix share its storage, but no cells.
        """
        first, second = self._record_of(a), self._record_of(b)
        if not self.shares_storage(first, second) or not first.overlaps(second):
            return False
        return not first.bytes_in_storage().isdisjoint(second.bytes_in_storage())

    def nodes_behind(self, *tensors: Tensor | str) -> list[Node]:
        """Return the nodes that backward on these tensors would visit, their own grad_fn first."""
        roots = (self._record_of(tensor).grad_fn for tensor in tensors)
        order = dict.fromkeys(root for root in roots if root)
        waiting = list(order)
        while waiting:
            for node_id in self.node(waiting.pop()).ends:
                if node_id not in order:
                    order[node_id] = None
                    waiting.append(node_id)
        return [self.node(node_id) for node_id in order]

    def leads_to(self, result: Tensor | str, source: Tensor | str) -> bool:
        """Return True if backward on `result` would visit the grad_fn or leaf that `source` is.

        A tensor does not lead to itself.
        """
        start, end = self._record_of(result), self._record_of(source)
        return start.id != end.id and any(
            node.id == end.grad_fn or node.variable == end.id for node in self.nodes_behind(start)
        )

    def values(self, tensor: Tensor, most: int) -> list[Any] | None:
        """The values of a tensor in its order; None unless all were read, and for one of more than `most` elements."""
        if tensor.storage is None or tensor.stride is None or tensor.numel > most:
            return None
        storage, found = self.storage(tensor.storage), []
        for _, byte in tensor.elements(most):
            cell, odd = divmod(byte, storage.itemsize)
            known, value = storage.value(cell)
            if odd or not known or storage.dtype != tensor.dtype:
                return None
            found.append(value)
        return found

    def first_name(self, tensor: Tensor) -> str:
        """The first name of a tensor, or `x.grad`; empty if it has neither."""
        if tensor.names:
            return tensor.names[0]
        names = () if tensor.grad_of is None else self.tensor(tensor.grad_of).names
        return f"{names[0]}.grad" if names else ""

    def label(self, which: str) -> str:
        """What to call a tensor: its names, `x.grad`, what it is of a named one (`w transposed`), or `T7 (no name)`."""
        tensor = self.tensor(which)
        if tensor.names:
            return " = ".join(escape_name(name) for name in tensor.names)
        if tensor.grad_of is not None:
            return (
                self.grad_label(tensor.grad_of)
                if self.tensor(tensor.grad_of).names
                else gettext("{tensor}, a gradient", tensor=tensor.id)
            )
        return self._part_of_another(tensor) or gettext("{tensor} (no name)", tensor=tensor.id)

    def _part_of_another(self, tensor: Tensor) -> str:
        """A tensor without a name by the name of one that it is a view of, or shares the memory of; empty if of none."""
        if tensor.storage is None:
            return ""
        beside = map(self.tensor, self.storage(tensor.storage).tensors)
        others = [one for one in beside if self.first_name(one) and one.overlaps(tensor)]
        if not others:
            return ""
        whole = min(
            others,
            key=lambda one: (one.counter != tensor.counter, one.id != tensor.base, -one.numel),
        )
        name = escape_name(self.first_name(whole))
        if tensor.counter is None or whole.counter != tensor.counter:
            return gettext("the memory of {name}", name=name)
        return tensor.as_part(whole, name)

    def grad_label(self, which: str) -> str:
        """What to call the gradient of a tensor: by the first of its names."""
        tensor = self.tensor(which)
        if not tensor.names and self._part_of_another(tensor):
            return gettext("the .grad of {tensor}", tensor=self.label(which))
        return f"{escape_name(tensor.names[0]) if tensor.names else self.label(which)}.grad"

    def grad_labels(self, leaves: Sequence[str]) -> list[str]:
        """What to call the gradients of several tensors; many that have no name are counted, with their shapes."""
        nameless = [leaf for leaf in leaves if not self.tensor(leaf).names]
        if len(nameless) <= MANY:
            return [self.grad_label(leaf) for leaf in leaves]
        told = ngettext(
            "the .grad of {number} leaf without a name, of shape {shapes}",
            "the .grad of {number} leaves without a name, of shapes {shapes}",
            len(nameless),
            shapes=join_few_names(format_shape(self.tensor(leaf).shape) for leaf in nameless),
        )
        return [*(self.grad_label(leaf) for leaf in leaves if self.tensor(leaf).names), told]

    def shows_counter(self, tensor: Tensor) -> bool:
        """Whether the tensor's version counter is worth showing.

        A gradient that has no name of its own is hardly ever saved by a node, and how often the engine added to it in
        place depends on who else held it at that moment: its counter would only distract.
        """
        sharing = self.counter(tensor.counter).tensors if tensor.counter else (tensor.id,)
        return tensor.role != "grad" or any(self.tensor(tid).role != "grad" for tid in sharing)

    @cached_property
    def named(self) -> tuple[Tensor, ...]:
        """The tensors that have a name, in the order of the first of their names."""
        return tuple(self.tensor(tid) for tid in dict.fromkeys(tid for _, tid in self.names))

    @cached_property
    def shown_storages(self) -> list[tuple[Storage, list[Tensor]]]:
        """The storages that a reader can reach by a name or a .grad, with those tensors, sharers side by side."""
        named = {tid for _, tid in self.names}
        found = []
        for storage in self.storages:
            members = [
                one for one in map(self.tensor, storage.tensors) if self._reachable(one, named)
            ]
            if members:
                order = {one.counter: k for k, one in reversed(list(enumerate(members)))}
                found.append((storage, sorted(members, key=lambda one: order[one.counter])))
        return found

    @cached_property
    def shown(self) -> frozenset[str]:
        """The tensors in those storages."""
        return frozenset(one.id for _, members in self.shown_storages for one in members)

    def _reachable(self, tensor: Tensor, named: set[str]) -> bool:
        if tensor.role != "grad":
            return tensor.id in named
        while tensor.grad_of is not None and tensor.id not in named:
            tensor = self.tensor(tensor.grad_of)
        return tensor.id in named
