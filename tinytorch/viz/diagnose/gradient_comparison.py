"""The gradient as backward computes it, beside the one from the values as they were when saved.

Both are computed, by a backward that adds to no `.grad` and frees nothing. It runs formulas of the
engine alone: where hooks, Functions in Python or checkpoints would run, nothing is computed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from types import ModuleType
from typing import Any, NamedTuple

from ..read import (
    NodeRecord,
    RandomStates,
    RetainedGradients,
    engine_name,
    find_graph_nodes,
    find_hooks,
    find_leaves,
    is_observed,
    mark_look,
    read_snapshot,
)
from .backward_findings import find_findings
from .dry_run import silence_warnings

THREADS_ON_SAVED_VALUES: set[int] = set()
"""In these, what a watch keeps for a node gives out the values as they were when saved."""
_MOST_ELEMENTS = 6
"""Gradients of more numbers are not compared: they could not be read at a glance."""
_MOST_LEAVES = 3
_MOST_COMPARED = 10_000
"""Of more elements in all, it is not asked whether any gradient is another one."""
_ROUNDINGS = 64
_LARGEST_ROUNDING = 0.01
"""Two gradients are the same that differ by so many roundings of the largest number in them."""
_EPSILONS = {"float64": 2.0**-52, "float32": 2.0**-23, "bfloat16": 2.0**-7, "float16": 2.0**-10}
_MOST_NODES = 200
"""Of a larger graph nothing is computed. Two backwards of one that long take about 4 ms."""


class GradientPair(NamedTuple):
    """The gradient of one leaf, computed in two ways."""

    leaf: Any
    """The leaf tensor."""
    now: str
    """Its gradient as numbers: "[22, 24, 26]"."""
    from_saved: str
    """The same from the values as they were when saved."""


class GradientComparison(NamedTuple):
    """The gradients of the leaves behind a root, computed in two ways."""

    pairs: tuple[GradientPair, ...] = ()
    """Small ones that differ, a few of them."""
    is_same: bool = False
    """True if none differs, but for rounding: what was written since does not matter for this backward."""


def compare_gradients(
    root: Any, find_retained: Callable[[ModuleType], RetainedGradients] = RetainedGradients
) -> GradientComparison:
    """Compare the gradients of leaves with those from the values as they were when saved.

    root: a scalar that backward begins at. find_retained: finds the results whose `.grad` is kept. Only a graph all of whose saved tensors a watch has
    compared is computed, and only where nothing but a write that no counter saw speaks against it.
    """
    # A mode or a profiler of the program's would see what is computed.
    if is_observed(root):
        return GradientComparison()
    leaves = find_leaves(root, _MOST_NODES)
    has_all = sum(leaf.numel() for leaf in leaves) <= _MOST_COMPARED
    # Of large ones neither numbers are shown, nor is it said that all are the same.
    if not has_all:
        leaves = [leaf for leaf in leaves if leaf.numel() <= _MOST_ELEMENTS]
    # Before anything is read: of a large model, that takes a second.
    if not leaves:
        return GradientComparison()
    engine = sys.modules[engine_name(root)]
    snap = read_snapshot((root,), {})
    tensor = snap.tensors[0]
    nodes = snap.nodes_behind(tensor)
    kinds = {finding.kind for finding in find_findings(snap, tensor, nodes, {})}
    if kinds != {"unseen write"} or _runs_code_of_the_program(root, nodes):
        return GradientComparison()
    # `retain_grad` may have been called before the watch began.
    retained_gradients = find_retained(engine)
    if not retained_gradients.can_restore(root):
        return GradientComparison()
    try:
        now = _compute_gradients(root, leaves, on_saved_values=False)
        from_saved = _compute_gradients(root, leaves, on_saved_values=True)
    finally:
        retained_gradients.restore()
    # `v.set_(other)` gives a leaf another node than that in the graph, and so no gradient here.
    if None in now or None in from_saved:
        return GradientComparison()
    pairs = []
    for leaf, values, saved_values in zip(leaves, now, from_saved, strict=True):
        if leaf.numel() > _MOST_ELEMENTS:
            continue
        # 8 only where 4 show no difference: numbers are compared at a glance.
        for digits in (4, 8):
            texts = _format_numbers(values, digits), _format_numbers(saved_values, digits)
            if texts[0] != texts[1]:
                pairs.append(GradientPair(leaf, *texts))
                break
    is_same = has_all and _are_same_but_rounding(now, from_saved, leaves)
    return GradientComparison(() if is_same else tuple(pairs[:_MOST_LEAVES]), is_same)


def run_formulas(root: Any, nodes: Sequence[NodeRecord]) -> str | None:
    """Run the formulas behind a root: return the error that they raise, empty if none.

    None where that is not known: where more than formulas of the engine would run, where some would
    be left out, or where the graph is too large. nodes: those of its graph.
    """
    leaves = find_leaves(root, _MOST_NODES)
    is_small = 0 < sum(leaf.numel() for leaf in leaves) <= _MOST_COMPARED
    # To differentiate by leaves, PyTorch visits only nodes that lead to one.
    leads_on = all(node.variable is not None or node.ends for node in nodes)
    if not is_small or not leads_on or is_observed(root) or any(node.doubts for node in nodes):
        return None
    if _runs_code_of_the_program(root, nodes):
        return None
    engine = sys.modules[engine_name(root)]
    retained_gradients = RetainedGradients(engine)
    if not retained_gradients.can_restore(root):
        return None
    random_states = RandomStates(engine)
    try:
        grads = _compute_gradients(root, leaves, on_saved_values=False)
    except Exception as error:  # noqa: BLE001 - a warning, too, where the program has it raised
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0].removesuffix('.')}"
    finally:
        random_states.restore()
        retained_gradients.restore()
    # As in `compare_gradients`: a leaf may have another node by now than the graph knows.
    if None in grads:
        return None
    return ""


def _runs_code_of_the_program(root: Any, nodes: Sequence[NodeRecord]) -> bool:
    """Return True if code would run that acts, or that reads what is not given out as it was saved."""
    for node in nodes:
        if node.function is not None or any(saved.state == "packed" for saved in node.saved):
            return True
        if any(saved.tensor and saved.version is None for saved in node.saved):
            return True  # an attribute of a Function, or what a hook unpacks
    return bool(find_hooks(sys.modules[engine_name(root)], find_graph_nodes(root)))


def _compute_gradients(root: Any, leaves: list[Any], *, on_saved_values: bool) -> list[Any]:
    """Return the gradients of leaves as nested lists, None for one that is given none."""
    engine: Any = sys.modules[engine_name(root)]
    thread = threading.get_ident()
    if on_saved_values:
        THREADS_ON_SAVED_VALUES.add(thread)
    try:
        # A watch that is on must take these two backwards for no reads of the program's.
        with mark_look(), silence_warnings():
            grads = engine.autograd.grad(root, leaves, retain_graph=True, allow_unused=True)
            return [None if grad is None else grad.tolist() for grad in grads]
    finally:
        THREADS_ON_SAVED_VALUES.discard(thread)


def _are_same_but_rounding(now: list[Any], from_saved: list[Any], leaves: list[Any]) -> bool:
    """Return True if two lists of gradients differ by no more than rounding.

    Softmax is the same for values that are all larger by 1, and computes it with other roundings.
    """
    numbers, other_numbers = list(_list_numbers(now)), list(_list_numbers(from_saved))
    largest = max(
        (abs(number) for number in (*numbers, *other_numbers) if isfinite(abs(number))), default=0.0
    )
    epsilon = max(_EPSILONS.get(str(leaf.dtype).rpartition(".")[2], 0.0) for leaf in leaves)
    tolerance = min(_ROUNDINGS * epsilon, _LARGEST_ROUNDING) * largest
    for number, other in zip(numbers, other_numbers, strict=True):
        is_close = number == other or abs(number - other) <= tolerance
        are_nan = number != number and other != other
        if not is_close and not are_nan:
            return False
    return True


def _list_numbers(values: Any) -> Iterator[Any]:
    """Yield the numbers of nested lists."""
    if isinstance(values, list):
        for value in values:
            yield from _list_numbers(value)
    else:
        yield values


def _format_numbers(values: Any, digits: int) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_format_numbers(value, digits) for value in values)}]"
    if isinstance(values, float):
        return f"{values:.{digits}g}"
    return str(values)
