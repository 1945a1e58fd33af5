"""Frames put together as a tree, so that a reader can fold what is not of interest.

Loop on line 2: 99 rounds
    Round 1 of the loop on line 2
        step, step, step
    Round 2 ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tinytorch.viz import (
    Level,
    StepSentence,
    compare_snapshots,
    describe_step,
    join_few_names,
    list_texts,
)

from ..code_marks import CodeWords
from ..run import RecordedRun, Site
from ..wording import gettext, ngettext
from .frames import Frame, StepPicture, StepRange


@dataclass(frozen=True)
class Group:
    """Some steps in a row.

    kind: "loop" (its `line` begins it), "round" (of that loop) or "call" (of functions).
    sentences: what its steps changed, all together.
    """

    kind: str
    title: str
    line: int
    parts: tuple[Group | Frame, ...]
    sentences: tuple[StepSentence, ...] = ()
    code: int = 0
    """The index of the text of the run that has its line."""
    memory: StepPicture | None = None
    """Memory after its last step, compared with what was there before its first; None if it was
    not drawn."""

    @property
    def code_words(self) -> CodeWords:
        """What in its sentences is code, as in those of its steps."""
        return self.parts[-1].code_words

    @property
    def changes(self) -> tuple[str, ...]:
        """What its steps changed, without the roles of the sentences."""
        return list_texts(self.sentences)

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
        """Its title and its steps."""
        return gettext(
            "{title}, steps {first} to {last}", title=self.title, first=self.first, last=self.last
        )


FrameOrGroup = Group | Frame


MOST_STRETCHES = 100
"""Of more rounds and calls none has a picture of its own: each takes as long as that of a step."""


def fold_frames(
    run: RecordedRun, frames: Sequence[Frame], level: Level = "graph"
) -> tuple[FrameOrGroup, ...]:
    """Put the frames of each loop, each round and each call of a run together."""
    return tuple(_FrameFolder(run, frames, level).fold(0, len(frames), 0, None))


def find_stretches(run: RecordedRun) -> list[StepRange]:
    """Return the steps that a reader may take as one, the inner ones first."""
    # Without pictures: this is asked before any is drawn, to know which are needed.
    bare_frames = [Frame(number, step, (), {}) for number, step in enumerate(run.steps, 1)]
    stretches: dict[StepRange, None] = {}
    parts = _FrameFolder(run, bare_frames, None).fold(0, len(bare_frames), 0, None)
    waiting = [part for part in parts if isinstance(part, Group)]
    while waiting:
        group = waiting.pop()
        stretches[StepRange(group.first, group.last)] = None
        waiting += [part for part in group.parts if isinstance(part, Group)]
    # None at all: pictures of some rounds alone would look as if nothing had changed in the others.
    return [] if len(stretches) > MOST_STRETCHES else sorted(stretches, reverse=True)


class _FrameFolder:
    """Folds steps that run at a depth of calls.

    `start` and `end` are indices of steps, from 0; the step `end` is excluded.
    """

    def __init__(self, run: RecordedRun, frames: Sequence[Frame], level: Level | None) -> None:
        self._run, self._frames = run, frames
        self._level = level  # None: nothing is said of what changed
        self._steps = [frame.step for frame in frames]

    def fold(self, start: int, end: int, depth: int, within: Site | None) -> list[FrameOrGroup]:
        """Fold steps. Those of rounds of the loop `within`, if it is given, begin no new loop."""
        parts: list[FrameOrGroup] = []
        while start < end:
            step = self._steps[start]
            # Deeper steps are those of a function that the head of the loop has called: a call, not
            # a round.
            if step.site.loop and step.site is not within and len(step.calls) == depth:
                stop = self._find_end_of_loop(start, end, depth)
                parts += self._fold_loop(start, stop, depth)
            elif step.kind == "call" or len(step.calls) > depth:
                stop = self._find_end_of_call(start, end, depth)
                parts += self._fold_call(start, stop, depth, within)
            else:
                stop = start + 1
                parts.append(self._frames[start])
            start = stop
        return parts

    # -- loops -------------------------------------------------------------------------

    def _find_end_of_loop(self, start: int, end: int, depth: int) -> int:
        site = self._steps[start].site
        has_begun = self._steps[start].round == 1
        for at in range(start + 1, end):
            step = self._steps[at]
            if len(step.calls) > depth:
                continue
            # A second first round is another run of the same loop.
            is_head = step.site is site and not (has_begun and step.round == 1)
            has_begun = has_begun or step.round == 1
            is_inside = is_head or any(loop is site for loop in step.site.loops)
            if len(step.calls) < depth or not is_inside:
                return at
        return end

    def _fold_loop(self, start: int, end: int, depth: int) -> list[FrameOrGroup]:
        site = self._steps[start].site
        own = [at for at in range(start, end) if self._is_step_of(at, site, depth)]
        # A step of the head without a round is the one at which the loop ends.
        heads = [at for at in own if self._steps[at].round > 0]
        # A loop without a round: its steps stay as they are.
        if not heads:
            return self.fold(start, end, depth, site)
        place = self._describe_place(site)
        parts = self.fold(start, heads[0], depth, site)
        for head, next_head in zip(heads, [*heads[1:], end], strict=True):
            end_of_round = self._find_end_of_round(head, next_head, site, depth)
            title = gettext(
                "Round {number} of the loop {where}", number=self._steps[head].round, where=place
            )
            steps_of_round = self.fold(head, end_of_round, depth, site)
            parts += self._make_group("round", title, site, steps_of_round)
            parts += self.fold(end_of_round, next_head, depth, site)
        title = ngettext(
            "Loop {where}: {number} round",
            "Loop {where}: {number} rounds",
            # With `rounds=2`, one step stands for all later rounds.
            len(heads) + sum(self._steps[at].folded for at in own),
            where=place,
        )
        return self._make_group("loop", title, site, parts)

    def _find_end_of_round(self, head: int, next_head: int, site: Site, depth: int) -> int:
        """Return the step at which the loop ends, which belongs to no round, or the next head."""
        for at in range(head + 1, next_head):
            step = self._steps[at]
            if self._is_step_of(at, site, depth) and step.kind == "branch" and step.round == 0:
                return at
        return next_head

    def _is_step_of(self, at: int, site: Site, depth: int) -> bool:
        return self._steps[at].site is site and len(self._steps[at].calls) == depth

    # -- calls -------------------------------------------------------------------------

    def _find_end_of_call(self, start: int, end: int, depth: int) -> int:
        step = self._steps[start]
        at = start + (step.kind == "call" and len(step.calls) == depth)
        while at < end and len(self._steps[at].calls) > depth:
            at += 1
        # The step in which the calling line is done belongs to the call; that of a loop to a round.
        is_done = at < end and self._steps[at].site is step.site and not step.site.loop
        return min(max(at + is_done, start + 1), end)

    def _fold_call(
        self, start: int, end: int, depth: int, within: Site | None
    ) -> list[FrameOrGroup]:
        inner = [at for at in range(start, end) if len(self._steps[at].calls) > depth]
        if not inner:
            return list(self._frames[start:end])
        site = self._steps[start].site
        names = join_few_names(f"{self._steps[at].calls[depth]}()" for at in inner)
        parts: list[FrameOrGroup] = [
            *self._frames[start : inner[0]],
            *self.fold(inner[0], inner[-1] + 1, depth + 1, None),
            *self.fold(inner[-1] + 1, end, depth, within),
        ]
        place = self._describe_place(site)
        title = gettext("Call of {functions} {where}", functions=names, where=place)
        return self._make_group("call", title, site, parts)

    def _describe_place(self, site: Site) -> str:
        return site.phrase_place(several=len(self._run.texts) > 1)

    def _make_group(
        self, kind: str, title: str, site: Site, parts: list[FrameOrGroup]
    ) -> list[FrameOrGroup]:
        """Make a group of the parts, with what they changed together.

        One step alone stays as it is.
        """
        # A fold around one line would hide it behind a title that says less.
        if len(parts) == 1 and isinstance(parts[0], Frame):
            return parts
        group = Group(kind, title, site.line, tuple(parts), code=self._run.texts.index(site.text))
        # Steps are numbered from 1: the one before `first` is at index `first - 2`.
        before = self._run.before if group.first == 1 else self._steps[group.first - 2].observation
        after = self._steps[group.last - 1].observation
        if before is None or after is None or self._level is None:
            return [group]
        changes = compare_snapshots(after.snapshot, before.snapshot)
        sentences = describe_step(changes, before.plain, after.plain, level=self._level)
        memory = self._frames[group.last - 1].memory_since.get(group.first)
        return [replace(group, sentences=sentences, memory=memory)]
