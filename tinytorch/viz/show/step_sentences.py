"""What a step of a program changed, in sentences: names, memory, counters, gradients, graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from ..diagnose import Changes
from ..read import PARAM_GROUPS, NodeRecord, Snapshot, StorageRecord, TensorRecord
from ..wording import (
    escape_name,
    escape_unseen,
    format_shape,
    gettext,
    gettext_noop,
    join_few_names,
    ngettext,
    short_node_name,
)
from .graph_cuts import find_cuts
from .graph_remarks import LineFacts
from .left_behind import RETURNED, describe_left_behind
from .levels import LEVELS, Level

MOST_SENTENCES = 12
_MOST_REASONS = 2
"""So many sentences are shown beside headline and numbers; the others can be folded away."""
_MOST_NUMBERS = 4

StepRole = Literal["alarm", "headline", "numbers", "reason", "rest"]
"""What a sentence is on a stage where not all can be seen at once: see `_choose_roles`."""


class NumberPair(NamedTuple):
    """What something was before a step, and is after it: `a.grad`, `2`, `5`."""

    name: str
    """What it is of."""
    before: str
    """Before the step."""
    after: str
    """After it."""
    marked_name: str = ""
    """The name with backticks around what is code in it; empty if all of it is."""


class StepSentence(NamedTuple):
    """One sentence on what a step changed."""

    text: str
    """The sentence, with its full stop."""
    role: StepRole = "reason"
    """What it is to a reader who sees few of them."""
    pair: NumberPair | None = None
    """The same in numbers, where it has any."""


_UNSAID: Mapping[Level, str] = {
    "storage": gettext_noop("a storage"),
    "counter": gettext_noop("a version counter"),
    "graph": gettext_noop("a gradient or the graph"),
}
"""What sentences of a level are about, in the words of who has not learned of it."""

_HEADLINES = ("gradient", "written", "name", "attribute")
"""What a headline may be about, the most important first."""


class _UnrankedSentence(NamedTuple):
    """A sentence before its role is chosen."""

    text: str
    """The sentence."""
    about: str = ""
    """One of `_HEADLINES`, "alarm", "plain" for a variable that is no tensor, or empty."""
    pair: NumberPair | None = None
    """The same in numbers."""
    level: Level = "names"
    """From which level on it is said. Given where the sentence is made, and in no table as the parts of
    a picture are (`levels.py`): what one function says of an attribute or a write is of several levels."""


def describe_step(
    changes: Changes,
    plain_before: Mapping[str, str],
    plain_after: Mapping[str, str],
    *,
    off_graph: Collection[str] = (),
    silent_keys: set[object] | None = None,
    root: str = "",
    level: Level = "graph",
) -> tuple[StepSentence, ...]:
    """Describe what changed in a step: names, memory, version counters, gradients, graph.

    `plain_*` are the variables that are no tensors, with their short texts. `off_graph`: the names of
    results that grad mode kept off the graph. `silent_keys`: the keys of the tensors that have had a
    .grad in earlier steps, or of which it was said that they have none; this step's are added.
    Without it nothing is said of missing gradients. `root`: what the step called backward on, as
    the program has it; empty if it did not, or called it in another function. `level`: how much is
    said, as `memory` has it. Returns at most twelve sentences, the last of which says how many were
    left out.
    """
    # The level is a part of these sentences: a new tensor is described by what was taught of it.
    names = [_UnrankedSentence(text, "name") for text in _describe_names(changes, off_graph, level)]
    left_behind = [
        _UnrankedSentence(text, level="storage") for text in describe_left_behind(changes)
    ]
    sentences = names + left_behind
    # Of a new network the names fill all there is room for.
    if len(sentences) > MOST_SENTENCES:
        sentences = left_behind + names
    sentences += [
        *_describe_attributes(changes),
        *_describe_writes(changes),
        *_describe_gradients(changes, root),
        *_describe_missing_gradients(changes, silent_keys),
        *_describe_saved(changes),
    ]
    sentences = _keep_to_level(sentences, level)
    for name, text in plain_after.items():
        if plain_before.get(name) != text:
            sentence = f"{name} = {text}"
            if name.endswith(RETURNED):
                sentence = gettext("{call} returns {value}.", call=name, value=text)
            sentences.append(_UnrankedSentence(sentence, "plain"))
    if len(sentences) > MOST_SENTENCES:
        more = len(sentences) - MOST_SENTENCES + 1
        left_out = _UnrankedSentence(gettext("And {number} more changes.", number=more), "plain")
        sentences[MOST_SENTENCES - 1 :] = [left_out]
    return tuple(_choose_roles(sentences))


def _keep_to_level(sentences: Sequence[_UnrankedSentence], level: Level) -> list[_UnrankedSentence]:
    highest = LEVELS.index(level)
    of_level = [sentence for sentence in sentences if LEVELS.index(sentence.level) <= highest]
    if sentences and not of_level:
        # Not "nothing changed": something did, of which a level does not speak yet. No box is named that
        # shows it: a text has none, nor has a run that a page stores for a pill.
        unsaid = {sentence.level for sentence in sentences}
        what = join_few_names(gettext(name) for level, name in _UNSAID.items() if level in unsaid)
        text = gettext("What changed is not shown here: {what}.", what=what)
        of_level.append(_UnrankedSentence(text, "plain"))
    return of_level


def _choose_roles(sentences: Sequence[_UnrankedSentence]) -> Iterator[StepSentence]:
    """Give each sentence its role: one is the headline, few are shown, the others can be folded.

    What is in numbers is no headline, unless there is nothing else.
    """
    # An alarm is last: it is shown anyway, apart from the others, so the headline can say what happened.
    order = {about: rank for rank, about in enumerate((*_HEADLINES, "", "plain", "alarm"))}
    # Of equal ones min() takes the first.
    headline = min(
        sentences,
        key=lambda sentence: (sentence.pair is not None, order[sentence.about]),
        default=None,
    )
    counts = {"numbers": _MOST_NUMBERS, "reason": _MOST_REASONS}
    for sentence in sentences:
        role: StepRole = "numbers" if sentence.pair is not None else "reason"
        if sentence.about == "alarm":
            role = "alarm"
        elif sentence is headline:
            role = "headline"
        elif counts[role]:
            counts[role] -= 1
        else:
            role = "rest"
        pair = sentence.pair and NumberPair(*map(escape_unseen, sentence.pair))
        yield StepSentence(escape_unseen(sentence.text), role, pair)


def list_texts(sentences: Iterable[StepSentence]) -> tuple[str, ...]:
    """Return the sentences alone."""
    return tuple(sentence.text for sentence in sentences)


# -- names -------------------------------------------------------------------------


def _describe_names(changes: Changes, off_graph: Collection[str], level: Level) -> Iterator[str]:
    """Yield sentences about names that are new, that are now another tensor's, or that are gone."""
    now, earlier = changes.now, changes.earlier_names
    described: set[str] = set()
    copied_trees = _find_copied_trees(changes)
    for tree in copied_trees:
        yield _describe_copied_tree(tree)
    in_trees = set(chain.from_iterable(tree.names for tree in copied_trees))
    for name, tensor_id in now.names:
        if (name in earlier and name not in changes.rebound_names) or name in in_trees:
            continue
        # What an optimizer alone still has: see `describe_left_behind`.
        if PARAM_GROUPS in name and tensor_id in changes.earlier_tensors:
            continue
        if name.endswith(RETURNED):
            start = gettext("{call} returns", call=name)
        elif name in earlier:
            start = gettext("{name} is now", name=name)
        else:
            start = gettext("{name} is", name=name)
        tensor = now.tensor(tensor_id)
        if tensor_id in changes.earlier_tensors or tensor_id in described:
            yield _describe_old_tensor(changes, start, name, tensor)
        else:
            # Its other names are told as names of the same tensor.
            yield _describe_new_tensor(changes, start, tensor, level, is_kept_off=name in off_graph)
            described.add(tensor_id)
    gone = [
        name
        for name in changes.gone_names
        if not name.endswith(RETURNED) and PARAM_GROUPS not in name
    ]
    if len(gone) == 1:
        yield gettext("{name} is gone.", name=gone[0])
    elif gone:
        yield gettext("{names} are gone.", names=join_few_names(gone))


