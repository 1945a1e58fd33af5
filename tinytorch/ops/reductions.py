"""Reductions by arithmetic and logic: sums, products, truth, variances, softmax; of all elements or along dimensions.

The derivatives are torch's (`FunctionsManual.cpp`), so that they can be differentiated again node by node. Source:
`torch.sum` and so on, by name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import warn_in_torch
from .choosing import masked_fill_, where
from .copies import converted, to_copy
from .creation import zeros_like
from .define import op
from .joining import cat, flip
from .kernels import check_kernel, composite, reduction, row_major, write
from .layout import check_overlap, wrap_dim, wrap_dims
from .parts import narrow
from .pointwise import exp, exp_of, over, times
from .views import expand, reshape, unsqueeze

# gradients back in the shape that was reduced -------------------------------------------------------------------------


def restored(t: Any, dim: Any, keepdim: bool, sizes: tuple) -> Any:
    """A reduced tensor with its reduced dimensions back, as size 1; none named stands for all."""
    if keepdim or not sizes or not dim:
        return t
    for d in dim if len(dim) == 1 else sorted(wrap_dims(dim, len(sizes))):
        t = unsqueeze(t, d)
    return t


def spread(grad: Any, sizes: tuple, dim: Any, keepdim: bool) -> Any:
    """The gradient of a sum: the same value for every element that was summed."""
    return expand(restored(grad, dim, keepdim, sizes), sizes)


def count(sizes: tuple, dim: Any) -> int:
    """How many elements go into one."""
    return math.prod([sizes[d] for d in wrap_dims(dim, len(sizes))]) if sizes else 1


def axes(a: Any, dims: tuple) -> tuple | None:
    """The dimensions as NumPy takes them, which of an array without any reduces none."""
    return dims if a.ndim else None


def _wide(a: Any, dtype: Any) -> tuple:
    """The dtype to add up or multiply in, and that of the result: integers are summed as int64."""
    kind = dtype.np if dtype is not None else a.dtype if a.dtype.kind == "f" else np.dtype(np.int64)
    return (np.dtype(np.float32) if kind.char == "e" else kind), kind


# sums, means and products ---------------------------------------------------------------------------------------------


def _adding(ufunc: Any) -> Any:
    def reduce(a: Any, dims: tuple, keepdim: bool, dtype: Any) -> Any:
        wide, kind = _wide(a, dtype)
        return np.asarray(ufunc.reduce(a, axes(a, dims), wide, None, keepdim)).astype(kind, copy=False)

    return reduce


_sum, _product = _adding(np.add), _adding(np.multiply)


def _mean(a: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    d = dtypes.BY_NUM[a.dtype.num] if dtype is None else dtype
    if not d.is_floating_point:
        whose = "Input" if dtype is None else "Optional"
        needs = "dtype must be either a floating point or complex dtype"
        raise RuntimeError(f"mean(): could not infer output dtype. {whose} {needs}. Got: {d.scalar_name}")
    total, kind = _sum(a, wrap_dims(dim, a.ndim), keepdim, dtypes.float32 if d is dtypes.float16 else d), d.np
    return np.asarray(np.divide(total, total.dtype.type(count(a.shape, dim)))).astype(kind, copy=False)


sum_all = op("sum(Tensor self, *, ScalarType? dtype=None)", reduction(_sum), out=False,
             self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes))  # fmt: skip
sum_dims = op("sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)", reduction(_sum),
              backward="SumBackward1", self=lambda grad, self_sym_sizes, dim, keepdim: spread(
                  grad, self_sym_sizes, dim, keepdim))  # fmt: skip
mean_all = op("mean(Tensor self, *, ScalarType? dtype=None)", row_major(lambda a, dtype: _mean(a, None, False, dtype)),
              self=lambda grad, self_sym_sizes, self_sym_numel: over(
                  expand(grad, self_sym_sizes), self_sym_numel))  # fmt: skip
mean_dims = op("mean(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)", row_major(_mean),
               backward="MeanBackward1", also=("self_sym_numel",), self=lambda grad, self_sym_sizes, dim, keepdim: over(
                   spread(grad, self_sym_sizes, dim, keepdim), count(self_sym_sizes, dim)))  # fmt: skip


def _sum_to_size(self: Any, size: tuple) -> Any:
    lead = self.ndim - len(size)
    if lead < 0 or any(w not in (1, h) for w, h in zip(size, self.shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    if not size:
        return sum_all(self)
    dims = (*range(lead), *(d for d in range(lead, self.ndim) if size[d - lead] == 1 != self.shape[d]))
    out = sum_dims(self, dims, True) if dims else self
    return reshape(out, size) if lead else out


sum_to_size = op("sum_to_size(Tensor self, SymInt[] size)", composite(_sum_to_size), function=False)


def _products_of_others(grad: Any, t: Any, dim: int) -> Any:
    """The gradient of a product with zeros in it: each element's is the product of all others."""
    n = t.shape[dim]
    if n < 2:
        return grad if n else zeros_like(t)
    rest = [cat([narrow(t, dim, 0, k), narrow(t, dim, k + 1, n - k - 1)], dim) for k in range(n)]
    return grad * cat([prod_along(others, dim, True) for others in rest], dim)


