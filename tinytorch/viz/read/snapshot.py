"""Reading tensors of any engine into plain data.

Only attributes that torch's public tensors have are read, so one reader serves
tinytorch and torch. Looking changes nothing: gradients of non-leaves are not asked
for (torch would warn), saved-tensor hooks are not called, versions are put back.
"""

from __future__ import annotations

import sys
from collections import deque
from types import FrameType
from typing import Any

from . import probe
from .blocks import PLAIN, Blocks, Place, address_of, lasting
from .naming import collect
from .probe import is_tensor, quietly, serial, undisturbed
from .records import Counter, Edge, Node, Saved, Snapshot, Tensor
from .saved import saved_by

MAX_NODES = 5_000
"""A larger graph is read up to here; the snapshot says so.

Once Python has seen a node of torch's, torch 2.13 frees it by recursion: dropping a chain of 50,000 nodes that were all
looked at ends the process where the stack has 8 MB, which is about 190 bytes a node; some systems give a program 2 MB,
or 1. What was not looked at is freed by a loop.
"""


def snapshot(*tensors: Any, since: Snapshot | None = None, **named: Any) -> Snapshot:
    """Read tensors, their storages, version counters and autograd graph into plain data.

    `tensors` may be tensors (named as the caller wrote them), mappings such as
    `locals()`, modules, optimisers, lists and dicts; `named` tensors keep their
    keyword. With `since`, an earlier snapshot, what is still alive keeps its id.

    Raises TypeError for an argument that is no tensor and holds none.
    """
    return read(tensors, named, sys._getframe(1), since)


def read(
    args: tuple[Any, ...], named: dict[str, Any], frame: FrameType | None = None, since: Snapshot | None = None
) -> Snapshot:
    """`snapshot` for callers that hand over their own caller's frame; a lone Snapshot is returned as it is."""
    if len(args) == 1 and not named and isinstance(args[0], Snapshot):
        return args[0]
    pairs = collect(args, named, frame)
    with undisturbed():
        reader = _Reader(since)
        for name, tensor in pairs:
            reader.add(tensor, "named", name)
        return reader.finish()