def _describe_old_tensor(changes: Changes, start: str, name: str, tensor: TensorRecord) -> str:
    others = [other for other in tensor.names if other != name and not other.endswith(RETURNED)]
    if others:
        return gettext(
            "{name_is} the same tensor object as {others}: one more name, nothing was copied.",
            name_is=start,
            others=join_few_names(others),
        )
    earlier = changes.earlier_tensors.get(tensor.id)
    if earlier is not None and earlier.names and earlier.names[0].endswith(RETURNED):
        call = earlier.names[0]
        return gettext("{name_is} the tensor that {call} returned.", name_is=start, call=call)
    if tensor.grad_of is not None and changes.now.tensor(tensor.grad_of).names:
        grad = changes.now.grad_label(tensor.grad_of)
        return gettext("{name_is} the tensor {grad}.", name_is=start, grad=grad)
    return gettext(
        "{name_is} a tensor that already existed ({tensor}).", name_is=start, tensor=tensor.id
    )


def _describe_new_tensor(
    changes: Changes, start: str, tensor: TensorRecord, level: Level, *, is_kept_off: bool
) -> str:
    sharers = _find_sharers(changes, tensor)
    if level == "names":
        if not sharers:
            return gettext("{name_is} a new tensor.", name_is=start)
        names = join_few_names(map(changes.now.first_name, sharers))
        return gettext(
            "{name_is} a new tensor over the cells of {names}.", name_is=start, names=names
        )
    graph = ""
    if level != "graph":
        pass
    elif tensor.grad_fn_name:
        node = short_node_name(tensor.grad_fn_name)
        graph = gettext("; it is on the graph (grad_fn={node})", node=node)
    elif tensor.requires_grad:
        graph = gettext("; it is a leaf that requires grad")
    elif is_kept_off:
        graph = gettext("; it is not on the graph (grad mode is off)")
    elif any(sharer.requires_grad for sharer in sharers):
        # Worth saying of a detached tensor only: all others are off the graph as a matter of course.
        graph = gettext("; it is cut off from the graph")
    return gettext(
        "{name_is} a new tensor {where}{graph}.",
        name_is=start,
        where=_describe_storage(changes, tensor, sharers, level),
        graph=graph,
    )


