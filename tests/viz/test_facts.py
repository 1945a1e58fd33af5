"""The memory picture is read back: it says all that is to be said of a snapshot, and no more; so does its text."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from types import ModuleType
from typing import Any

import pytest
from viz.looked import ALL, label, listed, looked, plural
from viz.reading import bands, missed_in_picture, missed_in_text

from tinytorch.viz import Snapshot, memory
from tinytorch.viz.read.records import Storage, Tensor
from tinytorch.viz.wording.labels import format_value


class Expected:
    """What a memory picture has to say of a snapshot; in the order in which it is drawn."""

    def __init__(self, snap: Snapshot, since: Snapshot | None, drawn: list[list[str]]) -> None:
        self.snap, self.since, self.drawn = snap, since, drawn
        self.before = {} if since is None else {one.key: one for one in since.tensors}
        self.shown = [
            one
            for one in snap.storages
            if any(self.reached(snap.tensor(tid)) for tid in one.tensors)
        ]

    def reached(self, one: Tensor) -> bool:
        """Whether a tensor has a name, or is the gradient of one that has."""
        return bool(one.names) or (
            one.role == "grad" and self.reached(self.snap.tensor(one.grad_of or ""))
        )

    def members(self, storage: Storage) -> list[Tensor]:
        """The tensors in a storage, in the order of their rows."""
        members = [one for tid in storage.tensors if self.reached(one := self.snap.tensor(tid))]
        counters = list(dict.fromkeys(one.counter for one in members))
        return sorted(members, key=lambda one: counters.index(one.counter))

    def bands(self) -> Iterator[list[str]]:
        for storage, drawn in zip(self.shown, self.drawn[1:], strict=True):
            members = self.members(storage)
            names = [label(self.snap, one.id) for one in members]
            title = title_of(members, names).removesuffix(" alone")
            read = {
                cell: value
                for run in storage.runs
                for cell, value in enumerate(run.values, run.start)
            }
            cells = list(self.cells(storage, read, drawn))
            visible = [int(said.partition("=")[0]) for said in cells if "=" in said]
            rows = [line for one in members for line in self.row(one, storage, visible)]
            yield [storage.id, title, *unusual(storage), *cells, *rows, *self.counters(members)]

    def cells(self, storage: Storage, read: dict[int, object], drawn: list[str]) -> Iterator[str]:
        """A narrow strip may leave cells out, but neither the first nor the last, and it shows where."""
        old = (
            None
            if self.since is None
            else next((one for one in self.since.storages if one.key == storage.key), None)
        )
        visible = [int(said.partition("=")[0]) for said in drawn if re.match(r"\d+=", said)]
        assert len(visible) >= min(6, len(read))
        assert not read or {0, storage.cells - 1} <= set(visible)
        expected = 0
        for cell in visible:
            if cell != expected:
                yield "..."
            expected = cell + 1
            yield f"{cell}={format_value(read[cell])}"
            known, then = (False, None) if old is None else old.value(cell)
            if known and repr(then) != repr(read[cell]):
                yield f"was {format_value(then)}"
        if not storage.cells:
            yield "empty"

    def row(self, one: Tensor, storage: Storage, visible: list[int]) -> Iterator[str]:
        then = self.before.get(one.key)
        new = self.since is not None and then is None
        names_then = (
            {}
            if self.since is None
            else {name: self.since.tensor(tid).key for name, tid in self.since.names}
        )
        other = [name for name in one.names if name in names_then and names_then[name] != one.key]
        for name in one.names or (label(self.snap, one.id),):
            yield name
            added = self.since is not None and one.names and names_then.get(name) != one.key
            if new or added:
                yield "new"
        yield from ["…"] * cropped(one.shape or ())
        yield f"{one.shape} stride {one.stride}"
        standing = [f"offset {one.offset}"] if one.offset else []
        if not one.is_leaf:
            standing += [f"grad_fn {(one.grad_fn_name or '').rpartition('::')[2]}"]
        elif one.requires_grad:
            standing += ["leaf, requires grad"]
        standing += [f"view of {label(self.snap, one.base)}"] if one.base else []
        yield from [", ".join(standing)] if standing else []
        yield from facts(one, then) if then else ()
        yield from (f"{name} is now another tensor" for name in other)
        for sentence in self.trouble(one):
            yield from ("cross", sentence)
        places = elements(one, storage)
        order = [place for _, place in places]
        if one.numel > 8 and len(set(order)) == len(order) and order != sorted(order):
            yield f"walks cells {', '.join(map(str, order[:8]))}, ..."
        yield from one.notes
        if one.grad is not None and not self.reached(self.snap.tensor(one.grad)):
            yield f".grad is {label(self.snap, one.grad)}"
        if not one.numel:
            yield "no elements"
        for cell in visible:
            here = [
                "[" + ",".join(map(str, index)) + "]" if index else "()"
                for index, place in places
                if place == cell
            ]
            if here:
                yield f"{cell}:{here[0]}" + (f"x{len(here)}" if len(here) > 1 else "")
        if 1 < one.numel <= 8 and len(set(order)) == len(order) and order != sorted(order):
            yield "walk " + ">".join(map(str, order))

    def trouble(self, one: Tensor) -> Iterator[str]:
        """That a node saved it and it was written since, or that it may have been."""
        found: dict[str, None] = {}
        for node in self.snap.nodes:
            for saved in node.saved:
                if saved.tensor == one.id and saved.state == "stale":
                    at = f"at version {saved.saved_version}, now at {saved.version}"
                    found[f"{node.name} saved it {at}: backward will raise"] = None
        for node in self.snap.nodes:
            for saved in node.saved:
                if saved.tensor == one.id and saved.bytes_unchanged is False:
                    found[f"{node.name} saved it, and it was written past its version counter"] = (
                        None
                    )
        for node in self.snap.nodes:
            for saved in node.saved:
                if saved.tensor == one.id and saved.state == "live":
                    for other in self.snap.tensors:
                        beside = other.storage == one.storage and other.counter != one.counter
                        if beside and other.version and other.role != "saved":
                            wrote = f"{other.counter} counted {plural(other.version, 'write')} here"
                            found[
                                f"{wrote} that {one.counter} did not see: backward may be silently wrong"
                            ] = None
        yield from found

    def counters(self, members: list[Tensor]) -> Iterator[str]:
        named = [one for one in members if one.role != "grad"]
        for which in dict.fromkeys(one.counter for one in named):
            counter = self.snap.counter(which or "")
            then = next(
                (
                    old
                    for one in members
                    if one.counter == which and (old := self.before.get(one.key))
                ),
                None,
            )
            changed = then is not None and then.version != counter.version
            yield from (
                counter.id,
                f"was {then.version}" if changed and then else "version",
                str(counter.version),
            )

    def below(self) -> list[str]:
        found = []
        gone = [
            name
            for name in dict(self.since.names if self.since else ())
            if name not in dict(self.snap.names)
        ]
        if gone:
            found.append(f"no longer there: {listed(gone)}")
        for node in self.snap.nodes:
            for saved in node.saved:
                if saved.state == "stale" and not (
                    saved.tensor and self.reached(self.snap.tensor(saved.tensor))
                ):
                    at = f"at version {saved.saved_version}, now at {saved.version}"
                    found.append(
                        f"a tensor without a name: {node.name} saved it {at}: backward will raise"
                    )
        hidden = [one for one in self.snap.storages if one not in self.shown]
        if hidden:
            what = f"also kept alive by the graph: {plural(len(hidden), 'storage')} without a name"
            found.append(f"{what}, {sum(one.nbytes for one in hidden):,} bytes")
        return found


def cropped(sizes: tuple[int, ...]) -> bool:
    """Whether a small grid leaves out some of a tensor's rows or columns."""
    return len(sizes) == 2 and 0 not in sizes and (sizes[0] > 4 or sizes[1] > 8)


