"""Tensors over gradients that are arrays, for the code of users: hooks and custom Functions.

A user must be handed the tensor that PyTorch would hand out: the very one that somebody holds, a
view where PyTorch's would be one, and with its version. What comes back is arrays again, with the
state of each.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import memory_owner
from ..graph import NEW_GRADIENT, GradientList, GradientState, SeenBy, TensorBase, mark_as_view
from ..tensor import as_array_of_torch, make_tensor_over

ndarray = np.ndarray

_REMEMBERED: Any = weakref.WeakValueDictionary()
"""Tensors that somebody may hold, by `id` of their array and of the owner of its memory."""


def remember_tensors(tensors: Sequence[Any]) -> None:
    """Note that gradients are these tensors, for as long as somebody holds them."""
    for tensor in tensors:
        if tensor is not None:
            # What views of it will have as their base. Of several bases over one memory, as `detach`
            # makes them, that of the latest: what is still to arrive was made of that.
            base = tensor if tensor._view_meta is None else tensor._view_meta[0]
            _REMEMBERED[id(memory_owner(tensor._data))] = base
            # Behind that, as a view of all of it may be over the same array.
            _REMEMBERED[id(tensor._data)] = tensor
            note_holder(tensor)


class _Holders(NamedTuple):
    """References to the storages that somebody may hold of a memory, and to its owner."""

    memory: weakref.ref
    storages: list[weakref.ref]


_HOLDERS: dict[int, _Holders] = {}
"""By `id` of the array that owns the memory. `_REMEMBERED` finds the tensor to hand out once more;
this says that memory must not be added to in place, even if only its storage is held."""


def note_holder(tensor: Any) -> None:
    """Note that somebody holds a tensor over a gradient, which may still be on its way to nodes.

    What is added to that gradient in place would be added to the tensor, too. Its storage is what
    counts, as in PyTorch: a hook may have kept `grad.detach()` alone.
    """
    memory = memory_owner(tensor._data)
    memory_id = id(memory)
    holders = _HOLDERS.get(memory_id)
    if holders is None or holders.memory() is not memory:
        holders = _Holders(weakref.ref(memory), [])

    def forget(reference: weakref.ref) -> None:
        # A dead reference is equal to itself alone, so this compares no storages.
        holders.storages.remove(reference)
        if not holders.storages and _HOLDERS.get(memory_id) is holders:
            del _HOLDERS[memory_id]

    holders.storages.append(weakref.ref(tensor._materialize_storage(), forget))
    # Only now: the last holder before may have gone meanwhile, and its entry with it.
    _HOLDERS[memory_id] = holders


def is_any_tensor_remembered() -> bool:
    """Return True if somebody may hold a tensor over a gradient."""
    return bool(_REMEMBERED)


def is_held_as_tensor(gradient: Any) -> bool:
    """Return True if somebody may hold a tensor over this very array."""
    tensor = _REMEMBERED.get(id(gradient))
    # An id is used again once its array is gone, hence the second look.
    return tensor is not None and tensor._data is gradient


def is_memory_held_as_tensor(memory: Any) -> bool:
    """Return True if somebody may hold a tensor over this memory, given by its owner."""
    holders = _HOLDERS.get(id(memory))
    # An id is used again once its array is gone, hence the second look.
    return holders is not None and holders.memory() is memory


def tensor_over(gradient: Any, device: Any, state: GradientState = NEW_GRADIENT) -> Any:
    """Return a tensor over an array: the one that somebody holds, a view, or a new one."""
    if gradient is None or isinstance(gradient, TensorBase):
        return gradient
    if state.seen_by is not SeenBy.NOBODY:
        remembered = _REMEMBERED.get(id(gradient))
        # An id is used again once its array is gone, hence the second look.
        if remembered is not None and remembered._data is gradient:
            return remembered
        if type(gradient.base) is ndarray:
            return _view_over(gradient, device, state)
    return make_tensor_over(
        gradient if gradient.size else as_array_of_torch(gradient), device, state.version
    )


def _view_over(gradient: ndarray, device: Any, state: GradientState) -> Any:
    """Return a view over an array with a base: of the tensor that somebody holds over that, if any."""
    memory = memory_owner(gradient)
    base = _REMEMBERED.get(id(memory))
    if base is None or memory_owner(base._data) is not memory:
        base = tensor_over(memory, device, state.of_base())
    view = base._make_alias_of(gradient)
    mark_as_view(view, base)
    return view


def devices_of_outputs(node: Any) -> list:
    """Return the devices of the gradients that arrive at a node."""
    return [device for _, _, device in node._gradient_specs]


def tensors_over(gradients: GradientList, devices: list) -> tuple:
    """Return tensors over gradients, as hooks see them."""
    triples = zip(gradients, devices, gradients.states, strict=True)
    return tuple([tensor_over(*triple) for triple in triples])


def call_with_tensors(
    function: Callable, gradients: GradientList, devices: list, on_arrays: bool
) -> GradientList:
    """Call a function that takes and returns gradients as tensors; return arrays if `on_arrays`."""
    tensors = tensors_over(gradients, devices)
    if not on_arrays:
        return GradientList.ensure_states(list(function(tensors)))
    ids_of_given = set(map(id, tensors))
    returned = list(function(tensors))
    # Only what somebody else holds is still alive when `_Trace.state_now` looks.
    del tensors
    remember_tensors(returned)
    arrays = [None if tensor is None else tensor._data for tensor in returned]
    traces = _trace_returned(returned, arrays, gradients, ids_of_given)
    returned.clear()
    states = [NEW_GRADIENT if trace is None else trace.state_now() for trace in traces]
    return GradientList.of(arrays, states)


class _Trace(NamedTuple):
    """Weak references that tell who still sees a tensor that a user's function returned."""

    tensor: weakref.ref
    storage: weakref.ref | None  # None if the tensor alone has its memory
    counter: Any  # of versions
    seen_by_at_most: SeenBy  # by what is known without these references

    def state_now(self) -> GradientState:
        """Return the state of the tensor's array, from what is still alive."""
        counter = self.counter
        version = 0 if counter.is_inference else counter.version
        if self.tensor() is not None:
            return GradientState(version, SeenBy.SAME_TENSOR)
        if self.storage is not None and self.storage() is not None:
            return GradientState(version, min(self.seen_by_at_most, SeenBy.SAME_MEMORY))
        return GradientState(version, self.seen_by_at_most)


