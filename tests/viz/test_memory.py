"""The memory picture: what it draws, and that its words say the same."""

import pickle
import re
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from copylab import watch
from needs import find_browser
from viz.programs import PROGRAMS, run

import tinytorch
from tinytorch.viz import LEVELS, LayoutError, Picture, graph, memory, snapshot
from tinytorch.viz.diagnose.diff import compare_snapshots
from tinytorch.viz.read import SavedRecord
from tinytorch.viz.render import memory_rows
from tinytorch.viz.render.memory_svg import memories_of
from tinytorch.viz.show import hazard_sentences
from tinytorch.viz.show.arrangement import TIMES
from tinytorch.viz.wording import measure_excess, set_language, text_width


def words_in(svg: str) -> list[str]:
    """The texts that a picture shows, in order of drawing; what a <title> adds is not shown."""
    return [
        (element.text or "") + "".join(child.tail or "" for child in element)
        for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_what_shares_a_storage_stands_in_one_band(engine: ModuleType) -> None:
    svg = memory(run("sharing", engine)).svg
    drawn = words_in(svg)
    assert (
        'aria-label="Memory: one storage, shared by x (also called same), a and b; storage of c"'
        in svg
    )
    names = [text for text in drawn if text in {"x", "same", "a", "b", "c"}]
    assert names == ["x", "same", "a", "b", "c"]
    assert svg.count('class="band"') == 1, "what shares is on a ground of its own"
    assert svg.count('class="box"') == 1, "the storage of c is one, too"
    assert svg.count('class="tip"') == 4, "an arrow for each tensor"
    assert "one tensor, 2 names" in " ".join(drawn)
    # One mark for x and a, one for b, one for c; a bracket joins the rows of the first.
    assert drawn.count("v0") == 3
    assert svg.count('class="count-l"') == 1


def test_how_a_view_reads_is_told_and_drawn_where_it_is_not_row_by_row(engine: ModuleType) -> None:
    m = engine.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    picture = memory(t=m.t(), row=m[1], gap=m[0, ::2])
    assert "covers cells 0, 3, 1, 4, 2, 5, in this order" in picture.text
    drawn = " ".join(words_in(picture.svg))
    for said in ("3 × 2, reads cells 0 3 | 1 4 | 2 5", "begins at cell 3", "reads cells 0 2"):  # noqa: RUF001
        assert said in drawn
    # Beside its history the cells are still behind the words that announce them.
    computed = memory((m * m.clone().requires_grad_()).t()).svg
    assert "3 × 2, reads cells 0 3 | 1 4 | 2 5, grad_fn" in " ".join(words_in(computed))  # noqa: RUF001
    assert picture.svg.count('class="view dash h') == 1
    assert picture.svg.count('class="view h') == 3, "one mark below the row, two below the gap"
    assert "stride" not in drawn
    grid = memory(m=m)
    xs = {x for x, value in re.findall(r'x="([^"]*)" y="[^"]*">(\d\.0)<', grid.svg)}
    assert len(xs) == 3, "a matrix is drawn as one"
    assert not {"row", "stride", "2"} & set(" ".join(words_in(grid.svg)).split())


def test_five_tensors_fit_into_half_a_page_and_text_is_large(engine: ModuleType) -> None:
    names = run("a = torch.tensor(1., requires_grad=True)\ny = a ** 2\nb = a.clone()\nz = b * 3\n"
                "y.backward()\nz.backward()", engine)  # fmt: skip
    svg = memory(names).svg
    drawn = ET.fromstring(svg).attrib
    assert float(drawn["width"]) <= 480
    assert float(drawn["height"]) <= 200
    assert len(svg) < 6_000
    assert set(re.findall(r"font-size:(\d+)px", svg)) == {"12"}
    x = engine.tensor([1.0, 2.0, 3.0])
    drawn = ET.fromstring(memory(x=x, view=x[1:], copy=x + 10).svg).attrib
    assert float(drawn["width"]) <= 344, "a page of 390 px has about so much room"


def test_versions_keep_their_distance_from_the_words_before_them(engine: ModuleType) -> None:
    """Behind "grad_fn SumBackward0", whose letters are wide, there were 7 px, and less in some fonts."""
    x = engine.ones(3, requires_grad=True)
    svg = memory(loss=x.sum(), other=x @ x).svg
    ends = {}
    for begin, text in re.findall(r'<text class="m" x="([^"]*)"[^>]*>(grad_fn \w+)', svg):
        ends[text] = float(begin) + text_width(text, "m") + measure_excess(text)
    versions = re.findall(r'<text class="count-t b" x="([^"]*)"', svg)
    assert len(ends) == len(versions) == 2
    assert max(ends.values()) + 13 <= float(versions[0])


def test_cells_are_as_wide_in_all_storages_where_there_is_room(engine: ModuleType) -> None:
    """Three cells of 49 px were below three of 30, as if they were another kind of thing."""
    a = engine.tensor([1.0, 2.0, 3.0])
    b = engine.tensor([0.7311, 0.8808, 0.9526])
    boxes = r'<rect class="cell [^"]*"[^>]* width="([^"]*)"'
    assert len(set(re.findall(boxes, memory(a=a, b=b).svg))) == 1
    long = engine.arange(6.0)
    widths = [float(width) for width in re.findall(boxes, memory(a=a, b=b, long=long).svg)]
    assert widths[0] == widths[1] < widths[2] == 180, "its cells would need a wider picture"


def test_what_comes_later_takes_the_room_of_a_hazard_that_is_gone(engine: ModuleType) -> None:
    """Between `out` and the new `a.grad` there was an empty stripe, where the step before had a hazard."""
    a = engine.tensor([1.0, 2.0, 3.0], requires_grad=True)
    run_of_out, since = [], None
    for code in ("out = a.sigmoid()", "d = out.data", "d.zero_()", "out.sum().backward()"):
        names = {"a": a} if since is None else names  # noqa: F821
        exec(code, {}, names)
        seen = snapshot(names, since=since)
        run_of_out.append(compare_snapshots(seen, since))
        since = seen
    *_, last = memories_of(run_of_out)
    boxes = re.findall(
        r'<rect class="(?:band|box)" [^>]*y="([^"]*)"[^>]*height="([^"]*)"', last.svg
    )
    edges = sorted((float(y), float(y) + float(height)) for y, height in boxes)
    assert len(edges) == 3
    assert all(low[0] - up[1] < 6 for up, low in pairwise(edges))


def test_a_box_with_lanes_ends_below_its_rows_where_nothing_is_below_it(engine: ModuleType) -> None:
    """In the first step it was twice as high as what was in it, for a view that was still to come."""
    x = engine.tensor([1.0, 2.0, 3.0])
    first = snapshot(x=x)
    with_view = snapshot(x=x, v=x[1:], since=first)
    changes = [compare_snapshots(first, None), compare_snapshots(with_view, first)]
    box = r'<rect class="(?:band|box)" [^>]*height="([^"]*)"'
    heights = [float(re.findall(box, picture.svg)[0]) for picture in memories_of(changes)]
    assert heights[1] - heights[0] >= 32


def test_a_level_leaves_out_what_was_not_taught(engine: ModuleType) -> None:
    names = run("data", engine)
    drawn = {level: memory(names, level=level).svg for level in LEVELS}
    words = {level: set(words_in(svg)) for level, svg in drawn.items()}
    assert (
        words["names"]
        == words["storage"]
        == {
            *("a", "out", "c", "0.0", "1.0", "2.0", "3.0"),
            "3 tensors in 2 storages",
        }
    )
    for kind in ("band", "box"):
        assert f'class="{kind}"' not in drawn["names"]
        assert f'class="{kind}"' in drawn["storage"]
    assert words["counter"] - words["storage"] == {"v0", "v1"}
    assert words["graph"] - words["counter"] >= {"requires_grad", "off the graph"}
    assert drawn["graph"] == memory(names).svg
    assert "In trouble" not in memory(names, level="counter").text
    bundle = memory(names, level="names")._repr_mimebundle_()
    assert "every detail</summary>" in bundle["text/html"], "without a kernel"
    assert "every detail</summary>" not in memory(names)._repr_mimebundle_()["text/html"]
    with pytest.raises(ValueError, match="level must be one of names, storage, counter, graph"):
        memory(names, level="all")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="level= is of type str, not "):
        memory(level=names["a"])


