"""What tensors and nodes do not say of themselves: who shares a version counter, which object is which, what is hidden.

torch has no question for a shared counter. It can be found all the same: give every tensor's
counter a number of its own; a tensor that shows such a number before its turn shares
the counter of the one that wrote it. Then the old numbers are put back. No view's
grad_fn is read in between, so torch has no occasion to rebuild one.
`torch._C._autograd._unsafe_set_version_counter` is what torch itself uses to restore versions.

What a look cannot see into, and what may make backward raise or compute something else, is told, so that nothing is
promised: code of the user's that runs in backward, operations that refuse some values, and hooks. torch does not say
on which nodes hooks hang; whether there are any in the process can be found.
"""

from __future__ import annotations

import gc
import itertools
import re
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, cast

from ...graph import AutogradMeta, NodeHooks
from ...nn import Module
from ..wording import gettext, ngettext, short_node_name

_FIRST, _ROOM = 1 << 30, 1 << 10
"""The numbers written: far above any true version, and so far apart that writes of other threads can be told."""
_SETTLE = 50e-6
_lock = threading.Lock()


def version_of(tensor: Any) -> int | None:
    """The tensor's version; None for inference tensors, which have no counter."""
    try:
        return int(tensor._version)
    except (RuntimeError, AttributeError):
        return None


