"""The base of the optimisers: parameter groups, state, zero_grad, state dicts.

Source: `torch.optim.Optimizer`.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..graph.modes import enable_grad, set_grad_enabled
from ..graph.node import RemovableHandle
from ..ops.queries import typename
from ..tensor import Tensor
from ..warn import warn_user

_HOOKS = ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")


class _Required:
    """Marks an option that every parameter group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class _OptimizerMeta(type):
    """Prints the optimisers' classes by the names they have in torch."""

    def __repr__(cls) -> str:
        own = cls.__module__.startswith("tinytorch.")
        return f"<class 'torch.optim.{cls.__name__.lower()}.{cls.__name__}'>" if own else super().__repr__()


class Optimizer(metaclass=_OptimizerMeta):
    """Holds parameters in groups with options, and a state for each parameter.

    A subclass defines `step`, or `_update` for one parameter.
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Callable]
    _optimizer_step_post_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, f"_optimizer_{name}_hooks", OrderedDict())
        _with_hooks(type(self))
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
        if isinstance(params, Tensor):
            group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        else:
            group["params"] = list(params)
        _take_names(group)
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, value)
        if len({id(p) for p in group["params"]}) != len(group["params"]):
            warn_user(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information"
            )
        named = "param_names" in group
        if any(("param_names" in other) is not named for other in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if named else 'without'} names to the optimizer"
            )
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if known & {id(p) for p in group["params"]}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for p in chain.from_iterable(g["params"] for g in self.param_groups):
            grad = p.grad
            if grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
                    grad.zero_()

    def step(self, closure: Callable | None = None) -> Any:
        """Update the parameters from their `.grad`; `closure` computes the loss anew if given."""
        if type(self)._update is Optimizer._update:
            raise NotImplementedError
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                if group.get("fused"):
                    self._uncounted(group)
                    continue
                for p in group["params"]:
                    grad = p.grad
                    if grad is not None:
                        self._update(p, grad, group)
        return loss

    def _uncounted(self, group: dict[str, Any]) -> None:
        """As torch's fused kernels do: they write without counting a version."""
        for p in group["params"]:
            if p.grad is not None:
                before = p._version
                self._update(p, p.grad, group)
                p._vc.version = before

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        raise NotImplementedError

    def _register(self, name: str, hook: Callable, prepend: bool = False) -> RemovableHandle:
        hooks = getattr(self, f"_optimizer_{name}_hooks")
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before every step; it may return other arguments."""
        return self._register("step_pre", hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return self._register("step_post", hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` gathers anything."""
        return self._register("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after; what it returns replaces the dict."""
        return self._register("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before a state dict is taken over; what it returns replaces it."""
        return self._register("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after a state dict was taken over."""
        return self._register("load_state_dict_post", hook, prepend)

    def state_dict(self) -> dict[str, Any]:
        """State and options, parameters as numbers in order."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        index: dict[int, int] = {}
        groups, start = [], 0
        for g in self.param_groups:
            index |= {id(p): i for i, p in enumerate(g["params"], start) if id(p) not in index}
            start += len(g["params"])
            groups.append(
                {**{k: v for k, v in g.items() if k != "params"}, "params": [index[id(p)] for p in g["params"]]}
            )
        state = {index[id(p)] if isinstance(p, Tensor) else p: s for p, s in self.state.items()}
        out: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            new = hook(self, out)
            out = out if new is None else new
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state dict. ValueError if the groups do not fit."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            new = hook(self, state_dict)
            state_dict = state_dict if new is None else new
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        both = list(zip(self.param_groups, groups, strict=True))
        if any(len(a["params"]) != len(b["params"]) for a, b in both):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = {n: p for own, g in both for n, p in zip(g["params"], own["params"], strict=True)}
        state: dict[Any, dict[str, Any]] = defaultdict(dict)
        for n, s in state_dict["state"].items():
            state[params.get(n, n)] = _for_parameter("", s, params[n]) if n in params else s
        for own, g in both:
            g["params"] = own["params"]
            if "param_names" in own:
                g.setdefault("param_names", own["param_names"])
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"


def _take_names(group: dict[str, Any]) -> None:
    """Pairs of a name and a parameter become two lists."""
    names = [p[0] for p in group["params"] if isinstance(p, tuple)]
    group["params"] = [p[1] if isinstance(p, tuple) else p for p in group["params"]]
    if names:
        if len(names) != len(group["params"]):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        group["param_names"] = names


def _for_parameter(key: str, value: Any, parameter: Any) -> Any:
    """A loaded value in its parameter's dtype: the very tensor, shared with whoever else has it, if it has that already."""
    if isinstance(value, Tensor):
        if key == "step" or not (isinstance(parameter, Tensor) and parameter.is_floating_point()):
            return value
        return value.to(parameter.dtype)
    if isinstance(value, dict):
        return {k: _for_parameter(k, v, parameter) for k, v in value.items()}
    if isinstance(value, Iterable):
        return type(value)(_for_parameter("", v, parameter) for v in value)  # type: ignore[call-arg]
    return value


def _with_hooks(kind: type) -> None:
    """Have a class's `step`, whoever wrote it, call the hooks around it."""
    step = kind.step  # type: ignore[attr-defined]
    if getattr(step, "hooked", False):
        return

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        for hook in list(self._optimizer_step_pre_hooks.values()):
            new = hook(self, args, kwargs)
            if new is None:
                continue
            if not (isinstance(new, tuple) and len(new) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {new}.")
            args, kwargs = new
        out = step(*args, **kwargs)
        for hook in list(self._optimizer_step_post_hooks.values()):
            hook(self, args, kwargs)
        return out

    hooked.hooked = True  # type: ignore[attr-defined]
    kind.step = hooked  # type: ignore[attr-defined]
