"""Why it cannot be known what backward will do: what a look cannot see into is mentioned.

Code of the user's that runs in backward, operations that refuse some values, and hooks may raise or
compute something else. torch does not say on which nodes hooks are registered; whether there are
any in the process can be found.
"""

from __future__ import annotations

import gc
import operator
import re
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, repeat
from typing import Any, NamedTuple

from ...graph import AutogradMeta, NodeHooks, name_of_node
from ...nn import Module
from ..wording import Phrase, gettext, gettext_noop, join_few_names, ngettext, short_node_name
from .gradient_specs import gradient_specs_of, has_other_spec
from .naming import things_in
from .probe import disable_overrides, getattr_or_none, is_tensor, leaf_of_accumulator
from .records import FunctionRecord, NodeRecord
from .rehearsal import Rehearsal, StandIn, rehearse_call, stand_in_for, stand_in_for_gradient
from .user_code import describe_code

_REFUSES = re.compile(
    r"^_?(Linalg(?!VectorNorm|Cross)|Svd|Eig|Lu|Qr|Cholesky|Triangular|Ormqr|Householder|CudnnRnn"
    r"|MiopenRnn|Warn"
    r"|(Pdist|Cdist|EmbeddingBag|EmbeddingBagDense)BackwardBackward)"
)
"""Kinds of nodes that raise for some values, for some inputs, or in some mode.

From torch's derivatives.yaml."""
_REFUSES_COMPLEX_ALONE = re.compile(
    r"^(Linalg(InvEx|SolveEx|SolveTriangular|Det|Slogdet|CholeskyEx|Eigh|Svd|Qr|LuFactorEx|MatrixExp)"
    r"|Cholesky(Inverse|Solve)|TriangularSolve)Backward0$"
)
"""Of these, the ones that computed every gradient of real matrices: regular, singular, wide, tall,
empty, infinite and nan. Of complex ones some check that the loss has a gradient at all."""
_NOT_NEGATIVE = {
    "LeakyReluBackward1": "_saved_negative_slope",
    "EluBackward1": "_saved_alpha",
    "CeluBackward1": "_saved_alpha",
    "RreluWithNoiseBackward1": "_saved_lower",
}
"""Operations in place, whose backward raises for a number below 0."""
_FIRST_NOT_IMPLEMENTED = re.compile(
    r"^((Igammac?|StandardGammaGrad|Geqrf|Unique2?|UniqueDim|UniqueConsecutive|"
    r"UniqueDimConsecutive|EmbeddingRenorm|Nextafter)Backward0|SpecialZetaBackward[02]|"
    r"(Acosh|Asinh|Atanh)Backward1)$"
)
"""Nodes that raise where the first argument requires grad: `self: not_implemented(...)` in torch's
derivatives.yaml."""


def doubts_of_node(
    node: Any, function: FunctionRecord | None, *, may_get_none: bool = False
) -> Iterator[str]:
    """Yield why it cannot be known what a node does in backward.

    function: its `read_function`, as in the next two. may_get_none: no gradient may arrive there, and
    hooks on a gradient be given None.
    """
    name, node_class = short_node_name(name_of_node(node)), type(node)
    if function is not None:
        if not function.is_trusted and not function.refusal:
            yield gettext(
                "{node} is a Function in Python: {code} may raise and compute what it likes",
                node=name,
                code=function.label,
            )
    elif node_class.__name__ == "CppFunction":
        yield gettext("{node} is of a kind that shows nothing of what it saved", node=name)
    elif name == "CopySlices":
        yield gettext(
            "{node} does not show what the operation that wrote through a view saved", node=name
        )
    elif _may_refuse(node, name) and not any(refusals_of_node(node, function)):
        yield gettext("{node} refuses some values, inputs or modes", node=name)
    leaf = leaf_of_accumulator(node)
    # Tensors of tinytorch alone have it.
    meta = getattr_or_none(leaf, "_meta")
    if leaf is not None and has_other_spec(leaf):
        yield gettext(
            "a leaf was given another shape by .data, and gradients of the old one are expected"
        )
    hook_by_key = _find_hooks_of_tinytorch(node, meta)
    if hook_by_key and not may_get_none:
        for hook_of_leaf in _find_hooks_of_leaf(node):
            if hook_of_leaf.key in hook_by_key and _is_decided_on_leaf(node, hook_of_leaf):
                del hook_by_key[hook_of_leaf.key]
    if hook_by_key:
        yield gettext(
            "{node} has a hook, which may raise or change the gradient: {code}",
            node=name,
            code=join_few_names(dict.fromkeys(map(describe_code, hook_by_key.values()))),
        )


