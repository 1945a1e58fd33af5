"""Where tensors lie: storages as blocks of memory, and the cells worth reading.

Storages that overlap in memory (`torch.from_numpy(t.numpy())` makes a second storage
over the first one's bytes) become one block: what counts for the reader is who sees a write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .identity import serial
from .records import Run, Storage

MAX_CELLS = 24
"""A storage of up to this many cells is shown whole."""
HEAD, TAIL, AROUND = 8, 3, 3


@dataclass(slots=True)
class Place:
    """Where one tensor lies."""

    storage: str | None = None
    start_byte: int = 0
    stride: tuple[int, ...] | None = None
    offset: int | None = None
    itemsize: int = 1
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Block:
    start: int
    stop: int
    device: str
    members: list[int] = field(default_factory=list)
    objects: dict[int, Any] = field(default_factory=dict)
    id: str = ""

    @property
    def key(self) -> Any:
        """Equal in two snapshots for one piece of memory."""
        return serial(next(iter(self.objects.values())))


def address_of(tensor: Any) -> tuple[Any, ...]:
    """Where and how a tensor lies: equal for two tensors that are the same view of the same bytes."""
    try:
        storage = tensor.untyped_storage()
        where = storage.data_ptr() or serial(storage)
        return (where, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype))
    except (RuntimeError, NotImplementedError, AttributeError):
        return (serial(tensor),)


class Blocks:
    """The blocks of memory behind some tensors."""

    def __init__(self, tensors: list[Any], known: dict[Any, str] | None = None, last: int = 0) -> None:
        """`known` are the ids of an earlier snapshot by key, `last` the highest number it gave."""
        self.tensors = tensors
        self.known = known or {}
        self.last = last
        self.places = [Place() for _ in tensors]
        self.blocks: list[_Block] = []
        found: list[tuple[int, Any, int, int, str]] = []
        for i, tensor in enumerate(tensors):
            place = self.places[i]
            try:
                place.itemsize = int(tensor.element_size())
                storage = tensor.untyped_storage()
                nbytes, start = int(storage.nbytes()), _pointer(storage)
                place.stride = tuple(int(step) for step in tensor.stride())
                place.offset = int(tensor.storage_offset())
            except (RuntimeError, NotImplementedError, AttributeError):
                layout = str(getattr(tensor, "layout", "unknown")).rpartition(".")[2]
                place.notes = (f"it has no storage that could be shown (layout: {layout})",)
                continue
            found.append((i, storage, start, nbytes, str(tensor.device)))
        self._gather(found)

    def _gather(self, found: list[tuple[int, Any, int, int, str]]) -> None:
        by_object: dict[tuple[str, int], _Block] = {}
        for i, storage, start, nbytes, device in found:
            key = (device, id(storage))
            block = by_object.get(key) or self._overlapping(device, start, nbytes)
            if block is None:
                block = _Block(start, start + nbytes, device)
                self.blocks.append(block)
            by_object[key] = block
            block.start, block.stop = min(block.start, start), max(block.stop, start + nbytes)
            block.members.append(i)
            block.objects[id(storage)] = storage
        for block in self.blocks:
            block.id = self.known.pop(block.key, "")
            if not block.id:
                self.last += 1
                block.id = f"S{self.last}"
        for i, storage, start, _, device in found:
            place = self.places[i]
            block = by_object[device, id(storage)]
            place.storage = block.id
            place.start_byte = start - block.start + (place.offset or 0) * place.itemsize

    def _overlapping(self, device: str, start: int, nbytes: int) -> _Block | None:
        if not start or not nbytes:
            return None
        for block in self.blocks:
            if block.device == device and block.start < start + nbytes and start < block.stop:
                return block
        return None

    def place(self, i: int) -> Place:
        """Where tensor `i` lies."""
        return self.places[i]

    def records(self, ids: list[str]) -> tuple[Storage, ...]:
        """One record for each block, with the values of the cells worth showing."""
        return tuple(self._record(block, ids) for block in self.blocks)

    def _record(self, block: _Block, ids: list[str]) -> Storage:
        first = block.members[0]
        itemsize = self.places[first].itemsize
        nbytes = block.stop - block.start
        cells = nbytes // itemsize
        # The storage object that spans the most, so that one read sees the whole block.
        widest = max(block.members, key=lambda i: (_span(self.tensors[i]), -i))
        runs, notes = self._read(widest, block, itemsize, cells)
        return Storage(
            id=block.id,
            nbytes=nbytes,
            device=block.device,
            dtype=str(self.tensors[first].dtype),
            itemsize=itemsize,
            cells=cells,
            runs=runs,
            tensors=tuple(ids[i] for i in block.members),
            objects=len(block.objects),
            notes=notes,
            key=block.key,
        )

    def _read(self, i: int, block: _Block, itemsize: int, cells: int) -> tuple[tuple[Run, ...], tuple[str, ...]]:
        if not cells:
            return (), ()
        tensor = self.tensors[i]
        if str(tensor.dtype) != str(self.tensors[block.members[0]].dtype):
            tensor = next(self.tensors[k] for k in block.members)
        own = tensor.untyped_storage()
        shift = (_pointer(own) - block.start) // itemsize
        limit = int(own.nbytes()) // itemsize
        runs = []
        try:
            flat = tensor.detach()
            for start, stop in self._windows(block, itemsize, cells):
                low, high = max(start - shift, 0), min(stop - shift, limit)
                if low < high:
                    values = flat.as_strided((high - low,), (1,), low).tolist()
                    runs.append(Run(low + shift, tuple(values)))
        except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
            return (), (f"its values cannot be read here ({type(error).__name__})",)
        return tuple(runs), ()

    def _windows(self, block: _Block, itemsize: int, cells: int) -> list[tuple[int, int]]:
        """The cells to read: all of a small storage, else its ends and where the views begin and end."""
        if cells <= MAX_CELLS:
            return [(0, cells)]
        wanted = [(0, HEAD), (cells - TAIL, cells)]
        for i in block.members[:4]:
            first, last = _reach(self.tensors[i], self.places[i].start_byte, itemsize)
            wanted += [(first, first + AROUND), (last - 1, last + 1)]
        merged: list[tuple[int, int]] = []
        for start, stop in sorted((max(start, 0), min(stop, cells)) for start, stop in wanted):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            elif start < stop:
                merged.append((start, stop))
        return merged


def _reach(tensor: Any, start_byte: int, itemsize: int) -> tuple[int, int]:
    """The first and the last cell that a tensor covers."""
    reach = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True) if size)
    return start_byte // itemsize, (start_byte + reach * int(tensor.element_size())) // itemsize


def _span(tensor: Any) -> int:
    return int(tensor.untyped_storage().nbytes())


def _pointer(storage: Any) -> int:
    try:
        return int(storage.data_ptr())
    except (RuntimeError, NotImplementedError):  # FakeTensor and its like have no address
        return 0
