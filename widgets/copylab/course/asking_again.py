"""The tables of `progress()` as a live view, with a button that asks again about what was wrong."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ..doc import html_element
from ..quiz import TaskView, follow_notes
from ..ui import Panel
from ..wording import gettext, ngettext

if TYPE_CHECKING:
    from .overview import Progress


_AT_ONCE = 2
"""New programs that are shown at once: a wall of seven is not begun."""


class ProgressView(TaskView):
    """The tables, and below them, once asked for, new programs on misconceptions that are open.

    They come a few at a time: each press of the button brings those that were not asked about yet.
    They follow the notes: what is solved or settled is shown so at once, wherever it was answered.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._asked_names: list[str] = []
        self.card = Panel(label=gettext("Progress"))
        self.card.on_msg(self._handle_message)
        super().__init__(progress, [self.card])
        self._show_tables("")
        follow_notes(progress.place, self._follow_note)

    def _handle_message(self, _widget: object, content: Any, _buffers: object) -> None:
        match content:
            case {"do": "ask again"}:
                self._ask_again()

    def _ask_again(self) -> None:
        """Ask about the next that are open now; the programs that were asked for before are taken away."""
        # Their models would stay in the kernel otherwise.
        for view in self.children[1:]:
            view.close()
        waiting = self._list_waiting()
        if not waiting:
            # All had their turn: those that are still open are asked about once more.
            self._asked_names, waiting = [], self._progress.list_open_misconceptions()
        names = waiting[:_AT_ONCE]
        self._asked_names += names
        retests = self._progress.make_retests(names)
        self.children = [self.card, *(retest.live() for retest in retests)]
        self._show_tables(
            ngettext(
                "{number} new program is below.",
                "{number} new programs are below.",
                len(retests),
            )
        )

    def _list_waiting(self) -> list[str]:
        """Return the open misconceptions that were not asked about yet."""
        open_names = self._progress.list_open_misconceptions()
        return [name for name in open_names if name not in self._asked_names]

    def _describe_waiting(self) -> str:
        """Say how many more wait, once some were asked about; empty if none does."""
        count = len(self._list_waiting())
        if not count or not self._asked_names:
            return ""
        return gettext("{number} more: press the button again.", number=count)

    def _follow_note(self) -> None:
        # A closed widget has no comm.
        if self.comm is None:
            return
        self._progress = self._task = self._progress.read_again()
        self._show_tables("")
        self.renew_twin()

    def _show_tables(self, says: str) -> None:
        html = self._progress.tree(live=True).html()
        if self._progress.list_open_misconceptions():
            button = html_element(
                "button",
                escape(self._progress.name_asking_button()),
                type="button",
                data_do="ask again",
                # Keeps the focus when the tables are shown anew.
                data_keep="ask again",
                class_="cl-primary",
            )
            waiting = html_element("span", escape(self._describe_waiting()), class_="cl-way")
            html += html_element("div", button + waiting, style="margin-top: 10px", class_="cl-bar")
        self.card.show(html, says)
