"""Reading along one dimension by index, and writing in the same way: index_select, gather, take, scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.node import node, not_differentiable
from ..tensor import Tensor, fresh, wrap_dim
from ..warn import warn_in_torch
from .arguments import ABSENT, is_number, unfit
from .copying import contiguous_format
from .core import (
    FUNCTIONS,
    broadcast_error,
    check_no_overlap,
    check_overlap,
    common_device,
    expect_tensor,
    number_array,
    op,
    quiet,
    record,
    recording,
    write_out,
)
from .views import expand
from .writing import Recorded, both_forms

INDEXING_FILE = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"


def along(ndim: int, d: int, index: np.ndarray) -> tuple:
    """NumPy's index for what lies at the given indices of one dimension."""
    return (slice(None),) * d + (index,) if ndim else (...,)


def check_bounds(index: np.ndarray, n: int, least: int, message: str, kind: type[Exception] = RuntimeError) -> None:
    """Raise an error of this kind, with the index put into the message, if one lies outside."""
    bad = (index < least) | (index >= n)
    if bad.any():
        raise kind(message.format(index[bad].flat[0]))


def _written(made: Tensor) -> Tensor:
    made._own_counter().version = 1  # torch adds in place to what nobody else has
    return made


# index_select --------------------------------------------------------------------------------------------------------

_IndexSelectBackward0 = node(
    "IndexSelectBackward0",
    lambda grad, self_sym_sizes, dim, index: _written(grad.new_zeros(self_sym_sizes).index_add(dim, index, grad)),
)


@op()
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The parts at the given indices of one dimension, in a copy.

    Source: `torch.index_select`.
    """
    a, i = input._data, index._data
    if index._device is not input._device:
        common_device("_index_select", input, index, names=("self", "index"))
    d = wrap_dim(dim, a.ndim)
    if i.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not a.ndim and i.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {i.size} value(s)")
    if i.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    n = a.shape[d] if a.ndim else 1
    if not n and i.size and a.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if a.ndim > 1 and (d == 1 or not a.size):
        check_bounds(i, n, 0, f"INDICES element is out of DATA bounds, id={{}} axis_dim={n}")
    else:
        check_bounds(i, n, 0, "index out of range in self", IndexError)
    data = np.ascontiguousarray(np.take(a, i.reshape(-1), d)) if a.ndim else a.copy()
    if out is not None:
        return write_out(out, data, "index_select", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _IndexSelectBackward0, (input,), self_sym_sizes=a.shape, dim=dim, index=index)
    return made


# gather and take -----------------------------------------------------------------------------------------------------

_GatherBackward0 = node(
    "GatherBackward0",
    lambda grad, self, dim, index, sparse_grad: _written(scatter_add(grad.new_zeros(self.shape), dim, index, grad)),
)
_TakeBackward0 = node(
    "TakeBackward0",
    lambda grad, self, index: _written(FUNCTIONS["zeros_like"](self).put(index, grad, accumulate=True)),
)


def points(a: np.ndarray, d: int, index: np.ndarray) -> tuple:
    """NumPy's index for the elements that `gather` reads and `scatter` writes."""
    if not a.ndim:
        return (...,)
    at = list(np.ogrid[tuple(slice(n) for n in index.shape)]) if index.ndim else [()]
    at[d] = index
    return tuple(at)


def one_number(value: Tensor, name: str) -> Any:
    """The number that torch's parser takes a tensor for; it takes none with dimensions or one that requires grad."""
    if value._data.ndim or value.requires_grad:
        raise unfit(name)
    return value.item()


def _check_index(name: str, a: np.ndarray, d: int, index: np.ndarray, words: str = "int32/int64") -> None:
    if index.size and index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype {words} for index")


def in_range(a: np.ndarray, d: int, index: np.ndarray) -> None:
    """Raise torch's error for an index outside of dimension `d`."""
    n = a.shape[d] if a.ndim else 1
    check_bounds(index, n, 0, f"index {{}} is out of bounds for dimension {d} with size {n}")


