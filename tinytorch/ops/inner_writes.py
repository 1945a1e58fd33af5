"""How often a fresh result was written to before anybody has it, as its version counter tells.

PyTorch makes many results empty and fills them by an operation in place. Its counter sees this
write only where nothing of the call is autograd's matter: all operands are inference tensors, and
inference mode is off. So `x.sum()._version` is 1 for such an `x`, and 0 for any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import wrap_dims
from .define import OPS


def _count_of_flip(a: np.ndarray, dims: tuple) -> int:
    # Where nothing changes its place, the result is a clone.
    turned = wrap_dims(dims, a.ndim) if dims else ()
    return int(not a.size or all(a.shape[d] < 2 for d in turned))


def _count_of_rotation(a: np.ndarray, k: int, dims: tuple) -> int:
    turns = k % 4
    if turns == 2:
        return _count_of_flip(a, dims)
    flipped = dims[1:] if turns == 1 else dims[:1]
    return 1 if not turns else 1 + _count_of_flip(a, flipped)


def _count_of_spread(a: np.ndarray, dim: tuple | None = None, *rest: Any) -> int:
    # One number for all is filled in.
    kept = set(range(a.ndim)) - set(wrap_dims(dim, a.ndim) if dim else range(a.ndim))
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


# By operation: a number, or a function of what the kernel gets. What is not here and is no more than
# a copy is written once; all else is written to without being counted.
_INNER_WRITES: dict[str, int | Callable[..., int]] = {
    **dict.fromkeys(("sum", "prod", "all", "any", "logsumexp", "sort", "nonzero", "abs"), 1),
    **dict.fromkeys(("logical_not", "logical_and", "logical_or", "logical_xor"), 1),
    **dict.fromkeys(("mean", "diag_embed"), 2),
    **dict.fromkeys(("select_scatter", "slice_scatter", "diagonal_scatter"), 2),
    **dict.fromkeys(("max", "min"), _count_of_extreme),
    **dict.fromkeys(("std", "var"), _count_of_spread),
    **dict.fromkeys(("cumsum", "cumprod"), _count_of_running),
    "block_diag": lambda tensors: 1 + len(tensors),
    "flip": _count_of_flip,
    "pow": _count_of_power,
    "repeat": lambda a, repeats: int(0 not in repeats),
    "roll": lambda a, shifts, dims: int(not a.size and len(dims) < 2),
    "rot90": _count_of_rotation,
    "topk": lambda a, *how: int(not a.ndim),
    "view_copy": _count_of_shaped_copy,
}


def note_inner_writes() -> None:
    """Tell each operation of its inner writes, once all lists of operations are there."""
    for declared in OPS:
        declared.inner_writes = _INNER_WRITES.get(declared.name, int(declared.kernel.is_copy))
