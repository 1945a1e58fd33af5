"""Warnings in torch's words, attributed to the user's line."""

from __future__ import annotations

import sys
import warnings

_said: set[str] = set()


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest frame outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tinytorch"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level - 1)


def warn_in_torch(message: str, place: str, once: bool = False) -> None:
    """Warn as torch's C++ side does, which adds where in its sources the warning is raised; `once` a process."""
    if once:
        if message in _said:
            return
        _said.add(message)
    warn_user(f"{message} (Triggered internally at /__w/pytorch/pytorch/{place}.)")
