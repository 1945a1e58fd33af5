"""What a node computed, made to fit its edges: shape, dtype, strides, and the state of each array.

Source: PyTorch's `validate_outputs` (`engine.cpp`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import (
    BY_NUM,
    contiguous_strides,
    copy_with_strides,
    is_dense,
    lay_out_result,
    memory_owner,
)
from ..graph import (
    FORMULA_WRITES,
    NEW_GRADIENT,
    ONLY_VIEW,
    GradientList,
    GradientState,
    Saved,
    SavedTensor,
    SeenBy,
    gradient_spec_of,
    move_formula_writes,
    name_of_node,
    saved_arrays,
    state_of_new,
)
from ..ops import copy_array
from ..tensor import as_array_of_torch, make_tensor_over

ndarray = np.ndarray

_NEW_VIEW = GradientState(0, SeenBy.SAME_MEMORY)

# shape and dtype ----------------------------------------------------------------------------------


def expected_on_edge(edge: Any, sequence_nr: int | None = None) -> tuple:
    """Return shape, dtype and device of gradients along an edge, from a node of this number."""
    node, output_nr = edge
    if not node._ends_graph:
        return node._gradient_specs[output_nr]
    # After `leaf.data = other`, nodes that are older go on expecting the gradient of the old array.
    for earlier in node._meta.earlier_gradient_specs:
        if earlier.is_expected_by(sequence_nr):
            return earlier.spec
    return gradient_spec_of(node)


def fit_to_edges(node: Any, arrived: GradientList, input_gradients: list) -> list:
    """Return the gradients that a node computed, each brought to what its edge expects.

    `input_gradients`: what the node's backward returned, which PyTorch calls its outputs, one for
    each input. It comes back as it is if all of them fit, as they do of most nodes. Else what comes
    back is a GradientList, with a state where this made another array, and None for the others.

    RuntimeError, in PyTorch's words, if a shape does not fit.
    """
    fitted: Any = input_gradients
    for index, edge in enumerate(node._edges):
        gradient = input_gradients[index]
        if edge is None or gradient is None:
            continue
        target, output_nr = edge
        if not target._ends_graph:
            shape, dtype, _ = target._gradient_specs[output_nr]
        elif target._meta.earlier_gradient_specs:
            shape, dtype, _ = expected_on_edge(edge, node._sequence_number)
        else:
            shape, dtype = target._data.shape, target._data.dtype
        # Of a tensor `size` is a method, hence true.
        is_fitting = gradient.shape == shape and gradient.dtype is dtype and gradient.size
        if is_fitting and type(gradient) is ndarray:
            continue
        # Other than its edge expects, empty, or no array: a tensor, or the NumPy number that a
        # product of 0-d arrays is.
        if fitted is input_gradients:
            has_states = type(input_gradients) is GradientList
            states = input_gradients.states if has_states else [None] * len(input_gradients)
            fitted = GradientList.of(input_gradients, [*states])
        if not gradient.size and type(input_gradients) is not GradientList:
            fitted[index] = gradient = _lay_out_empty(node, arrived, index, gradient)
        fitted[index] = fit_gradient(node, index, gradient, shape, dtype)
        # An array that comes back as it was did fit: its dtype is equal to the expected one, and
        # another object.
        if fitted[index] is not gradient:
            fitted.states[index] = _state_of_fitted(gradient, fitted[index])
    return fitted


def fit_gradient(node: Any, index: int, gradient: Any, shape: tuple, dtype: Any) -> Any:
    """Return a gradient, array or tensor, in a shape and a dtype.

    `node` is None for a gradient that backward starts from.

    RuntimeError, in PyTorch's words, if the shape does not fit.
    """
    if isinstance(gradient, np.generic):
        gradient = np.asarray(gradient)
    if gradient.shape != shape:
        _check_shape(node, index, gradient, shape)
        if type(gradient) is ndarray:
            # NumPy multiplies a float32 gradient by saved integers in float64, PyTorch in float32,
            # and sums it in that. Where the node's result itself is wider (`float32 * float64`),
            # PyTorch sums the wide gradient and converts the sum, as is done below.
            if (
                gradient.dtype is not dtype
                and node is not None
                and node._gradient_specs[0][1] == dtype
            ):
                gradient = gradient.astype(dtype, copy=False)
            gradient = _sum_to_shape(gradient, shape)
        else:
            gradient = gradient.sum_to_size(shape)
    if type(gradient) is ndarray:
        return gradient if gradient.dtype == dtype else copy_array(gradient, None, dtype)
    if gradient._data.dtype != dtype:
        gradient = gradient.to(BY_NUM[dtype.num])
    return gradient


def _check_shape(node: Any, index: int, gradient: Any, shape: tuple) -> None:
    """Raise PyTorch's RuntimeError unless a gradient can be summed to a shape."""
    sizes = tuple(gradient.shape)
    leading = len(sizes) - len(shape)
    if leading >= 0:
        if sizes[leading:] == shape:  # of a bias, and of most others
            return
        pairs = zip(shape, sizes[leading:], strict=True)
        if all(wanted in (1, size) for wanted, size in pairs):
            return
    source = "" if node is None else f"Function {name_of_node(node)} returned an "
    raise RuntimeError(
        f"{source}invalid gradient at index {index} - got {list(sizes)} but expected shape "
        f"compatible with {list(shape)}"
    )


