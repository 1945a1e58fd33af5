"""The work of a class in two tables: who is how far, and what each has answered.

    FOLDER/submitted/NAME/...    what a learner handed in: notebooks, the progress file
    FOLDER/grades.csv            a line for each learner
    FOLDER/answers.csv           a line for each learner and task

An answer to a question of the exam is read as a text and judged by running the program of the key.
An answer to an exercise, of a lesson or of the exam, is run apart, see `judging.py`. What the progress file says is
what the learner's own copylab wrote, or somebody else: the table calls its rows so.
"""

from __future__ import annotations

import os
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from ..quiz import PROGRESS_FILE, ExamQuestion, Rewrite, is_blank
from ..safe_files import SafeFolder
from ..wording import current_language, gettext, join_list, ngettext, set_language
from .exam import Key, KeyTask, normalize_name, read_key, write_program
from .judging import Judgement, judge_answers
from .overview import list_note_rows, list_titles, load_course
from .reading import (
    MAX_ANSWER,
    SUBMITTED,
    Submission,
    list_course,
    read_submission,
)
from .tables import encode_table

_GRADE_COLUMNS = (
    "learner",
    "exam_right",
    "exam_of",
    "exercises_right",
    "exercises_of",
    "predictions_committed",
    "by_hand",
    "remarks",
)
_ANSWER_COLUMNS = (
    "learner",
    "from",
    "lesson",
    "key",
    "title",
    "kind",
    "state",
    "right",
    "of",
    "hints",
    "solution",
    "answer",
    "expected",
    "belief",
    "says",
)
_BY_HAND = ("by hand", "unclear")


def grade_class(
    folder: Path, tell_progress: Callable[[int, int], None] = lambda _done, _of: None
) -> tuple[list[Path], list[str]]:
    """Write both tables for all that was handed in; return their paths, and remarks.

    tell_progress: is called with how many steps are done, of how many: two for each learner, one
        for the programs and one for the questions.

    The language is that of the exam, if there is one. Raises ValueError if nothing was handed in or
    the key is of another copylab, OSError if the folder cannot be read or written.
    """
    target = SafeFolder(folder)
    places = target.list_folders(SUBMITTED) if target.has(SUBMITTED) else []
    # Not a learner: what Jupyter and macOS put beside the folders of learners.
    places = [place for place in places if not place.startswith((".", "__"))]
    if not places:
        message = gettext(
            "Nothing was handed in: {folder} should have a folder for each learner.",
            folder=f"{folder / SUBMITTED}",
        )
        raise ValueError(message)
    key = read_key(target)
    if key is not None and key.language != (current_language() or "en"):
        # Answers are read by the words of the language in which they were asked for.
        set_language(key.language)
    # What Python warns of in a learner's program is no concern of the teacher's.
    with warnings.catch_warnings(action="ignore"):
        submissions = _read_submissions(target, places, [] if key is None else [*key.tasks])
        rows = _judge_all(submissions, key, tell_progress)
    _write_tables(target, submissions, rows)
    loose = target.list_files(SUBMITTED)
    return [folder / "grades.csv", folder / "answers.csv"], _summarize_class(
        submissions, rows, loose
    )


# -- learners -----------------------------------------------------------------------


def _read_submissions(
    target: SafeFolder, places: Sequence[str], names: Sequence[str]
) -> list[Submission]:
    """Return what was handed in, and an empty submission for each name that handed in nothing."""
    course = list_course()
    places_of: dict[str, list[str]] = {}
    for place in places:
        places_of.setdefault(_find_learner(place, names), []).append(place)
    submissions = [
        read_submission(target, own, learner, course) for learner, own in places_of.items()
    ]
    missing = [name for name in names if name and name not in places_of]
    submissions += [
        Submission(name, remarks=[gettext("nothing was handed in")]) for name in missing
    ]
    return sorted(submissions, key=lambda submission: submission.learner)


def _find_learner(place: str, names: Iterable[str]) -> str:
    """Return whose folder it is: a name of the key, or the folder's own where it is none of them.

    macOS takes letters apart, and Moodle writes `NAME_123_assignsubmission_file_`.
    """
    candidates = {normalize_name(place)}
    if found := re.match(r"(.+?)_\d+_assignsubmission_", place):
        candidates.add(normalize_name(found[1]))
    for name in names:
        if name and normalize_name(name) in candidates:
            return name
    return unicodedata.normalize("NFC", place)


# -- judging ------------------------------------------------------------------------


