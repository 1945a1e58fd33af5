"""Large graphs and many tensors: folded so that a picture can be read, opened without a kernel, and nothing lost."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import tinytorch
from tinytorch.viz import GraphPicture, Picture, Snapshot, explain, graph, memory, modules, snapshot
from tinytorch.viz.diagnose.diff import compare_snapshots
from tinytorch.viz.render.picture import MOST_CHARACTERS
from tinytorch.viz.render.style import LARGEST_SIDE
from tinytorch.viz.show.select_nodes import NodeFold, NodeSelection, select_nodes

# Times and sizes, which are much the same with and without PyTorch: the short runs leave them out.
# What is asked of the greatest and the most is asked once a week.
pytestmark = pytest.mark.slow

Tensors = dict[str, Any]


def stack(engine: ModuleType, layers: int = 12) -> Any:
    """A model of equal layers, each with a way around it, and its loss."""
    nn = engine.nn

    class Layer(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.up, self.act, self.down = nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            return x + self.down(self.act(self.up(x)))

    class Net(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.layers = (
                nn.Linear(3, 4),
                nn.ModuleList([Layer() for _ in range(layers)]),
            )
            self.last = nn.Linear(4, 1)

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            for layer in self.layers:
                x = layer(x)
            return self.last(x)

    return Net()


def layers(engine: ModuleType) -> Tensors:
    net = stack(engine)
    return {"net": net, "loss": net(engine.ones(2, 3)).sum()}


def twice(engine: ModuleType) -> Tensors:
    net = stack(engine)
    return {"net": net, "loss": net(engine.ones(2, 3)).sum() + net(engine.zeros(2, 3)).sum()}


def stale(engine: ModuleType) -> Tensors:
    """A step between forward and backward: every weight was written after it was saved."""
    net = stack(engine, 30)
    loss = net(engine.ones(2, 3)).sum()
    with engine.no_grad():
        for parameter in net.parameters():
            parameter.add_(1)
    return {"net": net, "loss": loss}


def loop(engine: ModuleType) -> Tensors:
    """A recurrent cell of 100 steps."""
    w, u = engine.ones(3, 3, requires_grad=True), engine.ones(3, 3, requires_grad=True)
    h = x = engine.ones(1, 3)
    for _ in range(100):
        h = (x @ w + h @ u).tanh()
    return {"w": w, "u": u, "h": h}


def tangle(engine: ModuleType) -> Tensors:
    results = [engine.ones(1, requires_grad=True)]
    for i in range(400):
        results.append(results[i] * results[i // 2])
    return {"y": results[-1]}


def one_node_of_many(engine: ModuleType) -> Tensors:
    return {"y": engine.cat([engine.ones(1, requires_grad=True) for _ in range(1000)]).sum()}


def named(engine: ModuleType) -> Tensors:
    made = [engine.ones(1, requires_grad=True)]
    for _ in range(500):
        made.append(made[-1] * 2)
    return {"made": made}


def views(engine: ModuleType) -> Tensors:
    flat = engine.zeros(3000)
    return {"flat": flat, "views": [flat[10 * k : 10 * k + 10] for k in range(300)]}


CASES: list[Callable[[ModuleType], Tensors]] = [
    layers,
    twice,
    stale,
    loop,
    tangle,
    one_node_of_many,
    named,
    views,
]


def size(svg: str) -> tuple[int, int]:
    root = ET.fromstring(svg)
    return int(root.attrib["width"]), int(root.attrib["height"])


def html_of(picture: Picture | GraphPicture) -> str:
    return str(picture._repr_mimebundle_()["text/html"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_no_picture_is_too_large(case: Callable[[ModuleType], Tensors], engine: ModuleType) -> None:
    snap = snapshot(case(engine))
    start = time.process_time()
    for picture in (graph(snap), memory(snap)):
        assert max(size(picture.svg)) <= LARGEST_SIDE
        html = html_of(picture)
        assert len(html) <= MOST_CHARACTERS
        assert "\n" not in html, "Markdown would end it"
        assert "<script" not in html, "not every page runs one"
    assert time.process_time() - start < 8, "a second or less on an idle machine"


def opened(seen: NodeSelection) -> Iterator[NodeSelection]:
    yield seen
    for item in seen.entries:
        if isinstance(item, NodeFold) and item.inside is not None:
            yield from opened(item.inside())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_nothing_is_lost_and_what_is_told_as_equal_is_so(
    case: Callable[[ModuleType], Tensors], engine: ModuleType
) -> None:
    snap = snapshot(case(engine))
    top = select_nodes(compare_snapshots(snap, None))
    inside = [
        name
        for item in top.entries
        for name in (item.nodes if isinstance(item, NodeFold) else [item.id])
    ]
    assert sorted(inside) == sorted(node.id for node in snap.nodes)
    for seen in opened(top):
        for fold in seen.entries:
            if isinstance(fold, NodeFold) and fold.times > 1:
                made = [name for name in fold.nodes if snap.node(name).variable is None]
                step = len(made) // fold.times
                rounds = [made[k : k + step] for k in range(0, len(made), step)]
                assert len({tuple(_told(snap, name) for name in one) for one in rounds}) == 1
                assert len(rounds) == fold.times
        for item in seen.entries:
            ends = item.ends
            assert all(end in seen.entry_of or end in seen.outside for end in ends)
            later = [seen.entry_of[end] for end in ends if end in seen.entry_of]
            assert item.id not in later, "folded as they are, entries never lead back"


def _told(snap: Snapshot, which: str) -> object:
    node = snap.node(which)
    return node.name, len(node.edges), [(one.name, one.state) for one in node.saved].__repr__()


def test_layers_fold_as_so_many_times(engine: ModuleType) -> None:
    tensors = layers(engine)
    picture = graph(tensors)
    assert re.search(
        r"^F1 net\.layers\.0 to 11, 12 times: \d+ nodes folded", picture.text, re.MULTILINE
    )
    assert (
        "Note: a fold is named after modules whose tensors are read by nodes in it." in picture.text
    )
    assert "net.layers.0 to 11, 12 times" in picture.source
    with modules(net=tensors["net"]):
        loss = tensors["net"](engine.ones(2, 3)).sum()
    assert "Note: a fold is named after modules whose forward made nodes in it." in graph(loss).text
    assert "F1 net.layers.0 to 11, 12 times" in graph(loss).text, (
        "and no tensor needs a name for that"
    )


def test_a_loop_folds_as_so_many_times(engine: ModuleType) -> None:
    assert re.search(r"^F1 9\d times: \d+ nodes folded", graph(loop(engine)).text, re.MULTILINE)


def test_two_edges_that_are_equal_each_in_another_way_are_no_repetition(engine: ModuleType) -> None:
    assert "times: " not in graph(tangle(engine)).text


def test_what_is_in_trouble_is_in_view_and_the_rest_is_counted(engine: ModuleType) -> None:
    picture = graph(stale(engine))
    alone = re.findall("STALE", picture.text)
    folded = [int(number) for number in re.findall(r"saved: (\d+) stale", picture.text)]
    assert len(alone) >= 8
    assert len(alone) + sum(folded) == sum(
        saved.state == "stale" for node in snapshot(stale(engine)).nodes for saved in node.saved
    )
    assert 'class="bad' in picture.svg


def test_memory_in_trouble_is_in_view_and_the_rest_is_counted(engine: ModuleType) -> None:
    parts = [
        {"a": engine.ones(1, requires_grad=True), "b": engine.ones(1, requires_grad=True)}
        for _ in range(50)
    ]
    y = engine.ones(1)
    for part in parts:
        y = y * part["a"] * part["b"]
    with engine.no_grad():
        for part in parts:
            part["a"].add_(1)
    picture = memory(parts=parts, y=y)
    alone = re.findall("In trouble", picture.text)
    folded = [int(number) for number in re.findall(r"(\d+) in trouble\.", picture.text)]
    assert len(alone) == 8
    assert sum(folded) == 49 - 8, "the first was multiplied with what needs no gradient"
    assert 'class="bad"' in picture.svg


def test_one_stale_node_among_many_is_unfolded(engine: ModuleType) -> None:
    net = stack(engine)
    loss = net(engine.ones(2, 3)).sum()
    net.layers[5].down.weight.data = net.layers[5].down.weight.data.clone()
    with engine.no_grad():
        net.layers[5].down.weight.add_(1)
    seen = select_nodes(compare_snapshots(snapshot(net=net, loss=loss), None))
    wrong = [
        item
        for item in seen.entries
        if not isinstance(item, NodeFold) and any(s.state == "stale" for s in item.saved)
    ]
    labels = [item.label for item in seen.entries if isinstance(item, NodeFold)]
    assert len(wrong) == 1
    assert "net.layers.0 to 4" in labels
    assert "net.layers.6 to 11" in labels


def test_what_is_looked_for_is_unfolded_and_marked(engine: ModuleType) -> None:
    tensors = layers(engine)
    picture = graph(tensors, find="layers.1")
    assert len(re.findall(r"^N\d+ .*\(found\)$", picture.text, re.MULTILINE)) > 5
    assert "net.layers.10" not in picture.text, "layers.1 is not layers.10"
    assert ">found<" in picture.svg
    assert "found" in picture.source
    kinds = graph(tensors, find="tanh")
    assert re.search(r"TanhBackward0 \(found\)$", kinds.text, re.MULTILINE)
    for wrong in (graph(tensors, find="nix"), memory(tensors, find="nix")):
        assert "nothing here is called nix" in wrong.text.lower()
    there = memory(tensors, find="layers.1.up")
    assert "storage of net.layers.1.up.weight alone" in there.text
    assert ">found<" in there.svg
    assert "storage of net.layers.10.up.weight" not in there.text


@pytest.mark.parametrize("name", ["find", "fold"])
def test_a_tensor_that_is_called_like_an_argument_is_refused_with_a_way_out(
    name: str, engine: ModuleType
) -> None:
    for draw in (graph, memory):
        with pytest.raises(TypeError, match=f'{name}= is of type .*"{name}": {name}'):
            draw(**{name: engine.ones(2)})
        assert name in draw({name: engine.ones(2)}).text


@pytest.mark.stress
def test_all_of_it_is_drawn_where_that_is_asked_for(engine: ModuleType) -> None:
    net = stack(engine, 27)
    tensors = {"net": net, "loss": net(engine.ones(2, 3)).sum()}
    picture, whole = graph(tensors), graph(tensors, fold=False)
    assert "folded" not in whole.text
    assert size(whole.svg)[1] > LARGEST_SIDE > size(picture.svg)[1]
    assert "storage of net.layers.7.up.bias alone" in memory(tensors, fold=False).text
    assert "<details" not in html_of(whole)


def test_memory_folds_what_is_alone_and_well(engine: ModuleType) -> None:
    tensors = layers(engine)
    net = tensors["net"]
    tensors["view"] = net.layers[3].up.weight.detach()
    told = memory(tensors).text
    assert (
        "net.layers.4 to 11, 8 times: 32 tensors, 2,432 bytes, each alone in its storage." in told
    )
    assert "one storage, shared by net.layers.3.up.weight and view" in told
    html = unescape(html_of(memory(tensors)))
    assert len(re.findall(r"net\.layers\.\d+\.up\.bias: shape", html)) >= 11, (
        "each is told where its fold is opened"
    )
    many = memory(xs=[engine.ones(2) for _ in range(100)]).text
    assert "xs.0 to xs.99: 100 tensors, 800 bytes, each alone in its storage." in many


class _Page(HTMLParser):
    """Details, and how deeply each is nested in others."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.deepest = 0
        self.kinds: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds.add(tag)
        assert all(value is None or "\n\n" not in value or name == "alt" for name, value in attrs)
        if tag not in ("img", "input"):
            self.open.append(tag)
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_folds_open_without_a_script(engine: ModuleType) -> None:
    net = stack(engine, 6)
    page = _Page()
    page.feed(html_of(graph(net=net, loss=net(engine.ones(2, 3)).sum())))
    assert not page.open
    assert page.kinds <= {"div", "img", "details", "summary", "pre", "p", "style", "label", "input"}
    memories = _Page()
    memories.feed(html_of(memory(layers(engine))))
    assert memories.deepest > 1, "what is repeated opens into each of them"


