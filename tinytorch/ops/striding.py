"""`as_strided`: any shape, strides and offset over the memory of a tensor, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import (
    address_of,
    byte_extent,
    check_numel,
    check_room,
    has_overlap,
    memory_owner,
    restride_array,
)
from ..graph import Geometry, needs_grad
from ..tensor import make_tensor
from .arranging import make_scatter_kernel
from .by_index import index_add_
from .copies import clone, contiguous_format, copy_
from .creation import new_ones, new_zeros
from .define import op
from .filling import fill_, written_zeros
from .kernels import composite
from .pointwise import div
from .sums import expand, sum_dims
from .views import array_of, declare_view_with_in_place, reshape, squeeze_dim


def stride_array(
    a: np.ndarray, size: tuple, stride: tuple, storage_offset: int | None = None
) -> np.ndarray:
    """Look at memory with any shape, strides and offset (in elements).

    RuntimeError if the memory is too small.
    """
    whole, n = memory_owner(a), a.itemsize
    own_offset = 0 if whole is a else address_of(a) - address_of(whole)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    if any(k < 0 for k in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    offset = own_offset // n if storage_offset is None else storage_offset
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    check_room(size, stride, offset, n, whole.nbytes)
    check_numel(size)
    steps = tuple([s * n for s in stride])
    return restride_array(a, size, steps, offset * n - own_offset)


def _drop_trivial_dims(shape: tuple, stride: tuple, repeats: bool = False) -> tuple[tuple, tuple]:
    """Drop dimensions of size 1 and, unless `repeats`, of stride 0."""
    pairs = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1 and (s or repeats)]
    return tuple([n for n, _ in pairs]), tuple([s for _, s in pairs])


def as_strided_backward(
    grad: Any, _geometry: Geometry, size: tuple, stride: tuple, storage_offset: int | None
) -> Any:
    """Return the gradient of `as_strided`: of each cell the sum of its elements' gradients.

    The same operations as torch's `as_strided_backward`, so that the graph of a second derivative
    is the same.
    """
    source = _geometry
    if 0 in source.shape or 0 in size:
        return written_zeros(grad, source.shape)
    for i in range(len(size) - 1, -1, -1):
        if size[i] == 1:
            grad = squeeze_dim(grad, i)
        elif stride[i] == 0:
            grad = sum_dims(grad, (i,))
    # Without what changes nothing: the view that `as_strided` gave, and what it was given.
    view = Geometry(
        *_drop_trivial_dims(size, stride),
        source.offset if storage_offset is None else storage_offset,
    )
    whole = Geometry(*_drop_trivial_dims(source.shape, source.stride, repeats=True), source.offset)
    start = min(whole.offset, view.offset)
    room = max([g.offset + byte_extent(g.shape, g.stride, 1) for g in (whole, view)]) - start
    memory = new_zeros(grad, (room,))

    def number_cells(g: Geometry) -> np.ndarray:
        """Return, for each element, the number of its cell in `memory`."""
        return stride_array(np.arange(room), g.shape, g.stride, g.offset - start)

    cells_of_view, cells_of_whole = number_cells(view), number_cells(whole)

    def as_index(cells: np.ndarray) -> Any:
        return cells.reshape(-1) if isinstance(grad, np.ndarray) else make_tensor(cells.reshape(-1))

    if has_overlap(cells_of_view):
        index_add_(memory, 0, as_index(cells_of_view), reshape(grad, (-1,)))
    else:
        copy_(as_strided(memory, view.shape, view.stride, view.offset - start), grad)
    if has_overlap(cells_of_whole):
        # A cell's gradient is shared by its elements.
        ones = expand(new_ones(grad, (1,)), (cells_of_whole.size,))
        counts = index_add_(new_zeros(grad, (room,)), 0, as_index(cells_of_whole), ones)
        div.run_in_place(memory, counts)
    return as_strided(memory, source.shape, source.stride, source.offset - start)


as_strided = declare_view_with_in_place(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None)",
    stride_array,
    (0, 1),
    as_strided_backward,
    readers={"_geometry": lambda values: Geometry.of(values[0])},
)


# along a diagonal ---------------------------------------------------------------------------------


def _fill_diagonal(self: Any, fill_value: Any, wrap: bool) -> Any:
    """Write one value to the main diagonal; with `wrap` it starts again below a tall matrix.

    Cells are found by strides alone, as PyTorch finds them.
    """
    shape, steps = tuple(self.shape), self.stride()
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    height, width = shape[:2]
    if len(shape) > 2 and any(n != height for n in shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    count, step, start = min(height, width), sum(steps), self.storage_offset()
    fill_(as_strided(self, (count,), (step,), start), fill_value)
    if wrap and len(shape) == 2 and height > width + 1:
        rest = -(-height * width // (width + 1)) - count
        again = as_strided(self, (rest,), (step,), start + steps[0] * (width + 1))
        fill_(again, fill_value)
    return self


op(
    "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False)",
    composite(_fill_diagonal),
    function=False,
)

# written to in a copy -----------------------------------------------------------------------------


def _read_dense_geometry(values: tuple) -> Geometry:
    """Return the geometry of what is written to. RuntimeError if it has a gradient and gaps."""
    if needs_grad(values[0]) and not values[0]._data.flags.c_contiguous:
        raise RuntimeError("as_strided_scatter is currently only supported for contiguous inputs")
    return Geometry.of(values[0])


def _make_dense(grad: Any) -> Any:
    """Return a gradient row by row: itself if it is."""
    return grad if array_of(grad).flags.c_contiguous else clone(grad, contiguous_format)


def _as_strided_scatter_backward(
    grad: Any, _geometry: Geometry, size: tuple, stride: tuple, storage_offset: int | None
) -> Any:
    """Return what PyTorch takes for the gradient of the tensor that was written to.

    It is the gradient of the cells that were written, and 0 for all others: the wrong way round.
    """
    part = as_strided(_make_dense(grad), size, stride, storage_offset)
    shape, steps = _geometry.shape, _geometry.stride
    memory = new_zeros(grad, (byte_extent(shape, steps, 1),))
    copy_(as_strided(memory, size, stride, storage_offset), part)
    return as_strided(memory, shape, steps)


op(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None)",
    make_scatter_kernel(stride_array),
    out=False,
    readers={"_geometry": _read_dense_geometry},
    self=_as_strided_scatter_backward,
    src=lambda grad, size, stride, storage_offset: as_strided(
        _make_dense(grad), size, stride, storage_offset
    ),
)
