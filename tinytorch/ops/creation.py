"""Creation: tensors from data, from shapes, from NumPy arrays, and like other tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..devices import CPU, Transfers, as_device, device
from ..graph.history import make_view
from ..storage import UntypedStorage, contiguous_strides
from ..tensor import Tensor, empty_strided, fresh
from ..warn import warn_in_torch, warn_user
from .copying import contiguous_format, converted, copied, dense_strides, preserve_format
from .core import as_array, float_to_int, is_number, op, quiet
from .views import shape_argument


def _finish(t: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad:
        if t._data.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._set_requires_grad(True)
    return t


def _moved(t: Tensor, where: device) -> Tensor:
    """A fresh tensor declared to lie on a device (its one copy there is counted)."""
    if where is not CPU:
        Transfers.count(where, t.nbytes)
        t._device = where
        if t._storage is not None:
            t._storage.device = where
    return t


# from data -----------------------------------------------------------------------------------------------------------


def _sequence_shape(data: Any) -> tuple[int, ...]:
    shape = []
    while isinstance(data, (list, tuple)) or (hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, dict, set))):  # fmt: skip
        if isinstance(data, Tensor) and data._data.ndim == 0:
            break
        if isinstance(data, (Tensor, np.ndarray)):
            return (*shape, *data.shape)
        shape.append(len(data))
        if not len(data):
            break
        data = data[0]
    return tuple(shape)


def _flatten(data: Any, shape: tuple[int, ...], level: int, into: list) -> None:
    if level == len(shape):
        if isinstance(data, (list, tuple)):
            raise TypeError(f"'{type(data).__name__}' object cannot be interpreted as an integer")
        into.append(data)
        return
    try:
        n = len(data)
    except TypeError:
        raise TypeError("not a sequence") from None
    if n != shape[level]:
        raise ValueError(f"expected sequence of length {shape[level]} at dim {level} (got {n})")
    for item in data:
        _flatten(item, shape, level + 1, into)


def _dtype_of(values: list) -> dtypes.dtype:
    found: dtypes.dtype | None = None
    for v in values:
        if isinstance(v, Tensor):
            d = v.dtype
        elif isinstance(v, (np.generic, np.ndarray)):
            d = dtypes.from_numpy_dtype(v.dtype)
        elif isinstance(v, bool):
            d = dtypes.bool_
        elif isinstance(v, int):
            d = dtypes.int64
        elif isinstance(v, float):
            d = dtypes.get_default_dtype()
        elif isinstance(v, complex):
            raise NotImplementedError("tinytorch has no complex dtypes")
        elif isinstance(v, str):
            raise TypeError("new(): invalid data type 'str'")
        else:
            raise RuntimeError(f"Could not infer dtype of {type(v).__name__}")
        found = d if found is None else dtypes.promote_types(found, d)
    return found or dtypes.get_default_dtype()


def array_of(data: Any, d: dtypes.dtype | None) -> np.ndarray:
    """Nested sequences of numbers as a new array, with torch's inference of dtype and torch's errors."""
    if isinstance(data, (np.ndarray, np.generic)):
        found = dtypes.from_numpy_dtype(data.dtype)
        return _cast(np.array(data, order="C"), d or found)
    shape = _sequence_shape(data)
    if isinstance(data, (str, bytes)) or not (shape or is_number(data) or isinstance(data, Tensor)):
        _dtype_of([data])
    values: list = []
    _flatten(data, shape, 0, values)
    found = d or _dtype_of(values)
    plain = [v.item() if isinstance(v, (Tensor, np.generic, np.ndarray)) else v for v in values]
    for v in plain:
        if not isinstance(v, (int, float)):
            _dtype_of([v])
    if found.np.kind in "iu":
        for v in plain:
            if isinstance(v, int) and not -(1 << 63) <= v < 1 << 63 and found is not dtypes.uint64:
                raise ValueError("Overflow when unpacking long long")
            dtypes.check_range(v, found)
        plain = [int(v) for v in plain]
        if not found.is_signed and any(v < 0 for v in plain):
            return np.array(plain, np.int64).astype(found.np).reshape(shape)
    return quiet.run(np.array, plain, found.np).reshape(shape)


def _cast(a: np.ndarray, d: dtypes.dtype) -> np.ndarray:
    if a.dtype == d.np:
        return a
    if a.dtype.kind == "f" and d.np.kind in "iu":
        return float_to_int(a, d.np)
    return quiet.run(a.astype, d.np)


def _from_tensor(data: Tensor, d: dtypes.dtype | None, where: device | None) -> Tensor:
    return copied(data, None if d is None else d.np, where)


@op(method=False)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A leaf with a copy of the data (numbers, nested sequences, an array, a tensor).

    A tensor as data warns that `detach().clone()` says it more clearly. Source: `torch.tensor`.
    """
    dtype = dtypes.as_dtype(dtype, "tensor")
    where = None if device is None else as_device(device)
    if isinstance(data, Tensor):
        warn_user(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
        )
        return _finish(_from_tensor(data, dtype, where), requires_grad)
    return _finish(_moved(fresh(array_of(data, dtype)), where or CPU), requires_grad)


