"""The backward that is running: which node, which nodes will run, what is to be called when it is over.

Source: the inner functions of `torch._C` about graph tasks, and `Variable._execution_engine`.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable
from typing import Any

from ..graph import backward as engine
from ..graph.backward import RUNNING, Task
from ..graph.node import AccumulateGrad, Node
from ..naming import type_name
from .grad_mode import THREADS


def current_graph_task_id() -> int:
    """The number of the backward that runs, -1 if none does."""
    return -1 if RUNNING.task is None else RUNNING.task.id


def current_graph_task_keep_graph() -> bool:
    """Whether the running backward keeps the graph; True if none runs."""
    return True if RUNNING.task is None else bool(RUNNING.task.keep_graph)


_RUN, _WALK = engine._call.__code__, engine._walk.__code__


def current_autograd_node() -> Node | None:
    """The node that a running backward has come to, hooks included."""
    frame: Any = sys._getframe(1) if RUNNING.task is not None else None
    while frame is not None:
        if frame.f_code is _RUN or frame.f_code is _WALK:
            return frame.f_locals["fn"]
        frame = frame.f_back
    return None


def _task(who: str) -> Task:
    if RUNNING.task is None:
        raise RuntimeError(f"{who} should only be called during the backward pass")
    return RUNNING.task


def will_engine_execute_node(fn: Node) -> bool:
    """Whether the running backward comes to a node. RuntimeError outside of backward, and for what is no node."""
    if not isinstance(fn, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type_name(fn)}")
    task = _task("_get_should_execute_nodes")
    if type(fn) is AccumulateGrad and task.needed is not None and fn in task.captures:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return fn in task.waits and task.will_run(fn)  # an only root waits for nothing, and torch does not count it


def current_graph_task_execution_order() -> list[Node]:
    """The nodes in the order in which the running backward comes to them.

    RuntimeError outside of backward, and unless several threads are ruled out.
    """
    task = _task("_current_graph_task_execution_order")
    if THREADS.allowed:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed with multithreading "
            "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n...     "
            "torch.autograd.grad(...)\n"
        )
    waits, order = dict(task.waits), []
    ready = [(-fn._seq, i, fn) for i, (fn, _) in enumerate(task.roots)]
    heapq.heapify(ready)
    while ready:
        fn = heapq.heappop(ready)[2]
        order.append(fn)
        for edge in fn._edges:
            if edge is None or (task.needed is not None and not task.will_run(edge[0])):
                continue
            below = edge[0]
            waits[below] -= 1
            if not waits[below]:
                heapq.heappush(ready, (-below._seq, len(order) + len(ready), below))
    return order


class _EngineBase:
    """What is left of torch's engine as an object: a place to say what is to be called when backward is over."""

    __module__ = "torch._C"

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call something without arguments when the running backward is over. RuntimeError outside of backward."""
        if RUNNING.task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        RUNNING.task.callbacks.append(callback)


__all__ = ["current_autograd_node", "current_graph_task_execution_order", "current_graph_task_id", "current_graph_task_keep_graph",
           "will_engine_execute_node"]  # fmt: skip
