"""Views: the same memory under another shape, other strides or another offset.

A kernel here returns an array that looks at the memory of its input. What NumPy's own view
operations can say is said by them, because they are the cheapest; `restride` is for the rest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import (
    address_of,
    dtypes,
    memory_owner,
    restride_array,
    view_strides,
    warn_in_torch,
    wrap_dim,
    wrap_given_dims,
)
from ..tensor import Tensor, readonly
from .calling import Overloads
from .copies import alias, clone, contiguous_format
from .define import offer_member, op
from .kernels import composite
from .kernels import view as view_kernel
from .late import LaterFunction

# other shapes of the same elements ----------------------------------------------------------------


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
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if unknown is None or not product or numel % product:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return (*shape[:unknown], numel // product, *shape[unknown + 1 :])


def view_array(a: np.ndarray, size: tuple) -> np.ndarray:
    """Return a view of a shape. RuntimeError if strides do not allow it."""
    old, steps = a.shape, a.strides
    if a.size and (not old or steps[-1] == a.itemsize) and (len(old) == 1 or a.flags.c_contiguous):
        try:
            out = a.reshape(size)
            new = out.shape
            # Where the shape is the same, NumPy keeps strides that PyTorch computes anew.
            if (len(old) < 2 or new != old) and (new == size or -1 in size):
                return out
        except ValueError:  # said below, in torch's words
            pass
    new = infer_size(size, a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return restride_array(a, new, strides)


def reinterpret_array(a: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    """Return the same bytes as elements of another dtype. RuntimeError if they do not fit."""
    old, new = a.itemsize, dtype.itemsize
    if old != new:
        name = (
            f"{dtypes.BY_NUM[a.dtype.num].scalar_name} as {dtype.scalar_name} (different element "
            "sizes)"
        )
        times, start = new // old, address_of(a) - address_of(memory_owner(a))
        if not a.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {name}")
        if new > old and a.shape[-1] % times:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {times} to view {name}, but got {a.shape[-1]}"
            )
        if start % new:
            raise RuntimeError(
                f"self.storage_offset() must be divisible by {times} to view {name}, but got "
                f"{start // old}"
            )
        if a.strides[-1] != old:
            raise RuntimeError(
                f"self.stride(-1) must be 1 to view {name}, but got {a.strides[-1] // old}"
            )
        for i, s in enumerate(a.strides[:-1]):
            if s % new:
                raise RuntimeError(
                    f"self.stride({i}) must be divisible by {times} to view {name}, but got "
                    f"{s // old}"
                )
    return a.view(dtype.np)


op("view(Tensor(a) self, ScalarType dtype)", view_kernel(reinterpret_array), function=False)
view = op(
    "view(Tensor(a) self, SymInt[] size)",
    view_kernel(view_array),
    function=False,
    backward="ViewBackward0",
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)
_reshape_alias = op(
    "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride)",
    view_kernel(
        lambda a, size, stride: restride_array(a, size, tuple([s * a.itemsize for s in stride]))
    ),
    function=False,
    method=False,
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)
unsafe_view = op(
    "_unsafe_view(Tensor self, SymInt[] size)",
    lambda a, size: view_array(a, size),
    function=False,
    method=False,
    out=False,
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)


def array_of(x: Any) -> Any:
    """Return the array of a tensor, or of an array, as formulas pass them, itself."""
    return x if isinstance(x, (np.ndarray, np.generic)) else x._data


def _reshape_or_copy(self: Any, shape: tuple) -> Any:
    """Return a view of a shape where strides allow it, else a copy."""
    a = array_of(self)
    if a.flags.c_contiguous:
        return view(self, shape)
    new = infer_size(shape, a.size)
    strides = view_strides(a.shape, a.strides, a.itemsize, new)
    if strides is not None:
        return _reshape_alias(self, new, tuple([s // a.itemsize for s in strides]))
    # Not recorded as a view, as in PyTorch: nobody else has the copy.
    return unsafe_view(clone(self, contiguous_format), new)


def _flatten_dims(self: Any, start_dim: int, end_dim: int) -> Any:
    """Make one dimension of several: the tensor itself, a view, or a copy."""
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


def _unflatten_dim(self: Any, dim: int, sizes: tuple) -> Any:
    """Make several dimensions of one. RuntimeError unless their sizes multiply up to its size."""
    shape = array_of(self).shape
    d = wrap_dim(dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    unexpected = "unflatten got an unexpected error:\n"
    if not shape:
        raise RuntimeError(f"{unexpected}Dimension specified as {d} but tensor has no dimensions")
    try:
        new = infer_size(sizes, shape[d])
    except RuntimeError as error:
        if "is invalid for input of size" not in str(error):
            raise RuntimeError(f"{unexpected}{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} "
            f"({shape[d]}) in the input tensor"
        ) from None
    return view(self, (*shape[:d], *new, *shape[d + 1 :]))


reshape = op("reshape(Tensor(a) self, SymInt[] shape)", composite(_reshape_or_copy))
op(
    "view_as(Tensor(a) self, Tensor other)",
    composite(lambda self, other: view(self, array_of(other).shape)),
    function=False,
)
op(
    "reshape_as(Tensor(a) self, Tensor other)",
    composite(lambda self, other: reshape(self, array_of(other).shape)),
    function=False,
)
flatten = op("flatten(Tensor(a) self, int start_dim=0, int end_dim=-1)", composite(_flatten_dims))
unflatten = op(
    "unflatten(Tensor(a) self, int dim, SymInt[] sizes)", composite(_unflatten_dim), method=False
)


def _make_unflatten() -> Any:
    """Make the method in C that PyTorch's method in Python calls, which says what does not fit."""
    overloads = Overloads("unflatten")
    overloads.add(unflatten, method=True)
    return overloads.make_function(method=True)


