"""Reductions: sums, truth, extremes, softmax; of all elements or along dimensions.

Where torch chooses an element along a dimension the gradient goes to that element; where it reduces
everything, equal elements share it. The derivatives are torch's (`FunctionsManual.cpp`), so that
they can be differentiated again node by node. Source: `torch.sum` and so on, by name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import (
    BY_NUM,
    check_memory,
    dtypes,
    make_absence_error,
    warn_in_torch,
    wrap_dim,
    wrap_dims,
    wrap_given_dims,
)
from ..tensor import Tensor
from .choosing import masked_fill_, masked_fill_with_tensor_, scatter_from_, where
from .copies import convert_tensor
from .creation import new_zeros
from .define import make_function_of, offer_member, op
from .filling import written_zeros
from .kernels import check_kernel, composite, delegating, row_major
from .late import LaterFunction
from .out_argument import OutArgument, OutRule
from .pointwise import (
    absolute,
    div,
    divide,
    eq,
    exp,
    isnan,
    logical_or,
    maximum,
    minimum,
    mul,
    power,
    sgn,
    sub,
    times,
)
from .sums import (
    count_reduced,
    expand,
    expand_grad,
    numpy_axes,
    numpy_axis,
    restore_dims,
    shape_reduced,
    sum_all,
    sum_array,
    sum_dims,
)
from .views import reshape, unsqueeze

# means --------------------------------------------------------------------------------------------


def _mean(a: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """Return the mean over dimensions. RuntimeError for integers, unless a dtype is asked for."""
    d = BY_NUM[a.dtype.num] if dtype is None else dtype
    if not d.is_floating_point:
        dtype_shown = "Input" if dtype is None else "Optional"
        needs = "dtype must be either a floating point or complex dtype"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {dtype_shown} {needs}. Got: {d.scalar_name}"
        )
    # float16 has too few digits for a sum
    wide = dtypes.float32 if d is dtypes.float16 else d
    total = sum_array(a, wrap_dims(dim, a.ndim), keepdim, wide)
    count = total.dtype.type(count_reduced(a.shape, dim))
    return np.divide(total, count).astype(d.np, copy=False)


def _prepare_mean(out: OutArgument, a: Any, dim: Any, keepdim: bool, dtype: Any) -> None:
    """Prepare the `out=` of a mean along dimensions: PyTorch resizes it before it looks at dtypes."""
    if dtype is not None:
        OutRule("exact").check_dtype(dtype, out.dtype)
    if dtype is not None or a.dtype.kind == "f":
        out.resize(shape_reduced(a, dim, keepdim))
        out.check_dtype(dtype or dtypes.BY_NUM[a.dtype.num])
        out.check_overlap()


mean_all = op(
    "mean(Tensor self, *, ScalarType? dtype=None)",
    row_major(lambda a, dtype: _mean(a, None, False, dtype)),
    out=OutRule(
        cast_error="mean.dtype_out(): input types can't be cast to the desired output type {1}"
    ),
    self=lambda grad, self_sym_sizes, self_sym_numel: divide(
        expand(grad, self_sym_sizes), self_sym_numel
    ),
)
mean_dims = op(
    "mean(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)",
    row_major(_mean),
    out=OutRule(prepare=_prepare_mean),
    backward="MeanBackward1",
    also_saved=("self_sym_numel",),
    self=lambda grad, self_sym_sizes, dim, keepdim: divide(
        expand_grad(grad, self_sym_sizes, dim, keepdim), count_reduced(self_sym_sizes, dim)
    ),
)


# variances and deviations -------------------------------------------------------------------------


def _compute_variance(name: str, a: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """Return the variance over dimensions. RuntimeError for integers."""
    if a.dtype.kind != "f":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    dtypes.check_real(correction, "double")
    dims = wrap_dims(dim, a.ndim)
    count = count_reduced(a.shape, dims)
    freedom = count - (1 if correction is None else correction)
    if freedom <= 0 or not a.size:
        warn_in_torch(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            "aten/src/ATen/native/ReduceOps.cpp:1861",
        )
    # torch computes in double precision: the distances to a large mean have few digits else
    x = a.astype(np.float64)
    axes = numpy_axes(a, dims)
    away = x - np.divide(np.add.reduce(x, axes, keepdims=True), x.dtype.type(count))
    total = np.add.reduce(away * away, axes, keepdims=keepdim)
    return np.divide(total, x.dtype.type(max(freedom, 0)))


def _var_backward(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """Return the gradient of a variance: twice the distance to the mean, over the count."""
    correction = 1 if correction is None else correction
    shape = tuple(self.shape)
    if not shape or dim is None:
        freedom = math.prod(shape) - correction
        if freedom <= 0:
            return mul(grad, where(eq(self, mean_all(self)), math.nan, math.inf))
        return mul(times(grad, 2.0 / freedom), sub(self, mean_all(self)))
    grad = restore_dims(grad, dim, keepdim or len(shape) == 1, shape)
    freedom = count_reduced(shape, dim) - correction
    scale = 2.0 / freedom if freedom else math.inf
    # Not by `*` and `-`, which on arrays have NumPy's strides for operands of several layouts.
    return mul(times(grad, scale), sub(self, mean_dims(self, dim, True)))


def _std_backward(
    grad: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: bool
) -> Any:
    """Return the gradient of a deviation: that of the variance, over twice the deviation."""
    of_variance = masked_fill_(div(grad, times(result, 2)), result == 0, 0)
    return _var_backward(of_variance, self, dim, correction, keepdim)


def _declare_spread(name: str, finish: Any, formula: Any) -> None:
    """Declare `var`, or `std`, which is its root."""

    def compute(a: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
        deviation = finish(_compute_variance(name, a, dim, correction, keepdim))
        return np.asarray(deviation).astype(a.dtype, copy=False)

    def prepare(out: OutArgument, a: Any, dim: Any, _: Any, keepdim: bool) -> None:
        if a.dtype.kind == "f":
            out.resize(shape_reduced(a, dim, keepdim))
            out.check_dtype(dtypes.BY_NUM[a.dtype.num])

    # Not made of the next one: as a plain call `var(x, 0)` would be that.
    op(
        f"{name}(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False)",
        row_major(lambda a, dim, unbiased, keepdim: compute(a, dim, int(unbiased), keepdim)),
        out=OutRule(prepare=prepare),
        readers={"correction": lambda values: int(values[2])},
        backward=f"{name.title()}Backward0",
        self=formula,
    )
    of_dims = op(
        f"{name}(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)",
        row_major(compute),
        out=OutRule(prepare=prepare),
        backward=f"{name.title()}Backward0",
        self=formula,
    )
    op(
        f"{name}(Tensor self, bool unbiased=True)",
        composite(lambda self, unbiased: of_dims(self, None, int(unbiased), False)),
    )


_declare_spread("var", lambda variance: variance, _var_backward)
_declare_spread("std", np.sqrt, _std_backward)

# truth --------------------------------------------------------------------------------------------


def _make_truth_kernel(ufunc: Any) -> Any:
    """Make the kernel of `all` or `any`. Bytes give bytes, as before PyTorch had bools."""

    def reduce(a: Any, dim: Any = None, keepdim: bool = False) -> Any:
        # Here an empty tuple of dimensions means none of them; in a sum it means all.
        dims = dim if dim == () else wrap_dims(dim, a.ndim)
        check_memory(a.shape, 1)  # of the bools that PyTorch makes of it
        truth = np.asarray(ufunc.reduce(a, numpy_axes(a, dims), np.bool_, None, keepdim))
        return truth.astype(np.uint8) if a.dtype.char == "B" else truth

    return row_major(reduce)


def _prepare_truth(out: OutArgument, a: Any, *_: Any) -> None:
    """Prepare the `out=` of `all` or `any`."""
    out.check_dtype(dtypes.uint8 if a.dtype.char == "B" else dtypes.bool_)


for _name, _kernel in (
    ("all", _make_truth_kernel(np.logical_and)),
    ("any", _make_truth_kernel(np.logical_or)),
):
    _words = OutRule(
        _name + " only supports bool tensor for result, got: {1}",
        takes_bytes=True,
        prepare=_prepare_truth,
    )
    op(f"{_name}(Tensor self)", _kernel, out=_words)
    op(f"{_name}(Tensor self, int[]? dim=None, bool keepdim=False)", _kernel, out=_words)
    op(f"{_name}(Tensor self, int dim, bool keepdim=False)", _kernel, out=_words)

# extremes -----------------------------------------------------------------------------------------


def grad_to_chosen(
    grads: tuple, dim: int, indices: Any, self_sym_sizes: tuple, keepdim: bool
) -> Any:
    """Return a gradient that is 0 but for the elements that were chosen."""
    grad = grads[0]
    if not keepdim and self_sym_sizes:
        grad, indices = unsqueeze(grad, dim), unsqueeze(indices, dim)
    return scatter_from_(written_zeros(grad, self_sym_sizes), dim, indices, grad)


def grad_shared_by_equals(grad: Any, self: Any, result: Any) -> Any:
    """Share the gradient of the one value of a tensor among the elements that have it."""
    # nan is equal to nothing: a maximum of nan shares its gradient among the elements that are nan.
    mask = isnan(self) if (result != result).any() else self == result
    return masked_fill_with_tensor_(new_zeros(grad, self.shape), mask, grad / sum_all(mask))


def check_chosen_from(a: Any, d: int | None, name: str) -> None:
    """Raise PyTorch's IndexError if there is nothing of which one element could be chosen."""
    if d is None and not a.size:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        )
    if d is not None and a.ndim and not a.shape[d]:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


