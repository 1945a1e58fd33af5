"""`predict(code)`: the learner says what a program will do, commits, and only then sees what it does."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Mapping, Sequence
from html import escape
from types import ModuleType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import traitlets

from tinytorch.viz import gettext, gettext_noop, ngettext, summarize_text

from ..doc import Box, Cell, Code, InPage, InText, Paragraph, Part, Table, html_element, inline_html
from ..run import (
    choose_engine,
    dedent_code,
    describe_error,
    find_engine,
    make_printable,
    require_engine,
)
from ..ui import Live
from .answers import label
from .progress import load, note, recall
from .question import Question
from .questions import state_table
from .rendering import page
from .reveal import Reveal, UnreadError, judge, result
from .runs import Run
from .verify import Verification
from .view import Asked, View

if TYPE_CHECKING:
    from ..player import Steps


class Prediction(Asked, traitlets.HasTraits):
    """What a program will do; all rows are filled in and committed before anything of the run is shown.

        p = predict(
            "x = torch.tensor([1.0, 2.0]); y = x.clone(); x += 1",
            [same_storage("x", "y"), value("y", wrong={"[2, 3]": "a tensor is a formula"})],
            key="my-course/clone",
        )
        p                          # in a notebook: the table to fill in
        p.commit(["no", [1, 2]])   # without its buttons: one answer for each row
        p.verify()                 # is every question answerable, every listed wrong answer really wrong?

    code: the program, which knows its engine as `torch`. It runs in a namespace of its own, out of sight.
    questions: see copylab.questions; by default the whole state table for `x` and `y`, or else the first two names.
    key: the name under which the answers are kept in the learner's progress file, such as "clone/readings"; without
        one they are not kept.
    engine: the module that the code knows as `torch`; by default the caller's global `torch`, otherwise tinytorch.
    title: a line above the code.

    A notebook shows it as a table to fill in; `p.commit(answers)` does the same from Python. Traits to observe:
    `answers` and `committed`.

    Raises:
        SyntaxError: the code is no Python program.
        TypeError, ValueError: a question that can be none (two of one name, one choice), or none at all.

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
    committed = traitlets.Bool(
        False, help="Whether the answers were committed; then the reveal is there."
    )

    def __init__(
        self,
        code: str,
        questions: Sequence[Question] | None = None,
        key: str | None = None,
        engine: ModuleType | None = None,
        title: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(code, str):
            raise TypeError(f"code must be a string of Python, not {type(code).__name__}")
        self.code = dedent_code(code)
        tree = ast.parse(self.code, "<predict>")
        asked = list(_default(tree)) if questions is None else list(questions)
        if not asked or not all(isinstance(question, Question) for question in asked):
            other = "; those are in copylab.questions, and copylab.looks has functions of the same names that compare"
            more = other if any(isinstance(one, bool) for one in asked) else ""
            raise TypeError(
                f"questions must be a list of Question, such as [same_storage('x', 'y')], and not empty{more}"
            )
        self.questions: tuple[Question, ...] = tuple(
            question.bound(self.code) for question in asked
        )
        names = [question.name for question in self.questions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"two questions are called {twice[0]!r}: give one of them another name"
            )
        self.key, self._title = key, title
        self._engine = require_engine(engine) or find_engine(sys._getframe(1).f_globals)
        self._runs: dict[str, Run] = {}
        self.reveal: Reveal | None = None  # what the run says to the committed answers
        self._view: PredictionView | None = None

    def __repr__(self) -> str:
        named = f"{self.key!r}, " if self.key else ""
        return summarize_text(f"Prediction({named}{len(self.questions)} questions)")

    # -- answering

    def commit(
        self,
        answers: Mapping[Any, Any] | Sequence[Any] | None = None,
        *,
        engine: ModuleType | None = None,
    ) -> Reveal:
        """Commit an answer for every row, and see what the run says.

        answers: a list in the order of the rows, or a dict by number (from 1), name or prompt of the question; None
            commits what `p.answers` holds. yes and no may be True and False, free answers numbers, lists or tensors.

        Raises:
            ValueError: a row is missing or empty, an answer is not among the choices or cannot be read, or it was
                committed already.
            KeyError: the dict names a question that there is not.

        """
        if self.reveal is not None:
            raise ValueError(
                "these answers were committed already; p.reset() clears them, p.reveal shows them again"
            )
        texts = self._read(answers)
        reveal = self._judge(texts, choose_engine(engine, self._engine))
        kept = {"answers": texts, "right": reveal.right, "of": len(self.questions)}
        note("predictions", self.key, {**kept, "misconceptions": list(reveal.misconceptions)})
        self._note_beliefs(reveal)
        return reveal

    def _note_beliefs(self, reveal: Reveal) -> None:
        """Note what was met, and as settled what was met before and could have come again here, and did not."""
        if self.key is None:
            return
        for name in reveal.misconceptions:
            note("misconceptions", name, {"state": "met", "in": self.key})
        before = {
            name for name, known in load()["misconceptions"].items() if known.get("state") == "met"
        }
        for name in before and before & reveal.avoided:  # to find what was avoided takes a while
            note("misconceptions", name, {"state": "settled"})

    def _judge(self, texts: dict[str, str], engine: ModuleType) -> Reveal:
        run = self.run(engine)
        rows = judge(self.questions, [texts[question.name] for question in self.questions], run)
        self.reveal = Reveal(rows, run)
        with self.hold_trait_notifications():
            self.answers = texts
            self.committed = True
        return self.reveal

    def _read(self, answers: Mapping[Any, Any] | Sequence[Any] | None) -> dict[str, str]:
        if answers is None:
            answers = dict(self.answers)
        if isinstance(answers, str) or not isinstance(answers, Mapping | Sequence):
            raise TypeError(f"answers must be a list or a dict, not {type(answers).__name__}")
        if not isinstance(answers, Mapping):
            if len(answers) > len(self.questions):
                raise ValueError(
                    f"{len(answers)} answers were given, and there are {len(self.questions)} rows"
                )
            answers = dict(enumerate(answers, 1))
        asked = {
            key: one for n, one in enumerate(self.questions, 1) for key in (n, one.name, one.asks)
        }
        found = {}
        for which, given in answers.items():
            if which not in asked:
                raise KeyError(
                    f"no row is called {which!r}: use its number, 1 to {len(self.questions)}, or its name"
                )
            question = asked[which]
            found[question.name] = question.read(given)
        missing = [
            number
            for number, question in enumerate(self.questions, 1)
            if question.name not in found
        ]
        if missing:
            raise ValueError(
                gettext(
                    "fill in every row before you commit: {missing} of {count} are missing ({rows})",
                    missing=len(missing),
                    count=len(self.questions),
                    rows=", ".join(map(str, missing)),
                )
            )
        return {question.name: found[question.name] for question in self.questions}

    def reset(self) -> None:
        """Forget answers and reveal, so that the table can be filled in anew. What was noted as progress stays."""
        self.reveal = None
        with self.hold_trait_notifications():
            self.committed = False
            self.answers = {}

    def run(self, engine: ModuleType | None = None) -> Run:
        """The run that answers are compared with, under `engine` (by default as said in `predict`)."""
        module = choose_engine(engine, self._engine)
        return self._runs.setdefault(module.__name__, Run(self.code, module))

    def steps(self, engine: ModuleType | None = None) -> Steps:
        """The program, to step through: what `copylab.steps` shows of it, whether the answers are committed or not."""
        return self.run(choose_engine(engine, self._engine)).steps

    def restore(self, engine: ModuleType | None = None) -> bool:
        """Take the answers from the progress file, if there are any for these very questions. Say whether it did."""
        kept = recall("predictions", self.key).get("answers")
        if self.reveal is None and isinstance(kept, dict):
            with contextlib.suppress(
                KeyError, ValueError, TypeError
            ):  # of an earlier edition: other questions
                self._judge(self._read(kept), choose_engine(engine, self._engine))
                return True
        return False

    def verify(self, engine: ModuleType | None = None) -> Verification:
        """Test the prediction itself: every question has an answer, and every wrong answer something against it.

        Returns a Verification: printable, `.faults` empty if all is well. Nothing is raised or noted.
        """
        run = Run(self.code, choose_engine(engine, self._engine))
        faults = [fault for question in self.questions for fault in question.faults(run)]
        listed = sum(len(question.wrong) for question in self.questions)
        asked = ngettext("{number} question", "{number} questions", len(self.questions))
        answers = ngettext("{number} wrong answer listed", "{number} wrong answers listed", listed)
        return Verification(f"{asked}, {answers}", tuple(faults))

    # -- showing

    def tree(self) -> Part:
        """The task: the code, the questions, what may be answered. Never an answer."""
        return Box(self.program(), self.rows(), apart=True, kind="copylab-predict")

    def program(self) -> Part:
        """The program below its title."""
        title = Paragraph("", mark=self.title, kind="cl-title")
        return Box(title, Code(make_printable(self.code), numbered=True), kind="cl-program")

    def rows(self, fields: str = "") -> Part:
        """The rows; for a page that has `fields` to fill in, they get this as the beginning of their ids."""
        left: dict[str, Any] = {
            "style": "text-align: left"
        }  # notebooks set the cells of tables to the right
        names = ("", gettext("Question"), gettext("Your prediction"))
        words, rows = [], []
        for number, question in enumerate(self.questions, 1):
            words.append(f"{number:>3}. {question.asks}  ({question.takes})")
            label_and_field = _field(question, f"{fields}-{number}") if fields else (None, None)
            asks, answer = (
                None if markup is None else InPage(markup) for markup in label_and_field
            )
            cells = [
                Cell(question.asks, part=asks, head=True, **left),
                Cell(f"{question.takes}: …", part=answer, **left),
            ]
            rows.append([Cell(str(number), **left), *cells])
        return Box(
            Paragraph(gettext("Do not run it. Fill in every row, then commit.")),
            InText(Code("\n".join(words), by="")),
            InPage(Table([Cell(name, **left) for name in names], rows)),
        )

    def form(self, ident: str) -> str:
        """The rows to fill in, as a form whose fields have ids that begin with `ident`."""
        commit = html_element(
            "button", escape(gettext("Commit")), type="submit", class_="cl-commit"
        )
        bar = html_element("div", commit + html_element("span", class_="cl-count"), class_="cl-bar")
        return html_element(
            "form", self.rows(ident).html() + bar, aria_label=self.title, novalidate=True
        )

    def live(self) -> PredictionView:
        """The table to fill in, as a widget: the same one each time, with the answers of last time if they are kept."""
        if self._view is None or self._view.comm is None:
            self.restore()
            self._view = PredictionView(self)
        return self._view

    def _display_(self) -> PredictionForm:
        """What marimo shows, which knows the widgets of anywidget, but no boxes of them."""
        return self.live().form


predict = Prediction


def _default(tree: ast.Module) -> list[Question]:
    """The whole state table for `x` and `y`, or else for the first two names that the program makes."""
    stores = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    made = list(dict.fromkeys(n.id for n in sorted(stores, key=lambda n: (n.lineno, n.col_offset))))
    if len(made) < 2:
        raise ValueError(
            "the state table is about two names, such as x and y, and the code makes fewer: give questions"
        )
    return state_table() if {"x", "y"} <= set(made) else state_table(*made[:2])


def _field(question: Question, ident: str) -> tuple[str, str]:
    """A question as the label of a field, and the field: a menu where there are choices, else room for a text."""
    if question.options:
        options = [
            ("", gettext("choose …")),
            *((choice, label(choice)) for choice in question.options),
        ]
        menu = "".join(
            html_element("option", escape(said), value=choice) for choice, said in options
        )
        field = html_element("select", menu, id=ident, name=question.name)
    else:
        plain = {"maxlength": 2000, "autocomplete": "off", "spellcheck": "false"}
        field = html_element(
            "input",
            type="text",
            id=ident,
            name=question.name,
            aria_describedby=f"{ident}-hint",
            **plain,
        )
        field += html_element(
            "span", inline_html(question.takes), class_="cl-hint", id=f"{ident}-hint"
        )
    return html_element("label", inline_html(question.asks), for_=ident), html_element(
        "div", field, class_="cl-answer"
    )


class PredictionForm(Live):
    """The form in the browser, or what the run says."""

    SCRIPTS = ("quiz/predict.js",)
    SHEETS = ("quiz/predict.css",)
    page = traitlets.Unicode(
        "", help="The form, or after the commit what the run says, as HTML."
    ).tag(sync=True)
    answers = traitlets.Dict(help="What is filled in: text by the name of the question.").tag(
        sync=True
    )
    problem = traitlets.Unicode("", help="Why the answers could not be judged.").tag(sync=True)
    says = traitlets.Unicode("", help="What a screen reader is told.").tag(sync=True)


class PredictionView(View):
    """The form, and below it, once asked for, the player of the run.

    What is filled in goes to the prediction, what the prediction reveals comes back.
    """

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction
        self._empty = prediction.form(
            f"cl-{uuid4().hex}"
        )  # another notebook on the page has forms as well
        # A view may be made of what the model has when it is opened.
        self.form = PredictionForm(page=self._page(), answers=dict(prediction.answers))
        super().__init__(prediction, [self.form])
        prediction.observe(self._follow, ["answers", "committed"])
        self.form.observe(self._filled, "answers")
        self.form.on_msg(self._asked)

    @property
    def html(self) -> str:
        """The task; on a page without a kernel it is filled in and judged by the page, if the program can be run."""
        try:
            return page(self._prediction)
        except Exception:  # noqa: BLE001  # whatever a question raises: it is said when the answers are committed
            return self._prediction.html

    def _page(self) -> str:
        told, below = self._prediction.reveal, self._empty
        if told is not None:
            buttons = {"steps": gettext("Step through the run"), "reset": gettext("Start again")}
            below = result(told.headline, told.found(live=True), **buttons)
        return self._prediction.program().html() + below

    def _follow(self, _: object) -> None:
        with self.form.hold_sync():
            self.form.answers = dict(self._prediction.answers)
            self.form.page = self._page()

    def _filled(self, change: Any) -> None:
        known = {question.name for question in self._prediction.questions}
        if not self._prediction.committed:
            self._prediction.answers = {
                name: str(text) for name, text in change.new.items() if name in known and text
            }

    def _asked(self, _widget: object, content: Any, _buffers: object) -> None:
        match content:
            case {"do": "commit", "answers": dict(answers)} if not self._prediction.committed:
                self.form.answers = answers
                self.commit()
            case {"do": "reset"}:
                self._prediction.reset()
                for player in self.children[1:]:
                    player.close()
                self.children = [self.form]
            case {"do": "steps"} if self._prediction.reveal is not None and len(self.children) == 1:
                self.children = [self.form, self._prediction.reveal.steps.live()]
                self.form.says = gettext("The player of the run is below.")

    def commit(self) -> None:
        """Commit what is filled in; what cannot be judged is said in the form's `problem`."""
        try:
            self.form.problem = ""
            self._prediction.commit()
        except UnreadError as error:
            self.form.problem = str(error)
        except Exception as error:  # noqa: BLE001  # whatever a question raises: it is said, and the answers stay
            self.form.problem = gettext(
                "These answers could not be judged. {error}", error=describe_error(error)
            )

    def close(self) -> None:
        """Close the view and stop following."""
        if self.comm is not None:
            self._prediction.unobserve(self._follow, ["answers", "committed"])
        super().close()
