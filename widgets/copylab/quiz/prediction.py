"""`predict(code)`: the learner says what a program will do, commits, and then sees it run."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import ModuleType
from typing import Any

import traitlets

from tinytorch.viz import Level, check_level, summarize_text

from ..doc import Box, Cell, Code, InPage, InText, Paragraph, Part, Table, html_element
from ..player import Steps
from ..run import choose_engine, dedent_code, find_engine, make_printable, require_engine
from ..wording import gettext, gettext_noop, join_list, join_phrases, ngettext
from .misconceptions import Misconception, misconception
from .prediction_view import PredictionForm, PredictionView
from .progress import add_note, find_note, load_seed
from .question import Question
from .ready_questions import state_table
from .retests import draw_retest
from .reveal import Reveal, describe_score, find_unreadable_answers
from .runs import QuizRun
from .verify import Verification
from .view import Task, render_field


class Prediction(Task, traitlets.HasTraits):
    """Questions about a program, all answered and committed before anything of the run is shown.

        p = predict(
            "x = torch.tensor([1.0, 2.0]); y = x.clone(); x += 1",
            [same_storage("x", "y"), value("y", wrong={"[2, 3]": "a tensor is a formula"})],
            key="my-course/clone",
        )
        p                          # in a notebook: the table to fill in
        p.commit(["no", [1, 2]])   # without its buttons: one answer for each row
        p.verify()                 # is each answer in `wrong` wrong, has each question an answer?

    code: the program, which knows its engine as `torch`. It runs in a namespace of its own, out of
        sight.
    questions: see copylab.questions; by default the whole state table for `x` and `y`, or else the
        first two names.
    key: the name under which the answers are stored in the learner's progress file, such as
        "clone/readings"; without one they are not stored.
    engine: the module that the code knows as `torch`; by default the caller's global `torch`,
        otherwise tinytorch.
    title: a line above the code.
    level: how much `p.steps()` and the picture after the commit say at first, as `steps`
        has it: what a course has explained so far.
    folds_rounds: whether the player goes through loops round by round at first: where a loop has
        many lines and its rounds are alike.

    A notebook shows it as a table to fill in; `p.commit(answers)` does the same from Python. Traits
    to observe: `answers` and `committed`.

    Raises:
        SyntaxError: the code is no Python program.
        TypeError, ValueError: an invalid question (two of one name, one choice), no question at
            all, or no such level.

    """

    HELP = gettext_noop("""\
