"""What pictures say: remarks are true of the snapshot, and text and drawing render each of them."""

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from viz.looked import ALL, looked

from tinytorch.viz import graph, memory
from tinytorch.viz.diagnose import compare_snapshots
from tinytorch.viz.read import SavedRecord, Snapshot
from tinytorch.viz.render import graph_svg, memory_svg
from tinytorch.viz.render.strip import make_lane
from tinytorch.viz.render.text import write_graph_text, write_memory_text
from tinytorch.viz.show import (
    LEVELS,
    FoldEntry,
    GraphContents,
    Level,
    MemoryContents,
    NodeEntry,
    PackEntry,
    Remark,
    StorageEntry,
    describe_graph,
    describe_memory,
    select_nodes,
    select_parts,
    select_storages,
)
from tinytorch.viz.show.contents import _FootKind, _StorageKind, _TensorKind
from tinytorch.viz.show.levels import _LEVEL_OF_PART


def memory_of(program: str, engine: ModuleType) -> tuple[Snapshot, MemoryContents]:
    """The snapshot at the end of a program, and what its memory picture says."""
    snap, since = looked(program, engine)
    changes = compare_snapshots(snap, since)
    return snap, describe_memory(changes, select_storages(changes))


def graph_of(program: str, engine: ModuleType) -> tuple[Snapshot, GraphContents]:
    """The snapshot at the end of a program, and what its graph picture says."""
    snap, since = looked(program, engine)
    changes = compare_snapshots(snap, since)
    return snap, describe_graph(changes, select_nodes(changes))


def render(contents: MemoryContents | GraphContents) -> tuple[str, str]:
    """Text and SVG of what a picture says."""
    if isinstance(contents, GraphContents):
        return write_graph_text(contents), graph_svg.draw_sheet(graph_svg.make_sheet(contents))
    run = memory_svg.lay_out_sheets([memory_svg.make_sheet(contents)])
    return write_memory_text(contents), memory_svg.draw_sheet(run.sheets[0], run.stage)


def with_one_blank(record: Any) -> Iterator[tuple[Remark, Any]]:
    """Each remark in a record, and the record with that remark blank."""
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, Remark):
            yield value, replace(record, **{field.name: Remark(value.kind, "")})
        elif isinstance(value, tuple):
            for place, item in enumerate(value):
                before, after = value[:place], value[place + 1 :]
                for remark, other in _blank_in(item):
                    yield remark, replace(record, **{field.name: (*before, other, *after)})


def _blank_in(item: object) -> Iterator[tuple[Remark, Any]]:
    if isinstance(item, Remark):
        yield item, Remark(item.kind, "")
    elif is_dataclass(item):
        yield from with_one_blank(item)


# -- both renderers render all of it -----------------------------------------------

BUSY = ["transposed", "repeated", "changes", "turns stale", "turns freed", "changed unseen", "data",
        "gapped view", "optimizer", "number", "gradients", "folded, changed", "network", "unnamed"]  # fmt: skip
"""Programs in which everything occurs that a picture can say."""


@pytest.mark.parametrize("program", BUSY)
def test_text_and_drawing_say_every_remark_and_only_those_meant_for_them(program: str) -> None:
    engine = importlib.import_module("tinytorch")
    for _, contents in (memory_of(program, engine), graph_of(program, engine)):
        text, svg = render(contents)
        remarks = list(with_one_blank(contents))
        assert remarks
        for remark, without in remarks:
            text_without, svg_without = render(without)
            assert (text_without != text) == bool(remark.sentence), remark
            assert (svg_without != svg) == bool(remark.caption), remark


