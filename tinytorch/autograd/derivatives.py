"""The public face of autograd: `backward` and `grad`.

Source: `torch.autograd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph import backward as _walk
from ..graph.history import edge_of
from ..graph.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..graph.saved import saved_tensors_hooks
from ..tensor import Tensor
from ..warn import warn_in_torch


def _as_tuple(x: Any) -> tuple:
    return (x,) if isinstance(x, Tensor) or x is None else tuple(x)


def _root_gradients(outputs: tuple, grads: tuple) -> tuple:
    """The gradients to start from: given ones checked, missing ones implicitly one for scalars."""
    out = []
    for i, (t, g) in enumerate(zip(outputs, grads, strict=True)):
        if g is None:
            if t.requires_grad:
                if t._data.size != 1:
                    raise RuntimeError("grad can be implicitly created only for scalar outputs")
                if t._data.dtype.kind != "f":
                    raise RuntimeError(
                        f"grad can be implicitly created only for real scalar outputs but got {t.dtype!r}"
                    )
                out.append(t.new_ones(t.shape) if t._data.flags.c_contiguous else t.detach().clone().fill_(1))
            else:
                out.append(None)
            continue
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if g._data.shape != t._data.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}."
            )
        out.append(g)
    return tuple(out)


def _root_edges(outputs: tuple) -> tuple:
    edges = []
    for i, t in enumerate(outputs):
        edge = edge_of(t)
        if edge is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return tuple(edges)


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Compute gradients of tensors and add them to the leaves' `.grad`.

    RuntimeError for non-scalars without a gradient, for tensors without history, for freed or changed saved tensors.
    Source: `torch.autograd.backward`.
    """
    outputs = _as_tuple(tensors)
    grads = _as_tuple(grad_tensors) if grad_tensors is not None else (None,) * len(outputs)
    if inputs is not None and len(_as_tuple(inputs)) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    grads = _root_gradients(outputs, grads)
    keep = create_graph if retain_graph is None else retain_graph
    edges = _root_edges(outputs)
    goals = None
    if inputs is not None:
        goals = []
        for i, t in enumerate(_as_tuple(inputs)):
            if not t.requires_grad:
                raise RuntimeError("One of the differentiated Tensors does not require grad")
            if t.grad_fn is not None:
                t.retain_grad()
            goals.append(edge_of(t))
        goals = tuple(goals)
    if create_graph:
        warn_in_torch(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
            "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
            "after use to break the cycle and avoid the leak.",
            "torch/csrc/autograd/engine.cpp:1307",
            once=True,
        )
    _walk.run(edges, grads, keep, create_graph, goals, True)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs, as a tuple; no `.grad` is touched.

    RuntimeError if an input was not used (unless `allow_unused`). Source: `torch.autograd.grad`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")  # fmt: skip
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outs, ins = _as_tuple(outputs), _as_tuple(inputs)
    given = _as_tuple(grad_outputs) if grad_outputs is not None else (None,) * len(outs)
    grads = _root_gradients(outs, given)
    keep = create_graph if retain_graph is None else retain_graph
    edges = _root_edges(outs)
    for t in ins:
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = _walk.run(edges, grads, keep, create_graph, tuple(edge_of(t) for t in ins), False)
    for i, g in enumerate(found):
        if g is None:
            if not allow_unused:
                raise RuntimeError(
                    "One of the differentiated Tensors appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
            if materialize_grads:
                found[i] = ins[i].new_zeros(ins[i].shape)
    return tuple(found)


def _tensor_backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
) -> None:  # fmt: skip
    """Compute the gradients of this tensor and add them to the leaves' `.grad`.

    Source: `torch.Tensor.backward`.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = _tensor_backward

__all__ = ["backward", "enable_grad", "grad", "inference_mode", "no_grad", "saved_tensors_hooks", "set_grad_enabled"]
