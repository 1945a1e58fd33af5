"""Custom Functions: operations whose backward the user defines.

The `ctx` that forward fills is the node itself, as in PyTorch, so whatever is set on it can be read
from `grad_fn` afterwards. Source: `torch.autograd.function`, PyTorch's `custom_function.cpp`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import make_module_getattr, type_name, warn_in_torch
from ..graph import (
    FREED_MESSAGE,
    IN_FUNCTION,
    MODES,
    MULTI_OUTPUT,
    GradientList,
    MultiNode,
    NotImplementedNode,
    Saved,
    call_user,
    check_inplace,
    count_write,
    gradient_edge,
    gradient_spec_of,
    needs_grad,
    no_grad,
    rebase_history,
    replace_history,
    save_result,
    save_tensor,
    show_saved,
)
from ..tensor import Tensor, as_array_of_torch, make_tensor_over
from .gradient_tensors import call_with_tensors, devices_of_outputs

_GIVEN_OUT_MESSAGE = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
    "autograd.Function. Either access saved_tensors only once, or set "
    "clear_saved_tensors_on_access=False."
)


def _read_flag(function: Any, name: str) -> bool:
    """Return a switch of a Function. RuntimeError, in PyTorch's words, if it is no bool."""
    value = getattr(function, name)
    if type(value) is not bool:
        raise RuntimeError(f"{name} must be a bool, got {type_name(value)}")
    return value


class FunctionCtx:
    """Methods of the `ctx` that forward calls."""

    __module__ = "torch.autograd.function"

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors (or None) at their present version, for `ctx.saved_tensors`."""
        self.to_save = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Mark inputs that forward wrote to in place; all of them must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Mark outputs that have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose zeros (the default) or None for outputs that no gradient reaches."""
        self._materialize = value


