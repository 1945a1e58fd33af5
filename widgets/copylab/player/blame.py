"""Which line made backward fail, or give a wrong gradient: the steps before it are asked.

A saved tensor became stale, or was written past its version counter, at some line. The pictures' `explain` knows which
tensor and who shares its memory; the snapshots of the steps know when the counter went up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch import viz
from tinytorch.viz.style import clean, shorten

from .changes import listed

if TYPE_CHECKING:
    from tinytorch.viz.explain import Finding
    from tinytorch.viz.records import Saved, Snapshot

_STALE = "modified by an inplace operation"


@dataclass(frozen=True)
class Past:
    """What a step left behind, with the line that ran; line 0 is the state before the first."""

    line: int
    source: str
    snapshot: Snapshot

    @property
    def where(self) -> str:
        """`line 4, c.zero_()`."""
        return f"line {self.line}, {shorten(' '.join(self.source.split()), 60)}"


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
    for finding in viz.explain(past[-1].snapshot).findings:
        if finding.kind == kind and finding.saved is not None:
            found.setdefault((finding.node, finding.saved.name, finding.sharing), finding)
    return tuple(clean(sentence) for finding in found.values() for sentence in _told(past, finding))


def _freed(snapshot: Snapshot) -> int:
    return sum(saved.state == "freed" for node in snapshot.nodes for saved in node.saved)


def _told(past: Sequence[Past], finding: Finding) -> Iterator[str]:
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
            listed(_rises(past, made, [entry.version if entry else None for entry in kept]))
            or "a line that was not stepped"
        )
        shared = f" {listed(finding.sharing)} share that memory and its version counter." if finding.sharing[1:] else ""
        yield f"{when} It was written afterwards on {lines}.{shared}"
    elif saved.tensor is not None:
        tensor = now.tensor(saved.tensor)
        beside = {one.counter for one in now.tensors if one.storage == tensor.storage} - {tensor.counter}
        rises = [_rises(past, made, _versions(past, counter)) for counter in sorted(filter(None, beside))]
        lines = listed(line for some in rises for line in some)
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
