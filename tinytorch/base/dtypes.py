"""Element types: torch's names for NumPy's types, and the rules of promotion and conversion.

Source: the promotion table of torch's `promote_types`, `c10::overflows`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import NamedByTorch, make_absence_error


class dtype(NamedByTorch):
    """An element type, such as `torch.float32`.

    There is one object for each, so they compare by identity.

    `np` is the NumPy type; `tensor_type` and `scalar_name` are the names in torch's messages
    (`FloatTensor`, `Float`).
    """

    shown_as = "torch.dtype"

    __slots__ = ("aliases", "called", "is_complex", "is_floating_point", "is_signed", "itemsize", "np", "scalar_name",
                 "tensor_type")  # fmt: skip

    aliases: tuple[str, ...]
    called: str
    is_complex: bool
    is_floating_point: bool
    is_signed: bool
    itemsize: int
    np: Any
    scalar_name: str
    tensor_type: str

    def __repr__(self) -> str:
        return f"torch.{self.called}"

    def __reduce__(self) -> tuple:
        return dtype_by_name, (self.called,)


def _make_dtype(
    name: str, np_name: str, tensor_type: str, scalar_name: str, *aliases: str
) -> dtype:
    """Make one of torch's dtypes: `__init__` would be for programs, which make none."""
    made = object.__new__(dtype)
    made.called, made.aliases = name, aliases
    made.tensor_type, made.scalar_name = tensor_type, scalar_name
    made.np = np.dtype(np_name)
    made.itemsize = made.np.itemsize
    made.is_floating_point = made.np.kind == "f"
    made.is_complex = False
    made.is_signed = made.np.kind in "if"
    return made


bool_ = _make_dtype("bool", "?", "BoolTensor", "Bool")
uint8 = _make_dtype("uint8", "u1", "ByteTensor", "Byte")
int8 = _make_dtype("int8", "i1", "CharTensor", "Char")
int16 = _make_dtype("int16", "i2", "ShortTensor", "Short", "short")
int32 = _make_dtype("int32", "i4", "IntTensor", "Int", "int")
int64 = _make_dtype("int64", "i8", "LongTensor", "Long", "long")
float16 = _make_dtype("float16", "f2", "HalfTensor", "Half", "half")
float32 = _make_dtype("float32", "f4", "FloatTensor", "Float", "float")
float64 = _make_dtype("float64", "f8", "DoubleTensor", "Double", "double")

# In the order in which they promote.
ALL = (
    bool_,
    uint8,
    int8,
    int16,
    int32,
    int64,
    float16,
    float32,
    float64,
)
BY_NAME: dict[str, dtype] = {}
for _dtype in ALL:
    BY_NAME |= dict.fromkeys((_dtype.called, *_dtype.aliases), _dtype)

BY_NUM = {d.np.num: d for d in ALL}
for _d in map(np.dtype, (np.intc, np.int_, np.longlong)):  # C has two names for one of them
    BY_NUM.setdefault(_d.num, BY_NUM[np.dtype(f"i{_d.itemsize}").num])
_PYTHON: dict[Any, dtype] = {bool: bool_, int: int64, float: float64}


def dtype_by_name(name: str) -> dtype:
    """Return the dtype of a name. Pickles of dtypes refer to this function."""
    return BY_NAME[name]


class DefaultDtype:
    """The dtype of Python floats."""

    dtype = float32


def get_default_dtype() -> dtype:
    """Return the dtype that Python floats become; `torch.float32` unless set."""
    return DefaultDtype.dtype


def set_default_dtype(d: dtype) -> None:
    """Make `d` the dtype that Python floats become. `d`: a floating point dtype.

    Anything else is a TypeError.
    """
    if not isinstance(d, dtype) or not d.is_floating_point:
        prefix = "" if isinstance(d, dtype) else "invalid dtype object: "
        raise TypeError(f"{prefix}only floating-point types are supported as the default type")
    DefaultDtype.dtype = d


def is_dtype(d: object) -> bool:
    """Return True for what torch takes as `dtype=`: None, a dtype, or one of Python's types."""
    return d is None or isinstance(d, dtype) or (isinstance(d, type) and d in _PYTHON)