_NOT_CAST_WHOLE = (
    "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be "
    "true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def _declare_extreme(name: str, ufunc: np.ufunc, arg: Any, of_two: Any) -> None:
    """Declare `max` and `argmax`, or `min` and `argmin`."""

    def find_along_dim(a: Any, dim: int, keepdim: bool) -> tuple:
        d = wrap_dim(dim, a.ndim)
        check_chosen_from(a, d, name)
        # NumPy has no dimension 0 in a 0-d array, PyTorch has.
        if not a.ndim:
            return a.copy(), np.zeros((), np.int64)
        indices = np.asarray(arg(a, d, keepdims=True), np.int64)
        values = np.take_along_axis(a, indices, d)
        return (values, indices) if keepdim else (values.squeeze(d), indices.squeeze(d))

    def find_position(a: Any, dim: int | None, keepdim: bool) -> Any:
        if a.dtype.kind == "b":
            raise RuntimeError(f"arg{name}(): does not support bool input")
        d = None if dim is None else wrap_dim(dim, a.ndim)
        check_chosen_from(a, d, f"arg{name}")
        return np.asarray(arg(a, d, keepdims=keepdim) if a.ndim else 0, np.int64)

    def find_value(a: Any) -> Any:
        if not a.size:
            head = "Expected reduction dim to be specified for input.numel() == 0."
            raise RuntimeError(
                f"{name}(): {head} Specify the reduction dim with the 'dim' argument."
            )
        check_memory(a.shape, a.itemsize)  # of the copy that PyTorch makes row by row
        return np.asarray(ufunc.reduce(a, None))

    op(
        f"{name}(Tensor self)",
        row_major(find_value),
        out=OutRule(cast_error=_NOT_CAST_WHOLE),
        backward=f"{name.title()}Backward1",
        self=grad_shared_by_equals,
    )
    op(f"{name}(Tensor self, Tensor other)", delegating(of_two, lambda *pair: pair), out=True)
    op(
        f"{name}(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        row_major(find_along_dim, checks_overlap=True),
        backward=f"{name.title()}Backward0",
        self=grad_to_chosen,
    )
    op(
        f"arg{name}(Tensor self, int? dim=None, bool keepdim=False)",
        row_major(find_position),
        out="exact",
    )


_declare_extreme("max", np.maximum, np.argmax, maximum)
_declare_extreme("min", np.minimum, np.argmin, minimum)


def _check_reducible(a: Any, dim: tuple, name: str) -> None:
    """Raise PyTorch's error if an extreme is asked of no element."""
    if not a.size and not dim:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for d in dim:
        if not a.size and not a.shape[wrap_dim(d, a.ndim)]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def _restore_at_once(t: Any, dim: tuple, keepdim: bool) -> Any:
    """Put reduced dimensions back by one `view`. None named: all, and then by broadcasting."""
    if keepdim:
        return t
    ndim = len(t.shape) + len(dim)
    sizes = list(t.shape)
    # In rising order: each goes to its place among those that are there by then.
    for d in sorted(wrap_given_dims(dim, ndim)):
        sizes.insert(d, 1)
    return reshape(t, tuple(sizes))


def _grad_shared_along(grad: Any, self: Any, result: Any, dim: tuple, keepdim: bool) -> Any:
    """Share each gradient of an extreme among the elements that have its value."""
    grad, extreme = (_restore_at_once(t, dim, keepdim) for t in (grad, result))
    mask = eq(extreme, self)
    return mul(div(grad, sum_dims(mask, dim, True)), mask)


def _declare_extreme_of_dims(name: str, ufunc: np.ufunc) -> None:
    """Declare `amax` or `amin`."""

    def reduce(a: Any, dim: tuple, keepdim: bool) -> Any:
        _check_reducible(a, dim, name)
        return np.asarray(ufunc.reduce(a, numpy_axes(a, wrap_dims(dim, a.ndim)), keepdims=keepdim))

    def prepare(out: OutArgument, a: Any, dim: tuple, keepdim: bool) -> None:
        out.check_dtype(dtypes.BY_NUM[a.dtype.num])
        _check_reducible(a, dim, name)
        out.resize(shape_reduced(a, dim, keepdim))

    op(
        f"{name}(Tensor self, int[1] dim=[], bool keepdim=False)",
        row_major(reduce),
        out=OutRule(
            "Expected the dtype for input and out to match, but got {0} for input's dtype and {1} "
            "for out's dtype.",
            prepare=prepare,
        ),
        self=_grad_shared_along,
    )


_declare_extreme_of_dims("amax", np.maximum)
_declare_extreme_of_dims("amin", np.minimum)

# norms --------------------------------------------------------------------------------------------


def _vector_norm(a: Any, ord: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    """Return a norm over dimensions: the root of the sum of powers of what elements amount to.

    RuntimeError for integers, and where there is no element and the order needs one.
    """
    own = BY_NUM[a.dtype.num]
    if not own.is_floating_point:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{own.scalar_name}"
        )
    if isinstance(ord, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    d = own if dtype is None else dtype
    if not d.is_floating_point:
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be floating point or complex, but got {d.scalar_name}"
        )
    if dtypes.promote_types(own, d) is not d:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({own.scalar_name}) should be convertible "
            f"without narrowing to the specified dtype ({d.scalar_name})"
        )
    axes = wrap_dims(dim, a.ndim)
    if (ord < 0 or ord == math.inf) and not a.size:
        _check_norm_of_nothing(a.shape, ord, () if dim is None else dim, axes)
    a = a.astype(np.float32 if d is dtypes.float16 else d.np, copy=False)
    return _reduce_to_norm(a, ord, axes, keepdim).astype(d.np, copy=False)


