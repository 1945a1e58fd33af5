"""The tensors that one reading has found, each with its position, by identity and by address.

Positions are numbers from 0 in the order of first sight. Ids (T1, T2) come later: which tensors
keep the id of an earlier snapshot is known once all are found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .blocks import address_of, lasting_address
from .identity import identity_key


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
    grad_position: int | None = None
    """The position of its .grad."""
    notes: tuple[str, ...] = ()
    """What reading its history brought up."""

    @property
    def key(self) -> Any:
        """The key by which two snapshots recognise the tensor."""
        # torch hands out a new object each time a saved result is read: only its place in memory
        # is the same.
        if self.role == "saved":
            return ("saved", *lasting_address(self.tensor))
        return identity_key(self.tensor)


class FoundTensors:
    """All tensors found so far. Lives for one snapshot, and refers to them as long."""

    def __init__(self) -> None:
        self.entries: list[FoundTensor] = []
        self._position_by_object: dict[int, int] = {}
        self._positions_by_address: dict[Any, list[int]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, position: int) -> FoundTensor:
        return self.entries[position]

    def add(self, tensor: Any, role: str) -> int:
        """Return the position of a tensor, which is a new one if it was not found before."""
        position = self.position_of(tensor)
        if position is None:
            position = len(self.entries)
            self._position_by_object[id(tensor)] = position
            self.entries.append(FoundTensor(tensor, role))
            self._positions_by_address.setdefault(address_of(tensor), []).append(position)
        elif role == "leaf" and self.entries[position].role == "saved":
            # A leaf is an object that lasts, even if a node that saved it led to it first.
            self.entries[position].role = role
        return position

    def position_of(self, tensor: Any) -> int | None:
        """Return the position of this very object; None if it was not found."""
        return self._position_by_object.get(id(tensor))

    def positions_at_address_of(self, tensor: Any) -> list[int]:
        """Return the positions of tensors with the same geometry over the same bytes."""
        return self._positions_by_address.get(address_of(tensor), [])
