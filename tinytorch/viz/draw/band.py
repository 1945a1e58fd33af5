"""One band of the memory picture: a storage, the tensors that look into it, their version counters.

What stands in a band does not change from step to step of a program for most of its storages, so a band is worked out
once for all looks in which it says the same, and once drawn at a place it is not drawn there again.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import labels, words
from ..labels import columns_in, cut, shorten, width, wrap
from ..look import Look, Memo, said_of, was
from ..read.records import Snapshot, Storage, Tensor
from .strip import ARCS, Strip
from .style import Canvas

PAD, ARROW = 14, 30
ROW, LINE, PILL = 44, 15, 22
NAME_COLUMNS = 30
TITLE_ROW, TITLE_ROWS = 17, 3
REMARK, HISTORY = 100, 80
COUNT_W = 104


class Columns(NamedTuple):
    """Where the columns of a picture stand, in px; they are as wide as the widest of all rows."""

    names_x: float
    names_w: float
    card_x: float
    card_w: float
    strip_x: float
    count_x: float


class Row:
    """One tensor: its names, its card, the remarks under the card."""

    def __init__(self, look: Look, tensor: Tensor) -> None:
        self.tensor = tensor
        self.pills = words.pills(look.snap, tensor)
        self.fresh = self.pills if tensor.id in look.changes.new else [p for p in self.pills if p in look.renamed]
        self.geometry = _geometry(tensor)
        self.standing = _standing(look.snap, tensor)
        self.remarks = _remarks(look, tensor)
        # From one name of a tensor to the next: with room for "new" above one that is.
        self.step = PILL + (14 if any(pill in self.fresh for pill in self.pills[1:]) else 4)
        self.names_w = max(map(_pill_width, self.pills))
        standing = width(shorten(self.standing, HISTORY), "s b")
        self.card_w = max(width(shorten(self.geometry, 60), "mono s"), standing) + 16
        self.remarks_w = max((width(shorten(text, REMARK), kind) for text, kind in self.remarks), default=0.0)

    def height(self, strip: Strip | None) -> float:
        """The height, with the lane below its cells."""
        lines = len(self.remarks)
        pills = (len(self.pills) - 1) * self.step
        walk = 16 if strip is not None and strip.walks(self.tensor) else 0
        return max(ROW + lines * LINE + (5 if lines else 0), ROW + pills, ROW + walk)

    def draw(self, canvas: Canvas, at: Columns, middle: float) -> None:
        """Names, arrow, card and remarks."""
        tensor = self.tensor
        dashed = "" if tensor.names else " dash"
        for k, name in enumerate(self.pills):
            y = middle + k * self.step
            w = _pill_width(name)
            x = at.names_x + at.names_w - w
            new = name in self.fresh
            canvas.rect(x, y - PILL / 2, w, PILL, ("new" if new else "name") + dashed, 11)
            ink = ("new-t" if new else "name-t") + " mono b c"
            canvas.text(x + w / 2, y + 4, cut(name, NAME_COLUMNS), ink, whole=name)
            if new:
                canvas.text(x + w / 2, y - PILL / 2 - 3, "new", "new-t xs b c")
            if k == 0:
                canvas.arrow(at.names_x + at.names_w, y, at.card_x - 2, y)
            else:
                bend = at.names_x + at.names_w + ARROW / 2
                canvas.line([(at.names_x + at.names_w, y), (bend, y), (bend, middle)], "arrow")
        canvas.rect(at.card_x, middle - 18, at.card_w, 36, "card" + dashed, 5)
        canvas.text(at.card_x + 8, middle - 4, self.geometry, "t mono s", 60)
        kind = "leaf-t s b" if tensor.is_leaf and tensor.requires_grad else "t s" if tensor.requires_grad else "m s"
        canvas.text(at.card_x + 8, middle + 11, self.standing, kind, HISTORY)
        for k, (text, kind) in enumerate(self.remarks):
            y = middle + 31 + k * LINE
            if kind.startswith("bad"):
                canvas.cross(at.card_x + 6, y - 4, "bad-l")
            canvas.text(at.card_x + (16 if kind.startswith("bad") else 8), y, text, kind, REMARK)


class Band:
    """A storage and its tensors."""

    def __init__(self, look: Look, storage: Storage, members: list[Tensor]) -> None:
        self.storage = storage
        self.strip = Strip(storage, members, look.changes.cells.get(storage.id, {}))
        self.rows = [Row(look, one) for one in members]
        self.heights = [row.height(self.strip) for row in self.rows]
        self.title = words.title(look.snap, storage, members)
        self.note = _note(storage)
        self.counters: dict[str, tuple[_Counter, list[int]]] = {}
        for k, one in enumerate(members):
            if look.snap.counted(one):
                which = one.counter or one.id
                if which not in self.counters:
                    self.counters[which] = (_Counter(look, one), [])
                self.counters[which][1].append(k)
        self.head_w = max(width(self.title, "b l"), width(self.note, "s"))
        self._drawn: dict[tuple[float, Columns], tuple[str, set[str], float]] = {}

    def draw(self, canvas: Canvas, at: Columns, y: float) -> float:
        """Draw the band with its upper edge at y; returns the lower one."""
        if (y, at) not in self._drawn:
            own = Canvas()
            bottom = self._draw(own, at, y)
            if len(self._drawn) > 8:
                self._drawn.clear()
            self._drawn[y, at] = ("".join(own.parts), own.kinds, bottom)
        drawn, kinds, bottom = self._drawn[y, at]
        canvas.parts.append(drawn)
        canvas.kinds |= kinds
        return bottom

    def _draw(self, canvas: Canvas, at: Columns, y: float) -> float:
        badge = width(self.storage.id, "mono b") + 14
        text_x = PAD + badge + 16
        title, note, beside = self._head(at, text_x)
        low = y + 6 + (0 if beside else TITLE_ROW * len(title) + 4)
        rows_y = low + max(self.strip.height, 40, LINE * len(note) + 6) + 6
        bottom = rows_y + sum(self.heights) + 4
        canvas.rect(PAD, y, at.count_x + COUNT_W, bottom - y, "band", 8)
        canvas.rect(PAD + 8, y + 8, badge, 18, "cell", 4)
        canvas.text(PAD + 8 + badge / 2, y + 21, self.storage.id, "t mono b c")
        for k, line in enumerate(title):
            # What was cut is to be read by pointing at it.
            whole = self.title if " ".join(title) != self.title else ""
            canvas.text(text_x, y + 21 + k * TITLE_ROW, line, "t b l", whole=whole)
        for k, line in enumerate(note):
            canvas.text(text_x, y + 21 + len(title) * TITLE_ROW + k * LINE - 1, line, "m s")
        self.strip.draw(canvas, at.strip_x, low)
        row_y = rows_y
        middles = []
        for row, height in zip(self.rows, self.heights, strict=True):
            middle = row_y + ROW / 2 - 2
            row.draw(canvas, at, middle)
            canvas.arrow(at.card_x + at.card_w, middle, at.strip_x - 4, middle)
            self.strip.lane(canvas, at.strip_x, row_y + 4, row.tensor)
            middles.append(middle)
            row_y += height
        for counter, rows in self.counters.values():
            counter.draw(canvas, at, [middles[k] for k in rows], at.strip_x + max(self.strip.width, 82) + 6)
        return bottom

    def _head(self, at: Columns, x: float) -> tuple[list[str], list[str], bool]:
        """The lines of a band's title and of the note below it; whether both stand beside the cells, or above."""
        title, note = self.title, self.note
        room, all_of_it = at.strip_x - x - 10, PAD + at.count_x + COUNT_W - x - 10
        if width(title, "b l") <= room and width(note, "s") <= room:
            return [title], [note], True
        return wrap(title, columns_in(all_of_it, "b l"), TITLE_ROWS), wrap(note, columns_in(room, "s"), 4), False


