"""Bare NumPy: the calls that the work cannot do without, and nothing around them. The floor for engines built on it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from .common import chosen


def start(threads: int) -> str:
    """Say which version runs."""
    return f"NumPy {np.__version__}, bare calls"


def _copies(n: int) -> dict[str, Any]:
    x, other = np.full(n, 0.5, np.float32), np.full(n, 0.25, np.float32)
    return {
        "clone": lambda: x.copy(),
        "clone, no grad": lambda: x.copy(),
        "detach": lambda: x.view(),
        "detach().clone()": lambda: x.view().copy(),
        "clone().detach()": lambda: x.copy().view(),
        ".data": lambda: x.view(),
        "copy_": lambda: np.copyto(other.copy(), x),
        "copy_, no grad": lambda: np.copyto(other, x),
        "copy.copy": lambda: copy.copy(x),
        "copy.deepcopy": lambda: copy.deepcopy(x),
        "pickle": lambda: pickle.loads(pickle.dumps(x)),
        "tensor(array)": lambda: x.copy(),
        "to(float64)": lambda: x.astype(np.float64),
        "to(copy=True)": lambda: x.copy(),
        "empty_like().copy_": lambda: np.copyto(np.empty_like(x), x),
    }


def _views(n: int) -> dict[str, Any]:
    x, rows = np.full(n, 0.5, np.float32), np.full((1, n), 0.5, np.float32)
    return {
        "view": lambda: x.reshape(-1, 1),
        "reshape": lambda: x.reshape(1, -1),
        "flatten": lambda: rows.reshape(-1),
        "squeeze": lambda: rows.squeeze(0),
        "unsqueeze": lambda: x[None],
        "t": lambda: rows.T,
        "transpose": lambda: rows.swapaxes(0, 1),
        "permute": lambda: rows.transpose(1, 0),
        "x[0]": lambda: x[0, ...],
        "x[:1]": lambda: x[:1],
        "x[...]": lambda: x[...],
        "x[None]": lambda: x[None],
        "narrow": lambda: x[0:1],
        "select": lambda: x[0, ...],
        "diagonal": lambda: rows.diagonal(),
        "view(dtype)": lambda: x.view(np.int32),
    }


def _ops(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(n, np.float32) for _ in "xy")
    side = max(int(n**0.5) // 4, 1)
    m, w = (rng.standard_normal((side, side)).astype(np.float32) for _ in "mw")
    one = np.ones((), np.float32)

    def product() -> tuple:
        (x * y).sum()
        return one * y, one * x

    def exponential() -> tuple:
        e = np.exp(x * y)
        e.sum()
        grad = one * e
        return grad * y, grad * x

    def rectified() -> np.ndarray:
        out = np.maximum(x, 0)
        out.sum()
        return (out > 0) * one

    def matrices() -> tuple:
        out = m @ w
        out.sum()
        grad = np.ones_like(out)
        return grad @ w.T, m.T @ grad

    plain = {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "exp": lambda: np.exp(x),
        "div": lambda: x / y,
        "sub": lambda: x - y,
        "relu": lambda: np.maximum(x, 0),
        "tanh": lambda: np.tanh(x),
        "sigmoid": lambda: 1 / (1 + np.exp(-x)),
        "sqrt": lambda: np.sqrt(x),
        "greater": lambda: x > y,
        "where": lambda: np.where(x > 0, x, y),
        "add_": lambda: np.add(y, np.float32(0), y),
        "sum": lambda: x.sum(),
        "mean": lambda: x.mean(),
        "max": lambda: x.max(),
        "argmax": lambda: x.argmax(),
        "matmul": lambda: m @ w,
    }
    return {
        **plain,
        **{f"{name}, no grad": action for name, action in plain.items()},
        "(x*y).sum() + backward": product,
        "(x*y).exp().sum() + backward": exponential,
        "relu + backward": rectified,
        "matmul + backward": matrices,
    }


def _step(batch: int) -> Any:
    rng = np.random.default_rng(0)
    w1, w2 = (rng.standard_normal(s).astype(np.float32) * 0.05 for s in ((784, 128), (128, 10)))
    b1, b2 = np.zeros(128, np.float32), np.zeros(10, np.float32)
    inputs, classes = (
        rng.standard_normal((batch, 784)).astype(np.float32),
        rng.integers(0, 10, batch),
    )
    rows, rate = np.arange(batch), np.float32(0.01)

    def step() -> None:
        hidden = np.maximum(inputs @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        e = np.exp(scores - scores.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        -np.log(p[rows, classes]).mean()
        p[rows, classes] -= 1
        p *= np.float32(1 / batch)
        to_hidden = p @ w2.T * (hidden > 0)
        for value, grad in (
            (w2, hidden.T @ p),
            (b2, p.sum(0)),
            (w1, inputs.T @ to_hidden),
            (b1, to_hidden.sum(0)),
        ):
            value -= rate * grad

    return step


def case(name: str) -> Any:
    """The action of a case, or None."""
    return chosen(
        name, {"network": _step, "copies": _copies, "views": _views, "ops": _ops, "size": _ops}
    )
