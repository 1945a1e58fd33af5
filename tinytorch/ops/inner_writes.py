"""How often a fresh result was written to before anybody has it, as its version counter tells.

PyTorch makes many results empty and fills them by an operation in place. Its counter sees this
write only where nothing of the call is autograd's matter: all operands are inference tensors, and
inference mode is off. So `x.sum()._version` is 1 for such an `x`, and 0 for any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import wrap_dims, wrap_given_dims
from .kernels import result_dtype
from .operation import INNER_WRITES


def _count_of_flip(a: np.ndarray, dims: tuple) -> int:
    # Where nothing changes its place, the result is a clone.
    turned = wrap_given_dims(dims, a.ndim)
    return int(not a.size or all(a.shape[d] < 2 for d in turned))


def _count_of_rotation(a: np.ndarray, k: int, dims: tuple) -> int:
    turns = k % 4
    if not turns:
        return 1
    if turns == 2:
        return _count_of_flip(a, dims)
    return 1 + _count_of_flip(a, dims[1:] if turns == 1 else dims[:1])


def _count_of_spread(a: np.ndarray, dim: tuple | None = None, *rest: Any) -> int:
    # One number for all is filled in.
    kept = set(range(a.ndim)) - set(wrap_dims(dim, a.ndim))
    return int(not a.size or all(a.shape[d] == 1 for d in kept))


def _count_of_running(a: np.ndarray, *rest: Any) -> int:
    return int(not a.size or not a.ndim)


def _count_of_extreme(a: np.ndarray, dim: Any = None, keepdim: bool = False) -> int:
    if dim is None or not a.ndim:
        return 1
    # The dimension is dropped from both results, if they have any element.
    return 2 if a.size and not keepdim else 0


def _count_of_power(base: Any, exponent: Any) -> int:
    # Ones are filled in, and the base itself is copied.
    is_plain = not isinstance(exponent, np.ndarray) and exponent in (0, 1)
    return int(is_plain or not isinstance(base, np.ndarray))


def _count_of_shaped_copy(a: np.ndarray, size: Any) -> int:
    # Bytes as another dtype are copied by a write that is not counted, and so is what has no such view.
    if not isinstance(size, tuple):
        return 0
    return int(not a.size or np.may_share_memory(a, a.reshape(size)))


def _count_of_rounding(a: np.ndarray, *rest: Any) -> int:
    # Of whole numbers it is a copy.
    return int(a.dtype.kind != "f")


def _count_of_norm(a: np.ndarray, ord: Any, dim: tuple | None, *rest: Any) -> int:
    # Where no two elements meet, their sizes are copied.
    met = wrap_dims(dim, a.ndim)
    return int(not a.size or all(a.shape[d] == 1 for d in met))


def _count_of_place(a: np.ndarray, dim: int | None, *rest: Any) -> int:
    # Zeros are filled in where there is nothing to compare.
    return int(dim is not None and a.ndim > 0 and a.shape[dim] == 1)


def _count_of_clamp(a: np.ndarray, *bounds: Any) -> int:
    # A bound that is no number is filled in; != tells it from all others.
    return int(any(not isinstance(x, np.ndarray) and x != x for x in bounds))


def _count_of_joining(tensors: list, *rest: Any) -> int:
    # What is of another dtype is copied into its place; vectors of no element are left out.
    joined = result_dtype(*tensors).np
    return sum(a.dtype != joined for a in tensors if a.shape != (0,))


def _count_of_product(a: np.ndarray, b: np.ndarray) -> int:
    # Of no terms it is filled with zeros.
    return int(not a.shape[-1] and a.shape[-2] * b.shape[-1] > 0 and a.shape[0] > 0)


def _count_of_added_product(
    self: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: Any, alpha: Any
) -> int:
    if not mat1.shape[0] * mat2.shape[1]:
        return 0
    return int(beta != 0) + _count_of_product(mat1, mat2)


def _count_of_reducing(
    a: np.ndarray,
    dim: int,
    index: np.ndarray,
    source: np.ndarray,
    reduce: str,
    include_self: bool,
) -> int:
    # The neutral value is filled in, and the mean is divided.
    return int(not include_self and index.size > 0) + int(reduce == "mean")


def _count_of_squares(a: np.ndarray, b: np.ndarray, reduction: int) -> int:
    if not reduction:
        return 0
    return 2 if a.ndim or b.ndim else 1


# By operation: a number, or a function of what the kernel gets. What is not here and is no more than
# a copy is written once; all else is written to without being counted.
_COUNTS: dict[str, int | Callable[..., int]] = {
    **dict.fromkeys(("sum", "prod", "all", "any", "logsumexp", "sort", "nonzero", "abs"), 1),
    **dict.fromkeys(("logical_not", "logical_and", "logical_or", "logical_xor"), 1),
    **dict.fromkeys(("mean", "diag_embed"), 2),
    **dict.fromkeys(("select_scatter", "slice_scatter", "diagonal_scatter"), 2),
    **dict.fromkeys(("dot", "mv", "index_add", "index_copy", "scatter", "scatter_add"), 1),
    # A clone, and the write in place.
    **dict.fromkeys(("index_fill", "index_put", "masked_fill", "masked_scatter", "put"), 2),
    "as_strided_scatter": 2,
    **dict.fromkeys(("max", "min"), _count_of_extreme),
    **dict.fromkeys(("argmax", "argmin"), _count_of_place),
    **dict.fromkeys(("round", "floor", "ceil", "trunc", "isfinite", "isinf"), _count_of_rounding),
    **dict.fromkeys(("mm", "bmm"), _count_of_product),
    **dict.fromkeys(("std", "var"), _count_of_spread),
    **dict.fromkeys(("cumsum", "cumprod"), _count_of_running),
    "addmm": _count_of_added_product,
    # zeros, where nothing is added
    "addmv": lambda self, mat, vec, beta, alpha: int(not (mat.size or beta)),
    "binary_cross_entropy_with_logits": lambda x, y, w, p, reduction: 0 if reduction else 4,
    "block_diag": lambda tensors: 1 + len(tensors),
    **dict.fromkeys(("cat", "stack"), _count_of_joining),
    **dict.fromkeys(("clamp", "clamp_max", "clamp_min"), _count_of_clamp),
    "flip": _count_of_flip,
    "index_reduce": lambda *how: 1 + _count_of_reducing(*how),
    "linalg_vector_norm": _count_of_norm,
    "mse_loss": _count_of_squares,
    "pow": _count_of_power,
    "repeat": lambda a, repeats: int(0 not in repeats),
    "roll": lambda a, shifts, dims: int(not a.size and len(dims) < 2),
    "rot90": _count_of_rotation,
    "scatter_reduce": lambda *how: 2 + _count_of_reducing(*how),
    "topk": lambda a, *how: int(not a.ndim),
    "view_copy": _count_of_shaped_copy,
}


def note_inner_writes() -> None:
    """Tell all operations of their inner writes."""
    INNER_WRITES.update(_COUNTS)