@pytest.mark.parametrize("program", BUSY)
def test_text_and_drawing_say_every_note_and_the_drawing_has_every_line(program: str) -> None:
    engine = importlib.import_module("tinytorch")
    for _, contents in (memory_of(program, engine), graph_of(program, engine)):
        text, svg = render(contents)
        for note in contents.notes:
            words = note.sentence if isinstance(note, Remark) else note
            assert words[1:] in text
            assert words.split()[0] in svg
        if isinstance(contents, GraphContents):
            curves = len(
                re.findall(r'<path class="(?:arrow|arrow dash|thin|flow)" d="M[^"]*C', svg)
            )
            # A line that is cut has two halves.
            assert curves == len(contents.edges) + svg.count('class="mark"')


def test_the_programs_have_remarks_of_every_kind() -> None:
    engine = importlib.import_module("tinytorch")
    memory_kinds, graph_kinds = set(), set()
    for program in BUSY:
        memory_kinds |= {remark.kind for remark, _ in with_one_blank(memory_of(program, engine)[1])}
        graph_kinds |= {remark.kind for remark, _ in with_one_blank(graph_of(program, engine)[1])}
    assert memory_kinds >= {
        "title", "size", "cells", "changed cells", "geometry", "stride", "dtype", "history", "base",
        "grad", "changed", "hazard",
    }  # fmt: skip
    assert graph_kinds >= {
        "heading", "gradient", "edge", "unchanged", "live", "raises", "freed", "changed unseen",
        "maybe written", "changed", "node kind", "count",
    }  # fmt: skip


def _read_documented_kinds(record: type) -> set[str]:
    """The kinds that the docstring of `remarks` of a record names."""
    source = Path(inspect.getfile(record)).read_text(encoding="utf-8")
    body = source.partition(f"class {record.__name__}:")[2].partition("\n\n\n")[0]
    text = body.partition("    remarks: tuple[Remark, ...]\n")[2].split('"""')[1]
    return set(re.split(r"[^a-z ]+", " ".join(text.split()).removeprefix("Kinds: ").strip(".")))


def test_a_storage_has_remarks_of_the_kinds_that_its_record_names() -> None:
    engine = importlib.import_module("tinytorch")
    kinds = set()
    unshown = "x = torch.zeros(500)\n# then\nx[250] = 1"
    for program in (*BUSY, unshown):
        _, contents = memory_of(program, engine)
        for entry in contents.entries:
            if isinstance(entry, StorageEntry):
                kinds |= {remark.kind for remark in entry.remarks}
    named = {kind.strip() for kind in _read_documented_kinds(StorageEntry)}
    assert "changed" in kinds
    assert kinds <= named


@pytest.mark.parametrize("level", LEVELS)
def test_no_kind_is_said_below_the_level_that_the_table_has_for_it(level: Level) -> None:
    engine = importlib.import_module("tinytorch")
    for program in BUSY:
        snap, since = looked(program, engine)
        changes = compare_snapshots(snap, since)
        selection = select_storages(changes, parts=select_parts(level))
        contents = describe_memory(changes, selection)
        for entry in (*contents.entries, *contents.without_storage):
            for remark, _ in with_one_blank(entry):
                least = _LEVEL_OF_PART.get(remark.kind, LEVELS[0])
                assert LEVELS.index(least) <= LEVELS.index(level), remark


def test_the_table_of_levels_has_all_kinds_of_remarks_on_memory() -> None:
    kinds = {*get_args(_StorageKind), *get_args(_TensorKind), *get_args(_FootKind)}
    # The size of a storage is a field of its entry, in each picture.
    missing = {*kinds, "changed", "note"} - {"size"} - set(_LEVEL_OF_PART)
    assert not missing, "no picture would say these"


# -- what is said is so ------------------------------------------------------------

