"""A storage as a strip of cells, and below it for each tensor a lane: which cells it covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

from ..read import StorageRecord, TensorRecord
from ..show import MOST_ARCS, StorageEntry, TensorEntry
from ..wording import format_value, gettext, text_width
from .style import Canvas, format_point

MAX_WIDTH = 600
NARROW, GAP_WIDTH = 30, 26
"""The width of a cell at least, and of the dots for cells that are left out, in px."""
CELL_HEIGHT = 28
UNREAD_CELLS = 8
"""How many empty cells are drawn of a storage whose values cannot be read."""
MOST_WALKED = 4096
"""Elements of tensors up to this size are walked one by one; of larger ones only cells are asked."""


class Column(NamedTuple):
    """A cell with its value and what this was before; with `cell` None, a gap."""

    cell: int | None
    """The number of the cell."""
    value: str
    """Its value as it is written."""
    value_before: str
    """What the earlier snapshot had there, if it was another; else empty."""


class ViewLane(NamedTuple):
    """The part under the columns for one tensor."""

    texts: tuple[str, ...]
    """The index of the element that begins in each column's cell, or nothing."""
    remark: str
    """In place of indices, where there are none."""
    has_arcs: bool
    """True if the order of walk is worth drawing: it goes back and forth in few, whole cells."""
    walk: tuple[int, ...]
    """The columns in the order of the elements."""


@dataclass(frozen=True)
class Strip:
    """The columns of one storage."""

    columns: tuple[Column, ...]
    """The cells that are drawn, with gaps where others are left out."""
    cell_width: float
    """The width of each, in px."""
    height: int
    """The height of cells and numbers, in px."""

    @property
    def edges(self) -> list[float]:
        """Beginnings of columns, from the left edge of the strip, and where the last one ends."""
        edges = [0.0]
        for column in self.columns:
            width = GAP_WIDTH if column.cell is None else self.cell_width
            edges.append(edges[-1] + width)
        return edges

    @property
    def width(self) -> float:
        """The width in px; a strip without cells says "empty"."""
        return self.edges[-1] or 60

    def start_of(self, lane: ViewLane) -> float:
        """Return where the first element of a tensor is, from the left edge of the strip."""
        for edge, text in zip(self.edges, lane.texts, strict=False):
            if text:
                return edge
        # Without a visible element, as of an empty tensor, the arrow points at the whole strip.
        return 0

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        """Draw the strip: numbers of cells above, values inside, earlier values below."""
        if not self.columns:
            canvas.rect(x, y + 14, 60, CELL_HEIGHT, "cell dash")
            canvas.text(x + 30, y + 32, gettext("empty"), "m c")
        base = y + 14 + CELL_HEIGHT / 2 + 4
        for column, (start, stop) in zip(self.columns, pairwise(self.edges), strict=True):
            middle = x + (start + stop) / 2
            if column.cell is None:
                canvas.text(middle, base, "...", "m b c")
                continue
            before = column.value_before
            box, ink = ("new", "new-t b mono c") if before else ("cell", "t mono c")
            canvas.text(middle, y + 9, str(column.cell), "m s c")
            canvas.rect(x + start, y + 14, self.cell_width, CELL_HEIGHT, box)
            canvas.text(middle, base, column.value, ink)
            if before:
                canvas.text(middle, y + 14 + CELL_HEIGHT + 12, before, "new-t s c")

    def draw_lane(self, canvas: Canvas, x: float, y: float, lane: ViewLane, tensor_id: str) -> None:
        """Draw, under each cell that a tensor covers, the index of its element there."""
        middles = []
        for text, (start, stop) in zip(lane.texts, pairwise(self.edges), strict=True):
            middles.append(x + (start + stop) / 2)
            if text:
                canvas.rect(x + start + 2, y + 4, stop - start - 4, 24, "view", 4, tensor_id)
                canvas.text(middles[-1], y + 20, text, "view-t mono s c")
        if lane.remark:
            canvas.text(x + 4, y + 20, lane.remark, "m s", 40)
        _draw_walk(canvas, [middles[column] for column in lane.walk], y + 28)


def _draw_walk(canvas: Canvas, stops: Sequence[float], y: float) -> None:
    """Draw arcs from element to element, below the lane, with a tip at the last one."""
    for here, there in pairwise(stops):
        # Long arcs are deeper, so that those over each other can be followed.
        depth = 6 + min(abs(there - here) / 14, 10)
        # The middle of a quadratic curve is half as deep as its control point.
        control = format_point(((here + there) / 2, y + 2 * depth))
        canvas.path(f"M{format_point((here, y))}Q{control} {format_point((there, y))}", "thin")
    if len(stops) > 1:
        side = 1 if stops[-1] > stops[-2] else -1
        canvas.path(f"M{format_point((stops[-1], y))}l{-6 * side} 1l{3 * side} 5z", "tip")