def test_png_and_pdf_of_what_is_folded(engine: ModuleType, tmp_path: Path) -> None:
    for picture in (graph(layers(engine)), memory(layers(engine))):
        picture.save(tmp_path / "a.png")
        picture.save(tmp_path / "a.pdf")
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-1.")


def test_small_pictures_are_whole(engine: ModuleType) -> None:
    net = stack(engine, 2)
    tensors = {"net": net, "loss": net(engine.ones(2, 3)).sum()}
    assert "folded" not in graph(tensors).text
    assert graph(tensors).svg == graph(tensors, fold=False).svg
    assert memory(tensors).svg == memory(tensors, fold=False).svg


@pytest.mark.stress
@pytest.mark.parametrize(
    "name",
    ["</pre></details><script>alert(1)</script>", 'a "b" <c>\n\nd', "x" * 1_000, "a..b.", "\\x00"],
)
def test_names_stay_text_in_folds(name: str, engine: ModuleType) -> None:
    y = engine.ones(1)
    tensors: Tensors = {}
    for k in range(60):
        tensors[f"{name}.{k}.w"] = w = engine.ones(1, requires_grad=True)
        y = (y * w).exp()
    snap = snapshot(tensors, y=y)
    for picture in (graph(snap), memory(snap), graph(snap, find=name), memory(snap, find=name)):
        page = _Page()
        page.feed(html_of(picture))
        assert not page.open
        assert "script" not in page.kinds
        assert len(html_of(picture)) <= MOST_CHARACTERS
        ET.fromstring(picture.svg)
        assert max(size(picture.svg)) <= LARGEST_SIDE


