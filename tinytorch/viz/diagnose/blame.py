"""Which line wrote to a saved tensor, found by comparing the snapshots after each line.

For the step player, which has those. A watch sees the write itself: `SavedRecord.line_to_blame`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from ..read import (
    NodeRecord,
    SavedRecord,
    Snapshot,
    StaleVersions,
    TensorRecord,
    parse_stale_versions,
)
from ..wording import (
    escape_unseen,
    gettext,
    join_few_names,
    join_sentences,
    short_node_name,
    shorten_text,
)
from .backward_findings import find_findings
from .finding_records import (
    BackwardFinding,
    FindingKind,
    SavedEntry,
    list_saved,
)
from .shared_phrases import advise_copy, saved_noun
from .write_findings import find_write_findings

_LEAF_WRITE = re.compile(
    r"\ba (view of a )?leaf Variable that requires grad is being used in an in"
)
_WORDS_OF_KIND: dict[FindingKind, str] = {
    "freed": "Trying to backward through the graph a second time",
    "no grad": "does not require grad and does not have a grad_fn",
    "not a scalar": "grad can be implicitly created only for",
}
"""Words of PyTorch's error, by the kind of the finding that explains it."""


@dataclass(frozen=True)
class PastStep:
    """One step of a program: the line that ran, and the snapshot after it.

    Line 0 is the state before the first.
    """

    line: int
    source: str
    """The text of the line."""
    snapshot: Snapshot
    function: str = ""
    """The function that its line is in, where there are several."""

    @property
    def label(self) -> str:
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
    """Which earlier lines are to blame for what a backward did."""

    sentences: tuple[str, ...] = ()
    """Why it raised, or which lines saved and wrote; then the ways out. Empty if none is to blame."""
    nodes: frozenset[object] = frozenset()
    """The keys of the nodes of which something saved was written to by these lines."""
    writers: frozenset[int] = frozenset()
    """The indices, in `past` of `blame_lines`, of the steps that wrote."""
    raised: frozenset[tuple[object, str]] = frozenset()
    """What the backward raised on: the key of the node, and the name of what it had saved."""
    reasons: tuple[str, ...] = ()
    """The sentences without the ways out."""


class _Reason(NamedTuple):
    """Why a line raised or went wrong, and what to do instead."""

    sentence: str
    """The lines or the call that led to it, in whole sentences."""
    way_out: str
    """The other way to write it, in a sentence."""


def blame_lines(past: Sequence[PastStep], source: str, error: str | None, after: Snapshot) -> Blame:
    """Return which earlier lines made a backward raise or give a wrong gradient.

    `past`: the steps before, the last of which is what the step found. `source`: its line, `error`:
    what it raised, `after`: the snapshot after it. Only what that backward visits is blamed; for a
    step without a backward there are no sentences, unless it wrote into a leaf.
    """
    if error is not None and (found := _LEAF_WRITE.search(error)):
        reason = _explain_leaf_write(is_view=bool(found[1]))
        return Blame((join_sentences(reason),), reasons=(reason.sentence,))
    snap = past[-1].snapshot if past else None
    if snap is None:
        return Blame()
    # Nothing was saved that could have been written to: it was refused where it began, if at all.
    if not snap.nodes:
        return _compose_blame(_explain_refused_start(snap, source, error or ""))
    # PyTorch's error says which versions differ, and of no tensor by name.
    raised_versions = parse_stale_versions(error or "")
    nodes = _find_nodes_of_step(snap, source)
    raised = _find_raised(snap, nodes, source, error)
    # An error of another kind is none that a write can explain.
    if error is not None and raised_versions is None:
        return _compose_blame(_explain_refused_start(snap, source, error), raised=raised)
    if error is None:
        # What a function called by the line did is not in its text, but in what was freed.
        nodes = _find_nodes_of_backward(snap, after, nodes if "backward" in source else [])
    reasons: list[_Reason] = []
    blamed_keys: set[object] = set()
    writers: set[int] = set()
    for finding in find_write_findings(snap, nodes):
        saved_entries = _select_entries_to_blame(finding, raised_versions)
        reasons += _blame_first_of(past, finding, saved_entries)
        for entry in saved_entries:
            # Nothing is said of what was written before it was saved.
            if any(_blame_first_of(past, finding, [entry])):
                blamed_keys.add(entry.node.key)
                writers |= set(_find_writers(past, entry))
    return _compose_blame(reasons, frozenset(blamed_keys), frozenset(writers), raised)


