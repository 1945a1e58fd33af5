"""The few inner names of torch that programs and pictures reach for under `torch._C`."""

from __future__ import annotations

from types import SimpleNamespace

from .autograd.function import DelayedError, UndefinedGrad
from .autograd.graph import current_graph_task_id as _current_graph_task_id
from .autograd.graph import unsafe_set_version_counter
from .autograd.graph import will_engine_execute_node as _will_engine_execute_node
from .autograd.meta import TensorBase
from .autograd.modes import is_grad_enabled, is_inference_mode_enabled, set_grad_enabled
from .autograd.node import AccumulateGrad
from .autograd.saved import SavedTensor, hooks_are_enabled


def _set_grad_enabled(enabled: bool, /) -> None:
    """Switch grad mode. Source: `torch._C._set_grad_enabled`."""
    set_grad_enabled(enabled)


_functions = SimpleNamespace(AccumulateGrad=AccumulateGrad, DelayedError=DelayedError, UndefinedGrad=UndefinedGrad)
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _saved_tensors_hooks_is_enabled=hooks_are_enabled,
    _unsafe_set_version_counter=unsafe_set_version_counter,
)

__all__ = ["TensorBase", "_autograd", "_current_graph_task_id", "_functions", "_set_grad_enabled",
           "_will_engine_execute_node", "is_grad_enabled", "is_inference_mode_enabled"]  # fmt: skip
