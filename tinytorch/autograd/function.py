"""Operations with a backward of the user's own.

Source: `torch.autograd.function`. The `ctx` that forward fills is the node itself, as in torch, so whatever is put on
it can be read from `grad_fn` afterwards.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from ..dtypes import BY_NUM
from ..graph.history import (
    IN_FUNCTION,
    MULTI_OUTPUT,
    check_inplace,
    edge_of,
    needs_grad,
    rebase_history,
    replace_history,
)
from ..graph.modes import MODES, no_grad
from ..graph.node import MultiNode
from ..graph.saved import FREED, SavedNothing, SavedResult, SavedTensor
from ..missing import missing
from ..naming import type_name
from ..ops import FUNCTIONS
from ..ops.by_hand import DelayedError
from ..tensor import Tensor
from ..warn import warn_in_torch


class FunctionCtx:
    """What forward may ask of its `ctx`."""

    __module__ = "torch.autograd.function"

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) with the versions they have; backward reads them from `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for forward-mode differentiation, which tinytorch does not have."""
        for t in tensors:
            if not (isinstance(t, Tensor) or t is None):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward wrote to; all of them must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that no gradient reached."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
            )
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: tuple) -> None:
        """Nothing: torch warns that it is not needed."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )


_PUBLIC = {"_forward_cls", "_input_metadata", "_materialize_non_diff_grads", "_raw_saved_tensors", "_sequence_nr",
           "_set_sequence_nr", "apply", "dirty_tensors", "mark_dirty", "mark_non_differentiable", "mark_shared_storage",
           "materialize_grads", "metadata", "name", "needs_input_grad", "next_functions", "non_differentiable",
           "register_hook", "register_prehook", "requires_grad", "save_for_backward", "save_for_forward",
           "saved_for_forward", "saved_tensors", "saved_variables", "set_materialize_grads", "to_save"}  # fmt: skip


class BackwardCFunction(MultiNode, FunctionCtx):
    """The node of a custom Function, and the `ctx` of its forward and backward."""

    __module__ = "torch.autograd.function"
    __slots__ = (
        "_blind",
        "_materialize",
        "_materialize_non_diff_grads",
        "_takes",
        "_was_read",
        "dirty_tensors",
        "needs_input_grad",
        "non_differentiable",
        "to_save",
    )
    _forward_cls: Any = None
    computes_all = True

    def __init__(self, inputs: tuple, recorded: bool) -> None:
        self._takes = tuple([isinstance(x, Tensor) for x in inputs])
        self.needs_input_grad = tuple([isinstance(x, Tensor) and needs_grad(x) for x in inputs])
        edges = tuple([edge_of(x) for x in inputs if isinstance(x, Tensor)]) if recorded else ()
        super().__init__(edges, ())
        self.to_save = self.dirty_tensors = self.non_differentiable = None
        self._materialize = self._materialize_non_diff_grads = True
        self._was_read = False
        self._outputs = 0  # until forward is through
        self._blind: list[int] = []  # the outputs that no gradient is computed for

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at 0x{id(self):x}>"

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept. RuntimeError, in torch's words, if it was freed or changed in place since."""
        if self._saved is None:
            raise RuntimeError(FREED)
        if self._forward_cls.clear_saved_tensors_on_access:
            if self._was_read:
                raise RuntimeError(
                    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                    "autograd.Function. Either access saved_tensors only once, or set "
                    "clear_saved_tensors_on_access=False."
                )
            self._was_read = True
        found = tuple([s.unpack(self) for s in self._saved])
        if self._was_read:
            for s in self._saved:
                s.release()
        return found

    @property
    def saved_variables(self) -> tuple:
        """What `saved_tensors` gives, by its old name; warns."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def materialize_grads(self) -> bool:
        """Whether backward gets zeros where no gradient came; can be set and not be read."""
        raise AttributeError("attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable")

    @materialize_grads.setter
    def materialize_grads(self, value: bool) -> None:
        self._materialize = value

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self._saved is None:
            raise RuntimeError(FREED)
        return self._saved

    def __dir__(self) -> list[str]:
        return [n for n in object.__dir__(self) if n in _PUBLIC or n.startswith("__") or n in self.__dict__]

    def __call__(self, *grads: Any) -> Any:
        """TypeError: only the nodes of torch's own operations can be called."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def expects(self, nr: int) -> Any:
        """Shape, dtype and device of the gradient of one output; None if there is none."""
        return None if nr in self._blind else self._metas[nr]

    def release(self) -> None:
        """Free what was saved; what the user put on `ctx` stays."""
        for s in self._saved or ():
            s.release()
        self._saved = None

    def _keep(self) -> None:
        """Save what forward asked for, with the versions the tensors have once forward is through."""
        kept: list[Any] = []
        for i, t in enumerate(self.to_save or ()):
            if t is None:
                kept.append(SavedNothing())
            elif isinstance(t, Tensor):
                mine = t._fn is self or (t._view is not None and any(t is d for d in self.dirty_tensors or ()))
                kept.append(SavedResult(t, t._output_nr) if mine else SavedTensor(t))
            else:
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type_name(t)}"
                )
        self._saved = tuple(kept)

    def apply(self, *given: Any) -> Any:
        """Call the user's backward and check what it returns; called with gradients and not a tuple, do not check."""
        cls = self._forward_cls
        own_backward, own_vjp = cls.backward is not Function.backward, cls.vjp is not Function.vjp
        if own_backward and own_vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        backward = cls.vjp if own_vjp else cls.backward
        if len(given) != 1 or not isinstance(given[0], (tuple, list)):
            return backward(self, *given)
        grads = given[0]
        if self._materialize:
            blind = () if self._materialize_non_diff_grads else self._blind
            grads = [
                _zeros(m) if g is None and m and nr not in blind else g
                for nr, (g, m) in enumerate(zip(grads, self._metas, strict=True))
            ]
        out = backward(self, *grads)
        out = out if isinstance(out, tuple) else (out,)
        name, wanted = type(self).__name__, len(self._takes)
        if len(out) > wanted and all(g is None for g in out[wanted:]):
            out = out[:wanted]
        if len(out) != wanted:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {wanted}, got {len(out)})"
            )
        found = []
        for i, (g, is_tensor) in enumerate(zip(out, self._takes, strict=True)):
            if is_tensor:
                if not (g is None or isinstance(g, Tensor)):
                    raise RuntimeError(f"expected Variable or None (got {type_name(g)})")
                found.append(g)
            elif g is not None:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable"
                )
        return tuple(found)