class _CopiedTree(NamedTuple):
    """An object whose tensors are those of another one, each under the same path in both."""

    root: str
    """Its name."""
    other: str
    """The name of the other one."""
    names: list[str]
    """The names of its tensors."""


def _find_copied_trees(changes: Changes) -> list[_CopiedTree]:
    """Find the objects that became a second name of what others hold: `target = net`."""
    earlier = changes.earlier_names
    found: dict[tuple[str, str], _CopiedTree] = {}
    for name, tensor_id in changes.now.names:
        root, dot, path = name.partition(".")
        is_new_name = name not in earlier or name in changes.rebound_names
        if not dot or not is_new_name or tensor_id not in changes.earlier_tensors:
            continue
        for other in changes.now.tensor(tensor_id).names:
            other_root, _, other_path = other.partition(".")
            if other_path == path and other_root != root and other in earlier:
                tree = found.setdefault((root, other_root), _CopiedTree(root, other_root, []))
                tree.names.append(name)
                break
    # Of a single tensor the usual sentence says the same.
    return [tree for tree in found.values() if len(tree.names) > 1]


def _describe_copied_tree(tree: _CopiedTree) -> str:
    return gettext(
        "{name} has the same {number} tensor objects as {other}: one more name for each, nothing "
        "was copied.",
        name=tree.root,
        number=len(tree.names),
        other=tree.other,
    )


