"""Calls that do not fit: wrong numbers, types and names of arguments, over all functions and methods."""

from __future__ import annotations

import re
import warnings
from types import BuiltinFunctionType
from typing import Any

import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

from engine.signature_table import TABLE, lines  # noqa: E402

CALLS = [
    "",
    "x, 'a'",
    "x, None",
    "x, foo=1",
    "x, x, foo=1",
    "'a'",
    "1",
    "[x]",
    "x, 1.5, x, x, x, x",
    "x, dim='a'",
    "x, [x], 1",
]


def test_the_table_is_what_torch_has() -> None:
    """The table of signatures is not older than the PyTorch installed here."""
    pytest.importorskip("torchgen")
    assert "\n".join(lines()) + "\n" == TABLE.read_text(encoding="utf-8")


def outcome(engine: Any, call: str) -> str:
    """What the call raises."""
    names = {"torch": engine, "x": engine.ones(2, 3)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, names)
        except Exception as error:
            return f"{type(error).__name__}: {re.sub('0x[0-9a-f]+', '', str(error))}"
    return "fine"


def _names() -> list[str]:
    functions = [n for n in tinytorch.ops.FUNCTIONS if isinstance(getattr(torch, n, None), BuiltinFunctionType)]
    methods = [n for n in vars(tinytorch.Tensor) if n[0] != "_" and callable(getattr(torch.Tensor, n, None))]
    in_c = [
        n
        for n in methods
        if type(vars(torch.Tensor).get(n, vars(torch._C.TensorBase).get(n))).__name__ == "method_descriptor"
    ]
    return [f"torch.{n}" for n in sorted(functions)] + [f"x.{n}" for n in sorted(in_c)]


@pytest.mark.parametrize("name", _names())
def test_a_call_that_does_not_fit_says_what_torch_says(name: str) -> None:
    """Wherever torch raises a TypeError for the arguments, its text is tinytorch's."""
    different = []
    calls = [c[3:] for c in CALLS if c[:1] == "x"] if name[0] == "x" else CALLS
    for call in (f"{name}({inside})" for inside in calls):
        theirs = outcome(torch, call)
        if theirs.startswith("TypeError") and (ours := outcome(tinytorch, call)) != theirs:
            different.append(f"{call}\n  {ours}\ninstead of\n  {theirs}")
    assert not different, "\n".join(different)
