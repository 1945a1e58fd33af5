"""Initialising parameters with torch's numbers.

Source: `torch.nn.init`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.modes import no_grad
from ..missing import missing
from ..ops.core import FUNCTIONS
from ..ops.randoms import randperm
from ..tensor import Tensor, fresh
from ..warn import warn_user

_CONVOLUTIONS = [f"conv{kind}{d}d" for kind in ("", "_transpose") for d in (1, 2, 3)]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The recommended gain of a nonlinearity. ValueError for an unknown one."""
    if nonlinearity in ("linear", "sigmoid", *_CONVOLUTIONS):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = tensor[0][0].numel() if tensor.dim() > 2 else 1
    return tensor.size(1) * field, tensor.size(0) * field


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from the uniform distribution on [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity. ValueError for other dimensions."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    from ..ops.ranges import eye as identity

    with no_grad():
        return tensor.copy_(identity(*tensor.shape))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill uniformly so that variance keeps its size forward and backward (Glorot)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill normally so that variance keeps its size forward and backward (Glorot)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill uniformly, scaled for a rectifier (He)."""
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill normally, scaled for a rectifier (He)."""
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with rows (or columns, if they are fewer) that are orthogonal and of length `gain`.

    ValueError for fewer than two dimensions.
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.size(0)
    flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)._data
    q, r = np.linalg.qr(flat.T if rows < flat.shape[1] else flat)
    q = q * np.sign(np.diagonal(r))
    with no_grad():
        tensor.view_as(tensor).copy_(fresh(np.ascontiguousarray(q.T if rows < flat.shape[1] else q)).view(tensor.shape))
        return tensor.mul_(gain)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fill from the normal distribution cut off at `a` and `b`: numbers outside are drawn again."""
    if tensor.is_meta:
        return tensor

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        warn_user(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    likely = below((b - mean) / std) - below((a - mean) / std) > 0.3
    with no_grad():
        return (_redrawn if likely else _accepted)(tensor, mean, std, a, b, generator)


def _redrawn(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    made = tensor.normal_(mean, std, generator=generator)
    while (outside := (made < low) | (made > high)).any():
        made = FUNCTIONS["empty_like"](made).normal_(mean, std, generator=generator).where(outside, made)
    return tensor if made is tensor else tensor.copy_(made)


def _accepted(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Where the interval is unlikely: uniform candidates, each accepted with its density."""
    mode = max(a, min(mean, b))
    peak = -0.5 * ((mode - mean) / std) ** 2

    def rejected(drawn: Tensor) -> Tensor:
        density = (drawn - mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return FUNCTIONS["empty_like"](tensor).uniform_(generator=generator).log_().gt(density)

    made = tensor.uniform_(a, b, generator=generator)
    pending = rejected(made)
    while pending.any():
        drawn = FUNCTIONS["empty_like"](tensor).uniform_(a, b, generator=generator)
        made = drawn.where(pending, made)
        pending = rejected(drawn).where(pending, pending)
    return tensor if made is tensor else tensor.copy_(made)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill normally, with a share of zeros in each column. ValueError for other than two dimensions."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it hands on its input: tensor (out, in, size, ...), 3 to 5 dimensions.

    ValueError for other dimensions, and where `groups` does not divide the first one.
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = tensor.size(0) // groups
    middle = [n // 2 for n in tensor.shape[2:]]
    with no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(each, tensor.size(1))):
                tensor[(g * each + d, d, *middle)] = 1
    return tensor


def _old(new: Callable) -> Callable:
    """The name of old, without the underscore: it warns."""
    name = new.__name__[:-1]

    @functools.wraps(new)
    def old(*args: Any, **kwargs: Any) -> Tensor:
        warn_user(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return new(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    return old


uniform, normal, constant, eye, dirac = _old(uniform_), _old(normal_), _old(constant_), _old(eye_), _old(dirac_)
xavier_uniform, xavier_normal = _old(xavier_uniform_), _old(xavier_normal_)
kaiming_uniform, kaiming_normal = _old(kaiming_uniform_), _old(kaiming_normal_)
orthogonal, sparse = _old(orthogonal_), _old(sparse_)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn.init' has no attribute '{}'", name)


__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]
