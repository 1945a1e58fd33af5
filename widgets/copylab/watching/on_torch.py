"""What PyTorch tells a watch: what is saved, by a hook on saved tensors; what is written, by a dispatch mode.

PyTorch's schemas say which arguments an operation writes to: `mul_(Tensor(a!) self, Tensor other)`. Inside of hooks
PyTorch checks no versions; the check is made here then, with its error word for word.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tinytorch.graph import DETACHED_MESSAGE, short_name, stale_text

from .kept import Kept
from .scope import Replacement, run_in_unwatched_thread

if TYPE_CHECKING:
    from .observer import Watch

# Written by these kernels when they train, though neither their schema nor a version counter says so.
_BATCH_NORMS = (
    "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update",
)  # fmt: skip
_BATCH_NORM: tuple = ()
# The nodes of these save the running statistics for the second derivative, which needs them in eval mode alone.
_BATCH_NORM_GRADS = (
    "native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward", "batch_norm_backward",
)  # fmt: skip
_BATCH_NORM_GRAD: tuple = ((3, "running_mean"), (4, "running_var"))
_SELF: tuple = ((0, "self"),)  # most of them, and so a way of their own
_NODES_OF_A_VIEW = 2  # made when a view is written in place: one for its base, one for the view
_LEGACY = (
    "Byte",
    "Char",
    "Double",
    "Float",
    "Int",
    "Long",
    "Short",
    "Half",
)  # what has a type `torch.FloatTensor`


class Torch:
    """PyTorch under a watch, in one thread."""

    def __init__(self, watch: Watch, torch: Any) -> None:
        self.watch, self.torch = watch, torch
        self.sequence = torch._C._autograd._get_sequence_nr
        self.undispatched = torch._C._DisableTorchDispatch
        self.function = torch._C._FunctionBase
        self.mode: Any = _mode(self)
        self.hooked = False
        self.attached = ExitStack()
        self.shortens, self.hint = _read_stale_words(torch)
        self.uncounted = False
        """Whether PyTorch, under a dispatch mode, forgets to count the writes to lists of tensors."""
        self.at = self.before = -1
        """The number of the next node when the last operation ran, the number before that, what it wrote to."""
        self.target: int | None = None

    def attach(self) -> None:
        """Tell the watch of this thread from now on."""
        autograd = self.torch._C._autograd
        dispatch = import_module("torch.utils._python_dispatch")
        with ExitStack() as stack:
            # Not `with mode`: that keeps flags for all threads at once, which the next thread to end would put back.
            dispatch._push_mode(self.mode)
            stack.callback(self._take_mode_off, dispatch)
            with self.torch.inference_mode(False):
                probe = self.torch.zeros(1)
                self.torch._foreach_zero_([probe])
                self.uncounted = not probe._version  # `_fused_adam_` and its like are never counted
            autograd._push_saved_tensors_default_hooks(self.pack, self.unpack)
            self.hooked = True
            stack.callback(self._take_hooks_off)
            # torch.func refuses to work where hooks hold: they are set aside for as long as it works.
            aside = _make_hooks_step_aside(self.torch.autograd.graph)
            aside.install()
            stack.callback(aside.remove)
            self.attached = stack.pop_all()

    def leave(self) -> None:
        """Take mode and hooks off this thread again."""
        self.attached.close()

    def _take_mode_off(self, dispatch: Any) -> None:
        """Take the mode off this thread's stack. Modes of the program's own that are to last longer stay above."""
        if not any(mode is self.mode for mode in dispatch._get_current_dispatch_mode_stack()):
            # A block of the program's own that began earlier has ended earlier and took ours: this takes its own.
            if self.torch._C._len_torch_dispatch_stack():
                dispatch._pop_mode()
            return
        above = []
        while (mode := dispatch._pop_mode()) is not self.mode:
            above.append(mode)
        for mode in reversed(above):
            dispatch._push_mode(mode)

    def _take_hooks_off(self) -> None:
        """Take the hooks off this thread's stack, likewise."""
        if not self.hooked:
            return
        self.hooked = False
        autograd = self.torch._C._autograd
        above = []
        while (top := autograd._top_saved_tensors_default_hooks(True)) is not None:
            autograd._pop_saved_tensors_default_hooks()
            if getattr(top[0], "__self__", None) is self:
                break
            above.append(top)
        else:
            above = above[1:]  # ours were taken by a block that began earlier, see above
        for pair in reversed(above):
            autograd._push_saved_tensors_default_hooks(*pair)

    # -- what is written -----------------------------------------------------------

    def writes(self, func: Any, plan: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        """Tell of what an operation is about to write to."""
        own = self.sequence() if self.sequence() != self.at else None
        if plan is _BATCH_NORM_GRAD:
            if args[7] and own is not None and args[3] is not None:
                self.watch.spares(args[3], own)
                self.watch.spares(args[4], own)
            return
        for at, name in plan:
            value: Any = kwargs.get(name) if at is None or at >= len(args) else args[at]
            many = isinstance(value, (list, tuple))
            for tensor in value if many else (value,):
                if tensor is not None:
                    self.watch.wrote(tensor)
                    self.target = id(tensor)
            if many and self.uncounted and func.__name__.startswith("_foreach_"):
                self.torch.autograd.graph.increment_version(value)
        if plan is _BATCH_NORM and args[5] and args[3] is not None:
            # The node of this very operation has saved the running statistics, too, but its gradient needs them not.
            self.watch.wrote(args[3], unless=own)
            self.watch.wrote(args[4], unless=own)

    # -- what is saved -------------------------------------------------------------

    def pack(self, tensor: Any) -> Any:
        """Called with each tensor that a node saves; what is returned stands in its place."""
        if self.watch.ended:  # and its thread goes on
            self._take_hooks_off()
        leaf, made = tensor.is_leaf, self.sequence() - self.at
        output = not leaf and self._is_result(tensor, made)
        nr = tensor.output_nr if output else 0
        held = tensor
        if output:  # a node that held its own result would never be freed
            held = self._detached(tensor)
        kept = self.watch.keep(held, made=self.sequence(), output=output, leaf=leaf, nr=nr)
        kept.origin = weakref.ref(tensor) if output and made else None
        return kept

    def _is_result(self, tensor: Any, made: int) -> bool:
        """Whether a tensor is saved by the node that made it; `made` nodes are newer than the last operation.

        A result is saved before a further node is made. Results of a Function are saved after its forward has run,
        beside tensors from elsewhere: the nodes of those were made before the Function's.
        """
        node = tensor.grad_fn
        if not made:
            return bool(node._sequence_nr() >= self.before)
        if made == 1 and isinstance(
            node, self.function
        ):  # no operation ran in the forward of this Function
            return bool(node._sequence_nr() == self.at)
        return made == _NODES_OF_A_VIEW and id(tensor) == self.target and tensor._is_view()

    def _detached(self, tensor: Any) -> Any:
        """A tensor without its history. Other modes, and a tensor that is one to them, see that as without a watch."""
        plain = type(tensor).__torch_dispatch__ is self.torch.Tensor.__torch_dispatch__
        if plain and self.torch._C._len_torch_dispatch_stack() == 1:
            with self.undispatched():
                return tensor.detach()
        at, before, target = self.at, self.before, self.target
        held = tensor.detach()
        self.at, self.before, self.target = at, before, target
        return held

    def unpack(self, kept: Kept) -> Any:
        """Called when a node reads what it saved."""
        if kept.detached:
            raise RuntimeError(DETACHED_MESSAGE)
        if kept.counted:
            error = RuntimeError(self._stale(kept))
            if self._in_backward():
                self.watch.raises(kept, self._node().name(), error)
            raise error
        if self._in_backward():
            self.watch.check(kept, self._node)
        return kept.tensor

    unpack.changes_nothing = True  # type: ignore[attr-defined]

    def _in_backward(self) -> bool:
        return bool(self.torch._C._current_graph_task_id() >= 0)

    def _node(self) -> Any:
        return self.torch._C._current_autograd_node()

    def _stale(self, kept: Kept) -> str:
        """PyTorch's error for a saved tensor that was written since."""
        tensor = kept.tensor
        scalar = tensor.type().rpartition(".")[2].removesuffix("Tensor")
        device = tensor.device.type
        kind = f"{device.upper()}{scalar}Type"
        if scalar in _LEGACY:
            kind = f"torch.{'' if device == 'cpu' else device + '.'}{scalar}Tensor"
        shown = (
            kept.origin and kept.origin()
        )  # of a view that was written in place, the view itself
        maker = shown.grad_fn if shown is not None else None if kept.output else tensor.grad_fn
        if maker is None and not kept.leaf:
            maker = self._node()
        anomaly = self.torch.is_anomaly_enabled()
        text = stale_text(
            kind, tensor.shape, maker, kept.nr, tensor._version, kept.version, anomaly
        )
        if maker is not None and not self.shortens:
            text = text.replace(f" of {short_name(maker.name())},", f" of {maker.name()},", 1)
        return text if anomaly else text.partition("Hint: ")[0] + self.hint


@cache
def _read_stale_words(torch: Any) -> tuple[bool, str]:
    """Read off an error of the installed release whether it shortens a node's name, and its hint.

    2.12 and older ones say `ExpBackward0` where later ones say `Exp`; 2.10 and older ones have a shorter hint.
    """

    def raise_it() -> str:
        with torch.autograd.set_detect_anomaly(False):
            result = torch.ones(1, device="cpu", requires_grad=True).exp()
            node = result.grad_fn
            result.zero_()
            try:
                node._saved_result  # noqa: B018 - reading it raises
            except RuntimeError as error:
                return str(error)
        raise AssertionError("PyTorch gave out a saved result that was written since")

    # The modes and hooks of the program hold in its own thread: they neither see this nor change it.
    text = run_in_unwatched_thread(raise_it)
    _, hint, rest = text.partition("Hint: ")
    return " of Exp," in text, hint + rest


@cache
def _make_hooks_step_aside(graph: Any) -> Replacement:
    """`disable_saved_tensors_hooks` of PyTorch, which refuses where hooks hold, with the hooks of watches set aside."""

    def replace(disable: Any) -> Any:
        autograd = import_module("torch")._C._autograd

        @contextmanager
        def disable_saved_tensors_hooks(message: str) -> Iterator[None]:
            ours = []
            while (top := autograd._top_saved_tensors_default_hooks(True)) is not None:
                if getattr(top[0], "__func__", None) is not Torch.pack:
                    break
                autograd._pop_saved_tensors_default_hooks()
                ours.append(top)
            try:
                with disable(message):
                    yield
            finally:
                for pair in reversed(ours):
                    autograd._push_saved_tensors_default_hooks(*pair)

        return disable_saved_tensors_hooks

    return Replacement(graph, "disable_saved_tensors_hooks", replace)


def _plan(func: Any) -> tuple[tuple[int | None, str], ...] | None:
    """Where an operation takes what it writes to, by number and by name; None for one that writes to no tensor."""
    name = func.__name__.partition(".")[0]
    arguments = func._schema.arguments
    if (
        len(arguments) > 3 and arguments[3].name == "running_mean"
    ):  # one of its overloads keeps none
        if name in _BATCH_NORMS:
            return _BATCH_NORM
        if name in _BATCH_NORM_GRADS:
            return _BATCH_NORM_GRAD
    found = [
        (None if argument.kwarg_only else at, argument.name)
        for at, argument in enumerate(arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return (
        _SELF
        if found == [(0, "self")] and str(arguments[0].type) == "Tensor"
        else tuple(found) or None
    )


def _mode(told: Torch) -> Any:
    """A dispatch mode that tells of what operations write to."""
    plans: dict[
        int, tuple[Any, Any, Any]
    ] = {}  # by `id`, since an operation's own hash takes as long as the rest
    sequence, wrote = told.sequence, told.watch.wrote

    class Watching(import_module("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # or the compiler is loaded, and asked again for each operation

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # what is compiled stays compiled

        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple = (), kwargs: Any = None
        ) -> Any:
            try:
                plan, call, _ = plans[id(func)]
            except KeyError:
                plan, call = _plan(func), getattr(func, "_op", func)
                plans[id(func)] = plan, call, func
            if plan is None:
                told.target = None
            elif plan is _SELF:
                told.target = id(args[0])
                wrote(args[0])
            else:
                told.writes(func, plan, args, kwargs or {})
            if told.at != (number := sequence()):
                told.before, told.at = told.at, number
            return call(*args, **kwargs) if kwargs else call(*args)

    return Watching()
