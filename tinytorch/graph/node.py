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
from typing import Any, ClassVar, Self

from ..dtypes import BY_NUM
from .saved import FREED, SavedResult, SavedTensor

_sequence = itertools.count()
Edge = tuple["Node", int]
LAST = (1 << 64) - 1  # AccumulateGrad runs before every other ready node, as in torch


class TensorMetadata:
    """What the gradient of one output must look like."""

    def __init__(self, **known: Any) -> None:
        self.__dict__.update(known)


class Node:
    """One recorded operation: where its gradients go (`next_functions`) and what it saved for that."""

    __slots__ = ("__dict__", "__weakref__", "_device", "_dtype", "_edges", "_hooks", "_saved", "_seq", "_shape")

    # What is the engine's own has names with an underscore: a custom Function's node takes the user's attributes too.
    saved_names: tuple[str, ...] = ()
    _outputs = 1
    _several = False  # whether formulas get the gradients of all outputs, as a tuple
    accumulates = False
    computes_all = False  # also the gradients that nobody asked for, as custom Functions do

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple | None = None) -> None:
        self._edges = edges
        self._saved = saved
        self._seq = next(_sequence)
        self._hooks = None

    # what torch shows ---------------------------------------------------------------------------------------------

    def name(self) -> str:
        """The name torch prints, such as `MulBackward0`."""
        return type(self).__name__

    def short_name(self) -> str:
        """The name without its suffix, as torch's in-place errors say it (`Mul`)."""
        return re.sub(r"Backward0?(\d*)$", r"\1", self.name())

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that this node's gradients flow into, one pair (node, output number) an input."""
        return tuple((None, 0) if e is None else e for e in self._edges)

    @property
    def metadata(self) -> dict:
        """A dictionary for the user's own notes on this node."""
        return self.__dict__.setdefault("_metadata", {})

    @property
    def requires_grad(self) -> bool:
        """Always True: only nodes that need a gradient are recorded."""
        return True

    def _sequence_nr(self) -> int:
        return self._seq

    @property
    def _input_metadata(self) -> list[TensorMetadata]:
        """What the gradient of each output must look like."""
        found = []
        for nr in range(self._outputs):
            shape, kind, device = self.expects(nr)
            found.append(
                TensorMetadata(shape=list(shape), dtype=BY_NUM[kind.num], device=device, is_nested_tensor=False)
            )
        return found

    def __getattr__(self, name: str) -> Any:
        for prefix in ("_saved_", "_raw_saved_"):
            if name.startswith(prefix) and name[len(prefix) :] in self.saved_names:
                if self._saved is None:
                    raise RuntimeError(FREED)
                value = self._saved[self.saved_names.index(name[len(prefix) :])]
                if prefix == "_raw_saved_":
                    if isinstance(value, SavedTensor):
                        return value
                    break
                value = self._read(value)
                return _as_torch_shows(value) if name[len(prefix) :] in _INTS else value
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _read(self, value: Any) -> Any:
        if isinstance(value, SavedTensor):
            return value.show(self)
        if type(value) is tuple and any(isinstance(v, SavedTensor) for v in value):
            return tuple(self._read(v) for v in value)
        return tuple(value) if isinstance(value, tuple) else value  # sizes read as plain tuples

    def __dir__(self) -> list[str]:
        raw = [f"_raw_saved_{n}" for n, v in zip(self.saved_names, self._saved or (), strict=False) if isinstance(v, SavedTensor)]  # fmt: skip
        hidden = {f"_saved_{n}" for n in self.saved_names if n[0] == "_"} | set(Node.__slots__)
        return [n for n in [*super().__dir__(), *raw] if n not in hidden]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at 0x{id(self):x}>"

    # hooks ----------------------------------------------------------------------------------------------------------

    def register_hook(self, hook: Callable) -> Any:
        """Call `hook(grad_inputs, grad_outputs)` after this node ran; what it returns replaces `grad_inputs`."""
        return _hooks_of(self).add_post(hook)

    def register_prehook(self, hook: Callable) -> Any:
        """Call `hook(grad_outputs)` before this node runs; what it returns replaces `grad_outputs`."""
        return _hooks_of(self).add_pre(hook)

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
            if isinstance(value, SavedTensor):
                value.release()
            elif type(value) is tuple:
                for v in value:
                    if isinstance(v, SavedTensor):
                        v.release()

    def pack_results(self, tensor: Any) -> None:
        """Let the hooks on saved tensors that hold now see this node's saved output."""
        for value in self._saved or ():
            if isinstance(value, SavedResult):
                value.pack_by_default(tensor)

    def __call__(self, *grads: Any) -> Any:
        """Run the node alone. TypeError for another number of gradients than outputs."""
        if len(grads) != self._outputs:
            raise TypeError(f"expected {self._outputs} arguments, got {len(grads)} instead")
        out = self.apply(grads)
        return out[0] if len(out) == 1 else out


