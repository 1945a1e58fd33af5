"""Factorizations of matrices through NumPy's LAPACK: svd, qr, eigh, slogdet, and what follows from them.

Factors lie column by column, as LAPACK leaves them and torch gives them. The derivatives are torch's
(`FunctionsManual.cpp`), in tensors, so that they can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import return_types
from ..graph.node import MultiNode, node
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch
from .core import FUNCTIONS, op, record, recording, result
from .reductions import record_all
from .scalars import times
from .solving import _as_diagonal, _columns, _decomposed, _LinAlgError, _lu, _square, _turned, linalg_solve


def matrices(name: str, t: Tensor) -> np.ndarray:
    """The data of a batch of matrices. RuntimeError, in torch's words, for what is none."""
    a = t._data
    if a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if a.dtype.kind != "f":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {t.dtype.scalar_name}")
    return a


def _not_half(a: np.ndarray, kernel: str) -> None:
    if a.dtype == np.float16:
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Half'")


# singular values ------------------------------------------------------------------------------------------------------


def _skew(t: Tensor) -> Tensor:
    return t - t.mT


def _gaps(values: Tensor) -> Tensor:
    """The differences between any two values, 1 on the diagonal."""
    n = values.shape[-1]
    return (values.unsqueeze(-2) - values.unsqueeze(-1)) + values.new_tensor(np.eye(n).tolist())


def _svd_backward(grads: tuple, U: Tensor, S: Tensor, Vh: Tensor) -> Tensor:
    to_u, to_s, to_v = grads
    k = S.shape[-1]  # what more there is of U and Vh has no gradient
    to_u = None if to_u is None else to_u.narrow(-1, 0, k)
    to_v = None if to_v is None else to_v.narrow(-2, 0, k)
    return _thin_svd_backward(to_u, to_s, to_v, U.narrow(-1, 0, k), S, Vh.narrow(-2, 0, k))


def _thin_svd_backward(to_u: Any, to_s: Any, to_v: Any, U: Tensor, S: Tensor, Vh: Tensor) -> Tensor:
    m, n, k = U.shape[-2], Vh.shape[-1], S.shape[-1]
    if to_u is None and to_v is None:
        return U.matmul(to_s.unsqueeze(-1) * Vh) if m >= n else (U * to_s.unsqueeze(-2)).matmul(Vh)
    gaps = _gaps(S * S)
    inner: Tensor | None = None
    if to_u is not None:
        inner = (_skew(U.mT.matmul(to_u)) / gaps) * S.unsqueeze(-2)
    if to_v is not None:
        part = S.unsqueeze(-1) * (_skew(Vh.matmul(to_v.mT)) / gaps)
        inner = part if inner is None else inner + part
    if to_s is not None:
        inner = inner + _as_diagonal(to_s)
    if m > k and to_u is not None:
        out = U.matmul(inner) + (to_u - U.matmul(U.mT.matmul(to_u))) / S.unsqueeze(-2)
        out = out.matmul(Vh)
    else:
        out = U.matmul(inner.matmul(Vh))  # type: ignore[union-attr]
    if n > k and to_v is not None:
        rest = to_v - to_v.matmul(Vh.mT).matmul(Vh)
        out = out + U.matmul(rest / S.unsqueeze(-1))
    return out


_LinalgSvdBackward0 = node(
    "LinalgSvdBackward0", _svd_backward, base=MultiNode, also=("S_sym_argsize_minus_1", "full_matrices")
)


