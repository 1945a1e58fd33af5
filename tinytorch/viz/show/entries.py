"""Which entries a picture shows, of a graph or of memory: what there is, or folds of it where it is large.

The nodes of a graph are taken in the order in which forward made them, the last first. An edge never leads back in that
order, so whatever stretches of it are folded, the entries are a graph without circles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise

from ..read import Node, Snapshot, Storage, Tensor
from ..wording import matches_any
from .fold import Line, Path, Run, common, path_of

FOLD_ABOVE = 40
"""Graphs of up to this many nodes are shown whole."""
ROOM, KEPT = 24, 80
"""So many entries of larger ones are shown, and so many if that takes it to show what has to be seen."""
TROUBLES = 8
"""So many of the nodes or storages in trouble have to be seen, those that come first."""
NAMED = 12
"""So many of the nodes whose results have a name have to be seen, the latest."""
LEAVES = 8
"""More leaves than this that the same entries use are folded."""
OWN, ROWS = 16, 30
"""So many entries of a large memory picture are shown, and so many tensors in all if they have to be seen."""
_PASSED_ON = (
    "TBackward0",
    "TransposeBackward0",
    "PermuteBackward0",
    "ExpandBackward0",
    "ToCopyBackward0",
)
"""What a weight goes through on its way to the node that reads it."""


def noted(snap: Snapshot) -> bool:
    """Whether it is known in which module's forward nodes were made."""
    return any(node.module is not None for node in snap.nodes)


def _home(snap: Snapshot, which: str) -> Path:
    """The module that a tensor's dotted names begin with, as far as they agree."""
    return common(
        [path_of(name.rpartition(".")[0]) for name in snap.tensor(which).names if "." in name]
    )


