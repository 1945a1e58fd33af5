"""What a few lines of the program's own do in backward, found by a rehearsal with stand-ins for tensors.

A Function's backward, a hook on a gradient and what unpacks a saved tensor may raise and compute
anything. Most are a little arithmetic. Such code is run here where it reaches nothing of the program:
its bytecode alone, with stand-ins in the place of its arguments and of what it finds in variables.
A stand-in for a tensor has a shape and no values. Only instructions that are on a list are run: no
branch, no loop, no handler, nothing that could tell a stand-in from what it stands for. All else ends
the rehearsal, and then it is not known what the code does; so does whatever it raises.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from .blocks import PLAIN_CLASSES
from .probe import is_tensor
from .records import GradientSpec

_ALLOWED = frozenset(
    {
        *("RESUME", "NOP", "CACHE", "EXTENDED_ARG", "NOT_TAKEN", "COPY_FREE_VARS", "PUSH_NULL"),
        *("POP_TOP", "COPY", "SWAP", "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST"),
        *("LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "STORE_FAST"),
        *("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST", "LOAD_CONST", "LOAD_SMALL_INT"),
        *("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_ATTR", "LOAD_METHOD", "PRECALL", "CALL", "CALL_KW"),
        *("KW_NAMES", "BINARY_OP", "BINARY_SUBSCR", "STORE_SUBSCR", "UNARY_NEGATIVE"),
        *("COMPARE_OP", "BUILD_TUPLE", "UNPACK_SEQUENCE", "RETURN_VALUE", "RETURN_CONST"),
    }
)
"""The instructions that are run. No release has all of them."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "@", "**", "[]"})
_MOST_INSTRUCTIONS = 150
"""A longer function is not rehearsed: 40 lines of `n = n * n` would take for ever."""
_MOST_PRODUCTS = 12
_LARGEST_EXPONENT = 4
_LARGEST_CONSTANT = 2**31
_NUMBERS = (int, float, bool, type(None))
_BUILTINS = {"len": len, "abs": abs}


class _UnforeseenError(Exception):
    """Ends a rehearsal."""


class Rehearsal(NamedTuple):
    """What code does, as far as a rehearsal shows: it returns."""

    value: Any
    """What it returns: a stand-in, a number, None, or a tuple of these."""


def rehearse_call(
    function: Any, arguments: Iterable[Any], *, may_act: bool = False, has_variables: bool = True
) -> Rehearsal | None:
    """Return what a function would return; None if a rehearsal does not show it.

    arguments: stand-ins and numbers, see `stand_in_for`. may_act: it may print, append to a list and
    set keys of a dict, which a rehearsal leaves out. has_variables: it may read a number in a variable
    outside of it, which may have been another number earlier.
    """
    code = getattr(function, "__code__", None)
    # Not `isinstance`: an object may say that it is a function, and run other code.
    if type(function) is not FunctionType or not isinstance(code, CodeType) or not _is_plain(code):
        return None
    # A default is an object of the program's, which would be used itself: the copy below has none.
    if function.__defaults__ or function.__kwdefaults__:
        return None
    # Without a number that is read outside, what it does now is what it has done at any other time.
    variables = _collect_variables(function, code, may_act)
    if not has_variables and (function.__closure__ or variables.keys() - _BUILTINS.keys()):
        return None
    # Under another name of the file: a tool that counts lines or stops at them has none of this.
    copy = FunctionType(
        code.replace(
            co_filename="<rehearsal>",
            co_consts=tuple(map(_limit_constant, code.co_consts)),
        ),
        {"__builtins__": {}, **variables},
        code.co_name,
        None,
        tuple(CellType(_read_cell(cell, may_act)) for cell in function.__closure__ or ()),
    )
    try:
        # Whatever it does with a stand-in that is not foreseen raises, and ends it here.
        return Rehearsal(copy(*arguments))
    except Exception:  # noqa: BLE001 - of a stand-in, or of the code's own: that is not told apart
        return None


def _limit_constant(constant: Any) -> Any:
    """Return a constant of the code; a text as one that cannot be repeated.

    `"a" * 10**9` fills the memory.
    """
    if type(constant) is str:
        return _Text(constant)
    return constant


