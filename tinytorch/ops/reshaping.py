"""Views made of other views: dimensions moved, joined, split, transposed by attribute."""

from __future__ import annotations

from typing import Any

from ..tensor import Size, Tensor, read_only, wrap_dim
from ..warn import warn_in_torch
from .arguments import ABSENT, called_as_method, in_full, unfit
from .core import op
from .rejected import all_tensors, check_call
from .views import alias, expand, infer_size, permute, reshape, shape_argument, transpose, view

_SHAPE_FILE = "aten/src/ATen/native/TensorShape.cpp"


@op("movedim", "moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in their order. RuntimeError for repeated or unequal dimensions.

    Source: `torch.movedim`.
    """
    a = input._data
    if isinstance(source, int) != isinstance(destination, int):
        raise unfit("movedim")
    src, dst = ((source,), (destination,)) if isinstance(source, int) else (tuple(source), tuple(destination))
    if len(src) != len(dst):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(src)} dims) should contain the same number of "
            f"dims as destination ({list(dst)} dims)"
        )
    at, to = [wrap_dim(d, a.ndim) for d in src], [wrap_dim(d, a.ndim) for d in dst]
    for word, dims, given in (("source", at, src), ("destination", to, dst)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{word}` ({list(given)})")
    if not a.ndim:
        return alias(input)
    rest = iter(d for d in range(a.ndim) if d not in at)
    return permute(input, tuple(at[to.index(d)] if d in to else next(rest) for d in range(a.ndim)))


@op(guard=False)
def flatten(input: Tensor = ABSENT, /, *dims: Any, **named: Any) -> Tensor:
    """Dimensions from `start_dim` to `end_dim` joined into one; the tensor itself if that is one already.

    Source: `torch.flatten`.
    """
    if not (dims or named) and isinstance(input, Tensor):
        return input if input._data.ndim == 1 else reshape(input, (-1 if input._data.size else input._data.size,))
    return in_full(_flatten, "flatten", (input, *dims), named, of_view=False)


def _flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    shape = input._data.shape
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, (*shape[:first], Size(shape[first : last + 1]).numel(), *shape[last + 1 :]))


@op()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension split into several (one size may be -1). RuntimeError if they do not multiply up to it.

    Source: `torch.unflatten`.
    """
    if not isinstance(sizes, (tuple, list)) or {type(dim), *map(type, sizes)} != {int}:
        if called_as_method():
            check_call("unflatten", dim, sizes, lines=("Tensor.unflatten(int64_t dim, SymIntArrayRef sizes)",))
        else:
            check_call("unflatten", input, dim, sizes)
    want = shape_argument((sizes,), "unflatten")
    if not want:
        raise RuntimeError("unflatten: sizes must be non-empty")
    a = input._data
    d = wrap_dim(dim, a.ndim)
    try:
        if not a.ndim:
            raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
        new = infer_size(want, a.shape[d])
    except (IndexError, RuntimeError) as e:
        if "is invalid for input of size" not in str(e):
            raise RuntimeError(f"unflatten got an unexpected error:\n{e}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(want)} don't multiply up to the size of dim {d} ({a.shape[d]}) in the "
            "input tensor"
        ) from None
    return view(input, (*a.shape[:d], *new, *a.shape[d + 1 :]))


@op()
def ravel(input: Tensor) -> Tensor:
    """One dimension: a view of the tensor, or of a row-major copy.

    Source: `torch.ravel`.
    """
    return view(input.contiguous(), -1)


@op(function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expanded to another tensor's shape.

    Source: `torch.Tensor.expand_as`.
    """
    return expand(self, other._data.shape)


@op(strict=True)
def broadcast_to(input: Tensor, *size: Any) -> Tensor:
    """Expanded to a shape.

    Source: `torch.broadcast_to`.
    """
    return expand(input, *size)


def _atleast(n: int) -> None:
    def widen(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
            if not isinstance(tensors[0], Tensor):
                name = f"atleast_{n}d"
                check_call(name, tensors[0], lines=(f"{name}(Tensor input)", f"{name}(TensorList tensors)"))
            return _widened(tensors[0], n)
        return tuple(_widened(t, n) for t in all_tensors(tensors[0] if len(tensors) == 1 else tensors))

    widen.__name__ = widen.__qualname__ = f"atleast_{n}d"
    widen.__doc__ = f"Tensors of fewer dimensions viewed with {n}.\n\nSource: `torch.atleast_{n}d`."
    op(f"atleast_{n}d", method=False)(widen)


def _widened(t: Tensor, n: int) -> Tensor:
    d = t._data.ndim
    if d >= n:
        return t
    if d == 0:
        return reshape(t, (1,) * n)
    if n == 2:
        return t.unsqueeze(0)
    return t.unsqueeze(0).unsqueeze(-1) if d == 1 else t.unsqueeze(-1)


for _n in (1, 2, 3):
    _atleast(_n)


# attributes ----------------------------------------------------------------------------------------------------------


def _reversed(self: Tensor) -> Tensor:
    """All dimensions in reverse order.

    Source: `torch.Tensor.T`.
    """
    n = self._data.ndim
    if n == 0:
        warn_in_torch("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.",
                      f"{_SHAPE_FILE}:4321", once=True)  # fmt: skip
    elif n != 2:
        warn_in_torch(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            f"{_SHAPE_FILE}:4314", once=True,
        )  # fmt: skip
    return permute(self, tuple(range(n - 1, -1, -1)))


def _of_matrices(name: str, scalars: str, line: int, batches: bool = True) -> Any:
    def swap(self: Tensor) -> Tensor:
        n = self._data.ndim
        if n == 0:
            warn_in_torch(f"{name} is deprecated on 0-D tensors. {scalars}", f"{_SHAPE_FILE}:{line}", once=True)
            return self
        where = name.replace("Tensor", "tensor") if name[0] == "T" else f"tensor.{name}"
        if n == 1 or (n > 2 and not batches):
            kinds = "matrices or batches of matrices" if batches else "matrices (2-D tensors)"
            hint = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
            raise RuntimeError(f"{where} is only supported on {kinds}. Got {n}-D tensor.{hint}")
        return transpose(self, -2, -1)

    swap.__doc__ = f"The last two dimensions swapped.\n\nSource: `torch.Tensor.{name.rpartition('.')[2]}`."
    return swap


_CONJ = "Consider using x.conj()."
Tensor.T = property(_reversed)
Tensor.mT = property(_of_matrices("Tensor.mT", "This function is the identity in these cases.", 4373))
Tensor.H = property(_of_matrices("Tensor.H", _CONJ, 4335, batches=False))
Tensor.mH = property(_of_matrices("Tensor.mH", _CONJ, 4382))
for _name in ("T", "mT", "H", "mH"):
    setattr(Tensor, _name, vars(Tensor)[_name].setter(read_only(_name)).deleter(read_only(_name)))
for _name in ("T", "mT", "H", "mH"):
    setattr(Tensor, _name, vars(Tensor)[_name].setter(read_only(_name)).deleter(read_only(_name)))
_adjoint = _of_matrices("adjoint()", _CONJ, 4390)
_adjoint.__name__, _adjoint.__doc__ = "adjoint", "The last two dimensions swapped.\n\nSource: `torch.adjoint`."
op("adjoint")(_adjoint)
