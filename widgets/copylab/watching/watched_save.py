"""One saved tensor under a watch: its bytes when it was saved, and the writes to its memory since."""

from __future__ import annotations

import ctypes
import sys
import zlib
from typing import Any, NamedTuple

import numpy as np

from tinytorch.viz import engine_name, getattr_or_none

from .places import Place

WHOLE_BYTES = 1 << 24
"""Up to this size the bytes of a tensor are compared whole; of a larger one, pieces of it."""
_PIECES, _PIECE_BYTES = 256, 1 << 14
_KEPT_BYTES = 256
"""Of tensors up to this size the bytes are kept: no more work than a checksum, and a finding has numbers."""

Span = tuple[int, int]
"""The addresses at which a tensor's memory starts and stops."""
NO_MEMORY: Span = (0, 0)
"""That of a tensor without memory to look at."""


class ObservedWrite(NamedTuple):
    """A write to the storage of a saved tensor.

    place: the line that wrote; None if it is not known. version_before: the saved tensor's version
    before the write was counted.
    """

    place: Place | None
    version_before: int


class WatchedSave:
    """A tensor as a node saved it. A pack hook hands the node this in its place.

    Pictures (`tinytorch/viz/read/saved.py`) read its `tensor`, `has_changed`, `is_stale`,
    `was_detached` and `written_at`, by name.
    """

    # One is made for each saved tensor of a training run.
    __slots__ = (
        "__weakref__",
        "checksum",
        "counted_write_candidate",
        "first_changing_write",
        "is_harmless",
        "is_output",
        "original",
        "output_nr",
        "saved_version",
        "saving_place",
        "sequence_nr",
        "siblings",
        "span",
        "tensor",
        "was_leaf",
    )

    def __init__(
        self,
        tensor: Any,
        saving_place: Place | None,
        *,
        sequence_nr: int,
        is_output: bool,
        was_leaf: bool,
        output_nr: int | None,
    ) -> None:
        self.tensor = tensor
        """What the node gets back: the tensor, or of its own result a detached alias."""
        self.saving_place = saving_place
        """The line that saved it."""
        self.sequence_nr = sequence_nr
        """The number of the newest node at that time; -1 of tinytorch's, which excuses no node."""
        self.is_output = is_output
        """True if the node that saved it also made it."""
        self.was_leaf = was_leaf
        """True if it was a leaf when it was saved."""
        self.output_nr = output_nr
        """Which result of the node it is; None if it is none."""
        self.original: Any = None
        """Only for PyTorch's error: a weak reference to what was saved, if a view written in place.

        The error names the node that such a view has when it is read. None for all else, and under
        tinytorch, where `tensor.source` is the node of such a view.
        """
        self.saved_version: int = tensor._version
        """Its version when it was saved; `tensor._version` is that of now."""
        self.span = memory_span(tensor)
        """Where its memory was when it was saved."""
        self.checksum = compute_checksum(tensor, self.span)
        """The checksum of its bytes when it was saved, of a small tensor the bytes themselves; None
        if they cannot be compared."""
        self.counted_write_candidate: ObservedWrite | None = None
        """The first write that the version counter counted, if any was: else the latest one.

        A write by `.data` is not counted, and that is seen only from the version at the next write.
        So this may be one that was not counted: `find_line_to_blame` asks the version.
        """
        self.first_changing_write: ObservedWrite | None = None
        """The first write that changed its bytes; where they cannot be compared, the first to them."""
        self.is_harmless = False
        """True if the node does not need it as it was, or if it was saved after the watch had ended."""
        self.siblings: dict[int, Any] = {}
        """The saves over the same storage, from which this one takes itself when it is freed."""

    # Training makes one for each saved tensor: nothing else would take its entry away.
    def __del__(self) -> None:
        self.siblings.pop(id(self), None)

    def note_write(self, place: Place | None, span: Span | None, *, is_done: bool) -> None:
        """Note a write to the storage, before the version counter counts it.

        `span` is the memory that it may change; None if the tensor gets other memory instead.
        `is_done` says that the engine calls after the write and not before it.

        Two writes can be to blame: the first that was counted, here, and the first that changed the
        bytes, which `note_result` sees. If the bytes are others before a write, something wrote that
        nobody reported: NumPy, another thread; what then writes the same bytes is not to blame.
        """
        version = self.tensor._version
        write = ObservedWrite(place, version)
        candidate = self.counted_write_candidate
        # Whether a write was counted is seen when the next one comes. After `y.data.mul_(1)` the
        # version is as before it, so the next write takes its place; after `y.mul_(1)` none does.
        if span is not None and (candidate is None or candidate.version_before == version):
            self.counted_write_candidate = write
        if self.first_changing_write is not None:
            return
        if self.checksum is None:
            if span is None or _spans_overlap(self.span, span):
                self.first_changing_write = write
        elif not is_done and self._has_other_bytes():
            self.first_changing_write = ObservedWrite(None, version)

    def note_result(self, place: Place | None, span: Span | None) -> None:
        """Note what a write to the storage has done."""
        if self.first_changing_write is not None or self.checksum is None:
            return
        if (span is None or _spans_overlap(self.span, span)) and self._has_other_bytes():
            self.first_changing_write = ObservedWrite(place, self.tensor._version)

    def _has_other_bytes(self) -> bool:
        """Return True if the bytes are not those that were saved."""
        return compute_checksum(self.tensor, memory_span(self.tensor)) != self.checksum

    @property
    def is_stale(self) -> bool:
        """True if the version counter has counted a write since the tensor was saved."""
        return bool(self.tensor._version != self.saved_version)

    @property
    def was_detached(self) -> bool:
        """True if `detach_` took an input out of its graph since it was saved."""
        # Not of a view, which cannot be detached in place: reading it may make its history anew.
        if self.was_leaf or self.is_output or self.tensor._is_view():
            return False
        return bool(self.tensor.is_leaf)

    @property
    def has_changed(self) -> bool | None:
        """True if the bytes differ from those saved; None if written and not comparable."""
        if self.is_harmless:
            return False
        if self.checksum is not None:
            return self._has_other_bytes()
        return None if self.first_changing_write is not None else False

    def make_saved_tensor(self) -> Any:
        """Return a tensor with the values that were saved; the tensor itself if it has them.

        Raises RuntimeError if they are not known.
        """
        tensor, saved = self.tensor, self.checksum
        if saved is not None and not self._has_other_bytes():
            return tensor
        # With a conjugate or negative bit, values are others than the bytes in memory.
        has_bits = getattr_or_none(tensor, "is_conj") and (tensor.is_conj() or tensor.is_neg())
        if has_bits or not isinstance(saved, bytes):
            raise RuntimeError("the values that were saved are not known")
        engine: Any = sys.modules[engine_name(tensor)]
        values = engine.empty(len(saved) // tensor.element_size(), dtype=tensor.dtype, device="cpu")
        ctypes.memmove(values.data_ptr(), saved, len(saved))
        # What has gaps between its elements was saved in row-major order.
        has_gaps = memory_span(tensor)[1] - memory_span(tensor)[0] > tensor.nbytes
        return (
            values.view(tensor.shape)
            if has_gaps
            else values.as_strided(tensor.shape, tensor.stride())
        )

    def note_end(self) -> None:
        """Note that the watch ends: no write that it saw is to blame for what is written later."""
        # As a write by nobody, to no memory: it tells from its version whether the last one was
        # counted, and takes the place of one that changed nothing.
        self.note_write(None, NO_MEMORY, is_done=False)

    def find_line_to_blame(self) -> Place | None:
        """Return the line that spoiled it; None if the watch did not see which one did.

        Of a stale tensor, the first write that its version counter counted; of another one, the
        first write that changed it.
        """
        if not self.is_stale:
            return None if self.first_changing_write is None else self.first_changing_write.place
        candidate = self.counted_write_candidate
        if candidate is not None and self.tensor._version > candidate.version_before:
            return candidate.place
        return None

    @property
    def written_at(self) -> str:
        """The place of the line to blame, as pictures say it; empty if it is not known."""
        place = self.find_line_to_blame()
        return "" if place is None else place.label


def is_function_node(node: Any) -> bool:
    """Return True for the node of a Function in Python, of either engine.

    It is given a tensor that `detach_` took out of its graph, where all others raise.
    """
    return hasattr(type(node), "_forward_cls")


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


def compute_checksum(tensor: Any, span: Span) -> int | bytes | None:
    """Return a checksum of a tensor's bytes; None if they are not in this computer's memory.

    Of a small tensor the bytes themselves, from which `make_saved_tensor` makes it anew.
    """
    start, stop = span
    if not start or not tensor.is_cpu:
        return None
    length = tensor.nbytes
    if stop - start <= length:
        # Without gaps between the elements their order does not matter.
        if length <= _KEPT_BYTES:
            return ctypes.string_at(start, stop - start)
        return _checksum_memory(start, stop - start)
    if length > WHOLE_BYTES:
        return None
    # The gaps belong to other tensors: a write to them must not count.
    size = tensor.element_size()
    memory: Any = (ctypes.c_char * (stop - start)).from_address(start)
    strides = tuple(stride * size for stride in tensor.stride())
    elements = np.ndarray(tuple(tensor.shape), f"V{size}", memory, strides=strides)
    content = elements.tobytes()
    return content if length <= _KEPT_BYTES else zlib.crc32(content)


def _checksum_memory(start: int, length: int) -> int:
    if length <= WHOLE_BYTES:
        return zlib.crc32((ctypes.c_char * length).from_address(start))
    checksum = 0
    for piece in range(_PIECES):
        address = start + (length - _PIECE_BYTES) * piece // (_PIECES - 1)
        checksum = zlib.crc32(ctypes.string_at(address, _PIECE_BYTES), checksum)
    return checksum
