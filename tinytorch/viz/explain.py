"""Say before backward is called whether it would raise, or give a wrong gradient without a word; and afterwards, why.

Everything is read from snapshots. A stale saved tensor makes backward raise. A write that the saved tensor's version
counter did not see does not, and the gradient is then computed from the new values; such writes show in the counters of
other tensors over the same memory, as long as those tensors are still there to be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .catalogue import gettext, ngettext
from .labels import clean, few, listed, shape, short, shorten, told
from .read.records import Node, Saved, Snapshot, Tensor
from .read.snapshot import read


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why backward would not do what it should, with the way out."""

    kind: str
    """"stale", "freed", "invalid", "no grad", "not a scalar" (backward raises) or "unseen write" (it may be wrong)."""
    root: str
    """What backward would be called on, by its label."""
    what: str
    way_out: str
    node: str | None = None
    saved: Saved | None = None
    sharing: tuple[str, ...] = ()
    """The names that see the same memory as the saved tensor."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `backward` would do. `verdict` is "raises", "may be wrong", "runs" or "nothing to do"."""

    verdict: str
    findings: tuple[Finding, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def explain(*tensors: Any, **named: Any) -> Explanation:
    """Say in words what `backward()` on these tensors would do; it is not called.

    >>> x = torch.ones(2, requires_grad=True)
    >>> y = x.exp()
    >>> loss = y.sum()
    >>> y = y.zero_()
    >>> explain(loss, y)
    loss.backward() would raise.
    ...

    The arguments are those of `snapshot`, or a snapshot. Tensors given besides the one in question
    are known by name: the more of them, the more can be said about who wrote where.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    snap = read(tensors, named, sys._getframe(1))
    found: list[Finding] = []
    lines: list[str] = []
    roots = _roots(snap)
    for root in roots:
        own = list(_findings(snap, root))
        lines += _verdict(snap, root, own)
        found += own
    if not roots:
        lines = [gettext("There is no tensor that backward could be called on.")]
    lines += [gettext("Note: {note}; what lies beyond is not known.", note=note) for note in snap.notes]
    verdict = "nothing to do" if not roots else "raises" if _raises(found) else "may be wrong" if found else "runs"
    return Explanation(verdict, tuple(found), told(lines))


def _raises(findings: list[Finding]) -> bool:
    return any(finding.kind != "unseen write" for finding in findings)


def _verdict(snap: Snapshot, root: Tensor, findings: list[Finding]) -> Iterator[str]:
    name = snap.label(root.id)
    if not findings:
        leaves = [node.variable for node in _reached(snap, root) if node.variable is not None]
        grads = listed(snap.grad_labels([root.id] if root.is_leaf else leaves))
        yield gettext("{name}.backward() would run. It adds to {grads}.", name=name, grads=grads)
    elif _raises(findings):
        yield gettext("{name}.backward() would raise.", name=name)
    else:
        yield gettext("{name}.backward() would run, but may give a wrong gradient.", name=name)
    for finding in findings:
        yield f"  - {finding.what}."
        yield "    " + gettext("Way out: {way}.", way=finding.way_out)


def _roots(snap: Snapshot) -> list[Tensor]:
    """The named results that nothing else named was computed from; all named tensors if there is no result."""
    results = [tensor for tensor in snap.named if tensor.grad_fn is not None or tensor.is_leaf is None]
    below = {node.id for tensor in results for node in _reached(snap, tensor)[1:]}
    return [tensor for tensor in results if tensor.grad_fn not in below] or list(snap.named[:1])


def _reached(snap: Snapshot, root: Tensor) -> list[Node]:
    """The nodes that backward would walk, the root's own first."""
    order = dict.fromkeys([root.grad_fn] if root.grad_fn else [])
    waiting = list(order)
    while waiting:
        for edge in snap.node(waiting.pop()).edges:
            if edge.node is not None and edge.node not in order:
                order[edge.node] = None
                waiting.append(edge.node)
    return [snap.node(name) for name in order]


def _findings(snap: Snapshot, root: Tensor) -> Iterator[Finding]:
    name = snap.label(root.id)
    if root.is_leaf is None:
        what = gettext("{name} is a view that was made in no_grad mode, and its base was written since", name=name)
        yield Finding("invalid", name, what, gettext("make the view outside of no_grad, or write inside of it"))
        return
    if not root.requires_grad:
        what = gettext(
            "{name} requires no grad: it was not computed from a tensor that does, or was cut off by detach or .data",
            name=name,
        )
        way = gettext("call requires_grad_() on the leaf before computing, and keep detach out of the way")
        yield Finding("no grad", name, what, way)
        return
    if root.numel != 1:
        what = gettext(
            "{name} has {count} elements, and backward() without an argument wants one",
            name=name,
            count=f"{root.numel:,}",
        )
        way = gettext(
            "call {name}.sum().backward(), or give backward a gradient of shape {shape}",
            name=name,
            shape=shape(root.shape),
        )
        yield Finding("not a scalar", name, what, way)
    reached = {node.id: node for node in _reached(snap, root)}
    for node in reached.values():
        for saved in node.saved:
            if saved.state == "stale":
                yield _stale(snap, name, node, saved)
            elif saved.state == "freed":
                what = gettext(
                    "{node} gave its saved {saved} back in an earlier backward", node=short(node.name), saved=saved.name
                )
                way = gettext("compute the result anew, or call the earlier backward with retain_graph=True")
                yield Finding("freed", name, what, way, node.id, saved)
    for tensor, other, node in unseen_writes(snap):
        if node.id in reached:
            yield _unseen(snap, name, node, tensor, other)


def _stale(snap: Snapshot, root: str, node: Node, saved: Saved) -> Finding:
    sharing = () if saved.tensor is None else _sharing(snap, saved.tensor)
    what = ngettext(
        "{node} saved {saved} at version {then}, now at {now}: it was written {number} time since",
        "{node} saved {saved} at version {then}, now at {now}: it was written {number} times since",
        (saved.version or 0) - (saved.saved_version or 0),
        node=short(node.name),
        saved=_which(snap, saved),
        then=saved.saved_version,
        now=saved.version,
    )
    if len(sharing) > 1:
        what += "; " + gettext(
            "{names} share that version counter, and a write through any of them counts", names=listed(sharing)
        )
    target = sharing[-1] if sharing else gettext("the tensor")
    way = gettext("write to a copy ({name}.clone()), or write after backward", name=target)
    return Finding("stale", root, what, way, node.id, saved, sharing)


def _unseen(snap: Snapshot, root: str, node: Node, tensor: Tensor, other: Tensor) -> Finding:
    saved = next(one for one in node.saved if one.tensor == tensor.id)
    there, here = snap.label(other.id), snap.label(tensor.id)
    what = gettext(
        "{node} saved {saved}. The same memory is seen by {there}, whose own counter {other} has counted {writes}; "
        "counter {counter} of {here}, which backward checks, has not seen them. If they came after the save, the "
        "gradient is wrong without an error",
        node=short(node.name),
        saved=_which(snap, saved),
        there=there,
        other=other.counter,
        writes=_writes(other),
        counter=tensor.counter,
        here=here,
    )
    way = gettext(
        "use {here}.detach() instead of .data (a write then raises), or write to a copy ({here}.detach().clone())",
        here=here,
    )
    return Finding("unseen write", root, what, way, node.id, saved, (here, there))


def _writes(tensor: Tensor) -> str:
    return ngettext("{number} write", "{number} writes", tensor.version or 0)


def _which(snap: Snapshot, saved: Saved) -> str:
    label = gettext("its {saved}", saved=saved.name)
    return label if saved.tensor is None else f"{label} ({snap.label(saved.tensor)})"


def _sharing(snap: Snapshot, which: str) -> tuple[str, ...]:
    """The names of the tensors that share a tensor's version counter, itself first."""
    tensor = snap.tensor(which)
    same = [which]
    if tensor.counter is not None:
        same += [tid for tid in snap.counter(tensor.counter).tensors if tid != which and snap.tensor(tid).names]
    return tuple(snap.label(tid) for tid in same)


# -- what the pictures say ---------------------------------------------------------


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
                if other.counter != tensor.counter and key not in seen and tensor.overlaps(other):
                    seen.add(key)
                    found.append((tensor, other, node))
    return found


def troubles(snap: Snapshot) -> dict[str, tuple[str, ...]]:
    """For each tensor in trouble, by its id, what to say about it."""
    found: dict[str, dict[str, None]] = {}
    for node, saved in stale(snap):
        if saved.tensor is not None:
            found.setdefault(saved.tensor, {})[_saved_it(node, saved)] = None
    for tensor, other, _ in unseen_writes(snap):
        said = gettext(
            "{other} counted {writes} here that {own} did not see: backward may be silently wrong",
            other=other.counter,
            writes=_writes(other),
            own=tensor.counter,
        )
        found.setdefault(tensor.id, {})[said] = None
    return {tid: tuple(sentences) for tid, sentences in found.items()}


def nameless(snap: Snapshot, shown: frozenset[str]) -> list[str]:
    """What to say about stale saved tensors that are not among those shown."""
    said = [_saved_it(node, saved) for node, saved in stale(snap) if saved.tensor not in shown]
    return [gettext("a tensor without a name: {sentence}", sentence=one) for one in dict.fromkeys(said)]


def perhaps(snap: Snapshot) -> dict[tuple[str, str], str]:
    """(node, tensor that it saved) -> through which others it may have been written, unseen by its counter."""
    found: dict[tuple[str, str], list[str]] = {}
    for tensor, other, node in unseen_writes(snap):
        found.setdefault((node.id, tensor.id), []).append(snap.label(other.id))
    return {key: listed(labels) for key, labels in found.items()}


def _saved_it(node: Node, saved: Saved) -> str:
    return gettext(
        "{node} saved it at version {then}, now at {now}: backward will raise",
        node=short(node.name),
        then=saved.saved_version,
        now=saved.version,
    )


# -- which line is to blame --------------------------------------------------------


@dataclass(frozen=True)
class Past:
    """What a step left behind, with the line that ran; line 0 is the state before the first."""

    line: int
    source: str
    snapshot: Snapshot
    function: str = ""
    """Of which function its line is, where there are several."""

    @property
    def where(self) -> str:
        """`line 4, c.zero_()`; with a function, `f, line 4, c.zero_()`."""
        source = shorten(" ".join(self.source.split()), 60)
        if self.function:
            return gettext("{function}, line {line}, {source}", function=self.function, line=self.line, source=source)
        return gettext("line {line}, {source}", line=self.line, source=source)


def blame(past: Sequence[Past], error: str | None, after: Snapshot) -> tuple[str, ...]:
    """Sentences on what a step that ran backward owes to earlier lines; none for other steps.

    `past` ends with what the step found, `error` is what it raised, `after` what it left behind.
    """
    if not past or not past[-1].snapshot.nodes:
        return ()
    if error is not None and "modified by an inplace operation" in error:
        kind = "stale"
    elif error is None and _freed(after) > _freed(past[-1].snapshot):
        kind = "unseen write"
    else:
        return ()
    found: dict[tuple[object, ...], tuple[Finding, Node, Saved]] = {}
    for one in explain(past[-1].snapshot).findings:
        if one.kind == kind and one.saved is not None and one.node is not None:
            key = (one.node, one.saved.name, one.sharing)
            found.setdefault(key, (one, past[-1].snapshot.node(one.node), one.saved))
    return tuple(clean(sentence) for three in found.values() for sentence in _blamed(past, *three))


def _freed(snapshot: Snapshot) -> int:
    return sum(saved.state == "freed" for node in snapshot.nodes for saved in node.saved)


def _blamed(past: Sequence[Past], finding: Finding, node: Node, saved: Saved) -> Iterator[str]:
    kept = [_entry(one.snapshot, node.key, saved.name) for one in past]
    made = next((k for k, entry in enumerate(kept) if entry is not None), len(past) - 1)
    first = kept[made] or saved
    names = past[made].snapshot.tensor(first.tensor).names if first.tensor is not None else ()
    when = gettext(
        "{node} saved its {saved} ({names}) on {where}.",
        node=short(node.name),
        saved=saved.name,
        names=" = ".join(names) or gettext("without a name"),
        where=past[made].where,
    )
    if finding.kind == "stale":
        lines = few(_rises(past, made, [entry.version if entry else None for entry in kept]))
        said = gettext("It was written afterwards on {lines}.", lines=lines or gettext("a line that was not stepped"))
        if finding.sharing[1:]:
            names = few(finding.sharing)
            said += " " + gettext("{names} share that memory and its version counter.", names=names)
    else:
        now = past[-1].snapshot
        tensor = now.tensor(saved.tensor or "")
        beside = {one.counter for one in now.tensors if one.storage == tensor.storage} - {tensor.counter, None}
        rises = [_rises(past, made, _versions(past, counter)) for counter in sorted(map(str, beside))]
        lines = few(line for some in rises for line in some)
        if not lines:
            return  # written before it was saved: nothing is wrong
        said = gettext(
            "The same memory was written afterwards on {lines}, past its version counter: the gradient was computed "
            "from the new values, and no error says so.",
            lines=lines,
        )
    yield f"{when} {said}"
    yield gettext("Way out: {way}.", way=finding.way_out)


def _entry(snapshot: Snapshot, key: object, name: str) -> Saved | None:
    """What a node, known by its key, keeps under a name."""
    nodes = [node for node in snapshot.nodes if node.key == key and key is not None]
    return next((saved for node in nodes for saved in node.saved if saved.name == name), None)


def _versions(past: Sequence[Past], counter: str) -> list[int | None]:
    return [next((one.version for one in step.snapshot.counters if one.id == counter), None) for step in past]


def _rises(past: Sequence[Past], start: int, versions: Sequence[int | None]) -> list[str]:
    """The lines after step `start` at which a version went up, or was first seen above 0."""
    lines: dict[str, None] = {}
    last = 0
    for k, version in enumerate(versions):
        if version is not None:
            if k > start and version > last:
                lines[past[k].where] = None
            last = version
    return list(lines)
