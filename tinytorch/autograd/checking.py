"""Checking derivatives against finite differences, Jacobian by Jacobian. Source: `torch.autograd.gradcheck`."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..tensor import Tensor, fresh
from .api import grad


class GradcheckError(RuntimeError):
    """What a failed check raises."""

    __module__ = "torch.autograd.gradcheck"


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether backward of `func` agrees with finite differences at `inputs`, which should be float64.

    GradcheckError (or False, without `raise_exception`) if not. Source: `torch.autograd.gradcheck`.
    """
    try:
        given = _as_tuple(inputs)
        wanted = _check_inputs(given)
        results = _as_tuple(func(*given))
        outputs = _outputs(results)
        _compare(func, results, given, wanted, eps, rtol, atol)
        zero = [_zeros(o, *o.shape) for o in outputs]
        if any(g is not None and not g.eq(0).all() for g in grad(outputs, wanted, zero, allow_unused=True)):
            raise GradcheckError("backward not multiplied by grad_output")
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """Whether the second derivatives of `func` agree with finite differences of its first.

    Gradients to start from are drawn from [-1, 1) if none are given. Source: `torch.autograd.gradgradcheck`.
    """
    given = _as_tuple(inputs)
    if grad_outputs is None:
        starts = tuple([_zeros(o, *o.shape).uniform_(-1, 1).requires_grad_() for o in _outputs(func(*given))])
    else:
        starts = _as_tuple(grad_outputs)
    count = len(starts)
    wanted = {i for i, t in enumerate((*given, *starts)) if isinstance(t, Tensor) and t.requires_grad}

    def first_derivatives(*args: Any) -> tuple:
        args = tuple([t.requires_grad_() if i in wanted else t for i, t in enumerate(args)])
        values = args[:-count]
        asked = [t for i, t in enumerate(values) if i in wanted]
        found = grad(_outputs(func(*values)), asked, args[-count:], create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(first_derivatives, (*given, *starts), **options)


def _as_tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _outputs(x: Any) -> tuple[Tensor, ...]:
    return tuple([o for o in _as_tuple(x) if o.requires_grad])


def _zeros(t: Tensor, *shape: int) -> Tensor:
    return fresh(np.zeros(shape, t._data.dtype), t.device)


def _check_inputs(inputs: tuple) -> tuple[Tensor, ...]:
    """Those of the inputs that require grad. ValueError if none does."""
    for i, t in enumerate(inputs):
        if isinstance(t, Tensor) and t.requires_grad and t.dtype is not dtypes.float64:
            warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. ", stacklevel=3)  # fmt: skip
    wanted = tuple([t for t in inputs if isinstance(t, Tensor) and t.requires_grad])
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")  # fmt: skip
    return wanted


def _compare(
    func: Callable, results: tuple, inputs: tuple, wanted: tuple, eps: float, rtol: float, atol: float
) -> None:
    by_input = [_numerical(func, inputs, t, results, eps) for t in wanted]
    if not _outputs(results) and any(bool((j != 0).any()) for found in by_input for j in found):
        raise GradcheckError("Numerical gradient for function expected to be zero")
    by_output = [(o, n) for o, n in zip(results, zip(*by_input, strict=True), strict=False) if o.requires_grad]
    for i, (output, numerical) in enumerate(by_output):
        for j, (a, n) in enumerate(zip(_analytical(wanted, output), numerical, strict=True)):
            kind = dtypes.promote_types(a.dtype, n.dtype)
            if not a.to(kind).allclose(n.to(kind), rtol, atol):
                raise GradcheckError(f"Jacobian mismatch for output {i} with respect to input {j},\nnumerical:{n}\nanalytical:{a}\n")  # fmt: skip


def _numerical(func: Callable, inputs: tuple, t: Tensor, outputs: tuple, eps: float) -> list[Tensor]:
    """The Jacobians of the outputs of floating point for one input, a row an element of the input."""
    values = t.data  # whose writes no graph sees
    found = [_zeros(o, t.numel(), o.numel()) for o in outputs if o.is_floating_point()]
    for row, index in enumerate(itertools.product(*map(range, t.shape))):
        before, sides = values[index].clone(), []
        for moved in (before - eps, before + eps):
            values[index] = moved
            sides.append([o.clone() for o in _as_tuple(func(*inputs))])
        values[index] = before
        for jacobian, low, high in zip(found, *sides, strict=False):
            jacobian[row] = ((high - low) / (2 * eps)).detach().reshape(-1)
    return found


def _analytical(wanted: tuple, output: Tensor) -> list[Tensor]:
    """The Jacobians for these inputs from backward, a column an element of the output."""
    jacobians = [_zeros(t, t.numel(), output.numel()) for t in wanted]
    start = _zeros(output, *output.shape)
    for column in range(output.numel()):
        start.zero_().view(-1)[column] = 1.0
        found = grad(output, wanted, start, retain_graph=True, allow_unused=True)
        for jacobian, g in zip(jacobians, found, strict=True):
            if g is not None:
                jacobian[:, column] = g.reshape(-1)
    return jacobians
