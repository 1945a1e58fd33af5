"""Writing whole tensors, and changing which memory a tensor looks at: fill_, zero_, resize_, set_."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import cpp_name
from ..graph.history import Geometry, check_inplace, rebase_history
from ..graph.modes import MODES
from ..graph.node import let_accumulator_go, node, not_differentiable
from ..settings import mark_unset
from ..storage import contiguous_strides
from ..tensor import Tensor, fresh
from .arguments import ABSENT, again, unfit
from .copying import channels_last_strides, contiguous_format, preserve_format
from .core import FUNCTIONS, check_overlap, expect_tensor, number_array, op, record, recording, write_in_place
from .shaped import sized
from .views import shape_argument


def _fill_kinds(first: int) -> tuple[type, type]:
    return (
        node(f"FillBackward{first}", lambda grad: FUNCTIONS["zeros_like"](grad)),
        node(f"FillBackward{first + 1}", lambda grad: FUNCTIONS["zeros_like"](grad), lambda grad: grad.sum()),
    )


_FillBackward0, _FillBackward1 = _fill_kinds(0)
_FillBackward2, _FillBackward3 = _fill_kinds(2)  # of fill_
_ZeroBackward0 = node("ZeroBackward0", lambda grad: FUNCTIONS["zeros_like"](grad))


@op()
def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one value into every element.

    Source: `torch.Tensor.fill_`.
    """
    if isinstance(value, Tensor):
        return write_in_place(self, (self, value), _FillBackward3, {}, lambda: _one_value(self, value))
    if type(value) is np.ndarray:
        raise unfit("fill_")
    return write_in_place(self, (self,), _FillBackward2, {}, lambda: number_array(value, self.dtype))


def _one_value(target: Tensor, value: Tensor) -> np.ndarray:
    if value._data.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._data.ndim} dimensions."
        )
    check_overlap(target)
    return value._data