def _may_refuse(node: Any, name: str) -> bool:
    if not _REFUSES.search(name):
        return False
    is_complex = any(spec is None or "complex" in spec.dtype for spec in gradient_specs_of(node))
    return is_complex or not _REFUSES_COMPLEX_ALONE.search(name)


def hides_saved(node: Any, function: FunctionRecord | None) -> bool:
    """Return True if a node saves tensors that cannot be looked at, or of which nothing is compared."""
    # Neither has attributes for it: not an extension's node, nor CopySlices for that of the write inside.
    if type(node).__name__ == "CppFunction" or short_node_name(name_of_node(node)) == "CopySlices":
        return True
    if function is None or function.is_trusted or function.refusal:
        return False
    # `ctx.y = y`: a backward that was run to see what it does has read what is there now.
    return any(is_tensor(thing) for _, thing in things_in("", getattr(node, "__dict__", {})))


def refusals_of_node(node: Any, function: FunctionRecord | None) -> Iterator[Phrase]:
    """Yield why a node is sure to raise as soon as a gradient arrives, whatever it saved."""
    name = short_node_name(name_of_node(node))
    if function is not None and function.refusal:
        yield function.refusal
    attribute = _NOT_NEGATIVE.get(name)
    value = None if attribute is None else getattr_or_none(node, attribute)
    if value is not None and value < 0:
        yield Phrase.of(
            gettext_noop(
                "{node} was computed in place with {number}, and has no derivative below 0"
            ),
            node=name,
            number=value,
        )
    if name == "LinalgQrBackward0" and _refuses_qr(node):
        yield Phrase.of(gettext_noop("{node} has no derivative in its mode and shape"), node=name)
    # Releases after 2.11 save what the derivative of `nextafter` needs.
    is_refused = _FIRST_NOT_IMPLEMENTED.search(name) and not (
        name == "NextafterBackward0" and hasattr(type(node), "_saved_self")
    )
    edges = node.next_functions if is_refused else ()
    if edges and edges[0][0] is not None:
        yield Phrase.of(
            gettext_noop(
                "{node} has no derivative with respect to its first argument, which requires grad"
            ),
            node=name,
        )


def _refuses_qr(node: Any) -> bool:
    """Return True for the R of mode "r", and for mode "complete" of more rows than columns."""
    mode, specs = getattr_or_none(node, "_saved_mode"), gradient_specs_of(node)
    if mode != "complete":
        return bool(mode == "r")
    if len(specs) < 2 or specs[1] is None:
        return False
    rows, columns = specs[1].shape[-2:]
    return rows > columns


def _find_hooks_of_tinytorch(node: Any, meta: Any) -> dict[tuple[int, int], Any]:
    """Return the hooks on a node of tinytorch, by dict and number; for torch see `_find_hooks_on_graphs`."""
    hooks = getattr_or_none(node, "_hooks")
    groups = []
    if hooks:
        groups += [hooks.pre, hooks.post]
        groups += [group for _, group in hooks.on_outputs]
    if meta:
        groups += [meta.grad_hooks or {}, meta.post_accumulate_hooks or {}]
    found: dict[tuple[int, int], Any] = {}
    for group in groups:
        for number, hook in group.items():
            found[id(group), number] = hook
    return found