def _find_sharers(changes: Changes, tensor: TensorRecord) -> list[TensorRecord]:
    """Return the earlier tensors with names over the storage of a new one."""
    now = changes.now
    if not tensor.storage:
        return []
    sharers = []
    for member in map(now.tensor, now.storage(tensor.storage).tensors):
        if member.id == tensor.id or member.id not in changes.earlier_tensors:
            continue
        if now.first_name(member):
            sharers.append(member)
    return sharers


def _describe_storage(
    changes: Changes, tensor: TensorRecord, sharers: Sequence[TensorRecord], level: Level
) -> str:
    """Return `with a storage of its own`, or `over the storage of ...` with its counter."""
    now, since = changes.now, changes.since
    if tensor.storage is None:
        return gettext("without a storage")
    if not sharers:
        key = now.storage(tensor.storage).key
        # Its tensors may be gone while something else, a saved tensor, keeps the storage.
        if since is not None and any(storage.key == key for storage in since.storages):
            return gettext("over a storage that already existed")
        arrays = now.storage(tensor.storage).arrays
        if arrays:  # as of torch.from_numpy
            return ngettext(
                "over the memory of the NumPy array {names}",
                "over the memory of the NumPy arrays {names}",
                len(arrays),
                names=join_few_names(map(escape_name, arrays)),
            )
        return gettext("with a storage of its own")
    names = join_few_names(map(now.first_name, sharers))
    if level == "storage":
        return gettext("over the storage of {names}", names=names)
    same_counter: list[TensorRecord] = []
    # Inference tensors have none, and so none in common.
    if tensor.counter is not None:
        same_counter = [sharer for sharer in sharers if sharer.counter == tensor.counter]
    if len(same_counter) == len(sharers):
        return gettext("over the storage of {names}, with the same version counter", names=names)
    if not same_counter:
        return gettext(
            "over the storage of {names}, but with a version counter of its own", names=names
        )
    return gettext(
        "over the storage of {names}, with the version counter of {same}",
        names=names,
        same=join_few_names(map(now.first_name, same_counter)),
    )


# -- tensors that were there before ------------------------------------------------


def _describe_attributes(changes: Changes) -> Iterator[_UnrankedSentence]:
    """Yield sentences about requires_grad, grad_fn, shape and storage of earlier tensors."""
    for tensor_id, facts in changes.attribute_changes.items():
        now = changes.now
        name = now.first_name(now.tensor(tensor_id))
        if not name:
            continue
        if "grad_fn_name" in facts:
            former, node = facts["grad_fn_name"]
            if former and node:
                text = gettext(
                    "{name} has another grad_fn: {then} → {now}.",
                    name=name,
                    then=short_node_name(former),
                    now=short_node_name(node),
                )
            elif node:
                text = gettext(
                    "{name} is now on the graph, with grad_fn={node}.",
                    name=name,
                    node=short_node_name(node),
                )
            else:
                text = gettext("{name} is no longer on the graph.", name=name)
            yield _UnrankedSentence(text, "attribute", level="graph")
        elif "requires_grad" in facts:
            # With a grad_fn it is a matter of course.
            before, after = map(str, facts["requires_grad"])
            attribute = now.attribute_label(tensor_id, "requires_grad")
            text = gettext("{attribute} is now {now}.", attribute=attribute, now=after)
            pair = NumberPair(attribute, before, after)
            yield _UnrankedSentence(text, "attribute", pair, "graph")
        if "shape" in facts:
            before, after = map(format_shape, facts["shape"])
            text = gettext(
                "{name} has a new shape: {then} → {now}.", name=name, then=before, now=after
            )
            pair = NumberPair(now.attribute_label(tensor_id, "shape"), before, after)
            yield _UnrankedSentence(text, "attribute", pair)
        # A new shape brings new strides as a matter of course.
        elif "stride" in facts:
            before, after = map(str, facts["stride"])
            text = gettext(
                "{name} has new strides: {then} → {now}.", name=name, then=before, now=after
            )
            pair = NumberPair(now.attribute_label(tensor_id, "stride()"), before, after)
            yield _UnrankedSentence(text, "attribute", pair, "storage")
        if "storage" in facts:
            text = _describe_new_storage(changes, tensor_id, name)
            yield _UnrankedSentence(text, "attribute", level="storage")


