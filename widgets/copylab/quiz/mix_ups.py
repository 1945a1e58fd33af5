"""Objections to a wrong value or gradient that points to no misconception.

The facts of a question list what the run showed. These say what the answer has in common with it:
the same numbers in another shape, what another name shows, no gradient where one arrived. Each
function takes the run, the wrong answer, and what the question is about. It returns a sentence, or
None where nothing is in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..wording import gettext, gettext_noop
from .answers import format_number, is_same_answer, parse_value
from .evidence import flatten_lists
from .runs import QuizRun


def object_to_value(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Object to wrong numbers of a tensor, or to a wrong value of a plain variable."""
    return _object_to_shape(run.value(x, at), answer, x) or _find_name(run, answer, at)


def object_to_gradient(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Object to a wrong gradient."""
    right = run.gradient(x, at)
    if right is None:
        # The facts say why there is none.
        return None
    if parse_value(answer) is not None:
        return _object_to_shape(right, answer, f"{x}.grad") or _find_name(run, answer, at)
    line = run.history(lambda moment: moment.grads[x], at)[0].line
    return gettext(
        "`{x}` requires grad, and the `backward` on line {line} reached it.", x=x, line=line
    )


def _object_to_shape(right: Any, answer: str, name: str) -> str | None:
    """Object to an answer with other brackets than the right one."""
    given = parse_value(answer)
    if given is None or not isinstance(right, list) or _shape_of(given) == _shape_of(right):
        return None
    same_numbers = gettext_noop(
        "The numbers are right, and the shape is not: that of `{name}` is `{shape}`."
    )
    numbers, right_numbers = (set(map(format_number, flatten_lists(v))) for v in (given, right))
    sentence = gettext_noop("The shape of `{name}` is `{shape}`.")
    sentence = same_numbers if numbers == right_numbers else sentence
    return gettext(sentence, name=name, shape=_shape_of(right))


def _shape_of(value: Any) -> tuple[int, ...]:
    """Return the lengths of nested lists, of the first one in each."""
    if not isinstance(value, list | tuple):
        return ()
    return (len(value), *(_shape_of(value[0]) if value else ()))


def _find_name(run: QuizRun, answer: str, at: int | None) -> str | None:
    """Say of which other name the answer would have been right, or at which other time."""
    for sentence, details in _list_shown(run, at):
        if is_same_answer(answer, details["value"]):
            return gettext(sentence, given=answer, **details)
    return None


def _list_shown(run: QuizRun, at: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the run showed, what it shows last first: a sentence, and what is filled in."""
    moment = run.moment(at)
    for name, value in moment.values.items():
        yield gettext_noop("`{given}` is what `{name}` shows."), {"name": name, "value": value}
    for name, value in moment.grads.items():
        yield gettext_noop("`{given}` is `{name}.grad`."), {"name": name, "value": value}
    for name in moment.values:
        changes = run.history(lambda moment, name=name: moment.values[name], at)  # type: ignore[misc]
        for change in reversed(changes[:-1]):
            details = {"name": name, "value": change.value, "line": change.line}
            yield gettext_noop("`{given}` is what `{name}` showed after line {line}."), details
