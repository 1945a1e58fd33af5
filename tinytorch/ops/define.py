"""Declaring operations: torch's own schema, a kernel, and a formula for each gradient. That is all there is to one.

    mul = op("mul(Tensor self, Tensor other)", pointwise(np.multiply), numbers=True, operator="mul",
             self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)

The schema says how it may be called and what a call shares: a result `Tensor(a)` looks at the memory of the argument
`Tensor(a)`, and `Tensor(a!)` is written to. From it come function, method, `name_`, `out=`, and torch's words for calls
that do not fit. A formula's parameter names say what is saved for it.

Everything happens in torch's order: arguments are read, then histories, then what backward needs is saved, then the
kernel runs, then the result is given its history. So the first thing that is wrong is what is said.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from ..base import (
    BY_NUM,
    CPU,
    ShownAs,
    can_cast,
    check_overlap,
    cpp_name,
    device,
    dtype,
    not_taken,
    store,
    warn_in_torch,
)
from ..base import strides as layout
from ..graph import (
    MODES,
    MULTI_OUTPUT,
    MultiNode,
    Node,
    SavedNumber,
    TensorBase,
    VersionCounter,
    check_inplace,
    count_write,
    edge_of,
    exchanged,
    expectation,
    kind_of_node,
    needs_grad,
    rebase_history,
    replace_history,
    run_silenced,
    save_value,
    view_of,
)
from ..tensor import Tensor, device_of, fresh
from .calling import Overloads, plain_call
from .kernels import Kernel, cannot_cast, pointwise
from .schema import Schema, is_number

ndarray = np.ndarray
OUT_WORDS = {
    "exact": "Expected out tensor to have dtype {2}, but got {3} instead",
    "found": "Found dtype {1} but expected {0}",
}  # of the result's dtype and that of `out`, by their names and as C++ has them
OPS: list[Op] = []  # all that are declared, in order


class Op:
    """One overload of an operation. Formulas call it: on tensors, or on plain arrays, which runs its kernel alone."""

    def __init__(
        self, schema: Schema, kernel: Kernel, node: Any, inputs: list[int], keeps: dict[str, Callable], numbers: bool,
        older: bool, out_words: str,
    ) -> None:  # fmt: skip
        self.schema, self.kernel, self.node, self.inputs = schema, kernel, node, inputs
        self.numbers, self.older, self.out_words = numbers, older, out_words
        self.name, self.defaults = schema.name, schema.defaults
        self.several = schema.several
        self.result_type = _named(schema)
        self.tensors = [i for i, p in enumerate(schema.params) if p.is_tensor]
        self.lists = [i for i, p in enumerate(schema.params) if p.is_list]
        self.saves = []  # what the node saves: its name, how it is read, the one input that needs it, whether it is a tensor
        if node is not None:
            holding = {schema.names[i] for i in (*self.tensors, *self.lists)}
            for at, (n, user) in enumerate(zip(node.saved_names, node.users, strict=True)):
                read = None if at in node._results else keeps.get(n) or _source(n, schema)
                self.saves.append((n, read, user, n in holding or n in keeps))
        self.kind = "turn" if kernel.kind == "view" and schema.writes else kernel.kind
        self.compute: Callable = (
            kernel.function if type(kernel).__call__ is Kernel.__call__ else kernel
        )  # on arrays
        runs = {"fresh": self._run_fresh, "view": self._run_view, "write": self.inplace, "composite": self.compute,
                "turn": self._turn}  # fmt: skip
        self.run: Callable = runs[self.kind]
        self.on_arrays = (
            None if self.kind in ("write", "turn") else self.compute
        )  # unless it writes to them
        self.plain = plain_call(self, self.full)

    def __call__(self, *values: Any) -> Any:
        """Run on tensors, recorded as grad mode has it, or on arrays; arguments that are left out take their defaults."""
        if type(values[0]) is not ndarray or self.on_arrays is None:
            return self.plain(*values)
        given, defaults = len(values), self.defaults
        return (
            self.on_arrays(*values)
            if given == len(defaults)
            else self.on_arrays(*values, *defaults[given:])
        )

    def full(self, *values: Any) -> Any:
        """Run step by step, on tensors or on arrays."""
        values += self.defaults[len(values) :]
        if (
            self.on_arrays is not None
            and not isinstance(values[0], TensorBase)
            and _on_arrays(values)
        ):
            return self.compute(*values)
        return self.run(*values)

    # histories -----------------------------------------------------------------------------------------------------------

    def tensors_of(self, values: tuple) -> list:
        """All tensors that a call was given."""
        found = [x for x in values if isinstance(x, TensorBase)]
        return (
            found + [t for i in self.lists for t in values[i] if t is not None]
            if self.lists
            else found
        )

    def begin(self, values: tuple, tensors: list, written: bool = False) -> Any:
        """The node of a call if it is to be recorded, else None. `written`: the first argument is written to."""
        if self.node is None or not MODES.here.grad:
            return None
        for t in tensors:
            if needs_grad(t):
                if written:
                    check_inplace(values[0])
                return self.node_for(values, written)
        return None

    def node_for(self, values: tuple, written: bool = False) -> Any:
        """The node of a call, with its edges and what it saves of its arguments: of what is written to, what it held."""
        edges: list = []
        for i in self.inputs:
            x = values[i]
            if type(x) is list:
                edges += [None if t is None else edge_of(t) for t in x]
            else:
                edges.append(edge_of(x) if isinstance(x, TensorBase) else None)
        return self.node(tuple(edges), self.save(values, edges, written))

    def save(self, values: tuple, edges: Any, written: bool = False) -> tuple:
        """What a node saves of a call: only what a formula will read whose gradient is needed. Results come later."""
        rewritten, saved = self.schema.names[0] if written else "", []  # type: tuple[str, list]
        for name, read, user, holds in self.saves:
            x = None if read is None else read(values)
            if not holds or x is None:
                saved.append(x)
            elif user is not None and edges[user] is None and type(x) is not list:
                saved.append(None)
            elif self.numbers and not isinstance(x, TensorBase):
                saved.append(SavedNumber(x))
            else:
                saved.append(save_value(x.clone() if name == rewritten else x))
        return tuple(saved)

    def recorded(self, fn: Any, out: Any) -> None:
        """Make a result, or several, the output of its node."""
        if isinstance(out, (tuple, list)):
            floating = [t if t is not None and t._data.dtype.kind == "f" else None for t in out]
            while (
                floating and floating[-1] is None
            ):  # torch counts outputs to the last that has a gradient
                floating.pop()
            fn.describe(*floating)
            for nr, t in enumerate(floating):
                if t is not None:
                    t._edge = (fn, nr)
        else:
            if out._data.dtype.kind != "f":
                raise RuntimeError(f"Autograd not support dtype: {out.dtype.scalar_name}")
            fn.describe(out)
            out._edge = (fn, 0)
            out = (out,)
        if fn._results:
            fn.keep_results(out)

    # running -------------------------------------------------------------------------------------------------------------

    def device(self, values: tuple, tensors: list) -> device:
        """Where the result lies: where the operands do. RuntimeError in torch's words if they lie on two devices."""
        if not any([t._storage is not None and t._storage.device is not CPU for t in tensors]):
            return CPU
        tensors = [x for i in self.tensors if isinstance(x := values[i], TensorBase)]
        for i in self.lists:
            tensors += (
                values[i] if self.schema.params[i].kind == "Tensor[]" else []
            )  # indices may be on the CPU
        common = next((d for t in tensors if (d := device_of(t)) is not CPU), CPU)
        for t in tensors:
            if device_of(t) is not common and t._data.ndim:
                raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {common} and {device_of(t)}!")  # fmt: skip
        return common

    def _run_fresh(self, *values: Any) -> Any:
        tensors = self.tensors_of(values)
        fn = self.begin(values, tensors)
        where = self.device(values, tensors)
        data = run_silenced(self.compute, *_arrays(values))
        out = (
            self.result_type([fresh(d, where) for d in data])
            if type(data) in (tuple, list)
            else fresh(data, where)
        )
        if fn is not None:
            self.recorded(fn, out)
        elif self.kernel.copies and values[0].is_inference() and not MODES.here.inference:
            out._counter = VersionCounter(1)  # torch counts that it was written to
        return out

    def _run_view(self, *values: Any) -> Any:
        source = values[0]
        fn = self.begin(values, [source])
        data = self.compute(*_arrays(values))
        outs = [source._looking(a) for a in (data if self.several else (data,))]
        creation = MULTI_OUTPUT if self.several and MODES.here.grad else None
        if self.node is not None:  # else autograd does not know that it looks at the same memory
            for out in outs:
                view_of(out, source, creation)
        made = self.result_type(outs) if self.several else outs[0]
        if fn is not None and not source._counter.is_inference:
            self.recorded(fn, made)
        return made

    def _turn(self, *values: Any) -> Any:
        """Have the tensor itself look at its memory in another way."""
        target = values[0]
        fn = None if target._counter.is_inference else self.begin(values, [target], True)
        data, before = self.compute(*_arrays(values)), expectation(target)
        target._own_storage()
        target._data = data
        exchanged(target, before)
        count_write(target)
        if fn is not None:
            fn.describe(target)
            replace_history(target, fn)
        return target

    def inplace(self, *values: Any) -> Any:
        """The operation with its result written into its first argument, as torch's `name_`."""
        values += self.defaults[len(values) :]
        target = values[0]
        if isinstance(target, (ndarray, np.generic)):
            target = np.asarray(target)  # of an operation on 0-d arrays NumPy gives a number
            data = self.kernel.written(target, *values[1:])
            if data is not None:
                store(target, data)
            return target
        tensors = self.tensors_of(values)
        fn = self.begin(values, tensors, True)
        self.device(values, tensors)
        arrays = _arrays(values)
        for i in self.tensors[
            1:
        ]:  # two tensors may have one array, but only one tensor is known to be itself
            if arrays[i] is arrays[0] and values[i] is not target:
                arrays[i] = arrays[i][...]
        data = run_silenced(self.kernel.written, *arrays)
        if data is not None:
            a = target._data
            if a.flags.forc or not layout.overlaps(a):
                run_silenced(store, a, data)
            else:
                run_silenced(layout.store_in_turn, a, data, lambda: self.kernel.written(*arrays))
        count_write(target)
        if fn is not None:
            fn.describe(target)
            rebase_history(target, fn)
            if fn._results:
                fn.keep_results((target,))
        return target

    def into(self, out: Any, values: tuple) -> Any:
        """The operation with its result written into `out`."""
        if self.schema.is_factory:
            return self.kernel.into(out, values)
        outs = tuple(out) if type(out) in (tuple, list) else (out,)
        inputs = self.tensors_of(values)
        recorded = hasattr(self.node, "rules") or self.kernel.kind == "composite"
        if MODES.here.grad and recorded and any([needs_grad(t) for t in (*outs, *inputs)]):
            raise RuntimeError(f"{self.name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.")  # fmt: skip
        if self.kernel.in_dtype_of_out and "dtype" in self.schema.names:
            at, d = self.schema.names.index("dtype"), out.dtype
            if values[at] not in (None, d):
                raise RuntimeError(
                    OUT_WORDS["exact"].format("", "", cpp_name(values[at]), cpp_name(d))
                )
            values = (*values[:at], d, *values[at + 1 :])
        if self.kernel.kind == "composite":
            data: Any = self.compute(*values)
            data = [t._data for t in data] if type(data) in (tuple, list) else data._data
        else:
            arrays = _arrays(values)
            if type(self.kernel) is pointwise:  # whose `out` torch looks at first
                check_overlap(out._data, *[t._data for t in inputs if t is not out])
                if self.out_words:
                    self.check_out(out, self.kernel.dtype(arrays))
            data = run_silenced(self.compute, *arrays)
        data = data if type(data) in (tuple, list) else (data,)
        if len(outs) != len(data):
            raise TypeError(f"expected tuple of {len(data)} elements but got {len(outs)}")
        for o, made in zip(outs, data, strict=True):
            self.check_out(o, BY_NUM[np.asarray(made).dtype.num])
        for o, made in zip(outs, data, strict=True):
            write_out(o, np.asarray(made), inputs, type(self.kernel) is pointwise)
        return out if len(data) == 1 else _named(self.schema, "_out")(outs)

    def check_out(self, out: Any, d: dtype) -> None:
        """Raise torch's RuntimeError if a result of this dtype may not be written into `out`."""
        words, into = (
            self.out_words or (OUT_WORDS["exact"] if self.several else ""),
            BY_NUM[out._data.dtype.num],
        )
        if (
            words and into is not d and (d.called, into.called) != ("bool", "uint8")
        ):  # which once stood for bools
            raise RuntimeError(
                words.format(d.scalar_name, into.scalar_name, cpp_name(d), cpp_name(into))
            )


