"""Nodes of the autograd graph.

A class of nodes is made by `make_node_class(name, formulas)`, with a formula for each
differentiable input. The names of a formula's parameters say what the node saves: `lambda grad,
other: grad * other` saves `other`, and only if that gradient is needed. They are the names of
torch's derivative table, so `grad_fn._saved_other` reads as in torch. A formula runs on arrays, or
on tensors if the gradient is to have a graph of its own.
"""

from __future__ import annotations

import functools
import gc
import itertools
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..base import CPU
from .autograd_meta import HIGHEST_NUMBER, materialize_meta
from .hooks import RemovableHandle, hooks_of
from .modes import NODE_LISTENERS
from .saved import Saved, SavedTensor, save_result, show_saved

next_number = itertools.count().__next__

Edge = tuple[Any, int]
"""A node, or the leaf that ends the graph, and the number of one of its outputs."""

GradientSpec = tuple[tuple[int, ...], np.dtype, Any]
"""Shape, dtype and device that the gradient of an output must have.

A bare tuple: the recorders of ops/recorders.py make one for each result, and a NamedTuple would take
half a microsecond more.
"""

# `next_functions` of nodes, once they were shown. So hooks that the user puts on the node of a
# leaf live as long as the graph in which the user found it.
_NEXT_FUNCTIONS: Any = weakref.WeakKeyDictionary()


def gradient_spec_of(t: Any) -> GradientSpec:
    """Return the shape, dtype and device that the gradient of a tensor must have."""
    data, storage = t._data, t._storage
    return data.shape, data.dtype, CPU if storage is None else storage.device