class MultiNode(Node):
    """A node with several outputs; `_metas` holds what each of their gradients must look like."""

    __slots__ = ("_metas",)
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


class NotImplementedNode(Node):
    """Stands for an operation that torch has no derivative for: it is recorded, and backward through it raises."""

    __slots__ = ()
    what: str
    users: ClassVar[dict[str, tuple]] = {}

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
    """Adds a gradient to a leaf's `.grad`. Keeps the leaf alive; the leaf finds it by a weak reference."""

    __slots__ = ("variable",)
    __module__ = "builtins"
    accumulates = True

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self._edges = ()
        self._saved = ()
        self._hooks = None
        self._seq = LAST
        self.describe(variable)  # now: `leaf.data = ...` later changes nothing about gradients under way

    def name(self) -> str:
        """The name of the node, as torch has it."""
        return "torch::autograd::AccumulateGrad"


def accumulator(leaf: Any) -> AccumulateGrad:
    """The leaf's one AccumulateGrad node, made anew if nothing holds the last one."""
    node = leaf._acc() if leaf._acc is not None else None
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._acc = weakref.ref(node)
    return node


class _Hooks:
    """The hooks of one node: tensor hooks and retain_grad by output, then node prehooks and posthooks."""

    __slots__ = ("on_output", "post", "pre", "retain")

    def __init__(self) -> None:
        self.on_output: list[tuple[int, dict]] = []
        self.retain: dict[int, Callable] = {}
        self.pre: dict[int, Callable] = {}
        self.post: dict[int, Callable] = {}

    def add_pre(self, hook: Callable) -> Any:
        return RemovableHandle(self.pre, hook)

    def add_post(self, hook: Callable) -> Any:
        return RemovableHandle(self.post, hook)


def _hooks_of(node: Node) -> Any:
    if node._hooks is None:
        node._hooks = _Hooks()
    return node._hooks


hooks_of = _hooks_of


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook back. Works as a context manager."""

    __module__ = "torch.utils.hooks"

    _ids = itertools.count()

    def __init__(self, hooks: dict, hook: Callable) -> None:
        self.id = next(RemovableHandle._ids)
        self.hooks_dict_ref = weakref.ref(hooks) if type(hooks) is not dict else (lambda: hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Unregister the hook; removing it twice does nothing."""
        hooks = self.hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


# declaring kinds of nodes -----------------------------------------------------------------------------------------


def _parameters(formula: Callable) -> tuple[str, ...]:
    code = formula.__code__
    return code.co_varnames[1 : code.co_argcount]


def _as_property(name: str) -> property:
    return property(lambda self: Node.__getattr__(self, f"_saved_{name}"))