A prediction: read the code, and say what it will do before it runs.
1. Fill in every row. A wrong guess teaches more than none.
2. Commit. Only then is the code run, and each row compared with the run.
3. Read what speaks against the rows that turned out wrong, and look at the memory.
From Python: p.commit(["yes", "no", 2]), one answer for each row; p.steps() steps through the run; p.reset().""")
    UNTITLED = gettext_noop("Prediction")
    tested_misconception: Misconception | None = None
    """The misconception that it tests, if it is a retest."""

    answers = traitlets.Dict(
        help="What has been answered so far: text by the name of the question."
    )
    committed = traitlets.Bool(False, help="True after the commit; `reveal` is there then.")

    def __init__(
        self,
        code: str,
        questions: Sequence[Question] | None = None,
        key: str | None = None,
        engine: ModuleType | None = None,
        title: str | None = None,
        level: Level = "graph",
        folds_rounds: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(code, str):
            raise TypeError(f"code must be a string of Python, not {type(code).__name__}")
        self.code = dedent_code(code)
        tree = ast.parse(self.code, "<predict>")
        # A generator would be empty the second time that it is gone through.
        question_list = _choose_default_questions(tree) if questions is None else list(questions)
        # All that is wrong with a task is said when it is made: its author sees it, and no learner.
        _require_questions(question_list)
        self.questions: tuple[Question, ...] = tuple(
            question.bind(self.code) for question in question_list
        )
        names = [question.name for question in self.questions]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(
                f"two questions are called {repeated[0]!r}: give one of them another name"
            )
        check_level(level)
        self.key, self._title, self._level = key, title, level
        self._folds_rounds = folds_rounds
        # The `torch` of the notebook: with PyTorch imported, the program runs on PyTorch.
        self._engine = require_engine(engine) or find_engine(sys._getframe(1).f_globals)
        # By the name of the engine: a test asks for both, and a program is run once under each.
        self._runs: dict[str, QuizRun] = {}
        self.reveal: Reveal | None = None
        """What the run says to the committed answers."""
        self._view: PredictionView | None = None

    def __repr__(self) -> str:
        key = f"{self.key!r}, " if self.key else ""
        return summarize_text(f"Prediction({key}{len(self.questions)} questions)")

    @property
    def level(self) -> Level:
        """How much its player and its picture say at first."""
        return self._level

    # -- answering

    def commit(
        self,
        answers: Mapping[Any, Any] | Sequence[Any] | None = None,
        *,
        engine: ModuleType | None = None,
    ) -> Reveal:
        """Commit an answer for every row, and return what the run says.

        answers: a list in the order of the rows, or a dict by number (from 1), name or prompt of
            the question; None commits what `p.answers` holds. yes and no may be True and False,
            free answers numbers, lists or tensors.

        Raises:
            ValueError: a row is missing or empty, an answer is not among the choices or cannot be
                read, or it was committed already.
            KeyError: the dict names a question that does not exist.

        """
        if self.reveal is not None:
            raise ValueError(
                gettext(
                    "these answers were committed already; "
                    "p.reset() clears them, p.reveal shows them again"
                )
            )
        # Parsed before anything runs: who has left a row empty must not pay with the reveal.
        texts = self._parse_answers(answers)
        # Whoever observes the traits finds the notes written.
        with self.hold_trait_notifications():
            reveal = self._judge_and_reveal(texts, choose_engine(engine, self._engine))
            self._note_progress(reveal)
        return reveal

    def _note_progress(self, reveal: Reveal) -> None:
        """Note the answers, and which misconceptions were met. Only retests settle one."""
        if self.key is None:
            return
        note = {
            "answers": dict(self.answers),
            "right": reveal.right,
            "of": len(self.questions),
            "misconceptions": list(reveal.misconceptions),
        }
        add_note("predictions", self.key, note)
        # By the name of the misconception, and not of the task: it may be settled in another
        # lesson.
        for name in reveal.misconceptions:
            add_note("misconceptions", name, {"state": "met", "in": self.key, "right": 0})

    def make_retest(self, name: str) -> Retest:
        """Return a new program on a misconception behind a wrong row, to predict in its turn.

        name: of the misconception. KeyError if it is behind no row, or no program tests it.
        """
        # Without a key nothing is noted, so nothing that was noted is of this prediction.
        note = find_note("misconceptions", name if self.key else None)
        return Retest(
            self.find_testable_misconceptions()[name],
            number=note.get("retests", 0),
            origin=self.key,
            engine=self._engine,
            level=self._level,
        )

    def make_stored_retest(self, tested_misconception: Misconception, engine: ModuleType) -> Retest:
        """Return the retest that is stored in a page, the same for every learner."""
        return Retest(tested_misconception, seed=0, number=0, engine=engine, level=self._level)

    def find_testable_misconceptions(self) -> dict[str, Misconception]:
        """Return the misconceptions behind the wrong rows that a new program can test, by name."""
        rows = () if self.reveal is None else self.reveal.rows
        found = [row.misconception_to_retest for row in rows]
        return {each.name: each for each in found if each is not None}

    @property
    def needs_another(self) -> bool:
        """True if another program has to be answered, even if this one is answered rightly."""
        return False

    def describe_all_right(self) -> str:
        """Return the headline if every row is right."""
        return describe_score(len(self.questions), len(self.questions))

    def _judge_and_reveal(self, texts: dict[str, str], engine: ModuleType) -> Reveal:
        """Compare the answers with the run, set `reveal` and then the traits; return the reveal."""
        run = self.run(engine)
        answers = [texts[question.name] for question in self.questions]
        # Before the traits: whoever observes them reads it.
        self.reveal = Reveal(
            self.questions,
            answers,
            run,
            self.describe_all_right,
            self.tested_misconception,
            needs_another=self.needs_another,
        )
        # Whoever observes one of the traits finds the other changed as well.
        with self.hold_trait_notifications():
            self.answers = texts
            self.committed = True
        return self.reveal

    def _parse_answers(self, answers: Mapping[Any, Any] | Sequence[Any] | None) -> dict[str, str]:
        """Return the answers as texts by the names of their questions, in the order of the rows."""
        by_name = {}
        questions = self._index_questions()
        for key, answer in self._index_answers(answers).items():
            if key not in questions:
                raise KeyError(
                    gettext(
                        "no row is called {key!r}: use its number, 1 to {count}, or its name",
                        key=key,
                        count=len(self.questions),
                    )
                )
            question = questions[key]
            by_name[question.name] = question.normalize_answer(answer)
        # All that are missing in one sentence: a learner fills them in at once.
        missing = []
        for number, question in enumerate(self.questions, 1):
            if question.name not in by_name:
                missing.append(str(number))
        if missing:
            raise ValueError(
                gettext(
                    "fill in every row before you commit: "
                    "{missing} of {count} are missing ({rows})",
                    missing=len(missing),
                    count=len(self.questions),
                    rows=join_list(missing),
                )
            )
        return {question.name: by_name[question.name] for question in self.questions}

    def find_unreadable_answers(self) -> dict[str, str]:
        """Return how to write what cannot be read in `answers`, by the name of its question.

        The program is run for it, out of sight.
        """
        return find_unreadable_answers(self.questions, self.answers, self.run())

    def _index_answers(
        self, answers: Mapping[Any, Any] | Sequence[Any] | None
    ) -> Mapping[Any, Any]:
        """Return answers by the number, name or prompt of their question; a list is numbered."""
        if answers is None:
            return dict(self.answers)
        # A text is a sequence, too: "yes" would be three answers.
        if isinstance(answers, str) or not isinstance(answers, Mapping | Sequence):
            raise TypeError(
                gettext("answers must be a list or a dict, not {kind}", kind=type(answers).__name__)
            )
        if isinstance(answers, Mapping):
            return answers
        if len(answers) > len(self.questions):
            raise ValueError(
                ngettext(
                    "{given} answers were given, and there is {number} row",
                    "{given} answers were given, and there are {number} rows",
                    len(self.questions),
                    given=len(answers),
                )
            )
        return dict(enumerate(answers, 1))

    def _index_questions(self) -> dict[Any, Question]:
        """Return the questions by all that an answer may call them: number, name, prompt."""
        questions: dict[Any, Question] = {}
        for number, question in enumerate(self.questions, 1):
            questions |= dict.fromkeys((number, question.name, question.text), question)
        return questions

    def reset(self) -> None:
        """Forget answers and reveal, so that the table can be filled in anew.

        What was noted as progress stays.
        """
        self._reopen({})

    def retry(self) -> None:
        """Empty the rows that were wrong, so that they can be filled in anew; keep those that were right.

        Before a commit nothing is changed.
        """
        if self.reveal is None:
            return
        right_names = {row.question.name for row in self.reveal.rows if row.refutation is None}
        self._reopen({name: text for name, text in self.answers.items() if name in right_names})

    def _reopen(self, answers: dict[str, str]) -> None:
        """Forget the reveal, and ask again for all rows but those with an answer here."""
        self.reveal = None
        # At once: a form that was shown empty first would let its first row have the focus.
        with self.hold_trait_notifications():
            self.committed = False
            self.answers = answers

    def run(self, engine: ModuleType | None = None) -> QuizRun:
        """Return the run that answers are compared with, by default with `predict`'s engine."""
        module = choose_engine(engine, self._engine)
        # To make a QuizRun runs nothing: it does so when it is asked something.
        run = QuizRun(self.code, module, self._level, folds_rounds=self._folds_rounds)
        return self._runs.setdefault(module.__name__, run)

    def steps(self, engine: ModuleType | None = None) -> Steps:
        """Return the program to step through, before or after the commit."""
        return self.run(choose_engine(engine, self._engine)).player

    def restore(self, engine: ModuleType | None = None) -> bool:
        """Take the answers from the progress file, if it has some for these questions.

        Return True if it has.
        """
        stored = find_note("predictions", self.key).get("answers")
        if self.reveal is None and isinstance(stored, dict):
            # An earlier edition of the lesson may have had other questions.
            with contextlib.suppress(KeyError, ValueError, TypeError):
                self._judge_and_reveal(
                    self._parse_answers(stored), choose_engine(engine, self._engine)
                )
                return True
        return False

    def verify(self, engine: ModuleType | None = None) -> Verification:
        """Test that every question has an answer, and every wrong answer a refutation.

        Returns a Verification, which can be printed; its `.faults` are empty if all is well. The
        answers in `wrong` are counted; those behind which a question finds a misconception itself
        are tried as well. Nothing is raised or noted.
        """
        # A run of its own: that of the learner may be interrupted, or asked for with another
        # engine.
        run = QuizRun(self.code, choose_engine(engine, self._engine))
        faults = []
        for question in self.questions:
            faults += question.find_faults(run)
        wrong_count = sum(len(question.wrong) for question in self.questions)
        questions = ngettext("{number} question", "{number} questions", len(self.questions))
        answers = ngettext("{number} answer in `wrong`", "{number} answers in `wrong`", wrong_count)
        return Verification(join_phrases([questions, answers]), tuple(faults))

    # -- showing

    def tree(self) -> Part:
        """Return the task: the code, the questions, what may be answered. Never an answer."""
        return Box(self.program(), self.rows(), spaced=True, class_="copylab-predict")

    def program(self) -> Part:
        """Return the program below its title."""
        title = Paragraph("", mark=self.title, class_="cl-title")
        return Box(title, self.listing(), class_="cl-program")

    def listing(self) -> Part:
        """Return the program with numbered lines."""
        return Code(make_printable(self.code), numbered=True)

    def rows(self, id_prefix: str = "") -> Part:
        """Return the rows. With the beginning of their ids, they have fields to fill in."""
        # JupyterLab sets cells to the right; a form has a style sheet, in which that is said once.
        left: dict[str, Any] = {} if id_prefix else {"style": "text-align: left"}
        lines, rows = [], []
        for number, question in enumerate(self.questions, 1):
            asked = gettext("{text}  ({note})", text=question.text, note=question.answer_format)
            lines.append(f"{number:>3}. {asked}")
            # Without ids, as in a saved notebook, a field would be there that no script listens to.
            label = field = None
            if id_prefix:
                label, field = map(InPage, render_field(question, f"{id_prefix}-{number}"))
            rows.append(
                [
                    Cell(str(number), **left),
                    Cell(question.text, part=label, head=True, **left),
                    Cell(
                        gettext("{what}: {facts}", what=question.answer_format, facts="…"),
                        part=field,
                        **left,
                    ),
                ]
            )
        head = [
            Cell(name, **left) for name in ("", gettext("Question"), gettext("Your prediction"))
        ]
        return Box(
            Paragraph(gettext("Do not run it. Fill in every row, then commit.")),
            InText(Code("\n".join(lines), indent="")),
            InPage(Table(head, rows)),
        )

    def form(self, id_prefix: str) -> str:
        """Return the HTML of the rows to fill in; the ids of the fields begin with `id_prefix`."""
        commit = html_element(
            "button", escape(gettext("Commit")), type="submit", class_="cl-commit"
        )
        bar = html_element("div", commit + html_element("span", class_="cl-count"), class_="cl-bar")
        rows = self.rows(id_prefix).html()
        # "novalidate": the words for an empty field would be the browser's, in the browser's
        # language.
        return html_element("form", rows + bar, aria_label=self.title, novalidate=True)

    def live(self) -> PredictionView:
        """Return the table to fill in, the same widget each time, with the answers of before."""
        # A closed widget has no comm.
        if self._view is None or self._view.comm is None:
            self.restore()
            self._view = PredictionView(self)
        return self._view

    def _display_(self) -> PredictionForm:
        """Return what marimo shows: it knows the widgets of anywidget, but no boxes of them."""
        return self.live().form


