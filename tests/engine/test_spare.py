"""Large gradients written over memory that nobody needs: never over what anybody can still see."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from needs import torch_missing

import tinytorch
from tinytorch.ops import spare

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

N = 40_000  # elements, enough for the ways that save memory


@pytest.fixture
def spared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was written over, in order."""
    found: list[str] = []
    for name in ("_spare_gradient", "_spare_result"):
        plain = getattr(spare, name)

        def told(x: Any, plain: Callable = plain, name: str = name) -> Any:
            out = plain(x)
            if out is not None:
                found.append(name)
            return out

        monkeypatch.setattr(spare, name, told)
    return found


def leaves(engine: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(N).astype(np.float32) for _ in "ab")
    return engine.tensor(a, requires_grad=True), engine.tensor(b, requires_grad=True)


def test_it_is_done(spared: list[str]) -> None:
    x, y = leaves(tinytorch)
    (x * y).exp().sum().backward()
    assert spared == ["_spare_result", "_spare_gradient"]


# Each program may keep, watch or write whatever it likes; it returns all that it can still see.


def plain(t: Any, x: Any, y: Any) -> list:
    (x * y).exp().sum().backward()
    return []


def scaled(t: Any, x: Any, y: Any) -> list:
    ((x * y).exp() * 3.0).sum().backward()
    return []


def keeps_the_result(t: Any, x: Any, y: Any) -> list:
    e = (x * y).exp()
    (e * 2.0).sum().backward()
    return [e]


def keeps_a_view_of_the_result(t: Any, x: Any, y: Any) -> list:
    v = (x * y).exp()
    w = v.view(100, -1)[3]
    (v * 2.0).sum().backward()
    return [w, v.detach()]


def keeps_an_array_of_the_result(t: Any, x: Any, y: Any) -> list:
    e = (x * y).exp()
    a = e.detach().numpy()
    loss = (e * 2.0).sum()
    del e
    loss.backward()
    return [a]


def keeps_a_slice_of_an_array(t: Any, x: Any, y: Any) -> list:
    e = (x * y).exp()
    a = e.detach().numpy()[5:9]
    loss = (e * 2.0).sum()
    del e
    loss.backward()
    return [a]


def keeps_the_storage(t: Any, x: Any, y: Any) -> list:
    e = (x * y).exp()
    s = e.untyped_storage()
    loss = (e * 2.0).sum()
    del e
    loss.backward()
    return [s.tolist()[:64]]


def keeps_data(t: Any, x: Any, y: Any) -> list:
    e = (x * y).exp()
    d = e.data
    loss = (e * 2.0).sum()
    del e
    loss.backward()
    return [d]


def reads_the_saved_result(t: Any, x: Any, y: Any) -> list:
    loss = ((x * y).exp() * 2.0).sum()
    saved = loss.grad_fn.next_functions[0][0].next_functions[0][0]._saved_result.detach()
    loss.backward()
    return [saved]


def backward_twice(t: Any, x: Any, y: Any) -> list:
    loss = ((x * y).exp() * 2.0).sum()
    loss.backward(retain_graph=True)
    first = [x.grad.clone(), y.grad.clone()]
    loss.backward()
    return first


def hooks_keep_gradients(t: Any, x: Any, y: Any) -> list:
    kept: list = []
    p = x * y
    p.register_hook(kept.append)
    e = p.exp()
    e.register_hook(kept.append)
    (e * 2.0).sum().backward()
    return kept


def hooks_keep_arrays(t: Any, x: Any, y: Any) -> list:
    kept: list = []
    p = x * y
    p.register_hook(lambda g: kept.append(g.numpy()))
    (p.exp() * 2.0).sum().backward()
    return kept


def hooks_on_nodes_keep_gradients(t: Any, x: Any, y: Any) -> list:
    kept: list = []
    p = x * y
    e = p.exp()
    p.grad_fn.register_hook(lambda inputs, outputs: kept.append((inputs, outputs)))
    e.grad_fn.register_hook(lambda inputs, outputs: kept.append((inputs, outputs)))
    p.grad_fn.register_prehook(lambda outputs: kept.append(outputs))
    (e * 2.0).sum().backward()
    return [g for pair in kept for part in pair for g in (part if isinstance(part, tuple) else (part,))]


