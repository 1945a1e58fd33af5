"""SGD and Adam, computed in the order of torch's single-tensor updates.

Source: `torch.optim.SGD`, `torch.optim.Adam`, `torch.optim.AdamW`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fused import add_scaled
from ..graph.modes import MODES
from ..ops.core import FUNCTIONS
from ..ops.creation import tensor
from ..tensor import Tensor
from .optimizer import Optimizer


def check(condition: bool, what: str, value: Any) -> None:
    """Refuse an option that is out of range, in torch's words: ValueError."""
    if not condition:
        raise ValueError(f"Invalid {what}: {value}")


def at_least(low: float, value: Any, what: str) -> None:
    """Refuse an option below a bound, in torch's words: ValueError."""
    if not low <= value:
        raise ValueError(f"Invalid {what}: {value}")


def check_rate(lr: Any) -> None:
    """Refuse a learning rate that is negative or not one number: ValueError."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    at_least(0.0, lr, "learning rate")


def _check_kinds(betas: Any, foreach: Any, capturable: bool) -> None:
    """Refuse betas of two kinds, and tensors where torch's implementation takes none."""
    if not any(all(isinstance(b, kind) for b in betas[:2]) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")
    for i in range(2):
        if isinstance(betas[i], Tensor):
            if foreach and not capturable:
                raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
            if betas[i].numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")


def check_device(p: Tensor) -> None:
    """Refuse to step on the CPU as captured graphs step: AssertionError."""
    if p.device.type == "cpu":
        raise AssertionError(
            "If capturable=True, params and state_steps must be on supported devices: ['cuda', 'xpu', 'hpu', "
            "'privateuseone', 'xla']."
        )


def check_fused(fused: Any, foreach: Any, differentiable: bool) -> None:
    """Refuse options that torch's implementations exclude: RuntimeError."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _add_scaled_(target: Tensor, other: Tensor, factor: Any) -> None:
    """`target.add_(other, alpha=factor)`, the shortest way where nothing is recorded and the two are alike."""
    a, b = target._data, other._data
    here = MODES.here
    if (
        a.dtype.char == "f" and b.dtype is a.dtype and a.shape == b.shape and type(factor) is float and not here.grad
        and a.flags.c_contiguous and b.flags.c_contiguous and target._device is other._device
        and (target._storage is None or other._storage is None or not np.may_share_memory(a, b))
    ):  # fmt: skip
        here.run(add_scaled, a, b, factor, a)
        target._own_counter().version += 1
    else:
        target.add_(other, alpha=factor)


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and weight decay. ValueError for negative options."""

    def __init__(self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
                 nesterov: bool = False, *, maximize: bool = False, foreach: Any = None, differentiable: bool = False,
                 fused: Any = None) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for what, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            if value < 0.0:
                raise ValueError(f"Invalid {what}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        check_fused(fused, foreach, differentiable)

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad.add(p, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        lr = group["lr"]
        _add_scaled_(p, grad, -(lr.item() if isinstance(lr, Tensor) else lr))


class Adam(Optimizer):
    """Adam. ValueError for options out of range."""

    decoupled = False

    def __init__(self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: Any = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False, fused: Any = None,
                 decoupled_weight_decay: bool | None = None) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_rate(lr)
        at_least(0.0, eps, "epsilon value")
        check(0.0 <= betas[0] < 1.0, "beta parameter at index 0", betas[0])
        check(0.0 <= betas[1] < 1.0, "beta parameter at index 1", betas[1])
        at_least(0.0, weight_decay, "weight_decay value")
        _check_kinds(betas, foreach, capturable)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": self.decoupled if decoupled_weight_decay is None else decoupled_weight_decay,
        })  # fmt: skip
        check_fused(fused, foreach, differentiable)

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state["step"] = tensor(0.0)
            for name in ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ())):
                state[name] = FUNCTIONS["zeros_like"](p)
        if group["capturable"]:
            check_device(p)
        (beta1, beta2), lr = group["betas"], group["lr"]
        lr, beta1, beta2 = (x.item() if isinstance(x, Tensor) else x for x in (lr, beta1, beta2))
        state["step"] += 1
        step = state["step"].item()
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        average, square = state["exp_avg"], state["exp_avg_sq"]
        average.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step_size = lr / (1 - beta1**step)
        root = (1 - beta2**step) ** 0.5
        if group["amsgrad"]:
            state["max_exp_avg_sq"].copy_(state["max_exp_avg_sq"].maximum(square))
            square = state["max_exp_avg_sq"]
        p.addcdiv_(average, (square.sqrt() / root).add_(group["eps"]), value=-step_size)


class AdamW(Adam):
    """Adam with decoupled weight decay (0.01 unless given)."""

    decoupled = True

    def __init__(self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: Any = None,
                 capturable: bool = False, differentiable: bool = False, fused: Any = None) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, foreach=foreach,
                         capturable=capturable, differentiable=differentiable, fused=fused)  # fmt: skip
