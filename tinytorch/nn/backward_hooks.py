"""Full backward hooks of a module: identity functions around its inputs and outputs, whose nodes carry the hooks.

Source: `torch.utils.hooks.BackwardHook`.
"""

from __future__ import annotations

from collections.abc import Callable
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


def _through(values: tuple) -> tuple[tuple, list[int], Any]:
    """The values with their tensors passed through the identity, the tensors' places, and the node."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, places, None
    made = dict(zip(places, BackwardHookFunction.apply(*[values[i] for i in places]), strict=True))
    node = next(t.grad_fn for t in made.values() if t.grad_fn is not None)
    return tuple([made.get(i, v) for i, v in enumerate(values)]), places, node


def with_backward_hooks(module: Any, args: tuple, run: Callable) -> Any:
    """Call `run` on the arguments between two nodes, at which the module's hooks see the gradients that pass."""
    seen: Any = None  # the gradients of the outputs, until those of the inputs are there
    args, places, node = _through(args)
    out = run(args)
    outs, out_places, out_node = _through(out if isinstance(out, tuple) else (out,))

    def call(found: tuple) -> tuple:
        nonlocal seen
        for h in list(module._backward_hooks.values()):
            new = h(module, found, seen)
            found = found if new is None else new
        seen = None
        return found

    def at_outputs(_: tuple, grads: tuple) -> tuple:
        nonlocal seen
        found = dict(zip(out_places, grads, strict=True))
        seen = tuple([found.get(i) for i in range(len(outs))])
        if node is None:
            warn_user("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.")  # fmt: skip
            call((None,) * len(args))
        return grads  # as they are: the node would have made zeros of one that is not there

    def hook(grads: tuple, _: tuple) -> tuple | None:  # errors say its name
        if seen is None:  # the gradient came to the inputs by another way than the outputs
            return None
        found = dict(zip(places, grads, strict=True))
        new = call(tuple([found.get(i) for i in range(len(args))]))
        return tuple([new[i] for i in places])

    if node is not None:
        node.register_hook(hook)
    if out_node is not None:
        out_node.register_hook(at_outputs)
    return outs if isinstance(out, tuple) else outs[0]
