"""How tensors print: stored texts of PyTorch, and thousands of arrays against PyTorch itself."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch import printing

SEED = 20


class Plain:
    """The attributes of a tensor that printing reads, and no more."""

    def __init__(self, data: object, grad_fn: object = None, requires_grad: bool = False, device: str = "cpu") -> None:
        self._data = np.asarray(data)
        self.dtype = f"torch.{self._data.dtype}"
        self.requires_grad = requires_grad
        self.device = tinytorch.device(device)
        self._grad_fn = grad_fn

    @property
    def grad_fn(self) -> object:
        if isinstance(self._grad_fn, Exception):
            raise self._grad_fn
        return self._grad_fn


@pytest.fixture(autouse=True)
def torchs_own_options() -> Iterator[None]:
    yield
    printing.set_printoptions(profile="default")


def text(t: Plain) -> str:
    return printing.tensor_repr(t, "tensor(")


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
    (np.zeros((2, 2, 1), np.float32), "tensor([[[0.],\n         [0.]],\n\n        [[0.],\n         [0.]]])"),
]


@pytest.mark.parametrize(("data", "expected"), STORED, ids=range(len(STORED)))
def test_prints_as_torch_did(data: np.ndarray, expected: str) -> None:
    assert text(Plain(data)) == expected


def test_suffixes_and_where_they_wrap() -> None:
    add = type("AddBackward0", (), {})()
    assert text(Plain(f4([1]), grad_fn=add, requires_grad=True)) == "tensor([1.], grad_fn=<AddBackward0>)"
    assert text(Plain(f4([1]), requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert text(Plain(f4([1]), device="cuda:0")) == "tensor([1.], device='cuda:0')"
    assert text(Plain(f4([1]), grad_fn=RuntimeError("no history"))) == "tensor([1.], grad_fn=<Invalid>)"
    assert text(Plain(np.zeros(23), grad_fn=add)) == (
        f"tensor([{', '.join(['0.'] * 23)}],\n       dtype=torch.float64, grad_fn=<AddBackward0>)"
    )


def test_default_dtype_goes_without_saying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "get_default_dtype", lambda: "torch.float64")
    assert text(Plain(np.array([1], np.float64))) == "tensor([1.])"
    assert text(Plain(f4([1]))) == "tensor([1.], dtype=torch.float32)"


def test_subclasses_and_parameters() -> None:
    parameter = type("Parameter", (Plain,), {})
    assert printing.tensor_repr(type("Odd", (Plain,), {})(f4([1]))) == "Odd([1.])"
    assert printing.tensor_repr(type("Mine", (parameter,), {})(f4([1]))) == "Parameter(Mine([1.]))"


def test_format() -> None:
    assert printing.format_tensor(Plain(f4(1.5)), ".2f", plain=True) == "1.50"
    with pytest.raises(TypeError, match="unsupported format string"):
        printing.format_tensor(Plain(f4([1.5])), ".2f", plain=True)
    with pytest.raises(TypeError, match="unsupported format string"):
        printing.format_tensor(Plain(f4(1.5)), ".2f", plain=False)


def test_options() -> None:
    printing.set_printoptions(precision=2, sci_mode=False)
    assert text(Plain(f4([1e-5, 1]))) == "tensor([0.00, 1.00])"
    printing.set_printoptions(profile="default")
    assert text(Plain(f4([1e-5, 1]))) == "tensor([1.0000e-05, 1.0000e+00])"
    printing.set_printoptions(profile="full")
    assert "..." not in text(Plain(np.arange(1001)))
    printing.set_printoptions(profile="short")
    assert text(Plain(np.arange(1001))) == "tensor([   0,    1,  ...,  999, 1000])"
    printing.set_printoptions(sci_mode=True)
    printing.set_printoptions(edgeitems=1)  # what is not given stays, but for sci_mode
    assert text(Plain(f4([1.5] * 1001))) == "tensor([1.50,  ..., 1.50])"


def test_a_summary_reads_only_what_it_shows() -> None:
    endless = np.broadcast_to(f4(1), (10**6, 10**6))  # 10^12 elements of one number: reading them all would take hours
    row = "[1., 1., 1.,  ..., 1., 1., 1.]"
    assert text(Plain(endless)) == "tensor([" + ",\n        ".join([row] * 3 + ["..."] + [row] * 3) + "])"


ODD = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-5, 1e8, 1.0001e8, math.inf, -math.inf, math.nan, 1e-4, 999.5, 1000.0, 1001.0,
       1e-45, 1e38, 3.14159, 123456.0, 65504.0]  # fmt: skip
FLOATS = ["float32", "float64", "float16"]
WHOLE = ["int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"]


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
    a = a.reshape(shape)
    return a.T if rng.random() < 0.3 else a


def some_options(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.6:
        return {"profile": "default"}
    choices: dict[str, list[Any]] = {
        "profile": ["default", "short", "full"],
        "precision": list(range(10)),
        "threshold": [0, 1, 5, 10, 100],
        "edgeitems": [-1, 0, 1, 2, 3, 4],
        "linewidth": [10, 20, 40, 60, 100, 120],
        "sci_mode": [None, True, False],
    }
    return {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.4}


def said(show: Callable[..., str], *args: object) -> str:
    try:
        return show(*args)
    except RuntimeError as error:
        return f"RuntimeError: {error}"


@pytest.mark.torch
def test_prints_what_torch_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    rng = random.Random(SEED)
    try:
        for _ in range(1500):
            options, a = some_options(rng), some_array(rng)
            torch.set_printoptions(**options)
            printing.set_printoptions(**options)
            default = torch.float64 if rng.random() < 0.2 else torch.float32
            torch.set_default_dtype(default)
            monkeypatch.setattr(printing, "get_default_dtype", lambda d=default: str(d))
            theirs = torch.from_numpy(a.copy())
            if a.dtype.kind == "f" and rng.random() < 0.3:
                theirs.requires_grad_()
                theirs = theirs * 1 if rng.random() < 0.5 else theirs
            ours = SimpleNamespace(
                _data=a,
                dtype=theirs.dtype,
                device=theirs.device,
                grad_fn=theirs.grad_fn,
                requires_grad=theirs.requires_grad,
            )
            assert said(printing.tensor_repr, ours, "tensor(") == said(repr, theirs), (options, a.dtype, a.shape)
    finally:
        torch.set_printoptions(profile="default")
        torch.set_default_dtype(torch.float32)


@pytest.mark.torch
def test_tensors_of_the_engine_print_what_torch_prints() -> None:
    import torch

    def lines(engine: Any) -> list[str]:
        x = engine.tensor([[1.0, -2.5], [1e-3, 4]], requires_grad=True)
        values = [
            x,
            x * 2,
            x.sum(),
            (x * x).detach(),
            x.t().clone(),
            engine.tensor([1, 2]),
            engine.tensor([True]),
            engine.tensor([1.5], dtype=engine.float16),
            engine.zeros(0, 3),
            engine.arange(2000),
            engine.ones(30, dtype=engine.float64).requires_grad_(),
            f"{x.sum():.2f}",
        ]
        return [str(v) for v in values]

    assert lines(tinytorch) == lines(torch)
