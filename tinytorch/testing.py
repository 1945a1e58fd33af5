"""`assert_close`: whether two results are the same up to rounding, and where they are not.

Source: `torch.testing`.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import dtypes
from .ops.core import FUNCTIONS
from .tensor import Tensor

_TOLERANCES = {dtypes.float16: (0.001, 1e-5), dtypes.float32: (1.3e-6, 1e-5), dtypes.float64: (1e-7, 1e-7)}
_OF_NUMBERS = {int: dtypes.int64, float: dtypes.float64}


class _Mismatch(Exception):  # noqa: N818 - it becomes the error that it names
    """What is wrong, and with which item."""

    def __init__(self, kind: type[Exception], said: str, item: tuple = ()) -> None:
        super().__init__(said)
        self.kind, self.said, self.item = kind, said, item

    def error(self, msg: str | Callable[[str], str] | None) -> Exception:
        """The error for the user, whose `msg` may replace what is said."""
        if isinstance(msg, str):
            return self.kind(msg)
        where = "".join(str([i]) for i in self.item)
        said = self.said + (f"\n\nThe failure occurred for item {where}" if self.item else "")
        return self.kind(msg(said) if callable(msg) else said)


# what is compared with what ----------------------------------------------------------------------------------------------


def _pairs(actual: Any, expected: Any, item: tuple = ()) -> Iterator[tuple[Any, Any, tuple]]:
    """The pairs of values in two structures, and where they are. _Mismatch for structures that differ."""
    if all(isinstance(x, Sequence) and not isinstance(x, str) for x in (actual, expected)):
        if len(actual) != len(expected):
            said = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _Mismatch(AssertionError, said, item)
        for i in range(len(actual)):
            yield from _pairs(actual[i], expected[i], (*item, i))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            raise _Mismatch(
                AssertionError,
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(set(expected) - set(actual))}\n"
                f"Additional keys in the actual mapping: {sorted(set(actual) - set(expected))}",
                item,
            )
        keys = list(actual)
        try:
            keys.sort()
        except TypeError:
            keys = list(actual)
        for k in keys:
            yield from _pairs(actual[k], expected[k], (*item, k))
    else:
        yield actual, expected, item


def _refused(actual: Any, expected: Any, item: tuple) -> _Mismatch:
    said = f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    return _Mismatch(TypeError, said, item)


def _tolerances(kinds: tuple, options: dict[str, Any], item: tuple) -> tuple[float, float]:
    rtol, atol = options["rtol"], options["atol"]
    if (rtol is None) != (atol is None):
        absent = "rtol" if rtol is None else "atol"
        said = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {absent}."
        raise _Mismatch(ValueError, said, item)
    if rtol is not None:
        return rtol, atol
    found = [_TOLERANCES.get(k, (0.0, 0.0)) for k in kinds]
    return max(f[0] for f in found), max(f[1] for f in found)


def _comparison(actual: Any, expected: Any, item: tuple, options: dict[str, Any]) -> Callable[[], None]:
    """The comparison of two values, to be called later. _Mismatch for values that nobody can compare."""
    both = (actual, expected)
    if actual is None or expected is None:
        return lambda: _same(actual is expected, f"None mismatch: {actual} is not {expected}", item)
    if all(isinstance(x, (bool, np.bool_)) for x in both):
        return lambda: _same(bool(actual) is bool(expected), f"Booleans mismatch: {actual} is not {expected}", item)
    if all(isinstance(x, (int, float, np.number)) for x in both) and not any(isinstance(x, bool) for x in both):
        a, b = (x.item() if isinstance(x, np.number) else x for x in both)
        limits = _tolerances((_OF_NUMBERS[type(a)], _OF_NUMBERS[type(b)]), options, item)
        return lambda: _compare_numbers(a, b, *limits, options, item)
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not related or (not options["allow_subclasses"] and type(actual) is not type(expected)):
        raise _refused(actual, expected, item)
    try:
        x, y = (t if isinstance(t, Tensor) else FUNCTIONS["as_tensor"](t) for t in both)
    except (TypeError, ValueError, RuntimeError):
        raise _refused(actual, expected, item) from None
    limits = _tolerances((x.dtype, y.dtype), options, item)
    return lambda: _compare_tensors(x, y, *limits, options, item)


# comparing ---------------------------------------------------------------------------------------------------------------


def _same(same: bool, said: str, item: tuple) -> None:
    if not same:
        raise _Mismatch(AssertionError, said, item)


def _not_close(what: str, extra: str, rtol: float, atol: float, differences: list[tuple[str, Any, Any]]) -> str:
    equality = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equality else 'close'}!", "", extra]
    for (name, value, at), limit in zip(differences, (atol, rtol), strict=True):
        head = (
            f"{name.title()} difference: {value}"
            if at is None
            else f"Greatest {name} difference: {value} at index {at}"
        )
        lines.append(head if equality else f"{head} (up to {limit} allowed)")
    return "\n".join(lines)


def _number_message(a: Any, b: Any, rtol: float, atol: float) -> str:
    away = abs(a - b)
    shares = [("absolute", away, None), ("relative", float("inf") if b == 0 else away / abs(b), None)]
    return _not_close("Scalars", f"Expected {b} but got {a}.", rtol, atol, shares)


def _compare_numbers(a: Any, b: Any, rtol: float, atol: float, options: dict[str, Any], item: tuple) -> None:
    if options["check_dtype"] and type(a) is not type(b):
        raise _Mismatch(AssertionError, f"The (d)types do not match: {type(a)} != {type(b)}.", item)
    if a == b or (options["equal_nan"] and cmath.isnan(a) and cmath.isnan(b)):
        return
    away = abs(a - b)
    if not (cmath.isfinite(away) and away <= atol + rtol * abs(b)):
        raise _Mismatch(AssertionError, _number_message(a, b, rtol, atol), item)


def _compare_tensors(x: Tensor, y: Tensor, rtol: float, atol: float, options: dict[str, Any], item: tuple) -> None:
    for name, checked, a, b in (
        ("shape", True, x.shape, y.shape),
        ("stride()", options["check_stride"], x.stride(), y.stride()),
        ("device", options["check_device"], x.device, y.device),
        ("dtype", options["check_dtype"], x.dtype, y.dtype),
    ):
        if checked and a != b:
            raise _Mismatch(AssertionError, f"The values for attribute '{name}' do not match: {a} != {b}.", item)
    if x.device != y.device:
        x, y = x.cpu(), y.cpu()
    kind = dtypes.promote_types(x.dtype, y.dtype)
    x, y = x.detach().to(kind), y.detach().to(kind)
    matches = FUNCTIONS["isclose"](x, y, rtol=rtol, atol=atol, equal_nan=options["equal_nan"])
    if not bool(matches.all()):
        said = (
            _tensor_message(x, y, matches, rtol, atol) if x.shape else _number_message(x.item(), y.item(), rtol, atol)
        )
        raise _Mismatch(AssertionError, said, item)


def _tensor_message(x: Tensor, y: Tensor, matches: Tensor, rtol: float, atol: float) -> str:
    n, wrong = matches.numel(), matches.numel() - int(matches.sum())
    if not x.is_floating_point():
        x, y = x.long(), y.long()
    away = (x.flatten() - y.flatten()).abs()
    share = away / y.flatten().abs()
    found = []
    for name, difference in (("absolute", away), ("relative", share)):
        difference[matches.flatten()] = 0
        value, at = difference.max(0)
        found.append((name, value.item(), tuple(int(i) for i in np.unravel_index(int(at), tuple(matches.shape)))))
    return _not_close("Tensor-likes", f"Mismatched elements: {wrong} / {n} ({wrong / n:.1%})", rtol, atol, found)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless two tensors, numbers, or sequences and mappings of them are close.

    Close is |actual - expected| <= atol + rtol * |expected|; without tolerances, those of the dtypes are taken.
    TypeError for types that cannot be compared, ValueError for one tolerance of two.
    Source: `torch.testing.assert_close`.
    """
    options = {
        "allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol, "equal_nan": equal_nan,
        "check_device": check_device, "check_dtype": check_dtype, "check_stride": check_stride,
    }  # fmt: skip
    try:
        for compare in [_comparison(a, e, item, options) for a, e, item in _pairs(actual, expected)]:
            compare()
    except _Mismatch as why:
        failed = why.error(msg)
    else:
        return
    raise failed


__all__ = ["assert_close"]