_later_unflatten = LaterFunction(_make_unflatten)


def unflatten_tensor(self: Tensor, dim: int, sizes: Any) -> Tensor:
    """Make several dimensions of one, as `torch.unflatten` does. RuntimeError for no sizes."""
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not isinstance(self, Tensor):
        raise TypeError("super(type, obj): obj must be an instance or subtype of type")
    return _later_unflatten.function(self, dim, sizes)


unflatten_tensor.__name__, unflatten_tensor.__qualname__ = "unflatten", "Tensor.unflatten"
offer_member("unflatten", unflatten_tensor, function=False)
op("ravel(Tensor(a) self)", composite(lambda self: view(self.contiguous(), (-1,))))

# other orders of the dimensions -------------------------------------------------------------------


def _swap_dims(a: np.ndarray, dim0: int, dim1: int) -> np.ndarray:
    """Exchange two dimensions."""
    n = a.ndim
    if -n <= dim0 < n and -n <= dim1 < n:
        return a.swapaxes(dim0, dim1)
    # These raise for a dimension that does not exist; of a 0-d tensor, 0 and -1 do exist.
    wrap_dim(dim0, n)
    wrap_dim(dim1, n)
    return a.view()


def _transpose_matrix(a: np.ndarray, name: str = "t") -> np.ndarray:
    """Exchange the dimensions of a matrix; vectors and 0-d arrays stay. RuntimeError for more."""
    if a.ndim > 2:
        raise RuntimeError(f"{name}() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return a.T


def _permute_array(a: np.ndarray, dims: tuple) -> np.ndarray:
    """Put all dimensions into another order. RuntimeError unless each is there once."""
    if len(dims) != a.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match "
            f"the length of the desired ordering of dimensions i.e. input.dim() = {a.ndim} is "
            f"not equal to len(dims) = {len(dims)}"
        )
    try:
        return a.transpose(dims)
    except ValueError:
        if len({wrap_dim(d, a.ndim) for d in dims}) != len(dims):
            raise RuntimeError("permute(): duplicate dims are not allowed.") from None
        raise


t = op("t(Tensor(a) self)", view_kernel(_transpose_matrix), self=lambda grad: t(grad))
op(
    "t_(Tensor(a!) self)",
    view_kernel(lambda a: _transpose_matrix(a, "t_")),
    function=False,
    backward="TBackward1",
    self=lambda grad: t(grad),
)
permute = op(
    "permute(Tensor(a) self, int[] dims)",
    view_kernel(_permute_array),
    self=lambda grad, dims: permute(
        # The order that undoes `dims`.
        grad,
        tuple(sorted(range(len(dims)), key=[d % len(dims) for d in dims].__getitem__)),
    ),
)


