"""Run what needs PyTorch on one release of it, and say what that release prints otherwise than 2.13.

    python tools/test_release.py 2.14.1            in an environment of its own, made once and used again
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
from typing import NamedTuple

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

    def number(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    rows = [old for old in read_rows(page) if old[:2] != row[:2]]
    rows = sorted(
        [*rows, row], key=lambda row: (number(row.release), number(row.python)), reverse=True
    )
    kept = [line for line in page.splitlines() if not (line.startswith("| ") and line[2].isdigit())]
    at = next(i for i, line in enumerate(kept) if line.startswith("|---")) + 1
    return "\n".join([*kept[:at], *(row.write_line() for row in rows), *kept[at:]]) + "\n"


def prepare_environment(version: str) -> Path:
    """Make or renew the environment for a release, with this checkout in it; give its Python."""
    sys.path.insert(0, str(ROOT))
    import start

    python = ".".join(map(str, sys.version_info[:2]))
    start.VENV = CACHE / f"torch-{version}-python{python}"
    start.PYTHON = start.VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    start.STAMP = start.VENV / "copylab-setup.txt"
    start.VENV.parent.mkdir(parents=True, exist_ok=True)
    start.set_up("course", "test")
    has_it = f"import importlib.metadata as m, sys; sys.exit(m.version('torch').partition('+')[0] != {version!r})"
    if not start.works(str(start.PYTHON), "-c", has_it):
        print(f"Installing PyTorch {version} into {start.VENV} ...", flush=True)
        start.do(
            "install PyTorch",
            str(start.PYTHON),
            "-m",
            "pip",
            "install",
            "--quiet",
            f"torch=={version}",
        )
    return start.PYTHON


class Failures(NamedTuple):
    """The tests that failed, by what they are about."""

    widgets: int
    programs: list[str]


def read_failures(report: Path) -> Failures:
    """Read pytest's report: how many tests of pictures and widgets failed, and which programs print another text."""
    widgets, programs = 0, []
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            where = f"{case.get('classname')}.{case.get('name')}"
            widgets += "tests.viz" in where or "tests.widgets" in where
            if found := re.search(r"test_stored_transcript_is_torchs\[(.*)\]", where):
                programs.append(found[1])
    return Failures(widgets, programs)


def run_installed_release(write: bool, quick: bool) -> int:
    """Run the tests that are marked as needing PyTorch, print what came out, and note it if asked to."""
    sys.path.insert(0, str(ROOT / "tests"))
    from programs.transcript import HERE, programs, stored_change
    from releases import read_release
    from run_all import run_pytest

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        marks = "torch and not stress" + " and not slow" * quick
        chosen = QUICK_TESTS if quick else ("tests", "--ignore=tests/browser")
        result = run_pytest(*chosen, "-m", marks, "--numprocesses=2", report=report)
        failures = read_failures(report)
    release = importlib.metadata.version("torch").partition("+")[0]
    known = [program for program in programs() if stored_change(program, read_release(release))]
    known_names = {program.relative_to(HERE).with_suffix("").as_posix() for program in known}
    changed = sorted({*failures.programs, *known_names})
    print(
        f"\nPyTorch {release} prints another text than 2.13 in {len(changed)} programs: {', '.join(changed) or 'none'}"
    )
    print(
        "".join(
            f"NOT CHECKED, {count} of them: {reason}\n" for reason, count in result.skipped.items()
        ),
        end="",
    )
    print("\n".join(result.remarks), end="\n" if result.remarks else "")
    if write:
        today = dt.datetime.now(tz=dt.UTC).date().isoformat()
        cell = (
            f"{len(changed)}: " + ", ".join(f"`{name}`" for name in changed) if changed else "none"
        )
        row = Row(
            release,
            platform.python_version(),
            today,
            result.passed,
            result.failed,
            failures.widgets,
            cell,
        )
        PAGE.write_text(
            put_row(PAGE.read_text(encoding="utf-8"), row), encoding="utf-8", newline="\n"
        )
    print(f"{result.passed} passed, {result.failed} failed, {result.skipped.total()} skipped")
    return 1 if result.failed or not result.passed else 0


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
    again = [
        str(python),
        __file__,
        *[f"--{name}" for name in ("write", "quick") if getattr(options, name)],
    ]
    return subprocess.run(again, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
