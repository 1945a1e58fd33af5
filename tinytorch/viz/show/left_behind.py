"""What a step leaves behind: tensors that lost a name, pairs that were one tensor, graphs in lists.

Nothing of it is an error, and much of it is meant. It is said because nobody thinks of asking: an
optimizer goes on with the parameters of a layer that was replaced, two tied weights are two, a list
of losses keeps the graph of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..diagnose import Changes
from ..read import PARAM_GROUPS, Snapshot, TensorRecord
from ..wording import gettext, join_few_names, ngettext, short_node_name

RETURNED = "()"
"""The end of a name that stands for what a call returned."""
_LOCAL = " in "
"""In the names of a function's variables, `h in forward`: they end with it as a matter of course."""
_MOST_NODES_SEARCHED = 100
"""Of a graph that long, the part near its end tells whether backward went through it."""


class _LostName(NamedTuple):
    """A name that is gone or is now another tensor's, and the tensor that it was on before."""

    name: str
    """The name."""
    earlier: TensorRecord
    """The tensor as it was."""
    tensor: TensorRecord | None
    """The same as it is now; None if it is not there any more, or not known as the same."""


def describe_left_behind(changes: Changes) -> Iterator[str]:
    """Yield sentences on what the names of a step have left."""
    lost_names = list(_list_lost_names(changes))
    yield from _describe_optimizers(lost_names)
    yield from _describe_names_now_apart(changes, lost_names)
    yield from _describe_unreachable_leaves(changes, lost_names)
    yield from _describe_memory_of_gone(changes, lost_names)
    if changes.since is not None:
        before = _find_kept_graphs(changes.since)
        for container, graphs in _find_kept_graphs(changes.now).items():
            # Said once; how many they are in the end is said there.
            former = before.get(container)
            if former and len(former.finished) < 2 and _has_grown(former, graphs):
                yield _describe_container(container, len(graphs.finished))


def describe_kept_graphs(snaps: Sequence[Snapshot]) -> Iterator[str]:
    """Yield a sentence on each list whose numbers keep graphs that backward has used, at the end.

    `snaps`: those of all steps; the earlier ones tell a list that grew from the parts of one loss.
    """
    kept_graphs = _find_kept_graphs(snaps[-1])
    candidates = {name for name, graphs in kept_graphs.items() if len(graphs.finished) >= 2}
    grown: set[str] = set()
    # From the end: a list that grows has done so in one of the last steps, so few are gone through.
    for snap in reversed(snaps[:-1]):
        if not candidates:
            break
        before = _find_kept_graphs(snap)
        for name in candidates & set(before):
            if _has_grown(before[name], kept_graphs[name]):
                grown.add(name)
        candidates -= grown
    for container, graphs in kept_graphs.items():
        if container in grown:
            yield _describe_container(container, len(graphs.finished))


def _list_lost_names(changes: Changes) -> Iterator[_LostName]:
    """Yield the names that were taken from a tensor, in the order of before."""
    if changes.since is None:
        return
    ids_now = {earlier.id: tensor_id for tensor_id, earlier in changes.earlier_tensors.items()}
    for name, tensor_id in changes.since.names:
        # What a call returned has its name for one step, and a path in an optimizer is no name of
        # the program's.
        if name.endswith(RETURNED) or PARAM_GROUPS in name:
            continue
        if name in changes.rebound_names or name in changes.gone_names:
            now = ids_now.get(tensor_id)
            tensor = None if now is None else changes.now.tensor(now)
            yield _LostName(name, changes.since.tensor(tensor_id), tensor)


def _describe_optimizers(lost_names: Iterable[_LostName]) -> Iterator[str]:
    """Say which optimizers hold tensors that have no other name any more."""
    names_by_holder: dict[str, list[str]] = {}
    for lost in lost_names:
        holders: dict[str, None] = {}
        for name in lost.tensor.names if lost.tensor is not None else ():
            if PARAM_GROUPS in name:
                holders[name.partition(PARAM_GROUPS)[0]] = None
        for holder in holders:
            names_by_holder.setdefault(holder, []).append(lost.name)
    for holder, names in names_by_holder.items():
        yield gettext(
            "{optimizer} still holds the former {names}.",
            optimizer=holder,
            names=join_few_names(names),
        )


