"""Gradients: `backward` adds them to the leaves' `.grad`, `grad` returns them, `gradcheck` checks them.

Here stand the checks that torch makes before its engine runs. Source: `torch.autograd`.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import float64, get_default_dtype, warn_user
from ..graph import edge_of, retain_grad
from ..ops import python, stack, zeros_like
from ..tensor import Tensor, fresh
from . import engine
from .gradients import expected, fitted, know

Tensors = Tensor | Sequence[Tensor]
TensorsOrNone = Tensor | Sequence[Tensor | None]


def backward(
    tensors: Tensors, grad_tensors: TensorsOrNone | None = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Tensors | None = None,
) -> None:  # fmt: skip
    """Compute gradients of tensors and add them to the leaves' `.grad`, or to that of `inputs` alone.

    RuntimeError for non-scalars without a gradient, for tensors without history, for freed or changed saved tensors.
    Source: `torch.autograd.backward`.
    """
    inputs = None if inputs is None else _inputs(inputs, "backward")
    _run(_as_tuple(tensors), grad_tensors, retain_graph, create_graph, inputs, True)


def grad(
    outputs: Tensors, inputs: Tensors, grad_outputs: TensorsOrNone | None = None, retain_graph: bool | None = None,
    create_graph: bool = False, *, allow_unused: bool | None = None, materialize_grads: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs, as a tuple; no `.grad` is touched.

    RuntimeError if an input was not used (unless `allow_unused` or `materialize_grads`). Source: `torch.autograd.grad`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")  # fmt: skip
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outs, ins = _as_tuple(outputs), _inputs(inputs, "grad")
    found = _run(outs, grad_outputs, retain_graph, create_graph, ins, False)
    for i, g in enumerate(found):
        if g is None and not allow_unused:
            raise RuntimeError(f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")  # fmt: skip
        if g is None and materialize_grads:
            found[i] = zeros_like(ins[i]).requires_grad_(create_graph)
    return tuple(found)


def _backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of this tensor and add them to the leaves' `.grad`."""
    data, edge = self._data, self._edge
    # the usual call, which needs no checks
    if (
        edge is not None and self._view is None and gradient is None and inputs is None and create_graph is False
        and not data.ndim and (retain_graph is None or type(retain_graph) is bool)
        and not (fn := edge[0])._several and not fn._leaf and fn._expects[0][:2] == ((), data.dtype)
    ):  # fmt: skip
        engine.go(engine.Task(fn, retain_graph is True, True), fn, edge[1], np.array(1, data.dtype))
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_backward.__name__, _backward.__qualname__, _backward.__module__ = (
    "backward",
    "Tensor.backward",
    "tinytorch",
)
python("backward", _backward, function=False)


class _VariableType(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor)


