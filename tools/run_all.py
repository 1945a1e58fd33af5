"""Run every check one after another and say what passed, failed and was not checked.

    python3 start.py test                all stages but smoke and stress
    python3 start.py test lint unit      some of them: {stages}

With COPYLAB_REQUIRE_ALL=1 in the environment nothing may be skipped: what is skipped counts as
failed.
The last line gives the totals: N passed, N failed, N skipped. The exit status is 1 if anything
failed.
"""

import ast
import os
import shlex
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from make_catalogue import find_faults
from needs import REQUIRE_ALL, torch_missing
from spelling import find_misspellings
from swap_engine import LEFT_OUT, swap_folder

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
MINUTES = 20
"""How long a stage may take: past that it hangs."""
KEPT_VARIABLES = (
    *("PATH", "HOME", "TMPDIR"),
    # Those of Windows.
    *("SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
    *("PATHEXT", "COMSPEC", "TEMP", "TMP"),
)
"""The variables of the environment that the checks may see."""
SMOKE_TESTS = (
    "tests/viz",
    "tests/widgets/copying",
    "tests/widgets/run",
    "tests/widgets/ui",
    "tests/widgets/watching",
    "tests/test_readme.py",
)
"""Where the code asks whether PyTorch is there."""
SMOKE_LEAVES_OUT = (
    "tests/viz/test_escape.py",
    "tests/viz/test_layout.py",
    "tests/viz/test_remarks.py",
    "tests/viz/test_scale.py",
    "tests/viz/test_style.py",
)
"""Long ones among them that draw, to which PyTorch makes no difference."""
UNUSED_PLUGINS = ("-p", "no:nbval", "-p", "no:logging")
"""What the tests do without: importing nbval takes each process two seconds, logging each test a
millisecond.
"""


@dataclass
class Result:
    """The result of a stage: how many checks passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """The numbers of skipped checks by the reason."""
    remarks: list[str] = field(default_factory=list)

    def add(self, other: "Result") -> None:
        """Count another result into this one."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.remarks += other.remarks


def clean_environment() -> dict[str, str]:
    """Return the environment of the checks: what any machine has, and copylab's own settings.

    A variable that one machine sets and another does not (PYTHONUNBUFFERED, PYTHONWARNINGS,
    MPLBACKEND, a locale) must not decide whether a test passes.
    """
    inherited = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    ours = {name: value for name, value in os.environ.items() if name.startswith("COPYLAB_")}
    return inherited | ours | {"LANG": "C.UTF-8"}


def run_module(*arguments: str, env: dict[str, str] | None = None) -> int | None:
    """Run a module of this Python from the top folder.

    Returns its exit status, None if it had to be stopped.
    """
    command = [sys.executable, "-m", *arguments]
    variables = clean_environment() | (env or {})
    try:
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False, timeout=MINUTES * 60)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def run_check(*arguments: str) -> Result:
    """Run a tool whose exit status says it all: one check."""
    status = run_module(*arguments)
    name = " ".join(arguments)
    if status is None:
        return Result(failed=1, remarks=[f"{name}: stopped after {MINUTES} minutes"])
    if status != 0:
        return Result(failed=1, remarks=[f"{name}: see above"])
    return Result(passed=1)


