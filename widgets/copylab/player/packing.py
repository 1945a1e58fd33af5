"""Store many pictures in few bytes: one table of parts, and of each picture what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

SWAP = str.maketrans('"`<~', '`"~<')
"""Letters of every part that JSON would write as escapes, exchanged for letters that parts hardly
ever have."""

SHORTEST = 3
"""Minimum number of parts that a reference to the text before replaces."""

_MARK = "\0"
# Where a text is cut: between the two strings of a pair.
_CUTS = (
    # Tags, lines, items of a list.
    (">", "<"),
    ("\n", ""),
    ("; ", ""),
    # Rules and colours of a style sheet.
    ("}", ""),
    (";", "--"),
    # The attributes that differ from element to element, and the text behind them.
    *(("", f' {name}="') for name in ("x", "y", "width", "d")),
    ('"', ">"),
)

Row = list[int | tuple[int, int]]
"""A text: places in the table of parts, and stretches (start, count) of the row before."""


class Pack:
    """Texts of a few kinds, each kind in the order of its numbers.

    A text is a list of places in one table of parts; `[start, count]` in it is that many entries of
    the text of its kind before it, from `start` on. In a part, `"` and a backtick are exchanged,
    and so are `<` and `~`. A general compressor would make it smaller, but its output differs
    between versions of zlib, and stored outputs are compared.
    """

    def __init__(self) -> None:
        # One object for equal parts: they are many.
        self._parts: dict[str, str] = {}
        self._texts: dict[str, dict[int, list[str]]] = {}

    def add(self, kind: str, number: int, text: str) -> None:
        """Add a text; raises ValueError unless the numbers of each kind increase."""
        texts = self._texts.setdefault(kind, {})
        # A text refers to the one before it, and scripts read the keys of an object in their order.
        if texts and number <= next(reversed(texts)):
            raise ValueError(f"number {number} of {kind} does not come after those before it")
        texts[number] = [self._parts.setdefault(part, part) for part in _cut_into_parts(text)]

    def to_json(self, room: int, dispensable_kinds: Sequence[str] = ()) -> str:
        """Return the table and the texts as JSON that is safe in a <script>.

        Args:
            room: the number of characters to aim at.
            dispensable_kinds: of these, in this order, texts for which there is no room are left
                out, the longest first: it has most parts that no other text has. Texts of other
                kinds are never left out.

        """
        places: dict[str, int] = {}  # of the parts in the table
        rows: dict[str, dict[int, Row]] = {}
        order = {kind: number for number, kind in enumerate(dispensable_kinds)}
        # Kinds that are never left out come first: the others share the room that remains.
        for kind in sorted(self._texts, key=lambda kind: order.get(kind, -1)):
            if kind in order:
                rows[kind], new_places = _encode_what_fits(self._texts[kind], places, room)
            else:
                new_places = dict(places)
                rows[kind] = _encode_rows(self._texts[kind], new_places)
            room -= _count_characters(rows[kind], new_places, len(places))
            places = new_places
        return f'{{"parts":{_dump_json(list(places))},"texts":{_dump_json(rows)}}}'


def _encode_what_fits(
    texts: Mapping[int, list[str]], places: Mapping[str, int], room: int
) -> tuple[dict[int, Row], dict[str, int]]:
    """Encode as many of the texts as fit into `room` characters.

    Return their rows and the extended places.
    """
    fitting = dict(texts)
    while True:
        new_places = dict(places)
        rows = _encode_rows(fitting, new_places)
        cost = _count_characters(rows, new_places, len(places))
        if cost <= room or not fitting:
            return rows, new_places
        # Leave out that share of the parts by which it is too long, and measure again: what a text
        # costs depends on those that remain.
        excess = sum(map(len, fitting.values())) * min(1 - room / cost, 1)
        for number in sorted(fitting, key=lambda number: (-len(fitting[number]), -number)):
            excess -= len(fitting.pop(number))
            if excess <= 0:
                break


def _count_characters(rows: Mapping[int, Row], places: Mapping[str, int], old: int) -> int:
    """Return how many characters the rows take, and the parts in the table from number `old` on."""
    return len(_dump_json(rows)) + len(_dump_json(list(places)[old:]))


def _encode_rows(texts: Mapping[int, list[str]], places: dict[str, int]) -> dict[int, Row]:
    """Return the row of each text; parts that are new are added to `places`."""
    before: list[str] = []
    rows: dict[int, Row] = {}
    for number, parts in texts.items():
        row = _encode_difference(before, parts)
        rows[number] = [
            places.setdefault(entry, len(places)) if isinstance(entry, str) else entry
            for entry in row
        ]
        before = parts
    return rows


def _dump_json(value: list[str] | Mapping[Any, Any]) -> str:
    if isinstance(value, list):
        value = [part.translate(SWAP) for part in value]
    # `</script>` in a text would end the element around it.
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _cut_into_parts(text: str) -> list[str]:
    """Cut a text where a piece that differs between pictures is followed by one that does not.

    Cut into tags and lines alone, a player of 30 steps took 127 kB. Colours of a style sheet, of
    which pictures of one run use different sets, made that 77 kB, attributes made it 50 kB. Marks
    are put in and cut at, which is far faster than to search for the cuts one by one.
    """
    # No picture has it; a text that does stays whole.
    if _MARK in text:
        return [text]
    for end, start in _CUTS:
        text = text.replace(f"{end}{start}", f"{end}{_MARK}{start}")
    return text.split(_MARK)


def _encode_difference(before: list[str], now: list[str]) -> list[str | tuple[int, int]]:
    """Return `now` as parts of its own and stretches (start, count) of `before`."""
    first_places: dict[str, int] = {}
    for place, old_part in enumerate(before):
        first_places.setdefault(old_part, place)
    row: list[str | tuple[int, int]] = []
    start = end = 0  # the stretch of `before` that goes on
    for part in [*now, None]:  # None ends the last stretch
        if part is not None and end < len(before) and before[end] == part:
            end += 1
            continue
        row += [(start, end - start)] if end - start >= SHORTEST else before[start:end]
        if part in first_places:
            start = first_places[part]
            end = start + 1
        elif part is not None:
            row.append(part)
            # It replaces one part: go on behind that.
            start = end = end + 1
    return row
