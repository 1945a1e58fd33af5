"""An exercise with buttons: check, hint and solution, said below them and to screen readers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

from ..run.engines import notebook_names
from ..ui.exhibit import Exhibit, Panel
from ..ui.markup import block, inline

if TYPE_CHECKING:
    from .exercises import Exercise

_SIGNS = {"right": "✔", "wrong": "✖", "not attempted": "○"}


class ExerciseView(Exhibit, ipywidgets.VBox):
    """The task, three buttons, and what they say. Observe `state`: "not attempted", "wrong" or "right"."""

    state = traitlets.Enum(tuple(_SIGNS), "not attempted", help="What the last check found.")

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._task = Panel(html=f"<p><strong>{inline(exercise.title)}</strong></p>{block(exercise.task)}")
        self._answer = Panel(label="What the check and the hints say")
        buttons = []
        for name, act in (("Check", self._check), ("Hint", self._hint), ("Solution", self._solution)):
            button = ipywidgets.Button(description=name, disabled=name == "Hint" and not exercise.hints)
            button.on_click(act)
            buttons.append(button)
        super().__init__([self._task, ipywidgets.HBox(buttons), self._answer])

    def _check(self, _: object = None) -> None:
        verdict = self._exercise.check(notebook_names())
        self.state = verdict.state
        said = repr(verdict)
        self._say(f"<p><strong>{_SIGNS[verdict.state]}</strong> {escape(said)}</p>", said)

    def _hint(self, _: object = None) -> None:
        hint = self._exercise.hint()
        self._say(hint._repr_html_(), repr(hint))

    def _solution(self, _: object = None) -> None:
        solution = self._exercise.solution()
        self._say(solution._repr_html_(), repr(solution))

    def _say(self, html: str, says: str) -> None:
        self._answer.says = ""  # the same words again are said again
        self._answer.html, self._answer.says = html, says

    @property
    def text(self) -> str:
        """The task in words."""
        return self._exercise.text

    @property
    def html(self) -> str:
        """The task as HTML, the hints folded."""
        return self._exercise.html

    def __repr__(self) -> str:
        return repr(self._exercise)

    def close(self) -> None:
        """Close the view with all that is in it."""
        inside: list[Any] = [self._task, self._answer, *getattr(self, "children", ())]
        for one in [*inside, *(button for box in inside for button in getattr(box, "children", ()))]:
            one.close()
        super().close()
