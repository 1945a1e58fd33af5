"""Walking the graph backward: in torch's order, iteratively, for graphs of any depth.

Gradients are plain arrays on their way; where the gradient's own graph is wanted (`create_graph=True`) they are tensors,
and a hook or a custom Function is handed a tensor over the array. Source: torch's autograd engine (`engine.cpp`): ready
nodes run by falling sequence number, leaves first; nodes of equal rank leave the queue as a binary heap in the C++
standard library would let them.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any

import numpy as np

from ..dtypes import BY_NUM
from ..errors import warn_in_torch
from . import hooks
from .history import CopySlices, edge_of
from .meta import LAST, meta, needs_grad
from .modes import MODES
from .node import Edge, MultiNode, Node, expectation
from .saved import FREED, HOOKS, read

ndarray = np.ndarray


class _Root(MultiNode):
    """Stands before several roots, so that backward starts from one node."""

    __slots__ = ("grads",)

    def __init__(self, edges: tuple, grads: list) -> None:
        self._edges, self.grads, self._hooks, self._saved, self._seq, self._outputs = edges, grads, None, (), 0, 0

    def apply(self, grads: list, raw: bool) -> list:
        """The gradients that the walk starts with."""
        return list(self.grads)


def _push(heap: list, fn: Any) -> None:
    heap.append(fn)
    i, seq = len(heap) - 1, fn._seq
    while i > 0 and heap[(i - 1) >> 1]._seq < seq:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = fn


def _pop(heap: list) -> Any:
    top, last = heap[0], heap.pop()
    n, i = len(heap), 0
    while (child := 2 * i + 2) < n:
        if heap[child]._seq < heap[child - 1]._seq:
            child -= 1
        heap[i] = heap[child]
        i = child
    if child == n:
        heap[i] = heap[n - 1]
        i = n - 1
    while i > 0 and heap[(i - 1) >> 1]._seq < last._seq:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = last
    return top


def _dependencies(root: Any) -> dict[Any, int]:
    """How many gradients each node below `root` waits for."""
    waits: dict[Any, int] = {}
    stack = [root]
    while stack:
        for edge in stack.pop()._edges:
            if edge is not None:
                fn = edge[0]
                if fn in waits:
                    waits[fn] += 1
                else:
                    waits[fn] = 1
                    if fn._edges:
                        stack.append(fn)
    return waits


def _on_the_way(root: Any, goals: set) -> set:
    """The nodes from which a goal can be reached, the goals themselves left out unless one lies below."""
    needed: set = set()
    seen = {root}
    stack: list[tuple[Any, int]] = [(root, 0)]
    while stack:
        fn, i = stack.pop()
        if i < len(fn._edges):
            stack.append((fn, i + 1))
            edge = fn._edges[i]
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                stack.append((edge[0], 0))
        elif any(e is not None and (e[0] in goals or e[0] in needed) for e in fn._edges):
            needed.add(fn)
    return needed


_next_id = itertools.count().__next__


class Task:
    """One walk: what it was asked for, and which nodes it will run."""

    __slots__ = ("callbacks", "captured", "captures", "ends", "id", "keep_graph", "needed", "raw", "roots", "waits",
                 "warnings")  # fmt: skip
    waits: dict[Any, int]

    def __init__(self, keep_graph: bool, raw: bool, roots: tuple) -> None:
        self.id = _next_id()
        self.keep_graph, self.raw, self.roots = keep_graph, raw, roots
        self.captures: dict[Any, list] = {}
        self.captured: list[Any] = []
        self.needed: set | None = None
        self.ends: set = set()  # those among them that run for the sake of their own gradient alone
        self.callbacks: list = []
        self.warnings: list = []  # what torch's engine has to say comes when the walk is over

    def will_run(self, fn: Any) -> bool:
        """Whether this walk comes to a node, or to a leaf."""
        return fn in self.waits if self.needed is None else fn in self.needed or fn in self.captures


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which "
    "can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use "
    "this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid "
    "the leak."
)


class _Running(threading.local):
    task: Task | None = None


RUNNING = _Running()


def run(
    edges: tuple[Edge, ...],
    grads: tuple,
    keep_graph: bool,
    create_graph: bool,
    inputs: tuple | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Walk backward from `edges` with `grads` (tensors); gradients of `inputs` are returned, or accumulated into leaves.

    `inputs`: edges to stop at, or None for every leaf. Returns one gradient (or None) for each of `inputs` if not
    `accumulate`.
    """
    raw = not create_graph
    task = Task(keep_graph, raw, edges)
    starts: list = []
    for i, (edge, grad) in enumerate(zip(edges, grads, strict=True)):
        start = None if grad is None else _fitted(None, i, grad, _expected(edge))
        starts.append(start._data if raw and start is not None else start)
    if create_graph and accumulate:
        task.warnings.append((_CYCLE, "torch/csrc/autograd/engine.cpp:1307", True))
    if len(edges) == 1:
        (root, nr), first = edges[0], starts[0]
    else:
        root, nr, first = _Root(edges, starts), 0, None
    del starts
    task.waits = _dependencies(root)
    if inputs is not None:
        _aim(task, root, inputs, accumulate)
    _walk_in_its_mode(task, root, nr, first)
    return task.captured


