"""`torch.linalg`: norms, determinants, inverses, linear equations, factorizations, products.

Source: `torch.linalg`.
"""

from __future__ import annotations

import math
from typing import Any

from . import return_types
from .missing import missing
from .ops import arranging, factoring, solving
from .ops.arguments import guarded
from .ops.core import FUNCTIONS
from .ops.matrix_norms import linalg_norm, matrix_norm
from .ops.norms import vector_norm
from .ops.solving import _LinAlgError as LinAlgError
from .tensor import Tensor


def _linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices (..., m, n). Source: `torch.linalg.diagonal`."""
    return FUNCTIONS["diagonal"](A, offset, dim1, dim2)


def _linalg_inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse of matrices (..., n, n), and 0 for each in int32. Source: `torch.linalg.inv_ex`."""
    made = solving.linalg_inv(A)
    return return_types.linalg_inv_ex((made, A.detach().new_zeros(A.shape[:-2]).int()))


def _linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along a dimension. Source: `torch.linalg.vecdot`."""
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {x.dtype.scalar_name} and y of "
            f"type {y.dtype.scalar_name} instead"
        )
    return x.vdot(y) if x.dim() == y.dim() == 1 else x.mul(y).sum(dim)


def _linalg_cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number of matrices (..., n, n) by a norm, or (..., m, n) by singular values. Source: `torch.linalg.cond`."""
    if p is None or p in (2, -2):
        s = factoring.linalg_svdvals(A)
        first, last = s.narrow(-1, 0, 1), s.narrow(-1, s.shape[-1] - 1, 1)
        return (first / last if p != -2 else last / first).squeeze(-1)
    inverse = solving.linalg_inv(A)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num(posinf=float("inf"), nan=float("nan"))


def _linalg_tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The tensor that undoes `tensordot` with A over the last dimensions from `ind` on. Source: `torch.linalg.tensorinv`."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    shape = A.shape
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    return solving.linalg_inv(A.reshape(rows, columns)).reshape((*shape[ind:], *shape[:ind]))


def _linalg_tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X with tensordot(A, X, X.dim()) = B. Source: `torch.linalg.tensorsolve`."""
    if dims is not None:
        return _linalg_tensorsolve(A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim()))), B)
    shape = A.shape[B.dim() :]
    if math.prod(shape) != math.prod(A.shape[: B.dim()]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(shape)} != {math.prod(A.shape[: B.dim()])}"
        )
    return solving.linalg_solve(A.reshape(math.prod(shape), math.prod(shape)), B.flatten()).reshape(shape)


def _offered(name: str, f: Any) -> Any:
    """A function under its name here, with torch's rules for arguments."""
    f.__name__ = f.__qualname__ = f"linalg_{name}"
    return guarded(f, f"linalg_{name}", False)


matmul = FUNCTIONS["matmul"]
matrix_power = FUNCTIONS["matrix_power"]
multi_dot = solving.multi_dot
cond = _offered("cond", _linalg_cond)
tensorinv = _offered("tensorinv", _linalg_tensorinv)
tensorsolve = _offered("tensorsolve", _linalg_tensorsolve)
lstsq = _offered("lstsq", factoring.linalg_lstsq)
cholesky = _offered("cholesky", solving.linalg_cholesky)
cross = _offered("cross", arranging.linalg_cross)
det = _offered("det", solving.linalg_det)
inv = _offered("inv", solving.linalg_inv)
inv_ex = _offered("inv_ex", _linalg_inv_ex)
solve = _offered("solve", solving.linalg_solve)
norm = _offered("norm", linalg_norm)
vector_norm = _offered("vector_norm", vector_norm)
matrix_norm = _offered("matrix_norm", matrix_norm)
svd = _offered("svd", factoring.linalg_svd)
svdvals = _offered("svdvals", factoring.linalg_svdvals)
qr = _offered("qr", factoring.linalg_qr)
eigh = _offered("eigh", factoring.linalg_eigh)
eigvalsh = _offered("eigvalsh", factoring.linalg_eigvalsh)
slogdet = _offered("slogdet", factoring.linalg_slogdet)
pinv = _offered("pinv", factoring.linalg_pinv)
matrix_rank = _offered("matrix_rank", factoring.linalg_matrix_rank)
diagonal = _offered("diagonal", _linalg_diagonal)
vecdot = _offered("vecdot", _linalg_vecdot)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.linalg' has no attribute '{}'", name)


__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vecdot",
    "vector_norm",
]
