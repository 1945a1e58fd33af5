"""How a declared operation runs: `Op`.

An `Op` runs in PyTorch's order: arguments are read, then histories are checked, then what backward
needs is saved, then the kernel runs, then the result is given its history. So of several errors the
one that PyTorch raises is raised.

Of what `op` was given (an `OpDeclaration`, see define.py) it makes what it needs to run when somebody
first names it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..base import (
    BY_NUM,
    CPU,
    ShownAs,
    cpp_name,
    device,
    dtype,
    store_values,
    strides_in_elements,
)
from ..base import strides as layout
from ..graph import (
    GRAPH_EXIT_LISTENERS,
    MODES,
    MULTI_OUTPUT,
    InferenceCounter,
    MultiNode,
    Node,
    SavedNumber,
    TensorBase,
    VersionCounter,
    check_inplace,
    count_write,
    gradient_edge,
    gradient_spec_of,
    make_node_class,
    make_undifferentiable_node_class,
    mark_as_view,
    needs_grad,
    note_data_assigned,
    note_formula_write,
    rebase_history,
    replace_history,
    run_silenced,
    save_tensor,
    save_value,
)
from ..tensor import device_of, make_tensor
from .kernels import Kernel
from .late import made_once
from .out_argument import OUT_DTYPE_ERRORS, OutArgument, OutRule
from .schema import Schema
from .short_ways import can_have_short_way, make_short_way

ndarray = np.ndarray

# How often PyTorch writes to a fresh result before it returns that. By operation: a number, or a
# function of what the kernel gets; ops/inner_writes.py fills it in.
INNER_WRITES: dict[str, int | Callable[..., int]] = {}

_OUT_RECORDED = (
    "{}(): functions with out=... arguments don't support automatic differentiation, but one of "
    "the arguments requires grad."
)
_TWO_DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, {} and {}!"
)


class SavedValue(NamedTuple):
    """A value that the node of an operation saves."""

    # as formulas call it
    name: str
    # reads it off a call's arguments; None for a result
    read: Callable[[tuple], Any] | None
    # as `Node._needed_by`: the only input whose gradient needs it; None if it is saved in any case
    needed_by: int | None
    # a tensor, or a list of them; sizes and flags cost nothing, and are saved in any case
    is_tensor: bool


class SavedOperand(NamedTuple):
    """A tensor, or a list of them, among the values that a node saves of a call's arguments."""

    # among the saved values
    index: int
    # as of a `SavedValue`
    needed_by: int | None
    # the first argument, which a write changes
    is_first: bool


class OpDeclaration(NamedTuple):
    """What `op` was given: all else of an operation is made of it, once the operation is named."""

    # the schema's text
    text: str
    # bound to no schema yet
    kernel: Kernel
    # the name of its nodes
    backward: str
    # by the name of an input, its gradient; by the names of all, "self, src", all of them
    formulas: dict[str, Callable | None]
    # names of what is saved although no formula that runs may read it
    also_saved: tuple[str, ...]
    # by the name of a saved value, a function that reads it off a call's arguments
    readers: dict[str, Callable]
    # True if it is recorded without a derivative; of `out`: a call with `out=`
    is_undifferentiable: bool
    is_out_undifferentiable: bool
    # what `out=` was, see `_read_out_rule`
    out: bool | str | OutRule | None


