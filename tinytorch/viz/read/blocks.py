"""Storages as blocks of memory: the tensors and arrays over each, and the cells worth reading.

Storages that overlap in memory (`torch.from_numpy(t.numpy())` makes a second storage over the first
one's bytes) become one block: what counts for the reader is who sees a write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from numpy.lib.array_utils import byte_bounds

from ..wording import gettext, gettext_noop, join_names
from .cell_summary import (
    MOST_SUMMARIZED,
    CellSummary,
    compute_checksum_of_cells,
    summarize_cells,
)
from .identity import identity_key
from .overlaps import shares_memory
from .probe import can_wait_for, getattr_or_none, inner_tensors
from .records import CellRun, StorageRecord

MAX_CELLS = 24
"""A storage of up to this many cells is read whole."""
CELLS_AT_START, CELLS_AT_END, CELLS_OF_VIEW = 8, 3, 3
"""Cells that are read of a larger one, and of the beginning of each view."""
MAX_VIEWS = 4
"""Views of a larger storage whose first and last cells are read."""
PLAIN_CLASSES = ("Tensor", "Parameter", "Buffer")
"""Classes that need no mention."""


HUES = 6
"""Each tensor has one of so many hues, by the number of its id. No more: people who see few colours must
still be able to distinguish most of them."""
HUES_OF_WORDS = {"blue": 0, "orange": 1, "green": 2, "pink": 3, "red": 3, "yellow": 4, "purple": 5}
"""Name -> the hue that it says, or the one nearest to it: red itself says that something is wrong."""


@dataclass(slots=True)
class IdSequence:
    """Ids in order of first sight: a letter and a number.

    What an earlier snapshot knew by its key keeps the id that it had there.
    """

    letter: str
    """T, S or C."""
    known: dict[Any, str]
    """Key -> id, of what an earlier snapshot knew and that was not asked for yet."""
    last: int
    """The highest number given so far."""

    def id_of(self, key: Any, hue: int | None = None) -> str:
        """Return the id for a key, which must not have been asked for before.

        hue: a new id gives it this hue, instead of the next one.
        """
        if key in self.known:
            # Removed, so that two counters that were one do not both keep its id.
            return self.known.pop(key)
        self.last += 1
        if hue is not None:
            self.last += (hue - self.last) % HUES
        return f"{self.letter}{self.last}"


@dataclass
class BlockGeometry:
    """The geometry of one tensor in a storage, as its `TensorRecord` has it.

    These are storage, start_byte, shape, stride, offset, itemsize and notes.
    """

    storage: str | None = None
    start_byte: int = 0
    shape: tuple[int, ...] | None = None
    stride: tuple[int, ...] | None = None
    offset: int | None = None
    itemsize: int = 1
    notes: tuple[str, ...] = ()


class _StorageObject(NamedTuple):
    """The storage object that one tensor has."""

    key: Any
    """Its identity."""
    address: int
    """0 where there is no memory: meta tensors, empty storages."""
    nbytes: int
    """Its size in bytes."""
    device: str
    """As str() has it."""


@dataclass(slots=True)
class _Block:
    """One stretch of memory, under one or several storage objects."""

    start: int
    """Its first address."""
    stop: int
    """The address after its last."""
    device: str
    """As str() has it."""
    members: list[int] = field(default_factory=list)
    """Positions of the tensors over this memory, in order of first sight."""
    object_keys: dict[Any, None] = field(default_factory=dict)
    """Identities of the storage objects over this memory, in order of first sight."""
    id: str = ""
    """S1, S2, once it is known in which order blocks are seen."""


def view_key_of(tensor: Any) -> tuple[Any, ...]:
    """Return address and geometry: equal for tensors that are the same view of the same bytes."""
    try:
        storage = tensor.untyped_storage()
        return (
            # Meta tensors and empty storages are all at address 0, and not one memory.
            storage.data_ptr() or identity_key(storage),
            tensor.storage_offset(),
            tuple(tensor.shape),
            tuple(tensor.stride()),
            str(tensor.dtype),
        )
    except Exception:  # noqa: BLE001 - sparse layouts and subclasses each raise another error
        return (identity_key(tensor),)


def make_lasting(view_key: tuple[Any, ...], tensor: Any) -> tuple[Any, ...]:
    """Return the `view_key_of` a tensor with the storage's identity for its address.

    So it differs from that of a tensor that was at the same address before and is gone.
    """
    if len(view_key) == 1:
        return view_key
    return (identity_key(tensor.untyped_storage()), *view_key[1:])


# -- one tensor ------------------------------------------------------------------------


def _read_geometry(tensor: Any, geometry: BlockGeometry) -> _StorageObject | None:
    """Fill in the geometry of a tensor and return its storage; None, and a note, if it has none."""
    try:
        geometry.itemsize = int(tensor.element_size())
        # Geometry is read twice and compared: another thread may be changing it at this moment.
        for _ in range(3):
            geometry.shape = tuple(map(int, tensor.shape))
            geometry.stride = tuple(map(int, tensor.stride()))
            geometry.offset = int(tensor.storage_offset())
            storage = tensor.untyped_storage()
            storage_object = _StorageObject(
                key=identity_key(storage),
                address=_address_of_storage(storage),
                nbytes=int(storage.nbytes()),
                device=str(tensor.device),
            )
            if _is_wrapper(tensor, storage_object):
                geometry.notes = (_describe_wrapper(tensor),)
                break
            if (geometry.shape, geometry.stride) == (tuple(tensor.shape), tuple(tensor.stride())):
                geometry.notes = tuple([gettext(_LAZY_BITS[bit]) for bit in _lazy_bits(tensor)])
                return storage_object
        else:
            geometry.notes = (gettext("it changes while it is looked at"),)
    except Exception:  # noqa: BLE001 - sparse layouts and subclasses each raise another error
        geometry.notes = (_describe_missing_storage(tensor),)
    # Without a storage they lead nowhere, however far the reading came.
    geometry.stride = geometry.offset = None
    if geometry.shape is None:
        try:
            geometry.shape = tuple(int(size) for size in tensor.shape)
        except Exception:  # noqa: BLE001 - the rows of a nested tensor differ in size
            geometry.shape = None
    return None


def _is_wrapper(tensor: Any, storage: _StorageObject) -> bool:
    """Return True if a subclass has a size, but no memory (`_make_wrapper_subclass`)."""
    has_no_memory = not storage.address and storage.nbytes > 0
    # They have sizes and no memory as well, and `_describe_unread` says so of them.
    is_without_values = storage.device == "meta" or type(tensor).__name__ == "FakeTensor"
    return has_no_memory and not is_without_values


def _describe_wrapper(tensor: Any) -> str:
    kind = type(tensor).__name__
    inner = join_names([name for name, _ in inner_tensors(tensor)])
    if not inner:
        return gettext("its memory is not known: the subclass {kind} answers for itself", kind=kind)
    return gettext(
        "it has no memory of its own: the subclass {kind} keeps {names}", kind=kind, names=inner
    )


def _describe_missing_storage(tensor: Any) -> str:
    layout = str(getattr_or_none(tensor, "layout") or gettext("unknown")).rpartition(".")[2]
    if layout == "strided":
        return gettext(
            "it has no storage that could be shown: it is not filled yet, or stands for "
            "others (nested, or inside vmap)"
        )
    return gettext("it has no storage that could be shown (layout: {layout})", layout=layout)


_LAZY_BITS = {
    "is_conj": gettext_noop(
        "its conjugate bit is set: what is in memory is conjugated as it is read"
    ),
    "is_neg": gettext_noop("its negative bit is set: what is in memory is negated as it is read"),
}


def _lazy_bits(tensor: Any) -> list[str]:
    """Return which of torch's two lazy bits are set; tinytorch has none."""
    methods = [(bit, getattr_or_none(tensor, bit)) for bit in _LAZY_BITS]
    return [bit for bit, method in methods if method is not None and method()]


