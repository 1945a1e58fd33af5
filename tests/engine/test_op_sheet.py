"""Every operation in the sheet gives what PyTorch gives, on every layout and in every dtype."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from engine.sheet import check

ROWS = [
    (path.stem.removeprefix("rows_"), row)
    for path in sorted(Path(__file__).parent.glob("rows_*.py"))
    for row in importlib.import_module(f"engine.{path.stem}").ROWS
]


@pytest.mark.torch
@pytest.mark.parametrize("row", [r for _, r in ROWS], ids=[f"{family}: {r}" for family, r in ROWS])
def test_row(row: str) -> None:
    import torch

    import tinytorch

    count, found = check(row, (tinytorch, torch))
    assert count >= 10
    assert not found, "\n".join(found)


def test_rows_are_listed_once() -> None:
    rows = [r for _, r in ROWS]
    assert len(rows) == len(set(rows))


@pytest.mark.torch
def test_a_wrong_formula_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    import tinytorch
    from tinytorch.graph.node import node

    wrong = node("SinBackward0", lambda grad, self: grad * self.sin())
    monkeypatch.setattr(
        tinytorch,
        "sin",
        lambda x: tinytorch.ops.core.record(tinytorch.asarray(np.sin(x.detach().numpy())), wrong, (x,), self=x),
    )
    assert check("torch.sin(x)", (tinytorch, torch))[1]
