"""Diagonals as copies: matrices made from them and taken from matrices, and a diagonal filled in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node
from ..sizes import wrap_dim
from ..tensor import Tensor
from .core import op, record, recording, result, takes_out
from .memory import fill_
from .selecting import _diagonal_backward, diagonal
from .views import as_strided

_DiagEmbedBackward0 = node("DiagEmbedBackward0", lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))
_DiagonalCopy = node(
    "DiagonalBackward0_copy",
    lambda grad, self_sym_sizes, offset, dim1, dim2: _diagonal_backward(grad, self_sym_sizes, offset, dim1, dim2),
)


@op()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices that have the last dimension on a diagonal and zeros elsewhere. RuntimeError for one dimension twice.

    Source: `torch.diag_embed`.
    """
    a = input._data
    d1, d2 = wrap_dim(dim1, a.ndim + 1), wrap_dim(dim2, a.ndim + 1)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = a.shape[-1] + abs(offset)
    shape = list(a.shape[:-1])
    for d in sorted((d1, d2)):
        shape.insert(d, n)
    data = np.zeros(shape, a.dtype)
    np.einsum(
        "...ii->...i", _moved(data, d1, d2)[..., max(-offset, 0) :, max(offset, 0) :][..., : a.shape[-1], : a.shape[-1]]
    )[...] = a
    made = result(data, input._device)
    return (
        record(made, _DiagEmbedBackward0, (input,), offset=offset, dim1=dim1, dim2=dim2) if recording(input) else made
    )


def _moved(data: np.ndarray, d1: int, d2: int) -> np.ndarray:
    return np.moveaxis(data, (d1, d2), (-2, -1))


@op()
@takes_out("diag")
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with this vector on a diagonal, or a copy of a matrix's diagonal. RuntimeError for other dimensions.

    Source: `torch.diag`.
    """
    a = input._data
    if a.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {a.ndim}D")
    if a.ndim == 1:
        return diag_embed(input, diagonal)
    made = result(np.diagonal(a, diagonal).copy(), input._device)
    if not recording(input):
        return made
    return record(made, _DiagonalCopy, (input,), self_sym_sizes=a.shape, offset=diagonal, dim1=0, dim2=1)


@op()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal.

    Source: `torch.diagflat`.
    """
    return diag_embed(input.contiguous().view(-1), offset)


@op("fill_diagonal_", function=False)
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one value onto the main diagonal; with `wrap`, start again below a tall matrix's end.

    RuntimeError for less than two dimensions, or more of them with different sizes. Source: `torch.Tensor.fill_diagonal_`.
    """
    shape = self._data.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n, step = min(shape), sum(self.stride())
    fill_(as_strided(self, (n,), (step,), self.storage_offset()), fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        width = shape[1] + 1
        rest = -(-self.numel() // width) - n
        fill_(as_strided(self, (rest,), (step,), self.storage_offset() + self.stride(0) * width), fill_value)
    return self