@op()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """For each place of `index`, the element at that place with the index put in for one dimension.

    Source: `torch.gather`.
    """
    a, i = input._data, index._data
    if index._device is not input._device:
        common_device("gather", input, index, names=("self", "index"))
    d = wrap_dim(dim, a.ndim)
    _check_index("gather", a, d, i)
    if i.size:
        if max(i.ndim, 1) != max(a.ndim, 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
        for k, n in enumerate(i.shape):
            if k != d and a.ndim and n > a.shape[k]:
                raise RuntimeError(
                    f"Size does not match at dimension {k} expected index {list(i.shape)} to be no larger than self "
                    f"{list(a.shape)} apart from dimension {d}"
                )
    in_range(a, d, i)
    if not i.size:
        data = np.empty(i.shape, a.dtype)
    elif not a.ndim:
        data = np.full(i.shape, a)
    else:
        data = np.ascontiguousarray(a[points(a, d, i.reshape(i.shape or (1,)))]).reshape(i.shape)
    if out is not None:
        return write_out(out, data, "gather", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _GatherBackward0, (input,), self=input, dim=dim, index=index, sparse_grad=sparse_grad)
    return made


def flat(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The numbers of elements, if there are such elements."""
    n = a.size
    check_bounds(index, n, -n, f"out of range: tried to access index {{}} on a tensor of {n} elements.", IndexError)
    return index


@op()
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements by their number in row-major order, in the shape of `index`.

    Source: `torch.take`.
    """
    a, i = input._data, index._data
    if i.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if not a.size and i.size:
        raise IndexError("take(): tried to take from an empty tensor")
    data = a.reshape(-1)[flat(a, i)]
    if out is not None:
        return write_out(out, data, "take", input)
    made = fresh(data, input._device)
    if recording(input):
        record(made, _TakeBackward0, (input,), self=input, index=index)
    return made


@op()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """`gather` whose operands broadcast against each other and whose indices wrap around.

    Without `dim`, elements by their number. Source: `torch.take_along_dim`.
    """
    a, i = input._data, indices._data
    if indices._device is not input._device:
        raise RuntimeError(
            f"Expected tensor to have {input._device} Device, but got tensor with {indices._device} Device (while "
            "checking arguments for torch.take_along_dim():)"
        )
    if dim is None:
        return gather(input.view(-1), 0, indices.view(-1), out=out)
    if a.ndim != i.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{a.ndim} dimensions for input, and {i.ndim} dimensions for indices"
        )
    if i.dtype != np.int64:
        kind = indices.dtype.scalar_name
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {kind}")
    d = wrap_dim(dim, a.ndim)
    if not a.ndim:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    ones = lambda s: (*s[:d], 1, *s[d + 1 :])  # noqa: E731
    try:
        both = np.broadcast_shapes(ones(a.shape), ones(i.shape))
    except ValueError:
        raise broadcast_error(ones(a.shape), ones(i.shape)) from None
    whole = lambda s: (*both[:d], s[d], *both[d + 1 :])  # noqa: E731
    wrapped = FUNCTIONS["remainder"](expand(indices, whole(i.shape)), a.shape[d])
    return gather(expand(input, whole(a.shape)), d, wrapped, out=out)


# scatter -------------------------------------------------------------------------------------------------------------

_ScatterBackward0 = node(
    "ScatterBackward0",
    lambda grad, dim, index: scatter(grad, dim, index, 0),
    lambda grad, dim, index: gather(grad, dim, index),
)
_ScatterBackward1 = node("ScatterBackward1", lambda grad, dim, index: scatter(grad, dim, index, 0))
_ScatterAddBackward0 = node("ScatterAddBackward0", lambda grad: grad, lambda grad, dim, index: gather(grad, dim, index))
_NoBackward = not_differentiable("aten::scatter")
_NoBackward.in_place = not_differentiable("aten::scatter_")  # type: ignore[attr-defined]


def _check_shapes(a: np.ndarray, d: int, index: np.ndarray, src: np.ndarray | None) -> None:
    """Raise torch's error unless `index` lies within the tensor, but for dimension `d`, and within the source."""
    size, ndim = index.shape or (1,), max(index.ndim, 1)
    if max(a.ndim, 1) != ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    too_big = any(k != d and n > m for k, (n, m) in enumerate(zip(size, a.shape or (1,), strict=True)))
    if src is not None:
        if not too_big and 0 < src.ndim < ndim and all(n <= m for n, m in zip(size, src.shape, strict=False)):
            wrap_dim(src.ndim, src.ndim)  # torch asks the source for a size that it does not have
        if max(src.ndim, 1) != ndim:
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        too_big = too_big or any(n > m for n, m in zip(size, src.shape or (1,), strict=True))
    if too_big:
        more = f" and to be no larger size than src {list(src.shape)}" if src is not None else ""
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart from dimension {d}{more}"
        )