def _in_dtype(t: Any, d: Any) -> Any:
    return t if t.dtype in (d, d.np) else to_copy(t, d)


def _prod_backward(grad: Any, self: Any, result: Any) -> Any:
    self = _in_dtype(self, dtypes.BY_NUM[grad.dtype.num] if hasattr(grad.dtype, "num") else grad.dtype)
    if not self.ndim:
        return grad
    if not (self == 0).any():
        return grad * (result / self)
    return reshape(_products_of_others(grad, reshape(self, (-1,)), 0), self.shape)


def _prod_along_backward(grad: Any, self: Any, result: Any, dim: int, keepdim: bool) -> Any:
    if not self.ndim:
        return grad
    dim = wrap_dim(dim, self.ndim)
    if not keepdim:
        grad, result = unsqueeze(grad, dim), unsqueeze(result, dim)
    return _products_of_others(grad, self, dim) if (self == 0).any() else grad * (result / self)


op("prod(Tensor self, *, ScalarType? dtype=None)", reduction(_product), out=False, self=_prod_backward)
prod_along = op("prod(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None)", reduction(_product),
                backward="ProdBackward1", self=_prod_along_backward)  # fmt: skip

# running sums ---------------------------------------------------------------------------------------------------------


def _added_up(a: Any, dim: int, dtype: Any) -> Any:
    wide, kind = _wide(a, dtype)
    d = wrap_dim(dim, a.ndim)
    if not a.ndim:
        return a.astype(kind)
    if a.size:
        check_kernel(kind, "iwf", "cumsum_out_cpu")
    return np.add.accumulate(a, d, np.float64 if wide.char == "f" else wide).astype(kind, copy=False)  # as torch does


def _added_up_in_place(a: Any, dim: int, dtype: Any) -> Any:
    own = dtypes.BY_NUM[a.dtype.num]
    if dtype not in (None, own):
        both = f"input tensor dtype {dtypes.cpp_name(own)} and output tensor dtype {dtypes.cpp_name(dtype)}"
        raise RuntimeError(f"Bad in-place call: {both} should match")
    data = _added_up(a, dim, own)
    check_overlap(a)
    return data


def _reversed_cumsum(t: Any, dim: int) -> Any:
    return flip(cumsum(flip(t, (dim,)), dim), (dim,))


def _cumsum_backward(grad: Any, dim: int, _self_dtype: Any) -> Any:
    grad = _in_dtype(grad, _self_dtype)
    return grad if math.prod(grad.shape) <= 1 or grad.shape[dim] == 1 else _reversed_cumsum(grad, dim)


cumsum = op("cumsum(Tensor self, int dim, *, ScalarType? dtype=None)", row_major(_added_up, True),
            self=_cumsum_backward)  # fmt: skip
op("cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None)", write(_added_up_in_place), function=False,
   backward="CumsumBackward0", self=_cumsum_backward)  # fmt: skip

# truth ----------------------------------------------------------------------------------------------------------------


def _truth(ufunc: Any) -> Any:
    def reduce(a: Any, dim: Any = None, keepdim: bool = False) -> Any:
        dims = dim if dim == () else wrap_dims(dim, a.ndim)  # no dimensions are none here, not all
        found = np.asarray(ufunc.reduce(a, axes(a, dims), np.bool_, None, keepdim))
        return found.astype(np.uint8) if a.dtype.char == "B" else found

    return row_major(reduce)


for _name, _kernel in (("all", _truth(np.logical_and)), ("any", _truth(np.logical_or))):
    _words = _name + " only supports bool tensor for result, got: {1}"
    op(f"{_name}(Tensor self)", _kernel, out=_words)
    op(f"{_name}(Tensor self, int[]? dim=None, bool keepdim=False)", _kernel, out=_words)
    op(f"{_name}(Tensor self, int dim, bool keepdim=False)", _kernel, out=_words)

# variances ------------------------------------------------------------------------------------------------------------

_FEW = "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output numel)."


