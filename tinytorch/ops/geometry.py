"""Shapes as they are given, and arrays in another shape."""

from __future__ import annotations

import numpy as np

from ..naming import type_name


def shape_argument(args: tuple, name: str = "size") -> tuple[int, ...]:
    """A shape given as separate ints, as one tuple or list, or as 0-d tensors."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    elif not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    for a in args:
        if type(a) is not int:
            break
    else:
        return args
    try:
        if type(args[0]) is bool:
            raise TypeError
        return tuple([int(a.__index__()) for a in args])
    except (AttributeError, TypeError):
        bad = next((a for a in args if not hasattr(a, "__index__")), args[0])
        raise TypeError(f"{name}(): argument must be tuple of ints, not {type_name(bad)}") from None


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
    if unknown is None:
        if product != numel:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
        return shape
    if product == 0 or numel % product:
        if product == 0 and numel == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return (*shape[:unknown], numel // product, *shape[unknown + 1 :])


def dense_in_shape(a: np.ndarray, shape: tuple) -> np.ndarray | None:
    """A row-major array in the shape that is given, by NumPy's own hand; None for all else."""
    if shape and a.size:
        n = a.ndim
        if n and (a.strides[-1] != a.itemsize or (n > 1 and not a.flags.c_contiguous)):
            return None
        want = shape[0] if len(shape) == 1 else shape
        kind = type(want)
        if kind is int or isinstance(want, tuple):
            try:
                data = a.reshape(want)
            except (TypeError, ValueError):
                return None
            new = data.shape
            if n > 1 and new == a.shape:  # where NumPy keeps the strides
                return None
            if (new == want or -1 in want) if kind is not int else want >= -1:  # NumPy takes -2 for -1
                return data
    return None