def title_of(members: list[Tensor], names: list[str]) -> str:
    """What has two names is not alone."""
    if len(names) > 1:
        return f"one storage, shared by {listed(names)}"
    count = len(members[0].names)
    return (
        f"storage of one tensor with {count} names, {names[0]}"
        if count > 1
        else f"storage of {names[0]} alone"
    )


def unusual(storage: Storage) -> list[str]:
    """What the picture says of the size: not that there are few cells, of float32, on the CPU."""
    kind = storage.dtype.removeprefix("torch.")
    said = [plural(storage.cells, "cell")] * (storage.cells > 6) + [kind] * (
        kind != "float32" and storage.cells > 0
    )
    said += [f"on {storage.device}"] * (storage.device != "cpu")
    return [", ".join(said)] if said else []


def size(storage: Storage) -> str:
    kind = storage.dtype.removeprefix("torch.")
    cells = f"{plural(storage.cells, 'cell')} of {kind}, {plural(storage.nbytes, 'byte')}"
    return f"{cells if storage.cells else f'no cells, {storage.nbytes} bytes'}, on {storage.device}"


def elements(one: Tensor, storage: Storage) -> list[tuple[tuple[int, ...], int]]:
    """Index and cell of each element, in order."""
    start, size, strides = one.start_byte, one.itemsize, one.stride or ()
    return [
        (
            index,
            (start + size * sum(i * step for i, step in zip(index, strides, strict=True)))
            // storage.itemsize,
        )
        for index in product(*(range(n) for n in one.shape or ()))
    ]


