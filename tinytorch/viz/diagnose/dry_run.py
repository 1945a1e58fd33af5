"""A backward that changes nothing: `autograd.grad` with the graph retained, asked for by `run=True`.

It runs what a look does not: hooks, Functions in Python, checkpoints. No `.grad` is added to, what
was saved is not freed, and random numbers go on as if it had not been. What a hook of the program
changes is the program's own.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..read import (
    THREADS_IN_LOOK,
    RandomStates,
    RetainedGradients,
    describe_code,
    engine_name,
    find_hooks,
    find_leaves,
    getattr_or_none,
    mark_look,
)

_NEEDS_A_REAL_RUN = ("donated buffers", "incompatible with .grad()")
"""In errors that only this kind of run raises: of compiled backwards, of reentrant checkpoints."""


class RunResult(NamedTuple):
    """Result of a dry run."""

    error: str
    """What it raised; empty if nothing."""
    hooks_not_run: tuple[str, ...]
    """The hooks that it was not seen to call: those on a leaf after its gradient was added, say."""
    sees_hooks: bool
    """False if it ran in other threads, as on a GPU, where calls are not seen."""


def run_backward(root: Any) -> RunResult | None:
    """Return what a backward on `root` does; None if it cannot be run without changing something."""
    # A hook may ask for a run of the backward in which it runs: of the next one, too, for ever.
    if threading.get_ident() in THREADS_IN_LOOK:
        return None
    engine: Any = sys.modules[engine_name(root)]
    leaves = find_leaves(root)
    if not leaves:
        return None  # `grad` wants something to differentiate by
    retained_gradients = RetainedGradients(engine)
    if not retained_gradients.can_restore(root):
        return None
    # A profiler of the program's own is put back afterwards.
    profiler = sys.getprofile()
    called: set[Any] = set()
    error = ""
    random_states = RandomStates(engine)  # a checkpoint draws its numbers again
    try:
        with mark_look(), silence_warnings():
            # Which hooks a backward calls shows when it calls them, and nowhere else.
            sys.setprofile(lambda frame, event, _: called.add(frame.f_code))
            engine.autograd.grad(root, leaves, retain_graph=True, allow_unused=True)
    except Exception as raised:  # noqa: BLE001 - code of the user's runs, and what it raises is asked
        error = f"{type(raised).__name__}: {str(raised).partition(chr(10))[0]}"
    finally:
        sys.setprofile(profiler)
        random_states.restore()
        retained_gradients.restore()
    if any(text in error for text in _NEEDS_A_REAL_RUN):
        return None
    hooks = [*find_hooks(engine), *_find_hooks_after(leaves)]
    not_run = [hook for hook in hooks if getattr_or_none(hook, "__code__") not in called]
    # For all other devices the engine has a thread of its own.
    sees_hooks = {tensor.device.type for tensor in (root, *leaves)} == {"cpu"}
    return RunResult(error, tuple(dict.fromkeys(map(describe_code, not_run))), sees_hooks)


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Show no warning of a dry run; where the program has one raised, backward raises it as well."""
    with warnings.catch_warnings():
        warnings.filters[:] = [
            rule if rule[0] == "error" else ("ignore", *rule[1:]) for rule in warnings.filters
        ]
        warnings.simplefilter("ignore", append=True)
        yield


def _find_hooks_after(leaves: list[Any]) -> Iterator[Any]:
    """Yield the hooks of tinytorch that run once a gradient was added to a leaf."""
    for leaf in leaves:
        hooks = getattr_or_none(getattr_or_none(leaf, "_meta"), "post_accumulate_hooks") or {}
        yield from hooks.values()
        accumulator = getattr_or_none(getattr_or_none(leaf, "_meta"), "accumulator")
        node_hooks = getattr_or_none(accumulator() if accumulator else None, "_hooks")
        if node_hooks:
            yield from (*node_hooks.pre.values(), *node_hooks.post.values())
