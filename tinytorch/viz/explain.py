"""Say before backward is called whether it would raise, or give a wrong gradient without a word.

Everything is read from a snapshot. A stale saved tensor makes backward raise. A write
that the saved tensor's version counter did not see does not, and the gradient is then
computed from the new values; such writes show in the counters of other tensors over
the same memory, as long as those tensors are still there to be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .labels import clean, few, listed, plural, shape, short, shorten, told
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

    def __repr__(self) -> str:
        return self.text


def explain(*tensors: Any, **named: Any) -> Explanation:
    """Say in words what `backward()` on these tensors would do; it is not called.

    The arguments are those of `snapshot`, or a snapshot. Tensors given besides the one in question
    are known by name: the more of them, the more can be said about who wrote where.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    snap = read(tensors, named, sys._getframe(1))
    roots = _roots(snap)
    found = [finding for root in roots for finding in _findings(snap, root)]
    lines: list[str] = []
    for root in roots:
        own = [finding for finding in found if finding.root == snap.label(root.id)]
        lines += _told(snap, root, own)
    if not roots:
        lines = ["There is no tensor that backward could be called on."]
    lines += [f"Note: {note}; what lies beyond is not known." for note in snap.notes]
    raises = any(finding.kind != "unseen write" for finding in found)
    verdict = "nothing to do" if not roots else "raises" if raises else "may be wrong" if found else "runs"
    return Explanation(verdict, tuple(found), told(lines))


def _roots(snap: Snapshot) -> list[Tensor]:
    """The named results that nothing else named was computed from; all named tensors if there is no result."""
    named = [snap.tensor(tid) for tid in dict.fromkeys(tid for _, tid in snap.names)]
    results = [tensor for tensor in named if tensor.grad_fn is not None or tensor.is_leaf is None]
    below = {node.id for tensor in results for node in _reached(snap, tensor)[1:]}
    return [tensor for tensor in results if tensor.grad_fn not in below] or named[:1]


def _reached(snap: Snapshot, root: Tensor) -> list[Node]:
    """The nodes that backward would walk, the root's own first."""
    if root.grad_fn is None:
        return []
    nodes = {node.id: node for node in snap.nodes}
    order = {root.grad_fn: None}
    waiting = [root.grad_fn]
    while waiting:
        for edge in nodes[waiting.pop()].edges:
            if edge.node is not None and edge.node not in order:
                order[edge.node] = None
                waiting.append(edge.node)
    return [nodes[name] for name in order]


def _findings(snap: Snapshot, root: Tensor) -> Iterator[Finding]:
    name = snap.label(root.id)
    if root.is_leaf is None:
        yield Finding(
            "invalid",
            name,
            f"{name} is a view that was made in no_grad mode, and its base was written since",
            "make the view outside of no_grad, or write inside of it",
        )
        return
    if not root.requires_grad:
        yield Finding(
            "no grad",
            name,
            f"{name} requires no grad: it was not computed from a tensor that does, or was cut off by detach or .data",
            "call requires_grad_() on the leaf before computing, and keep detach out of the way",
        )
        return
    if root.numel != 1:
        yield Finding(
            "not a scalar",
            name,
            f"{name} has {root.numel:,} elements, and backward() without an argument wants one",
            f"call {name}.sum().backward(), or give backward a gradient of shape {shape(root.shape)}",
        )
    for node in _reached(snap, root):
        for saved in node.saved:
            if saved.state == "stale":
                yield _stale(snap, name, node, saved)
            elif saved.state == "freed":
                yield Finding(
                    "freed",
                    name,
                    f"{short(node.name)} gave its saved {saved.name} back in an earlier backward",
                    "compute the result anew, or call the earlier backward with retain_graph=True",
                    node.id,
                    saved,
                )
    for tensor, other, node in unseen_writes(snap):
        if node in _reached(snap, root):
            yield _unseen(snap, name, node, tensor, other)


def _stale(snap: Snapshot, root: str, node: Node, saved: Saved) -> Finding:
    sharing: tuple[str, ...] = ()
    what = f"{short(node.name)} saved {_which(snap, saved)} at version {saved.saved_version}, now at {saved.version}"
    times = (saved.version or 0) - (saved.saved_version or 0)
    what += f": it was written {plural(times, 'time')} since"
    if saved.tensor is not None:
        sharing = _sharing(snap, saved.tensor)
        if len(sharing) > 1:
            what += f"; {listed(sharing)} share that version counter, and a write through any of them counts"
    target = sharing[-1] if len(sharing) > 1 else sharing[0] if sharing else "the tensor"
    way = f"write to a copy ({target}.clone()), or write after backward"
    return Finding("stale", root, what, way, node.id, saved, sharing)