@op(function=False)
def new_tensor(self: Tensor, data: Any, *extra: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A leaf with a copy of the data, with this tensor's dtype and device unless others are given.

    Source: `torch.Tensor.new_tensor`.
    """
    if extra:
        raise TypeError(f"new_tensor() takes 1 positional argument but {1 + len(extra)} were given")
    where = self._device if device is None else as_device(device)
    d = dtypes.as_dtype(dtype, "new_tensor") or self.dtype
    if isinstance(data, Tensor):
        warn_user(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor)."
        )
        return _finish(_from_tensor(data, d, where), requires_grad)
    return _finish(_moved(fresh(array_of(data, d)), where), requires_grad)


@op(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor without a copy where possible: a tensor itself, an array's memory shared.

    Source: `torch.as_tensor`.
    """
    dtype = dtypes.as_dtype(dtype, "tensor")
    where = None if device is None else as_device(device)
    if isinstance(data, Tensor):
        return converted(data, dtype, where)
    if isinstance(data, np.ndarray):
        return converted(from_numpy(data), dtype, where)
    return _moved(fresh(array_of(data, dtype)), where or CPU)


@op(method=False)
def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None) -> Tensor:  # fmt: skip
    """The data as a tensor: shared unless `copy=True`; `copy=False` raises where sharing is impossible.

    `requires_grad` True or False sets or drops it; None leaves a tensor's as it is.

    Source: `torch.asarray`.
    """
    where = None if device is None else as_device(device)
    if isinstance(obj, (Tensor, np.ndarray)):
        source = obj if isinstance(obj, Tensor) else from_numpy(obj)
        out = converted(source, dtype, where)
        if copy is False and out is not source:
            if where is not None and where is not source._device:
                raise ValueError(f"can't alias tensor from device '{source._device}' to '{where}'.")
            names = source.dtype.scalar_name, dtype.scalar_name
            raise ValueError("can't alias tensor with dtype '{}' into dtype '{}'.".format(*names))
        if copy and out is source:
            out = out.clone() if isinstance(obj, Tensor) else fresh(np.array(obj))
        if requires_grad is False and out.requires_grad:
            return out.detach()
        return out.requires_grad_() if requires_grad and out.grad_fn is None else out
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    return _finish(_moved(fresh(array_of(obj, dtype)), where or CPU), bool(requires_grad))


