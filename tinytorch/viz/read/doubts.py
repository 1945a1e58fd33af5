"""What a look cannot see into, and what may make backward raise or compute something else.

It is told, so that nothing is promised: code of the user's that runs in backward, operations that refuse some values,
and hooks. torch does not say on which nodes hooks hang; whether there are any in the process can be found.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from ..catalogue import gettext, ngettext
from ..labels import short
from .probe import quietly

_REFUSES = re.compile(
    r"^_?(Linalg(?!VectorNorm|Cross)|Svd|Eig|Lu|Qr|Cholesky|Triangular|Ormqr|Householder|Igamma|SpecialZeta|Geqrf|Unique"
    r"|CudnnRnn|MiopenRnn|Warn|StandardGammaGrad|(Pdist|Cdist|EmbeddingBag|EmbeddingBagDense)BackwardBackward)"
)
"""Kinds of nodes that raise for some values, for some of their inputs, or in some mode (torch's derivatives.yaml)."""
_NOT_BELOW_0 = {
    "LeakyReluBackward1": "_saved_negative_slope",
    "EluBackward1": "_saved_alpha",
    "CeluBackward1": "_saved_alpha",
    "RreluWithNoiseBackward1": "_saved_lower",
}
"""Operations in place, whose backward raises for a number below 0."""


def of_node(node: Any) -> Iterator[str]:
    """Why it is not known what a node does in backward."""
    name, kind = short(node.name()), type(node)
    if hasattr(kind, "_forward_cls"):
        yield gettext("{node} is a Function in Python, whose backward may raise and compute what it likes", node=name)
    elif kind.__name__ == "CppFunction":
        yield gettext("{node} is of a kind that shows nothing of what it saved", node=name)
    elif name == "CopySlices":
        yield gettext("{node} does not show what the operation that wrote through a view saved", node=name)
    elif _REFUSES.search(name) or (name in _NOT_BELOW_0 and (quietly(node, _NOT_BELOW_0[name]) or 0) < 0):
        yield gettext("{node} refuses some values, inputs or modes", node=name)
    before = quietly(quietly(node, "variable"), "_meta")
    if _exchanged(node) or quietly(before, "exchanged"):
        yield gettext("a leaf was given another shape by .data, and gradients of the old one are expected")
    hooks = quietly(node, "_hooks")
    own = [hooks.pre, hooks.post, *(each for _, each in hooks.on_output)] if hooks else []
    own += [before.on_grad, before.after_accumulate] if before else []
    if any(own):
        yield gettext("{node} has a hook, which may raise or change the gradient", node=name)


def _exchanged(node: Any) -> bool:
    """Whether the node of a leaf expects a gradient of another shape than the leaf has, as far as torch tells both."""
    expected = [quietly(one, "shape") for one in quietly(node, "_input_metadata") or ()]
    now = quietly(quietly(node, "variable"), "shape")
    return now is not None and any(shape is not None and list(shape) != list(now) for shape in expected)


def of_process(engine: Any) -> Iterator[str]:
    """Why it is not known what any backward does now."""
    if quietly(engine, "is_anomaly_enabled") and engine.is_anomaly_enabled() and engine.is_anomaly_check_nan_enabled():
        yield gettext("anomaly mode is on, which raises where a gradient is nan")
    if quietly(engine, "are_deterministic_algorithms_enabled") and engine.are_deterministic_algorithms_enabled():
        yield gettext("deterministic algorithms are demanded, and some operations have none")
    if quietly(quietly(engine, "distributed"), "is_initialized") and engine.distributed.is_initialized():
        yield gettext("torch.distributed is at work, whose own hooks may raise or change the gradient")
    handles = quietly(quietly(quietly(engine, "utils"), "hooks"), "RemovableHandle")
    count = _hooks(engine, handles.next_id) if hasattr(handles, "next_id") else 0
    if count:
        yield ngettext(
            "{number} hook on gradients is registered in this process, and torch does not say on what; it may raise "
            "or change the gradient",
            "{number} hooks on gradients are registered in this process, and torch does not say on what; they may "
            "raise or change the gradient",
            count,
        )


class _Hooks:
    """The hooks that were found up to a number: each new one has a higher number, and so nothing is looked for twice."""

    upto = 0
    found: tuple[tuple[weakref.ref[OrderedDict], int], ...] = ()


def _hooks(engine: Any, upto: int) -> int:
    """How many hooks are registered that belong to no module and no optimizer, whose hooks are no part of the graph."""
    if upto != _Hooks.upto:
        things = gc.get_objects()
        owners = (engine.nn.Module, engine.optim.Optimizer)
        owned = {id(value) for thing in things if issubclass(type(thing), owners) for value in vars(thing).values()}
        _Hooks.found += tuple(
            (weakref.ref(thing), number)
            for thing in things
            if type(thing) is OrderedDict and id(thing) not in owned
            for number, hook in list(thing.items())
            if type(number) is int and _Hooks.upto <= number < upto and callable(hook)
        )
        _Hooks.upto = upto
    _Hooks.found = tuple(one for one in _Hooks.found if one[1] in (one[0]() or ()))
    return len(_Hooks.found)
