"""Nodes of the autograd graph.

A kind of node is declared by `kind_of_node(name, formulas)`: one formula for each differentiable input. A formula's
parameter names say what the node saves: `lambda grad, other: grad * other` saves `other`, and only if that gradient is
needed. The names are those of torch's derivative table, so `grad_fn._saved_other` reads as in torch. A formula runs on
plain arrays, or on tensors where the gradient's own graph is wanted.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .autograd_meta import LAST, meta
from .gradient_state import NEW_GRADIENT, GradientState, SeenBy
from .hooks import RemovableHandle, hooks_of
from .modes import MADE
from .saved import Saved, save_result, show_saved

next_number = itertools.count().__next__
Edge = tuple[Any, int]  # a node, or the leaf that ends the graph, and which of its outputs
_SHOWN: Any = weakref.WeakKeyDictionary()


def expectation(t: Any) -> tuple:
    """Shape, dtype (NumPy's) and device that the gradient of a tensor must have."""
    return t._data.shape, t._data.dtype, t.device


class Node:
    """One recorded operation: where its gradients go (`next_functions`) and what it saved for that."""

    __slots__ = ("__weakref__", "_edges", "_expects", "_hooks", "_metadata", "_saved", "_seq")

    # What is the engine's own has names with an underscore: a custom Function's node takes the user's attributes too.
    saved_names: tuple[str, ...] = ()
    users: tuple = ()  # for each, the one input whose gradient alone needs it, if that is so
    _results: dict[
        int, int
    ] = {}  # which of what it saves are outputs of this node, and which outputs
    spread = False  # whether one formula gives the gradients of all inputs at once
    _called = ""  # the name, if it is not that of the class
    _outputs = 1
    _leaf = False
    _several = False  # whether formulas are given a tuple of gradients, one for each output
    # State of the gradients that it computes. PyTorch's formulas may write to what they return.
    _new_gradient_state = NEW_GRADIENT
    _laid = False  # whether its gradients lie as torch lays the result of what is computed element by element
    _on_tensors = (
        False  # whether it runs on tensors even where gradients are arrays, as custom Functions do
    )

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple = ()) -> None:
        self._edges = edges
        self._saved = saved  # see `saved`
        self._seq = next_number()
        self._hooks = None
        for note in MADE:
            note(self)

    # what torch shows ---------------------------------------------------------------------------------------------

    def name(self) -> str:
        """The name torch prints, such as `MulBackward0`."""
        return self._called or type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that this node's gradients flow into, one pair (node, output number) an input."""
        shown = _SHOWN.get(self)
        if shown is None:
            shown = tuple([shown_edge(e) for e in self._edges])
            if any([e is not None and e[0]._leaf for e in self._edges]):
                _SHOWN[self] = (
                    shown  # so that hooks on a leaf's node live as long as a graph that it was seen in
                )
        return shown

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes on this node."""
        if not hasattr(self, "_metadata"):
            self._metadata: dict = {}
        return self._metadata

    def _sequence_nr(self) -> int:
        return self._seq

    def __dir__(self) -> list[str]:
        return [n for n in super().__dir__() if n not in Node.__slots__]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    # hooks ----------------------------------------------------------------------------------------------------------

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node ran; what it returns replaces `grad_inputs`."""
        return RemovableHandle(hooks_of(self).post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node runs; what it returns replaces `grad_outputs`."""
        return RemovableHandle(hooks_of(self).pre, hook)

    # what backward does ---------------------------------------------------------------------------------------------

    def describe(self, *outputs: Any) -> None:
        """Note shape, dtype and device that the gradients of the outputs must have; None stands for what is no tensor."""
        nothing = (), np.dtype(np.float32), None  # what torch expects there
        self._expects = [nothing if t is None else expectation(t) for t in outputs]

    def apply(self, grads: list, raw: bool) -> list:
        """Gradients for the inputs, from those of the outputs: arrays if `raw`, else tensors; None for none."""
        raise NotImplementedError

    def keep_results(self, outputs: tuple) -> None:
        """Save the node's own outputs, where formulas read them."""
        saved = list(self._saved)
        for index, output_nr in self._results.items():
            saved[index] = save_result(outputs[output_nr], output_nr)
        self._saved = tuple(saved)

    def release(self) -> None:
        """Free the tensors that were saved; sizes and flags stay readable, as in torch."""
        for saved in self._saved:
            if isinstance(saved, Saved):
                saved.release()

    def __call__(self, *grads: Any) -> Any:
        """Run the node alone. TypeError for another number of gradients than outputs."""
        if len(grads) != self._outputs:
            raise TypeError(f"expected {self._outputs} arguments, got {len(grads)} instead")
        found = zip(self.apply(list(grads), False), self._edges, strict=True)
        spread = self.spread and any(self._edges)
        out = tuple([g if spread or edge is not None else None for g, edge in found])
        return out[0] if len(out) == 1 else out


class MultiNode(Node):
    """A node with several outputs."""

    __slots__ = ("_outputs",)
    _several = True

    def describe(self, *outputs: Any) -> None:
        """Note how many there are, too."""
        super().describe(*outputs)
        self._outputs = len(outputs)


class AccumulateGrad(Node):
    """Stands for a leaf in the graph as it is shown: what adds to its `.grad`. Edges hold the leaf itself."""

    __slots__ = ("variable",)
    __module__ = "builtins"
    _called = "torch::autograd::AccumulateGrad"

    def __init__(self, leaf: Any) -> None:
        self.variable = leaf
        self._edges = self._saved = ()
        self._hooks = None
        self._seq = LAST
        self.describe(leaf)


def exchanged(leaf: Any, before: tuple, anyway: bool = False) -> None:
    """A leaf got another array by `.data =`. What was recorded so far goes on expecting the gradient that it expected.

    Of another dtype it gets another node, too, or `anyway`.
    """
    m = leaf._meta
    if m is not None:
        now = expectation(leaf)
        if anyway or now[1:] != before[1:]:
            m.accumulator = None
        if now != before:
            m.exchanged += ((next_number(), before),)


def shown_edge(edge: Any) -> tuple[Any, int]:
    """An edge as those outside see it: to the AccumulateGrad of a leaf, (None, 0) for none."""
    if edge is None or not edge[0]._leaf:
        return edge or (None, 0)
    m = meta(edge[0])
    node = m.accumulator and m.accumulator()
    if node is None:
        node = AccumulateGrad(
            edge[0]
        )  # which keeps the leaf alive; the leaf finds it by a weak reference
        m.accumulator = weakref.ref(node)
    return (node, 0)


class NotImplementedNode(Node):
    """Stands for an operation that torch has no derivative for: it is recorded, and backward through it raises."""

    __slots__ = ()
    _called = "torch::autograd::NotImplemented"
    _says: str

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple = ()) -> None:
        super().__init__(tuple([e for e in edges if e is not None]))
        self._seq = LAST  # as torch has it: it raises before other nodes run

    def apply(self, grads: list, raw: bool) -> list:
        """Raise torch's RuntimeError."""
        raise RuntimeError(self._says)