def _unseen(snap: Snapshot, root: str, node: Node, tensor: Tensor, other: Tensor) -> Finding:
    saved = next(one for one in node.saved if one.tensor == tensor.id)
    there, here = snap.label(other.id), snap.label(tensor.id)
    what = (
        f"{short(node.name)} saved {_which(snap, saved)}. The same memory is seen by {there}, whose own counter "
        f"{other.counter} has counted {plural(other.version or 0, 'write')}; counter {tensor.counter} of {here}, "
        f"which backward checks, has not seen them. If they came after the save, the gradient is wrong without an error"
    )
    way = f"use {here}.detach() instead of .data (a write then raises), or write to a copy ({here}.detach().clone())"
    return Finding("unseen write", root, what, way, node.id, saved, (here, there))


def _which(snap: Snapshot, saved: Saved) -> str:
    label = f"its {saved.name}"
    return label if saved.tensor is None else f"{label} ({snap.label(saved.tensor)})"


def _sharing(snap: Snapshot, which: str) -> tuple[str, ...]:
    """The names of the tensors that share a tensor's version counter, itself first."""
    tensor = snap.tensor(which)
    same = [which]
    if tensor.counter is not None:
        same += [tid for tid in snap.counter(tensor.counter).tensors if tid != which and snap.tensor(tid).names]
    return tuple(snap.label(tid) for tid in same)


def _told(snap: Snapshot, root: Tensor, findings: list[Finding]) -> list[str]:
    name = snap.label(root.id)
    if not findings:
        leaves = [node.variable for node in _reached(snap, root) if node.variable is not None]
        if root.is_leaf:
            leaves = [root.id]
        grads = listed([snap.grad_label(leaf) for leaf in leaves])
        return [f"{name}.backward() would run. It adds to {grads}."]
    raises = any(finding.kind != "unseen write" for finding in findings)
    lines = [
        f"{name}.backward() would raise." if raises else f"{name}.backward() would run, but may give a wrong gradient."
    ]
    for finding in findings:
        lines += [f"  - {finding.what}.", f"    Way out: {finding.way_out}."]
    return lines


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
        found.setdefault((node.id, tensor.id), []).append(snap.label(other.id))
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
    return (tensor.last_cell() + 1) * tensor.itemsize + tensor.start_byte % tensor.itemsize


_STALE = "modified by an inplace operation"


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
        place = f"{self.function}, line {self.line}" if self.function else f"line {self.line}"
        return f"{place}, {shorten(' '.join(self.source.split()), 60)}"


def blame(past: Sequence[Past], error: str | None, after: Snapshot) -> tuple[str, ...]:
    """Sentences on what a step that ran backward owes to earlier lines; none for other steps.

    `past` ends with what the step found, `error` is what it raised, `after` what it left behind.
    """
    if not past or not past[-1].snapshot.nodes:
        return ()
    if error is not None and _STALE in error:
        kind = "stale"
    elif error is None and _freed(after) > _freed(past[-1].snapshot):
        kind = "unseen write"
    else:
        return ()
    found: dict[tuple[object, ...], Finding] = {}
    for finding in explain(past[-1].snapshot).findings:
        if finding.kind == kind and finding.saved is not None:
            found.setdefault((finding.node, finding.saved.name, finding.sharing), finding)
    return tuple(clean(sentence) for finding in found.values() for sentence in _blamed(past, finding))


def _freed(snapshot: Snapshot) -> int:
    return sum(saved.state == "freed" for node in snapshot.nodes for saved in node.saved)


def _blamed(past: Sequence[Past], finding: Finding) -> Iterator[str]:
    now, saved = past[-1].snapshot, finding.saved
    if saved is None or finding.node is None:
        return
    node = now.node(finding.node)
    kept = [_entry(one.snapshot, node.key, saved.name) for one in past]
    made = next((k for k, entry in enumerate(kept) if entry is not None), len(past) - 1)
    first = kept[made] or saved
    names = past[made].snapshot.tensor(first.tensor).names if first.tensor is not None else ()
    what = f"its {saved.name} ({' = '.join(names) or 'without a name'})"
    when = f"{node.name.rpartition('::')[2]} saved {what} on {past[made].where}."
    if finding.kind == "stale":
        lines = (
            few(_rises(past, made, [entry.version if entry else None for entry in kept]))
            or "a line that was not stepped"
        )
        shared = f" {few(finding.sharing)} share that memory and its version counter." if finding.sharing[1:] else ""
        yield f"{when} It was written afterwards on {lines}.{shared}"
    elif saved.tensor is not None:
        tensor = now.tensor(saved.tensor)
        beside = {one.counter for one in now.tensors if one.storage == tensor.storage} - {tensor.counter}
        rises = [_rises(past, made, _versions(past, counter)) for counter in sorted(filter(None, beside))]
        lines = few(line for some in rises for line in some)
        if not lines:
            return  # written before it was saved: nothing is wrong
        yield (
            f"{when} The same memory was written afterwards on {lines}, past its version counter: "
            f"the gradient was computed from the new values, and no error says so."
        )
    yield f"Way out: {finding.way_out}."


def _entry(snapshot: Snapshot, key: object, name: str) -> Saved | None:
    """What a node, known by its key, keeps under a name."""
    if key is None:
        return None
    kept = (saved for node in snapshot.nodes if node.key == key for saved in node.saved)
    return next((saved for saved in kept if saved.name == name), None)


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
