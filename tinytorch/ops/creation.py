"""Creation: tensors from data: numbers and sequences, NumPy arrays, buffers, other tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import dtypes
from ..devices import CPU, as_device, device
from ..naming import type_name
from ..settings import mark_unset
from ..sizes import Size
from ..storage import UntypedStorage
from ..tensor import Tensor, fresh
from ..warn import warn_in_torch, warn_user
from .arguments import is_number, parsed, unfit
from .copying import converted, copied
from .core import float_to_int, op, quiet
from .layouts import dense_strides, laid_out
from .shaped import _is_size, finish, moved, options, sized
from .views import _AliasBackward0, as_view

# from data -----------------------------------------------------------------------------------------------------------


_SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
    "numpy.ndarray with numpy.array() before converting to a tensor."
)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return True
    if isinstance(x, (str, bytes, dict, set, Tensor)):
        return False
    return hasattr(x, "__len__") and hasattr(x, "__getitem__")


_MOST_DIMENSIONS = 128


def _sequence_shape(data: Any) -> tuple[int, ...]:
    shape = []
    while _is_sequence(data):
        shape.append(len(data))
        if len(shape) > _MOST_DIMENSIONS:  # or a list that is its own first element
            raise ValueError(f"too many dimensions '{type_name(data)}'")
        if not len(data):
            break
        data = data[0]
    if shape and isinstance(data, str) and data:
        raise ValueError(f"too many dimensions '{type_name(data)}'")
    return tuple(shape)


def _flatten(data: Any, shape: tuple[int, ...], level: int, into: list) -> None:
    if level == len(shape):
        into.append(data)
        return
    if shape[level] == 0:
        return
    try:
        n = len(data)
    except TypeError:
        raise TypeError("not a sequence") from None
    if n != shape[level]:
        raise ValueError(f"expected sequence of length {shape[level]} at dim {level} (got {n})")
    for item in data:
        if isinstance(item, np.ndarray):
            warn_in_torch(_SLOW, "torch/csrc/utils/tensor_new.cpp:252", once=True)
        _flatten(item, shape, level + 1, into)


def _dtype_of(values: list) -> dtypes.dtype:
    found: dtypes.dtype | None = None
    for v in values:
        if isinstance(v, Tensor):
            d = v.dtype
        elif isinstance(v, (np.generic, np.ndarray)):
            d = dtypes.from_numpy_dtype(v.dtype)
        elif isinstance(v, (list, tuple)):
            if any(x is v for x in v):
                raise TypeError("new(): self-referential lists are incompatible")
            d = _dtype_of(v)
        elif isinstance(v, bool):
            d = dtypes.bool_
        elif isinstance(v, int):
            d = dtypes.int64
        elif isinstance(v, float):
            d = dtypes.get_default_dtype()
        elif isinstance(v, complex):
            raise NotImplementedError("tinytorch has no complex dtypes")
        elif isinstance(v, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type_name(v)}'")
        else:
            raise RuntimeError(f"Could not infer dtype of {type_name(v)}")
        found = d if found is None else dtypes.promote_types(found, d)
    return found or dtypes.get_default_dtype()


def array_of(data: Any, d: dtypes.dtype | None) -> np.ndarray:
    """Nested sequences of numbers as a new array, with torch's inference of dtype and torch's errors."""
    if isinstance(data, (np.ndarray, np.generic)):
        return _array_of_array(np.asarray(data), d)
    shape = _sequence_shape(data)
    if isinstance(data, (str, bytes)) or not (shape or is_number(data) or isinstance(data, Tensor)):
        _dtype_of([data])
    values: list = []
    _flatten(data, shape, 0, values)
    found = d or _dtype_of(values)
    plain = [_plain(v, found) for v in values]
    for v in plain:
        if not isinstance(v, (int, float)):
            raise TypeError(f"must be real number, not {type_name(v)}")
    if found.np.kind in "iu":
        for v in plain:
            if isinstance(v, int) and not -(1 << 63) <= v < 1 << 63 and found is not dtypes.uint64:
                raise ValueError("Overflow when unpacking long long")
            dtypes.check_range(v, found)
        plain = [int(v) for v in plain]
        if not found.is_signed and any(v < 0 for v in plain):
            return np.array(plain, np.int64).astype(found.np).reshape(shape)
    return quiet.run(np.array, plain, found.np).reshape(shape)


def _plain(v: Any, d: dtypes.dtype) -> Any:
    if d.np.kind in "iu" and isinstance(v, (Tensor, list, tuple)):
        return operator.index(v)
    if isinstance(v, Tensor):
        return v._number(lambda x: x)
    if isinstance(v, np.ndarray) and v.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return v.item() if isinstance(v, (np.generic, np.ndarray)) else v


def _array_of_array(a: np.ndarray, d: dtypes.dtype | None) -> np.ndarray:
    _check_byte_order(a)
    found = dtypes.from_numpy_dtype(a.dtype)
    _check_strides(a)
    if not a.size:
        return np.ndarray(a.shape, (d or found).np, b"", 0, (0,) * a.ndim)
    return _cast(laid_out(np.array(a), tuple(s // a.itemsize for s in dense_strides(a))), d or found)


def _cast(a: np.ndarray, d: dtypes.dtype) -> np.ndarray:
    if a.dtype == d.np:
        return a
    if a.dtype.kind == "f" and d.np.kind in "iu":
        return float_to_int(a, d.np)
    return quiet.run(a.astype, d.np)


_CLEARER = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def _from_data(
    name: str, call: str, data: Any, d: dtypes.dtype | None, where: device | None, requires_grad: bool
) -> Tensor:
    """A leaf with a copy of the data; None for a dtype or device stands for the data's own."""
    if isinstance(data, Tensor):
        warn_user(_CLEARER.format(call))
        return finish(copied(data, None if d is None else d.np, where), requires_grad)
    if isinstance(data, UntypedStorage):  # its bytes, read as numbers of the dtype asked for
        data = np.frombuffer(data.buffer, (d or dtypes.int64).np, data.nbytes() // (d or dtypes.int64).itemsize)
    if type(data) is np.ndarray and data.ndim > 1:
        _check_byte_order(data)
        kind = d or dtypes.from_numpy_dtype(data.dtype)
        _check_strides(data)
        there = fresh(data)
        there._data = data  # an empty array too keeps its strides
        return finish(moved(copied(there, kind.np), where or as_device(None)), requires_grad)
    return finish(moved(fresh(array_of(data, d)), where or as_device(None)), requires_grad)


@op(method=False)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A leaf with a copy of the data (numbers, nested sequences, an array, a tensor).

    A tensor as data warns that `detach().clone()` says it more clearly. Source: `torch.tensor`.
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}")
    if pin_memory:
        options("tensor", {"pin_memory": True})
    where = None if device is None else as_device(device)
    return _from_data("tensor", "torch.tensor", data, dtypes.as_dtype(dtype, "tensor"), where, requires_grad)


