"""The solution notebook of a lesson, made of the lesson and of what the package defines for it.

Nothing is written by hand: predictions are committed with the answers that a run gives, exercises
with their solution, and every listed wrong answer is there with what the check says to it.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path
from typing import Any

import tinytorch

from ..doc import plain_text
from ..quiz import Exercise, Prediction, format_answer
from ..wording import gettext
from .lesson import title_of
from .translation import read_translated

HEAD = ["import os", "import tempfile"]
ASIDE = 'os.environ["COPYLAB_PROGRESS"] = str(Path(tempfile.mkdtemp(), "progress.json"))'


def make_solution(path: Path, language: str = "en") -> dict[str, Any]:
    """Return the solution notebook of a lesson, without metadata and without its run.

    language: of the lesson's title; all else is in the language that is in use.
    """
    notebook = json.loads(read_translated(path, language))
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    title = gettext("Solutions: {title}", title=title_of(notebook))
    imports, definitions = _find_definitions(sources)
    filters = _find_warning_filters(sources)
    head = [*HEAD, "from pathlib import Path"]
    if filters:
        # Where the formatter of this project wants it: in order, and before what is imported by
        # `from`.
        head.insert(len(HEAD), "import warnings")
    links = gettext(
        "Try first: [the lesson]({lesson}). [All solutions](README.md)", lesson=f"../{path.name}"
    )
    aside = gettext("What you have solved yourself stays in your record.")
    cells = [
        _markdown_cell("title", f"# {title}\n\n{links}"),
        _code_cell("import-engine", "import tinytorch as torch"),
        _code_cell(
            "import-tools", "\n\n".join(["\n".join(head), imports, f"# {aside}\n{ASIDE}", *filters])
        ),
    ]
    for source in sources:
        # A lesson shows a prediction or an exercise by a cell that is its name alone.
        name = source.strip()
        definition = definitions.get(name)
        if isinstance(definition, Prediction):
            cells += _prediction_cells(name, definition)
        elif isinstance(definition, Exercise):
            cells += _exercise_cells(name, definition)
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


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
        _markdown_cell(f"predict-{name}", f"## {gettext('Prediction')}\n\n{code}"),
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
    summary = gettext("Wrong answers, and what the check says about them")
    # A blank line after the summary: else Markdown would not read what follows.
    details = f"<details><summary>{summary}</summary>\n\n" + "\n".join(verdicts) + "\n</details>"
    return [
        *cells,
        _markdown_cell(f"solution-{name}", gettext("One solution:")),
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