def _describe_new_storage(changes: Changes, tensor_id: str, name: str) -> str:
    """Say that a tensor was given another storage (`x.data = y`), and who has kept the former."""
    now = changes.now
    assert changes.since is not None
    former = changes.since.storage(changes.earlier_tensors[tensor_id].storage or "").key
    earlier = [tensor for tensor in map(now.tensor, changes.earlier_tensors) if tensor.storage]
    left = [tensor for tensor in earlier if now.storage(tensor.storage).key == former]
    names = list(filter(None, map(now.first_name, left)))
    if not names:
        return gettext("{name} now has another storage.", name=name)
    return gettext(
        "{name} now has another storage; the former one is left to {names}.",
        name=name,
        names=join_few_names(names),
    )


def _describe_writes(changes: Changes) -> Iterator[_UnrankedSentence]:
    """Yield sentences about version counters, values, and writes that no counter noticed."""
    now = changes.now
    members_of: dict[str | None, list[str]] = {}
    for tensor_id in changes.earlier_versions:
        members_of.setdefault(now.tensor(tensor_id).counter, []).append(tensor_id)
    for counter, members in members_of.items():
        names = _list_names(map(now.tensor, members))
        # A gradient without a name of its own is described with its tensor.
        if names and counter is not None:
            then, version = changes.earlier_versions[members[0]], now.tensor(members[0]).version
            label = join_few_names(names)
            text = gettext(
                "Written to in place: the version counter of {names} went up from {then} to {now}.",
                names=label,
                then=then,
                now=version,
            )
            subject = gettext("version of {names}", names=label)
            quoted = join_few_names(f"`{name}`" for name in names)
            marked = gettext("version of {names}", names=quoted)
            pair = NumberPair(subject, str(then), str(version), marked)
            yield _UnrankedSentence(text, "written", pair, "counter")
    for storage_id, cells in changes.earlier_cells.items():
        # Those that came since, too: of a round of a loop it is the news that a name shows it.
        sharers = map(now.tensor, now.storage(storage_id).tensors)
        # A view of other cells does not show what changed.
        showing = [
            sharer for sharer in sharers if sharer.names and _shows_any_cell(now, sharer, cells)
        ]
        yield from _describe_values_written(changes, showing)
    # A set of strings has another order in each process.
    for storage_id in sorted(changes.written_elsewhere):
        yield from _describe_unread_cells_written(changes, now.storage(storage_id))


def _list_names(tensors: Iterable[TensorRecord]) -> list[str]:
    """List all names of tensors: whoever reads one of them meets what was written."""
    names: list[str] = []
    for tensor in tensors:
        own = [name for name in tensor.names if not name.endswith(RETURNED)]
        names += own or tensor.names
    return names


def _shows_any_cell(snap: Snapshot, tensor: TensorRecord, cells: Iterable[int]) -> bool:
    return any(snap.shows_cell(tensor, cell) for cell in cells)


def _describe_values_written(
    changes: Changes, tensors: Sequence[TensorRecord]
) -> Iterator[_UnrankedSentence]:
    earlier = [tensor for tensor in tensors if tensor.id in changes.earlier_tensors]
    names = _list_names(tensors)
    # What came since under a new name may have come after the write, and never had other values.
    old_names = {*_list_names(earlier), *changes.earlier_names}
    names = [name for name in names if name in old_names] or names
    if names:
        text = gettext("The values of {names} changed.", names=join_few_names(names))
        yield _UnrankedSentence(text, "written")
    yield from _describe_unnoticed(changes, earlier)


