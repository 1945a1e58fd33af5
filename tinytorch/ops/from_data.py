"""Tensors from data: numbers and nested sequences, NumPy arrays, other tensors.

`tensor` always copies, `from_numpy` always shares, `as_tensor` and `asarray` share where that is
possible. For the old constructors, `torch.Tensor(...)` and `torch.FloatTensor(...)` and its kin,
sizes give a tensor of zeros, a sequence gives its copy, a tensor gives an alias of itself.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import (
    CPU,
    ShownAs,
    UntypedStorage,
    as_device,
    as_given_device,
    byte_extent,
    check_memory,
    cpp_name,
    device,
    dtypes,
    make_absence_error,
    type_name,
    warn_in_torch,
    warn_user,
)
from ..graph import materialize_meta, needs_grad, run_silenced
from ..tensor import Size, Tensor, device_of, make_tensor, make_tensor_over
from .copies import alias, clone, convert_tensor, copy_array, count_copy_of_inference, detach
from .define import offer_member, op
from .kernels import composite
from .schema import Schema, Signature, is_number, mismatch

# reading data -------------------------------------------------------------------------------------

_SLOW_WARNING = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
    "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
    "tensor."
)
# PyTorch's limit for data: 129 nested lists raise there, too.
_MOST_DIMENSIONS = 128
_NUMBER_TYPES = {int, float, bool}


def is_sequence(x: Any) -> bool:
    """Return True if data of this kind is read element by element."""
    if isinstance(x, (list, tuple)):
        return True
    if isinstance(x, (str, bytes, dict, set, Tensor)):
        return False
    return hasattr(x, "__len__") and hasattr(x, "__getitem__")


def _shape_of_data(data: Any) -> tuple[int, ...]:
    """Return the shape of nested sequences, by the first elements. ValueError if it is too deep."""
    shape = []
    while is_sequence(data):
        shape.append(len(data))
        # Also for a list that is its own first element, which has no last dimension.
        if len(shape) > _MOST_DIMENSIONS:
            raise ValueError(f"too many dimensions '{type_name(data)}'")
        if not len(data):
            break
        data = data[0]
    if shape and isinstance(data, str) and data:
        raise ValueError(f"too many dimensions '{type_name(data)}'")
    return tuple(shape)


def _flatten_data(data: Any, shape: tuple[int, ...], level: int, into: list) -> None:
    """Append all elements of nested sequences to `into`. ValueError for rows of unequal length."""
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
            warn_in_torch(_SLOW_WARNING, "torch/csrc/utils/tensor_new.cpp:252", once=True)
        _flatten_data(item, shape, level + 1, into)


def _infer_dtype(values: Sequence) -> dtypes.dtype:
    """Return the dtype that the elements of nested sequences meet in."""
    found: dtypes.dtype | None = None
    for v in values:
        if isinstance(v, Tensor):
            d = v.dtype
        elif isinstance(v, (np.generic, np.ndarray)):
            d = dtypes.from_numpy_dtype(v.dtype)
        elif isinstance(v, (int, float)):
            d = dtypes.dtype_of_number(v)
        elif isinstance(v, (list, tuple)):
            d = _infer_dtype(v)
        elif dtypes.is_complex_number(v):
            raise make_absence_error("a complex number")
        elif isinstance(v, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type_name(v)}'")
        else:
            raise RuntimeError(f"Could not infer dtype of {type_name(v)}")
        found = d if found is None else dtypes.promote_types(found, d)
    return found or dtypes.get_default_dtype()


def _number_of(v: Any, d: dtypes.dtype) -> Any:
    """Return a value as a Python number of the dtype's category."""
    if d.np.kind in "iu" and isinstance(v, (Tensor, list, tuple)):
        return operator.index(v)
    if isinstance(v, Tensor):
        return float(v) if v.is_floating_point() else int(v)
    return v.item() if isinstance(v, (np.generic, np.ndarray)) else v


def _read_data(data: Any, d: dtypes.dtype | None) -> tuple[tuple[int, ...], Any, dtypes.dtype]:
    """Return the shape of data, its elements in one row, and the dtype: `d`, else theirs."""
    # What most data is; the walk below would ask each element for its kind.
    if type(data) in _NUMBER_TYPES:
        shape, values = (), [data]
    elif type(data) is list and {*map(type, data)} <= _NUMBER_TYPES:
        shape, values = (len(data),), data
    else:
        shape, values = _shape_of_data(data), []
        if isinstance(data, (str, bytes)) or not (
            shape or is_number(data) or isinstance(data, Tensor)
        ):
            _infer_dtype([data])
        _flatten_data(data, shape, 0, values)
    number_types = {*map(type, values)}
    if number_types <= _NUMBER_TYPES:
        own = dtypes.int64 if int in number_types else dtypes.bool_
        return (
            shape,
            values,
            d or (dtypes.get_default_dtype() if float in number_types or not number_types else own),
        )
    found = d or _infer_dtype(values)
    values = [_number_of(v, found) for v in values]
    for v in values:
        if not isinstance(v, (int, float)):
            raise TypeError(f"must be real number, not {type_name(v)}")
    return shape, values, found


