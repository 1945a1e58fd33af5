"""The memory picture: names, the tensors they stand for, the storages these look into.

Each storage is a band of its own, with its cells in a strip. A tensor is a row in the band of its storage; under each
cell that it covers stands the index of its element. A version counter is a box at the right end of the rows of the
tensors that share it. So what shares memory stands in one band, and no line crosses another.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from ..catalogue import gettext, ngettext
from ..diff import Changes, changes
from ..entries import Band, Pack, Shelf
from ..explain import troubles
from ..labels import called, columns_in, cut, shape, shorten, width, wrap
from ..read.records import Snapshot, Tensor
from ..read.snapshot import read
from ..text import memory_text, pack_text
from ..words import IN_MEMORY, below_memory, facts, pack_line, rebound, standing_of, stored, title, unusual
from .picture import Folded, Picture
from .strip import ARCS, Lane, Strip, strip_of
from .style import Canvas

GAP, PAD, ARROW = 12, 14, 30
ROW, LINE, PILL = 44, 15, 22
NAME_COLUMNS = 30
TITLE_ROW, TITLE_ROWS = 17, 2
GRID, SQUARE = (4, 8), 8
"""So many rows and columns of a tensor are drawn, and how large an element of it is."""
GEOMETRY, REMARK, HISTORY = 60, 60, 80
COUNT_W = 104
PACK, LINE_W = 36, 900
"""How high the line is that stands for several storages, and how wide it makes a picture at most."""


def memory(
    *tensors: Any, since: Snapshot | None = None, values: Any = True, find: str = "", fold: bool = True, **named: Any
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
    return memory_of(changes(read(tensors, named, sys._getframe(1), since, values), since), find, fold)


def memory_of(changed: Changes, find: str = "", fold: bool = True) -> Picture:
    """The memory picture of a snapshot that was compared with an earlier one."""
    return next(memories_of([changed], find, fold))


def memories_of(run: Iterable[Changes], find: str = "", fold: bool = True) -> Iterator[Picture]:
    """The memory pictures of the steps of a run: as large as each other, and what stays keeps its place."""
    looks = [(changed, stored(changed, find, fold)) for changed in run]
    made = cache(lambda: _staged([_sheet(changed, seen) for changed, seen in looks]))
    for step, (changed, seen) in enumerate(looks):
        yield Picture(
            partial(lambda step, theme: _draw(made()[0][step], made()[1], theme), step),
            partial(memory_text, changed, seen),
            partial(lambda changed, seen: _folds(changed, seen.entries, troubles(changed.now)), changed, seen),
        )


def _folds(changed: Changes, entries: Sequence[Band | Pack], bad: dict[str, tuple[str, ...]]) -> list[Folded]:
    def opened(pack: Pack) -> tuple[str, str, list[Folded]]:
        return "", pack_text(changed, pack, bad), _folds(changed, pack.inside, bad)

    return [Folded(pack_line(changed, one, bad), partial(opened, one)) for one in entries if isinstance(one, Pack)]


class Columns(NamedTuple):
    """Where the columns of a picture stand, in px; they are as wide as the widest of all rows."""

    names_x: float
    names_w: float
    card_x: float
    card_w: float
    grid_w: float
    strip_x: float
    count_x: float


@dataclass(frozen=True)
class Row:
    """One tensor: its names, its card, the remarks under the card, its lane below the cells."""

    id: str
    pills: tuple[tuple[str, str], ...]
    """Its names, each with "new", "found" or nothing to say of it."""
    named: bool
    geometry: str
    standing: str
    ink: str
    remarks: tuple[tuple[str, str, str], ...]
    """Lines: what they say, how they look, the whole sentence."""
    lane: Lane | None
    grid: tuple[int, int]
    """Its rows and columns; none where it has more than two dimensions, or no elements."""

    @property
    def step(self) -> int:
        """From one name of a tensor to the next: with room for what is said above one."""
        return PILL + (14 if any(flag for _, flag in self.pills[1:]) else 4)

    @property
    def height(self) -> float:
        """The height, with the lane below its cells."""
        lines, pills = len(self.remarks), (len(self.pills) - 1) * self.step
        walk = 16 if self.lane is not None and self.lane.walks else 0
        return max(ROW + lines * LINE + (5 if lines else 0), ROW + pills, ROW + walk)

    @property
    def card_w(self) -> float:
        """How wide the card has to be."""
        geometry, standing = cut(self.geometry, GEOMETRY), shorten(self.standing, HISTORY)
        return max(width(geometry, "mono s"), width(standing, self.ink)) + 16

    def draw(self, canvas: Canvas, at: Columns, middle: float) -> None:
        """Names, arrow, card and remarks."""
        dashed = "" if self.named else " dash"
        right = at.names_x + at.names_w
        for k, (name, flag) in enumerate(self.pills):
            y = middle + k * self.step
            w = _pill_width(name)
            x = right - w
            canvas.rect(x, y - PILL / 2, w, PILL, "name" + " fresh" * bool(flag) + dashed, 11, self.id)
            canvas.text(x + w / 2, y + 4, cut(name, NAME_COLUMNS), "t mono b c", whole=name)
            if flag:
                canvas.text(x + w / 2, y - PILL / 2 - 3, gettext(flag), "new-t s b c")
            if k == 0:
                canvas.arrow(right, y, at.card_x - 2, y)
            else:
                bend = right + ARROW / 2
                canvas.line([(right, y), (bend, y), (bend, middle)], "arrow")
        canvas.rect(at.card_x, middle - 18, at.card_w, 36, "card" + dashed, 5)
        self._grid(canvas, at.card_x + 8, middle)
        x = at.card_x + at.grid_w + 8
        # The offset, which may be all that tells views apart, stands at the end and is kept.
        y = middle - 4 if self.standing else middle + 4
        canvas.text(x, y, cut(self.geometry, GEOMETRY), "t mono s", whole=self.geometry)
        if self.standing:
            canvas.text(x, middle + 11, self.standing, self.ink, HISTORY)
        for k, (text, kind, whole) in enumerate(self.remarks):
            y = middle + 31 + k * LINE
            bad = kind.startswith("bad")
            if bad and whole.startswith(text):
                canvas.mark("cross", at.card_x + 6, y - 4)
            canvas.text(at.card_x + (16 if bad else 8), y, text, kind, whole=whole)

    @property
    def grid_w(self) -> float:
        """How wide its elements are, drawn as rows and columns."""
        rows, columns = self.grid
        return (
            min(columns, GRID[1]) * SQUARE + (14 if (rows, columns) > GRID or columns > GRID[1] else 8) if rows else 0
        )

    def _grid(self, canvas: Canvas, x: float, middle: float) -> None:
        """Its elements as rows and columns; of many the first, and dots."""
        rows, columns = (min(of, most) for of, most in zip(self.grid, GRID, strict=True))
        top = middle - rows * SQUARE / 2
        for k in range(rows * columns):
            row, column = divmod(k, columns)
            canvas.rect(x + column * SQUARE, top + row * SQUARE, SQUARE - 1, SQUARE - 1, "view", 1, self.id)
        if (rows, columns) != self.grid:
            canvas.text(x + columns * SQUARE + 1, middle + 14, "…", "m s")


class Count(NamedTuple):
    """A version counter, or what there is to say where none is known, and the rows of the tensors that share it."""

    id: str | None
    version: int | None
    was: int | None
    rows: tuple[int, ...]

    def draw(self, canvas: Canvas, x: float, rows: list[float], start: float) -> None:
        """The box, and the lines to it from its rows."""
        top, bottom = rows[0], rows[-1]
        middle = (top + bottom) / 2
        for y in rows:
            canvas.line([(start, y), (x, y)], "count-l")
        if len(rows) > 1:
            canvas.line([(x, top), (x, bottom)], "count-l")
        canvas.line([(x, middle), (x + 14, middle)], "count-l")
        kind, ink = ("count", "count-t") if self.was is None else ("new", "new-t")
        canvas.rect(x + 14, middle - 18, COUNT_W - 14, 36, kind if self.id else "card dash", 5)
        if self.id is None:
            known = self.version is not None
            first = gettext("version {version}", version=self.version) if known else gettext("no counter")
            canvas.text(x + 20, middle - 3, first, "t s")
            canvas.text(x + 20, middle + 11, gettext("shared? not known") if known else gettext("inference"), "m s")
            return
        below = gettext("version") if self.was is None else gettext("was {value}", value=self.was)
        # The version stands in a window of its own, like the digit of a mileage counter.
        window = max(20.0, width(str(self.version), "mono b l") + 10)
        canvas.text(x + 20, middle - 4, self.id, f"{ink} s b")
        canvas.text(x + 20, middle + 9, below, f"{ink} s")
        canvas.rect(x + COUNT_W - window - 6, middle - 12, window, 24, "card", 3)
        canvas.text(x + COUNT_W - window / 2 - 6, middle + 5, str(self.version), f"{ink} mono b l c")


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
        return TITLE_ROW * len(heads) + 10 + max(self.strip.height, LINE * len(notes)) + 6

    def draw(self, canvas: Canvas, at: Columns, y: float, rows: Sequence[float]) -> None:
        """Draw the band with its upper edge at y, and its rows so far below that."""
        badge = width(self.id, "mono b") + 14
        text_x = PAD + badge + 16
        heads, notes = self._head(at)
        low = y + TITLE_ROW * len(heads) + 10
        bottom = max(start + row.height for start, row in zip(rows, self.rows, strict=True)) + 4
        canvas.rect(PAD, y, at.count_x + COUNT_W, bottom, "band", 8)
        canvas.rect(PAD + 8, y + 8, badge, 18, "cell", 4)
        canvas.text(PAD + 8 + badge / 2, y + 21, self.id, "t mono b c")
        for k, line in enumerate(heads):
            # What was cut is to be read by pointing at it.
            whole = self.title if " ".join(heads) != self.title else ""
            canvas.text(text_x, y + 21 + k * TITLE_ROW, line, "t b l", whole=whole)
        for k, line in enumerate(notes):
            canvas.text(text_x, low + 12 + k * LINE, line, "m s")
        self.strip.draw(canvas, at.strip_x, low)
        middles = [y + start + ROW / 2 - 2 for start in rows]
        for row, lane, middle in zip(self.rows, self.strip.lanes, middles, strict=True):
            row.draw(canvas, at, middle)
            canvas.arrow(at.card_x + at.card_w, middle, at.strip_x - 4, middle)
            self.strip.draw_lane(canvas, at.strip_x, middle - ROW / 2 + 6, lane, row.id)
        for counter in self.counters:
            counter.draw(
                canvas, at.count_x, [middles[k] for k in counter.rows], at.strip_x + max(self.strip.width, 82) + 6
            )

    def _head(self, at: Columns) -> tuple[list[str], list[str]]:
        """The lines of a band's title, above the cells, and of the note, beside them."""
        x = 2 * PAD + width(self.id, "mono b") + 16
        heads = wrap(self.title, columns_in(PAD + at.count_x + COUNT_W - x - 10, "b l"), TITLE_ROWS)
        return heads, wrap(self.note, columns_in(at.strip_x - x - 10, "s"), 4) if self.note else []