def detach_memory(tensor: Any) -> Any:
    """Return a tensor without history over the same memory, whose values are those in memory."""
    # Reading the cells of a tensor that requires grad would make nodes.
    alias = tensor.detach()
    # A set bit would conjugate or negate the values.
    for bit in _lazy_bits(tensor):
        alias = alias.conj() if bit == "is_conj" else alias._neg_view()
    return alias


def _address_of_storage(storage: Any) -> int:
    try:
        return int(storage.data_ptr())
    except Exception:  # noqa: BLE001 - FakeTensor and its like have no address
        return 0


# -- all tensors -----------------------------------------------------------------------


class _BlockCells(NamedTuple):
    """What was read of a block."""

    runs: tuple[CellRun, ...] = ()
    """The cells worth showing."""
    notes: tuple[str, ...] = ()
    """Why there are none."""
    summary: CellSummary | None = None
    """Numbers about all cells of a large block."""
    checksum: int | None = None
    """Of all cells of a large block."""


class Blocks:
    """The blocks of memory behind some tensors, and the geometry of each tensor in them."""

    def __init__(self, tensors: list[Any], ids: IdSequence) -> None:
        self.tensors = tensors
        self.geometries = [BlockGeometry() for _ in tensors]
        self.blocks: list[_Block] = []
        self.cells_to_summarize = MOST_SUMMARIZED
        storages: dict[int, _StorageObject] = {}
        for position, (tensor, geometry) in enumerate(zip(tensors, self.geometries, strict=True)):
            storage = _read_geometry(tensor, geometry)
            if storage is not None:
                storages[position] = storage
        block_of = _group_by_memory(storages)
        # Numbered by first sight, not by address: addresses differ from run to run.
        for position, storage in storages.items():
            block = block_of[position]
            if not block.members:
                self.blocks.append(block)
                block.id = ids.id_of(storage.key)
            block.members.append(position)
            block.object_keys[storage.key] = None
            geometry = self.geometries[position]
            geometry.storage = block.id
            # A storage may begin inside of its block: that of `from_numpy(a[2:])` beside one of all
            # of `a`.
            offset_bytes = (geometry.offset or 0) * geometry.itemsize
            geometry.start_byte = storage.address - block.start + offset_bytes

    def find_arrays(
        self, arrays: list[tuple[str, Any]], positions: set[int]
    ) -> dict[str, list[str]]:
        """Return block id -> names of the NumPy arrays over it.

        For blocks with a tensor at one of `positions`.
        """
        names_by_block: dict[str, list[str]] = {}
        # NumPy has arrays over the memory of the CPU alone.
        on_cpu = [block for block in self.blocks if block.device == "cpu"]
        blocks = [block for block in on_cpu if not positions.isdisjoint(block.members)]
        for name, array in arrays:
            low, high = byte_bounds(array)
            for block in blocks:
                # Bounds first, by which most pairs are told apart: the exact answer takes longer.
                is_near = block.start < high and low < block.stop
                if is_near and shares_memory(array, block.start, block.stop):
                    names_by_block.setdefault(block.id, []).append(name)
        return names_by_block

    def make_records(
        self, ids: list[str], positions: set[int], arrays: dict[str, list[str]]
    ) -> tuple[StorageRecord, ...]:
        """Return a record for each block, with values if a tensor at one of `positions` is over it."""
        records = []
        for block in self.blocks:
            reads_values = not positions.isdisjoint(block.members)
            records.append(self._make_record(block, ids, reads_values, arrays.get(block.id, [])))
        return tuple(records)

    def _make_record(
        self, block: _Block, ids: list[str], reads_values: bool, arrays: list[str]
    ) -> StorageRecord:
        first = block.members[0]
        itemsize = self.geometries[first].itemsize
        nbytes = block.stop - block.start
        runs, notes, summary, checksum = _BlockCells()
        if reads_values and nbytes // itemsize:
            runs, notes, summary, checksum = self._read_cells(block, itemsize)
        if arrays:
            note = gettext("a write through {names} is not counted", names=join_names(arrays))
            notes += (note,)
        return StorageRecord(
            id=block.id,
            nbytes=nbytes,
            device=block.device,
            dtype=str(self.tensors[first].dtype),
            itemsize=itemsize,
            cells=nbytes // itemsize,
            runs=runs,
            tensors=tuple(ids[position] for position in block.members),
            objects=len(block.object_keys),
            notes=notes,
            arrays=tuple(arrays),
            key=next(iter(block.object_keys)),
            summary=summary,
            checksum=checksum,
        )

    def _read_cells(self, block: _Block, itemsize: int) -> _BlockCells:
        """Return the cells worth showing; where they cannot be read, a note that says why."""
        first = block.members[0]
        # The storage object that spans the most, so that one tensor reads the whole block.
        widest = max(block.members, key=lambda k: (self.tensors[k].untyped_storage().nbytes(), -k))
        # Cells have the dtype of the first tensor; another one (view(dtype)) would read others.
        tensor = self.tensors[first]
        if str(self.tensors[widest].dtype) == str(tensor.dtype):
            tensor = self.tensors[widest]
        storage = tensor.untyped_storage()
        cells_before = (_address_of_storage(storage) - block.start) // itemsize
        cells_in_storage = int(storage.nbytes()) // itemsize
        runs = []
        try:
            if not can_wait_for(tensor):
                return _BlockCells((), (_describe_busy(tensor),))
            flat = detach_memory(tensor)
            for start, stop in self._choose_cells(block, itemsize):
                low = max(start - cells_before, 0)
                high = min(stop - cells_before, cells_in_storage)
                if low < high:
                    values = _as_flat(flat, low, high - low).tolist()
                    runs.append(CellRun(low + cells_before, tuple(values)))
            cells = (block.stop - block.start) // itemsize
            summary, checksum = None, None
            # All of it, or nothing: several storage objects may be over one memory.
            if MAX_CELLS < cells == cells_in_storage <= self.cells_to_summarize:
                self.cells_to_summarize -= cells
                summary = summarize_cells(cells, partial(_as_flat, flat))
                checksum = compute_checksum_of_cells(cells, partial(_as_flat, flat))
        except Exception as error:  # noqa: BLE001 - without values, each kind raises another
            return _BlockCells((), (_describe_unread(tensor, error),))
        return _BlockCells(tuple(runs), (), summary, checksum)

    def _choose_cells(self, block: _Block, itemsize: int) -> list[tuple[int, int]]:
        """Return the cells to read as (start, stop).

        All of a small storage, else its ends and the cells where views begin and end.
        """
        cells = (block.stop - block.start) // itemsize
        if cells <= MAX_CELLS:
            return [(0, cells)]
        ranges = [(0, CELLS_AT_START), (cells - CELLS_AT_END, cells)]
        for position in block.members[:MAX_VIEWS]:
            geometry = self.geometries[position]
            last_byte = geometry.start_byte
            for size, stride in zip(geometry.shape or (), geometry.stride or (), strict=True):
                if size:
                    last_byte += (size - 1) * stride * geometry.itemsize
            first, last = geometry.start_byte // itemsize, last_byte // itemsize
            ranges += [(first, first + CELLS_OF_VIEW), (last - 1, last + 1)]
        inside = ((max(start, 0), min(stop, cells)) for start, stop in ranges)
        joined: list[tuple[int, int]] = []
        for start, stop in sorted(inside):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
            elif start < stop:
                joined.append((start, stop))
        return joined


