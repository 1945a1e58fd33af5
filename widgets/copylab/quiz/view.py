"""What predictions and exercises have in common, and their live views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import uuid4

import ipywidgets

from ..doc import Part, Presentation
from ..ui import Exhibit
from ..wording import gettext


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
        self.twin_id = uuid4().hex
        super().__init__(list(children))

    def tree(self) -> Part:
        """Return the parts of the task."""
        return self._task.tree()

    def __repr__(self) -> str:
        return repr(self._task)
