"""Walking the graph backward: in torch's order, iteratively, for graphs of any depth.

Gradients are plain arrays on their way; where the gradient's own graph is wanted (`create_graph=True`) they are tensors,
and a hook or a custom Function is handed a tensor over the array. Source: torch's autograd engine (`engine.cpp`): ready
nodes run by falling sequence number, leaves first; nodes of equal rank leave the queue as a binary heap in the C++
standard library would let them.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from ..base import CPU, is_dense, result_layout, warn_in_torch
from ..graph import (
    ALONE,
    IGNORED,
    LAST,
    MODES,
    SHARED,
    TWICE,
    VERSION,
    MultiNode,
    Outputs,
    check_gradients,
    expectation,
    explain,
    get_errors,
    hooks,
    set_errors,
    set_saved_tensor_hooks,
    shown_edge,
)
from .gradients import (  # fmt: skip
    accumulate,
    as_tensors,
    devices,
    expected,
    fitted,
    know,
    laid,
    resolved,
    state_fitted,
    state_of,
    through,
)

ndarray = np.ndarray


class Root(MultiNode):
    """Stands before several roots, so that backward starts from one node."""

    __slots__ = ("grads",)

    def __init__(self, edges: list, grads: list) -> None:
        self._edges, self.grads, self._hooks, self._saved, self._seq = (
            tuple(edges),
            grads,
            None,
            (),
            LAST,
        )
        self.describe(None)

    def apply(self, grads: list, raw: bool) -> list:
        """The gradients that the walk starts with."""
        return Outputs(self.grads, [SHARED] * len(self.grads))


def _on_the_way(nodes: Any, goals: set) -> set:
    """The nodes from which a goal can be reached, the goals themselves left out unless one lies below."""
    above: dict[Any, list] = {}
    for fn in nodes:
        for edge in fn._edges:
            if edge is not None:
                above.setdefault(edge[0], []).append(fn)
    needed: set = set()
    stack = list(goals)
    while stack:
        new = [fn for fn in above.get(stack.pop(), ()) if fn not in needed]
        needed.update(new)
        stack += new
    return needed


class Task:
    """One walk down from a root: what it was asked for, and which nodes it will run.

    `inputs`: edges to stop at, whose gradients are caught unless they are to be accumulated; None for every leaf.
    """

    def __init__(
        self,
        root: Any,
        keep_graph: bool,
        raw: bool,
        inputs: list | None = None,
        accumulate: bool = True,
    ) -> None:
        self.keep_graph, self.raw = keep_graph, raw
        waits: dict[Any, int] = {}  # how many gradients each node below the root waits for
        self.waits, stack = waits, [root]
        while stack:
            for edge in stack.pop()._edges:
                if edge is not None:
                    fn = edge[0]
                    waits[fn] = count = waits.get(fn, 0) + 1
                    if count == 1 and fn._edges:
                        stack.append(fn)
        self.warnings: list = []  # what torch's engine has to say comes when the walk is over
        self.captured: list[Any] = []
        self.captures: dict[Any, list] = {}
        self.needed: set | None = None
        self.runs: set | None = None  # those that it comes to, where it does not come to all
        if inputs is not None:
            self.captured, self.captures = (
                [None] * len(inputs),
                {root: []},
            )  # whose tensor's hooks run in any case
            goals = {edge[0] for edge in inputs if edge is not None}
            self.needed = _on_the_way((root, *self.waits), goals) | (goals if accumulate else set())
            for at, edge in enumerate(inputs):
                if edge is not None and not accumulate:
                    self.captures.setdefault(edge[0], []).append((edge[1], at))
            self.runs = self.needed.union(self.captures)


def go(task: Task, fn: Any, nr: int, first: Any) -> None:
    """Walk from one output of a node with a gradient that fits it."""
    here, raw = MODES.here, task.raw
    grad, saving, node, outer = here.grad, here.saving, here.node, here.errors
    here.grad = not raw
    try:
        if raw:  # formulas call NumPy itself; what the user wrote runs by `call_user`
            here.errors = get_errors()
            set_errors(IGNORED)
        _walk(here, task, fn, nr, first)
    finally:
        errors, here.errors, here.grad, here.node = here.errors, outer, grad, node
        if raw and errors is not None:
            set_errors(errors)
        if here.saving is not saving:
            set_saved_tensor_hooks(saving)
        for said in task.warnings:
            warn_in_torch(*said)


def _walk(here: Any, task: Task, fn: Any, nr: int, first: Any) -> None:
    waits, runs, raw = task.waits, task.runs, task.raw
    watched, saving, release = MODES.anomaly, here.saving, not task.keep_graph
    simply = not watched and runs is None
    buffers: dict[Any, tuple] = {}  # of nodes that wait for more
    heap: list = [(0, 0, fn, *_room(fn))]  # what is ready, and its gradients
    heap[0][3][nr] = first
    del first
    pushed = 0
    try:
        while heap:
            _, _, fn, grads, given = heappop(heap)
            here.node = fn
            here.grad = not raw  # whatever hooks of the node before have set
            if here.saving is not saving:
                set_saved_tensor_hooks(saving)
            if fn._leaf:
                _at_leaf(
                    fn, grads[0], resolved(given[0], grads[0], (*buffers.values(), *heap)), task
                )
                continue
            if fn._hooks is not None or not simply or fn._on_tensors:
                given = [
                    resolved(s, g, (*buffers.values(), *heap))
                    for s, g in zip(given, grads, strict=True)
                ]
                grads, given = _met(fn, fn._hooks, grads, given, devices(fn), task)
                if grads is None:
                    continue
            try:
                outputs, first = fn.apply(grads, raw), grads[0]
            except ValueError:  # NumPy's of shapes that do not meet: on tensors the formula says it in torch's words
                if raw and not fn._on_tensors:
                    fn.apply(list(as_tensors(grads, given, devices(fn))), False)
                raise
            if runs is not None and not (
                fn._on_tensors or fn.spread
            ):  # what nobody asked for torch does not compute
                outputs[:] = [
                    g if e is None or e[0] in runs else None
                    for g, e in zip(outputs, fn._edges, strict=True)
                ]
            if fn._laid and raw and first is not None and first.ndim > 1:
                outputs = laid(fn, first, outputs)
            if fn._hooks is not None or fn._on_tensors:
                outputs = _checked(fn, grads, given, outputs, task)
            if release:
                fn.release()
            if watched:
                check_gradients(fn, outputs)
            here.grad = not raw
            known = outputs.states if type(outputs) is Outputs else None
            several, made, grad = fn._several, fn._made, None
            for i, edge in enumerate(fn._edges):
                if edge is None:
                    continue
                below, position = edge
                left = waits[below] = waits[below] - 1
                if runs is not None and below not in runs:
                    continue
                grad, state, leaf = outputs[i], made, below._leaf
                if grad is not None:
                    if leaf:
                        data, wanted = below._data, None
                        shape, kind = data.shape, data.dtype
                        if below._meta.exchanged:
                            shape, kind, _ = wanted = expected(edge, fn._seq)
                    else:
                        shape, kind, _ = wanted = below._expects[position]
                    if type(grad) is not ndarray or grad.shape != shape or grad.dtype is not kind:
                        grad = fitted(fn, i, grad, wanted or expectation(below))
                        state = state_fitted(outputs[i], grad)
                    elif known is not None:
                        state = known[i]
                    elif several or grad.base is not None or grad is first:
                        same = grad is first and len(outputs) == 1
                        state = given[0] if same else state_of(fn, grads, given, outputs, i)
                buffer = buffers.get(below)
                if (
                    buffer is None and not left and below._outputs == 1
                ):  # the usual node, which waits for nothing else
                    if leaf and not watched and (not heap or heap[0][0] != -LAST):
                        outputs[i] = None  # at once, as nothing goes before a leaf
                        if state & TWICE:
                            state = resolved(state, grad, (*buffers.values(), *heap), outputs)
                        _at_leaf(below, grad, state, task)
                        here.grad = not raw
                        continue
                    waiting, states = [grad], [state]
                else:
                    if buffer is None:
                        buffer = buffers[below] = _room(below)
                    waiting, states = buffer
                    before = waiting[position]
                    if before is None:
                        waiting[position], states[position] = grad, state
                    elif grad is not None:
                        waiting[position] = None
                        if raw:
                            state = resolved(
                                states[position], before, (*buffers.values(), *heap), outputs[i:]
                            )
                        waiting[position], states[position] = _added(before, grad, state)
                    if left:
                        continue
                    del buffers[below]
                pushed += 1
                heappush(heap, (-below._seq, pushed, below, waiting, states))
            del outputs, grads, grad, first
    except Exception:
        if watched:
            explain(shown_edge((fn, 0))[0], task.warnings)
        raise


def _room(fn: Any) -> tuple[list, list]:
    """Where the gradients of a node's outputs wait for the others, and their states."""
    return [None] * fn._outputs, [SHARED] * fn._outputs