class _HookOfLeaf(NamedTuple):
    """A hook on a leaf."""

    function: Any
    """The hook itself."""
    is_after: bool
    """True if it is called with the leaf, once its gradient was added."""
    key: tuple[int, int]
    """The id of the dict that it is in, and its number there: one function may be on several tensors."""


def _find_hooks_of_leaf(node: Any) -> list[_HookOfLeaf]:
    """Return the hooks on the leaf of an AccumulateGrad."""
    leaf = leaf_of_accumulator(node)
    found: list[_HookOfLeaf] = []
    if leaf is None:
        return found
    # tinytorch has them in `_meta`.
    for owner, attribute, is_after in (
        (leaf, "_backward_hooks", False),
        (leaf, "_post_accumulate_grad_hooks", True),
        (getattr_or_none(leaf, "_meta"), "grad_hooks", False),
        (getattr_or_none(leaf, "_meta"), "post_accumulate_hooks", True),
    ):
        hooks = getattr_or_none(owner, attribute)
        if isinstance(hooks, dict):
            for number, hook in list(hooks.items()):
                key = (id(hooks), number)
                found.append(_HookOfLeaf(hook, is_after, key))
    return found


def _rehearse_hook_of_leaf(node: Any, hook: _HookOfLeaf) -> Rehearsal | None:
    if hook.is_after:
        leaf = leaf_of_accumulator(node)
        return rehearse_call(hook.function, [stand_in_for(leaf)], may_act=True)
    gradient = _stand_in_for_gradient_of_leaf(node)
    if gradient is None:
        return None
    return rehearse_call(hook.function, [gradient], may_act=True)


def _stand_in_for_gradient_of_leaf(node: Any) -> Any:
    """Return a stand-in for the gradient that the node of a leaf expects; None where that is not known."""
    specs = gradient_specs_of(node)
    if not specs:
        return None
    return stand_in_for_gradient(specs[0], str(leaf_of_accumulator(node).device))


def _list_undecided(
    hooks: Sequence[_GraphHook], nodes: Sequence[Any], records: Sequence[NodeRecord]
) -> list[Any]:
    """Return the hooks that may raise, and of which `refusals_of_node` does not say so."""
    decided = set()
    has_real_gradients = bool(hooks) and all(map(_has_real_gradients, nodes, records))
    if has_real_gradients:
        # In one walk: there may be a hook on each of many leaves.
        for node in nodes:
            for found in _find_hooks_of_leaf(node):
                if _is_decided_on_leaf(node, found):
                    decided.add(found.key)
    undecided = []
    for hook in hooks:
        function, outcome, gradient = hook.find_function(), None, StandIn(None, "")
        if (id(hook.hooks()), hook.number) in decided:
            continue
        if hook.is_of_tensor and has_real_gradients:
            outcome = rehearse_call(function, [gradient], may_act=True)
        if outcome is None or not _fits_gradient(outcome.value, gradient):
            undecided.append(function)
    return undecided


def _has_real_gradients(node: Any, record: NodeRecord) -> bool:
    """Return True if all gradients of a node are known to be there, dense, and of real numbers."""
    may_be_sparse = "Sparse" in record.name or "Bag" in record.name
    if may_be_sparse or getattr_or_none(node, "_saved_sparse"):
        return False
    if record.function is not None and record.function.unsent:
        return False
    return all(spec is not None and "float" in spec.dtype for spec in record.gradient_specs)


def _is_decided_on_leaf(node: Any, hook: _HookOfLeaf) -> bool:
    """Return True if it is known whether a hook on the leaf of a node raises."""
    outcome = _rehearse_hook_of_leaf(node, hook)
    if outcome is None:
        return False
    if hook.is_after:
        return outcome.value is None
    return _fits_gradient(outcome.value, _stand_in_for_gradient_of_leaf(node))


