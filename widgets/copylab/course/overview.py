"""What of the course has been answered, what is left, and which misconceptions were met.

from copylab import progress
progress()           # lesson by lesson
progress("clone")    # one lesson, at its end
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from ..doc import (
    Box,
    Cell,
    Paragraph,
    Part,
    Presentation,
    Table,
    html_element,
    inline_html,
    protect_marks,
)
from ..quiz import (
    PROGRESS_FILE,
    Exercise,
    Prediction,
    Retest,
    find_programs,
    find_progress_file,
    follow_notes,
    load_notes,
    misconception,
)
from ..ui import has_kernel, publish_bundle, renew_output
from ..wording import current_language, gettext, gettext_noop, join_phrases, ngettext
from .asking_again import ProgressView
from .lesson import find_cell_naming, find_lesson, find_tasks, lessons_folder, title_of
from .tables import format_table
from .translation import read_translated

_KINDS = ("predictions", "exercises")
_CSV_COLUMNS = ("lesson", "key", "title", "kind", "state", "right", "of", "hints", "solution")


@dataclass(frozen=True)
class Lesson:
    """A lesson: the name of its file, its heading, its predictions and exercises by key."""

    name: str
    title: str
    tasks: Mapping[str, Prediction | Exercise]
    cells: Mapping[str, str]
    """The ids of the cells that show the tasks, by their keys."""

    def address_of(self, key: str) -> str:
        """Return the address of a task's cell, in the folder of the course."""
        return f"{self.name}.ipynb#cell-id={self.cells[key]}"

    def title_of_task(self, key: str) -> str:
        """Return the title of a task; of several without one, each is numbered."""
        task = self.tasks[key]
        if task.has_title:
            return task.title_in_table
        untitled = [key for key, other in self.tasks.items() if not other.has_title]
        if len(untitled) == 1:
            return task.title
        return gettext("Prediction {number}", number=untitled.index(key) + 1)


def load_course() -> list[Lesson]:
    """Return the lessons in their order."""
    language = current_language() or ""
    course = []
    for path in sorted(lessons_folder().glob("*.ipynb")):
        notebook = json.loads(read_translated(path, language))
        tasks, cells = {}, {}
        for name, task in find_tasks(notebook).items():
            if task.key:
                tasks[task.key] = task
                cells[task.key] = find_cell_naming(notebook, name)
        course.append(Lesson(path.stem, title_of(notebook), tasks, cells))
    return course


class DoneCount(NamedTuple):
    """Numbers of tasks of a kind: those done, and all."""

    done: int
    total: int


