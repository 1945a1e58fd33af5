"""What the live views of predictions and exercises have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets

from ..doc import Told
from ..ui.exhibit import Exhibit


class View(Exhibit, ipywidgets.VBox):
    """A live view of something; its twins, and how it prints, are those of the thing itself."""

    children: Any

    def __init__(self, of: Told, children: Sequence[Any]) -> None:
        self._of = of
        super().__init__(list(children))

    @property
    def text(self) -> str:
        """The task in words."""
        return self._of.text

    @property
    def html(self) -> str:
        """The task as HTML that needs no script."""
        return self._of.html

    def __repr__(self) -> str:
        return repr(self._of)
