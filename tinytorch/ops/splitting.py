"""Several views at once: split, chunk, unbind and their kin."""

from __future__ import annotations

from typing import Any

from ..graph.history import MULTI_OUTPUT, make_view, needs_grad, set_history
from ..graph.modes import MODES
from ..graph.node import MultiNode, node
from ..storage import VersionCounter
from ..tensor import Tensor, wrap_dim
from .arguments import ABSENT, unfit
from .core import FUNCTIONS, node_for, op
from .rejected import check_call
from .selecting import slice_
from .views import shape_argument


def several_views(self: Tensor, views: list[Tensor], kind: type, **saved: Any) -> tuple[Tensor, ...]:
    """Views that come from one operation, as outputs of one node; they refuse in-place writes in grad mode."""
    here = MODES.here
    for v in views:
        make_view(v, self, here, MULTI_OUTPUT if here.grad else None)
    return _outputs(self, views, kind, **saved)


def _outputs(self: Tensor, parts: list[Tensor], kind: type, **saved: Any) -> tuple[Tensor, ...]:
    if MODES.here.grad and needs_grad(self) and not self._inference:
        fn = node_for(kind, (self,), {"self_sym_sizes": self._data.shape, **saved})
        fn.describe_all(tuple(parts))  # type: ignore[attr-defined]
        for i, v in enumerate(parts):
            set_history(v, fn, i)
    return tuple(parts)


def _defined(grads: tuple, shapes: list[tuple]) -> list[Tensor]:
    like = next(g for g in grads if g is not None)
    return [like.new_zeros(s) if g is None else g for g, s in zip(grads, shapes, strict=True)]


def _joined(grads: tuple, sizes: tuple, lengths: Any, dim: int) -> Tensor:
    d = dim % len(sizes)
    shapes = [(*sizes[:d], n, *sizes[d + 1 :]) for n in lengths]
    return FUNCTIONS["cat"](_defined(grads, shapes), d)


def _stacked(grads: tuple, dim: int) -> Tensor:
    like = next(g for g in grads if g is not None)
    return FUNCTIONS["stack"](_defined(grads, [like._data.shape] * len(grads)), dim)


