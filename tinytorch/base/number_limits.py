"""The limits of dtypes: `torch.finfo` and `torch.iinfo`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import as_dtype, bool_, dtype, get_default_dtype
from .errors import ShownAs, type_name

_DEFAULT: Any = object()


def _check_type(name: str, given: Any) -> dtype:
    """Return a dtype of torch's or of Python's. TypeError, in torch's words, for anything else."""
    found = as_dtype(given)
    if not isinstance(found, dtype):
        raise TypeError(
            f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type_name(given)}"
        )
    return found


class finfo(metaclass=ShownAs):
    """The limits of a floating point dtype, of the default one if none is given.

    TypeError for another dtype. Source: `torch.finfo`.
    """

    shown_as = "torch.finfo"
    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: Any = _DEFAULT) -> None:
        d = get_default_dtype() if type is _DEFAULT else _check_type("finfo", type)
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

    def __init__(self, type: Any) -> None:
        d = _check_type("iinfo", type)
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