@pytest.mark.stress
def test_that_not_all_tensors_were_read_is_said(engine: ModuleType) -> None:
    x, said = engine.ones(1), "here may be more tensors: only the first 10,000 were read"
    many = snapshot([x] * 10_001)
    assert said in memory(many).text
    assert said in graph(many).text
    assert said not in memory([x] * 9_999).text


# -- the work grows as what is looked at ---------------------------------------------------


def named_chain(engine: ModuleType, count: int) -> Tensors:
    """Each result has a name and reads the same leaf."""
    y = w = engine.ones(3, requires_grad=True)
    tensors = {"w": w}
    for k in range(count):
        tensors[f"y{k}"] = y = y * w
    return {**tensors, "loss": y.sum()}


def one_tensor_saved_often(engine: ModuleType, count: int) -> Tensors:
    """As many nodes saved one tensor as there are `.data` of it, each with its own counter."""
    z = engine.ones(3, requires_grad=True).exp()
    tensors = {"z": z, "loss": sum((z * z for _ in range(count)), engine.zeros(3)).sum()}
    return tensors | {f"a{k}": z.data for k in range(count)}


def written_unseen(engine: ModuleType, count: int) -> Tensors:
    tensors = one_tensor_saved_often(engine, count)
    for k in range(count):
        tensors[f"a{k}"].add_(0)
    return tensors


