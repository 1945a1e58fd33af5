"""How long a lesson takes, by what a reader has to do in it, and whether the lesson says so in every language.

PYTHONPATH=tests:tools python tests/widgets/course/test_times.py            what each lesson holds, in a table
PYTHONPATH=tests:tools python tests/widgets/course/test_times.py 02_clone   of one lesson
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from copylab.course.translation import TRANSLATIONS, list_languages, parse_catalogue
from copylab.quiz.exercises import Exercise
from copylab.quiz.prediction import Prediction
from execute_notebooks import NOTEBOOKS, list_lessons
from lesson_parts import code, defined, prose

WORDS_A_MINUTE = 120  # read with care, pictures looked at
ROW, EXERCISE, PLAYER, LOOK = 0.5, 4, 1, 1  # minutes

_SAID = {  # the line, whose first number it is
    "en": re.compile(r"^\*\*Time\.\*\* About (\d+) minutes", re.MULTILINE),
    "ko": re.compile(r"^\*\*소요 시간:\*\*[^\d\n]*(\d+)분", re.MULTILINE),
    "zh": re.compile(r"^\*\*时间\*\*\uff1a[^\d\n]*(\d+) 分钟", re.MULTILINE),
}


def calls_steps(source: str) -> bool:
    """Say whether a cell shows a player, of `steps(...)` or of a prediction's `.steps()`."""
    called = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return any("steps" in (getattr(one, "id", ""), getattr(one, "attr", "")) for one in called)


def minutes(words: int, rows: int, exercises: int, players: int, looks: int = 0) -> int:
    """Give the time of a lesson: to five minutes, or to one where that would be a tenth off."""
    exact = words / WORDS_A_MINUTE + ROW * rows + EXERCISE * exercises + PLAYER * players
    exact += LOOK * looks
    in_fives = 5 * round(exact / 5)
    return in_fives if abs(in_fives - exact) <= exact / 10 else round(exact)


def count_looks(path: Path) -> int:
    """Count the cells between an answer and its check, in which a learner looks at the attempt."""
    cells = code(path)
    looks = 0
    for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
        is_answer = "answer" in before.metadata.get("tags", ())
        looks += is_answer and ".check()" not in cell.source and ".check()" in after.source
    return looks


def measured(path: Path) -> SimpleNamespace:
    """Count what takes time in a lesson."""
    things = defined(path).values()
    rows = sum(len(thing.questions) for thing in things if isinstance(thing, Prediction))
    # To choose what is wrong takes as long as a row of a prediction.
    rows += sum(isinstance(thing, Exercise) and thing.diagnosis is not None for thing in things)
    counts = {
        "words": len(prose(path).split()),
        "rows": rows,
        "exercises": sum(isinstance(thing, Exercise) for thing in things),
        "players": sum(calls_steps(cell.source) for cell in code(path)),
        "looks": count_looks(path),
    }
    return SimpleNamespace(**counts, minutes=minutes(**counts))


def said(text: str, language: str = "en") -> int:
    """Give the minutes that a lesson's line names."""
    found = _SAID[language].search(text)
    assert found, "no line says how long it takes"
    return int(found[1])


each_lesson = pytest.mark.parametrize("path", list_lessons(), ids=lambda p: p.stem)


@each_lesson
def test_a_lesson_says_how_long_it_takes(path: Path) -> None:
    counted = measured(path)
    assert said(prose(path)) == counted.minutes, counted


@each_lesson
@pytest.mark.parametrize("language", list_languages(NOTEBOOKS))
def test_a_translation_says_the_same_time(path: Path, language: str) -> None:
    title = parse_catalogue(
        (NOTEBOOKS / TRANSLATIONS / language / f"{path.stem}.md").read_text("utf-8")
    )["title"]
    assert said(title.text, language) == said(prose(path))


def test_the_list_of_lessons_says_how_long_they_take() -> None:
    text = (NOTEBOOKS / "README.md").read_text("utf-8")
    *course, clinic = [measured(path).minutes for path in list_lessons()]
    assert f"{min(course)} to {max(course)} minutes" in text
    hours = (sum(course) + clinic) // 60
    assert f"{hours} to {hours + 1} hours" in text


def test_the_time_follows_from_the_counts() -> None:
    assert minutes(words=1200, rows=10, exercises=2, players=2) == 25
    assert minutes(words=1200, rows=10, exercises=3, players=2) == 30
    assert minutes(words=1200, rows=10, exercises=2, players=2, looks=5) == 30
    assert minutes(words=600, rows=10, exercises=1, players=3) == 17, "15 would be 12 % less"
    assert said("**Time.** About 40 minutes for all, 3 for one.") == 40
    with pytest.raises(AssertionError, match="no line"):
        said("**Time.** It depends.")


@pytest.mark.parametrize(
    ("source", "shows"),
    [
        ("steps(code)", True),
        ("seven.steps()", True),
        ("from copylab import steps", False),
        ("print('steps()')", False),
    ],
)
def test_what_counts_as_a_player(source: str, shows: bool) -> None:
    assert calls_steps(source) is shows


if __name__ == "__main__":
    total = 0
    print(
        f"{'lesson':20}{'words':>8}{'rows':>6}{'exercises':>11}{'players':>9}{'looks':>7}{'minutes':>9}"
    )
    for lesson in list_lessons("".join(sys.argv[1:])):
        one = measured(lesson)
        total += one.minutes
        print(
            f"{lesson.stem:20}{one.words:8,}{one.rows:6}{one.exercises:11}{one.players:9}{one.looks:7}{one.minutes:9}"
        )
    print(f"together: {total / 60:.1f} hours")
