"""Backwards under a watch, by whichever call: inside of hooks, inside of each other, and what a watch leaves of the engine."""

import functools
import threading
import traceback
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from copylab.doc import indent_text
from copylab.watching import run_watched, watch
from needs import torch_missing
from watched_programs import run_with_lines

from tinytorch.viz import explain

SAVED_BY_HOOKS = {
    "a checkpoint": "h = checkpoint(lambda x: cell(x).tanh(), h, use_reentrant=False)",
    "a reentrant checkpoint": "h = checkpoint(lambda x: cell(x).tanh(), h, use_reentrant=True)",
    "save_on_cpu": "with graph.save_on_cpu(): h = cell(h).tanh()",
    "hooks that compute": "with graph.saved_tensors_hooks(pack, unpack): h = cell(h).tanh()",
}
HIDDEN_STATE = """
from torch.utils.checkpoint import checkpoint
from torch.autograd import graph
def pack(t):
    return t.double() * 1
def unpack(t):
    return t.float()
cell = torch.nn.Linear(3, 3)
h = torch.zeros(2, 3, requires_grad=True)
for _ in range(3):
    {line}
    loss = h.pow(2).mean()
    said(loss); {call}
"""
CALLS = {
    "Tensor.backward": "loss.backward()",
    "autograd.backward": "torch.autograd.backward(loss)",
    "autograd.grad": "torch.autograd.grad(loss, cell.weight)",
}


# PyTorch itself raises at once: a reentrant checkpoint goes with `backward` alone.
REFUSED = ("a reentrant checkpoint", "autograd.grad")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("kind", "call"), [case for case in product(SAVED_BY_HOOKS, CALLS) if case != REFUSED]
)
def test_what_hooks_have_saved_is_found_freed(kind: str, call: str) -> None:
    torch: Any = pytest.importorskip("torch", reason=torch_missing())
    said: list[str] = []
    source = HIDDEN_STATE.format(line=SAVED_BY_HOOKS[kind], call=CALLS[call])
    watched, error, _ = run_with_lines(
        torch, source, said=lambda loss: said.append(str(explain(loss)))
    )
    assert "a second time" in str(error)
    (finding,) = watched.findings
    found: Any = finding
    places = (found.made, found.freed, found.carried, found.backward)
    assert [place.line for place in places] == [11, 13, 11, 13]
    assert found.title.startswith("h ")
    assert len(error.__notes__) == 1
    assert indent_text(found.lines.partition("\nreached")[0], "    ") in said[-1]
    assert not any("made  " in text for text in said[:-1])


def backward_in_backward(engine: Any) -> tuple[Any, Any]:
    """Return a loss whose backward goes through another graph, and the loss of that."""

    class Inner(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:  # noqa: ARG004
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:  # noqa: ARG004
            inner.backward()
            return gradient * 2

    w = engine.ones(3, requires_grad=True)
    inner = (w * w).sum()
    return Inner.apply(w * w).sum(), inner


def test_an_error_of_an_inner_backward_is_said_once(engine: ModuleType) -> None:
    with watch(silent="record") as watched:
        outer, inner = backward_in_backward(engine)
        (outer * 1).backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="a second time") as caught:
            outer.backward()
    assert inner.grad_fn is not None
    (finding,) = watched.findings
    assert "inner = (w * w).sum()" in finding.lines
    assert len(caught.value.__notes__) == 1


def test_an_inner_backward_is_none_of_the_programs(engine: Any) -> None:
    """Without an optimizer, a watch looks at modules after backwards: after those of the program alone."""
    unused = engine.nn.Linear(2, 2)
    net = engine.nn.ModuleList([engine.nn.Linear(2, 1), unused])
    with watch(silent="record") as watched:
        for _ in range(3):
            outer, _ = backward_in_backward(engine)
            (outer + net[0](engine.ones(1, 2)).sum()).backward()
    (missing,) = watched.missing_gradients
    assert missing.times == 3


def test_backward_of_the_module_counts_and_grad_does_not(engine: Any) -> None:
    net = engine.nn.ModuleList([engine.nn.Linear(2, 1), engine.nn.Linear(2, 2)])
    with watch(silent="record") as watched:
        for _ in range(2):
            engine.autograd.backward(net[0](engine.ones(1, 2)).sum())
            engine.autograd.grad(net[0](engine.ones(1, 2)).sum(), net[0].weight)
    (missing,) = watched.missing_gradients
    assert missing.times == 2


# -- what a watch leaves ------------------------------------------------------------------


def doors_of(engine: Any) -> list[Any]:
    """Return what a watch replaces of an engine's backward."""
    if engine.__name__ == "tinytorch":
        return [engine.autograd.api._check_and_walk, engine.Tensor.backward]
    return [
        engine.autograd._engine_run_backward,
        engine.autograd.graph._engine_run_backward,
        engine.Tensor.backward,
    ]


def test_a_watch_leaves_the_engine_as_it_was(engine: ModuleType) -> None:
    before = doors_of(engine)
    watched = watch(silent="record").start()
    assert doors_of(engine) != before
    watched.stop()
    assert doors_of(engine) == before


