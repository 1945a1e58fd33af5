"""Predictions in the notebook: by keyboard alone, by mouse; kept, saved, reopened, untrusted, converted."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.books import write
from browser.conftest import Lab, Watched, read_progress
from browser.test_player import go_dark, luminance
from copylab.quiz.answers import format_answer
from copylab.quiz.prediction import Retest
from playwright.sync_api import Locator, Page, expect

import tinytorch

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)  # the kernel may have other work

SETUP = """\
import os, tempfile
os.environ["COPYLAB_PROGRESS"] = {file!r}
import tinytorch as torch
from copylab import predict
from copylab.questions import *
p = predict('''
a = torch.tensor(1.0, requires_grad=True)
b = a.clone()
b += 1
b.backward()
''', [same_storage("a", "b"), is_leaf("b"), value("a"), gradient("a"), outcome()], key="test/clone", title="Clone <b>")
"""

# Beside the longest choice, as wide as its letters are, and the arrow.
ROOM_IN_SELECT = """(select) => {
    const style = getComputedStyle(select), pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const longest = Math.max(...[...select.options].map((option) => pen.measureText(option.text).width));
    return select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - longest - 12;
}"""


def book(lab: Lab, name: str, *more: str, file: str = "") -> str:
    kept = file or str(lab.folder / f"{name}.json")
    return write(lab.folder, name, "# A heading", SETUP.format(file=kept), "p", *more)


def check_axe(page: Page) -> None:
    results = Axe().run(page, ".cl-predict")
    assert results.violations_count == 0, results.generate_report()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.outerHTML.slice(0, 80)"))


def fill(page: Page, form: Locator, answers: list[str]) -> None:
    """By keyboard alone: Tab from control to control, letters choose in a select."""
    form.locator("select, input").first.focus()
    for answer in answers:
        page.keyboard.type(answer)
        page.keyboard.press("Tab")


def test_by_keyboard_alone(watched: Watched, usual_front: Lab) -> None:
    page = watched.page
    name = book(usual_front, f"predict-{usual_front.front}.ipynb", "print(p.reveal)")
    watched.run_all(usual_front.address(name))
    form = page.locator(".cl-predict")
    expect(form).to_have_attribute("data-state", "open")
    check_axe(page)
    for select in form.locator("select").all():
        assert select.evaluate(ROOM_IN_SELECT) >= 0, "its longest choice is cut off"
    commit = form.get_by_role("button", name="Commit")
    expect(commit).to_have_attribute("aria-disabled", "true")
    fill(page, form, ["yes", "no"])
    expect(form.get_by_text("2 of 5 rows filled in")).to_be_visible()

    commit.focus()
    page.keyboard.press("Enter")
    expect(form.get_by_role("status")).to_contain_text("Not yet: 2 of 5 rows filled in.")
    assert "input" in focused(page), "the focus goes to the first empty row"
    expect(form).to_have_attribute("data-state", "open")
    cells = page.locator(".jp-Cell").count()

    for answer in ("abdxmy", "1", "it"):
        page.keyboard.type(answer)
        page.keyboard.press("Tab")
    assert page.locator(".jp-Cell").count() == cells, "the notebook took a key"
    assert form.locator("input").first.input_value() == "abdxmy"
    expect(form.locator(".cl-count")).to_contain_text("Row 3: “abdxmy” cannot be read.")
    expect(form.get_by_role("status")).to_contain_text("Row 3: “abdxmy” cannot be read.")
    expect(commit).to_be_focused()
    expect(commit).to_have_attribute("aria-disabled", "true")
    check_axe(page)
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("Row 3: “abdxmy” cannot be read.")
    expect(form).to_have_attribute("data-state", "open")
    expect(form.locator("input").first).to_be_focused()
    form.locator("input").first.fill("7")
    expect(form.get_by_role("status")).to_have_text("Every row is filled in. You can commit.")
    expect(form.get_by_text("Every row is filled in.", exact=True)).to_be_visible()
    expect(commit).to_have_attribute("aria-disabled", "false")
    form.locator("select, input").last.focus()
    page.keyboard.press("Enter")

    expect(form).to_have_attribute("data-state", "revealed")
    heading = form.locator(".cl-headline")
    expect(heading).to_be_focused()
    expect(heading).to_contain_text("3 of 5 right.")
    expect(form.get_by_role("status")).to_contain_text("Committed. 3 of 5 right.")
    expect(form.get_by_text("a and b have a storage each.")).to_be_visible()
    expect(form.get_by_text("A common misconception: a copy shares memory.")).to_be_visible()
    assert form.locator(".cl-wrong.cl-verdict").all_inner_texts() == ["✖ not so"] * 2
    assert form.locator(".cl-right.cl-verdict").all_inner_texts() == ["✔ right"] * 3
    box = form.locator("svg").bounding_box()
    assert box is not None
    assert box["width"] > 100
    check_axe(page)
    assert luminance(form, "backgroundColor") > 0.8
    go_dark(page)
    expect(form).to_be_visible()
    assert luminance(form, "backgroundColor") < 0.3
    assert luminance(form.locator(".cl-headline"), "color") > 0.7
    assert luminance(form.locator("svg rect.page").first, "fill") < 0.3
    check_axe(page)

    # The player of the run, then all over again.
    presses = 0
    while 'data-do="steps"' not in focused(page):
        page.keyboard.press("Tab")
        presses += 1
        assert presses < 20, "the button is not reached"
    page.keyboard.press("Space")
    player = page.locator(".cl-player")
    expect(player).to_have_attribute("data-steps", "4")
    expect(player).to_be_in_viewport(ratio=0.99)
    # It has the keys at once.
    expect(player).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "2")
    form.locator("[data-do=steps]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(form).to_have_attribute("data-state", "open")
    expect(player).to_have_count(0)
    expect(form.locator("select").first).to_be_focused()
    assert form.locator("select").first.input_value() == ""


def is_uncovered(part: Locator) -> bool:
    """Whether a part is what can be seen in its middle, with nothing over it."""
    return bool(
        part.evaluate(
            """(part) => {
                const { left, top, width, height } = part.getBoundingClientRect();
                return part.contains(document.elementFromPoint(left + width / 2, top + height / 2));
            }"""
        )
    )


LONG = """\
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.detach()
c = b.clone()
d = c.view(2)
e = d + 1
f = e * 2
g = f[0]
b.add_(1)
(a * 2).sum().backward()
"""


def test_a_corrected_row_is_committed_at_once(watched: Watched, usual_front: Lab) -> None:
    """Enter right after the last letter: what was marked before it may be readable now."""
    page = watched.page
    name = book(usual_front, f"corrected-{usual_front.front}.ipynb", "print(p.reveal)")
    watched.run_all(usual_front.address(name))
    form = page.locator(".cl-predict")
    expect(form).to_have_attribute("data-state", "open")
    fill(page, form, ["yes", "no", "abdxmy", "1", "it"])
    expect(form.locator(".cl-count")).to_contain_text("Row 3: “abdxmy” cannot be read.")
    form.locator("input").first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(form).to_have_attribute("data-state", "revealed")


def test_the_program_lies_over_no_row(watched: Watched, lab: Lab) -> None:
    page = watched.page
    page.set_viewport_size({"width": 1280, "height": 800})
    asked = (
        'value("a"), same_storage("a", "b"), gradient("a"), is_leaf("b"), version("a"), value("g")'
    )
    long = f"p = predict('''\n{LONG}''', [{asked}])"
    setup = SETUP.format(file=str(lab.folder / "long.json"))
    watched.open(lab.address(write(lab.folder, "long.ipynb", setup, long, "p", *["# Text"] * 20)))
    watched.do("notebook:run-all-cells")
    form = page.locator(".cl-predict")
    rows = form.locator("form tbody tr")
    expect(rows).to_have_count(6)
    first = rows.first.locator("input")
    # As JupyterLab does, which goes on to the next cell.
    first.evaluate("(field) => field.scrollIntoView({ block: 'start' })")
    assert is_uncovered(first), "nobody has come to it yet"

    first.focus()
    for answer in ("2, 3", "yes", "7, 7", "yes", "1", "9"):
        assert is_uncovered(rows.locator(":focus")), answer
        page.keyboard.type(answer)
        page.keyboard.press("Tab")
    for row in (5, 0, 2):
        rows.nth(row).locator("select, input").focus()
        assert is_uncovered(rows.locator(":focus"))
    rows.last.locator("input").press("Enter")
    headline = form.locator(".cl-headline")
    expect(headline).to_be_focused()
    expect(headline).to_be_in_viewport(ratio=0.99)
    assert is_uncovered(headline)

    # What was right stays, and the first row that was not is asked for.
    form.get_by_role("button", name="The wrong rows again").click()
    expect(rows.nth(2).locator("input")).to_be_focused()
    expect(rows.nth(2)).to_be_in_viewport(ratio=0.99)
    assert is_uncovered(rows.nth(2).locator("input"))
    assert [field.input_value() for field in rows.locator("select, input").all()] == [
        "2, 3",
        "yes",
        "",
        "yes",
        "1",
        "",
    ]


def test_by_mouse_kept_and_restored(watched: Watched, lab: Lab) -> None:
    page = watched.page
    name = book(lab, "kept.ipynb")
    watched.run_all(lab.address(name))
    form = page.locator(".cl-predict")
    # Its buttons, scrolled as high as they go, are no lid on a line of the program.
    form.locator(".cl-bar").evaluate("(bar) => bar.scrollIntoView({ block: 'start' })")
    program, bar = (form.locator(part).bounding_box() for part in (".cl-program", ".cl-bar"))
    assert program is not None
    assert bar is not None
    assert program["y"] + program["height"] <= bar["y"]
    for row, answer in [(0, "no"), (1, "no"), (4, "it runs to its end")]:
        form.locator("tbody tr").nth(row).locator("select").select_option(answer)
    form.get_by_label("What is a?").fill("1")
    form.get_by_label("What is a.grad?").fill("tensor(1.)")
    form.get_by_role("button", name="Commit").click()
    expect(form.locator(".cl-headline")).to_have_text("All 5 right.")
    kept = read_progress(page, lab.folder / "kept.ipynb.json", "test/clone")
    assert kept["predictions"]["test/clone"]["answers"]["gradient(a)"] == "tensor(1.)"
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()

    watched.run_all(lab.address(name))  # another day: a new kernel, the same file
    expect(form.locator(".cl-headline")).to_have_text("All 5 right.")
    assert not form.evaluate("(form) => form.contains(document.activeElement)"), (
        "it takes the focus by itself"
    )
    form.get_by_role("button", name="Start again").click()
    expect(form).to_have_attribute("data-state", "open")

    # Two rows wrong by one belief: two new programs on the same belief, with the numbers of this learner, settle it.
    form.locator("select").first.select_option("yes")
    form.locator("select").nth(1).select_option("no")
    form.locator("select").nth(2).select_option("it runs to its end")
    form.get_by_label("What is a?").fill("2")
    form.get_by_label("What is a.grad?").fill("1")
    form.get_by_role("button", name="Commit").click()
    form.get_by_role("button", name="Try it on a new program").click()
    below = form.nth(1)
    retest = Retest("a copy shares memory", seed=kept["seed"], number=0, engine=tinytorch)
    expect(below.locator("pre").first).to_contain_text(retest.code.splitlines()[-1])
    expect(below.locator("input")).to_be_focused()
    (question,) = retest.questions
    below.locator("input").fill(format_answer(question.right_answer(retest.run())))
    below.get_by_role("button", name="Commit").click()
    expect(below.locator(".cl-headline")).to_contain_text("One more program settles it")
    below.get_by_role("button", name="Try it on a new program").click()
    below = form.nth(2)
    retest = Retest("a copy shares memory", seed=kept["seed"], number=1, engine=tinytorch)
    answer_rightly(below, retest)
    expect(below.locator(".cl-headline")).to_contain_text(
        "Your answer is right, and that settles it"
    )
    kept = read_progress(page, lab.folder / "kept.ipynb.json", "settled")
    assert kept["misconceptions"]["a copy shares memory"]["state"] == "settled"


def answer_rightly(form: Locator, retest: Retest) -> None:
    (question,) = retest.questions
    right = format_answer(question.right_answer(retest.run()))
    if question.choices is None:
        form.locator("input").fill(right)
    else:
        form.locator("select").select_option(right)
    form.get_by_role("button", name="Commit").click()


def test_a_button_asks_again_about_what_was_wrong(watched: Watched, lab: Lab) -> None:
    page = watched.page
    wrong = "p.commit(['yes', 'no', 2, 1, 'it runs to its end'])\nNone"
    shown = "from copylab import progress\nprogress()"
    file = str(lab.folder / "again.json")
    cells = ["# A heading", SETUP.format(file=file), wrong, shown]
    watched.run_all(lab.address(write(lab.folder, "again.ipynb", *cells)))
    button = page.get_by_role("button", name="Ask me again about what I got wrong")
    expect(button).to_be_visible()
    results = Axe().run(page, ".cl-panel")
    assert results.violations_count == 0, results.generate_report()
    button.press("Enter")
    form = page.locator(".cl-predict")
    seed = json.loads(Path(file).read_text("utf-8"))["seed"]
    retest = Retest("a copy shares memory", seed=seed, number=0, engine=tinytorch)
    (question,) = retest.questions
    title = f"New program 1: {question.text.replace('`', '')}"
    expect(form.locator(".cl-title")).to_have_text(title)
    form.locator("input").fill(format_answer(question.right_answer(retest.run())))
    form.locator("input").press("Enter")
    expect(form.locator(".cl-headline")).to_contain_text("One more program settles it")
    tables = page.locator(".cl-panel")
    expect(tables.get_by_text("○ one right, one more program settles it")).to_be_visible()
    form.get_by_role("button", name="Try it on a new program").click()
    retest = Retest("a copy shares memory", seed=seed, number=1, engine=tinytorch)
    answer_rightly(form.nth(1), retest)
    expect(form.nth(1).locator(".cl-headline")).to_contain_text(
        "Your answer is right, and that settles it"
    )
    expect(page.locator(".cl-panel").get_by_text("✔ settled by a new program")).to_be_visible()
    expect(button).to_have_count(0)
    go_dark(page)


def test_restarted_saved_reopened_untrusted_and_converted(
    watched: Watched, lab: Lab, tmp_path: Path
) -> None:
    page = watched.page
    name = book(lab, "stored.ipynb", file=str(tmp_path / "kept.json"))
    watched.run_all(lab.address(name))
    expect(page.locator(".cl-predict")).to_be_visible()
    expect(page.locator(".copylab-twin")).to_be_hidden()

    # The kernel goes in the midst of it: what is filled in, before and after, comes back when the cells are run again.
    form = page.locator(".cl-predict")
    form.locator("select").first.select_option("no")
    form.get_by_label("What is a?").fill("7")
    expect(form.get_by_text("2 of 5 rows filled in")).to_be_visible()
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    lost = "() => getComputedStyle(document.querySelector('.cl-live'), '::before').content.includes('lost its kernel')"
    page.wait_for_function(lost)
    form.get_by_label("What is a.grad?").fill("8")
    form.locator("select").nth(1).select_option("no")
    form.locator("select").nth(2).select_option("it runs to its end")
    form.get_by_role("button", name="Commit").click()
    expect(form.get_by_role("alert")).to_contain_text(
        "The kernel is gone: run the imports at the top, then this cell. What you filled in comes back."
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(form.get_by_role("status")).to_have_text("What you had filled in is here again.")
    expect(form.get_by_label("What is a.grad?")).to_have_value("8")
    form.get_by_role("button", name="Commit").click()
    expect(form.locator(".cl-headline")).to_contain_text("3 of 5 right.")

    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()
    twin = page.locator(".copylab-predict")

    page.goto(lab.address(name))
    # The kernel is another, and no state of widgets was saved: what was committed is in the twin.
    expect(page.locator(".cl-predict .cl-headline")).to_contain_text("3 of 5 right.")
    expect(page.get_by_text("Error displaying widget")).to_be_hidden()

    text = (lab.folder / name).read_text("utf-8")
    (lab.folder / "foreign.ipynb").write_text(
        text.replace("import tinytorch", "import  tinytorch"), "utf-8"
    )
    page.goto(lab.address("foreign.ipynb"))
    expect(twin.get_by_role("rowheader", name="What is a.grad?")).to_be_visible()
    expect(twin.get_by_text("Clone <b>")).to_be_visible()

    out = tmp_path / "page.html"
    command = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to",
        "html",
        f"--output={out}",
        str(lab.folder / name),
    ]
    nowhere = [
        "--HTMLExporter.mathjax_url=",
        "--HTMLExporter.require_js_url=",
        "--HTMLExporter.jquery_url=",
    ]
    nowhere += [
        "--HTMLExporter.jupyter_widgets_base_url=",
        "--HTMLExporter.html_manager_semver_range=",
    ]
    subprocess.run([*command, *nowhere], check=True, capture_output=True)
    page.goto("about:blank")  # JupyterLab asks its server now and then
    page.context.set_offline(True)
    page.goto(out.as_uri())
    expect(page.locator(".cl-predict .cl-headline")).to_contain_text("3 of 5 right.")


@pytest.mark.parametrize("widget", ["p", "p.steps()", "part"])
def test_shift_enter_goes_on_from_a_widget(watched: Watched, lab: Lab, widget: str) -> None:
    """A lesson says to run its cells with Shift+Enter: also after a button of a widget was pressed."""
    page = watched.page
    setup = SETUP.format(file=str(lab.folder / "goes-on.json"))
    task = "from copylab import exercise\npart = exercise('a/b', 'Do it.', lambda t: None, start='t = 1', hints=['H'], solution='t = 2')"
    name = write(lab.folder, "goes-on.ipynb", f"{setup}\n{task}", widget, "# The end")
    watched.run_all(lab.address(name))
    shown, following = page.locator(".jp-Cell").nth(1), page.locator(".jp-Cell").nth(2)
    button = shown.locator(".cl-panel button:visible, .cl-player button:visible").last
    expect(button).to_be_visible()
    shown.locator(".jp-InputPrompt").click()
    button.focus()
    expect(shown).to_have_class(re.compile("jp-mod-active"))
    page.keyboard.press("Shift+Enter")
    expect(following).to_have_class(re.compile("jp-mod-active"))
