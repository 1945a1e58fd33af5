"""What the memory picture says of tensors with a hazard.

Each remark has a sentence for the text and a shorter caption for the drawing. Versions are in the
sentence alone, as the drawing has the mark of the version counter beside the tensor; the line that
wrote (`add_writing_lines`) is in both. What the graph picture says of the same is in
`graph_remarks`: there it is in the node's entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..diagnose import (
    SavedOfNode,
    add_writing_lines,
    find_maybe_unseen_writes,
    find_refusals_of_snapshot,
    find_stale_saved,
    list_saved,
    phrase_consequence,
    phrase_refusal,
    phrase_then_and_now,
    phrase_writes,
)
from ..read import NodeRecord, SavedRecord, Snapshot
from ..wording import gettext, join_few_names, short_node_name
from .contents import Remark


def describe_hazards(snap: Snapshot) -> dict[str, tuple[Remark, ...]]:
    """Return the remarks on hazards, by the ids of the tensors that have them."""
    remarks: dict[str, dict[str, Remark]] = {}
    captions: set[tuple[str, str]] = set()
    for tensor_id, remark in _describe_each_hazard(snap):
        group = remarks.setdefault(tensor_id, {})
        # Many nodes may have saved one tensor, and say the same.
        if remark.sentence in group:
            continue
        # Two sentences that differ in a version alone have one caption. The second remark is left
        # with its sentence, which only the text says.
        is_caption_said = (tensor_id, remark.caption) in captions
        captions.add((tensor_id, remark.caption))
        group[remark.sentence] = remark._replace(caption="") if is_caption_said else remark
    return {tensor_id: tuple(group.values()) for tensor_id, group in remarks.items()}


def _describe_each_hazard(snap: Snapshot) -> Iterator[tuple[str, Remark]]:
    """Yield a remark for each node that saved a tensor with a hazard, with the id of that tensor."""
    for node, saved in find_stale_saved(snap):
        if saved.tensor is not None:
            caption = gettext(
                "saved by {node}: {consequence}",
                node=short_node_name(node.name),
                consequence=phrase_consequence(saved),
            )
            caption = add_writing_lines(caption, saved)
            yield saved.tensor, Remark("hazard", _sentence_of_stale(node, saved), caption)
    for node, saved in list_saved(snap.nodes):
        if saved.was_written_unseen and saved.tensor is not None:
            sentence = gettext(
                "{node} saved it, and it was written past its version counter",
                node=short_node_name(node.name),
            )
            caption = gettext(
                "saved by {node}: the gradient may be wrong", node=short_node_name(node.name)
            )
            sentence = add_writing_lines(sentence, saved)
            caption = add_writing_lines(caption, saved)
            yield saved.tensor, Remark("hazard", sentence, caption)
        if saved.state == "detached" and saved.tensor is not None:
            sentence = gettext(
                "{node} saved it, and detach_() has cut it off its history since: backward will "
                "raise",
                node=short_node_name(node.name),
            )
            caption = gettext(
                "saved by {node}, detached since: backward will raise",
                node=short_node_name(node.name),
            )
            yield saved.tensor, Remark("hazard", sentence, caption)
    for refusal in find_refusals_of_snapshot(snap):
        if refusal.node.variable is not None:
            yield refusal.node.variable, Remark.in_both("hazard", phrase_refusal(refusal))
    yield from _describe_maybe_unseen_writes(snap)


def _describe_maybe_unseen_writes(snap: Snapshot) -> Iterator[tuple[str, Remark]]:
    """Yield the remarks on writes that only another counter over the same memory has counted."""
    nodes_by_list: dict[int, dict[str, str]] = {}
    for tensor, writer, pairs in find_maybe_unseen_writes(snap):
        # Once for each list: it may be that of thousands of writers.
        if id(pairs) not in nodes_by_list:
            nodes: dict[str, str] = {}
            for node, saved in pairs:
                nodes.setdefault(saved.tensor or "", short_node_name(node.name))
            nodes_by_list[id(pairs)] = nodes
        sentence = gettext(
            "{other} counted {writes} here that {own} did not see: backward may be silently wrong",
            other=writer.counter,
            writes=phrase_writes(writer),
            own=tensor.counter,
        )
        for tensor_id, node_name in nodes_by_list[id(pairs)].items():
            # Without the ids of counters: the drawing has no such names, it has two marks.
            caption = gettext("saved by {node}: the gradient may be wrong", node=node_name)
            yield tensor_id, Remark("hazard", sentence, caption)


def describe_hazards_out_of_sight(snap: Snapshot, ids_with_row: Collection[str]) -> list[str]:
    """Return the sentences on stale saved tensors that have no row, or are not known."""
    notes: dict[str, None] = {}
    groups: dict[str, list[SavedOfNode]] = {}
    for node, saved in find_stale_saved(snap):
        sentence = _sentence_of_stale(node, saved)
        if saved.tensor is None:
            # It may have a name, and be shown: which one it is could not be found out.
            notes[gettext("a saved tensor: {sentence}", sentence=sentence)] = None
        elif saved.tensor not in ids_with_row:
            # Of hundreds of layers that were written in place, all may say the same.
            groups.setdefault(sentence, []).append(SavedOfNode(node, saved))
    for pairs in groups.values():
        notes[_sentence_of_hidden(snap, pairs)] = None
    return list(notes)


def _sentence_of_stale(node: NodeRecord, saved: SavedRecord) -> str:
    sentence = gettext(
        "{node} saved it {then_and_now}: {consequence}",
        node=short_node_name(node.name),
        then_and_now=phrase_then_and_now(saved),
        consequence=phrase_consequence(saved),
    )
    return add_writing_lines(sentence, saved)


def _sentence_of_hidden(snap: Snapshot, pairs: Sequence[SavedOfNode]) -> str:
    """Return what is said of tensors without a row, by what the graph picture calls them."""
    node, saved = pairs[0]
    labels = dict.fromkeys(snap.label(pair.saved.tensor or "") for pair in pairs)
    sentence = gettext(
        "{node} saved {saved} {then_and_now}: {consequence}",
        node=short_node_name(node.name),
        saved=join_few_names(labels),
        then_and_now=phrase_then_and_now(saved),
        consequence=phrase_consequence(saved),
    )
    return add_writing_lines(sentence, saved)
