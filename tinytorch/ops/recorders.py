"""Recorders: how the short ways of calls put a result into the graph.

`Op.begin_recording` and `Op.end_recording` do it for every call, in PyTorch's order. A recorder does
the same for what a short way takes: no views that require grad, one device, no listeners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import CPU, as_torch_error, broadcast_error
from ..graph import SavedNumber, check_inplace, next_number, save_tensor

_new = object.__new__


def record_failed_call(op: Any, error: Exception, *values: Any) -> None:
    """Do what PyTorch has done by the time that a kernel raises: it makes the node first.

    So pack hooks are called, a sequence number is used up, and an inference tensor that was to be
    saved is refused, which is the error then. The short ways compute first and come here if that
    fails; `Op.run` keeps the order anyway. NumPy's MemoryError is raised in PyTorch's words.
    """
    op.begin_recording(values, op.tensors_of(values))
    if isinstance(error, MemoryError):
        raise as_torch_error(error) from None


def record_and_make_error(op: Any, error: Exception, x: Any, y: Any) -> Exception:
    """Do what `record_failed_call` does for two operands; return PyTorch's error of their shapes.

    A ufunc of floats or integers of one dtype raises ValueError for shapes alone. (`np.power` does
    for exponents below 0, too, but what the kernel of `pow` calls is no ufunc.)
    """
    record_failed_call(op, error, x, y, *op.defaults[2:])
    return broadcast_error(x._data.shape, y._data.shape)


# A recorder makes a result the output of a new node, if an operand has a gradient. It finds edges as
# `gradient_edge` does of a tensor that is no view: a leaf has no edge, and its gradient flows to the
# leaf itself. It makes the node as the node's class would, in half of the time, and what the result
# needs as `Node._note_gradient_specs` and `Op.end_recording` do. The two edges of an operation on two
# tensors and of a write are found in the same lines, written out twice: with a function in common a
# product takes up to 8% more instructions.


def make_recorder_of_one(op: Any) -> Callable[[Any, Any, Any, tuple], None] | None:
    """Make a recorder of an operation on one tensor; None if its calls get no node.

    It takes the result and its array, the tensor, which has an edge or meta data, and the other
    arguments.
    """
    node_class = op.node_class
    if node_class is None:
        return None
    is_result_saved = bool(node_class._output_nr_of_saved)
    save, constant_values = make_saver(op), find_constant_saved_values(op)

    def record(result: Any, data: Any, x: Any, rest: tuple) -> None:
        edge = x._edge
        if edge is None:
            if not x._meta.requires_grad:
                return
            edge = (x, 0)
        node = _new(node_class)
        node._edges = edges = (edge,)
        node._saved = save((x, *rest), edges) if constant_values is None else constant_values
        node._sequence_number = next_number()
        node._hooks = None
        storage = result._storage
        node._gradient_specs = (
            (data.shape, data.dtype, CPU if storage is None else storage.device),
        )
        result._edge = (node, 0)
        if is_result_saved:
            node._keep_results((result,))

    return record


def make_recorder_of_two(op: Any) -> Callable[[Any, Any, Any, Any, bool], None] | None:
    """Make a recorder of an operation on two tensors; None if its calls get no node.

    It takes the result and its array, and both operands. `is_y_tensor`: the second is a tensor, and no
    number.
    """
    node_class = op.node_class
    if node_class is None:
        return None
    is_result_saved = bool(node_class._output_nr_of_saved)
    save_two, constant_values = make_saver_of_two(op), find_constant_saved_values(op)

    def record(result: Any, data: Any, x: Any, y: Any, is_y_tensor: bool) -> None:
        edge, other_edge = x._edge, None
        if edge is None and x._meta is not None and x._meta.requires_grad:
            edge = (x, 0)
        if is_y_tensor:
            other_edge = y._edge
            if other_edge is None and y._meta is not None and y._meta.requires_grad:
                other_edge = (y, 0)
        if edge is None and other_edge is None:
            return
        node = _new(node_class)
        node._edges = (edge, other_edge)
        if constant_values is None:
            node._saved = save_two(x, y, is_y_tensor, edge, other_edge)
        else:
            node._saved = constant_values
        node._sequence_number = next_number()
        node._hooks = None
        # It has memory of its own, on the CPU.
        node._gradient_specs = ((data.shape, data.dtype, CPU),)
        result._edge = (node, 0)
        if is_result_saved:
            node._keep_results((result,))

    return record


def make_write_recorder(op: Any) -> Callable[[Any, Any, bool], Any] | None:
    """Make what makes the node of a write to the first of two operands; None if its calls get no node.

    For operands without a gradient it returns None. It raises what `check_inplace` raises.
    `rebase_history` makes the operand the node's output, after the write.
    """
    node_class, save, defaults = op.node_class, op.save, op.defaults[2:]
    if node_class is None:
        return None
    constant_values = find_constant_saved_values(op)

    def record_write(x: Any, y: Any, is_y_tensor: bool) -> Any:
        edge, other_edge = x._edge, None
        if edge is None and x._meta is not None and x._meta.requires_grad:
            edge = (x, 0)
        if is_y_tensor:
            other_edge = y._edge
            if other_edge is None and y._meta is not None and y._meta.requires_grad:
                other_edge = (y, 0)
        if edge is None and other_edge is None:
            return None
        check_inplace(x)
        node = _new(node_class)
        node._edges = edges = (edge, other_edge)
        if constant_values is None:
            node._saved = save((x, y, *defaults), edges, is_write=True)
        else:
            node._saved = constant_values
        node._sequence_number = next_number()
        node._hooks = None
        node._gradient_specs = ((x._data.shape, x._data.dtype, CPU),)
        return node

    return record_write


def find_constant_saved_values(op: Any) -> tuple | None:
    """Return what the node of each plain call saves, if that is always the same; else None.

    So `add` always saves `alpha=1`, and `exp` nothing until its result is there.
    """
    operand_count = len(op.tensor_positions)
    if op.node_class is None or op.schema.positional_count > operand_count:
        return None
    # A plain call leaves out all that is given by name alone, so that has its defaults.
    names_by_default = op.schema.names[operand_count:]
    for saved in op.saved_values:
        is_read_later = saved.read is None  # a result
        if not is_read_later and saved.name not in names_by_default:
            return None
    # No operand is read, so None stands for each of them, and for its edge.
    nothing = (None,) * operand_count
    return op.save(nothing + op.defaults[operand_count:], nothing)


def make_saver(op: Any) -> Callable[[tuple, tuple], tuple]:
    """Make the short way of `Op.save` for a node that saves one value, which is no tensor."""
    if (
        len(op.saved_values) == 1
        and op.saved_values[0].read is not None
        and not op.saved_values[0].is_tensor
    ):
        read = op.saved_values[0].read
        return lambda values, edges: (read(values),)
    return op.save


def make_saver_of_two(op: Any) -> Callable[[Any, Any, bool, Any, Any], tuple]:
    """Make the short way of `Op.save` for two operands, given with their edges.

    It is told if the second operand is a tensor, and no number.
    """
    # As of `mul`, which saves `other` and `self`: the gradient of input 0, `self`, reads the first of
    # them, and that of input 1, `other`, the second.
    names_and_needers = [(saved.name, saved.needed_by) for saved in op.saved_values]
    # With `numbers`, as `other` may then be a number, of which `save_factors` makes a SavedNumber as
    # `Op.save` does. An operation without `numbers` is left to `Op.save`: there is none with such
    # factors whose time counts.
    if names_and_needers == [("other", 0), ("self", 1)] and op.numbers:
        return save_factors
    save, defaults = op.save, op.defaults[2:]
    return lambda x, y, is_y_tensor, edge, other_edge: save((x, y, *defaults), (edge, other_edge))


def save_factors(x: Any, y: Any, is_y_tensor: bool, edge: Any, other_edge: Any) -> tuple:
    """Save each factor of a product if the other one's gradient is needed.

    Their order is that in which every node saves, by name: `other`, which is `y`, before `self`.
    `Op.save` is a loop over what is to be saved. It takes as long as the product itself.
    """
    saved_y: Any = None
    if edge is not None:
        saved_y = save_tensor(y) if is_y_tensor else SavedNumber(y)
    return (saved_y, None if other_edge is None else save_tensor(x))
