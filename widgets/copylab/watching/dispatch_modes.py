"""Dispatch modes of PyTorch's, through which a watch hears of every operation of a thread.

Neither the compiler nor other threads notice them. Source: `torch.utils._python_dispatch`.
"""

from __future__ import annotations

import functools
from importlib import import_module
from types import ModuleType
from typing import Any


def _dispatch_module() -> ModuleType:
    return import_module("torch.utils._python_dispatch")


@functools.cache
def get_quiet_mode_class() -> Any:
    """Return the base class of modes that leave the compiler alone."""

    class QuietMode(_dispatch_module().TorchDispatchMode):  # type: ignore[misc]
        is_of_watch = True  # for `viz/read/probe.py`

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # or the compiler is loaded, and asked again for each operation

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # what is compiled stays compiled

    return QuietMode


def push_mode(mode: Any) -> None:
    """Put a mode on this thread's stack.

    Not `with mode`: that sets flags for all threads at once, which the next thread to end would set
    back.
    """
    _dispatch_module()._push_mode(mode)


def push_mode_below(mode: Any) -> None:
    """Put a mode below the others of this thread's stack."""
    dispatch = _dispatch_module()
    modes_above = []
    while dispatch._get_current_dispatch_mode_stack():
        modes_above.append(dispatch._pop_mode())
    for pushed_mode in (mode, *reversed(modes_above)):
        dispatch._push_mode(pushed_mode)


def remove_mode(mode: Any) -> None:
    """Take a mode off this thread's stack, below modes of the program that last longer."""
    dispatch = _dispatch_module()
    if not any(entered is mode for entered in dispatch._get_current_dispatch_mode_stack()):
        # A block of the program's own that began before and ended inside has taken the top of the
        # stack, which was ours. Its own mode is left, and is taken here.
        if dispatch._get_current_dispatch_mode_stack():
            dispatch._pop_mode()
        return
    modes_above = []
    while (top := dispatch._pop_mode()) is not mode:
        modes_above.append(top)
    for above in reversed(modes_above):
        dispatch._push_mode(above)
