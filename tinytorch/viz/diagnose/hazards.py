"""The causes for which a backward would raise, or give a wrong gradient, or for which that is not known: one finding each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..read import Node, Saved, Snapshot, Tensor
from ..wording import (
    format_repr,
    format_shape,
    gettext,
    join_few_names,
    join_names,
    ngettext,
    short_node_name,
)

_Kept = tuple[Node, Saved]


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause why backward would not do what it should, or why that is not known, with the way out."""

    kind: str
    """Why backward raises: "stale" (what was saved was written since, and counted), "freed", "invalid", "no grad", "not a
    scalar", "no derivative". Why its gradient may be wrong: "unseen write". Why nothing is promised: "not known" (it may
    raise), "not compared" (what was saved may have been written past its version counter)."""
    what: str
    way_out: str = ""
    """Empty where there is none to name."""
    saved: Sequence[_Kept] = ()
    """All that the cause touches: nodes, and what they saved."""
    sharing: tuple[str, ...] = ()
    """The names that see the same memory as the first of them."""

    def __repr__(self) -> str:
        return format_repr(f"{self.kind}: {self.what}")


def find_write_findings(snap: Snapshot, nodes: Iterable[Node]) -> Iterator[Finding]:
    """What was written, counted or not, of that which some nodes saved."""
    kept = [(node, saved) for node in nodes for saved in node.saved]
    yield from _stale(snap, [pair for pair in kept if pair[1].state == "stale"])
    yield from _unseen(snap, kept)


# -- why it raises -----------------------------------------------------------------


def find_findings(
    snap: Snapshot, root: Tensor, nodes: list[Node], used: dict[str, str]
) -> Iterator[Finding]:
    """What speaks against a backward on `root`; `used` are the nodes that a backward before it walks, and from where."""
    name = snap.label(root.id)
    if root.is_leaf is None:
        what = gettext(
            "{name} is a view that was made in no_grad mode, and its base was written since",
            name=name,
        )
        yield Finding(
            "invalid", what, gettext("make the view outside of no_grad, or write inside of it")
        )
        return
    if not root.requires_grad:
        what = gettext(
            "{name} requires no grad: it was not computed from a tensor that does, or was cut off by detach or .data",
            name=name,
        )
        way = gettext(
            "call requires_grad_() on the leaf before computing, and keep detach out of the way"
        )
        yield Finding("no grad", what, way)
        return
    yield from _no_scalar(root, name)
    kept = [(node, saved) for node in nodes for saved in node.saved if saved.used]
    # What a Function in Python saved is opened by its backward, or not.
    sure = [
        (node, saved)
        for node, saved in kept
        if not (node.doubts and saved.name.startswith("tensors"))
    ]
    yield from _stale(snap, [pair for pair in sure if pair[1].state == "stale"])
    yield from _freed(snap, root, [pair for pair in sure if pair[1].state == "freed"], kept)
    shared = [pair for pair in sure if pair[0].id in used and pair[1].state == "live"]
    if shared:
        node, saved = shared[0]
        what = gettext(
            "{first}.backward(), called first, gives back what {node} saved ({saved})",
            first=used[node.id],
            node=short_node_name(node.name),
            saved=saved.name,
        )
        way = gettext(
            "add them up and call backward once, or call the first one with retain_graph=True"
        )
        yield Finding("freed", what + _and_more(shared), way, shared)
    for node in nodes:
        if short_node_name(node.name) in ("NotImplemented", "DelayedError", "Error"):
            what = gettext(
                "{node} stands for an operation that has no derivative",
                node=short_node_name(node.name),
            )
            yield Finding(
                "no derivative", what, gettext("compute it from operations that have one")
            )
    yield from _unseen(snap, kept)
    unsure = [pair for pair in kept if pair not in sure and pair[1].state in ("stale", "freed")]
    walked = [*nodes, *(snap.node(one) for one in used)]
    yield from (Finding("not known", doubt) for doubt in _of_grads(snap, walked, kept))
    yield from _not_known(snap, nodes, kept, unsure)


def _no_scalar(root: Tensor, name: str) -> Iterator[Finding]:
    if root.numel != 1:
        what = gettext(
            "{name} has {count} elements, and backward() without an argument wants one",
            name=name,
            count=f"{root.numel:,}",
        )
        way = gettext(
            "call {name}.sum().backward(), or give backward a gradient of shape {shape}",
            name=name,
            shape=format_shape(root.shape),
        )
        yield Finding("not a scalar", what, way)
    elif "complex" in root.dtype:
        what = gettext(
            "{name} is complex, and backward() without an argument wants a real number", name=name
        )
        yield Finding(
            "not a scalar", what, gettext("call backward on {name}.abs() or {name}.real", name=name)
        )


