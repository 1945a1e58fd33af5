"""Creation from shapes: zeros, ones, empty and full, their `_like` forms and the methods `new_*`."""

from __future__ import annotations

from types import NoneType
from typing import Any

import numpy as np

from .. import dtypes
from ..devices import CPU, Transfers, as_device, device
from ..settings import mark_unset
from ..storage import contiguous_strides
from ..tensor import Layout, Tensor, empty_strided, fresh
from ..warn import warn_in_torch
from .arguments import is_number, unfit
from .copying import channels_last_strides, contiguous_format, preserve_format
from .core import as_array, check_overlap, expect_tensor, op, quiet, recording
from .layouts import dense_strides
from .outputs import NO_DERIVATIVE
from .views import shape_argument


def finish(t: Tensor, requires_grad: bool) -> Tensor:
    """The tensor, made to require grad if that was asked for."""
    if requires_grad:
        if t._data.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._set_requires_grad(True)
    return t


def moved(t: Tensor, where: device) -> Tensor:
    """A fresh tensor declared to lie on a device (its one copy there is counted)."""
    if where is not CPU:
        Transfers.count(where, t.nbytes)
        t._device = where
        if t._storage is not None:
            t._storage.device = where
    return t


def options(name: str, kw: dict, default: dtypes.dtype | None = None) -> tuple[dtypes.dtype, device]:
    """The dtype and device among keyword arguments; TypeError in torch's words for what is none of a creation's."""
    d = dtypes.as_dtype(kw.pop("dtype", None), name) or default or dtypes.get_default_dtype()
    layout, grad, where = kw.pop("layout", None), kw.pop("requires_grad", None), kw.pop("device", None)
    known = layout is None or isinstance(layout, Layout)
    known = known and isinstance(grad, (bool, NoneType)) and isinstance(where, (str, int, device, NoneType))
    if not known or isinstance(where, bool):
        raise unfit(name)
    if kw.pop("pin_memory", False):
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
            "this system."
        )
    if kw:
        raise unfit(name)
    return d, as_device(where)


def sized(size: tuple, name: str, kw: dict | None = None, signed: bool = False) -> tuple[int, ...]:
    """A creation's size, given one by one, as a sequence or by keyword. TypeError and RuntimeError in torch's words."""
    if kw and "size" in kw:
        size = (*size, kw.pop("size"))
        if not isinstance(size[-1], (tuple, list)):
            raise unfit(name)
    for n in size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size:
        if type(n) is not int and not _is_size(n):
            raise unfit(name)
    shape = shape_argument(size, name)
    for n in shape:
        if n < 0 and not signed:
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(shape)}")
    return shape


def _is_size(n: Any) -> bool:
    if isinstance(n, (Tensor, np.ndarray)):
        a = n._data if isinstance(n, Tensor) else n
        return a.dtype.kind in "iu" and (a.size == 1 if isinstance(n, Tensor) else a.ndim == 0)
    return hasattr(n, "__index__") and not isinstance(n, bool)


_COUNTED = ("arange", "linspace", "logspace")


def into(out: Any, data: np.ndarray, name: str, dtype: Any = None) -> Tensor:
    """What a creation with `out=` returns: `out`, resized if need be, with the data."""
    if not isinstance(out, Tensor):
        raise unfit(name)
    if recording(out):
        raise RuntimeError(NO_DERIVATIVE.format(f"aten::{name}"))
    d = dtypes.as_dtype(dtype, name)
    if d is not None and d is not out.dtype:
        raise RuntimeError(f"dtype {d.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})")
    if name == "arange" and out._data.size not in (0, data.size):
        n = out._data.size
        warn_in_torch(
            f"The number of elements in the out tensor of shape {list(out.shape)} is {n} which does not match the "
            f"computed number of elements {data.size}. Note that this may occur as a result of rounding error. The out "
            f"tensor will be resized to a tensor of shape ({data.size},).",
            "aten/src/ATen/native/RangeFactories.cpp:209",
        )
    if name in (*_COUNTED, "rand", "randn"):
        check_overlap(out)
    if name in _COUNTED and out._data.size == data.size:
        data = data.reshape(out._data.shape)  # these take any shape with as many elements
    version = out._vc.version
    if out._data.shape != data.shape:
        out.resize_(data.shape)
    elif name == "empty":
        mark_unset(out._data)
        return out
    quiet.run(np.copyto, out._data, data, "unsafe")
    if name == "empty":
        mark_unset(out._data)
    out._vc.version = version + 1  # the write alone counts
    return out


def filled(shape: tuple, value: Any, d: dtypes.dtype, where: device, requires_grad: bool = False) -> Tensor:
    """A fresh tensor of one value."""
    if value is None or value == 0:
        try:
            data = np.zeros(shape, d.np)
        except ValueError:  # NumPy's for more bytes than there are numbers for them
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}") from None
    else:
        dtypes.check_range(value, d, in_c=True)
        data = np.empty(shape, d.np)
        quiet.run(data.fill, as_array(value, d))
    if value is None:
        mark_unset(data)
    t = fresh(data)
    t._device = where
    return finish(t, requires_grad) if requires_grad else t


