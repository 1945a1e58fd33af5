"""SGD and Adam, which step on plain arrays and count each write as torch does. Source: `torch.optim`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .base import ShownAs, check_overlap, lacking, warn_user
from .graph import count_write, enable_grad, no_grad, run_silenced
from .nn import forget_grads, typename
from .ops import zeros_like
from .tensor import Tensor, fresh

Parameters = Iterable[Tensor] | Iterable[dict[str, Any]]
_Loss = TypeVar("_Loss")


class Optimizer(metaclass=ShownAs):
    """Holds parameters in groups with options, and a state for each parameter.

    A subclass defines `step`, or `_update` for one parameter.
    """

    shown_as = "torch.optim.optimizer.Optimizer"

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {typename(params)}")  # fmt: skip
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _params(self) -> list[Tensor]:
        return [p for g in self.param_groups for p in g["params"]]

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options of their own. TypeError for non-tensors, ValueError for non-leaves."""
        group["params"] = params = (
            [group["params"]] if isinstance(group["params"], Tensor) else list(group["params"])
        )
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(p)}"
                )
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        if len(set(params)) != len(params):
            warn_user("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see github.com/pytorch/pytorch/issues/40967 for more information")  # fmt: skip
        if not set(params).isdisjoint(self._params()):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        forget_grads(self._params(), set_to_none)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], _Loss]) -> _Loss: ...
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their `.grad`; `closure` computes the loss anew if given."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if (grad := p.grad) is not None:
                    run_silenced(self._decay_and_update, p, grad._data, group)
        return loss

    def _decay_and_update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        decay = group.get("weight_decay")
        self._update(p, grad + p._data * decay if decay else grad, group)

    def _update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters as numbers in order."""
        numbers = {p: i for i, p in enumerate(self._params())}
        groups = [{**{k: v for k, v in g.items() if k != "params"}, "params": [numbers[p] for p in g["params"]]}
                  for g in self.param_groups]  # fmt: skip
        return {
            "state": {numbers.get(p, p): s for p, s in self.state.items()},
            "param_groups": groups,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state dict. ValueError if the groups do not fit."""
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(own["params"]) != len(g["params"])
            for own, g in zip(self.param_groups, groups, strict=True)
        ):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")  # fmt: skip
        params = dict(zip([n for g in groups for n in g["params"]], self._params(), strict=True))
        for own, g in zip(self.param_groups, groups, strict=True):
            g["params"] = own["params"]
        state = {params[n]: dict(s) for n, s in state_dict["state"].items()}
        self.state, self.param_groups = defaultdict(dict, state), groups

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            options = [f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params"]
            text += f"\nParameter Group {i}\n" + "".join(options)
        return text + ")"


def _check(*options: tuple[bool, str, Any]) -> None:
    for fine, what, value in options:
        if not fine:
            raise ValueError(f"Invalid {what}: {value}")


def _add_scaled(t: Tensor, a: np.ndarray, factor: float, writes: int = 1) -> None:
    """`t.add_(a, alpha=factor)`, counted as so many writes."""
    data = t._data
    if 0 in data.strides:
        check_overlap(data)
    np.add(data, a if factor == 1 else np.multiply(a, factor), data)
    for _ in range(writes):
        count_write(t)


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and weight decay. ValueError for negative options."""

    shown_as = "torch.optim.sgd.SGD"

    def __init__(
        self, params: Parameters, lr: float = 1e-3, momentum: float = 0, *, weight_decay: float = 0
    ) -> None:
        _check((lr >= 0.0, "learning rate", lr), (momentum >= 0.0, "momentum value", momentum),
               (weight_decay >= 0.0, "weight_decay value", weight_decay))  # fmt: skip
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": 0, "weight_decay": weight_decay,
                                  "nesterov": False, "maximize": False, "foreach": None, "differentiable": False,
                                  "fused": None})  # fmt: skip

    def _update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        if group["momentum"]:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = fresh(np.array(grad), p.device)
            else:
                np.multiply(buffer._data, group["momentum"], buffer._data)
                _add_scaled(buffer, grad, 1, writes=2)
            grad = buffer._data
        _add_scaled(p, grad, -float(group["lr"]))


class Adam(Optimizer):
    """Adam. ValueError for options out of range."""

    shown_as = "torch.optim.adam.Adam"

    def __init__(
        self, params: Parameters, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0,
    ) -> None:  # fmt: skip
        _check((lr >= 0.0, "learning rate", lr), (eps >= 0.0, "epsilon value", eps),
               *[(0.0 <= b < 1.0, f"beta parameter at index {i}", b) for i, b in enumerate(betas)],
               (weight_decay >= 0.0, "weight_decay value", weight_decay))  # fmt: skip
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": False,
                                  "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
                                  "fused": None, "decoupled_weight_decay": False})  # fmt: skip

    def _update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            with no_grad():
                state.update(
                    step=fresh(np.zeros((), np.float32)),
                    exp_avg=zeros_like(p),
                    exp_avg_sq=zeros_like(p),
                )
        (beta1, beta2), lr = group["betas"], float(group["lr"])
        _add_scaled(state["step"], np.float32(1), 1)
        step = float(state["step"]._data)
        average, square = state["exp_avg"], state["exp_avg_sq"]
        _add_scaled(average, grad - average._data, 1 - beta1)
        np.multiply(square._data, beta2, square._data)
        _add_scaled(
            square, grad * (1 - beta2) * grad, 1, writes=2
        )  # in this order halves do not overflow
        root = np.sqrt(square._data)
        root /= (1 - beta2**step) ** 0.5
        root += group["eps"]
        _add_scaled(p, average._data / root, -lr / (1 - beta1**step))


if not TYPE_CHECKING:  # type checkers say so themselves
    __getattr__ = lacking("torch.optim")
__all__ = ["SGD", "Adam", "Optimizer"]