@op(function=False)
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf with a copy of the data, with this tensor's device and (for a sequence, its) dtype unless others are given.

    Source: `torch.Tensor.new_tensor`.
    """
    if data is None:
        raise TypeError("must be real number, not NoneType")
    where = self._device if device is None else as_device(device)
    d = dtypes.as_dtype(dtype, "new_tensor") or self.dtype
    return _from_data("new_tensor", "tensor.new_tensor", data, d, where, requires_grad)


@op(method=False)
def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor without a copy where possible: a tensor itself, an array's memory shared.

    Source: `torch.as_tensor`.
    """
    dtype = dtypes.as_dtype(dtype, "tensor")
    where = None if device is None else as_device(device)
    if isinstance(data, Tensor):
        return converted(data, dtype, where)
    if isinstance(data, np.ndarray):
        return converted(from_numpy(data), dtype, where)
    return moved(fresh(array_of(data, dtype)), where or as_device(None))


def _writable(a: np.ndarray) -> np.ndarray:
    """The array, or a copy if it cannot be written to: of one that is copied anyway, nobody need be warned."""
    return a if a.flags.writeable else a.copy(order="K")


@op(method=False)
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """The data as a tensor: shared unless `copy=True`; `copy=False` raises where sharing is impossible.

    `requires_grad` True or False sets or drops it; None leaves a tensor's as it is.

    Source: `torch.asarray`.
    """
    where = None if device is None else as_device(device)
    if isinstance(obj, (Tensor, np.ndarray)):
        source = obj if isinstance(obj, Tensor) else from_numpy(_writable(obj) if copy else obj)
        if requires_grad is None and source.requires_grad:
            warn_in_torch(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                "requires_grad=False explicitly to get the old behavior and silence this warning.",
                "torch/csrc/utils/tensor_new.cpp:1737",
                once=True,
            )
        if copy is False:
            if where is not None and where is not source._device:
                raise ValueError(f"can't alias tensor from device '{source._device}' to '{where}'.")
            if dtype is not None and dtype is not source.dtype:
                names = source.dtype.scalar_name, dtype.scalar_name
                raise ValueError("can't alias tensor with dtype '{}' into dtype '{}'.".format(*names))
        out = converted(source, dtype, where)
        if copy and out is source:
            out = out.clone() if isinstance(obj, Tensor) else fresh(np.array(obj))
        if requires_grad is False and out.requires_grad:
            return (
                out.detach() if out.grad_fn is not None else out.requires_grad_(False)
            )  # so for `obj` itself, as in torch
        wanted = source.requires_grad if requires_grad is None else requires_grad
        return out.requires_grad_() if wanted and out._fn is None else out
    if isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
    elif _is_buffer(obj):
        out = _over_buffer(obj, dtype or dtypes.get_default_dtype(), -1, 0, 1556)
        return finish(moved(out.clone() if copy else out, where or as_device(None)), bool(requires_grad))
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    return finish(moved(fresh(array_of(obj, dtype)), where or as_device(None)), bool(requires_grad))


