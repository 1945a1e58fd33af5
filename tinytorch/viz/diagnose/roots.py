"""The tensors that a look takes for those which backward is called on."""

from __future__ import annotations

from ..read import Snapshot, TensorRecord


def find_roots(snap: Snapshot) -> list[TensorRecord]:
    """Return the named results that nothing else named was computed from.

    All named tensors if there is no result.
    """
    results = list(filter(_is_result, snap.named_tensors))
    # In one walk: one for each result would take the square of the nodes where all have names.
    inner_nodes = {node.id for node in snap.nodes_reached_by_edges(*results)}
    roots = [tensor for tensor in results if tensor.grad_fn not in inner_nodes]
    return roots or list(snap.named_tensors[:1])


def _is_result(tensor: TensorRecord) -> bool:
    # None: a view of no_grad mode, whose base was written to since, on which backward raises.
    return tensor.grad_fn is not None or tensor.is_leaf is None
