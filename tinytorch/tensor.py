"""The class Tensor: a view of a storage, a version counter, a place in the graph.

Here are the parts of a tensor and what can be read from them. Operations are declared in the
modules of `ops`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from inspect import getattr_static
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Never, Self, SupportsIndex, TypeVar, overload

import numpy as np

from .base import (
    CPU,
    LARGE,
    AbsentName,
    NamedByTorch,
    ShownAs,
    UntypedStorage,
    address_of,
    contiguous_strides,
    device,
    devices,
    dtypes,
    keep_freed_memory,
    make_error_of_arguments,
    strides_in_elements,
    tensor_repr,
    type_name,
    warn_in_torch,
    whole_memory,
    wrap_dim,
)
from .graph import (
    MODES,
    NEEDED_OPERATIONS,
    InferenceCounter,
    Node,
    TensorBase,
    VersionCounter,
    gradient_spec_of,
    hooks,
    materialize_meta,
    needs_grad,
    next_number,
    note_data_assigned,
    regenerate_grad_fn,
)

if TYPE_CHECKING:
    # The lists of operations put their methods on the class. Type checkers read them in a stub
    # that is made of the lists.
    from ._declared import DeclaredOperations as AbsentNames
else:
    from .base import AbsentNames

_Read = TypeVar("_Read")
_new = object.__new__
_ndarray = np.ndarray
_make_tuple = tuple.__new__  # `Size` without a check, for a shape of NumPy's


class Size(tuple[int, ...], metaclass=ShownAs):  # noqa: SLOT001 - torch's has a __dict__
    """A shape: a tuple of ints that prints as in torch. TypeError for anything but ints."""

    shown_as = "torch.Size"

    def __new__(cls, sizes: Any = ()) -> Self:
        """Make a shape of an iterable of ints."""
        shape = tuple.__new__(cls, sizes)
        for n in shape:
            if type(n) is not int:
                return tuple.__new__(cls, map(_as_size, range(len(shape)), shape))
        return shape

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(repr, self))}])"

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, n: Any) -> Size:
        if not hasattr(n, "__index__"):
            raise TypeError(f"can't multiply sequence by non-int of type {type_name(n)!r}")
        return _make_tuple(Size, tuple.__mul__(self, n))

    __rmul__ = __mul__

    @overload
    def __getitem__(self, i: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, i: slice, /) -> Size: ...
    def __getitem__(self, i: Any) -> Any:
        out = tuple.__getitem__(self, i)
        return Size(out) if isinstance(i, slice) else out

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


def _as_size(position: int, n: Any) -> int:
    if not isinstance(n, float) and hasattr(n, "__index__"):
        with contextlib.suppress(TypeError):
            return n.__index__()
    raise TypeError(
        f"torch.Size() takes an iterable of 'int' (item {position} is '{type_name(n)}')"
    )


class Layout(NamedByTorch):
    """The layout of a tensor; tinytorch has only `torch.strided`."""

    shown_as = "torch.layout"

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"

    def __reduce__(self) -> str:
        return "strided"


strided = object.__new__(Layout)


# Attributes that only the engine uses: the slots, what makes a leaf the end of the graph, and the
# helpers of the class. `dir` of a tensor leaves them out, as it lists only what torch's lists.
_NAMES_OF_ENGINE = frozenset(
    [
        *[name for name in vars(TensorBase) if not name.startswith("__")],
        "__slots__",
        "_alias",
        "_as_number",
        "_item_of_dim",
        "_make_alias_of",
        "_materialize_storage",
    ]
)


class TensorMeta(type):
    """Metaclass of Tensor: prints under torch's name; `dir` leaves out names that only raise."""

    def __repr__(cls) -> str:
        return type.__repr__(cls).replace("'tinytorch.", "'torch.")

    def __dir__(cls) -> list[str]:
        names = set(type.__dir__(cls)) - _NAMES_OF_ENGINE
        return [name for name in names if type(getattr_static(cls, name)) is not AbsentName]