def _is_buffer(obj: Any) -> bool:
    try:
        return memoryview(obj) is not None
    except TypeError:
        return False


def _check_byte_order(a: np.ndarray) -> None:
    if not a.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )


def _check_strides(a: np.ndarray) -> None:
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


@op(method=False)
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor over a NumPy array's own memory, with a new version counter.

    TypeError for dtypes torch lacks, ValueError for negative strides. Source: `torch.from_numpy`.
    """
    a = ndarray
    if not isinstance(a, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(a)})")
    _check_byte_order(a)
    dtypes.from_numpy_dtype(a.dtype)
    _check_strides(a)
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
    t._data = a[...] if type(a) is np.ndarray else a.view(np.ndarray)  # an empty array too keeps its strides
    n = a.itemsize
    reach = 0 if a.size == 0 else 1 + sum(s // n * (k - 1) for s, k in zip(a.strides, a.shape, strict=True))
    flat = np.lib.stride_tricks.as_strided(a, (reach,), (n,), writeable=a.flags.writeable)
    t._storage = UntypedStorage(flat, resizable=False)
    return t


_OPTION_NAMES = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "int16": "short int",
                 "int8": "signed char", "uint8": "unsigned char", "bool": "bool", "float16": "c10::Half"}  # fmt: skip


def _tensor_options(d: dtypes.dtype) -> str:
    return (
        f"TensorOptions(dtype={_OPTION_NAMES.get(d.called, d.called)}, device=cpu, layout=Strided, requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def legacy_constructor(cls: type, *args: Any, d: dtypes.dtype | None = None, **kwargs: Any) -> Tensor:
    """`torch.Tensor(...)`: sizes give an uninitialised tensor, a sequence gives its copy, a tensor an alias.

    TypeError for what no old constructor takes, RuntimeError for another device than the class's.
    """
    any_dtype, d = d is None, d or dtypes.get_default_dtype()
    if kwargs:
        args = _by_position(CPU if issubclass(cls, Tensor) else cls.device, args, kwargs)  # type: ignore[attr-defined]
    first = args[0] if args else None
    if not args:
        made = fresh(np.empty(0, d.np))
    elif len(args) == 1 and isinstance(first, Tensor):
        if not any_dtype and first.dtype is not d:
            raise TypeError(f"expected {_tensor_options(d)} (got {_tensor_options(first.dtype)})")
        made = as_view(first, first._data.shape, first._data.strides, first._offset, _AliasBackward0)
    elif len(args) == 1 and hasattr(first, "untyped"):
        kind = getattr(first, "dtype", d)
        if kind is not d:
            raise RuntimeError(
                f"Expected a Storage of type {d.scalar_name} or an UntypedStorage, but got type {kind.scalar_name} for "
                "argument 1 'storage'"
            )
        made = fresh(first.untyped().buffer[:0].view(d.np)).set_(first)
    elif len(args) == 1 and not _is_size(first) and not isinstance(first, Size):
        if not _is_sequence(first) and not isinstance(first, (str, bytes)):
            raise TypeError(f"new(): data must be a sequence (got {type_name(first)})")
        made = fresh(array_of(first, d))
    else:
        if not all(map(_is_size, first if isinstance(first, tuple) else args)):
            parsed("Tensor.new", args, {})
            raise unfit("new")
        made = fresh(np.zeros(sized(args, "new"), d.np))
        mark_unset(made._data)
    if cls is not Tensor and isinstance(cls, type) and issubclass(cls, Tensor):
        made.__class__ = cls
    return made


def _by_position(own: device, args: tuple, kwargs: dict) -> tuple:
    """An old constructor's arguments, of which some were given by name, without the device, which must be `own`."""
    by_position, by_name = parsed("Tensor.new", args, kwargs)  # type: ignore[misc]
    where = by_name.pop("device", None)
    if where is not None and by_position and isinstance(by_position[0], Tensor):
        raise RuntimeError(
            "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
            "torch.tensor(...) or torch.as_tensor(...) instead."
        )
    if where is not None and as_device(where).type != own.type:
        raise RuntimeError(
            f"legacy constructor expects device type: {own.type} but device type: {as_device(where).type} was passed"
        )
    if "size" in kwargs:
        return (Size(kwargs["size"]),)
    return (*by_position, *by_name.values())


