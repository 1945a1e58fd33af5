"""Writing an exam: a notebook for each learner, and the key as a table.

    FOLDER/exam/NAME/exam.ipynb    to hand out; without names FOLDER/exam/exam.ipynb
    FOLDER/exam_key.csv            for the teacher; `submissions.py` reads it, too

A question is a program as a text, and a cell for the answer. Nothing of copylab is asked of the
notebook, and no answer to a question is ever run. An exercise is a program in a cell, to be changed.
"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import tinytorch

from ..doc import Code
from ..quiz import (
    MISCONCEPTIONS,
    ExamQuestion,
    Misconception,
    Prediction,
    Rewrite,
    choose_misconceptions,
    choose_rewritable,
    draw_exam,
    draw_exercises,
    draw_question,
    draw_rewrite,
    find_misconceptions,
    misconception,
    write_question,
    write_rewrite,
)
from ..safe_files import SafeFolder, read_file
from ..wording import current_language, gettext
from .lesson import find_lesson, find_tasks, lessons_folder, read_notebook
from .plain_answers import list_exercises
from .tables import decode_table, encode_table

KEY_FILE = "exam_key.csv"
_KEY_COLUMNS = (
    "learner",
    "number",
    "kind",
    "belief",
    "program",
    "question",
    "answer",
    "drawn",
    "language",
)
_LIMIT = 10_000
"""Names of learners that are taken from one file."""
_MAX_NAME = 200
"""Bytes of a name: a file system has room for 255."""


class Key(NamedTuple):
    """The key of an exam: its language, and by learner the questions and exercises in their order.

    An exam for nobody in particular has one learner, "".
    """

    language: str
    tasks: dict[str, list[KeyTask]]


@dataclass(frozen=True)
class KeyTask:
    """A question or an exercise of the key.

    code: its program, as its seed draws it. noted_answer: the right answer as the key has it, found
        by running when the exam was written.
    """

    kind: str
    misconception: Misconception
    seed: int
    code: str
    noted_answer: str

    @cached_property
    def drawn_task(self) -> ExamQuestion | Rewrite:
        """The task itself, drawn again from its seed: only so the right answer is found by running.

        Of a class of 200 that takes minutes: it is asked for where something was answered.
        """
        return _KINDS[self.kind].draw(self.misconception, tinytorch, self.seed)


def write_exam(
    folder: Path,
    chosen: Sequence[str] = (),
    *,
    learners: Sequence[str] = (),
    seed: int = 0,
    count: int = 12,
    exercises: int = 0,
    tell_progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> list[Path]:
    """Write the exam that a seed draws, in the language in use, and return the paths of its files.

    chosen: lessons whose misconceptions are asked for; by default those of the whole catalogue.
    learners: a notebook is written for each, with programs of its own. count: of questions.
    exercises: how many programs of which a line is to be rewritten.
    tell_progress: is called with how many learners have their exam, and of how many.

    Raises ValueError if an exam is there already, for a lesson that does not exist or shows no
    belief, and for a name that no folder can have; OSError if the folder cannot be written.
    """
    if count < 0 or exercises < 0 or count + exercises < 1:
        raise ValueError(gettext("An exam has at least one question."))
    target = SafeFolder(folder)
    target.make()
    # Its answers may have been handed in already, and without their key nobody could grade them.
    if target.has(KEY_FILE):
        message = gettext(
            "There is an exam in this folder already: {name}. Choose another folder, or remove it.",
            name=KEY_FILE,
        )
        raise ValueError(message)
    candidates = _list_candidates(chosen)
    misconceptions = choose_misconceptions(candidates, seed, count)
    rewritable = choose_rewritable(candidates, tinytorch, seed, exercises)
    files: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    for position, learner in enumerate(learners or [""], 1):
        # tinytorch in any case: key and notebook must be the same on each machine, with PyTorch or
        # not.
        questions = draw_exam(misconceptions, tinytorch, seed=seed, learner=learner)
        rewrites = draw_exercises(rewritable, tinytorch, seed=seed, learner=learner)
        name = f"exam/{learner}/exam.ipynb" if learner else "exam/exam.ipynb"
        files[name] = _encode_notebook(_make_cells(questions, rewrites, learner))
        rows += _list_key_rows([*questions, *rewrites], learner)
        tell_progress(position, len(learners) or 1)
    # The key first: without it, what was handed out could not be graded.
    target.write(KEY_FILE, encode_table(_KEY_COLUMNS, rows))
    for name, content in files.items():
        target.write(name, content)
    return [folder / KEY_FILE, folder / "exam"]


def read_learners(file: Path) -> list[str]:
    """Return the names in a file: its lines, or the first column of a table `.csv` or `.tsv`.

    Raises ValueError for a file that is missing or no text, and for a name that comes twice or that
    no folder can have.
    """
    lines = _read_lines(file)
    if file.suffix.lower() in (".csv", ".tsv"):
        lines = [_read_first_cell(line) for line in lines]
    # As one typed them, "é" may be one letter or two: on macOS both are one folder.
    names = [unicodedata.normalize("NFC", " ".join(line.split())) for line in lines]
    names = [name for name in names if name]
    seen: set[str] = set()
    for name in names:
        # Each becomes a folder below the teacher's: ".." would lead out of it, a hidden one is overlooked.
        if not _can_name_folder(name):
            raise ValueError(gettext("{name!r} cannot be the name of a folder.", name=name))
        if normalize_name(name) in seen:
            message = gettext(
                "{name!r} is there twice, which would be one folder for two learners. Add "
                "something to each name that tells them apart, such as a number.",
                name=name,
            )
            raise ValueError(message)
        seen.add(normalize_name(name))
    if not 0 < len(names) <= _LIMIT:
        raise ValueError(gettext("{file} has {number} names.", file=str(file), number=len(names)))
    return names


def _read_first_cell(line: str) -> str:
    """Return the first cell of a row, whichever sign parts the cells in the teacher's country."""
    quoted = re.match(r'\s*"((?:[^"]|"")*)"', line)
    return quoted[1].replace('""', '"') if quoted else re.split(r"[,;\t]", line, maxsplit=1)[0]