def _describe_names_now_apart(changes: Changes, lost_names: Iterable[_LostName]) -> Iterator[str]:
    """Say of which two names, both of one tensor until now, each has its own."""
    lost_names = list(lost_names)
    pairs: list[tuple[str, str]] = []
    for lost in lost_names:
        pairs += [(lost.name, other) for other in _find_kept_name(changes, lost)]
    pairs += _find_parameters_now_apart(changes, lost_names)
    if not pairs:
        return
    (name, other), *others = pairs
    if not others:
        yield gettext("{name} and {other}, until now one tensor, are two.", name=name, other=other)
        return
    yield ngettext(
        "{name} and {other}, until now one tensor, are two; so is {number} more pair.",
        "{name} and {other}, until now one tensor, are two; so are {number} more pairs.",
        len(others),
        name=name,
        other=other,
    )


def _find_kept_name(changes: Changes, lost: _LostName) -> Iterator[str]:
    """Yield a name that the former tensor of a name has kept, if it is worth saying."""
    if lost.tensor is None or lost.name not in changes.rebound_names:
        return
    # A variable goes on to another tensor by design (`x = layer(x)`, `best = x`), and so does all
    # that is named by a variable (`for layer in net`): only an attribute or entry was untied.
    root, dot, _ = lost.name.partition(".")
    siblings = [name for name, _ in changes.now.names if name.partition(".")[0] == root]
    if not dot or _LOCAL in root:
        return
    tensor = changes.now.tensor(lost.name)
    is_new = tensor.id in changes.new_tensors
    # Of an object with one tensor alone, `embed.weight = Parameter(...)` looks the same.
    is_attribute = len(siblings) == 1 and is_new and tensor.is_leaf and tensor.requires_grad
    if changes.rebound_names.issuperset(siblings) and not is_attribute:
        return
    # After `buf.pop(0)` each entry has the tensor of the next one.
    if lost.name.rpartition(".")[2].isdecimal() and not is_new:
        return
    for other in lost.tensor.names:
        if other in lost.earlier.names and not other.endswith(RETURNED):
            yield other
            return


def _find_parameters_now_apart(
    changes: Changes, lost_names: Iterable[_LostName]
) -> Iterator[tuple[str, str]]:
    """Yield two names of one parameter in one object, of which each has another tensor now.

    `load_state_dict(state, assign=True)` does that to what was tied.
    """
    names_by_parameter: dict[str, list[str]] = {}
    for lost in lost_names:
        is_entry = "." in lost.name and _LOCAL not in lost.name.partition(".")[0]
        if is_entry and lost.name in changes.rebound_names and lost.earlier.requires_grad:
            names_by_parameter.setdefault(lost.earlier.id, []).append(lost.name)
    for first, *others in names_by_parameter.values():
        for other in others:
            tensors = changes.now.tensor(first), changes.now.tensor(other)
            is_of_one_object = first.partition(".")[0] == other.partition(".")[0]
            are_parameters = all(tensor.is_leaf and tensor.requires_grad for tensor in tensors)
            if is_of_one_object and are_parameters and tensors[0].id != tensors[1].id:
                yield first, other
                break


def _describe_unreachable_leaves(
    changes: Changes, lost_names: Iterable[_LostName]
) -> Iterator[str]:
    """Say which leaves have no name any more that is seen, though backward adds to their .grad."""
    leaves = _find_live_leaves(changes.now)
    names = []
    for lost in lost_names:
        if lost.tensor is None or lost.tensor.names or _LOCAL in lost.name:
            continue
        if lost.tensor.requires_grad and lost.tensor.id in leaves:
            names.append(lost.name)
    if names:
        yield ngettext(
            "The former {names}, a leaf that requires grad, has no name that steps sees; a graph "
            "leads to it, and backward adds to its .grad.",
            "The former {names}, leaves that require grad, have no name that steps sees; a graph "
            "leads to them, and backward adds to their .grad.",
            len(names),
            names=join_few_names(names),
        )


