"""Findings on saved tensors that were written since: counted (backward raises), or unseen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..read import NodeRecord, SavedRecord, Snapshot, TensorRecord
from ..wording import gettext, join_clauses, join_few_names, join_names, ngettext, short_node_name
from .finding_records import (
    BackwardFinding,
    FindingKind,
    SavedEntry,
    list_saved,
)
from .hazards import find_maybe_written_memory, select_stale
from .shared_phrases import (
    add_count_of_others,
    add_lines_that_wrote,
    advise_copy,
    count_writes_since,
    name_counter_sharers,
    name_in_python,
    phrase_all_writes,
    phrase_saved,
    phrase_versions_then_and_now,
)


def find_write_findings(snap: Snapshot, nodes: Iterable[NodeRecord]) -> Iterator[BackwardFinding]:
    """Yield the findings on writes, counted or not, to all that some nodes saved.

    For `blame_lines`. `find_findings` asks for each of the two by itself, of fewer saved tensors.
    """
    saved_entries = list_saved(nodes)
    yield from describe_stale_saves(snap, select_stale(saved_entries))
    yield from describe_unseen_writes(snap, saved_entries)


# -- counted writes: backward raises -------------------------------------------------------


def describe_stale_saves(snap: Snapshot, stale: Sequence[SavedEntry]) -> Iterator[BackwardFinding]:
    """Yield one finding for all leaves together, and one for each other version counter.

    A step of an optimizer writes all leaves: hundreds of findings with one cause.
    """
    leaves: dict[str, str] = {}
    of_leaves: list[SavedEntry] = []
    groups: dict[object, list[SavedEntry]] = {}
    for entry in stale:
        sharers = snap.counter_sharers(entry.saved.tensor)
        leaf_sharers = [sharer for sharer in sharers if sharer.is_leaf and sharer.requires_grad]
        if leaf_sharers:
            leaves |= {leaf.id: snap.label(leaf.id) for leaf in leaf_sharers}
            of_leaves.append(entry)
        else:
            counter = sharers[0].counter if sharers else None
            key = counter or (entry.node.id, entry.saved.name)
            groups.setdefault(key, []).append(entry)
    if len(leaves) == 1 and len(name_counter_sharers(snap, *leaves)) > 1:
        # An alias of this leaf (detach()) was written, it seems, and not the leaf by an optimizer:
        # it is described as what is no leaf.
        groups = {"leaf": of_leaves, **groups}
    elif leaves:
        yield _describe_written_leaves(snap, of_leaves, leaves)
    for group in groups.values():
        yield _describe_written_group(snap, group)


def _describe_written_leaves(
    snap: Snapshot, saved_entries: Sequence[SavedEntry], leaves: dict[str, str]
) -> BackwardFinding:
    sentence = _phrase_stale_save(snap, saved_entries[0])
    reason = ngettext(
        "{names}, a leaf that requires grad, has been written to since, as by a step of an optimizer",
        "{names}, leaves that require grad, have been written to since, as by a step of an optimizer",
        len(leaves),
        names=join_few_names(leaves.values()),
    )
    reason = add_lines_that_wrote(reason, *(entry.saved for entry in saved_entries))
    return BackwardFinding(
        kind="stale",
        sentence=join_clauses(add_count_of_others(sentence, saved_entries), reason),
        way_out=_advise_backward_first(),
        saved_entries=saved_entries,
        sharing=name_counter_sharers(snap, saved_entries[0].saved.tensor),
    )


def _describe_written_group(snap: Snapshot, saved_entries: Sequence[SavedEntry]) -> BackwardFinding:
    node, saved = saved_entries[0]
    sharing = name_counter_sharers(snap, saved.tensor)
    sentence = _phrase_stale_save(snap, saved_entries[0])
    if writes_since := count_writes_since(saved):
        sentence = ngettext(
            "{node} saved {saved} {then_and_now}: it has been written to once since",
            "{node} saved {saved} {then_and_now}: it has been written to {number} times since",
            writes_since,
            node=short_node_name(node.name),
            saved=phrase_saved(snap, saved),
            then_and_now=phrase_versions_then_and_now(saved),
        )
    # The line of the first alone, as its versions are: of the others, which may have been saved
    # later, another line may be to blame.
    sentence = add_count_of_others(add_lines_that_wrote(sentence, saved), saved_entries)
    if len(sharing) > 1:
        counted = gettext(
            "{names} share that version counter, and a write through any of them counts",
            names=join_names(sharing),
        )
        sentence = join_clauses(sentence, counted)
    # Of several names the last one is the alias, which was most likely written through.
    sharers = snap.counter_sharers(saved.tensor)
    way_out = advise_copy([*reversed(sharers)])
    # Running statistics: a copy would not be what the module goes on with.
    if not saved.is_read and saved.name.startswith("running_"):
        way_out = gettext("write what a module tracks after backward")
    return BackwardFinding("stale", sentence, way_out, saved_entries, sharing)


def _phrase_stale_save(snap: Snapshot, entry: SavedEntry) -> str:
    """Return `SigmoidBackward0 saved its result (y) at version 0, now at 1`."""
    return gettext(
        "{node} saved {saved} {then_and_now}",
        node=short_node_name(entry.node.name),
        saved=phrase_saved(snap, entry.saved),
        then_and_now=phrase_versions_then_and_now(entry.saved),
    )


# -- writes that the counter of the saved tensor did not see: its gradient may be wrong --------


def describe_unseen_writes(
    snap: Snapshot, saved_entries: Sequence[SavedEntry]
) -> Iterator[BackwardFinding]:
    """Yield the findings on changed bytes, then on writes that the counters of others counted."""
    changed: dict[object, list[SavedEntry]] = {}
    for entry in saved_entries:
        if entry.saved.was_written_unseen:
            changed.setdefault(_likely_cause(snap, entry.node, entry.saved), []).append(entry)
    for cause, group in changed.items():
        yield _describe_changed_bytes(snap, group, cause)
    # Where the bytes are known to have changed, counters add nothing.
    yield from _describe_counts_of_others(
        snap, [entry for entry in saved_entries if not entry.saved.was_written_unseen]
    )


def _describe_counts_of_others(
    snap: Snapshot, saved_entries: Iterable[SavedEntry]
) -> Iterator[BackwardFinding]:
    """Yield a finding for each counter of others that has counted writes in one storage."""
    saved_ids = {id(entry.saved) for entry in saved_entries}
    groups: dict[object, tuple[TensorRecord, list[list[SavedEntry]]]] = {}
    for memory in find_maybe_written_memory(snap):
        reported = [entry for entry in memory.saved_entries if id(entry.saved) in saved_ids]
        if not reported:
            continue
        # The list itself for each: thousands of aliases may have written what thousands of nodes saved.
        for writer in memory.writers:
            key = (memory.tensor.storage, writer.counter)
            # The first stands for all that one counter has counted in one storage.
            groups.setdefault(key, (writer, []))[1].append(reported)
    for writer, (reported, *others) in groups.values():
        all_reported = [*reported, *chain.from_iterable(others)] if others else reported
        yield _describe_maybe_written(snap, all_reported, writer)


def _likely_cause(snap: Snapshot, node: NodeRecord, saved: SavedRecord) -> object:
    """Return a key, equal for what was probably written for one reason.

    All running statistics (a forward pass), all leaves (an optimizer), or one storage.
    """
    # One forward pass in training mode writes those of all batch norms.
    if saved.name.startswith("running_"):
        return "running"
    sharers = snap.storage_sharers(saved.tensor)
    if any(sharer.is_leaf and sharer.requires_grad for sharer in sharers):
        return "leaf"
    return (sharers[0].storage if sharers else None) or (node.id, saved.name)


def _phrase_changed_bytes(snap: Snapshot, saved_entries: Sequence[SavedEntry]) -> str:
    """Say that what was saved holds other bytes, and what backward makes of these."""
    node, saved = saved_entries[0]
    values = {
        "node": short_node_name(node.name),
        "saved": add_count_of_others(phrase_saved(snap, saved), saved_entries),
        "consequence": _phrase_consequence_of_change(saved_entries),
    }
    if saved.name.startswith("ctx."):
        sentence = gettext(
            "{node} keeps {saved}. Its bytes are not the same as they were then, and no "
            "version is checked for what a Function keeps: {consequence}",
            **values,
        )
    elif saved.tensor and saved.version is None:
        sentence = gettext(
            "{node} saved {saved}. Its bytes are not those of the earlier look, and no "
            "version is checked for what a hook packed: {consequence}",
            **values,
        )
    elif saved.compared_with_save:
        sentence = gettext(
            "{node} saved {saved}. Its bytes are not the same as they were then, and its "
            "version counter has counted no write: {consequence}",
            **values,
        )
    else:
        sentence = gettext(
            "{node} saved {saved}. Its bytes are not those of the earlier look, and its "
            "version counter has counted no write: {consequence}",
            **values,
        )
    sentence = add_lines_that_wrote(sentence, *(entry.saved for entry in saved_entries))
    if not all(entry.saved.is_partly_read for entry in saved_entries):
        return sentence
    return f"{sentence}; " + gettext(
        "the formula reads only signs of it, or which value is larger: where these are the same "
        "as before, the gradient is right"
    )


def _phrase_consequence_of_change(saved_entries: Sequence[SavedEntry]) -> str:
    index_states = {entry.saved.index_state for entry in saved_entries}
    if "out of range" in index_states:
        return gettext(
            "backward selects by what is there now, and raises: an index is out of range"
        )
    if index_states == {"fits"}:
        return gettext(
            "backward selects by what is there now, and the gradient goes to other places, without an "
            "error"
        )
    if any(_is_index(entry) for entry in saved_entries):
        return gettext(
            "backward selects by what is there now: it raises an error where that does not fit (an "
            "index out of range, a mask that selects another number), and else the gradient goes to "
            "other places, without an error"
        )
    return gettext("backward computes from what is there now, without an error")


def _is_index(entry: SavedEntry) -> bool:
    """Return True for integers that select, or a mask, which backward checks when it reads them."""
    # Found by running: an `embedding` and pools with indexes do not check, and write anywhere.
    kind, name = entry.node.name.rpartition("::")[2], entry.saved.name.partition("[")[0]
    is_of_selection = name in ("index", "indices", "target") or (
        name == "mask" and kind.startswith("MaskedSelect")
    )
    return (
        is_of_selection and _has_dtype(entry.saved, "int|bool") and not kind.startswith("Embedding")
    )


def _has_dtype(saved: SavedRecord, pattern: str) -> bool:
    """Return True if the dtype of what was saved is known, and contains a pattern."""
    # No other field has it. The geometry is as "(3,) (1,) torch.float32 True".
    geometry = "" if saved.checksum_now is None else saved.checksum_now[0]
    return re.search(rf"torch\.\w*({pattern})", geometry) is not None


def _describe_changed_bytes(
    snap: Snapshot, saved_entries: Sequence[SavedEntry], cause: object
) -> BackwardFinding:
    sentence, saved = _phrase_changed_bytes(snap, saved_entries), saved_entries[0].saved
    tensor = snap.tensor(saved.tensor) if saved.tensor else None
    label = gettext("the tensor")
    if tensor is not None and tensor.names:
        label = snap.label(tensor.id)
    if cause == "running":
        way_out = gettext(
            "call backward before the next forward pass in training mode, which updates it "
            "without counting"
        )
    elif cause == "leaf":
        way_out = _advise_backward_first()
    else:
        way_out = _advise_other_write(snap, tensor)
    # Other values give another gradient, which is certain. Another index (of gather, say) may be
    # out of range, and then backward raises.
    is_differentiable = _has_dtype(saved, "float|complex")
    index_states = {entry.saved.index_state for entry in saved_entries}
    kind: FindingKind = "not known"
    if "out of range" in index_states:
        kind = "refused"
    elif is_differentiable or index_states == {"fits"}:
        kind = "unseen write"
    return BackwardFinding(kind, sentence, way_out, saved_entries, (label,))


def _describe_maybe_written(
    snap: Snapshot, saved_entries: Sequence[SavedEntry], writer: TensorRecord
) -> BackwardFinding:
    node, saved = saved_entries[0]
    tensor = snap.tensor(saved.tensor or "")
    here, there = snap.label(tensor.id), snap.label(writer.id)
    sentence = gettext(
        "{node} saved {saved}. The same memory is seen by {there}, whose own counter {other} "
        "has counted {writes}; "
        "counter {counter} of {here}, which backward checks, has not seen them. If they came "
        "after the save, the "
        "gradient is wrong without an error",
        node=short_node_name(node.name),
        saved=phrase_saved(snap, saved),
        there=there,
        other=writer.counter,
        writes=phrase_all_writes(writer),
        counter=tensor.counter,
        here=here,
    )
    return BackwardFinding(
        kind="unseen write",
        sentence=add_count_of_others(sentence, saved_entries),
        way_out=_advise_other_write(snap, tensor, writer),
        saved_entries=saved_entries,
        sharing=(here, there),
    )


def _advise_backward_first() -> str:
    return gettext("call backward before that write, or compute the result again after it")


def _advise_other_write(
    snap: Snapshot, tensor: TensorRecord | None, writer: TensorRecord | None = None
) -> str:
    """Return the way out of a write that the counter of a saved tensor did not see."""
    candidates = [candidate for candidate in (writer, tensor) if candidate is not None]
    name = "" if tensor is None else name_in_python(tensor)
    if tensor is None or tensor.storage is None or not name:
        return advise_copy(candidates)
    storage = snap.storage(tensor.storage)
    if storage.arrays:
        return gettext(
            "write to a copy of {array}, or make it from a copy ({name}.detach().clone())",
            array=join_names(storage.arrays),
            name=name,
        )
    # `.data` gives a tensor without history over the same storage object; what requires grad, and
    # what is over another one, came about in another way.
    if storage.objects > 1 or (writer is not None and writer.requires_grad):
        return advise_copy(candidates)
    return gettext(
        "write to a copy ({here}.detach().clone()); a write through {here}.detach() would at least be "
        "counted, so that backward raises",
        here=name,
    )
