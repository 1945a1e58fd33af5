"""What has been predicted and solved, what of the course is left, and which misconceptions were met.

from copylab import progress
progress()           # lesson by lesson
progress("clone")    # one lesson, at its end
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tinytorch.viz import gettext, ngettext

from ..doc import Box, Paragraph, Part, Presentation, Table, protect_marks
from ..quiz import MISCONCEPTIONS, Exercise, Prediction, load_notes
from . import lesson as notebooks
from .lesson import lessons, meant
from .translation import text_in

_KINDS = ("predictions", "exercises")


@dataclass(frozen=True)
class Lesson:
    """A lesson: the name of its file, its heading, and what it asks, by key."""

    name: str
    title: str
    asked: Mapping[str, Prediction | Exercise]

    def called(self, key: str) -> str:
        """The title above a question; one without a title of its own is numbered."""
        thing = self.asked[key]
        untitled = [key for key, one in self.asked.items() if not one.has_title]
        return (
            thing.title
            if thing.has_title
            else gettext("Prediction {number}", number=untitled.index(key) + 1)
        )


def course() -> list[Lesson]:
    """Return the lessons in their order."""
    found = []
    for path in sorted(lessons().glob("*.ipynb")):
        notebook = json.loads(text_in(path, os.environ.get("COPYLAB_LANGUAGE", "")))
        asked = {str(one.key): one for one in notebooks.asked(notebook).values() if one.key}
        found.append(Lesson(path.stem, notebooks.title(notebook), asked))
    return found


class Progress(Presentation):
    """What has been predicted and solved so far, what is left, and which misconceptions were met and settled.

    lesson: `"clone"`, `"02_clone"` or `"02"` shows what that lesson asks, by the titles in it; None shows the whole
    course, lesson by lesson. A misconception is settled when a later answer was right where it could have come again.

    Tables in a notebook, `.text` in words, `.csv` for a spreadsheet; `.predictions`, `.exercises` and `.misconceptions`
    are the notes of the progress file as data, by key. A file that cannot be understood is set aside, with a warning.

    Raises ValueError if there is no such lesson.
    """

    def __init__(self, lesson: str | None = None) -> None:
        known = load_notes()
        self.predictions, self.exercises, self.misconceptions = (
            known[kind] for kind in (*_KINDS, "misconceptions")
        )
        self.lessons = course()
        self._one = lesson is not None
        if lesson is not None:
            name = meant(lesson, [one.name for one in self.lessons])
            self.lessons = [one for one in self.lessons if one.name == name]
        self._homes = {key: one.name for one in self.lessons for key in one.asked}
        things = (pair for one in self.lessons for pair in one.asked.items())
        self._kinds = {key: _KINDS[isinstance(thing, Exercise)] for key, thing in things}
        if lesson is None:  # what is noted of questions that are not of the course
            self._kinds |= sorted(
                (key, kind) for kind in _KINDS for key in known[kind].keys() - self._homes
            )

    def __repr__(self) -> str:
        return f"Progress({self.summary})"

    @property
    def summary(self) -> str:
        """How much there is, and how much is done."""
        committed, predictions = self._counted("predictions", self._kinds)
        solved, exercises = self._counted("exercises", self._kinds)
        return gettext(
            "{committed} of {predictions} predictions committed, {solved} of {exercises} exercises solved",
            committed=committed,
            predictions=predictions,
            solved=solved,
            exercises=exercises,
        )

    def _counted(self, kind: str, keys: Iterable[str]) -> tuple[int, int]:
        """How many of a kind are done, and how many there are."""
        done = self.predictions.keys() | {
            key for key, note in self.exercises.items() if note.get("state") == "right"
        }
        of_kind = [key for key in keys if self._kinds[key] == kind]
        return len(done.intersection(of_kind)), len(of_kind)

    def rows(self) -> list[tuple[str, ...]]:
        """What one lesson asks, and how it went; or the lessons with what is done, then what is not of the course."""
        if self._one:
            return [(one.called(key), self._told(key)) for one in self.lessons for key in one.asked]
        found: list[tuple[str, ...]] = []
        for one in self.lessons:
            counts = (self._counted(kind, one.asked) for kind in _KINDS)
            found.append(
                (
                    one.title,
                    *(
                        gettext("{done} of {count}", done=done, count=count)
                        for done, count in counts
                    ),
                )
            )
        for key, kind in self._kinds.items():
            if key not in self._homes:
                found.append(
                    (
                        protect_marks(key),
                        *(self._told(key) if kind == one else "" for one in _KINDS),
                    )
                )
        return found

    def _told(self, key: str) -> str:
        if key in self.predictions:
            note = self.predictions[key]
            return gettext(
                "✔ {right} of {count} rows right",
                right=note.get("right", "?"),
                count=note.get("of", "?"),
            )
        return _attempted(self.exercises[key]) if key in self.exercises else gettext("○ not yet")

    @property
    def csv(self) -> str:
        """The notes as a table for a spreadsheet or a learning platform: a line for each question that was answered."""
        columns = ("lesson", "key", "kind", "state", "right", "of", "hints", "solution")
        text = io.StringIO()
        table = csv.DictWriter(
            text, columns, restval="", extrasaction="ignore", lineterminator="\n"
        )
        table.writeheader()
        for key, kind in self._kinds.items():
            note = {"predictions": self.predictions, "exercises": self.exercises}[kind].get(key)
            if note is not None:
                state = {"state": "committed"} if kind == "predictions" else {}
                table.writerow(
                    {
                        **note,
                        **state,
                        "lesson": self._homes.get(key, ""),
                        "key": key,
                        "kind": kind[:-1],
                    }
                )
        return text.getvalue()

    def tree(self) -> Part:
        """The tables."""
        course = (gettext("Lesson"), gettext("Predictions committed"), gettext("Exercises solved"))
        head = (gettext("What"), gettext("So far")) if self._one else course
        caption = gettext("Progress: {summary}.", summary=self.summary)
        return Box(Box(Paragraph(caption), Table(head, self.rows())), self._beliefs(), apart=True)

    def _beliefs(self) -> Part:
        """The misconceptions that were met, in these lessons or anywhere, and whether they came again."""
        keys = self._kinds if self._one else None
        met = {
            name: it
            for name, it in self.misconceptions.items()
            if keys is None or it.get("in") in keys
        }
        if not met:
            return Paragraph(gettext("No misconception was met so far."))
        # One of a teacher's own is known by its name alone.
        said = {
            name: gettext(MISCONCEPTIONS[name].says)
            if name in MISCONCEPTIONS
            else protect_marks(name)
            for name in met
        }
        states = {
            "met": gettext("○ not settled yet"),
            "settled": gettext("✔ settled: a later answer avoided it"),
        }
        rows = [
            (f"“{said[name]}”", states.get(it.get("state", ""), "?"))
            for name, it in sorted(met.items())
        ]
        caption = gettext("What you believed, and the run refuted:")
        return Box(Paragraph(caption), Table((gettext("Misconception"), gettext("Now")), rows))


def _attempted(note: Mapping[str, Any]) -> str:
    how = [
        gettext("✔ solved") if note.get("state") == "right" else gettext("… begun, not solved yet")
    ]
    if hints := note.get("hints", 0):
        how.append(ngettext("{number} hint", "{number} hints", hints))
    if note.get("solution"):
        how.append(gettext("solution seen"))
    return ", ".join(how)


progress = Progress
