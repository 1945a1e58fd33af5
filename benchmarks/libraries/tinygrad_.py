"""tinygrad: lazy, compiled. Every case ends with `realize`, without which nothing has been computed."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from tinygrad import Context, Device, Tensor, dtypes, nn

from .common import chosen, operands


def start(threads: int) -> str:
    """Say which version runs, and where. RuntimeError if it has no device (on the CPU it needs clang)."""
    return f"tinygrad {version('tinygrad')} on {Device.DEFAULT}, compiled, realized at every call"


def _of(array: np.ndarray) -> Tensor:
    return Tensor(array).realize()


def _copies(n: int) -> dict[str, Any]:
    x = _of(np.full(n, 0.5, np.float32))
    array = np.full(n, 0.5, np.float32)
    return {
        "clone, no grad": lambda: x.clone().realize(),
        "tensor(array)": lambda: Tensor(array).realize(),
        "to(float64)": lambda: x.cast(dtypes.float64).realize(),
        "numpy()": lambda: x.numpy(),
    }


def _backward(forward: Any, *inputs: Tensor) -> Any:
    def run() -> None:
        for t in inputs:
            t.grad = None
        loss = forward(*inputs)
        loss.backward()
        Tensor.realize(loss, *[t.grad for t in inputs])

    return run


def _ops(n: int) -> dict[str, Any]:
    vectors, matrices = operands(n)
    (x, y), (m, w) = map(_of, vectors), map(_of, matrices)
    return {
        "add, no grad": lambda: (x + y).realize(),
        "mul, no grad": lambda: (x * y).realize(),
        "exp, no grad": lambda: x.exp().realize(),
        "relu, no grad": lambda: x.relu().realize(),
        "sum, no grad": lambda: x.sum().realize(),
        "matmul, no grad": lambda: (m @ w).realize(),
        "(x*y).sum() + backward": _backward(lambda x, y: (x * y).sum(), x, y),
        "(x*y).exp().sum() + backward": _backward(lambda x, y: (x * y).exp().sum(), x, y),
        "matmul + backward": _backward(lambda m, w: (m @ w).sum(), m, w),
    }


def _step(batch: int) -> Any:
    first, second = nn.Linear(784, 128), nn.Linear(128, 10)
    optimizer = nn.optim.SGD(nn.state.get_parameters([first, second]), lr=0.01)
    inputs, classes = Tensor.randn(batch, 784).realize(), Tensor.randint(batch, high=10).realize()

    def step() -> None:
        with Context(TRAINING=1):
            optimizer.zero_grad()
            second(first(inputs).relu()).sparse_categorical_crossentropy(classes).backward()
            optimizer.step()

    return step


def case(name: str) -> Any:
    """The action of a case, or None."""
    return chosen(name, {"network": _step, "copies": _copies, "ops": _ops, "size": _ops})
