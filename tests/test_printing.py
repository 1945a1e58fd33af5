"""How tensors print: stored texts of PyTorch, and thousands of tensors against PyTorch itself."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch

SEED = 20


@pytest.fixture(autouse=True)
def torchs_own_options() -> Iterator[None]:
    yield
    tinytorch.set_printoptions(profile="default")


def text(data: object) -> str:
    return repr(tinytorch.from_numpy(np.asarray(data)))


def f4(values: object) -> np.ndarray:
    return np.asarray(values, np.float32)


STORED = [
    (f4([1, 2.5, -3]), "tensor([ 1.0000,  2.5000, -3.0000])"),
    (f4([1e-5, 1]), "tensor([1.0000e-05, 1.0000e+00])"),
    (f4([1000, 1]), "tensor([1000.,    1.])"),
    (f4([1001, 1]), "tensor([1.0010e+03, 1.0000e+00])"),
    (f4([1e9]), "tensor([1.0000e+09])"),
    (f4([0.0, -0.0, np.inf]), "tensor([0., -0., inf])"),
    (f4([1, np.nan, -np.inf]), "tensor([1., nan, -inf])"),
    (np.array([[1, -20], [300, 4]], np.int64), "tensor([[  1, -20],\n        [300,   4]])"),
    (f4(3.25), "tensor(3.2500)"),
    (np.array([True, False], np.bool_), "tensor([ True, False])"),
    (f4([]), "tensor([])"),
    (np.zeros((0, 3), np.float32), "tensor([], size=(0, 3))"),
    (np.array([], np.int64), "tensor([], dtype=torch.int64)"),
    (np.zeros((2, 0), bool), "tensor([], size=(2, 0), dtype=torch.bool)"),
    (np.array([1.5], np.float64), "tensor([1.5000], dtype=torch.float64)"),
    (np.array([7], np.int32), "tensor([7], dtype=torch.int32)"),
    (np.zeros(23, np.float32), f"tensor([{', '.join(['0.'] * 23)}])"),
    (np.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        np.zeros((2, 2, 1), np.float32),
        "tensor([[[0.],\n         [0.]],\n\n        [[0.],\n         [0.]]])",
    ),
]


@pytest.mark.parametrize(("data", "expected"), STORED, ids=range(len(STORED)))
def test_prints_as_torch_did(data: np.ndarray, expected: str) -> None:
    assert text(data) == expected


def test_suffixes_and_where_they_wrap() -> None:
    x = tinytorch.ones(1, requires_grad=True)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    assert repr(x + 0) == "tensor([1.], grad_fn=<AddBackward0>)"
    assert repr(tinytorch.ones(1, device="cuda")) == "tensor([1.], device='cuda:0')"
    wide = tinytorch.zeros(23, dtype=tinytorch.float64, requires_grad=True) + 0
    assert (
        repr(wide)
        == f"tensor([{', '.join(['0.'] * 23)}],\n       dtype=torch.float64, grad_fn=<AddBackward0>)"
    )


def test_format() -> None:
    x = tinytorch.ones(1, requires_grad=True) * 1.5
    assert f"{x.detach().sum():.2f}" == "1.50"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{x:.2f}"


def test_options() -> None:
    tinytorch.set_printoptions(precision=2, sci_mode=False)
    assert text(f4([1e-5, 1])) == "tensor([0.00, 1.00])"
    tinytorch.set_printoptions(profile="full")
    assert "..." not in text(np.arange(1001))
    tinytorch.set_printoptions(profile="short")
    assert text(np.arange(1001)) == "tensor([   0,    1,  ...,  999, 1000])"
    tinytorch.set_printoptions(sci_mode=True)
    tinytorch.set_printoptions(edgeitems=1)  # what is not given stays, but for sci_mode
    assert text(f4(np.ones(1001))) == "tensor([1.,  ..., 1.])"


def test_a_summary_reads_only_what_it_shows() -> None:
    # 10^12 elements of one number: reading them all would take hours.
    endless = tinytorch.ones(1, 1).expand(10**6, 10**6)
    row = "[1., 1., 1.,  ..., 1., 1., 1.]"
    assert repr(endless) == "tensor([" + ",\n        ".join([row] * 3 + ["..."] + [row] * 3) + "])"


ODD = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-5, 1e8, 1.0001e8, math.inf, -math.inf, math.nan, 1e-4, 999.5, 1000.0, 1001.0,
       1e-45, 1e38, 3.14159, 123456.0, 65504.0]  # fmt: skip
FLOATS = ["float32", "float64", "float16"]
WHOLE = ["int64", "int32", "int16", "int8", "uint8", "bool"]


def some_array(rng: random.Random) -> np.ndarray:
    dtype = np.dtype(rng.choice(FLOATS * 3 + WHOLE))
    sizes = [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 30]
    shape = [rng.choice(sizes) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    if rng.random() < 0.05:
        shape = [rng.choice([1000, 1001])]
    n = math.prod(shape)
    if dtype.kind == "f":
        some = rng.sample(ODD, 3)
        scale = rng.choice([1e-6, 1e-3, 1, 1, 1, 1e3, 1e9])
        kinds: list[Callable[[], float]] = [
            lambda: rng.choice(ODD),
            lambda: rng.choice(some),
            lambda: rng.gauss(0, scale),
            lambda: float(rng.randint(-5, 2000)),
            lambda: 0.0,
        ]
        kind = rng.choice(kinds)
        with np.errstate(over="ignore"):
            a = np.array([kind() for _ in range(n)], np.float64).astype(dtype)
    elif dtype.kind == "b":
        a = np.array([rng.random() < 0.5 for _ in range(n)], dtype)
    else:
        bounds = np.iinfo(dtype)
        most = min(int(bounds.max), rng.choice([3, 100, 2**64]))
        a = np.array([rng.randint(max(int(bounds.min), -most), most) for _ in range(n)], dtype)
    return a.reshape(shape)


def some_options(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.6:
        return {"profile": "default"}
    choices: dict[str, list[Any]] = {
        "profile": ["default", "short", "full"],
        "precision": list(range(10)),
        "threshold": [0, 1, 5, 10, 100],
        "edgeitems": [1, 2, 3, 4],
        "linewidth": [10, 20, 40, 60, 100, 120],
        "sci_mode": [None, True, False],
    }
    return {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.4}


def said(t: Any) -> str:
    try:
        return repr(t)
    except RuntimeError as error:
        return f"RuntimeError: {error}"


@pytest.mark.torch
def test_prints_what_torch_prints() -> None:
    import torch

    rng = random.Random(SEED)
    engines: tuple[Any, Any] = (tinytorch, torch)
    try:
        for _ in range(1500):
            options, a = some_options(rng), some_array(rng)
            default = "float64" if rng.random() < 0.2 else "float32"
            turned, asked, made = rng.random() < 0.3, rng.random() < 0.3, rng.random() < 0.5
            texts = []
            for engine in engines:
                engine.set_printoptions(**options)
                engine.set_default_dtype(getattr(engine, default))
                t = engine.from_numpy(a.copy())
                t = t.permute(tuple(reversed(range(t.dim())))) if turned else t
                if a.dtype.kind == "f" and asked:
                    t.requires_grad_()
                    t = t * 1 if made else t
                texts.append(said(t))
            assert texts[0] == texts[1], (options, a.dtype, a.shape)
    finally:
        for engine in engines:
            engine.set_printoptions(profile="default")
            engine.set_default_dtype(engine.float32)
