"""A prediction on a page without a kernel: it is filled in, committed and judged by the page itself.

What the run says travels in the page, not in plain sight. Answers are read as `answers` reads them; what speaks
against a wrong one was found when the page was made: for each choice and each answer that a question lists. Against any
other answer the facts of the run are told.
"""

from __future__ import annotations

import base64
import json
import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tinytorch.viz import gettext

from ..doc import html_element, inline_html
from ..ui import colour_rules, read_web_files
from .answers import label, names, shown
from .question import Question, Refutation
from .reveal import Row, headline, result, table
from .runs import Run

if TYPE_CHECKING:
    from .prediction import Prediction

_SHEETS = ("ui/panel.css", "quiz/predict.css")


def page(prediction: Prediction, engine: ModuleType | None = None) -> str:
    """Return a prediction as HTML that needs a script of its own and nothing else; without scripts it is the task.

    The program is run for it, under `engine`, by default as said in `predict`. Raises ValueError for a program without
    an end and for a question that has no answer.
    """
    run, texts = prediction.run(engine), dict[str, int]()
    if run.endless:
        raise ValueError("a program that does not end is not run for a page")
    asked = prediction.questions
    rows = [_row(question, run, texts) for question in asked]
    wrong = Refutation("", None, "")
    blank = (Row(n, one, "", shown(one.right(run)), wrong, ()) for n, one in enumerate(asked, 1))
    told = {
        "form": prediction.form("cl-0"),
        "revealed": result("", table(blank), reset=gettext("Start again")),
        "rows": rows,
        "texts": list(texts),
        "all": headline(len(rows), len(rows)),
    }
    hidden = base64.b64encode(
        json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    ).decode()
    sheet = read_web_files(*_SHEETS)
    place = html_element("div", prediction.html, class_="cl-page", data_told=hidden)
    script = html_element(
        "script", read_web_files("ui/seen.js", "quiz/predict.js", "quiz/page.js"), type="module"
    )
    return html_element("style", sheet + colour_rules(".cl-panel", sheet)) + place + script


def _row(question: Question, run: Run, texts: dict[str, int]) -> dict[str, Any]:
    """What the page knows of a row: the right answer, and what it says to each listed one and to any other.

    What is said is a list of places in `texts`, where each sentence stands once.
    """
    right = question.right(run)
    wrong = question.options or tuple(
        key if isinstance(key, str) else shown(key) for key in question.wrong
    )

    def said(refutation: Refutation) -> list[int]:
        return [
            texts.setdefault(inline_html(one), len(texts)) for one in refutation.sentences(set())
        ]

    row = {
        "name": question.name,
        "right": shown(right) if question.options else _plain(right),
        "no": [
            [given, said(question.refute(run, given))]
            for given in wrong
            if not question.holds(given, right)
        ],
    }
    if question.options:
        return row | {"choices": {choice: label(choice) for choice in question.options}}
    known: set[str] = set()
    if question.like:
        known = {name.casefold() for name in question.nodes(right, run)}
    elif isinstance(right, frozenset):
        known = names(list(run.at().values)) | names(right)
    return row | {
        "kind": "names"
        if isinstance(right, frozenset)
        else "text"
        if isinstance(right, str)
        else "value",
        "near": "." in shown(right),
        "like": question.like,
        "names": sorted(known),
        "other": said(Refutation(question.facts(run), None, "")),
        "takes": question.takes,
    }


def _plain(right: Any) -> Any:
    """A right answer as JSON has it; of a number the digits that are shown, in which all engines agree."""
    if isinstance(right, frozenset):
        return sorted(name.casefold() for name in right)
    if isinstance(right, list | tuple):
        return [_plain(one) for one in right]
    if isinstance(right, float):
        return float(f"{right:.6g}") if math.isfinite(right) else str(right)
    return right
