"""Sums and `expand`: the gradient of a sum is expanded, the gradient of `expand` is summed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import check_numel, dtypes, restride_array, wrap_dims
from .define import op
from .kernels import Kernel, composite, row_major
from .kernels import view as view_kernel
from .views import array_of, reshape, unsqueeze

_LONG, _FLOAT = np.dtype(np.int64), np.dtype(np.float32)

# gradients back in the shape that was reduced -----------------------------------------------------


def restore_dims(t: Any, dim: Any, keepdim: bool, sizes: tuple) -> Any:
    """Put reduced dimensions back, with size 1. No dimension named stands for all."""
    if keepdim or not sizes or not dim:
        return t
    for d in dim if len(dim) == 1 else sorted(wrap_dims(dim, len(sizes))):
        t = unsqueeze(t, d)
    return t


def expand_grad(grad: Any, sizes: tuple, dim: Any, keepdim: bool) -> Any:
    """Return the gradient of a sum: the same value for every element that was added."""
    return expand(restore_dims(grad, dim, keepdim, sizes), sizes)


def shape_reduced(a: np.ndarray, dim: Any, keepdim: bool) -> tuple:
    """Return the shape of a reduction over dimensions."""
    if not a.ndim:
        return ()
    axes = {d % a.ndim for d in numpy_axes(a, wrap_dims(dim, a.ndim))}
    sizes = []
    for d, n in enumerate(a.shape):
        if d not in axes:
            sizes.append(n)
        elif keepdim:
            sizes.append(1)
    return tuple(sizes)


def count_reduced(sizes: tuple, dim: Any) -> int:
    """Return the number of elements that are reduced to one."""
    if not sizes:
        return 1
    return math.prod([sizes[d] for d in wrap_dims(dim, len(sizes))])


def numpy_axes(a: Any, dims: tuple | None) -> tuple | None:
    """Return the dimensions as NumPy takes them: None for a 0-d array."""
    return dims if a.ndim else None


def numpy_axis(a: Any, dim: int) -> int | None:
    """Return a dimension as NumPy takes it, in half a microsecond less than a tuple of it."""
    return dim if a.ndim else None


# sums ---------------------------------------------------------------------------------------------


def sum_array(a: Any, dims: tuple | None, keepdim: bool, dtype: Any) -> Any:
    """Return sums along dimensions, of all elements for None. float16 is added up in float32."""
    result = _LONG
    if dtype is not None:
        result = dtype.np
    elif a.dtype.kind == "f":
        result = a.dtype
    wide = _FLOAT if result.char == "e" else result
    total = np.add.reduce(a, numpy_axes(a, dims), wide, None, keepdim)
    return total if wide is result else total.astype(result)


sum_all = op(
    "sum(Tensor self, *, ScalarType? dtype=None)",
    Kernel(lambda a, dtype: sum_array(a, None, False, dtype)),
    out=False,
    self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes),
)
sum_dims = op(
    "sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)",
    row_major(
        lambda a, dim, keepdim, dtype: sum_array(a, wrap_dims(dim, a.ndim), keepdim, dtype), True
    ),
    backward="SumBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: expand_grad(grad, self_sym_sizes, dim, keepdim),
)


def _sum_to_size(self: Any, size: tuple) -> Any:
    """Sum over the dimensions by which a tensor is larger than a size that broadcasts to it.

    RuntimeError for another size.
    """
    lead = self.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, self.shape[lead:], strict=True)):
        raise RuntimeError(
            f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}."
        )
    if not size:
        return sum_all(self)
    dims = (
        *range(lead),
        *(d for d in range(lead, self.ndim) if size[d - lead] == 1 != self.shape[d]),
    )
    out = sum_dims(self, dims, True) if dims else self
    return reshape(out, size) if lead else out


sum_to_size = op("sum_to_size(Tensor self, SymInt[] size)", composite(_sum_to_size), function=False)

# expand -------------------------------------------------------------------------------------------


def _expand_array(a: np.ndarray, size: tuple, implicit: bool = False) -> np.ndarray:
    """Return a view of a size: with a step of 0 where one element is repeated."""
    shape, strides = a.shape, a.strides
    # What the gradient of `sum()` is: one element for all.
    if not shape and size and min(size) > 0:
        try:
            return np.ndarray(size, a.dtype, a, 0, (0,) * len(size))
        except ValueError:
            return _restride_expanded(a, size, [0] * len(size))  # for its error
    at, steps = len(shape) - len(size), []
    if at > 0:
        return _expand_array_checked(a, size)
    for k in size:
        if at >= 0 and k == shape[at]:
            steps.append(strides[at])
        elif k > 1 and (at < 0 or shape[at] == 1):
            steps.append(0)
        else:
            return _expand_array_checked(a, size)
        at += 1
    return _restride_expanded(a, size, steps)


def _restride_expanded(a: np.ndarray, size: tuple, steps: list) -> np.ndarray:
    """Return a view of this size. RuntimeError, in PyTorch's words, if it has too many elements."""
    try:
        return restride_array(a, size, tuple(steps))
    except NotImplementedError:  # more than NumPy can describe
        check_numel(size)
        raise


def _expand_array_checked(a: np.ndarray, size: tuple) -> np.ndarray:
    """Expand with sizes that are kept (-1), 0, or 1 in front; raise PyTorch's errors for others."""
    n, lead = a.ndim, len(size) - a.ndim
    if lead < 0:
        name = (
            f"torch.{dtypes.BY_NUM[a.dtype.num].tensor_type}" if a.dtype != bool else "CPUBoolType"
        )
        raise RuntimeError(
            f"expand({name}{{{list(a.shape)}}}, size={list(size)}): the number of sizes "
            f"provided ({len(size)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({n})"
        )
    new, steps = list(size), [0] * len(size)
    for i in range(len(size) - 1, -1, -1):
        want, d = size[i], i - lead
        if d >= 0:
            have, step = a.shape[d], a.strides[d]
        else:
            have, step = 1, new[i + 1] * steps[i + 1] if n else 0
        if want == -1 and n:
            if d < 0:
                raise RuntimeError(
                    "The expanded size of the tensor (-1) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            want = new[i] = have
        if have == want:
            steps[i] = step
        elif have != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size "
                f"({have}) at non-singleton dimension {i}.  Target sizes: {list(size)}.  "
                f"Tensor sizes: {list(a.shape)}"
            )
    if min(new, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    return _restride_expanded(a, tuple(new), steps)


expand = op(
    "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False)",
    view_kernel(_expand_array),
    function=False,
    self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes),
)
op(
    "expand_as(Tensor(a) self, Tensor other)",
    composite(lambda self, other: expand(self, array_of(other).shape)),
    function=False,
)
op("broadcast_to(Tensor(a) self, SymInt[] size)", composite(lambda self, size: expand(self, size)))
