"""The solution notebooks are what the lessons and their definitions make of them, and every check says Right."""

from pathlib import Path

import pytest
from execute_notebooks import lessons, normalise, read
from make_solutions import FOLDER, index, solved, unrun

each = pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)


@each
def test_it_is_up_to_date(path: Path) -> None:
    assert unrun(read(FOLDER / path.name)) == unrun(solved(path)), (
        f"python tools/make_solutions.py {path.stem}"
    )


@each
def test_every_check_passes_and_every_prediction_is_right(path: Path) -> None:
    notebook = read(FOLDER / path.name)
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
    assert target.read_text(encoding="utf-8") == normalise(read(target))


def test_the_index_lists_all() -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == index()
