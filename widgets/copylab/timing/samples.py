"""What rows of samples say: how long it took, how many times as long as another, and whether that is certain.

No assumption is made about how times scatter (they do so lopsidedly): everything comes from the order of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

import numpy as np

from tinytorch.viz import summarize_text

SURE = 0.99
"""How often an interval holds the true ratio: with many pairs, 19 of 20 would let chance speak too often."""
SMALL = 0.03
"""A difference below this part is none: where code and memory happen to lie makes as much."""


@dataclass(frozen=True)
class Lane:
    """One method on one engine at one size: what is timed.

    engine: the module's name. method: the method's name. size: elements of `x`.
    """

    engine: str
    method: str
    size: int


@dataclass(frozen=True)
class Timing:
    """What came out for one lane: seconds for one run of the code, one sample for each round.

    error: what it raised instead, as `Type: message`; then there are no samples.
    """

    lane: Lane
    samples: tuple[float, ...] = ()
    error: str = ""

    def __repr__(self) -> str:
        said = f"error={self.error!r}" if self.error else f"{len(self.samples)} samples"
        return summarize_text(
            f"Timing({self.lane.engine!r}, {self.lane.method!r}, {self.lane.size}, {said})"
        )

    @property
    def median(self) -> float:
        """Half of the samples took longer. ValueError if there are none."""
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The middle half of the samples lies between these two."""
        low, high = np.quantile(self.samples, (0.25, 0.75)).tolist()
        return low, high


@dataclass(frozen=True)
class Ratio:
    """How many times as long one takes as another: in the middle, and the ends of the interval that is certain."""

    low: float
    middle: float
    high: float

    @property
    def slower(self) -> bool:
        """It certainly takes longer."""
        return self.low > 1 + SMALL

    @property
    def faster(self) -> bool:
        """It certainly takes less long."""
        return self.high < 1 / (1 + SMALL)

    @property
    def apart(self) -> bool:
        """The two can be told apart."""
        return self.slower or self.faster


def ratio(one: Timing, other: Timing) -> Ratio:
    """How many times as long `one` takes as `other`, round against round.

    The interval is that of the sign test for a median, sure in `SURE` of all cases; with fewer than 8 rounds nothing
    can be that certain, and it reaches from 0 to infinity. Raises ValueError where either has no samples.
    """
    rounds = [a / b for a, b in zip(one.samples, other.samples, strict=False)]
    middle = median(rounds)
    rank = _rank(len(rounds))
    if rank < 0:
        return Ratio(0.0, middle, math.inf)
    ordered = sorted(rounds)
    return Ratio(ordered[rank], middle, ordered[-1 - rank])


def certain(timing: Timing) -> bool:
    """Whether there are rounds enough for anything to be certain."""
    return _rank(len(timing.samples)) >= 0


@cache
def _rank(count: int) -> int:
    """How many samples may be left out at each end of the interval; -1 where even all of them are too few."""
    rank, tail = -1, 0.0
    while (tail := tail + math.comb(count, rank + 1) / 2**count) <= (1 - SURE) / 2:
        rank += 1
    return rank


def ties(timings: Sequence[Timing]) -> list[list[Timing]]:
    """The timings from the quickest on, together in one list where no two of them can be told apart."""
    groups: list[list[Timing]] = []
    for timing in sorted(timings, key=lambda one: one.median):
        if groups and not any(ratio(timing, other).apart for other in groups[-1]):
            groups[-1].append(timing)
        else:
            groups.append([timing])
    return groups