def array_from_data(data: Any, d: dtypes.dtype | None) -> np.ndarray:
    """Return data as a new array, with PyTorch's inference of the dtype and its errors."""
    if isinstance(data, (np.ndarray, np.generic)):
        a = np.asarray(data)
        found = _check_array(a)
        return run_silenced(copy_array, a, None, (d or found).np)
    shape, values, found = _read_data(data, d)
    if found.np.kind in "iu":
        for v in values:
            if isinstance(v, int) and not -(1 << 63) <= v < 1 << 63:
                raise ValueError("Overflow when unpacking long long")
            dtypes.check_range(v, found)
        values = [int(v) for v in values]
        # PyTorch makes 255 of -1 in uint8, where NumPy raises.
        if not found.is_signed and any(v < 0 for v in values):
            return np.array(values, np.int64).astype(found.np).reshape(shape)
    array = run_silenced(np.array, values, found.np)
    return array.reshape(shape) if array.size else np.empty(shape, found.np)


def _check_array(a: np.ndarray) -> dtypes.dtype:
    """Return the dtype of an array. TypeError and ValueError for arrays that PyTorch refuses."""
    if not a.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    found = dtypes.from_numpy_dtype(a.dtype)
    # Along a dimension of size 1, or of an empty array, any stride would do, and PyTorch refuses it.
    if a.flags.c_contiguous and a.size and 1 not in a.shape:
        return found
    if any(s % a.itemsize for s in a.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory."
        )
    if any(s < 0 for s in a.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with "
            "negative strides are not currently supported. (You can probably work around this "
            "by making a copy of your array  with array.copy().) "
        )
    return found


def check_size(shape: tuple[int, ...], itemsize: int = 0) -> None:
    """Raise torch's RuntimeError for a shape with a negative size, or one that no memory holds."""
    for n in shape:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            )
    check_memory(shape, itemsize)


def make_leaf(a: np.ndarray, where: device, requires_grad: bool | None = False) -> Tensor:
    """Return a leaf over an array that no other tensor has, as users get it of data and numbers."""
    # an empty one may have been given strides
    t = make_tensor_over(a, where) if a.size or a.base is not None else make_tensor(a, where)
    if requires_grad:
        if a.dtype.kind != "f":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        materialize_meta(t).requires_grad = True
    return t


# copies -------------------------------------------------------------------------------------------

_COPY_CONSTRUCT_WARNING = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def _copy_data(
    call: str, data: Any, d: dtypes.dtype | None, where: device | None, requires_grad: bool
) -> Tensor:
    """Make a leaf with a copy of the data. None for a dtype or device stands for the data's own."""
    if isinstance(data, Tensor):
        warn_user(_COPY_CONSTRUCT_WARNING.format(call))
        a = run_silenced(copy_array, data._data, None, d and d.np)
        return count_copy_of_inference(make_leaf(a, where or device_of(data), requires_grad), data)
    return make_leaf(array_from_data(data, d), where or as_device(None), requires_grad)


def _tensor(data: Any, dtype: Any, device: Any, pin_memory: bool, requires_grad: bool) -> Tensor:
    """Make `torch.tensor(data)`: always a copy."""
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory "
            "allocator is available on this system."
        )
    return _copy_data("torch.tensor", data, dtype, as_given_device(device), requires_grad)


tensor = op(
    "tensor(PyObject data, *, ScalarType? dtype=None, Device? device=None, bool "
    "pin_memory=False, bool requires_grad=False)",
    composite(_tensor),
    method=False,
)


def _new_tensor(self: Tensor, data: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """Make `self.new_tensor(data)`: a copy, of the dtype and on the device of `self`."""
    if data is None:
        raise TypeError("must be real number, not NoneType")
    where = as_given_device(device) or device_of(self)
    return _copy_data("tensor.new_tensor", data, dtype or self.dtype, where, requires_grad)


new_tensor = op(
    "new_tensor(Tensor self, PyObject data, *, ScalarType? dtype=None, Device? device=None, "
    "bool requires_grad=False)",
    composite(_new_tensor),
    function=False,
)

# shared memory where that is possible -------------------------------------------------------------


def from_numpy(a: Any) -> Tensor:
    """Make a tensor over a NumPy array's own memory, with a new version counter.

    TypeError for dtypes torch lacks, ValueError for negative strides.
    """
    if not isinstance(a, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(a)})")
    _check_array(a)
    if not a.flags.writeable:
        warn_in_torch(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. "
            "You may want to copy the array to protect its data or make it writable before "
            "converting it to a tensor. This type of warning will be suppressed for the rest "
            "of this program.",
            "torch/csrc/utils/tensor_numpy.cpp:213",
            once=True,
        )
    return _make_tensor_sharing(a)