@op(method=False)
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor over a NumPy array's own memory, with a new version counter.

    TypeError for dtypes torch lacks, ValueError for negative strides. Source: `torch.from_numpy`.
    """
    a = ndarray
    if not isinstance(a, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(a).__name__})")
    dtypes.from_numpy_dtype(a.dtype)
    if any(s < 0 for s in a.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    if any(s % a.itemsize for s in a.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )
    if not a.flags.writeable:
        warn_in_torch(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program.",
            "torch/csrc/utils/tensor_numpy.cpp:213",
            once=True,
        )
    t = fresh(a if type(a) is np.ndarray else a.view(np.ndarray))
    n = a.itemsize
    reach = 0 if a.size == 0 else 1 + sum(s // n * (k - 1) for s, k in zip(a.strides, a.shape, strict=True))
    flat = np.lib.stride_tricks.as_strided(a, (reach,), (n,), writeable=a.flags.writeable)
    t._storage = UntypedStorage(flat, resizable=False)
    return t


_OPTION_NAMES = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "int16": "short int",
                 "int8": "signed char", "uint8": "unsigned char", "bool": "bool", "float16": "c10::Half"}  # fmt: skip


def _tensor_options(d: dtypes.dtype) -> str:
    return (
        f"TensorOptions(dtype={_OPTION_NAMES.get(d.name, d.name)}, device=cpu, layout=Strided, requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def legacy_constructor(cls: type, *args: Any, d: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """`torch.Tensor(...)`: sizes give an uninitialised tensor, a sequence gives its copy, a tensor an alias."""
    d = d or dtypes.get_default_dtype()
    if not args:
        made = fresh(np.empty(0, d.np))
    elif len(args) == 1 and isinstance(args[0], Tensor):
        if args[0].dtype is not d:
            raise TypeError(f"expected {_tensor_options(d)} (got {_tensor_options(args[0].dtype)}")
        from .views import _AliasBackward0, as_view

        s = args[0]
        made = as_view(s, s._data.shape, s._data.strides, s._offset, _AliasBackward0)
    elif len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)) and not (isinstance(args[0], tuple) and type(args[0]) is not tuple):  # fmt: skip
        made = fresh(array_of(args[0], d))
    else:
        for a in args:
            if isinstance(a, float) or isinstance(a, str):
                raise TypeError(f"new(): data must be a sequence (got {type(a).__name__})")
        made = fresh(np.zeros(shape_argument(args), d.np))
    if cls is not Tensor and isinstance(cls, type) and issubclass(cls, Tensor):
        made.__class__ = cls
    return made


# from shapes ---------------------------------------------------------------------------------------------------------------


def _sized(size: tuple, function: str) -> tuple[int, ...]:
    whole = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    for n in whole:
        if isinstance(n, float) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type(n if whole is size else whole).__name__}"
            )
    shape = shape_argument(size, function)
    if any(n < 0 for n in shape):
        if function == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def _options(size: tuple, kw: dict) -> tuple:
    """Size given by keyword, as torch allows."""
    return (kw.pop("size"),) if "size" in kw and not size else size


def filled(shape: tuple, value: Any, d: dtypes.dtype, where: device, requires_grad: bool = False) -> Tensor:
    """A fresh tensor of one value."""
    if value is None or value == 0:
        data = np.zeros(shape, d.np)
    else:
        dtypes.check_range(value, d, in_c=True)
        data = np.empty(shape, d.np)
        quiet.run(data.fill, as_array(value, d))
    t = fresh(data)
    t._device = where
    return _finish(t, requires_grad)


def _shaped(name: str, value: Any, what: str) -> Callable:
    def function(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
                 requires_grad: bool = False, pin_memory: bool = False, **kw: Any) -> Tensor:  # fmt: skip
        kw.pop("names", None), kw.pop("memory_format", None)
        shape = _sized(_options(size, kw), name)
        if kw:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")
        if out is not None:
            out.resize_(shape)
            return out.fill_(value or 0)
        return filled(shape, value, dtypes.as_dtype(dtype, name) or dtypes.get_default_dtype(), as_device(device), requires_grad)

    def like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
             memory_format: Any = preserve_format, pin_memory: bool = False) -> Tensor:  # fmt: skip
        d = dtypes.as_dtype(dtype, f"{name}_like") or input.dtype
        n = input._data.itemsize
        if memory_format is contiguous_format:
            strides = contiguous_strides(input._data.shape, d.itemsize)
        else:
            strides = tuple(s // n * d.itemsize for s in dense_strides(input))
        t = empty_strided(input._data.shape, strides, d.np, input._device if device is None else as_device(device))
        t._data[...] = value or 0
        return _finish(t, requires_grad)

    def new(self: Tensor, *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
            pin_memory: bool = False, **kw: Any) -> Tensor:  # fmt: skip
        where = self._device if device is None else as_device(device)
        return filled(_sized(_options(size, kw), name), value, dtypes.as_dtype(dtype, name) or self.dtype, where, requires_grad)

    for f, n, text in ((function, name, ""), (like, f"{name}_like", " Shape, dtype, device and layout of another tensor."),
                       (new, f"new_{name}", " dtype and device of this tensor.")):  # fmt: skip
        f.__name__ = f.__qualname__ = n
        f.__doc__ = f"{what}{text}\n\nSource: `torch.{n if f is not new else 'Tensor.' + n}`."
    op(name, method=False)(function)
    op(f"{name}_like", method=False)(like)
    op(f"new_{name}", function=False)(new)
    return function


zeros = _shaped("zeros", 0, "A tensor of zeros.")
ones = _shaped("ones", 1, "A tensor of ones.")
empty = _shaped("empty", None, "A tensor whose values mean nothing (zeros here).")


@op(method=False)
def full(size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """A tensor of one value; its dtype is the value's unless given.

    Source: `torch.full`.
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    return filled(_sized((size,), "full"), fill_value, dtypes.as_dtype(dtype, "full") or dtypes.of_number(fill_value), as_device(device), requires_grad)


