"""A live view and its static twin in JupyterLab: which of them is seen, and when."""

import pytest
from browser.books import write
from browser.conftest import Lab, Watched
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

SIGN = """
import ipywidgets
from copylab.ui.exhibit import Exhibit, Panel

class Sign(Exhibit, ipywidgets.VBox):
    text = "Keep off the grass."
    html = "<p>Keep off the grass, says the twin.</p>"

    def __init__(self):
        self.panel = Panel(html=self.link(1), says="grass", label="a sign")
        self.button = ipywidgets.Button(description="More")
        self.button.on_click(lambda _: self.panel.set_trait("html", self.link(2)))
        super().__init__([self.button, self.panel])

    def link(self, number):
        return f"<p>Sign {number}</p><button data-keep='again'>again</button>"

    def __repr__(self):
        return "Sign()"

sign = Sign()
sign
"""


def test_view_and_twin(watched: Watched, lab: Lab) -> None:
    name = write(lab.folder, "sign.ipynb", SIGN, "sign.panel.html = sign.link(3); sign.panel.says = 'three'")
    page = watched.page
    watched.run_all(lab.address(name))
    twin = page.locator(".copylab-twin")
    panel = page.get_by_role("group", name="a sign")
    expect(panel.get_by_text("Sign 3")).to_be_visible()
    expect(panel.get_by_role("status")).to_have_text("three")
    expect(twin).to_be_hidden()
    panel.get_by_role("button", name="again").focus()
    in_kernel(page, "requestExecute({code: 'sign.button.click()'}).done")
    expect(panel.get_by_text("Sign 2")).to_be_visible()
    expect(panel.get_by_role("button", name="again")).to_be_focused()
    more = page.get_by_role("button", name="More")
    more.press("Enter")
    expect(more).to_be_focused()

    in_kernel(page, "restart()")
    lost = "() => getComputedStyle(document.querySelector('.cl-live'), '::before').content.includes('lost its kernel')"
    page.wait_for_function(lost)
    expect(panel.get_by_text("Sign 2")).to_be_visible()

    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()
    page.goto(lab.address(name))
    expect(twin).to_be_visible()
    expect(twin).to_have_text("Keep off the grass, says the twin.")


def in_kernel(page: Page, call: str) -> None:
    page.evaluate(f"window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.{call}")
