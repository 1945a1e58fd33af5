"""Where the lessons lie; what a lesson asks, and which of its stored outputs would answer that too early."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tinytorch.viz import gettext

from ..quiz import Exercise, Prediction
from ..run import dedent_code
from ..safe_files import read_text

_HERE = Path(__file__).resolve().parents[1]  # the package
_LEFT_OUT = {"questioned", "answer"}  # tags of cells
_OF_THE_MACHINE = ("metadata", "execution_count")

Asked = dict[str, Prediction | Exercise]


def lessons() -> Path:
    """Return the folder with the lessons as published."""
    # An installed package has them inside of it, a clone beside its folder `widgets`.
    inside = _HERE / "notebooks"
    return inside if inside.is_dir() else _HERE.parents[1] / "notebooks"


def meant(lesson: str, names: Iterable[str]) -> str:
    """Return which of these lessons somebody means by `02_clone`, `clone` or `02`. ValueError if it is none of them."""
    known = list(names)
    for name in known:
        if lesson in (name, *name.split("_", 1)):
            return name
    raise ValueError(
        gettext(
            "There is no lesson {lesson!r}. There are: {there}",
            lesson=lesson,
            there=", ".join(known),
        )
    )


def read(path: Path) -> dict[str, Any]:
    """Return a notebook as the plain data of its file."""
    notebook: dict[str, Any] = json.loads(read_text(path))
    return notebook


def title(notebook: dict[str, Any]) -> str:
    """Return the heading of a lesson, as it is written."""
    return "".join(notebook["cells"][0]["source"]).partition("\n")[0].removeprefix("# ")


def asked(notebook: dict[str, Any]) -> Asked:
    """Return the predictions and exercises of a lesson by the names that it gives them, in the order it shows them."""
    trees = [
        ast.parse("".join(cell["source"]))
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    imported: dict[str, Any] = {}
    for node in (node for tree in trees for node in tree.body if isinstance(node, ast.ImportFrom)):
        if (node.module or "").startswith("copylab.lessons."):
            module = importlib.import_module(str(node.module))
            imported |= {alias.name: getattr(module, alias.name) for alias in node.names}
    shown = dict.fromkeys(name for tree in trees for name in _names(tree))
    return {
        name: imported[name]
        for name in shown
        if isinstance(imported.get(name), Prediction | Exercise)
    }


def without_answers(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a lesson without the outputs that answer its questions before they are asked.

    Those are the outputs of cells tagged `questioned` or `answer`, of cells that name a prediction or an exercise, and
    of cells that hold the program of a prediction. What `progress` showed is left out too: it is not the learner's.
    """
    things = asked(notebook)
    names = {*things, "progress"}
    programs = {thing.code for thing in things.values() if isinstance(thing, Prediction)}

    def answers(cell: dict[str, Any]) -> bool:
        tree = ast.parse("".join(cell["source"]))
        texts = (
            n.value
            for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str)
        )
        tagged = _LEFT_OUT.intersection(cell["metadata"].get("tags", ()))
        return bool(
            tagged
            or names.intersection(_names(tree))
            or programs.intersection(map(dedent_code, texts))
        )

    empty: dict[str, Any] = {"outputs": [], "execution_count": None}
    cells = [
        cell | empty if cell["cell_type"] == "code" and answers(cell) else cell
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def _names(tree: ast.Module) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def digest(file: bytes) -> str:
    """Return what stands for the content of a file: of a notebook the sources and what the outputs show.

    JupyterLab writes the rest anew as soon as it opens one, and that is nobody's change.
    """
    try:
        cells = json.loads(file, object_hook=_content)["cells"]
        content = [[cell["cell_type"], cell["source"], cell.get("outputs", [])] for cell in cells]
        file = json.dumps(content, sort_keys=True).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        pass  # no notebook
    return hashlib.sha256(file).hexdigest()


def _content(entries: dict[str, Any]) -> dict[str, Any]:
    """Texts as one string each, for a notebook may store them line by line; without what is of the machine."""

    def text(value: Any) -> Any:
        lines = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
        return "".join(value) if lines else value

    return {name: text(value) for name, value in entries.items() if name not in _OF_THE_MACHINE}
