"""What is copied: the lines that make `x`, built to order or after a tensor of the user's.

A stand-in for a user's tensor is made from what can be read off it. The tensor itself is never used, so nothing that
is done to the stand-in can change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from tinytorch.viz.read.probe import undisturbed

from ..run.run import execute

Kind = Literal["leaf", "result", "plain"]
"""leaf: requires grad. result: computed from a leaf `a` that does. plain: requires none."""

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_COMPLEX = ("complex64", "complex128")
DTYPES = (*_FLOATS, *_COMPLEX, "int64", "int32", "int16", "int8", "uint8", "bool")
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
    memory: tuple[Any, ...] | int | None = None
    """The values in the memory of a stand-in; a length, where they count up from 1, as in a source built to order."""
    stride: tuple[int, ...] | None = None
    """Of a stand-in, where its elements do not follow one another."""
    offset: int = 0
    note: str = ""
    """In what a stand-in differs from the user's tensor."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _shape(self.shape))
        object.__setattr__(self, "dtype", str(self.dtype).removeprefix("torch."))
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be 'leaf', 'result' or 'plain', not {self.kind!r}")
        if self.dtype not in DTYPES:
            raise ValueError(f"there is no source of dtype {self.dtype!r}; there are {', '.join(DTYPES)}")
        if self.kind != "plain" and self.dtype not in (*_FLOATS, *_COMPLEX):
            raise ValueError(
                f"only Tensors of floating point and complex dtype can require gradients: {self.dtype} goes with "
                "kind='plain'"
            )
        if math.prod(self.shape) > LARGEST:
            raise ValueError(f"shape {self.shape} has {math.prod(self.shape):,} elements, a source at most {LARGEST:,}")
        if self.transposed and len(self.shape) < 2:
            raise ValueError(f"a tensor of shape {self.shape} has no two dimensions to transpose")

    @property
    def requires_grad(self) -> bool:
        """Whether x requires grad."""
        return self.kind != "plain"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the code sets."""
        return ("a", "x") if self.kind == "result" else ("x",)

    @cached_property
    def overlaps(self) -> bool:
        """Whether several elements of x are one place in memory, as after expand."""
        if self.stride is None:
            return False
        places = {0}
        for size, step in zip(self.shape, self.stride, strict=True):
            places = {place + step * i for place in places for i in range(size)}
        return len(places) < math.prod(self.shape)

    @property
    def code(self) -> str:
        """The lines that make x; they use the name `torch`."""
        made = self._values("a" if self.kind == "result" else "x")
        if self.kind != "result":
            return f"x = {made}"
        times = 1 if isinstance(self.memory, tuple) else 2  # a stand-in has the values that the user's tensor has
        if self.stride is not None:
            return f"a = {made}\nx = (a * {times}){self._strided}"
        return f"a = {made}\nx = {f'a{self._turned}' if self.transposed else 'a'} * {times}"

    @property
    def _strided(self) -> str:
        return f".as_strided({_tuple(self.shape)}, {_tuple(self.stride or ())}, {self.offset})"

    @property
    def _turned(self) -> str:
        return ".t()" if len(self.shape) == 2 else ".transpose(-2, -1)"

    def _values(self, name: str) -> str:
        """The expression that makes the memory of `name`, and for a leaf the leaf."""
        flat = self.stride is not None
        room = self.memory if isinstance(self.memory, int) else len(self.memory or ())
        shape = (room,) if flat else self.shape
        if self.transposed and not flat:
            shape = (*shape[:-2], shape[-1], shape[-2])
        options = [] if self.dtype in ("float32", "int64", "bool") else [f"dtype=torch.{self.dtype}"]
        options += [f"device={self.device!r}"] if self.device != "cpu" else []
        if math.prod(shape) == 0:
            where = [f"device={self.device!r}"] if self.device != "cpu" else []
            made = f"torch.zeros({', '.join([_sizes(shape), f'dtype=torch.{self.dtype}', *where])})"
        elif isinstance(self.memory, tuple):
            made = f"torch.tensor({', '.join([_nested(self.memory, shape, self.dtype), *options])})"
        else:
            made = self._counted(shape, options)
        if name == "x":
            made += self._strided if flat else self._turned if self.transposed else ""
        if self.requires_grad:
            # As an argument where it can be: that is how most people write it.
            at_once = made.startswith("torch.tensor(") and made.endswith(")") and made.count(").") == 0
            made = f"{made[:-1]}, requires_grad=True)" if at_once else f"{made}.requires_grad_()"
        return made

    def _counted(self, shape: tuple[int, ...], options: Sequence[str]) -> str:
        """1, 2, 3, ... in the order of the memory; for bool True, False, True, ..."""
        count = math.prod(shape)
        if count <= LITERAL:
            return f"torch.tensor({', '.join([_nested(self._count(count), shape, self.dtype), *options])})"
        dot = "." if self.dtype not in DTYPES[6:] else ""
        if self.dtype == "bool":
            return f"(torch.arange({', '.join([str(count), *options])}).reshape({_sizes(shape)}) % 2 == 0)"
        last = min(count, {"int8": 100, "uint8": 200}.get(self.dtype, count))  # what the dtype can count to
        numbers = f"torch.arange({', '.join([f'1{dot}', f'{count + 1}{dot}', *options])})"
        if last < count:
            numbers = f"(torch.arange({count}) % {last}).to({', '.join([f'torch.{self.dtype}', *options[1:]])})"
        elif self.dtype in _COMPLEX:  # arange makes no complex numbers
            numbers = f"torch.arange(1., {count + 1}.{''.join(f', {o}' for o in options[1:])}).to(torch.{self.dtype})"
        return numbers if len(shape) == 1 else f"{numbers}.reshape({_sizes(shape)})"

    def _count(self, count: int) -> list[Any]:
        return [i % 2 == 0 if self.dtype == "bool" else i + 1 for i in range(count)]

    def make(self, engine: ModuleType) -> Any:
        """Run the code with `engine` as its torch and return the tensor x."""
        return execute(self.code, engine)["x"]

    @classmethod
    def of(cls, thing: Any = None) -> Source:
        """Return what people mean by a source: None is a leaf, "leaf", "result" and "plain" are kinds.

        A Source is returned as it is. For a tensor of tinytorch or torch: a stand-in with its shape, dtype, strides,
        offset, device, and requires_grad, leaf or result as it is; with its own values where its memory has at most
        1,000 elements; counting up from 1 where it has more; and with shorter dimensions where there are more than
        100,000. `note` says which. Its history, hooks and `.grad` are not taken over, nor is a subclass. Looking
        changes nothing.

        Raises TypeError for anything else, and ValueError for a tensor without strides or plain numbers (sparse,
        nested, meta, quantised, of a dtype that is not in DTYPES), with the way out where there is one.
        """
        if thing is None:
            return cls()
        if isinstance(thing, Source):
            return thing
        if isinstance(thing, str):
            if thing not in get_args(Kind):
                raise ValueError(f"give a tensor, or 'leaf', 'result' or 'plain' to have one made, not {thing!r}")
            return cls(kind=thing)  # type: ignore[arg-type]  # checked where it is made
        if isinstance(thing, type) or not all(hasattr(thing, name) for name in ("untyped_storage", "requires_grad")):
            kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
            raise TypeError(
                f"x must be a tensor of torch or tinytorch, a Source, or one of 'leaf', 'result' and 'plain', "
                f"not {kind}; torch.tensor(...) makes a tensor of numbers"
            )
        try:
            with undisturbed():
                return _stand_in(thing)
        except (AttributeError, TypeError) as error:
            raise TypeError(f"x looks like a tensor and cannot be read like one: {error}") from None


def _stand_in(tensor: Any) -> Source:
    dtype = str(tensor.dtype).removeprefix("torch.")
    _fits(tensor, dtype)
    try:
        shape, stride, offset = tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset())
    except (RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{_NEEDS}: {error}") from None
    made = _of(tensor, dtype, shape, stride, offset)
    note = ", and ".join(filter(None, [made.note, *_unlike(tensor)]))
    return replace(made, note=note) if note != made.note else made


_NEEDS = "a source must have strides and plain numbers, and this tensor has not"


def _fits(tensor: Any, dtype: str) -> None:
    """Raise ValueError for a tensor that no stand-in can be made of."""
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    if getattr(tensor, "is_nested", False):
        raise ValueError(f"{_NEEDS}: it is nested; x.unbind() gives its tensors")
    if layout != "strided":
        raise ValueError(f"{_NEEDS}: its layout is {layout}; x.to_dense() has them")
    if tensor.device.type == "meta":
        raise ValueError(f"{_NEEDS}: a meta tensor has no values; torch.empty_like(x, device='cpu') makes some")
    if getattr(tensor, "is_quantized", False):
        raise ValueError(f"{_NEEDS}: it is quantised ({dtype}); x.dequantize() has them")
    if dtype not in DTYPES:
        way = "complex64" if dtype.startswith("complex") else "float32" if "float" in dtype else "int64"
        known = ", ".join(DTYPES)
        raise ValueError(f"there is no source of dtype {dtype!r}; there are {known}: try x.to(torch.{way})")


def _unlike(tensor: Any) -> list[str]:
    """What of a tensor no stand-in has, in words."""
    said = []
    kind = type(tensor)
    if kind.__name__ not in ("Tensor", "Parameter"):
        said.append(f"it is a plain tensor and no {kind.__name__}")
    if getattr(tensor, "is_inference", bool)():
        said.append("it is no inference tensor")
    if getattr(tensor, "is_conj", bool)() or getattr(tensor, "is_neg", bool)():
        said.append("its numbers are written out, where yours turns a sign whenever it is read")
    return said


def _of(tensor: Any, dtype: str, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Source:
    kind: Kind = "plain" if not tensor.requires_grad else "leaf" if tensor.is_leaf else "result"
    device = str(tensor.device)
    reach = 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)) if 0 not in shape else 0
    if max(offset + reach, math.prod(shape)) <= EXACT:
        try:
            values = np.asarray(tensor.detach().tolist(), dtype=object).reshape(shape)
        except Exception as error:  # noqa: BLE001  # whatever a kind of tensor raises that tells no values
            raise ValueError(f"{_NEEDS}: {error}") from None
        return _exact(Source(kind, shape, dtype, device=device), stride, offset, values)
    about = "its memory is long, so the stand-in has other values"
    if math.prod(shape) > LARGEST:
        about = f"it has {math.prod(shape):,} elements, so the stand-in is smaller and has other values"
        small = _smaller(shape)
        if 0 in stride:  # several elements in one place, as after expand: that is what such a tensor is about
            stride = _packed(small, stride)
            room = 1 + sum((size - 1) * step for size, step in zip(small, stride, strict=True))
            return Source(kind, small, dtype, False, device, room, stride, 0, about)
        shape = small
        stride = tuple(np.argsort(np.argsort(stride)).tolist())  # only their order can be kept
    turned = len(shape) >= 2 and stride[-2] < stride[-1]
    if _runs(shape, stride, turned=turned) or math.prod(shape) != math.prod(tensor.shape):
        return Source(kind, shape, dtype, turned, device, note=about)
    if offset + reach <= LARGEST:
        return Source(kind, shape, dtype, False, device, offset + reach, stride, offset, about)
    return Source(kind, shape, dtype, turned, device, note=f"{about}, and follows itself in memory")


def _exact(source: Source, stride: tuple[int, ...], offset: int, values: Any) -> Source:
    """The source with the very values and places of a tensor."""
    shape = source.shape
    if offset == 0 and (_runs(shape, stride, turned=False) or 0 in shape):
        return replace(source, memory=tuple(values.reshape(-1).tolist()))
    if offset == 0 and len(shape) == 2 and _runs(shape, stride, turned=True):
        return replace(source, memory=tuple(values.T.reshape(-1).tolist()), transposed=True)
    places = {
        offset + sum(i * step for i, step in zip(index, stride, strict=True)): values[index]
        for index in np.ndindex(*shape)
    }
    return replace(
        source,
        memory=tuple(places.get(place, 0) for place in range(max(places, default=-1) + 1)),
        stride=stride,
        offset=offset,
    )


def _runs(shape: tuple[int, ...], stride: tuple[int, ...], *, turned: bool) -> bool:
    """Whether a tensor fills its memory in order, its last two dimensions exchanged if `turned`."""
    if turned:
        shape, stride = (*shape[:-2], shape[-1], shape[-2]), (*stride[:-2], stride[-1], stride[-2])
    step = 1
    for size, own in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and own != step:
            return False
        step *= size
    return True


def _packed(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in the order of `stride` with nothing between; what was 0 stays 0."""
    made, step = [0] * len(shape), 1
    for at in sorted(range(len(shape)), key=lambda at: (stride[at], -at)):
        if stride[at]:
            made[at], step = step, step * shape[at]
    return tuple(made)