class readonly(property, Generic[_Read]):
    """A property of a tensor that raises torch's error when it is set or deleted."""

    if TYPE_CHECKING:  # the type of what is read

        def __init__(self, fget: Callable[[Any], _Read], *, doc: str = "") -> None: ...
        @overload
        def __get__(self, t: None, cls: type, /) -> Self: ...
        @overload
        def __get__(self, t: Any, cls: type | None = None, /) -> _Read: ...
        def __get__(self, t: Any, cls: type | None = None, /) -> Any: ...

    def __set_name__(self, cls: type, name: str) -> None:
        self.name = name

    def __set__(self, t: Any, value: Any) -> None:
        raise AttributeError(
            f"attribute '{self.name}' of 'torch._C.TensorBase' objects is not writable"
        )

    def __delete__(self, t: Any) -> None:
        self.__set__(t, None)


def device_of(t: Any) -> device:
    """Return the device of a tensor's storage."""
    storage = t._storage
    return CPU if storage is None else storage.device


class Tensor(TensorBase, AbsentNames, metaclass=TensorMeta):
    """A multi-dimensional array with torch's copying, viewing and gradient rules."""

    __slots__ = ()
    __module__ = "tinytorch"
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a tensor as `torch.Tensor(...)` does."""
        return NEEDED_OPERATIONS.construct_tensor(cls, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    # making tensors from tensors ----------------------------------------------------------------

    def _materialize_storage(self) -> UntypedStorage:
        """Return the storage, made now if nobody shared or looked at it before."""
        storage = self._storage
        if storage is None:
            storage = self._storage = _new(UntypedStorage)
            storage.buffer = whole_memory(self._data)
            storage.device, storage._resizable = CPU, True
        return storage

    def _alias(self) -> Tensor:
        """Return a tensor without history over the same memory, with the same version counter."""
        return self._make_alias_of(self._data, self._counter)

    def detach(self, *surplus: Never) -> Tensor:
        """Return a tensor over the same memory with the same version counter, without history."""
        if surplus:
            raise make_error_of_arguments("TensorBase.detach", len(surplus))
        # As in `_make_alias_of`, but without its call: `detach` and `data` are the most frequent
        # of all.
        t = _new(Tensor)
        t._data = self._data
        storage = self._storage
        t._storage = self._materialize_storage() if storage is None else storage
        t._counter = counter = self._counter
        t._edge = t._meta = t._view_meta = None
        if counter.is_inference:
            t._counter = counter.counter_of_detached()
        return t

    def _make_alias_of(self, data: np.ndarray, counter: Any = None) -> Tensor:
        """Return a tensor without history over `data`, which shares the memory.

        With the counter of a view if none is given.
        """
        t = _new(Tensor)
        t._data = data
        storage = self._storage
        t._storage = self._materialize_storage() if storage is None else storage
        if counter is None:
            counter = self._counter.counter_of_view()
        t._counter = counter
        t._edge = t._meta = t._view_meta = None
        return t

    # shape and memory ---------------------------------------------------------------------------

    @readonly
    def shape(self) -> Size:
        """The size of each dimension."""
        return _make_tuple(Size, self._data.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Size | int:
        """Return the shape, or the size of one dimension."""
        shape = self._data.shape
        if dim is None:
            return _make_tuple(Size, shape)
        # The usual case, to save time.
        if type(dim) is int and 0 <= dim < len(shape):
            return shape[dim]
        return self._item_of_dim(shape, dim, "size")

    def _item_of_dim(self, numbers: tuple[int, ...], dim: int, name: str) -> int:
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer, Tensor)):
            raise TypeError(
                f"{name}(): argument 'dim' (position 1) must be int, not {type_name(dim)}"
            )
        if not numbers:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return numbers[wrap_dim(dim, len(numbers))]

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Return the steps from one index to the next, in elements, for all dimensions or one."""
        steps = strides_in_elements(self._data)
        return steps if dim is None else self._item_of_dim(steps, dim, "stride")

    def storage_offset(self) -> int:
        """Return the position of the first element in the storage, in elements."""
        a = self._data
        if self._storage is None and a.base is None:
            return 0
        return (address_of(a) - address_of(self._materialize_storage().buffer)) // a.itemsize

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    ndimension = dim

    ndim: readonly[int] = readonly(attrgetter("_data.ndim"), doc="The number of dimensions.")

    def numel(self) -> int:
        """The number of elements."""
        return self._data.size

    nelement = numel

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self._data.itemsize

    itemsize: readonly[int] = readonly(
        attrgetter("_data.itemsize"), doc="The size of an element in bytes."
    )
    nbytes: readonly[int] = readonly(
        lambda self: self._data.size * self._data.itemsize,
        doc="Bytes that the elements take, without gaps.",
    )

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Return True if the elements are in row-major order without gaps."""
        return self._data.flags.c_contiguous

    def untyped_storage(self) -> UntypedStorage:
        """Return the storage."""
        return self._materialize_storage()

    def is_shared(self) -> bool:
        """Return True if processes share the memory; always on cuda."""
        return self._materialize_storage().is_shared()

    def share_memory_(self) -> Tensor:
        """Move the storage to memory that processes share, and return the tensor."""
        self._materialize_storage().share_memory_()
        return self

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 for an empty tensor."""
        return self._data.size and address_of(self._data)

    dtype: readonly[dtypes.dtype] = readonly(
        lambda self: dtypes.BY_NUM[self._data.dtype.num], doc="The element type."
    )

    device: readonly[devices.device] = readonly(device_of, doc="The device of the storage.")
    is_cuda: readonly[bool] = readonly(
        lambda self: self.device is not CPU,
        doc="True if the storage is on the simulated cuda device.",
    )
    is_cpu: readonly[bool] = readonly(
        lambda self: self.device is CPU, doc="True if the storage is on the CPU."
    )
    is_sparse: readonly[bool] = readonly(lambda self: False, doc="Always False.")
    is_quantized: readonly[bool] = readonly(lambda self: False, doc="Always False.")
    is_meta: readonly[bool] = readonly(lambda self: False, doc="Always False.")
    is_mkldnn: readonly[bool] = readonly(lambda self: False, doc="Always False.")
    is_nested: readonly[bool] = readonly(lambda self: False, doc="Always False.")
    layout: readonly[Layout] = readonly(lambda self: strided, doc="Always `torch.strided`.")

    def get_device(self) -> int:
        """Return the index of the device, -1 for the CPU."""
        return -1 if self.device is CPU else 0

    def is_floating_point(self) -> bool:
        """Return True if the elements are floats."""
        return self._data.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Return False: no dtype here is complex."""
        return False

    def is_signed(self) -> bool:
        """Return True if the dtype has negative values."""
        return self._data.dtype.kind in "if"

    def is_inference(self) -> bool:
        """Return True for a tensor that was made in inference mode."""
        return self._counter.is_inference

    # versions and views -------------------------------------------------------------------------

    @readonly
    def _version(self) -> int:
        return self._counter.version_shown()

    _base: readonly[Tensor | None] = readonly(
        lambda self: None if self._view_meta is None else self._view_meta[0],
        doc="The base of a view; None for other tensors.",
    )

    def _is_view(self) -> bool:
        """Return True if this tensor is a view of another one."""
        return self._view_meta is not None

    def _view_func(self, new_base: Tensor) -> Tensor:
        """Return a view of another base, over the cells that this one has of its own.

        Source: `Tensor._view_func`.
        """
        return new_base.as_strided(self.shape, self.stride(), self.storage_offset())

    # autograd -----------------------------------------------------------------------------------

    @readonly
    def grad_fn(self) -> Node | None:
        """The node of which this tensor is an output; None for a leaf."""
        if self._view_meta is not None:
            regenerate_grad_fn(self)
        edge = self._edge
        # An edge to a leaf is that of what an unpack hook gave back for a saved leaf: see
        # `_unpack_by_hook` in graph/saved.py.
        return None if edge is None or edge[0]._ends_graph else edge[0]

    is_leaf: readonly[bool] = readonly(
        lambda self: self.grad_fn is None, doc="True if no recorded operation made this tensor."
    )
    output_nr: readonly[int] = readonly(
        lambda self: 0 if self._edge is None else self._edge[1],
        doc="The number of the output of `grad_fn` that this is.",
    )
    retains_grad: readonly[bool] = readonly(
        lambda t: bool(t._meta and t._meta.retains_grad),
        doc="True if `retain_grad()` was called on this non-leaf.",
    )

    @property
    def requires_grad(self) -> bool:
        """True if gradients are to be computed with respect to this tensor."""
        return needs_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._edge is not None:
            advice = ""
            if not value:
                advice = (
                    " If you want to use a computed variable in a subgraph that doesn't require "
                    "differentiation use var_no_grad = var.detach()."
                )
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables." + advice
            )
        if value and self._data.dtype.kind != "f":
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        if value and self.is_inference() and not MODES.thread.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode "
                "is not allowed."
            )
        if value or self._meta is not None:
            materialize_meta(self).requires_grad = value

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether this leaf requires grad, and return it."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type_name(requires_grad)}"
            )
        if requires_grad and self._data.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and self._edge is not None:
            return self
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far.

        To read it on a non-leaf that does not retain it gives torch's warning.
        """
        meta = self._meta
        if self._edge is not None and (
            meta is None or (not meta.retains_grad and meta.grad is None)
        ):
            warn_in_torch(
                (
                    "The .grad attribute of a Tensor that is not a leaf Tensor is being "
                    "accessed. Its .grad attribute won't be populated during "
                    "autograd.backward(). If you indeed want the .grad field to be populated "
                    "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
                    "access the non-leaf Tensor by mistake, make sure you access the leaf "
                    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more "
                    "information."
                ),
                "build/aten/src/ATen/core/TensorBody.h:493",
            )
        return None if meta is None else meta.grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _check_assigned_grad(self, value)
            materialize_meta(self).grad = value
        elif self._meta is not None:
            self._meta.grad = None

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Tensor:
        """The same memory without history, with another version counter.

        Autograd does not see writes to it.
        """
        if self._counter.is_inference:
            return self.detach()
        t = _new(Tensor)
        t._data = self._data
        storage = self._storage
        t._storage = self._materialize_storage() if storage is None else storage
        t._counter = counter = _new(VersionCounter)  # `VersionCounter()` takes a tenth longer
        counter.version = 0
        t._edge = t._meta = t._view_meta = None
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        if self.requires_grad and value._data.dtype.kind != "f":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or "
                "complex dtype"
            )
        before = gradient_spec_of(self)
        self._storage, self._data = value._materialize_storage(), value._data
        note_data_assigned(self, before)
        if value.is_inference() != self.is_inference():
            self._counter = value._counter if value.is_inference() else VersionCounter()

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    register_hook = hooks.register_hook
    register_post_accumulate_grad_hook = hooks.register_post_accumulate_grad_hook
    retain_grad = hooks.retain_grad

    def detach_(self) -> Tensor:
        """Remove the history of this tensor, in place.

        RuntimeError for a view: detaching it would not detach its base.
        """
        if MODES.thread.inference:
            return self
        if self._view_meta is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is "
                "set as True, gradients are views of DDP buckets, and hence detach_() "
                "cannot be called on these gradients. To fix this error, please refer to "
                "the Optimizer.zero_grad() function in torch/optim/optimizer.py as the "
                "solution."
            )
        if self._edge is not None:
            # Nodes that were made before may have saved this tensor with its history, and may not
            # read it any more.
            materialize_meta(self).detached_at = next_number()
            self._edge = None
        if self._meta is not None:
            self._meta.requires_grad = False
        return self

    # Python's protocols -------------------------------------------------------------------------

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._data.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._data.ndim else self

    def __bool__(self, *surplus: Never) -> bool:
        if surplus:
            raise make_error_of_arguments("TensorBase.__bool__", len(surplus))
        if self._data.size > 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        if self._data.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        return bool(self._data)

    def item(self) -> int | float | bool:
        """Return the only element as a Python number. RuntimeError unless there is exactly one."""
        if self._data.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._data.size} elements cannot be converted to Scalar"
            )
        return self._data.item()

    def tolist(self) -> Any:
        """Return the elements as nested lists; a number for a 0-d tensor."""
        return self._data.tolist()

    def _as_number(self, number_type: type) -> Any:
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad and number_type is not int:
            warn_in_torch(
                (
                    "Converting a tensor with requires_grad=True to a scalar may lead to "
                    "unexpected behavior.\nConsider using tensor.detach() first."
                ),
                "torch/csrc/autograd/generated/python_variable_methods.cpp:822",
                once=True,
            )
        return number_type(self._data.item())

    def __float__(self, *surplus: Never) -> float:
        """Return the only element as a float."""
        if surplus:
            raise make_error_of_arguments("TensorBase.__float__", len(surplus))
        return self._as_number(float)

    def __int__(self, *surplus: Never) -> int:
        """Return the only element as an int."""
        if surplus:
            raise make_error_of_arguments("TensorBase.__int__", len(surplus))
        return self._as_number(int)

    def __index__(self, *surplus: Never) -> int:
        if surplus:
            raise make_error_of_arguments("TensorBase.__index__", len(surplus))
        if self._data.size != 1 or self._data.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return tensor_repr(self, contents=tensor_contents)

    def __format__(self, spec: str) -> str:
        is_number = type(self) is Tensor and self._data.ndim == 0
        return format(self._data.item(), spec) if is_number else object.__format__(self, spec)

    def __dir__(self) -> list[str]:
        return [*dir(type(self)), *self.__dict__]


