"""Networks: losses against PyTorch on random inputs, first and second derivatives, state dicts, hooks, training."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch

LOSSES = {
    "mse_loss": "x(4, 3), x(4, 3)",
    "binary_cross_entropy_with_logits": "x(5), p(5)", "nll_loss": "x(4, 3), c(4)",
    "cross_entropy": "x(4, 3), c(4)",
}  # fmt: skip


def _evaluate(engine: Any, name: str, arguments: str, reduction: str) -> list[Any]:
    engine.manual_seed(4)
    leaves: list[Any] = []

    def leaf(t: Any) -> Any:
        leaves.append(t.requires_grad_())
        return t

    names = {
        "x": lambda *s: leaf(engine.randn(s, dtype=engine.float64)),
        "p": lambda *s: leaf(engine.rand(s, dtype=engine.float64) * 0.8 + 0.1),
        "c": lambda *s: engine.randint(0, 3, s),
        "F": engine.nn.functional,
    }
    loss = eval(f"F.{name}({arguments}, reduction={reduction!r})", names)
    first = engine.autograd.grad(loss.sum(), leaves, create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in first if g is not None)
    second = engine.autograd.grad(total, leaves, allow_unused=True) if total.requires_grad else []
    return [
        loss.grad_fn.name(),
        *[None if t is None else (t.detach() + 0.0).numpy() for t in (loss, *first, *second)],
    ]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str) -> None:
    import torch

    mine, theirs = (_evaluate(e, name, LOSSES[name], reduction) for e in (tinytorch, torch))
    assert mine[0] == theirs[0]
    for a, b in zip(mine[1:], theirs[1:], strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-14)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["relu", "sigmoid", "tanh"])
def test_activations(name: str) -> None:
    import torch

    x = np.linspace(-4, 4, 41)
    for dtype, tolerance in (("float32", 2e-6), ("float64", 1e-12)):
        a = tinytorch.tensor(x, dtype=getattr(tinytorch, dtype), requires_grad=True)
        b = torch.tensor(x, dtype=getattr(torch, dtype), requires_grad=True)
        p, q = getattr(tinytorch.nn.functional, name)(a), getattr(torch.nn.functional, name)(b)
        np.testing.assert_allclose(
            p.detach().numpy(), q.detach().numpy(), rtol=tolerance, atol=tolerance
        )
        p.sum().backward()
        q.sum().backward()
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=tolerance, atol=tolerance)


def _net(engine: Any) -> Any:
    engine.manual_seed(0)
    nn = engine.nn
    return nn.Sequential(
        nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.ModuleList([nn.ReLU()])[0], nn.Linear(8, 3)
    )


@pytest.mark.torch
def test_training_follows_torch() -> None:
    import torch

    def train(engine: Any) -> list[float]:
        net = _net(engine).to(engine.float64)
        optimiser = engine.optim.Adam(net.parameters(), lr=0.05, weight_decay=0.01)
        x, y = engine.randn(16, 4, dtype=engine.float64), engine.randint(3, (16,))
        losses = []
        for _ in range(40):
            optimiser.zero_grad()
            loss = engine.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        return losses

    np.testing.assert_allclose(train(tinytorch), train(torch), rtol=1e-8)


def test_a_state_dict_shares_memory_and_counter_until_it_is_loaded() -> None:
    net = _net(tinytorch)
    state = net.state_dict()
    weight = net[0].weight
    with tinytorch.no_grad():
        weight.add_(1)
    assert state["0.weight"].data_ptr() == weight.data_ptr()
    assert state["0.weight"]._version == weight._version == 2  # init wrote once
    other = _net(tinytorch)
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert (
        tinytorch.equal(other[0].weight, weight) and other[0].weight.data_ptr() != weight.data_ptr()
    )
    taken = _net(tinytorch)
    taken.load_state_dict(state, assign=True)
    assert taken[0].weight.data_ptr() == weight.data_ptr() and taken[0].weight.requires_grad


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_a_module_are_independent(clone: Any) -> None:
    net = _net(tinytorch).eval()
    net.again = net[0]
    twin = clone(net)
    assert repr(twin) == repr(net)
    before = net[0].weight.tolist()
    with tinytorch.no_grad():
        twin[0].weight.zero_()
    assert net[0].weight.tolist() == before
    assert twin.again is twin[0]  # what is shared stays shared


def test_full_backward_hooks_see_and_change_gradients() -> None:
    layer = tinytorch.nn.Linear(2, 1)
    seen: list[Any] = []
    handle = layer.register_full_backward_hook(
        lambda m, inp, out: seen.append((inp, out)) or (inp[0] * 2,)  # type: ignore[func-returns-value]
    )
    x = tinytorch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen[0][1][0].tolist() == [[1.0]]
    assert x.grad.tolist() == (layer.weight * 2).tolist()
    handle.remove()
    x.grad = None
    assert type(layer(x).grad_fn).__name__ == "AddmmBackward0"


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_zeros_keep_the_sign_that_torch_gives_them(dtype: str) -> None:
    import torch

    shown = []
    for engine in (tinytorch, torch):
        zeros = [engine.full((9,), zero, dtype=getattr(engine, dtype)) for zero in (0.0, -0.0)]
        shown.append(
            [
                (z.relu(), z.clone().relu_(), z.clamp(0), z.clamp(-0.0, 1), z.clamp(max=-0.0))
                for z in zeros
            ]
        )
    assert repr(shown[0]) == repr(shown[1])
