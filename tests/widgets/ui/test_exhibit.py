"""What live widgets share: two outputs, a static twin that stays when the view goes, a panel that speaks."""

import re
from typing import Any

import ipywidgets
import pytest
from copylab import compare, predict, steps
from copylab.ui.exhibit import Exhibit, Panel
from copylab.ui.theme import panel_style_sheet, read_web_files

import tinytorch

VIEW = "application/vnd.jupyter.widget-view+json"


class Sign(Exhibit, ipywidgets.VBox):
    """A widget that shows one sentence."""

    @property
    def text(self) -> str:
        return "Keep off the grass."

    @property
    def html(self) -> str:
        return "<p>Keep off the grass.</p>"

    def __repr__(self) -> str:
        return "Sign()"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.publish_display_data", bundles.append)
    return bundles


def test_a_view_and_below_it_the_twin(shown: list[dict[str, Any]]) -> None:
    sign = Sign()
    sign._ipython_display_()
    view, twin = shown
    assert view["text/plain"].startswith("Run this cell")
    assert view[VIEW]["model_id"] == sign.model_id
    assert twin["text/html"].startswith('<div class="copylab-twin"><noscript class="cl-sheet">')
    assert "<p>Keep off the grass.</p>" in twin["text/html"]
    (rule,) = re.findall(r"<style>(.*?)\{display:none;\}", twin["text/html"])
    assert ".jp-OutputArea-output.jupyter-widgets" in rule, "the words of a lost view"
    # One `:has` inside of another is no CSS, and the browser drops the rule.
    assert not re.search(r":has\((?:[^()]|\([^()]*\))*:has\(", rule)
    assert twin["text/plain"] == sign.text
    assert "cl-live" in sign._dom_classes, "the style that hides the twin looks for it"
    assert ".cl-live" in panel_style_sheet()


def test_a_closed_widget_is_shown_as_its_twin(shown: list[dict[str, Any]]) -> None:
    sign = Sign()
    sign.close()
    sign._ipython_display_()
    assert [set(bundle) for bundle in shown] == [{"text/plain", "text/html"}]


def test_a_class_that_forgets_its_twins_is_told() -> None:
    class Forgetful(Exhibit, ipywidgets.VBox):
        """A widget without `tree`."""

    with pytest.raises(NotImplementedError):
        _ = Forgetful().text
    with pytest.raises(NotImplementedError):
        _ = Forgetful().html


def test_a_model_is_opened_with_all_that_its_view_is_made_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states: dict[str, dict[str, Any]] = {}
    real = ipywidgets.Widget.open
    classes: dict[str, tuple[str, ...]] = {}

    def opened(widget: Any) -> None:
        states[type(widget).__name__] = widget.get_state()
        classes[type(widget).__name__] = getattr(widget, "_dom_classes", ())
        real(widget)

    monkeypatch.setattr(ipywidgets.Widget, "open", opened)
    live = steps("x = torch.ones(2)", engine=tinytorch).live()
    table = compare("clone", engine=tinytorch)
    form = predict("x = torch.ones(2)\ny = x", engine=tinytorch).live().form
    for widget, name in (
        (live, "form"),
        (table, "form"),
        (table, "kinds"),
        (table, "kind"),
        (form, "content"),
    ):
        assert states[type(widget).__name__][name] == getattr(widget, name)
        assert states[type(widget).__name__][name], name
    for widget in (live, table, Sign()):
        assert classes[type(widget).__name__] == ("cl-live",), (
            "a later message may be lost on a busy machine"
        )


def test_a_style_sheet_in_a_twin_is_inert(shown: list[dict[str, Any]]) -> None:
    live = steps("x = torch.ones(2)", engine=tinytorch).live()
    live._ipython_display_()
    html = shown[-1]["text/html"]
    assert (
        html.count("<style>.cl-panel")
        == html.count('<noscript class="cl-sheet"><style>.cl-panel')
        == 1
    )
    assert html.count("</style></noscript>") == 2
    assert html.endswith(
        f'<script type="module">{read_web_files("ui/seen.js", "ui/sheet.js")}</script></div>'
    )


def test_panel() -> None:
    panel = Panel(html="<p>abc</p>", says="abc", label="An example")
    assert repr(panel) == "Panel(10 characters)"
    assert {"html", "says", "label"} <= set(panel.keys)
    for forbidden in ("http:", "https:", "import(", "eval(", "@import", "url("):
        assert forbidden not in read_web_files("ui/panel.js") + panel_style_sheet()
    assert len(read_web_files("ui/panel.js").encode()) < 25_000