def _sum_to_shape(gradient: ndarray, shape: tuple) -> ndarray:
    """Sum over the dimensions that broadcasting added or repeated, in one pass as PyTorch does."""
    leading = gradient.ndim - len(shape)
    if leading == 1 == len(shape) and gradient.shape[1:] == shape:  # of a bias
        return np.add.reduce(gradient, 0, keepdims=True).reshape(shape)
    dims = list(range(leading))
    for dim, size in enumerate(shape, leading):
        if size == 1 != gradient.shape[dim]:
            dims.append(dim)
    # NumPy takes half a microsecond less for a number than for a tuple of one.
    axes = dims[0] if len(dims) == 1 else tuple(dims)
    total = np.add.reduce(gradient, axes, keepdims=leading > 0)
    return np.ascontiguousarray(total).reshape(shape)


def _state_of_fitted(before: Any, after: Any) -> GradientState:
    """Return the state of a gradient that was brought to another shape or dtype."""
    # PyTorch sums with `keepdim` and removes the leading dimensions by a view of that.
    if before.ndim > after.ndim > 0 and getattr(after, "base", None) is not None:
        return ONLY_VIEW
    return NEW_GRADIENT


# strides ------------------------------------------------------------------------------------------


def lay_out_gradients(node: Any, gradient: ndarray, input_gradients: list) -> list:
    """Return what formulas computed element by element, with TensorIterator's strides.

    NumPy chooses other strides where the operands have several orders.
    """
    if is_any_packed(node):  # computed on tensors, whose operations have laid it out
        return input_gradients
    results = list(input_gradients)
    for index, (_, saved_indices) in enumerate(node._formulas):
        input_gradient = input_gradients[index]
        if type(input_gradient) is ndarray and input_gradient is not gradient:
            operands = [gradient, *saved_arrays(node, saved_indices)]
            if (
                not input_gradient.size
                or 1 in input_gradient.shape
                or not all(map(_is_row_major_or_expanded, operands))
            ):
                results[index] = _lay_out_gradient(node, index, input_gradient, operands)
    return results


def _lay_out_empty(
    node: Any, arrived: GradientList, index: int, input_gradient: ndarray
) -> ndarray:
    """Return what a node computed, where it has no elements, with torch's strides: NumPy's are all 0.

    Before the next formula makes a view of it, which keeps them.
    """
    if input_gradient.base is not None or arrived[0] is None:
        return input_gradient
    if node._is_pointwise and is_any_packed(node):  # computed on tensors
        return input_gradient
    is_of_formula = node._formulas and not (
        node._formula_gives_all_inputs or node._has_several_outputs
    )
    if input_gradient.ndim < 2 or not is_of_formula or is_any_packed(node):
        laid_out = as_array_of_torch(input_gradient)
    else:
        steps = _strides_on_tensors(node, index, arrived[0])
        strides = tuple([step * input_gradient.itemsize for step in steps])
        laid_out = copy_with_strides(input_gradient, strides)
    if FORMULA_WRITES:
        move_formula_writes(input_gradient, laid_out)
    return laid_out


def _is_row_major_or_expanded(array: ndarray) -> bool:
    """Return True for an array that is laid out so.

    If all operands are, NumPy chooses the strides that TensorIterator does.
    """
    return array.flags.c_contiguous or 0 in array.strides


def _lay_out_gradient(node: Any, index: int, input_gradient: ndarray, operands: list) -> ndarray:
    """Return what formula number `index` computed from these operands, with torch's strides."""
    same_shape = [array for array in operands if array.shape == input_gradient.shape]
    strides = {array.strides for array in same_shape}
    # Of several layouts each step of the formula makes another one, as does a layout with gaps.
    is_kept = len(strides) == 1 and input_gradient.size and _would_keep_strides(same_shape[0])
    if is_kept:
        laid_out = lay_out_result(input_gradient, *same_shape)
    else:
        # In elements, as NumPy may have computed in another dtype.
        steps = _strides_on_tensors(node, index, operands[0])
        laid_out = copy_with_strides(
            input_gradient, tuple([step * input_gradient.itemsize for step in steps])
        )
    if laid_out is not input_gradient and FORMULA_WRITES:
        move_formula_writes(input_gradient, laid_out)
    return laid_out


