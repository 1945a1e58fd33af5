"""What is different between two snapshots of a running program: found here once, for pictures, words and widgets alike.

Records are matched by identity, not by name: a name may stand for another tensor than before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..read import Node, Saved, Snapshot, Tensor

MANY = 4096
"""The values of larger gradients are not compared one by one."""
_KEPT = ("requires_grad", "shape", "grad_fn_name", "stride", "dtype")
"""What a tensor's record says of it and may say otherwise later."""


@dataclass(frozen=True)
class Changes:
    """What changed from `since` to `now`, by the ids of `now`. Without an earlier snapshot nothing counts as changed."""

    now: Snapshot
    since: Snapshot | None = None
    earlier_tensors: dict[str, Tensor] = field(default_factory=dict)
    """Tensor id -> the earlier record of a tensor that was already there."""
    new_tensors: frozenset[str] = frozenset()
    """Tensors that were not there."""
    gone_names: tuple[str, ...] = ()
    """Names that are no longer there."""
    rebound_names: frozenset[str] = frozenset()
    """Names that stand for another tensor than before."""
    added_names: frozenset[str] = frozenset()
    """Names that are new for a tensor that was already there."""
    earlier_cells: dict[str, dict[int, object]] = field(default_factory=dict)
    """Storage id -> cell -> the value that it had."""
    earlier_versions: dict[str, int] = field(default_factory=dict)
    """Tensor id -> the version that it had."""
    attribute_changes: dict[str, dict[str, tuple[Any, Any]]] = field(default_factory=dict)
    """Tensor id -> what else changed in it -> (then, now); see `_facts`."""
    new_nodes: frozenset[str] = frozenset()
    """Graph nodes that were not there."""
    lost_node_count: int = 0
    """How many of the nodes of before are no longer reached."""
    earlier_saved: dict[tuple[str, int], Saved] = field(default_factory=dict)
    """(node id, place among what it saved) -> how it stood with it."""

    def earlier_version_of(self, counter: str | None) -> int | None:
        """The version that a counter had; None if it has not changed, or is not known."""
        sharing = self.now.counter(counter).tensors if counter and self.earlier_versions else ()
        return next(
            (self.earlier_versions[tid] for tid in sharing if tid in self.earlier_versions), None
        )

    def saved_that_became(self, state: str) -> list[tuple[Node, Saved]]:
        """What nodes saved that has come to a state ("freed", "stale") since, with the node."""
        return [
            (node, saved)
            for node in self.now.nodes
            for at, saved in enumerate(node.saved)
            if saved.state == state
            and (
                node.id in self.new_nodes
                or self.earlier_saved.get((node.id, at), saved).state != state
            )
        ]


def compare_snapshots(now: Snapshot, since: Snapshot | None) -> Changes:
    """Compare two snapshots; without an earlier one nothing counts as changed."""
    if since is None:
        return Changes(now)
    before = {tensor.key: tensor for tensor in since.tensors}
    then = {
        one.id: before[one.key] for one in now.tensors if one.key in before and one.role != "saved"
    }
    key_then = {name: since.tensor(tid).key for name, tid in since.names}
    key_now = {name: now.tensor(tid).key for name, tid in now.names}
    nodes, lost, saved = _graph(now, since)
    return Changes(
        now=now,
        since=since,
        earlier_tensors=then,
        new_tensors=frozenset(
            one.id for one in now.tensors if one.key not in before and one.role != "saved"
        ),
        gone_names=tuple(name for name in key_then if name not in key_now),
        rebound_names=frozenset(
            name for name, key in key_now.items() if name in key_then and key != key_then[name]
        ),
        added_names=frozenset(
            name for name, key in key_now.items() if name not in key_then and key in before
        ),
        earlier_cells=_cells(now, since),
        earlier_versions={
            tid: old.version
            for tid, old in then.items()
            if old.version is not None and now.tensor(tid).version not in (None, old.version)
        },
        attribute_changes={
            tid: found
            for tid, old in then.items()
            if (found := _facts(now, now.tensor(tid), since, old))
        },
        new_nodes=nodes,
        lost_node_count=lost,
        earlier_saved=saved,
    )


