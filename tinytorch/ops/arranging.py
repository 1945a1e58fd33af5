"""Copies of tensors that are arranged anew: repeated, turned, beside each other, on a diagonal.

Some of them only look like copies: `atleast_2d`, `meshgrid` and `broadcast_tensors` give views, or
the very tensors. Each is made of the operations of the other lists where PyTorch's is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import (
    address_of,
    broadcast_shape,
    can_cast,
    check_memory,
    check_overlap,
    dense_strides,
    empty_like_strides,
    is_expanded,
    lay_out_result,
    print_as_cpp,
    restride_array,
    store_values,
    warn_in_torch,
    whole_memory,
    wrap_dim,
    wrap_given_dims,
)
from ..graph import needs_grad
from ..tensor import Size, Tensor
from .copies import contiguous_format, copy_array
from .define import make_function_of, offer_member, op
from .filling import written_zeros
from .kernels import Kernel, as_array, composite, delegating, result_dtype, row_major, write
from .late import LaterFunction
from .out_argument import OutArgument, OutRule
from .parts import (
    cat,
    diagonal,
    diagonal_of_array,
    find_diagonal_grad,
    select,
    select_array,
    slice_,
    slice_array,
    stack,
)
from .sums import expand, sum_dims
from .views import array_of, flatten, reshape, squeeze_dim, unsqueeze, view

# repeated and turned ------------------------------------------------------------------------------


def _repeat_array(a: np.ndarray, repeats: tuple) -> np.ndarray:
    """Return copies of an array beside each other, so many along each dimension."""
    if len(repeats) < a.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    shape = (1,) * (len(repeats) - a.ndim) + a.shape
    sizes = [t * n for t, n in zip(repeats, shape, strict=True)]
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {sizes}")
    if 0 in sizes:
        return np.empty(sizes, a.dtype)
    return lay_out_result(np.tile(a.reshape(shape), repeats))


def _repeat_backward(grad: Any, repeats: tuple, self_sym_sizes: tuple) -> Any:
    """Sum the gradient over the copies that `repeat` made."""
    if 0 in repeats:
        return written_zeros(grad, self_sym_sizes)
    lead = len(repeats) - len(self_sym_sizes)
    # One dimension at a time, as PyTorch: in the graph of the gradient each is a node.
    for _ in range(lead):
        grad = sum_dims(grad, (0,))
    shape, dims = [], []  # type: ignore[var-annotated]
    for times, n in zip(repeats[lead:], self_sym_sizes, strict=True):
        if times != 1:
            dims.append(len(shape))
            shape.append(times)
        shape.append(n)
    return sum_dims(reshape(grad, tuple(shape)), tuple(dims)) if dims else grad


repeat = op(
    "repeat(Tensor self, SymInt[] repeats)", _repeat_array, function=False, self=_repeat_backward
)
op(
    "tile(Tensor self, SymInt[] dims)",
    composite(lambda self, dims: repeat(self, (1,) * (array_of(self).ndim - len(dims)) + dims)),
)


def _flip_array(a: np.ndarray, dims: tuple) -> np.ndarray:
    """Return a copy with dimensions in reverse order, laid out as the array is."""
    at = wrap_given_dims(dims, a.ndim)
    out = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    out[...] = np.flip(a, at)
    return out


def _roll_array(a: np.ndarray, shifts: tuple, dims: tuple = ()) -> np.ndarray:
    """Return a copy with elements moved along dimensions, from the end to the beginning."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    # Of nothing PyTorch makes a clone. Several dimensions are made one before that, and again after.
    if not a.size and (dims or a.ndim == 1):
        return copy_array(a)
    if not a.ndim and dims:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    # Without dimensions, None: elements are moved as if they were in one row.
    return lay_out_result(np.roll(a, shifts, tuple([wrap_dim(d, a.ndim) for d in dims]) or None))


flip = op(
    "flip(Tensor self, int[] dims)",
    _flip_array,
    out=False,
    self=lambda grad, dims: flip(grad, dims),
)
roll = op(
    "roll(Tensor self, SymInt[1] shifts, int[1] dims=[])",
    _roll_array,
    out=False,
    self=lambda grad, shifts, dims: roll(
        grad, tuple([-s for s in reversed(shifts)]), tuple(reversed(dims))
    ),
)


