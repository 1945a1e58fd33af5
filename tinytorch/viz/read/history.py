"""The history of a tensor, read without changing it.

torch makes the history of a view anew where its base was written since, and it does so when
`grad_fn` or `is_leaf` is read. After that the view keeps the history even if its base loses its own
(`base.detach_()`): a program that looks gets a gradient where one that does not gets none. So the
history that torch would make is made for a twin of such a view, which is thrown away.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from .probe import engine_name, getattr_or_none, is_tensor


class History(NamedTuple):
    """`is_leaf` and `grad_fn` of a tensor; `is_of_twin` if the tensor itself has another node yet."""

    is_leaf: bool
    grad_fn: Any
    is_of_twin: bool


def read_history(tensor: Any) -> History:
    """Return `is_leaf` and `grad_fn` of a tensor, as reading them would give them.

    Raises what reading them raises: RuntimeError for a view made in no_grad mode whose base was
    written since.
    """
    base = getattr_or_none(tensor, "_base")
    if base is None or not _has_outdated_history(tensor):
        return History(bool(tensor.is_leaf), tensor.grad_fn, False)
    with sys.modules[engine_name(tensor)].enable_grad():
        twin = tensor._view_func(base)
    return History(bool(twin.is_leaf), twin.grad_fn, True)


def grad_fn_or_none(tensor: Any) -> Any:
    """Return the `grad_fn` of a tensor; None without one, and where reading it raises."""
    try:
        return read_history(tensor).grad_fn
    except Exception:  # noqa: BLE001 - its history is invalid, or a subclass refuses
        return None


def grad_or_none(tensor: Any) -> Any:
    """Return the `.grad` of a leaf, or of a result that retains it; None for all others.

    torch warns where that of another result is read.
    """
    if grad_fn_or_none(tensor) is None or getattr_or_none(tensor, "retains_grad"):
        grad = getattr_or_none(tensor, "grad")
        return grad if is_tensor(grad) else None
    return None


def _has_outdated_history(view: Any) -> bool:
    """Return True if reading the history of a view would make it anew.

    torch has no question for that. It refuses to make anew the history of a view that was created
    in no_grad mode: so the view is called one for the length of the question.
    """
    autograd = sys.modules[engine_name(view)]._C._autograd
    created = autograd._get_creation_meta(view)
    if created != autograd.CreationMeta.DEFAULT:
        return False  # reading it changes nothing or raises
    autograd._set_creation_meta(view, autograd.CreationMeta.NO_GRAD_MODE)
    try:
        view.grad_fn  # noqa: B018 - reading is the question
    except RuntimeError:
        return True
    finally:
        autograd._set_creation_meta(view, created)
    return False
