"""The cells of a storage, and below them for each tensor a lane: marks of the cells that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from ..read import StorageRecord, TensorRecord
from ..show import Arrangement, Span, StorageEntry, find_spans, reads_in_order
from ..wording import format_value, gettext, ngettext, text_width
from .style import Canvas, format_point

LEAST_CELL_WIDTH, CELL_HEIGHT, MOST_LINE_WIDTH = 30, 24, 264
"""The least width of a cell, its height, and the most that a line of cells takes, in px."""
CELL_PADDING = 6
"""Of the widest number in a cell, on both sides together, in px."""
CELL_NUMBER_HEIGHT, EARLIER_VALUE_HEIGHT = 15, 14
"""The heights of the numbers of cells, and of what they were."""
LEAST_BOX_WIDTH, LEAST_BOX_WIDTH_WITH_LANES = 84, 240
"""The least width of the box that stands for many cells, alone and with lanes below it."""
LANE_HEIGHT = 8
"""The height of a mark in a lane."""


class StripCell(NamedTuple):
    """A cell with its value, and what this was before."""

    value: str
    """Its value as it is written."""
    value_before: str
    """What the earlier snapshot had there, if it was another; else empty."""


class ViewLane(NamedTuple):
    """Which cells a tensor reads."""

    spans: tuple[Span, ...]
    """Stretches of cells; of a matrix that reads them in order, one for each of its lines."""
    is_in_order: bool
    """False if it reads them in another order, some several times, or not all between the ends."""


@dataclass(frozen=True)
class Strip:
    """The cells of one storage, or one box that stands for all of them."""

    cells: tuple[StripCell, ...]
    """All cells; none where a box stands for them."""
    count: int
    """How many there are."""
    cell_width: float
    """The width of each, in px."""
    cells_per_line: int
    """How many are in a line; the last one may have fewer."""
    has_numbers: bool
    """True if each cell has its number above it."""
    has_room_below: bool
    """True if there is room for what they were, in this or another step."""
    label: str
    """What is written in the box."""
    box_width: float
    """The width of the box."""

    @property
    def width(self) -> float:
        """The width in px."""
        return min(len(self.cells), self.cells_per_line) * self.cell_width or self.box_width

    @property
    def line_height(self) -> int:
        """The height of a line of cells, with what is above and below it."""
        return (
            CELL_HEIGHT
            + CELL_NUMBER_HEIGHT * self.has_numbers
            + EARLIER_VALUE_HEIGHT * self.has_room_below
        )

    @property
    def height(self) -> int:
        """The height of all lines."""
        return self.line_height * (-(-len(self.cells) // self.cells_per_line) if self.cells else 1)

    @property
    def middle(self) -> float:
        """How far below its upper edge arrows end: in the middle of the cells."""
        if self.height > self.line_height:
            return self.height / 2
        return CELL_NUMBER_HEIGHT * self.has_numbers + CELL_HEIGHT / 2

    def find_x(self, cell: float) -> float:
        """Return how far right of the left edge a cell begins; of a box, in proportion."""
        if self.cells:
            return cell * self.cell_width
        return cell / self.count * self.box_width

    def draw(self, canvas: Canvas, x: float, y: float, classes: str) -> None:
        """Draw the cells with numbers above and earlier values below; `classes` are their outline's."""
        if not self.cells:
            # Dashed, because an empty storage has no cell.
            box_classes = classes if self.count else "cell dash"
            canvas.rect(x, y, self.box_width, CELL_HEIGHT, box_classes)
            canvas.text(x + self.box_width / 2, y + 16, self.label, "m c")
        for start in range(0, len(self.cells), self.cells_per_line):
            self._draw_line(canvas, x, y, start, classes)
            y += self.line_height

    def _draw_line(self, canvas: Canvas, x: float, y: float, start: int, classes: str) -> None:
        cells, width = self.cells[start : start + self.cells_per_line], self.cell_width
        if self.has_numbers:
            for index in range(len(cells)):
                canvas.text(x + (index + 0.5) * width, y + 10, str(start + index), "m c")
            y += CELL_NUMBER_HEIGHT
        canvas.rect(x, y, len(cells) * width, CELL_HEIGHT, classes)
        # One path for all lines between cells: a picture of 24 cells is half as large.
        between = "".join(
            f"M{format_point((x + index * width, y))}v{CELL_HEIGHT}"
            for index in range(1, len(cells))
        )
        if between:
            canvas.path(between, "thin")
        for index, cell in enumerate(cells):
            if cell.value_before:
                canvas.rect(x + index * width, y, width, CELL_HEIGHT, "new")
        has_changes = False
        for index, cell in enumerate(cells):
            middle = x + (index + 0.5) * width
            ink = "new-t b mono c" if cell.value_before else "t mono c"
            canvas.text(middle, y + 16, cell.value, ink)
            if cell.value_before and self.has_room_below:
                canvas.text(middle, y + CELL_HEIGHT + 12, cell.value_before, "new-t mono c")
                has_changes = True
        if has_changes:
            # On a ground: the arrow of a second name may lead through it.
            canvas.text(x - 5, y + CELL_HEIGHT + 12, gettext("was"), "new-t halo e")

    def draw_lane(
        self, canvas: Canvas, x: float, middle: float, lane: ViewLane, tensor_id: str
    ) -> None:
        """Draw marks below the cells that a tensor reads: dashed if it has an order of its own."""
        classes = "view" if lane.is_in_order else "view dash"
        for start, stop in lane.spans:
            # A pixel on each side: marks of neighbours would be one.
            left, right = self.find_x(start) + 1, self.find_x(stop) - 1
            # Of one cell of a million, the mark would be too narrow to be seen.
            width = max(right - left, 4.0)
            left = min(left, self.width - width)
            canvas.rect(
                x + left, middle - LANE_HEIGHT / 2, width, LANE_HEIGHT, classes, 2, tensor_id
            )


