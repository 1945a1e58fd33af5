"""What is copied: the lines that make `x`, built to order or after a tensor of the user's.

A stand-in for a user's tensor is made from what can be read off it. The tensor itself is never used, so nothing that
is done to the stand-in can change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from tinytorch.viz import disable_overrides, gettext, summarize_text

from ..run import execute_program

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
"""Up to so many numbers are written out, more are counted up by `torch.arange`."""
EXACT = 1_000
"""Up to so many elements of memory a stand-in has the user's own values."""
LARGEST = 100_000
"""The most elements of memory that a source has."""


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
        """Whether x requires grad."""
        return self.kind != "plain"

    @property
    def to_order(self) -> bool:
        """Whether kind, shape, dtype, transposed and device say all of it; of a stand-in they need not."""
        return self.memory is None and self.stride is None

    @cached_property
    def places(self) -> Any:
        """Where in memory each element of a stand-in with strides lies, as an array of its shape."""
        index = zip(np.indices(self.shape, sparse=True), self.stride or (), strict=False)
        return sum((at * step for at, step in index), np.full(self.shape, self.offset))

    @property
    def overlaps(self) -> bool:
        """Whether several elements of x are one place in memory, as after expand."""
        return self.stride is not None and len(np.unique(self.places)) < self.places.size

    @property
    def code(self) -> str:
        """The lines that make x; they use the name `torch`."""
        numbers, layout = self._numbers(), ""
        if self.stride is not None:
            layout = f".as_strided({self.shape}, {self.stride}, {self.offset})"
        elif self.transposed:
            layout = ".t()" if len(self.shape) == 2 else ".transpose(-2, -1)"
        if self.kind == "plain":
            return f"x = {numbers}{layout}"
        if self.kind == "leaf":
            return f"x = {_tracked(numbers, layout)}"
        times = (
            2 if self.memory is None else 1
        )  # a stand-in has the values that the user's tensor has
        # A result has no gaps in memory, so those of a stand-in come after it; what is transposed stays so.
        made = f"a{layout} * {times}" if self.stride is None else f"(a * {times}){layout}"
        return f"a = {_tracked(numbers)}\nx = {made}"

    def _numbers(self) -> str:
        """The expression that makes the memory of x, in its order."""
        shape = self.shape
        if self.stride is not None:
            shape = (int(self.places.max(initial=-1)) + 1,)
        elif self.transposed:
            shape = (*shape[:-2], shape[-1], shape[-2])
        count, sizes = math.prod(shape), ", ".join(map(str, shape))
        device = [f"device={self.device!r}"] if self.device != "cpu" else []
        dtype = (
            [f"dtype=torch.{self.dtype}"] if self.dtype not in ("float32", "int64", "bool") else []
        )
        if count == 0:
            return _call("zeros", sizes, f"dtype=torch.{self.dtype}", *device)
        if self.memory is not None or count <= LITERAL:
            values = self.memory or [
                at % 2 == 1 if self.dtype == "bool" else at for at in range(1, count + 1)
            ]
            written = np.array(
                [_number(value, self.dtype) for value in values], dtype=object
            ).reshape(shape)
            return _call("tensor", str(written.tolist()).replace("'", ""), *dtype, *device)
        dot = "." if self.dtype in _INEXACT else ""
        made = _call("arange", f"1{dot}", f"{count + 1}{dot}", *device)
        if self.dtype == "bool":
            made = f"({made} % 2 == 1)"
        elif dtype:
            made += f".to(torch.{self.dtype})"
        return made if len(shape) == 1 else f"{made}.reshape({sizes})"

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
                return _stand_in(thing)
        except (AttributeError, TypeError) as error:
            raise TypeError(f"x looks like a tensor and cannot be read like one: {error}") from None


_NEEDS = "a source must have strides and plain numbers, and this tensor has not"


def _stand_in(tensor: Any) -> Source:
    dtype = str(tensor.dtype).removeprefix("torch.")
    _check(tensor, dtype)
    try:
        shape, stride, offset = (
            tuple(tensor.shape),
            tuple(tensor.stride()),
            int(tensor.storage_offset()),
        )
    except (RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{_NEEDS}: {error}") from None
    kind: Kind = "plain" if not tensor.requires_grad else "leaf" if tensor.is_leaf else "result"
    span = max(
        math.prod(shape),
        offset + 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)),
    )
    notes = _unlike(tensor)
    if span > LARGEST:
        large = gettext(
            "it spans {number} elements, so the stand-in is smaller and has other values",
            number=f"{span:,}",
        )
        notes.insert(0, large)
        shape, stride = _smaller(shape, stride)
        offset = 0
    elif span > EXACT:
        notes.insert(0, gettext("its memory is long, so the stand-in has other values"))
    note = gettext(", and ").join(notes)
    made = Source(
        kind, shape, dtype, device=str(tensor.device), stride=stride, offset=offset, note=note
    )
    if span <= EXACT:
        made = replace(made, memory=_memory(tensor, made.places))
    if not offset and _in_order(made.places):
        return replace(made, stride=None)
    if not offset and len(shape) >= 2 and _in_order(made.places.swapaxes(-1, -2)):
        return replace(made, stride=None, transposed=True)
    return made


