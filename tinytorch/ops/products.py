"""Products, and sums and products that run along a dimension.

Derivatives are torch's (`FunctionsManual.cpp`): where no factor is 0 a product divided by it, else
the product of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BY_NUM, check_memory, check_overlap, cpp_name, size_of_dim, wrap_dim, wrap_dims
from .arranging import flip
from .copies import convert_in_formula, copy_
from .creation import new_ones
from .define import op
from .filling import written_zeros
from .kernels import Kernel, check_kernel, row_major, write
from .out_argument import OutArgument, OutRule
from .parts import cat, narrow, select, slice_, stack
from .pointwise import div, mul
from .sums import expand, numpy_axes, sum_dims
from .views import array_of, reshape, unsqueeze

_INT = np.dtype(np.int64)
_WIDER = {"e": np.dtype(np.float32), "f": np.dtype(np.float64)}
"""By the character of a dtype, the one in which running sums and products are computed."""


def _dtype_of_sum(a: np.ndarray, dtype: Any) -> np.dtype:
    """Return the dtype of a sum or product: int64 for bools and integers, by default."""
    if dtype is not None:
        return dtype.np
    return a.dtype if a.dtype.kind == "f" else _INT


def _has_zero(x: Any) -> bool:
    return bool(np.any(array_of(x) == 0))


# running along a dimension ------------------------------------------------------------------------


def _accumulate_array(a: np.ndarray, ufunc: np.ufunc, dim: int, result: np.dtype) -> np.ndarray:
    """Return running sums or products. Floats are computed with twice the digits, as in torch."""
    d = wrap_dim(dim, a.ndim)
    wide = _WIDER.get(result.char, result)
    if not a.ndim:
        return a.astype(result)
    if a.size:
        check_memory(a.shape, result.itemsize)
        check_kernel(result, "if", "cumsum_out_cpu" if ufunc is np.add else "cumprod_out_cpu")
    return ufunc.accumulate(a.astype(wide), d).astype(result, copy=False)


def _declare_running(name: str, ufunc: np.ufunc, formula: Any) -> Any:
    """Declare `cumsum` or `cumprod`, and its form in place."""

    def accumulate_in_place(a: np.ndarray, dim: int, dtype: Any) -> np.ndarray:
        if dtype is not None and dtype.np != a.dtype:
            ours, theirs = cpp_name(BY_NUM[a.dtype.num]), cpp_name(dtype)
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {ours} and output tensor dtype {theirs} "
                "should match"
            )
        check_kernel(a.dtype, "if", f"{name}_out_cpu")
        wrap_dim(dim, a.ndim)
        check_overlap(a)
        return _accumulate_array(a, ufunc, dim, a.dtype)

    def prepare(out: OutArgument, a: np.ndarray, dim: int, dtype: Any) -> None:
        d = _dtype_of_sum(a, dtype)
        wrap_dim(dim, a.ndim)
        out.resize_for(a.shape, d)
        out.check_overlap(a)

    op(
        f"{name}_(Tensor(a!) self, int dim, *, ScalarType? dtype=None)",
        write(accumulate_in_place),
        function=False,
        self=formula,
    )
    return op(
        f"{name}(Tensor self, int dim, *, ScalarType? dtype=None)",
        row_major(
            lambda a, dim, dtype: _accumulate_array(a, ufunc, dim, _dtype_of_sum(a, dtype)),
            True,
        ),
        out=OutRule(prepare=prepare),
        self=formula,
    )


def _sum_from_the_end(x: Any, dim: int) -> Any:
    return flip(cumsum(flip(x, (dim,)), dim), (dim,))


def _cumsum_backward(grad: Any, dim: int, _self_dtype: Any) -> Any:
    """Return the gradient of running sums: an element is part of all sums that come after it."""
    grad = convert_in_formula(grad, _self_dtype)
    shape = grad.shape
    return grad if np.prod(shape) <= 1 or shape[dim] == 1 else _sum_from_the_end(grad, dim)


def _cumprod_backward(grad: Any, self: Any, dim: int, result: Any, _self_dtype: Any) -> Any:
    """Return the gradient of running products."""
    grad = convert_in_formula(grad, _self_dtype)
    shape = tuple(self.shape)
    if np.prod(shape) <= 1 or shape[dim] == 1:
        return grad
    if not _has_zero(self):
        # Not by `*` and `/`, here and below: on arrays these have NumPy's strides for sizes of 1.
        return div(_sum_from_the_end(mul(result, grad), dim), self)
    return _cumprod_backward_by_parts(grad, self, wrap_dim(dim, len(shape)))


def _cumprod_backward_by_parts(grad: Any, self: Any, d: int) -> Any:
    """Return the gradient where factors are 0: for each element the products without it."""
    shape = tuple(self.shape)
    n = shape[d]

    def find_part(k: int) -> Any:
        before = new_ones(grad, (*shape[:d], 1, *shape[d + 1 :]))
        if k:
            before = prod_dim(slice_(self, d, 0, k, 1), d, True)
        others = before
        if k < n - 1:
            after = cumprod(slice_(self, d, k + 1, n, 1), d)
            if k:
                after = mul(expand(before, tuple(after.shape)), after)
            others = cat([before, after], d)
        return sum_dims(mul(slice_(grad, d, k, n, 1), others), (d,))

    if type(grad) is np.ndarray:
        # PyTorch has another algorithm where no graph is asked for; its result has version 0.
        return stack([find_part(k) for k in range(n)], d)
    out = written_zeros(grad, shape)
    for k in range(n):
        part = find_part(k)
        copy_(select(out, d, k), part)
    return out


cumsum = _declare_running("cumsum", np.add, _cumsum_backward)
cumprod = _declare_running("cumprod", np.multiply, _cumprod_backward)

# products -----------------------------------------------------------------------------------------


def _multiply_along(a: np.ndarray, dims: tuple | None, keepdim: bool, dtype: Any) -> np.ndarray:
    """Return products along dimensions, of all for None. float16 is computed in float32."""
    result = _dtype_of_sum(a, dtype)
    wide = np.dtype(np.float32) if result.char == "e" else result
    out = np.multiply.reduce(a.astype(wide), numpy_axes(a, dims), keepdims=keepdim)
    return np.asarray(out).astype(result, copy=False)


def _multiply_others(grad: Any, self: Any, d: int) -> Any:
    """Return the gradient of products along a dimension, where factors are 0."""
    shape = tuple(self.shape)
    n = size_of_dim(shape, d)
    if 0 in shape:
        return expand(grad, shape)
    if n == 1:
        return grad
    ones = new_ones(grad, (*shape[:d], 1, *shape[d + 1 :]))
    before = cumprod(cat([ones, narrow(self, d, 0, n - 1)], d), d)
    from_the_end = cat([ones, flip(narrow(self, d, 1, n - 1), (d,))], d)
    return mul(grad, mul(before, flip(cumprod(from_the_end, d), (d,))))


def _convert_like(x: Any, grad: Any) -> Any:
    """Return what a formula was given in the dtype of the gradient."""
    return convert_in_formula(x, BY_NUM[grad.dtype.num] if type(grad) is np.ndarray else grad.dtype)


def _prod_backward(grad: Any, self: Any, result: Any) -> Any:
    """Return the gradient of the product of all elements."""
    self = _convert_like(self, grad)
    shape = tuple(self.shape)
    if not shape:
        return grad
    if not _has_zero(self):
        return mul(grad, div(result, self))
    return reshape(_multiply_others(grad, reshape(self, (-1,)), 0), shape)


def _prod_dim_backward(grad: Any, self: Any, result: Any, dim: int, keepdim: bool) -> Any:
    """Return the gradient of products along a dimension."""
    self = _convert_like(self, grad)
    if not self.shape:
        return grad
    d = wrap_dim(dim, len(self.shape))
    if not keepdim:
        grad, result = unsqueeze(grad, d), unsqueeze(result, d)
    if _has_zero(self):
        return _multiply_others(grad, self, d)
    return mul(grad, div(result, self))


op(
    "prod(Tensor self, *, ScalarType? dtype=None)",
    Kernel(lambda a, dtype: _multiply_along(a, None, False, dtype)),
    self=_prod_backward,
    out=False,
)
prod_dim = op(
    "prod(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None)",
    row_major(
        lambda a, dim, keepdim, dtype: _multiply_along(a, wrap_dims(dim, a.ndim), keepdim, dtype),
        True,
    ),
    self=_prod_dim_backward,
)
