"""The calls of tinytorch to a watch: saves and reads by hooks on saved tensors, writes by a listener."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from tinytorch import Tensor
from tinytorch.graph import (
    DETACHED_MESSAGE,
    GRAPH_EXIT_LISTENERS,
    MODES,
    NODE_LISTENERS,
    WRITE_LISTENERS,
    describe_stale,
    name_of_node,
    set_saved_tensor_hooks,
)
from tinytorch.optim import STEP_LISTENERS
from tinytorch.viz import THREADS_IN_LOOK, THREADS_ON_SAVED_VALUES, SaveUnderWatch

from .engine_runs import report_tinytorch_method, watch_tinytorch_runs
from .scope import watch_assignments
from .tinytorch_exits import report_data_read, report_exit, watch_exits
from .watched_backward import watch_backwards
from .watched_save import WatchedSave, is_function_node

if TYPE_CHECKING:
    from .observer import Watch

_NO_NODE_NR = -1
"""In place of a node's number: no `WatchedSave` here is excused by it (`Watch.record_write`)."""


class TinyTorchHooks:
    """tinytorch under a watch: what this thread saves and reads, and what any thread writes."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.node_lines = watch.make_node_lines()
        """The lines that made the nodes of this thread."""
        self.hooks: Any = (self.pack, self.unpack)
        """The pair as tinytorch has it on its stack, to find it again; None once it is off."""
        self.replacements = (
            watch_assignments(Tensor, report_data_read),
            *watch_backwards(Tensor, report_tinytorch_method),
            watch_tinytorch_runs(),
            *watch_exits(),
        )

    def attach(self) -> None:
        """Call the watch for the saves of this thread, and the writes of all, from now on."""
        set_saved_tensor_hooks((*MODES.thread.saved_tensor_hooks, self.hooks))
        if self.watch.is_entering_thread():
            WRITE_LISTENERS.append(self.report_write)
            STEP_LISTENERS.append(self.watch.record_step)
            GRAPH_EXIT_LISTENERS.append(self.report_exit)
            NODE_LISTENERS.append(self.note_node)
            for replacement in self.replacements:
                replacement.install()

    def detach(self) -> None:
        """Take the hooks off this thread, wherever in its stack they are."""
        if self.report_write in WRITE_LISTENERS:
            WRITE_LISTENERS.remove(self.report_write)
            STEP_LISTENERS.remove(self.watch.record_step)
            GRAPH_EXIT_LISTENERS.remove(self.report_exit)
            NODE_LISTENERS.remove(self.note_node)
            for replacement in self.replacements:
                replacement.remove()
        if self.hooks is None:
            return  # already off
        pairs = MODES.thread.saved_tensor_hooks
        others = tuple(pair for pair in pairs if pair is not self.hooks)
        # A block of the program's own that began before the watch and ended inside of it has taken
        # the top of the stack, which was ours. Its own pair is left, and is taken here instead.
        set_saved_tensor_hooks(others if len(others) < len(pairs) else pairs[:-1])
        self.hooks = None

    @property
    def has_made_nodes(self) -> bool:
        """False if nothing that its thread has computed since it was attached required grad."""
        # In other threads than the one that entered, it is not seen.
        return not self.watch.is_entering_thread() or self.node_lines.newest_nr >= 0

    def report_write(self, tensor: Any) -> None:
        """Note a tensor that was written. tinytorch calls this before its version counts the write."""
        write = self.watch.record_write(tensor, are_bytes_written=True)
        if write is not None:
            write.end()

    def note_node(self, node: Any) -> None:
        """Note the line that has made a node, in the thread that entered the watch."""
        if self.watch.is_entering_thread():
            self.node_lines.record_node(node._sequence_nr())

    def report_exit(self, name: str, tensors: list, count: int, is_recording: bool) -> None:
        """Note an operation that makes no node of tensors which require grad."""
        if self.watch.covers_this_thread():
            report_exit(self.watch, name, tensors, count, is_recording)

    # Pictures read what a node holds: by this type mypy compares it with what they need.
    def pack(self, tensor: Any) -> SaveUnderWatch:
        """Return the `WatchedSave` of a tensor, which the node that saves it holds in its place."""
        if self.watch.ended:  # and its thread goes on
            self.detach()
        output_nr = MODES.thread.packing.output_nr
        is_output = output_nr is not None
        # A node that held its own result would be a cycle, which only the collector frees.
        tensor_to_hold = tensor.detach() if is_output else tensor
        if is_output and tensor._is_view():
            # A write to the view itself replaces its grad_fn; the error names the one at the save.
            tensor_to_hold.source = weakref.ref(tensor.grad_fn)
        return self.watch.record_save(
            tensor_to_hold,
            self.watch.find_node_line(),
            sequence_nr=_NO_NODE_NR,
            is_output=is_output,
            was_leaf=tensor.is_leaf,
            output_nr=output_nr,
        )

    def unpack(self, save: WatchedSave) -> Any:
        """Return the tensor that a node reads. Raises RuntimeError where backward raises."""
        node, tensor = MODES.thread.node, save.tensor
        function = getattr(node, "fn", node)
        if node is not None and save.was_detached and not is_function_node(function):
            raise RuntimeError(DETACHED_MESSAGE)  # raises as the engine does
        if save.is_stale:
            error = RuntimeError(
                describe_stale(function, tensor, save.saved_version, save.output_nr)
            )
            if node is not None:
                self.watch.report_stale_read(
                    save, name_of_node(node), MODES.thread.backward_nr, error
                )
            raise error  # raises as the engine does
        # Without a node, a user reads `grad_fn._saved_...`: that is no read of backward.
        if node is not None:
            self.watch.check_read(save, lambda: node, MODES.thread.backward_nr)
            node_line = self.node_lines.find_node_line(function._sequence_nr())
            if node_line is not None and not THREADS_IN_LOOK:
                self.node_lines.note_read(node_line, MODES.thread.backward_nr)
        if THREADS_ON_SAVED_VALUES and threading.get_ident() in THREADS_ON_SAVED_VALUES:
            return save.make_saved_tensor()
        return tensor

    # Read by `viz/read/probe.py`: this hook may be called by a look, and gives the tensor itself.
    unpack.is_of_watch = True  # type: ignore[attr-defined]
