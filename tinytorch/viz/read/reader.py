"""Read tensors of either engine, and the graph behind them, into plain data.

One reader serves tinytorch and torch. Beside public attributes it reads some that torch has for its
own use: `_version` and `_base` of tensors, `_saved_*`, `_raw_saved_*`, `_sequence_nr` and
`_input_metadata` of nodes; and it finds shared version counters with a function of
`torch._C._autograd` (see `counter_sharing`). tinytorch has all of them under the same names.

Looking changes nothing: gradients of non-leaves are not asked for (torch would warn), saved-tensor
hooks are not called, but for those of `copylab.watch` (see `saved`), versions are put back, and
histories that torch would make anew when they are read are not read (see `probe`).
"""

from __future__ import annotations

import gc
import operator
import sys
import threading
from collections import Counter as Counts
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from ...graph import name_of_node
from ..wording import gettext
from .blocks import HUES_OF_WORDS, PLAIN_CLASSES, BlockGeometry, Blocks, IdSequence
from .counter_sharing import find_counter_sharers
from .doubts import doubts_of_node, doubts_of_process, hides_saved, refusals_of_node
from .found_tensors import FoundTensor, FoundTensors
from .gradient_specs import gradient_specs_of, input_shapes_of
from .graph_exits import find_exits, find_making_line
from .identity import hold_identities, number_of_twin
from .module_paths import find_module_paths, modules
from .naming import MAX_NAMES, CollectedThings, ObjectChoice, collect_tensors_and_arrays
from .probe import (
    History,
    disable_overrides,
    engine_name,
    getattr_or_none,
    grad_or_none,
    leaf_of_accumulator,
    read_history,
    version_of,
)
from .records import Counter, NodeRecord, SavedRecord, StorageRecord, TensorRecord
from .saved import FoundSavedTensor, SavedReader
from .snapshots import LastIds, Snapshot
from .stack_size import find_smallest_stack
from .user_code import read_function

MIN_NODES, MAX_NODES = 5_000, 10_000
"""So many nodes of a graph are read in any thread, and in one with a large stack. The snapshot says
so of a larger graph."""
_LARGE_STACK = 4 << 20
"""Bytes, twice those that 10,000 nodes take."""


def find_most_nodes() -> int:
    """Return how many nodes of a graph are read at most, in this thread.

    Once Python has seen a node of an engine, it is freed by recursion: PyTorch 2.13 takes some 190
    bytes of the stack for each. A chain of 50,000 nodes that were all looked at ends the process
    where the stack has 8 MB, one of 10,000 where it has 1 MB, as on some systems and in threads.
    What was not looked at is freed by a loop.
    """
    if find_smallest_stack() >= _LARGE_STACK:
        return MAX_NODES
    return MIN_NODES


THREADS_IN_LOOK: set[int] = set()
"""A watch does not count what is read in these: a hook of a backward may well ask for a picture."""


