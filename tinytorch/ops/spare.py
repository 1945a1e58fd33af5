"""Large gradients computed in memory that nobody needs any more: that of the incoming gradient, or of a saved result.

Three arrays that travel through memory become two. It is done only where the memory is provably the walk's alone: the
references to the tensor, to its storage and to its array are counted, and must be as few as for one made just now.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.backward import RUNNING
from ..graph.modes import MODES
from ..graph.saved import Kept, SavedResult, value_of
from ..tensor import Tensor, fresh
from .core import quiet
from .large import MANY, pointwise

_count = sys.getrefcount


def _gradient_counts(grads: Any) -> tuple[int, int] | None:
    """References to the first gradient and to its array; None if it has a storage that others may look at."""
    t = grads[0]
    if t._storage is not None or isinstance(t._data.base, np.ndarray) or not t._data.flags.c_contiguous:
        return None
    return _count(t), _count(t._data)


def _result_counts(saved: SavedResult) -> tuple[int, int, int, int] | None:
    """References to what a node kept of its result, to its storage, the storage's buffer, and the array."""
    t = saved._tensor
    if isinstance(t._data.base, np.ndarray) or not t._data.flags.c_contiguous:
        return None
    return _count(t), _count(t._storage), _count(t._storage.buffer), _count(t._data)


_ALONE = _gradient_counts((fresh(np.zeros(1)),))
_ALONE_SAVED = _result_counts(SavedResult(fresh(np.zeros(1))))


def _spare_gradient(grads: Any) -> np.ndarray | None:
    found = _gradient_counts(grads)
    return grads[0]._data if found is not None and found <= _ALONE else None  # type: ignore[operator]


def _spare_result(saved: Any) -> np.ndarray | None:
    """The memory of a saved result, if this walk is the last to read it."""
    if RUNNING.task is None or RUNNING.task.keep_graph:
        return None
    found = _result_counts(saved)
    return saved._tensor._data if found == _ALONE_SAVED else None


def _large(node: Any, grads: Any) -> bool:
    """Whether this is a case for the ways below: large, and neither recorded nor watched by hooks."""
    grad = grads[0]
    return (
        grad is not None
        and grad._data.size >= MANY
        and not MODES.here.grad
        and not MODES.anomaly
        and node._hooks is None
    )


def product_in_spare_memory(kind: type) -> None:
    """Let the backward of a product write one of its gradients over the incoming one."""
    plain: Callable = kind.apply  # type: ignore[attr-defined]

    def apply(self: Any, grads: Any) -> Any:
        if grads[0] is None or grads[0]._data.size < MANY:
            return kind._written(self, grads)  # type: ignore[attr-defined]
        if self._saved is None or not _large(self, grads):
            return plain(self, grads)
        spare = _spare_gradient(grads)  # before anything here refers to it
        g = grads[0]._data
        factors = [s for s in self._saved if s is not None]  # of "other" and "self", in the order of their edges
        if not all(type(s) is Kept and s[0] is not None for s in factors):
            return plain(self, grads)
        at = [i for i, e in enumerate(self._edges) if e is not None]
        values = {i: self._saved[self.wanted[i][0]] for i in at}
        arrays = {i: s[0]._data for i, s in values.items()}
        if any(a.shape != g.shape or a.dtype is not g.dtype or not a.flags.c_contiguous for a in arrays.values()):
            return plain(self, grads)
        for s in values.values():
            value_of(s, self)  # raises if it was written to since
        if any(np.may_share_memory(a, g) for a in arrays.values()):
            return plain(self, grads)
        out: list[Any] = [None] * len(self._edges)
        for i in at:
            into = spare if i == at[-1] else None
            data = (
                quiet.run(pointwise, np.multiply, g, arrays[i])
                if into is None
                else quiet.run(np.multiply, g, arrays[i], into)
            )
            out[i] = fresh(data, grads[0]._device)
        return tuple(out)

    kind.apply = apply  # type: ignore[attr-defined]


def scaled_in_spare_memory(kind: type) -> None:
    """Let the backward `grad * result` write over the result, or hand it on as it is where the gradient is 1."""
    plain: Callable = kind.apply  # type: ignore[attr-defined]

    def apply(self: Any, grads: Any) -> Any:
        if grads[0] is None or grads[0]._data.size < MANY:
            return kind._written(self, grads)  # type: ignore[attr-defined]
        saved = self._saved[0] if self._saved else None
        if (
            type(saved) is not SavedResult
            or saved._hooks is not None
            or saved._tensor is None
            or not _large(self, grads)
        ):
            return plain(self, grads)
        g = grads[0]._data
        if saved._tensor._data.shape != g.shape or saved._tensor._data.dtype is not g.dtype:
            return plain(self, grads)
        saved.unpack(self)  # raises if it was written to since
        spare = _spare_result(saved)
        if spare is None:
            return plain(self, grads)
        if any(g.strides):
            quiet.run(np.multiply, g, spare, spare)
        elif (one := g[(0,) * g.ndim]) != 1:
            quiet.run(np.multiply, one, spare, spare)
        return (fresh(spare, grads[0]._device),)

    kind.apply = apply  # type: ignore[attr-defined]


__all__ = ["Tensor", "product_in_spare_memory", "scaled_in_spare_memory"]
