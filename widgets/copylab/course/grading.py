"""Lessons as assignments for nbgrader: the learner's cells are graded by the checks that stand below them.

The teacher's notebook has the solutions, which `nbgrader generate_assignment` takes out; what is collected is graded by
`nbgrader autograde`: a check that is not right fails its cell. Predictions and what is only read bring no points.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinytorch.viz import gettext

from ..quiz import Exercise
from ..safe_files import SafeFolder
from .lesson import asked, lessons, meant
from .translation import check, text_in

_CHECK = re.compile(r"(\w+)\.check\(\)\s*")
CONFIG = """# Learners see this where the solution was; the program to mend stays above it.
c = get_config()
c.ClearSolutions.code_stub = {"python": "# Your answer: mend what is above, or write on."}
"""


def assign(
    folder: Path,
    chosen: list[str] | None = None,
    points: int = 1,
    language: str = "en",
    tell: Callable[[str], None] = print,
) -> list[Path]:
    """Write lessons into `folder`/source as nbgrader has them, one assignment each, and return the notebooks written.

    chosen: names such as "clone" or "02_clone"; by default all that have exercises. points: for each exercise.
    language: of the prose. tell: is called with a sentence for each notebook that is there already: it and the config
    stay as they are, for the teacher may have edited them. Raises ValueError for a lesson that is not there or has no
    exercise and for a language that the course is not there in, OSError if the folder cannot be written.
    """
    check(language, lessons())
    own = SafeFolder(folder)
    own.make()
    there = {path.stem: path for path in sorted(lessons().glob("*.ipynb"))}
    written = []
    for name in [meant(one, there) for one in chosen or there]:
        notebook = graded(json.loads(text_in(there[name], language)), points)
        if notebook is None and not chosen:
            continue
        if notebook is None:
            raise ValueError(gettext("the lesson {name} has no exercise to grade", name=name))
        file = f"source/{name}/{name}.ipynb"
        if own.has(file):
            said = gettext(
                "{name} is there already and stays as it is. Rename it to have it written anew.",
                name=file,
            )
            tell(said)
            continue
        own.write(file, (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode())
        written.append(folder / file)
    if not own.has("nbgrader_config.py"):
        own.write("nbgrader_config.py", CONFIG.encode())
    return written


def graded(notebook: dict[str, Any], points: int) -> dict[str, Any] | None:
    """Return a lesson with nbgrader's marks and without outputs; None if there is nothing to grade in it."""
    definitions, found, answer = asked(notebook), 0, None
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        if "answer" in cell["metadata"].get("tags", ()):
            answer = cell
        check = _CHECK.fullmatch(source)
        exercise = definitions.get(check[1]) if check else None
        if isinstance(exercise, Exercise) and answer is not None:
            start = "".join(answer["source"])
            answer["source"] = f"{start}\n### BEGIN SOLUTION\n{exercise.code}\n### END SOLUTION"
            answer["metadata"]["nbgrader"] = _mark(answer["id"], solution=True)
            cell["source"] = f"assert {source.strip()}"
            cell["metadata"]["nbgrader"] = _mark(cell["id"], points=points)
            found, answer = found + 1, None
    return notebook if found else None


def _mark(ident: str, *, solution: bool = False, points: int | None = None) -> dict[str, Any]:
    """What nbgrader keeps of a cell: one to answer in, or one that gives points and cannot be changed."""
    graded = {} if points is None else {"points": points}
    mark = {
        "grade": points is not None,
        "locked": points is not None,
        "solution": solution,
        "task": False,
    }
    return {"grade_id": ident, "schema_version": 3, **mark, **graded}
