"""How a tensor's history is written, checked and rewritten: edges, views, and in-place operations.

The rules of views and in-place writes stand here once. Source: torch's `variable.cpp` (`rebase_history`, the lazily
regenerated `grad_fn` of views), `VariableTypeUtils.h` (`check_inplace`) and `CopySlices`.
"""

from __future__ import annotations

from typing import Any

from ..dtypes import BY_NUM, cpp_name
from ..naming import type_name
from ..slots import TensorBase
from .modes import MODES
from .node import Edge, Node, edge_to_leaf, keep, node
from .saved import FREED

# How a view came about; it decides what an in-place write to it, or under it, says.
DEFAULT, IN_FUNCTION, MULTI_OUTPUT, NO_GRAD, INFERENCE = range(5)


def needs_grad(t: Any) -> bool:
    """Whether a tensor requires grad. A view does if its base does."""
    return t._requires_grad or (t._view is not None and t._view._requires_grad)


def grad_fn_of(t: Any) -> Node | None:
    """The tensor's `grad_fn`; for a view whose memory was written to since, made anew from its base."""
    base = t._view
    if base is None:
        return t._fn
    if t._fn is None and not base._requires_grad:
        return None
    version = t._counter.version
    if version != t._seen:
        check_view(t, indirect=True)
        g, edges = Geometry.of(t), (edge_of(base),)
        saved = {"_geometry": Geometry.of(base), "size": g.shape, "stride": g.stride, "storage_offset": g.offset}
        fn = AsStridedBackward0(edges, keep(AsStridedBackward0, edges, saved))
        fn.describe(t)
        old, t._fn, t._output_nr, t._requires_grad = t._fn, fn, 0, True
        t._seen = version
        if t._hooks is not None:
            t._hooks.moved(t, old, fn)
    return t._fn


def edge_of(t: Any) -> Edge | None:
    """Where a gradient for this tensor flows: its `grad_fn`, a leaf's accumulator, or nowhere."""
    fn = t._fn if t._view is None else grad_fn_of(t)
    if fn is not None:
        return (fn, t._output_nr)
    if t._requires_grad:
        return edge_to_leaf(t)
    return None


def set_history(t: Any, fn: Node, nr: int = 0) -> None:
    """Make `t` output `nr` of `fn`."""
    t._fn = fn
    t._output_nr = nr
    t._requires_grad = True


def make_view(out: Any, source: Any, here: Any, creation: int | None = None) -> Any:
    """Make `out`, which shares `source`'s memory and counter, a view of it (of its base, if it is a view itself).

    Inference tensors have no views: nothing is ever recorded about them. `here`: the modes that hold.
    """
    if source._inference:
        return out
    if creation is None:
        creation = DEFAULT if here.grad else INFERENCE if here.inference else NO_GRAD
    out._seen = out._counter.version
    base = source._view
    if base is None:
        out._view = source
    else:
        out._view = base
        creation = inherited(creation, source._creation)
    out._creation = creation
    return out


def inherited(creation: int, outer: int) -> int:
    """How a view of a view came about, from how it was made itself and how the outer one was."""
    return outer if creation == DEFAULT or outer == INFERENCE else creation


def check_view(t: Any, indirect: bool = False) -> None:
    """Raise torch's error if this view may not be written to (or regenerated after a write elsewhere)."""
    creation = t._creation
    if creation == DEFAULT:
        return
    what = "its base or another view of its base has been" if indirect else "is being"
    fn = t._fn
    if creation in (INFERENCE, NO_GRAD) or fn is None:
        head = (
            "A view was created in"
            if fn is None
            else f"Output {t._output_nr} of {fn.short_name()} is a view of a view which was created in"
        )
        where = "inference mode" if creation == INFERENCE else "no_grad mode"
        when = "in normal mode" if creation == INFERENCE else "with grad mode enabled"
        head = f"{head} {where} and {what} modified inplace {when}. "
    else:
        head = f"Output {t._output_nr} of {fn.short_name()} is a view and {what} modified inplace. "
    raise RuntimeError(head + _FORBIDDEN[creation])