def find_counter_sharers(tensors: Sequence[Any]) -> list[int]:
    """For each tensor of an engine the index of the first one with the same counter.

    Every tensor must have a counter. When it returns all versions are as before, plus what other threads wrote.
    """
    if len(tensors) < 2:
        return list(range(len(tensors)))
    write = _version_writer(sys.modules[engine_name(tensors[0])])
    first: list[int] = []
    before: dict[int, int] = {}
    # Inside, as good as no other thread gets a turn: a write of theirs must not be lost when versions are put back. The
    # interpreter lets a thread run for some milliseconds from when its turn begins, far more than is needed here. What
    # works outside of the interpreter can still write: a small operation that has just begun there is given the time to
    # end, and later writes are carried over. One that the system stopped midway and lets go on in the microsecond between
    # reading a version and putting it back is not counted; no lock of ours could prevent that.
    with _lock:
        if threading.active_count() > 1:
            time.sleep(0)  # a new turn begins
            until = time.perf_counter() + _SETTLE
            while time.perf_counter() < until:
                pass
        try:
            for index, tensor in enumerate(tensors):
                version = version_of(tensor) or 0
                if version >= _FIRST:  # one of those before has marked this counter
                    first.append((version - _FIRST) // _ROOM)
                else:
                    write(tensor, _FIRST + index * _ROOM)
                    before[index] = version
                    first.append(index)
        finally:
            for index, version in before.items():
                # What is more than the number of its own came from elsewhere.
                more = (version_of(tensors[index]) or 0) % _ROOM
                write(tensors[index], version + more)
    return first


def _version_writer(engine: Any) -> Callable[[Any, int], None]:
    write = engine._C._autograd._unsafe_set_version_counter
    try:
        write((), ())
    except (
        TypeError
    ):  # as in 2.3 and 2.6: a tensor and a number, where later ones take tuples of them
        return cast("Callable[[Any, int], None]", write)
    return lambda tensor, version: write((tensor,), (version,))


def engine_name(tensor: Any) -> str:
    """The name of the module that a tensor's operations come from: "torch", "tinytorch"."""
    for kind in type(tensor).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("torch", "tinytorch"):
            return root
    return type(tensor).__module__.partition(".")[0]


def is_tensor(thing: object) -> bool:
    """Whether `thing` is a tensor of an engine that can be read (tinytorch, torch)."""
    # Asking the class, not the object, runs no code of the user's but for that of a metaclass.
    kind = type(thing)
    try:
        return (  # written out: every attribute of a model is asked
            hasattr(kind, "untyped_storage")
            and hasattr(kind, "storage_offset")
            and hasattr(kind, "grad_fn")
            and hasattr(kind, "_version")
        )
    except Exception:  # noqa: BLE001 - and that may raise anything
        return False


def inner_tensors(tensor: Any) -> list[tuple[str, Any]]:
    """Attribute and tensor of those that a subclass stands for, as it says itself; none for most."""
    try:
        found = [(name, getattr(tensor, name)) for name in tensor.__tensor_flatten__()[0]]
    except Exception:  # noqa: BLE001 - most have no such method, and it is the subclass's own code
        return []
    return [(name, value) for name, value in found if is_tensor(value)]


def is_number(tensor: Any, raw: Any) -> bool:
    """Whether a saved 0-d tensor is a number of Python's that the engine wrapped, which no other code can write to.

    tinytorch says so. torch does not; but a wrapped number never decides the
    dtype of a result, as a tensor does.
    """
    engine = sys.modules.get(engine_name(tensor))
    if getattr_or_none(raw, "is_number"):
        return True
    smaller = {
        "torch.float64": "float32",
        "torch.int64": "int8",
        "torch.complex128": "complex64",
    }.get(str(tensor.dtype))
    if engine is None or smaller is None:
        return False
    kind = getattr(engine, smaller)
    return bool(engine.result_type(tensor, engine.zeros((), dtype=kind)) == kind)


def disable_overrides() -> ExitStack:
    """A context in which no subclass and no mode of torch is asked, as far as this torch can do that.

    Without torch in the process, or in one that lacks the switches, it does nothing.
    """
    stack = ExitStack()
    for module, switch in (
        ("torch._C", "DisableTorchFunction"),
        ("torch.utils._python_dispatch", "_disable_current_modes"),
    ):
        make: Any = getattr(sys.modules.get(module), switch, None)
        if make is not None:
            stack.enter_context(make())
    return stack


def getattr_or_none(thing: Any, attribute: str) -> Any:
    """The attribute, or None where there is none or asking for it raises."""
    try:
        return getattr(thing, attribute, None)
    except Exception:  # noqa: BLE001 - what a subclass or a node raises is no reason to show nothing
        return None


_serials: dict[int, tuple[weakref.ref, int]] = {}
_count = itertools.count(1)


def identity_key(thing: object) -> tuple[str, int]:
    """A key that is equal for two looks at one living object, and for nothing else."""
    address = id(thing)
    known = _serials.get(address)
    if known is not None and known[0]() is thing:
        return ("object", known[1])
    try:
        reference = weakref.ref(thing, lambda gone: _forget(address, gone))
    except TypeError:  # no weak references: the address is the best there is
        return ("address", address)
    number = next(_count)
    _serials[address] = (reference, number)
    return ("object", number)


def _forget(address: int, reference: weakref.ref) -> None:
    # A new object may have taken the address before this callback ran.
    known = _serials.get(address)
    if known is not None and known[0] is reference:
        del _serials[address]


# -- what is hidden ----------------------------------------------------------------

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


def doubts_of_node(node: Any) -> Iterator[str]:
    """Why it is not known what a node does in backward."""
    name, kind = short_node_name(node.name()), type(node)
    if hasattr(kind, "_forward_cls"):
        yield gettext(
            "{node} is a Function in Python, whose backward may raise and compute what it likes",
            node=name,
        )
    elif kind.__name__ == "CppFunction":
        yield gettext("{node} is of a kind that shows nothing of what it saved", node=name)
    elif name == "CopySlices":
        yield gettext(
            "{node} does not show what the operation that wrote through a view saved", node=name
        )
    elif _REFUSES.search(name) or (
        name in _NOT_BELOW_0 and (getattr_or_none(node, _NOT_BELOW_0[name]) or 0) < 0
    ):
        yield gettext("{node} refuses some values, inputs or modes", node=name)
    before = getattr_or_none(getattr_or_none(node, "variable"), "_meta")
    if _exchanged(node) or getattr_or_none(before, "exchanged"):
        yield gettext(
            "a leaf was given another shape by .data, and gradients of the old one are expected"
        )
    hooks = getattr_or_none(node, "_hooks")
    own = [hooks.pre, hooks.post, *(each for _, each in hooks.on_output)] if hooks else []
    own += [before.on_grad, before.after_accumulate] if before else []
    if any(own):
        yield gettext("{node} has a hook, which may raise or change the gradient", node=name)


def _exchanged(node: Any) -> bool:
    """Whether the node of a leaf expects a gradient of another shape than the leaf has, as far as torch tells both."""
    expected = [
        getattr_or_none(one, "shape") for one in getattr_or_none(node, "_input_metadata") or ()
    ]
    now = getattr_or_none(getattr_or_none(node, "variable"), "shape")
    return now is not None and any(
        shape is not None and list(shape) != list(now) for shape in expected
    )


def doubts_of_process(engine: Any) -> Iterator[str]:
    """Why it is not known what any backward does now."""
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
    if (
        getattr_or_none(getattr_or_none(engine, "distributed"), "is_initialized")
        and engine.distributed.is_initialized()
    ):
        yield gettext(
            "torch.distributed is at work, whose own hooks may raise or change the gradient"
        )
    handles = getattr_or_none(
        getattr_or_none(getattr_or_none(engine, "utils"), "hooks"), "RemovableHandle"
    )
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
    """How many hooks are registered that belong to no module, no optimizer and not to tinytorch: on torch's graphs."""
    if upto != _Hooks.upto:
        things = gc.get_objects()
        owners = (engine.nn.Module, engine.optim.Optimizer, Module, AutogradMeta, NodeHooks)
        owned: set[int] = set()
        for thing in things:
            if issubclass(type(thing), owners):
                # Python 3.13 keeps attributes inside of the object, where `get_referents` of its dict does not see them.
                attributes = getattr(thing, "__dict__", {}).values()
                owned.update(map(id, (*attributes, *gc.get_referents(thing))))
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
