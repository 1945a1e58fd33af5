"""In JupyterLab, the output of hooks during backward is below the cell that ran it."""

import pytest
from browser.books import write
from browser.conftest import Lab, Watched
from playwright.sync_api import expect
from printing_cells import CELLS

pytestmark = pytest.mark.browser


def test_each_cell_shows_what_its_backward_prints(lab: Lab, watched: Watched) -> None:
    name = write(lab.folder, "printing.ipynb", *[cell.source for cell in CELLS])
    watched.run_all(lab.address(name))
    cells = watched.page.locator(".jp-CodeCell")
    expect(cells.last.locator(".jp-OutputArea-output")).to_have_text("end\n")
    for i, cell in enumerate(CELLS):
        outputs = cells.nth(i).locator(".jp-OutputArea-output")
        if cell.warning:
            expect(outputs).to_have_count(1)
            expect(outputs).to_contain_text(cell.warning)
        else:
            printed = "\n".join(outputs.all_inner_texts())
            assert [line for line in printed.splitlines() if line] == list(cell.lines), cell.source