_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)
_FORBIDDEN = {
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
    MULTI_OUTPUT: (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    ),
    IN_FUNCTION: (
        "This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
        "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
        "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    ),
}


def check_inplace(t: Any, recorded: bool) -> None:
    """Raise torch's error if `t` may not be written to in place. `recorded`: the write is to be in the graph."""
    if recorded and MODES.here.grad:
        if t._view is not None:
            check_view(t)
            if t._view._fn is None and needs_grad(t):
                raise RuntimeError(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation."
                )
        if t._fn is None and needs_grad(t):  # of a view, as it was last made: torch does not make it anew here
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def replace_history(t: Any, fn: Node) -> None:
    """After an operation that changed how `t` looks at its memory: `t` is now output 0 of `fn`, a view included.

    Hooks, retain_grad among them, stay with the history that they were registered on.
    """
    set_history(t, fn)
    if t._view is not None:
        t._seen = t._vc.version


def rebase_history(t: Any, fn: Node) -> None:
    """After an in-place write recorded as `fn`: `t` is now its output; if `t` is a view, its base becomes CopySlices."""
    base, view = t, t._view
    if view is not None:
        check_view(t)
        base = view
        fn = CopySlices(base, t, fn)
    old = base._fn
    set_history(base, fn)
    if base._hooks is not None:
        base._hooks.moved(base, old, fn)
    if view is not None:
        grad_fn_of(t)


class Geometry:
    """Shape, strides and offset of a tensor, in elements, without the tensor."""

    __slots__ = ("offset", "shape", "stride")

    def __init__(self, shape: tuple, stride: tuple, offset: int) -> None:
        self.shape, self.stride, self.offset = shape, stride, offset

    @classmethod
    def of(cls, t: Any) -> Geometry:
        """The geometry of a tensor, in elements."""
        return cls(tuple(t._data.shape), t.stride(), t.storage_offset())

    def overlaps(self) -> bool:
        """Whether two indices may reach one element."""
        extent = 1
        for step, n in sorted((s, n) for s, n in zip(self.stride, self.shape, strict=True) if n > 1):
            if step < extent:
                return True
            extent = step * (n - 1) + extent
        return False

    def reach(self) -> int:
        """How many elements lie from the first to the last that an index reaches."""
        if 0 in self.shape:
            return 0
        return 1 + sum(s * (n - 1) for s, n in zip(self.stride, self.shape, strict=True))


def as_strided_grad(grad: Any, _geometry: Geometry, size: tuple, stride: tuple, storage_offset: int | None) -> Any:
    """The gradient of `as_strided`: each element's gradients are added where they lie in the source's memory.

    The same operations as torch's `as_strided_backward`, so that the graph of a second derivative is the same.
    """
    source = _geometry
    if 0 in source.shape or 0 in size:
        nothing = grad.new_zeros(source.shape)
        nothing._vc.version = 1  # torch zeroes it in place, which counts here
        return nothing
    for i in range(len(size) - 1, -1, -1):
        if size[i] == 1:
            grad = grad.squeeze(i)
        elif stride[i] == 0:
            grad = grad.sum(i, False)
    view = Geometry(*_stepping(size, stride), source.offset if storage_offset is None else storage_offset)
    seen = Geometry(*_stepping(source.shape, source.stride, repeats=True), source.offset)
    start = min(seen.offset, view.offset)
    room = max(seen.offset + seen.reach(), view.offset + view.reach()) - start
    memory = grad.new_zeros(room)

    def cells(g: Geometry) -> Any:
        places = memory.new_tensor(range(room), dtype=grad.long().dtype)
        return places.as_strided(g.shape, g.stride, g.offset - start).reshape(-1)

    if view.overlaps():
        memory.index_add_(0, cells(view), grad.reshape(-1))
    else:
        memory.as_strided(view.shape, view.stride, view.offset - start).copy_(grad)
    if seen.overlaps():
        where = cells(seen)
        memory.div_(memory.new_zeros(room).index_add_(0, where, memory.new_ones(1).expand(where.shape)))
    return memory.as_strided(source.shape, source.stride, source.offset - start)


def _stepping(shape: tuple, stride: tuple, repeats: bool = False) -> tuple[tuple, tuple]:
    """Shape and strides without the dimensions of size 1 and, unless `repeats`, of stride 0."""
    kept = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1 and (s or repeats)]
    return tuple(n for n, _ in kept), tuple(s for _, s in kept)


AsStridedBackward0 = node("AsStridedBackward0", as_strided_grad)


class CopySlices(Node):
    """What the base of a view becomes when the view is written to in place.

    The gradient of the written cells goes through the write's own node, that of the others straight to the base's
    earlier history. Source: torch's `CopySlices`.
    """

    __slots__ = ("base", "fn", "view")
    __module__ = "builtins"  # as torch prints it

    def __init__(self, base: Any, view: Any, fn: Node) -> None:
        super().__init__((edge_of(base), *fn._edges[1:]), ())
        self.base, self.view, self.fn = Geometry.of(base), Geometry.of(view), fn
        self.describe(base)

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::CopySlices"

    def short_name(self) -> str:
        """The name in messages."""
        return self.name()

    def apply(self, grads: tuple) -> tuple:
        """The gradients for the inputs, from those of the outputs."""
        grad = grads[0]
        if grad is None:
            return (None,) * len(self._edges)
        if self.fn is None:
            raise RuntimeError(FREED)
        result = grad.new_empty_strided(self.base.shape, self.base.stride)
        result.copy_(grad)
        here = result.as_strided(self.view.shape, self.view.stride, self.view.offset - self.base.offset)
        inner = self.fn.apply((here._clone_contiguous(),))
        if self._edges[0] is None:
            return (None, *inner[1:])
        if inner[0] is None:
            here.zero_()
        else:
            here.copy_(inner[0])
        return (result, *inner[1:])

    def release(self) -> None:
        """Let go of the write's node, which keeps what it saved if somebody else knows it."""
        self.fn = None


def check_assigned_grad(t: Any, grad: Any) -> None:
    """Raise torch's error if `grad` may not become the `.grad` of `t`."""
    if not isinstance(grad, TensorBase):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(grad)}")  # fmt: skip
    if grad is t:
        raise RuntimeError("can't assign Variable as its own grad")
    expected = t._data.dtype if t._hooks is None else t._hooks.dtype_of_grad(t)
    if expected is not None and grad._data.dtype is not expected:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{cpp_name(grad.dtype)}' to a tensor with grad_dtype "
            f"'{BY_NUM[expected.num].scalar_name}'. The gradient must match the tensor's grad_dtype (defaults to the "
            "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
            "allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient "
            "may break downstream systems that assume they match."
        )
    if grad._device is not t._device:
        raise RuntimeError(
            f"attempting to assign a gradient located on device with type '{grad._device.type}' to a tensor "
            f"located on device with type '{t._device.type}'. Please ensure that the gradient and the "
            "tensor are on the same device"
        )
    if grad._data.shape != t._data.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of size "
            f"'{list(t.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )
