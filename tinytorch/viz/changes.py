"""What is different between two snapshots of a running program."""

from __future__ import annotations

from dataclasses import dataclass, field

from .records import Snapshot


@dataclass(frozen=True)
class Changes:
    """What changed from `since` to the snapshot, by the snapshot's ids."""

    new: frozenset[str] = frozenset()
    """Tensors that were not there."""
    gone: tuple[str, ...] = ()
    """Names that are no longer there."""
    rebound: frozenset[str] = frozenset()
    """Names that stand for another tensor than before."""
    added: frozenset[str] = frozenset()
    """Names that are new for a tensor that was already there."""
    cells: dict[str, dict[int, object]] = field(default_factory=dict)
    """Storage id -> cell -> the value that it had."""
    versions: dict[str, int] = field(default_factory=dict)
    """Tensor id -> the version that it had."""
    facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tensor id -> what else changed, in words."""

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.rebound or self.added or self.cells or self.versions or self.facts)


def changes(now: Snapshot, since: Snapshot | None) -> Changes:
    """Compare two snapshots; without an earlier one nothing counts as changed."""
    if since is None:
        return Changes()
    before = {tensor.key: tensor for tensor in since.tensors}
    old_names, names = dict(since.names), dict(now.names)
    key_then = {name: since.tensor(name).key for name in old_names}
    key_now = {name: now.tensor(name).key for name in names}
    same_key = {name for name in names if name in key_then and key_now[name] == key_then[name]}
    versions, facts = {}, {}
    for tensor in now.tensors:
        old = before.get(tensor.key)
        if old is None or tensor.role == "saved":
            continue
        if old.version is not None and tensor.version is not None and old.version != tensor.version:
            versions[tensor.id] = old.version
        words = []
        if old.requires_grad != tensor.requires_grad:
            words.append("requires_grad was " + str(old.requires_grad))
        if old.shape != tensor.shape:
            words.append(f"shape was {old.shape}")
        elif old.stride != tensor.stride:
            words.append(f"stride was {old.stride}")
        if old.dtype != tensor.dtype:
            words.append("dtype was " + old.dtype.removeprefix("torch."))
        if old.grad_fn_name != tensor.grad_fn_name:
            words.append(f"grad_fn was {old.grad_fn_name}")
        if (old.grad is None) != (tensor.grad is None):
            words.append(".grad was None" if old.grad is None else ".grad is None now")
        if words:
            facts[tensor.id] = tuple(words)
    return Changes(
        new=frozenset(tensor.id for tensor in now.tensors if tensor.key not in before and tensor.role != "saved"),
        gone=tuple(name for name in old_names if name not in names),
        rebound=frozenset(name for name in names if name in key_then and name not in same_key),
        added=frozenset(name for name in names if name not in key_then and now.tensor(name).key in before),
        cells=_cells(now, since),
        versions=versions,
        facts=facts,
    )


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
