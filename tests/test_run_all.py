"""The test command itself: it must count rightly, and a skip or a hole must not look like a pass."""

import importlib.metadata
from collections import Counter
from pathlib import Path

import needs
import pytest
import run_all
from run_all import Result, summarize_results

REPORT = """<testsuites><testsuite name="pytest">
<testcase name="a"/><testcase name="b"><failure message="no"/></testcase>
<testcase name="c"><error message="no"/></testcase>
<testcase name="d"><skipped message="no torch"/></testcase><testcase name="e"><skipped message="no torch"/></testcase>
</testsuite></testsuites>"""


def test_report_is_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT, encoding="utf-8")
    assert run_all.read_report(report) == Result(
        passed=1, failed=2, skipped=Counter({"no torch": 2})
    )


def test_a_file_that_is_skipped_says_why(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        'import pytest\npytest.skip("no torch", allow_module_level=True)\n'
    )
    (tmp_path / "test_two.py").write_text("def test(): pass\n")
    assert run_all.run_pytest(str(tmp_path)) == Result(passed=1, skipped=Counter({"no torch": 1}))


def test_summary_says_what_was_not_checked() -> None:
    results = {
        "unit": (Result(passed=3, skipped=Counter({"no torch": 2})), 1.0),
        "lint": (Result(passed=1), 0.1),
    }
    text, status = summarize_results(results, require_all=False)
    assert status == 0
    assert text.splitlines()[-1] == "4 passed, 0 failed, 2 skipped"
    assert "unit, 2 of them: no torch" in text


def test_where_all_is_required_a_skip_is_a_failure() -> None:
    results = {"unit": (Result(passed=3, skipped=Counter({"no torch": 2})), 1.0)}
    text, status = summarize_results(results, require_all=True)
    assert status == 1
    assert text.splitlines()[-1] == "3 passed, 2 failed, 0 skipped"


@pytest.mark.parametrize(
    "results", [{"unit": (Result(passed=3, failed=1), 1.0)}, {"unit": (Result(), 1.0)}]
)
def test_failures_and_nothing_at_all_fail(results: dict) -> None:
    assert summarize_results(results, require_all=False)[1] == 1


def test_a_stage_without_tests_fails(tmp_path: Path) -> None:
    result = run_all.run_pytest(str(tmp_path))
    assert (result.passed, result.failed) == (0, 1)
    assert "no tests were found" in result.remarks[0]


def test_a_failing_tool_fails() -> None:
    assert run_all.run_check("this").passed == 1
    assert run_all.run_check("no_such_module_anywhere").failed == 1


@pytest.mark.parametrize("arguments", [["no-such-stage"], ["--help"]])
def test_stages_are_listed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_all.main(arguments) == (2 if arguments == ["no-such-stage"] else 0)
    listed = capsys.readouterr().out
    assert all(name in listed for name in run_all.STAGES)


def test_torch_that_is_missing_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)
    reason = needs.torch_missing()
    assert reason is not None
    assert "pip install torch==2.13.0" in reason


@pytest.mark.parametrize("version", ["2.6.0", "2.13.0+cpu", "2.99.1"])
def test_whatever_torch_is_there_is_tested(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: version)
    assert needs.torch_missing() is None
