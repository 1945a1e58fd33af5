"""The memory picture: names, the tensors they stand for, the storages these look into.

Each storage is a band of its own, with its cells in a strip. A tensor is a row in the band of its storage; under each
cell that it covers stands the index of its element, and below these how it reads them. A version counter is a box at
the right end of the rows of the tensors that share it. So what shares memory stands in one band, no line crosses
another, and a small picture fits into a narrow page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from ..diagnose import Changes, compare_snapshots
from ..read import Snapshot, Tensor, read_snapshot
from ..show import (
    IN_MEMORY,
    Band,
    Pack,
    Shelf,
    below_memory,
    facts,
    pack_line,
    rebound,
    standing_of,
    stored,
    title,
    unusual,
)
from ..wording import (
    columns_that_fit,
    cut_middle,
    escape_name,
    format_shape,
    gettext,
    ngettext,
    text_width,
    wrap_text,
)
from .picture import Folded, Picture
from .strip import ARCS, Lane, Strip, strip_of
from .style import Canvas, number
from .text import memory_text, memory_title, pack_text

GAP, PAD, ARROW = 12, 4, 15
TOP, LINE, PILL, LANE = 17, 15, 22, 24
"""From the upper edge of a row to the middle of its name; how high a line of words, a name and a lane are."""
NAME_COLUMNS = 30
TITLE_ROW, TITLE_ROWS = 17, 3
GRID, SQUARE = (4, 8), 8
"""So many rows and columns of a tensor are drawn, and how large an element of it is."""
GEOMETRY, WORDS, NOTE = 60, 32, 48
"""How many columns a tensor's shape and stride have at most, a line of words below it, and a note at the foot."""
NAMES_W, STRIP_W, COUNT_H, BRACKET = 38, 108, 38, 8
PACK, LINE_W = 36, 900
"""How high the line is that stands for several storages, and how wide it makes a picture at most."""


