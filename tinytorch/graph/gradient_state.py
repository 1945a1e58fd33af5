"""Gradients that are plain arrays, with what PyTorch would know of the tensors in their place.

PyTorch adds to a gradient in place where nobody else holds it, and makes it the `.grad` of a leaf
without a copy. Programs can observe both, in versions and in shared memory, so backward on arrays
has to remember what a reference count says there. Source: PyTorch's `InputBuffer`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any


class SeenBy(IntEnum):
    """Those who can see a gradient besides the walk.

    A smaller number means less may be done to it.
    """

    SAME_TENSOR = 0  # somebody holds the very tensor: a hook, the caller, another node
    SAME_MEMORY = 1  # somebody holds a tensor over the same memory
    NOBODY = 2


class GradientState:
    """The version that a gradient's tensor would have, and who else can see the gradient.

    `maybe_held_twice`: a formula returned this array more than once, so the walk itself may hold it
    in a second place. Whether it still does is decided when somebody has to know (`settled`).
    """

    __slots__ = ("is_private", "maybe_held_twice", "seen_by", "version")

    def __init__(self, version: int, seen_by: SeenBy, maybe_held_twice: bool = False) -> None:
        self.version = version
        self.seen_by = seen_by
        self.maybe_held_twice = maybe_held_twice
        # Read for each sum of gradients, so it is computed once.
        self.is_private = seen_by is SeenBy.NOBODY and not maybe_held_twice

    def after_write(self) -> GradientState:
        """State after one more write in place."""
        return GradientState(self.version + 1, self.seen_by, self.maybe_held_twice)

    def of_view(self) -> GradientState:
        """State of a view of this gradient, whose base PyTorch keeps alive as long as the view."""
        return GradientState(self.version, SeenBy.SAME_MEMORY)

    def of_base(self) -> GradientState:
        """State of the array under this view, as a tensor that is made for the view alone."""
        return GradientState(self.version, SeenBy.NOBODY)

    def held_by_others(self) -> GradientState:
        """State once somebody else holds the tensor itself."""
        return GradientState(self.version, SeenBy.SAME_TENSOR)

    def over_shared_memory(self) -> GradientState:
        """State once there is another gradient over the same memory."""
        seen_by = min(self.seen_by, SeenBy.SAME_MEMORY)
        return GradientState(self.version, seen_by, self.maybe_held_twice)

    def returned_twice(self) -> GradientState:
        """State of an array that a formula returned for more than one input."""
        return GradientState(self.version, self.seen_by, maybe_held_twice=True)

    def settled(self, is_held_twice: bool) -> GradientState:
        """State once it is known whether the walk holds the gradient in another place, too."""
        return GradientState(self.version, SeenBy.SAME_TENSOR if is_held_twice else self.seen_by)


NEW_GRADIENT = GradientState(0, SeenBy.NOBODY)
HELD_BY_OTHERS = GradientState(0, SeenBy.SAME_TENSOR)


class GradientList(list):
    """Gradients for the outputs (or inputs) of a node, with the state of each; None for none."""

    __slots__ = ("states",)

    def __init__(self, gradients: Iterable[Any], states: list[GradientState]) -> None:
        list.__init__(self, gradients)
        self.states = states

    @classmethod
    def empty(cls, count: int) -> GradientList:
        """Places for so many gradients that have not arrived yet.

        Whoever puts a gradient in sets its state, too, or leaves the one that allows nothing.
        """
        return cls([None] * count, [HELD_BY_OTHERS] * count)

    @classmethod
    def of_new(cls, gradients: list) -> GradientList:
        """Gradients that were just computed, unless they say their states themselves."""
        if isinstance(gradients, cls):
            return gradients
        return cls(gradients, [NEW_GRADIENT] * len(gradients))
