"""Draw the timings of one engine: time against size on logarithmic axes, the spread, and what cannot be told apart.

The layout is our own and the same for the same numbers everywhere. A method is known by its marker and by the name at
the end of its line, never by its colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import cycle

from tinytorch.viz import Canvas, colour, gettext, number, shorten_text, text_width

from .samples import Timing, certain, ties
from .words import duration

_LEFT, _TOP, _PLOT, _HEIGHT, _ROW = 58.0, 58.0, 300.0, 250.0, 17.0
_COLOURS = {  # and the class of all pictures that brings each of them
    "name-line": "name",
    "bad-line": "bad-l",
    "leaf-line": "leaf-l",
    "count-line": "count-l",
    "new-line": "new",
    "muted": "m",
    "ink": "arrow",
}
_MARKS = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",  # circle
    "m-3.5 -3.5h7v7h-7z",  # square
    "m0 -4.6l4.6 8h-9.2z",  # triangle
    "m0 -5l5 5l-5 5l-5 -5z",  # diamond
    "m0 4.6l4.6 -8h-9.2z",  # triangle on its tip
    "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",  # plus
    "m-4.5 -3l4.5 -2.5l4.5 2.5v5l-4.5 2.5l-4.5 -2.5z",  # hexagon
)
_NAMES = 22  # columns that a name may take


def span(timings: Iterable[Timing]) -> tuple[int, int]:
    """The powers of ten between which all of these lie, for axes that can be compared."""
    ends = [
        end for timing in timings if timing.samples for end in (*timing.quartiles, timing.median)
    ]
    if not ends:
        return -7, -3
    low, high = (
        math.floor(math.log10(max(min(ends), 1e-10))),
        math.ceil(math.log10(max(*ends, 1e-10))),
    )
    return low, max(high, low + 1)


def draw(timings: Sequence[Timing], title: str, powers: tuple[int, int]) -> str:
    """The picture as an SVG document. `timings` are of one engine, `powers` the ends of the axis of time."""
    plot = _Plot(timings, powers)
    plot.canvas.text(14, 24, title, "t l b")
    plot.canvas.text(14, 42, gettext("Time of one call, against the number of elements"), "m s")
    plot.grid()
    plot.lines()
    plot.labels()
    plot.canvas.kinds.update(_COLOURS.values())
    label = gettext("{engine}: time of one call against size, told in words below", engine=title)
    made = plot.canvas.svg(plot.width, plot.height, label)
    return made.replace("</style>", f"{_style(len(plot.methods))}</style>", 1)


def short(size: int) -> str:
    """A size in few characters: `10k` for ten thousand."""
    for power, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= power and size % (power // 10) == 0:
            return f"{size / power:g}{letter}"
    return f"{size:,}"


class _Plot:
    def __init__(self, timings: Sequence[Timing], powers: tuple[int, int]) -> None:
        self.canvas = Canvas()
        self.powers = powers
        self.methods = list(dict.fromkeys(timing.lane.method for timing in timings))
        self.sizes = sorted({timing.lane.size for timing in timings})
        self.failed = {timing.lane.method for timing in timings if timing.error}
        self.found = {
            (timing.lane.method, timing.lane.size): timing for timing in timings if timing.samples
        }
        longest = max((len(shorten_text(name, _NAMES)) for name in self.methods), default=0)
        self.names = _LEFT + _PLOT + 26
        self.values = self.names + text_width("m" * longest, "mono") + 62
        self.width = self.values + 26
        self.height = _TOP + max(_HEIGHT, _ROW * len(self.methods)) + 62

    def x(self, size: int) -> float:
        low, high = math.log10(self.sizes[0]), math.log10(self.sizes[-1])
        part = (math.log10(size) - low) / (high - low) if high > low else 0.5
        return _LEFT + 14 + part * (_PLOT - 28)

    def y(self, seconds: float) -> float:
        low, high = self.powers
        part = (math.log10(max(seconds, 1e-12)) - low) / (high - low)
        return _TOP + _HEIGHT * (1 - min(max(part, 0), 1))

    def grid(self) -> None:
        low, high = self.powers
        for power in range(low, high + 1):
            y = self.y(10.0**power)
            self.canvas.line([(_LEFT, y), (_LEFT + _PLOT, y)], "thin grid")
            self.canvas.text(_LEFT - 6, y + 4, duration(10.0**power), "m s e")
        bottom, room = _TOP + _HEIGHT, -math.inf
        for size in self.sizes:
            x, text = self.x(size), short(size)
            self.canvas.line([(x, bottom), (x, bottom + 5)], "thin")
            if (
                x - text_width(text, "s") / 2 >= room
            ):  # a size without room for its number keeps its tick
                self.canvas.text(x, bottom + 19, text, "m s c")
                room = x + text_width(text, "s") / 2 + 6
        self.canvas.text(_LEFT + _PLOT / 2, bottom + 36, gettext("elements"), "m s c")

    def lines(self) -> None:
        count = len(self.methods)
        for at, method in enumerate(self.methods):
            # Beside each other, or the bars would hide each other.
            aside = (at - (count - 1) / 2) * min(2.5, 16 / count)
            timings = [
                self.found[method, size] for size in self.sizes if (method, size) in self.found
            ]
            points = [(self.x(one.lane.size) + aside, self.y(one.median)) for one in timings]
            if len(points) > 1:
                self.canvas.line(points, f"way q{at}")
            for one, (x, y) in zip(timings, points, strict=True):
                low, high = one.quartiles
                self.canvas.line([(x, self.y(low)), (x, self.y(high))], f"bar q{at}")
                self.canvas.path(
                    f"M{number(x)} {number(y)}{_MARKS[at % len(_MARKS)]}", f"mark q{at}"
                )

    def labels(self) -> None:
        """The names beside the ends of the lines, apart from each other, tied where they cannot be told apart."""
        if not self.sizes:
            return
        last = {method: self.found.get((method, self.sizes[-1])) for method in self.methods}
        there = [one for one in last.values() if one is not None]
        self.canvas.text(
            self.values, _TOP - 12, gettext("at {size}", size=short(self.sizes[-1])), "m s e"
        )
        groups = list(reversed(ties(there)))
        tied = all(
            certain(one) for one in there
        )  # before that, nothing could be told apart from anything
        order = [one for group in groups for one in reversed(group)]
        places = _apart([self.y(one.median) for one in order], _TOP + 4, _TOP + _HEIGHT)
        for one, y in zip(order, places, strict=True):
            at = self.methods.index(one.lane.method)
            end = self.x(self.sizes[-1])
            self.canvas.line([(end + 14, self.y(one.median)), (self.names - 12, y)], "thin lead")
            self.canvas.path(
                f"M{number(self.names - 6)} {number(y)}{_MARKS[at % len(_MARKS)]}", f"mark q{at}"
            )
            self.canvas.text(self.names + 4, y + 4, one.lane.method, "t mono", _NAMES)
            self.canvas.text(self.values, y + 4, duration(one.median), "m s e")
        at = 0
        for group in groups:
            if tied and len(group) > 1:
                top, bottom, x = places[at] - 6, places[at + len(group) - 1] + 6, self.values + 8
                self.canvas.line([(x - 3, top), (x, top), (x, bottom), (x - 3, bottom)], "arrow")
            at += len(group)
        if tied and any(len(group) > 1 for group in groups):
            x, y = self.values + 8, _TOP + _HEIGHT + 36
            self.canvas.text(x - 8, y, gettext("cannot be told apart"), "m s e")
            self.canvas.line([(x - 3, y - 10), (x, y - 10), (x, y + 2), (x - 3, y + 2)], "arrow")
        gone = [
            method
            for method, one in last.items()
            if one is None and not any(m == method for m, _ in self.found)
        ]
        failed, waiting = (
            [one for one in gone if (one in self.failed) is kind] for kind in (True, False)
        )
        words = [gettext("raises an error: {methods}", methods=", ".join(failed))] if failed else []
        words += (
            [gettext("not timed yet: {methods}", methods=", ".join(waiting))] if waiting else []
        )
        if gone:
            self.canvas.text(14, self.height - 8, "; ".join(words), "m s", 76)


def _apart(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Places for labels, from top to bottom: near where they are wanted, and never closer than a row."""
    places: list[float] = []
    for y in wanted:
        places.append(max(y, places[-1] + _ROW) if places else max(y, top))
    limit = max(bottom, top + _ROW * (len(places) - 1))
    for at in reversed(range(len(places))):
        places[at] = min(places[at], limit)
        limit = places[at] - _ROW
    return places


def _style(count: int) -> str:
    """The rules of the lines: a colour for each, in the shades of the theme."""
    root = ".tt-pic"
    rules = [
        f"{root} .way{{fill:none;stroke-width:2}}{root} .bar{{fill:none;stroke-width:3;opacity:.55}}",
        f"{root} .mark{{stroke:none}}{root} .grid{{stroke-dasharray:2 3;opacity:.6}}{root} .lead{{opacity:.6}}",
    ]
    for at, name in zip(range(count), cycle(_COLOURS), strict=False):
        dash = ";stroke-dasharray:6 3" if at >= len(_COLOURS) else ""
        rules.append(
            f"{root} .way.q{at}{{stroke:{colour(name)}{dash}}}{root} .bar.q{at}{{stroke:{colour(name)}}}"
        )
        rules.append(f"{root} .mark.q{at}{{fill:{colour(name)}}}")
    return "".join(rules)
