"""Selection of the nodes that a graph picture shows: all of them, or folds where the graph is large.

The nodes are taken in the order in which forward made them, the last first. An edge never leads
back in that order, so whichever stretches of it are folded, the entries have no cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from ..diagnose import Changes, find_refusals, name_maybe_writers
from ..read import NodeRecord, Snapshot
from ..wording import matches_any
from .fold import FoldableLine, ModulePath, Stretch, common_path, module_path
from .levels import check_options
from .select_storages import find_module_of_tensor

FOLD_ABOVE = 40
"""Graphs of up to this many nodes are shown whole."""
ROOM, MOST_ROOM = 24, 80
"""How many entries a larger one has, and how many if that takes it to show what has to be visible."""
MOST_HAZARDS = 8
"""How many of the nodes with a hazard have to be visible, those that come first."""
MOST_NAMED = 12
"""How many of the nodes that are new, or whose results have a name, have to be visible: the latest."""
MOST_LEAVES = 8
"""More leaves than this that the same entries use are folded."""
_PASSED_THROUGH = (
    "TBackward0",
    "TransposeBackward0",
    "PermuteBackward0",
    "ExpandBackward0",
    "ToCopyBackward0",
)
"""Nodes that a weight goes through on its way to the node that computes with it."""


@dataclass(frozen=True, slots=True)
class NodeFold:
    """Several nodes in one entry."""

    id: str
    """F1, F2; F1.2 for one in an opened fold."""
    nodes: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...]
    """The names of its nodes, counted."""
    states: tuple[tuple[str, int], ...]
    """The states of what its nodes saved, counted."""
    leaves: tuple[str, ...]
    """The tensors that its accumulators add to, by id."""
    ends: tuple[str, ...]
    """The nodes that its edges go to."""
    results: tuple[str, ...] = ()
    """The named tensors that its nodes made."""
    label: str = ""
    """The module, or modules, that it stands for."""
    times: int = 1
    """How many equal stretches it is made of."""
    inside: Callable[[], NodeSelection] | None = field(default=None, compare=False, repr=False)
    """Opens it: what is in it, or in the first of equal stretches; None for a fold of leaves."""


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """The entries of a graph picture, nodes and folds, in order."""

    entries: tuple[NodeRecord | NodeFold, ...]
    entry_of: dict[str, str]
    """Node id -> id of the entry that shows it."""
    outside: dict[str, str] = field(default_factory=dict)
    """Of an opened fold: node id -> id of the entry outside that shows it."""
    is_unfolded: bool = False
    """True with fold=False: the picture keeps its size, however large."""
    find: str = ""
    """What the user looks for: a module, a tensor or a kind of node; empty for nothing."""
    found: frozenset[str] = frozenset()
    """The nodes that `find` names."""

    @property
    def folded_tensors(self) -> frozenset[str]:
        """The tensors that are leaves of folded nodes, or made by them."""
        tensor_ids: set[str] = set()
        for entry in self.entries:
            if isinstance(entry, NodeFold):
                tensor_ids.update(entry.leaves, entry.results)
        return frozenset(tensor_ids)


def select_nodes(changes: Changes, find: str = "", fold: bool = True) -> NodeSelection:
    """Select the entries of a graph; a large one is folded, by module and by what is repeated.

    As far as they are not too many, nodes that have a hazard or changed, whose results have names,
    or that `find` names stay visible.
    """
    check_options(find, fold)
    snap = changes.now
    is_large = fold and len(snap.nodes) > FOLD_ABOVE
    entry_of = {node.id: node.id for node in snap.nodes}
    # What has a hazard, and the order, are asked for only where something is folded or looked for.
    if not is_large and not find:
        return NodeSelection(snap.nodes, entry_of, {}, not fold)
    new_or_changed = changes.new_nodes | {node for node, _ in changes.earlier_saved}
    order = _NodeOrder(snap, _find_nodes_with_hazard(snap), new_or_changed, find)
    if is_large:
        return order.select("F", 0, len(order.computed), {})
    return NodeSelection(snap.nodes, entry_of, {}, not fold, find, order.found)


def has_noted_modules(snap: Snapshot) -> bool:
    """Return True if it is known in which module's forward nodes were made."""
    return any(node.module is not None for node in snap.nodes)


