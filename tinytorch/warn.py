"""Warnings in torch's words, attributed to the user's line."""

from __future__ import annotations

import sys
import warnings

from .naming import type_name

_said: set[str] = set()
_always = False


def set_warn_always(b: bool, /) -> None:
    """Give every time the warnings that torch gives once a process. Source: `torch.set_warn_always`."""
    global _always  # noqa: PLW0603 - torch's switch is one for the process
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type_name(b)}")
    _always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings that come once a process come every time."""
    return _always


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest frame outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tinytorch"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_in_torch(message: str, place: str, once: bool = False) -> None:
    """Warn as torch's C++ side does, which adds where in its sources the warning is raised; `once` a process."""
    if once and not _always:
        if place in _said:
            return
        _said.add(place)
    warn_user(f"{message} (Triggered internally at /__w/pytorch/pytorch/{place}.)")
