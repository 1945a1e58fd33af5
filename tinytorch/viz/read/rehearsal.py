"""What a few lines of the program's own do in backward, found by a rehearsal with stand-ins for tensors.

A Function's backward, a hook on a gradient and what unpacks a saved tensor may raise and compute
anything. Most are a little arithmetic. Such code is run here where it reaches nothing of the program:
its bytecode alone, with stand-ins in the place of its arguments and of all that it finds in variables.
A stand-in for a tensor has a shape and no values. What happens next and is not decided by shapes and
plain numbers ends the rehearsal, and then it is not known what the code does.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Iterable
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from .blocks import PLAIN_CLASSES
from .probe import is_tensor
from .records import GradientSpec

_FORBIDDEN = (
    *(
        "IMPORT",
        "STORE_GLOBAL",
        "STORE_ATTR",
        "STORE_DEREF",
        "STORE_NAME",
        "DELETE",
        "MAKE_FUNCTION",
    ),
    *("JUMP_BACKWARD", "FOR_ITER", "SEND", "YIELD", "GET_A", "LOAD_BUILD_CLASS", "LOAD_NAME"),
)
"""Beginnings of instructions that may change something, or run for long."""
_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))
_BUILTINS = {"len": len, "abs": abs, "tuple": tuple, "list": list}


class _UnforeseenError(BaseException):
    """Ends a rehearsal. No `except` of the code's own catches it: code that has one is not rehearsed."""


class Rehearsal(NamedTuple):
    """What code does, as far as a rehearsal shows."""

    value: Any = None
    """What it returns: stand-ins, numbers, tuples and lists of them."""
    error: str = ""
    """What it raises; empty if it returns."""


def rehearse_call(
    function: Any, arguments: Iterable[Any], *, may_act: bool = False
) -> Rehearsal | None:
    """Return what a function would do; None if a rehearsal does not show it.

    arguments: stand-ins and plain values, see `stand_in_for`. may_act: it may print, append to a list
    and set keys of a dict, which a rehearsal leaves out.
    """
    code = getattr(function, "__code__", None)
    if type(function) is not FunctionType or not isinstance(code, CodeType) or not _is_plain(code):
        return None
    cells = tuple(CellType(_read_cell(cell, may_act)) for cell in function.__closure__ or ())
    defaults = tuple(map(stand_in_for, function.__defaults__ or ()))
    # Under another name of the file: a tool that counts lines or stops at them has none of this.
    copy = FunctionType(
        code.replace(co_filename="<rehearsal>"),
        {"__builtins__": {}, **_collect_variables(function, code, may_act)},
        code.co_name,
        defaults,
        cells,
    )
    if function.__kwdefaults__:
        return None
    try:
        return Rehearsal(copy(*arguments))
    except _UnforeseenError:
        return None
    except Exception as error:  # noqa: BLE001 - what it raises is asked
        # Raised by an instruction of the code, and not in here by a stand-in.
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        if trace is None or trace.tb_frame.f_code is not copy.__code__ or trace.tb_next:
            return None
        return Rehearsal(error=f"{type(error).__name__}: {error}".removesuffix(": "))


def _is_plain(code: CodeType) -> bool:
    """Return True for code without loops, handlers, inner functions and writes to variables outside."""
    flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    if code.co_flags & flags or code.co_exceptiontable:
        return False
    if any(name.startswith("__") for name in code.co_names):
        return False
    return not any(each.opname.startswith(_FORBIDDEN) for each in dis.get_instructions(code))


def _read_cell(cell: CellType, may_act: bool) -> Any:
    try:
        return _stand_in_for_variable(cell.cell_contents, "a variable around it", may_act)
    except ValueError:  # it is empty yet
        return _Unknown()


def _stand_in_for_variable(value: Any, name: str, may_act: bool) -> Any:
    if type(value) in (list, dict):
        container = _ListStandIn() if type(value) is list else _DictStandIn()
        return container if may_act else _Unknown()
    return stand_in_for(value, name)


def _collect_variables(function: FunctionType, code: CodeType, may_act: bool) -> dict[str, Any]:
    """Return stand-ins for the global variables and builtins that code mentions."""
    variables: dict[str, Any] = {}
    for name in code.co_names:
        if name in function.__globals__:
            variables[name] = _stand_in_for_variable(function.__globals__[name], name, may_act)
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
            is_error = isinstance(value, type) and issubclass(value, Exception)
            if name == "print" and may_act:
                variables[name] = _print_nothing
            else:
                variables[name] = value if is_error else _BUILTINS.get(name, _Unknown())
    return variables


