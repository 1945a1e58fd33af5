"""Gradients: `backward` adds them to the leaves' `.grad`, `grad` returns them.

Source: `torch.autograd`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from numpy import array

from ..dtypes import BY_NUM
from ..graph import backward as _engine
from ..graph.history import edge_of
from ..naming import type_name
from ..ops import FUNCTIONS
from ..tensor import Size, Tensor, fresh
from .graph import GradientEdge


def _as_tuple(x: Any) -> tuple:
    return (x,) if isinstance(x, (Tensor, GradientEdge)) else tuple(x)


def _inputs(inputs: Any, function: str) -> tuple:
    """Inputs as a tuple; those of a dictionary in its order. TypeError for other mappings, RuntimeError for none."""
    if type(inputs) is dict:
        found = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported."
        )
    else:
        found = _as_tuple(inputs)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return found


def _starts(grads: Any, count: int) -> tuple:
    if grads is None:
        return (None,) * count
    return (grads,) if isinstance(grads, Tensor) else tuple(grads)


def _expected(out: Any) -> tuple:
    """Shape, dtype and device of an output, which may be an edge of the graph."""
    if isinstance(out, GradientEdge):
        shape, kind, device = out.node.expects(out.output_nr)
        return Size(shape), BY_NUM[kind.num], device
    if not isinstance(out, Tensor):
        raise AssertionError("Expected output to be a torch.Tensor")
    return out.shape, out.dtype, out._device


def _calculate_shape(output: Any, grad: Tensor, is_grads_batched: bool) -> tuple[Size, Size]:
    """The shapes of an output and of a gradient for it, which are to be the same."""
    return _expected(output)[0], grad.shape[1:] if is_grads_batched else grad.shape


def _start_gradients(outputs: tuple, grads: tuple, batched: bool = False) -> tuple:
    """The gradients to start from: given ones checked, missing ones implicitly one for scalars."""
    found: list[Tensor | None] = []
    for out, grad in zip(outputs, grads, strict=False):
        if (
            grad is None
            and type(out) is Tensor
            and out.requires_grad
            and not out._data.ndim
            and out._data.dtype.kind == "f"
        ):
            found.append(fresh(array(1, out._data.dtype), out._device))
            continue
        shape, dtype, device = _expected(out)
        if isinstance(grad, Tensor):
            first = grad[0] if batched else grad
            if first.shape != shape:
                # `index` compares tensors by value where they are not the same object, and fails as torch's does.
                where = f"grad_output[{grads.index(grad)}] has a shape of {first.shape[1:] if batched else first.shape} and output[{outputs.index(out)}] has a shape of {shape}."
                if batched:
                    raise RuntimeError(
                        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                        "dimension. The sizes of the remaining dimensions are expected to match the shape of "
                        f"corresponding output, but a mismatch was detected: {where} If you only want some tensors in "
                        "`grad_output` to be considered batched, consider using vmap."
                    )
                raise RuntimeError(f"Mismatch in shape: {where}")
            found.append(grad)
        elif grad is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
        elif isinstance(out, GradientEdge) or out.requires_grad:
            if shape.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not dtype.is_floating_point:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype!r}")
            found.append(FUNCTIONS["ones"](shape, dtype=dtype, device=device))
        else:
            found.append(None)
    return tuple(found)


def _edge(t: Any) -> Any:
    return (t.node, t.output_nr) if isinstance(t, GradientEdge) else edge_of(t)


def _run(outputs: tuple, grads: tuple, keep: bool, create: bool, inputs: tuple | None, accumulate: bool) -> list:
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
                t.retain_grad()
            if not t.requires_grad:
                raise RuntimeError("One of the differentiated Tensors does not require grad")
    if not edges:
        return [None] * len(goals or ())
    return _engine.run(tuple(edges), grads, keep, create, None if goals is None else tuple(goals), accumulate)


def _flag(x: Any) -> bool:
    if type(x) is bool:
        return x
    if not hasattr(x, "__index__"):
        raise TypeError(f"'{type_name(x)}' object cannot be interpreted as an integer")
    return bool(x)


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
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _inputs(inputs, "backward")
    outputs = _as_tuple(tensors)
    grads = _start_gradients(outputs, _starts(grad_tensors, len(outputs)))
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
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outs, ins = _as_tuple(outputs), _inputs(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    starts = _start_gradients(outs, _starts(grad_outputs, len(outs)), is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = _batched(outs, starts, keep, create_graph, ins)
    else:
        found = _run(outs, starts, keep, create_graph, ins, False)
    for i, g in enumerate(found):
        if g is None:
            if not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
            if materialize_grads:
                if not isinstance(ins[i], Tensor):
                    raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
                found[i] = FUNCTIONS["zeros_like"](ins[i], requires_grad=create_graph)
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)


def _batched(outputs: tuple, grads: tuple, keep: bool, create: bool, inputs: tuple) -> list:
    """Row by row, where torch runs all rows at once."""
    for g in grads:
        if g is not None and not g.dim():
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
                "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
            )
    rows = max(len(g) for g in grads if g is not None)
    found = []
    for i in range(rows):
        row = tuple(None if g is None else g[i] for g in grads)
        found.append(_run(outputs, row, keep or i < rows - 1, create, inputs, False))
    return [None if each[0] is None else FUNCTIONS["stack"](each) for each in zip(*found, strict=True)]


def _tensor_backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
) -> None:  # fmt: skip
    """Compute the gradients of this tensor and add them to the leaves' `.grad`.

    Source: `torch.Tensor.backward`.
    """
    data = self._data
    if (
        gradient is None and inputs is None and create_graph is False and not data.ndim and data.dtype.kind == "f"
        and (retain_graph is None or type(retain_graph) is bool) and type(self) is Tensor
        and (edge := edge_of(self)) is not None
    ):  # fmt: skip
        _engine.run_from(edge, fresh(array(1, data.dtype), self._device), retain_graph is True)
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


backward.__module__ = grad.__module__ = "torch.autograd"
_tensor_backward.__name__ = "backward"
_tensor_backward.__qualname__ = "Tensor.backward"
Tensor.backward = _tensor_backward

__all__ = ["backward", "grad"]