class _Counter:
    """A version counter, or what there is to say where none is known."""

    def __init__(self, look: Look, tensor: Tensor) -> None:
        self.id = tensor.counter
        self.version = tensor.version if tensor.counter is None else look.snap.counter(tensor.counter).version
        self.was = None if tensor.counter is None else was(look.changes, look.snap.counter(tensor.counter))

    def draw(self, canvas: Canvas, at: Columns, rows: list[float], start: float) -> None:
        """The box, and the lines to it from the rows of the tensors that share the counter."""
        x = at.count_x
        top, bottom = rows[0], rows[-1]
        middle = (top + bottom) / 2
        for y in rows:
            canvas.line([(start, y), (x, y)], "count-l")
        if len(rows) > 1:
            canvas.line([(x, top), (x, bottom)], "count-l")
        canvas.line([(x, middle), (x + 14, middle)], "count-l")
        if self.id is None:
            canvas.rect(x + 14, middle - 18, COUNT_W - 14, 36, "card dash", 5)
            first = "no counter" if self.version is None else f"version {self.version}"
            second = "inference" if self.version is None else "shared? not known"
            canvas.text(x + 20, middle - 3, first, "t s")
            canvas.text(x + 20, middle + 11, second, "m xs")
            return
        kind, ink = ("count", "count-t") if self.was is None else ("new", "new-t")
        canvas.rect(x + 14, middle - 18, COUNT_W - 14, 36, kind, 5)
        # The version stands in a window of its own, like the digit of a mileage counter.
        window = max(20.0, width(str(self.version), "mono b l") + 10)
        canvas.text(x + 20, middle - 4, self.id, f"{ink} s b")
        canvas.text(x + 20, middle + 9, "version" if self.was is None else f"was {self.was}", f"{ink} xs")
        canvas.rect(x + COUNT_W - window - 6, middle - 12, window, 24, "card", 3)
        canvas.text(x + COUNT_W - window / 2 - 6, middle + 5, str(self.version), f"{ink} mono b l c")