def _stale(snap: Snapshot, stale: list[_Kept]) -> Iterator[Finding]:
    """What was written after it was saved: all leaves together, which a step of an optimizer writes; the rest by counter."""
    leaves: dict[str, str] = {}
    of_leaf: list[_Kept] = []
    groups: dict[object, list[_Kept]] = {}
    for node, saved in stale:
        counter = None if saved.tensor is None else snap.tensor(saved.tensor).counter
        members = [] if counter is None else map(snap.tensor, snap.counter(counter).tensors)
        own = {one.id: snap.label(one.id) for one in members if one.is_leaf and one.requires_grad}
        leaves |= own
        if own:
            of_leaf.append((node, saved))
        else:
            groups.setdefault(counter or (node.id, saved.name), []).append((node, saved))
    if len(leaves) == 1 and len(_sharing(snap, *leaves)) > 1:  # through the other name, it seems
        groups = {"leaf": of_leaf, **groups}
    elif leaves:
        what = gettext(
            "{node} saved {saved} at version {then}, now at {now}", **_first(snap, of_leaf)
        )
        what += _and_more(of_leaf) + "; "
        what += ngettext(
            "{names}, a leaf that requires grad, was written since, as by a step of an optimizer",
            "{names}, leaves that require grad, were written since, as by a step of an optimizer",
            len(leaves),
            names=join_few_names(leaves.values()),
        )
        yield Finding(
            "stale", what, _backward_first(), of_leaf, _sharing(snap, of_leaf[0][1].tensor or "")
        )
    for group in groups.values():
        yield _written(snap, group)


def _written(snap: Snapshot, stale: list[_Kept]) -> Finding:
    _, saved = stale[0]
    sharing = () if saved.tensor is None else _sharing(snap, saved.tensor)
    what = ngettext(
        "{node} saved {saved} at version {then}, now at {now}: it was written {number} time since",
        "{node} saved {saved} at version {then}, now at {now}: it was written {number} times since",
        (saved.version or 0) - (saved.saved_version or 0),
        **_first(snap, stale),
    )
    what += _and_more(stale)
    if len(sharing) > 1:
        what += "; " + gettext(
            "{names} share that version counter, and a write through any of them counts",
            names=join_names(sharing),
        )
    target = sharing[-1] if sharing else gettext("the tensor")
    way = gettext("write to a copy ({name}.clone()), or write after backward", name=target)
    return Finding("stale", what, way, stale, sharing)


def _first(snap: Snapshot, kept: Sequence[_Kept]) -> dict[str, Any]:
    """What sentences say of the first of several things that were saved."""
    node, saved = kept[0]
    label = gettext("its {saved}", saved=saved.name)
    label = label if saved.tensor is None else f"{label} ({snap.label(saved.tensor)})"
    return {
        "node": short_node_name(node.name),
        "saved": label,
        "then": saved.saved_version,
        "now": saved.version,
    }


def _and_more(kept: Sequence[_Kept]) -> str:
    more = len(kept) - 1
    return (
        " "
        + ngettext("(and {number} more saved tensor)", "(and {number} more saved tensors)", more)
        if more
        else ""
    )


def _freed(
    snap: Snapshot, root: Tensor, freed: list[_Kept], kept: list[_Kept]
) -> Iterator[Finding]:
    """What an earlier backward has used up: one cause, whether all of the graph was used or a part of it."""
    if not freed:
        return
    node, saved = freed[0]
    what = gettext(
        "{node} gave its saved {saved} back in an earlier backward",
        node=short_node_name(node.name),
        saved=saved.name,
    )
    what += _and_more(freed)
    way = gettext("compute the result anew, or call the earlier backward with retain_graph=True")
    if any(one.state == "live" for _, one in kept):
        gone = {node.id for node, _ in freed}
        inside = [one for one in snap.named if one.id != root.id and one.grad_fn in gone]
        what += "; " + gettext("the rest of the graph is newer")
        if inside:
            what += gettext(
                ", and {carried} leads into what was used", carried=snap.label(inside[0].id)
            )
        way = gettext(
            "detach() what is carried over from the earlier computation, as a hidden state, or, if both belong "
            "together, add up the results and call backward once"
        )
    elif root.grad_fn_name == "AddBackward0":
        way += "; " + gettext(
            "a sum that is only to be shown is one of loss.detach() or loss.item()"
        )
    yield Finding("freed", what, way, freed)


