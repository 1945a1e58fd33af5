"""The calls of PyTorch to a watch: saves and reads by hooks on saved tensors, writes by a dispatch mode.

PyTorch's schemas say which arguments an operation writes to: `mul_(Tensor(a!) self, Tensor other)`.
PyTorch does not compare versions of saved tensors under hooks; here that is done in its place, with
its error word for word.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tinytorch.graph import DETACHED_MESSAGE, name_of_node, short_name, stale_text
from tinytorch.viz import THREADS_IN_LOOK, THREADS_ON_SAVED_VALUES, ExitKind, SaveUnderWatch

from .dispatch_modes import get_quiet_mode_class, push_mode, remove_mode
from .engine_runs import watch_torch_runs
from .exits import LeafReference, report_parameters
from .given_gradients import is_shared_gradient
from .kept_attributes import AttributeKeeper, watch_attributes
from .mode_pauses import ModePauses
from .packed_saves import watch_packing
from .places import NodeLine
from .scope import (
    Replacement,
    find_program_thread,
    find_watches_of_thread,
    run_in_unwatched_thread,
    watch_assignments,
)
from .watched_backward import watch_backwards
from .watched_save import WatchedSave, is_function_node

if TYPE_CHECKING:
    from .observer import Watch, WriteInProgress

# In training these kernels write the running statistics, though neither their schema nor a version
# counter says so.
_BATCH_NORMS = (
    "native_batch_norm",
    "cudnn_batch_norm",
    "miopen_batch_norm",
    "_native_batch_norm_legit",
    "_batch_norm_with_update",
)
_WRITES_OF_BATCH_NORM: tuple = ()
# Their nodes save the running statistics for the second derivative, which needs them in eval mode
# alone.
_BATCH_NORM_GRADS = (
    "native_batch_norm_backward",
    "cudnn_batch_norm_backward",
    "miopen_batch_norm_backward",
    "batch_norm_backward",
)
_WRITES_OF_BATCH_NORM_GRAD: tuple = ((3, "running_mean"), (4, "running_var"))
_WRITES_SELF: tuple = ((0, "self"),)  # most in-place operations: they take a path of their own
_NODES_OF_A_VIEW = 2  # made when a view is written in place: one for its base, one for the view
_SCALAR_TYPES_WITH_CLASS = ("Byte", "Char", "Double", "Float", "Int", "Long", "Short", "Half")
"""What errors call `torch.FloatTensor` and so on; later dtypes have no such class."""


_EXIT_KINDS: dict[str, ExitKind] = {
    "detach": "detach",
    "_local_scalar_dense": "number",
    "lift_fresh": "new leaf",
    **dict.fromkeys(("sort", "topk", "max", "min", "median", "mode", "kthvalue"), "indices"),
    **dict.fromkeys(("nanmedian", "cummax", "cummin", "_cummax_helper"), "indices"),
}
"""Operations by which values leave the graph whether a node is made or not."""
_COMPARING = frozenset({"sub", "lerp", "stack", "cat", "eq", "ne", "isclose", "equal", "dist"})
"""Operations that see parameters beside others without computing a layer's result."""
_NEVER_EXIT = "never"
"""In place of a kind, for an operation by which no values leave the graph, with or without a node."""
_NO_VALUES = frozenset({"is_pinned", "_record_function_enter_new", "_record_function_exit"})
"""Operations that read no values; so do those that make a tensor like another one."""


class _UncountedListWrite:
    """A write to a list of tensors, which PyTorch counts without a mode.

    Under one it depends on the kernel: on the CPU it counts nothing, on a GPU it does.
    """

    def __init__(self, graph: Any, tensors: Any) -> None:
        self.graph = graph
        # A tensor that was made in inference mode has no version to be asked.
        self.versions = [(each, each._version) for each in tensors if not each.is_inference()]

    def end(self) -> None:
        """Count the write of each tensor whose counter is where it was."""
        missed = [tensor for tensor, version in self.versions if tensor._version == version]
        if missed:
            self.graph.increment_version(missed)


