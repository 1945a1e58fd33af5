"""Say before backward is called whether it would raise, or give a wrong gradient without a word.

Everything is read from snapshots. Two things are asked: does backward raise, and is the gradient that of the values
which were saved? The first is known where nothing in the graph is hidden (a hook, a Function in Python, a packed tensor
are) and each operation is one that does not refuse values. The second cannot be known from one look: a write through
`.data`, NumPy or a storage leaves no trace in what it wrote. Whoever had the tensor may have done it and be gone, so
neither counters nor references prove that nobody did. Computing saved values anew would not prove it either: the inputs
have nothing that they could be computed from, and `(x * x).sum()` is the same for -x. What does prove it are bytes that
were compared. So `explain(loss)` says "runs" where nothing was saved that could have been written, and "unknown"
elsewhere; `explain(loss, since=earlier)` says "runs" where all that was saved is, byte for byte, what it was at that
look. A write between the save and the first look is not seen: look early. `steps` looks after each line; `blame` reads from these looks which line it was.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..read import Node, Saved, Snapshot, Tensor, read_snapshot
from ..wording import (
    escape_unseen,
    format_repr,
    gettext,
    join_few_names,
    join_lines,
    join_names,
    ngettext,
    short_node_name,
    shorten_text,
)
from .hazards import Finding, count_writes, find_findings, find_write_findings, unseen_writes

_MOST = 4
"""So many causes are told of one tensor."""
_ERROR = re.compile(
    r"modified by an inplace operation: .*is at version (\d+); expected version (\d+)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `backward` would do. `verdict` is "raises", "may be wrong", "runs" or "unknown"; `findings` say why."""

    verdict: str
    findings: tuple[Finding, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return format_repr(self.text.partition("\n")[0])

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text}


