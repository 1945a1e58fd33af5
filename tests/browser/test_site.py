"""The site from the disk: a lesson is taken through, both themes, narrow and wide, by keyboard, without the network."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import build_site
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.conftest import Watched
from playwright.sync_api import Locator, Page, expect

# Building the site takes a fifth of the whole browser stage.
pytestmark = [pytest.mark.browser, pytest.mark.stress]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "made"
    build_site.build_site(folder, ["en", "zh"])
    return folder


def test_a_lesson_from_the_front_page_to_the_next_one(watched: Watched, pages: Path) -> None:
    view = watched.page
    view.goto((pages / "index.html").as_uri())
    view.get_by_role("link", name="fifteen lessons").press("Enter")
    view.get_by_role("link", name=re.compile("^clone: ")).first.click()
    form = view.locator(".cl-predict", has_text="A clone, two gradients")
    expect(form.get_by_role("button", name="Commit")).to_be_visible()
    for menu in form.locator("select").all():
        menu.select_option(index=1)
    for field in form.locator("input").all():
        field.fill("none")
    form.get_by_role("button", name="Commit").press("Enter")
    expect(form.locator(".cl-headline")).to_contain_text(" right")
    expect(form.locator(".cl-against").first).to_be_visible()
    player = view.locator(".cl-player").first
    expect(player).not_to_be_visible()  # it tells the answers
    view.locator("summary", has_text="Show output").first.click()
    player.get_by_role("button", name="Next step").press("Enter")
    expect(player).to_contain_text("Step 2")
    view.get_by_role("link", name=re.compile("Next.*detach", re.DOTALL)).first.click()
    expect(view.get_by_role("heading", level=1)).to_contain_text("detach")


def test_the_search_works_from_the_disk(watched: Watched, pages: Path) -> None:
    view = watched.page
    for language, text, found in (
        ("en", "retain_grad", ""),
        ("en", "Voila", "Where it works"),
        ("en", "semantic versioning", "Changelog"),
        ("zh", "版本计数器", ""),
    ):
        view.goto((pages / language / "index.html").as_uri())
        view.locator("input[name=q]").first.fill(text)
        view.keyboard.press("Enter")
        expect(view.locator("#search-results li a").filter(has_text=found).first).to_be_visible()


def tab_to(page: Page, there: Locator) -> None:
    """Press Tab until something has the focus, and see that one can see where it is."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if there.evaluate("one => one === document.activeElement"):
            expect(there).to_be_in_viewport()
            return
    pytest.fail(f"no way to {there} by Tab")


def test_a_lesson_by_keyboard_alone(watched: Watched, pages: Path) -> None:
    view = watched.page
    view.goto((pages / "en/02_clone.html").as_uri())
    tab_to(view, view.get_by_role("textbox", name="Search"))
    view.keyboard.type("retain_grad")
    view.keyboard.press("Enter")
    tab_to(view, view.locator("#search-results li a").first)
    view.go_back()
    theme = view.locator("body").get_attribute("data-theme")
    tab_to(view, view.locator("button.theme-toggle:visible"))
    view.keyboard.press("Enter")
    expect(view.locator("body")).not_to_have_attribute("data-theme", str(theme))
    form = view.locator(".cl-predict", has_text="A clone, two gradients")
    for field in form.locator("select, input").all():
        tab_to(view, field)
        view.keyboard.press("ArrowDown")
        view.keyboard.type("none" if field.evaluate("one => one.matches('input')") else "")
    tab_to(view, form.get_by_role("button", name="Commit"))
    view.keyboard.press("Enter")
    expect(form.locator(".cl-headline")).to_be_focused()
    expect(form.locator(".cl-headline")).to_contain_text(" right")
    tab_to(view, view.locator("summary", has_text="Show output").first)
    view.keyboard.press("Enter")
    player = view.locator(".cl-player").first
    tab_to(view, player.get_by_role("button", name="Next step"))
    view.keyboard.press("Enter")
    expect(player).to_contain_text("Step 2")
    view.keyboard.press("ArrowRight")
    expect(player).to_contain_text("Step 3")


@pytest.mark.parametrize("width", [360, 800, 1300])
def test_nothing_runs_over_the_edge(watched: Watched, pages: Path, width: int) -> None:
    view = watched.page
    view.set_viewport_size({"width": width, "height": 800})
    for page in (
        "en/gallery",
        "en/reference",
        "en/02_clone",
        "en/docs/hosts",
        "en/docs/messages",
        "en/cheat_sheet",
        "zh/04_data",
        "zh/glossary",
    ):
        view.goto((pages / f"{page}.html").as_uri())
        assert view.evaluate("document.documentElement.scrollWidth") <= width, page


