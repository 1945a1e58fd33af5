"""The lessons as they lie in notebooks/: stored runs, form, links, and exercises that judge every answer rightly."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from execute_notebooks import NOTEBOOKS, lessons, normalise, read
from lesson_answers import ANSWERS

LESSONS = lessons()
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MOST_LEFT_OUT = 1
PARTS = (
    "**The question.**",
    "**What you need.**",
    "**Time.**",
    "Predict",
    "Compare",
    "Modify",
    "Make",
    "<summary>Hint 1",
    "<summary>Solution",
)


def cells(path: Path, kind: str) -> list[SimpleNamespace]:
    """Give the cells of one kind, sources and texts joined."""
    return [
        SimpleNamespace(**cell | {"source": "".join(cell["source"])})
        for cell in read(path)["cells"]
        if cell["cell_type"] == kind
    ]


def code(path: Path) -> list[SimpleNamespace]:
    return cells(path, "code")


def prose(path: Path) -> str:
    return "\n".join(cell.source for cell in cells(path, "markdown"))


def cell(path: Path, name: str) -> str:
    (source,) = [c.source for c in code(path) if c.id == name]
    return str(source)


def data(output: dict[str, Any], kind: str) -> str:
    """Give what an output holds of one kind; of a stream, its text."""
    return "".join(output.get("text", []) if kind == "text" else output.get("data", {}).get(kind, []))


def shows_something(source: str) -> bool:
    """Say whether the cell ends in a bare expression or prints at top level."""
    body = ast.parse(source).body
    calls = [node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Call)]
    defines = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    if all(isinstance(statement, defines) for statement in body):
        return False
    prints = any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)
    return prints or isinstance(body[-1], ast.Expr)


@each_lesson
def test_every_cell_that_shows_something_has_its_output(path: Path) -> None:
    silent = [c.id for c in code(path) if shows_something(c.source) and not c.outputs]
    assert not silent, f"these cells show something and have no stored output: {silent}"
    assert any(shows_something(c.source) for c in code(path))


@each_lesson
def test_outputs_are_the_same_for_everybody(path: Path) -> None:
    for c in code(path):
        for output in c.outputs:
            assert output["output_type"] != "error", f"{c.id} ends in an error"
            assert output.get("name") != "stderr", f"{c.id} prints a warning"
            text = data(output, "text") + data(output, "text/plain")
            assert not re.search(r" at 0x[0-9a-f]+|ipykernel_|/site-packages/", text), c.id


@each_lesson
def test_stored_form(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == normalise(read(path)), "run: python tests/execute_notebooks.py"


@each_lesson
def test_few_cells_are_left_out_on_torch(path: Path) -> None:
    tags = [tag for c in code(path) for tag in c.metadata.get("tags", [])]
    assert tags.count("tinytorch-only") <= MOST_LEFT_OUT


@each_lesson
def test_engine_import_is_a_cell_of_its_own(path: Path) -> None:
    assert [c.source for c in code(path) if "tinytorch" in c.source] == ["import tinytorch as torch"]


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
    for part in PARTS:
        assert part in text, part
    assert "| your prediction |" in text
    assert "README.md" in text
    assert "https://docs.pytorch.org/" in text


def test_every_lesson_is_listed() -> None:
    listed = re.findall(r"\((\d\d_\w+\.ipynb)\)", (NOTEBOOKS / "README.md").read_text(encoding="utf-8"))
    assert listed == [p.name for p in LESSONS]


# ---- exercises

EXERCISES = [(path, c.id.partition("-")[2]) for path in LESSONS for c in code(path) if c.id.startswith("exercise-")]


def judge(path: Path, number: str, answer: str, engine: str) -> str:
    """Give what the check of an exercise prints if its cell holds `answer`."""
    names: dict[str, Any] = {"__name__": "__main__", "torch": importlib.import_module(engine)}
    parts = [cell(path, "import-tools"), cell(path, f"checker-{number}")]
    out = io.StringIO()
    for source in [*parts, answer]:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, names)
    with contextlib.redirect_stdout(out):
        exec(cell(path, f"check-{number}"), names)
    return out.getvalue().strip()


CASES = [
    pytest.param(path, number, answer, expected, id=f"{path.stem}-{number}-{index}")
    for path, number in EXERCISES
    for index, (answer, expected) in enumerate(ANSWERS[path.stem, number])
]
engines = pytest.mark.parametrize("engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])


@engines
@pytest.mark.parametrize(("path", "number"), EXERCISES, ids=lambda v: getattr(v, "stem", v))
def test_untouched_exercise_says_that_it_is_not_attempted(path: Path, number: str, engine: str) -> None:
    assert judge(path, number, cell(path, f"exercise-{number}"), engine).startswith("Not attempted yet")


@engines
@pytest.mark.parametrize(("path", "number", "answer", "expected"), CASES)
def test_each_answer_gets_its_own_words(path: Path, number: str, answer: str, expected: str, engine: str) -> None:
    said = judge(path, number, answer, engine)
    assert expected in said
    assert said.startswith("Right" if expected.startswith("Right") else "Not yet")


@pytest.mark.parametrize(("path", "number"), EXERCISES, ids=lambda v: getattr(v, "stem", v))
def test_wrong_answers_are_told_apart_and_a_right_one_is_listed(path: Path, number: str) -> None:
    expected = [words for _, words in ANSWERS[path.stem, number]]
    assert len(set(expected) - {"Right"}) == len([w for w in expected if not w.startswith("Right")]) >= 3
    assert any(words.startswith("Right") for words in expected)


def test_every_answer_belongs_to_an_exercise() -> None:
    assert set(ANSWERS) == {(path.stem, number) for path, number in EXERCISES}


# ---- the tools above can fail


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
        "outputs": [{"output_type": "execute_result", "execution_count": 7, "metadata": {"x": 1}, "data": {}}],
        "source": "1 +\\\n1",
    }
    sample = {"cells": [cell], "metadata": {"language_info": {"version": "3.12.1"}, "widgets": {}}}
    text = normalise(sample)
    assert not re.search(r"iopub|3\.12|widgets|\b7\b|\"x\"", text)
    assert '"source_hidden": true' in text
    assert '"hide-input"' in text
    assert normalise(sample) == text


@pytest.mark.parametrize(
    ("source", "shows"),
    [
        ("x", True),
        ("print(x)", True),
        ("for x in y:\n    print(x)", True),
        ("x = 1", False),
        ("import torch", False),
        ("def f():\n    print(1)", False),
    ],
)
def test_what_counts_as_showing_something(source: str, shows: bool) -> None:
    assert shows_something(source) is shows