def make_strip(entry: StorageEntry) -> Strip:
    """Make the strip of a storage."""
    storage, arrangement = entry.storage, entry.arrangement
    if not arrangement.has_cells or not storage.cells:
        return _make_box(storage, arrangement)
    values = list(map(format_value, chain.from_iterable(run.values for run in storage.runs)))
    before = {cell: format_value(value) for cell, value in entry.old_values.items()}
    # What a single cell was is written beside it.
    has_room_below = bool(before) and storage.cells > 1
    widest = max(text_width(text, "mono") for text in [*values, *before.values()])
    cell_width = max(LEAST_CELL_WIDTH, round(widest + CELL_PADDING))
    cells_per_line = arrangement.cells_per_line or _choose_cells_per_line(
        storage.cells, cell_width, arrangement
    )
    return Strip(
        tuple(StripCell(value, before.get(cell, "")) for cell, value in enumerate(values)),
        storage.cells,
        cell_width,
        cells_per_line,
        _has_numbers(entry, cells_per_line),
        has_room_below,
        "",
        0,
    )


def _has_numbers(entry: StorageEntry, cells_per_line: int) -> bool:
    """Return True where some tensor reads a part of the cells, or the lines are those of no matrix."""
    if entry.arrangement.has_lanes:
        return not all(
            reads_in_order(entry.storage, tensor_entry.tensor) for tensor_entry in entry.tensors
        )
    return not entry.arrangement.cells_per_line and cells_per_line < entry.storage.cells


def _make_box(storage: StorageRecord, arrangement: Arrangement) -> Strip:
    label = ngettext("{number} cell", "{number} cells", storage.cells)
    if not storage.cells:
        label = gettext("empty")
    least = LEAST_BOX_WIDTH
    if arrangement.has_lanes and storage.cells:
        least = LEAST_BOX_WIDTH_WITH_LANES
    width = max(least, round(text_width(label, "t") + 16))
    return Strip((), storage.cells, 0, 1, False, False, label, width)


def _choose_cells_per_line(cells: int, cell_width: float, arrangement: Arrangement) -> int:
    """Return how many cells are in a line: as many in each, and no more than there is room for."""
    # Below the cells are the lanes: they need all of them in one line.
    if arrangement.has_lanes:
        return cells
    lines = -(-cells // max(1, int(MOST_LINE_WIDTH // cell_width)))
    return -(-cells // lines)


def make_lane(storage: StorageRecord, tensor: TensorRecord) -> ViewLane:
    """Make the lane of a tensor."""
    spans = find_spans(storage, tensor)
    # Marks that leave cells out show by themselves which are read.
    covered = sum(span.stop - span.start for span in spans) * storage.itemsize
    is_exact = covered == tensor.numel * tensor.itemsize
    return ViewLane(spans, is_exact and tensor.numel > 0 and tensor.is_in_order())
