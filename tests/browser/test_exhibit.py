"""A live view and its static twin in JupyterLab: which of them is seen, and when."""

from pathlib import Path

import pytest
from browser.books import page_of, write
from browser.conftest import Lab, Watched
from copylab import steps
from copylab.ui.theme import panel_style_sheet, read_web_files
from playwright.sync_api import Page, expect

import tinytorch

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
        return f"<p>Sign {number}</p><button class='cl-primary' data-do='again' data-keep='again'>again</button>"

    def __repr__(self):
        return "Sign()"

sign = Sign()
sign
"""


def test_view_and_twin(watched: Watched, lab: Lab) -> None:
    name = write(
        lab.folder, "sign.ipynb", SIGN, "sign.panel.html = sign.link(3); sign.panel.says = 'three'"
    )
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
    # What asks the kernel looks and is dead, and says what to do.
    again = panel.get_by_role("button", name="again")
    colours = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
    ink, ground = again.evaluate(colours)
    muted = panel.evaluate("one => getComputedStyle(one).getPropertyValue('--tt-muted')")
    probe = "([muted]) => { const one = document.createElement('i'); one.style.color = muted; document.body.append(one); const seen = getComputedStyle(one).color; one.remove(); return seen; }"
    assert (ink, ground) == (page.evaluate(probe, [muted]), "rgba(0, 0, 0, 0)")
    again.click()
    expect(panel.get_by_role("alert")).to_have_text(
        "The kernel is gone: run the imports at the top, then this cell."
    )

    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.close_sessions()
    page.goto(lab.address(name))
    expect(twin).to_be_visible()
    expect(twin).to_have_text("Keep off the grass, says the twin.")


DEAD = "jupyter-widgets-disconnected"
ERROR = '<div class="jupyter-widgets jupyter-widgets-error-widget">Click to show javascript error.</div>'
PAGE = '<div class="jp-OutputArea-child">{0}</div><div class="jp-OutputArea-child">{1}</div>'
LAB = f'<div class="jp-NotebookPanel">{PAGE}</div>'
CLASSIC = (
    '<div id="notebook"><div class="output_area">{0}</div><div class="output_area">{1}</div></div>'
)
SPHINX = '<div class="cell_output"><div class="output">{0}</div><div class="output">{1}</div></div>'
CODE = '<div class="output_container"><div>{0}</div></div><div class="output_container"><div>{1}</div></div>'
COLAB = (
    '<div id="output-body"><div class="display_data output-id-1">{0}</div>'
    '<div class="display_data output-id-2">{1}</div></div>'
)


@pytest.mark.parametrize(
    ("host", "state", "inside", "seen"),
    [
        *((host, "", "a view", "view") for host in (LAB, PAGE, CLASSIC, SPHINX, COLAB, CODE)),
        *((host, DEAD, "a view", "view") for host in (LAB, CLASSIC, COLAB)),
        *((host, DEAD, "a view", "twin") for host in (PAGE, SPHINX)),
        *((host, "", ERROR, "twin") for host in (LAB, PAGE, CLASSIC, SPHINX, COLAB)),
    ],
)
def test_one_of_both_is_seen(
    watched: Watched, host: str, state: str, inside: str, seen: str
) -> None:
    view = f'<div class="jupyter-widgets {state} cl-live">{inside}</div>'
    page = watched.page
    page.set_content(
        f"<style>{panel_style_sheet()}</style>"
        + host.format(view, '<div class="copylab-twin">the twin</div>')
    )
    expect(page.locator(".cl-live")).to_be_visible(visible=seen == "view")
    expect(page.locator(".copylab-twin")).to_be_visible(visible=seen == "twin")


def test_pills_that_ask_a_lost_kernel_look_dead(watched: Watched) -> None:
    form = steps("x = torch.ones(2)\ny = x.clone()", engine=tinytorch).html
    page = watched.page
    colours = []
    for state in ("", DEAD):
        page.set_content(f"<div class='cl-live {state}'>{form}</div>")
        page.locator(".cl-player").wait_for()
        asking = page.locator(".cl-pill, [data-keep=edit]")
        colours.append(asking.evaluate_all("all => all.map((one) => getComputedStyle(one).color)"))
    assert len(colours[0]) > 4
    assert set(colours[0]).isdisjoint(colours[1])


@pytest.mark.parametrize(
    "said",
    [
        "data-theme='{}'",
        "theme='{}'",
        "class='{}'",
        "class='quarto-{}'",
        "data-jp-theme-light='{}'",
    ],
)
def test_a_page_that_says_its_theme_is_believed(watched: Watched, said: str) -> None:
    page = watched.page
    for theme, other, jupyter in (("dark", "light", "false"), ("light", "dark", "true")):
        page.emulate_media(color_scheme="dark" if other == "dark" else "light")
        mark = said.format(jupyter if "jp-" in said else theme)
        page.set_content(
            f"<html><body {mark}><style>{panel_style_sheet()}</style><div class='cl-panel'>a</div></body></html>"
        )
        assert page.locator(".cl-panel").evaluate("e => getComputedStyle(e).colorScheme") == theme


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_view_in_a_shadow_tree_follows_the_page(watched: Watched, theme: str) -> None:
    page = watched.page
    page.emulate_media(color_scheme="light" if theme == "dark" else "dark")
    page.set_content(f"<body style='color-scheme:{theme}'><div id='host'></div></body>")
    made = page.evaluate(
        """async ([script, css]) => {
            const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
            const live = await import(address);
            const root = document.querySelector("#host").attachShadow({ mode: "open" });
            const schemes = [];
            for (let view = 0; view < 2; view++) {
                const el = root.appendChild(document.createElement("div"));
                live.default.render({ model: { on() {}, get: () => css }, el });
                schemes.push(getComputedStyle(el.firstChild).colorScheme);
            }
            return [...schemes, root.querySelectorAll("style").length, document.head.querySelectorAll("style").length];
        }""",
        [
            "const render = ({ el }) => { el.innerHTML = '<p class=cl-panel></p>'; };\n"
            + read_web_files("ui/live.js"),
            panel_style_sheet(),
        ],
    )
    assert made == [theme, theme, 1, 0], "one sheet for both views, where they are"


BOXED = """
import ipywidgets
import tinytorch as torch
from copylab import compare, steps
slider = ipywidgets.IntSlider(1, 1, 3, description="step")
player = steps("x = torch.ones(2)\\ny = x.clone()\\ny += 1").live()
ipywidgets.link((slider, "value"), (player, "step"))
tabs = ipywidgets.Tab([ipywidgets.VBox([slider, player]), compare("clone")])
tabs.set_title(0, "The run")
tabs.set_title(1, "The table")
tabs
"""


@pytest.mark.stress
def test_a_box_in_a_saved_page(watched: Watched, usual_front: Lab, tmp_path: Path) -> None:
    name = write(usual_front.folder, "boxed.ipynb", BOXED, "slider.value = 2")
    page = watched.page
    watched.run_all(usual_front.address(name))
    expect(page.locator(".cl-live .cl-player")).to_have_attribute("data-step", "2")
    twin = page.locator(".copylab-twin")
    expect(twin).to_be_hidden()
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    usual_front.close_sessions()

    page.goto(usual_front.address(name))
    expect(twin.locator(".cl-player")).to_be_visible()
    expect(twin.get_by_text("The table")).to_be_visible()
    page.goto(page_of(usual_front.folder / name, tmp_path))
    player = page.locator(".cl-player")
    expect(player).to_have_attribute("data-step", "1")
    page.get_by_role("button", name="Next step").click()
    expect(player).to_have_attribute("data-step", "2")
    expect(page.get_by_text("The table", exact=True)).to_be_visible()
    background = "(one) => getComputedStyle(one).borderTopWidth"
    assert page.locator(".copylab-twin .cl-panel").last.evaluate(background) == "1px", (
        "its sheet is there once it is seen"
    )
    # ipywidgets says so of every stored view whose model is gone.
    watched.wrong = [one for one in watched.wrong if "Error: widget model not found" not in one]


def test_korean_prose_around_a_view_breaks_between_words(watched: Watched, lab: Lab) -> None:
    speak = "from copylab.wording import set_language\nset_language({!r})"
    for language, word_break in (("ko", "keep-all"), ("zh", "normal")):
        name = write(
            lab.folder, f"{language}.ipynb", "# 텐서와 그래디언트", speak.format(language), SIGN
        )
        watched.run_all(lab.address(name))
        expect(watched.page.get_by_role("group", name="a sign")).to_be_visible()
        prose = watched.page.locator(".jp-RenderedMarkdown:visible")
        expect(prose).to_have_css("word-break", word_break)


def in_kernel(page: Page, call: str) -> None:
    page.evaluate(f"window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.{call}")
