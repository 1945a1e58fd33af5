"""Findings on a backward that is not called: why it would raise, be wrong, or is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..read import NodeRecord, SavedRecord, Snapshot, TensorRecord
from ..wording import (
    MOST_NAMES,
    Phrase,
    format_shape,
    gettext,
    join_clauses,
    join_few_names,
    ngettext,
    short_node_name,
)
from .finding_records import (
    BackwardFinding,
    SavedEntry,
    list_saved,
)
from .grad_layouts import find_doubts_on_layouts
from .hazards import select_stale
from .refusals import (
    describe_wrong_start,
    find_refusals,
    find_reshaped,
)
from .shared_phrases import (
    add_count_of_others,
    add_lines_that_wrote,
    advise_copy,
    phrase_backward,
    phrase_saved,
    saved_noun,
)
from .undefined_gradients import find_nodes_with_gradient
from .visiting_order import find_visiting_order
from .write_findings import describe_stale_saves, describe_unseen_writes

HIDDEN = ("packed", "once", "unreadable")
"""States of what could not be looked at."""
_NODES_WITHOUT_DERIVATIVE = ("NotImplemented", "DelayedError", "Error")


def find_findings(
    snap: Snapshot, root: TensorRecord, nodes: list[NodeRecord], visited_before: Mapping[str, str]
) -> Iterator[BackwardFinding]:
    """Yield what speaks against a backward on `root`, whose graph has these nodes.

    `visited_before`: the nodes that a backward before it visits, and the call of this.
    """
    name = snap.label(root.id)
    cannot_start = _find_why_it_cannot_start(root, name)
    # All other findings would be about a backward that never begins.
    if cannot_start is not None:
        yield cannot_start
        return
    yield from _find_not_a_scalar(snap, root)
    wrong_start = describe_wrong_start(snap, root)
    # Of another size it is said already that backward wants one element.
    if wrong_start and root.numel == 1:
        yield BackwardFinding("refused", wrong_start)
    saved_entries = list_saved(nodes)
    yield from _find_saves_that_raise(snap, root, saved_entries, visited_before)
    refusals = find_refusals(snap, nodes)
    for refusal in refusals:
        if refusal.is_certain:
            yield BackwardFinding("refused", refusal.sentence, refusal.way_out)
    for node in nodes:
        if short_node_name(node.name) in _NODES_WITHOUT_DERIVATIVE:
            yield _describe_no_derivative(node)
    # A write to what backward only checks (running statistics) changes no gradient, nor one to what
    # a node saved that gets none.
    reached = find_nodes_with_gradient(nodes)
    read_by_backward = [
        entry for entry in saved_entries if entry.saved.is_read and entry.node.id in reached
    ]
    yield from describe_unseen_writes(snap, read_by_backward)
    yield from _describe_changes(read_by_backward)
    # Doubts come last: `explain` leaves them out where something is certain.
    for refusal in refusals:
        if not refusal.is_certain:
            yield BackwardFinding(
                "not known", refusal.sentence, refusal.way_out, after_run="not known"
            )
    yield from _find_writes_to_saved_grads(snap, root, nodes, visited_before)
    yield from _find_not_known(snap, root, nodes, saved_entries)
    yield from _find_not_compared(snap, read_by_backward)


# -- why it raises -----------------------------------------------------------------------


def _find_saves_that_raise(
    snap: Snapshot,
    root: TensorRecord,
    saved_entries: Sequence[SavedEntry],
    visited_before: Mapping[str, str],
) -> Iterator[BackwardFinding]:
    """Yield the findings on what backward opens, and must not."""
    # Of what backward opens or not as it likes, `_find_unknown_saves` says so.
    certain: list[SavedEntry] = []
    # What the backward on another root will have freed by then.
    used_before: list[SavedEntry] = []
    for entry in saved_entries:
        if entry.saved.raises:
            certain.append(entry)
        is_opened_live = entry.saved.state == "live" and entry.saved.is_opened
        if is_opened_live and entry.node.id in visited_before:
            used_before.append(entry)
    yield from describe_stale_saves(snap, select_stale(certain))
    yield from _describe_detached([entry for entry in certain if entry.saved.state == "detached"])
    freed = [entry for entry in certain if entry.saved.state == "freed"]
    if freed:
        yield _describe_freed(snap, root, freed, saved_entries)
    if used_before:
        yield _describe_used_twice(used_before, visited_before[used_before[0].node.id])


def _describe_detached(saved_entries: Sequence[SavedEntry]) -> Iterator[BackwardFinding]:
    if saved_entries:
        sentence = gettext(
            "{node} saved {saved}, which detach_() has cut off its history since",
            node=short_node_name(saved_entries[0].node.name),
            saved=gettext("its {saved}", saved=saved_noun(saved_entries[0].saved)),
        )
        way_out = gettext("call detach(), which gives another tensor, or detach_() after backward")
        yield BackwardFinding(
            "detached", add_count_of_others(sentence, saved_entries), way_out, saved_entries
        )


def _find_why_it_cannot_start(root: TensorRecord, name: str) -> BackwardFinding | None:
    if root.is_leaf is None:
        sentence = gettext(
            "{name} is a view that was made in no_grad mode, and its base has been written to since",
            name=name,
        )
        way_out = gettext("make the view outside of no_grad, or write inside of it")
        return BackwardFinding("invalid", sentence, way_out)
    if not root.requires_grad:
        sentence = gettext(
            "{name} requires no grad: it was not computed from a tensor that does, was cut off by "
            "detach or .data, or was computed while grad mode was off, as under no_grad",
            name=name,
        )
        way_out = gettext(
            "call requires_grad_() on the leaf before computing, and keep detach and no_grad out of "
            "the way"
        )
        return BackwardFinding("no grad", sentence, way_out)
    return None


def _find_not_a_scalar(snap: Snapshot, root: TensorRecord) -> Iterator[BackwardFinding]:
    name, is_complex = snap.label(root.id), "complex" in root.dtype
    if root.numel != 1:
        sentence = gettext(
            "{name} has {count} elements, and backward() without an argument wants one",
            name=name,
            count=f"{root.numel:,}",
        )
        way_out = gettext(
            "call {call}, or give backward a gradient of shape {shape}",
            # The sum of complex numbers is one, too.
            call=phrase_backward(snap, root.id, ".abs().sum()" if is_complex else ".sum()"),
            shape=format_shape(root.shape),
        )
        yield BackwardFinding("not a scalar", sentence, way_out)
    elif is_complex:
        sentence = gettext(
            "{name} is complex, and backward() without an argument wants a real number", name=name
        )
        way_out = gettext(
            "call backward on {absolute} or {real}",
            absolute=snap.attribute_label(root.id, "abs()"),
            real=snap.attribute_label(root.id, "real"),
        )
        yield BackwardFinding("not a scalar", sentence, way_out)


def _describe_freed(
    snap: Snapshot,
    root: TensorRecord,
    freed: Sequence[SavedEntry],
    saved_entries: Sequence[SavedEntry],
) -> BackwardFinding:
    """Return one finding, whether an earlier backward used all of the graph or a part of it."""
    node, saved = freed[0]
    sentence = gettext(
        "{node} freed its saved {saved} in an earlier backward without retain_graph=True",
        node=short_node_name(node.name),
        saved=saved_noun(saved),
    )
    sentence = add_count_of_others(sentence, freed)
    way_out = gettext(
        "compute the result anew, or call the earlier backward with retain_graph=True"
    )
    if any(entry.saved.state == "live" for entry in saved_entries):
        # Typical of a hidden state that is carried from batch to batch without detach().
        freed_ids = {entry.node.id for entry in freed}
        carried = [
            tensor
            for tensor in snap.named_tensors
            if tensor.id != root.id and tensor.grad_fn in freed_ids
        ]
        sentence = join_clauses(
            sentence, gettext("that backward did not go through all of this graph")
        )
        if carried:
            sentence += gettext(
                ", and {carried} leads into what was used", carried=snap.label(carried[0].id)
            )
        way_out = gettext(
            "detach() what is carried over from the earlier computation, as a hidden state, "
            "or, if both belong "
            "together, add up the results and call backward once"
        )
    elif root.grad_fn_name == "AddBackward0":
        # Typical of `total = total + loss` for a log.
        advice = gettext("if the sum is only shown, add up loss.detach() or loss.item()")
        way_out = join_clauses(way_out, advice)
    return BackwardFinding("freed", sentence, way_out, freed)


def _describe_used_twice(shared: Sequence[SavedEntry], first_call: str) -> BackwardFinding:
    node, saved = shared[0]
    sentence = gettext(
        "{call}, called first, gives back what {node} saved ({saved})",
        call=first_call,
        node=short_node_name(node.name),
        saved=saved_noun(saved),
    )
    way_out = gettext(
        "add them up and call backward once, or call the first one with retain_graph=True"
    )
    return BackwardFinding("freed", add_count_of_others(sentence, shared), way_out, shared)


def _describe_no_derivative(node: NodeRecord) -> BackwardFinding:
    sentence = gettext(
        "{node} stands for an operation that has no derivative", node=short_node_name(node.name)
    )
    return BackwardFinding(
        "no derivative", sentence, gettext("compute it from operations that have one")
    )


def _describe_changes(saved_entries: Sequence[SavedEntry]) -> Iterator[BackwardFinding]:
    """Yield a finding for each checkpoint that computes other values than those it has packed."""
    groups: dict[Phrase, list[SavedEntry]] = {}
    for entry in saved_entries:
        if entry.saved.change:
            groups.setdefault(entry.saved.change, []).append(entry)
    for change, group in groups.items():
        sentence = add_lines_that_wrote(change.word(), group[0].saved)
        yield BackwardFinding("unseen write", sentence, advise_copy([]), group)


# -- why it is not known -----------------------------------------------------------------


def _find_not_known(
    snap: Snapshot,
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    saved_entries: Sequence[SavedEntry],
) -> Iterator[BackwardFinding]:
    doubts = dict.fromkeys(snap.doubts)
    hidden_doubts: dict[str, None] = {}
    for node in nodes:
        # That it ran shows that a hidden save did not raise, and nothing of its bytes.
        if not node.doubts:
            continue
        if node.hides_saved:
            hidden_doubts |= dict.fromkeys(node.doubts)
        else:
            doubts |= dict.fromkeys(node.doubts)
    doubts |= dict.fromkeys(_find_doubts_on_shapes(snap, root, nodes))
    if any(node.is_reader_stopped for node in nodes):
        hidden_doubts |= dict.fromkeys(snap.notes)
    way_out = gettext("ask explain(..., run=True), which runs backward and adds to no .grad")
    for doubt in doubts:
        yield BackwardFinding("not known", doubt, way_out)
    for doubt in hidden_doubts:
        yield BackwardFinding("not known", doubt, way_out, after_run="not compared")
    for doubt in find_doubts_on_layouts(snap, nodes):
        # A run adds to no .grad.
        yield BackwardFinding("not known", doubt, after_run="not known")
    yield from _find_unknown_saves(snap, saved_entries, way_out)


def _find_unknown_saves(
    snap: Snapshot, saved_entries: Sequence[SavedEntry], way_out: str
) -> Iterator[BackwardFinding]:
    """Yield why it is not known what backward does with something saved."""
    packed: dict[Phrase, list[SavedEntry]] = {}
    for entry in saved_entries:
        if entry.saved.doubt:
            packed.setdefault(entry.saved.doubt, []).append(entry)
    for doubt, group in packed.items():
        yield BackwardFinding("not known", doubt.word(), way_out, group, after_run="not compared")
    for entry in saved_entries:
        # Stale or freed, and a Function may never open it. One sentence for both, so it has no versions.
        if entry.saved.raises is None:
            sentence = gettext(
                "{node} saved {saved}; what was saved has been written to or given back since, and its "
                "backward raises if it opens that",
                node=short_node_name(entry.node.name),
                saved=phrase_saved(snap, entry.saved),
            )
            sentence = add_lines_that_wrote(sentence, entry.saved)
            # Where it ran, another tensor was read, or the error was caught.
            yield BackwardFinding("not known", sentence, "", [entry], after_run="not compared")
    hidden = [entry for entry in saved_entries if _is_hidden(entry.saved)]
    # Where each has a doubt of its own, that was given above.
    if hidden and not all(entry.saved.doubt for entry in hidden):
        sentence = ngettext(
            "{node} saved {name}, which cannot be read; it was not opened",
            "{node} saved {name}, which cannot be read, as {number} saved tensors; they were not "
            "opened",
            len(hidden),
            node=short_node_name(hidden[0].node.name),
            name=gettext("its {saved}", saved=saved_noun(hidden[0].saved)),
        )
        yield BackwardFinding("not known", sentence, "", hidden, after_run="not compared")


def _is_hidden(saved: SavedRecord) -> bool:
    """Return True if backward reads it, a look cannot, and nothing else is known of it."""
    # What refuses to be opened is a finding of `find_refusals`.
    is_explained = bool(saved.refusal or saved.change)
    return saved.state in HIDDEN and saved.is_read and not is_explained


def _find_doubts_on_shapes(
    snap: Snapshot, root: TensorRecord, nodes: Sequence[NodeRecord]
) -> Iterator[str]:
    for tensor in find_reshaped(snap, nodes):
        # Backward sums the gradient that it starts with to the former shape.
        if tensor.id == root.id and not describe_wrong_start(snap, root):
            continue
        yield gettext(
            "{name} was given another shape by .data, and gradients of the old one are expected",
            name=snap.label(tensor.id),
        )


def _find_writes_to_saved_grads(
    snap: Snapshot,
    root: TensorRecord,
    nodes: Sequence[NodeRecord],
    visited_before: Mapping[str, str],
) -> Iterator[BackwardFinding]:
    """Yield what goes wrong, or may, where a gradient is added in place to one that a node saved."""
    # A backward before it may add to them, too.
    visited = dict.fromkeys(visited_before)
    for node in nodes:
        visited[node.id] = None
    accumulators = [node for node in map(snap.node, visited) if _has_leaf_with_grad(snap, node)]
    if not accumulators:
        return
    entries_by_storage = _group_live_by_storage(snap, nodes)
    for node in accumulators:
        leaf = snap.tensor(node.variable or "")
        saved_entries = entries_by_storage.get(snap.tensor(leaf.grad or "").storage, [])
        # What the backward before adds is there before this one reads anything.
        is_order_known = True
        if saved_entries and node.id not in visited_before:
            # A Function may return None, and then nothing is added behind it.
            has_function = any(other.function is not None for other in nodes)
            order = None if has_function else find_visiting_order(snap, root, nodes)
            is_order_known = order is not None
            if order is not None:
                saved_entries = [
                    entry for entry in saved_entries if order[node.id] < order[entry.node.id]
                ]
        # Without any, all is read before.
        if saved_entries:
            yield _describe_write_to_grad(
                snap, leaf, saved_entries[0], is_order_known=is_order_known
            )


def _has_leaf_with_grad(snap: Snapshot, node: NodeRecord) -> bool:
    leaf = snap.leaf_of(node)
    return leaf is not None and leaf.grad is not None


def _group_live_by_storage(
    snap: Snapshot, nodes: Sequence[NodeRecord]
) -> dict[str | None, list[SavedEntry]]:
    """Return storage id -> the live tensors over it that nodes saved and read in backward."""
    groups: dict[str | None, list[SavedEntry]] = {}
    for entry in list_saved(nodes):
        if entry.saved.is_read and entry.saved.tensor and entry.saved.state == "live":
            groups.setdefault(snap.tensor(entry.saved.tensor).storage, []).append(entry)
    return groups


def _describe_write_to_grad(
    snap: Snapshot, leaf: TensorRecord, entry: SavedEntry, *, is_order_known: bool
) -> BackwardFinding:
    """Return the finding on the .grad of a leaf that a node saved and backward adds to in place.

    is_order_known: it is known that backward adds to it before it reaches that node.
    """
    node, saved = entry
    is_counted = snap.tensor(saved.tensor or "").counter == snap.tensor(leaf.grad or "").counter
    # No version is checked of what a hook has packed, or a Function keeps.
    is_checked = saved.saved_version is not None
    words = {"node": short_node_name(node.name), "grad": snap.grad_label(leaf.id)}
    if is_order_known and is_counted and is_checked and saved.is_opened:
        sentence = gettext(
            "{node} saved {grad}, to which backward adds in place before it reaches {node}", **words
        )
        return BackwardFinding("refused", sentence, gettext("set it to None before backward"))
    sentence = gettext("{node} saved {grad}, to which backward itself may add in place", **words)
    return BackwardFinding("not known", sentence, after_run="not known")


def _find_not_compared(
    snap: Snapshot, saved_entries: Sequence[SavedEntry]
) -> Iterator[BackwardFinding]:
    # By reason: of hundreds of layers each reason is one sentence.
    groups: dict[tuple[Phrase | None, bool], list[SavedEntry]] = {}
    for entry in saved_entries:
        if entry.saved.state == "live" and entry.saved.bytes_unchanged is None:
            groups.setdefault((entry.saved.not_read, entry.saved.compared_in_part), []).append(
                entry
            )
    for (reason, is_in_part), group in groups.items():
        names = _join_labels_of_saved(snap, group)
        if is_in_part:
            yield _describe_partly_compared(group, names)
        elif reason:
            yield _describe_unreadable(group, names, reason.word())
        else:
            yield _describe_first_look(group, names)


def _join_labels_of_saved(snap: Snapshot, group: Sequence[SavedEntry]) -> str:
    distinct = {
        entry.saved.tensor or f"{entry.node.id} {entry.saved.name}": entry for entry in group
    }
    names = [_label_or_noun_of_saved(snap, entry) for entry in list(distinct.values())[:MOST_NAMES]]
    # Of thousands, the others are only counted: by their keys.
    return join_few_names([*names, *list(distinct)[MOST_NAMES:]])


def _label_or_noun_of_saved(snap: Snapshot, entry: SavedEntry) -> str:
    if entry.saved.tensor:
        return snap.label(entry.saved.tensor)
    return phrase_saved(snap, entry.saved)


def _describe_unreadable(group: Sequence[SavedEntry], names: str, reason: str) -> BackwardFinding:
    sentence = ngettext(
        "{number} saved tensor ({names}) cannot be compared with an earlier look: {why}",
        "{number} saved tensors ({names}) cannot be compared with an earlier look: {why}",
        len(group),
        names=names,
        why=reason,
    )
    return BackwardFinding("not compared", sentence, "", group)


def _describe_partly_compared(group: Sequence[SavedEntry], names: str) -> BackwardFinding:
    sentence = ngettext(
        "{number} saved tensor ({names}) was compared with the save in pieces or not at all; no change "
        "was found and no operation was seen to write to it, but what NumPy or another library writes "
        "may not show",
        "{number} saved tensors ({names}) were compared with the save in pieces or not at all; no change "
        "was found and no operation was seen to write to them, but what NumPy or another library writes "
        "may not show",
        len(group),
        names=names,
    )
    return BackwardFinding("not compared", sentence, "", group)


def _describe_first_look(group: Sequence[SavedEntry], names: str) -> BackwardFinding:
    sentence = ngettext(
        "{number} saved tensor ({names}) was not compared with an earlier look; a write "
        "through .data, NumPy or a "
        "storage would not show",
        "{number} saved tensors ({names}) were not compared with an earlier look; a write "
        "through .data, NumPy or "
        "a storage would not show",
        len(group),
        names=names,
    )
    way_out = gettext(
        "ask inside of `with copylab.watch():` around the forward pass, which compares with the "
        "bytes at the save"
    )
    return BackwardFinding("not compared", sentence, way_out, group)
