"""How the cells of a storage are drawn, and what is left to say of a tensor that looks at them.

Decided for all steps of a run at once: a matrix that gets a view of a row would else be a grid in
one step and a line of cells in the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..read import StorageRecord, TensorRecord
from ..wording import format_shape, gettext, join_phrases
from .contents import Arrangement
from .select_storages import Band, MemorySelection
from .sentences import cells_of_tensor

TIMES = " \N{MULTIPLICATION SIGN} "
"""Between the sizes of a shape."""
GRID_LINES = 6
"""A matrix of more lines is drawn in one line, with its shape in words."""
MOST_READ = 12
"""Up to so many elements, a tensor in an order of its own says which cells it reads."""
MOST_SPANS = 12
"""Up to so many lines of a matrix are marked one by one below the cells."""


class Span(NamedTuple):
    """A stretch of cells; of elements of another size the ends may be fractions."""

    start: float
    """The number of the first cell."""
    stop: float
    """The number of the cell behind the last."""


def arrange_run(selections: Iterable[MemorySelection]) -> dict[str, Arrangement]:
    """Return storage id -> how its cells are drawn in all pictures of a run."""
    bands: dict[str, list[Band]] = {}
    for selection in selections:
        for entry in selection.entries:
            if isinstance(entry, Band):
                bands.setdefault(entry.storage.id, []).append(entry)
    return {storage_id: arrange_cells(same) for storage_id, same in bands.items()}


def arrange_cells(bands: Iterable[Band]) -> Arrangement:
    """Return how the cells of a storage are drawn, with its tensors in each of some steps."""
    has_cells, has_lanes = True, False
    shapes: set[tuple[int, ...] | None] = set()
    for band in bands:
        has_cells = has_cells and _was_read_whole(band.storage)
        for tensor in band.members:
            has_lanes = has_lanes or not reads_in_order(band.storage, tensor)
            shapes.add(tensor.shape)
    cells_per_line = 0
    # A grid only if all steps can have the same one: what is drawn stays where it is from step
    # to step.
    if has_cells and not has_lanes and len(shapes) == 1:
        cells_per_line = _count_cells_per_line(shapes.pop() or ())
    return Arrangement(has_cells, has_lanes, cells_per_line)


def _was_read_whole(storage: StorageRecord) -> bool:
    return sum(len(run.values) for run in storage.runs) == storage.cells


def _count_cells_per_line(shape: tuple[int, ...]) -> int:
    if len(shape) < 2 or shape[-1] < 2:
        return 0
    lines = 1
    for size in shape[:-1]:
        lines *= size
    if 1 < lines <= GRID_LINES:
        return shape[-1]
    return 0


def reads_in_order(storage: StorageRecord, tensor: TensorRecord) -> bool:
    """Return True if the elements of a tensor are all cells of its storage, from first to last."""
    if tensor.itemsize != storage.itemsize or tensor.start_byte or tensor.numel != storage.cells:
        return False
    return tensor.is_contiguous()


def describe_reading(storage: StorageRecord, tensor: TensorRecord, arrangement: Arrangement) -> str:
    """Return what a picture says of how a tensor reads the cells, besides what it draws.

    As "2 by 3, row by row" or "reads cells 0 3 | 1 4 | 2 5"; empty where the cells show it.
    """
    shape = tensor.shape or ()
    is_flat = len(shape) < 2
    sizes = TIMES.join(map(str, shape))
    # Of one dimension, what else is said has the size.
    sizes_of_many = [] if is_flat else [sizes]
    if not tensor.numel:
        return join_phrases([*sizes_of_many, gettext("no elements")])
    if tensor.stride is None or tensor.stop_byte() > storage.nbytes:
        # Its storage was resized: it has not all of the cells.
        return gettext("shape {shape}", shape=format_shape(tensor.shape))
    if tensor.itemsize != storage.itemsize:
        cells = gettext(
            "{cells} of {number} bytes each", cells=cells_of_tensor(tensor), number=tensor.itemsize
        )
        return join_phrases([*sizes_of_many, cells])
    if reads_in_order(storage, tensor):
        return _shape_of_whole(tensor, sizes, arrangement)
    begin = _phrase_begin(tensor.start_byte // storage.itemsize)
    if tensor.is_contiguous():
        if is_flat and (not arrangement.has_cells or tensor.numel == 1):
            return cells_of_tensor(tensor)
        order = "" if is_flat else _phrase_order(shape, sizes)
        return join_phrases(filter(None, [order, begin]))
    if tensor.numel <= MOST_READ:
        reads = gettext("reads cells") if is_flat else gettext("{shape}, reads cells", shape=sizes)
        return f"{reads} {_list_cells_read(tensor)}"
    if is_flat:
        sizes = gettext("shape {shape}", shape=format_shape(tensor.shape))
    strides = gettext("stride {stride}", stride=format_shape(tensor.stride))
    return join_phrases(filter(None, [sizes, strides, begin]))


def _phrase_begin(cell: int) -> str:
    """Return `begins at cell 3`; nothing for the first cell."""
    if not cell:
        return ""
    return gettext("begins at cell {cell}", cell=cell)


def _shape_of_whole(tensor: TensorRecord, sizes: str, arrangement: Arrangement) -> str:
    """Return the shape of a tensor that reads all cells in order; empty if it can be seen."""
    shape = tensor.shape or ()
    if len(shape) < 2:
        return ""
    if not arrangement.has_cells:
        return sizes
    if arrangement.cells_per_line:
        if len(shape) == 2:
            return ""
        return sizes
    return _phrase_order(shape, sizes)


def _phrase_order(shape: tuple[int, ...], sizes: str) -> str:
    # Of a single row or column there is no other order.
    if sum(size > 1 for size in shape) < 2:
        return sizes
    return gettext("{shape}, row by row", shape=sizes)


def _list_cells_read(tensor: TensorRecord) -> str:
    """Return the cells in the order of the elements, with a bar between two lines."""
    size = (tensor.shape or (1,))[-1]
    cells = [str(byte // tensor.itemsize) for _, byte in tensor.elements(MOST_READ)]
    lines = [" ".join(cells[index : index + size]) for index in range(0, len(cells), size)]
    return " | ".join(lines)


def find_spans(storage: StorageRecord, tensor: TensorRecord) -> tuple[Span, ...]:
    """Return the stretches of cells that a tensor reads; of a matrix in order, one for each line.

    Of cells that are not drawn, and of elements of another size than the cells, only from the
    first to the last.
    """
    # Of a storage that was resized, a tensor may read what is not there.
    if not tensor.numel or tensor.stride is None or tensor.stop_byte() > storage.nbytes:
        return ()
    itemsize = storage.itemsize
    start, stop = tensor.start_byte / itemsize, tensor.stop_byte() / itemsize
    if tensor.itemsize != itemsize or not _was_read_whole(storage):
        return (Span(start, stop),)
    if tensor.is_contiguous():
        size = (tensor.shape or (1,))[-1]
        if tensor.numel // size > MOST_SPANS:
            return (Span(start, stop),)
        lines = range(0, tensor.numel, size)
        return tuple(Span(start + index, start + index + size) for index in lines)
    # Not by walking: an expanded tensor has any number of elements over few cells.
    spans: list[Span] = []
    for cell in range(storage.cells):
        if tensor.index_at(cell * itemsize) is None:
            continue
        if spans and spans[-1].stop == cell:
            spans[-1] = Span(spans[-1].start, cell + 1)
        else:
            spans.append(Span(cell, cell + 1))
    return tuple(spans)