class Sheet(NamedTuple):
    """What one picture shows, before anything in it has a place: its entries, each under the name that it keeps."""

    entries: dict[str, Drawn | Row | tuple[str, bool]]
    """A storage, a tensor without one, or a line for several storages and whether one of them is in trouble."""
    notes: list[str]
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
    snap, bad = changed.now, troubles(changed.now)
    entries: dict[str, Drawn | Row | tuple[str, bool]] = {}
    for k, one in enumerate(seen.entries):
        if isinstance(one, Band):
            entries[one.storage.id] = _band(changed, one, bad, seen.found)
        else:
            entries[f"pack {k}"] = pack_line(changed, one, bad), any(tensor.id in bad for tensor in one.tensors)
    loose = [tensor for tensor in snap.named if tensor.storage is None]
    entries |= {tensor.id: _row(changed, tensor, bad, None, seen.found) for tensor in loose}
    shown = snap.shown | {tensor.id for tensor in loose}
    notes = below_memory(changed, shown, seen) if shown else [gettext("no tensors to show")]
    return Sheet(entries, notes, seen.whole)


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
        wide = {one.id: replace(one, strip=one.strip.as_wide(cells[one.id])) for one in sheet.bands}
        sheet.entries.update(wide)
    at = _columns([band for sheet in sheets for band in sheet.bands], [row for sheet in sheets for row in sheet.rows])
    lines = [one[0] for sheet in sheets for one in sheet.entries.values() if isinstance(one, tuple)]
    at = at._replace(
        count_x=max(at.count_x, min(max((width(one, "s b") + 50 for one in lines), default=0.0), LINE_W) - COUNT_W)
    )
    places: dict[str, float] = {}
    heights: dict[str, float] = {}
    for sheet in sheets:
        for name, one in sheet.entries.items():
            high = PACK if isinstance(one, tuple) else one.height + 8 if isinstance(one, Row) else one.above(at)
            heights[name] = max(heights.get(name, 0), high)
    heights |= _rows_placed([band for sheet in sheets for band in sheet.bands], heights, places)
    y = PAD + (24.0 if heights else 0)
    for names in _kept([sheet.entries for sheet in sheets]):
        places |= dict.fromkeys(names, y)
        y += max(heights[name] for name in names) + GAP
    notes = [note for sheet in sheets for note in sheet.notes]
    right = at.count_x + COUNT_W + 2 * PAD if heights else 0
    least = max((width(note) for note in notes), default=0) + 2 * PAD
    high = y + 18 * max((len(sheet.notes) for sheet in sheets), default=0) + PAD - GAP + 4
    return sheets, Stage(at, places, y, (max(right, min(least, 760), 320), high))