def _make_tensor_sharing(a: np.ndarray) -> Tensor:
    """Make a tensor over an array's own memory."""
    # A subclass brings rules of its own: each part of a matrix is a matrix.
    a = a[...] if type(a) is np.ndarray else a.view(np.ndarray)
    if a.size and a.flags.c_contiguous:
        # Over these elements alone: a view of a larger array would have that as its storage.
        flat = np.frombuffer(memoryview(a), a.dtype)
    else:
        room = byte_extent(a.shape, a.strides, a.itemsize) // a.itemsize
        flat = np.lib.stride_tricks.as_strided(
            a, (room,), (a.itemsize,), writeable=a.flags.writeable
        )
    t = make_leaf(np.ndarray(a.shape, a.dtype, flat, 0, a.strides), CPU)
    t._storage = UntypedStorage(flat, resizable=False)
    return t


op("from_numpy(PyObject ndarray)", composite(from_numpy), method=False)
# As PyTorch's `__array_wrap__` does, from the time before it had bools.
offer_member(
    "__array_wrap__",
    lambda self, a: from_numpy(a.astype(np.uint8) if a.dtype == bool else a),
    function=False,
)


def _as_tensor(data: Any, dtype: Any, device: Any) -> Tensor:
    where = as_given_device(device)
    if isinstance(data, (Tensor, np.ndarray)):
        return convert_tensor(data if isinstance(data, Tensor) else from_numpy(data), dtype, where)
    return make_leaf(array_from_data(data, dtype), where or as_device(None))


as_tensor = op(
    "as_tensor(PyObject data, *, ScalarType? dtype=None, Device? device=None)",
    composite(_as_tensor),
    method=False,
)


def _has_buffer(obj: Any) -> bool:
    """Return True for bytes and for what else lends its memory, but for NumPy's own kinds."""
    if isinstance(obj, (np.ndarray, np.generic)):
        return False
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _make_tensor_over_buffer(
    obj: Any, dtype: Any, requires_grad: bool | None, count: int = -1, offset: int = 0
) -> Tensor:
    """Make a tensor over the memory of a buffer, whatever it holds: its bytes are read as `dtype`.

    `count`: of elements; all for a negative number. `offset`: in bytes.
    """
    d, memory = dtype or dtypes.get_default_dtype(), memoryview(obj)
    if not memory.c_contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    _check_part_of_buffer(memory.nbytes, d.itemsize, count, offset)
    if memory.readonly:
        warn_in_torch(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. "
            "This means you can write to the underlying (supposedly non-writable) buffer using the "
            "tensor. You may want to copy the buffer to protect its data or make it writable before "
            "converting it to a tensor. This type of warning will be suppressed for the rest of "
            "this program.",
            "torch/csrc/utils/tensor_new.cpp:1556",
            once=True,
        )
    tensor = _make_tensor_sharing(np.frombuffer(memory, d.np, max(count, -1), offset))
    if requires_grad and not d.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return tensor


def _check_part_of_buffer(nbytes: int, itemsize: int, count: int, offset: int) -> None:
    """Raise PyTorch's ValueError for a part that a buffer of so many bytes does not have."""
    if not nbytes or not count:
        raise ValueError(f"both buffer length ({nbytes}) and count ({count}) must not be 0")
    if not 0 <= offset < nbytes:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({nbytes} bytes) minus 1"
        )
    left = nbytes - offset
    if count < 0 and left % itemsize:
        raise ValueError(
            f"buffer length ({left} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({itemsize})"
        )
    if count * itemsize > left:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) "
            f"must not be greater than actual buffer length ({nbytes} bytes)"
        )


def _frombuffer(buffer: Any, dtype: Any, count: int, offset: int, requires_grad: bool) -> Tensor:
    if not (_has_buffer(buffer) or isinstance(buffer, (np.ndarray, np.generic))):
        raise ValueError("object does not implement Python buffer protocol.")
    tensor = _make_tensor_over_buffer(buffer, dtype, requires_grad, count, offset)
    return tensor.requires_grad_() if requires_grad else tensor


op(
    "frombuffer(PyObject buffer, *, ScalarType dtype, int count=-1, int offset=0, "
    "bool requires_grad=False)",
    composite(_frombuffer),
    method=False,
)


_ASARRAY_WARNING = (
    "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. "
    "Pass requires_grad=False explicitly to get the old behavior and silence this warning."
)


