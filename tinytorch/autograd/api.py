"""`backward` adds gradients to the leaves' `.grad`, `grad` returns them.

These are the checks that PyTorch makes before its engine runs. Source: `torch.autograd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import get_default_dtype, refuse_keywords, type_name, warn_user
from ..graph import gradient_edge, retain_grad
from ..ops import offer_member, zeros_like
from ..tensor import Tensor, make_tensor
from .engine import GraphRoot, GraphTask
from .gradient_tensors import remember_tensors
from .validate import expected_on_edge, fit_gradient

Tensors = Tensor | Sequence[Tensor]
TensorsOrNone = Tensor | Sequence[Tensor | None]


@refuse_keywords("grad_variables")
def backward(
    tensors: Tensors,
    grad_tensors: TensorsOrNone | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Compute gradients of tensors and add them to `.grad` of all leaves, or of `inputs` alone.

    RuntimeError for non-scalars without a gradient, for tensors without history, and for saved
    tensors that were freed or written to.
    Source: `torch.autograd.backward`.
    """
    wanted = None if inputs is None else _check_inputs(inputs, "backward")
    _check_and_walk(
        _as_tuple(tensors), grad_tensors, retain_graph, create_graph, wanted, accumulate=True
    )


@refuse_keywords("is_grads_batched")
def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: TensorsOrNone | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    *,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of outputs with respect to inputs, as a tuple; no `.grad` is touched.

    RuntimeError if an input was not used (unless `allow_unused` or `materialize_grads`).
    Source: `torch.autograd.grad`.
    """
    if not only_inputs:
        warn_user(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but "
            "got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    wanted = _check_inputs(inputs, "grad")
    gradients = _check_and_walk(
        _as_tuple(outputs), grad_outputs, retain_graph, create_graph, wanted, accumulate=False
    )
    for i, gradient in enumerate(gradients):
        if gradient is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
        if gradient is None and materialize_grads:
            gradients[i] = zeros_like(wanted[i]).requires_grad_(create_graph)
    return tuple(gradients)


def backward_of_tensor(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of this tensor and add them to the leaves' `.grad`.

    RuntimeError as `torch.autograd.backward`. Source: `torch.Tensor.backward`.
    """
    has_plain_arguments = (
        gradient is None
        and inputs is None
        and create_graph is False
        and (retain_graph is None or type(retain_graph) is bool)
    )
    if has_plain_arguments and _is_plain_scalar(self):
        # `loss.backward()`, which passes all checks. Of one product it takes 17 us instead of 24.
        node, output_nr = self._edge
        task = GraphTask(node, keep_graph=retain_graph is True, on_arrays=True)
        task.run(output_nr, np.array(1, self._data.dtype))
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _is_plain_scalar(tensor: Tensor) -> bool:
    """Return True if backward can start at a tensor with an array that holds 1."""
    data, edge = tensor._data, tensor._edge
    # The history of a view may be out of date; `_check_and_walk` looks at that.
    if edge is None or tensor._view_meta is not None or data.ndim:
        return False
    node = edge[0]
    return (
        not node._has_several_outputs
        and not node._ends_graph
        # `.data =` may have given the tensor another shape and dtype than its node gave it.
        and node._gradient_specs[0][:2] == ((), data.dtype)
    )


backward_of_tensor.__name__ = "backward"
backward_of_tensor.__qualname__ = "Tensor.backward"
backward_of_tensor.__module__ = "tinytorch"
offer_member("backward", backward_of_tensor, function=False)


class _VariableType(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor)


class Variable(metaclass=_VariableType):
    """Old name of tensors with gradients. Returns a tensor over the same memory, without history.

    TypeError unless `data` is a tensor or missing. Source: `torch.autograd.Variable`.
    """

    __module__ = "torch.autograd.variable"

    def __new__(  # type: ignore[misc]
        cls, data: Any = None, requires_grad: bool = False, volatile: bool = False
    ) -> Tensor:
        """Make the tensor that shares the data's memory."""
        if volatile:
            warn_user(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
            )
        out = make_tensor(np.empty(0, get_default_dtype().np)) if data is None else data
        return out.detach().requires_grad_(bool(requires_grad))


# the arguments ------------------------------------------------------------------------------------

