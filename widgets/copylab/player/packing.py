"""Keep many pictures small: together, as one table of parts, and each as what differs from the one before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

SWAP = str.maketrans('"`<~', '`"~<')
"""What stands in every part, and would be written as an escape, is exchanged for what hardly ever does."""

SHORTEST = 3
"""A reference to the text before stands for so many parts at least."""

_MARK = "\0"
_CUTS = (
    *((">", "<"), ("\n", ""), ("; ", "")),  # tags, lines, items of a list
    *(("}", ""), (";", "--")),  # rules and colours of a style sheet
    *(
        ("", f' {name}="') for name in ("x", "y", "width", "d")
    ),  # what differs from element to element, and
    ('"', ">"),  # the text in it
)
"""Where a text is cut: between the two."""
Row = list[int | tuple[int, int]]


class Pack:
    """Texts of a few kinds, each kind in the order of its numbers.

    A text is a list of places in one table of parts; `[start, count]` in it stands for that many entries of the text
    of its kind before it, from `start` on. In a part, `"` and a backtick are exchanged, and so are `<` and `~`. A
    general compressor would do better, but its output differs from one zlib to the next, and stored outputs are
    compared.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._texts: dict[str, dict[int, list[str]]] = {}

    def add(self, kind: str, number: int, text: str) -> None:
        """Put in a text; of each kind, the numbers go up."""
        self._texts.setdefault(kind, {})[number] = [
            self._known.setdefault(part, part) for part in _cut_into_parts(text)
        ]

    def json(self, room: int, spare: Sequence[str] = ()) -> str:
        """The table and the texts, safe to stand in a <script>.

        room: so many characters are aimed at; what no longer fits of the kinds `spare`, which come one after another,
        is left out, the longest first: what is new in them, none of the others has. All others are always there.
        """
        known: dict[str, int] = {}
        made: dict[str, dict[int, Row]] = {}
        for kind in sorted(self._texts, key=lambda one: spare.index(one) if one in spare else -1):
            texts = dict(self._texts[kind])
            while True:
                places = dict(known)
                rows = _encode_rows(texts, places)
                cost = len(_dump_json(rows)) + len(_dump_json(list(places)[len(known) :]))
                if cost <= room or kind not in spare or not texts:
                    break
                over = sum(map(len, texts.values())) * min(1 - room / cost, 1)
                for number in sorted(texts, key=lambda one: (-len(texts[one]), -one)):
                    over -= len(texts.pop(number))
                    if over <= 0:
                        break
            known, room = places, room - cost
            made[kind] = rows
        return f'{{"parts":{_dump_json(list(known))},"texts":{_dump_json(made)}}}'


def _encode_rows(texts: Mapping[int, list[str]], places: dict[str, int]) -> dict[int, Row]:
    """The row of each text; the places of parts that are new are put into `places`."""
    before: list[str] = []
    rows: dict[int, Row] = {}
    for number, parts in texts.items():
        row = _encode_difference(before, parts)
        rows[number] = [
            places.setdefault(one, len(places)) if isinstance(one, str) else one for one in row
        ]
        before = parts
    return rows


def _dump_json(made: list[str] | Mapping[Any, Any]) -> str:
    if isinstance(made, list):
        made = [part.translate(SWAP) for part in made]
    return json.dumps(made, separators=(",", ":")).replace("<", "\\u003c")


def _cut_into_parts(text: str) -> list[str]:
    """The parts of a text, cut where one that differs is followed by one that does not.

    Cut into tags and lines alone, a player of 30 steps took 127 kB. Colours of a style sheet, of which pictures of
    one run use different sets, made that 77 kB, attributes made it 50 kB.
    Searching and cutting are far faster in one go, and the mark at which to cut is in no picture.
    """
    if _MARK in text:
        return [text]
    for end, start in _CUTS:
        text = text.replace(f"{end}{start}", f"{end}{_MARK}{start}")
    return text.split(_MARK)


def _encode_difference(before: list[str], now: list[str]) -> list[str | tuple[int, int]]:
    """`now` as parts of its own and stretches of `before`."""
    places = dict(
        zip(reversed(before), range(len(before) - 1, -1, -1), strict=True)
    )  # where each stands first
    made: list[str | tuple[int, int]] = []
    start = end = 0  # of the stretch that goes on
    for part in [*now, None]:
        if part is not None and end < len(before) and before[end] == part:
            end += 1
            continue
        made += [(start, end - start)] if end - start >= SHORTEST else before[start:end]
        if part in places:
            start = places[part]
            end = start + 1
        elif part is not None:  # it stands in place of another
            made.append(part)
            start = end = end + 1
    return made
