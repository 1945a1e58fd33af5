"""Use what is published where nothing else is installed. To be run by hand: it downloads packages.

    python tools/fresh_environments.py              in environments of this Python
    python tools/fresh_environments.py PYTHON ...   in environments of others, given by their paths

The source distribution is built, and the wheel from it. Each of both is installed into an
environment of its own, and used in an empty folder: pictures, a graph, every widget, the lessons,
the command.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USE = """
import sys
import tinytorch as torch
from copylab import CopyLab, compare, exercise, graph, memory, predict, steps
from copylab.course.lesson import lessons_folder

x = torch.ones(3, requires_grad=True)
y = x.clone() * 2
code = "x = torch.ones(3, requires_grad=True)\\ny = x.clone()\\ny.sum().backward()"
assert "MulBackward0" in graph(y).svg
assert "2.0" in memory(y).svg
widgets = [steps(code).live(), CopyLab(), compare("clone", "detach"), predict(code).live()]
assert all(len(widget.html) > 300 for widget in widgets)
assert len(list(lessons_folder().glob("*.ipynb"))) >= 15
assert lessons_folder().is_relative_to(sys.prefix), "another copylab was found"
print("Python", sys.version.split()[0], "works with", lessons_folder().parent)
"""


def run_command(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder and return what it prints; what went wrong ends this program."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_environment(python: str, folder: Path) -> Path:
    """Make an environment of a Python in a folder and return its interpreter."""
    # By a process of that Python, and not by the module `venv`: this makes environments of its own.
    run_command(python, "-m", "venv", folder, folder=folder.parent)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def build_packages(folder: Path) -> list[Path]:
    """Build the source distribution, and the wheel from what is in it; return both."""
    # The wheel is made from the unpacked source distribution: a file that this lacks is missing.
    python = make_environment(sys.executable, folder / "builder")
    run_command(python, "-m", "pip", "install", "--quiet", "build", folder=folder)
    run_command(python, "-m", "build", "--outdir", folder / "dist", ROOT, folder=folder)
    return sorted((folder / "dist").iterdir())


def main(pythons: list[str]) -> None:
    """Build, install, use; the first thing that fails ends it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = build_packages(folder)
        for number, python in enumerate(pythons):
            for package in packages:
                # Each in its own: what one installs, the other would find.
                own = folder / f"{number}{package.suffix}"
                fresh = make_environment(python, own)
                run_command(fresh, "-m", "pip", "install", "--quiet", package, folder=folder)
                # With -I neither this folder nor a variable leads to another copylab.
                printed = run_command(fresh, "-I", "-c", USE, folder=own).strip()
                print(package.name, printed, flush=True)
                run_command(fresh, "-I", "-m", "copylab", "--help", folder=own)


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