class Op:
    """One overload of an operation.

    Formulas and other operations call it with tensors, or with plain arrays, on which only the
    kernel runs. The ways to run it, each leaving to the next what it is not made for:

    - `__call__`: on an array it calls `compute`, the kernel alone; else `run_on_tensors`, to which it
      also leaves a write to an array;
    - `run_on_tensors`: the short way of ops/short_ways.py, for an operation that has one;
    - `_complete_and_run`: fills in defaults, and finds out if there are arrays after all;
    - `run`: the general way, of complete arguments. Its kind decides which it is: `_run_fresh`,
      `_run_view`, `_run_restride`, `run_in_place`, or the function of a composite.

    An operation that makes a result also has `run_in_place` (as `name_`) and `run_into_out` (with
    `out=`), which are only called by name.

    What users call by name or as an operator is made elsewhere, of the same parts: `make_plain_call`
    makes a short way of its own for `torch.mul` and for `Tensor.mul` (`Overloads.make_function`),
    and `make_short_way` one for `__mul__` (`_offer_operators`). They differ in whom they leave other calls to.

    `numbers`: as for `op`. `inner_writes`: see ops/inner_writes.py.

    What is `made_once` is made when somebody first asks for it: see late.py. A mistake in a
    declaration is found then, and by the tests, which make all of it
    (tests/engine/test_made_when_named.py).
    """

    def __init__(self, name: str, declaration: OpDeclaration, numbers: bool) -> None:
        self.name, self.declaration, self.numbers = name, declaration, numbers

    @made_once
    def schema(self) -> Schema:
        """The schema, parsed."""
        return Schema(self.declaration.text)

    @made_once
    def kernel(self) -> Kernel:
        """The kernel, which knows the schema."""
        return self.declaration.kernel.bind_schema(self.schema)

    @made_once
    def kind(self) -> str:
        """What it does with memory: the kind of its kernel, or "restride"."""
        # A view of what the schema says is written to, as by `t_`, changes how the tensor itself
        # looks at its memory.
        is_restride = self.kernel.kind == "view" and self.schema.writes_self
        return "restride" if is_restride else self.kernel.kind

    @made_once
    def is_write(self) -> bool:
        """True if its kernel writes to the first argument, or is about how that looks at its memory.

        On an array, too, it has to be run as a write.
        """
        return self.kind in ("write", "restride")

    @made_once
    def compute(self) -> Callable:
        """The kernel, on arrays. A composite, which calls other operations, runs on tensors, too."""
        # Most kernels do no more than their function, and are not worth a call in between.
        is_function = type(self.kernel).__call__ is Kernel.__call__
        return self.kernel.function if is_function else self.kernel

    @made_once
    def run(self) -> Callable:
        """The general way, of its kind."""
        ways = {
            "fresh": self._run_fresh,
            "view": self._run_view,
            "write": self.run_in_place,
            "composite": self.compute,
            "restride": self._run_restride,
        }
        return ways[self.kind]

    @made_once
    def defaults(self) -> tuple:
        """The default of each argument."""
        return self.schema.defaults

    @made_once
    def has_several_results(self) -> bool:
        """True if it gives several tensors."""
        return self.schema.has_several_results

    @made_once
    def tensor_positions(self) -> list[int]:
        """The positions of parameters that take a tensor."""
        return [i for i, p in enumerate(self.schema.params) if p.is_tensor]

    @made_once
    def list_positions(self) -> list[int]:
        """The positions of parameters that take a list of tensors."""
        return [i for i, p in enumerate(self.schema.params) if p.is_list]

    @made_once
    def input_positions(self) -> list[int]:
        """The positions of parameters that have an edge in the node.

        ValueError for a formula of an argument that the schema lacks.
        """
        # Without formulas to name the inputs they are all tensors.
        if not self.declaration.formulas:
            return self.tensor_positions if self.declaration.is_undifferentiable else []
        inputs = ", ".join(self.declaration.formulas).split(", ")
        return [self.schema.position_of(name) for name in inputs]

    @made_once
    def out_rule(self) -> OutRule:
        """The rule for `out=`."""
        return _read_out_rule(self.declaration.out, self.schema)

    @made_once
    def inner_writes(self) -> int | Callable[..., int]:
        """How often PyTorch writes to a result before it returns that, or a function that says so.

        A copy is made empty and written once.
        """
        return INNER_WRITES.get(self.name, int(self.kernel.is_copy))

    @made_once
    def node_class(self) -> Any:
        """The class of its nodes; None if PyTorch records nothing."""
        if self.declaration.is_undifferentiable:
            return make_undifferentiable_node_class(f"aten::{self.name}")
        return _make_node_class(self) if self.declaration.formulas else None

    @made_once
    def out_node_class(self) -> Any:
        """The class of the node of a call with `out=`; None where PyTorch does not record it."""
        if self.declaration.is_out_undifferentiable or self.schema.is_factory:
            return make_undifferentiable_node_class(f"aten::{self.name}")
        # A node without formulas is PyTorch's for what has no derivative, with `out=`, too.
        has_formulas = self.node_class is not None and self.node_class._formulas
        return None if has_formulas else self.node_class

    @made_once
    def result_type(self) -> Any:
        """The type of several results."""
        return result_type_of(self.schema)

    @made_once
    def has_short_way(self) -> bool:
        """True if calls have a short way."""
        return can_have_short_way(self)

    @made_once
    def run_on_tensors(self) -> Callable:
        """The short way, which leaves other calls to `_complete_and_run`; that, where there is none.

        Arrays and numbers may get here, too, and are among these. A composite takes all alike.
        """
        if self.kind == "composite":
            return self.run_on_arrays
        return make_short_way(self, self._complete_and_run)

    @made_once
    def saved_values(self) -> list[SavedValue]:
        """What the node saves of a call's arguments and results, in its order."""
        schema, node_class, readers = self.schema, self.node_class, self.declaration.readers
        if node_class is None:
            return []
        saved = []
        pairs = zip(node_class._names_of_saved, node_class._needed_by, strict=True)
        for index, (name, needed_by) in enumerate(pairs):
            read = None
            if index not in node_class._output_nr_of_saved:
                read = readers.get(name) or make_argument_reader(name, schema)
            is_tensor = index in node_class._tensor_indices
            saved.append(SavedValue(name, read, needed_by, is_tensor))
        return saved

    @made_once
    def saved_value_readers(self) -> list[Callable[[tuple], Any]]:
        """For each saved value, what reads it off a call's arguments: None for a result."""
        return [saved.read or _read_nothing for saved in self.saved_values]

    @made_once
    def saved_operands(self) -> list[SavedOperand]:
        """The tensors among the saved values, without results."""
        return [
            SavedOperand(index, saved.needed_by, saved.name == self.schema.names[0])
            for index, saved in enumerate(self.saved_values)
            if saved.is_tensor and saved.read is not None
        ]

    @made_once
    def run_on_arrays(self) -> Callable:
        """What computes a call on arrays, or writes to the first of them."""
        if self.is_write:
            return self._complete_and_run
        if self.schema.required_count == len(self.defaults):
            return self.compute
        return lambda *values: self.compute(*values, *self.defaults[len(values) :])

    def __call__(self, *values: Any) -> Any:
        """Run on tensors, recorded if grad mode is on, or on arrays.

        Arguments that are left out take their defaults.
        """
        # The first argument of a call on arrays may be a number, too: Python's, or the one that
        # NumPy computes from 0-d arrays. Then `_complete_and_run` looks at the other arguments.
        if type(values[0]) is ndarray:
            return self.run_on_arrays(*values)
        return self.run_on_tensors(*values)

    def fill_in_defaults(self, values: tuple) -> tuple:
        """Return the arguments of a call with the defaults of those that are left out."""
        return values + self.defaults[len(values) :]

    def _complete_and_run(self, *values: Any) -> Any:
        """Fill in defaults, then run on arrays, or on tensors in the general way."""
        values += self.defaults[len(values) :]
        is_for_arrays = not self.is_write and not isinstance(values[0], TensorBase)
        if is_for_arrays and is_called_on_arrays(values):
            return self.compute(*values)
        return self.run(*values)

    # histories -----------------------------------------------------------------------------------

    def tensors_of(self, values: tuple) -> list:
        """Return all tensors among the arguments of a call."""
        tensors = [x for x in values if isinstance(x, TensorBase)]
        for i in self.list_positions:
            tensors += [t for t in values[i] if t is not None]
        return tensors

    def arrays_of(self, values: tuple) -> list:
        """Return the arguments of a call as kernels take them: arrays for tensors, all else as it is."""
        arrays = list(values)
        for i in self.tensor_positions:
            x = values[i]
            if isinstance(x, TensorBase):
                arrays[i] = x._data
        for i in self.list_positions:
            arrays[i] = [None if t is None else t._data for t in values[i]]
        return arrays

    def begin_recording(self, values: tuple, tensors: list, is_write: bool = False) -> Any:
        """Return the node of a call if it is to be recorded, else None.

        `is_write`: the first argument is written to.
        """
        thread = MODES.thread
        if self.node_class is None or not thread.is_recording:
            # Not while a node of backward runs: what formulas compute is no step of the program's.
            if GRAPH_EXIT_LISTENERS and thread.node is None:
                # What a write replaces is not read: `y.zero_()` takes no value out of the graph.
                self._report_graph_exit(tensors[1:] if is_write else tensors)
            return None
        for t in tensors:
            if needs_grad(t):
                if is_write:
                    check_inplace(values[0])
                return self.make_node(values, is_write)
        return None

    def _report_graph_exit(self, operands: list) -> None:
        """Tell listeners of a call without a node, if what it reads requires grad."""
        sources = [t for t in operands if needs_grad(t)]
        if sources:
            for listener in GRAPH_EXIT_LISTENERS:
                listener(self.name, sources, len(operands), MODES.thread.is_recording)

    def make_node(self, values: tuple, is_write: bool = False) -> Any:
        """Make the node of a call, with its edges and what it saves of the arguments."""
        edges: list = []
        for i in self.input_positions:
            x = values[i]
            if isinstance(x, TensorBase):
                edges.append(gradient_edge(x))
            elif type(x) is list:
                edges += [None if t is None else gradient_edge(t) for t in x]
            else:
                edges.append(None)
        return self.node_class(tuple(edges), self.save(values, edges, is_write))

    def save(self, values: tuple, edges: Any, is_write: bool = False) -> tuple:
        """Return what a node saves of a call's arguments: what a formula that will run reads.

        Its results are saved later, by `_keep_results`.

        `is_write`: the first argument is written to. A copy of it is saved, as the write comes later
        and would make it stale.
        """
        saved = [read(values) for read in self.saved_value_readers]
        for index, needed_by, is_first in self.saved_operands:
            x = saved[index]
            if needed_by is not None and edges[needed_by] is None and type(x) is not list:
                # No formula that reads it will run. (A list has an edge for each of its tensors,
                # and `edges[needed_by]` is that of one alone: a list is saved in any case.)
                saved[index] = None
            elif isinstance(x, TensorBase):
                saved[index] = save_tensor(x.clone() if is_write and is_first else x)
            elif self.numbers and x is not None:
                # PyTorch makes a 0-d tensor of a number that stands for a tensor, and saves that.
                saved[index] = SavedNumber(x)
            else:
                saved[index] = save_value(x)
        return tuple(saved)

    def end_recording(self, node: Any, result: Any) -> None:
        """Make a result, or several, the output of a node."""
        if isinstance(result, (tuple, list)):
            floating = [t if t is not None and t._data.dtype.kind == "f" else None for t in result]
            # PyTorch counts outputs up to the last that has a gradient
            while floating and floating[-1] is None:
                floating.pop()
            node._note_gradient_specs(*floating)
            for nr, t in enumerate(floating):
                if t is not None:
                    t._edge = (node, nr)
            results = tuple(result)
        else:
            if result._data.dtype.kind != "f":
                raise RuntimeError(f"Autograd not support dtype: {result.dtype.scalar_name}")
            node._gradient_specs = (gradient_spec_of(result),)
            result._edge = (node, 0)
            results = (result,)
        if node._output_nr_of_saved:
            node._keep_results(results)

    # ways to run ---------------------------------------------------------------------------------

    def common_device(self, values: tuple, tensors: list) -> device:
        """Return the device of the operands, which is the result's.

        RuntimeError if they are on two devices.
        """
        for t in tensors:
            if t._storage is not None and t._storage.device is not CPU:
                return self._check_devices(values)
        return CPU

    def _check_devices(self, values: tuple) -> device:
        """Return the device of operands of which one is not on the CPU.

        RuntimeError if they are on two devices.
        """
        operands = [values[i] for i in self.tensor_positions if isinstance(values[i], TensorBase)]
        for i in self.list_positions:
            # `Tensor?[]` are indices, which may be on the CPU
            if self.schema.params[i].schema_type == "Tensor[]":
                operands += values[i]
        common = CPU
        for t in operands:
            if device_of(t) is not CPU:
                common = device_of(t)
                break
        for t in operands:
            # a 0-d tensor on the CPU goes with tensors on any device
            if device_of(t) is not common and t._data.ndim:
                raise RuntimeError(_TWO_DEVICES.format(common, device_of(t)))
        return common

    def _run_fresh(self, *values: Any) -> Any:
        """Run an operation whose results have memory of their own."""
        tensors = self.tensors_of(values)
        node = self.begin_recording(values, tensors)
        common_device = self.common_device(values, tensors)
        data = run_silenced(self.compute, *self.arrays_of(values))
        if type(data) in (tuple, list):
            result = self.result_type([make_tensor(d, common_device) for d in data])
        else:
            result = make_tensor(data, common_device)
        if node is not None:
            self.end_recording(node, result)
        elif self.inner_writes and are_inner_writes_counted(tensors):
            self._count_inner_writes(values, result)
        return result

    def _count_inner_writes(self, values: tuple, result: Any) -> None:
        """Set the versions of results to the number of writes by which PyTorch fills them.

        `torch.sum(x)._version` is 1 for an inference tensor `x`: PyTorch makes the result empty and
        writes to it. Of any other `x` it is 0: there autograd hides these writes from the counter.
        """
        writes = self.inner_writes
        count = writes(*self.arrays_of(values)) if callable(writes) else writes
        for fresh in result if self.has_several_results else (result,):
            fresh._counter = VersionCounter(count)

    def _run_view(self, *values: Any) -> Any:
        """Run an operation that gives one view or several."""
        source = values[0]
        node = self.begin_recording(values, [source])
        data = self.compute(*self.arrays_of(values))
        counter = None
        # Where autograd does not know of the view, the mode alone decides in PyTorch whether it is
        # an inference tensor, as of any new tensor: what the source is does not matter.
        if self.node_class is None and (source._counter.is_inference or MODES.thread.inference):
            counter = InferenceCounter() if MODES.thread.inference else VersionCounter()
        arrays = data if self.has_several_results else (data,)
        views = [source._make_alias_of(a, counter) for a in arrays]
        creation = MULTI_OUTPUT if self.has_several_results and MODES.thread.is_recording else None
        # Without a node autograd does not know that it looks at the same memory.
        if self.node_class is not None:
            for t in views:
                mark_as_view(t, source, creation)
        result = self.result_type(views) if self.has_several_results else views[0]
        if node is not None and not source._counter.is_inference:
            self.end_recording(node, result)
        return result

    def _run_restride(self, *values: Any) -> Any:
        """Give the tensor itself another shape and strides over its memory, as `t_` does."""
        target = values[0]
        node = None
        if not target._counter.is_inference:
            node = self.begin_recording(values, [target], is_write=True)
        data, before = self.compute(*self.arrays_of(values)), gradient_spec_of(target)
        # Before the array changes: the new one may look at a part of the memory alone.
        target._materialize_storage()
        target._data = data
        note_data_assigned(target, before)
        count_write(target)
        if node is not None:
            node._note_gradient_specs(target)
            replace_history(target, node)
        return target

    def run_in_place(self, *values: Any) -> Any:
        """Run the operation with its result written into its first argument: PyTorch's `name_`."""
        values = self.fill_in_defaults(values)
        target = values[0]
        if isinstance(target, (ndarray, np.generic)):
            return self._write_into_array(target, values[1:])
        tensors = self.tensors_of(values)
        node = self.begin_recording(values, tensors, is_write=True)
        # For its error alone: the result is where the target is.
        self.common_device(values, tensors)
        arrays = self.arrays_of(values)
        data = run_silenced(self.kernel.values_to_write, *arrays)
        if data is not None:
            self._write_values(target._data, data, arrays)
        count_write(target)
        if node is not None:
            node._note_gradient_specs(target)
            rebase_history(target, node)
            if node._output_nr_of_saved:
                node._keep_results((target,))
        return target

    def _write_into_array(self, target: Any, rest: tuple) -> ndarray:
        """Write the result into an array: a formula of a first derivative runs on arrays."""
        # NumPy gives a number for an operation on 0-d arrays
        target = np.asarray(target)
        data = self.kernel.values_to_write(target, *rest)
        if data is not None:
            store_values(target, data)
        note_formula_write(target)
        return target

    def _write_values(self, target: ndarray, data: ndarray, arrays: list) -> None:
        """Write computed values into the array of a tensor."""
        if target.flags.forc or not layout.has_overlap(target):
            run_silenced(store_values, target, data)
        else:
            # of a cell that occurs several times, each write reads what the one before has written
            run_silenced(
                layout.store_one_by_one, target, data, lambda: self.kernel.values_to_write(*arrays)
            )

    # `out=` --------------------------------------------------------------------------------------

    def run_into_out(self, out: Any, values: tuple) -> Any:
        """Run the operation with its result, or several, written into `out`.

        RuntimeError if anything requires grad, or if PyTorch does not convert the result to the
        dtype of `out`.
        """
        if self.kernel.writes_out:
            return self.kernel.run_into_out(out, values)
        return self.write_into_out(out, values)

    def write_into_out(self, out: Any, values: tuple) -> Any:
        """Compute the result, and write it into `out`: the way of most kernels.

        A kernel with a way of its own (`writes_out`) calls this for what it leaves to the usual way.
        """
        outs = tuple(out) if type(out) in (tuple, list) else (out,)
        inputs = self.tensors_of(values)
        if self.kernel.resizes_out and needs_grad(out):
            raise RuntimeError("cannot resize variables that require grad")
        node = self.begin_recording_out(outs, inputs)
        if self.schema.is_factory:
            self.kernel.run_into_out(out, values)
        else:
            if self.kernel.in_dtype_of_out and "dtype" in self.schema.names:
                values = self._with_dtype_of_out(values, out.dtype)
            self._compute_into(outs, values, inputs)
        # A copy by `view_copy(dtype)` may be of whole numbers, which have no gradient.
        if node is not None and out.is_floating_point():
            node._note_gradient_specs(out)
            rebase_history(out, node)
        return out if len(outs) == 1 else result_type_of(self.schema, "_out")(outs)

    def _compute_into(self, outs: tuple, values: tuple, inputs: list) -> None:
        """Prepare the tensors of `out=`, compute, and write the results into them."""
        arrays = self.arrays_of(values)
        targets = [OutArgument(t, self.out_rule, inputs) for t in outs]
        count = len(self.schema.returns)
        if len(outs) != count:
            raise TypeError(f"expected tuple of {count} elements but got {len(outs)}")
        prepare = self.out_rule.prepare or self.kernel.prepare_out
        if prepare is not None:
            prepare(targets[0], *arrays)
        results = self._compute_for_out(values, arrays)
        pairs = list(zip(targets, results, strict=True))
        # Where PyTorch records `out=`, it copies the result, which may be of the same memory, and
        # looks at the dtype when `out` has its new shape.
        is_copied = self.declaration.is_out_undifferentiable
        if is_copied:
            targets[0].resize(results[0].shape)
        # All are checked before one is written: `torch.max(x, 0, out=(a, wrong))` leaves `a` as it
        # was.
        for target, data in pairs:
            target.check_dtype(BY_NUM[data.dtype.num])
        for target, data in pairs:
            target.resize(data.shape)
        if is_copied:
            targets[0].check_overlap()
        if prepare is None and self.kernel.checks_overlap and not is_copied:
            for target in targets:
                target.check_overlap(*[t._data for t in inputs if t is not target.tensor])
        keeps_strides = self.out_rule.keeps_strides or self.kernel.lays_out(*arrays)
        for target, data in pairs:
            target.write_result(data, keeps_strides)
        for target in targets:
            count_write(target.tensor)

    def begin_recording_out(self, outs: tuple, inputs: list) -> Any:
        """Return the node of a call with `out=`; None if it is not to be recorded.

        RuntimeError if it would have to be, as PyTorch records few of these, and none into a leaf.
        """
        out_class, operands = self.out_node_class, (*inputs, *outs)
        has_node = self.node_class is not None or out_class is not None
        is_recorded = has_node or self.kernel.kind == "composite"
        if not (is_recorded and MODES.thread.is_recording and any(map(needs_grad, operands))):
            return None
        if out_class is None:
            raise RuntimeError(_OUT_RECORDED.format(self.name))
        if any(needs_grad(t) and (t if t._base is None else t._base).is_leaf for t in outs):
            raise RuntimeError(_OUT_RECORDED.format(f"aten::{self.name}"))
        return out_class(tuple([gradient_edge(t) for t in operands]))

    def _with_dtype_of_out(self, values: tuple, d: dtype) -> tuple:
        """Return the arguments with the dtype of `out` as the one to compute in."""
        at = self.schema.names.index("dtype")
        if values[at] not in (None, d):
            message = OUT_DTYPE_ERRORS["exact"]
            raise RuntimeError(message.format("", "", cpp_name(values[at]), cpp_name(d)))
        return (*values[:at], d, *values[at + 1 :])

    def _compute_for_out(self, values: tuple, arrays: list) -> list[ndarray]:
        """Return the arrays of the results."""
        # Composites run on tensors, all other kernels on arrays.
        if self.kernel.kind == "composite":
            tensors = self.compute(*values)
            if type(tensors) not in (tuple, list):
                tensors = [tensors]
            return [tensor._data for tensor in tensors]
        results = run_silenced(self.compute, *arrays)
        if type(results) not in (tuple, list):
            results = [results]
        return [np.asarray(result) for result in results]