def _rows_placed(bands: list[Drawn], above: Mapping[str, float], places: dict[str, float]) -> dict[str, float]:
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
        shared = {band.rows[k].id: one.id for band in looks for one in band.counters for k in one.rows}
        kept = _kept([[row.id for row in band.rows] for band in looks])
        # Those that share a counter stand together: its box would cover that of a row in between.
        first = {shared.get(rows[0]): k for k, rows in reversed([*enumerate(kept)])}
        for rows in sorted(kept, key=lambda rows: first[shared.get(rows[0])]):
            places |= {f"{sid} {row}": y for row in rows}
            y += max(tall[row] for row in rows)
        bottoms[sid] = y + 4
    return bottoms


@lru_cache(maxsize=1024)
def _drawn(band: Drawn, at: Columns, y: float, rows: tuple[float, ...]) -> tuple[str, frozenset[str]]:
    """A band's elements and their kinds: from step to step of a program most bands stay as they are."""
    canvas = Canvas()
    band.draw(canvas, at, y, rows)
    return "".join(canvas.parts), frozenset(canvas.kinds)


def _draw(sheet: Sheet, stage: Stage, theme: str | None) -> str:
    canvas, at = Canvas(), stage.at
    if sheet.entries:
        headings = gettext("names"), gettext("tensors"), gettext("storage (cells)"), gettext("version counter")
        for x, word in zip((at.names_x, at.card_x, at.strip_x, at.count_x + 14), headings, strict=True):
            canvas.text(x, PAD + 12, word, "m")
    for name, one in sheet.entries.items():
        y = stage.places[name]
        if isinstance(one, Drawn):
            parts, kinds = _drawn(one, at, y, tuple(stage.places[f"{name} {row.id}"] for row in one.rows))
            canvas.parts.append(parts)
            canvas.kinds |= kinds
        elif isinstance(one, Row):
            canvas.rect(PAD, y, at.count_x + COUNT_W, one.height + 8, "band dash", 8)
            one.draw(canvas, at, y + 4 + ROW / 2)
        else:
            _line(canvas, at, y, *one)
    for k, note in enumerate(sheet.notes):
        canvas.text(PAD, stage.foot + 18 * k + 12, note, "m", 110)
    said = [
        one.title if isinstance(one, Drawn) else one[0] for one in sheet.entries.values() if not isinstance(one, Row)
    ]
    summary = gettext("Memory: {storages}", storages="; ".join(said))
    return canvas.svg(*stage.size, summary if said else gettext("Memory picture without tensors"), theme, sheet.whole)