def _lengths(n: int, split_size: int) -> list[int]:
    if not split_size:
        return [n]
    count = max(-(-n // split_size), 1)
    return [split_size] * (count - 1) + [n - split_size * (count - 1)]


def _split_kinds(prefix: str) -> tuple[type, type]:
    def by_size(grads: tuple, self_sym_sizes: tuple, split_size: int, dim: int) -> Tensor:
        return _joined(grads, self_sym_sizes, _lengths(self_sym_sizes[dim % len(self_sym_sizes)], split_size), dim)

    def by_sizes(grads: tuple, self_sym_sizes: tuple, split_sizes: tuple, dim: int) -> Tensor:
        return _joined(grads, self_sym_sizes, split_sizes, dim)

    return (
        node(f"{prefix}SplitBackward0", by_size, base=MultiNode),
        node(f"{prefix}SplitWithSizesBackward0", by_sizes, base=MultiNode),
    )


_SplitBackward0, _SplitWithSizesBackward0 = _split_kinds("")
_UnsafeSplitBackward0, _UnsafeSplitWithSizesBackward0 = _split_kinds("Unsafe")
_UnbindBackward0 = node("UnbindBackward0", lambda grads, dim: _stacked(grads, dim), base=MultiNode)


@op(view=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, as a tuple of views.

    Source: `torch.unbind`.
    """
    a = input._data
    d = wrap_dim(dim, a.ndim)
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    shape, strides = a.shape[:d] + a.shape[d + 1 :], a.strides[:d] + a.strides[d + 1 :]
    parts = [input._strided(shape, strides, input._offset + i * a.strides[d]) for i in range(a.shape[d])]
    return several_views(input, parts, _UnbindBackward0, dim=dim)


def _parts(self: Tensor, lengths: Any, dim: int) -> list[Tensor]:
    a, d = self._data, wrap_dim(dim, self._data.ndim)
    out, offset = [], self._offset
    for n in lengths:
        out.append(self._strided((*a.shape[:d], n, *a.shape[d + 1 :]), a.strides, offset))
        offset += n * a.strides[d]
    return out


def _checked_size(self: Tensor, split_size: int, dim: int) -> list[int]:
    a = self._data
    if not a.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    n = a.shape[wrap_dim(dim, a.ndim)]
    if not split_size and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return _lengths(n, split_size)


def _checked_sizes(self: Tensor, split_sizes: Any, dim: int) -> tuple[int, ...]:
    if not isinstance(split_sizes, (tuple, list)):
        raise unfit("split_with_sizes")
    a, sizes = self._data, shape_argument((split_sizes,), "split_with_sizes")
    if not a.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, a.ndim)
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != a.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {a.shape[d]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(sizes)}"
        )
    return sizes


@op(view=True)
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given lengths along a dimension.

    Source: `torch.split_with_sizes`.
    """
    sizes = _checked_sizes(input, split_sizes, dim)
    return several_views(input, _parts(input, sizes, dim), _SplitWithSizesBackward0, split_sizes=sizes, dim=dim)


_SPLIT = tuple(f"split(Tensor input, {kind} split_size, int64_t dim=0)" for kind in ("SymInt", "SymIntArrayRef"))


def _split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `split_size` indices each (the last may be shorter), or of the lengths given in a list.

    Source: `torch.Tensor.split`.
    """
    if isinstance(split_size, Tensor) and split_size._data.size == 1:
        split_size = int(split_size)
    if not isinstance(split_size, int):
        if not isinstance(split_size, (tuple, list)) or {type(dim), *map(type, split_size)} != {int}:
            check_call("split_with_sizes", self, split_size, dim)
        return split_with_sizes(self, split_size, dim)
    if type(split_size) is not int or type(dim) is not int:
        check_call("split", self, split_size, dim, lines=_SPLIT)
    lengths = _checked_size(self, split_size, dim)
    return several_views(self, _parts(self, lengths, dim), _SplitBackward0, split_size=split_size, dim=dim)


_split.__name__, _split.__qualname__ = "split", "Tensor.split"
op("split", function=False)(_split)


@op(method=False)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `split_size_or_sections` indices each (the last may be shorter), or of the lengths given in a list.

    Source: `torch.split`.
    """
    return _split(tensor, split_size_or_sections, dim)


def _chunk_size(self: Tensor, chunks: int, dim: int) -> int:
    if not self._data.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if type(chunks) is bool:
        raise unfit("chunk")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-self._data.shape[wrap_dim(dim, self._data.ndim)] // chunks)


@op()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal length along a dimension (the last may be shorter).

    Source: `torch.chunk`.
    """
    size = _chunk_size(input, chunks, dim)
    return _split(input, size, dim) if size else split_with_sizes(input, [0] * chunks, dim)


# parts that share memory without being views, for those who write to them before they use the whole again -------------


def _detached(parts: list[Tensor]) -> list[Tensor]:
    for p in parts:
        p._vc = VersionCounter()
    return parts


@op()
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Like `split`, but autograd does not know that the parts share memory.

    Source: `torch.unsafe_split`.
    """
    parts = _detached(_parts(input, _checked_size(input, split_size, dim), dim))
    return _outputs(input, parts, _UnsafeSplitBackward0, split_size=split_size, dim=dim)


@op()
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Like `split_with_sizes`, but autograd does not know that the parts share memory.

    Source: `torch.unsafe_split_with_sizes`.
    """
    sizes = _checked_sizes(input, split_sizes, dim)
    parts = _detached(_parts(input, sizes, dim))
    return _outputs(input, parts, _UnsafeSplitWithSizesBackward0, split_sizes=sizes, dim=dim)


@op()
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Like `chunk`, but autograd does not know that the parts share memory.

    Source: `torch.unsafe_chunk`.
    """
    size = _chunk_size(input, chunks, dim)
    return unsafe_split(input, size, dim) if size else unsafe_split_with_sizes(input, [0] * chunks, dim)


# parts at chosen places: one slice each ------------------------------------------------------------------------------


@op()
def tensor_split(
    input: Tensor, where: Any = ABSENT, dim: int = 0, *, indices: Any = ABSENT, sections: Any = ABSENT,
    tensor_indices_or_sections: Any = ABSENT,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Views cut at the given indices, or into sections of nearly equal length.

    Source: `torch.tensor_split`.
    """
    given = [x for x in (where, indices, sections, tensor_indices_or_sections) if x is not ABSENT]
    if len(given) != 1 or isinstance(given[0], bool):
        raise unfit("tensor_split")
    where = given[0]
    a = input._data
    if not a.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = wrap_dim(dim, a.ndim)
    n = a.shape[d]
    if isinstance(where, Tensor):
        if where._data.ndim > 1 or where._data.dtype != "i8":
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{where.dtype.scalar_name}" if where._data.dtype != "i8" else
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {where._data.ndim} dims"
            )  # fmt: skip
        where = where.tolist()
    if isinstance(where, int):
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        least, more = divmod(n, where)
        ends, at = [], 0
        for i in range(where):
            ends.append((at, at + least + (i < more)))
            at = ends[-1][1]
        return tuple(slice_(input, d, start, end, 1) for start, end in ends)
    cuts = shape_argument((where,))
    ends = zip([0, *cuts], [*cuts, n], strict=True)
    return tuple(slice_(input, d, start, end, 1) for start, end in ends)


def _along(name: str, least: int, dim: int) -> None:
    def cut(input: Tensor, where: Any = ABSENT, *, indices: Any = ABSENT, sections: Any = ABSENT) -> tuple[Tensor, ...]:
        given = [x for x in (where, indices, sections) if x is not ABSENT]
        if len(given) != 1 or isinstance(given[0], bool):
            raise unfit(name)
        a, indices_or_sections = input._data, given[0]
        if a.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {a.ndim} "
                "dimensions!"
            )
        d = 0 if a.ndim == 1 else dim
        if isinstance(indices_or_sections, int) and (not indices_or_sections or a.shape[d] % abs(indices_or_sections)):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {d}, but the size of the dimension {a.shape[d]} is "
                f"not divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(input, indices_or_sections, d)

    cut.__name__ = cut.__qualname__ = name
    cut.__doc__ = f"`tensor_split` along dimension {dim}, into equal sections only.\n\nSource: `torch.{name}`."
    op(name)(cut)


_along("hsplit", 1, 1)
_along("vsplit", 2, 0)
_along("dsplit", 3, 2)