@contextmanager
def mark_look() -> Iterator[None]:
    """Let watches know that this thread reads and computes for a look, until the block ends."""
    thread = threading.get_ident()
    # A look within a look ends first, and the outer one goes on.
    is_outermost = thread not in THREADS_IN_LOOK
    THREADS_IN_LOOK.add(thread)
    try:
        yield
    finally:
        if is_outermost:
            THREADS_IN_LOOK.discard(thread)


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Search for no garbage meanwhile.

    A look makes so many objects that Python would search all those of the process several times,
    which with torch takes longer than the look: a third of 1 s for 4,000 nodes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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

    `tensors` may be tensors (named as the caller wrote them), mappings such as `locals()`, modules,
    optimisers, lists, dicts, and objects that contain tensors; `named` tensors keep their keyword.
    NumPy arrays beside them are mentioned where they share memory with a tensor. `params` takes
    names and tensors, as `net.named_parameters()` gives them. With `since`, an earlier snapshot,
    what is still alive keeps its id. `values=False` reads no values.

    Raises TypeError for an argument that is not a tensor and contains none, and for a `since` that
    is not a snapshot.
    """
    return read_snapshot(tensors, named, sys._getframe(1), since, values)


def read_snapshot(
    tensors: tuple[Any, ...],
    named: dict[str, Any],
    frame: FrameType | None = None,
    since: Snapshot | None = None,
    values: Any = True,
    objects: bool | ObjectChoice | None = None,
) -> Snapshot:
    """Do the work of `snapshot` for a caller that hands over its own caller's frame.

    `objects`: among variables, as in `locals()`, those whose attributes are searched; by default those
    of classes that the program defines.
    A single Snapshot among the arguments is returned, and not read again.
    """
    if since is not None and not isinstance(since, Snapshot):
        raise TypeError(
            f"since= is an earlier snapshot, as snapshot(...) returns it, "
            f"not of type {type(since).__name__}; "
            f'a tensor of that name is shown with {{"since": since}} as the first argument'
        )
    if len(tensors) == 1 and not named and isinstance(tensors[0], Snapshot):
        if since is None:
            return tensors[0]
        return attach_earlier_checksums(tensors[0], since)
    if not isinstance(values, bool):
        # A tensor called `values`: snapshot(values=net.values).
        named, values = {**named, "values": values}, True
    collected = collect_tensors_and_arrays(tensors, named, frame, objects=objects)
    # A subclass or a mode would be asked by the look, and could refuse it, record it or change it.
    with (
        mark_look(),
        pause_garbage_collection(),
        disable_overrides(),
        hold_identities() as identities,
    ):
        snap = _read_collected(collected, since, values)
        snap = replace(snap, identities=tuple(identities.values()))
    if len(collected.tensors) + len(collected.arrays) == MAX_NAMES:
        note = gettext(
            "there may be more tensors: only the first {number} were read", number=f"{MAX_NAMES:,}"
        )
        snap = replace(snap, notes=(*snap.notes, note))
    if since is None:
        return snap
    return attach_earlier_checksums(snap, since)


def _read_collected(collected: CollectedThings, since: Snapshot | None, values: bool) -> Snapshot:
    # The reader is gone when this returns, and garbage is not searched for in what it held.
    reader = _Reader(values, collected.held_by_modules, collected.optimizer_paths)
    for name, tensor in collected.tensors:
        reader.add_name(reader.tensors.add(tensor, "named"), name)
    return reader.read(
        since or Snapshot((), (), (), (), ()), collected.arrays, collected.array_arguments
    )


def list_tensors_behind(*tensors: Any) -> list[Any]:
    """Return these tensors and all that the graphs behind them lead to and hold."""
    with disable_overrides(), hold_identities():
        reader = _Reader(reads_values=False)
        for tensor in tensors:
            reader.tensors.add(tensor, "named")
        reader.find_reachable()
        return [found.tensor for found in reader.tensors.entries]


def attach_earlier_checksums(now: Snapshot, since: Snapshot) -> Snapshot:
    """Return `now`, in which saved tensors have the checksums of the first snapshot that had them.

    `since` may itself have been compared with an earlier one: then its `checksum_then` is
    passed on.
    """
    # Each thread numbers its nodes from 0: a key that two nodes of one snapshot have names neither.
    ambiguous = _find_repeated_keys(now) | _find_repeated_keys(since)
    earlier_saved: dict[Any, dict[str, SavedRecord]] = {}
    for node in since.nodes:
        if node.key not in ambiguous:
            earlier_saved[node.key] = {saved.name: saved for saved in node.saved}
    nodes = []
    for node in now.nodes:
        earlier = earlier_saved.get(node.key, {})
        saved = [_attach_checksum(record, earlier.get(record.name)) for record in node.saved]
        is_same = all(map(operator.is_, saved, node.saved))  # of numbers: most of a long loop
        nodes.append(node if is_same else replace(node, saved=tuple(saved)))
    return replace(now, nodes=tuple(nodes))


def _find_repeated_keys(snap: Snapshot) -> set[Any]:
    counts = Counts(node.key for node in snap.nodes)
    return {key for key, count in counts.items() if count > 1}


def _attach_checksum(saved: SavedRecord, earlier: SavedRecord | None) -> SavedRecord:
    if earlier is None or earlier.checksum_now is None:
        return saved
    # What a watch has compared with the save needs no earlier look, and what is not live no
    # comparison.
    if saved.state != "live" or saved.checksum_then is not None:
        return saved
    # That of the first look is passed on: a write between two looks is seen at the third, too.
    first_seen = earlier.checksum_now if earlier.checksum_then is None else earlier.checksum_then
    return replace(saved, checksum_then=first_seen)


class _Reader:
    """Finds everything that can be reached, then makes the records. Lives for one snapshot."""

    def __init__(
        self,
        reads_values: bool,
        held_by_modules: Collection[int] = (),
        optimizer_paths: Mapping[int, tuple[str, ...]] | None = None,
    ) -> None:
        self.reads_values = reads_values
        self.held_by_modules = held_by_modules
        self.optimizer_paths = optimizer_paths or {}
        self.tensors = FoundTensors()
        self.saved_reader = SavedReader(self.tensors, reads_values)
        self.position_by_name: dict[str, int] = {}
        self.nodes: list[Any] = []
        self.node_positions: dict[int, int] = {}
        self.saved_by_node: list[list[FoundSavedTensor]] = []
        """What each node saved, by its position; as long as `nodes` when the walk has ended."""
        self.leaf_positions: dict[int, int] = {}
        """Position of an AccumulateGrad node -> position of its leaf."""
        self.views_of_twins: dict[int, Any] = {}
        """Identity of a node -> the view whose own node torch would make anew when it is read."""
        self.most_nodes = MIN_NODES
        self.is_stopped = False

    def add_name(self, position: int, name: str) -> None:
        """Give a found tensor one more name."""
        if name in self.tensors[position].names:
            return
        # Two tensors of one name (from two dicts, say) become `x` and `x (2)`.
        base, count = name, 1
        while name in self.position_by_name:
            count += 1
            name = f"{base} ({count})"
        self.position_by_name[name] = position
        self.tensors[position].names.append(name)

    def read(
        self, since: Snapshot, arrays: list[tuple[str, Any]], array_arguments: list[str]
    ) -> Snapshot:
        """Find all that is reachable and return its records.

        `arrays` have names; `array_arguments` are those of them that were given as arguments.
        """
        self.find_reachable()
        keys, tensors = [], []
        for found in self.tensors.entries:
            keys.append(found.key)
            tensors.append(found.tensor)
        tensor_ids = IdSequence("T", _map_keys_to_ids(since.tensors), since.last_ids.tensor)
        hues = self._find_hues(self._find_replaced(since, keys))
        ids = []
        for position, key in enumerate(keys):
            ids.append(tensor_ids.id_of(key, hues.get(position)))
        storage_ids = IdSequence("S", _map_keys_to_ids(since.storages), since.last_ids.storage)
        blocks = Blocks(tensors, storage_ids)
        # A counter has no identity: the ids that are taken are their own keys.
        known_counters = {counter.id: counter.id for counter in since.counters}
        counter_ids = IdSequence("C", known_counters, since.last_ids.counter)
        counters = self._make_counters(ids, counter_ids, since)
        grad_of = self._find_owners_of_grads(ids)
        shown_positions = set(grad_of)
        for position, found in enumerate(self.tensors.entries):
            if found.names:
                shown_positions.add(position)
        arrays_by_block = blocks.find_arrays(arrays, shown_positions)
        nodes = self._make_nodes(ids, keys)
        return Snapshot(
            names=tuple((name, ids[k]) for name, k in self.position_by_name.items()),
            tensors=self._make_tensors(keys, ids, blocks.geometries, counters, grad_of),
            storages=blocks.make_records(
                ids, shown_positions if self.reads_values else set(), arrays_by_block
            ),
            counters=counters,
            nodes=nodes,
            notes=self._describe_limit(),
            arrays=_select_unmentioned(array_arguments, arrays_by_block),
            doubts=self._find_doubts(nodes),
            last_ids=LastIds(tensor_ids.last, storage_ids.last, counter_ids.last),
        )

    def _find_hues(self, replaced: dict[int, str]) -> dict[int, int]:
        """Return position of a tensor -> its hue, of what takes a place or is named after a colour."""
        hues: dict[int, int] = {}
        for position, found in enumerate(self.tensors.entries):
            if position in replaced:
                hues[position] = int(replaced[position][1:])
            elif found.names and found.names[0] in HUES_OF_WORDS:
                # A tensor named `blue` in orange would be looked for in the wrong place.
                hues[position] = HUES_OF_WORDS[found.names[0]]
        return hues

    def _find_replaced(self, since: Snapshot, keys: Sequence[Any]) -> dict[int, str]:
        """Return position of a new tensor -> the earlier id of what had its name and is gone.

        A name that each round of a loop binds anew has one colour. A tensor that is still there, under
        another name, keeps its own.
        """
        if not since.tensors:
            return {}
        known = _map_keys_to_ids(since.tensors)
        gone = set(known.values()).difference(known[key] for key in keys if key in known)
        earlier_ids = dict(since.names)
        replaced: dict[int, str] = {}
        for position, (key, found) in enumerate(zip(keys, self.tensors.entries, strict=True)):
            names_before = [name for name in found.names if name in earlier_ids]
            if key in known or not names_before:
                continue
            earlier = earlier_ids[names_before[0]]
            if earlier in gone:
                replaced[position] = earlier
                # Of two new tensors one alone takes its place.
                gone.remove(earlier)
        return replaced

    # -- finding what can be reached -------------------------------------------------------

    def find_reachable(self) -> None:
        """Look at tensors and nodes until neither leads to anything new."""
        looked_at = 0
        while looked_at < len(self.tensors):
            # All tensors known so far come before the graph: what a node saved is often one of
            # them, and a node that saved it then finds its grad_fn read.
            while looked_at < len(self.tensors):
                self._look_at_tensor(self.tensors[looked_at])
                looked_at += 1
            while len(self.saved_by_node) < len(self.nodes):
                self._look_at_node(len(self.saved_by_node))
            # This may add tensors, at which the loop then looks.
            if looked_at == len(self.tensors):
                self.saved_reader.restore_shared_scalars(self.saved_by_node)

    def _look_at_tensor(self, found: FoundTensor) -> None:
        """Read what a tensor leads to: its grad_fn and its gradient."""
        tensor = found.tensor
        try:
            # Of most of what was saved it was read as that was found.
            known = None if found.is_leaf is None else History(found.is_leaf, found.grad_fn, False)
            is_leaf, grad_fn, is_of_twin = known or read_history(tensor)
        except Exception:  # noqa: BLE001 - a subclass may refuse as well
            # A view made under no_grad whose base was written to since: torch prints
            # grad_fn=<Invalid> and refuses to answer.
            found.is_leaf = None
            note = gettext(
                "its grad_fn is invalid: a view made in no_grad mode, whose base has been written "
                "to since"
            )
            found.notes = (note,)
            return
        self.tensors.set_history(found, is_leaf, grad_fn)
        if grad_fn is not None:
            self._add_node(grad_fn)
            if is_of_twin:
                self.views_of_twins[id(grad_fn)] = tensor
        grad = grad_or_none(tensor, grad_fn)
        if grad is not None:
            found.grad_position = self.tensors.add(grad, "grad")

    def _add_node(self, node: Any) -> None:
        if id(node) in self.node_positions:
            return
        if len(self.nodes) == MIN_NODES and not self.is_stopped:
            # Asked of no small graph: of the main thread, Linux answers by reading a file.
            self.most_nodes = find_most_nodes()
        if len(self.nodes) >= self.most_nodes:
            self.is_stopped = True
            return
        # The list keeps each node alive, so that no later one has its id.
        self.node_positions[id(node)] = len(self.nodes)
        self.nodes.append(node)

    def _look_at_node(self, position: int) -> None:
        """Read what a node leads to: its leaf, its next_functions and what it saved."""
        node = self.nodes[position]
        leaf = leaf_of_accumulator(node)
        if leaf is not None:
            self.leaf_positions[position] = self.tensors.add(leaf, "leaf")
        for follower, _ in node.next_functions:
            if follower is not None:
                self._add_node(follower)
        # An AccumulateGrad saves nothing.
        found = self.saved_reader.read_node(node) if leaf is None else ()
        self.saved_by_node.append(list(found))

    # -- making the records ----------------------------------------------------------------

    def _find_owners_of_grads(self, ids: list[str]) -> dict[int, str]:
        """Position of a gradient -> id of the first tensor that has it as its .grad."""
        owners: dict[int, str] = {}
        for found, tensor_id in zip(self.tensors.entries, ids, strict=True):
            if found.grad_position is not None:
                owners.setdefault(found.grad_position, tensor_id)
        return owners

    def _make_tensors(
        self,
        keys: list[Any],
        ids: list[str],
        geometries: list[BlockGeometry],
        counters: tuple[Counter, ...],
        grad_of: Mapping[int, str],
    ) -> tuple[TensorRecord, ...]:
        counter_of = _map_tensors_to_counters(counters)
        records = []
        for position, found in enumerate(self.tensors.entries):
            tensor, geometry, tensor_id = found.tensor, geometries[position], ids[position]
            counter_id = version = None
            if tensor_id in counter_of:
                counter_id, version = counter_of[tensor_id].id, counter_of[tensor_id].version
            is_trained = bool(found.is_leaf and tensor.requires_grad)
            base = getattr_or_none(tensor, "_base")
            base_position = None if base is None else self.tensors.position_of(base)
            record = TensorRecord(
                id=tensor_id,
                names=tuple(found.names),
                shape=geometry.shape,
                stride=geometry.stride,
                offset=geometry.offset,
                dtype=str(tensor.dtype),
                itemsize=geometry.itemsize,
                device=str(tensor.device),
                requires_grad=bool(tensor.requires_grad),
                is_leaf=found.is_leaf,
                storage=geometry.storage,
                start_byte=geometry.start_byte,
                counter=counter_id,
                version=version,
                grad_fn=self._node_id(found.grad_fn),
                grad_fn_name=None if found.grad_fn is None else name_of_node(found.grad_fn),
                output_nr=getattr_or_none(tensor, "output_nr") or 0,
                grad=_find_id(ids, found.grad_position),
                grad_of=grad_of.get(position),
                base=_find_id(ids, base_position),
                is_view=base is not None,
                role=found.role,
                is_module_state=id(tensor) in self.held_by_modules,
                optimizer_paths=self.optimizer_paths.get(id(tensor), ()),
                notes=(*found.notes, *_describe_subclass(tensor), *geometry.notes),
                exits=find_exits(tensor) if is_trained else None,
                made_by=find_making_line(tensor) if is_trained else "",
                key=keys[position],
            )
            records.append(record)
        return tuple(records)

    def _make_counters(
        self, ids: list[str], counter_ids: IdSequence, since: Snapshot
    ) -> tuple[Counter, ...]:
        versions = [version_of(found.tensor) for found in self.tensors.entries]
        # A counter of torch and one of tinytorch are never the same, and each has its own setter.
        positions_by_engine: dict[str, list[int]] = {}
        for position, version in enumerate(versions):
            if version is not None:
                engine = engine_name(self.tensors[position].tensor)
                positions_by_engine.setdefault(engine, []).append(position)
        # By the position of the first tensor with a counter, those of all that share it.
        groups: dict[int, list[int]] = {}
        for positions in positions_by_engine.values():
            # For each tensor, the place in `positions` of the first one that shares its counter.
            first_places = find_counter_sharers([self.tensors[k].tensor for k in positions])
            for position, place in zip(positions, first_places, strict=True):
                groups.setdefault(positions[place], []).append(position)
        earlier_counters = _map_tensors_to_counters(since.counters)
        counters = []
        # By the first of its tensors, so that C1 is the counter of T1.
        for first, members in sorted(groups.items()):
            tensor_ids = tuple([ids[member] for member in members])
            # A counter is no object that Python sees: it keeps its id with any of its tensors.
            earlier_id = None
            for tensor_id in tensor_ids:
                earlier = earlier_counters.get(tensor_id)
                if earlier is not None and earlier.id in counter_ids.known:
                    earlier_id = earlier.id
                    break
            counter_id = counter_ids.id_of(earlier_id)
            counters.append(Counter(counter_id, versions[first] or 0, tensor_ids))
        return tuple(counters)

    def _node_id(self, node: Any) -> str | None:
        # That of None is no node's, so it is not found.
        position = self.node_positions.get(id(node))
        if position is None:
            return None
        return f"N{position + 1}"

    def _make_nodes(self, ids: list[str], keys: list[Any]) -> tuple[NodeRecord, ...]:
        results: dict[int, list[str]] = {}
        for found, tensor_id in zip(self.tensors.entries, ids, strict=True):
            # Those without a node come together under the id of None, which no node has.
            results.setdefault(id(found.grad_fn), []).append(tensor_id)
        # Most programs never note modules, and then no node has metadata to be searched.
        paths = find_module_paths(self.nodes) if modules.ever else [None] * len(self.nodes)
        functions = [read_function(node) for node in self.nodes]
        may_get_none = any(function and function.unsent for function in functions)
        records = []
        for position, (node, function) in enumerate(zip(self.nodes, functions, strict=True)):
            followers, edge_outputs = [], []
            for follower, output_nr in node.next_functions:
                followers.append(follower)
                edge_outputs.append(output_nr)
            edges = tuple(map(self._node_id, followers))
            specs = gradient_specs_of(node)
            leaf, sequence_nr = self.leaf_positions.get(position), node._sequence_nr()
            key = self._node_key(node, sequence_nr) if leaf is None else ("leaf", keys[leaf])
            record = NodeRecord(
                id=f"N{position + 1}",
                name=name_of_node(node),
                edges=edges,
                saved=tuple([_add_tensor_id(found, ids) for found in self.saved_by_node[position]]),
                variable=_find_id(ids, leaf),
                tensors=tuple(results.get(id(node), ())),
                # A follower without a record: it has no id, and so no edge.
                is_reader_stopped=edges.count(None) > followers.count(None),
                module=paths[position],
                doubts=tuple(doubts_of_node(node, function, may_get_none=may_get_none)),
                hides_saved=hides_saved(node, function),
                refusals=tuple(refusals_of_node(node, function)),
                function=function,
                gradient_specs=specs,
                edge_outputs=tuple(edge_outputs),
                input_shapes=input_shapes_of(node, specs),
                sequence_nr=sequence_nr,
                key=key,
            )
            records.append(record)
        return tuple(records)

    def _node_key(self, node: Any, number: int) -> tuple[str, str, int]:
        # Each thread numbers its nodes for itself; two threads seldom meet in one graph, and with
        # the same name even less so.
        view = self.views_of_twins.get(id(node))
        if view is not None:
            number = number_of_twin(view, version_of(view) or 0, number)
        return ("node", name_of_node(node), number)

    def _describe_limit(self) -> tuple[str, ...]:
        if not self.is_stopped:
            return ()
        note = gettext(
            "the graph is larger: only its first {number} nodes were read",
            number=f"{self.most_nodes:,}",
        )
        return (note,)

    def _find_doubts(self, records: Sequence[NodeRecord]) -> tuple[str, ...]:
        # By class: a process has few, and a look thousands of tensors.
        classes = {type(found.tensor): found.tensor for found in self.tensors.entries}
        engines = dict.fromkeys(map(engine_name, classes.values()))
        doubts: dict[str, None] = {}
        for engine in engines:
            found = doubts_of_process(sys.modules.get(engine), self.nodes, records)
            doubts |= dict.fromkeys(found)
        return tuple(doubts)


def _map_keys_to_ids(records: Iterable[TensorRecord | StorageRecord]) -> dict[Any, str]:
    """Return the key of each record -> its id, by which the next snapshot calls the same thing."""
    return {record.key: record.id for record in records}


def _map_tensors_to_counters(counters: Iterable[Counter]) -> dict[str, Counter]:
    """Return tensor id -> its version counter."""
    counter_of: dict[str, Counter] = {}
    for counter in counters:
        counter_of |= dict.fromkeys(counter.tensors, counter)
    return counter_of


def _select_unmentioned(
    arrays: list[str], arrays_by_block: dict[str, list[str]]
) -> tuple[str, ...]:
    """Return the names of arrays that share no memory with a tensor that is shown."""
    mentioned: set[str] = set()
    for names in arrays_by_block.values():
        mentioned.update(names)
    return tuple(name for name in arrays if name not in mentioned)


def _find_id(ids: Sequence[str], position: int | None) -> str | None:
    """Return the id at a position; None for None."""
    if position is None:
        return None
    return ids[position]


def _describe_subclass(tensor: Any) -> tuple[str, ...]:
    kind = type(tensor).__name__
    if kind in PLAIN_CLASSES:
        return ()
    return (gettext("an object of the subclass {kind}", kind=kind),)


def _add_tensor_id(found: FoundSavedTensor, ids: list[str]) -> SavedRecord:
    """Return the record of what a node saved, with the id of its tensor."""
    if found.tensor_position is not None:
        # The record is this look's own as yet: a copy of each would take a tenth of a look's time.
        object.__setattr__(found.record, "tensor", ids[found.tensor_position])
    return found.record