@op(method=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A copy with every element set to one value.

    Source: `torch.fill`.
    """
    out = input.detach().clone().fill_(value.detach() if isinstance(value, Tensor) else value)
    if isinstance(value, Tensor) and recording(input, value):
        record(out, _FillBackward1, (input, value))
    elif recording(input):
        record(out, _FillBackward0, (input,))
    return out


@op(guard=False)
def zero_(self: Tensor = ABSENT, *rest: Any, **named: Any) -> Tensor:
    """Write zero into every element.

    Source: `torch.Tensor.zero_`.
    """
    if rest or named or not isinstance(self, Tensor):
        return again(zero_, "zero_", (self, *rest), named)
    return write_in_place(self, (self,), _ZeroBackward0, {}, lambda: np.zeros((), self._data.dtype))


def _refuse_resize(t: Tensor, by: Tensor) -> None:
    # Inside inference mode autograd is not asked, nor outside where it knows none of the tensors.
    if t.requires_grad and not MODES.here.inference and not (t._inference and by._inference):
        raise RuntimeError("cannot resize variables that require grad")


@op(function=False)
def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Another shape, row-major from the same offset; the storage grows if it must, and everyone on it follows.

    Old elements keep their place in memory. RuntimeError if the tensor requires grad.
    Source: `torch.Tensor.resize_`.
    """
    _refuse_resize(self, self)
    shape = sized(size, "resize_", signed=True)
    if any(n < 0 for n in shape):
        raise RuntimeError("numel: integer multiplication overflow")
    count = math.prod(shape)
    if count >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    if math.prod(n or 1 for n in shape[1:]) >= 1 << 63:
        raise RuntimeError("Stride calculation overflowed")
    if count * self._data.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    return _resized(self, shape, memory_format)


def _resized(self: Tensor, shape: tuple[int, ...], memory_format: Any = None) -> Tensor:
    a, storage = self._data, self._own_storage()
    if memory_format in (None, contiguous_format):
        if shape == a.shape:
            return self
        strides = contiguous_strides(shape, a.itemsize)
    elif memory_format is preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    else:
        strides = channels_last_strides(shape, memory_format, a.itemsize)
        if (shape, strides) == (a.shape, a.strides):
            return self
    let_accumulator_go(self)
    need = 0 if 0 in shape else self._offset + math.prod(shape) * a.itemsize
    if need > (old := storage.nbytes()):
        storage.resize_(need)
        mark_unset(storage.buffer[-(-old // a.itemsize) * a.itemsize : need].view(a.dtype))
    self._data = np.ndarray(shape, a.dtype, storage.buffer, min(self._offset, storage.nbytes()), strides)  # fmt: skip
    self._vc.version += 1
    return self


Tensor._resized = _resized  # type: ignore[attr-defined]


@op()
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Another tensor's shape, like `resize_`.

    Source: `torch.Tensor.resize_as_`.
    """
    _refuse_resize(input, expect_tensor(the_template, "resize_as_", "the_template"))
    out = _resized(input, the_template._data.shape)
    if memory_format not in (None, contiguous_format):
        as_there = memory_format is preserve_format
        strides = the_template._data.strides if as_there else channels_last_strides(out._data.shape, memory_format, 1)
        steps = tuple(s // (the_template._data.itemsize if as_there else 1) * out._data.itemsize for s in strides)
        out._data = np.ndarray(out._data.shape, out._data.dtype, out._storage.buffer, out._offset, steps)
    return out


_NoBackward = not_differentiable("set_")


_NOTHING = object()


@op(function=False)
def set_(
    self: Tensor, source: Any = _NOTHING, storage_offset: Any = None, size: Any = None, stride: Any = None
) -> Tensor:
    """Look at another tensor's or storage's memory from now on (an empty one if none is given).

    RuntimeError for another dtype. Source: `torch.Tensor.set_`.
    """
    from ..graph.history import edge_of

    if source is None or (source is not _NOTHING and storage_offset is not None) != (size is not None):
        raise unfit("set_")
    storage_offset = storage_offset or 0
    if hasattr(source, "untyped") and getattr(source, "dtype", self.dtype) is not self.dtype:
        raise RuntimeError(
            f"Expected a Storage of type {cpp_name(self.dtype)} or an UntypedStorage, but got type "
            f"{source.dtype.scalar_name} for argument 1 'storage'"
        )
    if isinstance(source, Tensor) and source.dtype is not self.dtype:
        theirs, ours = cpp_name(source.dtype), cpp_name(self.dtype)
        raise RuntimeError(f"Could not set tensor of type {theirs} to a tensor of type {ours}")
    recorded = recording(self, *([source] if isinstance(source, Tensor) else []))
    check_inplace(self, recorded)
    fn_edges = tuple(edge_of(t) for t in (self, source) if isinstance(t, Tensor)) if recorded else ()
    if source is _NOTHING:
        source = fresh(np.empty(0, self._data.dtype), self._device).untyped_storage()
    kind = self._data.dtype
    let_accumulator_go(self)
    self._acc = None  # what is recorded from now on flows to another one, even if the shape is the same
    if isinstance(source, Tensor) and size is None:
        self._storage, self._offset, self._data = source._own_storage(), source._offset, source._data
        self._device = source._device
    else:
        storage = source._own_storage() if isinstance(source, Tensor) else source.untyped()
        n = kind.itemsize
        shape = (storage.nbytes() // n,) if size is None else shape_argument((size,))
        same = shape == self._data.shape  # then torch has nothing to resize
        same = same and (size is not None or Geometry(shape, self.stride(), 0).reach() <= math.prod(shape))
        default = self.stride() if same else contiguous_strides(shape)
        steps = default if stride is None or stride == () else shape_argument((stride,))
        if storage_offset < 0:
            raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
        if any(n < 0 for n in shape):
            raise RuntimeError("numel: integer multiplication overflow")
        if any(s < 0 for s in steps):
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}"
            )
        if len(shape) != len(steps):
            raise RuntimeError(f"unequal size length ({len(shape)}) and stride length ({len(steps)})")
        reach = 0 if 0 in shape else 1 + sum(s * (k - 1) for s, k in zip(steps, shape, strict=True))
        if reach and (storage_offset + reach) * n > storage.nbytes():
            storage.resize_((storage_offset + reach) * n)
        self._storage, self._offset = storage, storage_offset * n
        start = storage_offset * n if reach else 0  # an empty one may lie beyond the end
        self._data = np.ndarray(shape, kind, storage.buffer, start, tuple(s * n for s in steps))
    self._vc.version += 1
    if recorded:
        fn = _NoBackward(fn_edges, ())
        fn.describe(self)
        rebase_history(self, fn)
    return self
