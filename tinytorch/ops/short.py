"""The short way of pointwise operations: small tensors with nothing about them but their elements.

There an operation costs little more than NumPy's kernel, and most of that are calls: so all that a call comes to is
written out here. What is not as plain as that gives None, and goes to the operation as a whole, which knows all cases
and all errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.modes import MODES
from ..tensor import Tensor, of_array
from .core import result
from .large import MANY
from .recording import records_pointwise

_ndarray = np.ndarray
_array = np.array
_FLOATS = {np.dtype(np.float32).num, np.dtype(np.float64).num}
_MOST = 1 << 63


def short_of_two(
    kernel: Callable, dtypes: set[int], numbers: bool, kind: Any, attach: Callable, whole: Callable | None = None
) -> Callable:
    """`kernel` of two tensors of one dtype among these, or (with `numbers`) of a tensor and a number.

    `kind`: of the node to record; None if nothing is. `attach(made, input, other)` records what is no pair of tensors.
    `whole(input, other)`: called where the short way does not lead, to give its result instead of None.
    """
    with_numbers = _FLOATS & dtypes if numbers else set()
    straight = records_pointwise(kind, 2)

    def call(input: Any, other: Any) -> Any:
        if isinstance(input, Tensor):
            a, here = input._data, MODES.here
            d, where = a.dtype, input._device
            if isinstance(other, Tensor):
                b, pair = other._data, True
                plain = d is b.dtype and d.num in dtypes and where is other._device
            else:
                pair = False
                plain = d.num in with_numbers and (
                    type(other) is float or (type(other) is int and -_MOST <= other < _MOST)
                )
                if plain:
                    b = here.run(_array, other, d)
            if plain and 0 < a.size < MANY > b.size > 0:
                try:
                    data = here.run(kernel, a, b)
                except (ValueError, RuntimeError):
                    return None if whole is None else whole(input, other)
                if type(data) is not _ndarray:
                    data = np.asarray(data)
                made = of_array(data, where, here.inference) if data.ndim < 2 else result(data, where, a, b)
                if kind is not None and here.grad:
                    base = input._view
                    wanted = input._requires_grad or (base is not None and base._requires_grad)
                    if pair and not wanted:
                        base = other._view
                        wanted = other._requires_grad or (base is not None and base._requires_grad)
                    if wanted:
                        if pair and straight:
                            kind.record_pointwise(made, input, other)
                        else:
                            attach(made, input, other)
                return made
        return None if whole is None else whole(input, other)

    return call
