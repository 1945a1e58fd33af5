"""Creation by a rule: zeros, ones, one value, evenly spaced numbers, identity matrices.

A rule gives an array of a dtype; `factory`, `factory_like` and `factory_new` add what all such
functions take: dtype and device, whether gradients are wanted, and for some `out=`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import (
    as_absence_error,
    as_device,
    as_given_device,
    byte_extent,
    check_memory,
    check_numel,
    check_overlap,
    convert_values,
    dtypes,
    empty_like_strides,
    store_values,
    warn_in_torch,
)
from ..graph import count_write, run_silenced
from ..random import fma64
from ..tensor import Tensor, device_of
from .copies import count_copy_of_inference, strides_of_copy
from .define import op
from .from_data import check_size, make_leaf
from .kernels import array_to_fill, composite, number_array
from .resizing import resize_out, resize_tensor
from .schema import has_tensor_self

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
OPTIONS_LIKE = OPTIONS + ", MemoryFormat? memory_format=None"


# what all creations have in common ----------------------------------------------------------------


PINNED = (
    "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is "
    "available on this system."
)


class factory(composite):
    """A kernel for creating tensors by the rule `make(d, ...)`.

    `default`: the dtype where none is given, or a function that finds it. `is_fill`: each element of
    `out=` may be written more than once. `is_row`: an `out=` with as many elements keeps its shape.
    `check_for_out(...)` raises the errors of PyTorch's form with `out=`.
    """

    def __init__(
        self,
        make: Callable,
        default: Any = None,
        *,
        is_fill: bool = True,
        is_row: bool = False,
        check_for_out: Callable | None = None,
    ) -> None:
        super().__init__(make)
        self.default, self.is_fill, self.is_row = default, is_fill, is_row
        self.check_for_out = check_for_out

    def bind_schema(self, schema: Any) -> factory:
        """Return a copy that knows where the options are: dtype, layout, device, pinned memory."""
        bound = copy.copy(self)
        bound.options_at = schema.names.index("dtype") - has_tensor_self(schema.text)
        bound.name = schema.name
        return bound

    def split_options(self, args: tuple) -> tuple[tuple, Any, Any]:
        """Return the arguments without the options, the dtype and the device.

        RuntimeError if pinned memory is asked for.
        """
        at = self.options_at
        dtype, _, device, pin = args[at : at + 4]
        if pin:
            raise RuntimeError(PINNED)
        return args[:at] + args[at + 4 :], dtype, device

    def __call__(self, *args: Any) -> Any:
        """Make the tensor."""
        arguments, dtype, device = self.split_options(args)
        # `dtype=4` is how a schema of C++ writes a default: no dtype was given.
        if not isinstance(dtype, dtypes.dtype):
            default = self.default(*arguments) if callable(self.default) else self.default
            # Asked at each call: set_default_dtype may have come between.
            dtype = default or dtypes.get_default_dtype()
        try:
            made = self.function(dtype, *arguments)
        except ValueError as error:
            raise as_absence_error(error) from None
        return make_leaf(made, as_device(device))

    def run_into_out(self, out: Tensor, args: tuple) -> Tensor:
        """Write the numbers into `out`, which is resized if need be."""
        arguments = self.split_options(args)[0]
        if self.check_for_out is not None:
            self.check_for_out(*arguments)
        data = self.function(out.dtype, *arguments)
        if not (self.is_row and out._data.size == data.size):
            if self.name == "arange" and out._data.size:
                _warn_of_resized_range(out._data, data.size)
            resize_out(out, data.shape)
        if not self.is_fill:
            check_overlap(out._data)
        store_values(out._data, data.reshape(out._data.shape))
        count_write(out)
        return out


class factory_filling(factory):
    """A kernel that makes an array and has it filled by `fill(array, ...)`, an `out=` too.

    `size_at`: where among the arguments the shape is; `fill` gets the others. `resizes_out`: see
    Kernel; PyTorch then counts the resizing, too.
    """

    def __init__(
        self, fill: Callable, size_at: int = 0, default: Any = None, *, resizes_out: bool = False
    ) -> None:
        super().__init__(self._make_filled, default)
        self.fill, self.size_at, self.resizes_out = fill, size_at, resizes_out

    def _take_size(self, arguments: tuple) -> tuple[tuple, tuple]:
        """Return the shape, and the other arguments. RuntimeError for a negative size."""
        size, at = arguments[self.size_at], self.size_at
        check_size(size)
        return size, arguments[:at] + arguments[at + 1 :]

    def _make_filled(self, d: dtypes.dtype, *arguments: Any) -> np.ndarray:
        size, others = self._take_size(arguments)
        check_memory(size, d.itemsize)
        a = np.empty(size, d.np)
        self.fill(a, *others)
        return a

    def run_into_out(self, out: Tensor, args: tuple) -> Tensor:
        """Fill `out` itself, in the order of its memory."""
        size, others = self._take_size(self.split_options(args)[0])
        (resize_tensor if self.resizes_out else resize_out)(out, size)
        self.fill(out._data, *others)
        count_write(out)
        return out


class factory_empty(factory):
    """The kernel of `empty`, which writes nothing: an `out=` keeps its cells."""

    resizes_out = True

    def run_into_out(self, out: Tensor, args: tuple) -> Tensor:
        """Resize `out`, and count that, if it has another shape."""
        size = args[0]
        check_size(size)
        return resize_tensor(out, size)


def _warn_of_resized_range(out: np.ndarray, count: int) -> None:
    """Warn that `arange` resizes an `out=` of another number of elements."""
    warn_in_torch(
        f"The number of elements in the out tensor of shape {list(out.shape)} is {out.size} which "
        f"does not match the computed number of elements {count}. Note that this may occur as a "
        "result of rounding error. The out tensor will be resized to a tensor of shape "
        f"({count},).",
        "aten/src/ATen/native/RangeFactories.cpp:199",
    )


class factory_new(factory):
    """A kernel for `new_name(self, ...)`: it has the dtype and the device of `self`.

    `is_filled`: PyTorch makes it empty and fills it, which counts as for copies.
    """

    def __init__(self, make: Callable, is_filled: bool = False) -> None:
        super().__init__(make)
        self.is_filled = is_filled

    def __call__(self, like: Any, *args: Any) -> Any:
        """Make the tensor, or for an array an array."""
        arguments, dtype, device = self.split_options(args)
        a = like if type(like) is np.ndarray else like._data
        array = self.make_array(a, dtype or dtypes.BY_NUM[a.dtype.num], arguments)
        if a is like:
            return array
        out = make_leaf(array, as_given_device(device) or device_of(like))
        return count_copy_of_inference(out, like) if self.is_filled else out

    def make_array(self, a: np.ndarray, d: dtypes.dtype, arguments: tuple) -> np.ndarray:
        """Make the array."""
        return self.function(d, *arguments)


class factory_like(factory_new):
    """A kernel for `name_like(self, ...)`.

    `fill(array, ...)` fills an array with the shape and layout of `self`.
    """

    def make_array(self, a: np.ndarray, d: dtypes.dtype, arguments: tuple) -> np.ndarray:
        """Make the array."""
        check_memory(a.shape, d.itemsize)
        array = empty_like_strides(a.shape, d.np, strides_of_copy(a, arguments[-1], d.itemsize))
        self.function(array, *arguments[:-1])
        return array


# one value ----------------------------------------------------------------------------------------


def _zeros(d: dtypes.dtype, size: tuple) -> np.ndarray:
    """Make an array of zeros. RuntimeError for a negative size."""
    if any(n < 0 for n in size):
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    return _empty(d, size)


def _empty(d: dtypes.dtype, size: tuple, memory_format: Any = None) -> np.ndarray:
    """Make an array; its elements are 0, so that a program prints the same each time."""
    check_size(size, d.itemsize)
    return np.zeros(size, d.np)


def _refuse_negative(size: tuple) -> None:
    """Raise PyTorch's RuntimeError for a negative size of zeros that are written into `out=`."""
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")


