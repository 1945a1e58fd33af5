"""`predict(code)`: the learner says what a program will do, commits, and then sees it run."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import ModuleType
from typing import Any
from uuid import uuid4

import traitlets

from tinytorch.viz import Level, check_level, summarize_text

from ..doc import Box, Cell, Code, InPage, InText, Paragraph, Part, Table, html_element, inline_html
from ..player import Steps
from ..run import (
    choose_engine,
    dedent_code,
    describe_error,
    find_engine,
    make_printable,
    require_engine,
)
from ..ui import Live
from ..wording import gettext, gettext_noop, ngettext
from .answers import translate_choice
from .progress import add_note, find_note, load_notes
from .question import Question
from .ready_questions import state_table
from .reveal import Reveal, UnreadableAnswerError, render_result
from .runs import QuizRun
from .standalone import render_standalone
from .verify import Verification
from .view import Task, TaskView


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
    level: how much `p.steps()` says at first, as `steps` has it: what a course has explained so far.

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
2. Commit. Only then the code is run, and each row is compared with the run.
3. Read what speaks against the rows that turned out wrong, and look at the memory.
From Python: p.commit(["yes", "no", 2]), one answer for each row; p.steps() steps through the run; p.reset().""")
    UNTITLED = gettext_noop("Predict, then run")

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
    ) -> None:
        super().__init__()
        if not isinstance(code, str):
            raise TypeError(f"code must be a string of Python, not {type(code).__name__}")
        self.code = dedent_code(code)
        tree = ast.parse(self.code, "<predict>")
        listed = _default_questions(tree) if questions is None else list(questions)
        _require_questions(listed)
        self.questions: tuple[Question, ...] = tuple(
            question.bind(self.code) for question in listed
        )
        names = [question.name for question in self.questions]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(
                f"two questions are called {repeated[0]!r}: give one of them another name"
            )
        check_level(level)
        self.key, self._title, self._level = key, title, level
        self._engine = require_engine(engine) or find_engine(sys._getframe(1).f_globals)
        # By the name of the engine: a test asks for both, and a program is run once under each.
        self._runs: dict[str, QuizRun] = {}
        self.reveal: Reveal | None = None
        """What the run says to the committed answers."""
        self._view: PredictionView | None = None

    def __repr__(self) -> str:
        key = f"{self.key!r}, " if self.key else ""
        return summarize_text(f"Prediction({key}{len(self.questions)} questions)")

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
                "these answers were committed already; "
                "p.reset() clears them, p.reveal shows them again"
            )
        texts = self._parse_answers(answers)
        reveal = self._judge_and_reveal(texts, choose_engine(engine, self._engine))
        note = {
            "answers": texts,
            "right": reveal.right,
            "of": len(self.questions),
            "misconceptions": list(reveal.misconceptions),
        }
        add_note("predictions", self.key, note)
        self._note_misconceptions(reveal)
        return reveal

    def _note_misconceptions(self, reveal: Reveal) -> None:
        """Note which misconceptions were met, and which of those met before are settled now.

        One is settled by a right answer to a question where it could have come again: where it is
        behind an answer that can be foreseen (`Question.foresee_refutations`).
        """
        if self.key is None:
            return
        for name in reveal.misconceptions:
            add_note("misconceptions", name, {"state": "met", "in": self.key})
        met_before = set()
        for name, note in load_notes()["misconceptions"].items():
            if note.get("state") == "met":
                met_before.add(name)
        if met_before:  # finding what was avoided takes a while
            for name in met_before & reveal.avoided_misconceptions:
                add_note("misconceptions", name, {"state": "settled"})

    def _judge_and_reveal(self, texts: dict[str, str], engine: ModuleType) -> Reveal:
        """Compare the answers with the run, set `reveal` and then the traits; return the reveal."""
        run = self.run(engine)
        answers = [texts[question.name] for question in self.questions]
        self.reveal = Reveal(self.questions, answers, run)
        # Whoever observes one of the traits finds the other changed as well.
        with self.hold_trait_notifications():
            self.answers = texts
            self.committed = True
        return self.reveal

    def _parse_answers(self, answers: Mapping[Any, Any] | Sequence[Any] | None) -> dict[str, str]:
        """Return the answers as texts by the names of their questions, in the order of the rows."""
        by_name = {}
        questions = self._questions_by_key()
        for key, answer in self._answers_by_key(answers).items():
            if key not in questions:
                raise KeyError(
                    f"no row is called {key!r}: "
                    f"use its number, 1 to {len(self.questions)}, or its name"
                )
            question = questions[key]
            by_name[question.name] = question.normalize_answer(answer)
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
                    rows=", ".join(missing),
                )
            )
        return {question.name: by_name[question.name] for question in self.questions}

    def _answers_by_key(
        self, answers: Mapping[Any, Any] | Sequence[Any] | None
    ) -> Mapping[Any, Any]:
        """Return answers by the number, name or prompt of their question; a list is numbered."""
        if answers is None:
            return dict(self.answers)
        if isinstance(answers, str) or not isinstance(answers, Mapping | Sequence):
            raise TypeError(f"answers must be a list or a dict, not {type(answers).__name__}")
        if isinstance(answers, Mapping):
            return answers
        if len(answers) > len(self.questions):
            raise ValueError(
                f"{len(answers)} answers were given, and there are {len(self.questions)} rows"
            )
        return dict(enumerate(answers, 1))

    def _questions_by_key(self) -> dict[Any, Question]:
        """Return the questions by all that an answer may call them: number, name, prompt."""
        questions: dict[Any, Question] = {}
        for number, question in enumerate(self.questions, 1):
            questions |= dict.fromkeys((number, question.name, question.text), question)
        return questions

    def reset(self) -> None:
        """Forget answers and reveal, so that the table can be filled in anew.

        What was noted as progress stays.
        """
        self.reveal = None
        with self.hold_trait_notifications():
            self.committed = False
            self.answers = {}

    def retry(self) -> None:
        """Empty the rows that were wrong, so that they can be filled in anew; keep those that were right.

        Before a commit nothing is changed.
        """
        if self.reveal is None:
            return
        right_names = {row.question.name for row in self.reveal.rows if row.refutation is None}
        kept_answers = {name: text for name, text in self.answers.items() if name in right_names}
        self.reset()
        self.answers = kept_answers

    def run(self, engine: ModuleType | None = None) -> QuizRun:
        """Return the run that answers are compared with, by default with `predict`'s engine."""
        module = choose_engine(engine, self._engine)
        # To make a QuizRun runs nothing: it does so when it is asked something.
        return self._runs.setdefault(module.__name__, QuizRun(self.code, module, self._level))

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
        run = QuizRun(self.code, choose_engine(engine, self._engine))
        faults = []
        for question in self.questions:
            faults += question.find_faults(run)
        listed = sum(len(question.wrong) for question in self.questions)
        questions = ngettext("{number} question", "{number} questions", len(self.questions))
        answers = ngettext("{number} answer in `wrong`", "{number} answers in `wrong`", listed)
        return Verification(f"{questions}, {answers}", tuple(faults))

    # -- showing

    def tree(self) -> Part:
        """Return the task: the code, the questions, what may be answered. Never an answer."""
        return Box(self.program(), self.rows(), spaced=True, class_="copylab-predict")

    def program(self) -> Part:
        """Return the program below its title."""
        title = Paragraph("", mark=self.title, class_="cl-title")
        return Box(title, Code(make_printable(self.code), numbered=True), class_="cl-program")

    def rows(self, id_prefix: str = "") -> Part:
        """Return the rows. With the beginning of their ids, they have fields to fill in."""
        # JupyterLab sets cells to the right.
        left: dict[str, Any] = {"style": "text-align: left"}
        lines, rows = [], []
        for number, question in enumerate(self.questions, 1):
            lines.append(f"{number:>3}. {question.text}  ({question.answer_format})")
            label = field = None
            if id_prefix:
                label, field = map(InPage, _render_field(question, f"{id_prefix}-{number}"))
            rows.append(
                [
                    Cell(str(number), **left),
                    Cell(question.text, part=label, head=True, **left),
                    Cell(f"{question.answer_format}: …", part=field, **left),
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


def _default_questions(tree: ast.Module) -> list[Question]:
    """Return the state table for `x` and `y`, or else for the first two names bound."""
    bound = dict.fromkeys(_names_bound(tree))
    if len(bound) < 2:
        raise ValueError(
            "the state table is about two names, such as x and y, and the code makes fewer: "
            "give questions"
        )
    return state_table() if {"x", "y"} <= bound.keys() else state_table(*list(bound)[:2])


def _names_bound(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a program assigns to, in the order of its text."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in sorted(names, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.ctx, ast.Store):
            yield node.id


def _render_field(question: Question, field_id: str) -> tuple[str, str]:
    """Return the HTML of a label and its field: a menu for choices, else room for a text."""
    label = html_element("label", inline_html(question.text), for_=field_id)
    if question.bound_choices:
        choices = html_element("option", escape(gettext("choose …")), value="")
        for choice in question.bound_choices:
            choices += html_element("option", escape(translate_choice(choice)), value=choice)
        field = html_element("select", choices, id=field_id, name=question.name)
    else:
        hint_id = f"{field_id}-hint"
        field = html_element(
            "input",
            type="text",
            id=field_id,
            name=question.name,
            aria_describedby=hint_id,
            maxlength=2000,
            autocomplete="off",
            spellcheck="false",
        )
        field += html_element(
            "span", inline_html(question.answer_format), class_="cl-hint", id=hint_id
        )
    return label, html_element("div", field, class_="cl-answer")


class PredictionForm(Live):
    """The form in the browser, or what the run says. `quiz/web/predict.js` is its script."""

    SCRIPTS = ("quiz/predict.js",)
    SHEETS = ("quiz/predict.css",)
    content = traitlets.Unicode(
        "", help="The form, or after the commit what the run says, as HTML."
    ).tag(sync=True)
    answers = traitlets.Dict(help="What is filled in: text by the name of the question.").tag(
        sync=True
    )
    problem = traitlets.Unicode("", help="Why the answers could not be judged.").tag(sync=True)
    says = traitlets.Unicode("", help="A remark for a screen reader.").tag(sync=True)


class PredictionView(TaskView):
    """The form, and below it, once asked for, the player of the run.

    Answers that are filled in go to the prediction, its reveal comes back.
    """

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction
        # Another notebook on the same page may have forms with ids as well.
        self._id_prefix = f"cl-{uuid4().hex}"
        # With its state from the start: a view may open before anything is set.
        self.form = PredictionForm(content=self._render(), answers=dict(prediction.answers))
        super().__init__(prediction, [self.form])
        prediction.observe(self._update_form, ["answers", "committed"])
        self.form.observe(self._take_answers, "answers")
        self.form.on_msg(self._handle_message)

    @property
    def html(self) -> str:
        """The task; a page without a kernel judges it itself, if the program can be run."""
        try:
            return render_standalone(self._prediction)
        except Exception:  # noqa: BLE001  # a question may raise anything; the commit says what
            return self._prediction.html

    def _render(self) -> str:
        """Return the HTML of the program, and of the empty form or the reveal below it."""
        reveal = self._prediction.reveal
        if reveal is None:
            below = self._render_form()
        else:
            buttons = {"steps": gettext("Step through the run")}
            if any(row.refutation is not None for row in reveal.rows):
                buttons["retry"] = gettext("The wrong rows again")
            buttons["reset"] = gettext("Start again")
            below = render_result(reveal.headline, reveal.content(live=True), **buttons)
        return self._prediction.program().html() + below

    def _render_form(self) -> str:
        return self._prediction.form(self._id_prefix)

    def _update_form(self, change: Any) -> None:
        """Show the answers of the prediction and, once they are committed, the reveal."""
        with self.form.hold_sync():
            self.form.answers = dict(self._prediction.answers)
            self.form.content = self._render()
        # Not at each letter that is typed.
        if change.name == "committed":
            self.renew_twin()

    def _take_answers(self, change: Any) -> None:
        """Hand what is filled in to the prediction, unless its answers are committed."""
        if self._prediction.committed:
            return
        names = {question.name for question in self._prediction.questions}
        answers = {}
        # They come from a browser, and may be anything.
        for name, text in change.new.items():
            if name in names and text:
                answers[name] = str(text)
        self._prediction.answers = answers

    def _handle_message(self, _widget: object, content: Any, _buffers: object) -> None:
        match content:
            case {"do": "commit", "answers": dict(answers)} if not self._prediction.committed:
                # `_take_answers`, which observes the form, hands them to the prediction, whose
                # commit reads them there.
                self.form.answers = answers
                self.commit()
            case {"do": "reset" | "retry" as action}:
                if action == "retry":
                    self._prediction.retry()
                else:
                    self._prediction.reset()
                # Its models would stay in the kernel otherwise.
                for player in self.children[1:]:
                    player.close()
                self.children = [self.form]
            # The button may be pressed twice before the player is there, which is to be one.
            case {"do": "steps"} if self._prediction.reveal is not None and len(self.children) == 1:
                self.children = [self.form, self._prediction.reveal.steps.live()]
                self.form.says = gettext("The player of the run is below.")

    def commit(self) -> None:
        """Commit the answers of the form; if they cannot be judged, its `problem` says why.

        The reveal is shown by `_update_form`, which follows the prediction.
        """
        try:
            self.form.problem = ""
            self._prediction.commit()
        except UnreadableAnswerError as error:
            self.form.problem = str(error)
        except Exception as error:  # noqa: BLE001  # the answers must not be lost
            self.form.problem = gettext(
                "These answers could not be judged. {error}", error=describe_error(error)
            )

    def close(self) -> None:
        """Close the view and stop following the prediction."""
        if self.comm is not None:
            self._prediction.unobserve(self._update_form, ["answers", "committed"])
        super().close()