class TorchHooks:
    """PyTorch under a watch, in one thread."""

    def __init__(self, watch: Watch, torch: Any) -> None:
        self.watch = watch
        self.torch = torch
        self.program_thread = threading.get_ident()
        """The thread that it is attached to."""
        self.get_sequence_nr = torch._C._autograd._get_sequence_nr
        """Returns the number that the next node of this thread gets."""
        self.attributes = AttributeKeeper(self)
        """What Functions of the program's own keep on `ctx`."""
        self.node_lines = watch.make_node_lines()
        """The lines that made the nodes of the program's thread."""
        self.mode: Any = _make_dispatch_mode(self)
        """Sees every operation of this thread, and reports what it writes to."""
        self.attached = ExitStack()
        """Takes off what `attach` has put on."""
        self.has_hooks = False
        """True while the pair of hooks is on this thread's stack."""
        self.first_nr = 0
        """The number that the next node had when it was attached."""
        self.shortens_names, self.hint = _learn_stale_wording(torch)
        self.pauses = ModePauses(self)
        """Takes the mode off where PyTorch's own code runs."""

        self.is_in_step = False
        """True while an optimizer writes in this thread: what it reads leaves the graph to no loss."""

        # About the last operation: `_is_output` tells an output that is saved from an input by these.
        # PyTorch has numbered the nodes of an operation when the mode sees it. So those of the last
        # one that made any have the numbers from `first_nr_of_operation` up to `next_node_nr`, without it.
        # In `y = x.exp(); z = y * y` the node of `exp` has number 1. The mode sees `exp`, and sets the two
        # to 1 and 2; then `exp` saves y, which has node 1: its own result. The product saves y when its
        # own node has got number 2 and before the mode sees it: there is one new node, and y is an input.
        self.next_node_nr = -1
        """The number of the next node when the last operation ran."""
        self.first_nr_of_operation = -1
        """The number of its first node: what `next_node_nr` was before it last changed."""
        self.written_tensor_id: int | None = None
        """The id of the tensor that it wrote to."""
        self.operation_thread = self.program_thread
        """The thread that it ran in."""
        self._node_nrs_by_thread: dict[int, tuple[int, int]] = {}
        """The two numbers above as another thread has left them."""

    def attach(self) -> None:
        """Call the watch for saves, writes and reads of this thread from now on."""
        autograd = self.torch._C._autograd
        with ExitStack() as stack:
            push_mode(self.mode)
            stack.callback(remove_mode, self.mode)
            self.pauses.attach(stack)
            autograd._push_saved_tensors_default_hooks(self.pack, self.unpack)
            self.has_hooks = True
            stack.callback(self._remove_hooks)
            for replacement in (
                watch_assignments(self.torch.Tensor),
                _watch_lists(self.torch.Tensor),
                _watch_parameters(self.torch.nn.Parameter),
                *watch_backwards(self.torch.Tensor),
                *watch_torch_runs(self.torch),
                watch_packing(self.torch.autograd.graph.saved_tensors_hooks),
                *watch_attributes(self.torch.autograd.function.BackwardCFunction),
            ):
                replacement.install()
                stack.callback(replacement.remove)
            # torch.func refuses to work under hooks: they step aside while it works.
            replacement = _make_hooks_step_aside(self.torch.autograd.graph)
            replacement.install()
            stack.callback(replacement.remove)
            self.attached = stack.pop_all()
            self.first_nr = self.get_sequence_nr()

    def detach(self) -> None:
        """Take the mode and the hooks off this thread again."""
        self.attached.close()

    def _remove_hooks(self) -> None:
        """Take the hooks off this thread's stack, below hooks of the program that last longer."""
        if not self.has_hooks:
            return
        self.has_hooks = False
        autograd = self.torch._C._autograd
        pairs_above = []
        while (top := autograd._top_saved_tensors_default_hooks(True)) is not None:
            autograd._pop_saved_tensors_default_hooks()
            if getattr(top[0], "__self__", None) is self:
                break
            pairs_above.append(top)
        else:
            # Ours were taken by a block that began earlier, see `remove_mode`.
            pairs_above = pairs_above[1:]
        for pair in reversed(pairs_above):
            autograd._push_saved_tensors_default_hooks(*pair)

    # -- writes --------------------------------------------------------------------

    def report_writes(
        self, func: Any, written_arguments: Any, args: tuple, kwargs: dict[str, Any]
    ) -> list[WriteInProgress | _UncountedListWrite]:
        """Note what an operation is about to write to."""
        has_new_node = self.get_sequence_nr() != self.next_node_nr
        node_nr = self.get_sequence_nr() if has_new_node else None
        if written_arguments is _WRITES_OF_BATCH_NORM_GRAD:
            # At the same positions as in the operation itself.
            running_mean, running_var, is_training = args[3], args[4], args[7]
            if is_training and node_nr is not None and running_mean is not None:
                self.watch.excuse_node(running_mean, node_nr)
                self.watch.excuse_node(running_var, node_nr)
            return []
        writes: list[WriteInProgress | _UncountedListWrite | None] = []
        for position, name in written_arguments:
            by_name = position is None or position >= len(args)
            value: Any = kwargs.get(name) if by_name else args[position]
            is_list = isinstance(value, (list, tuple))
            for tensor in value if is_list else (value,):
                if tensor is not None:
                    writes.append(self.watch.record_write(tensor))
                    self.written_tensor_id = id(tensor)
            # `_fused_adam_` and its like are never counted, with or without a mode.
            if is_list and func.__name__.startswith("_foreach_"):
                writes.append(_UncountedListWrite(self.torch.autograd.graph, value))
        if written_arguments is _WRITES_OF_BATCH_NORM:
            # The third is `training`; of `_batch_norm_with_update` it is the momentum, without which
            # nothing changes.
            running_mean, running_var, is_updating = args[3:6]
            # The node of this very operation has saved the running statistics, too, but its
            # gradient does not need them.
            if is_updating and running_mean is not None:
                writes.append(self.watch.record_write(running_mean, excused_nr=node_nr))
                writes.append(self.watch.record_write(running_var, excused_nr=node_nr))
        return [write for write in writes if write is not None]

    # -- values that leave the graph --------------------------------------------------

    def record_exit(
        self, func: Any, kind: Any, written_arguments: Any, args: tuple, kwargs: Any
    ) -> None:
        """Note that the values of arguments that require grad go on without their history.

        written_arguments: the position and name of each argument that is written to, and not read.
        """
        if self.is_in_step or kind == _NEVER_EXIT:
            return
        tensors, tensor_count = [], 0
        for position, value in enumerate((*args, *kwargs.values()) if kwargs else args):
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if not isinstance(tensor, self.torch.Tensor):
                    continue
                tensor_count += 1
                if not tensor.requires_grad:
                    continue
                if all(position != written for written, _ in written_arguments or ()):
                    tensors.append(tensor)
        if kind == "detach" and not self.has_hooks_on_top():
            return  # without hooks, PyTorch itself detaches what it saves
        if kind is None:
            is_enabled = self.torch.is_grad_enabled()
            kind = "no derivative" if is_enabled else "grad mode"
        if tensors or kind == "new leaf":
            name = func.__name__.partition(".")[0].strip("_")
            operation = "conversion" if name == "to_copy" else name
            # A layer has a parameter meet another tensor; averages of weights and logs do so in
            # other ways.
            is_use = name == "t" or (
                tensor_count > 1 and not written_arguments and name not in _COMPARING
            )
            make_reference = self._make_leaf_reference
            self.watch.record_exit(tensors, kind, operation, make_reference, is_use=is_use)

    def has_hooks_on_top(self) -> bool:
        """Return True if hooks on saved tensors hold."""
        return self.torch._C._autograd._top_saved_tensors_default_hooks(True) is not None

    def _make_leaf_reference(self, leaf: Any) -> LeafReference:
        """Return what knows a leaf again by its memory: no tensor may have a weak reference."""
        try:
            reference = import_module("torch.multiprocessing.reductions").StorageWeakRef(
                leaf.untyped_storage()
            )
        except (RuntimeError, NotImplementedError, AttributeError):
            return lambda _: False

        def is_same(tensor: Any) -> bool:
            return not reference.expired() and reference.cdata == tensor.untyped_storage()._cdata

        return is_same

    def record_list(self, tensor: Any) -> None:
        """Note `tolist`, which reads past all modes."""
        if tensor.requires_grad and self.torch._C._current_graph_task_id() < 0:
            self.watch.record_exit([tensor], "number", "tolist", self._make_leaf_reference)

    def record_source(self, tensor: Any) -> None:
        """Note that a parameter is made of a result, which PyTorch does past all modes."""
        self.watch.record_exit([tensor], "parameter", "Parameter", self._make_leaf_reference)

    def record_parameter(self, parameter: Any) -> None:
        """Note the line that made a parameter."""
        self.watch.record_parameter(parameter, self._make_leaf_reference(parameter))

    def follow_thread(self) -> None:
        """Go on with the numbers of nodes of this thread, after the last operation ran in another one.

        The engine runs the nodes of a GPU in a thread of its own, and each thread counts its nodes
        for itself.
        """
        thread = threading.get_ident()
        self._node_nrs_by_thread[self.operation_thread] = (
            self.next_node_nr,
            self.first_nr_of_operation,
        )
        self.operation_thread = thread
        newest_nr = self.get_sequence_nr() - 1
        self.next_node_nr, self.first_nr_of_operation = self._node_nrs_by_thread.get(
            thread, (newest_nr, newest_nr)
        )

    @property
    def has_made_nodes(self) -> bool:
        """False if nothing that its thread has computed since it was attached required grad."""
        return self.find_newest_nr() >= self.first_nr

    def find_newest_nr(self) -> int:
        """Return the number of the newest node that this thread has made: as far as it was seen, from another one."""
        if threading.get_ident() == self.program_thread:
            return int(self.get_sequence_nr()) - 1
        next_nrs = [next_nr for next_nr, _ in list(self._node_nrs_by_thread.values())]
        return max(self.node_lines.newest_nr, *(nr - 1 for nr in (self.next_node_nr, *next_nrs)))

    def note_new_node(self, next_node_nr: int) -> None:
        """Note that the operation that runs has made a node, and the line that did it."""
        self.first_nr_of_operation, self.next_node_nr = self.next_node_nr, next_node_nr
        # What it has saved may have told the line. Each thread numbers its nodes for itself.
        is_known = self.node_lines.newest_nr == next_node_nr - 1
        if not is_known and self.operation_thread == self.program_thread:
            self.node_lines.record_node(next_node_nr - 1)

    # -- saves and reads -----------------------------------------------------------

    # Pictures read what a node holds: by this type mypy compares it with what they need.
    def pack(self, tensor: Any) -> SaveUnderWatch:
        """Return the `WatchedSave` of a tensor, which the node that saves it holds in its place."""
        if self.watch.ended:  # and its thread goes on
            self._remove_hooks()
        if self.attributes.in_forward:
            self.attributes.record_ended_forwards()
        if self.pauses.stepping_optimizer is not None:
            self.pauses.resume()
        if threading.get_ident() != self.operation_thread:
            self.follow_thread()
        was_leaf = tensor.is_leaf
        sequence_nr = self.get_sequence_nr()
        new_nodes = sequence_nr - self.next_node_nr
        is_output = not was_leaf and self._is_output(tensor, new_nodes)
        save = self.watch.record_save(
            # A node that held its own result would never be freed.
            self.detach_unseen(tensor) if is_output else tensor,
            self._find_node_line(sequence_nr - 1, new_nodes),
            sequence_nr=sequence_nr,
            is_output=is_output,
            was_leaf=was_leaf,
            output_nr=tensor.output_nr if is_output else None,
        )
        # Only a view: PyTorch refuses to swap tensors that have a weak reference.
        if is_output and new_nodes and tensor._is_view():
            save.original = weakref.ref(tensor)
        return save

    def _find_node_line(self, node_nr: int, new_nodes: int) -> NodeLine | None:
        """Return the line that saves a tensor, for the node with this number."""
        node_lines = self.node_lines
        # What an operation saves before it runs is of one line. Later it may also be a Function, after
        # its forward, of which another line has run.
        if new_nodes and node_nr == node_lines.newest_nr:
            return node_lines.newest_node_line
        if self.operation_thread != self.program_thread:
            return self.watch.find_node_line()
        return node_lines.record_node(node_nr)

    def find_saving_line(self) -> NodeLine | None:
        """Return the line whose node saves a tensor now, in hooks of the program's own."""
        if threading.get_ident() != self.operation_thread:
            self.follow_thread()
        next_nr = self.get_sequence_nr()
        return self._find_node_line(next_nr - 1, next_nr - self.next_node_nr)

    def note_read_by_node(self, backward_nr: int) -> None:
        """Note that the node which backward is at reads what hooks of the program's own have packed."""
        node = self.find_node()
        node_line = None if node is None else self.node_lines.find_node_line(node._sequence_nr())
        if node_line is not None and not THREADS_IN_LOOK:
            self.node_lines.note_read(node_line, backward_nr)

    def _is_output(self, tensor: Any, new_nodes: int) -> bool:
        """Return True if a tensor is saved by the node that made it.

        PyTorch does not say so: its flag `is_output` is not seen by hooks. new_nodes: how many nodes are
        newer than the last operation that the mode has seen.
        """
        node = tensor.grad_fn
        if not new_nodes:
            # The last operation saves its results before a further node is made. What has a node from
            # before `first_nr_of_operation` is an input of it, or of an operation without a node.
            is_of_last_operation = node._sequence_nr() >= self.first_nr_of_operation
            return bool(is_of_last_operation) and not self._is_saved_by_checkpoint()
        if new_nodes == 1 and isinstance(node, self.torch._C._FunctionBase):
            # The new node is that of a Function in whose forward no operation ran. It saves after its
            # forward: beside its results also tensors from elsewhere, which have nodes from before.
            return bool(node._sequence_nr() == self.next_node_nr)
        # A view that the last operation wrote in place, after which PyTorch has made both of its nodes.
        return (
            new_nodes == _NODES_OF_A_VIEW
            and id(tensor) == self.written_tensor_id
            and tensor._is_view()
        )

    def _is_saved_by_checkpoint(self) -> bool:
        """Return True if no node saves the tensor, but a checkpoint, as an input of its function."""
        checkpoint = sys.modules.get("torch.utils.checkpoint")
        frame = getattr(checkpoint, "_CheckpointFrame", None)
        save_inputs = getattr(frame, "save_inputs", None)
        if save_inputs is None:
            return False
        # 0 is this function, 1 `_is_output`, and 2 `pack`, which torch calls.
        caller = sys._getframe(2).f_back
        # In between may be the frame of a comprehension. In a thread of the engine's own, nothing
        # has called.
        for _ in range(2):
            if caller is None:
                return False
            if caller.f_code is save_inputs.__code__:
                return True
            caller = caller.f_back
        return False

    def detach_unseen(self, tensor: Any) -> Any:
        """Return a detached alias. Other modes and tensor subclasses see what they see without a watch."""
        is_plain = type(tensor).__torch_dispatch__ is self.torch.Tensor.__torch_dispatch__
        if is_plain and self.torch._C._len_torch_dispatch_stack() == 1:
            with self.torch._C._DisableTorchDispatch():
                return tensor.detach()
        # The mode sees this `detach`, too, which is no operation of the program's.
        last_operation = self.next_node_nr, self.first_nr_of_operation, self.written_tensor_id
        alias = tensor.detach()
        self.next_node_nr, self.first_nr_of_operation, self.written_tensor_id = last_operation
        return alias

    def record_alias(self, tensor: Any, node_line: NodeLine | None) -> WatchedSave:
        """Return a `WatchedSave` of a tensor's memory that does not keep its graph alive."""
        return self.watch.record_alias(self.detach_unseen(tensor), node_line)

    def unpack(self, save: WatchedSave) -> Any:
        """Return the tensor that a node reads. Raises RuntimeError where backward raises."""
        backward_nr = self.torch._C._current_graph_task_id()
        if backward_nr >= 0 and save.was_detached and not is_function_node(self.find_node()):
            raise RuntimeError(DETACHED_MESSAGE)  # raises as the engine does
        if save.is_stale:
            error = RuntimeError(self._compose_stale_error(save))
            if backward_nr >= 0:
                self.watch.report_stale_read(
                    save, name_of_node(self.find_node()), backward_nr, error
                )
            raise error  # raises as the engine does
        # Elsewhere a user reads `grad_fn._saved_...`: that is no read of backward.
        if backward_nr >= 0:
            self.watch.check_read(save, self.find_node, backward_nr)
            if save.node_line is not None and not THREADS_IN_LOOK:
                self.node_lines.note_read(save.node_line, backward_nr)
            self.pauses.pause_for_formula(sys._getframe().f_back)
        if THREADS_ON_SAVED_VALUES and find_program_thread() in THREADS_ON_SAVED_VALUES:
            return save.make_saved_tensor()
        return save.tensor

    # Read by `viz/read/probe.py`: this hook may be called by a look, and gives the tensor itself.
    unpack.is_of_watch = True  # type: ignore[attr-defined]

    def find_node(self) -> Any:
        """Return the node that backward is at."""
        return self.torch._C._current_autograd_node()

    def _compose_stale_error(self, save: WatchedSave) -> str:
        """Return PyTorch's error for a saved tensor that was written since."""
        tensor = save.tensor
        scalar_type = tensor.type().rpartition(".")[2].removesuffix("Tensor")
        device = tensor.device.type
        kind = f"{device.upper()}{scalar_type}Type"
        if scalar_type in _SCALAR_TYPES_WITH_CLASS:
            kind = f"torch.{'' if device == 'cpu' else device + '.'}{scalar_type}Tensor"
        # The error names the node that made the tensor. Of a view that was written in place, that
        # is the node that the view itself has now.
        original = save.original() if save.original is not None else None
        maker = None
        if original is not None:
            maker = original.grad_fn
        elif not save.is_output:
            maker = tensor.grad_fn
        if maker is None and not save.was_leaf:
            maker = self.find_node()
        is_anomaly_enabled = self.torch.is_anomaly_enabled()
        text = stale_text(
            kind,
            _print_sizes(self.torch, tensor),
            maker,
            save.output_nr or 0,  # of an input PyTorch says 0, whichever output of its node it is
            tensor._version,
            save.saved_version,
            is_anomaly_enabled,
        )
        if maker is not None and not self.shortens_names:
            name = name_of_node(maker)
            text = text.replace(f" of {short_name(name)},", f" of {name},", 1)
        return text if is_anomaly_enabled else text.partition("Hint: ")[0] + self.hint


