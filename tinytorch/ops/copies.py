"""Copying and converting: what shares memory, what is a copy, and what is recorded of it.

`clone` copies and is recorded, `detach` shares and forgets where values came from, `copy_` writes
into memory that is there already. `to` and its kin give the very tensor where there is nothing to
change. Then the ways out: NumPy, Python's `copy` and `pickle`.
"""

from __future__ import annotations

import copy as _copy
import re
from typing import Any

import numpy as np

from ..base import (
    CPU,
    NamedByTorch,
    UntypedStorage,
    as_device,
    as_given_device,
    check_broadcast_into,
    check_overlap,
    contiguous_strides,
    convert_values,
    dense_strides,
    device,
    dtypes,
    empty_like_strides,
    make_absence_error,
    store_values,
    type_name,
)
from ..graph import (
    MODES,
    Node,
    VersionCounter,
    check_inplace,
    count_write,
    gradient_edge,
    needs_grad,
    no_grad,
    note_formula_write,
    rebase_history,
    run_silenced,
    warn_of_hooks,
)
from ..tensor import Tensor, as_array_of_torch, device_of, make_tensor, make_tensor_over
from .define import offer_member, op
from .kernels import Kernel, composite, view
from .schema import read_operand

# Tensor.type takes the name below
_type = type


class MemoryFormat(NamedByTorch):
    """How a copy is laid out."""

    shown_as = "torch.memory_format"

    name: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


def _make_memory_format(name: str) -> MemoryFormat:
    made = object.__new__(MemoryFormat)
    made.name = name
    return made


contiguous_format = _make_memory_format("contiguous_format")
preserve_format = _make_memory_format("preserve_format")