def _ones(d: dtypes.dtype, size: tuple) -> np.ndarray:
    """Make an array of ones."""
    check_size(size, d.itemsize)
    return np.ones(size, d.np)


def _full(d: dtypes.dtype, size: tuple, fill_value: Any) -> np.ndarray:
    """Make an array of one value. RuntimeError if it does not fit the dtype."""
    check_size(size, d.itemsize)
    return np.full(size, array_to_fill(fill_value, d, math.prod(size)))


def _empty_strided(d: dtypes.dtype, size: tuple, stride: tuple) -> np.ndarray:
    """Make an array with these strides, in elements."""
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    check_size(size)
    check_numel(size)
    is_negative = any(s < 0 and n > 1 for n, s in zip(size, stride, strict=True))
    if 0 not in size and (is_negative or byte_extent(size, stride, 1) * d.itemsize >= 1 << 63):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    return empty_like_strides(size, d.np, tuple([s * d.itemsize for s in stride]))


_fill_with_zeros = lambda a: a.fill(0)  # noqa: E731

zeros = op(
    f"zeros(SymInt[] size, *, {OPTIONS})", factory(_zeros, check_for_out=_refuse_negative), out=True
)
ones = op(f"ones(SymInt[] size, *, {OPTIONS})", factory(_ones), out=True)
empty = op(f"empty(SymInt[] size, *, {OPTIONS_LIKE})", factory_empty(_empty), out=True)
full = op(
    f"full(SymInt[] size, Scalar fill_value, *, {OPTIONS})",
    factory(
        _full,
        lambda size, value: (
            value.dtype if isinstance(value, Tensor) else dtypes.dtype_of_number(value)
        ),
    ),
    out=True,
)
empty_strided = op(
    f"empty_strided(SymInt[] size, SymInt[] stride, *, {OPTIONS})", factory(_empty_strided)
)

