"""`explain(..., run=True)`: a backward that is run to see what it does, and that changes nothing."""

import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from copylab import watch
from releases import installed_release

import tinytorch
from tinytorch.viz import explain, memory, snapshot


def _refuse(grad: Any) -> Any:  # noqa: ARG001
    raise ValueError("no gradient today")


def test_a_run_finds_what_a_hook_does_and_changes_nothing(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    h = x + 1
    loss = h.sum()
    handle = h.register_hook(_refuse)
    said = explain(loss)
    assert said.verdict == "unknown"
    assert "_refuse (test_dry_run.py:" in said.text
    said = explain(loss, run=True)
    assert said.verdict == "raises"
    assert "it was run, and raised ValueError: no gradient today" in said.text
    handle.remove()

    def read_states() -> tuple[str, str, str]:
        numpy_state = str(np.random.get_state())  # noqa: NPY002
        return str(engine.get_rng_state().tolist()), numpy_state, str(random.getstate())

    def draw(grad: Any) -> Any:
        drawn.append(engine.rand(1).item() + random.random() + float(np.random.rand()))  # noqa: NPY002
        return grad * 2

    drawn: list[float] = []
    h.register_hook(draw)
    states = read_states()
    assert explain(loss, run=True).verdict == "runs"
    assert drawn
    assert x.grad is None
    assert read_states() == states
    loss.backward()
    grad: Any = x.grad
    assert grad.tolist() == [2.0, 2.0, 2.0]


def test_a_hook_that_a_run_does_not_call_stays_a_doubt(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    loss = x.sum()
    x.register_post_accumulate_grad_hook(lambda leaf: _refuse(leaf))  # noqa: PLW0108
    said = explain(loss, run=True)
    assert said.verdict == "unknown"
    assert "a hook that was not called when backward was run" in said.text
    with pytest.raises(ValueError, match="today"):
        loss.backward()


def test_a_run_is_no_backward_of_the_program(engine: ModuleType) -> None:
    with watch(silent="raise") as w:
        x = engine.ones(3, requires_grad=True)
        h = x.exp()
        loss = h.sum()
        h.data.mul_(2)
        said = explain(loss, h=h, run=True)
        assert said.verdict == "may be wrong"
        assert w.findings == []
    assert explain(x.exp().sum(), run=True).verdict == "runs, not compared"
    # A tensor may have that name.
    assert explain(run=(x + 1).sum()).verdict == "runs"
    with pytest.raises(TypeError, match="a snapshot has none"):
        explain(snapshot(loss), run=True)


def test_a_hook_that_asks_for_a_run_gets_no_further_one(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    y = x * 2
    loss = y.sum()
    answers: list[str] = []

    def ask(_: object) -> None:
        assert len(answers) < 2, "it would go on for ever"
        answers.append(explain(loss, run=True).verdict)

    y.register_hook(ask)
    assert explain(loss, run=True).verdict == "runs"
    # Within that run, what the hook does is not known.
    assert answers == ["unknown"]


def test_scalars_decide(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    logits = x * 2
    doubled, loss = logits * 2, (logits + 1).sum()
    said = explain(loss, doubled=doubled)
    assert said.verdict == "runs"
    assert "No verdict on doubled: backward() without an argument is for one element." in said.text
    assert explain(doubled).verdict == "raises"


def test_a_gradient_counts_as_a_name(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    x.sum().backward()
    previous = x.grad
    text = memory(x=x, previous=previous).text
    assert "storage of one tensor with 2 names, previous = x.grad:" in text
    assert "storage of previous alone" not in text


def test_a_run_leaves_retained_gradients_as_they_are(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    h, k = x * 2, x * 3
    h.retain_grad()
    k.retain_grad()
    k.sum().backward(retain_graph=True)
    kept = k.grad
    explain((h * k).sum(), run=True)
    assert h.grad is None, "PyTorch fills it in autograd.grad, too"
    assert k.grad is kept
    assert kept.tolist() == [1, 1, 1]


def test_a_stale_view_elsewhere_hinders_no_run(engine: ModuleType) -> None:
    base = engine.ones(2, requires_grad=True) * 1
    view = base.unbind()[0]
    view.retain_grad()
    doubled = view * 2
    doubled.backward(retain_graph=True)
    kept = view.grad
    with engine.no_grad():
        base.mul_(3)
    with pytest.raises(RuntimeError, match="is a view"):
        _ = view.grad_fn
    assert explain((engine.ones(3, requires_grad=True) * 2).sum(), run=True).verdict == "runs"
    # PyTorch 2.15 refuses to put the gradient of this view back, so this backward is not run there.
    assert explain(doubled, run=True).verdict in ("runs", "unknown")
    assert view.grad is kept


@pytest.mark.parametrize(("size", "dtype"), [(2, "float32"), (3, "float64")])
def test_nothing_is_run_where_a_retained_gradient_could_not_be_put_back(
    engine: ModuleType, size: int, dtype: str
) -> None:
    x = engine.ones(3, requires_grad=True)
    h = x * 2
    h.retain_grad()
    loss = h.exp().sum()
    loss.backward(retain_graph=True)
    kept = h.grad
    called: list[Any] = []
    x.register_hook(called.append)
    h.data = engine.ones(size, dtype=getattr(engine, dtype))
    way_out = "    Way out: ask explain(..., run=True), which runs backward and adds to no .grad.\n"
    assert explain(loss).text.count(way_out) == 1
    if dtype == "float64" and engine is not tinytorch and installed_release() >= (2, 15):
        # There a gradient may have another dtype than its tensor, so backward is run.
        assert explain(loss, run=True).text != explain(loss).text
        assert len(called) == 1
        assert h.grad is kept
        return
    assert explain(loss, run=True).text == explain(loss).text.replace(way_out, "")
    assert h.grad is kept
    assert called == []


def test_a_run_that_ends_badly_leaves_a_watch_its_sight(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    h, k = x * 2, x * 3
    for each in (h, k):
        each.retain_grad()
        each.sum().backward(retain_graph=True)
    kept = k.grad

    def replace(_: Any) -> None:
        # A hook of the program's may do so while it runs: then h takes no gradient back.
        h.data = engine.ones(2)

    x.register_hook(replace)
    explain((h * k).sum(), run=True)
    assert k.grad is kept
    with watch(silent="record") as w:
        y = x.detach().requires_grad_().exp()
        loss = (y * y).sum()
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    assert w.findings != []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_anomaly_mode_refuses_is_found_by_running_formulas(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    with engine.autograd.detect_anomaly():
        right, wrong = (x * 2).sum(), (x * 0).sqrt().sum()
        said = explain(wrong)
        assert said.verdict == "raises"
        assert "returned nan values in its 0th output" in said.text
        assert explain(right).verdict == "runs"
        hooked = x * 3
        handle = hooked.register_hook(_refuse)
        assert explain(hooked.sum()).verdict == "unknown"  # no code of the program is run
        handle.remove()
        with pytest.raises(RuntimeError, match="nan values"):
            wrong.backward()
    assert x.grad is None
