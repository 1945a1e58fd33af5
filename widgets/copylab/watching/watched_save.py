"""One saved tensor under a watch: its bytes when it was saved, and the writes to its memory since."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

from tinytorch.viz import can_wait_for, engine_name, getattr_or_none

from ..wording import Phrase
from .device_bytes import DeviceBytes, make_device_bytes
from .places import NodeLine, Place
from .watched_memory import (
    NO_MEMORY,
    SEARCHED_BYTES,
    WHOLE_BYTES,
    Span,
    do_overlap,
    is_read_by_address,
    memory_span,
    read_checksum,
)

Checksum = int | bytes | DeviceBytes
"""What is noted of a tensor's bytes, to be compared with what they are later."""


class ObservedWrite(NamedTuple):
    """A write to the storage of a saved tensor.

    place: where the program wrote; None if it is not known. version_before: the saved tensor's version
    before this write was counted; None where it is not needed, as only a `counted_write_candidate` is
    judged by it.
    """

    place: Place | None
    version_before: int | None = None

    def was_counted(self, version: int) -> bool:
        """Return True if the counter, at this version now, has counted it.

        A lower version is no write's doing: the program has put the counter back.
        """
        return self.version_before is not None and version > self.version_before


class WatchedSave:
    """A tensor as a node saved it. A pack hook hands the node this in its place.

    `SaveUnderWatch` is what pictures read of it.

    Of all writes to its storage, two may be to blame, and no others are kept (`find_place_to_blame`):

    counted_write_candidate  what may be the first write that was counted, which makes the tensor stale.
        Whether a write is counted shows only later: it is noted before, and one through `.data` never
        is. So a write is the candidate until the next one. If the version is then still its
        `version_before`, it was not counted, and the next write is the candidate; else it stays.
        Who asks for the place to blame judges the last candidate in the same way.
    first_changing_write  the first write that changed the bytes, counted or not; where not all of them
        can be compared, the first to them.
    """

    # One is made for each saved tensor of a training run.
    __slots__ = (
        "__weakref__",
        "checksum",
        "counted_write_candidate",
        "first_changing_write",
        "is_harmless",
        "is_output",
        "node_line",
        "original",
        "output_nr",
        "required_grad",
        "saved_version",
        "saves_over_storage",
        "sequence_nr",
        "span",
        "tensor",
        "was_leaf",
    )

    def __init__(
        self,
        tensor: Any,
        node_line: NodeLine | None,
        *,
        sequence_nr: int,
        is_output: bool,
        was_leaf: bool,
        output_nr: int | None,
    ) -> None:
        self.tensor = tensor
        """What the node gets back: the tensor, or of its own result a detached alias."""
        self.node_line = node_line
        """The line that saved it: its place is `saving_place`."""
        self.sequence_nr = sequence_nr
        """The number that the next node would get when it was saved; -1 where no node is to be excused.

        An operation saves and writes after its own node has got a number and before another one does,
        so both are noted with the same next number: by it `excuse_node` and `record_write` of the
        watch know what the operation itself has saved. -1 is that of all saves of tinytorch, and of
        what a Function keeps as an attribute or hooks of the program's own packed.
        """
        self.is_output = is_output
        """True if the node that saved it also made it."""
        self.was_leaf = was_leaf
        """True if it was a leaf when it was saved."""
        self.required_grad: bool = tensor.requires_grad  # at the save
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
        """Where its memory is; where it was at the save, until the tensor gets other memory."""
        self.checksum = compute_checksum(tensor, self.span)
        """The checksum of its bytes when it was saved, or these themselves; None if they cannot be compared."""
        self.counted_write_candidate: ObservedWrite | None = None
        """What may be the first write that was counted: see the class."""
        self.first_changing_write: ObservedWrite | None = None
        """The first write that changed its bytes: see the class."""
        self.is_harmless = False
        """True if the node does not need it as it was, or if it was saved after the watch had ended."""
        self.saves_over_storage: dict[int, Any] = {}
        """All saves over the same storage, this one among them: it takes itself out when it is freed."""

    @property
    def saving_place(self) -> Place | None:
        """The place of the line that saved it; None if it is not known."""
        return None if self.node_line is None else self.node_line.place

    # Training makes one for each saved tensor: nothing else would take its entry away.
    def __del__(self) -> None:
        self.saves_over_storage.pop(id(self), None)

    def note_write(
        self, place: Place | None, span: Span | None, *, are_bytes_written: bool
    ) -> None:
        """Note a write to the storage, before the version counter counts it.

        `span` is the memory that it may change; None if the tensor gets other memory instead.
        `are_bytes_written`: True of an engine that calls when the bytes are written and only the
        counter is still to come; PyTorch's mode calls before both.
        """
        version = self.tensor._version
        write = ObservedWrite(place, version)
        candidate = self.counted_write_candidate
        # An earlier candidate that has left the version as it found it was not counted, and this
        # write takes its place. One that was counted stays: it is the first. Not `was_counted`: where
        # the version is lower since, the program has put the counter back, and the candidate, of
        # which nobody knows any more whether it was counted, keeps its place.
        has_version_moved = candidate is not None and candidate.version_before != version
        # `.data = ...` is never counted.
        if span is not None and not has_version_moved:
            self.counted_write_candidate = write
        if self.first_changing_write is not None:
            return
        # Not all of the bytes can be compared afterwards: the write counts as one that changed them.
        if not self.is_compared or self.is_sampled:
            if span is None or do_overlap(self.span, span):
                self.first_changing_write = write
        # Other bytes before the write are of one that nobody reported: by NumPy, by another thread.
        elif not are_bytes_written and self._has_other_bytes():
            self.first_changing_write = ObservedWrite(None)

    def note_result(self, place: Place | None, span: Span | None) -> None:
        """Note what a write to the storage has done: it has returned, or raised and perhaps written before.

        Whether the counter has counted it is not asked here: see `note_write`.
        """
        if self.first_changing_write is not None or not self.is_compared:
            return
        # Where a device cannot say, the write counts as the one that changed it.
        if (span is None or do_overlap(self.span, span)) and self._has_other_bytes() is not False:
            self.first_changing_write = ObservedWrite(place)

    def _has_other_bytes(self) -> bool | None:
        """Return True if the bytes are not those that were saved; None if a device cannot say."""
        return has_other_bytes(self.tensor, memory_span(self.tensor), self.checksum)

    @property
    def is_compared(self) -> bool:
        """True if its bytes can be compared now with those that were saved."""
        if self.checksum is None:
            return False
        return not isinstance(self.checksum, DeviceBytes) or can_wait_for(self.tensor)

    @property
    def is_small(self) -> bool:
        """True if its bytes were noted, and are so few that they are compared before each backward."""
        if isinstance(self.checksum, DeviceBytes):
            return bool(self.checksum.size <= SEARCHED_BYTES)
        return isinstance(self.checksum, bytes) and len(self.checksum) <= SEARCHED_BYTES

    @property
    def is_sampled(self) -> bool:
        """True if the checksum is one of pieces: a write between them does not change it."""
        start, stop = self.span
        return stop - start > WHOLE_BYTES and bool(self.tensor.nbytes > WHOLE_BYTES)

    @property
    def is_compared_whole(self) -> bool:
        """True if all of its bytes are compared; False if pieces of them are, or none."""
        return self.is_harmless or (self.is_compared and not self.is_sampled)

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
        saved_bytes = self.checksum
        # Nearly all that backward reads is small and where it was: that is compared at once.
        if isinstance(saved_bytes, bytes) and memory_span(self.tensor) == self.span:
            start, stop = self.span
            if stop - start == len(saved_bytes) <= self.tensor.nbytes:  # without gaps
                return ctypes.string_at(start, len(saved_bytes)) != saved_bytes
        if self.checksum is not None:
            has_other = self._has_other_bytes()
            # Pieces that are equal prove nothing of what lies between them; one that differs proves
            # a change.
            if has_other or (has_other is False and not self.is_sampled):
                return has_other
        return None if self.first_changing_write is not None else False

    def make_saved_tensor(self) -> Any:
        """Return a tensor with the values that were saved; the tensor itself if it has them.

        Raises RuntimeError if they are not known.
        """
        tensor = self.tensor
        if self.has_changed is False and self.checksum is not None:
            return tensor
        saved_bytes = self.checksum
        if isinstance(saved_bytes, DeviceBytes):
            saved_bytes = saved_bytes.read_bytes()
        # With a conjugate or negative bit, values are others than the bytes in memory.
        has_bits = getattr_or_none(tensor, "is_conj") and (tensor.is_conj() or tensor.is_neg())
        if has_bits or not isinstance(saved_bytes, bytes):
            raise RuntimeError("the values that were saved are not known")
        engine: Any = sys.modules[engine_name(tensor)]
        values = engine.empty(
            len(saved_bytes) // tensor.element_size(), dtype=tensor.dtype, device="cpu"
        )
        ctypes.memmove(values.data_ptr(), saved_bytes, len(saved_bytes))
        # What has gaps between its elements was saved in row-major order.
        has_gaps = memory_span(tensor)[1] - memory_span(tensor)[0] > tensor.nbytes
        values = (
            values.view(tensor.shape)
            if has_gaps
            else values.as_strided(tensor.shape, tensor.stride())
        )
        return values.to(tensor.device)

    def note_end(self) -> None:
        """Note that the watch ends: no write that it saw is to blame for what is written later."""
        # As a write by nobody, to no memory. If the last candidate was not counted, this one takes
        # its place, as in `note_write`; so a later count, which is unseen, has no line.
        self.note_write(None, NO_MEMORY, are_bytes_written=False)

    def find_place_to_blame(self) -> Place | None:
        """Return where the program spoiled it; None if the watch did not see that.

        If the tensor is stale, which makes backward raise, the first counted write is to blame, else
        the first that changed the bytes, from which backward computes without an error.
        """
        if self.is_stale:
            write = self.counted_write_candidate
            # It was noted before it was counted, if it was.
            if write is None or not write.was_counted(self.tensor._version):
                return None
        else:
            write = self.first_changing_write
        return None if write is None else write.place

    @property
    def line_to_blame(self) -> Phrase | None:
        """The place to blame, as pictures say it ("train.py, line 12"); None if it is not known."""
        place = self.find_place_to_blame()
        return None if place is None else place.phrase