def is_called_on_arrays(values: tuple) -> bool:
    """Return True if the first tensor or array among the arguments is an array."""
    for value in values:
        for x in value if type(value) in (list, tuple) else (value,):
            if isinstance(x, TensorBase):
                return False
            if isinstance(x, (ndarray, np.generic)):
                return True
    return False


def are_inner_writes_counted(operands: list) -> bool:
    """Return True if PyTorch's counter of a result sees the writes by which the result is filled.

    It does if all operands are inference tensors and inference mode is off: see ops/inner_writes.py.
    """
    if MODES.thread.inference or not operands:
        return False
    return all([t._counter.is_inference for t in operands])


# How the facts that PyTorch saves in place of a tensor are read: `self_sym_sizes`, `_self_dtype`.
_FACTS: dict[str, Callable] = {
    "sizes": lambda x: tuple(x._data.shape),
    "numel": lambda x: x._data.size,
    # As in PyTorch, where none are saved of a tensor that requires no grad.
    "strides": lambda x: strides_in_elements(x._data) if needs_grad(x) else (),
    "dtype": lambda x: x.dtype if isinstance(x, TensorBase) else None,
    "dim": lambda x: x._data.ndim,
    "device": device_of,
}


def _read_nothing(_values: tuple) -> None:
    """Read a result off a call's arguments: it is not there yet."""


