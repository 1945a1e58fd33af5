"""Why a node raises, apart from what it saved: accumulating into a leaf, shapes, operations.

Source: PyTorch's `accumulate_grad.h` and `validate_outputs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..read import GradientSpec, NodeRecord, Snapshot, TensorRecord
from ..wording import format_shape, gettext, join_few_names, short_dtype, short_node_name
from .roots import find_roots
from .shared_phrases import phrase_backward, saved_noun
from .undefined_gradients import find_nodes_with_gradient

_MOST_ROOTS = 50
"""Of more roots only so many are judged one by one: each takes a walk through its graph."""


class Refusal(NamedTuple):
    """One cause why a node raises when a gradient arrives."""

    node: NodeRecord
    """The node that raises."""
    sentence: str
    """Without its full stop, as other words may follow."""
    way_out: str = ""
    """Empty where there is none to name."""
    is_by_code: bool = False
    """True if code of the program refuses: other code of it that runs in backward may change that."""
    is_certain: bool = True
    """False if such code may run before, or if no gradient may arrive."""
    calls: tuple[str, ...] = ()
    """Of several roots, those on which backward is sure to raise: "a.backward()". Empty for all of them."""
    needs_gradient: bool = True
    """False if the node raises where no gradient arrives, too: PyTorch visits it all the same."""


def find_refusals(snap: Snapshot, nodes: Sequence[NodeRecord]) -> list[Refusal]:
    """Return why nodes raise as soon as a gradient arrives.

    nodes: all that a backward may visit, since what some of them do makes others uncertain.
    """
    refusals: list[Refusal] = []
    for node in nodes:
        of_function = node.function.refusal if node.function else None
        for reason in node.refusals:
            is_by_code = reason == of_function
            refusals.append(Refusal(node, reason.word(), is_by_code=is_by_code))
        # Of what its backward does not open, a hook that raises is not called.
        refused = [saved.refusal for saved in node.saved if saved.is_opened and saved.refusal]
        refusals += [Refusal(node, reason.word(), is_by_code=True) for reason in refused]
        refusals += _find_refusals_of_leaf(snap, node)
        refusals += _find_refusals_of_edges(snap, node)
        refusals += _find_refusals_of_product(snap, node)
    if not refusals:
        return []
    # A gradient may not arrive where a Function in Python decides.
    behind = _find_nodes_behind_functions(snap, nodes)
    may_change = _may_change_code(snap, nodes)
    reached = find_nodes_with_gradient(nodes)
    judged = []
    for refusal in refusals:
        is_in_doubt = (
            refusal.node.id in behind
            or (refusal.is_by_code and may_change)
            or (refusal.needs_gradient and refusal.node.id not in reached)
        )
        judged.append(refusal._replace(is_certain=False) if is_in_doubt else refusal)
    return judged


def find_refusals_of_snapshot(snap: Snapshot) -> list[Refusal]:
    """Return why nodes raise, as pictures say it: of each root as `explain` judges it."""
    refusals = find_refusals(snap, snap.nodes)
    if all(refusal.is_certain for refusal in refusals):
        return refusals
    # What another root has in its graph makes nothing uncertain for this one.
    roots = find_roots(snap)[:_MOST_ROOTS]
    certainties: dict[tuple[str, str], dict[str, bool]] = {}
    for root in roots:
        call = phrase_backward(snap, root.id)
        for refusal in find_refusals(snap, snap.nodes_behind(root)):
            certainty_by_call = certainties.setdefault((refusal.node.id, refusal.sentence), {})
            certainty_by_call[call] = refusal.is_certain
    judged = []
    for refusal in refusals:
        certainty_by_call = certainties.get((refusal.node.id, refusal.sentence), {})
        calls = tuple(call for call, is_certain in certainty_by_call.items() if is_certain)
        is_for_all = len(calls) == len(certainty_by_call) and len(roots) < _MOST_ROOTS
        if calls and not refusal.is_certain:
            judged.append(refusal._replace(is_certain=True, calls=() if is_for_all else calls))
        else:
            judged.append(refusal)
    return judged


def phrase_refusal(refusal: Refusal) -> str:
    """Return `backward will raise: w is not a leaf any more`, for pictures."""
    if refusal.calls:
        return gettext(
            "{calls} will raise: {reason}",
            calls=join_few_names(refusal.calls),
            reason=refusal.sentence,
        )
    if refusal.is_certain:
        return gettext("backward will raise: {reason}", reason=refusal.sentence)
    return gettext("backward may raise: {reason}", reason=refusal.sentence)


def _may_change_code(snap: Snapshot, nodes: Sequence[NodeRecord]) -> bool:
    """Return True if code runs in backward of which it is not known what it does.

    Before another function is called, such a hook may give it another `__code__`.
    """
    return bool(snap.doubts) or any(map(_has_doubts, nodes))


def _has_doubts(node: NodeRecord) -> bool:
    """Return True if it is not known what a node does, or what is done to unpack what it saved."""
    return bool(node.doubts) or any(saved.doubt for saved in node.saved)


def _find_nodes_behind_functions(snap: Snapshot, nodes: Sequence[NodeRecord]) -> set[str]:
    """Return the nodes that get no gradient if a Function in Python returns None for it."""
    stack = list(filter(_may_return_none, nodes))
    found: set[str] = set()
    while stack:
        for end in stack.pop().ends:
            if end not in found:
                found.add(end)
                stack.append(snap.node(end))
    return found


def _may_return_none(node: NodeRecord) -> bool:
    """Return True for a Function in Python that may return None for an input, as far as is known."""
    function = node.function
    return function is not None and not function.is_trusted and not function.refusal


def fits_shape(spec: GradientSpec | None, shape: tuple[int, ...] | None) -> bool:
    """Return True if a gradient of this shape can be summed to the shape that is expected."""
    # What is not known is no reason to say that backward raises.
    if spec is None or shape is None or spec.shape == shape:
        return True
    return _can_expand(spec.shape, shape)


def _can_expand(shape: tuple[int, ...], larger: tuple[int, ...]) -> bool:
    if len(shape) > len(larger):
        return False
    pairs = zip(reversed(shape), reversed(larger), strict=False)
    return all(size in (1, expected) for size, expected in pairs)


# -- shapes on the way -------------------------------------------------------------------


def _find_refusals_of_edges(snap: Snapshot, node: NodeRecord) -> Iterator[Refusal]:
    for edge, output_nr, shape in zip(
        node.edges, node.edge_outputs, node.input_shapes, strict=False
    ):
        specs = () if edge is None else snap.node(edge).gradient_specs
        # Only of some formulas it is known which shapes they compute.
        if shape is None or output_nr >= len(specs):
            continue
        spec = specs[output_nr]
        if spec is not None and not fits_shape(spec, shape):
            sentence = gettext(
                "{node} computes a gradient of shape {shape} for {follower}, which expects {wanted}:"
                " a tensor was given another shape by .data",
                node=short_node_name(node.name),
                shape=format_shape(shape),
                follower=short_node_name(snap.node(edge or "").name),
                wanted=format_shape(spec.shape),
            )
            yield Refusal(node, sentence, _advise_new_tensor())


def _find_refusals_of_product(snap: Snapshot, node: NodeRecord) -> Iterator[Refusal]:
    """Yield why `x * w` cannot multiply its gradient with what it saved: that has another shape now."""
    # Of other formulas it is not known in which shape they need what they saved.
    if short_node_name(node.name) != "MulBackward0" or len(node.edges) != 2:
        return
    if len(node.gradient_specs) != 1 or node.gradient_specs[0] is None:
        return
    spec = node.gradient_specs[0]
    for saved in node.saved:
        # The gradient with respect to `self` is a product with `other`, and the reverse.
        edge = node.edges[0 if saved.name == "other" else 1]
        if saved.tensor is None or saved.state != "live" or edge is None:
            continue
        shape = snap.tensor(saved.tensor).shape
        if shape is None:
            continue
        sizes = zip(reversed(shape), reversed(spec.shape), strict=False)
        if any(size != expected and 1 not in (size, expected) for size, expected in sizes):
            sentence = gettext(
                "{node} multiplies a gradient of shape {shape} by its {saved}, which was given shape "
                "{other} by .data",
                node=short_node_name(node.name),
                shape=format_shape(spec.shape),
                saved=saved_noun(saved),
                other=format_shape(shape),
            )
            yield Refusal(node, sentence, _advise_new_tensor())


def find_reshaped(snap: Snapshot, nodes: Sequence[NodeRecord]) -> Iterator[TensorRecord]:
    """Yield the tensors that have another shape than the gradient that their node expects."""
    node_by_id = {node.id: node for node in nodes}
    for tensor in snap.tensors:
        node = node_by_id.get(tensor.grad_fn or "")
        if tensor.shape is not None and node and tensor.output_nr < len(node.gradient_specs):
            spec = node.gradient_specs[tensor.output_nr]
            if spec is not None and spec.shape != tensor.shape:
                yield tensor
    for node in nodes:
        # A leaf has no grad_fn, but its AccumulateGrad expects a gradient, too.
        leaf = snap.leaf_of(node)
        if leaf is not None and leaf.shape is not None and node.gradient_specs:
            spec = node.gradient_specs[0]
            if spec is not None and spec.shape != leaf.shape:
                yield leaf


def describe_wrong_start(snap: Snapshot, root: TensorRecord) -> str:
    """Say why backward cannot start at a root that was given another shape; empty if it can."""
    specs = () if root.grad_fn is None else snap.node(root.grad_fn).gradient_specs
    spec = specs[root.output_nr] if root.output_nr < len(specs) else None
    # Backward sums a start that broadcasting may have made, and does not raise.
    if spec is None or fits_shape(spec, root.shape):
        return ""
    return gettext(
        "{name} was given shape {shape} by .data, and {node} expects a gradient of shape {wanted}",
        name=snap.label(root.id),
        shape=format_shape(root.shape),
        node=short_node_name(root.grad_fn_name or ""),
        wanted=format_shape(spec.shape),
    )


# -- adding to a leaf's .grad ----------------------------------------------------------------


def _find_refusals_of_leaf(snap: Snapshot, node: NodeRecord) -> Iterator[Refusal]:
    leaf = snap.leaf_of(node)
    if leaf is None:
        return
    if leaf.is_leaf is False:
        sentence = gettext(
            "{leaf} is not a leaf any more: something that requires grad was written into it after it "
            "was used",
            leaf=snap.label(leaf.id),
        )
        way_out = gettext(
            "write to it inside of no_grad, or write a tensor that was detached, or call backward "
            "before"
        )
        yield Refusal(node, sentence, way_out, needs_gradient=False)
    elif leaf.requires_grad and leaf.grad is not None:
        yield from _find_refusals_of_grad(snap, node, leaf, snap.tensor(leaf.grad))


def _find_refusals_of_grad(
    snap: Snapshot, node: NodeRecord, leaf: TensorRecord, grad: TensorRecord
) -> Iterator[Refusal]:
    """Yield why a gradient cannot be added in place to the `.grad` that is there."""
    label = snap.grad_label(leaf.id)
    spec = next(iter(node.gradient_specs), None)
    reason = ""
    if grad.version is None:
        reason = gettext("{grad} is an inference tensor, and cannot be added to", grad=label)
    elif grad.stride is None:
        return  # a sparse one is not added to in place
    elif grad.elements_per_cell() > 1:
        reason = gettext(
            "{grad} is expanded: several of its elements are one cell, which cannot be added to "
            "in place",
            grad=label,
        )
    # The other way round than on an edge: it is added in place, so it has to fit into what is there.
    elif spec is not None and grad.shape is not None and not _can_expand(spec.shape, grad.shape):
        reason = gettext(
            "{grad} has shape {shape}, to which a gradient of shape {wanted} cannot be added",
            grad=label,
            shape=format_shape(grad.shape),
            wanted=format_shape(spec.shape),
        )
    elif spec is not None and _rank_dtype(spec.dtype) > _rank_dtype(grad.dtype):
        reason = gettext(
            "{grad} is of dtype {dtype}, to which a gradient of {wanted} cannot be added in place",
            grad=label,
            dtype=short_dtype(grad.dtype),
            wanted=spec.dtype,
        )
    if reason:
        yield Refusal(node, reason, gettext("set it to None before backward"))


def _rank_dtype(dtype: str) -> int:
    """Return a number for the kind: what is of a higher one cannot be stored in a lower one."""
    name = short_dtype(dtype)
    if name.startswith("complex"):
        return 3
    if "float" in name:
        return 2
    if name == "bool":
        return 0
    return 1


def _advise_new_tensor() -> str:
    return gettext("compute a new tensor instead of giving this one other data")
