"""What autograd knows of a tensor: the slots of every tensor, and what only few tensors have.

A tensor in no graph has None for `_edge` and `_meta`, and for `_view_meta` unless it is a view.
What leaves have (whether they require grad, the gradient, hooks) is in an object of its own, which
is made when it is first needed. Source: `c10::AutogradMetaInterface`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import weakref
    from collections import OrderedDict

    import numpy as np

    from ..base import UntypedStorage

HIGHEST_NUMBER = (1 << 64) - 1
"""Sequence number of leaves, and of all else that runs before other nodes.

Backward runs what has the highest number first, so a leaf gets its gradient at once.
"""


ViewMeta = tuple[Any, int, int]
"""The base of a view, the version for which the view's `_edge` is right, and its CreationMeta.

A plain tuple: each view makes one, and a NamedTuple takes several times as long.
"""


class TensorBase:
    """The slots of a tensor.

    An edge to a leaf has the leaf itself, so a tensor has a node's attributes, too.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_counter",
        "_data",
        "_edge",
        "_meta",
        # Never set. From Python 3.12 on a tensor would be as large as an ndarray: `a[0]` would
        # make its ndarray where the last tensor was, and `id(a[0]) == id(a[0])`, True in PyTorch,
        # would be False.
        "_padding",
        "_storage",
        "_view_meta",
    )
    # The VersionCounter, shared by views and by what `detach()` gives.
    _counter: Any
    # Shape, strides and dtype are those of this array.
    _data: np.ndarray
    # None for a leaf; else the node that made the tensor, and the number of its output. (`_edges`,
    # below, is another thing: where a node's gradients go on to.)
    _edge: Any
    # None, or what few tensors have.
    _meta: AutogradMeta | None
    # None until somebody shares the memory or asks for the storage: then the array alone owns its
    # memory.
    _storage: UntypedStorage | None
    # None unless this is a view.
    _view_meta: ViewMeta | None

    # The engine reads these of a leaf at the end of an edge as it reads them of a node. From a leaf
    # gradients go nowhere.
    _edges = ()
    _sequence_number = HIGHEST_NUMBER
    _ends_graph = True
    _has_several_outputs = False
    _output_count = 1


class AutogradMeta:
    """What a tensor has that requires grad, or whose gradient somebody asked for."""

    __slots__ = (
        "__weakref__",
        "accumulator",
        "detached_at",
        "earlier_gradient_specs",
        "grad",
        "grad_hooks",
        "post_accumulate_hooks",
        "requires_grad",
        "retains_grad",
    )

    def __init__(self) -> None:
        self.requires_grad = False  # only leaves have it set
        self.grad: Any = None
        # Hooks on the gradient: of a leaf, or of a non-leaf with its present history.
        self.grad_hooks: OrderedDict | None = None
        # Hooks that run after a leaf's `.grad` was accumulated.
        self.post_accumulate_hooks: OrderedDict | None = None
        # True if `retain_grad()` was called on a non-leaf.
        self.retains_grad = False
        # To the AccumulateGrad that is shown for a leaf.
        self.accumulator: weakref.ref | None = None
        # Nodes with a lower sequence number saved this tensor before `detach_()`, and may not read
        # it any more.
        self.detached_at = 0
        # An EarlierSpec for each time that `.data =` or a resized `out=` changed shape or dtype.
        self.earlier_gradient_specs: tuple = ()


def materialize_meta(t: TensorBase) -> AutogradMeta:
    """Return the AutogradMeta of a tensor, made now if it has none."""
    if t._meta is None:
        t._meta = AutogradMeta()
    return t._meta


def needs_grad(t: TensorBase) -> bool:
    """Return True if a tensor requires grad.

    A view does if its base does, even before its history is regenerated.
    """
    if t._edge is not None or (t._meta is not None and t._meta.requires_grad):
        return True
    if t._view_meta is None:
        return False
    base, _, _ = t._view_meta
    return needs_grad(base)
