"""Saved tensors: what a node keeps for backward, with the version that each tensor had.

A node's `_saved` is a tuple with an entry for each saved value: a `SavedTensor`; a `SavedNumber`,
for a Python number that torch saves as a 0-d tensor; a `SavedList` of an argument that is a list
of tensors; else the value itself (a size, a flag, None). A node's own result is saved as an alias
without history, so that node and result do not keep each other alive; it gets its `grad_fn` back
when it is read. Source: torch's `SavedVariable` (`torch/csrc/autograd/saved_variable.cpp`).
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..base import type_name
from .autograd_meta import TensorBase, materialize_meta, needs_grad
from .modes import MODES, call_user, no_grad
from .node_names import name_of_node, short_name
from .operations import NEEDED_OPERATIONS

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after "
    "calling backward."
)

DETACHED_MESSAGE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with "
    ".detach_().This is not supported, please use out-of-place `.detach()` instead"
)

THREADS_WITH_HOOKS: set[int] = set()
"""Threads with active hooks on saved tensors. Saving a tensor only checks whether this is empty."""

PACKED_BEFORE: set[int] = set()
"""Threads in which a hook has packed a tensor, ever. Backward only checks whether this is empty."""

_new = object.__new__


def set_saved_tensor_hooks(pairs: tuple) -> None:
    """Set this thread's active pairs of pack hook and unpack hook, the innermost last."""
    thread = MODES.thread
    thread.saved_tensor_hooks = pairs
    (THREADS_WITH_HOOKS.add if pairs else THREADS_WITH_HOOKS.discard)(id(thread))


# the entries of a node -------------------------------------------------------------------------


class Saved:
    """Base of the entries of a node that backward frees. All other entries are read as they are."""

    __slots__ = ()

    def read_for_formula(self, node: Any, on_arrays: bool) -> Any:
        """Return what a formula of `node` computes with: arrays if `on_arrays`, else tensors."""
        raise NotImplementedError

    def unpack(self, node: Any = None) -> Any:
        """Return what the user sees as `grad_fn._saved_*`."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what is saved; reading it afterwards raises."""
        raise NotImplementedError


class PackedTensor(NamedTuple):
    """What a pack hook made of a saved tensor, and the place in the graph that the tensor had."""

    value: Any  # what the hook returned
    unpack_hook: Callable
    edge: Any  # where gradients of the tensor flow; None for a view without an edge of its own
    required_grad: bool


# Value of a `PackedTensor` whose pack hook has not returned: it may raise.
_NOT_PACKED_YET: Any = object()
_NOT_GIVEN: Any = object()


