"""Cuts of a graph: tensors that share memory with a tensor on it, and get no gradient of it.

`detach`, `.data`, a view made in `no_grad` and a new leaf over old memory all look the same
afterwards, and that is what is seen: the same cells, and no way for a gradient between the two. Of a
copy (`detach().clone()`, `item()`) nothing is left to be seen: it is a cut where `number_reads` has
read the line that made it. Of `z = b * y.detach()` nothing is left once a backward has freed what the
node of z had saved: that is still a cut where an earlier snapshot has shown it.

Where `NodeRecord.is_reader_stopped`, nothing is cut off: the graph is too large, and goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..diagnose import Changes
from ..read import NodeRecord, Snapshot, TensorRecord
from .number_reads import NumberRead

MOST_CUTS = 6
"""More cuts than this are not drawn: a `state_dict` has one for each parameter."""


class GraphCut(NamedTuple):
    """Two tensors with the same numbers between which no gradient goes."""

    tensor: str
    """The id of the one that has no history: off the graph, or a leaf of its own."""
    source: str
    """The id of the one that is on the graph."""
    savers: tuple[str, ...]
    """The nodes that saved the first, and pass no gradient to it."""
    is_copy: bool = False
    """True if the first has the numbers in cells of its own."""


def find_cuts(snap: Snapshot, reads: Sequence[NumberRead] = ()) -> list[GraphCut]:
    """Return the cuts that a snapshot shows; none if they are too many to be drawn.

    `reads`: what has the numbers of a tensor alone, as `find_number_reads` has found it.
    """
    savers = _find_savers(snap)
    copies = {read.tensor: read.source for read in reads if read.tensor}
    cuts = []
    for tensor in snap.tensors:
        # What has a node is on the graph, and a gradient shares no memory by a cut.
        if not tensor.is_leaf or tensor.storage is None or tensor.grad_of is not None:
            continue
        # What nothing leads to, neither a name nor a node, is not in the program any more.
        if not tensor.names and not tensor.requires_grad and tensor.id not in savers:
            continue
        source = _find_source(snap, tensor)
        if source is not None:
            cuts.append(GraphCut(tensor.id, source.id, tuple(savers.get(tensor.id, ()))))
        elif tensor.id in copies:
            saved_by = tuple(savers.get(tensor.id, ()))
            cuts.append(GraphCut(tensor.id, copies[tensor.id], saved_by, is_copy=True))
    # Not the first few of them: these would look like all that there are.
    if len(cuts) <= MOST_CUTS:
        return cuts
    return []


class FreedCut(NamedTuple):
    """A cut that an earlier snapshot has shown, at nodes that have let go of what they had saved."""

    tensor: str
    """The id of the tensor that was cut off."""
    source: str
    """The id of the one on the graph that it shared its memory with."""
    source_node: object
    """The key of the node that had made the source; None for a leaf."""
    savers: tuple[object, ...]
    """The keys of the nodes that had saved it, and passed no gradient to it."""


def find_freed_cuts(changes: Changes, known: Sequence[FreedCut] = ()) -> list[FreedCut]:
    """Return the cuts of the earlier snapshot that a backward has freed since, and those of `known` that still hold.

    `known`: what this has returned for the earlier snapshot.
    """
    candidates = list(known)
    if changes.since is not None:
        candidates += _list_saved_cuts(changes.since)
    nodes = {node.key: node for node in changes.now.nodes}
    ids = {tensor.id for tensor in changes.now.tensors}
    cut_now = {cut.tensor for cut in find_cuts(changes.now)}
    found: dict[tuple[str, tuple[object, ...]], FreedCut] = {}
    for cut in candidates:
        savers = tuple(key for key in cut.savers if key in nodes and _has_freed_all(nodes[key]))
        # One that is there and no longer cut off is on the graph now, or has other cells.
        is_cut = cut.tensor in cut_now or cut.tensor not in ids
        if savers and is_cut and cut.source in ids and _is_source_as_it_was(changes.now, cut):
            found[cut.tensor, savers] = cut._replace(savers=savers)
    # As in `find_cuts`: all of them, or none.
    if len(found) <= MOST_CUTS:
        return list(found.values())
    return []


def _list_saved_cuts(snap: Snapshot) -> Iterator[FreedCut]:
    """Yield the cuts of a snapshot at which a node has saved the tensor that is cut off."""
    for cut in find_cuts(snap):
        if cut.savers:
            node = snap.tensor(cut.source).grad_fn
            key = None if node is None else snap.node(node).key
            savers = tuple(snap.node(saver).key for saver in cut.savers)
            yield FreedCut(cut.tensor, cut.source, key, savers)


def _has_freed_all(node: NodeRecord) -> bool:
    # A backward frees tensors; plain numbers stay where they are.
    return bool(node.saved) and all(saved.state in ("freed", "number") for saved in node.saved)


def _is_source_as_it_was(snap: Snapshot, cut: FreedCut) -> bool:
    """Return True unless the source was written in place, or taken off the graph, since."""
    source = snap.tensor(cut.source)
    node = None if source.grad_fn is None else snap.node(source.grad_fn).key
    return source.requires_grad and node == cut.source_node


def _find_savers(snap: Snapshot) -> dict[str, list[str]]:
    """Return tensor -> the nodes that saved it and that it gets no gradient of."""
    savers: dict[str, list[str]] = {}
    for node in snap.nodes:
        for tensor_id in _list_inputs_without_gradient(snap, node):
            savers.setdefault(_find_named_twin(snap, tensor_id), []).append(node.id)
    return savers


def _list_inputs_without_gradient(snap: Snapshot, node: NodeRecord) -> Iterator[str]:
    # A Function in Python may save a detached alias of an input that does get a gradient, and so
    # may a node all of whose inputs get one.
    if node.function is not None or None not in node.edges:
        return
    for tensor_id in dict.fromkeys(saved.tensor for saved in node.saved):
        if tensor_id is not None and not snap.tensor(tensor_id).requires_grad:
            yield tensor_id


def _find_named_twin(snap: Snapshot, tensor_id: str) -> str:
    """Return a named tensor that differs from this one in nothing but the object, or itself."""
    tensor = snap.tensor(tensor_id)
    if tensor.names:
        return tensor_id
    own_view = (tensor.start_byte, tensor.shape, tensor.stride, tensor.counter)
    for other in snap.storage_sharers(tensor):
        view_of_other = (other.start_byte, other.shape, other.stride, other.counter)
        if other.names and view_of_other == own_view and not other.requires_grad:
            return other.id
    return tensor_id


def _find_source(snap: Snapshot, tensor: TensorRecord) -> TensorRecord | None:
    """Return the tensor on the graph that a leaf shares cells with, if no gradient goes between."""
    sources = []
    for other in snap.storage_sharers(tensor):
        if other.id == tensor.id or not other.requires_grad or not _is_on_graph(other):
            continue
        if not snap.shares_cells(tensor, other):
            continue
        if tensor.requires_grad and _are_both_leaves_or_related(snap, tensor, other):
            continue
        sources.append(other)
    # One with the same counter first, which `detach` leaves; then one of the same shape.
    return min(
        sources,
        key=lambda other: (
            other.counter != tensor.counter,
            other.shape != tensor.shape,
            other.id != tensor.base,
            not other.names,
            -other.numel,
        ),
        default=None,
    )


def _is_on_graph(tensor: TensorRecord) -> bool:
    return tensor.grad_fn is not None or bool(tensor.is_leaf and tensor.requires_grad)


def _are_both_leaves_or_related(snap: Snapshot, leaf: TensorRecord, other: TensorRecord) -> bool:
    """Return True if a gradient goes from `other` to `leaf`, or the pair is met the other way round."""
    # Of two leaves over the same cells one pair is enough: the one that was seen first is the source.
    if other.is_leaf:
        return int(other.id[1:]) > int(leaf.id[1:])
    return snap.leads_to(other, leaf)
