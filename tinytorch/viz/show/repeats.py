"""Repeats in a row of things, for folds that say "12 times"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

SHORTEST = 5
"""Folds that would save fewer entries than this are not made."""
LONGEST_ROUND = 100
"""A round has up to this many things: comparing all lengths takes quadratic time."""


class Repeat(NamedTuple):
    """Rounds of equal things, each right after the one before."""

    saving: int
    """How many entries are saved if one round is shown instead of all."""
    start: int
    """The position of the first thing."""
    length: int
    """How many things a round has."""
    times: int
    """How many rounds there are."""

    @property
    def stop(self) -> int:
        """The position after the last round."""
        return self.start + self.length * self.times


def find_repeats(
    kinds: Sequence[object],
    compare: Callable[[int, int], object],
    size: Callable[[int, int], int],
) -> Iterator[Repeat]:
    """Find what is repeated, for each length of a round from the shortest on; results may overlap.

    Things at p and q are equal if their `kinds` are and `compare(p, q)` says how, in a value that
    is not None. A round is repeated only if things are equal in the same way from each round to the
    next: an edge of a node always goes as far, or always to the same node. `size(p, q)` is the
    number of entries that the things from p to q take.
    """
    best: Repeat | None = None
    # The shortest first: of layers that are all equal, "12 times 1" says more than "6 times 2".
    for length in range(1, min(len(kinds) // 2, LONGEST_ROUND) + 1):
        if best is not None and _leaves_nothing(best, length, len(kinds), size):
            return
        equal = 0
        last_ways: list[object] = [None] * length
        for position in range(len(kinds) - length + 1):
            way = None
            other = position + length
            if other < len(kinds) and kinds[position] == kinds[other]:
                way = compare(position, other)
            # In the first round there is no earlier way to agree with.
            goes_on = way is not None and (equal < length or way == last_ways[position % length])
            last_ways[position % length] = way
            if goes_on:
                equal += 1
                continue
            start, times = position - equal, equal // length + 1
            saving = (times - 1) * size(start, start + length)
            if times > 1 and saving >= SHORTEST:
                repeat = Repeat(saving, start, length, times)
                if best is None or saving > best.saving:
                    best = repeat
                yield repeat
            # Equal in another way: a new stretch may begin here.
            equal = way is not None


def _leaves_nothing(best: Repeat, length: int, count: int, size: Callable[[int, int], int]) -> bool:
    """Return True if no repeat with rounds of `length` or more would be chosen beside the best one.

    Two such rounds find no room before or after it, and one round is shown in any case. So a loop
    of n rounds takes n steps, and not a hundred times as many.
    """
    has_room = max(best.start, count - best.stop) >= 2 * length
    return not has_room and best.saving >= size(0, count) - length


def choose_repeats(repeats: Iterator[Repeat]) -> list[Repeat]:
    """Choose repeats that do not overlap: greedily, those first that save most."""
    chosen: list[Repeat] = []
    taken_positions: set[int] = set()
    for repeat in sorted(repeats, key=lambda found: (-found.saving, found.length)):
        positions = range(repeat.start, repeat.stop)
        if taken_positions.isdisjoint(positions):
            taken_positions.update(positions)
            chosen.append(repeat)
    return chosen