def _find_nodes_with_hazard(snap: Snapshot) -> set[str]:
    """Return the nodes with something stale, freed or maybe written among what they saved."""
    states: set[str] = set()
    for node in snap.nodes:
        states.update(saved.state for saved in node.saved)
    bad_states = {"stale", "detached"}
    # After a backward everything is freed, which sets no node apart; beside live ones it does.
    if "live" in states:
        bad_states.add("freed")
    with_hazard = {node_id for node_id, _ in name_maybe_writers(snap)}
    with_hazard |= {refusal.node.id for refusal in find_refusals(snap, snap.nodes)}
    for node in snap.nodes:
        # Where the graph was cut, a reader has to see that it goes on.
        if node.is_reader_stopped:
            with_hazard.add(node.id)
        for saved in node.saved:
            may_raise = saved.state in bad_states and saved.may_raise
            if may_raise or saved.was_written_unseen:
                with_hazard.add(node.id)
    return with_hazard


class _EdgeEnd(NamedTuple):
    """The end of an edge: a node, or a leaf, whose position is that of the nodes that use it."""

    position: int
    """The position of the node, or of the first of those that use the leaf."""
    pattern: int
    """A number for how far the others are from the first: equal for equal distances. Compared
    position by position, a weight that each of n nodes uses would take n steps at each of them."""


