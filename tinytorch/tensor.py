"""The Tensor: a strided view of a storage, a version counter, and a place in the autograd graph.

The operations are attached by the modules in `ops`; here stand what a tensor is made of and what can be read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .buffers import empty
from .devices import CPU, device
from .graph import history, hooks
from .graph.modes import MODES, InferenceCounter
from .graph.node import edge_to_leaf, let_accumulator_go, shown_edge
from .naming import type_name
from .sizes import Layout, Size, strided, wrap_dim
from .slots import TensorBase, TensorMeta
from .storage import UntypedStorage, VersionCounter, contiguous_strides
from .warn import warn_in_torch

_new = object.__new__
_ndarray = np.ndarray
_sized = tuple.__new__  # for what are ints already


class Tensor(TensorBase, metaclass=TensorMeta):
    """A multi-dimensional array of one dtype on one device, with torch's copying, viewing and gradient rules."""

    __slots__ = ()
    __module__ = "tinytorch"
    __array_priority__ = 1000

    if TYPE_CHECKING:  # the operations are attached from elsewhere

        def __getattr__(self, name: str) -> Any: ...

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor as `torch.Tensor(...)` does."""
        return cls._from_arguments(cls, *args, **kwargs)  # attached by ops.creation, which knows how to read data

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    # making tensors from tensors -------------------------------------------------------------------

    def _own_storage(self) -> UntypedStorage:
        """The storage, made now if the array was the only owner of its memory."""
        s = self._storage
        if s is None:
            data = self._data
            s = self._storage = _new(UntypedStorage)
            s.buffer = data.ravel("K")
            s.device, s._resizable = self._device, True
        return s

    def _own_counter(self) -> VersionCounter:
        """The version counter, made now if nobody wrote to the tensor or shared it before."""
        counter = self._counter
        if counter is None:
            counter = self._counter = VersionCounter()
        return counter

    _vc = property(_own_counter, lambda self, counter: TensorBase._counter.__set__(self, counter))

    def _alias(self) -> Tensor:
        """A tensor without history over the same memory, sharing the version counter (what `detach()` returns)."""
        t = _new(Tensor)
        t._data = self._data
        t._offset = self._offset
        storage = self._storage
        t._storage = self._own_storage() if storage is None else storage
        counter = self._counter
        t._counter = self._own_counter() if counter is None else counter
        t._device = self._device
        t._inference = self._inference
        t._requires_grad = False
        t._grad = t._fn = t._hooks = t._view = t._acc = None
        t._output_nr = 0
        return t

    def _strided(self, shape: tuple, strides: tuple, offset: int) -> Tensor:
        """An alias with other shape, strides and offset, in bytes."""
        t = self._alias()
        buffer = t._storage.buffer
        t._data = _ndarray(shape, self._data.dtype, buffer, min(offset, buffer.nbytes), strides)
        t._offset = offset
        return t

    def _follow_storage(self) -> None:
        buffer, a = self._storage.buffer, self._data
        end = self._offset + sum(s * (n - 1) for s, n in zip(a.strides, a.shape, strict=True)) + a.itemsize
        if a.size == 0 or end <= buffer.nbytes:
            self._data = np.ndarray(a.shape, a.dtype, buffer, min(self._offset, buffer.nbytes), a.strides)

    def _with_history(self, fn: Any, nr: int) -> Tensor:
        """An alias that is output `nr` of a node: a saved result as it is read."""
        t = self._alias()
        history.set_history(t, fn, nr)
        return t

    def _accumulator(self) -> Any:
        """A weak reference to the leaf's accumulator, for a tensor that stands for this one; None if there is none."""
        if self._acc is not None:
            shown_edge(edge_to_leaf(self))  # from now on the accumulator itself knows its leaf
        return self._acc

    # shape and memory ------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The size along each dimension."""
        return _sized(Size, self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size along one dimension."""
        return _sized(Size, self._data.shape) if dim is None else self._along(self._data.shape, dim)

    def _along(self, numbers: tuple, dim: int) -> int:
        if not numbers:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return numbers[wrap_dim(dim, len(numbers))]

    def stride(self, dim: int | None = None) -> Any:
        """The steps in elements from one index to the next, for all dimensions or one."""
        n = self._data.itemsize
        steps = tuple(s // n for s in self._data.strides)
        return steps if dim is None else self._along(steps, dim)

    def storage_offset(self) -> int:
        """Where in the storage the first element lies, in elements."""
        return self._offset // self._data.itemsize

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    ndimension = dim
    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements."""
        return self._data.size

    nelement = numel

    def element_size(self) -> int:
        """Bytes an element takes."""
        return self._data.itemsize

    itemsize = property(element_size)

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take (a view may look at fewer or count some twice)."""
        return self._data.size * self._data.itemsize

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        if memory_format is not None and memory_format.name.startswith("channels_last"):
            a, n = self._data, 4 if memory_format.name == "channels_last" else 5
            expected = a.itemsize
            for d in (1, *range(n - 1, 1, -1), 0) if a.ndim == n else ():
                if a.shape[d] != 1 and a.strides[d] != expected:
                    return False
                expected *= a.shape[d]
            return a.ndim == n
        return self._data.flags.c_contiguous

    def untyped_storage(self) -> UntypedStorage:
        """The storage that this tensor looks at."""
        return self._own_storage()

    def data_ptr(self) -> int:
        """Address of the first element, 0 for an empty tensor."""
        return self._own_storage().data_ptr() + self._offset if self._data.size else 0

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type."""
        return dtypes.BY_NUM[self._data.dtype.num]

    @property
    def device(self) -> device:
        """Where the storage lies."""
        return self._device

    is_cuda = property(lambda self: self._device is not CPU, doc="Whether the storage lies on the cuda device.")
    is_cpu = property(lambda self: self._device is CPU, doc="Whether the storage lies on the CPU.")
    is_sparse = is_quantized = is_meta = is_mkldnn = is_nested = property(lambda self: False, doc="Never.")
    layout = property(lambda self: strided, doc="How the elements are laid out: always `torch.strided`.")

    def get_device(self) -> int:
        """The device's index, -1 for the CPU."""
        return -1 if self._device is CPU else 0

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating point type."""
        return self._data.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Whether the dtype is complex; no dtype here is."""
        return False

    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return self._data.dtype.kind in "if"

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._inference

    # versions and views ----------------------------------------------------------------------------

    @property
    def _version(self) -> int:
        if type(self._counter) is InferenceCounter:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._vc.version

    @property
    def _base(self) -> Tensor | None:
        return self._view

    def _is_view(self) -> bool:
        return self._view is not None

    # autograd --------------------------------------------------------------------------------------

    @property
    def grad_fn(self) -> Any:
        """The node that this tensor is an output of; None for a leaf."""
        return self._fn if self._view is None else history.grad_fn_of(self)

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return (self._fn if self._view is None else history.grad_fn_of(self)) is None

    @property
    def output_nr(self) -> int:
        """Which output of its `grad_fn` this tensor is."""
        return self._output_nr

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient."""
        return self._hooks is not None and self._hooks.retains

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are to be computed with respect to this tensor."""
        return self._requires_grad or (self._view is not None and self._view._requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._fn is not None:
            advice = (
                ""
                if value
                else (
                    " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
                    "var_no_grad = var.detach()."
                )
            )
            raise RuntimeError("you can only change requires_grad flags of leaf variables." + advice)
        if value and self._data.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._set_requires_grad(bool(value))

    def _set_requires_grad(self, value: bool) -> None:
        if value and self._inference and not MODES.here.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self._requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether this leaf requires grad, and return it."""
        if not isinstance(requires_grad, bool):
            raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type_name(requires_grad)}")  # fmt: skip
        if requires_grad and self._data.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and self._fn is not None:
            return self
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far. Reading it on a non-leaf that does not retain it warns, as in torch."""
        if self._fn is not None and not (self._hooks is not None and self._hooks.retains) and self._grad is None:
            warn_in_torch(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
                "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
                "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead. See "
                "github.com/pytorch/pytorch/pull/30531 for more information.",
                "build/aten/src/ATen/core/TensorBody.h:493",
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            history.check_assigned_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def data(self) -> Tensor:
        """The same memory without history, with a version counter of its own: autograd does not see its writes."""
        storage = self._storage
        t = _new(Tensor)
        t._data = self._data
        t._offset = self._offset
        t._storage = self._own_storage() if storage is None else storage
        t._device = self._device
        t._inference = self._inference
        t._counter = InferenceCounter() if self._inference and MODES.here.inference else None
        t._requires_grad = False
        t._grad = t._fn = t._hooks = t._view = t._acc = None
        t._output_nr = 0
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        if self.requires_grad and value._data.dtype.kind != "f":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if value._data.dtype != self._data.dtype or value._device is not self._device:
            self._acc = None  # the accumulator was made for gradients of another dtype or device
        let_accumulator_go(self)
        self._storage, self._offset = value._own_storage(), value._offset
        self._data, self._device, self._inference = value._data, value._device, value._inference

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def register_hook(self, hook: Callable) -> Any:
        """Call `hook(grad)` when this tensor's gradient is computed."""
        return hooks.register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable) -> Any:
        """Call `hook(tensor)` after `.grad` was accumulated."""
        return hooks.register_post_accumulate_grad_hook(self, hook)

    def retain_grad(self) -> None:
        """Keep this non-leaf's gradient in `.grad`."""
        hooks.retain_grad(self)

    def detach_(self) -> Tensor:
        """Cut this tensor off its history, in place. RuntimeError for a view: detaching it would not detach its base."""
        if MODES.here.inference:
            return self
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        self._requires_grad = False
        self._fn = None
        self._output_nr = 0
        return self

    # Python's protocols ----------------------------------------------------------------------------

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

    def __bool__(self) -> bool:
        if self._data.size > 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        if self._data.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        return bool(self._data)

    def item(self) -> Any:
        """The one element as a Python number. RuntimeError for any other count of elements."""
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        return self._data.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers, or one number for a 0-d tensor."""
        return self._data.tolist()

    def _number(self, kind: type) -> Any:
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad and kind is not int:
            warn_in_torch(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider "
                "using tensor.detach() first.",
                "torch/csrc/autograd/generated/python_variable_methods.cpp:822",
                once=True,
            )
        return kind(self._data.item())

    def __float__(self) -> float:
        return self._number(float)

    def __int__(self) -> int:
        return self._number(int)

    def __complex__(self) -> complex:
        return self._number(complex)

    def __index__(self) -> int:
        if self._data.size != 1 or self._data.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from .printing import tensor_repr

        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        from .printing import format_tensor

        return format_tensor(self, spec, type(self) is Tensor)

    def __dir__(self) -> list[str]:
        found = {*dir(type(self)), *self.__dict__}
        return sorted(found.difference(TensorBase.__slots__, ["volatile"]))  # which torch does not list either


def read_only(name: str) -> Callable:
    def refuse(self: Tensor, value: Any = None) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse


for _name, _property in list(vars(Tensor).items()):
    if type(_property) is property and _property.fset is None:
        setattr(Tensor, _name, _property.setter(read_only(_name)).deleter(read_only(_name)))


def fresh(data: np.ndarray, device: device = CPU, inference: bool | None = None) -> Tensor:
    """A leaf tensor over an array that nothing else uses; the array must be dense.

    `inference`: whether inference mode holds, where the caller knows it already.
    """
    if type(data) is not _ndarray:
        data = np.asarray(data)
    if not data.size:  # NumPy gives empty arrays strides of 0, torch those of the shape
        data = np.ndarray(data.shape, data.dtype, data, 0, contiguous_strides(data.shape, data.itemsize))
    return of_array(data, device, MODES.here.inference if inference is None else inference)


def of_array(data: np.ndarray, device: device, inference: bool) -> Tensor:
    """`fresh` for an ndarray that has elements. All slots are set here and in `_alias`, `data` and `ops.viewing`."""
    t = _new(Tensor)
    t._data = data
    t._device = device
    t._requires_grad = False
    t._storage = t._counter = t._grad = t._fn = t._hooks = t._view = t._acc = None
    t._offset = t._output_nr = 0
    t._inference = inference
    if inference:
        t._counter = InferenceCounter()
    return t


def empty_strided(shape: tuple, strides: tuple, kind: np.dtype, device: device = CPU) -> Tensor:
    """A tensor with memory of its own, not initialised. `strides` in bytes."""
    if strides == contiguous_strides(shape, kind.itemsize):
        return fresh(empty(shape, kind), device)
    reach = 0 if 0 in shape else kind.itemsize + sum(s * (n - 1) for s, n in zip(strides, shape, strict=True))
    buffer = empty((reach // kind.itemsize,), kind)
    data = np.ndarray(shape, kind, buffer, 0, strides)
    t = fresh(data, device)
    t._data = data  # an empty one keeps its strides too
    t._storage = UntypedStorage(buffer, device)
    return t


__all__ = ["Layout", "Size", "Tensor", "empty_strided", "fresh", "strided", "wrap_dim"]
