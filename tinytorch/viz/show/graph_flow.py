"""Through which nodes a gradient went between two snapshots, as far as that is certain."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..diagnose import Changes
from ..read import NodeRecord, Snapshot

_UNLIKE_A_RUN = ("live", "stale", "freed")
"""States of saved tensors that a backward which frees others of them does not leave behind."""

_BACKWARD = re.compile(r"\s*([^\W\d]\w*(?:\.\w+)*)\.backward\(([^()]*)\)\s*(?:#.*)?")
"""A line that is a backward from a name and nothing else; no other line says for certain what ran."""


def find_backward_root(since: Snapshot, source: str) -> object:
    """Return the key of the node at which a line that ran began a whole backward; else None.

    `since`: the snapshot before the line.
    """
    found = _BACKWARD.fullmatch(source)
    # With inputs= only some of the nodes are run.
    if found is None or "inputs" in found[2]:
        return None
    for name, tensor_id in since.names:
        if name == found[1]:
            grad_fn = since.tensor(tensor_id).grad_fn
            if grad_fn is None:
                return None
            return since.node(grad_fn).key
    return None


def find_flow(changes: Changes, root: object = None) -> frozenset[str]:
    """Return the ids of the nodes that a backward ran between the two snapshots.

    `root`: the key of the node that it began at, if the caller knows that a whole backward ran;
    all nodes behind it were run. Without one, those that freed what they had saved were, and what
    lies between them and leaves whose .grad changed: the engine runs each node on the way to one
    that it runs. Where nothing was freed (retain_graph=True, a graph of additions), it is not known.
    """
    now = changes.now
    if changes.since is None:
        return frozenset()
    if root is not None:
        begun = [node.id for node in now.nodes if node.key == root]
        return frozenset(_follow_edges(now, begun, ()))
    freed = {node.id for node, _ in changes.find_saves_that_became("freed")}
    if not freed:
        return frozenset()
    # A node that still has what it saved, or had lost it before, was run by another backward or by
    # none: no way leads through it.
    closed = {node.id for node in now.nodes if node.id not in freed and _was_not_run(node)}
    ahead = _follow_edges(now, freed, closed)
    ends = set(freed)
    for node in now.nodes:
        if node.id in ahead and node.variable and _has_new_grad(changes, node.variable):
            ends.add(node.id)
    return frozenset(ends | _find_nodes_on_the_way(now, ahead, ends))


def _was_not_run(node: NodeRecord) -> bool:
    return any(saved.state in _UNLIKE_A_RUN for saved in node.saved)


def _has_new_grad(changes: Changes, leaf: str) -> bool:
    facts = changes.attribute_changes.get(leaf, {})
    # A .grad that is None now was taken away, and by no backward.
    return changes.now.tensor(leaf).grad is not None and not facts.keys().isdisjoint(
        ("grad", "values")
    )


def _follow_edges(snap: Snapshot, start: Iterable[str], closed: Collection[str]) -> set[str]:
    """Return the nodes that edges lead to from some nodes, these among them; never a closed one."""
    stack = list(start)
    visited = set(stack)
    while stack:
        for end in snap.node(stack.pop()).ends:
            if end not in visited and end not in closed:
                visited.add(end)
                stack.append(end)
    return visited


def _find_nodes_on_the_way(snap: Snapshot, ahead: set[str], ends: set[str]) -> set[str]:
    """Return those of the nodes ahead from which an edge, or several, lead to one of the ends."""
    # Edges lead from results to leaves, and the way that is looked for leads back.
    users: dict[str, list[str]] = {}
    for node_id in ahead:
        for end in snap.node(node_id).ends:
            users.setdefault(end, []).append(node_id)
    stack = list(ends)
    visited: set[str] = set()
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in visited:
                visited.add(user)
                stack.append(user)
    return visited
