"""A prediction on a page without a kernel: it is filled in, committed and judged by the page itself.

What the run says travels in the page, not in plain sight. Answers are read as `answers` reads them; what speaks
against a wrong one was found when the page was made: for each choice and each answer that a question lists. Against any
other answer the facts of the run are told.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from types import ModuleType
from typing import Any

from ..doc import element
from ..ui.theme import style, web
from .answers import names, shown
from .prediction import Prediction, result
from .question import Question, Refutation
from .reveal import Reveal, Row, headline
from .runs import Run

_GIVEN = "\ue000"  # stands where the page puts what was written: a sign that no text has


def page(prediction: Prediction, engine: ModuleType | None = None) -> str:
    """Return a prediction as HTML that needs a script of its own and nothing else; without scripts it is the task.

    The program is run for it, under `engine`, by default as said in `predict`. Raises ValueError for a question that
    has no answer.
    """
    run, count = prediction.run(engine), len(prediction.questions)
    told = {
        "form": prediction.program().html()
        + prediction.form("cl-" + hashlib.sha256(prediction.code.encode()).hexdigest()[:12]),
        "rows": [_row(number, question, run) for number, question in enumerate(prediction.questions, 1)],
        "result": prediction.program().html() + result(Reveal((), run)),
        "all": headline(count, count),
        "some": headline(_GIVEN, count),
    }
    hidden = base64.b64encode(json.dumps(told).encode()).decode()
    place = element("div", element("div", prediction.html), class_="cl-page", data_told=hidden)
    script = element("script", web("quiz/predict.js", "quiz/page.js"), type="module")
    return element("style", style("quiz/predict.css")) + place + script


def _row(number: int, question: Question, run: Run) -> dict[str, Any]:
    """What the page knows of a row: the right answer, and what it says to that, to each listed one, to any other."""
    right = question.right(run)
    wrong = question.options or tuple(key if isinstance(key, str) else shown(key) for key in question.wrong)
    told = {given: question.refute(run, given) for given in wrong if not question.holds(given, right)}
    free = None if question.options else Refutation(question.facts(run), None, "")

    def cells(given: str, refutation: Refutation | None) -> str:
        row = Row(question, given if question.options else _GIVEN, shown(right), refutation)
        against = [] if refutation is None else refutation.sentences(set())
        return "".join(element("tr", "".join(cell.html() for cell in line)) for line in row.cells(number, against))

    return {
        "name": question.name,
        "takes": question.takes,
        "kind": _kind(question, right),
        "right": shown(right) if question.options else _plain(right),
        "near": "." in shown(right),
        "names": sorted(names(list(run.at().values)) | (names(right) if isinstance(right, frozenset) else set())),
        "yes": cells(shown(right), None),
        "no": [[given, cells(given, refutation)] for given, refutation in told.items()],
        "other": free and cells(_GIVEN, free),
    }


def _kind(question: Question, right: Any) -> str:
    if question.options:
        return "choice"
    return "names" if isinstance(right, frozenset) else "text" if isinstance(right, str) else "value"


def _plain(right: Any) -> Any:
    """A right answer as JSON has it."""
    if isinstance(right, frozenset):
        return sorted(name.casefold() for name in right)
    if isinstance(right, list | tuple):
        return [_plain(one) for one in right]
    return str(right) if isinstance(right, float) and not math.isfinite(right) else right
