"""One saved tensor under a watch: its bytes when it was saved, and the writes to its memory since."""

from __future__ import annotations

import ctypes
import zlib
from typing import Any, NamedTuple

import numpy as np

from .places import Place

WHOLE_BYTES = 1 << 24
"""Up to this size the bytes of a tensor are compared whole; of a larger one, pieces of it."""
_PIECES, _PIECE_BYTES = 256, 1 << 14

Span = tuple[int, int]
"""The addresses at which a tensor's memory starts and stops; (0, 0) without memory to look at."""


class ObservedWrite(NamedTuple):
    """A write to the storage of a saved tensor.

    place: the line that wrote. span: the memory that may have been written. version_before: the
    saved tensor's version counter before the write was counted.
    """

    place: Place | None
    span: Span
    version_before: int


class WatchedSave:
    """A tensor as a node saved it. A pack hook hands the node this record in its place.

    tensor: what the node gets back. place: the line that saved it. is_output: the node that saved
    it also made it, as its result number `output_nr`. was_leaf: it was a leaf when it was saved.
    sequence_nr: the number of the newest node at that time.
    """

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
        self.place = place
        self.sequence_nr = sequence_nr
        self.is_output = is_output
        self.was_leaf = was_leaf
        self.output_nr = output_nr
        # A weak reference to the tensor that was saved, where `tensor` is a detached alias of it.
        self.original: Any = None
        self.version: int = tensor._version
        self.span = memory_span(tensor)
        self.checksum = compute_checksum(tensor, self.span)
        self.writes: list[ObservedWrite] = []
        self.is_harmless = False
        self.is_reported = False
        self.first_write_changed_bytes = False
        # The records of the same storage, from which this one takes itself when it is freed.
        self.siblings: dict[int, Any] = {}

    def __del__(self) -> None:
        self.siblings.pop(id(self), None)

    def record_write(self, place: Place | None, span: Span, *, already_written: bool) -> None:
        """Note a write to the storage, before the version counter counts it.

        Only two writes can be to blame, and no others are kept: the first that changed the bytes,
        and the first that was counted.
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
        # tinytorch reports it afterwards; now the next write has been done, too.
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

    def find_line_to_blame(self) -> Place | None:
        """Return the line to blame: the first write that was counted, or the first to its memory."""
        versions_after = [write.version_before for write in self.writes[1:]]
        versions_after.append(self.tensor._version)
        for write, version_after in zip(self.writes, versions_after, strict=False):
            if version_after > write.version_before:
                return write.place
        for write in self.writes:
            if _spans_overlap(self.span, write.span):
                return write.place
        return None


def _spans_overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def memory_span(tensor: Any) -> Span:
    """Return the addresses between which a tensor's elements are."""
    try:
        start = tensor.data_ptr()
        if not start:  # of meta tensors, which would all overlap
            return 0, 0
        if tensor.is_contiguous():
            return start, start + tensor.nbytes
        last_element = 0
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            last_element += (size - 1) * stride
        return start, start + (last_element + 1) * tensor.element_size()
    except (RuntimeError, NotImplementedError, AttributeError):
        # Sparse and nested tensors, and subclasses without a storage.
        return 0, 0


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
