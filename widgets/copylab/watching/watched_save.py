"""One saved tensor under a watch: its bytes when it was saved, and the writes to its memory since."""

from __future__ import annotations

import ctypes
import zlib
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .places import Place

WHOLE_BYTES = 1 << 24
"""Up to this size the bytes of a tensor are compared whole; of a larger one, pieces of it."""
_PIECES, _PIECE_BYTES = 256, 1 << 14

Span = tuple[int, int]
"""The addresses at which a tensor's memory starts and stops."""
NO_MEMORY: Span = (0, 0)
"""That of a tensor without memory to look at."""


class ObservedWrite(NamedTuple):
    """A write to the storage of a saved tensor.

    place: the line that wrote; None if it is not known. span: the memory that may have been
    written. version_before: the saved tensor's version counter before the write was counted.
    """

    place: Place | None
    span: Span
    version_before: int


class WatchedSave:
    """A tensor as a node saved it. A pack hook hands the node this record in its place."""

    # One is made for each saved tensor of a training run.
    __slots__ = (
        "__weakref__",
        "checksum",
        "first_write_changed_bytes",
        "is_harmless",
        "is_output",
        "is_reported",
        "original",
        "output_nr",
        "place",
        "sequence_nr",
        "siblings",
        "span",
        "tensor",
        "version",
        "was_leaf",
        "writes",
    )

    def __init__(
        self,
        tensor: Any,
        place: Place | None,
        *,
        sequence_nr: int,
        is_output: bool,
        was_leaf: bool,
        output_nr: int,
    ) -> None:
        self.tensor = tensor
        """What the node gets back: the tensor, or of its own result a detached alias."""
        self.place = place
        """The line that saved it."""
        self.sequence_nr = sequence_nr
        """The number of the newest node at that time."""
        self.is_output = is_output
        """True if the node that saved it also made it."""
        self.was_leaf = was_leaf
        """True if it was a leaf when it was saved."""
        self.output_nr = output_nr
        """Which result of the node it is, if it is one."""
        self.original: Any = None
        """A weak reference to the tensor that was saved, where `tensor` is a detached alias of it."""
        self.version: int = tensor._version
        """Its version when it was saved."""
        self.span = memory_span(tensor)
        """Where its memory was when it was saved."""
        self.checksum = compute_checksum(tensor, self.span)
        """The checksum of its bytes when it was saved; None if they cannot be compared."""
        self.writes: list[ObservedWrite] = []
        """The writes that may be to blame: see `record_write`."""
        self.first_write_changed_bytes = False
        """True if the first of them changed its bytes; known only of tinytorch, see `record_write`."""
        self.is_harmless = False
        """True if the node does not need it as it was, or if it was saved after the watch."""
        self.is_reported = False
        """True if a backward has read it changed, and a finding says so: the next read says nothing."""
        self.siblings: dict[int, Any] = {}
        """The records of the same storage, from which this one takes itself when it is freed."""

    def __del__(self) -> None:
        self.siblings.pop(id(self), None)

    def record_write(self, place: Place | None, span: Span, *, already_written: bool) -> None:
        """Note a write to the storage, before the version counter counts it.

        Only two writes can be to blame, and no others are kept: the first that changed the bytes,
        and the first that was counted. Until one of both is known, the latest write is kept, which
        the next one replaces: whether a write is counted is seen only when the next one comes.

        `already_written` says that the engine calls after the write and not before it.
        """
        version = self.tensor._version
        if self.writes:
            last = self.writes[-1]
            if last.version_before != version:
                return  # the last write was counted: it is to blame
            if len(self.writes) > 1 or not self._has_last_write_changed(already_written):
                self.writes.pop()
        self.writes.append(ObservedWrite(place, span, version))
        if already_written and len(self.writes) == 1:
            self.first_write_changed_bytes = self._has_changed_in(span)

    def _has_last_write_changed(self, already_written: bool) -> bool:
        """Return True if the only write so far has changed the saved bytes."""
        # PyTorch reports a write before it is done: what the last one changed can be seen only now.
        # tinytorch reports it afterwards; now the next write has been done, too, and only what was
        # seen after the last one tells the two apart.
        return (
            self.first_write_changed_bytes
            if already_written
            else self._has_changed_in(self.writes[-1].span)
        )

    def _has_changed_in(self, span: Span) -> bool:
        """Return True if a write to this memory has changed the saved bytes."""
        if not _spans_overlap(self.span, span):
            return False
        if self.checksum is None:
            return True
        return compute_checksum(self.tensor, memory_span(self.tensor)) != self.checksum

    @property
    def is_stale(self) -> bool:
        """True if the version counter has counted a write since the tensor was saved."""
        return bool(self.tensor._version != self.version)

    @property
    def was_detached(self) -> bool:
        """True if `detach_` took an input out of its graph since it was saved."""
        return self.tensor.is_leaf and not (self.was_leaf or self.is_output)

    @property
    def has_changed(self) -> bool | None:
        """True if the bytes differ from those saved; None if written and not comparable."""
        if self.is_harmless:
            return False
        if self.checksum is not None:
            return compute_checksum(self.tensor, memory_span(self.tensor)) != self.checksum
        is_written = any(_spans_overlap(self.span, write.span) for write in self.writes)
        return None if is_written else False

    def note_end(self) -> None:
        """Note that the watch ends: no write that it saw is to blame for what is written later."""
        # As a write by nobody, to no memory: it tells from its version whether the last one was
        # counted, and takes the place of one that changed nothing.
        self.record_write(None, NO_MEMORY, already_written=False)

    def find_line_to_blame(self) -> Place | None:
        """Return the line that spoiled it; None if the watch did not see which one did.

        Of a stale tensor, the first write that its version counter counted; of another one, the
        first write to its memory.
        """
        if not self.is_stale:
            overlapping = (w for w in self.writes if _spans_overlap(self.span, w.span))
            first = next(overlapping, None)
            return None if first is None else first.place
        # The version after a write is the one before the next.
        versions = [*(write.version_before for write in self.writes), self.tensor._version]
        for write, (before, after) in zip(self.writes, pairwise(versions), strict=True):
            if after > before:
                return write.place
        return None

    @property
    def written_at(self) -> str:
        """The place of the line to blame, as pictures say it; empty if it is not known."""
        place = self.find_line_to_blame()
        return "" if place is None else place.address


