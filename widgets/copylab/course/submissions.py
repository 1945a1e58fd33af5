"""The work of a class in two tables: who is how far, and what each has answered.

    FOLDER/submitted/NAME/...    what a learner handed in: notebooks, the progress file
    FOLDER/grades.csv            a line for each learner
    FOLDER/answers.csv           a line for each learner and task

An answer to a question of the exam is read as a text and judged by running the program of the key.
An answer to an exercise of a lesson is run apart, see `judging.py`. What the progress file says is
what the learner's own copylab wrote, or somebody else: the table calls its rows so.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..quiz import PROGRESS_FILE, Exercise, parse_notes
from ..safe_files import SafeFolder
from ..wording import current_language, gettext, join_list, use_language
from .exam import Key, read_key
from .judging import Judgement, judge_answer
from .lesson import find_tasks, lessons_folder, read_notebook
from .overview import list_note_rows, load_course
from .tables import encode_table

SUBMITTED = "submitted"
_MAX_FILES = 500
"""Files of one learner that are read."""
_MAX_ANSWER = 2000
"""Characters of a cell that is read for an answer of the exam."""
_CHECK = re.compile(r"(?:assert\s+)?(\w+)\.check\(\)\s*")
_ANSWER = re.compile(r"\s*answer_\d+\s*=")
_GRADE_COLUMNS = (
    "learner",
    "exam_right",
    "exam_of",
    "exercises_right",
    "exercises_of",
    "predictions_committed",
    "by_hand",
    "remarks",
)
_ANSWER_COLUMNS = (
    "learner",
    "from",
    "lesson",
    "key",
    "kind",
    "state",
    "right",
    "of",
    "hints",
    "solution",
    "answer",
    "expected",
    "belief",
    "says",
)
_BY_HAND = ("by hand", "unclear")


class LessonExercise(NamedTuple):
    """An exercise as a lesson asks it: its key, and the id of the cell for the answer."""

    key: str
    cell_id: str


@dataclass
class Submission:
    """What one learner handed in, as far as it could be read.

    exam: answers by number. cells: sources of the answers to exercises, by lesson and key.
    notes: of the progress files. remarks: what could not be read.
    """

    learner: str
    exam: dict[int, Any] = field(default_factory=dict)
    cells: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"predictions": {}, "exercises": {}}
    )
    remarks: list[str] = field(default_factory=list)


def grade_class(folder: Path) -> tuple[list[Path], list[str]]:
    """Write both tables for all that was handed in; return their paths, and remarks.

    The language is that of the exam, if there is one. Raises ValueError if nothing was handed in or
    the key is of another copylab, OSError if the folder cannot be read or written.
    """
    target = SafeFolder(folder)
    key = read_key(target)
    if key is not None and key.language != (current_language() or "en"):
        use_language(key.language)
    learners = target.list_folders(SUBMITTED) if target.has(SUBMITTED) else []
    if not learners:
        message = gettext(
            "Nothing was handed in: {folder} should have a folder for each learner.",
            folder=f"{folder / SUBMITTED}",
        )
        raise ValueError(message)
    course = _list_course()
    submissions = [_read_submission(target, learner, course) for learner in learners]
    known = [] if key is None else [name for name in key.questions if name not in ("", *learners)]
    for learner in known:
        missing = Submission(learner, remarks=[gettext("nothing was handed in")])
        submissions.append(missing)
    submissions.sort(key=lambda submission: submission.learner)
    rows = _judge_all(submissions, key, course)
    _write_tables(target, submissions, rows)
    return [folder / "grades.csv", folder / "answers.csv"], _summarize(submissions, rows)


# -- reading ------------------------------------------------------------------------


def _list_course() -> dict[str, list[LessonExercise]]:
    """Return the exercises of each lesson, by its name."""
    course: dict[str, list[LessonExercise]] = {}
    for path in sorted(lessons_folder().glob("*.ipynb")):
        notebook = read_notebook(path)
        tasks = find_tasks(notebook)
        exercises = course.setdefault(path.stem, [])
        cell_id = ""
        for cell in notebook["cells"]:
            if "answer" in cell["metadata"].get("tags", ()):
                cell_id = cell["id"]
            check = _CHECK.fullmatch("".join(cell["source"]))
            exercise = tasks.get(check[1]) if check else None
            if isinstance(exercise, Exercise) and cell_id:
                exercises.append(LessonExercise(str(exercise.key), cell_id))
                cell_id = ""
    return course


def _read_submission(
    folder: SafeFolder, learner: str, course: Mapping[str, Sequence[LessonExercise]]
) -> Submission:
    """Read what a learner handed in. Nothing raises: whatever it is, the others are graded."""
    submission = Submission(learner)
    for count, name in enumerate(folder.walk(f"{SUBMITTED}/{learner}")):
        if count == _MAX_FILES:
            submission.remarks.append(gettext("too many files"))
            break
        file = name.rpartition("/")[2]
        is_read = True
        try:
            if file.endswith(".ipynb"):
                _read_notebook(submission, name, folder.read(name), course)
            elif file == PROGRESS_FILE:
                _read_progress(submission, folder.read(name))
        except OSError as error:
            submission.remarks.append(f"{file}: {error.strerror}")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError):
            is_read = False
        if not is_read:
            submission.remarks.append(gettext("{name} cannot be read", name=file))
    return submission


def _read_notebook(
    submission: Submission,
    name: str,
    content: bytes,
    course: Mapping[str, Sequence[LessonExercise]],
) -> None:
    """Take the answers out of a notebook: of the exam by their names, of a lesson by the cells."""
    sources: dict[str, str] = {}
    for number, cell in enumerate(json.loads(content)["cells"]):
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        if _ANSWER.match(source):
            _read_exam_answers(submission, source)
        # nbgrader keeps the id in its own mark, and editors of old formats lose the cell's.
        mark = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
        sources[str(mark or cell.get("id", number))] = source
    for lesson, exercises in course.items():
        # Browsers and platforms add to a name: `02_clone (1).ipynb`.
        if lesson not in name.rpartition("/")[2]:
            continue
        for exercise in exercises:
            if exercise.cell_id in sources:
                submission.cells[lesson, exercise.key] = sources[exercise.cell_id]


def _read_exam_answers(submission: Submission, source: str) -> None:
    """Read the answer of one cell: what is in quotation marks, or else the text. It is never run."""
    name, _, value = source[:_MAX_ANSWER].partition("=")
    # Of what is in no quotation marks, a comment is no part.
    answer: str | bool = re.sub(r"\s+#.*", "", value.strip())
    with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        literal = ast.literal_eval(value.strip())
        # Of any other value, such as `[1, 2]`, the text is read as generously as in quotation marks.
        if isinstance(literal, str | bool):
            answer = literal
    submission.exam[int(name.strip().removeprefix("answer_"))] = answer


def _read_progress(submission: Submission, content: bytes) -> None:
    notes = parse_notes(content)
    for kind in submission.notes:
        submission.notes[kind] |= notes[kind]


# -- judging ------------------------------------------------------------------------


def _judge_all(
    submissions: Sequence[Submission],
    key: Key | None,
    course: Mapping[str, Sequence[LessonExercise]],
) -> list[dict[str, Any]]:
    """Return the rows of the table of answers, learner by learner."""
    lesson_of_key = {key: lesson.name for lesson in load_course() for key in lesson.tasks}
    verdicts = _judge_cells(submissions)
    # Lessons that somebody handed in are asked of everybody.
    lessons = {lesson for submission in submissions for lesson, _ in submission.cells}
    asked = [(lesson, task.key) for lesson in sorted(lessons) for task in course[lesson]]
    rows: list[dict[str, Any]] = []
    for submission in submissions:
        notes = list_note_rows(submission.notes, lesson_of_key)
        mine = [
            *_judge_exam(submission, key),
            *(_make_exercise_row(submission, task, verdicts) for task in asked),
            *(row | {"from": PROGRESS_FILE} for row in notes),
        ]
        rows += [row | {"learner": submission.learner} for row in mine]
    return rows


def _judge_cells(submissions: Iterable[Submission]) -> dict[tuple[str, str], Judgement]:
    """Return the verdicts on all answers to exercises, by key and source."""
    # Many of a class write the same answer.
    answers = {
        (key, source) for submission in submissions for (_, key), source in submission.cells.items()
    }
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        verdicts = pool.map(lambda answer: judge_answer(*answer), answers)
        return dict(zip(answers, verdicts, strict=True))


def _make_exercise_row(
    submission: Submission,
    task: tuple[str, str],
    verdicts: Mapping[tuple[str, str], Judgement],
) -> dict[str, Any]:
    """Return the row of an exercise, by its lesson and key."""
    lesson, key = task
    if task not in submission.cells:
        return _make_row("", lesson, key, "exercise", "missing")
    source = submission.cells[task]
    state, says = verdicts[key, source]
    row = _make_row(f"{lesson}.ipynb", lesson, key, "exercise", state)
    return row | {"answer": source, "says": says}


def _judge_exam(submission: Submission, key: Key | None) -> Iterator[dict[str, Any]]:
    """Yield a row for each question of the learner's own exam, or else of the one for all."""
    if key is None:
        return
    questions = key.questions.get(submission.learner, key.questions.get("", []))
    if not questions:
        submission.remarks.append(gettext("no exam was written for this name"))
    for number, question in enumerate(questions, 1):
        answer = submission.exam.get(number)
        judged = question.judge(answer)
        row = _make_row("exam.ipynb", "", f"exam/{number}", "question", judged.state)
        answers = {"answer": "" if answer is None else str(answer)[:_MAX_ANSWER]}
        yield row | answers | {"expected": question.right_answer, "belief": judged.shows}


