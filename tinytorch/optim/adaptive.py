"""RMSprop and Adagrad: each parameter's own rate, from the squares of its gradients.

Source: `torch.optim.RMSprop`, `torch.optim.Adagrad`.
"""

from __future__ import annotations

from typing import Any

from ..ops.core import FUNCTIONS
from ..ops.creation import tensor
from ..tensor import Tensor
from .optimizer import Optimizer
from .steps import at_least, check_device, check_fused, check_rate


def _prepared(p: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient with the options that all optimisers share."""
    grad = -grad if group["maximize"] else grad
    return grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] else grad


class RMSprop(Optimizer):
    """Gradients divided by the root of a moving mean of their squares. ValueError for negative options."""

    def __init__(self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
                 momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: Any = None,
                 maximize: bool = False, differentiable: bool = False) -> None:  # fmt: skip
        check_rate(lr)
        at_least(0.0, eps, "epsilon value")
        at_least(0.0, momentum, "momentum value")
        at_least(0.0, weight_decay, "weight_decay value")
        at_least(0.0, alpha, "alpha value")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        })  # fmt: skip

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        state, alpha = self.state[p], group["alpha"]
        if not state:
            state["step"] = tensor(0.0)
            momentum, centered = group["momentum"] > 0, group["centered"]
            for name in (
                "square_avg",
                *(("momentum_buffer",) if momentum else ()),
                *(("grad_avg",) if centered else ()),
            ):
                state[name] = FUNCTIONS["zeros_like"](p)
        if group["capturable"]:
            check_device(p)
        state["step"] += 1
        grad = _prepared(p, grad, group)
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root.add_(group["eps"])
        lr = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            p.add_(buffer, alpha=-lr)
        else:
            p.addcdiv_(grad, root, value=-lr)


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares. ValueError for negative options."""

    def __init__(self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
                 initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: Any = None, *, maximize: bool = False,
                 differentiable: bool = False, fused: Any = None) -> None:  # fmt: skip
        check_rate(lr)
        at_least(0.0, lr_decay, "lr_decay value")
        at_least(0.0, weight_decay, "weight_decay value")
        at_least(0.0, initial_accumulator_value, "initial_accumulator_value value")
        at_least(0.0, eps, "epsilon value")
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                first = FUNCTIONS["full_like"](p, initial_accumulator_value)
                self.state[p] = {"step": tensor(0.0), "sum": first}

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        state = self.state[p]
        state["step"] += 1
        grad = _prepared(p, grad, group)
        lr = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
        rate = lr / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = state["sum"]
        total.addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-rate)