SAID_OF_TENSORS = {
    "data": {
        "a": {("history", "leaf, requires_grad=True")},
        "out": {
            ("history", "not a leaf, grad_fn SigmoidBackward0"),
            ("hazard", "C3 counted 1 write here that C2 did not see: backward may be silently wrong"),
        },
        "c": {("history", "leaf, requires_grad=False")},
    },
    "stale": {
        "out": {("hazard", "SigmoidBackward0 saved it at version 0, now at 1: backward will raise")}
    },
    "changes": {
        "x = more": {
            ("grad", ".grad is x.grad"),
            ("changed", ".grad was None"),
            ("changed", "more is a new name"),
        },
        "d": {("changed", "d is now another tensor")},
        "free": {("changed", "requires_grad was False")},
    },
    "transposed": {
        "t": {("stride", "stride (1, 3); offset 0"), ("cells", "covers cells 0, 3, 1, 4, 2, 5, in this order")},
        "row": {("stride", "stride (3,); offset 1"), ("cells", "covers cells 1 to 4 in steps of 3")},
    },
    "repeated": {"many": {("cells", "covers cells 0, 0, 0, 1, 1, 1, in this order")}},
    "reshaped": {"x": {("geometry", "shape (3, 2)"), ("changed", "shape was (6,)")}},
}  # fmt: skip
SAID_OF_NODES = {
    "turns stale": {
        ("N3", "raises", ("saved result: d = again, STALE: saved at version 0, now at 1; "
         "backward will raise (was live at version 0)")),
        ("N2", "edge", "next_functions[1]: None (needs no gradient)"),
        ("N5", "gradient", "adds to x.grad"),
    },
    "turns freed": {
        ("N2", "freed", "saved self: freed by a backward; another backward will raise (was live at version 0)"),
        ("N2", "edge", "next_functions[1]: N3 AccumulateGrad"),
    },
    "changed unseen": {
        ("N1", "changed unseen", ("saved result: h, live at version 0, but CHANGED UNSEEN: "
         "backward computes from the new values")),
        ("N2", "unchanged", "saved result: k, live at version 0, unchanged"),
    },
    "data": {
        ("N1", "live", "saved result: out, live at version 0"),
        ("N1", "maybe written", "perhaps changed unseen, through c: backward may be silently wrong"),
    },
    "folded": {("F1", "heading", "F1 29 times: 58 nodes folded: MulBackward0 29 times and SigmoidBackward0 29 times")},
}  # fmt: skip


@pytest.mark.parametrize("program", SAID_OF_TENSORS)
def test_what_is_said_of_tensors(program: str, engine: ModuleType) -> None:
    _, contents = memory_of(program, engine)
    entries = [entry for entry in contents.entries if isinstance(entry, StorageEntry)]
    for label, expected in SAID_OF_TENSORS[program].items():
        (tensor,) = [row for entry in entries for row in entry.tensors if row.label == label]
        assert {(remark.kind, remark.sentence) for remark in tensor.remarks} >= expected


@pytest.mark.parametrize("program", SAID_OF_NODES)
def test_what_is_said_of_nodes(program: str, engine: ModuleType) -> None:
    _, contents = graph_of(program, engine)
    said = {
        (entry.id, remark.kind, remark.sentence)
        for entry in contents.entries
        for remark in entry.remarks
    }
    assert said >= SAID_OF_NODES[program]


def test_nothing_is_in_trouble_or_changed_where_nothing_is_wrong(engine: ModuleType) -> None:
    for program in ("transposed", "repeated", "sharing", "large"):
        _, contents = memory_of(program, engine)
        kinds = {remark.kind for remark, _ in with_one_blank(contents)}
        assert not kinds & {"hazard", "changed", "changed cells"}


@pytest.mark.parametrize("program", ALL)
def test_memory_has_what_shares_a_storage_in_one_entry(program: str, engine: ModuleType) -> None:
    snap, contents = memory_of(program, engine)
    drawn = set()
    for entry in contents.entries:
        assert not isinstance(entry, PackEntry), "few tensors are not folded"
        rows = [row.tensor for row in entry.tensors]
        assert {row.storage for row in rows} == {entry.storage.id}
        drawn |= {row.id for row in rows}
        for counter in entry.counters:
            assert {rows[place].counter for place in counter.rows} == {counter.id}
            assert {rows[place].version for place in counter.rows} == {counter.version}
    assert drawn >= {tensor.id for tensor in snap.named_tensors if tensor.storage}


