"""The memory picture: names, the tensors they stand for, the storages these look into.

A storage with one tensor is a row: name, arrow, cells, what it is, version. What shares a storage is
in one band on a ground of its own: the arrows of its names meet in the cells, or, where a tensor
reads only some of them or in another order, each name has marks below those that it reads. A
version counter is one mark, however many tensors share it. So no line crosses another, and a
picture fits into half of a page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from ..diagnose import Changes, compare_snapshots
from ..read import Snapshot, read_snapshot
from ..show import (
    ALL_PARTS,
    Arrangement,
    Level,
    MemoryContents,
    MemoryPart,
    PackEntry,
    StorageEntry,
    arrange_run,
    describe_memory,
    find_origins,
    select_parts,
    select_storages,
)
from ..wording import cache_in_language, columns_that_fit, gettext, join_facts, wrap_text
from .memory_rows import (
    BAND_MARGIN,
    BAND_PADDING,
    LANE_MIDDLE,
    LEAST_ROW_HEIGHT,
    LINE_HEIGHT,
    MOST_ALIKE_CELLS_WIDTH,
    MOST_WIDTH_WITH_WORDS_BESIDE,
    PADDING,
    BandDrawing,
    BandStepLayout,
    Caption,
    CaptionLine,
    Columns,
    Row,
    begin_long_words_at_cells,
    break_captions,
    draw_caption_lines,
    find_least_width,
    is_narrow_for_hazards,
    lay_out_columns,
    make_band,
    make_caption,
    make_row,
    measure_caption_lines,
    move_hazards_below,
)
from .picture import Folded, Picture
from .strip import Strip
from .style import Canvas
from .text import write_memory_text, write_pack_text

MARGIN_ABOVE = 4
"""Above the first row, in px: rows have room above and below themselves."""
ROOM_AROUND_CELLS = 4
"""Above the cells of a band and below them, in px."""
NOTE_WIDTH = 328
"""Notes at the foot, and lines for packs, are as wide as the rows, and no narrower than this."""


def memory(
    *tensors: Any,
    since: Snapshot | None = None,
    values: Any = True,
    find: str = "",
    fold: bool = True,
    level: Level = "graph",
    **named: Any,
) -> Picture:
    """Draw names, tensors, storages and version counters, and describe them in words.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> d = x.detach()
    >>> print(memory(x, d).text)
    Memory: 2 tensors in 1 storage.
    ...
    version counter C1, shared by x and d: at version 0.

    The arguments are those of `snapshot`, or a snapshot. With `since`, an earlier snapshot, what changed is marked.
    More than 30 tensors are folded, module by module; as far as there is room, what shares memory, has a hazard, is
    new or has `find` in its name is not. `fold=False` shows all of them. `level` is how much is said: "names" and values,
    what shares "storage", version "counter"s, what autograd makes of it ("graph"), each with all before it.
    Raises TypeError for an argument that is no tensor and holds none, ValueError for another level.
    """
    # The frame of the caller: names are read from the code of the call.
    snap = read_snapshot(tensors, named, sys._getframe(1), since, values)
    return memory_with_origins(compare_snapshots(snap, since), {}, find, fold, level=level)


def memory_with_origins(
    changes: Changes,
    origins: Mapping[str, str],
    find: str = "",
    fold: bool = True,
    *,
    level: Level = "graph",
) -> Picture:
    """Make the memory picture of one step.

    `origins` are the expressions that computed tensors, by their ids, as `find_origins` finds them for a run: the picture
    says of a tensor "from a ** 2", as those of all steps do, and not the node that it has in PyTorch.
    """
    return _MemoryRun([changes], find, fold, select_parts(level), [origins]).make_picture(0)


def memories_of(
    run: Iterable[Changes],
    find: str = "",
    fold: bool = True,
    *,
    level: Level = "graph",
    sources: Iterable[str] = (),
) -> Iterator[Picture]:
    """Make the memory pictures of the steps of a run, all of one size; what stays does not move.

    `sources` are the statements that ran, one for each step, if they are known: a picture says of
    a tensor which expression computed it.
    """
    steps = list(run)
    origins = find_origins(zip(steps, sources, strict=False))
    memory_run = _MemoryRun(steps, find, fold, select_parts(level), origins)
    for step in range(len(memory_run.run)):
        yield memory_run.make_picture(step)


class _MemoryRun:
    """The steps of a run, whose pictures are laid out together."""

    def __init__(
        self,
        run: Sequence[Changes],
        find: str,
        fold: bool,
        parts: frozenset[MemoryPart],
        origins: Sequence[Mapping[str, str]],
    ) -> None:
        self.find, self.fold = find, fold
        self.run = run
        # Selected at once, since that raises for wrong options; the rest is made when it is asked for.
        self.selections = [select_storages(changes, find, fold, parts) for changes in self.run]
        self.arrangements = arrange_run(self.selections)
        self.origins = origins or [{} for _ in self.run]
        # Text, title, folds and drawing of a step need the same contents, all drawings the same layout.
        # Kept by language: a picture that is shown again after `set_language` says it anew. What the
        # snapshot has in words, such as the notes on a tensor, stays in the language in which it was read.
        self._describe_step_once = cache_in_language()(self._describe_step)
        self._lay_out_steps_once = cache_in_language()(self._lay_out_steps)

    def make_picture(self, step: int) -> Picture:
        """Make the picture of a step, of which nothing is drawn or written yet."""
        # Methods, and no functions within this one: those have no pickle.
        return Picture(
            partial(self._draw_step, step),
            partial(self._write_text, step),
            partial(self._list_folds, step),
            make_title=partial(self._make_title, step),
            write_unmarked=partial(self._write_unmarked_text, step),
        )

    def _draw_step(self, step: int) -> str:
        layout = self._lay_out_steps_once()
        return draw_sheet(layout.sheets[step], layout.stage)

    def _write_text(self, step: int) -> str:
        return write_memory_text(self._describe_step_once(step))

    def _write_unmarked_text(self, step: int) -> str:
        return write_memory_text(self._describe_unmarked_step(step))

    def _make_title(self, step: int) -> str:
        return self._describe_step_once(step).title

    def _describe_step(
        self, step: int, arrangements: Mapping[str, Arrangement] | None = None
    ) -> MemoryContents:
        """Describe a step; with other `arrangements` than those of the run, if they are given."""
        return describe_memory(
            self.run[step],
            self.selections[step],
            arrangements or self.arrangements,
            self.origins[step],
        )

    def _describe_unmarked_step(self, step: int) -> MemoryContents:
        """Describe a step as if nothing had changed in it."""
        # Without origins, which the drawing alone says: this is for a text.
        unchanged = Changes(self.run[step].now)
        return describe_memory(unchanged, self.selections[step], self.arrangements)

    def _lay_out_steps(self) -> RunLayout:
        steps = range(len(self.run))
        layout = lay_out_sheets([make_sheet(self._describe_step_once(step)) for step in steps])
        # Which words are too wide beside their cells is known once all steps share their columns, so
        # a run may be laid out twice.
        with_lanes = _rearrange_wide_bands(layout, self.arrangements)
        if not with_lanes:
            return layout
        arrangements = self.arrangements | with_lanes
        second = lay_out_sheets([make_sheet(self._describe_step(k, arrangements)) for k in steps])
        return second if second.stage.size[0] < layout.stage.size[0] else layout

    def _list_folds(self, step: int) -> list[Folded]:
        contents = self._describe_step_once(step)
        folds = _list_packs(contents.entries)
        if contents.is_complete:
            return folds
        # Below a picture that says less, for whoever wants to see all: it needs no kernel.
        return [
            *folds,
            Folded(gettext("this picture with every detail"), partial(self._open_all, step)),
        ]

    def _open_all(self, step: int) -> tuple[str, str, list[Folded]]:
        of_step = [self.run[step]], self.find, self.fold, ALL_PARTS, [self.origins[step]]
        whole = _MemoryRun(*of_step).make_picture(0)
        return whole.svg, whole.text, []


def _rearrange_wide_bands(
    layout: RunLayout, arrangements: Mapping[str, Arrangement]
) -> dict[str, Arrangement]:
    """Return, with lanes, the arrangements of storages whose words are too wide beside their cells."""
    columns = layout.stage.columns
    with_lanes: dict[str, Arrangement] = {}
    for sheet in layout.sheets:
        for band in sheet.bands:
            arrangement = arrangements[band.id]
            # Below a matrix, and below a box for many cells, there is no room for lanes.
            can_have_lanes = arrangement.has_cells and not arrangement.cells_per_line
            if can_have_lanes and find_least_width(band, columns) > MOST_WIDTH_WITH_WORDS_BESIDE:
                with_lanes[band.id] = arrangement._replace(has_lanes=True)
    return with_lanes


def _list_packs(entries: Iterable[StorageEntry | PackEntry]) -> list[Folded]:
    packs = (entry for entry in entries if isinstance(entry, PackEntry))
    return [Folded(pack.summary, partial(_open_pack, pack)) for pack in packs]


def _open_pack(pack: PackEntry) -> tuple[str, str, list[Folded]]:
    """Return SVG, text and folds of what is in it, as `Folded.open` is to."""
    entries = pack.open()
    return "", write_pack_text(entries), _list_packs(entries)


# -- a sheet: everything that is drawn, not yet laid out ---------------------------


class PackDrawing(NamedTuple):
    """A pack of storages, in one sentence."""

    text: str
    """The sentence."""
    has_hazard: bool
    """True if a hazard is in it: it is drawn in red."""

    def lines(self, columns: Columns) -> list[str]:
        """Return the sentence in lines."""
        ink = "t b" if self.has_hazard else "t"
        return wrap_text(self.text, columns_that_fit(columns.right - 40, ink), most=3)


class MemorySheet(NamedTuple):
    """What one picture draws, before it is laid out."""

    entries: dict[str, BandDrawing | Row | PackDrawing]
    """By the name under which an entry is known from step to step."""
    notes: tuple[Caption, ...]
    """What is said at the foot."""
    summary: str
    """The label for screen readers."""
    is_unfolded: bool
    """True with fold=False: the picture keeps its size, however large."""

    @property
    def bands(self) -> list[BandDrawing]:
        """The storages."""
        return [entry for entry in self.entries.values() if isinstance(entry, BandDrawing)]

    @property
    def packs(self) -> list[PackDrawing]:
        """The packs of storages."""
        return [entry for entry in self.entries.values() if isinstance(entry, PackDrawing)]

    @property
    def single_rows(self) -> list[Row]:
        """The tensors without memory that could be drawn."""
        return [entry for entry in self.entries.values() if isinstance(entry, Row)]


def make_sheet(contents: MemoryContents) -> MemorySheet:
    """Turn what a picture says into what is drawn."""
    entries: dict[str, BandDrawing | Row | PackDrawing] = {}
    titles: list[str] = []
    for index, entry in enumerate(contents.entries):
        if isinstance(entry, StorageEntry):
            entries[entry.storage.id] = make_band(entry)
            titles.append(entry.title.caption)
        else:
            entries[f"pack {index}"] = PackDrawing(entry.summary, entry.has_hazard)
            titles.append(entry.summary)
    for tensor_entry in contents.without_storage:
        entries[tensor_entry.tensor.id] = make_row(tensor_entry)
    summary = gettext("Memory picture without tensors")
    if titles:
        summary = gettext("Memory: {storages}", storages=join_facts(titles))
    at_foot = (contents.heading, *contents.notes)
    notes = tuple(make_caption(remark) for remark in at_foot if remark.caption)
    return MemorySheet(entries, notes, summary, contents.is_unfolded)


# -- layout ------------------------------------------------------------------------


class Stage(NamedTuple):
    """The layout of all pictures of a run, and their size."""

    columns: Columns
    """As wide as they are in any picture."""
    tops: Mapping[str, float]
    """The upper edge of each entry."""
    band_stages: Mapping[str, BandStage]
    """Storage -> where its parts are."""
    foot: float
    """How far down the notes begin."""
    size: tuple[float, float]
    """Width and height of the pictures."""


class BandStage(NamedTuple):
    """The layout of a storage in all pictures of a run, from its upper edge."""

    height: float
    """Its height."""
    cells_middle: float
    """The middle of its cells."""
    row_middles: Mapping[str, float]
    """Row -> the middle of its name."""
    foot: float
    """Where what is below the rows begins."""
    foot_height: float
    """The height of that, at most."""
    row_ends: Mapping[str, float]
    """Row -> where it ends, in a storage with lanes; of others, cells are in the middle of all rows."""

    def lay_out_step(
        self, band: BandDrawing, columns: Columns, *, is_lowest: bool = False
    ) -> BandStepLayout:
        """Return the layout of the storage in one picture, which has the rows of that step alone.

        Its ground ends where this step ends: with the room for a hazard of another step it looked half empty.
        is_lowest: nothing is below it, and its ground may end below its last row of this step.
        """
        # A tuple, as `_draw_band` is cached by it.
        middles = tuple(self.row_middles[row_id] for row_id in band.row_ids)
        foot_height = band.foot_height(columns)
        height = self.height - self.foot_height + foot_height
        ends = [self.row_ends[row_id] for row_id in band.row_ids if row_id in self.row_ends]
        if is_lowest and ends and not foot_height:
            height -= self.foot - max(ends)
        return BandStepLayout(height, self.cells_middle, middles, self.foot)


class RunLayout(NamedTuple):
    """The sheets of a run, and their one stage."""

    sheets: list[MemorySheet]
    stage: Stage


def lay_out_sheets(sheets: list[MemorySheet]) -> RunLayout:
    """Find where everything in a run is: columns as wide, entries as high as they ever are."""
    _make_strips_alike(sheets)
    _move_wide_hazards_below(sheets)
    columns = _lay_out_columns(sheets)
    if any(sheet.packs or sheet.notes for sheet in sheets):
        columns = _make_room_for_notes(columns)
    drawn = chain.from_iterable(sheet.bands for sheet in sheets)
    with_words = iter(begin_long_words_at_cells(drawn, columns))
    bands: dict[str, list[BandDrawing]] = {}
    for sheet in sheets:
        for band in sheet.bands:
            sheet.entries[band.id] = next(with_words)
            bands.setdefault(band.id, []).append(sheet.entries[band.id])
    stages: dict[str, BandStage] = {}
    heights: dict[str, float] = {}
    for storage_id, bands_of_storage in bands.items():
        stages[storage_id] = _lay_out_band(bands_of_storage, columns)
    notes_height: float = 0
    for sheet in sheets:
        for name, entry in sheet.entries.items():
            if not isinstance(entry, BandDrawing):
                heights[name] = max(heights.get(name, 0), _height_of_entry(entry, columns))
        notes_height = max(notes_height, measure_caption_lines(_break_notes(sheet, columns)))
    heights_of_steps = []
    for sheet in sheets:
        # What is below the rows of a storage in some steps is room for what comes after these.
        of_bands = {
            band.id: stages[band.id].lay_out_step(band, columns).height for band in sheet.bands
        }
        heights_of_steps.append({name: (heights | of_bands)[name] for name in sheet.entries})
    tops = _find_tops(heights_of_steps)
    y: float = MARGIN_ABOVE
    for of_step in heights_of_steps:
        y = max([y, *(tops[name] + height for name, height in of_step.items())])
    height = y + MARGIN_ABOVE
    if notes_height:
        height += notes_height + 6
    return RunLayout(sheets, Stage(columns, tops, stages, y + 2, (columns.right + PADDING, height)))


def _find_tops(heights_of_steps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the upper edge of each entry, below all that is above it in any step; its height is given for each step."""
    tops: dict[str, float] = {}
    for names in assign_slots(heights_of_steps):
        top: float = MARGIN_ABOVE
        for of_step in heights_of_steps:
            if of_step.keys().isdisjoint(names):
                continue
            for name, height in of_step.items():
                if name in tops:
                    top = max(top, tops[name] + height)
        tops |= dict.fromkeys(names, top)
    return tops


