"""The parts of a memory picture: bands of storages, rows of tensors, boxes of version counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..show import Remark, RemarkKind, StorageEntry, TensorEntry
from ..wording import columns_that_fit, cut_middle, gettext, text_width, wrap_text
from .strip import Strip, ViewLane, make_strip
from .style import Canvas, format_point

PAD, ARROW = 4, 15
TOP, LINE, PILL, LANE = 17, 15, 22, 24
"""From the upper edge of a row to the middle of its name; the heights of a line of words, a name
and a lane."""
FLAG = 14
"""The height of a "new" or "found" below a name."""
NAME_COLUMNS = 30
TITLE_ROW, TITLE_ROWS = 17, 3
GRID_ROWS, GRID_COLUMNS, SQUARE = 4, 8, 8
"""How many rows and columns of a matrix are drawn, and how large each of its elements is."""
GEOMETRY_COLUMNS, WORD_COLUMNS = 60, 32
"""How long a tensor's shape and stride may be, and a line of words below it."""
NAMES_WIDTH, STRIP_WIDTH, PACK_WIDTH = 38, 108, 900
"""The least width of the names and of the strip, and the most that a line for a pack asks for."""
COUNTER_HEIGHT, BRACKET = 38, 8
CROSS = 12
"""The room for the cross before a hazard."""
_INKS: dict[RemarkKind, str] = {"changed": "new-t s b", "hazard": "bad-t s b"}
"""Of the remarks below a row; all others are muted."""
_FACTS: tuple[RemarkKind, ...] = ("stride", "dtype", "history", "base")
"""Remarks that share one line, below the geometry."""


class Columns(NamedTuple):
    """Places of the columns of a picture, in px; they are as wide as the widest of all rows."""

    strip_x: float
    """Where cells and the words below them begin; names are to the left."""
    counter_x: float
    """Where lines to version counters begin."""
    right: float
    """The width of the bands."""


class WordLine(NamedTuple):
    """A line of words below a row."""

    text: str
    """As it is drawn."""
    ink: str
    """Classes of the stylesheet: colour, size, weight."""
    whole: str
    """The sentence that it is a part of: shown as a tooltip where the line is cut."""
    is_hazard: bool = False
    """True if a cross is drawn before the sentence."""

    @property
    def indent(self) -> int:
        """The room for the cross, in px: before each line of its sentence, as they are aligned."""
        return CROSS if self.is_hazard else 0


class Pill(NamedTuple):
    """A name of a tensor, with "new", "found" or "" below it."""

    name: str
    flag: str
    """As `NameEntry.flag` has it."""

    @property
    def width(self) -> float:
        """The width in px."""
        return max(26.0, text_width(cut_middle(self.name, NAME_COLUMNS), "mono b") + 16)


