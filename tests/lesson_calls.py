"""Which calls a lesson introduces, and where learners first meet a misconception: read from the lessons."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from copylab import Misconception
from copylab.course.lesson import find_tasks, lessons_folder, read_notebook
from copylab.lessons import recall
from copylab.quiz import MISCONCEPTIONS, Exercise, Prediction, RetestProgram, find_misconceptions

import tinytorch

LESSONS = [path.stem for path in sorted(lessons_folder().glob("*.ipynb"))]
"""00_start, 01_assignment, ... in the order of the course."""


EXPLAINED_LATER = {"t": "06_view_reshape"}
"""Calls that a lesson before the one that explains them uses in passing: they are known from that one on."""


class Meeting(NamedTuple):
    """The first place at which learners meet the retests of a misconception."""

    lesson: str
    """The last lesson whose calls they know then."""
    reason: str
    """What leads to the retest there."""


def list_calls(code: str) -> set[str]:
    """The names behind a dot (`x.clone()`, `x.data`), of functions, and of keyword arguments."""
    calls = set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
                calls.add(name)
            case ast.keyword(arg=str(name)):
                calls.add(name)
    return calls


def list_calls_in_prose(text: str) -> set[str]:
    """The calls that prose names between backticks: `x.t()`, `.data`, or `clone` alone."""
    calls = set()
    for span in re.findall(r"`([^`\n]+)`", text):
        try:
            calls |= list_calls(f"x{span}" if span.startswith(".") else span)
        except SyntaxError:
            continue  # the half of a line, as `y =`
        # A letter alone is the name of a tensor: `t` says nothing of `x.t()`.
        if re.fullmatch(r"\w\w+", span):
            calls.add(span)
    return calls


@cache
def find_calls_of_lesson(lesson: str) -> frozenset[str]:
    """What a lesson introduces or uses: in its prose, its cells, its predictions, and as exercises begin."""
    notebook = read_notebook(lessons_folder() / f"{lesson}.ipynb")
    calls: set[str] = set()
    for cell in notebook["cells"]:
        read = list_calls if cell["cell_type"] == "code" else list_calls_in_prose
        calls |= read("".join(cell["source"]))
    for asked in find_tasks(notebook).values():
        calls |= list_calls(asked.start if isinstance(asked, Exercise) else asked.code)
    later = {call for call, explaining in EXPLAINED_LATER.items() if lesson < explaining}
    return frozenset(calls - later)


def find_known_calls(lesson: str) -> set[str]:
    """What learners know at the end of a lesson: its calls, and those of all before it."""
    known: set[str] = set()
    for earlier in LESSONS[: LESSONS.index(lesson) + 1]:
        known |= find_calls_of_lesson(earlier)
    return known


@cache
def find_first_meetings() -> dict[str, tuple[Misconception, Meeting]]:
    """By its name, each misconception that learners may meet, and where they meet its retests first.

    Retests are below a wrong answer to a prediction, so in its lesson; where a lesson recalls what
    one before it has introduced, at its beginning. What no prediction of the course leads to is met
    in a program of one's own, after the course.
    """
    found: dict[str, tuple[Misconception, Meeting]] = {}
    for position, lesson in enumerate(LESSONS):
        _, _, name = lesson.partition("_")
        if position > 0:
            recalled = recall(name).tested_misconception
            meeting = Meeting(LESSONS[position - 1], f"{lesson} begins with it")
            found.setdefault(recalled.name, (recalled, meeting))
        for asked in find_tasks(read_notebook(lessons_folder() / f"{lesson}.ipynb")).values():
            if isinstance(asked, Prediction):
                meeting = Meeting(lesson, f"a wrong answer to {asked.key} shows it")
                for known in find_misconceptions(asked, tinytorch):
                    found.setdefault(known.name, (known, meeting))
    for known in MISCONCEPTIONS.values():
        meeting = Meeting(LESSONS[-1], "no prediction of the course leads to it")
        found.setdefault(known.name, (known, meeting))
    return found


def describe_new_calls(
    name: str, programs: Sequence[RetestProgram], meeting: Meeting
) -> Iterator[str]:
    """Yield, of each program with calls that are new, which they are, to whom, and what may be done.

    Only of the program itself: what a line is taken for is shown when the answer is known.
    """
    known = find_known_calls(meeting.lesson)
    for number, program in enumerate(programs):
        calls = set().union(*map(list_calls, program.code.split("; ")))
        for call in sorted(calls - known):
            introducing = [lesson for lesson in LESSONS if call in find_calls_of_lesson(lesson)]
            where = f"{introducing[0]} introduces it" if introducing else "no lesson introduces it"
            yield (
                f"program {number} of {name!r} has `{call}`, and {where}. "
                f"Those who answer it know the calls up to {meeting.lesson} alone ({meeting.reason}): "
                f"write the program without it: {program.code}"
            )
