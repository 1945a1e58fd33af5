"""Which of the tensors that were given get no gradient, as no path of the graph leads to them.

People miss a gradient more often than they get a wrong one: a parameter behind a `detach`, one
that the loss was never computed from, an optimizer that holds another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..read import NodeRecord, Snapshot, TensorRecord
from ..wording import join_few_names, ngettext


def describe_unreached(snap: Snapshot, roots: Sequence[TensorRecord]) -> list[str]:
    """Say which of the named leaves get no gradient; nothing if all of them do."""
    nodes = [node for root in roots for node in snap.nodes_behind(root)]
    unreached = _find_unreached(snap, nodes)
    if not roots or not unreached:
        return []
    values = {
        "root": join_few_names([snap.label(root.id) for root in roots]),
        "names": join_few_names([snap.label(tensor.id) for tensor in unreached]),
    }
    # A reentrant checkpoint runs a backward of its own, which reaches what its block has.
    if any(node.function is not None or node.doubts for node in nodes):
        sentence = ngettext(
            "No path of the graph leads from {root} to {names}, which requires grad: only code "
            "inside of a Function or a hook could give it a gradient.",
            "No path of the graph leads from {root} to {names}, which require grad: only code "
            "inside of a Function or a hook could give them a gradient.",
            len(unreached),
            **values,
        )
    else:
        sentence = ngettext(
            "No path of the graph leads from {root} to {names}, which requires grad: it gets no "
            "gradient.",
            "No path of the graph leads from {root} to {names}, which require grad: they get no "
            "gradient.",
            len(unreached),
            **values,
        )
    return [sentence]


def _find_unreached(snap: Snapshot, nodes: Sequence[NodeRecord]) -> list[TensorRecord]:
    """Return the named leaves that require grad and are no end of the graph.

    None where the graph was not read to its end.
    """
    if snap.notes or any(node.cut for node in nodes):
        return []
    reached = {node.variable for node in nodes}
    return [
        tensor
        for tensor in snap.named_tensors
        if tensor.is_leaf and tensor.requires_grad and tensor.id not in reached
    ]
