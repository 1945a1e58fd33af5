"""Jacobians by finite differences and by backward, which `gradcheck` compares.

The functions are called as often, and in the order, in which torch's check calls them: what they print is the same.
Source: `torch.autograd.gradcheck`.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

from ..ops import FUNCTIONS
from ..tensor import Tensor
from .derivatives import grad


class GradcheckError(RuntimeError):
    """What a failed check raises."""

    __module__ = "torch.autograd.gradcheck"


def as_tuple(x: Any) -> tuple:
    """A tuple or list as a tuple; anything else alone in one."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def differentiable(x: Any) -> tuple[Tensor, ...]:
    """The tensors that require grad among the inputs of a function."""
    return tuple([t for t in as_tuple(x) if isinstance(t, Tensor) and t.requires_grad])


def _zeros(t: Tensor, *shape: int) -> Tensor:
    return FUNCTIONS["zeros"](shape, dtype=t.dtype, device=t.device)


# by finite differences --------------------------------------------------------------------------------------------------


def _same_kind(low: Tensor, high: Tensor, eps: float, index: tuple | None) -> None:
    where = "" if index is None else f"on index {index} "
    for what in ("shape", "dtype"):
        a, b = getattr(low, what), getattr(high, what)
        if a != b:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed {where}by {eps}, but "
                f"got: {what}s {a} and {b}."
            )


def _slope(
    func: Callable, inputs: tuple, entry: Tensor, step: Any, eps: float, index: tuple | None
) -> list[Tensor]:  # fmt: skip
    """The change of each output as `entry`, which an input looks at, moves by `step`, divided by twice `eps`."""
    before = entry.clone()
    found = []
    for moved in (before - step, before + step):
        entry.copy_(moved)
        found.append([o.clone() for o in as_tuple(func(*inputs))])
    entry.copy_(before)
    slopes = []
    for low, high in zip(*found, strict=False):
        _same_kind(low, high, eps, index)
        slopes.append(((high - low) / (2 * eps)).detach().reshape(-1))
    return slopes


def numerical(
    func: Callable, inputs: tuple, outputs: tuple, eps: float, target: Any = None
) -> list[tuple[Tensor, ...]]:  # fmt: skip
    """For each input that requires grad, the Jacobians of the outputs of floating point, a row an input's element."""
    jacobians = []
    for t in differentiable(inputs if target is None else target):
        values = t.data  # whose writes no graph sees
        found = [_zeros(o, t.numel(), o.numel()) for o in outputs if o.is_floating_point()]
        for row, index in enumerate(itertools.product(*map(range, t.shape))):
            slopes = _slope(func, inputs, values[index], eps, eps, index)
            for jacobian, slope in zip(found, slopes, strict=False):
                jacobian[row] = slope
        jacobians.append(tuple(found))
    return jacobians


def numerical_along(
    func: Callable, inputs: tuple, outputs: tuple, us: list[Tensor], vs: list[Tensor], eps: float
) -> list[list[Tensor]]:  # fmt: skip
    """For each input and each output the one number v^T J u, from finite differences along u."""
    found = []
    for t, u in zip(differentiable(inputs), us, strict=True):
        slopes = _slope(func, inputs, t.data, eps * u.reshape(t.shape), eps, None)
        of_floats = [s for s, o in zip(slopes, outputs, strict=True) if o.is_floating_point()]
        found.append([(v * s).sum() for v, s in zip(vs, of_floats, strict=False)])
    return found


def slopes_along(func: Callable, inputs: tuple, us: list[Tensor], eps: float) -> list[Tensor]:
    """The slopes of all outputs along a vector for each input."""
    return [
        s for t, u in zip(differentiable(inputs), us, strict=True)
        for s in _slope(func, inputs, t.data, eps * u.reshape(t.shape), eps, None)
    ]  # fmt: skip


# by backward ------------------------------------------------------------------------------------------------------------


