"""Square matrices, through NumPy's LAPACK: det, inv, solve, cholesky, trace, and powers.

Results lie column by column, as LAPACK leaves them and torch gives them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..dtypes import cpp_name
from ..fused import multiply_add
from ..graph.node import node
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch, warn_user
from .arguments import type_name
from .copying import contiguous_format
from .core import common_device, laid_out, op, record, recording, result, takes_out, write_out
from .pointwise import check_kernel
from .rejected import all_tensors
from .scalars import written_twice


class _LinAlgError(RuntimeError):
    """A matrix that LAPACK cannot work with. Source: `torch.linalg.LinAlgError`."""


_LinAlgError.__module__ = "torch._C"


def _square(name: str, t: Tensor, letter: str = "A", any_dtype: bool = False) -> np.ndarray:
    a = t._data
    if a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {letter} must have at least 2 dimensions.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"{name}: {letter} must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )
    if any_dtype:
        return a
    if a.dtype.kind != "f":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {t.dtype.scalar_name}")
    if a.dtype == np.float16:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")
    return a


def _columns(a: np.ndarray) -> np.ndarray:
    """The same values with each matrix column by column."""
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    strides = [1, max(m, 1)]
    step = max(m, 1) * max(n, 1)
    for k in reversed(batch):
        strides.insert(0, step)
        step *= max(k, 1)
    return laid_out(a, tuple(strides))


def _lu(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The LU decomposition with row pivots (counted from 1), packed as LAPACK's getrf packs it.

    To the last bit as torch's: rows are scaled by a reciprocal, except the last of small matrices, and products are
    subtracted with one rounding.
    """
    lu = a.copy()
    pivots = np.empty(a.shape[:-1], np.int32)
    for at in np.ndindex(a.shape[:-2]):
        m = lu[at]
        for k in range(len(m)):
            pivot = k + int(np.abs(m[k:, k]).argmax())
            pivots[(*at, k)] = pivot + 1
            if m[pivot, k]:
                m[[k, pivot]] = m[[pivot, k]]
                below, right = m[k + 1 :, k], m[k, k + 1 :]
                if len(m) <= 4 and k == len(m) - 2:
                    below /= m[k, k]
                elif k < len(m) - 1:
                    below *= 1 / m[k, k]
                if k < len(m) - 1:
                    m[k + 1 :, k + 1 :] = multiply_add(-below[:, None], right, m[k + 1 :, k + 1 :])
    return lu, pivots


def _turned(A: Tensor) -> np.ndarray:
    """The matrices that torch decomposes for a determinant: row by row in memory, they are columns to LAPACK."""
    a = A._data
    return a.swapaxes(-1, -2) if a.flags.c_contiguous else a


def _decomposed(a: np.ndarray, device: Any) -> dict[str, Tensor]:
    """What torch's nodes save of the decomposition."""
    lu, pivots = _lu(a)
    return {"LU": fresh(_columns(lu), device), "pivots": fresh(pivots, device)}


def _singular(name: str, a: np.ndarray, what: str) -> _LinAlgError:
    diagonal = np.diagonal(_lu(a)[0], 0, -2, -1).reshape(-1, a.shape[-1])
    first = int(np.argwhere(diagonal == 0)[0][1]) + 1 if (diagonal == 0).any() else a.shape[-1]
    return _LinAlgError(
        f"{name}: The diagonal element {first} is zero, the {what} could not be completed because the input matrix is "
        "singular."
    )


def _as_diagonal(t: Tensor) -> Tensor:
    return t.unsqueeze(-1) * t.new_tensor(np.eye(t.shape[-1]).tolist())


# determinant and inverse ---------------------------------------------------------------------------------------------------


def _det_backward(grad: Tensor, A: Tensor, result: Tensor) -> Tensor:
    diagonal = (grad * result).unsqueeze(-1).expand(A.shape[:-1])
    return linalg_solve(A.mT, _as_diagonal(diagonal))


_LinalgDetBackward0 = node("LinalgDetBackward0", _det_backward, also=("LU", "pivots"))


@takes_out("linalg_det")
def linalg_det(A: Tensor) -> Tensor:
    """The determinant of square matrices (..., n, n).

    Source: `torch.linalg.det`.
    """
    if A._data.dtype == np.float16:
        raise NotImplementedError("\"lu_cpu\" not implemented for 'Half'")
    a = _square("linalg.det", A)
    lu, pivots = _lu(_turned(A))
    flips = (pivots != np.arange(1, a.shape[-1] + 1)).sum(axis=-1)
    data = np.diagonal(lu, 0, -2, -1).prod(axis=-1) * np.where(flips % 2, -1, 1)
    made = result(np.asarray(data, a.dtype), A._device)
    return record(made, _LinalgDetBackward0, (A,), A=A, **_decomposed(_turned(A), A._device)) if recording(A) else made