class Progress(Presentation):
    """What has been answered so far, what is left, and the misconceptions met and settled.

    lesson: `"clone"`, `"02_clone"` or `"02"` shows the tasks of that lesson, by the titles in it;
    None shows the whole course, lesson by lesson. A misconception is settled by two right answers in
    a row to new programs that test it, or by one that opens a later lesson, see `retest`.

    Tables in a notebook, with a button that asks again about what is open, `.text` in words, `.csv`
    for a spreadsheet; `.predictions`, `.exercises` and `.misconceptions` are the notes of the progress
    file as data, by key. A file that cannot be understood is set aside, with a warning.

    Raises ValueError if there is no such lesson.
    """

    def __init__(self, lesson: str | None = None) -> None:
        notes = load_notes()
        self.predictions, self.exercises = notes["predictions"], notes["exercises"]
        self.misconceptions = notes["misconceptions"]
        self.lessons = load_course()
        self._lesson = lesson
        self._shows_one_lesson = lesson is not None
        if lesson is not None:
            name = find_lesson(lesson, [entry.name for entry in self.lessons])
            self.lessons = [entry for entry in self.lessons if entry.name == name]
        # Both are in the order of the course, which is that of rows and tables.
        self._lesson_of_key: dict[str, str] = {}
        self._kind_of_key: dict[str, str] = {}
        for entry in self.lessons:
            for key, task in entry.tasks.items():
                self._lesson_of_key[key] = entry.name
                is_exercise = isinstance(task, Exercise)
                self._kind_of_key[key] = "exercises" if is_exercise else "predictions"
        # One lesson has its own tasks alone: nobody knows to which lesson a teacher's belongs.
        if lesson is None:
            self._add_tasks_outside_course()

    def _add_tasks_outside_course(self) -> None:
        """Add the tasks of a teacher's own, which are known by their notes alone."""
        # Those that were answered: what else a teacher asks is in no file that could be read here.
        outside = [(key, "predictions") for key in self.predictions]
        outside += [(key, "exercises") for key in self.exercises]
        for key, kind in sorted(outside):
            if key not in self._lesson_of_key:
                self._kind_of_key[key] = kind

    def __repr__(self) -> str:
        return f"Progress({self.summary})"

    @property
    def summary(self) -> str:
        """A line that says how many tasks there are, and how many are done."""
        return self._summarize_tasks(self._kind_of_key)

    @property
    def summary_of_course(self) -> str:
        """The same without the tasks of a teacher's own."""
        return self._summarize_tasks(self._lesson_of_key)

    def _summarize_tasks(self, keys: Iterable[str]) -> str:
        predictions = self._count_done("predictions", keys)
        exercises = self._count_done("exercises", keys)
        return gettext(
            "{committed} of {predictions} predictions committed, "
            "{solved} of {exercises} exercises solved",
            committed=predictions.done,
            predictions=predictions.total,
            solved=exercises.done,
            exercises=exercises.total,
        )

    def _count_done(self, kind: str, keys: Iterable[str]) -> DoneCount:
        """Count the tasks of a kind among `keys`.

        A prediction is done when committed, an exercise when solved.
        """
        of_kind = [key for key in keys if self._kind_of_key[key] == kind]
        done = [key for key in of_kind if self._is_done(key)]
        return DoneCount(len(done), len(of_kind))

    def _is_done(self, key: str) -> bool:
        # One that was begun has a note as well, and so has one of which only a hint was asked for.
        is_solved = self.exercises.get(key, {}).get("state") == "right"
        return key in self.predictions or is_solved

    def is_begun(self, lesson: Lesson) -> bool:
        """True if a task of a lesson has been answered, or help was asked for."""
        return any(key in self.predictions or key in self.exercises for key in lesson.tasks)

    def list_open_tasks(self, lesson: Lesson) -> list[str]:
        """Return the keys of the tasks of a lesson that are not done."""
        return [key for key in lesson.tasks if not self._is_done(key)]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the tasks of one lesson with results, or all lessons with counts, and others."""
        if self._shows_one_lesson:
            (lesson,) = self.lessons
            return [(lesson.title_of_task(key), self._describe_result(key)) for key in lesson.tasks]
        rows: list[tuple[str, ...]] = []
        for lesson in self.lessons:
            cells = [lesson.title]
            for kind in _KINDS:
                count = self._count_done(kind, lesson.tasks)
                cells.append(gettext("{done} of {count}", done=count.done, count=count.total))
            rows.append(tuple(cells))
        for key, kind in self._kind_of_key.items():
            if key not in self._lesson_of_key:
                result = self._describe_result(key)
                cells = [result if kind == column else "" for column in _KINDS]
                rows.append((protect_marks(key), *cells))
        return rows

    def _rows_with_links(self) -> list[Sequence[Cell | str]]:
        """Return the rows; in the folder of the course they are links to the tasks and lessons.

        Elsewhere, as on a page of the site, no notebook is beside it.
        """
        rows: list[Sequence[Cell | str]] = list(self.rows())
        # A relative path: the file is in the current folder, and so are the lessons.
        if find_progress_file() != Path(PROGRESS_FILE):
            return rows
        # In the order of the rows, of which those of a teacher have no lesson and no link.
        addresses = [f"{lesson.name}.ipynb" for lesson in self.lessons]
        if self._shows_one_lesson:
            (lesson,) = self.lessons
            addresses = list(map(lesson.address_of, lesson.tasks))
        for index, address in enumerate(addresses):
            title, *cells = self.rows()[index]
            link = html_element("a", inline_html(title), href=address)
            rows[index] = [Cell(title, part=Part(title, link), head=True), *cells]
        return rows

    def _describe_result(self, key: str) -> str:
        if key in self.predictions:
            note = self.predictions[key]
            # `load_notes` checks the types of fields, and not that all are there.
            return gettext(
                "✔ committed: {right} of {count} rows right",
                right=note.get("right", "?"),
                count=note.get("of", "?"),
            )
        return (
            _describe_attempt(self.exercises[key])
            if key in self.exercises
            else gettext("○ not yet")
        )

    @property
    def csv(self) -> str:
        """The notes as a table for a spreadsheet: a line for each task that was answered."""
        notes = {"predictions": self.predictions, "exercises": self.exercises}
        rows = list_note_rows(notes, self._lesson_of_key, list_titles(self.lessons))
        shown = [row for row in rows if row["key"] in self._kind_of_key]
        return format_table(_CSV_COLUMNS, shown)

    def read_again(self) -> Progress:
        """Return the same as it is now."""
        return Progress(self._lesson)

    @property
    def place(self) -> str:
        """What it shows: the name of a lesson, or of the course."""
        return self.lessons[0].name if self._shows_one_lesson else "course"

    def live(self) -> ProgressView:
        """Return the tables with a button that asks again about the open misconceptions."""
        return ProgressView(self)

    def _ipython_display_(self) -> None:
        if self.list_open_misconceptions():
            self.live()._ipython_display_()
            return
        if not has_kernel():
            # IPython then goes on with `_repr_mimebundle_`.
            raise NotImplementedError
        # There is nothing to ask, and no view is needed; what is solved from now on is shown all the same.
        output = uuid4().hex
        publish_bundle(self._repr_mimebundle_(), output)
        follow_notes(
            self.place, lambda: renew_output(self.read_again()._repr_mimebundle_(), output)
        )

    def tree(self, *, live: bool = False) -> Part:
        """Return the tables; `live`: beside a button that asks again, instead of calls that do."""
        head: tuple[str, ...] = (
            gettext("Lesson"),
            gettext("Predictions committed"),
            gettext("Exercises solved"),
        )
        if self._shows_one_lesson:
            head = (gettext("What"), gettext("So far"))
        caption = gettext("Progress: {summary}.", summary=self.summary)
        tasks = Box(Paragraph(caption), _make_table(head, self._rows_with_links()))
        return Box(tasks, self._tabulate_beliefs(live=live), spaced=True)

    def _list_shown_misconceptions(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the names and notes of those that were met, of one lesson those met in it."""
        shown = []
        for name, note in sorted(self.misconceptions.items()):
            # The key of the task where it was met: `clone/...` is of the lesson 02_clone.
            origin = note.get("in", "").partition("/")[0]
            if not self._shows_one_lesson or self.lessons[0].name.partition("_")[2] == origin:
                shown.append((name, note))
        return shown

    def list_open_misconceptions(self) -> list[str]:
        """Return the names of those that are not settled and that a new program can test."""
        open_names = []
        for name, note in self._list_shown_misconceptions():
            with contextlib.suppress(KeyError):
                if note.get("state") != "settled" and find_programs(misconception(name)):
                    open_names.append(name)
        return open_names

    def make_retests(self, names: Sequence[str] | None = None) -> list[Retest]:
        """Return a new program on each open misconception, or on some of them, at the level of where it was met."""
        tasks = dict(chain.from_iterable(lesson.tasks.items() for lesson in load_course()))
        retests = []
        chosen = self.list_open_misconceptions() if names is None else names
        for position, name in enumerate(chosen, 1):
            origin = tasks.get(self.misconceptions[name].get("in", ""))
            level = origin.level if isinstance(origin, Prediction) else "graph"
            retests.append(Retest(name, level=level, position=position))
        return retests

    def name_asking_button(self) -> str:
        """Return the text of the button that asks again."""
        if self._shows_one_lesson:
            return gettext("Ask me again about what I got wrong in this lesson")
        return gettext("Ask me again about what I got wrong")

    def list_beliefs(
        self, *, known_only: bool = False, live: bool = False
    ) -> list[tuple[str, str]]:
        """Return the misconceptions that were met, and their state now, in words.

        known_only: without those of a teacher's own, whose names the progress file alone has.
        live: without the calls that ask again, for which there is a button.
        """
        rows = []
        for name, note in self._list_shown_misconceptions():
            # One of a teacher's own may be known by its name alone.
            belief, state = protect_marks(name), gettext("○ open")
            is_half = note.get("state") == "met" and note.get("right", 0) > 0
            if is_half:
                state = gettext("○ one right, one more program settles it")
            try:
                known = misconception(name)
            except KeyError:
                if known_only:
                    continue
            else:
                belief = gettext(known.belief)
                # Only a known one can be asked again: its programs are in the catalogue, or in a
                # lesson.
                if not live:
                    again = gettext_noop("○ open: `{call}` asks again")
                    if is_half:
                        again = gettext_noop("○ one right, one more program settles it: `{call}`")
                    state = gettext(again, call=f'retest("{name}")')
            if note.get("state") == "settled":
                state = gettext("✔ settled by a new program")
            rows.append((f"“{belief}”", state))
        return rows

    def _tabulate_beliefs(self, *, live: bool) -> Part:
        rows = self.list_beliefs(live=live)
        if not rows:
            return Paragraph(gettext("No misconception has come up so far."))
        caption = gettext("What you believed, and the run refuted:")
        if not live and any(note.get("state") == "met" for note in self.misconceptions.values()):
            caption = gettext(
                "The run refuted what you believed. Run `from copylab import retest` once, then the call on "
                "the right."
            )
        return Box(
            # A panel sets no room between texts and tables.
            Paragraph(caption, style="margin-top: 14px" if live else None),
            _make_table((gettext("Misconception"), gettext("Now")), rows),
        )