predict = Prediction


def _require_questions(questions: Sequence[Any]) -> None:
    """Raise TypeError for an empty list, and for what is no question."""
    if questions and all(isinstance(question, Question) for question in questions):
        return
    hint = ""
    if any(isinstance(question, bool) for question in questions):
        # `same_storage(x, y)` of copylab.looks returns a bool.
        hint = (
            "; those are in copylab.questions, "
            "and copylab.looks has functions of the same names that compare"
        )
    raise TypeError(
        "questions must be a list of Question, such as [same_storage('x', 'y')], "
        f"and not empty{hint}"
    )


def _choose_default_questions(tree: ast.Module) -> list[Question]:
    """Return the state table for `x` and `y`, or else for the first two names bound."""
    bound = dict.fromkeys(_list_bound_names(tree))
    if len(bound) < 2:
        raise ValueError(
            "the state table is about two names, such as x and y, and the code makes fewer: "
            "give questions"
        )
    return state_table() if {"x", "y"} <= bound.keys() else state_table(*list(bound)[:2])


def _list_bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a program assigns to, in the order of its text."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in sorted(names, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.ctx, ast.Store):
            yield node.id


class Retest(Prediction):
    """A new program on the misconception behind a wrong row, with one question.

        retest("a view is a copy")
        retest("a view is a copy", seed=7)     # other names, numbers and shapes

    Only right answers to retests settle a misconception: the table with the wrong row shows what
    is right. It takes two in a row, since one of two choices is right by luck half of the time; or
    one that opens a later lesson (`Recall`). Names, numbers and shapes are drawn for each learner,
    and the right answer and the one that betrays the misconception are both found by running.

    tested_misconception: the misconception, or its name in the catalogue or in a lesson that is imported.
    seed: by what is drawn; by default by the number in the learner's progress file.
    number: which of its programs, from 0; by default one that was not asked yet.
    origin: the key of the prediction with the wrong row; by default, where no number is given, that
        in which the misconception was met. Without either nothing is noted.
    level: how much its player and its picture say, as that of the prediction with the wrong row.
    position: its number in its title, from 1, where several are shown in one list; by default it has none.

    Raises KeyError for an unknown name, ValueError for one that no program tests.
    """

    tested_misconception: Misconception
    RIGHT_TO_SETTLE = 2
    """Right answers in a row that settle a misconception."""

    def __init__(
        self,
        tested_misconception: Misconception | str,
        *,
        seed: int | None = None,
        number: int | None = None,
        origin: str | None = None,
        engine: ModuleType | None = None,
        title: str | None = None,
        level: Level = "graph",
        position: int | None = None,
    ) -> None:
        if isinstance(tested_misconception, str):
            tested_misconception = misconception(tested_misconception)
        self.tested_misconception = tested_misconception
        # With its number it comes from another task, which knows its origin.
        note = find_note("misconceptions", tested_misconception.name) if number is None else {}
        self._seed = load_seed() if seed is None else seed
        self._number = note.get("retests", 0) if number is None else number
        self._position = position
        self._origin = origin or note.get("in")
        # A second answer is given with the right one on the screen.
        self._is_first_answer = True
        # What would be missing after a right answer; None where it does not count, as on a page without a
        # kernel, where nothing is noted.
        self._missing_if_right: int | None = None
        module = choose_engine(engine, None)
        drawn = draw_retest(
            tested_misconception, module, seed=self._seed, number=self._number, level=level
        )
        super().__init__(drawn.run.code, [drawn.question], engine=module, title=title, level=level)
        self._runs[module.__name__] = drawn.run

    def __repr__(self) -> str:
        return summarize_text(f"Retest({self.tested_misconception.name!r})")

    @property
    def title(self) -> str:
        """The line above it, by which several below one prediction are told apart.

        It names what is asked: the name of the misconception, which is not true, would give the answer away.
        """
        if self.has_title:
            return super().title
        (question,) = self.questions
        # A title has no code in it: backticks would be seen.
        asked = question.text.replace("`", "")
        if self._position is None:
            return gettext("New program: {question}", question=asked)
        return gettext("New program {number}: {question}", number=self._position, question=asked)

    def describe_all_right(self) -> str:
        """Return the headline if the row is right; if that was noted, it says what is still missing."""
        # Its full stop would be in the middle of the sentence.
        belief = gettext(self.tested_misconception.belief).rstrip(".。")
        if self._missing_if_right == 0:
            return gettext(
                "Your answer is right, and that settles it: it is not true that “{belief}”.",
                belief=belief,
            )
        if self._missing_if_right:
            return gettext(
                "Your answer is right: it is not true that “{belief}”. One more program settles it.",
                belief=belief,
            )
        return gettext("Your answer is right: it is not true that “{belief}”.", belief=belief)

    @property
    def needs_another(self) -> bool:
        """True if it takes another program to settle the misconception, even if this one is answered rightly."""
        return bool(self._missing_if_right)

    def _judge_and_reveal(self, texts: dict[str, str], engine: ModuleType) -> Reveal:
        note = find_note("misconceptions", self.tested_misconception.name)
        # Before the reveal, which is shown as soon as it is there.
        self._missing_if_right = self._count_missing(note)
        return super()._judge_and_reveal(texts, engine)

    def _count_missing(self, note: Mapping[str, Any]) -> int | None:
        """Return how many right answers would be missing after a right one; None if it does not count.

        note: what is noted of the misconception.
        """
        # The same program, open in two places, counts once.
        was_answered = self._number < note.get("retests", 0)
        if not (note and self._is_first_answer) or self._origin is None or was_answered:
            return None
        # Files of before have no number there: what they have as settled stays so.
        is_settled = note.get("state") == "settled"
        return 0 if is_settled else max(0, self.RIGHT_TO_SETTLE - 1 - note.get("right", 0))

    def _note_progress(self, reveal: Reveal) -> None:
        """Note a right answer, or that the misconception was met again; a second answer changes nothing."""
        is_first, self._is_first_answer = self._is_first_answer, False
        name, is_right = self.tested_misconception.name, reveal.right == len(self.questions)
        note = find_note("misconceptions", name)
        counts = is_first and self._origin is not None
        if not counts or not (note or reveal.misconceptions):
            return
        if is_right and self._missing_if_right is None:
            return
        add_note(
            "misconceptions",
            name,
            {
                "state": "settled" if is_right and not self._missing_if_right else "met",
                "in": self._origin,
                "retests": max(note.get("retests", 0), self._number + 1),
                "right": note.get("right", 0) + 1 if is_right else 0,
            },
        )

    def make_retest(self, name: str) -> Retest:
        """Return the next program on its misconception."""
        return Retest(
            self.find_testable_misconceptions()[name],
            seed=self._seed,
            number=self._number + 1,
            origin=self._origin,
            engine=self._engine,
            level=self._level,
        )

    def make_stored_retest(self, tested_misconception: Misconception, engine: ModuleType) -> Retest:
        """Return the next program for a page."""
        return Retest(
            tested_misconception,
            seed=self._seed,
            number=self._number + 1,
            engine=engine,
            level=self._level,
        )


retest = Retest
