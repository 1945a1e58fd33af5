"""The few inner names of torch that programs and pictures reach for under `torch._C`."""

from __future__ import annotations

import weakref
from types import ModuleType, SimpleNamespace
from typing import Any

from .autograd.graph import _unsafe_set_version_counter
from .autograd.running import current_autograd_node as _current_autograd_node
from .autograd.running import current_graph_task_execution_order as _current_graph_task_execution_order
from .autograd.running import current_graph_task_id as _current_graph_task_id
from .autograd.running import current_graph_task_keep_graph
from .autograd.running import will_engine_execute_node as _will_engine_execute_node
from .graph.modes import is_grad_enabled, is_inference_mode_enabled, set_grad_enabled
from .graph.node import AccumulateGrad, Node
from .graph.saved import SavedResult, SavedTensor, hooks_are_enabled
from .missing import missing
from .ops import by_hand


def _set_grad_enabled(enabled: bool, /) -> None:
    """Switch grad mode. Source: `torch._C._set_grad_enabled`."""
    set_grad_enabled(enabled)


def _make_saved_tensor(tensor: Any, is_output: bool) -> SavedTensor:
    """A tensor as a node keeps it, hooks on saved tensors included."""
    if not is_output:
        return SavedTensor(tensor)
    saved = SavedResult(tensor)
    saved.pack_by_default(tensor)
    return saved


class _WeakTensorRef:
    """Tells whether a tensor is still there."""

    def __init__(self, tensor: Any) -> None:
        self._ref = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._ref() is None


def _kinds_of_nodes(kind: type = Node) -> dict[str, type]:
    found: dict[str, type] = {}
    k: type
    for k in kind.__subclasses__():
        found |= {k.__name__: k} | _kinds_of_nodes(k)
    return found


class _Functions(ModuleType):
    """The kinds of nodes by name, and what puts nodes into a graph by hand."""

    def __getattr__(self, name: str) -> Any:
        kind = None if name.startswith("_") else _kinds_of_nodes().get(name)
        if kind is None or kind.__module__ != "builtins":
            raise missing("module 'torch._C._functions' has no attribute '{}'", name)
        return kind


_functions = _Functions("torch._C._functions")
_functions.__dict__.update(
    AccumulateGrad=AccumulateGrad, DelayedError=by_hand.DelayedError, UndefinedGrad=by_hand.UndefinedGrad
)
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=current_graph_task_keep_graph,
    _make_saved_tensor=_make_saved_tensor,
    _saved_tensors_hooks_is_enabled=hooks_are_enabled,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)

__all__ = [
    "_WeakTensorRef", "_autograd", "_current_autograd_node", "_current_graph_task_execution_order",
    "_current_graph_task_id", "_functions", "_set_grad_enabled", "_will_engine_execute_node", "is_grad_enabled", "is_inference_mode_enabled",
]  # fmt: skip
