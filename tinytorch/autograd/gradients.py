"""Gradients on their way: plain arrays, with what torch knows of the tensors in their place.

torch adds to a gradient in place where nobody else holds it, and makes the `.grad` of a leaf of it without a copy; both
can be seen, in versions and in shared memory. So each array has a state: the version that the tensor in its place would
have, and whether somebody else holds that tensor, or only its memory, or nobody either. Source: torch's `InputBuffer`
and `accumulate_grad.h`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import BY_NUM, contiguous_strides, empty_like_strides, is_dense, owner, result_layout
from ..graph import (
    ALONE,
    SHARED,
    TWICE,
    VERSION,
    VIEW,
    Outputs,
    TensorBase,
    count_write,
    edge_of,
    expectation,
    hooks,
    saved_arrays,
    view_of,
)
from ..ops import clone, contiguous_format, copied, copy_, new_empty_strided
from ..tensor import as_result, device_of, over

ndarray = np.ndarray


def state_of(fn: Any, grads: list, states: list[int], outputs: list, i: int) -> int:
    """The state of number `i` of the arrays that a node's formulas gave, from those of the arrays that it was given."""
    grad = outputs[i]
    if len(outputs) == 1 and grads[0] is not None and grad.base is grads[0]:  # as below, at once
        return states[0] - states[0] % VERSION + VIEW
    memory = owner(grad)
    for given, state in zip(grads, states, strict=True):
        if given is not None and owner(given) is memory:
            if grad is not given:  # a view, whose base torch keeps as long as the view
                return state - state % VERSION + VIEW
            rest = [  # others over the same memory; what is made into another shape or dtype is let go by then
                o for j, (o, edge) in enumerate(zip(outputs, fn._edges, strict=True))
                if j != i and o is not None and edge is not None and owner(o) is memory
                and (o.shape, o.dtype) == expected(edge, fn._seq)[:2]
            ]  # fmt: skip
            if any(o is grad for o in rest):
                return state | TWICE
            return state - ALONE + VIEW if rest and state % TWICE == ALONE else state
    if any(owner(saved) is memory for saved in saved_arrays(fn._saved or ())) or (
        type(grad.base) is ndarray and grad.base.ndim > grad.ndim > 0
    ):
        return VIEW  # of what was saved, or of a sum without its leading dimensions
    return fn._made


def laid(fn: Any, grad: Any, outputs: list) -> list:
    """What formulas computed element by element, laid out by torch's rules where the operands lie in several orders."""
    found = list(outputs)
    for i, (_, wanted) in enumerate(fn.rules):
        o = outputs[i]
        if type(o) is ndarray and o is not grad:
            arrays = [
                grad,
                *saved_arrays([fn._saved[at] for at in wanted]),
            ]
            if 1 in o.shape or not all(a.flags.c_contiguous or 0 in a.strides for a in arrays):
                found[i] = result_layout(o, *[a for a in arrays if a.shape == o.shape])
    return found


def state_fitted(before: Any, after: Any) -> int:
    """The state of a gradient that was brought to another shape or dtype: leading dimensions go by a view of the sum."""
    return (
        VIEW if before.ndim > after.ndim > 0 and getattr(after, "base", None) is not None else ALONE
    )


def resolved(state: int, grad: Any, waiting: tuple, outputs: Any = ()) -> int:
    """A state without TWICE, from whether the walk does hold the gradient now besides where it is looked at."""
    if state & TWICE:
        state -= TWICE
        if any(b is grad for *_, grads, _ in waiting for b in grads) or any(
            o is grad for o in outputs
        ):
            state -= state % TWICE
    return state


# tensors over them ------------------------------------------------------------------------------------------------------


KNOWN: Any = (
    weakref.WeakValueDictionary()
)  # tensors that somebody holds, by the numbers of their arrays and memory


def know(*tensors: Any) -> None:
    """Keep in mind that gradients are these tensors, as long as somebody holds them."""
    for t in tensors:
        if t is not None:
            KNOWN[id(t._data)] = t
            KNOWN.setdefault(
                id(owner(t._data)), t
            )  # whoever was first, another looks at the memory through