def make_argument_reader(name: str, schema: Schema) -> Callable[[tuple], Any]:
    """Make a function that reads a saved value off a call's arguments.

    Its name says which: `other`, `self_sym_sizes`, `_self_dtype`.
    """
    if name in schema.names:
        return itemgetter(schema.position_of(name))
    base, _, fact = name.lstrip("_").replace("_sym_", "_").rpartition("_")
    # What ends in no fact is no name of the schema's: the error says it in full.
    i = schema.position_of(base if fact in _FACTS else name)
    read_fact = _FACTS[fact]
    if schema.params[i].is_tensor and not schema.params[i].accepts_none:
        if fact == "sizes":
            return lambda values: values[i]._data.shape
        return lambda values: read_fact(values[i])

    def read(values: tuple) -> Any:
        x = values[i]
        if type(x) is list:
            return [read_fact(t) for t in x]
        return None if x is None else read_fact(x)

    return read


# what is made of a declaration ---------------------------------------------------------------------


def _read_out_rule(out: bool | str | OutRule | None, parsed: Schema) -> OutRule:
    """Return what `op` was given as `out` as a rule."""
    if isinstance(out, OutRule):
        return out
    # The dtypes of several results are PyTorch's in any case.
    by_default = "exact" if parsed.has_several_results else ""
    return OutRule(out if isinstance(out, str) else by_default)


