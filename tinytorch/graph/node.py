"""Nodes of the autograd graph.

A kind of node is declared by `node(name, ...)`: one formula per differentiable input. A formula's parameter names say
what the node saves: `lambda grad, other: grad * other` saves `other`, and saves it only if that formula is needed. The
names are those of torch's derivative table, so `grad_fn._saved_other` reads as in torch.
"""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..devices import CPU
from ..dtypes import BY_NUM
from ..slots import TensorBase
from .handles import RemovableHandle, hooks_of
from .saved import FREED, Kept, KeptMany, SavedNothing, SavedResult, SavedTensor, freed, kept, shown, value_of

next_number = itertools.count().__next__
TRACED: list[bool] = []  # not empty while anomaly mode holds, in which nodes remember where they were made
Edge = tuple["Node", Any]  # a node and which of its outputs; for a leaf its AccumulateGrad and the leaf
LAST = (1 << 64) - 1  # AccumulateGrad runs before every other ready node, as in torch


class _InputMetadata:
    """What the gradient of one output must look like."""

    __module__ = "torch._C._autograd"
    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, **known: Any) -> None:
        self.__dict__.update(known)


_NOTHING = ((), np.dtype(np.float32), CPU)  # what torch expects of the gradient of an output that is no tensor


class _Shown(property):
    """What can be read off a node, and not be set."""

    def __set__(self, fn: Any, value: Any) -> None:
        name = self.fget.__name__  # type: ignore[union-attr]
        raise AttributeError(f"attribute '{name}' of '{type(fn).__name__}' objects is not writable")

    def __delete__(self, fn: Any) -> None:
        self.__set__(fn, None)


class Node:
    """One recorded operation: where its gradients go (`next_functions`) and what it saved for that."""

    __slots__ = ("__weakref__", "_device", "_dtype", "_edges", "_hooks", "_metadata", "_saved", "_seq", "_shape")

    # What is the engine's own has names with an underscore: a custom Function's node takes the user's attributes too.
    saved_names: tuple[str, ...] = ()
    _outputs = 1
    _several = False  # whether formulas get the gradients of all outputs, as a tuple
    computes_all = False  # also the gradients that nobody asked for, as custom Functions do

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple | None = None) -> None:
        self._edges = edges
        self._saved = saved
        self._seq = next_number()
        self._hooks = None

    # what torch shows ---------------------------------------------------------------------------------------------

    def name(self) -> str:
        """The name torch prints, such as `MulBackward0`."""
        return type(self).__name__

    def short_name(self) -> str:
        """The name without its suffix, as torch's in-place errors say it (`Mul`)."""
        return re.sub(r"Backward0?(\d*)$", r"\1", self.name())

    @_Shown
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that this node's gradients flow into, one pair (node, output number) an input."""
        for i, edge in enumerate(self._edges):
            if edge is not None and type(edge[0]) is AccumulateGrad and edge[0].variable is None:
                shown_edge(edge)  # from now on the accumulator holds the leaf, and this edge in its place need not
                self._edges = (*self._edges[:i], (edge[0], None), *self._edges[i + 1 :])
        return tuple([shown_edge(e) for e in self._edges])

    @_Shown
    def metadata(self) -> dict:
        """A dictionary for the user's own notes on this node."""
        if not hasattr(self, "_metadata"):
            self._metadata: dict = {}
        return self._metadata

    @_Shown
    def requires_grad(self) -> bool:
        """Always True: only nodes that need a gradient are recorded."""
        return True

    def _sequence_nr(self) -> int:
        return self._seq

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        """Change when the node runs: of those that are ready, the one with the highest number is next."""
        self._seq = sequence_nr

    @_Shown
    def _input_metadata(self) -> tuple[_InputMetadata, ...]:
        """What the gradient of each output must look like."""
        found = []
        for nr in range(self._outputs):
            shape, kind, device = self.expects(nr) or _NOTHING
            found.append(_InputMetadata(shape=list(shape), dtype=kind and BY_NUM[kind.num], device=device))
        return tuple(found)

    def __dir__(self) -> list[str]:
        shown_raw = {f"_raw_saved_{n}" for n, v in zip(self.saved_names, self._saved or (), strict=False)
                     if _is_tensor(n, v)}  # fmt: skip
        return [n for n in super().__dir__() if n in _PUBLIC or n in shown_raw or n.startswith(("_saved_", "__"))]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at 0x{id(self):x}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    # hooks ----------------------------------------------------------------------------------------------------------

    def register_hook(self, hook: Callable) -> Any:
        """Call `hook(grad_inputs, grad_outputs)` after this node ran; what it returns replaces `grad_inputs`."""
        return hooks_of(self).add_post(hook)

    def register_prehook(self, hook: Callable) -> Any:
        """Call `hook(grad_outputs)` before this node runs; what it returns replaces `grad_outputs`."""
        return hooks_of(self).add_pre(hook)

    # what backward does ---------------------------------------------------------------------------------------------

    def expects(self, nr: int) -> tuple[tuple[int, ...], Any, Any]:
        """Shape, dtype and device of the gradient for output `nr`."""
        return self._shape, self._dtype, self._device

    def describe(self, tensor: Any) -> None:
        """Remember what the gradient of this node's output must look like."""
        data = tensor._data
        self._shape = data.shape
        self._dtype = data.dtype
        self._device = tensor._device

    def apply(self, grads: tuple) -> tuple:
        """Gradients for the inputs, from those of the outputs."""
        raise NotImplementedError

    def release(self) -> None:
        """Free the tensors that were saved; numbers and sizes stay readable, as in torch."""
        for value in self._saved or ():
            if type(value) is Kept:
                value[0] = None
            elif value is not None:
                freed(value)

    def pack_results(self, tensor: Any) -> None:
        """Let the hooks on saved tensors that hold now see this node's saved output."""
        for value in self._saved or ():
            if isinstance(value, SavedResult):
                value.pack_by_default(tensor)

    def __call__(self, *grads: Any) -> Any:
        """Run the node alone. TypeError for another number of gradients than outputs, and for what is no tensor."""
        if len(grads) != self._outputs:
            raise TypeError(f"expected {self._outputs} arguments, got {len(grads)} instead")
        for i, grad in enumerate(grads):
            if grad is not None and not isinstance(grad, TensorBase):
                raise TypeError(f"argument {i} is not a Variable")
        out = tuple(self.apply(grads))
        return out[0] if len(out) == 1 else out


