"""Exchanging what two tensors are. Source: `torch.utils`."""

from __future__ import annotations

import copyreg
import gc
import weakref
from typing import TYPE_CHECKING, Any

from .base import make_module_getattr, type_name
from .graph import (
    AccumulateGrad,
    AutogradMeta,
    SavedTensor,
    TensorBase,
    edge_for_user,
    find_holders,
)

_POISONED_MESSAGE = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when "
    "you try to run backward on a tensor that was swapped. For a module m with "
    "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the "
    "device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and "
    "backward. To resolve this, please only change the device/dtype before running forward (or "
    "after both forward and backward)."
)
_USES_MESSAGE = (
    "Expected use_count of {} to be 1 or 2 with an AccumulateGrad node but got {} make sure you are "
    "not holding references to the tensor in other places."
)
_NO_EDGE_MESSAGE = (
    "It is not possible to get the gradient edge for a Tensor that does not require gradients"
)
_WEAK_MESSAGE = "Expected no weakrefs to {}'s Tensor object but got  1"

# What torch has behind the Python object: all that a tensor is, but for its class and attributes.
_PARTS = ("_counter", "_data", "_edge", "_meta", "_storage", "_view_meta")


def swap_tensors(t1: Any, t2: Any) -> None:
    """Make each of two tensors what the other one is; both stay the same Python objects.

    Class, attributes, memory, version counter, gradient and place in the graph change places.
    AttributeError for what is no tensor; RuntimeError, in PyTorch's words, if a view, a saved tensor, a `.grad` or a weak reference has
    one of them. A leaf that is in a graph is exchanged, and backward of that graph raises.
    Source: `torch.utils.swap_tensors`.
    """
    names = {"t1": t1, "t2": t2}
    for name, tensor in names.items():
        # That of `retain_grad` is found below: it is no reference to a Python object in torch.
        if weakref.getweakrefs(tensor) and not _retains_grad(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = _slots_of(t1)
    if slots != _slots_of(t2):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name, tensor in names.items():
        _check_uses(name, tensor)
    for attribute in ("__class__", "__dict__", *slots):
        _exchange_attribute(t1, t2, attribute)
    for name, tensor in names.items():
        if _retains_grad(tensor):
            raise RuntimeError(_WEAK_MESSAGE.format(name))
    if t1 is not t2:
        _exchange_parts(t1, t2)


def _retains_grad(tensor: Any) -> bool:
    """Return True for a non-leaf with `retain_grad`, which refers to its tensor weakly."""
    return isinstance(tensor, TensorBase) and tensor._meta is not None and tensor._meta.retains_grad


def _slots_of(tensor: Any) -> set[str]:
    """Return the names of the slots that users gave the class of a tensor."""
    return set(copyreg._slotnames(type(tensor))) - set(vars(TensorBase))  # type: ignore[attr-defined]


def _exchange_attribute(t1: Any, t2: Any, name: str) -> None:
    """Exchange an attribute that one tensor may lack."""
    nothing = object()
    first, second = getattr(t1, name, nothing), getattr(t2, name, nothing)
    for tensor, before, after in ((t1, first, second), (t2, second, first)):
        if after is not nothing:
            setattr(tensor, name, after)
        elif before is not nothing:
            delattr(tensor, name)


# who has a tensor -----------------------------------------------------------------------------


def _check_uses(name: str, tensor: Any) -> None:
    """Raise torch's error unless at most the AccumulateGrad of a leaf has the tensor.

    That one raises from then on: it would add the gradient of the one tensor to the other.
    """
    if not isinstance(tensor, TensorBase):
        raise AttributeError(f"'{type_name(tensor)}' object has no attribute '_use_count'")
    uses = count_uses(tensor)
    if uses == 1:
        return
    if uses > 2 or not tensor.is_leaf:
        raise RuntimeError(_USES_MESSAGE.format(name, uses))
    if not tensor.requires_grad:
        raise RuntimeError(_NO_EDGE_MESSAGE)
    holders = find_holders(tensor)
    if not holders:
        raise RuntimeError(_USES_MESSAGE.format(name, uses))
    accumulator, _ = edge_for_user((tensor, 0))
    accumulator.register_prehook(_raise_poisoned)
    for node in holders:
        # The node has its AccumulateGrad, and the hook, as soon as these were read.
        node.next_functions  # noqa: B018


def _raise_poisoned(grad_outputs: tuple) -> None:
    raise RuntimeError(_POISONED_MESSAGE)


def count_uses(tensor: Any) -> int:
    """Return how many references torch has to what is behind the Python object.

    One is that object's own. The others are those of views to their base, of saved tensors, of a
    leaf's AccumulateGrad, and of the tensor whose `.grad` it is.
    """
    uses = 1 + bool(find_holders(tensor))
    for referrer in gc.get_referrers(tensor):
        if isinstance(referrer, SavedTensor):
            uses += referrer.tensor is tensor
        elif isinstance(referrer, AutogradMeta):
            uses += referrer.grad is tensor
        elif type(referrer) is tuple and len(referrer) == 3:
            # the base of views, with a version and a CreationMeta
            views = [t for t in gc.get_referrers(referrer) if isinstance(t, TensorBase)]
            uses += sum(view._view_meta is referrer for view in views)
    return uses


# exchanging -----------------------------------------------------------------------------------


def _exchange_parts(t1: Any, t2: Any) -> None:
    """Exchange all that torch has behind the Python objects, and who refers to it."""
    nodes = {t1: find_holders(t1), t2: find_holders(t2)}
    for part in _PARTS:
        _exchange_attribute(t1, t2, part)
    others = {t1: t2, t2: t1}
    for node in {*nodes[t1], *nodes[t2]}:
        if isinstance(node, AccumulateGrad):
            node.variable = others[node.variable]
        node._edges = tuple([_redirect_edge(edge, others) for edge in node._edges])
    for tensor in (t1, t2):
        for earlier in () if tensor._meta is None else tensor._meta.earlier_gradient_specs:
            earlier.leaf = weakref.ref(tensor)
            accumulator = earlier.accumulator and earlier.accumulator()
            if accumulator is not None:
                accumulator.variable = tensor


def _redirect_edge(edge: Any, others: dict[Any, Any]) -> Any:
    """Return an edge to a leaf that was exchanged as one to where that leaf is now."""
    return edge if edge is None or edge[0] not in others else (others[edge[0]], edge[1])


if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.utils")
__all__ = ["swap_tensors"]
