"""Meeting gradients: the sum of two that arrive at one node, and the `.grad` of a leaf.

Gradients are arrays, or tensors where the gradient's own graph is wanted. Source: PyTorch's
`input_buffer.cpp` and `accumulate_grad.h`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..base import (
    CPU,
    contiguous_strides,
    empty_like_strides,
    is_dense,
    lay_out_result,
    memory_owner,
    warn_in_torch,
)
from ..graph import NEW_GRADIENT, GradientState, SeenBy, count_write, gradient_edge, hooks
from ..ops import clone, contiguous_format, copy_, new_empty_strided
from ..tensor import device_of, make_tensor_over
from .gradient_tensors import (
    is_any_tensor_remembered,
    is_memory_held_as_tensor,
    note_holder,
    tensor_over,
)

ndarray = np.ndarray


def add_gradients(earlier: Any, gradient: Any, state: GradientState) -> tuple[Any, GradientState]:
    """Add a gradient to one that arrived earlier, in `state`; return the sum and its state."""
    if type(earlier) is not ndarray:
        return earlier + gradient, NEW_GRADIENT
    # PyTorch adds in place if nobody else can see it, which raises the version that hooks observe.
    # `state` is that of its arrival: a leaf may have made a view of it its `.grad` since.
    is_written = (
        state.is_held_once
        and (earlier.flags.forc or is_dense(earlier))
        and not is_memory_held_as_tensor(memory_owner(earlier))
    )
    if earlier.shape != gradient.shape or earlier.dtype is not gradient.dtype:
        # `.data =` has given a leaf another shape or dtype since a part of the graph was recorded.
        # Tensors broadcast, promote and refuse as PyTorch does.
        sum_so_far, more = make_tensor_over(earlier), make_tensor_over(gradient)
        total = (sum_so_far.add_(more) if is_written else sum_so_far + more)._data
    elif is_written:
        total = np.add(earlier, gradient, earlier)
    else:
        total = lay_out_result(earlier + gradient, earlier, gradient)
    return total, state.after_write() if is_written else NEW_GRADIENT


def accumulate_into_leaf(leaf: Any, gradient: Any, state: GradientState) -> None:
    """Add a gradient, if there is one, to a leaf's `.grad`, and run the hooks on that.

    In place if the gradient is an array, out of place if it is a tensor with a graph.
    """
    meta = leaf._meta
    if leaf._view_meta is not None:
        # Called to bring its history up to date: a write to its base may have given it one.
        gradient_edge(leaf)
    # PyTorch checks this even if no gradient arrives.
    if leaf._edge is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior")
    # A hook may have switched `requires_grad` off since the graph was recorded.
    if gradient is not None and meta.requires_grad:
        if meta.grad is None:
            meta.grad = _first_grad(leaf, gradient, state)
        else:
            _add_to_grad(leaf, meta.grad, gradient)
    if meta.post_accumulate_hooks:
        hooks.run_post_accumulate_hooks(leaf)


def _first_grad(leaf: Any, gradient: Any, state: GradientState) -> Any:
    """Return the first `.grad` of a leaf: the gradient, or a copy with the leaf's strides."""
    data = leaf._data
    if type(gradient) is ndarray:
        # PyTorch takes the gradient itself ("steals" it) if nobody else holds that tensor.
        if state.seen_by is not SeenBy.SAME_TENSOR and _obeys_layout(gradient, data):
            # Nearly always nobody else can have a tensor over its memory.
            if state.is_memory_held_once and gradient.size:
                storage = leaf._storage
                device = CPU if storage is None else storage.device
                return make_tensor_over(gradient, device, state.version)
            return _grad_over_shared_memory(gradient, device_of(leaf), state)
        if gradient.shape == data.shape and is_dense(data):
            copy = _copy_with_strides_of(gradient, data)
            # PyTorch makes it empty and copies into it, which counts as a write.
            return tensor_over(copy, leaf.device, NEW_GRADIENT.after_write())
    gradient = tensor_over(gradient, leaf.device)
    if is_dense(data):
        return copy_(new_empty_strided(gradient, tuple(leaf.shape), leaf.stride()), gradient)
    return clone(gradient, contiguous_format)


