"""Products and contractions: values and graphs against PyTorch on random equations, and their derivatives."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tinytorch


def _equation(r: random.Random) -> tuple[str, list[list[int]]]:
    letters = r.sample("abcdefg", r.randint(2, 4))
    size = {x: r.choice((1, 2, 3)) for x in letters}
    operands = [r.sample(letters, r.randint(1, min(3, len(letters)))) for _ in range(r.choice((1, 2, 2, 2, 3)))]
    if r.random() < 0.15:
        operands[0] = [operands[0][0]] * 2
    used = sorted({x for o in operands for x in o})
    output = r.sample(used, r.randint(0, len(used)))
    text = ",".join("".join(o) for o in operands)
    if r.random() < 0.85:
        text += "->" + "".join(output)
    return text, [[size[x] for x in o] for o in operands]


def _chain(fn: Any) -> list:
    if fn is None:
        return []
    return [fn.name().rpartition("::")[2], [_chain(n) for n, _ in fn.next_functions]]


def _einsum(engine: Any, equation: str, shapes: list[list[int]], seed: int) -> list:
    engine.manual_seed(seed)
    xs = [engine.randint(-3, 4, s).to(engine.float64).requires_grad_() for s in shapes]
    out = engine.einsum(equation, *xs)
    grads = engine.autograd.grad(out.sum() * 2, xs)
    return [out.tolist(), out.stride(), _chain(out.grad_fn), [g.tolist() for g in grads]]


@pytest.mark.torch
def test_einsum_on_random_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.backends.opt_einsum, "enabled", False)  # it would contract in another order
    r = random.Random(5)
    for i in range(250):
        equation, shapes = _equation(r)
        assert _einsum(tinytorch, equation, shapes, i) == _einsum(torch, equation, shapes, i), (equation, shapes)


PRODUCTS = [
    "torch.mm(x(2, 3), x(3, 4))", "torch.mv(x(2, 3), x(3))", "torch.dot(x(3), x(3))", "torch.bmm(x(2, 2, 3), x(2, 3, 1))",
    "x(3) @ x(3, 2)", "x(4, 2, 3) @ x(3)", "x(2, 1, 2, 3) @ x(4, 3, 2)", "torch.addmm(x(2), x(3, 4), x(4, 2), beta=.5, alpha=2)",
    "torch.baddbmm(x(2, 2), x(3, 2, 3), x(3, 3, 2))", "torch.outer(x(2), x(3))", "torch.trace(x(2, 3))",
]  # fmt: skip


@pytest.mark.parametrize("product", PRODUCTS)
def test_derivatives(product: str) -> None:
    torch = tinytorch
    torch.manual_seed(1)
    inputs: list[Any] = []

    def x(*shape: int) -> Any:
        inputs.append(torch.randn(shape, dtype=torch.float64).requires_grad_())
        return inputs[-1]

    code = compile(product, product, "eval")
    eval(code, {"torch": torch, "x": x})

    def function(*given: Any) -> Any:
        left = list(given)
        return eval(code, {"torch": torch, "x": lambda *shape: left.pop(0)})

    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)
