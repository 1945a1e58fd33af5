"""The predictions and exercises of the lessons, one module for each lesson that has some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..quiz import Exercise
from ..wording import gettext_noop

_TITLES = (gettext_noop("Exercise 1"), gettext_noop("Exercise 2"), gettext_noop("Exercise 3"))
_keys_of_lesson: dict[str, list[str]] = {}


def task(
    key: str,
    says: str,
    *,
    start: str,
    solution: str,
    wrong: Mapping[str, str],
    given: str = "",
    **more: Any,
) -> Callable[[Callable[..., Any]], Exercise]:
    """Make an exercise of the function that checks it, with its number in the lesson as the title.

    key, says, start, solution, wrong, more: see `Exercise`; `says` is its task.
    given: code in front of start, solution and each wrong answer.
    """
    keys = _keys_of_lesson.setdefault(key.partition("/")[0], [])
    if key not in keys:  # a module that is imported anew declares its exercises again
        keys.append(key)
    if "title" not in more:
        more["title"] = _TITLES[keys.index(key)]
    more |= {
        "start": given + start,
        "solution": given + solution,
        "wrong": {given + code: words for code, words in wrong.items()},
    }
    return lambda check: Exercise(key, says, check=check, **more)