_PUBLIC = {"_input_metadata", "_sequence_nr", "_set_sequence_nr", "metadata", "name", "next_functions",
           "register_hook", "register_prehook", "requires_grad", "variable"}  # fmt: skip


class MultiNode(Node):
    """A node with several outputs; `_metas` holds what each of their gradients must look like."""

    __slots__ = ("_metas", "_outputs")
    _several = True

    def expects(self, nr: int) -> Any:
        """Shape, dtype and device of the gradient of one output; None if there was none."""
        return self._metas[nr]

    def describe_all(self, tensors: tuple) -> None:
        """Note shape, dtype and device of all outputs."""
        self._metas = [None if t is None else (t._data.shape, t._data.dtype, t._device) for t in tensors]
        self._outputs = len(tensors)


# torch shows these through an unsigned type: `x.sum(-1).grad_fn._saved_dim` is (18446744073709551615,).
_INTS = {
    "diagonal",
    "dim",
    "dim0",
    "dim1",
    "dim2",
    "dimension",
    "dims",
    "end",
    "index",
    "k",
    "offset",
    "repeats",
    "shifts",
    "start",
}


def _as_torch_shows(value: Any) -> Any:
    if type(value) is int:
        return value & 0xFFFFFFFFFFFFFFFF if value < 0 else value
    return tuple(_as_torch_shows(v) for v in value) if type(value) is tuple else value


WRITERS: list[Callable] = []  # what writes out how to record a kind of node; see `ops.recording`


def _record_first(kind: Any, *args: Any, **values: Any) -> Any:
    return WRITERS[0](kind)(*args, **values)


class NotImplementedNode(Node):
    """Stands for an operation that torch has no derivative for: it is recorded, and backward through it raises."""

    __slots__ = ()
    what: str
    users: ClassVar[dict[str, tuple]] = {}
    spread = True  # however many inputs
    computes_all = True  # so that it raises even where nobody asked for the gradients
    record = classmethod(_record_first)

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple | None = None) -> None:
        self._edges, self._saved, self._hooks = edges, saved, None
        self._seq = LAST  # as torch has it: it raises before other nodes run

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::NotImplemented"

    def apply(self, grads: tuple) -> tuple:
        """Raise torch's RuntimeError."""
        raise RuntimeError(f"derivative for {self.what} is not implemented")


def not_differentiable(what: str) -> type:
    """The kind of node for an operation that torch has no derivative for, by the name that the error says."""
    return type("NotImplemented", (NotImplementedNode,), {"__slots__": (), "__module__": "builtins", "what": what})


class AccumulateGrad(Node):
    """Adds a gradient to a leaf's `.grad`.

    To everyone outside it keeps its leaf alive, and the leaf finds it by a weak reference. Until someone outside sees
    it, it is the other way round: the leaf keeps it, and an edge to it is the pair (this, the leaf). So the leaf has one
    that need not be made anew for each operation, and there is no circle that keeps memory.
    """

    __slots__ = ("variable",)
    __module__ = "builtins"

    def __init__(self, leaf: Any) -> None:
        self.variable = None
        self._edges = self._saved = ()
        self._hooks = None
        self._seq = LAST
        data = leaf._data
        self._shape, self._dtype, self._device = data.shape, data.dtype, leaf._device
        if leaf._hooks is not None:
            self._dtype = leaf._hooks.dtype_of_grad(leaf)

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::AccumulateGrad"


