"""Looking at the autograd graph and reaching into it: edges, hooks on several tensors, what saving does.

Source: `torch.autograd.graph`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import missing, type_name
from ..tensor import Tensor, fresh
from .api import GradientEdge
from .engine import RUNNING
from .function import BackwardCFunction
from .history import edge_of
from .hooks import RemovableHandle
from .modes import MODES, InferenceCounter, bump, enable_grad
from .node import AccumulateGrad, shown_edge
from .node import Node as _EngineNode
from .saved import disable_saved_tensors_hooks, saved_tensors_hooks


class _NodeType(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, _EngineNode)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, _EngineNode)


class Node(metaclass=_NodeType):
    """What every node of the graph is an instance of, whatever its kind; for `isinstance` alone.

    Source: `torch.autograd.graph.Node`.
    """

    __module__ = "torch.autograd.graph"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor; `backward` and `grad` take it in the tensor's place, which may be freed meanwhile.

    RuntimeError for tensors that do not require grad. Source: `torch.autograd.graph.get_gradient_edge`.
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, token = _node_of(tensor), None
    if isinstance(node, BackwardCFunction):
        with enable_grad():
            token = tensor.view_as(tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, token)


def _node_of(t: Any) -> Any:
    """A tensor's node, or the accumulator of a leaf. AssertionError if it has neither."""
    if isinstance(t, GradientEdge):
        return t.node
    if t.grad_fn is None and not t.requires_grad:
        raise AssertionError("Expected gradient function to be set")
    if t.grad_fn is None and MODES.here.inference:  # where torch looks in vain behind a view of it
        raise AttributeError("'NoneType' object has no attribute 'next_functions'")
    return shown_edge(edge_of(t))[0]


# the backward that is running -----------------------------------------------------------------------------------------


def current_graph_task_id() -> int:
    """The number of the backward that runs, -1 if none does. Source: `torch._C._current_graph_task_id`."""
    return -1 if RUNNING.task is None else RUNNING.task.id


def will_engine_execute_node(fn: Any) -> bool:
    """Whether the running backward comes to a node. Source: `torch._C._will_engine_execute_node`."""
    if not isinstance(fn, _EngineNode):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type_name(fn)}")
    task = RUNNING.task
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    at = fn.variable if type(fn) is AccumulateGrad else fn
    if at is not fn and task.needed is not None and at in task.captures:
        raise RuntimeError("A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is currently not supported.")  # fmt: skip
    return at in task.waits and task.will_run(at)  # an only root waits for nothing, and torch does not count it


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> RemovableHandle:
    """Call `fn` once a backward: with all gradients when the last is there, or with the first of them (mode "any").

    Tensors that a backward does not come to are given as None. ValueError for another mode.
    Source: `torch.autograd.graph.register_multi_grad_hook`.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    seen: set[int] = set()
    arrived: dict[int, list] = {}
    awaited: dict[int, int] = {}

    def first(grad: Any) -> None:
        if (task := _inside_backward()) not in seen:
            seen.add(task)
            fn(grad)

    if mode == "any":
        functools.update_wrapper(first, fn)
        return _MultiHandle(tuple([t.register_hook(first) for t in tensors if t.requires_grad]))
    nodes = [_node_of(t) for t in tensors]

    def note(i: int, grad: Any) -> None:
        task = _inside_backward()
        if task not in arrived:
            arrived[task], awaited[task] = [None] * len(nodes), sum(map(will_engine_execute_node, nodes))
        arrived[task][i] = grad
        awaited[task] -= 1
        if not awaited[task]:
            fn(arrived[task])
            del awaited[task], arrived[task]

    return _MultiHandle(tuple([t.register_hook(functools.partial(note, i)) for i, t in enumerate(tensors)]))


def _inside_backward() -> int:
    task = current_graph_task_id()
    if task == -1:
        raise AssertionError("expected this hook to be called inside a backward call")
    return task


class _MultiHandle(RemovableHandle):
    """Removes several hooks at once."""

    __module__ = "torch.autograd.graph"

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


# version counters -----------------------------------------------------------------------------------------------------


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that autograd has not seen, so that backward notices it; inference tensors count nothing.

    RuntimeError unless given a tensor or an iterable of tensors. Source: `torch.autograd.graph.increment_version`.
    """
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if type(t._counter) is not InferenceCounter:
            bump(t)


def unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the version counters of tensors; nothing stops a write from going unnoticed then.

    Source: `torch._C._autograd._unsafe_set_version_counter`.
    """
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for t, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        if type(t._counter) is InferenceCounter:
            raise RuntimeError("Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. Was it created in inference mode?")  # fmt: skip
        t._counter[0] = version


# what saving does -----------------------------------------------------------------------------------------------------


class save_on_cpu(saved_tensors_hooks):
    """Inside, what is saved for backward is kept on the CPU and brought back when it is read.

    With `pin_memory` always as a copy, which here lies in memory like any other.
    Source: `torch.autograd.graph.save_on_cpu`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> tuple[Any, Tensor]:
            return t.device, fresh(np.empty(t.shape, t._data.dtype)).copy_(t) if pin_memory else t.cpu()

        super().__init__(pack, lambda packed: packed[1].to(packed[0]))


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[None]:
    """Inside, tensors saved for backward may be written to: backward uses what they held when they were saved.

    torch copies a tensor when it is first written to. Here the copy is made when the tensor is saved, so that no write
    need know of it. AssertionError if the graph's backward runs outside, RuntimeError where one such context lies in
    another. Source: `torch.autograd.graph.allow_mutation_on_saved_tensors`.
    """
    me = object()

    def pack(t: Tensor) -> tuple:
        return t, t._version, t.detach().clone()

    def unpack(packed: tuple) -> Tensor:
        if _mutation_allowed != [me]:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded.")  # fmt: skip
        tensor, version, copy = packed
        same = tensor._version == version and np.array_equal(tensor._data, copy._data, equal_nan=True)
        return tensor if same else copy

    with saved_tensors_hooks(pack, unpack):
        if _mutation_allowed:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        _mutation_allowed.append(me)
        try:
            yield
        finally:
            _mutation_allowed.clear()


_mutation_allowed: list[object] = []  # the one context that holds


def __getattr__(name: str) -> object:
    raise missing("module 'torch.autograd.graph' has no attribute '{}'", name)


__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip
