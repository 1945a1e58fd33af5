"""Exercises in the notebook: hints folded anywhere, buttons where a kernel runs, a lesson as it is taken."""

import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.books import write
from browser.conftest import Lab, Watched, read_progress
from browser.test_player import go_dark, luminance
from browser.test_predict import fill, focused
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)  # the kernel may have other work
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

SETUP = """\
import os
os.environ["COPYLAB_PROGRESS"] = {file!r}
import tinytorch as torch
from copylab import exercise

def check(t):
    return None if t.tolist() == [2, 3] else f"t shows <b>{{t.tolist()}}</b>."

part = exercise("test/part", "`t` shall show <i>[2, 3]</i>.", check, start="t = None",
                hints=["A slice `picks` a part.", "From 2 on."], solution="t = torch.arange(6)[2:4]")
"""


def book(lab: Lab, name: str, *cells: str) -> str:
    return write(lab.folder, name, SETUP.format(file=str(lab.folder / f"{name}.json")), *cells)


def run_cell(page: Page, source: str, by: str) -> None:
    """Put `source` into the cell that begins with `by`, and run it and the one below."""
    page.evaluate(
        """async ([source, by]) => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            const at = notebook.widgets.findIndex((cell) => cell.model.sharedModel.source.startsWith(by));
            notebook.widgets[at].model.sharedModel.source = source;
            notebook.deselectAll();
            for (const index of [at, at + 1]) {
                notebook.activeCellIndex = index;
                await window.jupyterapp.commands.execute('notebook:run-cell');
            }
        }""",
        [source, by],
    )


def test_what_is_wrong_is_chosen_by_keyboard(watched: Watched, lab: Lab) -> None:
    page = watched.page
    setup = (
        f"import os\nos.environ['COPYLAB_PROGRESS'] = {str(lab.folder / 'wrong.json')!r}\n"
        "import tinytorch as torch\nfrom copylab.lessons.clinic import parts"
    )
    watched.run_all(lab.address(write(lab.folder, "wrong.ipynb", setup, "parts")))
    choices = page.get_by_role("group", name="What is wrong?")
    first = choices.get_by_role("button", name="the graph is cut")
    first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    said = page.locator(".cl-card")
    expect(said).to_contain_text("“the graph reaches back too far” is not what is wrong here.")
    assert "diagnose 1" in focused(page), "the focus stays on the button"
    expect(first).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(said).to_contain_text("Right, the graph is cut: product was computed from kept")
    expect(first).to_be_focused()
    expect(first).to_have_attribute("aria-pressed", "true")
    kept = read_progress(page, lab.folder / "wrong.json", "diagnosis")
    assert kept["exercises"]["clinic/parts"]["diagnosis"] == "the graph is cut"
    for dark in (False, True):
        if dark:
            go_dark(page)
        results = Axe().run(page, ".cl-live")
        assert results.violations_count == 0, results.generate_report()


def test_a_click_on_the_code_in_a_choice_chooses_it(watched: Watched, lab: Lab) -> None:
    """The code is an element of its own: a click in the middle of the button did nothing."""
    page = watched.page
    setup = (
        f"import os\nos.environ['COPYLAB_PROGRESS'] = {str(lab.folder / 'code.json')!r}\n"
        "import tinytorch as torch\nfrom copylab.lessons.clinic_gradients import hidden_state"
    )
    watched.run_all(lab.address(write(lab.folder, "code.ipynb", setup, "hidden_state")))
    choices = page.get_by_role("group", name="What is wrong?")
    right = choices.get_by_role("button", name="takes the history so far along")
    right.locator("code").click()
    expect(right).to_have_attribute("aria-pressed", "true")


def test_buttons_by_keyboard_alone_in_both_themes(watched: Watched, usual_front: Lab) -> None:
    name = book(usual_front, f"buttons-{usual_front.front}.ipynb", "t = torch.arange(3)", "part")
    page = watched.page
    watched.run_all(usual_front.address(name))
    panel = page.get_by_role("group", name="Exercise")
    expect(panel.get_by_text("t shall show <i>[2, 3]</i>.")).to_be_visible()
    expect(panel.get_by_text("○ Not attempted")).to_be_visible()
    page.get_by_role("button", name="Check", exact=True).focus()
    for key, said in [
        ("Enter", "Not yet: t shows <b>[0, 1, 2]</b>."),
        ("Tab", ""),
        ("Space", "Hint 1 of 2: A slice picks a part."),
        ("Enter", "Hint 2 of 2: From 2 on."),
        ("Tab", ""),
        ("Enter", "t = torch.arange(6)[2:4]"),
    ]:
        page.keyboard.press(key)
        if said:
            expect(panel.get_by_text(said).first).to_be_visible()
            expect(panel.get_by_role("status")).to_contain_text(said.replace("picks", "`picks`"))
            assert "button" in focused(page), "the focus stays on the button"
    expect(panel.get_by_text("✖ Not yet", exact=True)).to_be_visible()
    results = Axe().run(page, ".cl-live")
    assert results.violations_count == 0, results.generate_report()
    assert luminance(panel, "backgroundColor") > 0.8
    go_dark(page)
    assert luminance(panel, "backgroundColor") < 0.3
    results = Axe().run(page, ".cl-live")
    assert results.violations_count == 0, results.generate_report()


