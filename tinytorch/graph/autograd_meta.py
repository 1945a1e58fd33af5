"""What autograd knows of a tensor: its slots, and what few tensors have besides.

A tensor that takes part in no graph carries three empty slots. What leaves have (that they ask for gradients, the
gradient, hooks) lies in an object of its own, made when first needed. Source: `c10::AutogradMetaInterface`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ..base import UntypedStorage

LAST = (
    1 << 64
) - 1  # the sequence number of leaves: they take their gradient before any other node that is ready


class TensorBase:
    """The slots of a tensor. An edge to a leaf holds the leaf itself, which so ends the graph as a node does."""

    __slots__ = (
        "__dict__", "__weakref__",
        "_counter",  # the version counter, shared by views and `detach()`
        "_data",     # the ndarray: shape, strides and dtype come from it
        "_edge",     # None, or (the node that made the tensor, which of its outputs it is)
        "_meta",     # None, or an AutogradMeta
        # Never set. From Python 3.12 on a tensor would be as large as an ndarray: `a[0]` would make its ndarray where
        # the last tensor lay, and `id(a[0]) == id(a[0])`, True in PyTorch, would be False.
        "_padding",
        "_storage",  # None until someone shares or looks at it: the ndarray alone then owns its memory
        "_view",     # None, or (base, the version that `_edge` belongs to, how the view came about)
    )  # fmt: skip
    _counter: Any
    _data: np.ndarray
    _edge: Any
    _meta: AutogradMeta | None
    _storage: UntypedStorage | None
    _view: Any
    _edges = ()
    _seq = LAST
    _leaf, _several, _outputs = True, False, 1


class AutogradMeta:
    """What a tensor has that asks for gradients, or that somebody asked about its gradient."""

    __slots__ = ("__weakref__", "accumulator", "after_accumulate", "detached", "exchanged", "grad",
                 "on_grad", "requires_grad", "retains")  # fmt: skip

    def __init__(self) -> None:
        self.requires_grad = False  # of a leaf
        self.grad = None
        self.on_grad = (
            None  # hooks on the gradient of a leaf, or of a non-leaf since its last history
        )
        self.after_accumulate = None  # hooks on `.grad` of a leaf
        self.retains = False  # whether a non-leaf keeps its gradient
        self.accumulator: Any = (
            None  # weak reference to the AccumulateGrad by which the leaf is shown in the graph
        )
        self.detached = (
            0  # nodes with a lower sequence number saved this tensor before `detach_()` cut it off
        )
        self.exchanged: tuple = ()  # until which sequence number which gradient was expected, where `.data =` changed that


def meta(t: TensorBase) -> AutogradMeta:
    """What autograd knows of a tensor beyond its history, made now if this is the first of it."""
    if t._meta is None:
        t._meta = AutogradMeta()
    return t._meta


def needs_grad(t: TensorBase) -> bool:
    """Whether a tensor requires grad. A view does if its base does."""
    if t._edge is not None or (t._meta is not None and t._meta.requires_grad):
        return True
    return t._view is not None and needs_grad(t._view[0])