def facts(one: Tensor, then: Tensor) -> Iterator[str]:
    if then.requires_grad != one.requires_grad:
        yield f"requires_grad was {then.requires_grad}"
    if then.shape != one.shape:
        yield f"shape was {then.shape}"
    if then.grad_fn_name != one.grad_fn_name:
        yield f"grad_fn was {then.grad_fn_name and then.grad_fn_name.rpartition('::')[2]}"
    if (then.grad is None) != (one.grad is None):
        yield ".grad was None" if then.grad is None else ".grad is None now"
    if then.shape == one.shape and then.stride != one.stride:
        yield f"stride was {then.stride}"
    if then.dtype != one.dtype:
        yield f"dtype was {then.dtype.removeprefix('torch.')}"


def covered(one: Tensor, storage: Storage) -> str:
    """Which cells the text has to name."""
    order = [place for _, place in elements(one, storage)]
    if not order:
        return "no cell"
    if len(order) == 1:
        return f"cell {order[0]}"
    steps = {b - a for a, b in pairwise(order)}
    if len(steps) == 1 and (step := steps.pop()) > 0:
        return f"cells {order[0]} to {order[-1]}" + (f" in steps of {step}" if step > 1 else "")
    cells = ", ".join(map(str, order[:24]))
    return (
        f"cells {cells}"
        + (f", ... ({len(order):,} elements)" if len(order) > 24 else "")
        + ", in this order"
    )


def text_of(snap: Snapshot, since: Snapshot | None, said: Expected) -> list[str]:
    """The lines of the text twin, without the spaces before them."""
    reached = [one for one in snap.tensors if said.reached(one)]
    lines = [f"Memory: {plural(len(reached), 'tensor')} in {plural(len(said.shown), 'storage')}."]
    for storage in said.shown:
        shown = said.members(storage)
        title = title_of(shown, [label(snap, one.id) for one in shown])
        lines += ["", f"{storage.id}, {title}: {size(storage)}."]
        read = [
            (cell, value)
            for run in storage.runs
            for cell, value in enumerate(run.values, run.start)
        ]
        if read:
            parts, expected = [], 0
            for cell, value in read:
                parts += ["..."] * (cell != expected) + [f"{cell}: {format_value(value)}"]
                expected = cell + 1
            lines.append("cells: " + ", ".join(parts + ["..."] * (expected != storage.cells)))
        old = next(
            (one for one in (since.storages if since else ()) if one.key == storage.key), None
        )
        was = [
            f"cell {cell} was {format_value(old.value(cell)[1])}"
            for cell, value in read
            if old and old.value(cell)[0] and repr(old.value(cell)[1]) != repr(value)
        ]
        lines += [f"changed: {', '.join(was)}."] * bool(was)
        members = [one for one in reached if one.storage == storage.id]
        counters = list(
            dict.fromkeys(
                snap.tensor(tid).counter for tid in storage.tensors if snap.tensor(tid) in members
            )
        )
        members = sorted(
            (snap.tensor(tid) for tid in storage.tensors if snap.tensor(tid) in members),
            key=lambda one: counters.index(one.counter),
        )
        for one in members:
            lines += _tensor_text(snap, said, one, storage, list(said.row(one, storage, [])))
        counted = list(said.counters(members))
        for which, changed, number in zip(counted[::3], counted[1::3], counted[2::3], strict=True):
            names = [label(snap, one.id) for one in members if one.counter == which]
            owner = f"shared by {listed(names)}" if len(names) > 1 else f"of {names[0]}"
            owner += " alone" * (len(names) == 1 and " = " not in names[0])
            lines.append(
                f"version counter {which}, {owner}: at version {number}"
                + (f" ({changed})." if changed != "version" else ".")
            )
    below = [line[0].upper() + line[1:] + "." for line in said.below()]
    return [*lines, *([""] if below else []), *below]


