"""Say before backward is called whether it would raise, or give a wrong gradient without an error.

Everything is read from snapshots. Two things are asked: does backward raise, and is the gradient
that of the values which were saved? The first is known where nothing in the graph is hidden (a
hook, a Function in Python, a packed tensor are) and each operation is one that does not refuse
values. The second cannot be known from one snapshot: a write through `.data`, NumPy or a storage
leaves no trace in what it wrote. Whoever had the tensor may have done it and be gone, so neither
counters nor references prove that nobody did. Computing saved values anew would not prove it
either: the inputs have nothing that they could be computed from, and `(x * x).sum()` is the same
for -x. What does prove it are bytes that were compared. So `explain(loss)` says "runs" where
nothing was saved that could have been written to, and elsewhere "runs, not compared": the first
question is answered then, the second is not. `explain(loss, since=earlier)` says "runs" where all
that was saved is, byte for byte, what it was in that snapshot. "unknown" is left for what may
raise. A write between the save and the first snapshot is not seen: take it early. `steps`
takes one after each line; `blame` reads from these which line it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from ..read import (
    NodeRecord,
    Snapshot,
    TensorRecord,
    collect_tensors,
    doubts_of_modes,
    engine_name,
    find_freed_lines,
    find_lines_without_graph,
    getattr_or_none,
    pause_garbage_collection,
    read_snapshot,
)
from ..wording import (
    escape_unseen,
    format_repr,
    gettext,
    join_few_names,
    join_lines,
    ngettext,
    short_node_name,
)
from .backward_findings import find_findings
from .dry_run import RunResult, run_backward
from .finding_records import (
    DOUBTFUL_KINDS,
    RAISING_KINDS,
    BackwardFinding,
    list_saved,
)
from .gradient_comparison import compare_gradients, run_formulas
from .no_grad_reasons import describe_why_no_grad
from .roots import find_roots
from .shared_phrases import phrase_backward
from .undefined_gradients import find_leaves_without_gradient, find_nodes_with_gradient
from .unreached import describe_unreached

NOT_COMPARED = "runs, not compared"
"""The verdict where counters and graph speak for a backward, and nobody has compared the bytes."""
_MAX_FINDINGS = 4
"""Maximum number of findings reported per tensor."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `backward` would do.

    `verdict` is one of five, and `findings` say why: "raises"; "may be wrong", a gradient of other
    values than those saved, without an error; "runs", with the gradient of the values saved; "runs,
    not compared", which is the same unless something was changed past its version counter; "unknown", where
    code or state that a look cannot see into decides.
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

    # Jupyter would show the repr, which is the first line alone.
    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text}


def explain(
    *tensors: Any, since: Snapshot | None = None, run: Any = False, **named: Any
) -> Explanation:
    """Say in words what `backward()` on these tensors would do, called in turn; it is not called.

    >>> x = torch.ones(2, requires_grad=True)
    >>> y = x.exp()
    >>> loss = y.sum()
    >>> y = y.zero_()
    >>> print(explain(loss, y))
    loss.backward() would raise.
    ...

    The arguments are those of `snapshot`, or a snapshot. Tensors given besides the one in question
    are known by name: the more of them, the more can be said about who wrote where; where there is
    a scalar, others that have several elements decide nothing. Inside of a `copylab.watch`, what
    was saved is compared with what it was when it was saved; with `since`, an earlier snapshot,
    with what it was then. Without both a write that no version counter saw cannot be excluded, and
    the verdict is "runs, not compared" where something was saved and nothing else is unknown.

    `run=True` runs hooks, Functions in Python and checkpoints, too, in a backward that adds to no
    `.grad` and frees nothing (`autograd.grad(..., retain_graph=True)`).

    Raises TypeError for an argument that is not a tensor and contains none, and for `run=True` with
    a snapshot, which has no tensors.
    """
    if not isinstance(run, bool):
        # A tensor called `run`.
        named, run = {**named, "run": run}, False
    frame = sys._getframe(1)
    if run and any(isinstance(argument, Snapshot) for argument in (*tensors, *named.values())):
        raise TypeError("run=True is for tensors: a snapshot has none that could be run")

    def find_tensor(root: TensorRecord) -> Any:
        # A snapshot has records, and nothing that could be run.
        if any(isinstance(argument, Snapshot) for argument in tensors):
            return None
        # Of two tensors of one name the first has it in the snapshot, too; the other is `x (2)` there.
        tensor_by_name = dict(reversed(collect_tensors(tensors, named, frame)))
        for name in root.names:
            if name in tensor_by_name:
                return tensor_by_name[name]
        return None

    # Until the snapshot is gone again: what is left then has no garbage worth a search.
    with pause_garbage_collection():
        return _judge_roots(read_snapshot(tensors, named, frame, since), find_tensor, runs_code=run)


