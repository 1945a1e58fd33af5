"""What is wrong with tensors that the graph saved: written since, seen by the version counter or not."""

from __future__ import annotations

from .records import Node, Saved, Snapshot, Tensor
from .words import label, last_cell, listed, plural, short


def troubles(snap: Snapshot) -> dict[str, tuple[str, ...]]:
    """For each tensor in trouble, by its id, what to say about it."""
    found: dict[str, dict[str, None]] = {}
    for node, saved in stale(snap):
        if saved.tensor is not None:
            found.setdefault(saved.tensor, {})[_stale_sentence(node, saved)] = None
    for tensor, other, _ in unseen_writes(snap):
        found.setdefault(tensor.id, {})[_unseen_sentence(tensor, other)] = None
    return {tid: tuple(sentences) for tid, sentences in found.items()}


def nameless(snap: Snapshot, shown: set[str]) -> list[str]:
    """What to say about stale saved tensors that are not among those shown."""
    return list(
        dict.fromkeys(
            f"a tensor without a name: {_stale_sentence(node, saved)}"
            for node, saved in stale(snap)
            if saved.tensor not in shown
        )
    )


def stale(snap: Snapshot) -> list[tuple[Node, Saved]]:
    """Everything that was written after it was saved, with the node that saved it."""
    return [(node, saved) for node in snap.nodes for saved in node.saved if saved.state == "stale"]


def unseen_writes(snap: Snapshot) -> list[tuple[Tensor, Tensor, Node]]:
    """(saved tensor, another one over its memory, node): writes counted by the other's counter alone.

    The counter of the saved tensor has not seen them, so backward would not notice.
    """
    found = []
    seen: set[tuple[str, str | None, str]] = set()
    beside: dict[str | None, list[Tensor]] = {}
    for tensor in snap.tensors:
        if tensor.version and tensor.counter is not None and tensor.role != "saved" and tensor.storage is not None:
            beside.setdefault(tensor.storage, []).append(tensor)
    for node in snap.nodes:
        for saved in node.saved:
            if saved.state != "live" or saved.tensor is None:
                continue
            tensor = snap.tensor(saved.tensor)
            for other in beside.get(tensor.storage, ()):
                key = (tensor.id, other.counter, node.id)
                if other.counter != tensor.counter and key not in seen and _overlap(tensor, other):
                    seen.add(key)
                    found.append((tensor, other, node))
    return found


def perhaps(snap: Snapshot) -> dict[tuple[str, str], str]:
    """(node, tensor that it saved) -> through which others it may have been written, unseen by its counter."""
    found: dict[tuple[str, str], list[str]] = {}
    for tensor, other, node in unseen_writes(snap):
        found.setdefault((node.id, tensor.id), []).append(label(snap, other.id))
    return {key: listed(labels) for key, labels in found.items()}


def _stale_sentence(node: Node, saved: Saved) -> str:
    return f"{short(node.name)} saved it at version {saved.saved_version}, now at {saved.version}: backward will raise"


def _unseen_sentence(tensor: Tensor, other: Tensor) -> str:
    writes = plural(other.version or 0, "write")
    return f"{other.counter} counted {writes} here that {tensor.counter} did not see: backward may be silently wrong"


def _overlap(one: Tensor, other: Tensor) -> bool:
    """Whether the stretches of memory that two tensors reach over have a byte in common."""
    if not one.numel or not other.numel or one.stride is None or other.stride is None:
        return False
    return one.start_byte < _end(other) and other.start_byte < _end(one)


def _end(tensor: Tensor) -> int:
    return (last_cell(tensor) + 1) * tensor.itemsize + tensor.start_byte % tensor.itemsize
