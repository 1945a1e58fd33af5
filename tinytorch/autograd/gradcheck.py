"""Checking derivatives against finite differences.

Source: `torch.autograd.gradcheck`: slow mode compares whole Jacobians, fast mode their products with random vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..ops import FUNCTIONS
from ..ops.by_hand import UndefinedGrad
from ..random import Generator
from ..tensor import Tensor
from .derivatives import grad
from .jacobians import (
    GradcheckError,
    analytical,
    as_tuple,
    differentiable,
    get_analytical_jacobian,
    get_numerical_jacobian,
    numerical,
    numerical_along,
    slopes_along,
)


def _check_inputs(inputs: tuple) -> None:
    for i, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        if t.dtype is not dtypes.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=2,
            )
        if any(step == 0 and n > 1 for step, n in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not differentiable(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _outputs(x: Any) -> tuple[Tensor, ...]:
    """The outputs of a function that require grad; AttributeError for what is no tensor."""
    return tuple([o for o in as_tuple(x) if o.requires_grad])


def _close(a: Tensor, b: Tensor, rtol: float, atol: float) -> bool:
    kind = dtypes.promote_types(a.dtype, b.dtype)
    return FUNCTIONS["allclose"](a.to(kind), b.to(kind), rtol, atol)


def _mismatch(a: Tensor, n: Tensor, output: int, input: int) -> str:
    return f"Jacobian mismatch for output {output} with respect to input {input},\nnumerical:{n}\nanalytical:{a}\n"


def _not_zero() -> GradcheckError:
    return GradcheckError("Numerical gradient for function expected to be zero")


def _slow(
    func: Callable, func_out: tuple, inputs: tuple, outputs: tuple, eps: float, rtol: float, atol: float,
    check_types: bool, tol: float,
) -> None:  # fmt: skip
    """Compare whole Jacobians, element by element."""
    by_input = numerical(func, inputs, func_out, eps)
    if not outputs:
        if any(bool((j != 0).any()) for found in by_input for j in found):
            raise _not_zero()
        return
    by_output = [n for o, n in zip(func_out, zip(*by_input, strict=True), strict=False) if o.requires_grad]
    for i, output in enumerate(outputs):
        for j, (a, n) in enumerate(zip(analytical(inputs, output, tol, check_types), by_output[i], strict=True)):
            if not _close(a, n, rtol, atol):
                raise GradcheckError(_mismatch(a, n, i, j))


_SLOW_MIGHT_PASS = """Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""


def _direction(t: Tensor, generator: Generator) -> Tensor:
    vector = FUNCTIONS["rand"](t.numel(), generator=generator).to(dtype=t.dtype, device=t.device)
    vector /= vector.norm()
    return vector


def _fast(
    func: Callable, func_out: tuple, inputs: tuple, outputs: tuple, eps: float, rtol: float, atol: float,
    check_types: bool, tol: float,
) -> None:  # fmt: skip
    """Compare v^T J u for a random u for each input and a random v for each output, the same in every run."""
    generator = Generator()
    us = [_direction(t, generator) for t in differentiable(inputs)]
    vs = [_direction(o, generator) for o in outputs]
    from_differences = numerical_along(func, inputs, func_out, us, vs, eps)
    if not outputs and any(s.numel() and s.abs().max() > tol for s in slopes_along(func, inputs, us, eps)):
        raise _not_zero()
    from_backward = [
        [column.T.squeeze(0).dot(u) for column, u in zip(analytical(inputs, o, tol, check_types, v), us, strict=True)]
        for o, v in zip(outputs, vs, strict=True)
    ]
    for i, for_input in enumerate(from_differences):
        for j, n in enumerate(for_input):
            a = from_backward[j][i]
            if not _close(a, n, rtol, atol * float(us[i].sum()) * float(vs[j].sum())):
                whole = numerical(func, inputs, outputs, eps)[i][j]
                exact = analytical(inputs, outputs[j], float("inf"), False)[i]
                raise GradcheckError(
                    _mismatch(a, n, j, i)
                    + "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
                    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
                    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
                    f"Numerical:\n {whole}\nAnalytical:\n{exact}\n\n"
                    f"The max per-element difference (slow mode) is: {(whole - exact).abs().max()}.\n"
                    + (_SLOW_MIGHT_PASS if FUNCTIONS["allclose"](exact, whole, rtol, atol) else "")
                )


