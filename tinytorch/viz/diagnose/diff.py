"""What differs between two snapshots of a running program, for pictures, words and widgets alike.

Records are matched by identity, not by name: a name may refer to another tensor than before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..read import NodeRecord, SavedRecord, Snapshot, TensorRecord
from ..wording import join_attribute

MAX_COMPARED_VALUES = 4096
"""The values of larger gradients are not compared one by one."""
_ATTRIBUTES = ("requires_grad", "shape", "grad_fn_name", "stride", "dtype")
"""Attributes of a tensor's record that may change in the life of a tensor."""

Attributes = dict[str, tuple[Any, Any]]
"""Name of an attribute -> (earlier, now)."""


@dataclass(frozen=True)
class Changes:
    """What changed from `since` to `now`, by the ids of `now`.

    Without an earlier snapshot nothing counts as changed.
    """

    now: Snapshot
    since: Snapshot | None = None
    earlier_tensors: dict[str, TensorRecord] = field(default_factory=dict)
    """Tensor id -> the earlier record of a tensor that was already there."""
    new_tensors: frozenset[str] = frozenset()
    """Tensors that were not there."""
    gone_names: tuple[str, ...] = ()
    """Names that are no longer there."""
    rebound_names: frozenset[str] = frozenset()
    """Names that refer to another tensor than before."""
    added_names: frozenset[str] = frozenset()
    """Names that are new for a tensor that was already there."""
    earlier_cells: dict[str, dict[int, object]] = field(default_factory=dict)
    """Storage id -> cell -> the value that it had."""
    written_elsewhere: frozenset[str] = frozenset()
    """Storages with other values than before, though no cell that was read both times has another."""
    earlier_versions: dict[str, int] = field(default_factory=dict)
    """Tensor id -> the version that it had."""
    attribute_changes: dict[str, Attributes] = field(default_factory=dict)
    """Tensor id -> what else changed in it; see `_compare_attributes`."""
    new_nodes: frozenset[str] = frozenset()
    """Graph nodes that were not there."""
    lost_node_count: int = 0
    """Number of earlier nodes that are no longer reached."""
    earlier_saved: dict[tuple[str, int], SavedRecord] = field(default_factory=dict)
    """(node id, index in its `saved`) -> the earlier record, where the state changed."""

    @property
    def earlier_names(self) -> dict[str, str]:
        """The names of the earlier snapshot, with the ids that their tensors had in it."""
        if self.since is None:
            return {}
        return dict(self.since.names)

    def earlier_version_of(self, counter: str | None) -> int | None:
        """Return the version that a counter had; None if it has not changed, or is not known."""
        sharers = self.now.counter(counter).tensors if counter and self.earlier_versions else ()
        for tensor_id in sharers:
            if tensor_id in self.earlier_versions:
                return self.earlier_versions[tensor_id]
        return None

    def find_saves_that_became(self, state: str) -> list[tuple[NodeRecord, SavedRecord]]:
        """Return what has come to a state ("freed", "stale") since, with the node that saved it."""
        found = []
        for node in self.now.nodes:
            for index, saved in enumerate(node.saved):
                earlier = self.earlier_saved.get((node.id, index), saved)
                is_new = node.id in self.new_nodes or earlier.state != state
                if saved.state == state and is_new:
                    found.append((node, saved))
        return found


def compare_snapshots(now: Snapshot, since: Snapshot | None) -> Changes:
    """Find what changed; without an earlier snapshot nothing counts as changed.

    What is found may be kept as long as a picture is: it has no weak reference to a tensor.
    """
    now = now.without_identities()
    if since is None:
        return Changes(now)
    since = since.without_identities()
    earlier_by_key = {tensor.key: tensor for tensor in since.tensors}
    earlier_tensors: dict[str, TensorRecord] = {}
    new_tensors: set[str] = set()
    for tensor in now.tensors:
        # What is only known as saved is a new object in each snapshot: that it is there is no
        # change.
        if tensor.role == "saved":
            continue
        if tensor.key in earlier_by_key:
            earlier_tensors[tensor.id] = earlier_by_key[tensor.key]
        else:
            new_tensors.add(tensor.id)
    earlier_keys = {name: since.tensor(tensor_id).key for name, tensor_id in since.names}
    keys = {name: now.tensor(tensor_id).key for name, tensor_id in now.names}
    rebound_names: set[str] = set()
    added_names: set[str] = set()
    for name, key in keys.items():
        if name in earlier_keys and earlier_keys[name] != key:
            rebound_names.add(name)
        # A name of something new is news by itself.
        elif name not in earlier_keys and key in earlier_by_key:
            added_names.add(name)
    graph = _compare_graphs(now, since)
    earlier_cells = _find_changed_cells(now, since)
    return Changes(
        now=now,
        since=since,
        earlier_tensors=earlier_tensors,
        new_tensors=frozenset(new_tensors),
        gone_names=tuple(name for name in earlier_keys if name not in keys),
        rebound_names=frozenset(rebound_names),
        added_names=frozenset(added_names),
        earlier_cells=earlier_cells,
        written_elsewhere=frozenset(_find_written_elsewhere(now, since, earlier_cells)),
        earlier_versions=_find_changed_versions(now, earlier_tensors),
        attribute_changes=_find_changed_attributes(now, since, earlier_tensors),
        new_nodes=graph.new_nodes,
        lost_node_count=graph.lost_node_count,
        earlier_saved=graph.earlier_saved,
    )