def _describe_unread_cells_written(
    changes: Changes, storage: StorageRecord
) -> Iterator[_UnrankedSentence]:
    """Yield sentences on a write to cells that are not drawn: only a checksum shows it."""
    now = changes.now
    earlier: list[TensorRecord] = []
    showing: list[TensorRecord] = []
    for tensor in map(now.tensor, storage.tensors):
        if tensor.id in changes.earlier_tensors and tensor.names:
            earlier.append(tensor)
            # Of a tensor over a part of the storage it is not known if it has the cells.
            if now.shows_all_cells(tensor):
                showing.append(tensor)
    if not earlier:
        return
    if showing:
        text = gettext(
            "The values of {names} changed, in cells that are not drawn.",
            names=join_few_names(_list_names(showing)),
        )
    else:
        text = gettext(
            "Memory that {names} may read changed, in cells that are not drawn.",
            names=join_few_names(_list_names(earlier)),
        )
    yield _UnrankedSentence(text, "written")
    # A counter that went up may have counted this very write.
    if showing or not any(tensor.id in changes.earlier_versions for tensor in earlier):
        yield from _describe_unnoticed(changes, showing or earlier)


def _describe_unnoticed(
    changes: Changes, tensors: Sequence[TensorRecord]
) -> Iterator[_UnrankedSentence]:
    """Yield a sentence on version counters that a write to these tensors did not reach."""
    # Inference tensors have no counter.
    counted = [tensor for tensor in tensors if tensor.version is not None]
    unnoticed = [tensor for tensor in counted if tensor.id not in changes.earlier_versions]
    names = join_few_names(_list_names(unnoticed))
    if len(unnoticed) == 1:
        text = gettext(
            "The version counter of {name} did not count it: autograd cannot see this write.",
            name=names,
        )
        yield _UnrankedSentence(text, level="graph")
    elif unnoticed:
        text = gettext(
            "The version counters of {names} did not count it: autograd cannot see this write.",
            names=names,
        )
        yield _UnrankedSentence(text, level="graph")


def _describe_gradients(changes: Changes, root: str) -> Iterator[_UnrankedSentence]:
    """Yield sentences about gradients that came, went, or were added to."""
    now, since = changes.now, changes.since
    sentences: list[_UnrankedSentence] = []
    reached: list[TensorRecord] = []
    for tensor in now.tensors:
        if not tensor.names:
            continue
        grad = now.grad_label(tensor.id)
        earlier = changes.earlier_tensors.get(tensor.id)
        facts = changes.attribute_changes.get(tensor.id, {})
        if tensor.grad is None:
            if "grad" in facts:
                text = gettext("{grad} is None again.", grad=grad)
                sentences.append(_UnrankedSentence(text, "gradient"))
        elif earlier is None or earlier.grad is None or since is None:
            values = format_values(now, tensor.grad)
            text = gettext("{grad} is set: {values}.", grad=grad, values=values)
            pair = None
            # A tensor that is new had none before, and not None.
            if earlier is not None:
                reached.append(tensor)
                pair = NumberPair(grad, "None", values)
            sentences.append(_UnrankedSentence(text, "gradient", pair))
        elif "values" in facts:
            reached.append(tensor)
            sentences.append(_describe_changed_gradient(changes, tensor, earlier.grad))
    if root and reached:
        text = _describe_way_of_gradient(changes, root, reached)
        sentences.insert(0, _UnrankedSentence(text, "gradient"))
    for sentence in sentences:
        yield sentence._replace(level="graph")