def test_a_player_has_the_whole_width_of_a_telephone(watched: Watched, tmp_path: Path) -> None:
    """Pictures are made for 382 px of 390: in a hidden output they had 331, and were cut off."""
    sheet = (build_site.DOCS / "static" / "site.css").as_uri()
    player = '<div class="cell_output"><div class="copylab-steps">a player</div></div>'
    theirs = "body { margin: 0; padding: 0 1rem } .hide { padding: 0 8px; border-left: 3px solid }"
    page = tmp_path / "page.html"
    page.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><style>{theirs}</style>'
        f'<link rel="stylesheet" href="{sheet}"><div class="cell">{player}</div>'
        f'<div class="cell"><details class="hide" open><summary>s</summary>{player}</details></div>',
        "utf-8",
    )
    view = watched.page
    view.goto(page.as_uri())
    widths = "[...document.querySelectorAll('.copylab-steps')].map((player) => player.offsetWidth)"
    view.set_viewport_size({"width": 390, "height": 800})
    assert view.evaluate(widths) == [390, 390]
    view.set_viewport_size({"width": 800, "height": 800})
    assert view.evaluate(widths) == [768, 749]


def test_korean_breaks_between_words(watched: Watched, tmp_path: Path) -> None:
    sheet = (build_site.DOCS / "static" / "site.css").as_uri()
    text = "텐서를 복사할 때 메모리와 그래디언트에 무슨 일이 생기는지 눈으로 확인하세요"
    paragraph = f'<p style="width: 9em">{text}</p>'
    page = tmp_path / "page.html"
    head = f'<!doctype html><html lang="ko"><meta charset="utf-8"><link rel="stylesheet" href="{sheet}">'
    page.write_text(f"{head}<title>t</title><body>{paragraph}", "utf-8")
    watched.page.goto(page.as_uri())
    lines_of_words = watched.page.evaluate(
        """() => {
          const text = document.querySelector("p").firstChild;
          return [...text.data.matchAll(/\\S+/g)].map(({ 0: word, index }) => {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            return range.getClientRects().length;
          });
        }"""
    )
    assert lines_of_words == [1] * len(text.split())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible_in_both_themes(watched: Watched, pages: Path, theme: str) -> None:
    view = watched.page
    view.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    for page in (
        "en/02_clone",
        "en/gallery",
        "en/reference",
        "en/docs/widgets/predict",
        "en/docs/beside",
        "en/docs/messages",
        "en/cheat_sheet",
        "index",
        "zh/index",
        "zh/search",
    ):
        view.goto((pages / f"{page}.html").as_uri())
        # A page from the disk may not fetch its sheets.
        results = Axe().run(view, options={"preload": False})
        assert results.violations_count == 0, (page, results.generate_report())


class _Links(HTMLParser):
    """The ids of a page, and the addresses that it refers to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids.add(found.get("id") or "")
        self.addresses += [found[name] or "" for name in ("href", "src") if name in found]


def find_dead_links(folder: Path) -> list[str]:
    """Return the links of pages to files or places on a page that are not there."""
    pages = {path: _Links(path) for path in folder.rglob("*.html")}
    dead: list[str] = []
    for path, links in pages.items():
        for address in links.addresses:
            url = urlsplit(address)
            if url.scheme or url.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(url.path))) if url.path else path
            ids = pages[target].ids if target in pages else {unquote(url.fragment)}
            if not target.is_file() or (url.fragment and unquote(url.fragment) not in ids):
                dead.append(f"{path.relative_to(folder)}: {address}")
    return dead


def test_no_link_is_dead(pages: Path, tmp_path: Path) -> None:
    assert find_dead_links(pages) == []
    (tmp_path / "a.html").write_text('<a href="b.html"></a><a href="#c"></a><a id="d" href="#d">')
    assert find_dead_links(tmp_path) == ["a.html: b.html", "a.html: #c"]


def test_a_site_of_three_languages_is_small(pages: Path) -> None:
    sizes = {
        name: sum(path.stat().st_size for path in (pages / name).rglob("*.html"))
        for name in ("en", "zh")
    }
    # Chinese and Korean have as many pages. What is no page is Sphinx's, but for half a megabyte.
    # Each right row of a prediction says why, and each storage has a box.
    assert sizes["en"] + 2 * sizes["zh"] < 14_700_000, sizes


def test_a_picture_follows_the_switch_of_the_page(watched: Watched, pages: Path) -> None:
    view = watched.page
    view.goto((pages / "en/gallery.html").as_uri())
    for theme in ("light", "dark"):
        view.evaluate("theme => document.body.dataset.theme = theme", theme)
        assert (
            view.evaluate("getComputedStyle(document.querySelector('.output img')).colorScheme")
            == theme
        )
        panel = view.locator(".cl-panel").first
        lightness = panel.evaluate("panel => getComputedStyle(panel).getPropertyValue('--tt-bg')")
        assert (int(lightness.strip().lstrip("#")[:2], 16) > 128) == (theme == "light")
