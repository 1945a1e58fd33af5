"""The parts of a memory picture: rows of tensors, bands of storages, marks of version counters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from ..show import FACT_KINDS, CounterEntry, Remark, RemarkKind, StorageEntry, TensorEntry
from ..wording import (
    columns_that_fit,
    cut_middle,
    escape_name,
    format_value,
    gettext,
    join_phrases,
    measure_excess,
    text_width,
    wrap_text,
)
from .strip import LANE_HEIGHT, Strip, ViewLane, make_lane, make_strip
from .style import Canvas, format_point, hue_of

PADDING, BAND_MARGIN, ARROW_WIDTH = 12, 4, 24
"""Around what is drawn; around the ground of a band; from a name to its cells, in px."""
LEAST_ROW_HEIGHT, LINE_HEIGHT, PILL_HEIGHT, PILL_STEP = 32, 15, 22, 28
"""The least height of a row; the heights of a line of words and of a name, and from one name of a
tensor to the next, 4 px below it with the edges of both."""
LANE_MIDDLE = 14
"""From the upper edge of a row to its lane, where it has one."""
BAND_PADDING = 8
"""What the ground of a band has above its first row and below its last one, in px."""
MOST_NAME_COLUMNS = 24
"""A longer name is cut in its middle."""
MOST_ALIKE_NAME_WIDTH, MOST_ALIKE_CELLS_WIDTH = 74, 150
"""Up to these widths names are made equally wide, and lines of as many cells; and words begin at one x."""
LEAST_ARROW_WIDTH, ROOMY_ARROW_WIDTH = 12, 24
"""Of an arrow behind the word "new", in px; in the wider one its bow is seen to come from there."""
FLAG_GAP = 4
"""Between a name and the word "new", and between that and its arrow, in px."""
GAP, BESIDE_CELLS, BEFORE_COUNTER = 12, 8, 10
"""Between the words of two rows, between cells and words, and between words and versions: "grad_fn SumBackward0" is
wider than its letters are counted."""
COUNTER_OVERHANG = 6
"""How far "was 0" may begin left of the version above it, in px: into the room before counters, and not over a bracket."""
BRACKET_WIDTH = 10
"""The room of the bracket of a counter that several tensors share, with the gap behind it."""
LEAST_WORDS_WIDTH, LEAST_WORDS_WIDTH_BELOW_LANE = 84, 226
"""The least width of words beside cells, and of words below a lane."""
PICTURE_WIDTHS = (371, 404, 442, 480)
"""Widths of pictures, from that of a page on a telephone to half of one on a desk: made smaller by a
twelfth, the first is 340 px wide and the second 370."""
MOST_WIDTH_WITH_WORDS_BESIDE = 506
"""Where words beside the cells make a picture wider than half of a page on a desk, they are below
lanes: made smaller by a twelfth, this is 464 px wide, of 932. Not where they only make it wider than a telephone: arrows that meet in the cells show at a
glance what is shared, lanes have to be read."""
PHONE_WIDTH = 404
"""Where hazards beside the cells make a picture wider than a telephone, they are below the rows: they
are the longest captions, and have the longest words, the names of nodes."""
MOST_ALIKE_LINES = 2
"""Words that have more lines where those of all rows begin may begin further left, at their own cells."""
MOST_HAZARD_LINES = 2
"""Hazards that have more lines beside the cells are below the rows, too: their red ground would be
higher than what they are about."""
MOST_TIMES_HIGHER, MOST_TIMES_HIGHER_ON_PHONE = 1.1, 1.25
"""A picture takes the first of these in which it is hardly higher than in any other, but one for a
telephone if it may be a little higher there: to be cut is worse."""
MOST_WORD_WIDTH = 240
"""The width of a word that is not cut: of the name of a node, as a rule."""
COLUMN_WIDTH = 8
"""At least the width of a letter of words."""
MOST_LINES = 8
"""A caption has no more lines."""
_OPERATORS, _GLUE = tuple("+-*/%@=<>&|^"), "\0"
"""A line ends with none of the first; the other stands for a space at which a line is not broken."""
_OPENING, _CLOSING = "([{\uff08\u3010", ")]}\uff09\u3011"
"""In brackets commas are between numbers or arguments, and not between phrases."""
_WIDE_COMMAS = "\uff0c\uff1b\uff1a\u3001"
"""Comma, semicolon, colon and the comma of lists as Chinese writes them: no space is behind them."""
CROSS_WIDTH, HAZARD_GROUND, HAZARD_EDGE = 14, 6, 6
"""The room for the cross before a hazard, and what its ground adds to its height and right of its words:
bold ones of some fonts are wider than they are counted."""
MUTED_EDGE = 3
"""The same right of all other words, whose letters are counted where they are wide: "grad_fn SumBackward0" nearly touched
the version behind it."""
CHANGE_EDGE = 14
"""The room right of what changed, which is bold, too: with the "was 0" of a version beside it, "now
AddBackward0" was read as one sentence."""
# "new-t" and "bad-t" are the inks of text in the hues of what is new and what is wrong, "b" is bold:
# classes of the `stylesheet` in style.py.
_INKS: dict[RemarkKind, str] = {
    "changed": "new-t b",
    "changed cells": "new-t b",
    "hazard": "bad-t b",
}
"""The ink of each kind of remark that is marked; all others have "m", which is muted."""