@pytest.mark.parametrize("level", LEVELS)
def test_a_gradient_that_shares_memory_is_in_the_picture_of_each_level(
    level: str, engine: ModuleType
) -> None:
    """Without it the storage, and the counter, would be "of h alone"."""
    x = engine.ones(3, requires_grad=True)
    x.grad = engine.zeros(3)
    h = x.grad.detach()
    text = memory(x=x, h=h, level=level).text  # type: ignore[arg-type]
    assert "S2, one storage, shared by h and x.grad:" in text
    has_counters = level in {"counter", "graph"}
    assert ("shared by h and x.grad: at version 0." in text) == has_counters
    # One that shares nothing is shown where gradients are.
    text = memory(x=x, level=level).text  # type: ignore[arg-type]
    assert ("storage of x.grad alone" in text) == (level == "graph"), text


def test_bytes_are_those_of_the_storages_that_a_level_shows(engine: ModuleType) -> None:
    net = engine.nn.Linear(2, 1)
    net(engine.ones(1, 2)).sum().backward()
    assert "Memory: 2 tensors in 2 storages, 12 bytes." in memory(net, level="storage").text
    assert "Memory: 4 tensors in 4 storages, 24 bytes." in memory(net).text


@pytest.mark.parametrize(
    ("language", "size"), [("en", "0 bytes"), ("zh", "0 字节"), ("ko", "0바이트")]
)
def test_the_size_of_an_empty_storage_is_translated(language: str, size: str) -> None:
    set_language(language)
    text = memory(x=tinytorch.empty(0)).text
    assert size in text
    assert ("bytes" in text) == (language == "en")


