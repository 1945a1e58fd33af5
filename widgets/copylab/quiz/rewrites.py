"""An exercise that a seed draws: rewrite one line, so that a question gets another answer.

The programs are those of retests, with other names, numbers and shapes for each learner. As a
program stands, its question has the right answer; with the line as who has the misconception takes
it to be, it has the answer that is asked for. So the solution is that line, and whether another one
does the same is found by running.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from ..player import explain_error
from ..wording import gettext, join_sentences
from .answers import format_answer, translate_choice
from .attempts import add_reason
from .exercises import Verdict
from .misconceptions import Misconception, misconception
from .question import Question
from .retest_programs import RetestProgram
from .retests import Lot, draw_replacements, fill_placeholders, find_programs
from .runs import QuizRun

_PREFIX = "rewrite"


@dataclass(frozen=True)
class Rewrite:
    """One line of a program, to be rewritten so that a question gets the answer `wanted`.

    misconception: the one that it is about. number: of its program among those of the
        misconception, from 0. seed: by which names, numbers and shapes were drawn.
    run: of the program as it is handed out.
    line: the number of the line, from 1. solution: what may be there. question: the one that
        is asked.
    wanted: the answer as `format_answer` writes it.
    keeps_numbers: True if after the line all tensors have to show the numbers that they showed
        before. The solution does; without it, `y = torch.tensor([50.0, 2.0])` would do, too.
    """

    misconception: Misconception
    number: int
    seed: int
    run: QuizRun
    line: int
    solution: str
    question: Question
    wanted: str
    keeps_numbers: bool

    @property
    def code(self) -> str:
        """The program."""
        return self.run.code

    @property
    def key(self) -> str:
        """The name by which `find_rewrite` draws it again."""
        return f"{_PREFIX}/{self.seed}/{self.number}/{self.misconception.name}"

    @property
    def start(self) -> str:
        """The program as it is handed out."""
        return self.code

    @property
    def right_answer(self) -> str:
        """The program with a line that does what is asked for."""
        return self._replace_line(self.solution)

    @property
    def text(self) -> str:
        """The task: which line, the question, and its answers now and then."""
        now = format_answer(self.question.right_answer(self.run))
        task = gettext(
            "Rewrite line {line}, and no other, so that the answer to this question is “{wanted}”. "
            "As the program stands, it is “{now}”.",
            line=self.line,
            wanted=translate_choice(self.wanted),
            now=translate_choice(now),
        )
        if self.keeps_numbers:
            numbers = gettext(
                "Right after line {line}, all tensors have to show the numbers that they show there "
                "now.",
                line=self.line,
            )
            task = join_sentences([task, numbers])
        return f"{task}\n\n> {self.question.text}"

    def judge_cell(self, source: str) -> Verdict:
        """Run a learner's cell, and return the verdict.

        The cell is Python that does nothing but solve the exercise: its code is run in this process.
        """
        try:
            line = self._find_new_line(source)
        except ValueError as error:
            return Verdict("wrong", str(error))
        # Compared as Python writes them: other spaces, quotes or a comment are no attempt.
        if line == _unparse_statement(ast.parse(self._code_lines[self.line - 1]).body[0]):
            says = gettext("line {line} is as it was handed out.", line=self.line)
            return Verdict("not attempted", says)
        if why := self._find_fault(line):
            return Verdict("wrong", why)
        says = gettext("the answer is “{answer}”.", answer=translate_choice(self.wanted))
        return Verdict("right", says)

    @property
    def _code_lines(self) -> list[str]:
        return self.code.splitlines()

    def _replace_line(self, text: str) -> str:
        lines = self._code_lines
        lines[self.line - 1] = text
        return "\n".join(lines)

    def _find_new_line(self, source: str) -> str:
        """Return what is now in the place of the line, in one line.

        Raises ValueError with a sentence if another line differs or it has no place in one line.
        """
        own = [_unparse_statement(statement) for statement in ast.parse(source).body]
        handed_out = [_unparse_statement(statement) for statement in ast.parse(self.code).body]
        # The line may have become several statements, with `;` between them or below each other: it
        # is whatever is left between the lines before and those after it.
        before, after = handed_out[: self.line - 1], handed_out[self.line :]
        end = len(own) - len(after)
        if end < self.line or own[: self.line - 1] != before or own[end:] != after:
            message = gettext(
                "another line than line {line} differs from what was handed out, or line {line} is gone.",
                line=self.line,
            )
            raise ValueError(message)
        new = own[self.line - 1 : end]
        # Behind a `;` Python allows no block, so these could not be put into one line again.
        if any("\n" in text for text in new) or (
            len(new) > 1 and any(text.startswith("with ") for text in new)
        ):
            raise ValueError(gettext("line {line} has to stay one line.", line=self.line))
        return "; ".join(new)

    def _find_fault(self, line: str) -> str:
        """Return what is wrong with a line in the place of the old one; "" if nothing is."""
        code = self._replace_line(line)
        run = QuizRun(code, self.run.engine)
        # The line itself never raises in what is asked for.
        if run.error_line is not None and run.error_line <= self.line:
            return _describe_end(run)
        # Before the answer: numbers that were written down by hand give a right one, too.
        if self.keeps_numbers and (name := _find_changed(self.run, run, self.line)):
            return gettext(
                "after line {line}, `{name}` does not show the numbers that it showed there.",
                line=self.line,
                name=name,
            )
        # An error is an answer where the question is what happens; elsewhere nothing is left to
        # ask.
        has_error = run.trace.error is not None
        if run.is_endless or (has_error and not self.question.features.asks_for_ending):
            return _describe_end(run)
        try:
            answer = self.question.right_answer(run)
        except ValueError:
            return gettext("the question has no answer any more.")
        if self.question.is_right(self.question.normalize_answer(self.wanted), answer):
            return ""
        return gettext(
            "the answer is “{answer}”, and should be “{wanted}”.",
            answer=translate_choice(format_answer(answer)),
            wanted=translate_choice(self.wanted),
        )


def draw_rewrite(misconception: Misconception, engine: ModuleType, seed: int) -> Rewrite:
    """Return the exercise that a seed draws.

    ValueError if no program on the misconception gives one.
    """
    return _make_rewrite(misconception, _choose_number(misconception, engine, seed), engine, seed)


def write_rewrite(misconception: Misconception, engine: ModuleType, seed: int) -> str:
    """Return the program of the exercise that a seed draws, without running it."""
    program = find_programs(misconception)[_choose_number(misconception, engine, seed)]
    return _write_program(program, draw_replacements(f"{seed}/{misconception.name}/{_PREFIX}"))


def _choose_number(misconception: Misconception, engine: ModuleType, seed: int) -> int:
    """Return the number of the program that a seed draws."""
    numbers = find_rewritable(misconception, engine)
    if not numbers:
        raise ValueError(f"no program on {misconception.name!r} has a line to rewrite")
    number, *_ = Lot(f"{seed}/{misconception.name}/{_PREFIX}").shuffle("order", numbers)
    return number


def _write_program(program: RetestProgram, replacements: dict[str, str]) -> str:
    # A statement in each line, as a learner is asked about lines by their number.
    return fill_placeholders("\n".join(program.code.split("; ")), replacements)


def find_rewrite(key: str, engine: ModuleType) -> Rewrite | None:
    """Return the exercise of a key; None if the key is that of another exercise."""
    if not key.startswith(f"{_PREFIX}/"):
        return None
    # Three times: the name of a misconception may have a slash in it.
    _, seed, number, name = key.split("/", 3)
    return _make_rewrite(misconception(name), int(number), engine, int(seed))


@lru_cache(maxsize=256)
def find_rewritable(misconception: Misconception, engine: ModuleType) -> Sequence[int]:
    """Return the numbers of the programs on a misconception that make an exercise.

    In those the line as believed passes, and a line that does nothing does not. Nor would the
    answer, written down as numbers.
    """
    # With the seed 0, whoever learns: whether a program makes an exercise is a property of it, and
    # must not differ from learner to learner.
    numbers = []
    for number in range(len(find_programs(misconception))):
        rewrite = _make_rewrite(misconception, number, engine, seed=0)
        if not rewrite.keeps_numbers and rewrite.question.features.asks_for_numbers:
            continue
        if rewrite.judge_cell(rewrite.right_answer).state != "right":
            continue
        if rewrite.judge_cell(rewrite._replace_line("pass")).state == "wrong":
            numbers.append(number)
    return numbers


def _make_rewrite(
    misconception: Misconception, number: int, engine: ModuleType, seed: int
) -> Rewrite:
    program = find_programs(misconception)[number]
    replacements = draw_replacements(f"{seed}/{misconception.name}/{_PREFIX}")
    lines = _write_program(program, replacements).splitlines()
    subject = [fill_placeholders(name, replacements) for name in program.subject]
    line, solution = program.line, fill_placeholders(program.believed, replacements)
    run = QuizRun("\n".join(lines), engine)
    solved = QuizRun("\n".join([*lines[: line - 1], solution, *lines[line:]]), engine)
    question = program.question(*subject).bind(run.code)
    return Rewrite(
        misconception=misconception,
        number=number,
        seed=seed,
        run=run,
        line=line,
        solution=solution,
        question=question,
        wanted=format_answer(question.right_answer(solved)),
        keeps_numbers=not _find_changed(run, solved, line),
    )


def _find_changed(run: QuizRun, other: QuizRun, line: int) -> str:
    """Return a tensor of a run that shows other numbers after a line of another run."""
    before, after = (_values_after(one, line) for one in (run, other))
    # As texts: nan is not equal to nan.
    return next((name for name in before if repr(before[name]) != repr(after.get(name))), "")


def _unparse_statement(statement: ast.stmt) -> str:
    """Return a statement in one line, where it has room in one."""
    text = ast.unparse(statement)
    if isinstance(statement, ast.With) and len(text.splitlines()) == 1 + len(statement.body):
        # `with torch.no_grad(): x += 1` is one line, and `ast.unparse` makes two of it.
        head, *body = text.splitlines()
        return f"{head} {'; '.join(line.strip() for line in body)}"
    return text


def _values_after(run: QuizRun, line: int) -> dict[str, Any]:
    """Return the numbers of the tensors after a line of a run, by name."""
    moment = run.moment(line)
    names = {name for name, _ in moment.snapshot.names}
    return {name: value for name, value in moment.values.items() if name in names}


def _describe_end(run: QuizRun) -> str:
    """Say where a run ended before its end."""
    if run.error_line is None:
        return gettext("the program does not finish.")
    raised = (run.trace.steps[-1].error or "").partition("\n")[0]
    sentence = gettext("line {line} raises {error}.", line=run.error_line, error=raised.rstrip("."))
    # Without the way out: that is what the exercise asks for.
    return add_reason(sentence, explain_error(run.trace))
