"""Large graphs made readable: long chains become one entry, and what is still too much is left out.

A chain is a run of nodes each of which leads to the next one alone: at once, or by ways
that all meet there again, as a block with a skip connection does. Branches that end in
leaves, as a layer's weights do, do not count. Nodes that a name stands for, and nodes
whose saved tensor was written, are never folded away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .read.records import Node, Snapshot

FOLD_ABOVE = 40
"""Graphs of up to this many nodes are shown whole."""
MOST = 120
"""So many entries are shown at most."""
SHORTEST = 5
"""A shorter run is not worth folding."""
WIDEST = 200
"""So many nodes may lie between one link of a chain and the next."""
_VIEW = "_view"
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
    # Asked for by picture, source and text alike; kept beside the snapshot's own fields, which are frozen.
    if _VIEW not in snap.__dict__:
        snap.__dict__[_VIEW] = _view(snap)
    found: View = snap.__dict__[_VIEW]
    return found


def _view(snap: Snapshot) -> View:
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
    meet = _meetings(ways)

    def link(name: str) -> tuple[str, list[str]] | None:
        """The next link of the chain, and the nodes on the ways between."""
        on = meet[name]
        if on is None or name in keep or on in keep:
            return None
        between: dict[str, None] = {}
        waiting = [one for one in ways[name] if one != on]
        while waiting:
            one = waiting.pop()
            if one not in between:
                between[one] = None
                if one in keep or len(between) > WIDEST:
                    return None
                waiting += [follower for follower in ways[one] if follower != on]
        # Nothing from outside may lead in.
        alone = all(b == name or b in between for one in (on, *between) for b in before[one])
        return (on, list(between)) if alone else None

    links = {name: found for name in nodes if not side[name] and (found := link(name)) is not None}
    linked = {on for on, _ in links.values()}
    inner = {one for _, between in links.values() for one in between}
    folds: list[Fold] = []
    for name in nodes:
        # Runs inside of a block are part of it.
        if name in linked or name in inner or name not in links:
            continue
        run, between = [name], []
        while run[-1] in links:
            on, inside = links[run[-1]]
            run.append(on)
            between.append(inside)
        middle = [
            one for k in range(2, len(run) - 1) for one in (run[k], *between[k])
        ]  # the ends show what is repeated
        if len(middle) >= SHORTEST:
            folds.append(_fold(f"F{len(folds) + 1}", middle, run[-1], nodes, after, side))
    return folds


def _meetings(ways: dict[str, list[str]]) -> dict[str, str | None]:
    """For each node the first one that all ways on from it lead through; None if there is none.

    The immediate post-dominators, as Cooper, Harvey and Kennedy compute them; without circles one pass is enough.
    """
    meet: dict[str, str | None] = {}
    depth: dict[str | None, int] = {None: 0}
    for name in _leaves_first({name: tuple(names) for name, names in ways.items()}):
        common: str | None = None
        for k, one in enumerate(ways[name]):
            if k == 0:
                common = one
                continue
            other: str | None = one
            while common != other:
                if depth[common] < depth[other]:
                    common, other = other, common
                common = meet[common] if common is not None else None
        meet[name] = common
        depth[name] = depth[common] + 1
    return meet


def _kept(snap: Snapshot) -> set[str]:
    named = {tid for _, tid in snap.names}
    kept = {tensor.grad_fn for tensor in snap.tensors if tensor.id in named and tensor.grad_fn}
    bad = {node.id for node in snap.nodes for saved in node.saved if saved.state == "stale" or saved.kept is False}
    kept |= bad | {node.id for node in snap.nodes if node.cut}
    return kept


def _sides(
    nodes: dict[str, Node], after: dict[str, tuple[str, ...]], before: dict[str, list[str]], keep: set[str]
) -> dict[str, bool]:
    """Which nodes are a small branch of one other node that ends in leaves (a weight and its transposition)."""
    size: dict[str, int] = {}
    for name in _leaves_first(after):
        # A leaf that others use too (the weight of a recurrent cell) ends a branch as well, but is no part of it.
        small = sum(1 if nodes[one].variable is not None else size[one] for one in after[name])
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
    end: str,
    nodes: dict[str, Node],
    after: dict[str, tuple[str, ...]],
    side: dict[str, bool],
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
    ends[end] = None
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
