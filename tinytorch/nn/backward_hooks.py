"""Full backward hooks of a module: identity functions around its inputs and outputs, whose nodes carry the hooks.

Source: `torch.utils.hooks.BackwardHook`.
"""

from __future__ import annotations

from typing import Any

from ..autograd.function import Function
from ..autograd.modes import is_grad_enabled
from ..errors import warn_user
from ..tensor import Tensor


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
    out = list(values) if isinstance(values, tuple) else [values]
    places = [i for i, v in enumerate(out) if isinstance(v, Tensor)]
    if not (is_grad_enabled() and any(out[i].requires_grad for i in places)):
        return values, None, None
    made = BackwardHookFunction.apply(*[out[i] for i in places])
    for i, t in zip(places, made, strict=True):
        out[i] = t
    fn = next(t.grad_fn for t in made if t.grad_fn is not None)
    if not isinstance(values, tuple):
        return out[0], places, fn
    return getattr(type(values), "_make", type(values))(out), places, fn  # a named tuple is made of its fields


def _placed(places: list[int], values: tuple, n: int) -> tuple:
    found = dict(zip(places, values, strict=True))
    return tuple([found.get(i) for i in range(n)])


def _checked(new: Any, old: tuple, said: str) -> tuple:
    if new is None:
        return old
    if len(new) != len(old):
        raise RuntimeError(f"{said}, got {len(new)}, but expected {len(old)}")
    return new


class BackwardHooks:
    """One call of a module with hooks: what it saw at its outputs, kept until its inputs' gradients are there."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks, self.pre_hooks = [*module._backward_hooks.values()], [*module._backward_pre_hooks.values()]
        self.seen: tuple | None = None
        self.places: list[int] | None = None

    def around_inputs(self, args: tuple) -> tuple:
        """The arguments, with a node that calls the hooks."""
        self.count = len(args)
        out, self.places, fn = _with_node(args)
        if fn is not None:

            def hook(grads: tuple, outputs: tuple) -> tuple | None:  # errors say its name
                return self._at_inputs(grads)

            fn.register_hook(hook)
        return out

    def around_output(self, output: Any) -> Any:
        """The output, with a node that calls the pre-hooks."""
        out, places, fn = _with_node(output)
        n = len(output) if isinstance(output, tuple) else 1
        if fn is not None:
            # after the node, which would have made zeros of a gradient that is not there
            def hook(_: tuple, grads: tuple) -> Any:
                return self._at_outputs(places, grads, n)

            fn.register_hook(hook)
        return out

    def _at_outputs(self, places: list[int], grads: tuple, n: int) -> Any:
        self.seen = _placed(places, grads, n)
        for hook in self.pre_hooks:
            said = "Backward pre hook returned an invalid number of grad_output"
            self.seen = _checked(hook(self.module, self.seen), self.seen, said)
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

    def _at_inputs(self, grads: tuple) -> tuple | None:
        if self.seen is None:  # the gradient came to the inputs by another way than the outputs
            return None
        found = _placed(self.places, grads, self.count)
        for hook in self.hooks:
            said = "Backward hook returned an invalid number of grad_input"
            found = _checked(hook(self.module, found, self.seen), found, said)
        self.seen = None
        return tuple(found[i] for i in self.places)
