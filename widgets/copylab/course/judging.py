"""Judging answers to exercises in processes of their own, which nothing of a learner's reaches.

What a notebook says of itself counts for nothing: its outputs, its copylab, its progress file. The
source of an answer is read (`plain_answers.py`), and what is a plain program is run beside the check
of the installed lessons, in a process that ends with it. `python -m copylab.course.judging` is that
process: it reads a request and writes a verdict, as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

import tinytorch

from ..quiz import Exercise, Rewrite, find_rewrite, is_same_program
from ..wording import cache_in_language, current_language, gettext, set_language
from .plain_answers import find_unbound_name, list_exercises, make_plain

try:
    import resource
except ImportError:
    # Windows and the Python of a browser have no such limits.
    _HAS_LIMITS = False
else:
    _HAS_LIMITS = True

SECONDS = 40
"""Seconds after which a process is ended: an answer has 20 of its own, and imports take one, or
several on a machine that is busy."""
_MAX_ENDLESS = 2
"""Answers of one learner that may take these seconds and not come to their end: a class would wait
for hours. The learner's others are not run then."""
_MAX_BYTES = 8 * 2**30
"""Bytes of addresses that a process may have: a tensor that fills the memory would end others."""

_READING = threading.Lock()
"""Held while an answer is read: in threads at once, one ended in SystemError. And an exercise of an
exam is drawn by running its program, which nothing else may do beside it."""


class Judgement(NamedTuple):
    """What became of an answer, and why in a sentence.

    state: "right", "wrong", "not attempted", or "by hand": it was not run, or did not come to its
        end, so somebody has to look at it.
    """

    state: str
    says: str


def judge_answers(answers: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Judgement]:
    """Return the verdicts on the answers of one learner, by key and source. Nothing raises."""
    verdicts: dict[tuple[str, str], Judgement] = {}
    endless = 0
    for key, source in answers:
        if endless >= _MAX_ENDLESS:
            says = gettext("It was not run: {number} others did not finish.", number=endless)
            verdicts[key, source] = Judgement("by hand", says)
            continue
        began = time.monotonic()
        try:
            verdicts[key, source] = judge_answer(key, source)
        # Whatever was handed in, the others are judged.
        except Exception as error:  # noqa: BLE001
            says = gettext("It cannot be judged: {error}.", error=type(error).__name__)
            verdicts[key, source] = Judgement("by hand", says)
        endless += time.monotonic() - began >= SECONDS
    return verdicts


def judge_answer(key: str, source: str) -> Judgement:
    """Return the verdict on an answer to the exercise of this key, in the language in use.

    source: the learner's cell. KeyError if no lesson or exam has such an exercise.
    """
    with _READING:
        read = _read_answer(key, source)
    return read if isinstance(read, Judgement) else _judge_in_process(key, read)


def _read_answer(key: str, source: str) -> str | Judgement:
    """Return the program of an answer, or the verdict on one that is not run."""
    start = _find_exercise(key).start
    if not source.strip() or is_same_program(source, start):
        return Judgement("not attempted", gettext("The cell is as it was handed out."))
    try:
        program = make_plain(source)
    except SyntaxError as error:
        return Judgement("wrong", gettext("It is not Python: {error}.", error=error.msg))
    except ValueError as error:
        says = gettext("It was not run. No answer to this exercise needs `{words}`.", words=error)
        return Judgement("by hand", says)
    # In the notebook it may be there: a wrong answer is nothing that another cell makes right.
    if name := find_unbound_name(program):
        says = gettext("It was not run. Another cell has to make `{name}`.", name=name)
        return Judgement("by hand", says)
    return program


def _find_exercise(key: str) -> Exercise | Rewrite:
    """Return the exercise of this key: that of a lesson, or one that is drawn for a learner."""
    # Imports the lessons, of which some have misconceptions of their own.
    of_lessons = list_exercises()
    return find_rewrite(key, tinytorch) or of_lessons[key]


# Many of a class write the same answer, and a process takes a second.
@cache_in_language()
def _judge_in_process(key: str, program: str) -> Judgement:
    language = current_language() or "en"
    request = json.dumps({"key": key, "program": program, "language": language})
    # -P: a file called random.py in the current folder is not Python's.
    command = [sys.executable, "-P", "-m", "copylab.course.judging"]
    try:
        ran = subprocess.run(
            command, input=request.encode(), capture_output=True, timeout=SECONDS, check=False
        )
        return Judgement(*json.loads(ran.stdout))
    except subprocess.TimeoutExpired:
        says = gettext("It did not finish within {number} seconds.", number=SECONDS)
    except OSError as error:
        says = gettext("No process could be started for it: {error}.", error=error.strerror)
    except (ValueError, TypeError):
        says = gettext("Its process ended without a verdict.")
    return Judgement("by hand", says)


def _limit_process() -> None:
    """Bound what this process may take of the machine, where the system can."""
    # Where there are no limits, the seconds alone end it.
    if not _HAS_LIMITS:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main() -> None:
    """Judge one answer, and write what became of it."""
    request = json.load(sys.stdin)
    set_language(request["language"])
    exercise = _find_exercise(request["key"])
    _limit_process()
    # What the program prints is no verdict.
    with contextlib.redirect_stdout(io.StringIO()):
        program = request["program"]
        if isinstance(exercise, Rewrite):
            verdict = exercise.judge_cell(program)
        else:
            verdict = exercise.judge_cell(program, tinytorch)
    print(json.dumps([verdict.state, verdict.says]))


if __name__ == "__main__":
    main()
