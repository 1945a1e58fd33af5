"""Hooks: on the gradients of tensors, on nodes, and after a leaf's `.grad` was accumulated.

A hook on a non-leaf belongs to the history that the tensor had when the hook was registered: the
node has it, at the output that the tensor was. After an in-place write the tensor has another
node, and the hook stays with the first one. Only `retain_grad` moves to the new node; it runs
after all hooks on that output. A leaf has its hooks in `_meta`.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

from ..base import type_name, warn_user
from .autograd_meta import TensorBase, materialize_meta
from .modes import call_user
from .operations import NEEDED_OPERATIONS


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook back.

    Works as a context manager.
    """

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
    """The hooks of one node, or of a leaf (`on_leaf`) and of its AccumulateGrad.

    `on_outputs`: pairs of an output number and the hooks of the tensor that is this output.
    `retaining_tensors`: the tensors with `retain_grad`, by output number. `pre` and `post`: hooks on
    the node itself.
    """

    __slots__ = ("on_outputs", "post", "pre", "retaining_tensors")

    def __init__(
        self, on_leaf: OrderedDict | None = None, of_accumulator: NodeHooks | None = None
    ) -> None:
        self.on_outputs: list[tuple[int, OrderedDict]] = []
        if on_leaf is not None:
            self.on_outputs.append((0, on_leaf))
        self.retaining_tensors: dict[int, weakref.ref] = {}
        self.pre: OrderedDict[int, Callable] = OrderedDict()
        self.post: OrderedDict[int, Callable] = OrderedDict()
        if of_accumulator is not None:
            self.pre, self.post = of_accumulator.pre, of_accumulator.post


def hooks_of(node: Any) -> NodeHooks:
    """Return the hooks of a node, made now if it has none."""
    if node._hooks is None:
        node._hooks = NodeHooks()
    return node._hooks


# registering -----------------------------------------------------------------------------------


def register_hook(self: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook(grad)` when the tensor's gradient is computed.

    A tensor that it returns replaces the gradient.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    meta = materialize_meta(self)
    if meta.grad_hooks is None:
        # Only now: the hooks of a view that has some are those of its node from before a write, as
        # long as nobody asks for its `grad_fn`.
        node = self.grad_fn
        meta.grad_hooks = OrderedDict()
        if node is not None:
            hooks_of(node).on_outputs.append((self._edge[1], meta.grad_hooks))
    return RemovableHandle(meta.grad_hooks, hook)


register_hook.__qualname__ = "Tensor.register_hook"


def register_post_accumulate_grad_hook(self: Any, hook: Callable[[Any], None]) -> RemovableHandle:
    """Call `hook(tensor)` after backward added to the leaf's `.grad`."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = materialize_meta(self)
    if meta.post_accumulate_hooks is None:
        meta.post_accumulate_hooks = OrderedDict()
    return RemovableHandle(meta.post_accumulate_hooks, hook)


register_post_accumulate_grad_hook.__qualname__ = "Tensor.register_post_accumulate_grad_hook"


def retain_grad(tensor: Any) -> None:
    """Keep this non-leaf's gradient in `.grad` when backward runs; does nothing for a leaf."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor.retains_grad or tensor._edge is None:
        return
    node = tensor.grad_fn
    if node is not None:
        materialize_meta(tensor).retains_grad = True
        # A weak reference, so that a graph does not keep its intermediate tensors alive.
        hooks_of(node).retaining_tensors[tensor._edge[1]] = weakref.ref(tensor)


def move_retained_grad(tensor: Any, old_edge: Any, new_node: Any) -> None:
    """Move `retain_grad` to the new node of a tensor, whose edge was `old_edge` (None for a leaf).

    Hooks stay there.
    """
    meta = tensor._meta
    meta.grad_hooks = None
    if not meta.retains_grad or old_edge is None or old_edge[0]._hooks is None:
        return
    retaining_tensors = old_edge[0]._hooks.retaining_tensors
    for output_nr, reference in list(retaining_tensors.items()):
        if reference() is tensor:
            hooks_of(new_node).retaining_tensors[tensor._edge[1]] = retaining_tensors.pop(output_nr)


def warn_of_hooks(tensor: Any) -> None:
    """Warn of each hook on a tensor's gradient that a copy loses, unless it is marked as such."""
    meta = tensor._meta
    if meta is None or meta.grad_hooks is None:
        return
    for hook in meta.grad_hooks.values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn_user(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is "
                "expected, you can decorate the function with "
                "@torch.utils.hooks.unserializable_hook to suppress this warning"
            )


# calling ---------------------------------------------------------------------------------------


def run_hooks_on_tensors(node_hooks: NodeHooks, grads: Any) -> tuple:
    """Return the gradients of a node's outputs after hooks on these tensors; keep retained ones."""
    gradients = list(grads)
    for output_nr, hooks in node_hooks.on_outputs:
        for hook in list(hooks.values()):
            result = call_user(hook, gradients[output_nr])
            if result is not None:
                gradients[output_nr] = _checked_replacement(hook, gradients[output_nr], result)
    for output_nr, reference in node_hooks.retaining_tensors.items():
        tensor, grad = reference(), gradients[output_nr]
        if tensor is not None and grad is not None:
            meta = tensor._meta
            meta.grad = (
                NEEDED_OPERATIONS.clone_contiguous(grad) if meta.grad is None else meta.grad + grad
            )
    return tuple(gradients)


def run_node_hooks(hooks: dict[int, Callable], grads: tuple, *more: tuple) -> tuple:
    """Return the gradients of a node after its prehooks or posthooks.

    `more`: what posthooks get as second argument.
    """
    for hook in list(hooks.values()):
        results = call_user(hook, grads, *more)
        if results is None:
            continue
        if not isinstance(results, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type_name(results)}'")
        if len(results) != len(grads):
            raise RuntimeError(
                f"hook '{_name_of(hook)}' has returned an incorrect number of values (got "
                f"{len(results)}, but expected {len(grads)})"
            )
        pairs = zip(grads, results, strict=True)
        grads = tuple([r if r is None else _checked_replacement(hook, g, r) for g, r in pairs])
    return grads


def run_post_accumulate_hooks(leaf: Any) -> None:
    """Run the hooks on a leaf whose `.grad` was accumulated.

    RuntimeError if one of them returned something.
    """
    argument, has_result = leaf, False
    for hook in list(leaf._meta.post_accumulate_hooks.values()):
        result = call_user(hook, argument)
        if result is not None:
            # torch runs all hooks, each on what the one before it returned, and raises only then.
            argument, has_result = _checked_replacement(hook, argument, result), True
    if has_result:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _checked_replacement(hook: Callable, grad: Any, result: Any) -> Any:
    """Return what a hook returned in place of a gradient.

    RuntimeError, in PyTorch's words, if dtype, device or shape are others; TypeError for no tensor.
    """
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type_name(result)}'")
    if grad.dtype is not result.dtype or grad.device != result.device:
        raise RuntimeError(
            f"hook '{_name_of(hook)}' has changed the type of value (was {grad.type()} "
            f"got {result.type()})"
        )
    if grad.shape != result.shape:
        raise RuntimeError(f"hook '{_name_of(hook)}' has changed the size of value")
    return result


def _name_of(hook: Callable) -> str:
    """Return a hook's name as torch's errors have it."""
    return getattr(hook, "__name__", "<unknown>")