@pytest.mark.parametrize("program", ALL)
def test_marks_are_below_the_cells_that_a_tensor_reads(program: str, engine: ModuleType) -> None:
    snap, contents = memory_of(program, engine)
    for entry in contents.entries:
        assert isinstance(entry, StorageEntry)
        storage = entry.storage
        for tensor in (row.tensor for row in entry.tensors):
            lane = make_lane(storage, tensor)
            cells = [cell for start, stop in lane.spans for cell in range(int(start), int(stop))]
            if entry.arrangement.has_cells:
                read = [cell for cell in range(storage.cells) if snap.shows_cell(tensor, cell)]
                assert cells == read
            order = [byte // tensor.itemsize for _, byte in tensor.elements(100)]
            if lane.is_in_order and len(cells) <= 100:
                assert order == cells
            if not entry.arrangement.has_lanes:
                assert lane.is_in_order or not storage.cells
                assert tensor.numel == storage.cells


@pytest.mark.parametrize("program", ALL)
def test_a_graph_has_every_node_and_edge_once(program: str, engine: ModuleType) -> None:
    snap, contents = graph_of(program, engine)
    folded = any(isinstance(entry, FoldEntry) for entry in contents.entries)
    next_edges = sorted((edge.tail, edge.head) for edge in contents.edges if edge.kind == "next")
    if not folded:
        assert [entry.id for entry in contents.entries] == [node.id for node in snap.nodes]
        assert next_edges == sorted(
            (node.id, end) for node in snap.nodes for end in node.edges if end
        )
    places = {card.name for card in graph_svg.make_sheet(contents).cards}
    assert {end for edge in contents.edges for end in (edge.tail, edge.head)} <= places
    flagged = {
        entry.id for entry in contents.entries if isinstance(entry, NodeEntry) and entry.is_new
    }
    assert not flagged or "new" in render(contents)[1]


# -- another fact is another picture -----------------------------------------------


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("storages", {"device": "cuda:0"}),
        ("storages", {"dtype": "torch.int8"}),
        ("tensors", {"stride": (9,)}),
        ("tensors", {"start_byte": 4}),
        ("tensors", {"base": "T2"}),
        ("tensors", {"notes": ("a note",)}),
        ("tensors", {"is_leaf": False, "grad_fn_name": "OtherBackward0"}),
        ("counters", {"version": 9}),
    ],
)
def test_another_fact_changes_text_and_memory_picture(
    kind: str, other: dict[str, Any], engine: ModuleType
) -> None:
    snap, _ = looked("network", engine)
    head, *others = getattr(snap, kind)
    records: dict[str, Any] = {kind: (replace(head, **other), *others)}
    altered = replace(snap, **records)
    if kind == "counters":  # the records of its tensors have the version, too
        sharing = [
            replace(tensor, version=9) if tensor.counter == head.id else tensor
            for tensor in snap.tensors
        ]
        altered = replace(altered, tensors=tuple(sharing))
    before, after = memory(snap), memory(altered)
    assert before.text != after.text
    assert before.svg != after.svg


@pytest.mark.parametrize(
    "other",
    [
        {"name": "OtherBackward0"},
        {"saved": (SavedRecord("result", "live", "T1", 0, 0),)},
        {"saved": (SavedRecord("result", "stale", "T1", 0, 7),)},
        {"saved": (SavedRecord("result", "freed"),)},
        {"saved": (SavedRecord("result", "number", value=3),)},
        {"edges": ()},
        {"variable": "T2"},
    ],
)
def test_another_fact_changes_text_and_graph_picture(
    other: dict[str, Any], engine: ModuleType
) -> None:
    snap, _ = looked("network", engine)
    head, *others = snap.nodes
    before, after = graph(snap), graph(replace(snap, nodes=(replace(head, **other), *others)))
    assert before.text != after.text
    assert before.svg != after.svg
    assert before.source != after.source