def _check(tensor: Any, dtype: str) -> None:
    """Raise ValueError for a tensor of which no stand-in can be made, with the way out."""
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    reasons = {
        "it is nested; x.unbind() gives its tensors": getattr(tensor, "is_nested", False),
        f"its layout is {layout}; x.to_dense() has them": layout != "strided",
        "a meta tensor has no values; torch.empty_like(x, device='cpu') makes some": tensor.device.type
        == "meta",
        f"it is quantised ({dtype}); x.dequantize() has them": getattr(
            tensor, "is_quantized", False
        ),
    }
    for why in filter(reasons.get, reasons):
        raise ValueError(f"{_NEEDS}: {why}")
    if dtype not in DTYPES:
        way = (
            "complex64"
            if dtype.startswith("complex")
            else "float32"
            if "float" in dtype
            else "int64"
        )
        known = ", ".join(DTYPES)
        raise ValueError(
            f"there is no source of dtype {dtype!r}; there are {known}: try x.to(torch.{way})"
        )


def _unlike(tensor: Any) -> list[str]:
    """What of a tensor no stand-in has, in words."""
    kind = type(tensor).__name__
    said = (
        []
        if kind in ("Tensor", "Parameter")
        else [gettext("it is a plain tensor and no {kind}", kind=kind)]
    )
    if getattr(tensor, "is_inference", bool)():
        said.append(gettext("it is no inference tensor"))
    if getattr(tensor, "is_conj", bool)() or getattr(tensor, "is_neg", bool)():
        said.append(
            gettext("its numbers are written out, where yours turns a sign whenever it is read")
        )
    return said


def _memory(tensor: Any, places: Any) -> tuple[Any, ...]:
    """The values in the memory of a tensor, and zeros in its gaps."""
    try:
        values = np.asarray(tensor.detach().tolist(), dtype=object).reshape(-1)
    except Exception as error:  # noqa: BLE001  # whatever a kind of tensor raises that tells no values
        raise ValueError(f"{_NEEDS}: {error}") from None
    memory = np.full(
        places.max(initial=-1) + 1, type(values[0])() if values.size else 0, dtype=object
    )
    memory[places.reshape(-1)] = values
    return tuple(memory.tolist())


def _in_order(places: Any) -> bool:
    """Whether the elements fill the memory one after the other."""
    return np.array_equal(places.reshape(-1), np.arange(places.size))


def _smaller(
    shape: tuple[int, ...], stride: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Its longest dimensions cut until few enough elements are left to look at; strides in their order, without gaps.

    Several elements in one place, as after expand, stay in one place: that is what such a tensor is about.
    """
    sizes = list(shape)
    while math.prod(sizes) > LITERAL and max(sizes) > 2:
        longest = sizes.index(max(sizes))
        sizes[longest] = max(2, sizes[longest] // 2)
    packed, step = [0] * len(sizes), 1
    for at in sorted(range(len(sizes)), key=lambda at: (stride[at], -at)):
        if stride[at]:
            packed[at], step = step, step * sizes[at]
    return tuple(sizes), tuple(packed)


def _call(function: str, *arguments: str) -> str:
    return f"torch.{function}({', '.join(arguments)})"


def _tracked(numbers: str, layout: str = "") -> str:
    """The expression with requires_grad: as an argument where it can be, for that is how most people write it."""
    if numbers.startswith("torch.tensor(") and not layout:
        return f"{numbers[:-1]}, requires_grad=True)"
    return f"{numbers}{layout}.requires_grad_()"


def _number(value: Any, dtype: str) -> str:
    """A number as one would write it: no more digits than its dtype needs."""
    if isinstance(value, complex):
        return f"complex({_number(value.real, dtype)}, {_number(value.imag, dtype)})"
    if dtype not in _INEXACT:
        return repr(value)
    if not math.isfinite(value):
        return f'float("{float(value)}")'
    text = str(_INEXACT[dtype](value))
    return text[:-1] if text.endswith(".0") else text