def test_a_run_says_what_computed_a_tensor_until_something_else_does(engine: ModuleType) -> None:
    lines = ["a = torch.ones(1, requires_grad=True)", "b = a * 3", "c = b", "b += 1", "pass"]
    names: dict[str, Any] = {}
    last, changes = snapshot(names), []
    for line in lines:
        exec(line, {"torch": engine}, names)
        now = snapshot(names, since=last)
        changes.append(compare_snapshots(now, last))
        last = now
    drawn = [words_in(picture.svg) for picture in memories_of(changes, sources=lines)]
    assert ["from a * 3" in words for words in drawn] == [False, True, True, False, False]
    assert "grad_fn AddBackward0" in drawn[-1]
    assert "from a * 3" not in words_in(memory(last).svg), "without the lines it is not known"


def test_a_gradient_has_the_hue_of_its_leaf_and_no_dashes(engine: ModuleType) -> None:
    """A learner asked what the dashes around `x.grad` mean: a program calls it so, too."""
    svg = memory(run("gradient", engine)).svg
    found = re.findall(r'class="(name[^"]*)"[^>]*/><text[^>]*>([^<]*)<', svg)
    kinds = {name: kind for kind, name in found}
    assert kinds["x.grad"] == kinds["x"]
    assert 'class="name dash' not in svg


def test_stale_and_unseen_writes_are_marked(engine: ModuleType) -> None:
    stale = memory(run("stale", engine))
    line = "SigmoidBackward0 saved it at version 0, now at 1: backward will raise"
    assert line in stale.text
    assert "saved by SigmoidBackward0: backward will raise" in " ".join(words_in(stale.svg))
    unseen = memory(run("data", engine))
    line = "C3 counted 1 write here that C2 did not see: backward may be silently wrong"
    assert line in unseen.text
    drawn = words_in(unseen.svg)
    assert "saved by SigmoidBackward0: the gradient may be wrong" in " ".join(drawn)
    assert {"v0", "v1"} <= set(drawn)
    for picture in (stale, unseen):
        assert picture.svg.count('class="bad"') == picture.svg.count('class="bad-l"') == 1


