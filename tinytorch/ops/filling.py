"""Filling with one value or random numbers, in place or into a new tensor; and dropout.

The numbers come from `random` and are torch's own, bit for bit. What is filled in place forgets its
values, so that the gradient for them is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import random
from ..base import check_overlap, dense_strides, dtypes, empty_like_strides
from ..tensor import Tensor
from .creation import (
    OPTIONS,
    OPTIONS_LIKE,
    check_size,
    empty_like,
    factory,
    factory_filling,
    factory_like,
    new_zeros,
    zeros_like,
)
from .define import op
from .kernels import array_to_fill, composite, write
from .out_argument import OutRule
from .sums import expand, sum_all

_GENERATOR = "Generator? generator=None"


def zero_gradient(grad: Any) -> Any:
    """Return the gradient for values that were overwritten: zeros."""
    return zeros_like(grad)


# one value ----------------------------------------------------------------------------------------


def _value_of_tensor(a: np.ndarray, value: np.ndarray) -> np.ndarray:
    if value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} "
            "dimensions."
        )
    check_overlap(a)
    return value


def _value_of_number(a: np.ndarray, value: Any) -> np.ndarray:
    return array_to_fill(value, dtypes.BY_NUM[a.dtype.num], a.size)


op(
    "fill_(Tensor(a!) self, Tensor value)",
    write(_value_of_tensor),
    backward="FillBackward3",
    self=zero_gradient,
    value=lambda grad: sum_all(grad),
)
fill_ = op(
    "fill_(Tensor(a!) self, Scalar value)",
    write(_value_of_number),
    backward="FillBackward2",
    self=zero_gradient,
)


def _fill_new_with_tensor(a: np.ndarray, value: np.ndarray) -> np.ndarray:
    filled = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    filled[...] = _value_of_tensor(filled, value)
    return filled


def _fill_new_with_number(a: np.ndarray, value: Any) -> np.ndarray:
    filled = empty_like_strides(a.shape, a.dtype, dense_strides(a))
    filled[...] = _value_of_number(filled, value)
    return filled


op(
    "fill(Tensor self, Tensor value)",
    _fill_new_with_tensor,
    method=False,
    out=False,
    backward="FillBackward1",
    self=zero_gradient,
    value=lambda grad: sum_all(grad),
)
op(
    "fill(Tensor self, Scalar value)",
    _fill_new_with_number,
    method=False,
    out=False,
    backward="FillBackward0",
    self=zero_gradient,
)
zero_ = op(
    "zero_(Tensor(a!) self)",
    write(lambda a: a.fill(0)),
    backward="ZeroBackward0",
    self=zero_gradient,
)


def written_zeros(grad: Any, sizes: tuple, dtype: Any = None) -> Any:
    """Return zeros that PyTorch makes empty and fills by `zero_`, so that they have version 1.

    So it does for `zeros_like(self)` in its table, of an input, of which it saves sizes and dtype
    alone, and for `at::zeros` in a function of its own. What `zeros_like(grad)` and `new_zeros` give
    has version 0.

    dtype: that of the input; None for that of `grad`, where both have one dtype whatever the call.
    Of another dtype the engine makes a new array of it, with version 0.
    """
    return zero_(new_zeros(grad, sizes, dtype))


# random numbers in place --------------------------------------------------------------------------


def _make_random_kernel(fill: Callable) -> write:
    """Make a kernel of `fill(array, whole numbers..., generator)`, one of PyTorch's ways to draw."""

    def draw(a: np.ndarray, *args: Any) -> None:
        *numbers, generator = args
        check_overlap(a)
        fill(a, *numbers, random.generator_or_default(generator))

    return write(draw)


def _make_random_float_kernel(fill: Callable) -> write:
    """Make a kernel of `fill(array, numbers..., generator)`, which looks at its numbers before memory."""

    def draw(a: np.ndarray, *args: Any) -> None:
        *numbers, generator = args
        fill(a, *map(float, numbers), random.generator_or_default(generator))

    return write(draw)


def _draw_with_chances(a: np.ndarray, p: np.ndarray, generator: Any) -> None:
    check_overlap(a)
    random.bernoulli_each_(a, expand(p, a.shape), random.generator_or_default(generator))