def run_pytest(
    *arguments: str, env: dict[str, str] | None = None, report: Path | None = None
) -> Result:
    """Run pytest and read its counts from its own report, which xdist and nbval write, too.

    report: the file in which the report stays; by default it is deleted.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = report or Path(folder, "report.xml")
        more = shlex.split(os.environ.get("COPYLAB_PYTEST_OPTIONS", ""))
        if "--nbval" not in arguments:
            more = [*UNUSED_PLUGINS, *more]
        status = run_module("pytest", "-q", f"--junit-xml={report}", *arguments, *more, env=env)
        result = read_report(report) if report.exists() else Result()
        # 0 and 1 are pytest's for passed and failed. With any other not all tests have run, whatever
        # the report says.
        if status not in (0, 1) or not report.exists():
            why = f"exit {status}"
            if status is None:
                why = f"stopped after {MINUTES} minutes"
            elif status == 5:
                why = "no tests were found"
            result.add(Result(failed=1, remarks=[f"pytest {' '.join(arguments)}: {why}"]))
            return result
    if status == 1 and result.failed == 0:
        result.add(Result(failed=1, remarks=["pytest failed without a failing test; see above"]))
    return result


def read_report(report: Path) -> Result:
    """Count the tests of a JUnit report.

    Expected failures count as skipped: they are not passes.
    """
    result = Result()
    for case in ET.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            result.failed += 1
        elif skipped is not None:
            reason = skipped.get("message")
            # A whole file: the text is a tuple that ends with why.
            if reason == "collection skipped":
                reason = ast.literal_eval(skipped.text or "['']")[-1].removeprefix("Skipped: ")
            result.skipped[reason or "no reason given"] += 1
        else:
            result.passed += 1
    return result


def run_nbval(folder: Path) -> Result:
    """Run the notebooks in a folder and compare every output with the stored one."""
    with tempfile.TemporaryDirectory() as own:
        # Not the user's own IPython and Jupyter settings: they could change what is printed.
        folders = dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"), own)
        folders["COPYLAB_PROGRESS"] = str(Path(own, "progress.json"))
        return run_pytest(
            "--nbval",
            # In this Python, and not in the kernel that a notebook names.
            "--nbval-current-env",
            "--nbval-cell-timeout=60",
            "--numprocesses=2",
            # The cells of a notebook need one kernel, so they stay in one worker.
            "--dist=loadscope",
            # The folder may be a copy outside of the project.
            f"--rootdir={ROOT}",
            f"--config-file={ROOT / 'pyproject.toml'}",
            str(folder),
            env=folders,
        )


def check_style() -> Result:
    """Check style and layout of the code, the spelling, and that every text can be translated."""
    result = run_check("ruff", "check")
    result.add(run_check("ruff", "format", "--check"))
    for faults in (find_misspellings(), find_faults()):
        result.add(Result(failed=1, remarks=faults) if faults else Result(passed=1))
    return result


def check_types() -> Result:
    """Check the types."""
    return run_check("mypy")


def run_unit_tests() -> Result:
    """Run all tests that need no browser."""
    return run_pytest("tests", "--ignore=tests/browser", "--numprocesses=2")


def run_smoke_tests() -> Result:
    """Run a choice of the tests that need no PyTorch and no browser, in about a minute."""
    left_out = [f"--ignore={file}" for file in SMOKE_LEAVES_OUT]
    marks = ("-m", "not (torch or slow or stress)")
    return run_pytest(*SMOKE_TESTS, *left_out, *marks, "--numprocesses=2")


def run_stress_tests() -> Result:
    """Run the tests that go on for long: hostile files, great sizes, many looks, the site."""
    result = run_pytest("tests", "--ignore=tests/browser", "-m", "stress", "--numprocesses=2")
    # The pages of the site.
    result.add(run_pytest("tests/browser", "-m", "stress"))
    return result


def run_lessons() -> Result:
    """Run the lessons on tinytorch."""
    return run_nbval(NOTEBOOKS)


def run_lessons_on_torch() -> Result:
    """Run the lessons on PyTorch and compare with the same stored outputs."""
    with tempfile.TemporaryDirectory() as folder:
        copies = Path(folder, "notebooks")
        try:
            swapped = swap_folder(NOTEBOOKS, copies)
        except ValueError as error:
            return Result(failed=1, remarks=[str(error)])
        # Only now: a lesson that cannot be swapped is a fault without PyTorch, too.
        if missing := torch_missing():
            return Result(skipped=Counter({missing: sum(lesson.cells for lesson in swapped)}))
        result = run_nbval(copies)
    left_out = [f"{lesson.left_out} in {lesson.name}" for lesson in swapped if lesson.left_out]
    listed = ", ".join(left_out) or "none"
    result.remarks.append(f"cells left out because they are tagged {LEFT_OUT}: {listed}")
    return result


def run_browser_tests() -> Result:
    """Use the lessons in JupyterLab as a reader does."""
    # A run of pytest of its own: Playwright keeps an event loop.
    return run_pytest("tests/browser", "--numprocesses=2", "--dist=loadscope")


STAGES: dict[str, Callable[[], Result]] = {
    "lint": check_style,
    "types": check_types,
    "unit": run_unit_tests,
    "notebooks": run_lessons,
    "notebooks-torch": run_lessons_on_torch,
    "browser": run_browser_tests,
    "smoke": run_smoke_tests,
    "stress": run_stress_tests,
}
ON_REQUEST = ("smoke", "stress")
"""Stages that run only where they are named: a choice of the tests, and those that take long."""


def summarize_results(
    results: dict[str, tuple[Result, float]], require_all: bool
) -> tuple[str, int]:
    """Return the closing report, whose last line is the totals, and the exit status.

    results: of each stage, with the seconds it took.
    require_all: count skipped checks as failed.
    """
    total = Result()
    lines = [f"\n{'stage':<16}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}"]
    remarks, reasons = [], []
    for name, (result, seconds) in results.items():
        skipped = result.skipped.total()
        lines.append(f"{name:<16}{result.passed:>8}{result.failed:>8}{skipped:>9}{seconds:>9.1f}")
        total.add(result)
        remarks += [f"{name}: {remark}" for remark in result.remarks]
        for reason, count in result.skipped.items():
            reasons.append(f"  {name}, {count} of them: {reason}")
    lines += remarks
    if reasons:
        lines += ["\nNOT CHECKED:", *reasons]
    skipped = total.skipped.total()
    if require_all and skipped:
        lines.append("COPYLAB_REQUIRE_ALL=1 lets nothing be skipped, so they count as failed.")
        total.failed += skipped
        skipped = 0
    lines.append(f"{total.passed} passed, {total.failed} failed, {skipped} skipped")
    # Where nothing passed, nothing was checked.
    return "\n".join(lines), 1 if total.failed or not total.passed else 0


def main(names: list[str]) -> int:
    """Run the named stages, or all, and print the summary."""
    # An unknown stage, or an option: the text at the top says what there is.
    if set(names) - set(STAGES):
        print(__doc__.format(stages=", ".join(STAGES)).strip())
        return 0 if {"-h", "--help"} & set(names) else 2
    results = {}
    for name in names or [name for name in STAGES if name not in ON_REQUEST]:
        print(f"\n== {name}: {STAGES[name].__doc__}", flush=True)
        start = time.monotonic()
        results[name] = STAGES[name](), time.monotonic() - start
    text, status = summarize_results(results, REQUIRE_ALL)
    print(text)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
