"""Reading past what would answer in a tensor's place.

A subclass with `__torch_function__`, or a mode such as FakeTensorMode or an operation counter, is asked by torch
whenever a tensor is: it would see the look, could refuse it or change the answer. torch can be told to leave them
out for a while, and does so itself where it prints a tensor.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any


def undisturbed() -> ExitStack:
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


def quietly(thing: Any, attribute: str) -> Any:
    """The attribute, or None where there is none or asking for it raises."""
    try:
        return getattr(thing, attribute, None)
    except Exception:  # noqa: BLE001 - what a subclass or a node raises is no reason to show nothing
        return None
