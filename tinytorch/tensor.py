"""The Tensor: a strided view of a storage, a version counter, and a place in the autograd graph.

The operations are declared in the modules of `ops`; here stand what a tensor is made of and what can be read off it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Generic, Self, SupportsIndex, TypeVar, overload

import numpy as np

from .base import (
    CPU,
    Absent,
    ShownAs,
    UntypedStorage,
    address,
    contiguous_strides,
    device,
    devices,
    dtypes,
    memory_of,
    tensor_repr,
    type_name,
    warn_in_torch,
    wrap_dim,
)
from .graph import (
    MODES,
    OPERATIONS,
    InferenceCounter,
    Node,
    TensorBase,
    VersionCounter,
    exchanged,
    expectation,
    hooks,
    meta,
    needs_grad,
    next_number,
    refresh,
)

if TYPE_CHECKING:  # the lists of ops put their methods on the class, which type checkers read in a stub made of them
    from ._declared import DeclaredOperations as Lacking
else:
    from .base import Lacking

_Read = TypeVar("_Read")
_new = object.__new__
_ndarray = np.ndarray
_sized = tuple.__new__  # for what are ints already


class Size(tuple[int, ...], metaclass=ShownAs):  # noqa: SLOT001 - torch's has a __dict__
    """A shape: a tuple of ints that prints as torch prints shapes. TypeError for anything else than ints."""

    shown_as = "torch.Size"

    def __new__(cls, sizes: Any = ()) -> Self:
        """Make a shape of an iterable of ints."""
        made = tuple.__new__(cls, sizes)
        for n in made:
            if type(n) is not int:
                return tuple.__new__(cls, map(_as_size, range(len(made)), made))
        return made

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(repr, self))}])"

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

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


class Layout(metaclass=ShownAs):
    """How elements are laid out; tinytorch has `torch.strided` alone."""

    shown_as = "torch.layout"

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"


strided = Layout()


class TensorMeta(type):
    """Prints the class by torch's name, and does not list what it has not."""

    def __repr__(cls) -> str:
        return type.__repr__(cls).replace("'tinytorch.", "'torch.")

    def __dir__(cls) -> list[str]:
        return [n for n in type.__dir__(cls) if type(getattr_static(cls, n)) is not Absent]


class readonly(property, Generic[_Read]):  # stands where `property` does
    """What can be read off a tensor, and not be set or deleted."""

    if TYPE_CHECKING:  # by which type checkers know what is read

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
    """Where the storage of a tensor lies."""
    storage = t._storage
    return CPU if storage is None else storage.device


