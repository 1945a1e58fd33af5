"""Walking the graph backward: in torch's order, iteratively, for graphs of any depth.

Source: torch's autograd engine (`engine.cpp`): ready nodes run by falling sequence number, AccumulateGrad first; nodes
of equal rank leave the queue as a binary heap in the C++ standard library would let them.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any

from ..warn import warn_in_torch
from . import anomaly, hooks
from .history import CopySlices
from .modes import MODES
from .node import AccumulateGrad, Edge, Node
from .saved import FREED, HOOKS, value_of


def _count(holder: tuple) -> int:
    held = holder[0]
    return sys.getrefcount(held)


_ALONE = _count((object(),))  # held by one container and one local; measured, since Python's versions count differently


class _Root(Node):
    """Stands before several roots, so that backward starts from one node."""

    __slots__ = ("grads",)

    def __init__(self, edges: tuple, grads: tuple) -> None:
        self._edges, self.grads, self._hooks, self._saved, self._seq = edges, grads, None, (), 0

    def apply(self, grads: tuple) -> tuple:
        return self.grads


def _push(heap: list[Node], fn: Node) -> None:
    heap.append(fn)
    i, seq = len(heap) - 1, fn._seq
    while i > 0 and heap[(i - 1) >> 1]._seq < seq:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = fn


def _pop(heap: list[Node]) -> Node:
    if len(heap) == 1:
        return heap.pop()
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


def _dependencies(root: Node) -> dict[Node, int]:
    """How many gradients each node below `root` waits for."""
    waits: dict[Node, int] = {}
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


def _on_the_way(root: Node, goals: set[Node]) -> set[Node]:
    """The nodes from which a goal can be reached, the goals themselves left out unless one lies below."""
    needed: set[Node] = set()
    seen = {root}
    stack: list[tuple[Node, int]] = [(root, 0)]
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

    __slots__ = (
        "callbacks",
        "captured",
        "captures",
        "ends",
        "id",
        "keep_graph",
        "needed",
        "roots",
        "waits",
        "warnings",
    )
    waits: dict[Node, int]

    def __init__(self, keep_graph: bool, roots: tuple) -> None:
        self.id = _next_id()
        self.keep_graph, self.roots = keep_graph, roots
        self.captures: dict[Node, list] = {}
        self.captured: list[Any] = []
        self.needed: set[Node] | None = None
        self.ends: set[Node] = set()  # those among them that run for the sake of their own gradient alone
        self.callbacks: list = []
        self.warnings: list = []  # what torch's engine has to say comes when the walk is over

    def will_run(self, fn: Node) -> bool:
        """Whether this walk comes to a node."""
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
    edges: tuple,
    grads: tuple,
    keep_graph: bool,
    create_graph: bool,
    inputs: tuple | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Walk backward from `edges` with `grads`; gradients of `inputs` are returned, or accumulated into leaves.

    `inputs`: edges to stop at, or None for every leaf. Returns one gradient (or None) for each of `inputs` if not
    `accumulate`.
    """
    task = Task(keep_graph, edges)
    starts: list = []
    for i, (fn, nr) in enumerate(edges):
        starts.append(None if grads[i] is None else _fitted(None, i, grads[i], *fn.expects(nr)))
    if create_graph and accumulate:
        task.warnings.append((_CYCLE, "torch/csrc/autograd/engine.cpp:1307", True))
    if len(edges) == 1:
        (root, nr), first = edges[0], starts[0]
    else:
        root, nr, first = _Root(edges, tuple(starts)), 0, None
    del starts
    task.waits = _dependencies(root)
    if inputs is not None:
        _aim(task, root, inputs, accumulate)
    _walk_in_its_mode(task, root, nr, first, create_graph)
    return task.captured


def run_from(edge: Edge, grad: Any, keep_graph: bool) -> None:
    """Walk backward from one edge to every leaf: the usual `backward()`."""
    task = Task(keep_graph, (edge,))
    root, nr = edge
    grad = _fitted(None, 0, grad, *root.expects(nr))  # which `.data` may have made unfit
    task.waits = _dependencies(root)
    _walk_in_its_mode(task, root, nr, grad, False)


