"""What is too much to be seen at once is folded: in a fixed order, a stretch of neighbours stands as one entry.

A stretch is what belongs to one module, or is repeated, or, where there is neither, simply a part of what is long. Folds
hold folds; those that take little room are opened, and so are those that hold what has to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ..wording import gettext, join_few_names

MOST = 40
"""A fold with more parts has them in up to `CHUNKS` chunks."""
CHUNKS = 16
SHORTEST = 5
"""Less than this is not worth folding."""
WIDEST = 100
"""What is repeated has up to so many parts."""
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a line: one place, or several that are folded."""

    start: int
    stop: int
    label: str = ""
    times: int = 1

    @property
    def single(self) -> bool:
        """Whether it is one place."""
        return self.stop - self.start == 1


class Line:
    """Things in a fixed order that may be folded: the module of each, how many entries it takes, what has to be seen.

    `room` is how many entries are shown, and how many to show what has to be seen; `back` that the last stands first.
    Things of one kind are equal if `same(p, q, n)` tells how: the n things from p on, of the kinds of those from q on.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        sizes: Sequence[int],
        keep: Sequence[int],
        kinds: Iterable[object],
        same: Callable[[int, int, int], object],
        room: tuple[int, int],
        back: bool = False,
    ) -> None:
        self.paths, self.sizes, self.keep, self.same, self.room, self.back = (
            paths,
            sizes,
            keep,
            same,
            room,
            back,
        )
        numbers: dict[object, int] = {}
        self._kinds = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
        for place in keep:  # equal to nothing else
            self._kinds[place] = -place - 1
        self._sums = [0, *accumulate(sizes)]
        self._parts: dict[tuple[int, int], list[Run]] = {}

    def opened(self, start: int, stop: int) -> list[Run]:
        """What is shown of a stretch: its parts, opened as far as there is room."""
        runs = list(self.parts(start, stop))
        for place in self.keep:
            while start <= place < stop:
                at = next(k for k, run in enumerate(runs) if run.start <= place < run.stop)
                if not self._open(runs, at, self.room[1]):
                    break
        while True:
            costs = sorted(
                (self._cost(self.parts(run.start, run.stop)), k)
                for k, run in enumerate(runs)
                if not run.single
            )
            if not any(self._open(runs, k, self.room[0]) for _, k in costs):
                return runs

    def _open(self, runs: list[Run], at: int, room: int) -> bool:
        run = runs[at]
        if run.single or run.times > 1:
            return False
        inner = self.parts(run.start, run.stop)
        fits = self._cost(runs) - 1 + self._cost(inner) <= room
        runs[at : at + 1] = inner if fits else [run]
        return fits

    def _cost(self, runs: Iterable[Run]) -> int:
        return sum(self.sizes[run.start] if run.single else 1 for run in runs)

    def parts(self, start: int, stop: int) -> list[Run]:
        """What a stretch is made of: its modules, what is repeated, single things."""
        if (start, stop) not in self._parts:
            depth = len(common([path for path in self.paths[start:stop] if path]))

            def module(place: int) -> Path | int:
                path = self.paths[place]
                return path[: depth + 1] if len(path) > depth else place

            groups = [(where, list(group)) for where, group in groupby(range(start, stop), module)]
            atoms = [
                Run(places[0], places[-1] + 1, "" if isinstance(where, int) else ".".join(where))
                for where, places in groups
            ]
            runs: list[Run] = []
            for run in self._repeats(atoms):
                worth_folding = run.times > 1 or self.size(run) >= SHORTEST
                runs += (
                    [run]
                    if worth_folding
                    else [Run(place, place + 1) for place in range(run.start, run.stop)]
                )
            self._parts[start, stop] = self._chunks(runs) if len(runs) > MOST else runs
        return self._parts[start, stop]

    def size(self, run: Run) -> int:
        """How many entries a stretch would take."""
        return self._sums[run.stop] - self._sums[run.start]

    def _chunks(self, runs: list[Run]) -> list[Run]:
        size = max(SHORTEST, -(-len(runs) // CHUNKS))
        chunks = [runs[k : k + size] for k in range(0, len(runs), size)]
        labels = [self._label(one, one) if all(run.label for run in one) else "" for one in chunks]
        return [
            Run(one[0].start, one[-1].stop, label) if len(one) > 1 else one[0]
            for one, label in zip(chunks, labels, strict=True)
        ]

    def _repeats(self, atoms: list[Run]) -> list[Run]:
        """The same with neighbours that are equal joined, those first where it saves most."""
        taken: dict[int, Run] = {}
        inside: set[int] = set()
        for _, first, step, times in sorted(
            self._repeated(atoms), key=lambda one: (-one[0], one[2])
        ):
            stop = first + step * times
            if inside.isdisjoint(range(first, stop)):
                inside.update(range(first, stop))
                label = self._label(atoms[stop - step : stop], atoms[first : first + step])
                taken[first] = Run(atoms[first].start, atoms[stop - 1].stop, label, times)
        return [taken.get(k, run) for k, run in enumerate(atoms) if k in taken or k not in inside]

    def _repeated(self, atoms: list[Run]) -> Iterator[tuple[int, int, int, int]]:
        """(What folding it saves, the first atom, how many atoms a round has, how many rounds) of what is repeated."""
        kinds = [self._kinds[run.start : run.stop] for run in atoms]
        for step in range(1, min(len(atoms) // 2, WIDEST) + 1):
            equal = 0
            before: list[object] = [None] * step
            for k in range(len(atoms) - step + 1):
                how = None
                if k + step < len(atoms) and kinds[k] == kinds[k + step]:
                    how = self.same(atoms[k].start, atoms[k + step].start, len(kinds[k]))
                # Equal in one way from round to round: an edge goes always as far, or always to the same node.
                again = how is not None and (equal < step or how == before[k % step])
                before[k % step] = how
                if again:
                    equal += 1
                    continue
                first, times = k - equal, equal // step + 1
                saved = (times - 1) * self.size(
                    Run(atoms[first].start, atoms[first + step - 1].stop)
                )
                if times > 1 and saved >= SHORTEST:
                    yield saved, first, step, times
                equal = how is not None

    def _label(self, first: Sequence[Run], last: Sequence[Run]) -> str:
        """The modules of what is repeated, in the order of forward: `net.layers.0 to 11`."""
        if not self.back:
            first, last = last[::-1], first[::-1]
        names = [run.label for run in reversed(first) if run.label]
        ends = [run.label for run in last if run.label]
        if not names or names[-1] == ends[0]:
            return (
                join_few_names(names)
                if len(names) < 4
                else ".".join(common([tuple(name.split(".")) for name in names]))
            )
        parent, _, end = ends[0].rpartition(".")
        end = end if names[0].rpartition(".")[0] == parent else ends[0]
        return gettext("{first} to {last}", first=names[0], last=end)


def common(paths: Sequence[Path]) -> Path:
    """The path that all of them begin with."""
    if not paths:
        return ()
    low, high = min(paths), max(paths)
    same = next(
        (k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b),
        min(len(low), len(high)),
    )
    return low[:same]


def path_of(name: str) -> Path:
    """`net.layers.3.mlp` as `net`, `layers.3`, `mlp`: what a list of modules holds stands beside its neighbours."""
    parts: list[str] = []
    for part in filter(None, name.split(".")):
        if part.isdigit() and parts and not parts[-1].rpartition(".")[2].isdigit():
            parts[-1] += f".{part}"
        else:
            parts.append(part)
    return tuple(parts)
