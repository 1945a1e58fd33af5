"""The names of nodes, as PyTorch prints them."""

from __future__ import annotations

from typing import Any


def name_of_node(node: Any) -> str:
    """Return the name of a node, of either engine, such as `MulBackward0`.

    By the method of the class: the node of a custom Function is its `ctx`, on which a user may have
    set another `name`.
    """
    return type(node).name(node)


def short_name(name: str) -> str:
    """Return a node's name without its suffix, as torch's in-place errors have it (`Mul`)."""
    head, suffix, number = name.rpartition("Backward")
    is_numbered = suffix and not number.strip("0123456789")
    return head + number.removeprefix("0") if is_numbered else name
