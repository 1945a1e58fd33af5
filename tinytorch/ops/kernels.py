"""Kernels: what an operation computes, on plain arrays, and the memory of its result.

A kernel knows nothing of tensors and of gradients. A bare function is one: its results are fresh
arrays. The classes here say more: that a function works element by element, reduces, gives views of
the same memory, or values to write. Their names are in lower case, as declarations call them like
functions that make one of another: `pointwise(np.exp)`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import (
    check_broadcast_into,
    check_overlap,
    convert_values,
    dtypes,
    lay_out_result,
    make_absence_error,
)
from ..base import strides as layout

ndarray = np.ndarray
HALF = np.dtype(np.float16)
# All letters of `takes`: b for bool, i for integers, f for floats.
ALL_LETTERS = "bif"
# By NumPy's number of a dtype (`dtype.num`), its letter of `takes`.
LETTER_OF_DTYPE = {n: d.np.kind.replace("u", "i") for n, d in dtypes.BY_NUM.items()}


# operands -----------------------------------------------------------------------------------------


def result_dtype(*operands: Any) -> dtypes.dtype:
    """Return the dtype that operands meet in.

    Arrays with dimensions decide it. A 0-d array, and then a number, changes it only if its own
    category is higher: bool, integer, float. Source: torch's `result_type`.
    """
    # By level: 0 for arrays with dimensions, 1 for 0-d arrays, 2 for numbers.
    best: dict[int, dtypes.dtype] = {}
    for x in operands:
        # torch takes a np.bool_ for a Python number.
        if isinstance(x, (ndarray, np.generic)) and not (x.ndim == 0 and type(x) is np.bool_):
            level, d = (0 if x.ndim else 1), dtypes.BY_NUM[x.dtype.num]
        else:
            level, d = 2, dtypes.dtype_of_number(x)
        best[level] = dtypes.promote_types(best.get(level, d), d)
    out, *others = (best[level] for level in sorted(best))
    for d in others:
        if not out.is_floating_point and (d.is_floating_point or out is dtypes.bool_):
            out = dtypes.promote_types(out, d)
    return out


def _check_number(x: Any) -> None:
    """Raise the error for a number that no dtype holds: of complex ones tinytorch has none."""
    if dtypes.is_complex_number(x):
        raise make_absence_error("a complex number")
    dtypes.check_c_number(x)


def as_array(x: Any, d: dtypes.dtype) -> ndarray:
    """Return an operand as an array of dtype `d`; a number is wrapped as PyTorch wraps it."""
    if isinstance(x, (ndarray, np.generic)):
        if x.dtype == d.np:
            return np.asarray(x)
        out = np.asarray(convert_values(x, d.np))
        if out.ndim < 2:
            return out
        strides = layout.dense_strides(x, d.np.itemsize)  # type: ignore[arg-type]
        return layout.copy_with_strides(out, strides)
    _check_number(x)
    if d.np.kind in "iu":
        # C++ cuts off the bits that do not fit, NumPy would raise
        bits = 8 * d.itemsize
        return np.array(int(x) & ((1 << bits) - 1), f"u{d.itemsize}").view(d.np)
    return np.array(x, d.np)


def number_array(value: Any, d: dtypes.dtype) -> ndarray:
    """Return a Python number as a 0-d array of dtype `d`.

    RuntimeError in PyTorch's words if it does not fit.
    """
    _check_number(value)
    dtypes.check_range(value, d, in_c=True)
    return as_array(value, d)


def array_to_fill(value: Any, d: dtypes.dtype, size: int) -> ndarray:
    """Return a Python number as a 0-d array that fills `size` elements.

    As in PyTorch, one element of float16 alone takes what does not fit, as infinity.
    """
    if size != 1 or d is not dtypes.float16:
        return number_array(value, d)
    _check_number(value)
    with np.errstate(over="ignore"):
        return as_array(value, d)


def cannot_cast(
    d: dtypes.dtype, target: dtypes.dtype, in_c: bool = False, is_complex: bool = False
) -> RuntimeError:
    """Make PyTorch's error for a result that may not be written into another category of dtype.

    `is_complex`: the result would be of complex numbers, whose parts are of dtype `d`.
    """
    name = dtypes.cpp_name(target) if in_c else target.scalar_name
    own = "Complex" * is_complex + d.scalar_name
    return RuntimeError(f"result type {own} can't be cast to the desired output type {name}")


def check_kernel(dtype: np.dtype, takes: str, stub: str, is_complex: bool = False) -> None:
    """Raise torch's NotImplementedError if it has no such kernel for this dtype.

    `is_complex`: for complex numbers, whose parts are of this dtype.
    """
    if LETTER_OF_DTYPE[dtype.num] not in takes:
        name = "Complex" * is_complex + dtypes.BY_NUM[dtype.num].scalar_name
        raise NotImplementedError(f"\"{stub}\" not implemented for '{name}'")


# kinds --------------------------------------------------------------------------------------------


class Kernel:
    """A kernel that says what its results are."""

    # What it does with memory: "fresh", "view", "write" or "composite".
    kind = "fresh"
    # True if it computes in the dtype of `out=`, if no other is asked for
    in_dtype_of_out = False
    # False if `out=` may share memory with itself and the operands: PyTorch does not look
    checks_overlap = True
    # True if it has a `run_into_out` of its own, for calls with `out=`
    writes_out = False
    # True if PyTorch calls `resize_` on `out=` as a program would, which a leaf refuses
    resizes_out = False
    # True if it computes element by element: so do its gradients, which get TensorIterator's strides
    is_pointwise = False
    # Does with an OutArgument what PyTorch does before it computes, see ops/out_argument.py.
    prepare_out: Callable | None = None

    def __init__(self, function: Callable, is_copy: bool = False) -> None:
        self.function = function
        # True if the result is no more than a copy, as that of `clone`
        self.is_copy = is_copy

    def bind_schema(self, schema: Any) -> Kernel:
        """Return the kernel of the operation that has this schema."""
        return self

    def lays_out(self, *values: Any) -> bool:
        """Return True if a resized `out=` gets the strides of the result for these arrays."""
        return False

    def __call__(self, *values: Any) -> Any:
        """Return the function's result for arrays."""
        return self.function(*values)


