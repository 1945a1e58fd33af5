"""Looking changes nothing: random programs run with and without being looked at end alike."""

import gc
import os
import random
import subprocess
import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tinytorch.viz import explain, graph, memory, snapshot
from tinytorch.viz.read.probe import read_history

PROGRAMS = int(os.environ.get("COPYLAB_PROGRAMS", "200"))
"""A long run by hand: COPYLAB_PROGRAMS=1000."""

STEPS: list[Callable[[Any, Any, ModuleType], Any]] = [
    lambda a, _b, _t: a.detach(),
    lambda a, _b, _t: a.data,
    lambda a, _b, _t: a.clone(),
    lambda a, b, _t: a + b,
    lambda a, b, _t: a * b,
    lambda a, _b, _t: a * 2,
    lambda a, _b, _t: a.exp(),
    lambda a, _b, _t: a.sigmoid(),
    lambda a, _b, _t: a.view(3, 2),
    lambda a, _b, _t: a.view(2, 3).t(),
    lambda a, _b, _t: a.add_(1),
    lambda a, b, _t: a.mul_(b),
    lambda a, _b, _t: a.zero_(),
    lambda a, _b, _t: a.detach().fill_(3),
    lambda a, _b, _t: a.sum().backward(),
    lambda a, _b, _t: a.sum().backward(retain_graph=True),
    lambda _a, _b, t: t.ones(6, requires_grad=True),
    lambda a, b, _t: a.copy_(b),
    lambda a, _b, _t: a.detach_(),
]


def play(seed: int, engine: ModuleType, look: bool) -> list[Any]:
    """Run one random program; what it ends with, and every error on the way."""
    choose = random.Random(seed)
    pool: list[Any] = [
        engine.ones(6, requires_grad=True),
        engine.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    ]
    log: list[Any] = []
    for _ in range(7):
        step, a, b = choose.choice(STEPS), choose.choice(pool), choose.choice(pool)
        try:
            made = step(a, b.view(a.shape), engine)
        except RuntimeError as error:
            log.append(str(error))
            made = None
        if made is not None:
            pool.append(made)
        if look:
            look_at(pool)
    return [*log, *(facts(tensor) for tensor in pool)]


def look_at(pool: list[Any]) -> None:
    # What an error of the program left behind in a circle must not be collected between the two counts.
    gc.disable()
    try:
        look_and_compare(pool)
    finally:
        gc.enable()


def look_and_compare(pool: list[Any]) -> None:
    # The nodes of leaves, once seen, live as long as the graph, as they do in torch.
    snapshot(pool=pool)
    counts = [sys.getrefcount(tensor) for tensor in pool]
    versions = [tensor._version for tensor in pool]
    # Not `grad_fn`: reading it would make the histories of some views anew.
    histories = [read_history(tensor) for tensor in pool]
    snap = snapshot(pool=pool)
    explain(snap)
    _ = memory(snap).text, graph(snap).text
    assert [tensor._version for tensor in pool] == versions
    for tensor, earlier in zip(pool, histories, strict=True):
        now = read_history(tensor)
        assert now.is_of_twin == earlier.is_of_twin
        assert earlier.is_of_twin or now.grad_fn is earlier.grad_fn
    del histories, earlier, now, tensor, snap
    assert [sys.getrefcount(tensor) for tensor in pool] == counts


def facts(tensor: Any) -> tuple[Any, ...]:
    name = None if tensor.grad_fn is None else tensor.grad_fn.name()
    grad = tensor.grad if tensor.is_leaf else None
    return (
        tensor.tolist(),
        tensor._version,
        tensor.requires_grad,
        name,
        tuple(tensor.stride()),
        None if grad is None else (grad.tolist(), grad._version),
    )