class BackwardCFunction(MultiNode, FunctionCtx):
    """The node of a custom Function, and the `ctx` of its forward and backward."""

    __module__ = "torch.autograd.function"
    __slots__ = (
        "_gives_out_once",  # the Function's `clear_saved_tensors_on_access` when it was applied
        "_is_given_out",  # True if what was saved was read, and may not be read again
        "_is_tensor_input",  # for each argument of forward, True if it is a tensor
        "_materialize",  # True if backward gets zeros where no gradient arrived
        "_output_nr_of_saved",  # as on the class `Node`, but known only once forward has run
        "_takes_grads_in_list",  # the Function's `boxed_grads_call` when it was applied
        "_tensor_indices",  # as on the class `Node`: of all that is saved, unless it is freed
        "_zeros",  # shape, dtype and device of such zeros, for each output
        "dirty_tensors",
        "needs_input_grad",
        "non_differentiable",
        "to_save",
    )
    _forward_cls: Any = None
    _needs_tensors = True

    def __init__(self, inputs: tuple, is_recorded: bool) -> None:
        self._is_tensor_input = tuple([isinstance(x, Tensor) for x in inputs])
        self.needs_input_grad = tuple([isinstance(x, Tensor) and needs_grad(x) for x in inputs])
        edges: tuple = ()
        if is_recorded:
            edges = tuple([gradient_edge(x) for x in inputs if isinstance(x, Tensor)])
        super().__init__(edges)
        self.to_save = self.dirty_tensors = self.non_differentiable = None
        self._output_nr_of_saved, self._tensor_indices = {}, ()
        self._materialize = True
        self._gives_out_once = _read_flag(self._forward_cls, "clear_saved_tensors_on_access")
        self._takes_grads_in_list = _read_flag(self._forward_cls, "boxed_grads_call")
        self._is_given_out = False
        # Not known until forward has returned.
        self._gradient_specs, self._output_count = (), 0
        self._zeros: tuple = ()

    def __call__(self, *grads: Any) -> Any:
        """Raise TypeError: PyTorch cannot call these nodes."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    # what was saved -------------------------------------------------------------------------------

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors; with `clear_saved_tensors_on_access` only once.

        RuntimeError, in PyTorch's words, if one was freed, written to since, or given out.
        """
        if self._is_given_out:
            raise RuntimeError(_GIVEN_OUT_MESSAGE)
        self._check_not_freed()
        tensors = tuple([t.unpack(self) if isinstance(t, Saved) else t for t in self._saved])
        if self._gives_out_once:
            self._saved, self._tensor_indices, self._is_given_out = (), (), True
        return tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        """The saved tensors as objects, with their versions and hooks."""
        self._check_not_freed()
        return tuple([show_saved(self, index) for index in range(len(self._saved))])

    def _check_not_freed(self) -> None:
        """Raise PyTorch's RuntimeError if backward has freed the saved tensors."""
        if self._saved is None:
            raise RuntimeError(FREED_MESSAGE)

    def _save_tensors(self) -> None:
        """Save what forward asked for, at the versions that the tensors have after forward."""
        saved: list[Any] = []
        for i, tensor in enumerate(self.to_save or ()):
            if tensor is None:
                saved.append(None)
            elif not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type_name(tensor)}"
                )
            elif self._is_result(tensor):
                self._output_nr_of_saved[i] = tensor._edge[1]
                saved.append(save_result(tensor, tensor._edge[1]))
            else:
                saved.append(save_tensor(tensor))
        self._saved, self._tensor_indices = tuple(saved), range(len(saved))

    def _is_result(self, tensor: Tensor) -> bool:
        """Return True for an output of this node: returned by forward, or written to by it."""
        if tensor._edge and tensor._edge[0] is self:
            return True
        is_dirty = any(tensor is dirty for dirty in self.dirty_tensors or ())
        return tensor._view_meta is not None and is_dirty

    def _release(self) -> None:
        """Free the saved tensors; attributes that the user set on `ctx` stay."""
        if self._saved is not None:
            super()._release()
            self._saved, self._tensor_indices = None, ()

    # backward -------------------------------------------------------------------------------------

    def _apply(self, grads: list, on_arrays: bool) -> list:
        """Call the user's backward, on tensors even where gradients are arrays; check its results."""
        arrived = GradientList.ensure_states(grads)
        return call_with_tensors(self._call_backward, arrived, devices_of_outputs(self), on_arrays)

    def _call_backward(self, gradients: tuple) -> list:
        """Call the user's backward. RuntimeError if it returns what does not fit the inputs."""
        if self._materialize:
            gradients = self._fill_missing(gradients)
        if self._takes_grads_in_list:
            # A list, from which backward may take those that it is done with.
            gradients = (list(gradients),)
        result = call_user(self._find_backward(), self, *gradients)
        returned = result if isinstance(result, tuple) else (result,)
        name, count = type(self).__name__, len(self._is_tensor_input)
        # PyTorch lets backward return more than there are inputs, if all that is too much is None.
        if len(returned) > count and all(gradient is None for gradient in returned[count:]):
            returned = returned[:count]
        if len(returned) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got "
                f"{len(returned)})"
            )
        gradients_of_tensors = []
        for position, gradient in enumerate(returned):
            if self._is_tensor_input[position]:
                if not (gradient is None or isinstance(gradient, Tensor)):
                    raise RuntimeError(f"expected Variable or None (got {type_name(gradient)})")
                gradients_of_tensors.append(gradient)
            elif gradient is not None:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position {position + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
        return gradients_of_tensors

    def _find_backward(self) -> Any:
        """Return the user's backward, which may be called `vjp`. RuntimeError if there are both."""
        function = self._forward_cls
        if function.vjp is Function.vjp:
            return function.backward
        if function.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return function.vjp

    def _fill_missing(self, gradients: tuple) -> tuple:
        """Return gradients with zeros for the outputs that none reached."""
        filled = []
        for gradient, expected in zip(gradients, self._zeros, strict=True):
            if gradient is None and expected is not None:
                shape, dtype, device = expected
                # PyTorch zeroes in place, which counts as a write.
                filled.append(
                    make_tensor_over(as_array_of_torch(np.zeros(shape, dtype)), device, version=1)
                )
            else:
                filled.append(gradient)
        return tuple(filled)


class FunctionMeta(type):
    """Metaclass that gives each Function a class of nodes, named after it."""

    __module__ = "torch.autograd.function"

    def __init__(cls, name: str, bases: tuple, attrs: dict) -> None:
        body = {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), body)
        super().__init__(name, bases, attrs)