def _lay_out_columns(sheets: list[MemorySheet]) -> Columns:
    bands = chain.from_iterable(sheet.bands for sheet in sheets)
    rows = chain.from_iterable(sheet.single_rows for sheet in sheets)
    return lay_out_columns(list(bands), list(rows))


def _make_room_for_notes(columns: Columns) -> Columns:
    """Make room for captions that are as wide as the picture."""
    missing = max(0, NOTE_WIDTH - columns.right)
    return columns._replace(counter_x=columns.counter_x + missing, right=columns.right + missing)


def _height_of_entry(entry: Row | PackDrawing, columns: Columns) -> float:
    if isinstance(entry, PackDrawing):
        return _height_of_lines(entry.lines(columns))
    return entry.height(columns.right - columns.strip_x)


def _height_of_lines(lines: list[str]) -> float:
    """Return the height of a pack: of one line it is that of the lowest row."""
    return LEAST_ROW_HEIGHT + LINE_HEIGHT * (len(lines) - 1)


def _break_notes(sheet: MemorySheet, columns: Columns) -> tuple[CaptionLine, ...]:
    """Break the captions at the foot into lines as wide as the picture."""
    return break_captions(sheet.notes, columns.right - PADDING)


def _make_strips_alike(sheets: list[MemorySheet]) -> None:
    """Make the cells of a storage as wide in all steps as they are in any, and their lines as long."""
    united: dict[tuple[str, int], Strip] = {}
    ids_with_room_below: set[str] = set()
    for sheet in sheets:
        for band in sheet.bands:
            # Of another number of cells (resize_) it has lines of its own.
            key = (band.id, band.strip.count)
            united[key] = _unite_strips(united.get(key, band.strip), band.strip)
            if band.strip.has_room_below:
                ids_with_room_below.add(band.id)
    united = _widen_cells(united)
    for sheet in sheets:
        for band in sheet.bands:
            alike = united[band.id, band.strip.count]
            strip = replace(
                band.strip,
                cell_width=alike.cell_width,
                cells_per_line=alike.cells_per_line,
                has_numbers=alike.has_numbers,
                has_room_below=band.id in ids_with_room_below,
            )
            sheet.entries[band.id] = replace(band, strip=strip)


