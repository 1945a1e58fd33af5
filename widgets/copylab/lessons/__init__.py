"""The predictions and exercises of the lessons, one module for each lesson that has some."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import isgeneratorfunction
from typing import Any

from ..quiz import (
    CheckedFact,
    Exercise,
    Recall,
    find_answered_recall,
    load_notes,
    misconception,
    warn_of_data,
)
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
    lesson = key.partition("/")[0]
    keys = _keys_of_lesson.setdefault(lesson, [])
    if key not in keys:  # a module that is imported anew declares its exercises again
        keys.append(key)
    # By its place among those of the lesson, which are declared in the order in which they are
    # shown.
    if "title" not in more:
        more["title"] = _TITLES[keys.index(key)]
    more |= {
        "start": given + start,
        "solution": given + solution,
        # Each is run as a whole program when the exercise is verified.
        "wrong": {given + code: words for code, words in wrong.items()},
    }
    # Where `.data` is the subject, the lesson says it.
    is_about_data = lesson == "data" or ".data" in more["solution"]

    def make_exercise(check: Callable[..., Any]) -> Exercise:
        # What yields no facts asks for names of methods.
        if isgeneratorfunction(check) and not is_about_data:
            check = _warn_after(check)
        return Exercise(key, says, check=check, **more)

    return make_exercise


def _warn_after(
    check: Callable[..., Iterator[CheckedFact]],
) -> Callable[..., Iterator[CheckedFact]]:
    """Return the check with a word at its end to an answer that is right by way of `.data`."""

    @functools.wraps(check)
    def check_and_warn(*arguments: Any, **variables: Any) -> Iterator[CheckedFact]:
        yield from check(*arguments, **variables)
        yield warn_of_data()

    return check_and_warn


_BELIEFS_TO_RECALL = {
    "assignment": "a view is a copy",
    "clone": "a name is a copy",
    "detach": "clone cuts the graph",
    "data": "detach copies",
    "in_place": "detach has its own counter",
    "view_reshape": "equal numbers are one tensor",
    "copy_": "backward overwrites",
    "stop_gradient": "detach keeps the graph",
    "torch_tensor": "the copy has the gradient",
    "new_tensor": "torch.tensor keeps the history",
    "clone_detach": "a clone copies the graph",
    "beyond": "reshape is a copy",
    "choosing": "shared memory, shared counter",
    "clinic": "indexing is a view",
}
"""By lesson, in the order of the course, the misconception that it opens with where none is open."""


def recall(lesson: str) -> Recall:
    """Return one question of an earlier lesson, to open a lesson with.

    The one that was answered there, if one was. Otherwise it is about a misconception that this
    learner met in an earlier lesson and did not settle; where there is none, about one that the
    lesson builds on. KeyError for an unknown lesson.
    """
    name = _BELIEFS_TO_RECALL[lesson]
    _import_lessons()
    if (answered := find_answered_recall(lesson)) is not None:
        return answered
    # Of a later one, which may have been opened first, the lesson has explained nothing yet.
    earlier = {"start", *itertools.takewhile(lambda key: key != lesson, _BELIEFS_TO_RECALL)}
    for met, note in sorted(load_notes()["misconceptions"].items()):
        origin, _, _ = note.get("in", "").partition("/")
        if note.get("state") != "met" or origin not in earlier:
            continue
        try:
            misconception(met)
        except KeyError:  # of an earlier edition of the course
            continue
        name = met
        break
    return Recall(lesson, name)


def _import_lessons() -> None:
    """Import all lessons: some have made misconceptions for themselves, which later ones recall."""
    for lesson in ("start", *_BELIEFS_TO_RECALL):
        import_module(f"{__name__}.{lesson}")