def _make_table(head: Sequence[str], rows: Iterable[Sequence[Cell | str]]) -> Table:
    """Return a table of words: JupyterLab sets the cells of others to the right."""
    table = Table(head, rows)
    for cell in chain(table.head, *table.rows):
        cell.attributes["style"] = "text-align: left"
    return table


def list_titles(lessons: Iterable[Lesson]) -> dict[str, str]:
    """Return the titles of all tasks by their keys, for a spreadsheet: without marks of code."""
    titles = {}
    for lesson in lessons:
        for key in lesson.tasks:
            titles[key] = lesson.title_of_task(key).replace("`", "")
    return titles


def list_note_rows(
    notes: Mapping[str, Mapping[str, Any]],
    lesson_of_key: Mapping[str, str],
    title_of_key: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return a row for each task with a note: those of the course in its order, then the others."""
    rows = []
    for kind in _KINDS:
        for key, note in notes[kind].items():
            # Answers, which are lists, are left out, and what copylab did not write.
            row: dict[str, Any] = {field: note.get(field, "") for field in _CSV_COLUMNS}
            row |= {"lesson": lesson_of_key.get(key, ""), "key": key, "kind": kind[:-1]}
            row["title"] = title_of_key.get(key, "")
            if kind == "predictions":
                row["state"] = "committed"
            rows.append(row)
    # A progress file has the tasks in the order in which they were answered.
    order = {key: number for number, key in enumerate(lesson_of_key)}
    return sorted(rows, key=lambda row: (order.get(row["key"], len(order)), row["key"]))


def _describe_attempt(note: Mapping[str, Any]) -> str:
    """Say how far an exercise has got, and which help was asked for."""
    is_solved = note.get("state") == "right"
    parts = [gettext("✔ solved") if is_solved else gettext("… begun, not solved yet")]
    if hints := note.get("hints", 0):
        parts.append(ngettext("{number} hint", "{number} hints", hints))
    if note.get("solution"):
        parts.append(gettext("solution seen"))
    return join_phrases(parts)


progress = Progress