def _expected(edge: Edge) -> tuple:
    """Shape, dtype and device that a gradient must have that goes along an edge."""
    fn, nr = edge
    return expectation(fn) if fn._leaf else fn.expects(nr)


def _walk_in_its_mode(task: Task, root: Any, nr: int, first: Any) -> None:
    here, running = MODES.here, RUNNING
    grad, quiet = here.grad, here.run
    here.grad = not task.raw
    outer, running.task = running.task, task
    saving, changes = HOOKS.here() if HOOKS else [], HOOKS.changes
    through = False
    try:
        if task.raw and quiet is not _directly:  # the whole walk without NumPy's floating point warnings
            here.run = _directly
            quiet(_walk, here, task, root, nr, first)
        else:
            _walk(here, task, root, nr, first)
        for callback in task.callbacks:
            callback()
        through = True
    finally:
        here.grad, here.run, running.task = grad, quiet, outer
        if HOOKS.changes != changes:
            HOOKS.restore(saving)
        for said in task.warnings:
            _say(said, through)


def _directly(f: Any, *args: Any, **named: Any) -> Any:
    return f(*args, **named)


def _say(said: tuple, through: bool) -> None:
    """Warn of something; where warnings are errors and another one is on its way already, print it, as torch does."""
    try:
        warn_in_torch(*said)
    except Warning as warning:
        if through:
            raise
        print(f"{type(warning).__name__}: {warning}", file=sys.stderr)


def _aim(task: Task, root: Any, inputs: tuple, accumulate: bool) -> None:
    """Tell a task which nodes it is to come to: those on the way to `inputs`, and which gradients to catch there."""
    task.captured = [None] * len(inputs)
    goals: set = set()
    for at, edge in enumerate(inputs):
        if edge is not None:
            goals.add(edge[0])
            if not accumulate:
                task.captures.setdefault(edge[0], []).append((edge[1], at))
    task.needed = _on_the_way(root, goals)
    task.ends = goals - task.needed if accumulate else task.ends
    task.needed |= task.ends