# -- graphs ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fold:
    """Several nodes shown as one entry."""

    id: str
    nodes: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...]
    states: tuple[tuple[str, int], ...]
    leaves: tuple[str, ...]
    ends: tuple[str, ...]
    """The nodes that its edges go to."""
    made: tuple[str, ...] = ()
    """The named tensors that its nodes made."""
    label: str = ""
    """The module, or modules, that it stands for."""
    times: int = 1
    """How many equal stretches it is made of."""
    inside: Callable[[], View] | None = field(default=None, compare=False, repr=False)
    """Opens it: what is in it, or in the first of the equal stretches; None if it holds leaves alone."""


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a graph: nodes and folds in order."""

    items: tuple[Node | Fold, ...]
    places: dict[str, str]
    """Node id -> id of the entry that shows it."""
    beyond: dict[str, str] = field(default_factory=dict)
    """Inside of a fold: node id -> id of the entry outside that shows it."""
    whole: bool = False
    """Whether it was asked for as a whole, however large."""
    find: str = ""
    found: frozenset[str] = frozenset()
    """What was looked for, and the nodes that are called so."""

    @property
    def folded(self) -> frozenset[str]:
        """The tensors that are leaves of folded nodes, or made by them."""
        folds = [item for item in self.items if isinstance(item, Fold)]
        return frozenset(tid for fold in folds for tid in (*fold.leaves, *fold.made))


def view(
    snap: Snapshot, bad: Collection[str], fresh: Collection[str], find: str, fold: bool
) -> View:
    """The entries to show for a snapshot's graph.

    As far as they are not too many, the nodes in `bad` and in `fresh` have to be seen, and those that a name stands for.
    """
    large = fold and len(snap.nodes) > FOLD_ABOVE
    order = _Order(snap, bad, fresh, find) if large or find else None
    if order is not None and large:
        return order.view("F", 0, len(order.ops), {})
    found = order.found if order else frozenset()
    return View(snap.nodes, {node.id: node.id for node in snap.nodes}, {}, not fold, find, found)


class _Order:
    """The nodes of a graph in the order in which they were made, the last first, and the leaves that they use."""

    def __init__(
        self, snap: Snapshot, bad: Collection[str], fresh: Collection[str], find: str
    ) -> None:
        self.snap, self.bad, self.fresh, self.find = snap, bad, fresh, find
        self.users: dict[str, list[str]] = {node.id: [] for node in snap.nodes}
        for node in snap.nodes:
            for name in dict.fromkeys(node.ends):
                self.users[name].append(node.id)
        self.ops = self._sorted()
        self.at = {node.id: place for place, node in enumerate(self.ops)}
        self.leaves = {
            node.id: [name for name in dict.fromkeys(node.ends) if name not in self.at]
            for node in self.ops
        }
        paths = self._paths()
        self.found = frozenset(self._found(find, paths)) if find else frozenset()
        # Where an edge goes: the place of a node, or for a leaf the places of the nodes that use it.
        places = {
            name: [self.at.get(name)] if name in self.at else [self.at[user] for user in users]
            for name, users in self.users.items()
        }
        self.heads = [tuple(places[name] for name in node.ends) for node in self.ops]
        sizes = [
            1 + min(sum(len(self.users[leaf]) == 1 for leaf in self.leaves[node.id]), LEAVES + 1)
            for node in self.ops
        ]
        self.line = Line(
            paths,
            sizes,
            self._keep(),
            map(self._kind, self.ops),
            self.same,
            (ROOM, KEPT),
            back=True,
        )

    def _sorted(self) -> list[Node]:
        """Latest first by the engine's numbers, and never a node before one that leads to it."""
        ops = {node.id: node for node in self.snap.nodes if node.variable is None}
        numbers = {name: node.key[2] for name, node in ops.items()}
        when = {name: (-number, place) for place, (name, number) in enumerate(numbers.items())}
        left = {name: len(self.users[name]) for name in ops}
        ready = [(when[name], name) for name, count in left.items() if not count]
        heapify(ready)
        order = []
        while ready:
            order.append(ops[heappop(ready)[1]])
            for name in dict.fromkeys(order[-1].ends):
                if name in ops:
                    left[name] -= 1
                    if not left[name]:
                        heappush(ready, (when[name], name))
        return order

    def _paths(self) -> list[Path]:
        """The module of each node as it was noted; if none was, whose tensors it reads, or nodes made before and after."""
        if noted(self.snap):
            return [path_of(node.module or "") for node in self.ops]
        reads: dict[str, Path] = {}
        for node in reversed(self.ops):
            leaves = [
                _home(self.snap, self.snap.node(leaf).variable or "")
                for leaf in self.leaves[node.id]
            ]
            passed = [
                reads[name]
                for name in node.ends
                if name in reads and self.snap.node(name).name in _PASSED_ON
            ]
            if any(leaves) or any(passed):
                reads[node.id] = common(leaves or passed)
        paths = [reads.get(node.id, ()) for node in self.ops]
        owned = [place for place, node in enumerate(self.ops) if node.id in reads]
        for before, after in pairwise(owned):
            for place in range(before + 1, after):
                paths[place] = common((paths[before], paths[after]))
        return paths

    def _found(self, find: str, paths: Sequence[Path]) -> Iterable[str]:
        for node in self.snap.nodes:
            tensors = [*node.tensors, *([node.variable] if node.variable else [])]
            names = [name for tid in tensors for name in self.snap.tensor(tid).names]
            path = [".".join(paths[self.at[node.id]])] if node.id in self.at else []
            if matches_any(find, [node.id, node.name, *names, *path]):
                yield node.id

    def _keep(self) -> list[int]:
        """The places that have to be seen, the most important first."""
        users = (user for name in self.found for user in self.users[name] if name not in self.at)
        found = sorted({self.at[name] for name in chain(self.found & self.at.keys(), users)})
        wrong = [place for place, node in enumerate(self.ops) if node.id in self.bad]
        made = {tensor.grad_fn for tensor in self.snap.named}
        named = [place for place, node in enumerate(self.ops) if node.id in made]
        new = [place for place, node in enumerate(self.ops) if node.id in self.fresh]
        return list(dict.fromkeys([*found, *wrong[:TROUBLES], *new[:NAMED], *named[:NAMED]]))

    def _kind(self, node: Node) -> object:
        """What must be equal in two nodes that are; `same` compares where their edges go."""
        shapes = [
            self.snap.tensor(self.snap.node(leaf).variable or "").shape
            for leaf in self.leaves[node.id]
        ]
        tensors = [
            (one.name, one.state, one.tensor and self.snap.tensor(one.tensor).shape)
            for one in node.saved
        ]
        ends = tuple(edge is None for edge in node.edges)
        return (
            node.name,
            tuple(tensors),
            tuple(shapes),
            ends,
            node.id in self.found,
            node.id in self.bad,
        )

    def same(self, first: int, second: int, size: int) -> tuple[bool, ...] | None:
        """How the edges of two stretches are equal: each goes as far as its like, or to the same node.

        Two leaves lie equally far if the nodes that use them do.
        """
        how = []
        for one, other in zip(
            self.heads[first : first + size], self.heads[second : second + size], strict=True
        ):
            for head, there in zip(one, other, strict=True):
                far = len(head) == len(there) and all(
                    b - a == second - first for a, b in zip(head, there, strict=True)
                )
                if head != there and not far:
                    return None
                how.append(far)
        return tuple(how)

    def view(self, prefix: str, start: int, stop: int, beyond: dict[str, str]) -> View:
        """The entries of a stretch; `beyond` tells what shows the rest."""
        runs = self.line.opened(start, stop)
        names, count = [], 0
        for run in runs:
            count += not run.single
            names.append(self.ops[run.start].id if run.single else f"{prefix}{count}")
        places = {
            self.ops[p].id: name
            for run, name in zip(runs, names, strict=True)
            for p in range(run.start, run.stop)
        }
        groups: dict[tuple[str, ...], list[str]] = {}
        for leaf in dict.fromkeys(
            leaf for node in self.ops[start:stop] for leaf in self.leaves[node.id]
        ):
            users = (places.get(user) or beyond.get(user, "") for user in self.users[leaf])
            groups.setdefault(tuple(dict.fromkeys(users)), []).append(leaf)
        items: list[Node | Fold] = []
        folded = [name for name, run in zip(names, runs, strict=True) if not run.single]
        own = {name: groups.pop((name,), []) for name in folded}
        loose: list[tuple[str, list[str]]] = []
        for leaves in groups.values():
            seen = [leaf for leaf in leaves if leaf in self.found or len(leaves) <= LEAVES]
            rest = [leaf for leaf in leaves if leaf not in seen]
            loose += [(leaf, [leaf]) for leaf in seen]
            if rest:
                count += 1
                loose.append((f"{prefix}{count}", rest))
        places |= {leaf: name for name, leaves in (*own.items(), *loose) for leaf in leaves}
        outside = {**beyond, **places}
        for run, name in zip(runs, names, strict=True):
            items.append(
                self.ops[run.start] if run.single else self._fold(name, run, own[name], outside)
            )
        items += [
            self.snap.node(name) if leaves == [name] else self._made_of(name, leaves)
            for name, leaves in loose
        ]
        return View(tuple(items), places, beyond, False, self.find, self.found)

    def _fold(self, name: str, run: Run, leaves: list[str], outside: dict[str, str]) -> Fold:
        size = (run.stop - run.start) // run.times

        def inside() -> View:
            # Of what is repeated, what forward made first; the order is the other way round.
            return self.view(f"{name}.", run.stop - size, run.stop, outside)

        nodes = [node.id for node in self.ops[run.start : run.stop]]
        return self._made_of(name, [*nodes, *leaves], run.label, run.times, inside)

    def _made_of(
        self,
        name: str,
        nodes: list[str],
        label: str = "",
        times: int = 1,
        inside: Callable[[], View] | None = None,
    ) -> Fold:
        members = [self.snap.node(one) for one in nodes]
        kept = [saved for node in members for saved in node.saved]
        ends = dict.fromkeys(follower for node in members for follower in node.ends)
        for one in nodes:
            ends.pop(one, None)
        return Fold(
            id=name,
            nodes=tuple(nodes),
            kinds=tuple(Counter(node.name for node in members).items()),
            states=tuple(
                Counter(
                    "written unseen" if one.bytes_unchanged is False else one.state for one in kept
                ).items()
            ),
            leaves=tuple(node.variable for node in members if node.variable is not None),
            ends=tuple(ends),
            made=tuple(
                tid for node in members for tid in node.tensors if self.snap.tensor(tid).names
            ),
            label=label,
            times=times,
            inside=inside,
        )