def _check_assigned_grad(t: Any, grad: Any) -> None:
    """Raise torch's error if `grad` may not become the `.grad` of `t`."""
    if not isinstance(grad, TensorBase):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type_name(grad)}"
        )
    if grad is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad._data.dtype != t._data.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{dtypes.cpp_name(grad.dtype)}' to "
            f"a tensor with grad_dtype '{t.dtype.scalar_name}'. The gradient must match the "
            "tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
            "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may "
            "break downstream systems that assume they match."
        )
    if grad.device is not t.device:
        raise RuntimeError(
            "attempting to assign a gradient located on device with type "
            f"'{grad.device.type}' to a tensor located on device with type "
            f"'{t.device.type}'. Please ensure that the gradient and the tensor are on the "
            "same device"
        )
    if grad._data.shape != t._data.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of "
            f"size '{list(t.shape)}'. Please ensure that the gradient and the tensor are the "
            "same size"
        )


def make_tensor(data: Any, device: device = CPU, version: int = 0) -> Tensor:
    """Return a tensor without history over the result of a kernel, which nothing else uses."""
    if type(data) is not _ndarray or not data.size:
        data = as_array_of_torch(data)
    return make_tensor_over(data, device, version)


def as_array_of_torch(data: Any) -> np.ndarray:
    """Return the result of a kernel as an array, with torch's strides if it is empty and no view."""
    if type(data) is not _ndarray:
        data = np.asarray(data)
    if not data.size and data.base is None:
        # NumPy gives empty arrays strides of 0.
        strides = contiguous_strides(data.shape, data.itemsize)
        data = _ndarray(data.shape, data.dtype, data, 0, strides)
    return data


def make_tensor_over(data: np.ndarray, device: device = CPU, version: int = 0) -> Tensor:
    """Return a tensor without history over an array as it is, whose memory no other tensor has."""
    if data.nbytes >= LARGE:
        keep_freed_memory()
    t = _new(Tensor)
    t._data = data
    t._storage = t._edge = t._meta = t._view_meta = None
    if MODES.thread.inference:
        t._counter = InferenceCounter()
    else:
        t._counter = counter = _new(VersionCounter)  # `VersionCounter(version)` takes longer
        counter.version = version
    if device is not CPU:
        t._materialize_storage().device = device
    return t


__all__ = [
    "CPU",
    "Layout",
    "Size",
    "Tensor",
    "TensorMeta",
    "device_of",
    "make_tensor",
    "make_tensor_over",
    "strided",
    "type_name",
    "wrap_dim",
]  # fmt: skip
