"""What PyTorch computes once for the gradients of two inputs is in the graph of these gradients once."""

from __future__ import annotations

from typing import Any

import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch


def _list_nodes_of_second_derivative(engine: Any, call: str) -> list[str]:
    """The graph of the gradients of `x` and `src`, where a node that was met before is its number."""
    leaves = (engine.tensor([1.0, 2.0, 3.0]), engine.tensor([1.0, 2.0, 5.0, 3.0]))
    x, src = (leaf.requires_grad_() * 1 for leaf in leaves)
    index = engine.tensor([0, 1, 1, 2])
    result = eval(call, {"x": x, "src": src, "index": index})
    gradients = engine.autograd.grad(result.sum() * x.sum(), (x, src), create_graph=True)
    numbers: dict[Any, int] = {}

    def describe(node: Any) -> str:
        if node is None or node in numbers:
            return str(numbers.get(node))
        numbers[node] = len(numbers)
        return f"{node.name()}({', '.join(describe(below) for below, _ in node.next_functions)})"

    return [describe(gradient.grad_fn) for gradient in gradients]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_what_two_gradients_share_is_in_the_graph_once(how: str, include_self: bool) -> None:
    names = ("scatter_reduce",) if how == "sum" else ("scatter_reduce", "index_reduce")
    for name in names:
        call = f"x.{name}(0, index, src, '{how}', include_self={include_self})"
        ours, theirs = (_list_nodes_of_second_derivative(e, call) for e in (tinytorch, torch))
        assert ours == theirs
