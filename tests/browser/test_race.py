"""The race in JupyterLab: started, stopped and read by mouse and by keyboard alone, in both themes, live and not."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.books import page_of, write
from browser.conftest import Lab, Watched
from browser.test_player import go_dark, luminance
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

SHORT = 'race(["detach", "clone", "copy_"], [1, 1000], engine=tinytorch, rounds=9)'
LONG = 'race(["clone"], [1], engine=tinytorch, rounds=1_000_000)'
STUCK = 'race({"stuck": "import time; time.sleep(60)"}, [1], engine=tinytorch)'


def book(lab: Lab, name: str, call: str, *more: str) -> str:
    return write(
        lab.folder, name, "import tinytorch\nfrom copylab import race", f"r = {call}\nr", *more
    )


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def results(page: Page) -> Locator:
    return page.get_by_role("group", name="Race", exact=True)


def check_axe(page: Page) -> None:
    found = Axe().run(page, ".cl-live")
    assert found.violations_count == 0, found.generate_report()


def test_by_keyboard_alone(watched: Watched, front: Lab) -> None:
    page = watched.page
    watched.run_all(front.address(book(front, f"race-{front.front}.ipynb", SHORT)))
    start = button(page, "Start the race")
    expect(results(page)).to_contain_text(
        "3 ways to copy, at 2 sizes from 1 to 1,000 elements, on tinytorch"
    )
    check_axe(page)
    start.focus()
    page.keyboard.press("Enter")
    again = button(page, "Race again")
    expect(again).to_be_focused(timeout=30_000)
    shown = results(page)
    expect(shown.get_by_role("status")).to_contain_text(
        re.compile(r"The race is over: 9 rounds\. On tinytorch: .*1 element")
    )
    expect(
        shown.get_by_role("img", name="tinytorch: time of one call against size")
    ).to_be_visible()
    names = shown.locator("svg text.mono").all_text_contents()
    assert sorted(names) == ["clone", "copy_", "detach"]

    (picture,) = shown.get_by_role("group", name="Picture").all()
    assert picture.evaluate("(picture) => picture.scrollWidth <= picture.clientWidth"), (
        "names and times are cut off"
    )
    page.keyboard.press("Tab")  # the picture may scroll, so it can have the focus
    for title, inside in (
        ("All times", "1,000"),
        ("What is timed, and how", "99 of 100"),
    ):
        page.keyboard.press("Tab")
        expect(shown.locator("summary", has_text=title)).to_be_focused()
        page.keyboard.press("Enter")
        opened = shown.locator("details[open]", has_text=title)
        expect(opened).to_contain_text(inside)
        if title == "All times":
            page.keyboard.press("Tab")  # the table may scroll, so it can have the focus
    check_axe(page)

    again.focus()
    page.keyboard.press("Space")  # what is open stays open while the results come in anew
    expect(shown.get_by_role("status")).to_contain_text("The race is on")
    expect(shown.get_by_role("status")).to_contain_text("The race is over", timeout=30_000)
    expect(again).to_be_focused()
    expect(shown.locator("details[open]")).to_have_count(2)


def test_both_themes(watched: Watched, lab: Lab) -> None:
    page = watched.page
    watched.run_all(lab.address(book(lab, "race-themes.ipynb", f"{SHORT}.run()")))
    shown = results(page)
    shown.locator("summary", has_text="All times").click()
    for dark in (False, True):
        if dark:
            go_dark(page)
        assert (luminance(shown.locator("svg rect.page"), "fill") < 0.5) is dark
        assert (luminance(shown.locator("svg text").first, "fill") > 0.5) is dark
        assert (luminance(shown.locator("td").first, "color") > 0.5) is dark
        check_axe(page)


def test_stop_by_mouse_works_at_once(watched: Watched, lab: Lab) -> None:
    page = watched.page
    watched.run_all(lab.address(book(lab, "race-long.ipynb", LONG)))
    button(page, "Start the race").click()
    bar = page.get_by_role("progressbar", name="Progress of the race")
    expect(bar).to_be_visible()
    expect(
        results(page).locator("svg")
    ).to_be_visible()  # the picture comes while the race is still on
    check_axe(page)
    # From the click to the next name of the button, looked at in the page.
    took = button(page, "Stop").evaluate(
        """async (button) => {
            const start = performance.now();
            const done = new Promise((resolve) => new MutationObserver(() => {
                if (button.textContent.includes("again")) resolve(performance.now() - start);
            }).observe(button, { childList: true, subtree: true, characterData: true }));
            button.click();
            return done;
        }"""
    )
    print(f"stopped {took:.0f} ms after the click")
    expect(results(page).get_by_role("status")).to_contain_text(
        re.compile(r"Stopped after [\d,]+ rounds? of 1,000,000\. What")
    )
    expect(bar).to_be_hidden()


def test_a_method_that_hangs_is_stopped_too(watched: Watched, lab: Lab) -> None:
    page = watched.page
    watched.run_all(lab.address(book(lab, "race-stuck.ipynb", STUCK)))
    button(page, "Start the race").click()
    page.wait_for_timeout(1000)
    button(page, "Stop").click()
    expect(results(page).get_by_role("status")).to_contain_text(
        "Stopped after 0 rounds", timeout=30_000
    )


def test_interrupted_and_cells_run_meanwhile(watched: Watched, lab: Lab) -> None:
    page = watched.page
    watched.run_all(
        lab.address(
            book(lab, "race-busy.ipynb", LONG, "print('a cell', r.running, bool(r.progress))")
        )
    )
    expect(page.get_by_text("a cell False False")).to_be_visible()
    button(page, "Start the race").click()
    expect(results(page).locator("svg")).to_be_visible()
    page.evaluate(
        """async () => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = 2;
            await window.jupyterapp.commands.execute('notebook:run-cell');
        }"""
    )
    expect(page.get_by_text("a cell True True")).to_be_visible()
    page.evaluate("window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    expect(results(page).get_by_role("status")).to_contain_text("Interrupted after")
    expect(results(page).locator("svg")).to_be_visible()


def test_saved_reopened_untrusted_and_converted(watched: Watched, lab: Lab, tmp_path: Path) -> None:
    name = book(lab, "race-kept.ipynb", SHORT)
    page = watched.page
    watched.run_all(lab.address(name))
    expect(page.locator(".copylab-twin")).to_be_hidden()
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()

    text = (lab.folder / name).read_text("utf-8")
    (lab.folder / "race-foreign.ipynb").write_text(
        text.replace("import tinytorch", "import  tinytorch"), "utf-8"
    )
    for opened in (name, "race-foreign.ipynb"):
        page.goto(lab.address(opened))
        twin = page.locator(".jp-OutputArea-output", has_text="Race: 3 ways to copy").last
        expect(twin).to_be_visible()
        expect(twin.get_by_text("y = torch.empty_like(x)")).to_be_visible()
        expect(twin.get_by_text("Start or .run() takes the times")).to_be_visible()

    converted = page_of(
        lab.folder / name, tmp_path
    )  # first, for meanwhile JupyterLab would complain
    page.context.set_offline(True)
    page.goto(converted)
    twin = page.locator(".copylab-twin")
    expect(twin).to_contain_text("Race: 3 ways to copy")
    expect(twin.get_by_text("y = torch.empty_like(x)")).to_be_visible()
    # What ipywidgets says in the console when a view is opened without the kernel that made it.
    watched.wrong = [one for one in watched.wrong if "widget model not found" not in one]
