"""Checking derivatives against finite differences, Jacobian by Jacobian. Source: `torch.autograd.gradcheck`."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..ops.creation import zeros_like
from ..ops.joining import stack
from ..tensor import Tensor
from .api import grad


class GradcheckError(RuntimeError):
    """What a failed check raises."""

    __module__ = "torch.autograd.gradcheck"


def gradcheck(
    func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True
) -> bool:  # fmt: skip
    """Whether backward of `func` agrees with finite differences at `inputs`, which should be float64.

    GradcheckError (or False, without `raise_exception`) if not. Source: `torch.autograd.gradcheck`.
    """
    given = _as_tuple(inputs)
    wanted = [t for t in given if isinstance(t, Tensor) and t.requires_grad]
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")  # fmt: skip
    for at, t in enumerate(given):
        if any(t is w for w in wanted) and t.dtype is not dtypes.float64:
            warnings.warn(f"Input #{at} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. ", stacklevel=2)  # fmt: skip
    for i, output in enumerate(_outputs(func, given)):
        for j, t in enumerate(wanted):
            n, a = _numerical(func, given, t, i, eps), _analytical(output, t)
            if not a.allclose(n.to(a.dtype), rtol, atol):
                if raise_exception:
                    raise GradcheckError(f"Jacobian mismatch for output {i} with respect to input {j},\nnumerical:{n}\nanalytical:{a}\n")  # fmt: skip
                return False
    return True


def _as_tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


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
    columns = []
    for at in range(output.numel()):
        start = zeros_like(output)
        start.view(-1)[at] = 1.0
        (column,) = grad(output, t, start, retain_graph=True, materialize_grads=True)
        columns.append(column.reshape(-1))
    return stack(columns, 1)
