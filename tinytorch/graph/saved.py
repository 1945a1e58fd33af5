"""Saved tensors: what a node keeps for backward, with the version it saw.

Source: torch's `SavedVariable`. An input is kept as the very object; a result is kept as an alias without history, so
that node and result do not hold each other, and is given its `grad_fn` back when it is read.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..naming import type_name
from ..slots import TensorBase
from .modes import MODES, no_grad

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class _HookStack(list[tuple[int, Callable, Callable]]):
    """The pairs of hooks that hold now, innermost last, each with the thread it holds in.

    Mostly empty, which is all that saving a tensor has to look at; `changes` is all that a walk backward looks at.
    """

    __slots__ = ("changes",)

    def __init__(self) -> None:
        self.changes = 0

    def here(self) -> list[tuple[int, Callable, Callable]]:
        """The pairs of this thread."""
        me = threading.get_ident()
        return [entry for entry in self if entry[0] == me]

    def restore(self, mine: list[tuple[int, Callable, Callable]]) -> int:
        """Have these hold in this thread, and no others; gives the number of changes to compare with later."""
        me = threading.get_ident()
        self[:] = [entry for entry in self if entry[0] != me] + mine
        return self.changes


HOOKS = _HookStack()


def _hooks_here() -> tuple[Callable, Callable] | None:
    me = threading.get_ident()
    return next(((pack, unpack) for thread, pack, unpack in reversed(HOOKS) if thread == me), None)


# A tensor kept for backward that nobody has looked at: [the tensor, its version, whether it was a leaf]. It costs a third
# of a `SavedTensor`, which `SavedTensor.of` makes of it.
Kept = list


_NOTHING = object()  # what a pack hook that raised has made


class KeptMany(tuple):
    """Several tensors kept under one name; None where there was none."""

    __slots__ = ()


def kept(value: Any, needed: bool = True) -> Any:
    """A value as a node keeps it: tensors with their version, or None where no gradient needs them; others as they are."""
    if isinstance(value, TensorBase):
        if not needed:
            return None
        return SavedTensor(value) if HOOKS else kept_tensor(value)
    if type(value) is tuple:
        for v in value:
            if isinstance(v, TensorBase):
                return KeptMany([kept(v) for v in value])
    elif not needed and isinstance(value, SavedTensor):
        return None  # a number, which torch saves as a tensor
    return value


def kept_tensor(tensor: Any) -> Kept:
    """A tensor as a node keeps it. RuntimeError for one made in inference mode."""
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
            "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
            "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    counter = tensor._counter
    return [tensor, 0 if counter is None else counter.version, tensor._fn is None]


def value_of(value: Any, node: Any) -> Any:
    """A kept value as a formula reads it. RuntimeError, in torch's words, if it was freed or changed in place since."""
    if type(value) is Kept:
        tensor, version, leaf = value
        if tensor is not None and (leaf or tensor._fn is not None):
            counter = tensor._counter
            if version == (0 if counter is None else counter.version):
                return tensor
        return SavedTensor.of(value).for_formula(node)
    if isinstance(value, SavedTensor):
        return value.for_formula(node)
    return shown(value, node) if type(value) is KeptMany else value


def shown(value: Any, node: Any) -> Any:
    """A kept value as `grad_fn._saved_*` gives it."""
    if type(value) is Kept:
        value = SavedTensor.of(value)
    if isinstance(value, SavedTensor):
        return value.show(node)
    if type(value) is KeptMany:
        return tuple([shown(v, node) for v in value])
    return tuple(value) if isinstance(value, tuple) else value  # sizes read as plain tuples


def freed(value: Any) -> None:
    """Let a kept tensor go; numbers and sizes stay readable, as in torch."""
    if type(value) is Kept:
        value[0] = None
    elif type(value) is KeptMany:
        for v in value:
            freed(v)
    elif isinstance(value, SavedTensor):
        value.release()