def _judge_roots(
    snap: Snapshot, find_tensor: Callable[[TensorRecord], Any], *, runs_code: bool
) -> Explanation:
    """Judge a backward on each root in turn.

    find_tensor: returns the tensor of a record, None if there is none. runs_code: run it, too.
    """
    all_findings: list[BackwardFinding] = []
    lines: list[str] = []
    visited_before: dict[str, str] = {}
    scalars: list[TensorRecord] = []
    larger_roots: list[str] = []
    roots = find_roots(snap)
    for root in roots:
        if root.numel == 1:
            scalars.append(root)
        else:
            larger_roots.append(snap.label(root.id))
    for root in scalars or roots:
        nodes = snap.nodes_behind(root)
        found = find_findings(snap, root, nodes, visited_before)
        findings = list(_add_lines(snap, found, root, find_tensor))
        findings = _settle_modes(findings, root, nodes, find_tensor)
        if runs_code and _decide_verdict(findings) != "raises":
            findings = _run_and_add(findings, find_tensor(root))
        # If it is known to raise, or to have missed a write, the doubts do not matter any more.
        if _decide_verdict(findings) in ("raises", "may be wrong"):
            findings = [finding for finding in findings if finding.kind not in DOUBTFUL_KINDS]
        if _has_same_gradients(root, findings, find_tensor):
            findings = []
            lines += [*_describe_root(snap, root, nodes, findings), _phrase_same_gradients()]
        else:
            lines += _describe_root(snap, root, nodes, findings)
        all_findings += findings
        # A backward on the next root finds what this one has freed.
        visited_before |= dict.fromkeys((node.id for node in nodes), phrase_backward(snap, root.id))
    lines += describe_unreached(snap, scalars or roots, has_told=_tells_lines(all_findings))
    if scalars and larger_roots:
        sentence = gettext(
            "No verdict on {names}: backward() without an argument is for one element.",
            names=join_few_names(larger_roots),
        )
        lines.append(sentence)
    if not roots:
        lines = [gettext("There is no tensor that backward could be called on.")]
    lines += [
        gettext("Note: {note}; what lies beyond is not known.", note=note) for note in snap.notes
    ]
    verdict = _decide_verdict(all_findings) if roots else "raises"
    return Explanation(verdict, tuple(all_findings), join_lines(lines))


def _phrase_same_gradients() -> str:
    return gettext("What was saved has changed, and the gradients are the same but for rounding.")


def _add_lines(
    snap: Snapshot,
    findings: Iterable[BackwardFinding],
    root: TensorRecord,
    find_tensor: Callable[[TensorRecord], Any],
) -> Iterator[BackwardFinding]:
    """Yield the findings, those on a freed graph and on none with the lines that led to it, if a watch has seen them."""
    for finding in findings:
        if finding.kind == "no grad":
            yield _add_lines_without_graph(snap, finding, root, find_tensor(root))
            continue
        # Also where a Function, such as a reentrant checkpoint, may not open what it has given back.
        entries = finding.saved_entries
        is_freed = bool(entries) and entries[0].saved.state == "freed"
        tensor = find_tensor(root) if is_freed else None
        yield finding if tensor is None else replace(finding, lines=find_freed_lines(tensor))