def _flip_one_dim(self: Any, dim: int) -> Any:
    """Reverse rows or columns. RuntimeError if there are none."""
    if array_of(self).ndim <= dim:
        raise RuntimeError(f"Input must be >= {dim + 1}-d.")
    return flip(self, (dim,))


def _rotate_array(a: np.ndarray, k: int, dims: tuple) -> np.ndarray:
    """Return a copy turned by 90 degrees `k` times, from the first dimension to the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if a.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {a.ndim}")
    first, second = dims
    d1, d2 = wrap_dim(first, a.ndim), wrap_dim(second, a.ndim)
    if d1 == d2:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}"
        )
    turns = k % 4
    # Half a turn keeps the strides; it is one copy, and not two.
    if turns == 2:
        return _flip_array(a, (d1, d2))
    if turns:
        # PyTorch transposes the copy in place: it has the strides of a transposed one, and is no view.
        turned = _flip_array(a, (d2 if turns == 1 else d1,)).swapaxes(d1, d2)
        copy = empty_like_strides(turned.shape, turned.dtype, turned.strides)
        copy[...] = turned
        return copy
    return copy_array(a, contiguous_format)


op("fliplr(Tensor self)", composite(lambda self: _flip_one_dim(self, 1)))
op("flipud(Tensor self)", composite(lambda self: _flip_one_dim(self, 0)))
rot90 = op(
    "rot90(Tensor self, int k=1, int[] dims=[0, 1])",
    _rotate_array,
    out=False,
    self=lambda grad, k, dims: rot90(grad, -k, dims),
)

# triangles and diagonals --------------------------------------------------------------------------


def _is_written_by_copy(a: np.ndarray) -> bool:
    """Return True if `tril_` writes to a copy and that back: matrices do not follow one another.

    PyTorch asks it of four dimensions or more.
    """
    if a.ndim < 4 or a.flags.c_contiguous:
        return False
    step = a.shape[-1] * a.shape[-2] * a.itemsize
    for d in range(a.ndim - 3, -1, -1):
        is_trivial = d == 0 and (a.strides[d] == 0 or a.shape[d] == 1)
        if a.strides[d] != step and not is_trivial:
            return True
        step *= a.shape[d]
    return False


def _declare_triangle(name: str, keep: Callable) -> Any:
    """Declare `tril` or `triu`, which keep one triangle of matrices, and its form in place."""

    def keep_triangle(a: np.ndarray, diagonal: int) -> np.ndarray:
        if a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        # Beyond all diagonals every bound means the same, and NumPy's may be no larger than int64.
        reach = max(a.shape)
        return keep(a, min(max(diagonal, -reach - 1), reach + 1))

    def keep_triangle_in_place(a: np.ndarray, diagonal: int) -> np.ndarray:
        if _is_written_by_copy(a):
            check_overlap(a)
        return keep_triangle(a, diagonal)

    how = {
        "backward": f"{name.title()}Backward0",
        "self": lambda grad, diagonal: declared(grad, diagonal),
    }
    declared = op(
        f"{name}(Tensor self, SymInt diagonal=0)", row_major(keep_triangle), out="exact", **how
    )
    op(
        f"{name}_(Tensor(a!) self, SymInt diagonal=0)",
        write(keep_triangle_in_place),
        function=False,
        **how,
    )
    return declared


tril, triu = _declare_triangle("tril", np.tril), _declare_triangle("triu", np.triu)


def _embed_diagonal(a: np.ndarray, offset: int, dim1: int, dim2: int) -> np.ndarray:
    """Return matrices of zeros with the last dimension on a diagonal of theirs."""
    n = a.ndim + 1
    d1, d2 = wrap_dim(dim1, n), wrap_dim(dim2, n)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    sizes = list(a.shape[:-1])
    # The smaller first, or the larger would not be where it belongs.
    for d in sorted((d1, d2)):
        sizes.insert(d, a.shape[-1] + abs(offset))
    check_memory(tuple(sizes), a.itemsize)
    data = np.zeros(sizes, a.dtype)
    diagonal_of_array(data, offset, d1, d2)[...] = a
    return data


def _diagonal_or_matrix(self: Any, diagonal: int) -> Any:
    """Return a copy of a matrix's diagonal, or the matrix that has a vector as its diagonal."""
    n = array_of(self).ndim
    if n not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    return diag_embed(self, diagonal) if n == 1 else diagonal_copy(self, diagonal)


