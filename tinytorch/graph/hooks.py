"""Hooks: on the gradients of tensors, on nodes, and after a leaf's `.grad` was accumulated.

The hook of a tensor stays with the history on which it was registered: a node keeps, for each of its outputs, the hooks
that were registered while that output was the tensor. Only `retain_grad` moves on to the newest history, and it runs
after all hooks on that output. A leaf has its hooks itself, in `_meta`.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

from ..base import type_name, warn_user
from .autograd_meta import TensorBase, meta
from .modes import call_user
from .operations import OPERATIONS


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook back. Works as a context manager."""

    __module__ = "torch.utils.hooks"
    _ids = itertools.count()

    def __init__(self, hooks: dict, hook: Callable) -> None:
        self.id = next(RemovableHandle._ids)
        self.hooks_dict_ref = weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Unregister the hook; removing it twice does nothing."""
        hooks = self.hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class NodeHooks:
    """The hooks of one node: those of its output tensors, those that retain gradients, its prehooks and posthooks."""

    __slots__ = ("on_output", "post", "pre", "retain")

    def __init__(
        self, on_leaf: OrderedDict | None = None, accumulator: NodeHooks | None = None
    ) -> None:
        self.on_output: list[tuple[int, OrderedDict]] = [] if on_leaf is None else [(0, on_leaf)]
        self.retain: dict[int, weakref.ref] = {}
        self.pre: OrderedDict[int, Callable] = accumulator.pre if accumulator else OrderedDict()
        self.post: OrderedDict[int, Callable] = accumulator.post if accumulator else OrderedDict()


def hooks_of(node: Any) -> NodeHooks:
    """The hooks of a node, which has none until someone asks."""
    if node._hooks is None:
        node._hooks = NodeHooks()
    return node._hooks


# registering ----------------------------------------------------------------------------------------------------------


def register_hook(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook(grad)` when the tensor's gradient is computed; a tensor that it returns replaces the gradient."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node, m = tensor.grad_fn, meta(tensor)
    if m.on_grad is None:
        m.on_grad = OrderedDict()
        if node is not None:
            hooks_of(node).on_output.append((tensor._edge[1], m.on_grad))
    return RemovableHandle(m.on_grad, hook)


def register_post_accumulate_grad_hook(tensor: Any, hook: Callable[[Any], None]) -> RemovableHandle:
    """Call `hook(tensor)` after backward added to the leaf's `.grad`."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    m = meta(tensor)
    if m.after_accumulate is None:
        m.after_accumulate = OrderedDict()
    return RemovableHandle(m.after_accumulate, hook)


def retain_grad(tensor: Any) -> None:
    """Keep this non-leaf's gradient in `.grad` when backward runs; nothing to do for a leaf."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    node = None if tensor.retains_grad or tensor._edge is None else tensor.grad_fn
    if node is not None:
        meta(tensor).retains = True
        hooks_of(node).retain[tensor._edge[1]] = weakref.ref(tensor)  # which keeps nothing alive


def moved(tensor: Any, old: Any, new: Any) -> None:
    """The history of a tensor went from the edge `old` (None: a leaf) to the node `new`: retain_grad goes with it."""
    m = tensor._meta
    m.on_grad = None
    if m.retains and old is not None and old[0]._hooks is not None:
        retained = old[0]._hooks.retain
        for nr, who in list(retained.items()):
            if who() is tensor:
                hooks_of(new).retain[tensor._edge[1]] = retained.pop(nr)


def warn_of_hooks(tensor: Any) -> None:
    """Warn of each hook on a tensor's gradient that is lost in a copy, unless it is marked as one that may be."""
    m = tensor._meta
    for hook in ((m and m.on_grad) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn_user(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning")  # fmt: skip


# calling --------------------------------------------------------------------------------------------------------------


def before(held: NodeHooks, grads: Any) -> tuple:
    """The gradients that reach a node, after the hooks of its outputs; then those that are to be retained are."""
    out = list(grads)
    for nr, hooks in held.on_output:
        for hook in list(hooks.values()):
            new = call_user(hook, out[nr])
            if new is not None:
                out[nr] = _replacement(hook, out[nr], new)
    for nr, who in held.retain.items():
        tensor, grad = who(), out[nr]
        if tensor is not None and grad is not None:
            m = tensor._meta
            m.grad = OPERATIONS.clone_contiguous(grad) if m.grad is None else m.grad + grad
    return tuple(out)


def run_node_hooks(hooks: dict[int, Callable], seen: tuple, *given: tuple) -> tuple:
    """The gradients of a node after its prehooks; or after its posthooks, which also see what it was `given`."""
    for hook in list(hooks.values()):
        new = call_user(hook, seen, *given)
        if new is None:
            continue
        if not isinstance(new, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type_name(new)}'")
        if len(new) != len(seen):
            raise RuntimeError(f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(new)}, but expected {len(seen)})")  # fmt: skip
        seen = tuple(
            [
                None if n is None else _replacement(hook, g, n)
                for g, n in zip(seen, new, strict=True)
            ]
        )
    return seen


def after_accumulate(leaf: Any) -> None:
    """Run the hooks on a leaf whose `.grad` was accumulated."""
    given, returned = leaf, False
    for hook in list(leaf._meta.after_accumulate.values()):
        new = call_user(hook, given)
        if (
            new is not None
        ):  # which is said once all of them have run, each with what the one before gave
            given, returned = _replacement(hook, given, new), True
    if returned:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _replacement(hook: Callable, grad: Any, new: Any) -> Any:
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type_name(new)}'")
    if grad.dtype is not new.dtype or grad.device != new.device:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {grad.type()} got {new.type()})"
        )
    if grad.shape != new.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return new


def _name(hook: Callable) -> str:
    return getattr(hook, "__name__", "<unknown>")
