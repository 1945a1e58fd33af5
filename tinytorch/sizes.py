"""Shapes and layouts: `torch.Size`, `torch.strided`, and counting dimensions from the end."""

from __future__ import annotations

from typing import Any, Self

from .naming import ShownAs, type_name


class Size(tuple, metaclass=ShownAs):  # noqa: SLOT001 - torch's has a __dict__
    """A shape: a tuple of ints that prints as torch prints shapes. TypeError for anything else than ints."""

    shown_as = "torch.Size"

    def __new__(cls, sizes: Any = ()) -> Self:
        """Make a shape of an iterable of ints."""
        made = tuple.__new__(cls, sizes)
        for n in made:
            if type(n) is not int:
                return tuple.__new__(cls, map(_as_size, range(len(made)), made))
        return made

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(repr, self))}])"

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        n = 1
        for k in self:
            n *= k
        return n

    def __add__(self, other: Any) -> Size:
        if hasattr(other, "__array_ufunc__"):
            return NotImplemented
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, n: Any) -> Size:
        if hasattr(n, "__array_ufunc__"):
            return NotImplemented
        if hasattr(n, "__index__"):
            return Size(tuple.__mul__(self, n))
        raise TypeError(f"can't multiply sequence by non-int of type '{type_name(n)}'")

    __rmul__ = __mul__

    def __getitem__(self, i: Any) -> Any:
        out = tuple.__getitem__(self, i)
        return Size(out) if isinstance(i, slice) else out

    def __reduce__(self) -> tuple:
        return Size, (tuple(self),)


def _as_size(position: int, n: Any) -> int:
    if isinstance(n, float) or not hasattr(n, "__index__"):
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{type_name(n)}')")
    try:
        return n.__index__()
    except TypeError:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{type_name(n)}')") from None


class Layout(metaclass=ShownAs):
    """How elements are laid out; tinytorch has `torch.strided` alone."""

    shown_as = "torch.layout"

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"


strided = Layout()


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the end brought to one from the start. IndexError in torch's words out of range."""
    n = max(ndim, 1)
    if type(dim) is not int:
        if isinstance(dim, bool):
            raise TypeError("a dimension must be int, not bool")
        dim = dim.__index__()
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim + n if dim < 0 else dim