def make_strip(entry: StorageEntry) -> tuple[Strip, list[ViewLane]]:
    """Make the strip of a storage, and a lane for each tensor in it."""
    storage = entry.storage
    cells = _list_cells(storage)
    values: dict[int, str] = {}
    for cell in cells:
        is_known, value = storage.value(cell)
        values[cell] = format_value(value) if is_known else "?"
    before: dict[int, str] = {}
    for cell, value in entry.old_values.items():
        if cell in values:
            before[cell] = gettext("was {value}", value=format_value(value))
    indices = [_find_indices(storage, member.tensor, cells) for member in entry.tensors]
    cell_width = _width_of_cells(values, before, indices)
    # Wide values must not leave a strip of two or three cells.
    most = max(6, int(MAX_WIDTH // cell_width))
    columns: list[Column] = []
    expected = 0
    for cell in _thin_out(cells, most, storage.cells):
        if cell != expected:
            columns.append(Column(None, "", ""))
        columns.append(Column(cell, values[cell], before.get(cell, "")))
        expected = cell + 1
    # Dots at the end, too: the storage goes on.
    if columns and expected != storage.cells:
        columns.append(Column(None, "", ""))
    height = 14 + CELL_HEIGHT
    if entry.old_values:
        height += 14
    drawn = [column.cell for column in columns]
    lanes = []
    for member, texts in zip(entry.tensors, indices, strict=True):
        lanes.append(_make_lane(storage, member, drawn, texts))
    return Strip(tuple(columns), cell_width, height), lanes


def _list_cells(storage: StorageRecord) -> list[int]:
    """List the cells that were read; of values that cannot be read, the first places."""
    if not storage.runs and storage.cells:
        return list(range(min(storage.cells, UNREAD_CELLS)))
    cells: list[int] = []
    for run in storage.runs:
        cells += range(run.start, run.stop)
    return cells


def _width_of_cells(
    values: Mapping[int, str], before: Mapping[int, str], indices: Sequence[Mapping[int, str]]
) -> float:
    """Return the width that the widest text in any cell needs."""
    widest = 0.0
    for value in values.values():
        widest = max(widest, text_width(value, "mono"))
    for texts in indices:
        for text in texts.values():
            widest = max(widest, text_width(text, "mono s") - 2)
    for text in before.values():
        widest = max(widest, text_width(text, "s") - 8)
    return max(NARROW, round(widest + 12))


def _thin_out(cells: list[int], room: int, stop: int) -> list[int]:
    """Leave cells out, from the end of the longest stretch first, until they fit."""
    while len(cells) > room:
        # In a stretch of neighbours, cell and place differ by the same number.
        longest: list[int] = []
        for _, stretch in groupby(enumerate(cells), lambda entry: entry[1] - entry[0]):
            neighbours = [cell for _, cell in stretch]
            if len(neighbours) > len(longest):
                longest = neighbours
        # The very last cell stays: it shows where the storage ends.
        if longest[-1] == stop - 1 and len(longest) > 1:
            cells.remove(longest[-2])
        else:
            cells.remove(longest[-1])
    return cells


def _make_lane(
    storage: StorageRecord, entry: TensorEntry, columns: list[int | None], texts: Mapping[int, str]
) -> ViewLane:
    tensor = entry.tensor
    drawn = tuple("" if cell is None else texts.get(cell, "") for cell in columns)
    is_small = 1 < tensor.numel <= MOST_ARCS
    # A view(dtype) has elements that are parts of a cell: an arc would point at the whole.
    has_arcs = is_small and tensor.itemsize == storage.itemsize and tensor.jumps_in_storage()
    if not tensor.numel:
        return ViewLane(drawn, gettext("no elements"), has_arcs, ())
    if not any(drawn):
        return ViewLane(drawn, entry.cells, has_arcs, ())
    if not has_arcs:
        return ViewLane(drawn, "", has_arcs, ())
    cells = [byte // tensor.itemsize for _, byte in tensor.elements(MOST_ARCS)]
    # A cell that is left out has no column: the walk goes on at the next one that has.
    walk = tuple(columns.index(cell) for cell in cells if cell in columns)
    return ViewLane(drawn, "", has_arcs, walk)


def _find_indices(
    storage: StorageRecord, tensor: TensorRecord, cells: Iterable[int]
) -> dict[int, str]:
    """Return cell -> the index of the element that begins there, as it is written."""
    found: dict[int, str] = {}
    # A picture of ten million elements took seconds where all of them were written out.
    if tensor.numel > MOST_WALKED:
        for cell in cells:
            index = tensor.index_at(cell * storage.itemsize)
            if index is not None:
                found[cell] = _write_index(index, tensor.elements_per_cell())
        return found
    first: dict[int, tuple[int, ...]] = {}
    counts: dict[int, int] = {}
    for index, byte in tensor.elements(MOST_WALKED):
        # Several elements may be in one place: those of an expanded tensor are.
        first.setdefault(byte, index)
        counts[byte] = counts.get(byte, 0) + 1
    for cell in cells:
        byte = cell * storage.itemsize
        if byte in first:
            found[cell] = _write_index(first[byte], counts[byte])
    return found


def _write_index(index: tuple[int, ...], times: int) -> str:
    # As one writes it behind the name of the tensor; that of a number has no brackets.
    text = f"[{','.join(map(str, index))}]" if index else "()"
    return f"{text}x{times}" if times > 1 else text
