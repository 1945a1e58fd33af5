"""The front page of the site: a bet that is judged without a kernel, in the page."""

import importlib
import re
from pathlib import Path

import pytest
from browser.conftest import Watched
from playwright.sync_api import expect

build_site = importlib.import_module("build_site")
pytestmark = pytest.mark.browser


def test_a_bet_is_lost_and_won(watched: Watched, tmp_path: Path) -> None:
    front = tmp_path / "index.html"
    front.write_text(build_site.front_page(["en", "zh", "ko"]), encoding="utf-8")
    view = watched.page
    view.goto(front.as_uri())
    form = view.locator(".cl-predict")
    for answers, headline in ((["1", "3"], "0 of 2 right"), (["0", "4.5"], "All 2 right.")):
        for field, answer in zip(form.locator("input").all(), answers, strict=True):
            field.fill(answer)
        form.get_by_role("button", name="Commit").press("Enter")
        expect(form.locator(".cl-headline")).to_contain_text(headline)
        if headline.startswith("0"):
            expect(form).to_contain_text("A common misconception: detach copies.")
            form.get_by_role("button", name="Start again").press("Enter")


def test_its_doors_lead_to_pages_of_the_site() -> None:
    front = build_site.front_page(["en"])
    pages = {
        *build_site.PAGE_NAMES,
        *build_site.GUIDES,
        *(path.stem for path in build_site.lessons_folder().glob("*.ipynb")),
        "index",
    }
    doors = re.findall(r'href="en/([^"]*)\.html"', front)
    assert len(doors) >= 5
    assert set(doors) <= pages
    assert 'href="zh/' not in front


def test_code_of_the_site_can_be_copied(watched: Watched, tmp_path: Path) -> None:
    script = (build_site.DOCS / "static" / "site.js").read_text("utf-8")
    code = '<div class="highlight"><pre>x = 1\n<b>y</b> = "a b"\n</pre></div>'
    page = tmp_path / "page.html"
    page.write_text(
        f'<!doctype html><html lang="ko"><meta charset="utf-8"><script>{script}</script>'
        f'{code}<div class="cell_output">{code}</div></html>',
        encoding="utf-8",
    )
    view = watched.page
    view.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.goto(page.as_uri())
    # What a cell printed has none.
    button = view.get_by_role("button")
    expect(button).to_have_text("복사")
    button.press("Enter")
    expect(button).to_have_text("복사됨")
    assert view.evaluate("navigator.clipboard.readText()") == 'x = 1\ny = "a b"'
