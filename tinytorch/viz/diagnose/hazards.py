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
from .finding_records import SavedOfNode, list_saved


class MaybeUnseenWrite(NamedTuple):
    """A write that only another tensor's counter counted: unseen, if it came after the save."""

    tensor: TensorRecord
    """The tensor that was saved."""
    writer: TensorRecord
    """Another one over its memory, whose own counter has counted writes."""
    pairs: list[SavedOfNode]
    """All that saved the tensor, or another one over the same cells and with its counter. Writes
    to the same cells have the same list: by its `id`, what is said of it is worked out once."""


def select_stale(pairs: Iterable[SavedOfNode]) -> list[SavedOfNode]:
    """Return what is stale and makes backward raise, or may: where `raises` is None.

    What backward cannot open is stale as well, and does no harm.
    """
    return [pair for pair in pairs if pair.saved.state == "stale" and pair.saved.may_raise]


def find_stale_saved(snap: Snapshot) -> list[SavedOfNode]:
    """Return what is stale in a snapshot and makes backward raise, or may: see `select_stale`."""
    return select_stale(list_saved(snap.nodes))


def find_maybe_unseen_writes(snap: Snapshot) -> list[MaybeUnseenWrite]:
    """Return the writes that only the counter of another tensor over the same memory counted.

    The counter of the saved tensor, which backward checks, does not know of them.
    """
    # By what is saved, and not by node: thousands of nodes may have saved one tensor, and thousands
    # of `.data` may be over it, each with a counter of its own.
    targets: dict[object, dict[tuple[str, str], SavedOfNode]] = {}
    for pair in list_saved(snap.nodes):
        if pair.saved.state != "live" or pair.saved.tensor is None or not pair.saved.used:
            continue
        # A watch has compared it with what it was when it was saved: nothing was written since.
        if pair.saved.compared_with_save and pair.saved.bytes_unchanged:
            continue
        # Or has seen no operation write to it, which is what counters count.
        if pair.saved.compared_in_part:
            continue
        tensor = snap.tensor(pair.saved.tensor)
        # An empty tensor has no bytes that could be written.
        if tensor.numel:
            extent = (tensor.storage, tensor.start_byte, tensor.stop_byte(), tensor.counter)
            # What a node saved twice, as `z * z` does, is counted once.
            targets.setdefault(extent, {}).setdefault((pair.node.id, tensor.id), pair)
    writers = {
        storage: OverlapIndex(tensors) for storage, tensors in _find_written_tensors(snap).items()
    }
    found = []
    for pairs in (list(target.values()) for target in targets.values()):
        tensor = snap.tensor(pairs[0].saved.tensor or "")
        if tensor.storage in writers:
            found += [
                MaybeUnseenWrite(tensor, writer, pairs)
                for writer in _find_writers(writers[tensor.storage], tensor)
                if not snap.shares_counter(writer, tensor)
            ]
    return found


def _find_writers(written: OverlapIndex, tensor: TensorRecord) -> Iterable[TensorRecord]:
    """Return the written tensors that touch one, of those that share a counter the first."""
    writers: dict[str | None, TensorRecord] = {}
    # Writing one row of a matrix does not touch a saved other one.
    for writer in written.find_overlapping(tensor):
        writers.setdefault(writer.counter, writer)
    return writers.values()


def _find_written_tensors(snap: Snapshot) -> dict[str | None, list[TensorRecord]]:
    """Return storage id -> the tensors over it whose counter has counted a write."""
    writers: dict[str | None, list[TensorRecord]] = {}
    for tensor in snap.tensors:
        # Through one that only nodes hold, nobody writes any more; and no name could be said for it.
        if tensor.role == "saved" or tensor.counter is None or tensor.storage is None:
            continue
        if tensor.version and tensor.numel:
            writers.setdefault(tensor.storage, []).append(tensor)
    return writers


def find_maybe_written(snap: Snapshot) -> dict[tuple[str, str], str]:
    """Return (node, tensor that it saved) -> through which others it may have been changed unseen.

    A tensor whose bytes are known to have changed is not among them.
    """
    labels: dict[tuple[str, str], list[str]] = {}
    names_by_list: dict[int, list[str]] = {}
    """The names for each list of saved tensors, by the `id` of `MaybeUnseenWrite.pairs`."""
    for write in find_maybe_unseen_writes(snap):
        names = names_by_list.setdefault(id(write.pairs), [])
        names.append(snap.label(write.writer.id))
        if len(names) > 1:
            continue  # all that saved it have this list
        for node, saved in write.pairs:
            entries = (each for each in node.saved if each.tensor == saved.tensor)
            if not any(each.was_written_unseen for each in entries):
                labels[node.id, saved.tensor or ""] = names
    joined = {id(names): join_few_names(names) for names in names_by_list.values()}
    return {key: joined[id(names)] for key, names in labels.items()}