def _widen_cells(strips: Mapping[tuple[str, int], Strip]) -> dict[tuple[str, int], Strip]:
    """Make the cells of all storages as wide as the widest, where no line of cells is then longer than the longest.

    Three numbers of 147 px beside three of 90 looked like another kind of thing.
    """
    widest = max((strip.cell_width for strip in strips.values()), default=0)
    most = max((strip.width for strip in strips.values()), default=0)
    widened = dict(strips)
    for key, strip in strips.items():
        wider = replace(strip, cell_width=widest)
        if strip.cells and wider.width <= min(most, MOST_ALIKE_CELLS_WIDTH):
            widened[key] = wider
    return widened


def _unite_strips(first: Strip, second: Strip) -> Strip:
    """Return a strip of which each cell and each line has the room that it needs in both."""
    return replace(
        first,
        cell_width=max(first.cell_width, second.cell_width),
        cells_per_line=min(first.cells_per_line, second.cells_per_line),
        has_numbers=first.has_numbers or second.has_numbers,
    )


def _move_wide_hazards_below(sheets: list[MemorySheet]) -> None:
    """Move hazards below the rows of storages, in all steps, where there is too little room beside cells."""
    all_bands = chain.from_iterable(sheet.bands for sheet in sheets)
    # Lanes have what is said below them anyway.
    with_hazards = [band for band in all_bands if not band.has_lanes and band.hazards_beside]
    if not with_hazards:
        return
    columns = _lay_out_columns(sheets)
    ids = {band.id for band in with_hazards if is_narrow_for_hazards(band, columns)}
    for sheet in sheets:
        for band in sheet.bands:
            if band.id in ids:
                sheet.entries[band.id] = move_hazards_below(band)