@cache
def _learn_stale_wording(torch: Any) -> tuple[bool, str]:
    """Return True if the installed release shortens the names of nodes in errors, and its hint.

    2.12 and older say `MulBackward0` where later ones say `Mul`; 2.10 and older have a shorter hint.
    """
    text = _provoke_stale_error(torch, lambda: torch.ones(1, device="cpu"))
    _, hint, rest = text.partition("Hint: ")
    return " of Mul," in text, hint + rest


def _print_sizes(torch: Any, tensor: Any) -> str:
    """Return the sizes of a tensor as PyTorch's error has them."""
    if not (tensor.is_nested and tensor.layout == torch.strided):
        return str(list(tensor.shape))
    # Such a nested tensor has no shape. In its place the error has the tensor of all sizes, as C++
    # prints it and nothing in Python does: an error for another tensor of these sizes has the same.
    text = _provoke_stale_error(torch, lambda: torch.zeros_like(tensor.detach()))
    kind_and_sizes = text.partition("operation: [")[2].partition("], which is output")[0]
    return kind_and_sizes.partition(" ")[2]


def _provoke_stale_error(torch: Any, make_values: Callable[[], Any]) -> str:
    """Return PyTorch's error for a product that was written since it was saved."""

    def raise_error() -> str:
        with torch.autograd.set_detect_anomaly(False):
            product = make_values().requires_grad_() * 1.0
            node = (product * product).grad_fn
            product.mul_(1.0)
            try:
                node._saved_self  # noqa: B018 - reading it raises
            except RuntimeError as error:
                return str(error)
        raise AssertionError("PyTorch gave out a saved tensor that was written since")

    # Modes and hooks of the program belong to its own thread: they neither see nor change this.
    return run_in_unwatched_thread(raise_error)


