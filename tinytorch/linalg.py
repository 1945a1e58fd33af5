"""Norms of vectors under the names they have in `torch.linalg`."""

from typing import Any

from .errors import missing
from .ops.define import FUNCTIONS

vector_norm = FUNCTIONS["linalg_vector_norm"]


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None) -> Any:
    """A vector's norm, or that of all elements of a tensor: of order 2 unless said otherwise."""
    dims = dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)
    if ord not in (None, "fro") and (len(dims) if dims else A.dim()) == 2:
        raise missing("module 'torch.linalg' has no attribute '{}'", "matrix_norm")
    return vector_norm(A, 2.0 if ord in (None, "fro") else ord, dims, keepdim, dtype=dtype, out=out)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.linalg' has no attribute '{}'", name)
