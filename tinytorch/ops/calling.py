"""Calling operations: the overload that a call means, and short ways for the most common calls.

`Overloads` reads a call as PyTorch's parser does and hands the arguments to `Op.run`, the *general
way*. That alone is right for every call.

The rest of this file is optimization. A call is *plain* if its arguments are given by position and
are of the very types that the schema names. For one overload `make_plain_call` makes a function that
takes plain calls, and leaves all others to the function that it was given as `otherwise`. It is one
of two kinds:

- what `make_unparsed_call` makes skips the parser, and calls `Op.run`;
- a *short way*, of `make_unary_call`, `make_binary_call`, `make_view_call` or `make_in_place_call`,
  skips `Op.run`, too: it does the same steps without asking what does not occur there. Where it
  does occur (another device, a view that requires grad, anomaly mode, operands to be converted) it
  leaves the call to the general way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from ..base import (
    CPU,
    as_device,
    as_torch_error,
    broadcast_error,
    dtype,
    lay_out_result,
    make_absence_error,
    memory_owner,
    type_name,
    warn_in_torch,
)
from ..graph import (
    DEFAULT,
    GRAPH_EXIT_LISTENERS,
    INFERENCE,
    MODES,
    NO_GRAD,
    NODE_LISTENERS,
    InferenceCounter,
    SavedNumber,
    VersionCounter,
    check_inplace,
    count_write,
    mark_as_view,
    needs_grad,
    next_number,
    rebase_history,
    run_silenced,
    save_tensor,
)
from ..tensor import Tensor, as_array_of_torch, device_of, make_tensor
from .kernels import pointwise
from .schema import REQUIRED, Param, Schema, Signature, is_number, mismatch, read_operand

_new = object.__new__
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1  # of the ints of a schema
# stands for a number among the operands that decide a result's strides
_A_NUMBER = np.zeros(())
_DESCRIPTIONS = {
    "view": "A view: the same memory, the same version counter.",
    "write": "Writes into its first argument, and counts the write.",
    "restride": "Gives the tensor itself another shape and strides over its memory.",
    "composite": "Made of other operations.",
    "fresh": "A result with memory of its own.",
}


class Offer(NamedTuple):
    """One overload under a name."""

    op: Any
    # as a function it takes `out=`
    has_out: bool
    # it is a method of tensors, too
    is_method: bool


class Overloads:
    """The overloads of one name, in the order in which PyTorch tries them."""

    def __init__(self, name: str, in_place: bool = False) -> None:
        self.name = name
        self.in_place = in_place
        self.offers: list[Offer] = []
        # Schemas that the last of all tries take, see ops/deprecated.py.
        self.deprecated_forms: list[str] = []
        self._absent_forms: list[tuple[int, str, bool]] = []
        # The signatures of the method under True, those of the function under False.
        self._signatures: dict[bool, list[tuple[Signature, Any]]] = {}

    def add(self, op: Any, out: bool = False, method: bool = False) -> None:
        """Add one more overload."""
        self.offers.append(Offer(op, out, method))
        # They were made of fewer overloads, and are made anew when a call needs them.
        self._signatures.clear()

    def add_absent(self, place: int, text: str, is_method: bool = True) -> None:
        """Add a form that PyTorch has and tinytorch lacks, by its schema.

        A call of it says so. `place`: where PyTorch's errors list it; -1 if only its `out=` is
        absent. `is_method`: it is one of the method, too.
        """
        self._absent_forms.append((place, text, is_method))

    def make_function(self, method: bool) -> Callable:
        """Make the function, or the method, that users call."""

        def call_as_parsed(*args: Any, **named: Any) -> Any:
            # A short way passes REQUIRED on for an argument that it did not get.
            return self._parse_and_run(method, tuple([x for x in args if x is not REQUIRED]), named)

        ops = [offer.op for offer in self.offers]
        call: Any = call_as_parsed
        called_by, qualified_name = "function", self.name
        if method:
            called_by, qualified_name = "method", f"Tensor.{self.name}"
        # Short ways are tried first, as their tests of types are the cheapest; the parser is last.
        # (Any order gives the right values: where two overloads take the same types, as both of
        # `floor_divide` take a number, they compute the same.) Each call hands what it does not
        # take to the next one, so they are made from the last to the first.
        in_order = sorted(ops, key=lambda op: not op.has_short_way)
        for op in reversed(in_order):
            call = make_plain_call(op, call, called_by, self.in_place)
        call.__name__ = self.name
        call.__qualname__ = qualified_name
        call.__module__ = "tinytorch"
        description = _DESCRIPTIONS["write" if self.in_place else ops[0].kind]
        call.__doc__ = f"{ops[0].schema.text}\n\n{description} Source: `torch.{ops[0].name}`."
        call.overloads = ops
        return call

    def _signatures_of(self, method: bool) -> list[tuple[Signature, Any]]:
        """Return the signatures that the parser tries.

        They are made when a call first needs them, to import quickly.
        """
        if method not in self._signatures:
            signatures = []
            for op, has_out, is_method in self.offers:
                if is_method or not method:
                    takes_out = has_out and not method
                    signature = Signature(op.schema, self.name, method, takes_out, op.numbers)
                    signatures.append((signature, op))
            self._signatures[method] = signatures
        return self._signatures[method]

    def _parse_and_run(self, method: bool, args: tuple, named: dict) -> Any:
        """Call the first overload that fits, as PyTorch's parser does.

        TypeError in its words if none fits.
        """
        if method and not (args and isinstance(args[0], Tensor)):
            raise self._make_error_of_no_tensor(args)
        signatures = self._signatures_of(method)
        for signature, op in signatures:
            arguments = signature.match(args[method:], named)
            # a string is PyTorch's reason why the call does not fit
            if isinstance(arguments, str):
                continue
            if method:
                arguments["self"] = args[0]
            return self._run(op, arguments)
        listed = self._list_with_absent(method, args, named)
        return self._run_deprecated(method, args, named, listed)

    def _make_error_of_no_tensor(self, args: tuple) -> TypeError:
        """Make Python's error for a method of a class in C that is called with no instance of it."""
        if not args:
            return TypeError(f"unbound method TensorBase.{self.name}() needs an argument")
        return TypeError(
            f"descriptor '{self.name}' for 'torch._C.TensorBase' objects doesn't apply to a "
            f"'{type_name(args[0])}' object"
        )

    def _list_with_absent(self, method: bool, args: tuple, named: dict) -> list[Signature]:
        """Return the forms that PyTorch's errors list.

        NotImplementedError if the call is of one that tinytorch lacks.
        """
        listed = [s for s, _ in self._signatures_of(method)]
        for place, text, is_method in self._absent_forms:
            if method and not is_method:
                continue
            absent = Signature(Schema(text), self.name, method, not method, numbers=False)
            if isinstance(absent.match(args[method:], named), dict):
                raise make_absence_error(f"{self.name}{absent}")
            if place >= 0:
                listed.insert(place, absent)
        return listed

    def _run_deprecated(
        self, method: bool, args: tuple, named: dict, listed: list[Signature]
    ) -> Any:
        """Run the first deprecated form that fits. TypeError in PyTorch's words if none fits."""
        op, has_out, _ = self.offers[0]
        for text in self.deprecated_forms:
            form = Signature(Schema(text), self.name, method, has_out and not method, op.numbers)
            arguments = form.match(args[method:], named)
            if isinstance(arguments, dict):
                self._warn_of_deprecated(form, listed)
                if method:
                    arguments["self"] = args[0]
                if "async" in arguments:  # a word of Python's own by now
                    arguments["non_blocking"] = arguments.pop("async")
                return self._run(op, arguments)
        raise mismatch(self.name, listed, args[method:], named, bool(self.deprecated_forms))

    def _warn_of_deprecated(self, form: Signature, listed: list[Signature]) -> None:
        """Warn of a deprecated form: once in a process, whichever it is, as PyTorch does."""
        others = "".join(f"\n\t{self.name}{signature}" for signature in listed)
        warn_in_torch(
            f"This overload of {self.name} is deprecated:\n\t{self.name}{form}\n"
            f"Consider using one of the following signatures instead:{others}",
            "torch/csrc/utils/python_arg_parser.cpp:1841",
            once=True,
        )

    def _run(self, op: Any, arguments: dict[str, Any]) -> Any:
        """Run one overload on arguments by name."""
        out = arguments.pop("out", None)
        # No kernel knows of it: PyTorch, too, makes the tensor first and then asks it to require
        # grad.
        requires_grad = op.schema.is_factory and arguments.pop("requires_grad", False)
        values = []
        for param in op.schema.params:
            if param.name in arguments:
                values.append(param.read(arguments[param.name], self.name))
            else:
                values.append(param.default)
        if out is not None:
            if op.numbers and is_number(out):
                # As for an operand, PyTorch makes a tensor of it, which then is resized.
                out = make_tensor(np.asarray(read_operand(out)))
            if op.schema.is_factory:
                _check_out_options(out, arguments)
            result = op.run_into_out(out, tuple(values))
            if op.schema.is_factory and result.is_leaf:
                _set_requires_grad(result, requires_grad)
            return result
        result = op.run_in_place(*values) if self.in_place else op.run(*values)
        if requires_grad:
            _set_requires_grad(result, True)
        return result