def _write_diagonal_or_matrix(out: Any, self: Any, diagonal: int) -> Any:
    """Write that into `out`, as the operation does that makes it."""
    n = self._data.ndim
    if n not in (1, 2):
        raise RuntimeError(f"Supports 1D or 2D tensors. Got {n}D")
    if n == 2:
        return diagonal_copy.run_into_out(out, (self, diagonal, 0, 1))
    if not can_cast(self.dtype, out.dtype):
        raise RuntimeError(
            f"diag: result type {self.dtype.scalar_name} can't be cast to the desired out= type "
            f"{out.dtype.scalar_name}"
        )
    if out.dtype is not self.dtype and not needs_grad(out):
        # PyTorch resizes `out`, and then looks at the dtype.
        size = self._data.size + abs(diagonal)
        OutArgument(out, OutRule(), [self]).resize((size, size))
    OutRule("exact").check_dtype(self.dtype, out.dtype)
    return diag_embed.run_into_out(out, (self, diagonal, -2, -1))


diag_embed = op(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1)",
    _embed_diagonal,
    out=False,
    undifferentiable_out=True,
    self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)
diagonal_copy = op(
    "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1)",
    Kernel(
        lambda a, *where: copy_array(diagonal_of_array(a, *where), contiguous_format), is_copy=True
    ),
    method=False,
    out="exact",
    undifferentiable_out=True,
    backward="DiagonalBackward0_copy",
    self=find_diagonal_grad,
)
diag = op(
    "diag(Tensor self, int diagonal=0)",
    composite(_diagonal_or_matrix, into_out=_write_diagonal_or_matrix),
    out=True,
)
op(
    "diagflat(Tensor self, int offset=0)",
    composite(lambda self, offset: diag(view(self.contiguous(), (-1,)), offset)),
)


def _place_blocks(tensors: list[np.ndarray]) -> np.ndarray:
    """Return zeros with each array as a block on the diagonal, in the dtype that all meet in."""
    for i, a in enumerate(tensors):
        if a.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {a.ndim} dimensions"
            )
    # as PyTorch, where no block is the same as one empty vector
    if not tensors:
        return np.zeros((1, 0), np.float32)
    blocks = [np.atleast_2d(a) for a in tensors]
    d = result_dtype(*tensors)
    data = np.zeros((sum(a.shape[0] for a in blocks), sum(a.shape[1] for a in blocks)), d.np)
    row = column = 0
    for a in blocks:
        data[row : row + a.shape[0], column : column + a.shape[1]] = as_array(a, d)
        row, column = row + a.shape[0], column + a.shape[1]
    return data


def _block_grads(grad: Any, _tensors_sizes: list) -> list:
    """Return the gradient of each block: its part of the gradient, in its own shape."""
    parts, row, column = [], 0, 0
    for shape in _tensors_sizes:
        rows, columns = (1, 1, *shape)[-2:]
        part = slice_(slice_(grad, 0, row, row + rows), 1, column, column + columns)
        # That of a vector stays a row, which the engine sums to its shape, as PyTorch's does.
        for _ in range(2 - len(shape)):
            part = squeeze_dim(part, -1)
        parts.append(part)
        row, column = row + rows, column + columns
    return parts


_block_diag = op(
    "block_diag(Tensor[] tensors)",
    _place_blocks,
    function=False,
    method=False,
    tensors=_block_grads,
)

# a part exchanged, in a copy ----------------------------------------------------------------------


