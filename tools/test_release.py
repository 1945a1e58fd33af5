"""Run what needs PyTorch on one release of it, and say what that prints otherwise than 2.13.

    python tools/test_release.py 2.14.1            in an environment of its own, which is kept
    python tools/test_release.py 2.14.1 --write    and note the run in docs/releases.md
    .venv/bin/python tools/test_release.py         on the PyTorch that this Python has

The environments are kept in ~/.cache/copylab (or $XDG_CACHE_HOME/copylab), one for each release and
Python; deleting them is safe.

The last line gives the totals: N passed, N failed, N skipped. The exit status is 1 if anything
failed.
"""

import argparse
import datetime as dt
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from run_all import Result

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "releases.md"
# What looks at PyTorch itself. The rest compares tinytorch with it, once a week.
QUICK_TESTS = (
    "tests/viz",
    "tests/widgets/watching",
    "tests/widgets/run",
    "tests/widgets/player",
    "tests/test_programs.py",
)
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "copylab"


class Row(NamedTuple):
    """A run, as a line of the table in docs/releases.md."""

    release: str
    python: str
    date: str
    passed: int
    failed: int
    failed_widgets: int
    changed: str

    def write_line(self) -> str:
        """Write it as Markdown."""
        return f"| {' | '.join(map(str, self))} |"


def read_rows(page: str) -> list[Row]:
    """Read the rows of the table, newest release first as they stand."""
    rows = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0][0].isdigit():
            release, python, date, passed, failed, failed_widgets, changed = cells
            rows.append(
                Row(release, python, date, int(passed), int(failed), int(failed_widgets), changed)
            )
    return rows


def put_row(page: str, row: Row) -> str:
    """Put a row into the page, in the place of an earlier run of that release on that Python."""
    rows = [old for old in read_rows(page) if old[:2] != row[:2]]
    rows = sorted([*rows, row], key=_order_of_row, reverse=True)
    # What is around the table stays as it is written.
    others = [
        line for line in page.splitlines() if not (line.startswith("| ") and line[2].isdigit())
    ]
    first = next(place for place, line in enumerate(others) if line.startswith("|---")) + 1
    lines = [*others[:first], *(row.write_line() for row in rows), *others[first:]]
    return "\n".join(lines) + "\n"


def _order_of_row(row: Row) -> tuple[list[int], list[int]]:
    # By numbers: as texts, 2.9 would come after 2.13.
    release = [int(part) for part in row.release.split(".")]
    python = [int(part) for part in row.python.split(".")]
    return release, python


def prepare_environment(version: str) -> Path:
    """Make or renew the environment for a release, with this checkout in it; return its Python."""
    # By start.py itself, so that it has what a clone has.
    sys.path.insert(0, str(ROOT))
    import start

    python = ".".join(map(str, sys.version_info[:2]))
    start.VENV = CACHE / f"torch-{version}-python{python}"
    start.PYTHON = start.VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    start.STAMP = start.VENV / "copylab-setup.txt"
    start.VENV.parent.mkdir(parents=True, exist_ok=True)
    start.set_up("course", "test")
    # Behind the plus is the kind of build: "2.14.1+cpu".
    has_release = (
        "import importlib.metadata as metadata, sys; "
        f"sys.exit(metadata.version('torch').partition('+')[0] != {version!r})"
    )
    if not start.works(str(start.PYTHON), "-c", has_release):
        print(f"Installing PyTorch {version} into {start.VENV} ...", flush=True)
        start.do(
            "install PyTorch",
            str(start.PYTHON),
            "-m",
            "pip",
            "install",
            "--quiet",
            # Python compiles what it imports, once.
            "--no-compile",
            f"torch=={version}",
        )
    return start.PYTHON


class Failures(NamedTuple):
    """The tests that failed, by what they are about.

    widgets: the number of those of pictures and widgets.
    programs: the names of those that print another text than is stored.
    """

    widgets: int
    programs: list[str]


def read_failures(report: Path) -> Failures:
    """Read the failures out of pytest's report."""
    widgets, programs = 0, []
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            where = f"{case.get('classname')}.{case.get('name')}"
            widgets += "tests.viz" in where or "tests.widgets" in where
            # Whose text is another one is no fault of tinytorch: it is listed.
            if found := re.search(r"test_stored_transcript_is_torchs\[(.*)\]", where):
                programs.append(found[1])
    return Failures(widgets, programs)


def run_installed_release(write: bool, quick: bool) -> int:
    """Run the tests marked as needing PyTorch, print the result, and note it if asked to."""
    sys.path.insert(0, str(ROOT / "tests"))
    from run_all import run_pytest

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        marks = "torch and not stress"
        tests: tuple[str, ...] = ("tests", "--ignore=tests/browser")
        if quick:
            marks += " and not slow"
            tests = QUICK_TESTS
        result = run_pytest(*tests, "-m", marks, "--numprocesses=2", report=report)
        failures = read_failures(report)
    release = importlib.metadata.version("torch").partition("+")[0]
    changed = sorted({*failures.programs, *_list_known_changes(release)})
    listed = ", ".join(changed) or "none"
    print(f"\nPyTorch {release} prints another text than 2.13 in {len(changed)} programs: {listed}")
    for reason, count in result.skipped.items():
        print(f"NOT CHECKED, {count} of them: {reason}")
    for remark in result.remarks:
        print(remark)
    if write:
        _note_run(release, result, failures, changed)
    print(f"{result.passed} passed, {result.failed} failed, {result.skipped.total()} skipped")
    return 1 if result.failed or not result.passed else 0


def _list_known_changes(release: str) -> list[str]:
    """Return the programs for which another text of this release is stored."""
    from programs.transcript import HERE, programs, stored_change
    from releases import read_release

    return [
        program.relative_to(HERE).with_suffix("").as_posix()
        for program in programs()
        if stored_change(program, read_release(release))
    ]


def _note_run(release: str, result: "Result", failures: Failures, changed: list[str]) -> None:
    """Write the row of a run into docs/releases.md."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    cell = "none"
    if changed:
        cell = f"{len(changed)}: " + ", ".join(f"`{name}`" for name in changed)
    row = Row(
        release,
        platform.python_version(),
        today,
        result.passed,
        result.failed,
        failures.widgets,
        cell,
    )
    page = put_row(PAGE.read_text(encoding="utf-8"), row)
    PAGE.write_text(page, encoding="utf-8", newline="\n")


def main(arguments: list[str]) -> int:
    """Do what the command line says; see the top of this file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "version",
        nargs="?",
        help="the release to run on, such as 2.14.1; default: the one installed",
    )
    parser.add_argument("--write", action="store_true", help="note the run in docs/releases.md")
    parser.add_argument(
        "--prepare", action="store_true", help="make the environment of VERSION, and run nothing"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="only pictures, watch, steps and programs, without tests of more than two seconds",
    )
    options = parser.parse_args(arguments)
    if options.version is None:
        return run_installed_release(options.write, options.quick)
    python = prepare_environment(options.version)
    if options.prepare:
        return 0
    # The same script again, by the Python that has the release.
    command = [str(python), __file__]
    if options.write:
        command.append("--write")
    if options.quick:
        command.append("--quick")
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
