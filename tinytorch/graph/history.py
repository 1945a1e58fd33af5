"""How a tensor's history is written, checked and changed: edges, views, in-place operations.

Source: torch's `variable.cpp` (`rebase_history`, the `grad_fn` of views, which is regenerated when
it is read), `VariableTypeUtils.h` (`check_inplace`) and `CopySlices`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from .autograd_meta import needs_grad
from .gradient_state import NEW_GRADIENT, GradientList, state_of_new
from .hooks import move_retained_grad
from .modes import MODES
from .node import Edge, Node
from .node_names import name_of_node, short_name
from .operations import NEEDED_OPERATIONS
from .saved import FREED_MESSAGE


class CreationMeta(IntEnum):
    """How a view came about, by torch's names.

    It decides which in-place writes to its memory are errors.
    """

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    INFERENCE_MODE = 4


DEFAULT, IN_FUNCTION, MULTI_OUTPUT, NO_GRAD, INFERENCE = CreationMeta


def gradient_edge(t: Any) -> Edge | None:
    """Return where the gradient of a tensor flows: to its `grad_fn`, to a leaf itself, or None."""
    if t._view_meta is not None:
        regenerate_grad_fn(t)
    edge = t._edge
    if edge is not None:
        return edge
    meta = t._meta
    return (t, 0) if meta is not None and meta.requires_grad else None


def regenerate_grad_fn(view: Any) -> None:
    """Make the history of a view anew from its base if its memory was written to meanwhile."""
    base, version_of_edge, creation = view._view_meta
    version = view._counter.version
    if version == version_of_edge:
        return
    # Written to, but neither the view nor what was written has a history.
    if view._edge is None and not needs_grad(base):
        return
    check_view(view, is_regenerated=True)
    old_edge = view._edge
    # Whatever made the view, torch's new node is AsStridedBackward0: it goes from the base to the
    # view in one step.
    geometry = view.shape, view.stride(), view.storage_offset()
    node = NEEDED_OPERATIONS.as_strided.make_node((base, *geometry))
    node._note_gradient_specs(view)
    view._edge, view._view_meta = (node, 0), (base, version, creation)
    if view._meta is not None:
        move_retained_grad(view, old_edge, node)


def mark_as_view(view: Any, source: Any, creation: int | None = None) -> None:
    """Make `view`, which shares the memory and counter of `source`, a view of it or of its base."""
    counter = view._counter
    if counter.is_inference:
        return  # nothing is ever recorded about inference tensors, so they have no bases
    if creation is None:
        thread = MODES.thread
        creation = NO_GRAD
        if thread.is_recording:
            creation = DEFAULT
        elif thread.inference:
            creation = INFERENCE
    if source._view_meta is None:
        view._view_meta = (source, counter.version, creation)
        return
    base, _, creation_of_source = source._view_meta
    # torch's `propagate_creation_meta`: a restriction of the source is one of its views, too.
    if creation == DEFAULT or creation_of_source == INFERENCE:
        creation = creation_of_source
    view._view_meta = (base, counter.version, creation)


def get_creation_meta(view: Any) -> CreationMeta:
    """Return how a view came about. Source: `torch._C._autograd._get_creation_meta`."""
    _, _, creation = view._view_meta
    return CreationMeta(creation)


def set_creation_meta(view: Any, creation: int) -> None:
    """Set how a view came about. Source: `torch._C._autograd._set_creation_meta`."""
    base, version_of_edge, _ = view._view_meta
    view._view_meta = (base, version_of_edge, creation)


def check_view(view: Any, is_regenerated: bool = False) -> None:
    """Raise torch's error if this view may not be written to or regenerated."""
    _, _, creation = view._view_meta
    if creation == DEFAULT:
        return
    event = "its base or another view of its base has been" if is_regenerated else "is being"
    node, output_nr = view._edge or (None, 0)
    head = "A view"
    if node is not None:
        head = f"Output {output_nr} of {short_name(name_of_node(node))} is a view"
    if creation in (INFERENCE, NO_GRAD) or node is None:
        mode, time = "no_grad", "with grad mode enabled"
        if creation == INFERENCE:
            mode, time = "inference", "in normal mode"
        if node is not None:
            head += " of a view which"
        head += f" was created in {mode} mode and {event} modified inplace {time}. "
    else:
        head += f" and {event} modified inplace. "
    raise RuntimeError(head + _WHY_FORBIDDEN[creation])


