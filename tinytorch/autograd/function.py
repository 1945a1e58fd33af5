"""Operations with a backward of the user's own, and nodes that are put into a graph by hand.

The `ctx` that forward fills is the node itself, as in torch, so whatever is put on it can be read from `grad_fn`
afterwards. Source: `torch.autograd.function`, torch's `custom_function.cpp`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import lacking, type_name, warn_in_torch
from ..graph import (
    ALONE,
    FREED_MESSAGE,
    IN_FUNCTION,
    MODES,
    MULTI_OUTPUT,
    MultiNode,
    NotImplementedNode,
    Outputs,
    Saved,
    call_user,
    check_inplace,
    count_write,
    edge_of,
    expectation,
    needs_grad,
    no_grad,
    rebase_history,
    replace_history,
    save_result,
    save_tensor,
    show_saved,
)
from ..tensor import Tensor, as_result, over
from .gradients import devices, through


class FunctionCtx:
    """What forward may ask of its `ctx`."""

    __module__ = "torch.autograd.function"

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) with the versions they have; backward reads them from `ctx.saved_tensors`."""
        self.to_save = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward wrote to; all of them must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that no gradient reached."""
        self._materialize = value


class BackwardCFunction(MultiNode, FunctionCtx):
    """The node of a custom Function, and the `ctx` of its forward and backward."""

    __module__ = "torch.autograd.function"
    __slots__ = ("_materialize", "_results", "_takes", "_zeros", "dirty_tensors", "needs_input_grad",
                 "non_differentiable", "to_save")  # fmt: skip
    _forward_cls: Any = None
    _on_tensors = True

    def __init__(self, inputs: tuple, recorded: bool) -> None:
        self._takes = tuple([isinstance(x, Tensor) for x in inputs])
        self.needs_input_grad = tuple([isinstance(x, Tensor) and needs_grad(x) for x in inputs])
        super().__init__(
            tuple([edge_of(x) for x in inputs if isinstance(x, Tensor)]) if recorded else ()
        )
        self.to_save = self.dirty_tensors = self.non_differentiable = None
        self._results = {}
        self._materialize = True
        self._expects, self._zeros, self._outputs = [], (), 0  # until forward is through

    def __call__(self, *grads: Any) -> Any:
        """Raise TypeError: torch cannot call these nodes."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    # what was saved -------------------------------------------------------------------------------------------------

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept. RuntimeError, in torch's words, if it was freed or changed in place since."""
        return self._each(self._read_saved)

    @property
    def _raw_saved_tensors(self) -> tuple:
        """The saved tensors as objects, which know the tensor, its version and its hooks."""
        return self._each(lambda index: show_saved(self, index))

    def _read_saved(self, index: int) -> Any:
        saved = self._saved[index]
        return saved.unpack(self) if isinstance(saved, Saved) else saved

    def _each(self, look: Callable) -> tuple:
        if self._saved is None:
            raise RuntimeError(FREED_MESSAGE)
        return tuple(map(look, range(len(self._saved))))

    def _keep(self) -> None:
        """Save what forward asked for, with the versions the tensors have once forward is through."""
        saved: list[Any] = []
        for i, t in enumerate(self.to_save or ()):
            if t is None:
                saved.append(None)
            elif not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type_name(t)}")  # fmt: skip
            elif (t._edge and t._edge[0] is self) or (
                t._view and any(t is d for d in self.dirty_tensors or ())
            ):
                self._results[i] = t._edge[1]
                saved.append(save_result(t, t._edge[1]))
            else:
                saved.append(save_tensor(t))
        self._saved = tuple(saved)

    def release(self) -> None:
        """Free what was saved; what the user put on `ctx` stays."""
        if self._saved is not None:
            super().release()
            self._saved = None

    # backward -------------------------------------------------------------------------------------------------------

    def apply(self, grads: list, raw: bool) -> list:
        """Call the user's backward, with tensors in any case, and check what it returns."""
        states = grads.states if type(grads) is Outputs else [ALONE] * len(grads)
        return through(self._backward, grads, states, devices(self), raw)

    def _backward(self, grads: tuple) -> list:
        if self._materialize:
            each: Any = zip(
                grads, self._zeros, strict=True
            )  # torch zeroes in place, which counts as a write
            grads = tuple(
                [
                    over(as_result(np.zeros(*m[:2])), m[2], 1) if g is None and m else g
                    for g, m in each
                ]
            )
        out = call_user(self._forward_cls.backward, self, *grads)
        out = out if isinstance(out, tuple) else (out,)
        name, wanted = type(self).__name__, len(self._takes)
        if len(out) > wanted and all(g is None for g in out[wanted:]):
            out = out[:wanted]
        if len(out) != wanted:
            raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {wanted}, got {len(out)})")  # fmt: skip
        for i, (g, is_tensor) in enumerate(zip(out, self._takes, strict=True)):
            if is_tensor and not (g is None or isinstance(g, Tensor)):
                raise RuntimeError(f"expected Variable or None (got {type_name(g)})")
            if not is_tensor and g is not None:
                raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding forward input was not a Variable")  # fmt: skip
        return [g for g, is_tensor in zip(out, self._takes, strict=True) if is_tensor]


