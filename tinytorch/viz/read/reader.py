"""Reading tensors of any engine, and the graph behind them, into plain data.

Only attributes that torch's public tensors have are read, so one reader serves
tinytorch and torch. Looking changes nothing: gradients of non-leaves are not asked
for (torch would warn), saved-tensor hooks are not called, versions are put back.
"""

from __future__ import annotations

import re
import sys
from collections import Counter as Counts
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from types import FrameType
from typing import Any

from ..wording import gettext
from . import probe
from .blocks import PLAIN, Blocks, Checksums, Ids, Place, address_of, lasting_address
from .module_paths import find_module_paths, modules
from .naming import MAX_NAMES, collect_tensors_and_arrays
from .probe import disable_overrides, getattr_or_none, identity_key, is_tensor
from .records import Counter, Node, Saved, Snapshot, Tensor

MAX_NODES = 5_000
"""A larger graph is read up to here; the snapshot says so.

Once Python has seen a node of torch's, torch 2.13 frees it by recursion: dropping a chain of 50,000 nodes that were all
looked at ends the process where the stack has 8 MB, which is about 190 bytes a node; some systems give a program 2 MB,
or 1. What was not looked at is freed by a loop.
"""
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
# Sizes, dimensions and the like only say where a gradient goes; alpha and beta are 1 but for who asks otherwise.
_GEOMETRY = re.compile(
    r"size|stride|offset|dim|layout|dtype|device|numel|^(start|end|step|index|keepdim|options|alpha|beta)$"
)


def snapshot(
    *tensors: Any, since: Snapshot | None = None, values: Any = True, **named: Any
) -> Snapshot:
    """Read tensors, their storages, version counters and autograd graph into plain data.

    >>> x = torch.ones(2, requires_grad=True)
    >>> snap = snapshot(x, y=x * 2)
    >>> snap.names
    (('x', 'T1'), ('y', 'T2'))
    >>> [node.name.rpartition("::")[2] for node in snap.nodes]
    ['MulBackward0', 'AccumulateGrad']

    `tensors` may be tensors (named as the caller wrote them), mappings such as `locals()`, modules, optimisers, lists,
    dicts, and objects that hold tensors; `named` tensors keep their keyword. NumPy arrays beside them are told where
    they see the same memory. `params` takes names and tensors, as `net.named_parameters()` gives them. With `since`, an
    earlier snapshot, what is still alive keeps its id. `values=False` reads no values.

    Raises TypeError for an argument that is no tensor and holds none, and for a `since` that is no snapshot.
    """
    return read_snapshot(tensors, named, sys._getframe(1), since, values)


def read_snapshot(
    args: tuple[Any, ...],
    named: dict[str, Any],
    frame: FrameType | None = None,
    since: Snapshot | None = None,
    values: Any = True,
) -> Snapshot:
    """`snapshot` for callers that hand over their own caller's frame; a lone Snapshot is not read again."""
    if since is not None and not isinstance(since, Snapshot):
        raise TypeError(
            f"since= is an earlier snapshot, as snapshot(...) returns it, not of type {type(since).__name__}; "
            f'a tensor of that name is shown with {{"since": since}} as the first argument'
        )
    if len(args) == 1 and not named and isinstance(args[0], Snapshot):
        return args[0] if since is None else with_earlier_bytes(args[0], since)
    if not isinstance(values, bool):  # a tensor of that name
        named, values = {**named, "values": values}, True
    pairs, apart = collect_tensors_and_arrays(args, named, frame)
    with disable_overrides():
        reader = _Reader(values)
        for name, tensor in pairs:
            if is_tensor(tensor):
                reader.call(reader.add(tensor, "named"), name)
        arrays = [(name, array) for name, array in pairs if not is_tensor(array)]
        found = reader.finish(since or Snapshot((), (), (), (), ()), arrays, apart)
    if len(pairs) == MAX_NAMES:
        more = gettext(
            "there may be more tensors: only the first {number} were read", number=f"{MAX_NAMES:,}"
        )
        found = replace(found, notes=(*found.notes, more))
    return found if since is None else with_earlier_bytes(found, since)


