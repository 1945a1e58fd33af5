"""SGD and Adam, which step on plain arrays and count each write as torch does. Source: `torch.optim`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import numpy as np

from .autograd.modes import MODES, bump, enable_grad, no_grad
from .errors import missing, warn_user
from .nn.module import forget_grads, typename
from .ops.creation import zeros_like
from .ops.layout import check_overlap
from .tensor import Tensor, fresh


class _OptimizerMeta(type):
    """Prints the optimisers' classes by the names they have in torch."""

    def __repr__(cls) -> str:
        name = cls.__name__
        return f"<class 'torch.optim.{name.lower()}.{name}'>" if cls.__module__ == __name__ else super().__repr__()


class Optimizer(metaclass=_OptimizerMeta):
    """Holds parameters in groups with options, and a state for each parameter.

    A subclass defines `step`, or `_update` for one parameter.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options of their own. TypeError for non-tensors, ValueError for non-leaves."""
        if not isinstance(group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(group)}")
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        group["params"] = params = [params] if isinstance(params, Tensor) else list(params)
        if any(isinstance(p, tuple) for p in params):  # pairs of a name and a parameter
            if not all(isinstance(p, tuple) for p in params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            group["param_names"], group["params"] = ([pair[i] for pair in params] for i in (0, 1))
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        ids = {id(p) for p in group["params"]}
        if len(ids) != len(group["params"]):
            warn_user(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information"
            )
        if ids & {id(p) for g in self.param_groups for p in g["params"]}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        forget_grads([p for g in self.param_groups for p in g["params"]], set_to_none)

    def step(self, closure: Callable | None = None) -> Any:
        """Update the parameters from their `.grad`; `closure` computes the loss anew if given."""
        if type(self)._update is Optimizer._update:
            raise NotImplementedError
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        run = MODES.here.run
        for group in self.param_groups:
            for p in group["params"]:
                if (grad := p.grad) is not None:
                    run(self._update, p, grad._data, group)
        return loss

    def _update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters as numbers in order."""
        numbers = {id(p): i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        groups = []
        for g in self.param_groups:
            options = {k: v for k, v in g.items() if k != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in g["params"]]})
        return {"state": {numbers.get(id(p), p): s for p, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state dict. ValueError if the groups do not fit."""
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        both = list(zip(self.param_groups, groups, strict=True))
        if any(len(own["params"]) != len(g["params"]) for own, g in both):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = {n: p for own, g in both for n, p in zip(g["params"], own["params"], strict=True)}
        state = {params.get(n, n): _for_parameter(s, params.get(n)) for n, s in state_dict["state"].items()}
        for own, g in both:
            g["params"] = own["params"]
        self.state, self.param_groups = defaultdict(dict, state), groups

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n" + "".join(
                f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params"
            )
        return text + ")"


def _for_parameter(state: Any, p: Any) -> Any:
    """A loaded state in its parameter's dtype: the very tensors where they have that already."""
    fits = isinstance(state, dict) and isinstance(p, Tensor) and p.is_floating_point()
    return (
        {k: v.to(p.dtype) if isinstance(v, Tensor) and k != "step" else v for k, v in state.items()} if fits else state
    )


def _check(lr: Any, foreach: Any, fused: Any, options: Iterable[tuple[bool, str, Any]]) -> None:
    """Refuse options that are out of range or exclude each other, in torch's words."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    for fine, what, value in options:
        if not fine:
            raise ValueError(f"Invalid {what}: {value}")


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _add_scaled(t: Tensor, a: np.ndarray, factor: float, writes: int = 1) -> None:
    """`t.add_(a, alpha=factor)`, counted as so many writes."""
    data = t._data
    if 0 in data.strides:
        check_overlap(data)
    np.add(data, a if factor == 1 else np.multiply(a, factor), data)
    for _ in range(writes):
        bump(t)


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and weight decay. ValueError for negative options."""

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: Any = None, differentiable: bool = False, fused: Any = None,
    ) -> None:  # fmt: skip
        _check(lr, foreach, fused, [(lr >= 0.0, "learning rate", lr), (momentum >= 0.0, "momentum value", momentum),
                (weight_decay >= 0.0, "weight_decay value", weight_decay)])  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    def _update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad + p._data * group["weight_decay"]
        if momentum:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = fresh(np.array(grad), p.device)
            else:
                np.multiply(buffer._data, momentum, buffer._data)
                _add_scaled(buffer, grad, 1 - group["dampening"], writes=2)
            grad = grad + buffer._data * momentum if group["nesterov"] else buffer._data
        _add_scaled(p, grad, -_number(group["lr"]))


class Adam(Optimizer):
    """Adam. ValueError for options out of range."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: Any = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: Any = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _check(lr, foreach, fused, [(lr >= 0.0, "learning rate", lr), (eps >= 0.0, "epsilon value", eps),
                *[(0.0 <= b < 1.0, f"beta parameter at index {i}", b) for i, b in enumerate(betas)],
                (weight_decay >= 0.0, "weight_decay value", weight_decay)])  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def _update(self, p: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state["step"] = fresh(np.zeros((), np.float32))
            for name in ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ())):
                with no_grad():
                    state[name] = zeros_like(p)
        (beta1, beta2), lr = map(_number, group["betas"]), _number(group["lr"])
        _add_scaled(state["step"], np.float32(1), 1)
        step = float(state["step"]._data)
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                _add_scaled(p, p._data, -lr * group["weight_decay"])
            else:
                grad = grad + p._data * group["weight_decay"]
        average, square = state["exp_avg"], state["exp_avg_sq"]
        _add_scaled(average, grad - average._data, 1 - beta1)
        np.multiply(square._data, beta2, square._data)
        _add_scaled(square, grad * grad, 1 - beta2, writes=2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            np.maximum(largest._data, square._data, out=largest._data)
            bump(largest)
            square = largest
        root = np.sqrt(square._data)
        root /= (1 - beta2**step) ** 0.5
        root += group["eps"]
        _add_scaled(p, average._data / root, -lr / (1 - beta1**step))


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.optim' has no attribute '{}'", name)


__all__ = ["SGD", "Adam", "Optimizer"]
