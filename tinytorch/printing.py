"""How a tensor prints: `repr` and `str` as PyTorch writes them, character by character.

NumPy alone; nothing of the engine is imported. A tensor is read through the attributes that torch has too (and
`_data`, its ndarray); the default dtype, which decides whether `dtype=` is shown, comes in through `default_dtype`.

Source: the printed output of torch 2.13 (`torch.set_printoptions` documents the options).
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclasses.dataclass
class PrinterOptions:
    """What `set_printoptions` sets; the defaults are torch's."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = PrinterOptions()
"""The options in force; `set_printoptions` changes this one object."""

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}

default_dtype: Callable[[], object] = lambda: "torch.float32"  # noqa: E731 - the engine puts its own getter here
"""Called on each print: the dtype (or its name, `torch.float32`) that goes without saying for floats."""


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print, as `torch.set_printoptions`.

    precision: digits after the point. threshold: more elements than this are summarised. edgeitems: how many are then
    shown at each end of a dimension. linewidth: characters a line. profile: "default", "short" or "full" (no
    summary), applied first; torch ignores other names, and so does this. sci_mode: True or False forces or forbids
    scientific notation; None lets the values decide, and every call that does not give it sets None.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = _PROFILES.get(profile or "", {}) | {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the options as a dict that `set_printoptions(**...)` takes, as torch's `_tensor_str` does."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Set options for the length of a `with` block; the arguments are those of `set_printoptions`."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


# ---------------------------------------------------------------------------------------------------- the numbers


def _shown(a: np.ndarray) -> np.ndarray:
    """Return the elements that a summary shows: both ends of every dimension that is longer than the two."""
    edge = PRINT_OPTS.edgeitems
    if edge < 0 and a.ndim > 1:
        raise RuntimeError("stack expects a non-empty TensorList")
    rows = [range(n) for n in a.shape]  # slicing a range costs nothing, however long the dimension is
    picks = [(*r[:edge], *r[-edge:]) if len(r) > 2 * edge else r for r in rows]
    return a[np.ix_(*picks)]


def _formatter(values: list[Any], floating: bool) -> tuple[Callable[[Any], str], int]:
    """Return how to write one element, and the width all are padded to. `values`: the numbers that will be shown.

    Zeros and non-finite values have no say in the choice, nor in the width: they may stick out.
    """
    if not floating:
        return str, max(map(len, map(str, values)), default=1)
    precision = PRINT_OPTS.precision
    telling = [v for v in values if v and math.isfinite(v)]
    if not telling:
        return _whole, 1
    magnitudes = [abs(v) for v in telling]
    low, high = min(magnitudes), max(magnitudes)
    scientific = PRINT_OPTS.sci_mode
    if scientific is None:
        scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
    write: Callable[[Any], str]
    if scientific:
        write = f"{{:.{precision}e}}".format
    elif all(v == math.floor(v) for v in telling):
        write = _whole
    else:
        write = f"{{:.{precision}f}}".format
    return write, max(map(len, map(write, telling)))


def _whole(value: float) -> str:
    """Write a float without a fraction, `2.`; nan and inf have no point."""
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def array_str(a: np.ndarray, indent: int = len("tensor(")) -> str:
    """Return the nested list of numbers of a repr: what stands between `tensor(` and the first suffix.

    a: bool, integer or floating point, any shape; of a summarised array only the elements shown are read.
    indent: the column where it starts, in characters.
    """
    if a.size == 0:
        return "[]"
    summarize = a.size > PRINT_OPTS.threshold and a.ndim > 0
    if summarize and not PRINT_OPTS.edgeitems:
        return "[...]"
    shown = _shown(a) if summarize else a
    write, width = _formatter(shown.ravel().tolist(), a.dtype.kind == "f")
    values = shown.tolist()
    if a.ndim == 0:
        return write(values).rjust(width)
    return _nested(values, a.shape, indent, summarize, write, width)


def _nested(
    values: list[Any], shape: tuple[int, ...], indent: int, summarize: bool, write: Callable[[Any], str], width: int
) -> str:
    """Write one dimension of the nested list `values`; `shape` is what the array has, before it was summarised."""
    edge = PRINT_OPTS.edgeitems
    if len(shape) == 1:
        items = [write(v).rjust(width) for v in values]
        gap, per_line = " ...", max(1, math.floor((PRINT_OPTS.linewidth - indent) / (width + 2)))
    else:
        items = [_nested(v, shape[1:], indent + 1, summarize, write, width) for v in values]
        gap, per_line = "...", 1
    if summarize and shape[0] > 2 * edge:
        items.insert(len(items) // 2, gap)
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    newlines = "\n" * max(1, len(shape) - 1)
    return "[" + ("," + newlines + " " * (indent + 1)).join(lines) + "]"


# ---------------------------------------------------------------------------------------------------- the tensor


def _suffixes(t: Any) -> Iterator[str]:
    """Yield what follows the numbers, in torch's order: device, size, dtype, and grad_fn or requires_grad."""
    if t.device.type != "cpu":
        yield f"device='{t.device}'"
    data = t._data
    dtype = str(t.dtype)
    default = str(default_dtype())
    if data.size == 0:
        # without elements nothing shows that the dtype is int64 or bool, so only the default one is left out
        if data.ndim != 1:
            yield f"size={data.shape}"
        if dtype != default:
            yield f"dtype={dtype}"
    else:
        if not PRINT_OPTS.edgeitems:
            yield f"size={data.shape}"
        if dtype not in (default, "torch.int64", "torch.bool"):
            yield f"dtype={dtype}"
    try:
        grad_fn = t.grad_fn
    except RuntimeError:  # a view made and changed in place under no_grad: its history is refused, its numbers are not
        yield "grad_fn=<Invalid>"
        return
    if grad_fn is not None:
        yield f"grad_fn=<{type(grad_fn).__name__.rpartition('::')[2]}>"
    elif t.requires_grad:
        yield "requires_grad=True"


def tensor_repr(t: Any, prefix: str | None = None) -> str:
    """Return `repr(t)` as torch writes it.

    t: anything with `_data` (ndarray), `dtype`, `device`, `grad_fn` and `requires_grad`. prefix: what stands before
    the numbers; None: `tensor(`, or for a subclass its name and a bracket.
    """
    cls = type(t)
    plain = cls.__name__ in {"Tensor", "Parameter"}
    if prefix is None:
        prefix = "tensor(" if plain else f"{cls.__name__}("
    text = prefix + array_str(t._data, len(prefix))
    column = len(text) - text.rfind("\n") + 1  # torch counts two more than there are
    parts = [text]
    for suffix in _suffixes(t):
        if column + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * len(prefix) + suffix)
            column = len(prefix) + len(suffix)
        else:
            parts.append(", " + suffix)
            column += len(suffix) + 2
    text = "".join(parts) + ")"
    if not plain and any(base.__name__ == "Parameter" for base in cls.__mro__):
        return f"Parameter({text})"
    return text


def format_tensor(t: Any, spec: str, plain: bool) -> str:
    """Return `format(t, spec)`, as in an f-string.

    A 0-d tensor formats as its number where `plain` says that its class is Tensor itself; all else takes no
    format but the empty one, for which it is `str(t)`, and raises TypeError.
    """
    if plain and t._data.ndim == 0:
        return format(t._data.item(), spec)
    return object.__format__(t, spec)