@op(method=False)
def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = preserve_format) -> Tensor:  # fmt: skip
    """A tensor of one value, with another's shape, dtype, device and layout.

    Source: `torch.full_like`.
    """
    from .core import FUNCTIONS

    t = FUNCTIONS["empty_like"](input, dtype=dtype, device=device, memory_format=memory_format)
    quiet.run(t._data.fill, fill_value.item() if isinstance(fill_value, Tensor) else fill_value)
    return _finish(t, requires_grad)


@op(function=False)
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A tensor of one value with this tensor's dtype and device.

    Source: `torch.Tensor.new_full`.
    """
    where = self._device if device is None else as_device(device)
    return filled(_sized((size,), "new_full"), fill_value, dtype or self.dtype, where, requires_grad)


@op("empty_strided", method=False)
def empty_strided_(size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A tensor with these strides (in elements) and memory of its own.

    Source: `torch.empty_strided`.
    """
    d = dtype or dtypes.get_default_dtype()
    shape, steps = shape_argument((size,)), shape_argument((stride,))
    t = empty_strided(shape, tuple(s * d.itemsize for s in steps), d.np, as_device(device))
    return _finish(t, requires_grad)


@op(function=False)
def new_empty_strided(self: Tensor, size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A tensor with these strides (in elements), with this tensor's dtype and device.

    Source: `torch.Tensor.new_empty_strided`.
    """
    where = self._device if device is None else device
    return empty_strided_(size, stride, dtype=dtype or self.dtype, device=where, requires_grad=requires_grad)


@op(method=False)
def arange(start: Any, end: Any = None, step: Any = 1, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Numbers from start (0) up to, not including, end; int64 if all are ints, else the default dtype.

    Source: `torch.arange`.
    """
    if end is None:
        start, end = 0, start
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(x, (int, np.integer)) for x in (start, end, step))
    d = dtypes.as_dtype(dtype, "arange") or (dtypes.int64 if whole else dtypes.get_default_dtype())
    n = int(np.ceil((end - start) / step)) if not whole else -(-(end - start) // step)
    if d.np.kind == "f":
        acc = np.float64
        data = (start + step * np.arange(n, dtype=acc)).astype(d.np)
    else:
        data = (int(start) + int(step) * np.arange(n, dtype=np.int64)).astype(d.np)
    if out is not None:
        out.resize_((n,))
        out._data[...] = data
        return out
    return _finish(_moved(fresh(data), as_device(device)), requires_grad)


def alias_view(t: Tensor) -> Tensor:
    """A plain view of a tensor."""
    return make_view(t._alias(), t)
