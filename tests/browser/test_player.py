"""The player in JupyterLab: by keyboard, in both themes, live."""

import json
import re
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.books import stepping, write
from browser.conftest import Lab, Watched
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def step_through(page: Page, player: Locator) -> list[str]:
    """Go through all steps with the keyboard, check each, and give back what the live region said."""
    player.focus()
    page.keyboard.press("Home")
    count = int(player.get_attribute("data-steps") or 0)
    said = []
    for number in range(1, count + 1):
        expect(player).to_have_attribute("data-step", str(number))
        said.append(check_step(player, number, count))
        assert player.evaluate("(player) => document.activeElement === player"), (
            "the focus was lost"
        )
        page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", str(count))
    return said


MOMENT = "(p) => [p.dataset.line, p.querySelector('[role=status]').innerText]"


def check_step(player: Locator, number: int, count: int) -> str:
    line, status = map(str, player.evaluate(MOMENT))
    assert status.startswith(f"Step {number} of {count}, line {line}: ")
    assert not re.search(r"Error[A-Z]", status), "a title and its text are two words"
    if len(status) > 500:
        whole = " ".join(player.inner_text().split())
        last = status.removesuffix(" …").split()[-1]
        assert status.endswith(" …")
        assert re.search(rf"(?<!\S){re.escape(last)}(?!\S)", whole), "cut within a word"
    marked = player.locator("li[aria-current=step]")
    assert marked.count() == 1
    assert marked.evaluate("(row) => [...row.parentNode.children].indexOf(row) + 1") == int(
        line or 0
    )
    assert player.get_by_role("slider").input_value() == str(number)
    for kind in ("memory", "graph"):
        pane = player.locator(f"figure[data-picture={kind}]")
        if pane.is_visible():
            drawn = pane.locator("svg")
            box = drawn.bounding_box()
            assert box is not None
            assert box["width"] > 50
            words = pane.locator("pre").text_content() or ""
            names = drawn.locator("text.name-t.b").evaluate_all(
                "(all) => all.map((t) => t.lastChild.textContent)"
            )
            for text in names:  # what is long is cut in its middle
                assert all(part in words for part in text.split("…"))
    return status


def luminance(found: Locator, what: str) -> float:
    """How bright a colour of an element is, from 0 to 1, as the browser computed it."""
    numbers = found.evaluate(f"(e) => getComputedStyle(e).{what}.match(/[0-9.]+/g).map(Number)")
    return float(sum(numbers[:3]) / 3 / 255)


def check_theme(player: Locator, *, dark: bool) -> None:
    for found, what in (
        (player, "backgroundColor"),
        (player.locator("figure:visible svg rect.page").first, "fill"),
        (player.locator("li[aria-current=step]"), "backgroundColor"),
    ):
        assert (luminance(found, what) < 0.5) is dark, what
    assert (luminance(player, "color") > 0.5) is dark


def check_axe(page: Page) -> None:
    results = Axe().run(page, ".cl-player")
    assert results.violations_count == 0, results.generate_report()


