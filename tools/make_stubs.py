"""Write `tinytorch/_declared.pyi`: the types of what `op()` and `offer_member()` declare.

    python tools/make_stubs.py            # write the file
    python tools/make_stubs.py --check    # exit with 1 if it is out of date

Operations are attached while `tinytorch` is imported, where no type checker sees them. The file
gives checkers the same names: a base class of `Tensor`, and functions for the package. The types
are those of PyTorch's own stubs, which PyTorch generates from the same schemas. Source: torch's
`torchgen/api/python.py`, `tools/pyi/gen_pyi.py`.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# An installed copy may be another one, and its stubs are not to be written.
sys.path.insert(0, str(ROOT))

from tinytorch import Tensor  # noqa: E402
from tinytorch.base.dtypes import ALL, BY_NAME  # noqa: E402
from tinytorch.ops.define import FUNCTIONS, OVERLOADS  # noqa: E402
from tinytorch.ops.schema import REQUIRED, Param, Schema, Signature  # noqa: E402

TARGET = ROOT / "tinytorch" / "_declared.pyi"

HEAD = '''\
"""The types of what the lists of ops declare. Written by tools/make_stubs.py: change the declarations instead."""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from .base import device as _device
from .base import dtype as _dtype
from .ops import MemoryFormat as _memory_format
from .ops import TypedStorage as _TypedStorage
from .base import Generator as _Generator
from .base import UntypedStorage as _UntypedStorage
from .tensor import Layout as _layout, Size as _Size, Tensor

_T = TypeVar("_T")
_Number: TypeAlias = _int | _float | _bool
_Scalar: TypeAlias = _Number | _complex
_Sizes: TypeAlias = list[_int] | tuple[_int, ...]
_Tensors: TypeAlias = list[Tensor] | tuple[Tensor, ...]
_Device: TypeAlias = _device | str | _int
_Index: TypeAlias = SupportsIndex | _bool | _int | slice | EllipsisType | Tensor | list[Any] | np.ndarray | None
'''

# torch's types of arguments, by their names in schemas
TYPES = {
    "Tensor": "Tensor",
    "Scalar": "_Scalar",
    "int": "_int",
    "SymInt": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "str",
    "ScalarType": "_dtype",
    "Layout": "_layout",
    "MemoryFormat": "_memory_format",
    "Device": "_Device",
    "Generator": "_Generator",
    "Storage": "_UntypedStorage | _TypedStorage",
    "Tensor[]": "_Tensors",
    "Tensor?[]": "list[Tensor | None] | tuple[Tensor | None, ...]",
    "int[]": "_Sizes",
    "SymInt[]": "Sequence[_int]",
    "PyObject": "Any",
}
RETURNS = {
    "Tensor": "Tensor",
    "Tensor[]": "tuple[Tensor, ...]",
    "bool": "_bool",
    "int": "_int",
    "ScalarType": "_dtype",
}

# Functions in Python, and methods whose result depends on an argument or is no tensor, which
# schemas do not say.
BY_HAND = {
    "as_subclass": ("(self, cls: _type[_T]) -> _T",),
    "storage": ("(self) -> _TypedStorage",),
    "backward": (
        (
            "(self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False, "
            "inputs: Tensor | Sequence[Tensor] | None = None) -> None"
        ),
    ),
    "nonzero": (
        "(self, *, as_tuple: Literal[False] = False) -> Tensor",
        "(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]",
    ),
    "norm": (
        (
            "(self, p: _float | str | None = 'fro', dim: _int | _Sizes | None = None, keepdim: _bool = False, "
            "dtype: _dtype | None = None) -> Tensor"
        ),
    ),
    "numpy": ("(self, *, force: _bool = False) -> np.ndarray",),
    "split": ("(self, split_size: _int | _Sizes, dim: _int = 0) -> tuple[Tensor, ...]",),
    "unflatten": ("(self, dim: _int, sizes: Sequence[_int]) -> Tensor",),
    "type": (
        "(self, dtype: None = None, non_blocking: _bool = False) -> str",
        "(self, dtype: str | _dtype | _type, non_blocking: _bool = False) -> Tensor",
    ),
}
_OF_ONE_OR_MANY = (
    "(tensor: Tensor, /) -> Tensor",
    "(tensors: _Tensors, /) -> tuple[Tensor, ...]",
    "(first: Tensor, second: Tensor, /, *others: Tensor) -> tuple[Tensor, ...]",
)
BY_HAND_AS_FUNCTIONS = {
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), _OF_ONE_OR_MANY),
    **dict.fromkeys(("block_diag", "cartesian_prod"), ("(*tensors: Tensor) -> Tensor",)),
    "broadcast_shapes": ("(*shapes: _int | Sequence[_int]) -> _Size",),
    "broadcast_tensors": ("(*tensors: Tensor) -> tuple[Tensor, ...]",),
    "einsum": ("(equation: str, *operands: Tensor | _Tensors) -> Tensor",),
    "meshgrid": (
        "(*tensors: Tensor | _Tensors, indexing: str | None = None) -> tuple[Tensor, ...]",
    ),
    "nonzero": tuple(text.replace("(self", "(input: Tensor") for text in BY_HAND["nonzero"]),
    "norm": (
        BY_HAND["norm"][0]
        .replace("(self", "(input: Tensor")
        .replace(" dtype:", " out: Tensor | None = None, dtype:"),
    ),
    "split": (
        "(tensor: Tensor, split_size_or_sections: _int | _Sizes, dim: _int = 0) -> tuple[Tensor, ...]",
    ),
}

_WITH_NUMBER = ("(self, other: Tensor | _Scalar) -> Tensor",)
_WITH_BITS = ("(self, other: Tensor | _Number) -> Tensor",)
# Python's protocols, which are closures without a signature.
PROTOCOLS = {
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), _WITH_NUMBER),
    **{
        f"__{side}{name}__": _WITH_NUMBER
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
        for side in ("", "r", "i")
    },
    **{f"__{side}{name}__": _WITH_BITS for name in ("and", "or", "xor") for side in ("", "r", "i")},
    **dict.fromkeys(
        ("__neg__", "__pos__", "__abs__", "__invert__", "__copy__"), ("(self) -> Tensor",)
    ),
    "__matmul__": ("(self, other: Tensor) -> Tensor",),
    **dict.fromkeys(
        ("__eq__", "__ne__"),
        ("(self, other: Tensor | _Scalar) -> Tensor", "(self, other: object) -> _bool"),
    ),
    "__contains__": ("(self, element: Any, /) -> _bool",),
    "__getitem__": ("(self, indices: _Index | tuple[_Index, ...], /) -> Tensor",),
    "__setitem__": (
        "(self, indices: _Index | tuple[_Index, ...], value: Tensor | _Number, /) -> None",
    ),
    "__array__": ("(self, dtype: Any = None) -> np.ndarray",),
    "__array_wrap__": ("(self, array: np.ndarray) -> Tensor",),
    "__deepcopy__": ("(self, memo: dict[_int, Any]) -> Tensor",),
    "__reduce_ex__": ("(self, protocol: SupportsIndex) -> tuple[Any, ...]",),
}


def type_of(param: Param, numbers: bool) -> str:
    """Return the type of an argument, with None where torch takes it.

    numbers: True if the operation takes a number in place of a tensor.
    """
    kind = TYPES[param.schema_type]
    if param.is_tensor and numbers:
        kind = "Tensor | _Scalar"
    if param.accepts_one_number:
        kind = f"_int | {kind}"
    takes_none = param.accepts_none or param.default is None
    # `Any` has None in it.
    return f"{kind} | None" if takes_none and kind != "Any" else kind


def format_argument(param: Param, name: str, numbers: bool) -> str:
    """Return an argument as a stub writes it: name, type, default."""
    text = f"{name}: {type_of(param, numbers)}"
    if param.default is REQUIRED:
        return text
    # A default that is an object has no literal: a stub writes dots.
    is_literal = param.default is None or (
        isinstance(param.default, (bool, float, int, str)) and param.schema_type != "ScalarType"
    )
    return f"{text} = {param.default!r}" if is_literal else f"{text} = ..."


def results_of(schema: Schema) -> str:
    """Return the type of what an operation returns."""
    if len(schema.returns) > 1:
        return f"_return_types.{schema.name}"
    # "(a)" says that the result is a view of the argument.
    return RETURNS[schema.returns[0].replace("(a)", "")]


def signatures_of(name: str, method: bool) -> Iterator[str]:
    """Yield all the ways to call a function or a method, as `(self, other: Tensor) -> Tensor`."""
    taking_numbers = []
    for op, out, own in OVERLOADS[name].offers:
        if method and not own:
            continue
        # A form for a number is never reached after one whose tensor may be a number.
        if op.schema.names in taking_numbers:
            continue
        if op.numbers:
            taking_numbers.append(op.schema.names)
        signature = Signature(op.schema, name, method, out and not method, op.numbers)
        yield from format_signatures(signature, results_of(op.schema))


def format_signatures(signature: Signature, result: str) -> Iterator[str]:
    """Yield a signature: with sizes in a sequence and, where torch takes it, one by one."""
    pairs = list(zip(signature.params, signature.names_shown, strict=True))
    head = ["self"] if signature.is_method else []
    positional = []
    for param, name in pairs[: signature.positional_count]:
        if keyword.iskeyword(name):
            # As `from`: no caller can write it, so it can be given by position alone.
            positional += [format_argument(param, f"{name}_", signature.numbers), "/"]
        else:
            positional.append(format_argument(param, name, signature.numbers))
    named = []
    for param, name in pairs[signature.positional_count :]:
        # A result can only be written into a tensor.
        numbers = signature.numbers and name != "out"
        named.append(format_argument(param, name, numbers))
    if named:
        named.insert(0, "*")
    yield f"({', '.join([*head, *positional, *named])}) -> {result}"
    if signature.positional_count == 1 and signature.params[0].is_sizes:
        sizes = f"*{signature.names_shown[0]}: _int"
        # After `*sizes` all others are named anyway.
        yield f"({', '.join([*head, sizes, *named[1:]])}) -> {result}"


def format_definition(name: str, signatures: Iterable[str], indent: str = "") -> Iterator[str]:
    """Yield the lines of a function or method of one signature or several."""
    signatures = tuple(dict.fromkeys(signatures))
    for place, signature in enumerate(signatures):
        # The method of `object` is wider, and so is the second overload here.
        is_narrower = name in ("__eq__", "__ne__") and place == 0
        if len(signatures) > 1:
            ignored = "  # type: ignore[override]" if is_narrower else ""
            yield f"{indent}@overload{ignored}"
        ignored = "  # type: ignore[overload-overlap]" if is_narrower else ""
        yield f"{indent}def {name}{signature}: ...{ignored}"


def list_methods() -> Iterator[str]:
    """Yield the lines of the class from which type checkers let `Tensor` derive."""
    yield "class DeclaredOperations:"
    for name in vars(Tensor):
        # None for a name that raises, as PyTorch has it and tinytorch lacks it
        value = getattr(Tensor, name, None)
        if name in BY_HAND:
            yield from format_definition(name, BY_HAND[name], "    ")
        # A method that tensor.py defines has its types there, whatever ops are called so, too.
        elif name in OVERLOADS and getattr(value, "__module__", "") == "tinytorch":
            yield from format_definition(name, signatures_of(name, True), "    ")
        elif name in PROTOCOLS:
            yield from format_definition(name, PROTOCOLS[name], "    ")
    for name in ("T", "H", "mT", "mH", "real"):
        yield "    @property"
        yield f"    def {name}(self) -> Tensor: ..."
    yield "    @real.setter"
    yield "    def real(self, values: Tensor | _Number) -> None: ..."
    # A class that defines `__eq__` alone cannot be hashed.
    yield "    def __hash__(self) -> _int: ..."


def list_return_types() -> Iterator[str]:
    """Yield the lines of the tuples with names that some operations return."""
    yield "class _return_types:"
    seen = set()
    for group in OVERLOADS.values():
        for op, _, _ in group.offers:
            # Overloads of one name return the same tuple.
            if len(op.schema.returns) == 1 or op.name in seen:
                continue
            seen.add(op.name)
            fields = ", ".join(["Tensor"] * len(op.schema.returns))
            yield f"    class {op.name}(tuple[{fields}]):"
            for field in op.schema.result_names:
                yield "        @property"
                yield f"        def {field}(self) -> Tensor: ..."


def list_functions() -> Iterator[str]:
    """Yield the lines of what the package offers besides its imports.

    That is functions, old tensor types and dtypes.
    """
    tensor_types = {dtype.tensor_type for dtype in ALL}
    for name in FUNCTIONS:
        if name.startswith("_"):
            continue
        if name in tensor_types:
            yield f"class {name}(Tensor): ..."
        elif name in BY_HAND_AS_FUNCTIONS:
            yield from format_definition(name, BY_HAND_AS_FUNCTIONS[name])
        else:
            yield from format_definition(name, signatures_of(name, False))
    for name in BY_NAME:
        yield f"{name}: _dtype"


def render_stub() -> str:
    """Return the whole file."""
    parts = [HEAD]
    for lines in (list_return_types(), list_methods(), list_functions()):
        parts += ["\n".join(lines) + "\n"]
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write or check the file."""
    text = render_stub()
    if arguments == ["--check"]:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
