"""What more steps leave alive: number, bytes, line and names are right, and nothing else is changed."""

import functools
import gc
import sys
import weakref
from types import ModuleType
from typing import Any

import copylab
import pytest
from copylab import Growth, growth


def test_that_tinytorch_was_not_looked_at_is_said(engine: ModuleType) -> None:
    kept: list[Any] = []
    before = sys.getprofile()
    sys.setprofile(lambda *_: None)
    try:
        found = growth(lambda: kept.append(engine.ones(3)))
    finally:
        sys.setprofile(before)
    assert bool(found) is (engine.__name__ == "torch")
    assert "tinytorch was not looked at: the program has a profiler of its own." in found.text


def make_net(engine: ModuleType) -> Any:
    engine.manual_seed(0)
    return engine.nn.Sequential(engine.nn.Linear(4, 4), engine.nn.ReLU(), engine.nn.Linear(4, 1))


class Trainer:
    def __init__(self, engine: ModuleType) -> None:
        self.engine, self.net = engine, make_net(engine)
        self.opt = engine.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.history: list[Any] = []
        self.last: Any = None

    def step(self) -> None:
        loss = self.net(self.engine.ones(2, 4)).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.last = loss.detach()


class Hoarder(Trainer):
    def step(self) -> None:
        super().step()
        self.history.append(self.last)


def test_what_a_list_keeps_is_told_with_its_line(engine: ModuleType) -> None:
    net, kept = make_net(engine), []
    x = engine.ones(2, 4)

    def step() -> None:
        hidden = net[0](x)
        kept.append(hidden)

    found = growth(step)
    (origin,) = found.origins
    assert origin[:3] == (10, 10 * 32, "addmm")
    assert origin.holders == ("the list kept",)
    assert origin.place is not None
    assert origin.place.code == "hidden = net[0](x)"
    assert (found.tensors, found.nbytes, len(kept)) == (10, 320, 11)
    line = f"test_growth.py:{origin.place.line}"
    assert found.text == (
        "10 more steps leave 10 tensors alive, 320 bytes.\n"
        "10 tensors, 320 bytes, made by addmm, held by the list kept:\n"
        f"  {line}  hidden = net[0](x)"
    )
    assert found
    assert repr(found) == "<10 more steps leave 10 tensors alive, 320 bytes>"
    assert "held by the list kept" in found.html


def test_what_each_step_replaces_is_no_growth(engine: ModuleType) -> None:
    trainer = Trainer(engine)
    found = growth(trainer.step)
    assert not found
    assert found.text == "10 more steps leave nothing alive beyond what the first left."
    # Two that are there in turn; and what is made once more, late.
    pair: list[Any] = []
    count = [0]

    def step() -> None:
        count[0] += 1
        pair.append(engine.ones(count[0]))
        del pair[:-2]

    assert not growth(step)
    assert count == [11]


def test_what_grows_seldom_or_in_an_object_is_found(engine: ModuleType) -> None:
    hoarder = Hoarder(engine)
    (origin,) = growth(hoarder.step, times=4).origins
    assert (origin.tensors, origin.operation) == (4, "sum")
    assert origin.holders == ("the list hoarder.history",)
    count, seldom = [0], {}

    def step(engine: ModuleType) -> None:
        count[0] += 1
        if count[0] % 5 == 0:
            seldom[count[0]] = engine.zeros(3)

    (origin,) = growth(functools.partial(step, engine)).origins
    assert origin[:3] == (2, 24, "zeros")
    assert origin.holders == ("the dict seldom",)


def test_a_sum_of_losses_holds_the_graphs_behind_it(engine: ModuleType) -> None:
    net = make_net(engine)
    total: Any = 0

    def step() -> None:
        nonlocal total
        total = total + net(engine.randn(2, 4)).sum()

    found = growth(step, times=6)
    assert {origin.operation for origin in found.origins} >= {"randn", "relu"}
    assert {origin.tensors for origin in found.origins} == {6}
    assert {origin.holders for origin in found.origins} == {("the graph behind total",)}


def test_a_buffer_that_carries_its_history_is_named(engine: ModuleType) -> None:
    class Codebook(engine.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.proj = engine.nn.Linear(2, 2)
            self.register_buffer("mean", engine.zeros(2))

        def forward(self, x: Any) -> Any:
            z = self.proj(x)
            self.mean: Any = 0.9 * self.mean + 0.1 * (z * z).sum(0)
            return z - self.mean.detach()

    book = Codebook()
    found = growth(lambda: book(engine.ones(3, 2)), times=4)
    assert found
    assert {origin.holders for origin in found.origins} == {("the graph behind book.mean",)}


def test_memory_without_a_name_is_said_to_have_none(engine: ModuleType) -> None:
    def make_step() -> Any:
        kept: list[Any] = []
        return lambda: kept.append(engine.ones(2))

    class Caller:
        step = staticmethod(make_step())

        def __call__(self) -> None:
            type(self).step()

    (origin,) = growth(Caller(), times=2).origins
    assert origin.holders == ()
    assert origin.sentence.endswith("made by ones; no name was found that holds them")


def test_growth_changes_nothing_and_keeps_nothing(engine: ModuleType) -> None:
    trainer, plain = Hoarder(engine), Hoarder(engine)
    growth(trainer.step)
    for _ in range(11):
        plain.step()
    for ours, theirs in zip(trainer.net.parameters(), plain.net.parameters(), strict=True):
        assert ours.tolist() == theirs.tolist()
        assert ours._version == theirs._version
        assert ours.grad.tolist() == theirs.grad.tolist()
    assert sys.getprofile() is None
    alive = [weakref.ref(tensor) for tensor in trainer.history]
    trainer.history.clear()
    trainer.last = None
    gc.collect()
    assert {reference() for reference in alive} == {None}


def test_an_error_of_a_step_ends_it(engine: ModuleType) -> None:
    def step() -> None:
        engine.ones(2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        growth(step)
    assert sys.getprofile() is None
    if engine.__name__ == "torch":
        assert engine._C._len_torch_dispatch_stack() == 0
    with pytest.raises(TypeError, match="step must be a function"):
        growth(engine.ones(2))
    with pytest.raises(ValueError, match="times must be 2 or more, not 1"):
        growth(step, times=1)


@pytest.mark.torch
def test_lists_that_are_written_are_counted_as_without() -> None:
    import torch

    def train(opt: Any, net: Any) -> None:
        net(torch.ones(1, 3)).sum().backward()
        opt.step()

    versions = []
    for run in (lambda step: growth(step, times=2), lambda step: [step() for _ in range(3)]):
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1, foreach=True)
        run(functools.partial(train, opt, net))
        versions.append([parameter._version for parameter in net.parameters()])
    assert versions[0] == versions[1] != [0, 0]


@pytest.mark.torch
def test_several_results_of_one_operation_are_told_apart() -> None:
    import torch

    kept: list[Any] = []
    x = torch.rand(4, 4)
    (origin,) = growth(lambda: kept.append(torch.sort(x)[0]), times=3).origins
    assert (origin.tensors, origin.nbytes) == (3, 3 * 64)
    assert isinstance(copylab.growth(lambda: torch.sort(x), times=2), Growth)