class Tensor(TensorBase, Lacking, metaclass=TensorMeta):
    """A multi-dimensional array of one dtype on one device, with torch's copying, viewing and gradient rules."""

    __slots__ = ()
    __module__ = "tinytorch"
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a tensor as `torch.Tensor(...)` does."""
        return OPERATIONS.construct_tensor(cls, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    # making tensors from tensors -------------------------------------------------------------------

    def _own_storage(self) -> UntypedStorage:
        """The storage, made now if nobody shared or looked at it before."""
        s = self._storage
        if s is None:
            s = self._storage = _new(UntypedStorage)
            s.buffer = memory_of(self._data)
            s.device, s._resizable = CPU, True
        return s

    def _alias(self) -> Tensor:
        """A tensor without history over the same memory, sharing the version counter (what `detach()` returns)."""
        return self._looking(self._data, self._counter)

    def detach(self) -> Tensor:
        """The same memory and version counter, without history."""
        t = _new(
            Tensor
        )  # as `_looking` does it, written out like `data`: no calls are as common here
        t._data = self._data
        storage = self._storage
        t._storage = self._own_storage() if storage is None else storage
        t._counter = counter = self._counter
        t._edge = t._meta = t._view = None
        if counter.is_inference:
            t._counter = counter.counter_of_detached()
        return t

    def _looking(self, data: np.ndarray, counter: Any = None) -> Tensor:
        """A tensor without history by another array over the same memory; shares the version counter if none is given."""
        t = _new(Tensor)
        t._data = data
        storage = self._storage
        t._storage = self._own_storage() if storage is None else storage
        if counter is None:
            counter = self._counter.counter_of_view()
        t._counter = counter
        t._edge = t._meta = t._view = None
        return t

    # shape and memory ------------------------------------------------------------------------------

    @readonly
    def shape(self) -> Size:
        """The size along each dimension."""
        return _sized(Size, self._data.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the size along one dimension."""
        return _sized(Size, self._data.shape) if dim is None else self._along(self._data.shape, dim)

    def _along(self, numbers: tuple[int, ...], dim: int) -> int:
        if not numbers:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return numbers[wrap_dim(dim, len(numbers))]

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """The steps in elements from one index to the next, for all dimensions or one."""
        n = self._data.itemsize
        steps = tuple([s // n for s in self._data.strides])
        return steps if dim is None else self._along(steps, dim)

    def storage_offset(self) -> int:
        """Where in the storage the first element lies, in elements."""
        a = self._data
        if self._storage is None and a.base is None:
            return 0
        return (address(a) - address(self._own_storage().buffer)) // a.itemsize

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    ndimension = dim

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    def numel(self) -> int:
        """The number of elements."""
        return self._data.size

    nelement = numel

    def element_size(self) -> int:
        """Bytes an element takes."""
        return self._data.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes an element takes."""
        return self._data.itemsize

    nbytes: readonly[int] = readonly(
        lambda self: self._data.size * self._data.itemsize, doc="Bytes that so many elements take."
    )

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return self._data.flags.c_contiguous

    def untyped_storage(self) -> UntypedStorage:
        """The storage that it looks at."""
        return self._own_storage()

    def data_ptr(self) -> int:
        """Where element 0 lies; 0 if empty."""
        return self._data.size and address(self._data)

    dtype: readonly[dtypes.dtype] = readonly(
        lambda self: dtypes.BY_NUM[self._data.dtype.num], doc="The element type."
    )

    device: readonly[devices.device] = readonly(device_of, doc="Where the storage lies.")
    is_cuda: readonly[bool] = readonly(
        lambda self: self.device is not CPU, doc="Whether the storage lies on the cuda device."
    )
    is_cpu: readonly[bool] = readonly(
        lambda self: self.device is CPU, doc="Whether the storage lies on the CPU."
    )
    is_sparse: readonly[bool] = readonly(lambda self: False, doc="Never.")
    is_quantized: readonly[bool] = readonly(lambda self: False, doc="Never.")
    is_meta: readonly[bool] = readonly(lambda self: False, doc="Never.")
    is_mkldnn: readonly[bool] = readonly(lambda self: False, doc="Never.")
    is_nested: readonly[bool] = readonly(lambda self: False, doc="Never.")
    layout: readonly[Layout] = readonly(
        lambda self: strided, doc="How the elements are laid out: always `torch.strided`."
    )

    def get_device(self) -> int:
        """The device's index, -1 for CPU."""
        return -1 if self.device is CPU else 0

    def is_floating_point(self) -> bool:
        """Whether of floats."""
        return self._data.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Whether the dtype is complex; no dtype here is."""
        return False

    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return self._data.dtype.kind in "if"

    def is_inference(self) -> bool:
        """Whether of inference mode."""
        return self._counter.is_inference

    # versions and views ----------------------------------------------------------------------------

    @readonly
    def _version(self) -> int:
        return self._counter.version_shown()

    _base: readonly[Tensor | None] = readonly(
        lambda self: None if self._view is None else self._view[0], doc="What this is a view of."
    )

    def _is_view(self) -> bool:
        """Whether this tensor is a view of another one."""
        return self._view is not None

    # autograd --------------------------------------------------------------------------------------

    @readonly
    def grad_fn(self) -> Node | None:
        """The node that this tensor is an output of; None for a leaf."""
        if self._view is not None:
            refresh(self)
        edge = self._edge
        return None if edge is None or edge[0]._leaf else edge[0]

    is_leaf: readonly[bool] = readonly(
        lambda self: self.grad_fn is None, doc="Whether no recorded operation made this tensor."
    )
    output_nr: readonly[int] = readonly(
        lambda self: 0 if self._edge is None else self._edge[1],
        doc="Which output of its node it is.",
    )
    retains_grad: readonly[bool] = readonly(
        lambda t: bool(t._meta and t._meta.retains), doc="Whether a non-leaf keeps its grad."
    )

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are to be computed with respect to this tensor."""
        return needs_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._edge is not None:
            advice = "" if value else " If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."  # fmt: skip
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables." + advice
            )
        if value and self._data.dtype.kind != "f":
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        if value and self.is_inference() and not MODES.here.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        if value or self._meta is not None:
            meta(self).requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether this leaf requires grad, and return it."""
        if not isinstance(requires_grad, bool):
            raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type_name(requires_grad)}")  # fmt: skip
        if requires_grad and self._data.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and self._edge is not None:
            return self
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far. Reading it on a non-leaf that does not retain it warns, as in torch."""
        m = self._meta
        if self._edge is not None and (m is None or (not m.retains and m.grad is None)):
            warn_in_torch("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.", "build/aten/src/ATen/core/TensorBody.h:493")  # fmt: skip
        return None if m is None else m.grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _check_assigned_grad(self, value)
            meta(self).grad = value
        elif self._meta is not None:
            self._meta.grad = None

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Tensor:
        """The same memory without history, with a version counter of its own: autograd does not see its writes."""
        if self._counter.is_inference:
            return self.detach()
        t = _new(Tensor)
        t._data = self._data
        storage = self._storage
        t._storage = self._own_storage() if storage is None else storage
        t._counter = VersionCounter()
        t._edge = t._meta = t._view = None
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        if self.requires_grad and value._data.dtype.kind != "f":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        before = expectation(self)
        self._storage, self._data = value._own_storage(), value._data
        exchanged(self, before)
        if value.is_inference() != self.is_inference():
            self._counter = value._counter if value.is_inference() else VersionCounter()

    register_hook = hooks.register_hook
    register_post_accumulate_grad_hook = hooks.register_post_accumulate_grad_hook
    retain_grad = hooks.retain_grad

    def detach_(self) -> Tensor:
        """Cut this tensor off its history, in place. RuntimeError for a view: detaching it would not detach its base."""
        if MODES.here.inference:
            return self
        if self._view is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.")  # fmt: skip
        if self._edge is not None:
            meta(
                self
            ).detached = next_number()  # nodes made before this may have saved it with its history
            self._edge = None
        if self._meta is not None:
            self._meta.requires_grad = False
        return self

    # Python's protocols ----------------------------------------------------------------------------

    __hash__ = object.__hash__  # in C: backward keeps leaves in dictionaries

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

    def __bool__(self) -> bool:
        if self._data.size > 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        if self._data.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        return bool(self._data)

    def item(self) -> int | float | bool:
        """The one element as a Python number. RuntimeError for any other count of elements."""
        if self._data.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._data.size} elements cannot be converted to Scalar"
            )
        return self._data.item()

    def tolist(self) -> Any:
        """The elements as nested lists, or one number if 0-d."""
        return self._data.tolist()

    def _number(self, kind: type) -> Any:
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad and kind is not int:
            warn_in_torch("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first.", "torch/csrc/autograd/generated/python_variable_methods.cpp:822", once=True)  # fmt: skip
        return kind(self._data.item())

    def __float__(self) -> float:
        """The one element as a float."""
        return self._number(float)

    def __int__(self) -> int:
        """The one element as an int."""
        return self._number(int)

    def __index__(self) -> int:
        if self._data.size != 1 or self._data.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        number = type(self) is Tensor and self._data.ndim == 0
        return format(self._data.item(), spec) if number else object.__format__(self, spec)

    def __dir__(self) -> list[str]:
        # torch does not list its own either
        ours = (*TensorBase.__slots__, "_edges", "_seq", "_leaf", "_several", "_outputs")
        return sorted({*dir(type(self)), *self.__dict__}.difference(ours))


