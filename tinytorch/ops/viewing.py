"""How a view is made: it shares its source's storage and version counter, remembers the base, and is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.history import DEFAULT, INFERENCE, NO_GRAD, edge_of, inherited, make_view, needs_grad
from ..graph.modes import MODES, InferenceCounter
from ..graph.node import TRACED, edge_to_leaf, next_number
from ..tensor import Tensor

_ndarray = np.ndarray
_new = object.__new__


def as_view(self: Tensor, shape: tuple, strides: tuple, offset: int, kind: Any, *saved: Any) -> Tensor:
    """A view of `self` with this geometry (strides and offset in bytes); `kind` and `saved` are for `viewed`."""
    storage = self._storage
    buffer = (self._own_storage() if storage is None else storage).buffer
    try:
        data = _ndarray(shape, self._data.dtype, buffer, offset, strides)
    except (TypeError, ValueError):  # an empty one may lie beyond the end
        data = _ndarray(shape, self._data.dtype, buffer, min(offset, buffer.nbytes), strides)
    return viewed(self, data, offset, kind, saved)


def viewed(self: Tensor, data: np.ndarray, offset: int, kind: Any, saved: tuple) -> Tensor:
    """A view of `self` by an array over the same memory, recorded as a node of this kind.

    `saved`: the numbers that the node saves, in the order of its `saved_names`. All is written out in one piece, as
    most of what a view costs are calls: the alias, what makes it a view (`make_view`), and its node (`record`).
    """
    here = MODES.here
    if TRACED or self._inference:
        return _viewed_with_care(self, data, offset, kind, saved)
    t = _new(Tensor)
    t._data = data
    t._offset = offset
    storage = self._storage
    t._storage = self._own_storage() if storage is None else storage
    counter = self._counter
    if counter is None:
        counter = self._own_counter()
    t._counter = counter
    t._seen = counter.version
    t._device = device = self._device
    t._inference = False
    t._grad = t._hooks = t._acc = None
    t._output_nr = 0
    base = self._view
    grad = here.grad
    creation = DEFAULT if grad else INFERENCE if here.inference else NO_GRAD
    if base is None:
        t._view = base = self
        t._creation = creation
    else:
        t._view = base
        t._creation = inherited(creation, self._creation)
    if grad and (base._requires_grad or self._requires_grad):
        source = self._fn
        fn = _new(kind)
        if base is self:
            fn._edges = (edge_to_leaf(self) if source is None else (source, self._output_nr),)
        else:
            fn._edges = (edge_of(self),)
        fn._saved = saved
        fn._seq = next_number()
        fn._hooks = None
        fn._shape = data.shape
        fn._dtype = data.dtype
        fn._device = device
        t._fn = fn
        t._requires_grad = True
    else:
        t._fn = None
        t._requires_grad = False
    return t


def _viewed_with_care(self: Tensor, data: np.ndarray, offset: int, kind: Any, saved: tuple) -> Tensor:
    """`viewed` in anomaly mode, in which nodes remember where they were made; and of inference tensors."""
    here = MODES.here
    out = self._alias()
    out._data, out._offset = data, offset
    if self._inference:  # a view of its `.data` has none of the counter that `.data` has
        out._counter = InferenceCounter()
    make_view(out, self, here)
    if here.grad and needs_grad(self) and not self._inference:
        kind.record(out, (self,), **dict(zip(kind.saved_names, saved, strict=True)))
    return out