def _added(before: Any, grad: Any, state: int) -> tuple:
    """The sum of two gradients, and its state: added in place where nobody else holds the first, an array in `state`."""
    if type(before) is not ndarray:
        return before + grad, ALONE
    if state % VERSION == ALONE and (before.flags.forc or is_dense(before)):
        return np.add(before, grad, before), state + VERSION
    return result_layout(before + grad, before, grad), ALONE


# what is watched: hooks, ends, anomalies ----------------------------------------------------------------------------------


def _met(fn: Any, held: Any, grads: list, states: list[int], places: list, task: Task) -> tuple:
    """What a node will run on, and the states, after the walk's goals and hooks had it; None if the walk ends here.

    `held`: its hooks, or those of a leaf and of the leaf's accumulator.
    """
    raw = task.raw
    if fn in task.captures:
        aside = fn not in task.needed  # type: ignore[operator] # wanted for its own sake: hooks on the tensor come first
        seen = as_tensors(grads, states, places)
        if aside and held is not None:
            seen = hooks.before(held, seen)
        know(*seen)
        for position, at in task.captures[fn]:
            task.captured[at] = seen[position]
        if aside:
            return None, ()
        states = [s - s % VERSION for s in states]  # since somebody holds them now
    if held is not None:
        grads = through(
            lambda seen: hooks.run_node_hooks(held.pre, hooks.before(held, seen)),
            grads,
            states,
            places,
            raw,
        )
    if raw and type(grads) is not Outputs:
        grads = Outputs(grads, states)  # which a custom Function asks for
    return grads, grads.states if raw else states