def list_written_names(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the names in `before` of tensors that were written until `after`.

    With them `x.grad`, if that gradient came, went or changed.
    """
    changes = compare_snapshots(after, before)
    id_now = {earlier.id: tensor_id for tensor_id, earlier in changes.earlier_tensors.items()}
    names = []
    for tensor in before.tensors:
        tensor_id, name = id_now.get(tensor.id), before.first_name(tensor)
        if tensor_id is None or not name:
            continue
        attributes = changes.attribute_changes.get(tensor_id, {})
        if "grad" in attributes:
            names.append(join_attribute(name, "grad"))
        # A tensor that was given another storage (`x.data = y`) was not written to.
        record = after.tensor(tensor_id)
        # A checksum says that some cell of the storage has changed, and not which: it needs a
        # tensor that shows all of them.
        has_changed_cells = "storage" not in attributes and (
            record.storage in changes.earlier_cells
            or (record.storage in changes.written_elsewhere and after.shows_all_cells(record))
        )
        if tensor_id in changes.earlier_versions or has_changed_cells:
            names.append(name)
    return names


# -- tensors -----------------------------------------------------------------------------


def _find_changed_versions(
    now: Snapshot, earlier_tensors: Mapping[str, TensorRecord]
) -> dict[str, int]:
    """Return tensor id -> the version that it had, where it has another now."""
    versions = {}
    for tensor_id, earlier in earlier_tensors.items():
        version = now.tensor(tensor_id).version
        # Inference tensors have None.
        if version is not None and earlier.version is not None and version != earlier.version:
            versions[tensor_id] = earlier.version
    return versions


def _find_changed_attributes(
    now: Snapshot, since: Snapshot, earlier_tensors: Mapping[str, TensorRecord]
) -> dict[str, Attributes]:
    """Return tensor id -> what else changed in it; nothing for a tensor that is as it was."""
    changes = {}
    for tensor_id, earlier in earlier_tensors.items():
        attributes = _compare_attributes(now, now.tensor(tensor_id), since, earlier)
        if attributes:
            changes[tensor_id] = attributes
    return changes


def _compare_attributes(
    now: Snapshot, tensor: TensorRecord, since: Snapshot, earlier: TensorRecord
) -> Attributes:
    """Return what changed in a tensor.

    Besides attributes of the record: `storage` for another storage, `grad` for a .grad that came or
    went, `values` for one that has other values, `node` for another grad_fn of the same kind.
    """
    changes: Attributes = {}
    for name in _ATTRIBUTES:
        pair = getattr(earlier, name), getattr(tensor, name)
        if pair[0] != pair[1]:
            changes[name] = pair
    if "shape" in changes:
        # Another shape has other strides as a matter of course.
        changes.pop("stride", None)
    if (earlier.grad is None) != (tensor.grad is None):
        changes["grad"] = (earlier.grad, tensor.grad)
    if earlier.storage and tensor.storage:
        keys = since.storage(earlier.storage).key, now.storage(tensor.storage).key
        if keys[0] != keys[1]:
            changes["storage"] = (earlier.storage, tensor.storage)
    # Another node of the same name: computed again, as in the next round of a loop.
    if tensor.grad_fn and earlier.grad_fn and tensor.grad_fn_name == earlier.grad_fn_name:
        nodes = since.node(earlier.grad_fn).key, now.node(tensor.grad_fn).key
        if nodes[0] != nodes[1]:
            changes["node"] = nodes
    if earlier.grad and tensor.grad:
        grads = since.tensor(earlier.grad), now.tensor(tensor.grad)
        if _has_other_values(since, grads[0], now, grads[1]):
            changes["values"] = (earlier.grad, tensor.grad)
    return changes


def _has_other_values(
    since: Snapshot, earlier: TensorRecord, now: Snapshot, tensor: TensorRecord
) -> bool:
    values = now.values(tensor, MAX_COMPARED_VALUES)
    earlier_values = since.values(earlier, MAX_COMPARED_VALUES)
    if values is None or earlier_values is None:
        # Not read: another object or another version is all that can be seen.
        return (tensor.key, tensor.version) != (earlier.key, earlier.version)
    # Compared as printed: nan is not equal to nan, and 0.0 equals -0.0.
    return repr(values) != repr(earlier_values)


# -- cells -------------------------------------------------------------------------------


def _find_changed_cells(now: Snapshot, since: Snapshot) -> dict[str, dict[int, object]]:
    """Return storage id -> cell -> the value that it had, of cells that were read both times."""
    earlier_by_key = {storage.key: storage for storage in since.storages}
    changed: dict[str, dict[int, object]] = {}
    for storage in now.storages:
        earlier = earlier_by_key.get(storage.key)
        # Under another dtype or size the same number of a cell means other bytes.
        if earlier is None or earlier.dtype != storage.dtype or earlier.nbytes != storage.nbytes:
            continue
        for run in storage.runs:
            for cell, value in enumerate(run.values, run.start):
                was_read, earlier_value = earlier.value(cell)
                # Compared as printed: nan is not equal to nan, and 0.0 equals -0.0.
                if was_read and repr(earlier_value) != repr(value):
                    changed.setdefault(storage.id, {})[cell] = earlier_value
    return changed


def _find_written_elsewhere(
    now: Snapshot, since: Snapshot, earlier_cells: Mapping[str, object]
) -> Iterator[str]:
    """Yield the storages whose checksums differ, and of whose cells none is known to have changed."""
    earlier_by_key = {storage.key: storage for storage in since.storages}
    for storage in now.storages:
        earlier = earlier_by_key.get(storage.key)
        if earlier is None or storage.id in earlier_cells or storage.dtype != earlier.dtype:
            continue
        checksums = (earlier.checksum, storage.checksum)
        if None not in checksums and checksums[0] != checksums[1]:
            yield storage.id


# -- the graph ---------------------------------------------------------------------------


class _GraphChanges(NamedTuple):
    """The part of `Changes` that is about nodes."""

    new_nodes: frozenset[str]
    """Ids of nodes that were not there."""
    lost_node_count: int
    """Number of earlier nodes that are no longer reached."""
    earlier_saved: dict[tuple[str, int], SavedRecord]
    """(node id, index in its `saved`) -> the earlier record, where the state changed."""


def _compare_graphs(now: Snapshot, since: Snapshot) -> _GraphChanges:
    # By key: ids of nodes count from 1 in each snapshot.
    earlier_by_key = {node.key: node for node in since.nodes}
    # A graph that was read in part: nodes beyond the part are not new if they were made before all
    # that was read.
    was_read_in_part = any(node.is_reader_stopped for node in since.nodes)
    newest = 0
    if was_read_in_part:
        newest = max((_sequence_number(node) for node in since.nodes), default=0)
    new_nodes: set[str] = set()
    earlier_saved: dict[tuple[str, int], SavedRecord] = {}
    for node in now.nodes:
        earlier = earlier_by_key.pop(node.key, None)
        if earlier is None:
            if not was_read_in_part or _sequence_number(node) > newest:
                new_nodes.add(node.id)
            continue
        for index, saved in enumerate(node.saved):
            earlier_record = _find_changed_record(saved, earlier)
            if earlier_record is not None:
                earlier_saved[node.id, index] = earlier_record
    # Of a graph that was read in part, the others may still be there.
    is_read_in_part = any(node.is_reader_stopped for node in now.nodes)
    lost_node_count = 0 if is_read_in_part else len(earlier_by_key)
    return _GraphChanges(frozenset(new_nodes), lost_node_count, earlier_saved)


def _sequence_number(node: NodeRecord) -> int:
    """Return the engine's number of a node; 0 for the node of a leaf, whose key has none."""
    if node.key[0] == "node":
        return int(node.key[2])
    return 0


def _find_changed_record(saved: SavedRecord, earlier_node: NodeRecord) -> SavedRecord | None:
    """Return the earlier record of something saved; None if its state is the same."""
    earlier = None
    prefix = saved.name.partition("[")[0]
    for record in earlier_node.saved:
        if record.name == saved.name:
            earlier = record
            break
        # The tensors of a custom Function are records of their own (tensors[0], tensors[1]) while
        # they can be read, and one record (tensors) after that.
        if earlier is None and record.name.partition("[")[0] == prefix:
            earlier = record
    if earlier is None or (earlier.state, earlier.version) == (saved.state, saved.version):
        return None
    return earlier