def _trace_returned(
    returned: list, arrays: list, given: GradientList, ids_of_given: set[int]
) -> list[_Trace | None]:
    """Trace each tensor that a function returned, which was called with the gradients `given`."""
    seen_before = {
        id(memory_owner(array)): state.seen_by
        for array, state in zip(given, given.states, strict=True)
        if array is not None
    }
    traces: list[_Trace | None] = []
    for tensor in returned:
        if tensor is None:
            traces.append(None)
            continue
        memory = memory_owner(tensor._data)
        seen_by = seen_before.get(id(memory), SeenBy.NOBODY)
        if id(tensor) not in ids_of_given:
            # A new tensor, perhaps over memory that was given. Whoever holds the tensor that was given
            # shares that memory and does not hold this one: so it is SAME_MEMORY instead of
            # SAME_TENSOR, and NOBODY stays. (The larger the number, the fewer can see it.)
            seen_by = max(seen_by, SeenBy.SAME_MEMORY)
        if tensor._view_meta is not None:
            seen_by = min(seen_by, SeenBy.SAME_MEMORY)
        if _count_same_memory(arrays, memory) > 1:
            is_returned_twice = sum(tensor is other for other in returned) > 1
            seen_by = SeenBy.SAME_TENSOR if is_returned_twice else min(seen_by, SeenBy.SAME_MEMORY)
        storage = None if tensor._storage is None else weakref.ref(tensor._storage)
        traces.append(_Trace(weakref.ref(tensor), storage, tensor._counter, seen_by))
    return traces


def _count_same_memory(arrays: list, memory: ndarray) -> int:
    """Return how many of the arrays share this memory."""
    return sum(array is not None and memory_owner(array) is memory for array in arrays)