def is_any_packed(node: Any) -> bool:
    """Return True if a hook packed what a node saved: reading it again would call the hook twice."""
    return any(isinstance(v, SavedTensor) and v.packed is not None for v in node._saved)


def _would_keep_strides(array: ndarray) -> bool:
    """Return True if an operation of this array alone keeps its strides."""
    if 1 in array.shape:
        return array.strides == contiguous_strides(array.shape, array.itemsize)
    return is_dense(array)


def _strides_on_tensors(node: Any, index: int, gradient: ndarray) -> tuple[int, ...]:
    """Return the strides of a formula's result, in elements, found by running it on tensors."""
    formula, saved_indices = node._formulas[index]
    entries = [node._saved[i] for i in saved_indices]
    values = [v.read_for_formula(node, False) if isinstance(v, Saved) else v for v in entries]
    device = node._gradient_specs[0][2]
    return formula(make_tensor_over(gradient, device), *values).stride()


# states -------------------------------------------------------------------------------------------


def find_state(
    node: Any, arrived: GradientList, input_gradients: list, index: int
) -> GradientState:
    """Return the state of a gradient that a node computed, for its input of this number.

    It is that of the array that arrived, if the gradient is that array or a view of it; if it is
    neither, that of a new array. The gradients of `x * y` are new, and pass by all questions but the
    first two.
    """
    gradient, first = input_gradients[index], arrived[0]
    if type(input_gradients) is GradientList:
        state = input_gradients.states[index]
        if state is not None:
            return state
    # A tensor, of `create_graph=True`: it has a graph of its own, and nothing is asked of it.
    if type(gradient) is not ndarray:
        return NEW_GRADIENT
    # Only a view, or an array that arrived, may share memory with what arrived or with what was
    # saved. Most gradients are new arrays, which this test finds in a tenth of the time. (`first` is
    # all that arrived, unless the node has several outputs.)
    base = gradient.base
    if base is None and gradient is not first and not node._has_several_outputs:
        # Asked here, too, as most formulas write nowhere and a call takes longer than the question.
        return state_of_new(gradient) if FORMULA_WRITES else NEW_GRADIENT
    if len(input_gradients) == 1 and first is not None:  # the usual case, to save time
        if gradient is first:
            return arrived.states[0]
        if base is not None and (base is first or base is first.base):
            state = arrived.states[0]
            # Of most weights, whose gradient `t` turns twice.
            return state if state is ONLY_VIEW else state.of_only_view()
    return _find_state_by_memory(node, arrived, input_gradients, index)


def _find_state_by_memory(
    node: Any, arrived: GradientList, input_gradients: list, index: int
) -> GradientState:
    """Return the state of a gradient, by what else looks at its memory."""
    input_gradient = input_gradients[index]
    memory = memory_owner(input_gradient)
    for gradient, state in zip(arrived, arrived.states, strict=True):
        if gradient is not None and memory_owner(gradient) is memory:
            if input_gradient is not gradient:
                return state.of_view()
            return _state_of_passed_on(node, input_gradients, index, state)
    for array in saved_arrays(node, node._tensor_indices):
        if memory_owner(array) is memory:
            return _NEW_VIEW
    if not _is_view_of_result(input_gradient):
        return state_of_new(input_gradient)
    for other in input_gradients:
        if other is not input_gradient and other is not None and memory_owner(other) is memory:
            return _NEW_VIEW
    return ONLY_VIEW


def _state_of_passed_on(
    node: Any, input_gradients: list, index: int, state: GradientState
) -> GradientState:
    """Return the state of a gradient that a formula returned as it arrived."""
    input_gradient, memory = input_gradients[index], memory_owner(input_gradients[index])
    pairs = enumerate(zip(input_gradients, node._edges, strict=True))
    sent = [g for i, (g, edge) in pairs if i != index and g is not None and edge is not None]
    others = [other for other in sent if memory_owner(other) is memory]
    if any(other is input_gradient for other in others):
        return state.perhaps_held_twice()
    return state.over_shared_memory() if others else state


def _is_view_of_result(input_gradient: ndarray) -> bool:
    """Return True for a view of an array that the formula made.

    It has dropped dimensions of that by `reshape`, after a sum that kept them, or turned it by `t`.
    """
    base = input_gradient.base
    # An array of another dtype is a formula's way of computing with bits, and no tensor of PyTorch's.
    if type(base) is not ndarray or base.dtype != input_gradient.dtype:
        return False
    # What is empty and looks at an array of its own shape was given torch's strides, no more.
    if not input_gradient.size and base.shape == input_gradient.shape:
        return False
    return base.ndim > input_gradient.ndim > 0 or base.ndim == input_gradient.ndim > 1