def memory(
    *tensors: Any,
    since: Snapshot | None = None,
    values: Any = True,
    find: str = "",
    fold: bool = True,
    **named: Any,
) -> Picture:
    """Draw names, tensors, storages and version counters, and tell of them in words.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> d = x.detach()
    >>> print(memory(x, d).text)
    Memory: 2 tensors in 1 storage.
    ...
    version counter C1, shared by x and d: at version 0.

    The arguments are those of `snapshot`, or a snapshot. With `since`, an earlier snapshot, what changed is marked.
    Of more than 30 tensors those are folded, module by module, that neither share memory nor are in trouble, nor have
    `find` in their names. `fold=False` shows all of them.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    snap = read_snapshot(tensors, named, sys._getframe(1), since, values)
    return next(memories_of([compare_snapshots(snap, since)], find, fold))


def memories_of(run: Iterable[Changes], find: str = "", fold: bool = True) -> Iterator[Picture]:
    """The memory pictures of the steps of a run: as large as each other, and what stays keeps its place."""
    looks = [(changed, stored(changed, find, fold)) for changed in run]
    made = cache(lambda: _staged([_sheet(changed, seen) for changed, seen in looks]))
    for step, (changed, seen) in enumerate(looks):
        yield Picture(
            partial(lambda step: _draw(made()[0][step], made()[1]), step),
            partial(memory_text, changed, seen),
            partial(_folds, changed, seen.entries, seen.bad),
            title=partial(memory_title, changed),
            tell_unmarked=partial(memory_text, Changes(changed.now), seen),
        )


def _folds(
    changed: Changes, entries: Sequence[Band | Pack], bad: Mapping[str, tuple[str, ...]]
) -> list[Folded]:
    def opened(pack: Pack) -> tuple[str, str, list[Folded]]:
        return "", pack_text(changed, pack, bad), _folds(changed, pack.inside, bad)

    return [
        Folded(pack_line(changed, one, bad), partial(opened, one))
        for one in entries
        if isinstance(one, Pack)
    ]


class Columns(NamedTuple):
    """Where the columns of a picture stand, in px; they are as wide as the widest of all rows."""

    strip_x: float
    count_x: float
    right: float


@dataclass(frozen=True)
class Row:
    """One tensor: its names, its lane below the cells, and below that what there is to say of it."""

    id: str
    pills: tuple[tuple[str, str], ...]
    """Its names, each with "new", "found" or nothing to say of it."""
    named: bool
    lines: tuple[tuple[str, str, str], ...]
    """How it reads the cells, and remarks: what a line says, how it looks, the whole sentence."""
    lane: Lane | None
    grid: tuple[int, int]
    """Its rows and columns; none where it has not two dimensions, or no elements."""

    @property
    def step(self) -> int:
        """From one name of a tensor to the next: with room for what is said below one."""
        return PILL + (14 if any(flag for _, flag in self.pills[:-1]) else 4)

    @property
    def low(self) -> int:
        """How far below the middle of its name the words begin."""
        return LANE // 2 + 16 * self.lane.walks if self.lane else 4 - LINE

    @property
    def height(self) -> float:
        """The height, with all names and words."""
        pills = (len(self.pills) - 1) * self.step + PILL / 2 + (14 if self.pills[-1][1] else 0)
        return (
            TOP + max(self.low + max(len(self.lines) * LINE, self.shown[0] * SQUARE) + 3, pills) + 6
        )

    @property
    def shown(self) -> tuple[int, int]:
        """As many of its rows and columns as are drawn."""
        return min(self.grid[0], GRID[0]), min(self.grid[1], GRID[1])

    @property
    def grid_w(self) -> int:
        """How wide its elements are, drawn as rows and columns."""
        return (
            self.shown[1] * SQUARE + (8 if self.shown == self.grid else 14) if self.grid[1] else 0
        )

    def words_w(self, lines: int | None = None) -> float:
        """How wide the words have to be; the first so many `lines` of them."""
        return (
            self.grid_w
            + max(text_width(text, kind) + _indent(kind) for text, kind, _ in self.lines[:lines])
            + 4
        )

    def draw(self, canvas: Canvas, at: Columns, middle: float, to: float) -> None:
        """Names, an arrow that leads `to` where its elements begin, and the words."""
        right = at.strip_x - ARROW
        for k, (name, flag) in enumerate(self.pills):
            y = middle + k * self.step
            w = _pill_width(name)
            x = right - w
            kind = "name" + " fresh" * bool(flag) + ("" if self.named else " dash")
            canvas.rect(x, y - PILL / 2, w, PILL, kind, 11, self.id)
            canvas.text(x + w / 2, y + 4, cut_middle(name, NAME_COLUMNS), "t mono b c", whole=name)
            if flag:
                canvas.text(x + w / 2, y + PILL / 2 + 11, gettext(flag), "new-t s b c")
            if k > 0:
                canvas.line(
                    [(right, y), (right + ARROW / 2, y), (right + ARROW / 2, middle)], "arrow"
                )
        canvas.line([(right, middle), (to - 5, middle)], "arrow")
        canvas.path(f"M{number(to - 1)} {number(middle)}l-8 -4v8z", "tip")
        self._grid(canvas, at.strip_x + 2, middle + self.low + 4)
        x = at.strip_x + 2 + self.grid_w
        for k, (text, kind, whole) in enumerate(self.lines):
            y = middle + self.low + 13 + k * LINE
            if _indent(kind) and whole.startswith(text):
                canvas.mark("cross", x + 4, y - 4)
            canvas.text(x + _indent(kind), y, text, kind, whole=whole)

    def _grid(self, canvas: Canvas, x: float, top: float) -> None:
        """Its elements as rows and columns; of many the first, and dots."""
        rows, columns = self.shown
        for k in range(rows * columns):
            row, column = divmod(k, columns)
            canvas.rect(
                x + column * SQUARE, top + row * SQUARE, SQUARE - 1, SQUARE - 1, "view", 1, self.id
            )
        if self.shown != self.grid:
            canvas.text(x + columns * SQUARE + 1, top + rows * SQUARE, "…", "m s")


def _indent(kind: str) -> int:
    return 12 if kind.startswith("bad") else 0


class Count(NamedTuple):
    """A version counter, or what there is to say where none is known, and the rows of the tensors that share it."""

    id: str | None
    version: int | None
    was: int | None
    rows: tuple[int, ...]

    @property
    def window(self) -> float:
        """How wide the version's window is: it stands in one of its own, like the digit of a mileage counter."""
        return max(20.0, text_width(str(self.version), "mono b l") + 10)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """What the box says besides the version, and how that looks."""
        if self.id is not None and self.was is None:
            return [(self.id, "count-t s b"), (gettext("version"), "count-t s")]
        if self.id is not None:
            return [(self.id, "new-t s b"), (gettext("was {value}", value=self.was), "new-t s")]
        return [(one, "t s") for one in wrap_text(gettext("no counter"), 10, 2)] + [
            (gettext("inference"), "m s")
        ]

    @property
    def box_w(self) -> float:
        """How wide the box has to be."""
        beside = text_width(self.id, "s b") + 3 + self.window if self.id else 0
        return max(beside, *(text_width(text, kind) for text, kind in self.lines)) + 8

    def draw(self, canvas: Canvas, x: float, wide: float, rows: list[float], start: float) -> None:
        """The box, and the lines to it from its rows."""
        top, bottom = rows[0], rows[-1]
        middle = (top + bottom) / 2
        for y in rows:
            canvas.line([(start, y), (x, y)], "count-l")
        if len(rows) > 1:
            canvas.line([(x, top), (x, bottom)], "count-l")
        canvas.line([(x, middle), (x + BRACKET, middle)], "count-l")
        left, right = x + BRACKET, x + BRACKET + wide
        kind = "card dash" if self.id is None else "count" if self.was is None else "new"
        canvas.rect(left, middle - COUNT_H / 2, wide, COUNT_H, kind, 5)
        step = 12 if self.id is None else 17
        for k, (text, ink) in enumerate(self.lines):
            canvas.text(left + 4, middle + 5 + step * (k - (len(self.lines) - 1) / 2), text, ink)
        if self.id is not None:
            canvas.rect(right - self.window - 3, middle - 16, self.window, 20, "card", 3)
            ink = "count-t mono b l c" if self.was is None else "new-t mono b l c"
            canvas.text(right - self.window / 2 - 3, middle - 1, str(self.version), ink)


