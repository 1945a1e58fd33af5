"""One frame for each step: its line, its outputs, what it changed, and its two pictures; and frames put together.

A picture that looks the same as an earlier one is kept once and referred to by the number of the step that has it.
Frames are put together as a tree, so that a reader can fold what is not of interest:

Loop on line 2: 99 rounds
    Round 1 of the loop on line 2
        step, step, step
    Round 2 ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from tinytorch import viz
from tinytorch.viz import (
    Blame,
    Changes,
    Document,
    PastStep,
    Snapshot,
    blame_lines,
    compare_snapshots,
    describe,
    gettext,
    gettext_noop,
    graphs_of,
    join_few_names,
    memories_of,
    ngettext,
    summarize_text,
)

from ..run import RecordedRun, Site, Step, make_printable, stabilize_text, truncate_text


@dataclass(frozen=True)
class Observation:
    """What a step left behind: a snapshot of its tensors, and short texts of its other variables."""

    snapshot: Snapshot
    plain: Mapping[str, str]


_NOT_SHOWN = (ModuleType, FunctionType, type)


class NameObserver:
    """Looks at the names of a program after each step. What is still alive keeps its id from look to look."""

    def __init__(self) -> None:
        self._last: Snapshot | None = None

    def __call__(self, names: Mapping[str, Any]) -> Observation:
        """What `names` hold now."""
        # The class is asked, not the value: that may say anything of itself, or raise.
        shown = {
            name: value for name, value in names.items() if not issubclass(type(value), _NOT_SHOWN)
        }
        self._last = viz.snapshot(shown, since=self._last)
        tensors = {name for name, _ in self._last.names}
        plain = {
            name: _describe_value(value) for name, value in shown.items() if name not in tensors
        }
        return Observation(
            self._last, {name: text for name, text in plain.items() if text is not None}
        )


def _describe_value(value: object) -> str | None:
    """A short text for what has one that is the same in every run; None for the rest."""
    if value is None or type(value) in (bool, int, float, complex, str):
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
            return f"an int of {value.bit_length():,} bits"
        return truncate_text(
            stabilize_text(repr(value[:70] if isinstance(value, str) else value)), 60
        ).replace("\n", " ")
    return None


@dataclass(frozen=True, repr=False)
class StepPicture(Document):
    """One picture of a frame: its SVG and its text, and the number of the first step that has the same.

    The SVG is empty where it cannot be drawn, and `problem` says why. It shows itself in a notebook, and `save` writes
    it as a file: .svg, .png, .pdf or .txt.
    """

    svg: str
    text: str
    step: int
    problem: str = ""

    def themed(self, theme: str | None) -> str:
        """The SVG in one fixed theme, "light", "dark" or "print". Raises LayoutError where it cannot be drawn."""
        if not self.svg:
            raise viz.LayoutError(self.problem)
        return super().themed(theme)


@dataclass(frozen=True)
class Frame:
    """What there is to show of one step. `number` counts from 1, lines count from 1."""

    number: int
    step: Step
    changes: tuple[str, ...]
    pictures: Mapping[str, StepPicture]
    place: str = ""
    """`line 3`; where several functions are stepped, `Net.forward, line 3`."""
    code: int = 0
    """Which of the texts of the run its line stands in, from 0."""
    picture_changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each picture in words, the lines that say something new since the step before."""
    explanation: tuple[str, ...] = ()
    """For a line that ran backward: which earlier line made it fail or give a wrong gradient, and the way out."""

    def __repr__(self) -> str:
        return summarize_text(
            gettext(
                "<step {number}, {title}>", number=self.number, title=summarize_text(self.title, 80)
            )
        )

    @property
    def wrong(self) -> bool:
        """Whether it computed a wrong gradient and no error said so."""
        return bool(self.explanation) and self.step.error is None

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
        note = _NOTES.get(self.step.kind)
        return f"{self.place}: {_shorten_to_line(make_printable(self.source))}" + (
            f"  ({gettext(note)})" if note else ""
        )


def wrong_gradient_title() -> str:
    """The title over what explains a gradient that is wrong."""
    return gettext("A wrong gradient, and no error")