def _sharing(snap: Snapshot, which: str) -> tuple[str, ...]:
    """The names of the tensors that share a tensor's version counter, itself first."""
    tensor = snap.tensor(which)
    same = [which]
    if tensor.counter is not None:
        same += [
            tid
            for tid in snap.counter(tensor.counter).tensors
            if tid != which and snap.tensor(tid).names
        ]
    return tuple(snap.label(tid) for tid in same)


# -- why its gradient may be wrong -------------------------------------------------


def _unseen(snap: Snapshot, kept: list[_Kept]) -> Iterator[Finding]:
    groups: dict[object, list[_Kept]] = {}
    for node, saved in kept:
        if saved.bytes_unchanged is False:
            groups.setdefault(_whose(snap, node, saved), []).append((node, saved))
    for whose, group in groups.items():
        yield _other_bytes(snap, group, whose)
    sure = {id(saved) for group in groups.values() for _, saved in group}
    here = {node.id for node, _ in kept}
    counted: dict[object, list[tuple[Node, Saved, Tensor, Tensor]]] = {}
    for tensor, other, node in unseen_writes(snap):
        if node.id in here:
            saved = next(one for one in node.saved if one.tensor == tensor.id)
            if id(saved) not in sure:
                counted.setdefault((tensor.storage, other.counter), []).append(
                    (node, saved, tensor, other)
                )
    for several in counted.values():
        yield _counted_elsewhere(
            snap, [(node, saved) for node, saved, _, _ in several], *several[0][2:]
        )


def _whose(snap: Snapshot, node: Node, saved: Saved) -> object:
    """Equal for what is likely to have been written for one cause: all running statistics, all leaves, or one storage."""
    memory = None if saved.tensor is None else snap.tensor(saved.tensor).storage
    members = [] if memory is None else map(snap.tensor, snap.storage(memory).tensors)
    if saved.name.startswith("running_"):
        return "running"
    if any(one.is_leaf and one.requires_grad for one in members):
        return "leaf"
    return memory or (node.id, saved.name)


def _other_bytes(snap: Snapshot, kept: list[_Kept], whose: object) -> Finding:
    first, saved = _first(snap, kept), kept[0][1]
    what = gettext(
        "{node} saved {saved}. It does not hold the bytes of the earlier look, and its version counter has counted no "
        "write: backward computes from what is there now, without an error",
        **first | {"saved": first["saved"] + _and_more(kept)},
    )
    tensor = snap.tensor(saved.tensor) if saved.tensor else None
    label = snap.label(tensor.id) if tensor is not None and tensor.names else gettext("the tensor")
    if whose == "running":
        way = gettext(
            "call backward before the next forward pass in training mode, which updates it without counting"
        )
    else:
        way = _backward_first() if whose == "leaf" else _not_data(label)
    # Other values give another gradient; another index may be one that there is not.
    sure = (
        saved.bytes_now is not None and re.search("float|complex", saved.bytes_now[0]) is not None
    )
    kind = "unseen write" if sure else "not known"
    return Finding(kind, what, way, kept, (label,))


def _counted_elsewhere(snap: Snapshot, kept: list[_Kept], tensor: Tensor, other: Tensor) -> Finding:
    there, here = snap.label(other.id), snap.label(tensor.id)
    what = gettext(
        "{node} saved {saved}. The same memory is seen by {there}, whose own counter {other} has counted {writes}; "
        "counter {counter} of {here}, which backward checks, has not seen them. If they came after the save, the "
        "gradient is wrong without an error",
        **_first(snap, kept),
        there=there,
        other=other.counter,
        writes=count_writes(other),
        counter=tensor.counter,
        here=here,
    )
    return Finding("unseen write", what + _and_more(kept), _not_data(here), kept, (here, there))


def _backward_first() -> str:
    return gettext("call backward before that write, or compute the result again after it")


def _not_data(here: str) -> str:
    return gettext(
        "use {here}.detach() instead of .data (a write then raises), or write to a copy ({here}.detach().clone())",
        here=here,
    )


def count_writes(tensor: Tensor) -> str:
    """`3 writes`, as its version counter has counted them."""
    return ngettext("{number} write", "{number} writes", tensor.version or 0)


# -- why it is not known -----------------------------------------------------------