def _walk_in_its_mode(task: Task, root: Node, nr: Any, first: Any, create_graph: bool) -> None:
    here, running = MODES.here, RUNNING
    outside, here.grad = here.grad, create_graph
    outer, running.task = running.task, task
    saving, changes = HOOKS.here() if HOOKS else [], HOOKS.changes
    through = False
    try:
        _walk(here, task, root, nr, first)
        for callback in task.callbacks:
            callback()
        through = True
    finally:
        here.grad, running.task = outside, outer
        if HOOKS.changes != changes:
            HOOKS.restore(saving)
        for said in task.warnings:
            _say(said, through)


def _say(said: tuple, through: bool) -> None:
    """Warn of something; where warnings are errors and another one is on its way already, print it, as torch does."""
    try:
        warn_in_torch(*said)
    except Warning as warning:
        if through:
            raise
        print(f"{type(warning).__name__}: {warning}", file=sys.stderr)


def _aim(task: Task, root: Node, inputs: tuple, accumulate: bool) -> None:
    """Tell a task which nodes it is to come to: those on the way to `inputs`, and which gradients to catch there."""
    task.captured = [None] * len(inputs)
    goals: set[Node] = set()
    for at, edge in enumerate(inputs):
        if edge is not None:
            goals.add(edge[0])
            if not accumulate:
                task.captures.setdefault(edge[0], []).append((0 if type(edge[0]) is AccumulateGrad else edge[1], at))
    task.needed = _on_the_way(root, goals)
    task.ends = goals - task.needed if accumulate else task.ends
    task.needed |= task.ends


def _buffer(edge: Any) -> list[Any]:
    """Room for the gradients that reach a node: one for each output; for a leaf's accumulator one, and the leaf."""
    node, at = edge
    return [None, at] if type(node) is AccumulateGrad else [None] * node._outputs


def _walk(here: Any, task: Task, root: Node, nr: Any, first: Any) -> None:
    waits, needed, captures, captured = task.waits, task.needed, task.captures, task.captured
    anomalous, keep_graph = MODES.anomaly, task.keep_graph
    watched = anomalous or needed is not None
    buffer = _buffer((root, nr))
    buffer[0 if type(root) is AccumulateGrad else nr] = first
    buffers: dict[Node, list[Any]] = {root: buffer}
    del buffer, first
    fn, heap = root, [root]
    mode, saving, changes = here.grad, HOOKS.here() if HOOKS else [], HOOKS.changes
    try:
        while heap:
            fn = heap.pop() if len(heap) == 1 else _pop(heap)
            here.grad = mode  # whatever hooks of the node before have set
            if HOOKS.changes != changes:
                changes = HOOKS.restore(saving)
            grads: Any = buffers.pop(fn)
            leaf = None
            if type(fn) is AccumulateGrad:
                leaf = grads.pop()
                if leaf is None:  # the accumulator itself knows it, since someone has seen it
                    leaf = fn.variable
            if needed is not None:
                if fn not in needed:  # wanted for its own sake: hooks on the tensor come first
                    grads = _tensor_hooks(fn, leaf, tuple(grads))
                    for position, at in captures.get(fn, ()):
                        captured[at] = grads[position]
                    continue
                for position, at in captures.get(fn, ()):
                    captured[at] = grads[position]
            if fn._hooks is not None:
                grads = hooks.before_node(fn, _tensor_hooks(fn, leaf, tuple(grads)))
            elif leaf is not None and leaf._hooks is not None:
                grads = _tensor_hooks(fn, leaf, tuple(grads))
            if leaf is not None:
                _accumulate(leaf, grads, task)
                if fn._hooks is not None and fn._hooks.post:
                    hooks.after_node(fn, (), tuple(grads))
                del grads
                continue
            end = needed is not None and fn in task.ends
            alone = not watched and fn._hooks is None and not end  # else there is more to it than its formulas
            if alone:
                outputs = fn.apply(grads)
                if type(outputs) is not list:
                    outputs = list(outputs)
                if fn._hooks is not None:  # since its formulas ran, and then without what they were given
                    outputs = _hooked(fn, _fitted_all(fn, outputs), ())
            else:
                call = _call_end if end else _call
                outputs = anomaly.run(fn, call, grads, task) if anomalous else call(fn, grads, task)
            del grads
            for i, edge in enumerate(fn._edges):
                if edge is None:
                    continue
                below, position = edge
                left = waits[below] - 1
                if left:
                    waits[below] = left
                grad = outputs[i]
                if grad is not None:
                    data = grad._data
                    if below._several:
                        shape, kind, device = below.expects(position)
                    else:
                        shape, kind, device = below._shape, below._dtype, below._device
                    if data.shape != shape or data.dtype is not kind or grad._device is not device:
                        outputs[i] = grad = _fitted(fn, i, grad, shape, kind, device)
                buffer = buffers.get(below)
                if buffer is None:
                    if needed is not None and below not in needed and below not in captures:
                        continue
                    if type(below) is AccumulateGrad:
                        buffers[below] = [grad, position]
                    elif below._outputs == 1:
                        buffers[below] = [grad]
                    else:
                        buffers[below] = buffer = [None] * below._outputs
                        buffer[position] = grad
                    outputs[i] = None  # handed on; what is added stays held until all outputs are, as in torch
                elif grad is not None:
                    if type(below) is AccumulateGrad:
                        position = 0
                    before = buffer[position]
                    if before is None:
                        buffer[position] = grad
                        outputs[i] = None
                    elif here.grad or sys.getrefcount(before) > _ALONE or not _ours(before):
                        buffer[position] = before + grad
                    else:  # nobody else holds it, so its memory can take the sum
                        before.add_(grad)
                    before = None
                grad = data = buffer = None  # or they would count as holders of the gradient
                if not left:
                    if heap:
                        _push(heap, below)
                    else:
                        heap.append(below)
            del outputs
            if alone and not keep_graph:
                fn.release()
    except Exception:
        if MODES.anomaly:
            anomaly.explain(fn, task.warnings)
        raise


