'''`predict(code)`: the learner says what a program will do, commits, and only then sees what it does.

For teachers. A prediction is a program and some questions; the right answers are found by running it:

    from copylab import predict
    from copylab.questions import Question, same_storage, value

    p = predict(
        """
        x = torch.tensor([1.0, 2.0])
        y = x.clone()
        x += 1
        """,
        [same_storage("x", "y"), value("y", wrong={"[2, 3]": "a tensor is a formula"})],
        key="my-course/clone",
    )
    p                            # in a notebook: the table to fill in
    p.commit(["no", [1, 2]])     # without its buttons: one answer for each row
    p.verify()                   # is every question answerable, every listed wrong answer really wrong?

Without `questions` the whole state table is asked (same tensor, storage, counter; node, requires_grad, leaf; who sees a
write; who gets a gradient). copylab.questions has one function for each of these and some more; a question of your own
is `Question(prompt, choices, answer=function of the run, wrong={answer: sentence or misconception})`. Wrong answers are
refuted with the run's own facts and, where they point to one, a misconception of copylab.misconceptions by its name.
'''

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from html import escape
from types import ModuleType
from typing import TYPE_CHECKING, Any

import traitlets

from ..run.capture import shown as printable
from ..run.ending import count
from ..run.engines import checked, engine_for, named, notebook_names
from ..run.program import tidy
from ..ui.markup import inline
from .progress import note, recall
from .question import Question
from .questions import state_table
from .reveal import Reveal, judge
from .runs import Run
from .verify import Verification

if TYPE_CHECKING:
    from .prediction_view import PredictionView


def predict(
    code: str,
    questions: Sequence[Question] | None = None,
    key: str | None = None,
    engine: ModuleType | None = None,
    title: str | None = None,
) -> Prediction:
    """Ask what a program will do; all rows are filled in and committed before anything of the run is shown.

    code: the program, which knows its engine as `torch`. It runs in a namespace of its own, after the commit.
    questions: see copylab.questions; by default the whole state table for `x` and `y`, or else the first two names.
    key: the name under which the answers are kept in the learner's progress file, such as "clone/readings"; without
        one they are not kept.
    engine: the module that the code knows as `torch`; by default the caller's global `torch`, otherwise tinytorch.
    title: a line above the code.

    Returns a Prediction, which a notebook shows as a table to fill in; `p.commit(answers)` does the same from Python.

    Raises:
        SyntaxError: the code is no Python program.
        TypeError, ValueError: a question that can be none (two of one name, one choice), or none at all.

    """
    caller = named(sys._getframe(1).f_globals)
    return Prediction(code, questions, key=key, engine=checked(engine) or caller, title=title)


