"""The solution notebooks are what the lessons and their definitions make of them, and every check says Right."""

from pathlib import Path

import pytest
from copylab.course.solutions import make_solution
from execute_notebooks import list_lessons, normalise_notebook
from make_solutions import FOLDER, cell_sources, render_index
from project_files import read_notebook

each = pytest.mark.parametrize("path", list_lessons(), ids=lambda path: path.stem)


@each
def test_it_is_up_to_date(path: Path) -> None:
    assert cell_sources(read_notebook(FOLDER / path.name)) == cell_sources(make_solution(path)), (
        f"python tools/make_solutions.py {path.stem}"
    )


@each
def test_every_check_passes_and_every_prediction_is_right(path: Path) -> None:
    notebook = read_notebook(FOLDER / path.name)
    told = {
        cell["id"]: "".join(
            "".join(o.get("data", {}).get("text/plain", [])) for o in cell["outputs"]
        )
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    }
    checks = [text for name, text in told.items() if name.startswith("check-")]
    commits = [text for name, text in told.items() if name.startswith("commit-")]
    assert checks
    assert [text for text in checks if not text.startswith("Right: ")] == []
    assert [text for text in commits if not text.startswith(("All ", "Right."))] == []


@each
def test_it_is_in_the_stored_form(path: Path) -> None:
    target = FOLDER / path.name
    assert target.read_text(encoding="utf-8") == normalise_notebook(read_notebook(target))


def test_the_index_lists_all() -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == render_index()