class Columns(NamedTuple):
    """The columns of a picture, by their x in px."""

    names_width: float
    """How wide names are that are alike."""
    strip_x: float
    """Where cells begin; names are to the left."""
    alike_width: float
    """Words begin right of so much room for cells; of wider ones, right of these."""
    counter_x: float
    """Where marks of version counters begin."""
    right: float
    """The right edge of the picture, without its padding."""
    bracket_width: float = 0
    """The room of the brackets of counters that several tensors share; 0 without any."""


class Caption(NamedTuple):
    """A caption as it is drawn, in an ink: that of a remark, or those of several facts joined."""

    text: str
    """What is said, in the chosen language."""
    ink: str
    """Classes of the stylesheet: colour, font, weight."""
    is_hazard: bool = False
    """True if a cross is drawn before it."""

    @property
    def is_muted(self) -> bool:
        """True if it is neither a hazard nor a change, and is drawn in the muted ink."""
        return self.ink == "m"

    @property
    def extra_width(self) -> float:
        """The room that it takes besides that of its words, in px."""
        if self.is_hazard:
            return CROSS_WIDTH + HAZARD_EDGE
        return max(0, MUTED_EDGE + measure_excess(self.text)) if self.is_muted else CHANGE_EDGE


class CaptionLine(NamedTuple):
    """A line of words, as it is drawn."""

    text: str
    """The part of the caption that fits."""
    caption: Caption
    """The caption that it is a part of: a tooltip, where the line is cut."""
    is_first: bool
    """True for the first line of its caption."""

    @property
    def width(self) -> float:
        """The width in px, at most: fonts differ."""
        return text_width(self.text, self.caption.ink) + CROSS_WIDTH * self.caption.is_hazard


@lru_cache(maxsize=4096)
def break_captions(captions: tuple[Caption, ...], width: float) -> tuple[CaptionLine, ...]:
    """Break captions into lines of a width in px.

    Cached: the rows of 24 steps are mostly the same.
    """
    lines: list[CaptionLine] = []
    for caption in captions:
        room = width - caption.extra_width
        parts = _wrap_evenly(caption.text, columns_that_fit(room, caption.ink))
        lines += [CaptionLine(part, caption, index == 0) for index, part in enumerate(parts)]
    return tuple(lines)


def _wrap_evenly(text: str, columns: int) -> list[str]:
    """Break a text into lines of up to so many columns of letters, and of no more than that number of lines needs.

    Otherwise a word would often be alone in the last line. Between phrases, where that takes no more
    than one line more: "reads cells 0 2 | 1" and "3, grad_fn ..." would be read wrong. Or else
    between terms, where that takes no more lines: "from (x **" and "2).sum()" would be.
    """
    plain = _narrow_evenly(wrap_text, text, columns)
    if len(plain) == 1:
        return plain
    for wrap, most in ((_wrap_phrases, min(len(plain) + 1, MOST_LINES)), (_wrap_terms, len(plain))):
        lines = _narrow_evenly(wrap, text, columns)
        if lines != plain and len(lines) <= most and not _is_cut(lines, text):
            return lines
    return plain


class _WrapFunction(Protocol):
    def __call__(self, text: str, columns: int, *, most: int) -> list[str]: ...


def _narrow_evenly(wrap: _WrapFunction, text: str, columns: int) -> list[str]:
    lines = wrap(text, columns, most=MOST_LINES)
    while len(lines) > 1:
        columns -= 1
        narrower = wrap(text, columns, most=MOST_LINES)
        # In lines that are too narrow for a word, or too many, something is cut.
        if len(narrower) > len(lines) or _is_cut(narrower, text):
            break
        lines = narrower
    return lines


def _is_cut(lines: Sequence[str], text: str) -> bool:
    return "".join(lines).count("…") > text.count("…")


def _wrap_phrases(text: str, columns: int, *, most: int) -> list[str]:
    """Break a text into lines between phrases, and within those alone that are longer than a line."""
    lines: list[str] = []
    last = ""
    for phrase in _split_phrases(text):
        joined = wrap_text(last + phrase, columns, most=most)
        if last and len(joined) == 1 and not _is_cut(joined, last + phrase):
            lines[-1] = joined[0].rstrip()
            last += phrase
            continue
        # A line does not begin with the space that it was broken at.
        last = phrase.strip()
        lines += [line for line in wrap_text(last, columns, most=most) if line]
        # What was broken within does not go on: the next phrase has a line of its own.
        if not lines or lines[-1] != last:
            last = ""
    return lines


