"""Sources of copies: the lines that make `x`, built to order or after a tensor of the user.

A stand-in for a user's tensor is made from what can be read off it. The tensor itself is never used,
so nothing that is done to the stand-in can change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from tinytorch.viz import disable_overrides, summarize_text

from ..run import execute_program
from ..wording import gettext

Kind = Literal["leaf", "result", "plain"]
"""leaf: requires grad. result: computed from a leaf `a` that does. plain: requires none."""

_INEXACT: Mapping[str, Any] = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": np.float32,
    "complex64": np.float32,
    "complex128": np.float64,
}
"""The dtypes that can require grad, and which of NumPy's writes their numbers with no more digits than they need."""
DTYPES = (*_INEXACT, "int64", "int32", "int16", "int8", "uint8", "bool")
"""The dtypes that a source may have."""

LITERAL = 16
"""Maximum number of elements that are written out; more are counted up by `torch.arange`."""
EXACT = 1_000
"""Maximum number of elements of memory of which a stand-in has the user's own values."""
LARGEST = 100_000
"""Maximum number of elements of memory of a source."""


@dataclass(frozen=True)
class Source:
    """How `x` is made.

    kind: "leaf" (requires grad), "result" (x = a * 2 of a leaf `a`) or "plain" (requires no grad).
    shape: of x, at most 100,000 elements. dtype: such as "float32", "int64". transposed: the last two dimensions lie
        in memory the other way round. device: such as "cpu".

    Raises ValueError for what cannot be built, in PyTorch's words where it has some. `Source.of` takes whatever
    people give as a source: one of these kinds, a tensor of theirs, or a Source.
    """

    kind: Kind = "leaf"
    shape: tuple[int, ...] = (3,)
    dtype: str = "float32"
    transposed: bool = False
    device: str = "cpu"
    memory: tuple[Any, ...] | None = None
    """The values in the memory of a stand-in; where there are none, they count up from 1."""
    stride: tuple[int, ...] | None = None
    """Of a stand-in, where its elements do not follow one another."""
    offset: int = 0
    note: str = ""
    """In what a stand-in differs from the user's tensor."""

    def __repr__(self) -> str:
        return summarize_text(f"Source({self.kind!r}, {self.shape}, {self.dtype!r})")

    def __post_init__(self) -> None:
        given: Any = self.shape
        sizes = (given,) if isinstance(given, int) else tuple(given)
        if not all(
            isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes
        ):
            raise ValueError(f"shape must be sizes of 0 and more, not {given!r}")
        # The dataclass is frozen, and people give a size or a list for the shape.
        object.__setattr__(self, "shape", sizes)
        object.__setattr__(self, "dtype", str(self.dtype).removeprefix("torch."))
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be 'leaf', 'result' or 'plain', not {self.kind!r}")
        if self.dtype not in DTYPES:
            raise ValueError(
                f"there is no source of dtype {self.dtype!r}; there are {', '.join(DTYPES)}"
            )
        if self.kind != "plain" and self.dtype not in _INEXACT:
            raise ValueError(
                f"only Tensors of floating point and complex dtype can require gradients: {self.dtype} goes with "
                "kind='plain'"
            )
        if math.prod(self.shape) > LARGEST:
            raise ValueError(
                f"shape {self.shape} has {math.prod(self.shape):,} elements, a source at most {LARGEST:,}"
            )
        if self.transposed and len(self.shape) < 2:
            raise ValueError(f"a tensor of shape {self.shape} has no two dimensions to transpose")

    @property
    def requires_grad(self) -> bool:
        """True if x requires grad."""
        return self.kind != "plain"

    @property
    def is_fully_described(self) -> bool:
        """True if kind, shape, dtype, transposed and device say all of it; of a stand-in they may not."""
        return self.memory is None and self.stride is None

    @cached_property
    def cell_of_element(self) -> Any:
        """The number of the cell of each element of a stand-in with strides, as an array of its shape."""
        cells = np.full(self.shape, self.offset)
        indices = np.indices(self.shape, sparse=True)
        for index, stride in zip(indices, self.stride or (), strict=False):
            cells = cells + index * stride
        return cells

    @property
    def overlaps(self) -> bool:
        """True if several elements of x are one cell, as after expand."""
        cells = self.cell_of_element
        return self.stride is not None and len(np.unique(cells)) < cells.size

    @property
    def code(self) -> str:
        """The lines that make x; they use the name `torch`."""
        numbers, layout = self._make_memory(), ""
        if self.stride is not None:
            layout = f".as_strided({self.shape}, {self.stride}, {self.offset})"
        elif self.transposed:
            layout = ".t()" if len(self.shape) == 2 else ".transpose(-2, -1)"
        if self.kind == "plain":
            return f"x = {numbers}{layout}"
        if self.kind == "leaf":
            return f"x = {_require_grad(numbers, layout)}"
        # A stand-in has the values that the user's tensor has.
        factor = 2 if self.memory is None else 1
        # The result of a product keeps the order of its operand's memory, so what is transposed
        # stays so; it has no gaps, so those of a stand-in are made after it.
        x = f"(a * {factor}){layout}" if self.stride is not None else f"a{layout} * {factor}"
        return f"a = {_require_grad(numbers)}\nx = {x}"

    def _make_memory(self) -> str:
        """Return the expression that makes the memory of x, in its order."""
        shape = self.shape
        if self.stride is not None:
            # An empty tensor has no cell, and so no last one.
            shape = (int(self.cell_of_element.max(initial=-1)) + 1,)
        elif self.transposed:
            shape = (*shape[:-2], shape[-1], shape[-2])
        count, sizes = math.prod(shape), ", ".join(map(str, shape))
        device = [f"device={self.device!r}"] if self.device != "cpu" else []
        # torch.tensor and torch.arange give these dtypes by themselves.
        has_default_dtype = self.dtype in ("float32", "int64", "bool")
        dtype = [] if has_default_dtype else [f"dtype=torch.{self.dtype}"]
        # Nested lists cannot say a shape such as (0, 3).
        if count == 0:
            return _make_call("zeros", sizes, f"dtype=torch.{self.dtype}", *device)
        if self.memory is not None or count <= LITERAL:
            values: Sequence[Any] = self.memory or range(1, count + 1)
            if self.memory is None and self.dtype == "bool":
                values = [value % 2 == 1 for value in values]
            texts = np.array([_format_number(value, self.dtype) for value in values], dtype=object)
            # The numbers are texts, with the digits of their dtype, and a list puts quotes around them.
            literal = str(texts.reshape(shape).tolist()).replace("'", "")
            return _make_call("tensor", literal, *dtype, *device)
        dot = "." if self.dtype in _INEXACT else ""
        expression = _make_call("arange", f"1{dot}", f"{count + 1}{dot}", *device)
        if self.dtype == "bool":
            expression = f"({expression} % 2 == 1)"
        elif dtype:
            expression += f".to(torch.{self.dtype})"
        return expression if len(shape) == 1 else f"{expression}.reshape({sizes})"

    def make(self, engine: ModuleType) -> Any:
        """Run the code with `engine` as its torch and return the tensor x."""
        return execute_program(self.code, engine)["x"]

    @classmethod
    def of(cls, thing: Any = None) -> Source:
        """Return what people mean by a source: None is a leaf, "leaf", "result" and "plain" are kinds.

        A Source is returned as it is. For a tensor of tinytorch or torch: a stand-in with its shape, dtype, strides,
        offset, device, and requires_grad, leaf or result as it is; with its own values where it spans at most 1,000
        elements of memory; counting up from 1 where it spans more; and with shorter dimensions, without gaps, where
        it spans more than 100,000. `note` says which. Its history, hooks and `.grad` are not taken over, nor is a
        subclass. Looking changes nothing.

        Raises TypeError for anything else, and ValueError for a tensor without strides or plain numbers (sparse,
        nested, meta, quantised, of a dtype that is not in DTYPES), with the way out where there is one.
        """
        if thing is None:
            return cls()
        if isinstance(thing, Source):
            return thing
        if isinstance(thing, str):
            if thing not in get_args(Kind):
                raise ValueError(
                    f"give a tensor, or 'leaf', 'result' or 'plain' to have one made, not {thing!r}"
                )
            return cls(kind=thing)  # type: ignore[arg-type]  # checked where it is made
        # The class `torch.Tensor` has the attributes of a tensor, too.
        if isinstance(thing, type) or not all(
            hasattr(thing, name) for name in ("untyped_storage", "requires_grad")
        ):
            kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
            raise TypeError(
                f"x must be a tensor of torch or tinytorch, a Source, or one of 'leaf', 'result' and 'plain', "
                f"not {kind}; torch.tensor(...) makes a tensor of numbers"
            )
        try:
            with disable_overrides():
                return _make_stand_in(thing)
        except (AttributeError, TypeError) as error:
            raise TypeError(f"x looks like a tensor and cannot be read like one: {error}") from None