def _find_live_leaves(snap: Snapshot) -> set[str]:
    """Return the leaves that backward can still reach: freed saved tensors stop it."""
    stack = [node.id for node in snap.nodes if node.tensors]
    visited, leaves = set(stack), set()
    while stack:
        node = snap.node(stack.pop())
        if node.variable is not None:
            leaves.add(node.variable)
        # Of what a node does not show, it is not known if it was freed.
        if node.hides_saved or any(saved.state == "freed" for saved in node.saved):
            continue
        new = set(node.ends) - visited
        visited |= new
        stack += new
    return leaves


def _describe_memory_of_gone(changes: Changes, lost_names: Iterable[_LostName]) -> Iterator[str]:
    """Say which nodes keep the memory of a name that was deleted."""
    now = changes.now
    saved_by: dict[str, list[str]] = {}
    for node in now.nodes:
        for saved in node.saved:
            if saved.tensor is None or saved.state != "live":
                continue
            storage = now.tensor(saved.tensor).storage
            if storage is not None:
                saved_by.setdefault(storage, []).append(short_node_name(node.name))
    # Ids are counted anew in each snapshot; a key stays.
    id_by_key = {storage.key: storage.id for storage in now.storages}
    for lost in lost_names:
        if lost.name not in changes.gone_names or _LOCAL in lost.name:
            continue
        assert changes.since is not None
        if lost.earlier.storage is None:
            continue
        storage = id_by_key.get(changes.since.storage(lost.earlier.storage).key)
        if storage not in saved_by:
            continue
        members = map(now.tensor, now.storage(storage).tensors)
        if not any(map(now.first_name, members)):
            yield gettext(
                "The memory of {name} is still there: {nodes} saved it for backward.",
                name=lost.name,
                nodes=join_few_names(sorted(set(saved_by[storage]))),
            )


# -- graphs that a list keeps ------------------------------------------------------


def _describe_container(container: str, number: int) -> str:
    return gettext(
        "{name} keeps {number} numbers with their graphs, which backward has been through, at least "
        "in part: .item() keeps a number alone.",
        name=container,
        number=number,
    )


class _KeptGraphs(NamedTuple):
    """The graphs of the numbers in a list, by the keys of their last nodes."""

    nodes: set[object]
    """Of all the numbers."""
    finished: set[object]
    """Of those whose graphs backward has been through."""


def _has_grown(before: _KeptGraphs, graphs: _KeptGraphs) -> bool:
    """Return True if numbers came and were finished after others had been finished.

    The terms of one loss, the outputs of an RNN are there before backward goes through them all.
    """
    return bool(before.finished & graphs.finished and graphs.finished - before.nodes)


def _find_kept_graphs(snap: Snapshot) -> dict[str, _KeptGraphs]:
    """Return the graphs that the numbers of each list keep."""
    kept_graphs: dict[str, _KeptGraphs] = {}
    for name, tensor_id in snap.names:
        container, dot, position = name.rpartition(".")
        # In a list: a dict or an object has the parts of one loss, of the round that just ran.
        if not dot or not position.isdecimal() or PARAM_GROUPS in name:
            continue
        tensor = snap.tensor(tensor_id)
        if tensor.numel == 1 and tensor.grad_fn:
            graphs = kept_graphs.setdefault(container, _KeptGraphs(set(), set()))
            key = snap.node(tensor.grad_fn).key
            graphs.nodes.add(key)
            if _was_used_by_backward(snap, tensor.grad_fn):
                graphs.finished.add(key)
    return kept_graphs


def _was_used_by_backward(snap: Snapshot, node_id: str) -> bool:
    """Return True if the first that saved tensors, from a node on, has them no more."""
    stack, visited = [node_id], {node_id}
    while stack and len(visited) < _MOST_NODES_SEARCHED:
        node = snap.node(stack.pop())
        # Backward frees tensors alone: the numbers of a node stay.
        states = {saved.state for saved in node.saved if saved.state != "number"}
        if states:
            return "freed" in states
        new = [end for end in node.ends if end not in visited]
        visited.update(new)
        stack += new
    return False