def _wrap_terms(text: str, columns: int, *, most: int) -> list[str]:
    """Break a text into lines at spaces outside of all brackets that are not behind an operator."""
    glued, depth = "", 0
    for char in text:
        depth += (char in _OPENING) - (char in _CLOSING)
        is_within = depth > 0 or glued.endswith(_OPERATORS)
        glued += _GLUE if char == " " and is_within else char
    return [line.replace(_GLUE, " ") for line in wrap_text(glued, columns, most=most)]


def _split_phrases(text: str) -> list[str]:
    """Return a text in parts that end behind a comma, semicolon or colon outside of all brackets."""
    parts, begin, depth = [], 0, 0
    for end, char in enumerate(text, 1):
        depth += (char in _OPENING) - (char in _CLOSING)
        following = text[end : end + 1]
        if depth <= 0 and (char in _WIDE_COMMAS or (char in ",;:" and following == " ")):
            parts.append(text[begin:end])
            begin = end
    return [*parts, text[begin:]]


def measure_caption_lines(lines: Sequence[CaptionLine]) -> float:
    """Return the height of lines of words, with the ground around what is in trouble."""
    hazards = sum(line.is_first and line.caption.is_hazard for line in lines)
    return len(lines) * LINE_HEIGHT + HAZARD_GROUND * hazards


def draw_caption_lines(canvas: Canvas, lines: Sequence[CaptionLine], x: float, y: float) -> None:
    """Draw lines of words below y; what is in trouble is on a red ground."""
    for index, line in enumerate(lines):
        caption = line.caption
        if caption.is_hazard and line.is_first:
            # One ground below all lines of the caption.
            lines_of_caption = [other for other in lines[index:] if other.caption == caption]
            width = max(other.width for other in lines_of_caption) + 6 + HAZARD_EDGE
            height = len(lines_of_caption) * LINE_HEIGHT + 3
            canvas.rect(x - 4, y, width, height, "bad", 4)
            canvas.sign("cross", x + 4, y + 9)
            # Of HAZARD_GROUND, 2 px are above the words, and the rest is below the last line.
            y += 2
        whole = caption.text if line.text.endswith("…") else ""
        canvas.text(
            x + CROSS_WIDTH * caption.is_hazard, y + 12, line.text, caption.ink, whole=whole
        )
        y += LINE_HEIGHT
        is_last = index + 1 == len(lines) or lines[index + 1].caption != caption
        if caption.is_hazard and is_last:
            y += HAZARD_GROUND - 2


class Pill(NamedTuple):
    """A name of a tensor, with "new" or "found" beside it."""

    name: str
    flag: str
    """As `NameEntry.flag` has it."""

    @property
    def text(self) -> str:
        """The name as it is drawn: the end of a dotted one tells more than its middle."""
        return cut_middle(self.name, MOST_NAME_COLUMNS)

    @property
    def width(self) -> float:
        """The width in px."""
        return max(34.0, text_width(self.text, "mono b") + 16)

    def arrow_width(self, width_behind_flag: float) -> float:
        """Return the room for its arrow, and for the flag before it.

        width_behind_flag: the width of an arrow that begins behind a flag.
        """
        return max(ARROW_WIDTH, self.flag_width + width_behind_flag)

    @property
    def flag_width(self) -> float:
        """The room for the flag, with a gap on both sides: bold letters of some fonts are wider than they are counted."""
        return text_width(gettext(self.flag), "b") + 2 * FLAG_GAP + 2 if self.flag else 0


