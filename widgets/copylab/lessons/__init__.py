"""The predictions and exercises of the lessons, one module for each lesson that has some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..quiz.exercises import Exercise


def task(
    key: str, says: str, *, start: str, solution: str, wrong: Mapping[str, str], given: str = "", **more: Any
) -> Callable[[Callable[..., Any]], Exercise]:
    """Make an exercise of the function that checks it; `given` stands before start, solution and each wrong answer."""
    more |= {
        "start": given + start,
        "solution": given + solution,
        "wrong": {given + c: told for c, told in wrong.items()},
    }
    return lambda check: Exercise(key, says, check=check, **more)
