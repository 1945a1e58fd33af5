"""Facts about tensors of a snapshot: each says if it holds, and the sentence that proves it.

    snap = snapshot(x=x, y=y)
    fact = shares_storage(snap, "x", "y")
    fact.holds, fact.sentence        # True, "`x` and `y` look at one storage."

A question is answered by `holds` and explained by `sentence`, so that the two cannot disagree.
Everything is read off the snapshot; nothing is run. KeyError for a name that no tensor has.
"""

from __future__ import annotations

from typing import NamedTuple

from tinytorch.viz import Snapshot, labels

from .wording import gettext, gettext_noop

__all__ = [
    "TensorFact",
    "has_node",
    "is_leaf",
    "is_same_tensor",
    "requires_grad",
    "shares_counter",
    "shares_storage",
]


class TensorFact(NamedTuple):
    """The answer to a yes-or-no question about tensors, and the sentence that proves it."""

    holds: bool
    sentence: str


def is_same_tensor(snapshot: Snapshot, a: str, b: str) -> TensorFact:
    """`a` and `b` are two names of one tensor object."""
    holds = snapshot.is_same_tensor(a, b)
    if holds:
        return TensorFact(
            holds, gettext("`{b} is {a}` gives True: they are one tensor with two names.", a=a, b=b)
        )
    return TensorFact(holds, gettext("`{b} is {a}` gives False: they are two tensors.", a=a, b=b))


def shares_storage(snapshot: Snapshot, a: str, b: str) -> TensorFact:
    """`a` and `b` are views of one storage."""
    holds = snapshot.shares_storage(a, b)
    if not holds:
        message = gettext_noop("`{a}` and `{b}` have a storage each.")
    elif snapshot.is_same_tensor(a, b):
        message = gettext_noop("`{b} is {a}` gives True: they are one tensor, so one storage.")
    else:
        message = gettext_noop("`{a}` and `{b}` look at one storage.")
    return TensorFact(holds, gettext(message, a=a, b=b))


def shares_counter(snapshot: Snapshot, a: str, b: str) -> TensorFact:
    """`a` and `b` have one version counter."""
    holds = snapshot.shares_counter(a, b)
    if holds:
        message = gettext_noop("One version counter counts for `{a}` and `{b}`.")
    elif snapshot.shares_storage(a, b):
        # Views made by `.data` or NumPy: this is how a write escapes autograd.
        message = gettext_noop(
            "`{a}` and `{b}` have a version counter each, although they look at one storage."
        )
    else:
        message = gettext_noop("`{a}` and `{b}` have a version counter each.")
    return TensorFact(holds, gettext(message, a=a, b=b))


def has_node(snapshot: Snapshot, name: str) -> TensorFact:
    """A recorded operation made the tensor: its `grad_fn` is not None.

    ValueError where reading that raises, as in PyTorch.
    """
    tensor = snapshot.tensor(name)
    if tensor.is_leaf is None:
        raise ValueError(
            f"{name}.grad_fn and {name}.is_leaf raise an error: {name} is a view that was made in "
            "no_grad mode, and its base has been written to since"
        )
    if tensor.grad_fn_name is None:
        message = gettext("`{y}.grad_fn` is None: no recorded operation made `{y}`.", y=name)
        return TensorFact(False, message)
    message = gettext(
        "`{y}.grad_fn` is {node}: `{y}` was computed, and that was recorded.",
        y=name,
        node=labels.short_node_name(tensor.grad_fn_name),
    )
    return TensorFact(True, message)


def is_leaf(snapshot: Snapshot, name: str) -> TensorFact:
    """The tensor is a leaf: it has no node.

    ValueError as for `has_node`.
    """
    fact = has_node(snapshot, name)
    return TensorFact(not fact.holds, conclude_leaf(name, is_leaf=not fact.holds))


def conclude_leaf(name: str, *, is_leaf: bool) -> str:
    """Say what follows from the node of a tensor, or from its having none, with the reason in it."""
    if is_leaf:
        return gettext("`{y}` has no node: it is a leaf.", y=name)
    return gettext("`{y}` has a node: it is not a leaf.", y=name)


def requires_grad(snapshot: Snapshot, name: str) -> TensorFact:
    """The tensor requires grad, asked for or inherited."""
    tensor = snapshot.tensor(name)
    if not tensor.requires_grad:
        message = gettext(
            "`{y}.requires_grad` is False: neither asked for nor inherited.",
            y=name,
        )
        return TensorFact(False, message)
    if tensor.is_leaf:
        return TensorFact(
            True, gettext("`{y}.requires_grad` is True: the program asked for it.", y=name)
        )
    if tensor.is_leaf is None:
        # PyTorch answers this question, and refuses to name the node.
        return TensorFact(True, gettext("`{y}.requires_grad` is True, inherited.", y=name))
    message = gettext(
        "`{y}.requires_grad` is True, inherited: its node is {node}.",
        y=name,
        node=labels.short_node_name(tensor.grad_fn_name or ""),
    )
    return TensorFact(True, message)