@dataclass(frozen=True)
class Drawn:
    """A storage and its tensors, in words and numbers: two that are equal look the same."""

    id: str
    title: str
    note: str
    strip: Strip
    rows: tuple[Row, ...]
    counters: tuple[Count, ...]

    def above(self, at: Columns) -> float:
        """How high is what stands above its rows: title, note and cells."""
        heads, notes = self._head(at)
        return TITLE_ROW * len(heads) + LINE * len(notes) + 14 + self.strip.height

    def draw(self, canvas: Canvas, at: Columns, y: float, rows: Sequence[float]) -> None:
        """Draw the band with its upper edge at y, and its rows so far below that."""
        badge = text_width(self.id, "mono b") + 14
        text_x = PAD + badge + 16
        heads, notes = self._head(at)
        bottom = max(start + row.height for start, row in zip(rows, self.rows, strict=True)) + 4
        canvas.rect(PAD, y, at.right, bottom, "band", 8)
        canvas.rect(PAD + 8, y + 8, badge, 18, "cell", 4)
        canvas.text(PAD + 8 + badge / 2, y + 21, self.id, "t mono b c")
        for k, line in enumerate(heads):
            # What was cut is to be read by pointing at it.
            canvas.text(text_x, y + 21 + k * TITLE_ROW, line, "t b l", whole=self.title)
        low = y + TITLE_ROW * len(heads) + 14
        for k, line in enumerate(notes):
            canvas.text(text_x, low + 10 + k * LINE, line, "m s", whole=self.note)
        self.strip.draw(canvas, at.strip_x, low + LINE * len(notes))
        middles = [y + start + TOP for start in rows]
        for row, middle in zip(self.rows, middles, strict=True):
            row.draw(canvas, at, middle, at.strip_x + self.strip.begins(row.lane))
            self.strip.draw_lane(canvas, at.strip_x, middle - LANE / 2 - 4, row.lane, row.id)
        for counter in self.counters:
            start = at.strip_x + max(self.strip.width, 82) + 4
            counter.draw(
                canvas,
                at.count_x,
                at.right - at.count_x - BRACKET,
                [middles[k] for k in counter.rows],
                start,
            )

    def _head(self, at: Columns) -> tuple[list[str], list[str]]:
        """The lines of a band's title and of the note below it, above the cells."""
        room = at.right - text_width(self.id, "mono b") - 36
        heads = wrap_text(self.title, columns_that_fit(room, "b l"), TITLE_ROWS)
        return heads, wrap_text(self.note, columns_that_fit(room, "s"), 4) if self.note else []


