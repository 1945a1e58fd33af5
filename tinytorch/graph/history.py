"""How a tensor's history is written, checked and rewritten: edges, views, and in-place operations.

The rules of views and in-place writes stand here once. Source: torch's `variable.cpp` (`rebase_history`, the lazily
regenerated `grad_fn` of views), `VariableTypeUtils.h` (`check_inplace`) and `CopySlices`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .autograd_meta import needs_grad
from .gradient_state import GradientList, GradientState, SeenBy
from .hooks import moved
from .modes import MODES
from .node import Edge, Node
from .operations import OPERATIONS
from .saved import FREED_MESSAGE, short_name

# How a view came about; it decides what an in-place write to it, or under it, says.
DEFAULT, IN_FUNCTION, MULTI_OUTPUT, NO_GRAD, INFERENCE = range(5)


def edge_of(t: Any) -> Edge | None:
    """Where a gradient for this tensor flows: to its `grad_fn`, to itself if it is a leaf, or nowhere."""
    if t._view is not None:
        refresh(t)
    edge = t._edge
    if edge is not None:
        return edge
    m = t._meta
    return (t, 0) if m is not None and m.requires_grad else None


def refresh(t: Any) -> None:
    """Make the history of a view anew from its base, if its memory was written to since it was made."""
    base, seen, creation = t._view
    version = t._counter.version
    if version == seen or (t._edge is None and not needs_grad(base)):
        return
    check_view(t, indirect=True)
    old = t._edge
    fn = OPERATIONS.as_strided.make_node((base, t.shape, t.stride(), t.storage_offset()))
    fn.describe(t)
    t._edge, t._view = (fn, 0), (base, version, creation)
    if t._meta is not None:
        moved(t, old, fn)


def view_of(out: Any, source: Any, creation: int | None = None) -> None:
    """Make `out`, which shares `source`'s memory and counter, a view of it (of its base, if it is a view itself).

    Inference tensors have no views: nothing is ever recorded about them.
    """
    counter = out._counter
    if counter.is_inference:
        return
    if creation is None:
        here = MODES.here
        creation = DEFAULT if here.grad else INFERENCE if here.inference else NO_GRAD
    view = source._view
    if view is None:
        out._view = (source, counter.version, creation)
    else:
        outer = view[2]
        out._view = (
            view[0],
            counter.version,
            outer if creation == DEFAULT or outer == INFERENCE else creation,
        )


def check_view(t: Any, indirect: bool = False) -> None:
    """Raise torch's error if this view may not be written to (or regenerated after a write elsewhere)."""
    creation = t._view[2]
    if creation == DEFAULT:
        return
    what = "its base or another view of its base has been" if indirect else "is being"
    fn, nr = t._edge or (None, 0)
    head = "A view" if fn is None else f"Output {nr} of {short_name(fn.name())} is a view"
    if creation in (INFERENCE, NO_GRAD) or fn is None:
        where, when = (
            ("inference", "in normal mode")
            if creation == INFERENCE
            else ("no_grad", "with grad mode enabled")
        )
        head += f"{'' if fn is None else ' of a view which'} was created in {where} mode and {what} modified inplace {when}. "
    else:
        head += f" and {what} modified inplace. "
    raise RuntimeError(head + _FORBIDDEN[creation])


_AMBIGUOUS = "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
_FORBIDDEN = {
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
    MULTI_OUTPUT: "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    IN_FUNCTION: "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.",
}  # fmt: skip


def check_inplace(t: Any) -> None:
    """Raise torch's error if `t` may not be written to in place by a write that is to be in the graph."""
    if not MODES.here.grad:
        return
    view = t._view
    if view is not None:
        check_view(t)
        if view[0]._edge is None and needs_grad(t):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation."
            )
    # Of a view, as it was last made: torch does not make it anew here.
    if t._edge is None and needs_grad(t):
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


def replace_history(t: Any, fn: Node) -> None:
    """After an operation that changed how `t` looks at its memory: `t` is now output 0 of `fn`, a view included.

    Hooks, retain_grad among them, stay with the history that they were registered on.
    """
    t._edge = (fn, 0)
    if t._view is not None:
        t._view = (t._view[0], t._counter.version, t._view[2])


def rebase_history(t: Any, fn: Node) -> None:
    """After an in-place write recorded as `fn`: `t` is now its output; if `t` is a view, its base becomes CopySlices."""
    base, view = t, t._view
    if view is not None:
        check_view(t)
        base = view[0]
        fn = CopySlices(base, t, fn)
    old, base._edge = base._edge, (fn, 0)
    if base._meta is not None:
        moved(base, old, fn)
    if view is not None:
        refresh(t)


class Geometry(NamedTuple):
    """Shape, strides and offset of a tensor, in elements, without the tensor."""

    shape: tuple
    stride: tuple
    offset: int

    @classmethod
    def of(cls, t: Any) -> Geometry:
        """The geometry of a tensor, in elements."""
        return cls(tuple(t._data.shape), t.stride(), t.storage_offset())


class CopySlices(Node):
    """What the base of a view becomes when the view is written to in place.

    The gradient of the written cells goes through the write's own node, that of the others straight to the base's
    earlier history. Source: torch's `CopySlices`.
    """

    __slots__ = ("base", "fn", "view")
    __module__ = "builtins"  # as torch prints it
    _called = "torch::autograd::CopySlices"

    def __init__(self, base: Any, view: Any, fn: Node) -> None:
        super().__init__((edge_of(base), *fn._edges[1:]))
        self.base, self.view, self.fn = Geometry.of(base), Geometry.of(view), fn
        self.describe(base)

    def apply(self, grads: list, raw: bool) -> list:
        """The gradients for the inputs, from those of the outputs."""
        grad = grads[0]
        if grad is None:
            return [None] * len(self._edges)
        if self.fn is None:
            raise RuntimeError(FREED_MESSAGE)
        whole = OPERATIONS.new_empty_strided(grad, self.base.shape, self.base.stride)
        OPERATIONS.copy_(whole, grad)
        here = OPERATIONS.as_strided(
            whole, self.view.shape, self.view.stride, self.view.offset - self.base.offset
        )
        inner = self.fn.apply([OPERATIONS.clone_contiguous(here)], raw)
        if self._edges[0] is None:
            return [None, *inner[1:]]
        if inner[0] is None:
            OPERATIONS.zero_(here)
        else:
            OPERATIONS.copy_(here, inner[0])
        gradients = GradientList.of_new([whole, *inner[1:]])
        # PyTorch writes to the gradient of the base twice: all of it, then the written cells.
        gradients.states[0] = GradientState(2, SeenBy.NOBODY)
        return gradients

    def release(self) -> None:
        """Let go of the write's node, which keeps what it saved if somebody else knows it."""
        self.fn = None  # type: ignore[assignment]