def test_the_task_needs_no_kernel(watched: Watched, lab: Lab) -> None:
    page = watched.page
    name = book(lab, "task.ipynb", "part")
    watched.run_all(lab.address(name))
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()
    text = (lab.folder / name).read_text("utf-8")
    (lab.folder / "foreign.ipynb").write_text(
        text.replace("import tinytorch", "import  tinytorch"), "utf-8"
    )
    for opened in (name, "foreign.ipynb"):  # trusted, and not
        page.goto(lab.address(opened))
        task = page.locator(".jp-OutputArea-output", has_text="t shall show <i>[2, 3]</i>.")
        expect(task).to_be_visible()
        hint = task.get_by_text("Hint 1")
        expect(task.get_by_text("A slice picks a part.")).to_be_hidden()
        hint.focus()
        page.keyboard.press("Enter")
        expect(task.get_by_text("A slice picks a part.")).to_be_visible()
        results = Axe().run(page, ".copylab-exercise")
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.stress
def test_a_lesson_as_it_is_taken(watched: Watched, lab: Lab) -> None:
    """Fill in, commit, read, solve, check: the opening lesson with its real definitions."""
    folder = lab.folder / "taken"
    folder.mkdir()
    # A course's folder, where progress is kept.
    (folder / ".copylab.json").write_text("{}", encoding="utf-8")
    shutil.copy(NOTEBOOKS / "00_start.ipynb", folder)
    page = watched.page
    watched.run_all(lab.address("taken/00_start.ipynb"))
    bet, shared, recorded = page.locator(".cl-predict").all()
    ids = page.locator(".cl-predict [id]").evaluate_all("(all) => all.map((e) => e.id)")
    assert len(set(ids)) == len(ids) > 20, "two forms on a page have ids of their own"
    fill(page, bet, ["0", "3"])
    page.keyboard.press("Enter")
    expect(bet.locator(".cl-headline")).to_contain_text("1 of 2 right.")
    expect(bet.get_by_text("A common misconception: detach copies.")).to_be_visible()
    fill(page, shared, ["4", "4", "2", "2", "x, y, z", "[2, 4, 6]", "1", "0"])
    page.keyboard.press("Enter")
    expect(shared.locator(".cl-headline")).to_contain_text("7 of 8 right.")
    expect(shared.get_by_text("A common misconception: a name is a copy.")).to_be_visible()
    fill(page, recorded, ["p", "p q s", "q and s", "3", "none", "tensor([2., 4.])", "0"])
    page.keyboard.press("Enter")
    expect(recorded.locator(".cl-headline")).to_have_text("All 7 right.")

    run_cell(page, "x = torch.arange(6.0)\nt = x[2:]", "x = torch.tensor([0.0, 1.0, 2.0")
    # The hidden twins of the cards have the verdicts, too.
    said = "Not yet: t shows [2, 3, 4, 5]; it should show [2, 3]."
    expect(page.get_by_text(said).locator("visible=true")).to_be_visible()
    run_cell(
        page,
        "x = torch.tensor(6.0, requires_grad=True)\ny = x * x\ny.backward()",
        "x = torch.tensor(6.0",
    )
    expect(page.get_by_role("group", name="Exercise 1").locator(".cl-status")).to_have_text(
        "✖ Not yet"
    )
    said = "Right: the nodes behind y lead to x, so backward gets there and fills x.grad."
    expect(page.get_by_text(said).locator("visible=true")).to_be_visible()
    kept = read_progress(page, folder / "copylab-progress.json", "start/part")
    assert kept["predictions"]["start/recorded"]["right"] == 7
    assert {key: note["state"] for key, note in kept["exercises"].items()} == {
        "start/part": "wrong",
        "start/twelve": "right",
    }
