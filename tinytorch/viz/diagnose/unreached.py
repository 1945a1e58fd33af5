"""Which of the tensors that were given get no gradient, as no path of the graph leads to them.

People miss a gradient more often than they get a wrong one: a parameter behind a `detach`, one
that the loss was never computed from, an optimizer that holds another one. The graph shows that
there is no path; which line has cut it, a watch has seen (see `graph_exits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..read import GraphExit, NodeRecord, Snapshot, TensorRecord
from ..wording import escape_unseen, gettext, join_few_names, ngettext
from .optimizers import (
    describe_replaced,
    describe_stepped_without_gradient,
    find_replaced,
    list_stepped,
)

_MAX_EXITS = 3
"""Maximum number of lines told for one group of leaves."""


def describe_unreached(
    snap: Snapshot, roots: Sequence[TensorRecord], *, has_told: bool = False
) -> list[str]:
    """Say which of the named leaves get no gradient, and why; nothing if all of them do.

    has_told: True if it was said where values left the graph before a root without one.
    """
    # What was found as a loss, though it has no history, is known by a name of its own.
    losses = [root for root in roots if root.grad_fn is not None or _is_loss_alone(root)]
    # Of all losses together: what one of them reaches gets a gradient.
    nodes: list[NodeRecord] = []
    for root in losses:
        nodes += snap.nodes_behind(root)
    if not losses:
        return []
    # What a loss is computed from is no former layer's.
    reached_leaves = {node.variable for node in nodes}
    strays: set[str] = set()
    about_optimizers = []
    for replaced in find_replaced(snap):
        if reached_leaves.isdisjoint(replaced.strays):
            strays.update(replaced.strays)
            about_optimizers.append(describe_replaced(snap, replaced))
    # That a loss without any graph raises was said; there, only the lines are worth telling.
    has_history = any(root.requires_grad for root in losses)
    unreached = []
    for leaf in _find_unreached(snap, nodes):
        if leaf in losses or leaf.id in strays:
            continue
        if has_history or (leaf.exits and not has_told):
            unreached.append(leaf)
    if not unreached:
        return about_optimizers
    names = join_few_names(snap.label(root.id) for root in losses)
    lines: list[str] = []
    if has_history:
        lines.append(_describe_absence(snap, nodes, unreached, names))
    lines += _list_exits(snap, unreached, names)
    return [*lines, *_describe_steppers(snap, unreached), *about_optimizers]


def _list_exits(snap: Snapshot, unreached: Sequence[TensorRecord], root: str) -> Iterator[str]:
    """Yield a line for each line that a watch saw, or that it saw none."""
    with_exits: list[tuple[str, tuple[GraphExit, ...] | None]] = []
    without_exits: list[tuple[str, tuple[GraphExit, ...] | None]] = []
    for leaf in unreached:
        same_kind = with_exits if leaf.exits else without_exits
        same_kind.append((snap.label(leaf.id), leaf.exits))
    for sentence in describe_exits(without_exits, root):
        yield f"  - {sentence}"
    if with_exits:
        # No path leads back from a detached value: it may be that of a log, or of another loss.
        yield gettext(
            "Also seen; whether {root} was computed from these values is not known:", root=root
        )
    for sentence in describe_exits(with_exits):
        yield f"  - {sentence}"


def _describe_steppers(snap: Snapshot, unreached: Sequence[TensorRecord]) -> Iterator[str]:
    """Say which optimizers hold some of these leaves."""
    ids = {leaf.id for leaf in unreached}
    for optimizer, parameters in list_stepped(snap).items():
        unreached_parameters = [tensor for tensor in parameters if tensor.id in ids]
        # With a gradient of an earlier backward, the step changes them.
        names = [snap.label(tensor.id) for tensor in unreached_parameters if tensor.grad is None]
        if names:
            yield describe_stepped_without_gradient(optimizer, names)


def _is_loss_alone(root: TensorRecord) -> bool:
    """Return True for a number without history that has a name of its own, as a loss has."""
    return root.numel == 1 and any("." not in name for name in root.names)


def _describe_absence(
    snap: Snapshot, nodes: Sequence[NodeRecord], unreached: Sequence[TensorRecord], root: str
) -> str:
    """Say that no path leads to some leaves."""
    names = join_few_names(snap.label(tensor.id) for tensor in unreached)
    # A reentrant checkpoint runs a backward of its own, which reaches what its block has.
    if any(node.function is not None or node.doubts for node in nodes):
        return ngettext(
            "No path of the graph leads from {root} to {names}, which requires grad: only code "
            "inside of a Function or a hook could give it a gradient.",
            "No path of the graph leads from {root} to {names}, which require grad: only code "
            "inside of a Function or a hook could give them a gradient.",
            len(unreached),
            names=names,
            root=root,
        )
    return ngettext(
        "No path of the graph leads from {root} to {names}, which requires grad: it gets no "
        "gradient.",
        "No path of the graph leads from {root} to {names}, which require grad: they get no "
        "gradient.",
        len(unreached),
        names=names,
        root=root,
    )


def _find_unreached(snap: Snapshot, nodes: Sequence[NodeRecord]) -> list[TensorRecord]:
    """Return the named leaves that require grad and are no end of the graph.

    None where the graph was not read to its end.
    """
    if snap.notes or any(node.is_reader_stopped for node in nodes):
        return []
    reached_leaves = {node.variable for node in nodes}
    unreached = []
    for tensor in snap.named_tensors:
        is_grad_leaf = tensor.is_leaf and tensor.requires_grad
        if is_grad_leaf and tensor.id not in reached_leaves:
            unreached.append(tensor)
    return unreached


# -- the lines that a watch has seen ---------------------------------------------------


def describe_exits(
    leaves: Iterable[tuple[str, tuple[GraphExit, ...] | None]], root: str = ""
) -> Iterator[str]:
    """Yield sentences on where the values of leaves left the graph: one for each line.

    leaves: names, as sentences have them, with what was seen of each; leaves of which the same was
    seen are told together. root: the result that does not reach them, if there is one to name.
    """
    groups: dict[tuple[GraphExit, ...], list[str]] = {}
    for label, exits in leaves:
        # None, because no watch was on: to have seen nothing is another thing.
        if exits is not None:
            groups.setdefault(exits, []).append(label)
    for exits, labels in groups.items():
        names = join_few_names(labels)
        if not exits and root:
            yield gettext(
                "No line was seen where values of {names} leave the graph: as far as the watch "
                "saw, {root} was computed without them.",
                names=names,
                root=root,
            )
        for graph_exit in exits[:_MAX_EXITS]:
            yield _describe_exit(graph_exit, names)
        if len(exits) > _MAX_EXITS:
            more_count = len(exits) - _MAX_EXITS
            yield ngettext("And on {number} more line.", "And on {number} more lines.", more_count)


def _describe_exit(graph_exit: GraphExit, names: str) -> str:
    """Say where values left the graph, and how."""
    values = {
        "names": names,
        "place": escape_unseen(graph_exit.place),
        "operation": escape_unseen(graph_exit.operation),
    }
    if graph_exit.kind == "detach":
        return gettext("{names}: cut by .detach() or .data in {place}", **values)
    if graph_exit.kind == "number":
        return gettext(
            "{names}: made a number, which has no history (.item(), float(), .tolist()), in {place}",
            **values,
        )
    if graph_exit.kind == "new leaf":
        return gettext(
            "{names}: torch.tensor made a new leaf of numbers (torch.stack keeps the graph) in "
            "{place}",
            **values,
        )
    if graph_exit.kind == "parameter":
        return gettext(
            "{names}: nn.Parameter made a new leaf of the values, without a history, in {place}",
            **values,
        )
    if graph_exit.kind == "grad mode":
        return gettext("{names}: grad mode was off in {place}", **values)
    if graph_exit.kind == "checkpoint":
        return gettext(
            "{names}: used in a reentrant checkpoint, none of whose inputs requires grad "
            "(use_reentrant=False records all the same), in {place}",
            **values,
        )
    if graph_exit.kind == "indices":
        return gettext(
            "{names}: {operation} gave indices, which have no gradient, in {place}", **values
        )
    if graph_exit.operation == "conversion":
        return gettext("{names}: converted to a dtype that has no gradient, in {place}", **values)
    return gettext("{names}: {operation} has no derivative, in {place}", **values)
