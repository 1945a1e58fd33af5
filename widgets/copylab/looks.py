"""Look at a learner's objects without changing them: for the checks of exercises.

    from copylab.looks import grad, is_tensor, same_storage, values
    def check(x, t):
        if not same_storage(x, t):
            return "t has a storage of its own."

They work on the tensors of tinytorch and of torch, warn of nothing, and raise nothing for objects
that are not tensors.
"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import Any

from tinytorch.viz import getattr_or_none, is_tensor, snapshot

__all__ = [
    "grad",
    "is_tensor",
    "keeps_saved",
    "node_of",
    "same_counter",
    "same_storage",
    "values",
]


def same_storage(a: Any, b: Any) -> bool:
    """Return True if two tensors are views of one storage; False for what is not a tensor."""
    if not (is_tensor(a) and is_tensor(b)):
        return False
    return snapshot(a=a, b=b).shares_storage("a", "b")


def same_counter(a: Any, b: Any) -> bool:
    """Return True if two tensors share a version counter; False for what is not a tensor."""
    if not (is_tensor(a) and is_tensor(b)):
        return False
    return snapshot(a=a, b=b).shares_counter("a", "b")


def values(tensor: Any) -> Any:
    """Return the values of a tensor as (nested) lists or a number; anything else as it is."""
    return tensor.tolist() if is_tensor(tensor) else tensor


def grad(tensor: Any) -> Any:
    """Return the values of `tensor.grad`, or None. PyTorch's warning for results is silenced."""
    with warnings.catch_warnings(action="ignore"):
        return values(getattr_or_none(tensor, "grad"))


def node_of(tensor: Any) -> str | None:
    """Return the name of a tensor's node, None if it has none."""
    if not is_tensor(tensor):
        return None
    # Not `tensor.grad_fn`: torch would make the history of a view anew.
    return snapshot(tensor=tensor, values=False).tensor("tensor").grad_fn_name


def keeps_saved(tensor: Any) -> bool:
    """Return True if a node behind a tensor still has what it saved: no backward has freed it."""
    if not is_tensor(tensor):
        return False
    # A snapshot knows more than `_saved_` attributes do: reading these raises for what was freed.
    nodes = snapshot(tensor=tensor, values=False).nodes
    saved_by_nodes = chain.from_iterable(node.saved for node in nodes)
    return any(saved.state == "live" for saved in saved_by_nodes)
