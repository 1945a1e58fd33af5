"""The stage of a player: one view of code, words and pictures; nothing moves from step to step, and all can be read."""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browser.books import stepping, write
from browser.conftest import Lab, Watched
from copylab import CopyLab, steps
from copylab.lessons.assignment import written
from playwright.sync_api import Locator, Page, expect

import tinytorch
from tinytorch import viz
from tinytorch.viz.wording import catalogue

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
CLONED = """\
a = torch.tensor(1.0, requires_grad=True)
y = a**2
b = a.clone()
z = b * 3
y.backward()
z.backward()
b += 1
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
# The size at which each text can be seen, the smallest first; what is drawn in an image has 12 px and more there.
TEXTS = """(root) => {
    const found = [];
    const look = (within) => {
        for (const e of within.querySelectorAll('*')) {
            if (e.shadowRoot) look(e.shadowRoot);
            if (!e.checkVisibility({ visibilityProperty: true })) continue;
            if (e.matches('img[src^="data:image/svg"]')) found.push([12 * e.width / e.naturalWidth, 'an image']);
            const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
            if (!own || e.closest('.cl-only-heard, style, script, title')) continue;
            const scale = e.ownerSVGElement ? e.getScreenCTM().d : 1;
            found.push([parseFloat(getComputedStyle(e).fontSize) * scale, e.textContent.slice(0, 20)]);
        }
    };
    look(root);
    return found.sort((a, b) => a[0] - b[0])[0];
}"""
# Where each part is; null for the graph before there is one.
PLACES = """(player) => {
    const top = player.getBoundingClientRect().top;
    const places = [...player.querySelectorAll('button, .cl-listing, .cl-happened, figure')];
    return places.map((one) => one.checkVisibility() ? Math.round(one.getBoundingClientRect().top - top) : null);
}"""
# Whether a step has an alarm or an error, whether it has a graph, and how high the player is.
HEIGHT = """(player) => {
    const graph = player.querySelector('figure[data-picture=graph]:not(.cl-away)');
    return [player.querySelector('.cl-alarms').childElementCount > 0, graph !== null, player.offsetHeight];
}"""
PARTS = """([player, tensor]) => [...player.querySelectorAll('.cl-holder')].flatMap(({ shadowRoot }) =>
    [...shadowRoot.querySelectorAll(`[data-t=${tensor}]`)].map((one) => [...one.classList]))"""


def smallest(found: Locator) -> float:
    size, text = found.evaluate(TEXTS)
    print(f"{size:.1f} px: {text}")
    return round(float(size), 1)


def walk(page: Page, player: Locator) -> None:
    """Go through all steps: everything in its place, and one height from one of these on to the next one.

    The first step, the first graph, and the first thing that goes wrong: each may need room that the others do not.
    """
    player.focus()
    page.keyboard.press("Home")
    count = int(player.get_attribute("data-steps") or 0)
    page.wait_for_timeout(200)
    places: dict[int, list[int | None]] = {}
    heights: dict[tuple[bool, bool], set[int]] = {}
    has_gone_wrong = has_graph = False
    for number in range(1, count + 1):
        expect(player).to_have_attribute("data-step", str(number))
        places[number] = player.evaluate(PLACES)
        is_loud, is_drawn, height = player.evaluate(HEIGHT)
        has_gone_wrong, has_graph = has_gone_wrong or is_loud, has_graph or is_drawn
        heights.setdefault((has_graph, has_gone_wrong), set()).add(height)
        assert smallest(player) >= 11
        page.keyboard.press("ArrowRight")
    for tops in zip(*places.values(), strict=True):
        # A button that is not there yet has no place.
        assert len({*tops} - {None}) <= 1, places
    assert None not in places[count][-4:], "code, words and both pictures"
    assert max(map(len, heights.values())) == 1, heights
    in_order = [height for (height,) in heights.values()]
    assert in_order == sorted(in_order), "what has its room keeps it"
    page.keyboard.press("Home")
    assert player.evaluate(HEIGHT)[-1] == in_order[-1]
    page.keyboard.press("End")


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


# Of each row of the code, how it is set; and whether its mark can be seen.
ROWS = """(player) => [...player.querySelectorAll('.cl-listing li')].map((row) => {
    const [own, number, mark] = [undefined, '::before', '::after'].map((part) => getComputedStyle(row, part));
    const name = row.querySelector('.cl-text');
    return [own.fontWeight + number.content + mark.content + name.offsetWidth, mark.visibility];
})"""


def test_a_line_is_marked_without_being_set_anew(watched: Watched, tmp_path: Path) -> None:
    """A bold line, or an arrow that is put into it, took a fifth of the time of a step."""
    steps("a = torch.ones(2)\nb = a\nc = b\n", engine=tinytorch).save(tmp_path / "page.html")
    page = watched.page
    page.goto((tmp_path / "page.html").as_uri())
    player = page.locator(".cl-player")
    moments = []
    for number in (1, 2, 3):
        expect(player).to_have_attribute("data-step", str(number))
        moments.append(player.evaluate(ROWS))
        player.press("ArrowRight")
    assert [[seen for _, seen in moment].index("visible") for moment in moments] == [0, 1, 2]
    assert all([seen for _, seen in moment].count("visible") == 1 for moment in moments)
    first, *others = [[how for how, _ in moment] for moment in moments]
    assert all(other == first for other in others)
    assert "▶" in first[0]


# Between the title of a graph, which is in its picture, and the fold beside it.
FREE_BESIDE_TITLE = """(figure) => {
    const title = figure.querySelector('.cl-holder').shadowRoot.querySelector('text');
    return figure.querySelector('summary').getBoundingClientRect().left - title.getBoundingClientRect().right;
}"""


def test_the_title_of_a_graph_is_beside_its_fold(watched: Watched, tmp_path: Path) -> None:
    """The graph is narrow where the three parts are in a row: its title ran into the fold."""
    steps(SILENT, engine=tinytorch).save(tmp_path / "page.html")
    page = watched.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".cl-stage")).to_have_attribute("data-form", "row")
    page.locator(".cl-player").press("End")
    graph = page.locator("figure[data-picture=graph]")
    expect(graph.locator("svg text").first).to_have_text("Graph: arrows go backward.")
    assert graph.evaluate(FREE_BESIDE_TITLE) >= 8
    expect(graph.get_by_text("in words")).to_be_visible()
    expect(graph.locator("summary")).to_have_attribute("aria-label", "Graph in words")


# The rows of the code of which only a part is in view.
CUT_ROWS = """(code) => {
    const { top, bottom } = code.getBoundingClientRect();
    return [...code.children].map((row) => row.getBoundingClientRect())
        .filter((row) => [top, bottom].some((edge) => row.top < edge - 1 && row.bottom > edge + 1)).length;
}"""


def test_code_that_scrolls_is_cut_between_two_lines(watched: Watched, tmp_path: Path) -> None:
    """At an error at its end, the buttons cut the first line that was in view."""
    long = "".join(f"x{i} = torch.ones(3)\n" for i in range(9)) + LONG_ERROR.replace(
        "x = ", "\nx = "
    )
    steps(long, engine=tinytorch).save(tmp_path / "page.html")
    page = watched.page
    for width in (852, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto((tmp_path / "page.html").as_uri())
        player = page.locator(".cl-player")
        code = player.locator(".cl-listing")
        cut = []
        for key in ("Home", "End", "ArrowLeft"):
            player.press(key)
            cut.append(code.evaluate(CUT_ROWS))
        assert cut == [0, 0, 0]
        if width == 852:
            assert code.evaluate("(code) => code.scrollHeight > code.clientHeight")


def test_a_step_without_pictures_says_so(watched: Watched, tmp_path: Path) -> None:
    """Two thirds of the stage were white before the first tensor."""
    steps(
        "lowest = 100.0\nx = torch.ones(3, requires_grad=True)\ny = x * 2\n", engine=tinytorch
    ).save(tmp_path / "page.html")
    page = watched.page
    page.goto((tmp_path / "page.html").as_uri())
    player = page.locator(".cl-player")
    seen = """(player) => [...player.querySelectorAll(".cl-pane")].map((pane) => {
        const style = getComputedStyle(pane, "::before");
        return style.visibility === "visible" ? style.content : "none";
    })"""
    expect(player).to_have_attribute("data-step", "1")
    assert player.evaluate(seen) == ['"No tensors at this step."', '"No graph at this step."']
    player.press("ArrowRight")
    assert player.evaluate(seen) == ["none", '"No graph at this step."']
    player.press("End")
    assert player.evaluate(seen) == ["none", "none"]


def test_a_picture_leaves_room_below_a_printed_line(watched: Watched, tmp_path: Path) -> None:
    """In a notebook, its title touched the line above it."""
    x = tinytorch.tensor([1.0], requires_grad=True)
    html = viz.graph(y=x * 2)._repr_mimebundle_()["text/html"]
    (tmp_path / "page.html").write_text(f"<!doctype html><pre>printed</pre>{html}", "utf-8")
    page = watched.page
    page.goto((tmp_path / "page.html").as_uri())
    top = "(one) => one.getBoundingClientRect().top - one.parentNode.getBoundingClientRect().top"
    assert page.locator("img").evaluate(top) >= 6


def test_a_picture_that_scrolls_says_so_in_the_readers_language(
    watched: Watched, tmp_path: Path
) -> None:
    names = "\n".join(f"y{i} = torch.ones(3)" for i in range(40))
    catalogue.set_language("ko")
    try:
        steps(names, engine=tinytorch).save(tmp_path / "page.html")
    finally:
        catalogue.set_language(None)
    page = watched.page
    page.goto((tmp_path / "page.html").as_uri())
    page.locator(".cl-player [data-action=last]").click()
    region = page.locator("figure[data-picture=memory] .cl-holder")
    expect(region).to_have_attribute(
        "aria-label", "메모리 그림. Shift와 화살표 키로 옆으로 스크롤합니다."
    )


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


def list_stored_players() -> Iterator[tuple[str, str]]:
    """The players of the lessons as their notebooks store them, for readers without a kernel."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if 'class="copylab-steps"' in html:
                    yield path.stem, html