def not_differentiable(what: str) -> Any:
    """The kind of node of an operation that torch's table of derivatives does not name, by the name that the error says."""
    body = {
        "__slots__": (),
        "__module__": "builtins",
        "_says": f"derivative for {what} is not implemented",
    }
    return type("NotImplemented", (NotImplementedNode,), body)


# declaring kinds of nodes -----------------------------------------------------------------------------------------

# torch shows these through an unsigned type: `x.sum(-1).grad_fn._saved_dim` is (18446744073709551615,).
_INTS = frozenset(["diagonal", "dim", "dim0", "dim1", "dim2", "dimension", "dims", "end", "index", "k", "offset",
                   "repeats", "shifts", "start"])  # fmt: skip


def _as_torch_shows(value: Any) -> Any:
    if type(value) is int:
        return value & 0xFFFFFFFFFFFFFFFF if value < 0 else value
    return tuple(_as_torch_shows(v) for v in value) if type(value) is tuple else value


def _properties_of_saved(name: str, index: int) -> tuple[property, property]:
    """The attributes under which saved value number `index` of a kind of node is read: `_saved_other`, `_raw_saved_other`."""

    def read_value(node: Any) -> Any:
        saved = node._saved[index]
        value = saved.unpack(node) if isinstance(saved, Saved) else saved
        return _as_torch_shows(value) if name in _INTS else value

    def read_object(node: Any) -> Any:
        saved = node._saved[index]
        if saved is not None and not isinstance(saved, Saved):
            raise AttributeError(
                f"'{type(node).__name__}' object has no attribute '_raw_saved_{name}'"
            )
        return show_saved(node, index)

    return property(read_value), property(read_object)