def go_dark(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")


@pytest.mark.stress
@pytest.mark.parametrize("lesson", ["02_clone.ipynb"])
def test_a_lesson_by_keyboard_in_both_themes(watched: Watched, lab: Lab, lesson: str) -> None:
    shutil.copy(NOTEBOOKS / lesson, lab.folder)
    page = watched.page
    watched.run_all(lab.address(lesson))
    players = page.locator(".cl-player")
    stored = [
        "".join(output["data"]["text/plain"])
        for cell in json.loads((NOTEBOOKS / lesson).read_text("utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if 'class="copylab-steps"' in "".join(output.get("data", {}).get("text/html", ""))
    ]
    assert stored
    expect(players).to_have_count(len(stored))
    for dark in (False, True):
        if dark:
            go_dark(page)
        for player, text in zip(players.all(), stored, strict=True):
            said = step_through(page, player)
            assert len(said) == text.count("\nStep ")
            for status in said:
                assert status.partition(", ")[2].splitlines()[0].partition(" (")[0][:60] in text
            player.locator("figure:visible").first.wait_for()
            check_theme(player, dark=dark)
        check_axe(page)


def test_keys_stay_where_they_belong(watched: Watched, lab: Lab) -> None:
    name = write(
        lab.folder,
        "keys.ipynb",
        "# A heading",
        *stepping(),
        *stepping("for i in range(2):\n    b = i\n")[1:],
        "last = 1",
    )
    page = watched.page
    watched.run_all(lab.address(name))
    players = page.locator(".cl-player")
    expect(players).to_have_count(2)
    first, second = players.all()
    notebook = page.locator(".jp-Notebook")
    active = "(n) => [...n.querySelectorAll('.jp-Cell')].findIndex((c) => c.classList.contains('jp-mod-active'))"

    # In command mode, by keyboard alone: the player's keys act in the player and nowhere else.
    first.focus()
    expect(notebook).to_have_class(re.compile("jp-mod-commandMode"))
    before = notebook.evaluate(active)
    for key, step in [
        ("ArrowRight", "2"),
        ("ArrowRight", "3"),
        ("ArrowLeft", "2"),
        ("End", "7"),
        ("Home", "1"),
    ]:
        page.keyboard.press(key)
        expect(first).to_have_attribute("data-step", step)
    assert notebook.evaluate(active) == before
    expect(page.locator(".jp-Cell")).to_have_count(5)
    expect(page.locator(".jp-MarkdownCell.jp-MarkdownHeadingCollapsed")).to_have_count(0)
    expect(second).to_have_attribute("data-step", "1")

    # Buttons with Tab, Enter and Space; the focus stays on them, at the ends too.
    for _ in range(5):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Step"
    for key, step in [
        ("ArrowRight", "2"),
        ("ArrowUp", "3"),
        ("End", "7"),
        ("Home", "1"),
        ("ArrowRight", "2"),
    ]:
        page.keyboard.press(key)
        expect(first).to_have_attribute("data-step", step)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    for key, step in [("Enter", "3"), ("Space", "4"), ("ArrowLeft", "3")]:
        page.keyboard.press(key)
        expect(first).to_have_attribute("data-step", step)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("data-step", "7")
    button = first.get_by_role("button", name="Last step")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expect(notebook).to_have_class(re.compile("jp-mod-commandMode"))

    # With the mouse.
    first.get_by_role("button", name="Previous step").click()
    expect(first).to_have_attribute("data-step", "6")
    second.locator(".cl-text").first.click()
    page.keyboard.press("ArrowRight")
    expect(second).to_have_attribute("data-step", "2")

    # A choice takes letters and arrows: no cell is made or left by them.
    loop = second.get_by_label("Loop on line 1")
    loop.focus()
    for key, way in [("r", "rounds"), ("ArrowDown", "all"), ("b", "all"), ("ArrowUp", "rounds")]:
        page.keyboard.press(key)
        expect(loop).to_have_value(way)
    expect(loop).to_be_focused()
    expect(page.locator(".jp-Cell")).to_have_count(5)

    # In an editor the arrows move the caret, on a cell they move the selection: no player takes them.
    editor = page.locator(".jp-Cell .cm-content").last
    editor.click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("2")
    expect(editor).to_have_text("last = 21")
    page.keyboard.press("Escape")
    at = notebook.evaluate(active)
    page.keyboard.press("ArrowUp")
    assert notebook.evaluate(active) == at - 1
    expect(first).to_have_attribute("data-step", "6")


def test_live(watched: Watched, usual_front: Lab) -> None:
    setup, call = stepping()
    name = write(
        usual_front.folder,
        "live.ipynb",
        setup,
        f"w = {call}.live()\nw",
        "w.step = 4",
        "# text",
        "print('now', w.step)",
    )
    page = watched.page
    watched.run_all(usual_front.address(name))
    player = page.locator(".cl-live .cl-player")
    expect(player).to_have_attribute("data-step", "4")
    expect(page.locator(".copylab-twin")).to_be_hidden()
    # Once it is connected, the page asks the kernel how its widgets stand: an answer on its way would undo a key.
    assert watched.ask("print(w.step)") == "4\n"
    assert len(step_through(page, player)) == 7
    check_theme(player, dark=False)
    page.evaluate(
        """async () => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = 4;
            await window.jupyterapp.commands.execute('notebook:run-cell');
        }"""
    )
    expect(page.get_by_text("now 7")).to_be_visible()
    # The program is changed: with another copy, which keeps the step, then by hand, then back.
    player.get_by_role("button", name="clone instead of detach on line 4").click()
    expect(player.locator(".cl-changed")).to_contain_text("it no longer raises RuntimeError")
    expect(player).to_have_attribute("data-step", "7")
    assert "z = y.clone()" in player.locator("li").nth(3).inner_text()
    player.get_by_role("button", name="edit").click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("(")
    page.keyboard.press("Shift+Enter")
    expect(player.locator(".cl-error")).to_contain_text("SyntaxError")
    check_axe(page)
    player.get_by_role("button", name="as it was").click()
    expect(player).to_have_attribute("data-steps", "7")
    player.focus()
    page.keyboard.press("End")
    go_dark(page)
    check_theme(player, dark=True)

    # The kernel is started anew: the view says so, and its steps, which are in the page, can still be gone through.
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.cl-live'), '::before').content.includes('lost its kernel')"
    )
    player.focus()
    page.keyboard.press("Home")
    expect(player).to_have_attribute("data-step", "1")
    expect(player.get_by_role("status")).to_contain_text("Step 1 of 7")

    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    usual_front.close_sessions()
    # Without a kernel of its own the view is gone, and its twin is the player.
    page.goto(usual_front.address(name))
    twin = page.locator(".copylab-twin .cl-player")
    expect(twin).to_be_visible()
    assert len(step_through(page, twin)) == 7
    # It has stored some runs with other copies.
    twin.get_by_role("button", name="clone instead of detach on line 4").click()
    expect(twin.locator(".cl-changed")).to_contain_text("it no longer raises RuntimeError")
    # Before its end, that is what somebody steps for.
    page.keyboard.press("ArrowLeft")
    expect(twin.locator(".cl-changed")).to_have_text("clone instead of detach on line 4.")
    page.keyboard.press("ArrowRight")
    expect(twin.locator(".cl-changed")).to_contain_text("it no longer raises RuntimeError")
    assert "z = y.clone()" in twin.locator("li").nth(3).inner_text()
    twin.get_by_role("button", name="as it was").click()
    expect(twin).to_have_attribute("data-step", "7")
    # ipywidgets says so of every stored view whose model is gone.
    watched.wrong = [one for one in watched.wrong if "Error: widget model not found" not in one]