def _compose_blame(
    reasons: Sequence[_Reason],
    nodes: frozenset[object] = frozenset(),
    writers: frozenset[int] = frozenset(),
    raised: frozenset[tuple[object, str]] = frozenset(),
) -> Blame:
    """Return a blame for some reasons, each sentence once."""
    sentences = dict.fromkeys(chain.from_iterable(reasons))
    whys = dict.fromkeys(reason.sentence for reason in reasons)
    return Blame(
        tuple(map(escape_unseen, sentences)),
        nodes,
        writers,
        raised,
        tuple(map(escape_unseen, whys)),
    )


def _explain_refused_start(snap: Snapshot, source: str, error: str) -> list[_Reason]:
    """Say why PyTorch refused a backward for another reason than a write, as `explain` says it."""
    kind = next((kind for kind, words in _WORDS_OF_KIND.items() if words in error), None)
    if kind is None:
        return []
    called = re.search(r"(?<![\w.])([A-Za-z_][\w.]*)\.backward\(", source)
    roots = [tensor_id for name, tensor_id in snap.names if called and name == called[1]]
    # In `(y * 2).sum().backward()` what was freed is behind a tensor that the line names.
    if not roots and kind == "freed":
        roots = [tensor_id for name, tensor_id in snap.names if _is_named_in(source, name)]
    if not roots and kind == "no grad":
        roots = _list_operands(snap, source)
    for root in roots:
        for finding in find_findings(snap, snap.tensor(root), snap.nodes_behind(root), {}):
            if finding.kind == kind:
                sentence = gettext("{sentence}.", sentence=finding.sentence)
                way_out = gettext("Way out: {way}.", way=finding.way_out)
                return [_Reason(sentence, way_out)]
    return []


def _list_operands(snap: Snapshot, source: str) -> list[str]:
    """Return the tensors of `(h * h).backward()` if none requires grad and the line has no others."""
    try:
        statements = ast.parse(source.strip()).body
    except SyntaxError:
        return []
    match statements:
        case [ast.Expr(ast.Call(ast.Attribute(root, "backward")))]:
            used = {node.id for node in ast.walk(root) if isinstance(node, ast.Name)} - {"torch"}
            ids = dict(snap.names)
            # What a model does with `x` in `model(x).backward()` is not in the line.
            if used <= ids.keys() and not any(
                snap.tensor(ids[name]).requires_grad for name in used
            ):
                return [ids[name] for name in sorted(used)]
    return []


def _find_raised(
    snap: Snapshot, nodes: Iterable[NodeRecord], source: str, error: str | None
) -> frozenset[tuple[object, str]]:
    """Return what a backward raised on, as `Blame.raised`; nothing where several nodes may have raised."""
    # Looking at `y.grad_fn._saved_self` raises the same error.
    if error is None or not re.search(r"backward|\bgrad\(", source):
        return frozenset()
    versions = parse_stale_versions(error)
    found: dict[str, list[SavedEntry]] = {}
    for entry in list_saved(nodes):
        saved = entry.saved
        is_of_error = saved.state == "stale" and (saved.version, saved.saved_version) == versions
        # The error on what `detach_` cut off names no versions.
        if saved.state == "detached":
            is_of_error = "detached in-place" in error
        if is_of_error and saved.may_raise:
            found.setdefault(entry.node.id, []).append(entry)
    for node_id, saved_entries in found.items():
        # It is visited before the others, if they are behind it.
        if found.keys() <= {node.id for node in snap.nodes_from(node_id)}:
            return frozenset((node.key, saved.name) for node, saved in saved_entries)
    return frozenset()


def mark_raised(snap: Snapshot, raised: Collection[tuple[object, str]]) -> Snapshot:
    """Return a snapshot that knows on what a backward has raised: `Blame.raised` of the steps so far."""
    if not raised:
        return snap
    nodes = []
    for node in snap.nodes:
        records = []
        for record in node.saved:
            has_raised = (node.key, record.name) in raised
            records.append(replace(record, has_raised=True) if has_raised else record)
        nodes.append(replace(node, saved=tuple(records)))
    return replace(snap, nodes=tuple(nodes))


def _explain_leaf_write(*, is_view: bool) -> _Reason:
    """Say why PyTorch refuses a write into a leaf, and how to write: its message says neither."""
    reason = gettext("A recorded write would make the leaf a result.")
    if is_view:
        reason = gettext("A recorded write through a view would make the leaf behind it a result.")
    way = gettext("write inside torch.no_grad(), where nothing is recorded, or into a clone")
    return _Reason(reason, gettext("Way out: {way}.", way=way))


