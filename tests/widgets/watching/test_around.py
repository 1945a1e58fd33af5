"""Around a watch: how it tells, how it ends, what it keeps."""

import gc
import importlib
import linecache
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import copylab
import pytest

import tinytorch
from tinytorch.viz.read import doubts


def spoil(x: Any) -> None:
    y = x * 2
    z = y * y
    y.data.zero_()
    z.sum().backward()


def silent() -> copylab.Watch:
    with copylab.watch(silent="record") as watch:
        x = tinytorch.ones(3, requires_grad=True)
        for _ in range(3):
            hidden: Any = x * 2
            z = (hidden * hidden).sum()
            hidden.data.mul_(2)  # the line that wrote
            z.backward()
    return watch


def test_a_warning_names_both_lines_and_points_at_backward() -> None:
    x = tinytorch.ones(3, requires_grad=True)
    with copylab.watch(), pytest.warns(copylab.GradientWarning) as warned:
        spoil(x)
    (one,) = warned
    said = str(one.message)
    first = spoil.__code__.co_firstlineno
    assert said.startswith(f"y was changed by line {first + 3} after line {first + 2} saved it. ")
    assert "z = y * y\n" in said
    assert "y.data.zero_()\n" in said
    assert linecache.getline(one.filename, one.lineno).strip() == "z.sum().backward()"


def test_what_else_the_line_wrote_to() -> None:
    x, y = (tinytorch.ones(2, requires_grad=True) for _ in range(2))
    for other, said in (
        (x, "It was saved once more, by MulBackward0 on line "),
        (y, "The same line wrote to 1 more saved tensor, saved by MulBackward0 on line "),
    ):
        both = tinytorch.cat([x.detach(), y.detach()])
        low, high = (both[k : k + 2].requires_grad_() for k in (0, 2))
        with copylab.watch(silent="record") as watch:
            z = low * (low if other is x else high)
            both.data.mul_(2)
            z.sum().backward()
        assert said in watch.text
        assert "was changed by line " in watch.html
        assert "computed from the changed values.</strong>" in watch.html, (
            "sentences with their stops"
        )
        assert "computed from the changed values:\n" in watch.text


def test_it_can_be_raised() -> None:
    x = tinytorch.ones(3, requires_grad=True)
    with (
        copylab.watch(silent="raise"),
        pytest.raises(copylab.GradientWarning, match=r"y\.data\.zero_\(\)"),
    ):
        spoil(x)


def test_one_line_that_wrote_is_one_finding() -> None:
    watch = silent()
    (finding,) = watch.findings
    assert (finding.more, finding.times) == (1, 3)  # both factors, three times
    assert finding.names[0] == "hidden"
    assert "It was saved once more, by MulBackward0 on line " in watch.text
    assert "It happened in 3 steps" in watch.text
    assert "hidden.data.mul_(2)" in watch.text
    assert "<svg" not in watch.text
    # Of one name a picture would say nothing that the lines do not say.
    assert "data:image/svg+xml" not in watch.html
    assert str(watch) == watch.text
    assert "\n\n" not in watch.html


def test_without_a_finding_it_says_what_it_looked_at() -> None:
    with copylab.watch() as watch:
        assert watch.text.startswith(
            "Nothing was checked: backward has read no saved tensor under this watch. "
        )
        x = tinytorch.ones(3, requires_grad=True)
        y = (x * x).sum()
        assert watch.text == (
            "Nothing was checked: backward has read no saved tensor under this watch. "
            "2 tensors were saved under it: no backward has reached the nodes that saved them."
        )
        y.backward()
        assert (
            watch.text
            == "Backward has read 2 saved tensors under this watch; each was as it was saved."
        )
    assert watch.text == (
        "Backward has read 2 saved tensors under this watch; each was as it was saved.\n\n"
        "check_gradients(step, net) measures whether hooks and Functions give the right gradient."
    )


