"""What a learner handed in, read: answers to an exam, answers to exercises, notes of progress.

Nothing of it is run, and nothing in it ends the reading: what cannot be read is a remark, cell by
cell and file by file. A notebook is known by what is in it, since learners rename files; a cell by
its id, or, where an editor has lost the ids, by where it stands.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from ..quiz import PROGRESS_FILE, Exercise, parse_notes
from ..safe_files import SafeFolder, explain_error
from ..wording import gettext
from .lesson import find_tasks, lessons_folder, read_notebook

SUBMITTED = "submitted"
MAX_ANSWER = 10_000
"""Characters of an answer that are kept: no answer to an exercise is longer, and a spreadsheet has
room for three times as many in a cell."""
_MAX_FILES = 500
"""Files of one learner that are read."""
_MAX_BYTES = 256 * 2**20
"""Bytes of notebooks of one learner that are read."""
_MAX_CANDIDATES = 3
"""Programs of one learner that are judged as the answer to one exercise."""
_CHECK = re.compile(r"\s*(?:assert\s+)?(\w+)\.check\(\)\s*")
_ANSWER = re.compile(r"^[ \t]*answer_([0-9]{1,4})[ \t]*(?::[^=\n]*)?[=\uff1d](?!=)", re.MULTILINE)
_ANSWER_ID = re.compile(r"answer-([0-9]{1,4})")
_EXERCISE_ID = re.compile(r"exercise-([0-9]{1,4})")
_EXERCISE = re.compile(r"#[ \t]*exercise[ \t]+([0-9]{1,4})[ \t]*$", re.MULTILINE)
_LESSON_MODULE = re.compile(r"\bcopylab\.lessons\.(\w+)")
_QUOTES = "'\"\u201c\u201d\u201e\u2018\u2019\u300c\u300d\uff02"


class LessonExercise(NamedTuple):
    """An exercise as a lesson asks it: its key, its name there, the id of the cell for the answer."""

    key: str
    name: str
    cell_id: str


class CourseLesson(NamedTuple):
    """What tells that a notebook is this lesson, and where its answers are.

    module: below `copylab.lessons`, from which it imports. cell_ids: of its code cells.
    """

    module: str
    cell_ids: frozenset[str]
    exercises: Sequence[LessonExercise]


class CodeCell(NamedTuple):
    """A cell of code in a notebook that was handed in."""

    id: str
    source: str


@dataclass
class Submission:
    """What one learner handed in, as far as it could be read.

    exam: the answers that were written to each question, by number; several where cells or
        notebooks say different things. exam_text: the prose of the exams. programs: those that may
        be the answer to an exercise of the exam, by its number.
    cells: programs that may be the answer to an exercise, by lesson and key.
    notes: of the progress files. remarks: what could not be read.
    """

    learner: str
    exam: dict[int, list[str | bool]] = field(default_factory=dict)
    exam_text: str = ""
    programs: dict[int, list[str]] = field(default_factory=dict)
    cells: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    notes: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"predictions": {}, "exercises": {}}
    )
    remarks: list[str] = field(default_factory=list)


def list_course() -> dict[str, CourseLesson]:
    """Return what is known of each lesson, by its name."""
    course: dict[str, CourseLesson] = {}
    for path in sorted(lessons_folder().glob("*.ipynb")):
        notebook = read_notebook(path)
        tasks = find_tasks(notebook)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        exercises, cell_id = [], ""
        for cell in cells:
            if "answer" in cell["metadata"].get("tags", ()):
                cell_id = cell["id"]
            check = _CHECK.fullmatch("".join(cell["source"]))
            exercise = tasks.get(check[1]) if check else None
            if check and isinstance(exercise, Exercise) and cell_id:
                exercises.append(LessonExercise(str(exercise.key), check[1], cell_id))
                cell_id = ""
        ids = frozenset(str(cell["id"]) for cell in cells)
        course[path.stem] = CourseLesson(path.stem.partition("_")[2], ids, exercises)
    return course


def read_submission(
    folder: SafeFolder, places: Sequence[str], learner: str, course: Mapping[str, CourseLesson]
) -> Submission:
    """Read what a learner handed in, from one or several folders in `submitted`. Nothing raises."""
    submission = Submission(learner)
    if len(places) > 1:
        submission.remarks.append(gettext("there are several folders of this name"))
    count, size = 0, 0
    for place in places:
        try:
            for name in folder.walk(f"{SUBMITTED}/{place}"):
                count += 1
                if count > _MAX_FILES or size > _MAX_BYTES:
                    submission.remarks.append(gettext("too many files"))
                    break
                size += _read_file(submission, folder, name, course)
        except OSError as error:
            submission.remarks.append(explain_error(error))
    if not count:
        submission.remarks.append(gettext("nothing was handed in"))
    return submission


def _read_file(
    submission: Submission, folder: SafeFolder, name: str, course: Mapping[str, CourseLesson]
) -> int:
    """Read a notebook or a progress file into a submission; return how many bytes were read."""
    file = name.rpartition("/")[2]
    # A whole folder that is handed in has the solutions that copylab put there.
    is_solution = "solutions" in name.split("/")[2:-1]
    if is_solution or not (file.endswith(".ipynb") or file == PROGRESS_FILE):
        return 0
    content = b""
    try:
        content = folder.read(name)
        if file == PROGRESS_FILE:
            _read_progress(submission, content)
        else:
            _read_notebook(submission, file, content, course)
    except OSError as error:
        submission.remarks.append(f"{file}: {error.strerror}")
    # Whatever is in a file, the others are read.
    except Exception:  # noqa: BLE001
        submission.remarks.append(gettext("{name} cannot be read", name=file))
    return len(content)


def _read_progress(submission: Submission, content: bytes) -> None:
    notes = parse_notes(content)
    for kind in submission.notes:
        submission.notes[kind] |= notes[kind]


# -- notebooks -----------------------------------------------------------------------


def _read_notebook(
    submission: Submission, file: str, content: bytes, course: Mapping[str, CourseLesson]
) -> None:
    """Take the answers out of a notebook: of an exam, of a lesson, or of both in one."""
    notebook = json.loads(content)
    prose: list[str] = []
    cells: list[CodeCell] = []
    lost = 0
    for number, cell in enumerate(_list_raw_cells(notebook)):
        try:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                cells.append(CodeCell(_find_id(cell, number), source))
            else:
                prose.append(source)
        # One cell that is none must not take the others along.
        except (TypeError, KeyError, AttributeError):
            lost += 1
    if lost:
        submission.remarks.append(
            gettext("{name}: cells that cannot be read: {number}", name=file, number=lost)
        )
    lesson = _recognize_lesson(file, cells, course)
    is_exam = any(_ANSWER.search(cell.source) or _EXERCISE.search(cell.source) for cell in cells)
    if is_exam:
        submission.exam_text += "\n".join(prose)
        for cell in cells:
            _read_exam_answers(submission, cell)
            _read_exam_program(submission, cell)
    if lesson:
        for exercise in course[lesson].exercises:
            _add_candidates(submission, lesson, exercise, cells, course[lesson].cell_ids)
    if not (is_exam or lesson or lost):
        submission.remarks.append(
            gettext("{name} is neither an exam nor a lesson of the course", name=file)
        )


def _list_raw_cells(notebook: Any) -> list[Any]:
    """Return the cells of a notebook; those of the format before 4 are in worksheets."""
    if "cells" in notebook:
        return list(notebook["cells"])
    return list(chain.from_iterable(sheet["cells"] for sheet in notebook["worksheets"]))


def _find_id(cell: Mapping[str, Any], number: int) -> str:
    """Return the id of a cell, or its number where an editor has lost the id."""
    # nbgrader keeps the id in its own mark, also where an old format has no other.
    match cell:
        case {"metadata": {"nbgrader": {"grade_id": str(mark)}}}:
            return mark
    return str(cell.get("id", number))


def _recognize_lesson(
    file: str, cells: Sequence[CodeCell], course: Mapping[str, CourseLesson]
) -> str:
    """Return the name of the lesson that a notebook is; "" for any other.

    By what it imports, since files get other names; by the name where that line is gone.
    """
    found = [_LESSON_MODULE.findall(cell.source) for cell in cells]
    modules = set(chain.from_iterable(found))
    checked = {check[1] for cell in cells if (check := _CHECK.fullmatch(cell.source))}
    for lesson, known in course.items():
        names = {exercise.name for exercise in known.exercises}
        if known.module in modules and (checked & names or len(modules) == 1):
            return lesson
    # Browsers and platforms add to a name: `02_clone (1).ipynb`.
    return next((lesson for lesson in course if lesson in file), "")


# -- exercises -----------------------------------------------------------------------


def _add_candidates(
    submission: Submission,
    lesson: str,
    exercise: LessonExercise,
    cells: Sequence[CodeCell],
    known_ids: frozenset[str],
) -> None:
    """Add the programs that may be the learner's answer to an exercise, the likeliest first."""
    found = submission.cells.setdefault((lesson, exercise.key), [])
    for source in _find_candidates(exercise, cells, known_ids):
        if source not in found and len(found) < _MAX_CANDIDATES:
            found.append(source)
    if not found:
        del submission.cells[lesson, exercise.key]