@op(function=False)
def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The old constructor: a tensor of this one's dtype from sizes or data.

    Source: `torch.Tensor.new`.
    """
    if kwargs:
        args = _by_position(self._device, args, kwargs)
    elif not (len(args) == 1 and isinstance(args[0], (list, tuple))):
        parsed("Tensor.new", args, {})
    return legacy_constructor(Tensor, *args, d=self.dtype)


_READ_ONLY = (
    "The given {0} is not writable, and PyTorch does not support non-writable tensors. This means you can write to the "
    "underlying (supposedly non-writable) {0} using the tensor. You may want to copy the {0} to protect its data or make "
    "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program."
)


@op(method=False)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor over the memory of a Python object that offers the buffer protocol.

    ValueError if the buffer is too small. Source: `torch.frombuffer`.
    """
    return finish(_over_buffer(buffer, dtype, count, offset, 1586), requires_grad)


def _over_buffer(buffer: Any, dtype: dtypes.dtype, count: int, offset: int, line: int) -> Tensor:
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if memory.readonly:
        warn_in_torch(_READ_ONLY.format("buffer"), f"torch/csrc/utils/tensor_new.cpp:{line}", once=True)
    size, n, d = memory.nbytes, dtype.itemsize, dtype
    if size == 0 or count == 0:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % n:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({n})"
        )
    if count > 0 and count * n > size - offset:
        raise ValueError(
            f"requested buffer length ({count} * {n} bytes) after offset ({offset} bytes) must not be greater than actual "
            f"buffer length ({size} bytes)"
        )
    flat = np.frombuffer(buffer, d.np, count, offset)
    t = fresh(flat)
    t._storage = UntypedStorage(flat, resizable=False)
    return t


Tensor._from_arguments = staticmethod(legacy_constructor)  # type: ignore[attr-defined]
