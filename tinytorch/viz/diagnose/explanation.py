"""Say before backward is called whether it would raise, or give a wrong gradient without an error.

Everything is read from snapshots. Two things are asked: does backward raise, and is the gradient
that of the values which were saved? The first is known where nothing in the graph is hidden (a
hook, a Function in Python, a packed tensor are) and each operation is one that does not refuse
values. The second cannot be known from one snapshot: a write through `.data`, NumPy or a storage
leaves no trace in what it wrote. Whoever had the tensor may have done it and be gone, so neither
counters nor references prove that nobody did. Computing saved values anew would not prove it
either: the inputs have nothing that they could be computed from, and `(x * x).sum()` is the same
for -x. What does prove it are bytes that were compared. So `explain(loss)` says "runs" where
nothing was saved that could have been written, and "unknown" elsewhere; `explain(loss,
since=earlier)` says "runs" where all that was saved is, byte for byte, what it was in that
snapshot. A write between the save and the first snapshot is not seen: take it early. `steps`
takes one after each line; `blame` reads from these which line it was.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..read import NodeRecord, Snapshot, TensorRecord, read_snapshot
from ..wording import format_repr, gettext, join_few_names, join_lines, ngettext
from .backward_findings import find_findings
from .finding import BackwardFinding, all_saved

_MAX_FINDINGS = 4
"""Maximum number of findings reported per tensor."""
_DOUBTFUL_KINDS = {"not known", "not compared"}
"""Kinds of findings that prove nothing, neither an error nor a wrong gradient."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `backward` would do.

    `verdict` is "raises", "may be wrong", "runs" or "unknown"; `findings` say why.
    """

    verdict: str
    findings: tuple[BackwardFinding, ...]
    text: str
    """The verdict on each tensor that backward could be called on, with its findings, in
    sentences."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return format_repr(self.text.partition("\n")[0])

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text}


def explain(*tensors: Any, since: Snapshot | None = None, **named: Any) -> Explanation:
    """Say in words what `backward()` on these tensors would do, called in turn; it is not called.

    >>> x = torch.ones(2, requires_grad=True)
    >>> y = x.exp()
    >>> loss = y.sum()
    >>> y = y.zero_()
    >>> print(explain(loss, y))
    loss.backward() would raise.
    ...

    The arguments are those of `snapshot`, or a snapshot. Tensors given besides the one in question
    are known by name: the more of them, the more can be said about who wrote where. With `since`,
    an earlier snapshot, what was saved is compared with what it was then; without it a write that
    no version counter saw cannot be excluded, and the verdict is "unknown" where something was
    saved.

    Raises TypeError for an argument that is not a tensor and contains none.
    """
    snap = read_snapshot(tensors, named, sys._getframe(1), since)
    all_findings: list[BackwardFinding] = []
    lines: list[str] = []
    used: dict[str, str] = {}
    roots = _find_roots(snap)
    for root in roots:
        nodes = snap.nodes_behind(root)
        findings = list(find_findings(snap, root, nodes, used))
        # If it is known to raise, or to have missed a write, the doubts do not matter any more.
        if _decide_verdict(findings) != "unknown":
            findings = [each for each in findings if each.kind not in _DOUBTFUL_KINDS]
        lines += _describe_root(snap, root, nodes, findings)
        all_findings += findings
        # A backward on the next root finds what this one has freed.
        used |= dict.fromkeys((node.id for node in nodes), snap.label(root.id))
    if not roots:
        lines = [gettext("There is no tensor that backward could be called on.")]
    lines += [
        gettext("Note: {note}; what lies beyond is not known.", note=note) for note in snap.notes
    ]
    verdict = _decide_verdict(all_findings) if roots else "raises"
    return Explanation(verdict, tuple(all_findings), join_lines(lines))


def _find_roots(snap: Snapshot) -> list[TensorRecord]:
    """Return the named results that nothing else named was computed from.

    All named tensors if there is no result.
    """
    results = [
        tensor
        for tensor in snap.named_tensors
        if tensor.grad_fn is not None or tensor.is_leaf is None
    ]
    # In one walk: one for each result would take the square of the nodes where all have names.
    node_ids_below = {node.id for node in snap.nodes_below(*results)}
    roots = [tensor for tensor in results if tensor.grad_fn not in node_ids_below]
    return roots or list(snap.named_tensors[:1])


def _decide_verdict(findings: Collection[BackwardFinding]) -> str:
    kinds = {finding.kind for finding in findings}
    if not kinds:
        return "runs"
    if kinds - _DOUBTFUL_KINDS - {"unseen write"}:
        return "raises"
    # A backward that may raise is not one whose gradient "may be wrong".
    if "not known" in kinds or "unseen write" not in kinds:
        return "unknown"
    return "may be wrong"


def _describe_root(
    snap: Snapshot,
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    findings: Sequence[BackwardFinding],
) -> Iterator[str]:
    """Yield the lines of text on a backward that starts at one tensor."""
    yield from _describe_verdict(snap, root, nodes, findings)
    for finding in findings[:_MAX_FINDINGS]:
        yield "  - " + gettext("{sentence}.", sentence=finding.sentence)
        if finding.way_out:
            yield "    " + gettext("Way out: {way}.", way=finding.way_out)
    if len(findings) > _MAX_FINDINGS:
        others = len(findings) - _MAX_FINDINGS
        yield "  - " + ngettext("And {number} more cause.", "And {number} more causes.", others)


def _describe_verdict(
    snap: Snapshot,
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    findings: Sequence[BackwardFinding],
) -> Iterator[str]:
    name, verdict = snap.label(root.id), _decide_verdict(findings)
    grads = _name_grads(snap, root, nodes)
    if verdict == "runs":
        yield gettext("{name}.backward() would run. It adds to {grads}.", name=name, grads=grads)
        if any(saved.tensor and saved.bytes_unchanged for _, saved in all_saved(nodes)):
            yield gettext("What was saved holds the bytes of the earlier look.")
    elif verdict == "raises":
        yield gettext("{name}.backward() would raise.", name=name)
    elif verdict == "may be wrong":
        yield gettext("{name}.backward() would run, but may give a wrong gradient.", name=name)
    elif any(finding.kind == "not known" for finding in findings):
        yield gettext(
            "Whether {name}.backward() would run and give the right gradient is not known.",
            name=name,
        )
    else:
        yield gettext(
            "{name}.backward() would add to {grads}, if nothing changed unseen.",
            name=name,
            grads=grads,
        )


def _name_grads(snap: Snapshot, root: TensorRecord, nodes: Sequence[NodeRecord]) -> str:
    """Return the names of the gradients that a backward on `root` adds to."""
    leaves = [node.variable for node in nodes if node.variable is not None]
    if root.is_leaf:
        # A leaf has no grad_fn, and its backward() adds to its own .grad.
        leaves = [root.id]
    labels = snap.grad_labels([leaf for leaf in leaves if snap.tensor(leaf).requires_grad])
    return join_few_names(labels) or gettext("no .grad")