class Sheet(NamedTuple):
    """What one picture shows, before anything in it has a place: its entries, each under the name that it keeps."""

    entries: dict[str, Drawn | Row | tuple[str, bool]]
    """A storage, a tensor without one, or a line for several storages and whether one of them is in trouble."""
    notes: list[tuple[str, str]]
    """Lines, each with the whole sentence."""
    whole: bool

    @property
    def bands(self) -> list[Drawn]:
        """The storages."""
        return [one for one in self.entries.values() if isinstance(one, Drawn)]

    @property
    def rows(self) -> list[Row]:
        """All tensors."""
        loose = [one for one in self.entries.values() if isinstance(one, Row)]
        return [*(row for band in self.bands for row in band.rows), *loose]


class Stage(NamedTuple):
    """Where things stand in all pictures of a run, and how large these are."""

    at: Columns
    places: Mapping[str, float]
    """The upper edge of each entry; for a tensor in a storage, how far its row is below that of the storage."""
    foot: float
    size: tuple[float, float]


def _sheet(changed: Changes, seen: Shelf) -> Sheet:
    snap = changed.now
    entries: dict[str, Drawn | Row | tuple[str, bool]] = {}
    for k, one in enumerate(seen.entries):
        if isinstance(one, Band):
            entries[one.storage.id] = _band(changed, one, seen)
        else:
            entries[f"pack {k}"] = (
                pack_line(changed, one, seen.bad),
                any(tensor.id in seen.bad for tensor in one.tensors),
            )
    loose = [tensor for tensor in snap.named if tensor.storage is None]
    entries |= {tensor.id: _row(changed, tensor, seen, None) for tensor in loose}
    shown = snap.shown | {tensor.id for tensor in loose}
    notes = below_memory(changed, shown, seen) if shown else [gettext("no tensors to show")]
    return Sheet(
        entries, [(line, note) for note in notes for line in wrap_text(note, NOTE, 4)], seen.whole
    )


def _kept(steps: Sequence[Iterable[str]]) -> list[list[str]]:
    """Who stands where in turn: each keeps its place as long as it is shown, then the next one may take it."""
    last = {name: step for step, names in enumerate(steps) for name in names}
    places: list[list[str]] = []
    known: set[str] = set()
    for step, names in enumerate(steps):
        for name in names:
            if name not in known:
                free = next((place for place in places if last[place[-1]] < step), None)
                if free is None:
                    places.append(free := [])
                free.append(name)
                known.add(name)
    return places


def _staged(sheets: list[Sheet]) -> tuple[list[Sheet], Stage]:
    """The sheets of a run, and the places of all that is on them."""
    cells: dict[str, float] = {}
    for band in (band for sheet in sheets for band in sheet.bands):
        cells[band.id] = max(cells.get(band.id, 0), band.strip.cell_w)
    for sheet in sheets:
        wide = {
            one.id: replace(one, strip=replace(one.strip, cell_w=cells[one.id]))
            for one in sheet.bands
        }
        sheet.entries.update(wide)
    bands = [band for sheet in sheets for band in sheet.bands]
    lines = [one[0] for sheet in sheets for one in sheet.entries.values() if isinstance(one, tuple)]
    at = _columns(bands, [row for sheet in sheets for row in sheet.rows], lines)
    places: dict[str, float] = {}
    heights: dict[str, float] = {}
    for sheet in sheets:
        for name, one in sheet.entries.items():
            high = (
                PACK
                if isinstance(one, tuple)
                else one.height + 8
                if isinstance(one, Row)
                else one.above(at)
            )
            heights[name] = max(heights.get(name, 0), high)
    heights |= _rows_placed(bands, heights, places)
    y = PAD + (36.0 if heights else 0)
    for names in _kept([sheet.entries for sheet in sheets]):
        places |= dict.fromkeys(names, y)
        y += max(heights[name] for name in names) + GAP
    notes = [note for sheet in sheets for note in sheet.notes]
    right = at.right + 2 * PAD if heights else 0
    least = max((text_width(line) for line, _ in notes), default=0) + 2 * PAD
    high = y + 18 * max((len(sheet.notes) for sheet in sheets), default=0) + PAD - GAP + 4
    return sheets, Stage(at, places, y, (max(right, least, 200), high))