def _judge_all(
    submissions: Sequence[Submission],
    key: Key | None,
    tell_progress: Callable[[int, int], None],
) -> list[dict[str, Any]]:
    """Return the rows of the table of answers, learner by learner."""
    course = load_course()
    lesson_of_key: dict[str, str] = {}
    for each in course:
        lesson_of_key |= dict.fromkeys(each.tasks, each.name)
    titles = list_titles(course)
    asked = _list_asked(submissions)
    # Threads are enough: each answer is run in a process of its own, and a thread waits for that.
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        tasks = [_list_tasks(submission, key) for submission in submissions]
        # Here, and not in the threads: an exercise of an exam is drawn by running its program.
        programs = list(map(_list_programs, submissions, tasks))
        # All of them before the questions: those run programs here, and threads read others.
        verdicts = []
        for verdict in pool.map(judge_answers, programs):
            verdicts.append(verdict)
            tell_progress(len(verdicts), 2 * len(submissions))
    rows: list[dict[str, Any]] = []
    judgements = zip(submissions, tasks, verdicts, strict=True)
    for position, (submission, own, judged) in enumerate(judgements, 1):
        notes = list_note_rows(submission.notes, lesson_of_key, titles)
        mine = [
            *_judge_exam(submission, key, own, judged),
            *(_judge_lesson_task(submission, *task, judged) for task in asked),
            *(row | {"from": PROGRESS_FILE} for row in notes),
        ]
        more = {"learner": submission.learner}
        rows += [row | more | {"title": titles.get(row["key"], "")} for row in mine]
        tell_progress(len(submissions) + position, 2 * len(submissions))
    return rows


def _list_asked(submissions: Iterable[Submission]) -> list[tuple[str, str]]:
    """Return lesson and key of the exercises of each lesson that somebody handed in.

    They are asked of everybody: so who handed in no answer to one has a row that says "missing", and
    not none.
    """
    course = list_course()
    cells = chain.from_iterable(submission.cells for submission in submissions)
    asked: list[tuple[str, str]] = []
    for lesson in sorted({lesson for lesson, _ in cells}):
        asked += [(lesson, task.key) for task in course[lesson].exercises]
    return asked


def _list_tasks(submission: Submission, key: Key | None) -> Sequence[KeyTask]:
    """Return the questions and exercises of the learner's own exam, or else of the one for all."""
    return [] if key is None else key.tasks.get(submission.learner, key.tasks.get("", []))


def _list_programs(submission: Submission, tasks: Sequence[KeyTask]) -> list[tuple[str, str]]:
    """Return all programs of a learner that answer an exercise: its key, and the source."""
    answers: list[tuple[str, str]] = []
    for (_, key), found in submission.cells.items():
        answers += [(key, source) for source in found]
    for number, task in enumerate(tasks, 1):
        sources = submission.programs.get(number)
        if sources and isinstance(task.drawn_task, Rewrite):
            answers += [(task.drawn_task.key, source) for source in sources]
    return answers


_BEST_FIRST = ("right", "by hand", "wrong", "not attempted")


def _judge_lesson_task(
    submission: Submission,
    lesson: str,
    key: str,
    verdicts: Mapping[tuple[str, str], Judgement],
) -> dict[str, Any]:
    """Return the row of an exercise of a lesson."""
    sources = submission.cells.get((lesson, key), [])
    row = _make_row(f"{lesson}.ipynb" if sources else "", lesson, key, "exercise", "missing")
    return _make_exercise_row(row, key, sources, verdicts)


def _make_exercise_row(
    row: dict[str, Any],
    key: str,
    sources: Sequence[str],
    verdicts: Mapping[tuple[str, str], Judgement],
) -> dict[str, Any]:
    """Return the row of an exercise, judged: of several programs, by the best."""
    if not sources:
        return row
    # A notebook may have been handed in twice, or a cell copied to try something.
    source = min(sources, key=lambda source: _BEST_FIRST.index(verdicts[key, source].state))
    state, says = verdicts[key, source]
    judged = {"state": state, "right": int(state == "right")}
    return row | judged | {"answer": source[:MAX_ANSWER], "says": says[:MAX_ANSWER]}


def _judge_exam(
    submission: Submission,
    key: Key | None,
    tasks: Sequence[KeyTask],
    verdicts: Mapping[tuple[str, str], Judgement],
) -> Iterator[dict[str, Any]]:
    """Yield a row for each question and exercise of the learner's exam."""
    if key is None:
        return
    if not tasks:
        submission.remarks.append(gettext("no exam was written for this name"))
    elif not (submission.exam_text or submission.exam or submission.programs or submission.remarks):
        submission.remarks.append(gettext("no exam was handed in"))
    other = _find_other_exam(submission, tasks, key)
    if other:
        submission.remarks.append(gettext("this is the exam of {learner}", learner=other))
    for number, task in enumerate(tasks, 1):
        if task.kind == "exercise":
            yield _judge_exam_exercise(number, task, submission.programs.get(number), verdicts)
            continue
        answers = submission.exam.get(number, [])
        state, misconception_name, says = _judge_exam_answers(task, answers)
        # An answer that is right here by chance shows nothing: another program was asked about.
        if other and answers:
            says = gettext("It answers a question of the exam of {learner}.", learner=other)
            state, misconception_name = "unclear", ""
        row = _make_row("exam.ipynb", "", f"exam/{number}", "question", state)
        written = {"answer": " | ".join(map(str, answers))[:MAX_ANSWER], "says": says}
        yield (
            row
            | written
            | {"expected": _find_expected(task, answers), "belief": misconception_name}
        )