def _tensor_hooks(fn: Node, leaf: Any, grads: tuple) -> tuple:
    """The gradients after the hooks of the tensors that they belong to."""
    if leaf is not None:
        if leaf._hooks is not None and leaf._hooks.on_grad:
            return (hooks.call(leaf._hooks.on_grad, grads[0]),)
        return grads
    return grads if fn._hooks is None else hooks.before(fn, grads)


def _call(fn: Node, grads: Any, task: Task) -> list[Any]:
    """Run a node that is watched: its formulas, the check of what came out, its posthooks; then free what it saved."""
    given = tuple(grads) if fn._hooks is not None and fn._hooks.post else ()  # as it was before its formulas ran
    outputs: Any = fn.apply(grads)
    if type(outputs) is not list:
        outputs = list(outputs)
    if task.needed is not None and not fn.computes_all:  # what nobody asked for is not there to be checked
        outputs = [
            g if e is not None and task.will_run(e[0]) else None for g, e in zip(outputs, fn._edges, strict=False)
        ]
    outputs = _hooked(fn, _fitted_all(fn, outputs), given)
    if not task.keep_graph:
        fn.release()
    return outputs


def _fitted_all(fn: Node, outputs: list[Any]) -> list[Any]:
    """What a node has computed, each gradient as the node that it goes to expects it."""
    for i, edge in enumerate(fn._edges):
        if edge is not None and (grad := outputs[i]) is not None:
            data = grad._data
            shape, kind, device = edge[0].expects(edge[1])
            if data.shape != shape or data.dtype is not kind or grad._device is not device:
                outputs[i] = _fitted(fn, i, grad, shape, kind, device)
    return outputs


def _hooked(fn: Node, outputs: list[Any], given: tuple) -> list[Any]:
    """What the posthooks of a node make of what it has computed, from the gradients that it was given."""
    if fn._hooks is not None and fn._hooks.post:
        return list(hooks.after_node(fn, tuple(outputs), given))
    return outputs


