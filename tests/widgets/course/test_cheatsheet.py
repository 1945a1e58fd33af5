"""The cheat sheet is what the runs say, on both engines, and fits on one page."""

import re
from pathlib import Path
from types import ModuleType

import copylab.course.cheatsheet as sheet
import pytest
from copylab.copying.methods import METHODS
from needs import find_browser

import tinytorch
from tinytorch.viz import set_language

STORED = Path(__file__).resolve().parents[3] / "notebooks" / "cheat_sheet.html"
LINES_OF_KOREAN_WORDS = r"""() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    for (const { 0: word, index } of text.data.matchAll(/[\uac00-\ud7a3]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const tops = [...range.getClientRects()].map((box) => Math.round(box.top));
      found.push([word, new Set(tops).size]);
    }
  }
  return found;
}"""


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
@pytest.mark.parametrize("language", [None, "zh", "ko"])
def test_it_prints_on_one_page_and_breaks_no_korean_word(
    language: str | None, tmp_path: Path
) -> None:
    from playwright.sync_api import sync_playwright

    set_language(language)
    try:
        rendered = sheet.render_cheat_sheet(tinytorch)
    finally:
        set_language(None)
    path = tmp_path / "cheat_sheet.html"
    path.write_text(rendered, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(path.as_uri())
        words = page.evaluate(LINES_OF_KOREAN_WORDS)
        printed = page.pdf(prefer_css_page_size=True)
        browser.close()
    assert bool(words) is (language == "ko")
    assert [word for word, lines in words if lines > 1] == []
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