def is_function_node(node: Any) -> bool:
    """Return True for the node of a Function in Python, of either engine.

    It is given a tensor that `detach_` took out of its graph, where all others raise.
    """
    return hasattr(type(node), "_forward_cls")


def compute_checksum(tensor: Any, span: Span) -> Checksum | None:
    """Return a checksum of a tensor's bytes; None if they cannot be read, or not now.

    Of a small tensor the bytes themselves, from which `make_saved_tensor` makes it anew.
    """
    if not span[0]:
        # Such as the memory that cuDNN reserves for batch norm. A tensor may also have none left.
        is_empty = type(tensor).__name__ in ("Tensor", "Parameter") and not tensor.numel()
        return b"" if is_empty and not tensor.is_sparse else None
    if is_read_by_address(tensor):
        return read_checksum(tensor, span)
    return make_device_bytes(tensor, span) if can_wait_for(tensor) else None


def has_other_bytes(tensor: Any, span: Span, checksum: Checksum | None) -> bool | None:
    """Return True if a tensor has other bytes than those of a checksum; None if it is not known."""
    if not isinstance(checksum, DeviceBytes):
        now = compute_checksum(tensor, span)
        return None if now is None and span[0] else now != checksum
    if not span[0] or is_read_by_address(tensor):
        return True  # it has lost its memory, or is on the CPU now
    is_same = checksum.matches(tensor, span) if can_wait_for(tensor) else None
    return None if is_same is None else not is_same