def _two_by_two(a: np.ndarray) -> np.ndarray:
    """The inverse of 2 by 2 matrices, to the last bit as torch's. np.linalg.LinAlgError for singular ones."""
    lu, pivots = _lu(a)
    u00, u01, lower, u11 = (lu[..., i, j, None] for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)))
    if (u00 == 0).any() or (u11 == 0).any():
        raise np.linalg.LinAlgError
    b = np.zeros_like(lu)
    swapped = pivots[..., 0] == 2
    b[..., 0, 0] = b[..., 1, 1] = ~swapped
    b[..., 0, 1] = b[..., 1, 0] = swapped
    b[..., 1, :] = multiply_add(-lower, b[..., 0, :], b[..., 1, :]) * (1 / u11)
    b[..., 0, :] = multiply_add(-u01, b[..., 1, :], b[..., 0, :]) * (1 / u00)
    return b


_LinalgInvExBackward0 = node("LinalgInvExBackward0", lambda grad, inverse: -inverse.mT.matmul(grad.matmul(inverse.mT)))


@takes_out("linalg_inv_ex")
def linalg_inv(A: Tensor) -> Tensor:
    """The inverse of square matrices (..., n, n). An error that is a RuntimeError for singular ones.

    Source: `torch.linalg.inv`.
    """
    a = _square("linalg.inv", A)
    try:
        data = _two_by_two(a) if a.shape[-1] == 2 else np.linalg.inv(a)
    except np.linalg.LinAlgError:
        raise _singular("linalg.inv", a, "inversion") from None
    made = fresh(_columns(data), A._device)
    return record(made, _LinalgInvExBackward0, (A,), inverse=made) if recording(A) else made


# linear equations ------------------------------------------------------------------------------------------------------------


_NO_VECTOR = (
    "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
    "linalg.solve is equivalent to B / A.squeeze(-1)"
)


def _solve_left(grad: Tensor, A: Tensor, result: Tensor) -> Tensor:
    back = _solve_right(grad, A, result)
    if result.dim() == A.dim() - 1:
        return -(back.unsqueeze(-1) * result.unsqueeze(-2))
    return -back.matmul(result.mT)


def _solve_right(grad: Tensor, A: Tensor, result: Tensor) -> Tensor:
    if result.dim() == A.dim() - 1:
        return linalg_solve(A.mT, grad.unsqueeze(-1)).squeeze(-1)
    return linalg_solve(A.mT, grad)


_LinalgSolveExBackward0 = node("LinalgSolveExBackward0", _solve_left, _solve_right, also=("LU", "left", "pivots"))


def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A @ X = B (X @ A = B if not `left`): A (..., n, n), B (n), (..., n) or (..., n, k).

    An error that is a RuntimeError for singular A. Source: `torch.linalg.solve`.
    """
    if A.dtype.is_floating_point and A.dtype is not B.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type {A.dtype.scalar_name} and B of "
            f"type {B.dtype.scalar_name} instead"
        )
    a, b = _square("linalg.solve", A), B._data
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    if b.shape[-1 if vector or not left else -2] != a.shape[-1]:
        shape = (*b.shape, 1)[-2:] if vector else b.shape[-2:]
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({a.shape[-2]}x{a.shape[-1]} and {shape[0]}x{shape[1]})"
        )
    if not left:
        if vector:
            raise RuntimeError(_NO_VECTOR)
        return linalg_solve(A.mT, B.mT).mT
    try:
        data = np.linalg.solve(a, b[..., None])[..., 0] if vector else np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise _LinAlgError("torch.linalg.solve: The solver failed because the input matrix is singular.") from None
    made = fresh(
        (data if data.ndim < 2 else _columns(data)) if vector else _columns(data), common_device("linalg.solve", A, B)
    )
    return (
        record(made, _LinalgSolveExBackward0, (A, B), A=A, left=left, **_decomposed(a, A._device))
        if recording(A, B)
        else made
    )


# Cholesky -----------------------------------------------------------------------------------------------------------------------


def _cholesky_backward(grad: Tensor, L: Tensor, upper: bool) -> Tensor:
    if upper:
        return _cholesky_backward(grad.mT, L.mT, False)
    inner = L.mT.matmul(grad).tril()
    inner = inner - _as_diagonal(inner.diagonal(0, -2, -1)) / 2
    inverse = linalg_inv(L)
    return inverse.mT.matmul((inner + inner.mT) / 2).matmul(inverse)


_LinalgCholeskyExBackward0 = node("LinalgCholeskyExBackward0", _cholesky_backward)


def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with L @ L.T = A, for symmetric positive definite A (..., n, n); `upper`: L.T.

    An error that is a RuntimeError where A is not positive definite. Source: `torch.linalg.cholesky`.
    """
    return _cholesky("linalg.cholesky", A, upper)


