"""The page of releases: what a run writes into it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = """# Releases

| PyTorch | Python | date | passed | failed | widgets | programs that print another text |
|---|---|---|--:|--:|--:|---|
| 2.14.1 | 3.11.7 | 2026-11-26 | 20 | 0 | 0 | 2: `a/b`, `a/c` |
| 2.9.0 | 3.11.7 | 2026-11-25 | 18 | 2 | 1 | none |

The end.
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "test_release", ROOT / "tools" / "test_release.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_replaces_its_earlier_row(tool: ModuleType) -> None:
    row = tool.Row("2.14.1", "3.11.7", "2026-12-01", 21, 1, 1, "none")
    page = tool.put_row(PAGE, row)
    assert tool.read_rows(page) == [row, tool.read_rows(PAGE)[1]]
    assert tool.put_row(page, tool.read_rows(PAGE)[0]) == PAGE


def test_rows_stand_newest_release_first(tool: ModuleType) -> None:
    page = tool.put_row(PAGE, tool.Row("2.10.0", "3.11.7", "2026-12-01", 21, 0, 0, "none"))
    page = tool.put_row(page, tool.Row("2.9.0", "3.13.0", "2026-12-01", 21, 0, 0, "none"))
    rows = [(row.release, row.python) for row in tool.read_rows(page)]
    assert rows == [
        ("2.14.1", "3.11.7"),
        ("2.10.0", "3.11.7"),
        ("2.9.0", "3.13.0"),
        ("2.9.0", "3.11.7"),
    ]
    assert page.endswith("|\n\nThe end.\n")


def test_failures_are_told_apart(tool: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
<testcase classname="tests.viz.test_a" name="test_b[torch]"><failure message="no"/></testcase>
<testcase classname="tests.widgets.run.test_a.TestC" name="test_b"><error message="no"/></testcase>
<testcase classname="tests.test_programs" name="test_stored_transcript_is_torchs[a/b]"><failure/></testcase>
<testcase classname="tests.test_programs" name="test_stored_transcript_is_torchs[a/c]"/>
<testcase classname="tests.engine.test_d" name="test_e"><failure message="no"/></testcase>
</testsuite></testsuites>""",
        encoding="utf-8",
    )
    assert tool.read_failures(report) == (2, ["a/b"])


def test_the_page_holds_whole_rows(tool: ModuleType) -> None:
    rows = tool.read_rows((ROOT / "docs" / "releases.md").read_text(encoding="utf-8"))
    assert rows
    for row in rows:
        named = 0 if row.changed == "none" else int(row.changed.partition(":")[0])
        assert row.changed.count("`") == 2 * named
