"""Results and gradients have the layout in memory that PyTorch gives them, whatever the operands' shapes and strides."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest
from needs import torch_missing

import tinytorch

DTYPES = ("float32", "float32", "float32", "float64", "int64")


def _strides(shape: tuple[int, ...], r: random.Random) -> tuple[int, ...]:
    """Dense in some order of dimensions, with gaps, repeats, and anything at all for a size of 1."""
    order = list(range(len(shape)))
    if r.random() > 0.3:
        r.shuffle(order)
    gaps = r.random() > 0.6
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1) * (r.choice((1, 1, 1, 2)) if gaps else 1)
    for d, n in enumerate(shape):
        if r.random() < 0.12:
            strides[d] = 0
        if n <= 1 and r.random() < 0.4:
            strides[d] = r.choice((0, 1, 5, 7))
    return tuple(strides)


def _operands(r: random.Random) -> list[tuple[tuple[int, ...], tuple[int, ...], str]]:
    shape = tuple(r.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(r.choice((1, 2, 2, 3, 3, 4, 5))))
    out = []
    for i in range(r.choice((1, 2, 2, 3))):
        own = list(shape)
        if i > 0 or r.random() < 0.2:
            own = [1 if r.random() < 0.15 else n for n in own][
                r.choice((0, 0, 0, r.randrange(len(own) + 1))) :
            ]
        out.append((tuple(own), _strides(tuple(own), r), r.choice(DTYPES)))
    return out


def _layout(engine: Any, operands: list) -> str:
    tensors = []
    for i, (shape, strides, dtype) in enumerate(operands):
        room = (
            1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
            if 0 not in shape
            else 1
        )
        kind = "bool" if len(operands) == 3 and i == 0 else dtype  # where a condition stands
        tensors.append(engine.zeros(room, dtype=getattr(engine, kind)).as_strided(shape, strides))
    try:
        out = (engine.exp, engine.add, engine.where)[len(tensors) - 1](*tensors)
    except RuntimeError as e:
        return str(e)
    return f"{tuple(out.shape)} {out.stride()}"


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(4))
def test_strides_of_results(seed: int) -> None:
    import torch

    r, found = random.Random(seed), []
    for _ in range(1000):
        operands = _operands(r)
        ours, theirs = _layout(tinytorch, operands), _layout(torch, operands)
        if ours != theirs:
            found.append(f"{operands}: {ours} instead of {theirs}")
    assert not found, "\n".join(found)


def _gradient_strides(
    engine: Any, call: str, shape: tuple[int, ...], order: tuple, dim: int
) -> list:
    """The strides of a gradient as a hook and the leaf see it, of a turned tensor and a turned gradient."""
    leaf = engine.arange(1.0, 1 + math.prod(shape)).reshape(shape).requires_grad_()
    seen: list[tuple] = []
    x = leaf.permute(order)
    x.register_hook(lambda grad: seen.append(grad.stride()))
    index = engine.zeros(x.shape, dtype=engine.int64)
    result = eval(call, {"x": x, "d": dim, "index": index, "inf": math.inf})
    gradient = engine.ones(tuple(result.shape)[::-1]).permute(tuple(reversed(range(result.dim()))))
    result.backward(gradient)
    return [*seen, leaf.grad.stride()]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call",
    [
        *("x.prod()", "x.prod(d)", "(x - 1).prod(d)", "x.cumprod(d)", "(x - 1).cumprod(d)"),
        *("x.var()", "x.var(d)", "x.var((0, d) if d else 0, keepdim=True)", "x.std()", "x.std(d)"),
        *("x.amax(d)", "x.amin((0, d) if d else 0)", "x.norm(1, d)", "x.norm(inf, d)"),
        *("x.norm(3, d)", "x.norm(1.5, d)", "x.norm(0.5, d)", "x.logsumexp(d)", "x.softmax(d)"),
        *(
            f"x.scatter_reduce(d, index, x, '{how}')"
            for how in ("sum", "prod", "mean", "amax", "amin")
        ),
        "x.index_reduce(d, index.reshape(-1)[: x.shape[d]], x, 'prod')",
    ],
)
def test_gradients_of_turned_tensors_with_sizes_of_one(call: str) -> None:
    torch = pytest.importorskip("torch", reason=torch_missing())
    for shape in ((1, 3), (3, 1), (2, 1, 3), (1, 3, 1), (1, 2, 3)):
        for order in itertools.permutations(range(len(shape))):
            for dim in range(len(shape)):
                how = (call, shape, order, dim)
                assert _gradient_strides(tinytorch, *how) == _gradient_strides(torch, *how), how


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 1)])
def test_the_gradient_of_expand_without_elements_is_a_view(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", reason=torch_missing())
    seen: dict[Any, list[tuple]] = {tinytorch: [], torch: []}
    for engine, layouts in seen.items():
        x = engine.ones(shape).requires_grad_()
        x.register_hook(
            lambda grad, layouts=layouts: layouts.append((grad.stride(), grad._base.stride()))
        )
        x.expand(2, *shape).backward(engine.ones(2, *shape))
    assert seen[tinytorch] == seen[torch] != []


@pytest.mark.torch
@pytest.mark.parametrize(
    "call", ["E.pow(2, x)", "E.rsub(x, 2)", "2 - x", "2 / x", "x.pow(2)", "x.exp()", "x.clone()"]
)
def test_gradients_of_numbers_and_turned_tensors(call: str) -> None:
    """`pow` of a number lays out its result row by row, and its gradient as the operands are."""
    torch = pytest.importorskip("torch", reason=torch_missing())
    strides: dict[Any, list[tuple[int, ...]]] = {tinytorch: [], torch: []}
    for engine, seen in strides.items():
        for turns_x, turns_grad in itertools.product((False, True), repeat=2):
            x = engine.ones(3, 4).t() if turns_x else engine.ones(4, 3)
            x = x.requires_grad_()
            grad = engine.ones(3, 4).t() * 1 if turns_grad else engine.ones(4, 3)
            result = eval(call, {"E": engine, "x": x * 1})
            seen.append(result.stride())
            seen += [each.stride() for each in engine.autograd.grad(result, x, grad)]
    assert strides[tinytorch] == strides[torch]


@pytest.mark.torch
@pytest.mark.parametrize(
    "call",
    [
        *("x * y", "x / y", "y / x", "x ** 2", "x.exp()", "x.sigmoid() * y", "x.maximum(y)"),
        *("E.lerp(x, y, 0.5)", "E.where(y > 2, x, y)", "E.addcmul(y, x, y)", "x.pow(y)"),
    ],
)
def test_gradients_whose_operands_a_hook_packs(call: str) -> None:
    """They are laid out as without hooks, and each unpack hook is called once."""
    torch = pytest.importorskip("torch", reason=torch_missing())
    seen: dict[Any, list[Any]] = {tinytorch: [], torch: []}
    for engine, said in seen.items():
        for size in (1, 2, 0):
            unpacked: list[int] = []
            hooks = engine.autograd.graph.saved_tensors_hooks(
                lambda t: t,
                lambda t, unpacked=unpacked: (unpacked.append(1), t)[1],
            )
            x = engine.ones(size, 3, 2).transpose(1, 2).requires_grad_()
            y = (engine.arange(6.0) + 1).view(1, 2, 3)
            for order in itertools.permutations(range(3)):
                with hooks:
                    result = eval(call, {"E": engine, "x": x, "y": y})
                shape = [0, 0, 0]
                for place, dim in enumerate(order):
                    shape[place] = result.shape[dim]
                arrives = engine.ones(shape).permute(sorted(range(3), key=order.__getitem__))
                gradients = engine.autograd.grad(result, [x], arrives)
                said.append((size, order, gradients[0].stride(), len(unpacked)))
    assert seen[tinytorch] == seen[torch]
