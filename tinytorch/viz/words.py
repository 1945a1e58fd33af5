"""What pictures say, and what a step changed, in plain words and in a fixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .diff import Changes, cells_differ, differ, names_by_tensor, owner
from .explain import nameless, perhaps
from .fold import Fold, View, view
from .labels import called, clean, dtype, few, listed, plural, shape, short, show, told
from .look import Look, Memo, said_of, was
from .read.records import Node, Saved, Snapshot, Storage, Tensor


def pills(snap: Snapshot, tensor: Tensor) -> tuple[str, ...]:
    """The names to draw beside a tensor, the derived one if it has none."""
    return tuple(called(name) for name in tensor.names) or (snap.label(tensor.id),)


def covered(tensor: Tensor) -> str:
    """Which cells (of its own item size) the tensor covers, in its order of walk."""
    if tensor.storage is None or tensor.stride is None:
        return "cells not known"
    if not tensor.numel:
        return "no cell"
    cells = [byte // tensor.itemsize for _, byte in tensor.elements(24)]
    if tensor.numel == 1:
        return f"cell {cells[0]}"
    last = cells[-1] if tensor.numel <= 24 else tensor.last_cell()
    step = cells[1] - cells[0]
    if step > 0 and tensor.in_order() and last - cells[0] == step * (tensor.numel - 1):
        even = all(b - a == step for a, b in pairwise(cells))
        if even:
            return f"cells {cells[0]} to {last}" + ("" if step == 1 else f" in steps of {step}")
    shown = ", ".join(str(cell) for cell in cells)
    return f"cells {shown}" + (f", ... ({tensor.numel:,} elements)" if tensor.numel > 24 else "") + ", in this order"


def history(tensor: Tensor) -> str:
    """`leaf, requires grad`, `not a leaf, grad_fn MulBackward0`, `leaf, needs no grad`."""
    if tensor.is_leaf is None:
        return "grad_fn invalid"
    if tensor.is_leaf:
        return "leaf, requires grad" if tensor.requires_grad else "leaf, needs no grad"
    return f"not a leaf, grad_fn {short(tensor.grad_fn_name or 'None')}"


def hidden(snap: Snapshot) -> tuple[int, int]:
    """How many storages, and how many bytes, only the graph keeps alive."""
    seen = {storage.id for storage, _ in snap.shown_storages}
    rest = [storage for storage in snap.storages if storage.id not in seen]
    return len(rest), sum(storage.nbytes for storage in rest)


def title(snap: Snapshot, storage: Storage, members: Sequence[Tensor]) -> str:
    """`one storage, shared by a and b` or `storage of c alone`."""
    names = [snap.label(one.id) for one in members]
    return f"one storage, shared by {listed(names)}" if len(names) > 1 else f"storage of {names[0]} alone"


def size(storage: Storage) -> str:
    """`3 cells of float32 = 12 bytes on cpu`."""
    if not storage.cells:
        return f"no cells, {storage.nbytes} bytes, on {storage.device}"
    cells = f"{plural(storage.cells, 'cell')} of {dtype(storage.dtype)}"
    return f"{cells}, {plural(storage.nbytes, 'byte')}, on {storage.device}"


def memory_text(snap: Snapshot, since: Snapshot | None = None) -> str:
    """The memory picture in words."""
    return told_by(Look.at(snap, since))


_storages: Memo[str] = Memo(1024)


def told_by(look: Look) -> str:
    """A memory picture in words."""
    snap, changed, bad = look.snap, look.changes, look.bad
    bands = snap.shown_storages
    loose = [snap.tensor(tid) for _, tid in snap.names if snap.tensor(tid).storage is None]
    if not bands and not loose:
        lines = ["Memory: no tensors to show."]
    else:
        tensors = len({one.id for _, members in bands for one in members} | {one.id for one in loose})
        lines = [f"Memory: {plural(tensors, 'tensor')} in {plural(len(bands), 'storage')}."]
    parts = [told(lines)]
    for storage, members in bands:
        said = said_of(look, storage, members)
        parts.append(_storages.get(said, lambda: told(["", *_storage_lines(look, storage, members)])))  # noqa: B023
    lines = []
    for tensor in dict.fromkeys(loose):
        lines += ["", *_tensor_lines(snap, tensor, changed, bad)]
    shown = {one.id for _, members in bands for one in members} | {one.id for one in loose}
    tail = [sentence[:1].upper() + sentence[1:] + "." for sentence in footer(snap, changed, shown)]
    rest = [*lines, *([""] if tail else []), *tail]
    return "\n".join([*parts, *([told(rest)] if rest else [])])


def footer(snap: Snapshot, changed: Changes, shown: set[str]) -> list[str]:
    """What remains to be said below the storages, for picture and text."""
    lines = []
    if changed.gone:
        lines.append(f"no longer there: {listed([called(name) for name in changed.gone])}")
    lines += nameless(snap, shown)
    count, nbytes = hidden(snap)
    if count:
        lines.append(f"also kept alive by the graph: {plural(count, 'storage')} without a name, {nbytes:,} bytes")
    return [*lines, *snap.notes]


def _storage_lines(look: Look, storage: Storage, members: list[Tensor]) -> list[str]:
    snap, changed = look.snap, look.changes
    lines = [f"{storage.id}, {title(snap, storage, members)}: {size(storage)}."]
    if storage.objects > 1:
        lines.append(f"  The same memory is seen through {storage.objects} storage objects.")
    if storage.runs:
        lines.append("  cells: " + _cells(storage))
    lines += [f"  Note: {note}." for note in storage.notes]
    was = changed.cells.get(storage.id, {})
    if was:
        cells = ", ".join(f"cell {cell} was {show(value)}" for cell, value in sorted(was.items()))
        lines.append(f"  changed: {cells}.")
    for tensor in members:
        lines += ["  " + line for line in _tensor_lines(snap, tensor, changed, look.bad)]
    counted = [tensor for tensor in members if snap.counted(tensor)]
    for which in dict.fromkeys(tensor.counter for tensor in counted):
        lines += ["  " + line for line in _counter_lines(look, which, counted)]
    return lines


def _cells(storage: Storage) -> str:
    parts, expected = [], 0
    for run in storage.runs:
        if run.start != expected:
            parts.append("...")
        parts += [f"{cell}: {show(value)}" for cell, value in enumerate(run.values, run.start)]
        expected = run.stop
    if expected != storage.cells:
        parts.append("...")
    return ", ".join(parts)


def _tensor_lines(snap: Snapshot, tensor: Tensor, changed: Changes, bad: dict[str, tuple[str, ...]]) -> list[str]:
    head = snap.label(tensor.id)
    if tensor.id in changed.new:
        head += " (new)"
    facts = [f"shape {shape(tensor.shape)}"]
    if tensor.stride is not None:
        facts.append(f"stride {shape(tensor.stride)}")
        facts.append(f"offset {tensor.offset}")
    facts += [dtype(tensor.dtype), history(tensor)]
    if tensor.storage is not None:
        facts.append("covers " + covered(tensor))
    if tensor.base is not None:
        facts.append(f"view of {snap.label(tensor.base)}")
    if tensor.grad is not None:
        facts.append(f".grad is {snap.label(tensor.grad)}")
    lines = [f"{head}: {'; '.join(facts)}."]
    lines += [f"  Changed: {fact}." for fact in changed.facts.get(tensor.id, ())]
    lines += [f"  Changed: {said}." for said in changed.names(tensor)]
    lines += [f"  In trouble: {sentence}." for sentence in bad.get(tensor.id, ())]
    lines += [f"  Note: {note}." for note in tensor.notes]
    return lines


def _counter_lines(look: Look, which: str | None, members: list[Tensor]) -> list[str]:
    snap = look.snap
    if which is None:
        return [
            f"{snap.label(one.id)}: no version counter (an inference tensor)."
            if one.version is None
            else f"{snap.label(one.id)}: at version {one.version}; who shares the counter is not known."
            for one in members
            if one.counter is None
        ]
    counter = snap.counter(which)
    names, then = look.sharers[which], was(look.changes, counter)
    now = f"at version {counter.version}" + ("" if then is None else f" (was {then})")
    owner = f"shared by {listed(names)}" if len(names) > 1 else f"of {names[0]} alone"
    return [f"version counter {which}, {owner}: {now}."]


def graph_text(snap: Snapshot, changed: Changes) -> str:
    """The graph picture in words, with what changed."""
    named = [snap.tensor(tid) for tid in dict.fromkeys(tid for _, tid in snap.names)]
    if named:
        lines = [
            f"Graph: {plural(len(snap.nodes), 'node')}{' and more' if snap.notes else ''}."
            if snap.nodes
            else "Graph: no node. Nothing here was computed from a tensor that requires grad."
        ]
    else:
        lines = ["Graph: no tensors to show."]
    for one in named:
        lines.append(f"  {snap.label(one.id)}{_new(one.id in changed.new)}: {_standing(one)}.")
        lines += [f"    Changed: {fact}." for fact in (*changed.names(one), *changed.standing.get(one.id, ()))]
    seen, unseen = view(snap), perhaps(snap)
    for item in seen.items:
        lines.append("")
        if isinstance(item, Fold):
            lines += _fold_lines(snap, item, seen, changed)
        else:
            lines += _node_lines(snap, item, seen, changed, unseen)
    notes = [*unread(snap), *no_longer(changed), *left_out(seen, changed)]
    return told([*lines, *([""] if notes else []), *(f"Note: {note}." for note in notes)])


def unread(snap: Snapshot) -> list[str]:
    """What to say of nodes that were not read."""
    return [f"{note}, and what lies beyond is not shown" for note in snap.notes]


def no_longer(changed: Changes) -> list[str]:
    """What to say of names and nodes that were there before, for picture and text."""
    lines = [f"no longer there: {listed([called(name) for name in changed.gone])}"] if changed.gone else []
    if changed.lost:
        lines.append(f"{plural(changed.lost, 'node')} of before no longer reached")
    return lines


def left_out(seen: View, changed: Changes) -> list[str]:
    """What to say of nodes that are not shown."""
    if not seen.left_out:
        return []
    new = sum(node not in seen.places for node in changed.nodes)
    more = f"{plural(seen.left_out, 'node')} more not shown"
    return [f"{more}{f' ({new:,} of them new)' if new else ''}: the graph is too large"]


def _new(fresh: bool) -> str:
    return " (new)" if fresh else ""


def _node_lines(
    snap: Snapshot, node: Node, seen: View, changed: Changes, unseen: dict[tuple[str, str], str]
) -> list[str]:
    lines = [f"{node.id} {short(node.name)}{_new(node.id in changed.nodes)}"]
    if node.variable is not None:
        lines.append(f"  adds to {snap.grad_label(node.variable)}")
        if not snap.tensor(node.variable).names:
            lines[-1] += _new(node.variable in changed.new)
            lines += [f"    Changed: {fact}." for fact in changed.standing.get(node.variable, ())]
    lines += [f"  next_functions[{edge.index}]: {_target(snap, edge.node, node.cut, seen)}" for edge in node.edges]
    for at, saved in enumerate(node.saved):
        was = changed.saved.get((node.id, at))
        said = saved_words(snap, saved) + (f" ({was})" if was else "")
        lines.append(f"  saved {clean(saved.name)}: {said}")
        through = unseen.get((node.id, saved.tensor or ""))
        if through is not None and saved.state == "live":
            lines.append(f"    perhaps written unseen, through {through}: backward may be silently wrong")
    return lines


def _fold_lines(snap: Snapshot, fold: Fold, seen: View, changed: Changes) -> list[str]:
    kinds = [f"{short(name)} {count:,} times" for name, count in fold.kinds]
    lines = [f"{fold.id} {plural(len(fold.nodes), 'node')} folded: {listed(kinds)}"]
    lines += [f"  saved: {count:,} {state}" for state, count in fold.states]
    if fold.leaves:
        lines.append(f"  leaves: {listed([snap.label(leaf) for leaf in fold.leaves])}")
    lines += [f"  Changed: {fact}." for fact in fold.changed(changed)]
    return [*lines, *(f"  goes on to: {_target(snap, end, False, seen)}" for end in fold.ends)]


def _target(snap: Snapshot, which: str | None, cut: bool, seen: View) -> str:
    if which is None:
        return "not read (the graph is too large)" if cut else "None (needs no gradient)"
    place = seen.places.get(which)
    if place is None:
        return f"{short(snap.node(which).name)}, not shown"
    if place != which:
        return f"{place} (folded)"
    return f"{which} {short(snap.node(which).name)}"


def _standing(tensor: Tensor) -> str:
    if tensor.is_leaf is None:
        return "its grad_fn is invalid"
    if tensor.is_leaf:
        return "a leaf that requires grad" if tensor.requires_grad else "not on the graph (requires no grad)"
    return f"made by {tensor.grad_fn or 'a node that was not read'} {short(tensor.grad_fn_name or '')}"


def saved_words(snap: Snapshot, saved: Saved) -> str:
    """What one saved entry is, and its state."""
    what = snap.label(saved.tensor) if saved.tensor is not None else show(saved.value)
    match saved.state:
        case "live":
            return f"{what}, live" + ("" if saved.version is None else f" at version {saved.version}")
        case "stale":
            named = "" if saved.tensor is None else f"{what}, "
            return f"{named}STALE: saved at version {saved.saved_version}, now at {saved.version}; backward will raise"
        case "freed":
            return "freed by a backward; another backward will raise"
        case "number":
            return show(saved.value)
        case "packed":
            return "packed by a saved-tensor hook, not opened"
        case "once":
            return "given out a single time, so it is left for backward"
    return "cannot be read"


_MOST = 12


def describe(
    before: Snapshot, after: Snapshot, plain_before: Mapping[str, str], plain_after: Mapping[str, str]
) -> tuple[str, ...]:
    """Sentences that say what differs in `after`: names, memory, version counters, gradients, graph.

    `plain_*` are the variables that are no tensors, with their short texts. At most twelve sentences, the last of which
    says how many were left out.
    """
    looked = _Comparison(before, after)
    found = [
        *looked.names(),
        *looked.flags(),
        *looked.writes(),
        *looked.gradients(),
        *looked.saved(),
        *_plain(plain_before, plain_after),
    ]
    if len(found) > _MOST:
        found = [*found[: _MOST - 1], f"And {len(found) - _MOST + 1} more changes."]
    return tuple(clean(sentence) for sentence in found)


class _Comparison:
    """Two snapshots, their records matched by identity and not by name."""

    def __init__(self, before: Snapshot, after: Snapshot) -> None:
        self.before, self.after = before, after
        self.old = {t.key: t for t in before.tensors}
        self.storages = {s.id: s for s in after.storages}
        self.old_storages = {s.key: s for s in before.storages}
        self.named = names_by_tensor(after)

    def names(self) -> Iterator[str]:
        """Names that are new, that now mean another tensor, or that are gone."""
        old = {name: self.before.tensor(tid).key for name, tid in self.before.names}
        told: dict[str, str] = {}
        for name, tid in self.after.names:
            tensor = self.after.tensor(tid)
            if old.get(name) == tensor.key and name in old:
                continue
            start = f"{name} is now" if name in old else f"{name} is"
            if name.endswith("() returns"):
                start = name
            if tensor.key in self.old or tid in told:
                yield f"{start} {self._known(name, tensor)}."
            else:
                yield f"{start} a new tensor {self._where(tensor)}{self._graph(tensor)}."
                told[tid] = name
        now = {name for name, _ in self.after.names}
        gone = [name for name in old if name not in now and not name.endswith("() returns")]
        if gone:
            yield f"{few(gone)} {'is' if len(gone) == 1 else 'are'} gone."

    def _known(self, name: str, tensor: Any) -> str:
        others = [n for n in self.named.get(tensor.id, ()) if n != name and not n.endswith("() returns")]
        if others:
            return f"the same tensor object as {few(others)}: one more name, nothing was copied"
        returned = [name for name, tid in self.before.names if self.before.tensor(tid).key == tensor.key]
        if returned and returned[0].endswith("() returns"):
            return f"the tensor that {returned[0].removesuffix(' returns')} returned"
        owner = self._owner(tensor)
        return f"the tensor {owner}" if owner else f"a tensor that was there before ({tensor.id})"

    def _where(self, tensor: Any) -> str:
        storage = self.storages.get(tensor.storage)
        if storage is None:
            return "without a storage"
        if storage.key not in self.old_storages:
            return "with a storage of its own" if len(self._sharers(tensor)) == 0 else self._shares(tensor)
        return self._shares(tensor)

    def _shares(self, tensor: Any) -> str:
        sharers = self._sharers(tensor)
        if not sharers:
            return f"over a storage that was there before ({tensor.storage})"
        same = [t for t in sharers if t.counter == tensor.counter and t.counter is not None]
        memory = f"over the storage of {few(self.called(t) for t in sharers)}"
        if not self.after.counters_known:
            return memory
        if len(same) == len(sharers):
            return f"{memory}, with the same version counter"
        if not same:
            return f"{memory}, but with a version counter of its own"
        return f"{memory}, with the version counter of {few(self.called(t) for t in same)}"

    def _graph(self, tensor: Any) -> str:
        if tensor.grad_fn_name:
            return f"; it is on the graph (grad_fn={_short(tensor.grad_fn_name)})"
        if tensor.requires_grad:
            return "; it is a leaf that requires grad"
        return "; it is not on the graph" if any(t.requires_grad for t in self._sharers(tensor)) else ""

    def _sharers(self, tensor: Any) -> list[Any]:
        return [
            t
            for t in self.after.tensors
            if t.storage == tensor.storage and t.id != tensor.id and t.key in self.old and self.called(t)
        ]

    def _owner(self, tensor: Any) -> str:
        return owner(tensor, self.named)

    def called(self, tensor: Any) -> str:
        """A name of a tensor of `after`, or `x.grad`; empty if it has neither."""
        names = self.named.get(tensor.id, ())
        return names[0] if names else self._owner(tensor)

    def flags(self) -> Iterator[str]:
        """requires_grad, grad_fn, shape or storage of a tensor that was there before."""
        for tensor in self.after.tensors:
            was, name = self.old.get(tensor.key), self.called(tensor)
            if was is None or not name:
                continue
            if tensor.grad_fn_name and tensor.grad_fn_name != was.grad_fn_name:
                yield f"{name} is now on the graph with grad_fn={_short(tensor.grad_fn_name)}."
            elif was.grad_fn_name and not tensor.grad_fn_name:
                yield f"{name} has left the graph."
            elif tensor.requires_grad != was.requires_grad:
                yield f"{name}.requires_grad is now {tensor.requires_grad}."
            if tensor.shape != was.shape:
                yield f"{name} has a new shape: {_shape(was.shape)} -> {_shape(tensor.shape)}."
            elif tensor.stride != was.stride:
                yield f"{name} has new strides: {was.stride} -> {tensor.stride}."
            if tensor.storage and was.storage and self._key(tensor, self.after) != self._key(was, self.before):
                yield f"{name} now has another storage ({tensor.storage})."

    @staticmethod
    def _key(tensor: Any, snapshot: Snapshot) -> Any:
        return snapshot.storage(tensor.storage).key

    def writes(self) -> Iterator[str]:
        """Version counters that went up, values that changed, and who was not told."""
        counted: dict[str, list[Any]] = {}
        for tensor in self.after.tensors:
            was = self.old.get(tensor.key)
            if was is None or tensor.counter is None or was.version is None:
                continue
            if was.version != tensor.version:
                counted.setdefault(tensor.counter, []).append((tensor, was))
        for members in counted.values():
            names = [self.called(tensor) for tensor, _ in members if tensor.id in self.named]
            if names:  # a gradient without a name of its own is spoken of below
                tensor, was = members[0]
                step = f"{was.version} -> {tensor.version}"
                yield f"Written in place: the version counter of {few(names)} went up, {step}."
        moved = {tensor.id for members in counted.values() for tensor, _ in members}
        for storage in self.after.storages:
            before = self.old_storages.get(storage.key)
            if before is None or not differ(before, storage):
                continue
            there = [
                t for t in self.after.tensors if t.storage == storage.id and t.key in self.old and t.id in self.named
            ]
            if there:
                verb = "shows" if len(there) == 1 else "show"
                yield f"The values in memory changed: {few(self.called(t) for t in there)} {verb} it."
            silent = [self.called(t) for t in there if t.id not in moved and t.version is not None]
            if silent:
                verb = "did" if len(silent) == 1 else "all did"
                yield f"The version counter of {few(silent)} {verb} not notice: autograd cannot see this write."

    def gradients(self) -> Iterator[str]:
        """.grad that came, went, or was added to."""
        for tensor in self.after.tensors:
            name = self.named.get(tensor.id, ("",))[0]
            was = self.old.get(tensor.key)
            if not name or (tensor.grad is None and (was is None or was.grad is None)):
                continue
            if tensor.grad is None:
                yield f"{name}.grad is None again."
            elif was is None or was.grad is None:
                yield f"{name}.grad is now there: {_values(self.after, tensor.grad)}."
            else:
                values, earlier = _values(self.after, tensor.grad), _values(self.before, was.grad)
                now, then = self.after.tensor(tensor.grad), self.before.tensor(was.grad)
                if values != earlier:
                    yield f"{name}.grad changed: {earlier} -> {values}."
                elif now.version != then.version or cells_differ(self.before, then, self.after, now):
                    yield f"{name}.grad changed."

    def saved(self) -> Iterator[str]:
        """Saved tensors that backward used up, or that were written after they were saved."""
        freed = _states(self.after, "freed") - _states(self.before, "freed")
        if freed:
            yield f"Backward freed what it had saved: {few(sorted({_short(node) for node, _ in freed}))}."
        stale = _states(self.after, "stale") - _states(self.before, "stale")
        for node in sorted({node for node, _ in stale}):
            names = few(sorted(name for where, name in stale if where == node))
            yield f"What {_short(node)} saved ({names}) was written afterwards: backward will raise an error."


def _plain(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name, text in after.items():
        if before.get(name) != text:
            yield f"{name} {text}." if name.endswith("() returns") else f"{name} = {text}"


def _states(snapshot: Snapshot, state: str) -> Counter[tuple[str, str]]:
    return Counter((n.name, f"_saved_{s.name}") for n in snapshot.nodes for s in n.saved if s.state == state)


def _values(snapshot: Snapshot, tid: str) -> str:
    """The values of a small contiguous tensor, otherwise its shape."""
    tensor = snapshot.tensor(tid)
    if tensor.storage is None or tensor.shape is None or tensor.numel > 6 or not tensor.itemsize:
        return f"shape {_shape(tensor.shape)}"
    storage = snapshot.storage(tensor.storage)
    first = tensor.start_byte // storage.itemsize
    cells = [storage.value(first + _place(index, tensor)) for index in _indices(tensor.shape)]
    if not all(known for known, _ in cells):
        return f"shape {_shape(tensor.shape)}"
    return _nested([_number(value) for _, value in cells], tensor.shape)


def _place(index: tuple[int, ...], tensor: Any) -> int:
    return sum(i * s for i, s in zip(index, tensor.stride or (), strict=True))


def _indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for size in shape:
        places = [(*place, i) for place in places for i in range(size)]
    return places


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return texts[0]
    part = len(texts) // shape[0] if shape[0] else 0
    inner = (_nested(texts[i * part : (i + 1) * part], shape[1:]) for i in range(shape[0]))
    return f"[{', '.join(inner)}]"


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _shape(shape: tuple[int, ...] | None) -> str:
    return "unknown" if shape is None else str(shape)


def _short(name: str) -> str:
    return name.rpartition("::")[2]
