"""Widgets in boxes of ipywidgets: a box that is shown leaves the static forms of all that it holds."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest
from copylab import CopyLab, compare, exercise, predict, steps
from copylab.ui import exhibit
from IPython.core.formatters import DisplayFormatter

import tinytorch

VIEW = "application/vnd.jupyter.widget-view+json"
CODE = "x = torch.ones(2)\ny = x.clone()"


class Front:
    """What IPython does with a value: its outputs, published or returned."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.outputs: list[dict[str, Any]] = []
        self.formatter = DisplayFormatter()
        monkeypatch.setattr(
            "IPython.display.publish_display_data", lambda bundle, **_: self.outputs.append(bundle)
        )
        monkeypatch.setattr(
            exhibit, "get_ipython", lambda: SimpleNamespace(display_formatter=self.formatter)
        )

    def show(self, value: object) -> list[dict[str, Any]]:
        self.outputs.clear()
        data, _ = self.formatter.format(value)  # type: ignore[no-untyped-call]
        return [*self.outputs, *([data] if data else [])]


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Front:
    made = Front(monkeypatch)
    exhibit._register_show_box()
    return made


LIVE: dict[str, Callable[[], Any]] = {
    "steps": lambda: steps(CODE, engine=tinytorch).live(),
    "compare": lambda: compare("clone", engine=tinytorch),
    "CopyLab": lambda: CopyLab(engine=tinytorch),
    "predict": lambda: predict(CODE, engine=tinytorch).live(),
    "exercise": lambda: exercise(
        "boxed", "Make y.", check=lambda y: y == 1, solution="y = 1"
    ).live(),
}
BOXES = [
    ipywidgets.Box,
    ipywidgets.VBox,
    ipywidgets.HBox,
    ipywidgets.GridBox,
    ipywidgets.Accordion,
    ipywidgets.Tab,
]


@pytest.mark.parametrize("make", LIVE.values(), ids=LIVE)
def test_a_box_leaves_the_static_form_of_what_it_holds(
    front: Front, make: Callable[[], Any]
) -> None:
    live = make()
    box = ipywidgets.VBox([ipywidgets.IntSlider(), live])
    view, twin = front.show(box)
    assert view[VIEW]["model_id"] == box.model_id
    assert twin["text/plain"] == live.stored_text
    alone = front.show(live)[-1]
    assert twin["text/html"] == alone["text/html"]


@pytest.mark.parametrize("inner", BOXES)
@pytest.mark.parametrize("outer", BOXES)
def test_boxes_in_boxes(front: Front, outer: Any, inner: Any) -> None:
    lives = [steps(code, engine=tinytorch).live() for code in ("a = 1", "b = 2")]
    _, twin = front.show(outer([inner([lives[0]]), ipywidgets.Label("between"), lives[1]]))
    assert twin["text/plain"] == "\n\n".join(live.stored_text for live in lives)
    assert twin["text/html"].count('class="copylab-steps"') == 2
    assert twin["text/html"].count('class="copylab-twin"') == 1


def test_titles_of_tabs_stand_above(front: Front) -> None:
    live = steps("a = 1", engine=tinytorch).live()
    tab = ipywidgets.Tab([ipywidgets.Label("x"), live])
    tab.set_title(0, "Empty")
    tab.set_title(1, "The <b>run")
    _, twin = front.show(tab)
    assert twin["text/plain"] == f"The <b>run\n\n{live.stored_text}"
    assert "<p><strong>The &lt;b&gt;run</strong></p>" in twin["text/html"]


def test_other_widgets_are_shown_as_they_were(front: Front) -> None:
    plain: Any = DisplayFormatter()
    for value in (
        ipywidgets.VBox([ipywidgets.IntSlider()]),
        ipywidgets.Tab(),
        ipywidgets.IntSlider(),
        3,
    ):
        assert front.show(value) == [plain.format(value)[0]]


def test_a_box_with_a_way_of_its_own_keeps_it(front: Front) -> None:
    class Mine(ipywidgets.VBox):
        def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
            return {"text/plain": "mine"}

    class Shown(ipywidgets.VBox):
        def _ipython_display_(self) -> None:
            front.outputs.append({"text/plain": "shown"})

    live = LIVE["steps"]()
    assert front.show(Mine([live])) == [{"text/plain": "mine"}]
    assert front.show(Shown([live])) == [{"text/plain": "shown"}]


def test_who_has_registered_another_way_for_boxes_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    front = Front(monkeypatch)
    front.formatter.ipython_display_formatter.for_type(
        ipywidgets.Box, lambda _: front.outputs.append({"a": "b"})
    )
    exhibit._register_show_box()
    assert front.show(ipywidgets.VBox([LIVE["steps"]()])) == [{"a": "b"}]


def test_a_box_around_a_closed_widget_still_tells_of_it(front: Front) -> None:
    live = LIVE["steps"]()
    box = ipywidgets.VBox([live])
    live.close()
    box.close()
    (twin,) = front.show(box)
    assert twin["text/plain"] == live.stored_text