def _check_out_options(out: Tensor, arguments: dict[str, Any]) -> None:
    """Raise PyTorch's error for a dtype or a device beside an `out=` of another one."""
    d, where = arguments.get("dtype"), arguments.get("device")
    if isinstance(d, dtype) and d is not out.dtype:
        raise RuntimeError(
            f"dtype {d.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
        )
    if where is not None and as_device(where).type != device_of(out).type:
        raise RuntimeError(
            f"device type {as_device(where).type} does not match device type of out parameter "
            f"({device_of(out).type})"
        )


def _set_requires_grad(made: Tensor, requires_grad: bool) -> None:
    """Let a tensor that was made, or written as `out=`, require grad or not."""
    if requires_grad and made._data.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if requires_grad != made.requires_grad:
        made.requires_grad_(requires_grad)


# plain calls --------------------------------------------------------------------------------------


def make_plain_call(
    op: Any, otherwise: Callable, called_by: str = "operator", in_place: bool = False
) -> Callable:
    """Make the quickest way to call one overload; a call that is not plain goes to `otherwise`.

    `called_by`: "function" or "method" if the user calls it by name. "operator" for Python's
    operators, and for formulas and other operations, which call as these do: sizes are a tuple, and
    `otherwise` is returned where there is no short way. `in_place`: the name is `name_`.
    """
    schema = op.schema
    # What must be given by name is in no plain call.
    required_by_name = REQUIRED in schema.defaults[schema.positional_count :]
    if required_by_name or not schema.params:
        return otherwise
    # There is no method where `self` is a number, as in `2 ** x`, or no operand.
    if called_by == "method" and not (schema.names[0] == "self" and schema.params[0].is_tensor):
        return otherwise
    # Sizes may be given one by one: as the arguments of a function, after `self` of a method.
    sizes_at = 1 if called_by == "method" else 0
    if not op.has_short_way:
        if called_by == "operator":
            return otherwise
        return make_unparsed_call(op, otherwise, sizes_at, in_place)
    if in_place:
        if can_ufunc_write_in_place(op):
            return make_in_place_call(op, otherwise)
        return make_unparsed_call(op, otherwise, sizes_at, in_place)
    if op.kind == "view":
        return make_view_call(op, otherwise, sizes_at)
    if op.tensor_positions == [0]:
        return make_unary_call(op, otherwise, sizes_at)
    return make_binary_call(op, otherwise)


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
        and isinstance(_find_function_of_operands(op), np.ufunc)
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