def list_written_names(before: Snapshot, after: Snapshot) -> list[str]:
    """The names in `before` of tensors that were written until `after`, or whose gradient changed."""
    changed = compare_snapshots(after, before)
    now = {old.id: tid for tid, old in changed.earlier_tensors.items()}
    found = []
    for old in before.tensors:
        tid, name = now.get(old.id), before.first_name(old)
        if tid is None or not name:
            continue
        facts = changed.attribute_changes.get(tid, {})
        if "grad" in facts:
            found.append(f"{name}.grad")
        if tid in changed.earlier_versions or (
            "storage" not in facts and after.tensor(tid).storage in changed.earlier_cells
        ):
            found.append(name)
    return found


def _facts(
    now: Snapshot, tensor: Tensor, since: Snapshot, old: Tensor
) -> dict[str, tuple[Any, Any]]:
    """What changed in a tensor.

    `storage` is another storage, `grad` a .grad that came or went, `values` one that has other values, `node` another
    grad_fn of the same kind.
    """
    pairs = ((what, getattr(old, what), getattr(tensor, what)) for what in _KEPT)
    found = {what: (then, is_now) for what, then, is_now in pairs if then != is_now}
    if "shape" in found:
        found.pop("stride", None)
    if (old.grad is None) != (tensor.grad is None):
        found["grad"] = (old.grad, tensor.grad)
    if (
        old.storage
        and tensor.storage
        and since.storage(old.storage).key != now.storage(tensor.storage).key
    ):
        found["storage"] = (old.storage, tensor.storage)
    if tensor.grad_fn and old.grad_fn and tensor.grad_fn_name == old.grad_fn_name:
        nodes = since.node(old.grad_fn).key, now.node(tensor.grad_fn).key
        if nodes[0] != nodes[1]:
            found["node"] = nodes
    if old.grad and tensor.grad:
        grad, before = now.tensor(tensor.grad), since.tensor(old.grad)
        values, then = now.values(grad, MANY), since.values(before, MANY)
        # What was not read counts by object and version.
        pair = ((grad.key, grad.version), (before.key, before.version))
        if values is not None and then is not None:
            pair = (repr(values), repr(then))
        if pair[0] != pair[1]:
            found["values"] = (old.grad, tensor.grad)
    return found


def _graph(
    now: Snapshot, since: Snapshot
) -> tuple[frozenset[str], int, dict[tuple[str, int], Saved]]:
    """The new nodes, how many are gone, and how it stood with what the others had saved."""
    before = {node.key: node for node in since.nodes}
    cut = any(node.cut for node in since.nodes)
    # A graph that was read in part: what lies beyond is no news, and was made before all that was read.
    newest = max((key[2] for key in before if key[0] == "node"), default=0) if cut else 0
    new: set[str] = set()
    saved: dict[tuple[str, int], Saved] = {}
    for node in now.nodes:
        old = before.pop(node.key, None)
        if old is not None:
            saved |= {
                (node.id, at): then
                for at, one in enumerate(node.saved)
                if (then := _then(one, old)) is not None
            }
        elif not cut or (node.key[0] == "node" and node.key[2] > newest):
            new.add(node.id)
    lost = 0 if any(node.cut for node in now.nodes) else len(before)
    return frozenset(new), lost, saved


def _then(saved: Saved, node: Node) -> Saved | None:
    """How it stood with something that a node saved; None if it stands as it did."""
    # A custom Function's tensors are told one by one as long as they can be read, and as one after that.
    own = saved.name.partition("[")[0]
    then = [one for one in node.saved if one.name == saved.name] or [
        one for one in node.saved if one.name.partition("[")[0] == own
    ]
    same = not then or (then[0].state, then[0].version) == (saved.state, saved.version)
    return None if same else then[0]


def _cells(now: Snapshot, since: Snapshot) -> dict[str, dict[int, object]]:
    before = {storage.key: storage for storage in since.storages}
    changed: dict[str, dict[int, object]] = {}
    for storage in now.storages:
        old = before.get(storage.key)
        if old is None or old.dtype != storage.dtype or old.nbytes != storage.nbytes:
            continue
        for run in storage.runs:
            for cell, value in enumerate(run.values, run.start):
                known, then = old.value(cell)
                # Compared as written: nan is not nan, and 0.0 equals -0.0.
                if known and repr(then) != repr(value):
                    changed.setdefault(storage.id, {})[cell] = then
    return changed
