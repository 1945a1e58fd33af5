"""The `.grad` of results of `retain_grad`, put back after a backward was run to look at it."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import Any

from .doubts import find_instances
from .gradient_specs import gradient_specs_of
from .leaves import find_graph_nodes
from .probe import disable_overrides, getattr_or_none


class RetainedGradients:
    """The gradients that results keep: any run of their nodes adds to them, also that of `grad`.

    A node does not tell which tensor keeps its gradient, so all objects of the process are searched.
    engine: None where it is known already that nothing keeps one: the search takes 0.1 s and more.
    """

    def __init__(self, engine: ModuleType | None) -> None:
        self._gradients: list[tuple[Any, Any]] = []
        if engine is None:
            return
        with disable_overrides():
            self._gradients += [
                (tensor, tensor.grad)
                for tensor in find_instances(engine.Tensor)
                if getattr_or_none(tensor, "retains_grad")
            ]

    @property
    def is_empty(self) -> bool:
        """True if no tensor of the process keeps its gradient."""
        return not self._gradients

    def can_restore(self, root: Any) -> bool:
        """Return True if all could be put back after a backward on `root`; asked before it runs.

        After `y.data = other`, with another shape or dtype, assigning the old gradient raises; from
        PyTorch 2.15 on also that of a stale view of several, such as one of `y.unbind()`.
        """
        nodes: set[Any] = set()
        with disable_overrides():
            for tensor, gradient in self._gradients:
                try:
                    tensor.grad = gradient  # what it has: the engine checks, and nothing changes
                except Exception:  # noqa: BLE001 - a subclass may raise anything
                    nodes.add(getattr_or_none(tensor, "grad_fn"))
            if not nodes or root.grad_fn is None:
                return True
            # One elsewhere in the process is not written by this backward.
            for node in find_graph_nodes(root):
                # A stale view does not say its node, which is one of several outputs.
                may_be_of_stale = None in nodes and len(gradient_specs_of(node)) > 1
                if node in nodes or may_be_of_stale:
                    return False
            return True

    def restore(self) -> None:
        """Give each tensor the gradient that it had."""
        with disable_overrides():
            for tensor, gradient in self._gradients:
                # A hook may have changed the shape of one meanwhile: the others get theirs.
                with suppress(Exception):
                    if tensor.grad is not gradient:
                        tensor.grad = gradient