class Node:
    """One recorded operation: where its gradients go, and what it saved to compute them.

    What only the engine uses has a name with an underscore, as users set attributes on the nodes of
    custom Functions (`ctx.name = "conv"`).
    """

    __slots__ = (
        "__weakref__",
        "_edges",  # for each input an Edge, or None if no gradient flows there
        "_gradient_specs",  # for each output a GradientSpec
        "_hooks",  # None, or a NodeHooks
        "_metadata",  # the user's notes; set when somebody asks for them
        "_saved",  # an entry for each of `_names_of_saved`, see saved.py
        "_sequence_number",  # backward runs nodes from the highest number down
    )

    # What follows is the same for all nodes of an operation, and set on their class.

    # Names of the saved values, in order.
    _names_of_saved: tuple[str, ...] = ()
    # Indices of the saved values that are tensors, or lists of them: each is a `Saved` entry, or None
    # if the tensor is not needed. All others (numbers, sizes, flags) are saved as they are.
    _tensor_indices: Sequence[int] = ()
    # For each saved value the only input whose gradient needs it; None if it is saved in any case:
    # if several need it, or if torch does not ask (see `make_node_class`).
    _needed_by: tuple[int | None, ...] = ()
    # By the index of a saved value that is one of the node's own outputs, the number of that output.
    # Empty if the node saves none of them.
    _output_nr_of_saved: dict[int, int] = {}
    # For each input the formula of its gradient (None for none), and the indices of the saved
    # values that it reads. Empty for a node whose backward is written by hand.
    _formulas: tuple[tuple[Callable | None, tuple[int, ...]], ...] = ()
    # The first formula gives the gradients of all inputs, as that of `cat` does.
    _formula_gives_all_inputs = False
    # As torch prints it, if it is not that of the class.
    _name = ""
    # A `MultiNode` sets it on each node.
    _output_count = 1
    # True for tensors, as an edge to a leaf holds the leaf itself.
    _ends_graph = False
    # Formulas are given a tuple of gradients.
    _has_several_outputs = False
    # Gradients get the strides that torch's TensorIterator gives.
    _is_pointwise = False
    # Runs on tensors even where gradients are arrays, as custom Functions do.
    _needs_tensors = False

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple = ()) -> None:
        self._edges = edges
        self._saved = saved
        self._sequence_number = next_number()
        self._hooks = None
        for listener in NODE_LISTENERS:
            listener(self)

    # what torch shows ---------------------------------------------------------------------------

    def name(self) -> str:
        """Return the name that torch prints, such as `MulBackward0`."""
        return self._name or type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that its gradient goes to, and the number of that node's output."""
        functions = _NEXT_FUNCTIONS.get(self)
        if functions is None:
            redirect_edges(self)
            functions = tuple([edge_for_user(edge) for edge in self._edges])
            if any([edge is not None and edge[0]._ends_graph for edge in self._edges]):
                _NEXT_FUNCTIONS[self] = functions
        return functions

    @property
    def requires_grad(self) -> bool:
        """True: where nothing requires grad, no node is made."""
        return True

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes on this node."""
        if not hasattr(self, "_metadata"):
            self._metadata: dict = {}
        return self._metadata

    def _sequence_nr(self) -> int:
        """Return the number by which backward orders nodes."""
        return self._sequence_number

    def __dir__(self) -> list[str]:
        # What torch lists, and what the user has set. Sizes and flags have no `_raw_saved_*`.
        names = {name for name in dir(type(self)) if _is_listed(name)}
        for index, name in enumerate(self._names_of_saved):
            if not self._is_saved_as_tensor(index):
                names.discard(f"_raw_saved_{name}")
        return [*names, *getattr(self, "__dict__", ())]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    # hooks --------------------------------------------------------------------------------------

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node ran.

        What it returns replaces `grad_inputs`.
        """
        return RemovableHandle(hooks_of(self).post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node runs.

        What it returns replaces `grad_outputs`.
        """
        return RemovableHandle(hooks_of(self).pre, hook)

    # what the engine does with it ---------------------------------------------------------------

    def _note_gradient_specs(self, *outputs: Any) -> None:
        """Note what the gradients of these outputs must be.

        None is for an output that is no tensor.
        """
        # For such an output torch expects the gradient of a float32 scalar.
        scalar = (), np.dtype(np.float32), None
        specs = [scalar if t is None else gradient_spec_of(t) for t in outputs]
        self._gradient_specs = tuple(specs)

    def _apply(self, grads: list, on_arrays: bool) -> list:
        """Return the gradients of the inputs, given those of the outputs.

        Arrays if `on_arrays`, else tensors; None for none.
        """
        raise NotImplementedError

    def _keep_results(self, outputs: tuple) -> None:
        """Save the node's own outputs, as far as formulas read them."""
        saved = list(self._saved)
        for index, output_nr in self._output_nr_of_saved.items():
            saved[index] = save_result(outputs[output_nr], output_nr)
        self._saved = tuple(saved)

    def _release(self) -> None:
        """Free the tensors that were saved; sizes and flags stay readable, as in torch."""
        for index in self._tensor_indices:
            saved = self._saved[index]
            if type(saved) is SavedTensor:
                saved.tensor = saved.packed = None  # as its `release` does, in most cases
            elif isinstance(saved, Saved):
                saved.release()

    def _is_saved_as_tensor(self, index: int) -> bool:
        """Return True if there is an object `_raw_saved_*` for the saved value of this index.

        torch has an empty one for a tensor that is not needed, and none for numbers and sizes.
        """
        saved = self._saved[index]
        return isinstance(saved, Saved) or (saved is None and index in self._tensor_indices)

    def __call__(self, *grads: Any) -> Any:
        """Run this node alone. TypeError unless there is a gradient for each output."""
        if len(grads) != self._output_count:
            raise TypeError(f"expected {self._output_count} arguments, got {len(grads)} instead")
        gradients = self._apply(list(grads), False)
        # torch leaves out what nobody asked for, unless one formula computes all of it anyway.
        if not (self._formula_gives_all_inputs and any(self._edges)):
            pairs = zip(gradients, self._edges, strict=True)
            gradients = [None if edge is None else grad for grad, edge in pairs]
        return gradients[0] if len(gradients) == 1 else tuple(gradients)


def _is_listed(name: str) -> bool:
    """Return True if `dir` of a node lists this attribute of its class."""
    if name.startswith("__") or name == "_sequence_nr":
        return True
    return not name.startswith("_") or name.startswith(("_saved_", "_raw_saved_"))


class MultiNode(Node):
    """A node with several outputs."""

    __slots__ = ("_output_count",)
    _has_several_outputs = True

    def _note_gradient_specs(self, *outputs: Any) -> None:
        """Note what the gradients of these outputs must be, and how many there are."""
        super()._note_gradient_specs(*outputs)
        self._output_count = len(outputs)


class NotImplementedNode(Node):
    """The node of an operation for which torch has no derivative.

    It is recorded, and backward through it raises.
    """

    __slots__ = ()
    _name = "torch::autograd::NotImplemented"
    _message: str

    def __init__(self, edges: tuple[Edge | None, ...], saved: tuple = ()) -> None:
        # In torch, too, only inputs that require grad are in `next_functions` of this node.
        super().__init__(tuple([edge for edge in edges if edge is not None]))
        # As in torch, so that it raises before other nodes run.
        self._sequence_number = HIGHEST_NUMBER

    def _apply(self, grads: list, on_arrays: bool) -> list:
        """Raise torch's RuntimeError."""
        raise RuntimeError(self._message)


def make_undifferentiable_node_class(operation: str) -> Any:
    """Return the class of nodes of an operation without derivative, by its name in the error."""
    body = {
        "__slots__": (),
        "__module__": "builtins",
        "_message": f"derivative for {operation} is not implemented",
    }
    return type("NotImplemented", (NotImplementedNode,), body)


# leaves ----------------------------------------------------------------------------------------


class AccumulateGrad(Node):
    """The node that is shown for a leaf, and adds to its `.grad`.

    The engine's edges have the leaf itself, but for one that was given another AccumulateGrad since:
    see `redirect_edges`.
    """

    __slots__ = ("variable",)
    __module__ = "builtins"
    _name = "torch::autograd::AccumulateGrad"
    # It runs on arrays all the same. The flag leads it into the one branch of `_walk` that looks closer
    # at a node, where it is taken aside: so no other node has to be asked what it is.
    _needs_tensors = True

    def __init__(self, leaf: Any) -> None:
        self.variable = leaf
        self._edges = self._saved = ()
        self._hooks = None
        self._sequence_number = HIGHEST_NUMBER
        self._note_gradient_specs(leaf)


def edge_for_user(edge: Any) -> tuple[Any, int]:
    """Return an edge as `next_functions` shows it: to the AccumulateGrad of a leaf.

    (None, 0) for None.
    """
    if edge is None or not edge[0]._ends_graph:
        return edge or (None, 0)
    meta = materialize_meta(edge[0])
    node = meta.accumulator and meta.accumulator()
    if node is None:
        # The node keeps the leaf alive. A strong reference back would be a cycle, which torch has
        # not either.
        node = AccumulateGrad(edge[0])
        meta.accumulator = weakref.ref(node)
    return (node, 0)


class EarlierSpec:
    """What the gradient of a leaf had to be before it was given another array.

    In `y = w * 2; w.data = wider; z = w * 3` backward of y gives a gradient of the old shape, and
    that is right. PyTorch's AccumulateGrad of that time goes on expecting it as long as somebody
    holds it: a node with an edge to it, as that of y, or the user. Nodes that are made meanwhile get
    an edge to it, too, so that backward of z raises; once y is gone, `w * 3` runs. Another dtype or
    device makes another AccumulateGrad at once, and z has an edge to that.

    `until` is None as long as new nodes get an edge to the old one; then it is the sequence number
    from which on they have an edge to another AccumulateGrad.
    """

    __slots__ = ("accumulator", "holders", "leaf", "spec", "until")

    def __init__(self, leaf: Any, spec: GradientSpec) -> None:
        self.leaf = weakref.ref(leaf)
        self.spec = spec
        self.until: int | None = None
        self.holders: tuple[weakref.ref, ...] = ()
        # To the AccumulateGrad of that time, if it was shown, or an edge was redirected to it.
        self.accumulator: weakref.ref | None = None

    def is_expected_by(self, sequence_nr: int | None) -> bool:
        """Return True if a node of this number has an edge to that AccumulateGrad.

        None stands for a node that would be made now.
        """
        return self.until is None or (sequence_nr is not None and sequence_nr < self.until)

    def end_with_accumulator(self, accumulator: weakref.ref | None) -> None:
        """Note that nodes have an edge to another AccumulateGrad from now on."""
        self.until = next_number()
        self.accumulator = accumulator

    def materialize_accumulator(self, leaf: Any) -> AccumulateGrad:
        """Return the AccumulateGrad of that time, made now if nobody holds it."""
        node = None if self.accumulator is None else self.accumulator()
        if node is None:
            node = AccumulateGrad(leaf)
            self.accumulator = weakref.ref(node)
        node._gradient_specs = (self.spec,)
        return node

    def watch_holders(self) -> bool:
        """Find those who hold that AccumulateGrad, to hear when they are gone; False for none."""
        leaf = self.leaf()
        holders = [] if leaf is None else find_holders(leaf)
        if leaf is not None:
            # Nodes that are older than an AccumulateGrad have an edge to the one before it.
            ends = [spec.until or 0 for spec in leaf._meta.earlier_gradient_specs]
            holders = [x for x in holders if x._sequence_number >= max(ends, default=0)]
        self.holders = tuple([weakref.ref(holder, self._look_again) for holder in holders])
        return bool(holders)

    def _look_again(self, _: weakref.ref) -> None:
        """Forget all of it, in the leaf too, if the last holder is gone and none has come since."""
        if any([holder() is not None for holder in self.holders]):
            return
        if self.until is None and self.watch_holders():
            return
        self.holders = ()
        leaf = self.leaf()
        if leaf is not None:
            specs = leaf._meta.earlier_gradient_specs
            leaf._meta.earlier_gradient_specs = tuple([s for s in specs if s is not self])


def find_holders(leaf: Any) -> list[Node]:
    """Return the nodes with an edge to a leaf, and its AccumulateGrad.

    A leaf knows no nodes, and is seldom given another shape: so they are searched for.
    """
    shown = None if leaf._meta is None else leaf._meta.accumulator
    accumulator = None if shown is None else shown()
    found = [] if accumulator is None else [accumulator]
    edges = [x for x in gc.get_referrers(leaf) if type(x) is tuple and len(x) == 2]
    rows = [row for row in gc.get_referrers(*edges) if type(row) is tuple] if edges else []
    nodes = [x for x in gc.get_referrers(*rows) if isinstance(x, Node)] if rows else []
    return found + nodes


def note_data_assigned(leaf: Any, earlier: GradientSpec, is_forced: bool = False) -> None:
    """Note that `.data =`, or an `out=` that was resized, gave a leaf another array.

    `earlier`: what its gradient had to be until now.

    Nodes that were recorded before still compute a gradient of the earlier shape and dtype, and
    that is not an error. As long as one of them is there torch expects it of the others, too.
    """
    meta = leaf._meta
    if meta is None:
        return
    current = gradient_spec_of(leaf)
    open_specs = [spec for spec in meta.earlier_gradient_specs if spec.until is None]
    # torch makes another AccumulateGrad if the dtype or the device differs, and for `set_` always.
    is_other_accumulator = is_forced or current[1:] != earlier[1:]
    if not open_specs and (is_other_accumulator or current != earlier):
        spec = EarlierSpec(leaf, earlier)
        # With another AccumulateGrad, which nodes hold the earlier one is told by their numbers: there
        # is no search, which for each parameter of `module.half()` would take milliseconds.
        if is_other_accumulator or spec.watch_holders():
            meta.earlier_gradient_specs += (spec,)
            open_specs.append(spec)
    if is_other_accumulator:
        for spec in open_specs:
            spec.end_with_accumulator(meta.accumulator)
        meta.accumulator = None
        if len(meta.earlier_gradient_specs) > _SPECS_BEFORE_SEARCH:
            _drop_specs_without_nodes(leaf)


# So many changes of one leaf are worth a search for the nodes that were recorded before them.
_SPECS_BEFORE_SEARCH = 16


def _drop_specs_without_nodes(leaf: Any) -> None:
    """Forget what no node expects any more, of a leaf that was given other memory often."""
    oldest = min([node._sequence_number for node in find_holders(leaf)], default=HIGHEST_NUMBER)
    specs = leaf._meta.earlier_gradient_specs
    leaf._meta.earlier_gradient_specs = tuple([s for s in specs if s.is_expected_by(oldest)])


def redirect_edges(node: Node) -> bool:
    """Give a node the AccumulateGrad of its time for a leaf that has another now; False for none.

    torch's edges lead to that from the beginning. Here they have the leaf, and the leaf knows no
    nodes: so they are brought up to date when they are walked or shown.
    """
    edges = tuple([_redirect_edge(edge, node._sequence_number) for edge in node._edges])
    is_changed = any([new is not old for new, old in zip(edges, node._edges, strict=True)])
    if is_changed:
        node._edges = edges
    return is_changed


def _redirect_edge(edge: Edge | None, sequence_nr: int) -> Edge | None:
    """Return an edge from a node of this number, to the AccumulateGrad of that time."""
    if edge is None or not edge[0]._ends_graph:
        return edge
    leaf = edge[0]
    for spec in leaf._meta.earlier_gradient_specs:
        if spec.until is not None and sequence_nr < spec.until:
            return spec.materialize_accumulator(leaf), 0
    return edge


# classes of nodes by formulas ------------------------------------------------------------------

# torch shows these through an unsigned type: `x.sum(-1).grad_fn._saved_dim` is
# (18446744073709551615,).
_UNSIGNED_NAMES = frozenset(
    [
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
    ]
)


def _as_unsigned(value: Any) -> Any:
    """Return an int, or a tuple of them, as torch shows it through an unsigned type."""
    if type(value) is tuple:
        return tuple([_as_unsigned(v) for v in value])
    return value & 0xFFFFFFFFFFFFFFFF if type(value) is int and value < 0 else value


@functools.cache  # most nodes have the same names at the same places
def _properties_of_saved(name: str, index: int) -> tuple[property, property]:
    """Return the properties `_saved_other` and `_raw_saved_other` for saved value number `index`."""

    def read_value(node: Any) -> Any:
        saved = node._saved[index]
        value = saved.unpack(node) if isinstance(saved, Saved) else saved
        return _as_unsigned(value) if name in _UNSIGNED_NAMES else value

    def read_object(node: Any) -> Any:
        if not node._is_saved_as_tensor(index):
            raise AttributeError(
                f"'{type(node).__name__}' object has no attribute '_raw_saved_{name}'"
            )
        return show_saved(node, index)

    return property(read_value), property(read_object)


def _parameters_of(formula: Callable | None) -> tuple[str, ...]:
    """Return the names of the saved values that a formula reads."""
    if formula is None:
        return ()
    # The part of a joint formula reads what the whole one does.
    code = getattr(formula, "__wrapped__", formula).__code__
    return code.co_varnames[1 : code.co_argcount]


def _split_joint_formula(formulas: dict[str, Callable | None]) -> dict[str, Callable | None]:
    """Return a formula for each input: of a joint one, under the names `"self, src"`, its parts."""

    def make_part(formula: Any, index: int) -> Callable:
        return functools.wraps(formula)(lambda *values: formula(*values)[index])

    formula_of: dict[str, Callable | None] = {}
    for names, formula in formulas.items():
        inputs = names.split(", ")
        if len(inputs) == 1:
            formula_of[names] = formula
        else:
            formula_of |= {name: make_part(formula, i) for i, name in enumerate(inputs)}
    return formula_of


def _find_needed_by(
    saved_names: list[str],
    reads: list[tuple[str, ...]],
    also_saved: tuple[str, ...],
    saves_always: bool,
) -> list[int | None]:
    """Return, for each saved value, the only input whose gradient needs it: its formula reads it.

    None if it is saved in any case. `reads`: for each input, what its formula reads.
    """
    needed_by: list[int | None] = []
    for name in saved_names:
        reading_inputs = [i for i, names in enumerate(reads) if name in names]
        # torch saves what `also_saved` names without asking who reads it.
        is_saved_in_any_case = saves_always or name in also_saved or len(reading_inputs) != 1
        needed_by.append(None if is_saved_in_any_case else reading_inputs[0])
    return needed_by


def _find_formula_order(formulas: dict[str, Callable | None]) -> tuple[int, ...]:
    """Return the indices of the inputs that have a formula, in the order in which these run."""
    inputs = list(formulas)
    with_formula = [i for i, name in enumerate(inputs) if formulas[name] is not None]
    # torch computes the gradients in the order of the inputs' names.
    return tuple(sorted(with_formula, key=inputs.__getitem__))


def _make_attributes_of_saved(names: list[str]) -> dict[str, property]:
    """Return the attributes `_saved_other` and `_raw_saved_other` of a class of nodes."""
    attributes = {}
    for index, name in enumerate(names):
        # What torch keeps without an attribute, see `make_node_class`.
        if name[0] != "_":
            as_value, as_object = _properties_of_saved(name, index)
            attributes[f"_saved_{name}"], attributes[f"_raw_saved_{name}"] = as_value, as_object
    return attributes


def _choose_apply(
    formulas: dict[str, Callable | None],
    indices: list[tuple[int, ...]],
    needed_by: list[int | None],
    base: type,
    gives_all_inputs: bool,
) -> Callable:
    """Return the `_apply` of a class of nodes: a way of its own for some, or the one for every node.

    `indices`: those of the saved values that each formula reads. `needed_by`: for each saved value the
    only input that needs it. `base` and `gives_all_inputs`: as of `make_node_class`.
    """
    functions: list[Any] = list(formulas.values())
    if gives_all_inputs:
        return _make_apply_of_all(functions[0], indices[0])
    if base is Node:
        # `_split_joint_formula` marks the parts of a joint formula so. It is the only one of its node.
        joint_formula = getattr(functions[0], "__wrapped__", None)
        if joint_formula is not None:
            return _make_apply_of_joint(joint_formula, indices[0])
        if len(indices) == 1 and indices[0] == tuple(range(len(needed_by))):
            return _apply_for_one_input
        # As of `mul`, which saves `other` and `self`: the gradient of input 0, `self`, reads the
        # first of them, and that of input 1, `other`, the second.
        if indices == [(0,), (1,)] and needed_by == [0, 1]:
            return _make_apply_of_two(*functions)
    steps = [(i, functions[i], indices[i]) for i in _find_formula_order(formulas)]
    return _make_apply_of_each(steps, has_several_outputs=base is MultiNode)


def make_node_class(
    name: str,
    formulas: dict[str, Callable | None],
    also_saved: tuple[str, ...] = (),
    base: type = Node,
    formula_gives_all_inputs: bool = False,
    results: tuple[str, ...] = ("result",),
    is_pointwise: bool = False,
    tensors: Collection[str] = (),
) -> Any:
    """Return a class of nodes.

    `formulas[input](grad, saved...)` is the gradient for that input; None in place of the formula
    if there is no gradient, and one for all inputs under all their names. Saved values are shown as
    attributes unless their names start with an underscore. `also_saved`: names of values that torch
    saves although no formula that runs reads them. `formula_gives_all_inputs`: the one formula returns
    the gradients of all inputs (of `cat`, which has as many as it is given). `results`: names of the
    outputs, as formulas read them. `is_pointwise`: the gradients get the strides that TensorIterator
    gives. `tensors`: names of saved values that are tensors; results are, too.
    """
    formulas = _split_joint_formula(formulas)
    functions = list(formulas.values())
    parameters = [_parameters_of(function) for function in functions]
    # torch saves results after inputs, each sorted by name. Hooks on saved tensors see them in
    # this order.
    names = sorted({*also_saved}.union(*parameters), key=lambda n: (n in results, n))
    indices = [tuple(map(names.index, each)) for each in parameters]
    # torch does not ask which gradients are needed if there is only one, or in nodes of second
    # derivatives.
    saves_always = len(functions) - functions.count(None) == 1 or "BackwardBackward" in name
    needed_by = _find_needed_by(names, parameters, also_saved, saves_always)
    apply = _choose_apply(formulas, indices, needed_by, base, formula_gives_all_inputs)
    body: dict[str, Any] = {
        "__slots__": (),
        "__doc__": f"The backward of torch's {name}.",
        "__module__": "builtins",  # prints as torch's do: <class 'MulBackward0'>
        "_names_of_saved": tuple(names),
        "_tensor_indices": tuple([i for i, n in enumerate(names) if n in tensors or n in results]),
        "_needed_by": tuple(needed_by),
        "_formulas": tuple(zip(functions, indices, strict=True)),
        "_apply": apply,
        "_formula_gives_all_inputs": formula_gives_all_inputs,
        "_is_pointwise": is_pointwise,
        "_output_nr_of_saved": {names.index(n): nr for nr, n in enumerate(results) if n in names},
    }
    body |= _make_attributes_of_saved(names)
    return type(name, (base,), body)


# running formulas ------------------------------------------------------------------------------

# A class of nodes gets one of these functions as its `_apply`: `self` is the node.


def read_saved(node: Any, on_arrays: bool) -> list:
    """Return what formulas read of what a node saved: arrays if `on_arrays`, else tensors."""
    values = list(node._saved)
    for index in node._tensor_indices:
        saved = values[index]
        if isinstance(saved, Saved):
            values[index] = saved.read_for_formula(node, on_arrays)
    return values


def _make_apply_of_each(
    steps: list[tuple[int, Any, tuple[int, ...]]], has_several_outputs: bool
) -> Callable:
    """Return `_apply` for a node with a formula for each input: the way that is right for all of these.

    `steps`: in the order in which they are done, an input, its formula, and the indices of the saved
    values that the formula reads. Of a node with several outputs it gets a tuple of all gradients.
    """

    def apply(self: Any, grads: list, on_arrays: bool) -> list:
        edges, grad = self._edges, grads[0]
        if has_several_outputs:
            grad = tuple(grads) if any([g is not None for g in grads]) else None
        gradients: list = [None] * len(edges)
        # Read where no gradient has arrived, too: PyTorch raises there if something is freed or stale.
        values = read_saved(self, on_arrays)
        if grad is not None:
            for i, formula, indices in steps:
                if edges[i] is not None:
                    gradients[i] = formula(grad, *map(values.__getitem__, indices))
        return gradients

    return apply


def _make_apply_of_all(formula: Any, indices: tuple[int, ...]) -> Callable:
    """Return `_apply` for a formula that gives the gradients of all inputs, as many as there are: of `cat`."""

    def apply(self: Any, grads: list, on_arrays: bool) -> list:
        values = read_saved(self, on_arrays)  # in any case, see `_make_apply_of_each`
        if grads[0] is None:
            return [None] * len(self._edges)
        return list(formula(grads[0], *[values[k] for k in indices]))

    return apply


def _make_apply_of_two(first: Callable, second: Callable) -> Callable:
    """Return `_apply` for two inputs whose formulas read one saved value each, as in a product.

    Written out for products, which are in most graphs: it takes two thirds of the time of
    `_make_apply_of_each`. (A quotient has two formulas, too, but one of them reads both operands.)
    """

    def apply(self: Any, grads: list, on_arrays: bool) -> list:
        grad = grads[0]
        if grad is None:
            read_saved(self, on_arrays)  # for its errors, see `_make_apply_of_each`
            return [None, None]
        first_edge, second_edge = self._edges
        saved_for_first, saved_for_second = self._saved
        first_gradient = second_gradient = None
        # Values are read in the order in which they were saved, which decides which one of two
        # stale tensors is named.
        if first_edge is not None:
            value_for_first = saved_for_first.read_for_formula(self, on_arrays)
        if second_edge is not None:
            # torch computes the gradient of `other` before that of `self`: in the order of the
            # names.
            second_gradient = second(grad, saved_for_second.read_for_formula(self, on_arrays))
        if first_edge is not None:
            first_gradient = first(grad, value_for_first)
        return [first_gradient, second_gradient]

    return apply


def _make_apply_of_joint(formula: Any, indices: tuple[int, ...]) -> Callable:
    """Return `_apply` for a formula that gives the gradients of all inputs, as torch computes them."""

    def apply(self: Any, grads: list, on_arrays: bool) -> list:
        values = read_saved(self, on_arrays)
        if grads[0] is None:
            return [None] * len(self._edges)
        gradients = formula(grads[0], *[values[k] for k in indices])
        pairs = zip(self._edges, gradients, strict=True)
        return [None if edge is None else gradient for edge, gradient in pairs]

    return apply


def _apply_for_one_input(self: Any, grads: list, on_arrays: bool) -> list:
    """Return the gradient of the only input of a node, whose formula reads all saved values in order."""
    grad = grads[0]
    if grad is None:
        read_saved(self, on_arrays)  # for its errors, see `_make_apply_of_each`
        return [None]
    formula = self._formulas[0][0]
    saved = self._saved
    if not saved:
        return [formula(grad)]
    if len(saved) == 1:
        # No list is made for one value.
        value = saved[0]
        if isinstance(value, Saved):
            value = value.read_for_formula(self, on_arrays)
        return [formula(grad, value)]
    return [formula(grad, *read_saved(self, on_arrays))]