def _rows_placed(
    bands: list[Drawn], above: Mapping[str, float], places: dict[str, float]
) -> dict[str, float]:
    """Put the rows of each storage into `places`; gives back how high each storage is."""
    steps: dict[str, list[Drawn]] = {}
    for band in bands:
        steps.setdefault(band.id, []).append(band)
    bottoms = {}
    for sid, looks in steps.items():
        tall: dict[str, float] = {}
        for row in (row for band in looks for row in band.rows):
            tall[row.id] = max(tall.get(row.id, 0), row.height)
        y = above[sid]
        shared = {
            band.rows[k].id: one.id for band in looks for one in band.counters for k in one.rows
        }
        kept = _kept([[row.id for row in band.rows] for band in looks])
        # Those that share a counter stand together: its box would cover that of a row in between.
        first = {shared.get(rows[0]): k for k, rows in reversed([*enumerate(kept)])}
        for rows in sorted(kept, key=lambda rows: first[shared.get(rows[0])]):
            places |= {f"{sid} {row}": y for row in rows}
            y += max(tall[row] for row in rows)
        bottoms[sid] = y + 4
    return bottoms


@lru_cache(maxsize=1024)
def _drawn(
    band: Drawn, at: Columns, y: float, rows: tuple[float, ...]
) -> tuple[str, frozenset[str]]:
    """A band's elements and their kinds: of 24 steps, in which most bands stay as they are, in 40 ms instead of 70."""
    canvas = Canvas()
    band.draw(canvas, at, y, rows)
    return "".join(canvas.parts), frozenset(canvas.kinds)


def _draw(sheet: Sheet, stage: Stage) -> str:
    canvas, at = Canvas(), stage.at
    if sheet.entries:
        canvas.text(PAD + 8, PAD + 26, gettext("names"), "m")
        canvas.text(at.strip_x, PAD + 12, gettext("storage (cells)"), "m")
        canvas.text(at.strip_x, PAD + 26, gettext("tensors"), "m")
        canvas.text(at.right, PAD + 26, gettext("version counter"), "m e")
    for name, one in sheet.entries.items():
        y = stage.places[name]
        if isinstance(one, Drawn):
            parts, kinds = _drawn(
                one, at, y, tuple(stage.places[f"{name} {row.id}"] for row in one.rows)
            )
            canvas.parts.append(parts)
            canvas.kinds |= kinds
        elif isinstance(one, Row):
            canvas.rect(PAD, y, at.right, one.height + 8, "band dash", 8)
            one.draw(canvas, at, y + 4 + TOP, at.strip_x)
        else:
            said, wrong = one
            canvas.rect(PAD, y, at.right, PACK, "bad" if wrong else "card dash", 8)
            if wrong:
                canvas.mark("cross", PAD + 16, y + 18)
            canvas.text(
                PAD + 28,
                y + 22,
                said,
                "bad-t s b" if wrong else "t s",
                columns_that_fit(at.right - 50, "s"),
            )
    for k, (line, note) in enumerate(sheet.notes):
        canvas.text(PAD, stage.foot + 18 * k + 12, line, "m", whole=note)
    there = [one for one in sheet.entries.values() if not isinstance(one, Row)]
    summary = "; ".join(one.title if isinstance(one, Drawn) else one[0] for one in there)
    summary = (
        gettext("Memory: {storages}", storages=summary)
        if there
        else gettext("Memory picture without tensors")
    )
    return canvas.svg(*stage.size, summary, sheet.whole)


def _columns(bands: list[Drawn], rows: list[Row], lines: list[str]) -> Columns:
    names_w = max([NAMES_W, *(_pill_width(name) for row in rows for name, _ in row.pills)])
    # What is below the first line may run on below a counter, where that is not shared with the next row.
    shared = [
        band.rows[k].words_w()
        for band in bands
        for counter in band.counters
        for k in counter.rows[:-1]
    ]
    strip_w = max(
        [STRIP_W, *(band.strip.width for band in bands), *(row.words_w(1) for row in rows), *shared]
    )
    strip_x = PAD + 8 + names_w + ARROW
    count_w = BRACKET + max(
        (counter.box_w for band in bands for counter in band.counters), default=0.0
    )
    lines_w = min(max((text_width(line, "s b") + 50 for line in lines), default=0.0), LINE_W)
    right = max(strip_x + max(strip_w + 6 + count_w, *(row.words_w() for row in rows), 0), lines_w)
    return Columns(strip_x, right - count_w, right)


