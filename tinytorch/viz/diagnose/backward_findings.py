"""Findings on a backward that is not called: why it would raise, be wrong, or is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..read import NodeRecord, Snapshot, TensorRecord
from ..wording import format_shape, gettext, join_few_names, ngettext, short_node_name
from .finding import BackwardFinding, SavedBy, all_saved, count_others, name_first_saved
from .write_findings import find_stale, find_unseen

HIDDEN = ("packed", "once", "unreadable")
"""States of what could not be looked at."""
_NODES_WITHOUT_DERIVATIVE = ("NotImplemented", "DelayedError", "Error")


def find_findings(
    snap: Snapshot, root: TensorRecord, nodes: list[NodeRecord], used: Mapping[str, str]
) -> Iterator[BackwardFinding]:
    """Yield what speaks against a backward on `root`, whose graph has these nodes.

    `used`: the nodes that a backward before it visits, and the tensor that this starts at.
    """
    name = snap.label(root.id)
    cannot_start = _find_why_it_cannot_start(root, name)
    if cannot_start is not None:
        yield cannot_start
        return
    yield from _find_not_a_scalar(root, name)
    read_by_backward = [pair for pair in all_saved(nodes) if pair.saved.used]
    certain = [pair for pair in read_by_backward if not _may_be_ignored(pair)]
    uncertain = [
        pair
        for pair in read_by_backward
        if _may_be_ignored(pair) and pair.saved.state in ("stale", "freed")
    ]
    yield from find_stale(snap, [pair for pair in certain if pair.saved.state == "stale"])
    freed = [pair for pair in certain if pair.saved.state == "freed"]
    if freed:
        yield _describe_freed(snap, root, freed, read_by_backward)
    shared = [pair for pair in certain if pair.node.id in used and pair.saved.state == "live"]
    if shared:
        yield _describe_used_twice(shared, used[shared[0].node.id])
    for node in nodes:
        if short_node_name(node.name) in _NODES_WITHOUT_DERIVATIVE:
            yield _describe_no_derivative(node)
    yield from find_unseen(snap, read_by_backward)
    # Doubts come last: `explain` leaves them out where something is certain.
    visited = [*nodes, *map(snap.node, used)]
    for doubt in _find_doubts_on_grads(snap, visited, read_by_backward):
        yield BackwardFinding("not known", doubt)
    yield from _find_not_known(snap, nodes, read_by_backward, uncertain)
    yield from _find_not_compared(snap, read_by_backward)


# -- why it raises -----------------------------------------------------------------------


def _may_be_ignored(pair: SavedBy) -> bool:
    """Return True for what a Function in Python saved: its backward opens it, or does not."""
    return bool(pair.node.doubts) and pair.saved.name.startswith("tensors")


def _find_why_it_cannot_start(root: TensorRecord, name: str) -> BackwardFinding | None:
    if root.is_leaf is None:
        sentence = gettext(
            "{name} is a view that was made in no_grad mode, and its base was written since",
            name=name,
        )
        way_out = gettext("make the view outside of no_grad, or write inside of it")
        return BackwardFinding("invalid", sentence, way_out)
    if not root.requires_grad:
        sentence = gettext(
            "{name} requires no grad: it was not computed from a tensor that does, or was "
            "cut off by detach or .data",
            name=name,
        )
        way_out = gettext(
            "call requires_grad_() on the leaf before computing, and keep detach out of the way"
        )
        return BackwardFinding("no grad", sentence, way_out)
    return None


def _find_not_a_scalar(root: TensorRecord, name: str) -> Iterator[BackwardFinding]:
    if root.numel != 1:
        sentence = gettext(
            "{name} has {count} elements, and backward() without an argument wants one",
            name=name,
            count=f"{root.numel:,}",
        )
        way_out = gettext(
            "call {name}.sum().backward(), or give backward a gradient of shape {shape}",
            name=name,
            shape=format_shape(root.shape),
        )
        yield BackwardFinding("not a scalar", sentence, way_out)
    elif "complex" in root.dtype:
        sentence = gettext(
            "{name} is complex, and backward() without an argument wants a real number", name=name
        )
        way_out = gettext("call backward on {name}.abs() or {name}.real", name=name)
        yield BackwardFinding("not a scalar", sentence, way_out)


def _describe_freed(
    snap: Snapshot, root: TensorRecord, freed: Sequence[SavedBy], pairs: Sequence[SavedBy]
) -> BackwardFinding:
    """Return one finding, whether an earlier backward used all of the graph or a part of it."""
    node, saved = freed[0]
    sentence = gettext(
        "{node} gave its saved {saved} back in an earlier backward",
        node=short_node_name(node.name),
        saved=saved.name,
    )
    sentence += count_others(freed)
    way_out = gettext(
        "compute the result anew, or call the earlier backward with retain_graph=True"
    )
    if any(pair.saved.state == "live" for pair in pairs):
        # Typical of a hidden state that is carried from batch to batch without detach().
        freed_ids = {pair.node.id for pair in freed}
        carried = [
            tensor
            for tensor in snap.named_tensors
            if tensor.id != root.id and tensor.grad_fn in freed_ids
        ]
        sentence += "; " + gettext("the rest of the graph is newer")
        if carried:
            sentence += gettext(
                ", and {carried} leads into what was used", carried=snap.label(carried[0].id)
            )
        way_out = gettext(
            "detach() what is carried over from the earlier computation, as a hidden state, "
            "or, if both belong "
            "together, add up the results and call backward once"
        )
    elif root.grad_fn_name == "AddBackward0":
        # Typical of `total = total + loss` for a log.
        way_out += "; " + gettext(
            "a sum that is only to be shown is one of loss.detach() or loss.item()"
        )
    return BackwardFinding("freed", sentence, way_out, freed)


def _describe_used_twice(shared: Sequence[SavedBy], first_root: str) -> BackwardFinding:
    node, saved = shared[0]
    sentence = gettext(
        "{first}.backward(), called first, gives back what {node} saved ({saved})",
        first=first_root,
        node=short_node_name(node.name),
        saved=saved.name,
    )
    way_out = gettext(
        "add them up and call backward once, or call the first one with retain_graph=True"
    )
    return BackwardFinding("freed", sentence + count_others(shared), way_out, shared)


def _describe_no_derivative(node: NodeRecord) -> BackwardFinding:
    sentence = gettext(
        "{node} stands for an operation that has no derivative", node=short_node_name(node.name)
    )
    return BackwardFinding(
        "no derivative", sentence, gettext("compute it from operations that have one")
    )


# -- why it is not known -----------------------------------------------------------------


def _find_not_known(
    snap: Snapshot,
    nodes: Sequence[NodeRecord],
    pairs: Sequence[SavedBy],
    uncertain: Sequence[SavedBy],
) -> Iterator[BackwardFinding]:
    doubts = dict.fromkeys(snap.doubts)
    for node in nodes:
        doubts |= dict.fromkeys(node.doubts)
    if any(node.cut for node in nodes):
        doubts |= dict.fromkeys(snap.notes)
    for doubt in doubts:
        yield BackwardFinding("not known", doubt)
    for pair in uncertain:
        sentence = gettext(
            "{node} saved {saved}, which was written or given back since: its backward "
            "raises if it opens that",
            **name_first_saved(snap, [pair]),
        )
        yield BackwardFinding("not known", sentence, "", [pair])
    hidden = [pair for pair in pairs if pair.saved.state in HIDDEN]
    if hidden:
        sentence = ngettext(
            "{node} saved {name}, which a hook packed or which cannot be read; it was not opened",
            "{node} saved {name}, which a hook packed or which cannot be read, as {number} "
            "saved tensors; they were "
            "not opened",
            len(hidden),
            node=short_node_name(hidden[0].node.name),
            name=hidden[0].saved.name,
        )
        yield BackwardFinding("not known", sentence, "", hidden)


def _find_doubts_on_grads(
    snap: Snapshot, nodes: Iterable[NodeRecord], pairs: Sequence[SavedBy]
) -> Iterator[str]:
    """Yield what may go wrong where a gradient is added to the one that is there."""
    node_by_storage = {
        snap.tensor(saved.tensor).storage: node
        for node, saved in pairs
        if saved.tensor and saved.state == "live"
    }
    for node in nodes:
        leaf = None if node.variable is None else snap.tensor(node.variable)
        if leaf is None or leaf.grad is None:
            continue
        grad, label = snap.tensor(leaf.grad), snap.grad_label(leaf.id)
        if grad.version is None:
            yield gettext("{grad} is an inference tensor, and cannot be added to", grad=label)
        elif grad.storage in node_by_storage:
            # Backward accumulates in place, and so may write what a later node reads.
            yield gettext(
                "{node} saved {grad}, to which backward itself may add in place",
                node=short_node_name(node_by_storage[grad.storage].name),
                grad=label,
            )


def _find_not_compared(snap: Snapshot, pairs: Sequence[SavedBy]) -> Iterator[BackwardFinding]:
    groups: dict[str, list[SavedBy]] = {}
    for pair in pairs:
        if pair.saved.state == "live" and pair.saved.bytes_unchanged is None:
            groups.setdefault(pair.saved.not_read, []).append(pair)
    for reason, group in groups.items():
        names = join_few_names(_name_saved(snap, pair) for pair in group)
        yield (
            _describe_unreadable(group, names, reason)
            if reason
            else _describe_first_look(group, names)
        )


def _name_saved(snap: Snapshot, pair: SavedBy) -> str:
    if pair.saved.tensor:
        return snap.label(pair.saved.tensor)
    return str(name_first_saved(snap, [pair])["saved"])


def _describe_unreadable(group: Sequence[SavedBy], names: str, reason: str) -> BackwardFinding:
    sentence = ngettext(
        "{number} saved tensor ({names}) cannot be compared with an earlier look: {why}",
        "{number} saved tensors ({names}) cannot be compared with an earlier look: {why}",
        len(group),
        names=names,
        why=reason,
    )
    return BackwardFinding("not compared", sentence, "", group)


def _describe_first_look(group: Sequence[SavedBy], names: str) -> BackwardFinding:
    sentence = ngettext(
        "{number} saved tensor ({names}) was not compared with an earlier look; a write "
        "through .data, NumPy or a "
        "storage would not show",
        "{number} saved tensors ({names}) were not compared with an earlier look; a write "
        "through .data, NumPy or "
        "a storage would not show",
        len(group),
        names=names,
    )
    way_out = gettext(
        "take earlier = snapshot(...) after the forward pass, and ask explain(..., since=earlier)"
    )
    return BackwardFinding("not compared", sentence, way_out, group)