def _grad_over_shared_memory(gradient: ndarray, device: Any, state: GradientState) -> Any:
    """Return a tensor over the gradient itself, as a `.grad`: no view, even of shared memory."""
    if gradient.size and not is_any_tensor_remembered():
        grad = make_tensor_over(gradient, device, state.version)
    else:
        # Where somebody holds a tensor over this memory, `tensor_over` gives a view of that tensor.
        # PyTorch's `.grad` has no base: `detach` takes it away.
        grad = tensor_over(gradient, device, state)
        if grad._view_meta is not None:
            grad = grad.detach()
    # Another gradient over this memory may still be on its way: what `add_gradients` adds to that
    # must not be added to the `.grad`.
    if state.seen_by is SeenBy.SAME_MEMORY:
        note_holder(grad)
    return grad


def _copy_with_strides_of(gradient: ndarray, data: ndarray) -> ndarray:
    """Return a copy of a gradient, laid out as the elements of `data` are."""
    strides = [stride // data.itemsize * gradient.itemsize for stride in data.strides]
    copy = empty_like_strides(data.shape, gradient.dtype, tuple(strides))
    copy[...] = gradient
    return copy


def _add_to_grad(leaf: Any, grad: Any, gradient: Any) -> None:
    """Add to the `.grad` of a leaf, and warn if it has the wrong strides."""
    has_graph = type(gradient) is not ndarray
    if has_graph:
        leaf._meta.grad = grad = grad + tensor_over(gradient, leaf.device)
    elif _can_add_arrays(leaf, grad, gradient):
        # The usual case, in a quarter of the time of `add_`, which does the same.
        np.add(grad._data, gradient, grad._data)
        count_write(grad)
    else:
        grad.add_(tensor_over(gradient, leaf.device))
    if not _obeys_layout(grad._data, leaf._data):
        _warn_of_layout(leaf, grad, has_graph)


def _can_add_arrays(leaf: Any, grad: Any, gradient: ndarray) -> bool:
    """Return True if `grad.add_` would do nothing but add the array and count the write."""
    data = grad._data
    return (
        data.dtype is gradient.dtype
        and data.shape == gradient.shape
        and data.flags.forc
        and not grad._counter.is_inference
        # `.data =` may have moved the leaf to another device. Nearly always neither has a storage
        # object, as it was never asked for one; that is quicker to ask than the devices.
        and (grad._storage is leaf._storage or device_of(grad) is device_of(leaf))
    )


def _warn_of_layout(leaf: Any, grad: Any, has_graph: bool) -> None:
    """Warn of a `.grad` with other strides than its leaf."""
    message = (
        "grad and param do not obey the gradient layout contract. This is not an error, but "
        "may impair performance."
    )
    for name, tensor in (("grad", grad), ("param", leaf)):
        message += f"\n{name}.sizes() = {list(tensor.shape)}, strides() = {list(tensor.stride())}"
    line = 282 if has_graph else 252
    place = f"torch/csrc/autograd/functions/accumulate_grad.h:{line}"
    warn_in_torch(message, place, once=True)


def _obeys_layout(gradient: ndarray, data: ndarray) -> bool:
    """Return True for strides that `.grad` may have: a dense leaf's, row-major for others."""
    strides = gradient.strides
    is_same = strides == data.strides and gradient.dtype is data.dtype
    if is_same and 0 not in strides and gradient.flags.c_contiguous:
        return True  # of most leaves
    if not gradient.size and gradient.base is None:
        # NumPy has strides of 0 where there is no element, PyTorch has those of a size of 1.
        strides = contiguous_strides(gradient.shape, gradient.itemsize)
    elif 0 in strides and _is_expanded_at_one(gradient) and is_dense(data):
        # Even where there is no element PyTorch makes a copy.
        return False
    if strides == data.strides and data.flags.c_contiguous and gradient.dtype is data.dtype:
        return True
    if not is_dense(data):
        return gradient.flags.c_contiguous
    # `.data =` may have given the leaf another dtype or number of dimensions since the graph was
    # recorded. PyTorch compares in elements, and reads a stride of 1 after the end of a 0-d leaf's.
    itemsize, leaf_itemsize = gradient.itemsize, data.itemsize
    leaf_strides = data.strides or (leaf_itemsize,)
    # Where the gradient has fewer dimensions, its size is filled up by 1, which fits any stride.
    dimensions = itertools.zip_longest(strides, leaf_strides, gradient.shape, fillvalue=1)
    return all(
        stride * leaf_itemsize == leaf_stride * itemsize or size == 1
        for stride, leaf_stride, size in dimensions
    )


def _is_expanded_at_one(gradient: ndarray) -> bool:
    """Return True for a gradient with a stride of 0 at a size of 1, as only `expand` gives it."""
    return any(s == 0 and n == 1 for s, n in zip(gradient.strides, gradient.shape, strict=True))
