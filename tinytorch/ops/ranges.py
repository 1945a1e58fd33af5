"""Creation by rule: evenly spaced numbers, identity matrices, single numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..fused import fma32, fma64
from ..tensor import Tensor, fresh
from ..warn import warn_user
from .arguments import unfit
from .core import op, quiet
from .creation import array_of, float_to_int
from .shaped import finish, into, moved, options


def _made(name: str, data: np.ndarray, where: Any, out: Any, dtype: Any, requires_grad: bool) -> Tensor:
    if out is not None:
        return into(out, data, name, dtype)
    return finish(moved(fresh(data), where), requires_grad)


def _given(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _times_plus(i: np.ndarray, step: Any, start: Any, kind: np.dtype) -> np.ndarray:
    """start + i * step as torch's compiled code rounds it: once in float32 and float64, twice in float16."""
    if kind == np.float32:
        return fma32(i, float(step), float(start)).astype(kind)
    if kind == np.float64:
        return fma64(i, float(step), float(start))
    return start + step * i.astype(kind)


# arange ------------------------------------------------------------------------------------------------------------------


def _counted(start: float, step: float, n: int, kind: np.dtype) -> np.ndarray:
    """start + i * step in float64, but in the blocks of torch's vector code each vector's first number is rounded."""
    i = np.arange(n, dtype=np.float64)
    if start.is_integer() and step.is_integer():
        return (start + i * step).astype(kind)
    lanes = 32 // kind.itemsize
    lane = np.where(i < n - n % (2 * lanes), i % lanes, 0.0)  # the rest is computed one by one
    first = fma64(i - lane, step, start).astype(kind).astype(np.float64)
    made = fma64(lane, step, first) if kind == np.float64 else first + lane * step
    return made.astype(kind)


@op(method=False)
def arange(
    start: Any = None, end: Any = None, step: Any = None, *, out: Tensor | None = None, dtype: Any = None, **kw: Any
) -> Tensor:
    """Numbers from start (0) up to, not including, end; int64 if all are ints, else the default dtype.

    RuntimeError for a step that is 0 or leads away from the end. Source: `torch.arange`.
    """
    if end is None:
        if start is None or step is not None:
            raise unfit("arange")
        start, end = 0, start
    if any(isinstance(x, Tensor) and (x._data.ndim or x.requires_grad) for x in (start, end, step)):
        raise unfit("arange")
    start, end, step = _given(0 if start is None else start), _given(end), 1 if step is None else _given(step)
    whole = all(isinstance(x, (int, np.integer)) for x in (start, end, step))
    requires_grad = kw.get("requires_grad", False)
    default = dtypes.int64 if whole else dtypes.get_default_dtype()
    d, where = options("arange", kw | {"dtype": dtype}, default if out is None else out.dtype)
    _refuse_bool("arange", d)
    n = _count(start, end, step, d)
    if d.is_floating_point:
        data = quiet.run(_counted, float(start), float(step), n, d.np)
    else:
        data = (int(start) + int(step) * np.arange(n, dtype=np.int64)).astype(d.np)
    return _made("arange", data, where, out, dtype, requires_grad)


def _refuse_bool(name: str, d: dtypes.dtype) -> None:
    if d is dtypes.bool_:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")


