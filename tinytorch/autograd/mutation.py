"""Writing to tensors that are saved for backward: backward then reads what was there when they were saved.

Source: `torch.autograd.graph.allow_mutation_on_saved_tensors`.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from ..graph.saved import saved_tensors_hooks
from ..tensor import Tensor

_OUTSIDE = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded."


class _Handle:
    """Stands for a saved tensor in the graph; when the graph lets go of it, so does the context."""


class _AllowMutationOnSavedContext:
    """What was saved, by handle, and whether it was written to since.

    torch copies a tensor when it is first written to. Here the copy is made when the tensor is saved, so that no write
    need know of it; what is told of copies is the same.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[_Handle, tuple[Tensor, int, Tensor]] = WeakKeyDictionary()
        self.tid_to_weakhandle: WeakValueDictionary[tuple, _Handle] = WeakValueDictionary()
        self.sid_to_tid: dict[tuple, set[tuple]] = defaultdict(set)

    def _written(self, handle: _Handle) -> bool:
        tensor, version, copy = self._kept[handle]
        return tensor._vc.version != version or not np.array_equal(tensor._data, copy._data, equal_nan=True)

    @property
    def cloned(self) -> dict[_Handle, Tensor]:
        """The copies of tensors that were written to."""
        return {h: self._kept[h][2] for h in self._kept if self._written(h)}

    @property
    def original(self) -> dict[_Handle, Tensor]:
        """The tensors that were not written to."""
        return {h: self._kept[h][0] for h in self._kept if not self._written(h)}

    def clear(self) -> None:
        """Forget everything: what was saved can be read no more."""
        self._kept.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def pack(self, tensor: Tensor) -> _Handle:
        """Keep a tensor, once for each version of it."""
        tid = (id(tensor), tensor.data_ptr(), tensor._version)
        self.sid_to_tid[tensor.data_ptr(), tensor._version].add(tid)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle()
            self._kept[handle] = (tensor, tensor._version, tensor.detach().clone())
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """What was kept. AssertionError outside of the context."""
        if not _STATE["enabled"] or handle not in self._kept:
            raise AssertionError(_OUTSIDE)
        tensor, _, copy = self._kept[handle]
        return copy if self._written(handle) else tensor


_STATE = {"enabled": False}


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Any]:
    """Inside, tensors saved for backward may be written to: backward uses what they held when they were saved.

    AssertionError if the graph's backward runs outside, RuntimeError where one such context lies in another.
    Source: `torch.autograd.graph.allow_mutation_on_saved_tensors`.
    """
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        try:
            if _STATE["enabled"]:
                raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
            _STATE["enabled"] = True
            yield context
        finally:
            context.clear()
            _STATE["enabled"] = False


__all__ = ["allow_mutation_on_saved_tensors"]
