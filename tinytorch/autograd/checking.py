"""Checking derivatives against finite differences, Jacobian by Jacobian.

The functions are called as often, and in the order, in which torch's check calls them: what they print is the same.
Source: `torch.autograd.gradcheck`; its fast mode, which compares products with random vectors, is not there.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..tensor import Tensor, fresh
from .api import grad
from .function import UndefinedGrad


class GradcheckError(RuntimeError):
    """What a failed check raises."""

    __module__ = "torch.autograd.gradcheck"


def gradcheck(
    func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether backward of `func` agrees with finite differences at `inputs`, which should be float64.

    GradcheckError (or False, without `raise_exception`) if not. `fast_mode` is as slow as any here, and backward is
    taken to be deterministic. Source: `torch.autograd.gradcheck`.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_grad or check_batched_forward_grad or check_forward_ad:
        raise NotImplementedError("tinytorch has no forward-mode differentiation and no vmap: run this with PyTorch")
    try:
        given = _as_tuple(inputs)
        _check_inputs(given)
        func_out = func(*given)
        outputs = _outputs(func_out)
        _compare(func, _as_tuple(func_out), given, outputs, eps, rtol, atol, check_grad_dtypes)
        _check_scaling(outputs, _differentiable(given))
        if check_undefined_grad:
            _check_undefined(func, len(outputs), given)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable, inputs: Any, grad_outputs: Any = None, *, gen_non_contig_grad_outputs: bool = False,
    check_undefined_grad: bool = True, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True, masked: bool = False, **options: Any,
) -> bool:  # fmt: skip
    """Whether the second derivatives of `func` agree with finite differences of its first.

    Gradients to start from are drawn from [-1, 1) if none are given. Errors and options as `gradcheck`.
    Source: `torch.autograd.gradgradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for asked, name in ((check_undefined_grad, "check_undefined_grad"), (check_batched_grad, "check_batched_grad")):
        if asked and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    given = _as_tuple(inputs)
    if grad_outputs is None:
        starts = tuple([_random_start(o, gen_non_contig_grad_outputs) for o in _outputs(func(*given))])
    else:
        starts = _as_tuple(grad_outputs)
    count = len(starts)
    wanted = {i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad}
    follow = {i for i, t in enumerate(starts) if t.requires_grad}

    def first_derivatives(*args: Any) -> tuple:
        values = tuple([t.requires_grad_() if i in wanted else t for i, t in enumerate(args[:-count])])
        outputs = _outputs(func(*values))
        gradients = tuple([t.requires_grad_() if i in follow else t for i, t in enumerate(args[-count:])])
        asked = [t for i, t in enumerate(values) if i in wanted]
        found = grad(outputs, asked, gradients, create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(
        first_derivatives, (*given, *starts), check_undefined_grad=check_undefined_grad,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, **options,
    )  # fmt: skip


def _as_tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _differentiable(x: tuple) -> tuple[Tensor, ...]:
    return tuple([t for t in x if isinstance(t, Tensor) and t.requires_grad])


def _outputs(x: Any) -> tuple[Tensor, ...]:
    """The outputs of a function that require grad; AttributeError for what is no tensor."""
    return tuple([o for o in _as_tuple(x) if o.requires_grad])


def _zeros(t: Tensor, *shape: int) -> Tensor:
    return fresh(np.zeros(shape, t._data.dtype), t.device)


def _random_start(t: Tensor, strided: bool) -> Tensor:
    strided = strided and t.numel() > 1
    shape = [*t.shape[:-1], t.shape[-1] * 2] if strided else t.shape
    start = fresh(np.empty(shape, t._data.dtype), t.device).uniform_(-1, 1)
    return (start[..., 1::2] if strided else start).requires_grad_()


def _check_inputs(inputs: tuple) -> None:
    for i, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        if t.dtype is not dtypes.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if any(step == 0 and n > 1 for step, n in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck.")  # fmt: skip
    if not _differentiable(inputs):
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")  # fmt: skip


# the Jacobians --------------------------------------------------------------------------------------------------------


def _compare(
    func: Callable, func_out: tuple, inputs: tuple, outputs: tuple, eps: float, rtol: float, atol: float, types: bool
) -> None:
    by_input = _numerical(func, inputs, func_out, eps)
    if not outputs:
        if any(bool((j != 0).any()) for found in by_input for j in found):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    by_output = [n for o, n in zip(func_out, zip(*by_input, strict=True), strict=False) if o.requires_grad]
    for i, output in enumerate(outputs):
        exact = _analytical(_differentiable(inputs), output, types)
        for j, (a, n) in enumerate(zip(exact, by_output[i], strict=True)):
            kind = dtypes.promote_types(a.dtype, n.dtype)
            if not a.to(kind).allclose(n.to(kind), rtol, atol):
                raise GradcheckError(f"Jacobian mismatch for output {i} with respect to input {j},\nnumerical:{n}\nanalytical:{a}\n")  # fmt: skip


def _numerical(func: Callable, inputs: tuple, outputs: tuple, eps: float) -> list[tuple[Tensor, ...]]:
    """For each input that requires grad, the Jacobians of the outputs of floating point, a row an input's element."""
    jacobians = []
    for t in _differentiable(inputs):
        values = t.data  # whose writes no graph sees
        found = [_zeros(o, t.numel(), o.numel()) for o in outputs if o.is_floating_point()]
        for row, index in enumerate(itertools.product(*map(range, t.shape))):
            before, sides = values[index].clone(), []
            for moved in (before - eps, before + eps):
                values[index] = moved
                sides.append([o.clone() for o in _as_tuple(func(*inputs))])
            values[index] = before
            for i, (low, high) in enumerate(zip(*sides, strict=False)):
                for what, a, b in (("shape", low.shape, high.shape), ("dtype", low.dtype, high.dtype)):
                    if a != b:
                        raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index {index} by {eps}, but got: {what}s {a} and {b}.")  # fmt: skip
                if i < len(found):
                    found[i][row] = ((high - low) / (2 * eps)).detach().reshape(-1)
        jacobians.append(tuple(found))
    return jacobians


def _analytical(wanted: tuple, output: Tensor, check_types: bool) -> list[Tensor]:
    """The Jacobians for these inputs from backward, a column an output's element. GradcheckError for one that cannot be."""
    jacobians = [_zeros(t, t.numel(), output.numel()) for t in wanted]
    start = _zeros(output, *output.shape)
    for column in range(output.numel()):
        start.zero_().view(-1)[column] = 1.0
        found = grad(output, wanted, start, retain_graph=True, allow_unused=True)
        for t, jacobian, g in zip(wanted, jacobians, found, strict=True):
            if g is not None:
                if check_types and g.dtype is not t.dtype:
                    raise GradcheckError("Gradient has dtype mismatch")
                jacobian[:, column] = g.reshape(-1)
    return jacobians


# gradients of zero ----------------------------------------------------------------------------------------------------


def _check_scaling(outputs: tuple, wanted: tuple) -> None:
    """A gradient of zero must give zeros, of the inputs' dtypes and shapes."""
    zero = [_zeros(o, *o.shape) for o in outputs]
    for g, t in zip(grad(outputs, wanted, zero, allow_unused=True), wanted, strict=True):
        if g is None:
            continue
        if not g.eq(0).all():
            raise GradcheckError("backward not multiplied by grad_output")
        for what, a, b in (("type", g.dtype, t.dtype), ("device", g.device, t.device), ("size", g.shape, t.shape)):
            if a != b:
                raise GradcheckError(f"grad is incorrect {what}")


def _check_undefined(func: Callable, count: int, inputs: tuple) -> None:
    """Backward must cope with outputs that no gradient reaches: with all of them, and with each alone."""
    complaint = None
    for alone in (None, *(range(count) if count > 1 else ())):
        outs = [UndefinedGrad()(o) if alone in (None, i) else o for i, o in enumerate(_outputs(func(*inputs)))]
        try:
            found = grad(outs, _differentiable(inputs), [_zeros(o, *o.shape) for o in outs], allow_unused=True)
        except RuntimeError as error:
            complaint, cause = "Expected backward function to handle undefined output grads.", error
        else:
            if any(g is not None and not g.eq(0).all() for g in found):
                complaint, cause = (
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero.", None
                )  # fmt: skip
        if complaint:
            warnings.warn(
                'Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing callers of this function. If this is true for you, you can call this function with "check_undefined_grad=False" to disable the feature',
                stacklevel=3,
            )
            raise GradcheckError(f'{complaint} Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"') from cause  # fmt: skip
