"""The front page of a laid-out course: where the learner is, what is open, and three doors.

A page of Markdown, which needs no kernel. It is renewed from the progress file whenever the course
is laid out or opened. Where solutions are hidden it does not link them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

from ..course_folder import hides_solutions
from ..safe_files import SafeFolder
from ..wording import gettext
from .overview import Lesson, Progress
from .translation import digest_of_text

FRONT_PAGE = "START_HERE.md"

_MARK = re.compile(r"\n<!-- copylab ([0-9a-f]+) -->\n\Z")
"""Ends the page, with the digest of all above it: one that somebody has changed is not renewed."""


def renew_front_page(folder: Path) -> None:
    """Write the front page of a laid-out course anew, unless the learner has changed it.

    What may not be written or read is left as it is: the lessons open without this page, too.
    """
    course = SafeFolder(folder)
    # In the folder: `Progress()` reads the progress file of the current one.
    with contextlib.suppress(OSError, ValueError), contextlib.chdir(folder):
        if course.has(FRONT_PAGE):
            page_before = course.read(FRONT_PAGE).decode()
            if not _is_untouched(page_before):
                return
        page = render_front_page(Progress())
        course.write(FRONT_PAGE, f"{page}\n<!-- copylab {digest_of_text(page)} -->\n".encode())


def _is_untouched(page: str) -> bool:
    mark = _MARK.search(page)
    # No mark: the learner has taken it away with the rest, or wrote the page.
    return mark is not None and digest_of_text(page[: mark.start()]) == mark[1]


def render_front_page(course: Progress) -> str:
    """Return the page as Markdown: nothing of the progress file is in it but numbers."""
    parts = [
        "# " + gettext("Copying tensors: where you are"),
        _describe_next_task(course.lessons, course),
        gettext(
            "This page shows where you were when `copylab` was last started. To see how far "
            "you are now, run `from copylab import progress; progress()` in any cell."
        ),
        "## " + gettext("Three doors"),
        _list_doors(course),
        "## " + gettext("How far you are"),
        gettext("Progress: {summary}.", summary=course.summary_of_course),
        _tabulate_lessons(course),
        *_describe_beliefs(course),
        "## " + gettext("When you come back"),
        gettext(
            "Your answers are kept in `copylab-progress.json`, and a table that you committed shows "
            "them again when its cell is run. When you reopen a notebook, no cell has been run "
            "yet: click the cell where you want to go on, and choose "
            "*Run > Run All Above Selected Cell*."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _describe_next_task(lessons: Sequence[Lesson], course: Progress) -> str:
    """Say where to go on: at the first open task of the last lesson that was begun."""
    if not any(course.is_begun(lesson) for lesson in lessons):
        return gettext(
            "You have not begun. The first lesson begins with a bet, and takes about 30 minutes: {link}",
            link=_link_lesson(lessons[0]),
        )
    begun = [lesson for lesson in lessons if course.is_begun(lesson)]
    # Where that lesson is done, at what was passed over before it, or else at the next lesson.
    for lesson in (begun[-1], *lessons):
        for key in course.list_open_tasks(lesson):
            return gettext(
                "Go on here: {task}, in {lesson}.",
                task=_link_task(lesson, key),
                lesson=_link_lesson(lesson),
            )
    return gettext(
        "Everything is done. The clinic takes your own programs as well: {link}",
        link=_link_lesson(lessons[-1]),
    )


def _list_doors(course: Progress) -> str:
    """Return the three doors: to learn, to find a bug, to teach."""
    doors = [
        gettext(
            "**Learn.** Begin with {first}; each lesson builds on those before it. [All "
            "lessons](README.md), [glossary](glossary.md), [cheat sheet](cheat_sheet.html).",
            first=_link_lesson(course.lessons[0]),
        ),
        gettext(
            "**Find a bug.** Go to {clinic}: put your program into its first cells, or look "
            "for the symptom in its table. In a terminal, `copylab watch train.py` names the "
            "lines that spoil a gradient.",
            clinic=_link_lesson(course.lessons[-1]),
        ),
        gettext(
            "**Teach.** `copylab exam FOLDER` writes an exam with its key, `copylab grade FOLDER` makes "
            "one table of what a class handed in, and `copylab nbgrader FOLDER` writes the lessons "
            "as assignments."
        ),
    ]
    if not hides_solutions():
        doors[-1] = gettext(
            "**Teach.** `copylab exam FOLDER` writes an exam with its key, `copylab grade FOLDER` makes "
            "one table of what a class handed in, and `copylab nbgrader FOLDER` writes the lessons "
            "as assignments. Here are the [solutions](solutions/README.md)."
        )
    return "\n".join(f"- {door}" for door in doors)


def _tabulate_lessons(course: Progress) -> str:
    """Return a table of the lessons: what is done, and links to what is open."""
    head = [gettext("Lesson"), gettext("Predictions committed"), gettext("Exercises solved")]
    rows = []
    # Behind the rows of the lessons are those of tasks of a teacher's own.
    for lesson, (_, *counts) in zip(course.lessons, course.rows(), strict=False):
        links = [_link_task(lesson, key) for key in course.list_open_tasks(lesson)]
        # Titles have commas of their own.
        open_tasks = " · ".join(links) or gettext("nothing")
        # Not each task of a lesson that is still ahead: the table would be a page long.
        if links and not course.is_begun(lesson):
            open_tasks = gettext("all of it")
        rows.append([_link_lesson(lesson), *counts, open_tasks])
    return _format_table([*head, gettext("Still to do")], rows)


def _describe_beliefs(course: Progress) -> list[str]:
    """Return a heading and a table of the misconceptions that were met; nothing if none were."""
    beliefs = course.list_beliefs(known_only=True)
    if not beliefs:
        return []
    table = _format_table([gettext("Misconception"), gettext("Now")], beliefs)
    hint = gettext("Before `retest`, run `from copylab import retest` in a cell.")
    return ["## " + gettext("What you believed, and the run refuted"), table, hint]


def _format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = []
    for row in [head, ["---"] * len(head), *rows]:
        # Titles and beliefs may have a bar, which would begin another column.
        cells = [cell.replace("|", r"\|") for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _link_lesson(lesson: Lesson) -> str:
    return f"[{lesson.name[:2]} {lesson.title}]({lesson.name}.ipynb)"


def _link_task(lesson: Lesson, key: str) -> str:
    return f"[{lesson.title_of_task(key)}]({lesson.address_of(key)})"
