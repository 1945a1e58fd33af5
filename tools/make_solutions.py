"""Write the solution notebooks from the lessons and what the package defines for them, and store their runs.

    python tools/make_solutions.py               all
    python tools/make_solutions.py 02_clone      those whose name holds this
    python tools/make_solutions.py --check       say which are not what they should be; run nothing, change nothing

Nothing is written by hand: predictions are committed with the answers that a run gives, exercises
with their solution, and every listed wrong answer is there with what the check says to it.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from copylab.course import cheatsheet
from copylab.doc import plain_text
from copylab.quiz.answers import format_answer
from copylab.quiz.exercises import Exercise
from copylab.quiz.prediction import Prediction
from execute_notebooks import (
    METADATA,
    NOTEBOOKS,
    execute_notebook,
    list_lessons,
    normalise_notebook,
)
from project_files import read_notebook

import tinytorch

FOLDER = NOTEBOOKS / "solutions"
HEAD = ["import os", "import tempfile"]
ASIDE = (
    "# What you have solved yourself stays noted as it is.\n"
    'os.environ["COPYLAB_PROGRESS"] = str(Path(tempfile.mkdtemp(), "progress.json"))'
)


def make_solution(path: Path) -> dict[str, Any]:
    """Return the solution notebook of a lesson, without its run."""
    notebook = read_notebook(path)
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    title = "".join(notebook["cells"][0]["source"]).partition("\n")[0].removeprefix("# ")
    imports, things = _find_definitions(sources)
    # What a lesson silences is silent in its solutions: what Python prints of a warning differs in
    # each kernel.
    lines = [line.partition("  #")[0] for source in sources for line in source.splitlines()]
    filters = [line for line in lines if line.startswith("warnings.")]
    head = "\n".join([*HEAD, *(["import warnings"] if filters else []), "from pathlib import Path"])
    cells = [
        _markdown_cell(
            "title",
            f"# Solutions: {title}\n\nTry first: [the lesson](../{path.name}). [All solutions](README.md)",
        ),
        _code_cell("import-engine", "import tinytorch as torch"),
        _code_cell("import-tools", "\n\n".join([head, imports, ASIDE, *filters])),
    ]
    for source in sources:
        thing = things.get(source.strip())
        if isinstance(thing, Prediction):
            cells += _prediction_cells(source.strip(), thing)
        elif isinstance(thing, Exercise):
            cells += _exercise_cells(source.strip(), thing)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def _find_definitions(sources: list[str]) -> tuple[str, dict[str, Any]]:
    """The lines that import a lesson's predictions and exercises, and those by name."""
    lines: list[str] = []
    things: dict[str, Any] = {}
    for node in (node for source in sources for node in ast.parse(source).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("copylab.lessons."):
            line = ast.unparse(node)
            names = "".join(f"    {ast.unparse(alias)},\n" for alias in node.names)
            lines.append(line if len(line) <= 120 else f"from {node.module} import (\n{names})")
            module = importlib.import_module(str(node.module))
            things |= {alias.name: getattr(module, alias.name) for alias in node.names}
    return "\n".join(lines), things


def _prediction_cells(name: str, prediction: Prediction) -> list[dict[str, Any]]:
    run = prediction.run(tinytorch)
    answers = [
        question.normalize_answer(format_answer(question.right_answer(run)))
        for question in prediction.questions
    ]
    listed = "\n".join(
        f"        {_quote_double(answer)},  # {plain_text(q.text)}"
        for q, answer in zip(prediction.questions, answers, strict=True)
    )
    code = "\n".join(f"    {line}" for line in prediction.code.splitlines())
    return [
        _markdown_cell(f"predict-{name}", f"## Prediction\n\n{code}"),
        _code_cell(f"commit-{name}", f"{name}.commit(\n    [\n{listed}\n    ]\n)"),
    ]


def _quote_double(answer: object) -> str:
    """Write an answer as the layout of this project has it, in double quotes."""
    return json.dumps(answer, ensure_ascii=False) if isinstance(answer, str) else repr(answer)


def _exercise_cells(name: str, exercise: Exercise) -> list[dict[str, Any]]:
    rows = []
    for wrong in exercise.wrong:
        verdict = exercise._judge_attempt(wrong, tinytorch, [])
        rows.append(f"```python\n{wrong}\n```\n\n> {verdict}\n")
    more = "\n".join(rows)
    return [
        _markdown_cell(f"task-{name}", f"## {exercise.title}\n\n{exercise.task}"),
        *([_code_cell(f"start-{name}", exercise.start)] if exercise.start else []),
        _markdown_cell(f"solution-{name}", "One solution:"),
        _code_cell(f"answer-{name}", exercise.code),
        _code_cell(f"check-{name}", f"{name}.check()"),
        _markdown_cell(
            f"wrong-{name}",
            f"<details><summary>Wrong answers, and what the check says to them</summary>\n\n{more}\n</details>",
        ),
    ]


def _markdown_cell(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": _cell_id(name), "metadata": {}, "source": source}


def _code_cell(name: str, source: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": _cell_id(name), "source": source, **empty}


def _cell_id(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "-", name)


def render_index() -> str:
    """Return the README of the folder."""
    links = "\n".join(
        f"- [{path.stem.replace('_', ' ', 1)}]({path.name})" for path in list_lessons()
    )
    return (
        "# Solutions\n\nGenerated from the definitions that the lessons use, and run like them. For every exercise: "
        f"one solution, and\nwhat the check says to the wrong answers that are expected. Try first.\n\n{links}\n"
    )


def cell_sources(notebook: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what of a notebook does not come from its run: ids and sources."""
    return [(cell["id"], "".join(cell["source"])) for cell in notebook["cells"]]


def main(argv: list[str] | None = None) -> int:
    """Write or check the solutions; see the module's text."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="only those whose name holds this")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if one is not what it should be"
    )
    options = parser.parse_args(argv)
    status = 0
    for path in list_lessons(options.pattern):
        target, made = FOLDER / path.name, make_solution(path)
        if options.check:
            if not target.exists() or cell_sources(read_notebook(target)) != cell_sources(made):
                print(
                    f"solutions/{path.name} is out of date; run: python tools/make_solutions.py {path.stem}"
                )
                status = 1
            continue
        FOLDER.mkdir(exist_ok=True)
        target.write_text(normalise_notebook(made), encoding="utf-8", newline="\n")
        text = normalise_notebook(execute_notebook(target))
        target.write_text(text, encoding="utf-8", newline="\n")
        print(f"stored solutions/{path.name}")
    if not options.check:
        (FOLDER / "README.md").write_text(render_index(), encoding="utf-8", newline="\n")
        (FOLDER.parent / "cheat_sheet.html").write_text(
            cheatsheet.render_cheat_sheet(tinytorch), encoding="utf-8", newline="\n"
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