def _lay_out_band(bands: list[BandDrawing], columns: Columns) -> BandStage:
    """Find where the parts of a storage are, given as it is in each step."""
    heights: dict[str, float] = {}
    counter_of: dict[str, str | None] = {}
    # The room that each part needs is the most that it needs in any step.
    edge: float = 0
    head: float = 0
    above: float = 0
    below: float = 0
    foot: float = 0
    for band in bands:
        width = band.captions_width(columns)
        for row in band.rows:
            height = row.height(width, has_neighbours=len(band.rows) > 1)
            heights[row.id] = max(heights.get(row.id, 0), height)
        for counter in band.counters:
            for index in counter.rows:
                counter_of[band.rows[index].id] = counter.id
        if band.has_ground:
            edge = BAND_PADDING
        head = max(head, band.head_height(columns))
        above = max(above, band.strip.middle)
        below = max(below, band.strip.height - band.strip.middle)
        foot = max(foot, band.foot_height(columns))
    # Rows that are never there at once take turns in one slot, which is as high as the highest.
    slots = _sort_by_counter(assign_slots([band.row_ids for band in bands]), counter_of)
    slot_heights = [max(map(heights.__getitem__, row_ids)) for row_ids in slots]
    if bands[0].has_lanes:
        # Above lanes, `head_height` has the room for the cells.
        cells_middle, y = edge + above, edge + head
        end = y + sum(slot_heights)
    else:
        # Names are around the middle of the cells, and cells around that of names.
        half = sum(slot_heights) / 2
        cells_middle = edge + max(half, above + ROOM_AROUND_CELLS)
        y, end = cells_middle - half, cells_middle + max(half, below + ROOM_AROUND_CELLS)
    row_middles: dict[str, float] = {}
    row_ends: dict[str, float] = {}
    for row_ids, height in zip(slots, slot_heights, strict=True):
        middle = y + (LANE_MIDDLE if bands[0].has_lanes else height / 2)
        row_middles |= dict.fromkeys(row_ids, middle)
        y += height
        if bands[0].has_lanes:
            row_ends |= dict.fromkeys(row_ids, y)
    return BandStage(end + foot + edge, cells_middle, row_middles, end, foot, row_ends)