def _describe_changed_gradient(
    changes: Changes, tensor: TensorRecord, earlier: str
) -> _UnrankedSentence:
    """Return the sentence on a `.grad` that has other values; `earlier`: its id before."""
    grad = changes.now.grad_label(tensor.id)
    assert changes.since is not None
    assert tensor.grad is not None
    before = format_values(changes.since, earlier)
    after = format_values(changes.now, tensor.grad)
    # Of a large gradient only the shape is written, which says nothing of the change.
    if before == after:
        return _UnrankedSentence(gettext("{grad} changed.", grad=grad), "gradient")
    text = gettext("{grad} changed: {then} → {now}.", grad=grad, then=before, now=after)
    return _UnrankedSentence(text, "gradient", NumberPair(grad, before, after))


def _describe_way_of_gradient(changes: Changes, root: str, reached: Sequence[TensorRecord]) -> str:
    """Return the headline: `The gradient of z reached a through the clone.`, with its full stop."""
    names = join_few_names(tensor.names[0] for tensor in reached)
    if _passes_one_clone(changes, root, reached):
        return gettext(
            "The gradient of {root} reached {names} through the clone.", root=root, names=names
        )
    return gettext("The gradient of {root} reached {names}.", root=root, names=names)


def _passes_one_clone(changes: Changes, root: str, reached: Sequence[TensorRecord]) -> bool:
    """Return True if all ways from a root to some tensors lead through the one clone on them."""
    # Before the step: what backward went through may be gone after it.
    snap = changes.since
    if snap is None or root not in dict(snap.names):
        return False
    earlier_ids: set[str] = set()
    for tensor in reached:
        earlier = changes.earlier_tensors.get(tensor.id)
        if earlier is not None:
            earlier_ids.add(earlier.id)
    nodes: dict[str, NodeRecord] = {}
    clones: set[str] = set()
    leaves: set[str] = set()
    for node in snap.nodes_behind(dict(snap.names)[root]):
        nodes[node.id] = node
        if node.name.startswith("CloneBackward"):
            clones.add(node.id)
        if node.variable in earlier_ids:
            leaves.add(node.id)
    if len(clones) != 1 or len(leaves) != len(reached):
        return False
    stack, visited = [next(iter(nodes))], set[str]()
    while stack:
        node_id = stack.pop()
        if node_id in visited or node_id in clones:
            continue
        visited.add(node_id)
        stack += nodes[node_id].ends
    return leaves.isdisjoint(visited)


def _describe_missing_gradients(
    changes: Changes, silent_keys: set[object] | None
) -> Iterator[_UnrankedSentence]:
    """Yield a sentence on the parameters that a backward has left out, of objects that it reached.

    Once of each: a graph that is cut on the way there is cut in each round. Not of those that have
    had a gradient: `zero_grad` sets it to None.
    """
    now = changes.now
    if silent_keys is None:
        return
    for snap in filter(None, (changes.since, now)):
        silent_keys.update(tensor.key for tensor in snap.tensors if tensor.grad is not None)
    roots_with_new_grad: set[str] = set()
    for tensor_id, facts in changes.attribute_changes.items():
        tensor = now.tensor(tensor_id)
        if "grad" in facts and tensor.grad is not None:
            roots_with_new_grad.add(_root_of(tensor))
    # Without anything freed it may have been a loop that sets `.grad`.
    if not changes.find_saves_that_became("freed"):
        return
    missing = []
    for tensor in now.named_tensors:
        if not tensor.is_leaf or not tensor.requires_grad or tensor.key in silent_keys:
            continue
        if "." in tensor.names[0] and _root_of(tensor) in roots_with_new_grad:
            missing.append(tensor)
    # said once, from now on known
    silent_keys.update(tensor.key for tensor in missing)
    if missing:
        text = ngettext(
            "{names} still has no .grad: backward did not reach it.",
            "{names} still have no .grad: backward did not reach them.",
            len(missing),
            names=join_few_names(tensor.names[0] for tensor in missing),
        )
        yield _UnrankedSentence(text, level="graph")


