"""Hooks on tensors: on their gradient, on a retained gradient, and after a leaf's `.grad` was accumulated.

Source: torch's rules (semantics of tensor hooks after in-place writes): a hook stays with the history it was registered
on; `retain_grad` moves to the newest history and runs after every tensor hook.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..naming import type_name
from ..warn import warn_user
from .handles import RemovableHandle, hooks_of


class TensorHooks:
    """The hooks that were registered on one tensor."""

    __slots__ = ("after_accumulate", "grad_dtype", "on_grad", "retains")

    def __init__(self) -> None:
        self.on_grad: dict[int, Callable] | None = None
        self.after_accumulate: dict[int, Callable] | None = None
        self.retains = False
        self.grad_dtype: Any = ...  # NumPy's; None if `.grad` may be of any dtype, ... if it is of the tensor's own

    def dtype_of_grad(self, tensor: Any) -> Any:
        """The dtype that `.grad` of the tensor is to have, as NumPy's; None if it may be any."""
        return tensor._data.dtype if self.grad_dtype is ... else self.grad_dtype

    def moved(self, tensor: Any, old: Any, new: Any) -> None:
        """The tensor's history was replaced: new hooks go to the new one, retain_grad moves along."""
        self.on_grad = None
        if self.retains and old is not None and old._hooks is not None:
            for nr, hook in list(old._hooks.retain.items()):
                if hook.tensor() is tensor:
                    del old._hooks.retain[nr]
                    hooks_of(new).retain[tensor._output_nr] = hook


def tensor_hooks(tensor: Any) -> TensorHooks:
    """The hooks of a tensor, which has none until someone asks."""
    if tensor._hooks is None:
        tensor._hooks = TensorHooks()
    return tensor._hooks


def register_hook(tensor: Any, hook: Callable) -> RemovableHandle:
    """Call `hook(grad)` when the tensor's gradient is computed; a returned tensor replaces the gradient.

    RuntimeError if the tensor does not require grad.
    """
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    fn = tensor.grad_fn
    hooks = tensor_hooks(tensor)
    if hooks.on_grad is None:
        hooks.on_grad = OrderedDict()
        if fn is not None:
            hooks_of(fn).on_output.append((tensor._output_nr, hooks.on_grad))
    return RemovableHandle(hooks.on_grad, hook)


def register_post_accumulate_grad_hook(tensor: Any, hook: Callable) -> RemovableHandle:
    """Call `hook(tensor)` after backward added to the leaf's `.grad`. RuntimeError unless a leaf that requires grad."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    hooks = tensor_hooks(tensor)
    if hooks.after_accumulate is None:
        hooks.after_accumulate = OrderedDict()
    return RemovableHandle(hooks.after_accumulate, hook)


class _Retain:
    """Keeps a non-leaf's gradient in its `.grad`, without keeping the tensor alive."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = weakref.ref(tensor)

    def __call__(self, grad: Any) -> None:
        tensor = self.tensor()
        if tensor is not None and grad is not None:
            tensor._grad = grad._clone_contiguous() if tensor._grad is None else tensor._grad + grad


def retain_grad(tensor: Any) -> None:
    """Keep this non-leaf's gradient in `.grad` when backward runs; nothing to do for a leaf.

    RuntimeError if the tensor does not require grad.
    """
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor._fn is None or tensor.retains_grad:
        return
    fn, hooks = tensor.grad_fn, tensor_hooks(tensor)
    hooks.retains = True
    hooks_of(fn).retain[tensor._output_nr] = _Retain(tensor)


def warn_of_hooks(t: Any) -> None:
    """Warn of each hook on a tensor's gradient that it does not go with a copy, unless it is marked as one that does not."""
    for hook in (t._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn_user(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning"
            )


def call(hooks: dict[int, Callable], grad: Any) -> Any:
    """Run tensor hooks in order on one gradient."""
    for hook in list(hooks.values()):
        new = hook(grad)
        if new is not None:
            grad = _replacement(hook, grad, new)
    return grad


def _name(hook: Callable) -> str:
    return getattr(hook, "__name__", "<unknown>")


def _replacement(hook: Callable, grad: Any, new: Any) -> Any:
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not hasattr(new, "_vc"):
        raise TypeError(f"expected Variable, but hook returned '{type_name(new)}'")
    if grad.dtype is not new.dtype or grad.device != new.device:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the type of value (was {_kind(grad)} got {_kind(new)})")
    if grad.shape != new.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return new


def _replacements(hook: Callable, grads: tuple, new: Any) -> tuple:
    """What a hook on a node returned in place of its gradients, checked one by one."""
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(new)}'")
    if len(new) != len(grads):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(new)}, but expected "
            f"{len(grads)})"
        )
    return tuple(None if n is None else _replacement(hook, g, n) for g, n in zip(grads, new, strict=True))


def _kind(t: Any) -> str:
    return f"torch.{'cuda.' if t.device.type == 'cuda' else ''}{t.dtype.tensor_type}"


def before(fn: Any, grads: tuple) -> tuple:
    """The gradients that reach a node, after the hooks of its outputs."""
    out = list(grads)
    for nr, hooks in fn._hooks.on_output:
        out[nr] = call(hooks, out[nr])
    for nr, retain in fn._hooks.retain.items():
        retain(out[nr])
    return tuple(out)


def before_node(fn: Any, grads: tuple) -> tuple:
    """The gradients that reach a node, after its own prehooks."""
    for hook in list(fn._hooks.pre.values()):
        new = hook(grads)
        if new is not None:
            grads = _replacements(hook, grads, new)
    return grads


def after_node(fn: Any, outputs: tuple, inputs: tuple) -> tuple:
    """A node's results, after its posthooks."""
    for hook in list(fn._hooks.post.values()):
        new = hook(outputs, inputs)
        if new is not None:
            outputs = _replacements(hook, outputs, new)
    return outputs