def test_a_stale_tensor_that_is_not_known_is_not_said_to_have_no_name(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    y = x.sigmoid()
    y.zero_()
    snap = snapshot(x=x, y=y)
    nodes = tuple(
        replace(node, saved=tuple(replace(saved, tensor=None) for saved in node.saved))
        for node in snap.nodes
    )
    text = memory(replace(snap, nodes=nodes)).text
    line = "SigmoidBackward0 saved it at version 0, now at 1: backward will raise."
    assert text.count("saved it") == text.count(f"In trouble: a saved tensor: {line}") == 1


def test_a_stale_tensor_without_a_row_is_called_what_the_graph_calls_it(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    line = "saved it at version 0, now at 1: backward will raise"
    hidden = x.sigmoid()
    out = hidden.sum()
    hidden.zero_()
    del hidden
    picture = memory(x=x, out=out)
    assert f"\nIn trouble: T3 (no name): SigmoidBackward0 {line}." in picture.text
    assert "T3 (no name): SigmoidBackward0" in " ".join(words_in(picture.svg))
    assert picture.svg.count('class="bad"') == picture.svg.count('class="bad-l"') == 1
    hidden, second = x.sigmoid(), x.sigmoid()
    out = (hidden + second).sum()
    hidden.zero_(), second.zero_()
    del hidden, second
    text = memory(x=x, out=out).text
    both = "each of T3 (no name) and T4 (no name)"
    assert f"\nIn trouble: {both}: SigmoidBackward0 {line}." in text
    y = x.exp()
    out = (y[0] * 2).exp() + y[0].sin()
    y.mul_(1)
    assert f"\nIn trouble: y[0]: SinBackward0 {line}." in memory(y=y, out=out).text
    assert "saved self: y[0], STALE" in graph(out=out, y=y).text


def test_saves_that_differ_in_a_version_alone_are_drawn_once(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key says whether two hazards are one for the drawing: a number in the caption changes nothing."""
    x = engine.ones(3, requires_grad=True)
    y = x * 1
    first = y.sin()
    y.add_(1)
    second = y.sin()
    y.add_(1)
    names = {"y": y, "out": first + second}

    def add_version(sentence: str, saved: SavedRecord) -> str:
        return f"{sentence} [{saved.saved_version}]"

    for expected in (["backward will raise"], ["backward will raise [0]"]):
        picture = memory(**names)
        for version in (0, 1):
            assert f"SinBackward0 saved it at version {version}, now at 2" in picture.text
        lines = re.findall(r'<text class="bad-t b"[^>]*>([^<]*)', picture.svg)
        assert " ".join(lines).split(": ")[1:] == expected, lines
        monkeypatch.setattr(hazard_sentences, "add_lines_that_wrote", add_version)


def test_every_hazard_of_a_tensor_without_a_row_is_said(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    with watch():
        hidden = x.sigmoid()
        out = hidden.sum()
        hidden.data.zero_()
        text = memory(x=x, out=out).text
        line = "SigmoidBackward0 saved it, and a write that was not counted changed it"
        assert f"\nIn trouble: T3 (no name): {line}" in text
        assert f"    In trouble: {line}" in memory(x=x, out=out, hidden=hidden).text
    hidden = x * 2
    out = (hidden * hidden).sum()
    hidden.detach_()
    line = "MulBackward0 saved it, and detach_() has cut it off its history since"
    consequence = "backward will raise"
    # What was saved cannot be opened, so without `hidden` there is nothing to find it by.
    text = memory(x=x, out=out).text
    assert f"\nIn trouble: a saved tensor: {line}: {consequence}." in text
    assert f"    In trouble: {line}: {consequence}." in memory(x=x, out=out, hidden=hidden).text
    hidden = x.sigmoid()
    data = hidden.data
    out = hidden.sum()
    data.zero_()
    line = "counted 1 write here that its own counter did not see: backward may be silently wrong"
    text = memory(x=x, data=data, out=out).text
    assert f"\nIn trouble: the memory of data: C2 {line}." in text
    leaf = engine.ones(3, requires_grad=True)
    leaf.grad = engine.zeros(1).expand(3)
    out = (leaf * 2).sum()
    line = "backward will raise: T2 (no name).grad is expanded"
    assert f"\nIn trouble: {line}" in memory(out=out).text
    assert "In trouble" not in memory(out=out, level="counter").text


def test_a_write_before_the_save_through_the_same_counter_is_no_fault(engine: ModuleType) -> None:
    a = engine.ones(2, requires_grad=True)
    b = a * 1
    b.add_(1)
    out = b.exp()
    assert "In trouble" not in memory(a, b, out).text


def test_names_of_one_tensor_do_not_touch(engine: ModuleType) -> None:
    x = engine.ones(2)
    before = snapshot(x=x)
    svg = memory(snapshot(since=before, x=x, y=x, z=x), since=before).svg
    block, *boxes = re.findall(
        r'<rect class="name[^>]* y="([^"]*)" width="[^"]*" height="([^"]*)"', svg
    )
    assert len(boxes) == 3
    assert float(block[0]) == float(boxes[0][0])
    assert float(block[0]) + float(block[1]) == float(boxes[2][0]) + float(boxes[2][1])
    for (upper, height), (lower, _) in pairwise(boxes):
        # The edge of a new name is 2 px wide, and half of it is outside of the box.
        assert float(lower) - float(upper) - float(height) - 2 >= 4


def test_two_names_of_one_tensor_are_not_drawn_as_two_tensors_over_one_memory(
    engine: ModuleType,
) -> None:
    """`b = a` and `b = a.detach()` had the same picture: two names, two arrows, one box."""
    a = engine.ones(2)
    for b, arrows, boxes in ((a, 1, 3), (a.detach(), 2, 2)):
        svg = memory(a=a, b=b, level="names").svg
        assert svg.count('<path class="arrow"') == arrows
        assert svg.count('<rect class="name') == boxes


@pytest.mark.parametrize("language", ["en", "zh", "ko"])
def test_what_changed_does_not_run_into_what_the_version_was(
    language: str,
) -> None:
    """The words "now AddBackward0" and "was 0" were in one ink, and nothing was between them."""
    set_language(language)
    x = tinytorch.ones(3, requires_grad=True) * 2
    before = snapshot(x=x)
    x += 1
    svg = memory(snapshot(since=before, x=x), since=before).svg
    lines = re.findall(r'<text class="new-t b" x="([^"]*)"[^>]*>([^<]*AddBackward0[^<]*)<', svg)
    found = re.search(r'<text class="new-t" x="([^"]*)"[^>]*>([^<]*)<', svg)
    assert lines
    assert found
    begin = float(found[1])
    for x_of_line, text in lines:
        # DejaVu Sans Bold, which many have, draws these 1.06 times as wide as they are counted.
        assert float(x_of_line) + 1.06 * text_width(text, "new-t b") + 8 <= begin


def test_what_changed_is_said_in_words_too(engine: ModuleType) -> None:
    x = engine.tensor([1.0, 2.0, 3.0])
    y = x.detach()
    before = snapshot(x=x, y=y)
    y.add_(1)
    z = x
    picture = memory(snapshot(since=before, x=x, z=z), since=before)
    drawn = words_in(picture.svg)
    assert {"was", "1.0", "2.0", "3.0", "was 0", "new", "no longer there: y"} <= set(drawn)
    assert picture.svg.count('class="new"') == 3, "each cell that changed is marked"
    assert "z is a new name" in picture.text
    assert "at version 1 (was 0)" in picture.text
    nothing = memory(before, since=before)
    assert "was" not in nothing.text
    assert "new" not in nothing.text


def test_a_nan_that_stays_is_no_change(engine: ModuleType) -> None:
    x = engine.tensor([float("nan"), 1.0])
    before = snapshot(x=x)
    assert "changed" not in memory(snapshot(x=x), since=before).text


def test_the_same_picture_every_time(engine: ModuleType) -> None:
    first, second = (memory(run("network", engine)) for _ in range(2))
    assert first.svg == second.svg
    assert first.text == second.text


def test_ten_million_cells_stay_readable(engine: ModuleType) -> None:
    picture = memory(big=engine.zeros(10_000_000))
    assert len(picture.svg) < 20_000
    assert "10,000,000 cells of float32, 40,000,000 bytes" in picture.text
    assert "10,000,000 cells min 0.0, max 0.0, mean 0.0" in " ".join(words_in(picture.svg))


def test_what_changed_in_cells_that_are_not_drawn_is_said(engine: ModuleType) -> None:
    big = engine.zeros(10, 10)
    before = snapshot(big=big)
    big[0, 0] = 5
    first = memory(snapshot(since=before, big=big), since=before)
    assert "cell 0 was 0.0" in words_in(first.svg)
    before = snapshot(big=big)
    big[5, 5] = 7
    second = memory(snapshot(since=before, big=big), since=before)
    assert "Changed: cells that are not shown have changed." in second.text
    assert "cells that are not shown have changed" in " ".join(words_in(second.svg))


def test_as_much_is_written_out_as_is_shown(engine: ModuleType) -> None:
    big = engine.zeros(10_000_000).reshape(2, 5_000_000)
    snap = snapshot(big=big, column=big[:, 1])
    tracemalloc.start()
    try:
        assert "10,000,000 cells" in memory(snap).text
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ("torch.empty(0)", "no cells"),
        ("torch.tensor(3.5)", "0: 3.5"),
        ("torch.tensor([float('nan'), float('inf')])", "0: nan, 1: inf"),
        ("torch.tensor([True])", "0: True"),
        ("torch.ones(2, 1).expand(2, 3)", "covers cells 0, 0, 0, 1, 1, 1"),
    ],
)
def test_odd_tensors(make: str, said: str, engine: ModuleType) -> None:
    picture = memory(run(f"x = {make}", engine))
    assert said in picture.text
    ET.fromstring(picture.svg)


def test_no_tensors_is_said() -> None:
    assert memory().text == "Memory: no tensors to show."
    assert "no tensors to show" in words_in(memory({}).svg)


@pytest.mark.torch
def test_inference_tensors_and_other_dtypes() -> None:
    import torch

    with torch.inference_mode():
        inferred = torch.ones(2)
    assert "no version counter (an inference tensor)" in memory(i=inferred).text
    assert "view(dtype)" not in memory(v=torch.zeros(2, dtype=torch.float64).view(torch.int32)).text


@pytest.mark.torch
def test_a_view_with_an_invalid_history_is_shown() -> None:
    import torch

    base = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        view = base[:2]
        view.add_(1)
    assert "its grad_fn is invalid" in memory(base=base, view=view).text


def test_numpy_memory_seen_through_two_storages_is_one(engine: ModuleType) -> None:
    x = engine.ones(3)
    y = engine.from_numpy(x.numpy())
    y.add_(1)
    told = memory(x=x, y=y).text
    assert "one storage, shared by x and y" in told
    assert "version counter C1, of x alone: at version 0" in told
    assert "version counter C2, of y alone: at version 1" in told


class _Images(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.in_words = ""
        self.is_in_words = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"img", "div", "details", "summary", "pre"}
        self.is_in_words = tag == "pre"
        if tag == "img":
            self.found.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        if self.is_in_words:
            self.in_words += data


@pytest.mark.parametrize("draw", [memory, graph])
def test_notebooks_get_an_image_with_the_whole_text_below(
    draw: Callable[..., Any], engine: ModuleType
) -> None:
    """graph(y) had no fold for its text, and memory(y) had one at a low level alone."""
    picture = draw({"<b>&\"'": engine.ones(2, requires_grad=True) * 2})
    shown = picture._repr_mimebundle_()
    assert shown["text/plain"] == picture.text
    parser = _Images()
    parser.feed(shown["text/html"])
    assert parser.found[0]["alt"] == picture.text.partition("\n")[0]
    assert "this picture in words</summary>" in shown["text/html"]
    assert parser.in_words == picture.text


def test_saving(tmp_path: Path, engine: ModuleType) -> None:
    picture = memory(x=engine.ones(2))
    assert isinstance(picture, Picture)
    assert picture.save(tmp_path / "a.svg").read_text() == picture.svg
    assert picture.save(tmp_path / "a.txt").read_text() == picture.text + "\n"
    with pytest.raises(ValueError, match=r"must end in \.svg, \.png, \.pdf or \.txt"):
        picture.save(tmp_path / "a.bmp")


@pytest.mark.parametrize("draw", [memory, graph])
def test_a_name_that_says_another_kind_of_file_is_refused(draw: Any, tmp_path: Path) -> None:
    picture = draw(x=tinytorch.ones(2, requires_grad=True) * 2)
    old = tmp_path / "old.gif"
    old.write_text("old")
    for name in ("old.gif", "a.bmp", "a.html", "a.ipynb", "a.svgz", "a.svg.bak"):
        with pytest.raises(
            ValueError,
            match=rf"cannot save .* as '{name}': the name must end in \.svg, \.png, \.pdf or",
        ):
            picture.save(str(tmp_path / name))
    assert (old.read_text(), [*tmp_path.iterdir()]) == ("old", [old])


@pytest.mark.parametrize("draw", [memory, graph])
def test_endings_are_read_in_capitals_and_old_files_replaced(draw: Any, tmp_path: Path) -> None:
    picture = draw(x=tinytorch.ones(2, requires_grad=True) * 2)
    for name, content in (("A.SVG", picture.svg), ("a.Txt", picture.text + "\n")):
        (tmp_path / name).write_text("x" * 1_000_000)
        assert str(picture.save(str(tmp_path / name))) == str(tmp_path / name)
        assert (tmp_path / name).read_text("utf-8") == content
    (tmp_path / "folder.svg").mkdir()
    for name in ("folder.svg", "missing/a.svg"):
        with pytest.raises(OSError, match=re.escape(name)):
            picture.save(tmp_path / name)
    assert not (tmp_path / "missing").exists()


def test_what_cannot_be_drawn_leaves_the_old_file(tmp_path: Path) -> None:
    def draw() -> str:
        raise LayoutError("no Graphviz")

    (tmp_path / "a.svg").write_text("old")
    with pytest.raises(LayoutError):
        Picture(draw, lambda: "words").save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "old"


def test_png_and_pdf_are_made_or_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = memory({"x": tinytorch.ones(2), "\u65e5\u672c <&>": tinytorch.ones(1)})
    light, dark = picture.save(tmp_path / "a.png"), picture.save(tmp_path / "b.png", theme="dark")
    assert light.read_bytes().startswith(b"\x89PNG")
    width, height = (int.from_bytes(light.read_bytes()[at : at + 4]) for at in (16, 20))
    drawn = ET.fromstring(picture.svg).attrib
    assert (width, height) == (2 * int(drawn["width"]), 2 * int(drawn["height"]))
    assert light.read_bytes() != dark.read_bytes()
    paper = picture.save(tmp_path / "a.pdf")
    assert paper.read_bytes().startswith(b"%PDF-1.")
    assert b"/Font" in paper.read_bytes(), "text stays text"
    monkeypatch.setitem(sys.modules, "typst", None)
    for name in ("c.png", "c.pdf"):
        with pytest.raises(
            ImportError, match=r"pip install typst.*save as \.svg, which a browser opens"
        ):
            picture.save(tmp_path / name)


def test_colours_follow_the_page_or_are_fixed(engine: ModuleType) -> None:
    picture = memory(x=engine.ones(2))
    assert "prefers-color-scheme:dark" in picture.svg
    assert not re.search(r"(?:fill|stroke):#", picture.svg), (
        "every colour is a variable with a fallback"
    )
    for theme in ("light", "dark", "print"):
        assert "var(" not in picture.svg_in_theme(theme)
    with pytest.raises(ValueError, match="theme must be"):
        picture.svg_in_theme("pink")


@pytest.mark.parametrize("program", PROGRAMS)
def test_words_and_picture_tell_the_same_facts(program: str, engine: ModuleType) -> None:
    names = run(program, engine)
    snap = snapshot(names)
    picture = memory(snap)
    drawn = " ".join(words_in(picture.svg))
    for tensor in snap.tensors:
        if tensor.role != "named":
            continue
        assert str(tensor.shape) in picture.text
        assert str(tensor.stride) in picture.text
        assert all(name in drawn and name in picture.text for name in tensor.names)
    for counter in snap.counters:
        if any(snap.tensor(tid).role == "named" for tid in counter.tensors):
            assert f"v{counter.version}" in drawn.split()
            assert re.search(
                rf"version counter {counter.id}, .*: at version {counter.version}\.", picture.text
            )


@pytest.mark.browser
def test_pictures_of_different_themes_keep_their_colours_on_one_page() -> None:
    sync_api = pytest.importorskip("playwright.sync_api")

    x = tinytorch.ones(2)
    grounds = "[...document.querySelectorAll('.page')].map((page) => getComputedStyle(page).fill)"
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = browser.new_page(color_scheme="dark")
            picture = memory(x=x)
            host = f'<div style="--tt-bg:rgb(1,2,3)">{picture.svg}</div>'
            page.set_content(
                picture.svg + picture.svg_in_theme("light") + picture.svg_in_theme("dark") + host
            )
            assert page.evaluate(grounds) == [
                "rgb(17, 17, 17)",
                "rgb(255, 255, 255)",
                "rgb(17, 17, 17)",
                "rgb(1, 2, 3)",
            ]
        finally:
            browser.close()


def test_no_counter_of_a_run_covers_another() -> None:
    x = tinytorch.ones(2)
    other = x.data
    before = snapshot(x=x, other=other)
    after = snapshot(x=x, other=other, view=x[:1], since=before)
    *_, last = memories_of([compare_snapshots(before, None), compare_snapshots(after, before)])
    one, two = (float(y) for y in re.findall(r'<text class="count-t b"[^>]* y="([^"]*)"', last.svg))
    assert abs(one - two) >= 30


def test_a_gradient_shows_its_counter_only_under_a_name_of_its_own(engine: ModuleType) -> None:
    names = run("gradient", engine)
    assert "of x.grad alone" not in memory(names).text.replace("storage of x.grad alone", "")
    names["g"] = names["x"].grad
    assert "version counter C3, of g alone" in memory(names).text


def test_a_gradient_of_another_name_is_said_to_be_one(engine: ModuleType) -> None:
    """The clinic's list of gradients was drawn beside its leaf as if the two had nothing in common."""
    x = engine.ones(1, requires_grad=True)
    (x * 2).sum().backward()
    assert not any(".grad is" in words for words in words_in(memory(x=x).svg))
    assert "requires_grad, .grad is g" in words_in(memory(x=x, g=x.grad).svg)
    assert "requires_grad, .grad is grads.0" in words_in(memory(x=x, grads=[x.grad] * 2).svg)
    assert ".grad is grads.0 = grads.1" in memory(x=x, grads=[x.grad] * 2).text


def test_cells_of_strange_views_are_those_that_they_have(engine: ModuleType) -> None:
    x = engine.arange(8.0)
    strange = snapshot(x=x, v=x.as_strided((2, 3), (3, 2))).tensor("v")
    found = {cell: strange.index_at(4 * cell) for cell in range(9)}
    assert {cell: index for cell, index in found.items() if index is not None} == {
        0: (0, 0), 2: (0, 1), 3: (1, 0), 4: (0, 2), 5: (1, 1), 7: (1, 2),
    }  # fmt: skip
    wide = engine.arange(4.0).double()
    narrow = wide.view(engine.float32)[2:6]
    text = memory(wide, narrow).text
    assert "covers cells 0 to 3." in text
    assert "covers cells 2 to 5 of 4 bytes each." in text


def test_an_array_that_skips_the_storage_does_not_share_it(engine: ModuleType) -> None:
    array = np.zeros(20, dtype=np.float32)
    t = engine.from_numpy(array[4:6])
    beside, through = array[3::4], array[5::4]
    assert "storage of t alone" in memory(t=t, beside=beside).text
    assert "shared by t and through (a NumPy array)" in memory(t=t, through=through).text


def test_words_that_half_a_page_would_cut_are_below_the_cells(engine: ModuleType) -> None:
    code = """
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
probabilities = a.log_softmax(0)
d = probabilities.detach()
d[0] = 0
"""
    svg = memory(run(code, engine)).svg
    assert {"LogSoftmaxBackward0:", "backward will raise"} <= set(words_in(svg))
    found = re.search(r' viewBox="0 0 (\d+) ', svg)
    assert found
    assert int(found[1]) <= 500
    # Below the cells of `a` there is nothing to say.
    assert 'class="view h1"' not in svg
    assert svg.count('class="view ') == 2


def test_hazards_that_a_telephone_would_cut_are_below_the_rows(engine: ModuleType) -> None:
    code = """
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
out = a.sigmoid()
d = out.data
d[0] = 0
"""
    svg = memory(run(code, engine)).svg
    found = re.search(r' viewBox="0 0 (\d+) ', svg)
    assert found
    assert int(found[1]) <= 416
    lines = re.findall(r'<text class="bad-t b" x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)', svg)
    assert "".join(text + " " for _, _, text in lines).startswith("out, saved by SigmoidBackward0:")
    # At the left edge, under the names; the arrows meet in the cells.
    assert {x for x, _, _ in lines} == {"26"}
    names = re.findall(r'<text class="t mono b c" x="[^"]*" y="([^"]*)">', svg)
    assert min(float(y) for _, y, _ in lines) > max(map(float, names))
    assert 'class="view ' not in svg


def test_facts_are_in_one_line_where_a_telephone_has_room(engine: ModuleType) -> None:
    """They were broken to be 371 px wide, although that made no picture lower than in 404."""
    w = engine.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    svg = memory(previous=w, latest=w.detach()).svg
    assert "requires_grad" in words_in(svg)
    assert float(ET.fromstring(svg).attrib["width"]) <= 404


def test_words_beside_narrow_cells_begin_at_these_where_they_would_be_broken_often(
    engine: ModuleType,
) -> None:
    """Those of a loss had four lines right of the cells of the widest tensor, and room beside its own."""
    w = engine.tensor([[0.1234, 0.2345, 0.3456]], requires_grad=True)
    x = engine.ones(3)
    loss = same = ((w * x).sum() - 1) ** 2
    svg = memory(w=w, loss=loss, same=same, x=x).svg
    assert {"one tensor, 2 names", "grad_fn PowBackward0"} <= set(words_in(svg))
    begins = re.findall(r'<text class="m" x="([^"]*)"[^>]*>(?:one tensor|1 . 3,)', svg)
    assert float(begins[1]) < float(begins[0]), "the words of w stay right of its cells"
    found = re.search(r' viewBox="0 0 (\d+) ', svg)
    assert found
    assert int(found[1]) <= 404


def test_a_name_that_went_on_to_another_tensor_is_not_said_twice(engine: ModuleType) -> None:
    """In a player the words beside a loss had four lines: the first two began with its name."""
    x = engine.ones(2)
    before = snapshot(x=x)
    y = x * 2
    one, two = memory(x=y, since=before), memory(x=y, y=y, since=before)
    assert "now another tensor" in words_in(one.svg)
    assert "x is now another tensor" in " ".join(words_in(two.svg))
    assert "x is now another tensor" in one.text


def test_no_word_is_alone_in_the_last_line_and_the_ground_is_wider_than_words(
    engine: ModuleType,
) -> None:
    x = engine.tensor([1.0, 2.0], requires_grad=True)
    y = x.sigmoid()
    y[0] = 0.0
    svg = memory(x=x, y=y).svg
    lines = re.findall(r'<text class="bad-t b" x="([^"]*)"[^>]*>([^<]*)', svg)
    assert [text for _, text in lines] == ["saved by SigmoidBackward0:", "backward will raise"]
    ground = re.search(r'<rect class="bad" x="([^"]*)"[^>]* width="([^"]*)"', svg)
    assert ground
    right_of_words = float(lines[0][0]) + text_width(lines[0][1], "bad-t b")
    assert float(ground[1]) + float(ground[2]) - right_of_words >= 8


def test_a_picture_is_the_same_after_pickling(engine: ModuleType) -> None:
    """It was made of functions within functions, which have no pickle."""
    x = engine.arange(6.0, requires_grad=True)
    y = x.view(2, 3).exp()
    for picture in (
        memory(x=x, y=y),
        memory(engine.nn.Linear(40, 40)),
        memory(x=x, y=y, level=LEVELS[-1]),
    ):
        loaded = pickle.loads(pickle.dumps(picture))
        assert (loaded.svg, loaded.text, loaded.title) == (picture.svg, picture.text, picture.title)
        assert loaded._repr_mimebundle_() == picture._repr_mimebundle_()


def _muted_lines(svg: str) -> list[tuple[float, str]]:
    """Give the lines of what is neither a hazard nor a change, each below its y."""
    found = re.findall(r'<text class="m" x="[^"]*" y="([^"]*)"[^>]*>([^<]*)', svg)
    return [(float(y), text) for y, text in found]


def _draw_rest_of_lesson(engine: ModuleType) -> str:
    a = engine.ones(2, 2, requires_grad=True)
    y = a * 2 + 1
    v = y.view(4)
    b = y.clone()
    b.retain_grad()
    (b * 3).sum().backward()
    b.transpose_(0, 1)
    return memory(a=a, y=y, v=v, b=b).svg


def test_captions_break_between_facts_and_not_within_a_list_of_cells(engine: ModuleType) -> None:
    """Of "reads cells 0 2 | 1" the next line was "3, grad_fn TransposeBackward1"."""
    lines = [text for _, text in _muted_lines(_draw_rest_of_lesson(engine))]
    assert f"2{TIMES}2, reads cells 0 2 | 1 3," in lines
    assert "grad_fn TransposeBackward1" in lines
    assert f"2{TIMES}2, row by row," in lines


def test_two_captions_are_not_read_as_one(engine: ModuleType) -> None:
    """That of y ended in "AddBackward0", and close below it that of v began with "grad_fn"."""
    lines = _muted_lines(_draw_rest_of_lesson(engine))
    texts = [text for _, text in lines]
    last = texts.index("AddBackward0")
    assert texts[last + 1 : last + 3] == ["grad_fn", "ViewBackward0"]
    distance, within = lines[last + 1][0] - lines[last][0], lines[last + 2][0] - lines[last + 1][0]
    assert distance >= within + 10


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("2 by 2, row by row, from a * 2 + 1", 16, ["2 by 2,", "row by row,", "from a * 2 + 1"]),
        # Of a fact that is longer than a line the words are broken, and the next has its own line.
        ("stride (2, 1), offset 3", 11, ["stride", "(2, 1),", "offset 3"]),
        ("from cat([a, b], 1), v0", 22, ["from cat([a, b], 1),", "v0"]),
        ("leaf\uff0c需要梯度\uff0c来自 a * 2", 12, ["leaf\uff0c", "需要梯度\uff0c", "来自 a * 2"]),
    ],
)
def test_a_caption_is_broken_behind_a_comma(text: str, columns: int, lines: list[str]) -> None:
    assert memory_rows._wrap_evenly(text, columns) == lines


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("from (x ** 2).sum()", 14, ["from", "(x ** 2).sum()"]),
        ("from a * 2 + b * 3", 14, ["from a * 2", "+ b * 3"]),
        # Where no such lines would do, any space does.
        ("from (y[0] * w.detach()).sum()", 18, ["from (y[0] *", "w.detach()).sum()"]),
    ],
)
def test_a_caption_is_broken_between_terms(text: str, columns: int, lines: list[str]) -> None:
    """Beside the cells of a sum, "2).sum()" was below "from (x **"."""
    assert memory_rows._wrap_evenly(text, columns) == lines
