"""Which tensors share a version counter, found by writing to the counters.

torch has no question for a shared counter. It can be found all the same: give the counter of each
tensor a number of its own; a tensor that shows such a number before its turn shares the counter of
the one that wrote it. Then the old numbers are put back. No view's grad_fn is read in between, so
torch has no occasion to rebuild one.

`torch._C._autograd._unsafe_set_version_counter` is what torch itself uses to restore versions.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from .probe import engine_name, version_of

_FIRST_MARK = 1 << 30
"""The first number that is written: far above any true version."""
_MARK_DISTANCE = 1 << 10
"""Distance of the numbers: what exceeds a multiple of it, another thread has counted."""
_SECONDS_TO_SETTLE = 50e-6
"""Time for an operation that another thread has just begun to end."""
_lock = threading.Lock()


def find_counter_sharers(tensors: Sequence[Any]) -> list[int]:
    """Return, for each tensor of one engine, the index of the first one with the same counter.

    Every tensor must have a counter. Afterwards all versions are as before, plus what other threads
    counted meanwhile.
    """
    if len(tensors) < 2:
        return list(range(len(tensors)))
    set_version = get_version_setter(sys.modules[engine_name(tensors[0])])
    first_sharers: list[int] = []
    earlier_versions: dict[int, int] = {}
    # Inside, as good as no other thread gets a turn: a write of theirs must not be lost when
    # versions are put back. The interpreter lets a thread run for some milliseconds from when its
    # turn begins, far more than is needed here. What works outside of the interpreter can still
    # write: a small operation that has just begun there is given the time to end, and later writes
    # are carried over. One that the system stopped midway and lets go on in the microsecond between
    # reading a version and putting it back is not counted; no lock of ours could prevent that.
    with _lock:
        _begin_new_turn()
        try:
            for index, tensor in enumerate(tensors):
                version = version_of(tensor) or 0
                if version >= _FIRST_MARK:
                    # One of the tensors before has marked this counter.
                    first_sharers.append((version - _FIRST_MARK) // _MARK_DISTANCE)
                else:
                    set_version(tensor, _FIRST_MARK + index * _MARK_DISTANCE)
                    earlier_versions[index] = version
                    first_sharers.append(index)
        finally:
            for index, version in earlier_versions.items():
                written_meanwhile = (version_of(tensors[index]) or 0) % _MARK_DISTANCE
                set_version(tensors[index], version + written_meanwhile)
    return first_sharers


def _begin_new_turn() -> None:
    """Let other threads run first, then wait until what they began outside of Python has ended."""
    if threading.active_count() > 1:
        time.sleep(0)
        until = time.perf_counter() + _SECONDS_TO_SETTLE
        # Not sleep(): that would give another thread the turn.
        while time.perf_counter() < until:
            pass


def get_version_setter(engine: Any) -> Callable[[Any, int], None]:
    """Return a function that sets a tensor's version, for any release of torch."""
    set_version = engine._C._autograd._unsafe_set_version_counter
    try:
        set_version((), ())
    except TypeError:
        # torch 2.3 and 2.6 take a tensor and a number, later releases tuples of them.
        return cast("Callable[[Any, int], None]", set_version)
    return lambda tensor, version: set_version((tensor,), (version,))
