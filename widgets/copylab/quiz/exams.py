"""An exam: a question or an exercise for each of several misconceptions, other programs for each learner.

The programs are those of retests. A seed chooses the misconceptions, which are the same for all
learners; the seed and a learner's name choose the order, the program, its names, numbers and shapes.
Nothing is typed in: a right answer, and the one that betrays the misconception, are found by running.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple

from .answers import format_answer, translate_choice
from .misconceptions import Misconception
from .prediction import Prediction
from .retests import DrawnRetest, Lot, draw_retest, find_programs, write_retest
from .rewrites import Rewrite, draw_rewrite, find_rewritable


class JudgedAnswer(NamedTuple):
    """What became of an answer in an exam.

    state: "right", "wrong", "empty" (nothing was written), or "unclear" (it can be read as no answer
        to this question, so somebody has to look at it).
    shows: the name of the misconception that it betrays, or "".
    """

    state: str
    shows: str = ""


@dataclass(frozen=True)
class ExamQuestion:
    """A question of an exam as a learner gets it.

    misconception: the one that it tests. seed: by which its program was drawn.
    """

    misconception: Misconception
    seed: int
    drawn: DrawnRetest

    @property
    def code(self) -> str:
        """The program."""
        return self.drawn.run.code

    @property
    def text(self) -> str:
        """The question."""
        return self.drawn.question.text

    @property
    def right_answer(self) -> str:
        """The right answer in the language in use, found by running."""
        return translate_choice(format_answer(self.drawn.question.right_answer(self.drawn.run)))

    def judge_answer(self, answer: Any) -> JudgedAnswer:
        """Compare an answer with the run. It may be anything that a cell can have; nothing raises."""
        run, question = self.drawn
        right = question.right_answer(run)
        # Not wrong: a teacher tells those who did not get that far from those who believe
        # something.
        if is_blank(answer):
            return JudgedAnswer("empty")
        try:
            text = question.normalize_answer(answer)
        except ValueError:  # no choice of this question
            return JudgedAnswer("unclear")
        if question.is_right(text, right):
            return JudgedAnswer("right")
        if not question.is_readable(text, right, run):
            return JudgedAnswer("unclear")
        # The same way as in a lesson, so that the table for a teacher names the misconceptions that
        # lessons know.
        found = question.refute(run, text).misconception
        return JudgedAnswer("wrong", "" if found is None else found.name)


def is_blank(answer: Any) -> bool:
    """Return True for an answer that was not written."""
    return answer is None or (isinstance(answer, str) and not answer.strip())


def choose_misconceptions(
    candidates: Iterable[Misconception], seed: int, count: int
) -> list[Misconception]:
    """Return `count` misconceptions that programs test, or all where there are fewer, by a seed."""
    # By name, as a lesson's own and that of the catalogue may be two objects.
    testable = {known.name: known for known in candidates if find_programs(known)}
    return [testable[name] for name in Lot(f"exam {seed}").shuffle("beliefs", testable)[:count]]


def choose_rewritable(
    candidates: Iterable[Misconception], engine: ModuleType, seed: int, count: int
) -> list[Misconception]:
    """Return `count` misconceptions with an exercise, or all where there are fewer, by a seed."""
    by_name = {known.name: known for known in candidates}
    # Another purpose than that of the questions, or the exercises would be about the first of them
    # again.
    order = Lot(f"exam {seed}").shuffle("exercises", by_name)
    # One after the other: whether a program makes an exercise is found by running it.
    found = (by_name[name] for name in order if find_rewritable(by_name[name], engine))
    return list(islice(found, count))


def find_misconceptions(prediction: Prediction, engine: ModuleType) -> list[Misconception]:
    """Return the misconceptions that wrong answers to a prediction can show."""
    found: dict[str, Misconception] = {}
    run = prediction.run(engine)
    for question in prediction.questions:
        for refutation in question.foresee_refutations(run).values():
            if refutation.misconception is not None:
                found[refutation.misconception.name] = refutation.misconception
    return list(found.values())


def draw_exam(
    misconceptions: Sequence[Misconception], engine: ModuleType, *, seed: int, learner: str = ""
) -> list[ExamQuestion]:
    """Return the questions of a learner, in the learner's own order."""
    own_seed, own_order = _deal_misconceptions(misconceptions, seed, learner)
    return [draw_question(misconception, engine, own_seed) for misconception in own_order]


def draw_exercises(
    misconceptions: Sequence[Misconception], engine: ModuleType, *, seed: int, learner: str = ""
) -> list[Rewrite]:
    """Return the exercises of a learner, in the learner's own order."""
    own_seed, own_order = _deal_misconceptions(misconceptions, seed, learner)
    return [draw_rewrite(misconception, engine, own_seed) for misconception in own_order]


def _deal_misconceptions(
    misconceptions: Sequence[Misconception], seed: int, learner: str
) -> tuple[int, list[Misconception]]:
    """Return a learner's own seed, and misconceptions in the learner's own order."""
    by_name = {misconception.name: misconception for misconception in misconceptions}
    purpose = f"exam {seed}/{learner}"
    # 0 stands for nobody's own: its programs come in the order of their table.
    # Four bytes: the key has it in a table, and a spreadsheet keeps no more than 15 digits.
    own_seed = 1 + int.from_bytes(sha256(purpose.encode()).digest()[:4])
    return own_seed, [by_name[name] for name in Lot(purpose).shuffle("order", by_name)]


def draw_question(misconception: Misconception, engine: ModuleType, seed: int) -> ExamQuestion:
    """Return the question that a seed draws. ValueError if no program tests the misconception."""
    return ExamQuestion(
        misconception, seed, draw_retest(misconception, engine, seed=seed, number=0)
    )


def write_question(misconception: Misconception, _engine: ModuleType, seed: int) -> str:
    """Return the program of the question that a seed draws, without running it."""
    return write_retest(misconception, seed=seed, number=0)
