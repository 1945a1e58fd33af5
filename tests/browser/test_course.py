"""Every lesson in JupyterLab as a learner takes it: run, fill in, commit, step, solve, check. Nothing may go wrong."""

import ast
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import Lab, Watched
from browser.test_predict import fill
from copylab.course.layout import lay_out
from copylab.course.lesson import digest_of_file, find_tasks
from copylab.quiz.prediction import Prediction
from execute_notebooks import list_lessons
from make_solutions import FOLDER
from playwright.sync_api import Page, expect
from project_files import read_notebook

pytestmark = pytest.mark.browser


def sources(path: Path) -> dict[str, str]:
    """The cells of a notebook by their ids."""
    return {cell["id"]: "".join(cell["source"]) for cell in read_notebook(path)["cells"]}


def committed(source: str) -> list[str]:
    """The answers that a cell of a solution notebook commits."""
    call: Any = ast.parse(source).body[0]
    return [str(ast.literal_eval(argument)) for argument in call.value.args[0].elts]


def solve(page: Page, cell: str, source: str) -> None:
    """Put `source` into the learner's cell with this id, and run the cells from there to the next check."""
    page.evaluate(
        """async ([id, source]) => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            const cells = notebook.widgets.map((cell) => cell.model);
            const at = cells.findIndex((cell) => cell.id === id);
            const check = cells.findIndex((cell, i) => i > at && cell.sharedModel.source.endsWith('.check()'));
            cells[at].sharedModel.source = source;
            notebook.deselectAll();
            for (let index = at; index <= check; index++) {
                notebook.activeCellIndex = index;
                await window.jupyterapp.commands.execute('notebook:run-cell');
            }
        }""",
        [cell, source],
    )


@pytest.fixture(scope="session")
def course(lab: Lab) -> Path:
    """The course as the command `copylab` lays it out."""
    folder = lab.folder / "course"
    lay_out(folder)
    return folder


def before_anything_runs(page: Page, lesson: dict[str, Any]) -> None:
    """No answer is seen: all that is asked has no output yet, no fold is open, and what can be stepped is live."""
    things = find_tasks(lesson)
    for cell, shown in zip(
        lesson["cells"], page.locator(".jp-Notebook .jp-Cell").all(), strict=True
    ):
        tags = cell["metadata"].get("tags", ())
        if (
            "".join(cell["source"]).removesuffix(".check()") in things
            or "answer" in tags
            or "questioned" in tags
        ):
            expect(shown.locator(".jp-OutputArea-output")).to_have_count(0)
    expect(
        page.locator(".jp-MarkdownCell details[open], .cl-reveal, .cl-predict, .copylab-predict")
    ).to_have_count(0)
    programs = [
        thing.code.splitlines() for thing in things.values() if isinstance(thing, Prediction)
    ]
    for player in page.locator(".cl-player").all():
        expect(player).to_have_attribute("data-step", "1")
        assert player.locator(".cl-listing").first.locator("code").all_inner_texts() not in programs


@pytest.mark.parametrize(
    "path",
    [
        # All lessons are built of the same widgets: these have each kind, the others are taken once a week.
        pytest.param(
            path,
            marks=() if path.stem[:2] in {"00", "14"} else pytest.mark.stress,
        )
        for path in list_lessons()
    ],
    ids=lambda path: path.stem,
)
def test_a_lesson_as_a_learner_takes_it(
    watched: Watched, lab: Lab, course: Path, path: Path
) -> None:
    page = watched.page
    watched.open(lab.address(f"course/{path.name}"))
    before_anything_runs(page, read_notebook(path))
    laid = digest_of_file((course / path.name).read_bytes())
    watched.do("docmanager:save")
    assert digest_of_file((course / path.name).read_bytes()) == laid, (
        "who only opened a lesson changed nothing"
    )
    watched.do("notebook:run-all-cells")
    solved = sources(FOLDER / path.name)

    answers = [committed(source) for name, source in solved.items() if name.startswith("commit-")]
    # What a lesson opens with is of an earlier one, and other numbers for each learner.
    forms = page.locator(".cl-predict").filter(has_not_text="From an earlier lesson")
    expect(forms).to_have_count(len(answers))
    for form, given in zip(forms.all(), answers, strict=True):
        fill(page, form, given)
        page.keyboard.press("Enter")
        expect(form.locator(".cl-headline")).to_have_text(f"All {len(given)} right.")

    for player in page.locator(".cl-player").all():
        player.locator(".cl-count").click()
        page.keyboard.press("End")
        expect(player).to_have_attribute("data-step", player.get_attribute("data-steps") or "")

    cells = [
        cell
        for cell in read_notebook(path)["cells"]
        if "answer" in cell["metadata"].get("tags", [])
    ]
    tasks = [name.removeprefix("answer-") for name in solved if name.startswith("answer-")]
    assert len(cells) == len(tasks)
    for cell, name in zip(cells, tasks, strict=True):
        solve(
            page, cell["id"], "\n".join([solved.get(f"start-{name}", ""), solved[f"answer-{name}"]])
        )
    expect(page.locator(".jp-OutputArea-output", has_text="Right: ")).to_have_count(len(tasks))