def _checked(fn: Any, grads: list, states: list[int], outputs: list, task: Task) -> list:
    """What a node has computed, as the nodes that it goes to expect it, or what its posthooks make of that.

    What does not fit is an error before any of it goes on, and before anything is freed.
    """
    post = fn._hooks and fn._hooks.post
    if not (post or fn._on_tensors):
        return outputs
    raw, found, places = task.raw, list(outputs), [CPU] * len(outputs)
    known = list(outputs.states) if type(outputs) is Outputs else [ALONE] * len(found)
    for i, edge in enumerate(fn._edges):
        if edge is None and not (fn._on_tensors or fn.spread):
            found[i] = None  # nobody asked for it
        elif edge is not None and (g := outputs[i]) is not None:
            wanted = expected(edge, fn._seq)
            found[i], places[i] = fitted(fn, i, g, wanted), wanted[2]
            if found[i] is not g:
                known[i] = state_fitted(g, found[i])
            elif type(outputs) is not Outputs and raw:
                known[i] = state_of(fn, grads, states, outputs, i)
    if not post:
        return Outputs(found, known) if raw else found
    given = as_tensors(grads, states, devices(fn))
    return through(lambda seen: hooks.run_node_hooks(post, seen, given), found, known, places, raw)


def _at_leaf(leaf: Any, grad: Any, state: int, task: Task) -> None:
    """A leaf's gradient is complete: its hooks, then its `.grad`, then the hooks of its accumulator."""
    m = leaf._meta
    if m.accumulator is None and m.on_grad is None and task.needed is None:
        accumulate(leaf, grad, state, task.warnings)
        return
    node, places = m.accumulator and m.accumulator(), [leaf.device]
    held = None if node is None else node._hooks
    if m.on_grad:
        held = hooks.NodeHooks(m.on_grad, held)
    grads, states = _met(leaf, held, [grad], [state], places, task)
    if grads is not None:
        accumulate(leaf, grads[0], states[0], task.warnings)
        if held is not None and held.post:
            hooks.run_node_hooks(held.post, (), as_tensors(grads, states, places))