class FunctionMeta(type):
    """Gives each Function a kind of node of its own, named after it."""

    __module__ = "torch.autograd.function"

    def __init__(cls, name: str, bases: tuple, attrs: dict) -> None:
        body = {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), body)
        super().__init__(name, bases, attrs)


class Function(metaclass=FunctionMeta):
    """Base of operations with a backward of the user's own; both are static methods, and `apply` runs them.

    Source: `torch.autograd.Function`.
    """

    __module__ = "torch.autograd.function"

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *inputs)`, or `forward(*inputs)` next to a `setup_context`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save for backward what is needed, apart from forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Give a gradient, or None, for each input, from one gradient for each output."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")  # fmt: skip

    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        """Run forward on these inputs and record backward, if any of them requires grad."""
        apart = cls.setup_context is not Function.setup_context
        if apart:
            bound = inspect.signature(cls.forward).bind(*inputs)
            bound.apply_defaults()
            inputs = bound.args
        recorded = MODES.here.grad and any(isinstance(x, Tensor) and needs_grad(x) for x in inputs)
        ctx = cls._backward_cls(inputs, recorded)
        with no_grad():
            output = cls.forward(*inputs) if apart else cls.forward(ctx, *inputs)
            if apart:
                cls.setup_context(ctx, inputs, output)
        outputs = _recorded(
            ctx, inputs, output if isinstance(output, tuple) else (output,), recorded
        )
        if recorded:
            ctx._keep()
        ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = None
        return outputs if isinstance(output, tuple) else outputs[0]


# the outputs of forward, as the caller gets them ---------------------------------------------------------------------


def _recorded(ctx: BackwardCFunction, inputs: tuple, outputs: tuple, recorded: bool) -> tuple:
    """The outputs as outputs of `ctx`; inputs that were returned as they are become views."""
    given = {id(x) for x in inputs}
    dirty = _marked(ctx.dirty_tensors, "mark_dirty can only accept variables, but argument ")
    for t in ctx.dirty_tensors or ():
        count_write(t)
    plain = _marked(
        ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got "
    )
    ctx._zeros = tuple([expectation(t) if isinstance(t, Tensor) else None for t in outputs])
    smooth = [
        recorded and isinstance(t, Tensor) and id(t) not in plain and t._data.dtype.kind == "f"
        for t in outputs
    ]
    ctx.describe(*[t if ok else None for t, ok in zip(outputs, smooth, strict=True)])
    result, many = [], sum(smooth) > 1
    for nr, t in enumerate(outputs):
        out = t
        if isinstance(t, Tensor):
            is_input, is_dirty = id(t) in given, id(t) in dirty
            if not smooth[nr] and not needs_grad(t):
                out = _same(t) if is_input and not is_dirty else t
            elif not smooth[nr]:
                out = t.detach() if is_input else t if t._view is not None else t.detach_()
            elif is_dirty:
                _written(ctx, t, nr, is_input, len(outputs))
            else:
                out = _same(t) if is_input else t
                replace_history(out, ctx)
                out._edge = (ctx, nr)
            if out._view is not None and (many or not (is_input and is_dirty)):
                out._view = (*out._view[:2], MULTI_OUTPUT if many else IN_FUNCTION)
        result.append(out)
    if not dirty <= {id(t) for t in outputs}:
        raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function.")  # fmt: skip
    return tuple(result)


def _marked(tensors: tuple | None, complaint: str) -> set[int]:
    if not all(isinstance(t, Tensor) for t in tensors or ()):
        raise RuntimeError(complaint)
    return {id(t) for t in tensors or ()}


def _written(ctx: BackwardCFunction, t: Tensor, nr: int, is_input: bool, count: int) -> None:
    """An output that forward wrote to in place: its history goes on from here."""
    if t._edge is None and needs_grad(
        t
    ):  # not `is_leaf`, which brings the history of a view up to date
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not is_input:
        complaint = "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to ctx.mark_dirty()."
        if t._view is not None:
            raise RuntimeError(complaint)
        warn_in_torch(complaint, "torch/csrc/autograd/custom_function.cpp:320")
    if t._view is not None and count > 1:
        raise RuntimeError("If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change.")  # fmt: skip
    if t._meta is not None:
        t._meta.grad = None
    if t._view is not None:
        check_inplace(t)
    rebase_history(t, ctx)
    if t._view is None:
        t._edge = (ctx, nr)


def _same(t: Tensor) -> Tensor:
    with no_grad():
        return t.view_as(t)


# nodes by hand -------------------------------------------------------------------------------------------------------


class Error(NotImplementedNode):
    """Raises when backward comes to it: the node of what was made by a backward that is `once_differentiable`."""

    __slots__ = ()
    __module__ = "builtins"
    _called = "torch::autograd::Error"

    _says = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that is not itself differentiable: going through its result once more raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not (MODES.here.grad and any(isinstance(a, Tensor) and a.requires_grad for a in args)):
            return outputs
        found = [
            t if t is None else t.data
            for t in (outputs if isinstance(outputs, tuple) else (outputs,))
        ]
        for t in found:
            if t is not None:
                node = Error(
                    ((t.detach().requires_grad_(), 0),)
                )  # torch shows a leaf there, of which nobody knows
                node.describe(t)
                replace_history(t, node)
        return tuple(found) if isinstance(outputs, tuple) else found[0]

    return wrapper


if not TYPE_CHECKING:  # type checkers say so themselves
    __getattr__ = lacking("torch.autograd.function")