@pytest.mark.parametrize("name", ["sigmoid", "Function"])
def test_it_keeps_no_tensor(engine: Any, name: str) -> None:
    class Sigmoid(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.sigmoid()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            _, y = ctx.saved_tensors
            return grad * y * (1 - y)

    sigmoid = Sigmoid.apply if name == "Function" else engine.sigmoid
    gc.disable()
    try:
        with copylab.watch() as watch:
            x = engine.ones(3, requires_grad=True)
            y = sigmoid(x.exp())
            seen = weakref.ref(y)
            loss = (y * y).sum()
            loss.backward()
            del y, loss
            assert seen() is None
    finally:
        gc.enable()
    assert not watch.findings


@pytest.mark.torch
def test_what_the_program_has_set_neither_sees_nor_changes_the_words_asked_for() -> None:
    import torch
    from copylab.watching.on_torch import _learn_stale_wording

    seen: list[Any] = []
    words = _learn_stale_wording(torch)
    _learn_stale_wording.cache_clear()
    with torch.inference_mode(), torch.autograd.graph.saved_tensors_hooks(seen.append, lambda t: t):
        assert _learn_stale_wording(torch) == words
    assert not seen
    assert words[1].startswith("Hint: enable anomaly detection")


def test_nothing_is_left_behind() -> None:
    from tinytorch.graph import WRITE_LISTENERS

    with pytest.raises(ZeroDivisionError), copylab.watch():
        raise ZeroDivisionError
    assert not WRITE_LISTENERS
    node: Any = tinytorch.ones(3, requires_grad=True).exp().grad_fn
    assert node._raw_saved_result.unpack_hook is None


def test_a_graph_may_outlive_its_watch() -> None:
    x = tinytorch.ones(3, requires_grad=True)
    with copylab.watch() as watch:
        y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        y.sum().backward()
    assert watch.findings[0].saved is not None
    assert watch.findings[0].written is None, "it was no longer looking"


@pytest.mark.parametrize("engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def test_explain_knows_what_was_watched(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Hooks of programs that other tests ran would be doubts.
    monkeypatch.setattr(doubts, "_find_hooks_on_graphs", lambda *_: [])
    x = importlib.import_module(engine).ones(3, requires_grad=True)
    assert copylab.explain(loss=((x * 2) ** 2).sum()).verdict == "runs, not compared"
    with copylab.watch() as watch:
        y = x * 2
        loss = (y * y).sum()
        assert copylab.explain(loss=loss, y=y).verdict == "runs"
        y.data.mul_(2)
        assert copylab.explain(loss=loss, y=y).verdict == "may be wrong"
        y.mul_(2)
        assert copylab.explain(loss=loss, y=y).verdict == "raises"
    assert not watch.findings, "looking is no backward"


def test_watches_nest() -> None:
    x = tinytorch.ones(3, requires_grad=True)
    with copylab.watch() as outer, pytest.warns(copylab.GradientWarning), copylab.watch() as inner:
        spoil(x)
    assert len(inner.findings) == 1
    assert not outer.findings


def test_it_ends_where_it_was_begun() -> None:
    with copylab.watch() as watch:
        thread = ThreadPoolExecutor(1)
        with pytest.raises(RuntimeError, match="a watch ends in the thread in which it was begun"):
            thread.submit(watch.__exit__, None, None, None).result()
        with pytest.warns(copylab.GradientWarning):
            spoil(tinytorch.ones(3, requires_grad=True))


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ValueError, match='silent must be "warn", "raise" or "record", not 3'):
        copylab.watch(silent=3)  # type: ignore[arg-type]
    watch = copylab.watch()
    with watch, pytest.raises(RuntimeError, match="this watch has begun"), watch:
        pass
    with watch:
        pass  # it may begin again


def test_a_name_means_what_it_means_where_backward_is_called(engine: Any) -> None:
    def hide(x: Any) -> None:
        x.data.mul_(2)
        y = x
        x = x[:2]
        y.sum().backward()

    with copylab.watch(silent="record") as watch:
        b = engine.ones(3, requires_grad=True).exp()
        x = b[1:]
        hide(b)
    (finding,) = watch.findings
    outside = f"x in {test_a_name_means_what_it_means_where_backward_is_called.__name__}"
    assert x.shape == (2,)
    assert finding.names == ("y", "x", outside)
    assert f"{outside}: shape (2,); stride (1,); offset 1" in finding.picture.text
    assert "data:image/svg+xml" in watch.html
