"""Creation by rule: evenly spaced numbers, identity matrices, single numbers, raw buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..devices import as_device
from ..storage import UntypedStorage
from ..tensor import Tensor, fresh
from .core import op, quiet
from .creation import _finish, _moved, _sized, array_of, float_to_int
from .views import shape_argument


def _evenly(start: Any, end: Any, steps: int, kind: np.dtype) -> np.ndarray:
    """torch's linspace: counted from the start in the first half, back from the end in the second."""
    if kind.kind in "iu":
        i = np.arange(steps, dtype=np.int64)
        step = (float(end) - float(start)) / max(steps - 1, 1)
        data = np.where(i < steps // 2, np.trunc(start + step * i), np.trunc(end - step * (steps - i - 1)))
        return data.astype(kind)
    i = np.arange(steps).astype(kind)
    first, last = kind.type(start), kind.type(end)
    step = kind.type((last - first) / kind.type(max(steps - 1, 1)))
    back = (steps - 1 - np.arange(steps)).astype(kind)
    return np.where(np.arange(steps) < steps // 2, first + step * i, last - step * back).astype(kind)


def _given(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


@op(method=False)
def linspace(start: Any, end: Any, steps: int, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """`steps` evenly spaced numbers from start to end, both included.

    RuntimeError for a negative count. Source: `torch.linspace`.
    """
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    d = dtype or dtypes.get_default_dtype()
    data = np.full(1, _given(start), d.np) if steps == 1 else quiet.run(_evenly, _given(start), _given(end), steps, d.np)
    return _finish(_moved(fresh(data), as_device(device)), requires_grad)


@op(method=False)
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """`steps` numbers from base**start to base**end, evenly spaced in the exponent.

    Source: `torch.logspace`.
    """
    d = dtype or dtypes.get_default_dtype()
    powers = _evenly(_given(start), _given(end), steps, np.dtype(np.float64)) if steps != 1 else np.full(1, float(start))
    data = quiet.run(np.power, float(base), powers)
    data = float_to_int(data, d.np) if d.np.kind in "iu" else data.astype(d.np)
    return _finish(_moved(fresh(data), as_device(device)), requires_grad)


@op(method=False)
def eye(n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Ones on the diagonal, zeros elsewhere.

    RuntimeError for negative sizes. Source: `torch.eye`.
    """
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    data = np.eye(n, n if m is None else m, dtype=(dtype or dtypes.get_default_dtype()).np)
    return _finish(_moved(fresh(data), as_device(device)), requires_grad)


@op(method=False)
def scalar_tensor(s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A 0-d tensor of the default dtype.

    Source: `torch.scalar_tensor`.
    """
    data = array_of(s, dtype or dtypes.get_default_dtype())
    return _finish(_moved(fresh(data), as_device(device)), requires_grad)


@op(method=False)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor over the memory of a Python object that offers the buffer protocol.

    ValueError if the buffer is too small. Source: `torch.frombuffer`.
    """
    size = memoryview(buffer).nbytes
    if size == 0:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if offset >= size:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1")  # fmt: skip
    flat = np.frombuffer(buffer, dtype.np, count, offset)
    t = fresh(flat)
    t._storage = UntypedStorage(flat, resizable=False)
    return _finish(t, requires_grad)


@op(function=False)
def new(self: Tensor, *args: Any) -> Tensor:
    """The old constructor: a tensor of this one's dtype from sizes or data.

    Source: `torch.Tensor.new`.
    """
    from .creation import legacy_constructor

    return legacy_constructor(Tensor, *args, d=self.dtype)


__all__ = ["_sized", "shape_argument"]