@pytest.mark.stress
def test_a_storage_that_was_looked_at_can_be_resized() -> None:
    torch = pytest.importorskip("torch")
    # FSDP gives the memory of parameters back so. Of small storages all cells are shown.
    for x in (torch.ones(3), torch.arange(200.0), torch.ones(30, 30).t()):
        memory(x).text  # noqa: B018 - a look
        explain((x * x.clone().requires_grad_()).sum())
        assert x.untyped_storage().resizable()


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(PROGRAMS // 5), id="some"),
        pytest.param(range(PROGRAMS // 5, PROGRAMS), id="more", marks=pytest.mark.stress),
    ],
)
def test_random_programs_end_the_same_whether_looked_at_or_not(
    engine: ModuleType, seeds: range
) -> None:
    for seed in seeds:
        assert repr(play(seed, engine, look=True)) == repr(play(seed, engine, look=False)), seed


@pytest.mark.stress
@pytest.mark.torch
def test_random_programs_are_told_alike_over_both_engines() -> None:
    import torch

    import tinytorch

    for seed in range(PROGRAMS):
        told = []
        for engine in (tinytorch, torch):
            choose = random.Random(seed)
            pool: list[Any] = [
                engine.ones(6, requires_grad=True),
                engine.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            ]
            for _ in range(7):
                step, a, b = choose.choice(STEPS), choose.choice(pool), choose.choice(pool)
                try:
                    made = step(a, b.view(a.shape), engine)
                except RuntimeError:
                    made = None
                if made is not None:
                    pool.append(made)
            snap = snapshot(pool=pool)
            told.append((memory(snap).text, graph(snap).text, explain(snap).text, memory(snap).svg))
        # exp of exp blows a difference in the last bit of a float32 up until it shows.
        if all(tensor.detach().abs().max().item() < 1e4 for tensor in pool):
            assert told[0] == told[1], seed


def test_what_was_looked_at_is_refused_as_before_once_it_is_detached_in_place(
    engine: ModuleType,
) -> None:
    x = engine.ones(3, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    snapshot(z=z)
    y.detach_()
    snapshot(z=z)
    with pytest.raises(RuntimeError, match=r"detached in-place"):
        z.backward()


def test_snapshots_of_random_programs_keep_nothing_alive(engine: ModuleType) -> None:
    for seed in range(8):
        choose = random.Random(seed)
        pool: list[Any] = [engine.ones(6, requires_grad=True)]
        for _ in range(5):
            a = choose.choice(pool)
            pool.append(choose.choice([a * 2, a.detach(), a.exp(), a.view(6)]))
        watch = [weakref.ref(tensor) for tensor in pool]
        kept = snapshot(pool=pool), memory(pool=pool), graph(pool=pool), explain({"pool": pool})
        _ = kept[1].svg, kept[2].svg
        pool.clear()
        del a
        gc.collect()
        assert all(reference() is None for reference in watch)
        assert kept[0].names


def test_a_view_gets_its_new_history_no_earlier_than_without_a_look(engine: ModuleType) -> None:
    def train(look: Callable[..., Any] | None) -> Any:
        weight = engine.ones(3, requires_grad=True)
        base = engine.ones(3)
        view = base.view(3)
        base.mul_(weight)  # from here on reading view.grad_fn would give the view a history
        if look is not None:
            look(view=view, base=base)
        base.detach_()
        assert view.requires_grad is (look is read)
        (view * engine.ones(3, requires_grad=True)).sum().backward()
        return weight.grad

    def read(view: Any, base: Any) -> Any:
        return view.grad_fn, base

    assert train(read) is not None, "the program that a look must not become"
    for look in (None, snapshot, explain, memory, graph):
        assert train(look) is None, look


def test_a_history_that_is_not_there_yet_is_shown_as_it_would_be_read(engine: ModuleType) -> None:
    leaf = engine.ones(3, requires_grad=True)
    base = leaf * 2
    view, part = base.view(3), base[1:]
    base.mul_(3)
    first = snapshot(view=view, part=part, base=base)
    later = snapshot(view=view, part=part, base=base, since=first)
    assert "Changed" not in graph(later, since=first).text
    assert "new" not in graph(later, since=first).text
    said = explain(view=view.sum()).text, graph(first).text
    for tensor in (view, part):
        assert tensor.grad_fn.name() == "AsStridedBackward0"
    assert graph(view=view, part=part, base=base).text == said[1]
    assert first.tensor("view").is_leaf is False
    base.mul_(3)
    assert snapshot(view=view, since=first).nodes[0].key != first.nodes[0].key


@pytest.mark.torch
def test_tensors_can_be_swapped_after_a_look() -> None:
    import torch

    net, x, y = torch.nn.Linear(2, 1), torch.ones(3), torch.zeros(3)
    looks: list[Any] = [
        memory(net, x=x, since=snapshot(net, x=x)),
        graph(net(torch.ones(1, 2)).sum(), net),
        explain(x=x),
        snapshot(net).without_identities(),
    ]
    torch.utils.swap_tensors(x, y)
    earlier = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        net.double()
        net.load_state_dict(torch.nn.Linear(2, 1).state_dict())
    finally:
        torch.__future__.set_swap_module_params_on_conversion(earlier)
    assert net.weight.dtype == torch.float64
    assert all(looks)


def test_a_search_among_all_objects_disturbs_no_thread_that_fills_a_tuple() -> None:
    program = """if True:
        import collections, sys, threading
        from tinytorch.viz.read.doubts import find_classes, find_objects

        sys.addaudithook(lambda event, arguments: None)  # can never be removed
        errors, has_ended = [], threading.Event()

        def fill():
            while not has_ended.is_set():
                try:
                    tuple(number for number in range(1000))
                except SystemError as error:
                    errors.append(error)

        threads = [threading.Thread(target=fill) for _ in range(3)]
        sys.setswitchinterval(1e-4)
        for thread in threads:
            thread.start()
        for _ in range(10):
            kept = collections.OrderedDict(a=1)
            assert any(found is kept for found in find_objects([collections.OrderedDict]))
            assert collections.OrderedDict in find_classes()
        has_ended.set()
        for thread in threads:
            thread.join()
        print(len(errors))
    """
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0\n"
