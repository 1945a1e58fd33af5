"""The table of copy methods: sorted, filtered and read by mouse and by keyboard alone, live, saved and on a page."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.books import write
from browser.conftest import Lab, Watched
from browser.test_player import go_dark, luminance
from copylab import METHODS
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

CELLS = ("import tinytorch as torch\nfrom copylab import compare", "c = compare()\nc")


def live(page: Page) -> Locator:
    return page.locator(".cl-live.copylab-compare, .cl-live .copylab-compare")


def names(table: Locator) -> list[str]:
    """The ways that are shown, from top to bottom."""
    return table.locator("tbody tr:not(.cl-proof):visible > th").all_inner_texts()


def cell(table: Locator, way: str, column: str) -> Locator:
    """The cell of a way in a column."""
    return (
        table.get_by_role("row")
        .filter(has=table.page.get_by_role("rowheader", name=way, exact=True))
        .locator(f"td:nth-child({table.locator('thead th').all_inner_texts().index(column) + 1})")
    )


def focused(page: Page) -> tuple[str, str]:
    """Row and column of the cell with the focus."""
    way, key = page.evaluate(
        """() => {
            const cell = document.activeElement.parentElement;
            const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
            return [cell.parentElement.querySelector("code").textContent, head.dataset.key];
        }"""
    )
    return str(way), str(key)


def check_axe(page: Page, where: str = ".cl-live") -> None:
    found = Axe().run(page, where)
    assert found.violations_count == 0, found.generate_report()


def by_keyboard(page: Page, table: Locator) -> None:
    """Sort, filter, walk through the cells and open a program, without the mouse."""
    # What is out of sight is not laid out, and has no text then.
    table.scroll_into_view_if_needed()
    expect(table.locator("tbody th").first).to_have_text("=", use_inner_text=True)
    status = table.get_by_role("status")
    expect(status).to_have_text(f"All {len(METHODS)} ways.")
    everything = names(table)
    assert everything[:4] == ["=", "clone", "detach", ".data"]

    sort = table.get_by_role("columnheader", name="shares memory").get_by_role("button")
    head = table.get_by_role("columnheader", name="shares memory")
    sort.focus()
    for key, said, first in (
        ("Enter", "ascending", "="),
        ("Space", "descending", "clone"),
        ("Enter", "none", "="),
    ):
        page.keyboard.press(key)
        expect(head).to_have_attribute("aria-sort", said)
        expect(sort).to_be_focused()
        assert names(table)[0] == first
    assert names(table) == everything

    search = table.get_by_label("Ways that contain")
    search.focus()
    page.keyboard.type("detach")
    expect(status).to_have_text(f"4 of {len(METHODS)} ways.")
    assert names(table) == ["detach", "detach().clone()", "clone().detach()", "from_numpy"]
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    expect(status).to_have_text(f"All {len(METHODS)} ways.")

    page.keyboard.press("Tab")
    page.keyboard.type("backward")  # a select goes to what is typed
    asks = "Choose an answer to filter by “backward after a write”."
    expect(status).to_have_text(f"All {len(METHODS)} ways. {asks}")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    expect(status).to_have_text(f"3 of {len(METHODS)} ways.")
    assert names(table) == [".data", "from_numpy", "copy.copy"]

    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # all columns
    expect(table.get_by_role("columnheader", name="keeps strides")).to_be_visible()
    page.keyboard.press("Space")
    # A hidden column has no role, so it is not found.
    expect(table.get_by_role("columnheader", name="keeps strides")).to_have_count(0)

    table.locator("td > button[tabindex='0']").focus()
    assert focused(page) == (".data", "same_tensor")
    for key, at in (
        ("ArrowRight", (".data", "same_storage")),
        ("ArrowDown", ("from_numpy", "same_storage")),
        ("End", ("from_numpy", "copied")),
        ("ArrowRight", ("from_numpy", "copied")),
        ("ArrowLeft", ("from_numpy", "after_write")),
        ("Home", ("from_numpy", "same_tensor")),
        ("ArrowUp", (".data", "same_tensor")),
        ("ArrowUp", (".data", "same_tensor")),
        ("ArrowRight", (".data", "same_storage")),
        ("ArrowRight", (".data", "same_counter")),
    ):
        page.keyboard.press(key)
        assert focused(page) == at
    page.keyboard.press("Enter")
    pressed = table.locator("td > button:focus")
    expect(pressed).to_have_attribute("aria-expanded", "true")
    program = table.get_by_role("region", name="The program that proves it")
    expect(program).to_contain_text("y = x.data\nbefore = x._version")
    expect(status).to_have_text(
        re.compile(
            rf"^3 of {len(METHODS)} ways\. \.data: Do x and y share a version counter\? no\. It printed: False"
        )
    )
    page.keyboard.press("Escape")
    expect(program).to_have_count(0)
    assert focused(page) == (".data", "same_counter")
    page.keyboard.press("Enter")
    table.get_by_role("button", name="Close", exact=True).press("Enter")
    expect(program).to_have_count(0)
    assert focused(page) == (".data", "same_counter")
    expect(pressed).to_have_attribute("aria-expanded", "false")


def test_live_by_keyboard(watched: Watched, usual_front: Lab) -> None:
    name = write(usual_front.folder, f"compare-{usual_front.front}.ipynb", *CELLS)
    page = watched.page
    watched.run_all(usual_front.address(name))
    table = live(page)
    expect(page.locator(".copylab-twin")).to_be_hidden()
    by_keyboard(page, table)
    check_axe(page)

    kind = table.get_by_label("x is")
    kind.focus()
    page.keyboard.type("plain")
    expect(table.get_by_role("status")).to_have_text(
        re.compile(r"^\d+ answers changed with the source")
    )
    expect(kind).to_be_focused()
    expect(table.locator("pre").first).to_have_text("x = torch.tensor([1., 2., 3.])")
    changed = cell(table, "clone", "grad_fn")
    expect(changed).to_have_class(re.compile("cl-changed"))
    expect(changed).to_contain_text("was CloneBackward0")
    check_axe(page)


def test_no_sign_stands_alone_on_its_line(watched: Watched, lab: Lab) -> None:
    ways = '"to(copy=True)", "from_numpy", "narrow_copy", "index_select", "unfold", "movedim"'
    made = "import tinytorch as torch\nfrom copylab import compare", f"compare({ways})"
    watched.run_all(lab.address(write(lab.folder, "compare-signs.ipynb", *made)))
    table = live(watched.page)
    # As narrow as the table may be, below which each way is a card: JupyterLab beside its file browser.
    wide = table.evaluate("(table) => table.clientWidth")
    watched.page.set_viewport_size({"width": 1280 - wide + 830, "height": 900})
    expect(table.locator("td:has(wbr)")).not_to_have_count(0)
    below = table.evaluate(
        """(table) => [...table.querySelectorAll("td:has(wbr) > button")].filter((button) => {
            const range = document.createRange();
            range.selectNodeContents(button.firstChild);
            const { top, height } = range.getBoundingClientRect();
            return top > button.getBoundingClientRect().top + height / 2;
        }).map((button) => button.textContent)"""
    )
    assert below == []
    assert table.locator(".cl-table").evaluate("(box) => box.scrollWidth <= box.clientWidth")


def test_by_mouse_in_both_themes(watched: Watched, lab: Lab) -> None:
    name = write(lab.folder, "compare-mouse.ipynb", *CELLS, "print(c.kind, c.where(leaf=False))")
    page = watched.page
    watched.run_all(lab.address(name))
    table = live(page)
    cell(table, "clone", "backward after a write").get_by_role("button").click()
    expect(table.get_by_role("region", name="The program that proves it")).to_contain_text(
        "# saves x for backward"
    )
    for dark in (False, True):
        if dark:
            go_dark(page)
        for found, what in (
            (table, "backgroundColor"),
            (table.locator("td.cl-bad").first, "backgroundColor"),
        ):
            assert (luminance(found, what) < 0.5) is dark
        assert (luminance(table.locator("td.cl-yes").first, "color") > 0.5) is dark
        check_axe(page)
    table.get_by_role("button", name="Close").click()
    table.get_by_label("x is").select_option("result")
    expect(table.locator("pre").first).to_contain_text("x = a * 2")
    page.evaluate(
        """async () => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = 2;
            await window.jupyterapp.commands.execute('notebook:run-cell');
        }"""
    )
    expect(page.get_by_text(re.compile(r"^result \['=', 'clone', "))).to_be_visible()
