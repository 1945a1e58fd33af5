"""The leaves that a graph ends in."""

from __future__ import annotations

from typing import Any

from .probe import leaf_of_accumulator


def find_leaves(root: Any, most_nodes: int | None = None) -> list[Any]:
    """Return the leaves that a backward on `root` would add to: itself, if it is one.

    most_nodes: of a graph with more nodes none are returned, and no more nodes are looked at.
    """
    if root.grad_fn is None:
        return [root]
    leaves: dict[int, Any] = {}
    for node in find_graph_nodes(root, most_nodes):
        variable = leaf_of_accumulator(node)
        if variable is not None and variable.is_leaf and variable.requires_grad:
            leaves[id(variable)] = variable
    return list(leaves.values())


def find_graph_nodes(root: Any, most_nodes: int | None = None) -> list[Any]:
    """Return the nodes that a backward on `root`, which has a graph, would run; as `find_leaves`."""
    nodes: list[Any] = []
    visited, stack = {root.grad_fn}, [root.grad_fn]
    while stack:
        if most_nodes is not None and len(visited) > most_nodes:
            return []
        node = stack.pop()
        nodes.append(node)
        for follower, _ in node.next_functions:
            if follower is not None and follower not in visited:
                visited.add(follower)
                stack.append(follower)
    return nodes