# -- a tensor ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One tensor: its names, its lane below the cells, and below that what there is to say of it."""

    id: str
    """The tensor's id, which decides its hue."""
    pills: tuple[Pill, ...]
    """Its names."""
    has_names: bool
    """False if its pill is a label that the picture made up."""
    lines: tuple[WordLine, ...]
    """The words below its lane."""
    lane: ViewLane | None
    """Its indices under the cells; None for a tensor without a storage."""
    grid: tuple[int, int]
    """The sizes of a matrix; (0, 0) for anything else, and for one without elements."""

    @property
    def pill_step(self) -> int:
        """The distance from one name to the next, with room for flags."""
        # The flag of the last name has room below all of them.
        has_flags = any(pill.flag for pill in self.pills[:-1])
        return PILL + (FLAG if has_flags else 4)

    @property
    def words_top(self) -> int:
        """How far below the middle of its name the words begin."""
        if self.lane is None:
            return 4 - LINE
        return LANE // 2 + 16 * self.lane.has_arcs

    @property
    def height(self) -> float:
        """The height, with all names and words."""
        flag = FLAG if self.pills[-1].flag else 0
        pills_height = (len(self.pills) - 1) * self.pill_step + PILL / 2 + flag
        words_height = max(len(self.lines) * LINE, self.drawn_grid[0] * SQUARE)
        return TOP + max(self.words_top + words_height + 3, pills_height) + 6

    @property
    def drawn_grid(self) -> tuple[int, int]:
        """Numbers of rows and columns of a matrix that are drawn."""
        return min(self.grid[0], GRID_ROWS), min(self.grid[1], GRID_COLUMNS)

    @property
    def grid_width(self) -> int:
        """The width of the matrix, with the dots of one that is cut."""
        if not self.grid[1]:
            return 0
        return self.drawn_grid[1] * SQUARE + (8 if self.drawn_grid == self.grid else 14)

    def words_width(self, line_count: int | None = None) -> float:
        """Return the width of the words, or of their first lines."""
        lines = self.lines[:line_count]
        widest = max(text_width(line.text, line.ink) + line.indent for line in lines)
        return self.grid_width + widest + 4

    def draw(self, canvas: Canvas, columns: Columns, middle: float, arrow_end: float) -> None:
        """Draw names, an arrow to where the elements begin, and the words."""
        right = columns.strip_x - ARROW
        for place, pill in enumerate(self.pills):
            y = middle + place * self.pill_step
            self._draw_pill(canvas, pill, right, y)
            # Further names join the arrow of the first: they are names of the same tensor.
            if place > 0:
                elbow = right + ARROW / 2
                canvas.line([(right, y), (elbow, y), (elbow, middle)], "arrow")
        canvas.line([(right, middle), (arrow_end - 5, middle)], "arrow")
        canvas.path(f"M{format_point((arrow_end - 1, middle))}l-8 -4v8z", "tip")
        self._draw_grid(canvas, columns.strip_x + 2, middle + self.words_top + 4)
        x = columns.strip_x + 2 + self.grid_width
        for place, line in enumerate(self.lines):
            y = middle + self.words_top + 13 + place * LINE
            # One sign for a sentence, however many lines it takes.
            if line.is_hazard and line.whole.startswith(line.text):
                canvas.mark("cross", x + 4, y - 4)
            canvas.text(x + line.indent, y, line.text, line.ink, whole=line.whole)

    def _draw_pill(self, canvas: Canvas, pill: Pill, right: float, y: float) -> None:
        x = right - pill.width
        kind = "name"
        if pill.flag:
            kind += " fresh"
        # Dashed if it is not a name, but a label that this picture made up.
        if not self.has_names:
            kind += " dash"
        canvas.rect(x, y - PILL / 2, pill.width, PILL, kind, 11, self.id)
        middle = x + pill.width / 2
        # The end of a dotted name tells more than its middle, so that is what is cut.
        text = cut_middle(pill.name, NAME_COLUMNS)
        canvas.text(middle, y + 4, text, "t mono b c", whole=pill.name)
        if pill.flag:
            canvas.text(middle, y + PILL / 2 + 11, gettext(pill.flag), "new-t s b c")

    def _draw_grid(self, canvas: Canvas, x: float, top: float) -> None:
        """Draw a matrix as rows and columns; of many the first, and dots."""
        rows, columns = self.drawn_grid
        side = SQUARE - 1
        for row in range(rows):
            for column in range(columns):
                left, upper = x + column * SQUARE, top + row * SQUARE
                canvas.rect(left, upper, side, side, "view", 1, self.id)
        if self.drawn_grid != self.grid:
            canvas.text(x + columns * SQUARE + 1, top + rows * SQUARE, "…", "m s")


def make_row(entry: TensorEntry, lane: ViewLane | None) -> Row:
    """Make the row of a tensor."""
    sizes = entry.tensor.shape or ()
    # One dimension is seen in the lane.
    is_matrix = len(sizes) == 2 and entry.tensor.numel
    return Row(
        entry.tensor.id,
        pills=tuple(Pill(name.name, name.flag) for name in entry.names),
        has_names=bool(entry.tensor.names),
        lines=tuple(_make_lines(entry)),
        lane=lane,
        grid=(sizes[0], sizes[1]) if is_matrix else (0, 0),
    )


def _make_lines(entry: TensorEntry) -> list[WordLine]:
    """Make the lines of words: geometry, facts, then the remarks by how much they matter."""
    geometry = next(remark for remark in entry.remarks if remark.kind == "geometry").caption
    lines = [WordLine(cut_middle(geometry, GEOMETRY_COLUMNS), "t mono s", geometry)]
    facts, below = _split_remarks(entry)
    if facts:
        lines += _wrap_words(", ".join(facts), _ink_of_facts(entry), is_hazard=False)
    # Hazards and changes first: these a reader must not miss.
    for remark in sorted(below, key=lambda remark: remark.kind not in _INKS):
        ink = _INKS.get(remark.kind, "m s")
        lines += _wrap_words(remark.caption, ink, is_hazard=remark.kind == "hazard")
    return lines