def _root_of(tensor: TensorRecord) -> str:
    """Return the object that a tensor is named by: `net` of `net.0.weight`; empty without a name."""
    if not tensor.names:
        return ""
    return tensor.names[0].partition(".")[0]


def format_values(snap: Snapshot, tensor_id: str) -> str:
    """Return the values of a small tensor as nested lists, of another one its shape."""
    tensor = snap.tensor(tensor_id)
    values = snap.values(tensor, 6)
    if values is None:
        return gettext("shape {shape}", shape=format_shape(tensor.shape))
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    # From the last dimension outwards, each row becomes one text.
    for length in reversed(tensor.shape or ()):
        # A dimension of size 0 has no rows, and range() takes no step of 0.
        rows = []
        for start in range(0, len(texts), length or 1):
            row = ", ".join(texts[start : start + length])
            rows.append(f"[{row}]")
        texts = rows
    if texts:
        return texts[0]
    return "[]"


# -- the graph ---------------------------------------------------------------------


def describe_new_cuts(changes: Changes, line: LineFacts) -> Iterator[StepSentence]:
    """Yield a sentence on each cut of the graph that came with a step, and that no other sentence of it tells.

    `line`: what the line of the step tells.
    """
    now = changes.now
    # Without a graph picture there is no mark to explain.
    if not now.nodes:
        return
    earlier_nodes = {node.key for node in changes.since.nodes} if changes.since else set[object]()
    for cut in find_cuts(now, line.reads):
        tensor, source = now.tensor(cut.tensor), now.tensor(cut.source)
        if tensor.id in changes.earlier_tensors or (_is_told(tensor) and not cut.is_copy):
            continue
        # What only a node holds may be read as another object after a write: it is as old as the node.
        if not tensor.names and earlier_nodes.issuperset(now.node(node).key for node in cut.savers):
            continue
        label = now.first_name(tensor) or line.expressions.get(tensor.id) or now.label(tensor.id)
        yield from _describe_cut(label, now.first_name(source))
    for read in line.reads:
        # A tensor with the numbers of another is among the cuts above.
        if read.is_new and not read.tensor:
            yield from _describe_cut(read.name, now.first_name(now.tensor(read.source)))


def _is_told(tensor: TensorRecord) -> bool:
    """Return True if the sentence on its new name has said that it is cut off from the graph."""
    return bool(tensor.names) and not tensor.requires_grad


def _describe_cut(label: str, source: str) -> Iterator[StepSentence]:
    # Without a name for its source nothing on the page can be found by the sentence.
    if source:
        text = gettext(
            "Cut off: no gradient goes through {tensor} to {source}.", tensor=label, source=source
        )
        yield StepSentence(text)


def _describe_saved(changes: Changes) -> Iterator[_UnrankedSentence]:
    """Yield sentences about saved tensors that were freed, written or detached in this step."""
    # Sorted: a set of strings has another order in each process.
    freed = {short_node_name(node.name) for node, _ in changes.find_saves_that_became("freed")}
    if freed:
        nodes = join_few_names(sorted(freed))
        text = gettext("Backward freed what {nodes} had saved.", nodes=nodes)
        yield _UnrankedSentence(text, level="graph")
    stale: dict[str, list[str]] = {}
    for node, saved in changes.find_saves_that_became("stale"):
        if not saved.raises:
            continue  # a Function in Python may never open it
        stale.setdefault(short_node_name(node.name), []).append(f"_saved_{saved.name}")
    for node, saved in changes.find_saves_that_became("detached"):
        text = gettext(
            "detach_() cut off what {node} saved (_saved_{name}): backward will raise an error.",
            node=short_node_name(node.name),
            name=saved.name,
        )
        yield _UnrankedSentence(text, "alarm")
    for name, attributes in sorted(stale.items()):
        text = gettext(
            "What {node} saved ({names}) was written to afterwards: backward will raise an error.",
            node=name,
            names=join_few_names(sorted(attributes)),
        )
        yield _UnrankedSentence(text, "alarm")