class row_major(Kernel):
    """A function whose results, one or several, are laid out row by row: most that reduce."""

    def __init__(
        self, function: Callable, in_dtype_of_out: bool = False, checks_overlap: bool = False
    ) -> None:
        super().__init__(function)
        self.in_dtype_of_out, self.checks_overlap = in_dtype_of_out, checks_overlap
        # It lays out the result alone, and none of the gradients.
        self.is_pointwise = isinstance(function, pointwise)

    def __call__(self, *values: Any) -> Any:
        """Return the function's result, laid out row by row."""
        results = self.function(*values)
        if type(results) is tuple:
            return tuple([lay_out_result(result) for result in results])
        return lay_out_result(results)


# Parameters that are operands even where the schema has a Scalar: they take part in choosing the
# dtype of the result. Other Scalars, as `alpha` and `weight`, do not, and follow the operands.
# `bind_schema` counts all parameters up to the last one that is a tensor or has such a name, so that
# a number that is `self` is an operand, too.
_NAMES_OF_OPERANDS = ("other", "exponent", "min", "max")


class pointwise(Kernel):
    """`function(a, b, ...)` element by element, of operands that broadcast.

    `to`: the dtype of the result: "keep" that of the operands; "float", which is the same for
    floats, and the default dtype for all others; or "bool". `takes`: the dtypes of the operands,
    before they are made floats, for which torch has no error, of the letters b, i and f; `stub`:
    the name of the kernel in that error. `check(a, b, ...)` gets the operands as they were given,
    and raises PyTorch's error if they do not fit. `function_at_defaults`: what computes the
    same where the arguments after the operands have their defaults, as `np.add` for `alpha=1`. `in_c`: the error "can't be cast" names
    the dtype as C++ does (`int`), not as torch (`Int`). `resizes_once`: PyTorch writes into an
    `out=` of another dtype at once, not by way of a copy.

    Operands are the schema's tensors and, where they may stand for tensors, numbers; further
    arguments follow.
    """

    is_pointwise = True
    # Of a kernel that another one calls (`_pow_kernel` in `row_major(_pow_kernel)`, `_sub_kernel` in
    # `_rsub_kernel`), or whose `values_to_write` another declaration takes: `op` binds the schema to
    # the outer one alone. Right for two operands; three would have to be said.
    operand_count = 2
    # for each operand, True if the strides of the result may go by it
    decides_layout: list[bool] = [True, True]

    def __init__(
        self,
        function: Callable,
        to: str = "keep",
        *,
        takes: str = ALL_LETTERS,
        stub: str = "",
        check: Callable | None = None,
        function_at_defaults: Callable | None = None,
        in_c: bool = False,
        resizes_once: bool = False,
    ) -> None:
        super().__init__(function)
        self.to, self.takes, self.stub, self.check, self.in_c = to, takes, stub, check, in_c
        self.function_at_defaults, self.resizes_once = function_at_defaults, resizes_once
        # NumPy's numbers of the dtypes that the function is called with as they are: nothing is to
        # be converted, before or after it.
        self.direct_dtype_nums = set()
        for num, letter in LETTER_OF_DTYPE.items():
            # Bools are converted first, and so are integers of which floats are made; float16 is
            # computed in float32.
            is_converted = letter == "b" or (letter == "i" and to == "float") or num == HALF.num
            if letter in takes and not is_converted:
                self.direct_dtype_nums.add(num)

    def bind_schema(self, schema: Any) -> pointwise:
        """Return a copy that knows which parameters are operands: those that share a dtype.

        A copy, as overloads have a kernel in common: `_remainder_kernel` gets numbers on either side.
        """
        bound = copy.copy(self)
        for i, param in enumerate(schema.params):
            if param.is_tensor or param.name in _NAMES_OF_OPERANDS:
                # With all before it: the number `self` of `pow(Scalar self, Tensor exponent)`, too.
                bound.operand_count = i + 1
        operands = schema.params[: bound.operand_count]
        # torch makes a 0-d tensor of a number that is `self` or `other`; the strides of a result
        # may go by that. Exponents and bounds stay numbers.
        bound.decides_layout = [p.is_tensor or p.name in ("self", "other") for p in operands]
        return bound

    def lays_out(self, *values: Any) -> bool:
        """Return True: TensorIterator, which makes the result, resizes `out=`."""
        return True

    def prepare_out(self, out: Any, *values: Any) -> None:  # type: ignore[override]
        """Check an OutArgument and resize it, in the order of PyTorch's TensorIterator."""
        raw_operands = values[: self.operand_count]
        arrays = [x for x in raw_operands if isinstance(x, ndarray)]
        if self.check is not None:
            self.check(*raw_operands)
        a = out.tensor._data
        out.check_overlap(*arrays)
        shape = shape_of_all(*arrays)
        if shape != a.shape and any(x is a for x in arrays):
            check_broadcast_into(a.shape, shape)
        common = self.common_dtype(values)
        d = common
        if self.to == "float" and not common.is_floating_point:
            d = dtypes.get_default_dtype()
        if self.to == "bool":
            # Comparisons write bools at once, and else what they meet in.
            out.resize(shape, not self.resizes_once and out.dtype not in (common, dtypes.bool_))
            return
        if not (dtypes.can_cast(d, out.dtype) or out.rule.error):
            raise cannot_cast(d, out.dtype, self.in_c)
        out.check_dtype(common if out.rule.error else d)
        out.resize(shape, not self.resizes_once and out.dtype is not d)

    def common_dtype(self, values: Any) -> dtypes.dtype:
        """Check the operands, and return the dtype that they meet in."""
        if self.check is not None:
            self.check(*values[: self.operand_count])
        return result_dtype(*[x for x in values[: self.operand_count] if x is not None])

    def arrays_of_one_dtype(self, raw_operands: tuple) -> list | None:
        """Return the operands as arrays of the dtype that all arrays among them have already.

        A number beside them becomes such an array. None if the arrays have several dtypes, or if the
        dtype does not take every number of that kind: all float dtypes take a float; float32, float64
        and int64 take an int of 64 bits.
        """
        dtype = raw_operands[0].dtype if type(raw_operands[0]) is ndarray else None
        if dtype is None or dtype.num not in self.direct_dtype_nums:
            return None
        for x in raw_operands[1:]:
            if x is None:
                continue
            if type(x) is ndarray:
                fits = x.dtype is dtype
            elif type(x) is int:
                # float32, float64 and int64: a narrower integer would have to be checked
                fits = dtype.char in "fdl" and abs(x) < 1 << 63
            else:
                fits = type(x) is float and dtype.kind == "f"
            if not fits:
                return None
        return [x if x is None or type(x) is ndarray else np.array(x, dtype) for x in raw_operands]

    def convert_operands(self, values: tuple, target: ndarray | None = None) -> list:
        """Convert operands to the dtype they meet in.

        `target`: the array that the result is to be written into, which is checked first.
        NotImplementedError where PyTorch has no kernel, RuntimeError if the result does not fit
        into `target`.
        """
        raw_operands = values[: self.operand_count]
        # Operands of one dtype are checked, too, though nothing is converted. Of several errors the
        # one is raised that PyTorch checks first, so the checks below are in its order.
        arrays = self.arrays_of_one_dtype(raw_operands)
        if arrays is None:
            common = self.common_dtype(raw_operands)
        elif self.check is not None:
            self.check(*raw_operands)
        if target is not None:
            check_overlap(target, *raw_operands[1:])
            check_broadcast_into(
                target.shape, *[x.shape for x in raw_operands if isinstance(x, ndarray)]
            )
        if arrays is not None:
            return arrays
        # No dtype here is complex; but what PyTorch refuses for that reason is refused in its words.
        is_complex = any([dtypes.is_complex_number(x) for x in raw_operands])
        # The dtype to compute in.
        d = common
        if self.to == "float" and not common.is_floating_point:
            d = dtypes.get_default_dtype()
        if target is not None and self.to != "bool":
            into = dtypes.BY_NUM[target.dtype.num]
            if is_complex or not dtypes.can_cast(d, into):
                raise cannot_cast(d, into, self.in_c, is_complex)
        if LETTER_OF_DTYPE[common.np.num] not in self.takes:
            # of two errors torch raises that of the shapes
            shape_of_all(*[x for x in raw_operands if isinstance(x, ndarray)])
            check_kernel(common.np, self.takes, self.stub, is_complex)
        return [x if x is None else as_array(x, d) for x in raw_operands]

    def compute_in_one_dtype(self, arrays: list[ndarray], rest: tuple) -> Any:
        """Return the result for operands of one dtype. float16 is computed in float32."""
        try:
            if arrays[0].dtype == HALF:
                wider = [a if a is None else a.astype(np.float32) for a in arrays]
                data = self.function(*wider, *rest)
                return data if self.to == "bool" else np.asarray(data).astype(HALF)
            return self.function(*arrays, *rest)
        except ValueError:
            # NumPy's, of shapes that do not broadcast
            shape_of_all(*[a for a in arrays if a is not None])
            raise

    def __call__(self, *values: Any) -> ndarray:
        """Return the result for operands as they were given."""
        arrays = self.convert_operands(values)
        tensors = []
        raw_operands = values[: self.operand_count]
        for x, array, decides_layout in zip(raw_operands, arrays, self.decides_layout, strict=True):
            if isinstance(x, ndarray) or (decides_layout and array is not None):
                tensors.append(array)
        data = self.compute_in_one_dtype(arrays, values[self.operand_count :])
        return lay_out_result(data, *tensors)

    def values_to_write(self, a: ndarray, *values: Any) -> ndarray:
        """Return the values to write into `a`."""
        arrays = self.convert_operands((a, *values), a)
        # `a` is the first operand, and not among `values`
        return np.asarray(self.compute_in_one_dtype(arrays, values[self.operand_count - 1 :]))


