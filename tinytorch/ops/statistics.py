"""Quantiles, covariances and integrals by trapezoids, built from other operations as torch builds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor, fresh, wrap_dim
from ..warn import warn_in_torch
from .arguments import ABSENT, is_number, unfit
from .core import FUNCTIONS, op, takes_out
from .outputs import OUT_DTYPE
from .scalars import over, times

# quantiles ------------------------------------------------------------------------------------------------------------

_MODES = {"linear": None, "lower": np.floor, "higher": np.ceil, "nearest": np.rint, "midpoint": None}


def _check_share(q: Any) -> None:
    """What torch looks at before the input's dtype."""
    if isinstance(q, Tensor) and q.dim() > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if is_number(q) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")


def _shares(name: str, input: Tensor, q: Any) -> tuple[np.ndarray, bool]:
    """The shares asked for, as a vector in the input's dtype; and whether it was one number."""
    if isinstance(q, Tensor):
        if q.dtype is not input.dtype:
            raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
        shares = q._data
        if not ((shares >= 0) & (shares <= 1)).all():
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
        return shares.reshape(-1), not q.dim()
    if not is_number(q):
        raise unfit(name)
    return np.array([q], input._data.dtype), True


def _sorted(input: Tensor, dim: int | None) -> Tensor:
    """The input sorted along its last dimension, to which `dim` was moved."""
    if dim is None:
        return input.flatten().sort()[0]
    if wrap_dim(dim, input.dim()) == input.dim() - 1:
        return input.sort()[0]
    return input.unsqueeze(-1).transpose(dim, -1).sort()[0]


