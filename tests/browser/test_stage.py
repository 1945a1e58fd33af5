"""The stage of a player: one view of code, words and pictures; nothing moves from step to step, and all can be read."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browser.books import stepping, write
from browser.conftest import Lab, Watched
from copylab import Steps, steps
from playwright.sync_api import Locator, Page, expect

import tinytorch

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

SILENT = """\
import torch
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
y = x.sigmoid()
z = y.detach()
v = y[0]
out = y.sum()
z.data[0] = 5
y.data.mul_(2)
out.backward()
print(x.grad)
"""
SHOWN = """\
from copylab import CopyLab, compare
from tinytorch import viz
a = torch.ones(2, requires_grad=True)
b = (a.exp() * 3).clone().detach()
"""
ASKED = """\
from copylab import predict
from copylab.questions import same_storage, value
predict("a = torch.ones(2)\\nb = a.clone()", [same_storage("a", "b"), value("b")], title="A clone")
"""
# The size at which each text can be seen, the smallest first; what is drawn in an image has 11 px and more there.
TEXTS = """(root) => {
    const found = [];
    const look = (within) => {
        for (const e of within.querySelectorAll('*')) {
            if (e.shadowRoot) look(e.shadowRoot);
            if (!e.checkVisibility({ visibilityProperty: true })) continue;
            if (e.matches('img[src^="data:image/svg"]')) found.push([11 * e.width / e.naturalWidth, 'an image']);
            const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
            if (!own || e.closest('.cl-only-heard, style, script, title')) continue;
            const scale = e.ownerSVGElement ? e.getScreenCTM().d : 1;
            found.push([parseFloat(getComputedStyle(e).fontSize) * scale, e.textContent.slice(0, 20)]);
        }
    };
    look(root);
    return found.sort((a, b) => a[0] - b[0])[0];
}"""
PLACES = """(player) => {
    const top = player.getBoundingClientRect().top;
    const places = [...player.querySelectorAll('button, figure, .cl-listing, .cl-happened')];
    return [player.offsetHeight, ...places.map((one) => Math.round(one.getBoundingClientRect().top - top))].join();
}"""
PARTS = """([player, tensor]) => [...player.querySelectorAll('.cl-holder')].flatMap(({ shadowRoot }) =>
    [...shadowRoot.querySelectorAll(`[data-t=${tensor}]`)].map((one) => [...one.classList]))"""


def smallest(found: Locator) -> float:
    size, text = found.evaluate(TEXTS)
    print(f"{size:.1f} px: {text}")
    return round(float(size), 1)


def walk(page: Page, player: Locator) -> None:
    """Go through all steps: the same height, and everything in its place."""
    player.focus()
    page.keyboard.press("Home")
    count = int(player.get_attribute("data-steps") or 0)
    page.wait_for_timeout(200)
    places = {}
    for number in range(1, count + 1):
        expect(player).to_have_attribute("data-step", str(number))
        places[number] = player.evaluate(PLACES)
        assert smallest(player) >= 11
        page.keyboard.press("ArrowRight")
    assert len(set(places.values())) == 1, places


@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_moves_and_all_can_be_read(watched: Watched, lab: Lab, *, narrow: bool) -> None:
    head, run = stepping(SILENT)
    shows = [
        f"{SHOWN}compare('x.clone()', 'x.detach()')",
        "CopyLab()",
        "viz.memory(a, b)",
        "viz.graph(a, b)",
        ASKED,
    ]
    name = write(lab.folder, "stage.ipynb", head, run, *shows)
    page = watched.page
    page.set_viewport_size({"width": 390 if narrow else 1280, "height": 800})
    address = lab.address(name)
    watched.run_all(address if narrow else address.replace("/doc/tree/", "/lab/tree/"))
    assert page.locator("#filebrowser").is_visible() is not narrow
    player = page.locator(".cl-player").first
    walk(page, player)
    assert player.locator(".cl-listing").evaluate(
        "(code) => code.scrollWidth <= code.clientWidth"
    ), "long lines wrap"
    code, memory = (
        player.locator(one).bounding_box() for one in (".cl-program", "figure[data-picture=memory]")
    )
    assert code
    assert memory
    assert (memory["x"] > code["x"] + code["width"]) is not narrow, "beside the code, or below it"
    # At the step that computes a wrong gradient: box, line and node.
    page.keyboard.press("ArrowLeft")
    expect(player.locator(".cl-alarm")).to_contain_text("A wrong gradient, and no error")
    assert "backward" in player.locator("li.cl-wrong").inner_text()
    graph = player.locator("figure[data-picture=graph]")
    assert graph.locator("rect.bad").count() == 1
    assert graph.locator("text", has_text="its gradient is wrong").count() == 1
    # One tensor has one hue, and is joined.
    word = player.locator(".cl-name[data-name=z]").first
    tensor = word.get_attribute("data-t") or ""
    hue = (word.get_attribute("class") or "").rpartition("-")[2]
    parts = player.evaluate_handle("(player, tensor) => [player, tensor]", tensor)
    assert all(hue in kinds and "joined" not in kinds for kinds in page.evaluate(PARTS, parts))
    word.focus()
    drawn = page.evaluate(PARTS, parts)
    assert len(drawn) > 2
    assert all("joined" in kinds for kinds in drawn)
    for output in page.locator(".jp-OutputArea-output").all():
        if output.is_visible():
            assert smallest(output) >= 11
    form = page.locator(".cl-predict").first
    assert form.evaluate("(form) => form.scrollWidth <= form.clientWidth")
    # What a copy is judged by can be seen, and covers nothing.
    table = page.locator(".cl-table").first
    assert table.evaluate("(table) => table.scrollWidth <= table.clientWidth")
    edge, cell = table.bounding_box(), table.locator("td.cl-decisive").first.bounding_box()
    assert edge
    assert cell
    assert cell["x"] >= edge["x"]
    assert cell["x"] + cell["width"] <= edge["x"] + edge["width"] + 1


def test_all_steps_are_on_paper(watched: Watched, lab: Lab) -> None:
    name = write(lab.folder, "paper.ipynb", *stepping(SILENT))
    watched.run_all(lab.address(name))
    page = watched.page
    expect(page.locator(".cl-player")).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".cl-player")).to_be_hidden()
    expect(page.locator(".cl-step img:visible").first).to_be_visible()
    assert page.locator(".cl-step > summary:visible").count() == SILENT.count("\n")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator(".cl-player")).to_be_visible()


# At each step: the height of the player, and what of it is not in view, or is cut. Goes to the next step.
MOMENTS = """async (player) => {
    const inside = (one, box) => {
        const [a, b] = [one.getBoundingClientRect(), box.getBoundingClientRect()];
        return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 && a.left >= b.left - 1 && a.left < b.right;
    };
    const [code, words] = [".cl-listing", ".cl-happened"].map((one) => player.querySelector(one));
    const moments = [];
    for (let step = 0; step < Number(player.dataset.steps); step++) {
        if (step) player.querySelector("[data-action=next]").click();
        const missing = [];
        if (!inside(player.querySelector(".cl-here"), code)) missing.push("the line");
        if (words.scrollHeight > words.clientHeight) missing.push("words");
        for (const pane of player.querySelectorAll(".cl-pane:not(.cl-away, [hidden])")) {
            const holder = pane.querySelector(".cl-holder");
            const news = holder.shadowRoot.querySelector('.fresh, [class^="new"], [class^="bad"]');
            if (news && !inside(news, holder)) missing.push(pane.dataset.picture);
        }
        const bar = player.querySelector(".cl-bar");
        if (bar.scrollWidth > bar.clientWidth) missing.push("controls");
        moments.push([player.offsetHeight, missing]);
    }
    return [moments, document.documentElement.scrollWidth <= innerWidth];
}"""


def make_lesson_players() -> Iterator[tuple[str, Steps]]:
    """Run again what the lessons step through, with the code that their stored outputs show."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        for cell in cells:
            for output in cell.get("outputs", ()):
                html = "".join(output.get("data", {}).get("text/html", ""))
                lines = re.findall(
                    "<span class='cl-line'>(.*?)</span>", html.partition("</pre>")[0]
                )
                if 'class="copylab-steps"' in html:
                    yield path.stem, steps(unescape("\n".join(lines)), engine=tinytorch)


@pytest.mark.stress
def test_every_player_of_the_lessons_is_one_view(watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    wrong: list[Any] = []
    for lesson, made in make_lesson_players():
        made.save(tmp_path / "page.html")
        for width in (836, 640, 1200, 390):
            # A page has a margin of 8 px.
            page.set_viewport_size({"width": width + 16, "height": 680})
            page.goto((tmp_path / "page.html").as_uri())
            moments, fits = page.locator(".cl-player").evaluate(MOMENTS)
            heights = {height for height, _ in moments}
            missing = [what for _, what in moments if what]
            print(f"{lesson} at {width}: {max(heights)} px, spread {max(heights) - min(heights)}")
            most = 560 if len(made.code.splitlines()) <= 14 else 700
            is_too_high = width == 836 and max(heights) > most
            if is_too_high or len(heights) > 1 or not fits or (missing and width >= 836):
                wrong.append((lesson, width, heights, missing, fits))
    assert wrong == []
