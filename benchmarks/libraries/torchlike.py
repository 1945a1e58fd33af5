"""The cases for the two engines with torch's interface: the same lines for both.

`build(torch, name)` gives the action of a case named "group/what/size", or None.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from .common import chain

Action = Callable[[], Any]


def _copies(torch: Any, n: int) -> dict[str, Action]:
    x = torch.full((n,), 0.5, requires_grad=True)
    plain = x.detach()
    other = torch.full((n,), 0.25)
    array = np.full(n, 0.5, np.float32)

    def in_place() -> None:
        with torch.no_grad():
            other.copy_(plain)

    return {
        "clone": lambda: x.clone(),
        "clone, no grad": lambda: plain.clone(),
        "detach": lambda: x.detach(),
        "detach().clone()": lambda: x.detach().clone(),
        "clone().detach()": lambda: x.clone().detach(),
        ".data": lambda: x.data,
        "copy_": lambda: plain.clone().copy_(x),
        "copy_, no grad": in_place,
        "copy.copy": lambda: copy.copy(plain),
        "copy.deepcopy": lambda: copy.deepcopy(plain),
        "pickle": lambda: pickle.loads(pickle.dumps(plain)),
        "tensor(array)": lambda: torch.tensor(array),
        "from_numpy": lambda: torch.from_numpy(array),
        "as_tensor": lambda: torch.as_tensor(array),
        "numpy()": lambda: plain.numpy(),
        "to(same)": lambda: x.to(torch.float32),
        "to(float64)": lambda: plain.to(torch.float64),
        "to(copy=True)": lambda: plain.to(torch.float32, copy=True),
        "contiguous": lambda: x.contiguous(),
        "empty_like().copy_": lambda: torch.empty_like(plain).copy_(plain),
    }


def _views(torch: Any, n: int) -> dict[str, Action]:
    x = torch.full((n,), 0.5, requires_grad=True)
    rows = torch.full((1, n), 0.5, requires_grad=True)
    return {
        "view": lambda: x.view(-1, 1),
        "reshape": lambda: x.reshape(1, -1),
        "flatten": lambda: rows.flatten(),
        "squeeze": lambda: rows.squeeze(0),
        "unsqueeze": lambda: x.unsqueeze(0),
        "t": lambda: rows.t(),
        "transpose": lambda: rows.transpose(0, 1),
        "permute": lambda: rows.permute(1, 0),
        "x[0]": lambda: x[0],
        "x[:1]": lambda: x[:1],
        "x[...]": lambda: x[...],
        "x[None]": lambda: x[None],
        "narrow": lambda: x.narrow(0, 0, 1),
        "select": lambda: x.select(0, 0),
        "expand": lambda: rows.expand(2, n),
        "diagonal": lambda: rows.diagonal(),
        "as_strided": lambda: x.as_strided((1,), (1,)),
        "split": lambda: x.split(n),
        "chunk": lambda: x.chunk(2),
        "view(dtype)": lambda: x.detach().view(torch.int32),
        "view_as": lambda: x.view_as(x),
    }


def _backward(x: Any, y: Any, forward: Callable[[Any, Any], Any]) -> Action:
    def run() -> None:
        x.grad = y.grad = None
        forward(x, y).backward()

    return run


def _ops(torch: Any, n: int) -> dict[str, Action]:
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal(n).astype(np.float32), requires_grad=True)
    y = torch.tensor(rng.standard_normal(n).astype(np.float32), requires_grad=True)
    a, b = x.detach(), y.detach()
    side = max(int(n**0.5) // 4, 1)
    m = torch.tensor(rng.standard_normal((side, side)).astype(np.float32), requires_grad=True)
    w = torch.tensor(rng.standard_normal((side, side)).astype(np.float32), requires_grad=True)
    return {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "exp": lambda: x.exp(),
        "add, no grad": lambda: a + b,
        "mul, no grad": lambda: a * b,
        "exp, no grad": lambda: a.exp(),
        "div, no grad": lambda: a / b,
        "sub, no grad": lambda: a - b,
        "relu, no grad": lambda: a.relu(),
        "tanh, no grad": lambda: a.tanh(),
        "sigmoid, no grad": lambda: a.sigmoid(),
        "sqrt, no grad": lambda: a.sqrt(),
        "greater, no grad": lambda: a > b,
        "where, no grad": lambda: torch.where(a > 0, a, b),
        "add_, no grad": lambda: b.add_(0.0),
        "sum, no grad": lambda: a.sum(),
        "mean, no grad": lambda: a.mean(),
        "max, no grad": lambda: a.max(),
        "argmax, no grad": lambda: a.argmax(),
        "matmul, no grad": lambda: m.detach() @ w.detach(),
        "(x*y).sum() + backward": _backward(x, y, lambda x, y: (x * y).sum()),
        "(x*y).exp().sum() + backward": _backward(x, y, lambda x, y: (x * y).exp().sum()),
        "relu + backward": _backward(x, y, lambda x, y: x.relu().sum()),
        "sigmoid + backward": _backward(x, y, lambda x, y: x.sigmoid().sum()),
        "mean + backward": _backward(x, y, lambda x, y: x.mean()),
        "matmul + backward": _backward(m, w, lambda m, w: (m @ w).sum()),
    }


def _network(torch: Any, batch: int) -> Action:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    inputs, classes = torch.randn(batch, 784), torch.randint(0, 10, (batch,))

    def step() -> None:
        optimizer.zero_grad()
        loss_of(net(inputs), classes).backward()
        optimizer.step()

    return step


def _thousand(step: Action) -> Action:
    def run() -> None:
        for _ in range(1000):
            step()

    return run


def _chain(torch: Any, count: int) -> Action:
    x = torch.ones(1, requires_grad=True)

    def clear() -> None:
        x.grad = None

    return chain(x, count, clear)


def build(torch: Any, name: str) -> Action | None:
    """The action of a case, or None for one that this library does not have."""
    group, case, size = name.split("/")
    n = int(size)
    if group == "network":
        step = _network(torch, n)
        return step if case == "step" else _thousand(step)
    if group == "chain":
        return _chain(torch, n)
    makers = {"copies": _copies, "views": _views, "ops": _ops, "size": _ops}
    return makers[group](torch, n).get(case)


def names(group: str) -> list[str]:
    """The names of the cases in a group."""
    import tinytorch

    makers = {"copies": _copies, "views": _views, "ops": _ops}
    return list(makers[group](tinytorch, 1))