def retains(t: Any, x: Any, y: Any) -> list:
    p = x * y
    e = p.exp()
    p.retain_grad()
    e.retain_grad()
    (e * 2.0).sum().backward()
    return [p.grad, e.grad]


def asks_for_inner_gradients(t: Any, x: Any, y: Any) -> list:
    p = x * y
    e = p.exp()
    return list(t.autograd.grad((e * 2.0).sum(), (x, p, e)))


def two_ways(t: Any, x: Any, y: Any) -> list:
    p = x * y
    (p.exp() * p * y).sum().backward()
    return []


def sum_of_ways(t: Any, x: Any, y: Any) -> list:
    p = x * y
    q = p + p.exp()
    ((q + p) * (q * x)).sum().backward()
    return []


def same_factor(t: Any, x: Any, y: Any) -> list:
    ((x * x) * (x * x)).exp().mul(1e-3).tanh().sum().backward()
    return []


def gradient_given(t: Any, x: Any, y: Any) -> list:
    g = t.full((N,), 0.5)
    (x * y).backward(g)
    return [g]


def gradient_given_as_a_factor(t: Any, x: Any, y: Any) -> list:
    with t.no_grad():
        g = y * 2.0
    (x * g).backward(g)
    return [g]


def second_derivative(t: Any, x: Any, y: Any) -> list:
    (gx,) = t.autograd.grad((x * y).exp().sum(), x, create_graph=True)
    (gx * gx).sum().backward()
    return [gx]


def custom_function(t: Any, x: Any, y: Any) -> list:
    kept: list = []

    class Keeps(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            kept.append(grad)
            return grad

    (Keeps.apply(x * y) * 2.0).exp().mul(1e-3).sum().backward()
    return kept


def accumulates(t: Any, x: Any, y: Any) -> list:
    for _ in range(3):
        ((x * y).exp() * 2.0).sum().backward()
    first = x.grad
    x.grad = None
    ((x * y).exp() * 2.0).sum().backward()
    return [first]


def calls_the_node(t: Any, x: Any, y: Any) -> list:
    g = t.full((N,), 0.5)
    e = (x * y).exp()
    fn = e.grad_fn
    del e
    first = fn(g)
    return [g, first, fn(g), *fn.next_functions[0][0](first)]


def broadcasts(t: Any, x: Any, y: Any) -> list:
    (x.view(200, 200) * y[:200]).exp().sum().backward()
    return []


def in_columns(t: Any, x: Any, y: Any) -> list:
    (x.view(200, 200).t() * y.view(200, 200).t()).exp().sum().backward()
    return []


PROGRAMS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__code__", None) and f.__code__.co_varnames[:3] == ("t", "x", "y")]  # fmt: skip


def seen(engine: Any, program: Callable) -> list[np.ndarray]:
    x, y = leaves(engine)
    before = x.detach().clone(), y.detach().clone()
    out = program(engine, x, y)
    engine.ones(N).mul(3.0)  # takes what was given back too soon
    assert bool((x.detach() == before[0]).all())
    assert bool((y.detach() == before[1]).all())
    values = [x.grad, y.grad, *out]
    return [np.asarray(v.detach().numpy() if hasattr(v, "detach") else v) for v in values if v is not None]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_can_be_seen_is_what_torch_shows(program: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = seen(tinytorch, program), seen(torch, program)
    monkeypatch.setattr(spare, "_large", lambda node, grads: False)
    without = seen(tinytorch, program)
    for a, b, c in zip(ours, theirs, without, strict=True):
        np.testing.assert_array_equal(a, c)
        if a.dtype == np.float32:
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


def test_programs_are_found() -> None:
    assert len(PROGRAMS) > 20


def test_a_write_to_what_was_saved_is_still_an_error() -> None:
    for engine in (tinytorch, torch):
        x, y = leaves(engine)
        e = (x * y).exp()
        loss = e.sum()
        e.detach().zero_()
        del e
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
        p = x * 1.0
        loss = (p * y).sum()
        p.detach().zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
