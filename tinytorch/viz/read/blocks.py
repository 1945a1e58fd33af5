"""Where tensors lie: storages as blocks of memory, the cells worth reading, and checksums of what is compared.

Storages that overlap in memory (`torch.from_numpy(t.numpy())` makes a second storage
over the first one's bytes) become one block: what counts for the reader is who sees a write.
"""

from __future__ import annotations

import ctypes
import math
import zlib
from dataclasses import dataclass, field
from typing import Any

from numpy.lib.array_utils import byte_bounds

from ..wording import gettext, gettext_noop, join_names
from .probe import getattr_or_none, identity_key, inner_tensors
from .records import Run, Storage

MAX_CELLS = 24
"""A storage of up to this many cells is shown whole."""
HEAD, TAIL, AROUND = 8, 3, 3
PLAIN = ("Tensor", "Parameter", "Buffer")
"""Classes that need no mention."""
MAX_COMPARED = 1 << 30
"""So many bytes are compared for one snapshot, in 0.2 to 1 s. What is beyond is not compared."""


@dataclass(slots=True)
class Ids:
    """Ids in order of first sight: a letter and a number. What an earlier snapshot knew by its key keeps its own."""

    letter: str
    known: dict[Any, str]
    last: int
    """The highest number that was given."""

    def of(self, key: Any) -> str:
        """The id of what has not been asked for yet."""
        if key in self.known:
            return self.known.pop(key)
        self.last += 1
        return f"{self.letter}{self.last}"


@dataclass
class Place:
    """Where one tensor lies: a part of its record."""

    storage: str | None = None
    start_byte: int = 0
    shape: tuple[int, ...] | None = None
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
    objects: dict[Any, None] = field(default_factory=dict)
    """The identities of the storage objects over this memory, in order of first sight."""
    id: str = ""


def address_of(tensor: Any) -> tuple[Any, ...]:
    """Where and how a tensor lies: equal for two tensors that are the same view of the same bytes."""
    try:
        storage = tensor.untyped_storage()
        where = storage.data_ptr() or identity_key(storage)
        return (
            where,
            tensor.storage_offset(),
            tuple(tensor.shape),
            tuple(tensor.stride()),
            str(tensor.dtype),
        )
    except Exception:  # noqa: BLE001 - each layout and subclass refuses in its own way
        return (identity_key(tensor),)


def lasting_address(tensor: Any) -> tuple[Any, ...]:
    """As `address_of`, but never equal to that of a tensor that lay there before and is gone."""
    place = address_of(tensor)
    if len(place) == 1:
        return place
    return (identity_key(tensor.untyped_storage()), *place[1:])


def _geometry(tensor: Any, place: Place) -> tuple[Any, int, int] | None:
    """Fill in where a tensor lies; its storage's identity, address and size, or None with a note where it has none."""
    try:
        place.itemsize = int(tensor.element_size())
        # Read twice: another thread may be changing it at this moment.
        for _ in range(3):
            place.shape = tuple(int(size) for size in tensor.shape)
            place.stride = tuple(int(step) for step in tensor.stride())
            place.offset = int(tensor.storage_offset())
            storage = tensor.untyped_storage()
            pointer = _pointer(storage)
            found = identity_key(storage), pointer, int(storage.nbytes())
            if (
                not pointer
                and found[2]
                and str(tensor.device) != "meta"
                and type(tensor).__name__ != "FakeTensor"
            ):
                place.notes = (_stands_for_others(tensor),)
                break
            if (place.shape, place.stride) == (tuple(tensor.shape), tuple(tensor.stride())):
                place.notes = tuple(gettext(_BITS[bit]) for bit in _bits(tensor))
                return found
        else:
            place.notes = (gettext("it changes while it is looked at"),)
    except Exception:  # noqa: BLE001 - each layout and subclass refuses in its own way
        place.notes = (_no_storage(tensor),)
    place.stride = place.offset = None
    if place.shape is None:
        try:
            place.shape = tuple(int(size) for size in tensor.shape)
        except Exception:  # noqa: BLE001 - a nested tensor has no one shape
            place.shape = None
    return None


def _stands_for_others(tensor: Any) -> str:
    """What to say of a subclass that torch gave a size, but no memory (`_make_wrapper_subclass`)."""
    kind = type(tensor).__name__
    inner = join_names([name for name, _ in inner_tensors(tensor)])
    if not inner:
        return gettext("its memory is not known: the subclass {kind} answers for itself", kind=kind)
    return gettext(
        "it has no memory of its own: the subclass {kind} keeps {names}", kind=kind, names=inner
    )


