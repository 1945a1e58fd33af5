"""Write constraints.txt anew: the newest release of each package for the course and the tests.

    python tools/renew_constraints.py

`start.py` installs these, so that a clone runs with what it was tested with, whatever is released
later. One file serves all Pythons and systems: where they need different releases, the lines have
markers. Run the tests afterwards.

uv resolves for all of them at once, which pip cannot; it is fetched into an environment that is
thrown away.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "constraints.txt"
HEAD = """\
# What start.py installs and the tests run with, for all Pythons and systems.
# Written by tools/renew_constraints.py; copylab itself asks for less, see pyproject.toml.
"""


def resolve_newest() -> str:
    """Return the newest releases that fit together, a line for each.

    Raises CalledProcessError if none do.
    """
    # The oldest Python that pyproject.toml allows; with "universal", also for all newer ones.
    options = "--universal --python-version 3.11 --no-annotate --no-header --quiet"
    extras = "--extra course --extra test"
    with tempfile.TemporaryDirectory() as folder:
        scripts = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
        python = str(Path(folder, scripts))
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        command = [python, "-m", "uv", "pip", "compile", "pyproject.toml"]
        resolved = subprocess.run(
            [*command, *extras.split(), *options.split()],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return resolved.stdout


if __name__ == "__main__":
    TARGET.write_text(HEAD + resolve_newest(), encoding="utf-8", newline="\n")
    print(f"wrote {TARGET.name}; run the tests before it is committed: python3 start.py test")