def explain(*tensors: Any, since: Snapshot | None = None, **named: Any) -> Explanation:
    """Say in words what `backward()` on these tensors would do, on one after the other; it is not called.

    >>> x = torch.ones(2, requires_grad=True)
    >>> y = x.exp()
    >>> loss = y.sum()
    >>> y = y.zero_()
    >>> print(explain(loss, y))
    loss.backward() would raise.
    ...

    The arguments are those of `snapshot`, or a snapshot. Tensors given besides the one in question
    are known by name: the more of them, the more can be said about who wrote where. With `since`, an earlier
    snapshot, what was saved is compared with what it was then; without it a write that no version counter saw cannot be
    excluded, and the verdict is "unknown" where something was saved.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    snap = read_snapshot(tensors, named, sys._getframe(1), since)
    found: list[Finding] = []
    lines: list[str] = []
    used: dict[str, str] = {}
    roots = _roots(snap)
    for root in roots:
        nodes = snap.nodes_behind(root)
        own = list(find_findings(snap, root, nodes, used))
        # Where it is known to raise, or that a write was not seen, nobody asks what else is not known.
        if _verdict(own) != "unknown":
            own = [finding for finding in own if finding.kind not in ("not known", "not compared")]
        lines += _told(snap, root, nodes, own)
        found += own
        used |= dict.fromkeys((node.id for node in nodes), snap.label(root.id))
    if not roots:
        lines = [gettext("There is no tensor that backward could be called on.")]
    lines += [
        gettext("Note: {note}; what lies beyond is not known.", note=note) for note in snap.notes
    ]
    return Explanation(_verdict(found) if roots else "raises", tuple(found), join_lines(lines))


def _verdict(found: list[Finding]) -> str:
    kinds = {finding.kind for finding in found}
    if kinds - {"not known", "not compared", "unseen write"}:
        return "raises"
    if "not known" in kinds or not kinds:
        return "unknown" if kinds else "runs"
    return "may be wrong" if "unseen write" in kinds else "unknown"


def _told(snap: Snapshot, root: Tensor, nodes: list[Node], found: list[Finding]) -> Iterator[str]:
    name, verdict = snap.label(root.id), _verdict(found)
    leaves = (
        [root.id]
        if root.is_leaf
        else [node.variable for node in nodes if node.variable is not None]
    )
    grads = join_few_names(
        snap.grad_labels([one for one in leaves if snap.tensor(one).requires_grad])
    ) or gettext("no .grad")
    if verdict == "runs":
        yield gettext("{name}.backward() would run. It adds to {grads}.", name=name, grads=grads)
        if any(saved.tensor and saved.bytes_unchanged for node in nodes for saved in node.saved):
            yield gettext("What was saved holds the bytes of the earlier look.")
    elif verdict == "raises":
        yield gettext("{name}.backward() would raise.", name=name)
    elif verdict == "may be wrong":
        yield gettext("{name}.backward() would run, but may give a wrong gradient.", name=name)
    elif any(finding.kind == "not known" for finding in found):
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
    for finding in found[:_MOST]:
        yield "  - " + gettext("{sentence}.", sentence=finding.what)
        if finding.way_out:
            yield "    " + gettext("Way out: {way}.", way=finding.way_out)
    if len(found) > _MOST:
        more = len(found) - _MOST
        yield "  - " + ngettext("And {number} more cause.", "And {number} more causes.", more)


def _roots(snap: Snapshot) -> list[Tensor]:
    """The named results that nothing else named was computed from; all named tensors if there is no result."""
    results = [
        tensor for tensor in snap.named if tensor.grad_fn is not None or tensor.is_leaf is None
    ]
    below = {node.id for tensor in results for node in snap.nodes_behind(tensor)[1:]}
    return [tensor for tensor in results if tensor.grad_fn not in below] or list(snap.named[:1])


# -- what the pictures say ---------------------------------------------------------


def find_stale_saved(snap: Snapshot) -> list[tuple[Node, Saved]]:
    """Everything that was written after it was saved, with the node that saved it."""
    return [(node, saved) for node in snap.nodes for saved in node.saved if saved.state == "stale"]


def describe_hazards(snap: Snapshot) -> dict[str, tuple[str, ...]]:
    """For each tensor in trouble, by its id, what to say about it."""
    found: dict[str, dict[str, None]] = {}
    for node, saved in find_stale_saved(snap):
        if saved.tensor is not None:
            found.setdefault(saved.tensor, {})[_saved_it(node, saved)] = None
    unseen = [
        (node, saved)
        for node in snap.nodes
        for saved in node.saved
        if saved.bytes_unchanged is False
    ]
    for node, saved in unseen:
        if saved.tensor is not None:
            said = gettext(
                "{node} saved it, and it was written past its version counter",
                node=short_node_name(node.name),
            )
            found.setdefault(saved.tensor, {})[said] = None
    for tensor, other, _ in unseen_writes(snap):
        said = gettext(
            "{other} counted {writes} here that {own} did not see: backward may be silently wrong",
            other=other.counter,
            writes=count_writes(other),
            own=tensor.counter,
        )
        found.setdefault(tensor.id, {})[said] = None
    return {tid: tuple(sentences) for tid, sentences in found.items()}


def describe_hazards_out_of_sight(snap: Snapshot, shown: frozenset[str]) -> list[str]:
    """What to say about stale saved tensors that are not among those shown."""
    said = [
        _saved_it(node, saved)
        for node, saved in find_stale_saved(snap)
        if saved.tensor not in shown
    ]
    return [
        gettext("a tensor without a name: {sentence}", sentence=one) for one in dict.fromkeys(said)
    ]


def find_possible_writers(snap: Snapshot) -> dict[tuple[str, str], str]:
    """(node, tensor that it saved) -> through which others it may have been written, unseen by its counter.

    What is known to have been written is not among them.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for tensor, other, node in unseen_writes(snap):
        if all(
            saved.bytes_unchanged is not False for saved in node.saved if saved.tensor == tensor.id
        ):
            found.setdefault((node.id, tensor.id), []).append(snap.label(other.id))
    return {key: join_names(labels) for key, labels in found.items()}


def _saved_it(node: Node, saved: Saved) -> str:
    return gettext(
        "{node} saved it at version {then}, now at {now}: backward will raise",
        node=short_node_name(node.name),
        then=saved.saved_version,
        now=saved.version,
    )


# -- which line it was ---------------------------------------------------------------


@dataclass(frozen=True)
class PastStep:
    """What a step left behind, with the line that ran; line 0 is the state before the first."""

    line: int
    source: str
    snapshot: Snapshot
    function: str = ""
    """Of which function its line is, where there are several."""

    @property
    def where(self) -> str:
        """`line 4, c.zero_()`; with a function, `f, line 4, c.zero_()`."""
        source = shorten_text(" ".join(self.source.split()), 60)
        if self.function:
            return gettext(
                "{function}, line {line}, {source}",
                function=self.function,
                line=self.line,
                source=source,
            )
        return gettext("line {line}, {source}", line=self.line, source=source)


class Blame(NamedTuple):
    """Which lines are to blame, in sentences, and the keys of the nodes that saved what they wrote to."""

    sentences: tuple[str, ...] = ()
    nodes: frozenset[object] = frozenset()