@cache
def _watch_lists(tensor_class: Any) -> Replacement:
    """Report what `tolist` reads."""

    def replace(tolist: Any) -> Any:
        @wraps(tolist)
        def tolist_reported(self: Any) -> Any:
            for hooks in _find_hooks_of_thread():
                hooks.record_list(self)
            return tolist(self)  # raises as the engine does

        return tolist_reported

    return Replacement(tensor_class, "tolist", replace)


@cache
def _watch_parameters(parameter_class: Any) -> Replacement:
    """Report new parameters, and the results of which they are made."""

    def record_result(data: Any) -> None:
        for hooks in _find_hooks_of_thread():
            hooks.record_source(data)

    def record_made(parameter: Any) -> None:
        for hooks in _find_hooks_of_thread():
            hooks.record_parameter(parameter)

    return report_parameters(parameter_class, record_result, record_made)


def _find_hooks_of_thread() -> list[TorchHooks]:
    found = [watch.find_torch_hooks() for watch in find_watches_of_thread()]
    return [hooks for hooks in found if hooks is not None]


@cache
def _make_hooks_step_aside(graph: Any) -> Replacement:
    """Replace PyTorch's `disable_saved_tensors_hooks`, which refuses to work under hooks.

    In its place the hooks of watches are taken off, and put back afterwards.
    """

    def replace(disable: Any) -> Any:
        autograd = import_module("torch")._C._autograd

        @contextmanager
        def disable_saved_tensors_hooks(message: str) -> Iterator[None]:
            pairs = []
            # The message is what PyTorch raises where the program enters hooks of its own.
            is_func = str(message).startswith("torch.func.")
            name = "torch.func" if is_func else "disable_saved_tensors_hooks"
            while (top := autograd._top_saved_tensors_default_hooks(True)) is not None:
                if getattr(top[0], "__func__", None) is not TorchHooks.pack:
                    break
                autograd._pop_saved_tensors_default_hooks()
                pairs.append(top)
                top[0].__self__.watch.gaps.count_step_aside(name)
            try:
                with disable(message):
                    yield
            finally:
                for pair in reversed(pairs):
                    autograd._push_saved_tensors_default_hooks(*pair)

        return disable_saved_tensors_hooks

    return Replacement(graph, "disable_saved_tensors_hooks", replace)


