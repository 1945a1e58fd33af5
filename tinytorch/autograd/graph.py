"""Looking at the autograd graph and reaching into it.

Source: `torch.autograd.graph`.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..graph.history import edge_of
from ..graph.modes import MODES, enable_grad
from ..graph.node import Node as _EngineNode
from ..graph.node import RemovableHandle, shown_edge
from ..graph.saved import disable_saved_tensors_hooks, saved_tensors_hooks
from ..missing import missing
from ..ops.by_hand import DelayedError, UndefinedGrad
from ..ops.core import FUNCTIONS
from ..tensor import Tensor
from .function import BackwardCFunction
from .mutation import allow_mutation_on_saved_tensors
from .running import current_graph_task_id, will_engine_execute_node


class Node(abc.ABC):
    """What every node of the graph is an instance of, whatever its kind; for `isinstance` alone.

    Source: `torch.autograd.graph.Node`.
    """

    __module__ = "torch.autograd.graph"

    @abc.abstractmethod
    def name(self) -> str:
        """The name torch prints, such as `MulBackward0`."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that this node's gradients flow into, one pair (node, output number) an input."""

    @abc.abstractmethod
    def metadata(self) -> dict:
        """A dictionary for the user's own notes on this node."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> tuple:
        """What the gradient of each output must look like."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Have the hooks of a tensor run when its gradient is there."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """Of the nodes that are ready, the one with the highest number runs next."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node ran."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs."""

    @classmethod
    def __subclasshook__(cls, subclass: type, /) -> bool:
        return cls is Node and (subclass is Node or issubclass(subclass, (_EngineNode, DelayedError, UndefinedGrad)))


class GradientEdge(NamedTuple):
    """Where in the graph a tensor's gradient is computed: a node and which of its outputs.

    Source: `torch.autograd.graph.GradientEdge`.
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


GradientEdge.__module__ = "torch.autograd.graph"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor; `backward` and `grad` take it in the tensor's place, which may be freed meanwhile.

    RuntimeError for tensors that do not require grad. Source: `torch.autograd.graph.get_gradient_edge`.
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, token = _get_grad_fn_or_grad_acc(tensor), None
    if isinstance(node, BackwardCFunction):
        with enable_grad():
            token = tensor.view_as(tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, token)


def _get_grad_fn_or_grad_acc(t: Any) -> Any:
    """A tensor's node, or the accumulator of a leaf. AssertionError if it has neither."""
    if isinstance(t, GradientEdge):
        return t.node
    if not (t.requires_grad and t.grad_fn is None) and t.grad_fn is None:
        raise AssertionError("Expected gradient function to be set")
    if t.requires_grad and t.grad_fn is None and MODES.here.inference:  # where torch looks in vain behind a view of it
        raise AttributeError("'NoneType' object has no attribute 'next_functions'")
    return shown_edge(edge_of(t))[0]


class save_on_cpu(saved_tensors_hooks):
    """Inside, what is saved for backward is kept on the CPU and brought back when it is read.

    With `pin_memory` always as a copy, which here lies in memory like any other.

    Source: `torch.autograd.graph.save_on_cpu`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> tuple[Any, Tensor]:
            return t.device, FUNCTIONS["empty"](t.size(), dtype=t.dtype).copy_(t) if pin_memory else t.cpu()

        super().__init__(pack, lambda packed: packed[1].to(packed[0]))


class _MultiHandle(RemovableHandle):
    """Removes several hooks at once."""

    __module__ = "torch.autograd.graph"

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> RemovableHandle:
    """Call `fn` once a backward: with all gradients when the last is there, or with the first of them (mode "any").

    Tensors that a backward does not come to are given as None. ValueError for another mode.
    Source: `torch.autograd.graph.register_multi_grad_hook`.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        return _MultiHandle(_on_first(tensors, fn))
    nodes = [_get_grad_fn_or_grad_acc(t) for t in tensors]
    arrived: dict[int, list] = {}
    missing: dict[int, int] = {}

    def note(i: int, grad: Any) -> None:
        task = _inside_backward()
        if task not in arrived:
            arrived[task] = [None] * len(nodes)
            missing[task] = sum(map(will_engine_execute_node, nodes))
        arrived[task][i] = grad
        missing[task] -= 1
        if not missing[task]:
            fn(arrived[task])
            del missing[task], arrived[task]

    return _MultiHandle(tuple([t.register_hook(functools.partial(note, i)) for i, t in enumerate(tensors)]))


def _inside_backward() -> int:
    task = current_graph_task_id()
    if task == -1:
        raise AssertionError("expected this hook to be called inside a backward call")
    return task


def _on_first(tensors: Sequence[Tensor], fn: Callable) -> tuple[RemovableHandle, ...]:
    seen: set[int] = set()

    @functools.wraps(fn)
    def first(grad: Any) -> None:
        task = _inside_backward()
        if task not in seen:
            seen.add(task)
            fn(grad)

    return tuple([t.register_hook(first) for t in tensors if t.requires_grad])


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Whether torch warns of gradients made on another CUDA stream; there are no streams here, and no warnings.

    Source: `torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch`.
    """


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
        if not t._inference:
            t._vc.version += 1


def _unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the version counters of tensors; nothing stops a write from going unnoticed then.

    RuntimeError for negative versions, other lengths, inference tensors.
    Source: `torch._C._autograd._unsafe_set_version_counter`.
    """
    name = "_unsafe_set_version_counter"
    if not (
        isinstance(tensors, Sequence) and isinstance(versions, Sequence)
        and all(isinstance(t, Tensor) for t in tensors) and all(isinstance(v, int) for v in versions)
    ):  # fmt: skip
        raise TypeError(
            f"{name}(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: "
            "collections.abc.Sequence[torch.Tensor], arg1: collections.abc.Sequence[typing.SupportsInt | "
            f"typing.SupportsIndex]) -> None\n\nInvoked with: {tensors!r}, {versions!r}"
        )
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for t, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        if t._inference:
            raise RuntimeError(
                "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. "
                "Was it created in inference mode?"
            )
        t._vc.version = version


def __getattr__(name: str) -> object:
    raise missing("module 'torch.autograd.graph' has no attribute '{}'", name)


__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]  # fmt: skip
