"""Lessons as assignments for nbgrader: the learner's cells are graded by the checks below them.

The teacher's notebook has the solutions, which `nbgrader generate_assignment` takes out; collected
notebooks are graded by `nbgrader autograde`: a check that is not right fails its cell. Predictions
and prose bring no points.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..quiz import Exercise
from ..safe_files import SafeFolder
from ..wording import gettext
from .lesson import find_lesson, find_tasks, lessons_folder
from .translation import read_translated, require_language

_CHECK_CELL = re.compile(r"(\w+)\.check\(\)\s*")


def write_assignments(
    folder: Path,
    chosen: list[str] | None = None,
    points: int = 1,
    language: str = "en",
    tell: Callable[[str], None] = print,
) -> list[Path]:
    """Write lessons into `folder`/source as assignments of nbgrader, and return their paths.

    chosen: names such as "clone" or "02_clone"; by default all that have exercises.
    points: for each exercise.
    language: of the prose.
    tell: is called with a sentence for each notebook that exists already: it and the config stay as
        they are, because the teacher may have edited them.

    Raises ValueError for a lesson that does not exist or has no exercise and for a language that
    the course is not there in, OSError if the folder cannot be written.
    """
    require_language(language, lessons_folder())
    target = SafeFolder(folder)
    target.make()
    paths = {path.stem: path for path in sorted(lessons_folder().glob("*.ipynb"))}
    written = []
    for name in [find_lesson(lesson, paths) for lesson in chosen or paths]:
        notebook = json.loads(read_translated(paths[name], language))
        if not add_grading_marks(notebook, points):
            # Of the whole course a lesson without exercises is passed over; one that was named is a
            # mistake.
            if not chosen:
                continue
            raise ValueError(gettext("the lesson {name} has no exercise to grade", name=name))
        file = f"source/{name}/{name}.ipynb"
        if target.has(file):
            remark = gettext(
                "{name} is there already and stays as it is. Rename it to have it written anew.",
                name=file,
            )
            tell(remark)
            continue
        target.write(file, (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode())
        written.append(folder / file)
    if not target.has("nbgrader_config.py"):
        target.write("nbgrader_config.py", render_config().encode())
    return written


def render_config() -> str:
    """Return the configuration of nbgrader, with what learners see in place of a solution."""
    remark = gettext("Learners see this where the solution was; the program to fix stays above it.")
    answer = gettext("Your answer: fix what is above, or write on.")
    stub = json.dumps({"python": f"# {answer}"}, ensure_ascii=False)
    return f"# {remark}\nc = get_config()\nc.ClearSolutions.code_stub = {stub}\n"


def add_grading_marks(notebook: dict[str, Any], points: int) -> int:
    """Put nbgrader's marks into a lesson, take out its outputs, and return the number of exercises.

    An exercise is a cell tagged `answer` and, somewhere below it, a cell `NAME.check()`.
    """
    tasks = find_tasks(notebook)
    exercises = 0
    answer_cell: dict[str, Any] | None = None
    for cell in notebook["cells"]:
        # A lesson's cell may be a string or a list of lines.
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        if "answer" in cell["metadata"].get("tags", ()):
            answer_cell = cell
        check = _CHECK_CELL.fullmatch(source)
        exercise = tasks.get(check[1]) if check else None
        if isinstance(exercise, Exercise) and answer_cell is not None:
            start = "".join(answer_cell["source"])
            solution = f"### BEGIN SOLUTION\n{exercise.code}\n### END SOLUTION"
            answer_cell["source"] = f"{start}\n{solution}"
            answer_cell["metadata"]["nbgrader"] = _mark_cell(answer_cell["id"], solution=True)
            # nbgrader gives no points for a cell that raises an error.
            cell["source"] = f"assert {source.strip()}"
            cell["metadata"]["nbgrader"] = _mark_cell(cell["id"], points=points)
            exercises += 1
            # A further check below it would put a second solution into the same cell.
            answer_cell = None
    return exercises


def _mark_cell(
    cell_id: str, *, solution: bool = False, points: int | None = None
) -> dict[str, Any]:
    """Return nbgrader's metadata of a cell: to answer in, or with points and locked."""
    is_graded = points is not None
    mark: dict[str, Any] = {
        "grade_id": cell_id,
        "schema_version": 3,
        "grade": is_graded,
        "locked": is_graded,
        "solution": solution,
        "task": False,
    }
    if is_graded:
        mark["points"] = points
    return mark
