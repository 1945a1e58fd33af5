"""What every live widget has in common: a text twin, a static twin, and a place for what Python shows.

A live view needs its kernel. Whatever shows a notebook without one (a page, a reopened or untrusted notebook, another
editor) shows the static twin instead: it is stored below the view and hidden while the view is there. The texts are
what a notebook's check compares, so they say the same for the same program everywhere.

A box of ipywidgets that holds such a widget is shown in the same way, with the static twins of all that it holds:
without them, a saved page has nothing in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, ClassVar, NamedTuple

import anywidget
import ipywidgets
import traitlets
from IPython import display as front
from IPython import get_ipython

from ..doc import Presentation, html_element
from ..wording import gettext
from .theme import panel_style_sheet, read_web_files

_VIEW_TYPE = "application/vnd.jupyter.widget-view+json"


class Exhibit(Presentation):
    """Mixed into a widget class: how the widget is shown, live and not.

    Its `text` and `html` are deterministic: no time, no address, nothing of the machine or of a learner's progress.
    HELP: what to try first, marked for the catalogue.
    """

    HELP: ClassVar[str] = ""

    def __init__(self, *args: Any, **traits: Any) -> None:
        # The class is part of the first state: a later message to a model is lost if the model's script has not loaded
        # within 2 s, as anywidget demands, and then the view and its twin are both shown.
        super().__init__(*args, _dom_classes=("cl-live",), **traits)  # type: ignore[call-arg]

    @property
    def stored(self) -> str:
        """What a notebook keeps of `text`: all of it, unless a widget can have a great deal to tell."""
        return self.text

    def help(self) -> None:
        """Print what to try first."""
        print(gettext(self.HELP))

    def _ipython_display_(self) -> None:
        """Show the live view, and below it the static twin for where there is no kernel."""
        _publish_with_twins(self, [StaticTwin(self.stored, self.html)])

    def close(self) -> None:
        """Close the view with all that it is made of, so that nothing of it stays behind in the kernel."""
        parts = _parts_of_widget(self)
        super().close()  # type: ignore[misc]
        for part in parts:
            part.close()


class StaticTwin(NamedTuple):
    """The static form of a widget: as text, and as HTML."""

    text: str
    html: str


def _publish_with_twins(widget: Any, twins: list[StaticTwin]) -> None:
    """Show the live view of a widget, and in an output below it its static twins."""
    show: Callable[[dict[str, Any]], None] = front.publish_display_data
    if getattr(widget, "comm", None) is not None:  # it is not closed
        view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        # A page without a kernel shows both outputs: the first one says only why there are two.
        why = gettext("Run this cell to use it here. What it shows at first is told below.")
        show({"text/plain": why, _VIEW_TYPE: view})
    text, html = "\n\n".join(twin.text for twin in twins), "".join(twin.html for twin in twins)
    quiet = _SHEET.sub(r'<noscript class="cl-sheet">\1</noscript>', html)
    if quiet != html:
        quiet += f'<script type="module">{read_web_files("ui/seen.js", "ui/sheet.js")}</script>'
    show({"text/plain": text, "text/html": html_element("div", quiet, class_="copylab-twin")})


_SHEET = re.compile(r"(<style>\.cl-panel.*?</style>)", re.DOTALL)
"""One of our style sheets in a page; the style of a picture begins otherwise."""


def _find_twins(box: Any) -> Iterator[StaticTwin]:
    """The static twins of the widgets in a box, with the titles of tabs and folds above them."""
    for at, child in enumerate(box.children):
        twins = [StaticTwin(child.stored, child.html)] if isinstance(child, Exhibit) else []
        if not twins and isinstance(child, ipywidgets.Box):
            twins = list(_find_twins(child))
        title = box.get_title(at) if twins and hasattr(box, "get_title") else ""
        if title:
            yield StaticTwin(title, html_element("p", html_element("strong", escape(title))))
        yield from twins


def _show_box(box: Any) -> None:
    """Show a box of ipywidgets with the twins of what it holds; any other box as it shows itself."""
    ways = (
        "_ipython_display_",
        "_repr_mimebundle_",
    )  # of ipywidgets 7 and 8; somebody's box may have a way of its own
    usual = all(
        getattr(type(box), way, None) is getattr(ipywidgets.Widget, way, None) for way in ways
    )
    twins = list(_find_twins(box)) if usual else []
    if twins:
        _publish_with_twins(box, twins)
    elif hasattr(box, "_ipython_display_"):
        box._ipython_display_()
    else:
        raise NotImplementedError  # which tells IPython to go on with _repr_mimebundle_


def _show_boxes_with_twins() -> None:
    """Register `_show_box` with IPython, if it runs: a widget cannot know that a box around it is shown.

    It is left alone if somebody else has registered a way to show boxes.
    """
    shell = get_ipython()
    if shell is not None:
        formatter = shell.display_formatter.ipython_display_formatter
        if ipywidgets.Box not in formatter.type_printers:
            formatter.for_type(ipywidgets.Box, _show_box)


_show_boxes_with_twins()


def _parts_of_widget(widget: Any) -> list[Any]:
    """What a widget is made of: layout and style, which it does not close by itself, and its children with theirs."""
    own = [
        part
        for part in (getattr(widget, name, None) for name in ("layout", "style"))
        if hasattr(part, "comm")
    ]
    children = list(getattr(widget, "children", ()))
    return [*own, *children, *(part for child in children for part in _parts_of_widget(child))]


class Live(anywidget.AnyWidget):
    """A widget with a script of ours, which defines `render({ model, el })`.

    SCRIPTS, SHEETS: the names of its scripts and style sheets, as in `web`; they are read when a widget is made.
    """

    SCRIPTS: ClassVar[tuple[str, ...]] = ()
    SHEETS: ClassVar[tuple[str, ...]] = ()
    _esm = traitlets.Unicode().tag(sync=True)
    sheet = traitlets.Unicode(
        help="The style sheet, which the script puts into the page once."
    ).tag(sync=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"  # and not its traits, of which a page may be one

    @traitlets.default("_esm")
    def _script(self) -> str:
        return read_web_files(*self.SCRIPTS, "ui/live.js")

    @traitlets.default("sheet")
    def _style(self) -> str:
        return panel_style_sheet(*self.SHEETS)


class Panel(Live):
    """A bordered place with the colours of the pictures, for HTML that Python makes.

    html: what it shows; focus, scrolling and open folds stay over a change where `data-keep` has the same name.
    says: what a screen reader is told, when it changes.
    label: the name of the group for a screen reader; may be empty.
    """

    SCRIPTS = ("ui/panel.js",)
    html = traitlets.Unicode(
        "", help="What is shown; whoever sets it has escaped what comes from users."
    ).tag(sync=True)
    says = traitlets.Unicode("", help="What a screen reader is told when it changes.").tag(
        sync=True
    )
    label = traitlets.Unicode("", help="The name of the group for a screen reader.").tag(sync=True)

    def show(self, html: str, says: str) -> None:
        """Show something and say something; the same words again are said again."""
        with self.hold_sync():
            self.html = html
            self.says = says + "\N{NO-BREAK SPACE}" if says == self.says else says

    def __repr__(self) -> str:
        return f"Panel({len(self.html)} characters)"