zeros_like = op(
    f"zeros_like(Tensor self, *, {OPTIONS_LIKE})", factory_like(_fill_with_zeros), method=False
)
ones_like = op(
    f"ones_like(Tensor self, *, {OPTIONS_LIKE})", factory_like(lambda a: a.fill(1)), method=False
)
empty_like = op(
    f"empty_like(Tensor self, *, {OPTIONS_LIKE})", factory_like(_fill_with_zeros), method=False
)
full_like = op(
    f"full_like(Tensor self, Scalar fill_value, *, {OPTIONS_LIKE})",
    factory_like(lambda a, value: a.fill(array_to_fill(value, dtypes.BY_NUM[a.dtype.num], a.size))),
    method=False,
)

new_zeros = op(
    f"new_zeros(Tensor self, SymInt[] size, *, {OPTIONS})",
    factory_new(_empty, is_filled=True),
    function=False,
)
new_ones = op(
    f"new_ones(Tensor self, SymInt[] size, *, {OPTIONS})",
    factory_new(_ones, is_filled=True),
    function=False,
)
new_empty = op(
    f"new_empty(Tensor self, SymInt[] size, *, {OPTIONS})", factory_new(_empty), function=False
)
new_full = op(
    f"new_full(Tensor self, SymInt[] size, Scalar fill_value, *, {OPTIONS})",
    factory_new(_full, is_filled=True),
    function=False,
)
new_empty_strided = op(
    f"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, {OPTIONS})",
    factory_new(_empty_strided),
    function=False,
)

# evenly spaced numbers ----------------------------------------------------------------------------


def _refuse_bool(name: str, d: dtypes.dtype) -> None:
    """Raise PyTorch's error for a function that has no kernel for bools."""
    if d is dtypes.bool_:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")


def _bounds_as_numbers(start: Any, end: Any = None, step: Any = 1) -> tuple[Any, Any, Any]:
    """Return start, end and step of a range as numbers; one bound alone is the end."""
    if end is None:
        start, end = 0, start
    numbers = [x.item() if isinstance(x, Tensor) else x for x in (start, end, step)]
    return numbers[0], numbers[1], numbers[2]


def _dtype_of_range(*bounds: Any) -> dtypes.dtype:
    """Return the dtype of a range: int64 if all of its bounds are whole numbers."""
    if {*map(type, bounds)} <= {int, type(None)}:
        return dtypes.int64
    whole = all(isinstance(x, (int, np.integer)) for x in _bounds_as_numbers(*bounds))
    return dtypes.int64 if whole else dtypes.get_default_dtype()


def _check_range(start: Any, end: Any, step: Any, d: dtypes.dtype) -> None:
    """Raise PyTorch's RuntimeError for numbers that are no range."""
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (start > end) if step > 0 else (start < end):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if not d.is_floating_point and not math.isfinite(step):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")