def _move_dims(self: Any, source: Any, destination: Any) -> Any:
    """Move dimensions to other places; the others stay in order. RuntimeError for repeated ones."""
    n = array_of(self).ndim
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should "
            f"contain the same number of dims as destination ({list(destination)} dims)"
        )
    old_places = [wrap_dim(d, n) for d in source]
    new_places = [wrap_dim(d, n) for d in destination]
    for name, dims, places in (
        ("source", source, old_places),
        ("destination", destination, new_places),
    ):
        if len(set(places)) != len(places):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    if not n:
        return alias(self)
    order = [d for d in range(n) if d not in old_places]
    for new, old in sorted(zip(new_places, old_places, strict=True)):
        order.insert(new, old)
    return permute(self, tuple(order))


op(
    "movedim(Tensor(a) self, int source, int destination)",
    composite(lambda self, source, destination: _move_dims(self, (source,), (destination,))),
    aka=("moveaxis",),
)
op(
    "movedim(Tensor(a) self, int[] source, int[] destination)",
    composite(_move_dims),
    aka=("moveaxis",),
)

# What PyTorch says of tensors without dimensions, of which these are the very tensor, by the name
# that it says, and where it does.
_IDENTITY_OF_NUMBERS = "is deprecated on 0-D tensors. This function is the identity in these cases."
_CONJUGATE_OF_NUMBERS = "is deprecated on 0-D tensors. Consider using x.conj()."
_OF_NUMBERS = {
    "T": (_IDENTITY_OF_NUMBERS, 4321),
    "H": (_CONJUGATE_OF_NUMBERS, 4335),
    "mT": (_IDENTITY_OF_NUMBERS, 4373),
    "mH": (_CONJUGATE_OF_NUMBERS, 4382),
    "adjoint()": (_CONJUGATE_OF_NUMBERS, 4390),
}
_T_OF_OTHERS = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
    "and it will throw an error in a future release. Consider `x.mT` to transpose batches of "
    "matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a "
    "tensor."
)
_SHAPES_IN_TORCH = "aten/src/ATen/native/TensorShape.cpp"


def _warn_of_number(name: str) -> None:
    """Warn that a tensor without dimensions was transposed."""
    words, line = _OF_NUMBERS[name]
    owner = "" if name == "adjoint()" else "Tensor."
    warn_in_torch(f"{owner}{name} {words}", f"{_SHAPES_IN_TORCH}:{line}", once=True)


def _reverse_dims(self: Tensor) -> Tensor:
    """Return a view with all dimensions in reverse order."""
    n = self._data.ndim
    if n == 0:
        _warn_of_number("T")
    elif n != 2:
        warn_in_torch(_T_OF_OTHERS, f"{_SHAPES_IN_TORCH}:4314", once=True)
    return permute(self, tuple(range(n - 1, -1, -1)))


def _transpose_only_matrix(self: Tensor) -> Tensor:
    """Return a matrix transposed. RuntimeError for one dimension and for more than two."""
    n = self._data.ndim
    if n not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}"
        )
    if n == 0:
        _warn_of_number("H")
    return transpose(self, -2, -1) if n else self


def _transpose_matrices(self: Tensor, name: str) -> Tensor:
    """Return a view with the last two dimensions swapped."""
    n = self._data.ndim
    if n == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if n == 0:
        _warn_of_number(name)
    return transpose(self, -2, -1) if n else self


for _name, _member in (
    ("T", readonly(_reverse_dims)),
    ("H", readonly(_transpose_only_matrix)),
    (
        "mT",
        readonly(
            lambda self: _transpose_matrices(self, "mT"),
            doc="A view with the last two dimensions swapped.",
        ),
    ),
    (
        "mH",
        readonly(
            lambda self: _transpose_matrices(self, "mH"),
            doc="The same as `mT`, as the numbers are real.",
        ),
    ),
):
    _member.name = _name
    offer_member(_name, _member, function=False)