def _variance(name: str) -> Any:
    def kernel(a: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
        if a.dtype.kind != "f":
            raise RuntimeError("std and var only support floating point and complex dtypes")
        dims, off = wrap_dims(dim, a.ndim), 1 if correction is None else correction
        n = count(a.shape, dims)
        if a.size // max(math.prod([k for d, k in enumerate(a.shape) if d not in dims]), 1) - off <= 0:
            warn_in_torch(_FEW.format(name), "aten/src/ATen/native/ReduceOps.cpp:1861")
        wide = a.astype(np.float64)
        far = wide - (np.add.reduce(wide, dims, None, None, True) / n if a.ndim else wide)
        found = np.asarray(np.add.reduce(far * far, axes(a, dims), None, None, keepdim)) / np.float64(max(n - off, 0))
        return np.asarray(np.sqrt(found) if name == "std" else found).astype(a.dtype)

    return row_major(kernel)


def _var_backward(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    off, shape = 1 if correction is None else correction, self.shape
    if not shape or dim is None:
        n = self.size if type(self.size) is int else self.numel()
        if n <= off:
            return grad * where(self == mean_all(self), math.nan, math.inf)
        return times(grad, 2 / (n - off)) * (self - mean_all(self))
    n = (count(shape, dim) if dim else 1) - off
    grad = restored(grad, dim, keepdim or len(shape) == 1, shape)
    return times(grad, 2 / n if n else math.inf) * (self - mean_dims(self, dim, True))


def _std_backward(grad: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    grad = masked_fill_(grad / times(result, 2), result == 0, 0)
    return _var_backward(grad, self, dim, correction, keepdim)


_VARIANCES: dict[str, Any] = {}
for _name, _formula in (("var", _var_backward), ("std", _std_backward)):
    op(f"{_name}(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False)", composite(
        lambda self, dim, unbiased, keepdim, n=_name: _VARIANCES[n](self, dim, int(unbiased), keepdim)))  # fmt: skip
    _VARIANCES[_name] = op(f"{_name}(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)",
                           _variance(_name), self=_formula)  # fmt: skip
    op(f"{_name}(Tensor self, bool unbiased=True)", composite(
        lambda self, unbiased, n=_name: _VARIANCES[n](self, None, int(unbiased), False)))  # fmt: skip

# softmax ---------------------------------------------------------------------------------------------------------------


def _normalised(log: bool) -> Any:
    def kernel(a: Any, dim: int, half_to_float: bool) -> Any:
        d = wrap_dim(dim, a.ndim)
        if a.dtype.kind != "f" and a.size:
            which = "softmax_lastdim_kernel_impl" if d == max(a.ndim, 1) - 1 else "softmax_kernel_impl"
            check_kernel(a.dtype, "f", f"log_{which}" if log else which)
        x = a.astype(np.float32) if a.dtype.char == "e" else a
        if a.size and a.ndim:
            x = x - np.maximum.reduce(x, d, keepdims=True)
            e = exp_of(x)
            total = np.add.reduce(e, d, keepdims=True)
            x = x - np.log(total) if log else e / total
        elif a.size:
            x = x - x if log else np.exp(x - x)
        return np.asarray(x).astype(a.dtype, copy=x is a)

    return row_major(kernel)


_slope = op(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype)",
    lambda g, r, dim, _: (g - np.add.reduce(g * r, dim, keepdims=True)) * r if g.ndim else g - g, method=False,
    out=False, grad_output=lambda grad, output, dim, _output_dtype: _slope(grad, output, dim, _output_dtype),
    output=lambda grad, grad_output, output, dim: _softmax_double_backward(grad, grad_output, output, dim))  # fmt: skip
_log_slope = op(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype)",
    lambda g, r, dim, _: g - np.exp(r) * np.add.reduce(g, dim, keepdims=True) if g.ndim else g - g, method=False,
    out=False, grad_output=lambda grad, output, dim: grad - sum_dims(grad * exp(output), (dim,), True),
    output=lambda grad, grad_output, output, dim: -sum_dims(grad_output, (dim,), True) * exp(output) * grad)  # fmt: skip


def _softmax_double_backward(grad: Any, grad_output: Any, output: Any, dim: int) -> Any:
    first = grad_output * grad - sum_dims(output * grad_output, (dim,), True) * grad
    return first - grad_output * sum_dims(output * grad, (dim,), True)


def _normalising(name: str, log: bool, slope: Any) -> Any:
    """`softmax` or `log_softmax`, which converts first."""
    inner = op(f"_{name}(Tensor self, int dim, bool half_to_float)", _normalised(log), method=False, out=False,
               backward="LogSoftmaxBackward0" if log else "SoftmaxBackward0",
               self=lambda grad, result, dim, _self_dtype: slope(grad, result, dim, _self_dtype))  # fmt: skip
    return op(f"{name}(Tensor self, int dim, ScalarType? dtype=None)", composite(
        lambda self, dim, dtype: inner(self if dtype is None else converted(self, dtype), dim, False)), out="exact")  # fmt: skip


softmax, log_softmax = _normalising("softmax", False, _slope), _normalising("log_softmax", True, _log_slope)
