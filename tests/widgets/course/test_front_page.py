"""The front page of a laid-out course: what it says, where its links lead, and whose page it is."""

import re
from pathlib import Path

import pytest
from copylab.course.front_page import FRONT_PAGE, renew_front_page
from copylab.course.lesson import lessons_folder, read_notebook
from copylab.quiz.progress import add_note
from copylab.wording import set_language


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".copylab.json").write_text("{}", "utf-8")
    monkeypatch.delenv("COPYLAB_PROGRESS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def renew(folder: Path) -> str:
    renew_front_page(folder)
    return (folder / FRONT_PAGE).read_text("utf-8")


def test_what_a_beginner_sees(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = renew(folder)
    assert "You have not begun." in page
    assert page.count("](00_start.ipynb)") == 3
    assert page.count("](14_clinic.ipynb)") == 2
    assert "[solutions](solutions/README.md)" in page
    assert "What you believed" not in page
    assert page.index("when `copylab` was last started") < page.index("Three doors")
    assert page.count("| all of it |") == 15
    assert "| nothing |" not in page
    assert Path.cwd() == folder
    monkeypatch.setenv("COPYLAB_SOLUTIONS", "off")
    assert "solutions/" not in renew(folder)


def test_what_is_open_and_what_was_believed(folder: Path) -> None:
    add_note("predictions", "start/bet", {"right": 1, "of": 2})
    add_note("predictions", "clone/apart", {"right": 4, "of": 5})
    add_note("predictions", "clone/joined", {"right": 3, "of": 6})
    add_note("exercises", "clone/readings", {"state": "right"})
    add_note("exercises", "|</td><b>", {"state": "wrong"})
    add_note("misconceptions", "detach copies", {"state": "met", "in": "start/bet"})
    add_note("predictions", "mine/own", {"right": 1, "of": 1})
    add_note("misconceptions", "<script>|", {"state": "met", "in": "start/bet"})
    page = renew(folder)
    # In the lesson that was begun last, not in the first with something open.
    assert "Go on here: [Four more claims about clones]" in page
    assert "](02_clone.ipynb#cell-id=predict-rest), in [02 clone" in page
    assert "| 2 of 3 | 1 of 2 | [Four more" in page
    assert " · [Exercise 2: a clone with a gradient](02_clone" in page, "more than its number"
    counts = re.findall(r"\| (\d+) of (\d+) \| \d+ of \d+ \|", page)
    done, total = (sum(map(int, column)) for column in zip(*counts, strict=True))
    assert f"Progress: {done} of {total} predictions committed" in page, "as its table counts"
    assert page.count("○ open") == page.count('`retest("detach copies")` asks again') == 1
    assert "<b>" not in page
    assert "<script>" not in page
    for name, cell in re.findall(r"\]\(([^)#]+)#cell-id=([^)]+)\)", page):
        cells = read_notebook(lessons_folder() / name)["cells"]
        assert cell in [entry["id"] for entry in cells], (name, cell)


def test_a_page_that_somebody_changed_is_left_alone(folder: Path) -> None:
    page = renew(folder)
    add_note("predictions", "start/bet", {"right": 1, "of": 2})
    assert renew(folder) != page
    for own in (page.replace("Three", "3"), "mine", ""):
        (folder / FRONT_PAGE).write_text(own, "utf-8")
        assert renew(folder) == own
    (folder / FRONT_PAGE).unlink()
    (folder / FRONT_PAGE).symlink_to("elsewhere")
    renew_front_page(folder)
    assert not (folder / "elsewhere").exists()


def test_it_speaks_the_language_of_the_course(folder: Path) -> None:
    pages = {renew(folder)}
    for language in ("zh", "ko"):
        set_language(language)
        pages.add(page := renew(folder))
        assert "You have" not in page
        assert "A bug in front" not in page
    assert len(pages) == 3
