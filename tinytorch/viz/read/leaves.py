"""The leaves that a graph ends in."""

from __future__ import annotations

from typing import Any

from .probe import getattr_or_none


def find_leaves(root: Any) -> list[Any]:
    """Return the leaves that a backward on `root` would add to: itself, if it is one."""
    if root.grad_fn is None:
        return [root]
    leaves: dict[int, Any] = {}
    seen, waiting = {root.grad_fn}, [root.grad_fn]
    while waiting:
        node = waiting.pop()
        variable = getattr_or_none(node, "variable")
        if variable is not None and variable.is_leaf and variable.requires_grad:
            leaves[id(variable)] = variable
        for follower, _ in node.next_functions:
            if follower is not None and follower not in seen:
                seen.add(follower)
                waiting.append(follower)
    return list(leaves.values())