def _find_function_of_operands(op: Any) -> Any:
    """Return what a pointwise kernel calls if arguments after the operands have their defaults.

    None for other kernels, and for those that call something else even then.
    """
    kernel = op.kernel
    if type(kernel) is not pointwise:
        return None
    if len(op.schema.params) == len(op.tensor_positions):
        return kernel.function_of_operands or kernel.function
    return kernel.function_of_operands


def make_unparsed_call(op: Any, otherwise: Callable, sizes_at: int, in_place: bool) -> Callable:
    """Make a call that skips the parser where the arguments need no reading, then runs `Op.run`."""
    run = op.run_in_place if in_place else op.run
    if op.schema.positional_count == 1 and op.tensor_positions == [0]:
        return _make_call_of_one_tensor(run, op.defaults[1:], otherwise)
    read = make_reader(op.schema, op.numbers, first=0, sizes_at=sizes_at)

    def call(*args: Any, **named: Any) -> Any:
        values = None if named else read(args)
        return otherwise(*args, **named) if values is None else run(*values)

    return call


def _make_call_of_one_tensor(run: Callable, defaults: tuple, otherwise: Callable) -> Callable:
    """Make the plain call of an operation that takes one tensor by position: `contiguous`."""

    def call(x: Any = REQUIRED, /, *more: Any, **named: Any) -> Any:
        if more or named or not isinstance(x, Tensor):
            return otherwise(x, *more, **named)
        return run(x, *defaults)

    return call


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
    int_positions = [i for i, p in enumerate(params) if int in p.plain_types]
    min_count = max(schema.required_count - first, 0)
    plain_types = [p.plain_types for p in params]
    if numbers and len(schema.params) > 1:
        plain_types[1 - first] = plain_types[1 - first] | {float, int}
    # By combination of types, the positions of arguments whose type alone does not say that they
    # fit. Most programs call an operation in one or two ways.
    uncertain_positions: dict[tuple, list[int]] = {}

    def read(args: tuple) -> tuple | None:
        types = tuple(map(type, args))
        positions = uncertain_positions.get(types)
        if positions is None:
            if not min_count <= len(args) <= len(params):
                return None
            positions = [i for i, t in enumerate(types) if t not in plain_types[i]]
        for i in int_positions:
            if i < len(args) and type(args[i]) is int and not _LEAST <= args[i] <= _MOST:
                return None
        if not positions:
            uncertain_positions[types] = positions
            return args + defaults[len(args) :]
        values = list(args)
        for i in positions:
            values[i] = _read_plain(params[i], args[i])
            if values[i] is REQUIRED:
                return None
        uncertain_positions[types] = positions
        return (*values, *defaults[len(args) :])

    return read


