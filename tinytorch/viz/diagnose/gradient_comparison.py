"""The gradient as backward computes it, beside the one from the values that were saved.

Both are computed, by a backward that adds to no `.grad` and frees nothing. It runs formulas of the
engine alone: where hooks, Functions in Python or checkpoints would run, nothing is computed.
"""

from __future__ import annotations

import sys
import threading
import warnings
from typing import Any, NamedTuple

from ..read import RetainedGradients, engine_name, find_leaves, read_snapshot
from .backward_findings import find_findings
from .dry_run import THREADS_IN_DRY_RUN

THREADS_ON_SAVED_VALUES: set[int] = set()
"""In these, what a watch keeps for a node gives out the values that were saved."""
_MOST_ELEMENTS = 6
"""Gradients of more numbers are not compared: they could not be read at a glance."""
_MOST_LEAVES = 3
_MOST_COMPARED = 10_000
"""Of more elements in all, it is not asked whether any gradient is another one."""
_MOST_NODES = 200
"""Of a larger graph nothing is computed. Two backwards of one that long take about 4 ms."""


class GradientPair(NamedTuple):
    """The gradient of one leaf, computed in two ways."""

    leaf: Any
    """The leaf tensor."""
    now: str
    """Its gradient as numbers: "[22, 24, 26]"."""
    from_saved: str
    """The same from the values that were saved."""


class GradientComparison(NamedTuple):
    """The gradients of the leaves behind a root, computed in two ways."""

    pairs: tuple[GradientPair, ...] = ()
    """Small ones that differ, a few of them."""
    is_same: bool = False
    """True if none differs at all: what was written since does not matter for this backward."""


def compare_gradients(root: Any) -> GradientComparison:
    """Compare the gradients of leaves with those that the saved values would give.

    root: a scalar that backward begins at. Only a graph all of whose saved tensors a watch has
    compared is computed, and only where nothing but a write that no counter saw speaks against it.
    """
    leaves = find_leaves(root, _MOST_NODES)
    has_all = sum(leaf.numel() for leaf in leaves) <= _MOST_COMPARED
    if not has_all:
        leaves = [leaf for leaf in leaves if leaf.numel() <= _MOST_ELEMENTS]
    # Before anything is read: of a large model, that takes a second.
    if not leaves:
        return GradientComparison()
    snap = read_snapshot((root,), {})
    tensor = snap.tensors[0]
    kinds = {finding.kind for finding in find_findings(snap, tensor, snap.nodes_behind(tensor), {})}
    if kinds != {"unseen write"}:
        return GradientComparison()
    # `retain_grad` may have been called before the watch began.
    retained_gradients = RetainedGradients(sys.modules[engine_name(root)])
    if not retained_gradients.can_restore(root):
        return GradientComparison()
    try:
        now = _differentiate(root, leaves, on_saved_values=False)
        from_saved = _differentiate(root, leaves, on_saved_values=True)
    finally:
        retained_gradients.restore()
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
    # As text: nan is not equal to nan.
    is_same = has_all and repr(_drop_signs_of_zeros(now)) == repr(_drop_signs_of_zeros(from_saved))
    return GradientComparison(tuple(pairs[:_MOST_LEAVES]), is_same)


def _differentiate(root: Any, leaves: list[Any], *, on_saved_values: bool) -> list[Any]:
    """Return the gradients of leaves as nested lists, None for one that gets none."""
    engine: Any = sys.modules[engine_name(root)]
    thread = threading.get_ident()
    THREADS_IN_DRY_RUN.add(thread)
    if on_saved_values:
        THREADS_ON_SAVED_VALUES.add(thread)
    try:
        with warnings.catch_warnings(action="ignore"):
            grads = engine.autograd.grad(root, leaves, retain_graph=True, allow_unused=True)
            return [None if grad is None else grad.tolist() for grad in grads]
    finally:
        THREADS_ON_SAVED_VALUES.discard(thread)
        THREADS_IN_DRY_RUN.discard(thread)


def _drop_signs_of_zeros(values: Any) -> Any:
    """Return nested lists with 0.0 for -0.0, which is no other gradient."""
    if isinstance(values, list):
        return [_drop_signs_of_zeros(value) for value in values]
    return values + 0.0 if isinstance(values, float) else values


def _format_numbers(values: Any, digits: int) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_format_numbers(value, digits) for value in values)}]"
    return f"{values:.{digits}g}" if isinstance(values, float) else str(values)
