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


class ProgressView(TaskView):
    """The tables, and below them, once asked for, a new program on each misconception that is open.

    They follow the notes: what is solved or settled is shown so at once, wherever it was answered.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
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
        """Ask about what is open now; the programs that were asked for before are taken away."""
        # Their models would stay in the kernel otherwise.
        for view in self.children[1:]:
            view.close()
        retests = self._progress.make_retests()
        self.children = [self.card, *(retest.live() for retest in retests)]
        self._show_tables(
            ngettext(
                "{number} new program is below.",
                "{number} new programs are below.",
                len(retests),
            )
        )

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
            html += html_element("div", button, style="margin-top: 10px")
        self.card.show(html, says)
