"""The lines that made the nodes of a program's graphs, and the backwards that read what these saved.

They tell where a graph that a backward has freed is used once more: PyTorch's error, "Trying to backward
through the graph a second time", names no line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from tinytorch.graph import FREED_MESSAGE

from .engine_runs import EngineRun
from .places import NodeLine, Place, PlaceFinder

_MOST_LINES = 20_000
"""The lines of so many nodes are kept, those of the newest: what is used once more is mostly of the step before."""


class BackwardCall(NamedTuple):
    """A backward that has read something."""

    number: int
    """The engine's number of it."""
    position: int
    """Its place among those that one `NodeLines` has seen, from 1."""
    node_line: NodeLine | None
    """The line that called it."""
    newest_nr: int
    """The number of the last node that was made before."""


class FreedGraph(NamedTuple):
    """How a result leads into a graph that an earlier backward has freed. Nodes, and lines if known."""

    freed: Place | None
    """The line of that backward."""
    old_node: Any
    """The node of that graph at which what is newer goes on; None if the result itself is of that graph."""
    made: Place | None
    """The line that made it, or without it the first node that was freed."""
    carried: Place | None
    """The line that made the first newer node: it has computed with a result of the freed graph."""
    new_nodes: Sequence[Any]
    """That node, and those that lead to it, the nearest first."""
    root: Any
    """The node that backward begins at, and that leads there."""

    @property
    def is_carried(self) -> bool:
        """False if the result itself was made before that backward: nothing was computed since."""
        return self.old_node is not None


