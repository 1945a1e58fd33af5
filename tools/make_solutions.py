"""Write the solution notebooks from the lessons and what the package defines for them.

    python tools/make_solutions.py               all
    python tools/make_solutions.py 02_clone      those whose name holds this
    python tools/make_solutions.py --check       say which are out of date; run and change nothing

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
    imports, definitions = _find_definitions(sources)
    filters = _find_warning_filters(sources)
    head = [*HEAD, "from pathlib import Path"]
    if filters:
        head.insert(len(HEAD), "import warnings")
    links = f"[the lesson](../{path.name}). [All solutions](README.md)"
    cells = [
        _markdown_cell("title", f"# Solutions: {title}\n\nTry first: {links}"),
        _code_cell("import-engine", "import tinytorch as torch"),
        _code_cell("import-tools", "\n\n".join(["\n".join(head), imports, ASIDE, *filters])),
    ]
    for source in sources:
        # A lesson shows a prediction or an exercise by a cell that is its name alone.
        name = source.strip()
        definition = definitions.get(name)
        if isinstance(definition, Prediction):
            cells += _prediction_cells(name, definition)
        elif isinstance(definition, Exercise):
            cells += _exercise_cells(name, definition)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def _find_warning_filters(sources: list[str]) -> list[str]:
    """Return the lines that silence warnings: what Python prints of one differs in each kernel."""
    filters = []
    for source in sources:
        lines = [line.partition("  #")[0] for line in source.splitlines()]
        filters += [line for line in lines if line.startswith("warnings.")]
    return filters


def _find_definitions(sources: list[str]) -> tuple[str, dict[str, Any]]:
    """Return the lines that import a lesson's predictions and exercises, and these by name."""
    lines: list[str] = []
    definitions: dict[str, Any] = {}
    for node in ast.parse("\n".join(sources)).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        if (node.module or "").startswith("copylab.lessons."):
            lines.append(_import_line(node))
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                definitions[alias.name] = getattr(module, alias.name)
    return "\n".join(lines), definitions


def _import_line(node: ast.ImportFrom) -> str:
    """Write an import as the formatter of this project has it."""
    line = ast.unparse(node)
    if len(line) <= 120:
        return line
    names = "".join(f"    {ast.unparse(alias)},\n" for alias in node.names)
    return f"from {node.module} import (\n{names})"


def _prediction_cells(name: str, prediction: Prediction) -> list[dict[str, Any]]:
    run = prediction.run(tinytorch)
    rows = ""
    for question in prediction.questions:
        # As a learner would type it, and as `commit` reads it.
        answer = question.normalize_answer(format_answer(question.right_answer(run)))
        rows += f"        {_quote_double(answer)},  # {plain_text(question.text)}\n"
    code = "\n".join(f"    {line}" for line in prediction.code.splitlines())
    return [
        _markdown_cell(f"predict-{name}", f"## Prediction\n\n{code}"),
        _code_cell(f"commit-{name}", f"{name}.commit(\n    [\n{rows}    ]\n)"),
    ]


def _quote_double(answer: object) -> str:
    """Write an answer as the layout of this project has it, in double quotes."""
    if isinstance(answer, str):
        return json.dumps(answer, ensure_ascii=False)
    return repr(answer)


def _exercise_cells(name: str, exercise: Exercise) -> list[dict[str, Any]]:
    verdicts = []
    for wrong in exercise.wrong:
        verdict = exercise._judge_attempt(wrong, tinytorch, [])
        verdicts.append(f"```python\n{wrong}\n```\n\n> {verdict}\n")
    cells = [_markdown_cell(f"task-{name}", f"## {exercise.title}\n\n{exercise.task}")]
    if exercise.start:
        cells.append(_code_cell(f"start-{name}", exercise.start))
    summary = "<summary>Wrong answers, and what the check says to them</summary>"
    # A blank line after the summary: else Markdown would not read what follows.
    details = f"<details>{summary}\n\n" + "\n".join(verdicts) + "\n</details>"
    return [
        *cells,
        _markdown_cell(f"solution-{name}", "One solution:"),
        _code_cell(f"answer-{name}", exercise.code),
        _code_cell(f"check-{name}", f"{name}.check()"),
        _markdown_cell(f"wrong-{name}", details),
    ]


def _markdown_cell(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": _cell_id(name), "metadata": {}, "source": source}


def _code_cell(name: str, source: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": _cell_id(name), "source": source, **empty}


def _cell_id(name: str) -> str:
    # Of the characters that nbformat allows.
    return re.sub(r"[^a-zA-Z0-9_-]", "-", name)


def render_index() -> str:
    """Return the README of the folder."""
    links = []
    for path in list_lessons():
        title = path.stem.replace("_", " ", 1)
        links.append(f"- [{title}]({path.name})")
    return (
        "# Solutions\n\n"
        "Generated from the definitions that the lessons use, and run like them. For every exercise: "
        "one solution, and\nwhat the check says to the wrong answers that are expected. Try first.\n\n"
        + "\n".join(links)
        + "\n"
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
        target = FOLDER / path.name
        solution = make_solution(path)
        if options.check:
            if not target.exists() or cell_sources(read_notebook(target)) != cell_sources(solution):
                print(
                    f"solutions/{path.name} is out of date; run: python tools/make_solutions.py {path.stem}"
                )
                status = 1
            continue
        # Written before it runs, too: it is run as a file.
        FOLDER.mkdir(exist_ok=True)
        target.write_text(normalise_notebook(solution), encoding="utf-8", newline="\n")
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
