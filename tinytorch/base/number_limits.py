"""The limits of dtypes: `torch.finfo` and `torch.iinfo`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .dtypes import as_dtype, bool_, dtype, get_default_dtype
from .errors import ShownAs, type_name

_DEFAULT: Any = object()
_Init = TypeVar("_Init", bound=Callable[..., None])


def _check_arguments(init: _Init) -> _Init:
    """Return the `__init__`, which reads its one argument, a dtype, as PyTorch's parsers do.

    TypeError in torch's words for other arguments.
    """
    name = init.__qualname__.partition(".")[0]

    @functools.wraps(init)
    def read_and_init(self: Any, *args: Any, **named: Any) -> None:
        if name == "finfo" and len(args) + len(named) > 1:
            raise _refuse_combination(args, named)
        if len(args) > 1:
            raise TypeError(f"{name}() takes 1 positional argument but {len(args)} were given")
        if args:
            init(self, _check_type(name, args[0], " (position 1)"))
        elif "type" in named:
            init(self, _check_type(name, named["type"]))
        elif named or name == "iinfo":
            raise TypeError(f'{name}() missing 1 required positional arguments: "type"')
        else:
            init(self)
        for other in named:
            if args and other == "type":
                raise TypeError(f"{name}() got multiple values for argument 'type'")
            if other != "type":
                raise TypeError(f"{name}() got an unexpected keyword argument '{other}'")

    return read_and_init  # type: ignore[return-value]


def _refuse_combination(args: tuple, named: dict[str, Any]) -> TypeError:
    """Make PyTorch's error for more arguments than `finfo` takes."""
    # torch lists them in the order of its hash table, which mostly is this one
    given = [type_name(a) for a in args]
    given += [f"{name}={type_name(value)}" for name, value in reversed(named.items())]
    end = "" if args else ", "
    return TypeError(
        f"finfo() received an invalid combination of arguments - got ({', '.join(given)}{end}), "
        "but expected one of:\n * (torch.dtype type)\n * ()\n"
    )


def _check_type(name: str, given: Any, place: str = "") -> dtype:
    """Return a dtype of torch's or of Python's. TypeError, in torch's words, for anything else."""
    found = as_dtype(given)
    if not isinstance(found, dtype):
        raise TypeError(
            f"{name}(): argument 'type'{place} must be torch.dtype, not {type_name(given)}"
        )
    return found


class finfo(metaclass=ShownAs):
    """The limits of a floating point dtype, of the default one if none is given.

    TypeError for another dtype. Source: `torch.finfo`.
    """

    shown_as = "torch.finfo"
    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    @_check_arguments
    def __init__(self, type: Any = _DEFAULT) -> None:
        d = get_default_dtype() if type is _DEFAULT else type
        if not d.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        limits = np.finfo(d.np)
        self.bits, self.dtype = 8 * d.itemsize, d.called
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.smallest_normal = self.tiny = float(limits.smallest_normal)
        self.resolution = 10.0**-limits.precision

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    __hash__ = None  # type: ignore[assignment]


class iinfo(metaclass=ShownAs):
    """The limits of an integer dtype. TypeError for another one. Source: `torch.iinfo`."""

    shown_as = "torch.iinfo"
    __slots__ = ("bits", "dtype", "max", "min")

    @_check_arguments
    def __init__(self, type: Any) -> None:
        d = type
        if d.is_floating_point:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        if d is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        limits = np.iinfo(d.np)
        self.bits, self.dtype = 8 * d.itemsize, d.called
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    __hash__ = None  # type: ignore[assignment]


__all__ = ["finfo", "iinfo"]