class SavedTensor:
    """One tensor kept for backward; reading it checks that it was not written to since."""

    __slots__ = ("_hooks", "_leaf", "_origin", "_tensor", "_version")

    def __init__(self, tensor: Any = None) -> None:
        if tensor is None:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._tensor, self._version, self._leaf = kept_tensor(tensor)
        self._hooks = None
        if HOOKS and (pair := _hooks_here()) is not None:
            self._pack(pair, tensor, tensor)

    @classmethod
    def of(cls, value: Kept) -> SavedTensor:
        """The object for a tensor that was kept without one."""
        saved = object.__new__(cls)
        saved._tensor, saved._version, saved._leaf = value
        saved._hooks = None
        return saved

    def unpack(self, node: Any = None) -> Any:
        """The saved tensor. RuntimeError, in torch's words, if it was freed or changed in place since."""
        if self._hooks is not None:
            return self._unpack_hook(node)
        tensor = self._tensor
        if tensor is None:
            raise RuntimeError(FREED)
        if tensor._vc.version != self._version:
            raise RuntimeError(self._stale(tensor, node))
        if tensor._view is not None:
            tensor.grad_fn  # noqa: B018 - a view whose base was written to may not have one any more, and says so
        return self._restore(tensor, node)

    def show(self, node: Any) -> Any:
        """What `grad_fn._saved_*` gives."""
        return self.unpack(node)

    def for_formula(self, node: Any) -> Any:
        """The saved tensor as backward reads it: an input that `detach_()` cut off since is refused."""
        tensor = self._tensor
        if not self._leaf and self._hooks is None and tensor is not None and tensor._fn is None:
            raise RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead"
            )
        return self.unpack(node)

    def _restore(self, tensor: Any, node: Any) -> Any:
        return tensor

    def _source(self, tensor: Any, node: Any) -> tuple[Any, int]:
        fn = tensor.grad_fn
        if fn is None and not self._leaf:
            fn = node  # detached since; torch then names the node that saved it
        return fn, 0  # torch says 0 for any input, whichever output of its node it is

    def _stale(self, tensor: Any, node: Any) -> str:
        fn, nr = self._source(tensor, node)
        kind = f"torch.{'cuda.' if tensor.device.type == 'cuda' else ''}{tensor.dtype.tensor_type}"
        if tensor.dtype.called in ("bool", "uint16", "uint32", "uint64"):  # which have no legacy type there
            kind = f"{tensor.device.type.upper()}{tensor.dtype.scalar_name}Type"
        origin = f", which is output {nr} of {fn.short_name()}," if fn is not None else ""
        if MODES.anomaly:
            hint = (
                "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
                "variable in question was changed in there or anywhere later. Good luck!"
            )
        else:
            hint = (
                "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
                "torch.autograd.set_detect_anomaly(True, check_nan=False)."
            )
        return (
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{kind} {list(tensor.shape)}]{origin} is at version {tensor._vc.version}; expected version "
            f"{self._version} instead. {hint}"
        )

    def release(self) -> None:
        """Let the tensor go; reading it afterwards says that it was freed."""
        self._tensor = self._hooks = None

    # saved-tensor hooks ------------------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a pack hook made of it; None once it was freed."""
        return self._tensor

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook by which the tensor is read, if there is one."""
        return None if self._hooks is None else self._hooks[1]

    def register_hooks(self, *hooks: Callable) -> None:
        """Replace what is kept by `pack_hook(tensor)`; `unpack_hook` of that is what backward reads.

        RuntimeError if there are hooks, if the tensor was freed, or if the pack hook writes to it.
        """
        if len(hooks) != 2 or not (callable(hooks[0]) and callable(hooks[1])):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types are supported:\n    "
                "1. (self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, arg1: "
                f"collections.abc.Callable) -> None\n\nInvoked with: {', '.join(map(repr, (self, *hooks)))}"
            )
        if self._hooks is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                               "only one pair of hooks is allowed at a time.")  # fmt: skip
        tensor = self._tensor
        if tensor is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        self._pack(hooks, tensor, tensor.detach())

    def _pack(self, pair: tuple[Callable, Callable], tensor: Any, shown: Any) -> None:
        """Keep `pack_hook(shown)` in place of `tensor`, and where the tensor stood in the graph."""
        self._origin = (tensor.grad_fn, tensor._output_nr, tensor.requires_grad, tensor._accumulator())
        self._tensor, self._hooks = _NOTHING, pair  # which stays so if the pack hook raises
        version = tensor._vc.version
        with no_grad():
            self._tensor = pair[0](shown)
        if tensor._vc.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
                "an issue if you need to perform in-place operations on the input to a pack hook."
            )

    def _unpacked(self) -> Any:
        out = self._hooks[1](*(() if self._tensor is _NOTHING else (self._tensor,)))
        if not hasattr(out, "_vc"):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type_name(out)}"
            )
        return out

    def _unpack_hook(self, node: Any) -> Any:
        out = self._unpacked()
        fn, nr, requires_grad, accumulator = self._origin
        if fn is not None:
            return out._with_history(fn, nr)
        if not (requires_grad or out.requires_grad):
            return out
        out = out._alias()
        out._requires_grad, out._acc = requires_grad, accumulator
        return out


SavedTensor.__module__ = "torch._C._autograd"


class SavedNothing(SavedTensor):
    """Stands where a tensor might have been saved and none was."""

    __slots__ = ()

    def __init__(self) -> None:
        self._tensor = self._hooks = None

    def unpack(self, node: Any = None) -> None:
        """None."""

    def release(self) -> None:
        """Nothing to let go."""

    def register_hooks(self, *hooks: Callable) -> None:
        """RuntimeError, in torch's words: there is nothing to pack."""
        raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")