def kind_of_node(
    name: str, formulas: dict[str, Callable | None], also: tuple[str, ...] = (), base: type = Node, spread: bool = False,
    results: tuple[str, ...] = ("result",), writes: int = 0, laid: bool = False,
) -> Any:  # fmt: skip
    """A kind of node: `formulas[input](grad, saved...)` is the gradient for that input; None stands for no gradient.

    A value whose name starts with an underscore is kept but not shown. `also` names values that are kept although no
    formula that runs reads them, as torch keeps them. With `spread` the one formula returns the gradients of all inputs
    (for `cat`, whose inputs are as many as are given). `writes`: how often torch's formulas write to what they make.
    """
    rules = list(formulas.values())
    reads = [() if f is None else f.__code__.co_varnames[1 : f.__code__.co_argcount] for f in rules]
    # the order in which torch saves them, and hooks see them
    names = sorted({*also}.union(*reads), key=lambda n: (n in results, n))
    wanted = [tuple([names.index(p) for p in read]) for read in reads]
    anyway = (
        len(rules) - rules.count(None) == 1 or "BackwardBackward" in name
    )  # then torch asks not what is needed
    readers = [[i for i, read in enumerate(reads) if n in read and n not in also] for n in names]
    users = [by[0] if len(by) == 1 and not anyway else None for by in readers]
    simple = base is Node and not spread and [*wanted] == [tuple(range(len(names)))]
    pair = base is Node and not spread and wanted == [(0,), (1,)] and users == [0, 1]
    body: dict[str, Any] = {
        "__slots__": (),
        "__doc__": f"The backward of torch's {name}.",
        "__module__": "builtins",  # prints as torch's do: <class 'MulBackward0'>
        "saved_names": tuple(names),
        "rules": tuple(zip(rules, wanted, strict=True)),
        "order": tuple(
            sorted([i for i, f in enumerate(rules) if f], key=[*formulas].__getitem__)
        ),  # torch's
        "users": tuple(users),
        "spread": spread,
        "_new_gradient_state": GradientState(writes, SeenBy.NOBODY),
        "_laid": laid,
        "apply": _apply_one if simple else _apply_two(rules) if pair else _apply,
        "_results": {names.index(n): nr for nr, n in enumerate(results) if n in names},
    }
    for at, n in enumerate(names):
        if n[0] != "_":
            body[f"_saved_{n}"], body[f"_raw_saved_{n}"] = _properties_of_saved(n, at)
    return type(name, (base,), body)


def _values(node: Any, saved: tuple, raw: bool) -> list:
    """What formulas read of what a node saved: arrays if `raw`."""
    return [v.read_for_formula(node, raw) if isinstance(v, Saved) else v for v in saved]


def _apply(self: Any, grads: list, raw: bool) -> list:
    """The gradients for the inputs of a node of a declared kind, from those of its outputs."""
    saved, edges = self._saved, self._edges
    several = self._several
    grad = tuple(grads) if several else grads[0]
    if grad is None or (several and all([g is None for g in grad])):
        return [None] * len(edges)
    values = _values(self, saved, raw) if saved else ()
    if self.spread:
        return list(self.rules[0][0](grad, *[values[i] for i in self.rules[0][1]]))
    out: list = [None] * len(edges)
    for i in self.order:
        if edges[i] is not None:
            rule, wanted = self.rules[i]
            out[i] = (
                rule(grad, values[wanted[0]])
                if len(wanted) == 1
                else rule(grad, *[values[k] for k in wanted])
            )
    return out


def _apply_two(rules: list) -> Callable:
    """The same for a kind of node with two inputs, each formula of which reads one saved value of its own, as of a product."""
    first, second = rules

    def apply(self: Any, grads: list, raw: bool) -> list:
        grad = grads[0]
        if grad is None:
            return [None, None]
        left, right = self._edges
        for_left, for_right = self._saved
        grad_right = None
        if left is not None:
            for_left = for_left.read_for_formula(self, raw)
        # torch computes the gradient of `other` before that of `self`: by the names of the inputs.
        if right is not None:
            grad_right = second(grad, for_right.read_for_formula(self, raw))
        return [None if left is None else first(grad, for_left), grad_right]

    return apply


def _apply_one(self: Any, grads: list, raw: bool) -> list:
    """The same for a kind of node with one input and one output, whose formula reads all that is saved, in its order."""
    grad, saved = grads[0], self._saved
    if grad is None:
        return [None]
    if not saved:
        return [self.rules[0][0](grad)]
    if len(saved) == 1:
        value = saved[0]
        if isinstance(value, Saved):
            value = value.read_for_formula(self, raw)
        return [self.rules[0][0](grad, value)]
    return [self.rules[0][0](grad, *_values(self, saved, raw))]
