"""Keep many pictures small: together, as one table of parts, and each as what differs from the one before it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, islice

SWAP = str.maketrans('"`<~', '`"~<')
"""What stands in every part, and would be written as an escape, is exchanged for what hardly ever does."""

SHORTEST = 3
"""A reference to the text before stands for so many parts at least."""

_MARK = "\0"
Row = list[int | list[int]]


@dataclass
class _Text:
    kind: str
    number: int
    ids: list[int]
    cost: int = 0
    """Characters that it takes as it was last written: its row, and the parts that no text before it has."""
    against: list[int] | None = None
    """What `row` refers to."""
    row: Row = field(default_factory=list)


class Pack:
    """Texts of a few kinds, each kind in the order of its numbers.

    A text is a list of places in one table of parts; `[start, count]` in it stands for that many entries of the text
    of its kind before it, from `start` on. In a part, `"` and a backtick are exchanged, and so are `<` and `~`. A
    general compressor would do better, but its output differs from one zlib to the next, and stored outputs are
    compared.
    """

    def __init__(self) -> None:
        self._parts: dict[str, int] = {}
        self._texts: list[_Text] = []

    def add(self, kind: str, number: int, text: str) -> None:
        """Put in a text; of each kind, the numbers go up."""
        parts, known = _cut(text), self._parts
        new = [part for part in dict.fromkeys(parts) if part not in known]
        known.update(zip(new, count(len(known)), strict=False))
        self._texts.append(_Text(kind, number, list(map(known.__getitem__, parts))))

    def __bool__(self) -> bool:
        return bool(self._texts)

    def json(self, room: int, spare: Sequence[str] = ()) -> str:
        """The table and the texts, safe to stand in a <script>.

        room: so many characters are aimed at; if it takes more, texts of the kinds `spare` are left out, those of the
        first kind first, and of each kind the longest first: what is new in them, none of the others has. All others
        are always there.
        """
        kept = self._texts
        while len(made := self._written(kept)) > room and (able := [one for one in kept if one.kind in spare]):
            over = len(made) - room
            left: set[int] = set()
            for one in sorted(able, key=lambda one: (spare.index(one.kind), -len(one.ids), -one.number)):
                if over <= 0:
                    break
                left.add(id(one))
                over -= one.cost
            kept = [one for one in kept if id(one) not in left]
        return made

    def _written(self, kept: Sequence[_Text]) -> str:
        names = list(self._parts)
        places: dict[int, int] = {}
        before: dict[str, list[int]] = {}
        texts: dict[str, dict[int, Row]] = {}
        for one in kept:
            base = before.get(one.kind, [])
            if one.against is not base:
                one.against, one.row = base, _differing(base, one.ids)
            before[one.kind] = one.ids
            known = len(places)
            row: Row = [
                entry if isinstance(entry, list) else places.setdefault(entry, len(places)) for entry in one.row
            ]
            new = islice(reversed(places), len(places) - known)
            one.cost = sum(len(names[part]) + 3 for part in new) + len(str(row))
            texts.setdefault(one.kind, {})[one.number] = row
        made = {"parts": [names[part].translate(SWAP) for part in places], "texts": texts}
        return json.dumps(made, separators=(",", ":")).replace("<", "\\u003c")


def _cut(text: str) -> list[str]:
    """The parts of a text: each line, and in it each tag that follows another, with what is in it.

    Searching and cutting are far faster in one go, and the mark at which to cut stands in no picture.
    """
    return text.replace("><", f">{_MARK}<").replace("\n", f"\n{_MARK}").split(_MARK) if _MARK not in text else [text]


def _differing(before: list[int], now: list[int]) -> Row:
    """`now` as entries of its own and stretches of `before`."""
    places: dict[tuple[int, int], int] | None = None  # where each pair of entries stands first
    made: Row = []
    at = expected = 0
    while at < len(now):
        start = expected
        if before[start : start + SHORTEST] != now[at : at + SHORTEST]:
            if places is None:
                pairs = zip(before[-2::-1], before[:0:-1], strict=True)  # from the last, so that the first counts
                places = dict(zip(pairs, range(len(before) - 2, -1, -1), strict=True))
            start = places.get((now[at], now[at + 1]), len(before)) if at + 1 < len(now) else len(before)
        length = _common(before, start, now, at)
        if length < SHORTEST:
            made.append(now[at])
            at, expected = at + 1, expected + 1
        else:
            made.append([start, length])
            at, expected = at + length, start + length
    return made


def _common(one: list[int], at: int, other: list[int], there: int) -> int:
    """How many entries are the same from these two places on."""
    most = min(len(one) - at, len(other) - there)
    length, step = 0, 64
    while step:
        while (
            length + step <= most
            and one[at + length : at + length + step] == (other[there + length : there + length + step])
        ):
            length += step
        step //= 4
    return max(length, 0)
