"""Checking derivatives against finite differences.

Source: `torch.autograd.gradcheck`, its slow mode, which compares whole Jacobians.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..ops import FUNCTIONS
from ..tensor import Tensor
from .by_hand import UndefinedGrad
from .derivatives import grad


class GradcheckError(RuntimeError):
    """What a failed check raises."""

    __module__ = "torch.autograd.gradcheck"


def _as_tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _differentiable(x: Any) -> tuple[Tensor, ...]:
    return tuple(t for t in _as_tuple(x) if isinstance(t, Tensor) and t.requires_grad)


def _zeros(t: Tensor, *shape: int) -> Tensor:
    return FUNCTIONS["zeros"](shape or t.shape, dtype=t.dtype, device=t.device)


def _check_inputs(inputs: tuple) -> None:
    for i, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        if t.dtype is not dtypes.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if any(step == 0 and n > 1 for step, n in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not _differentiable(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _numerical(func: Callable, inputs: tuple, outputs: tuple, eps: float) -> list[list[Tensor]]:
    """For each input and each output the Jacobian by central differences, one row for each element of the input."""
    jacobians = []
    for t in _differentiable(inputs):
        values = t.data
        found = [_zeros(o if o.is_floating_point() else t, t.numel(), o.numel()) for o in outputs]
        for row, index in enumerate(itertools.product(*map(range, t.shape))):
            before = values[index].clone()
            results = []
            for moved in (before - eps, before + eps):
                values[index] = moved
                results.append([o.clone() for o in _as_tuple(func(*inputs))])
            values[index] = before
            for jacobian, low, high in zip(found, *results, strict=True):
                for what, a, b in (("shape", low.shape, high.shape), ("dtype", low.dtype, high.dtype)):
                    if a != b:
                        raise AssertionError(
                            f"Expected `func` to return outputs with the same {what} when inputs are perturbed by "
                            f"{eps}, but got: {what}s {a} and {b}."
                        )
                jacobian[row] = ((high - low) / (2 * eps)).detach().reshape(-1)
        jacobians.append(found)
    return jacobians


def _analytical(inputs: tuple, output: Tensor) -> tuple[list[Tensor], bool, bool]:
    """The Jacobian for each input from backward; whether the gradients' dtypes and whether their sizes are right."""
    wanted = _differentiable(inputs)
    jacobians = [_zeros(t, t.numel(), output.numel()) for t in wanted]
    types_fit = sizes_fit = True
    for column in range(output.numel()):
        start = _zeros(output)
        start.view(-1)[column] = 1.0
        for t, jacobian, g in zip(wanted, jacobians, grad(output, wanted, start, True, allow_unused=True), strict=True):
            if g is None:
                continue
            if g.shape != t.shape:
                sizes_fit = False
            elif g.dtype is not t.dtype:
                types_fit = False
            jacobian[:, column] = g.reshape(-1)
    return jacobians, types_fit, sizes_fit


def _compare(
    func: Callable, func_out: tuple, inputs: tuple, eps: float, atol: float, rtol: float, tol: float, check_types: bool
) -> None:
    numerical = _numerical(func, inputs, func_out, eps)
    if not _differentiable(func_out):
        if any(bool(j._data.any()) for found in numerical for j in found):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    at = [i for i, o in enumerate(func_out) if isinstance(o, Tensor) and o.requires_grad]
    for nr, i in enumerate(at):
        analytical, types_fit, sizes_fit = _analytical(inputs, func_out[i])
        again, _, _ = _analytical(inputs, func_out[i])
        if check_types and not types_fit:
            raise GradcheckError("Gradient has dtype mismatch")
        if not sizes_fit:
            raise GradcheckError("Analytical gradient has incorrect size")
        for a, b in zip(analytical, again, strict=True):
            if a.numel() and np.abs(a._data - b._data).max() > tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {tol}."
                )
        for j, (a, found) in enumerate(zip(analytical, numerical, strict=True)):
            if not np.allclose(a._data, found[i]._data, rtol, atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {nr} with respect to input {j},\nnumerical:{found[i]}\n"
                    f"analytical:{a}\n"
                )


def _check_scaling(outputs: tuple, inputs: tuple) -> None:
    """A gradient of zero must give zeros, of the inputs' dtypes and shapes."""
    wanted = _differentiable(inputs)
    for g, t in zip(grad(outputs, wanted, [_zeros(o) for o in outputs], allow_unused=True), wanted, strict=True):
        if g is None:
            continue
        if g._data.any():
            raise GradcheckError("backward not multiplied by grad_output")
        for what, a, b in (("type", g.dtype, t.dtype), ("device", g.device, t.device), ("size", g.shape, t.shape)):
            if a != b:
                raise GradcheckError(f"grad is incorrect {what}")


def _check_undefined(func: Callable, count: int, inputs: tuple) -> None:
    """Backward must cope with outputs that no gradient reaches: with all of them, and with each alone."""
    wanted = _differentiable(inputs)
    blind = [set(range(count))] + ([{i} for i in range(count)] if count > 1 else [])
    for cut in blind:
        outs = [UndefinedGrad()(o) if i in cut else o for i, o in enumerate(_differentiable(func(*inputs)))]
        notes = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
        try:
            found = grad(outs, wanted, [_zeros(o) for o in outs], allow_unused=True)
        except RuntimeError as error:
            _warn_of_new_check()
            raise GradcheckError(f"Expected backward function to handle undefined output grads. {notes}") from error
        if any(g is not None and g._data.any() for g in found):
            _warn_of_new_check()
            raise GradcheckError(
                f"Expected all input grads to be undefined or zero when all output grads are undefined or zero. {notes}"
            )


def _warn_of_new_check() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=3,
    )


def gradcheck(
    func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether backward of `func` agrees with finite differences at `inputs`, which should be float64.

    GradcheckError (or False, without `raise_exception`) if not. Whole Jacobians are compared in fast mode as well.
    NotImplementedError for the checks of forward mode and of batched gradients. Source: `torch.autograd.gradcheck`.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad or check_batched_forward_grad or check_forward_ad:
        raise NotImplementedError(
            "tinytorch has no forward-mode differentiation and no vmap: leave these checks to PyTorch"
        )
    try:
        given = _as_tuple(inputs)
        _check_inputs(given)
        func_out = _as_tuple(func(*given))
        _compare(func, func_out, given, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        outputs = _differentiable(func_out)
        _check_scaling(outputs, given)
        if check_undefined_grad:
            _check_undefined(func, len(outputs), given)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
    fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Whether the second derivatives of `func` agree with finite differences of its first.

    Gradients to start from are drawn from [-1, 1) if none are given. Errors as `gradcheck`.
    Source: `torch.autograd.gradgradcheck`.
    """
    given = _as_tuple(inputs)
    if grad_outputs is None:
        starts = []
        for o in _differentiable(func(*given)):
            shape = (*o.shape[:-1], o.shape[-1] * 2) if gen_non_contig_grad_outputs and o.dim() else tuple(o.shape)
            start = FUNCTIONS["empty"](shape, dtype=o.dtype, device=o.device).uniform_(-1, 1)
            starts.append((start[..., ::2] if shape != tuple(o.shape) else start).requires_grad_())
    else:
        starts = list(_as_tuple(grad_outputs))
    count = len(starts)
    wanted = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]

    def first_derivatives(*args: Any) -> tuple:
        outputs = _differentiable(func(*args[:-count]))
        found = grad(outputs, [args[i] for i in wanted], args[-count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_derivatives, (*given, *starts), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
