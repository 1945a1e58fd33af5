"""Norms of matrices: Frobenius, sums of columns or rows, and those by singular values; and what chooses among norms."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..tensor import Tensor, wrap_dim
from .arguments import called_as_method, parsed
from .core import op
from .factoring import linalg_svdvals
from .norms import vector_norm


def _check(A: Tensor, dim: Any) -> tuple[int, int]:
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if not A.dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {A.dtype.scalar_name}"
        )
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = (wrap_dim(d, A.dim()) for d in dim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({', '.join(map(str, dim))})")
    return first, second


def _largest(t: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    return t.amax(dim, keepdim) if t.shape[dim] else t.sum(dim, keepdim)


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of matrices (..., m, n): "fro", "nuc", 1, -1, inf, -inf, 2 or -2. RuntimeError for another.

    Source: `torch.linalg.matrix_norm`.
    """
    if isinstance(ord, str) and ord not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if not isinstance(ord, str) and (isinstance(ord, bool) or abs(ord) not in (1, 2, math.inf)):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord:g} not supported.")
    first, second = _check(A, dim)
    if ord == "fro":
        return vector_norm(A, 2, (first, second), keepdim, dtype=dtype)
    if ord == "nuc" or abs(ord) == 2:
        if A.dtype.itemsize == 2:
            raise RuntimeError("linalg.matrix_norm: Low precision dtypes not supported. Got Half")
        rest = [d for d in range(A.dim()) if d not in (first, second)]
        values = linalg_svdvals((A if dtype is None else A.to(dtype)).permute([*rest, first, second]))
        made = values.sum(-1) if ord == "nuc" else _largest(values, -1) if ord > 0 else values.amin(-1)
        for d in sorted((first, second)) if keepdim else ():
            made = made.unsqueeze(d)
        return made
    if abs(ord) == math.inf:
        first, second = second, first
    sums = vector_norm(A, 1, (first,), keepdim, dtype=dtype)
    if second > first and not keepdim:
        second -= 1
    return _largest(sums, second, keepdim) if ord > 0 else sums.amin(second, keepdim)


def linalg_norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None
) -> Tensor:
    """A vector's or a matrix's norm: of all elements with the order 2 unless said otherwise.

    Source: `torch.linalg.norm`.
    """
    dims = None if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if ord is not None and dims is None and A.dim() not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.dim()}D."
        )
    if isinstance(ord, str) or (ord is not None and (len(dims) == 2 if dims is not None else A.dim() == 2)):
        return matrix_norm(A, ord, dims or (0, 1), keepdim, dtype=dtype)
    return vector_norm(A, 2.0 if ord is None else ord, dims, keepdim, dtype=dtype, out=out)


@op()
def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None, dtype: Any = None
) -> Tensor:
    """The p-norm of all elements, or along dimensions. RuntimeError for integers.

    Source: `torch.norm`.
    """
    if out is not None and called_as_method():
        raise TypeError("Tensor.norm() got an unexpected keyword argument 'out'")
    p = p.item() if isinstance(p, Tensor) and not p._data.ndim else p
    if (
        isinstance(p, (Tensor, tuple, list, dict, dtypes.dtype))
        or type(keepdim) is not bool
        or isinstance(dim, (str, float, Tensor))
    ):
        parsed("linalg_vector_norm", (input, 2 if p is None or p == "fro" else p, dim, keepdim), {})
    if p == "nuc":
        dims = range(input.dim()) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        return matrix_norm(input, "nuc", tuple(dims), keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    order = 2 if p in ("fro", None) else p
    return vector_norm(
        input, order, None if isinstance(dim, (list, tuple)) and not dim else dim, keepdim, dtype=dtype, out=out
    )