def check_scattered(self: Tensor, dim: int, index: Tensor, src: Any) -> None:
    """What torch looks at before it scatters: dtypes, shapes, shared memory."""
    a, i = self._data, index._data
    d = wrap_dim(dim, a.ndim)
    _check_index("scatter", a, d, i)
    tensor = isinstance(src, Tensor)
    if tensor and src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if i.size:
        _check_shapes(a, d, i, src._data if tensor else None)
    check_overlap(self)
    check_no_overlap(self, index, *([src] if tensor else []))


def write_scattered(self: Tensor, dim: int, index: Tensor, src: Any, how: Any) -> None:
    """Write the source's elements, or one number, where `index` points; `how`: the ufunc to do it by, if any."""
    a, i = self._data, index._data
    if not i.size:
        return
    d, size = wrap_dim(dim, a.ndim), i.shape or (1,)
    in_range(a, d, i)
    if isinstance(src, Tensor):
        values = src._data.reshape(src._data.shape or (1,))[tuple(slice(n) for n in size)]
        values = values if a.ndim else values.reshape(-1)[-1] if how is None else how.reduce(values, None, a.dtype)
    else:
        values = number_array(src, self.dtype)
    at = points(a, d, i.reshape(size))
    if how is None:
        a[at] = values
    else:
        quiet.run(how.at, a, at, values)


def _scatter_node(self: Tensor, values: dict) -> Recorded:
    src, value, index, reduce = values["src"], values["value"], values["index"], values["reduce"]
    if src is not None:
        values["source"] = src if isinstance(src, Tensor) else None
    elif value is not None:
        values["source"] = one_number(value, "scatter") if isinstance(value, Tensor) else value
    src = values["source"]
    if not isinstance(index, Tensor) or reduce is None or not (isinstance(src, Tensor) or is_number(src)):
        raise unfit("scatter")
    tensor = isinstance(src, Tensor)
    inputs = (self, src) if tensor else (self,)
    if index._device is not self._device or (tensor and src._device is not self._device):
        name = (
            "scatter_" + ("src" if tensor else "value") if reduce is ABSENT else "reduce" if tensor else "value_reduce"
        )
        common_device(name, self, index, *inputs[1:], names=("self", "index", "src")[: len(inputs) + 1])
    if reduce is not ABSENT:
        return _NoBackward, inputs, {}
    return (_ScatterBackward0 if len(inputs) > 1 else _ScatterBackward1), inputs, {}


@both_forms(
    "The source's elements, or one value, written at the places that `index` names along one dimension.", _scatter_node,
    layout=contiguous_format,
)  # fmt: skip
def _scatter(
    self: Tensor, dim: int, index: Tensor, source: Any = None, *, src: Any = None, value: Any = None, reduce: Any = ABSENT,
) -> None:  # fmt: skip
    src = source
    if reduce is not ABSENT and isinstance(src, Tensor):
        warn_in_torch(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
            "PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
            f"{INDEXING_FILE}:225",
            once=True,
        )
    check_scattered(self, dim, index, src)
    if reduce not in (ABSENT, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    write_scattered(self, dim, index, src, {"add": np.add, "multiply": np.multiply}.get(reduce))


scatter = _scatter


@both_forms("The source's elements added at the places that `index` names along one dimension.",
            lambda self, values: (_ScatterAddBackward0, (self, values["src"]), {}),
            layout=contiguous_format)  # fmt: skip
def _scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    expect_tensor(src, "scatter_add")
    if index._device is not self._device or src._device is not self._device:
        common_device("scatter_add", self, index, src, names=("self", "index", "src"))
    check_scattered(self, dim, index, src)
    write_scattered(self, dim, index, src, np.add)


scatter_add = _scatter_add
