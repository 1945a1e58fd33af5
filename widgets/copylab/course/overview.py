"""What has been predicted and solved, and what of the course is left.

from copylab import progress
progress()
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from tinytorch.viz.catalogue import gettext, ngettext

from ..doc import Cell, Part, Table, Told
from ..quiz.exercises import Exercise
from ..quiz.prediction import Prediction
from ..quiz.progress import load
from .folder import lessons


def course() -> dict[str, str]:
    """Every key of the course with its kind, "predictions" or "exercises", in the order of the lessons."""
    package = importlib.import_module("copylab.lessons")
    order = [path.stem.partition("_")[2] for path in sorted(lessons().glob("*.ipynb"))]
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    names.sort(key=lambda name: order.index(name) if name in order else len(order))
    found = {}
    for name in names:
        for thing in vars(importlib.import_module(f"copylab.lessons.{name}")).values():
            if isinstance(thing, Prediction | Exercise) and thing.key:
                found[thing.key] = "predictions" if isinstance(thing, Prediction) else "exercises"
    return found


class Progress(Told):
    """What is noted, as a table: `.predictions` and `.exercises` by key, `.text`, and HTML in a notebook."""

    def __init__(self) -> None:
        known = load()
        self.predictions: dict[str, dict[str, Any]] = known["predictions"]
        self.exercises: dict[str, dict[str, Any]] = known["exercises"]
        self._course = course()

    def __repr__(self) -> str:
        return f"Progress({self.summary})"

    @property
    def summary(self) -> str:
        """How much there is, and how much is done."""
        predictions = self.predictions.keys() | {key for key, kind in self._course.items() if kind == "predictions"}
        exercises = self.exercises.keys() | {key for key, kind in self._course.items() if kind == "exercises"}
        return gettext(
            "{committed} of {predictions} predictions committed, {solved} of {exercises} exercises solved",
            committed=len(self.predictions),
            predictions=len(predictions),
            solved=sum(note.get("state") == "right" for note in self.exercises.values()),
            exercises=len(exercises),
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """(lesson or "", name, how it went): the course in its order, then what is not of it."""
        told = {key: _predicted(note) for key, note in self.predictions.items()}
        told |= {key: _attempted(note) for key, note in self.exercises.items()}
        keys = [*self._course, *sorted(key for key in told if key not in self._course)]
        parts = [key.partition("/") if "/" in key else ("", "", key) for key in keys]
        return [
            (lesson, name, told.get(key, gettext("not yet")))
            for key, (lesson, _, name) in zip(keys, parts, strict=True)
        ]

    def tree(self) -> Part:
        """The table."""
        rows = ((Cell(lesson), Cell(name, head=True), how) for lesson, name, how in self.rows())
        caption = gettext("Progress: {summary}.", summary=self.summary)
        return Table((gettext("Lesson"), gettext("What"), gettext("So far")), rows, caption=caption)


def _predicted(note: Mapping[str, Any]) -> str:
    return gettext("✔ predicted, {right} of {count} right", right=note.get("right", "?"), count=note.get("of", "?"))


def _attempted(note: Mapping[str, Any]) -> str:
    how = [gettext("✔ solved") if note.get("state") == "right" else gettext("… begun, not solved yet")]
    if hints := note.get("hints", 0):
        how.append(ngettext("{number} hint", "{number} hints", hints))
    if note.get("solution"):
        how.append(gettext("solution seen"))
    return ", ".join(how)


def progress() -> Progress:
    """Show what has been predicted and solved so far, and what of the course is left, from the progress file.

    Returns a Progress: a table in a notebook, `.text` in words, `.predictions` and `.exercises` as data. A file that
    cannot be understood is set aside, with a warning. Raises nothing.
    """
    return Progress()
