"""Large graphs made readable: long chains become one entry, and what is still too much is left out.

A chain is a run of nodes of which each has one way on (besides branches of its own that
end in leaves, as a layer's weights do) and is reached from one node alone. Nodes that a
name stands for, and nodes with a stale saved tensor, are never folded away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .records import Node, Snapshot

FOLD_ABOVE = 40
"""Graphs of up to this many nodes are shown whole."""
MOST = 120
"""So many entries are shown at most."""
SHORTEST = 5
"""A shorter run is not worth folding."""
SPAN = 1_200
"""Layout time grows with the length of all edges together, counted in rows: a larger sum is not laid out."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Several nodes shown as one entry."""

    id: str
    nodes: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...]
    states: tuple[tuple[str, int], ...]
    leaves: tuple[str, ...]
    ends: tuple[str, ...]
    """Where its edges go: the node after it, and leaves that others use too."""


@dataclass(frozen=True, slots=True)
class View:
    """What of a graph is shown: nodes and folds in order, and how many nodes are left out."""

    items: tuple[Node | Fold, ...]
    places: dict[str, str]
    """Node id -> id of the entry that shows it; nodes left out are missing."""
    left_out: int


def view(snap: Snapshot) -> View:
    """The entries to show for a snapshot's graph."""
    nodes = {node.id: node for node in snap.nodes}
    if len(nodes) <= FOLD_ABOVE:
        return View(snap.nodes, {name: name for name in nodes}, 0)
    folds = _folds(snap, nodes)
    inside = {name: fold.id for fold in folds for name in fold.nodes}
    first = {fold.nodes[0]: fold for fold in folds}
    items: list[Node | Fold] = []
    for node in snap.nodes:
        if node.id in first:
            items.append(first[node.id])
        elif node.id not in inside:
            items.append(node)
    places = {name: inside.get(name, name) for name in nodes}
    items = _as_many_as_fit(items, places)
    shown = {item.id for item in items}
    places = {name: place for name, place in places.items() if place in shown}
    return View(tuple(items), places, len(nodes) - len(places))


def followers(item: Node | Fold) -> Iterable[str]:
    """The node ids that an entry's edges go to."""
    return item.ends if isinstance(item, Fold) else [edge.node for edge in item.edges if edge.node is not None]


def _folds(snap: Snapshot, nodes: dict[str, Node]) -> list[Fold]:
    after = {name: tuple(dict.fromkeys(followers(node))) for name, node in nodes.items()}
    before: dict[str, list[str]] = {name: [] for name in nodes}
    for name, names in after.items():
        for follower in names:
            before[follower].append(name)
    keep = _kept(snap)
    side = _sides(nodes, after, before, keep)
    ways = {
        name: [one for one in names if not side[one] and nodes[one].variable is None] for name, names in after.items()
    }

    def links(name: str) -> str | None:
        if name in keep or nodes[name].variable is not None or len(ways[name]) != 1:
            return None
        on = ways[name][0]
        return on if on not in keep and len(before[on]) == 1 and len(ways[on]) == 1 else None

    folds: list[Fold] = []
    linked = {on for name in nodes if (on := links(name)) is not None}
    for name in nodes:
        if name in linked or side[name]:
            continue
        run = [name]
        while (on := links(run[-1])) is not None:
            run.append(on)
        middle = run[2:-1]  # the ends stay: they show what is repeated
        if len(middle) >= SHORTEST:
            folds.append(_fold(f"F{len(folds) + 1}", middle, nodes, after, side, ways))
    return folds


def _kept(snap: Snapshot) -> set[str]:
    named = {tid for _, tid in snap.names}
    kept = {tensor.grad_fn for tensor in snap.tensors if tensor.id in named and tensor.grad_fn}
    kept |= {node.id for node in snap.nodes if node.cut or any(saved.state == "stale" for saved in node.saved)}
    return kept


def _sides(
    nodes: dict[str, Node], after: dict[str, tuple[str, ...]], before: dict[str, list[str]], keep: set[str]
) -> dict[str, bool]:
    """Which nodes are a small branch of one other node that ends in leaves (a weight and its transposition)."""
    size: dict[str, int] = {}
    for name in _leaves_first(after):
        small = sum(size[one] for one in after[name])
        ends = bool(after[name]) or nodes[name].variable is not None
        private = len(before[name]) == 1 and name not in keep
        size[name] = 1 + small if private and ends and small < 4 else len(nodes) + 1
    return {name: size[name] <= 4 for name in nodes}


def _leaves_first(after: dict[str, tuple[str, ...]]) -> list[str]:
    """All nodes, each after those that its edges go to."""
    order: list[str] = []
    seen: set[str] = set()
    for start in after:
        waiting = [(start, False)]
        while waiting:
            name, done = waiting.pop()
            if done:
                order.append(name)
            elif name not in seen:
                seen.add(name)
                waiting.append((name, True))
                waiting.extend((one, False) for one in after[name] if one not in seen)
    return order


def _fold(
    which: str,
    run: list[str],
    nodes: dict[str, Node],
    after: dict[str, tuple[str, ...]],
    side: dict[str, bool],
    ways: dict[str, list[str]],
) -> Fold:
    inside: list[str] = []
    ends: dict[str, None] = {}
    for name in run:
        waiting = [name]
        while waiting:
            one = waiting.pop()
            inside.append(one)
            for follower in reversed(after[one]):
                if side[follower]:
                    waiting.append(follower)
                elif nodes[follower].variable is not None:
                    ends[follower] = None
    ends[ways[run[-1]][0]] = None
    members = [nodes[name] for name in inside]
    return Fold(
        id=which,
        nodes=tuple(inside),
        kinds=tuple(Counter(node.name for node in members).items()),
        states=tuple(Counter(saved.state for node in members for saved in node.saved).items()),
        leaves=tuple(node.variable for node in members if node.variable is not None),
        ends=tuple(ends),
    )


def _as_many_as_fit(items: list[Node | Fold], places: dict[str, str]) -> list[Node | Fold]:
    items = items[:MOST]
    while len(items) > 2 and _span(items, places) > SPAN:
        items = items[: len(items) * 4 // 5]
    return items


def _span(items: list[Node | Fold], places: dict[str, str]) -> int:
    """The sum of the lengths of all edges, in rows of the layout."""
    after = {item.id: tuple(dict.fromkeys(places[name] for name in followers(item))) for item in items}
    after = {name: tuple(one for one in names if one in after) for name, names in after.items()}
    row: dict[str, int] = dict.fromkeys(after, 0)
    for name in reversed(_leaves_first(after)):
        for one in after[name]:
            row[one] = max(row[one], row[name] + 1)
    return sum(row[one] - row[name] for name, names in after.items() for one in names)
