"""The cheat sheet is what the runs say, on both engines, and fits on one page."""

import re
from pathlib import Path
from types import ModuleType

import copylab.course.cheatsheet as sheet
import pytest
from copylab.copying.methods import METHODS
from needs import find_browser

import tinytorch

STORED = Path(__file__).resolve().parents[3] / "notebooks" / "cheat_sheet.html"


def test_the_stored_sheet_is_what_the_runs_say() -> None:
    assert STORED.read_text("utf-8") == sheet.render_cheat_sheet(tinytorch), (
        "python tools/make_solutions.py"
    )


@pytest.mark.torch
def test_torch_says_the_same() -> None:
    torch: ModuleType = pytest.importorskip("torch")
    assert sheet.render_cheat_sheet(torch) == sheet.render_cheat_sheet(tinytorch)


def test_every_method_is_there_and_every_wish_is_met() -> None:
    rows = re.findall(
        r'<tr><th scope="row">(.*?)</th>(.*)</tr>', sheet.render_cheat_sheet(tinytorch)
    )
    assert len(rows) == len(METHODS)
    data = dict(rows)["y = x.data"]
    assert "wrong, and no error" in data
    assert "raises RuntimeError" in dict(rows)["import copy; y = copy.deepcopy(x)"]


def test_a_wish_that_nothing_meets_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    impossible = ("A copy that costs nothing", {"same_storage": False, "copied": 0})
    monkeypatch.setattr(sheet, "WANTS", (impossible,))
    with pytest.raises(RuntimeError, match="costs nothing"):
        sheet.render_cheat_sheet(tinytorch)


def test_nothing_is_fetched() -> None:
    assert not re.search(r"<script|src=|href=|@import|url\(", STORED.read_text("utf-8"))


@pytest.mark.browser
def test_it_prints_on_one_page() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(STORED.as_uri())
        printed = page.pdf(prefer_css_page_size=True)
        browser.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