def _cholesky(name: str, A: Tensor, upper: bool) -> Tensor:
    a = _square(name, A)
    try:
        data = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        flat = a.reshape(-1, *a.shape[-2:])
        minor = next(k for m in flat for k in range(1, len(m) + 1) if not np.linalg.det(m[:k, :k]) > 0)
        raise _LinAlgError(
            f"{name}: The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {minor} is not positive-definite)."
        ) from None
    made = fresh(_columns(data.swapaxes(-1, -2) if upper else data), A._device)
    return record(made, _LinalgCholeskyExBackward0, (A,), L=made, upper=upper) if recording(A) else made


# under torch's own names ------------------------------------------------------------------------------------------------------


@op()
def det(input: Tensor) -> Tensor:
    """The determinant of a square matrix, or of each of a batch. Source: `torch.det`."""
    return linalg_det(input)


_DEPRECATED = """torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.
L = torch.cholesky(A)
should be replaced with
L = torch.linalg.cholesky(A)
and
U = torch.cholesky(A, upper=True)
should be replaced with
U = torch.linalg.cholesky(A).mH
This transform will produce equivalent results for all valid (symmetric positive definite) inputs."""


@op(strict=True)
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky decomposition, deprecated in torch, which warns; see `linalg_cholesky`. Source: `torch.cholesky`."""
    warn_in_torch(_DEPRECATED, "aten/src/ATen/native/BatchLinearAlgebra.cpp:1765")
    return _cholesky("cholesky", input, upper)


@op()
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a square matrix, or of each of a batch. Source: `torch.inverse`."""
    return linalg_inv(input, out=out)


def _trace_back(grad: Tensor, self_sym_sizes: tuple) -> Tensor:
    m, n = self_sym_sizes
    out = grad.new_zeros(m * n)
    out = out.index_fill(0, grad.new_tensor(range(0, min(m, n) * (n + 1), n + 1)).long(), grad)
    return written_twice(out).view(m, n)


_TraceBackward0 = node("TraceBackward0", _trace_back)


@op()
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal; integers add up as int64.

    RuntimeError for other dimensions. Source: `torch.trace`.
    """
    a = input._data
    if a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.ndim}")
    check_kernel(a, "if", "trace")
    made = result(np.trace(a, dtype=np.int64 if a.dtype.kind in "iub" else a.dtype), input._device)
    return record(made, _TraceBackward0, (input,), self_sym_sizes=tuple(a.shape)) if recording(input) else made


@op()
def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Tensor:
    """A square matrix times itself; negative powers of its inverse.

    Source: `torch.matrix_power`.
    """
    a = _square("linalg.matrix_power", input, any_dtype=n >= 0)
    if n == 0:
        return input.clone(memory_format=contiguous_format).copy_(input.new_tensor(np.eye(a.shape[-1]).tolist()))
    base = linalg_inv(input) if n < 0 else input
    made, power, n = None, base, abs(n)
    while n:
        if n & 1:
            made = power if made is None else made.matmul(power)
        n >>= 1
        power = power.matmul(power) if n else power
    assert made is not None
    return made if out is None else write_out(out, made._data, "matrix_power", input)


@op(method=False)
def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The product of several matrices, deprecated in torch, which warns.

    Source: `torch.chain_matmul`.
    """
    matrices = all_tensors(matrices)
    warn_user(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    for m in matrices:
        if m.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {m.dim()}, expected 2 instead.")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices, out=out)


def _check_chain(tensors: Any) -> None:
    ends = {0: "first", len(tensors) - 1: "last"}
    for i, t in enumerate(tensors):
        if i in ends and t.dim() not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {ends[i]} tensor must be 1D or 2D but got {t.dim()}D")
        if i not in ends and t.dim() != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {t.dim()}D")
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{cpp_name(tensors[0].dtype)} and tensor {i} {cpp_name(t.dtype)}"
            )
    for i, (t, u) in enumerate(pairwise(tensors)):
        if t.shape[-1] != u.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(t.shape)} and {list(u.shape)} cannot be "
                "multiplied"
            )


@takes_out("multi_dot")
def multi_dot(tensors: Any) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    Source: `torch.linalg.multi_dot`.
    """
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not {type_name(tensors)}"
        )
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    _check_chain(tensors)
    first = tensors[0].unsqueeze(0) if tensors[0].dim() == 1 else tensors[0]
    last = tensors[-1].unsqueeze(-1) if tensors[-1].dim() == 1 else tensors[-1]
    chain = [first, *tensors[1:-1], last]
    sizes = [t.size(0) for t in chain] + [chain[-1].size(1)]

    def best(i: int, j: int) -> tuple[int, Any]:
        if i == j:
            return 0, i
        options = []
        for k in range(i, j):
            (left, a), (right, b) = best(i, k), best(k + 1, j)
            options.append((left + right + sizes[i] * sizes[k + 1] * sizes[j + 1], (a, b)))
        return min(options, key=lambda o: o[0])

    def made(plan: Any) -> Tensor:
        return chain[plan] if isinstance(plan, int) else made(plan[0]).mm(made(plan[1]))

    shape = list(tensors[0].shape[:-1]) + list(tensors[-1].shape[1:])
    return made(best(0, len(chain) - 1)[1]).view(shape)