def _pill_width(name: str) -> float:
    return max(26.0, width(cut(name, NAME_COLUMNS), "mono b") + 16)


def _note(storage: Storage) -> str:
    """What stands below a band's title: size and device, and what is unusual."""
    objects = [f"{storage.objects} storage objects"] if storage.objects > 1 else []
    return ", ".join([words.size(storage), *objects, *storage.notes])


def _geometry(tensor: Tensor) -> str:
    return f"shape {labels.shape(tensor.shape)} stride {labels.shape(tensor.stride)}" + (
        f" offset {tensor.offset}" if tensor.offset else ""
    )


def _standing(snap: Snapshot, tensor: Tensor) -> str:
    """The second line of a card: leaf or result, and the tensor that it is a view of."""
    base = "" if tensor.base is None else f", view of {cut(snap.label(tensor.base), NAME_COLUMNS)}"
    return words.history(tensor) + base


def _remarks(look: Look, tensor: Tensor) -> list[tuple[str, str]]:
    """Lines under the card: what changed, what is wrong, where the gradient is."""
    found = [(fact, "new-t s b") for fact in look.changes.facts.get(tensor.id, ())]
    found += [
        (f"{labels.called(name)} is now another tensor", "new-t s b")
        for name in tensor.names
        if name in look.changes.rebound
    ]
    found += [(sentence, "bad-t s b") for sentence in look.bad.get(tensor.id, ())]
    if tensor.stride is not None and tensor.numel > ARCS and tensor.repeats() == 1 and not tensor.in_order():
        cells = ", ".join(str(byte // tensor.itemsize) for _, byte in tensor.elements(ARCS))
        found.append((f"walks cells {cells}, ...", "m s"))
    found += [(note, "m s") for note in tensor.notes]
    if tensor.grad is not None and tensor.grad not in look.shown:
        found.append((f".grad is {look.snap.label(tensor.grad)}", "m s"))
    return found


_bands: Memo[Band] = Memo(1024)


def band_of(look: Look, storage: Storage, members: list[Tensor]) -> Band:
    """The band of a storage, the very one of an earlier look if it says the same."""
    return _bands.get(said_of(look, storage, members), lambda: Band(look, storage, members))
