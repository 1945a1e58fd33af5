"""What the site adds to its pages: a bet that is judged in the page, buttons that copy, links that carry a run."""

import importlib
import re
from pathlib import Path

import pytest
from browser.conftest import Watched
from copylab import steps
from copylab.player.player import LONGEST_LINK
from playwright.sync_api import expect

import tinytorch

build_site = importlib.import_module("build_site")
pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("language", "commit", "again", "lost", "won", "belief"),
    [
        ("en", "Commit", "Start again", "0 of 2 right", "All 2 right.", "detach copies"),
        ("zh", "提交", "重新开始", "2 题中答对 0 题", "2 题全部答对", "detach"),
        ("ko", "제출", "다시 시작", "정답 0/2", "2문항 모두", "detach"),
    ],
)
def test_a_bet_is_lost_and_won(
    watched: Watched,
    tmp_path: Path,
    language: str,
    commit: str,
    again: str,
    lost: str,
    won: str,
    belief: str,
) -> None:
    build_site.write_front_pages(tmp_path, ["en", "zh", "ko"])
    view = watched.page
    view.goto((tmp_path / "index.html").as_uri())
    view.get_by_role("link", name=build_site.SITE_LANGUAGES[language].name).click()
    expect(view.locator("html")).to_have_attribute("lang", language)
    form = view.locator(".cl-predict")
    for answers, headline in ((["1", "3"], lost), (["0", "4.5"], won)):
        for field, answer in zip(form.locator("input").all(), answers, strict=True):
            field.fill(answer)
        form.get_by_role("button", name=commit).press("Enter")
        expect(form.locator(".cl-headline")).to_contain_text(headline)
        if headline == lost:
            expect(form).to_contain_text(belief)
            form.get_by_role("button", name=again).press("Enter")


@pytest.mark.parametrize("language", ["en", "zh", "ko"])
def test_its_doors_lead_to_pages_of_the_site(language: str) -> None:
    alone = build_site.render_front_page(language, [language])
    lessons = {path.stem for path in build_site.lessons_folder().glob("*.ipynb")}
    names = [name for name in build_site.PAGE_NAMES if build_site.is_translated(name, language)]
    pages = {f"{language}/{name}" for name in (*names, *lessons, "index")}
    pages |= {f"en/{name}" for name in build_site.GUIDES if language == "en"}
    doors = re.findall(r'href="([^"]*)\.html"', alone)
    assert len(doors) >= 5
    assert set(doors) <= pages | {"index"}
    # Guides are in English; the other languages lead to them where they are there.
    beside = build_site.render_front_page(language, ["en", "zh", "ko"])
    others = set(re.findall(r'href="([^"]*)\.html"', beside)) - pages
    assert others <= {"index", "index.zh", "index.ko"} | {f"en/{n}" for n in build_site.GUIDES}
    assert "en/docs/watch" in re.findall(r'href="([^"]*)\.html"', beside)


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


OTHER = "a = torch.ones(2)\nb = a.clone()"
RUN = "x = torch.ones(2)\ny = x.detach()\ny += 1\nz = '<b>&\\'張'"


def test_a_link_carries_a_run_and_opens_it(watched: Watched, tmp_path: Path) -> None:
    script = (build_site.DOCS / "static" / "site.js").read_text("utf-8")
    assert f"LONGEST_ADDRESS = {LONGEST_LINK};" in script
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><script>{script}</script>'
    players = [steps(code, engine=tinytorch) for code in (OTHER, RUN)]
    folded = f"<details><summary>more</summary>{players[1].html}</details>"
    (tmp_path / "en" / "_static").mkdir(parents=True)
    page, run = tmp_path / "en" / "page.html", tmp_path / "en" / "run.html"
    page.write_text(f"{head}{players[0].html}<p style='height:200vh'></p>{folded}", "utf-8")
    build_site.write_stored_runs(tmp_path / "en")
    place = '<div id="site-run">as it is</div>'
    run.write_text(f'{head}{place}<script src="_static/runs.js"></script>', "utf-8")
    view = watched.page
    view.on("dialog", lambda dialog: watched.wrong.append(f"dialog: {dialog.message}"))
    view.context.grant_permissions(["clipboard-read", "clipboard-write"])

    # As Python makes it: from the page `run` to the player in its fold.
    view.goto(players[1].link(tmp_path.as_uri(), step=2))
    player = view.locator("details .cl-player")
    expect(player).to_have_attribute("data-step", "2")
    expect(player).to_be_focused()
    expect(player).to_be_in_viewport()
    assert view.url.startswith(page.as_uri())

    # As the page copies it, with another copy in its place.
    player.get_by_role("button", name="clone instead of detach on line 2").click()
    expect(player.locator(".cl-changed")).not_to_be_empty()
    player.get_by_role("button", name="Last step").click()
    player.get_by_role("button", name="copy link").press("Enter")
    expect(player.get_by_role("button", name="Copied")).to_be_visible()
    address = view.evaluate("navigator.clipboard.readText()")
    assert "pill=0+clone" in address
    view.goto("about:blank")
    view.goto(address)
    expect(player.locator(".cl-here")).to_contain_text("z = ")
    expect(player.locator(".cl-listing")).to_contain_text("y = x.clone()")

    # What the site has not stored is shown as text, and can be pasted as it is.
    hostile = 'print("""<img src=x onerror=alert(1)>\\n""")'
    view.goto(steps(hostile, engine=tinytorch).link(tmp_path.as_uri()))
    expect(view.locator("#site-run p").first).to_contain_text("it needs a kernel")
    cell = view.locator("#site-run pre").inner_text()
    assert eval("(" + cell.split("steps(")[1]).strip() == hostile
    assert view.locator("#site-run img").count() == 0
    view.goto("about:blank")
    view.goto(run.as_uri() + "#program=" + "x" * LONGEST_LINK)
    expect(view.locator("#site-run")).to_contain_text("too long")
    view.goto("about:blank")
    view.goto(run.as_uri() + "#a-heading")
    expect(view.locator("#site-run")).to_have_text("as it is")
