"""Live widgets on the Python side: the player's traits, twin and help; and that closing any of them frees all of it."""

import gc
import re
import weakref
from collections.abc import Callable
from typing import Any

import anywidget
import copylab
import ipywidgets
import pytest
from copylab import steps

import tinytorch

CODE = "x = torch.ones(2)\ny = x.clone()\ny += 1\n"


def models() -> dict[str, Any]:
    """All widgets whose models are alive, as ipywidgets 8 or 7 keeps them."""
    try:
        from ipywidgets.widgets.widget import _instances
    except ImportError:
        return dict(ipywidgets.Widget.widgets)
    return dict(_instances)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the outputs that are displayed, a mapping for each."""
    outputs: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.publish_display_data", outputs.append)
    return outputs


def player() -> Any:
    return steps(CODE, engine=tinytorch).live()


def test_the_player_shows_a_view_and_its_twin(shown: list[dict[str, Any]]) -> None:
    widget = player()
    widget._ipython_display_()
    view, twin = shown
    assert view["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert twin["text/plain"] == widget.steps.stored_text
    assert widget.steps.html in re.sub("</?noscript[^>]*>", "", twin["text/html"])
    widget.close()
    shown.clear()
    widget._ipython_display_()
    assert [sorted(output) for output in shown] == [["text/html", "text/plain"]], (
        "closed, it still tells everything"
    )


def test_help_says_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    widget = player()
    widget.help()
    said = capsys.readouterr().out
    assert said.startswith("A player of 3 steps through 3 lines of code: ")
    for name in ("w.step", "w.observe", "w.steps", "w.close()", "Try first"):
        assert name in said
    widget.close()


def test_help_of_the_steps_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    steps(CODE, engine=tinytorch).help()
    said = capsys.readouterr().out
    assert said.startswith("Step-through: 3 steps through 3 lines of code.\n")
    for name in ("s[0].changes", "s.end", "s.text", "s.save(", "s.live()", "rounds=2", "Try first"):
        assert name in said


def test_marimo_is_given_a_widget() -> None:
    """It runs no script of a page, so there the static form was a bare list."""
    made = steps(CODE, engine=tinytorch)
    widget = made._display_()
    assert isinstance(widget, anywidget.AnyWidget), "the kind of widget that it shows"
    assert widget.steps is made
    widget.close()


def test_two_players_of_one_run_go_their_own_ways() -> None:
    made = steps(CODE, engine=tinytorch)
    one, two = made.live(), made.live()
    one.step = 3
    assert (one.step, two.step) == (3, 1)
    one.close()
    two.step = 2
    assert "closed" not in repr(two)
    two.close()


def is_one(y: object) -> bool:
    return y == 1


MAKERS: dict[str, Callable[[], Any]] = {
    "steps": player,
    "CopyLab": lambda: copylab.CopyLab(engine=tinytorch),
    "compare": lambda: copylab.compare("clone", "detach", engine=tinytorch),
    "predict": lambda: copylab.predict("x = torch.ones(2)\ny = x.clone()", engine=tinytorch).live(),
    "exercise": lambda: copylab.exercise("live", "Make y.", check=is_one, solution="y = 1").live(),
}


@pytest.mark.parametrize("make", [make for name, make in MAKERS.items() if name != "steps"])
def test_rendering_a_page_changes_nothing(make: Callable[[], Any]) -> None:
    widget = make()
    tree = widget.tree()
    pages = [(tree.html(), tree.text()) for _ in range(2)]
    assert pages[0] == pages[1]
    assert widget.html == widget.html
    widget.close()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_closing_frees_all_of_it(make: Callable[[], Any]) -> None:
    gc.collect()
    before = set(models())
    widget = make()
    found = weakref.ref(widget)
    assert len(models()) > len(before)
    widget.close()
    widget.close()  # twice is once
    assert set(models()) <= before
    del widget
    gc.collect()
    assert found() is None