def read_code(html: str) -> str:
    """The program that a stored player steps through."""
    lines = re.findall("<span class='cl-line'>(.*?)</span>", html.partition("</pre>")[0])
    return unescape("\n".join(lines))


def limit_height(code: str) -> int:
    """How high a player of a program may be, in px.

    At 1280x800 JupyterLab has some 650 px for a notebook. Of these, 580 are for a graph of five names
    below each other, each with a gap to the next node.
    """
    return 580 if len(code.splitlines()) <= 14 else 700


LONG_ERROR = """\
x = torch.ones(2, requires_grad=True)
h = x.sigmoid()
kept = []
kept.append(h)
h *= 2
loss = h.sum()
loss.backward()
"""


# Of an error: how much of its text is out of view, in its box and in what scrolls around it.
CUT_OF_ERROR = """(text) => {
    const [own, around] = [text, text.closest(".cl-happened")].map((one) => one.scrollHeight - one.clientHeight);
    return [own, around, text.scrollWidth - text.clientWidth];
}"""


def test_a_long_error_leaves_the_first_line_in_view(watched: Watched, tmp_path: Path) -> None:
    """At 800 px the upper half of line 1 was cut off, below it stood six lines of PyTorch's."""
    steps(LONG_ERROR, engine=tinytorch).save(tmp_path / "page.html")
    page = watched.page
    page.set_viewport_size({"width": 800, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    player = page.locator(".cl-player")
    player.press("End")
    expect(player.locator(".cl-alarms .cl-error")).to_be_visible()
    code = player.locator(".cl-listing")
    assert code.evaluate("(code) => [code.scrollTop, code.scrollHeight - code.clientHeight]") == [
        0,
        0,
    ]
    assert player.evaluate("(player) => player.offsetHeight") <= 560
    ([*_, (_, missing)], _) = player.evaluate(MOMENTS)
    assert missing == [], "nor of the sentences"
    error = player.locator(".cl-error > pre")
    assert error.evaluate(CUT_OF_ERROR) == [0, 0, 0]
    assert error.get_attribute("tabindex") is None, "nothing scrolls in it"
    # What explains it comes first.
    why = player.locator(".cl-error > .cl-says")
    expect(why).to_contain_text("SigmoidBackward0 saved its result")
    places = [one.evaluate("(one) => one.getBoundingClientRect().top") for one in (why, error)]
    assert places == sorted(places)
    # How the run ended is its title, and not said twice.
    title = player.locator(".cl-error > .cl-end")
    expect(title).to_have_text("The error on line 7 ended the run.")
    expect(player.locator(".cl-end")).to_have_count(1)
    player.press("ArrowLeft")
    expect(player.locator(".cl-happened > .cl-end")).to_be_hidden()
    expect(player.locator(".cl-happened > .cl-says")).to_be_visible()


def test_the_room_of_an_error_is_there_with_the_error(watched: Watched, tmp_path: Path) -> None:
    """More than half of the player was empty at step 1, for the error of step 4."""
    steps(
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\ny = w.sigmoid()\ny[0] = 0.0\n"
        "y.sum().backward()",
        engine=tinytorch,
    ).save(tmp_path / "page.html")
    page = watched.page
    page.set_viewport_size({"width": 848 + 16, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    player = page.locator(".cl-player")
    box, words = player.locator(".cl-program"), player.locator(".cl-happened > .cl-says")
    early = player.evaluate("(player) => player.offsetHeight")
    # Below the words of the first step there is no more room than the longest words before the error need.
    bottoms = [one.evaluate("(one) => one.getBoundingClientRect().bottom") for one in (box, words)]
    assert bottoms[0] - bottoms[1] <= 80
    player.press("ArrowRight")
    # With the first graph there is its room.
    low = player.evaluate("(player) => player.offsetHeight")
    assert early < low
    player.press("End")
    grown = player.evaluate("(player) => player.offsetHeight")
    assert low + 40 <= grown <= 560
    # And it stays: nothing moves a second time.
    player.press("Home")
    assert player.evaluate("(player) => player.offsetHeight") == grown


def test_the_error_after_another_copy_is_seen_whole(watched: Watched, tmp_path: Path) -> None:
    """As wide as in JupyterLab at 1280 x 800: of five lines of the error, three and a half were in view."""
    code = next(read_code(html) for lesson, html in list_stored_players() if lesson == "04_data")
    steps(code, engine=tinytorch).save(tmp_path / "page.html")
    page = watched.page
    page.set_viewport_size({"width": 848 + 16, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_role("button", name="detach instead of .data on line 3").click()
    player = page.locator(".cl-player")
    player.press("End")
    error = player.locator(".cl-alarms .cl-error > pre")
    expect(error).to_contain_text("expected version 0 instead")
    assert error.evaluate(CUT_OF_ERROR) == [0, 0, 0]
    assert player.evaluate("(player) => player.offsetHeight") <= 560
    ([*_, (_, missing)], _) = player.evaluate(MOMENTS)
    assert missing == []


def test_an_error_of_many_lines_is_seen_whole(watched: Watched, tmp_path: Path) -> None:
    """Each had a box of its own to scroll: an error of the learner's, and one that the program caught."""
    error = "raise ValueError(chr(10).join(str(i) for i in range(18)))"
    caught = f"try:\n    {error}\nexcept ValueError:\n    pass\n"
    steps(caught + error, engine=tinytorch).save(tmp_path / "page.html")
    lab = CopyLab()
    lab.run(error)
    (tmp_path / "lab.html").write_text(f"<!doctype html><body>{lab.html}", "utf-8")
    page = watched.page
    page.set_viewport_size({"width": 848 + 16, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    player = page.locator(".cl-player")
    for key, box in (("Home", ".cl-raised"), ("End", ".cl-error")):
        player.press(key)
        text = player.locator(f"{box} > pre").first
        expect(text).to_contain_text("17")
        assert text.evaluate("(text) => text.scrollHeight - text.clientHeight") == 0
    page.goto((tmp_path / "lab.html").as_uri())
    text = page.locator(".cl-alarm.cl-error > pre")
    expect(text).to_contain_text("17")
    assert text.evaluate("(text) => text.scrollHeight - text.clientHeight") == 0


@pytest.mark.stress
def test_every_player_of_the_lessons_is_one_view(watched: Watched, tmp_path: Path) -> None:
    """Made anew, with the code that the stored outputs show: at all steps, in pages of all widths."""
    page = watched.page
    wrong: list[Any] = []
    for lesson, html in list_stored_players():
        made = steps(read_code(html), engine=tinytorch)
        made.save(tmp_path / "page.html")
        for width in (836, 640, 1200, 390):
            # A page has a margin of 8 px.
            page.set_viewport_size({"width": width + 16, "height": 680})
            page.goto((tmp_path / "page.html").as_uri())
            moments, fits = page.locator(".cl-player").evaluate(MOMENTS)
            heights = {height for height, _ in moments}
            missing = [what for _, what in moments if what]
            print(f"{lesson} at {width}: {max(heights)} px, spread {max(heights) - min(heights)}")
            is_too_high = width == 836 and max(heights) > limit_height(made.code)
            in_order = [height for height, _ in moments]
            # It grows with the first graph, and with the first thing that goes wrong.
            jumps = in_order != sorted(in_order) or len(heights) > 3
            if is_too_high or jumps or not fits or (missing and width != 640):
                wrong.append((lesson, width, heights, missing, fits))
    assert wrong == []


# Of all players of a page, the heights at up to three steps of each, whether an alarm or an error is shown, and whether a
# graph has been shown.
STORED_HEIGHTS = """() => [...document.querySelectorAll(".cl-player")].map((player) => {
    const slider = player.querySelector("input[type=range]");
    const last = Number(slider.max);
    return [1, Math.ceil(last / 2), last].map((step) => {
        slider.value = step;
        slider.dispatchEvent(new Event("input"));
        const loud = [...player.querySelectorAll(".cl-alarm, .cl-error")];
        const hasGraph = !player.querySelector(".cl-stage").matches("[data-early]");
        return [player.offsetHeight, loud.some((words) => words.offsetHeight > 0), hasGraph];
    });
})"""


def test_stored_players_are_as_high_at_all_steps(watched: Watched, tmp_path: Path) -> None:
    """What a reader without a kernel sees: a page of all players, as the notebooks store them."""
    # The last one of each lesson: all of them would take too long for every run.
    stored = list(dict(list_stored_players()).items())
    assert len(stored) == 15
    body = "".join(html for _, html in stored)
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
    (tmp_path / "page.html").write_text(f"{head}<body>{body}", "utf-8")
    page = watched.page
    # A page has a margin of 8 px, and a player is made when it comes near the view.
    page.set_viewport_size({"width": 836 + 16, "height": 580 * len(stored)})
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".cl-player")).to_have_count(len(stored))
    wrong: list[Any] = []
    for (lesson, html), moments in zip(stored, page.evaluate(STORED_HEIGHTS), strict=True):
        heights = [height for height, _, _ in moments]
        # The room of a graph, an alarm or an error comes with it, and nothing else moves.
        quiet = {(height, has_graph) for height, is_loud, has_graph in moments if not is_loud}
        counts = Counter(has_graph for _, has_graph in quiet)
        print(f"{lesson} as stored: {max(heights)} px, spread {max(heights) - min(heights)}")
        is_too_high = max(heights) > limit_height(read_code(html))
        if is_too_high or max(counts.values(), default=0) > 1 or heights != sorted(heights):
            wrong.append((lesson, moments))
    assert wrong == []


# The share of a screenshot in which there is room for a row of memory, 32 px high and wide, and nothing is drawn.
EMPTY_SHARE = """async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    const [[ground]] = [...counts].sort((a, b) => b[1] - a[1]);
    // How much is drawn left of and above each pixel: of a square, four of these say how much is drawn in it.
    const row = width + 1;
    const sums = new Uint32Array(row * (height + 1));
    for (let y = 1; y <= height; y++) {
        for (let x = 1; x <= width; x++) {
            const own = pixels[(y - 1) * width + x - 1] === ground ? 0 : 1;
            sums[y * row + x] = own + sums[y * row + x - 1] + sums[(y - 1) * row + x] - sums[(y - 1) * row + x - 1];
        }
    }
    let [empty, all] = [0, 0];
    for (let y = 32; y <= height; y++) {
        for (let x = 32; x <= width; x++, all++) {
            const [top, left] = [(y - 32) * row, x - 32];
            if (sums[y * row + x] + sums[top + left] === sums[y * row + left] + sums[top + x]) empty++;
        }
    }
    return empty / all;
}"""


def test_little_of_the_stage_is_empty(watched: Watched, tmp_path: Path) -> None:
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
    (tmp_path / "page.html").write_text(
        f"{head}<body>{steps(CLONED, engine=tinytorch).html}", "utf-8"
    )
    page = watched.page
    page.set_viewport_size({"width": 836 + 16, "height": 680})
    page.emulate_media(reduced_motion="reduce")
    page.goto((tmp_path / "page.html").as_uri())
    slider = page.locator(".cl-player input[type=range]")
    slider.fill("6")
    expect(page.locator(".cl-player")).to_have_attribute("data-step", "6")
    picture = base64.b64encode(page.locator(".cl-stage").screenshot()).decode()
    share = page.evaluate(EMPTY_SHARE, picture)
    print(f"clone, step 6: {share:.0%} of the stage is empty")
    assert share <= 0.25


def test_a_picture_is_made_smaller_to_be_seen_whole(watched: Watched, tmp_path: Path) -> None:
    """On a telephone, by a twelfth at most: a wider one scrolls."""
    x = tinytorch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    d, c = x.detach(), x.clone()
    near = viz.memory(x=x, d=d, row=d[1], c=c)._repr_mimebundle_()["text/html"]
    far = viz.graph(loss=x.exp().sigmoid().sin().sum())._repr_mimebundle_()["text/html"]
    html = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><body>{near}{far}'
    (tmp_path / "page.html").write_text(html, "utf-8")
    page = watched.page
    places = page.locator("div:has(> img)")
    for width, scrolls in ((1000, [False, False]), (390, [False, True])):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto((tmp_path / "page.html").as_uri())
        expect(places).to_have_count(2)
        found = places.evaluate_all("(all) => all.map((one) => one.scrollWidth > one.clientWidth)")
        assert found == scrolls
        assert smallest(page.locator("body")) >= 11
    assert places.first.evaluate("(one) => one.clientWidth < one.firstChild.naturalWidth")


def test_memory_is_larger_where_there_is_no_graph(watched: Watched, tmp_path: Path) -> None:
    """Of lesson 01, 46 % of the stage were empty."""
    page = watched.page
    page.set_viewport_size({"width": 836 + 16, "height": 680})
    scales = []
    for player in (written.steps(), steps(CLONED, engine=tinytorch)):
        (tmp_path / "page.html").write_text(player.html, "utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        holder = page.locator(".cl-player .cl-holder").first
        expect(holder).to_be_visible()
        found = "(holder) => Number(holder.shadowRoot.querySelector('.sheet').style.zoom)"
        scales.append(holder.evaluate(found))
        assert holder.evaluate("(holder) => holder.scrollWidth <= holder.clientWidth")
        assert holder.evaluate("(holder) => holder.scrollHeight <= holder.clientHeight")
    print(scales)
    assert scales[0] > 1
    assert scales[1] == 1, "there the room is for the graph"
