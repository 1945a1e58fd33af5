"""What timings say, in words: the table, and the sentences below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tinytorch.viz import gettext, join_names, ngettext

from .samples import Ratio, Timing, certain, ratio, ties

ORDERS = ("detach().clone()", "clone().detach()")
MUCH = 1_000_000
"""So many elements, 4 MB, cannot be copied in the time that a call takes anyway; a thousand can."""
_UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))


def duration(seconds: float) -> str:
    """A time in at most three digits: `85 ns`, `1.17 µs`, `284 µs`."""
    if seconds <= 0:
        return "0 s"
    scale, unit = next(
        ((s, u) for s, u in reversed(_UNITS) if float(f"{seconds:.2e}") >= s), _UNITS[0]
    )
    value = seconds / scale
    digits = max(0, 2 - math.floor(math.log10(value))) if value >= 1 else 2
    text = f"{value:,.{min(digits, 2)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def elements(size: int) -> str:
    """`1 element`, `1,000 elements`."""
    return ngettext("{number} element", "{number} elements", size)


def in_rounds(number: int) -> str:
    """`1 round`, `21 rounds`."""
    return ngettext("{number} round", "{number} rounds", number)


def cell(timing: Timing) -> str:
    """A timing in a table: the median, and the quartiles behind it."""
    if not timing.samples:
        return gettext("raises") if timing.error else "-"
    middle, low, high = map(duration, (timing.median, *timing.quartiles))
    return gettext("{median} ({low} to {high})", median=middle, low=low, high=high)


def findings(timings: Sequence[Timing]) -> list[str]:
    """What can be said for certain of the timings of one engine, in sentences; nothing where there are no samples."""
    failed = dict.fromkeys((one.lane.method, one.error) for one in timings if one.error)
    return list(_findings([one for one in timings if one.samples])) + [
        gettext("{method} raises {error}", method=method, error=error) for method, error in failed
    ]


def _findings(timings: Sequence[Timing]) -> Iterator[str]:
    if not timings:
        return
    sizes = sorted({one.lane.size for one in timings})
    by_size = {
        size: {one.lane.method: one for one in timings if one.lane.size == size} for size in sizes
    }
    first, last = by_size[sizes[0]], by_size[sizes[-1]]
    far = sizes[-1] >= MUCH >= 1000 * sizes[0]
    flat = [
        name
        for name, one in last.items()
        if far and name in first and one.median < 2 * first[name].median
    ]
    if flat:
        yield ngettext(
            "{methods} takes as long for {many} as for {few}: the elements are not copied.",
            "{methods} take as long for {many} as for {few}: the elements are not copied.",
            len(flat),
            methods=join_names(flat),
            many=elements(sizes[-1]),
            few=f"{sizes[0]:,}",
        )
    for size in dict.fromkeys((sizes[-1], sizes[0])):
        rest = [one for name, one in by_size[size].items() if name not in flat]
        if len(rest) > 1:
            yield _at(elements(size), rest, copying=bool(flat))
    if {one.lane.method for one in timings}.issuperset(ORDERS):
        yield duel(timings, *ORDERS)


def _at(size: str, timings: Sequence[Timing], *, copying: bool) -> str:
    """What is certain at one size; `copying`: the others copy nothing."""
    first, *others = ties(timings)
    names, about = join_names([one.lane.method for one in first]), duration(first[0].median)
    if not certain(first[0]):
        rounds = in_rounds(len(first[0].samples))
        return gettext("At {size} nothing is certain after {rounds}.", size=size, rounds=rounds)
    if len(first) > 1:
        said = gettext(
            "At {size}, {methods} cannot be told apart: about {time} each.",
            size=size,
            methods=names,
            time=about,
        )
    elif copying:
        said = gettext(
            "At {size}, {method} is the quickest that copies: {time}.",
            size=size,
            method=names,
            time=about,
        )
    else:
        said = gettext(
            "At {size}, {method} is the quickest: {time}.", size=size, method=names, time=about
        )
    times = [
        f"{one.lane.method} {_times(ratio(one, first[0]))}" for group in others for one in group
    ]
    return f"{said} {gettext('Times as long: {times}.', times=', '.join(times))}" if times else said


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
            raise ValueError(f"{name!r} was not timed; timed were {join_names(methods)}")
    mine, its = (
        {t.lane.size: t for t in timings if t.lane.method == name and t.samples}
        for name in (one, other)
    )
    shared = sorted(mine.keys() & its.keys())
    quicker: dict[str, list[int]] = {one: [], other: [], "": []}
    for size in shared:
        found = ratio(its[size], mine[size])
        quicker[one if found.slower else other if found.faster else ""].append(size)
    parts = [] if shared else [gettext("not timed yet")]
    for winner, slow, quick in ((one, its, mine), (other, mine, its)):
        if sizes := quicker[winner]:
            size = sizes[0]
            parts.append(
                gettext(
                    "{method} is quicker {where} ({time} or {times} times at {size})",
                    method=winner,
                    where=_among(sizes, shared),
                    time=duration(abs(slow[size].median - quick[size].median)),
                    times=f"{ratio(slow[size], quick[size]).middle:.2f}",
                    size=f"{size:,}",
                )
            )
    if quicker[""]:
        parts.append(
            gettext("{where} the two cannot be told apart", where=_among(quicker[""], shared))
        )
    return gettext("{one} against {other}: {found}.", one=one, other=other, found="; ".join(parts))


def _among(sizes: Sequence[int], of: Sequence[int]) -> str:
    """`at 1 element`, `from 1 to 1,000 elements` where all sizes between are meant."""
    at = of.index(sizes[0])
    if len(sizes) > 2 and list(of[at : at + len(sizes)]) == list(sizes):
        return gettext("from {first} to {last}", first=f"{sizes[0]:,}", last=elements(sizes[-1]))
    return ngettext(
        "at {sizes} element",
        "at {sizes} elements",
        max(sizes),
        sizes=join_names([f"{one:,}" for one in sizes]),
    )