def node(
    name: str, *formulas: Callable | None, also: tuple[str, ...] = (), base: type = Node, spread: bool = False
) -> type:
    """A kind of node: `formulas[i](grad, saved...)` is the gradient for input i; None stands for no gradient.

    A value whose name starts with an underscore is kept but not shown. `also` names values that are kept although no
    formula reads them, because torch keeps them. With `spread` the one
    formula returns a tuple with the gradients of all inputs (for `cat`, whose inputs are as many as are given).
    """
    names: list[str] = []
    for f in formulas:
        names += [p for p in _parameters(f) if p not in names] if f is not None else []
    names += [a for a in also if a not in names]
    names.sort(key=lambda n: (n.startswith("result"), n))  # the order in which torch saves them, and hooks see them
    wanted = tuple(() if f is None else tuple(names.index(p) for p in _parameters(f)) for f in formulas)
    users = {n: tuple(i for i, f in enumerate(formulas) if f is not None and n in _parameters(f)) for n in names}
    if sum(f is not None for f in formulas) == 1:  # then torch saves without asking whether the gradient is needed
        users = dict.fromkeys(names, ())
    body = {
        "__slots__": (),
        "__doc__": f"The backward of torch's {name}.",
        "saved_names": tuple(names),
        "formulas": formulas,
        "wanted": wanted,
        "users": users,
        "apply": _apply_spread if spread else _apply,
        "__module__": "builtins",  # prints as torch's do: <class 'MulBackward0'>
    }
    return type(name, (base,), body | {f"_saved_{n}": _as_property(n) for n in names if n[0] != "_"})


def _apply(self: Any, grads: tuple) -> tuple:
    saved = self._saved
    if saved is None:
        raise RuntimeError(FREED)
    grad = grads if self._several else grads[0]
    if grad is None or (self._several and all(g is None for g in grads)):
        return (None,) * len(self._edges)
    values = [_value(v, self) for v in saved] if saved else ()
    out: list[Any] = []
    for formula, wanted, edge in zip(self.formulas, self.wanted, self._edges, strict=False):
        if edge is None or formula is None:
            out.append(None)
        else:
            out.append(formula(grad, *[values[i] for i in wanted]))
    return tuple(out)


def _value(value: Any, node: Any) -> Any:
    if type(value) is SavedTensor:
        return value.for_formula(node)
    if isinstance(value, SavedTensor):
        return value.unpack(node)
    return node._read(value) if type(value) is tuple else value


def _apply_spread(self: Any, grads: tuple) -> tuple:
    if self._saved is None:
        raise RuntimeError(FREED)
    grad = grads if self._several else grads[0]
    if grad is None or (self._several and all(g is None for g in grads)):
        return (None,) * len(self._edges)
    values = [_value(v, self) for v in self._saved]
    return self.formulas[0](grad, *[values[i] for i in self.wanted[0]])


def keep(kind: type, edges: tuple[Edge | None, ...], values: dict[str, Any]) -> tuple:
    """What a node of this kind saves: each value that a needed formula reads, tensors with their version."""
    out = []
    users = kind.users  # type: ignore[attr-defined]
    for name in kind.saved_names:  # type: ignore[attr-defined]
        by = users[name]
        value = values.get(name)
        if name == "result":
            value = SavedResult(value)
        elif hasattr(value, "_vc"):
            needed = len(by) != 1 or edges[by[0]] is not None
            value = SavedTensor(value) if needed else None
        elif isinstance(value, SavedTensor) and len(by) == 1 and edges[by[0]] is None:
            value = None  # a number that torch would have saved as a tensor
        elif isinstance(value, SavedTensor) and len(by) == 1 and edges[by[0]] is None:
            value = None  # a number, which torch saves as a tensor
        elif type(value) is tuple and any(hasattr(v, "_vc") for v in value):
            value = tuple(SavedTensor(v) if hasattr(v, "_vc") else v for v in value)
        out.append(value)
    return tuple(out)


__all__ = ["AccumulateGrad", "Edge", "MultiNode", "Node", "RemovableHandle", "SavedResult", "accumulator", "hooks_of", "keep",
           "node", "not_differentiable"]  # fmt: skip