def as_tensor(grad: Any, device: Any, state: int = ALONE) -> Any:
    """A tensor over a gradient that is an array: the very one that somebody holds, or a view if torch's would be one."""
    if grad is None or isinstance(grad, TensorBase):
        return grad
    if state % TWICE != ALONE:
        known = KNOWN.get(id(grad))
        if known is not None and known._data is grad:
            return known
        if type(grad.base) is ndarray:
            base = KNOWN.get(id(memory := owner(grad)))
            if base is None or owner(base._data) is not memory:
                base = as_tensor(memory, device, state - state % VERSION + ALONE)
            t = base._looking(grad)
            view_of(t, base)
            return t
    return over(grad if grad.size else as_result(grad), device, state // VERSION)


def devices(fn: Any) -> list:
    """Where the gradients of a node's outputs lie."""
    return [device for _, _, device in fn._expects]


def as_tensors(grads: list, states: list[int], places: list) -> tuple:
    """Gradients as hooks see them."""
    return tuple([as_tensor(g, d, s) for g, s, d in zip(grads, states, places, strict=True)])


def through(call: Callable, grads: list, states: list[int], places: list, raw: bool) -> list:
    """What `call` makes of gradients, which it is given and gives as tensors; if `raw`, arrays with who else holds them.

    A tensor that is gone once nobody here holds it was the walk's alone.
    """
    seen = as_tensors(grads, states, places)
    if not raw:
        return list(call(seen))
    ids = set(map(id, seen))
    tensors: list = list(call(seen))
    del seen
    know(*tensors)
    arrays = [None if t is None else t._data for t in tensors]
    before = {
        id(owner(g)): state % TWICE for g, state in zip(grads, states, strict=True) if g is not None
    }
    looks = {}  # of each tensor the most that its state may be, and what tells whether somebody holds it
    t = None
    for i, t in enumerate(tensors):
        if t is not None:
            memory = owner(t._data)
            known = before.get(id(memory), ALONE)
            kind = min(VIEW if t._view else ALONE, known if id(t) in ids else max(known, VIEW))
            if sum(a is not None and owner(a) is memory for a in arrays) > 1:
                kind = min(kind, VIEW) if sum(t is other for other in tensors) == 1 else SHARED
            looks[i] = (
                kind,
                t._counter,
                weakref.ref(t),
                t._storage if t._storage is None else weakref.ref(t._storage),
            )
    del t
    tensors.clear()
    found = [SHARED] * len(arrays)
    for i, (most, counter, tensor, storage) in looks.items():
        held = VIEW if storage is not None and storage() is not None else ALONE
        kind = min(most, held) if tensor() is None else SHARED
        found[i] = kind + VERSION * (0 if counter.is_inference else counter.version)
    return Outputs(arrays, found)


# as they must be --------------------------------------------------------------------------------------------------------


def expected(edge: Any, seq: int | None = None) -> tuple:
    """Shape, dtype and device that a gradient must have that goes along an edge; `seq`: of the node that it comes from."""
    fn, nr = edge
    if not fn._leaf:
        return fn._expects[nr]
    for until, before in fn._meta.exchanged if seq is not None else ():
        if seq < until:  # the node is older than what `.data =` gave the leaf since
            return before
    return expectation(fn)


def fitted(fn: Any, i: int, grad: Any, wanted: tuple) -> Any:
    """A gradient, array or tensor, brought to the shape and dtype of its value, or torch's error; `fn`: None for roots."""
    shape, kind, _ = wanted
    if isinstance(grad, np.generic):
        grad = np.asarray(grad)
    if grad.shape != shape:
        have, lead = tuple(grad.shape), grad.ndim - len(shape)
        if lead < 0 or any(n not in (1, m) for n, m in zip(shape, have[lead:], strict=True)):
            who = "" if fn is None else f"Function {fn.name()} returned an "
            raise RuntimeError(f"{who}invalid gradient at index {i} - got {list(have)} but expected shape compatible with {list(shape)}")  # fmt: skip
        if type(grad) is ndarray:
            if (
                fn is not None and fn._expects[0][1] == kind
            ):  # what NumPy computes from integers is wider
                grad = grad.astype(kind, copy=False)
            dims = [
                *range(lead),
                *[d + lead for d, n in enumerate(shape) if n == 1 != have[d + lead]],
            ]
            grad = np.ascontiguousarray(
                np.add.reduce(grad, tuple(dims), keepdims=lead > 0)
            ).reshape(shape)
        else:
            grad = grad.sum_to_size(shape)
    if type(grad) is ndarray:
        return grad if grad.dtype == kind else copied(grad, None, kind)
    if grad._data.dtype != kind:
        grad = grad.to(BY_NUM[kind.num])
    return grad


# leaves -----------------------------------------------------------------------------------------------------------------


def accumulate(leaf: Any, grad: Any, state: int, warnings: list) -> None:
    """Add a gradient (an array, or a tensor) to a leaf's `.grad`: in place, or out of place if a graph of it is built."""
    m = leaf._meta
    if grad is not None:
        if leaf._view is not None:
            edge_of(leaf)  # which brings its history up to date
        if leaf._edge is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if m.requires_grad:
            old = m.grad
            if old is None:
                m.grad = _first_grad(leaf, grad, state)
            else:
                _add_to_grad(leaf, old, grad, warnings)
    if m.after_accumulate:
        hooks.after_accumulate(leaf)


def _first_grad(leaf: Any, grad: Any, state: int) -> Any:
    """What becomes the `.grad` of a leaf that has none: the gradient itself, or a copy that lies as torch wants it."""
    like = leaf._data
    if type(grad) is ndarray:
        if state % TWICE != SHARED and _obeys_layout(grad, like):
            device = device_of(leaf)
            if grad.size and (state % TWICE == ALONE or not KNOWN):  # as nearly always
                return over(grad, device, state // VERSION)
            t = as_tensor(grad, device, state)
            return t if t._view is None else t.detach()
        if grad.shape == like.shape and is_dense(like):
            strides = tuple([s // like.itemsize * grad.itemsize for s in like.strides])
            copy = empty_like_strides(like.shape, grad.dtype, strides)
            copy[...] = grad
            return as_tensor(
                copy, leaf.device, VERSION + ALONE
            )  # torch makes it empty and then copies into it
    grad = as_tensor(grad, leaf.device)
    if is_dense(like):
        return copy_(new_empty_strided(grad, tuple(leaf.shape), leaf.stride()), grad)
    return clone(grad, contiguous_format)


def _add_to_grad(leaf: Any, old: Any, grad: Any, warnings: list) -> None:
    a, recorded = old._data, type(grad) is not ndarray
    if (
        not recorded and a.dtype is grad.dtype and a.shape == grad.shape and a.flags.forc
        and not old._counter.is_inference and (old._storage is leaf._storage or device_of(old) is device_of(leaf))
    ):  # fmt: skip
        np.add(a, grad, a)
        count_write(old)
    elif recorded:
        leaf._meta.grad = old = old + as_tensor(grad, leaf.device)
    else:
        old.add_(as_tensor(grad, leaf.device))
    if not _obeys_layout(old._data, leaf._data):
        message = "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance."  # fmt: skip
        for name, t in (("grad", old), ("param", leaf)):
            message += f"\n{name}.sizes() = {list(t.shape)}, strides() = {list(t.stride())}"
        warnings.append(
            (
                message,
                f"torch/csrc/autograd/functions/accumulate_grad.h:{282 if recorded else 252}",
                True,
            )
        )


def _obeys_layout(grad: ndarray, like: ndarray) -> bool:
    """Whether a gradient lies in memory as `.grad` must: as a dense leaf does, row-major for any other."""
    steps = grad.strides
    if not grad.size and grad.base is None:  # NumPy's are 0
        steps = contiguous_strides(grad.shape, grad.itemsize)
    elif 0 in steps:  # even for a size of 1 a repeated gradient is copied
        return not grad.size and steps == like.strides
    if steps == like.strides and like.flags.c_contiguous and grad.dtype is like.dtype:
        return True
    if not is_dense(like):
        return grad.flags.c_contiguous
    # `.data =` may have given the leaf another dtype or shape; of a 0-d tensor's strides torch reads a 1 that is left over
    ours, theirs = grad.itemsize, like.itemsize
    pairs = itertools.zip_longest(steps, like.strides or (theirs,), grad.shape, fillvalue=1)
    return all(a * theirs == b * ours or n == 1 for a, b, n in pairs)