def _find_nodes_of_step(snap: Snapshot, source: str) -> list[NodeRecord]:
    """Return the nodes behind the tensors that a line names; all nodes if it names none."""
    named_ids = {tensor_id for name, tensor_id in snap.names if _is_named_in(source, name)}
    nodes = snap.nodes_behind(*named_ids)
    # Behind a leaf there are none, and its backward visits none: not those of another graph.
    is_on_leaf = any(_is_named_in(source, f"{name}.backward") for name, _ in snap.names)
    if nodes or is_on_leaf:
        return nodes
    return list(snap.nodes)


def _is_named_in(source: str, name: str) -> bool:
    # Of `y = net.x + x2` neither `x` in `net.x` nor `x` in `x2`.
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source) is not None


def _is_any_named_in(source: str, names: Iterable[str]) -> bool:
    return any(_is_named_in(source, name) for name in names)


def _find_nodes_of_backward(
    snap: Snapshot, after: Snapshot, otherwise: list[NodeRecord]
) -> list[NodeRecord]:
    """Return the nodes that a backward visited: those that freed what they had saved."""
    freed = {node.key for node in after.nodes if _has_saved_in_state(node, "freed")}
    visited = [
        node for node in snap.nodes if node.key in freed and _has_saved_in_state(node, "live")
    ]
    # With retain_graph=True nothing is freed: then the gradients that have come tell the way.
    return visited or _select_senders(otherwise, snap, after)


def _select_senders(nodes: list[NodeRecord], snap: Snapshot, after: Snapshot) -> list[NodeRecord]:
    """Return the nodes that lead to a tensor which has another `.grad` in the later snapshot."""
    stack: list[str] = []
    changed_ids: set[str] = set()
    later = {tensor.key: _identify_gradient(after, tensor) for tensor in after.tensors}
    for tensor in snap.tensors:
        if later.get(tensor.key) != _identify_gradient(snap, tensor):
            changed_ids.add(tensor.id)
            if tensor.grad_fn is not None:
                stack.append(tensor.grad_fn)
    # Edges lead to the leaves, and what leads to these leaves is looked for.
    users: dict[str, list[str]] = {}
    for node in snap.nodes:
        for end in node.ends:
            users.setdefault(end, []).append(node.id)
        if node.variable in changed_ids:
            stack.append(node.id)
    senders: set[str] = set()
    while stack:
        node_id = stack.pop()
        if node_id not in senders:
            senders.add(node_id)
            stack += users.get(node_id, [])
    return [node for node in nodes if node.id in senders]


def _identify_gradient(snap: Snapshot, tensor: TensorRecord) -> tuple[object, ...]:
    """Return what is another one if a gradient was set or added to."""
    if tensor.grad is None:
        return ()
    grad = snap.tensor(tensor.grad)
    return (grad.key, grad.version)


def _has_saved_in_state(node: NodeRecord, state: str) -> bool:
    return any(saved.state == state for saved in node.saved)


def _select_entries_to_blame(
    finding: BackwardFinding, raised_versions: StaleVersions | None
) -> Sequence[SavedEntry]:
    """Return what belongs to the error; without an error, what was changed unseen."""
    if raised_versions is None:
        if finding.kind == "stale":
            return []
        return finding.saved_entries
    if finding.kind != "stale":
        return []
    # Of several stale tensors the error is about one with these versions.
    raised = (raised_versions.then, raised_versions.now)
    return [
        entry
        for entry in finding.saved_entries
        if (entry.saved.saved_version, entry.saved.version) == raised
    ]


def _blame_first_of(
    past: Sequence[PastStep], finding: BackwardFinding, saved_entries: Sequence[SavedEntry]
) -> Iterator[_Reason]:
    """Yield the reason of the first of some saved tensors that was written after the save."""
    for entry in saved_entries:
        node, saved = entry
        history, saving_step = _follow_saved(past, entry)
        writers = _find_writers(past, entry)
        lines_that_wrote = join_few_names(past[index].label for index in writers)
        if finding.kind != "stale" and not lines_that_wrote:
            continue  # written before it was saved: nothing is wrong
        step, record = past[saving_step], history[saving_step] or saved
        save = _describe_save(step, node, record)
        yield _Reason(
            join_sentences(
                [save, _describe_write(finding, _name_saved(step, record), lines_that_wrote)]
            ),
            gettext("Way out: {way}.", way=_advise_on_write(past, finding, entry)),
        )
        return