def with_earlier_bytes(now: Snapshot, since: Snapshot) -> Snapshot:
    """`now`, in which what nodes saved knows its bytes at the first of the looks that `since` leads back to."""
    # Threads number their nodes for themselves: what two have is no name.
    several = {
        key
        for snap in (now, since)
        for key, count in Counts(node.key for node in snap.nodes).items()
        if count > 1
    }
    before = {
        node.key: {saved.name: saved for saved in node.saved}
        for node in since.nodes
        if node.key not in several
    }

    def with_then(saved: Saved, known: dict[str, Saved]) -> Saved:
        old = known.get(saved.name)
        if (
            old is None
            or saved.state != "live"
            or old.bytes_now is None
            or saved.bytes_then is not None
        ):
            return saved
        return replace(
            saved, bytes_then=old.bytes_now if old.bytes_then is None else old.bytes_then
        )

    nodes = tuple(
        replace(node, saved=tuple(with_then(saved, before[node.key]) for saved in node.saved))
        if node.key in before and node.saved
        else node
        for node in now.nodes
    )
    return replace(now, nodes=nodes)


@dataclass(slots=True)
class _Met:
    """A tensor that was met, and what was read of its history."""

    tensor: Any
    role: str
    names: list[str] = field(default_factory=list)
    is_leaf: bool | None = None
    grad_fn: Any = None
    grad: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> Any:
        """Equal in two snapshots for one tensor."""
        # torch hands out a new object each time a saved result is read: known by its place, not by itself.
        return (
            ("saved", *lasting_address(self.tensor))
            if self.role == "saved"
            else identity_key(self.tensor)
        )