_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can "
    "clarify your code by moving both the view and the inplace either both inside the {0} "
    "block (if you don't want the inplace to be tracked) or both outside (if you want the "
    "inplace to be tracked)."
)
_WHY_FORBIDDEN = {
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
    MULTI_OUTPUT: (
        "This view is the output of a function that returns multiple views. Such functions "
        "do not allow the output views to be modified inplace. You should replace the "
        "inplace operation by an out-of-place one."
    ),
    IN_FUNCTION: (
        "This view was created inside a custom Function (or because an input was returned "
        "as-is) and the autograd logic to handle view+inplace would override the custom "
        "backward associated with the custom Function, leading to incorrect gradients. This "
        "behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    ),
}  # fmt: skip


def check_inplace(t: Any) -> None:
    """Raise torch's error if `t` may not be written to in place while grad mode is on."""
    if not MODES.thread.is_recording:
        return
    if t._view_meta is not None:
        check_view(t)
        base, _, _ = t._view_meta
        if base._edge is None and needs_grad(t):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an "
                "in-place operation."
            )
    # `_edge` may be outdated for a view: torch does not regenerate it here either.
    if t._edge is None and needs_grad(t):
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


def replace_history(t: Any, node: Node) -> None:
    """Make `t` output 0 of `node`, which changed shape or strides of the tensor itself (`t_`).

    Its hooks, also that of `retain_grad`, stay with the earlier history.
    """
    t._edge = (node, 0)
    if t._view_meta is not None:
        base, _, creation = t._view_meta
        t._view_meta = (base, t._counter.version, creation)


def rebase_history(t: Any, node: Node) -> None:
    """Make `t` the output of `node`, which recorded an in-place write to it.

    If `t` is a view, its base becomes the output of a CopySlices around `node`, and `t` gets its
    history anew from the base.
    """
    base = t
    is_view = t._view_meta is not None
    if is_view:
        check_view(t)
        base, _, _ = t._view_meta
        node = CopySlices(base, t, node)
    old_edge, base._edge = base._edge, (node, 0)
    if base._meta is not None:
        move_retained_grad(base, old_edge, node)
    if is_view:
        regenerate_grad_fn(t)


class Geometry(NamedTuple):
    """Shape, strides and offset of a tensor, in elements, without the tensor."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, t: Any) -> Geometry:
        """The geometry of a tensor, in elements."""
        return cls(tuple(t._data.shape), t.stride(), t.storage_offset())


class CopySlices(Node):
    """The node of a base after an in-place write to a view of it.

    The gradient of the written cells goes through the node of the write; the gradient of all other
    cells goes straight to the earlier history of the base. Source: torch's `CopySlices`.
    """

    __slots__ = (
        "_base",  # the Geometry of the base
        "_view",  # the Geometry of the view
        "_write",  # the node of the write; None once it is freed
    )
    # torch prints <class 'CopySlices'>
    __module__ = "builtins"
    _name = "torch::autograd::CopySlices"

    def __init__(self, base: Any, view: Any, write: Node) -> None:
        super().__init__((gradient_edge(base), *write._edges[1:]))
        self._base, self._view = Geometry.of(base), Geometry.of(view)
        self._write: Node | None = write
        self._note_gradient_specs(base)

    def _apply(self, grads: list, on_arrays: bool) -> list:
        """Return the gradients of the base's earlier history and of the write's other inputs."""
        grad = grads[0]
        if grad is None:
            return [None] * len(self._edges)
        if self._write is None:
            raise RuntimeError(FREED_MESSAGE)
        # The gradient may have other strides than the base. A copy with its strides has the view
        # where the base has it.
        whole = NEEDED_OPERATIONS.new_empty_strided(grad, self._base.shape, self._base.stride)
        NEEDED_OPERATIONS.copy_(whole, grad)
        offset = self._view.offset - self._base.offset
        part = NEEDED_OPERATIONS.as_strided(whole, self._view.shape, self._view.stride, offset)
        gradients = self._write._apply([NEEDED_OPERATIONS.clone_contiguous(part)], on_arrays)
        if self._edges[0] is None:
            return [None, *gradients[1:]]
        if gradients[0] is None:
            NEEDED_OPERATIONS.zero_(part)
        else:
            NEEDED_OPERATIONS.copy_(part, gradients[0])
        results = [whole, *gradients[1:]]
        if not on_arrays:
            return results
        # Their versions count the writes above, as in PyTorch: `whole` was written to twice.
        states = [NEW_GRADIENT if g is None else state_of_new(g) for g in results]
        return GradientList.of(results, states)

    def _release(self) -> None:
        """Drop the node of the write. If the user holds it, what it saved stays."""
        self._write = None