def _make_node_class(declared: Op) -> Any:
    """Make the class of an operation's nodes."""
    schema, parts = declared.schema, declared.declaration
    results: tuple[str, ...] = ("result",)
    if schema.has_several_results:
        results = tuple([n or f"result{i}" for i, n in enumerate(schema.result_names)])
    operands = {schema.names[i] for i in (*declared.tensor_positions, *declared.list_positions)}
    # What a reader gives under a name of its own may be a tensor, as `total_weight` is.
    more_tensors = parts.readers.keys() - set(schema.names)
    return make_node_class(
        parts.backward,
        parts.formulas,
        also_saved=parts.also_saved,
        base=MultiNode if schema.has_several_results else Node,
        # The formula of a list returns a gradient for each of its tensors.
        formula_gives_all_inputs=any(p.is_list for p in schema.params if p.name in parts.formulas),
        results=results,
        is_pointwise=declared.kernel.is_pointwise,
        tensors=operands | more_tensors,
    )


def result_type_of(schema: Schema, suffix: str = "") -> Any:
    """Return the type of several results: a tuple, with PyTorch's names of fields if it has any."""
    if not schema.result_names[0]:
        return tuple
    return _make_result_type(schema.name + suffix, tuple(schema.result_names))


@functools.cache
def _make_result_type(name: str, fields: tuple[str, ...]) -> Any:
    """Make a class of named results, such as `torch.return_types.max`."""

    def show(self: tuple) -> str:
        parts = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{parts})"

    module = "torch.return_types"
    body: dict[str, Any] = {
        "__slots__": (),
        "__module__": module,
        "__repr__": show,
        "shown_as": f"{module}.{name}",
    }
    body |= {f: property(itemgetter(i)) for i, f in enumerate(fields)}
    return ShownAs(name, (tuple,), body)


__all__ = ["INNER_WRITES", "Op", "OpDeclaration"]
