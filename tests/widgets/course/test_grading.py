"""Lessons as assignments: what nbgrader is given, and what it makes of answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from copylab.course.grading import write_assignments
from nbclient import NotebookClient


def test_each_exercise_is_an_answer_and_a_check(tmp_path: Path) -> None:
    (path,) = write_assignments(tmp_path, ["02_clone"], points=3)
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    marked = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    answers = [cell for cell in marked if cell.metadata.nbgrader.solution]
    checks = [cell for cell in marked if cell.metadata.nbgrader.grade]
    assert [cell.source for cell in checks] == ["assert readings.check()", "assert both.check()"]
    assert all(
        cell.metadata.nbgrader.points == 3 and cell.metadata.nbgrader.locked for cell in checks
    )
    assert all("### BEGIN SOLUTION" in cell.source for cell in answers)
    assert len(answers) == len(checks)
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_all_lessons_with_exercises_and_a_config_that_is_kept(tmp_path: Path) -> None:
    assert len(write_assignments(tmp_path)) > 10
    config = tmp_path / "nbgrader_config.py"
    config.write_text("# mine")
    remarks: list[str] = []
    assert write_assignments(tmp_path, tell=remarks.append) == []
    assert len(remarks) > 10
    assert config.read_text() == "# mine"


def test_an_assignment_that_is_there_stays_as_the_teacher_edited_it(tmp_path: Path) -> None:
    remarks: list[str] = []
    (path,) = write_assignments(tmp_path, ["02_clone"], tell=remarks.append)
    path.write_text("edited")
    written = write_assignments(tmp_path, ["02_clone", "03_detach"], tell=remarks.append)
    assert [file.stem for file in written] == ["03_detach"]
    assert path.read_text() == "edited"
    assert remarks == [
        "source/02_clone/02_clone.ipynb is there already and stays as it is. Rename it to have it written anew."
    ]


def test_nothing_is_written_through_links(tmp_path: Path) -> None:
    outside, own = tmp_path / "outside", tmp_path / "own"
    for folder in (outside, own / "source"):
        folder.mkdir(parents=True)
    (own / "nbgrader_config.py").symlink_to(outside / "config.py")
    (own / "source" / "02_clone").symlink_to(outside)
    with pytest.raises(OSError, match="links are not followed"):
        write_assignments(own, ["02_clone"])
    write_assignments(own, ["03_detach"])
    assert list(outside.iterdir()) == []


def test_an_assignment_is_in_the_language_that_was_asked_for(tmp_path: Path) -> None:
    texts = {}
    for language in ("en", "zh"):
        (path,) = write_assignments(tmp_path / language, ["02_clone"], language=language)
        texts[language] = json.loads(path.read_text("utf-8"))
    assert [cell["metadata"] for cell in texts["zh"]["cells"]] == [
        cell["metadata"] for cell in texts["en"]["cells"]
    ]
    assert "".join(texts["en"]["cells"][0]["source"]).isascii()
    assert not "".join(texts["zh"]["cells"][0]["source"]).isascii()
    with pytest.raises(ValueError, match="does not exist in 'xx'"):
        write_assignments(tmp_path, ["02_clone"], language="xx")


def test_a_lesson_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no lesson '99_none'. The lessons are: 00_start, "):
        write_assignments(tmp_path, ["99_none"])


@pytest.mark.slow
@pytest.mark.parametrize("solved", [False, pytest.param(True, marks=pytest.mark.stress)])
def test_what_is_not_solved_fails_its_cell_and_what_is_solved_does_not(
    tmp_path: Path, solved: bool
) -> None:
    (path,) = write_assignments(tmp_path, ["02_clone"])
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        if not solved:  # what nbgrader takes out
            cell.source = re.sub(
                r"### BEGIN SOLUTION\n.*### END SOLUTION", "", cell.source, flags=re.DOTALL
            )
    NotebookClient(notebook, allow_errors=True, kernel_name="python3").execute()
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            assert any(output.output_type == "error" for output in cell.outputs) != solved
