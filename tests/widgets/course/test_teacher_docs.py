"""The pages on predictions and exercises: what they show runs as it is shown, and says what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tinytorch

PAGES = Path(__file__).resolve().parents[3] / "docs" / "widgets"


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "kept.json"))
    return {"torch": tinytorch, "__name__": "__main__"}


def blocks(page: str) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```$", (PAGES / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(block, "<page>", "exec"), names)
    return names


def test_the_page_on_predictions(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    first, commits, anew, of_ones_own, views, own = blocks("predict.md")
    run(first, names)
    run(commits, names)
    assert "All 8 right." in capsys.readouterr().out
    run(anew, names)
    run(of_ones_own, names)
    assert names["retest"](names["stays"], number=0).verify()
    assert run(views, names)["p"].verify()
    assert names["p"].commit(["no", "x, y", "[1, 2]", "50, 2", "it runs to its end"]).right == 3
    assert "What was copied stays" in names["p"].reveal.text
    p = run(own, names)["p"]
    assert p.verify()
    assert "Here 3.0 became 9.0." in p.commit(["x"]).text


def test_every_question_is_on_the_page() -> None:
    from copylab import questions

    page = (PAGES / "predict.md").read_text("utf-8")
    missing = [
        name
        for name in questions.__all__
        if name not in page and name not in ("state_table", "ENDS", "ENDLESS")
    ]
    assert missing == []


def test_the_page_on_exercises(names: dict[str, Any]) -> None:
    define, learner, verify, overview = blocks("exercise.md")
    part = run(define, names)["part"]
    run(learner, names)
    assert str(part.check(names)) == "Not yet: t still looks at the storage of x."
    run(verify, names)
    said = str(part.verify())
    assert f"    {said}\n" in (PAGES / "exercise.md").read_text("utf-8")
    told = run(f"{overview}\ntold = progress().text", names)["told"]
    assert "my-course/part" in " ".join(told.split())


@pytest.mark.parametrize("of", ["predict.md", "exercise.md"])
def test_every_picture_is_there_in_both_themes(of: str) -> None:
    found = re.findall(r'src(?:set)?="([^"]+)"', (PAGES / of).read_text("utf-8"))
    assert len(found) >= 2
    assert {name.rpartition("-")[2] for name in found} == {"dark.png", "light.png"}
    for name in found:
        assert (PAGES / name).stat().st_size > 5000