def shape_of_all(*arrays: ndarray) -> tuple:
    """Return the shape that arrays broadcast to. RuntimeError in PyTorch's words if they do not."""
    return layout.broadcast_shape(*[a.shape for a in arrays])


class view(Kernel):
    """`function(a, ...)` gives an array, or several, that look at the same memory.

    Of what is written to, as by `t_`, the tensor itself looks at its memory in the new way.
    """

    kind = "view"


class write(Kernel):
    """`function(a, ...)` gives the values to write into `a`, or None if it wrote them itself."""

    kind = "write"

    def values_to_write(self, a: ndarray, *values: Any) -> Any:
        """Return the values to write into `a`."""
        return self.function(a, *values)


class composite(Kernel):
    """`function(...)` is made of other operations.

    It gets what the caller gave, and has no history of its own. `into_out(out, ...)` is called in
    its place where the caller gave an `out=` that another operation writes to.
    """

    kind = "composite"

    def __init__(
        self, function: Callable, lays_out: bool = False, into_out: Callable | None = None
    ) -> None:
        super().__init__(function)
        self._lays_out = lays_out
        self._into_out = into_out
        self.writes_out = into_out is not None

    def lays_out(self, *values: Any) -> bool:
        """Return True if the last of these operations is one that does."""
        return self._lays_out

    def run_into_out(self, out: Any, values: tuple) -> Any:
        """Have the result written into `out`, and return that."""
        return self._into_out(out, *values)  # type: ignore[misc]


class delegating(composite):
    """`arguments(...)` gives the arguments of another operation, which does all, with `out=`, too."""

    def __init__(self, inner: Any, arguments: Callable) -> None:
        super().__init__(
            lambda *given: inner(*arguments(*given)),
            into_out=lambda out, *given: inner.run_into_out(
                out, inner.fill_in_defaults(arguments(*given))
            ),
        )
