"""Time the widgets in a browser, each beside a peer in the same page, and hold them to their levels.

    python benchmarks/widgets.py

Prints, for a page with 200 steps, how long it takes to open and how long a step takes; for the lab, a click that needs
Python beside a bare button of ipywidgets. Fails if a page takes more than 1 s, a step more than 5 ms, or a click more
than 1.5 times the bare button. Needs Chromium, and a machine that does nothing else.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMED = (
    "tests/browser/test_pages.py::test_200_steps_open_and_step_quickly",
    "tests/browser/test_lab.py::test_a_click_is_hardly_slower_than_a_bare_button",
)


def main() -> int:
    """Run the two that are timed."""
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-m", "", *TIMED]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {"COPYLAB_TIMED": "1"}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
