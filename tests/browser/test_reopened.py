"""A player and a table of copy methods without their kernel: reopened, untrusted, on a page of their own."""

from pathlib import Path

import pytest
from browser import test_compare, test_player
from browser.books import PROGRAM, page_of, stepping, write
from browser.conftest import Lab, Watched
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_saved_reopened_untrusted_and_converted(watched: Watched, lab: Lab, tmp_path: Path) -> None:
    cells = (*stepping(PROGRAM + "# <b>&amp;\n"), *test_compare.CELLS)
    name = write(lab.folder, "saved.ipynb", *cells)
    page = watched.page
    watched.run_all(lab.address(name))
    expect(test_compare.live(page)).to_be_visible()
    expect(page.locator(".cl-player")).to_be_visible()
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()

    # Nothing is run: the stored outputs, trusted because they were made here. Of the table there
    # is no view, and no kernel that knows it: the stored one does it all.
    page.goto(lab.address(name))
    player = page.locator(".cl-player")
    expect(player).to_be_visible()
    assert len(test_player.step_through(page, player)) == 7
    twin = page.locator(".copylab-twin .copylab-compare")
    expect(twin).to_be_visible()
    test_compare.by_keyboard(page, twin)

    book = (lab.folder / name).read_text("utf-8")
    assert "copylab-steps" in book
    (lab.folder / "foreign.ipynb").write_text(
        book.replace("import tinytorch", "import  tinytorch"), "utf-8"
    )
    page.goto(lab.address("foreign.ipynb"))
    page.locator("details").first.wait_for()
    expect(page.locator(".cl-player")).to_have_count(0)
    page.locator("summary", has_text="Step 3, line 3: y = x.clone()").focus()
    page.keyboard.press("Enter")
    images = page.locator("details[open] > figure img")
    expect(images.first).to_be_visible()
    for image in images.all():
        assert image.evaluate("(i) => i.decode().then(() => i.naturalWidth)") > 50
    expect(page.get_by_text("y is a new tensor with a storage of its own")).to_be_visible()

    expect(page.get_by_role("row", name=".data")).to_contain_text("wrong, and no error")
    page.locator("summary", has_text="y = x.data").first.focus()
    page.keyboard.press("Enter")
    page.locator("summary", has_text="Do x and y share memory?").locator("visible=true").click()
    proof = page.get_by_text("print(start <= y.data_ptr() < end)").locator("visible=true")
    expect(proof).to_be_visible()

    converted = page_of(lab.folder / name, tmp_path)
    page.goto("about:blank")  # JupyterLab asks its server now and then
    page.context.set_offline(True)
    page.goto(converted)
    assert len(test_player.step_through(page, page.locator(".cl-player"))) == 7
    test_player.check_axe(page)
    test_compare.by_keyboard(page, page.locator(".copylab-compare"))
    test_compare.check_axe(page, ".copylab-twin")
    # What ipywidgets says in the console when a view is opened without the kernel that made it.
    watched.wrong = [one for one in watched.wrong if "widget model not found" not in one]