def _zeros_like(t: Tensor) -> Tensor:
    return FUNCTIONS["zeros"](t.shape, dtype=t.dtype, device=t.device)


def _check_scaling(outputs: tuple, inputs: tuple) -> None:
    """A gradient of zero must give zeros, of the inputs' dtypes and shapes."""
    wanted = differentiable(inputs)
    for g, t in zip(grad(outputs, wanted, [_zeros_like(o) for o in outputs], allow_unused=True), wanted, strict=True):
        if g is None:
            continue
        if not g.eq(0).all():
            raise GradcheckError("backward not multiplied by grad_output")
        for what, a, b in (("type", g.dtype, t.dtype), ("device", g.device, t.device), ("size", g.shape, t.shape)):
            if a != b:
                raise GradcheckError(f"grad is incorrect {what}")


def _check_undefined(func: Callable, count: int, inputs: tuple) -> None:
    """Backward must cope with outputs that no gradient reaches: with all of them, and with each alone."""
    wanted = differentiable(inputs)
    trials = [[UndefinedGrad()(o) for o in _outputs(func(*inputs))]]
    if len(trials[0]) > 1:
        trials += [
            [UndefinedGrad()(o) if i == at else o for i, o in enumerate(_outputs(func(*inputs)))] for at in range(count)
        ]
    notes = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
    for outs in trials:
        try:
            found = grad(outs, wanted, [_zeros_like(o) for o in outs], allow_unused=True)
        except RuntimeError as error:
            _warn_of_new_check()
            raise GradcheckError(f"Expected backward function to handle undefined output grads. {notes}") from error
        if any(g is not None and not g.eq(0).all() for g in found):
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

    GradcheckError (or False, without `raise_exception`) if not. NotImplementedError for the checks of forward mode and
    of batched gradients. Source: `torch.autograd.gradcheck`.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    for asked, name, given, needs in (
        (check_batched_grad, "check_batched_grad", check_backward_ad, "check_backward_ad"),
        (check_batched_forward_grad, "check_batched_forward_grad", check_forward_ad, "check_forward_ad"),
    ):
        if asked and not given:
            raise AssertionError(f"Setting {name}=True requires {needs} to be True")
    if check_batched_grad or check_batched_forward_grad or check_forward_ad:
        raise NotImplementedError(
            "tinytorch has no forward-mode differentiation and no vmap: leave these checks to PyTorch"
        )
    try:
        given_inputs = as_tuple(inputs)
        _check_inputs(given_inputs)
        func_out = func(*given_inputs)
        outputs = _outputs(func_out)
        compare = _fast if fast_mode else _slow
        compare(func, as_tuple(func_out), given_inputs, outputs, eps, rtol, atol, check_grad_dtypes, nondet_tol)
        _check_scaling(outputs, given_inputs)
        if check_undefined_grad:
            _check_undefined(func, len(outputs), given_inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _random_start(t: Tensor, strided: bool) -> Tensor:
    shape = list(t.shape)
    if strided and t.numel() > 1:
        shape[-1] *= 2
    start = FUNCTIONS["empty"](shape, dtype=t.dtype, device=t.device).uniform_(-1, 1)
    if strided and t.numel() > 1:
        start = start[..., 1::2]
    return start.requires_grad_()


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
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for asked, name in ((check_undefined_grad, "check_undefined_grad"), (check_batched_grad, "check_batched_grad")):
        if asked and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    if grad_outputs is None:
        starts = tuple([_random_start(o, gen_non_contig_grad_outputs) for o in _outputs(func(*given))])
    else:
        starts = as_tuple(grad_outputs)
    count = len(starts)
    wanted = {i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad}
    follow = {i for i, t in enumerate(starts) if t.requires_grad}

    def first_derivatives(*args: Any) -> tuple:
        values = tuple([t.requires_grad_() if i in wanted else t for i, t in enumerate(args[:-count])])
        outputs = _outputs(func(*values))
        gradients = tuple([t.requires_grad_() if i in follow else t for i, t in enumerate(args[-count:])])
        found = grad(
            outputs, [t for i, t in enumerate(values) if i in wanted], gradients, create_graph=True, allow_unused=True
        )
        return tuple([g for g in found if g is not None])

    return gradcheck(
        first_derivatives, (*given, *starts), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip


__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]
