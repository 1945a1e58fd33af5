"""Plain calls and short ways: what makes the most common calls quick. Without this file each call does the same.

A call is *plain* if its arguments are given by position and are of the very types that the schema
names. For one overload `make_plain_call` makes a function that takes plain calls by name, and leaves
all others to the function that it was given as `otherwise`. It is one of two kinds:

- what `make_unparsed_call` makes skips the parser, and calls `Op.run`;
- a *short way*, of `make_unary_call`, `make_binary_call`, `make_view_call` or `make_in_place_call`,
  skips `Op.run`, too: it does the same steps without asking what does not occur there. Where it
  does occur (another device, a view that requires grad, anomaly mode, operands to be converted) it
  leaves the call to the general way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ..base import (
    CPU,
    lay_out_result,
    memory_owner,
)
from ..graph import (
    DEFAULT,
    GRAPH_EXIT_LISTENERS,
    INFERENCE,
    MODES,
    NO_GRAD,
    NODE_LISTENERS,
    InferenceCounter,
    TensorBase,
    VersionCounter,
    count_write,
    mark_as_view,
    needs_grad,
    rebase_history,
    run_silenced,
)
from ..tensor import Tensor, as_array_of_torch
from .kernels import pointwise
from .recorders import (
    make_recorder_of_one,
    make_recorder_of_two,
    make_write_recorder,
    record_and_make_error,
    record_failed_call,
)
from .schema import NOT_GIVEN, REQUIRED, Param, Schema

_new = object.__new__
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1  # of the ints of a schema
# A float has each integer up to here.
_MOST_EXACT = 1 << 53
# stands for a number among the operands that decide a result's strides
_A_NUMBER = np.zeros(())
# what `_read_plain` returns of an argument that the parser has to read
_NOT_PLAIN: Any = object()


def make_plain_call(op: Any, otherwise: Callable, is_method: bool, in_place: bool) -> Callable:
    """Make the quickest way to call one overload by name; a call that is not plain goes to `otherwise`.

    `is_method`: the name is Tensor's. `in_place`: it is `name_`.
    """
    if not _can_be_plain(op.schema):
        return otherwise
    # There is no method where `self` is a number, as in `2 ** x`, or no operand.
    if is_method and not (op.schema.names[0] == "self" and op.schema.params[0].is_tensor):
        return otherwise
    # From here on sizes may be given one by one: `torch.ones(2, 3)`, `x.view(2, 3)`.
    sizes_at = 1 if is_method else 0
    if in_place and op.has_short_way and can_ufunc_write_in_place(op):
        return make_in_place_call(op, otherwise)
    if in_place or not op.has_short_way:
        return make_unparsed_call(op, otherwise, sizes_at, in_place)
    return make_short_way(op, otherwise, sizes_at)


def make_short_way(op: Any, otherwise: Callable, sizes_at: int = 0) -> Callable:
    """Make the short way of an operation, which leaves to `otherwise` what it does not take.

    Operators, formulas and other operations call it, too. Where there is none, it is `otherwise`.
    """
    if not op.has_short_way or not _can_be_plain(op.schema):
        return otherwise
    if op.kind == "view":
        return make_view_call(op, otherwise, sizes_at)
    if op.tensor_positions == [0]:
        return make_unary_call(op, otherwise, sizes_at)
    return make_binary_call(op, otherwise)


def _can_be_plain(schema: Schema) -> bool:
    """Return False if there are no arguments, or one that must be given by name."""
    required_by_name = REQUIRED in schema.defaults[schema.positional_count :]
    return bool(schema.params) and not required_by_name


def can_have_short_way(op: Any) -> bool:
    """Return True if one of the short ways below is made for an operation.

    They make one tensor: a view of one, or a new one of one (beside which numbers may stand, as in
    `x ** 2`) or of two by a ufunc.
    """
    if op.has_several_results or op.list_positions or op.schema.is_factory:
        return False
    if op.kind == "view":
        return op.tensor_positions == [0] and op.node_class is not None
    if op.kind != "fresh":
        return False
    if op.tensor_positions == [0]:
        # The node of an operation without derivative makes itself in another way.
        return op.node_class is None or bool(op.node_class._formulas)
    return is_binary_ufunc(op)


def is_binary_ufunc(op: Any) -> bool:
    """Return True if an operation is a ufunc of two tensors.

    Its node, if it has one, has an edge and a formula for both.
    """
    return (
        op.tensor_positions == [0, 1]
        and op.schema.required_count == 2
        and isinstance(_find_function_at_defaults(op), np.ufunc)
        and (
            op.node_class is None
            or (op.input_positions == [0, 1] and bool(op.node_class._formulas))
        )
    )


def can_ufunc_write_in_place(op: Any) -> bool:
    """Return True if `name_` of an operation has a short way: the ufunc itself writes."""
    if not is_binary_ufunc(op) or op.kernel.to == "bool":
        return False
    # The short way makes the node before the ufunc writes, and has no step that saves the result.
    return op.node_class is None or not op.node_class._output_nr_of_saved


def _find_function_at_defaults(op: Any) -> Any:
    """Return what a pointwise kernel calls if arguments after the operands have their defaults.

    None for other kernels, and for those that call something else even then.
    """
    kernel = op.kernel
    if type(kernel) is not pointwise:
        return None
    if len(op.schema.params) == len(op.tensor_positions):
        return kernel.function_at_defaults or kernel.function
    return kernel.function_at_defaults


# plain calls, which skip the parser ---------------------------------------------------------------


def make_unparsed_call(op: Any, otherwise: Callable, sizes_at: int, in_place: bool) -> Callable:
    """Make a call that skips the parser where the arguments need no reading, then runs `Op.run`."""
    run = op.run_in_place if in_place else op.run
    if op.schema.positional_count == 1 and op.tensor_positions == [0]:
        return _make_call_of_one_tensor(run, op.defaults[1:], otherwise)
    read = make_reader(op.schema, op.numbers, first=0, sizes_at=sizes_at)

    def call_unparsed(*args: Any, **named: Any) -> Any:
        values = None if named else read(args)
        return otherwise(*args, **named) if values is None else run(*values)

    return call_unparsed


def _make_call_of_one_tensor(run: Callable, defaults: tuple, otherwise: Callable) -> Callable:
    """Make the plain call of an operation that takes one tensor by position: `contiguous`."""

    def call_with_tensor(x: Any = NOT_GIVEN, /, *more: Any, **named: Any) -> Any:
        if more or named or not isinstance(x, TensorBase):
            return otherwise(x, *more, **named)
        return run(x, *defaults)

    return call_with_tensor


def make_reader(
    schema: Schema, numbers: bool, first: int, sizes_at: int
) -> Callable[[tuple], tuple | None]:
    """Make a function that reads the arguments of a plain call as kernels take them; else it gives None.

    It reads the parameters from number `first` on and fills in defaults. `numbers`: a number may
    stand for the second tensor. If parameter number `sizes_at` is the last one and takes sizes,
    they may be given one by one. A call with an int beyond 64 bits is not plain: PyTorch's parser
    refuses it, and a kernel may take it (`diagonal`).
    """
    params = schema.params[first : schema.positional_count]
    defaults = schema.defaults[first:]
    is_last = schema.positional_count == schema.required_count == sizes_at + 1
    if is_last and schema.params[sizes_at].is_sizes:
        return _make_reader_of_sizes(params[:-1], defaults[len(params) :])
    min_count = max(schema.required_count - first, 0)
    plain_types = [p.plain_types for p in params]
    if numbers and len(schema.params) > 1:
        plain_types[1 - first] = plain_types[1 - first] | {float, int}
    # By combination of types, the positions of ints, and of arguments whose type alone does not say
    # that they fit. Remembered, as most programs call an operation in one or two ways.
    positions_by_types: dict[tuple, tuple[list[int], list[int]]] = {}

    def read(args: tuple) -> tuple | None:
        types = tuple(map(type, args))
        positions = positions_by_types.get(types)
        if positions is None:
            if not min_count <= len(args) <= len(params):
                return None
            positions = _find_positions(params, plain_types, types)
        ints, unread = positions
        for i in ints:
            if not _LEAST <= args[i] <= _MOST:
                return None
        values: Any = args
        if unread:
            values = list(args)
            for i in unread:
                values[i] = _read_plain(params[i], args[i])
                if values[i] is _NOT_PLAIN:
                    return None
        positions_by_types[types] = positions
        return (*values, *defaults[len(args) :])

    return read


def _find_positions(
    params: list[Param], plain_types: list[Collection[type]], types: tuple[type, ...]
) -> tuple[list[int], list[int]]:
    """Return the positions of ints, and of arguments whose type alone does not say that they fit."""
    ints, unread = [], []
    for i, (param, plain, type_given) in enumerate(zip(params, plain_types, types, strict=False)):
        # By class, as a Parameter is a tensor, too.
        is_tensor = param.is_tensor and issubclass(type_given, Tensor)
        if not is_tensor and type_given not in plain:
            unread.append(i)
        elif type_given is int and int in param.plain_types:
            ints.append(i)
    return ints, unread


def _make_reader_of_sizes(before: list[Param], defaults: tuple) -> Callable[[tuple], tuple | None]:
    """Make a reader for a schema that ends with sizes: `x.view(2, 3)`, `x.view((2, 3))`.

    `before`: the parameters before the sizes: none, or a tensor; any other is left to the parser.
    """
    at = len(before)

    def read(args: tuple) -> tuple | None:
        if len(args) <= at or (at and not isinstance(args[0], TensorBase)):
            return None
        sizes = args[at:] if at else args
        if len(sizes) == 1 and type(sizes[0]) is tuple:
            sizes = sizes[0]
        for n in sizes:
            # PyTorch refuses a bool as a size, and takes 0-d tensors and NumPy's integers: the
            # parser knows.
            if type(n) is not int or not _LEAST <= n <= _MOST:
                return None
        # The usual call, `x.view(2, 3)`, needs no more than this tuple.
        return (*args[:at], sizes, *defaults) if at or defaults else (sizes,)

    return read


def _read_plain(param: Param, value: Any) -> Any:
    """Read an argument whose type alone does not say that it fits.

    _NOT_PLAIN is returned if the parser has to read it.
    """
    if param.type.is_row:
        row = (value,) if param.accepts_one_number and type(value) is int else value
        if type(row) is not tuple:
            return _NOT_PLAIN
        for n in row:
            if type(n) is not int or not _LEAST <= n <= _MOST:
                return _NOT_PLAIN
        return row
    if param.is_list:
        if type(value) not in (list, tuple):
            return _NOT_PLAIN
        for t in value:
            if not isinstance(t, TensorBase):
                return _NOT_PLAIN
        return [*value]
    return value if param.schema_type == "PyObject" else _NOT_PLAIN


# short ways ---------------------------------------------------------------------------------------

# `make_unary_call`, `make_binary_call`, `make_view_call` and `make_in_place_call`, below, repeat each
# other where a call in common would cost a tenth of the time of an addition. What is said here holds
# in each of them where it has such a line:
#
# - `thread` is the `ThreadState` of the thread that runs: its modes.
# - `run`, the general way, tells the listeners of anomaly mode and of a watch what it does before the
#   kernel runs. So it runs each call while there are any.
# - The general way also runs a call whose first operand is an inference tensor, unless that is
#   written to: `count_write` raises then, after the write as in PyTorch. A view of such a tensor has a counter of its own; and a new result whose operands are
#   all such tensors may have another version, as its counter sees PyTorch's writes to it
#   (`are_inner_writes_counted`).
# - A tensor that has no storage and is no view does not need the general way.
# - `direct_dtype_nums` are NumPy's numbers of the dtypes for which the function alone computes what the
#   kernel does, see `pointwise`. `takes_numbers`: the second operand may be a number of Python's.
# - `is_usual`: the second operand is a tensor of the first one's dtype, as nearly always, or a number
#   that float64 represents exactly beside floats, for which NumPy gives the array's dtype; and it
#   does not need the general way. `is_direct`: besides, the dtype is one of `direct_dtype_nums`, so
#   that the ufunc alone computes what the kernel does.
# - `run_ufunc_silenced` calls a ufunc in a context in which NumPy ignores errors: it is that
#   context's `run`. It takes a quarter of the time of `run_silenced`, see `ThreadState`.
# - A result with new memory is made as `make_tensor` makes it, without a storage, a place in the
#   graph or meta data: few tensors are ever asked for these. `keep_freed_memory` is not called, as
#   once in a process is enough: `make_tensor` did when it made an operand as large.
# - A tensor that has neither an edge nor meta data has no gradient: if that holds of all operands,
#   nothing is recorded.


def needs_general_way(x: Any) -> bool:
    """Return True if a tensor is on another device, or a view that requires grad.

    The history of such a view may be out of date, and has to be made anew. Only a tensor with a
    storage or a base has to be asked.
    """
    storage = x._storage
    if storage is not None and storage.device is not CPU:
        return True
    return x._view_meta is not None and needs_grad(x)


def find_direct_dtypes(op: Any) -> Collection[int]:
    """Return NumPy's numbers of the dtypes whose arrays the kernel's function takes as they are.

    For these the function alone, with no argument but the array, computes the values that the whole
    kernel computes. What is left is to lay them out.
    """
    is_pointwise = type(op.kernel) is pointwise and len(op.schema.params) == 1
    return op.kernel.direct_dtype_nums if is_pointwise else ()


def make_unary_call(op: Any, otherwise: Callable, sizes_at: int) -> Callable:
    """Make the short way of an operation on one tensor, with memory of its own: `exp`, `x ** 2`."""
    run, kernel, compute = op.run, op.kernel, op.compute
    # `compute` is the whole kernel, which converts and lays out; `function` is what that calls.
    function, is_copy = kernel.function, kernel.is_copy
    is_ufunc, direct_dtype_nums = isinstance(function, np.ufunc), find_direct_dtypes(op)
    defaults, read = op.defaults[1:], make_reader(op.schema, False, first=1, sizes_at=sizes_at)
    has_required, record = REQUIRED in defaults, make_recorder_of_one(op)

    def call_unary(x: Any = NOT_GIVEN, /, *more: Any, **named: Any) -> Any:
        if named or not isinstance(x, TensorBase):
            return otherwise(x, *more, **named)
        rest: Any = defaults
        if more or has_required:
            rest = read(more)
            if rest is None:
                return otherwise(x, *more)
        if NODE_LISTENERS or GRAPH_EXIT_LISTENERS or x._counter.is_inference:
            return run(x, *rest)
        if (x._storage is not None or x._view_meta is not None) and needs_general_way(x):
            return run(x, *rest)
        thread, a = MODES.thread, x._data
        try:
            if is_copy:
                # without `run_silenced`: a copy computes nothing of which NumPy could warn
                data = compute(a, *rest)
            elif a.dtype.num in direct_dtype_nums:
                run_function = thread.run_ufunc_silenced if is_ufunc else run_silenced
                data = run_function(function, a)
                # in one dimension NumPy's strides are torch's
                if data.ndim != 1 or not data.size:
                    data = lay_out_result(data, a)
            else:
                data = as_array_of_torch(run_silenced(compute, a, *rest))
        except Exception as error:
            record_failed_call(op, error, x, *rest)
            raise
        result = _new(Tensor)
        result._data = data
        result._storage = result._view_meta = result._edge = result._meta = None
        if thread.inference:
            result._counter = _new(InferenceCounter)
            return result
        result._counter = counter = _new(VersionCounter)
        counter.version = 0
        if record is not None and (x._edge or x._meta) and thread.is_recording:
            record(result, data, x, rest)
        return result

    return call_unary


def make_binary_call(op: Any, otherwise: Callable) -> Callable:
    """Make the short way of a ufunc of two tensors or a tensor and a number: `add`, `mul`, `lt`."""
    run, defaults, record = op.run, op.defaults[2:], make_recorder_of_two(op)
    ufunc = _find_function_at_defaults(op)
    direct_dtype_nums, takes_numbers = op.kernel.direct_dtype_nums, op.numbers

    def call_binary(x: Any = NOT_GIVEN, y: Any = NOT_GIVEN, /, *more: Any, **named: Any) -> Any:
        if more or named or not isinstance(x, TensorBase):
            return otherwise(x, y, *more, **named)
        a, is_y_tensor = x._data, isinstance(y, TensorBase)
        dtype = a.dtype
        if is_y_tensor:
            b = y._data
            is_usual = b.dtype is dtype
            if (y._storage is not None or y._view_meta is not None) and needs_general_way(y):
                is_usual = False
        elif takes_numbers and (type(y) is float or type(y) is int):
            b = y
            is_float = dtype.kind == "f"
            is_usual = is_float and (type(y) is float or -_MOST_EXACT < y < _MOST_EXACT)
        else:
            return otherwise(x, y)
        is_direct = is_usual and dtype.num in direct_dtype_nums
        if not is_direct or NODE_LISTENERS or GRAPH_EXIT_LISTENERS:
            return run(x, y, *defaults)
        has_storage_or_base = x._storage is not None or x._view_meta is not None
        if x._counter.is_inference or (has_storage_or_base and needs_general_way(x)):
            return run(x, y, *defaults)
        thread = MODES.thread
        try:
            data = thread.run_ufunc_silenced(ufunc, a, b)
        except (ValueError, MemoryError) as error:
            raise record_and_make_error(op, error, x, y) from None
        # Of two 0-d arrays NumPy computes a number, which `lay_out_result` makes an array.
        if data.ndim != 1 or not data.size:
            data = lay_out_result(data, a, b if is_y_tensor else _A_NUMBER)
        result = _new(Tensor)
        result._data = data
        result._storage = result._view_meta = result._edge = result._meta = None
        if thread.inference:
            result._counter = _new(InferenceCounter)
            return result
        result._counter = counter = _new(VersionCounter)
        counter.version = 0
        if record is not None and thread.is_recording:  # noqa: SIM102 on one line it is too long
            if x._edge or x._meta or (is_y_tensor and (y._edge or y._meta)):
                record(result, data, x, y, is_y_tensor)
        return result

    return call_binary


def make_view_call(op: Any, otherwise: Callable, sizes_at: int) -> Callable:
    """Make the short way of an operation that gives one view: `view`, `t`, `select`."""
    run, compute = op.run, op.compute
    # Not None: `can_have_short_way` takes only views that have a gradient.
    record: Any = make_recorder_of_one(op)
    defaults = op.defaults[1:]
    has_required = REQUIRED in defaults
    read = make_reader(op.schema, False, first=1, sizes_at=sizes_at)

    def call_view(x: Any = NOT_GIVEN, /, *more: Any, **named: Any) -> Any:
        if named or not isinstance(x, TensorBase):
            return otherwise(x, *more, **named)
        rest: Any = defaults
        if more or has_required:
            rest = read(more)
            if rest is None:
                return otherwise(x, *more)
        view_meta, counter = x._view_meta, x._counter
        # Views of inference tensors have no base, and a counter of their own.
        is_recorded_view = view_meta is not None and needs_grad(x)
        if NODE_LISTENERS or GRAPH_EXIT_LISTENERS or counter.is_inference or is_recorded_view:
            return run(x, *rest)
        thread = MODES.thread
        try:
            data = compute(x._data, *rest)
        except Exception as error:
            record_failed_call(op, error, x, *rest)
            raise
        result = _new(Tensor)
        result._data = data
        result._storage = x._materialize_storage() if x._storage is None else x._storage
        result._counter = counter
        result._edge = result._meta = None
        if view_meta is not None:
            mark_as_view(result, x)
        elif thread.is_recording:
            result._view_meta = (x, counter.version, DEFAULT)  # see `ViewMeta`
        else:
            result._view_meta = (x, counter.version, INFERENCE if thread.inference else NO_GRAD)
        if thread.is_recording and (x._edge or x._meta):
            record(result, data, x, rest)
        return result

    return call_view


def make_in_place_call(op: Any, otherwise: Callable) -> Callable:
    """Make the short way of a ufunc that writes into its first operand: `add_`, `mul_`.

    It needs no room for a result: the ufunc itself writes, if both operands have the same shape and
    no cell in common.
    """
    run_in_place, defaults, record_write = op.run_in_place, op.defaults[2:], make_write_recorder(op)
    ufunc = _find_function_at_defaults(op)
    direct_dtype_nums, takes_numbers = op.kernel.direct_dtype_nums, op.numbers

    def call_in_place(x: Any = NOT_GIVEN, y: Any = NOT_GIVEN, /, *more: Any, **named: Any) -> Any:
        if more or named or not isinstance(x, TensorBase):
            return otherwise(x, y, *more, **named)
        a, is_y_tensor = x._data, isinstance(y, TensorBase)
        dtype = a.dtype
        # Floats alone, which take whatever a float or an int gives: PyTorch refuses to write the
        # result of an int tensor and a float back into the ints, and the general way says so.
        is_float = dtype.kind == "f"
        # Dense in neither order, it may have a cell twice (`expand`): each write reads the last one.
        can_write = is_float and a.flags.forc
        if is_y_tensor:
            b = y._data
            is_usual = b.dtype is dtype
            can_write = can_write and b.shape == a.shape and b is not a
            # two arrays that own their memory have no cell in common
            if (a.base is not None or b.base is not None) and memory_owner(a) is memory_owner(b):
                can_write = False
            if (y._storage is not None or y._view_meta is not None) and needs_general_way(y):
                is_usual = False
        elif takes_numbers and (type(y) is float or type(y) is int):
            b = y
            is_usual = is_float and (type(y) is float or -_MOST_EXACT < y < _MOST_EXACT)
        else:
            return otherwise(x, y)
        is_direct = is_usual and dtype.num in direct_dtype_nums
        if not (is_direct and can_write) or NODE_LISTENERS or GRAPH_EXIT_LISTENERS:
            return run_in_place(x, y, *defaults)
        if (x._storage is not None or x._view_meta is not None) and needs_general_way(x):
            return run_in_place(x, y, *defaults)
        thread, node = MODES.thread, None
        if record_write is not None and thread.is_recording:  # noqa: SIM102 on one line it is too long
            if x._edge or x._meta or (is_y_tensor and (y._edge or y._meta)):
                node = record_write(x, y, is_y_tensor)  # first: an error changes no cell
        thread.run_ufunc_silenced(ufunc, a, b, a)  # the last one is its `out`
        count_write(x)
        if node is not None:
            rebase_history(x, node)
        return x

    return call_in_place


__all__ = ["can_have_short_way", "make_plain_call", "make_short_way"]