def _print_nothing(*values: Any, **options: Any) -> None:
    for value in values:
        if options or not isinstance(value, (*_PLAIN, StandIn)):
            raise _UnforeseenError


def end_rehearsal() -> Any:
    """End it, as what comes next is not known."""
    raise _UnforeseenError


def stand_in_for_gradient(spec: GradientSpec | None, device: str) -> StandIn | None:
    """Return what stands for a gradient; None if it may not be of real floating point numbers."""
    if spec is None or "float" not in spec.dtype:
        return None
    return StandIn(spec.shape, spec.dtype, device)


def stand_in_for(value: Any, origin: str = "") -> Any:
    """Return what stands for a value of the program: plain ones for themselves.

    origin: what a tensor is called, for `StandIn.origins`.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple:
        return tuple(map(stand_in_for, value))
    if value is math:
        return math  # of stand-ins it refuses to make floats
    if isinstance(value, type) and issubclass(value, Exception) and value.__module__ == "builtins":
        return value
    stand_in = _make_tensor_stand_in(value)
    if stand_in is None:
        return _Unknown()
    stand_in.origins = frozenset([origin] if origin else [])
    return stand_in


def _make_tensor_stand_in(value: Any) -> StandIn | None:
    """Return what stands for a tensor of real numbers; None for all else."""
    if type(value).__name__ not in PLAIN_CLASSES or not is_tensor(value):
        return None
    try:
        is_dense = str(getattr(value, "layout", "torch.strided")) == "torch.strided"
        if not is_dense or not value.dtype.is_floating_point:
            return None
        dtype, shape = str(value.dtype).rpartition(".")[2], tuple(int(n) for n in value.shape)
        return StandIn(shape, dtype, str(value.device))
    except Exception:  # noqa: BLE001 - a nested tensor has no shape
        return None


# -- stand-ins -------------------------------------------------------------------------------


def _refuse(*_: Any, **__: Any) -> Any:
    raise _UnforeseenError


class _Unknown:
    """A value of which nothing is known: whatever is done with it ends the rehearsal."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise _UnforeseenError


_BINARY = ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod", "and", "or", "xor")
_OPERATORS = (
    *(f"__{name}__" for name in _BINARY),
    *(f"__r{name}__" for name in _BINARY),
    *(f"__i{name}__" for name in _BINARY),
    *("__lshift__", "__rshift__", "__rlshift__", "__rrshift__", "__ilshift__", "__irshift__"),
    *("__divmod__", "__rdivmod__", "__neg__", "__pos__", "__abs__", "__invert__", "__bool__"),
    *(
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__eq__",
        "__ne__",
        "__hash__",
        "__len__",
        "__iter__",
    ),
    *("__getitem__", "__setitem__", "__delitem__", "__contains__", "__call__", "__int__"),
    *("__float__", "__complex__", "__index__", "__round__", "__str__", "__format__"),
    *("__enter__", "__exit__", "__next__", "__reversed__"),
)
for _operator in _OPERATORS:
    setattr(_Unknown, _operator, _refuse)


class _ListStandIn(_Unknown):
    """A list, to which things may be appended."""

    def append(self, _: Any, /) -> None:
        """Do nothing."""


class _DictStandIn(_Unknown):
    """A dict, of which plain keys may be set."""

    def __setitem__(self, key: Any, _: Any) -> None:
        if type(key) not in (int, str):
            raise _UnforeseenError


