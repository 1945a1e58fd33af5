"""The form of a prediction in the browser, and what is shown below it once asked for."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import ipywidgets
import traitlets

from ..doc import html_element, inline_html
from ..run import describe_error
from ..ui import Live
from ..wording import gettext
from .reveal import UnreadableAnswerError, render_button, render_result
from .standalone import render_standalone
from .view import TaskView

if TYPE_CHECKING:
    from .prediction import Prediction


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
    checked = traitlets.Dict(
        help="`answers` that were looked at, and how to write those that are `unreadable`."
    ).tag(sync=True)


class PredictionView(TaskView):
    """The form, and below it, once asked for, the player of the run and new programs.

    Answers that are filled in go to the prediction, its reveal comes back.
    """

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction
        # Another notebook on the same page may have forms with ids as well.
        self._id_prefix = f"cl-{uuid4().hex}"
        # With its state from the start: a view may open before anything is set.
        self.form = PredictionForm(content=self._render_content(), answers=dict(prediction.answers))
        # The player of the run, below its title; by the name of a misconception, its new program.
        self._player: list[Any] = []
        self._views_below: dict[str, Any] = {}
        self._is_stored_committed = prediction.committed
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

    def _render_content(self) -> str:
        """Return the HTML of the program, and of the empty form or the reveal below it."""
        reveal = self._prediction.reveal
        if reveal is None:
            below = self._render_form()
        else:
            buttons = render_button("steps", gettext("Step through the run"))
            # A retest is answered once: after that its right answer is on the screen.
            if self._prediction.tested_misconception is None:
                if any(row.refutation is not None for row in reveal.rows):
                    buttons += render_button("retry", gettext("The wrong rows again"))
                buttons += render_button("reset", gettext("Start again"))
            below = render_result(reveal.headline, reveal.content(live=True), buttons)
        return self._prediction.program().html() + below

    def _render_form(self) -> str:
        return self._prediction.form(self._id_prefix)

    def _update_form(self, _: object) -> None:
        """Show the answers of the prediction and, once they are committed, the reveal."""
        # Not at each letter that is typed. Before the reveal is seen: who then saves the notebook
        # at once saves what was committed.
        is_committed = self._prediction.committed
        if self._is_stored_committed != is_committed:
            self._is_stored_committed = is_committed
            self.renew_twin()
        with self.form.hold_sync():
            self.form.answers = dict(self._prediction.answers)
            self.form.content = self._render_content()

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
        unreadable = {}
        # A question may raise anything, and so may the run: the commit says what.
        with contextlib.suppress(Exception):
            unreadable = self._prediction.find_unreadable_answers()
        # With what came, by which the browser knows whether more was written since.
        self.form.checked = {"answers": change.new, "unreadable": unreadable}

    def _handle_message(self, _widget: object, content: Any, _buffers: object) -> None:
        reveal = self._prediction.reveal
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
                # Their models would stay in the kernel otherwise.
                for view in self.children[1:]:
                    view.close()
                self._player, self._views_below = [], {}
                self.children = [self.form]
            case {"do": "steps"} if reveal is not None:
                if not self._player:
                    self._player = [self._make_player_title(), reveal.steps.live()]
                self._show_below(gettext("The player of the run is below."))
            case {"do": "retest", "misconception": str(name)} if (
                name in self._prediction.find_testable_misconceptions()
            ):
                # Once: the button may be pressed twice before it is there.
                if name not in self._views_below:
                    self._views_below[name] = self._prediction.make_retest(name).live()
                self._show_below(gettext("A new program is below."))

    def _make_player_title(self) -> ipywidgets.HTML:
        """Return the line above the player, which says what program it goes through."""
        title = gettext("Step by step: {title}", title=self._prediction.title)
        return ipywidgets.HTML(html_element("strong", inline_html(title)))

    def _show_below(self, remark: str) -> None:
        """Show the player and the new programs below the form, the player of its run first."""
        self.children = [self.form, *self._player, *self._views_below.values()]
        # A remark that is the same as the last would not be sent.
        self.form.says = ""
        self.form.says = remark

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
