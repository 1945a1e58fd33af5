"""Checking derivatives against finite differences, Jacobian by Jacobian.

Source: `torch.autograd.gradcheck`.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

from ..base import float64, refuse_keywords
from ..ops import stack
from ..tensor import Tensor
from .api import grad


class GradcheckError(RuntimeError):
    """The error of a check that fails."""

    __module__ = "torch.autograd.gradcheck"


@refuse_keywords(
    *("nondet_tol", "check_undefined_grad", "check_grad_dtypes", "check_batched_grad"),
    *("check_batched_forward_grad", "check_forward_ad", "check_backward_ad"),
    *("fast_mode", "masked"),
)
def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare backward of `func` with finite differences at `inputs`, which should be float64.

    Return True if they agree; if not, raise GradcheckError or, without `raise_exception`,
    return False.
    Source: `torch.autograd.gradcheck`.
    """
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    wanted = [x for x in arguments if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for index, x in enumerate(arguments):
        if isinstance(x, Tensor) and x.requires_grad and x.dtype is not float64:
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double precision "
                "floating point or complex. ",
                stacklevel=2,
            )
    problem = _find_problem(func, arguments, wanted, eps, atol, rtol)
    if problem and raise_exception:
        raise GradcheckError(problem)
    return not problem


def _find_problem(
    func: Callable, inputs: tuple, checked: list[Tensor], eps: float, atol: float, rtol: float
) -> str:
    """Return what is wrong with the gradients of the tensors that are checked; "" for nothing."""
    outputs = _call(func, inputs)
    positions = [k for k, output in enumerate(outputs) if output.requires_grad]
    if not positions:
        # What has been cut off, as by `detach`, has a slope all the same.
        for k, x in itertools.product(range(len(outputs)), checked):
            if _numerical_jacobian(func, inputs, x, k, eps).any():
                return "Numerical gradient for function expected to be zero"
    for i, k in enumerate(positions):
        for j, x in enumerate(checked):
            numerical = _numerical_jacobian(func, inputs, x, k, eps)
            analytical = _analytical_jacobian(outputs[k], x)
            if not analytical.allclose(numerical.to(analytical.dtype), rtol, atol):
                return (
                    f"Jacobian mismatch for output {i} with respect to input "
                    f"{j},\nnumerical:{numerical}\nanalytical:{analytical}\n"
                )
    return ""


def _call(func: Callable, inputs: tuple) -> tuple:
    """Call a function; return its results."""
    result = func(*inputs)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _numerical_jacobian(
    func: Callable, inputs: tuple, x: Tensor, output_index: int, eps: float
) -> Tensor:
    """Return the Jacobian of an output for `x` from differences, a row for each element of `x`."""
    # `.data` has a version counter of its own, so that autograd does not see these writes.
    values, rows = x.data, []
    for index in itertools.product(*map(range, x.shape)):
        before, sides = values[index].clone(), []
        for moved in (before - eps, before + eps):
            values[index] = moved
            output = _call(func, inputs)[output_index]
            sides.append(output.detach().clone())
        values[index] = before
        low, high = sides
        rows.append(((high - low) / (2 * eps)).reshape(-1))
    return stack(rows)


def _analytical_jacobian(output: Tensor, x: Tensor) -> Tensor:
    """Return the same Jacobian from backward, a column for each element of the output."""
    columns = []
    for element in output.reshape(-1):
        (gradient,) = grad(element, x, retain_graph=True, materialize_grads=True)
        columns.append(gradient.reshape(-1))
    return stack(columns, 1)