def _group_by_memory(storages: dict[int, _StorageObject]) -> dict[int, _Block]:
    """Return the block of each tensor, by its position: one for storages that overlap.

    Sorted by address, so that each storage is compared with the one before it alone: a model has
    thousands.
    """
    blocks: dict[int, _Block] = {}
    block_by_object: dict[tuple[str, Any], _Block] = {}
    previous: _Block | None = None
    # By device first: two devices may use equal addresses for two memories.
    by_address = sorted(
        storages.items(), key=lambda item: (item[1].device, item[1].address, item[0])
    )
    for position, storage in by_address:
        has_memory = bool(storage.address and storage.nbytes)
        block = block_by_object.get((storage.device, storage.key))
        if block is None:
            if (
                has_memory
                and previous is not None
                and previous.device == storage.device
                and storage.address < previous.stop
            ):
                block = previous
            else:
                block = _Block(storage.address, storage.address, storage.device)
            block_by_object[storage.device, storage.key] = block
        block.stop = max(block.stop, storage.address + storage.nbytes)
        # What has no memory overlaps nothing, all such being at address 0.
        if has_memory:
            previous = block
        blocks[position] = block
    return blocks


def _as_flat(tensor: Any, offset: int, length: int) -> Any:
    """Return a 1-d view of `length` cells of a tensor's storage."""
    geometry = (tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())
    # Most storages are read by a tensor that is flat already: as_strided would take longer.
    if geometry == ((length,), (1,), offset):
        return tensor
    return tensor.as_strided((length,), (1,), offset)


def _describe_busy(tensor: Any) -> str:
    """Say why the values of a tensor on a GPU are not read now."""
    return gettext(
        "its values are not read now: {device} must not be waited for", device=str(tensor.device)
    )


def _describe_unread(tensor: Any, error: Exception) -> str:
    """Say why the values of a tensor are not shown."""
    kind = type(tensor).__name__
    if kind == "FakeTensor":
        return gettext("a FakeTensor has no values")
    if str(tensor.device) == "meta":
        return gettext("a meta tensor has no values")
    if getattr_or_none(tensor, "is_quantized"):
        return gettext(
            "its values are quantised and are not shown: look at q.dequantize() or q.int_repr()"
        )
    why = type(error).__name__
    if kind not in PLAIN_CLASSES:
        return gettext(
            "its values are not shown: the subclass {kind} answers for itself ({why})",
            kind=kind,
            why=why,
        )
    return gettext("its values cannot be read here ({why})", why=why)
