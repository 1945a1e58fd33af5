"""The folder of the lessons; the tasks of a lesson, and stored outputs that answer them."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..quiz import Exercise, Prediction
from ..run import dedent_code
from ..safe_files import read_text
from ..wording import gettext, join_list

_PACKAGE = Path(__file__).resolve().parents[1]
_TAGS_OF_ANSWERS = {"questioned", "answer"}
_MACHINE_FIELDS = ("metadata", "execution_count")

Tasks = dict[str, Prediction | Exercise]
"""Predictions and exercises by the names that a lesson gives them."""


def lessons_folder() -> Path:
    """Return the folder with the published lessons."""
    # An installed package has them inside of it, a clone beside its folder `widgets`.
    inside = _PACKAGE / "notebooks"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "notebooks"


def find_lesson(lesson: str, names: Iterable[str]) -> str:
    """Return which of these lessons `02_clone`, `clone` or `02` means.

    ValueError if it is none of them.
    """
    lesson_names = list(names)
    for name in lesson_names:
        # Once, as a name of a lesson may have an underscore of its own.
        if lesson in (name, *name.split("_", 1)):
            return name
    raise ValueError(
        gettext(
            "There is no lesson {lesson!r}. The lessons are: {there}",
            lesson=lesson,
            there=join_list(lesson_names),
        )
    )


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook as the plain data of its file."""
    notebook: dict[str, Any] = json.loads(read_text(path))
    return notebook


def title_of(notebook: dict[str, Any]) -> str:
    """Return the heading of a lesson, as it is written."""
    # The format has a text as one string, or as a list of lines with their ends.
    return "".join(notebook["cells"][0]["source"]).partition("\n")[0].removeprefix("# ")


def find_tasks(notebook: dict[str, Any]) -> Tasks:
    """Return the predictions and exercises of a lesson by name, in the order of its cells.

    They are imported from `copylab.lessons`, as the lesson imports them; none of its cells is run.
    """
    code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    # Published lessons are plain Python, without magics.
    trees = [ast.parse("".join(cell["source"])) for cell in code_cells]
    imported: dict[str, Any] = {}
    for tree in trees:
        imported |= _import_from_lessons(tree)
    tasks: Tasks = {}
    for tree in trees:
        for name in _names_in(tree):
            if isinstance(imported.get(name), Prediction | Exercise):
                # Where a task is named first, it is shown: a later cell may ask for its steps.
                tasks.setdefault(name, imported[name])
    return tasks


def find_cell_naming(notebook: dict[str, Any], name: str) -> str:
    """Return the id of the first cell of a lesson in which a name is used."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and name in _names_in(ast.parse("".join(cell["source"]))):
            return str(cell["id"])
    raise LookupError(name)


def _import_from_lessons(tree: ast.Module) -> dict[str, Any]:
    imported: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("copylab.lessons."):
            module = importlib.import_module(str(node.module))
            imported |= {alias.name: getattr(module, alias.name) for alias in node.names}
    return imported


def _names_in(tree: ast.Module) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def remove_answers(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a lesson without the outputs that answer its questions before they are asked.

    Those are the outputs of cells tagged `questioned` or `answer`, of cells that name a prediction
    or an exercise, and of cells that contain the program of a prediction. The output of `progress`
    and `recall` is left out too: it is not the learner's own. So are the numbers of all runs.
    """
    tasks = find_tasks(notebook)
    names = {*tasks, "progress", "recall"}
    programs = {task.code for task in tasks.values() if isinstance(task, Prediction)}
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
        elif _gives_answer(cell, names, programs):
            cells.append(cell | {"outputs": [], "execution_count": None})
        else:
            cells.append(_leave_out_numbers(cell))
    return notebook | {"cells": cells}


def _leave_out_numbers(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a code cell without the number of its run: it would say that the learner has run it."""
    outputs = [
        output | {"execution_count": None} if "execution_count" in output else output
        for output in cell["outputs"]
    ]
    return cell | {"outputs": outputs, "execution_count": None}


def _gives_answer(cell: Mapping[str, Any], names: set[str], programs: set[str]) -> bool:
    """Return True if a cell is tagged as an answer, uses a name, or contains a program."""
    if _TAGS_OF_ANSWERS.intersection(cell["metadata"].get("tags", ())):
        return True
    tree = ast.parse("".join(cell["source"]))
    if names.intersection(_names_in(tree)):
        return True
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = [value for value in constants if isinstance(value, str)]
    # `steps("...")` over the very program that a prediction asks about.
    return not programs.isdisjoint(map(dedent_code, texts))


def digest_of_file(content: bytes) -> str:
    """Return a digest of a file's content: of a notebook the sources and what the outputs show.

    JupyterLab writes the rest anew as soon as it opens a notebook, and that is no change of the
    learner's.
    """
    try:
        # Ids are no part of it, either: nobody wrote them.
        cells = json.loads(content, object_hook=_normalize_fields)["cells"]
        shown = [[cell["cell_type"], cell["source"], cell.get("outputs", [])] for cell in cells]
        content = json.dumps(shown, sort_keys=True).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        pass  # not a notebook
    return hashlib.sha256(content).hexdigest()


def _normalize_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields of a notebook without those of the machine, each text as one string."""
    normalized = {}
    for name, value in fields.items():
        if name not in _MACHINE_FIELDS:
            normalized[name] = "".join(value) if _is_list_of_lines(value) else value
    return normalized


def _is_list_of_lines(value: Any) -> bool:
    """Return True for a text that a notebook stores line by line."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(isinstance(line, str) for line in value)