def _add_lines_without_graph(
    snap: Snapshot, finding: BackwardFinding, root: TensorRecord, tensor: Any
) -> BackwardFinding:
    """Return a finding with what is known of its root, and what was seen before; as it is without either."""
    lines = ""
    # What was asked of a snapshot, has a graph by now, or refuses to be read has no tensor that tells.
    if getattr_or_none(tensor, "requires_grad") is False:
        lines = find_lines_without_graph(tensor) or "\n".join(describe_why_no_grad(tensor))
    if not lines:
        return finding
    sentence = gettext(
        "{name} requires no grad: backward has no graph to go through", name=snap.label(root.id)
    )
    return replace(finding, sentence=sentence, lines=lines)


def _tells_lines(findings: Iterable[BackwardFinding]) -> bool:
    """Return True if the lines were told on which values left the graph before a root without one."""
    return any(finding.kind == "no grad" and finding.lines for finding in findings)


def _settle_modes(
    findings: list[BackwardFinding],
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    find_tensor: Callable[[TensorRecord], Any],
) -> list[BackwardFinding]:
    """Return the findings without the doubts on modes, where formulas were run that answer them."""
    if _decide_verdict(findings) != "unknown" or root.numel != 1:
        return findings
    tensor = find_tensor(root)
    if tensor is None:
        return findings
    of_modes = set(doubts_of_modes(sys.modules[engine_name(tensor)]))
    other_findings = [finding for finding in findings if finding.sentence not in of_modes]
    # What else may raise would be run, too.
    if _decide_verdict(other_findings) == "unknown":
        return findings
    error = run_formulas(tensor, nodes)
    if error is None:
        return findings
    if not error:
        return other_findings
    sentence = gettext("its formulas were run, and raised {error}", error=escape_unseen(error))
    return [BackwardFinding("raised", sentence), *other_findings]


def _has_same_gradients(
    root: TensorRecord,
    findings: Sequence[BackwardFinding],
    find_tensor: Callable[[TensorRecord], Any],
) -> bool:
    """Return True if the saved values, which a watch knows, give the gradients that backward gives."""
    saved_entries = list(chain.from_iterable(finding.saved_entries for finding in findings))
    is_watched = saved_entries and all(entry.saved.compared_with_save for entry in saved_entries)
    if not is_watched or _decide_verdict(findings) != "may be wrong" or root.numel != 1:
        return False
    tensor = find_tensor(root)
    with suppress(Exception):  # as of a finding of the watch: what cannot be computed is not known
        return tensor is not None and compare_gradients(tensor).is_same
    return False


def _run_and_add(findings: Sequence[BackwardFinding], tensor: Any) -> list[BackwardFinding]:
    """Run backward on a root, and return what speaks against it then; no tensor, no run."""
    result = None if tensor is None else run_backward(tensor)
    return list(_add_result_of_run(findings, result))


def _add_result_of_run(
    findings: Sequence[BackwardFinding], result: RunResult | None
) -> Iterator[BackwardFinding]:
    """Yield what speaks against a backward once it was run; None: it could not be run."""
    if result is None:
        # Of a doubt that a run would answer, the way out was this run.
        for finding in findings:
            if finding.kind == "not known" and finding.after_run != "not known":
                yield replace(finding, way_out="")
            else:
                yield finding
        return
    if result.error:
        sentence = gettext("it was run, and raised {error}", error=escape_unseen(result.error))
        yield BackwardFinding("raised", sentence)
    if result.hooks_not_run:
        code = join_few_names(result.hooks_not_run)
        if result.sees_hooks:
            sentence = gettext(
                "backward may call {code}, a hook that was not called when backward was run",
                code=code,
            )
        else:
            sentence = gettext(
                "backward may call {code}, a hook; on this device it cannot be seen whether "
                "the hook was called when backward was run",
                code=code,
            )
        yield BackwardFinding("not known", sentence)
    for finding in findings:
        if finding.kind != "not known":
            yield finding
        elif finding.after_run:
            # It ran, and whether on what had been saved is not known.
            way_out = finding.way_out if finding.after_run == "not known" else ""
            yield replace(finding, kind=finding.after_run, way_out=way_out)
        elif any(saved.was_written_unseen for _, saved in finding.saved_entries):
            yield replace(finding, kind="unseen write")


def _decide_verdict(findings: Collection[BackwardFinding]) -> str:
    kinds = {finding.kind for finding in findings}
    if not kinds:
        return "runs"
    if kinds & RAISING_KINDS:
        return "raises"
    # A backward that may raise is not one whose gradient "may be wrong".
    if "not known" in kinds:
        return "unknown"
    if "unseen write" in kinds:
        return "may be wrong"
    return NOT_COMPARED


def _describe_root(
    snap: Snapshot,
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    findings: Sequence[BackwardFinding],
) -> Iterator[str]:
    """Yield the lines of text on a backward that starts at one tensor."""
    yield from _describe_verdict(snap, root, nodes, findings)
    yield from _describe_none(snap, nodes)
    first_findings = findings[:_MAX_FINDINGS]
    for finding, following in zip_longest(first_findings, first_findings[1:]):
        yield "  - " + gettext("{sentence}.", sentence=finding.sentence)
        for line in finding.lines.splitlines():
            yield "    " + escape_unseen(line)
        # Of several with one way out, behind the last.
        if finding.way_out and (following is None or following.way_out != finding.way_out):
            yield "    " + gettext("Way out: {way}.", way=finding.way_out)
    if len(findings) > _MAX_FINDINGS:
        more_count = len(findings) - _MAX_FINDINGS
        yield "  - " + ngettext("And {number} more cause.", "And {number} more causes.", more_count)


def _describe_none(snap: Snapshot, nodes: Sequence[NodeRecord]) -> Iterator[str]:
    """Yield why leaves get no gradient though the graph leads to them."""
    leaves = find_leaves_without_gradient(snap, nodes)
    functions = [node for node in nodes if node.function and node.function.unsent]
    if leaves and functions:
        yield gettext(
            "No gradient arrives at {names}: {node} returns None for an input on the way ({code}).",
            names=join_few_names(snap.label(leaf.id) for leaf in leaves),
            node=short_node_name(functions[0].name),
            code=functions[0].function.label if functions[0].function else "",
        )


def _describe_verdict(
    snap: Snapshot,
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    findings: Sequence[BackwardFinding],
) -> Iterator[str]:
    call, verdict = phrase_backward(snap, root.id), _decide_verdict(findings)
    grads = _name_grads(snap, root, nodes)
    if verdict == "runs":
        if grads:
            yield gettext("{call} would run. It adds to {grads}.", call=call, grads=grads)
        else:
            yield gettext("{call} would run. It adds to no .grad.", call=call)
        saves = [saved for _, saved in list_saved(nodes)]
        # Written, and of no consequence: nothing reads it, or the gradients are the same.
        if any(saved.was_written_unseen for saved in saves):
            return
        compared = [saved for saved in saves if saved.tensor and saved.bytes_unchanged]
        if compared and all(saved.compared_with_save for saved in compared):
            yield gettext("What was saved holds the bytes that it had when it was saved.")
        elif compared:
            yield gettext("What was saved holds the bytes of the earlier look.")
    elif verdict == "raises":
        yield gettext("{call} would raise.", call=call)
    elif verdict == "may be wrong":
        yield gettext("{call} would run, but may give a wrong gradient.", call=call)
    elif verdict == "unknown":
        yield gettext(
            "It is not known whether {call} would run and give the right gradient.",
            call=call,
        )
    elif grads:
        yield gettext(
            "{call} would run and add to {grads}, if nothing changed unseen.",
            call=call,
            grads=grads,
        )
    else:
        yield gettext("{call} would run and add to no .grad, if nothing changed unseen.", call=call)


def _name_grads(snap: Snapshot, root: TensorRecord, nodes: Sequence[NodeRecord]) -> str:
    """Return the names of the gradients that a backward on `root` adds to, or "" if to none."""
    reached = find_nodes_with_gradient(nodes)
    leaves = [node.variable for node in nodes if node.variable is not None and node.id in reached]
    if root.is_leaf:
        # A leaf has no grad_fn, and its backward() adds to its own .grad.
        leaves = [root.id]
    labels = snap.grad_labels([leaf for leaf in leaves if snap.tensor(leaf).requires_grad])
    return join_few_names(labels)
