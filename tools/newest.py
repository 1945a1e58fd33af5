"""Run the tests with today's newest release of everything, in an environment that is thrown away.

    python tools/newest.py                      lint and types aside, all that `start.py test` runs
    python tools/newest.py unit notebooks       some of it
    python tools/newest.py --torch 2.14.1 unit  with that PyTorch, too

constraints.txt says what a clone runs with; this says what fails once it is renewed. Warnings do
not fail a test here: that a package deprecates something is printed at the end of each stage, and
is no fault yet.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGES = ("unit", "notebooks", "notebooks-torch", "browser")


def make_environment(folder: Path, torch: str | None) -> str:
    """Install the newest releases into a folder and return its Python.

    torch: the release of PyTorch to install, too. Raises CalledProcessError if pip fails.
    """
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
    install = [python, "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run([*install, "pip"], check=True)
    packages = ["--editable", f"{ROOT}[course,test]"]
    if torch:
        packages.append(f"torch=={torch}")
    subprocess.run([*install, "--upgrade-strategy", "eager", *packages], check=True)
    return python


def list_newer(python: str) -> list[str]:
    """Return what the environment has in other releases than constraints.txt, a line for each."""
    listed = subprocess.run(
        [python, "-m", "pip", "freeze", "--all"], check=True, capture_output=True, text=True
    )
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    # What is behind " ;" are markers: for which Pythons and systems the line is.
    constrained = {line.partition(" ;")[0] for line in lines if "==" in line}
    names = {line.partition("==")[0] for line in constrained}
    newer = []
    for line in listed.stdout.lower().splitlines():
        # pip writes names as packages do, the file with hyphens.
        requirement = line.replace("_", "-")
        if requirement.partition("==")[0] in names and requirement not in constrained:
            newer.append(line)
    return newer


def main() -> int:
    """Make the environment, say what is newer in it, run the tests; return their exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stages", nargs="*", default=STAGES, help="stages of `start.py test`")
    parser.add_argument("--torch", metavar="RELEASE", help="also install this PyTorch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="copylab newest ") as folder:
        python = make_environment(Path(folder), options.torch)
        newer = list_newer(python)
        print(f"not as in constraints.txt: {', '.join(newer) or 'nothing'}", flush=True)
        # A deprecation is no fault yet.
        variables = os.environ | {"COPYLAB_PYTEST_OPTIONS": "-W default"}
        command = [python, ROOT / "tools" / "run_all.py", *options.stages]
        return subprocess.run(command, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
