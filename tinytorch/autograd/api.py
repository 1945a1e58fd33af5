"""Gradients: `backward` adds them to the leaves' `.grad`, `grad` returns them.

Here stand the checks that torch makes before its engine runs. Source: `torch.autograd`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import BY_NUM, get_default_dtype
from ..errors import type_name, warn_user
from ..ops.creation import zeros_like
from ..ops.joining import stack
from ..tensor import Size, Tensor, fresh
from . import engine
from .gradients import KNOWN
from .history import edge_of
from .hooks import retain_grad
from .node import AccumulateGrad


class GradientEdge(NamedTuple):
    """Where in the graph a tensor's gradient is computed: a node and which of its outputs.

    Source: `torch.autograd.graph.GradientEdge`.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


GradientEdge.__module__ = "torch.autograd.graph"


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Compute gradients of tensors and add them to the leaves' `.grad`, or to that of `inputs` alone.

    RuntimeError for non-scalars without a gradient, for tensors without history, for freed or changed saved tensors.
    Source: `torch.autograd.backward`.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`.")  # fmt: skip
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _inputs(inputs, "backward")
    outputs = _as_tuple(tensors)
    grads = _start_gradients(outputs, grad_tensors)
    if len(grads) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    _run(outputs, grads, create_graph if retain_graph is None else retain_graph, create_graph, inputs, True)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:  # fmt: skip
    """The gradients of outputs with respect to inputs, as a tuple or, by name, a dictionary; no `.grad` is touched.

    With `is_grads_batched`, one gradient for each row of `grad_outputs`, stacked. RuntimeError if an input was not
    used (unless `allow_unused` or `materialize_grads`). Source: `torch.autograd.grad`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")  # fmt: skip
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outs, ins = _as_tuple(outputs), _inputs(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    starts = _start_gradients(outs, grad_outputs, is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    found = (_batched if is_grads_batched else _run)(outs, starts, keep, create_graph, ins, False)
    for i, g in enumerate(found):
        if g is None and not allow_unused:
            raise RuntimeError(f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")  # fmt: skip
        if g is None and materialize_grads:
            if not isinstance(ins[i], Tensor):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            found[i] = zeros_like(ins[i]).requires_grad_(create_graph)
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)


def _batched(outputs: tuple, grads: list, keep: bool, create: bool, inputs: tuple, accumulate: bool) -> list:
    """Row by row, where torch runs all rows at once."""
    given = [g for g in grads if g is not None]
    if any(not g.ndim for g in given):
        raise ValueError("vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0.")  # fmt: skip
    last, found = max(len(g) for g in given) - 1, []
    for i in range(last + 1):
        row = [None if g is None else g[i] for g in grads]
        found.append(_run(outputs, row, keep or i < last, create, inputs, accumulate))
    return [None if each[0] is None else stack(list(each)) for each in zip(*found, strict=True)]


class _VariableType(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor)


class Variable(metaclass=_VariableType):
    """What tensors with gradients were called once: gives a plain tensor over the same memory, without history.

    TypeError unless `data` is a tensor or missing. Source: `torch.autograd.Variable`.
    """

    __module__ = "torch.autograd.variable"

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False, **named: Any) -> Any:
        """Make the tensor that shares the data's memory."""
        for name in named:
            raise TypeError(f"'{name}' is an invalid keyword argument for this function")
        if volatile:
            warn_user("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        out = fresh(np.empty(0, get_default_dtype().np)) if data is None else data
        if not isinstance(out, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        if requires_grad and not out.is_floating_point():
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return out.detach().requires_grad_(bool(requires_grad))


def variable(*args: object, **kwargs: object) -> None:
    """Gone from torch, which says so in a RuntimeError."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


# the arguments --------------------------------------------------------------------------------------------------------


def _as_tuple(x: Any) -> tuple:
    return (x,) if isinstance(x, (Tensor, GradientEdge)) else tuple(x)


def _inputs(inputs: Any, function: str) -> tuple:
    """Inputs as a tuple; those of a dictionary in its order. TypeError for other mappings, RuntimeError for none."""
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not supported.")  # fmt: skip
    found = tuple(inputs.values()) if type(inputs) is dict else _as_tuple(inputs)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return found


def _start_gradients(outputs: tuple, grads: Any, batched: bool = False) -> list:
    """The gradients to start from: given ones checked, missing ones implicitly one for scalars."""
    given = (None,) * len(outputs) if grads is None else (grads,) if isinstance(grads, Tensor) else tuple(grads)
    found: list[Tensor | None] = []
    for out, start in zip(outputs, given, strict=False):
        g = start
        shape, dtype, device = _expected(out)
        if isinstance(g, Tensor):
            first = g[0] if batched else g
            if first.shape != shape:
                # `index` compares tensors by value where they are not the same object, and fails as torch's does.
                where = f"grad_output[{given.index(g)}] has a shape of {first.shape[1:] if batched else first.shape} and output[{outputs.index(out)}] has a shape of {shape}."
                if batched:
                    raise RuntimeError(f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: {where} If you only want some tensors in `grad_output` to be considered batched, consider using vmap.")  # fmt: skip
                raise RuntimeError(f"Mismatch in shape: {where}")
            KNOWN[id(g._data)] = g
        elif g is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif isinstance(out, GradientEdge) or out.requires_grad:
            if shape.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not dtype.is_floating_point:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype!r}")
            g = fresh(np.ones(shape, dtype.np), device)
        found.append(g)
    return found


def _expected(out: Any) -> tuple:
    """Shape, dtype and device of an output, which may be an edge of the graph."""
    if isinstance(out, GradientEdge):
        shape, kind, device = out.node.expects(out.output_nr)
        return Size(shape), BY_NUM[kind.num], device
    if not isinstance(out, Tensor):
        raise AssertionError("Expected output to be a torch.Tensor")
    return out.shape, out.dtype, out.device


def _edge(t: Any) -> Any:
    if not isinstance(t, GradientEdge):
        return edge_of(t)
    return (t.node.variable, 0) if type(t.node) is AccumulateGrad else (t.node, t.output_nr)


def _run(outputs: tuple, grads: list, keep: Any, create: Any, inputs: tuple | None, accumulate: bool) -> list:
    """One walk of the engine, after the checks that torch makes on the way to it."""
    keep, create = _flag(keep), _flag(create)
    if len(outputs) != len(grads):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    edges: list = []
    for i, t in enumerate(outputs):
        edges.append(_edge(t))
        if edges[-1] is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    goals: list | None = None if inputs is None else []
    for t in inputs or ():
        if not isinstance(t, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        goals.append(_edge(t))  # type: ignore[union-attr]
        if isinstance(t, Tensor):
            if accumulate:
                retain_grad(t)
            if not t.requires_grad:
                raise RuntimeError("One of the differentiated Tensors does not require grad")
    if not edges:
        return [None] * len(goals or ())
    return engine.run(edges, grads, keep, create, goals, accumulate)


def _flag(x: Any) -> bool:
    if not hasattr(x, "__index__"):
        raise TypeError(f"'{type_name(x)}' object cannot be interpreted as an integer")
    return bool(x)


backward.__module__ = grad.__module__ = "torch.autograd"
