"""Lessons as assignments: what nbgrader is given, and what it makes of answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from copylab.course.grading import assign


def test_each_exercise_is_an_answer_and_a_check(tmp_path: Path) -> None:
    (path,) = assign(tmp_path, ["02_clone"], points=3)
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    marked = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    answers = [cell for cell in marked if cell.metadata.nbgrader.solution]
    checks = [cell for cell in marked if cell.metadata.nbgrader.grade]
    assert [cell.source for cell in checks] == ["assert readings.check()", "assert both.check()"]
    assert all(cell.metadata.nbgrader.points == 3 and cell.metadata.nbgrader.locked for cell in checks)
    assert all("### BEGIN SOLUTION" in cell.source for cell in answers)
    assert len(answers) == len(checks)
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_all_lessons_with_exercises_and_a_config_that_is_kept(tmp_path: Path) -> None:
    assert len(assign(tmp_path)) > 10
    config = tmp_path / "nbgrader_config.py"
    config.write_text("# mine")
    assign(tmp_path)
    assert config.read_text() == "# mine"


def test_a_lesson_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no lesson '99_none'; there are: 00_start, "):
        assign(tmp_path, ["99_none"])


@pytest.mark.slow
def test_unsolved_gets_nothing_and_solved_gets_all(tmp_path: Path) -> None:
    assign(tmp_path, ["02_clone"])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # it calls alembic
        "HOME": str(tmp_path),
    }

    def nbgrader(*words: str) -> str:
        command = [sys.executable, "-m", "nbgrader", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    nbgrader("generate_assignment", "02_clone", "--create")
    released = (tmp_path / "release/02_clone/02_clone.ipynb").read_text("utf-8")
    assert "BEGIN SOLUTION" not in released
    assert "kept.append(reading.clone())" not in released
    for student, kind in (("unsolved", "release"), ("solved", "source")):
        shutil.copytree(tmp_path / kind / "02_clone", tmp_path / "submitted" / student / "02_clone")
    nbgrader("autograde", "02_clone")
    nbgrader("export")
    rows = [line.split(",") for line in (tmp_path / "grades.csv").read_text().splitlines()]
    scores = {row[rows[0].index("student_id")]: float(row[rows[0].index("score")]) for row in rows[1:]}
    assert scores == {"unsolved": 0, "solved": 2}