def _is_plain(code: CodeType) -> bool:
    """Return True for code that only computes with its arguments, in one straight way."""
    flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    # A generator has not run when it returns; a handler would catch what ends the rehearsal.
    if code.co_flags & flags or getattr(code, "co_exceptiontable", b""):
        return False
    # A stand-in has attributes of its own, which a tensor does not have or has otherwise.
    if any(name.startswith("_") or name in StandIn.__slots__ for name in code.co_names):
        return False
    instructions = list(dis.get_instructions(code))
    if len(instructions) > _MOST_INSTRUCTIONS:
        return False
    products = sum(instruction.argrepr in ("*", "*=", "**", "**=") for instruction in instructions)
    return products <= _MOST_PRODUCTS and all(
        _is_allowed(*pair) for pair in _pair_with_previous(instructions)
    )


def _pair_with_previous(
    instructions: list[dis.Instruction],
) -> Iterator[tuple[dis.Instruction, dis.Instruction]]:
    real_instructions = [
        instruction
        for instruction in instructions
        if instruction.opname not in ("CACHE", "EXTENDED_ARG")
    ]
    return pairwise([*real_instructions[:1], *real_instructions])


def _is_allowed(previous: dis.Instruction, instruction: dis.Instruction) -> bool:
    if instruction.opname not in _ALLOWED:
        return False
    # Tuples are returned, and nothing else is made of them: `(g,) * 10**9` fills the memory.
    if previous.opname == "BUILD_TUPLE" or _is_constant_tuple(previous):
        is_keywords = instruction.opname == "CALL_KW" and previous.opname == "LOAD_CONST"
        if instruction.opname != "RETURN_VALUE" and not is_keywords:
            return False
    constant = instruction.argval if instruction.opname == "LOAD_CONST" else None
    if type(constant) is int and abs(constant) > _LARGEST_CONSTANT:
        return False
    if type(constant) not in (int, float, bool, str, tuple, type(None)):
        return False
    if instruction.opname != "BINARY_OP":
        return True
    if instruction.argrepr in ("**", "**="):
        # The exponent is what was pushed last, so it is the instruction before.
        # A number in a variable may be of any size, and `2 ** n` fills the memory.
        return type(previous.argval) in (int, float) and abs(previous.argval) <= _LARGEST_EXPONENT
    return instruction.argrepr in _ARITHMETIC


def _is_constant_tuple(instruction: dis.Instruction) -> bool:
    return instruction.opname == "LOAD_CONST" and type(instruction.argval) is tuple


def _read_cell(cell: CellType, may_act: bool) -> Any:
    try:
        return _stand_in_for_variable(cell.cell_contents, may_act)
    except ValueError:  # it is empty yet
        return _Unknown()


def _stand_in_for_variable(value: Any, may_act: bool) -> Any:
    """Return a number, or what takes the acts of a hook; of a tensor's values nothing is known."""
    # Not isinstance: the `append` of a subclass may be the program's own.
    if may_act and type(value) is list:
        return _ListStandIn()
    if may_act and type(value) is dict:
        return _DictStandIn()
    if type(value) in _NUMBERS:
        return value
    return _Unknown()


def _collect_variables(function: FunctionType, code: CodeType, may_act: bool) -> dict[str, Any]:
    """Return stand-ins for the global variables and builtins that code mentions."""
    variables: dict[str, Any] = {}
    for name in code.co_names:
        if name in function.__globals__:
            variables[name] = _stand_in_for_variable(function.__globals__[name], may_act)
        elif name == "print" and may_act:
            variables[name] = _print_nothing
        elif name in _BUILTINS:
            variables[name] = _BUILTINS[name]
    return variables


def _print_nothing(*values: Any) -> None:
    # To print anything else runs its `__str__`, or shows values, and a stand-in has none.
    if not all(isinstance(value, (*_NUMBERS, _Text, StandIn)) for value in values):
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
    """Return what stands for a value of the program: numbers for themselves.

    origin: what a tensor is called, for `StandIn.origins`.
    """
    if type(value) in _NUMBERS:
        return value
    stand_in = _make_tensor_stand_in(value)
    if stand_in is None:
        return _Unknown()
    stand_in.origins = frozenset([origin] if origin else [])
    return stand_in


