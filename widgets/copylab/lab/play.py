"""Run what a CopyLab shows: the lines of the source, of the copy and of the actions, as one program, from the start.

Every look is a run of the whole text in a namespace of its own. So there is no state that could be lost or get out of
step with the code that is shown, and nothing of the user's is touched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from tinytorch.viz import (
    Blame,
    PastStep,
    Snapshot,
    blame_lines,
    compare_snapshots,
    describe,
    gettext,
)

from ..copying import Facts, Method, Source, facts
from ..player import NameObserver, Observation
from ..run import Limits, RecordedRun, Step

SECONDS = 5.0
"""How long a program may run."""
QUICK = 0.25
"""A program that takes longer is not run again and again to find the verdicts as they are after the actions."""


@dataclass(frozen=True)
class Line:
    """A line of the program. part: "import", "source", "copy" or "action"; state: "ran", "raised" or "not run"."""

    number: int
    text: str
    part: str
    state: str


@dataclass(frozen=True)
class Result:
    """What came of a program: its lines, what the last part of it changed, and the facts about x and y as they are.

    ran: how many actions ran. ended: "finished", "error", "steps", "time" or "interrupted". before and snapshot: what
    there was before and after the last part that ran. facts: None where the run was stopped.
    """

    source: Source
    method: Method
    actions: tuple[str, ...]
    lines: tuple[Line, ...]
    ran: int
    ended: str
    error: str
    error_line: int
    explanation: tuple[str, ...]
    explained: int
    """The number of the line that failed, or computed a wrong gradient, and is explained; 0 for none."""
    wrong: frozenset[object]
    """The keys of the nodes that computed a wrong gradient, and no error said so."""
    output: tuple[tuple[str, str], ...]
    changes: tuple[str, ...]
    before: Snapshot | None
    snapshot: Snapshot | None
    facts: Facts | None
    effects: tuple[str, ...] = ()
    """Sentences on what the program did to files and the like. Random numbers are put back."""

    @property
    def copied(self) -> bool:
        """Whether there are an x and a y to speak of."""
        return self.facts is None or not self.facts["same_tensor"].why

    @property
    def code(self) -> str:
        """The program."""
        return "\n".join(line.text for line in self.lines)


def play(source: Source, method: Method, actions: Sequence[str], engine: ModuleType) -> Result:
    """Run the copy of `source` by `method`, then `actions`, and look. Raises SyntaxError for a text that is no code."""
    parts = [("import", "import torch"), ("source", source.code), ("copy", method.code)]
    parts += [("action", action) for action in actions]
    code = "\n".join(text for _, text in parts)
    begun, worked = time.perf_counter(), time.thread_time()
    made = RecordedRun(code, engine, NameObserver(), limits=Limits(500, SECONDS), apart=True)
    if made.ended == "syntax":
        raise SyntaxError(made.steps[-1].error)
    # Work counts, and not what the machine did besides; but a program that sleeps is slow as well.
    quick = time.thread_time() - worked < QUICK and time.perf_counter() - begun < 4 * QUICK
    last = made.steps[-1] if made.steps else None
    failed = last is not None and made.ended != "finished"
    at = last.site.line if last is not None else 1
    firsts, count = [], 1
    for _, text in parts:
        firsts.append(count)
        count += len(text.splitlines())
    part = max(n for n, first in enumerate(firsts) if first <= at)
    ran = max(0, part - 3 + (not failed)) if actions else 0
    lines = tuple(_lines(parts, at if failed else count, part if failed else len(parts)))
    before, after = _observations_around(made.steps, made.before, firsts[part])
    stopped = made.ended not in ("finished", "error")
    explained, found = _blame_earlier_line(made.steps, made.before)
    return Result(
        source=source,
        method=method,
        actions=tuple(actions),
        lines=lines,
        ran=ran,
        ended=made.ended,
        error=_error(made.ended, last) if failed else "",
        error_line=at if failed else 0,
        explanation=found.sentences,
        explained=explained,
        wrong=frozenset() if failed else found.nodes,
        output=tuple(
            pair for step in made.steps if step.site.line >= firsts[part] for pair in step.output
        ),
        changes=describe(
            compare_snapshots(after.snapshot, before.snapshot), before.plain, after.plain
        )
        if before and after
        else (),
        before=before.snapshot if before else None,
        snapshot=after.snapshot if after else None,
        facts=None if stopped else facts(method, source, engine, actions[:ran] if quick else ()),
        effects=made.effects,
    )


def _lines(parts: Sequence[tuple[str, str]], at: int, part: int) -> list[Line]:
    """All lines; the one at `at` raised, and lines of a later part than `part` were not run."""
    made: list[Line] = []
    for n, (kind, text) in enumerate(parts):
        for line in text.splitlines():
            number = len(made) + 1
            state = "raised" if number == at else "not run" if n > part or number > at else "ran"
            made.append(Line(number, line, kind, state))
    return made


def _observations_around(
    steps: Sequence[Step], start: Observation | None, first: int
) -> tuple[Observation | None, Observation | None]:
    """Return what was seen before the line `first`, and at the end."""
    seen = [start, *(step.seen for step in steps)]
    earlier = sum(step.site.line < first for step in steps)
    return seen[earlier], seen[-1]


def _error(ended: str, last: Step | None) -> str:
    if ended == "time":
        return gettext("Stopped: it ran for more than {seconds} seconds.", seconds=f"{SECONDS:.0f}")
    if ended == "interrupted":
        return gettext("Stopped: it was interrupted.")
    if ended == "steps":
        return gettext("Stopped: it took more than 500 steps.")
    return (last.error if last else None) or gettext("It was stopped.")


def _blame_earlier_line(steps: Sequence[Step], start: Observation | None) -> tuple[int, Blame]:
    """Return the line that failed or got a wrong gradient, and the blame of the earlier line that caused it."""
    if start is None or any(step.seen is None for step in steps):
        return 0, Blame()
    past = [PastStep(0, "", start.snapshot)]
    past += [PastStep(step.site.line, step.site.source, step.seen.snapshot) for step in steps]
    for n in range(len(steps) - 1, -1, -1):
        found = blame_lines(
            past[: n + 1], steps[n].site.source, steps[n].error, past[n + 1].snapshot
        )
        if found.sentences or steps[n].site.source.endswith(".grad = None"):
            return steps[n].site.line, found
    return 0, Blame()
