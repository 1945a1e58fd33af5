"""View operations in place: they change how a tensor looks at its memory, write nothing, and count as a write.

Source: torch's in-place views (`t_`, `squeeze_`, ...): the version goes up, so that other views of the memory make
their history anew, while the tensor itself follows the operation's own node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.history import Geometry, as_strided_grad, check_inplace, replace_history
from ..graph.node import let_accumulator_go, node
from ..tensor import Tensor
from .arguments import ABSENT, unfit
from .core import node_for, op, recording
from .views import as_strided, squeeze, squeeze_kinds, t, transpose, unsqueeze

_TBackward1 = node("TBackward1", lambda grad: grad.t())
_TransposeBackward1 = node("TransposeBackward1", lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
_UnsqueezeBackward1 = node("UnsqueezeBackward1", lambda grad, dim: grad.squeeze(dim))
_AsStridedBackward1 = node("AsStridedBackward1", as_strided_grad)
_SQUEEZES = squeeze_kinds(3)


def _look(self: Tensor, kind: type, look: Callable[[Tensor], Tensor], **saved: Any) -> Tensor:
    """Give `self` the geometry that `look` gives to an alias of it."""
    recorded = recording(self) and not self._inference
    check_inplace(self, recorded)
    view = look(self._alias())
    fn = node_for(kind, (self,), saved) if recorded else None
    let_accumulator_go(self)
    self._own_storage()
    self._data, self._offset = view._data, view._offset
    self._vc.version += 1
    if fn is not None:
        fn.describe(self)
        replace_history(self, fn)
    return self


@op(function=False)
def t_(self: Tensor) -> Tensor:
    """`t` in place.

    Source: `torch.Tensor.t_`.
    """
    return _look(self, _TBackward1, _transposed)


def _transposed(x: Tensor) -> Tensor:
    if x._data.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {x._data.ndim}D")
    return t(x)


@op("transpose_", "swapaxes_", "swapdims_", function=False)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place.

    Source: `torch.Tensor.transpose_`.
    """
    return _look(self, _TransposeBackward1, lambda x: transpose(x, dim0, dim1), dim0=dim0, dim1=dim1)


@op(function=False)
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """`unsqueeze` in place.

    Source: `torch.Tensor.unsqueeze_`.
    """
    return _look(self, _UnsqueezeBackward1, lambda x: unsqueeze(x, dim), dim=dim)


@op(function=False)
def squeeze_(self: Tensor, dim: Any = ABSENT, *more: int) -> Tensor:
    """`squeeze` in place.

    Source: `torch.Tensor.squeeze_`.
    """
    dim = (dim, *more) if more else dim
    if dim is None:
        raise unfit("squeeze_")
    kind = _SQUEEZES[0 if dim is ABSENT else 2 if isinstance(dim, (tuple, list)) else 1]
    return _look(self, kind, lambda x: squeeze(x, dim), self_sym_sizes=self._data.shape, dim=dim)


@op()
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """`as_strided` in place.

    Source: `torch.Tensor.as_strided_`.
    """
    return _look(
        input, _AsStridedBackward1, lambda x: as_strided(x, size, stride, storage_offset), _geometry=Geometry.of(input),
        size=tuple(size), stride=tuple(stride), storage_offset=storage_offset,
    )  # fmt: skip