def _band(changed: Changes, band: Band, seen: Shelf) -> Drawn:
    snap, storage, members = changed.now, band.storage, band.members
    strip, lanes = strip_of(storage, members, changed.earlier_cells.get(storage.id, {}))
    sharing: dict[str, list[int]] = {}
    for k, one in enumerate(members):
        if snap.shows_counter(one):
            sharing.setdefault(one.counter or one.id, []).append(k)
    firsts = [(members[rows[0]], rows) for rows in sharing.values()]
    objects = (
        [gettext("{number} storage objects", number=storage.objects)] if storage.objects > 1 else []
    )
    more = (
        [ngettext("and {number} tensor more", "and {number} tensors more", band.more)]
        if band.more
        else []
    )
    return Drawn(
        storage.id,
        title(snap, members, usual=True),
        ", ".join([*unusual(storage), *objects, *storage.notes, *more]),
        strip,
        tuple(_row(changed, one, seen, lane) for one, lane in zip(members, lanes, strict=True)),
        tuple(
            Count(one.counter, one.version, changed.earlier_version_of(one.counter), tuple(rows))
            for one, rows in firsts
        ),
    )


def _row(changed: Changes, tensor: Tensor, seen: Shelf, lane: Lane | None) -> Row:
    snap, new, sizes = changed.now, tensor.id in changed.new_tensors, tensor.shape or ()
    flag = "found" if tensor.id in seen.found else ""
    renamed = set(map(escape_name, changed.rebound_names | changed.added_names))
    pills = tuple(map(escape_name, tensor.names)) or (snap.label(tensor.id),)
    geometry = gettext(
        "{shape} stride {stride}",
        shape=format_shape(tensor.shape),
        stride=format_shape(tensor.stride),
    )
    offset = gettext("offset {offset}", offset=tensor.offset) if tensor.offset else ""
    base = "" if tensor.base is None else cut_middle(snap.label(tensor.base), NAME_COLUMNS)
    standing = ", ".join(
        filter(
            None,
            [offset, standing_of(tensor), gettext("view of {base}", base=base) if base else ""],
        )
    )
    ink = (
        "leaf-t s b"
        if tensor.is_leaf and tensor.requires_grad
        else "t s"
        if tensor.requires_grad
        else "m s"
    )
    below = [*([(standing, ink)] if standing else []), *_remarks(changed, tensor, seen)]
    return Row(
        tensor.id,
        pills=tuple((name, "new" if new or name in renamed else flag) for name in pills),
        named=bool(tensor.names),
        lines=(
            (cut_middle(geometry, GEOMETRY), "t mono s", geometry),
            *((line, kind, said) for said, kind in below for line in wrap_text(said, WORDS, 8)),
        ),
        lane=lane,
        # One dimension is seen in the lane.
        grid=sizes if len(sizes) == 2 and tensor.numel else (0, 0),
    )


def _remarks(changed: Changes, tensor: Tensor, seen: Shelf) -> list[tuple[str, str]]:
    """Lines under the card: what changed, what is wrong, where the gradient is."""
    snap = changed.now
    fresh = [*facts(changed, tensor.id, IN_MEMORY), *rebound(changed, tensor)]
    plain = []
    if tensor.numel > ARCS and tensor.jumps_in_storage():
        cells = ", ".join(str(byte // tensor.itemsize) for _, byte in tensor.elements(ARCS))
        plain.append(gettext("walks cells {cells}, ...", cells=cells))
    plain += tensor.notes
    if tensor.grad is not None and tensor.grad not in snap.shown:
        plain.append(gettext(".grad is {grad}", grad=snap.label(tensor.grad)))
    wrong = [(sentence, "bad-t s b") for sentence in seen.bad.get(tensor.id, ())]
    return [*((fact, "new-t s b") for fact in fresh), *wrong, *((one, "m s") for one in plain)]


def _pill_width(name: str) -> float:
    return max(26.0, text_width(cut_middle(name, NAME_COLUMNS), "mono b") + 16)
