"""Which lines are to blame for a backward that failed, or whose gradient is wrong: read from the looks after each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .catalogue import gettext
from .causes import Finding, causes, reached
from .labels import clean, few, short, shorten
from .read.records import Node, Saved, Snapshot

_ERROR = re.compile(r"modified by an inplace operation: .*is at version (\d+); expected version (\d+)", re.DOTALL)


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


class Blame(NamedTuple):
    """Which lines are to blame, in sentences, and the keys of the nodes that saved what they wrote to."""

    sentences: tuple[str, ...] = ()
    nodes: frozenset[object] = frozenset()


def blame(past: Sequence[Past], source: str, error: str | None, after: Snapshot) -> Blame:
    """Sentences on what a step that ran backward owes to earlier lines; none for other steps.

    `past` ends with what the step found, `source` is its line, `error` what it raised, `after` what it left behind.
    Only what that backward reaches is blamed.
    """
    snap = past[-1].snapshot if past else None
    if snap is None or not snap.nodes:
        return Blame()
    versions = _ERROR.search(error or "")
    nodes = _named_in(snap, source)
    if error is None:
        nodes = _used_up(snap, after) or (nodes if "backward" in source else [])
    elif versions is None:
        return Blame()
    lines: dict[str, None] = {}
    blamed: set[object] = set()
    for finding in causes(snap, nodes):
        pairs = [(snap.node(node), saved) for node, saved in finding.saved]
        if versions is not None:
            raised = [
                pair for pair in pairs if [str(pair[1].version), str(pair[1].saved_version)] == [*versions.groups()]
            ]
            pairs = raised if finding.kind == "stale" else []
        elif finding.kind == "stale":
            pairs = []
        lines |= dict.fromkeys(_blamed(past, finding, pairs))
        blamed |= {pair[0].key for pair in pairs if any(_blamed(past, finding, [pair]))}
    return Blame(tuple(map(clean, lines)), frozenset(blamed))


def _named_in(snap: Snapshot, source: str) -> list[Node]:
    """The nodes behind the tensors that a line names; all nodes if it names none that has any."""
    found = {tid for name, tid in snap.names if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source)}
    return reached(snap, [snap.tensor(tid) for tid in found]) or list(snap.nodes)


def _used_up(before: Snapshot, after: Snapshot) -> list[Node]:
    """The nodes that have given back what they saved, as they were before."""
    freed = {node.key for node in after.nodes if any(saved.state == "freed" for saved in node.saved)}
    return [node for node in before.nodes if node.key in freed and any(saved.state == "live" for saved in node.saved)]


def _blamed(past: Sequence[Past], finding: Finding, pairs: list[tuple[Node, Saved]]) -> Iterator[str]:
    """What there is to say of the first of the saved tensors that a line wrote to after it was saved."""
    for node, saved in pairs:
        kept = [_entry(one.snapshot, node.key, saved.name) for one in past]
        made = next((k for k, entry in enumerate(kept) if entry is not None), len(past) - 1)
        lines = few(_written(past, made, kept, saved))
        if finding.kind == "stale":
            lines = lines or gettext("a line that was not stepped")
            said = gettext("It was written afterwards on {lines}.", lines=lines)
            if finding.sharing[1:]:
                names = few(finding.sharing)
                said += " " + gettext("{names} share that memory and its version counter.", names=names)
        elif lines:
            said = gettext(
                "The same memory was written afterwards on {lines}, past its version counter: the gradient was computed "
                "from the new values, and no error says so.",
                lines=lines,
            )
        else:
            continue  # written before it was saved: nothing is wrong
        first = kept[made] or saved
        name = gettext("without a name") if first.tensor is None else past[made].snapshot.label(first.tensor)
        when = gettext(
            "{node} saved its {saved} ({names}) on {where}.",
            node=short(node.name),
            saved=saved.name,
            names=name,
            where=past[made].where,
        )
        yield f"{when} {said}"
        yield gettext("Way out: {way}.", way=finding.way_out)
        return


def _written(past: Sequence[Past], made: int, kept: Sequence[Saved | None], saved: Saved) -> Iterator[str]:
    """The lines that wrote to a saved tensor after step `made`, which saved it."""
    if saved.state == "stale":
        yield from _changes(past, made, [entry.version if entry else None for entry in kept])
    elif saved.kept is False:
        yield from _changes(past, made, [entry.bytes_now if entry else None for entry in kept])
    elif saved.kept is None and saved.tensor is not None:
        # Its bytes were not compared: the counters of other tensors over the same memory are all there is.
        now = past[-1].snapshot
        tensor = now.tensor(saved.tensor)
        beside = {one.counter for one in now.tensors if one.storage == tensor.storage} - {tensor.counter, None}
        for counter in sorted(map(str, beside)):
            versions = [next((c.version for c in one.snapshot.counters if c.id == counter), 0) for one in past]
            yield from _changes(past, made, versions)


def _entry(snapshot: Snapshot, key: object, name: str) -> Saved | None:
    """What a node, known by its key, keeps under a name."""
    nodes = [node for node in snapshot.nodes if node.key == key and key is not None]
    return next((saved for node in nodes for saved in node.saved if saved.name == name), None)


def _changes(past: Sequence[Past], start: int, values: Sequence[object]) -> Iterator[str]:
    """The lines after step `start` at which a value became another one."""
    last = values[start]
    for one, value in zip(past[start + 1 :], values[start + 1 :], strict=True):
        if value is not None and value != last:
            yield one.where
            last = value