def _asarray(
    obj: Any, dtype: Any, device: Any, copy: bool | None, requires_grad: bool | None
) -> Tensor:
    if requires_grad is None and isinstance(obj, Tensor) and obj.requires_grad:
        warn_in_torch(_ASARRAY_WARNING, "torch/csrc/utils/tensor_new.cpp:1737", once=True)
    where = as_given_device(device)
    has_buffer = _has_buffer(obj)
    shared = has_buffer or isinstance(obj, (Tensor, np.ndarray))
    if copy is False and not shared:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    if isinstance(obj, Tensor):
        source = obj
    elif has_buffer:
        source = _make_tensor_over_buffer(obj, dtype, requires_grad)
    elif shared:
        source = from_numpy(obj)
    else:
        source = _as_tensor(obj, dtype, device)
    if copy is False and where not in (None, device_of(source)):
        raise ValueError(f"can't alias tensor from device '{device_of(source)}' to '{where}'.")
    if copy is False and dtype not in (None, source.dtype):
        raise ValueError(
            f"can't alias tensor with dtype '{source.dtype.scalar_name}' into dtype "
            f"'{dtype.scalar_name}'."
        )
    out = convert_tensor(source, dtype, where)
    if copy and shared and out is source:
        out = clone(out)
    if requires_grad and not out.is_floating_point():
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    # As in torch, `requires_grad=False` is also set on `obj` itself, if that is what is returned.
    if requires_grad is False and needs_grad(out):
        return detach(out) if out.grad_fn is not None else out.requires_grad_(False)
    return out.requires_grad_() if requires_grad and out._edge is None else out


op(
    "asarray(PyObject obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, "
    "bool? requires_grad=None)",
    composite(_asarray),
    method=False,
)

# the old constructors -----------------------------------------------------------------------------

_LEGACY_SCHEMAS = (
    "new(*, Device? device=None)",
    "new(Storage storage)",
    "new(Tensor other)",
    "new(SymInt[] size, *, Device? device=None)",
    "new(PyObject data, *, Device? device=None)",
)


@functools.cache
def _parse_legacy_schemas() -> list[Signature]:
    """Return the old ways to make a tensor, as the parser tries them."""
    return [Signature(Schema(text), "new", False, False, False) for text in _LEGACY_SCHEMAS]


def legacy_constructor(cls: type, *args: Any, d: dtypes.dtype | None = None, **named: Any) -> Any:
    """Make a tensor as an old constructor does.

    `d` is the dtype of the class, None for `torch.Tensor` itself.

    TypeError for what no old constructor takes.
    """
    found = _parse_legacy_call(args, named)
    default = d or dtypes.get_default_dtype()
    if "other" in found:
        if d not in (None, found["other"].dtype):
            raise TypeError(
                f"expected {_write_options(d)} (got {_write_options(found['other'].dtype)})"
            )
        tensor = alias(found["other"])
    elif "data" in found:
        if not is_sequence(found["data"]) and not isinstance(found["data"], (str, bytes)):
            raise TypeError(f"new(): data must be a sequence (got {type_name(found['data'])})")
        tensor = make_leaf(array_from_data(found["data"], default), CPU)
    else:
        check_size(found.get("size", ()))
        tensor = make_leaf(np.zeros(found.get("size", 0), default.np), CPU)
        tensor = tensor.set_(found["storage"]) if "storage" in found else tensor
    if cls is not Tensor:
        tensor.__class__ = cls
    return tensor


def _write_options(d: dtypes.dtype) -> str:
    """Return the options of a tensor as PyTorch's C++ code prints them."""
    return (
        f"TensorOptions(dtype={cpp_name(d)}, device=cpu, layout=Strided, requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _parse_legacy_call(args: tuple, named: dict) -> dict[str, Any]:
    """Return the arguments by name, read in the first old way that fits."""
    for way in _parse_legacy_schemas():
        found = way.match(args, named)
        if isinstance(found, str):
            continue
        if args and found.get("size") is args[0] and not isinstance(args[0], Size):
            # only a Size alone gives sizes
            return {"data": args[0]}
        return {p.name: p.read(found[p.name], "new") for p in way.params if p.name in found}
    raise mismatch("new", _parse_legacy_schemas(), args, named)


class TensorType(ShownAs, type, metaclass=ShownAs):
    """The class of `torch.FloatTensor`: makes tensors of its dtype, which are its instances."""

    shown_as = "torch.tensortype"

    dtype: dtypes.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of the class's dtype."""
        return legacy_constructor(Tensor, *args, d=cls.dtype, **kwargs)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and device_of(obj) is CPU


for _d in dtypes.ALL:
    _doc = f"The old name of a `{_d!r}` tensor: a constructor, and a class for `isinstance`."
    _body = {
        "dtype": _d,
        "__module__": "torch",
        "__doc__": _doc,
        "shown_as": f"torch.{_d.tensor_type}",
    }
    offer_member(_d.tensor_type, TensorType(_d.tensor_type, (), _body), method=False)