class SavedTensor(Saved):
    """A tensor saved for backward, as `grad_fn._raw_saved_*` shows it.

    Reading it checks that the tensor was not written to. `tensor` is None once it is freed, or
    packed by a hook; `saved_version` is None if there was nothing to save; `output_nr` is None unless
    the tensor is a result of the node.
    """

    __slots__ = ("node", "output_nr", "packed", "saved_version", "tensor")
    __module__ = "torch._C._autograd"

    tensor: Any
    saved_version: int | None
    output_nr: int | None
    packed: PackedTensor | None
    # Of the node; set when the user gets hold of this object.
    node: weakref.ref | None
    # Read by pictures, which do not show a wrapped number as a tensor that may go stale.
    is_number = False

    def __init__(self, tensor: Any = _NOT_GIVEN) -> None:
        if tensor is _NOT_GIVEN:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self.tensor = tensor
        self.saved_version = None if tensor is None else tensor._counter.version
        self.output_nr = self.packed = self.node = None

    def read_for_formula(self, node: Any, on_arrays: bool) -> Any:
        """Return the tensor or its array.

        RuntimeError if it was freed, written to or detached in place since.
        """
        tensor = self.tensor
        if tensor is not None:
            meta = tensor._meta
            is_current = self.saved_version == tensor._counter.version
            # The usual case. It is worth a branch, as it takes a third of the time of `unpack`.
            if is_current and on_arrays and (meta is None or not meta.detached_at):
                return tensor._data
            # Nodes with a lower number saved it before `detach_()` was called on it.
            detached_at = 0 if meta is None else meta.detached_at
            if self.output_nr is None and node._sequence_number < detached_at:
                raise RuntimeError(DETACHED_MESSAGE)
        tensor = self.unpack(node)
        return tensor._data if on_arrays and tensor is not None else tensor

    def unpack(self, node: Any = None) -> Any:
        """Return the saved tensor; without `node`, as the user calls `_raw_saved_other.unpack()`.

        RuntimeError, in torch's words, if it was freed or written to since. For the user also if it
        was detached in place, and for each result of the node, which is held without its history.
        """
        is_called_by_user = node is None
        if node is None and self.node is not None:
            node = self.node()
        # `tensor` is None in three cases: packed, nothing to save, freed; told apart in this order.
        if self.packed is not None:
            return self._unpack_by_hook(node)
        tensor = self.tensor
        if tensor is None:
            if self.saved_version is None:
                return None
            raise RuntimeError(FREED_MESSAGE)
        if tensor._counter.version != self.saved_version:
            raise RuntimeError(describe_stale(node, tensor, self.saved_version, self.output_nr))
        if tensor._view_meta is not None:
            # Raises for a view whose base was written to so that it has no history.
            tensor.grad_fn  # noqa: B018
        if is_called_by_user and node is not None and self._has_lost_history(node):
            raise RuntimeError(DETACHED_MESSAGE)
        if self.output_nr is None or node is None:
            return tensor
        return as_output(tensor, node, self.output_nr)

    def _has_lost_history(self, node: Any) -> bool:
        """Return True if what is saved is no longer where it was in the graph."""
        if self.output_nr is not None:
            return bool(self.tensor._data.dtype.kind == "f")  # indices have no history to lose
        meta = self.tensor._meta
        return meta is not None and node._sequence_number < meta.detached_at

    def release(self) -> None:
        """Free the tensor, and what a hook made of it."""
        self.tensor = self.packed = None

    @property
    def data(self) -> Any:
        """The saved tensor, or what a pack hook made of it; None once it is freed."""
        return self.tensor if self.packed is None else self.packed.value

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook by which the tensor is read, if there is one."""
        return None if self.packed is None else self.packed.unpack_hook

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Save `pack_hook(tensor)` in place of the tensor; backward reads `unpack_hook` of that.

        RuntimeError if there are hooks, if the tensor was freed, or if the pack hook writes to it.
        """
        if self.saved_version is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if self.packed is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been "
                "set. Hint: only one pair of hooks is allowed at a time."
            )
        if self.tensor is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through "
                "the graph a second time or if you need to access saved variables after "
                "calling backward."
            )
        self.pack((pack_hook, unpack_hook), self.tensor.detach())

    def pack(self, hooks: tuple[Callable, Callable], shown: Any) -> None:
        """Save `pack_hook(shown)` in place of the tensor. `hooks`: pack hook and unpack hook."""
        pack_hook, unpack_hook = hooks
        tensor, self.tensor = self.tensor, None
        is_leaf = tensor._meta is not None and tensor._meta.requires_grad
        edge = (tensor, 0) if is_leaf else None
        if tensor.grad_fn is not None:
            edge = tensor._edge
        # If the pack hook raises, torch calls the unpack hook with nothing.
        packed = PackedTensor(_NOT_PACKED_YET, unpack_hook, edge, needs_grad(tensor))
        self.packed = packed
        version = tensor._counter.version
        thread = MODES.thread
        PACKED_BEFORE.add(id(thread))
        thread.packing = self
        try:
            with no_grad():
                self.packed = packed._replace(value=call_user(pack_hook, shown))
        finally:
            thread.packing = None
        if tensor._counter.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided "
                "as input to pack hook cannot be modified by in-place operations as this "
                "can lead to unexpected side-effects. Please open an issue if you need to "
                "perform in-place operations on the input to a pack hook."
            )

    def _unpack_by_hook(self, node: Any) -> Any:
        """Return the tensor that the unpack hook gives, at the place that it had in the graph."""
        packed: Any = self.packed
        arguments = () if packed.value is _NOT_PACKED_YET else (packed.value,)
        tensor = call_user(packed.unpack_hook, *arguments)
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result "
                f"of type {type_name(tensor)}"
            )
        if self.output_nr is not None:
            return tensor if node is None else as_output(tensor, node, self.output_nr)
        if not (packed.required_grad or needs_grad(tensor)):
            return tensor
        alias = tensor._alias()
        if packed.edge is not None:
            # Gradients flow to where the saved tensor was in the graph, even if that is a leaf.
            alias._edge = packed.edge
        elif packed.required_grad:
            # The saved tensor was a view that requires grad by its base alone, and has no edge of
            # its own.
            materialize_meta(alias).requires_grad = True
        return alias


