"""A new program on the misconception behind a wrong row, drawn by a seed.

What can be drawn is said in `retest_programs.py`. The same seed draws the same program on each
machine: Python's own random numbers may be others in another release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from types import ModuleType
from typing import NamedTuple, TypeVar

from tinytorch.viz import Level

from ..wording import gettext, gettext_noop, join_sentences
from .answers import format_answer, translate_choice
from .misconceptions import Misconception
from .question import Question
from .retest_programs import RETEST_PROGRAMS, RetestProgram
from .runs import QuizRun

_NAMES = (
    "x y z",
    "a b c",
    "p q r",
    "u v w",
    "red blue green",
    "north south west",
    "tea milk sugar",
    "sun moon star",
    "oak elm ash",
    "gold silver copper",
    "rain snow wind",
    "apple pear plum",
    "violin cello flute",
    "river lake sea",
    "spring summer winter",
    "hill valley plain",
    "lion tiger wolf",
    "bread butter jam",
    "table chair lamp",
)
_SHAPES = ((2, 3), (3, 2))
_LENGTH = 3
# What is computed from these stays below 30, in the head of who answers: the question is what is shared, and not
# how much 9 * 9 + 60 is.
_NUMBERS = range(2, 8)
_FACTORS = range(2, 5)
# No product of two of those, so that a write of it changes each cell.
_LARGE_NUMBERS = (11, 13)
# Those of `retest_programs.py`.
_PLACEHOLDER = re.compile(r"\b[xyzVWNSTUMRCPKI]\b")
_Item = TypeVar("_Item")


class DrawnRetest(NamedTuple):
    """A retest as it is asked: the run of its program, and the one question about it."""

    run: QuizRun
    question: Question


class Lot:
    """What a seed draws."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def shuffle(self, purpose: str, items: Iterable[_Item]) -> list[_Item]:
        """Return the items in an order of chance, another one for each purpose."""
        # Each item keeps its rank among the others when one is added to a table.
        return sorted(
            items, key=lambda item: sha256(f"{self._seed}/{purpose}/{item}".encode()).digest()
        )


def find_programs(misconception: Misconception) -> Sequence[RetestProgram]:
    """Return the programs that test a misconception; none if it has none."""
    # A lesson's own first: it may have a name that the catalogue has, too.
    return misconception.retests or RETEST_PROGRAMS.get(misconception.name, ())


# A page has a retest for each of its misconceptions, and so have the other pages of a lesson.
@lru_cache(maxsize=256)
def draw_retest(
    misconception: Misconception,
    engine: ModuleType,
    *,
    seed: int,
    number: int,
    level: Level = "graph",
) -> DrawnRetest:
    """Return the retest of a number, from 0, for a learner of a seed; 0 is the seed of no learner.

    Neighbouring numbers have different programs, as long as there are several; the same program
    comes again with other names, numbers and shapes. ValueError if the misconception
    has none. level: how much its player says.
    """
    program, replacements = _choose_program(misconception, seed, number)
    code = write_retest(misconception, seed=seed, number=number)
    subject = [fill_placeholders(name, replacements) for name in program.subject]
    question = program.question(*subject).bind(code)
    believed_answer = _find_believed_answer(program, question, replacements, engine)
    misconception_with_belief = replace(
        misconception,
        argument=lambda run: join_sentences(
            [
                misconception.write_argument(run),
                _describe_belief(program, replacements, believed_answer),
            ]
        ),
    )
    # No other misconception is looked for: the retest tests this one.
    question = replace(
        question, wrong={believed_answer: misconception_with_belief}, find_misconception=None
    )
    if believed_answer.startswith("[["):
        question = replace(question, hint=gettext_noop("numbers such as [[1, 2], [3, 4]], or None"))
    return DrawnRetest(QuizRun(code, engine, level), question)


def write_retest(misconception: Misconception, *, seed: int, number: int) -> str:
    """Return the program of a retest, as `draw_retest` draws it, without running it."""
    program, replacements = _choose_program(misconception, seed, number)
    return fill_placeholders("\n".join(program.code.split("; ")), replacements)


def _choose_program(
    misconception: Misconception, seed: int, number: int
) -> tuple[RetestProgram, dict[str, str]]:
    """Return the program that a seed chooses, and what replaces its placeholders."""
    programs = find_programs(misconception)
    if not programs:
        raise ValueError(f"there is no program that tests {misconception.name!r}")
    # The order is another one for each learner, too; without one (the seed 0) it is the table's.
    order = Lot(f"{seed}/{misconception.name}").shuffle("order", range(len(programs)))
    program = programs[order[number % len(order)] if seed else number % len(order)]
    return program, draw_replacements(f"{seed}/{misconception.name}/{number}")


def _find_believed_answer(
    program: RetestProgram, question: Question, replacements: dict[str, str], engine: ModuleType
) -> str:
    """Return the answer of who has the misconception: what the program as believed gives."""
    lines = program.code.split("; ")
    # On one line, whatever it takes, so that the lines behind it keep their numbers: an answer may name one.
    lines[program.line - 1] = program.believed
    run = QuizRun(fill_placeholders("\n".join(lines), replacements), engine)
    return format_answer(question.right_answer(run))


def _describe_belief(program: RetestProgram, replacements: dict[str, str], answer: str) -> str:
    """Say with which line the wrong answer would be the right one."""
    names = {"answer": translate_choice(answer), "line": program.line}
    if program.believed == "pass":
        return gettext("“{answer}” would be right without line {line}.", **names)
    return gettext(
        "“{answer}” would be right if line {line} were `{code}`.",
        code=fill_placeholders(program.believed, replacements),
        **names,
    )


def draw_replacements(seed: str) -> dict[str, str]:
    """Return what replaces each placeholder of a retest program."""
    lot = Lot(seed)
    # The numbers of all tensors differ from each other, so no write goes unnoticed.
    numbers = lot.shuffle("numbers", _NUMBERS)
    (rows, columns), *_ = lot.shuffle("shape", _SHAPES)
    names, *_ = lot.shuffle("names", _NAMES)
    large, *_ = lot.shuffle("large", _LARGE_NUMBERS)
    index, *_ = lot.shuffle("index", range(_LENGTH))
    scalar, *_ = lot.shuffle("scalar", _NUMBERS)
    first, second, *_ = (factor for factor in lot.shuffle("factors", _FACTORS) if factor != scalar)
    matrix = [numbers[row * columns : (row + 1) * columns] for row in range(rows)]
    return {
        **dict(zip("xyz", names.split(), strict=True)),
        "V": _write_numbers(numbers[:_LENGTH]),
        "W": _write_numbers(numbers[_LENGTH : 2 * _LENGTH]),
        "M": f"[{', '.join(map(_write_numbers, matrix))}]",
        "N": str(_LENGTH),
        "R": str(rows),
        "C": str(columns),
        "P": str(rows * columns),
        "S": f"{scalar}.0",
        "T": f"{first}.0",
        "U": f"{second}.0",
        "K": f"{large}.0",
        "I": str(index),
    }


def _write_numbers(numbers: Sequence[int]) -> str:
    return f"[{', '.join(f'{number}.0' for number in numbers)}]"


def fill_placeholders(text: str, replacements: dict[str, str]) -> str:
    """Return a text of a retest program with its placeholders replaced."""
    return _PLACEHOLDER.sub(lambda found: replacements[found[0]], text)
