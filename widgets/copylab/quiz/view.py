"""What predictions and exercises have in common, and their live views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import ipywidgets

from tinytorch.viz import gettext

from ..doc import Part, Presentation
from ..ui import Exhibit


class Asked(Presentation):
    """What a learner is asked, shown by its live view. HELP: how to use it; UNTITLED: what stands above it by default.

    key: what it is called in the progress file.
    """

    HELP: ClassVar[str]
    UNTITLED: ClassVar[str]
    key: str | None
    _title: str | None

    @property
    def named(self) -> bool:
        """Whether it has a title of its own."""
        return bool(self._title)

    @property
    def title(self) -> str:
        """What stands above it."""
        return gettext(self._title) if self._title else gettext(self.UNTITLED)

    def help(self) -> None:
        """Say how to use it."""
        print(gettext(self.HELP))

    def live(self) -> View:
        """The widget to answer in, the same one each time."""
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        self.live()._ipython_display_()


class View(Exhibit, ipywidgets.VBox):
    """A live view of something; its twins, and how it prints, are those of the thing itself."""

    children: Any

    def __init__(self, of: Presentation, children: Sequence[Any]) -> None:
        self._of = of
        super().__init__(list(children))

    def tree(self) -> Part:
        """The task."""
        return self._of.tree()

    def __repr__(self) -> str:
        return repr(self._of)
