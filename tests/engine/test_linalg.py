"""Products of matrices: their derivatives."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch

PRODUCTS = [
    "torch.mm(x(2, 3), x(3, 4))", "torch.mv(x(2, 3), x(3))", "torch.dot(x(3), x(3))", "torch.bmm(x(2, 2, 3), x(2, 3, 1))",
    "x(3) @ x(3, 2)", "x(4, 2, 3) @ x(3)", "x(2, 1, 2, 3) @ x(4, 3, 2)", "torch.addmm(x(2), x(3, 4), x(4, 2), beta=.5, alpha=2)",
    "torch.outer(x(2), x(3))",
]  # fmt: skip


@pytest.mark.parametrize("product", PRODUCTS)
def test_derivatives(product: str) -> None:
    torch = tinytorch
    torch.manual_seed(1)
    inputs: list[Any] = []

    def x(*shape: int) -> Any:
        inputs.append(torch.randn(shape, dtype=torch.float64).requires_grad_())
        return inputs[-1]

    code = compile(product, product, "eval")
    eval(code, {"torch": torch, "x": x})

    def function(*given: Any) -> Any:
        left = list(given)
        return eval(code, {"torch": torch, "x": lambda *shape: left.pop(0)})

    def derivatives(*given: Any) -> Any:
        out = function(*given)
        return torch.autograd.grad(out, given, torch.ones_like(out) * 2, create_graph=True)

    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradcheck(derivatives, inputs)
