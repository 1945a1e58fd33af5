"""Findings have numbers where they are cheap: the gradient as it is, and from the values as they were when saved."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import copylab
import pytest
from copylab.watching.watched_backward import MeasuredBackward

from tinytorch.viz import explain

Program = Callable[[Any, Callable[[Any], Any]], Any]
"""Computes with an engine; what it is given writes through the `.data` of a tensor. Returns leaves."""


def product(engine: Any, write: Callable[[Any], Any]) -> Any:
    w = engine.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = w * w
    write(w)
    h.sum().backward()
    return w


def result(engine: Any, write: Callable[[Any], Any]) -> Any:
    w = engine.tensor([0.5, -2.0], requires_grad=True)
    h = w.sigmoid()
    write(h)
    (h * 3).sum().backward(retain_graph=True)
    return w


def columns(engine: Any, write: Callable[[Any], Any]) -> Any:
    w = engine.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    m = engine.arange(1.0, 13.0).view(3, 4)
    h = w @ m[:, ::2]  # saves a view with gaps
    k = h.t() * m[0, :1].expand(2, 2)
    write(m)
    k.sum().backward()
    return w


def layer(engine: Any, write: Callable[[Any], Any]) -> Any:
    net = engine.nn.Linear(3, 1)
    with engine.no_grad():
        net.weight.copy_(engine.tensor([[0.5, -0.25, 2.0]]))
    w = engine.ones(2, 3, requires_grad=True)
    loss = (net(w) ** 2).mean()
    write(net.weight)
    loss.backward()
    return w


def double(tensor: Any) -> None:
    tensor.data.mul_(11)


def write_by_numpy(tensor: Any) -> None:
    tensor.detach().numpy()[0] = 7


def spoil_square(h: Any, more: Any = 0) -> None:
    loss = (h * h).sum() + more
    double(h)
    loss.backward()


def numbers_of(watch: copylab.Watch) -> list[Any]:
    return [finding.gradients for finding in watch.findings]


def nothing(_: Any) -> None:
    """Write nothing."""


@pytest.mark.parametrize("program", [product, result, columns, layer])
def test_both_numbers_are_those_of_runs(engine: ModuleType, program: Program) -> None:
    engine.manual_seed(0)
    saved = program(engine, nothing).grad
    engine.manual_seed(0)
    spoiled = program(engine, double).grad
    engine.manual_seed(0)
    with copylab.watch(silent="record") as watch:
        watched = program(engine, double).grad
    assert watched.tolist() == spoiled.tolist(), "computing numbers changes no gradient"
    found = [numbers for finding in watch.findings for numbers in finding.gradients]
    assert [numbers.name for numbers in found] == ["w"]
    assert engine.allclose(engine.tensor(eval(found[0].now)).float(), spoiled, rtol=1e-3)
    assert engine.allclose(engine.tensor(eval(found[0].from_saved)).float(), saved, rtol=1e-3)


def test_a_finding_is_a_headline_then_numbers(engine: ModuleType) -> None:
    with pytest.warns(copylab.GradientWarning) as said, copylab.watch() as watch:
        product(engine, double)
    (finding,) = watch.findings
    first = product.__code__.co_firstlineno
    written = double.__code__.co_firstlineno + 1
    headline, numbers = finding.summary.splitlines()[:2]
    assert headline.startswith(
        f"w was changed by line {written} after line {first + 2} saved it. PyTorch raises no error; "
    )
    assert numbers == (
        "The gradient of w is [22, 44, 66]; from the values as they were when saved, it would be [2, 4, 6]."
    )
    assert str(said[0].message) == finding.summary
    assert finding.gradients[0].now in watch.text
    assert finding.gradients[0].now in watch.html
    # A list without a class has a bullet, left of the box of its finding.
    assert "<ul>" not in watch.html
    assert ".data" in finding.way_out


def test_nothing_is_run_that_leaves_a_trace(engine: ModuleType) -> None:
    calls: list[Any] = []

    def run(*, hook: bool, keeps: bool) -> Any:
        w = engine.tensor([1.0, 2.0], requires_grad=True)
        h = w * 2
        if hook:
            h.register_hook(calls.append)
        if keeps:
            h.retain_grad()
        spoil_square(h)
        return h

    with copylab.watch(silent="record") as watch:
        assert run(hook=False, keeps=True).grad.tolist() == [44, 88]
    assert numbers_of(watch) == [()]
    w = engine.tensor([1.0, 2.0], requires_grad=True)
    base = w + 1
    base.retain_grad()  # before a watch could hear of it
    with copylab.watch(silent="record") as watch:
        spoil_square(base * 2)
    assert base.grad.tolist() == w.grad.tolist() == [176, 264]
    assert watch.findings[0].gradients[0] == ("w", "[176, 264]", "[16, 24]")
    seen = base.view(2)
    base.data = engine.ones(1)  # takes its gradient no more
    grad_before = base.grad
    with copylab.watch(silent="record") as watch:
        spoil_square(w * 2, seen.sum())
    assert numbers_of(watch) == [()]
    assert (base.grad - grad_before).tolist() == [1, 1]
    with copylab.watch(silent="record") as watch:
        run(hook=True, keeps=False)
    assert len(calls) == 1
    assert numbers_of(watch) == [()]
    with copylab.watch(silent="record") as watch:
        run(hook=False, keeps=False)
    assert numbers_of(watch) == [(("w", "[88, 176]", "[8, 16]"),)]


def test_numbers_are_left_out_where_they_are_not_known(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(size: int, write: Callable[[Any], Any]) -> None:
        w = engine.ones(size, requires_grad=True)
        h = w.exp()
        write(h)
        h.sum().backward()

    def run_long(size: int) -> None:
        w = engine.ones(size, requires_grad=True)
        h = w.exp()
        double(h)
        for _ in range(200):
            h = h + 1
        h.sum().backward()

    with copylab.watch(silent="record") as watch:
        run(100, double)
        run(3, write_by_numpy)
        run_long(3)
    e = "[2.718, 2.718, 2.718]"
    assert numbers_of(watch) == [(), (("w", "[7, 2.718, 2.718]", e),), ()]
    assert ".data" not in watch.findings[1].way_out, "the program has none"
    measured: list[Any] = []

    searches: list[Any] = []

    def search(base: Any) -> list[Any]:
        searches.append(base)
        return []

    monkeypatch.setattr("tinytorch.viz.read.retained_gradients.find_instances", search)
    with copylab.watch(silent="record"):
        for _ in range(3):
            run(3, double)
    assert len(searches) == 1, "all objects of the process are searched once in a watch"

    def measure(root: Any, _frame: Any, _find_retained: Any) -> MeasuredBackward:
        measured.append(root)
        return MeasuredBackward()

    monkeypatch.setattr("copylab.watching.watched_backward.measure_gradients", measure)
    with copylab.watch(silent="record") as watch:
        for _ in range(20):
            run(3, double)
        run(3, nothing)
    assert (watch.findings[0].times, len(measured)) == (20, 10)


def test_numbers_need_the_bytes_of_what_was_changed(engine: ModuleType) -> None:
    def run(size: int, write: Callable[[Any], Any]) -> Any:
        with copylab.watch(silent="record") as watch:
            w = engine.zeros(1, requires_grad=True)
            h = w.expand(size).exp()
            write(h)
            h.sum().backward()
        return watch

    # 8 KB of float32 are kept, and 256 bytes are searched for writes that nothing reports.
    assert numbers_of(run(2048, double)) == [(("w", "[2.253e+04]", "[2048]"),)]
    assert numbers_of(run(2049, double)) == [()]
    assert numbers_of(run(64, write_by_numpy)) == [(("w", "[70]", "[64]"),)]
    assert numbers_of(run(65, write_by_numpy)) == [()]


def test_a_write_that_changes_no_gradient_is_no_finding(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tinytorch.viz.read.doubts._find_hooks_on_graphs", lambda *_: [])

    def run(write: Callable[[Any], Any], rows: int) -> tuple[str, str]:
        with copylab.watch(silent="record") as watch:
            w = engine.ones(2, 2, requires_grad=True)
            h = w.exp()
            loss = h[:rows].sum()  # of one row, no gradient arrives in the other
            write(h[1])
            said = copylab.explain(loss)
            loss.backward()
        return said.verdict, repr(watch.findings)

    for write in (double, write_by_numpy):
        assert run(write, 1) == ("runs", "[]")
        verdict, findings = run(write, 2)
        assert (verdict, "h was changed" in findings) == ("may be wrong", True)


def test_the_way_out_of_a_write_to_a_view(engine: ModuleType) -> None:
    x = engine.ones(3, requires_grad=True)
    h = x * 1
    loss = (h * h).sum()
    v = h[:1]
    v.mul_(2)
    text = copylab.explain(loss, h, v).text
    # A copy of v would leave h as it is, which the program means to write to.
    assert "write after backward, or copy the whole base first and take v from the copy" in text


class Noting:
    """What a mode or a subclass of the program's own is called for."""

    seen: list[str] = []  # noqa: RUF012 - emptied before each run

    @classmethod
    def note(cls, function: Any, args: tuple, kwargs: dict[str, Any] | None) -> Any:
        cls.seen.append(function.__name__)
        return function(*args, **kwargs or {})