def test_another_tool_may_wrap_the_engine_meanwhile(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_tiny = engine.__name__ == "tinytorch"
    module: Any = engine.autograd.api if is_tiny else engine.autograd
    name = "_check_and_walk" if is_tiny else "_engine_run_backward"
    monkeypatch.setattr(module, name, getattr(module, name))  # put back at the end
    calls: list[str] = []

    with watch(silent="record"):
        ours = getattr(module, name)

        @functools.wraps(ours)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            calls.append("wrapped")
            return ours(*args, **kwargs)

        setattr(module, name, wrapped)
    assert getattr(module, name) is wrapped
    w = engine.ones(3, requires_grad=True)
    engine.autograd.backward((w * w).sum())
    # The tool puts back what it had found, which is ours: then the next watch has it twice.
    setattr(module, name, ours)
    net = engine.nn.ModuleList([engine.nn.Linear(3, 1), engine.nn.Linear(2, 2)])
    with watch(silent="record") as watched:
        for _ in range(2):
            engine.autograd.backward(net[0](w).sum())
        y = (w * w).sum()
        engine.autograd.grad(y, w)
        with pytest.raises(RuntimeError, match="a second time") as caught:
            engine.autograd.grad(y, w)
    assert calls == ["wrapped"]
    assert len(caught.value.__notes__) == len(watched.findings) == 1
    (missing,) = watched.missing_gradients
    assert missing.times == 2


@pytest.mark.torch
def test_a_later_watch_knows_the_frame_of_the_engine() -> None:
    """Below it the formulas run, for which the watch takes its mode off."""
    pytest.importorskip("torch", reason=torch_missing())
    names: list[str] = []

    def note_name() -> None:
        hooks: Any = watched.find_torch_hooks()
        names.append(hooks.pauses.engine_code.co_name)

    with watch(silent="record"), watch(silent="record") as watched:
        note_name()
        thread = threading.Thread(target=note_name)
        thread.start()
        thread.join()
    assert names == ["_engine_run_backward"] * 2


def raise_by_grad(engine: Any, *, is_watched: bool) -> Any:
    """Return the error of a second `autograd.grad`."""

    def fail() -> None:
        y = engine.ones(3, requires_grad=True).exp().sum()
        engine.autograd.backward(y)
        engine.autograd.grad(y, y)
        engine.autograd.backward(y)

    try:
        if is_watched:
            with watch(silent="record"):
                fail()
        else:
            fail()
    except RuntimeError as error:
        return error
    raise AssertionError("no error")


def test_the_error_and_its_traceback_are_those_without_a_watch(engine: ModuleType) -> None:
    alone = raise_by_grad(engine, is_watched=False)
    watched = raise_by_grad(engine, is_watched=True)
    assert str(alone) == str(watched)
    frames = [
        [(frame.filename, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
        for error in (alone, watched)
    ]
    assert frames[0] == frames[1]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_compiled_or_transformed_is_left_alone() -> None:
    torch: Any = pytest.importorskip("torch", reason=torch_missing())

    def slope(x: Any) -> Any:
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x * x).sum(), x)[0]

    def transform(x: Any) -> Any:
        return torch.func.grad(lambda t: (t * t).sum())(x)

    values = torch.arange(3.0)
    compiled = torch.compile(slope, backend="aot_eager")
    slopes = [function(values).tolist() for function in (compiled, slope, transform)]
    with watch(silent="record") as watched:
        assert [function(values).tolist() for function in (compiled, slope, transform)] == slopes
    assert [function(values).tolist() for function in (compiled, slope, transform)] == slopes
    assert watched.findings == []


@pytest.mark.torch
def test_the_command_names_the_lines_of_grad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason=torch_missing())
    monkeypatch.chdir(tmp_path)
    program = """import torch
w = torch.ones(3, requires_grad=True)
y = (w * w).sum()
torch.autograd.grad(y, w)
torch.autograd.grad(y * 2, w)
"""
    Path("train.py").write_text(program, "utf-8")
    assert run_watched("train.py", []) == 1
    printed = capsys.readouterr().err
    for line in ("made     train.py:3", "freed    train.py:4", "carried  train.py:5"):
        assert line in printed
    assert "Seen by copylab.watch:" in printed


@pytest.mark.parametrize("inputs", [1, [[2.0]]])
def test_the_error_of_wrong_inputs_is_the_engines(inputs: Any, engine: Any) -> None:
    def call_backward() -> str:
        w = engine.ones(2, requires_grad=True)
        given = engine.ones(2).numpy() if inputs == 1 else inputs
        try:
            (w * w).sum().backward(inputs=given)
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        return "no error"

    error = call_backward()
    assert error != "no error"
    with watch(silent="record"):
        assert call_backward() == error


def test_inputs_that_can_be_read_once_are_found_freed(engine: Any) -> None:
    with watch(silent="record") as watched:
        w = engine.ones(2, requires_grad=True)
        loss = (w * w).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="a second time"):
            loss.backward(inputs=(each for each in [w]))
    (finding,) = watched.findings
    assert "loss = (w * w).sum()" in finding.lines
