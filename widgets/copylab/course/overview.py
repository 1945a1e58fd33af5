"""What has been predicted and solved, and what of the course is left.

from copylab import progress
progress()
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from html import escape
from typing import Any

from ..quiz.exercises import Exercise
from ..quiz.prediction import Prediction
from ..quiz.progress import load
from .folder import lessons

_LEFT = "not yet"


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


class Progress:
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
        kinds = [*self._course.values()]
        kinds += ["predictions" for key in self.predictions if key not in self._course]
        kinds += ["exercises" for key in self.exercises if key not in self._course]
        solved = sum(note.get("state") == "right" for note in self.exercises.values())
        return (
            f"{len(self.predictions)} of {kinds.count('predictions')} predictions committed, "
            f"{solved} of {kinds.count('exercises')} exercises solved"
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """(lesson or "", name, how it went): the course in its order, then what is not of it."""
        told = {key: _predicted(note) for key, note in self.predictions.items()}
        told |= {key: _attempted(note) for key, note in self.exercises.items()}
        keys = [*self._course, *sorted(key for key in told if key not in self._course)]
        return [(*_parts(key), told.get(key, _LEFT)) for key in keys]

    @property
    def text(self) -> str:
        """The table in words."""
        rows = self.rows()
        wide = max((len(f"{lesson} {name}") for lesson, name, _ in rows), default=0)
        table = [f"  {f'{lesson} {name}'.strip():{wide}}  {how}" for lesson, name, how in rows]
        return "\n".join([f"Progress: {self.summary}.", *table])

    @property
    def html(self) -> str:
        """The table as HTML."""
        head = "".join(f'<th scope="col">{word}</th>' for word in ("Lesson", "What", "So far"))
        body = "".join(
            f'<tr><td>{escape(lesson)}</td><th scope="row">{escape(name)}</th><td>{_sign(how)}{escape(how)}</td></tr>'
            for lesson, name, how in self.rows()
        )
        caption = f"<caption>{escape(self.summary)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


def _sign(how: str) -> str:
    return "" if how == _LEFT else "✔ " if how.startswith(("solved", "predicted")) else "… "


def _parts(key: str) -> tuple[str, str]:
    lesson, slash, name = key.partition("/")
    return (lesson, name) if slash else ("", key)


def _predicted(note: Mapping[str, Any]) -> str:
    return f"predicted, {note.get('right', '?')} of {note.get('of', '?')} right"


def _attempted(note: Mapping[str, Any]) -> str:
    hints = note.get("hints", 0)
    tail = f", {hints} hint{'' if hints == 1 else 's'}" if hints else ""
    tail += ", solution seen" if note.get("solution") else ""
    return ("solved" if note.get("state") == "right" else "begun, not solved yet") + tail


def progress() -> Progress:
    """Show what has been predicted and solved so far, and what of the course is left, from the progress file.

    Returns a Progress: a table in a notebook, `.text` in words, `.predictions` and `.exercises` as data. A file that
    cannot be understood is set aside, with a warning. Raises nothing.
    """
    return Progress()
