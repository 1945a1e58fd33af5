"""Every fact of a snapshot that a picture shows stands in the picture and in its text twin, at the right place."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from viz.programs import PROGRAMS, run

from tinytorch.viz import Snapshot, graph, memory, snapshot
from tinytorch.viz.records import Storage, Tensor
from tinytorch.viz.style import show

# What stands after the line is run after a first snapshot, and told as a change.
THEN = "# then\n"
MORE = {
    "gapped view": "big = torch.arange(24.).view(4, 6)\nv = big[1:3, ::2]\nlate = torch.arange(3)[1:]",
    "large": "big = torch.arange(100000.)\nend = big[-2:]",
    "number": "x = torch.ones(2, requires_grad=True)\ny = (x ** 3).sum()",
    "freed": "a = torch.ones(2, requires_grad=True)\nout = a.sigmoid()\nout.sum().backward()",
    "copyslices": "x = torch.ones(4, requires_grad=True)\ny = x * 2\nv = y[:2]\nv.mul_(3)\nz = y.sum()",
    "no gradient on one side": "x = torch.ones(2, requires_grad=True)\nk = torch.ones(2)\ny = k * x\nz = y - k",
    "changes": f"x = torch.tensor([1., 2.], requires_grad=True)\nd = x.detach()\nold = d\n{THEN}"
    "d.add_(1)\n(x * x).sum().backward()\nmore = x\nd = torch.zeros(1)\ndel old",
    "optimizer": f"net = torch.nn.Linear(2, 1, bias=False)\nwith torch.no_grad(): net.weight.fill_(1.)\n"
    f"opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.5)\n{THEN}"
    "net(torch.ones(1, 2)).sum().backward()\nopt.step()",
}
ALL = {**PROGRAMS, **MORE}
Fact = tuple[str, str, str, str]
"""(the part it belongs to, what it is, how the picture says it, how the text says it); "" where it does not say it."""


def looked(program: str, engine: ModuleType) -> tuple[Snapshot, Snapshot | None]:
    """The snapshot at the end of a program, and the one before its second half."""
    first, _, second = ALL.get(program, program).partition(THEN)
    names = run(first, engine)
    if not second:
        return snapshot(names), None
    before = snapshot(names)
    exec(second, {"torch": engine}, names)
    return snapshot(names, since=before), before


def parts(content: list[str], head: str) -> dict[str, str]:
    """The lines by the record that they speak of; "" has those above the first record."""
    found, which = {"": ""}, ""
    for line in content:
        if match := re.match(head, line):
            which = match[1]
        found[which] = found.get(which, "") + f"{line} | "
    return {**{part: f"| {text}" for part, text in found.items()}, "*": "| " + " | ".join(content) + " |"}


def drawn(svg: str) -> list[str]:
    """What a picture says: its texts in order of drawing, with what their titles add."""
    kinds = ("text", "title", "desc")
    return ["".join(one.itertext()) for one in ET.fromstring(svg).iter() if one.tag.rpartition("}")[2] in kinds]


def label(snap: Snapshot, which: str) -> str:
    tensor = snap.tensor(which)
    if tensor.names:
        return " = ".join(tensor.names)
    if tensor.grad_of and snap.tensor(tensor.grad_of).names:
        return f"{label(snap, tensor.grad_of)}.grad"
    return f"{tensor.id} (no name)"


def memory_facts(snap: Snapshot, since: Snapshot | None = None) -> Iterator[Fact]:
    """What the memory picture has to say."""
    hidden = []
    for storage in snap.storages:
        members = [one for tid in storage.tensors if (one := snap.tensor(tid)).role in ("named", "grad")]
        if members:
            yield from storage_facts(storage, since)
            for one in members:
                yield from tensor_facts(snap, one, since)
        else:
            hidden.append(storage)
    if hidden:
        noun = "storage" if len(hidden) == 1 else "storages"
        what = f"lso kept alive by the graph: {len(hidden)} {noun} without a name, "
        what += f"{sum(one.nbytes for one in hidden):,} bytes"
        yield "*", "kept alive", what, what
    for node in snap.nodes:
        for saved in node.saved:
            if saved.state == "stale":
                fact = f"{node.name} saved it at version {saved.saved_version}, now at {saved.version}"
                yield "*", "stale", fact, fact
    for name in {} if since is None else dict(since.names):
        if name not in dict(snap.names):
            yield "*", "gone", f"o longer there: {name}", f"o longer there: {name}"


def storage_facts(storage: Storage, since: Snapshot | None) -> Iterator[Fact]:
    """Size, place and values of one storage, and the values before."""
    sid, kind = storage.id, storage.dtype.removeprefix("torch.")
    noun = "cell" if storage.cells == 1 else "cells"
    cells = f"{storage.cells:,} {noun} of {kind}" if storage.cells else "no cells"
    for fact in (cells, f", {storage.nbytes:,} byte", f", on {storage.device}"):
        yield sid, "size", fact, fact
    old = None if since is None else next((one for one in since.storages if one.key == storage.key), None)
    read = [(cell, value) for one in storage.runs for cell, value in enumerate(one.values, one.start)]
    for cell, value in read:
        fits = len(read) <= 6 or cell in (0, storage.cells - 1)  # a narrow strip leaves cells out
        yield sid, "value", f"| {cell} | {show(value)} |" if fits else "", f"{cell}: {show(value)}"
        known, then = (False, None) if old is None else old.value(cell)
        if known and then != value:
            was = f"| {cell} | {show(value)} | was {show(then)} |" if fits else ""
            yield sid, "value before", was, f"cell {cell} was {show(then)}"
    if len(read) < storage.cells:
        yield sid, "cells left out", "| ... |", "..."


def tensor_facts(snap: Snapshot, one: Tensor, since: Snapshot | None) -> Iterator[Fact]:
    """Names, geometry, history, gradient and version counter of one tensor."""
    sid, name = one.storage or "", label(snap, one.id)
    versions = {} if since is None else {old.key: old.version for old in since.tensors}
    line = f"{name}{' (new)' if since is not None and one.key not in versions else ''}: shape {one.shape}; "
    line += f"stride {one.stride}; offset {one.offset}; {one.dtype.removeprefix('torch.')}; "
    place = f"shape {one.shape} stride {one.stride}" + (f" offset {one.offset}" if one.offset else "")
    yield sid, "geometry", f"| {place} |", line
    history = "leaf, requires grad" if one.requires_grad else "leaf, needs no grad"
    if not one.is_leaf:
        history = f"not a leaf, grad_fn {(one.grad_fn_name or '').rpartition('::')[2]}"
    yield sid, "history", f"| {history} |", line + history
    for shown in one.names or (name,):
        yield sid, "name", f"| {shown} |", shown
    if one.grad is not None:
        pill = "" if snap.tensor(one.grad).names else f"| {label(snap, one.grad)} |"
        yield "*", "gradient", pill, f".grad is {label(snap, one.grad)}"
    if one.counter is not None and one.role == "named":
        now, then = snap.counter(one.counter).version, versions.get(one.key)
        changed = then not in (None, now)
        was, said = (f"was {then}", f" (was {then})") if changed else ("version", "")
        yield (
            sid,
            "version before" if changed else "version",
            f"| {one.counter} | {was} | {now} |",
            f": at version {now}{said}",
        )
        yield sid, "counter", f"| {one.counter} |", f"version counter {one.counter}, "


def graph_facts(snap: Snapshot) -> Iterator[Fact]:
    """What the graph picture has to say."""
    for node in snap.nodes:
        short = node.name.rpartition("::")[2]
        yield "*", "node", f"| {short} |", f"| {node.id} {short} |"
        for edge in node.edges:
            end = "None" if edge.node is None else f"{edge.node} {snap.node(edge.node).name.rpartition('::')[2]}"
            numbered = edge.node is not None and len(node.edges) > 1
            number = f"| {edge.index} |" if numbered else ""
            yield node.id, "edge", number and f"*{number}", f"next_functions[{edge.index}]: {end}"
        if node.variable is not None:
            yield node.id, "leaf", "*| .grad |", f"adds to {label(snap, node.variable)}.grad"
        for saved in node.saved:
            what = show(saved.value) if saved.tensor is None else label(snap, saved.tensor)
            head, cut = f"saved {saved.name}", saved.name if len(saved.name) <= 14 else saved.name[:10]
            match saved.state:
                case "live":
                    at = f", version {saved.version}" if saved.tensor else ""
                    yield node.id, "live", f"*saved {cut}", f"{head}: {what}, live"
                    yield node.id, "live", f"*{at}", f" at version {saved.version}" if saved.tensor else ""
                case "stale":
                    at = f": saved at version {saved.saved_version}, now at {saved.version}"
                    yield node.id, "stale", f"*{at}", f"STALE{at}"
                case "freed":
                    yield node.id, "freed", "*: freed", f"{head}: freed by a backward"
                case "number":
                    yield node.id, "number", f"*saved {cut} = {what}", f"{head}: {what}"
    for _, tid in snap.names:
        yield "*", "name", label(snap, tid)[:12], f"{label(snap, tid)}: "


def missing(facts: Iterator[Fact], svg: str, text: str) -> list[str]:
    """What picture or text does not say."""
    picture, words = parts(drawn(svg), r"(S\d+)$"), parts([line.strip() for line in text.split("\n")], r"([SN]\d+)\b")
    found = []
    for part, what, shown, said in facts:
        # Cards of the graph have no ids in the picture: there a fact may stand anywhere.
        place = "*" if shown.startswith("*") else part
        if shown.lstrip("*") not in picture.get(place, ""):
            found.append(f"picture, {part}: {what} {shown}")
        if said not in words.get(part, ""):
            found.append(f"text, {part}: {what} {said}")
    return found


@pytest.mark.parametrize("program", ALL)
def test_the_memory_picture_and_its_text_say_every_fact(program: str, engine: ModuleType) -> None:
    snap, since = looked(program, engine)
    picture = memory(snap, since=since)
    assert missing(memory_facts(snap, since), picture.svg, picture.text) == []


@pytest.mark.parametrize("program", ALL)
def test_the_graph_picture_and_its_text_say_every_fact(program: str, engine: ModuleType) -> None:
    snap, since = looked(program, engine)
    picture = graph(snap, since=since)
    assert missing(graph_facts(snap), picture.svg, picture.text) == []
    for node in snap.nodes:
        for edge in node.edges:
            assert edge.node is None or f"{node.id} -> {edge.node}" in picture.source


def test_the_device_is_told() -> None:
    snap, _ = looked("x = torch.ones(2, device='cuda')\ny = torch.ones(2)", importlib.import_module("tinytorch"))
    assert [one.device for one in snap.storages] == ["cuda:0", "cpu"]
    picture = memory(snap)
    assert missing(memory_facts(snap), picture.svg, picture.text) == []


def first(snap: Snapshot, kind: str, **other: Any) -> Snapshot:
    """The snapshot with its first record of a kind altered."""
    head, *rest = getattr(snap, kind)
    return replace(snap, **{kind: (replace(head, **other), *rest)})  # type: ignore[arg-type]  # the field is named by the case


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("storages", {"nbytes": 77}),
        ("storages", {"device": "cuda:0"}),
        ("storages", {"dtype": "torch.int8"}),
        ("tensors", {"offset": 5}),
        ("tensors", {"stride": (9,)}),
        ("tensors", {"is_leaf": False, "grad_fn_name": "OtherBackward0"}),
        ("counters", {"version": 9}),
        ("nodes", {"name": "OtherBackward0"}),
    ],
)
def test_a_fact_that_is_told_otherwise_is_noticed(kind: str, other: dict[str, Any], engine: ModuleType) -> None:
    snap, _ = looked("network", engine)
    altered, picture = first(snap, kind, **other), (graph if kind == "nodes" else memory)(snap)
    found = missing((graph_facts if kind == "nodes" else memory_facts)(altered), picture.svg, picture.text)
    assert {one.partition(",")[0] for one in found} == {"picture", "text"}


@pytest.mark.parametrize("program", ["changes", "network", "freed", "copyslices"])
def test_a_text_with_one_fact_left_out_is_noticed(program: str, engine: ModuleType) -> None:
    snap, since = looked(program, engine)
    for picture, facts in (
        (memory(snap, since=since), list(memory_facts(snap, since))),
        (graph(snap), list(graph_facts(snap))),
    ):
        for _, _, _, said in facts:
            if said:
                lacking = picture.text.replace(said.strip("| "), "")
                assert any(one.startswith("text") for one in missing(iter(facts), picture.svg, lacking)), said


def test_the_programs_have_facts_of_every_kind(engine: ModuleType) -> None:
    kinds: set[str] = set()
    for program in ALL:
        snap, since = looked(program, engine)
        kinds |= {what for facts in (memory_facts(snap, since), graph_facts(snap)) for _, what, _, _ in facts}
    assert kinds == {
        "size", "value", "value before", "cells left out", "geometry", "history", "name", "gradient", "version",
        "version before", "counter", "kept alive", "stale", "gone", "node", "edge", "leaf", "live", "freed", "number",
    }  # fmt: skip
