"""Every pair of dtypes, with and without dimensions and as numbers, meets in the dtype that PyTorch says."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from releases import reword

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
)
OPS = ("add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "maximum", "eq", "lt", "bitwise_and",
       "logical_or", "result_type")  # fmt: skip
NUMBERS = (True, 3, 2.5, -1, 300)


def _outcome(engine: Any, op: str, a: Any, b: Any, method: bool) -> str:
    try:
        out = getattr(a, op)(b) if method else getattr(engine, op)(a, b)
    except Exception as e:
        said = f"{type(e).__name__}: {e}"
        return reword(said) if engine.__name__ == "tinytorch" else said
    if not hasattr(out, "tolist"):
        return repr(out)
    digits = 2 if "float16" in str(out.dtype) else 3
    values = [
        f"{v:.{digits}g}" if isinstance(v, float) else repr(v) for v in out.reshape(-1).tolist()
    ]
    return f"{out.dtype} {values}"


def _tensor(engine: Any, dtype: str, dimensions: int, values: tuple) -> Any:
    return engine.tensor(list(values) if dimensions else values[0], dtype=getattr(engine, dtype))


@pytest.mark.torch
@pytest.mark.parametrize("op", OPS)
def test_every_pair(op: str) -> None:
    import torch

    import tinytorch

    found = []
    for (a, b), m, n in itertools.product(itertools.product(DTYPES, DTYPES), (0, 1), (0, 1)):
        for method in (False, True)[: 1 + (op != "result_type")]:
            ours, theirs = (
                _outcome(e, op, _tensor(e, a, m, (3, 100)), _tensor(e, b, n, (2, 5)), method)
                for e in (tinytorch, torch)
            )
            if ours != theirs:
                found.append(f"{op}({a} {m}-d, {b} {n}-d): {ours} instead of {theirs}")
    assert not found, "\n".join(found)


@pytest.mark.torch
@pytest.mark.parametrize("op", OPS)
def test_every_number(op: str) -> None:
    import torch

    import tinytorch

    found = []
    for a, m, x, left in itertools.product(DTYPES, (0, 1), NUMBERS, (False, True)):
        ours, theirs = (
            _outcome(e, op, x if left else t, t if left else x, False)
            for e in (tinytorch, torch)
            for t in [_tensor(e, a, m, (3, 100))]
        )
        if ours != theirs:
            found.append(
                f"{op}({a} {m}-d, {x!r}, number {'left' if left else 'right'}): {ours} instead of {theirs}"
            )
    assert not found, "\n".join(found)


@pytest.mark.torch
@pytest.mark.parametrize(
    "op", ["add_", "mul_", "div_", "pow_", "floor_divide_", "bitwise_or_", "copy_", "fill_"]
)
def test_every_pair_in_place(op: str) -> None:
    import torch

    import tinytorch

    found = []
    for (a, b), n in itertools.product(itertools.product(DTYPES, DTYPES), (0, 1)):
        ours, theirs = (
            _outcome(e, op, _tensor(e, a, 1, (3, 100)), _tensor(e, b, n, (2, 5)), True)
            for e in (tinytorch, torch)
        )
        if ours != theirs:
            found.append(f"{op}({a}, {b} {n}-d): {ours} instead of {theirs}")
    assert not found, "\n".join(found)


@pytest.mark.torch
def test_tables() -> None:
    import torch

    import tinytorch

    for a, b in itertools.product(DTYPES, DTYPES):
        for f in ("promote_types", "can_cast"):
            said = []
            for e in (tinytorch, torch):
                try:
                    said.append(repr(getattr(e, f)(getattr(e, a), getattr(e, b))))
                except RuntimeError as error:
                    said.append(str(error))
            assert said[0] == said[1], (f, a, b)
