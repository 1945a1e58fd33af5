"""The snapshot: all records of one moment, and the questions that pictures and widgets ask of them.

Each question is answered here and nowhere else, so that a picture, its text, a check of an exercise
and a prediction cannot differ in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from ..wording import (
    cut_middle,
    escape_name,
    format_repr,
    format_shape,
    gettext,
    join_attribute,
    join_few_names,
    ngettext,
    parenthesize_name,
    write_expression,
)
from .identity import ObjectIdentity
from .overlaps import share_bytes
from .records import Counter, NodeRecord, OverlapIndex, StorageRecord, TensorRecord
from .view_labels import describe_view

MAX_UNNAMED_LEAVES = 3
"""More leaves without a name than this are counted instead of listed."""


class LastIds(NamedTuple):
    """The highest numbers given so far, which a later snapshot goes on from."""

    tensor: int = 0
    """27 for T27."""
    storage: int = 0
    """That of a storage."""
    counter: int = 0
    """That of a version counter."""


class _StorageCell(NamedTuple):
    """One cell of a storage, by its number, as a view with itemsize, shape and stride."""

    number: int
    itemsize: int
    shape: tuple[int, ...] = (1,)
    stride: tuple[int, ...] = (1,)

    @property
    def start_byte(self) -> int:
        return self.number * self.itemsize


@dataclass(frozen=True)
class Snapshot:
    """All that is known about some tensors at one moment. See `snapshot()`.

    Public: the fields and what `tensor`, `storage`, `counter`, `node`, `label` and `values` return.
    """

    names: tuple[tuple[str, str], ...]
    """(name, tensor id) in the order in which they were given."""
    tensors: tuple[TensorRecord, ...]
    """All that were found: given, in the graph, as .grad, saved."""
    storages: tuple[StorageRecord, ...]
    """The memory under them."""
    counters: tuple[Counter, ...]
    """Their version counters."""
    nodes: tuple[NodeRecord, ...]
    """The graph behind them, in order of first sight."""
    notes: tuple[str, ...] = ()
    """What was not read, as a graph that is too large."""
    arrays: tuple[str, ...] = ()
    """NumPy arrays that were given and share no memory with a tensor that is shown."""
    doubts: tuple[str, ...] = ()
    """Why no backward can be foretold, whatever its graph: hooks, and modes that are on."""
    last_ids: LastIds = field(default=LastIds(), compare=False, repr=False)
    """So that ids are not used again in later snapshots."""
    identities: tuple[ObjectIdentity, ...] = field(default=(), compare=False, repr=False)
    """What makes the keys of its records mean the same objects in a later snapshot."""

    def __repr__(self) -> str:
        if not self.names:
            return "<snapshot>"
        tensors, storages = self.counts
        sentence = gettext(
            "snapshot of {names}: {tensors} in {storages}",
            names=self.title,
            tensors=tensors,
            storages=storages,
        )
        return format_repr(sentence)

    def without_identities(self) -> Snapshot:
        """Return this snapshot without weak references, which can be drawn but not compared again.

        torch refuses to swap tensors that have one, so a picture, which a notebook may keep for
        ever, holds none.
        """
        return replace(self, identities=())

    @property
    def title(self) -> str:
        """The names of the tensors, the first few of many."""
        return cut_middle(join_few_names(escape_name(name) for name, _ in self.names), 50)

    @property
    def counts(self) -> tuple[str, str]:
        """The numbers of tensors and storages that a reader can reach, each in words."""
        without_storage = {tensor.id for tensor in self.named_tensors if tensor.storage is None}
        return (
            ngettext(
                "{number} tensor", "{number} tensors", len(self.shown_tensor_ids | without_storage)
            ),
            ngettext("{number} storage", "{number} storages", len(self.shown_storages)),
        )

    # -- records by id -----------------------------------------------------------------

    @cached_property
    def _record_by_id(self) -> dict[str, Any]:
        records = (*self.tensors, *self.storages, *self.counters, *self.nodes)
        return {record.id: record for record in records}

    @cached_property
    def _id_by_name(self) -> dict[str, str]:
        return dict(self.names)

    def tensor(self, id_or_name: str) -> TensorRecord:
        """Return the tensor with this id, or else this name; KeyError if there is none."""
        record: TensorRecord | None = self._record_by_id.get(id_or_name)
        # A variable may be called S1, which is also the id of a storage.
        if not isinstance(record, TensorRecord):
            record = self._record_by_id[self._id_by_name[id_or_name]]
        return record

    def storage(self, storage_id: str) -> StorageRecord:
        """Return the storage with this id; KeyError if there is none."""
        record: StorageRecord = self._record_by_id[storage_id]
        return record

    def counter(self, counter_id: str) -> Counter:
        """Return the version counter with this id; KeyError if there is none."""
        record: Counter = self._record_by_id[counter_id]
        return record

    def node(self, node_id: str) -> NodeRecord:
        """Return the graph node with this id; KeyError if there is none."""
        record: NodeRecord = self._record_by_id[node_id]
        return record

    def leaf_of(self, node: NodeRecord) -> TensorRecord | None:
        """Return the leaf of an AccumulateGrad; None for any other node."""
        if node.variable is None:
            return None
        return self.tensor(node.variable)

    # -- questions about two tensors: each takes their records, ids or names ---------------

    def _record_of(self, tensor: TensorRecord | str) -> TensorRecord:
        if isinstance(tensor, str):
            return self.tensor(tensor)
        return tensor

    def is_same_tensor(self, a: TensorRecord | str, b: TensorRecord | str) -> bool:
        """Return True if `a` and `b` are one tensor object (`a is b`)."""
        return self._record_of(a).id == self._record_of(b).id

    def shares_storage(self, a: TensorRecord | str, b: TensorRecord | str) -> bool:
        """Return True if both are views of one storage; False for a tensor without a storage."""
        storage = self._record_of(a).storage
        # Two sparse or nested tensors have None here, and nothing in common.
        return storage is not None and storage == self._record_of(b).storage

    def shares_counter(self, a: TensorRecord | str, b: TensorRecord | str) -> bool:
        """Return True if both have one version counter; False for inference tensors."""
        counter = self._record_of(a).counter
        return counter is not None and counter == self._record_of(b).counter

    def shares_cells(self, a: TensorRecord | str, b: TensorRecord | str) -> bool:
        """Return True if a write to one can be seen in the other: some byte belongs to both.

        Two rows of one matrix share its storage, but no cells.
        """
        first, second = self._record_of(a), self._record_of(b)
        return self.shares_storage(first, second) and share_bytes(first, second)

    def shows_cell(self, tensor: TensorRecord | str, cell: int) -> bool:
        """Return True if some byte of a cell of its storage belongs to a tensor."""
        record = self._record_of(tensor)
        if record.storage is None:
            return False
        return share_bytes(record, _StorageCell(cell, self.storage(record.storage).itemsize))

    def shows_all_cells(self, tensor: TensorRecord | str) -> bool:
        """Return True if a tensor shows each cell of its storage, and so any write to it."""
        record = self._record_of(tensor)
        return record.storage is not None and record.fills(self.storage(record.storage).nbytes)

    def leads_to(self, result: TensorRecord | str, source: TensorRecord | str) -> bool:
        """Return True if backward on `result` would come to `source`.

        That is, to its grad_fn, or to the AccumulateGrad of a leaf. A tensor does not lead to
        itself.
        """
        start, end = self._record_of(result), self._record_of(source)
        return start.id != end.id and any(
            node.id == end.grad_fn or node.variable == end.id for node in self.nodes_behind(start)
        )

    # -- questions about one tensor ------------------------------------------------------

    def nodes_behind(self, *tensors: TensorRecord | str) -> list[NodeRecord]:
        """Return the nodes that backward on these tensors would visit, their own grad_fn first."""
        return self._follow_edges(self._record_of(tensor).grad_fn for tensor in tensors)

    def nodes_from(self, node_id: str) -> list[NodeRecord]:
        """Return a node and all that its edges lead to."""
        return self._follow_edges([node_id])

    def nodes_reached_by_edges(self, *tensors: TensorRecord | str) -> list[NodeRecord]:
        """Return the nodes behind some tensors to which an edge of another one of them leads.

        With `y = x.exp()` and `z = y.sum()`, `nodes_behind("y", "z")` has the grad_fn of both;
        here that of `z` is left out, and that of `y` is not: an edge of `z.grad_fn` leads to it.
        """
        roots = [self._record_of(tensor).grad_fn for tensor in tensors]
        ends_of_roots = [self.node(root).ends for root in roots if root]
        return self._follow_edges(chain.from_iterable(ends_of_roots))

    def _follow_edges(self, node_ids: Iterable[str | None]) -> list[NodeRecord]:
        """Return nodes and all that their edges lead to, each once, however many lead to it."""
        order = dict.fromkeys(node_id for node_id in node_ids if node_id)
        # Not by recursion: a graph may be deeper than the stack of Python.
        stack = list(order)
        while stack:
            for node_id in self.node(stack.pop()).edges:
                if node_id is not None and node_id not in order:
                    order[node_id] = None
                    stack.append(node_id)
        return [self.node(node_id) for node_id in order]

    def counter_sharers(self, tensor: TensorRecord | str | None) -> list[TensorRecord]:
        """Return the tensors that share a tensor's version counter, itself among them; none for None."""
        if tensor is None:
            return []
        counter = self._record_of(tensor).counter
        members = () if counter is None else self.counter(counter).tensors
        return [self.tensor(tensor_id) for tensor_id in members]

    def storage_sharers(self, tensor: TensorRecord | str | None) -> list[TensorRecord]:
        """Return the tensors over a tensor's storage, itself among them; none for None, or without one."""
        if tensor is None:
            return []
        storage = self._record_of(tensor).storage
        members = () if storage is None else self.storage(storage).tensors
        return [self.tensor(tensor_id) for tensor_id in members]

    def values(self, tensor: TensorRecord, most: int) -> list[Any] | None:
        """Return the values of a tensor in row-major order.

        None unless all were read, and for a tensor of more than `most` elements.
        """
        if tensor.storage is None or tensor.stride is None or tensor.numel > most:
            return None
        storage = self.storage(tensor.storage)
        values = []
        for _, byte in tensor.elements(most):
            cell, byte_in_cell = divmod(byte, storage.itemsize)
            was_read, value = storage.value(cell)
            # The cells of a storage have the dtype of its first tensor: view(dtype) sees others.
            if byte_in_cell or not was_read or storage.dtype != tensor.dtype:
                return None
            values.append(value)
        return values

    def shows_counter(self, tensor: TensorRecord) -> bool:
        """Return True if the tensor's version counter is worth showing.

        A gradient that has no name of its own is hardly ever saved by a node, and how often the
        engine added to it in place depends on who else referred to it at that moment: its counter
        would only distract.
        """
        sharers = self.counter_sharers(tensor) or [tensor]
        return tensor.role != "grad" or any(sharer.role != "grad" for sharer in sharers)

    # -- what to call a tensor -------------------------------------------------------------

    def first_name(self, tensor: TensorRecord) -> str:
        """Return the first name of a tensor, or `x.grad`; empty if it has neither."""
        if tensor.names:
            return tensor.names[0]
        names = () if tensor.grad_of is None else self.tensor(tensor.grad_of).names
        if not names:
            return ""
        return join_attribute(names[0], "grad")

    def find_expression(self, id_or_name: str) -> str:
        """Return what a program can write for a tensor, before `.backward()`; empty if that is nothing.

        By the first of its names that is code, or as `x.grad`.
        """
        tensor = self.tensor(id_or_name)
        if tensor.names:
            return next(filter(None, map(write_expression, tensor.names)), "")
        owner = "" if tensor.grad_of is None else self.find_expression(tensor.grad_of)
        if not owner:
            return ""
        return f"{owner}.grad"

    def label(self, id_or_name: str) -> str:
        """Return what to call a tensor: as `find_label` does, or `T7 (no name)`."""
        tensor = self.tensor(id_or_name)
        return self.find_label(id_or_name) or gettext("{tensor} (no name)", tensor=tensor.id)

    def find_label(self, id_or_name: str) -> str:
        """Return what the program may call a tensor; empty if that is nothing.

        Its names (`a = b`), `x.grad`, or its relation to a named one (`w transposed`).
        """
        tensor = self.tensor(id_or_name)
        if tensor.names:
            return " = ".join(escape_name(name) for name in tensor.names)
        if tensor.grad_of is not None:
            if self.tensor(tensor.grad_of).names:
                return self.grad_label(tensor.grad_of)
            return gettext("{tensor}, a gradient", tensor=tensor.id)
        return self._label_by_sharer(tensor)

    def _label_by_sharer(self, tensor: TensorRecord) -> str:
        """Name a tensor by one that it shares memory with; empty if there is none."""
        named = self._named_by_storage.get(tensor.storage or "")
        sharers = [] if named is None else named.find_overlapping(tensor)
        if not sharers:
            return ""
        # One with the same counter first, which is a view to autograd; of these the base, then the
        # largest.
        whole = min(
            sharers,
            key=lambda sharer: (
                sharer.counter != tensor.counter,
                sharer.id != tensor.base,
                -sharer.numel,
            ),
        )
        name = escape_name(parenthesize_name(self.first_name(whole)))
        # Without a counter in common (.data) it is no view to autograd.
        if not self.shares_counter(tensor, whole):
            return gettext("the memory of {name}", name=name)
        return describe_view(tensor, whole, name)

    @cached_property
    def _named_by_storage(self) -> dict[str, OverlapIndex]:
        """The tensors over each storage that have a name, or are the gradient of one that has."""
        named: dict[str, list[TensorRecord]] = {}
        # Sought once: of thousands of views without a name each is called by one of these.
        for tensor in self.tensors:
            if tensor.storage is not None and self.first_name(tensor):
                named.setdefault(tensor.storage, []).append(tensor)
        return {storage: OverlapIndex(tensors) for storage, tensors in named.items()}

    def grad_label(self, id_or_name: str) -> str:
        """Return what to call the gradient of a tensor: by the first of its names that is code."""
        return self.attribute_label(id_or_name, "grad")

    def attribute_label(self, id_or_name: str, attribute: str) -> str:
        """Return what to call an attribute of a tensor, `x.shape`: by the first name that is code."""
        tensor = self.tensor(id_or_name)
        if tensor.names:
            in_code = filter(write_expression, tensor.names)
            return join_attribute(next(in_code, tensor.names[0]), attribute)
        label = self.label(id_or_name)
        # `w transposed.grad` would be taken for code.
        if self._label_by_sharer(tensor) and not self.find_expression(id_or_name):
            return gettext("the {attribute} of {tensor}", attribute=f".{attribute}", tensor=label)
        return f"{label}.{attribute}"

    def grad_labels(self, leaves: Sequence[str]) -> list[str]:
        """Return what to call the gradients of leaves; many without a name are counted."""
        named, unnamed = [], []
        for leaf in leaves:
            if self.tensor(leaf).names:
                named.append(leaf)
            else:
                unnamed.append(leaf)
        if len(unnamed) <= MAX_UNNAMED_LEAVES:
            return list(map(self.grad_label, leaves))
        summary = ngettext(
            "the .grad of {number} leaf without a name, of shape {shapes}",
            "the .grad of {number} leaves without a name, of shapes {shapes}",
            len(unnamed),
            shapes=join_few_names(format_shape(self.tensor(leaf).shape) for leaf in unnamed),
        )
        return [*map(self.grad_label, named), summary]

    # -- what a reader can reach by a name -----------------------------------------------

    @cached_property
    def named_tensors(self) -> tuple[TensorRecord, ...]:
        """The tensors that have a name, in the order of the first of their names."""
        ids = dict.fromkeys(tensor_id for _, tensor_id in self.names)
        return tuple(map(self.tensor, ids))

    @cached_property
    def shown_storages(self) -> list[tuple[StorageRecord, list[TensorRecord]]]:
        """The storages that a name or a .grad leads to, with those tensors: also those in folds.

        Tensors that share a counter are neighbours.
        """
        reachable = []
        for storage in self.storages:
            tensors = map(self.tensor, storage.tensors)
            members = list(filter(self._is_reachable_by_name, tensors))
            if members:
                # Reversed, so that the first tensor of a counter decides where all of them are.
                order = {member.counter: k for k, member in reversed(list(enumerate(members)))}
                members.sort(key=lambda member: order[member.counter])
                reachable.append((storage, members))
        return reachable

    @cached_property
    def shown_tensor_ids(self) -> frozenset[str]:
        """The ids of the tensors in those storages."""
        shown = chain.from_iterable(members for _, members in self.shown_storages)
        return frozenset(tensor.id for tensor in shown)

    @cached_property
    def _ids_with_name(self) -> frozenset[str]:
        return frozenset(tensor_id for _, tensor_id in self.names)

    def _is_reachable_by_name(self, tensor: TensorRecord) -> bool:
        if tensor.role == "grad":
            # A gradient may have a gradient (create_graph=True): x.grad.grad.
            while tensor.grad_of is not None and tensor.id not in self._ids_with_name:
                tensor = self.tensor(tensor.grad_of)
        return tensor.id in self._ids_with_name