def _zeros(meta: tuple) -> Tensor:
    shape, kind, device = meta
    made = FUNCTIONS["zeros"](shape, dtype=BY_NUM[kind.num], device=device)
    made._vc.version = 1  # torch zeroes it in place, which counts here
    return made


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
    clear_saved_tensors_on_access = False
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __getattr__(self, name: str) -> Any:
        """What a node has, which an object of this class was in early versions of torch; no graph knows this one."""
        if name == "needs_input_grad":
            return None
        if name in ("name", "_register_hook_dict"):
            return lambda *tensor: type(self).__name__ if name == "name" else None
        if name not in _PUBLIC:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        node = self.__dict__.get("_node")
        if node is None:
            node = self.__dict__["_node"] = self._backward_cls((), False)
        return getattr(node, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: the class has `apply`, its objects are not called."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *inputs)`, or `forward(*inputs)` next to a `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Save for backward what is needed, apart from forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Give a gradient, or None, for each input, from one gradient for each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Stands for what forward-mode differentiation would call; tinytorch has none."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Stands for what `torch.vmap` would call; tinytorch has none."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on these inputs and record backward, if any of them requires grad."""
        apart = cls.setup_context is not Function.setup_context
        if apart:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        inputs = _in_order(cls.forward, args, kwargs, not apart) if kwargs else args
        recorded = MODES.here.grad and any(isinstance(x, Tensor) and needs_grad(x) for x in inputs)
        ctx = cls._backward_cls(inputs, recorded)
        outside, MODES.here.grad = MODES.here.grad, False
        try:
            if apart:
                raw = cls.forward(*inputs)
                cls.setup_context(ctx, inputs, raw)
            else:
                raw = cls.forward(ctx, *inputs)
        finally:
            MODES.here.grad = outside
        outputs = raw if isinstance(raw, tuple) else (raw,)
        outputs = _recorded(ctx, [x for x in inputs if isinstance(x, Tensor)], outputs, recorded)
        if recorded:
            ctx._keep()
        ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = None
        return outputs if isinstance(raw, tuple) else outputs[0]


def _in_order(forward: Any, args: tuple, keywords: dict[str, Any], after_ctx: bool) -> tuple:
    """All arguments by position. TypeError, in torch's words, for a keyword that has none or leaves one before it out."""
    code = getattr(forward, "__func__", forward).__code__
    names = code.co_varnames[after_ctx : code.co_argcount]
    at = {}
    for name, value in keywords.items():
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        at[names.index(name)] = value
    for i in range(len(args), max(at) + 1):
        if i not in at:
            raise TypeError(f"forward() missing required argument: '{names[i]}' (position {i})")
    return (*args, *[at[i] for i in sorted(at)])


def _marked(tensors: tuple | None, complaint: str) -> set[int]:
    for t in tensors or ():
        if not isinstance(t, Tensor):
            raise RuntimeError(complaint)
    return {id(t) for t in tensors or ()}


def _recorded(ctx: BackwardCFunction, inputs: list, outputs: tuple, recorded: bool) -> tuple:
    """The outputs as the caller gets them: outputs of `ctx`; inputs returned as they are become views."""
    given = {id(x) for x in inputs}
    dirty = _marked(ctx.dirty_tensors, "mark_dirty can only accept variables, but argument ")
    for t in ctx.dirty_tensors or ():
        t._vc.version += 1
    plain = _marked(ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got ")
    is_tensor = [isinstance(t, Tensor) for t in outputs]
    ctx.describe_all(tuple([t if ok else None for t, ok in zip(outputs, is_tensor, strict=True)]))
    result, differentiable = [], 0
    for nr, t in enumerate(outputs):
        if not is_tensor[nr]:
            result.append(t)
            continue
        is_input, is_dirty = id(t) in given, id(t) in dirty
        smooth = recorded and id(t) not in plain and t._data.dtype.kind == "f"
        if not smooth:
            ctx._blind.append(nr)
        out = _output(ctx, t, nr, is_input, is_dirty, smooth, len(outputs))
        if out._view is not None and not (is_input and is_dirty):
            out._creation = IN_FUNCTION
        differentiable += smooth
        result.append(out)
    if differentiable > 1:
        for t in result:
            if isinstance(t, Tensor) and t._view is not None:
                t._creation = MULTI_OUTPUT
    if not dirty <= {id(t) for t in outputs}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    return tuple(result)


def _output(
    ctx: BackwardCFunction, t: Tensor, nr: int, is_input: bool, is_dirty: bool, smooth: bool, count: int
) -> Tensor:
    if not smooth:
        if not needs_grad(t):
            return _same(t) if is_input and not is_dirty else t
        if is_input:
            return t.detach()
        return t if t._view is not None else t.detach_()
    if is_dirty:
        return _written(ctx, t, nr, is_input, count)
    if is_input:
        t = _same(t)
    replace_history(t, ctx)
    t._output_nr = nr
    return t


def _written(ctx: BackwardCFunction, t: Tensor, nr: int, is_input: bool, count: int) -> Tensor:
    """An output that forward wrote to in place: its history goes on from here."""
    if t._fn is None and needs_grad(t):  # not `is_leaf`, which brings the history of a view up to date
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_input:
        complaint = (
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
            "should be passed to ctx.mark_dirty()."
        )
        if t._view is not None:
            raise RuntimeError(complaint)
        warn_in_torch(complaint, "torch/csrc/autograd/custom_function.cpp:320")
    if t._view is not None and count > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
            "return more than one Tensor. This is not supported by the current autograd engine. You should either "
            "make sure the input is not a view (using .clone() for example) or make your Function only return one "
            "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
            "Tensor and a second one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change."
        )
    t._grad = None
    if t._view is not None:
        check_inplace(t, True)
    rebase_history(t, ctx)
    if t._view is None:
        t._output_nr = nr
    return t


def _same(t: Tensor) -> Tensor:
    with no_grad():
        return t.view_as(t)


def once_differentiable(fn: Callable) -> Callable:
    """Decorate a `backward` that is not itself differentiable: going through its result once more raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args, **kwargs)
        if not (MODES.here.grad and any(isinstance(a, Tensor) and a.requires_grad for a in args)):
            return outputs
        found = outputs if isinstance(outputs, tuple) else (outputs,)
        error = DelayedError(
            "trying to differentiate twice a function that was marked with @once_differentiable", len(found)
        )
        return error(*[None if t is None else t.detach().requires_grad_() for t in found])

    return wrapper


class InplaceFunction(Function):
    """A Function that remembers whether it was asked to work in place."""

    __module__ = "torch.autograd.function"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def __getattr__(name: str) -> object:
    raise missing("module 'torch.autograd.function' has no attribute '{}'", name)


__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]