def _find_written_arguments(func: Any) -> tuple[tuple[int | None, str], ...] | None:
    """Return position and name of each argument that an operation writes to; None without any."""
    name = func.__name__.partition(".")[0]
    arguments = func._schema.arguments
    # One overload of batch norm keeps no running statistics.
    if len(arguments) > 3 and arguments[3].name == "running_mean":
        if name in _BATCH_NORMS:
            return _WRITES_OF_BATCH_NORM
        if name in _BATCH_NORM_GRADS:
            return _WRITES_OF_BATCH_NORM_GRAD
    written: list[tuple[int | None, str]] = []
    for position, argument in enumerate(arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            written.append((None if argument.kwarg_only else position, argument.name))
    if written == [(0, "self")] and str(arguments[0].type) == "Tensor":
        return _WRITES_SELF
    return tuple(written) or None


def _find_exit_kind(func: Any) -> Any:
    """Return how values leave the graph by an operation; None if it depends on the call.

    Of such a call `record_exit` says "grad mode" or "no derivative".
    """
    name = func.__name__.partition(".")[0]
    if name in _NO_VALUES or name.endswith("_like") or name.startswith("new_"):
        return _NEVER_EXIT
    exit_kind = _EXIT_KINDS.get(name)
    # `max()` of all elements gives a value alone, which has a node.
    if exit_kind == "indices" and len(func._schema.returns) < 2:
        return None
    return exit_kind


def _find_call(torch: Any, func: Any) -> Any:
    """Return what runs an operation below the mode as it would run without one.

    Operations that are made of others come to a mode whole in inference mode and for tensors that
    were made there. Below a mode, views are not recorded as views (the key ADInplaceOrView is
    excluded): those others have to find it as the program had it.
    """
    call = getattr(func, "_op", func)
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    try:
        # A few (chunk, native_batch_norm) have kernels beside, and these have run by now.
        is_composite = has_kernel(func.name(), "CompositeImplicitAutograd") and not any(
            has_kernel(func.name(), key) for key in ("ADInplaceOrView", "Autograd", "AutogradCPU")
        )
    except (AttributeError, RuntimeError):  # `prim::device` is no operation of the dispatcher
        return call
    if not is_composite:
        return call
    is_excluded = torch._C._dispatch_tls_is_dispatch_key_excluded
    set_excluded = torch._C._dispatch_tls_set_dispatch_key_excluded

    def call_with_views(*args: Any, **kwargs: Any) -> Any:
        if not is_excluded("ADInplaceOrView"):
            return call(*args, **kwargs)  # raises as the engine does
        set_excluded("ADInplaceOrView", False)
        try:
            return call(*args, **kwargs)  # raises as the engine does
        finally:
            set_excluded("ADInplaceOrView", True)

    return call_with_views


def _make_plan(torch: Any, func: Any) -> tuple[Any, Any, Any, Any]:
    """Return what a mode needs to know of an operation, found out once for all of its calls.

    Which arguments it writes to, what runs it, how values leave the graph by it, and the operation.
    """
    written_arguments = _find_written_arguments(func)
    return written_arguments, _find_call(torch, func), _find_exit_kind(func), func


def _make_dispatch_mode(hooks: TorchHooks) -> Any:
    """Make a dispatch mode that reports what operations write to."""
    # By `id`: the hash of an operation takes as long as all the rest. The operation itself is the last
    # of its plan, so that its id is not reused.
    plans: dict[int, tuple[Any, Any, Any, Any]] = {}
    get_sequence_nr, record_write = hooks.get_sequence_nr, hooks.watch.record_write
    get_backward_nr = hooks.torch._C._current_graph_task_id
    # One list for all time: this is asked for each operation.
    in_forward = hooks.attributes.in_forward
    is_grad_enabled, get_thread = hooks.torch.is_grad_enabled, threading.get_ident

    class WatchingMode(get_quiet_mode_class()):  # type: ignore[misc]
        program_thread = hooks.program_thread

        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple = (), kwargs: Any = None
        ) -> Any:
            plan = plans.get(id(func))
            if plan is None:
                plan = plans[id(func)] = _make_plan(hooks.torch, func)
            written_arguments, call, exit_kind, _ = plan
            writes: Any = ()
            if get_thread() != hooks.operation_thread:
                hooks.follow_thread()
            if in_forward:
                hooks.attributes.record_ended_forwards()
            if written_arguments is None:
                hooks.written_tensor_id = None
            elif written_arguments is _WRITES_SELF:
                hooks.written_tensor_id = id(args[0])
                if get_backward_nr() >= 0 and is_shared_gradient(hooks, args[0]):
                    hooks.watch.gaps.count_shared_gradient(hooks.watch.find_place())
                write = record_write(args[0])
                if write is not None:
                    writes = (write,)
            else:
                writes = hooks.report_writes(func, written_arguments, args, kwargs or {})
            next_node_nr = get_sequence_nr()
            if has_new_node := next_node_nr != hooks.next_node_nr:
                hooks.note_new_node(next_node_nr)
            # The node of a Function, inside of which grad mode is off, was made by no operation.
            if (not has_new_node or exit_kind or not is_grad_enabled()) and get_backward_nr() < 0:
                hooks.record_exit(func, exit_kind, written_arguments, args, kwargs)
            try:
                return call(*args, **kwargs) if kwargs else call(*args)  # raises as the engine does
            finally:
                for write in writes:
                    write.end()

    return WatchingMode()
