"""One frame for each step: its line, its outputs, what it changed, and its two pictures.

A picture that looks the same as an earlier one is kept once and referred to by the number of the step that has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from tinytorch import viz
from tinytorch.viz.draw.graph import drawing
from tinytorch.viz.explain import Past, blame
from tinytorch.viz.read.records import Snapshot
from tinytorch.viz.words import describe

from ..run.capture import cut, shown, steady
from ..run.recorder import Step
from ..run.run import Run


@dataclass(frozen=True)
class Seen:
    """What a step left behind: a snapshot of its tensors, and short texts of its other variables."""

    snapshot: Snapshot
    plain: Mapping[str, str]


class Looker:
    """Looks at the names of a program after each step. What is still alive keeps its id from look to look."""

    def __init__(self) -> None:
        self._last: Snapshot | None = None

    def __call__(self, names: Mapping[str, Any]) -> Seen:
        """What `names` hold now."""
        shown = {
            name: value for name, value in names.items() if not isinstance(value, ModuleType | FunctionType | type)
        }
        self._last = viz.snapshot(shown, since=self._last)
        tensors = {name for name, _ in self._last.names}
        plain = {name: _plain(value) for name, value in shown.items() if name not in tensors}
        return Seen(self._last, {name: text for name, text in plain.items() if text is not None})


def _plain(value: object) -> str | None:
    """A short text for what has one that is the same in every run; None for the rest."""
    if value is None or type(value) in (bool, int, float, complex, str):
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
            return f"an int of {value.bit_length():,} bits"
        return cut(steady(repr(value[:70] if isinstance(value, str) else value)), 60).replace("\n", " ")
    return None


@dataclass(frozen=True)
class Picture:
    """One picture of a frame: its SVG and its text, and the number of the first step that has the same.

    The SVG is empty where it cannot be drawn, and `problem` says why.
    """

    svg: str
    text: str
    step: int
    problem: str = ""


@dataclass(frozen=True)
class Frame:
    """What there is to show of one step. `number` counts from 1, lines count from 1."""

    number: int
    step: Step
    changes: tuple[str, ...]
    pictures: Mapping[str, Picture]
    explanation: tuple[str, ...] = ()
    """For a line that ran backward: which earlier line made it fail or give a wrong gradient, and the way out."""

    @property
    def line(self) -> int:
        """The line of the code that ran."""
        return self.step.site.line

    @property
    def source(self) -> str:
        """The text of that line or statement."""
        return self.step.site.source

    @property
    def output(self) -> str:
        """What it printed, showed as its value and warned, in order."""
        return "".join(text if text.endswith("\n") else text + "\n" for _, text in self.step.output)

    @property
    def error(self) -> str | None:
        """The exception it raised, as `Type: message`."""
        return self.step.error

    @cached_property
    def title(self) -> str:
        """Which line ran, and how it stands with it."""
        return f"line {self.line}: {_one_line(shown(self.source))}{_NOTES.get(self.step.kind, '')}"


_NOTES = {
    "call": "  (calls a function, which begins)",
    "back": "  (the function has come back)",
    "return": "",
    "error": "  (error)",
    "syntax": "  (error)",
    "stopped": "  (stopped here)",
}


def _one_line(source: str) -> str:
    first, _, rest = source.partition("\n")
    return cut(first, 100).partition("\n")[0] + (" ..." if rest or len(first) > 100 else "")


def make(run: Run) -> tuple[Frame, ...]:
    """The frames of a run."""
    frames: list[Frame] = []
    known: dict[tuple[Any, ...], Picture] = {}
    before: Seen | None = run.before
    past = [] if before is None else [Past(0, "", before.snapshot)]
    for number, step in enumerate(run.steps, 1):
        seen: Seen | None = step.seen
        if seen is None or before is None:
            frames.append(Frame(number, step, (), {}))
            continue
        changes = (*_unseen(step), *describe(before.snapshot, seen.snapshot, before.plain, seen.plain))
        pictures = {}
        if seen.snapshot.tensors:
            pictures["memory"] = _memory(seen.snapshot, before.snapshot, number, known)
        if seen.snapshot.nodes:
            pictures["graph"] = _graph(seen.snapshot, before.snapshot, number, known)
        frames.append(Frame(number, step, changes, pictures, blame(past, step.error, seen.snapshot)))
        past.append(Past(step.site.line, step.site.source, seen.snapshot))
        before = seen
    return tuple(frames)


def _unseen(step: Step) -> tuple[str, ...]:
    rounds = f"{step.folded:,} more round{'s' * (step.folded > 1)}"
    return (f"Before this, {rounds} of the loop ran in one go.",) if step.folded else ()


def _memory(now: Snapshot, before: Snapshot, number: int, known: dict[tuple[Any, ...], Picture]) -> Picture:
    drawn = viz.memory(now, since=before)
    return known.setdefault(("memory", drawn.svg, drawn.text), Picture(drawn.svg, drawn.text, number))


def _graph(now: Snapshot, before: Snapshot, number: int, known: dict[tuple[Any, ...], Picture]) -> Picture:
    shows, drawn = drawing(now, before)
    key = ("graph", shows, drawn.text)  # known before it is laid out, which is what takes its time
    if key not in known:
        try:
            known[key] = Picture(drawn.svg, drawn.text, number)
        except viz.LayoutError as error:  # the words need no Graphviz
            known[key] = Picture("", drawn.text, number, str(error))
    return known[key]