def _split_remarks(entry: TensorEntry) -> tuple[list[str], list[Remark]]:
    """Return the facts that share a line, and the remarks that have lines of their own."""
    facts: list[str] = []
    below: list[Remark] = []
    for remark in entry.remarks:
        # Without a caption, a remark is for the text alone.
        if not remark.caption or remark.kind == "geometry":
            continue
        if remark.kind in _FACTS:
            facts.append(remark.caption)
        else:
            below.append(remark)
    return facts, below


def _ink_of_facts(entry: TensorEntry) -> str:
    if not entry.tensor.requires_grad:
        return "m s"
    return "leaf-t s b" if entry.tensor.is_leaf else "t s"


def _wrap_words(sentence: str, ink: str, *, is_hazard: bool) -> list[WordLine]:
    return [
        WordLine(part, ink, sentence, is_hazard)
        for part in wrap_text(sentence, WORD_COLUMNS, most=8)
    ]


# -- a version counter -------------------------------------------------------------


class CounterBox(NamedTuple):
    """A version counter, or words in place of one, with the rows of the tensors that share it."""

    id: str | None
    """None for an inference tensor, which has no counter."""
    version: int | None
    version_before: int | None
    """Its version in the earlier snapshot, if it has changed."""
    rows: tuple[int, ...]

    @property
    def window_width(self) -> float:
        """The width of the version's window: it is in one, like the digits of a mileage counter."""
        return max(20.0, text_width(str(self.version), "mono b l") + 10)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """What the box says besides the version, each with its ink."""
        if self.id is None:
            words = [(part, "t s") for part in wrap_text(gettext("no counter"), 10, most=2)]
            return [*words, (gettext("inference"), "m s")]
        if self.version_before is None:
            return [(self.id, "count-t s b"), (gettext("version"), "count-t s")]
        before = gettext("was {value}", value=self.version_before)
        return [(self.id, "new-t s b"), (before, "new-t s")]

    @property
    def width(self) -> float:
        """The width of the box."""
        widest = 0.0
        for text, ink in self.lines:
            widest = max(widest, text_width(text, ink))
        # The window is beside the first line alone.
        if self.id is not None:
            widest = max(widest, text_width(self.id, "s b") + 3 + self.window_width)
        return widest + 8

    def draw(
        self, canvas: Canvas, x: float, box_width: float, rows: list[float], start: float
    ) -> None:
        """Draw the box, and lines to it from the middles of its rows."""
        top, bottom = rows[0], rows[-1]
        middle = (top + bottom) / 2
        for y in rows:
            canvas.line([(start, y), (x, y)], "count-l")
        # A bracket joins the rows that share the counter.
        if len(rows) > 1:
            canvas.line([(x, top), (x, bottom)], "count-l")
        canvas.line([(x, middle), (x + BRACKET, middle)], "count-l")
        left, right = x + BRACKET, x + BRACKET + box_width
        kind = "count" if self.version_before is None else "new"
        box, step = kind, 17
        if self.id is None:
            # Up to three lines, in place of two.
            box, step = "card dash", 12
        canvas.rect(left, middle - COUNTER_HEIGHT / 2, box_width, COUNTER_HEIGHT, box, 5)
        for place, (text, ink) in enumerate(self.lines):
            offset = step * (place - (len(self.lines) - 1) / 2)
            canvas.text(left + 4, middle + 5 + offset, text, ink)
        if self.id is not None:
            window = self.window_width
            canvas.rect(right - window - 3, middle - 16, window, 20, "card", 3)
            ink = f"{kind}-t mono b l c"
            canvas.text(right - window / 2 - 3, middle - 1, str(self.version), ink)


# -- a storage ---------------------------------------------------------------------


