"""Take lessons through nbgrader itself: unsolved has to get no point, solved all of them.

    pip install nbgrader                     in an environment of its own: it changes JupyterLab
    python tools/nbgrader_round_trip.py [LESSON ...]

Prints both scores of each lesson, and ends with 1 if one is not as it has to be.
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from copylab.course.grading import write_assignments


def run_nbgrader(folder: Path, *words: str) -> None:
    """Run a command of nbgrader in a folder.

    Raises CalledProcessError, with what it said, where it fails.
    """
    # nbgrader calls alembic by its name.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PATH": path,
        # Not the user's own settings of Jupyter.
        "HOME": str(folder),
    }
    command = [sys.executable, "-m", "nbgrader", *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def main(lessons: list[str]) -> int:
    """Take these lessons through, or all; return 1 if a score is not what it should be."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        names = [path.stem for path in write_assignments(folder, lessons or None)]
        for name in names:
            run_nbgrader(folder, "generate_assignment", name, "--create")
            for student, kind in (("unsolved", "release"), ("solved", "source")):
                shutil.copytree(folder / kind / name, folder / "submitted" / student / name)
            run_nbgrader(folder, "autograde", name)
        run_nbgrader(folder, "export")
        with (folder / "grades.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    wrong = 0
    for row in rows:
        expected = 0.0
        if row["student_id"] == "solved":
            expected = float(row["max_score"])
        wrong += float(row["score"]) != expected
        print(f"{row['assignment']:20} {row['student_id']:10} {row['score']} of {row['max_score']}")
    # A lesson that could not be graded has no row.
    return int(wrong > 0 or len(rows) != 2 * len(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