def _advise_on_write(past: Sequence[PastStep], finding: BackwardFinding, entry: SavedEntry) -> str:
    """Return the way out, for the tensor that the writing lines name.

    A finding knows no lines: of several names over a counter it takes the last.
    """
    snap, tensor_id = past[-1].snapshot, entry.saved.tensor
    sharers = list(reversed(snap.counter_sharers(tensor_id)))
    if finding.kind != "stale" or finding.way_out != advise_copy(sharers):
        return finding.way_out
    lines = "\n".join(past[index].source for index in _find_writers(past, entry))
    named = [sharer for sharer in sharers if _is_any_named_in(lines, sharer.names)]
    return advise_copy(named or sharers)


def _follow_saved(
    past: Sequence[PastStep], entry: SavedEntry
) -> tuple[list[SavedRecord | None], int]:
    """Return what a node had saved after each step, and the index of the step that saved it."""
    history = [_find_saved(step.snapshot, entry.node, entry.saved.name) for step in past]
    in_steps = (index for index, record in enumerate(history) if record is not None)
    return history, next(in_steps, len(past) - 1)


def _find_saved(snap: Snapshot, node: NodeRecord, name: str) -> SavedRecord | None:
    """Return what a node had saved under a name, in an earlier snapshot."""
    # By key: ids of nodes count from 1 in each snapshot.
    for earlier in snap.nodes:
        if earlier.key == node.key:
            for saved in earlier.saved:
                if saved.name == name:
                    return saved
    return None


def _describe_save(step: PastStep, node: NodeRecord, saved: SavedRecord) -> str:
    return gettext(
        "{node} saved its {saved} ({names}) on {where}.",
        node=short_node_name(node.name),
        saved=saved_noun(saved),
        names=_name_saved(step, saved) or gettext("without a name"),
        where=step.label,
    )


def _name_saved(step: PastStep, saved: SavedRecord) -> str:
    """Return the name of a saved tensor when it was saved; empty for a number."""
    return "" if saved.tensor is None else step.snapshot.label(saved.tensor)


def _describe_write(finding: BackwardFinding, name: str, lines_that_wrote: str) -> str:
    if finding.kind != "stale":
        return gettext(
            "The same memory was changed afterwards on {lines}. The version counter did not count that, "
            "so no error was raised, and the gradient was computed from the new values.",
            lines=lines_that_wrote,
        )
    lines_that_wrote = lines_that_wrote or gettext("a line that was not stepped")
    if name:
        sentence = gettext(
            "{name} was written to afterwards, on {lines}.", name=name, lines=lines_that_wrote
        )
    else:
        sentence = gettext(
            "That value was written to afterwards, on {lines}.", lines=lines_that_wrote
        )
    if len(finding.sharing) > 1:
        sharing = gettext(
            "{names} share that memory and its version counter.",
            names=join_few_names(finding.sharing),
        )
        sentence = join_sentences([sentence, sharing])
    return sentence


def _find_writers(past: Sequence[PastStep], entry: SavedEntry) -> Iterator[int]:
    """Yield the indices of the steps after the save at which a saved tensor was written."""
    saved = entry.saved
    history, saving_step = _follow_saved(past, entry)
    if saved.state == "stale":
        versions = [record.version if record else None for record in history]
        yield from _find_changes(saving_step, versions)
    elif saved.was_written_unseen:
        checksums = [record.checksum_now if record else None for record in history]
        yield from _find_changes(saving_step, checksums)
    elif saved.bytes_unchanged is None and saved.tensor is not None:
        # Its bytes were not compared: the counters of other tensors over the same memory are all
        # there is.
        for counter in _find_other_counters(past[-1].snapshot, saved.tensor):
            versions = [_version_of_counter(step.snapshot, counter) for step in past]
            yield from _find_changes(saving_step, versions)


def _find_other_counters(snap: Snapshot, tensor_id: str) -> list[str]:
    """Return the counters over a tensor's memory, without its own."""
    own = snap.tensor(tensor_id).counter
    counters = {sharer.counter for sharer in snap.storage_sharers(tensor_id)}
    return sorted(counter for counter in counters if counter is not None and counter != own)


def _version_of_counter(snap: Snapshot, counter_id: str) -> int:
    for counter in snap.counters:
        if counter.id == counter_id:
            return counter.version
    return 0


def _find_changes(start: int, values: Sequence[object]) -> Iterator[int]:
    """Yield the indices after `start` at which a value became another one."""
    last = values[start]
    for index, value in enumerate(values[start + 1 :], start + 1):
        # None: it was not read then, or is freed.
        if value is not None and value != last:
            yield index
            last = value
