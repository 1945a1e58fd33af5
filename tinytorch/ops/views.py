"""Views: the same memory under another shape, other strides or another offset.

A kernel here returns an array that looks at the memory of its input. What NumPy's own view operations can say is said
by them, for they are the cheapest; `restride` is for the rest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import (
    address,
    dtypes,
    overlaps,
    owner,
    reach,
    restride,
    view_strides,
    warn_in_torch,
    wrap_dim,
    wrap_dims,
)
from ..graph import Geometry
from ..tensor import Tensor, fresh, readonly
from .copies import clone, contiguous_format, copy_
from .define import op, python
from .kernels import composite
from .kernels import view as looking

# other shapes of the same elements ------------------------------------------------------------------------------------


def infer_size(shape: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """Fill in the one -1 of a shape. RuntimeError in torch's words if the shape does not fit."""
    product, unknown = 1, None
    for i, n in enumerate(shape):
        if n == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        else:
            product *= n
    if unknown is None and product == numel:
        return tuple(shape)
    if unknown is not None and product == numel == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can be any value and is ambiguous")  # fmt: skip
    if unknown is None or not product or numel % product:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return (*shape[:unknown], numel // product, *shape[unknown + 1 :])


def _viewed(a: np.ndarray, size: tuple) -> np.ndarray:
    old, steps = a.shape, a.strides
    if a.size and (not old or steps[-1] == a.itemsize) and (len(old) == 1 or a.flags.c_contiguous):
        try:
            out = a.reshape(size)
            new = out.shape
            if (len(old) < 2 or new != old) and (
                new == size or -1 in size
            ):  # of the same shape NumPy keeps strides
                return out
        except ValueError:  # said below, in torch's words
            pass
    new = infer_size(size, a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is None:
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.")  # fmt: skip
    return restride(a, new, strides)


def _reread(a: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    old, new = a.itemsize, dtype.itemsize
    if old != new:
        name = f"{dtypes.BY_NUM[a.dtype.num].scalar_name} as {dtype.scalar_name} (different element sizes)"
        times, start = new // old, address(a) - address(owner(a))
        if not a.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {name}")
        if new > old and a.shape[-1] % times:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {times} to view {name}, but got {a.shape[-1]}"
            )
        if start % new:
            raise RuntimeError(
                f"self.storage_offset() must be divisible by {times} to view {name}, but got {start // old}"
            )
        if a.strides[-1] != old:
            raise RuntimeError(
                f"self.stride(-1) must be 1 to view {name}, but got {a.strides[-1] // old}"
            )
        for i, s in enumerate(a.strides[:-1]):
            if s % new:
                raise RuntimeError(
                    f"self.stride({i}) must be divisible by {times} to view {name}, but got {s // old}"
                )
    return a.view(dtype.np)


op("view(Tensor(a) self, ScalarType dtype)", looking(_reread), function=False)
view = op("view(Tensor(a) self, SymInt[] size)", looking(_viewed), function=False, backward="ViewBackward0",
          self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))  # fmt: skip
_reshape_alias = op("_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride)",
                    looking(lambda a, size, stride: restride(a, size, tuple([s * a.itemsize for s in stride]))),
                    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))  # fmt: skip
unsafe_view = op("_unsafe_view(Tensor self, SymInt[] size)", lambda a, size: _viewed(a, size), out=False,
                 self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))  # fmt: skip


def array_of(x: Any) -> Any:
    """The array of what a composite operation was given: a tensor, or in a formula an array."""
    return x if isinstance(x, (np.ndarray, np.generic)) else x._data


