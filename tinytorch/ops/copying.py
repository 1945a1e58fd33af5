"""Copying and converting: what is shared, what is recorded, and where the bytes go."""

from __future__ import annotations

import copy as _copy
import itertools
from types import NoneType
from typing import Any

import numpy as np

from .. import dtypes
from ..buffers import empty
from ..devices import CPU, Transfers, as_device, device
from ..graph.history import Geometry, check_inplace, edge_of, needs_grad, rebase_history
from ..graph.hooks import warn_of_hooks
from ..graph.modes import MODES, no_grad
from ..graph.node import Node, node
from ..naming import ShownAs
from ..storage import UntypedStorage, VersionCounter
from ..tensor import Tensor, empty_strided, fresh
from .arguments import ABSENT, again, is_number, unfit
from .core import BOOL, check_overlap, op, recording, store, tensor_type
from .large import MANY
from .layouts import dense_strides
from .pointwise import check_broadcast_into
from .recording import wants_grad

_type = type  # Tensor.type takes the name below


class MemoryFormat(metaclass=ShownAs):
    """How a copy is laid out."""

    shown_as = "torch.memory_format"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    __reduce__ = lambda self: self.name  # noqa: E731


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")


def channels_last_strides(shape: tuple[int, ...], memory_format: Any, itemsize: int) -> tuple[int, ...]:
    """Strides in bytes with dimension 1 innermost, for four dimensions (`channels_last`) or five (`_3d`)."""
    n = 4 if memory_format is channels_last else 5
    if len(shape) != n:
        raise RuntimeError(f"required rank {n} tensor to use {memory_format.name} format")
    strides, step = [0] * n, itemsize
    for d in (1, *range(n - 1, 1, -1), 0):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def suggested(a: np.ndarray) -> MemoryFormat:
    """The format that torch reads from strides: row-major unless they are plainly those of channels last."""
    if a.ndim not in (4, 5) or not a.size or not a.strides[1]:
        return contiguous_format
    least = 0
    for d in (1, *range(a.ndim - 1, 1, -1), 0):
        if a.strides[d] < least or (d == 0 and least == a.strides[1]):
            return contiguous_format
        least = a.strides[d] * a.shape[d]
    return channels_last if a.ndim == 4 else channels_last_3d


_IN_ORDER = (None, preserve_format, contiguous_format)  # what keeps a dense vector's strides