op(
    "adjoint(Tensor(a) self)",
    composite(lambda self: _transpose_matrices(self, "adjoint()")),
)
# Of real numbers these change nothing: they give the very tensor.
for _name in "conj", "resolve_conj", "resolve_neg":
    op(f"{_name}(Tensor(a) self)", composite(lambda self: self))
op("real(Tensor(a) self)", composite(lambda self: self), method=False)

# dimensions more and fewer ------------------------------------------------------------------------


def _unsqueeze_array(a: np.ndarray, dim: int) -> np.ndarray:
    """Insert a dimension of size 1, with the stride that PyTorch gives it."""
    shape = a.shape
    n = len(shape)
    d = dim if 0 <= dim <= n else wrap_dim(dim, n + 1)
    if (
        a.flags.c_contiguous
        and a.size
        and (a.strides[0] == a.itemsize if n == 1 else 1 not in shape)
    ):
        # Then NumPy gives the new dimension the stride that PyTorch gives it.
        return a.reshape((1, *shape) if d == 0 else (*shape[:d], 1, *shape[d:]))
    strides = a.strides
    step = a.itemsize if d == n else shape[d] * strides[d]
    return restride_array(a, (*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]))


def _squeeze_array(a: np.ndarray, dim: int | tuple) -> np.ndarray:
    """Remove dimensions of size 1."""
    if isinstance(dim, int):
        d = wrap_dim(dim, a.ndim)
        # An empty tuple removes no dimension, and gives a view all the same.
        return a.squeeze(d if a.ndim and a.shape[d] == 1 else ())
    dims = wrap_given_dims(dim, a.ndim)
    return a.squeeze(tuple([d for d in dims if a.ndim and a.shape[d] == 1]))


def _unsqueeze_grad(grad: Any, sizes: tuple, dims: Any) -> Any:
    if not sizes:
        return grad
    for d in sorted([d % len(sizes) for d in dims]):
        if sizes[d] == 1:
            grad = unsqueeze(grad, d)
    return grad


def declare_view_with_in_place(
    schema: str, look: Any, numbers: tuple[int, int], back: Any, **options: Any
) -> Any:
    """Declare a view, and its form in place, which changes the tensor itself."""
    title = schema.partition("(")[0].title().replace("_", "") + "Backward"
    declared = op(schema, view_kernel(look), backward=f"{title}{numbers[0]}", self=back, **options)
    op(
        schema.replace("(Tensor(a) self", "_(Tensor(a!) self"),
        view_kernel(look),
        backward=f"{title}{numbers[1]}",
        self=back,
        **(options or {"function": False}),
    )
    return declared


transpose = declare_view_with_in_place(
    "transpose(Tensor(a) self, int dim0, int dim1)",
    _swap_dims,
    (0, 1),
    lambda grad, dim0, dim1: transpose(grad, dim0, dim1),
)
for _name, _axes in ("swapaxes", "axis0, int axis1"), ("swapdims", "dim0, int dim1"):
    op(
        f"{_name}(Tensor(a) self, int {_axes})",
        composite(lambda self, first, second: transpose(self, first, second)),
    )
    op(
        f"{_name}_(Tensor(a!) self, int {_axes})",
        composite(lambda self, first, second: self.transpose_(first, second)),
        function=False,
    )
unsqueeze = declare_view_with_in_place(
    "unsqueeze(Tensor(a) self, int dim)",
    _unsqueeze_array,
    (0, 1),
    lambda grad, dim: squeeze_dim(grad, dim),
)
squeeze = declare_view_with_in_place(
    "squeeze(Tensor(a) self)",
    np.ndarray.squeeze,
    (0, 3),
    lambda grad, self_sym_sizes: _unsqueeze_grad(grad, self_sym_sizes, range(len(self_sym_sizes))),
)
squeeze_dim = declare_view_with_in_place(
    "squeeze(Tensor(a) self, int dim)",
    _squeeze_array,
    (1, 4),
    lambda grad, self_sym_sizes, dim: _unsqueeze_grad(grad, self_sym_sizes, (dim,)),
)
declare_view_with_in_place(
    "squeeze(Tensor(a) self, int[] dim)",
    _squeeze_array,
    (2, 5),
    lambda grad, self_sym_sizes, dim: _unsqueeze_grad(grad, self_sym_sizes, dim),
)
