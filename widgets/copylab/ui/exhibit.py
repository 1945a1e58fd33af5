"""What every live widget has in common: a text twin, a static twin, and a place for what Python shows.

A live view needs its kernel. Whatever shows a notebook without one (a page, a reopened or untrusted notebook, another
editor) shows the static twin instead: it is stored below the view and hidden while the view is there. The texts are
what a notebook's check compares, so they say the same for the same program everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import anywidget
import traitlets

from .theme import colours, web

_VIEW = "application/vnd.jupyter.widget-view+json"


@cache
def style(*names: str) -> str:
    """Return the style sheet of all live widgets, and after it those of the rooms: `copying/compare.css`."""
    return "".join(map(web, ("ui/exhibit.css", *names))) + colours(".cl-panel")


class Exhibit:
    """Mixed into a widget class: how the widget is shown, live and not.

    A subclass has `text`, the complete twin in words, and `html`, the same as HTML that needs no script. Both are
    deterministic: no time, no address, nothing of the machine or of a learner's progress. Everything of the user's in
    them is escaped.
    """

    @property
    def text(self) -> str:
        """Everything that the widget shows, in words."""
        raise NotImplementedError

    @property
    def html(self) -> str:
        """Everything that the widget shows, as HTML that needs no script."""
        raise NotImplementedError

    @property
    def stored(self) -> str:
        """What a notebook keeps of `text`: all of it, unless a widget can have a great deal to tell."""
        return self.text

    def _ipython_display_(self) -> None:
        """Show the live view, and below it the static twin for where there is no kernel."""
        from IPython import display as front

        show: Callable[[dict[str, Any]], None] = front.publish_display_data

        twin = f'<div class="copylab-twin">{self.html}</div>'
        if getattr(self, "comm", None) is None:  # closed
            show({"text/plain": self.stored, "text/html": twin})
            return
        self.add_class("cl-live")  # type: ignore[attr-defined]
        model = self.model_id  # type: ignore[attr-defined]
        view = {"version_major": 2, "version_minor": 0, "model_id": model}
        # A page without a kernel shows both outputs: the first one says only why there are two.
        show({"text/plain": "Run this cell to use it here. What it shows at first is told below.", _VIEW: view})
        show({"text/plain": self.stored, "text/html": twin})

    def close(self) -> None:
        """Close the view with all that it is made of, so that nothing of it stays behind in the kernel."""
        parts = _parts(self)
        super().close()  # type: ignore[misc]
        for part in parts:
            part.close()


def _parts(widget: Any) -> list[Any]:
    """What a widget is made of: layout and style, which it does not close by itself, and its children with theirs."""
    own = [part for part in (getattr(widget, name, None) for name in ("layout", "style")) if hasattr(part, "comm")]
    children = list(getattr(widget, "children", ()))
    return [*own, *children, *(part for child in children for part in _parts(child))]


class Panel(anywidget.AnyWidget):
    """A bordered place with the colours of the pictures, for HTML that Python makes.

    html: what it shows; what has the focus keeps it over a change if it has the same `id` as before.
    says: what a screen reader is told, when it changes.
    label: the name of the group for a screen reader; may be empty.
    """

    _esm = web("ui/panel.js")
    _css = style()
    html = traitlets.Unicode("", help="What is shown; whoever sets it has escaped what comes from users.").tag(
        sync=True
    )
    says = traitlets.Unicode("", help="What a screen reader is told when it changes.").tag(sync=True)
    label = traitlets.Unicode("", help="The name of the group for a screen reader.").tag(sync=True)

    def __repr__(self) -> str:
        return f"Panel({len(self.html)} characters)"