_NOTES = {
    "call": gettext_noop("calls a function, which begins"),
    "back": gettext_noop("the function has come back"),
    "error": gettext_noop("error"),
    "syntax": gettext_noop("error"),
    "stopped": gettext_noop("stopped here"),
}


def _shorten_to_line(source: str) -> str:
    first, _, rest = source.partition("\n")
    return truncate_text(first, 100).partition("\n")[0] + (
        " ..." if rest or len(first) > 100 else ""
    )


def make_frames(run: RecordedRun) -> tuple[Frame, ...]:
    """The frames of a run."""
    looks = _compare_observations(run)
    past = [] if run.before is None else [PastStep(0, "", run.before.snapshot)]
    several = len(run.texts) > 1
    found: dict[int, Blame] = {}
    for number, (_, changed) in looks.items():
        step = run.steps[number - 1]
        found[number] = blame_lines(past, step.site.source, step.error, changed.now)
        past.append(
            PastStep(
                step.site.line,
                step.site.source,
                changed.now,
                step.site.text.name if several else "",
            )
        )
    pictures = _draw_pictures(
        {number: changed for number, (_, changed) in looks.items() if changed.now.tensors},
        # An error speaks for itself: "wrong" is said of a gradient that was computed.
        {
            number: frozenset() if run.steps[number - 1].error else one.nodes
            for number, one in found.items()
        },
    )
    frames: list[Frame] = []
    for number, step in enumerate(run.steps, 1):
        place, code = step.site.place(several=several), run.texts.index(step.site.text)
        if number not in looks:
            frames.append(Frame(number, step, (), {}, place, code))
            continue
        before, changed = looks[number]
        said = (*_describe_folded_rounds(step), *describe(changed, before.plain, step.seen.plain))
        pictured = pictures.get(number, StepPictures())
        sentences = found[number].sentences
        frames.append(
            Frame(number, step, said, pictured.pictures, place, code, pictured.changed, sentences)
        )
    return tuple(frames)


def _compare_observations(run: RecordedRun) -> dict[int, tuple[Observation, Changes]]:
    """For each step at which the run was looked at what the look before saw, and what changed since."""
    looks: dict[int, tuple[Observation, Changes]] = {}
    before: Observation | None = run.before
    for number, step in enumerate(run.steps, 1):
        if step.seen is not None and before is not None:
            looks[number] = before, compare_snapshots(step.seen.snapshot, before.snapshot)
            before = step.seen
    return looks


@dataclass(frozen=True)
class StepPictures:
    """The pictures of a step by their kind, and of each in words the lines that changed."""

    pictures: dict[str, StepPicture] = field(default_factory=dict)
    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _draw_pictures(
    run: Mapping[int, Changes], wrong: Mapping[int, frozenset[object]]
) -> dict[int, StepPictures]:
    """The pictures of each step, on one stage for all steps; what looks as before is the same picture."""
    known: dict[tuple[Any, ...], StepPicture] = {}
    made = {number: StepPictures() for number in run}
    before = ""
    for number, drawn in zip(run, memories_of(run.values()), strict=True):
        picture = known.setdefault(
            (drawn.svg, drawn.text), StepPicture(drawn.svg, drawn.text, number)
        )
        made[number].pictures["memory"] = picture
        made[number].changed["memory"] = _changed_lines(before, drawn.text)
        before = drawn.unmarked_text()
    graphs = {number: changed for number, changed in run.items() if changed.now.nodes}
    before = ""
    for number, (shows, drawn) in zip(
        graphs, graphs_of(graphs.values(), [wrong[number] for number in graphs]), strict=True
    ):
        key = (shows, drawn.text)  # known before it is laid out, which is what takes its time
        if key not in known:
            try:
                known[key] = StepPicture(drawn.svg, drawn.text, number)
            except viz.LayoutError as error:  # the words need no Graphviz
                known[key] = StepPicture("", drawn.text, number, str(error))
        made[number].pictures["graph"] = known[key]
        made[number].changed["graph"] = _changed_lines(
            _renumber_nodes(before, graphs[number]), drawn.text
        )
        before = drawn.unmarked_text()
    return made


