"""The memory picture: names, the tensors they stand for, the storages these look into.

Each storage is a band of its own, with its cells in a strip. A tensor is a row in the band of its
storage: under each cell that it covers is the index of its element, and below these how it reads
them. A version counter is a box at the right end of the rows of the tensors that share it. So what
shares memory is in one band, no line crosses another, and a small picture fits into a narrow page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

from ..diagnose import Changes, compare_snapshots
from ..read import Snapshot, read_snapshot
from ..show import (
    MemoryContents,
    PackEntry,
    StorageEntry,
    describe_memory,
    select_storages,
)
from ..wording import cache_in_language, columns_that_fit, gettext, text_width, wrap_text
from .memory_rows import PAD, TOP, BandDrawing, Columns, Row, make_band, make_row, place_columns
from .picture import Folded, Picture
from .places import assign_places
from .style import Canvas
from .text import memory_text, pack_text

GAP, HEADINGS = 12, 36
"""Between two bands, and above the first one, in px."""
NOTE = 48
"""A note at the foot has up to so many columns in a line."""
PACK_HEIGHT = 36
T = TypeVar("T")


def memory(
    *tensors: Any,
    since: Snapshot | None = None,
    values: Any = True,
    find: str = "",
    fold: bool = True,
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
    Of more than 30 tensors those are folded, module by module, that neither share memory nor have a hazard, nor have
    `find` in their names. `fold=False` shows all of them.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    # The frame of the caller: names are read from the code of the call.
    snap = read_snapshot(tensors, named, sys._getframe(1), since, values)
    return next(memories_of([compare_snapshots(snap, since)], find, fold))


def memories_of(run: Iterable[Changes], find: str = "", fold: bool = True) -> Iterator[Picture]:
    """Make the memory pictures of the steps of a run, all of one size; what stays keeps its place."""
    # Selected at once, since that raises for wrong options; the rest is made when it is asked for.
    selections = [(changed, select_storages(changed, find, fold)) for changed in run]
    # Text, title, folds and drawing each ask for it.
    describers = [cache_in_language()(partial(describe_memory, *pair)) for pair in selections]

    @cache_in_language()
    def place_run() -> PlacedRun:
        return place_sheets([make_sheet(describe()) for describe in describers])

    for step, (changed, selection) in enumerate(selections):
        describe = describers[step]
        describe_unmarked = partial(describe_memory, Changes(changed.now), selection)
        yield Picture(
            partial(_draw_step, place_run, step),
            partial(_render_contents, memory_text, describe),
            partial(_render_contents, _list_folds, describe),
            make_title=partial(_render_contents, _title_of, describe),
            render_unmarked=partial(_render_contents, memory_text, describe_unmarked),
        )


def _render_contents(
    renderer: Callable[[MemoryContents], T], describe: Callable[[], MemoryContents]
) -> T:
    return renderer(describe())


def _title_of(contents: MemoryContents) -> str:
    return contents.title


def _list_folds(contents: MemoryContents) -> list[Folded]:
    return _list_packs(contents.entries)


def _list_packs(entries: Iterable[StorageEntry | PackEntry]) -> list[Folded]:
    packs = (entry for entry in entries if isinstance(entry, PackEntry))
    return [Folded(pack.summary, partial(_open_pack, pack)) for pack in packs]


def _open_pack(pack: PackEntry) -> tuple[str, str, list[Folded]]:
    """Return SVG, text and folds of what is in it, as `Folded.open` is to."""
    entries = pack.open()
    return "", pack_text(entries), _list_packs(entries)


# -- a sheet: everything that is drawn, not yet placed -----------------------------


class SheetLine(NamedTuple):
    """A line of a sheet: for a pack of storages, or a note at the foot."""

    text: str
    """The part of it that fits in the line."""
    whole: str
    """The sentence that it is a part of."""
    has_hazard: bool = False
    """True for a pack with a hazard in it, which is drawn in red."""


class MemorySheet(NamedTuple):
    """What one picture draws, before anything in it has a place."""

    entries: dict[str, BandDrawing | Row | SheetLine]
    """By the name under which an entry keeps its place from step to step."""
    notes: list[SheetLine]
    """The lines at the foot."""
    summary: str
    """The label for screen readers."""
    is_whole: bool
    """True if the picture was asked for as a whole, however large."""

    @property
    def bands(self) -> list[BandDrawing]:
        """The storages."""
        return [entry for entry in self.entries.values() if isinstance(entry, BandDrawing)]

    @property
    def packs(self) -> list[SheetLine]:
        """The lines for packs of storages."""
        return [entry for entry in self.entries.values() if isinstance(entry, SheetLine)]

    @property
    def rows(self) -> list[Row]:
        """All tensors."""
        rows = [entry for entry in self.entries.values() if isinstance(entry, Row)]
        for band in self.bands:
            rows += band.rows
        return rows


def make_sheet(contents: MemoryContents) -> MemorySheet:
    """Turn what a picture says into what is drawn."""
    entries: dict[str, BandDrawing | Row | SheetLine] = {}
    titles: list[str] = []
    for place, entry in enumerate(contents.entries):
        if isinstance(entry, StorageEntry):
            entries[entry.storage.id] = make_band(entry)
            titles.append(entry.title.caption)
        else:
            entries[f"pack {place}"] = SheetLine(entry.summary, entry.summary, entry.has_hazard)
            titles.append(entry.summary)
    for tensor_entry in contents.without_storage:
        entries[tensor_entry.tensor.id] = make_row(tensor_entry, None)
    summary = gettext("Memory picture without tensors")
    if titles:
        summary = gettext("Memory: {storages}", storages="; ".join(titles))
    sentences = [*filter(None, [contents.heading.caption]), *contents.notes]
    notes = []
    for sentence in sentences:
        notes += [SheetLine(part, sentence) for part in wrap_text(sentence, NOTE, most=4)]
    return MemorySheet(entries, notes, summary, contents.is_whole)


# -- places ------------------------------------------------------------------------


class Stage(NamedTuple):
    """Places of things in all pictures of a run, and the size of these."""

    columns: Columns
    """As wide as they are in any picture."""
    places: Mapping[str, float]
    """The upper edge of each entry; for a tensor in a storage, how far below that of the storage."""
    foot: float
    """How far down the notes begin."""
    size: tuple[float, float]
    """Width and height of the pictures."""


class PlacedRun(NamedTuple):
    """The sheets of a run, and their one stage."""

    sheets: list[MemorySheet]
    stage: Stage


def place_sheets(sheets: list[MemorySheet]) -> PlacedRun:
    """Find the places of everything in a run: columns as wide, entries as high as they ever are."""
    _widen_cells(sheets)
    bands: list[BandDrawing] = []
    rows: list[Row] = []
    packs: list[str] = []
    for sheet in sheets:
        bands += sheet.bands
        rows += sheet.rows
        packs += [pack.text for pack in sheet.packs]
    columns = place_columns(bands, rows, packs)
    places: dict[str, float] = {}
    head_heights: dict[str, float] = {}
    for sheet in sheets:
        for name, entry in sheet.entries.items():
            head_heights[name] = max(head_heights.get(name, 0), _height_of_entry(entry, columns))
    # With their rows, bands are complete.
    heights = head_heights | _place_rows(bands, head_heights, places)
    y = PAD + (HEADINGS if heights else 0.0)
    for names in assign_places([sheet.entries for sheet in sheets]):
        places |= dict.fromkeys(names, y)
        y += max(heights[name] for name in names) + GAP
    note_width, note_rows = 0.0, 0
    for sheet in sheets:
        note_rows = max(note_rows, len(sheet.notes))
        for note in sheet.notes:
            note_width = max(note_width, text_width(note.text))
    right = columns.right if heights else 0
    width = max(right + 2 * PAD, note_width + 2 * PAD, 200)
    return PlacedRun(sheets, Stage(columns, places, y, (width, y + 18 * note_rows + PAD - GAP + 4)))


def _height_of_entry(entry: BandDrawing | Row | SheetLine, columns: Columns) -> float:
    """Return the height of an entry; of a band what is above its rows: these have places of their own."""
    if isinstance(entry, SheetLine):
        return PACK_HEIGHT
    if isinstance(entry, Row):
        return entry.height + 8
    return entry.head_height(columns)


def _widen_cells(sheets: list[MemorySheet]) -> None:
    """Make the cells of a storage as wide in all steps as they are in any."""
    widths: dict[str, float] = {}
    for sheet in sheets:
        for band in sheet.bands:
            widths[band.id] = max(widths.get(band.id, 0), band.strip.cell_width)
    for sheet in sheets:
        for band in sheet.bands:
            strip = replace(band.strip, cell_width=widths[band.id])
            sheet.entries[band.id] = replace(band, strip=strip)


def _place_rows(
    bands: list[BandDrawing], head_heights: Mapping[str, float], places: dict[str, float]
) -> dict[str, float]:
    """Put the rows of each storage into `places`; return how high each storage is."""
    bands_of: dict[str, list[BandDrawing]] = {}
    for band in bands:
        bands_of.setdefault(band.id, []).append(band)
    heights = {}
    for storage_id, same_bands in bands_of.items():
        row_heights: dict[str, float] = {}
        counter_of: dict[str, str | None] = {}
        for band in same_bands:
            for row in band.rows:
                row_heights[row.id] = max(row_heights.get(row.id, 0), row.height)
            for counter in band.counters:
                for place in counter.rows:
                    counter_of[band.rows[place].id] = counter.id
        ids_in_steps = [[row.id for row in band.rows] for band in same_bands]
        y = head_heights[storage_id]
        for ids in _sort_by_counter(assign_places(ids_in_steps), counter_of):
            for row_id in ids:
                places[f"{storage_id} {row_id}"] = y
            # Rows that take turns at one place need the height of the highest of them.
            y += max(row_heights[row_id] for row_id in ids)
        heights[storage_id] = y + 4
    return heights


def _sort_by_counter(
    row_places: list[list[str]], counter_of: Mapping[str, str | None]
) -> list[list[str]]:
    """Sort rows so that those that share a counter are neighbours: its box would cover others."""
    first_place: dict[str | None, int] = {}
    for place, names in enumerate(row_places):
        first_place.setdefault(counter_of.get(names[0]), place)
    return sorted(row_places, key=lambda names: first_place[counter_of.get(names[0])])


# -- drawing -----------------------------------------------------------------------


def _draw_step(place_run: Callable[[], PlacedRun], step: int) -> str:
    run = place_run()
    return draw_sheet(run.sheets[step], run.stage)


def draw_sheet(sheet: MemorySheet, stage: Stage) -> str:
    """Draw a picture at the places of its run; returns the SVG document."""
    canvas, columns = Canvas(), stage.columns
    if sheet.entries:
        canvas.text(PAD + 8, PAD + 26, gettext("names"), "m")
        canvas.text(columns.strip_x, PAD + 12, gettext("storage (cells)"), "m")
        canvas.text(columns.strip_x, PAD + 26, gettext("tensors"), "m")
        canvas.text(columns.right, PAD + 26, gettext("version counter"), "m e")
    for name, entry in sheet.entries.items():
        y = stage.places[name]
        if isinstance(entry, BandDrawing):
            row_places = tuple(stage.places[f"{name} {row.id}"] for row in entry.rows)
            drawn = _draw_band(entry, columns, y, row_places)
            canvas.parts.append(drawn.parts)
            canvas.kinds |= drawn.kinds
        elif isinstance(entry, Row):
            canvas.rect(PAD, y, columns.right, entry.height + 8, "band dash", 8)
            entry.draw(canvas, columns, y + 4 + TOP, columns.strip_x)
        else:
            _draw_pack(canvas, columns, y, entry)
    for place, note in enumerate(sheet.notes):
        canvas.text(PAD, stage.foot + 18 * place + 12, note.text, "m", whole=note.whole)
    return canvas.svg(*stage.size, sheet.summary, sheet.is_whole)


class DrawnBand(NamedTuple):
    """The SVG elements of a band, and the classes in them."""

    parts: str
    """The elements, joined."""
    kinds: frozenset[str]
    """The classes, for the stylesheet."""


@lru_cache(maxsize=1024)
def _draw_band(
    band: BandDrawing, columns: Columns, y: float, row_places: tuple[float, ...]
) -> DrawnBand:
    """Draw a band on a canvas of its own.

    Cached: of 24 steps, in which most bands stay as they are, in 40 ms instead of 70.
    """
    canvas = Canvas()
    band.draw(canvas, columns, y, row_places)
    return DrawnBand("".join(canvas.parts), frozenset(canvas.kinds))


def _draw_pack(canvas: Canvas, columns: Columns, y: float, pack: SheetLine) -> None:
    box, ink = ("bad", "bad-t s b") if pack.has_hazard else ("card dash", "t s")
    canvas.rect(PAD, y, columns.right, PACK_HEIGHT, box, 8)
    if pack.has_hazard:
        canvas.mark("cross", PAD + 16, y + 18)
    canvas.text(PAD + 28, y + 22, pack.text, ink, columns_that_fit(columns.right - 50, "s"))
