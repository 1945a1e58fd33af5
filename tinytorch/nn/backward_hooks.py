"""Full backward hooks of a module: identity functions around its inputs and outputs, whose nodes carry the hooks.

Source: `torch.nn.Module.register_full_backward_hook`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ..autograd.function import Function
from ..graph.modes import is_grad_enabled
from ..tensor import Tensor
from ..warn import warn_user


class WithModule:
    """A hook that is called with its module first and does not keep it alive."""

    def __init__(self, hook: Callable, module: Any) -> None:
        self.hook, self.module = hook, weakref.ref(module)
        update_wrapper(self, hook)

    def __call__(self, *args: Any) -> Any:
        """Call the hook. RuntimeError if the module is gone."""
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self) -> dict[str, Any]:
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.module = state["hook"], weakref.ref(state["module"])


class BackwardHookFunction(Function):
    """Gives its tensors back; its node stands where the module's gradients come in or go out."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Hand on what comes in."""
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(_ctx: Any, *args: Any) -> Any:
        """Hand on the gradients, as they are."""
        return args


def _with_node(values: Any) -> tuple[Any, list[int] | None, Any]:
    """The values with their tensors passed through the identity: values, the tensors' places, their node."""
    whole = values if isinstance(values, tuple) else (values,)
    places = [i for i, v in enumerate(whole) if isinstance(v, Tensor)]
    if not (is_grad_enabled() and any(whole[i].requires_grad for i in places)):
        return values, None, None
    made = BackwardHookFunction.apply(*[whole[i] for i in places])
    out = list(whole)
    for i, t in zip(places, made, strict=True):
        out[i] = t
    fn = next(t.grad_fn for t in made if t.grad_fn is not None)
    if not isinstance(values, tuple):
        return out[0], places, fn
    return (tuple(out) if type(values) is tuple else type(values)(*out)), places, fn


def _spread(places: list[int], values: tuple, n: int) -> tuple:
    out = [None] * n
    for i, v in zip(places, values, strict=True):
        out[i] = v
    return tuple(out)


class BackwardHooks:
    """One call of a module with hooks: what it saw at its outputs, kept until its inputs' gradients are there."""

    def __init__(self, module: Any, hooks: list, pre_hooks: list) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.seen: tuple | None = None
        self.places: list[int] | None = None
        self.count = 0

    def around_inputs(self, args: tuple) -> tuple:
        """The arguments, with a node that calls the hooks."""
        self.count = len(args)
        out, self.places, fn = _with_node(args)
        if fn is not None:

            def hook(grads: tuple, outputs: tuple) -> tuple | None:  # errors say its name
                return self._at_inputs(grads, outputs)

            fn.register_hook(hook)
        return out

    def around_output(self, output: Any) -> Any:
        """The output, with a node that calls the pre-hooks."""
        self.outputs = len(output) if isinstance(output, tuple) else 1
        out, places, fn = _with_node(output)
        if fn is not None:
            # after the node, which would have made zeros of a gradient that is not there
            def hook(_: tuple, grads: tuple) -> Any:
                return self._at_outputs(places, grads)

            fn.register_hook(hook)
        return out

    def _at_outputs(self, places: list[int], grads: tuple) -> Any:
        self.seen = _spread(places, grads, self.outputs)
        for hook in self.pre_hooks:
            new = hook(self.module, self.seen)
            if new is None:
                continue
            if len(new) != len(self.seen):
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, got "
                    f"{len(new)}, but expected {len(self.seen)}"
                )
            self.seen = new
        result = tuple(self.seen[i] for i in places)
        if self.places is None:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
                "register_full_backward_hook for more details."
            )
            for hook in self.hooks:
                new = hook(self.module, (None,) * self.count, self.seen)
                if new is not None and not (isinstance(new, tuple) and all(g is None for g in new)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for "
                        "all gradients."
                    )
            self.seen = None
        return result

    def _at_inputs(self, grads: tuple, _: Any) -> tuple | None:
        if self.seen is None:  # the gradient came to the inputs by another way than the outputs
            return None
        assert self.places is not None
        found = _spread(self.places, grads, self.count)
        for hook in self.hooks:
            new = hook(self.module, found, self.seen)
            if new is None:
                continue
            if len(new) != len(found):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(new)}, but expected {len(found)}"
                )
            found = new
        self.seen = None
        return tuple(found[i] for i in self.places)
