"""What is different between two snapshots of a running program."""

from __future__ import annotations

from dataclasses import dataclass, field

from .labels import called, dtype, short
from .read.records import Node, Saved, Snapshot, Storage, Tensor

MANY = 4096
"""The values of larger gradients are not compared one by one."""


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
    nodes: frozenset[str] = frozenset()
    """Graph nodes that were not there."""
    lost: int = 0
    """How many of the nodes of before are no longer reached."""
    saved: dict[tuple[str, int], str] = field(default_factory=dict)
    """(node id, place among what it saved) -> how it stood with it, in words."""
    standing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tensor id -> what changed in its place in the graph: shape, requires_grad, grad_fn, .grad."""

    def __bool__(self) -> bool:
        return any(getattr(self, one) for one in self.__dataclass_fields__)

    def names(self, tensor: Tensor) -> list[str]:
        """The names of a tensor that are new or stood for another one, each with what to say of it."""
        found = [f"{called(name)} is now another tensor" for name in tensor.names if name in self.rebound]
        return found + [f"{called(name)} is a new name" for name in tensor.names if name in self.added]


def changes(now: Snapshot, since: Snapshot | None) -> Changes:
    """Compare two snapshots; without an earlier one nothing counts as changed."""
    if since is None:
        return Changes()
    before = {tensor.key: tensor for tensor in since.tensors}
    old_names, names = dict(since.names), dict(now.names)
    key_then = {name: since.tensor(name).key for name in old_names}
    key_now = {name: now.tensor(name).key for name in names}
    same_key = {name for name in names if name in key_then and key_now[name] == key_then[name]}
    versions, facts, standing = {}, {}, {}
    for tensor in now.tensors:
        old = before.get(tensor.key)
        if old is None or tensor.role == "saved":
            continue
        if old.version is not None and tensor.version is not None and old.version != tensor.version:
            versions[tensor.id] = old.version
        graph, place = _standing(tensor, old), _place(tensor, old)
        if graph or place:
            facts[tensor.id] = (*graph, *place)
        if _rewritten(tensor, now, old, since):
            graph.append(f"grad_fn was another {short(old.grad_fn_name or '')}")
        if old.grad and tensor.grad and _grad_changed(now.tensor(tensor.grad), now, since.tensor(old.grad), since):
            graph.append(".grad changed")
        if graph:
            standing[tensor.id] = tuple(graph)
    nodes, lost, saved = _graph(now, since)
    return Changes(
        new=frozenset(tensor.id for tensor in now.tensors if tensor.key not in before and tensor.role != "saved"),
        gone=tuple(name for name in old_names if name not in names),
        rebound=frozenset(name for name in names if name in key_then and name not in same_key),
        added=frozenset(name for name in names if name not in key_then and now.tensor(name).key in before),
        cells=_cells(now, since),
        versions=versions,
        facts=facts,
        nodes=nodes,
        lost=lost,
        saved=saved,
        standing=standing,
    )


def _standing(tensor: Tensor, old: Tensor) -> list[str]:
    words = []
    if old.requires_grad != tensor.requires_grad:
        words.append("requires_grad was " + str(old.requires_grad))
    if old.shape != tensor.shape:
        words.append(f"shape was {old.shape}")
    if old.grad_fn_name != tensor.grad_fn_name:
        words.append(f"grad_fn was {old.grad_fn_name and short(old.grad_fn_name)}")
    if (old.grad is None) != (tensor.grad is None):
        words.append(".grad was None" if old.grad is None else ".grad is None now")
    return words


def _rewritten(tensor: Tensor, now: Snapshot, old: Tensor, since: Snapshot) -> bool:
    """Whether a tensor's history begins with another node of the same kind."""
    if tensor.grad_fn is None or old.grad_fn is None or tensor.grad_fn_name != old.grad_fn_name:
        return False
    return bool(now.node(tensor.grad_fn).key != since.node(old.grad_fn).key)


def _place(tensor: Tensor, old: Tensor) -> list[str]:
    words = []
    if old.shape == tensor.shape and old.stride != tensor.stride:
        words.append(f"stride was {old.stride}")
    if old.dtype != tensor.dtype:
        words.append("dtype was " + dtype(old.dtype))
    return words


