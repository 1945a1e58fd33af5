"""Say before backward is called whether it would raise, or give a wrong gradient without a word.

Everything is read from a snapshot. A stale saved tensor makes backward raise. A write
that the saved tensor's version counter did not see does not, and the gradient is then
computed from the new values; such writes show in the counters of other tensors over
the same memory, as long as those tensors are still there to be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import words
from .records import Node, Saved, Snapshot, Tensor
from .snapshot import read
from .text import told
from .trouble import unseen_writes


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
        own = [finding for finding in found if finding.root == words.label(snap, root.id)]
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
    name = words.label(snap, root.id)
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
            f"call {name}.sum().backward(), or give backward a gradient of shape {words.shape(root.shape)}",
        )
    for node in _reached(snap, root):
        for saved in node.saved:
            if saved.state == "stale":
                yield _stale(snap, name, node, saved)
            elif saved.state == "freed":
                yield Finding(
                    "freed",
                    name,
                    f"{words.short(node.name)} gave its saved {saved.name} back in an earlier backward",
                    "compute the result anew, or call the earlier backward with retain_graph=True",
                    node.id,
                    saved,
                )
    for tensor, other, node in unseen_writes(snap):
        if node in _reached(snap, root):
            yield _unseen(snap, name, node, tensor, other)


def _stale(snap: Snapshot, root: str, node: Node, saved: Saved) -> Finding:
    sharing: tuple[str, ...] = ()
    what = (
        f"{words.short(node.name)} saved {_which(snap, saved)} at version {saved.saved_version}, now at {saved.version}"
    )
    times = (saved.version or 0) - (saved.saved_version or 0)
    what += f": it was written {words.plural(times, 'time')} since"
    if saved.tensor is not None:
        sharing = _sharing(snap, saved.tensor)
        if len(sharing) > 1:
            what += f"; {words.listed(sharing)} share that version counter, and a write through any of them counts"
    target = sharing[-1] if len(sharing) > 1 else sharing[0] if sharing else "the tensor"
    way = f"write to a copy ({target}.clone()), or write after backward"
    return Finding("stale", root, what, way, node.id, saved, sharing)


def _unseen(snap: Snapshot, root: str, node: Node, tensor: Tensor, other: Tensor) -> Finding:
    saved = next(one for one in node.saved if one.tensor == tensor.id)
    there, here = words.label(snap, other.id), words.label(snap, tensor.id)
    what = (
        f"{words.short(node.name)} saved {_which(snap, saved)}. The same memory is seen by {there}, whose own counter "
        f"{other.counter} has counted {words.plural(other.version or 0, 'write')}; counter {tensor.counter} of {here}, "
        f"which backward checks, has not seen them. If they came after the save, the gradient is wrong without an error"
    )
    way = f"use {here}.detach() instead of .data (a write then raises), or write to a copy ({here}.detach().clone())"
    return Finding("unseen write", root, what, way, node.id, saved, (here, there))


def _which(snap: Snapshot, saved: Saved) -> str:
    label = f"its {saved.name}"
    return label if saved.tensor is None else f"{label} ({words.label(snap, saved.tensor)})"


def _sharing(snap: Snapshot, which: str) -> tuple[str, ...]:
    """The names of the tensors that share a tensor's version counter, itself first."""
    tensor = snap.tensor(which)
    same = [which]
    if tensor.counter is not None:
        same += [tid for tid in snap.counter(tensor.counter).tensors if tid != which and snap.tensor(tid).names]
    return tuple(words.label(snap, tid) for tid in same)


def _told(snap: Snapshot, root: Tensor, findings: list[Finding]) -> list[str]:
    name = words.label(snap, root.id)
    if not findings:
        leaves = [node.variable for node in _reached(snap, root) if node.variable is not None]
        if root.is_leaf:
            leaves = [root.id]
        grads = words.listed([words.grad_of(snap, leaf) for leaf in leaves])
        return [f"{name}.backward() would run. It adds to {grads}."]
    raises = any(finding.kind != "unseen write" for finding in findings)
    lines = [
        f"{name}.backward() would raise." if raises else f"{name}.backward() would run, but may give a wrong gradient."
    ]
    for finding in findings:
        lines += [f"  - {finding.what}.", f"    Way out: {finding.way_out}."]
    return lines
