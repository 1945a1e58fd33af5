"""Results of pointwise operations have the layout in memory that PyTorch gives them, whatever the operands' shapes and strides."""

from __future__ import annotations

import random
from typing import Any

import pytest

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

    import tinytorch

    r, found = random.Random(seed), []
    for _ in range(1000):
        operands = _operands(r)
        ours, theirs = _layout(tinytorch, operands), _layout(torch, operands)
        if ours != theirs:
            found.append(f"{operands}: {ours} instead of {theirs}")
    assert not found, "\n".join(found)