def _quantile(name: str, what: str, ignore_nan: bool) -> None:
    def function(
        input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Tensor:
        if not input.numel():
            raise RuntimeError("quantile() input tensor must be non-empty")
        _check_share(q)
        if input._data.dtype.kind != "f" or input._data.dtype.itemsize < 4:
            raise RuntimeError("quantile() input tensor must be either float or double dtype")
        shares, alone = _shares(name, input, q)
        if interpolation not in _MODES:
            raise RuntimeError(
                f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
            )
        shape = [1] * input.dim() if keepdim and dim is None else [] if dim is None else list(input.shape)
        if dim is not None and shape:
            d = wrap_dim(dim, len(shape))
            shape[d : d + 1] = [1] if keepdim else []
        ordered = _sorted(input, dim)
        ordered = ordered.view([*shape, ordered.shape[-1] if ordered.dim() else 1])
        below, above, weights = _ranks(ordered._data, shares, interpolation, ignore_nan)
        at = FUNCTIONS["from_numpy"]
        made = ordered.gather(-1, at(below))
        if above is not None:
            made.lerp_(ordered.gather(-1, at(above)), at(weights))
        if alone:
            return made.squeeze_(-1)
        return made.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nRuntimeError for other dtypes than float32 and float64. Source: `torch.{name}`."
    op(name, strict=True)(takes_out(name)(function))
    OUT_DTYPE[name] = "quantile() out tensor must be same dtype as the input tensor"  # by both names


def _ranks(a: np.ndarray, shares: np.ndarray, mode: str, ignore_nan: bool) -> tuple[np.ndarray, Any, Any]:
    """Where to read in every sorted row for each share: the positions below and above, and the weight of the latter."""
    shape = (*a.shape[:-1], len(shares))
    last = a.shape[-1] - 1
    if ignore_nan:
        ranks = np.maximum(shares * ((a == a).sum(-1, keepdims=True) - 1).astype(a.dtype), 0)
    else:
        ranks = np.where((a != a).any(-1, keepdims=True), a.dtype.type(last), shares * a.dtype.type(last))
    ranks = np.ascontiguousarray(np.broadcast_to(ranks, shape)).astype(a.dtype, copy=False)
    rounded = _MODES[mode]
    if rounded is not None:
        return rounded(ranks).astype(np.int64), None, None
    below = ranks.astype(np.int64)
    weights = np.full_like(ranks, 0.5) if mode == "midpoint" else ranks - below.astype(a.dtype)
    return below, np.ceil(ranks).astype(np.int64), weights


_quantile("quantile", "The value below which a share of the elements lies, of all or along a dimension.", False)
_quantile("nanquantile", "The value below which a share of the numbers lies; nan does not count.", True)

# covariances ----------------------------------------------------------------------------------------------------------

_FEW = "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations."


def _check_weights(name: str, weights: Tensor, n: int, integral: bool) -> None:
    if weights.dim() > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions")  # fmt: skip
    if integral == weights.dtype.is_floating_point:
        kind = "integral" if integral else "floating point"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype.scalar_name} dtype")  # fmt: skip
    if weights.numel() != n:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {n}"
        )
    if weights.numel() and bool((weights._data < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@op()
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of variables, a row each; `fweights` counts observations, `aweights` weighs them.

    RuntimeError for more than two dimensions. Source: `torch.cov`.
    """
    if input.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")  # fmt: skip
    if input._data.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = input if input.dim() == 2 else input.view(1, -1)
    n = rows.shape[1]
    weights = None
    if fweights is not None:
        _check_weights("fweights", fweights, n, True)
        weights = fweights
    if aweights is not None:
        _check_weights("aweights", aweights, n, False)
        weights = aweights if weights is None else weights * aweights
    total = fresh(np.array(n, np.int64), input._device) if weights is None else weights.sum()
    if weights is not None and not total._data:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (rows if weights is None else rows * weights).sum(1) / total
    factor = total - correction
    if weights is not None and aweights is not None and correction:
        factor = total - correction * (weights * aweights).sum() / total
    if not factor._data > 0:
        warn_in_torch(_FEW, "aten/src/ATen/native/Correlation.cpp:129")
        factor = factor.zero_()
    centred = rows - mean.unsqueeze(1)
    product = centred.mm((centred if weights is None else centred * weights).t())
    return (product / factor).squeeze()


@op()
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of variables, a row each.

    RuntimeError for more than two dimensions. Source: `torch.corrcoef`.
    """
    if input.dim() > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")  # fmt: skip
    c = cov(input)
    if not c.dim():
        return c / c
    spread = c.diag().sqrt()
    return (c / spread.view(-1, 1) / spread.view(1, -1)).clip(-1, 1)


# integrals ------------------------------------------------------------------------------------------------------------


def _ends(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The distances between neighbouring positions `x`, to be multiplied with pairs of `y`."""
    if x.dim() == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = [1] * y.dim()
        shape[dim] = x.shape[0]
        x = x.view(shape)
    elif x.dim() < y.dim():
        x = x.view([1] * (y.dim() - x.dim()) + list(x.shape))
    return _later(x, dim) - _earlier(x, dim)


def _earlier(t: Tensor, dim: int) -> Tensor:
    return t[(slice(None),) * dim + (slice(0, -1),)]


def _later(t: Tensor, dim: int) -> Tensor:
    return t[(slice(None),) * dim + (slice(1, None),)]


def _integrand(name: str, y: Tensor, x: Any, dx: Any, dim: int) -> tuple[int, Tensor | None]:
    """The dimension, and the distances if they are given by positions."""
    d = wrap_dim(dim, y.dim())
    if not y.dim():
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if x is not ABSENT and not isinstance(x, Tensor):
        raise unfit(name)
    for t, letter in ((y, "y"), (x, "x")):
        if t is not ABSENT and t._data.dtype.kind == "b":
            raise RuntimeError(f"{name}: received a bool input for `{letter}`, but bool is not supported")
    if not is_number(dx) or (x is not ABSENT and dx is not _ONE):
        raise unfit(name)
    return d, None if x is ABSENT or not y.shape[d] else _ends(name, y, x, d)


class _One(float):
    """The default distance, told from a number that was given."""


_ONE: Any = _One(1.0)


def _trapezoid(name: str) -> None:
    def function(y: Tensor, x: Any = ABSENT, *, dx: Any = _ONE, dim: int = -1) -> Tensor:
        d, distances = _integrand("trapezoid", y, x, dx, dim)
        if not y.shape[d]:
            return y.new_zeros([n for k, n in enumerate(y.shape) if k != d])
        if distances is not None:
            return over(((_earlier(y, d) + _later(y, d)) * distances).sum(d), 2.0)
        inner = y.sum(d) - times(y.select(d, 0) + y.select(d, -1), 0.5)
        return times(inner, float(dx))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The integral over a dimension by trapezoids, at positions `x` or `dx` apart.\n\nSource: `torch.{name}`."
    )
    op(name, method=False)(function)


_trapezoid("trapezoid")
_trapezoid("trapz")


@op(method=False)
def cumulative_trapezoid(y: Tensor, x: Any = ABSENT, *, dx: Any = _ONE, dim: int = -1) -> Tensor:
    """The integrals up to each element of a dimension, see `trapezoid`.

    Source: `torch.cumulative_trapezoid`.
    """
    d, distances = _integrand("cumulative_trapezoid", y, x, dx, dim)
    if distances is not None:
        return over(((_earlier(y, d) + _later(y, d)) * distances).cumsum(d), 2.0)
    return times(_earlier(y, d) + _later(y, d), float(dx) / 2.0).cumsum(d)
