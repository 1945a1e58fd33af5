"""Gradients that are plain arrays, with what PyTorch would know of the tensors in their place.

PyTorch adds to a gradient in place where nobody else holds it, and makes it the `.grad` of a leaf
without a copy. Programs can observe both, in versions and in shared memory, so backward on arrays
has to remember what a reference count says there. Source: PyTorch's `InputBuffer`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..base import memory_owner


class SeenBy(IntEnum):
    """Those who can see a gradient besides the walk.

    A smaller number means less may be done to it.
    """

    SAME_TENSOR = 0  # somebody holds the very tensor: a hook, the caller, another node
    SAME_MEMORY = 1  # somebody holds a tensor over the same memory
    NOBODY = 2


class GradientState:
    """The version that a gradient's tensor would have, and who else can see the gradient.

    `find_state` finds the state of each gradient that a node computed. From there it goes along with
    the gradient, and `add_gradients` and `accumulate_into_leaf` ask it what may be done in place.

    All of it answers one question: who else holds this array? Somebody outside of the walk (`seen_by`),
    or the walk itself, in a second place.

    `may_be_held_twice`: a formula returned this array for two inputs or more, so the walk may hold it
    in a second place: then `seen_by` would have to be SAME_TENSOR. It is settled late, where somebody
    has to know (`GraphTask._settle_state`, by `settle`), as by then the array in the second place may
    have been replaced by a sum.

    `is_held_once`: nobody else holds the array, and nobody may. `is_memory_held_once`: nobody else holds an
    array or a tensor over its memory; of a view, PyTorch's tensor over the base, which the view keeps,
    does not count.
    """

    __slots__ = ("is_held_once", "is_memory_held_once", "may_be_held_twice", "seen_by", "version")

    def __init__(self, version: int, seen_by: SeenBy, may_be_held_twice: bool = False) -> None:
        self.version = version
        self.seen_by = seen_by
        self.may_be_held_twice = may_be_held_twice
        # Read for each sum of gradients, so it is computed once.
        self.is_held_once = seen_by is SeenBy.NOBODY and not may_be_held_twice
        self.is_memory_held_once = self.is_held_once

    def after_write(self) -> GradientState:
        """State after one more write in place."""
        return GradientState(self.version + 1, self.seen_by, self.may_be_held_twice)

    def of_view(self) -> GradientState:
        """State of a view of this gradient, whose base PyTorch keeps alive as long as the view."""
        return GradientState(self.version, SeenBy.SAME_MEMORY)

    def of_only_view(self) -> GradientState:
        """State of a view of this gradient that goes on in its place: nothing else is made of that."""
        state = self.of_view()
        state.is_memory_held_once = self.is_memory_held_once
        return state

    def of_base(self) -> GradientState:
        """State of the array under this view.

        PyTorch has a tensor over that; here one is made (`_view_over` in `autograd/gradient_tensors.py`) when the view is shown to a
        hook, and nobody but the view holds it.
        """
        return GradientState(self.version, SeenBy.NOBODY)

    def held_by_others(self) -> GradientState:
        """State once somebody else holds the tensor itself."""
        return GradientState(self.version, SeenBy.SAME_TENSOR)

    def over_shared_memory(self) -> GradientState:
        """State once there is another gradient over the same memory."""
        seen_by = min(self.seen_by, SeenBy.SAME_MEMORY)
        return GradientState(self.version, seen_by, self.may_be_held_twice)

    def perhaps_held_twice(self) -> GradientState:
        """State of an array that a formula returned for more than one input."""
        return GradientState(self.version, self.seen_by, may_be_held_twice=True)

    def settle(self, is_held_twice: bool) -> GradientState:
        """State once it is known whether the array is held in another place, too."""
        return GradientState(self.version, SeenBy.SAME_TENSOR if is_held_twice else self.seen_by)


NEW_GRADIENT = GradientState(0, SeenBy.NOBODY)
ONLY_VIEW = NEW_GRADIENT.of_only_view()
HELD_BY_OTHERS = GradientState(0, SeenBy.SAME_TENSOR)

# the writes of formulas ---------------------------------------------------------------------------


class FormulaWrites(NamedTuple):
    """How often formulas wrote in place to one memory, on its way to become a gradient."""

    count: int
    first_target: weakref.ref  # to the array through which it was written to first
    memory: weakref.ref  # to the array that owns it, kept for its callback


FORMULA_WRITES: dict[int, FormulaWrites] = {}
"""By `id` of the array that owns the memory, until that is gone or its state is asked for."""


def note_formula_write(target: np.ndarray) -> None:
    """Note that a formula wrote to an array in place.

    A tensor in its place would have a version for hooks and `.grad` to show. The array has none, so
    its writes are counted here until it is sent along an edge.
    """
    owner = memory_owner(target)
    key = id(owner)
    writes = FORMULA_WRITES.get(key)
    if writes is None:
        # The entry goes with its array: a factor, say, never becomes a gradient that is sent along
        # an edge, and its id is used again.
        memory = weakref.ref(owner, lambda _: FORMULA_WRITES.pop(key, None))
        FORMULA_WRITES[key] = FormulaWrites(1, weakref.ref(target), memory)
    else:
        FORMULA_WRITES[key] = writes._replace(count=writes.count + 1)


def move_formula_writes(before: np.ndarray, after: np.ndarray) -> None:
    """Count the writes into one array as those into another one: its copy with other strides."""
    writes = FORMULA_WRITES.pop(id(memory_owner(before)), None)
    if writes is not None and writes.first_target() is before:
        note_formula_write(after)
        key = id(memory_owner(after))
        FORMULA_WRITES[key] = FORMULA_WRITES[key]._replace(count=writes.count)


def state_of_new(gradient: np.ndarray) -> GradientState:
    """Return the state of an array that a formula made: its version are the formula's writes."""
    if not FORMULA_WRITES:
        return NEW_GRADIENT
    writes = FORMULA_WRITES.pop(id(memory_owner(gradient)), None)
    if writes is None:
        return NEW_GRADIENT
    state = GradientState(writes.count, SeenBy.NOBODY)
    # Another array over that memory is a view of it in PyTorch, too.
    return state if writes.first_target() is gradient else state.of_view()


# several gradients --------------------------------------------------------------------------------


class GradientList(list):
    """Gradients for the outputs (or inputs) of a node, with the state of each; None for none.

    The state of an input's gradient may be None, too: `find_state` finds it when it is sent on.
    """

    __slots__ = ("states",)

    states: list[Any]

    @classmethod
    def of(cls, gradients: Iterable[Any], states: list[Any]) -> GradientList:
        """These gradients, with these states."""
        made = cls(gradients)
        made.states = states
        return made

    @classmethod
    def empty(cls, count: int) -> GradientList:
        """Places for so many gradients that have not arrived yet.

        Whoever puts a gradient in sets its state, too, or leaves the one that allows nothing.
        """
        return cls.of([None] * count, [HELD_BY_OTHERS] * count)

    @classmethod
    def ensure_states(cls, gradients: list) -> GradientList:
        """Return gradients with their states: those that they have, else those of new arrays."""
        if isinstance(gradients, cls):
            return gradients
        return cls.of(gradients, [NEW_GRADIENT] * len(gradients))
