"""Write `tinytorch/_declared.pyi`: the types of what `op()` and `python()` put on tensors and into the package.

    python tools/make_stubs.py            # write the file
    python tools/make_stubs.py --check    # exit with 1 if it is out of date

Operations are attached while `tinytorch` is imported, where no type checker sees them. The file
gives checkers the same
names: a base class of `Tensor`, and functions for the package. The types are those of PyTorch's own
stubs, which PyTorch generates from the same schemas. Source: torch's `torchgen/api/python.py`,
`tools/pyi/gen_pyi.py`.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import tinytorch
from tinytorch.base.dtypes import ALL, BY_NAME
from tinytorch.ops.define import FUNCTIONS, OVERLOADS
from tinytorch.ops.schema import REQUIRED, Param, Schema, Signature

TARGET = Path(tinytorch.__file__).with_name("_declared.pyi")

HEAD = '''\
"""The types of what the lists of ops declare. Written by tools/make_stubs.py: change the declarations instead."""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np

from .base import device as _device
from .base import dtype as _dtype
from .ops import MemoryFormat as _memory_format
from .base import Generator as _Generator
from .base import UntypedStorage as _UntypedStorage
from .tensor import Layout as _layout, Size as _Size, Tensor

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
    "Storage": "_UntypedStorage",
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
            "out: Tensor | None = None, dtype: _dtype | None = None) -> Tensor"
        ),
    ),
    "numpy": ("(self, *, force: _bool = False) -> np.ndarray",),
    "type": (
        "(self, dtype: None = None, non_blocking: _bool = False) -> str",
        "(self, dtype: str | _dtype | _type, non_blocking: _bool = False) -> Tensor",
    ),
}
BY_HAND_AS_FUNCTIONS = {
    **{
        name: tuple(s.replace("(self", "(input: Tensor") for s in BY_HAND[name])
        for name in ("nonzero", "norm")
    },
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


def type_of(p: Param, numbers: bool) -> str:
    """The type of an argument, with None where torch takes it."""
    kind = TYPES[p.kind]
    if p.is_tensor and numbers:
        kind = "Tensor | _Scalar"
    if p.accepts_one_number:
        kind = f"_int | {kind}"
    return f"{kind} | None" if (p.accepts_none or p.default is None) and kind != "Any" else kind


def format_argument(p: Param, name: str, numbers: bool) -> str:
    """An argument as a stub writes it: name, type, default."""
    text = f"{name}: {type_of(p, numbers)}"
    if p.default is REQUIRED:
        return text
    plain = p.default is None or (
        isinstance(p.default, (bool, float, int, str)) and p.kind != "ScalarType"
    )
    return f"{text} = {p.default!r}" if plain else f"{text} = ..."


def results_of(schema: Schema) -> str:
    """The type of what an operation returns."""
    if len(schema.returns) > 1:
        return f"_return_types.{schema.name}"
    return RETURNS[schema.returns[0].replace("(a)", "")]


def signatures_of(name: str, method: bool) -> Iterator[str]:
    """All the ways to call a function or a method, as `(self, other: Tensor) -> Tensor`, each once."""
    for op, out, own in OVERLOADS[name].offers:
        if method and not own:
            continue
        signature = Signature(op.schema, name, method, out and not method, op.numbers)
        yield from format_signatures(signature, results_of(op.schema))


def format_signatures(s: Signature, result: str) -> Iterator[str]:
    """A signature with its sizes in a sequence and, where torch takes it, with sizes one by one."""
    pairs = list(zip(s.params, s.names_shown, strict=True))
    head = ["self"] if s.is_method else []
    positional = []
    for p, name in pairs[: s.positional_count]:
        positional.append(
            format_argument(p, f"{name}_" if keyword.iskeyword(name) else name, s.numbers)
        )
        if keyword.iskeyword(name):  # which can be given by position alone
            positional.append("/")
    named = [
        format_argument(p, name, s.numbers and name != "out")
        for p, name in pairs[s.positional_count :]
    ]
    yield f"({', '.join([*head, *positional, *['*'] * bool(named), *named])}) -> {result}"
    if s.positional_count == 1 and s.params[0].is_sizes:
        yield f"({', '.join([*head, f'*{s.names_shown[0]}: _int', *named])}) -> {result}"


def format_definition(name: str, signatures: Iterable[str], indent: str = "") -> Iterator[str]:
    """The lines of a function or method of one signature or several."""
    signatures = tuple(dict.fromkeys(signatures))
    # The method that these override, of `object`, takes more.
    of_object = name in (
        "__eq__",
        "__ne__",
    )
    for i, signature in enumerate(signatures):
        if len(signatures) > 1:
            yield f"{indent}@overload" + "  # type: ignore[override]" * (of_object and not i)
        yield f"{indent}def {name}{signature}: ..." + "  # type: ignore[overload-overlap]" * (
            of_object and not i
        )


def list_methods() -> Iterator[str]:
    """The lines of the class from which type checkers let `Tensor` derive."""
    yield "class DeclaredOperations:"
    for name, value in vars(tinytorch.Tensor).items():
        if name in BY_HAND:
            yield from format_definition(name, BY_HAND[name], "    ")
        elif name in OVERLOADS and value.__module__ == "tinytorch":
            yield from format_definition(name, signatures_of(name, True), "    ")
        elif name in PROTOCOLS:
            yield from format_definition(name, PROTOCOLS[name], "    ")
    for name in ("T", "mT"):
        yield "    @property"
        yield f"    def {name}(self) -> Tensor: ..."
    yield "    def __hash__(self) -> _int: ..."


def list_return_types() -> Iterator[str]:
    """The lines of the tuples with names that some operations return."""
    yield "class _return_types:"
    seen = set()
    for group in OVERLOADS.values():
        for op, _, _ in group.offers:
            if len(op.schema.returns) > 1 and op.name not in seen:
                seen.add(op.name)
                yield f"    class {op.name}(tuple[{', '.join(['Tensor'] * len(op.schema.returns))}]):"
                for field in op.schema.result_names:
                    yield "        @property"
                    yield f"        def {field}(self) -> Tensor: ..."


def list_functions() -> Iterator[str]:
    """The lines of what the package offers beside what it imports: functions, old tensor types, dtypes."""
    for name in FUNCTIONS:
        if name.startswith("_"):
            continue
        if name in {d.tensor_type for d in ALL}:
            yield f"class {name}(Tensor): ..."
        else:
            yield from format_definition(
                name, BY_HAND_AS_FUNCTIONS.get(name) or signatures_of(name, False)
            )
    for name in BY_NAME:
        yield f"{name}: _dtype"


def render_stub() -> str:
    """The whole file."""
    parts = [
        HEAD,
        *(
            "\n".join(lines) + "\n"
            for lines in (list_return_types(), list_methods(), list_functions())
        ),
    ]
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