def _judge_exam_exercise(
    number: int,
    task: KeyTask,
    sources: Sequence[str] | None,
    verdicts: Mapping[tuple[str, str], Judgement],
) -> dict[str, Any]:
    """Return the row of an exercise of the exam."""
    row = _make_row("exam.ipynb", "", f"exam/{number}", "exercise", "missing")
    row["expected"] = _find_expected(task, sources or ())
    if not sources or not isinstance(task.drawn_task, Rewrite):
        return row
    return _make_exercise_row(row, task.drawn_task.key, sources, verdicts)


def _find_expected(task: KeyTask, answers: Sequence[str | bool]) -> str:
    """Return the right answer: as the key has it, where nothing was answered that it could judge."""
    return task.noted_answer if all(map(is_blank, answers)) else task.drawn_task.right_answer


def _judge_exam_answers(task: KeyTask, answers: Sequence[str | bool]) -> tuple[str, str, str]:
    """Return the state of a question, the misconception that it shows, and what is to be said."""
    if len(answers) > 1:
        return "unclear", "", gettext("It is answered more than once.")
    if all(map(is_blank, answers)):
        return "empty", "", ""
    try:
        assert isinstance(task.drawn_task, ExamQuestion)
        return *task.drawn_task.judge_answer(answers[0]), ""
    # Whatever was written, the others are judged.
    except Exception as error:  # noqa: BLE001
        return "unclear", "", type(error).__name__


def _find_other_exam(submission: Submission, mine: Sequence[KeyTask], key: Key) -> str:
    """Return whose exam was handed in, if it has another's programs and fewer of the learner's own."""

    def count_programs(tasks: Sequence[KeyTask]) -> int:
        return sum(write_program(task) in submission.exam_text for task in tasks)

    own = count_programs(mine)
    if not submission.exam_text or own == len(mine):
        return ""
    counts = {name: count_programs(tasks) for name, tasks in key.tasks.items()}
    # Fewer of one's own is not enough: questions may have been deleted.
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > own else ""


def _make_row(file: str, lesson: str, key: str, kind: str, state: str) -> dict[str, Any]:
    right = int(state == "right")
    return {
        "from": file,
        "lesson": lesson,
        "key": key,
        "kind": kind,
        "state": state,
        "right": right,
        "of": 1,
    }


# -- writing ------------------------------------------------------------------------


def _write_tables(
    target: SafeFolder, submissions: Iterable[Submission], rows: Sequence[Mapping[str, Any]]
) -> None:
    grades = []
    for submission in submissions:
        mine = [row for row in rows if row["learner"] == submission.learner]
        questions = [row for row in mine if row["kind"] == "question"]
        judged = [row for row in mine if row["from"] != PROGRESS_FILE]
        exercises = [row for row in judged if row["kind"] == "exercise"]
        grade = {
            "learner": submission.learner,
            "exam_right": sum(row["right"] for row in questions),
            "exam_of": len(questions),
            "exercises_right": sum(row["right"] for row in exercises),
            "exercises_of": len(exercises),
            "predictions_committed": sum(row["kind"] == "prediction" for row in mine),
            # The number that says whether the table is final.
            "by_hand": sum(row["state"] in _BY_HAND for row in questions + exercises),
            "remarks": "; ".join(submission.remarks),
        }
        grades.append(grade)
    target.write("grades.csv", encode_table(_GRADE_COLUMNS, grades))
    target.write("answers.csv", encode_table(_ANSWER_COLUMNS, rows))


def _summarize_class(
    submissions: Sequence[Submission], rows: Sequence[Mapping[str, Any]], loose: Sequence[str]
) -> list[str]:
    """Return what a teacher wants to know first: how many, and which beliefs the class has."""
    remarks = [gettext("Learners: {number}.", number=len(submissions))]
    if loose:
        remarks.append(
            ngettext(
                "{number} file is in `submitted` itself, and was not read: put it into the folder of a "
                "learner.",
                "{number} files are in `submitted` itself, and were not read: put each into the folder "
                "of a learner.",
                len(loose),
            )
        )
    beliefs = Counter(row["belief"] for row in rows if row.get("belief"))
    if beliefs:
        common = join_list(f"{gettext(name)} ({count})" for name, count in beliefs.most_common(3))
        remarks.append(gettext("Most common misconceptions: {beliefs}.", beliefs=common))
    waiting = sum(row["state"] in _BY_HAND for row in rows if row["from"] != PROGRESS_FILE)
    if waiting:
        remarks.append(
            gettext(
                "Answers that somebody has to look at: {number}. In answers.csv their state is "
                "“by hand” or “unclear”.",
                number=waiting,
            )
        )
    return remarks