def write_out(out: Any, data: ndarray, inputs: list, layout_too: bool) -> None:
    """Give a result through `out=`: resized if need be (with torch's warning), converted if torch may, counted."""
    d, others = BY_NUM[data.dtype.num], [t._data for t in inputs if t is not out]
    target = BY_NUM[out._data.dtype.num]
    if not can_cast(d, target):
        raise cannot_cast(d, target)
    if out._data.shape != data.shape:
        if out._data.size:
            warn_in_torch(f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the required output shape {list(data.shape)}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).", "aten/src/ATen/native/Resize.cpp:30")  # fmt: skip
        from .memory import resized

        counter, out._counter = out._counter, VersionCounter()  # the write alone counts
        resized(out, data.shape)
        out._counter = counter
        if layout_too and data.ndim > 1:
            steps = tuple([s // data.itemsize * out._data.itemsize for s in data.strides])
            out._data = layout.restride(out._data, data.shape, steps)
    check_overlap(out._data, *others)
    run_silenced(store, out._data, data)
    count_write(out)


def _arrays(values: tuple) -> list:
    """The arguments as kernels take them: the arrays of tensors, all else as it is."""
    return [
        x._data if isinstance(x, TensorBase)
        else [t if t is None else t._data for t in x] if type(x) is list
        else x
        for x in values
    ]  # fmt: skip


def _on_arrays(values: tuple) -> bool:
    """Whether an operation was called on arrays: what comes first that is no number, alone or in a list, is one."""
    every = (x for v in values for x in (v if type(v) in (list, tuple) else (v,)))
    first = next((x for x in every if isinstance(x, (TensorBase, ndarray, np.generic))), None)
    return first is not None and not isinstance(first, TensorBase)


def _source(name: str, schema: Schema) -> Callable[[tuple], Any]:
    """How a saved value is read off a call's arguments: `other`, `self_sym_sizes`, `_self_dtype`."""
    if name in schema.names:
        i = schema.names.index(name)
        return lambda v: v[i]
    base, _, part = name.lstrip("_").replace("_sym_", "_").rpartition("_")
    i = schema.names.index(base)
    parts: dict[str, Callable] = {
        "sizes": lambda x: tuple(x._data.shape),
        "numel": lambda x: x._data.size,
        "strides": lambda x: x.stride() if needs_grad(x) else (),
        "dtype": lambda x: x.dtype if isinstance(x, TensorBase) else None,
        "dim": lambda x: x._data.ndim,
        "device": device_of,
    }
    if part == "sizes" and schema.params[i].is_tensor and not schema.params[i].none:
        return lambda v: v[i]._data.shape
    read = parts[part]
    return lambda v: (
        [read(t) for t in v[i]] if type(v[i]) is list else None if v[i] is None else read(v[i])
    )


# declaring ---------------------------------------------------------------------------------------------------------------


FUNCTIONS: dict[str, Callable] = {}  # what `tinytorch` offers under its own name
OVERLOADS: dict[str, Overloads] = {}  # by name, functions and methods alike
_recorded: dict[
    str, int
] = {}  # how many overloads of an operation have a node, by which torch numbers them


def op(
    schema: str, kernel: Any, *, aka: tuple[str, ...] = (), method: bool = True, function: bool = True,
    in_place: bool | None = None, out: bool | str | None = None, numbers: bool = False, operator: str = "", backward: str = "",
    also: tuple[str, ...] = (), keeps: dict[str, Callable] | None = None, node: Any = None, writes: int = 0,
    older: bool = False, **formulas: Callable | None,
) -> Op:  # fmt: skip
    """Declare an operation, or one more overload of it.

    `aka`: other names. `numbers`: Python numbers stand for tensors, as in arithmetic. `in_place`: offer `name_`; by
    default for what is pointwise. `out`: offer `out=`; a text, or a name in OUT_WORDS, is said of an `out` of another
    dtype. `operator`: Python's, as in `__mul__`. `also`: what the node keeps though no formula reads it; `keeps`: how
    values that are no arguments are read off a call. `node`: a kind of node of its own. `writes`: how often torch's
    formulas write to the gradients that they make, which counts. `older`: torch takes a form of old as well, of which
    its errors know.
    """
    read = Schema(schema)
    kernel = kernel if isinstance(kernel, Kernel) else Kernel(kernel)
    kernel.bind(read)
    inputs = [read.names.index(n) for n in formulas]
    known = _recorded.setdefault(read.name, 0)
    if formulas and node is None:
        several = read.several
        title = backward or f"{read.name.lstrip('_').title().replace('_', '')}Backward{known}"
        results = (
            tuple([n or f"result{i}" for i, n in enumerate(read.result_names)])
            if several
            else ("result",)
        )
        spread = any(read.params[i].is_list for i in inputs)
        laid = isinstance(kernel, pointwise)
        node = kind_of_node(
            title, formulas, also, MultiNode if several else Node, spread, results, writes, laid
        )
    if node is not None:
        inputs = inputs or [i for i, p in enumerate(read.params) if p.is_tensor]
        _recorded[read.name] = known + 1
    words = OUT_WORDS.get(out, out) if isinstance(out, str) else ""
    made = Op(read, kernel, node, inputs, keeps or {}, numbers, older, words)
    OPS.append(made)
    out = kernel.kind == "fresh" if out is None else bool(out)
    in_place = (type(kernel) is pointwise and kernel.to != "bool") if in_place is None else in_place
    inplace_schema = made.kind == "write" and read.name.endswith("_")
    for name in (read.name, *aka) if function or method else ():  # else it is for formulas alone
        _offer(name, made, inplace_schema, function, method, out)
        if in_place and not read.writes:
            _offer(f"{name}_", made, True, False, True, False)
    if operator:
        _offer_operators(operator, made, bool(in_place))
    return made


def _named(schema: Schema, what: str = "") -> Any:
    """The tuple of several results, with their names if they have any."""
    return (
        _results(schema.name + what, tuple(schema.result_names))
        if schema.result_names[0]
        else tuple
    )


@functools.cache
def _results(name: str, fields: tuple[str, ...]) -> Any:
    """The class of results under names, as `torch.return_types.max`."""

    def show(self: tuple) -> str:
        parts = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{parts})"

    place = "torch.return_types"
    body = {"__slots__": (), "__module__": place, "__repr__": show, "shown_as": f"{place}.{name}"}
    return ShownAs(
        name, (tuple,), body | {f: property(itemgetter(i)) for i, f in enumerate(fields)}
    )


def _offer(name: str, made: Op, inplace: bool, function: bool, method: bool, out: bool) -> None:
    group = OVERLOADS.setdefault(name, Overloads(name, inplace))
    group.add(made, out, method)
    if function or name in FUNCTIONS:
        FUNCTIONS[name] = group.called(False)
    if method and made.schema.has_self:
        setattr(Tensor, name, group.called(True))


def _offer_operators(operator: str, made: Op, in_place: bool) -> None:
    """Python's operators for an operation: they give NotImplemented for what is neither a tensor nor a number."""
    name = made.name
    call = getattr(Tensor, name)
    if len(made.tensors) == 1 and not made.numbers and len(made.schema.params) == 1:
        setattr(Tensor, f"__{operator}__", lambda self: call(self))
        return

    def takes(other: Any) -> bool:
        return isinstance(other, Tensor) or is_number(other)

    refused = (lambda *_: NotImplemented) if operator in ("eq", "ne") else not_taken
    forward = plain_call(
        made, lambda self, other: call(self, other) if takes(other) else refused(self, other)
    )

    def reflected(self: Any, other: Any) -> Any:
        return (
            made.run(other, self, *made.schema.defaults[2:])
            if is_number(other)
            else not_taken(self, other)
        )

    setattr(Tensor, f"__{operator}__", forward)
    if operator not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Tensor, f"__r{operator}__", forward if operator in ("add", "mul") else reflected)
        if in_place:
            write = getattr(Tensor, f"{name}_")
            setattr(
                Tensor,
                f"__i{operator}__",
                lambda x, y: write(x, y) if takes(y) else not_taken(x, y),
            )


def python(
    name: str,
    made: Callable,
    *,
    function: bool = True,
    method: bool = True,
    aka: tuple[str, ...] = (),
) -> Callable:
    """Offer what torch itself writes in Python, or reads the arguments of by hand, under its name."""
    for n in (name, *aka):
        if function:
            FUNCTIONS[n] = made
        if method:
            setattr(Tensor, n, made)
    return made


def elsewhere(*made: Op, out: bool = False) -> Callable:
    """The function of an operation that torch offers in another module than its own, as `torch.nn.functional.linear`."""
    group = Overloads(made[0].name)
    for o in made:
        group.add(o, out)
    return group.called(False)


__all__ = ["FUNCTIONS", "OPS", "OVERLOADS", "Op", "elsewhere", "op", "python"]