def _walk(here: Any, task: Task, root: Any, nr: int, first: Any) -> None:
    waits, needed, captures, raw = task.waits, task.needed, task.captures, task.raw
    keep_graph, mode = task.keep_graph, here.grad
    careful = MODES.anomaly or needed is not None
    buffers: dict[Any, list] = {root: [None] * root._outputs}
    if root._outputs:
        buffers[root][nr] = first
    del first
    owned: set = set()  # the nodes whose one gradient was made for them alone, so that its memory may be used
    fn, heap = root, [root]
    saving, changes = HOOKS.here() if HOOKS else [], HOOKS.changes
    try:
        while heap:
            fn = heap.pop() if len(heap) == 1 else _pop(heap)
            here.grad = mode  # whatever hooks of the node before have set
            if HOOKS.changes != changes:
                changes = HOOKS.restore(saving)
            grads = buffers.pop(fn)
            if fn._leaf:
                _at_leaf(fn, grads[0], fn in owned, task)
                continue
            if careful or fn._hooks is not None:
                outputs = _watched(fn, grads, task)
                if outputs is None:
                    continue
                own = False
            else:
                outputs = fn.apply(grads, raw)
                own = raw and fn._fresh
                if fn._hooks is not None:  # since its formulas ran, and then without what they were given
                    outputs, own = _hooked(fn, outputs, [], raw), False
                if not keep_graph:
                    fn.release()
            for i, edge in enumerate(fn._edges):
                if edge is None:
                    continue
                below, position = edge
                left = waits[below] = waits[below] - 1
                grad = outputs[i]
                if grad is not None:
                    if below._leaf:
                        data, m = below._data, below._meta
                        shape, kind = data.shape, data.dtype if m.grad_dtype is ... else m.grad_dtype
                    elif below._several:
                        shape, kind, _ = below._expects[position]
                    else:
                        shape, kind, _ = below._expects
                    if raw:
                        if grad.shape != shape or grad.dtype is not kind or type(grad) is not ndarray:
                            grad = _fitted_array(fn, i, grad, _expected(edge))
                    elif grad._data.shape != shape or grad._data.dtype is not kind or grad.device is not below_device(below, position):
                        grad = _fitted(fn, i, grad, _expected(edge))
                buffer = buffers.get(below)
                if buffer is None:
                    if needed is None or below in needed or below in captures:
                        if below._outputs == 1:
                            buffers[below] = [grad]
                            if own and grad is not None and grad.base is None and grad is not grads[0] and _once(outputs, i):
                                owned.add(below)
                        else:
                            buffers[below] = buffer = [None] * below._outputs
                            buffer[position] = grad
                elif grad is not None:
                    before = buffer[position]
                    if before is None:
                        buffer[position] = grad
                    elif below in owned:
                        np.add(before, grad, out=before)
                    else:
                        total = before + grad
                        if raw and type(total) is not ndarray:
                            total = np.asarray(total)
                        buffer[position] = total
                        if raw and below._outputs == 1:
                            owned.add(below)
                if not left and below in buffers:
                    if heap:
                        _push(heap, below)
                    else:
                        heap.append(below)
    except Exception:
        if MODES.anomaly:
            from . import anomaly

            anomaly.explain(fn, task.warnings)
        raise


def _once(outputs: list, i: int) -> bool:
    grad = outputs[i]
    return not any([grad is other for j, other in enumerate(outputs) if j != i])


def below_device(fn: Any, nr: int) -> Any:
    """The device of what a gradient belongs to."""
    return fn.device if fn._leaf else fn.expects(nr)[2]


# what is watched: hooks, ends, anomalies ----------------------------------------------------------------------------------


def as_tensor(grad: Any, device: Any) -> Any:
    """A tensor over a gradient that is an array."""
    if grad is None or type(grad) is not ndarray:
        return grad if grad is None or not isinstance(grad, np.generic) else as_tensor(np.asarray(grad), device)
    from ..tensor import over

    return over(grad, device)


def _tensors(fn: Any, grads: Any, raw: bool) -> tuple:
    """The gradients of a node's outputs as hooks see them."""
    return tuple([as_tensor(g, fn.expects(nr)[2]) for nr, g in enumerate(grads)]) if raw else tuple(grads)


def _arrays(grads: Any, raw: bool) -> list:
    return [g if g is None or not raw else g._data for g in grads]


def _watched(fn: Any, grads: list, task: Task) -> list | None:
    """Run a node that hooks, the walk's goals or anomaly mode have to do with; None if the walk ends here."""
    needed, raw = task.needed, task.raw
    seen: Any = None
    if needed is not None and (fn not in needed or fn in task.captures):
        seen = _tensors(fn, grads, raw)
        if fn not in needed and fn._hooks is not None:  # wanted for its own sake: hooks on the tensor come first
            seen = hooks.before(fn, seen)
        for position, at in task.captures.get(fn, ()):
            task.captured[at] = seen[position]
        if fn not in needed:
            return None
    if fn._hooks is not None:
        seen = hooks.before_node(fn, hooks.before(fn, _tensors(fn, grads, raw)))
        grads = _arrays(seen, raw)
    end = needed is not None and fn in task.ends
    call = _call_end if end else _call
    if not MODES.anomaly:
        return call(fn, grads, task)
    from . import anomaly

    return anomaly.run(fn, call, grads, task)


def _call(fn: Any, grads: list, task: Task) -> list:
    """Run a node that is watched: its formulas, the check of what came out, its posthooks; then free what it saved."""
    given = list(grads)
    outputs = fn.apply(grads, task.raw)
    if task.needed is not None and not fn.computes_all:  # what nobody asked for is not there to be checked
        outputs = [
            g if e is not None and task.will_run(e[0]) else None for g, e in zip(outputs, fn._edges, strict=False)
        ]
    outputs = _hooked(fn, outputs, given, task.raw)
    if not task.keep_graph:
        fn.release()
    return outputs