def _svd(name: str, A: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    a = matrices(name, A)
    _not_half(a, "linalg_svd_cpu")
    try:
        u, s, vh = np.linalg.svd(a, full)
        bad = not np.isfinite(a).all()
    except np.linalg.LinAlgError:
        bad = True
    if bad:
        raise _LinAlgError(
            f"{name}: The algorithm failed to converge because the input matrix contained non-finite values."
        )
    made = (fresh(_columns(u), A._device), result(s, A._device), fresh(_columns(vh), A._device))
    if recording(A):
        k = s.shape[-1]
        cut = {"S_sym_argsize_minus_1": k, "full_matrices": full}
        record_all(_LinalgSvdBackward0, A, made, ("U", "S", "Vh"), cut)
    return made


def linalg_svd(A: Tensor, full_matrices: bool = True) -> Any:
    """U, S and Vh with A = U @ diag(S) @ Vh, singular values from the largest on; A (..., m, n).

    An error that is a RuntimeError for inf and nan. Source: `torch.linalg.svd`.
    """
    return return_types.linalg_svd(_svd("linalg.svd", A, full_matrices))


def linalg_svdvals(A: Tensor) -> Tensor:
    """The singular values of matrices (..., m, n), from the largest on. Source: `torch.linalg.svdvals`."""
    return _svd("linalg.svd", A, False)[1]


@op()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V with input = U @ diag(S) @ V.T.

    Source: `torch.svd`.
    """
    if input._data.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input._data.ndim} dimensions instead"
        )
    u, s, vh = _svd("linalg.svd", input, not some)
    if not compute_uv:
        (m, n), batch = input.shape[-2:], input.shape[:-2]
        return return_types.svd((input.new_zeros((*batch, m, m)), s, input.new_zeros((*batch, n, n))))
    return return_types.svd((u, s, vh.transpose(-2, -1)))


# orthogonal and triangular ------------------------------------------------------------------------------------------------


def _qr_backward(grads: tuple, Q: Tensor, R: Tensor, mode: str) -> Tensor:
    to_q, to_r = grads
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to require gradients."
        )
    if mode == "complete" and Q.shape[-2] > R.shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. If you are going to "
            "require gradients, use mode='reduced' instead."
        )
    if R.shape[-2] < R.shape[-1]:
        return _qr_backward_wide(grads, Q, R)
    inner: Tensor | None = None
    if to_r is not None:
        inner = to_r.matmul(R.mT)
    if to_q is not None:
        part = -Q.mT.matmul(to_q)
        inner = part if inner is None else inner + part
    lower = inner.triu()  # type: ignore[union-attr]
    symmetric = lower + lower.mT - _as_diagonal(lower.diagonal(0, -2, -1))
    out = Q.matmul(symmetric)
    return linalg_solve(R, (out if to_q is None else out + to_q).mT).mT


def _qr_backward_wide(grads: tuple, Q: Tensor, R: Tensor) -> Tensor:
    """Of [X, Y] with X square, whose Q and R are those of X beside Q.T @ Y."""
    to_q, to_r = grads
    m, n = R.shape[-2:]
    beside = R.narrow(-1, m, n - m)
    if to_r is None:
        to_y = R.new_zeros(beside.shape)
        to_x = _qr_backward((to_q, None), Q, R.narrow(-1, 0, m), "reduced")
    else:
        tail = to_r.narrow(-1, m, n - m)
        to_y = Q.matmul(tail)
        part = Q.matmul(beside).matmul(tail.mT)
        to_q = part if to_q is None else to_q + part
        to_x = _qr_backward((to_q, to_r.narrow(-1, 0, m)), Q, R.narrow(-1, 0, m), "reduced")
    return FUNCTIONS["cat"]((to_x, to_y), -1)


_LinalgQrBackward0 = node("LinalgQrBackward0", _qr_backward, base=MultiNode)


def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """Q and R with A = Q @ R, Q orthogonal and R upper triangular; A (..., m, n). RuntimeError for another mode.

    Source: `torch.linalg.qr`.
    """
    a = matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    _not_half(a, "geqrf_cpu")
    if mode == "r":
        q, r = np.empty(0, a.dtype), np.linalg.qr(a, "r")
    else:
        q, r = np.linalg.qr(a, mode)  # type: ignore[call-overload]
        q = _columns(q)
    made = (fresh(q, A._device), fresh(_columns(r), A._device))
    if recording(A):
        record_all(_LinalgQrBackward0, A, made, ("Q", "R"), {"mode": mode})
    return return_types.linalg_qr(made)


_QR = """torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.
The boolean parameter 'some' has been replaced with a string parameter 'mode'.
Q, R = torch.qr(A, some)
should be replaced with
Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"""


@op()
def qr(input: Tensor, some: bool = True) -> Any:
    """Q and R, see `linalg_qr`; deprecated in torch, which warns.

    Source: `torch.qr`.
    """
    warn_in_torch(_QR, "aten/src/ATen/native/BatchLinearAlgebra.cpp:2505")
    return return_types.qr(tuple(linalg_qr(input, "reduced" if some else "complete")))


# symmetric matrices -------------------------------------------------------------------------------------------------------


def _eigh_backward(grads: tuple, eigenvalues: Tensor, eigenvectors: Tensor) -> Tensor:
    to_values, to_vectors = grads
    v = eigenvectors
    if to_vectors is None:
        return (v * to_values.unsqueeze(-2)).matmul(v.mT)
    turned = v.mT.matmul(to_vectors)
    gaps = eigenvalues.unsqueeze(-2) - eigenvalues.unsqueeze(-1)
    gaps.diagonal(0, -2, -1).fill_(1)
    inner = times(turned - turned.mT, 0.5) / gaps  # no symmetric part: the vectors stay orthogonal
    if to_values is not None:
        inner.diagonal(0, -2, -1).copy_(to_values)
    return v.matmul(inner.matmul(v.mT))


_LinalgEighBackward0 = node("LinalgEighBackward0", _eigh_backward, base=MultiNode)


def linalg_eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues, from the smallest on, and eigenvectors of symmetric matrices (..., n, n), of which one half counts.

    Source: `torch.linalg.eigh`.
    """
    a = A._data
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        _square("linalg.eigh", A)
    if a.dtype.kind != "f" or a.dtype == np.float16:
        raise NotImplementedError(f"\"linalg_eigh_cpu\" not implemented for '{A.dtype.scalar_name}'")
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if np.isnan(a).any():
        values, vectors = np.full(a.shape[:-1], np.nan, a.dtype), np.full(a.shape, np.nan, a.dtype)
    else:
        values, vectors = np.linalg.eigh(a, UPLO.upper())
    made = (result(values, A._device), fresh(_columns(vectors), A._device))
    if recording(A):
        record_all(_LinalgEighBackward0, A, made, ("eigenvalues", "eigenvectors"), {})
    return return_types.linalg_eigh(made)


def linalg_eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices (..., n, n), from the smallest on. Source: `torch.linalg.eigvalsh`."""
    return linalg_eigh(A, UPLO)[0]


# determinants ---------------------------------------------------------------------------------------------------------------


def _slogdet_backward(grads: tuple, A: Tensor, sign: Tensor) -> Tensor:
    grad = grads[1]
    if grad is None:
        return A.new_zeros(A.shape)
    return linalg_solve(A.mT, _as_diagonal(grad.unsqueeze(-1).expand(A.shape[:-1])))


_LinalgSlogdetBackward0 = node("LinalgSlogdetBackward0", _slogdet_backward, base=MultiNode, also=("LU", "pivots"))


def _signed(A: Tensor, name: str = "linalg.slogdet") -> tuple[Tensor, Tensor]:
    a = _square(name, A)
    lu, pivots = _lu(_turned(A))
    diagonal = np.diagonal(lu, 0, -2, -1)
    flips = (pivots != np.arange(1, a.shape[-1] + 1)).sum(axis=-1)
    with np.errstate(all="ignore"):
        sign = np.asarray(np.sign(diagonal).prod(axis=-1) * np.where(flips % 2, -1, 1), a.dtype)
        size = fresh(np.log(np.abs(diagonal).astype(np.float64)).astype(a.dtype)).sum(-1)._data
    made = (result(sign, A._device), result(size, A._device))
    if recording(A):
        record_all(_LinalgSlogdetBackward0, A, made, ("sign",), {"A": A, **_decomposed(_turned(A), A._device)})
    return made


def linalg_slogdet(A: Tensor) -> Any:
    """The determinant's sign and the logarithm of its absolute value, of square matrices (..., n, n).

    Source: `torch.linalg.slogdet`.
    """
    return return_types.linalg_slogdet(_signed(A))


@op()
def slogdet(input: Tensor) -> Any:
    """The determinant's sign and the logarithm of its absolute value.

    Source: `torch.slogdet`.
    """
    return return_types.slogdet(_signed(input))


@op()
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative.

    Source: `torch.logdet`.
    """
    sign, size = _signed(input, "logdet")
    return input.new_full((), float("nan")).where(sign == -1, size)


# pseudoinverse and rank ---------------------------------------------------------------------------------------------------------


def _pinv_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    p, g = result, grad.mT
    if self.shape[-2] <= self.shape[-1]:
        k = g.matmul(p)
        kp = k.matmul(p.mT)
        return -p.matmul(k).mT + kp - self.matmul(p).matmul(kp) + p.mT.matmul(p).matmul(g - k.matmul(self))
    k = p.matmul(g)
    pk = p.mT.matmul(k)
    return -k.matmul(p).mT + (g - self.matmul(k)).matmul(p).matmul(p.mT) + pk - pk.matmul(p).matmul(self)


_LinalgPinvBackward0 = node("LinalgPinvBackward0", _pinv_backward)


def _tolerance(a: np.ndarray, s: np.ndarray, atol: Any, rtol: Any) -> Any:
    """The size below which a singular value counts as zero."""
    if rtol is None:
        rtol = 0.0 if atol is not None and atol > 0 else max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    largest = s[..., :1] if s.shape[-1] else np.zeros((*s.shape[:-1], 1), s.dtype)
    return np.maximum(a.dtype.type(atol or 0.0), a.dtype.type(rtol) * largest)


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def linalg_pinv(A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """The pseudoinverse of matrices (..., m, n); singular values below a tolerance count as zero.

    Source: `torch.linalg.pinv`.
    """
    a = A._data
    if a.ndim < 2 or a.dtype.kind != "f":
        kind = A.dtype.scalar_name + "{" + str(list(A.shape)) + "}"
        raise RuntimeError(
            f"linalg.pinv({kind}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    _not_half(a, "linalg_svd_cpu")
    if not a.size:
        return fresh(np.empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype), A._device)
    u, s, vh = np.linalg.svd(a, False)
    keep = s > _tolerance(a, s, _number(atol), _number(rtol))
    with np.errstate(all="ignore"):
        inverse = np.where(keep, 1 / s, a.dtype.type(0))
    made = result(np.matmul(vh.swapaxes(-1, -2) * inverse[..., None, :], u.swapaxes(-1, -2)), A._device)
    return record(made, _LinalgPinvBackward0, (A,), self=A) if recording(A) else made


@op(strict=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverse; singular values below `rcond` times the largest count as zero.

    Source: `torch.pinverse`.
    """
    return linalg_pinv(input, atol=0.0, rtol=rcond)


def linalg_matrix_rank(
    A: Tensor, tol: Any = None, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Tensor:
    """How many singular values of matrices (..., m, n) lie above a tolerance: int64. Source: `torch.linalg.matrix_rank`."""
    a = A._data
    if a.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    a = matrices("linalg.svd", A)
    _not_half(a, "linalg_svd_cpu")
    s = np.linalg.svd(a, compute_uv=False)
    if hermitian:
        s = np.sort(np.abs(np.linalg.eigvalsh(a)))[..., ::-1]
    atol, rtol = (_number(tol), 0.0) if tol is not None else (_number(atol), _number(rtol))
    counts = (s > _tolerance(a, s, atol, rtol)).sum(axis=-1)
    return result(np.asarray(counts, np.int64), A._device)


# least squares ---------------------------------------------------------------------------------------------------------------


_LinalgLstsqBackward0 = node(
    "LinalgLstsqBackward0",
    lambda grad, self, b: _pinv_backward(grad.matmul(b.mT), self, linalg_pinv(self)),
    lambda grad, self: linalg_pinv(self).mT.matmul(grad),
    also=("solution",),
)


def linalg_lstsq(input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """X for which |input @ X - b| is least: matrices (..., m, n) and (..., m, k), with the rank of `input`.

    Source: `torch.linalg.lstsq`, whose default driver (gelsy) returns neither residuals nor singular values.
    """
    a = matrices("torch.linalg.lstsq", input)
    y = b._data
    if input.dtype is not b.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                           f"{input.dtype.scalar_name} and other's dtype {b.dtype.scalar_name}")  # fmt: skip
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}"
        )
    if y.ndim < 2 or y.shape[-2] != a.shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    batch = np.broadcast_shapes(a.shape[:-2], y.shape[:-2])
    wide_a, wide_y = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(y, (*batch, *y.shape[-2:]))
    x = np.empty((*batch, a.shape[-1], y.shape[-1]), a.dtype)
    rank = np.empty(batch, np.int64)
    for at in np.ndindex(*batch):
        x[at], _, rank[at], _ = np.linalg.lstsq(wide_a[at], wide_y[at], rcond)
    made = fresh(_columns(x), input._device)
    nothing = [fresh(np.empty(0, a.dtype), input._device) for _ in range(2)]
    if recording(input, b):
        record(made, _LinalgLstsqBackward0, (input, b), self=input, b=b, solution=made)
    return return_types.linalg_lstsq((made, nothing[0], result(rank, input._device), nothing[1]))