def assign_slots(steps: Sequence[Iterable[str]]) -> list[list[str]]:
    """Assign slots over time (interval scheduling); returns the names in each slot in turn.

    A thing is visible from the first step that has its name to the last, and keeps its slot
    meanwhile: so nothing jumps while people step through a program. The first slot that is free
    again is reused, as in first-fit interval partitioning, so a run takes little more room than
    its fullest step.
    """
    last_step: dict[str, int] = {}
    for step, names in enumerate(steps):
        last_step |= dict.fromkeys(names, step)
    slots: list[list[str]] = []
    assigned: set[str] = set()
    for step, names in enumerate(steps):
        for name in names:
            if name in assigned:
                continue
            assigned.add(name)
            # By the last thing in a slot: those before it are gone earlier.
            for slot in slots:
                if last_step[slot[-1]] < step:
                    slot.append(name)
                    break
            else:
                slots.append([name])
    return slots


def _sort_by_counter(
    slots: list[list[str]], counter_of: Mapping[str, str | None]
) -> list[list[str]]:
    """Sort rows so that those that share a counter are neighbours: its mark would cover others.

    `slots`: for each the ids of the rows that take turns in it.
    """
    first_slot: dict[str | None, int] = {}
    for index, row_ids in enumerate(slots):
        first_slot.setdefault(counter_of.get(row_ids[0]), index)
    return sorted(slots, key=lambda row_ids: first_slot[counter_of.get(row_ids[0])])