def stand_in_for_series(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return what stands for a tuple, of which single elements can be read."""
    return _Series(map(stand_in_for, values))


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


def _end_at_operator(*_: Any, **__: Any) -> Any:
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
    *("__enter__", "__exit__", "__next__", "__reversed__", "__repr__"),
)
for _operator in _OPERATORS:
    setattr(_Unknown, _operator, _end_at_operator)


class _Text(str):
    """A text in the code, to print or as a key. Nothing is computed with it."""

    __slots__ = ()
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = _end_at_operator


class _Series(tuple[Any, ...]):
    """A tuple, of which nothing else is computed."""

    __slots__ = ()
    __add__ = __radd__ = __mul__ = __rmul__ = _end_at_operator


class _ListStandIn(_Unknown):
    """A list, to which things may be appended."""

    def append(self, _: Any, /) -> None:
        """Do nothing."""


class _DictStandIn(_Unknown):
    """A dict, of which plain keys may be set."""

    def __setitem__(self, key: Any, _: Any) -> None:
        # Another key has a `__hash__` of its own.
        if type(key) not in (int, _Text):
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
            return lambda *args: self._apply_to_elements(*args)
        if name in _COMBINING:
            return lambda *args: self._combine_tensors(*args)
        if name == "clamp":
            return lambda *args, **options: self._clamp_elements(args, options)
        # Of other than two dimensions PyTorch's `T` warns, or raises.
        if name == "T" and len(self.sizes or ()) == 2:
            return self._make_result(self.sizes[::-1])
        raise _UnforeseenError

    def _make_result(
        self, sizes: tuple[int, ...] | None, dtype: str | None = None, other: StandIn | None = None
    ) -> StandIn:
        dtype = self.dtype if dtype is None else dtype
        result = StandIn(sizes, dtype, self.device, is_fresh=True)
        result.origins = self.origins | (frozenset() if other is None else other.origins)
        return result

    def _apply_to_elements(self, *args: Any) -> StandIn:
        """Return what a function of each element gives."""
        if args or self.dtype == _MASK:
            raise _UnforeseenError
        return self._make_result(self.sizes)

    def _clamp_elements(self, args: tuple[Any, ...], options: dict[str, Any]) -> StandIn:
        limits = (*args, *options.values())
        free_names = {"min", "max"} - set(("min", "max")[: len(args)])
        if not options.keys() <= free_names or not 1 <= len(limits) <= 2:
            raise _UnforeseenError
        if any(type(limit) not in (int, float) for limit in limits):
            raise _UnforeseenError
        return self._apply_to_elements()

    def _combine_tensors(self, *others: Any) -> StandIn:
        """Return what arithmetic with a number or another tensor gives."""
        if len(others) != 1:
            raise _UnforeseenError
        other = others[0]
        if type(other) is float or (type(other) is int and abs(other) < _LARGEST_INT):
            return self._apply_to_elements()
        # Two dtypes would be promoted to one; that is left to PyTorch.
        if not isinstance(other, StandIn) or self.dtype != other.dtype or self.dtype == _MASK:
            raise _UnforeseenError
        return self._make_result(_broadcast_sizes(self, other), other=other)

    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = _combine_tensors
    __pow__ = __rpow__ = _combine_tensors
    __neg__ = __abs__ = _apply_to_elements

    def __mul__(self, other: Any) -> StandIn:
        # A mask may be multiplied with, and not subtracted.
        if isinstance(other, StandIn) and (self.dtype == _MASK) != (other.dtype == _MASK):
            tensor = other if self.dtype == _MASK else self
            mask = self if tensor is other else other
            return tensor._make_result(_broadcast_sizes(self, other), other=mask)
        return self._combine_tensors(other)

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> StandIn:
        # Products of vectors and of batches have rules of their own: of these nothing is foretold.
        if (
            not isinstance(other, StandIn)
            or not len(self.sizes or ()) == len(other.sizes or ()) == 2
        ):
            raise _UnforeseenError
        (rows, inner), (other_inner, columns) = self.sizes, other.sizes  # type: ignore[misc]
        is_fitting = inner == other_inner and self.dtype == other.dtype != _MASK
        if not is_fitting or self.device != other.device:
            raise _UnforeseenError
        return self._make_result((rows, columns), other=other)

    def _compare_elements(self, other: Any) -> StandIn:
        combined = self._combine_tensors(other)
        return combined._make_result(combined.sizes, _MASK)

    __lt__ = __le__ = __gt__ = __ge__ = _compare_elements

    def __len__(self) -> int:
        if not self.sizes:
            raise _UnforeseenError
        return self.sizes[0]

    def __setitem__(self, mask: Any, value: Any) -> None:
        is_mask = isinstance(mask, StandIn) and mask.dtype == _MASK and mask.sizes == self.sizes
        if not is_mask or not self.is_fresh or type(value) not in (int, float):
            raise _UnforeseenError
        # The values of the mask decide which elements are replaced.
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
_LARGEST_INT = 2**62
"""Larger ones PyTorch refuses."""


def _broadcast_sizes(left: StandIn, right: StandIn) -> tuple[int, ...] | None:
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
