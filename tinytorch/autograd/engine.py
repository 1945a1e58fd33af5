"""The walk of backward: nodes run in PyTorch's order, iteratively, in graphs of any depth.

A `GraphTask` is one walk. Before it, the nodes that lead to the wanted gradients are collected, and
for each node the edges that lead to it are counted. Then, as long as a node is ready (`_walk`):

1. take the ready node with the highest sequence number, with the gradients that arrived;
2. keep those that `inputs=` asks for, and run the hooks on them (`_run_hooks_before`);
3. call the node's backward and the hooks after it, then let it release what it saved
   (`_call_backward`);
4. send each gradient along its edge (`_route`): it waits there for the others, is added to the one
   that waits, or makes the next node ready. At a leaf it is added to `.grad` (`_finish_leaf`); a
   leaf that is complete and next in turn does not go through the queue.

A leaf stands for its own AccumulateGrad: wherever a "node" is an end of an edge, a key or in the
queue, it may be a tensor (`_ends_graph` tells them apart). Both are looked up by identity, and have
what the walk reads before a node runs: `_edges`, `_sequence_number` and `_output_count`.

Gradients are plain arrays on their way, because formulas on arrays take half to a third of the time
of formulas on tensors. They are tensors where the gradient's own graph is wanted (`create_graph`);
hooks and custom Functions are handed tensors over the arrays. Source: `engine.cpp` of PyTorch.
"""

from __future__ import annotations

import itertools
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from ..base import CPU, WAITING_WARNINGS, memory_owner, warn_in_torch
from ..graph import (
    HELD_BY_OTHERS,
    HIGHEST_NUMBER,
    IGNORED_ERRORS,
    MODES,
    NEW_GRADIENT,
    PACKED_BEFORE,
    AccumulateGrad,
    GradientList,
    GradientState,
    Node,
    SeenBy,
    check_for_nan,
    describe_failure,
    edge_for_user,
    get_numpy_errors,
    hooks,
    read_saved,
    redirect_edges,
    set_numpy_errors,
    set_saved_tensor_hooks,
)
from .accumulate import accumulate_into_leaf, add_gradients
from .gradient_tensors import (
    call_with_tensors,
    devices_of_outputs,
    is_held_as_tensor,
    is_memory_held_as_tensor,
    remember_tensors,
    tensors_over,
)
from .validate import (
    expected_on_edge,
    find_state,
    fit_to_edges,
    is_any_packed,
    lay_out_gradients,
)


class GraphRoot(Node):
    """A node above several roots, so that each walk starts from one node.

    Its backward returns the gradients that the walk starts with, with their states: `find_state`
    does not look for what they share.
    """

    __slots__ = ("gradients",)  # for each edge the gradient to start with

    def __init__(self, edges: list, gradients: list) -> None:
        self._edges = tuple(edges)
        self.gradients = gradients
        self._hooks = None
        self._saved = ()
        self._sequence_number = HIGHEST_NUMBER
        self._note_gradient_specs(None)

    def _apply(self, gradients: list, on_arrays: bool) -> list:
        """Return the gradients that the walk starts with, which the caller holds, too."""
        return GradientList.of(self.gradients, [HELD_BY_OTHERS] * len(self.gradients))


class Capture(NamedTuple):
    """A gradient to return: that of an output of a node, at an index of the result."""

    output_nr: int  # of the node
    index: int  # in `GraphTask.captured_gradients`


_BACKWARD_NUMBERS = itertools.count()


