"""Views as copies: `view_copy`, `diagonal_copy` and their kin give what the view shows, with memory of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.history import set_history
from ..graph.node import not_differentiable
from ..tensor import Tensor, fresh, wrap_dim
from .arguments import type_name
from .core import op, record, recording, write_out
from .precedence import check_out
from .selecting import END, diagonal, select, slice_, unfold
from .splitting import split, split_with_sizes, unbind
from .views import alias, as_strided, expand, permute, squeeze, t, transpose, unsqueeze, view


@functools.cache
def _kind_of_copy(kind: type) -> type:
    return type(f"{kind.__name__}_copy", (kind,), {"__slots__": ()})


def _copies(seen: Any, node: Any) -> tuple[Tensor, ...]:
    """Copies of views, which take over the node that recorded these."""
    out = []
    if node is not None:
        node.__class__ = _kind_of_copy(type(node))
    for number, v in enumerate(seen):
        made = fresh(np.array(v._data, order="C"), v._device)
        if node is not None:
            set_history(made, node, number)
        out.append(made)
    return tuple(out)


_AS_C_NAMES_THEM = {"split_copy": "split_copy_Tensor_out()", "unbind_copy": "unbind_copy_int_out"}


def _write_each(out: Any, seen: tuple[Tensor, ...], name: str, input: Tensor) -> None:
    """The pieces given through `out=`, a tensor each; torch then returns nothing."""
    if not isinstance(out, list | tuple):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type_name(out)}")
    if len(out) != len(seen):
        kernel = _AS_C_NAMES_THEM.get(name, f"{name}_out")
        raise RuntimeError(f"{kernel} expected an out= argument of size {len(seen)}, got size {len(out)}")
    for o, v in zip(out, seen, strict=True):
        if name == "split_with_sizes_copy":
            write_out(o, v._data, name)
        else:
            check_out(name, o, input) if name == "unbind_copy" else None
            o.detach().copy_(v)


def _copy(name: str, look: Callable[..., Any]) -> None:
    def copy(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None:
            seen = look(input.detach(), *args, **kwargs)
            if isinstance(seen, tuple):
                return _write_each(out, seen, f"{name}_copy", input)
            return write_out(out, np.array(seen._data, order="C"), f"{name}_copy", input)
        seen = look(input, *args, **kwargs)
        several = isinstance(seen, tuple)
        made = _copies(seen if several else (seen,), (seen[0] if several else seen).grad_fn)
        return made if several else made[0]

    copy.__name__ = copy.__qualname__ = f"{name}_copy"
    copy.__doc__ = f"What `{name}` looks at, in a copy.\n\nSource: `torch.{name}_copy`."
    op(f"{name}_copy", method=False, strict=True)(copy)


def _slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return slice_(input, wrap_dim(dim, input._data.ndim), start or 0, END if end is None else end, step)


for _name, _look in {
    "alias": alias, "as_strided": as_strided, "diagonal": diagonal, "expand": expand, "permute": permute, "select": select,
    "slice": _slice, "split": split, "split_with_sizes": split_with_sizes, "squeeze": squeeze, "t": t,
    "transpose": transpose, "unbind": unbind, "unfold": unfold, "unsqueeze": unsqueeze, "view": view,
}.items():  # fmt: skip
    _copy(_name, _look)


_NoDetachCopy = not_differentiable("aten::detach_copy")


@op(method=False)
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy, recorded as an operation without a derivative. Source: `torch.detach_copy`."""
    if out is not None:
        return write_out(out, np.array(input._data, order="C"), "detach_copy", input)
    made = fresh(np.array(input._data, order="C"), input._device)
    return record(made, _NoDetachCopy, (input,)) if recording(input) else made