def edge_to_leaf(leaf: Any) -> tuple[AccumulateGrad, Any]:
    """The leaf's one AccumulateGrad, made anew if nothing holds the last one, and the leaf unless the node holds it."""
    node = leaf._acc
    if type(node) is AccumulateGrad:
        return (node, leaf)
    if node is not None:
        node = node()
        if node is not None:
            return (node, leaf if node.variable is None else None)
    node = leaf._acc = AccumulateGrad(leaf)
    return (node, leaf)


def let_accumulator_go(leaf: Any) -> None:
    """Leave a leaf's accumulator to the graphs that hold it, as the leaf takes another shape: later ones get their own."""
    if type(leaf._acc) is AccumulateGrad:
        leaf._acc = weakref.ref(leaf._acc)


def shown_edge(edge: Any) -> tuple[Any, int]:
    """An edge as those outside see it."""
    if edge is None:
        return (None, 0)
    node, at = edge
    if type(node) is not AccumulateGrad:
        return edge
    if node.variable is None:
        node.variable = at
        let_accumulator_go(at)
    return (node, 0)


# declaring kinds of nodes -----------------------------------------------------------------------------------------


def _parameters(formula: Callable) -> tuple[str, ...]:
    code = formula.__code__
    return code.co_varnames[1 : code.co_argcount]


_OPTIONAL = {"exponent", "index", "mat1", "mat2", "other", "result", "self", "source", "tensor1", "tensor2", "weight"}


def _is_tensor(name: str, value: Any) -> bool:
    """Whether torch keeps this saved value as a tensor; None may stand for one."""
    return type(value) in (Kept, KeptMany) or isinstance(value, SavedTensor) or (value is None and name in _OPTIONAL)


class _Saved:
    """The attribute of a kind of node under which a saved value is read, as torch shows it: `grad_fn._saved_other`."""

    def __init__(self, name: str, at: int, raw: bool = False) -> None:
        self.name, self.at, self.raw = name, at, raw

    def __get__(self, fn: Any, kind: type | None = None) -> Any:
        if fn is None:
            return self
        if fn._saved is None:
            raise RuntimeError(FREED)
        value = fn._saved[self.at]
        if not self.raw:
            value = shown(value, fn)
            return _as_torch_shows(value) if self.name in _INTS else value
        if type(value) is KeptMany:
            if any(type(v) is Kept or v is None for v in value):
                value = KeptMany([SavedTensor.of(v) if type(v) is Kept else v or SavedNothing() for v in value])
                fn._saved = (*fn._saved[: self.at], value, *fn._saved[self.at + 1 :])
            return tuple(value)
        if type(value) is Kept:
            value = SavedTensor.of(value)
            fn._saved = (*fn._saved[: self.at], value, *fn._saved[self.at + 1 :])
        if _is_tensor(self.name, value):
            return value or SavedNothing()
        raise AttributeError(f"'{type(fn).__name__}' object has no attribute '_raw_saved_{self.name}'")

    def __set__(self, fn: Any, value: Any) -> None:
        name = f"{'_raw' if self.raw else ''}_saved_{self.name}"
        raise AttributeError(f"attribute '{name}' of '{type(fn).__name__}' objects is not writable")


def node(
    name: str, *formulas: Callable | None, also: tuple[str, ...] = (), base: type = Node, spread: bool = False
) -> Any:
    """A kind of node: `formulas[i](grad, saved...)` is the gradient for input i; None stands for no gradient.

    `kind.record(out, inputs, saved values by name)` records one, see `ops.recording`.
    A value whose name starts with an underscore is kept but not shown. `also` names values that are kept although no
    formula that runs reads them, as torch keeps them. With `spread` the one
    formula returns a tuple with the gradients of all inputs (for `cat`, whose inputs are as many as are given).
    """
    reads = [() if f is None else _parameters(f) for f in formulas]
    # the order in which torch saves them, and hooks see them
    names = sorted({*also}.union(*reads), key=lambda n: (n.startswith("result"), n))
    wanted = tuple([tuple([names.index(p) for p in read]) for read in reads])
    alone = len(formulas) - formulas.count(None) == 1
    if alone or "BackwardBackward" in name:  # then torch saves without asking whether the gradient is needed
        users: dict[str, tuple] = dict.fromkeys(names, ())
    else:
        users = {n: tuple([i for i, read in enumerate(reads) if n in read and n not in also]) for n in names}
    body = {
        "__slots__": (),
        "__doc__": f"The backward of torch's {name}.",
        "saved_names": tuple(names),
        "formulas": formulas,
        "wanted": wanted,
        "users": users,
        "apply": _apply_spread if spread else _apply if base is not Node else _apply_first,
        "_written": _apply_first,
        "spread": spread,
        "record": classmethod(_record_first),
        "__module__": "builtins",  # prints as torch's do: <class 'MulBackward0'>
    }
    for at, n in enumerate(names):
        if n[0] != "_":
            body[f"_saved_{n}"], body[f"_raw_saved_{n}"] = _Saved(n, at), _Saved(n, at, raw=True)
    return type(name, (base,), body)


