"""How objects look in a list: one line that says what each is. `print` and a notebook have all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import copylab
import pytest
from copylab import Misconception, questions
from copylab.doc import Box, Paragraph, Part, Presentation
from IPython.core.formatters import DisplayFormatter

import tinytorch
from tinytorch.viz import Picture, explain, graph, memory, snapshot

LONGEST = 102


@dataclass
class Held:
    """Something with the thing in it."""

    thing: Any


def pictures() -> Iterator[Any]:
    x = tinytorch.ones(3, requires_grad=True)
    y = (x * x).exp()
    many = {f"layers.{k}.a_very_long_name_of_a_weight": tinytorch.ones(2) for k in range(40)}
    hostile = {"<b>\n\u202e\x00": y}
    for look in (memory, graph, snapshot):
        yield from (look(x, y), look(many), look(hostile), look({}))
    yield Picture(lambda: "<svg/>", lambda: "First line.\nSecond " + "x" * 200)
    yield from (copylab.shared(x, y), copylab.shared(many, hostile), copylab.shared(x, x.detach()))
    y.data.zero_()
    for found in (
        explain(y.sum()),
        explain(y.sum(), since=snapshot(y)),
        explain(many),
        explain({}),
    ):
        yield found
        yield from found.findings


def runs() -> Iterator[Any]:
    made = copylab.steps(
        "x = torch.ones(2)\nlong = [" + "'a b', " * 60 + "\n]\ny = x * 2", engine=tinytorch
    )
    yield made
    yield from made
    yield from (picture for frame in made for picture in frame.pictures.values())
    yield made.live()


def watched() -> Iterator[Any]:
    yield copylab.watch()
    with copylab.watch(silent="record") as watch:
        a_name_that_is_as_long_as_the_rules_of_our_team_for_names_demand = tinytorch.ones(
            3, requires_grad=True
        ).exp()
        a_name_that_is_as_long_as_the_rules_of_our_team_for_names_demand.data.zero_()
        a_name_that_is_as_long_as_the_rules_of_our_team_for_names_demand.sum().backward()
    yield from (watch, *watch.findings)
    kept = []
    grown = copylab.growth(lambda: kept.append(tinytorch.ones(2)), times=2)
    yield from (grown, *grown.origins)


def copies() -> Iterator[Any]:
    made = copylab.compare("clone", "detach", engine=tinytorch)
    long = copylab.Method("a name " * 30, "y = x\n" * 30)
    yield from (made, made["clone"], *made["clone"].values(), long, made.source)
    yield from (copylab.Source.of(tinytorch.ones(30, 30)), copylab.CopyLab(engine=tinytorch))
    race = copylab.race(["clone"], [10], engine=tinytorch, rounds=3).run()
    yield from (race, *race.results, *race.pictures.values())


def asked() -> Iterator[Any]:
    prediction = copylab.predict(
        "x = torch.ones(2)\ny = x", [questions.same_storage("x", "y")], engine=tinytorch
    )
    yield from (
        prediction,
        prediction.live(),
        prediction.live().form,
        *prediction.questions,
        prediction.verify(),
    )
    reveal = prediction.commit(["no"])
    yield from (
        reveal,
        *reveal.rows,
        reveal.steps,
        Misconception("m" * 200, "belief", "argument"),
    )
    part = copylab.exercise(
        "long/" * 40, "Make t.", lambda t: t == 1, solution="t = 1", hints=["Think. " * 50]
    )
    yield from (part, part.live(), part.hint(), part.solution(), part.verify())
    yield from (
        part.check({"t": "many words " * 30}),
        part.check({}),
        Box(Paragraph("a\n" * 9), Paragraph("b")),
    )
    yield copylab.progress()


@pytest.fixture(autouse=True)
def nothing_is_noted(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("make", [pictures, runs, watched, copies, asked])
def test_a_repr_is_one_line(make: Callable[[], Iterator[Any]]) -> None:
    for thing in make():
        said = repr(thing)
        assert said, type(thing)
        assert said.isprintable(), f"one line, nothing unseen: {said!r}"
        assert len(said) <= LONGEST, (type(thing), said)
        assert repr([thing]) == f"[{said}]"
        assert repr(Held(thing)) == f"Held(thing={said})"
        assert plain([thing]) == f"[{said}]", "as a notebook shows it in a list"


def rendered(thing: Any) -> list[str]:
    """The texts and pages of a part, of something with a tree of parts, or of both."""
    parts = [thing] if isinstance(thing, Part) else []
    has_tree = isinstance(thing, Presentation) and type(thing).tree is not Presentation.tree
    parts += [thing.tree()] if has_tree else []
    forms = [form for part in parts for form in (part.html(), part.text(), part.html())]
    return forms + [
        getattr(thing, name) for name in ("html", "text") if not isinstance(thing, Part)
    ]


@pytest.mark.parametrize("make", [runs, watched, copies, asked])
def test_rendering_changes_nothing(make: Callable[[], Iterator[Any]]) -> None:
    found = [thing for thing in make() if isinstance(thing, Part) or hasattr(thing, "html")]
    assert found
    for thing in found:
        assert rendered(thing) == rendered(thing), type(thing)


def plain(thing: Any) -> str:
    """What a notebook shows in words of something that a cell ends with."""
    formatter: Any = DisplayFormatter()
    return str(formatter.format(thing)[0]["text/plain"])


def test_it_says_what_is_shown() -> None:
    x = tinytorch.ones(3, requires_grad=True)
    y, z = x.detach(), (x * x).sum()
    assert (
        repr([memory(x, y), graph(z, x)])
        == "[<memory of x and y: 2 tensors in 1 storage>, <graph of z and x: 3 nodes>]"
    )
    assert repr(snapshot(x, y)) == "<snapshot of x and y: 2 tensors in 1 storage>"
    assert repr(memory({})) == "<Memory: no tensors to show>"
    said = "<z.backward() would run and add to x.grad, if nothing changed unseen>"
    assert repr(explain(z, x)) == said
    (frame,) = copylab.steps("x = torch.ones(2)", engine=tinytorch)
    assert repr(frame.pictures) == "{'memory': <Memory: 1 tensor in 1 storage>}"
    with copylab.watch(silent="record") as watch:
        assert (
            repr(watch)
            == "<watch: Nothing was checked: backward has read no saved tensor under this watch>"
        )
        for _ in range(2):
            y = x.exp()
            y.data.zero_()
            y.sum().backward()
    assert repr(watch) == "<watch: 1 finding>"
    assert repr(watch.findings).startswith("[<y was changed by line ")


def test_print_and_a_notebook_have_all_of_it() -> None:
    x = tinytorch.ones(3, requires_grad=True)
    y = (x * x).exp()
    for picture in (memory(x, y), graph(x, y), explain(x, y)):
        assert "\n" in picture.text
        assert str(picture) == picture.text == plain(picture)
    with copylab.watch(silent="record") as watch:
        y.data.zero_()
        y.sum().backward()
    for said in (watch, *watch.findings):
        assert str(said) == said.text == plain(said)
    part = copylab.exercise(
        "mine/part", "Make t.", lambda t: t == 1, solution="t = 1", hints=["Think. " * 50]
    )
    for words in (part.hint(), part.solution(), part.check({"t": "many words " * 30})):
        assert str(words) == words.text() == plain(words)
        assert len(str(words)) > len("One solution:")
    end = copylab.steps("memory(x=torch.ones(2))", namespace={"memory": memory}, engine=tinytorch)[
        0
    ].output
    assert end == f"{memory(x=tinytorch.ones(2)).text}\n", (
        "the value of a last line, as in a notebook"
    )
    found = part.verify()
    assert str(found) == plain(found)
    assert str(found).startswith("Verified: ")


def test_a_full_stop_of_any_language_is_left_out() -> None:
    assert repr(Picture(lambda: "", lambda: "One sentence.\nAnother.")) == "<One sentence>"
    assert repr(Picture(lambda: "", lambda: "没有可显示的张量。")) == "<没有可显示的张量>"