def _find_candidates(
    exercise: LessonExercise, cells: Sequence[CodeCell], known_ids: frozenset[str]
) -> Iterator[str]:
    checks = [
        number
        for number, cell in enumerate(cells)
        if (check := _CHECK.fullmatch(cell.source)) and check[1] == exercise.name
    ]
    answers = [number for number, cell in enumerate(cells) if cell.id == exercise.cell_id]
    # nbgrader's mark is copied along with a cell.
    for number in answers:
        yield cells[number].source
    if answers:
        # A cell of the learner's own below it belongs to it: up to the check.
        end = next((number for number in checks if number > answers[-1]), answers[-1])
        own = [cell.source for cell in cells[answers[-1] + 1 : end] if cell.id not in known_ids]
        if any(source.strip() for source in own):
            yield "\n".join([cells[answers[-1]].source, *own])
    # A notebook of solutions has cells of that name.
    elif checks and checks[0] and not any(cell.id == f"start-{exercise.name}" for cell in cells):
        yield cells[checks[0] - 1].source


# -- exam ----------------------------------------------------------------------------


def _read_exam_answers(submission: Submission, cell: CodeCell) -> None:
    """Read the answers of a cell: what is in quotation marks, or else the text. Nothing is run."""
    source = cell.source[:MAX_ANSWER]
    starts = list(_ANSWER.finditer(source))
    ends = [*(start.start() for start in starts), len(source)][1:]
    found = {
        int(start[1]): _read_value(source[start.end() : end])
        for start, end in zip(starts, ends, strict=True)
    }
    # The name may be gone: the cell is still that of the question.
    if not starts and (known := _ANSWER_ID.fullmatch(cell.id)):
        found[int(known[1])] = _read_value(source)
    for number, answer in found.items():
        written = submission.exam.setdefault(number, [])
        is_empty = isinstance(answer, str) and not answer.strip()
        if not is_empty and answer not in written:
            written.append(answer)


def _read_exam_program(submission: Submission, cell: CodeCell) -> None:
    """Read the program of a cell as the answer to an exercise, by its id or the mark of its line."""
    known = _EXERCISE_ID.fullmatch(cell.id) or _EXERCISE.search(cell.source)
    if known is None:
        return
    found = submission.programs.setdefault(int(known[1]), [])
    if cell.source not in found and len(found) < _MAX_CANDIDATES:
        found.append(cell.source)


def _read_value(text: str) -> str | bool:
    """Return an answer: what a text is as Python if that is a text, yes or no; else the text."""
    # Below the answer there may be more, such as a call that prints it.
    for value in (text.strip(), text.strip().partition("\n")[0].rstrip(" \t;")):
        with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            literal = ast.literal_eval(value)
            # Of any other value, such as `[1, 2]`, the text is read as generously.
            if isinstance(literal, str | bool):
                return literal
            text = value
            break
    # Of what is in no quotation marks, a comment is no part; nor are those of another keyboard.
    return re.sub(r"(?:^|\s+)#.*", "", text.strip()).strip().strip(_QUOTES)
