"""The texts of looks at a graph under a watch: all that they say without one, and which line wrote."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from inspect import getsourcelines
from typing import Any

import copylab
import pytest
from copylab.wording import set_language

from tinytorch.viz.read import doubts


@pytest.fixture(autouse=True)
def _no_hooks_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts, "_find_hooks_on_graphs", lambda *_: [])


BLAME = re.compile(r" \(written to by [^)]*\)")
"""A line that a look blames for a write."""
ADDED_BY_WATCH = (BLAME,)
"""All that a look says more under a watch."""


def without_additions(text: str) -> str:
    """Return what a look says, without what it says under a watch alone."""
    for addition in ADDED_BY_WATCH:
        text = addition.sub("", text)
    return text


def written_by(function: Callable[..., Any], code: str) -> str:
    """Return what a look says of a write under a watch: by a line of a function of this file."""
    lines, first = getsourcelines(function)
    (number,) = [first + k for k, line in enumerate(lines) if line.strip() == code]
    return f" (written to by test_looks.py, line {number})"


def look_at_stale(engine: Any) -> dict[str, str]:
    """A result, an input and a leaf, written after they were saved."""
    x, weight = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    factor = engine.ones(3)
    result = x.sigmoid()
    product = (result * factor).sum()
    step = (weight * weight).sum()
    result.zero_()
    factor.add_(1)
    with engine.no_grad():
        weight.add_(1)
    named = {"result": result, "factor": factor, "product": product}
    return {
        "graph": copylab.graph(named).text,
        "memory": copylab.memory(named).text,
        "explain": str(copylab.explain(named)),
        "after a step": str(copylab.explain(step=step, weight=weight)),
    }


def test_a_look_says_the_same_under_a_watch_and_the_line_that_wrote(engine: Any) -> None:
    plain = look_at_stale(engine)
    with copylab.watch():
        watched = look_at_stale(engine)
    assert plain == {name: without_additions(text) for name, text in watched.items()}
    result, factor, weight = (
        written_by(look_at_stale, code)
        for code in ("result.zero_()", "factor.add_(1)", "weight.add_(1)")
    )
    stale = "at version 0, now at 1"
    graph, memory = watched["graph"], watched["memory"]
    assert f"saved result: result, STALE: saved {stale}; backward will raise{result}" in graph
    assert f"saved other: factor, STALE: saved {stale}; backward will raise{factor}" in graph
    assert f"In trouble: MulBackward0 saved it {stale}: backward will raise{factor}." in memory
    assert f"(factor) {stale}: it has been written to once since{factor}." in watched["explain"]
    assert f"as by a step of an optimizer{weight}." in watched["after a step"]


def look_at_unnamed(engine: Any) -> tuple[str, str]:
    """A tensor without a name that one node saved twice: a result that the node before saved, too, and one it did not."""
    x = engine.ones(3, requires_grad=True)
    squares = [hidden * hidden for hidden in (x * 2, x.sigmoid())]
    return copylab.graph(squares).text, copylab.memory(squares).text


def test_what_was_seen_is_worded_when_it_is_shown(engine: Any) -> None:
    def refuse(_: object) -> Any:
        raise ValueError

    x = engine.ones(3, requires_grad=True)
    with copylab.watch():
        y = x.sigmoid()
        y.zero_()
        with engine.autograd.graph.saved_tensors_hooks(lambda t: t, refuse):
            packed = (x * x).sum()
        look, other = copylab.memory(y=y, x=x), copylab.graph(packed)
    set_language("zh")
    try:
        chinese = [look.text, other.text]
    finally:
        set_language(None)
    assert re.search(r"test_looks\.py 的第 \d+ 行", chinese[0])
    assert "raises an error as it is now" not in chinese[1]
    assert "test_looks.py, line" in look.text
    assert "raises an error as it is now" in other.text


def test_an_unnamed_tensor_that_was_saved_twice_is_one_tensor(engine: Any) -> None:
    plain, memory = look_at_unnamed(engine)
    assert re.search(r"saved self: (T\d+) \(no name\).*\n  saved other: \1 ", plain)
    with copylab.watch():
        watched = look_at_unnamed(engine)
    assert (watched[0].replace(", unchanged", ""), watched[1]) == (plain, memory)


def look_at_function(engine: Any) -> tuple[str, str]:
    """Of two tensors at version 1 the second was written after the save, and the first before."""

    class Product(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx: Any, grad: Any) -> tuple[Any, Any]:
            a, b = ctx.saved_tensors
            return grad * b, grad * a

    written_before = engine.ones(2, requires_grad=True) * 1
    written_before.add_(1)
    written_since = engine.ones(2)
    out = Product.apply(written_before, written_since)
    written_since.mul_(2)
    named = {"out": out, "before": written_before, "since": written_since}
    return copylab.graph(named).text, copylab.memory(named).text


def test_of_the_tensors_of_a_function_the_one_written_since_is_in_trouble(engine: Any) -> None:
    for is_watched in (False, True):
        with copylab.watch() if is_watched else nullcontext():
            graph, memory = look_at_function(engine)
        line = written_by(look_at_function, "written_since.mul_(2)")
        stale = "at version 0, now at 1"
        assert f"saved tensors: since, STALE: saved {stale}" in graph
        trouble = f"In trouble: ProductBackward saved it {stale}: backward will raise"
        (sentence,) = re.findall("In trouble.*", memory)
        assert sentence == trouble + (line if is_watched else "") + "."
        (row,) = re.findall("\n  (\\w+): shape.*\n    In trouble", memory)
        assert row == "since"
        assert "A tensor without a name" not in memory


def words_below(svg: str, start: str) -> str:
    """The words that a picture draws, from `start` on: each line is a text of its own."""
    drawn = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    return drawn[drawn.index(start) :]


def look_at_written(engine: Any) -> Any:
    """A memory picture of what was written since it was saved, counted and not."""
    x = engine.ones(3, requires_grad=True)
    counted, unseen = x.sigmoid(), x.exp()
    early = counted * counted
    counted.zero_()
    late = counted * counted
    counted.add_(1)
    unseen.data.mul_(2)
    return copylab.memory(counted, unseen, early, late)


def test_the_memory_drawing_has_the_line_that_wrote_beside_what_is_stale(engine: Any) -> None:
    plain = look_at_written(engine)
    with copylab.watch():
        watched = look_at_written(engine)
    zeroed, added, scaled = (
        written_by(look_at_written, code)
        for code in ("counted.zero_()", "counted.add_(1)", "unseen.data.mul_(2)")
    )
    drawn = words_below(watched.svg, "saved by")
    # Two products saved it at different versions, and another line is to blame for each.
    for sentence in (
        f"saved by SigmoidBackward0: backward will raise{zeroed}",
        f"saved by MulBackward0: backward will raise{zeroed}",
        f"saved by MulBackward0: backward will raise{added}",
        f"saved by ExpBackward0: the gradient may be wrong{scaled}",
    ):
        assert drawn.count(sentence) == 1, sentence
    assert not BLAME.search(words_below(plain.svg, "saved by"))
    # Text and drawing blame the same lines.
    for line in (zeroed, added, scaled):
        assert watched.text.count(line) == drawn.count(line)


def look_at_stale_without_row(engine: Any) -> Any:
    """A memory picture below which a stale tensor is named: it has no row, and no mark of its version."""
    hidden = engine.ones(3, requires_grad=True).exp()
    hidden.add_(1)
    out = hidden.sum()
    del hidden
    return copylab.memory(out)


def test_of_a_stale_tensor_without_a_row_text_and_drawing_have_the_line(engine: Any) -> None:
    plain = look_at_stale_without_row(engine)
    with copylab.watch():
        watched = look_at_stale_without_row(engine)
    sentence = "ExpBackward0 saved it at version 0, now at 1: backward will raise"
    line = written_by(look_at_stale_without_row, "hidden.add_(1)")
    for said in (watched.text, words_below(watched.svg, "T2 (no name)")):
        assert said.count(f"{sentence}{line}") == 1
    for said in (plain.text, words_below(plain.svg, "T2 (no name)")):
        assert said.count(sentence) == 1
        assert not BLAME.search(said)


@pytest.mark.parametrize(
    ("look", "start", "line"),
    [
        (
            copylab.graph,
            "at v0, now v1",
            "at v0, now v1 written to by &lt;b&gt;&amp;.py, line 1",
        ),
        (copylab.memory, "saved by", "(written to by &lt;b&gt;&amp;.py, line 1)"),
    ],
)
def test_drawings_have_the_line_that_wrote_and_escape_its_file(
    engine: Any, look: Any, start: str, line: str
) -> None:
    x, code = engine.ones(3, requires_grad=True), compile("y.zero_()", "/tmp/<b>&.py", "exec")
    with copylab.watch():
        y = x.sigmoid()
        exec(code, {"y": y})
        svg = look(y).svg
    assert line in words_below(svg, start)
    assert "<b>" not in svg


def look_at_doubtful(engine: Any) -> str:
    """What explain says of a stale tensor that the backward of a Function may open or not."""

    class Sometimes(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            ctx.opens = bool(a.sum() > 0)
            return a * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if ctx.opens:
                (a,) = ctx.saved_tensors
                return grad * a
            return grad

    factor = engine.ones(2, requires_grad=True) * 1
    out = Sometimes.apply(factor).sum()
    with engine.no_grad():
        factor.add_(1)
    return str(copylab.explain(out, factor=factor))


def test_of_what_backward_may_open_explain_has_the_line_that_wrote(engine: Any) -> None:
    plain = look_at_doubtful(engine)
    with copylab.watch():
        watched = look_at_doubtful(engine)
    sentence = "its backward raises if it opens that"
    line = written_by(look_at_doubtful, "factor.add_(1)")
    assert f"{sentence}." in plain
    assert f"{sentence}{line}." in watched


def test_writes_that_no_counter_saw_have_their_line(engine: Any) -> None:
    x, index = engine.ones(2, 2, requires_grad=True), engine.tensor([0])
    with copylab.watch():
        picked = x[index, index]
        square = (picked * picked).sum()
        looks = copylab.graph(picked, index, x)
        assert looks.text.count("index, live at version 0, unchanged\n") == 2
        index.data.add_(1)
        picked.data.mul_(2)
        text = copylab.graph(square, picked, index, x).text
        explained = str(copylab.explain(square, picked))
        memory = copylab.memory(picked, square).text
    here = test_writes_that_no_counter_saw_have_their_line
    by_index, by_mul = (
        written_by(here, code) for code in ("index.data.add_(1)", "picked.data.mul_(2)")
    )
    unseen = "but CHANGED UNSEEN: backward computes from the new values"
    assert text.count(f"index, live at version 0, {unseen}{by_index}\n") == 2
    assert text.count(f"picked, live at version 0, {unseen}{by_mul}\n") == 2
    assert f"without an error{by_mul}." in explained
    assert f"a write that was not counted changed it{by_mul}." in memory


def test_what_the_watch_did_not_see_is_blamed_on_no_line(engine: Any) -> None:
    x = engine.ones(3, requires_grad=True)
    a, b, c = (engine.ones(3) for _ in range(3))
    with copylab.watch(silent="record") as watch:
        out = ((x * a) * b) * c
        named = {"out": out, "a": a, "b": b, "c": c}
        a.data.mul_(1)
        b.data.mul_(2)
        c.numpy()[0] = 5
        assert len(BLAME.findall(copylab.graph(named).text)) == 1, "b alone: a has the same bytes"
    a.data.mul_(2)
    b.add_(1)
    text = copylab.graph(named).text
    assert text.count("STALE") == 1
    assert text.count("CHANGED UNSEEN") == 2
    assert not BLAME.search(text), "all three were written where no watch looked"
    with watch:
        b.add_(1)
        assert not BLAME.search(copylab.graph(named).text), "a later write is not to blame"
    with pytest.raises(RuntimeError):
        out.sum().backward()
    assert watch.findings[-1].written is None


def test_a_counter_that_was_put_back_is_blamed_on_no_line() -> None:
    torch = pytest.importorskip("torch")
    with copylab.watch():
        y = torch.ones(3, requires_grad=True) * 2
        y.mul_(1)
        loss = (y * y).sum()
        y.mul_(1)
        torch._C._autograd._unsafe_set_version_counter((y,), (0,))
        text = str(copylab.explain(loss))
    assert "at version 1, now at 0" in text
    assert not BLAME.search(text)


def test_a_watch_that_begins_again_sees_writes_to_what_it_saw_saved(engine: Any) -> None:
    watch = copylab.watch()
    with watch:
        y = engine.ones(3, requires_grad=True).exp()
        y.data.mul_(1)
    with watch:
        y.mul_(2)
        text = copylab.graph(y).text
    here = test_a_watch_that_begins_again_sees_writes_to_what_it_saw_saved
    assert f"backward will raise{written_by(here, 'y.mul_(2)')}" in text


@pytest.mark.torch
def test_what_a_function_keeps_and_was_written_has_its_line_in_all_looks() -> None:
    torch: Any = pytest.importorskip("torch")

    class KeepResult(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.y = a.exp()
            return ctx.y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.y

    with copylab.watch():
        y = KeepResult.apply(torch.ones(2, requires_grad=True))
        loss = y.sum()
        assert "saved ctx.y: y, live, unchanged" in copylab.graph(y=y).text
        y.data.mul_(2)
        graph, memory = copylab.graph(y=y), copylab.memory(y=y)
        explained = str(copylab.explain(loss=loss, y=y))
    line = written_by(
        test_what_a_function_keeps_and_was_written_has_its_line_in_all_looks, "y.data.mul_(2)"
    )
    unseen = "but CHANGED UNSEEN: backward computes from the new values"
    assert f"saved ctx.y: y, live, {unseen}{line}\n" in graph.text
    assert line.strip(" ()") in words_below(graph.svg, "changed unseen")
    assert f"a write that was not counted changed it{line}." in memory.text
    assert f"without an error{line}." in explained