def as_dtype(d: Any) -> dtype | None:
    """Return the dtype of a `dtype=` argument; None for None."""
    return _PYTHON.get(d, d)


_CPP_NAMES = {"float16": "c10::Half", "float32": "float", "float64": "double", "int64": "long int", "int16": "short int",
              "int8": "signed char", "uint8": "unsigned char", "int32": "int"}  # fmt: skip


def cpp_name(d: dtype) -> str:
    """Return the name of a dtype's C++ type, which some of torch's messages have."""
    return _CPP_NAMES.get(d.called, d.called)


def check_c_number(value: Any) -> None:
    """Raise the OverflowError of PyTorch's parser for an int that C++ has no type for."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError(
            "int too big to convert" if value > 0 else "can't convert negative int to unsigned"
        )


def is_complex_number(x: Any) -> bool:
    """Return True for a complex number of Python or NumPy."""
    return isinstance(x, (complex, np.complexfloating))


def check_real(value: Any, c_name: str) -> None:
    """Raise torch's RuntimeError if a number is complex. `c_name`: C++'s type of what is asked for."""
    if is_complex_number(value) and value.imag:
        raise RuntimeError(f"value cannot be converted to type {c_name} without overflow")


def check_range(value: float, d: dtype, in_c: bool = False) -> None:
    """Raise torch's RuntimeError if a number is out of a dtype's range.

    A negative int may wrap in an unsigned type.

    `in_c`: the message has the name of the C++ type, as that of `fill_` and `full`. Source:
    `c10::overflows`.
    """
    is_finite = value == value and value not in (float("inf"), float("-inf"))
    if d is bool_ or (d.is_floating_point and not is_finite):
        return
    if d.is_floating_point:
        fits = not in_c or abs(value) <= float(np.finfo(d.np).max)
    else:
        highest = int(np.iinfo(d.np).max)
        lowest = -highest
        if d.is_signed:
            lowest = -highest - 1
        elif isinstance(value, float):
            lowest = 0
        fits = is_finite and lowest <= value <= highest
    if not fits:
        name = _name_number_type(d) if in_c else d.called
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def check_factor_range(value: Any, d: dtype) -> None:
    """Raise torch's RuntimeError if a number, which may be complex, does not fit a dtype."""
    check_real(value, _name_number_type(d))
    check_range(value.real, d, in_c=True)


def _name_number_type(d: dtype) -> str:
    """Return C++'s name of the type of a single number: `int64_t`, where `cpp_name` says `long int`."""
    return cpp_name(d) if d.is_floating_point or d in (int32, bool_) else f"{d.called}_t"


def from_numpy_dtype(n: np.dtype) -> dtype:
    """Return the torch dtype of a NumPy dtype. TypeError, in torch's words, if there is none."""
    found = BY_NUM.get(n.num)
    if found is None and n.kind in "uc":
        raise make_absence_error(f"the dtype {n.name}")
    if found is None or not n.isnative:
        names = (
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
            "uint64, uint32, uint16, "
        )
        raise TypeError(
            f"can't convert np.ndarray of type {n.type.__module__}.{n.type.__name__}. The "
            f"only supported types are: {names}uint8, and bool."
        )
    return found


def promote_types(a: dtype, b: dtype) -> dtype:
    """Return the dtype of a result of both, by torch's table.

    So int64 and float16 give float16, other than in NumPy.
    """
    if a is b:
        return a
    if a.is_floating_point != b.is_floating_point:
        return a if a.is_floating_point else b
    return int16 if {a, b} == {uint8, int8} else max(a, b, key=ALL.index)


def dtype_of_number(value: object) -> dtype:
    """Return the dtype of a Python number as a 0-d tensor: bool, int64, or the default dtype."""
    if isinstance(value, bool):
        return bool_
    # torch reads a number of NumPy's type bool as a float, too.
    return int64 if isinstance(value, (int, np.integer)) else DefaultDtype.dtype


def can_cast(source: dtype, target: dtype) -> bool:
    """Return True if a result of dtype `source` may be written to `target`.

    No float to int, no int to bool.
    """
    if source.is_floating_point and not target.is_floating_point:
        return False
    return not (target is bool_ and source is not bool_)