def _renumber_nodes(text: str, changed: Changes) -> str:
    """A graph of before in words, its nodes under the numbers of now: they are counted anew from the newest on."""
    if changed.since is None:
        return text
    now = {node.key: node.id for node in changed.now.nodes}
    numbers = {node.id: now[node.key] for node in changed.since.nodes if node.key in now}
    return re.sub(r"\bN\d+\b", lambda found: numbers.get(found[0], found[0]), text)


def _changed_lines(before: str, now: str) -> tuple[str, ...]:
    """What is new in a text: the lines that changed, each below the beginnings of those that it belongs to.

    Lines are compared within a block, the text between two empty lines, which is found again by its first word: two
    storages may have the same cells, and the cells of a new one are news. Of a line `w: a; b; c.` that was there
    before, only the items that changed are repeated.
    """
    known: dict[str, list[str]] = {}
    for block in before.split("\n\n"):
        known.setdefault(_first_word_of(block), []).extend(block.split("\n"))
    found: list[str] = []
    for block in now.split("\n\n"):
        old = known.get(_first_word_of(block), [])
        items = {_head_of_line(line): set(_items_of_line(line)) for line in old}
        parents: list[
            str
        ] = []  # that the next line belongs to, as far as they are not in the result yet
        for line in block.split("\n"):
            while parents and _indentation_of(parents[-1]) >= _indentation_of(line):
                parents.pop()
            if line in old:
                parents.append(_head_of_line(line))
                continue
            head, new = (
                _head_of_line(line),
                [
                    item
                    for item in _items_of_line(line)
                    if item not in items.get(_head_of_line(line), ())
                ],
            )
            end = "." if line.endswith(".") else ""
            found += [*parents, f"{head} {'; '.join(new)}{end}" if new else head]
            parents.clear()
    return tuple(found)


def _head_of_line(line: str) -> str:
    """The beginning of a line, up to and with its colon."""
    head, colon, _ = line.partition(": ")
    return head + colon.rstrip()


def _items_of_line(line: str) -> list[str]:
    rest = line.partition(": ")[2].removesuffix(".")
    return rest.split("; ") if rest else []


def _first_word_of(block: str) -> str:
    word = re.match(r"\w+", block)
    return word[0] if word else ""


def _indentation_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def _describe_folded_rounds(step: Step) -> tuple[str, ...]:
    if not step.folded:
        return ()
    return (
        ngettext(
            "Before this, {number} more round of the loop ran in one go.",
            "Before this, {number} more rounds of the loop ran in one go.",
            step.folded,
        ),
    )


@dataclass(frozen=True)
class Group:
    """Some steps in a row. kind: "loop" (its `line` begins it), "round" (of that loop) or "call" (of `functions`).

    changes: what its steps changed, all together.
    """

    kind: str
    title: str
    line: int
    parts: tuple[Group | Frame, ...]
    changes: tuple[str, ...] = ()
    code: int = 0
    """Which of the texts of the run its line stands in, from 0."""

    @property
    def first(self) -> int:
        """The number of its first step."""
        part = self.parts[0]
        return part.number if isinstance(part, Frame) else part.first

    @property
    def last(self) -> int:
        """The number of its last step."""
        part = self.parts[-1]
        return part.number if isinstance(part, Frame) else part.last

    @property
    def summary(self) -> str:
        """What it is and which steps it holds."""
        return gettext(
            "{title}, steps {first} to {last}", title=self.title, first=self.first, last=self.last
        )


FrameOrGroup = Group | Frame


def fold_frames(run: RecordedRun, frames: Sequence[Frame]) -> tuple[FrameOrGroup, ...]:
    """The frames of a run with those of a loop, of a round, of a call put together."""
    return tuple(_FrameFolder(run, frames).parts(0, len(frames), 0, None))