@contextmanager
def dispatch_mode() -> Iterator[Any]:
    class Mode(import_module("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return Noting.note(function, args, kwargs)

    with Mode():
        yield lambda tensor: tensor


@contextmanager
def function_mode() -> Iterator[Any]:
    class Mode(import_module("torch.overrides").TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return Noting.note(function, args, kwargs)

    with Mode():
        yield lambda tensor: tensor


@contextmanager
def subclass() -> Iterator[Any]:
    torch: Any = import_module("torch")

    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return Noting.note(function, args, kwargs)

    yield lambda tensor: tensor.as_subclass(Sub)


@contextmanager
def profiler() -> Iterator[Any]:
    torch: Any = import_module("torch")
    with torch.autograd.profiler.profile() as profile:
        yield lambda tensor: tensor
    Noting.seen += [each.name for each in profile.function_events if "Backward" in each.name]


@pytest.mark.torch
@pytest.mark.parametrize("is_spoiled", [True, False])
@pytest.mark.parametrize("observer", [dispatch_mode, function_mode, subclass, profiler])
def test_what_the_program_looks_on_with_sees_one_backward(
    observer: Callable[[], AbstractContextManager[Any]], is_spoiled: bool
) -> None:
    torch: Any = import_module("torch")

    def run() -> list[str]:
        Noting.seen.clear()
        h = torch.ones(2, requires_grad=True) * 2
        loss = (h * h).sum()
        if is_spoiled:
            double(h)
        with observer() as wrap:
            root = wrap(loss)
            Noting.seen.clear()
            root.backward()
        # A watch detaches what it reads, and asks which type a tensor has.
        return [name for name in Noting.seen if name not in ("detach.default", "__get__")]

    alone = run()
    with copylab.watch(silent="record") as watch:
        assert run() == alone
    assert numbers_of(watch) == ([()] if is_spoiled else [])


@pytest.mark.torch
@pytest.mark.parametrize("observer", [dispatch_mode, function_mode, subclass, profiler])
def test_what_the_program_looks_on_with_sees_no_look(
    observer: Callable[[], AbstractContextManager[Any]],
) -> None:
    """`explain` ran two backwards under a mode of the program's."""
    torch: Any = import_module("torch")
    with copylab.watch(silent="record"):
        h = torch.ones(2, requires_grad=True) * 2
        loss = (h * h).sum()
        double(h)
        with observer() as wrap:
            root = wrap(loss)
            Noting.seen.clear()
            assert explain(root).verdict == "may be wrong"
    assert Noting.seen == []
