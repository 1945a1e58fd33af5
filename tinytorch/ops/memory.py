"""Exchanging the memory of a tensor: `resize_` and `set_`, which only the version counter sees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import (
    byte_extent,
    check_extent,
    check_numel,
    check_room,
    contiguous_strides,
    cpp_name,
)
from ..graph import (
    MODES,
    check_inplace,
    count_write,
    gradient_edge,
    gradient_spec_of,
    make_undifferentiable_node_class,
    needs_grad,
    note_data_assigned,
    rebase_history,
)
from ..tensor import Tensor, device_of, make_tensor
from .copies import preserve_format
from .define import op
from .kernels import composite
from .resizing import look_at_storage, resize_out, resize_tensor
from .typed_storage import TypedStorage


def _resize(self: Tensor, size: tuple, memory_format: Any, by: Any = None) -> Tensor:
    # Inside inference mode autograd is not asked, nor outside where it knows none of the tensors.
    inference = self.is_inference() and (by is None or by.is_inference())
    if needs_grad(self) and not MODES.thread.inference and not inference:
        raise RuntimeError("cannot resize variables that require grad")
    check_numel(size)
    if math.prod(size) * self._data.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)}")
    if memory_format is preserve_format and by is None:
        # PyTorch asks only when the tensor has its shape, and before it counts the write.
        resize_out(self, size)
        raise RuntimeError("Unsupported memory formatPreserve")
    return resize_tensor(self, size)


op(
    "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None)",
    composite(_resize),
    function=False,
)
op(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None)",
    composite(
        lambda self, other, memory_format: _resize(self, other._data.shape, memory_format, other)
    ),
)

# another storage ----------------------------------------------------------------------------------

_NoBackward = make_undifferentiable_node_class("set_")


def _set(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = ()
) -> Tensor:
    tensor = isinstance(source, Tensor)
    if isinstance(source, TypedStorage):
        if source.dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {cpp_name(self.dtype)} or an UntypedStorage, but got "
                f"type {source.dtype.scalar_name} for argument 1 'storage'"
            )
        source = source.untyped()
    if tensor and source.dtype is not self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {cpp_name(source.dtype)} to a tensor of type "
            f"{cpp_name(self.dtype)}"
        )
    node = None
    if MODES.thread.is_recording and (needs_grad(self) or (tensor and needs_grad(source))):
        check_inplace(self)
        node = _NoBackward(())
        node._edges = tuple([gradient_edge(t) for t in (self, source) if isinstance(t, Tensor)])
    if source is None:
        source = make_tensor(np.empty(0, self._data.dtype), device_of(self)).untyped_storage()
    before = gradient_spec_of(self)
    if tensor and size is None:
        storage = source._materialize_storage()
        self._storage, self._data = storage, source._data
    else:
        _set_storage(
            self, source._materialize_storage() if tensor else source, storage_offset, size, stride
        )
    # Gradients of what is recorded from now on flow to another node, even if the shape is the same.
    note_data_assigned(self, before, True)
    count_write(self)
    if node is not None:
        node._note_gradient_specs(self)
        rebase_history(self, node)
    return self


def _set_storage(self: Tensor, storage: Any, storage_offset: int, size: Any, stride: tuple) -> None:
    """Make a tensor look at a storage; it grows if it is too small. RuntimeError if it may not."""
    a, n = self._data, self._data.itemsize
    shape = (storage.nbytes() // n,) if size is None else size
    # If the tensor already has the shape, torch resizes nothing and keeps the strides.
    same = shape == a.shape and (
        size is not None or byte_extent(shape, a.strides, n) <= math.prod(shape) * n
    )
    steps = stride or (self.stride() if same else contiguous_strides(shape))
    if storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    check_numel(shape)
    if any(s < 0 for s in steps):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and "
            f"strides={list(steps)}"
        )
    if len(shape) != len(steps):
        raise RuntimeError(f"unequal size length ({len(shape)}) and stride length ({len(steps)})")
    strides = tuple([s * n for s in steps])
    room = check_extent(shape, steps, storage_offset, n)
    if same and tuple(steps) == self.stride():
        check_room(shape, steps, storage_offset, n, storage.nbytes())
    elif room > storage.nbytes():
        storage.resize_(room)
    look_at_storage(self, storage, shape, strides, storage_offset * n)


_PLACE = "SymInt storage_offset, SymInt[] size, SymInt[] stride=[]"
for _source in (
    "",
    ", Storage source",
    f", Storage source, {_PLACE}",
    ", Tensor source",
    f", Tensor source, {_PLACE}",
):
    op(f"set_(Tensor(a!) self{_source})", composite(_set), function=False)


def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Return True if two tensors look at the same cells in the same way."""
    a, b = self._data, tensor._data
    same = (
        self._materialize_storage() is tensor._materialize_storage()
        and self.storage_offset() == tensor.storage_offset()
    )
    return same and (a.shape, a.strides) == (b.shape, b.strides)


op("is_set_to(Tensor self, Tensor tensor) -> bool", composite(_is_set_to), function=False)
op(
    "is_inference(Tensor self) -> bool",
    composite(lambda self: self.is_inference()),
    method=False,
)
op("numel(Tensor self) -> int", composite(lambda self: self._data.size))
op("is_floating_point(Tensor self) -> bool", composite(lambda self: self._data.dtype.kind == "f"))
op("is_complex(Tensor self) -> bool", composite(lambda self: False), method=False)
op(
    "is_signed(Tensor self) -> bool",
    composite(lambda self: self._data.dtype.kind in "if"),
    method=False,
)