def _check_assigned_grad(t: Any, grad: Any) -> None:
    """Raise torch's error if `grad` may not become the `.grad` of `t`."""
    if not isinstance(grad, TensorBase):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(grad)}")  # fmt: skip
    if grad is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad._data.dtype != t._data.dtype:
        raise RuntimeError(f"attempting to assign a gradient with dtype '{dtypes.cpp_name(grad.dtype)}' to a tensor with grad_dtype '{t.dtype.scalar_name}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match.")  # fmt: skip
    if grad.device is not t.device:
        raise RuntimeError(f"attempting to assign a gradient located on device with type '{grad.device.type}' to a tensor located on device with type '{t.device.type}'. Please ensure that the gradient and the tensor are on the same device")  # fmt: skip
    if grad._data.shape != t._data.shape:
        raise RuntimeError(f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of size '{list(t.shape)}'. Please ensure that the gradient and the tensor are the same size")  # fmt: skip


def fresh(data: Any, device: device = CPU) -> Tensor:
    """A leaf tensor over what a kernel gave, which nothing else uses."""
    return over(as_result(data), device)


def as_result(data: Any) -> np.ndarray:
    """What a kernel gave as an array; an empty one of its own gets torch's strides."""
    if type(data) is not _ndarray:
        data = np.asarray(data)
    if (
        not data.size and data.base is None
    ):  # NumPy gives empty arrays strides of 0, torch those of the shape
        data = _ndarray(
            data.shape, data.dtype, data, 0, contiguous_strides(data.shape, data.itemsize)
        )
    return data


def over(data: np.ndarray, device: device = CPU, version: int = 0) -> Tensor:
    """A leaf tensor over an array as it is, of which no other tensor knows."""
    t = _new(Tensor)
    t._data = data
    t._counter = InferenceCounter() if MODES.here.inference else VersionCounter(version)
    t._storage = t._edge = t._meta = t._view = None
    if device is not CPU:
        t._own_storage().device = device
    return t


__all__ = ["CPU", "Layout", "Size", "Tensor", "TensorMeta", "device_of", "fresh", "over", "strided",
           "type_name", "wrap_dim"]  # fmt: skip
