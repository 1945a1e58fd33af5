"""PyTorch's own code that runs without the dispatch mode of a watch, because what it writes is known.

Under a mode each operation takes some five microseconds longer, whatever the mode does: most of
what a watch costs. Two passages need none: the formula of a node, which writes to new memory alone,
and the step of an optimizer, which writes to its parameters and its state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache, wraps
from importlib import import_module
from inspect import unwrap
from types import FrameType
from typing import TYPE_CHECKING, Any

from .dispatch_modes import push_mode_below
from .scope import Replacement, SharedHook, find_hooks_of_thread, find_watches_of_thread

if TYPE_CHECKING:
    from .observer import WriteInProgress
    from .on_torch import TorchHooks

_ASKING = frozenset({"MaskedFillBackward", "ProdBackward"})
"""Nodes whose formulas compute otherwise under a dispatch mode (`areAnyTensorSubclassLike`)."""


class ModePauses:
    """The passages that the dispatch mode of one thread is taken off for."""

    def __init__(self, hooks: TorchHooks) -> None:
        self.hooks = hooks
        self.watch = hooks.watch
        self.torch = torch = hooks.torch
        self.mode = hooks.mode
        self.optim: Any = import_module("torch.optim.optimizer")
        self.mode_at = torch._C._get_dispatch_stack_at
        self.count_modes = torch._C._len_torch_dispatch_stack
        run_backward: Any = getattr(torch.autograd.graph, "_engine_run_backward", None)
        # It may be replaced, by another watch, too.
        self.engine_code = getattr(unwrap(run_backward), "__code__", None)
        """The code of the frame below which the engine runs formulas."""
        self.are_formulas: dict[type, bool] = {}
        """Kinds of nodes, and True for those whose formulas are PyTorch's own."""
        self.stepping_optimizer: Any = None
        """The optimizer whose step runs without the mode."""
        self.writes_of_step: list[WriteInProgress] = []
        """What that step writes to, as far as nodes have saved it."""
        self.step_nr = -1
        """The number of the backward in which that step began; -1 outside of one."""

    def attach(self, stack: ExitStack) -> None:
        """Hear of hooks on nodes and of steps, until the stack is closed."""
        node_hooks = _note_node_hooks(self.torch.autograd.Function)
        node_hooks.install()
        stack.callback(node_hooks.remove)
        for shared_hook in _hear_steps(self.optim):
            shared_hook.install()
            stack.callback(shared_hook.remove)
        stack.callback(self.resume)

    def _is_alone(self) -> bool:
        """Return True if this thread has our mode and no other: others see what they see without us."""
        return self.count_modes() == 1 and self.mode_at(0) is self.mode

    # -- formulas ----------------------------------------------------------------------

    def pause_for_formula(self, caller: FrameType | None) -> None:
        """Take the mode off for the rest of the running node, if nothing but its formula runs there.

        caller: the frame that reads what the node has saved; None in a thread of the engine's own,
        where the engine itself does. With `create_graph` the mode stays on:
        it has to see what the formula saves. The engine puts the modes back that it had before the
        node.
        """
        # A hook or a Function may read the same, and goes on with code of the program's own.
        is_engine = caller is None or caller.f_code is self.engine_code
        if not is_engine or not self._is_alone():
            return
        kind = type(self.torch._C._current_autograd_node())
        is_formula = self.are_formulas.get(kind)
        if is_formula is None:
            # Nodes of C++ extensions and `CopySlices`, which may run a Function, have no number.
            is_formula = self.are_formulas[kind] = kind.__name__[-1:].isdigit()
        if not is_formula or self.torch.is_grad_enabled():
            return
        # Hooks of a node run after its formula, before the engine puts the mode back.
        if self.watch.has_node_hooks and kind.__name__.rstrip("0123456789") not in _ASKING:
            return
        self.torch._C._pop_torch_dispatch_stack(None)

    # -- optimizers --------------------------------------------------------------------

    def begin_step(self, optimizer: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        """Note what an optimizer of PyTorch's is about to write to, and take the mode off."""
        self.resume()
        self.watch.begin_step(optimizer)
        # A closure, which computes a loss, is code of the program's own.
        has_closure = any(value is not None for value in (*args[1:], *kwargs.values()))
        self.hooks.is_in_step = not has_closure
        if has_closure or not self._is_alone() or not self._is_plain(optimizer):
            return
        if self._has_subclasses(optimizer):
            return
        if self.hooks.attributes.in_forward:
            self.hooks.attributes.record_ended_forwards()
        self.writes_of_step = []
        # After a backward mostly nothing is saved any more, so nothing can be spoilt.
        if self.watch.holds_saves():
            written = _find_written(optimizer, self.torch.Tensor)
            writes = [self.watch.record_write(tensor) for tensor in written]
            self.writes_of_step = [write for write in writes if write is not None]
        self.stepping_optimizer = optimizer
        self.step_nr = self.torch._C._current_graph_task_id()
        self.torch._C._pop_torch_dispatch_stack(None)

    def _is_plain(self, optimizer: Any) -> bool:
        """Return True if a step runs code of PyTorch's alone, and records nothing."""
        hooks = [
            *self.optim._global_optimizer_pre_hooks.values(),
            *self.optim._global_optimizer_post_hooks.values(),
        ]
        return (
            type(optimizer).__module__.startswith("torch.optim.")
            and not optimizer.defaults.get("differentiable")
            # These are few operations, and write to gradients, too.
            and not any(group.get("fused") for group in optimizer.param_groups)
            and not optimizer._optimizer_step_pre_hooks
            and not optimizer._optimizer_step_post_hooks
            and all(hook in (_begin_step, _end_step) for hook in hooks)
        )

    def _has_subclasses(self, optimizer: Any) -> bool:
        """Return True if a step computes with a subclass, which may run code of the program's own."""
        classes: set[type] = set()
        # Of whole lists: most steps come here for nothing, and models have many parameters.
        for group in optimizer.param_groups:
            classes.update(map(type, group["params"]))
            classes.update([type(parameter.grad) for parameter in group["params"]])
        for state in optimizer.state.values():
            classes.update(map(type, state.values()))
        known = {self.torch.Tensor, self.torch.nn.Parameter}
        return any(issubclass(each, self.torch.Tensor) for each in classes - known)

    def end_step(self, optimizer: Any) -> None:
        """Put the mode back, and note what the step has written."""
        self.hooks.is_in_step = False
        if optimizer is self.stepping_optimizer:
            self.resume()
        self.watch.record_step(optimizer)

    def resume(self) -> None:
        """End a step. One that has raised ends with the next save or step: nothing tells of it."""
        if self.stepping_optimizer is None:
            return
        # A step that has raised in a hook of a backward: the engine has put back the modes.
        if not any(self.mode_at(k) is self.mode for k in range(self.count_modes())):
            # The engine would take off after the node what is put back within a later backward.
            if self.step_nr != self.torch._C._current_graph_task_id():
                return
            push_mode_below(self.mode)
        self.stepping_optimizer = None
        self.hooks.is_in_step = False
        writes, self.writes_of_step = self.writes_of_step, []
        for write in writes:
            write.end()


def _begin_step(optimizer: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """Let the watches of the thread look at a step that is about to be made."""
    for hooks in find_hooks_of_thread():
        hooks.pauses.begin_step(optimizer, args, kwargs)


def _end_step(optimizer: Any, args: tuple, kwargs: dict[str, Any]) -> None:  # noqa: ARG001
    """Let the watches of the thread look at a step that was made."""
    for hooks in find_hooks_of_thread():
        hooks.pauses.end_step(optimizer)


# `torch.compile` of a step leaves these two alone.
_begin_step._torchdynamo_disable = True  # type: ignore[attr-defined]
_end_step._torchdynamo_disable = True  # type: ignore[attr-defined]


@cache
def _hear_steps(optim: Any) -> tuple[SharedHook, SharedHook]:
    """Hear of the steps of all optimizers."""
    # Not by the functions that register: a look would take their handles for hooks of the
    # program, of which it does not know what they do to gradients.
    return (
        SharedHook(optim._global_optimizer_pre_hooks, _begin_step),
        SharedHook(optim._global_optimizer_post_hooks, _end_step),
    )


def _find_written(optimizer: Any, tensor_class: type) -> Iterator[Any]:
    """Yield the tensors that a step of an optimizer writes to."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            yield parameter
            # The other optimizers leave gradients as they are.
            if group.get("nesterov") and group.get("foreach") is not False:
                yield parameter.grad
            for value in optimizer.state.get(parameter, {}).values():
                if isinstance(value, tensor_class):
                    yield value


@cache
def _note_node_hooks(function_class: Any) -> Replacement:
    """Replace what PyTorch calls when a node gets a hook: the watches of the thread note it."""

    def replace(register: Any) -> Any:
        @wraps(register)
        def register_noted(hooks: Any, hook: Any) -> Any:
            for watch in find_watches_of_thread():
                watch.has_node_hooks = True
            return register(hooks, hook)

        return staticmethod(register_noted)

    return Replacement(function_class, "_register_hook", replace)
