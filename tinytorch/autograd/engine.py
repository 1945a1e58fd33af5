"""Walking the graph backward: in torch's order, iteratively, for graphs of any depth.

Gradients are plain arrays on their way; where the gradient's own graph is wanted (`create_graph=True`) they are tensors,
and a hook or a custom Function is handed a tensor over the array. Source: torch's autograd engine (`engine.cpp`): ready
nodes run by falling sequence number, leaves first; nodes of equal rank leave the queue as a binary heap in the C++
standard library would let them.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..devices import CPU
from ..errors import warn_in_torch
from ..ops.layout import is_dense
from . import hooks
from .gradients import (
    accumulate,
    as_arrays,
    as_tensor,
    as_tensors,
    expected,
    fitted,
    know,
    laid,
    resolved,
    state_fitted,
    state_of,
)
from .history import CopySlices
from .meta import LAST, meta
from .modes import MODES
from .node import ALONE, SHARED, TWICE, VERSION, Edge, MultiNode, Outputs, expectation, shown_edge
from .saved import FREED, HOOKS, read

ndarray = np.ndarray


class _Root(MultiNode):
    """Stands before several roots, so that backward starts from one node."""

    __slots__ = ("grads",)

    def __init__(self, edges: tuple, grads: list) -> None:
        self._edges, self.grads, self._hooks, self._saved, self._seq, self._outputs = edges, grads, None, (), 0, 0

    def apply(self, grads: list, raw: bool) -> list:
        """The gradients that the walk starts with."""
        return Outputs(self.grads, [SHARED] * len(self.grads))


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


def _dependencies(root: Any) -> tuple[dict[Any, int], bool]:
    """How many gradients each node below `root` waits for; and whether leaves are the only ones of their rank."""
    waits: dict[Any, int] = {}
    stack, alone = [root], True
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
                        if fn._seq == LAST:
                            alone = False
    return waits, alone


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


class Task:
    """One walk: what it was asked for, and which nodes it will run."""

    waits: dict[Any, int]
    captures: dict[Any, list] = {}
    captured: list[Any] = []
    needed: set | None = None
    ends: set = frozenset()  # type: ignore[assignment] # those among them that run for the sake of their own gradient alone

    def __init__(self, keep_graph: bool, raw: bool) -> None:
        self.keep_graph, self.raw = keep_graph, raw
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
    task = Task(keep_graph, raw)
    starts = [g if g is None else fitted(None, i, g, expected(edges[i])) for i, g in enumerate(grads)]
    know(*starts)  # hooks are given the very tensors
    arrays = [g if g is None or not raw else g._data for g in starts]
    if create_graph and accumulate:
        task.warnings.append((_CYCLE, "torch/csrc/autograd/engine.cpp:1307", True))
    edge, first = (edges[0], arrays[0]) if len(edges) == 1 else ((_Root(edges, arrays), 0), None)
    del arrays
    go(task, edge, first, inputs, accumulate)
    return task.captured


def go(task: Task, edge: Edge, first: Any, inputs: tuple | None = None, accumulate: bool = True) -> None:
    """Walk from one edge with a gradient that fits it."""
    root = edge[0]
    task.waits, alone = _dependencies(root)
    if inputs is not None:
        _aim(task, root, inputs, accumulate)
    here, raw = MODES.here, task.raw
    grad, quiet = here.grad, here.run
    here.grad = not raw
    saving, changes = HOOKS.here() if HOOKS else [], HOOKS.changes
    through = False
    try:
        if raw and quiet is not _directly:  # the whole walk without NumPy's floating point warnings
            here.run = _directly
            quiet(_walk, here, task, edge, first, alone, saving)
        else:
            _walk(here, task, edge, first, alone, saving)
        through = True
    finally:
        here.grad, here.run = grad, quiet
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
    task.captured, task.captures = [None] * len(inputs), {}
    goals: set = set()
    for at, edge in enumerate(inputs):
        if edge is not None:
            goals.add(edge[0])
            if not accumulate:
                task.captures.setdefault(edge[0], []).append((edge[1], at))
    task.needed = _on_the_way(root, goals)
    task.ends = goals - task.needed if accumulate else task.ends
    task.needed |= task.ends


def _walk(here: Any, task: Task, edge: Any, first: Any, alone: bool, saving: list) -> None:
    waits, needed, captures, raw = task.waits, task.needed, task.captures, task.raw
    keep_graph, mode, watched = task.keep_graph, not raw, MODES.anomaly
    careful, alone, warnings = watched or needed is not None, alone and not watched, task.warnings
    fn, nr = edge
    following: Any = fn  # the one node that is ready, and what waits for it, so far as nothing else is
    ahead: tuple = ([first], [SHARED]) if fn._outputs < 2 else ([None] * fn._outputs, [SHARED] * fn._outputs)
    ahead[0][nr] = first
    del first
    buffers: dict[Any, tuple] = {}  # what waits: for each output a gradient, its state
    heap: list = []
    changes = HOOKS.changes
    try:
        while heap or following is not None:
            if following is not None:
                fn, (grads, given), following = following, ahead, None
            else:
                fn = heap.pop() if len(heap) == 1 else _pop(heap)
                grads, given = buffers.pop(fn)
            here.grad = mode  # whatever hooks of the node before have set
            if HOOKS.changes != changes:
                changes = HOOKS.restore(saving)
            if fn._leaf:
                _at_leaf(fn, grads[0], given[0], task, buffers, ())
                continue
            if careful or fn._hooks is not None or fn._on_tensors:
                given = [resolved(s, g, buffers) for s, g in zip(given, grads, strict=True)]
                if careful or fn._hooks is not None:
                    outputs = _watched(fn, grads, given, task)
                    if outputs is None:
                        continue
                else:
                    outputs = _call(fn, grads, given, task)
                here.grad = mode
            else:
                outputs = fn.apply(grads, raw)
                if fn._laid and raw and (first := grads[0]) is not None and first.ndim > 1:
                    outputs = laid(fn, grads[0], outputs)
                if fn._hooks is not None:  # since its formulas ran, and then without what they were given
                    outputs = _hooked(fn, settled(fn, grads, given, outputs, raw), [], [], raw)
                if not keep_graph:
                    fn.release()
            known = outputs.states if type(outputs) is Outputs else None
            edges, several, made, grad = fn._edges, fn._several, fn._made, None
            first = grads[0]
            for i, edge in enumerate(edges):  # noqa: PLR1704 - the first one is in the graph by now
                if edge is None:
                    continue
                below, position = edge
                left = waits[below] = waits[below] - 1
                grad, state, leaf = outputs[i], made, below._leaf
                if grad is not None:
                    if leaf:
                        data, wanted = below._data, None
                        shape, kind = data.shape, data.dtype
                        if below._meta.exchanged:
                            shape, kind, _ = wanted = expected(edge, fn._seq)
                    else:
                        shape, kind, _ = wanted = below.expects(position) if below._several else below._expects
                    if type(grad) is not ndarray or grad.shape != shape or grad.dtype is not kind:
                        grad = fitted(fn, i, grad, wanted or expectation(below))
                        state = state_fitted(outputs[i], grad)
                    elif known is not None:
                        state = known[i]
                    elif several or grad.base is not None or grad is first:
                        same = grad is first and len(outputs) == 1
                        state = given[0] if same else state_of(fn, grads, given, outputs, i)
                buffer = buffers.get(below)
                if buffer is None:
                    if leaf and not left and alone and len(edges) < 4:  # nothing that waits goes before a leaf
                        m = below._meta
                        if needed is None and m.accumulator is None and m.on_grad is None and not state & TWICE:
                            accumulate(below, grad, state, warnings)
                            here.grad = mode
                        elif needed is None or below in needed or below in captures:
                            outputs[i] = None
                            _at_leaf(below, grad, state, task, buffers, outputs)
                            here.grad = mode
                        continue
                    if needed is not None and below not in needed and below not in captures:
                        continue
                    if below._outputs == 1:
                        buffer = [grad], [state]
                        if not left and following is None and not heap:
                            following, ahead = below, buffer
                            continue
                        buffers[below] = buffer
                        grad = None  # it is there
                    else:
                        buffer = buffers[below] = [None] * below._outputs, [SHARED] * below._outputs
                if grad is not None:
                    waiting, states = buffer
                    before = waiting[position]
                    if before is None:
                        waiting[position], states[position] = grad, state
                    elif not raw:
                        waiting[position] = before + grad
                    else:
                        waiting[position] = None
                        state = resolved(states[position], before, buffers, outputs[i:])
                        if state % VERSION == ALONE and (before.flags.forc or is_dense(before)):
                            waiting[position], states[position] = np.add(before, grad, before), state + VERSION
                        else:
                            waiting[position], states[position] = np.asarray(before + grad), ALONE
                if not left:
                    if following is not None:
                        heap.append(following)
                        buffers[following], following = ahead, None
                    _push(heap, below)
            del outputs, grads, grad, first
    except Exception:
        if MODES.anomaly:
            from . import anomaly

            anomaly.explain(shown_edge((fn, 0))[0], task.warnings)
        raise


# what is watched: hooks, ends, anomalies ----------------------------------------------------------------------------------


def _watched(fn: Any, grads: list, states: list[int], task: Task) -> list | None:
    """Run a node that hooks, the walk's goals or anomaly mode have to do with; None if the walk ends here."""
    needed, raw = task.needed, task.raw
    aside = needed is not None and fn not in needed  # wanted for its own sake: hooks on the tensor come first
    if aside or fn in task.captures:
        seen = as_tensors(fn, grads, states, raw)
        if aside and fn._hooks is not None:
            seen = hooks.before(fn, seen)
        for position, at in task.captures.get(fn, ()):
            task.captured[at] = seen[position]
        if aside:
            return None
        states = [s - s % VERSION for s in states]  # since somebody holds them now
    if fn._hooks is not None:
        seen = as_tensors(fn, grads, states, raw)
        ids = set(map(id, seen))
        found = list(hooks.before_node(fn, hooks.before(fn, seen)))
        if raw:
            del seen
            found = as_arrays(found, grads, states, ids)
            states = found.states
        grads = found
    call = _call_end if needed is not None and fn in task.ends else _call
    if not MODES.anomaly:
        return call(fn, grads, states, task)
    from . import anomaly

    return anomaly.run(fn, call, grads, states, task)


