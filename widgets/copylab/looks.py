"""Looking at a learner's objects without changing them: what the checks of exercises are written with.

    from copylab.looks import grad, is_tensor, same_storage, values
    def check(x, t):
        if not same_storage(x, t):
            return "t has a storage of its own."

They work on the tensors of tinytorch and of torch, warn of nothing, and raise nothing for objects that are no tensors.
"""

from __future__ import annotations

import warnings
from typing import Any

from tinytorch.viz import getattr_or_none, is_tensor, snapshot

__all__ = ["grad", "is_tensor", "node_of", "same_counter", "same_storage", "values"]


def same_storage(a: Any, b: Any) -> bool:
    """Say whether two tensors look at one storage."""
    seen = snapshot(a=a, b=b) if is_tensor(a) and is_tensor(b) else None
    return seen is not None and seen.tensor("a").storage == seen.tensor("b").storage


def same_counter(a: Any, b: Any) -> bool:
    """Say whether two tensors share a version counter."""
    seen = snapshot(a=a, b=b) if is_tensor(a) and is_tensor(b) else None
    return seen is not None and seen.tensor("a").counter == seen.tensor("b").counter


def values(tensor: Any) -> Any:
    """Return the values of a tensor as (nested) lists or a number; anything else as it is."""
    return tensor.tolist() if is_tensor(tensor) else tensor


def grad(tensor: Any) -> Any:
    """Return the values of `tensor.grad`, None if there is none; without the warning that torch has for results."""
    with warnings.catch_warnings(action="ignore"):
        return values(getattr_or_none(tensor, "grad"))


def node_of(tensor: Any) -> str | None:
    """Return the name of a tensor's node, None if it has none."""
    node = getattr_or_none(tensor, "grad_fn")
    return None if node is None else str(node.name())
