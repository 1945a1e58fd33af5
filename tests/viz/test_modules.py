"""In which module a node was made is said where it was noted, and nowhere else."""

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tinytorch.viz import modules, snapshot


def net_of(engine: ModuleType) -> Any:
    nn = engine.nn
    return nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 1)))


def paths(**tensors: Any) -> set[tuple[str, str | None]]:
    nodes = snapshot(**tensors).nodes
    return {(node.name, node.module) for node in nodes if node.variable is None}


INSIDE = {
    ("AddmmBackward0", "0"),
    ("TBackward0", "0"),
    ("ReluBackward0", "1.0"),
    ("AddmmBackward0", "1.1"),
    ("TBackward0", "1.1"),
}


def test_nodes_carry_the_path_of_their_module(engine: ModuleType) -> None:
    net, x = net_of(engine), engine.ones(1, 2)
    with modules(net):
        loss = net(x).sum()
    assert paths(loss=loss) == {*INSIDE, ("SumBackward0", None)}, "also after the context"
    assert {path for _, path in paths(late=net(x))} == {None}
    with modules(D=net):
        named = net(x)
    assert paths(named=named) == {(name, f"D.{path}") for name, path in INSIDE}
    with modules():
        every = engine.nn.MSELoss()(net(x), engine.ones(1, 1))
    assert {("MseLossBackward0", "MSELoss"), ("ReluBackward0", "Sequential.1.0")} < paths(
        every=every
    )


def test_a_models_own_forward_and_calls_of_its_parts(engine: ModuleType) -> None:
    class Net(engine.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.part = engine.nn.ReLU()

        def forward(self, x: Any) -> Any:
            return {"out": [self.part(x * 2).exp()]}

    net, x = Net(), engine.ones(2, requires_grad=True)
    with modules(net):
        y = net(x)["out"][0]
        z = net.part(x)
    assert paths(y=y) == {("MulBackward0", ""), ("ReluBackward0", "part"), ("ExpBackward0", "")}
    assert paths(z=z) == {("ReluBackward0", "part")}


def test_calls_that_an_error_ended_mislead_nobody(engine: ModuleType) -> None:
    class Fails(engine.nn.Module):  # type: ignore[name-defined]
        def forward(self, x: Any) -> Any:
            self.kept = x * 2
            raise ValueError("no luck")

    class Tries(engine.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.act = Fails(), engine.nn.ReLU()

        def forward(self, x: Any) -> Any:
            before = self.act(x)
            try:
                self.inner(x)
            except ValueError:
                return self.inner.kept.exp() + before

    net, x = Tries(), engine.ones(2, requires_grad=True)
    with modules(net):
        y = net(x)
        with pytest.raises(ValueError, match="no luck"):
            net.inner(x)
        again = net(x)
    said = {
        ("MulBackward0", None),
        ("ExpBackward0", None),
        ("AddBackward0", None),
        ("ReluBackward0", "act"),
    }
    assert paths(y=y) == paths(again=again) == said


def in_a_thread(work: Callable[[], Any]) -> Any:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(work()))
    thread.start()
    thread.join()
    return made[0]


def test_what_another_thread_computes_has_no_path(engine: ModuleType) -> None:
    net, x = net_of(engine), engine.ones(1, 2)

    def noted() -> Any:
        with modules(net):
            return net(x), in_a_thread(lambda: net(x))

    here, there = in_a_thread(noted)
    assert paths(here=here) == INSIDE
    assert {path for _, path in paths(there=there)} == {None}
    # In torch each thread counts for itself: two nodes of one number, so whose it is cannot be told.
    assert paths(here=here, there=there) & INSIDE == (
        INSIDE if engine.__name__ == "tinytorch" else set()
    )


def test_the_model_is_left_as_it_was_and_nothing_is_kept_alive(engine: ModuleType) -> None:
    net = net_of(engine)
    with modules(net) as noted:
        assert not net._forward_hooks
        twin = copy.deepcopy(net)
        pickle.dumps(net.state_dict())
        y = net(engine.ones(1, 2))
        assert {path for _, path in paths(y=twin(engine.ones(1, 2)))} == {None}
    kept = weakref.ref(net), weakref.ref(y)
    del net, y
    gc.collect()
    assert [one() for one in kept] == [None, None]
    noted.start()
    noted.stop()


@pytest.mark.torch
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_recomputation_gives_nobody_a_wrong_path(reentrant: bool) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    net, x = net_of(torch), torch.ones(1, 2, requires_grad=True)
    with modules(net):
        for _ in range(2):
            y = checkpoint(net, x, use_reentrant=reentrant)
            before = paths(y=y)
            y.sum().backward()
            loss = net(x)
    assert before == ({("CheckpointFunctionBackward", None)} if reentrant else INSIDE)
    assert paths(loss=loss) == INSIDE


def test_what_is_no_model_gets_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"modules\(\) takes models \(torch.nn.Module\), not int"):
        modules(3)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Using `torch.compile")
def test_a_compiled_model_runs_as_one_module() -> None:
    import torch

    compiled = torch.compile(net_of(torch), backend="eager", fullgraph=True)
    with modules():
        assert {path for _, path in paths(y=compiled(torch.ones(1, 2)))} == {"OptimizedModule"}


@pytest.mark.torch
@pytest.mark.parametrize("ahead", [0, 20, 200])
def test_gradients_that_another_thread_made_have_no_path(ahead: int) -> None:
    """As on a GPU, where backward has a thread of its own that counts its nodes from 0."""
    import torch

    net, x = net_of(torch), torch.ones(1, 2, requires_grad=True)

    def gradient(y: Any) -> Any:
        for _ in range(ahead):
            x * 1
        return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

    def penalised() -> Any:
        for _ in range(100):
            x * 1
        with modules(net):
            y = net(x)
            return y, in_a_thread(lambda: gradient(y))

    y, g = in_a_thread(penalised)
    assert paths(y=y) == INSIDE
    assert {path for path in paths(loss=y.sum() + g.sum()) if path[1] is not None} <= INSIDE