class GraphTask:
    """One walk of backward from a root: what it was asked for, and how far it is.

    `targets`: edges whose gradients are wanted; None means that of every leaf. `accumulate`: they
    are added to `.grad`; else they are captured, to be returned.
    """

    def __init__(
        self,
        root: Any,
        keep_graph: bool,
        on_arrays: bool,
        targets: list | None = None,
        accumulate: bool = True,
    ) -> None:
        self.root = root
        self.keep_graph = keep_graph
        self.on_arrays = on_arrays
        # How many gradients each node below the root still waits for. By the node's `id`, as a leaf
        # is a tensor, whose `__hash__` is a function in Python, and so slow. No id is used again
        # meanwhile: the root keeps all of them alive.
        self.dependencies = count_dependencies(root)
        # Gradients that arrived at nodes that wait for more, by the node's `id`.
        self.buffers: dict[int, GradientList] = {}
        # A heap of nodes that wait for nothing: (minus the sequence number, `push_count`, node,
        # gradients). Of several leaves, which all have the highest number, the one that was ready
        # first comes first.
        self.ready: list[tuple[int, int, Any, GradientList]] = []
        self.push_count = 0
        # Read once: hooks that switch anomaly mode do so for the next walk.
        self.is_anomaly_mode = MODES.anomaly
        # What waits until the walk is over, see `WaitingWarnings`.
        self.warnings: list[tuple[str, str, bool]] = []
        # The gradients to return, one for each target.
        self.captured_gradients: list[Any] = []
        # By node, which of the gradients that arrive there are to be returned.
        self.captures: dict[Any, list[Capture]] = {}
        # With `inputs=` the walk is smaller than the graph, in two ways. Nodes that run: those
        # with a target below them and, if gradients are accumulated, the targets themselves. None for
        # all. Of `z = (y * w).sum()` and `z.backward(inputs=[y])`: the nodes of `sum` and of the
        # product, and that of `y` or the leaf `y`.
        self.nodes_to_run: set | None = None
        # Nodes to which gradients are sent: `nodes_to_run`, and those where gradients are only
        # captured, so that the walk ends there: of `torch.autograd.grad(z, y)` that of `y`, which
        # does not run. The leaf `w` is in neither set, and its gradient is dropped. None for all.
        self.nodes_to_send_to: set | None = None
        if targets is not None:
            self._find_nodes_to_run(targets, accumulate)

    def _find_nodes_to_run(self, targets: list, accumulate: bool) -> None:
        """Find the nodes that lead to the targets, and note what to capture."""
        target_nodes = {edge[0] for edge in targets if edge is not None}
        self.nodes_to_run = find_nodes_above(target_nodes, self.root)
        self.captured_gradients = [None] * len(targets)
        # An entry for the root, with nothing to capture, as in `y.backward(inputs=[other])`: even
        # if no target is below it, the hooks on its tensor run, and `_walk` runs those of each node
        # that has an entry here.
        self.captures = {self.root: []}
        if accumulate:
            self.nodes_to_run |= target_nodes
        else:
            for index, edge in enumerate(targets):
                if edge is not None:
                    node, output_nr = edge
                    self.captures.setdefault(node, []).append(Capture(output_nr, index))
        self.nodes_to_send_to = self.nodes_to_run.union(self.captures)

    def run(self, output_nr: int, gradient: Any) -> None:
        """Walk from an output of the root with its gradient; restore the thread's modes."""
        thread = MODES.thread
        was_recording, outer_node, outer_backward_nr = (
            thread.is_recording,
            thread.node,
            thread.backward_nr,
        )
        outer_saved_tensor_hooks, outer_errstate = thread.saved_tensor_hooks, thread.user_errstate
        outer_calls = WAITING_WARNINGS.calls
        arrived = GradientList.empty(self.root._output_count)
        # `empty` has set the state HELD_BY_OTHERS, which is right: the caller may hold the gradient,
        # and the 1 of `loss.backward()` is held in PyTorch by the Python function that made it.
        arrived[output_nr] = gradient
        try:  # Nothing is switched before: an interrupt may come between any two lines.
            # A hook may run a backward within this one: a watch tells them apart by this number.
            thread.backward_nr = next(_BACKWARD_NUMBERS)
            thread.is_recording = not self.on_arrays
            WAITING_WARNINGS.calls = self.warnings
            if self.on_arrays:
                # Formulas call NumPy itself, which is silenced once for all of them; code of users
                # runs by `call_user`, which gives it the user's settings back.
                thread.user_errstate = get_numpy_errors()
                set_numpy_errors(IGNORED_ERRORS)
            self._push(self.root, arrived)
            self._walk(thread)
        finally:
            # First what is switched without a call: an interrupt comes at the begin or end of one.
            WAITING_WARNINGS.calls = outer_calls
            # read again, as what a hook set by `np.seterr` stays set (see `call_user`)
            user_errstate = thread.user_errstate
            thread.user_errstate, thread.is_recording, thread.node = (
                outer_errstate,
                was_recording,
                outer_node,
            )
            thread.backward_nr = outer_backward_nr
            if self.on_arrays and user_errstate is not None:
                set_numpy_errors(user_errstate)
            if thread.saved_tensor_hooks is not outer_saved_tensor_hooks:
                set_saved_tensor_hooks(outer_saved_tensor_hooks)
            for call in self.warnings:
                warn_in_torch(*call)

    # the walk -------------------------------------------------------------------------------------

    def _walk(self, thread: Any) -> None:
        """Run nodes until none is ready."""
        ready, saved_tensor_hooks, node = self.ready, thread.saved_tensor_hooks, self.root
        captures = self.captures
        try:
            while ready:
                _, _, node, arrived = heappop(ready)
                # Hooks of the node before may have switched modes.
                thread.node, thread.is_recording = node, not self.on_arrays
                if thread.saved_tensor_hooks is not saved_tensor_hooks:
                    set_saved_tensor_hooks(saved_tensor_hooks)
                # A leaf is in the queue itself, in the place of its AccumulateGrad.
                if node._ends_graph:
                    # It has one output, so one gradient arrived.
                    self._settle_states(arrived)
                    self._finish_leaf(node, arrived[0], arrived.states[0])
                    continue
                # Most nodes have no hooks, and nothing is captured at them. Whether a gradient is
                # held twice is settled only where somebody sees it: elsewhere the second place (of
                # `x + y`, say) may be gone by the time that the gradient comes to a leaf.
                if node._hooks is not None or node._needs_tensors or node in captures:
                    self._settle_states(arrived)
                    if type(node) is AccumulateGrad:
                        # That of a leaf which has another since: edges lead to the node itself.
                        self._finish_accumulator(node, node.variable, arrived, node)
                        continue
                    devices = devices_of_outputs(node)
                    arrived = self._run_hooks_before(node, node._hooks, arrived, devices)
                    if arrived is None:
                        continue
                # One for each input of the node: PyTorch calls them the outputs of its backward.
                input_gradients = self._call_backward(node, arrived)
                thread.is_recording = not self.on_arrays
                self._route(thread, node, arrived, input_gradients)
                # The next node runs before `input_gradients` is set anew. Those that were summed to
                # the shape of their edge are of no more use: with one large array more the peak of
                # a chain of products that broadcast was a third higher.
                del input_gradients
        except Exception:
            if self.is_anomaly_mode:
                failed, _ = edge_for_user((node, 0))
                warn_in_torch(*describe_failure(failed))
            raise

    def _run_hooks_before(
        self, node: Any, node_hooks: Any, arrived: GradientList, devices: list
    ) -> GradientList | None:
        """Keep the gradients that `inputs=` asks for, and run the hooks on what arrived.

        Return what the node runs on; None if the walk ends here, as nothing below it is wanted.
        `node_hooks`: the hooks of a node; of a leaf, those on the leaf and on its accumulator.
        """
        if node in self.captures:
            ends_here = node not in self.nodes_to_run  # type: ignore[operator]
            tensors = tensors_over(arrived, devices)
            if ends_here and node_hooks is not None:
                # PyTorch captures what the hooks on the tensor return if the node itself does not
                # run; else what arrived, as hooks run after captures.
                tensors = hooks.run_hooks_on_tensors(node_hooks, tensors)
            remember_tensors(tensors)
            for output_nr, index in self.captures[node]:
                self.captured_gradients[index] = tensors[output_nr]
            if ends_here:
                return None
            arrived = GradientList.of(arrived, [s.held_by_others() for s in arrived.states])
        if node_hooks is not None:

            def run_all(tensors: tuple) -> tuple:
                return hooks.run_node_hooks(
                    node_hooks.pre, hooks.run_hooks_on_tensors(node_hooks, tensors)
                )

            arrived = call_with_tensors(run_all, arrived, devices, self.on_arrays)
        return arrived

    def _call_backward(self, node: Any, arrived: GradientList) -> list:
        """Return the gradients for a node's inputs, after posthooks; free what it saved.

        A step of its own is called only where its condition holds: in most walks a node needs none.
        """
        try:
            if self.nodes_to_send_to is not None:
                input_gradients = self._compute_wanted(node, arrived)
            elif PACKED_BEFORE and self._must_run_on_tensors(node):
                input_gradients = self._run_on_tensors(node, arrived)
            else:
                input_gradients = node._apply(arrived, self.on_arrays)
        except ValueError:
            # NumPy's, of shapes that do not broadcast: PyTorch's error is raised instead.
            self._repeat_on_tensors(node, arrived)
            raise
        # NumPy has laid out what the formula returned; on tensors the operations have done it.
        is_laid_out_by_numpy = node._is_pointwise and self.on_arrays and arrived[0] is not None
        # In one dimension NumPy's strides are torch's, unless there is no element.
        if is_laid_out_by_numpy and (arrived[0].ndim > 1 or not arrived[0].size):
            input_gradients = lay_out_gradients(node, arrived[0], input_gradients)
        # Before any is sent on, and before anything is freed.
        input_gradients = fit_to_edges(node, arrived, input_gradients)
        if node._hooks is not None or node._needs_tensors:
            input_gradients = self._run_hooks_after(node, arrived, input_gradients)
        if not self.keep_graph:
            node._release()
        if self.is_anomaly_mode:
            check_for_nan(node, input_gradients)
        return input_gradients

    def _compute_wanted(self, node: Any, arrived: GradientList) -> list:
        """Return the gradients for a node's inputs where `inputs=` wants only some of all gradients."""
        if not self._has_wanted_input(node):
            # It raises if a saved tensor was freed or written to, as PyTorch does there.
            read_saved(node, self.on_arrays)
            return [None] * len(node._edges)
        if PACKED_BEFORE and self._must_run_on_tensors(node):
            input_gradients = self._run_on_tensors(node, arrived)
        else:
            input_gradients = node._apply(arrived, self.on_arrays)
        if not (node._needs_tensors or node._formula_gives_all_inputs):
            nodes_to_send_to: Any = self.nodes_to_send_to
            # PyTorch does not compute what nobody asked for, and posthooks observe that.
            for index, edge in enumerate(node._edges):
                if edge is not None and edge[0] not in nodes_to_send_to:
                    input_gradients[index] = None
        return input_gradients

    def _must_run_on_tensors(self, node: Any) -> bool:
        """Return True if a hook packed what this node reads and its results are to be laid out.

        Operations on tensors lay them out. For those on arrays it is done afterwards, from what they
        read, and reading that again would call the unpack hook twice.
        """
        return self.on_arrays and node._is_pointwise and is_any_packed(node)

    def _run_on_tensors(self, node: Any, arrived: GradientList) -> list:
        """Return the arrays that a node's formulas compute by operations on tensors."""
        tensors = tensors_over(arrived, devices_of_outputs(node))
        computed = node._apply(list(tensors), False)
        return [None if gradient is None else gradient._data for gradient in computed]

    def _repeat_on_tensors(self, node: Any, arrived: GradientList) -> None:
        """Run a formula that has raised on arrays once more, on tensors, which raise PyTorch's errors.

        Nothing is done where it ran on tensors already.
        """
        if self.on_arrays and not node._needs_tensors:
            node._apply(list(tensors_over(arrived, devices_of_outputs(node))), False)

    def _has_wanted_input(self, node: Any) -> bool:
        """Return True if the gradient of an input of this node is wanted.

        False for a target of `backward(inputs=...)` that is no leaf, if no other target is below it.
        Of such a node PyTorch reads what it saved and runs no formula, which might raise.
        """
        nodes_to_send_to: Any = self.nodes_to_send_to
        if not node._formulas:
            return True
        return any([edge is not None and edge[0] in nodes_to_send_to for edge in node._edges])

    def _run_hooks_after(self, node: Any, arrived: GradientList, input_gradients: list) -> list:
        """Return what a node computed, with its states, or what posthooks make of that.

        Before any of it is sent on and anything is freed.
        """
        posthooks = node._hooks and node._hooks.post
        if not (posthooks or node._needs_tensors):
            return input_gradients
        # A copy, which is changed below: `input_gradients` may be a GradientList that a node keeps.
        states = GradientList.ensure_states(input_gradients).states
        with_states = GradientList.of(input_gradients, [s or NEW_GRADIENT for s in states])
        devices = [CPU] * len(input_gradients)
        for index, edge in enumerate(node._edges):
            if edge is None and not (node._needs_tensors or node._formula_gives_all_inputs):
                # Nobody asked for it.
                with_states[index] = None
            elif edge is not None and input_gradients[index] is not None:
                devices[index] = expected_on_edge(edge, node._sequence_number)[2]
                with_states.states[index] = find_state(node, arrived, input_gradients, index)
        if not posthooks:
            return with_states
        tensors_before = tensors_over(arrived, devices_of_outputs(node))

        def run_all(tensors: tuple) -> tuple:
            return hooks.run_node_hooks(posthooks, tensors, tensors_before)

        return call_with_tensors(run_all, with_states, devices, self.on_arrays)

    # along the edges ------------------------------------------------------------------------------

    def _route(self, thread: Any, node: Any, arrived: GradientList, input_gradients: list) -> None:
        """Send the gradients that a node computed along its edges, in the order of its inputs.

        `input_gradients`: what its backward returned, one for each input of the node. The `output_nr`
        of an edge counts the outputs of the operation that the edge's target records: it says for
        which of these the gradient is.
        """
        nodes_to_send_to, dependencies = self.nodes_to_send_to, self.dependencies
        for index, edge in enumerate(node._edges):
            if edge is None:
                continue
            target, output_nr = edge
            key = id(target)
            dependencies[key] = missing = dependencies[key] - 1
            if nodes_to_send_to is not None and target not in nodes_to_send_to:
                continue
            # None has no state of its own; this one allows nothing, whoever reads it.
            gradient, state = input_gradients[index], HELD_BY_OTHERS
            if gradient is not None:
                state = find_state(node, arrived, input_gradients, index)
            # The usual target waits for nothing else: its gradient needs no place to wait in.
            if not missing and target._output_count == 1 and key not in self.buffers:
                if target._ends_graph and self._can_finish_leaf_now(state):
                    if state.may_be_held_twice:
                        state = self._settle_state(state, gradient, input_gradients[index:])
                    # Cleared, so that `find_state` for the next edge does not count this gradient as
                    # one that the walk still holds: the leaf has it now.
                    input_gradients[index] = None
                    self._finish_leaf(target, gradient, state)
                    # Hooks may have switched it.
                    thread.is_recording = not self.on_arrays
                else:
                    # What `GradientList.of` does: nearly all gradients come here.
                    arrived_there = GradientList((gradient,))
                    arrived_there.states = [state]
                    self._push(target, arrived_there)
                continue
            # Not sent yet are this one and those after it. Two of them may be one array that goes
            # to the same target, as those of `x + x` do.
            self._add_to_buffer(target, output_nr, gradient, state, input_gradients[index:])
            if not missing:
                self._push(target, self.buffers.pop(key))

    def _can_finish_leaf_now(self, state: GradientState) -> bool:
        """Return True if a leaf whose gradient is complete now would be the next one to run.

        It would, unless something with the highest number, as all leaves have, waits in the queue.

        Two reasons put it into the queue all the same. Its gradient, of this `state`, may be better
        off there (`_should_wait`). And in anomaly mode PyTorch's warning names the leaf's
        AccumulateGrad if a hook on it raises, while `_walk` names the node that it took out of the
        queue.
        """
        if self.is_anomaly_mode or (state.may_be_held_twice and self._should_wait()):
            return False
        return not self.ready or self.ready[0][0] != -HIGHEST_NUMBER

    def _add_to_buffer(
        self,
        target: Any,
        output_nr: int,
        gradient: Any,
        state: GradientState,
        gradients_in_hand: list,
    ) -> None:
        """Put a gradient where it waits for the others of its node, or add it to one that waits.

        `gradients_in_hand`: what the same node computed and `_route` has not sent yet, beginning with
        this one; see `_settle_state`, which alone reads it.
        """
        buffer = self.buffers.get(id(target))
        if buffer is None:
            buffer = self.buffers[id(target)] = GradientList.empty(target._output_count)
        earlier = buffer[output_nr]
        if earlier is None:
            buffer[output_nr], buffer.states[output_nr] = gradient, state
        elif gradient is not None:
            earlier_state = buffer.states[output_nr]
            if earlier_state.may_be_held_twice:
                earlier_state = self._settle_state(earlier_state, earlier, gradients_in_hand)
            total, state = add_gradients(earlier, gradient, earlier_state)
            buffer[output_nr], buffer.states[output_nr] = total, state

    def _push(self, node: Any, arrived: GradientList) -> None:
        """Put a node with its gradients among those that are ready."""
        self.push_count += 1
        heappush(self.ready, (-node._sequence_number, self.push_count, node, arrived))

    def _settle_states(self, arrived: GradientList) -> None:
        """Decide the states of what arrived at a node that was just taken out of the queue."""
        states = arrived.states
        for index, state in enumerate(states):
            if state.may_be_held_twice:
                states[index] = self._settle_state(state, arrived[index], arrived)

    def _should_wait(self) -> bool:
        """Return True if a leaf should wait with a gradient that `may_be_held_twice`.

        While gradients wait for others, the array's second place may be one that will hold a sum
        instead. Then the leaf that has waited needs no copy, as `a` in the example at `_settle_state`.
        """
        return bool(self.buffers)

    # Who asks `_settle_state`, about which gradient, and with which `gradients_in_hand`:
    #
    # who asks         about                 where that is   gradients_in_hand
    # _settle_states   each that arrived     in hand         what arrived at the node that was just taken
    #                                                        out of the queue
    # _route           what a leaf gets now  in hand         it, and what is to be sent after it
    # _add_to_buffer   the one that waits    in a buffer     what is to be added to it, and what is to be
    #                                                        sent after that
    #
    # So the count is right for a sum, too. Found once, the one that waits is in its buffer alone, and
    # is added to in place. Of `x + x` what is to be added is the same array: found twice, and the sum
    # is a new one.

    def _settle_state(
        self, state: GradientState, gradient: Any, gradients_in_hand: list
    ) -> GradientState:
        """Return the state of a gradient that `may_be_held_twice`, by whether it is held twice now.

        A formula may return one array for two inputs, as that of `x + y` does. In PyTorch both are
        one tensor: the first is added to in place only if the second is no longer on its way.

        Where the walk looks: all gradients on their way are in a buffer, with a node that is ready,
        or in `gradients_in_hand`, which are in neither. The one that is asked about is in one of
        these places itself, so if it is held twice it is found twice (see the table above).

        Why it is asked so late, by an example: `s = a + b`, `p = b * c`, and backward of
        `((s + p) * c).sum()`:

        1. The node of `p` runs first and sends a gradient to the leaf `b`, which waits for one more.
        2. That of `s` sends one array to `a`, which is complete, and to `b`.
        3. `b` adds the two into an array of its own. From then on the other one is `a`'s alone.

        So `a` gets it without a copy if it waits until 3. At 2 it would have to copy it.
        """
        lists_on_their_way = [
            *self.buffers.values(),
            *[entry[-1] for entry in self.ready],
            gradients_in_hand,
        ]
        on_their_way = itertools.chain.from_iterable(lists_on_their_way)
        # Not `count` of a list, which compares arrays by their elements. The first two are enough:
        # of a sum of thousands, thousands of places hold the gradient.
        count = len(list(itertools.islice((g for g in on_their_way if g is gradient), 2)))
        # In its other place it may have been captured, or shown to a hook that holds it since.
        state = state.settle(is_held_twice=count > 1 or is_held_as_tensor(gradient))
        if state.seen_by is SeenBy.SAME_TENSOR or type(gradient) is not np.ndarray:
            return state
        # Or a node has made a view of it: that is on its way, or held.
        memory = memory_owner(gradient)
        has_view = is_memory_held_as_tensor(memory) or any(
            other is not gradient and type(other) is np.ndarray and memory_owner(other) is memory
            for other in itertools.chain.from_iterable(lists_on_their_way)
        )
        return state.over_shared_memory() if has_view else state

    # leaves ---------------------------------------------------------------------------------------

    def _finish_leaf(self, leaf: Any, gradient: Any, state: GradientState) -> None:
        """Run the hooks of a leaf on its complete gradient, and add that to `.grad`."""
        meta = leaf._meta
        if meta.accumulator is None and meta.grad_hooks is None and not self.captures:
            accumulate_into_leaf(leaf, gradient, state)
            return
        accumulator = meta.accumulator and meta.accumulator()
        self._finish_accumulator(leaf, leaf, GradientList.of((gradient,), [state]), accumulator)

    def _finish_accumulator(
        self, node: Any, leaf: Any, arrived: GradientList, accumulator: Any
    ) -> None:
        """Run the hooks of a leaf and of an AccumulateGrad of it, and add to `.grad`.

        `node` is what edges lead to: the leaf itself, or the AccumulateGrad that it had before.
        """
        node_hooks = None if accumulator is None else accumulator._hooks
        if leaf._meta.grad_hooks:
            node_hooks = hooks.NodeHooks(leaf._meta.grad_hooks, of_accumulator=node_hooks)
        devices = [leaf.device] if node is leaf else devices_of_outputs(node)
        gradients = self._run_hooks_before(node, node_hooks, arrived, devices)
        if gradients is not None:
            accumulate_into_leaf(leaf, gradients[0], gradients.states[0])
            if node_hooks is not None and node_hooks.post:
                hooks.run_node_hooks(node_hooks.post, (), tensors_over(gradients, devices))