def alike(input: Tensor, name: str, memory_format: Any, kw: dict) -> Tensor:
    """An uninitialised tensor with another's shape and, unless said otherwise, dtype, device and strides."""
    expect_tensor(input, name)
    requires_grad = kw.get("requires_grad", False)
    kw.setdefault("device", input._device)
    d, where = options(name, kw, input.dtype)
    a = input._data
    if memory_format is preserve_format or memory_format is None:
        strides = tuple(s // a.itemsize * d.itemsize for s in dense_strides(input._data))
    elif memory_format is contiguous_format:
        strides = contiguous_strides(a.shape, d.itemsize)
    else:
        strides = channels_last_strides(a.shape, memory_format, d.itemsize)
    return finish(empty_strided(a.shape, strides, d.np, where), requires_grad)


def _shaped(name: str, value: Any, what: str) -> None:
    def function(*size: Any, out: Tensor | None = None, memory_format: Any = None, **kw: Any) -> Tensor:
        if not size and "size" not in kw:
            raise unfit(name)
        shape, requires_grad = sized(size, name, kw), kw.get("requires_grad", False)
        if out is not None:
            return into(out, np.full(shape, value or 0), name, kw.get("dtype"))
        made = filled(shape, value, *options(name, kw), requires_grad)
        if memory_format is not None and value is not None:
            raise unfit(name)
        if memory_format in (None, contiguous_format):
            return made
        if memory_format is preserve_format:
            raise RuntimeError("unsupported memory format Preserve")
        strides = channels_last_strides(shape, memory_format, made._data.itemsize)
        return finish(empty_strided(shape, strides, made._data.dtype, made._device), requires_grad)

    def like(input: Tensor, *, memory_format: Any = preserve_format, **kw: Any) -> Tensor:
        t = alike(input, f"{name}_like", memory_format, kw)
        t._data[...] = value or 0
        if value is None:
            mark_unset(t._data)
        return t

    def new(self: Tensor, *size: Any, **kw: Any) -> Tensor:
        method = f"new_{name}"
        if not size and "size" not in kw:
            raise unfit(method)
        kw.setdefault("device", self._device)
        shape, requires_grad = sized(size, method, kw), kw.get("requires_grad", False)
        return filled(shape, value, *options(method, kw, self.dtype), requires_grad)

    for f, n, text in ((function, name, ""), (like, f"{name}_like", " Shape, dtype, device and layout of another tensor."),
                       (new, f"new_{name}", " dtype and device of this tensor.")):  # fmt: skip
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}{text}\n\nSource: `torch.{n if f is not new else 'Tensor.' + n}`."
    op(name, method=False)(function)
    op(f"{name}_like", method=False)(like)
    op(f"new_{name}", function=False)(new)


_shaped("zeros", 0, "A tensor of zeros.")
_shaped("ones", 1, "A tensor of ones.")
_shaped("empty", None, "A tensor whose values mean nothing (zeros here).")


def _fill_value(x: Any, name: str) -> Any:
    if isinstance(x, Tensor) and x._data.ndim == 0 and not x.requires_grad:
        return x.item()
    if not is_number(x):
        raise unfit(name)
    return x


def _whole_size(size: Any, name: str) -> tuple[int, ...]:
    if not isinstance(size, (tuple, list)):
        raise unfit(name)
    return sized((size,), name)


@op(method=False)
def full(size: Any, fill_value: Any, *, out: Tensor | None = None, **kw: Any) -> Tensor:
    """A tensor of one value; its dtype is the value's unless given.

    Source: `torch.full`.
    """
    value, shape, requires_grad = (
        _fill_value(fill_value, "full"),
        _whole_size(size, "full"),
        kw.get("requires_grad", False),
    )
    if out is not None:
        return into(out, np.full(shape, value), "full", kw.get("dtype"))
    return filled(shape, value, *options("full", kw, dtypes.of_number(value, for_fill=True)), requires_grad)


@op(method=False)
def full_like(input: Tensor, fill_value: Any, *, memory_format: Any = preserve_format, **kw: Any) -> Tensor:
    """A tensor of one value, with another's shape, dtype, device and layout.

    Source: `torch.full_like`.
    """
    t, value = alike(input, "full_like", memory_format, kw), _fill_value(fill_value, "full_like")
    dtypes.check_range(value, t.dtype, in_c=True)
    quiet.run(t._data.fill, as_array(value, t.dtype))
    return t


@op(function=False)
def new_full(self: Tensor, size: Any, fill_value: Any, **kw: Any) -> Tensor:
    """A tensor of one value with this tensor's dtype and device.

    Source: `torch.Tensor.new_full`.
    """
    value, shape, requires_grad = (
        _fill_value(fill_value, "new_full"),
        _whole_size(size, "new_full"),
        kw.get("requires_grad", False),
    )
    kw.setdefault("device", self._device)
    return filled(shape, value, *options("new_full", kw, self.dtype), requires_grad)


def _strided(name: str, size: Any, stride: Any, kw: dict, default: dtypes.dtype | None) -> Tensor:
    requires_grad = kw.get("requires_grad", False)
    d, where = options(name, kw, default)
    shape, steps = _whole_size(size, name), shape_argument((stride,))
    if len(shape) != len(steps):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    if any(s < 0 for s in steps):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}")
    made = empty_strided(shape, tuple(s * d.itemsize for s in steps), d.np, where)
    mark_unset(made._data)
    return finish(made, requires_grad)


@op("empty_strided", method=False)
def empty_strided_(size: Any, stride: Any, **kw: Any) -> Tensor:
    """A tensor with these strides (in elements) and memory of its own.

    RuntimeError for strides that are negative or not as many. Source: `torch.empty_strided`.
    """
    return _strided("empty_strided", size, stride, kw, None)


@op(function=False)
def new_empty_strided(self: Tensor, size: Any, stride: Any, **kw: Any) -> Tensor:
    """A tensor with these strides (in elements), with this tensor's dtype and device.

    Source: `torch.Tensor.new_empty_strided`.
    """
    kw.setdefault("device", self._device)
    return _strided("new_empty_strided", size, stride, kw, self.dtype)
