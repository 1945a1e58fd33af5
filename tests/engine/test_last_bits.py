"""Numbers agree with torch's to the last bit where its kernels are followed: products, losses, whole trainings.

torch's kernels differ from one kind of processor to the next; followed are those for AVX-512. Elsewhere the same
calls are compared with a tolerance.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.torch

SHAPES = [(1, 1, 1), (4, 2, 1), (4, 2, 3), (5, 3, 2), (2, 3, 4), (8, 10, 4), (10, 3, 1), (1, 10, 5), (32, 16, 1), (100, 10, 1),
          (3, 40, 4), (64, 100, 10), (16, 4, 3), (2, 1, 2), (4, 1, 8)]  # fmt: skip


def agree(calls: Any, *, seeds: int = 5) -> None:
    """`calls(engine, rng)` gives arrays; they are equal under both engines."""
    import torch

    exact = torch.backends.cpu.get_cpu_capability() == "AVX512"
    for seed in range(seeds):
        expected, got = (calls(importlib.import_module(n), np.random.default_rng(seed)) for n in ("torch", "tinytorch"))
        assert len(expected) == len(got) > 0
        for name in expected:
            if exact:
                np.testing.assert_array_equal(got[name], expected[name], err_msg=name)
            else:
                np.testing.assert_allclose(got[name], expected[name], rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Where torch's threads share the columns of a softmax shows in its bits."""
    engines = [importlib.import_module(n) for n in ("torch", "tinytorch")]
    before = [e.get_num_threads() for e in engines]
    for e in engines:
        e.set_num_threads(2)
    yield
    for e, n in zip(engines, before, strict=True):
        e.set_num_threads(n)


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_layer_and_its_gradients(shape: tuple[int, int, int]) -> None:
    n, k, m = shape

    def calls(t: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        x, w, b = (t.tensor(floats(rng, *s), requires_grad=True) for s in ((n, k), (m, k), (m,)))
        y = t.nn.functional.linear(x, w, b)
        y.backward(t.tensor(floats(rng, n, m)))
        return {"y": y.detach().numpy(), "x.grad": x.grad.numpy(), "w.grad": w.grad.numpy(), "b.grad": b.grad.numpy()}

    agree(calls)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 9, 17, 33, 64, 100, 300])
def test_products_with_vectors(k: int) -> None:
    def calls(t: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        a, x = t.tensor(floats(rng, 7, k)), t.tensor(floats(rng, k))
        return {"dot": t.dot(a[0], x).numpy(), "mv": (a @ x).numpy(), "vm": (x @ a.T).numpy()}

    agree(calls)


@pytest.mark.parametrize(("shape", "dim"), [((2, 2), 1), ((3, 17), 1), ((5, 40), 1), ((3, 64), 0), ((2, 3, 32), 1)])
def test_softmax_and_its_gradients(shape: tuple[int, ...], dim: int) -> None:
    """Across columns that fill registers; others go through the C library's exp, off by a bit now and then."""

    def calls(t: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        out = {}
        for name in ("softmax", "log_softmax"):
            x = t.tensor(floats(rng, *shape), requires_grad=True)
            y = getattr(t, name)(x, dim)
            y.backward(t.tensor(floats(rng, *shape)))
            out |= {name: y.detach().numpy(), f"{name} back": x.grad.numpy()}
        return out

    agree(calls)


@pytest.mark.parametrize("shape", [(4, 3), (8, 10), (50, 5)], ids=str)
def test_losses_over_classes(shape: tuple[int, int]) -> None:
    def calls(t: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        out = {}
        target = t.tensor(rng.integers(0, shape[1], shape[0]))
        weight = t.tensor(rng.random(shape[1]).astype(np.float32))
        for name, options in (("plain", {}), ("weighted", {"weight": weight}), ("smoothed", {"label_smoothing": 0.1}),
                              ("sum", {"reduction": "sum"})):  # fmt: skip
            x = t.tensor(floats(rng, *shape), requires_grad=True)
            loss = t.nn.functional.cross_entropy(x, target, **options)
            loss.backward()
            out |= {name: loss.detach().numpy(), f"{name} back": x.grad.numpy()}
        return out

    agree(calls)


@pytest.mark.parametrize("name", ["silu", "sigmoid", "logsigmoid", "softplus"])
def test_activations_of_whole_blocks(name: str) -> None:
    def calls(t: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        x = t.tensor(floats(rng, 8, 16), requires_grad=True)
        y = getattr(t.nn.functional, name)(x)
        y.backward(t.tensor(floats(rng, 8, 16)))
        return {"y": y.detach().numpy(), "x.grad": x.grad.numpy()}

    agree(calls)


def sgd(t: Any, parameters: Any) -> Any:
    return t.optim.SGD(parameters, lr=0.05, momentum=0.9)


def adam(t: Any, parameters: Any) -> Any:
    return t.optim.Adam(parameters, lr=0.05)


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize("task", ["line", "xor", "classes"])
def test_trainings(task: str, optimizer: Any) -> None:
    """The losses of sixty steps, as `loss.item()` prints them."""

    def calls(t: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        nn = t.nn
        t.manual_seed(int(rng.integers(100)))
        model: Any
        if task == "line":
            model, loss = nn.Linear(3, 1), nn.MSELoss()
            x, y = t.tensor(floats(rng, 20, 3)), t.tensor(floats(rng, 20, 1))
        elif task == "xor":
            model, loss = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)), nn.BCEWithLogitsLoss()
            x = t.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
            y = t.tensor([[0.0], [1.0], [1.0], [0.0]])
        else:
            model, loss = nn.Linear(4, 3), nn.CrossEntropyLoss()
            x, y = t.tensor(floats(rng, 50, 4)), t.tensor(rng.integers(0, 3, 50))
        steps, losses = optimizer(t, model.parameters()), []
        for _ in range(60):
            steps.zero_grad()
            value = loss(model(x), y)
            value.backward()
            steps.step()
            losses.append(value.item())
        return {"losses": np.array(losses)}

    agree(calls, seeds=3)