class Variable(metaclass=_VariableType):
    """What tensors with gradients were called once: gives a plain tensor over the same memory, without history.

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
        out = fresh(np.empty(0, get_default_dtype().np)) if data is None else data
        return out.detach().requires_grad_(bool(requires_grad))


# the arguments --------------------------------------------------------------------------------------------------------


def _as_tuple(x: Any) -> tuple:
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _inputs(inputs: Any, function: str) -> tuple:
    found = _as_tuple(inputs)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return found


def _start_gradients(outputs: tuple, grads: Any) -> list:
    """The gradients to start from: given ones checked, missing ones implicitly one for scalars."""
    given = (None,) * len(outputs) if grads is None else _as_tuple(grads)
    found: list[Tensor | None] = []
    for out, start in zip(outputs, given, strict=False):
        g = start
        if not isinstance(out, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        if isinstance(g, Tensor):
            if g.shape != out.shape:  # `index` compares tensors by value, and fails as torch's does
                raise RuntimeError(f"Mismatch in shape: grad_output[{given.index(g)}] has a shape of {g.shape} and output[{outputs.index(out)}] has a shape of {out.shape}.")  # fmt: skip
        elif g is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif out.requires_grad:
            if out.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            g = fresh(np.ones(out.shape, out._data.dtype), out.device)
        found.append(g)
    return found


_CYCLE = "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."


def _run(
    outputs: tuple, given: Any, keep: Any, create: Any, inputs: tuple | None, accumulate: bool
) -> list:
    """One walk of the engine, after torch's checks; gradients of `inputs` (None: of all leaves) are added or returned."""
    grads, keep = _start_gradients(outputs, given), create if keep is None else keep
    if len(outputs) != len(grads):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    edges: list = list(map(edge_of, outputs))
    if None in edges:
        raise RuntimeError(
            f"element {edges.index(None)} of tensors does not require grad and does not have a grad_fn"
        )
    goals: list | None = None if inputs is None else []
    for t in inputs or ():
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}"
            )
        goals.append(edge_of(t))  # type: ignore[union-attr]
        if accumulate:
            retain_grad(t)
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    if not edges:
        return [None] * len(goals or ())
    starts = [
        g if g is None else fitted(None, i, g, expected(edges[i])) for i, g in enumerate(grads)
    ]
    know(*starts)  # hooks are given the very tensors
    held = () if accumulate else tuple(starts)  # one of them may be what is asked for
    if not create:
        starts = [g if g is None else g._data for g in starts]
    root, nr, first = (
        (*edges[0], starts[0]) if len(edges) == 1 else (engine.Root(edges, starts), 0, None)
    )
    task = engine.Task(root, bool(keep), not create, goals, accumulate)
    if create and accumulate:
        task.warnings.append((_CYCLE, "torch/csrc/autograd/engine.cpp:1307", True))
    del grads, starts  # so that the walk alone holds them
    engine.go(task, root, nr, first)
    del held
    return task.captured


backward.__module__ = grad.__module__ = "torch.autograd"

# checking derivatives against finite differences, Jacobian by Jacobian ---------------------------------------------------


class GradcheckError(RuntimeError):
    """What a failed check raises."""

    __module__ = "torch.autograd.gradcheck"


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True
) -> bool:  # fmt: skip
    """Whether backward of `func` agrees with finite differences at `inputs`, which should be float64.

    GradcheckError (or False, without `raise_exception`) if not. Source: `torch.autograd.gradcheck`.
    """
    given = _as_tuple(inputs)
    wanted = [t for t in given if isinstance(t, Tensor) and t.requires_grad]
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")  # fmt: skip
    for at, t in enumerate(given):
        if any(t is w for w in wanted) and t.dtype is not float64:
            warnings.warn(f"Input #{at} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. ", stacklevel=2)  # fmt: skip
    for i, output in enumerate(_outputs(func, given)):
        for j, t in enumerate(wanted):
            n, a = _numerical(func, given, t, i, eps), _analytical(output, t)
            if not a.allclose(n.to(a.dtype), rtol, atol):
                if raise_exception:
                    raise GradcheckError(f"Jacobian mismatch for output {i} with respect to input {j},\nnumerical:{n}\nanalytical:{a}\n")  # fmt: skip
                return False
    return True


def _outputs(func: Callable, inputs: tuple) -> list:
    return [o for o in _as_tuple(func(*inputs)) if o.requires_grad]


def _numerical(func: Callable, inputs: tuple, t: Tensor, i: int, eps: float) -> Tensor:
    """The Jacobian of an output for one input, a row an element of the input."""
    values, rows = t.data, []  # whose writes no graph sees
    for index in itertools.product(*map(range, t.shape)):
        before, sides = values[index].clone(), []
        for moved in (before - eps, before + eps):
            values[index] = moved
            sides.append(_outputs(func, inputs)[i].detach().clone())
        values[index] = before
        rows.append(((sides[1] - sides[0]) / (2 * eps)).reshape(-1))
    return stack(rows)


def _analytical(output: Tensor, t: Tensor) -> Tensor:
    """The same Jacobian from backward, a column an element of the output."""
    columns = [
        grad(x, t, retain_graph=True, materialize_grads=True)[0].reshape(-1)
        for x in output.reshape(-1)
    ]
    return stack(columns, 1)