class SavedTensorOfNumber(SavedTensor):
    """The tensor of a `SavedNumber`, once the user looked at it; no other code can write to it."""

    __slots__ = ()
    __module__ = "torch._C._autograd"
    __qualname__ = "SavedTensor"

    is_number = True


SavedTensorOfNumber.__name__ = "SavedTensor"  # torch has one class for both, and prints its name


class SavedNumber(Saved):
    """A Python number that torch saves as a 0-d tensor.

    The tensor is made only when somebody looks at it.
    """

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        self.number: float | None = number

    def read_for_formula(self, node: Any, on_arrays: bool) -> Any:
        """Return the number, which NumPy and operations take as it is.

        RuntimeError if it was freed.
        """
        if self.number is None:
            raise RuntimeError(FREED_MESSAGE)
        return self.number

    def unpack(self, node: Any = None) -> Any:
        """Return the 0-d tensor. RuntimeError if it was freed."""
        return NEEDED_OPERATIONS.tensor_of_number(self.read_for_formula(node, True))

    def release(self) -> None:
        """Free the number, as torch frees the tensor."""
        self.number = None

    def as_saved_tensor(self) -> SavedTensor:
        """Return the object that `grad_fn._raw_saved_*` shows."""
        saved = SavedTensorOfNumber(NEEDED_OPERATIONS.tensor_of_number(self.number or 0))
        if self.number is None:
            saved.release()
        return saved


class SavedList(tuple[SavedTensor, ...], Saved):
    """The saved tensors of an argument that is a list, as the indices of `x[i, j]`."""

    __slots__ = ()

    def read_for_formula(self, node: Any, on_arrays: bool) -> tuple:
        """Return the tensors or their arrays; None for an entry of the list that is None."""
        tensors = self.unpack(node)
        if not on_arrays:
            return tensors
        return tuple([None if t is None else t._data for t in tensors])

    def unpack(self, node: Any = None) -> tuple:
        """Return the tensors. RuntimeError if one was freed or written to since."""
        return tuple([saved.unpack(node) for saved in self])

    def release(self) -> None:
        """Free all of them."""
        for saved in self:
            saved.release()


# saving ----------------------------------------------------------------------------------------


def save_tensor(tensor: TensorBase) -> SavedTensor:
    """Return a tensor as a node saves it. RuntimeError for an inference tensor."""
    # `SavedTensor(tensor)`, at half of its cost: each node makes one or two
    saved = _new(SavedTensor)
    saved.tensor = tensor
    saved.saved_version = tensor._counter.version
    saved.output_nr = saved.packed = saved.node = None
    if THREADS_WITH_HOOKS and (pairs := MODES.thread.saved_tensor_hooks):
        saved.pack(pairs[-1], tensor)
    return saved


def save_value(value: Any) -> Any:
    """Return a value as a node saves it: a tensor, a sequence with tensors, or anything else."""
    if isinstance(value, TensorBase):
        return save_tensor(value)
    if type(value) in (tuple, list) and any([isinstance(v, TensorBase) for v in value]):
        return SavedList([SavedTensor(None) if v is None else save_tensor(v) for v in value])
    return value


def save_result(result: TensorBase, output_nr: int = 0) -> SavedTensor:
    """Return a node's own result as the node saves it.

    `result` must have its history, as pack hooks see that.
    """
    alias = result.detach()
    if result._view_meta is not None:
        # It was written to in place. Its `grad_fn` is that of a view, and not the node that saves
        # it: `grad_fn_shown` reads it from here.
        alias.source = weakref.ref(result._edge[0])  # type: ignore[attr-defined]
    saved = SavedTensor(alias)
    saved.output_nr = output_nr
    if THREADS_WITH_HOOKS and (pairs := MODES.thread.saved_tensor_hooks):
        saved.pack(pairs[-1], result)
    return saved


def show_saved(node: Any, index: int) -> Any:
    """Return saved tensor number `index`, or the list of them, as objects for the user."""
    saved = node._saved[index]
    if isinstance(saved, SavedNumber):
        saved = saved.as_saved_tensor()
    elif not isinstance(saved, Saved):
        saved = SavedTensor(saved)
    for part in saved if isinstance(saved, SavedList) else (saved,):
        part.node = weakref.ref(node)
    # From now on it is in the node itself, where hooks registered on it have effect.
    node._saved = (*node._saved[:index], saved, *node._saved[index + 1 :])
    return saved