def _copy_whole_memory(a: np.ndarray) -> np.ndarray:
    """Return a copy of all of an array's memory, seen as the array sees it.

    An array of which elements share cells is copied alone.
    """
    if is_expanded(a):
        return copy_array(a)
    whole = whole_memory(a)
    start = address_of(a) - address_of(whole)
    cells = whole.view(np.uint8)[: whole.nbytes // a.itemsize * a.itemsize].copy().view(a.dtype)
    return restride_array(cells, a.shape, a.strides, start)


def make_scatter_kernel(view_kernel: Callable) -> Callable:
    """Make a kernel that copies, and writes `src` into what `view_kernel` sees of the copy."""

    def kernel(a: np.ndarray, src: np.ndarray, *where: Any) -> np.ndarray:
        out = _copy_whole_memory(a)
        view = view_kernel(out, *where)
        if view.shape != src.shape:
            raise RuntimeError(
                "expected src to have a size equal to the slice of self. src size = "
                f"{list(src.shape)}, slice size = {list(view.shape)}"
            )
        store_values(view, src)
        return out

    return kernel


select_scatter = op(
    "select_scatter(Tensor self, Tensor src, int dim, SymInt index)",
    make_scatter_kernel(select_array),
    out=False,
    self=lambda grad, _src_sizes, dim, index: select_scatter(
        grad, written_zeros(grad, _src_sizes), dim, index
    ),
    src=lambda grad, dim, index: select(grad, dim, index),
)
slice_scatter = op(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, "
    "SymInt step=1)",
    make_scatter_kernel(slice_array),
    out=False,
    self=lambda grad, _src_sizes, dim, start, end, step: slice_scatter(
        grad, written_zeros(grad, _src_sizes), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)
diagonal_scatter = op(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1)",
    make_scatter_kernel(diagonal_of_array),
    out=False,
    self=lambda grad, _src_sizes, offset, dim1, dim2: diagonal_scatter(
        grad, written_zeros(grad, _src_sizes), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)

# dimensions in front and behind -------------------------------------------------------------------


def _at_least_1d(self: Any) -> Any:
    """Return the tensor itself, or a view with one dimension."""
    return self if array_of(self).ndim else reshape(self, (1,))


def _at_least_2d(self: Any) -> Any:
    """Return the tensor itself, or a view with two dimensions: a vector becomes a row."""
    n = array_of(self).ndim
    if n == 0:
        return reshape(self, (1, 1))
    return unsqueeze(self, 0) if n == 1 else self


def _at_least_3d(self: Any) -> Any:
    """Return the tensor itself, or a view with three dimensions."""
    n = array_of(self).ndim
    if n == 0:
        return reshape(self, (1, 1, 1))
    if n == 1:
        return unsqueeze(unsqueeze(self, 0), -1)
    return unsqueeze(self, -1) if n == 2 else self


def _declare_of_many(name: str, *ops: Any) -> None:
    """Offer operations whose tensors are given one by one, as PyTorch's function in Python does."""

    def make() -> Callable:
        call = make_function_of(*ops)
        # `atleast_1d(x)` gives a tensor, and `atleast_1d(x, y)` a tuple.
        takes_one = len(ops) > 1

        def call_on_all(*tensors: Any) -> Any:
            return call(tensors[0] if takes_one and len(tensors) == 1 else tensors)

        call_on_all.__name__ = call_on_all.__qualname__ = name
        call_on_all.__module__ = "tinytorch"
        call_on_all.__doc__ = call.__doc__
        return call_on_all

    offer_member(name, LaterFunction(make), method=False)


_HIDDEN: dict[str, Any] = {"function": False, "method": False}
for _name, _make in (
    ("atleast_1d", _at_least_1d),
    ("atleast_2d", _at_least_2d),
    ("atleast_3d", _at_least_3d),
):
    _declare_of_many(
        _name,
        op(f"{_name}(Tensor self)", composite(_make), **_HIDDEN),
        op(
            f"{_name}(Tensor[] tensors) -> Tensor[]",
            composite(lambda tensors, make=_make: tuple([make(t) for t in tensors])),
            **_HIDDEN,
        ),
    )
_declare_of_many("block_diag", _block_diag)

# side by side -------------------------------------------------------------------------------------


def _as_column(self: Any) -> Any:
    """Return a vector or a number as a column, and all else itself."""
    a = array_of(self)
    return reshape(self, (a.size, 1)) if a.ndim < 2 else self


def _lay_side_by_side(tensors: list) -> tuple[list, int]:
    parts = [_at_least_1d(t) for t in tensors]
    return parts, 0 if array_of(parts[0]).ndim == 1 else 1


def _declare_stack(name: str, arrange: Callable, aka: tuple[str, ...] = ()) -> None:
    """Declare one of the functions that join along a dimension which their name says.

    `arrange` returns what `cat` joins for it, and along which dimension.
    """

    def arrange_some(tensors: list) -> tuple[list, int]:
        if not tensors:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        return arrange(tensors)

    op(f"{name}(Tensor[] tensors)", delegating(cat, arrange_some), method=False, out=True, aka=aka)


_declare_stack("hstack", _lay_side_by_side)
_declare_stack("vstack", lambda tensors: ([_at_least_2d(t) for t in tensors], 0), ("row_stack",))
_declare_stack("dstack", lambda tensors: ([_at_least_3d(t) for t in tensors], 2))
_declare_stack("column_stack", lambda tensors: _lay_side_by_side([_as_column(t) for t in tensors]))

# against each other -------------------------------------------------------------------------------


def _broadcast_all(tensors: list) -> tuple:
    """Return each tensor in the shape of all: a view, or the very tensor if it has that shape."""
    shapes = [array_of(t).shape for t in tensors]
    if not shapes:
        return ()
    shape = broadcast_shape(*shapes)
    return tuple([t if array_of(t).shape == shape else expand(t, shape) for t in tensors])


_declare_of_many(
    "broadcast_tensors",
    op("broadcast_tensors(Tensor[] tensors) -> Tensor[]", composite(_broadcast_all), **_HIDDEN),
)


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of these shapes have once they are broadcast.

    RuntimeError for those that do not fit, ValueError for a negative size.
    Source: `torch.broadcast_shapes`.
    """
    given = [(shape,) if isinstance(shape, int) else shape for shape in shapes if shape is not None]
    for shape in given:
        if not isinstance(shape, Sequence):
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
                f"{shape}"
            )
    common = [1] * max(map(len, given), default=0)
    for at, shape in enumerate(given):
        for d in range(-1, -1 - len(shape), -1):
            if shape[d] == common[d]:
                continue
            if common[d] == 1:
                if shape[d] < 0:
                    raise ValueError("Attempting to broadcast a dimension with negative length!")
                common[d] = shape[d]
            elif shape[d] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[d]} at {d}! Mismatching "
                    f"argument at index {at} had {shape}; but expected shape should be "
                    f"broadcastable to {common}"
                )
    return Size(common)


offer_member("broadcast_shapes", broadcast_shapes, method=False)


def _make_grids(tensors: list, indexing: str | None = None) -> tuple:
    """Return a view of each vector, expanded along the dimensions of the others."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warn_in_torch(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            "aten/src/ATen/native/TensorShape.cpp:4215",
            once=True,
        )
    if len({array_of(t).dtype for t in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy", None):
        raise RuntimeError(
            'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + str(indexing)
        )
    dims = list(range(len(tensors)))
    if indexing == "xy":
        dims[:2] = dims[:2][::-1]
    shape = [1] * len(tensors)
    for t, d in zip(tensors, dims, strict=True):
        a = array_of(t)
        if a.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                + print_as_cpp(a)
            )
        shape[d] = a.size
    grids = []
    for t, d in zip(tensors, dims, strict=True):
        shape_along_d = [1] * len(tensors)
        shape_along_d[d] = -1
        grids.append(expand(view(t, tuple(shape_along_d)), tuple(shape)))
    return tuple(grids)


def _pair_all(tensors: list) -> Any:
    """Return a row for each choice of one element of each vector; one vector is given back."""
    for t in tensors:
        if array_of(t).ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(array_of(t).shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid) for grid in _make_grids(tensors, "ij")], 1)


_meshgrid_ops = (
    op("meshgrid(Tensor[] tensors) -> Tensor[]", composite(_make_grids), **_HIDDEN),
    op(
        "meshgrid(Tensor[] tensors, *, str indexing) -> Tensor[]",
        composite(_make_grids),
        **_HIDDEN,
    ),
)
_later_meshgrid = LaterFunction(lambda: make_function_of(*_meshgrid_ops))


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return a view of each vector, expanded along the dimensions of the others.

    With "xy" the first two dimensions change places. Source: `torch.meshgrid`.
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    call = _later_meshgrid.function
    return call(given) if indexing is None else call(given, indexing=indexing)


offer_member("meshgrid", meshgrid, method=False)
_declare_of_many(
    "cartesian_prod",
    op("cartesian_prod(Tensor[] tensors)", composite(_pair_all), **_HIDDEN),
)
