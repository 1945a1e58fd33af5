"""A storage as a strip of cells, and the lanes that show which cells a tensor covers."""

from __future__ import annotations

from itertools import pairwise

from .. import words
from ..labels import show, width
from ..read.records import Storage, Tensor
from .style import Canvas, number

MAX_WIDTH = 600
NARROW, GAP_W = 30, 26
CELL_H = 28
ARCS = 8
"""The order of walk of more elements is told, not drawn: the arcs would be a tangle."""
MANY = 4096
"""Up to so many elements are walked one by one; larger tensors are asked cell by cell."""


class Strip:
    """The columns of one storage: cells with values, and gaps where cells are left out."""

    def __init__(self, storage: Storage, members: list[Tensor], changed: dict[int, object]) -> None:
        self.storage = storage
        self.members = members
        self.changed = changed
        self.labels = {one.id: _element_labels(one) for one in members}
        self.cells = [cell for run in storage.runs for cell in range(run.start, run.stop)]
        if not storage.runs and storage.cells:  # values that cannot be read still have places
            self.cells = list(range(min(storage.cells, 8)))
        self.cell_w = self._cell_width()
        self._thin_out()
        self.columns = self._columns()
        self.width = sum(w for _, w in self.columns) or 60
        self.height = 14 + CELL_H + (14 if changed else 0)

    def _cell_width(self) -> float:
        widest = 0.0
        for cell in self.cells:
            widest = max(widest, width(self._value(cell), "mono"))
            for one in self.members:
                widest = max(widest, width(self._label(one, cell) or "", "mono xs") - 2)
            if cell in self.changed:
                widest = max(widest, width("was " + show(self.changed[cell]), "xs"))
        return max(NARROW, round(widest + 12))

    def _thin_out(self) -> None:
        """Leave cells out, from the end of the longest stretch first, until the strip fits."""
        room = max(6, int(MAX_WIDTH // self.cell_w))
        while len(self.cells) > room:
            stretches: list[list[int]] = []
            for cell in self.cells:
                if stretches and cell == stretches[-1][-1] + 1:
                    stretches[-1].append(cell)
                else:
                    stretches.append([cell])
            longest = max(stretches, key=len)
            # The very last cell stays: it shows where the storage ends.
            victim = longest[-2] if longest[-1] == self.storage.cells - 1 and len(longest) > 1 else longest[-1]
            self.cells.remove(victim)

    def _columns(self) -> list[tuple[int | None, float]]:
        columns: list[tuple[int | None, float]] = []
        expected = 0
        for cell in self.cells:
            if cell != expected:
                columns.append((None, GAP_W))
            columns.append((cell, self.cell_w))
            expected = cell + 1
        if self.cells and expected != self.storage.cells:
            columns.append((None, GAP_W))
        return columns

    def _value(self, cell: int) -> str:
        known, value = self.storage.value(cell)
        return show(value) if known else "?"

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        """The strip itself: cell numbers above, values inside, what they were below."""
        if not self.columns:
            canvas.rect(x, y + 14, 60, CELL_H, "cell dash")
            canvas.text(x + 30, y + 32, "empty", "m c")
            return
        for cell, w in self.columns:
            if cell is None:
                canvas.text(x + w / 2, y + 14 + CELL_H / 2 + 4, "...", "m b c")
            else:
                canvas.text(x + w / 2, y + 9, str(cell), "m xs c")
                was = cell in self.changed
                canvas.rect(x, y + 14, w, CELL_H, "new" if was else "cell")
                ink = "new-t b mono c" if was else "t mono c"
                canvas.text(x + w / 2, y + 14 + CELL_H / 2 + 4, self._value(cell), ink)
                if was:
                    canvas.text(x + w / 2, y + 14 + CELL_H + 12, "was " + show(self.changed[cell]), "new-t xs c")
            x += w

    def lane(self, canvas: Canvas, x: float, y: float, tensor: Tensor) -> None:
        """Under each cell that the tensor covers, the index of its element there."""
        middles: dict[int, float] = {}
        left = x
        for cell, w in self.columns:
            text = None if cell is None else self._label(tensor, cell)
            if text is not None and cell is not None:
                canvas.rect(left + 2, y + 4, w - 4, 24, "view", 4)
                canvas.text(left + w / 2, y + 20, text, "view-t mono xs c")
                middles[cell] = left + w / 2
            left += w
        if not tensor.numel:
            canvas.text(x + 4, y + 20, "no elements", "m s")
        elif not middles:
            canvas.text(x + 4, y + 20, words.covered(tensor), "m s", 40)
        elif self.walks(tensor):
            self._walk(canvas, y + 28, tensor, middles)

    def walks(self, tensor: Tensor) -> bool:
        """Whether the order of walk is worth drawing: it goes back and forth in few, whole cells."""
        return 1 < tensor.numel <= ARCS and tensor.itemsize == self.storage.itemsize and tensor.jumps()

    def _walk(self, canvas: Canvas, y: float, tensor: Tensor, middles: dict[int, float]) -> None:
        cells = [byte // tensor.itemsize for _, byte in tensor.elements(ARCS)]
        points = [middles[cell] for cell in cells if cell in middles]
        for a, b in pairwise(points):
            deep = 6 + min(abs(b - a) / 14, 10)
            middle, low = number((a + b) / 2), number(y + 2 * deep)
            canvas.path(f"M{number(a)} {number(y)}Q{middle} {low} {number(b)} {number(y)}", "thin")
        if len(points) > 1:
            side = 1 if points[-1] > points[-2] else -1
            end = points[-1]
            canvas.path(f"M{number(end)} {number(y)}l{-6 * side} 1l{3 * side} 5z", "tip")

    def _label(self, tensor: Tensor, cell: int) -> str | None:
        byte = cell * self.storage.itemsize
        if tensor.numel <= MANY:
            return self.labels[tensor.id].get(byte)
        index = tensor.index_at(byte)
        return None if index is None else _index_text(index, tensor.repeats())


def _element_labels(tensor: Tensor) -> dict[int, str]:
    """The index text at each byte, for a tensor of few elements."""
    if tensor.numel > MANY:
        return {}
    first: dict[int, tuple[int, ...]] = {}
    count: dict[int, int] = {}
    for index, byte in tensor.elements(MANY):
        first.setdefault(byte, index)
        count[byte] = count.get(byte, 0) + 1
    return {byte: _index_text(index, count[byte]) for byte, index in first.items()}


def _index_text(index: tuple[int, ...], times: int) -> str:
    text = "[" + ",".join(map(str, index)) + "]" if index else "()"
    return f"{text}x{times}" if times > 1 else text