def copied(t: Tensor, kind: np.dtype | None = None, where: device | None = None, memory_format: Any = None) -> Tensor:
    """A tensor with the same values and memory of its own, without history."""
    a = t._data
    kind = kind or a.dtype
    where = where or t._device
    if (
        where is t._device
        and kind is a.dtype is not BOOL
        and a.flags.c_contiguous
        and a.ndim < 2
        and (a.size > 1 or not a.ndim)
        and memory_format in _IN_ORDER
    ):
        if a.size < MANY:
            return fresh(a.copy(), where)
        kept = empty(a.shape, kind)
        kept[...] = a
        return fresh(kept, where)
    if memory_format is contiguous_format:
        from ..storage import contiguous_strides

        strides = contiguous_strides(a.shape, kind.itemsize)
    elif memory_format in (channels_last, channels_last_3d):
        strides = channels_last_strides(a.shape, memory_format, kind.itemsize)
    else:
        strides = tuple(s // a.itemsize * kind.itemsize for s in dense_strides(a))
    out = empty_strided(a.shape, strides, kind, where)
    store(out, a)
    if where is not t._device:
        Transfers.count(where, out.nbytes)
    return out


_CloneBackward0 = node("CloneBackward0", lambda grad: grad)
_ToCopyBackward0 = node("ToCopyBackward0", lambda grad, _options: grad.to(_options[0], device=_options[1]))


@op(guard=False)
def clone(
    input: Tensor = ABSENT, *rest: Any, memory_format: MemoryFormat | None = preserve_format, **named: Any
) -> Tensor:
    """A copy with memory and version counter of its own, recorded: gradients flow back through it.

    A dense tensor keeps its strides, a tensor with gaps becomes dense. Source: `torch.clone`.
    """
    if rest or named or not (isinstance(input, Tensor) and isinstance(memory_format, (MemoryFormat, NoneType))):
        return again(clone, "clone", (input, *rest), {"memory_format": memory_format, **named})
    here, a = MODES.here, input._data
    if a.strides == (a.itemsize,) and a.size < MANY and a.dtype is not BOOL and memory_format is preserve_format:
        out = fresh(a.copy(), input._device, here.inference)
    else:
        out = copied(input, memory_format=memory_format)
    if here.grad and (input._requires_grad or needs_grad(input)):
        _CloneBackward0.record(out, (input,))
    elif input._inference and not here.inference:
        out._vc.version += 1  # torch's copying counts here
    return out


@op(guard=False)
def detach(input: Tensor = ABSENT, *rest: Any, **named: Any) -> Tensor:
    """The same memory and version counter, without history.

    Source: `torch.Tensor.detach`.
    """
    if rest or named or not isinstance(input, Tensor):
        return again(detach, "detach", (input, *rest), named)
    out = input._alias()
    if input._inference and not MODES.here.inference:
        out._counter = None  # torch gives it one of its own, which counts
    return out


@op(method=False)
def detach_(input: Tensor) -> Tensor:
    """Cut a tensor off its history, in place.

    Source: `torch.detach_`.
    """
    return input.detach_()


@op(function=False)
def contiguous(self: Tensor, *, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """The tensor itself if row-major and dense, else a recorded copy that is.

    Source: `torch.Tensor.contiguous`.
    """
    if not isinstance(memory_format, MemoryFormat):
        raise unfit("contiguous")
    if memory_format is preserve_format and not self.is_contiguous():
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return self if self.is_contiguous(memory_format=memory_format) else clone(self, memory_format=memory_format)


class CopyBackwards(Node):
    """The backward of `copy_`: nothing for the overwritten values, the gradient for the source."""

    __slots__ = ("source",)
    __module__ = "builtins"  # as torch prints it

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::CopyBackwards"

    def short_name(self) -> str:
        """The name in messages."""
        return self.name()

    def apply(self, grads: tuple) -> tuple:
        """The gradients for the inputs, from those of the outputs."""
        grad = grads[0]
        if grad is None:
            return (None, None)
        kind, where = self.source
        to_source = None if self._edges[1] is None else grad.to(kind, device=where)
        return (None if self._edges[0] is None else grad.new_zeros(grad.shape), to_source)


@op(function=False, guard=False)
def copy_(self: Tensor, src: Any = ABSENT, non_blocking: bool = False, *rest: Any, **named: Any) -> Tensor:
    """Write another tensor's values into this one's memory, converting dtype and device, broadcasting the source.

    Recorded as `CopyBackwards`: the source gets the gradient, the overwritten values get zeros.
    Source: `torch.Tensor.copy_`.
    """
    if rest or named or _type(non_blocking) is not bool or not (isinstance(src, Tensor) or is_number(src)):
        given = (self, src) if non_blocking is False and not rest else (self, src, non_blocking, *rest)
        return again(copy_, "copy_", given, named)
    here, a = MODES.here, self._data
    if isinstance(src, Tensor):
        b = src._data
        if (
            a.dtype is b.dtype is not BOOL and a.shape == b.shape and self._device is src._device
            and (self._storage is None or (src._storage is None and a.flags.forc))  # then they cannot share memory
            and not (here.grad and (wants_grad(self) or wants_grad(src)))
        ):  # fmt: skip
            a[...] = b
            self._own_counter().version += 1
            return self
    else:
        src = fresh(np.asarray(src, dtypes.of_number(src).np), self._device)
    recorded = recording(self, src) and self._data.dtype.kind == "f"
    check_inplace(self, recorded)
    fn = None
    if recorded:
        fn = CopyBackwards((edge_of(self), edge_of(src)), ())
        fn.source = (src.dtype, src._device)
        fn.describe(self)
    if not (src is self or _is_same_data(self, src)):
        check_overlap(self, src, histories=False)
        check_broadcast_into(self, src._data.shape)
        store(self, src._data)
        if src._device is not self._device:
            Transfers.count(self._device, self.nbytes)
    self._vc.version += 1
    if fn is not None:
        rebase_history(self, fn)
    return self


def _is_same_data(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors look at the same memory in the same way: then there is nothing to copy, nor to refuse."""
    x, y = a._data, b._data
    return (
        a._storage is not None and b._storage is not None and a._storage.buffer is b._storage.buffer
        and a._offset == b._offset and x.strides == y.strides and x.shape == y.shape and x.dtype is y.dtype
    )  # fmt: skip


# conversions -----------------------------------------------------------------------------------------------------------


def converted(
    self: Tensor, d: dtypes.dtype | None, where: device | None, copy: bool = False, memory_format: Any = preserve_format
) -> Tensor:
    """The tensor itself if it has this dtype and device already (and no copy is asked for), else a recorded copy."""
    kind = self._data.dtype if d is None else d.np
    where = self._device if where is None else where
    same = not copy and kind == self._data.dtype and where is self._device
    if same and (memory_format is preserve_format or memory_format is suggested(self._data)):
        return self
    out = copied(self, kind, where, memory_format)
    if self._inference and not MODES.here.inference:
        out._vc.version += 1
    elif kind.kind == "f" and recording(self):
        _ToCopyBackward0.record(out, (self,), _options=(self.dtype, self._device))
    return out


@op(function=False)
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Another dtype or device: `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(other_tensor)`, and `copy=`.

    Returns the very tensor if nothing changes and `copy` is False. Source: `torch.Tensor.to`.
    """
    copy = kwargs.pop("copy", False)
    memory_format = preserve_format if kwargs.get("memory_format") is None else kwargs["memory_format"]
    if not isinstance(memory_format, MemoryFormat):
        raise unfit("to")
    kwargs.pop("memory_format", None)
    kwargs.pop("non_blocking", None)
    d, where = dtypes.as_dtype(kwargs.pop("dtype", None), "to"), kwargs.pop("device", None)
    other = kwargs.pop("tensor", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    args = [dtypes.as_dtype(a) if a in (float, int, bool) and isinstance(a, _type) else a for a in args]
    if args and isinstance(args[0], Tensor):
        other = args.pop(0)
    elif args and isinstance(args[0], dtypes.dtype):
        d = args.pop(0)
    elif args and isinstance(args[0], (str, device, int)) and not isinstance(args[0], bool):
        where = args.pop(0)
        if args and (isinstance(args[0], dtypes.dtype) or args[0] is None):
            d = args.pop(0)
    elif args and args[0] is None:
        args.pop(0)
        if args and isinstance(args[0], dtypes.dtype):
            d = args.pop(0)
    if other is not None:
        d, where = other.dtype, other._device
    if args and isinstance(args[0], float):  # a number passes for a tensor
        d, where = dtypes.float64, CPU
        args.pop(0)
    if args and not isinstance(args[0], (bool, int)):
        raise unfit("to")
    copy = args[1] if len(args) > 1 else copy  # the first is non_blocking
    return converted(self, d, None if where is None else as_device(where), copy, memory_format)


def _conversion(name: str, d: dtypes.dtype) -> None:
    def convert(self: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
        return converted(self, d, None, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"As `{d!r}`: the tensor itself if it is already.\n\nSource: `torch.Tensor.{name}`."
    op(name, function=False)(convert)


for _name, _d in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "int": dtypes.int32,
    "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
}.items():  # fmt: skip
    _conversion(_name, _d)


@op(function=False)
def cpu(self: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """On the CPU: the tensor itself if it is there already.

    Source: `torch.Tensor.cpu`.
    """
    return converted(self, None, CPU, memory_format=memory_format)


@op(function=False)
def cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, *, memory_format: Any = preserve_format
) -> Tensor:
    """On the simulated cuda device: the tensor itself if it is there already.

    Source: `torch.Tensor.cuda`.
    """
    return converted(self, None, as_device("cuda" if device is None else device), memory_format=memory_format)


@op(function=False)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Another tensor's dtype.

    Source: `torch.Tensor.type_as`.
    """
    return converted(self, other.dtype, other._device)


@op(function=False)
def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The legacy type name, or with a dtype the tensor converted to it.

    Source: `torch.Tensor.type`.
    """
    if dtype is None:
        return tensor_type(self)
    if isinstance(dtype, _type) and dtype is not Tensor and not isinstance(dtype.__dict__.get("dtype"), dtypes.dtype):
        dtype = dtype.__name__
    if isinstance(dtype, str):
        found = next((d for d in dtypes.ALL if d.tensor_type == dtype.rpartition(".")[2]), None)
        if found is None:
            raise ValueError(f"invalid type: '{dtype}'")
        return converted(self, found, as_device("cuda") if ".cuda." in dtype else CPU)
    if dtype is Tensor:
        return converted(self, dtypes.get_default_dtype(), None)
    kind = dtype if isinstance(dtype, (dtypes.dtype, Tensor)) else getattr(dtype, "dtype", None)
    if not isinstance(kind, dtypes.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return converted(self, kind, getattr(dtype, "device", None))


Tensor._clone_contiguous = lambda self: clone(self, memory_format=contiguous_format)  # type: ignore[attr-defined]


def _clone_in_layout(self: Tensor, leaf: Tensor) -> Tensor:
    """A copy of a gradient with the leaf's strides if the leaf is dense, else row-major."""
    g = Geometry.of(leaf)
    if not leaf._data.size or (not g.overlaps() and g.reach() == leaf._data.size):
        if not MODES.here.grad:
            ours, theirs = self._data.itemsize, leaf._data.itemsize  # `.data =` may have given it another dtype
            steps = tuple([s // theirs * ours for s in leaf._data.strides])
            out = empty_strided(leaf._data.shape, steps, self._data.dtype, self._device)
            check_broadcast_into(out, self._data.shape)  # the leaf may have another shape by now
            store(out, self._data)
            out._vc.version = 1  # torch makes it empty and then copies into it
            return out
        return self.new_empty_strided(leaf._data.shape, leaf.stride()).copy_(self)
    return clone(self, memory_format=contiguous_format)


def _obeys_layout(self: Tensor, leaf: Tensor) -> bool:
    """Whether a gradient lies in memory as `.grad` must: as a dense leaf does, row-major for any other."""
    steps = self._data.strides
    if self._data.size and 0 in steps:
        return False  # even for a size of 1 a repeated gradient is copied
    if steps == leaf._data.strides and leaf._data.flags.c_contiguous and leaf._data.dtype is self._data.dtype:
        return True
    g = Geometry.of(leaf)
    if leaf._data.size and (g.overlaps() or g.reach() != leaf._data.size):
        return self._data.flags.c_contiguous
    ours, theirs = self._data.itemsize, leaf._data.itemsize  # `.data =` may have given the leaf another dtype since
    # so may its shape be another; of a 0-d tensor's strides torch reads a 1 that is left over
    pairs = itertools.zip_longest(self._data.strides, leaf._data.strides or (theirs,), self._data.shape, fillvalue=1)
    return all(a * theirs == b * ours or n == 1 for a, b, n in pairs)


Tensor._clone_in_layout = _clone_in_layout  # type: ignore[attr-defined]
Tensor._obeys_layout = _obeys_layout  # type: ignore[attr-defined]
Tensor._to_numpy_dtype = lambda self, kind: converted(self, dtypes.BY_NUM[kind.num], None)  # type: ignore[attr-defined]


# NumPy -------------------------------------------------------------------------------------------------------------------


@op(function=False)
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The memory as a NumPy array, shared. RuntimeError if the tensor requires grad; TypeError on the cuda device.

    Source: `torch.Tensor.numpy`.
    """
    if force:
        self = self.detach().cpu()
    if MODES.here.grad and self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self._device is not CPU:
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    self._own_storage()._resizable = False
    if not self._data.size:
        return np.empty(self._data.shape, self._data.dtype)  # with NumPy's strides for empty arrays
    return self._data[...] if self._data.ndim else self._data.view()


def _array(self: Tensor, dtype: Any = None) -> np.ndarray:
    """The memory as an array. It takes no `copy`, as torch's does not, so that NumPy warns of it where it does there."""
    a = numpy(self)
    return a if dtype is None else a.astype(dtype, copy=False)


_array.__name__, _array.__qualname__ = "__array__", "Tensor.__array__"  # the name by which NumPy knows the TypeError
Tensor.__array__ = _array  # type: ignore[attr-defined]


# Python's copy and pickle --------------------------------------------------------------------------------------------------


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    if self.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    with no_grad():
        store_ = _copy.deepcopy(self._own_storage(), memo)
        a = self._data
        out = fresh(a, self._device)
        out._data = np.ndarray(a.shape, a.dtype, store_.buffer, min(self._offset, store_.nbytes()), a.strides)
        out._storage, out._offset = store_, self._offset
        out._requires_grad = self.requires_grad
        out._vc.version = 1  # torch makes an empty tensor and then sets its storage
        out.__dict__.update(_copy.deepcopy(self.__dict__, memo))
        if self._grad is not None:
            out.grad = _copy.deepcopy(self._grad, memo)
    memo[id(self)] = out
    return out


def _storage_deepcopy(self: UntypedStorage, memo: dict) -> UntypedStorage:
    if id(self) not in memo:
        memo[id(self)] = self.clone()
    return memo[id(self)]


def _shallow_copy(self: Tensor) -> Tensor:
    """`copy.copy`: the same memory, a version counter of its own, a leaf."""
    warn_of_hooks(self)
    out = self._alias()
    out._inference = MODES.here.inference
    out._vc = VersionCounter()
    out._vc.version = 1  # torch makes an empty tensor and then sets its storage
    out._requires_grad = self.requires_grad
    if self.__class__ is not Tensor:
        out.__class__ = self.__class__
    out.__dict__.update(self.__dict__)
    return out


Tensor.__deepcopy__ = _deepcopy  # type: ignore[attr-defined]
Tensor.__copy__ = _shallow_copy  # type: ignore[attr-defined]
UntypedStorage.__deepcopy__ = _storage_deepcopy  # type: ignore[attr-defined]