class _FrameFolder:
    def __init__(self, run: RecordedRun, frames: Sequence[Frame]) -> None:
        self._run, self._frames = run, frames
        self._steps = [frame.step for frame in frames]

    def parts(self, start: int, end: int, depth: int, within: Site | None) -> list[FrameOrGroup]:
        """The steps from `start` up to `end`, which run at this depth of calls, in rounds of the loop `within`."""
        made: list[FrameOrGroup] = []
        at = start
        while at < end:
            step = self._steps[at]
            if step.site.loop and step.site is not within and len(step.calls) == depth:
                stop = self._loop_end(at, end, depth)
                made += self._loop(at, stop, depth)
            elif step.kind == "call" or len(step.calls) > depth:
                stop = self._call_end(at, end, depth)
                made += self._call(at, stop, depth, within)
            else:
                stop = at + 1
                made.append(self._frames[at])
            at = stop
        return made

    def _loop_end(self, start: int, end: int, depth: int) -> int:
        site = self._steps[start].site
        begun = self._steps[start].round == 1
        for at in range(start + 1, end):
            step = self._steps[at]
            if len(step.calls) > depth:
                continue
            again = step.site is site and not (begun and step.round == 1)
            begun = begun or step.round == 1
            if len(step.calls) < depth or not (
                again or any(loop is site for loop in step.site.loops)
            ):
                return at
        return end

    def _loop(self, start: int, end: int, depth: int) -> list[FrameOrGroup]:
        site = self._steps[start].site
        heads = [at for at in range(start, end) if self._heads(at, site, depth)]
        rounds = len(heads) + sum(
            self._steps[at].folded for at in range(start, end) if self._is_of(at, site, depth)
        )
        if not heads:
            return self.parts(start, end, depth, site)
        parts = self.parts(start, heads[0], depth, site)
        for head, following in zip(heads, [*heads[1:], end], strict=True):
            over = next(
                (at for at in range(head + 1, following) if self._ends(at, site, depth)), following
            )
            number = self._steps[head].round
            title = gettext(
                "Round {number} of the loop {where}", number=number, where=self._where(site)
            )
            parts += self._group("round", title, site, self.parts(head, over, depth, site))
            parts += self.parts(over, following, depth, site)
        title = ngettext(
            "Loop {where}: {number} round",
            "Loop {where}: {number} rounds",
            rounds,
            where=self._where(site),
        )
        return self._group("loop", title, site, parts)

    def _is_of(self, at: int, site: Site, depth: int) -> bool:
        return self._steps[at].site is site and len(self._steps[at].calls) == depth

    def _heads(self, at: int, site: Site, depth: int) -> bool:
        return self._is_of(at, site, depth) and self._steps[at].round > 0

    def _ends(self, at: int, site: Site, depth: int) -> bool:
        step = self._steps[at]
        return self._is_of(at, site, depth) and step.kind == "branch" and step.round == 0

    def _call_end(self, start: int, end: int, depth: int) -> int:
        step = self._steps[start]
        at = start + (step.kind == "call" and len(step.calls) == depth)
        while at < end and len(self._steps[at].calls) > depth:
            at += 1
        done = at < end and self._steps[at].site is step.site and not step.site.loop
        return min(max(at + done, start + 1), end)

    def _call(self, start: int, end: int, depth: int, within: Site | None) -> list[FrameOrGroup]:
        inner = [at for at in range(start, end) if len(self._steps[at].calls) > depth]
        if not inner:
            return list(self._frames[start:end])
        site = self._steps[start].site
        names = join_few_names(f"{self._steps[at].calls[depth]}()" for at in inner)
        parts: list[FrameOrGroup] = [
            *self._frames[start : inner[0]],
            *self.parts(inner[0], inner[-1] + 1, depth + 1, None),
            *self.parts(inner[-1] + 1, end, depth, within),
        ]
        title = gettext("Call of {functions} {where}", functions=names, where=self._where(site))
        return self._group("call", title, site, parts)

    def _where(self, site: Site) -> str:
        return site.where(several=len(self._run.texts) > 1)

    def _group(
        self, kind: str, title: str, site: Site, parts: list[FrameOrGroup]
    ) -> list[FrameOrGroup]:
        if len(parts) == 1 and isinstance(parts[0], Frame):
            return parts
        group = Group(kind, title, site.line, tuple(parts), code=self._run.texts.index(site.text))
        before = self._run.before if group.first == 1 else self._steps[group.first - 2].seen
        after = self._steps[group.last - 1].seen
        if before is None or after is None:
            return [group]
        said = describe(
            compare_snapshots(after.snapshot, before.snapshot), before.plain, after.plain
        )
        return [replace(group, changes=said)]
