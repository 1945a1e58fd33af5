"""The harm that a silent write does, in numbers: the program is run once more, under a watch.

A snapshot has no live graph to compute with. The watch keeps what nodes saved, and computes each
backward that reads something changed in both ways: it is the judge of `watch`, too.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout

from ..run import RecordedRun, Stopwatch, execute_program, repeatable_session
from ..watching import GradientNumbers, watch


def measure_harm(run: RecordedRun) -> dict[int, tuple[GradientNumbers, ...]]:
    """Return the spoiled gradients of a run in numbers, by the program's line that called backward.

    Nothing of a backward in another file, which may have a line of the same number, nothing of a
    line that called it more than once for one write, and nothing of a program that may do something
    else in a second run.
    """
    if not run.can_repeat:
        return {}
    watched = watch(silent="record")
    stopwatch = Stopwatch(run.limits.seconds)
    try:
        with (
            stopwatch,
            repeatable_session(run.engine),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
            warnings.catch_warnings(action="ignore"),
            watched,
        ):
            execute_program(run.texts[0].code, run.engine, watch=stopwatch)
    # Its error, or the end of its time: what was measured until then holds.
    except BaseException:
        if stopwatch.reason == "interrupt":
            raise  # by the user, who wants no more of it
    harm: dict[int, tuple[GradientNumbers, ...]] = {}
    for finding in watched.findings:
        place = finding.backward
        if place is None or place.file != run.texts[0].file:
            continue
        if finding.times == 1 and finding.gradients:
            harm.setdefault(place.line, finding.gradients)
    return harm
