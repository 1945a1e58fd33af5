"""View operations in place: they change how a tensor looks at its memory, write nothing, and count as a write.

Source: torch's in-place views (`t_`, `squeeze_`, ...): the version goes up, so that other views of the memory make
their history anew, while the tensor itself follows the operation's own node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.history import Geometry, as_strided_grad, check_inplace, replace_history
from ..graph.node import node
from ..tensor import Tensor
from .arguments import Sizes, signatures, typed
from .core import node_for, op, recording
from .views import _squeeze_kinds, squeezed, strided_geometry, t, transpose, unsqueeze

_TBackward1 = node("TBackward1", lambda grad: grad.t())
_TransposeBackward1 = node("TransposeBackward1", lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
_UnsqueezeBackward1 = node("UnsqueezeBackward1", lambda grad, dim: grad.squeeze(dim))
_AsStridedBackward1 = node("AsStridedBackward1", as_strided_grad)
_SQUEEZES = _squeeze_kinds(3)


def _look(self: Tensor, shape: tuple, strides: tuple, offset: int, kind: type, /, **saved: Any) -> Tensor:
    """Give `self` another geometry (strides and offset in bytes) over the same storage."""
    recorded = recording(self)
    check_inplace(self, recorded)
    fn = node_for(kind, (self,), saved) if recorded else None
    self._data = np.ndarray(shape, self._data.dtype, self._own_storage().buffer, offset, strides)
    self._offset = offset
    self._vc.version += 1
    if fn is not None:
        fn.describe(self)
        replace_history(self, fn)
    return self


def _like(self: Tensor, out: Tensor, kind: type, **saved: Any) -> Tensor:
    return _look(self, out._data.shape, out._data.strides, out._offset, kind, **saved)


@op("t_", function=False)
@typed
def t_(self: Tensor) -> Tensor:
    """`t` in place.

    Source: `torch.Tensor.t_`.
    """
    return _like(self, t(self._alias()), _TBackward1)


@op("transpose_", "swapaxes_", "swapdims_", function=False)
@typed
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place.

    Source: `torch.Tensor.transpose_`.
    """
    return _like(self, transpose(self._alias(), dim0, dim1), _TransposeBackward1, dim0=dim0, dim1=dim1)


@op(function=False)
@typed
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """`unsqueeze` in place.

    Source: `torch.Tensor.unsqueeze_`.
    """
    return _like(self, unsqueeze(self._alias(), dim), _UnsqueezeBackward1, dim=dim)


@op(function=False)
@signatures("(Tensor input)", "(Tensor input, int dim)", "(Tensor input, tuple of ints dim)", name="squeeze_")
def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """`squeeze` in place.

    Source: `torch.Tensor.squeeze_`.
    """
    shape, strides, kind, saved = squeezed(self, dim, _SQUEEZES)
    return _look(self, shape, strides, self._offset, kind, **saved)


@op()
@typed
def as_strided_(input: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None = None) -> Tensor:
    """`as_strided` in place.

    Source: `torch.Tensor.as_strided_`.
    """
    shape, steps, offset = strided_geometry(input, size, stride, storage_offset)
    n = input._data.itemsize
    return _look(
        input, shape, tuple(s * n for s in steps), min(offset * n, input._storage.nbytes()), _AsStridedBackward1,
        _geometry=Geometry.of(input), size=shape, stride=steps, storage_offset=storage_offset,
    )  # fmt: skip