class Function(metaclass=FunctionMeta):
    """Base of operations with a custom backward, which are called by `apply`.

    `forward` and `backward` are static methods.

    Source: `torch.autograd.Function`.
    """

    __module__ = "torch.autograd.function"

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *inputs)`, without ctx if there is a `setup_context`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, in a function of its own."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return a gradient, or None, for each input, from one gradient for each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Warn, as PyTorch does: all methods are static."""
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise PyTorch's RuntimeError for a Function that is called as in its first releases."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    vjp = backward
    # True to free what was saved as soon as `ctx.saved_tensors` was read, which then is only once
    clear_saved_tensors_on_access = False
    # True if backward takes the gradients as one list: `backward(ctx, grads)`
    boxed_grads_call = False

    @classmethod
    def apply(cls, *inputs: Any, **named: Any) -> Any:
        """Run forward on inputs; record a node for backward if any of them requires grad.

        TypeError for a keyword that is no parameter of forward, or not a positional one.
        """
        has_setup_context = cls.setup_context is not Function.setup_context
        if has_setup_context:
            # As PyTorch does, so that `setup_context` sees the defaults of forward's parameters,
            # too.
            bound = inspect.signature(cls.forward).bind(*inputs, **named)
            bound.apply_defaults()
            inputs, named = bound.args, bound.kwargs
        if named:
            inputs = _place_keywords(cls.forward, not has_setup_context, inputs, named)
        is_recorded = MODES.thread.is_recording and any(
            isinstance(x, Tensor) and needs_grad(x) for x in inputs
        )
        ctx = cls._backward_cls(inputs, is_recorded)
        with no_grad():
            output = cls.forward(*inputs) if has_setup_context else cls.forward(ctx, *inputs)
            if has_setup_context:
                cls.setup_context(ctx, inputs, output)
        outputs = _record_outputs(
            ctx, inputs, output if isinstance(output, tuple) else (output,), is_recorded
        )
        if is_recorded:
            ctx._save_tensors()
        ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = None
        return outputs if isinstance(output, tuple) else outputs[0]


def _place_keywords(forward: Any, has_ctx: bool, inputs: tuple, named: dict[str, Any]) -> tuple:
    """Return the inputs of forward with those that were given by name at their places.

    As in PyTorch, all before one must be given, be there a default or not.
    """
    code = getattr(forward, "__code__", None)
    names = () if code is None else code.co_varnames[has_ctx : code.co_argcount]
    for name in named:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(inputs):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    placed = [*inputs]
    for place in range(len(inputs), 1 + max(names.index(name) for name in named)):
        if names[place] not in named:
            raise TypeError(
                f"forward() missing required argument: '{names[place]}' (position {place})"
            )
        placed.append(named[names[place]])
    return tuple(placed)


# the outputs of forward, as the caller gets them --------------------------------------------------


def _record_outputs(
    ctx: BackwardCFunction, inputs: tuple, outputs: tuple, is_recorded: bool
) -> tuple:
    """Return the outputs of forward as outputs of `ctx`; views of inputs that are returned."""
    input_ids = {id(x) for x in inputs}
    dirty_ids = _collect_ids(
        ctx.dirty_tensors, "mark_dirty can only accept variables, but argument "
    )
    for tensor in ctx.dirty_tensors or ():
        count_write(tensor)
    differentiable = _find_differentiable(ctx, outputs, is_recorded)
    has_several = sum(differentiable) > 1
    results = []
    for output_nr, output in enumerate(outputs):
        result = output
        if isinstance(output, Tensor):
            is_input, is_dirty = id(output) in input_ids, id(output) in dirty_ids
            if not differentiable[output_nr]:
                result = _without_history(output, is_input, is_dirty)
            elif is_dirty:
                _rebase_dirty(ctx, output, output_nr, is_input, len(outputs))
            else:
                # An input that is returned as it is would get the node that it is an input of.
                result = _view_of_all(output) if is_input else output
                replace_history(result, ctx)
                result._edge = (ctx, output_nr)
            if result._view_meta is not None and (has_several or not (is_input and is_dirty)):
                # Writing to such a view would bypass the custom backward, so PyTorch forbids it.
                creation = MULTI_OUTPUT if has_several else IN_FUNCTION
                base, version_of_edge, _ = result._view_meta
                result._view_meta = (base, version_of_edge, creation)
        results.append(result)
    if not dirty_ids <= {id(output) for output in outputs}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as "
            "output. The inputs that are modified inplace must all be outputs of the Function."
        )
    return tuple(results)


def _find_differentiable(ctx: BackwardCFunction, outputs: tuple, is_recorded: bool) -> list[bool]:
    """Note on `ctx` what its gradients must be like; return which outputs have one."""
    excluded_ids = _collect_ids(
        ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got "
    )
    ctx._zeros = tuple([gradient_spec_of(t) if isinstance(t, Tensor) else None for t in outputs])
    differentiable, described = [], []
    for output in outputs:
        is_floating = isinstance(output, Tensor) and output._data.dtype.kind == "f"
        has_gradient = is_recorded and is_floating and id(output) not in excluded_ids
        differentiable.append(has_gradient)
        described.append(output if has_gradient else None)
    ctx._note_gradient_specs(*described)
    return differentiable


def _without_history(output: Tensor, is_input: bool, is_dirty: bool) -> Tensor:
    """Return an output of forward that has no gradient."""
    if not needs_grad(output):
        return _view_of_all(output) if is_input and not is_dirty else output
    if is_input:
        return output.detach()
    return output if output._view_meta is not None else output.detach_()


def _collect_ids(tensors: tuple | None, complaint: str) -> set[int]:
    """Return the ids of tensors. RuntimeError, in PyTorch's words, for anything else."""
    if not all(isinstance(tensor, Tensor) for tensor in tensors or ()):
        raise RuntimeError(complaint)
    return {id(tensor) for tensor in tensors or ()}


def _rebase_dirty(
    ctx: BackwardCFunction, tensor: Tensor, output_nr: int, is_input: bool, output_count: int
) -> None:
    """Make a tensor that forward wrote to in place an output of `ctx`."""
    # Not `is_leaf`, which would bring the history of a view up to date: PyTorch looks at the old
    # one.
    if tensor._edge is None and needs_grad(tensor):
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not is_input:
        complaint = (
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty()."
        )
        if tensor._view_meta is not None:
            raise RuntimeError(complaint)
        warn_in_torch(complaint, "torch/csrc/autograd/custom_function.cpp:320")
    if tensor._view_meta is not None and output_count > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using "
            ".clone() for example) or make your Function only return one Tensor (potentially "
            "splitting it into two Functions: one doing the inplace that returns a single Tensor "
            "and a second one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change."
        )
    if tensor._meta is not None:
        tensor._meta.grad = None
    if tensor._view_meta is not None:
        check_inplace(tensor)
    rebase_history(tensor, ctx)
    if tensor._view_meta is None:
        tensor._edge = (ctx, output_nr)


def _view_of_all(tensor: Tensor) -> Tensor:
    """Return a view of a whole tensor, without history."""
    with no_grad():
        return tensor.view_as(tensor)


# differentiable once ------------------------------------------------------------------------------


class Error(NotImplementedNode):
    """The node of gradients from a backward that is `once_differentiable`: running it raises."""

    __slots__ = ()
    __module__ = "builtins"
    _name = "torch::autograd::Error"
    _message = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that is not differentiable: backward through its result raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not (
            MODES.thread.is_recording
            and any(isinstance(a, Tensor) and a.requires_grad for a in args)
        ):
            return outputs
        if not isinstance(outputs, tuple):
            return _with_error_node(outputs)
        return tuple(map(_with_error_node, outputs))

    return wrapper


def _with_error_node(output: Tensor | None) -> Tensor | None:
    """Return a tensor over the memory of an output, with a node that raises."""
    if output is None:
        return None
    result = output.data
    # PyTorch shows a leaf below the node, which nobody else knows.
    node = Error(((result.detach().requires_grad_(), 0),))
    node._note_gradient_specs(result)
    replace_history(result, node)
    return result


if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.autograd.function")