def written_and_counted(engine: ModuleType, count: int) -> Tensors:
    tensors = one_tensor_saved_often(engine, count)
    with engine.no_grad():
        tensors["z"].add_(1)
    return tensors


def rows_written_unseen(engine: ModuleType, count: int) -> Tensors:
    """Each row of a matrix is saved, and written through a `.data` of its own."""
    rows = engine.ones(count, 3, requires_grad=True) * 1
    loss = sum((rows[k].exp() for k in range(count)), engine.zeros(3)).sum()
    views = [rows[k] for k in range(count)]
    tensors = {f"a{k}": rows.data[k].add_(0) for k in range(count)}
    return {**tensors, "loss": loss + sum(view * view for view in views).sum()}


def count_calls(function: Callable[..., object], tensors: Tensors) -> int:
    """Return how many functions in Python run: the work, whatever else the machine does."""
    calls = 0

    def count_call(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count_call)
    try:
        function(**tensors)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.stress
@pytest.mark.parametrize(
    "build",
    [named_chain, one_tensor_saved_often, written_unseen, written_and_counted, rows_written_unseen],
)
def test_twice_as_much_is_twice_the_work(
    build: Callable[[ModuleType, int], Tensors], engine: ModuleType
) -> None:
    work, double = (count_calls(explain, build(engine, count)) for count in (120, 240))
    assert double < 2.4 * work


@pytest.mark.stress
@pytest.mark.parametrize(
    ("look", "build"), [(graph, named_chain), (memory, named_chain), (memory, written_unseen)]
)
def test_a_picture_of_twice_as_much_is_twice_the_work(
    look: Callable[..., object], build: Callable[[ModuleType, int], Tensors]
) -> None:
    # Rounds of up to a hundred things are sought: among fewer, more things are more lengths, too.
    work, double = (count_calls(look, build(tinytorch, count)) for count in (250, 500))
    assert double < 2.4 * work