def _check_norm_of_nothing(shape: tuple, ord: Any, dim: Any, axes: tuple) -> None:
    """Raise torch's RuntimeError if a norm without an identity is that of no element."""
    empty = [d for d in axes if not shape[d]]
    if dim == ():
        where_and_why = "an empty tensor because "
    elif empty:
        where_and_why = f"the dimension {empty[0]}because this dimension is empty and "
    else:
        return
    raise RuntimeError(
        f"linalg.vector_norm cannot compute the {ord:g} norm on {where_and_why}the operation does "
        "not have an identity"
    )


def _reduce_to_norm(a: np.ndarray, ord: Any, axes: tuple, keepdim: bool) -> Any:
    if ord == 2:
        return np.sqrt(np.add.reduce(a * a, axes, keepdims=keepdim))
    if ord == 0:
        return np.add.reduce(a != 0, axes, a.dtype, keepdims=keepdim)
    sizes = np.abs(a)
    if math.isinf(ord):
        extreme = np.maximum if ord > 0 else np.minimum
        return extreme.reduce(sizes, axes, keepdims=keepdim)
    if ord == 1:
        return np.add.reduce(sizes, axes, keepdims=keepdim)
    total = np.add.reduce(sizes ** a.dtype.type(ord), axes, keepdims=keepdim)
    return total ** a.dtype.type(1 / ord)


