"""The names under which the callers of backward know the memory of a saved tensor."""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from itertools import islice
from types import FrameType
from typing import Any

from tinytorch.viz import choose_objects_of_program, collect_tensors_by_name

from .places import iterate_callers
from .watched_memory import memory_span

_MAX_FRAMES = 30
_MAX_NAMES = 6
_UNSHARED_REFERENCES = 3
"""References to `f_locals` if the program has not asked for it: the frame's and two of ours."""


def find_aliases(saved: Any, frame: FrameType | None) -> dict[str, Any]:
    """Return the tensors over a saved tensor's memory by their names in the calling frames.

    The saved tensor itself comes first. A name means what it means on the line that calls backward:
    a caller's variable that an inner function hides is followed by where it is, as in `steps`.
    """
    tensors: dict[int, tuple[str, Any]] = {}
    hidden: set[str] = set()
    start, stop = memory_span(saved)
    for caller in islice(iterate_callers(frame), _MAX_FRAMES if stop else 0):
        names = copy_locals(caller)
        code = caller.f_code
        # Of a function: `f_locals` is a copy of its variables.
        is_function = code.co_flags & CO_OPTIMIZED
        scope = f"in {code.co_name}" if is_function else "(global)"
        for path, tensor in collect_tensors_by_name(names, choose_objects_of_program(caller)):
            low, high = memory_span(tensor)
            if low < stop and start < high:
                name, dot, rest = path.partition(".")
                label = f"{name} {scope}{dot}{rest}" if name in hidden else path
                tensors.setdefault(id(tensor), (label, tensor))
        hidden.update(names, code.co_varnames, code.co_cellvars, code.co_freevars)
    by_name: dict[str, Any] = {}
    for label, tensor in sorted(tensors.values(), key=lambda entry: not _is_same(entry[1], saved)):
        by_name.setdefault(label, tensor)
    return dict(list(by_name.items())[:_MAX_NAMES])


def copy_locals(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a frame by name."""
    local_names = frame.f_locals
    names = dict(local_names)
    # Before Python 3.13, the copy that Python makes stays with the frame as long as the function
    # runs, and would keep alive what the program deletes meanwhile. Unless the program has called
    # `locals()` itself, it is emptied.
    if (
        frame.f_code.co_flags & CO_OPTIMIZED
        and sys.version_info < (3, 13)
        and sys.getrefcount(local_names) == _UNSHARED_REFERENCES
    ):
        local_names.clear()
    return names


def _is_same(tensor: Any, saved: Any) -> bool:
    """Return True for the saved tensor, or another alias of the same elements at the same version."""
    # A node holds a detached alias of its own result, so identity alone is not enough.
    return tensor is saved or (
        memory_span(tensor) == memory_span(saved)
        and tensor.shape == saved.shape
        and tensor._version == saved._version
    )
