"""The lines that made the nodes of a program's graphs, and the backwards that read what these saved.

They tell where a graph that a backward has freed is used once more: PyTorch's error, "Trying to backward
through the graph a second time", names no line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from tinytorch.graph import FREED_MESSAGE

from .engine_runs import EngineRun
from .places import NodeLine, Place, PlaceFinder

_MOST_RUNS = 1_000
"""So many backwards are kept that may have freed a node, the newest."""
_MOST_RUNS_COMPARED = 20
"""If more of these may have freed it, it is not asked which."""
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


class RunStart(NamedTuple):
    """What was known in a thread when a backward began."""

    read_count: int
    """How many backwards had read something."""
    run_count: int
    """How many had run and freed what they went through."""


class _FreeingRun(NamedTuple):
    """A backward that has freed what it went through."""

    node_line: NodeLine | None
    """The line that called it."""
    newest_nr: int
    """The number of the last node that was made before."""
    root_nr: int
    """The highest number of a node that it began at: it has reached none with a higher one."""


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
        self._freeing_runs: deque[_FreeingRun] = deque(maxlen=_MOST_RUNS)
        self._run_count = 0
        """How many have been added to these."""
        self._forgotten_root_nr = -1
        """The highest `root_nr` of those that are there no more."""

    def begin_run(self, call: EngineRun) -> RunStart:
        """Note a backward that is about to run, and return what was known before."""
        start = self.note_start()
        root_nr = max((node._sequence_nr() for node in call.root_nodes), default=-1)
        if not call.keeps_graph and root_nr >= 0:
            if len(self._freeing_runs) == _MOST_RUNS:
                self._forgotten_root_nr = max(
                    self._forgotten_root_nr, self._freeing_runs[0].root_nr
                )
            caller = self._place_finder.find_node_line()
            self._freeing_runs.append(_FreeingRun(caller, self.newest_nr, root_nr))
            self._run_count += 1
        return start

    def note_start(self) -> RunStart:
        """Return what is known now, for a backward that might begin."""
        return RunStart(self.count_backwards(), self._run_count)

    def record_node(self, node_nr: int) -> NodeLine | None:
        """Note that the line that runs has made a node, and return it."""
        node_line = self._place_finder.find_node_line()
        self.newest_nr, self.newest_node_line = node_nr, node_line
        if node_line is not None:
            self._node_lines[node_nr] = node_line
            if len(self._node_lines) > _MOST_LINES:
                # Half of them at once, so that most nodes find room.
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
        self, call: EngineRun, start: RunStart, newest_foreign_nr: int
    ) -> FreedGraph | None:
        """Find what a backward has met that has raised; None if that is not known.

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
            and node_line.backward.position <= start.read_count
        ]
        for number, node in sorted(read_before, key=lambda pair: -pair[0]):
            if _is_freed(node):
                # Another thread's node on the way has computed with what this one has given it.
                if _leads_through_foreign(node, parents, newest_foreign_nr):
                    return None
                backward: BackwardCall = self._node_lines[number].backward
                return self._describe_way(roots, node, parents, backward)
        return None

    def find_freed_unread(
        self, call: EngineRun, start: RunStart, newest_foreign_nr: int
    ) -> FreedGraph | None:
        """Find the same where no read was seen: a product with a number saves it past all hooks.

        Which backward has freed it is known if all that can have done it lead to the same lines.
        """
        roots = call.root_nodes
        parents = _collect_parents(roots)
        freed = [node for node in _find_running_nodes(call, parents) if _is_freed(node)]
        if not freed:
            return None
        # From the highest number down, the backward that has raised has freed nodes, too, until it met one
        # that was freed before. So was the last of them: it is that one, or this backward has not come to it.
        node = min(freed, key=lambda each: each._sequence_nr())
        number = node._sequence_nr()
        is_known = self.find_node_line(number) is not None and number > self._forgotten_root_nr
        if not is_known or _leads_through_foreign(node, parents, newest_foreign_nr):
            return None
        first_position = self._run_count - len(self._freeing_runs)
        earlier = list(self._freeing_runs)[: max(0, start.run_count - first_position)]
        graphs = [
            self._describe_way(roots, node, parents, run)
            for run in earlier[-_MOST_RUNS_COMPARED - 1 :]
            if run.root_nr >= number
        ]
        is_same = len({(each.freed, each.made, each.carried) for each in graphs}) == 1
        return graphs[0] if is_same and len(graphs) <= _MOST_RUNS_COMPARED else None

    def _describe_way(
        self,
        roots: list[Any],
        node: Any,
        parents: dict[int, tuple[Any, list[Any]]],
        backward: BackwardCall | _FreeingRun,
    ) -> FreedGraph:
        """Say how roots lead to a node that a backward has freed."""
        old, new = _find_way_in(node, parents, backward.newest_nr)
        freed = None if backward.node_line is None else backward.node_line.place
        new_nodes = [] if new is None else list(_iterate_up(new, parents))
        root = next(each for each in _iterate_up(node, parents) if each in roots)
        made, carried = self._find_place(old or node), self._find_place(new)
        return FreedGraph(freed, old, made, carried, new_nodes, root)

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


def _leads_through_foreign(
    node: Any, parents: dict[int, tuple[Any, list[Any]]], newest_foreign_nr: int
) -> bool:
    """Return True if a node, or one on the way to it, may be of another thread."""
    return any(each._sequence_nr() <= newest_foreign_nr for each in _iterate_up(node, parents))


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
    raw_by_name: dict[str, Any] = {}
    for name in dir(node):
        if name.startswith("_raw_saved_"):
            try:
                raw_by_name[name] = getattr(node, name)
            except RuntimeError as error:  # of a Function
                return _is_freed_error(error)
    raw_saved: list[Any] = []
    for raw in raw_by_name.values():
        raw_saved += raw if isinstance(raw, tuple) else (raw,)
    # One that is freed has no hooks any more. In an older release that does not show them, it is not known.
    has_nothing = bool(raw_saved) and all(
        getattr(raw, "unpack_hook", raw) is None and getattr(raw, "data", raw) is None
        for raw in raw_saved
    )
    # Nor has one that had nothing to save, as `addcmul` of what requires no grad; here no hooks are left.
    return has_nothing and any(
        _raises_freed(node, name.removeprefix("_raw")) for name in raw_by_name
    )


def _raises_freed(node: Any, name: str) -> bool:
    try:
        getattr(node, name)
    except RuntimeError as error:
        return _is_freed_error(error)
    return False


def _is_freed_error(error: RuntimeError) -> bool:
    return str(error).startswith(FREED_MESSAGE.partition(" (")[0])


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
    # Breadth first: the list grows while it is gone through.
    nodes, seen_ids = [node], {id(node)}
    for each in nodes:
        yield each
        for parent in parents[id(each)][1]:
            if id(parent) not in seen_ids:
                seen_ids.add(id(parent))
                nodes.append(parent)
