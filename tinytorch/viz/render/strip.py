"""A storage as a strip of cells, and the lanes that show which cells a tensor covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from ..read import Storage, Tensor
from ..show import covered
from ..wording import format_value, gettext, text_width
from .style import Canvas, number

MAX_WIDTH = 600
NARROW, GAP_W = 30, 26
CELL_H = 28
ARCS = 8
"""The order of walk of more elements is told, not drawn: the arcs would be a tangle."""
MANY = 4096
"""Up to so many elements are walked one by one; larger tensors are asked cell by cell."""


class Lane(NamedTuple):
    """What stands under the columns for one tensor: the index of its element, or a remark in place of all."""

    texts: tuple[str, ...]
    remark: str
    walks: bool
    """Whether the order of walk is worth drawing: it goes back and forth in few, whole cells."""
    walk: tuple[int, ...]


@dataclass(frozen=True)
class Strip:
    """The columns of one storage."""

    columns: tuple[tuple[int | None, str, str], ...]
    """A cell with its value and what it was before, or (without a cell) a gap where cells are left out."""
    cell_w: float
    height: int

    @property
    def edges(self) -> list[float]:
        """How far from its left edge the columns begin, and the last one ends."""
        return [
            0,
            *accumulate(GAP_W if cell is None else self.cell_w for cell, _, _ in self.columns),
        ]

    @property
    def width(self) -> float:
        """In px."""
        return self.edges[-1] or 60

    def begins(self, lane: Lane) -> float:
        """How far from the left edge the first element of a tensor stands."""
        return self.edges[next((k for k, text in enumerate(lane.texts) if text), 0)]

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        """The strip itself: cell numbers above, values inside, what they were below."""
        if not self.columns:
            canvas.rect(x, y + 14, 60, CELL_H, "cell dash")
            canvas.text(x + 30, y + 32, gettext("empty"), "m c")
        base = y + 14 + CELL_H / 2 + 4
        for (cell, value, was), (start, stop) in zip(
            self.columns, pairwise(self.edges), strict=True
        ):
            middle = x + (start + stop) / 2
            if cell is None:
                canvas.text(middle, base, "...", "m b c")
                continue
            canvas.text(middle, y + 9, str(cell), "m s c")
            canvas.rect(x + start, y + 14, self.cell_w, CELL_H, "new" if was else "cell")
            canvas.text(middle, base, value, "new-t b mono c" if was else "t mono c")
            if was:
                canvas.text(middle, y + 14 + CELL_H + 12, was, "new-t s c")

    def draw_lane(self, canvas: Canvas, x: float, y: float, lane: Lane, of: str) -> None:
        """Under each cell that a tensor covers, the index of its element there."""
        edges = [x + edge for edge in self.edges]
        for text, (start, stop) in zip(lane.texts, pairwise(edges), strict=True):
            if text:
                canvas.rect(start + 2, y + 4, stop - start - 4, 24, "view", 4, of)
                canvas.text((start + stop) / 2, y + 20, text, "view-t mono s c")
        if lane.remark:
            canvas.text(x + 4, y + 20, lane.remark, "m s", 40)
        y += 28
        points = [(edges[k] + edges[k + 1]) / 2 for k in lane.walk]
        for a, b in pairwise(points):
            deep = 6 + min(abs(b - a) / 14, 10)
            middle, low = number((a + b) / 2), number(y + 2 * deep)
            canvas.path(f"M{number(a)} {number(y)}Q{middle} {low} {number(b)} {number(y)}", "thin")
        if len(points) > 1:
            side = 1 if points[-1] > points[-2] else -1
            canvas.path(f"M{number(points[-1])} {number(y)}l{-6 * side} 1l{3 * side} 5z", "tip")


def strip_of(
    storage: Storage, members: list[Tensor], was: Mapping[int, object]
) -> tuple[Strip, list[Lane]]:
    """The strip of a storage, and a lane for each tensor in it; `was` are the values that cells had."""
    cells = [cell for run in storage.runs for cell in range(run.start, run.stop)]
    if not storage.runs and storage.cells:  # values that cannot be read still have places
        cells = list(range(min(storage.cells, 8)))
    values = {
        cell: format_value(value) if known else "?"
        for cell in cells
        for known, value in [storage.value(cell)]
    }
    before = {
        cell: gettext("was {value}", value=format_value(value))
        for cell, value in was.items()
        if cell in values
    }
    indices = [_indices(storage, one, cells) for one in members]
    widths = [text_width(value, "mono") for value in values.values()]
    widths += [text_width(text, "mono s") - 2 for texts in indices for text in texts.values()]
    widths += [text_width(text, "s") - 8 for text in before.values()]
    cell_w = max(NARROW, round(max(widths, default=0.0) + 12))
    columns: list[tuple[int | None, str, str]] = []
    expected = 0
    for cell in _thinned(cells, max(6, int(MAX_WIDTH // cell_w)), storage.cells):
        if cell != expected:
            columns.append((None, "", ""))
        columns.append((cell, values[cell], before.get(cell, "")))
        expected = cell + 1
    if columns and expected != storage.cells:
        columns.append((None, "", ""))
    lanes = [
        _lane(storage, one, [cell for cell, _, _ in columns], texts)
        for one, texts in zip(members, indices, strict=True)
    ]
    return Strip(tuple(columns), cell_w, 14 + CELL_H + (14 if was else 0)), lanes


def _thinned(cells: list[int], room: int, end: int) -> list[int]:
    """Leave cells out, from the end of the longest stretch first, until they fit."""
    while len(cells) > room:
        runs = groupby(
            enumerate(cells), lambda one: one[1] - one[0]
        )  # neighbours lie as far from their places
        longest = max(([cell for _, cell in run] for _, run in runs), key=len)
        # The very last cell stays: it shows where the storage ends.
        cells.remove(longest[-2] if longest[-1] == end - 1 and len(longest) > 1 else longest[-1])
    return cells


def _lane(
    storage: Storage, tensor: Tensor, columns: list[int | None], texts: dict[int | None, str]
) -> Lane:
    shown = tuple(texts.get(cell, "") for cell in columns)
    walks = (
        1 < tensor.numel <= ARCS
        and tensor.itemsize == storage.itemsize
        and tensor.jumps_in_storage()
    )
    remark, walk = "", ()
    if not tensor.numel:
        remark = gettext("no elements")
    elif not any(shown):
        remark = covered(tensor)
    elif walks:
        cells = [byte // tensor.itemsize for _, byte in tensor.elements(ARCS)]
        walk = tuple(columns.index(cell) for cell in cells if cell in columns)
    return Lane(shown, remark, walks, walk)


def _indices(storage: Storage, tensor: Tensor, cells: list[int]) -> dict[int | None, str]:
    """Cell -> the index of the element that begins there, as it is written."""
    if tensor.numel > MANY:
        asked = ((cell, tensor.index_at(cell * storage.itemsize)) for cell in cells)
        return {
            cell: _index_text(index, tensor.elements_per_cell())
            for cell, index in asked
            if index is not None
        }
    first: dict[int, tuple[int, ...]] = {}
    count: dict[int, int] = {}
    for index, byte in tensor.elements(MANY):
        first.setdefault(byte, index)
        count[byte] = count.get(byte, 0) + 1
    begins = ((cell, cell * storage.itemsize) for cell in cells)
    return {cell: _index_text(first[byte], count[byte]) for cell, byte in begins if byte in first}


def _index_text(index: tuple[int, ...], times: int) -> str:
    text = "[" + ",".join(map(str, index)) + "]" if index else "()"
    return f"{text}x{times}" if times > 1 else text