class _Reader:
    """Collects everything reachable, then makes the records. Lives for one snapshot."""

    def __init__(self, since: Snapshot | None) -> None:
        self.since = since
        self.tensors: list[Any] = []
        self.names: list[list[str]] = []
        self.roles: list[str] = []
        self.index: dict[int, int] = {}
        self.addresses: dict[Any, list[int]] = {}
        self.grads: dict[int, int] = {}
        self.grad_fns: dict[int, Any] = {}
        self.leafness: dict[int, bool | None] = {}
        self.trouble: dict[int, list[str]] = {}
        self.graph: list[Any] = []
        self.graph_index: dict[int, int] = {}
        self.waiting: deque[int] = deque()
        self.saved: dict[int, list[Saved]] = {}
        self.variables: dict[int, int] = {}
        self.named: set[str] = set()
        self.given: list[tuple[str, int]] = []
        self.too_large = False

    def add(self, tensor: Any, role: str, name: str | None = None) -> int:
        where = self.index.get(id(tensor))
        if where is None:
            where = len(self.tensors)
            self.index[id(tensor)] = where
            self.tensors.append(tensor)
            self.addresses.setdefault(address_of(tensor), []).append(where)
            self.names.append([])
            self.roles.append(role)
        elif role == "leaf" and self.roles[where] == "saved":
            self.roles[where] = role  # a leaf is an object that lasts, whichever way it was met first
        if name is not None:
            self._call(where, name)
        return where

    def _call(self, where: int, name: str) -> None:
        if name in self.names[where]:
            return
        # Two tensors of one name (from two dicts, say) are told apart.
        base, count = name, 1
        while name in self.named:
            count += 1
            name = f"{base} ({count})"
        self.named.add(name)
        self.names[where].append(name)
        self.given.append((name, where))

    def finish(self) -> Snapshot:
        done = 0
        while done < len(self.tensors):
            # All tensors known so far come before the graph: what a node saved is to be found among them.
            while done < len(self.tensors):
                self._look_at(done)
                done += 1
            self._walk()
        since = self.since
        old_storages = {storage.key: storage.id for storage in since.storages} if since else {}
        blocks = Blocks(self.tensors, old_storages, since.last_ids[1] if since else 0)
        ids, last_tensor = self._ids()
        counters, known, last_counter = self._counters(ids)
        of_tensor = {tid: counter for counter in counters for tid in counter.tensors}
        grad_of = {grad: owner for owner, grad in reversed(self.grads.items())}
        shown = {where for where in range(len(ids)) if self.names[where] or where in grad_of}
        return Snapshot(
            names=tuple((name, ids[where]) for name, where in self.given),
            tensors=tuple(
                self._record(i, ids, blocks.places[i], of_tensor.get(tid), grad_of.get(i)) for i, tid in enumerate(ids)
            ),
            storages=blocks.records(ids, shown),
            counters=counters,
            nodes=self._nodes(ids),
            counters_known=known,
            notes=(f"the graph is larger: only its first {MAX_NODES:,} nodes were read",) if self.too_large else (),
            last_ids=(last_tensor, blocks.last, last_counter),
        )

    # -- tensors ---------------------------------------------------------------

    def _look_at(self, where: int) -> None:
        tensor = self.tensors[where]
        notes = self.trouble.setdefault(where, [])
        try:
            self.leafness[where] = bool(tensor.is_leaf)
            grad_fn = tensor.grad_fn
        except Exception:  # noqa: BLE001 - a subclass may refuse as well
            # A view made under no_grad whose base was written since: torch prints
            # grad_fn=<Invalid> and refuses to answer.
            self.leafness[where] = None
            notes.append("its grad_fn is invalid: a view made in no_grad mode, whose base was written since")
            return
        if grad_fn is not None:
            self.grad_fns[where] = grad_fn
            self._meet(grad_fn)
        if self.leafness[where] or quietly(tensor, "retains_grad"):
            grad = quietly(tensor, "grad")
            if grad is not None and is_tensor(grad):
                self.grads[where] = self.add(grad, "grad")

    def _record(self, i: int, ids: list[str], place: Place, counter: Counter | None, grad_of: int | None) -> Tensor:
        tensor = self.tensors[i]
        base = quietly(tensor, "_base")
        grad_fn = self.grad_fns.get(i)
        grad = self.grads.get(i)
        kind = type(tensor).__name__
        own = () if kind in PLAIN else (f"an object of the subclass {kind}",)
        return Tensor(
            id=ids[i],
            names=tuple(self.names[i]),
            shape=place.shape,
            stride=place.stride,
            offset=place.offset,
            dtype=str(tensor.dtype),
            itemsize=place.itemsize,
            device=str(tensor.device),
            requires_grad=bool(tensor.requires_grad),
            is_leaf=self.leafness.get(i),
            storage=place.storage,
            start_byte=place.start_byte,
            counter=counter.id if counter else None,
            version=counter.version if counter else probe.version_of(tensor),
            grad_fn=self._node_id(grad_fn),
            grad_fn_name=None if grad_fn is None else grad_fn.name(),
            grad=None if grad is None else ids[grad],
            grad_of=None if grad_of is None else ids[grad_of],
            base=None if base is None or id(base) not in self.index else ids[self.index[id(base)]],
            is_view=base is not None,
            role=self.roles[i],
            notes=(*self.trouble.get(i, ()), *own, *place.notes),
            key=self._key(i),
        )

    def _key(self, i: int) -> Any:
        # torch hands out a new object each time a saved result is read: known by its place, not by itself.
        if self.roles[i] == "saved":
            return ("saved", *lasting(self.tensors[i]))
        return serial(self.tensors[i])

    def _ids(self) -> tuple[list[str], int]:
        """Ids in order of first sight, and the highest number; what `since` knew keeps its id."""
        known = {tensor.key: tensor.id for tensor in self.since.tensors} if self.since else {}
        last = self.since.last_ids[0] if self.since else 0
        ids = []
        for i in range(len(self.tensors)):
            found = known.pop(self._key(i), None)
            if found is None:
                last += 1
                found = f"T{last}"
            ids.append(found)
        return ids, last

    def _counters(self, ids: list[str]) -> tuple[tuple[Counter, ...], bool, int]:
        """The version counters, whether it is known who shares them, and the highest number."""
        versions = [probe.version_of(tensor) for tensor in self.tensors]
        by_engine: dict[str, list[int]] = {}
        for i, version in enumerate(versions):
            if version is not None:
                by_engine.setdefault(probe.engine_name(self.tensors[i]), []).append(i)
        groups: dict[int, list[int]] = {}
        known = True
        for engine, members in by_engine.items():
            shared = probe.sharing([self.tensors[i] for i in members], sys.modules.get(engine))
            known = known and shared is not None
            for i, first in zip(members, shared or (), strict=shared is not None):
                groups.setdefault(members[first], []).append(i)
        old = {tid: counter.id for counter in self.since.counters for tid in counter.tensors} if self.since else {}
        last = self.since.last_ids[2] if self.since else 0
        taken: set[str] = set()
        counters = []
        for first, members in sorted(groups.items()):
            name = next((old[ids[i]] for i in members if ids[i] in old and old[ids[i]] not in taken), None)
            if name is None:
                last += 1
                name = f"C{last}"
            taken.add(name)
            counters.append(Counter(name, versions[first] or 0, tuple(ids[i] for i in members)))
        return tuple(counters), known, last

    # -- graph -----------------------------------------------------------------

    def _meet(self, node: Any) -> None:
        if id(node) in self.graph_index:
            return
        if len(self.graph) >= MAX_NODES:
            self.too_large = True
            return
        self.graph_index[id(node)] = len(self.graph)
        self.waiting.append(len(self.graph))
        self.graph.append(node)

    def _walk(self) -> None:
        while self.waiting:
            where = self.waiting.popleft()
            node = self.graph[where]
            variable = getattr(node, "variable", None)
            if variable is not None and is_tensor(variable):
                self.variables[where] = self.add(variable, "leaf")
            for follower, _ in node.next_functions:
                if follower is not None:
                    self._meet(follower)
            self.saved[where] = list(saved_by(node, self))

    def _node_id(self, node: Any) -> str | None:
        where = None if node is None else self.graph_index.get(id(node))
        return None if where is None else f"N{where + 1}"

    def _nodes(self, ids: list[str]) -> tuple[Node, ...]:
        owners: dict[int, list[str]] = {}
        for i, grad_fn in self.grad_fns.items():
            owners.setdefault(id(grad_fn), []).append(ids[i])
        made = []
        for where, node in enumerate(self.graph):
            edges = tuple(
                Edge(index, self._node_id(follower), int(entry))
                for index, (follower, entry) in enumerate(node.next_functions)
            )
            variable = self.variables.get(where)
            made.append(
                Node(
                    id=f"N{where + 1}",
                    name=node.name(),
                    edges=edges,
                    saved=tuple(_with_id(saved, ids) for saved in self.saved.get(where, ())),
                    variable=None if variable is None else ids[variable],
                    tensors=tuple(owners.get(id(node), ())),
                    cut=any(
                        follower is not None and id(follower) not in self.graph_index
                        for follower, _ in node.next_functions
                    ),
                    key=_node_key(node, None if variable is None else self._key(variable)),
                )
            )
        return tuple(made)

    def known(self, tensor: Any, node: Any = None) -> int | None:
        """A tensor already met that is this one, or (with `node`) lies at the same place with that history."""
        where = self.index.get(id(tensor))
        if where is not None:
            return where
        for i in self.addresses.get(address_of(tensor), ()):
            if self.grad_fns.get(i) is node:
                return i
        return None


def _node_key(node: Any, variable: Any) -> Any:
    """Equal in two snapshots for one node; None where the engine gives its nodes no number."""
    if variable is not None:
        return ("leaf", variable)
    number = quietly(node, "_sequence_nr")
    # Numbers are given out by each thread for itself; two threads seldom meet in one graph, and with one name less so.
    return None if number is None else ("node", node.name(), number())


def _with_id(saved: Saved, ids: list[str]) -> Saved:
    if saved.tensor is None:
        return saved
    return Saved(saved.name, saved.state, ids[int(saved.tensor)], saved.saved_version, saved.version, saved.value)