# -- memory ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Band:
    """A storage and those of its tensors that are shown; `more` are not."""

    storage: Storage
    members: list[Tensor]
    more: int = 0

    @property
    def alone(self) -> bool:
        """Whether one tensor of one name is all that sees the memory."""
        return (
            len(self.members) == 1
            and len(self.members[0].names) < 2
            and not self.storage.arrays
            and self.storage.objects == 1
        )


@dataclass(frozen=True, slots=True)
class Pack:
    """Several storages shown as one entry, which may hold such entries again."""

    label: str
    times: int
    bands: tuple[Band, ...]
    inside: tuple[Band | Pack, ...]

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors in it that are told of."""
        return [one for band in self.bands for one in band.members]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a memory picture shows: storages, and storages that are folded, in order."""

    entries: tuple[Band | Pack, ...]
    whole: bool
    """Whether it was asked for as a whole, however large."""
    find: str
    found: frozenset[str]
    """What was looked for, and the tensors that are called so."""
    bad: Mapping[str, tuple[str, ...]]
    """The tensors in trouble, each with what to say of it."""


def shelf(
    snap: Snapshot,
    bad: Mapping[str, tuple[str, ...]],
    fresh: Collection[str],
    find: str,
    fold: bool,
) -> Shelf:
    """The storages to show, those of one module folded where there are many.

    As far as they are not too many, the tensors in `bad` and in `fresh` have to be seen, and what shares memory.
    """
    found = frozenset(
        one.id for one in snap.tensors if one.id in snap.shown and matches_any(find, one.names)
    )
    bands = [Band(storage, members) for storage, members in snap.shown_storages]
    if not fold or sum(len(band.members) for band in bands) <= ROWS:
        return Shelf(tuple(bands), not fold, find, found, bad)
    first: dict[
        Path, int
    ] = {}  # modules in the order in which they come, so that what belongs to one stands together
    homes: list[tuple[list[int], Path, Band]] = []
    for band in bands:
        home = common(
            [path for one in band.members if (path := _home(snap, one.grad_of or one.id))]
        )
        own = [home[: depth + 1] for depth in range(len(home))] or [(band.storage.id,)]
        homes.append(
            (
                [first.setdefault(path, len(first)) for path in own],
                home,
                _shortened(band, {*found, *bad}),
            )
        )
    homes.sort(key=lambda one: one[0])
    paths, shown = [home for _, home, _ in homes], tuple(band for _, _, band in homes)
    keep, kinds = (
        _to_be_seen(shown, paths, found, bad, fresh),
        [_like(snap, band, bad) for band in shown],
    )
    line = Line(
        paths, [len(band.members) for band in shown], keep, kinds, lambda *_: (), (OWN, ROWS)
    )

    def entries(runs: Iterable[Run]) -> Iterator[Band | Pack]:
        for run in runs:
            members, size = shown[run.start : run.stop], (run.stop - run.start) // run.times
            if run.single:
                yield from members
            elif run.times > 1:
                starts = range(run.start, run.stop, size)
                rounds = [
                    Run(
                        at,
                        at + size,
                        ".".join(common([path for path in paths[at : at + size] if path])),
                    )
                    for at in starts
                ]
                yield Pack(
                    run.label, run.times, members, members if size == 1 else tuple(entries(rounds))
                )
            else:
                inside = (
                    members
                    if line.size(run) <= ROWS
                    else tuple(entries(line.parts(run.start, run.stop)))
                )
                yield Pack(run.label, 1, members, inside)

    return Shelf(tuple(entries(line.opened(0, len(shown)))), False, find, found, bad)