def _no_storage(tensor: Any) -> str:
    layout = str(getattr_or_none(tensor, "layout") or gettext("unknown")).rpartition(".")[2]
    if layout == "strided":
        return gettext(
            "it has no storage that could be shown: it is not filled yet, or stands for others (nested, or inside vmap)"
        )
    return gettext("it has no storage that could be shown (layout: {layout})", layout=layout)


class Blocks:
    """The blocks of memory behind some tensors."""

    def __init__(self, tensors: list[Any], ids: Ids) -> None:
        self.tensors, self.ids = tensors, ids
        self.places = [Place() for _ in tensors]
        self.blocks: list[_Block] = []
        looks = [(i, _geometry(tensor, self.places[i])) for i, tensor in enumerate(tensors)]
        found = [(i, *where, str(tensors[i].device)) for i, where in looks if where is not None]
        # Neighbours by address, so that each is compared with the one before it alone; numbered by first sight.
        group: dict[int, _Block] = {}
        before: _Block | None = None
        by_object: dict[tuple[str, Any], _Block] = {}
        for i, which, start, nbytes, device in sorted(
            found, key=lambda one: (one[4], one[2], one[0])
        ):
            block = by_object.get((device, which))
            if block is None:
                over = (
                    before is not None
                    and before.device == device
                    and start
                    and nbytes
                    and start < before.stop
                )
                block = before if over and before is not None else _Block(start, start, device)
                by_object[device, which] = block
            block.stop = max(block.stop, start + nbytes)
            if start and nbytes:
                before = block
            group[i] = block
        for i, which, start, _, _ in found:
            block = group[i]
            if not block.members:
                self.blocks.append(block)
                block.id = ids.of(which)
            block.members.append(i)
            block.objects[which] = None
            place = self.places[i]
            place.storage = block.id
            place.start_byte = start - block.start + (place.offset or 0) * place.itemsize

    def seen_by(self, arrays: list[tuple[str, Any]], shown: set[int]) -> dict[str, list[str]]:
        """By the ids of blocks that tensors `shown` lie in, the names of the NumPy arrays over the same memory."""
        found: dict[str, list[str]] = {}
        for name, array in arrays:
            low, high = byte_bounds(array)
            for block in self.blocks:
                if (
                    block.start < high
                    and low < block.stop
                    and block.device == "cpu"
                    and shown & {*block.members}
                ):
                    found.setdefault(block.id, []).append(name)
        return found

    def records(
        self, ids: list[str], shown: set[int], arrays: dict[str, list[str]]
    ) -> tuple[Storage, ...]:
        """One record for each block; with values for those that one of the tensors `shown` lies in."""
        return tuple(
            self._record(one, ids, not shown.isdisjoint(one.members), arrays.get(one.id, []))
            for one in self.blocks
        )

    def _record(self, block: _Block, ids: list[str], shown: bool, arrays: list[str]) -> Storage:
        first = block.members[0]
        itemsize = self.places[first].itemsize
        nbytes = block.stop - block.start
        cells = nbytes // itemsize
        # The storage object that spans the most, so that one read sees the whole block.
        widest = max(block.members, key=lambda i: (self.tensors[i].untyped_storage().nbytes(), -i))
        runs, notes = self._read(widest, block, itemsize, cells) if shown else ((), ())
        if arrays:
            notes += (
                gettext(
                    "no version counter counts what is written through {names}",
                    names=join_names(arrays),
                ),
            )
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
            arrays=tuple(arrays),
            key=next(iter(block.objects)),
        )

    def _read(
        self, i: int, block: _Block, itemsize: int, cells: int
    ) -> tuple[tuple[Run, ...], tuple[str, ...]]:
        if not cells:
            return (), ()
        tensor = self.tensors[i]
        if str(tensor.dtype) != str(self.tensors[block.members[0]].dtype):
            tensor = self.tensors[block.members[0]]
        own = tensor.untyped_storage()
        shift = (_pointer(own) - block.start) // itemsize
        limit = int(own.nbytes()) // itemsize
        runs = []
        try:
            flat = tensor.detach()
            for bit in _bits(tensor):  # as it lies in memory
                flat = flat.conj() if bit == "is_conj" else flat._neg_view()
            for start, stop in self._windows(block, itemsize, cells):
                low, high = max(start - shift, 0), min(stop - shift, limit)
                if low < high:
                    asked = ((high - low,), (1,), low)
                    this = (tuple(flat.shape), tuple(flat.stride()), flat.storage_offset())
                    values = (flat if this == asked else flat.as_strided(*asked)).tolist()
                    runs.append(Run(low + shift, tuple(values)))
        except Exception as error:  # noqa: BLE001 - each kind of tensor without values refuses in its own way
            return (), (_unread(tensor, error),)
        return tuple(runs), ()

    def _windows(self, block: _Block, itemsize: int, cells: int) -> list[tuple[int, int]]:
        """The cells to read: all of a small storage, else its ends and where the views begin and end."""
        if cells <= MAX_CELLS:
            return [(0, cells)]
        wanted = [(0, HEAD), (cells - TAIL, cells)]
        for place in (self.places[i] for i in block.members[:4]):
            axes = zip(place.shape or (), place.stride or (), strict=True)
            reach = sum((size - 1) * step for size, step in axes if size) * place.itemsize
            first, last = place.start_byte // itemsize, (place.start_byte + reach) // itemsize
            wanted += [(first, first + AROUND), (last - 1, last + 1)]
        merged: list[tuple[int, int]] = []
        for start, stop in sorted((max(start, 0), min(stop, cells)) for start, stop in wanted):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            elif start < stop:
                merged.append((start, stop))
        return merged


