"""Every lesson in JupyterLab as a learner takes it: run, fill in, commit, step, solve, check. Nothing may go wrong."""

import ast
import shutil
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import Lab, Watched
from browser.test_predict import fill
from execute_notebooks import NOTEBOOKS, lessons, read
from make_solutions import FOLDER
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def sources(path: Path) -> dict[str, str]:
    """The cells of a notebook by their ids."""
    return {cell["id"]: "".join(cell["source"]) for cell in read(path)["cells"]}


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


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_lesson_as_a_learner_takes_it(watched: Watched, lab: Lab, path: Path) -> None:
    folder = lab.folder / path.stem
    folder.mkdir()
    shutil.copy(path, folder)
    shutil.copy(NOTEBOOKS / "cheat_sheet.html", folder)
    page = watched.page
    watched.run_all(lab.address(f"{path.stem}/{path.name}"))
    solved = sources(FOLDER / path.name)

    answers = [committed(source) for name, source in solved.items() if name.startswith("commit-")]
    forms = page.locator(".cl-predict")
    expect(forms).to_have_count(len(answers))
    for form, given in zip(forms.all(), answers, strict=True):
        fill(page, form, given)
        page.keyboard.press("Enter")
        expect(form.locator(".cl-headline")).to_have_text(f"All {len(given)} right.")

    for player in page.locator(".cl-player").all():
        player.focus()
        page.keyboard.press("End")
        expect(player).to_have_attribute("data-step", player.get_attribute("data-steps") or "")

    cells = [cell for cell in read(path)["cells"] if "answer" in cell["metadata"].get("tags", [])]
    tasks = [name.removeprefix("answer-") for name in solved if name.startswith("answer-")]
    assert len(cells) == len(tasks)
    for cell, name in zip(cells, tasks, strict=True):
        solve(page, cell["id"], "\n".join([solved.get(f"start-{name}", ""), solved[f"answer-{name}"]]))
    expect(page.locator(".jp-OutputArea-output", has_text="Right: ")).to_have_count(len(tasks))
