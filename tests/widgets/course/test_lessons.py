"""The lessons in notebooks/: stored runs, form, links, predictions and exercises as they are defined."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from copylab.quiz.exercises import Exercise
from copylab.quiz.prediction import Prediction
from execute_notebooks import NOTEBOOKS, list_lessons, normalise_notebook
from lesson_parts import code, defined, prose
from project_files import read_notebook

LESSONS = list_lessons()
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MOST_LEFT_OUT = 1
MOST_COLUMNS = 105
"""So many letters of a printed line are in sight in a window of 1280 px, beside JupyterLab's file
browser. JupyterLab breaks a longer one within a word."""
GIVE_NONE = {"append", "backward", "extend", "filterwarnings", "simplefilter", "step", "zero_grad"}
PARTS = (
    "**The question.**",
    "**What you need.**",
    "**Time.**",
    "README.md",
    "https://docs.pytorch.org/",
)


def data(output: dict[str, Any], kind: str) -> str:
    """Give what an output holds of one kind; of a stream, its text."""
    return "".join(
        output.get("text", []) if kind == "text" else output.get("data", {}).get(kind, [])
    )


def shows_something(source: str) -> bool:
    """Say whether the cell ends in a bare expression or prints at top level."""
    body = ast.parse(source).body
    calls = [node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Call)]
    defines = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    if all(isinstance(statement, defines) for statement in body):
        return False
    prints = any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)
    last = body[-1].value if isinstance(body[-1], ast.Expr) else None
    silent = (
        isinstance(last, ast.Call)
        and isinstance(last.func, ast.Attribute)
        and last.func.attr in GIVE_NONE
    )
    return prints or (last is not None and not silent)


@each_lesson
def test_every_cell_that_shows_something_has_its_output(path: Path) -> None:
    silent = [c.id for c in code(path) if shows_something(c.source) and not c.outputs]
    assert not silent, f"these cells show something and have no stored output: {silent}"
    assert any(shows_something(c.source) for c in code(path))


@pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.rglob("*.ipynb")), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_outputs_are_the_same_for_everybody(path: Path) -> None:
    for c in code(path):
        for output in c.outputs:
            assert output["output_type"] != "error", f"{c.id} ends in an error"
            assert output.get("name") != "stderr", f"{c.id} prints a warning"
            text = data(output, "text") + data(output, "text/plain")
            assert not re.search(r" at 0x[0-9a-f]+|ipykernel_|/site-packages/", text), c.id


@each_lesson
def test_no_printed_line_is_broken_within_a_word(path: Path) -> None:
    for c in code(path):
        for line in "".join(data(output, "text") for output in c.outputs).splitlines():
            assert len(line) <= MOST_COLUMNS, f"{c.id}: print it with fill(..., 100): {line}"


@each_lesson
def test_stored_form(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == normalise_notebook(read_notebook(path)), (
        "run: python tools/execute_notebooks.py"
    )


@each_lesson
def test_few_cells_are_left_out_on_torch(path: Path) -> None:
    tags = [tag for c in code(path) for tag in c.metadata.get("tags", [])]
    assert tags.count("tinytorch-only") <= MOST_LEFT_OUT


@each_lesson
def test_engine_import_is_a_cell_of_its_own(path: Path) -> None:
    assert [c.source for c in code(path) if "tinytorch" in c.source] == [
        "import tinytorch as torch"
    ]


@each_lesson
def test_every_link_inside_the_folder_leads_somewhere(path: Path) -> None:
    links = [link for link in _LINK.findall(prose(path)) if not link.startswith("https://")]
    assert links
    for link in links:
        assert (path.parent / link).is_file(), link


@each_lesson
def test_every_picture_has_alt_text(path: Path) -> None:
    pages = [data(output, "text/html") for c in code(path) for output in c.outputs]
    images = [image for page in pages for image in re.findall(r"<img\b[^>]*>", page)]
    assert images, "a lesson without a picture"
    for image in images:
        assert re.search(r'\balt="[^"]{10,}"', image), image[:200]


@each_lesson
def test_parts_of_the_template_are_there(path: Path) -> None:
    text = prose(path)
    assert [part for part in PARTS if part not in text] == []


def misleading(headings: str) -> list[str]:
    """Give the headings that a skimmer learns nothing from, or something false: numbered ones, unmarked quotes."""
    return re.findall(r"^#{2,} (?:\d|[\"“]).*", headings, re.MULTILINE)


@each_lesson
def test_headings_can_be_read_alone(path: Path) -> None:
    assert misleading(prose(path)) == []


def test_every_lesson_is_listed() -> None:
    listed = re.findall(
        r"^\| \[.*?\]\((\d\d_\w+\.ipynb)\)",
        (NOTEBOOKS / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert listed == [p.name for p in LESSONS]


# ---- predictions and exercises: what is shown is what the package defines and test_lesson_definitions.py verifies


@each_lesson
def test_a_lesson_has_a_prediction_and_two_exercises_and_shows_all_it_imports(path: Path) -> None:
    things = defined(path)
    shown = [c.source.strip() for c in code(path)]
    assert sum(isinstance(thing, Prediction) for thing in things.values()) >= 1
    assert sum(isinstance(thing, Exercise) for thing in things.values()) >= 2
    assert [name for name in things if name not in shown] == []


@each_lesson
def test_below_each_exercise_stand_its_start_and_its_check(path: Path) -> None:
    sources = [c.source.strip() for c in code(path)]
    for name, exercise in defined(path).items():
        if isinstance(exercise, Exercise):
            at = sources.index(name)
            answer, *between, check = sources[at + 1 : sources.index(f"{name}.check()") + 1]
            assert len(between) <= 1, "a look at the answer may stand in between"
            assert ast.dump(ast.parse(answer)) == ast.dump(ast.parse(exercise.start)), (
                f"{name}: not its start"
            )
            assert check == f"{name}.check()"


@each_lesson
def test_stored_exercises_are_not_attempted_and_predictions_not_answered(path: Path) -> None:
    outputs = {c.source.strip(): c.outputs for c in code(path)}
    for name, thing in defined(path).items():
        told = "".join(data(output, "text/plain") for output in outputs[name])
        assert thing.text in told, "run: python tools/execute_notebooks.py"
        if isinstance(thing, Exercise):
            (verdict,) = outputs[f"{name}.check()"]
            assert data(verdict, "text/plain").startswith("Not attempted: ")


# ---- the tools above can fail


def test_a_false_sentence_as_a_heading_needs_a_mark() -> None:
    assert misleading('## Myth: "A clone is free."\n## Two names\n') == []
    assert len(misleading('## 5. Compare\n### "A clone is free."\n')) == 2


def test_the_stored_form_leaves_out_what_differs_between_two_runs() -> None:
    cell = {
        "cell_type": "code",
        "id": "a",
        "execution_count": 7,
        "metadata": {
            "execution": {"iopub.status.busy": "2024"},
            "jupyter": {"source_hidden": True},
            "tags": ["hide-input"],
        },
        "outputs": [
            {
                "output_type": "execute_result",
                "execution_count": 7,
                "metadata": {"x": 1},
                "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "a widgets id"}},
            }
        ],
        "source": "1 +\\\n1",
    }
    sample = {"cells": [cell], "metadata": {"language_info": {"version": "3.12.1"}, "widgets": {}}}
    text = normalise_notebook(sample)
    assert not re.search(r"iopub|3\.12|widgets|\b7\b|\"x\"", text)
    assert '"source_hidden": true' in text
    assert '"hide-input"' in text
    assert normalise_notebook(sample) == text


@pytest.mark.parametrize(
    ("source", "shows"),
    [
        ("x", True),
        ("print(x)", True),
        ("for x in y:\n    print(x)", True),
        ("x = 1", False),
        ("y.backward()", False),
        ("x.add_(1)", True),
        ("f(x)", True),
        ("import torch", False),
        ("def f():\n    print(1)", False),
    ],
)
def test_what_counts_as_showing_something(source: str, shows: bool) -> None:
    assert shows_something(source) is shows
