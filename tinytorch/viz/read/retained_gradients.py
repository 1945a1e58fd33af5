"""The `.grad` of results of `retain_grad`, put back after a backward was run to look at it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .doubts import find_classes, find_objects
from .probe import disable_overrides, getattr_or_none


class RetainedGradients:
    """The gradients that results keep: any run of their nodes adds to them, also that of `grad`.

    A node does not tell which tensor keeps its gradient, so all objects of the process are searched.
    """

    def __init__(self, engine: ModuleType) -> None:
        tensor_class: Any = engine.Tensor
        kinds = [kind for kind in find_classes() if issubclass(kind, tensor_class)]
        with disable_overrides():
            self._gradients = [
                (tensor, tensor.grad)
                for tensor in find_objects(kinds)
                if getattr_or_none(tensor, "retains_grad")
            ]

    def restore(self) -> None:
        """Give each tensor the gradient that it had."""
        with disable_overrides():
            for tensor, gradient in self._gradients:
                if tensor.grad is not gradient:
                    tensor.grad = gradient