def saved_arrays(node: Any, indices: Iterable[int]) -> list[np.ndarray]:
    """Return the arrays of what a node saved at these indices: of tensors, neither freed nor packed."""
    arrays = []
    for index in indices:
        saved = node._saved[index]
        if isinstance(saved, SavedTensor) and saved.tensor is not None:
            arrays.append(saved.tensor._data)
    return arrays


# reading ---------------------------------------------------------------------------------------


def as_output(tensor: Any, node: Any, output_nr: int) -> Any:
    """Return an alias of a saved result, which is the output of its node again."""
    alias = tensor._alias()
    if tensor._data.dtype.kind == "f":  # the indices of `max` have no history
        alias._edge = (grad_fn_shown(node, tensor), output_nr)
    return alias


def grad_fn_shown(node: Any, tensor: Any) -> Any:
    """Return the `grad_fn` that torch shows for a saved result of `node`."""
    # `save_result` sets `source`, and nothing else sets an attribute on such an alias.
    return (tensor.__dict__ and tensor.source()) or node


def describe_stale(node: Any, tensor: Any, saved_version: int | None, output_nr: int | None) -> str:
    """Return torch's error for a saved tensor that was written to since it was saved."""
    if output_nr is not None:
        grad_fn, number = grad_fn_shown(node, tensor), output_nr
    else:
        grad_fn = tensor.grad_fn
        number = 0  # torch says 0 for any input, whichever output of its node it is
        meta = tensor._meta
        if (
            grad_fn is None
            and node is not None
            and meta is not None
            and node._sequence_number < meta.detached_at
        ):
            # For a tensor that was detached in place torch names the node that saved it.
            grad_fn = node
    tensor_type = f"torch.{'cuda.' if tensor.is_cuda else ''}{tensor.dtype.tensor_type}"
    if tensor.dtype.called == "bool":  # torch has no legacy type for bool, and prints the scalar's
        tensor_type = f"{tensor.device.type.upper()}{tensor.dtype.scalar_name}Type"
    version = tensor._version
    sizes = str(list(tensor.shape))
    return stale_text(tensor_type, sizes, grad_fn, number, version, saved_version, MODES.anomaly)


def stale_text(
    tensor_type: str,
    sizes: str,
    node: Any,
    output_nr: int,
    version: int,
    saved_version: int | None,
    anomaly: bool,
) -> str:
    """Return torch's message.

    `node`: that of which the tensor is output `output_nr`, in either engine; None for a leaf.
    `sizes`: the tensor's shape as torch prints it. `version`: that of now. `saved_version`: that at
    which it was saved.
    """
    origin = ""
    if node is not None:
        origin = f", which is output {output_nr} of {short_name(name_of_node(node))},"
    hint = (
        "enable anomaly detection to find the operation that failed to compute its "
        "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    if anomaly:
        hint = (
            "the backtrace further above shows the operation that failed to compute its "
            "gradient. The variable in question was changed in there or anywhere later. "
            "Good luck!"
        )
    return (
        "one of the variables needed for gradient computation has been modified by an "
        f"inplace operation: [{tensor_type} {sizes}]{origin} is at version {version}; "
        f"expected version {saved_version} instead. Hint: {hint}"
    )


# hooks on all that is saved --------------------------------------------------------------------


class saved_tensors_hooks:
    """Context manager: tensors saved inside go through `pack_hook`, and are read by `unpack_hook`.

    Source: `torch.autograd.graph.saved_tensors_hooks`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if MODES.thread.saved_tensor_hooks_refusal is not None:
            raise RuntimeError(MODES.thread.saved_tensor_hooks_refusal)
        set_saved_tensor_hooks(
            (*MODES.thread.saved_tensor_hooks, (self.pack_hook, self.unpack_hook))
        )

    def __exit__(self, *exc: object) -> None:
        set_saved_tensor_hooks(MODES.thread.saved_tensor_hooks[:-1])


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context manager in which `saved_tensors_hooks` raises a RuntimeError with this message.

    RuntimeError, too, where such hooks are active. Source: the same in `torch.autograd.graph`.
    """
    thread = MODES.thread
    if thread.saved_tensor_hooks:
        raise RuntimeError(error_message)
    earlier, thread.saved_tensor_hooks_refusal = thread.saved_tensor_hooks_refusal, error_message
    try:
        yield
    finally:
        thread.saved_tensor_hooks_refusal = earlier


disable_saved_tensors_hooks.__module__ = "torch.autograd.graph"
