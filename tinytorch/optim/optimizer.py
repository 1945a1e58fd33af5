"""The base of the optimisers: parameter groups, state, zero_grad, state dicts.

Source: `torch.optim.Optimizer`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..graph.modes import enable_grad, no_grad
from ..graph.node import RemovableHandle
from ..ops.core import tensor_type
from ..tensor import Tensor
from ..warn import warn_user


class _OptimizerMeta(type):
    """Prints the optimisers' classes by the names they have in torch."""

    def __repr__(cls) -> str:
        own = cls.__module__.startswith("tinytorch.")
        return f"<class 'torch.optim.{cls.__name__.lower()}.{cls.__name__}'>" if own else super().__repr__()


class Optimizer(metaclass=_OptimizerMeta):
    """Holds parameters in groups with options, and a state for each parameter; subclasses define `_update`."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + tensor_type(params)
            )
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._before: dict[int, Callable] = {}
        self._after: dict[int, Callable] = {}
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
        if isinstance(params, Tensor):
            group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        else:
            group["params"] = list(params)
        if group["params"] and all(isinstance(p, tuple) for p in group["params"]):
            group["param_names"] = [p[0] for p in group["params"]]
            group["params"] = [p[1] for p in group["params"]]
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        if len({id(p) for p in group["params"]}) != len(group["params"]):
            warn_user(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information"
            )
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if known & {id(p) for p in group["params"]}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for p in chain.from_iterable(g["params"] for g in self.param_groups):
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.detach_() if p.grad.grad_fn is not None else p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure: Callable | None = None) -> Any:
        """Update the parameters from their `.grad`; `closure` computes the loss anew if given."""
        args = () if closure is None else (closure,)
        for hook in list(self._before.values()):
            hook(self, args, {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, p.grad, group)
        for hook in list(self._after.values()):
            hook(self, args, {})
        return loss

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before every step."""
        return RemovableHandle(self._before, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return RemovableHandle(self._after, hook)

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters as numbers in order."""
        index: dict[int, int] = {}
        groups = []
        for g in self.param_groups:
            for p in g["params"]:
                index.setdefault(id(p), len(index))
            groups.append(
                {**{k: v for k, v in g.items() if k != "params"}, "params": [index[id(p)] for p in g["params"]]}
            )
        state = {index[id(p)] if isinstance(p, Tensor) else p: s for p, s in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state dict. ValueError if the groups do not fit."""
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = {
            n: p
            for g, own in zip(groups, self.param_groups, strict=True)
            for n, p in zip(g["params"], own["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for n, s in state_dict["state"].items():
            p = params.get(n, n)
            self.state[p] = {k: _for_parameter(k, v, p) for k, v in s.items()}
        for g, own in zip(groups, self.param_groups, strict=True):
            own.update({k: v for k, v in g.items() if k != "params"})

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"


def _for_parameter(key: str, value: Any, parameter: Any) -> Any:
    """A loaded value in its parameter's dtype: the very tensor, shared with whoever else has it, if it has that already."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    if key == "step" or not (isinstance(parameter, Tensor) and parameter.is_floating_point()):
        return value
    return value.to(parameter.dtype)
