"""The memory picture: names, the tensors they stand for, the storages these look into.

Each storage is a band of its own, with its cells in a strip. A tensor is a row in the
band of its storage; under each cell that it covers stands the index of its element.
A version counter is a box at the right end of the rows of the tensors that share it.
So what shares memory stands in one band, and no line crosses another.
"""

from __future__ import annotations

import sys
from typing import Any

from . import words
from .changes import Changes, changes
from .picture import Picture
from .records import Snapshot, Storage, Tensor
from .snapshot import read
from .strip import ARCS, Strip
from .style import Canvas, columns_in, cut, shorten, width, wrap
from .text import footer, memory_text
from .trouble import troubles

PAD, GAP, ARROW = 14, 12, 30
ROW, LINE, PILL = 44, 15, 22
NAME_COLUMNS = 30
TITLE, TITLE_ROW, TITLE_ROWS = 400, 17, 3
REMARK, HISTORY = 100, 80
HEAD_EDGE = 40
"""What a title beside the cells needs besides its own width, the badge with the storage's id apart."""


def memory(*tensors: Any, since: Snapshot | None = None, **named: Any) -> Picture:
    """Draw names, tensors, storages and version counters; the arguments are those of `snapshot`.

    A snapshot may be given instead. With `since`, an earlier snapshot, what changed is marked.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    snap = read(tensors, named, sys._getframe(1), since)
    return Picture(lambda theme: _Drawing(snap, since).svg(theme), lambda: memory_text(snap, since))


class _Drawing:
    def __init__(self, snap: Snapshot, since: Snapshot | None) -> None:
        self.snap = snap
        self.changes: Changes = changes(snap, since)
        self.bad = troubles(snap)
        self.canvas = Canvas()
        self.bands = words.shown_storages(snap)
        self.strips = [
            Strip(storage, members, self.changes.cells.get(storage.id, {})) for storage, members in self.bands
        ]
        members = [tensor for _, inside in self.bands for tensor in inside]
        self.loose = [tensor for tid in dict(snap.names).values() if (tensor := snap.tensor(tid)).storage is None]
        everyone = members + self.loose
        self.names_w = max((self._pill_width(name) for one in everyone for name in words.pills(snap, one)), default=40)
        self.card_w = max((self._card_width(one) for one in everyone), default=100.0)
        # Titles stand above names and cards, beside the cells: room for all but the longest, which go above the cells.
        heads = (
            max(width(words.title(snap, storage, inside), "b l"), width(_note(storage), "s"))
            for storage, inside in self.bands
        )
        beside = min(max(heads, default=0.0), TITLE) + HEAD_EDGE
        self.card_w = max(self.card_w, beside - self.names_w - ARROW)
        self.strip_w = max(90.0, *(strip.width for strip in self.strips), 0)
        # Remarks stand under a card and may run on below the cells, up to the version counters.
        remarks = max(
            (width(shorten(text, REMARK), kind) for one in everyone for text, kind in self._remarks(one)), default=0.0
        )
        self.strip_w = max(self.strip_w, remarks + 16 - self.card_w - ARROW)
        self.names_x = 2 * PAD
        self.card_x = self.names_x + self.names_w + ARROW
        self.strip_x = self.card_x + self.card_w + ARROW
        self.count_x = self.strip_x + self.strip_w + 18
        self.count_w = 104

    def svg(self, theme: str | None) -> str:
        y = float(PAD)
        summary = _summary(self.snap, self.bands)
        if self.bands or self.loose:
            self._headings(y + 12)
            y += 24
        for (storage, members), strip in zip(self.bands, self.strips, strict=True):
            y = self._band(y, storage, members, strip) + GAP
        for tensor in dict.fromkeys(self.loose):
            y = self._loose(y, tensor) + GAP
        for note in self._footer():
            self.canvas.text(PAD, y + 12, note, "m", 110)
            y += 18
        right = self.count_x + self.count_w + 2 * PAD
        least = max((width(note) for note in self._footer()), default=0) + 2 * PAD
        return self.canvas.svg(max(right if self.bands else 0, min(least, 760), 320), y + PAD - GAP + 4, summary, theme)

    # -- parts -----------------------------------------------------------------

    def _headings(self, y: float) -> None:
        for x, word in (
            (self.names_x, "names"),
            (self.card_x, "tensors"),
            (self.strip_x, "storage (cells)"),
            (self.count_x + 14, "version counter"),
        ):
            self.canvas.text(x, y, word, "m")

    def _band(self, y: float, storage: Storage, members: list[Tensor], strip: Strip) -> float:
        canvas = self.canvas
        heights = [self._row_height(one, strip) for one in members]
        badge = width(storage.id, "mono b") + 14
        title, note, beside = self._head(storage, members, PAD + badge + 16)
        low = y + 6 + (0 if beside else TITLE_ROW * len(title) + 4)
        rows_y = low + max(strip.height, 40, LINE * len(note) + 6) + 6
        bottom = rows_y + sum(heights) + 4
        canvas.rect(PAD, y, self.count_x + self.count_w, bottom - y, "band", 8)
        canvas.rect(PAD + 8, y + 8, badge, 18, "cell", 4)
        canvas.text(PAD + 8 + badge / 2, y + 21, storage.id, "t mono b c")
        text_x = PAD + badge + 16
        whole = words.title(self.snap, storage, members)
        for k, line in enumerate(title):
            # What was cut is to be read by pointing at it.
            canvas.text(text_x, y + 21 + k * TITLE_ROW, line, "t b l", whole=whole if " ".join(title) != whole else "")
        for k, line in enumerate(note):
            canvas.text(text_x, y + 21 + len(title) * TITLE_ROW + k * LINE - 1, line, "m s")
        strip.draw(canvas, self.strip_x, low)
        row_y = rows_y
        places: dict[str, list[float]] = {}
        for one, height in zip(members, heights, strict=True):
            middle = row_y + ROW / 2 - 2
            self._row(one, middle, row_y)
            canvas.arrow(self.card_x + self.card_w, middle, self.strip_x - 4, middle)
            strip.lane(canvas, self.strip_x, row_y + 4, one)
            if words.counted(self.snap, one):
                places.setdefault(one.counter or one.id, []).append(middle)
            row_y += height
        for which, rows in places.items():
            self._counter(which, rows, self.strip_x + max(strip.width, 82) + 6)
        return bottom

    def _head(self, storage: Storage, members: list[Tensor], x: float) -> tuple[list[str], list[str], bool]:
        """The lines of a band's title and of the note below it; whether both stand beside the cells, or above."""
        title = words.title(self.snap, storage, members)
        note = _note(storage)
        room, all_of_it = self.strip_x - x - 10, PAD + self.count_x + self.count_w - x - 10
        if width(title, "b l") <= room and width(note, "s") <= room:
            return [title], [note], True
        return wrap(title, columns_in(all_of_it, "b l"), TITLE_ROWS), wrap(note, columns_in(room, "s"), 4), False

    def _row_height(self, tensor: Tensor, strip: Strip | None) -> float:
        lines = len(self._remarks(tensor))
        pills = (len(words.pills(self.snap, tensor)) - 1) * self._pill_step(tensor)
        walk = 16 if strip is not None and strip.walks(tensor) else 0
        return max(ROW + lines * LINE + (5 if lines else 0), ROW + pills, ROW + walk)

    def _row(self, tensor: Tensor, middle: float, top: float) -> None:
        canvas = self.canvas
        dashed = "" if tensor.names else " dash"
        fresh = self._fresh(tensor)
        for k, name in enumerate(words.pills(self.snap, tensor)):
            y = middle + k * self._pill_step(tensor)
            w = self._pill_width(name)
            x = self.names_x + self.names_w - w
            new = name in fresh
            canvas.rect(x, y - PILL / 2, w, PILL, ("new" if new else "name") + dashed, 11)
            ink = ("new-t" if new else "name-t") + " mono b c"
            canvas.text(x + w / 2, y + 4, cut(name, NAME_COLUMNS), ink, whole=name)
            if new:
                canvas.text(x + w / 2, y - PILL / 2 - 3, "new", "new-t xs b c")
            if k == 0:
                canvas.arrow(self.names_x + self.names_w, y, self.card_x - 2, y)
            else:
                bend = self.names_x + self.names_w + ARROW / 2
                canvas.line([(self.names_x + self.names_w, y), (bend, y), (bend, middle)], "arrow")
        canvas.rect(self.card_x, middle - 18, self.card_w, 36, "card" + dashed, 5)
        canvas.text(self.card_x + 8, middle - 4, _geometry(tensor), "t mono s", 60)
        kind = "leaf-t s b" if tensor.is_leaf and tensor.requires_grad else "t s" if tensor.requires_grad else "m s"
        canvas.text(self.card_x + 8, middle + 11, _standing(self.snap, tensor), kind, HISTORY)
        for k, (text, kind) in enumerate(self._remarks(tensor)):
            y = middle + 31 + k * LINE
            if kind.startswith("bad"):
                canvas.cross(self.card_x + 6, y - 4, "bad-l")
            canvas.text(self.card_x + (16 if kind.startswith("bad") else 8), y, text, kind, REMARK)

    def _counter(self, which: str, rows: list[float], start: float) -> None:
        canvas = self.canvas
        x = self.count_x
        top, bottom = rows[0], rows[-1]
        middle = (top + bottom) / 2
        counters = [one for one in self.snap.counters if one.id == which]
        for y in rows:
            canvas.line([(start, y), (x, y)], "count-l")
        if len(rows) > 1:
            canvas.line([(x, top), (x, bottom)], "count-l")
        canvas.line([(x, middle), (x + 14, middle)], "count-l")
        if not counters:
            tensor = self.snap.tensor(which)
            canvas.rect(x + 14, middle - 18, self.count_w - 14, 36, "card dash", 5)
            first = "no counter" if tensor.version is None else f"version {tensor.version}"
            second = "inference" if tensor.version is None else "shared? not known"
            canvas.text(x + 20, middle - 3, first, "t s")
            canvas.text(x + 20, middle + 11, second, "m xs")
            return
        counter = counters[0]
        was = next((self.changes.versions[tid] for tid in counter.tensors if tid in self.changes.versions), None)
        kind, ink = ("count", "count-t") if was is None else ("new", "new-t")
        canvas.rect(x + 14, middle - 18, self.count_w - 14, 36, kind, 5)
        # The version stands in a window of its own, like the digit of a mileage counter.
        window = max(20.0, width(str(counter.version), "mono b l") + 10)
        canvas.text(x + 20, middle - 4, counter.id, f"{ink} s b")
        canvas.text(x + 20, middle + 9, "version" if was is None else f"was {was}", f"{ink} xs")
        canvas.rect(x + self.count_w - window - 6, middle - 12, window, 24, "card", 3)
        canvas.text(x + self.count_w - window / 2 - 6, middle + 5, str(counter.version), f"{ink} mono b l c")

    def _loose(self, y: float, tensor: Tensor) -> float:
        bottom = y + self._row_height(tensor, None) + 8
        self.canvas.rect(PAD, y, self.count_x + self.count_w, bottom - y, "band dash", 8)
        self._row(tensor, y + 4 + ROW / 2, y)
        return bottom

    # -- words -----------------------------------------------------------------

    def _remarks(self, tensor: Tensor) -> list[tuple[str, str]]:
        """Lines under the card: what changed, what is wrong, where the gradient is."""
        found = [(fact, "new-t s b") for fact in self.changes.facts.get(tensor.id, ())]
        found += [
            (f"{words.called(name)} is now another tensor", "new-t s b")
            for name in tensor.names
            if name in self.changes.rebound
        ]
        found += [(sentence, "bad-t s b") for sentence in self.bad.get(tensor.id, ())]
        if (
            tensor.stride is not None
            and tensor.numel > ARCS
            and words.repeats(tensor) == 1
            and not words.in_order(tensor)
        ):
            cells = ", ".join(str(byte // tensor.itemsize) for _, byte in words.elements(tensor, ARCS))
            found.append((f"walks cells {cells}, ...", "m s"))
        found += [(note, "m s") for note in tensor.notes]
        if tensor.grad is not None and not any(tensor.grad == t.id for _, inside in self.bands for t in inside):
            found.append((f".grad is {words.label(self.snap, tensor.grad)}", "m s"))
        return found

    def _footer(self) -> list[str]:
        shown = {one.id for _, inside in self.bands for one in inside} | {one.id for one in self.loose}
        return footer(self.snap, self.changes, shown) if shown else ["no tensors to show"]

    def _fresh(self, tensor: Tensor) -> set[str]:
        """The pills to be marked as new."""
        if tensor.id in self.changes.new:
            return set(words.pills(self.snap, tensor))
        return {words.called(name) for name in self.changes.rebound | self.changes.added}

    def _pill_step(self, tensor: Tensor) -> float:
        """From one name of a tensor to the next: with room for "new" above one that is."""
        return PILL + (14 if self._fresh(tensor).intersection(words.pills(self.snap, tensor)[1:]) else 4)

    def _pill_width(self, name: str) -> float:
        return max(26.0, width(cut(name, NAME_COLUMNS), "mono b") + 16)

    def _card_width(self, tensor: Tensor) -> float:
        standing = shorten(_standing(self.snap, tensor), HISTORY)
        return max(width(shorten(_geometry(tensor), 60), "mono s"), width(standing, "s b")) + 16


def _note(storage: Storage) -> str:
    """What stands below a band's title: size and device, and what is unusual."""
    objects = [f"{storage.objects} storage objects"] if storage.objects > 1 else []
    return ", ".join([words.size(storage), *objects, *storage.notes])


def _geometry(tensor: Tensor) -> str:
    return f"shape {words.shape(tensor.shape)} stride {words.shape(tensor.stride)}" + (
        f" offset {tensor.offset}" if tensor.offset else ""
    )


def _standing(snap: Snapshot, tensor: Tensor) -> str:
    """The second line of a card: leaf or result, and the tensor that it is a view of."""
    base = "" if tensor.base is None else f", view of {cut(words.label(snap, tensor.base), NAME_COLUMNS)}"
    return words.history(tensor) + base


def _summary(snap: Snapshot, bands: list[tuple[Storage, list[Tensor]]]) -> str:
    if not bands:
        return "Memory picture without tensors"
    return "Memory: " + "; ".join(words.title(snap, storage, members) for storage, members in bands)