def _line(canvas: Canvas, at: Columns, y: float, said: str, wrong: bool) -> None:
    """A line that stands for several storages."""
    canvas.rect(PAD, y, at.count_x + COUNT_W, PACK, "bad" if wrong else "card dash", 8)
    if wrong:
        canvas.mark("cross", PAD + 16, y + 18)
    room = columns_in(at.count_x + COUNT_W - 50, "s")
    canvas.text(PAD + 28, y + 22, said, "bad-t s b" if wrong else "t s", room)


def _columns(bands: list[Drawn], rows: list[Row]) -> Columns:
    names_w = max((_pill_width(name) for row in rows for name, _ in row.pills), default=40)
    card_w = max((row.card_w for row in rows), default=100.0)
    grid_w = max((row.grid_w for row in rows), default=0.0)
    card_w += grid_w
    strip_w = max(90.0, *(band.strip.width for band in bands), 0)
    # Remarks stand under a card and may run on below the cells, up to the version counters.
    remarks = max((width(text, kind) for row in rows for text, kind, _ in row.remarks), default=0.0)
    strip_w = max(strip_w, remarks + 16 - card_w - ARROW)
    names_x = 2 * PAD
    card_x = names_x + names_w + ARROW
    strip_x = card_x + card_w + ARROW
    return Columns(names_x, names_w, card_x, card_w, grid_w, strip_x, strip_x + strip_w + 18)


