"""Dropout and its kin: elements, or whole channels, set to zero or, for SELU networks, to what keeps mean and variance.

Source: `torch.nn.functional`, and torch's `Dropout.cpp` for the order in which numbers are drawn and multiplied.
"""

from __future__ import annotations

from ..ops.arguments import parsed
from ..ops.dropping import WRONG, dropped
from ..tensor import Tensor
from ..warn import warn_user


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"{WRONG}{p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, elements set to zero with probability p and the others scaled by 1 / (1 - p).

    ValueError for p outside [0, 1].
    """
    _check(p)
    if not isinstance(input, Tensor) or not isinstance(training, bool):
        parsed("dropout", (input, p, training), {})
    return dropped(input, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of what SELU gives. ValueError for p outside [0, 1]."""
    _check(p)
    return dropped(input, p, training, inplace, selu=True)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: input (N, C, ...). ValueError for p outside [0, 1]."""
    _check(p)
    return dropped(input, p, training, inplace, channels=True, selu=True)


def _unbatched(t: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    t = t.unsqueeze_(0) if inplace else t.unsqueeze(0)
    out = dropped(t, p, training, inplace, channels=True)
    return out.squeeze_(0) if inplace else out.squeeze(0)


def _spatial(n: int) -> str:
    return (
        f"channel-wise dropout on inputs with {n} spatial dimension{'s' * (n > 1)}, a channel dimension, and an optional "
        f"batch dimension (i.e. {n + 1}D or {n + 2}D inputs)."
    )


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels set to zero: input (N, C, L) or (C, L). RuntimeError for other shapes, ValueError for a wrong p."""
    _check(p)
    n = input.dim()
    if n not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {n}D input. Note that dropout1d exists to provide "
            + _spatial(1)
        )
    return dropped(input, p, training, inplace, True) if n == 3 else _unbatched(input, p, training, inplace)


def _warn_of_shape(name: str, n: int, spatial: int) -> None:
    warn_user(
        f"{name}: Received a {n}-D input to {name}, which is deprecated and will result in an error in a future release. "
        f"To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to provide "
        + _spatial(spatial)
    )


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels set to zero: input (N, C, H, W). Warns for other shapes, ValueError for a wrong p."""
    _check(p)
    n = input.dim()
    if n not in (3, 4):
        _warn_of_shape("dropout2d", n, 2)
    if n == 3:
        warn_user(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
            "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future "
            "release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead."
        )
    return dropped(input, p, training, inplace, True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels set to zero: input (N, C, D, H, W) or (C, D, H, W). Warns for other shapes, ValueError for a wrong p."""
    _check(p)
    n = input.dim()
    if n not in (4, 5):
        _warn_of_shape("dropout3d", n, 3)
    return dropped(input, p, training, inplace, True) if n == 5 else _unbatched(input, p, training, inplace)


__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]
