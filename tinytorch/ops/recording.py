"""Recording an operation: a node, its edges, what it saves, and the result as its output.

What a node saves depends on its kind alone, so each kind gets a recorder of its own: straight-line code, written from
the kind's declaration when the first node of that kind is recorded. Written out for `MulBackward0` it reads

    def record(out_, inputs_, other=None, self=None, **unused_):
        i0, i1 = inputs_
        e0 = edge_of(i0) if isinstance(i0, Tensor) else None
        ...

and for tensors that a pointwise operation saves under the names that they have there, `self` and `other`,

    def record(out_, i0, i1):
        self, other = i0, i1
        e0 = edge_of(i0) if i0._view is not None else (i0._fn, i0._output_nr) if i0._fn is not None else ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import BY_NUM
from ..graph.history import edge_of, set_history
from ..graph.modes import MODES
from ..graph.node import TRACED, WRITERS, MultiNode, Node, edge_to_leaf, keep, next_number
from ..graph.saved import HOOKS, SavedResult, kept
from ..storage import UntypedStorage, VersionCounter
from ..tensor import Tensor

# What is never a tensor, whatever the kind of node.
_NUMBERS = {
    "alpha",
    "dim",
    "dim0",
    "dim1",
    "dims",
    "end",
    "keepdim",
    "self_sym_numel",
    "self_sym_sizes",
    "start",
    "step",
}
_new = object.__new__
_NOT_FLOAT = "Autograd not support dtype: {}"


def wants_grad(x: Any) -> bool:
    """Whether an operand is a tensor that requires grad. A view does if its base does."""
    return isinstance(x, Tensor) and (x._requires_grad or (x._view is not None and x._view._requires_grad))


def recording(*operands: Any) -> bool:
    """Whether an operation on these is to be recorded: grad mode is on, and a tensor among them requires grad."""
    if MODES.here.grad:
        for x in operands:
            if wants_grad(x):
                return True
    return False


def node_for(kind: type, inputs: tuple, values: dict[str, Any]) -> Node:
    """A node of this kind whose gradients flow to `inputs`, with what it saves."""
    edges = tuple([edge_of(t) if isinstance(t, Tensor) else None for t in inputs])
    return kind(edges, keep(kind, edges, values))


def record_with_care(out: Any, kind: Any, inputs: tuple, values: dict[str, Any]) -> Any:
    """Record where something wants to see it: hooks on saved tensors, anomaly mode; or inputs as many as there are."""
    if "result" in kind.saved_names:
        values["result"] = out
    if out._data.dtype.kind != "f":
        raise RuntimeError(_NOT_FLOAT.format(BY_NUM[out._data.dtype.num].scalar_name))
    fn = node_for(kind, inputs, values)
    fn.describe(out)
    set_history(out, fn)
    if HOOKS:
        fn.pack_results(out)
    return out


def record(out: Any, kind: Any, inputs: tuple, **values: Any) -> Any:
    """Make `out` the output of a new node."""
    return kind.record(out, inputs, **values)


def _saved_result(out: Any) -> SavedResult:
    """`SavedResult(out)`; for a tensor that nothing looks at yet, which results mostly are, in one piece."""
    if out._storage is not None or out._counter is not None or out._view is not None:
        return SavedResult(out)
    storage = out._storage = _new(UntypedStorage)
    storage.buffer = out._data.ravel("K")
    storage.device = out._device
    storage._resizable = True
    t = _new(Tensor)
    t._data = out._data
    t._offset = t._output_nr = 0
    t._storage = storage
    t._counter = out._counter = VersionCounter()
    t._device = out._device
    t._inference = t._requires_grad = False
    t._grad = t._fn = t._hooks = t._view = t._acc = None
    saved = _new(SavedResult)
    saved._tensor = t
    saved._version = saved._nr = 0
    saved._of_view = saved._hooks = None
    return saved


def recorder(kind: Any, pointwise: bool = False) -> Callable:
    """`record(out, inputs, saved values by name)` for one kind of node; kept at the kind as `kind.record`.

    `pointwise`: `record(out, *inputs)` for tensors, the first of which is saved as `self` and the second as `other`.
    """
    names = [n for n in kind.saved_names if n != "result"]
    if not pointwise and (kind.spread or issubclass(kind, MultiNode)):

        def general(out: Any, inputs: tuple, **values: Any) -> Any:
            return record_with_care(out, kind, inputs, values)

        kind.record = staticmethod(general)
        return general
    count = len(kind.formulas)
    inputs = ", ".join(f"i{i}" for i in range(count))
    care = f"return with_care(out_, kind, ({inputs},), dict({', '.join(f'{n}={n}' for n in names)}))"
    if pointwise:
        given = {"self": "i0", "other": "i1", "alpha": "1"}
        lines = [f"def record(out_, {inputs}):", *[f"    {n} = {given[n]}" for n in names],
                 "    if HOOKS or TRACED:", f"        {care}"]  # fmt: skip
        lines += [
            f"    e{i} = edge_of(i{i}) if i{i}._view is not None else (i{i}._fn, i{i}._output_nr) if i{i}._fn is not None "
            f"else edge_to_leaf(i{i}) if i{i}._requires_grad else None"
            for i in range(count)
        ]  # fmt: skip
    else:
        lines = [f"def record(out_, inputs_{''.join(f', {n}=None' for n in names)}, **unused_):",
                 f"    if HOOKS or TRACED or len(inputs_) != {count}:", f"        {care.replace(f'({inputs},)', 'inputs_')}",
                 f"    {inputs}, = inputs_"]  # fmt: skip
        lines += [f"    e{i} = edge_of(i{i}) if isinstance(i{i}, Tensor) else None" for i in range(count)]
    saved = []
    for n in kind.saved_names:
        by = kind.users[n]
        if n == "result":
            saved.append("saved_result(out_)")
        elif n in _NUMBERS:
            saved.append(n)
        else:
            needed = f"e{by[0]} is not None" if len(by) == 1 else "True"
            tensor = f"[{n}, 0 if counter_ is None else counter_.version, {n}._fn is None]"
            lines += [f"    if type({n}) is Tensor and not {n}._inference:",
                      f"        counter_ = {n}._counter",
                      f"        {n} = {tensor}" + (f" if {needed} else None" if len(by) == 1 else ""),
                      f"    elif {n} is not None:",
                      f"        {n} = kept({n}, {needed})"]  # fmt: skip
            saved.append(n)
    lines += ["    data = out_._data",
              "    dtype = data.dtype",
              "    if dtype.kind != 'f':",
              "        raise RuntimeError(not_float.format(BY_NUM[dtype.num].scalar_name))",
              "    fn = new(kind)",
              f"    fn._edges = ({''.join(f'e{i}, ' for i in range(count))})",
              f"    fn._saved = ({''.join(f'{v}, ' for v in saved)})",
              "    fn._seq = number()",
              "    fn._hooks = None",
              "    fn._shape = data.shape",
              "    fn._dtype = dtype",
              "    fn._device = out_._device",
              "    out_._fn = fn",
              "    out_._output_nr = 0",
              "    out_._requires_grad = True",
              "    return out_"]  # fmt: skip
    names_used = {
        "HOOKS": HOOKS, "TRACED": TRACED, "with_care": record_with_care, "kind": kind, "edge_of": edge_of, "edge_to_leaf": edge_to_leaf,
        "Tensor": Tensor, "saved_result": _saved_result, "kept": kept, "new": _new, "number": next_number,
        "not_float": _NOT_FLOAT, "BY_NUM": BY_NUM, "isinstance": isinstance, "type": type, "len": len, "dict": dict,
        "RuntimeError": RuntimeError, "__name__": __name__,  # by its module's name a frame is known for the engine's own
    }  # fmt: skip
    exec("\n".join(lines), names_used)
    made = names_used["record"]
    setattr(kind, "record_pointwise" if pointwise else "record", staticmethod(made))
    return made


def records_pointwise(kind: Any, inputs: int) -> bool:
    """Whether a kind of node saves no more than its inputs and its result; then it is given a `record_pointwise`."""
    given = {"self", "other", "alpha", "result"} if inputs > 1 else {"self", "result"}
    if not hasattr(kind, "formulas") or len(kind.formulas) != inputs or not given.issuperset(kind.saved_names):
        return False
    kind.record_pointwise = classmethod(lambda kind, *args: recorder(kind, True)(*args))  # which writes it out
    return True


WRITERS.append(recorder)