def _to_be_seen(
    shown: Sequence[Band], paths: Sequence[Path], *urgent: Collection[str]
) -> list[int]:
    """The places of what is urgent (was looked for, is in trouble, is new), shares memory, or is in no module."""
    keep: list[int] = []
    for which, most in zip(urgent, (len(shown), TROUBLES, NAMED), strict=True):
        there = [any(one.id in which for one in band.members) for band in shown]
        keep += [place for place, wanted in enumerate(there) if wanted][:most]
    keep += [place for place, band in enumerate(shown) if not band.alone]
    return list(
        dict.fromkeys([*keep, *[place for place, path in enumerate(paths) if not path][:NAMED]])
    )


def _like(snap: Snapshot, band: Band, bad: Collection[str]) -> object:
    """What is the same in storages that are said to be equal: the names within the module, shapes, dtypes, trouble."""
    names = (
        snap.first_name(one).split(".")[-2 if one.role == "grad" else -1 :] for one in band.members
    )
    own = [[part for part in name if not part.isdigit()] for name in names]
    rest = [(one.shape, one.stride, one.dtype, one.id in bad) for one in band.members]
    return repr((own, rest))


def _shortened(band: Band, urgent: Collection[str]) -> Band:
    """A band with no more rows than can be drawn: those of the tensors that have to be seen, or the first."""
    rows = {one.id for one in sorted(band.members, key=lambda one: one.id not in urgent)[:ROWS]}
    return Band(
        band.storage, [one for one in band.members if one.id in rows], len(band.members) - len(rows)
    )