class _Reader:
    """Collects everything reachable, then makes the records. Lives for one snapshot."""

    def __init__(self, values: bool) -> None:
        self.values = values
        self.met: list[_Met] = []
        self.index: dict[int, int] = {}
        self.addresses: dict[Any, list[int]] = {}
        self.graph: list[Any] = []
        self.graph_index: dict[int, int] = {}
        self.saved: list[list[Saved]] = []
        self.variables: dict[int, int] = {}
        self.given: dict[str, int] = {}
        self.too_large = False
        self.checksums = Checksums()

    def add(self, tensor: Any, role: str) -> int:
        where = self.index.get(id(tensor))
        if where is None:
            where = len(self.met)
            self.index[id(tensor)] = where
            self.met.append(_Met(tensor, role))
            self.addresses.setdefault(address_of(tensor), []).append(where)
        elif role == "leaf" and self.met[where].role == "saved":
            self.met[
                where
            ].role = role  # a leaf is an object that lasts, whichever way it was met first
        return where

    def call(self, where: int, name: str) -> None:
        if name in self.met[where].names:
            return
        # Two tensors of one name (from two dicts, say) are told apart.
        base, count = name, 1
        while name in self.given:
            count += 1
            name = f"{base} ({count})"
        self.given[name] = where
        self.met[where].names.append(name)

    def finish(self, since: Snapshot, arrays: list[tuple[str, Any]], apart: list[str]) -> Snapshot:
        done = 0
        while done < len(self.met):
            # All tensors known so far come before the graph: what a node saved is to be found among them.
            while done < len(self.met):
                self._look_at(self.met[done])
                done += 1
            self._walk()
        known = {storage.key: storage.id for storage in since.storages}
        blocks = Blocks([one.tensor for one in self.met], Ids("S", known, since.last_ids[1]))
        keys = [one.key for one in self.met]
        numbers = Ids("T", {tensor.key: tensor.id for tensor in since.tensors}, since.last_ids[0])
        ids = [numbers.of(key) for key in keys]
        counters, last_counter = self._counters(ids, since)
        of_tensor = {tid: counter for counter in counters for tid in counter.tensors}
        grad_of = {one.grad: tid for one, tid in reversed(list(zip(self.met, ids, strict=True)))}
        shown = {where for where, one in enumerate(self.met) if one.names or where in grad_of}
        seeing = blocks.seen_by(arrays, shown)
        engines = dict.fromkeys(probe.engine_name(one.tensor) for one in self.met)
        note = gettext(
            "the graph is larger: only its first {number} nodes were read", number=f"{MAX_NODES:,}"
        )
        return Snapshot(
            names=tuple((name, ids[where]) for name, where in self.given.items()),
            tensors=tuple(
                self._record(i, keys[i], ids, blocks.places[i], of_tensor.get(tid), grad_of.get(i))
                for i, tid in enumerate(ids)
            ),
            storages=blocks.records(ids, shown if self.values else set(), seeing),
            counters=counters,
            nodes=self._nodes(ids, keys),
            notes=(note,) if self.too_large else (),
            arrays=tuple(
                name for name in apart if not any(name in names for names in seeing.values())
            ),
            doubts=tuple(
                dict.fromkeys(
                    doubt
                    for name in engines
                    for doubt in probe.doubts_of_process(sys.modules.get(name))
                )
            ),
            last_ids=(numbers.last, blocks.ids.last, last_counter),
        )

    # -- tensors ---------------------------------------------------------------

    def _look_at(self, one: _Met) -> None:
        tensor = one.tensor
        try:
            one.is_leaf = bool(tensor.is_leaf)
            one.grad_fn = tensor.grad_fn
        except Exception:  # noqa: BLE001 - a subclass may refuse as well
            # A view made under no_grad whose base was written since: torch prints
            # grad_fn=<Invalid> and refuses to answer.
            one.is_leaf = None
            one.notes = (
                gettext(
                    "its grad_fn is invalid: a view made in no_grad mode, whose base was written since"
                ),
            )
            return
        if one.grad_fn is not None:
            self._meet(one.grad_fn)
        if one.is_leaf or getattr_or_none(tensor, "retains_grad"):
            grad = getattr_or_none(tensor, "grad")
            if grad is not None and is_tensor(grad):
                one.grad = self.add(grad, "grad")

    def _record(
        self,
        i: int,
        key: Any,
        ids: list[str],
        place: Place,
        counter: Counter | None,
        grad_of: str | None,
    ) -> Tensor:
        one, tensor = self.met[i], self.met[i].tensor
        base = getattr_or_none(tensor, "_base")
        kind = type(tensor).__name__
        own = () if kind in PLAIN else (gettext("an object of the subclass {kind}", kind=kind),)
        return Tensor(
            id=ids[i],
            names=tuple(one.names),
            dtype=str(tensor.dtype),
            device=str(tensor.device),
            requires_grad=bool(tensor.requires_grad),
            is_leaf=one.is_leaf,
            counter=counter.id if counter else None,
            version=counter.version if counter else probe.version_of(tensor),
            grad_fn=self._node_id(one.grad_fn),
            grad_fn_name=None if one.grad_fn is None else one.grad_fn.name(),
            grad=None if one.grad is None else ids[one.grad],
            grad_of=grad_of,
            base=None if base is None or id(base) not in self.index else ids[self.index[id(base)]],
            is_view=base is not None,
            role=one.role,
            key=key,
            **vars(place) | {"notes": (*one.notes, *own, *place.notes)},
        )

    def _counters(self, ids: list[str], since: Snapshot) -> tuple[tuple[Counter, ...], int]:
        """The version counters, and the highest number."""
        versions = [probe.version_of(one.tensor) for one in self.met]
        by_engine: dict[str, list[int]] = {}
        for i, version in enumerate(versions):
            if version is not None:
                by_engine.setdefault(probe.engine_name(self.met[i].tensor), []).append(i)
        groups: dict[int, list[int]] = {}
        for members in by_engine.values():
            for i, first in zip(
                members,
                probe.find_counter_sharers([self.met[i].tensor for i in members]),
                strict=True,
            ):
                groups.setdefault(members[first], []).append(i)
        old = {tid: counter.id for counter in since.counters for tid in counter.tensors}
        numbers = Ids("C", {name: name for name in old.values()}, since.last_ids[2])
        counters = []
        for first, members in sorted(groups.items()):
            before = next((old[ids[i]] for i in members if old.get(ids[i]) in numbers.known), None)
            counters.append(
                Counter(numbers.of(before), versions[first] or 0, tuple(ids[i] for i in members))
            )
        return tuple(counters), numbers.last

    # -- graph -----------------------------------------------------------------

    def _meet(self, node: Any) -> None:
        if id(node) in self.graph_index:
            return
        if len(self.graph) >= MAX_NODES:
            self.too_large = True
            return
        self.graph_index[id(node)] = len(self.graph)
        self.graph.append(node)

    def _walk(self) -> None:
        while len(self.saved) < len(self.graph):
            where, node = len(self.saved), self.graph[len(self.saved)]
            variable = getattr(node, "variable", None)
            leaf = variable is not None and is_tensor(variable)
            if leaf:
                self.variables[where] = self.add(variable, "leaf")
            for follower, _ in node.next_functions:
                if follower is not None:
                    self._meet(follower)
            self.saved.append([] if leaf else list(self._saved_by(node)))

    def _node_id(self, node: Any) -> str | None:
        where = None if node is None else self.graph_index.get(id(node))
        return None if where is None else f"N{where + 1}"

    def _nodes(self, ids: list[str], keys: list[Any]) -> tuple[Node, ...]:
        owners: dict[int, list[str]] = {}
        for one, tid in zip(self.met, ids, strict=True):
            owners.setdefault(id(one.grad_fn), []).append(tid)
        made = []
        paths = find_module_paths(self.graph) if modules.ever else [None] * len(self.graph)
        for where, node in enumerate(self.graph):
            followers = [(self._node_id(follower), follower) for follower, _ in node.next_functions]
            variable = self.variables.get(where)
            made.append(
                Node(
                    id=f"N{where + 1}",
                    name=node.name(),
                    edges=tuple(name for name, _ in followers),
                    saved=tuple(
                        saved
                        if saved.tensor is None
                        else replace(saved, tensor=ids[int(saved.tensor)])
                        for saved in self.saved[where]
                    ),
                    variable=None if variable is None else ids[variable],
                    tensors=tuple(owners.get(id(node), ())),
                    cut=any(name is None and follower is not None for name, follower in followers),
                    module=paths[where],
                    doubts=tuple(probe.doubts_of_node(node)),
                    # Threads number nodes for themselves; two seldom meet in one graph, and with one name less so.
                    key=("node", node.name(), node._sequence_nr())
                    if variable is None
                    else ("leaf", keys[variable]),
                )
            )
        return tuple(made)

    # -- what nodes keep for backward: live, stale, freed, or nothing that may be looked at ----

    def _saved_by(self, node: Any) -> Iterator[Saved]:
        for attribute, name in _attributes(type(node)):
            once = getattr(
                getattr(node, "_forward_cls", None), "clear_saved_tensors_on_access", False
            )
            if name == "tensors" and once:
                yield Saved(name, "once")
            else:
                for saved in self._one_saved(node, attribute, name):
                    running = name.startswith("running_") and getattr_or_none(
                        node, "_saved_training"
                    )
                    yield replace(saved, used=False, bytes_now=None) if running else saved

    def _one_saved(self, node: Any, attribute: str, name: str) -> Iterator[Saved]:
        raw = getattr_or_none(node, "_raw_saved_" + name)
        if raw is None and _GEOMETRY.search(name):
            return
        hooks = [
            getattr(one, "unpack_hook", None) for one in (raw if isinstance(raw, tuple) else (raw,))
        ]
        if any(hook is not None and not getattr(hook, "changes_nothing", False) for hook in hooks):
            yield Saved(name, "packed")
            return
        try:
            value = getattr(node, attribute)
        except RuntimeError as error:
            yield self._refused(node, name, str(error), raw)
            return
        except Exception:  # noqa: BLE001 - whatever a custom Function's own attribute raises is not ours to pass on
            yield Saved(name, "unreadable")
            return
        if is_tensor(value):
            yield _as_watched(self._live(name, value, raw), raw)
        elif isinstance(value, tuple | list):
            for index, piece in enumerate(value):
                if is_tensor(piece):
                    yield self._live(f"{name}[{index}]", piece)
        elif isinstance(value, int | float | complex) and not isinstance(value, bool):
            # torch shows sizes and indexes unsigned: ignore_index=-100 as 18446744073709551516.
            yield Saved(
                name,
                "number",
                value=value - 2**64 if isinstance(value, int) and value >= 2**63 else value,
            )

    def _live(self, name: str, tensor: Any, raw: Any = None) -> Saved:
        version = probe.version_of(tensor)
        where = self.index.get(id(tensor))
        if (
            where is None
        ):  # it may be known as another object, at the same place and with the same history
            node = getattr_or_none(tensor, "grad_fn")
            same = self.addresses.get(address_of(tensor), ())
            where = next((i for i in same if self.met[i].grad_fn is node), None)
        shape = getattr_or_none(tensor, "shape")  # a nested tensor has none
        bare = where is None and shape is not None and not tuple(shape)
        if bare and self.values and not tensor.requires_grad:
            # The 2 of `x * 2`: torch wraps it in a 0-d tensor, and backward frees it like one.
            try:
                value = tensor.tolist()
            except Exception:  # noqa: BLE001 - a tensor without values (meta, FakeTensor) is told like any other
                value = None
            if value is not None and probe.is_number(tensor, raw):
                return Saved(name, "live", value=value, bytes_now=("", 0), bytes_then=("", 0))
            if value is not None:
                return self._with_bytes(Saved(name, "live", value=value), tensor)
        where = self.add(tensor, "saved") if where is None else where
        return self._with_bytes(Saved(name, "live", str(where), version, version), tensor)

    def _with_bytes(self, saved: Saved, tensor: Any) -> Saved:
        found = self.checksums.of(tensor)
        return (
            replace(saved, not_read=found)
            if isinstance(found, str)
            else replace(saved, bytes_now=found)
        )

    def _refused(self, node: Any, name: str, message: str, raw: Any) -> Saved:
        stale = _VERSIONS.search(message)
        if stale is None:
            return Saved(name, "freed" if "already been freed" in message else "unreadable")
        now, then = int(stale[1]), int(stale[2])
        data = getattr_or_none(raw, "data")
        where = None
        if is_tensor(data):
            found = self._original(data, node)
            where = self.add(data, "saved") if found is None else found
        return Saved(
            name,
            "stale",
            tensor=None if where is None else str(where),
            saved_version=then,
            version=now,
        )

    def _original(self, data: Any, node: Any) -> int | None:
        """The known tensor that was saved: among those at the same place the node's own result, or its input."""
        same = self.addresses.get(address_of(data), [])
        followers = [follower for follower, _ in node.next_functions if follower is not None]
        results = [i for i in same if self.met[i].grad_fn is node]
        inputs = [
            i
            for i in same
            for one in followers
            if self.met[i].grad_fn is one or getattr_or_none(one, "variable") is self.met[i].tensor
        ]
        return next(iter(results or inputs or same), None)


def _as_watched(saved: Saved, raw: Any) -> Saved:
    """What `copylab.watch` keeps knows the bytes from when they were saved, and whether they are others now."""
    watched = getattr(getattr_or_none(raw, "unpack_hook"), "changes_nothing", False)
    changed = getattr_or_none(getattr_or_none(raw, "data"), "has_changed") if watched else None
    if changed is None or saved.bytes_now is None:
        return saved
    kind, number = saved.bytes_now
    return replace(saved, bytes_then=(kind, number + changed))


@cache
def _attributes(kind: type) -> tuple[tuple[str, str], ...]:
    """(attribute, name) of what nodes of a class keep; their classes have a property for each."""
    names = [
        (attribute, attribute.removeprefix("_saved_"))
        for attribute in dir(kind)
        if attribute[:7] == "_saved_"
    ]
    # Of a name like `index` there are numbers, which are left out, and tensors, which have a second property.
    found = [
        (attribute, name)
        for attribute, name in names
        if not _GEOMETRY.search(name) or hasattr(kind, f"_raw_saved_{name}")
    ]
    # A custom Function keeps its tensors under another name.
    return (
        (*found, ("saved_tensors", "tensors")) if hasattr(kind, "saved_tensors") else tuple(found)
    )