def _vector_norm_grad(grad: Any, self: Any, ord: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    """Return the gradient of a norm; where the norm is 0, its subgradient 0.

    None for the number of elements that are not 0.
    """
    # `mul` and `div` choose torch's strides for operands of several layouts, and NumPy others.
    grad, result = (restore_dims(t, dim, keepdim, self.shape) for t in (grad, result))
    if ord == 0:
        return None
    if ord == 2:
        return mul(grad, masked_fill_(div(self, result), result == 0, 0))
    sign, size = sgn(self), absolute(self)
    if ord == 1:
        return mul(sign, grad)
    if math.isinf(ord):
        # Of elements that are all the extreme, each has its share; what is nan is one of them.
        is_extreme = logical_or(eq(size, result), isnan(size))
        return mul(sign, mul(div(grad, sum_dims(is_extreme, dim, True)), is_extreme))
    # A float, as torch's nodes of second derivatives show it; the powers of sizes are written to them.
    p = float(ord)
    if p < 1:
        scaled = mul(sign, masked_fill_(power.run_in_place(size, p - 1), self == 0, 0))
        return mul(mul(scaled, grad), power(result, 1 - p))
    factor, exponent = (sign, p - 1) if p < 2 else (self, p - 2)
    scaled = mul(factor, power.run_in_place(size, exponent))
    return mul(scaled, masked_fill_(div(grad, power(result, p - 1)), result == 0, 0))


vector_norm = op(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None)",
    row_major(_vector_norm),
    method=False,
    function=False,
    out="exact",
    self=_vector_norm_grad,
)
_later_norm = LaterFunction(lambda: make_function_of(vector_norm, out=True))