def _smaller(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with its longest dimensions cut until few enough elements are left to look at."""
    sizes = list(shape)
    while math.prod(sizes) > LITERAL:
        longest = sizes.index(max(sizes))
        sizes[longest] = max(2, sizes[longest] // 2)
        if max(sizes) == 2:
            break
    return tuple(sizes)


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes):
        raise ValueError(f"shape must be sizes of 0 and more, not {shape!r}")
    return sizes


def _sizes(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))


def _tuple(sizes: Sequence[int]) -> str:
    return repr(tuple(int(size) for size in sizes))


def _nested(values: Sequence[Any], shape: tuple[int, ...], dtype: str) -> str:
    """The values as nested lists, as one would write them."""
    if not shape:
        return _number(values[0], dtype)
    if shape[0] == 0:
        return "[]" if len(shape) == 1 else f"[{', '.join(['[]'] * shape[0])}]"
    part = len(values) // shape[0]
    rows = (_nested(values[i * part : (i + 1) * part], shape[1:], dtype) for i in range(shape[0]))
    return f"[{', '.join(rows)}]"


_SHORTEST: Mapping[str, Any] = {"float16": np.float16, "float32": np.float32, "bfloat16": np.float32}


def _number(value: Any, dtype: str) -> str:
    """A number as one would write it: no more digits than its dtype needs."""
    if dtype in _COMPLEX:
        made = complex(value)
        return f"complex({_number(made.real, 'float64')}, {_number(made.imag, 'float64')})"
    if dtype not in _FLOATS:
        return repr(value)
    value = float(value)
    if not math.isfinite(value):
        return f'float("{value}")'
    text = str(_SHORTEST.get(dtype, float)(value))
    return text.removesuffix("0") if text.endswith(".0") else text