def _call_end(fn: Node, grads: Any, task: Task) -> list[Any]:
    """Run a node for the sake of its own gradient: nobody asked for those of its inputs, so its formulas do not run."""
    outputs: Any = [None] * len(fn._edges)
    inner: Any = fn.fn if type(fn) is CopySlices else fn
    if inner is None:
        raise RuntimeError(FREED)
    if inner.computes_all:
        return _call(fn, grads, task)
    for saved in inner._saved or ():
        value_of(saved, inner)  # read all the same, so that it says what was freed or changed, and hooks see it
    if fn._hooks is not None and fn._hooks.post:
        outputs = list(hooks.after_node(fn, tuple(outputs), tuple(grads)))
    if not task.keep_graph:
        fn.release()
    return outputs


def _ours(grad: Any) -> bool:
    """Whether a gradient that nobody else holds has memory that nobody else looks at."""
    storage = grad._storage
    return storage is None or (sys.getrefcount(storage) <= _ALONE and grad._data.flags.forc)


def _fitted(fn: Node | None, i: int, grad: Any, shape: tuple, kind: Any, device: Any) -> Any:
    """A gradient brought to the shape and dtype of its value, or torch's error; `fn` is None for roots."""
    data = grad._data
    if data.shape == shape and data.dtype is kind and grad._device is device:
        return grad
    who = "" if fn is None else f"Function {fn.name()} returned an "
    if data.shape != shape:
        have = data.shape
        fits = len(shape) <= len(have) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(have)))  # noqa: B905
        if not fits:
            raise RuntimeError(
                f"{who}invalid gradient at index {i} - got {list(have)} but expected shape "
                f"compatible with {list(shape)}"
            )
        grad = grad.sum_to_size(shape)
    if kind is not None and grad._data.dtype != kind:
        grad = grad._to_numpy_dtype(kind)
    if grad._device is not device:
        if grad._data.ndim == 0:
            return grad.to(device)
        raise RuntimeError(f"{who}invalid gradient at index {i} - expected device {device} but got {grad._device}")
    return grad


def _accumulate(leaf: Any, grads: Any, task: Task) -> None:
    """Add a gradient to a leaf's `.grad`: in place, or out of place if the graph of the gradient is being built."""
    grad = grads[0]
    if grad is not None:
        if (leaf._fn if leaf._view is None else leaf.grad_fn) is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        old = leaf._grad
        if not leaf._requires_grad:
            pass
        elif old is None:
            # Nobody else holds a fresh gradient (only the tuple and this frame do), so its memory can become `.grad`.
            if not MODES.here.grad and sys.getrefcount(grad) <= _ALONE and grad._obeys_layout(leaf):
                plain = grad._view is None and grad._fn is None and not grad._requires_grad and grad._hooks is None
                leaf._grad = grad if plain else grad._alias()
            else:
                leaf._grad = grad._clone_in_layout(leaf)
        else:
            line = 252
            if MODES.here.grad:
                leaf._grad, line = old + grad, 282
                old = leaf._grad
            else:
                old.add_(grad)
            a = leaf._data
            if (old._data.strides != a.strides or not a.flags.forc) and not old._obeys_layout(leaf):
                place = f"torch/csrc/autograd/functions/accumulate_grad.h:{line}"
                task.warnings.append((_layouts(old, leaf), place, True))
    if leaf._hooks is not None and leaf._hooks.after_accumulate:
        for hook in list(leaf._hooks.after_accumulate.values()):
            if hook(leaf) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _layouts(grad: Any, leaf: Any) -> str:
    return (
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance."
    ) + "".join(
        f"\n{n}.sizes() = {list(t.shape)}, strides() = {list(t.stride())}" for n, t in (("grad", grad), ("param", leaf))
    )


def _call_accumulator(node: AccumulateGrad, grads: tuple) -> tuple:
    leaf, task = node.variable, Task(False, ())
    if grads[0] is not None and grads[0].shape != leaf.shape:
        leaf.detach() + grads[0]  # for its error
    _accumulate(leaf, grads, task)
    return ()


AccumulateGrad.apply = _call_accumulator  # type: ignore[method-assign]