def blame_lines(past: Sequence[PastStep], source: str, error: str | None, after: Snapshot) -> Blame:
    """Sentences on what a step that ran backward owes to earlier lines; none for other steps.

    `past` ends with what the step found, `source` is its line, `error` what it raised, `after` what it left behind.
    Only what that backward reaches is blamed.
    """
    snap = past[-1].snapshot if past else None
    if snap is None or not snap.nodes:
        return Blame()
    versions = _ERROR.search(error or "")
    found = {
        tid for name, tid in snap.names if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source)
    }
    # Behind what the line names.
    nodes = snap.nodes_behind(*found) or list(snap.nodes)
    if error is None:
        given_back = {
            node.key for node in after.nodes if any(saved.state == "freed" for saved in node.saved)
        }
        live = (node for node in snap.nodes if any(saved.state == "live" for saved in node.saved))
        nodes = [node for node in live if node.key in given_back] or (
            nodes if "backward" in source else []
        )
    elif versions is None:
        return Blame()
    lines: dict[str, None] = {}
    blamed: set[object] = set()
    for finding in find_write_findings(snap, nodes):
        pairs = finding.saved
        if versions is not None:
            raised = [
                pair
                for pair in pairs
                if [str(pair[1].version), str(pair[1].saved_version)] == [*versions.groups()]
            ]
            pairs = raised if finding.kind == "stale" else []
        elif finding.kind == "stale":
            pairs = []
        lines |= dict.fromkeys(_blamed(past, finding, pairs))
        blamed |= {pair[0].key for pair in pairs if any(_blamed(past, finding, [pair]))}
    return Blame(tuple(map(escape_unseen, lines)), frozenset(blamed))


def _blamed(
    past: Sequence[PastStep], finding: Finding, pairs: Sequence[tuple[Node, Saved]]
) -> Iterator[str]:
    """What there is to say of the first of the saved tensors that a line wrote to after it was saved."""
    for node, saved in pairs:
        looks = (
            [one for each in look.snapshot.nodes if each.key == node.key for one in each.saved]
            for look in past
        )
        kept = [next((one for one in look if one.name == saved.name), None) for look in looks]
        made = next((k for k, entry in enumerate(kept) if entry is not None), len(past) - 1)
        lines = join_few_names(_written(past, made, kept, saved))
        if finding.kind == "stale":
            lines = lines or gettext("a line that was not stepped")
            said = gettext("It was written afterwards on {lines}.", lines=lines)
            if finding.sharing[1:]:
                names = join_few_names(finding.sharing)
                said += " " + gettext(
                    "{names} share that memory and its version counter.", names=names
                )
        elif lines:
            said = gettext(
                "The same memory was written afterwards on {lines}, past its version counter: the gradient was computed "
                "from the new values, and no error says so.",
                lines=lines,
            )
        else:
            continue  # written before it was saved: nothing is wrong
        first = kept[made] or saved
        name = (
            gettext("without a name")
            if first.tensor is None
            else past[made].snapshot.label(first.tensor)
        )
        when = gettext(
            "{node} saved its {saved} ({names}) on {where}.",
            node=short_node_name(node.name),
            saved=saved.name,
            names=name,
            where=past[made].where,
        )
        yield f"{when} {said}"
        yield gettext("Way out: {way}.", way=finding.way_out)
        return


def _written(
    past: Sequence[PastStep], made: int, kept: Sequence[Saved | None], saved: Saved
) -> Iterator[str]:
    """The lines that wrote to a saved tensor after step `made`, which saved it."""
    if saved.state == "stale":
        yield from _changes(past, made, [entry.version if entry else None for entry in kept])
    elif saved.bytes_unchanged is False:
        yield from _changes(past, made, [entry.bytes_now if entry else None for entry in kept])
    elif saved.bytes_unchanged is None and saved.tensor is not None:
        # Its bytes were not compared: the counters of other tensors over the same memory are all there is.
        now = past[-1].snapshot
        tensor = now.tensor(saved.tensor)
        beside = {one.counter for one in now.tensors if one.storage == tensor.storage} - {
            tensor.counter,
            None,
        }
        for counter in sorted(map(str, beside)):
            versions = [
                next((c.version for c in one.snapshot.counters if c.id == counter), 0)
                for one in past
            ]
            yield from _changes(past, made, versions)


def _changes(past: Sequence[PastStep], start: int, values: Sequence[object]) -> Iterator[str]:
    """The lines after step `start` at which a value became another one."""
    last = values[start]
    for one, value in zip(past[start + 1 :], values[start + 1 :], strict=True):
        if value is not None and value != last:
            yield one.where
            last = value