def _make_reader_of_sizes(before: list[Param], defaults: tuple) -> Callable[[tuple], tuple | None]:
    """Make a reader for a schema that ends with sizes: `x.view(2, 3)`, `x.view((2, 3))`.

    `before`: the parameters before the sizes: none, or a tensor; any other is left to the parser.
    """
    at = len(before)

    def read(args: tuple) -> tuple | None:
        if len(args) <= at or (at and not isinstance(args[0], Tensor)):
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

    REQUIRED is returned if the parser has to read it.
    """
    if param.type.is_row:
        row = (value,) if param.accepts_one_number and type(value) is int else value
        if type(row) is not tuple:
            return REQUIRED
        for n in row:
            if type(n) is not int or not _LEAST <= n <= _MOST:
                return REQUIRED
        return row
    if param.is_list:
        if type(value) not in (list, tuple):
            return REQUIRED
        for t in value:
            if not isinstance(t, Tensor):
                return REQUIRED
        return [*value]
    # by class, as a Parameter is a tensor, too
    if (param.is_tensor and isinstance(value, Tensor)) or param.schema_type == "PyObject":
        return value
    return REQUIRED


# short ways ---------------------------------------------------------------------------------------

# `make_unary_call`, `make_binary_call`, `make_view_call` and `make_in_place_call`, below, repeat each
# other where a call in common would cost a tenth of the time of an addition. What is said here holds
# in each of them where it has such a line:
#
# - `thread` is the `ThreadState` of the thread that runs: its modes.
# - `run`, the general way, tells the listeners of anomaly mode and of a watch what it does before the
#   kernel runs. So it runs each call while there are any.
# - It also runs a call whose first operand is an inference tensor, unless that is written to: if
#   all operands are, the version of a new result may be another (`are_inner_writes_counted`), and a
#   view has a counter of its own.
# - A tensor that has no storage and is no view does not need the general way.
# - `run_ufunc_silenced` is `run_silenced` in a quarter of the time, see `ThreadState`.
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
# needs as `Node._note_gradient_specs` and `Op.end_recording` do.


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


def make_write_recorder(op: Any) -> Callable[[Any, Any, bool], Any]:
    """Make a function that makes the node of a write to the first of two operands.

    It returns None if nothing is to be recorded, and raises what `check_inplace` raises. `rebase_history`
    makes the operand the node's output, after the write.
    """
    node_class, save, defaults = op.node_class, op.save, op.defaults[2:]

    def record_write(x: Any, y: Any, is_y_tensor: bool) -> Any:
        edge, other_edge = x._edge, None
        if edge is None and x._meta is not None and x._meta.requires_grad:
            edge = (x, 0)
        if is_y_tensor:
            other_edge = y._edge
            if other_edge is None and y._meta is not None and y._meta.requires_grad:
                other_edge = (y, 0)
        if node_class is None or (edge is None and other_edge is None):
            return None
        check_inplace(x)
        node = _new(node_class)
        node._edges = edges = (edge, other_edge)
        node._saved = save((x, y, *defaults), edges, is_write=True)
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
        and not op.saved_values[0].may_be_left_out
    ):
        read = op.saved_values[0].read
        return lambda values, edges: (read(values),)
    return op.save


def make_saver_of_two(op: Any) -> Callable[[Any, Any, bool, Any, Any], tuple]:
    """Make the short way of `Op.save` for two operands, given with their edges.

    It is told if the second operand is a tensor, and no number.
    """
    # Each factor is needed by the gradient of the other one: `other` by that of `self`, which is
    # input 0, and `self` by that of `other`, input 1.
    names_and_needers = [(saved.name, saved.needed_by) for saved in op.saved_values]
    # `other` may be a number. Of that `save_factors` makes a SavedNumber, `Op.save` does so for
    # operations with `numbers` alone.
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
    is_ufunc, direct_nums = isinstance(function, np.ufunc), find_direct_dtypes(op)
    defaults, read = op.defaults[1:], make_reader(op.schema, False, first=1, sizes_at=sizes_at)
    has_required, record = REQUIRED in defaults, make_recorder_of_one(op)

    def call(x: Any = REQUIRED, /, *more: Any, **named: Any) -> Any:
        if named or not isinstance(x, Tensor):
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
            elif a.dtype.num in direct_nums:
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

    return call


def make_binary_call(op: Any, otherwise: Callable) -> Callable:
    """Make the short way of a ufunc of two tensors or a tensor and a number: `add`, `mul`, `lt`."""
    run, defaults, record = op.run, op.defaults[2:], make_recorder_of_two(op)
    # For dtypes with these numbers the ufunc alone computes what the kernel does, see `pointwise`.
    ufunc = _find_function_of_operands(op)
    direct_nums, takes_numbers = op.kernel.direct_dtype_nums, op.numbers

    def call(x: Any = REQUIRED, y: Any = REQUIRED, /, *more: Any, **named: Any) -> Any:
        if more or named or not isinstance(x, Tensor):
            return otherwise(x, y, *more, **named)
        a, is_y_tensor = x._data, isinstance(y, Tensor)
        dtype = a.dtype
        if is_y_tensor:
            b = y._data
            is_usual = b.dtype is dtype  # of one dtype nearly always: else the general way
            if (y._storage is not None or y._view_meta is not None) and needs_general_way(y):
                is_usual = False
        elif takes_numbers and (type(y) is float or type(y) is int):
            b = y
            # NumPy gives the array's dtype for a number that float64 represents exactly
            is_usual = dtype.kind == "f" and (type(y) is float or -1 << 53 < y < 1 << 53)
        else:
            return otherwise(x, y)
        if not is_usual or dtype.num not in direct_nums or NODE_LISTENERS or GRAPH_EXIT_LISTENERS:
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

    return call


def make_view_call(op: Any, otherwise: Callable, sizes_at: int) -> Callable:
    """Make the short way of an operation that gives one view: `view`, `t`, `select`."""
    run, compute = op.run, op.compute
    # Not None: `can_have_short_way` takes only views that have a gradient.
    record: Any = make_recorder_of_one(op)
    defaults = op.defaults[1:]
    has_required = REQUIRED in defaults
    read = make_reader(op.schema, False, first=1, sizes_at=sizes_at)

    def call(x: Any = REQUIRED, /, *more: Any, **named: Any) -> Any:
        if named or not isinstance(x, Tensor):
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

    return call


def make_in_place_call(op: Any, otherwise: Callable) -> Callable:
    """Make the short way of a ufunc that writes into its first operand: `add_`, `mul_`.

    It needs no room for a result: the ufunc itself writes, if both operands have the same shape and
    no cell in common.
    """
    run, defaults, record_write = op.run_in_place, op.defaults[2:], make_write_recorder(op)
    ufunc = _find_function_of_operands(op)
    direct_nums, takes_numbers = op.kernel.direct_dtype_nums, op.numbers

    def call(x: Any = REQUIRED, y: Any = REQUIRED, /, *more: Any, **named: Any) -> Any:
        if more or named or not isinstance(x, Tensor):
            return otherwise(x, y, *more, **named)
        a, is_y_tensor = x._data, isinstance(y, Tensor)
        if is_y_tensor:
            b = y._data
            is_usual = b.dtype is a.dtype and b.shape == a.shape and b is not a
            # two arrays that own their memory have no cell in common
            if (a.base is not None or b.base is not None) and memory_owner(a) is memory_owner(b):
                is_usual = False
            if (y._storage is not None or y._view_meta is not None) and needs_general_way(y):
                is_usual = False
        elif takes_numbers and (type(y) is float or type(y) is int):
            b = y
            is_usual = type(y) is float or -1 << 53 < y < 1 << 53
        else:
            return otherwise(x, y)
        is_direct = a.dtype.kind == "f" and a.dtype.num in direct_nums
        # Dense in neither order, it may have a cell twice (`expand`): each write reads the last one.
        is_dense = a.flags.forc
        if not (is_usual and is_direct and is_dense) or NODE_LISTENERS or GRAPH_EXIT_LISTENERS:
            return run(x, y, *defaults)
        if (x._storage is not None or x._view_meta is not None) and needs_general_way(x):
            return run(x, y, *defaults)
        thread = MODES.thread
        node = None
        if thread.is_recording and (x._edge or x._meta or (is_y_tensor and (y._edge or y._meta))):
            # Before the kernel: an error must leave the cells as they were.
            node = record_write(x, y, is_y_tensor)
        thread.run_ufunc_silenced(ufunc, a, b, a)
        count_write(x)
        if node is not None:
            rebase_history(x, node)
        return x

    return call


__all__ = ["Offer", "Overloads", "can_have_short_way", "make_plain_call"]