def _band(changed: Changes, band: Band, bad: dict[str, tuple[str, ...]], found: frozenset[str]) -> Drawn:
    snap, storage, members = changed.now, band.storage, band.members
    strip = strip_of(storage, members, changed.cells.get(storage.id, {}))
    counters: dict[str, Count] = {}
    for k, one in enumerate(members):
        if not snap.counted(one):
            continue
        which = one.counter or one.id
        if which in counters:
            counters[which] = counters[which]._replace(rows=(*counters[which].rows, k))
        elif one.counter is None:
            counters[which] = Count(None, one.version, None, (k,))
        else:
            counter = snap.counter(one.counter)
            counters[which] = Count(counter.id, counter.version, changed.version_of(counter), (k,))
    objects = [gettext("{number} storage objects", number=storage.objects)] if storage.objects > 1 else []
    more = [ngettext("and {number} tensor more", "and {number} tensors more", band.more)] if band.more else []
    return Drawn(
        storage.id,
        title(snap, members, usual=True),
        ", ".join([*unusual(storage), *objects, *storage.notes, *more]),
        strip,
        tuple(_row(changed, one, bad, lane, found) for one, lane in zip(members, strip.lanes, strict=True)),
        tuple(counters.values()),
    )


def _row(
    changed: Changes, tensor: Tensor, bad: dict[str, tuple[str, ...]], lane: Lane | None, found: frozenset[str]
) -> Row:
    snap, new = changed.now, tensor.id in changed.new
    flag = "found" if tensor.id in found else ""
    renamed = set(map(called, changed.rebound | changed.added))
    pills = tuple(map(called, tensor.names)) or (snap.label(tensor.id),)
    geometry = gettext("{shape} stride {stride}", shape=shape(tensor.shape), stride=shape(tensor.stride))
    if tensor.offset:
        geometry += " " + gettext("offset {offset}", offset=tensor.offset)
    base = "" if tensor.base is None else cut(snap.label(tensor.base), NAME_COLUMNS)
    standing = [standing_of(tensor)] + [gettext("view of {base}", base=base)] * bool(base)
    return Row(
        tensor.id,
        pills=tuple((name, "new" if new or name in renamed else flag) for name in pills),
        named=bool(tensor.names),
        geometry=geometry,
        standing=", ".join(filter(None, standing)),
        ink="leaf-t s b" if tensor.is_leaf and tensor.requires_grad else "t s" if tensor.requires_grad else "m s",
        remarks=tuple(
            (line, kind, said) for said, kind in _remarks(changed, tensor, bad) for line in wrap(said, REMARK, 6)
        ),
        lane=lane,
        grid=_grid(tensor),
    )


def _grid(tensor: Tensor) -> tuple[int, int]:
    sizes = tensor.shape or ()
    known = tensor.shape is not None and len(sizes) < 3 and tensor.numel
    return (1, 1, *sizes)[-2:] if known else (0, 0)  # type: ignore[return-value]


def _remarks(changed: Changes, tensor: Tensor, bad: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Lines under the card: what changed, what is wrong, where the gradient is."""
    snap = changed.now
    fresh = [*facts(changed, tensor.id, IN_MEMORY), *rebound(changed, tensor)]
    plain = []
    if tensor.stride is not None and tensor.numel > ARCS and tensor.repeats() == 1 and not tensor.in_order():
        cells = ", ".join(str(byte // tensor.itemsize) for _, byte in tensor.elements(ARCS))
        plain.append(gettext("walks cells {cells}, ...", cells=cells))
    plain += tensor.notes
    if tensor.grad is not None and tensor.grad not in snap.shown:
        plain.append(gettext(".grad is {grad}", grad=snap.label(tensor.grad)))
    wrong = [(sentence, "bad-t s b") for sentence in bad.get(tensor.id, ())]
    return [*((fact, "new-t s b") for fact in fresh), *wrong, *((one, "m s") for one in plain)]


def _pill_width(name: str) -> float:
    return max(26.0, width(cut(name, NAME_COLUMNS), "mono b") + 16)
