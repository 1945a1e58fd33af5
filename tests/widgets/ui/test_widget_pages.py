"""The pages about the widgets: what they link to is there, and what they show as code runs."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from project_files import ROOT

FOLDER = ROOT / "docs" / "widgets"
PAGES = sorted(FOLDER.glob("*.md"))
LONG_PAGES = ("README.md", "copylab.md", "race.md")
"""The pages whose code runs for seconds: once a week, that of the others on each change."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r'(?:src|srcset)="([^"]+)"|\]\(([^)#:]+)\)')


def links(text: str) -> list[str]:
    """What a page refers to in this folder or around it."""
    return [one or other for one, other in LINK.findall(text)]


def programs(text: str) -> list[str]:
    """The blocks of code of a page; a block with a magic of the notebook is not Python."""
    return [block for block in BLOCK.findall(text) if not re.search(r"^%", block, re.MULTILINE)]


def test_links_and_programs_are_found() -> None:
    text = 'a [b](c.md) <img src="d.png">\n```python\nx = 1\n```\n```python\n%%steps\ny\n```\n'
    assert links(text) == ["c.md", "d.png"]
    assert programs(text) == ["x = 1\n"]
    assert {"race.md", "compare.md", "README.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_refers_to_is_there(page: Path) -> None:
    for link in links(page.read_text("utf-8")):
        assert (FOLDER / link).exists(), link


def test_every_page_stands_in_the_list() -> None:
    listed = links((FOLDER / "README.md").read_text("utf-8"))
    assert {page.name for page in PAGES} - {"README.md"} <= set(listed)


def _with_needs(page: Path) -> Any:
    wants_torch = re.search(
        r"^import torch\b", "\n".join(programs(page.read_text("utf-8"))), re.MULTILINE
    )
    marks = [pytest.mark.torch] * bool(wants_torch)
    if page.name in LONG_PAGES:
        marks.append(pytest.mark.stress)
    return pytest.param(page, marks=marks, id=page.name)


@pytest.mark.slow
@pytest.mark.parametrize("page", [_with_needs(page) for page in PAGES])
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    # The reader's notebook has imported an engine; a page that does not show it does not say which.
    first = ["import tinytorch as torch"]
    if page.name == "race.md":
        # Its races take half a minute where nobody looks at the timings.
        first += [
            "import copylab, functools",
            "copylab.race = functools.partial(copylab.race, rounds=2)",
        ]
    program = "\n".join([*first, *programs(page.read_text("utf-8"))])
    # In a file, so that the source of its functions can be found.
    (tmp_path / "page.py").write_text(program, "utf-8")
    path = os.pathsep.join([str(ROOT), str(ROOT / "widgets")])
    run = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