def _fits_gradient(value: Any, gradient: StandIn | None) -> bool:
    """Return True if PyTorch takes what a hook returns for the gradient that it was given."""
    if value is None or gradient is None:
        return value is None
    is_tensor_like = isinstance(value, StandIn)
    return is_tensor_like and (value.sizes, value.dtype) == (gradient.sizes, gradient.dtype)


def find_hooks(engine: Any, nodes: Iterable[Any] = ()) -> list[Any]:
    """Return the hooks on gradients that are registered in this process, and those on nodes of tinytorch."""
    hooks = [hook.find_function() for hook in _find_graph_hooks(engine)]
    for node in nodes:
        meta = getattr_or_none(leaf_of_accumulator(node), "_meta")
        hooks += _find_hooks_of_tinytorch(node, meta).values()
    return hooks


def _find_graph_hooks(engine: Any) -> list[_GraphHook]:
    hooks = getattr_or_none(getattr_or_none(engine, "utils"), "hooks")
    handle_class = getattr_or_none(hooks, "RemovableHandle")
    if not hasattr(handle_class, "next_id"):
        return []
    return _find_hooks_on_graphs(engine, handle_class.next_id)


def doubts_of_process(
    engine: Any, nodes: Sequence[Any], records: Sequence[NodeRecord]
) -> Iterator[str]:
    """Yield why it cannot be known what a backward does now: modes and hooks of an engine.

    nodes, records: those of its graph.
    """
    yield from doubts_of_modes(engine)
    if (
        getattr_or_none(getattr_or_none(engine, "distributed"), "is_initialized")
        and engine.distributed.is_initialized()
    ):
        yield gettext(
            "torch.distributed is at work, whose own hooks may raise or change the gradient"
        )
    found = _list_undecided(_find_graph_hooks(engine), nodes, records)
    if found:
        yield ngettext(
            "{number} hook on gradients is registered in this process, and torch does not "
            "say on what; it may raise or change the gradient: {code}",
            "{number} hooks on gradients are registered in this process, and torch does not "
            "say on what; they may raise or change the gradient: {code}",
            len(found),
            code=join_few_names(dict.fromkeys(map(describe_code, found))),
        )


def doubts_of_modes(engine: Any) -> Iterator[str]:
    """Yield why a mode that is on may refuse what formulas of an engine compute; to run them answers it."""
    if (
        getattr_or_none(engine, "is_anomaly_enabled")
        and engine.is_anomaly_enabled()
        and engine.is_anomaly_check_nan_enabled()
    ):
        yield gettext("anomaly mode is on, which raises where a gradient is nan")
    if (
        getattr_or_none(engine, "are_deterministic_algorithms_enabled")
        and engine.are_deterministic_algorithms_enabled()
    ):
        yield gettext("deterministic algorithms are demanded, and some operations have none")


class _GraphHook(NamedTuple):
    """A hook that was found: the dict that it is in, and its number there."""

    hooks: weakref.ref[OrderedDict]
    """The dict of hooks."""
    number: int
    is_of_tensor: bool
    """True if it is known to be called with the gradient of a tensor, and nothing else."""

    def find_function(self) -> Any:
        """Return the hook itself; None once it is removed."""
        # The dict is gone with its tensor.
        return (self.hooks() or {}).get(self.number)


class HookSearch:
    """The hooks found so far.

    torch numbers all hooks of a process upwards: while the next number is the same, the objects of
    the process are not gone through again.
    """

    searched_up_to = 0
    found: tuple[_GraphHook, ...] = ()


