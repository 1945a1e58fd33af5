"""Evenly spaced numbers on many random ends and steps, and what arrays share."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tinytorch

DTYPES = ("float16", "float32", "float64", "int32", "int64")


def _equal(mine: Any, theirs: Any) -> bool:
    a, b = mine.numpy(), theirs.numpy()
    off = 0.0 if a.dtype.kind == "i" else 4 * float(np.finfo(a.dtype).eps)
    return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=off, atol=10 * off)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", DTYPES)
def test_linspace(dtype: str) -> None:
    import torch

    r = random.Random(dtype)
    for _ in range(150):
        start, end, n = r.uniform(-50, 50), r.uniform(-50, 50), r.randint(0, 90)
        call = f"linspace({start}, {end}, {n}, dtype={dtype})"
        mine = tinytorch.linspace(start, end, n, dtype=getattr(tinytorch, dtype))
        assert _equal(mine, torch.linspace(start, end, n, dtype=getattr(torch, dtype))), call


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_arange(dtype: str) -> None:
    import torch

    r = random.Random(dtype)
    for _ in range(200):
        step = r.choice((r.uniform(-2, 2), r.randint(1, 4), 0.1, 0.25))
        if dtype == "int64":
            step = r.choice((1, 2, -3, 7))
        start = r.choice((0, r.uniform(-5, 5) if dtype != "int64" else r.randint(-9, 9)))
        end = (
            start + step * r.uniform(0, 70) if dtype != "int64" else start + step * r.randint(0, 70)
        )
        mine = tinytorch.arange(start, end, step, dtype=getattr(tinytorch, dtype))
        assert _equal(mine, torch.arange(start, end, step, dtype=getattr(torch, dtype))), (
            start,
            end,
            step,
        )


def test_an_array_and_its_tensors_share_memory() -> None:
    a = np.arange(6.0).reshape(2, 3)
    t = tinytorch.from_numpy(a)
    same = (tinytorch.as_tensor(a), tinytorch.asarray(a))
    t[0, 0] = 9
    assert a[0, 0] == 9 and all(s[0, 0].item() == 9 for s in same)
    assert tinytorch.tensor(a)[0, 0].item() == 9
    assert tinytorch.tensor(a).data_ptr() != t.data_ptr()
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(10)


def test_what_was_not_asked_for_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'shape'"):
        tinytorch.zeros(2, shape=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"must be torch\.device, not float"):
        tinytorch.zeros(2, device=1.0)  # type: ignore[call-overload]
    with pytest.raises(RuntimeError, match="Dimension size must be non-negative"):
        tinytorch.zeros(-1)


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1,), (3,)])
@pytest.mark.parametrize("make", ["from_numpy", "tensor", "as_tensor"])
def test_negative_strides_are_refused_wherever_they_are(make: str, shape: tuple[int, ...]) -> None:
    # A NumPy array with them is contiguous all the same where the size is 1.
    for axis in range(len(shape)):
        flipped = np.flip(np.ones(shape), axis)
        with pytest.raises(ValueError, match="negative strides are not currently supported"):
            getattr(tinytorch, make)(flipped)