HIDDEN = ("packed", "once", "unreadable")
"""States of what could not be looked at."""


def _not_known(
    snap: Snapshot, nodes: list[Node], kept: list[_Kept], unsure: list[_Kept]
) -> Iterator[Finding]:
    doubts = dict.fromkeys([*snap.doubts, *(doubt for node in nodes for doubt in node.doubts)])
    if any(node.cut for node in nodes):
        doubts |= dict.fromkeys(snap.notes)
    for doubt in doubts:
        yield Finding("not known", doubt)
    for pair in unsure:
        what = gettext(
            "{node} saved {saved}, which was written or given back since: its backward raises if it opens that",
            **_first(snap, [pair]),
        )
        yield Finding("not known", what, "", [pair])
    hidden = [(node, saved) for node, saved in kept if saved.state in HIDDEN]
    if hidden:
        what = ngettext(
            "{node} saved {name}, which a hook packed or which cannot be read; it was not opened",
            "{node} saved {name}, which a hook packed or which cannot be read, as {number} saved tensors; they were "
            "not opened",
            len(hidden),
            node=short_node_name(hidden[0][0].name),
            name=hidden[0][1].name,
        )
        yield Finding("not known", what, "", hidden)
    yield from _not_compared(snap, kept)


def _of_grads(snap: Snapshot, nodes: list[Node], kept: list[_Kept]) -> Iterator[str]:
    """What may come up where a gradient is added to the one that is there."""
    saved = {
        snap.tensor(one.tensor).storage: node
        for node, one in kept
        if one.tensor and one.state == "live"
    }
    for leaf in (snap.tensor(node.variable) for node in nodes if node.variable is not None):
        grad = None if leaf.grad is None else snap.tensor(leaf.grad)
        label = snap.grad_label(leaf.id)
        if grad is not None and grad.version is None:
            yield gettext("{grad} is an inference tensor, and cannot be added to", grad=label)
        elif grad is not None and grad.storage in saved:
            node = short_node_name(saved[grad.storage].name)
            yield gettext(
                "{node} saved {grad}, to which backward itself may add in place",
                node=node,
                grad=label,
            )


def _not_compared(snap: Snapshot, kept: list[_Kept]) -> Iterator[Finding]:
    groups: dict[str, list[_Kept]] = {}
    for node, saved in kept:
        if saved.state == "live" and saved.bytes_unchanged is None:
            groups.setdefault(saved.not_read, []).append((node, saved))
    for why, group in groups.items():
        names = join_few_names(
            snap.label(one.tensor) if one.tensor else _first(snap, [(node, one)])["saved"]
            for node, one in group
        )
        if why:
            what = ngettext(
                "{number} saved tensor ({names}) cannot be compared with an earlier look: {why}",
                "{number} saved tensors ({names}) cannot be compared with an earlier look: {why}",
                len(group),
                names=names,
                why=why,
            )
            yield Finding("not compared", what, "", group)
            continue
        what = ngettext(
            "{number} saved tensor ({names}) was not compared with an earlier look; a write through .data, NumPy or a "
            "storage would not show",
            "{number} saved tensors ({names}) were not compared with an earlier look; a write through .data, NumPy or "
            "a storage would not show",
            len(group),
            names=names,
        )
        way = gettext(
            "take earlier = snapshot(...) after the forward pass, and ask explain(..., since=earlier)"
        )
        yield Finding("not compared", what, way, group)


def unseen_writes(snap: Snapshot) -> list[tuple[Tensor, Tensor, Node]]:
    """(saved tensor, another one over its memory, node): writes counted by the other's counter alone.

    The counter of the saved tensor has not seen them, so backward would not notice.
    """
    found = []
    seen: set[tuple[str, str | None, str]] = set()
    beside: dict[str | None, list[Tensor]] = {}
    for tensor in snap.tensors:
        if (
            tensor.version
            and tensor.counter is not None
            and tensor.role != "saved"
            and tensor.storage is not None
        ):
            beside.setdefault(tensor.storage, []).append(tensor)
    for node in snap.nodes:
        for saved in node.saved:
            if saved.state != "live" or saved.tensor is None:
                continue
            tensor = snap.tensor(saved.tensor)
            for other in beside.get(tensor.storage, ()):
                key = (tensor.id, other.counter, node.id)
                if other.counter != tensor.counter and key not in seen and tensor.overlaps(other):
                    seen.add(key)
                    found.append((tensor, other, node))
    return found
