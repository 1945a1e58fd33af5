"""The live view of a prediction: a form with native controls, and after the commit what the run says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

from ..run.capture import describe_error, shown
from ..run.engines import engine_for
from ..ui.exhibit import Exhibit, Live
from ..ui.markup import inline

if TYPE_CHECKING:
    from .prediction import Prediction


class PredictionForm(Live):
    """The form in the browser. What is filled in goes to the prediction, what the prediction reveals comes back."""

    SCRIPTS = ("quiz/predict.js",)
    SHEETS = ("quiz/predict.css",)
    task = traitlets.Dict(read_only=True, help="Title, lines of code, and rows: name, prompt, choices, hint.").tag(
        sync=True
    )
    answers = traitlets.Dict(help="What is filled in: text by the name of the question.").tag(sync=True)
    committed = traitlets.Bool(False, help="Whether it is committed.").tag(sync=True)
    headline = traitlets.Unicode("", help="How many rows are right.").tag(sync=True)
    reveal = traitlets.Unicode("", help="What the run says, as HTML; empty before the commit.").tag(sync=True)
    problem = traitlets.Unicode("", help="Why the answers could not be judged.").tag(sync=True)
    says = traitlets.Unicode("", help="What a screen reader is told.").tag(sync=True)

    def __init__(self, prediction: Prediction, **traits: Any) -> None:
        self._prediction = prediction  # before the model is opened, for a view may be made of what it has then
        super().__init__(**traits)
        self._follow()
        prediction.observe(self._follow, ["answers", "committed"])

    @traitlets.default("task")
    def _task(self) -> dict[str, Any]:
        asked = self._prediction
        rows = [
            {"name": q.name, "prompt": inline(q.prompt), "choices": list(q.choices or ()) or None, "hint": q.hint}  # type: ignore[arg-type]
            for q in asked.questions
        ]
        return {"title": asked.title, "code": shown(asked.code).splitlines(), "rows": rows}

    def _follow(self, _: object = None) -> None:
        """Show what the prediction holds."""
        told = self._prediction.reveal
        with self.hold_sync():
            self.answers = dict(self._prediction.answers)
            self.committed = self._prediction.committed
            self.headline = told.headline if told is not None else ""
            self.reveal = told.page(live=True) if told is not None else ""

    @traitlets.observe("answers")
    def _filled(self, _: object) -> None:
        prediction = getattr(self, "_prediction", None)
        if prediction is None or prediction.committed:
            return
        known = {question.name for question in prediction.questions}
        prediction.answers = {name: str(text) for name, text in self.answers.items() if name in known and text}

    def commit(self) -> None:
        """Commit what is filled in; what cannot be judged is said in `problem`."""
        try:
            self.problem = ""
            self._prediction.commit_here(engine_for({}))
        except Exception as error:  # noqa: BLE001  # whatever a question raises: it is said, and the answers stay
            self.problem = f"These answers could not be judged. {describe_error(error)}"

    def close(self) -> None:
        """Close the view and stop following."""
        if self.comm is not None:
            self._prediction.unobserve(self._follow, ["answers", "committed"])
        super().close()


class PredictionView(Exhibit, ipywidgets.VBox):
    """The form, and below it, once asked for, the player of the run."""

    children: Any

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction
        self.form = PredictionForm(prediction)
        super().__init__([self.form])
        self.form.on_msg(self._asked)

    def _asked(self, _widget: object, content: Any, _buffers: object) -> None:
        match content:
            case {"do": "commit", "answers": dict(answers)} if not self._prediction.committed:
                self.form.answers = answers
                self.form.commit()
            case {"do": "reset"}:
                self._prediction.reset()
                self._drop_player()
            case {"do": "steps"} if self._prediction.reveal is not None and len(self.children) == 1:
                self.children = [self.form, self._prediction.reveal.steps.live()]
                self.form.says = "The player of the run stands below."

    def _drop_player(self) -> None:
        _, *rest = self.children
        self.children = [self.form]
        for one in rest:
            one.close()

    @property
    def text(self) -> str:
        """The task in words."""
        return self._prediction.text

    @property
    def html(self) -> str:
        """The task as HTML that needs no script."""
        return self._prediction.html

    def __repr__(self) -> str:
        return repr(self._prediction)

    def close(self) -> None:
        """Close the view with all that is in it."""
        if self.comm is not None:
            self._drop_player()
            self.form.close()
        super().close()