class SavedResult(SavedTensor):
    """A node's own output, kept for its backward."""

    __slots__ = ("_nr", "_of_view")

    def __init__(self, tensor: Any, nr: int = 0) -> None:
        self._nr = nr
        self._of_view = None
        if tensor._view is not None and tensor._fn is not None:  # written to in place, which made its history anew
            self._of_view = weakref.ref(tensor._fn)
        self._tensor = alias = tensor._alias()
        self._version = alias._counter.version
        self._hooks = None

    def for_formula(self, node: Any) -> Any:
        """The result as backward reads it: without its history where nothing is recorded."""
        tensor = self._tensor
        if tensor is None or self._hooks is not None or MODES.here.grad or tensor._counter.version != self._version:
            return self.unpack(node)
        return tensor

    def pack_by_default(self, tensor: Any) -> None:
        """Apply the hooks that hold now. They see the result with its history, so this comes after recording."""
        if (pair := _hooks_here()) is not None:
            self._pack(pair, self._tensor, tensor)

    def _restore(self, tensor: Any, node: Any) -> Any:
        node = (self._of_view and self._of_view()) or node
        return tensor._with_history(node, self._nr) if node is not None else tensor

    def _source(self, tensor: Any, node: Any) -> tuple[Any, int]:
        return (self._of_view and self._of_view()) or node, self._nr

    def _unpack_hook(self, node: Any) -> Any:
        out = self._unpacked()
        return out._with_history(node, self._nr) if node is not None else out


for _kind in (SavedNothing, SavedResult):  # torch has one class for all
    _kind.__name__, _kind.__qualname__, _kind.__module__ = "SavedTensor", "SavedTensor", "torch._C._autograd"


class _Disabled(threading.local):
    message: str | None = None


_disabled = _Disabled()


def hooks_are_enabled() -> bool:
    """Whether hooks on saved tensors may be set."""
    return _disabled.message is None


class saved_tensors_hooks:
    """Inside, every tensor saved for backward goes through `pack_hook`, and through `unpack_hook` when read.

    Source: `torch.autograd.graph.saved_tensors_hooks`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if not (callable(self.pack_hook) and callable(self.unpack_hook)):
            raise TypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. The following argument types are "
                "supported:\n    1. (arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked "
                f"with: {self.pack_hook!r}, {self.unpack_hook!r}"
            )
        if _disabled.message is not None:
            raise RuntimeError(_disabled.message)
        HOOKS.append((threading.get_ident(), self.pack_hook, self.unpack_hook))
        HOOKS.changes += 1

    def __exit__(self, *exc: object) -> None:
        me = threading.get_ident()
        mine = [i for i, hooks in enumerate(HOOKS) if hooks[0] == me]
        if not mine:
            raise RuntimeError(
                "is_initialized && !tls.stack.empty() INTERNAL ASSERT FAILED at "
                '"/__w/pytorch/pytorch/aten/src/ATen/SavedTensorHooks.cpp":69, please report a bug to PyTorch. '
            )
        del HOOKS[mine[-1]]
        HOOKS.changes += 1


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, hooks on saved tensors may not be set: doing so is a RuntimeError with this message.

    Source: `torch.autograd.graph.disable_saved_tensors_hooks`.
    """
    if _hooks_here() is not None:
        raise RuntimeError(error_message)
    before, _disabled.message = _disabled.message, error_message
    try:
        yield
    finally:
        _disabled.message = before