def _apply(self: Any, grads: Any) -> list:
    """The gradients for the inputs of a node of a declared kind, from those of its outputs."""
    saved = self._saved
    if saved is None:
        raise RuntimeError(FREED)
    several = self._several
    grad = tuple(grads) if several else grads[0]
    if grad is None or (several and all(g is None for g in grads)):
        return [None] * len(self._edges)
    values = [value_of(v, self) for v in saved] if saved else ()
    out: list[Any] = []
    for formula, wanted, edge in zip(self.formulas, self.wanted, self._edges, strict=False):
        if edge is None or formula is None:
            out.append(None)
        elif wanted:
            out.append(formula(grad, *[values[i] for i in wanted]))
        else:
            out.append(formula(grad))
    return out


# What `value_of` does first, without the call.
_READ = """
    if v{0} is not None:
        kept = v{0}
        if type(kept) is Kept and (v{0} := kept[0]) is not None and (kept[2] or v{0}._fn is not None):
            counter = v{0}._counter
            if kept[1] != (0 if counter is None else counter.version):
                v{0} = value_of(kept, node)
        else:
            v{0} = value_of(kept, node)"""


def _apply_first(self: Any, grads: Any) -> list:
    """Write out `_apply` for this kind of node, as straight-line code, and run it.

    For `MulBackward0` it is

    def apply(node, grads):
        e0, e1, = node._edges
        v0, v1, = node._saved
        v0 = <the tensor that was kept, where nothing happened to it since, as `value_of` has it>
        ...
        return [f0(grad, v0) if e0 is not None else None, f1(grad, v1) if e1 is not None else None]
    """
    kind = type(self)
    if kind._written is not _apply_first:  # and `apply` is another that falls back on this one
        return kind._written(self, grads)
    count, saved = len(kind.formulas), range(len(kind.saved_names))
    calls = []
    for i, (formula, wanted) in enumerate(zip(kind.formulas, kind.wanted, strict=True)):
        values = "".join(f", v{at}" for at in wanted)
        calls.append("None" if formula is None else f"f{i}(grad{values}) if e{i} is not None else None")
    code = f"""
def apply(node, grads):
    saved, edges, grad = node._saved, node._edges, grads[0]
    if saved is None or grad is None or len(edges) != {count}:
        return general(node, grads)
    {"".join(f"e{i}, " for i in range(count))} = edges
    {"".join(f"v{at}, " for at in saved) + "= saved" if saved else ""}
    {"".join(_READ.format(at) for at in saved)}
    return [{", ".join(calls)}]
"""
    names: dict[str, Any] = {
        "general": _apply, "value_of": value_of, "len": len, "type": type, "Kept": Kept, "__name__": __name__
    }  # fmt: skip
    names |= {f"f{i}": formula for i, formula in enumerate(kind.formulas)}
    exec(code, names)
    kind._written = names["apply"]
    if kind.apply is _apply_first:
        kind.apply = kind._written
    return kind._written(self, grads)


def _apply_spread(self: Any, grads: tuple) -> tuple:
    if self._saved is None:
        raise RuntimeError(FREED)
    if all(g is None for g in grads) if self._several else grads[0] is None:
        return (None,) * len(self._edges)
    values = [value_of(v, self) for v in self._saved]
    return self.formulas[0](tuple(grads) if self._several else grads[0], *[values[i] for i in self.wanted[0]])


def keep(kind: type, edges: tuple[Edge | None, ...], values: dict[str, Any]) -> tuple:
    """What a node of this kind saves: each value that a needed formula reads, tensors with their version."""
    out = []
    users = kind.users  # type: ignore[attr-defined]
    for name in kind.saved_names:  # type: ignore[attr-defined]
        by = users[name]
        value = values.get(name)
        out.append(SavedResult(value) if name == "result" else kept(value, len(by) != 1 or edges[by[0]] is not None))
    return tuple(out)


__all__ = ["AccumulateGrad", "Edge", "MultiNode", "Node", "RemovableHandle", "SavedResult", "edge_to_leaf", "hooks_of", "keep",
           "let_accumulator_go", "node", "not_differentiable", "shown_edge"]  # fmt: skip