def _call(fn: Any, grads: list, states: list[int], task: Task) -> list:
    """Run a node that is watched: its formulas, the check of what came out, its posthooks; then free what it saved."""
    raw, given = task.raw, list(grads)
    if raw and fn._on_tensors:
        seen = list(as_tensors(fn, grads, states, raw))
        ids = set(map(id, seen))
        found = fn.apply(seen, False)
        del seen
        outputs = as_arrays(found, grads, states, ids)
    else:
        outputs = fn.apply(grads, raw)
        if fn._laid and raw:
            outputs = laid(fn, grads[0], outputs)
    if task.needed is not None and not fn.computes_all:  # what nobody asked for is not there to be checked
        for i, edge in enumerate(fn._edges):
            if edge is None or not task.will_run(edge[0]):
                outputs[i] = None
    outputs = _hooked(fn, settled(fn, given, states, outputs, raw), given, states, raw)
    if not task.keep_graph:
        fn.release()
    return outputs


def settled(fn: Any, grads: list, states: list[int], outputs: list, raw: bool) -> Outputs:
    """What a node has computed, each gradient as the node that it goes to expects it, with its state."""
    known = outputs.states if type(outputs) is Outputs else [
        state_of(fn, grads, states, outputs, i) if raw and type(g) is ndarray else ALONE for i, g in enumerate(outputs)
    ]  # fmt: skip
    found = Outputs(outputs, known)
    for i, edge in enumerate(fn._edges):
        if edge is not None and outputs[i] is not None:
            found[i] = fitted(fn, i, outputs[i], expected(edge, fn._seq))
            if found[i] is not outputs[i]:
                known[i] = state_fitted(outputs[i], found[i])
    return found


