"""What timings say, in words: the table, and the sentences below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..run.ending import count
from .clock import Timing
from .spread import Ratio, certain, ratio, ties

ORDERS = ("detach().clone()", "clone().detach()")
MUCH = 1_000_000
"""So many elements, 4 MB, cannot be copied in the time that a call takes anyway; a thousand can."""
_UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))


def duration(seconds: float) -> str:
    """A time in at most three digits: `85 ns`, `1.17 µs`, `284 µs`."""
    if seconds <= 0:
        return "0 s"
    scale, unit = next(((s, u) for s, u in reversed(_UNITS) if float(f"{seconds:.2e}") >= s), _UNITS[0])
    value = seconds / scale
    digits = max(0, 2 - math.floor(math.log10(value))) if value >= 1 else 2
    text = f"{value:,.{min(digits, 2)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def elements(size: int) -> str:
    """`1 element`, `1,000 elements`."""
    return f"{size:,} element{'' if size == 1 else 's'}"


def cell(timing: Timing) -> str:
    """A timing in a table: the median, and the quartiles behind it."""
    if timing.error:
        return "raises"
    if not timing.samples:
        return "-"
    low, high = timing.quartiles
    return f"{duration(timing.median)} ({duration(low)} to {duration(high)})"


def table(timings: Sequence[Timing]) -> str:
    """All timings of one engine as text, a block for each method."""
    lines = []
    for method in dict.fromkeys(timing.lane.method for timing in timings):
        lines.append(f"  {method}")
        mine = [timing for timing in timings if timing.lane.method == method]
        lines += [f"    {elements(one.lane.size)}: {cell(one)}" for one in mine]
    return "\n".join(lines)


def findings(timings: Sequence[Timing]) -> list[str]:
    """What can be said for certain of the timings of one engine, in sentences; nothing where there are no samples."""
    return list(_findings([one for one in timings if one.samples])) + [
        f"{method} raises {error}"
        for method, error in dict.fromkeys((one.lane.method, one.error) for one in timings if one.error)
    ]


def _findings(timings: Sequence[Timing]) -> Iterator[str]:
    if not timings:
        return
    sizes = sorted({one.lane.size for one in timings})
    by_size = {size: [one for one in timings if one.lane.size == size] for size in sizes}
    flat = [one.lane.method for one in by_size[sizes[-1]] if _flat(one, by_size[sizes[0]], sizes)]
    if flat:
        word = "takes" if len(flat) == 1 else "take"
        ends = f"for {elements(sizes[-1])} as for {sizes[0]:,}"
        yield f"{listed(flat)} {word} as long {ends}: the elements are not copied."
    for size in dict.fromkeys((sizes[-1], sizes[0])):
        rest = [one for one in by_size[size] if one.lane.method not in flat]
        yield from _at(size, rest, " that copies" if flat else "")
    methods = {one.lane.method for one in timings}
    if methods.issuperset(ORDERS):
        yield duel(timings, *ORDERS)


def _flat(last: Timing, first: Sequence[Timing], sizes: Sequence[int]) -> bool:
    begin = next((one for one in first if one.lane.method == last.lane.method), None)
    return begin is not None and sizes[-1] >= MUCH >= 1000 * sizes[0] and last.median < 2 * begin.median


def _at(size: int, timings: Sequence[Timing], which: str) -> Iterator[str]:
    if len(timings) < 2:
        return
    groups = ties(timings)
    first = groups[0]
    names = listed([one.lane.method for one in first])
    about = duration(first[0].median)
    if not certain(first[0]):
        yield f"At {elements(size)} nothing is certain after {count(len(first[0].samples), 'round')}."
        return
    if len(first) > 1:
        said = f"At {elements(size)}, {names} cannot be told apart: about {about} each."
    else:
        said = f"At {elements(size)}, {names} is the quickest{which}: {about}."
    if len(groups) > 1:
        times = [f"{one.lane.method} {_times(ratio(one, first[0]))}" for group in groups[1:] for one in group]
        said += f" Times as long: {', '.join(times)}."
    yield said


def _times(found: Ratio) -> str:
    """A ratio in two or three digits; with a question mark where it is not certain that there is a difference."""
    text = f"{found.middle:.{0 if found.middle >= 9.95 else 2 if found.middle < 1.05 else 1}f}"
    return text if found.slower else f"{text}?"


def duel(timings: Sequence[Timing], one: str, other: str) -> str:
    """Two methods against each other at every size, in a sentence: where one is quicker, and where nobody can tell.

    Raises ValueError, with the methods there are, for one that was not timed.
    """
    methods = list(dict.fromkeys(timing.lane.method for timing in timings))
    for name in (one, other):
        if name not in methods:
            raise ValueError(f"{name!r} was not timed; timed were {listed(methods)}")
    mine, its = ({t.lane.size: t for t in timings if t.lane.method == name and t.samples} for name in (one, other))
    shared = sorted(mine.keys() & its.keys())
    if not shared:
        return f"{one} against {other}: not timed yet."
    kinds: dict[str, list[int]] = {}
    for size in shared:
        found = ratio(its[size], mine[size])
        kinds.setdefault("one" if found.slower else "other" if found.faster else "none", []).append(size)
    parts = []
    for kind, winner in (("one", one), ("other", other)):
        if kind in kinds:
            size = kinds[kind][0]
            gap = abs(its[size].median - mine[size].median)
            slow, quick = (its, mine) if kind == "one" else (mine, its)
            times = ratio(slow[size], quick[size]).middle
            where = _among(kinds[kind], shared)
            parts.append(f"{winner} is quicker {where} ({duration(gap)} or {times:.2f} times at {size:,})")
    if "none" in kinds:
        parts.append(f"{_among(kinds['none'], shared)} the two cannot be told apart")
    return f"{one} against {other}: {'; '.join(parts)}."


def _among(sizes: Sequence[int], of: Sequence[int]) -> str:
    """`at 1 element`, `from 1 to 1,000 elements` where all sizes between are meant."""
    at = of.index(sizes[0])
    if len(sizes) > 2 and list(of[at : at + len(sizes)]) == list(sizes):
        return f"from {sizes[0]:,} to {elements(sizes[-1])}"
    return f"at {listed([f'{size:,}' for size in sizes])} element{'' if sizes == [1] else 's'}"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