# -- a row ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One tensor: its names, what it is, and where it has one its lane; or a NumPy array."""

    id: str
    """The id of the tensor, or the name of the array: by it a row is known from step to step."""
    tensor_id: str
    """The id of the tensor; empty for an array."""
    owner: str
    """The id of the tensor in whose hue it is: a gradient is in that of its leaf."""
    pills: tuple[Pill, ...]
    """Its names."""
    has_names: bool
    """False if its pill is a label that the picture made up: it is dashed."""
    captions: tuple[Caption, ...]
    """What it is."""
    lane: ViewLane | None
    """Which cells it reads, where that is marked."""

    def height(self, width: float, *, has_neighbours: bool = False) -> float:
        """Return the height, with words of a width in px.

        has_neighbours: above or below it are other rows of the same storage.
        """
        pills = len(self.pills) * PILL_STEP + LEAST_ROW_HEIGHT - PILL_STEP
        lines = measure_caption_lines(break_captions(self.captions, width))
        if self.lane is None:
            # A gap where they have several lines: two captions would be read as one.
            return max(pills, lines + (GAP if has_neighbours and lines > LINE_HEIGHT else 4))
        return max(pills, LANE_MIDDLE + LANE_HEIGHT / 2 + (lines + 6 if lines else 4))

    def find_indent(self, width: float, start: float) -> float:
        """Return how far right its words begin: below its lane, which begins at `start`, as far as there is room.

        At the first cell of the storage "begins at cell 3" was below cell 0.
        """
        if self.lane is None:
            return 0
        widest = max((line.width for line in break_captions(self.captions, width)), default=0)
        # Widths are those of wide letters: of a sentence a sixth is left.
        return max(0.0, min(start, width - widest * 5 / 6))

    def draw_captions(self, canvas: Canvas, x: float, width: float, middle: float) -> None:
        """Draw what there is to say of it: beside its name, or below its lane."""
        lines = break_captions(self.captions, width)
        top = middle - measure_caption_lines(lines) / 2
        if self.lane is not None:
            top = middle + LANE_HEIGHT / 2 + 3
        draw_caption_lines(canvas, lines, x, top)

    def draw_names(
        self, canvas: Canvas, columns: Columns, middle: float, end: tuple[float, float] | None
    ) -> None:
        """Draw the names of the tensor, and an arrow to `end`; none where there is no memory.

        Several names are one block with one arrow: two tensors over the same cells have an arrow each.
        """
        # Not by its own flags: a name would move in the step in which it is new no more.
        right = PADDING + columns.names_width
        top = middle
        if self.lane is None:
            top -= (len(self.pills) - 1) * PILL_STEP / 2
        widest = max(pill.width for pill in self.pills)
        width = max(widest, min(columns.names_width, MOST_ALIKE_NAME_WIDTH))
        if len(self.pills) > 1:
            # Seen between the names, where it fills the gap.
            height = (len(self.pills) - 1) * PILL_STEP + PILL_HEIGHT
            block = (right - width, top - PILL_HEIGHT / 2, width, height)
            canvas.rect(*block, "name", 11, self.tensor_id, self.owner)
        for index, pill in enumerate(self.pills):
            self._draw_pill(canvas, pill, right, top + index * PILL_STEP, width)
        if end is not None:
            flag_width = max(pill.flag_width for pill in self.pills)
            _draw_arrow(canvas, (right + flag_width, middle), end)
            canvas.path(f"M{format_point(end)}l-8 -4v8z", "tip")

    def _draw_pill(self, canvas: Canvas, pill: Pill, right: float, y: float, width: float) -> None:
        classes = "name"
        if pill.flag:
            classes += " fresh"
        # Dashed if it is not a name, but a label that this picture made up.
        if not self.has_names:
            classes += " dash"
        left = right - width
        canvas.rect(
            left, y - PILL_HEIGHT / 2, width, PILL_HEIGHT, classes, 11, self.tensor_id, self.owner
        )
        canvas.text(left + width / 2, y + 4, pill.text, "t mono b c", whole=pill.name)
        if pill.flag:
            canvas.text(right + FLAG_GAP, y + 4, gettext(pill.flag), "new-t b")