def _make_row(file: str, lesson: str, key: str, kind: str, state: str) -> dict[str, Any]:
    right = int(state == "right")
    return {
        "from": file,
        "lesson": lesson,
        "key": key,
        "kind": kind,
        "state": state,
        "right": right,
        "of": 1,
    }


# -- writing ------------------------------------------------------------------------


def _write_tables(
    target: SafeFolder, submissions: Iterable[Submission], rows: Sequence[Mapping[str, Any]]
) -> None:
    grades = []
    for submission in submissions:
        mine = [row for row in rows if row["learner"] == submission.learner]
        questions = [row for row in mine if row["kind"] == "question"]
        judged = [row for row in mine if row["from"] != PROGRESS_FILE]
        exercises = [row for row in judged if row["kind"] == "exercise"]
        grade = {
            "learner": submission.learner,
            "exam_right": sum(row["right"] for row in questions),
            "exam_of": len(questions),
            "exercises_right": sum(row["right"] for row in exercises),
            "exercises_of": len(exercises),
            "predictions_committed": sum(row["kind"] == "prediction" for row in mine),
            "by_hand": sum(row["state"] in _BY_HAND for row in questions + exercises),
            "remarks": "; ".join(submission.remarks),
        }
        grades.append(grade)
    target.write("grades.csv", encode_table(_GRADE_COLUMNS, grades))
    target.write("answers.csv", encode_table(_ANSWER_COLUMNS, rows))


def _summarize(submissions: Sequence[Submission], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what a teacher wants to know first: how many, and which beliefs the class has."""
    remarks = [gettext("Learners: {number}.", number=len(submissions))]
    beliefs = Counter(row["belief"] for row in rows if row.get("belief"))
    if beliefs:
        common = join_list(f"{gettext(name)} ({count})" for name, count in beliefs.most_common(3))
        remarks.append(gettext("Most common misconceptions: {beliefs}.", beliefs=common))
    waiting = sum(row["state"] in _BY_HAND for row in rows if row["from"] != PROGRESS_FILE)
    if waiting:
        remarks.append(
            gettext(
                "Answers that somebody has to look at: {number}. In answers.csv their state is "
                "“by hand” or “unclear”.",
                number=waiting,
            )
        )
    return remarks
