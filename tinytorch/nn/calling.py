"""Calling a module: `forward` with the hooks around it, those of the module and those of all modules.

Source: `torch.nn.Module.__call__`, `register_forward_hook` and its kin, `torch.nn.modules.module`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..graph.node import RemovableHandle
from ..tensor import Tensor
from ..warn import warn_user
from .backward_hooks import BackwardHooks, WithModule

_MIXED = "Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them."


class _OfAllModules:
    """Hooks that run at every module, before its own."""

    def __init__(self) -> None:
        self.forward: OrderedDict[int, Callable] = OrderedDict()
        self.forward_pre: OrderedDict[int, Callable] = OrderedDict()
        self.backward: OrderedDict[int, Callable] = OrderedDict()
        self.backward_pre: OrderedDict[int, Callable] = OrderedDict()
        self.with_kwargs: OrderedDict[int, bool] = OrderedDict()
        self.always_called: OrderedDict[int, bool] = OrderedDict()
        self.registering: dict[str, OrderedDict[int, Callable]] = {
            what: OrderedDict() for what in ("module", "parameter", "buffer")
        }
        self.full: bool | None = None  # what kind of backward hooks: full ones or those of old


ALL = _OfAllModules()


class Calls:
    """The part of a module that runs `forward` and keeps the hooks."""

    forward: Callable[..., Any]
    _forward_hooks: OrderedDict[int, Callable]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Callable]
    _backward_pre_hooks: OrderedDict[int, Callable]
    _is_full_backward_hook: bool | None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` with the hooks around it."""
        if not (
            self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks
            or ALL.backward or ALL.backward_pre or ALL.forward or ALL.forward_pre
        ):  # fmt: skip
            return self.forward(*args, **kwargs)
        return _Call(self, args, kwargs).run()

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output."""
        marks = (self._forward_hooks_with_kwargs, self._forward_hooks_always_called)
        handle = _register(self._forward_hooks, hook, prepend, marks)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments."""
        handle = _register(self._forward_pre_hooks, hook, prepend, (self._forward_pre_hooks_with_kwargs,))
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the inputs' gradients are there; it may replace them."""
        return self._register_backward(hook, prepend, full=True)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the outputs' gradients are there; it may replace them."""
        return _register(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` at the last node of forward: old, and often not what is meant."""
        return self._register_backward(hook, False, full=False)

    def _register_backward(self, hook: Callable, prepend: bool, *, full: bool) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(_MIXED.format("on a single Module"))
        self._is_full_backward_hook = full
        return _register(self._backward_hooks, hook, prepend)


def _register(
    hooks: OrderedDict, hook: Callable, prepend: bool = False, marks: tuple[OrderedDict, ...] = ()
) -> RemovableHandle:
    handle = RemovableHandle(hooks, hook, marks)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class _Call:
    """One call of a module that has hooks."""

    def __init__(self, module: Any, args: tuple, kwargs: dict) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        """Arguments through the pre-hooks, forward, the output through the hooks."""
        try:
            return self._run()
        except Exception:
            self._run_always_called()
            raise

    def _run(self) -> Any:
        module = self.module
        full, old = self._backward_hooks()
        pre = [*ALL.backward_pre.values(), *module._backward_pre_hooks.values()]
        self._run_pre_hooks()
        around = BackwardHooks(module, full, pre) if full or pre else None
        if around is not None:
            self.args = around.around_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for n, hook in (*ALL.forward.items(), *module._forward_hooks.items()):
            self.called.add(n)
            self._run_hook(n, hook)
        if around is not None:
            if not isinstance(self.result, (Tensor, tuple)):
                warn_user(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                    f"{type(self.result)}"
                )
            self.result = around.around_output(self.result)
        if old:
            self._hook_the_last_node(old)
        return self.result

    def _backward_hooks(self) -> tuple[list[Callable], list[Callable]]:
        kinds: dict[bool, list[Callable]] = {True: [], False: []}
        for full, hooks in (
            (ALL.full, ALL.backward),
            (self.module._is_full_backward_hook, self.module._backward_hooks),
        ):
            if full is not None:
                kinds[full] += hooks.values()
        return kinds[True], kinds[False]

    def _run_pre_hooks(self) -> None:
        module = self.module
        for n, hook in (*ALL.forward_pre.items(), *module._forward_pre_hooks.items()):
            if n not in module._forward_pre_hooks_with_kwargs:
                new = hook(module, self.args)
                if new is not None:
                    self.args = new if isinstance(new, tuple) else (new,)
                continue
            new = hook(module, self.args, self.kwargs)
            if new is None:
                continue
            if not (isinstance(new, tuple) and len(new) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {new}."
                )
            self.args, self.kwargs = new

    def _run_hook(self, n: int, hook: Callable) -> None:
        with_kwargs = n in self.module._forward_hooks_with_kwargs or n in ALL.with_kwargs
        between = (self.kwargs,) if with_kwargs else ()
        new = hook(self.module, self.args, *between, self.result)
        if new is not None:
            self.result = new

    def _run_always_called(self) -> None:
        always = self.module._forward_hooks_always_called.keys() | ALL.always_called.keys()
        for whose, hooks in (("global module", ALL.forward), ("module", self.module._forward_hooks)):
            for n, hook in list(hooks.items()):
                if n not in always or n in self.called:
                    continue
                try:
                    self._run_hook(n, hook)
                except Exception as error:  # noqa: BLE001 - the first error is the one to see
                    warn_user(
                        f"{whose} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                        f"error was raised in forward: {error}"
                    )

    def _hook_the_last_node(self, hooks: list[Callable]) -> None:
        var = self.result
        while not isinstance(var, Tensor):
            var = next(v for v in var.values() if isinstance(v, Tensor)) if isinstance(var, dict) else var[0]
        fn = var.grad_fn
        if fn is None:
            return
        for hook in hooks:
            fn.register_hook(WithModule(hook, self.module))
        _warn_of_old(self.args, self.result, fn)


def _warn_of_old(inputs: tuple, result: Any, fn: Any) -> None:
    """Say in which way a backward hook of old will not see what it should."""
    outputs = (result,) if isinstance(result, Tensor) else result
    text = "Using a non-full backward hook when {} is deprecated and will be removed in future versions. This hook will be "
    on_module = (
        "Using non-full backward hooks on a Module that does not {} a single Tensor or a tuple of Tensors is deprecated and "
        "will be removed in future versions. This hook will be missing some of the {}. Please use "
        "register_full_backward_hook to get the documented behavior."
    )
    instead = "Please use register_full_backward_hook to get the documented behavior."
    if not (isinstance(outputs, tuple) and all(isinstance(t, Tensor) for t in outputs)):
        warn_user(on_module.format("return", "grad_output"), FutureWarning)
        return
    if not all(isinstance(t, Tensor) for t in inputs):
        warn_user(on_module.format("take as input", "grad_input"), FutureWarning)
        return
    nodes = {t.grad_fn for t in outputs if t.grad_fn is not None}
    if not nodes or (len(nodes) == 1 and fn not in nodes):
        said = text.format("outputs are nested in python data structure") + "missing some grad_output."
    elif len(nodes) > 1:
        said = text.format("outputs are generated by different autograd Nodes") + f"missing some grad_output. {instead}"
    else:
        mine = {t.grad_fn for t in inputs if t.grad_fn is not None}
        if {n for n, _ in fn.next_functions} == mine:
            return
        said = text.format("the forward contains multiple autograd Nodes") + f"missing some grad_input. {instead}"
    warn_user(said, FutureWarning)


# hooks of all modules ----------------------------------------------------------------------------------------------------


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of any module."""
    return RemovableHandle(ALL.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of any module."""
    handle = RemovableHandle(ALL.forward, hook, (ALL.with_kwargs, ALL.always_called))
    if with_kwargs:
        ALL.with_kwargs[handle.id] = True
    if always_call:
        ALL.always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` when the gradients of any module's outputs are there."""
    return RemovableHandle(ALL.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the gradients of any module's inputs are there."""
    return _register_for_all(hook, full=True)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` at the last node of any module's forward: old."""
    return _register_for_all(hook, full=False)


def _register_for_all(hook: Callable, *, full: bool) -> RemovableHandle:
    if ALL.full is (not full):
        raise RuntimeError(_MIXED.format("as a global Module hook"))
    ALL.full = full
    return RemovableHandle(ALL.backward, hook)


def registered(what: str, module: Any, name: str, value: Any) -> Any:
    """What a module keeps under a name: the value, or what the hooks on registering put in its place."""
    for hook in ALL.registering[what].values():
        new = hook(module, name, value)
        if new is not None:
            value = new
    return value


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, submodule)` when a module gets a child; what it returns takes the child's place."""
    return RemovableHandle(ALL.registering["module"], hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when a module gets a parameter; what it returns takes its place."""
    return RemovableHandle(ALL.registering["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a module gets a buffer; what it returns takes its place."""
    return RemovableHandle(ALL.registering["buffer"], hook)
