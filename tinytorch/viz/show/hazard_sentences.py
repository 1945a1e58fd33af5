"""What the memory picture says of tensors with a hazard.

Each remark has a sentence for the text and a shorter caption for the drawing. Versions are in the
sentence alone, as the drawing has the mark of the version counter beside the tensor. A tensor
without a row has no such mark, and of its hazards the drawing says the sentence, too. The line that
wrote (`add_lines_that_wrote`) is in both. Beside them is a key: of hazards that are one for the drawing
it says the first (`describe_hazards`), whatever is in their captions. What the graph picture says of the same is in
`graph_remarks`: there it is in the node's entry.

All remarks here are of one kind, "hazard": that writes "In trouble: " before the sentence, and draws
the caption in red. The graph picture has kinds of its own ("raises", "changed unseen"), one for each sign.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import NamedTuple

from ..diagnose import (
    add_lines_that_wrote,
    find_maybe_written_memory,
    find_refusals_of_snapshot,
    find_stale_saved,
    list_saved,
    phrase_all_writes,
    phrase_consequence,
    phrase_lines_that_wrote,
    phrase_refusal,
    phrase_versions_then_and_now,
)
from ..read import NodeRecord, SavedRecord, Snapshot, TensorRecord
from ..wording import gettext, join_few_names, short_node_name
from .contents import Remark


class _Hazard(NamedTuple):
    """A hazard of a tensor, put into words."""

    tensor_id: str | None
    """None where it could not be found out which tensor was saved."""
    remark: Remark
    """Its sentence and its caption."""
    key: tuple[str, ...]
    """What makes it another one for the drawing: which harm, by which node, and which line wrote. The
    versions are not in it."""


def describe_hazards(snap: Snapshot) -> dict[str, tuple[Remark, ...]]:
    """Return the remarks on hazards, by the ids of the tensors that have them."""
    remarks: dict[str, dict[str, Remark]] = {}
    drawn: set[tuple[str, tuple[str, ...]]] = set()
    for tensor_id, remark, key in chain(_describe_saved_hazards(snap), _describe_refusals(snap)):
        if tensor_id is None:
            continue
        group = remarks.setdefault(tensor_id, {})
        # Many nodes may have saved one tensor, and say the same.
        if remark.sentence in group:
            continue
        # Of two that differ in a version alone, the second keeps its sentence, which only the text says.
        is_drawn = (tensor_id, key) in drawn
        drawn.add((tensor_id, key))
        group[remark.sentence] = remark._replace(caption="") if is_drawn else remark
    return {tensor_id: tuple(group.values()) for tensor_id, group in remarks.items()}


def describe_hazards_out_of_sight(snap: Snapshot, ids_with_row: Collection[str]) -> list[str]:
    """Return the sentences on tensors with a hazard that have no row, or are not known."""
    sentences: dict[str, None] = {}
    labels_by_sentence: dict[str, dict[str, None]] = {}
    for tensor_id, remark, _ in _describe_saved_hazards(snap):
        if tensor_id is None:
            # It may have a name, and be shown: which one it is could not be found out.
            sentences[gettext("a saved tensor: {sentence}", sentence=remark.sentence)] = None
        elif tensor_id not in ids_with_row:
            # Of hundreds of layers that were written in place, all may say the same.
            labels = labels_by_sentence.setdefault(remark.sentence, {})
            labels[snap.label(tensor_id)] = None
    for sentence, labels in labels_by_sentence.items():
        tensors = join_few_names(labels)
        if len(labels) > 1:
            whole = gettext("each of {tensors}: {sentence}", tensors=tensors, sentence=sentence)
        else:
            whole = gettext("{what}: {facts}", what=tensors, facts=sentence)
        sentences[whole] = None
    for tensor_id, remark, _ in _describe_refusals(snap):
        if tensor_id not in ids_with_row:
            # It names the leaf itself.
            sentences[remark.sentence] = None
    return list(sentences)


# -- what a node saved, and backward no longer finds as it was ---------------------------------


def _describe_saved_hazards(snap: Snapshot) -> Iterator[_Hazard]:
    """Yield each hazard of what a node saved."""
    for node, saved in find_stale_saved(snap):
        yield _describe_stale(node, saved)
    for node, saved in list_saved(snap.nodes):
        if saved.was_written_unseen:
            yield _describe_unseen_write(node, saved)
        if saved.state == "detached" and saved.may_raise:
            yield _describe_detached(node, saved)
    yield from _describe_maybe_unseen_writes(snap)


def _describe_stale(node: NodeRecord, saved: SavedRecord) -> _Hazard:
    """Describe a write that was counted: `saved it at version 0, now at 1: backward will raise`."""
    node_name, consequence = short_node_name(node.name), phrase_consequence(saved)
    sentence = gettext(
        "{node} saved it {then_and_now}: {consequence}",
        node=node_name,
        then_and_now=phrase_versions_then_and_now(saved),
        consequence=consequence,
    )
    caption = gettext("saved by {node}: {consequence}", node=node_name, consequence=consequence)
    # Without the versions: saves that differ in these alone are drawn once.
    return _make_hazard_of_write(saved, sentence, caption, ("stale", node_name, consequence))


def _make_hazard_of_write(
    saved: SavedRecord, sentence: str, caption: str, key: tuple[str, ...]
) -> _Hazard:
    """Make the hazard of a write; sentence, caption and key get the lines that wrote, if a watch saw them."""
    remark = Remark(
        "hazard", add_lines_that_wrote(sentence, saved), add_lines_that_wrote(caption, saved)
    )
    return _Hazard(saved.tensor, remark, (*key, phrase_lines_that_wrote(saved)))


def _describe_unseen_write(node: NodeRecord, saved: SavedRecord) -> _Hazard:
    """Describe a write that no counter counted, and other bytes prove."""
    node_name = short_node_name(node.name)
    sentence = gettext(
        "{node} saved it, and a write that was not counted changed it", node=node_name
    )
    caption = gettext("saved by {node}: the gradient may be wrong", node=node_name)
    return _make_hazard_of_write(saved, sentence, caption, ("gradient", node_name))


def _describe_detached(node: NodeRecord, saved: SavedRecord) -> _Hazard:
    """Describe what `detach_` has cut off: no line wrote, so none is named."""
    values = {"node": short_node_name(node.name), "consequence": phrase_consequence(saved)}
    remark = Remark(
        "hazard",
        gettext(
            "{node} saved it, and detach_() has cut it off its history since: {consequence}",
            **values,
        ),
        gettext("saved by {node}, detached since: {consequence}", **values),
    )
    return _Hazard(saved.tensor, remark, ("detached", *values.values()))


# -- what only the counter of another tensor shows ---------------------------------------------


def _describe_maybe_unseen_writes(snap: Snapshot) -> Iterator[_Hazard]:
    """Yield the writes that only another counter over the same memory has counted."""
    for memory in find_maybe_written_memory(snap):
        # Once for all writers, of which there may be thousands.
        node_names: dict[str, str] = {}
        for node, saved in memory.saved_entries:
            if saved.tensor is not None:
                node_names.setdefault(saved.tensor, short_node_name(node.name))
        for writer in memory.writers:
            sentence = _sentence_of_maybe_unseen(snap, memory.tensor, writer)
            for tensor_id, node_name in node_names.items():
                # Without the ids of counters: the drawing has no such names, it has two marks.
                caption = gettext("saved by {node}: the gradient may be wrong", node=node_name)
                # The key of a write that other bytes prove: the drawing says both alike.
                key = ("gradient", node_name, "")
                yield _Hazard(tensor_id, Remark("hazard", sentence, caption), key)


def _sentence_of_maybe_unseen(snap: Snapshot, tensor: TensorRecord, writer: TensorRecord) -> str:
    sharing = () if tensor.counter is None else snap.counter(tensor.counter).tensors
    # A counter has a mark, and with it a name, where a tensor that has it is drawn.
    if not snap.shown_tensor_ids.isdisjoint(sharing):
        return gettext(
            "{other} counted {writes} here that {own} did not see: backward may be silently wrong",
            other=writer.counter,
            writes=phrase_all_writes(writer),
            own=tensor.counter,
        )
    return gettext(
        "{other} counted {writes} here that its own counter did not see: backward may be silently "
        "wrong",
        other=writer.counter,
        writes=phrase_all_writes(writer),
    )


# -- what is of a leaf itself, and of nothing saved --------------------------------------------


def _describe_refusals(snap: Snapshot) -> Iterator[_Hazard]:
    """Yield a hazard for each leaf that refuses its gradient."""
    for refusal in find_refusals_of_snapshot(snap):
        if refusal.node.variable is not None:
            remark = Remark.in_both("hazard", phrase_refusal(refusal))
            # The drawing says the whole sentence.
            yield _Hazard(refusal.node.variable, remark, ("refusal", remark.sentence))
