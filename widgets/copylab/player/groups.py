"""Steps put together: the rounds of a loop, the loop, a call; so that a reader can fold what is not of interest.

Loop on line 2: 99 rounds
    Round 1 of the loop on line 2
        step, step, step
    Round 2 ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tinytorch.viz.labels import few
from tinytorch.viz.words import describe

from ..run.program import Site
from ..run.run import Run
from .frames import Frame


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
        return f"{self.title}, steps {self.first} to {self.last}"


Part = Group | Frame


def fold(run: Run, frames: Sequence[Frame]) -> tuple[Part, ...]:
    """The frames of a run with those of a loop, of a round, of a call put together."""
    return tuple(_Folder(run, frames).parts(0, len(frames), 0, None))


class _Folder:
    def __init__(self, run: Run, frames: Sequence[Frame]) -> None:
        self._run, self._frames = run, frames
        self._steps = [frame.step for frame in frames]

    def parts(self, start: int, end: int, depth: int, within: Site | None) -> list[Part]:
        """The steps from `start` up to `end`, which run at this depth of calls, in rounds of the loop `within`."""
        made: list[Part] = []
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
            if len(step.calls) < depth or not (again or any(loop is site for loop in step.site.loops)):
                return at
        return end

    def _loop(self, start: int, end: int, depth: int) -> list[Part]:
        site = self._steps[start].site
        heads = [at for at in range(start, end) if self._heads(at, site, depth)]
        rounds = len(heads) + sum(self._steps[at].folded for at in range(start, end) if self._is_of(at, site, depth))
        if not heads:
            return self.parts(start, end, depth, site)
        parts = self.parts(start, heads[0], depth, site)
        for head, following in zip(heads, [*heads[1:], end], strict=True):
            over = next((at for at in range(head + 1, following) if self._ends(at, site, depth)), following)
            title = f"Round {self._steps[head].round} of the loop on line {site.line}"
            parts += self._group("round", title, site, self.parts(head, over, depth, site))
            parts += self.parts(over, following, depth, site)
        title = f"Loop on line {site.line}: {rounds:,} round{'s' * (rounds != 1)}"
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

    def _call(self, start: int, end: int, depth: int, within: Site | None) -> list[Part]:
        inner = [at for at in range(start, end) if len(self._steps[at].calls) > depth]
        if not inner:
            return list(self._frames[start:end])
        site = self._steps[start].site
        names = few(f"{self._steps[at].calls[depth]}()" for at in inner)
        parts: list[Part] = [
            *self._frames[start : inner[0]],
            *self.parts(inner[0], inner[-1] + 1, depth + 1, None),
            *self.parts(inner[-1] + 1, end, depth, within),
        ]
        return self._group("call", f"Call of {names} on line {site.line}", site, parts)

    def _group(self, kind: str, title: str, site: Site, parts: list[Part]) -> list[Part]:
        if len(parts) == 1 and isinstance(parts[0], Frame):
            return parts
        group = Group(kind, title, site.line, tuple(parts))
        before = self._run.before if group.first == 1 else self._steps[group.first - 2].seen
        after = self._steps[group.last - 1].seen
        if before is None or after is None:
            return [group]
        changes = describe(before.snapshot, after.snapshot, before.plain, after.plain)
        return [Group(kind, title, site.line, tuple(parts), changes)]
