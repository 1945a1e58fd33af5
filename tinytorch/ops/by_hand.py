"""Nodes that are put into a graph by hand: one that raises, one that lets no gradient through.

Source: `torch._C._functions`, whose `DelayedError` is what `once_differentiable` returns its gradients through.
"""

from __future__ import annotations

from typing import Any

from ..graph.history import edge_of, replace_history
from ..graph.modes import MODES
from ..graph.node import LAST, MultiNode
from ..tensor import Tensor


def _arguments(tensors: tuple, count: int) -> None:
    if len(tensors) != count:
        raise TypeError(f"expected {count} arguments, got {len(tensors)} instead")
    for i, t in enumerate(tensors):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"argument {i} is not a Variable")


def _wrapped(kind: Any, tensors: tuple, found: list) -> Any:
    """The tensors as outputs of one new node of this kind, if any of them requires grad.

    Grad mode is not asked: where it is off the node is there all the same, and leads nowhere.
    """
    if any(t is not None and t.requires_grad for t in tensors):
        fn = kind(tuple([None if t is None else edge_of(t) for t in tensors]) if MODES.here.grad else (), ())
        fn.describe_all(tuple(found))
        for nr, t in enumerate(found):
            if t is not None:
                replace_history(t, fn)
                t._output_nr = nr
    return found[0] if len(found) == 1 else tuple(found)


class UndefinedGradBackward(MultiNode):
    """The node of `UndefinedGrad`: gives no gradient."""

    __slots__ = ()
    __module__ = "builtins"

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::UndefinedGradBackward"

    def apply(self, grads: tuple) -> tuple:
        """No gradients."""
        return (None,) * len(self._edges)


class UndefinedGrad:
    """Called with a tensor, gives a copy through which no gradient flows, though it requires grad."""

    __module__ = "builtins"

    def __call__(self, *tensors: Tensor) -> Tensor:
        """The copy. TypeError for anything but one tensor."""
        _arguments(tensors, 1)
        return _wrapped(UndefinedGradBackward, tensors, [tensors[0].clone().data])


class Error(MultiNode):
    """The node of `DelayedError`: raises when backward comes to it."""

    __slots__ = ("message",)
    __module__ = "builtins"

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::Error"

    def apply(self, grads: tuple) -> tuple:
        """RuntimeError with the message."""
        raise RuntimeError(self.message)


class DelayedError:
    """Called with tensors, gives the same values in tensors through which backward raises."""

    __module__ = "builtins"

    def __init__(self, *arguments: Any) -> None:
        if len(arguments) != 2:
            raise RuntimeError(f"Requires two arguments, got {len(arguments)}")
        self._message, self._count = arguments

    def __call__(self, *tensors: Tensor | None) -> Any:
        """The tensors, or the one. TypeError for another number of them than was said."""
        _arguments(tensors, self._count)

        def kind(edges: tuple, saved: tuple) -> Error:
            fn = Error(edges, saved)
            fn.message = self._message
            fn._seq = LAST  # as torch has it: it raises before other nodes run
            return fn

        return _wrapped(kind, tensors, [None if t is None else t.data for t in tensors])


__all__ = ["DelayedError", "Error", "UndefinedGrad", "UndefinedGradBackward"]
