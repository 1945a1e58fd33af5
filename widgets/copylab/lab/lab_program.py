"""Run the program of a CopyLab: the lines of the source, of the copy and of the actions.

Every look is a run of the whole text in a namespace of its own. So there is no state that could be
lost or get out of step with the code that is shown, and nothing of the user's is touched.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import ModuleType
from typing import NamedTuple

from tinytorch.viz import (
    Blame,
    PastStep,
    Snapshot,
    blame_lines,
    compare_snapshots,
    describe_step,
    find_backward_root,
    list_texts,
    mark_raised,
)

from ..copying import Facts, Method, Source, facts
from ..player import NameObserver, Observation, find_origins_at_end
from ..run import Limits, RecordedRun
from ..wording import gettext

_BACKWARD_CALL = re.compile(r"\s*[\w.]+\.backward\(")

MAX_STEPS = 500
MAX_SECONDS = 5.0
QUICK_SECONDS = 0.25
"""The verdicts run the program once for each fact: a program that takes longer is not asked for
those after the actions, only for those right after the copy."""


@dataclass(frozen=True)
class ProgramLine:
    """A line of the program.

    part: "import", "source", "copy" or "action". state: "ran", "raised" or "not run".
    """

    number: int
    text: str
    part: str
    state: str


@dataclass(frozen=True)
class LabResult:
    """What came of a program, and the facts about x and y after it.

    actions: the texts of the actions; actions_run: how many of them ran without an error.
    ended: "finished", "error", "steps", "time" or "interrupted".
    error: in words, empty if there was none; error_line: its line, or 0.
    explanation: sentences on why a line failed, or computed a wrong gradient without an error;
        explained_line: that line, or 0; wrong_nodes: the keys of the nodes that computed it, if
        no error was raised.
    root: the key of the node at which the backward of the last part began, or None.
    output, changes, before, snapshot: what the last part that ran printed and changed, as
        sentences, and the tensors before and after it.
    origins: the expressions that computed these tensors, by their ids.
    facts: None where the run was stopped.
    effects: sentences on what the program did to files and the like.
    """

    source: Source
    method: Method
    actions: tuple[str, ...]
    lines: tuple[ProgramLine, ...]
    actions_run: int
    ended: str
    error: str
    error_line: int
    explanation: tuple[str, ...]
    explained_line: int
    wrong_nodes: frozenset[object]
    root: object
    output: tuple[tuple[str, str], ...]
    changes: tuple[str, ...]
    before: Snapshot | None
    snapshot: Snapshot | None
    origins: Mapping[str, str]
    facts: Facts | None
    effects: tuple[str, ...]

    @property
    def has_copy(self) -> bool:
        """True if the program makes an x and a y, or was stopped before that could be found out."""
        return self.facts is None or not self.facts["same_tensor"].why

    @property
    def raised_in_backward(self) -> bool:
        """True if the program ended with an error of the engine in a line that calls `backward`."""
        # An unknown name in that line raises another kind of error, before backward is called.
        if self.ended != "error" or not self.error.startswith("RuntimeError"):
            return False
        return _BACKWARD_CALL.match(self.lines[self.error_line - 1].text) is not None

    @property
    def code(self) -> str:
        """The program."""
        return "\n".join(line.text for line in self.lines)


class _ProgramPart(NamedTuple):
    """Lines that belong together. kind: as `ProgramLine.part`. first_line: their first number."""

    kind: str
    code: str
    first_line: int


def run_lab_program(
    source: Source, method: Method, actions: Sequence[str], engine: ModuleType
) -> LabResult:
    """Run the copy of `source` by `method`, then `actions`, and describe what came of it.

    Raises SyntaxError for a text that is no code.
    """
    parts = _make_parts(source, method, actions)
    # The whole text each time, and no part of it: what is shown is what a reader can run.
    run, is_quick = _run_and_time("\n".join(part.code for part in parts), engine)
    # An interrupt may come before the first step.
    failed = bool(run.steps) and run.ended != "finished"
    last_line = run.steps[-1].site.line if run.steps else 1
    last_part = max(n for n, part in enumerate(parts) if part.first_line <= last_line)
    first_action = len(parts) - len(actions)
    # The last part that was begun counts only if it came to its end.
    actions_run = max(0, last_part - first_action + (not failed)) if actions else 0
    first_line = parts[last_part].first_line
    before, after = _observations_around(run, first_line)
    explained_line, blame = _blame_earlier_line(run)
    # What was stopped is not run again seventeen times, for as many verdicts.
    verdicts = None
    if run.ended in ("finished", "error"):
        verdicts = facts(method, source, engine, actions[:actions_run] if is_quick else ())
    # All steps of the last part, as an action may have two lines (`with no_grad():`).
    steps_of_part = [step for step in run.steps if step.site.line >= first_line]
    return LabResult(
        source=source,
        method=method,
        actions=tuple(actions),
        lines=_make_lines(parts, last_line if failed else None),
        actions_run=actions_run,
        ended=run.ended,
        error=_describe_failure(run) if failed else "",
        error_line=last_line if failed else 0,
        explanation=blame.sentences,
        explained_line=explained_line,
        wrong_nodes=frozenset() if failed else blame.nodes,
        root=_find_root(run, first_line),
        output=tuple(chain.from_iterable(step.output for step in steps_of_part)),
        changes=_describe_changes(before, after),
        before=before.snapshot if before else None,
        snapshot=mark_raised(after.snapshot, blame.raised) if after else None,
        origins=find_origins_at_end(run),
        facts=verdicts,
        effects=run.effects,
    )


def _run_and_time(code: str, engine: ModuleType) -> tuple[RecordedRun, bool]:
    """Return the run, and True if it was quick. Raises SyntaxError for what is no code."""
    clock, work = time.perf_counter(), time.thread_time()
    limits = Limits(MAX_STEPS, MAX_SECONDS)
    # With the random numbers of a new session: the same program shows the same each time, and
    # those of the user go on as if nothing had been run.
    run = RecordedRun(code, engine, NameObserver(engine), limits=limits, own_session=True)
    if run.ended == "syntax":
        raise SyntaxError(run.steps[-1].error)
    # The thread's own time, because a busy machine makes any program take long; but a program
    # that sleeps does no work and is slow all the same.
    is_quick = time.thread_time() - work < QUICK_SECONDS
    return run, is_quick and time.perf_counter() - clock < 4 * QUICK_SECONDS


def _make_parts(source: Source, method: Method, actions: Sequence[str]) -> list[_ProgramPart]:
    texts = [("import", "import torch"), ("source", source.code), ("copy", method.code)]
    texts += [("action", action) for action in actions]
    parts, line = [], 1
    for kind, code in texts:
        parts.append(_ProgramPart(kind, code, line))
        line += len(code.splitlines())
    return parts


def _make_lines(parts: Sequence[_ProgramPart], failed_line: int | None) -> tuple[ProgramLine, ...]:
    """Return all lines: one raised, if any, and those after it were not run."""
    lines: list[ProgramLine] = []
    for part in parts:
        for text in part.code.splitlines():
            number = len(lines) + 1
            state = "ran"
            if failed_line is not None and number >= failed_line:
                state = "raised" if number == failed_line else "not run"
            lines.append(ProgramLine(number, text, part.kind, state))
    return tuple(lines)


def _observations_around(
    run: RecordedRun, first_line: int
) -> tuple[Observation | None, Observation | None]:
    """Return what was seen before a line first ran, and at the end."""
    observations = [run.before, *(step.observation for step in run.steps)]
    # At index n is what was seen after n steps.
    earlier = sum(step.site.line < first_line for step in run.steps)
    return observations[earlier], observations[-1]


def _find_root(run: RecordedRun, first_line: int) -> object:
    """Return the key of the node at which the one backward from a line on began; None if that is not certain."""
    roots = []
    before = run.before
    for step in run.steps:
        # A line that ends in an error may have run a part of the graph.
        if before and step.site.line >= first_line and step.kind == "ran" and not step.error:
            roots.append(find_backward_root(before.snapshot, step.site.source))
        before = step.observation
    known = [root for root in roots if root is not None]
    return known[0] if len(known) == 1 else None


def _describe_changes(before: Observation | None, after: Observation | None) -> tuple[str, ...]:
    if before is None or after is None:
        return ()
    changes = compare_snapshots(after.snapshot, before.snapshot)
    return list_texts(describe_step(changes, before.plain, after.plain))


def _describe_failure(run: RecordedRun) -> str:
    if run.ended == "time":
        seconds = f"{MAX_SECONDS:.0f}"
        return gettext("Stopped: it ran for more than {seconds} seconds.", seconds=seconds)
    if run.ended == "interrupted":
        return gettext("Stopped: it was interrupted.")
    if run.ended == "steps":
        return gettext("Stopped: it took more than 500 steps.")
    return run.steps[-1].error or gettext("It was stopped.")


def _blame_earlier_line(run: RecordedRun) -> tuple[int, Blame]:
    """Return the line that failed or got a wrong gradient, and the blame of earlier lines for it.

    The last such line counts. A gradient that was computed wrong stays wrong while it is there, so
    the search goes back until a line sets a gradient to None.
    """
    steps = run.steps
    if run.before is None or any(step.observation is None for step in steps):
        return 0, Blame()
    # What was there before the first line: a step is blamed by what was so before it.
    past = [PastStep(0, "", run.before.snapshot)]
    past += [
        PastStep(step.site.line, step.site.source, step.observation.snapshot) for step in steps
    ]
    for n in range(len(steps) - 1, -1, -1):
        site = steps[n].site
        blame = blame_lines(past[: n + 1], site.source, steps[n].error, past[n + 1].snapshot)
        if blame.sentences or site.source.endswith(".grad = None"):
            return site.line, blame
    return 0, Blame()
