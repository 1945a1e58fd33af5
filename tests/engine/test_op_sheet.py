"""Every operation in the sheet gives what PyTorch gives, on every layout and in every dtype."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from engine.sheet import check
from releases import installed_release, read_release

ROWS = [
    (path.stem.removeprefix("rows_"), row)
    for path in sorted(Path(__file__).parent.glob("rows_*.py"))
    for row in importlib.import_module(f"engine.{path.stem}").ROWS
]


def list_changed_rows() -> set[str]:
    """List the rows that the installed PyTorch does otherwise than 2.13, with other nodes for example.

    `changed_rows.2.15.txt` has those of 2.15 and every later release up to the next file.
    """
    files = {
        read_release(path.stem.removeprefix("changed_rows.")): path
        for path in Path(__file__).parent.glob("changed_rows.*.txt")
    }
    known = [since for since in files if since <= installed_release()]
    return set(files[max(known)].read_text("utf-8").splitlines()) if known else set()


@pytest.mark.torch
@pytest.mark.parametrize("row", [r for _, r in ROWS], ids=[f"{family}: {r}" for family, r in ROWS])
def test_row(row: str) -> None:
    import torch

    import tinytorch

    count, found = check(row, (tinytorch, torch))
    assert count >= 10
    if row in list_changed_rows():
        assert found, "it does again what 2.13 does: take the row off the list"
    else:
        assert not found, "\n".join(found)


def test_rows_are_listed_once() -> None:
    rows = [r for _, r in ROWS]
    assert len(rows) == len(set(rows))


@pytest.mark.torch
def test_a_wrong_formula_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    import tinytorch

    right = tinytorch.sin

    def wrong(x):
        y = right(x)
        if y.grad_fn:
            y.grad_fn.register_hook(
                lambda inputs, _: tuple(None if t is None else t * 2 for t in inputs)
            )
        return y

    assert not check("torch.sin(x)", (tinytorch, torch))[1]
    monkeypatch.setattr(tinytorch, "sin", wrong)
    assert check("torch.sin(x)", (tinytorch, torch))[1]
