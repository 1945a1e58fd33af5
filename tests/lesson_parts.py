"""What a lesson is made of: its cells of a kind, its prose, the predictions and exercises it takes from copylab."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from copylab.quiz.exercises import Exercise
from copylab.quiz.prediction import Prediction
from project_files import read_notebook


def cells(path: Path, kind: str) -> list[SimpleNamespace]:
    """Give the cells of one kind, sources and texts joined."""
    return [
        SimpleNamespace(**cell | {"source": "".join(cell["source"])})
        for cell in read_notebook(path)["cells"]
        if cell["cell_type"] == kind
    ]


def code(path: Path) -> list[SimpleNamespace]:
    return cells(path, "code")


def prose(path: Path) -> str:
    return "\n".join(cell.source for cell in cells(path, "markdown"))


def defined(path: Path) -> dict[str, Any]:
    """Give the predictions and exercises that a lesson imports from its own module, by name."""
    names: dict[str, Any] = {}
    for node in (
        n
        for c in code(path)
        for n in ast.walk(ast.parse(c.source))
        if isinstance(n, ast.ImportFrom)
    ):
        if (node.module or "").startswith("copylab.lessons."):
            module = importlib.import_module(str(node.module))
            names |= {
                alias.asname or alias.name: getattr(module, alias.name) for alias in node.names
            }
    return {
        name: thing for name, thing in names.items() if isinstance(thing, Prediction | Exercise)
    }
