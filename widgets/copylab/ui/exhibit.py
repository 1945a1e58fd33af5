"""What every live widget has in common: a static twin, and a panel for HTML that Python makes.

A live view needs its kernel. Whatever shows a notebook without one (a page, a reopened or untrusted
notebook, another editor) shows the static twin instead: it is stored below the view and hidden
while the view is there. The texts are what a notebook's check compares, so they say the same for
the same program everywhere.

A box of ipywidgets that holds such a widget is shown in the same way, with the static twins of all
that it holds: without them, a saved page has nothing in its place.
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
_DISPLAY_METHODS = ("_ipython_display_", "_repr_mimebundle_")
"""How ipywidgets 7 and 8 display a widget: each has one of them."""
_PANEL_SHEET = re.compile(r"(<style>\.cl-panel.*?</style>)", re.DOTALL)
"""One of our style sheets in a page; the style of a picture begins otherwise."""
_INERT_SHEET = '<noscript class="cl-sheet">{}</noscript>'


class Exhibit(Presentation):
    """A mix-in for widget classes that displays them as a live view with a static twin.

    `text` is deterministic: no time, no address, nothing of the machine or of a learner's progress.
    So is `html`, but for a task: there it has what the learner has done.
    HELP: what to try first, marked for the catalogue.
    """

    HELP: ClassVar[str] = ""
    is_displayed: bool = False
    twin_id: str = ""
    """By which Jupyter finds the outputs with its static twin, of a class whose twin changes."""

    def __init__(self, *args: Any, **traits: Any) -> None:
        # The class is part of the first state. anywidget drops messages to a model whose script has
        # not loaded within 2 s; sent as a message, the class was lost on a busy machine, and view
        # and twin were both shown.
        super().__init__(*args, _dom_classes=("cl-live",), **traits)  # type: ignore[call-arg]

    @property
    def stored_text(self) -> str:
        """What a notebook stores of `text`: all of it, unless a widget may be very long."""
        return self.text

    def help(self) -> None:
        """Print what to try first."""
        print(gettext(self.HELP))

    def _ipython_display_(self) -> None:
        self.is_displayed = True
        _publish_with_twins(self, [StaticTwin(self.stored_text, self.html)], self.twin_id)

    def renew_twin(self) -> None:
        """Store the static twin anew, below each view that was displayed: `html` has changed.

        A notebook that is reopened without its kernel then shows what was done on the page. What a
        cell did is in that cell's output: here it would differ from what nbval sees, which compares
        an output before the cells below it are run.
        """
        if self.is_displayed and not is_cell_running():
            twin = StaticTwin(self.stored_text, self.html)
            publish_bundle(_bundle_of_twins([twin]), self.twin_id, update=True)

    def close(self) -> None:
        """Close the view and every model that it is made of."""
        # ipywidgets closes neither layout and style nor children: they would stay in its registry,
        # and the memory of the kernel would grow with each widget.
        parts = _list_parts(self)
        super().close()  # type: ignore[misc]
        for part in parts:
            part.close()


class StaticTwin(NamedTuple):
    """The static form of a widget: as text, and as HTML."""

    text: str
    html: str


def is_cell_running() -> bool:
    """Return True while a kernel runs a cell, and not what a click on the page has asked for."""
    find_parent = getattr(getattr(get_ipython(), "kernel", None), "get_parent", None)
    parent = find_parent() if find_parent else {}
    return bool(parent.get("header", {}).get("msg_type") == "execute_request")


def publish_bundle(bundle: dict[str, Any], display_id: str = "", *, update: bool = False) -> None:
    """Display a bundle, or update the outputs with this id to it."""
    publish: Callable[..., None] = front.publish_display_data
    if display_id:
        publish(bundle, transient={"display_id": display_id}, update=update)
    else:
        publish(bundle)


def has_kernel() -> bool:
    """Return True in a notebook: elsewhere an output cannot be renewed, and is printed as usual."""
    return getattr(get_ipython(), "kernel", None) is not None


def renew_output(bundle: dict[str, Any], display_id: str) -> None:
    """Put a bundle in the place of the outputs with this id.

    A terminal would print it once more.
    """
    if has_kernel():
        publish_bundle(bundle, display_id, update=True)


def _publish_with_twins(widget: Any, twins: list[StaticTwin], display_id: str = "") -> None:
    """Display the live view of a widget, and in an output below it its static twins.

    display_id: by which the output with the twins can be updated.
    """
    # ipywidgets sets `comm` to None in close(): of a closed widget only the twin can be shown.
    is_open = getattr(widget, "comm", None) is not None
    if is_open:
        view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        # A page without a kernel shows both outputs: the first one says only why there are two.
        hint = gettext("Run this cell to use it here. Its first view is below.")
        publish_bundle({"text/plain": hint, _VIEW_TYPE: view})
    publish_bundle(_bundle_of_twins(twins), display_id)


def _bundle_of_twins(twins: list[StaticTwin]) -> dict[str, Any]:
    """Return the output with some static twins."""
    text = "\n\n".join(twin.text for twin in twins)
    html = "".join(twin.html for twin in twins)
    # A style sheet of a hidden twin makes each change of the page slower: `sheet.js` puts it into
    # force when the twin is first seen.
    sheet = html_element("style", read_web_files("ui/twin.css"))
    html = _INERT_SHEET.format(sheet) + _PANEL_SHEET.sub(_INERT_SHEET.format(r"\1"), html)
    script = read_web_files("ui/seen.js", "ui/sheet.js")
    html += html_element("script", script, type="module")
    return {"text/plain": text, "text/html": html_element("div", html, class_="copylab-twin")}


def _list_parts(widget: Any) -> list[Any]:
    """Return the models that a widget is made of: layout, style, and its children with theirs."""
    parts = []
    for name in ("layout", "style"):
        part = getattr(widget, name, None)
        if hasattr(part, "comm"):  # a box has no style
            parts.append(part)
    children = list(getattr(widget, "children", ()))
    parts += children
    for child in children:
        parts += _list_parts(child)
    return parts


# -- widgets of ours in somebody's box -----------------------------------------------


def _show_box(box: Any) -> None:
    """Display a box of ipywidgets with the twins of what it holds, any other box as usual."""
    twins = list(_find_twins(box)) if _is_displayed_as_usual(box) else []
    if twins:
        _publish_with_twins(box, twins)
    elif hasattr(box, "_ipython_display_"):
        box._ipython_display_()
    else:
        # IPython then goes on with `_repr_mimebundle_`.
        raise NotImplementedError


def _is_displayed_as_usual(box: Any) -> bool:
    """Return False for a class with a display method of its own, which is left alone."""
    return all(
        getattr(type(box), method, None) is getattr(ipywidgets.Widget, method, None)
        for method in _DISPLAY_METHODS
    )


def _find_twins(box: Any) -> Iterator[StaticTwin]:
    """Yield the static twins of the widgets in a box, each below the title of its tab or fold."""
    for index, child in enumerate(box.children):
        twins = []
        if isinstance(child, Exhibit):
            twins = [StaticTwin(child.stored_text, child.html)]
        elif isinstance(child, ipywidgets.Box):
            twins = list(_find_twins(child))
        title = box.get_title(index) if twins and hasattr(box, "get_title") else ""
        if title:
            yield StaticTwin(title, html_element("p", html_element("strong", escape(title))))
        yield from twins


def _register_show_box() -> None:
    """Have IPython, if it runs, display boxes by `_show_box`.

    A widget cannot know that a box around it is shown. A way to show boxes that somebody else has
    registered is left alone.
    """
    shell = get_ipython()
    if shell is not None:
        formatter = shell.display_formatter.ipython_display_formatter
        if ipywidgets.Box not in formatter.type_printers:
            formatter.for_type(ipywidgets.Box, _show_box)


_register_show_box()


# -- widgets with scripts of ours ----------------------------------------------------


class Live(anywidget.AnyWidget):
    """A widget with a script of ours, which defines `render({ model, el })`.

    SCRIPTS, SHEETS: the names of its scripts and style sheets, as `read_web_files` takes them; they
    are read when a widget is made.
    """

    SCRIPTS: ClassVar[tuple[str, ...]] = ()
    SHEETS: ClassVar[tuple[str, ...]] = ()
    _esm = traitlets.Unicode().tag(sync=True)
    sheet = traitlets.Unicode(
        help="The style sheet, which the script puts into the page once."
    ).tag(sync=True)

    def __repr__(self) -> str:
        # ipywidgets would write out all traits, and one of them may be a page.
        return f"{type(self).__name__}()"

    @traitlets.default("_esm")
    def _read_scripts(self) -> str:
        return read_web_files(*self.SCRIPTS, "ui/live.js")

    @traitlets.default("sheet")
    def _read_sheets(self) -> str:
        return panel_style_sheet(*self.SHEETS)


class Panel(Live):
    """A bordered place with the colours of the pictures, for HTML that Python makes.

    html: what it shows, escaped by whoever sets it; focus, scrolling and open folds stay over a
        change where `data-keep` has the same name.
    says: what a screen reader says when it changes.
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
        """Show `html`, and have a screen reader say `says`."""
        # A live region speaks only when its text changes. The space makes the same words new.
        with self.hold_sync():
            self.html = html
            self.says = says + "\N{NO-BREAK SPACE}" if says == self.says else says

    def __repr__(self) -> str:
        return f"Panel({len(self.html)} characters)"
