"""The tensors that one reading has found, each with its position, by identity and as a view.

Positions are numbers from 0 in the order of first sight. Ids (T1, T2) come later: which tensors
keep the id of an earlier snapshot is known once all are found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .blocks import make_lasting, view_key_of
from .identity import identity_key
from .probe import leaf_of_accumulator


@dataclass(slots=True)
class FoundTensor:
    """A tensor, and what was read of its history."""

    tensor: Any
    role: str
    """As in `TensorRecord`: how it was found first."""
    names: list[str] = field(default_factory=list)
    """All that the caller calls it."""
    is_leaf: bool | None = None
    """None where the engine refuses to answer."""
    grad_fn: Any = None
    """The node itself; None for a leaf."""
    view_key: Any = None
    """See `view_key_of`."""
    grad_position: int | None = None
    """The position of its .grad."""
    notes: tuple[str, ...] = ()
    """What reading its history brought up."""

    @property
    def key(self) -> Any:
        """The key by which two snapshots recognise the tensor."""
        # torch hands out a new object each time a saved result is read: only its view of memory
        # is the same.
        if self.role == "saved":
            return ("saved", *make_lasting(self.view_key, self.tensor))
        return identity_key(self.tensor)


class FoundTensors:
    """All tensors found so far. Lives for one snapshot, and refers to them as long."""

    def __init__(self) -> None:
        self.entries: list[FoundTensor] = []
        self._position_by_object: dict[int, int] = {}
        self._positions_by_view_key: dict[Any, list[int]] = {}
        self._position_by_node: dict[tuple[Any, int], int] = {}
        """The first of equal views that a node (by identity) made: thousands of views and
        `.data` may be equal, and each saved tensor among them is looked for."""

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, position: int) -> FoundTensor:
        return self.entries[position]

    def add(self, tensor: Any, role: str, view_key: Any = None) -> int:
        """Return the position of a tensor, which is a new one if it was not found before.

        view_key: its `view_key_of`, where that was asked for already.
        """
        position = self._position_by_object.get(id(tensor))
        if position is None:
            position = len(self.entries)
            self._position_by_object[id(tensor)] = position
            if view_key is None:
                view_key = view_key_of(tensor)
            self.entries.append(FoundTensor(tensor, role, view_key=view_key))
            self._positions_by_view_key.setdefault(view_key, []).append(position)
        elif role == "leaf" and self.entries[position].role == "saved":
            # A leaf is an object that lasts, even if a node that saved it led to it first.
            self.entries[position].role = role
        return position

    def position_of(self, tensor: Any) -> int | None:
        """Return the position of this very object; None if it was not found."""
        return self._position_by_object.get(id(tensor))

    def set_history(self, found: FoundTensor, is_leaf: bool, grad_fn: Any) -> None:
        """Store what was read of the history of a found tensor."""
        found.is_leaf, found.grad_fn = is_leaf, grad_fn
        if grad_fn is not None:
            position = self._position_by_object[id(found.tensor)]
            self._position_by_node.setdefault((found.view_key, id(grad_fn)), position)

    def position_of_result(self, view_key: Any, node: Any) -> int | None:
        """Return the position of the view that a node made, or of the leaf whose .grad it adds to.

        None if there is none, or its history was not read yet.
        """
        position = self._position_by_node.get((view_key, id(node)))
        variable = leaf_of_accumulator(node)
        # An AccumulateGrad made no tensor: what belongs to it is its leaf.
        if position is None and variable is not None:
            position = self.position_of(variable)
            # A tensor over other bytes is no alias of the leaf.
            if position is not None and self.entries[position].view_key != view_key:
                return None
        return position

    def positions_of_same_view(self, view_key: Any) -> list[int]:
        """Return the positions of tensors with the same geometry over the same bytes."""
        return self._positions_by_view_key.get(view_key, [])