def _find_hooks_on_graphs(engine: Any, next_number: int) -> list[_GraphHook]:
    """Return registered hooks that belong to no module, no optimizer and not to tinytorch.

    torch registers a hook in an OrderedDict: those that no known owner refers to are on graphs.
    """
    if next_number != HookSearch.searched_up_to:
        owned_ids = _ids_of_owned_dicts(engine)
        ids_of_tensors = _ids_of_dicts_of_tensors(engine)
        found = list(HookSearch.found)
        for candidate in find_objects([OrderedDict]):
            if id(candidate) not in owned_ids:
                is_of_tensor = id(candidate) in ids_of_tensors
                found += _new_hooks_in(candidate, next_number, is_of_tensor)
        HookSearch.found = tuple(found)
        HookSearch.searched_up_to = next_number
    hooks = [hook for hook in HookSearch.found if hook.find_function() is not None]
    HookSearch.found = tuple(hooks)
    return hooks


def _ids_of_dicts_of_tensors(engine: Any) -> set[int]:
    """Return the ids of the dicts in which tensors of the process have the hooks on their gradients."""
    with disable_overrides():
        dicts = [
            getattr_or_none(tensor, "_backward_hooks") for tensor in find_instances(engine.Tensor)
        ]
    return {id(hooks) for hooks in dicts if hooks is not None}


def _ids_of_owned_dicts(engine: Any) -> set[int]:
    owners = (engine.nn.Module, engine.optim.Optimizer, Module, AutogradMeta, NodeHooks)
    kinds = [kind for kind in find_classes() if issubclass(kind, owners)]
    owned_ids: set[int] = set()
    for candidate in find_objects(kinds):
        # Python 3.13 keeps attributes inside of the object, where `get_referents` of its dict
        # does not see them.
        attributes = getattr(candidate, "__dict__", {}).values()
        owned_ids.update(map(id, (*attributes, *gc.get_referents(candidate))))
    return owned_ids


def find_objects(kinds: Iterable[type]) -> list[Any]:
    """Return the objects of the process that are of one of these classes.

    Of all others no reference is held while another thread may run: a tuple that one is still
    filling raises SystemError there if somebody else has it. So this is one call of C, in which no
    other thread gets a turn.
    """
    # Each object twice in a row: `compress` takes one, the question for its class the other.
    objects = chain.from_iterable(map(repeat, _iterate_objects(), repeat(2)))
    class_keys = frozenset(map(_IDENTITY_KEY, kinds))
    is_wanted = map(class_keys.__contains__, map(_IDENTITY_KEY, map(type, objects)))
    return list(compress(objects, is_wanted))


def find_instances(base: type) -> list[Any]:
    """Return the objects of the process that are of a class or of a subclass of it.

    Also in one call of C: the metaclass of a tensor leaves the check of subclasses to `type`.
    """
    objects = chain.from_iterable(map(repeat, _iterate_objects(), repeat(2)))
    return list(compress(objects, map(issubclass, map(type, objects), repeat(base))))


def find_classes() -> Iterable[type]:
    """Return the classes of all objects of the process, in the same way."""
    classes = chain.from_iterable(map(repeat, map(type, _iterate_objects()), repeat(2)))
    return dict(zip(map(_IDENTITY_KEY, classes), classes, strict=False)).values()


_IDENTITY_KEY = object.__hash__
"""A number of each object that no other living object has.

`hash` may be written in Python, by a metaclass, and `id` tells hooks of `sys.addaudithook`, which
are (filelock adds one): in Python another thread would get its turn.
"""


def _iterate_objects() -> Iterator[Any]:
    """Return an iterator that asks for the objects of the process when it is asked for the first."""
    return chain.from_iterable(map(operator.call, [gc.get_objects]))


def _new_hooks_in(hooks: OrderedDict, next_number: int, is_of_tensor: bool) -> Iterator[_GraphHook]:
    # list(), because another thread may register a hook meanwhile.
    for number, hook in list(hooks.items()):
        # Any OrderedDict of the process comes here: a state_dict has strings and tensors.
        if type(number) is not int or not callable(hook):
            continue
        if HookSearch.searched_up_to <= number < next_number:
            yield _GraphHook(weakref.ref(hooks), number, is_of_tensor)