def _hooked(fn: Any, outputs: Outputs, grads: list, states: list[int], raw: bool) -> list:
    """What the posthooks of a node make of what it has computed, from the gradients that it was given."""
    if fn._hooks is None or not fn._hooks.post:
        return outputs
    devices = [CPU if e is None else expected(e)[2] for e in fn._edges]
    seen = tuple([as_tensor(g, d, s) for g, d, s in zip(outputs, devices, outputs.states, strict=True)])
    ids = set(map(id, seen))
    found = list(hooks.after_node(fn, seen, as_tensors(fn, grads, states, raw)))
    del seen
    return as_arrays(found, outputs, outputs.states, ids) if raw else found


def _call_end(fn: Any, grads: list, states: list[int], task: Task) -> list:
    """Run a node for the sake of its own gradient: nobody asked for those of its inputs, so its formulas do not run."""
    inner: Any = fn.fn if type(fn) is CopySlices else fn
    if inner is None:
        raise RuntimeError(FREED)
    if inner.computes_all:
        return _call(fn, grads, states, task)
    for at in range(len(inner._saved) // 2):
        read(inner, at, False)  # all the same, so that it says what was freed or changed, and hooks see it
    nothing = [None] * len(fn._edges)
    outputs = _hooked(fn, Outputs(nothing, [SHARED] * len(nothing)), grads, states, task.raw)
    if not task.keep_graph:
        fn.release()
    return outputs


def _at_leaf(leaf: Any, grad: Any, state: int, task: Task, buffers: dict, outputs: Any) -> None:
    """A leaf's gradient is complete: its hooks, then its `.grad`, then the hooks of its accumulator."""
    m, raw = leaf._meta, task.raw
    if state & TWICE:
        state = resolved(state, grad, buffers, outputs)
    if m.accumulator is None and m.on_grad is None and task.needed is None:
        accumulate(leaf, grad, state, task.warnings)
        return
    grads = [grad]
    node = m.accumulator and m.accumulator()
    hooked = node is not None and node._hooks is not None
    wanted = task.needed is None or leaf in task.needed
    if m.on_grad or hooked or not wanted:
        seen = [as_tensor(grads[0], leaf.device, state)]
        ids = {id(seen[0])}
        if m.on_grad:
            seen[0] = hooks.run_tensor_hooks(m.on_grad, seen[0])
        if not wanted:
            for _, at in task.captures.get(leaf, ()):
                task.captured[at] = seen[0]
            return
        if hooked:
            seen = list(hooks.before_node(node, hooks.before(node, tuple(seen))))
        if raw:
            seen = as_arrays(seen, grads, [state], ids)
            state = seen.states[0]
        grads = seen
    accumulate(leaf, grads[0], state, task.warnings)
    if hooked and node._hooks.post:
        hooks.after_node(node, (), (as_tensor(grads[0], leaf.device, state),))


def accumulate_by_hand(leaf: Any, grad: Any) -> None:
    """What calling a leaf's AccumulateGrad does."""
    if grad is not None and grad.shape != leaf.shape:
        leaf.detach() + grad  # for its error
    meta(leaf)
    accumulate(leaf, grad, SHARED, [])


__all__ = ["LAST", "Task", "go", "run"]