class _NodeOrder:
    """The nodes of a graph in the order in which they were made, the last first, and their leaves."""

    def __init__(
        self,
        snap: Snapshot,
        with_hazard: Collection[str],
        new_or_changed: Collection[str],
        find: str,
    ) -> None:
        self.snap, self.find = snap, find
        self.with_hazard, self.new_or_changed = with_hazard, new_or_changed
        self.users: dict[str, list[str]] = {node.id: [] for node in snap.nodes}
        for node in snap.nodes:
            for end in dict.fromkeys(node.ends):
                self.users[end].append(node.id)
        self.computed = self._sort_nodes()
        self.positions = {node.id: position for position, node in enumerate(self.computed)}
        self.leaves: dict[str, list[str]] = {}
        for node in self.computed:
            ends = dict.fromkeys(node.ends)
            self.leaves[node.id] = [end for end in ends if end not in self.positions]
        # Accumulators have no positions: they are drawn below the nodes that use them.
        paths = self._find_paths()
        self.found = frozenset(self._find_nodes(find, paths)) if find else frozenset()
        self.heads = self._find_heads()
        self.relative_heads: list[tuple[tuple[int, int], ...]] = []
        """The same as distances: equal where all edges go as far as those of another node."""
        for position, heads in enumerate(self.heads):
            distances = [(head.position - position, head.pattern) for head in heads]
            self.relative_heads.append(tuple(distances))
        self.line = FoldableLine(
            paths,
            [1 + self._count_own_leaves(node) for node in self.computed],
            self._find_visible(),
            map(self._kind_of_node, self.computed),
            self.compare_edges,
            room=ROOM,
            most_room=MOST_ROOM,
            is_backward=True,
        )

    def _find_positions(self, end: str) -> list[int]:
        """Return where an edge goes: of a leaf, the positions of the nodes that use it."""
        if end in self.positions:
            return [self.positions[end]]
        return [self.positions[user] for user in self.users[end]]

    def _find_heads(self) -> list[tuple[_EdgeEnd, ...]]:
        """Return where the edges of each node go."""
        patterns: dict[tuple[int, ...], int] = {}
        heads: dict[str, _EdgeEnd] = {}
        heads_of_nodes = []
        for node in self.computed:
            for end in node.ends:
                if end not in heads:
                    positions = self._find_positions(end)
                    distances = tuple(position - positions[0] for position in positions)
                    pattern = patterns.setdefault(distances, len(patterns))
                    heads[end] = _EdgeEnd(positions[0], pattern)
            heads_of_nodes.append(tuple(heads[end] for end in node.ends))
        return heads_of_nodes

    def _count_own_leaves(self, node: NodeRecord) -> int:
        # A leaf that several nodes use is an entry of its own. Many of one node are one fold.
        count = sum(len(self.users[leaf]) == 1 for leaf in self.leaves[node.id])
        return min(count, MOST_LEAVES + 1)

    def _sort_nodes(self) -> list[NodeRecord]:
        """Sort latest first by the engine's numbers, and never a node before one that leads to it."""
        computed = {node.id: node for node in self.snap.nodes if node.variable is None}
        # The third part of a node's key is the engine's number of it. Equal ones
        # (of two threads) stay in the order of first sight: ids, as text, have N10 before N2.
        ranks = {}
        for position, node in enumerate(computed.values()):
            ranks[node.id] = (-node.key[2], position)
        # By edges first, and only then by numbers: folds rely on it that no edge leads back.
        users_left = {node_id: len(self.users[node_id]) for node_id in computed}
        ready = [(ranks[node_id], node_id) for node_id, count in users_left.items() if not count]
        heapify(ready)
        order = []
        while ready:
            node = computed[heappop(ready)[1]]
            order.append(node)
            for end in dict.fromkeys(node.ends):
                if end not in computed:
                    continue
                users_left[end] -= 1
                if not users_left[end]:
                    heappush(ready, (ranks[end], end))
        return order

    def _find_paths(self) -> list[ModulePath]:
        """Find the module of each node: as noted in forward, or else guessed from what it reads."""
        if has_noted_modules(self.snap):
            return [module_path(node.module or "") for node in self.computed]
        reads = self._find_modules_read()
        paths = [reads.get(node.id, ()) for node in self.computed]
        # `self.positions` is in their order.
        positions_that_read = [at for node_id, at in self.positions.items() if node_id in reads]
        # Nodes that read no parameter (an activation) belong to the module on both sides of them.
        for before, after in pairwise(positions_that_read):
            for position in range(before + 1, after):
                paths[position] = common_path((paths[before], paths[after]))
        return paths

    def _find_modules_read(self) -> dict[str, ModulePath]:
        """Return node -> the module of the parameters that it reads, for those that read any."""
        reads: dict[str, ModulePath] = {}
        for node in reversed(self.computed):
            # Own parameters first; x @ w.t() reads its weight through a TBackward0.
            direct: list[ModulePath] = []
            for leaf in self.leaves[node.id]:
                variable = self.snap.node(leaf).variable or ""
                direct.append(find_module_of_tensor(self.snap, variable))
            passed = [
                reads[end]
                for end in node.ends
                if end in reads and self.snap.node(end).name in _PASSED_THROUGH
            ]
            if any(direct) or any(passed):
                reads[node.id] = common_path(direct or passed)
        return reads

    def _find_nodes(self, find: str, paths: Sequence[ModulePath]) -> Iterator[str]:
        """Yield the nodes that `find` names: by id, kind, tensor or module."""
        for node in self.snap.nodes:
            texts = [node.id, node.name]
            for tensor_id in filter(None, (*node.tensors, node.variable)):
                texts += self.snap.tensor(tensor_id).names
            if node.id in self.positions:
                texts.append(".".join(paths[self.positions[node.id]]))
            if matches_any(find, texts):
                yield node.id

    def _find_visible(self) -> list[int]:
        """Return the positions that have to be visible, the most important first."""
        found: set[int] = set()
        for node_id in self.found:
            # A leaf that was found is seen beside the nodes that use it.
            found.update(self._find_positions(node_id))
        with_named_result = {tensor.grad_fn for tensor in self.snap.named_tensors}
        hazardous, altered, named = [], [], []
        for position, node in enumerate(self.computed):
            if node.id in self.with_hazard:
                hazardous.append(position)
            if node.id in self.new_or_changed:
                altered.append(position)
            if node.id in with_named_result:
                named.append(position)
        # What was looked for is shown in any case, the rest up to a limit.
        visible = [
            *sorted(found),
            *hazardous[:MOST_HAZARDS],
            *altered[:MOST_NAMED],
            *named[:MOST_NAMED],
        ]
        return list(dict.fromkeys(visible))

    def _kind_of_node(self, node: NodeRecord) -> object:
        """Return what must be equal in equal nodes; `compare_edges` compares where their edges go."""
        shapes = []
        for leaf in self.leaves[node.id]:
            variable = self.snap.node(leaf).variable or ""
            shapes.append(self.snap.tensor(variable).shape)
        saved_values = []
        for saved in node.saved:
            shape = saved.tensor and self.snap.tensor(saved.tensor).shape
            saved_values.append((saved.name, saved.state, shape))
        # Shapes belong to it: the picture promises that what is repeated is equal in them.
        is_none = tuple(edge is None for edge in node.edges)
        # What was found or has a hazard must not vanish among equals.
        is_found, has_hazard = node.id in self.found, node.id in self.with_hazard
        return node.name, tuple(saved_values), tuple(shapes), is_none, is_found, has_hazard

    def compare_edges(self, first: int, second: int, size: int) -> tuple[bool, ...] | None:
        """Say how the edges of two stretches are equal; None if they are not.

        Each edge goes as far as its counterpart (True), or to the same node (False). Two leaves are
        equally far if the nodes that use them are.
        """
        relative = self.relative_heads[first : first + size]
        if relative == self.relative_heads[second : second + size]:
            # Most of all, and asked for each two nodes of a loop.
            return (True,) * sum(map(len, relative))
        # In a loop, one edge leads one round back, and another to the same weight each time.
        ways = []
        distance = second - first
        for position in range(size):
            heads, others = self.heads[first + position], self.heads[second + position]
            for head, other in zip(heads, others, strict=True):
                is_as_far = (
                    head.pattern == other.pattern and other.position - head.position == distance
                )
                if not is_as_far and head != other:
                    return None
                ways.append(is_as_far)
        return tuple(ways)

    def select(self, prefix: str, start: int, stop: int, outside: dict[str, str]) -> NodeSelection:
        """Select the entries of a stretch; `outside` says which entries show the other nodes."""
        stretches = self.line.open_stretch(start, stop)
        names: list[str] = []
        fold_count = 0
        entry_of: dict[str, str] = {}
        for stretch in stretches:
            fold_count += not stretch.is_single
            name = self.computed[stretch.start].id if stretch.is_single else f"{prefix}{fold_count}"
            names.append(name)
            # Every node has an entry that shows it, so that each edge has an end to be drawn to.
            for position in range(stretch.start, stretch.stop):
                entry_of[self.computed[position].id] = name
        groups = self._group_leaves(start, stop, {**outside, **entry_of})
        # A leaf that only one fold uses is in it.
        own_leaves: dict[str, list[str]] = {}
        for name, stretch in zip(names, stretches, strict=True):
            if not stretch.is_single:
                own_leaves[name] = groups.pop((name,), [])
        leaf_entries = self._share_leaf_entries(groups.values(), prefix, fold_count)
        for name, leaves in (*own_leaves.items(), *leaf_entries.items()):
            entry_of |= dict.fromkeys(leaves, name)
        everywhere = {**outside, **entry_of}
        entries: list[NodeRecord | NodeFold] = []
        for stretch, name in zip(stretches, names, strict=True):
            if stretch.is_single:
                entries.append(self.computed[stretch.start])
            else:
                entries.append(self._fold_stretch(name, stretch, own_leaves[name], everywhere))
        for name, leaves in leaf_entries.items():
            if leaves == [name]:
                entries.append(self.snap.node(name))
            else:
                entries.append(self._make_fold(name, leaves))
        return NodeSelection(tuple(entries), entry_of, outside, False, self.find, self.found)

    def _share_leaf_entries(
        self, groups: Iterable[list[str]], prefix: str, fold_count: int
    ) -> dict[str, list[str]]:
        """Return entry -> its leaves; many leaves with the same users, as of one torch.cat, share one."""
        leaf_entries: dict[str, list[str]] = {}
        for leaves in groups:
            for leaf in leaves:
                if leaf in self.found or len(leaves) <= MOST_LEAVES:
                    leaf_entries[leaf] = [leaf]
            folded = [leaf for leaf in leaves if leaf not in leaf_entries]
            if folded:
                fold_count += 1
                leaf_entries[f"{prefix}{fold_count}"] = folded
        return leaf_entries

    def _group_leaves(
        self, start: int, stop: int, entry_of: dict[str, str]
    ) -> dict[tuple[str, ...], list[str]]:
        """Group the leaves of a stretch by the entries that use them."""
        groups: dict[tuple[str, ...], list[str]] = {}
        leaves: dict[str, None] = {}
        for node in self.computed[start:stop]:
            leaves |= dict.fromkeys(self.leaves[node.id])
        for leaf in leaves:
            users = dict.fromkeys(entry_of.get(user, "") for user in self.users[leaf])
            groups.setdefault(tuple(users), []).append(leaf)
        return groups

    def _fold_stretch(
        self, name: str, part: Stretch, leaves: list[str], entry_of: dict[str, str]
    ) -> NodeFold:
        size = (part.stop - part.start) // part.times
        # Of what is repeated, what forward made first: the last, since the order is reversed.
        open_fold = partial(self.select, f"{name}.", part.stop - size, part.stop, entry_of)
        nodes = [node.id for node in self.computed[part.start : part.stop]]
        return self._make_fold(name, [*nodes, *leaves], part.label, part.times, open_fold)

    def _make_fold(
        self,
        name: str,
        node_ids: list[str],
        label: str = "",
        times: int = 1,
        inside: Callable[[], NodeSelection] | None = None,
    ) -> NodeFold:
        members = [self.snap.node(node_id) for node_id in node_ids]
        kinds, states = Counter[str](), Counter[str]()
        ends: dict[str, None] = {}
        leaves, results = list[str](), list[str]()
        for node in members:
            kinds[node.name] += 1
            if node.variable is not None:
                leaves.append(node.variable)
            for saved in node.saved:
                states["changed unseen" if saved.was_written_unseen else saved.state] += 1
            ends |= dict.fromkeys(node.ends)
            results += [tid for tid in node.tensors if self.snap.tensor(tid).names]
        inner = set(node_ids)
        return NodeFold(
            id=name,
            nodes=tuple(node_ids),
            kinds=tuple(kinds.items()),
            states=tuple(states.items()),
            leaves=tuple(leaves),
            ends=tuple(end for end in ends if end not in inner),
            results=tuple(results),
            label=label,
            times=times,
            inside=inside,
        )