@dataclass(frozen=True)
class BandDrawing:
    """A storage and its tensors, in words and numbers: two that are equal look the same."""

    id: str
    """The storage's id, in its upper left corner."""
    title: str
    """Whose storage it is."""
    note: str
    """What is unusual in it, in one line below the title; may be empty."""
    strip: Strip
    """Its cells."""
    rows: tuple[Row, ...]
    """Its tensors."""
    counters: tuple[CounterBox, ...]
    """Their version counters."""

    def head_height(self, columns: Columns) -> float:
        """Return the height of what is above its rows: title, note and cells."""
        titles, notes = self._wrap_head(columns)
        return TITLE_ROW * len(titles) + LINE * len(notes) + 14 + self.strip.height

    def draw(self, canvas: Canvas, columns: Columns, y: float, row_places: Sequence[float]) -> None:
        """Draw the band with its upper edge at y, and its rows so far below that."""
        badge = text_width(self.id, "mono b") + 14
        text_x = PAD + badge + 16
        titles, notes = self._wrap_head(columns)
        bottoms = [start + row.height for start, row in zip(row_places, self.rows, strict=True)]
        canvas.rect(PAD, y, columns.right, max(bottoms) + 4, "band", 8)
        canvas.rect(PAD + 8, y + 8, badge, 18, "cell", 4)
        canvas.text(PAD + 8 + badge / 2, y + 21, self.id, "t mono b c")
        for place, line in enumerate(titles):
            # What was cut can be read by pointing at it.
            canvas.text(text_x, y + 21 + place * TITLE_ROW, line, "t b l", whole=self.title)
        notes_y = y + TITLE_ROW * len(titles) + 14
        for place, line in enumerate(notes):
            canvas.text(text_x, notes_y + 10 + place * LINE, line, "m s", whole=self.note)
        self.strip.draw(canvas, columns.strip_x, notes_y + LINE * len(notes))
        self._draw_rows(canvas, columns, [y + start + TOP for start in row_places])

    def _draw_rows(self, canvas: Canvas, columns: Columns, middles: list[float]) -> None:
        for row, middle in zip(self.rows, middles, strict=True):
            arrow_end = columns.strip_x
            if row.lane:
                arrow_end += self.strip.start_of(row.lane)
            row.draw(canvas, columns, middle, arrow_end)
            if row.lane:
                lane_y = middle - LANE / 2 - 4
                self.strip.draw_lane(canvas, columns.strip_x, lane_y, row.lane, row.id)
        start = columns.strip_x + max(self.strip.width, 82) + 4
        box_width = columns.right - columns.counter_x - BRACKET
        for counter in self.counters:
            rows = [middles[place] for place in counter.rows]
            counter.draw(canvas, columns.counter_x, box_width, rows, start)

    def _wrap_head(self, columns: Columns) -> tuple[list[str], list[str]]:
        """Return the lines of the title, and those of the note below it."""
        room = columns.right - text_width(self.id, "mono b") - 36
        titles = wrap_text(self.title, columns_that_fit(room, "b l"), most=TITLE_ROWS)
        notes = wrap_text(self.note, columns_that_fit(room, "s"), most=4) if self.note else []
        return titles, notes


def make_band(entry: StorageEntry) -> BandDrawing:
    """Make the band of a storage."""
    strip, lanes = make_strip(entry)
    remarks = [entry.size, *entry.remarks]
    if entry.more:
        remarks.append(entry.more)
    counters = [
        CounterBox(counter.id, counter.version, counter.version_before, counter.rows)
        for counter in entry.counters
    ]
    return BandDrawing(
        entry.storage.id,
        entry.title.caption,
        ", ".join(remark.caption for remark in remarks if remark.caption),
        strip,
        tuple(map(make_row, entry.tensors, lanes)),
        tuple(counters),
    )


def place_columns(
    bands: Sequence[BandDrawing], rows: Sequence[Row], pack_lines: Sequence[str]
) -> Columns:
    """Find the columns of a picture: names, strips with words below them, version counters."""
    names_width, strip_width = float(NAMES_WIDTH), float(STRIP_WIDTH)
    words_width = box_width = pack_width = 0.0
    for row in rows:
        for pill in row.pills:
            names_width = max(names_width, pill.width)
        # Below its first line, words may run on under a counter, unless the next row shares that.
        strip_width = max(strip_width, row.words_width(1))
        words_width = max(words_width, row.words_width())
    for band in bands:
        strip_width = max(strip_width, band.strip.width)
        for counter in band.counters:
            box_width = max(box_width, counter.width)
            for place in counter.rows[:-1]:
                strip_width = max(strip_width, band.rows[place].words_width())
    # A pack may list many names: it makes a picture wider, but not without end.
    for line in pack_lines:
        pack_width = min(max(pack_width, text_width(line, "s b") + 50), PACK_WIDTH)
    strip_x = PAD + 8 + names_width + ARROW
    counter_width = BRACKET + box_width
    right = max(strip_x + strip_width + 6 + counter_width, strip_x + words_width, pack_width)
    return Columns(strip_x, right - counter_width, right)