_NEEDS = "a source must have strides and plain numbers, and this tensor has not"


def _make_stand_in(tensor: Any) -> Source:
    dtype = str(tensor.dtype).removeprefix("torch.")
    _require_readable(tensor, dtype)
    try:
        shape, stride = tuple(tensor.shape), tuple(tensor.stride())
        offset = int(tensor.storage_offset())
    except (RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{_NEEDS}: {error}") from None
    kind: Kind = "plain"
    if tensor.requires_grad:
        kind = "leaf" if tensor.is_leaf else "result"
    last_cell = offset
    for size, step in zip(shape, stride, strict=True):
        last_cell += (size - 1) * step
    # After expand a tensor has more elements than cells: both are limited.
    span = max(math.prod(shape), last_cell + 1)
    notes = _describe_differences(tensor)
    if span > LARGEST:
        message = gettext(
            "it spans {number} elements, so the stand-in is smaller and has other values",
            number=f"{span:,}",
        )
        notes.insert(0, message)
        shape, stride = _shrink_layout(shape, stride)
        offset = 0
    elif span > EXACT:
        notes.insert(0, gettext("its memory is long, so the stand-in has other values"))
    note = gettext(", and ").join(notes)
    source = Source(
        kind, shape, dtype, device=str(tensor.device), stride=stride, offset=offset, note=note
    )
    if span <= EXACT:
        source = replace(source, memory=_read_memory(tensor, source.cell_of_element))
    return _simplify_strides(source)


def _simplify_strides(source: Source) -> Source:
    """Return a source without strides where its elements follow one another, or are transposed."""
    cells = source.cell_of_element
    if not source.offset and _fills_memory(cells):
        return replace(source, stride=None)
    if not source.offset and len(source.shape) >= 2 and _fills_memory(cells.swapaxes(-1, -2)):
        return replace(source, stride=None, transposed=True)
    return source


def _require_readable(tensor: Any, dtype: str) -> None:
    """Raise ValueError for a tensor that can have no stand-in, with the way out."""
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    if getattr(tensor, "is_nested", False):
        raise ValueError(f"{_NEEDS}: it is nested; x.unbind() gives its tensors")
    if layout != "strided":
        raise ValueError(f"{_NEEDS}: its layout is {layout}; x.to_dense() has them")
    if tensor.device.type == "meta":
        raise ValueError(
            f"{_NEEDS}: a meta tensor has no values; torch.empty_like(x, device='cpu') makes some"
        )
    if getattr(tensor, "is_quantized", False):
        raise ValueError(f"{_NEEDS}: it is quantised ({dtype}); x.dequantize() has them")
    if dtype not in DTYPES:
        closest = "float32" if "float" in dtype else "int64"
        if dtype.startswith("complex"):
            closest = "complex64"
        raise ValueError(
            f"there is no source of dtype {dtype!r}; there are {', '.join(DTYPES)}: "
            f"try x.to(torch.{closest})"
        )


def _describe_differences(tensor: Any) -> list[str]:
    """Say what of a tensor its stand-in does not have."""
    class_name = type(tensor).__name__
    notes = []
    if class_name not in ("Tensor", "Parameter"):
        notes.append(gettext("it is a plain tensor and no {kind}", kind=class_name))
    if getattr(tensor, "is_inference", bool)():
        notes.append(gettext("it is not an inference tensor"))
    # x.conj() and x.conj().imag keep a flag: the sign is turned only when they are read. tinytorch
    # has no complex numbers and no such flag, and `bool()` is False.
    if getattr(tensor, "is_conj", bool)() or getattr(tensor, "is_neg", bool)():
        notes.append(
            gettext("its numbers are written out, where yours turns a sign whenever it is read")
        )
    return notes


def _read_memory(tensor: Any, cell_of_element: Any) -> tuple[Any, ...]:
    """Return the values in the memory of a tensor, with zeros in its gaps."""
    try:
        values = np.asarray(tensor.detach().tolist(), dtype=object).reshape(-1)
    except Exception as error:  # noqa: BLE001  # some subclasses of tensors give no values
        raise ValueError(f"{_NEEDS}: {error}") from None
    zero = type(values[0])() if values.size else 0
    memory = np.full(cell_of_element.max(initial=-1) + 1, zero, dtype=object)
    memory[cell_of_element.reshape(-1)] = values
    return tuple(memory.tolist())


def _fills_memory(cell_of_element: Any) -> bool:
    """Return True if the elements fill the memory one after the other."""
    return np.array_equal(cell_of_element.reshape(-1), np.arange(cell_of_element.size))


def _shrink_layout(
    shape: tuple[int, ...], stride: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a shape cut to a few elements, and strides in the same order without gaps.

    A stride of 0, as after expand, stays 0: that is what such a tensor is about.
    """
    sizes = list(shape)
    while math.prod(sizes) > LITERAL and max(sizes) > 2:
        longest = sizes.index(max(sizes))
        sizes[longest] = max(2, sizes[longest] // 2)
    strides, step = [0] * len(sizes), 1
    # From the innermost dimension of the memory outwards; of equal strides, the last one first.
    for dim in sorted(range(len(sizes)), key=lambda dim: (stride[dim], -dim)):
        if stride[dim]:
            strides[dim], step = step, step * sizes[dim]
    return tuple(sizes), tuple(strides)


def _make_call(function: str, *arguments: str) -> str:
    return f"torch.{function}({', '.join(arguments)})"


def _require_grad(numbers: str, layout: str = "") -> str:
    """Return the expression with requires_grad, as an argument if possible: most people write that."""
    if numbers.startswith("torch.tensor(") and not layout:
        return f"{numbers[:-1]}, requires_grad=True)"
    return f"{numbers}{layout}.requires_grad_()"


def _format_number(value: Any, dtype: str) -> str:
    """Format a number with the digits that its dtype needs."""
    if isinstance(value, complex):
        return f"complex({_format_number(value.real, dtype)}, {_format_number(value.imag, dtype)})"
    if dtype not in _INEXACT:
        return repr(value)
    if not math.isfinite(value):
        return f'float("{float(value)}")'
    text = str(_INEXACT[dtype](value))
    return text[:-1] if text.endswith(".0") else text
