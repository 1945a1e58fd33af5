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
    """Run a command of nbgrader in a folder. Raises CalledProcessError, with what it said, where it fails."""
    # nbgrader calls alembic by its name.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PATH": path,
        "HOME": str(folder),
    }
    command = [sys.executable, "-m", "nbgrader", *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def main(lessons: list[str]) -> int:
    """Take them through, or all there are."""
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
        should = float(row["max_score"]) if row["student_id"] == "solved" else 0.0
        wrong += float(row["score"]) != should
        print(f"{row['assignment']:20} {row['student_id']:10} {row['score']} of {row['max_score']}")
    return int(wrong > 0 or len(rows) != 2 * len(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