def _reshape(self: Any, shape: tuple) -> Any:
    a = array_of(self)
    if a.flags.c_contiguous:
        return view(self, shape)
    new = infer_size(shape, a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is not None:
        return _reshape_alias(self, new, tuple([s // a.itemsize for s in strides]))
    return unsafe_view(clone(self, contiguous_format), new)


def _flatten(self: Any, start_dim: int, end_dim: int) -> Any:
    shape = array_of(self).shape
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(self, (1,))
    if first == last:
        return self
    new = (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
    return view(self, new) if array_of(self).flags.c_contiguous else reshape(self, new)


reshape = op("reshape(Tensor(a) self, SymInt[] shape)", composite(_reshape))
op("view_as(Tensor(a) self, Tensor other)", composite(lambda self, other: view(self, array_of(other).shape)),
   function=False)  # fmt: skip
flatten = op("flatten(Tensor(a) self, int start_dim=0, int end_dim=-1)", composite(_flatten))
op("ravel(Tensor(a) self)", composite(lambda self: view(self.contiguous(), (-1,))))

# other orders of the dimensions ---------------------------------------------------------------------------------------


def _transposed(a: np.ndarray, dim0: int, dim1: int) -> np.ndarray:
    n = a.ndim
    if -n <= dim0 < n and -n <= dim1 < n:
        return a.swapaxes(dim0, dim1)
    (
        wrap_dim(dim0, n),
        wrap_dim(dim1, n),
    )  # which say what is wrong, but for a tensor without dimensions
    return a.view()


def _matrix_transposed(a: np.ndarray, name: str = "t") -> np.ndarray:
    if a.ndim > 2:
        raise RuntimeError(f"{name}() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return a.T


def _permuted(a: np.ndarray, dims: tuple) -> np.ndarray:
    if len(dims) != a.ndim:
        raise RuntimeError(f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = {a.ndim} is not equal to len(dims) = {len(dims)}")  # fmt: skip
    try:
        return a.transpose(dims)
    except ValueError:
        if len({wrap_dim(d, a.ndim) for d in dims}) != len(dims):
            raise RuntimeError("permute(): duplicate dims are not allowed.") from None
        raise


t = op("t(Tensor(a) self)", looking(_matrix_transposed), self=lambda grad: t(grad))
op("t_(Tensor(a!) self)", looking(lambda a: _matrix_transposed(a, "t_")), function=False, backward="TBackward1",
   self=lambda grad: t(grad))  # fmt: skip
permute = op("permute(Tensor(a) self, int[] dims)", looking(_permuted), self=lambda grad, dims: permute(
    grad, tuple(sorted(range(len(dims)), key=[d % len(dims) for d in dims].__getitem__))))  # fmt: skip

_MT_OF_NUMBERS = ("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.", "aten/src/ATen/native/TensorShape.cpp:4373")  # fmt: skip
_T_OF_OTHERS = (
    ("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.", "aten/src/ATen/native/TensorShape.cpp:4321"),
    ("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.", "aten/src/ATen/native/TensorShape.cpp:4314"),
)  # fmt: skip


def _reversed(self: Tensor) -> Tensor:
    """All dimensions in reverse order."""
    n = self._data.ndim
    if n != 2:
        warn_in_torch(*_T_OF_OTHERS[n > 0], once=True)
    return permute(self, tuple(range(n - 1, -1, -1)))


def _matrices_transposed(self: Tensor) -> Tensor:
    """The last two dimensions swapped."""
    n = self._data.ndim
    if n == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if n == 0:
        warn_in_torch(*_MT_OF_NUMBERS, once=True)
    return transpose(self, -2, -1) if n else self


for _name, _made in ("T", readonly(_reversed)), ("mT", readonly(_matrices_transposed)):
    _made.name = _name
    python(_name, _made, function=False)

# dimensions more and fewer --------------------------------------------------------------------------------------------


def _unsqueezed(a: np.ndarray, dim: int) -> np.ndarray:
    shape = a.shape
    n = len(shape)
    d = dim if 0 <= dim <= n else wrap_dim(dim, n + 1)
    if (
        a.flags.c_contiguous
        and a.size
        and (a.strides[0] == a.itemsize if n == 1 else 1 not in shape)
    ):
        return a.reshape(
            (1, *shape) if d == 0 else (*shape[:d], 1, *shape[d:])
        )  # whose strides are torch's then
    strides = a.strides
    step = a.itemsize if d == n else shape[d] * strides[d]
    return restride(a, (*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]))


def _squeezed(a: np.ndarray, dim: int | tuple) -> np.ndarray:
    if isinstance(dim, int):
        d = wrap_dim(dim, a.ndim)
        return a.squeeze(d if a.ndim and a.shape[d] == 1 else ())
    dims = wrap_dims(dim, a.ndim) if dim else ()
    return a.squeeze(tuple([d for d in dims if a.ndim and a.shape[d] == 1]))


def _unsqueeze_to(grad: Any, sizes: tuple, dims: Any) -> Any:
    for d in sorted([d % len(sizes) for d in dims]) if sizes else ():
        if sizes[d] == 1:
            grad = unsqueeze(grad, d)
    return grad


def _with_in_place(
    schema: str, look: Any, numbers: tuple[int, int], back: Any, **options: Any
) -> Any:
    """A view, and its form in place: the tensor itself looks at its memory in another way."""
    title = schema.partition("(")[0].title().replace("_", "") + "Backward"
    made = op(schema, looking(look), backward=f"{title}{numbers[0]}", self=back, **options)
    op(schema.replace("(Tensor(a) self", "_(Tensor(a!) self"), looking(look), backward=f"{title}{numbers[1]}", self=back,
       **(options or {"function": False}))  # fmt: skip
    return made


transpose = _with_in_place("transpose(Tensor(a) self, int dim0, int dim1)", _transposed, (0, 1),
                           lambda grad, dim0, dim1: transpose(grad, dim0, dim1))  # fmt: skip
unsqueeze = _with_in_place(
    "unsqueeze(Tensor(a) self, int dim)",
    _unsqueezed,
    (0, 1),
    lambda grad, dim: squeeze_dim(grad, dim),
)
squeeze = _with_in_place(
    "squeeze(Tensor(a) self)", np.ndarray.squeeze, (0, 3),
    lambda grad, self_sym_sizes: _unsqueeze_to(grad, self_sym_sizes, range(len(self_sym_sizes))))  # fmt: skip
squeeze_dim = _with_in_place(
    "squeeze(Tensor(a) self, int dim)", _squeezed, (1, 4),
    lambda grad, self_sym_sizes, dim: _unsqueeze_to(grad, self_sym_sizes, (dim,)))  # fmt: skip
_with_in_place("squeeze(Tensor(a) self, int[] dim)", _squeezed, (2, 5),
               lambda grad, self_sym_sizes, dim: _unsqueeze_to(grad, self_sym_sizes, dim))  # fmt: skip


def _expanded(a: np.ndarray, size: tuple, implicit: bool = False) -> np.ndarray:
    shape, strides = a.shape, a.strides
    if not shape and size and min(size) > 0:
        return np.ndarray(size, a.dtype, a, 0, (0,) * len(size))
    at, steps = len(shape) - len(size), []
    if at > 0:
        return _expanded_with_care(a, size)
    for k in size:
        if at >= 0 and k == shape[at]:
            steps.append(strides[at])
        elif k > 1 and (at < 0 or shape[at] == 1):
            steps.append(0)
        else:
            return _expanded_with_care(a, size)
        at += 1
    return restride(a, size, tuple(steps))


def _expanded_with_care(a: np.ndarray, size: tuple) -> np.ndarray:
    """`expand` with sizes that are kept (-1), or 0, or 1 in front, and with those that do not fit."""
    n, lead = a.ndim, len(size) - a.ndim
    if lead < 0:
        name = (
            f"torch.{dtypes.BY_NUM[a.dtype.num].tensor_type}" if a.dtype != bool else "CPUBoolType"
        )
        raise RuntimeError(f"expand({name}{{{list(a.shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor ({n})")  # fmt: skip
    new, steps = list(size), [0] * len(size)
    for i in range(len(size) - 1, -1, -1):
        want, d = size[i], i - lead
        have, step = (
            (a.shape[d], a.strides[d]) if d >= 0 else (1, new[i + 1] * steps[i + 1] if n else 0)
        )
        if want == -1 and n:
            if d < 0:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}")  # fmt: skip
            want = new[i] = have
        if have == want:
            steps[i] = step
        elif have != 1:
            raise RuntimeError(f"The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(a.shape)}")  # fmt: skip
    if min(new, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    return restride(a, tuple(new), tuple(steps))


def _summed_back(grad: Any, self_sym_sizes: tuple) -> Any:
    from .reductions import sum_to_size

    return sum_to_size(grad, self_sym_sizes)


expand = op("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False)", looking(_expanded), function=False,
            self=_summed_back)  # fmt: skip
op("expand_as(Tensor(a) self, Tensor other)", composite(lambda self, other: expand(self, array_of(other).shape)),
   function=False)  # fmt: skip
op("broadcast_to(Tensor(a) self, SymInt[] size)", composite(lambda self, size: expand(self, size)))

# any geometry ---------------------------------------------------------------------------------------------------------


def strided(
    a: np.ndarray, size: tuple, stride: tuple, storage_offset: int | None = None
) -> np.ndarray:
    """Any shape, strides and offset (in elements) that the memory holds. RuntimeError if it does not."""
    whole, n = owner(a), a.itemsize
    room, here = whole.nbytes, 0 if whole is a else address(a) - address(whole)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if any(k < 0 for k in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    offset = here // n if storage_offset is None else storage_offset
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    steps = tuple([s * n for s in stride])
    need = offset * n + reach(size, steps, n)
    if 0 not in size and need > room:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {n} requiring a storage size of {need} are out of bounds for storage of size {room}")  # fmt: skip
    return restride(a, size, steps, offset * n - here)


def _stepping(shape: tuple, stride: tuple, repeats: bool = False) -> tuple[tuple, tuple]:
    """Shape and strides without the dimensions of size 1 and, unless `repeats`, of stride 0."""
    kept = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1 and (s or repeats)]
    return tuple([n for n, _ in kept]), tuple([s for _, s in kept])


def as_strided_grad(
    grad: Any, _geometry: Geometry, size: tuple, stride: tuple, storage_offset: int | None
) -> Any:
    """The gradient of `as_strided`: each element's gradients are added where they lie in the source's memory.

    The same operations as torch's `as_strided_backward`, so that the graph of a second derivative is the same.
    """
    from .choosing import index_add_
    from .creation import new_ones, new_zeros
    from .filling import zero_
    from .reductions import sum_dims

    source = _geometry
    if 0 in source.shape or 0 in size:
        return zero_(new_zeros(grad, source.shape))
    for i in range(len(size) - 1, -1, -1):
        if size[i] == 1:
            grad = squeeze_dim(grad, i)
        elif stride[i] == 0:
            grad = sum_dims(grad, (i,))
    seen = Geometry(
        *_stepping(size, stride), source.offset if storage_offset is None else storage_offset
    )
    whole = Geometry(*_stepping(source.shape, source.stride, repeats=True), source.offset)
    start = min(whole.offset, seen.offset)
    room = max([g.offset + reach(g.shape, g.stride, 1) for g in (whole, seen)]) - start
    memory = new_zeros(grad, (room,))
    into, of = [
        strided(np.arange(room), g.shape, g.stride, g.offset - start) for g in (seen, whole)
    ]

    def places(cells: np.ndarray) -> Any:
        return cells.reshape(-1) if isinstance(grad, np.ndarray) else fresh(cells.reshape(-1))

    if overlaps(into):
        index_add_(memory, 0, places(into), reshape(grad, (-1,)))
    else:
        copy_(as_strided(memory, seen.shape, seen.stride, seen.offset - start), grad)
    if overlaps(of):
        times = index_add_(
            new_zeros(grad, (room,)), 0, places(of), expand(new_ones(grad, (1,)), (of.size,))
        )
        memory /= times
    return as_strided(memory, source.shape, source.stride, source.offset - start)


as_strided = _with_in_place(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None)", strided, (0, 1),
    as_strided_grad, writes=1, keeps={"_geometry": lambda values: Geometry.of(values[0])})  # fmt: skip
# PyTorch's formula returns a view of the tensor that it wrote to.
as_strided.node._new_gradient_state = as_strided.node._new_gradient_state.of_view()