# Before the form with a number, as PyTorch tries them.
op(
    f"bernoulli_(Tensor(a!) self, Tensor p, *, {_GENERATOR})",
    write(_draw_with_chances),
    function=False,
    backward="BernoulliBackward1",
    self=zero_gradient,
    p=lambda grad, p: zeros_like(p),
)
for _numbers, _node, _kernel in (
    (
        "uniform_(Tensor(a!) self, float from=0., float to=1., *,",
        "UniformBackward0",
        _make_random_float_kernel(random.uniform_),
    ),
    (
        "normal_(Tensor(a!) self, float mean=0., float std=1., *,",
        "NormalBackward0",
        _make_random_float_kernel(random.normal_),
    ),
    (
        "random_(Tensor(a!) self, *,",
        "RandomBackward2",
        _make_random_kernel(random.random_),
    ),
    (
        "random_(Tensor(a!) self, int from, int? to, *,",
        "RandomBackward0",
        _make_random_kernel(random.random_from_to_),
    ),
    (
        "random_(Tensor(a!) self, int to, *,",
        "RandomBackward1",
        _make_random_kernel(lambda a, to, generator: random.random_from_to_(a, 0, to, generator)),
    ),
    (
        "bernoulli_(Tensor(a!) self, float p=0.5, *,",
        "BernoulliBackward2",
        _make_random_float_kernel(random.bernoulli_),
    ),
    (
        "log_normal_(Tensor(a!) self, float mean=1., float std=2., *,",
        "LogNormalBackward0",
        _make_random_float_kernel(random.log_normal_),
    ),
    (
        "cauchy_(Tensor(a!) self, float median=0., float sigma=1., *,",
        "CauchyBackward0",
        _make_random_float_kernel(random.cauchy_),
    ),
    (
        "exponential_(Tensor(a!) self, float lambd=1., *,",
        "ExponentialBackward0",
        _make_random_float_kernel(random.exponential_),
    ),
    (
        "geometric_(Tensor(a!) self, float p, *,",
        "GeometricBackward0",
        _make_random_float_kernel(random.geometric_),
    ),
):
    op(f"{_numbers} {_GENERATOR})", _kernel, function=False, backward=_node, self=zero_gradient)


def _draw_like(a: np.ndarray, generator: Any) -> np.ndarray:
    """Draw for each element, which is the probability of its 1."""
    drawn = np.empty(a.shape, a.dtype)
    return random.bernoulli_each_(drawn, a, random.generator_or_default(generator))


def _draw_with_chance(a: np.ndarray, p: float, generator: Any) -> np.ndarray:
    """Draw as many as there are elements, each with the same probability."""
    drawn = np.empty(a.shape, a.dtype)
    return random.bernoulli_(drawn, float(p), random.generator_or_default(generator))


op(
    f"bernoulli(Tensor self, *, {_GENERATOR})",
    _draw_like,
    out=OutRule(is_silent=True),
    self=zero_gradient,
)
op(
    f"bernoulli(Tensor self, float p, *, {_GENERATOR})",
    _draw_with_chance,
    out=False,
    undifferentiable=True,
)

# new tensors of random numbers --------------------------------------------------------------------


def _fill_with_whole_numbers(a: np.ndarray, low: Any, high: Any, generator: Any = None) -> None:
    check_overlap(a)
    random.random_from_to_(a, int(low), int(high), random.generator_or_default(generator))


def _refuse_negative_count(n: int, generator: Any = None) -> None:
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got{n}")


def _randperm(d: dtypes.dtype, n: int, generator: Any = None) -> np.ndarray:
    check_size((n,), d.itemsize)
    return random.draw_permutation(n, random.generator_or_default(generator), d.np)


# int64, which is torch's type number 4
_WHOLE = OPTIONS.replace("dtype=None", "dtype=4")
# PyTorch has each with and without a generator, and its errors list both.
_GIVEN = ("Generator? generator, ", "")
for _g in _GIVEN:
    for _name, _fill in (("rand", random.uniform_), ("randn", random.normal_)):
        op(
            f"{_name}(SymInt[] size, *, {_g}{OPTIONS})",
            factory_filling(
                lambda a, g=None, f=_fill: f(a, 0.0, 1.0, random.generator_or_default(g)),
                resizes_out=bool(_g) or _name == "randn",
            ),
            out=True,
        )
        op(
            f"{_name}_like(Tensor self, *, {_g}{OPTIONS_LIKE})",
            factory_like(lambda a, g=None, f=_fill: f(a, 0.0, 1.0, random.generator_or_default(g))),
            method=False,
        )
    op(
        f"randperm(SymInt n, *, {_g}{_WHOLE})",
        factory(_randperm, dtypes.int64, check_for_out=_refuse_negative_count),
        out=True,
    )
for _g in _GIVEN:
    op(
        f"randint(SymInt high, SymInt[] size, *, {_g}{_WHOLE})",
        factory_filling(
            lambda a, high, g=None: _fill_with_whole_numbers(a, 0, high, g), 1, dtypes.int64
        ),
        out=True,
    )
for _g in _GIVEN:
    op(
        f"randint(SymInt low, SymInt high, SymInt[] size, *, {_g}{_WHOLE})",
        factory_filling(_fill_with_whole_numbers, 2, dtypes.int64),
        out=True,
    )

op(
    f"normal(float mean, float std, SymInt[] size, *, {_GENERATOR}, {OPTIONS})",
    factory_filling(_make_random_float_kernel(random.normal_).function, 2),
    out=True,
    method=False,
)

# dropout ------------------------------------------------------------------------------------------


def _drop_elements(input: Tensor, p: float, train: bool, times: str = "mul") -> Tensor:
    if p == 0 or not train or not input.numel():
        return input
    # By the rule below, 0 would be divided by 0.
    if p == 1:
        return getattr(input, times)(input.new_zeros(()))
    return getattr(input, times)(empty_like(input).bernoulli_(1 - p).div_(1 - p))


dropout = op("dropout(Tensor input, float p, bool train)", composite(_drop_elements), method=False)
dropout_ = op(
    "dropout_(Tensor(a!) self, float p, bool train)",
    composite(lambda self, p, train: _drop_elements(self, p, train, "mul_")),
    method=False,
)