def _count(start: Any, end: Any, step: Any, d: dtypes.dtype) -> int:
    if d is dtypes.int64:  # torch counts the elements of every other dtype in floating point
        if 0 < abs(step) < 1:
            raise ValueError("step must be nonzero")
        start, end, step = int(start), int(end), int(step)
        if not all(-(1 << 63) <= x < 1 << 63 for x in (start, end, step)):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return -(-(end - start) // step) if d is dtypes.int64 else math.ceil((end - start) / step)


@op("range", method=False, strict=True)
def range_(start: Any, end: Any, step: Any = 1, **kw: Any) -> Tensor:
    """Numbers from start to end, both included, in the default dtype.

    Deprecated in torch, which warns. Source: `torch.range`.
    """
    warn_user(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    if kw.get("out") is None:
        kw.setdefault("dtype", dtypes.get_default_dtype())
        _refuse_bool("range", kw["dtype"])
    return arange(start, _given(end) + _given(step) / 2, step, **kw)


# linspace ------------------------------------------------------------------------------------------------------------------


def _whole(x: Any, kind: np.dtype) -> int:
    """An end as a number of an integer dtype: torch cuts it off before it counts the steps."""
    dtypes.check_range(x, dtypes.BY_NUM[kind.num], in_c=True)
    return int(np.array(int(x)).astype(kind))


def _evenly(start: Any, end: Any, steps: int, kind: np.dtype) -> np.ndarray:
    """torch's linspace: counted from the start in the first half, back from the end in the second."""
    i = np.arange(steps, dtype=np.float64)
    back = steps - 1 - i
    if kind.kind in "iu":
        start, end = _whole(start, kind), _whole(end, kind)
        step = (float(end) - float(start)) / max(steps - 1, 1)
        return np.where(i < steps // 2, fma64(i, step, start), fma64(back, -step, end)).astype(kind)
    first, last = kind.type(start), kind.type(end)
    step = kind.type((last - first) / kind.type(max(steps - 1, 1)))
    return np.where(i < steps // 2, _times_plus(i, step, first, kind), _times_plus(back, -step, last, kind)).astype(
        kind
    )


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any]:
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise TypeError(f"{name}() takes a whole number of steps")
    tensors = [(x._data.ndim, what) for x, what in ((start, "start"), (end, "end")) if isinstance(x, Tensor)]
    if any(n for n, _ in tensors):
        found = " and ".join(f"{what} with {n} dimension(s)" for n, what in tensors)
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {found}.")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return _given(start), _given(end)


def _check_ends(d: Any, start: Any, end: Any, steps: int) -> None:
    """RuntimeError if the ends are too large for a floating point dtype, where they are used as such."""
    if steps > 1 and d.is_floating_point:
        for value in (start, end):
            dtypes.check_range(float(value), d, in_c=True)


@op(method=False)
def linspace(start: Any, end: Any, steps: int, *, out: Any = None, dtype: Any = None, **kw: Any) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included.

    RuntimeError for a negative count. Source: `torch.linspace`.
    """
    start, end = _ends("linspace", start, end, steps)
    steps = int(steps)
    requires_grad = kw.get("requires_grad", False)
    d, where = options("linspace", kw | {"dtype": dtype}, None if out is None else out.dtype)
    _refuse_bool("linspace", d)
    _check_ends(d, start, end, steps)
    data = np.full(1, start, d.np) if steps == 1 else quiet.run(_evenly, start, end, steps, d.np)
    return _made("linspace", data, where, out, dtype, requires_grad)


@op(method=False)
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, **kw: Any
) -> Tensor:
    """`steps` numbers from base**start to base**end, evenly spaced in the exponent.

    Source: `torch.logspace`.
    """
    start, end = _ends("logspace", start, end, steps)
    steps = int(steps)
    requires_grad = kw.get("requires_grad", False)
    d, where = options("logspace", kw | {"dtype": dtype}, None if out is None else out.dtype)
    _refuse_bool("logspace", d)
    _check_ends(d, start, end, steps)
    if steps != 1:  # a single one is the power itself
        start, end = (_whole(x, d.np) if d.np.kind in "iu" else float(d.np.type(x)) for x in (start, end))
    i, step = np.arange(steps), (float(end) - float(start)) / max(steps - 1, 1)
    step = float(d.np.type(step)) if d.np.kind == "f" else step
    powers = np.where(i < max(steps // 2, steps == 1), start + step * i, end - step * (steps - 1 - i))
    data = np.array([_power(base, p) for p in powers.tolist()], np.float64)
    data = float_to_int(data, d.np) if d.np.kind in "iu" else quiet.run(data.astype, d.np)
    return _made("logspace", data, where, out, dtype, requires_grad)


def _power(base: float, p: float) -> float:
    try:
        return math.pow(base, p)
    except (OverflowError, ValueError):
        return float(quiet.run(np.power, float(base), p))


# matrices and single numbers ------------------------------------------------------------------------------------------------


@op(method=False)
def eye(n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, **kw: Any) -> Tensor:
    """Ones on the diagonal, zeros elsewhere.

    RuntimeError for negative sizes. Source: `torch.eye`.
    """
    m = n if m is None else m
    for name, k in (("n", n), ("m", m)):
        if k < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {k}")
    requires_grad = kw.get("requires_grad", False)
    d, where = options("eye", kw | {"dtype": dtype})
    return _made("eye", np.eye(n, m, dtype=d.np), where, out, dtype, requires_grad)


def _indices(name: str, lower: bool) -> None:
    def function(row: int, col: int, offset: int = 0, **kw: Any) -> Tensor:
        for what, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{what} must be non-negative, got{n}")
        d, where = options(name, kw, dtypes.int64)
        if d not in (dtypes.int32, dtypes.int64):
            raise NotImplementedError(f"\"{name}\" not implemented for '{d.scalar_name}'")
        found = (np.tril_indices if lower else np.triu_indices)(row, offset, col)
        return moved(fresh(np.array(found, d.np)), where)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The row and column numbers of the {'lower' if lower else 'upper'} triangle.\n\nSource: `torch.{name}`."
    )
    op(name, method=False, strict=True)(function)


_indices("tril_indices", True)
_indices("triu_indices", False)


@op(method=False)
def scalar_tensor(s: Any, **kw: Any) -> Tensor:
    """A 0-d tensor of the default dtype.

    Source: `torch.scalar_tensor`.
    """
    requires_grad = kw.get("requires_grad", False)
    d, where = options("scalar_tensor", kw)
    return finish(moved(fresh(array_of(s, d)), where), requires_grad)