def _unread(tensor: Any, error: Exception) -> str:
    """Why the values of a tensor are not shown."""
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
    if kind not in PLAIN:
        return gettext(
            "its values are not shown: the subclass {kind} answers for itself ({why})",
            kind=kind,
            why=why,
        )
    return gettext("its values cannot be read here ({why})", why=why)


_BITS = {
    "is_conj": gettext_noop(
        "its conjugate bit is set: what is in memory is conjugated as it is read"
    ),
    "is_neg": gettext_noop("its negative bit is set: what is in memory is negated as it is read"),
}


def _bits(tensor: Any) -> list[str]:
    """Which of torch's two bits are set; tinytorch has none."""
    return [bit for bit in _BITS if (asked := getattr_or_none(tensor, bit)) is not None and asked()]


def _pointer(storage: Any) -> int:
    try:
        return int(storage.data_ptr())
    except Exception:  # noqa: BLE001 - FakeTensor and its like have no address
        return 0


class Checksums:
    """What the bytes of tensors come to: each stretch of memory is read once, all of them together up to a limit.

    A version counter tells of the writes that were counted; writes through `.data`, NumPy or a storage are told by the
    bytes alone. Two checksums that differ are a proof that memory was written, two that agree leave one chance in four
    billion that it was and nobody can tell.
    """

    def __init__(self) -> None:
        self._left = MAX_COMPARED
        self._known: dict[Any, tuple[str, int] | str] = {}

    def of(self, tensor: Any) -> tuple[str, int] | str:
        """The geometry of a tensor and the checksum of its elements, as bytes; or the reason why they were not read."""
        if type(tensor).__name__ not in PLAIN:
            return gettext("it is an object of the subclass {kind}", kind=type(tensor).__name__)
        place = address_of(tensor)
        if place not in self._known:
            try:
                self._known[place] = self._read(tensor)
            except Exception:  # noqa: BLE001 - each kind of tensor without memory refuses in its own way
                self._known[place] = gettext("it has no memory that could be read")
        return self._known[place]

    def _read(self, tensor: Any) -> tuple[str, int] | str:
        if str(tensor.device) != "cpu":
            return gettext("it is on {device}", device=str(tensor.device))
        # What was detached in place since is another thing to backward, too.
        kind = f"{tuple(tensor.shape)} {tuple(tensor.stride())} {tensor.dtype} {tensor.is_leaf}"
        # Each cell once, forwards: where strides repeat or turn a walk around, the memory is still one stretch.
        pairs = zip(tensor.stride(), tensor.shape, strict=True)
        walk = sorted(
            ((int(step), int(size)) for step, size in pairs if step and size != 1), reverse=True
        )
        sizes, steps = [size for _, size in walk], [step for step, _ in walk]
        itemsize, offset = int(tensor.element_size()), int(tensor.storage_offset())
        nbytes = math.prod(sizes) * itemsize
        if not tensor.numel():
            return kind, 0
        if nbytes > self._left:
            return gettext(
                "together with others it is larger than the {size} MB that are compared",
                size=MAX_COMPARED >> 20,
            )
        self._left -= nbytes
        if any(step != math.prod(sizes[k + 1 :]) for k, step in enumerate(steps)):
            tensor = tensor.detach().as_strided(sizes, steps, offset).contiguous()
            offset = 0
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        if not start or int(storage.nbytes()) < offset * itemsize + nbytes:
            return gettext("its memory was given back")
        return kind, zlib.crc32((ctypes.c_char * nbytes).from_address(start + offset * itemsize))
