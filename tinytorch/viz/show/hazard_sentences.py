"""What the memory picture says of tensors with a hazard.

What the graph picture says of the same is in `graph_remarks`: there it is in the node's entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..diagnose import (
    SavedBy,
    add_writing_lines,
    all_saved,
    find_maybe_unseen_writes,
    find_refusals,
    find_stale_saved,
    phrase_consequence,
    phrase_then_and_now,
    phrase_writes,
)
from ..read import NodeRecord, SavedRecord, Snapshot
from ..wording import gettext, join_few_names, short_node_name


def describe_hazards(snap: Snapshot) -> dict[str, tuple[str, ...]]:
    """Return tensor id -> the sentences on it, for each tensor with a hazard."""
    sentences: dict[str, dict[str, None]] = {}
    # Dicts for their keys: many nodes may have saved one tensor, and say the same.
    for tensor_id, sentence in _find_hazard_sentences(snap):
        sentences.setdefault(tensor_id, {})[sentence] = None
    return {tensor_id: tuple(group) for tensor_id, group in sentences.items()}


def _find_hazard_sentences(snap: Snapshot) -> Iterator[tuple[str, str]]:
    for node, saved in find_stale_saved(snap):
        if saved.tensor is not None:
            yield saved.tensor, _sentence_of_stale(node, saved)
    for node, saved in all_saved(snap.nodes):
        if saved.was_written_unseen and saved.tensor is not None:
            sentence = gettext(
                "{node} saved it, and it was written past its version counter",
                node=short_node_name(node.name),
            )
            yield saved.tensor, add_writing_lines(sentence, saved)
        if saved.state == "detached" and saved.tensor is not None:
            sentence = gettext(
                "{node} saved it, and detach_() has cut it off its history since: backward will "
                "raise",
                node=short_node_name(node.name),
            )
            yield saved.tensor, sentence
    for refusal in find_refusals(snap, snap.nodes):
        if refusal.node.variable is not None:
            sentence = gettext("backward will raise: {reason}", reason=refusal.sentence)
            yield refusal.node.variable, sentence
    ids_by_list: dict[int, list[str]] = {}
    unseen_writes = find_maybe_unseen_writes(snap)
    for tensor, writer, pairs in unseen_writes:
        # Once for each list: it may be that of thousands of writers.
        if id(pairs) not in ids_by_list:
            ids_by_list[id(pairs)] = list(dict.fromkeys(pair.saved.tensor or "" for pair in pairs))
        sentence = gettext(
            "{other} counted {writes} here that {own} did not see: backward may be silently wrong",
            other=writer.counter,
            writes=phrase_writes(writer),
            own=tensor.counter,
        )
        for tensor_id in ids_by_list[id(pairs)]:
            yield tensor_id, sentence


def describe_hazards_out_of_sight(snap: Snapshot, ids_with_row: Collection[str]) -> list[str]:
    """Return the sentences on stale saved tensors that have no row, or are not known."""
    notes: dict[str, None] = {}
    groups: dict[str, list[SavedBy]] = {}
    for node, saved in find_stale_saved(snap):
        sentence = _sentence_of_stale(node, saved)
        if saved.tensor is None:
            # It may have a name, and be shown: which one it is could not be found out.
            notes[gettext("a saved tensor: {sentence}", sentence=sentence)] = None
        elif saved.tensor not in ids_with_row:
            # Of hundreds of layers that were written in place, all may say the same.
            groups.setdefault(sentence, []).append(SavedBy(node, saved))
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


def _sentence_of_hidden(snap: Snapshot, pairs: Sequence[SavedBy]) -> str:
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
