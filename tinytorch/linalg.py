"""`torch.linalg`: norms, determinant, inverse, linear equations, Cholesky's decomposition, products.

Source: `torch.linalg`.
"""

from __future__ import annotations

from typing import Any

from .missing import missing
from .ops.core import FUNCTIONS
from .ops.norms import vector_norm
from .ops.solving import _LinAlgError as LinAlgError
from .ops.solving import linalg_cholesky as cholesky
from .ops.solving import linalg_det as det
from .ops.solving import linalg_inv as inv
from .ops.solving import linalg_solve as solve
from .ops.solving import multi_dot
from .tensor import Tensor

matmul = FUNCTIONS["matmul"]
matrix_power = FUNCTIONS["matrix_power"]


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: tuple = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The Frobenius norm of matrices, or with ord 1, -1, inf, -inf the largest or smallest sum of a column or row."""
    if ord in ("fro", "f"):
        return vector_norm(A, 2, tuple(d % A.dim() for d in dim), keepdim, dtype=dtype)
    if ord not in (1, -1, float("inf"), float("-inf")):
        raise RuntimeError(f"linalg.matrix_norm: tinytorch has no norm of order {ord}")
    rows, columns = (d % A.dim() for d in dim)
    first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, (first,), keepdim, dtype=dtype)
    if second > first and not keepdim:
        second -= 1
    return sums.amax(second, keepdim) if ord > 0 else sums.amin(second, keepdim)


def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None
) -> Tensor:
    """A vector's or a matrix's norm: of all elements with the order 2 unless said otherwise."""
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.dim() == 2)):
        return matrix_norm(A, ord, tuple(dim) if pair else (0, 1), keepdim, dtype=dtype)
    if ord is not None and dim is None and A.dim() != 1:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " + f"{A.dim()}D."
        )
    return vector_norm(A, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.linalg' has no attribute '{}'", name)


__all__ = [
    "LinAlgError",
    "cholesky",
    "det",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "solve",
    "vector_norm",
]
