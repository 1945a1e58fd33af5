"""SGD and Adam.

They update plain arrays, and count each write as PyTorch does. Source: `torch.optim`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .base import (
    ShownAs,
    check_overlap,
    make_module_getattr,
    make_object_error,
    refuse_keywords,
    warn_user,
)
from .graph import count_write, enable_grad, no_grad, run_silenced
from .nn import forget_grads, typename
from .ops import zeros_like
from .tensor import Tensor, make_tensor

Parameters = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[dict[str, Any]]
_Loss = TypeVar("_Loss")

STEP_LISTENERS: list[Callable[[Any], None]] = []
"""Called with an optimizer after each of its steps: a watch notes what had no gradient."""


# What PyTorch's optimizers have and these lack: the error says so.
ABSENT_FROM_OPTIMIZERS = frozenset(
    [
        "OptimizerPostHook",
        "OptimizerPreHook",
        "profile_hook_step",
        "register_load_state_dict_post_hook",
        "register_load_state_dict_pre_hook",
        "register_state_dict_post_hook",
        "register_state_dict_pre_hook",
        "register_step_post_hook",
        "register_step_pre_hook",
    ]
)


class Optimizer(metaclass=ShownAs):
    """Base of optimizers: parameters in groups with options, and a state for each parameter.

    A subclass defines `step`, or `_update_parameter`.
    """

    shown_as = "torch.optim.optimizer.Optimizer"

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __getattr__(self, name: str) -> Any:
        # Called only where there is no such attribute.
        if name in ABSENT_FROM_OPTIMIZERS:
            raise make_object_error(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _all_parameters(self) -> list[Tensor]:
        parameters: list[Tensor] = []
        for group in self.param_groups:
            parameters += group["params"]
        return parameters

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own.

        TypeError for non-tensors, ValueError for non-leaves.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = list_parameters(param_group)
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(parameter)}"
                )
            if not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        if len(set(params)) != len(params):
            warn_user(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information"
            )
        has_names = "param_names" in param_group
        if any([("param_names" in group) != has_names for group in self.param_groups]):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if has_names else 'without'} names to the optimizer"
            )
        if not set(params).isdisjoint(self._all_parameters()):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or to zero."""
        forget_grads(self._all_parameters(), set_to_none)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], _Loss]) -> _Loss: ...
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their `.grad`.

        Return what `closure` returns, which computes the loss anew.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        # Infinities are no error in PyTorch, whatever the user's `np.errstate`.
        run_silenced(self._update_parameters)
        for listener in STEP_LISTENERS:
            listener(self)
        return loss

    def _update_parameters(self) -> None:
        for group in self.param_groups:
            decay = group.get("weight_decay")
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is not None:
                    gradient = grad._data
                    if decay:
                        gradient = gradient + parameter._data * decay
                    self._update_parameter(parameter, gradient, group)

    def _update_parameter(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any]
    ) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return state and options; parameters are numbers, in order."""
        numbers = {parameter: i for i, parameter in enumerate(self._all_parameters())}
        groups = []
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append({**options, "params": [numbers[p] for p in group["params"]]})
        # A subclass may keep state under other keys than parameters; they stay as they are.
        state = {numbers.get(key, key): value for key, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Set state and options from a state dict.

        ValueError if its groups are not like the optimizer's.
        """
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for own_group, group in zip(self.param_groups, groups, strict=True):
            if len(own_group["params"]) != len(group["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
        numbers: list[int] = []
        for own_group, group in zip(self.param_groups, groups, strict=True):
            # The parameters themselves are not in a state dict, only their numbers.
            numbers += group["params"]
            group["params"] = own_group["params"]
            if "param_names" in own_group:
                group.setdefault("param_names", own_group["param_names"])
        parameters = dict(zip(numbers, self._all_parameters(), strict=True))
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in parameters:
                parameter = parameters[number]
                self.state[parameter] = convert_state(parameter, values)
            else:
                self.state[number] = values
        self.param_groups = groups

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for name in sorted(group):
                if name != "params":
                    text += f"    {name}: {group[name]}\n"
        return text + ")"


def list_parameters(param_group: dict[str, Any]) -> list[Any]:
    """Make lists of a group's parameters and, if it has pairs as `named_parameters` gives, their names.

    TypeError for a set, which has no order, ValueError if only some have names.
    """
    entries = param_group["params"]
    if isinstance(entries, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    entries = [entries] if isinstance(entries, Tensor) else list(entries)
    names = [x[0] for x in entries if isinstance(x, tuple)]
    param_group["params"] = params = [x[1] if isinstance(x, tuple) else x for x in entries]
    if names and len(names) != len(params):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    if names:
        param_group["param_names"] = names
    return params


def convert_state(parameter: Tensor, value: Any, name: str | None = None) -> Any:
    """Return the state of a parameter, or what is in it, in the parameter's dtype and on its device.

    The tensors that have these already are not copied. The count of steps stays what it is.
    """
    if isinstance(value, Tensor):
        if name == "step":
            return value
        dtype = parameter.dtype if parameter.is_floating_point() else value.dtype
        return value.to(parameter.device, dtype)
    if isinstance(value, dict):
        return {key: convert_state(parameter, x, key) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([convert_state(parameter, x) for x in value])
    return value


def _check_option(is_valid: bool, name: str, value: Any) -> None:
    """Raise PyTorch's ValueError for an option out of range."""
    if not is_valid:
        raise ValueError(f"Invalid {name}: {value}")


def _add_scaled(tensor: Tensor, array: np.ndarray, factor: float, writes: int = 1) -> None:
    """Do `tensor.add_(array, alpha=factor)`, and count it as this number of writes.

    PyTorch's steps write more often than these; versions show how often.
    """
    data = tensor._data
    # Elements of an expanded tensor share memory: PyTorch refuses to write to it.
    if 0 in data.strides:
        check_overlap(data)
    np.add(data, array if factor == 1 else np.multiply(array, factor), data)
    for _ in range(writes):
        count_write(tensor)


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and weight decay.

    ValueError for negative options.
    """

    shown_as = "torch.optim.sgd.SGD"

    @refuse_keywords("dampening", "nesterov", "maximize", "foreach", "differentiable", "fused")
    def __init__(
        self, params: Parameters, lr: float = 1e-3, momentum: float = 0, *, weight_decay: float = 0
    ) -> None:
        _check_option(not lr < 0.0, "learning rate", lr)
        _check_option(not momentum < 0.0, "momentum value", momentum)
        _check_option(not weight_decay < 0.0, "weight_decay value", weight_decay)
        # PyTorch's options that are not supported are there at their defaults: `repr` and state
        # dicts show them.
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": 0,
            "weight_decay": weight_decay,
            "nesterov": False,
            "maximize": False,
            "foreach": None,
            "differentiable": False,
            "fused": None,
        }
        super().__init__(params, defaults)

    def _update_parameter(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any]
    ) -> None:
        if group["momentum"]:
            state = self.state[parameter]
            buffer = state.get("momentum_buffer")
            # The first step takes the gradient itself.
            if buffer is None:
                buffer = state["momentum_buffer"] = make_tensor(
                    np.array(gradient), parameter.device
                )
            else:
                # PyTorch: `buffer.mul_(momentum).add_(grad)`.
                np.multiply(buffer._data, group["momentum"], buffer._data)
                _add_scaled(buffer, gradient, 1, writes=2)
            gradient = buffer._data
        _add_scaled(parameter, gradient, -float(group["lr"]))


class Adam(Optimizer):
    """Adam. ValueError for options out of range."""

    shown_as = "torch.optim.adam.Adam"

    @refuse_keywords(
        *("amsgrad", "foreach", "maximize", "capturable", "differentiable", "fused"),
        "decoupled_weight_decay",
    )
    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
    ) -> None:
        _check_option(lr >= 0.0, "learning rate", lr)
        _check_option(eps >= 0.0, "epsilon value", eps)
        for i, beta in enumerate(betas):
            _check_option(0.0 <= beta < 1.0, f"beta parameter at index {i}", beta)
        _check_option(weight_decay >= 0.0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": False,
            "maximize": False,
            "foreach": None,
            "capturable": False,
            "differentiable": False,
            "fused": None,
            "decoupled_weight_decay": False,
        }
        super().__init__(params, defaults)

    def _update_parameter(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any]
    ) -> None:
        state = self.state[parameter]
        if not state:
            with no_grad():
                state["step"] = make_tensor(np.zeros((), np.float32))
                state["exp_avg"] = zeros_like(parameter)
                state["exp_avg_sq"] = zeros_like(parameter)
        (beta1, beta2), lr = group["betas"], float(group["lr"])
        _add_scaled(state["step"], np.float32(1), 1)
        step = float(state["step"]._data)
        average, square = state["exp_avg"], state["exp_avg_sq"]
        # PyTorch: `exp_avg.lerp_(grad, 1 - beta1)`.
        _add_scaled(average, gradient - average._data, 1 - beta1)
        # PyTorch: `exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)`.
        np.multiply(square._data, beta2, square._data)
        # In this order, as the square of a gradient in half precision overflows early.
        _add_scaled(square, gradient * (1 - beta2) * gradient, 1, writes=2)
        denominator = np.sqrt(square._data)
        denominator /= (1 - beta2**step) ** 0.5
        denominator += group["eps"]
        _add_scaled(parameter, average._data / denominator, -lr / (1 - beta1**step))


if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.optim")
__all__ = ["SGD", "Adam", "Optimizer"]
