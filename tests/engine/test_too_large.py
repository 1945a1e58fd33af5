"""What no memory holds is refused in PyTorch's words, and before anything is computed for it."""

from __future__ import annotations

from typing import Any

import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

FACTORIES = [
    *(
        f"torch.{name}({size})"
        for name in ("zeros", "ones", "empty", "rand", "randn")
        for size in ("2**40", "2**61", "2**62", "2**63 - 1", "2**32, 2**32", "2**20, 2**20, 2")
    ),
    "torch.zeros(2**62, dtype=torch.uint8)",
    "torch.arange(2**50)",
    "torch.arange(2**62)",
    "torch.arange(2**50, dtype=torch.float32)",
    "torch.full((2**50,), 1)",
    "torch.eye(2**30)",
    "torch.eye(2**32)",
    "torch.linspace(0, 1, 2**50)",
    "torch.linspace(0, 1, 2**62)",
    "torch.randperm(2**50)",
    "torch.empty_strided((2**40,), (2**40,))",
    "torch.zeros(1).new_zeros(2**40)",
]
# `x`: one cell, 2**40 times
RESULTS = [
    *(f"x.{name}()" for name in ("clone", "exp", "neg", "double", "contiguous", "diag_embed")),
    *(f"x.{name}()" for name in ("all", "any", "max", "min", "cos")),
    *(f"x.{name}(0)" for name in ("softmax", "log_softmax", "cumsum", "all", "any")),
    *(f"torch.{name}(x)" for name in ("zeros_like", "ones_like", "empty_like", "rand_like")),
    "x + x",
    "x * 2",
    "x > 1",
    "x.masked_select(x > 1)",
    "x.masked_select(torch.ones(1, dtype=torch.bool).expand(2**40))",
    "torch.stack([x, x])",
    "m @ m.t()",
    "torch.mm(m, m.t())",
    "torch.bmm(m[None], m.t()[None])",
    "m + m.t()",
]


def outcome(engine: Any, call: str) -> str:
    """What a call raises."""
    names = {
        "torch": engine,
        "x": engine.ones(1).expand(2**40),
        "m": engine.ones(1, 1).expand(2**35, 1),
    }
    try:
        eval(call, names)
    except RuntimeError as error:
        return str(error)
    return "fine"


@pytest.mark.parametrize("call", [*FACTORIES, *RESULTS])
def test_what_is_too_large_is_refused_at_once(call: str) -> None:
    theirs = outcome(torch, call)
    assert "can't allocate memory" in theirs or "overflow" in theirs
    assert outcome(tinytorch, call) == theirs
