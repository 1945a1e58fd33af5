"""What a step changed, in words: two snapshots compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tinytorch.viz.style import clean

if TYPE_CHECKING:
    from tinytorch.viz.records import Snapshot

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


def written(before: Snapshot, after: Snapshot) -> list[str]:
    """The names in `before` of tensors that were written until `after`, or whose gradient changed."""
    looked = _Comparison(after, before)
    keys = {t.key: t for t in after.tensors}
    changed = []
    for was in before.tensors:
        now, name = keys.get(was.key), looked.called(was)
        if now is None or not name:
            continue
        if (was.grad is None) != (now.grad is None):
            changed.append(f"{name}.grad")
        if was.version != now.version or looked.cells_differ(now, was):
            changed.append(name)
    return changed


class _Comparison:
    """Two snapshots, their records matched by identity and not by name."""

    def __init__(self, before: Snapshot, after: Snapshot) -> None:
        self.before, self.after = before, after
        self.old = {t.key: t for t in before.tensors}
        self.storages = {s.id: s for s in after.storages}
        self.old_storages = {s.key: s for s in before.storages}
        self.named = _by_tensor(after)

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
            yield f"{listed(gone)} {'is' if len(gone) == 1 else 'are'} gone."

    def _known(self, name: str, tensor: Any) -> str:
        others = [n for n in self.named.get(tensor.id, ()) if n != name and not n.endswith("() returns")]
        if others:
            return f"the same tensor object as {listed(others)}: one more name, nothing was copied"
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
        memory = f"over the storage of {listed(self.called(t) for t in sharers)}"
        if not self.after.counters_known:
            return memory
        if len(same) == len(sharers):
            return f"{memory}, with the same version counter"
        if not same:
            return f"{memory}, but with a version counter of its own"
        return f"{memory}, with the version counter of {listed(self.called(t) for t in same)}"

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
        if tensor.grad_of:
            names = self.named.get(tensor.grad_of, ())
            return f"{names[0]}.grad" if names else ""
        return ""

    def called(self, tensor: Any) -> str:
        """A name of a tensor of `after`, or `x.grad`; empty if it has neither."""
        names = self.named.get(tensor.id, ())
        return names[0] if names else self._owner(tensor)

    def cells_differ(self, was: Any, now: Any) -> bool:
        """Whether a tensor lies in the same memory in both snapshots, and a value in it is another now."""
        if was.storage is None or now.storage is None:
            return False
        old, new = self.before.storage(was.storage), self.after.storage(now.storage)
        return old.key == new.key and _differ(old, new)

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
                yield f"Written in place: the version counter of {listed(names)} went up, {step}."
        moved = {tensor.id for members in counted.values() for tensor, _ in members}
        for storage in self.after.storages:
            before = self.old_storages.get(storage.key)
            if before is None or not _differ(before, storage):
                continue
            there = [
                t for t in self.after.tensors if t.storage == storage.id and t.key in self.old and t.id in self.named
            ]
            if there:
                verb = "shows" if len(there) == 1 else "show"
                yield f"The values in memory changed: {listed(self.called(t) for t in there)} {verb} it."
            silent = [self.called(t) for t in there if t.id not in moved and t.version is not None]
            if silent:
                verb = "did" if len(silent) == 1 else "all did"
                yield f"The version counter of {listed(silent)} {verb} not notice: autograd cannot see this write."

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
                elif now.version != then.version or self.cells_differ(then, now):
                    yield f"{name}.grad changed."

    def saved(self) -> Iterator[str]:
        """Saved tensors that backward used up, or that were written after they were saved."""
        freed = _states(self.after, "freed") - _states(self.before, "freed")
        if freed:
            yield f"Backward freed what it had saved: {listed(sorted({_short(node) for node, _ in freed}))}."
        stale = _states(self.after, "stale") - _states(self.before, "stale")
        for node in sorted({node for node, _ in stale}):
            names = listed(sorted(name for where, name in stale if where == node))
            yield f"What {_short(node)} saved ({names}) was written afterwards: backward will raise an error."


def _plain(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name, text in after.items():
        if before.get(name) != text:
            yield f"{name} {text}." if name.endswith("() returns") else f"{name} = {text}"


def _by_tensor(snapshot: Snapshot) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, tid in snapshot.names:
        names.setdefault(tid, []).append(name)
    return names


def _states(snapshot: Snapshot, state: str) -> Counter[tuple[str, str]]:
    return Counter((n.name, f"_saved_{s.name}") for n in snapshot.nodes for s in n.saved if s.state == state)


def _differ(was: Any, now: Any) -> bool:
    if was.cells != now.cells or was.dtype != now.dtype:
        return False  # resized or read as another dtype: no cell-by-cell comparison, and said elsewhere
    if not was.runs or not now.runs:
        return False  # without a name its values were not read
    return repr(was.runs) != repr(now.runs)  # repr: nan is equal to nan here


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


def listed(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; after four names, how many more there are."""
    every = list(dict.fromkeys(names))
    if len(every) > 5:
        every = [*every[:4], f"{len(every) - 4} more"]
    return "".join(every) if len(every) < 2 else f"{', '.join(every[:-1])} and {every[-1]}"
