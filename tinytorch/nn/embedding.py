"""Rows of a table by their numbers.

Source: `torch.nn.functional.embedding`, `torch.nn.Embedding`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..graph.modes import no_grad
from ..graph.node import node
from ..ops.core import FUNCTIONS, common_device, expect_tensor, record, recording, result, tensor_type
from ..tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter


def _signed(n: int) -> int:
    return n - (1 << 64) if n >> 63 else n


def _back(grad: Tensor, indices: Tensor, rows: int, padding_idx: int, by_frequency: bool) -> Tensor:
    width = grad.shape[-1]
    index, values = indices.reshape(-1), grad.reshape(-1, width)
    if by_frequency:
        counts = np.bincount(index._data, minlength=rows)[index._data]
        values = values / result(counts.astype(values._data.dtype)[:, None], grad._device)
    if _signed(padding_idx) >= 0:
        values = values.masked_fill((index == padding_idx).unsqueeze(1), 0.0)
    return grad.new_zeros(rows, width).index_add(0, index, values)


_EmbeddingBackward0 = node(
    "EmbeddingBackward0",
    lambda grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq: _back(
        grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq
    ),
    also=("sparse",),
)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of a table by their numbers: input int64 or int32 (...), weight (n, d), output (..., d). IndexError out of range."""
    expect_tensor(input, "embedding", "indices", 2)
    rows = weight._data.shape[0]
    padding = -1
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding = padding_idx % rows
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    if weight._data.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_indices(input, 1, "embedding")
    if input._data.size and not (input._data.min() >= 0 and input._data.max() < rows):
        raise IndexError("index out of range in self")
    common_device("_index_select", weight, input, names=("self", "index"))
    made = result(weight._data[input._data], weight._device)
    if recording(weight):
        record(made, _EmbeddingBackward0, (weight,), indices=input, weight_sym_argsize_0=rows, padding_idx=padding % (1 << 64),
               scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)  # fmt: skip
    return made


def _check_indices(indices: Tensor, position: int, function: str) -> None:
    if indices._data.dtype.kind not in "iu" or indices._data.itemsize < 4:
        got = "CPUBoolType" if indices._data.dtype.kind == "b" else tensor_type(indices)
        raise RuntimeError(
            f"Expected tensor for argument #{position} 'indices' to have one of the following scalar types: Long, Int; but "
            f"got {got} instead (while checking arguments for {function})"
        )


def _renormalise(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Shorten, in place, the rows that are asked for and too long: one write, which is counted even if none is."""
    if weight._data.ndim != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {weight._data.ndim}-dimensional tensor for argument #1 'self' (while "
            "checking arguments for embedding_renorm_)"
        )
    _check_indices(input, 2, "embedding_renorm_")
    with no_grad():
        for i in np.unique(input._data).tolist():
            row = weight.select(0, i)
            if weight._data.dtype.kind != "f":
                kind = weight.dtype.scalar_name
                raise RuntimeError(
                    f"norm(): input dtype should be either floating point or complex. Got {kind} instead."
                )
            norm = float(row.norm(norm_type))
            if norm > max_norm:
                row._data[...] *= max_norm / (norm + 1e-7)
    weight._own_counter().version += 1


class Embedding(Module):
    """Rows of a table, by their numbers: input int64 (...), output (..., embedding_dim).

    The row `padding_idx` starts as zeros and gets no gradient. AssertionError if it is no row.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
                 norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
                 _freeze: bool = False, device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            empty = FUNCTIONS["empty"]((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Fill the table with torch's initial numbers."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """The rows that the indices name, of shape (*input.shape, embedding_dim)."""
        return embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                         self.sparse)  # fmt: skip

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        said = [f"{k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *said])

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, **options: Any
    ) -> Self:
        """An embedding with a given table, trained only if `freeze` is false. AssertionError if it is no matrix."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, width = embeddings.shape
        return cls(rows, width, padding_idx, _weight=embeddings, _freeze=freeze, **options)


__all__ = ["Embedding"]
