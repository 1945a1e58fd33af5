"""MyGrad: tensors over NumPy with views, without storages or version counters."""

from __future__ import annotations

from typing import Any

import mygrad as mg
import numpy as np

from .common import chain, chosen, operands, training


def start(threads: int) -> str:
    """Say which version runs. Its guard against writes into arrays of a graph stays on, as it comes."""
    return f"MyGrad {mg.__version__} (memory guard on, as it comes)"


def _copies(n: int) -> dict[str, Any]:
    x = mg.tensor(np.full(n, 0.5, np.float32))
    array = np.full(n, 0.5, np.float32)
    return {
        "clone": lambda: x.copy(),
        "tensor(array)": lambda: mg.tensor(array),
        "from_numpy": lambda: mg.tensor(array, copy=False),
        "to(float64)": lambda: x.astype(np.float64),
    }


def _views(n: int) -> dict[str, Any]:
    x, rows = mg.tensor(np.full(n, 0.5, np.float32)), mg.tensor(np.full((1, n), 0.5, np.float32))
    return {
        "reshape": lambda: x.reshape(1, -1),
        "flatten": lambda: rows.flatten(),
        "squeeze": lambda: mg.squeeze(rows, 0),
        "t": lambda: rows.T,
        "transpose": lambda: mg.swapaxes(rows, 0, 1),
        "permute": lambda: rows.transpose(1, 0),
        "x[0]": lambda: x[0],
        "x[:1]": lambda: x[:1],
        "x[...]": lambda: x[...],
        "x[None]": lambda: x[None],
    }


def _backward(forward: Any, *inputs: Any) -> Any:
    def run() -> None:
        for t in inputs:
            t.null_grad()
        forward(*inputs).backward()

    return run


def _ops(n: int) -> dict[str, Any]:
    vectors, matrices = operands(n)
    (x, y), (m, w) = map(mg.tensor, vectors), map(mg.tensor, matrices)
    a, b, m0, w0 = (mg.tensor(array.copy(), constant=True) for array in (*vectors, *matrices))
    return {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "exp": lambda: mg.exp(x),
        "add, no grad": lambda: a + b,
        "mul, no grad": lambda: a * b,
        "exp, no grad": lambda: mg.exp(a),
        "div, no grad": lambda: a / b,
        "sub, no grad": lambda: a - b,
        "relu, no grad": lambda: mg.nnet.relu(a),
        "tanh, no grad": lambda: mg.tanh(a),
        "sigmoid, no grad": lambda: mg.nnet.sigmoid(a),
        "sqrt, no grad": lambda: mg.sqrt(a),
        "greater, no grad": lambda: a > b,
        "where, no grad": lambda: mg.where(a.data > 0, a, b),
        "sum, no grad": lambda: a.sum(),
        "mean, no grad": lambda: a.mean(),
        "max, no grad": lambda: a.max(),
        "matmul, no grad": lambda: m0 @ w0,
        "(x*y).sum() + backward": _backward(lambda x, y: (x * y).sum(), x, y),
        "(x*y).exp().sum() + backward": _backward(lambda x, y: mg.exp(x * y).sum(), x, y),
        "relu + backward": _backward(lambda x: mg.nnet.relu(x).sum(), x),
        "sigmoid + backward": _backward(lambda x: mg.nnet.sigmoid(x).sum(), x),
        "mean + backward": _backward(lambda x: x.mean(), x),
        "matmul + backward": _backward(lambda m, w: (m @ w).sum(), m, w),
    }


def _step(batch: int) -> Any:
    arrays, inputs, classes = training(batch)
    parameters = w1, b1, w2, b2 = [mg.tensor(array) for array in arrays]
    rate = np.float32(0.01)

    def step() -> None:
        scores = mg.nnet.relu(inputs @ w1 + b1) @ w2 + b2
        mg.nnet.softmax_crossentropy(scores, classes).backward()
        for p in parameters:
            p.data -= rate * p.grad
            p.null_grad()

    return step


def _chain(count: int) -> Any:
    x = mg.tensor(np.ones(1, np.float32))
    return chain(x, count, x.null_grad)


def case(name: str) -> Any:
    """The action of a case, or None."""
    makers = {
        "network": _step,
        "chain": _chain,
        "copies": _copies,
        "views": _views,
        "ops": _ops,
        "size": _ops,
    }
    return chosen(name, makers)