def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: Any = False,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """Return a norm of all elements or along dimensions, the root of the sum of squares if not told.

    RuntimeError for integers, and for a name that no norm has.
    """
    input.layout  # noqa: B018 - PyTorch asks for it first, also of what is no tensor
    # Not `is None`: a tensor of several elements may be asked neither that nor `==`.
    if isinstance(p, str):
        if p == "nuc":
            raise make_absence_error(f"the norm {p!r}")
        dims = range(input.ndim) if dim is None else dim
        if p == "fro" and dim is not None and not isinstance(dim, int) and len(dim) > 2:
            raise RuntimeError(
                f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}"
            )
        if p != "fro":
            raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
        p = 2
    return _later_norm.function(input, 2 if p is None else p, dim, keepdim, dtype=dtype, out=out)


def norm_of_tensor(
    self: Tensor, p: Any = "fro", dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Tensor:
    """Return a norm of all elements or along dimensions: `norm`, but without `out=`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


norm_of_tensor.__name__, norm_of_tensor.__qualname__ = "norm", "Tensor.norm"
offer_member("norm", norm, method=False)
offer_member("norm", norm_of_tensor, function=False)

# sums of exponentials -----------------------------------------------------------------------------


def _compute_logsumexp(a: Any, dim: tuple, keepdim: bool) -> Any:
    """Return the logarithm of the sum of exponentials over dimensions."""
    if dim == () and a.size and a.ndim and not keepdim:
        # PyTorch takes () for all dimensions in the sum, and for none in the maximum before that.
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * a.ndim}")
    values, is_half = a, a.dtype.char == "e"
    if a.dtype.kind != "f":
        values = a.astype(dtypes.get_default_dtype().np)
    # float16 is computed in float32, also where it is the default.
    if values.dtype.char == "e":
        values = values.astype(np.float32)
    axes = numpy_axes(a, wrap_dims(dim, a.ndim))
    largest = np.maximum.reduce(values, axes, keepdims=True, initial=-np.inf)
    # The largest becomes 0, so that `exp` cannot overflow; infinities stay as they are.
    largest = np.where(np.isfinite(largest), largest, values.dtype.type(0))
    total = np.log(np.add.reduce(np.exp(values - largest), axes, keepdims=True)) + largest
    if not keepdim:
        total = np.squeeze(total, axes)
    result = np.asarray(total)
    return result.astype(a.dtype) if is_half else result


def _logsumexp_backward(grad: Any, self: Any, result: Any, dim: tuple, keepdim: bool) -> Any:
    """Return the gradient: to each element its part of the sum."""
    grad, result = (restore_dims(t, dim, keepdim, tuple(self.shape)) for t in (grad, result))
    # Not by `-`, which on arrays has NumPy's strides for operands of several layouts.
    return mul(grad, exp(sub(self, result)))


def _prepare_logsumexp(out: OutArgument, a: Any, dim: tuple, keepdim: bool) -> None:
    """Prepare the `out=` of `logsumexp`."""
    out.check_dtype(dtypes.float32)
    out.resize(shape_reduced(a, dim, keepdim))
    out.check_overlap()


op(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False)",
    row_major(_compute_logsumexp),
    out=OutRule(
        cast_error="logsumexp(): Expected floating point type for result tensor, but got: {1}",
        prepare=_prepare_logsumexp,
    ),
    self=_logsumexp_backward,
)

# softmax ------------------------------------------------------------------------------------------


def _make_softmax_kernel(log: bool) -> Any:
    """Make the kernel of softmax or, with `log`, of its logarithm. float16 is computed in float32."""

    def kernel(a: Any, dim: int, half_to_float: bool) -> Any:
        d = wrap_dim(dim, a.ndim)
        if a.dtype.kind != "f" and a.size:
            stub = "softmax_kernel_impl"
            if d == max(a.ndim, 1) - 1:
                stub = "softmax_lastdim_kernel_impl"
            if log:
                stub = f"log_{stub}"
            check_kernel(a.dtype, "f", stub)
        check_memory(a.shape, a.itemsize)
        x, axis = a.astype(np.float32) if a.dtype.char == "e" else a, numpy_axis(a, d)
        if a.size:
            # The largest becomes 0, so that `exp` cannot overflow.
            x = x - np.maximum.reduce(x, axis, keepdims=True)
            e = np.exp(x)
            total = np.add.reduce(e, axis, keepdims=True)
            x = x - np.log(total) if log else e / total
        # An empty input is still `a` itself, and the result has memory of its own.
        return np.asarray(x).astype(a.dtype, copy=x is a)

    return row_major(kernel)


_softmax_backward_data = op(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype)",
    lambda g, r, dim, _: (g - np.add.reduce(g * r, numpy_axis(g, dim), keepdims=True)) * r,
    method=False,
    out=False,
    grad_output=lambda grad, output, dim, _output_dtype: _softmax_backward_data(
        grad, output, dim, _output_dtype
    ),
    output=lambda grad, grad_output, output, dim: (
        grad_output * grad
        - sum_dims(output * grad_output, (dim,), True) * grad
        - grad_output * sum_dims(output * grad, (dim,), True)
    ),
)
_log_softmax_backward_data = op(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
    "input_dtype)",
    lambda g, r, dim, _: g - np.exp(r) * np.add.reduce(g, numpy_axis(g, dim), keepdims=True),
    method=False,
    out=False,
    grad_output=lambda grad, output, dim: grad - sum_dims(grad * exp(output), (dim,), True),
    output=lambda grad, grad_output, output, dim: (
        -sum_dims(grad_output, (dim,), True) * exp(output) * grad
    ),
)


def _prepare_softmax(out: OutArgument, a: Any, dim: int, dtype: Any) -> None:
    """Prepare the `out=` of `softmax`."""
    wrap_dim(dim, a.ndim)
    out.resize_for(a.shape, dtype or a.dtype)
    out.check_overlap()


def _declare_softmax(name: str, log: bool, backward_data: Any) -> Any:
    """Declare `softmax` or `log_softmax`, which converts to a dtype first."""
    inner = op(
        f"_{name}(Tensor self, int dim, bool half_to_float)",
        _make_softmax_kernel(log),
        method=False,
        out=False,
        backward="LogSoftmaxBackward0" if log else "SoftmaxBackward0",
        self=lambda grad, result, dim, _self_dtype: backward_data(grad, result, dim, _self_dtype),
    )
    return op(
        f"{name}(Tensor self, int dim, ScalarType? dtype=None)",
        composite(
            lambda self, dim, dtype: inner(
                self if dtype is None else convert_tensor(self, dtype), dim, False
            )
        ),
        out=OutRule("exact", prepare=_prepare_softmax),
        undifferentiable_out=True,
    )


softmax, log_softmax = (
    _declare_softmax("softmax", False, _softmax_backward_data),
    _declare_softmax("log_softmax", True, _log_softmax_backward_data),
)
