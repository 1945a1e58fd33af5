"""Saved tensors that were written after a node saved them, so backward raises or is wrong.

A write that the version counter of the saved tensor counted makes backward raise. One through
`.data`, NumPy or a storage is counted elsewhere or nowhere, and backward computes from the new
values without an error. These are most hazards of pictures, but not all: `describe_hazards` in
`show/hazard_sentences.py` adds what was detached and what refuses its gradient.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..read import OverlapIndex, Snapshot, TensorRecord
from ..wording import join_few_names
from .finding_records import SavedEntry, list_saved


class MaybeWrittenMemory(NamedTuple):
    """Memory that nodes saved, and to which only the counters of other tensors counted writes.

    Nobody has seen whether these came before the save or after it.
    """

    tensor: TensorRecord
    """The first tensor over it that was saved."""
    saved_entries: list[SavedEntry]
    """All that saved that tensor, or another one over the same cells and with its counter."""
    writers: list[TensorRecord]
    """The tensors that may have been written through, one for each other counter."""


def select_stale(saved_entries: Iterable[SavedEntry]) -> list[SavedEntry]:
    """Return what is stale and makes backward raise, or may: where `raises` is None.

    What backward cannot open is stale as well, and does no harm.
    """
    return [
        entry for entry in saved_entries if entry.saved.state == "stale" and entry.saved.may_raise
    ]


def find_stale_saved(snap: Snapshot) -> list[SavedEntry]:
    """Return what is stale in a snapshot and makes backward raise, or may: see `select_stale`."""
    return select_stale(list_saved(snap.nodes))


def find_maybe_written_memory(snap: Snapshot) -> list[MaybeWrittenMemory]:
    """Return what nodes saved, if only the counter of another tensor over it counted a write.

    The counter of the saved tensor, which backward checks, does not know of that.
    """
    written_by_storage: dict[str | None, OverlapIndex] = {}
    for storage, tensors in _find_written_tensors(snap).items():
        written_by_storage[storage] = OverlapIndex(tensors)
    found: list[MaybeWrittenMemory] = []
    if not written_by_storage:
        return found
    for saved_entries in _group_by_memory(snap):
        tensor = snap.tensor(saved_entries[0].saved.tensor or "")
        if tensor.storage in written_by_storage:
            writers = _find_other_writers(written_by_storage[tensor.storage], tensor)
            if writers:
                found.append(MaybeWrittenMemory(tensor, saved_entries, writers))
    return found


def _group_by_memory(snap: Snapshot) -> list[list[SavedEntry]]:
    """Return what nodes saved and a write may have changed unseen: grouped by bytes and counter.

    Not by node: thousands of nodes may have saved one tensor, and thousands of `.data` may be over
    it, each with a counter of its own.
    """
    groups: dict[object, dict[tuple[str, str], SavedEntry]] = {}
    for entry in list_saved(snap.nodes):
        if entry.saved.state != "live" or entry.saved.tensor is None or not entry.saved.is_read:
            continue
        # A watch has compared it with what it was when it was saved: nothing was written since.
        if entry.saved.compared_with_save and entry.saved.bytes_unchanged:
            continue
        # Or has seen no operation write to it, which is what counters count.
        if entry.saved.compared_in_part:
            continue
        tensor = snap.tensor(entry.saved.tensor)
        # An empty tensor has no bytes that could be written.
        if tensor.numel:
            extent = (tensor.storage, tensor.start_byte, tensor.stop_byte(), tensor.counter)
            # What a node saved twice, as `z * z` does, is counted once.
            groups.setdefault(extent, {}).setdefault((entry.node.id, tensor.id), entry)
    return [list(group.values()) for group in groups.values()]


def _find_other_writers(written: OverlapIndex, tensor: TensorRecord) -> list[TensorRecord]:
    """Return the written tensors that touch one, the first of each counter that is not its own."""
    first_by_counter: dict[str | None, TensorRecord] = {}
    # Writing one row of a matrix does not touch a saved other one.
    for writer in written.find_overlapping(tensor):
        first_by_counter.setdefault(writer.counter, writer)
    first_by_counter.pop(tensor.counter, None)
    return list(first_by_counter.values())


def _find_written_tensors(snap: Snapshot) -> dict[str | None, list[TensorRecord]]:
    """Return storage id -> the tensors over it whose counter has counted a write."""
    written: dict[str | None, list[TensorRecord]] = {}
    for tensor in snap.tensors:
        # Through one that only nodes hold, nobody writes any more; and no name could be said for it.
        if tensor.role == "saved" or tensor.counter is None or tensor.storage is None:
            continue
        if tensor.version and tensor.numel:
            written.setdefault(tensor.storage, []).append(tensor)
    return written


def name_maybe_writers(snap: Snapshot) -> dict[tuple[str, str], str]:
    """Return (node, tensor that it saved) -> through which others it may have been written unseen.

    A tensor whose bytes are known to have changed is not among them.
    """
    names: dict[tuple[str, str], str] = {}
    for memory in find_maybe_written_memory(snap):
        # Once for all that saved it: both may be thousands.
        joined = join_few_names(snap.label(writer.id) for writer in memory.writers)
        for node, saved in memory.saved_entries:
            same_tensor = (other for other in node.saved if other.tensor == saved.tensor)
            if not any(other.was_written_unseen for other in same_tensor):
                names[node.id, saved.tensor or ""] = joined
    return names