def _grad_changed(grad: Tensor, now: Snapshot, old: Tensor, since: Snapshot) -> bool:
    """Whether a gradient has other values, as far as they were read; what was not read counts by object and version."""
    values, then = _values(now, grad), _values(since, old)
    if values is not None and then is not None:
        return values != then
    return grad.key != old.key or grad.version != old.version


def _values(snap: Snapshot, tensor: Tensor) -> list[str] | None:
    """The values of a tensor as they are written, in its order; None unless all were read."""
    if tensor.storage is None or tensor.stride is None or tensor.numel > MANY:
        return None
    storage, found = snap.storage(tensor.storage), []
    for _, byte in tensor.elements(MANY):
        cell, odd = divmod(byte, storage.itemsize)
        known, value = storage.value(cell)
        if odd or not known or storage.dtype != tensor.dtype:
            return None
        found.append(repr(value))
    return found


def _graph(now: Snapshot, since: Snapshot) -> tuple[frozenset[str], int, dict[tuple[str, int], str]]:
    """The new nodes, how many are gone, and what the others had saved."""
    before = {node.key: node for node in since.nodes if node.key is not None}
    cut = any(node.cut for node in since.nodes)
    # A graph that was read in part: what lies beyond is no news, and was made before all that was read.
    newest = max((key[2] for key in before if key[0] == "node"), default=0) if cut else 0
    new: set[str] = set()
    saved: dict[tuple[str, int], str] = {}
    for node in now.nodes:
        old = before.pop(node.key, None)
        if old is not None:
            saved |= {(node.id, at): was for at, one in enumerate(node.saved) if (was := _was(one, old))}
        elif node.key is not None and (not cut or (node.key[0] == "node" and node.key[2] > newest)):
            new.add(node.id)
    lost = 0 if any(node.cut for node in now.nodes) else len(before)
    return frozenset(new), lost, saved


def _was(saved: Saved, node: Node) -> str:
    """How it stood with something that a node saved; "" if it stands as it did."""
    # A custom Function's tensors are told one by one as long as they can be read, and as one after that.
    own = saved.name.partition("[")[0]
    then = [one for one in node.saved if one.name == saved.name] or [
        one for one in node.saved if one.name.partition("[")[0] == own
    ]
    if not then or (then[0].state, then[0].version) == (saved.state, saved.version):
        return ""
    return f"was {then[0].state}" + ("" if then[0].version is None else f" at version {then[0].version}")


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


def written(before: Snapshot, after: Snapshot) -> list[str]:
    """The names in `before` of tensors that were written until `after`, or whose gradient changed."""
    keys, named = {tensor.key: tensor for tensor in after.tensors}, names_by_tensor(before)
    changed = []
    for then in before.tensors:
        now = keys.get(then.key)
        name = next(iter(named.get(then.id, ())), "") or owner(then, named)
        if now is None or not name:
            continue
        if (then.grad is None) != (now.grad is None):
            changed.append(f"{name}.grad")
        if then.version != now.version or cells_differ(before, then, after, now):
            changed.append(name)
    return changed


def names_by_tensor(snapshot: Snapshot) -> dict[str, list[str]]:
    """Tensor id -> its names."""
    names: dict[str, list[str]] = {}
    for name, tid in snapshot.names:
        names.setdefault(tid, []).append(name)
    return names


def owner(tensor: Tensor, named: dict[str, list[str]]) -> str:
    """`x.grad` for the gradient of a tensor that has a name, else nothing."""
    names = named.get(tensor.grad_of or "", ())
    return f"{names[0]}.grad" if names else ""


def cells_differ(before: Snapshot, then: Tensor, after: Snapshot, now: Tensor) -> bool:
    """Whether a tensor lies in the same memory in both snapshots, and a value in it is another now."""
    if then.storage is None or now.storage is None:
        return False
    old, new = before.storage(then.storage), after.storage(now.storage)
    return bool(old.key == new.key) and differ(old, new)


def differ(was: Storage, now: Storage) -> bool:
    """Whether the values of two records of one storage differ."""
    if was.cells != now.cells or was.dtype != now.dtype:
        return False  # resized or read as another dtype: no cell-by-cell comparison, and said elsewhere
    if not was.runs or not now.runs:
        return False  # without a name its values were not read
    return repr(was.runs) != repr(now.runs)  # repr: nan is equal to nan here