def _arange(d: dtypes.dtype, *bounds: Any) -> np.ndarray:
    """Make the numbers from start to end, without the end. RuntimeError for a step that leads elsewhere."""
    start, end, step = _bounds_as_numbers(*bounds)
    _refuse_bool("arange", d)
    for bound in (start, end, step):
        dtypes.check_real(bound, "double")
    _check_range(start, end, step, d)
    if d is dtypes.int64:
        if 0 < abs(step) < 1:
            raise ValueError("step must be nonzero")
        start, end, step = int(start), int(end), int(step)
        if not all(-(1 << 63) <= x < 1 << 63 for x in (start, end, step)):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        n = -(-(end - start) // step)
    else:
        # torch counts the elements of every other dtype in floating point
        n = math.ceil((end - start) / step)
    if n >= 1 << 63:
        raise RuntimeError("invalid size, possible overflow?")
    check_memory((n,), d.itemsize)
    start, step = (float(start), float(step)) if d.is_floating_point else (int(start), int(step))
    return run_silenced(lambda: (start + np.arange(n) * step).astype(d.np, copy=False))


_AS_ROW: dict[str, Any] = {"is_fill": False, "is_row": True}
op(f"arange(Scalar end, *, {OPTIONS})", factory(_arange, _dtype_of_range, **_AS_ROW), out=True)
op(f"arange(Scalar start, Scalar end, *, {OPTIONS})", factory(_arange, _dtype_of_range))
arange = op(
    f"arange(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS})",
    factory(_arange, _dtype_of_range, **_AS_ROW),
    out=True,
)


def _refuse_bounds_with_dimensions(name: str, start: Any, end: Any) -> None:
    """Raise PyTorch's RuntimeError, which names each bound that is a tensor, if one has dimensions."""
    named = (("start", start), ("end", end))
    dims = {bound: x._data.ndim for bound, x in named if isinstance(x, Tensor)}
    if any(dims.values()):
        got = " and ".join(f"{bound} with {n} dimension(s)" for bound, n in dims.items())
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {got}."
        )


def _linspace(d: dtypes.dtype, start: Any, end: Any, steps: int) -> np.ndarray:
    """Make so many numbers at even steps from start to end, both included."""
    _refuse_bounds_with_dimensions("linspace", start, end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    check_memory((steps,), d.itemsize)
    _refuse_bool("linspace", d)
    start, end, _ = _bounds_as_numbers(start, end)
    # There is no step to compute for one number.
    if steps == 1 or (steps == 0 and d.is_floating_point):
        return run_silenced(np.full, steps, start, d.np)
    # In the dtype first: the 0.1 of float32 is another number than that of float64.
    first, last = (x.item() for x in (number_array(start, d), number_array(end, d)))
    return run_silenced(_space_evenly, first, last, steps, d)


def _space_evenly(first: Any, last: Any, steps: int, d: dtypes.dtype) -> np.ndarray:
    """Count from the start in the first half, back from the end in the second."""
    i, step = np.arange(float(steps)), (last - first) / max(steps - 1, 1)
    step = float(d.np.type(step)) if d.is_floating_point else step
    return convert_values(
        np.where(i < steps // 2, fma64(i, step, first), fma64(steps - 1 - i, -step, last)), d.np
    )


# Of start and end: PyTorch declares a form for each.
_KINDS_OF_BOUNDS = (
    ("Tensor", "Tensor"),
    ("Scalar", "Tensor"),
    ("Tensor", "Scalar"),
    ("Scalar", "Scalar"),
)
for _start, _end in _KINDS_OF_BOUNDS:
    op(
        f"linspace({_start} start, {_end} end, int steps, *, {OPTIONS})",
        factory(_linspace, **_AS_ROW),
        out=True,
        method=False,
    )


def _logspace(d: dtypes.dtype, start: Any, end: Any, steps: int, base: float) -> np.ndarray:
    """Make the powers of `base` at even steps of the exponent from start to end, both included."""
    _refuse_bounds_with_dimensions("logspace", start, end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    check_memory((steps,), d.itemsize)
    start, end, _ = _bounds_as_numbers(start, end)
    if steps == 1:
        return run_silenced(lambda: convert_values(np.float64(base) ** np.full(1, start), d.np))
    if steps:
        _refuse_bool("logspace", d)
    # The bounds in the dtype first, as for `linspace`; the base of integers stays what it is.
    first, last = (number_array(x, d).item() for x in (start, end))
    root = float(base) if d.np.kind in "iu" else number_array(base, d).item()
    exponents = _space_evenly(first, last, steps, d if d is dtypes.float64 else dtypes.float32)
    return run_silenced(lambda: convert_values(root ** exponents.astype(np.float64), d.np))


for _start, _end in _KINDS_OF_BOUNDS:
    op(
        f"logspace({_start} start, {_end} end, int steps, float base=10., *, {OPTIONS})",
        factory(_logspace, **_AS_ROW),
        out=True,
        method=False,
    )

# identity matrices --------------------------------------------------------------------------------


def _eye(d: dtypes.dtype, n: int, m: int | None = None) -> np.ndarray:
    """Make an identity matrix of `n` rows and `m` columns."""
    if m is None:
        m = n
    for name, k in (("n", n), ("m", m)):
        if k < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {k}")
    if n * m >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    check_memory((n, m), d.itemsize)
    return np.eye(n, m, dtype=d.np)


op(f"eye(SymInt n, *, {OPTIONS})", factory(_eye), out=True)
eye = op(f"eye(SymInt n, SymInt m, *, {OPTIONS})", factory(_eye), out=True)