def _read_lines(file: Path) -> list[str]:
    try:
        content = read_file(file)
    except OSError as error:
        message = gettext("{name} cannot be read: {why}", name=str(file), why=error.strerror)
        raise ValueError(message) from error
    # A spreadsheet stores "Unicode text" so.
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if is_wide else "utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        message = gettext("{file} is not in UTF-8: store it as UTF-8.", file=str(file))
        raise ValueError(message) from error


def _can_name_folder(name: str) -> bool:
    """Return True for a name that a folder can have on each system on which it may be unpacked."""
    # Windows has no files of these names, whatever their ending, and none that ends in a full stop.
    is_device = re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name.casefold())
    has_sign = not name.isprintable() or set(name) & set('/\\:*?"<>|')
    is_hidden = name.startswith((".", "__")) or name.endswith(".")
    return not (is_device or has_sign or is_hidden or len(name.encode()) > _MAX_NAME)


def normalize_name(name: str) -> str:
    """Return what two names have in common that are one to some file system."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def read_key(folder: SafeFolder) -> Key | None:
    """Return the key of the exam in a folder; None if there is none.

    Raises ValueError if it was not written by `write_exam`, or by a copylab whose programs are
    others; OSError if it cannot be read.
    """
    if not folder.has(KEY_FILE):
        return None
    tasks: dict[str, list[KeyTask]] = {}
    language = "en"
    list_exercises()  # imports the lessons, of which some have misconceptions of their own
    try:
        for row in decode_table(folder.read(KEY_FILE)):
            tested_misconception, seed = misconception(row["belief"]), int(row["drawn"])
            code = _KINDS[row["kind"]].write(tested_misconception, tinytorch, seed)
            # The program in the key shows that it is the question that was handed out.
            # Without its white space, which a spreadsheet that stored the key may have changed.
            if code.split() != row["program"].split():
                raise ValueError(row["belief"])
            task = KeyTask(row["kind"], tested_misconception, seed, code, row["answer"])
            tasks.setdefault(row["learner"], []).append(task)
            language = row["language"]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        message = gettext(
            "{name} was not written by this edition of copylab: {why}", name=KEY_FILE, why=error
        )
        raise ValueError(message) from error
    return Key(language, tasks)


class _Kind(NamedTuple):
    """What draws a task of some kind from its seed, and what writes its program, running nothing."""

    draw: Callable[[Misconception, ModuleType, int], ExamQuestion | Rewrite]
    write: Callable[[Misconception, ModuleType, int], str]


_KINDS = {
    "question": _Kind(draw_question, write_question),
    "exercise": _Kind(draw_rewrite, write_rewrite),
}


def _list_candidates(chosen: Sequence[str]) -> list[Misconception]:
    """Return the misconceptions that the predictions of some lessons can show; of none, all.

    Raises ValueError for a lesson that does not exist, or if the lessons have none.
    """
    if not chosen:
        return list(MISCONCEPTIONS.values())
    paths = {path.stem: path for path in sorted(lessons_folder().glob("*.ipynb"))}
    found: dict[str, Misconception] = {}
    for name in [find_lesson(lesson, paths) for lesson in chosen]:
        for task in find_tasks(read_notebook(paths[name])).values():
            if isinstance(task, Prediction):
                found |= {known.name: known for known in find_misconceptions(task, tinytorch)}
    if not found:
        raise ValueError(gettext("no prediction of these lessons shows a misconception"))
    return list(found.values())


def _list_key_rows(tasks: Sequence[ExamQuestion | Rewrite], learner: str) -> list[dict[str, Any]]:
    """Return the rows of the key; with `kind`, `belief` and `drawn` a task can be drawn again."""
    rows = []
    for number, task in enumerate(tasks, 1):
        is_exercise = isinstance(task, Rewrite)
        row = {
            "learner": learner,
            "number": number,
            "kind": "exercise" if is_exercise else "question",
            "belief": task.misconception.name,
            "program": task.code,
            "question": task.text,
            "answer": task.right_answer,
            "drawn": task.seed,
            "language": current_language() or "en",
        }
        rows.append(row)
    return rows


def _make_cells(
    questions: Sequence[ExamQuestion], rewrites: Sequence[Rewrite], learner: str
) -> list[dict[str, Any]]:
    """Return the cells of the notebook: how to answer, then each task and what answers it."""
    title = gettext("Exam")
    if learner:
        title = gettext("Exam of {learner}", learner=learner)
    rules = gettext(
        "What does each program do? A question that names no line asks for the end of the program. "
        "Write your answer between the quotation marks below the question, and save the notebook. The "
        "programs know PyTorch as `torch`. No cell has to be run: an answer is read as it is written."
    )
    head = f"# {title}\n\n{rules}" if questions else f"# {title}"
    cells = [_make_cell("markdown", "head", head)]
    for number, question in enumerate(questions, 1):
        asked = question.drawn.question
        how = gettext("Answer: {format}", format=asked.answer_format)
        text = f"## {number}\n\n```\n{write_program(question)}\n```\n\n{asked.text}\n\n*{how}*"
        cells.append(_make_cell("markdown", f"question-{number}", text))
        # The name is in the cell as well as in its id: an editor may drop ids, and a learner copy
        # cells.
        cells.append(_make_cell("code", f"answer-{number}", f'answer_{number} = ""'))
    return cells + _make_exercise_cells(rewrites, 1 + len(questions)) if rewrites else cells


def _make_exercise_cells(rewrites: Sequence[Rewrite], first: int) -> list[dict[str, Any]]:
    """Return the cells of the exercises: how to solve them, then each with its program."""
    rules = gettext(
        "Each program is there twice: as text, and in a cell that you can change and run as "
        "often as you like. The line to rewrite has a mark. It may hold several statements, "
        "with `;` between them. The other lines stay as they are."
    )
    title = f"## {gettext('Exercises')}\n\n{rules}"
    cells = [
        _make_cell("markdown", "exercises", title),
        _make_cell("code", "import", "import tinytorch as torch"),
    ]
    for number, rewrite in enumerate(rewrites, first):
        text = f"### {number}\n\n```\n{write_program(rewrite)}\n```\n\n{rewrite.text}"
        cells.append(_make_cell("markdown", f"task-{number}", text))
        lines = rewrite.code.splitlines()
        # Known by the mark where an editor has lost the ids of cells.
        lines[rewrite.line - 1] += f"  # exercise {number}"
        cells.append(_make_cell("code", f"exercise-{number}", "\n".join(lines)))
    return cells


def write_program(task: ExamQuestion | Rewrite | KeyTask) -> str:
    """Return the program of a task as the notebook has it, with numbers of its lines."""
    return Code(task.code, indent="", numbered=True).text()


def _make_cell(kind: str, cell_id: str, source: str) -> dict[str, Any]:
    # The format of notebooks wants the last two in cells of code, and refuses them in others.
    cell: dict[str, Any] = {"cell_type": kind, "id": cell_id, "metadata": {}, "source": source}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


def _encode_notebook(cells: list[dict[str, Any]]) -> bytes:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()
