"""What predictions and exercises have in common, and their live views."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar
from uuid import uuid4

import ipywidgets

from ..doc import Part, Presentation, html_element, inline_html
from ..ui import Exhibit
from ..wording import gettext
from .answers import translate_choice
from .question import Question


class Task(Presentation):
    """Something that a learner is asked to do, shown by its live view.

    HELP: how to use it; UNTITLED: the title of one that has none of its own.
    key: its name in the progress file; None if nothing is stored.
    """

    HELP: ClassVar[str]
    UNTITLED: ClassVar[str]
    key: str | None
    _title: str | None

    @property
    def has_title(self) -> bool:
        """True if it has a title of its own."""
        return bool(self._title)

    @property
    def title(self) -> str:
        """The line above it."""
        return gettext(self._title) if self._title else gettext(self.UNTITLED)

    @property
    def title_in_table(self) -> str:
        """The title by which it is known where the task itself is not in sight."""
        return self.title

    def help(self) -> None:
        """Say how to use it."""
        print(gettext(self.HELP))

    def live(self) -> TaskView:
        """Return the widget to answer in, the same one each time."""
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        self.live()._ipython_display_()


class TaskView(Exhibit, ipywidgets.VBox):
    """A live view of a task; its static form, and how it prints, are those of the task itself."""

    children: Any

    def __init__(self, task: Presentation, children: Sequence[Any]) -> None:
        self._task = task
        # By this id the output of the cell is renewed, see `renew_twin`.
        self.twin_id = uuid4().hex
        super().__init__(list(children))

    def tree(self) -> Part:
        """Return the parts of the task."""
        return self._task.tree()

    def __repr__(self) -> str:
        return repr(self._task)


def render_field(question: Question, field_id: str) -> tuple[str, str]:
    """Return the HTML of a label and its field: a menu for choices, else room for a text."""
    label = html_element("label", inline_html(question.text), for_=field_id)
    if question.bound_choices:
        choices = html_element("option", escape(gettext("choose …")), value="")
        for choice in question.bound_choices:
            shown = translate_choice(choice)
            # The value is English in all languages: it is what the progress file stores and a run
            # answers. Without one it is the text, with single spaces.
            value = None if shown == " ".join(choice.split()) else choice
            choices += html_element("option", escape(shown), value=value)
        field = html_element("select", choices, id=field_id, name=question.name)
    else:
        hint_id = f"{field_id}-hint"
        field = html_element(
            "input",
            type="text",
            id=field_id,
            name=question.name,
            aria_describedby=hint_id,
            maxlength=2000,
            # A browser offers what was written into a field of that name before: on a shared
            # computer, the answers of somebody else.
            autocomplete="off",
            spellcheck="false",
        )
        field += html_element(
            "span", inline_html(question.answer_format), class_="cl-hint", id=hint_id
        )
    return label, html_element("div", field, class_="cl-answer")