def _draw_arrow(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a line from a name to the tip of its arrow; from above or below, in a bow."""
    (x, y), (tip_x, tip_y) = start, end
    stop = tip_x - 5
    if abs(y - tip_y) < 1:
        canvas.line([start, (stop, y)], "arrow")
        return
    bend = (stop - x) / 2
    controls = f"{format_point((x + bend, y))} {format_point((stop - bend, tip_y))}"
    canvas.path(f"M{format_point(start)}C{controls} {format_point((stop, tip_y))}", "arrow")


def make_row(
    entry: TensorEntry,
    lane: ViewLane | None = None,
    storage_captions: Sequence[Caption] = (),
) -> Row:
    """Make the row of a tensor; `storage_captions` are what its storage says in it."""
    tensor = entry.tensor
    marked: list[Caption] = []
    muted: list[Caption] = []
    for caption in storage_captions:
        if caption.is_muted:
            muted.append(caption)
        else:
            marked.append(caption)
    # What its cells were, then its own captions, then what is unusual in the storage.
    captions = [*marked, *_make_captions(entry), *muted]
    # Hazards and changes first: these a reader must not miss. Sorting leaves the order above as it
    # is within each of the three.
    captions.sort(key=lambda caption: (not caption.is_hazard, caption.is_muted))
    return Row(
        tensor.id,
        tensor.id,
        owner=tensor.id if tensor.names else tensor.grad_of or tensor.id,
        pills=tuple(Pill(name.name, name.flag) for name in entry.names),
        # `x.grad` is what a program calls it, too.
        has_names=bool(tensor.names or tensor.grad_of),
        captions=tuple(captions),
        lane=lane,
    )


def _make_captions(entry: TensorEntry) -> list[Caption]:
    """Make the captions of a row: its facts in one, then one for each other remark."""
    captions: list[Caption] = []
    facts: list[str] = []
    position_of_facts = 0
    for remark in entry.remarks:
        # Without a caption, a remark is for the text alone.
        if not remark.caption:
            continue
        if remark.kind not in FACT_KINDS:
            captions.append(make_caption(remark))
            continue
        if not facts:
            position_of_facts = len(captions)
        facts.append(remark.caption)
    if facts:
        captions.insert(position_of_facts, Caption(join_phrases(facts), "m"))
    return captions


def make_caption(remark: Remark) -> Caption:
    """Make what is drawn of a remark, in the ink of its kind."""
    return Caption(remark.caption, _INKS.get(remark.kind, "m"), remark.kind == "hazard")


# -- a version counter -------------------------------------------------------------


class CounterMark(NamedTuple):
    """A version counter, or words in place of one, with the rows of the tensors that share it."""

    id: str | None
    """None for an inference tensor, which has no counter."""
    lines: tuple[tuple[str, str], ...]
    """What is written, each line with its ink: "v1", and "was 0" if it has changed."""
    sentence: str
    """What it means: a tooltip."""
    rows: tuple[int, ...]
    """Positions of its tensors among the rows of the storage."""

    @property
    def width(self) -> float:
        """The width that what is written takes of the column of counters, in px."""
        overhang = 0 if len(self.rows) > 1 else COUNTER_OVERHANG
        first, *others = [text_width(text, ink) for text, ink in self.lines]
        return max([first, *(width - overhang for width in others)])

    def draw(self, canvas: Canvas, columns: Columns, middles: Sequence[float]) -> None:
        """Draw it between the rows that share it, as near to the cells as it may be."""
        x = columns.counter_x
        top, bottom = middles[0], middles[-1]
        middle = (top + bottom) / 2
        # A bracket joins the rows that share it.
        if len(middles) > 1:
            canvas.line(
                [(x, top - 6), (x + 4, top - 6), (x + 4, bottom + 6), (x, bottom + 6)], "count-l"
            )
        upper = middle - LINE_HEIGHT * len(self.lines) / 2
        for index, (text, ink) in enumerate(self.lines):
            line_x = min(x + columns.bracket_width, columns.right - text_width(text, ink))
            y = upper + LINE_HEIGHT * index + 12
            canvas.text(line_x, y, text, ink, whole=self.sentence if index == 0 else "")


def make_counter_mark(entry: CounterEntry) -> CounterMark:
    """Make the mark of a version counter."""
    lines = [(f"v{entry.version}", "count-t b")]
    if entry.id is None:
        lines = [(part, "m") for part in wrap_text(gettext("no counter"), 10, most=2)]
    elif entry.version_before is not None:
        lines.append((gettext("was {value}", value=entry.version_before), "new-t"))
    return CounterMark(entry.id, tuple(lines), entry.sentence, entry.rows)


# -- a storage ---------------------------------------------------------------------


class BandStepLayout(NamedTuple):
    """The layout of a band in the picture of one step, from its upper edge: see `BandStage`."""

    height: float
    """Its height."""
    cells_middle: float
    """The middle of its cells, where arrows end."""
    row_middles: tuple[float, ...]
    """The middles of the names of its rows."""
    foot: float
    """Where what is below the rows begins."""


@dataclass(frozen=True)
class BandDrawing:
    """A storage and its tensors, in words and numbers: two that are equal look the same."""

    id: str
    """The storage's id: by it a band is known from step to step."""
    strip: Strip
    """Its cells."""
    captions: tuple[Caption, ...]
    """What is unusual in it, below its cells: only where its rows have lanes."""
    rows: tuple[Row, ...]
    """Its tensors, and the NumPy arrays over it."""
    counters: tuple[CounterMark, ...]
    """Their version counters."""
    has_lanes: bool
    """True if the cells are above the rows, each of which marks what it reads of them."""
    has_ground: bool
    """True if it is on a ground of its own: what shares a storage."""
    has_box: bool = False
    """True if it is in a box that is seen less: the storage of one tensor."""
    hazards: tuple[Caption, ...] = ()
    """Those of its rows, below all of these: only where they have too little room beside cells."""
    has_words_at_cells: bool = False
    """True if its words begin at its own cells, and not where those of all begin: see `begin_long_words_at_cells`."""

    @property
    def row_ids(self) -> list[str]:
        """The ids of its rows."""
        return [row.id for row in self.rows]

    @property
    def hazards_beside(self) -> list[Caption]:
        """The hazards that are in its rows."""
        captions = itertools.chain.from_iterable(row.captions for row in self.rows)
        return [caption for caption in captions if caption.is_hazard]

    def captions_x(self, columns: Columns) -> float:
        """Return where words begin: beside the cells, or below the lanes."""
        if self.has_lanes:
            return columns.strip_x
        alike_width = 0 if self.has_words_at_cells else columns.alike_width
        return columns.strip_x + max(self.strip.width, alike_width) + BESIDE_CELLS

    def captions_width(self, columns: Columns) -> float:
        """Return the room for words."""
        return columns.counter_x - BEFORE_COUNTER - self.captions_x(columns)

    def head_height(self, columns: Columns) -> float:
        """Return the height of what is above the rows: with lanes, cells and words of the storage."""
        if not self.has_lanes:
            return 0
        lines = break_captions(self.captions, self.captions_width(columns))
        return self.strip.height + measure_caption_lines(lines) + 2

    def foot_height(self, columns: Columns) -> float:
        """Return the height of what is below the rows: hazards that have no room beside cells."""
        return measure_caption_lines(break_captions(self.hazards, columns.right - PADDING))

    def draw(self, canvas: Canvas, columns: Columns, y: float, layout: BandStepLayout) -> None:
        """Draw the band with its upper edge at y."""
        if self.has_ground:
            width = columns.right + PADDING - 2 * BAND_MARGIN
            canvas.rect(BAND_MARGIN, y + 2, width, layout.height - 4, "band", 8)
        elif self.has_box:
            # Without it a learner asked whether this tensor had no storage. Rows are as low as before, so it is close.
            width = columns.right + PADDING - 2 * BAND_MARGIN
            canvas.rect(BAND_MARGIN, y + 1.5, width, layout.height - 3, "box", 8)
        middles = [y + middle for middle in layout.row_middles]
        strip_y = y + layout.cells_middle - self.strip.middle
        cell_classes = "cell"
        # A storage of one tensor has its hue.
        if len(self.rows) == 1 and not self.has_lanes:
            cell_classes = f"cell {hue_of(self.rows[0].owner)}-l"
        x = columns.strip_x
        for row, middle in zip(self.rows, middles, strict=True):
            end = (x - 1, y + layout.cells_middle)
            if self.has_lanes:
                end = (x + self._start_of_lane(row), middle)
            row.draw_names(canvas, columns, middle, end)
        self.strip.draw(canvas, x, strip_y, cell_classes)
        width = self.captions_width(columns)
        for row, middle in zip(self.rows, middles, strict=True):
            if row.lane is not None:
                self.strip.draw_lane(canvas, x, middle, row.lane, row.tensor_id)
            indent = row.find_indent(width, self._start_of_lane(row))
            row.draw_captions(canvas, self.captions_x(columns) + indent, width, middle)
        if self.has_lanes:
            draw_caption_lines(
                canvas, break_captions(self.captions, width), x, strip_y + self.strip.height
            )
        hazards = break_captions(self.hazards, columns.right - PADDING)
        # A box has no padding: their ground would reach its edge.
        draw_caption_lines(canvas, hazards, PADDING, y + layout.foot - 2 * self.has_box)
        for counter in self.counters:
            middles_of_counter = [middles[index] for index in counter.rows]
            counter.draw(canvas, columns, middles_of_counter)

    def _start_of_lane(self, row: Row) -> float:
        """Return how far right of the left edge of the cells the first is that a row reads."""
        if row.lane is None or not row.lane.spans:
            return -1
        return self.strip.find_x(row.lane.spans[0].start)


def make_band(entry: StorageEntry) -> BandDrawing:
    """Make the band of a storage."""
    strip = make_strip(entry)
    has_lanes = entry.arrangement.has_lanes
    captions = _make_storage_captions(entry)
    rows = []
    for index, tensor_entry in enumerate(entry.tensors):
        lane = make_lane(entry.storage, tensor_entry.tensor) if has_lanes else None
        # Without lanes, what there is to say of the storage is beside its cells.
        storage_captions = captions if index == 0 and not has_lanes else ()
        rows.append(make_row(tensor_entry, lane, storage_captions))
    rows += map(_make_array_row, entry.storage.arrays)
    return BandDrawing(
        entry.storage.id,
        strip,
        tuple(captions) if has_lanes else (),
        tuple(rows),
        tuple(map(make_counter_mark, entry.counters)),
        has_lanes,
        entry.has_ground,
        has_box=entry.has_box,
    )


def move_hazards_below(band: BandDrawing) -> BandDrawing:
    """Move the hazards of the rows of a band below them; of several rows, each says of which it is."""
    hazards: list[Caption] = []
    rows: list[Row] = []
    for row in band.rows:
        for caption in row.captions:
            if caption.is_hazard and len(band.rows) > 1:
                text = join_phrases([row.pills[0].text, caption.text])
                hazards.append(caption._replace(text=text))
            elif caption.is_hazard:
                hazards.append(caption)
        others = tuple(caption for caption in row.captions if not caption.is_hazard)
        rows.append(replace(row, captions=others))
    return replace(band, rows=tuple(rows), hazards=tuple(hazards))


def _make_storage_captions(entry: StorageEntry) -> list[Caption]:
    """Make the captions on a storage: what changed, then what is unusual."""
    marked: list[Caption] = []
    facts: list[str] = []
    # What several cells were is below each of them.
    if entry.arrangement.has_cells and entry.storage.cells == 1 and entry.old_values:
        before = format_value(entry.old_values[0])
        marked.append(Caption(gettext("was {value}", value=before), "new-t b"))
    for remark in (*entry.remarks, *filter(None, [entry.more])):
        if remark.caption and remark.kind in _INKS:
            marked.append(make_caption(remark))
        elif remark.caption:
            facts.append(remark.caption)
    if facts:
        marked.append(Caption(join_phrases(facts), "m"))
    return marked


def _make_array_row(name: str) -> Row:
    """Make the row of a NumPy array over the memory: which cells it reads is not known."""
    pill = Pill(escape_name(name), "")
    caption = Caption(gettext("a NumPy array over the same memory"), "m")
    return Row(f"array {name}", "", "", (pill,), False, (caption,), None)


# -- columns -----------------------------------------------------------------------


class WidthRange(NamedTuple):
    """How wide words may be, or where what is right of them begins."""

    least: float
    """That in which no word is cut; captions are broken into lines."""
    unbroken: float
    """That in which each caption is one line."""


def lay_out_columns(bands: Sequence[BandDrawing], single_rows: Sequence[Row]) -> Columns:
    """Find the columns of pictures, as wide as they are in any.

    The rows of no band are those of tensors without memory.
    """
    # The wider arrow is easier to follow, as long as the picture still fits a telephone with it.
    roomy = _lay_out_columns(bands, single_rows, ROOMY_ARROW_WIDTH)
    if roomy.right + PADDING <= PHONE_WIDTH:
        return roomy
    return _lay_out_columns(bands, single_rows, LEAST_ARROW_WIDTH)


def _lay_out_columns(
    bands: Sequence[BandDrawing], single_rows: Sequence[Row], width_behind_flag: float
) -> Columns:
    rows = list(single_rows)
    counter_width = bracket_width = alike_width = 0.0
    for band in bands:
        rows += band.rows
        for mark in band.counters:
            bracket = BRACKET_WIDTH * (len(mark.rows) > 1)
            bracket_width = max(bracket_width, bracket)
            counter_width = max(counter_width, mark.width + bracket)
        if not band.has_lanes:
            alike_width = max(alike_width, min(band.strip.width, MOST_ALIKE_CELLS_WIDTH))
    names_width: float = 0
    arrow_width: float = ARROW_WIDTH
    for row in rows:
        for pill in row.pills:
            names_width = max(names_width, pill.width)
            arrow_width = max(arrow_width, pill.arrow_width(width_behind_flag))
    # Behind the widest name of any step: cells begin at one x, and stay there.
    strip_x = PADDING + names_width + arrow_width
    # Where counters begin is not known yet, only how wide they are.
    columns = Columns(names_width, strip_x, alike_width, 0, counter_width, bracket_width)
    counter_range = _find_counter_range(columns, bands, single_rows)
    candidates = []
    for picture_width in PICTURE_WIDTHS:
        counter_x = min(counter_range.unbroken, picture_width - PADDING - counter_width)
        counter_x = max(counter_x, counter_range.least)
        candidate = columns._replace(counter_x=counter_x, right=counter_x + counter_width)
        candidates.append(candidate)
    return _choose_columns(candidates, bands, single_rows)


def _choose_columns(
    candidates: Sequence[Columns], bands: Sequence[BandDrawing], single_rows: Sequence[Row]
) -> Columns:
    """Choose from the columns for each of `PICTURE_WIDTHS` the narrowest that make no picture much higher."""
    drawn = [begin_long_words_at_cells(bands, candidate) for candidate in candidates]
    heights = [
        _measure_height(candidate, with_words, single_rows)
        for candidate, with_words in zip(candidates, drawn, strict=True)
    ]
    phone_count = sum(room <= PHONE_WIDTH for room in PICTURE_WIDTHS)
    lowest, lowest_on_phone = min(heights), min(heights[:phone_count])
    if lowest_on_phone <= MOST_TIMES_HIGHER_ON_PHONE * lowest:
        lowest = lowest_on_phone
    fitting = []
    for index, (candidate, height) in enumerate(zip(candidates, heights, strict=True)):
        if height <= MOST_TIMES_HIGHER * lowest:
            fitting.append((index, candidate))
    for_phones = [candidate for index, candidate in fitting if index < phone_count]
    if not for_phones:
        return fitting[0][1]
    # All widths of telephones are alike: there, the one in which fewest captions are broken.
    counts = {
        candidate: _count_lines(candidate, with_words, single_rows)
        for candidate, with_words in zip(candidates, drawn, strict=True)
    }
    return min(for_phones, key=counts.__getitem__)


def find_least_width(band: BandDrawing, columns: Columns) -> float:
    """Return the least width of pictures in which no word of a band is cut; columns: of all bands."""
    # The words of others may begin further to the right than those of this one have to.
    counter_range = _find_counter_range(columns._replace(alike_width=0), [band], [])
    return counter_range.least + columns.right - columns.counter_x + PADDING


def is_narrow_for_hazards(band: BandDrawing, columns: Columns) -> bool:
    """Return True if hazards beside cells are too wide for a telephone, or broken into many lines."""
    width = band.captions_width(columns)
    lines = [len(break_captions((caption,), width)) for caption in band.hazards_beside]
    return (
        find_least_width(band, columns) > PHONE_WIDTH or max(lines, default=0) > MOST_HAZARD_LINES
    )


def begin_long_words_at_cells(bands: Iterable[BandDrawing], columns: Columns) -> list[BandDrawing]:
    """Let the words of a storage begin at its cells, in all its drawings, where they have many lines otherwise."""
    bands = list(bands)
    ids = {band.id for band in bands if not band.has_lanes and _has_long_words(band, columns)}
    return [replace(band, has_words_at_cells=band.id in ids) for band in bands]


def _has_long_words(band: BandDrawing, columns: Columns) -> bool:
    """Return True if words have many lines where those of all begin, and fewer at the cells."""
    count = _count_lines(columns, [band], [])
    if count <= MOST_ALIKE_LINES * len(band.rows):
        return False
    return _count_lines(columns, [replace(band, has_words_at_cells=True)], []) < count


def _find_counter_range(
    columns: Columns, bands: Sequence[BandDrawing], single_rows: Sequence[Row]
) -> WidthRange:
    """Return where counters may begin."""
    least = unbroken = columns.strip_x
    counter_width = columns.right - columns.counter_x
    words_end = MOST_WIDTH_WITH_WORDS_BESIDE - PADDING - counter_width - BEFORE_COUNTER
    for band in bands:
        words_x = band.captions_x(columns)
        captions = list(band.captions)
        for row in band.rows:
            captions += row.captions
        least_words_width: float = LEAST_WORDS_WIDTH
        if band.has_lanes:
            least_words_width = min(LEAST_WORDS_WIDTH_BELOW_LANE, words_end - words_x)
        words = _measure_captions(captions, least_words_width)
        least = max(least, columns.strip_x + band.strip.width, words_x + words.least)
        unbroken = max(unbroken, words_x + words.unbroken)
    for row in single_rows:
        words = _measure_captions(row.captions, LEAST_WORDS_WIDTH)
        least = max(least, columns.strip_x + words.least)
        unbroken = max(unbroken, columns.strip_x + words.unbroken)
    return WidthRange(least + BEFORE_COUNTER, unbroken + BEFORE_COUNTER)


def _measure_captions(captions: Iterable[Caption], least_words_width: float) -> WidthRange:
    """Return how wide captions may be.

    least_words_width: the least width is no less, unless the longest caption is.
    """
    least = unbroken = 0.0
    for caption in captions:
        # More by a column: lines are counted in whole ones.
        extra = caption.extra_width + COLUMN_WIDTH
        unbroken = max(unbroken, text_width(caption.text, caption.ink) + extra)
        longest = max(text_width(word, caption.ink) for word in caption.text.split(" "))
        least = max(least, min(longest, MOST_WORD_WIDTH) + extra)
    return WidthRange(max(least, min(unbroken, least_words_width)), unbroken)


def _count_lines(columns: Columns, bands: Sequence[BandDrawing], single_rows: Sequence[Row]) -> int:
    """Return how many lines the captions beside cells have, and those of tensors without memory."""
    count = 0
    for row in single_rows:
        count += len(break_captions(row.captions, columns.counter_x - columns.strip_x))
    for band in bands:
        width = band.captions_width(columns)
        count += sum(len(break_captions(row.captions, width)) for row in band.rows)
    return count


def _measure_height(
    columns: Columns, bands: Sequence[BandDrawing], single_rows: Sequence[Row]
) -> float:
    heights = [row.height(columns.counter_x - columns.strip_x) for row in single_rows]
    for band in bands:
        width = band.captions_width(columns)
        height = sum(row.height(width) for row in band.rows)
        # Beside cells of several lines there is room for as many lines of words.
        if not band.has_lanes:
            height = max(height, band.strip.height)
        heights += [height, band.foot_height(columns)]
    return sum(heights)
