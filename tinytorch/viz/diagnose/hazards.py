"""Tensors with a hazard: they were written after a node saved them, so backward raises or is wrong.

A write that the version counter of the saved tensor counted makes backward raise. One through
`.data`, NumPy or a storage is counted elsewhere or nowhere, and backward computes from the new
values without an error.
"""

from __future__ import annotations

from typing import NamedTuple

from ..read import NodeRecord, Snapshot, TensorRecord
from ..wording import join_names
from .finding import SavedBy, all_saved


class UnseenWrite(NamedTuple):
    """A write that the counter of a saved tensor did not see, if it came after the save."""

    tensor: TensorRecord
    """The tensor that was saved."""
    writer: TensorRecord
    """Another one over its memory, whose own counter has counted writes."""
    node: NodeRecord
    """The node that saved it."""


def find_stale_saved(snap: Snapshot) -> list[SavedBy]:
    """Return all that was written, and counted, after it was saved."""
    return [pair for pair in all_saved(snap.nodes) if pair.saved.state == "stale"]


def find_unseen_writes(snap: Snapshot) -> list[UnseenWrite]:
    """Return the writes that only the counter of another tensor over the same memory counted.

    The counter of the saved tensor, which backward checks, does not know of them.
    """
    writers = _find_written_tensors(snap)
    found = []
    already_found: set[tuple[str, str | None, str]] = set()
    for node, saved in all_saved(snap.nodes):
        if saved.state != "live" or saved.tensor is None:
            continue
        tensor = snap.tensor(saved.tensor)
        for writer in writers.get(tensor.storage, ()):
            # Several tensors may share the writer's counter: one of them is enough.
            key = (tensor.id, writer.counter, node.id)
            if snap.shares_counter(writer, tensor) or key in already_found:
                continue
            # Writing one row of a matrix does not touch a saved other one.
            if tensor.overlaps(writer):
                already_found.add(key)
                found.append(UnseenWrite(tensor, writer, node))
    return found


def _find_written_tensors(snap: Snapshot) -> dict[str | None, list[TensorRecord]]:
    """Return storage id -> the tensors over it whose counter has counted a write."""
    writers: dict[str | None, list[TensorRecord]] = {}
    for tensor in snap.tensors:
        if tensor.role == "saved" or tensor.counter is None or tensor.storage is None:
            continue
        if tensor.version:
            writers.setdefault(tensor.storage, []).append(tensor)
    return writers


def find_possible_writers(snap: Snapshot) -> dict[tuple[str, str], str]:
    """Return (node, tensor that it saved) -> through which others it may have been written unseen.

    A tensor whose bytes are known to have changed is not among them.
    """
    labels: dict[tuple[str, str], list[str]] = {}
    for tensor, writer, node in find_unseen_writes(snap):
        entries = (saved for saved in node.saved if saved.tensor == tensor.id)
        if all(saved.bytes_unchanged is not False for saved in entries):
            labels.setdefault((node.id, tensor.id), []).append(snap.label(writer.id))
    return {key: join_names(names) for key, names in labels.items()}