_CYCLE_MESSAGE = (
    "Using backward() with create_graph=True will create a reference cycle between the "
    "parameter and its gradient which can cause a memory leak. We recommend using "
    "autograd.grad when creating the graph to avoid this. If you have to use this "
    "function, make sure to reset the .grad fields of your parameters to None after use "
    "to break the cycle and avoid the leak."
)


def _as_tuple(tensors: Any) -> tuple:
    """Return one tensor, or a sequence of tensors, as a tuple."""
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _check_inputs(inputs: Any, function: str) -> tuple:
    """Return `inputs` as a tuple. RuntimeError, in PyTorch's words, if it is empty."""
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return wanted


def _make_start_gradients(outputs: tuple, grads: Any) -> list:
    """Return the gradients to start from: given ones checked, for scalars without one a 1."""
    grads = (None,) * len(outputs) if grads is None else _as_tuple(grads)
    starts: list[Tensor | None] = []
    for output, gradient in zip(outputs, grads, strict=False):
        if not isinstance(output, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        if isinstance(gradient, Tensor):
            if gradient.shape != output.shape:
                # `index` compares tensors by value, and fails in the same cases as PyTorch's does.
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{grads.index(gradient)}] has a shape of "
                    f"{gradient.shape} and output[{outputs.index(output)}] has a shape of {output.shape}."
                )
            starts.append(gradient)
        elif gradient is not None:
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
            )
        elif not output.requires_grad:
            starts.append(None)
        elif output.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        else:
            starts.append(make_tensor(np.ones(output.shape, output._data.dtype), output.device))
    return starts


def _find_target_edges(inputs: tuple, accumulate: bool) -> list:
    """Return the edges to the tensors whose gradients are wanted.

    RuntimeError for what has none.
    """
    edges = []
    for tensor in inputs:
        if not isinstance(tensor, Tensor):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type_name(tensor)}"
            )
        edges.append(gradient_edge(tensor))
        if accumulate:
            retain_grad(tensor)
        if not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edges


def _check_and_walk(
    outputs: tuple,
    grads: Any,
    retain_graph: Any,
    create_graph: Any,
    inputs: tuple | None,
    accumulate: bool,
) -> list:
    """Make PyTorch's checks, then walk; return the gradients of `inputs` unless accumulated.

    `inputs`: None for all leaves. `accumulate`: add to `.grad`.
    """
    starts = _make_start_gradients(outputs, grads)
    keep_graph = bool(create_graph if retain_graph is None else retain_graph)
    if len(outputs) != len(starts):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(starts)} gradients")
    edges: list = [gradient_edge(output) for output in outputs]
    if None in edges:
        raise RuntimeError(
            f"element {edges.index(None)} of tensors does not require grad and does not have a "
            "grad_fn"
        )
    targets = None if inputs is None else _find_target_edges(inputs, accumulate)
    if not edges:
        return [None] * len(targets or ())
    starts = [_fit_start(edge, index, starts[index]) for index, edge in enumerate(edges)]
    # Hooks are handed these very tensors, if the user still holds them.
    remember_tensors(starts)
    # Kept alive until the walk is over. A tensor that `_fit_start` made, by converting the user's to
    # another dtype, is held by nobody else; a hook is handed it, with its history, and `grad` may
    # return it.
    start_tensors = tuple(starts)
    if not create_graph:
        starts = [start if start is None else start._data for start in starts]
    if len(edges) == 1:
        (root, output_nr), gradient = edges[0], starts[0]
    else:
        root, output_nr, gradient = GraphRoot(edges, starts), 0, None
    task = GraphTask(root, keep_graph, not create_graph, targets, accumulate)
    if create_graph and accumulate:
        task.warnings.append((_CYCLE_MESSAGE, "torch/csrc/autograd/engine.cpp:1307", True))
    task.run(output_nr, gradient)
    del start_tensors
    return task.captured_gradients


def _fit_start(edge: Any, index: int, start: Tensor | None) -> Tensor | None:
    """Return gradient number `index` to start from, in the shape and dtype that its edge expects."""
    if start is None:
        return None
    shape, dtype, _ = expected_on_edge(edge)
    return fit_gradient(None, index, start, shape, dtype)


backward.__module__ = grad.__module__ = "torch.autograd"
