"""The course as a site: what is written for Sphinx, and what it refuses. tests/browser/test_site.py opens one."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import copylab
import pytest
from copylab.course import lite, site
from copylab.course.lesson import lessons, published
from copylab.course.translation import PAGES

import tinytorch

LISTED = re.findall(r"^\{names\} (.*)$", (PAGES / "reference.md").read_text("utf-8"), re.MULTILINE)

_FENCED = re.compile(r"^```(\{code-cell\}|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_reference_has_each_public_name_once() -> None:
    assert Counter(" ".join(LISTED).split()) == Counter(copylab.__all__)


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_examples_of_the_pages_run(page: Path) -> None:
    names: dict[str, object] = {"torch": tinytorch}
    for fence, code in re.findall(
        r"^```(\{code-cell\}|python)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        if fence == "{code-cell}" or "import" in code:
            exec(compile(code, page.name, "exec"), names)


def test_a_lesson_as_a_page_has_live_predictions_and_folded_answers(tmp_path: Path) -> None:
    site.write_source(tmp_path / "source", "en")
    cells = {
        cell["id"]: cell
        for cell in json.loads((tmp_path / "source/02_clone.ipynb").read_text("utf-8"))["cells"]
    }
    (output,) = cells["predict-seven"]["outputs"]
    assert "data-told=" in output["data"]["text/html"]
    assert "README.md" not in "".join("".join(cell["source"]) for cell in cells.values())
    for cell in cells.values():
        tags = cell["metadata"].get("tags", [])
        assert ("questioned" in tags) == ("hide-output" in tags)


def test_a_guide_runs_what_it_can_and_shows_no_screenshots() -> None:
    text = "```python\nsteps(1)\n```\n<picture><img></picture>\n\nb\n```python\nimport torch\n```\n```python\nc\n```\n"
    made = site._guide(text)
    assert "```{code-cell}\nsteps(1)\n```\nb\n```python\nimport torch\n```\n```python\nc" in made
    assert all((published() / f"{name}.md").is_file() for name in site.GUIDES)


def test_a_folder_that_is_not_a_site_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty, and not a site"):
        site.build(tmp_path, ["en"])
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_language_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not there in 'xx'; it is in: en, ko, zh"):
        site.build(tmp_path / "new", ["xx"])
    assert not (tmp_path / "new").exists()


def test_without_sphinx_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(RuntimeError, match=r"pip install 'copylab\[site\]'"):
        site.build(tmp_path / "new")


def test_a_lite_needs_a_wheel_of_copylab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    with pytest.raises(ValueError, match=r"no wheel of copylab in .*pip wheel -w"):
        lite.build_lite(tmp_path / "out", tmp_path)


def test_a_lesson_in_a_lite_installs_copylab_first() -> None:
    text = (lessons() / "02_clone.ipynb").read_text("utf-8")
    before, after = json.loads(text)["cells"], json.loads(lite.installing(text))["cells"]
    added = [cell for cell in after if cell not in before]
    assert [cell["source"] for cell in added] == [["%pip install -q copylab"]]
    assert [cell["cell_type"] for cell in after].index("code") == after.index(added[0])