def strides_of_copy(a: np.ndarray, memory_format: Any, itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of a copy of `a`.

    They are those of `a` if it is dense, row-major if that is asked for.
    """
    if memory_format is contiguous_format:
        return contiguous_strides(a.shape, itemsize)
    return dense_strides(a, itemsize)


def copy_array(
    a: np.ndarray, memory_format: Any = None, dtype: np.dtype | None = None
) -> np.ndarray:
    """Copy an array, to another dtype if one is given."""
    strides = a.strides
    if len(strides) == 1:
        # NumPy would change the step of a single element, which torch keeps
        plain = a.size and strides[0] == a.itemsize
    else:
        plain = not strides or (a.size and a.flags.c_contiguous and 1 not in a.shape)
    # A bool's byte may be any, where other memory is read as bools; the copy below makes it 0 or 1.
    if plain and a.dtype.kind != "b":
        return a.copy() if dtype is None or dtype == a.dtype else convert_values(a, dtype)
    if dtype is None:
        dtype = a.dtype
    out = empty_like_strides(a.shape, dtype, strides_of_copy(a, memory_format, dtype.itemsize))
    store_values(out, a)
    return out


def count_copy_of_inference(copy: Tensor, source: Tensor) -> Tensor:
    """Set the version of a copy, and return it.

    PyTorch counts a write to the copy of an inference tensor that is made outside of inference
    mode.
    """
    if source._counter.is_inference and not MODES.thread.inference:
        copy._counter = VersionCounter(1)
    return copy


# copies, and other tensors over the same memory ---------------------------------------------------

clone = op(
    "clone(Tensor self, *, MemoryFormat? memory_format=None)",
    Kernel(copy_array, is_copy=True),
    out=False,
    self=lambda grad: grad,
)
detach = op("detach(Tensor(a) self)", composite(Tensor.detach), method=False)
op("detach_(Tensor(a!) self)", composite(Tensor.detach_), method=False)
alias = op(
    "alias(Tensor(a) self)",
    view(lambda a: a[...]),
    function=False,
    method=False,
    self=lambda grad: grad,
)


def _as_instance(self: Tensor, cls: Any) -> Tensor:
    """Return a view of all, as an instance of a subclass. TypeError for what is none."""
    if not isinstance(cls, _type):
        raise TypeError(f"cls must be a type (got {type_name(cls)})")
    if not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    out = alias(self)
    out.__class__ = cls
    return out


op("as_subclass(Tensor(a) self, PyObject cls)", composite(_as_instance), function=False)


def _make_contiguous(self: Tensor, memory_format: Any) -> Any:
    """Return the tensor itself where its elements lie row by row, else a copy."""
    if self._data.flags.c_contiguous:
        return self
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return clone(self, contiguous_format)


op(
    "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format)",
    composite(_make_contiguous),
    function=False,
)


class CopyBackwards(Node):
    """The backward of `copy_`: zeros for the overwritten values, the gradient for the source."""

    __slots__ = ("_source",)  # dtype and device of the tensor that was copied
    # torch prints <class 'CopyBackwards'>
    __module__ = "builtins"
    _name = "torch::autograd::CopyBackwards"

    def _apply(self, grads: list, on_arrays: bool) -> list:
        """Zeros for the target as it was, the gradient in the source's dtype and on its device."""
        grad, found = grads[0], [None, None]
        if grad is None:
            return found
        if self._edges[0] is not None:
            found[0] = np.zeros(grad.shape, grad.dtype) if on_arrays else grad.new_zeros(grad.shape)
        if self._edges[1] is not None:
            found[1] = convert_in_formula(grad, *self._source)
        return found


def _array_of_number(x: Any, target: np.dtype) -> np.ndarray:
    """Return the 0-d array that PyTorch makes of a number which is copied into this dtype."""
    number = read_operand(x)
    if type(number) is int and number >= 1 << 63:
        # PyTorch's is of uint64, a dtype that is absent here; into integers it wraps.
        return np.asarray(number, np.float64 if target.kind == "f" else np.uint64)
    return np.asarray(number, dtypes.dtype_of_number(number).np)


def _copy_into(self: Any, src: Any, non_blocking: bool = False) -> Any:
    if type(self) is np.ndarray:
        check_overlap(self, src)
        store_values(self, src)
        note_formula_write(self)
        return self
    if not isinstance(src, Tensor):
        src = make_tensor(_array_of_number(src, self._data.dtype), device_of(self))
    a, b, node = self._data, src._data, None
    # PyTorch records no copy into integers: `n.copy_(x)` leaves `n.grad_fn` None.
    if a.dtype.kind == "f" and MODES.thread.is_recording and (needs_grad(self) or needs_grad(src)):
        check_inplace(self)
        node = CopyBackwards((gradient_edge(self), gradient_edge(src)))
        node._source = (src.dtype, device_of(src))
        node._note_gradient_specs(self)
    # A copy onto itself is allowed and counted; one that overlaps in part raises.
    if not (src is self or _is_same_view(a, b)):
        check_overlap(a, b)
        if a.shape != b.shape:
            check_broadcast_into(a.shape, b.shape)
        # nothing is converted, which NumPy might say something about
        if a.dtype is b.dtype:
            store_values(a, b)
        else:
            run_silenced(store_values, a, b)
    count_write(self)
    if node is not None:
        rebase_history(self, node)
    return self


def _is_same_view(a: np.ndarray, b: np.ndarray) -> bool:
    """Return True if two arrays look at the same cells in the same order: no copy is needed."""
    return (
        # Asked first, since addresses take 3.6 us: two arrays that own their memory are at two
        # places.
        (a.base is not None or b.base is not None)
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype is b.dtype
        and a.__array_interface__["data"] == b.__array_interface__["data"]
    )


copy_ = op(
    "copy_(Tensor(a!) self, Tensor other, bool non_blocking=False)",
    composite(_copy_into),
    numbers=True,
    function=False,
)

# conversions: the tensor itself if there is nothing to convert, else a recorded copy


def convert_in_formula(x: Any, d: dtypes.dtype, where: device | None = None) -> Any:
    """Convert an array or a tensor in a formula, a gradient or not, to another dtype and device."""
    if type(x) is not np.ndarray:
        return convert_tensor(x, d, where)
    return x if x.dtype == d.np else copy_array(as_array_of_torch(x), None, d.np)


to_copy = op(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
    "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
    "memory_format=None)",
    Kernel(
        lambda a, dtype, _, device, pin, block, form: copy_array(a, form, dtype and dtype.np),
        is_copy=True,
    ),
    method=False,
    backward="ToCopyBackward0",
    readers={"_self_device": lambda values: device_of(values[0])},
    self=lambda grad, _self_dtype, _self_device: convert_in_formula(
        grad, _self_dtype, _self_device
    ),
)


def convert_tensor(
    self: Tensor, d: Any = None, where: Any = None, copy: bool = False, memory_format: Any = None
) -> Tensor:
    """Convert a tensor to a dtype, a device, a memory format.

    It is the tensor itself if there is nothing to convert and no copy is asked for.
    """
    a, own_device = self._data, device_of(self)
    if not copy and (d is None or d.np == a.dtype) and (where is None or where is own_device):
        return self
    out = make_tensor_over(
        run_silenced(copy_array, a, memory_format, None if d is None else d.np),
        own_device if where is None else where,
    )
    if (
        not self._counter.is_inference
        and MODES.thread.is_recording
        and out._data.dtype.kind == "f"
        and needs_grad(self)
    ):
        to_copy.end_recording(to_copy.make_node((self,)), out)
    return count_copy_of_inference(out, self)


def _dtype_and_device_of(other: Any) -> tuple[dtypes.dtype, device]:
    """Return the dtype and device of a tensor, or of a number in its place.

    ValueError in PyTorch's words for an int that is no number of a device, being too large.
    """
    if isinstance(other, Tensor):
        return other.dtype, device_of(other)
    if type(other) is int:
        raise ValueError("Overflow when unpacking long long")
    return (dtypes.bool_ if isinstance(other, bool) else dtypes.float64), CPU


_REST = "bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None"
op(
    f"to(Tensor(a) self, Device? device=None, ScalarType? dtype=None, {_REST})",
    composite(
        lambda self, where, d, non_blocking, copy, format: convert_tensor(
            self, d, as_given_device(where), copy, format
        )
    ),
    function=False,
)
op(
    f"to(Tensor(a) self, ScalarType dtype, {_REST})",
    composite(
        lambda self, d, non_blocking, copy, format: convert_tensor(self, d, None, copy, format)
    ),
    function=False,
)
op(
    f"to(Tensor(a) self, Tensor tensor, {_REST})",
    composite(
        lambda self, other, non_blocking, copy, format: convert_tensor(
            self, *_dtype_and_device_of(other), copy, format
        )
    ),
    function=False,
    numbers=True,
)

# By the name of the method that converts to it.
CONVERSIONS = {
    "float": dtypes.float32,
    "double": dtypes.float64,
    "half": dtypes.float16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "short": dtypes.int16,
    "char": dtypes.int8,
    "byte": dtypes.uint8,
    "bool": dtypes.bool_,
}
_FORMAT = "(Tensor(a) self, *, MemoryFormat? memory_format=None)"
for _name, _d in CONVERSIONS.items():
    op(
        _name + _FORMAT,
        composite(lambda self, format, d=_d: convert_tensor(self, d, memory_format=format)),
        function=False,
    )
op(
    "cpu" + _FORMAT,
    composite(lambda self, format: convert_tensor(self, None, CPU, False, format)),
    function=False,
)
op(
    "cuda(Tensor(a) self, Device? device=None, bool non_blocking=False, *, MemoryFormat? "
    "memory_format=None)",
    composite(
        lambda self, device, non_blocking, format: convert_tensor(
            self, None, as_device(device or "cuda"), False, format
        )
    ),
    function=False,
)
op(
    "type_as(Tensor self, Tensor other)",
    composite(lambda self, other: convert_tensor(self, other.dtype, device_of(other))),
    function=False,
)


# A text, as `re` compiles it when a name is unknown.
_NAMES_OF_ABSENT_TYPES = (
    r"torch\.(cuda\.)?(sparse\.\w+|Complex(Float|Double|Half)Tensor|BFloat16Tensor|UInt\d\dTensor)"
)


def _convert_by_type_name(self: Tensor, dtype: Any, non_blocking: bool, memory_format: Any) -> Any:
    """Return the legacy type name, or with a dtype (a class or its name) the converted tensor."""
    if dtype is None:
        return f"torch.{'cuda.' * self.is_cuda}{self.dtype.tensor_type}"
    if isinstance(dtype, type) and not isinstance(getattr(dtype, "dtype", None), dtypes.dtype):
        dtype = "torch.Tensor" if dtype is Tensor else dtype.__name__
    if isinstance(dtype, str):
        if dtype == "torch.Tensor":
            return convert_tensor(self, dtypes.get_default_dtype(), CPU)
        for d in dtypes.ALL:
            if dtype in (f"torch.{d.tensor_type}", f"torch.cuda.{d.tensor_type}"):
                return convert_tensor(self, d, as_device("cuda") if ".cuda." in dtype else CPU)
        if re.fullmatch(_NAMES_OF_ABSENT_TYPES, dtype):
            raise make_absence_error(f"the type {dtype!r}")
        raise ValueError(f"invalid type: '{dtype}'")
    target = getattr(dtype, "dtype", dtype) if isinstance(dtype, type) else dtype
    if not isinstance(target, dtypes.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return convert_tensor(self, target)


op(
    "type(Tensor self, PyObject dtype=None, bool non_blocking=False, *, MemoryFormat? "
    "memory_format=None)",
    composite(_convert_by_type_name),
    function=False,
)

# NumPy --------------------------------------------------------------------------------------------


def to_numpy(self: Tensor, force: bool = False) -> np.ndarray:
    """Return a NumPy array over the memory of a tensor.

    RuntimeError if the tensor requires grad; TypeError on the cuda device.
    """
    if force:
        self = convert_tensor(detach(self), None, CPU)
    if MODES.thread.is_recording and needs_grad(self):
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if device_of(self) is not CPU:
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the "
            "tensor to host memory first."
        )
    # The array would look at freed memory: from now on PyTorch refuses to resize this storage.
    self._materialize_storage()._resizable = False
    a = self._data
    if not a.size:
        # with NumPy's strides for empty arrays
        return np.empty(a.shape, a.dtype)
    return a[...] if a.ndim else a.view()


op("numpy(Tensor(a) self, *, bool force=False)", composite(to_numpy), function=False)


def to_array(self: Tensor, dtype: Any = None) -> np.ndarray:
    """Return an array over the memory of a tensor.

    It takes no `copy`, as PyTorch's does not, so that NumPy warns of it where it does there.
    """
    a = to_numpy(self)
    return a if dtype is None else a.astype(dtype, copy=False)


# NumPy recognizes a TypeError about `copy` by this name
to_array.__name__, to_array.__qualname__ = (
    "__array__",
    "Tensor.__array__",
)
offer_member("__array__", to_array, function=False)

# Python's copy and pickle -------------------------------------------------------------------------


def tensor_over_storage(
    storage: Any, like: tuple, requires_grad: bool, tensor_class: Any = Tensor, state: Any = ()
) -> Tensor:
    """Make a leaf over a storage; `like`: dtype, shape, strides and offset in bytes."""
    d, shape, strides, offset = like
    # not one that pickle made
    out = make_tensor_over(storage.make_array(shape, np.dtype(d.char), strides, offset))
    out._storage = storage
    if not out._counter.is_inference:
        # torch makes an empty tensor and then sets its storage
        out._counter = VersionCounter(1)
    if requires_grad:
        # raises for other dtypes: the `data` of a view that requires grad may have been exchanged
        out.requires_grad = True
    if tensor_class is not Tensor:
        out.__class__ = tensor_class
    out.__dict__.update(state)
    return out


def _geometry_in_bytes(self: Tensor) -> tuple:
    a = self._data
    return a.dtype, a.shape, a.strides, self.storage_offset() * a.itemsize


def deepcopy_tensor(self: Tensor, memo: dict) -> Tensor:
    """Make the `copy.deepcopy` of a tensor: a leaf over a copy of the whole storage.

    Tensors that share a storage share its copy.
    """
    if self.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may "
            "be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    with no_grad():
        out = tensor_over_storage(
            _copy.deepcopy(self._materialize_storage(), memo),
            _geometry_in_bytes(self),
            False,
        )
        if self.requires_grad:
            out.requires_grad_()
        out.__dict__.update(_copy.deepcopy(self.__dict__, memo))
        if self._meta is not None and self._meta.grad is not None:
            out.grad = _copy.deepcopy(self._meta.grad, memo)
    memo[id(self)] = out
    return out


def copy_tensor(self: Tensor) -> Tensor:
    """Make the `copy.copy` of a tensor: a leaf over its memory with a counter of its own."""
    warn_of_hooks(self)
    return tensor_over_storage(
        self._materialize_storage(),
        _geometry_in_bytes(self),
        self.requires_grad,
        _type(self),
        self.__dict__,
    )


def rebuild_tensor(data: bytes, where: device, *rest: Any) -> Tensor:
    """Make a tensor of its storage's bytes and other arguments of `tensor_over_storage`."""
    # A copy, as an array over `bytes` may not be written.
    return tensor_over_storage(UntypedStorage(np.frombuffer(data, np.uint8).copy(), where), *rest)


def reduce_tensor(self: Tensor, protocol: Any) -> tuple:
    """Return what `pickle` writes.

    Each tensor has a storage of its own, so that what two of them share is lost, as in PyTorch.
    """
    warn_of_hooks(self)
    storage, state = self._materialize_storage(), dict(self.__dict__)
    data = storage._as_bytes().tobytes()
    return rebuild_tensor, (
        data,
        storage.device,
        _geometry_in_bytes(self),
        self.requires_grad,
        _type(self),
        state,
    )


offer_member("__deepcopy__", deepcopy_tensor, function=False)
offer_member("__copy__", copy_tensor, function=False)
offer_member("__reduce_ex__", reduce_tensor, function=False)
