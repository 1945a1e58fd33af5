"""Results that are written into an `out=`: what PyTorch checks of it, and when.

PyTorch decides about `out` before it computes: its dtype is compared, it is resized, memory that it
shares is refused. If the kernel raises afterwards, `out` has its new shape already. An operation
whose kernel may raise declares these steps, in PyTorch's order, as `OutRule.prepare`. Without such a
function they are taken as soon as the result is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..base import (
    BY_NUM,
    can_cast,
    check_no_overlap,
    check_overlap,
    cpp_name,
    dtype,
    store_values,
    warn_in_torch,
)
from ..base import strides as layout
from ..graph import run_silenced
from .kernels import cannot_cast
from .resizing import resize_out

# PyTorch's errors for an `out=` of another dtype than the result. {0} is the dtype of the result
# and {1} that of `out`, as tensors are named (`Float`); {2} and {3} are the same in C++ (`float`).
OUT_DTYPE_ERRORS = {
    "exact": "Expected out tensor to have dtype {2}, but got {3} instead",
    "found": "Found dtype {1} but expected {0}",
}
_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match "
    "the required output shape {}. This behavior is deprecated, and in a future PyTorch release "
    "outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
    "tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)


def warn_of_resize(shape: tuple, required: tuple) -> None:
    """Warn, as PyTorch does, that a result with elements gets another shape."""
    message = _RESIZED.format(list(shape), list(required))
    warn_in_torch(message, "aten/src/ATen/native/Resize.cpp:30")


class OutRule(NamedTuple):
    """What an operation asks of its `out=`."""

    # the error for any other dtype, a text or a key of OUT_DTYPE_ERRORS; empty if it is converted
    error: str = ""
    # the error for a dtype that the result is not converted to, with its class; empty for PyTorch's
    # usual one
    cast_error: str = ""
    cast_error_class: type[Exception] = RuntimeError
    # bytes are taken for bools, as they were PyTorch's bools before it had any
    takes_bytes: bool = False
    # a resized `out` gets the strides of the result, as where `Kernel.lays_out` says so
    keeps_strides: bool = False
    # PyTorch resizes `out` without its warning
    is_silent: bool = False
    # `prepare(out, ...)` does what PyTorch does with an OutArgument before it computes; of the
    # arguments it gets what the kernel gets
    prepare: Callable | None = None

    def check_dtype(self, d: dtype, target: dtype) -> None:
        """Raise PyTorch's error if a result of dtype `d` may not be written into `target`."""
        is_old_bool = self.takes_bytes and (d.called, target.called) == ("bool", "uint8")
        names = d.scalar_name, target.scalar_name, cpp_name(d), cpp_name(target)
        if self.error and target is not d and not is_old_bool:
            raise RuntimeError(OUT_DTYPE_ERRORS.get(self.error, self.error).format(*names))
        if not can_cast(d, target):
            if self.cast_error:
                raise self.cast_error_class(self.cast_error.format(*names))
            raise cannot_cast(d, target)


class OutArgument:
    """One tensor that a result is to be written into."""

    def __init__(self, tensor: Any, rule: OutRule, inputs: list) -> None:
        self.tensor, self.rule = tensor, rule
        self.dtype = BY_NUM[tensor._data.dtype.num]
        self.is_resized = False
        self._tensor_of = {id(t._data): t for t in inputs}

    def look_again(self, sources: tuple) -> list:
        """Return arrays of inputs as they are now: to resize `out` may have moved their memory."""
        return [self._tensor_of[id(a)]._data if id(a) in self._tensor_of else a for a in sources]

    def check_overlap(self, *sources: Any) -> None:
        """Raise PyTorch's error if it overlaps with itself, or in part with an input."""
        check_overlap(self.tensor._data, *self.look_again(sources))

    def check_no_overlap(self, *sources: Any) -> None:
        """Raise PyTorch's error if it overlaps with itself or with an input."""
        check_overlap(self.tensor._data)
        check_no_overlap(self.tensor._data, *self.look_again(sources))

    def check_dtype(self, d: dtype) -> None:
        """Raise PyTorch's error if it takes no result of dtype `d`."""
        self.rule.check_dtype(d, self.dtype)

    def resize(self, shape: tuple, has_copy: bool = False) -> None:
        """Give it the shape of the result, with PyTorch's warning.

        `has_copy`: PyTorch computes into a copy of another dtype, and warns of that, too.
        """
        a = self.tensor._data
        if a.shape == shape:
            return
        if a.size and not self.rule.is_silent:
            for _ in range(1 + has_copy):
                warn_of_resize(a.shape, shape)
        resize_out(self.tensor, shape)
        self.is_resized = True

    def resize_for(self, shape: tuple, d: Any) -> None:
        """Check the dtype, then resize, as most operations of PyTorch do."""
        self.check_dtype(BY_NUM[d.num] if isinstance(d, np.dtype) else d)
        self.resize(shape)

    def write_result(self, data: np.ndarray, keeps_strides: bool) -> None:
        """Write the result.

        `keeps_strides`: if it was resized it gets the strides of the result, see `Kernel.lays_out`.
        """
        out = self.tensor
        if self.is_resized and keeps_strides and data.ndim > 1:
            steps = tuple([s // data.itemsize * out._data.itemsize for s in data.strides])
            out._data = layout.restride_array(out._data, data.shape, steps)
        run_silenced(store_values, out._data, data)


__all__ = ["OUT_DTYPE_ERRORS", "OutArgument", "OutRule", "warn_of_resize"]
