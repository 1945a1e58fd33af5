"""Normalising over features and over the batch: the functions, their nodes, the layers.

Source: `torch.nn.functional.layer_norm`, `batch_norm`; `torch.nn.LayerNorm`, `BatchNorm1d`, `BatchNorm2d`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..fused import multiply_add
from ..graph.modes import no_grad
from ..graph.node import node
from ..ops.arguments import parsed
from ..ops.composite import one_node
from ..ops.core import FUNCTIONS, quiet, record, recording, result
from ..tensor import Tensor, fresh
from .losses import refuse_grad
from .module import Module
from .parameter import Parameter


def _moments(a: np.ndarray, axes: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and 1 / sqrt(variance + eps) over `axes`, each kept as a dimension of size 1."""
    wide = a.astype(np.float64)
    if not a.size:
        none = np.zeros([1 if d in axes else n for d, n in enumerate(a.shape)], a.dtype)
        return none, none, none
    mean, var = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    kind = a.dtype
    return mean.astype(kind), var.astype(kind), (1 / np.sqrt(var.astype(kind) + kind.type(eps))).astype(kind)


def _scaled(a: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """a * scale + shift, rounded once as torch's compiled code does."""
    return multiply_add(a, scale, np.broadcast_to(shift, a.shape)) if a.size else a


def _standardised(x: Tensor, axes: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    """x with mean 0 and variance 1 over `axes`, in tensor operations, and what it was scaled by."""
    centred = x - x.mean(axes, True)
    rstd = ((centred * centred).mean(axes, True) + eps).rsqrt()
    return centred * rstd, rstd


def _back(grad: Tensor, x: Tensor, weight: Any, axes: tuple[int, ...], eps: float) -> Tensor:
    xhat, rstd = _standardised(x, axes, eps)
    g = grad if weight is None else grad * weight
    return (g - g.mean(axes, True) - xhat * (g * xhat).mean(axes, True)) * rstd


# over features -----------------------------------------------------------------------------------------------------------


def _last(x: Tensor, normalized_shape: Any) -> tuple[int, ...]:
    return tuple(range(x.dim() - len(normalized_shape), x.dim()))


def _first(x: Tensor, normalized_shape: Any) -> list[int]:
    return list(range(x.dim() - len(normalized_shape)))


def _over_features(slope: Callable) -> Callable:
    return one_node("NativeLayerNormBackwardBackward0", slope)


_NativeLayerNormBackward0 = node(
    "NativeLayerNormBackward0",
    lambda grad, input, weight, normalized_shape, _eps: _over_features(
        lambda g, x, w: _back(g, x, w, _last(x, normalized_shape), _eps)
    )(grad, input, weight),
    lambda grad, input, normalized_shape, _eps: _over_features(
        lambda g, x: _summed(g * _standardised(x, _last(x, normalized_shape), _eps)[0], _first(x, normalized_shape))
    )(grad, input),
    lambda grad, input, normalized_shape: _summed(grad, _first(input, normalized_shape)),
    also=("bias", "result1", "result2", "weight"),
)


def _summed(t: Tensor, dims: list[int]) -> Tensor:
    return t.sum(dims) if dims else t


def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:  # fmt: skip
    """The last dimensions with mean 0 and variance 1, times weight, plus bias. RuntimeError for shapes that do not fit."""
    parsed("layer_norm", (input, normalized_shape, weight, bias, eps), {})
    shape = tuple(normalized_shape)
    kind = _check_mixed(input, (weight, bias))
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(t.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got "
            f"input of size{list(input.shape)}"
        )
    _check_float(input, "LayerNormKernelImpl")
    a = input._data.astype(np.float32 if input._data.dtype == np.float16 else kind, copy=False)
    mean, _, rstd = quiet.run(_moments, a, _last(input, shape), eps)
    out = quiet.run(_scaled, a, rstd, -rstd * mean)
    if weight is not None or bias is not None:
        w = np.ones((), a.dtype) if weight is None else weight._data
        b = np.zeros((), a.dtype) if bias is None else bias._data
        out = quiet.run(_scaled, out, w.astype(a.dtype, copy=False), b.astype(a.dtype, copy=False))
    out, mean, rstd = out.astype(input._data.dtype, copy=False), mean.astype(kind), rstd.astype(kind)
    made = result(out, input._device)
    if recording(input, weight, bias):
        record(made, _NativeLayerNormBackward0, (input, weight, bias), input=input, weight=weight, bias=bias,
               normalized_shape=shape, _eps=eps, result1=fresh(mean, input._device), result2=fresh(rstd, input._device))  # fmt: skip
    return made


class LayerNorm(Module):
    """The last dimensions with mean 0 and variance 1: input (*, *normalized_shape), output alike."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, there in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            made = Parameter(FUNCTIONS["empty"](self.normalized_shape, device=device, dtype=dtype)) if there else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight one, bias zero."""
        _reset(self)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


def _reset(module: Any) -> None:
    with no_grad():
        if module.weight is not None:
            module.weight.fill_(1.0)
        if module.bias is not None:
            module.bias.zero_()


# over the batch ----------------------------------------------------------------------------------------------------------


def _others(x: Tensor) -> tuple[int, ...]:
    return tuple(d for d in range(x.dim()) if d != 1)


def _as_channels(t: Any, x: Tensor) -> Any:
    return None if t is None else t.view([-1 if d == 1 else 1 for d in range(x.dim())])


def _batch_slope(g: Tensor, x: Tensor, w: Any, mean: Any, var: Any, training: bool, eps: float) -> Tensor:
    weight = _as_channels(w, x)
    if training:
        return _back(g, x, weight, _others(x), eps)
    rstd = (_as_channels(var, x) + eps).rsqrt()
    return g * rstd if weight is None else g * (rstd * weight)


def _batch_weight_slope(g: Tensor, x: Tensor, mean: Any, var: Any, training: bool, eps: float) -> Tensor:
    if training:
        xhat = _standardised(x, _others(x), eps)[0]
    else:
        xhat = (x - _as_channels(mean, x)) * (_as_channels(var, x) + eps).rsqrt()
    return (g * xhat).sum(_others(x))


def _over_batch(slope: Callable) -> Callable:
    return one_node("NativeBatchNormBackwardBackward0", slope)


_NativeBatchNormBackward0 = node(
    "NativeBatchNormBackward0",
    lambda grad, input, weight, running_mean, running_var, training, eps: _over_batch(
        lambda g, x, w: _batch_slope(g, x, w, running_mean, running_var, training, eps)
    )(grad, input, weight),
    lambda grad, input, running_mean, running_var, training, eps: _over_batch(
        lambda g, x: _batch_weight_slope(g, x, running_mean, running_var, training, eps)
    )(grad, input),
    lambda grad, input: grad.sum(_others(input)),
    also=("result1", "result2", "weight"),
)


def _check_batch(input: Tensor, running: tuple, affine: tuple, training: bool) -> None:
    """Errors in torch's words for tensors that do not fit the batch."""
    channels = input.shape[1] if input.dim() > 1 else 0
    for name, t in zip(("running_mean", "running_var"), running, strict=True):
        if t is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        _check_count(name, t, channels)
    for name, t in zip(("weight", "bias"), affine, strict=True):
        _check_count(name, t, channels)


def _check_count(name: str, t: Tensor | None, channels: int) -> None:
    if t is not None and t.numel() != channels:
        raise RuntimeError(f"{name} should contain {channels} elements not {t.numel()}")


def _check_float(input: Tensor, what: str) -> None:
    if input._data.dtype.kind != "f":
        raise NotImplementedError(f"\"{what}\" not implemented for '{input.dtype.scalar_name}'")


def _check_mixed(input: Tensor, others: tuple) -> np.dtype:
    """The dtype of weights and statistics: the input's own, or float32 beside float16. RuntimeError for others."""
    there = [t for t in others if t is not None]
    if not there:
        return input._data.dtype
    if there[0].dtype is not input.dtype:
        if any(t._data.dtype != np.float32 for t in there):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input._data.dtype != np.float16:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    for t in there:
        if t.dtype is not there[0].dtype:
            raise RuntimeError(f"expected scalar type {there[0].dtype.scalar_name} but found {t.dtype.scalar_name}")
    return there[0]._data.dtype


def _batch_moments(a: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, sum of squared distances from it, and 1 / sqrt(variance + eps) of each channel, summed as torch sums them.

    Matrices row by row in their own dtype with fused multiply-adds, images pixel by pixel in float64.
    """
    channels = a.shape[1]
    flat = np.moveaxis(a, 1, -1).reshape(-1, channels)
    n, kind = flat.shape[0], a.dtype
    if flat.size == a.shape[0] * channels:
        mean = (np.add.accumulate(flat)[-1].astype(np.float64) / n).astype(kind)
        total = np.zeros(channels, kind)
        for away in flat - mean:
            total = multiply_add(away, away, total)
    else:
        mean = (np.add.accumulate(flat, dtype=np.float64)[-1] / n).astype(kind)
        total = np.add.accumulate((flat - mean) ** 2, dtype=np.float64)[-1].astype(kind)
    return mean, total, (1 / np.sqrt((total / kind.type(n)).astype(np.float64) + eps)).astype(kind)


def _move(running: Tensor, now: np.ndarray, momentum: float) -> None:
    """Bring a running statistic nearer to the batch's; torch's kernel writes it without counting the write."""
    a = running._data
    share = a.dtype.type(momentum)
    a[...] = now * share + a * (1 - share)


def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Each channel (dimension 1) with mean 0 and variance 1; in training over the batch, which moves the running ones.

    ValueError for a batch of one value a channel, RuntimeError for sizes that do not fit.
    """
    if training and (size := input.size())[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
    if (training and eps <= 0.0) or eps < 0.0:
        raise ValueError(
            f"batch_norm eps must be {'positive during training' if training else 'non-negative'}, but got {eps}"
        )
    parsed("batch_norm", (input, weight, bias, running_mean, running_var, training, momentum, eps, True), {})
    _check_batch(input, (running_mean, running_var), (weight, bias), training)
    if not input.numel():
        out = input.clone()
        out = out if weight is None else out * weight[0]
        return out if bias is None else out + bias[0]
    refuse_grad("native_batch_norm", running_mean=running_mean, running_var=running_var)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    _check_float(input, "batch_norm")
    kind = _check_mixed(input, (weight, bias, running_mean, running_var))
    a, where = input._data.astype(kind, copy=False), input._device
    shape = [-1 if d == 1 else 1 for d in range(a.ndim)]
    if training:
        mean, total, rstd = quiet.run(_batch_moments, a, eps)
        saved = {"result1": fresh(mean, where), "result2": fresh(rstd, where)}
        if running_mean is not None and running_var is not None:
            _move(running_mean, mean, momentum)
            _move(running_var, (total / kind.type(a.size // mean.size - 1)).astype(np.float64), momentum)
    else:
        mean, var = running_mean._data, running_var._data  # type: ignore[union-attr] # evaluation has both
        rstd = quiet.run(lambda: (1 / np.sqrt(var + kind.type(eps))).astype(kind))
        saved = {f"result{k}": fresh(np.empty(0, kind), where) for k in (1, 2)}
    scale = rstd if weight is None else rstd * weight._data
    shift = -mean * scale if bias is None else multiply_add(-mean, scale, bias._data)
    out = quiet.run(_scaled, a, scale.reshape(shape), shift.reshape(shape)).astype(input._data.dtype, copy=False)
    channels_last = a.ndim > 3 and np.moveaxis(a, 1, -1).flags.c_contiguous and not a.flags.c_contiguous
    made = result(out, where, *((a,) if channels_last else ()))
    if recording(input, weight, bias):
        record(made, _NativeBatchNormBackward0, (input, weight, bias), input=input, weight=weight, running_mean=running_mean,
               running_var=running_var, training=training, eps=eps, **saved)  # fmt: skip
    return made


class _BatchNorm(Module):
    """What the layers for batches of different dimensions share."""

    dims: tuple[int, ...]
    _version = 2

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        for name, there in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(FUNCTIONS["empty"](num_features, **options)) if there else None)
        for name, fill in (("running_mean", "zeros"), ("running_var", "ones")):
            self.register_buffer(name, FUNCTIONS[fill](num_features, **options) if track_running_stats else None)
        count = FUNCTIONS["tensor"](0, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what the batches were like."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight one, bias zero, nothing known of the batches."""
        self.reset_running_stats()
        _reset(self)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input. ValueError for another number of dimensions."""
        if input.dim() not in self.dims:
            expected = " or ".join(f"{d}D" for d in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        on_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return batch_norm(input, self.running_mean if tracked else None, self.running_var if tracked else None, self.weight,
                          self.bias, on_batch, momentum, self.eps)  # fmt: skip

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, *rest: Any) -> None:
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 0) < 2 and self.track_running_stats and key not in state_dict:
            known = self.num_batches_tracked  # state dicts of old have no such number
            state_dict[key] = FUNCTIONS["tensor"](0) if known is None else known
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        """The options, as the layer prints them."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Each feature with mean 0 and variance 1 over the batch: input (N, C) or (N, C, L), output alike."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel with mean 0 and variance 1 over the batch: input (N, C, H, W), output alike."""

    dims = (4,)


__all__ = ["BatchNorm1d", "BatchNorm2d", "LayerNorm"]
