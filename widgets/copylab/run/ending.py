"""How a run ended, in sentences: for the reader who wonders why it stops there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tinytorch.viz.diff import written
from tinytorch.viz.labels import few

from .trace import Trace


def count(number: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ending(trace: Trace, *, max_steps: int, seconds: float, caller: Mapping[str, Any]) -> str:
    """What there is to say at the end of a run; empty where it simply finished.

    `caller` are the names of the code that called `steps`, for the advice after a NameError.
    """
    return " ".join(_sentences(trace, max_steps, seconds, caller))


def _sentences(trace: Trace, max_steps: int, seconds: float, caller: Mapping[str, Any]) -> Iterator[str]:
    after = f"after {count(len(trace.steps), 'step')}"
    match trace.ended:
        case "steps":
            yield f"Stopped {after}: that is the limit (max_steps={max_steps}), and the code was still running."
            yield "An endless loop? Otherwise raise max_steps, or run the later rounds of loops in one go (rounds=3)."
        case "time":
            yield f"Stopped {after}: the time is up (seconds={seconds:g}), and the code was still running."
            yield "An endless loop? Otherwise raise seconds."
        case "interrupted":
            yield f"Interrupted {after}. The steps so far are kept."
        case "error" if trace.steps:
            yield f"The error on line {trace.steps[-1].site.line} ended the run."
            yield from _advice(str(trace.steps[-1].error), caller)
        case "finished" if not trace.steps:
            yield "There is no statement in this code, so there is nothing to step through."
    if trace.before is not None and trace.steps:
        mine = written(trace.before.snapshot, trace.steps[-1].seen.snapshot)
        if mine:
            yield f"The code wrote into what was passed in: {few(mine)}."
    yield from trace.effects


def _advice(error: str, caller: Mapping[str, Any]) -> Iterator[str]:
    missing = re.match(r"NameError: name '(\w+)' is not defined", error)
    if missing and missing[1] in caller:
        yield f"{missing[1]} is a variable of yours: the code can use it with steps(..., namespace=globals())."