class NodeLines:
    """The lines of the nodes that one thread makes, of one engine."""

    def __init__(self, place_finder: PlaceFinder) -> None:
        self._place_finder = place_finder
        self._node_lines: dict[int, NodeLine] = {}
        """By the number of the node, the newest last."""
        self.newest_nr = -1
        """The number of the newest node whose line is known."""
        self.newest_node_line: NodeLine | None = None
        """That line."""
        self._last_backward: BackwardCall | None = None

    def record_node(self, node_nr: int) -> NodeLine | None:
        """Note that the line that runs has made a node, and return it."""
        node_line = self._place_finder.find_node_line()
        self.newest_nr, self.newest_node_line = node_nr, node_line
        if node_line is not None:
            self._node_lines[node_nr] = node_line
            if len(self._node_lines) > _MOST_LINES:
                for oldest in list(islice(self._node_lines, _MOST_LINES // 2)):
                    del self._node_lines[oldest]
        return node_line

    def find_node_line(self, node_nr: int) -> NodeLine | None:
        """Return the line that made a node; None if it is not known."""
        return self._node_lines.get(node_nr)

    def note_read(self, node_line: NodeLine, backward_nr: int) -> None:
        """Note that a backward has read what a node saved. node_line: the one that made the node."""
        backward = self._last_backward
        if backward is None or backward.number != backward_nr:
            position, caller = self.count_backwards() + 1, self._place_finder.find_backward_line()
            backward = BackwardCall(backward_nr, position, caller, self.newest_nr)
            self._last_backward = backward
        node_line.backward = backward

    def count_backwards(self) -> int:
        """Return how many backwards have read something."""
        return 0 if self._last_backward is None else self._last_backward.position

    def find_freed_graph(
        self, call: EngineRun, backward_count: int, newest_foreign_nr: int
    ) -> FreedGraph | None:
        """Find what a backward has met that has raised; None if that is not known.

        backward_count: how many backwards had read something before it.
        newest_foreign_nr: up to this number, a node may be of another thread and have its number, too.
        """
        roots = call.root_nodes
        parents = _collect_parents(roots)
        # Held here, or PyTorch makes the objects of the inputs' nodes anew.
        running = _find_running_nodes(call, parents)
        # It has run the nodes from the highest number down, and freed them: what it met is the first
        # that an earlier one has read, and freed.
        read_before = [
            (node._sequence_nr(), node)
            for node in running
            if node._sequence_nr() > newest_foreign_nr
            and (node_line := self.find_node_line(node._sequence_nr())) is not None
            and node_line.backward is not None
            and node_line.backward.position <= backward_count
        ]
        for number, node in sorted(read_before, key=lambda pair: -pair[0]):
            if _is_freed(node):
                # Another thread's node on the way has computed with what this one has given it.
                if any(n._sequence_nr() <= newest_foreign_nr for n in _iterate_up(node, parents)):
                    return None
                backward: BackwardCall = self._node_lines[number].backward
                old, new = _find_way_in(node, parents, backward.newest_nr)
                freed = None if backward.node_line is None else backward.node_line.place
                new_nodes = [] if new is None else list(_iterate_up(new, parents))
                root = next(each for each in _iterate_up(node, parents) if each in roots)
                made, carried = self._find_place(old or node), self._find_place(new)
                return FreedGraph(freed, old, made, carried, new_nodes, root)
        return None

    def _find_place(self, node: Any) -> Place | None:
        node_line = None if node is None else self.find_node_line(node._sequence_nr())
        return None if node_line is None else node_line.place


def _collect_parents(roots: list[Any]) -> dict[int, tuple[Any, list[Any]]]:
    """Return each node of a graph with those that lead to it, by its identity."""
    # PyTorch makes the objects of its nodes anew: they are the same as long as they are held here.
    parents: dict[int, tuple[Any, list[Any]]] = {id(root): (root, []) for root in roots}
    nodes = [root for root, _ in parents.values()]
    for node in nodes:
        for child, _ in node.next_functions:
            if child is None:
                continue
            if id(child) not in parents:
                parents[id(child)] = (child, [])
                nodes.append(child)
            parents[id(child)][1].append(node)
    return parents


def _find_running_nodes(call: EngineRun, parents: dict[int, tuple[Any, list[Any]]]) -> list[Any]:
    """Return the nodes of a graph that a backward runs: all, or those that lead to its inputs."""
    nodes = [node for node, _ in parents.values()]
    if not call.inputs:
        return nodes
    # At an input itself the gradient is taken, and its node does not run; where it goes to `.grad`, it does.
    first = 0 if call.accumulates else 1
    nodes_that_run: dict[int, Any] = {}
    for target in filter(call.is_input, nodes):
        above = list(_iterate_up(target, parents))
        nodes_that_run |= {id(node): node for node in above[first:]}
    return list(nodes_that_run.values())


def _is_freed(node: Any) -> bool:
    """Return True if a node has given back what it had saved under a watch."""
    # `_saved_...` is not read: of a node that was kept, that would call hooks of the program's own.
    raw_saved: list[Any] = []
    for name in dir(node):
        if name.startswith("_raw_saved_"):
            try:
                raw = getattr(node, name)
            except RuntimeError as error:  # of a Function
                return str(error).startswith(FREED_MESSAGE.partition(" (")[0])
            raw_saved += raw if isinstance(raw, tuple) else (raw,)
    # One that is freed has no hooks any more. In an older release that does not show them, it is not known.
    return bool(raw_saved) and all(
        getattr(raw, "unpack_hook", raw) is None and getattr(raw, "data", raw) is None
        for raw in raw_saved
    )


def _find_way_in(
    freed: Any, parents: dict[int, tuple[Any, list[Any]]], newest_nr: int
) -> tuple[Any, Any]:
    """Return an old node that leads to a freed one, and a newer node that leads to it; two None without one.

    newest_nr: the number of the last old node.
    """
    for node in _iterate_up(freed, parents):
        for parent in parents[id(node)][1]:
            if parent._sequence_nr() > newest_nr:
                return node, parent
    return None, None


def _iterate_up(node: Any, parents: dict[int, tuple[Any, list[Any]]]) -> Iterator[Any]:
    """Yield a node and all that lead to it, the nearest first."""
    nodes, seen_ids = [node], {id(node)}
    for each in nodes:
        yield each
        for parent in parents[id(each)][1]:
            if id(parent) not in seen_ids:
                seen_ids.add(id(parent))
                nodes.append(parent)
