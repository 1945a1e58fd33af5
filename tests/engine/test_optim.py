"""SGD and Adam against PyTorch: every step and every state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch

CASES = [
    *[("SGD", o) for o in ({}, {"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "weight_decay": 0.01})],
    *[("Adam", o) for o in ({}, {"lr": 0.01, "betas": (0.8, 0.99)}, {"lr": 0.1, "eps": 1e-3}, {"weight_decay": 0.1})],
]  # fmt: skip


def _run(engine: Any, name: str, options: dict[str, Any], dtype: str) -> list[Any]:
    g = engine.Generator().manual_seed(3)
    kind = getattr(engine, dtype)
    params = [
        engine.nn.Parameter(engine.randn(shape, generator=g, dtype=kind))
        for shape in ((37,), (4, 5), ())
    ]
    optimiser = getattr(engine.optim, name)(params, **options)
    seen = []
    for step in range(12):
        for p in params:
            p.grad = (
                engine.randn(p.shape, generator=g, dtype=kind) * 0.7
                if step % 5 or p.dim()
                else None
            )
        optimiser.step()
        seen.append([p.tolist() for p in params] + [p._version for p in params])
    state = [
        {k: v.tolist() if hasattr(v, "tolist") else v for k, v in s.items()}
        for s in optimiser.state.values()
    ]
    return [seen, state, repr(optimiser), optimiser.state_dict()["param_groups"]]


def _numbers(x: Any) -> list[Any]:
    """All numbers in nested lists and dictionaries, in order."""
    if isinstance(x, dict):
        x = list(x.values())
    return [n for y in x for n in _numbers(y)] if isinstance(x, list) else [x]


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda x: str(x))
def test_steps(name: str, options: dict[str, Any], dtype: str) -> None:
    import torch

    mine, theirs = _run(tinytorch, name, options, dtype), _run(torch, name, options, dtype)
    assert mine[2:] == theirs[2:]
    rtol, atol = (1e-5, 1e-7) if dtype == "float32" else (1e-13, 1e-15)
    for a, b in zip(_numbers(mine[:2]), _numbers(theirs[:2]), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def test_a_state_goes_on_where_it_was_left() -> None:
    def made() -> tuple[Any, Any]:
        p = tinytorch.nn.Parameter(tinytorch.ones(3))
        return p, tinytorch.optim.Adam([p], lr=0.1)

    def step(p: Any, optimiser: Any) -> None:
        p.grad = p.detach() * 2
        optimiser.step()

    (p, whole), (q, first), (r, second) = made(), made(), made()
    for _ in range(4):
        step(p, whole)
    for _ in range(2):
        step(q, first)
    second.load_state_dict(first.state_dict())
    r.data.copy_(q.data)
    for _ in range(2):
        step(r, second)
    assert r.tolist() == p.tolist()