# -- drawing -----------------------------------------------------------------------


def draw_sheet(sheet: MemorySheet, stage: Stage) -> str:
    """Draw a picture as its run is laid out; returns the SVG document."""
    canvas, columns = Canvas(), stage.columns
    lowest = max(sheet.entries, key=stage.tops.__getitem__, default="")
    for name, entry in sheet.entries.items():
        y = stage.tops[name]
        if isinstance(entry, BandDrawing):
            layout = stage.band_stages[name].lay_out_step(
                entry, columns, is_lowest=name == lowest and not sheet.notes
            )
            elements = _draw_band(entry, columns, y, layout)
            canvas.parts.append(elements.parts)
            canvas.classes |= elements.classes
        elif isinstance(entry, Row):
            width = columns.right - columns.strip_x
            middle = y + entry.height(width) / 2
            entry.draw_names(canvas, columns, middle, None)
            entry.draw_captions(canvas, columns.strip_x, width, middle)
        else:
            _draw_pack(canvas, columns, y, entry)
    draw_caption_lines(canvas, _break_notes(sheet, columns), PADDING, stage.foot)
    return canvas.svg(*stage.size, sheet.summary, sheet.is_unfolded)


class BandElements(NamedTuple):
    """The SVG elements of a band, and the classes in them."""

    parts: str
    """The elements, joined."""
    classes: frozenset[str]
    """The classes, for the stylesheet."""


@lru_cache(maxsize=1024)
def _draw_band(
    band: BandDrawing, columns: Columns, y: float, band_layout: BandStepLayout
) -> BandElements:
    """Draw a band on a canvas of its own.

    Cached: of 24 steps, in which most bands stay as they are, in 40 ms instead of 70.
    """
    canvas = Canvas()
    band.draw(canvas, columns, y, band_layout)
    return BandElements("".join(canvas.parts), frozenset(canvas.classes))


def _draw_pack(canvas: Canvas, columns: Columns, y: float, pack: PackDrawing) -> None:
    box, ink = ("bad", "bad-t b") if pack.has_hazard else ("card dash", "t")
    lines = pack.lines(columns)
    width, height = columns.right + PADDING - 2 * BAND_MARGIN, _height_of_lines(lines)
    canvas.rect(BAND_MARGIN, y + 2, width, height - 4, box, 8)
    middle = y + height / 2
    if pack.has_hazard:
        canvas.sign("cross", PADDING + 6, middle)
    top = middle - LINE_HEIGHT * len(lines) / 2
    for index, line in enumerate(lines):
        whole = pack.text if line.endswith("…") else ""
        canvas.text(PADDING + 18, top + LINE_HEIGHT * index + 11, line, ink, whole=whole)