def _spans_overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def memory_span(tensor: Any) -> Span:
    """Return the addresses between which a tensor's elements are."""
    try:
        start = tensor.data_ptr()
        if not start:  # of meta tensors, which would all overlap
            return NO_MEMORY
        if tensor.is_contiguous():
            return start, start + tensor.nbytes
        last_element = 0
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            last_element += (size - 1) * stride
        return start, start + (last_element + 1) * tensor.element_size()
    except (RuntimeError, NotImplementedError, AttributeError):
        # Sparse and nested tensors, and subclasses without a storage.
        return NO_MEMORY


def compute_checksum(tensor: Any, span: Span) -> int | None:
    """Return a checksum of a tensor's bytes; None if they are not in this computer's memory."""
    start, stop = span
    if not start or not tensor.is_cpu:
        return None
    length = tensor.nbytes
    if stop - start <= length:
        # Without gaps between the elements their order does not matter. Small tensors, which are
        # most of them, take the shortest way: a checksum is made for every save and every read.
        if length <= _PIECE_BYTES:
            return zlib.crc32(ctypes.string_at(start, stop - start))
        return _checksum_memory(start, stop - start)
    if length > WHOLE_BYTES:
        return None
    # The gaps belong to other tensors: a write to them must not count.
    size = tensor.element_size()
    memory: Any = (ctypes.c_char * (stop - start)).from_address(start)
    strides = tuple(stride * size for stride in tensor.stride())
    elements = np.ndarray(tuple(tensor.shape), f"V{size}", memory, strides=strides)
    return zlib.crc32(elements.tobytes())


def _checksum_memory(start: int, length: int) -> int:
    if length <= WHOLE_BYTES:
        return zlib.crc32((ctypes.c_char * length).from_address(start))
    checksum = 0
    for piece in range(_PIECES):
        address = start + (length - _PIECE_BYTES) * piece // (_PIECES - 1)
        checksum = zlib.crc32(ctypes.string_at(address, _PIECE_BYTES), checksum)
    return checksum