def count_dependencies(root: Any) -> dict[int, int]:
    """Return for each node below a root how many edges lead to it, by the node's `id`."""
    dependencies: dict[int, int] = {}
    stack = [root]
    is_any_leaf_changed = False
    while stack:
        for edge in stack.pop()._edges:
            if edge is None:
                continue
            node = edge[0]
            key = id(node)
            if key in dependencies:
                dependencies[key] += 1
                continue
            dependencies[key] = 1
            # A leaf has no edges: the graph ends there.
            if node._edges:
                stack.append(node)
            elif node._ends_graph and node._meta.earlier_gradient_specs:
                is_any_leaf_changed = True
    if is_any_leaf_changed and redirect_edges_below(root):
        return count_dependencies(root)
    return dependencies


def redirect_edges_below(root: Any) -> bool:
    """Redirect the edges of a root and the nodes below it, see `redirect_edges`; False for none."""
    found, stack, is_any_changed = {root}, [root], False
    while stack:
        node = stack.pop()
        is_any_changed = redirect_edges(node) or is_any_changed
        below = {edge[0] for edge in node._edges if edge is not None and edge[0]._edges}
        stack += below - found
        found |= below
    return is_any_changed


def find_nodes_above(targets: set, root: Any) -> set:
    """Return those of a root and the nodes below it that are above a target, by one edge at least."""
    above: dict[Any, list] = {}
    stack, found = [root], {root}
    while stack:
        node = stack.pop()
        for edge in node._edges:
            if edge is not None:
                below = edge[0]
                above.setdefault(below, []).append(node)
                if below not in found:
                    found.add(below)
                    stack.append(below)
    nodes_above: set = set()
    stack = list(targets)
    while stack:
        new = [node for node in above.get(stack.pop(), ()) if node not in nodes_above]
        nodes_above.update(new)
        stack += new
    return nodes_above