class StandIn(_Unknown):
    """A dense tensor of real floating point numbers, or a mask."""

    __slots__ = ("device", "dtype", "is_fresh", "origins", "sizes")

    def __init__(
        self, sizes: tuple[int, ...] | None, dtype: str, device: str = "", *, is_fresh: bool = False
    ) -> None:
        self.sizes = sizes
        """Its shape; None for that of a gradient which is not known, and for what is made of it."""
        self.dtype = dtype
        """The name of its dtype: "float32", "bool" of a mask, empty of a gradient of any floats."""
        self.device = device
        """The device; empty of a gradient on any."""
        self.is_fresh = is_fresh
        """True if it was made in the rehearsal: nothing else sees its memory."""
        self.origins: frozenset[str] = frozenset()
        """The tensors with a name of which values are in it."""

    def __getattr__(self, name: str) -> Any:
        if self.dtype == _MASK:
            raise _UnforeseenError
        if name in _POINTWISE:
            return lambda *args: self._change(*args)
        if name in _COMBINING:
            return lambda *args: self._combine(*args)
        if name in _CLAMPS:
            return lambda *args, **options: self._clamp(args, options)
        if name == "shape" and self.sizes is not None:
            return self.sizes
        if name == "T" and len(self.sizes or ()) == 2:
            return self._make(self.sizes[::-1])
        raise _UnforeseenError

    def _make(
        self, sizes: tuple[int, ...] | None, dtype: str | None = None, other: StandIn | None = None
    ) -> StandIn:
        dtype = self.dtype if dtype is None else dtype
        result = StandIn(sizes, dtype, self.device, is_fresh=True)
        result.origins = self.origins | (frozenset() if other is None else other.origins)
        return result

    def _change(self, *args: Any) -> StandIn:
        """Return what a function of each element gives."""
        if args or self.dtype == _MASK:
            raise _UnforeseenError
        return self._make(self.sizes)

    def _clamp(self, args: tuple[Any, ...], options: dict[str, Any]) -> StandIn:
        limits = (*args, *options.values())
        if not options.keys() <= {"min", "max"} or not 1 <= len(limits) <= 2:
            raise _UnforeseenError
        if any(type(limit) not in (int, float) for limit in limits):
            raise _UnforeseenError
        return self._change()

    def _combine(self, *others: Any) -> StandIn:
        """Return what arithmetic with a number or another tensor gives."""
        if len(others) != 1:
            raise _UnforeseenError
        other = others[0]
        if type(other) is float or (type(other) is int and abs(other) < _LARGEST_INT):
            return self._change()
        if not isinstance(other, StandIn) or self.dtype != other.dtype or self.dtype == _MASK:
            raise _UnforeseenError
        return self._make(_broadcast(self, other), other=other)

    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = _combine
    __pow__ = __rpow__ = _combine
    __neg__ = __abs__ = _change

    def __mul__(self, other: Any) -> StandIn:
        # A mask may be multiplied with, and not subtracted.
        if isinstance(other, StandIn) and (self.dtype == _MASK) != (other.dtype == _MASK):
            tensor = other if self.dtype == _MASK else self
            mask = self if tensor is other else other
            return tensor._make(_broadcast(self, other), other=mask)
        return self._combine(other)

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> StandIn:
        if (
            not isinstance(other, StandIn)
            or not len(self.sizes or ()) == len(other.sizes or ()) == 2
        ):
            raise _UnforeseenError
        (rows, inner), (other_inner, columns) = self.sizes, other.sizes  # type: ignore[misc]
        is_fitting = inner == other_inner and self.dtype == other.dtype != _MASK
        if not is_fitting or self.device != other.device:
            raise _UnforeseenError
        return self._make((rows, columns), other=other)

    def _compare(self, other: Any) -> StandIn:
        combined = self._combine(other)
        return combined._make(combined.sizes, _MASK)

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __len__(self) -> int:
        if not self.sizes:
            raise _UnforeseenError
        return self.sizes[0]

    def __setitem__(self, mask: Any, value: Any) -> None:
        is_mask = isinstance(mask, StandIn) and mask.dtype == _MASK and mask.sizes == self.sizes
        if not is_mask or not self.is_fresh or type(value) not in (int, float):
            raise _UnforeseenError
        self.origins |= mask.origins


_MASK = "bool"
_POINTWISE = frozenset(
    {
        *("abs", "neg", "exp", "log", "sin", "cos", "tan", "tanh", "sigmoid", "sqrt", "square"),
        *("relu", "sign", "clone"),
    }
)
"""Methods without arguments that compute each element for itself, into new memory."""
_COMBINING = frozenset({"add", "sub", "mul", "div"})
_CLAMPS = frozenset({"clamp", "clamp_min", "clamp_max"})
_LARGEST_INT = 2**62
"""Larger ones PyTorch refuses."""


def _broadcast(left: StandIn, right: StandIn) -> tuple[int, ...] | None:
    """Return the shape of what two tensors give together."""
    if left.device != right.device:
        raise _UnforeseenError
    if left.sizes is None or right.sizes is None:
        # All of an unknown shape are made of the one gradient.
        if () in (left.sizes, right.sizes) or left.sizes is right.sizes:
            return None
        raise _UnforeseenError
    length = max(len(left.sizes), len(right.sizes))
    pairs = zip(
        (1,) * (length - len(left.sizes)) + left.sizes,
        (1,) * (length - len(right.sizes)) + right.sizes,
        strict=True,
    )
    sizes = []
    for size, other in pairs:
        if size != other and 1 not in (size, other):
            raise _UnforeseenError
        sizes.append(other if size == 1 else size)
    return tuple(sizes)
