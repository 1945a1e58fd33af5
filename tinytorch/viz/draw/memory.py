"""The memory picture: names, the tensors they stand for, the storages these look into.

Each storage is a band of its own, with its cells in a strip. A tensor is a row in the
band of its storage; under each cell that it covers stands the index of its element.
A version counter is a box at the right end of the rows of the tensors that share it.
So what shares memory stands in one band, and no line crosses another.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from .. import words
from ..labels import width
from ..look import Look
from ..read.records import Snapshot, Storage, Tensor
from ..read.snapshot import read
from ..words import footer, told_by
from .band import ARROW, COUNT_W, PAD, ROW, Columns, Row, band_of
from .picture import Picture
from .style import Canvas

GAP = 12
TITLE = 400
HEAD_EDGE = 40
"""What a title beside the cells needs besides its own width, the badge with the storage's id apart."""


def memory(*tensors: Any, since: Snapshot | None = None, **named: Any) -> Picture:
    """Draw names, tensors, storages and version counters; the arguments are those of `snapshot`.

    A snapshot may be given instead. With `since`, an earlier snapshot, what changed is marked.
    Raises TypeError for an argument that is no tensor and holds none.
    """
    snap = read(tensors, named, sys._getframe(1), since)
    look = cache(lambda: Look.at(snap, since))
    return Picture(lambda theme: _Drawing(look()).svg(theme), lambda: told_by(look()))


class _Drawing:
    def __init__(self, look: Look) -> None:
        self.look = look
        snap = look.snap
        self.canvas = Canvas()
        self.storages = snap.shown_storages
        self.bands = [band_of(look, storage, members) for storage, members in self.storages]
        loose = [tensor for tid in dict(snap.names).values() if (tensor := snap.tensor(tid)).storage is None]
        self.loose = [Row(look, tensor) for tensor in dict.fromkeys(loose)]
        rows = [row for band in self.bands for row in band.rows] + self.loose
        names_w = max((row.names_w for row in rows), default=40)
        card_w = max((row.card_w for row in rows), default=100.0)
        # Titles stand above names and cards, beside the cells: room for all but the longest, which go above the cells.
        beside = min(max((band.head_w for band in self.bands), default=0.0), TITLE) + HEAD_EDGE
        card_w = max(card_w, beside - names_w - ARROW)
        strip_w = max(90.0, *(band.strip.width for band in self.bands), 0)
        # Remarks stand under a card and may run on below the cells, up to the version counters.
        remarks = max((row.remarks_w for row in rows), default=0.0)
        strip_w = max(strip_w, remarks + 16 - card_w - ARROW)
        names_x = 2 * PAD
        card_x = names_x + names_w + ARROW
        strip_x = card_x + card_w + ARROW
        self.at = Columns(names_x, names_w, card_x, card_w, strip_x, strip_x + strip_w + 18)

    def svg(self, theme: str | None) -> str:
        """The whole picture."""
        y = float(PAD)
        summary = _summary(self.look.snap, self.storages)
        if self.bands or self.loose:
            self._headings(y + 12)
            y += 24
        for band in self.bands:
            y = band.draw(self.canvas, self.at, y) + GAP
        for row in self.loose:
            y = self._loose(y, row) + GAP
        notes = self._footer()
        for note in notes:
            self.canvas.text(PAD, y + 12, note, "m", 110)
            y += 18
        right = self.at.count_x + COUNT_W + 2 * PAD
        least = max((width(note) for note in notes), default=0) + 2 * PAD
        return self.canvas.svg(max(right if self.bands else 0, min(least, 760), 320), y + PAD - GAP + 4, summary, theme)

    def _headings(self, y: float) -> None:
        for x, word in (
            (self.at.names_x, "names"),
            (self.at.card_x, "tensors"),
            (self.at.strip_x, "storage (cells)"),
            (self.at.count_x + 14, "version counter"),
        ):
            self.canvas.text(x, y, word, "m")

    def _loose(self, y: float, row: Row) -> float:
        bottom = y + row.height(None) + 8
        self.canvas.rect(PAD, y, self.at.count_x + COUNT_W, bottom - y, "band dash", 8)
        row.draw(self.canvas, self.at, y + 4 + ROW / 2)
        return bottom

    def _footer(self) -> list[str]:
        shown = self.look.shown | {row.tensor.id for row in self.loose}
        return footer(self.look.snap, self.look.changes, set(shown)) if shown else ["no tensors to show"]


def _summary(snap: Snapshot, bands: list[tuple[Storage, list[Tensor]]]) -> str:
    if not bands:
        return "Memory picture without tensors"
    return "Memory: " + "; ".join(words.title(snap, storage, members) for storage, members in bands)