def _tensor_text(
    snap: Snapshot, said: Expected, one: Tensor, storage: Storage, row: list[str]
) -> Iterator[str]:
    then = said.before.get(one.key)
    parts = [
        f"shape {one.shape}",
        f"stride {one.stride}",
        f"offset {one.offset}",
        one.dtype.removeprefix("torch."),
    ]
    standing = "leaf, requires grad" if one.requires_grad else "leaf, needs no grad"
    parts += [
        standing
        if one.is_leaf
        else f"not a leaf, grad_fn {(one.grad_fn_name or '').rpartition('::')[2]}"
    ]
    parts += [f"covers {covered(one, storage)}"]
    parts += [f"view of {label(snap, one.base)}"] if one.base else []
    parts += [f".grad is {label(snap, one.grad)}"] if one.grad else []
    yield f"{label(snap, one.id)}{' (new)' if said.since and not then else ''}: {'; '.join(parts)}."
    yield from (f"Changed: {fact}." for fact in (facts(one, then) if then else ()))
    yield from (f"Changed: {line}." for line in row if line.endswith("is now another tensor"))
    names_then = dict(said.since.names) if said.since else {}
    yield from (
        f"Changed: {name} is a new name." for name in one.names if then and name not in names_then
    )
    yield from (f"In trouble: {sentence}." for sentence in said.trouble(one))
    yield from (f"Note: {note}." for note in one.notes)


def wrong(snap: Snapshot, since: Snapshot | None, svg: str, text: str) -> set[str]:
    """Which of "picture" and "text" does not say what it has to."""
    found = set()
    try:
        drawn = bands(svg)
        said = Expected(snap, since, drawn)
        if drawn != [said.below(), *said.bands()]:
            found.add("picture")
    except (ValueError, KeyError, IndexError, AssertionError):
        found.add("picture")
        said = Expected(snap, since, bands(memory(snap, since=since).svg))
    if [line.strip() for line in text.split("\n")] != text_of(snap, since, said):
        found.add("text")
    return found


@pytest.mark.parametrize("program", ALL)
def test_the_memory_picture_and_its_text_say_every_fact(program: str, engine: ModuleType) -> None:
    snap, since = looked(program, engine)
    picture = memory(snap, since=since)
    drawn = bands(picture.svg)
    said = Expected(snap, since, drawn)
    assert drawn == [said.below(), *said.bands()]
    assert [line.strip() for line in picture.text.split("\n")] == text_of(snap, since, said)


BUSY = [
    "transposed",
    "repeated",
    "changes",
    "turns stale",
    "data",
    "gapped view",
    "optimizer",
    "nameless stale",
    "unnamed",
]
"""Programs in which everything occurs that a memory picture can say."""


@pytest.mark.parametrize("program", BUSY)
def test_whatever_is_dropped_is_noticed(program: str) -> None:
    snap, since = looked(program, importlib.import_module("tinytorch"))
    made = memory(snap, since=since)
    assert missed_in_picture(wrong, snap, since, made) == []
    assert missed_in_text(wrong, snap, since, made, r"[^;]+; ") == []


def test_the_device_is_told() -> None:
    snap, _ = looked(
        "x = torch.ones(2, device='cuda')\ny = torch.ones(2)", importlib.import_module("tinytorch")
    )
    assert [one.device for one in snap.storages] == ["cuda:0", "cpu"]
    picture = memory(snap)
    assert wrong(snap, None, picture.svg, picture.text) == set()


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("storages", {"device": "cuda:0"}),
        ("storages", {"dtype": "torch.int8"}),
        ("tensors", {"offset": 5}),
        ("tensors", {"stride": (9,)}),
        ("tensors", {"start_byte": 4}),
        ("tensors", {"base": "T2"}),
        ("tensors", {"notes": ("a note",)}),
        ("tensors", {"is_leaf": False, "grad_fn_name": "OtherBackward0"}),
        ("counters", {"version": 9}),
    ],
)
def test_a_fact_that_is_told_otherwise_is_noticed(
    kind: str, other: dict[str, Any], engine: ModuleType
) -> None:
    snap, _ = looked("network", engine)
    picture = memory(snap)
    head, *rest = getattr(snap, kind)
    fields: dict[str, Any] = {kind: (replace(head, **other), *rest)}
    altered = replace(snap, **fields)
    assert wrong(altered, None, picture.svg, picture.text) == {"picture", "text"}


def test_the_programs_have_facts_of_every_kind() -> None:
    said: list[str] = []
    for program in BUSY:
        snap, since = looked(program, importlib.import_module("tinytorch"))
        said += [line for band in bands(memory(snap, since=since).svg) for line in band]
    for kind in (
        "walk ", "walks cells", r"\d+:\[", r"\d+:\[.*x3", "was ", "new$", r"shape was|requires_grad was|\.grad was",
        ".* is now another tensor", ".* saved it at version", ".* did not see", "no longer there", "a tensor without",
        "also kept", r".*view of ", r"\.\.\.$", r"offset \d", "one storage, shared by",
    ):  # fmt: skip
        assert any(re.match(kind, line) for line in said), kind