def _hooked(fn: Any, outputs: list, given: list, raw: bool) -> list:
    """What the posthooks of a node make of what it has computed, from the gradients that it was given."""
    fit = _fitted_array if raw else _fitted
    outputs = list(outputs)
    for i, edge in enumerate(fn._edges):
        if edge is not None and outputs[i] is not None:
            outputs[i] = fit(fn, i, outputs[i], _expected(edge))
    if fn._hooks is None or not fn._hooks.post:
        return outputs
    devices = [CPU_OF(e) for e in fn._edges]
    seen = tuple([as_tensor(g, d) if raw else g for g, d in zip(outputs, devices, strict=True)])
    return _arrays(hooks.after_node(fn, seen, _tensors(fn, given, raw)), raw)


def CPU_OF(edge: Any) -> Any:  # noqa: N802
    """The device that an edge leads to."""
    return None if edge is None else _expected(edge)[2]


def _call_end(fn: Any, grads: list, task: Task) -> list:
    """Run a node for the sake of its own gradient: nobody asked for those of its inputs, so its formulas do not run."""
    inner: Any = fn.fn if type(fn) is CopySlices else fn
    if inner is None:
        raise RuntimeError(FREED)
    if inner.computes_all:
        return _call(fn, grads, task)
    for at in range(len(inner._saved) // 2):
        read(inner, at, False)  # all the same, so that it says what was freed or changed, and hooks see it
    outputs = _hooked(fn, [None] * len(fn._edges), grads, task.raw)
    if not task.keep_graph:
        fn.release()
    return outputs


# gradients as they must be --------------------------------------------------------------------------------------------------


def _check_shape(fn: Any, i: int, have: tuple, shape: tuple) -> None:
    """Raise torch's error unless a gradient of shape `have` can be summed to `shape`."""
    if len(shape) > len(have) or any(a not in (1, b) for a, b in zip(reversed(shape), reversed(have), strict=False)):
        who = "" if fn is None else f"Function {fn.name()} returned an "
        raise RuntimeError(
            f"{who}invalid gradient at index {i} - got {list(have)} but expected shape compatible with {list(shape)}"
        )


def _fitted_array(fn: Any, i: int, grad: Any, expected: tuple) -> ndarray:
    """A gradient as an array, brought to the shape and dtype of its value, or torch's error."""
    shape, kind, _ = expected
    grad = np.asarray(grad)
    if grad.shape != shape:
        _check_shape(fn, i, grad.shape, shape)
        lead = grad.ndim - len(shape)
        dims = [*range(lead), *[d for d in range(lead, grad.ndim) if shape[d - lead] == 1 != grad.shape[d]]]
        grad = np.asarray(grad.sum(tuple(dims))).reshape(shape)
    return grad if kind is None or grad.dtype == kind else grad.astype(kind)


def _fitted(fn: Any, i: int, grad: Any, expected: tuple) -> Any:
    """A gradient as a tensor, brought to the shape and dtype of its value, or torch's error; `fn` is None for roots."""
    shape, kind, device = expected
    if grad.shape != shape:
        _check_shape(fn, i, tuple(grad.shape), shape)
        grad = grad.sum_to_size(shape)
    if kind is not None and grad._data.dtype != kind:
        grad = grad.to(BY_NUM[kind.num])
    if device is not None and grad.device is not device:
        if grad.ndim == 0:
            return grad.to(device)
        who = "" if fn is None else f"Function {fn.name()} returned an "
        raise RuntimeError(f"{who}invalid gradient at index {i} - expected device {device} but got {grad.device}")
    return grad


# leaves -----------------------------------------------------------------------------------------------------------------


def _at_leaf(leaf: Any, grad: Any, own: bool, task: Task) -> None:
    """A leaf's gradient is complete: its hooks, then its `.grad`, then the hooks of its accumulator."""
    m, raw = leaf._meta, task.raw
    wanted = task.needed is None or leaf in task.needed
    node = m.accumulator and m.accumulator()
    seen: Any = None
    if not wanted:
        seen = as_tensor(grad, leaf.device) if raw else grad
        if m.on_grad:
            seen = hooks.run_tensor_hooks(m.on_grad, seen)
        for _, at in task.captures.get(leaf, ()):
            task.captured[at] = seen
        return
    if task.captures and leaf in task.captures:
        for _, at in task.captures[leaf]:
            task.captured[at] = as_tensor(grad, leaf.device) if raw else grad
    if m.on_grad or (node is not None and node._hooks is not None):
        seen = as_tensor(grad, leaf.device) if raw else grad
        if m.on_grad:
            seen = hooks.run_tensor_hooks(m.on_grad, seen)
        if node is not None and node._hooks is not None:
            (seen,) = hooks.before_node(node, hooks.before(node, (seen,)))
        own, grad = False, seen
    _accumulate(leaf, grad, own, task.warnings)
    if node is not None and node._hooks is not None and node._hooks.post:
        hooks.after_node(node, (), (seen,))


def _obeys_layout(grad: ndarray, like: ndarray) -> bool:
    """Whether a gradient lies as torch wants the gradient of a leaf: as the leaf if that is dense, else row-major."""
    from ..ops.layout import is_dense

    if is_dense(like):
        return all([s == t or n == 1 for s, t, n in zip(grad.strides, like.strides, like.shape, strict=True)])
    return grad.flags.c_contiguous


def _accumulate(leaf: Any, grad: Any, own: bool, warnings: list) -> None:
    """Add a gradient (an array, or a tensor) to a leaf's `.grad`: in place, or out of place if a graph of it is built.

    `own`: the array's memory is nobody else's, so that it may become that of `.grad`.
    """
    m = leaf._meta
    if grad is not None:
        if leaf._view is not None:
            edge_of(leaf)
        if leaf._edge is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        old, recorded = m.grad, MODES.here.grad
        if not m.requires_grad:
            pass
        elif old is None:
            data = grad if type(grad) is ndarray else grad._data
            if recorded and needs_grad(grad):
                m.grad = _clone_in_layout(grad, leaf)
            elif own and (data.strides == leaf._data.strides or _obeys_layout(data, leaf._data)):
                m.grad = as_tensor(data, leaf.device)
            else:
                m.grad = as_tensor(_copied_in_layout(data, leaf._data), leaf.device)
        elif type(grad) is ndarray and old.device is leaf.device and old._data.dtype is grad.dtype and old._edge is None:
            np.add(old._data, grad, out=old._data)
            old._counter[0] += 1
        else:
            grad = as_tensor(grad, leaf.device)
            if recorded:
                m.grad = old = old + grad
            else:
                old.add_(grad)
        if old is not None:
            a = leaf._data
            if (old._data.strides != a.strides or not a.flags.forc) and not _obeys_layout(old._data, a):
                line = 282 if recorded else 252
                warnings.append((_layouts(old, leaf), f"torch/csrc/autograd/functions/accumulate_grad.h:{line}", True))
    if m.after_accumulate:
        hooks.after_accumulate(leaf)


def _copied_in_layout(data: ndarray, like: ndarray) -> ndarray:
    """A copy of a gradient that lies as torch wants it for this leaf."""
    from ..ops.layout import is_dense, laid_out
    from ..storage import contiguous_strides

    want = like.strides if is_dense(like) else contiguous_strides(data.shape, data.itemsize)
    if like.itemsize != data.itemsize:
        want = tuple([s // like.itemsize * data.itemsize for s in want])
    return data.copy() if data.flags.c_contiguous and want == data.strides else laid_out(data.view(), want) if want != data.strides else data.copy("K")


def _clone_in_layout(grad: Any, leaf: Any) -> Any:
    """A recorded copy of a gradient that lies as torch wants it for this leaf."""
    from ..ops.copies import clone, copy_
    from ..ops.creation import new_empty_strided
    from ..ops.layout import is_dense

    if _obeys_layout(grad._data, leaf._data) or not is_dense(leaf._data):
        return clone(grad)
    return copy_(new_empty_strided(grad.detach(), tuple(leaf.shape), leaf.stride()), grad)


def _layouts(grad: Any, leaf: Any) -> str:
    return (
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance."
    ) + "".join(
        f"\n{n}.sizes() = {list(t.shape)}, strides() = {list(t.stride())}" for n, t in (("grad", grad), ("param", leaf))
    )


def accumulate_by_hand(leaf: Any, grad: Any) -> None:
    """What calling a leaf's AccumulateGrad does."""
    if grad is not None and grad.shape != leaf.shape:
        leaf.detach() + grad  # for its error
    meta(leaf)
    _accumulate(leaf, grad, False, [])


__all__ = ["LAST", "RUNNING", "Task", "run"]