def _rows(output: Tensor, wanted: tuple) -> list[list[Tensor | None]]:
    """The gradient of each element of the output, for each input."""
    start = _zeros(output, *output.shape)
    flat = start.view(-1)
    rows: list[list[Tensor | None]] = []
    for at in range(flat.numel()):
        flat.zero_()
        flat[at] = 1.0
        found = grad(output, wanted, start, retain_graph=True, allow_unused=True)
        rows = rows or [[] for _ in found]
        for row, g in zip(rows, found, strict=True):
            row.append(None if g is None else g.clone())
    return rows


def _stacked(found: list[list[Tensor | None]], wanted: tuple, count: int) -> tuple[tuple[Tensor, ...], bool, bool]:
    """Gradients as the columns of a matrix for each input; whether their dtypes and whether their sizes are right."""
    jacobians = tuple([_zeros(t, t.numel(), count) for t in wanted])
    types_fit = sizes_fit = True
    for t, jacobian, gradients in zip(wanted, jacobians, found, strict=False):
        for column, g in enumerate(gradients):
            if g is None:
                continue
            if g.shape != t.shape:
                sizes_fit = False
            elif g.dtype is not t.dtype:
                types_fit = False
            jacobian[:, column] = g.reshape(-1)
    return jacobians, types_fit, sizes_fit


def _equal(a: tuple[Tensor, ...], b: tuple[Tensor, ...], tol: float) -> bool:
    return all(not x.numel() or bool((x - y).abs().max() <= tol) for x, y in zip(a, b, strict=True))


_NOTE = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""


def analytical(
    inputs: tuple, output: Tensor, tol: float, check_types: bool, along: Tensor | None = None
) -> tuple[Tensor, ...]:  # fmt: skip
    """The Jacobian for each input, or v^T J along v. GradcheckError if it is of wrong dtype or size, or changes."""
    wanted = differentiable(inputs)

    def once() -> list[list[Tensor | None]]:
        if along is None:
            return _rows(output, wanted)
        found = grad(output, wanted, along.reshape(output.shape), retain_graph=True, allow_unused=True)
        return [[None if g is None else g.clone()] for g in found]

    first, second = once(), once()
    count = output.numel() if along is None else 1
    jacobians, types_fit, sizes_fit = _stacked(first, wanted, count)
    again = _stacked(second, wanted, count)[0]
    if check_types and not types_fit:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes_fit:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not _equal(jacobians, again, tol):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            "different values, although analytical gradient matches numerical gradient.The tolerance for "
            f"nondeterminism was {tol}." + _NOTE
        )
    return jacobians


# what torch deprecates --------------------------------------------------------------------------------------------------


def _deprecated(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be a "
        "stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_numerical_jacobian(
    fn: Callable, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:  # fmt: skip
    """The Jacobians of a function of a tuple, for its first output. Deprecated by torch, and warns."""
    _deprecated("get_numerical_jacobian", grad_out)
    outputs = as_tuple(fn(as_tuple(inputs)))
    found = numerical(lambda *given: fn(given), as_tuple(inputs), outputs, eps, target)
    return tuple([for_each[0] for for_each in found])


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:  # fmt: skip
    """The Jacobians from backward; whether a second run gives them too, their sizes, their dtypes. Deprecated, warns."""
    _deprecated("get_analytical_jacobian", grad_out)
    wanted = differentiable(inputs)
    first, second = _rows(output, wanted), _rows(output, wanted)
    jacobians, types_fit, sizes_fit = _stacked(first, wanted, output.numel())
    again = _stacked(second, wanted, output.numel())[0]
    return jacobians, _equal(jacobians, again, nondet_tol), sizes_fit, types_fit


__all__ = ["GradcheckError", "analytical", "as_tuple", "differentiable", "get_analytical_jacobian",
           "get_numerical_jacobian", "numerical", "numerical_along", "slopes_along"]  # fmt: skip