class Prediction(traitlets.HasTraits):
    """A program and questions about it. Observe `answers` and `committed`; see `predict`."""

    answers = traitlets.Dict(help="What has been answered so far: text by the name of the question.")
    committed = traitlets.Bool(False, help="Whether the answers were committed; then the reveal is there.")

    def __init__(
        self,
        code: str,
        questions: Sequence[Question] | None = None,
        *,
        key: str | None = None,
        engine: ModuleType | None = None,
        title: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(code, str):
            raise TypeError(f"code must be a string of Python, not {type(code).__name__}")
        self.code = tidy(code)
        tree = ast.parse(self.code, "<predict>")
        asked = list(_default(tree)) if questions is None else list(questions)
        if not asked or not all(isinstance(question, Question) for question in asked):
            other = "; those are in copylab.questions, and copylab.looks has functions of the same names that compare"
            more = other if any(isinstance(one, bool) for one in asked) else ""
            raise TypeError(
                f"questions must be a list of Question, such as [same_storage('x', 'y')], and not empty{more}"
            )
        self.questions: tuple[Question, ...] = tuple(question.bound(self.code) for question in asked)
        names = [question.name for question in self.questions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two questions are called {twice[0]!r}: give one of them another name")
        self.key, self.title = key, title or "Predict, then run"
        self._engine = engine
        self._runs: dict[str, Run] = {}
        self._reveal: Reveal | None = None
        self._view: PredictionView | None = None

    def __repr__(self) -> str:
        named = f"{self.key!r}, " if self.key else ""
        return f"Prediction({named}{len(self.questions)} questions)"

    # -- answering

    def commit(self, answers: Mapping[Any, Any] | Sequence[Any] | None = None) -> Reveal:
        """Commit an answer for every row, and see what the run says.

        answers: a list in the order of the rows, or a dict by number (from 1), name or prompt of the question; None
            commits what `p.answers` holds. yes and no may be True and False, free answers numbers, lists or tensors.

        Raises:
            ValueError: a row is missing or empty, an answer is not among the choices, or it was committed already.
            KeyError: the dict names a question that there is not.

        """
        if self._reveal is not None and self.committed:
            raise ValueError("these answers were committed already; p.reset() clears them, p.reveal shows them again")
        return self._commit(self._read(answers), self._engine or engine_for(sys._getframe(1).f_globals))

    def commit_here(self, engine: ModuleType) -> Reveal:
        """Commit what `answers` holds, under the engine of the notebook: what the button does."""
        if self._reveal is not None and self.committed:
            return self._reveal
        return self._commit(self._read(None), self._engine or engine)

    def _commit(self, texts: dict[str, str], engine: ModuleType) -> Reveal:
        missing = [number for number, question in enumerate(self.questions, 1) if question.name not in texts]
        if missing:
            rows = ", ".join(map(str, missing))
            raise ValueError(
                f"fill in every row before you commit: {len(missing)} of {len(self.questions)} are missing ({rows})"
            )
        self._judge(texts, engine)
        assert self._reveal is not None
        kept = {"answers": texts, "right": self._reveal.right, "of": len(self.questions)}
        note("predictions", self.key, {**kept, "misconceptions": list(self._reveal.misconceptions)})
        return self._reveal

    def _judge(self, texts: dict[str, str], engine: ModuleType) -> None:
        rows = judge(self.questions, [texts[question.name] for question in self.questions], self.run(engine))
        self._reveal = Reveal(rows, self.run(engine))
        with self.hold_trait_notifications():
            self.answers = texts
            self.committed = True

    def _read(self, answers: Mapping[Any, Any] | Sequence[Any] | None) -> dict[str, str]:
        if answers is None:
            answers = dict(self.answers)
        if isinstance(answers, str) or not isinstance(answers, Mapping | Sequence):
            raise TypeError(f"answers must be a list or a dict, not {type(answers).__name__}")
        if not isinstance(answers, Mapping):
            if len(answers) > len(self.questions):
                raise ValueError(f"{len(answers)} answers were given, and there are {len(self.questions)} rows")
            answers = dict(enumerate(answers, 1))
        found = {}
        for which, given in answers.items():
            question = self._question(which)
            found[question.name] = question.read(given)
        return {question.name: found[question.name] for question in self.questions if question.name in found}

    def _question(self, which: Any) -> Question:
        for number, question in enumerate(self.questions, 1):
            if which in (number, question.name, question.prompt):
                return question
        raise KeyError(f"no row is called {which!r}: use its number, 1 to {len(self.questions)}, or its name")

    @property
    def reveal(self) -> Reveal | None:
        """What the run says to the committed answers; None before the commit."""
        return self._reveal

    def reset(self) -> None:
        """Forget answers and reveal, so that the table can be filled in anew. What was noted as progress stays."""
        self._reveal = None
        with self.hold_trait_notifications():
            self.committed = False
            self.answers = {}

    def run(self, engine: ModuleType | None = None) -> Run:
        """The run that answers are compared with, under `engine` (by default as said in `predict`)."""
        module = checked(engine) if self._engine is None else self._engine
        module = module or engine_for(sys._getframe(1).f_globals)
        return self._runs.setdefault(module.__name__, Run(self.code, module))

    def restore(self, engine: ModuleType | None = None) -> bool:
        """Take the answers from the progress file, if there are any for these very questions. Say whether it did."""
        kept = recall("predictions", self.key).get("answers")
        if self._reveal is not None or not isinstance(kept, dict):
            return False
        try:
            texts = self._read(kept)
        except (KeyError, ValueError, TypeError):
            return False  # of an earlier edition of the lesson: other questions
        if len(texts) < len(self.questions):
            return False
        self._judge(texts, self._engine or engine or engine_for(sys._getframe(1).f_globals))
        return True

    def verify(self, engine: ModuleType | None = None) -> Verification:
        """Test the prediction itself: every question has an answer, and every wrong answer something against it.

        Returns a Verification: printable, `.faults` empty if all is well. Nothing is raised or noted.
        """
        module = engine if engine is not None else engine_for(sys._getframe(1).f_globals)
        run = Run(self.code, checked(module) or module)
        faults = [fault for question in self.questions for fault in question.faults(run)]
        listed = sum(len(question.wrong) for question in self.questions)
        return Verification(
            f"{count(len(self.questions), 'question')}, {count(listed, 'wrong answer')} listed", tuple(faults)
        )

    def help(self) -> None:
        """Say how to use it."""
        print(_HELP)

    # -- showing

    @property
    def text(self) -> str:
        """The task in words: the code, the questions, what may be answered. Never an answer."""
        lines = printable(self.code).splitlines()
        digits = len(str(len(lines)))
        parts = [self.title, *(f"{n:>{digits + 2}}  {line}".rstrip() for n, line in enumerate(lines, 1)), ""]
        parts.append("Do not run it. Fill in every row, then commit.")
        return "\n".join([*parts, *(f"{n:>3}. {q.prompt}  ({_how(q)})" for n, q in enumerate(self.questions, 1))])

    @property
    def html(self) -> str:
        """The task as HTML that needs no script. Never an answer."""
        left = 'style="text-align: left"'  # notebooks set the cells of tables to the right
        head = "".join(f'<th scope="col" {left}>{word}</th>' for word in ("", "Question", "Your prediction"))
        rows = "".join(
            f'<tr><td {left}>{number}</td><th scope="row" {left}>{inline(question.prompt)}</th>'
            f"<td {left}>{escape(_how(question))}: …</td></tr>"
            for number, question in enumerate(self.questions, 1)
        )
        return (
            f'<div class="copylab-predict"><p><strong>{escape(self.title)}</strong></p>{listing(self.code)}'
            f"<p>Do not run it. Fill in every row, then commit.</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def live(self) -> PredictionView:
        """The table to fill in, as a widget: the same one each time, with the answers of last time if they are kept."""
        from .prediction_view import PredictionView

        if self._view is None or self._view.comm is None:
            self.restore(engine_for(notebook_names()))
            self._view = PredictionView(self)
        return self._view

    def _ipython_display_(self) -> None:
        self.live()._ipython_display_()


def listing(code: str) -> str:
    """Code with line numbers, as HTML; the pages of nbconvert show a <pre> in their text font, and <code> in it not."""
    lines = printable(code).splitlines()
    digits = len(str(len(lines)))
    numbered = "\n".join(f"{n:>{digits}}  {escape(line)}" for n, line in enumerate(lines, 1))
    return f"<pre><code>{numbered}</code></pre>"


def _how(question: Question) -> str:
    return question.hint or "in your words" if question.choices is None else " / ".join(tuple(question.choices))  # type: ignore[arg-type]


def _default(tree: ast.Module) -> list[Question]:
    """The whole state table for `x` and `y`, or else for the first two names that the program makes."""
    stores = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    made = list(dict.fromkeys(n.id for n in sorted(stores, key=lambda n: (n.lineno, n.col_offset))))
    if not {"x", "y"} <= set(made) and len(made) < 2:
        raise ValueError(
            "the state table is about two names, such as x and y, and the code makes fewer: give questions"
        )
    return state_table() if {"x", "y"} <= set(made) else state_table(made[0], made[1])


_HELP = """\
A prediction: read the code, and say what it will do before it runs.
1. Fill in every row. A wrong guess teaches more than none.
2. Commit. Only then the code is run, and each row is compared with the run.
3. Read what speaks against the rows that turned out wrong, and look at the memory.
From Python: p.commit(["yes", "no", 2]), one answer for each row; p.reveal.steps steps through the run; p.reset()."""
