"""Which nodes get a gradient, where a Function in Python returns None for an input.

PyTorch visits the nodes behind that input all the same. They open what they saved, and raise if that
is stale; they compute nothing, and hand on nothing. A Function is given zeros instead, and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..read import NodeRecord, Snapshot, TensorRecord


def find_nodes_with_gradient(nodes: Sequence[NodeRecord]) -> set[str]:
    """Return the ids of the nodes that a gradient arrives at, as far as Functions are known.

    nodes: all that a backward visits.
    """
    node_by_id: dict[str, NodeRecord] = {}
    unsent_of: dict[str, tuple[int, ...]] = {}
    inner: set[str] = set()
    for node in nodes:
        node_by_id[node.id] = node
        inner.update(node.ends)
        if node.function and node.function.unsent:
            unsent_of[node.id] = node.function.unsent
    if not unsent_of:
        return set(node_by_id)
    # A Function goes on where no gradient arrives: it is given zeros.
    stack = [node for node in nodes if node.id not in inner or node.function]
    found = {node.id for node in stack}
    while stack:
        node = stack.pop()
        unsent = unsent_of.get(node.id, ())
        for position, end in enumerate(node.edges):
            if end is not None and position not in unsent and end not in found:
                found.add(end)
                stack.append(node_by_id[end])
    return found


def find_leaves_without_gradient(snap: Snapshot, nodes: Sequence[NodeRecord]) -> list[TensorRecord]:
    """Return the leaves that no gradient arrives at, though paths lead to them."""
    reached = find_nodes_with_gradient(nodes)
    missed = [node.variable for node in nodes if node.id not in reached]
    return [snap.tensor(variable) for variable in missed if variable is not None]
